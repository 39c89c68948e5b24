"""Many items: the methods of `rank`, as values.

Examples:
    >>> import evenhand as eh
    >>> eh.ranking.Safe(noise=1)
    safe(noise=1.0)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.ranking.methods import *  # noqa: F403 - every class of methods


def __getattr__(name: str) -> object:
    """Load the classes of methods when one is first used."""
    if not name[:1].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.methods"), name)

"""Two items: the methods of `compare`, as values, and their `bounds`.

Examples:
    >>> import evenhand as eh
    >>> eh.ab.Guarded(eps=0.05)
    guarded(eps=0.05)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.ab import bounds as bounds
    from evenhand.ab.methods import *  # noqa: F403 - every class of methods


def __getattr__(name: str) -> object:
    """Load the classes of methods when one is first used."""
    if name == "bounds":
        return importlib.import_module("evenhand.ab.bounds")
    if not name[:1].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.methods"), name)

"""Two items: the methods of `compare`, as values.

Examples:
    >>> import evenhand as eh
    >>> eh.ab.Guarded(eps=0.05)
    guarded(eps=0.05)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.ab.methods import Coin as Coin
    from evenhand.ab.methods import Guarded as Guarded
    from evenhand.ab.methods import Mean as Mean
    from evenhand.ab.methods import Median as Median
    from evenhand.ab.methods import Rule as Rule
    from evenhand.ab.methods import Sign as Sign
    from evenhand.ab.methods import Trimmed as Trimmed
    from evenhand.ab.methods import Votes as Votes

__all__ = [  # noqa: RUF022 - in the order of `evenhand methods`
    "Rule",
    "Coin",
    "Sign",
    "Mean",
    "Median",
    "Trimmed",
    "Votes",
    "Guarded",
]


def __getattr__(name: str) -> object:
    """Load the classes of methods when one is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.methods"), name)

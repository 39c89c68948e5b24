"""What the comparisons say: who was put above whom, and which orders respect it.

Public names are loaded when they are first used: most rankings need few of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # ruff: noqa: F403 - what _HOMES names of them
    from evenhand.posets.averaging import *
    from evenhand.posets.contradictions import *
    from evenhand.posets.graph import *
    from evenhand.posets.orderings import *
    from evenhand.posets.sampling import *

_HOMES = {
    "averaging": "Averages averages",
    "graph": "Comparisons comparisons components edges from_edges is_ordering",
    "contradictions": "find_contradiction require_consistent",
    "orderings": "all_orderings closure topological_order twins",
    "sampling": "count_orderings draw_order plan_orders sample uniform_order",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME]  # noqa: PLE0604 - names


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

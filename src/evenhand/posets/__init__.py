"""What the comparisons say: who was put above whom, and which orders respect it.

Public names are loaded when they are first used: most rankings need few of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.posets.averaging import Averages as Averages
    from evenhand.posets.averaging import averages as averages
    from evenhand.posets.averaging import mean_ranks_exact as mean_ranks_exact
    from evenhand.posets.contradictions import find_contradiction as find_contradiction
    from evenhand.posets.contradictions import require_consistent as require_consistent
    from evenhand.posets.graph import Comparisons as Comparisons
    from evenhand.posets.graph import chain_edges as chain_edges
    from evenhand.posets.graph import compared as compared
    from evenhand.posets.graph import comparisons as comparisons
    from evenhand.posets.graph import components as components
    from evenhand.posets.graph import edges as edges
    from evenhand.posets.graph import from_edges as from_edges
    from evenhand.posets.graph import is_ordering as is_ordering
    from evenhand.posets.orderings import all_orderings as all_orderings
    from evenhand.posets.orderings import count_orderings as count_orderings
    from evenhand.posets.orderings import topological_order as topological_order
    from evenhand.posets.reach import closure as closure
    from evenhand.posets.reach import twins as twins
    from evenhand.posets.sampling import draw_order as draw_order
    from evenhand.posets.sampling import plan_orders as plan_orders
    from evenhand.posets.sampling import uniform_order as uniform_order

_HOMES = {
    "averaging": ("Averages", "averages", "mean_ranks_exact"),
    "graph": (
        "Comparisons",
        "chain_edges",
        "compared",
        "comparisons",
        "components",
        "edges",
        "from_edges",
        "is_ordering",
    ),
    "contradictions": ("find_contradiction", "require_consistent"),
    "orderings": ("all_orderings", "count_orderings", "topological_order"),
    "reach": ("closure", "twins"),
    "sampling": ("draw_order", "plan_orders", "uniform_order"),
}

__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(importlib.import_module(f"{__name__}.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'evenhand.posets' has no attribute {name!r}")

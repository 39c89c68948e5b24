"""What the comparisons say: who was put above whom, and which orders respect it."""

from evenhand.posets.averages import Averages, averages, mean_ranks_exact
from evenhand.posets.comparisons import (
    Comparisons,
    chain_edges,
    compared,
    comparisons,
    components,
    edges,
    from_edges,
    is_ordering,
)
from evenhand.posets.contradictions import find_contradiction, require_consistent
from evenhand.posets.orderings import (
    all_orderings,
    count_orderings,
    topological_order,
)
from evenhand.posets.reach import closure, twins
from evenhand.posets.sampling import draw_order, plan_orders, uniform_order

__all__ = [
    "Averages",
    "Comparisons",
    "all_orderings",
    "averages",
    "chain_edges",
    "closure",
    "compared",
    "comparisons",
    "components",
    "count_orderings",
    "draw_order",
    "edges",
    "find_contradiction",
    "from_edges",
    "is_ordering",
    "mean_ranks_exact",
    "plan_orders",
    "require_consistent",
    "topological_order",
    "twins",
    "uniform_order",
]

"""The lab: simulate anything, reproduce every figure, check every theorem.

Where to look:
    simulate: `scenario`, `scales`, `simulation`, `results`
    exact risks: `exact` (two items), `exact_ranking` (many), `tradeoff` (Figure 3)
    weights: `frontier` (the best for declared biases)
    figures: `figures` (files), `curves` (numbers), `drawings` (charts)
    dominance: `dominance`, `refutation`, `adversary` (the search), `duels` (two items),
        `worlds` (many), on `estimators` and `polynomial`
    theorems: `theorems` (the list), `claims`, `claims_two`, `claims_many`,
        `claims_orders`; beyond the paper `claims_beyond` (two items),
        `claims_ranking`; what breaks guarantees `claims_failures`
"""

from __future__ import annotations

from evenhand.lab.dominance import Dominance, Refutation, dominates, refute
from evenhand.lab.frontier import Frontier, best_weight, frontier
from evenhand.lab.results import Simulation
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import draw_ratings, simulate
from evenhand.lab.theorems import Theorems, check_theorems

__all__ = [
    "Dominance",
    "Frontier",
    "Refutation",
    "Scenario",
    "Simulation",
    "Theorems",
    "best_weight",
    "check_theorems",
    "dominates",
    "draw_ratings",
    "frontier",
    "refute",
    "simulate",
]

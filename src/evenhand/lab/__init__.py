"""The lab: simulate anything, reproduce every figure, check every theorem.

Where to look:
    simulate: `scenario`, `scales`, `simulation`, `results`
    exact risks: `exact` (two items), `exact_ranking` (many), `tradeoff` (Figure 3)
    figures: `figures` (files), `curves` (numbers), `drawings` (charts)
    dominance: `dominance`, `refutation`, `adversary` (the search), `duels` (two items),
        `worlds` (many), on `estimators` and `polynomial`
    theorems: `theorems` (the list), `claims`, `claims_two`, `claims_many`,
        `claims_orders`, `algorithm_2`
"""

from __future__ import annotations

from evenhand.lab.dominance import Dominance, Refutation, dominates, refute
from evenhand.lab.results import Simulation
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import draw_ratings, simulate
from evenhand.lab.theorems import Theorems, check_theorems

__all__ = [
    "Dominance",
    "Refutation",
    "Scenario",
    "Simulation",
    "Theorems",
    "check_theorems",
    "dominates",
    "draw_ratings",
    "refute",
    "simulate",
]

"""The lab: simulate anything, reproduce every figure, check every theorem.

Where to look:
    simulate: `scenario`, `scales`, `contenders`, `simulation`
    exact risks: `exact` (two items), `curves` (many)
    weights: `frontiers` (the best for declared biases)
    figures: `figures` (files), `curves` (numbers), `drawings` (charts)
    dominance: `dominance`, `refutation`, `adversary` (the search), `duels` (two items),
        `worlds` (many), on `estimators` and `polynomial`
    theorems: `theorems` (the list), `claims` (what one is), `claims_paper`,
        `claims_beyond`; what breaks guarantees `claims_failures`

Public names are loaded when they are first used: a check of ratings needs no theorem.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.lab.dominance import Dominance, dominates
    from evenhand.lab.frontiers import Frontier, best_weight, frontier
    from evenhand.lab.refutation import Refutation, refute
    from evenhand.lab.scenario import Scenario
    from evenhand.lab.simulation import Simulation, draw_ratings, simulate
    from evenhand.lab.theorems import Theorems, check_theorems

_HOMES = {
    "Dominance": "dominance",
    "Frontier": "frontiers",
    "Refutation": "refutation",
    "Scenario": "scenario",
    "Simulation": "simulation",
    "Theorems": "theorems",
    "best_weight": "frontiers",
    "check_theorems": "theorems",
    "dominates": "dominance",
    "draw_ratings": "simulation",
    "frontier": "frontiers",
    "refute": "refutation",
    "simulate": "simulation",
}

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


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'evenhand.lab' has no attribute {name!r}")
    home = importlib.import_module(f"evenhand.lab.{_HOMES[name]}")
    value: object = getattr(home, name)
    globals()[name] = value
    return value

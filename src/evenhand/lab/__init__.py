"""The lab: simulate anything, reproduce every figure, check every theorem.

Where to look:
    simulate: `scenario`, `scales`, `simulation`
    figures: `figures`
    exact risks at any scales: `worlds`, and `dominance`, which searches for the worst
    theorems: `theorems` (what a claim is), `claims_paper`, `claims_beyond`
"""

from __future__ import annotations

from evenhand.lab.dominance import Refutation, refute
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import Simulation, draw_ratings, simulate
from evenhand.lab.theorems import Theorems, check_theorems

__all__ = [
    "Refutation",
    "Scenario",
    "Simulation",
    "Theorems",
    "check_theorems",
    "draw_ratings",
    "refute",
    "simulate",
]

"""The lab: simulate anything, reproduce every figure, check every theorem."""

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

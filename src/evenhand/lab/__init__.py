"""The lab: simulate anything, reproduce every figure, check every theorem.

Where to look:
    simulate: `scenario`, `scales`, `simulation`
    figures: `curves` (numbers), `figures` (charts and files)
    exact margins at any scales: `duels` (two items), `worlds` (many), and `dominance`,
        which searches for the worst; `refutation`
    theorems: `theorems` (the list), `claims` (what one is), `claims_paper`,
        `claims_beyond`; what breaks guarantees `claims_failures`

Public names are loaded when they are first used: a check of ratings needs no theorem.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.lab.refutation import Refutation as Refutation
    from evenhand.lab.refutation import refute as refute
    from evenhand.lab.scenario import Scenario as Scenario
    from evenhand.lab.simulation import Simulation as Simulation
    from evenhand.lab.simulation import draw_ratings as draw_ratings
    from evenhand.lab.simulation import simulate as simulate
    from evenhand.lab.theorems import Theorems as Theorems
    from evenhand.lab.theorems import check_theorems as check_theorems

_HOMES = {
    "refutation": ("Refutation", "refute"),
    "scenario": ("Scenario",),
    "simulation": ("Simulation", "draw_ratings", "simulate"),
    "theorems": ("Theorems", "check_theorems"),
}

__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(importlib.import_module(f"{__name__}.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'evenhand.lab' has no attribute {name!r}")

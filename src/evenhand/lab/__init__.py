"""The lab: simulate anything, reproduce every figure, check every theorem.

Where to look:
    simulate: `scenario`, `scales`, `simulation`
    figures: `figures`
    exact risks at any scales: `worlds`, and `dominance`, which searches for the worst
    theorems: `theorems` (what a claim is), `claims_paper`, `claims_beyond`

Public names are loaded when they are first used: a check of ratings needs no theorem.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.lab.dominance import Refutation as Refutation
    from evenhand.lab.dominance import refute as refute
    from evenhand.lab.scenario import Scenario as Scenario
    from evenhand.lab.simulation import Simulation as Simulation
    from evenhand.lab.simulation import draw_ratings as draw_ratings
    from evenhand.lab.simulation import simulate as simulate
    from evenhand.lab.theorems import Theorems as Theorems
    from evenhand.lab.theorems import check_theorems as check_theorems

_HOMES = {
    "dominance": "Refutation refute",
    "scenario": "Scenario",
    "simulation": "Simulation draw_ratings simulate",
    "theorems": "Theorems check_theorems",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME]  # noqa: PLE0604 - names


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

"""Even-handed decisions from ratings by differently calibrated people.

Public names are loaded when they are first used, so that importing the package is
cheap.

Examples:
    >>> import evenhand as eh
    >>> eh.compare([7, 9, 4], [6, 3, 5], method="mean", rng=7).winner
    'A'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand import ab, designs, lab, losses, posets, ranking
    from evenhand.ab import weights
    from evenhand.ab.comparison import Comparison, compare
    from evenhand.claims import Certificate
    from evenhand.designs.assignment import Assignment
    from evenhand.designs.drawing import assign
    from evenhand.diagnosis.check import Check, check
    from evenhand.diagnosis.warp import Warp, warp
    from evenhand.errors import (
        ContradictionError,
        ConvergenceError,
        DesignError,
        EvenhandError,
        OptionError,
        RatingsError,
        RecordError,
    )
    from evenhand.formats.reading import read_ratings
    from evenhand.lab.scenario import Scenario
    from evenhand.lab.simulation import Simulation, simulate
    from evenhand.method import Method, methods
    from evenhand.ranking.ranking import Ranking, rank
    from evenhand.ratings import Ratings

_HOMES = {
    "Ratings": "evenhand.ratings",
    "read_ratings": "evenhand.formats.reading",
    "compare": "evenhand.ab.comparison",
    "Comparison": "evenhand.ab.comparison",
    "rank": "evenhand.ranking.ranking",
    "Ranking": "evenhand.ranking.ranking",
    "assign": "evenhand.designs.drawing",
    "Assignment": "evenhand.designs.assignment",
    "Certificate": "evenhand.claims",
    "check": "evenhand.diagnosis.check",
    "Check": "evenhand.diagnosis.check",
    "warp": "evenhand.diagnosis.warp",
    "Warp": "evenhand.diagnosis.warp",
    "Scenario": "evenhand.lab.scenario",
    "simulate": "evenhand.lab.simulation",
    "Simulation": "evenhand.lab.simulation",
    "methods": "evenhand.method",
    "Method": "evenhand.method",
    "EvenhandError": "evenhand.errors",
    "RatingsError": "evenhand.errors",
    "ContradictionError": "evenhand.errors",
    "OptionError": "evenhand.errors",
    "DesignError": "evenhand.errors",
    "RecordError": "evenhand.errors",
    "ConvergenceError": "evenhand.errors",
}
_MODULES = {
    "weights": "evenhand.ab.weights",
    "losses": "evenhand.losses",
    "designs": "evenhand.designs",
    "posets": "evenhand.posets",
    "lab": "evenhand.lab",
    "ab": "evenhand.ab",
    "ranking": "evenhand.ranking",
}

__all__ = [  # noqa: RUF022 - in the order in which a reader of the paper meets them
    "Ratings",
    "read_ratings",
    "compare",
    "Comparison",
    "ab",
    "weights",
    "rank",
    "Ranking",
    "ranking",
    "posets",
    "losses",
    "Certificate",
    "designs",
    "assign",
    "Assignment",
    "check",
    "Check",
    "warp",
    "Warp",
    "lab",
    "Scenario",
    "simulate",
    "Simulation",
    "methods",
    "Method",
    "EvenhandError",
    "RatingsError",
    "ContradictionError",
    "OptionError",
    "DesignError",
    "RecordError",
    "ConvergenceError",
]


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _HOMES:
        value: object = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'evenhand' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)

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
    from evenhand.diagnosis.counted import count_check
    from evenhand.diagnosis.warp import Warp, warp
    from evenhand.engines.counting import count_ratings
    from evenhand.engines.counts import Counts
    from evenhand.engines.pairs import count_pairs
    from evenhand.errors import (
        ContradictionError,
        ConvergenceError,
        DesignError,
        EvenhandError,
        OptionError,
        RatingsError,
        RecordError,
    )
    from evenhand.formats.reading import read_counts, read_ratings
    from evenhand.grading import Grades, grade
    from evenhand.lab.scenario import Scenario
    from evenhand.lab.simulation import Simulation, simulate
    from evenhand.method import Method, methods
    from evenhand.ranking.ranking import Ranking, rank
    from evenhand.ratings import Ratings

_HOMES = {
    "ratings": "Ratings",
    "formats.reading": "read_ratings read_counts",
    "engines.counts": "Counts",
    "engines.counting": "count_ratings",
    "engines.pairs": "count_pairs",
    "diagnosis.counted": "count_check",
    "ab.comparison": "compare Comparison",
    "ranking.ranking": "rank Ranking",
    "designs.drawing": "assign",
    "designs.assignment": "Assignment",
    "claims": "Certificate",
    "diagnosis.check": "check Check",
    "diagnosis.warp": "warp Warp",
    "grading": "grade Grades",
    "lab.scenario": "Scenario",
    "lab.simulation": "simulate Simulation",
    "method": "methods Method",
    "errors": "EvenhandError RatingsError ContradictionError OptionError "
    "DesignError RecordError ConvergenceError",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [  # noqa: RUF022 - in the order in which a reader of the paper meets them
    "Ratings",
    "read_ratings",
    "Counts",
    "read_counts",
    "count_ratings",
    "count_pairs",
    "count_check",
    "compare",
    "Comparison",
    "ab",
    "weights",
    "rank",
    "Ranking",
    "ranking",
    "grade",
    "Grades",
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
    if name not in __all__:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    if name not in _HOME:
        room = "ab.weights" if name == "weights" else name
        return importlib.import_module(f"evenhand.{room}")
    value: object = getattr(importlib.import_module(f"evenhand.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)

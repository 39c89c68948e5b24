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
    from evenhand import ab as ab
    from evenhand import designs as designs
    from evenhand import lab as lab
    from evenhand import losses as losses
    from evenhand import posets as posets
    from evenhand import ranking as ranking
    from evenhand.ab import weights as weights
    from evenhand.ab.comparison import Comparison as Comparison
    from evenhand.ab.comparison import compare as compare
    from evenhand.ab.evidence import Monitor as Monitor
    from evenhand.claims import Certificate as Certificate
    from evenhand.designs.assignment import Assignment as Assignment
    from evenhand.designs.drawing import assign as assign
    from evenhand.diagnosis.check import Check as Check
    from evenhand.diagnosis.check import check as check
    from evenhand.diagnosis.warp import Warp as Warp
    from evenhand.diagnosis.warp import warp as warp
    from evenhand.engines.checking import count_check as count_check
    from evenhand.engines.counting import count_ratings as count_ratings
    from evenhand.engines.counts import Counts as Counts
    from evenhand.engines.pairs import count_pairs as count_pairs
    from evenhand.errors import *  # noqa: F403 - what _HOMES names of them
    from evenhand.formats.reading import read_counts as read_counts
    from evenhand.formats.reading import read_ratings as read_ratings
    from evenhand.grading import Grades as Grades
    from evenhand.grading import grade as grade
    from evenhand.lab.scenario import Scenario as Scenario
    from evenhand.lab.simulation import Simulation as Simulation
    from evenhand.lab.simulation import simulate as simulate
    from evenhand.method import Method as Method
    from evenhand.method import methods as methods
    from evenhand.ranking.ranking import Ranking as Ranking
    from evenhand.ranking.ranking import rank as rank
    from evenhand.ranking.selection import Selection as Selection
    from evenhand.ranking.selection import select as select
    from evenhand.ratings import Ratings as Ratings

_HOMES = {
    "ratings": "Ratings",
    "formats.reading": "read_ratings read_counts",
    "engines.counts": "Counts",
    "engines.counting": "count_ratings",
    "engines.checking": "count_check",
    "engines.pairs": "count_pairs",
    "ab.comparison": "compare Comparison",
    "ab.evidence": "Monitor",
    "ranking.ranking": "rank Ranking",
    "ranking.selection": "select Selection",
    "grading": "grade Grades",
    "claims": "Certificate",
    "designs.drawing": "assign",
    "designs.assignment": "Assignment",
    "diagnosis.check": "check Check",
    "diagnosis.warp": "warp Warp",
    "lab.scenario": "Scenario",
    "lab.simulation": "simulate Simulation",
    "method": "methods Method",
    "errors": "EvenhandError RatingsError ContradictionError OptionError "
    "DesignError RecordError ConvergenceError",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
_ROOMS = ("ab", "ab.weights", "ranking", "posets", "losses", "designs", "lab")
_ROOM = {room.rpartition(".")[2]: room for room in _ROOMS}

__all__ = [*_HOME, *_ROOM]  # noqa: PLE0604 - names


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name == "__version__":
        return importlib.import_module("evenhand.claims").version()
    if name in _ROOM:
        return importlib.import_module(f"evenhand.{_ROOM[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"evenhand.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)

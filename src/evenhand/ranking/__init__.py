"""Many items: the methods of `rank`, as values.

Examples:
    >>> import evenhand as eh
    >>> eh.ranking.Flips(score_pairs=3)
    flips(score_pairs=3)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.ranking.methods import Adaptive as Adaptive
    from evenhand.ranking.methods import Additive as Additive
    from evenhand.ranking.methods import Affine as Affine
    from evenhand.ranking.methods import Borda as Borda
    from evenhand.ranking.methods import BradleyTerry as BradleyTerry
    from evenhand.ranking.methods import Centred as Centred
    from evenhand.ranking.methods import Flips as Flips
    from evenhand.ranking.methods import FlipsUniform as FlipsUniform
    from evenhand.ranking.methods import Isotonic as Isotonic
    from evenhand.ranking.methods import Mean as Mean
    from evenhand.ranking.methods import MeanRank as MeanRank
    from evenhand.ranking.methods import RankMethod as RankMethod
    from evenhand.ranking.methods import Safe as Safe
    from evenhand.ranking.methods import Sorter as Sorter
    from evenhand.ranking.methods import Ties as Ties
    from evenhand.ranking.methods import Topological as Topological
    from evenhand.ranking.methods import Twins as Twins
    from evenhand.ranking.methods import Uniform as Uniform
    from evenhand.ranking.methods import Z as Z

__all__ = [  # noqa: RUF022 - in the order of `evenhand methods`
    "RankMethod",
    "Topological",
    "Uniform",
    "MeanRank",
    "Flips",
    "FlipsUniform",
    "Twins",
    "Sorter",
    "Ties",
    "Safe",
    "Mean",
    "Adaptive",
    "Centred",
    "Z",
    "Additive",
    "Affine",
    "Isotonic",
    "BradleyTerry",
    "Borda",
]


def __getattr__(name: str) -> object:
    """Load the classes of methods when one is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.methods"), name)

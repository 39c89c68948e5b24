"""Definition 1 as software: does a method beat a baseline whatever the scales?

The adversary names increasing scales for every true ranking. The answer is the smallest
exact margin that a search found, and the scales that give it. A margin of zero or below
is a proof that the method does not dominate; a positive one is not a proof that it
does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from evenhand import losses
from evenhand._labels import shown
from evenhand._randomness import RNGLike, seed_from, stream
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.errors import OptionError, unknown
from evenhand.lab import duels, estimators, worlds
from evenhand.lab.adversary import worst
from evenhand.lab.refutation import Refutation, refute

if TYPE_CHECKING:
    from evenhand._results import Json
    from evenhand.lab.duels import ItemRule, Rule, Sides
    from evenhand.lab.estimators import Ordinal
    from evenhand.lab.polynomial import First, Order, Pair, Table
    from evenhand.lab.worlds import Margin, Procedure

__all__ = ["Dominance", "Refutation", "Witness", "dominates", "refute"]

Truth = Literal["uniform", "arbitrary"]
TRUTHS = ("uniform", "arbitrary")
BUDGET = 200

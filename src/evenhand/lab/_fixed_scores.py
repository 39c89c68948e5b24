"""Many trials with two items in which each reviewer adds a fixed number to the value.

Who has which item is random, but the order of the reviewers' numbers is not. So nothing
is sorted but the random order itself, and each rule gives, to the last bit, what it
gives on the scores.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import trials as kernels
from evenhand._kernels.chances import rational_votes
from evenhand._randomness import SEED_BITS, WORD_BITS, Stream
from evenhand.ab import rules
from evenhand.ab.law import majority_of_rows
from evenhand.ab.weights import rational_slope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.lab._uniform import Rule

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

SPARE_BITS = WORD_BITS - SEED_BITS
PACKED = 1 << SPARE_BITS
LOW_BITS = np.uint64(PACKED - 1)


def random_words(source: Stream, shape: tuple[int, int]) -> Words:
    """Draw words for `as_orders`.

    Examples:
        >>> from evenhand._randomness import stream
        >>> random_words(stream(7, "trials"), (2, 3)).shape
        (2, 3)
    """
    return np.atleast_1d(source.random_raw(math.prod(shape))).reshape(shape)


def as_orders(words: Words) -> Codes:
    """Turn words into random orders, those of the uniforms that they would give.

    A uniform has 53 bits of its word. The other 11 hold the reviewer, so that sorting
    the words themselves keeps equal uniforms in the order of the reviewers. The words
    are overwritten.

    Examples:
        >>> from evenhand._randomness import stream, uniforms
        >>> orders = as_orders(random_words(stream(7, "trials"), (2, 3)))
        >>> bool((orders == uniforms(stream(7, "trials"), (2, 3)).argsort()).all())
        True
    """
    reviewers = words.shape[1]
    if reviewers > PACKED:
        return np.argsort(words >> np.uint64(SPARE_BITS), axis=-1, kind="stable")
    kernels.pack_columns(words, LOW_BITS)
    words.sort(axis=-1)
    words &= LOW_BITS
    return words.view(np.int64)


@dataclass(frozen=True)
class Trials:
    """Some trials.

    Attributes:
        orders: Reviewers in random order; the first half has the better item.
        values: Values of the worse item and of the better one.
        added: What each reviewer adds.
    """

    orders: Codes
    values: Floats
    added: Floats

    def chances(self, rule: Rule) -> Floats:
        """Return the chance, in each trial, that a rule names the better item."""
        half = self.orders.shape[1] // 2
        if rule.method == "sign":
            return (1 + kernels.sign_sides(*self.scores)) / 2
        slope = rational_slope(rule.weight) if rule.method == "votes" else None
        if slope is not None:
            return majority_of_rows(rational_votes(*self.scores, slope))
        if rule.method == "median" and (half % 2 or rule.median != "middle"):
            return self._medians((half - (rule.median != "upper")) // 2)
        if rule.method == "mean":
            return self._means()
        return np.asarray(rule.given(*self.scores))

    @functools.cached_property
    def scores(self) -> tuple[Floats, Floats]:
        """Scores of the better item and of the worse one, in pairs."""
        return kernels.scores_in_order(self.orders, self.values, self.added)

    def _medians(self, place: int) -> Floats:
        increasing = np.argsort(self.added, kind="stable")
        ranks = np.empty_like(increasing)
        ranks[increasing] = np.arange(len(increasing))
        added = self.added[increasing]
        sides = kernels.central_sides(self.orders, self.values, added, ranks, place)
        return (1 + sides) / 2

    def _means(self) -> Floats:
        sides, clear = kernels.mean_sides(*self.scores)
        chances = (1 + sides) / 2
        unclear = np.flatnonzero(~clear)
        if len(unclear):
            better, worse = self.scores
            chances[unclear] = rules.mean(better[unclear], worse[unclear])
        return chances

"""How far a ranking is from the truth.

Every loss takes two orders of the same items: labels, best first.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand.claims import Label
from evenhand.errors import OptionError, RatingsError, quote, require_whole, unknown
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = lazy("scipy.stats")

Ranking = Sequence[Label] | NDArray[np.integer]
Loss = Callable[[Ranking, Ranking], float]


# Up to so many values all pairs are looked at.
FEW = 200


def zero_one(truth: Ranking, estimate: Ranking) -> int:
    """Return 0 if both rankings put the items in the same order, else 1.

    Raises:
        RatingsError: If the rankings are not of the same items.

    References:
        Wang and Shah (2019), Section 2.

    Examples:
        >>> zero_one(["a", "b", "c"], ["a", "c", "b"])
        1
    """
    places = _places(truth, estimate)
    return int(not np.array_equal(places, np.arange(len(places))))


def kendall_tau(truth: Ranking, estimate: Ranking) -> float:
    """Count the pairs of items that the two rankings order differently.

    Takes time n log n.

    Raises:
        RatingsError: If the rankings are not of the same items.

    References:
        Wang and Shah (2019), Appendix B.

    Examples:
        >>> kendall_tau(["a", "b", "c"], ["c", "a", "b"])
        2.0
    """
    places = _places(truth, estimate)
    size = len(places)
    if size <= FEW:
        return float(np.count_nonzero(np.triu(places[:, None] > places, 1)))
    tau = float(
        stats.kendalltau(np.arange(size), places, method="asymptotic").statistic
    )
    return float(round((1 - tau) * math.comb(size, 2) / 2))


def footrule(truth: Ranking, estimate: Ranking) -> float:
    """Return Spearman's footrule: the sum over items of the difference of the ranks.

    Raises:
        RatingsError: If the rankings are not of the same items.

    References:
        Wang and Shah (2019), Appendix B.

    Examples:
        >>> footrule(["a", "b", "c"], ["c", "a", "b"])
        4.0
    """
    places = _places(truth, estimate)
    return float(np.abs(places - np.arange(len(places))).sum())


def top_k_overlap(truth: Ranking, estimate: Ranking, *, k: int = 1) -> int:
    """Count how many of the true best k are missing from the estimated best k.

    Zero means that the two sets are the same; their order does not matter.

    Args:
        truth: The true ranking.
        estimate: The estimated ranking.
        k: How many are chosen, from 1 to the number of items.

    Raises:
        OptionError: If k is out of range.
        RatingsError: If the rankings are not of the same items.

    Examples:
        >>> top_k_overlap(["a", "b", "c", "d"], ["c", "b", "a", "d"], k=2)
        1
    """
    places = _places(truth, estimate)
    require_whole("k", k, 1, len(places), "the number of items")
    return int((places[:k] >= k).sum())


LOSSES: Mapping[str, Loss] = {
    "zero-one": zero_one,
    "kendall": kendall_tau,
    "footrule": footrule,
    "top-1": top_k_overlap,
}
"""Losses by name; `loss` knows "top-k" for any k."""


def loss(name: str) -> Loss:
    """Return a loss by its name; "top-5" is `top_k_overlap` with k = 5.

    Raises:
        OptionError: If there is no such loss.

    Examples:
        >>> loss("kendall")(["a", "b"], ["b", "a"])
        1.0
        >>> loss("top-2")(["a", "b", "c"], ["c", "b", "a"])
        1
    """
    if name in LOSSES:
        return LOSSES[name]
    top = re.fullmatch(r"top-([1-9][0-9]{0,8})", name, re.ASCII)
    if top is None:
        raise OptionError(unknown("loss function", name, LOSSES))
    return functools.partial(top_k_overlap, k=int(top[1]))


def _places(truth: Ranking, estimate: Ranking) -> NDArray[np.int64]:
    """Return the place in the estimate of each item, in the order of the truth."""
    first, second = _by_label(truth, "truth"), _by_label(estimate, "estimate")
    if unshared := [*first.keys() ^ second.keys()]:
        rule = "truth and estimate must rank the same items"
        raise RatingsError(f"{rule}, got {quote(unshared[0])} in one of them only.")
    return np.array([second[item] for item in first], dtype=np.int64)


def _by_label(ranking: Ranking, what: str) -> dict[Label, int]:
    items = ranking.tolist() if isinstance(ranking, np.ndarray) else ranking
    try:
        places = {item: place for place, item in enumerate(items)}
    except TypeError:
        places = {}
    if isinstance(items, str | bytes) or len(places) < len(items):
        rule = "must be a sequence of different items"
        raise RatingsError(f"{what} {rule}, got {quote(ranking)}.")
    return places

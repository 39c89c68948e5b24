"""How far a ranking is from the true one: 0-1, Kendall tau, footrule, top k.

A ranking is a sequence of items, best first, or a mapping from items to ranks, where
1 is best and equal ranks are ties.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand._labels import shown
from evenhand.errors import OptionError, RatingsError, unknown

Order = Sequence[Hashable] | NDArray[np.generic] | Mapping[Hashable, float]
Ranks = NDArray[np.float64]


def zero_one(truth: Order, estimate: Order) -> int:
    """Return 0 if the rankings are the same, else 1.

    Raises:
        RatingsError: If the rankings are not of the same items.

    Examples:
        >>> zero_one("abc", "acb"), zero_one({"a": 1, "b": 2}, {"b": 2, "a": 1})
        (1, 0)
    """
    true, guess = _ranks(truth, estimate)
    return int(not np.array_equal(true, guess))


def kendall_tau(truth: Order, estimate: Order) -> int:
    """Return the number of pairs that the two rankings order differently.

    A pair that either ranking ties is not counted. Takes O(n log n).

    Raises:
        RatingsError: If the rankings are not of the same items.

    References:
        Wang and Shah (2019), Appendix B.

    Examples:
        >>> kendall_tau([3, 1, 2], [1, 2, 3])
        2
    """
    from evenhand._kernels.losses import inversions  # noqa: PLC0415 - loads numba

    true, guess = _ranks(truth, estimate)
    # Within a tie of the truth the guess goes upwards, so that no pair is counted.
    order = np.lexsort((guess, true))
    _, dense = np.unique(guess, return_inverse=True)
    return int(inversions(dense[order].astype(np.int64)))


def footrule(truth: Order, estimate: Order) -> float:
    """Return Spearman's footrule: the sum of the differences in rank.

    It is a whole number, unless ranks were given that are not.

    Raises:
        RatingsError: If the rankings are not of the same items.

    References:
        Wang and Shah (2019), Appendix B.

    Examples:
        >>> footrule("abc", "cba")
        4
    """
    true, guess = _ranks(truth, estimate)
    total = float(np.abs(true - guess).sum())
    return int(total) if total.is_integer() else total


def top_k_overlap(truth: Order, estimate: Order, *, k: int) -> float:
    """Return the share of the true top k that the estimate's top k misses.

    Args:
        truth: The true ranking.
        estimate: The other ranking.
        k: How many items count as the top; neither ranking may tie across that line.

    Returns:
        A number from 0 (the same top k) to 1 (none in common).

    Raises:
        RatingsError: If the rankings are not of the same items, or one ties across k.
        OptionError: If k is not from 1 to the number of items.

    Examples:
        >>> top_k_overlap("abcd", "adcb", k=2)
        0.5
    """
    true, guess = _ranks(truth, estimate)
    if not 1 <= k <= len(true):
        raise OptionError(f"k must be from 1 to {len(true)}, got {k}.")
    tops = []
    for ranks in (true, guess):
        line = np.sort(ranks)[k - 1]
        top = ranks <= line
        if top.sum() > k:
            raise RatingsError(
                f"top {k} must be {k} items, got {int(top.sum())} because of a tie. "
                "Break it first."
            )
        tops.append(top)
    return 1 - float((tops[0] & tops[1]).sum()) / k


LOSSES: Mapping[str, Callable[..., float]] = {
    "zero-one": zero_one,
    "kendall": kendall_tau,
    "footrule": footrule,
    "top-k": top_k_overlap,
}


def loss(name: str) -> Callable[..., float]:
    """Return a loss by name.

    Raises:
        OptionError: If there is no such loss.

    Examples:
        >>> loss("kendall")("ab", "ba")
        1
    """
    if name not in LOSSES:
        raise OptionError(unknown("loss", name, LOSSES))
    return LOSSES[name]


def _ranks(truth: Order, estimate: Order) -> tuple[Ranks, Ranks]:
    true, guess = _rank_map("truth", truth), _rank_map("estimate", estimate)
    extra = [item for item in guess if item not in true]
    missing = [item for item in true if item not in guess]
    if extra or missing:
        where, other = ("truth", "estimate") if extra else ("estimate", "truth")
        item = (extra or missing)[0]
        raise RatingsError(
            f"truth and estimate must rank the same items, got {shown(item)} in "
            f"{other} only. Rank it in {where} too, or leave it out of both."
        )
    first = np.fromiter(true.values(), dtype=np.float64, count=len(true))
    second = np.fromiter((guess[item] for item in true), np.float64, count=len(true))
    return first, second


def _rank_map(name: str, order: Order) -> dict[Hashable, float]:
    if isinstance(order, Mapping):
        ranks = dict(order)
        for item, rank in ranks.items():
            if not np.isfinite(rank):
                raise RatingsError(
                    f"{name} must have finite ranks, got {rank} for {shown(item)}."
                )
        return ranks
    items = order.tolist() if isinstance(order, np.ndarray) else list(order)
    ranks = {item: float(place) for place, item in enumerate(items, start=1)}
    if len(ranks) < len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise RatingsError(
            f"{name} must rank each item once, got {shown(twice)} twice."
        )
    return ranks

"""How far a ranking is from the truth.

Every loss takes two rankings of the same items, each as an order (labels, best first)
or as a map from label to rank (smaller is better; any finite numbers).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evenhand.claims import Label
from evenhand.errors import OptionError, RatingsError, unknown

Rank = int | float | Fraction
RankMap = Mapping[str, Rank] | Mapping[int, Rank] | Mapping[Label, Rank]
Ranking = Sequence[Label] | NDArray[np.integer] | RankMap
Loss = Callable[[Ranking, Ranking], float]

# Up to so many values all pairs are looked at.
FEW = 200


def zero_one(truth: Ranking, estimate: Ranking) -> int:
    """Return 0 if both rankings put the items in the same order, else 1.

    Two rank maps agree if they have the same ties, too; the numbers do not matter.

    Raises:
        RatingsError: If the rankings are not of the same items.

    References:
        Wang and Shah (2019), Section 2.

    Examples:
        >>> zero_one(["a", "b", "c"], ["a", "c", "b"])
        1
        >>> zero_one({"a": 1, "b": 2}, {"b": 7, "a": 3.5})
        0
    """
    first, second = _places(truth, estimate)
    return int(not np.array_equal(first, second))


def kendall_tau(truth: Ranking, estimate: Ranking) -> float:
    """Count the pairs of items that the two rankings order differently.

    A pair that is tied in exactly one of two rank maps counts one half, which is what
    breaking the tie by a fair coin would cost on average; tied in both, it counts
    nothing. Takes time n log n.

    Raises:
        RatingsError: If the rankings are not of the same items.

    References:
        Wang and Shah (2019), Appendix B.

    Examples:
        >>> kendall_tau(["a", "b", "c"], ["c", "a", "b"])
        2.0
        >>> kendall_tau({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 1, "c": 1})
        1.5
    """
    first, second = _places(truth, estimate)
    # Within a tie of the first ranking no pair may count as out of order.
    order = np.lexsort((second, first))
    discordant = inversions(second[order])
    half = _tied(first) + _tied(second) - 2 * _tied(first * len(first) + second)
    return discordant + half / 2


def inversions(values: NDArray[np.int64]) -> int:
    """Count the pairs of which the earlier value is the larger, in time n log n.

    Examples:
        >>> inversions(np.array([2, 0, 1]))
        2
    """
    size = len(values)
    if size <= FEW:
        return int(np.count_nonzero(np.triu(values[:, None] > values, 1)))
    from scipy.stats import kendalltau  # noqa: PLC0415 - slow to load

    pairs = math.comb(size, 2)
    untied = pairs - _tied(values)
    if untied == 0:
        return 0
    # Tau-b is the pairs in order less those out of order, over this root.
    tau = float(kendalltau(np.arange(size), values, method="asymptotic").statistic)
    return round((untied - tau * math.sqrt(pairs * untied)) / 2)


def footrule(truth: Ranking, estimate: Ranking) -> float:
    """Return Spearman's footrule: the sum over items of the difference of the ranks.

    An order gives the ranks 1, 2, ...; a map's ranks are taken as they are.

    Raises:
        RatingsError: If the rankings are not of the same items.

    References:
        Wang and Shah (2019), Appendix B.

    Examples:
        >>> footrule(["a", "b", "c"], ["c", "a", "b"])
        4.0
        >>> footrule({"a": 1, "b": 2.5, "c": 2.5}, ["a", "b", "c"])
        1.0
    """
    first, second = _ranks(truth, "truth"), _ranks(estimate, "estimate")
    _require_same(first, second)
    return math.fsum(abs(float(first[item]) - float(second[item])) for item in first)


def top_k_overlap(truth: Ranking, estimate: Ranking, *, k: int = 1) -> int:
    """Count how many of the true best k are missing from the estimated best k.

    Zero means that the two sets are the same; their order does not matter.

    Args:
        truth: The true ranking.
        estimate: The estimated ranking.
        k: How many are chosen, from 1 to the number of items.

    Raises:
        OptionError: If k is out of range.
        RatingsError: If the rankings are not of the same items, or items that are tied
            in a rank map stand on both sides of place k.

    Examples:
        >>> top_k_overlap(["a", "b", "c", "d"], ["c", "b", "a", "d"], k=2)
        1
    """
    first, second = _ranks(truth, "truth"), _ranks(estimate, "estimate")
    _require_same(first, second)
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(first):
        raise OptionError(
            f"k must be an integer from 1 to the number of items, {len(first)}, got "
            f"{k!r}."
        )
    return len(_best(first, k, "truth") - _best(second, k, "estimate"))


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


def _places(
    truth: Ranking, estimate: Ranking
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each item's place in both rankings, tied items on one place."""
    ranks = _ranks(truth, "truth"), _ranks(estimate, "estimate")
    _require_same(*ranks)
    places = []
    for ranking in ranks:
        place = {rank: place for place, rank in enumerate(sorted({*ranking.values()}))}
        places.append(np.array([place[ranking[item]] for item in ranks[0]], np.int64))
    return places[0], places[1]


def _ranks(ranking: Ranking, what: str) -> Mapping[Label, Rank]:
    ranks: dict[Label, Rank] = {}
    if isinstance(ranking, Mapping):
        for label, rank in ranking.items():
            _require_rank(label, rank, what)
            ranks[label] = rank
        return ranks
    if isinstance(ranking, str | bytes) or not isinstance(
        ranking, Sequence | np.ndarray
    ):
        raise RatingsError(
            f"{what} must be a sequence of items or a map from item to rank, got "
            f"{ranking!r}."
        )
    items = ranking.tolist() if isinstance(ranking, np.ndarray) else ranking
    for place, item in enumerate(items):
        try:
            seen = ranks.setdefault(item, place + 1)
        except TypeError:
            raise RatingsError(
                f"{what} must hold labels, got {item!r} at index {place}."
            ) from None
        if seen <= place:
            raise RatingsError(
                f"{what} must name every item once, got {item!r} again at index "
                f"{place}."
            )
    return ranks


def _require_rank(item: Label, rank: object, what: str) -> None:
    numeric = int | float | Fraction | np.integer | np.floating
    finite = False
    if isinstance(rank, numeric) and not isinstance(rank, bool):
        try:
            finite = math.isfinite(float(rank))
        except OverflowError:
            finite = False
    if not finite:
        raise RatingsError(
            f"{what} must give every item a finite rank, got {rank!r} for {item!r}."
        )


def _require_same(first: Mapping[Label, Rank], second: Mapping[Label, Rank]) -> None:
    for here, there, where in (
        (first, second, "estimate"),
        (second, first, "truth"),
    ):
        for item in here:
            if item not in there:
                raise RatingsError(
                    f"truth and estimate must rank the same items, got {item!r} not "
                    f"in {where}."
                )


def _best(ranks: Mapping[Label, Rank], k: int, what: str) -> set[Label]:
    order = sorted(ranks, key=ranks.__getitem__)
    if k < len(order) and ranks[order[k - 1]] == ranks[order[k]]:
        raise RatingsError(
            f"{what} must say which items are among the best {k}, got {order[k - 1]!r} "
            f"and {order[k]!r} tied there. Break the tie or choose another k."
        )
    return set(order[:k])


def _tied(keys: NDArray[np.int64]) -> int:
    """Count the pairs of equal keys."""
    _, counts = np.unique(keys, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())

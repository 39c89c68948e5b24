"""The warp test: what is left of a ranking when every reviewer had another scale.

Each reviewer's scores are put through an increasing function of the reviewer's own,
drawn at random, many times; the items are ranked again each time. Order and ties within
a reviewer stay as they are, so a method that uses nothing else does not move at all. A
method that compares scores across reviewers moves as far as it leans on that.

A warp takes a score to u = (score - low) / (high - low), where low and high are the
5% and 95% quantiles of all scores, so that no outlier sets the unit. It gives back
low + (high - low) v, where for each reviewer

- mild: v = 0.2 A + exp(0.3 B) f(u), with exponent exp(0.5 C) and A, B, C standard
  normal: a shift of about a fifth of the range, slope and bend near the identity's;
- extreme: v = 100 A + 10^(3 D - 1.5) f(u), with exponent exp(C) and D uniform between 0
  and 1: shifts of many ranges, slopes over three orders of magnitude, wild bends.

f(u) is u to the power of the exponent between 0 and 1, and u itself outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias, Unpack

import numpy as np

from evenhand.arrays import Codes, Scores
from evenhand.claims import DataWarning, Json, Label, tail
from evenhand.engines.executors import require_executor, run_parts
from evenhand.errors import (
    OptionError,
    RatingsError,
    plural,
    printable,
    require_sequence,
    require_whole,
    unknown,
)
from evenhand.losses import kendall_tau
from evenhand.method import as_method
from evenhand.models.design import steps
from evenhand.progress import working
from evenhand.randomness import (
    RNGLike,
    seed_as_rng,
    seed_from,
    standard_normal,
    stream,
    uniforms,
)
from evenhand.ranking.methods import Mean, RankMethod
from evenhand.ratings import Data, Ratings, ReadingOptions, as_ratings

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from evenhand.randomness import Stream

Order: TypeAlias = Callable[[Ratings, np.random.Generator], Sequence[int] | Codes]

DRAWS = 200
MOST_DRAWS = 1_000_000
# Wider ranges are cut down to this one, or a shift would leave the floats.
WIDEST = 1e300
# Scores further out than so many ranges only keep their order.
FARTHEST = 1e6
TAILS = (0.05, 0.95)
# Scores that are warped at once.
AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class WarpedItem:
    """What became of one item.

    Attributes:
        item: Label.
        rank: Its rank by the real scores.
        p_top: Share of draws in which it is among the best k.
        kept: Share of draws in which it is chosen if it was, and not if it was not.
        rank_low: Best rank that it got.
        rank_high: Worst rank that it got.
    """

    item: Label
    rank: int
    p_top: float
    kept: float
    rank_low: int
    rank_high: int


@dataclass(frozen=True, slots=True)
class Survival:
    """What became of one method's ranking under one strength of warps.

    Attributes:
        method: The method.
        strength: "mild" or "extreme".
        agreement: Kendall's agreement with the ranking of the real scores, from -1 to
            1, averaged over draws.
        lowest: Its lowest value.
        top_kept: Share of draws in which the same k items are chosen.
        stay: How many of the best k are still among them, averaged over draws.
        unchanged: Share of draws in which no item moved.
        items: A row for each item, by its rank on the real scores.
    """

    method: str
    strength: str
    agreement: float
    lowest: float
    top_kept: float
    stay: float
    unchanged: float
    items: tuple[WarpedItem, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Warp:
    """What of a ranking survives other scales.

    Attributes:
        survivals: For each strength the method, and the plain mean beside it.
        top: How many of the best are chosen.
        draws: How many times the scales were drawn.
        method: The method.
        seed: What repeats the test.
        data: Sizes and hash of the ratings.
        notices: What the reader must know.
    """

    survivals: tuple[Survival, ...]
    top: int
    draws: int
    method: str
    seed: int
    data: Mapping[str, Json]
    notices: tuple[DataWarning, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the result's JSON as plain values.

        Examples:
            >>> Warp((), 1, 9, "mean", 7, {}).to_dict()["schema"]
            'evenhand.warp/1'
        """
        parameters: dict[str, Json] = {"draws": self.draws, "top": self.top}
        survivals = [asdict(survival) for survival in self.survivals]
        head = {"schema": "evenhand.warp/1", **parameters, "survivals": survivals}
        return {**head, **tail(self, parameters=parameters)}

    def sentences(self, method: str | None = None) -> tuple[str, ...]:
        """Say for each strength and method, or for one method, what survived.

        Examples:
            >>> item = WarpedItem("x", 1, 0.25, 0.25, 1, 2)
            >>> kept = Survival("mean", "mild", 0.512, 0.1, 0.25, 0.25, 0.0, (item,))
            >>> Warp((kept,), 1, 9, "mean", 7, {}).sentences()
            ('Under mild warps the best one by mean stays in 25% of draws. Agreement is
            0.51.',)
        """
        return tuple(
            f"Under {survival.strength} warps {_stay(survival, self.top)}. Agreement "
            f"is {survival.agreement:.2f}."
            for survival in self.survivals
            if method in (None, survival.method)
        )

    def __repr__(self) -> str:
        title = f"Warp test of {self.method}, best {self.top}, "
        title += f"{plural(self.draws, 'draw')}, seed {self.seed}"
        return "\n".join([title, *self.sentences()])


def _stay(survival: Survival, k: int) -> str:
    """Say how many of the best k stay, and which leaves most often."""
    if k == 1:
        share = 100 * survival.stay
        return f"the best one by {survival.method} stays in {share:.0f}% of draws"
    text = f"{survival.stay:.1f} of the best {k:,} by {survival.method} stay on average"
    first = min(survival.items[:k], key=lambda row: row.p_top)
    share = 100 * (1 - first.p_top)
    leaves = f"; {printable(first.item)} leaves most often ({share:.0f}% of draws)"
    return text + (leaves if share else "")


# From three uniforms of each reviewer, and their normal quantiles, to the reviewers'
# shifts, slopes and exponents.
SCALES: dict[str, Callable[[Scores, Scores], Sequence[Scores]]] = {
    "mild": lambda _, z: (0.2 * z[0], np.exp(0.3 * z[1]), np.exp(0.5 * z[2])),
    "extreme": lambda u, z: (100 * z[0], 10 ** (3 * u[1] - 1.5), np.exp(z[2])),
}
STRENGTHS = tuple(SCALES)


def warp_scores(
    scores: Scores, reviewer_codes: Codes, source: Stream, strength: str
) -> Scores:
    """Put each reviewer's scores through a random scale.

    Args:
        scores: Finite scores.
        reviewer_codes: Who gave them, from 0.
        source: Where the scales come from; three uniforms for each code up to the
            largest.
        strength: "mild" or "extreme".

    Returns:
        The warped scores: finite, and for each reviewer in the same order, with the
        same ties.

    Examples:
        >>> scores, people = np.array([1.0, 2.0, 2.0, 5.0]), np.array([0, 0, 0, 1])
        >>> found = warp_scores(scores, people, stream(7, "warp"), "mild")
        >>> bool(found[0] < found[1] == found[2])
        True
    """
    chance = uniforms(source, (3, int(reviewer_codes.max()) + 1))
    scales = np.stack(SCALES[strength](chance, standard_normal(chance)))
    units, width, low = _units(scores)
    shift, slope, exponent = scales[:, reviewer_codes]
    inner = np.clip(units, 0.0, 1.0)
    values = shift + slope * (inner**exponent + (units - inner))
    return _kept_apart(low + width * values, scores, reviewer_codes)


@seed_as_rng
@working("Redrawing scales")
def warp(
    ratings: Data,
    *,
    method: str | RankMethod | Order = "adaptive",
    draws: int = DRAWS,
    strength: str | Sequence[str] = STRENGTHS,
    top: int | None = None,
    executor: Executor | None = None,
    rng: RNGLike = None,
    **reading: Unpack[ReadingOptions],
) -> Warp:
    """Redraw every reviewer's scale many times, and see what of a ranking survives.

    Args:
        ratings: Scores, in a Ratings or a dataframe.
        method: What `rank` takes. The plain mean is shown beside it.
        draws: How many times the scales are drawn.
        strength: "mild", "extreme" or both.
        top: How many of the best are to be chosen; a quarter of the items, rounded up,
            if not given.
        executor: What ranks warped scores, such as a ProcessPoolExecutor or Dask's
            `client.get_executor()`. The result is the same with any.
        rng: Seed, generator or None.
        reading: How to read a file or a dataframe, with the names that `read_ratings`
            has: `reviewer`, `item`, `score`, `rows`, `scale`, ...

    Returns:
        For each strength, for the method and for the mean: how often the best stay the
        best, the ranks that items got, and agreement with the ranking of the real
        scores.

    Raises:
        RatingsError: If there are no scores, an item has none, or the method refuses
            the ratings.
        OptionError: If an option is unknown or out of range.

    Examples:
        >>> ratings = Ratings(
        ...     [0, 0, 1, 1, 2, 2], ["x", "y", "y", "z", "x", "z"], [9, 7, 3, 2, 8, 1])
        >>> found = warp(ratings, method="bradley-terry", draws=20, top=1, rng=7)
        >>> [(row.method, row.strength, row.top_kept) for row in found.survivals][:2]
        [('bradley-terry', 'mild', 1.0), ('mean', 'mild', 0.95)]
    """
    ratings = as_ratings(ratings, warp, **reading)
    seed = seed_from(rng)
    require_sequence("names", strength=strength)
    strengths = (strength,) if isinstance(strength, str) else tuple(strength)
    k = _check(ratings, draws, strengths, top)
    require_executor(executor)
    chosen = as_method(method, RankMethod)
    # A user's function may be called mean, too.
    own = chosen.own and chosen.display_name != Mean.name
    name = chosen.display_name if own else str(chosen)
    methods: dict[str, RankMethod] = {name: chosen, "mean": Mean()}
    orders = {
        label: ranker.order_items(ratings, seed) for label, ranker in methods.items()
    }
    step = min(max(AT_ONCE // ratings.n_ratings, 1), chosen.sets_at_once)
    work = functools.partial(_warped_orders, ratings, methods, seed)
    survivals = []
    for degree in strengths:
        draw = [range(draws)[start : start + step] for start in range(0, draws, step)]
        parts = list(run_parts(work, [(degree, part) for part in draw], executor))
        for label, before in orders.items():
            again = np.concatenate([part[label] for part in parts])
            survivals.append(_survival(ratings, (label, degree), before, again, k))
    return Warp(
        survivals=tuple(survivals),
        top=k,
        draws=draws,
        method=name,
        seed=seed,
        data=ratings.summary(),
        notices=ratings.notices,
    )


def _warped_orders(
    ratings: Ratings,
    methods: Mapping[str, RankMethod],
    seed: int,
    part: tuple[str, range],
) -> dict[str, Codes]:
    """Order scores warped by some draws of a strength by each method, row by row."""
    strength, draws = part
    sources = (stream(seed, f"warp {strength} {draw}") for draw in draws)
    data = ratings.scores, ratings.reviewer_codes
    sets = [warp_scores(*data, source, strength) for source in sources]
    return {
        label: np.stack(method.rerank(ratings, sets, seed))
        for label, method in methods.items()
    }


def _survival(
    ratings: Ratings, names: tuple[str, str], start: Codes, orders: Codes, k: int
) -> Survival:
    ranks, before = np.argsort(orders, axis=1) + 1, np.argsort(start) + 1
    chosen, still = before <= k, ranks <= k
    pairs = max(1, len(start) * (len(start) - 1) // 2)
    # Kendall's: 1 if no pair changed, -1 if all did.
    agreements = [1 - 2 * kendall_tau(start, order) / pairs for order in orders]
    shares, lows, highs = still.mean(axis=0), ranks.min(axis=0), ranks.max(axis=0)
    kept = np.where(chosen, shares, 1 - shares)
    columns = [part[start].tolist() for part in (shares, kept, lows, highs)]
    labels = [ratings.item_labels[item] for item in start.tolist()]
    return Survival(
        *names,
        agreement=float(np.mean(agreements)),
        lowest=float(np.min(agreements)),
        top_kept=float((still == chosen).all(axis=1).mean()),
        stay=float((still & chosen).sum(axis=1).mean()),
        unchanged=float((orders == start).all(axis=1).mean()),
        items=tuple(map(WarpedItem, labels, range(1, len(start) + 1), *columns)),
    )


def _units(scores: Scores) -> tuple[Scores, float, float]:
    # Halves, as the range of large scores may be beyond floats.
    halves = scores / 2
    low, high = np.quantile(halves, TAILS)
    if low == high:
        low, high = halves.min(), halves.max()
    width = float(high - low)
    if width == 0:
        return np.full(len(scores), 0.5), 1.0, float(2 * low)
    with np.errstate(over="ignore"):
        units = np.clip((halves - low) / width, -FARTHEST, FARTHEST)
    low = min(max(2 * float(low), -WIDEST), WIDEST)
    return units, min(2 * width, WIDEST), low


def _kept_apart(warped: Scores, scores: Scores, reviewer_codes: Codes) -> Scores:
    """Keep the order and the ties of a reviewer's scores where rounding has not."""
    tiers = steps(reviewer_codes, scores)
    values = np.empty(len(tiers.sizes))
    values[tiers.rows] = warped
    same = np.diff(tiers.reviewers) == 0
    while len(low := np.flatnonzero(same & (np.diff(values) <= 0))):
        values[low + 1] = np.nextafter(values[low], np.inf)
    return values[tiers.rows]


def _check(
    ratings: Ratings, draws: int, strengths: Sequence[str], top: int | None
) -> int:
    if ratings.kind != "scores":
        raise RatingsError(
            f"warp needs scores, but the data holds only {ratings.kind}, which have no "
            "scale to redraw."
        )
    for name in strengths or ("",):
        if not isinstance(name, str) or name not in STRENGTHS:
            raise OptionError(unknown("strength", name, SCALES))
    require_whole("draws", draws, 1, MOST_DRAWS)
    if top is None:
        return -(-ratings.n_items // 4)
    require_whole("top", top, 1, ratings.n_items, "the number of items")
    return top

"""The methods of `rank`: one class for each, from a task to an answer.

Modules of models and posets load when a method first uses them, so that a ranking by
means touches no poset and one by comparisons no model.

Where an item would stand without one of its reviews says how much rests on that one.
Small data are ranked again without each review. Of larger ones `adaptive` and
`additive` take the review out of the fitted equations, with everything that all ratings
decide together held. Other methods, and those that draw at random, say why they have
none.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand.ab.weights import WEIGHT, GapWeight
from evenhand.claims import ANY_SCALES, DataWarning, Json, few
from evenhand.errors import OptionError, must_be, name_of, quote, require_function
from evenhand.lazy import lazy
from evenhand.method import Method, as_method, choice, flag, number, option
from evenhand.randomness import below, permutation, stream
from evenhand.ranking import claims

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from evenhand.ab import claims as ab_claims
    from evenhand.arrays import Codes, Scores, Table
    from evenhand.claims import Claim, Finding
    from evenhand.designs.design import Declared, ManyItemDesign
    from evenhand.engines.pairs import PairCounts
    from evenhand.models import (
        adaptive,
        additive,
        affine,
        bradley_terry,
        design,
        isotonic,
        means,
        pair_models,
        posterior,
        reliability,
    )
    from evenhand.models.additive import Shares
    from evenhand.models.design import Fit
    from evenhand.posets import averaging, contradictions, graph, orderings, sampling
    from evenhand.posets.averaging import MeanRankOrder
    from evenhand.posets.graph import Comparisons
    from evenhand.ranking import flips, notices, sorter, ties, uncertainty
    from evenhand.ranking.flips import Flip
    from evenhand.ranking.ties import TieBreak
    from evenhand.ranking.uncertainty import RankUncertainty
    from evenhand.ratings import Ratings

    Buckets = tuple[tuple[int, ...], ...]
    Flipped = tuple[Codes, tuple[Flip, ...]]
else:
    ab_claims = lazy("evenhand.ab.claims")
    adaptive = lazy("evenhand.models.adaptive")
    additive = lazy("evenhand.models.additive")
    affine = lazy("evenhand.models.affine")
    bradley_terry = lazy("evenhand.models.bradley_terry")
    design = lazy("evenhand.models.design")
    isotonic = lazy("evenhand.models.isotonic")
    means = lazy("evenhand.models.means")
    pair_models = lazy("evenhand.models.pair_models")
    posterior = lazy("evenhand.models.posterior")
    reliability = lazy("evenhand.models.reliability")
    averaging = lazy("evenhand.posets.averaging")
    contradictions = lazy("evenhand.posets.contradictions")
    graph = lazy("evenhand.posets.graph")
    orderings = lazy("evenhand.posets.orderings")
    sampling = lazy("evenhand.posets.sampling")
    flips = lazy("evenhand.ranking.flips")
    notices = lazy("evenhand.ranking.notices")
    sorter = lazy("evenhand.ranking.sorter")
    ties = lazy("evenhand.ranking.ties")
    uncertainty = lazy("evenhand.ranking.uncertainty")

PAPER = "Wang and Shah (2019)"
PAIRED_ITEMS = 500
# Ratings times items, and reviewers or items, whichever are fewer, that fit.
HELD_CELLS, HELD_LEVELS = 6_000_000, 1000


@dataclass(frozen=True)
class Task:
    """What is to be ranked.

    Attributes:
        ratings: The ratings.
        seed: Where all chance comes from.
        intervals: Whether a model is to say how sure it is, which takes most of its
            time.
    """

    ratings: Ratings
    seed: int
    intervals: bool = True

    @cached_property
    def graph(self) -> Comparisons:
        """Who was put above whom."""
        return graph.comparisons(self.ratings)

    @cached_property
    def mean_ranks(self) -> Callable[[str], MeanRankOrder]:
        """What sorts by mean rank, once for all methods tried on the same data."""
        # The law of all pairs, which intervals need, is quick to count up to here.
        pairs = self.intervals and self.ratings.n_items <= PAIRED_ITEMS
        return cache(
            partial(averaging.mean_rank_order, self.graph, self.seed, pairs=pairs)
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """A ranking by codes.

    Attributes:
        order: Item codes, best first.
        parameters: What was used beside the options of the method, as in the JSON.
        findings: What the certificate must know of how it came about.
        coins: Every coin that was flipped.
        retired: Number of reviewers that coins used up, None if they may serve again.
        ties: How ties were broken, if they were.
        split: "always", if the reviewers were split whatever they scored; "first", if
            those who made the groups contradict each other; "all", if they do not, so
            that the scores of the others showed the contradiction; None if they were
            not split.
        notices: What the reader must know.
        mean_ranks: The mean ranks, if they were worked out.
        fit: What a model made of the ratings, if one did.
        uncertainty: How sure the places are, if that is known by now.
    """

    order: Codes
    parameters: dict[str, Json] | None = None
    findings: tuple[Finding, ...] = ()
    coins: tuple[Flip, ...] = ()
    retired: int | None = None
    ties: TieBreak | None = None
    split: str | None = None
    notices: tuple[DataWarning, ...] = ()
    mean_ranks: MeanRankOrder | None = None
    fit: Fit | None = None
    uncertainty: RankUncertainty | None = None


def check_order(ranking: object, n_items: int, what: str) -> Codes:
    """Return the ranking that a user's function gave.

    Raises:
        OptionError: If it is not the code of every item once.

    Examples:
        >>> check_order([1, 0], 2, "start").tolist()
        [1, 0]
    """
    try:
        order = np.asarray(ranking)
    except ValueError:
        order = np.empty(0)
    whole = order.dtype.kind in "iu" and order.ndim == 1
    if not whole or not np.array_equal(np.sort(order), np.arange(n_items)):
        raise OptionError(
            f"{what} must return the code of each of the {n_items} items once, best "
            f"first, got {quote(ranking)}."
        )
    return order.astype(np.int64)


class RankMethod(Method):
    """A way to order many items.

    Attributes:
        ordinal: Whether it looks at each reviewer's order only, so that others may
            start from it.
        noisy: Whether it takes contradictions of reviewers for noise.
        needs_scores: Whether orders alone do not do.
        weighs: Whether it uses the weights of ratings.
        by_value: Whether it sorts by a value of each item.
        quick: Whether ranking a report's ratings again some thirty times takes little.
        again_ratings: Ratings up to which ranking again without each of them takes a
            second or so.
        removes_ratings: Whether `without_each` takes single ratings out of a fit.
        takes_offsets: Whether it takes each score less its reviewer's offset.
        linear: Whether its values are linear in the scores.
        sets_at_once: How many sets of scores `rerank` takes best in one go.
        undeclared: What is proved of it if nobody says how items were assigned, where
            that is less than its best.
        exact_values: Whether rounding never orders two items by itself.
    """

    job = "rank"
    weighs: ClassVar[bool] = False
    ordinal: ClassVar[bool] = False
    noisy: ClassVar[bool] = False
    needs_scores: ClassVar[bool] = True
    by_value: ClassVar[bool] = False
    quick: ClassVar[bool] = False
    again_ratings: ClassVar[int] = 60
    removes_ratings: ClassVar[bool] = False
    takes_offsets: ClassVar[bool] = False
    linear: ClassVar[bool] = False
    sets_at_once: ClassVar[int] = 10
    undeclared: ClassVar[Claim]
    exact_values: ClassVar[bool] = False

    def __init_subclass__(cls, **arguments: object) -> None:
        """Take its best claim for what holds without a design as well."""
        super().__init_subclass__(**arguments)
        if "best" in vars(cls) and "undeclared" not in vars(cls):
            cls.undeclared = cls.best

    @property
    def display_name(self) -> str:
        """Its name in results."""
        return self.name

    def check(self, task: Task) -> None:
        """Refuse ratings that it cannot use, in words.

        Raises:
            RatingsError: If it needs scores and there are none.
            ContradictionError: If it needs consistent comparisons.
        """
        if self.needs_scores:
            task.ratings.scores  # noqa: B018 - refuses ranks and comparisons
        if not self.noisy:
            contradictions.require_consistent(
                task.ratings, task.graph, method=self.name
            )

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        raise NotImplementedError

    def begin(self, task: Task) -> Answer:
        """Order the items for another method to go on from."""
        return self.answer(task)

    @property
    def declares_constants(self) -> bool:
        """Whether what it needs to know of scales was declared beforehand."""
        return False

    @property
    def best_under_draw(self) -> Claim:
        """What is proved of it, with these options, under a random assignment."""
        return self.best

    def claim(
        self,
        ratings: Ratings,  # noqa: ARG002 - most claim the same
        declared: Declared[ManyItemDesign] | None,
    ) -> Claim:
        """Return what is proved of it at best, on such ratings and assignments."""
        return self.undeclared if declared is None else self.best_under_draw

    def draw_values(
        self,
        ratings: Ratings,  # noqa: ARG002 - models that know ask them
        fit: Fit,  # noqa: ARG002 - the same
        number: int,  # noqa: ARG002 - the same
        seed: int,  # noqa: ARG002 - the same
    ) -> Table | None:
        """Draw values of all items together, a row for each draw; None if unable."""
        return None

    def errors(self, ratings: Ratings, fit: Fit) -> Table | None:  # noqa: ARG002 - some ask them
        """Return a standard error for each estimate, None if it has none."""
        return fit.errors

    def reviewer_offsets(self, ratings: Ratings) -> Table | None:  # noqa: ARG002 - few do
        """Return the offsets that it takes off, None if others estimate them."""
        return None

    def without_each(self, ratings: Ratings) -> Table:
        """Return for each rating the estimates of all items without it."""
        raise NotImplementedError

    def rerank(
        self, ratings: Ratings, sets: Sequence[Scores], seed: int
    ) -> list[Codes]:
        """Order items by other scores that keep each reviewer's order and ties."""
        return [self.order_items(ratings.with_scores(each), seed) for each in sets]

    def order_items(self, ratings: Ratings, seed: int) -> Codes:
        """Order items, or refuse, without a word on how sure the order is."""
        task = Task(ratings, seed, intervals=False)
        self.check(task)
        return self.answer(task).order

    def answer_pairs(self, pairs: PairCounts, seed: int) -> Answer:  # noqa: ARG002 - few do
        """Order items by counts of pairs.

        Raises:
            OptionError: If it needs the ratings themselves.
        """
        rule = "'bradley-terry', 'additive' or 'mean' for counts: others need ratings"
        raise must_be("method", rule, self.display_name)

    def how_left_out(self, ratings: Ratings) -> str:
        """Say by a code how ranks without a review are found, or why they are not.

        Returns:
            "again" if items are ranked again without each review; "held" if it is taken
            out of the fit; "no_values" or "too_long" if ranks are not worked out.
        """
        if not self.by_value or ratings.kind == "comparisons":
            return "no_values"
        if ratings.n_ratings <= self.again_ratings:
            return "again"
        least = min(ratings.n_reviewers, ratings.n_items)
        cells = ratings.n_ratings * ratings.n_items
        fits = least <= HELD_LEVELS and cells <= HELD_CELLS
        return "held" if self.removes_ratings and fits else "too_long"

    def leave_one_out(self, ratings: Ratings, seed: int) -> list[int | None]:
        """Return the rank of each rating's item without that rating.

        None if it is the item's only one, and for all if ranks are not worked out.
        """
        how, items = self.how_left_out(ratings), ratings.item_codes
        ranks: list[int | None] = [None] * ratings.n_ratings
        if how not in ("again", "held"):
            return ranks
        estimates = self.without_each(ratings) if how == "held" else None
        for row in np.flatnonzero(np.bincount(items)[items] > 1).tolist():
            if estimates is None:
                task = Task(ratings.without(row), seed, intervals=False)
                order = self.answer(task).order
            else:
                order = by_estimates(design.round_to_resolution(estimates[row]), seed)
            ranks[row] = order.tolist().index(items[row]) + 1
        return ranks

    @classmethod
    def of_function(cls, function: Callable[..., object]) -> Self:
        """Make one of a user's function of ratings and a Generator."""
        require_function("method", function, "the ratings", "a Generator")
        return OwnRanking(function=function)  # type: ignore[return-value,arg-type]  # of RankMethod only


class OwnRanking(RankMethod):
    """A user's function, from ratings and a Generator to item codes, best first."""

    noisy = True
    needs_scores = False
    weighs = True
    own = True
    best = claims.OWN
    function: Callable[[Ratings, np.random.Generator], ArrayLike]

    def __post_init__(self) -> None:
        """Leave the function as it is."""

    @property
    def display_name(self) -> str:
        """Its name in results."""
        return name_of(self.function)

    def parameters(self) -> dict[str, Json]:
        """Say that it is a function of the user's, which no record can repeat."""
        return {"own_function": True}

    def __str__(self) -> str:
        return f"{self.display_name}()"

    def answer(self, task: Task) -> Answer:
        """Ask the function."""
        rng = np.random.Generator(stream(task.seed, self.display_name))
        ranking, what = self.function(task.ratings, rng), f"method {self.display_name}"
        return Answer(check_order(ranking, task.ratings.n_items, what))


class OwnStart(OwnRanking):
    """A user's function, from comparisons and a Generator to item codes, best first."""

    ordinal = True

    def answer(self, task: Task) -> Answer:
        """Ask the function."""
        rng = np.random.Generator(stream(task.seed, "start"))
        ranking = self.function(task.graph, rng)  # type: ignore[arg-type]  # of comparisons
        order = check_order(ranking, task.graph.n_items, "start")
        return Answer(order, findings=(claims.OWN_START,))


def as_start(start: object) -> RankMethod:
    """Return an ordinal method from its name, its text form, itself or a function.

    Raises:
        OptionError: If there is no such method, or it looks at scores.

    Examples:
        >>> as_start("uniform")
        uniform
    """
    if callable(start) and not isinstance(start, type | Method):
        require_function("start", start, "the comparisons", "a Generator")
        return OwnStart(function=start)
    return as_method(start, RankMethod, "start", lambda method: method.ordinal)


LARGEST = sys.float_info.max
AT_LEAST_0 = number(
    "noise", "a finite number of at least 0", lambda sd: 0 <= sd <= LARGEST
)
NOISE = option(
    0.3,
    "Standard deviation of the noise on each mean, in score points. Choose it before "
    "you see the scores.",
    AT_LEAST_0,
)


def _as_shares(shares: object) -> Shares | None:
    """Read two shares of the variance of a score."""
    rule = "two numbers, at least 0 and above 0, that add up to less than 1"
    try:
        pair = None if shares is None else tuple(map(float, shares))  # type: ignore[call-overload]  # tried
    except (TypeError, ValueError):
        raise must_be("shares", rule, shares) from None
    if pair is None or (len(pair) == 2 and pair[0] >= 0 and 0 < pair[1] < 1 - pair[0]):
        return pair
    raise must_be("shares", rule, shares)


SHARES = option(
    None,
    "Reviewers' and items' shares of the variance of a score, such as (0.08, 0.5), "
    "declared beforehand or known from another draw; estimated if left out. With them "
    "Theorem M holds.",
    _as_shares,
)
ANCHORED = option(
    default=True,
    says="Take scores relative to items that reviewers share (Theorem A).",
    read=flag("anchored"),
)
MEAN_RANKS = option(
    "auto",
    "How mean ranks are worked out: exact, sampled, proxy (takes no time), or auto, "
    "the first that is not too much work.",
    choice("mean_ranks", "auto", "exact", "sampled", "proxy"),
)
START_SAYS = (
    "Ordinal method to start from: topological, uniform, mean-rank, borda, "
    "bradley-terry, or in Python a function of comparisons and a Generator."
)


class Ordinal(RankMethod):
    """A method that looks at comparisons only, and breaks none."""

    ordinal = True
    needs_scores = False
    assumes = claims.CONSISTENT


class Topological(Ordinal):
    """The ordering that respects every comparison, smallest labels first."""

    name = "topological"
    best = claims.AS_ANY_ORDINAL
    reference = f"{PAPER}, Lemma 1"

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        return Answer(orderings.topological_order(task.graph))


class Uniform(Ordinal):
    """One of the orderings that respect every comparison, all equally likely."""

    name = "uniform"
    best = claims.AS_ANY_ORDINAL_AT_WORST
    reference = f"{PAPER}, Appendix C"

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        return Answer(sampling.uniform_order(task.graph, stream(task.seed, "start")))


class MeanRank(Ordinal):
    """By rank averaged over all orderings that respect every comparison.

    In our experiments it is within 0.5% of the least expected Kendall tau distance.
    """

    name = "mean-rank"
    best = claims.LEAST_SQUARED_RANKS
    assumes = f"{claims.CONSISTENT}; every true ranking equally likely"
    mean_ranks: str = MEAN_RANKS

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        return _by_mean_rank(task, task.mean_ranks(self.mean_ranks))


def _by_mean_rank(task: Task, mean_ranks: MeanRankOrder) -> Answer:

    averages, used = mean_ranks.averages, "exact"
    findings, warnings = tuple["Finding", ...](), list[DataWarning]()
    if mean_ranks.ties:
        ties = [sorted(tie) for tie in mean_ranks.ties]
        facts = notices.by_lot(ties, task.ratings.item_labels)
        facts |= {"case": "proxy"} if mean_ranks.proxy else {}
        warnings.append(DataWarning("tied_mean_ranks", facts))
    if mean_ranks.proxy:
        used, findings = "proxy", (claims.BY_PROXY,)
        warnings.append(DataWarning("closure_proxy"))
    elif not averages.exact:
        used, findings = "sampled", (claims.BY_SAMPLE,)
        error = float(averages.mean_rank_se.max())
        facts = {"samples": averages.samples, "error": error}
        warnings.append(DataWarning("sampled_orderings", facts))
    options: dict[str, Json] = {"mean_ranks": used, "samples": averages.samples}
    return Answer(
        mean_ranks.order,
        options,
        findings,
        notices=tuple(warnings),
        mean_ranks=mean_ranks,
    )


class ByScores(RankMethod):
    """A method that settles by scores what the comparisons leave open."""

    assumes = claims.RANKING_DESIGN
    start: RankMethod

    def first_answer(self, task: Task) -> Answer:
        """Rank by what the method starts from, which its parameters name."""
        answer = _left_to_scores(self.start.begin(task))
        own = tuple(
            finding for finding in answer.findings if finding == claims.OWN_START
        )
        used = {**(answer.parameters or {}), **({"own_function": True} if own else {})}
        return replace(answer, findings=own, parameters=used)


def _left_to_scores(answer: Answer) -> Answer:
    """Keep what is still true once scores settle what a lot ordered first."""
    kept = tuple(
        warning for warning in answer.notices if warning.code != "tied_mean_ranks"
    )
    return replace(answer, notices=kept)


def _by_scores(
    task: Task,
    start: Answer,
    by: str,
    *weaker: Finding,
    resolved: bool,
    settled: bool,
    **fields: Any,  # noqa: ANN401 - fields of the answer
) -> Answer:
    """Say what became of an order that scores settled, by "coins" or by "ties"."""
    outcome = {"resolved": resolved, "settled": settled, "split": bool(start.split)}
    warnings = notices.score_notices(task.ratings, by, **outcome)
    nothing = () if settled else (claims.NOTHING_SETTLED,)
    fields["findings"] = (*start.findings, *weaker, *nothing)
    return replace(start, notices=(*start.notices, *warnings), **fields)


def _by_coins(task: Task, weight: GapWeight, flipped: Flipped, start: Answer) -> Answer:

    order, coins = flipped
    return _by_scores(
        task,
        replace(start, mean_ranks=None),
        "coins",
        *ab_claims.weight_findings(weight),
        resolved=notices.floats_resolve_coins(task.ratings, coins, weight),
        settled=bool(coins),
        order=order,
        coins=coins,
        retired=len({reviewer for coin in coins for reviewer in coin.reviewers}),
    )


class Flips(ByScores):
    """An ordering, with free neighbours settled by biased coins on their scores."""

    name = "flips"
    best = claims.by_theorem("paper 5")
    reference = f"{PAPER}, Algorithm 1 and Theorem 5"
    start: RankMethod = option(Topological(), START_SAYS, as_start)
    weight: GapWeight = WEIGHT

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        start = self.first_answer(task)
        if not graph.is_ordering(task.graph, start.order):
            raise OptionError(
                "start must respect every comparison for method 'flips', got a ranking "
                "that does not. Method 'twins' takes any ranking."
            )
        data = (task.ratings, task.graph, start.order, self.weight)
        flipped = flips.flip_neighbours(*data, stream(task.seed, "flips"))
        return _by_coins(task, self.weight, flipped, start)


class FlipsUniform(RankMethod):
    """A uniformly random ordering, with free neighbours settled by biased coins."""

    name = "flips-uniform"
    assumes = claims.RANKING_DESIGN
    best = claims.BEATS_UNIFORM
    reference = f"{PAPER}, Appendix C and Theorem 8"
    scan: str = option(
        "parity",
        "How neighbours are looked at: parity holds for every set of comparisons, "
        "paper (as printed) on average over random ones.",
        choice("scan", "paper", "parity"),
    )
    weight: GapWeight = WEIGHT

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        start = Uniform().answer(task)
        if self.scan == "paper":
            start = replace(start, findings=(claims.ON_AVERAGE,))
        scan = flips.scan_from(self.scan, partial(below, stream(task.seed, "scan")))
        data = (task.ratings, task.graph, start.order, self.weight)
        flipped = flips.flip_neighbours(*data, stream(task.seed, "flips"), scan=scan)
        return _by_coins(task, self.weight, flipped, start)


class Twins(ByScores):
    """Any ordinal ranking, with indistinguishable items settled by biased coins."""

    name = "twins"
    best = claims.BEATS_ITS_START
    reference = f"{PAPER}, Algorithm 3 and Theorem 7"
    start: RankMethod = option(Topological(), START_SAYS, as_start)
    twins: str = option(
        "all",
        "Settle all disjoint pairs of twins, or the first one, as printed.",
        choice("twins", "one", "all"),
    )
    by: str = option(
        "closure",
        "Twins by all that the comparisons imply, or by direct ones, as printed.",
        choice("by", "direct", "closure"),
    )
    weight: GapWeight = WEIGHT

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        start = self.first_answer(task)
        data = (task.ratings, task.graph, start.order, self.weight)
        source = stream(task.seed, "twins")
        flipped = flips.settle_twins(*data, source, pairs=self.twins, by=self.by)
        # Twins' reviewers may serve again.
        return replace(_by_coins(task, self.weight, flipped, start), retired=None)


class Sorter(RankMethod):
    """Free pairs sorted one by one, the most open first, by coins on fresh scores."""

    name = "sorter"
    assumes = claims.RANKING_DESIGN
    best = claims.by_theorem("K")
    reference = "docs/theory.md, Theorem K"
    weight: GapWeight = WEIGHT
    anchored: bool = ANCHORED

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        data = (task.ratings, task.graph, self.weight)
        source = stream(task.seed, "sorter")
        flipped = sorter.sort_free_pairs(*data, source, anchors=self.anchored)
        return _by_coins(task, self.weight, flipped, Answer(flipped[0]))


class Ties(ByScores):
    """Any ordinal ranking, with indistinguishable items sorted by means and noise."""

    name = "ties"
    best = claims.TIES_TWICE
    reference = "docs/theory.md, Theorem T"
    start: RankMethod = option(MeanRank(), START_SAYS, as_start)
    noise: float = NOISE
    anchored: bool = ANCHORED

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        start = self.first_answer(task)
        buckets = ties.twin_buckets(start.order, task.graph)
        return _sorted_within(task, self, start, buckets)


class Safe(RankMethod):
    """By mean rank, with items of equal mean rank sorted by mean scores and noise.

    If reviewers contradict each other, a random subset defines tied groups and the
    others order each group.
    """

    name = "safe"
    assumes = (
        f"{claims.RANKING_DESIGN}; where reviewers are split, noise that has nothing "
        "to do with items, and a split that was chosen beforehand or that the group "
        "makers' own contradictions call for"
    )
    best = claims.TIES_TWICE
    reference = "docs/theory.md, Theorems T and A"
    noisy = True
    split: str = option(
        "auto",
        "Split the reviewers where they contradict each other, or always. always keeps "
        "the guarantee with errors in scores, if you chose it before you saw scores.",
        choice("split", "auto", "always"),
    )
    noise: float = NOISE
    anchored: bool = ANCHORED
    mean_ranks: str = MEAN_RANKS

    def parameters(self) -> dict[str, Json]:
        """Return its options; whether reviewers were split is the answer's to say."""
        options, own = super().parameters(), ("split", "mean_ranks")
        return {name: options[name] for name in options if name not in own}

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        if (
            self.split == "always"
            or contradictions.find_contradiction(task.graph) is not None
        ):
            return self._divide_reviewers(task)
        mean_ranks = task.mean_ranks(self.mean_ranks)
        buckets = ties.equal_mean_ranks(mean_ranks, task.graph)
        start = _left_to_scores(replace(_by_mean_rank(task, mean_ranks), findings=()))
        return _sorted_within(task, self, start, buckets)

    def _divide_reviewers(self, task: Task) -> Answer:
        """Order by some reviewers, and break its ties by the scores of the others."""
        data = (task.ratings, task.seed)
        split = ties.split_order(*data, noise=self.noise, anchored=self.anchored)
        ordered, breakers = len(split.ordered), len(split.breakers)
        always = self.split == "always"
        facts: dict[str, Json] = {"case": "always" if always else "contradict"}
        facts |= {"ordered": ordered, "breakers": breakers, "groups": len(split.weak)}
        torn = always or ties.contradictory(task.ratings, split.ordered)
        why = "always" if always else "first" if torn else "all"
        used: Json = {"when": self.split, "ordered": ordered, "breakers": breakers}
        warnings = (DataWarning("split_reviewers", facts),)
        start = Answer(split.ties.order, {"split": used}, split=why, notices=warnings)
        return _by_ties(task, split.ties, start)


def _sorted_within(
    task: Task, method: Ties | Safe, start: Answer, buckets: Buckets
) -> Answer:

    source, noise = stream(task.seed, "ties"), method.noise
    data = (task.ratings, start.order, buckets, source)
    tie_break = ties.break_ties(*data, noise=noise, anchored=method.anchored)
    return _by_ties(task, tie_break, start)


def _by_ties(task: Task, ties: TieBreak, start: Answer) -> Answer:
    uses = (zip(draw.reviewers, itertools.cycle(draw.items)) for draw in ties.draws)
    # Reviewers whose scores were used for two items.
    times = Counter(reviewer for reviewer, _ in {*itertools.chain.from_iterable(uses)})
    reused = sum(number > 1 for number in times.values())
    return _by_scores(
        task,
        start,
        "ties",
        *((claims.served_again(reused),) if reused else ()),
        *(() if ties.noise else (claims.NO_NOISE,)),
        resolved=ties.resolved or ties.noise == 0,
        settled=ties.settled > 0,
        order=ties.order,
        ties=ties,
    )


class Mean(RankMethod):
    """By mean score, as most people do."""

    name = "mean"
    assumes = "one scale shared by all reviewers"
    best = claims.ANY_TWO
    undeclared = claims.MEANS
    exact_values = True
    noisy = True
    weighs = True
    by_value = True
    linear = True
    needs_scores = False
    quick = True
    again_ratings = 1500

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        values = means.item_means(task.ratings)
        order = by_estimates(values, task.seed, "mean")
        if not task.intervals:
            return Answer(order)
        runs = np.split(order, np.flatnonzero(np.diff(values[order])) + 1)
        tied = [run.tolist() for run in runs if len(run) > 1]
        facts = notices.by_lot(tied, task.ratings.item_labels)
        warnings = (DataWarning("tied_means", facts),) if tied else ()
        fit = design.Fit(self.name, values, np.zeros_like(order))
        sure = uncertainty.from_model(self, task.ratings, fit, task.seed, order=order)
        return Answer(order, notices=warnings, uncertainty=sure)

    def answer_pairs(self, pairs: PairCounts, seed: int) -> Answer:
        """Order items by counts of pairs."""
        order = by_estimates(pairs.means, seed, "mean")
        groups = int(bradley_terry.ordered_groups(pairs).max()) + 1
        tied = notices.lot_notices("means", pairs.means, order, pairs.item_labels)
        warnings = (
            *notices.separate_groups(groups),
            *tied,
            DataWarning("no_intervals", {"case": "means"}),
        )
        return Answer(order, notices=warnings)

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:  # noqa: ARG002 - means say all
        """Draw the values of all items together, a row for each draw."""
        return posterior.draw_from_means(ratings, number, seed)

    def errors(self, ratings: Ratings, fit: Fit) -> Table:  # noqa: ARG002 - counts say all
        """Return a standard error for each mean."""
        parts = additive.additive(ratings).variances
        shared = 1.0 if parts is None else parts.reviewer + parts.rest
        return np.sqrt(shared / np.bincount(ratings.item_codes))

    def rerank(
        self, ratings: Ratings, sets: Sequence[Scores], seed: int
    ) -> list[Codes]:
        """Order items by other scores that keep each reviewer's order and ties."""
        values = (means.item_means(ratings, scores) for scores in sets)
        return [by_estimates(means_again, seed, "mean") for means_again in values]


class Model(RankMethod):
    """A method that sorts items by the estimates of a model, equal ones by lot."""

    best = claims.MODEL
    noisy = True
    weighs = True
    by_value = True
    quick = True

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        raise NotImplementedError

    def order_values(self, values: Scores, seed: int) -> Codes:
        """Sort items by value, highest first."""
        return by_estimates(values, seed)

    def fit_pairs(self, pairs: PairCounts) -> Fit | None:  # noqa: ARG002 - few do
        """Fit the model to counts of pairs; None if it needs ratings."""
        return None

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        fit = self.fit(task.ratings)
        order = self.order_values(fit.estimates, task.seed)
        if not task.intervals:
            return Answer(order, fit=fit)
        ratings = task.ratings
        sure = uncertainty.from_model(self, ratings, fit, task.seed, order=order)
        unsure = DataWarning("no_intervals", {"method": self.name})
        tied = notices.lot_notices(
            "estimates", fit.estimates, order, ratings.item_labels
        )
        unknown = () if sure else (unsure,)
        warnings = (*_fit_warnings(fit, ratings), *tied, *unknown)
        return Answer(order, notices=warnings, fit=fit, uncertainty=sure)

    def answer_pairs(self, pairs: PairCounts, seed: int) -> Answer:
        """Order items by counts of pairs."""
        fit = self.fit_pairs(pairs)
        if fit is None:
            return super().answer_pairs(pairs, seed)
        order = by_estimates(fit.estimates, seed)
        tied = notices.lot_notices("estimates", fit.estimates, order, pairs.item_labels)
        sure, why = None, DataWarning("no_intervals", {"case": "apart"})
        if fit.groups.max() == 0:
            why = DataWarning("independent_errors")
            sure = uncertainty.from_fit(fit, seed, order=order)
        warnings = (*fit.notices, *tied, why)
        return Answer(order, notices=warnings, fit=fit, uncertainty=sure)

    def begin(self, task: Task) -> Answer:
        """Order the items for another method to go on from."""
        return Answer(by_estimates(self.fit(task.ratings).estimates, task.seed))


def by_estimates(estimates: Scores, seed: int, lots: str = "estimates") -> Codes:
    """Sort items by estimate, highest first, equal ones at random.

    Args:
        estimates: A value for each item, by code.
        seed: Where the lots come from.
        lots: Name of the stream that they are drawn from.

    Examples:
        >>> by_estimates(np.array([1.0, 3.0, 2.0]), 7).tolist()
        [1, 2, 0]
    """
    lot = permutation(stream(seed, lots), len(estimates))
    return np.lexsort((lot, -estimates)).astype(np.int64)


def _fit_warnings(fit: Fit, ratings: Ratings) -> tuple[DataWarning, ...]:
    codes = {notice.code for notice in fit.notices}
    if fit.rho is None or codes & {"orders_only", "fixed_sums"}:
        return fit.notices
    case, scores = adaptive.rho_case(fit.rho), ratings.scores
    single = np.bincount(ratings.reviewer_codes).max() == 1
    if single or ratings.n_reviewers == 1 or scores.min() == scores.max():
        case = "unknown"
    facts: dict[str, Json] = {"case": case, "rho": fit.rho}
    return (DataWarning("reviewer_offsets", facts), *fit.notices)


# Ratings up to which `adaptive` looks at how reliable reviewers are.
MANY_RATINGS = 60_000


class Adaptive(Model):
    """By scores to the extent that reviewers' levels agree, by orders otherwise."""

    name = "adaptive"
    assumes = "reviewers' offsets, as estimated, tell how far scores can be compared"
    best = claims.ADAPTIVE
    default = True
    takes_offsets = True
    needs_scores = False
    removes_ratings = True
    sets_at_once = 200
    reliabilities: bool = option(
        default=False,
        says="Allow for how widely each reviewer spreads scores and how little they "
        "err, drawn to the usual as far as differences may be chance. "
        "adaptive(reliabilities) switches it on.",
        read=flag("reliabilities"),
    )

    shares: Shares | None = SHARES
    sd: float = option(
        1.0,
        "Standard deviation of a score, declared with shares.",
        number("sd", "a finite number above 0", lambda sd: 0 < sd <= LARGEST),
    )
    noise: float = option(
        0.0,
        "Standard deviation of noise on each value, with shares: above 0 the guarantee "
        "is strict. Values of items have about 1.",
        AT_LEAST_0,
    )

    def __post_init__(self) -> None:
        """Refuse what only declared shares have a use for, or what they rule out."""
        super().__post_init__()
        if self.shares is None and (self.noise or self.sd != 1):
            raise OptionError("shares must be declared for adaptive with sd or noise.")
        if self.shares is not None and self.reliabilities:
            raise OptionError("reliabilities must be left out with shares.")

    def parameters(self) -> dict[str, Json]:
        """Return its options; records from before one existed have none."""
        options = super().parameters()
        if self.shares is None:
            del options["sd"]
        return {name: value for name, value in options.items() if value}

    @property
    def declares_constants(self) -> bool:
        """Whether what it needs to know of scales was declared beforehand."""
        return self.shares is not None

    @property
    def best_under_draw(self) -> Claim:
        """What is proved of it, with these options, under a random assignment."""
        if self.shares is None:
            return claims.ADAPTIVE_DRAWN
        return claims.ANY_TWO_STRICTLY if self.noise else claims.ANY_TWO

    def check(self, task: Task) -> None:
        """Refuse orders alone, of which nothing was declared."""
        super().check(task)
        if self.shares is not None:
            task.ratings.scores  # noqa: B018 - refuses ranks and comparisons

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        if self.shares is not None:
            return adaptive.adaptive_by_shares(ratings, self.shares, self.sd)
        return adaptive.adaptive(ratings, reliabilities=self.reliabilities)

    def order_values(self, values: Scores, seed: int) -> Codes:
        """Sort items by value, and noise of which no gap is out of reach."""
        if not self.noise:
            return super().order_values(values, seed)
        errors = ties.draw_errors(stream(seed, "noise"), len(values))
        sums = [
            Fraction(value) + Fraction(self.noise) * error
            for value, error in zip(values.tolist(), errors, strict=True)
        ]
        return np.array(sorted(range(len(sums)), key=sums.__getitem__)[::-1])

    def answer(self, task: Task) -> Answer:
        """Order the items, and say if reviewers differ much in reliability."""
        answer, ratings = super().answer(task), task.ratings
        looks = task.intervals and self.shares is None and not self.reliabilities
        if not looks or ratings.n_ratings > MANY_RATINGS:
            return answer
        reliable = reliability.reliability_of(ratings)
        codes = () if reliable is None else reliability.find_unreliable(reliable)
        if not len(codes):
            return answer
        names = few([ratings.reviewer_labels[int(code)] for code in codes], 3)
        unequal = DataWarning("unequal_reliability", {"reviewers": names})
        return replace(answer, notices=(*answer.notices, unequal))

    def claim(
        self, ratings: Ratings, declared: Declared[ManyItemDesign] | None
    ) -> Claim:
        """Return what is proved of it, which is less of a choice without scores."""
        if ratings.kind != "scores":
            return claims.ANY_TWO if declared else claims.ORDERS_ONLY
        return super().claim(ratings, declared)

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:
        """Draw the values of all items together, a row for each draw."""
        return posterior.draw_from_both(
            ratings, fit, number, seed, reliabilities=self.reliabilities
        )

    def errors(self, ratings: Ratings, fit: Fit) -> Table:
        """Return a standard error for each estimate."""
        return posterior.adaptive_errors(ratings, fit, reliabilities=self.reliabilities)

    def without_each(self, ratings: Ratings) -> Table:
        """Return for each rating the estimates of all items without it."""
        if self.shares is not None:
            return adaptive.declared_without_each(ratings, self.shares, self.sd)
        return adaptive.adaptive_without_each(ratings, reliabilities=self.reliabilities)

    def rerank(
        self, ratings: Ratings, sets: Sequence[Scores], seed: int
    ) -> list[Codes]:
        """Order items by other scores that keep each reviewer's order and ties."""
        if self.shares is not None:
            return super().rerank(ratings, sets, seed)
        again = adaptive.adaptive_again(ratings, sets, reliabilities=self.reliabilities)
        return [by_estimates(estimates, seed) for estimates in again]


class Centred(Model):
    """By mean score after each reviewer's mean is taken off."""

    name = "centred"
    takes_offsets = True
    best = claims.ANY_TWO
    undeclared = claims.MODEL
    linear = True
    assumes = "scales that differ by an offset; reviewers who see equally good items"
    again_ratings = 1500

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        return means.centred_means(ratings)

    def reviewer_offsets(self, ratings: Ratings) -> Table | None:
        """Return the offsets of the fit."""
        return self.fit(ratings).offsets


class Z(Model):
    """By mean score after each reviewer's scores are centred and scaled."""

    name = "z"
    assumes = (
        "scales that differ by offset and slope; reviewers who see equally good and "
        "equally varied items"
    )
    again_ratings = 1000

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        return means.z(ratings)


class Additive(Model):
    """By item values of a model with an offset for each reviewer."""

    name = "additive"
    takes_offsets = True
    assumes = "scales that differ by an offset"
    removes_ratings = True
    shares: Shares | None = SHARES

    @property
    def declares_constants(self) -> bool:
        """Whether what it needs to know of scales was declared beforehand."""
        return self.shares is not None

    @property
    def best_under_draw(self) -> Claim:
        """What is proved of it, with these options, under a random assignment."""
        return self.best if self.shares is None else claims.ANY_TWO

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        return additive.additive(ratings, self.shares)

    def reviewer_offsets(self, ratings: Ratings) -> Table | None:
        """Return the offsets of the fit."""
        return self.fit(ratings).offsets

    def fit_pairs(self, pairs: PairCounts) -> Fit | None:
        """Fit the model to counts of pairs, with shares that these tell."""
        return None if self.shares else pair_models.additive_of_pairs(pairs)

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:
        """Draw the values of all items together, a row for each draw."""
        return posterior.draw_from_scores(ratings, fit.variances, number, seed)

    def without_each(self, ratings: Ratings) -> Table:
        """Return for each rating the estimates of all items without it."""
        return additive.additive_without_each(ratings, self.shares)


class Affine(Model):
    """By item values of a model with an offset and a slope for each reviewer."""

    name = "affine"
    assumes = "scales that differ by offset and slope"

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        return affine.affine(ratings)


class Isotonic(Model):
    """By item values that an increasing scale of each reviewer fits best."""

    name = "isotonic"
    assumes = "any increasing scales, and enough ratings to learn them"
    quick = False

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        return isotonic.isotonic(ratings)


class Orders(Model):
    """A model that looks at each reviewer's order only."""

    best = claims.ANY_TWO
    undeclared = claims.ORDERS
    ordinal = True
    needs_scores = False

    def begin(self, task: Task) -> Answer:
        """Order the items for another method, by comparisons alone: without weights."""
        return super().begin(replace(task, ratings=task.ratings.with_weights(None)))


class BradleyTerry(Orders):
    """By item values that explain who was put above whom."""

    name = "bradley-terry"
    assumes = f"{ANY_SCALES}; errors of reviewers alike for all items"

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        return bradley_terry.bradley_terry(ratings)

    def fit_pairs(self, pairs: PairCounts) -> Fit:
        """Fit the model to counts of pairs."""
        return bradley_terry.bradley_terry_of_pairs(pairs)

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:  # noqa: ARG002 - orders say all
        """Draw the values of all items together, a row for each draw."""
        return posterior.draw_from_orders(ratings, number, seed)


class Borda(Orders):
    """By the share of comparisons that an item won."""

    name = "borda"
    quick = False
    weighs = False
    again_ratings = 500
    assumes = f"{ANY_SCALES}; reviewers who see equally good items"

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        return bradley_terry.borda(ratings)

"""The methods of `rank`: one class for each, from a task to an answer.

A method loads what it needs when it is asked, so that a ranking by means touches no
poset and one by comparisons no model.
"""

from __future__ import annotations

import itertools
import pkgutil
import sys
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand.ab.weights import WEIGHT, GapWeight
from evenhand.claims import ANY_SCALES, Json, Notice
from evenhand.errors import OptionError, name_of, quote, require_function
from evenhand.method import Method, as_method, choice, flag, number, option
from evenhand.randomness import below, permutation, stream
from evenhand.ranking import claims

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from evenhand.arrays import Codes, Scores, Table
    from evenhand.claims import Claim, Finding
    from evenhand.models.design import Fit
    from evenhand.posets.averaging import MeanRankOrder
    from evenhand.posets.graph import Comparisons
    from evenhand.ranking.flips import Flip
    from evenhand.ranking.ties import TieBreak
    from evenhand.ranking.uncertainty import RankUncertainty
    from evenhand.ratings import Ratings

    Buckets = tuple[tuple[int, ...], ...]
    Flipped = tuple[Codes, tuple[Flip, ...]]

PAPER = "Wang and Shah (2019)"
PAIRED_ITEMS = 500
LARGEST = sys.float_info.max
PROXY_TEXT = (
    "Mean ranks are not averages over orderings here but a proxy, the middle of the "
    "ranks that the comparisons allow: (n + 1 + items above - items below) / 2. It "
    "respects every comparison and in our experiments its Kendall tau was within a few "
    "per cent of that of mean ranks."
)
NO_INTERVALS = (
    "There are no intervals of ranks: method {!r} does not say how sure it is. Methods "
    "such as 'adaptive' do."
)


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
        from evenhand.posets.graph import comparisons

        return comparisons(self.ratings)

    @cached_property
    def mean_ranks(self) -> Callable[[str], MeanRankOrder]:
        """What sorts by mean rank, once for all methods tried on the same data."""
        from evenhand.posets.averaging import mean_rank_order

        # The law of all pairs, which intervals need, is quick to count up to here.
        pairs = self.intervals and self.ratings.n_items <= PAIRED_ITEMS
        return cache(partial(mean_rank_order, self.graph, self.seed, pairs=pairs))


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
    notices: tuple[Notice, ...] = ()
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
        draws_jointly: Whether `draw_values` knows the joint law of values.
        removes_ratings: Whether `without_each` takes single ratings out of a fit.
        sets_at_once: How many sets of scores `rerank` takes best in one go.
    """

    job = "rank"
    weighs: ClassVar[bool] = False
    ordinal: ClassVar[bool] = False
    noisy: ClassVar[bool] = False
    needs_scores: ClassVar[bool] = True
    by_value: ClassVar[bool] = False
    quick: ClassVar[bool] = False
    again_ratings: ClassVar[int] = 60
    draws_jointly: ClassVar[bool] = False
    removes_ratings: ClassVar[bool] = False
    sets_at_once: ClassVar[int] = 10

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
            from evenhand.posets.contradictions import require_consistent

            require_consistent(task.ratings, task.graph, method=self.name)

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        raise NotImplementedError

    def begin(self, task: Task) -> Answer:
        """Order the items for another method to go on from."""
        return self.answer(task)

    def claim(self, ratings: Ratings) -> Claim:  # noqa: ARG002 - most claim the same
        """Return what is proved of it at best, on ratings such as these."""
        return self.best

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:
        """Draw the values of all items together, a row for each draw."""
        raise NotImplementedError

    def errors(self, ratings: Ratings, fit: Fit) -> Table | None:  # noqa: ARG002 - some ask them
        """Return a standard error for each estimate, None if it has none."""
        return fit.errors

    def without_each(self, ratings: Ratings) -> Table:
        """Return for each rating the estimates of all items without it."""
        raise NotImplementedError

    def rerank(
        self, ratings: Ratings, sets: Sequence[Scores], seed: int
    ) -> list[Codes]:
        """Order items by other scores that keep each reviewer's order and ties."""
        from evenhand.ratings import Ratings

        # Codes do for labels, and keep their order.
        reviewers, items, weights = (
            ratings.reviewer_codes,
            ratings.item_codes,
            ratings.weights,
        )
        more: Any = {"all_items": range(ratings.n_items), "people": True}
        again = (
            Ratings(reviewers, items, scores, weights=weights, **more)
            for scores in sets
        )
        return [self.order_items(data, seed) for data in again]

    def order_items(self, ratings: Ratings, seed: int) -> Codes:
        """Order items, or refuse, without a word on how sure the order is."""
        task = Task(ratings, seed, intervals=False)
        self.check(task)
        return self.answer(task).order

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


NOISE = option(
    0.3,
    "Standard deviation of the noise on each mean, in score points. Choose it before "
    "you see the scores.",
    number("noise", "a finite number of at least 0", lambda sd: 0 <= sd <= LARGEST),
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
        from evenhand.posets.orderings import topological_order

        return Answer(topological_order(task.graph))


class Uniform(Ordinal):
    """One of the orderings that respect every comparison, all equally likely."""

    name = "uniform"
    best = claims.AS_ANY_ORDINAL_AT_WORST
    reference = f"{PAPER}, Appendix C"

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        from evenhand.posets.sampling import uniform_order

        return Answer(uniform_order(task.graph, stream(task.seed, "start")))


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
    from evenhand.ranking.notices import by_lot

    averages, used = mean_ranks.averages, "exact"
    findings, warnings = tuple["Finding", ...](), list[Notice]()
    if mean_ranks.ties:
        what = "proxies of mean ranks" if mean_ranks.proxy else "mean ranks"
        ties = [sorted(tie) for tie in mean_ranks.ties]
        text = by_lot(what, ties, task.ratings.item_labels)
        warnings.append(Notice("tied_mean_ranks", text))
    if mean_ranks.proxy:
        used, findings = "proxy", (claims.BY_PROXY,)
        warnings.append(Notice("closure_proxy", PROXY_TEXT))
    elif not averages.exact:
        used, findings = "sampled", (claims.BY_SAMPLE,)
        text = (
            f"Mean ranks are from {averages.samples:,} random orderings; their largest "
            f"standard error is {averages.mean_rank_se.max():.2g}."
        )
        warnings.append(Notice("sampled_orderings", text))
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
    from evenhand.ranking.notices import score_notices

    split = start.split is not None
    warnings = score_notices(
        task.ratings, by, resolved=resolved, settled=settled, split=split
    )
    findings = (
        *start.findings,
        *weaker,
        *(() if settled else (claims.NOTHING_SETTLED,)),
    )
    notices = (*start.notices, *warnings)
    return replace(start, findings=findings, notices=notices, **fields)


def _by_coins(task: Task, weight: GapWeight, flipped: Flipped, start: Answer) -> Answer:
    from evenhand.ab.claims import weight_findings
    from evenhand.ranking.notices import floats_resolve_coins

    order, coins = flipped
    return _by_scores(
        task,
        replace(start, mean_ranks=None),
        "coins",
        *weight_findings(weight),
        resolved=floats_resolve_coins(task.ratings, coins, weight),
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
        from evenhand.posets.graph import is_ordering
        from evenhand.ranking.flips import flip_neighbours

        start = self.first_answer(task)
        if not is_ordering(task.graph, start.order):
            raise OptionError(
                "start must respect every comparison for method 'flips', got a ranking "
                "that does not. Method 'twins' takes any ranking."
            )
        data = (task.ratings, task.graph, start.order, self.weight)
        flipped = flip_neighbours(*data, stream(task.seed, "flips"))
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
        from evenhand.ranking.flips import flip_neighbours, scan_from

        start = Uniform().answer(task)
        if self.scan == "paper":
            start = replace(start, findings=(claims.ON_AVERAGE,))
        scan = scan_from(self.scan, partial(below, stream(task.seed, "scan")))
        data = (task.ratings, task.graph, start.order, self.weight)
        flipped = flip_neighbours(*data, stream(task.seed, "flips"), scan=scan)
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
        from evenhand.ranking.flips import settle_twins

        start = self.first_answer(task)
        data = (task.ratings, task.graph, start.order, self.weight)
        source = stream(task.seed, "twins")
        flipped = settle_twins(*data, source, pairs=self.twins, by=self.by)
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
        from evenhand.ranking.sorter import sort_free_pairs

        data = (task.ratings, task.graph, self.weight)
        source = stream(task.seed, "sorter")
        flipped = sort_free_pairs(*data, source, anchors=self.anchored)
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
        from evenhand.ranking.ties import twin_buckets

        start = self.first_answer(task)
        buckets = twin_buckets(start.order, task.graph)
        return _sorted_within(task, self, start, buckets)


class Safe(RankMethod):
    """By mean rank, with items of equal mean rank sorted by mean scores and noise.

    Where reviewers contradict each other, some of them make groups and the others sort
    these.
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
        from evenhand.posets.contradictions import find_contradiction
        from evenhand.ranking.ties import equal_mean_ranks

        if self.split == "always" or find_contradiction(task.graph) is not None:
            return self._divide_reviewers(task)
        mean_ranks = task.mean_ranks(self.mean_ranks)
        buckets = equal_mean_ranks(mean_ranks, task.graph)
        start = _left_to_scores(replace(_by_mean_rank(task, mean_ranks), findings=()))
        return _sorted_within(task, self, start, buckets)

    def _divide_reviewers(self, task: Task) -> Answer:
        """Order by some reviewers, and break its ties by the scores of the others."""
        from evenhand.ranking.ties import contradictory, split_order

        data = (task.ratings, task.seed)
        split = split_order(*data, noise=self.noise, anchored=self.anchored)
        ordered, breakers = len(split.ordered), len(split.breakers)
        always = self.split == "always"
        text = (
            f"Reviewers {'are split always' if always else 'contradict each other'}, "
            f"so {ordered} of them, drawn at random, made {len(split.weak)} groups of "
            f"items, and the scores of the other {breakers} sorted each group."
        )
        torn = always or contradictory(task.ratings, split.ordered)
        why = "always" if always else "first" if torn else "all"
        used: Json = {"when": self.split, "ordered": ordered, "breakers": breakers}
        warnings = (Notice("split_reviewers", text),)
        start = Answer(split.ties.order, {"split": used}, split=why, notices=warnings)
        return _by_ties(task, split.ties, start)


def _sorted_within(
    task: Task, method: Ties | Safe, start: Answer, buckets: Buckets
) -> Answer:
    from evenhand.ranking.ties import break_ties

    source, noise = stream(task.seed, "ties"), method.noise
    data = (task.ratings, start.order, buckets, source)
    ties = break_ties(*data, noise=noise, anchored=method.anchored)
    return _by_ties(task, ties, start)


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
    best = claims.MEANS
    noisy = True
    weighs = True
    by_value = True
    needs_scores = False
    quick = True
    again_ratings = 1500
    draws_jointly = True

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        from evenhand.models.design import Fit
        from evenhand.models.means import item_means
        from evenhand.ranking.notices import by_lot
        from evenhand.ranking.uncertainty import from_model

        means = item_means(task.ratings)
        order = by_estimates(means, task.seed, "mean")
        if not task.intervals:
            return Answer(order)
        runs = np.split(order, np.flatnonzero(np.diff(means[order])) + 1)
        ties = [run.tolist() for run in runs if len(run) > 1]
        text = by_lot("means", ties, task.ratings.item_labels)
        warnings = (Notice("tied_means", text),) if ties else ()
        fit = Fit("mean", means, np.zeros_like(order))
        sure = from_model(self, task.ratings, fit, task.seed, order=order)
        return Answer(order, notices=warnings, uncertainty=sure)

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:  # noqa: ARG002 - means say all
        """Draw the values of all items together, a row for each draw."""
        from evenhand.models.posterior import draw_from_means

        return draw_from_means(ratings, number, seed)

    def errors(self, ratings: Ratings, fit: Fit) -> Table:  # noqa: ARG002 - counts say all
        """Return a standard error for each mean."""
        from evenhand.models.additive import additive

        parts = additive(ratings).variances
        shared = 1.0 if parts is None else parts.reviewer + parts.rest
        return np.sqrt(shared / np.bincount(ratings.item_codes))

    def rerank(
        self, ratings: Ratings, sets: Sequence[Scores], seed: int
    ) -> list[Codes]:
        """Order items by other scores that keep each reviewer's order and ties."""
        from evenhand.models.means import item_means

        return [
            by_estimates(item_means(ratings, scores), seed, "mean") for scores in sets
        ]


class Model(RankMethod):
    """A method that sorts items by the estimates of a model, equal ones by lot.

    Attributes:
        function: Where the function from ratings to a Fit is, as module:name. It is
            imported when it is asked, as each model takes others along.
    """

    best = claims.MODEL
    noisy = True
    weighs = True
    by_value = True
    quick = True
    function: ClassVar[str]

    def fit(self, ratings: Ratings) -> Fit:
        """Fit the model."""
        fit: Fit = pkgutil.resolve_name(self.function)(ratings)
        return fit

    def answer(self, task: Task) -> Answer:
        """Order the items of a task."""
        fit = self.fit(task.ratings)
        order = by_estimates(fit.estimates, task.seed)
        if not task.intervals:
            return Answer(order, fit=fit)
        from evenhand.ranking.notices import lot_notices
        from evenhand.ranking.uncertainty import from_model

        sure = from_model(self, task.ratings, fit, task.seed, order=order)
        warnings = (
            () if sure else (Notice("no_intervals", NO_INTERVALS.format(self.name)),)
        )
        lots = lot_notices("estimates", fit.estimates, order, task.ratings.item_labels)
        notices = (*_fit_warnings(fit, task.ratings), *lots, *warnings)
        return Answer(order, notices=notices, fit=fit, uncertainty=sure)

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


def _fit_warnings(fit: Fit, ratings: Ratings) -> tuple[Notice, ...]:
    codes = {notice.code for notice in fit.notices}
    if fit.rho is None or codes & {"orders_only", "fixed_sums"}:
        return fit.notices
    from evenhand.models.adaptive import rho_sentence

    text, scores = rho_sentence(fit.rho), ratings.scores
    single = np.bincount(ratings.reviewer_codes).max() == 1
    if single or ratings.n_reviewers == 1 or scores.min() == scores.max():
        text = (
            "Reviewer offsets cannot be told from the rest here; scores are compared "
            "as if there were none."
        )
    return (Notice("reviewer_offsets", text), *fit.notices)


class Adaptive(Model):
    """By scores to the extent that reviewers' levels agree, by orders otherwise."""

    name = "adaptive"
    assumes = "reviewers' offsets, as estimated, tell how far scores can be compared"
    best = claims.ADAPTIVE
    default = True
    needs_scores = False
    function = "evenhand.models.adaptive:adaptive"
    draws_jointly = True
    removes_ratings = True
    sets_at_once = 200

    def claim(self, ratings: Ratings) -> Claim:
        """Return what is proved of it, which is less of a choice without scores."""
        return self.best if ratings.kind == "scores" else claims.ORDERS_ONLY

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:
        """Draw the values of all items together, a row for each draw."""
        from evenhand.models.posterior import draw_from_both

        return draw_from_both(ratings, fit, number, seed)

    def errors(self, ratings: Ratings, fit: Fit) -> Table:
        """Return a standard error for each estimate."""
        from evenhand.models.posterior import adaptive_errors

        return adaptive_errors(ratings, fit)

    def without_each(self, ratings: Ratings) -> Table:
        """Return for each rating the estimates of all items without it."""
        from evenhand.models.adaptive import adaptive_without_each

        return adaptive_without_each(ratings)

    def rerank(
        self, ratings: Ratings, sets: Sequence[Scores], seed: int
    ) -> list[Codes]:
        """Order items by other scores that keep each reviewer's order and ties."""
        from evenhand.models.adaptive import adaptive_again

        again = adaptive_again(ratings, sets)
        return [by_estimates(estimates, seed) for estimates in again]


class Centred(Model):
    """By mean score after each reviewer's mean is taken off."""

    name = "centred"
    assumes = "scales that differ by an offset; reviewers who see equally good items"
    function = "evenhand.models.means:centred_means"
    again_ratings = 1500


class Z(Model):
    """By mean score after each reviewer's scores are centred and scaled."""

    name = "z"
    assumes = (
        "scales that differ by offset and slope; reviewers who see equally good and "
        "equally varied items"
    )
    function = "evenhand.models.means:z"
    again_ratings = 1000


class Additive(Model):
    """By item values of a model with an offset for each reviewer."""

    name = "additive"
    assumes = "scales that differ by an offset"
    function = "evenhand.models.additive:additive"
    draws_jointly = True
    removes_ratings = True

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:
        """Draw the values of all items together, a row for each draw."""
        from evenhand.models.posterior import draw_from_scores

        return draw_from_scores(ratings, fit.variances, number, seed)

    def without_each(self, ratings: Ratings) -> Table:
        """Return for each rating the estimates of all items without it."""
        from evenhand.models.additive import additive_without_each

        return additive_without_each(ratings)


class Affine(Model):
    """By item values of a model with an offset and a slope for each reviewer."""

    name = "affine"
    assumes = "scales that differ by offset and slope"
    function = "evenhand.models.affine:affine"


class Isotonic(Model):
    """By item values that an increasing scale of each reviewer fits best."""

    name = "isotonic"
    assumes = "any increasing scales, and enough ratings to learn them"
    function = "evenhand.models.isotonic:isotonic"
    quick = False


class Orders(Model):
    """A model that looks at each reviewer's order only."""

    best = claims.ORDERS
    ordinal = True
    needs_scores = False
    weighs = False


class BradleyTerry(Orders):
    """By item values that explain who was put above whom."""

    name = "bradley-terry"
    assumes = f"{ANY_SCALES}; errors of reviewers alike for all items"
    function = "evenhand.models.bradley_terry:bradley_terry"
    draws_jointly = True

    def draw_values(self, ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:  # noqa: ARG002 - orders say all
        """Draw the values of all items together, a row for each draw."""
        from evenhand.models.posterior import draw_from_orders

        return draw_from_orders(ratings, number, seed)


class Borda(Orders):
    """By the share of comparisons that an item won."""

    name = "borda"
    function = "evenhand.models.bradley_terry:borda"
    quick = False
    again_ratings = 500
    assumes = f"{ANY_SCALES}; reviewers who see equally good items"

"""Check: what these ratings can support.

It refuses nothing that can be read, and explains what it finds: how the ratings are
spread, what can be ordered with what, where reviewers contradict each other, how strict
each of them is, and which assumption about their scales the ratings bear out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np
import polars as pl

from evenhand.claims import DataWarning, Json, Reportable, few, tail
from evenhand.columns import place_of
from evenhand.diagnosis import agreement as agreements
from evenhand.diagnosis import ladder, reviewers
from evenhand.diagnosis.criteria import CriteriaUse, criteria_use
from evenhand.diagnosis.reviewers import (
    AGAINST,
    LITTLE,
    MANY_ITEMS,
    NOT_ENOUGH,
    UNRELATED,
)
from evenhand.errors import OptionError, quote, require_whole
from evenhand.lazy import lazy
from evenhand.models.adaptive import adaptive
from evenhand.models.design import data_notices, linked_groups
from evenhand.posets.contradictions import strong_groups
from evenhand.posets.graph import comparisons, components
from evenhand.progress import say, working
from evenhand.randomness import RNGLike, seed_as_rng, seed_from, stream
from evenhand.ranking.methods import by_estimates
from evenhand.ranking.notices import information_notices
from evenhand.ratings import Ratings, as_ratings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.arrays import Codes
    from evenhand.claims import Label
    from evenhand.models.design import Fit
    from evenhand.posets.graph import Comparisons
    from evenhand.ratings import Data, Names, ReadingOptions
    from evenhand.words import cards
else:
    cards = lazy("evenhand.words.cards")

# Bars of a histogram, labels named, and groups listed; in a sentence, fewer.
BARS, NAMED, LISTED, WORST = 12, 8, 20, 5
SHOWN_GROUPS, SHOWN_LABELS = 3, 3
# Fewer reviews than this say little about an item on their own.
FEW_REVIEWS = 3
# What further reviews are counted for.
PAIR = "probability that these two are in their true order"
SIDE = "average share of the {} items near the cut that are on their true side"
SAMPLED = DataWarning("pairs_sampled")
# Warnings that a finding repeats.
TOLD = (
    *("confidence", "fixed_sums", "no_information", "no_ladder", "no_needed"),
    "one_rating_reviewers",
)


@dataclass(frozen=True, slots=True)
class Distribution:
    """How a count is spread.

    Attributes:
        min: Smallest.
        median: Half are at most this, half at least.
        max: Largest.
        histogram: Bars "from" and "to", both included, with a "count"; none is empty.
    """

    min: int
    median: float
    max: int
    histogram: tuple[dict[str, int], ...]

    def facts(self) -> dict[str, Json]:
        """Return what a sentence says of it."""
        return {"min": self.min, "median": self.median, "max": self.max}


@dataclass(frozen=True, slots=True)
class Named:
    """Some reviewers.

    Attributes:
        count: How many.
        reviewers: The first few.
    """

    count: int
    reviewers: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Items that comparisons connect.

    Attributes:
        size: How many.
        items: The first few.
    """

    size: int
    items: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    """What can be ordered with what.

    Attributes:
        count: Groups of items that reviewers' orders connect.
        linked: Groups of items that common reviewers connect, ties included.
        listed: The largest groups.
    """

    count: int
    linked: int
    listed: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class TieCounts:
    """Items that a reviewer rated equal.

    Attributes:
        pairs: Pairs of items rated by one reviewer.
        tied: How many of them are tied.
        reviewers: How many reviewers tie.
        share: Share of pairs that are tied; 0 without pairs.
    """

    pairs: int
    tied: int
    reviewers: int
    share: float


@dataclass(frozen=True, slots=True)
class Contested:
    """Two items that are put in both orders.

    Attributes:
        items: The two.
        votes: How many reviewers put the first above the second, and the reverse.
    """

    items: tuple[Label, Label]
    votes: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Where reviewers' orders contradict each other.

    Attributes:
        compared: Pairs of items that at least one reviewer put in order.
        repeated: Those that several reviewers did.
        both_orders: Those that are put in both orders.
        in_cycles: Items that are above themselves through others.
        cycles: Groups of such items.
        worst: Pairs put in both orders with the most votes for the rarer one.
        sampled: Whether pairs of busy reviewers were sampled.
    """

    compared: int
    repeated: int
    both_orders: int
    in_cycles: int
    cycles: int
    worst: tuple[Contested, ...]
    sampled: bool


@dataclass(frozen=True, slots=True, repr=False)
class Check(Reportable):
    """What ratings can support.

    Attributes:
        kind: "scores", "ranks" or "comparisons".
        findings: What matters most, in sentences, most important first.
        load: Items of a reviewer.
        reviews: Reviews of an item.
        single: Reviewers of one item, who compare nothing.
        flat: Reviewers of several items who gave all of them the same score.
        ties: Items that a reviewer rated equal.
        groups: What can be ordered with what.
        contradictions: How reviewers' orders disagree.
        variance: Shares of items, reviewers and the rest in ranks among all scores;
            None without scores, or if all are the same.
        ladder: Which assumption about scales holds; None if there is nothing to tell
            it from.
        needed: What further reviews would do at the cut; None if no cut was asked for
            or the model has no answer.
        reviewers: Strictness and spread of each reviewer; empty without scores.
        agreement: How far reviewers agree on the items that several of them rated; None
            without scores, or if there are none.
        unreliable: Reviewers who clearly err much more than others.
        parameters: What was asked for.
        seed: The seed that repeats it.
        data: Sizes and hash of the ratings.
        notices: What the reader must know.
        ratings: What was checked, for `report` and `plot`.
        criteria: How several criteria are used; None for one score.
    """

    kind: str
    findings: tuple[DataWarning, ...]
    load: Distribution
    reviews: Distribution
    single: Named
    flat: Named
    ties: TieCounts
    groups: Groups
    contradictions: Contradictions
    variance: reviewers.Shares | None
    ladder: ladder.Ladder | None
    needed: reviewers.Needed | None
    unreliable: tuple[reviewers.Unreliable, ...]
    reviewers: tuple[reviewers.Reviewer, ...]
    agreement: agreements.ReviewerAgreement | None
    parameters: Mapping[str, Json]
    seed: int
    data: Mapping[str, Json]
    notices: tuple[DataWarning, ...]
    ratings: Ratings | None = field(default=None, compare=False)
    criteria: CriteriaUse | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> from evenhand.ratings import Ratings
            >>> check(Ratings(["a"], ["x"], [1]), rng=7).to_dict()["schema"]
            'evenhand.check/1'
        """
        entries: dict[str, Json] = asdict(replace(self, ratings=None))
        for name in ("parameters", "seed", "data", "notices", "ratings"):
            del entries[name]
        if self.criteria is None:
            del entries["criteria"]
        entries["findings"] = [finding.to_dict() for finding in self.findings]
        return {"schema": "evenhand.check/1", **entries, **tail(self, method="check")}

    def to_frame(self) -> pl.DataFrame:
        """Return the reviewers as a polars dataframe, one row for each.

        Examples:
            >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "x"], [1, 2, 3])
            >>> check(ratings, rng=7).to_frame()["reviewer", "ratings"].rows()
            [('a', 2), ('b', 1)]
        """
        names = [column.name for column in fields(reviewers.Reviewer)]
        return pl.DataFrame(self.reviewers, schema=names, infer_schema_length=None)

    def __repr__(self) -> str:
        return "\n".join(f"- {finding.message}" for finding in self.findings)

    def _repr_html_(self) -> str:
        """Return the findings and what they may claim, for notebooks."""
        return cards.check_card(self).html()


@seed_as_rng
@working("Checking")
def check(
    ratings: Data,
    *,
    top: int | None = None,
    order: Sequence[Label] | None = None,
    cluster: Names | None = None,
    rng: RNGLike = None,
    **reading: Unpack[ReadingOptions],
) -> Check:
    """Find out what ratings can support.

    Args:
        ratings: Scores, ranks or comparisons, in a Ratings or a dataframe.
        top: Ask how many more reviews would separate the first so many items from the
            others.
        order: All items from best to worst, for which that is asked; by default the
            order that `rank` gives with this seed.
        cluster: Column of what reviewers share, such as a prompt, or several: they
            agree on each item of a cluster, and intervals of agreement are by cluster.
        rng: Seed, generator or None.
        reading: How to read a file or a dataframe, with the names that `read_ratings`
            has: `reviewer`, `item`, `score`, `rows`, `scale`, ...

    Returns:
        What was found.

    Raises:
        OptionError: If top leaves no item on one side, or order does not hold every
            item once.

    References:
        Wang and Shah (2019), for what can be done without any assumption on scales.

    Examples:
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 2, 5, 4])
        >>> found = check(ratings, rng=7)
        >>> found.contradictions.both_orders, found.ladder.verdict
        (1, 'cannot tell')
    """
    ratings = as_ratings(ratings, check, cluster=cluster, **reading)
    seed = seed_from(rng)
    if top is not None:
        require_whole("top", top, 1, ratings.n_items - 1, "one less than the items")
    say("Counting")
    graph = comparisons(ratings)
    ties, flat = find_ties(ratings, graph)
    loads = np.bincount(ratings.reviewer_codes, minlength=ratings.n_reviewers)
    pairs = ladder.pairs_within(ratings, stream(seed, "check: pairs"))
    weighing = () if ratings.level_codes is None else ratings.weighing("", used=True)
    notices = [
        *ratings.notices,
        *weighing,
        *information_notices(ratings),
        *data_notices(ratings),
    ]
    model = fit = shares = more = None
    if ratings.kind == "scores":
        say("Fitting offsets and values")
        model, fit = reviewers.fit_model(ratings), adaptive(ratings)
        # In ranks among all scores, which are those that `rank` uses.
        source = stream(seed, "check: bootstrap")
        shares = reviewers.variance_shares(model, fit.variances, source)
    climbed, why = ladder.ladder_or_why(ratings)
    if why:
        facts: dict[str, Json] = {"case": why, "most": ladder.MOST_COMPARISONS}
        notices.append(DataWarning("no_ladder", facts))
    say("Simulating")
    if top is not None:
        codes, source = _codes(ratings, order, fit, seed), stream(seed, "check: needed")
        more, why = reviewers.further_reviews(ratings, model, codes, top, source)
        notices += [] if more else [DataWarning("no_needed", {"case": why})]
    result = Check(
        kind=ratings.kind,
        load=distribution(loads),
        reviews=distribution(np.bincount(ratings.item_codes, None, ratings.n_items)),
        single=name_reviewers(ratings, np.flatnonzero(loads == 1)),
        flat=name_reviewers(ratings, flat),
        ties=ties,
        groups=find_groups(ratings, graph),
        contradictions=find_contradictions(ratings, graph, pairs),
        variance=shares,
        reviewers=() if model is None else reviewers.describe(ratings, model),
        agreement=None if model is None else agreements.agreement(ratings),
        unreliable=reviewers.name_unreliable(ratings),
        ladder=climbed,
        needed=more,
        findings=(),
        parameters={"top": top},
        seed=seed,
        data=ratings.summary(),
        notices=(*notices, *([SAMPLED] if pairs.sampled else [])),
        ratings=ratings,
        criteria=criteria_use(ratings, seed),
    )
    return replace(result, findings=findings(result))


def _codes(
    ratings: Ratings, order: Sequence[Label] | None, fit: Fit | None, seed: int
) -> Codes:
    if order is None:
        values = np.zeros(ratings.n_items) if fit is None else fit.estimates
        return by_estimates(values, seed)
    codes = np.array([ratings.item_code(item) for item in order], dtype=np.int64)
    if sorted(codes.tolist()) != list(range(ratings.n_items)):
        raise OptionError(f"order must hold every item once, got {quote(order)}.")
    return codes


def distribution(counts: Codes) -> Distribution:
    """Summarise counts.

    Examples:
        >>> distribution(np.array([3, 1, 3])).histogram
        ({'from': 1, 'to': 1, 'count': 1}, {'from': 3, 'to': 3, 'count': 2})
    """
    low, high = int(counts.min()), int(counts.max())
    width = 1 if len(np.unique(counts)) <= BARS else -(-(high - low + 1) // BARS)
    bins, numbers = np.unique((counts - low) // width, return_counts=True)
    starts = (low + bins * width).tolist()
    bars = tuple(
        {"from": start, "to": min(start + width - 1, high), "count": number}
        for start, number in zip(starts, numbers.tolist(), strict=True)
    )
    return Distribution(low, float(np.median(counts)), high, bars)


def name_reviewers(ratings: Ratings, codes: Codes) -> Named:
    """Name the first few of some reviewers."""
    labels = (ratings.reviewer_labels[code] for code in codes.tolist())
    return Named(len(codes), tuple(sorted(labels, key=place_of)[:NAMED]))


def find_groups(ratings: Ratings, graph: Comparisons) -> Groups:
    """Find what reviewers' orders connect, largest groups first.

    Examples:
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "z"], [1, 2, 3])
        >>> [group.items for group in find_groups(ratings, comparisons(ratings)).listed]
        [('x', 'y'), ('z',)]
    """
    groups, labels = components(graph), ratings.item_labels
    sizes, listed = np.bincount(groups), []
    for group in np.argsort(-sizes, kind="stable")[:LISTED].tolist():
        members = np.flatnonzero(groups == group)[:NAMED].tolist()
        listed.append(Group(int(sizes[group]), tuple(labels[item] for item in members)))
    return Groups(len(sizes), int(linked_groups(ratings).max()) + 1, tuple(listed))


def find_ties(ratings: Ratings, graph: Comparisons) -> tuple[TieCounts, Codes]:
    """Count ties, and find the reviewers of several items whose scores are all equal.

    Examples:
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 1, 2, 3])
        >>> find_ties(ratings, comparisons(ratings))
        (TieCounts(pairs=2, tied=1, reviewers=1, share=0.5), array([0]))
    """
    number = ratings.n_reviewers
    loads = np.bincount(ratings.reviewer_codes, minlength=number)
    sizes = np.diff(graph.level_start)
    steps = np.bincount(graph.level_reviewer, minlength=number)
    tying = len(np.unique(graph.level_reviewer[sizes > 1]))
    pairs, tied = (ladder.count_pairs(part) for part in (loads, sizes))
    ties = TieCounts(pairs, tied, tying, tied / max(pairs, 1))
    return ties, np.flatnonzero((loads > 1) & (steps == 1))


def find_contradictions(
    ratings: Ratings, graph: Comparisons, pairs: ladder.RatingPairs
) -> Contradictions:
    """Count contradictions, pair by pair and around cycles.

    Args:
        ratings: The ratings.
        graph: Who was put above whom by them.
        pairs: Pairs of ratings by one reviewer.

    Examples:
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> pairs = ladder.pairs_within(ratings, stream(7, "pairs"))
        >>> find_contradictions(ratings, comparisons(ratings), pairs).both_orders
        1
    """
    decided, n_items = np.flatnonzero(pairs.signs), ratings.n_items
    keys = pairs.first[decided] * n_items + pairs.second[decided]
    distinct, place = np.unique(keys, return_inverse=True)
    up = pairs.signs[decided] > 0
    wins = np.bincount(place[up], minlength=len(distinct))
    votes = np.bincount(place, minlength=len(distinct))
    fewer = np.minimum(wins, votes - wins)
    contested = np.flatnonzero(fewer)
    rows = contested[np.lexsort((-votes[contested], -fewer[contested]))][:WORST]
    labels, cyclic = ratings.item_labels, strong_groups(graph)
    ends = zip(*np.divmod(distinct[rows], n_items), strict=True)
    named = ((labels[first], labels[second]) for first, second in ends)
    sides = zip(wins[rows].tolist(), (votes - wins)[rows].tolist(), strict=True)
    return Contradictions(
        compared=len(distinct),
        repeated=int((votes > 1).sum()),
        both_orders=len(contested),
        in_cycles=int((cyclic >= 0).sum()),
        cycles=len(np.unique(cyclic[cyclic >= 0])),
        worst=tuple(map(Contested, named, sides)),
        sampled=pairs.sampled,
    )


def findings(result: Check) -> tuple[DataWarning, ...]:
    """Say what matters most.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> for finding in check(Ratings(["a"], ["x"], [1]), rng=7).findings:
        ...     print(finding.code)
        sizes
        no_ladder
        strictness
        few_reviews
        single
    """
    return (
        _count_sizes(result),
        *_repeat(result, "no_information", "fixed_sums"),
        *_find_groups(result),
        *_find_model(result),
        *_find_contradictions(result),
        *_find_variance(result),
        *_find_strictness(result),
        *_find_correlations(result),
        *_find_agreement(result),
        *_repeat(result, "confidence"),
        *_find_unreliable(result),
        *_find_quality(result),
    )


def _count_sizes(result: Check) -> DataWarning:
    reviewers = result.data["reviewers"]
    number = reviewers if result.kind == "comparisons" else result.data["ratings"]
    facts: dict[str, Json] = {"kind": result.kind, "number": number}
    facts |= {"reviewers": reviewers, "items": result.data["items"]}
    facts |= {"load": result.load.facts(), "reviews": result.reviews.facts()}
    return DataWarning("sizes", facts)


def _repeat(result: Check, *codes: str) -> Iterator[DataWarning]:
    for code in codes:
        yield from (warning for warning in result.notices if warning.code == code)


def _find_groups(result: Check) -> Iterator[DataWarning]:
    groups = result.groups
    if groups.count == 1:
        return
    if groups.listed[0].size == 1:
        yield DataWarning("groups", {"case": "alone"})
        return
    listed: list[Json] = [
        {"first": list(group.items[:SHOWN_LABELS]), "number": group.size}
        for group in groups.listed[:SHOWN_GROUPS]
    ]
    yield DataWarning("groups", {"groups": groups.count, "listed": listed})


def _find_model(result: Check) -> Iterator[DataWarning]:
    if result.ladder is not None:
        shares = [rung.accuracy for rung in result.ladder.rungs]
        facts: dict[str, Json] = {"best": max(shares), "worst": min(shares)}
        yield DataWarning("ladder", {"verdict": result.ladder.verdict, **facts})
    yield from _repeat(result, "no_ladder", "no_needed")
    if result.needed is not None:
        needed = asdict(result.needed)
        names = ("top", "above", "below", "near", "pair", "side")
        yield DataWarning("needed", {name: needed[name] for name in names})


def _find_contradictions(result: Check) -> Iterator[DataWarning]:
    counts = result.contradictions
    if counts.in_cycles:
        facts: dict[str, Json] = {"both_orders": counts.both_orders}
        facts |= {"repeated": counts.repeated, "in_cycles": counts.in_cycles}
        yield DataWarning("contradictions", {**facts, "items": result.data["items"]})
    elif counts.compared:
        yield DataWarning("contradictions", {"case": "none"})


def _find_variance(result: Check) -> Iterator[DataWarning]:
    variance = result.variance
    if variance is None:
        return
    shares = asdict(variance)
    parts = {part: shares[part] for part in ("item", "reviewer", "rest")}
    yield DataWarning("variance", parts)
    if variance.item is None:
        yield DataWarning("confounded", {"case": "items"})
    if variance.reviewer is None and not any(_repeat(result, "fixed_sums")):
        yield DataWarning("confounded", {"case": "reviewers"})


def _find_strictness(result: Check) -> Iterator[DataWarning]:
    words = [reviewer.strictness for reviewer in result.reviewers]
    strict, lenient, unknown = map(words.count, ("strict", "lenient", NOT_ENOUGH))
    if not words:
        return
    facts: dict[str, Json] = {"strict": strict, "lenient": lenient}
    facts |= {"unknown": unknown, "reviewers": len(words)}
    if any(_repeat(result, "fixed_sums")):
        facts = {"case": "fixed_sums"}
    elif unknown == len(words):
        yield DataWarning("strictness", {"case": "unknown"})
        return
    yield DataWarning("strictness", facts)
    departing: list[Json] = []
    for word in (AGAINST, UNRELATED, LITTLE):
        names = [each.reviewer for each in result.reviewers if each.agreement == word]
        if names:
            departing.append([word, few(names, SHOWN_LABELS)])
    if departing:
        yield DataWarning("disagreeing", {"reviewers": departing, "against": AGAINST})


def _find_correlations(result: Check) -> Iterator[DataWarning]:
    """Say how far each of a few reviewers with many ratings agrees with the others."""
    people = [
        reviewer for reviewer in result.reviewers if reviewer.correlation is not None
    ]
    if result.ratings is None or not 0 < len(people) <= NAMED:
        return
    common = reviewers.common_items(result.ratings)
    if min(common[reviewer.reviewer] for reviewer in people) < MANY_ITEMS:
        return
    rows: list[Json] = []
    for reviewer in sorted(people, key=lambda reviewer: reviewer.correlation or 0.0):
        numbers = np.array(reviewer.correlation), np.array(common[reviewer.reviewer])
        low, high = map(float, reviewers.correlation_interval(*numbers))
        row = {"reviewer": reviewer.reviewer, "correlation": reviewer.correlation}
        rows.append({**row, "low": low, "high": high})
    too_few = all(reviewer.agreement == NOT_ENOUGH for reviewer in people)
    yield DataWarning("correlations", {"reviewers": rows, "too_few": too_few})


def _find_agreement(result: Check) -> Iterator[DataWarning]:
    """Say how far reviewers agree, on the whole, by criterion and pair by pair."""
    agreement = result.agreement
    if agreement is None:
        return
    facts = asdict(agreement)
    facts["pairs"] = sorted(facts["pairs"], key=lambda pair: pair["value"])[:WORST]
    yield DataWarning("agreement", facts)


def _find_unreliable(result: Check) -> Iterator[DataWarning]:
    rows: list[Json] = [
        {"reviewer": row.reviewer, "slope": row.slope, "noise": row.noise}
        | ({} if row.gain is None else {"gain": row.gain})
        for row in result.unreliable[:SHOWN_LABELS]
    ]
    if rows:
        facts: dict[str, Json] = {"reviewers": rows, "number": len(result.unreliable)}
        yield DataWarning("unreliable", facts)


def _find_quality(result: Check) -> Iterator[DataWarning]:
    if result.kind != "comparisons" and result.reviews.median < FEW_REVIEWS:
        yield DataWarning("few_reviews", {"fewest": FEW_REVIEWS})
    ties, flat = result.ties, result.flat
    if ties.tied:
        facts: dict[str, Json] = {"share": ties.share, "reviewers": ties.reviewers}
        yield DataWarning("ties", {**facts, "kind": result.kind})
    if result.single.count:
        yield DataWarning("single", {"reviewers": result.single.count})
    if flat.count and result.kind != "comparisons":
        first: list[Json] = list(flat.reviewers[:SHOWN_LABELS])
        named: Json = {"first": first, "number": flat.count}
        yield DataWarning("flat", {"reviewers": flat.count, "named": named})

"""Check: what these ratings can support.

It refuses nothing that can be read, and explains what it finds: how the ratings are
spread, what can be ordered with what, where reviewers contradict each other, how strict
each of them is, and which assumption about their scales the ratings bear out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import place_of, require_function, shown
from evenhand._randomness import RNGLike, Stream, seed_from, stream
from evenhand._results import Json, Notice, tail
from evenhand.calibration.adaptive import adaptive
from evenhand.calibration.design import data_notices, linked_groups
from evenhand.errors import OptionError, counted, listing
from evenhand.lab.contradictions import (
    Contradictions,
    find_contradictions,
    pairs_within,
)
from evenhand.lab.ladder import Ladder, climb, ladder_sentence, why_no_ladder
from evenhand.lab.needed import Needed, require_top, reviews_needed
from evenhand.lab.reviewers import (
    DISAGREES,
    NOT_ENOUGH,
    Model,
    Reviewer,
    Shares,
    describe_reviewers,
    fit_model,
    variance_shares,
)
from evenhand.posets.comparisons import comparisons, components
from evenhand.ranking.models import by_estimates
from evenhand.ranking.notices import information_notices
from evenhand.ratings import Ratings, require_ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand._results import Label
    from evenhand.calibration.results import Fit
    from evenhand.lab.needed import Target
    from evenhand.lab.reviewers import Share
    from evenhand.posets.comparisons import Comparisons

    Codes = NDArray[np.int64]
    Progress = Callable[[str], None]

# The parts of reviewers are always the same, so that the verdict depends on nothing but
# the ratings; every other draw comes from the seed.
LADDER_SEED = 0
# Bars of a histogram, labels named, and groups listed; in a sentence, fewer.
BARS, NAMED, LISTED = 12, 8, 20
SHOWN_GROUPS, SHOWN_LABELS = 3, 3
# Fewer reviews than this say little about an item on their own.
FEW_REVIEWS = 3
# What further reviews are counted for.
PAIR = "probability that these two are in their true order"
SIDE = "average share of the {} items near the cut that are on their true side"
# Notices that a finding repeats.
TOLD = ("no_information", "no_ladder", "no_needed", "one_rating_reviewers")


@dataclass(frozen=True, slots=True)
class Distribution:
    """How a count is spread.

    Attributes:
        least: Smallest.
        median: Half are at most this, half at least.
        most: Largest.
        histogram: (from, to, how many), both ends included, none of them empty.
    """

    least: int
    median: float
    most: int
    histogram: tuple[tuple[int, int, int], ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        bars: list[Json] = [
            {"from": low, "to": high, "count": count}
            for low, high, count in self.histogram
        ]
        ends: dict[str, Json] = {"min": self.least, "max": self.most}
        return {**ends, "median": self.median, "histogram": bars}


@dataclass(frozen=True, slots=True)
class Named:
    """Some reviewers or items.

    Attributes:
        count: How many.
        labels: The first few.
    """

    count: int
    labels: tuple[Label, ...]

    def to_dict(self, what: str) -> dict[str, Json]:
        """Return the count and the first few labels."""
        return {"count": self.count, what: list(self.labels)}


@dataclass(frozen=True, slots=True)
class Group:
    """Items that comparisons connect.

    Attributes:
        size: How many.
        items: The first few.
    """

    size: int
    items: tuple[Label, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        return {"size": self.size, "items": list(self.items)}


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

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        listed = [group.to_dict() for group in self.listed]
        return {"count": self.count, "linked": self.linked, "listed": listed}


@dataclass(frozen=True, slots=True)
class Ties:
    """Items that a reviewer rated equal.

    Attributes:
        pairs: Pairs of items rated by one reviewer.
        tied: How many of them are tied.
        reviewers: How many reviewers tie.
    """

    pairs: int
    tied: int
    reviewers: int

    @property
    def share(self) -> float:
        """Share of pairs that are tied; 0 without pairs."""
        return self.tied / self.pairs if self.pairs else 0.0

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        return {**asdict(self), "share": self.share}


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """What ratings can support.

    Attributes:
        kind: "scores", "ranks" or "comparisons".
        load: Items of a reviewer.
        reviews: Reviews of an item.
        single: Reviewers of one item, who compare nothing.
        flat: Reviewers of several items who gave all of them the same score.
        ties: Items that a reviewer rated equal.
        groups: What can be ordered with what.
        contradictions: How reviewers' orders disagree.
        variance: Shares of items, reviewers and the rest in ranks among all scores;
            None without scores, or if all are the same.
        reviewers: Strictness and spread of each reviewer; empty without scores.
        ladder: Which assumption about scales holds; None if there is nothing to tell
            it from.
        needed: What further reviews would do at the cut; None if no cut was asked for
            or the model has no answer.
        findings: What matters most, in sentences, most important first.
        parameters: What was asked for.
        seed: The seed that repeats it.
        data: Sizes and hash of the ratings.
        notices: What the reader must know.
    """

    kind: str
    load: Distribution
    reviews: Distribution
    single: Named
    flat: Named
    ties: Ties
    groups: Groups
    contradictions: Contradictions
    variance: Shares | None
    reviewers: tuple[Reviewer, ...]
    ladder: Ladder | None
    needed: Needed | None
    findings: tuple[Notice, ...]
    parameters: Mapping[str, Json]
    seed: int
    data: Mapping[str, Json]
    notices: tuple[Notice, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> from evenhand.ratings import Ratings
            >>> check(Ratings(["a"], ["x"], [1]), rng=7).to_dict()["schema"]
            'evenhand.check/1'
        """
        return {
            "schema": "evenhand.check/1",
            "kind": self.kind,
            "findings": [one.to_dict() for one in self.findings],
            "load": self.load.to_dict(),
            "reviews": self.reviews.to_dict(),
            "single": self.single.to_dict("reviewers"),
            "flat": self.flat.to_dict("reviewers"),
            "ties": self.ties.to_dict(),
            "groups": self.groups.to_dict(),
            "contradictions": self.contradictions.to_dict(),
            "variance": None if self.variance is None else self.variance.to_dict(),
            "ladder": None if self.ladder is None else self.ladder.to_dict(),
            "needed": None if self.needed is None else self.needed.to_dict(),
            "reviewers": [one.to_dict() for one in self.reviewers],
            **tail(
                method="check",
                parameters=self.parameters,
                seed=self.seed,
                data=self.data,
                notices=self.notices,
            ),
        }

    def __repr__(self) -> str:
        return "\n".join(f"- {one.message}" for one in self.findings)

    def _repr_html_(self) -> str:
        """Return the findings and what they may claim, for notebooks."""
        from evenhand.words.cards import check_card  # noqa: PLC0415 - notebooks only

        return check_card(self).html()


def check(
    ratings: Ratings,
    *,
    top: int | None = None,
    order: Sequence[Label] | None = None,
    rng: RNGLike = None,
    progress: Progress | None = None,
) -> Check:
    """Find out what ratings can support.

    Args:
        ratings: Scores, ranks or comparisons.
        top: Ask how many more reviews would separate the first so many items from the
            others.
        order: All items from best to worst, for which that is asked; by default the
            order that `rank` gives with this seed.
        rng: Seed, generator or None.
        progress: Called with what is being done.

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
    require_ratings(ratings)
    if progress is not None:
        require_function("progress", progress, "what is being done")
    seed = seed_from(rng)
    require_top(ratings, top)
    say = progress or (lambda _: None)
    say("Counting")
    graph = comparisons(ratings)
    loads = np.bincount(ratings.reviewer_codes, minlength=ratings.n_reviewers)
    reviews = np.bincount(ratings.item_codes, minlength=ratings.n_items)
    ties, flat = find_ties(ratings, graph)
    pairs = pairs_within(ratings, stream(seed, "check: pairs"))
    contradictions = find_contradictions(ratings, graph, pairs)
    notices = [*ratings.notices, *information_notices(ratings)]
    notices += data_notices(ratings, prior=True)
    model = fit = None
    if ratings.kind == "scores":
        say("Fitting offsets and values")
        model, fit = fit_model(ratings), adaptive(ratings)
    ladder = _ladder(ratings, notices, say)
    say("Simulating")
    needed = None
    if top is not None:
        codes = _codes(ratings, order, fit, seed)
        needed = _needed(ratings, model, codes, top, seed, notices)
    bootstrap = stream(seed, "check: bootstrap")
    found = Check(
        kind=ratings.kind,
        load=distribution(loads),
        reviews=distribution(reviews),
        single=named(ratings.reviewer_labels, np.flatnonzero(loads == 1)),
        flat=named(ratings.reviewer_labels, flat),
        ties=ties,
        groups=find_groups(ratings, graph),
        contradictions=contradictions,
        variance=_variance(model, fit, bootstrap),
        reviewers=() if model is None else describe_reviewers(ratings, model),
        ladder=ladder,
        needed=needed,
        findings=(),
        parameters={"top": top},
        seed=seed,
        data=ratings.summary(),
        notices=_merged(notices, contradictions),
    )
    return replace(found, findings=findings(found))


def _ladder(ratings: Ratings, notices: list[Notice], say: Progress) -> Ladder | None:
    why = why_no_ladder(ratings)
    if why:
        notices.append(Notice("no_ladder", f"The ladder is left out. {why}"))
        return None
    return climb(ratings, stream(LADDER_SEED, "check: ladder"), progress=say)


def _variance(model: Model | None, fit: Fit | None, source: Stream) -> Shares | None:
    """Find the shares in ranks among all scores, which are those that rank uses."""
    if model is None or fit is None or fit.variances is None:
        return None
    return variance_shares(model, fit.variances, source)


def _codes(
    ratings: Ratings, order: Sequence[Label] | None, fit: Fit | None, seed: int
) -> Codes:
    if order is None:
        values = np.zeros(ratings.n_items) if fit is None else fit.estimates
        return by_estimates(values, seed)
    places = {label: code for code, label in enumerate(ratings.item_labels)}
    codes = np.array([places.get(item, -1) for item in order], dtype=np.int64)
    if sorted(codes.tolist()) != list(range(ratings.n_items)):
        raise OptionError(f"order must hold every item once, got {shown(order)}.")
    return codes


def _needed(
    ratings: Ratings,
    model: Model | None,
    order: Codes,
    top: int,
    seed: int,
    notices: list[Notice],
) -> Needed | None:
    found = None
    why = "there are no scores to fit it to"
    if model is not None and not model.free[1]:
        why = "items' values cannot be told from the rest, as no item was rated twice"
    elif model is not None:
        source = stream(seed, "check: needed")
        found = reviews_needed(ratings, model, order, top, source)
        why = "it sees no difference between the items, or no noise"
    if found is None:
        text = f"How many more reviews are needed takes a fitted model, and {why}."
        notices.append(Notice("no_needed", text))
    return found


def _merged(notices: list[Notice], found: Contradictions) -> tuple[Notice, ...]:
    if found.sampled:
        text = (
            "There are too many pairs of items to count them all; some items of each "
            "busy reviewer were chosen by lot."
        )
        notices = [*notices, Notice("pairs_sampled", text)]
    return tuple(notices)


def distribution(counts: Codes) -> Distribution:
    """Summarise counts.

    Examples:
        >>> distribution(np.array([3, 1, 3])).histogram
        ((1, 1, 1), (3, 3, 2))
    """
    low, high = int(counts.min()), int(counts.max())
    few = len(np.unique(counts)) <= BARS
    width = 1 if few else -(-(high - low + 1) // BARS)
    bins, numbers = np.unique((counts - low) // width, return_counts=True)
    starts = (low + bins * width).tolist()
    ends = [min(start + width - 1, high) for start in starts]
    bars = tuple(zip(starts, ends, numbers.tolist(), strict=True))
    return Distribution(low, float(np.median(counts)), high, bars)


def named(labels: tuple[Label, ...], codes: Codes) -> Named:
    """Name the first few of some codes.

    Examples:
        >>> named(("a", "b"), np.array([1]))
        Named(count=1, labels=('b',))
    """
    known = sorted((labels[code] for code in codes.tolist()), key=place_of)
    return Named(len(codes), tuple(known[:NAMED]))


def find_groups(ratings: Ratings, graph: Comparisons) -> Groups:
    """Find what reviewers' orders connect, largest groups first.

    Examples:
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "z"], [1, 2, 3])
        >>> find_groups(ratings, comparisons(ratings)).to_dict()["listed"]
        [{'size': 2, 'items': ['x', 'y']}, {'size': 1, 'items': ['z']}]
    """
    found = components(graph)
    sizes = np.bincount(found)
    listed = []
    for group in np.argsort(-sizes, kind="stable")[:LISTED].tolist():
        some = np.flatnonzero(found == group)[:NAMED].tolist()
        labels = tuple(ratings.item_labels[item] for item in some)
        listed.append(Group(int(sizes[group]), labels))
    linked = int(linked_groups(ratings).max()) + 1
    return Groups(len(sizes), linked, tuple(listed))


def find_ties(ratings: Ratings, graph: Comparisons) -> tuple[Ties, Codes]:
    """Count ties, and find the reviewers of several items whose scores are all equal.

    Examples:
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 1, 2, 3])
        >>> find_ties(ratings, comparisons(ratings))
        (Ties(pairs=2, tied=1, reviewers=1), array([0]))
    """
    number = ratings.n_reviewers
    loads = np.bincount(ratings.reviewer_codes, minlength=number)
    sizes = np.diff(graph.level_start)
    steps = np.bincount(graph.level_reviewer, minlength=number)
    tying = np.unique(graph.level_reviewer[sizes > 1])
    ties = Ties(_pairs_of(loads), _pairs_of(sizes), len(tying))
    return ties, np.flatnonzero((loads > 1) & (steps == 1))


def _pairs_of(sizes: Codes) -> int:
    # Half of the product of two neighbours; products of large sizes still fit 64 bits.
    wide = sizes.astype(np.int64)
    return int((wide * (wide - 1) // 2).sum())


def findings(found: Check) -> tuple[Notice, ...]:
    """Say what matters most.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> for one in check(Ratings(["a"], ["x"], [1]), rng=7).findings:
        ...     print(one.code)
        sizes
        no_ladder
        strictness
        few_reviews
        single
    """
    parts = (
        [("sizes", sizes_sentence(found))],
        _repeated(found, "no_information"),
        _groups_found(found),
        _ladder_found(found),
        _needed_found(found),
        _contradictions(found),
        _variance_found(found),
        _strictness(found),
        _quality(found),
    )
    return tuple(Notice(code, text) for part in parts for code, text in part)


def sizes_sentence(found: Check) -> str:
    """Count the ratings, and say how they are spread."""
    reviewers, items = found.data["reviewers"], found.data["items"]
    what = {"scores": "score", "ranks": "rank", "comparisons": "comparison"}
    number = reviewers if found.kind == "comparisons" else found.data["ratings"]
    text = f"{counted(number, what[found.kind])} of {counted(items, 'item')}"
    if found.kind == "comparisons":
        return f"{text}; an item has {_range(found.reviews)} of them."
    return (
        f"{text} by {counted(reviewers, 'reviewer')}: a reviewer rated "
        f"{_range(found.load)}, an item has {_range(found.reviews)}."
    )


def _range(spread: Distribution) -> str:
    if spread.least == spread.most:
        return f"{spread.most:,}"
    return f"{spread.least:,} to {spread.most:,} (median {spread.median:g})"


def _repeated(found: Check, code: str) -> Iterator[tuple[str, str]]:
    for notice in found.notices:
        if notice.code == code:
            yield code, notice.message


def _groups_found(found: Check) -> Iterator[tuple[str, str]]:
    groups = found.groups
    if groups.count == 1:
        return
    # One item alone, or none compared at all, is a single sentence.
    if groups.listed[0].size == 1:
        text = "No reviewer's order connects any two items, so orders alone say nothing"
        yield "groups", f"{text}; only scores compared across reviewers can."
        return
    shown = "; ".join(
        f"{counted(group.size, 'item')}: {_some(group.items, group.size)}"
        for group in groups.listed[:SHOWN_GROUPS]
    )
    more = groups.count - SHOWN_GROUPS
    shown += f"; and {counted(more, 'more group')}" if more > 0 else ""
    yield (
        "groups",
        f"The items fall into {groups.count:,} groups that no comparison connects; "
        f"items of different groups cannot be ordered by reviewers' orders ({shown}).",
    )


def _some(labels: Iterable[object], size: int) -> str:
    shown = list(labels)[:SHOWN_LABELS]
    more = f" and {size - len(shown):,} more" if size > len(shown) else ""
    return listing(shown) + more


def _ladder_found(found: Check) -> Iterator[tuple[str, str]]:
    if found.ladder is not None:
        yield "ladder", ladder_sentence(found.ladder)
        return
    yield from _repeated(found, "no_ladder")


def _needed_found(found: Check) -> Iterator[tuple[str, str]]:
    yield from _repeated(found, "no_needed")
    if found.needed is None:
        return
    needed = found.needed
    parts = [
        f"{100 * target.probability:g} %: {more_reviews(target)}"
        for target in needed.pair
    ]
    yield (
        "needed",
        f"At the cut after {counted(needed.top, 'item')} in the order of `rank`, "
        f"additional reviews needed per item to put {needed.above!r} and "
        f"{needed.below!r} in their true order with a probability of "
        f"{'; of '.join(parts)}.",
    )


def more_reviews(target: Target) -> str:
    """Say how many more reviews a target needs.

    Examples:
        >>> from evenhand.lab.needed import Target
        >>> more_reviews(Target(0.8, 12, 11, 14)), more_reviews(Target(0.8, 0, 0, 0))
        ('12 (11 to 14)', 'none')
        >>> more_reviews(Target(0.95, None, None, None))
        'not within 100'
    """
    if target.reviews is None:
        return "not within 100"
    if target.reviews == 0:
        return "none"
    if target.low == target.high:
        return str(target.reviews)
    high = "over 100" if target.high is None else str(target.high)
    return f"{target.reviews} ({target.low} to {high})"


def _contradictions(found: Check) -> Iterator[tuple[str, str]]:
    told = found.contradictions
    if told.in_cycles == 0:
        if told.compared:
            yield (
                "contradictions",
                "The reviewers' orders do not contradict each other.",
            )
        return
    text = "Reviewers contradict each other: "
    if told.repeated:
        text += (
            f"{told.both_orders:,} of {told.repeated:,} pairs of items that several "
        )
        text += "reviewers ordered are put in both orders, and "
    items = found.data["items"]
    text += f"{told.in_cycles:,} of {items:,} items are on a cycle of orders."
    yield "contradictions", text


def _variance_found(found: Check) -> Iterator[tuple[str, str]]:
    shares = found.variance
    if shares is None:
        return
    parts = []
    for name, share in (
        ("items' values", shares.item),
        ("reviewers' offsets", shares.reviewer),
        ("the rest", shares.rest),
    ):
        if share is not None:
            parts.append(f"{name} {share_text(share)}")
    yield (
        "variance",
        f"Variance of scores, as ranks among all: {', '.join(parts)} (95 % intervals).",
    )
    for name, share in (("Items' values", shares.item), ("Offsets", shares.reviewer)):
        if share is None:
            yield "confounded", f"{name} cannot be told from the rest here."


def share_text(share: Share) -> str:
    """Show a share in per cent with its interval.

    Examples:
        >>> from evenhand.lab.reviewers import Share
        >>> share_text(Share(0.64, 0.553, 0.71))
        '64 % (55 to 71)'
    """
    return (
        f"{100 * share.share:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f})"
    )


def _strictness(found: Check) -> Iterator[tuple[str, str]]:
    if not found.reviewers:
        return
    words = [one.strictness for one in found.reviewers]
    strict, lenient = words.count("strict"), words.count("lenient")
    unknown = words.count(NOT_ENOUGH)
    if unknown == len(words):
        yield "strictness", "No reviewer rated enough to say how strict they are."
        return
    text = "No reviewer is clearly strict or lenient"
    if strict or lenient:
        text = f"{counted(strict, 'reviewer')} clearly strict, {lenient:,} clearly "
        text += "lenient"
    if unknown:
        text += f"; not enough ratings to say for {unknown:,} of {len(words):,}"
    yield "strictness", f"{text}."
    against = [one.reviewer for one in found.reviewers if one.strictness == DISAGREES]
    if against:
        who, s = _some(against, len(against)), "" if len(against) == 1 else "s"
        yield (
            "disagreeing",
            f"The order{s} of {counted(len(against), 'reviewer')} ({who}) "
            f"do{'' if s else 'es'} not agree with the others', so no strictness is "
            "given for them.",
        )


def _quality(found: Check) -> Iterator[tuple[str, str]]:
    if found.kind != "comparisons" and found.reviews.median < FEW_REVIEWS:
        yield (
            "few_reviews",
            f"Half of the items or more have fewer than {FEW_REVIEWS} reviews, so "
            "their positions rest on one or two opinions.",
        )
    if found.ties.tied:
        share = 100 * found.ties.share
        percent = f"{share:.0f}" if share >= 1 else f"{share:.1g}"
        yield (
            "ties",
            f"{percent} % of the pairs that one reviewer rated are tied, by "
            f"{counted(found.ties.reviewers, 'reviewer')}; a tie orders nothing, and "
            "voids the paper's ranking guarantees.",
        )
    if found.single.count:
        yield (
            "single",
            f"{counted(found.single.count, 'reviewer')} rated one item only, which "
            "compares nothing and says nothing about how strict they are.",
        )
    if found.flat.count:
        who = _some(found.flat.labels, found.flat.count)
        yield (
            "flat",
            f"{counted(found.flat.count, 'reviewer')} gave all their items the same "
            f"score: {who}.",
        )

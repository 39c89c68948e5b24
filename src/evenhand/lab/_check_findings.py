"""What a check found, in sentences, most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._results import Notice
from evenhand.errors import counted, listing
from evenhand.lab._check_reviewers import DISAGREES, NOT_ENOUGH
from evenhand.lab.ladder import ladder_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evenhand.lab._check_counts import Distribution
    from evenhand.lab._check_reviewers import Share
    from evenhand.lab.check import Check
    from evenhand.lab.needed import Target

SHOWN_GROUPS, SHOWN_LABELS = 3, 3
# Fewer reviews than this say little about an item on their own.
FEW_REVIEWS = 3
# What further reviews are counted for.
PAIR = "probability that these two are in their true order"
SIDE = "average share of the {} items near the cut that are on their true side"


def findings(found: Check) -> tuple[Notice, ...]:
    """Say what matters most.

    Examples:
        >>> from evenhand.lab.check import check
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
        _groups(found),
        _ladder(found),
        _needed(found),
        _contradictions(found),
        _variance(found),
        _strictness(found),
        _quality(found),
    )
    return tuple(Notice(code, text) for part in parts for code, text in part)


def sizes_sentence(found: Check) -> str:
    """Count the ratings, and say how they are spread."""
    reviewers, items = found.data["reviewers"], found.data["items"]
    what = {"scores": "score", "ranks": "rank", "comparisons": "comparison"}
    number = reviewers if found.kind == "comparisons" else found.data["ratings"]
    text = f"{_count(number, what[found.kind])} of {_count(items, 'item')}"
    if found.kind == "comparisons":
        return f"{text}; an item has {_range(found.reviews)} of them."
    return (
        f"{text} by {_count(reviewers, 'reviewer')}: a reviewer rated "
        f"{_range(found.load)}, an item has {_range(found.reviews)}."
    )


def _count(number: object, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _range(spread: Distribution) -> str:
    if spread.least == spread.most:
        return f"{spread.most:,}"
    return f"{spread.least:,} to {spread.most:,} (median {spread.median:g})"


def _repeated(found: Check, code: str) -> Iterator[tuple[str, str]]:
    for notice in found.notices:
        if notice.code == code:
            yield code, notice.message


def _groups(found: Check) -> Iterator[tuple[str, str]]:
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


def _ladder(found: Check) -> Iterator[tuple[str, str]]:
    if found.ladder is not None:
        yield "ladder", ladder_sentence(found.ladder)
        return
    yield from _repeated(found, "no_ladder")


def _needed(found: Check) -> Iterator[tuple[str, str]]:
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


def _variance(found: Check) -> Iterator[tuple[str, str]]:
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
        >>> from evenhand.lab._check_reviewers import Share
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
        text = f"{_count(strict, 'reviewer')} clearly strict, {lenient:,} clearly "
        text += "lenient"
    if unknown:
        text += f"; not enough ratings to say for {unknown:,} of {len(words):,}"
    yield "strictness", f"{text}."
    against = [one.reviewer for one in found.reviewers if one.strictness == DISAGREES]
    if against:
        who, s = _some(against, len(against)), "" if len(against) == 1 else "s"
        yield (
            "disagreeing",
            f"The order{s} of {_count(len(against), 'reviewer')} ({who}) "
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
            f"{_count(found.ties.reviewers, 'reviewer')}; a tie orders nothing, and "
            "voids the paper's ranking guarantees.",
        )
    if found.single.count:
        yield (
            "single",
            f"{_count(found.single.count, 'reviewer')} rated one item only, which "
            "compares nothing and says nothing about how strict they are.",
        )
    if found.flat.count:
        who = _some(found.flat.labels, found.flat.count)
        yield (
            "flat",
            f"{_count(found.flat.count, 'reviewer')} gave all their items the same "
            f"score: {who}.",
        )

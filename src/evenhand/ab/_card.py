"""A comparison in plain words: what was put above what, and what that may claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._cards import (
    Card,
    Html,
    counts,
    escaped,
    figure,
    name,
    reasons,
    said,
    share,
)
from evenhand.certificate import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand._results import Label
    from evenhand.ab.comparison import Comparison

    Titles = Mapping[Label, str]

TIE = "tie coin"
COIN = "coin"
BOTH = "reviewers of both"


def comparison_card(result: Comparison, titles: Titles | None = None) -> Card:
    """Say what a comparison decided, for its report and for notebooks.

    Args:
        result: The comparison.
        titles: What people call an item, where that is known.

    Examples:
        >>> from evenhand import compare
        >>> comparison_card(compare([7, 9, 4], [6, 3, 5], rng=1)).title
        Html('<bdi>A</bdi> is put above <bdi>B</bdi>')
    """
    named = titles or {}
    certificate = result.certificate
    winner, loser = _both(result)
    return Card(
        title=said(
            "{} is put above {}",
            name(winner, named.get(winner)),
            name(loser, named.get(loser)),
        ),
        decision=tuple(_decision(result)),
        may=tuple(_may(result)),
        may_not=tuple(_may_not(result)),
        rests=() if certificate is None else certificate.declared,
        checked=() if certificate is None else certificate.checked,
        certificate="" if certificate is None else certificate.sentence,
        notices=result.notices,
        caption=f"Comparison by {result.method}, seed {result.seed}",
        head=("item", "output with probability"),
        rows=tuple(
            (name(item, named.get(item)), escaped(_about(result, share(p))))
            for item, p in zip(
                result.items, (result.p_first, 1 - result.p_first), strict=True
            )
        ),
    )


def _both(result: Comparison) -> tuple[Label, Label]:
    ours = result.items.index(result.winner)
    return result.winner, result.items[1 - ours]


def _about(result: Comparison, text: str) -> str:
    return f"about {text}" if result.p_first_se else text


def _decision(result: Comparison) -> Iterator[Html]:
    data = result.data
    if "ratings" in data:
        yield said(
            "From a file of {} by {}{}, with method {} and seed {}.",
            counts(data["ratings"], "score"),
            counts(data["reviewers"], "reviewer"),
            " (those who scored both items are left out)"
            if result.parameters.get("both") == "drop"
            else "",
            result.method,
            result.seed,
        )
    if result.votes is not None:
        ours, theirs = result.votes
        level = " A fair coin broke the tie." if ours == theirs else ""
        first, second = map(name, result.items)
        text = "Votes: {} for {}, {} for {}.{}"
        yield said(text, ours, first, theirs, second, level)
    elif result.decided_by == TIE:
        yield Html("The scores were tied, so a fair coin decided.")
    elif result.decided_by == COIN:
        yield Html("A fair coin decided.")
    elif result.decided_by == BOTH:
        yield Html("Reviewers who scored both items all agree, and were followed.")
    else:
        yield said("Decided by {}.", result.decided_by)
    chance = result.p_first if result.winner == result.items[0] else 1 - result.p_first
    yield said(
        "On these scores the rule puts {} first with probability {}. That is the "
        "bias of the rule's coin, not a chance of being right.",
        name(result.winner),
        _about(result, share(chance)),
    )


def _may(result: Comparison) -> Iterator[Html]:
    certificate = result.certificate
    if result.decided_by == BOTH:
        yield Html(
            "That the order is right if reviewers give a better item a higher score, "
            "and do so without error."
        )
        return
    if certificate is None or certificate.theorem == NONE:
        yield said("This is the answer that method {} gives.", result.method)
        if result.method == "coin":
            yield Html("It is right half of the time, and looks at no score.")
            return
        yield Html("As things stand it comes with no guarantee.")
        yield from reasons("" if certificate is None else certificate.sentence)
        return
    better = "more often" if certificate.strict else "no less often"
    yield said(
        "A rule that decides in this way is right {} than a fair coin, whatever scale "
        "each reviewer has in mind, as long as a better item gets a higher score.",
        better,
    )
    if certificate.conditional is not None and "average" in certificate.conditional:
        yield said("This is {}.", certificate.conditional)
    if certificate.declared:
        yield said(
            "All of that only if this is so, which was declared or is taken for "
            "granted and cannot be seen in the scores: {}.",
            "; ".join(one.removesuffix(": declared") for one in certificate.declared),
        )


def _may_not(result: Comparison) -> Iterator[Html]:
    winner, _ = _both(result)
    certificate = result.certificate
    if certificate is not None and certificate.theorem != NONE:
        yield said(
            "That {} is better. The claim is about how often the rule is right, not "
            "about this one answer.",
            name(winner),
        )
        yield Html(
            "How much more often than a coin it is right. That depends on the "
            "reviewers' scales, which nobody knows."
        )
    else:
        yield said("That {} is better, or how much better.", name(winner))
    if result.test is not None:
        yield said(
            "That the p-value ({}, two-sided) is the probability of an error, or of "
            "an item being better.",
            figure(result.test.p_value),
        )
        if result.parameters.get("design") is None:
            yield Html(
                "That the p-value means anything, unless reviewers were assigned by "
                "lot: nobody declared that."
            )

"""A ranking in plain words: who is first, what that may claim and what it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._cards import (
    SHOWN,
    SOURCES,
    Card,
    Html,
    counts,
    escaped,
    figure,
    joined,
    name,
    reasons,
    said,
    share,
)
from evenhand.catalogue import methods
from evenhand.certificate import NONE
from evenhand.ranking.results import title_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand._results import Label
    from evenhand.certificate import Certificate
    from evenhand.ranking.results import RankedItem, Ranking, Top

    Titles = Mapping[Label, str]

# Items named as the first, items chosen that are named, and items of a group.
FIRST, MOST, MEMBERS = 10, 12, 6
METHODS = {method.name: method for method in methods("rank")}
ANY_SCALE = (
    "This holds whatever scale each reviewer has in mind, as long as they give a "
    "better item a higher score."
)
# Strictly, and if it is no longer strict.
PLAIN = {
    "lemma": (
        "From the reviewers' own orders alone, no method is exactly right more often, "
        "if every true ranking is equally likely.",
    )
    * 2,
    "squares": (
        "From the reviewers' own orders alone, no method comes closer on average "
        "(in squared differences of ranks), if every true ranking is equally likely.",
    )
    * 2,
    "paper Appendix C": (
        "From the reviewers' own orders alone, no method is exactly right more often "
        "in the worst case.",
    )
    * 2,
    "K": (
        "The order is exactly right more often than any method that looks at each "
        "reviewer's own order only, if every true ranking is equally likely.",
        "The order is exactly right as often as the best method that looks at each "
        "reviewer's own order only, if every true ranking is equally likely.",
    ),
    "paper 8": (
        "The order is exactly right more often than one drawn by lot among all that "
        "agree with every reviewer.",
        "The order is exactly right no less often than one drawn by lot among all that "
        "agree with every reviewer.",
    ),
    "paper 7": (
        "On average the order is closer to the true one than the order that the "
        "method started from, if every true ranking is equally likely.",
        "On average the order is no farther from the true one than the order that the "
        "method started from, if every true ranking is equally likely.",
    ),
    "T": (
        "On average the order is closer to the true one than if items that the "
        "reviewers' orders leave tied were sorted by lot.",
        "On average the order is no farther from the true one than if items that the "
        "reviewers' orders leave tied were sorted by lot.",
    ),
}
# What methods without a guarantee assume, for a committee.
ASSUMED = {
    "adaptive": "reviewers differ in how strict they are, about as much as the ratings "
    "show",
    "mean": "all reviewers use one and the same scale",
    "centred": "reviewers differ only in how strict they are, and saw equally good "
    "items",
    "additive": "reviewers differ only in how strict they are",
    "affine": "reviewers differ only in how strict they are and in how widely they "
    "spread their scores",
}
SAME = {"A": "T", "paper 5": "K"}


def ranking_card(
    result: Ranking, titles: Titles | None = None, kind: str = "scores"
) -> Card:
    """Say what a ranking decided, for its report and for notebooks.

    Args:
        result: The ranking.
        titles: What people call an item, where that is known.
        kind: What was given: "scores", "ranks" or "comparisons".

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> ranking_card(rank(ratings, method="mean", top=1, rng=7)).title
        Html('The best of 2 items')
    """
    named = titles or {}
    chosen = _chosen(result)
    certificate = result.certificate
    return Card(
        title=_title(result),
        chosen=tuple(name(item, named.get(item)) for item in chosen[:MOST]),
        others=_others(result, len(chosen[:MOST])),
        decision=tuple(_decision(result, named, kind)),
        may=tuple(_may(result)),
        may_not=tuple(_may_not(result)),
        rests=() if certificate is None else certificate.declared,
        checked=() if certificate is None else certificate.checked,
        certificate="" if certificate is None else certificate.sentence,
        notices=result.notices,
        caption=title_of(result),
        head=_head(result),
        rows=tuple(_cells(result, row, named) for row in result.items[:SHOWN]),
        left=max(0, len(result.items) - SHOWN),
    )


def settled_by_chance(result: Ranking) -> dict[Label, list[Html]]:
    """Say for each item which coins it was in, and with what probability.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> list(settled_by_chance(rank(ratings, method="mean", rng=7)))
        []
    """
    coins: dict[Label, list[Html]] = {}
    for draw in result.draws:
        first, second = draw.items
        for item, other, p in (
            (first, second, draw.p_first),
            (second, first, 1 - draw.p_first),
        ):
            told = said("{} to be above {}", share(p, certain=False), name(other))
            coins.setdefault(item, []).append(told)
    return coins


def is_drawn(result: Ranking) -> bool:
    """Whether probabilities of places come from draws, so that none is certain."""
    return result.uncertainty is not None and result.uncertainty.draws > 0


def _title(result: Ranking) -> Html:
    number = counts(len(result.order), "item")
    if result.top is None:
        return said("Ranking of {}", number)
    if result.top.k == 1:
        return said("The best of {}", number)
    return said("The best {} of {}", f"{result.top.k:,}", number)


def _chosen(result: Ranking) -> tuple[Label, ...]:
    return result.order[:FIRST] if result.top is None else result.top.items


def _others(result: Ranking, named: int) -> int:
    """Count the chosen that are not named; of a whole ranking, the rest of it."""
    all_of_them = len(result.order if result.top is None else result.top.items)
    return all_of_them - named


def _decision(result: Ranking, titles: Titles, kind: str) -> Iterator[Html]:
    data = result.data
    if data and kind == "comparisons":
        yield said(
            "From {} of {}, with method {} and seed {}.",
            counts(data["reviewers"], "comparison"),
            counts(data["items"], "item"),
            result.method,
            result.seed,
        )
    elif data:
        yield said(
            "From {} of {} by {}, with method {} and seed {}.",
            counts(data["ratings"], "rating"),
            counts(data["items"], "item"),
            counts(data["reviewers"], "reviewer"),
            result.method,
            result.seed,
        )
    group = () if result.items[0].bucket is None else result.buckets[0]
    first = [name(item, titles.get(item)) for item in group]
    if len(first) == len(result.order) > 1:
        yield Html("The ratings cannot tell any two of these items apart for sure.")
    elif len(first) > MEMBERS:
        yield said(
            "The first {} items form the first group: the ratings do not settle their "
            "order among each other.",
            f"{len(first):,}",
        )
    elif len(first) > 1:
        yield said(
            "The first group is {}: the ratings do not settle their order among each "
            "other.",
            joined(first),
        )
    if result.top is not None and result.top.other is not None:
        yield _other(result.top)


def _other(top: Top) -> Html:
    """Say what the other method chooses; how they differ, a notice says."""
    if not top.only_here:
        return said("Method {} chooses the same.", top.other)
    if top.other == "safe":
        return said(
            "Method {} chooses otherwise (see the note). It settles part of its order "
            "by lot, so another seed may choose otherwise again.",
            top.other,
        )
    return said("Method {} chooses otherwise (see the note).", top.other)


def _may(result: Ranking) -> Iterator[Html]:
    method = METHODS.get(result.method)
    certificate = result.certificate
    if certificate is None or certificate.theorem == NONE:
        yield said("This is the order that method {} gives.", result.method)
        if method is not None and method.best.theorem == NONE:
            assumed = ASSUMED.get(result.method, method.assumes)
            if _is_ordinal(result):
                assumed = "the better of two items is more often put above the other"
            elif _noted(result, "confounded", "one_rating_reviewers"):
                assumed = "reviewers use one and the same scale where these ratings "
                assumed += "cannot tell how strict they are"
            yield said("It is as good as what it assumes: {}.", assumed)
            yield Html(
                "No scale can change it: only each reviewer's own order counts."
                if _is_ordinal(result)
                else "There is no guarantee if reviewers use scales of other kinds."
            )
        else:
            yield Html("As things stand it comes with no guarantee.")
            yield from reasons("" if certificate is None else certificate.sentence)
        return
    yield from _proved(certificate)
    if certificate.declared:
        yield said(
            "All of that only if this is so, which was declared or is taken for "
            "granted and cannot be seen in the ratings: {}.",
            "; ".join(one.removesuffix(": declared") for one in certificate.declared),
        )


def _proved(certificate: Certificate) -> Iterator[Html]:
    key = SAME.get(certificate.theorem, certificate.theorem)
    if key == "paper Lemma 1":
        key = "squares" if certificate.loss == "squared ranks" else "lemma"
    weak = not certificate.strict
    about = "Up to sampling error: " if _is_sampled(certificate) else ""
    yield said("{}{}", about, PLAIN[key][weak] if key in PLAIN else certificate)
    if key == "T" and certificate.loss is not None and "zero-one" in certificate.loss:
        often = "no less often" if weak else "more often"
        yield said("It is exactly right {} where its groups are in order.", often)
    if certificate.prior == "any true ranking":
        yield Html(ANY_SCALE)
    if certificate.conditional is not None and "average" in certificate.conditional:
        yield said("This is {}.", certificate.conditional)


def _is_sampled(certificate: Certificate) -> bool:
    return certificate.sentence.startswith("Up to sampling error")


def _is_ordinal(result: Ranking) -> bool:
    """Whether the answer looks at orders only, with no theorem behind it."""
    plain = result.certificate is None or result.certificate.theorem == NONE
    orders = result.method in ("bradley-terry", "borda")
    return plain and (orders or _noted(result, "orders_only"))


def _noted(result: Ranking, *codes: str) -> bool:
    return any(notice.code in codes for notice in result.notices)


def _may_not(result: Ranking) -> Iterator[Html]:
    certificate = result.certificate
    if _is_ordinal(result):
        yield Html("That it is right, or right more often than another method.")
    elif certificate is None or certificate.theorem == NONE:
        yield Html("That it is right whatever scales the reviewers used.")
    else:
        yield Html("That this very order is right: what is proved is about averages.")
    if result.uncertainty is not None:
        where = SOURCES.get(result.uncertainty.source, result.uncertainty.source)
        yield said(
            "That every place is settled. Each item has a range of ranks ({}).",
            where,
        )
    if result.top is not None and result.items[0].p_top is not None:
        yield said(
            "That the share in top {} is a chance of a right decision. It says how "
            "often an item is among them under that same assumption.",
            result.top.k,
        )
    if _noted(result, "unlinked_groups", "separate_groups"):
        yield Html(
            "Anything between groups of items that no reviewer links: there is nobody "
            "who compared them."
        )
    if result.draws:
        yield Html(
            "That a coin knew better. Its probability is that of the draw, not a "
            "chance of being right."
        )
    yield Html("How good an item is. A rank says above or below, not good or bad.")


def _head(result: Ranking) -> tuple[str, ...]:
    known = result.items[0]
    head = ["rank", "item", "reviews"]
    head += ["ranks from-to"] if known.rank_low is not None else []
    head += ["mean score", "spread"] if known.mean_score is not None else []
    if result.top is not None and known.p_top is not None:
        head.append(f"share in top {result.top.k:,}")
    return tuple(head)


def _cells(result: Ranking, row: RankedItem, titles: Titles) -> tuple[Html, ...]:
    known = result.items[0]
    cells: list[object] = [
        row.rank,
        name(row.item, titles.get(row.item)),
        f"{row.reviews:,}",
    ]
    cells += [f"{row.rank_low}-{row.rank_high}"] if known.rank_low is not None else []
    if known.mean_score is not None:
        cells += [figure(row.mean_score), figure(row.spread)]
    if result.top is not None and known.p_top is not None:
        cells.append(share(row.p_top, certain=not is_drawn(result)))
    return tuple(map(escaped, cells))

"""What a check found, in sentences: a function of the facts for each code.

Each returns the whole sentence and, where that goes on to what follows from it, the
plain one of a page's first screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.claims import CONFIDENCE
from evenhand.errors import listing, plural
from evenhand.words.claims import TIES_VOID, Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Facts = Mapping[str, Any]

INTERVALS = f"{100 * CONFIDENCE:g}% intervals"
NOUNS = {"scores": "score", "ranks": "rank", "comparisons": "comparison"}
# Shares of comparisons predicted rightly that are about equal.
ABOUT_EQUAL = 0.05
# The five assumptions about reviewers' scales, wherever they are named.
ASSUMPTIONS = {
    "none": "one scale for all",
    "offset": "own strictness",
    "offset and slope": "own strictness and spread",
    "monotone": "own increasing scale",
    "order only": "own order only",
}
CLEARLY = "and allowing for more is not clearly better"
# What each verdict of the ladder of assumptions means, and what goes with it.
MEANINGS = {
    "none": (
        "scores as they are predict better than orders alone",
        ", and allowing for how reviewers differ is not clearly better",
    ),
    "offset": ("it pays to allow for how strict each reviewer is", f", {CLEARLY}"),
    "offset and slope": (
        "it pays to allow for how strict each reviewer is and how widely they spread "
        "their scores",
        f", {CLEARLY}",
    ),
    "monotone": (
        "it pays to allow each reviewer an increasing scale of their own",
        ", whatever its shape",
    ),
    "order only": (
        "each reviewer's own order of items predicts best",
        "; the scores behind it mislead",
    ),
    "cannot tell": (
        "all models predict held-out comparisons about equally well",
        ", so they do not show whether scores can be compared across reviewers. See "
        "the variance shares",
    ),
}


def list_labels(few: Facts) -> str:
    """List the first labels and say how many more there are, as `claims.few` has them.

    Examples:
        >>> list_labels({"first": ["x", 2], "number": 12})
        "'x', 2 and 10 more"
    """
    more = few["number"] - len(few["first"])
    tail = f" and {more:,} more" if more > 0 else ""
    return ", ".join(map(repr, few["first"])) + tail


def spread_text(counts: Facts) -> str:
    """Say how a count is spread.

    Examples:
        >>> spread_text({"min": 1, "median": 2.5, "max": 4})
        '1 to 4 (median 2.5)'
    """
    if counts["min"] == counts["max"]:
        return f"{counts['max']:,}"
    return f"{counts['min']:,} to {counts['max']:,} (median {counts['median']:g})"


def share_text(share: Facts) -> str:
    """Show a share in per cent with its interval.

    Examples:
        >>> share_text({"share": 0.64, "low": 0.553, "high": 0.71})
        '64% (55 to 71)'
    """
    ends = f"{100 * share['low']:.0f} to {100 * share['high']:.0f}"
    return f"{100 * share['share']:.0f}% ({ends})"


def more_reviews(target: Facts) -> str:
    """Say how many more reviews a target needs.

    Examples:
        >>> more_reviews({"reviews": 12, "low": 11, "high": 14})
        '12 (11 to 14)'
        >>> more_reviews({"reviews": 0}), more_reviews({"reviews": None})
        ('none', 'not within 100')
    """
    if target["reviews"] is None:
        return "not within 100"
    if target["reviews"] == 0:
        return "none"
    if target["low"] == target["high"]:
        return str(target["reviews"])
    high = "over 100" if target["high"] is None else str(target["high"])
    return f"{target['reviews']} ({target['low']} to {high})"


def _sizes(facts: Facts) -> str:
    text = f"{plural(facts['number'], NOUNS[facts['kind']])} of "
    text += plural(facts["items"], "item")
    reviews = spread_text(facts["reviews"])
    if facts["kind"] == "comparisons":
        return f"{text}: {reviews} per item."
    text += f" by {plural(facts['reviewers'], 'reviewer')}: "
    return f"{text}{spread_text(facts['load'])} per reviewer, {reviews} per item."


def _groups(facts: Facts) -> Wording:
    shown = [
        f"{plural(group['number'], 'item')}: {list_labels(group)}"
        for group in facts["listed"]
    ]
    more = facts["groups"] - len(shown)
    shown += [f"and {plural(more, 'more group')}"] if more > 0 else []
    text = f"The items fall into {facts['groups']:,} groups that no comparison connects"
    orders = "items of different groups cannot be ordered by reviewers' orders"
    return Wording(f"{text}; {orders} ({'; '.join(shown)}).", plain=f"{text}.")


def ladder_meaning(verdict: str) -> str:
    """Say what a verdict of the ladder means.

    Examples:
        >>> ladder_meaning("order only")
        "Each reviewer's own order of items predicts best; the scores behind it
        mislead."
    """
    meaning = "".join(MEANINGS[verdict])
    return f"{meaning[0].upper()}{meaning[1:]}."


def _ladder(facts: Facts) -> Wording:
    verdict = ASSUMPTIONS.get(facts["verdict"], "inconclusive")
    meaning, more = MEANINGS[facts["verdict"]]
    text = f"{verdict[0].upper()}{verdict[1:]}: {meaning}"
    if verdict != "inconclusive":
        return Wording(f"{text}{more}.", plain=f"{text}.")
    worst, best = facts["worst"], facts["best"]
    if best - worst > ABOUT_EQUAL:
        text = "Inconclusive: no model predicts held-out comparisons clearly better"
    text += f" ({100 * worst:.1f}% to {100 * best:.1f}% predicted)"
    return Wording(f"{text}{more}.", plain=f"{text}.")


def _further_reviews(facts: Facts) -> str:
    pair, side = (
        [f"{100 * target['probability']:g}%: {more_reviews(target)}" for target in aims]
        for aims in (facts["pair"], facts["side"])
    )
    return (
        f"At the cut after {plural(facts['top'], 'item')} in the order of the "
        f"ranking, additional reviews needed per item to put {facts['above']!r} and "
        f"{facts['below']!r} in their true order with a probability of "
        f"{'; of '.join(pair)}; and to have, of the {plural(facts['near'], 'item')} "
        f"near the cut, on their true side on average {'; '.join(side)}."
    )


def _contradictions(facts: Facts) -> Wording:
    inside, items = facts["in_cycles"], facts["items"]
    share = f"all {inside:,}" if inside == items else f"{inside:,} of {items:,}"
    cycles = f"{share} items are in a preference cycle."
    if not facts["repeated"]:
        return Wording(cycles[:1].upper() + cycles[1:])
    disputed, several = f"{facts['both_orders']:,}", f"{facts['repeated']:,}"
    text = f"Reviewers disagree on {disputed} of the {several} pairs ordered by several"
    return Wording(f"{text} reviewers; {cycles}", plain=f"{text} reviewers.")


def _variance(facts: Facts) -> str:
    names = {
        "item": "items' values",
        "reviewer": "reviewers' offsets",
        "rest": "the rest",
    }
    parts = ", ".join(
        f"{name} {share_text(facts[part])}"
        for part, name in names.items()
        if facts[part]
    )
    return f"Variance of scores, as ranks among all: {parts} ({INTERVALS})."


def _strictness(facts: Facts) -> str:
    strict, lenient = facts["strict"], facts["lenient"]
    text = f"{plural(strict, 'reviewer')} clearly strict, {lenient:,} clearly lenient"
    if not strict and not lenient:
        text = "No reviewer is clearly strict or lenient"
    if facts["unknown"]:
        few = f"{facts['unknown']:,} of {facts['reviewers']:,}"
        text += f"; not enough ratings to say for {few}"
    return f"{text}."


def _disagreeing(facts: Facts) -> Wording:
    parts = []
    for agreement, few in facts["reviewers"]:
        verbs = ("goes", "go") if facts["against"] == agreement else ("has", "have")
        named = f"{plural(few['number'], 'reviewer')} ({list_labels(few)})"
        parts.append(f"{named} {verbs[few['number'] > 1]} {agreement}")
    text = " and ".join(parts)
    consequence = (
        "so no strictness is given for them. Of 100 reviewers who rate like the "
    )
    consequence += "others, about 1 at most would be named here."
    return Wording(f"{text}, {consequence}", plain=f"{text}.")


def _correlations(facts: Facts) -> Wording:
    parts = [
        f"{row['reviewer']!r} {row['correlation']:.2f} "
        f"({row['low']:.2f} to {row['high']:.2f})"
        for row in facts["reviewers"]
    ]
    text = "Correlation with the others' scores of the same items, with "
    text += f"{INTERVALS}: {', '.join(parts)}."
    if not facts["too_few"]:
        return Wording(text)
    few = f"{plural(len(parts), 'reviewer')} are too few to say who departs."
    return Wording(f"{text} {few}", plain=text)


def _interval(row: Facts) -> str:
    ends = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
    return f"{row['value']:.2f}{ends}"


def _agreement(facts: Facts) -> Wording:
    names = {row["name"]: _interval(row) for row in facts["coefficients"]}
    mean = names.pop("ICC(1, k)", "")
    alphas = {name: names.pop(name) for name in [*names][:2]}
    parts = [f"{ends} {name.removeprefix('alpha, ')}" for name, ends in alphas.items()]
    text = f"Agreement of reviewers (1 is perfect, 0 is chance) on {facts['items']:,} "
    text += f"items that several rated: Krippendorff's alpha {', '.join(parts)}"
    icc = "; ".join(f"{name} {ends}" for name, ends in names.items())
    of_mean = f"; ICC(1) of a mean of {facts['reviews']:.3g} ratings {mean}"
    has_ends = facts["coefficients"][0]["low"] is not None
    ends = f" ({INTERVALS} by {facts['left_out']})" if has_ends else ""
    plain = f"{text}{ends}."
    text = f"{text}; {icc}{of_mean if mean else ''}{ends}."
    for name, rows in facts["criteria"].items():
        text += f" {name}: alpha {_interval(rows[0])}."
    if facts["pairs"]:
        pairs = (
            f"{row['first']!r} and {row['second']!r} {_interval(row)}"
            for row in facts["pairs"]
        )
        text += f" Ordinal alpha of pairs, lowest first: {', '.join(pairs)}."
    return Wording(text, plain=plain)


def _unreliable(facts: Facts) -> Wording:
    texts = []
    for row in facts["reviewers"]:
        text = (
            f"{row['reviewer']!r} errs {row['noise'] ** 0.5:.1f} times as much as usual"
        )
        text += f" and follows values with a slope of {row['slope']:.2f}"
        if "gain" in row:
            points = 100 * row["gain"]
            better = "better" if points >= 0 else "worse"
            text += "; without them the others' held-out comparisons are predicted "
            text += f"{abs(points):.1f} points {better}"
        texts.append(f"{text}.")
    more = facts["number"] - len(texts)
    texts += [f"{plural(more, 'more reviewer')} are unreliable, too."] if more else []
    names = listing([row["reviewer"] for row in facts["reviewers"]])
    way = "--method 'adaptive(reliabilities)' lets unreliable reviewers count less."
    return Wording(" ".join([*texts, way]), plain=f"Unreliable: {names}.")


def _ties(facts: Facts) -> Wording:
    percent = 100 * facts["share"]
    shown = f"{percent:.0f}" if percent >= 1 else f"{percent:.1g}"
    text = f"{shown}% of the pairs that one reviewer rated are tied, by "
    text += plural(facts["reviewers"], "reviewer")
    if facts["kind"] == "comparisons":
        text = f"{shown}% of the comparisons are ties"
    return Wording(f"{text}; a tie orders nothing, and {TIES_VOID}.", plain=f"{text}.")


SENTENCES: Mapping[str, str | Wording | Callable[[Facts], str | Wording]] = {
    "sizes": _sizes,
    "groups": _groups,
    "groups/alone": Wording(
        "No reviewer's order connects any two items, so orders alone say nothing; only "
        "scores compared across reviewers can.",
        plain="No reviewer's order connects any two items.",
    ),
    "ladder": _ladder,
    "needed": _further_reviews,
    "contradictions": _contradictions,
    "contradictions/none": "The reviewers' orders do not contradict each other.",
    "variance": _variance,
    "strictness": _strictness,
    "strictness/unknown": "No reviewer rated enough to say how strict they are.",
    "strictness/fixed_sums": "Nothing says how strict reviewers are: the form fixes "
    "what their scores add up to.",
    "disagreeing": _disagreeing,
    "correlations": _correlations,
    "agreement": _agreement,
    "unreliable": _unreliable,
    "few_reviews": Wording(
        "Half of the items or more have fewer than {fewest} reviews, so their "
        "positions rest on one or two opinions.",
        plain="Half of the items or more have fewer than {fewest} reviews.",
    ),
    "ties": _ties,
    "single": Wording(
        "{reviewers:#reviewer} rated a single item, so they provide no comparison and "
        "no estimate of strictness.",
        plain="{reviewers:#reviewer} rated a single item.",
    ),
    "flat": "{reviewers:#reviewer} gave all their items the same score: {named:list}.",
}

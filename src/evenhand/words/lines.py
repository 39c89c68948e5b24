"""A result in a few lines: numbers first, then the sentence that matters.

Terminals and `repr` show these; what explains them stands in the templates.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from evenhand.claims import CONFIDENCE, NONE
from evenhand.errors import align_columns, plural, printable
from evenhand.lazy import lazy
from evenhand.words import claims
from evenhand.words.text import (
    figure,
    join_names,
    join_plain,
    name,
    one_precision,
    plain_name,
    shorten,
)
from evenhand.words.text import share as share_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.ab.arms import ArmsTest
    from evenhand.ab.comparison import Comparison
    from evenhand.ab.pvalues import PValues
    from evenhand.claims import Certificate, Label
    from evenhand.designs import design as designs
    from evenhand.grading import Grades
    from evenhand.ranking.results import RankedItem, Ranking
    from evenhand.words import arms, tables
else:
    designs = lazy("evenhand.designs.design")
    arms = lazy("evenhand.words.arms")
    tables = lazy("evenhand.words.tables")

TIE = "tie coin"
COINS = (TIE, "coin")
ALPHA, SMALL_P = round(1 - CONFIDENCE, 12), 0.01
UNEVEN = "counts_contradict_design"
GIVEN_COUNTS = {
    "given counts": "any choice of as many reviewers for each item as there are",
    "given panel counts": "any choice of as many panels for each item as there are",
}
# Claims without a theorem that do not begin with "No guarantee".
ESTIMATES = ("adaptive", "agreed", "fair_coin")
AT_ONCE = (
    '"ranks" is about one item by itself (90%); "all at once" holds for all items '
    "together (95%): use it for statements about several, such as who may be first."
)
# Items named in a sentence, characters of their titles and of a cell, and rows.
NAMED, TITLE, WIDE, SHOWN, CLOSEST = 12, 40, 60, 40, 3
# Characters of a name before the shares of scores.
LONG_NAME = 24


def claim(certificate: Certificate | None, *, explained: bool = False) -> str:
    """Say in a sentence what an answer may claim.

    Args:
        certificate: What is proved about the answer.
        explained: Whether --explain already shows the rest.

    Examples:
        >>> from evenhand.claims import Claim, Finding, certify
        >>> claim(certify(Claim("fair_coin")))
        'Guarantee: right half of the time, whatever the scores: the baseline itself.'
    """
    if certificate is None:
        return "Guarantee: none."
    whole = certificate.claim.given is None
    words = claims.guarantee(certificate) if whole else claims.short(certificate)
    text = f"Guarantee: {words}{_seal_words(certificate)}"
    if explained:
        return text
    if certificate.texts("declared") and certificate.theorem != NONE:
        number = plural(len(certificate.texts("declared")), "assumption")
        return f"{text} {number}: see --explain."
    if whole and certificate.sentence != certificate.brief:
        return f"{text} See --explain."
    return text


def _seal_words(certificate: Certificate) -> str:
    findings = [
        finding for finding in certificate.findings if finding.code == "assignment"
    ]
    shown = [
        finding.text for finding in findings if finding.facts["backing"] == "verified"
    ]
    return "".join(f" Checked: {text}." for text in shown)


def claim_line(certificate: Certificate | None) -> str:
    """Say in one sentence what an answer may claim, for a page that explains it.

    Examples:
        >>> claim_line(None)
        'This claims nothing.'
    """
    if certificate is None:
        return "This claims nothing."
    line = claims.headline(certificate)
    if certificate.claim.code in ESTIMATES:
        return f"An estimate: method {line[0].lower()}{line[1:]}"
    if certificate.theorem != NONE:
        return f"Guarantee: {line[0].lower()}{line[1:]}"
    return line


def comparison_lines(result: Comparison, *, explained: bool = False) -> list[str]:
    """Say which of two items is ahead, by how much, how sure, and what it may claim.

    Args:
        result: The comparison.
        explained: Whether --explain already shows the rest of the claim.

    Examples:
        >>> from evenhand import compare
        >>> print(*comparison_lines(compare([3], [2], method="mean", rng=7))[:1])
        A comes out ahead of B, by means; mean 3 (n 1) against 2 (n 1).
    """
    if result.pairs:
        return arms.arm_lines(result, explained=explained)
    first, second = (printable(item) for item in result.items)
    winner, loser = (first, second)[:: _way(result)]
    why = "; ".join(filter(None, [_why(result), means_phrase(result)]))
    lines = [f"{winner} comes out ahead of {loser}{why}."]
    lines += [difference_sentence(result), *share_lines(result)]
    lines += watch_sentences(result)
    lines += criterion_lines(result)
    if sentence := randomized_sentence(result):
        if picked_chance(result) < 0.5:
            lines[0] = f"{lines[0][:-1]} - by a rare draw: the scores favour {loser}."
        lines.append(sentence)
    return [*filter(None, lines), claim(result.certificate, explained=explained)]


def criterion_lines(result: Comparison) -> list[str]:
    """Say what was found by each criterion; nothing for one score.

    Examples:
        >>> from evenhand import compare
        >>> criterion_lines(compare([3], [2], method="mean", rng=7))
        []
    """
    if not result.criteria:
        return []
    heads = ["criterion", "difference", "95% interval", "p", "p (Holm)"]
    cells = [
        [
            printable(row.name),
            "" if row.difference is None else figure(row.difference),
            ""
            if row.low is None or row.high is None
            else f"{figure(row.low)} to {figure(row.high)}",
            p_value_text(row.p_value),
            p_value_text(row.p_adjusted),
        ]
        for row in result.criteria
    ]
    number = f"{len(result.criteria)} criteria"
    return [
        *align_columns([heads, *cells]),
        "A small p of the total says that one item is better by at least one "
        f"criterion. p (Holm) is corrected for the {number}: it says by which.",
    ]


def picked_chance(result: Comparison) -> float:
    """Return with what probability the item that came out did."""
    of_several = getattr(result, "chances", ())
    chances: tuple[float, ...] = of_several or (result.p_first, 1 - result.p_first)
    return chances[result.items.index(result.winner)]


def randomized_sentence(result: Comparison) -> str:
    """Say that a coin decided, and how it leaned; empty if none did."""
    leans = picked_chance(result) not in (0, 1) and result.decided_by not in COINS
    if not leans and not result.p_first_se:
        return ""
    about = "about " if result.p_first_se else ""
    return (
        f"This rule is randomized: it picks {printable(result.winner)} with "
        f"probability {about}{picked_chance(result):.3g}. That is not the probability "
        "that it is better."
    )


def watch_sentences(result: Comparison) -> list[str]:
    """Say whether a watched comparison is settled, and what that rests on; or nothing.

    Examples:
        >>> from evenhand import compare
        >>> watch_sentences(compare([3], [2], method="mean", rng=7))
        []
    """
    watch = result.sequential
    if watch is None:
        return []
    p_text = p_value_text(watch.p_value)
    odds = f"e-value {watch.e_value:,.3g}, p = {p_text} at every look"
    if watch.settled is None:
        verdict = f"Not settled yet ({odds}): settled at an e-value of"
        verdict += f" {1 / watch.alpha:g}. You may look again as often as you like."
    else:
        verdict = f"After {watch.settled_at:,} scores the e-value reached "
        verdict += f"{1 / watch.alpha:g}: {printable(watch.settled)} is better (p = "
        verdict += f"{p_text} at every look). You may stop; having looked before costs "
        verdict += "nothing."
    sentences = [verdict]
    if watch.interval is not None:
        ends = sorted(_way(result) * end for end in watch.interval)
        low_text, high_text = one_precision(ends)
        level = f"{100 * (1 - watch.alpha):g}%"
        sentences.append(
            f"At all looks together ({level}) the difference is {low_text} to "
            f"{high_text}, assuming a constant shift; without that, some reviewer's is "
            f"at least {low_text} and some reviewer's at most {high_text}."
        )
    return [*sentences, watch_assumptions(result)]


def watch_assumptions(result: Comparison) -> str:
    """Say what evidence at every look rests on."""
    blocks = ""
    if hasattr(result.ratings, "by_time"):
        blocks = " Each day must have been drawn by itself, and nobody may have reacted"
        blocks += " to others of the same day."
    elif result.parameters.get("design") == "matched":
        blocks = " Partners of a pair may not have reacted to each other."
    return (
        "The first p-value is for one planned look, this one for any number. It "
        "assumes that items were assigned in this order with the stated probabilities, "
        "that nobody chose who came next by what they would get, that whoever answered "
        "would have answered in time for the other item too, that noise in a score "
        f"does not depend on the item, and that nobody saw interim results.{blocks}"
    )


def _why(result: Comparison) -> str:
    if result.votes is not None:
        ours, theirs = sorted(result.votes, reverse=True)
        coin = " and a fair coin" if ours == theirs else ""
        return f", by {plural(ours, 'vote')} to {theirs:,}{coin}"
    if result.decided_by == TIE:
        return ", by a coin after a tie"
    article = "a fair " if result.decided_by == "coin" else ""
    return f", by {article}{result.decided_by}"


def means_phrase(result: Comparison) -> str:
    """Return the means of the item that came out and of the other; empty without.

    Examples:
        >>> from evenhand import compare
        >>> means_phrase(compare([3, 4], [1, 2, 2], method="mean", rng=7))
        'mean 3.5 (n 2) against 1.67 (n 3)'
    """
    if result.scores is None or None in result.scores.means:
        return ""
    sides = zip(result.scores.means, result.scores.n, strict=True)
    figures = [f"{figure(mean)} (n {number:,})" for mean, number in sides]
    return "mean " + " against ".join(figures[:: _way(result)])


def _way(result: Comparison) -> int:
    """Return 1 if the first item came out, and -1 if the second did."""
    return 1 if result.winner == result.items[0] else -1


def difference_sentence(result: Comparison) -> str:
    """Say by how much the item that came out is ahead, and how sure that is.

    Examples:
        >>> from evenhand import compare
        >>> found = compare([3, 4, 5, 6], [1, 2, 2, 3], design="halves", rng=7)
        >>> print(difference_sentence(found))
        Difference 2.50 (95% interval 0.00 to 5.00, assuming a constant shift),
        p = 0.0571 (midrank test). It assumes that nobody's decision to answer depended
        on the item they got.
    """
    numbers, parts = ahead(result), list[str]()
    if numbers:
        estimate, *ends = one_precision(numbers)
        parts.append(f"Difference {estimate}")
        if ends:
            parts[0] += f" ({100 * CONFIDENCE:g}% interval {' to '.join(ends)}, "
            parts[0] += "assuming a constant shift)"
    if result.test is None:
        return f"{parts[0]}." if parts else ""
    parts.append(_p_value_phrase(result, result.test))
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}. {p_value_sentence(result, result.test)}"


def p_value_text(value: float | None) -> str:
    """Show a p-value: small ones with one digit, since a second says nothing.

    Examples:
        >>> p_value_text(0.0571), p_value_text(0.00649), p_value_text(0.00046)
        ('0.0571', '0.006', '0.0005')
    """
    if value is None or value >= SMALL_P:
        return figure(value)
    return f"{value:.1g}"


def _p_value_phrase(result: Comparison, test: PValues | ArmsTest) -> str:
    name = {"trimmed": "trimmed mean"}.get(test.statistic, test.statistic)
    about = [f"{name} test", "" if test.exact else "sampled", _by_means(result)]
    return f"p = {p_value_text(result.p_value)} ({', '.join(filter(None, about))})"


def p_value_sentence(result: Comparison, test: PValues | ArmsTest) -> str:
    """Say on what the p-value rests."""
    if any(warning.code == UNEVEN for warning in result.notices):
        return "The p-value does not hold: the counts contradict the design."
    conditions = ["that nobody's decision to answer depended on the item they got"]
    if result.parameters.get("design") is None:
        conditions.insert(0, "random assignment (declare it with --design)")
    if {"excluded", "counted_blindly", "chosen_blindly"} & {
        finding.code for finding in test.assumes
    }:
        conditions.append("that nobody chose by the scores what to compare")
    return f"It assumes {join_plain(conditions)}."


def p_value_paragraph(test: PValues | ArmsTest) -> str:
    """Say what p-values are, and what they are not.

    Examples:
        >>> from evenhand.ab.pvalues import p_values
        >>> print(p_value_paragraph(p_values([3], [1]))[:65])
        The one-sided p-value of an item is the share of the assignments
    """
    drawn = GIVEN_COUNTS.get(test.design)
    if drawn is None:
        drawn = designs.as_design(test.design, designs.TwoItemDesign).redrawn
    sampling = ""
    if not test.exact:
        sampling = (
            f" It is estimated from {test.samples} redraws (standard error at most "
            f"{test.se:.1g}) with the observed assignment counted in, which keeps it "
            "valid."
        )
    return (
        "The one-sided p-value of an item is the share of the assignments that could "
        f"have been drawn ({drawn}) in which the statistic ({test.statistic}) would "
        "have been at least as much in favour of that item, with these scores."
        f"{sampling} If the assignment was drawn in this way, if whoever scored an "
        "item would have scored the other had they got it, and if nothing was chosen "
        "after a look at the scores, then a p-value of at most alpha comes up with "
        "probability at most alpha when the item is no better, whatever increasing "
        "scales reviewers use. The two-sided p-value is twice the smaller one-sided "
        "one. None of them is the probability that an item is better. There are scales "
        "under which even a better item gets a p-value of at most alpha with "
        "probability at most alpha: a large p-value does not show that the items are "
        "equal."
    )


def ahead(result: Comparison) -> list[float]:
    """Return the difference of means, that of the item that came out less the other.

    Its ends follow if they are known; without a difference there is nothing.
    """
    difference, way = result.difference, _way(result)
    if difference is None:
        return []
    ends = (way * end for end in (difference.low, difference.high) if end is not None)
    return [way * difference.estimate, *sorted(ends)]


def _by_means(result: Comparison) -> str:
    """Add the p-value of the interval where it is on the other side of 5%."""
    own, of_means = result.p_value, result.difference and result.difference.p_value
    if own is None or of_means is None or (own > ALPHA) == (of_means > ALPHA):
        return ""
    return f"by means {p_value_text(of_means)}"


def interval_sentences(result: Comparison) -> str:
    """Say what the interval of the difference is, and what it supposes.

    Examples:
        >>> from evenhand import compare
        >>> found = compare([3, 4, 5, 6], [1, 2, 2, 3], design="halves", rng=7)
        >>> interval_sentences(found)[:45]
        'The interval is for the difference of means. '
    """
    difference = result.difference
    if difference is None or difference.low is None:
        return ""
    return (
        "The interval is for the difference of means. It supposes one common scale on "
        "which one item adds the same number to every score, and holds each such "
        "number that the randomisation test of the means does not reject at 5%. If "
        "scales differ, it says nothing on how much better an item is; p-values do not "
        "need it."
    )


def score_shares(
    result: Comparison, *, repeated: bool = False
) -> list[tuple[str, tuple[float, ...]]]:
    """Return each score with the items' shares of it, if few scores differ.

    Args:
        result: The comparison.
        repeated: Whether an item must have more scores than different ones.

    Examples:
        >>> from evenhand import compare
        >>> score_shares(compare([3, 4, 4, 4], [3, 3, 3, 4], rng=7))
        [('3', (0.25, 0.75)), ('4', (0.75, 0.25))]
    """
    scores = result.scores
    if scores is None or scores.levels is None or scores.shares is None:
        return []
    if repeated and min(scores.n) <= len(scores.levels):
        return []
    names = [f"{level:g}" for level in scores.levels]
    return [*zip(names, zip(*scores.shares, strict=True), strict=True)]


def share_decimals(levels: Sequence[tuple[str, tuple[float, ...]]]) -> int:
    """Return with how many decimals per cents show where items differ.

    Examples:
        >>> share_decimals([("1", (0.25, 0.75))]), share_decimals([("1", (0.5, 0.502))])
        (0, 1)
    """
    hidden = [
        abs(first - second) >= 1e-3 and f"{100 * first:.0f}" == f"{100 * second:.0f}"
        for _, shares in levels
        for first, second in itertools.combinations(shares, 2)
    ]
    return int(any(hidden))


def share_lines(result: Comparison) -> list[str]:
    """Lay out the share of each score, if there are few different ones."""
    levels = score_shares(result)
    places = share_decimals(levels)
    rows = [("", "score", *(score for score, _ in levels))]
    for side, item in enumerate(result.items):
        cells = (f"{100 * shares[side]:.{places}f}%" for _, shares in levels)
        rows.append(("", shorten(item, LONG_NAME), *cells))
    return [line[2:] for line in align_columns(rows)] if levels else []


def headline(
    result: Ranking | Comparison, *, html: bool = False
) -> tuple[str, list[str]]:
    """Say what was decided, and what is in, open and out: the same wherever it is read.

    Args:
        result: The decision.
        html: Whether it is for a page.

    Returns:
        The sentence above a decision, and those that follow it.

    Examples:
        >>> from evenhand import compare
        >>> print(*headline(compare([7, 9, 4], [6, 3, 5], design="halves", rng=1)))
        A comes out ahead of B ['Mean 6.67 (n 3) against 4.67 (n 3).', "Difference \
2.00, p = 0.4 (midrank test). It assumes that nobody's decision to answer depended on \
the item they got."]
    """
    decision: Any = result  # of either kind, or what `from_json` made
    if not hasattr(decision, "winner"):
        return verdict(decision), cut_lines(decision, html=html)
    show = name if html else plain_name
    titles = getattr(decision.ratings, "titles", {})
    sides = [show(item, titles.get(item)) for item in decision.items][:: _way(decision)]
    text = Markup("{} comes out ahead of {}") if html else "{} comes out ahead of {}"
    if getattr(decision, "pairs", ()):
        shown = [show(item, titles.get(item)) for item in arms.order_of(decision)]
        behind = (join_names if html else join_plain)(shown[1:])
        statements = [arms.shown_sentence(decision)]
        statements += arms.watched_sentences(decision)[:1]
        return text.format(shown[0], behind), statements
    if picked_chance(decision) < 0.5:
        text += ", by a rare draw: the scores favour {}"
        sides.append(sides[1])
    means = means_phrase(decision)
    statements = [f"{means[:1].upper()}{means[1:]}." if means else ""]
    statements.append(difference_sentence(decision))
    return text.format(*sides), [*filter(None, statements)]


def from_json(
    result: Mapping[str, Any], titles: Mapping[str, str], unrated: Sequence[str]
) -> Any:  # noqa: ANN401 - what sentences need of a result
    """Return a result that was kept as JSON, for the sentences about it.

    Args:
        result: A ranking or a comparison, by its fields.
        titles: Titles of items.
        unrated: Items that were not judged.
    """
    parts = {
        part: SimpleNamespace(**result[part])
        for part in ("top", "difference", "scores", "test", "intervals")
        if result.get(part) is not None
    }
    if "test" in parts:
        # An evaluation compares all that it has: nothing was left out or picked.
        parts["test"].assumes = ()
    ratings = SimpleNamespace(titles=titles, unrated_labels=tuple(unrated))
    fields = {
        "titles": titles,
        "items": [
            SimpleNamespace(**{"rank_low_all": None, **row})
            if isinstance(row, dict)
            else row
            for row in result["items"]
        ],
        "ratings": ratings,
        "by_share": str(result["parameters"].get("top")).startswith("share="),
        "notices": [SimpleNamespace(**row) for row in result["warnings"]],
        "uncertainty": parts.get("intervals"),
    }
    return SimpleNamespace(**{**result, **parts, **fields})


def verdict(result: Ranking) -> str:
    """Say in one sentence what a ranking decided, and what it left open.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [3, 2, 5, 1])
        >>> verdict(rank(ratings, method="mean-rank", top=1, rng=7))
        '1 of 3 is in, and none is too close to call.'
        >>> verdict(rank(ratings, method="mean-rank", rng=7))
        '3 items ranked, each distinguished from the next.'
    """
    top, total = result.top, len(result.order)
    if top is None:
        statement = _order_verdict(result).removesuffix(".")
    elif top.k >= total:
        statement = f"All {plural(total, 'item')} chosen"
    elif not (top.inside or top.open or top.out):
        statement = f"The best {top.k:,} of {total:,} by method {result.method}"
        statement += ", which cannot say how clearly"
    else:
        statement = _cut_verdict(top.k, total, len(top.inside), len(top.open))
    unjudged = len(_unrated_line(result))
    more = (
        f"; {unjudged:,} {'was' if unjudged == 1 else 'were'} not judged"
        if unjudged
        else ""
    )
    return f"{statement}{more}."


def _unrated_line(result: Ranking) -> Sequence[Label]:
    return getattr(result.ratings, "unrated_labels", ())


def _cut_verdict(k: int, total: int, inside: int, rivals: int) -> str:
    """Say how clear a cut is."""
    places_left = k - inside
    sure = f"{inside:,} of {total:,} {'is' if inside == 1 else 'are'} in"
    if not rivals:
        return f"{sure}, and none is too close to call"
    if not places_left:
        reach = "reaches" if rivals == 1 else "reach"
        return f"{sure}, and {rivals:,} more {reach} the cut"
    compete = f"{rivals:,} {'competes' if rivals == 1 else 'compete'} for"
    if not inside:
        few = {1: "the one place", 2: "both places"}
        places = few.get(places_left, f"all {places_left:,} places")
        return f"None of {total:,} is safely in; {compete} {places}"
    places = "place" if places_left == 1 else f"{places_left:,} places"
    return f"{sure}; {compete} the other {places}"


def _order_verdict(result: Ranking) -> str:
    """Say how far an order without a cut is settled."""
    total = len(result.order)
    ranked, groups = f"{plural(total, 'item')} ranked", len(result.buckets)
    if total == 1:
        return "1 item: there is nothing to rank."
    if result.items[0].bucket is None:
        return f"{ranked} by method {result.method}."
    if groups == 1:
        return f"{ranked}, but the ratings distinguish no two of them clearly."
    if groups == total:
        return f"{ranked}, each distinguished from the next."
    return f"{ranked}, in {groups:,} groups that the ratings cannot order further."


def crossing_items(result: Ranking) -> list[RankedItem]:
    """Return what is too close to call as an agenda, nearest to the cut first.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a"] * 3 + ["b"] * 3, [*"xyzxzy"], [3, 2, 1, 3, 2, 1])
        >>> [row.rank for row in crossing_items(rank(ratings, top=2, rng=7))]
        [2, 3]
    """
    crossing = [row for row in result.items if row.side == "open"]
    cut = 0.5 + (0 if result.top is None else result.top.k)
    return sorted(crossing, key=lambda row: abs(row.rank - cut))


def expected_sentence(result: Ranking) -> str:
    """Say how many of those chosen belong there; empty where nothing is close.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a"] * 3 + ["b"] * 3, [*"xyzxzy"], [3, 2, 1, 3, 2, 1])
        >>> expected_sentence(rank(ratings, top=2, rng=7))
        'Of the top 2 by rank, about 1.5 belong there (model estimate).'
    """
    top = result.top
    if top is None or not top.open or len(top.inside) == top.k:
        return ""
    chosen = {*top.items}
    shares = [row.p_top for row in result.items if row.item in chosen]
    if None in shares:
        return ""
    mean = sum(share or 0.0 for share in shares)
    way = "share" if result.by_share else "rank"
    if top.k == 1:
        belongs = f"it belongs there in {100 * mean:.0f}% of draws"
        return f"If you take the first by {way}, {belongs} (model estimate)."
    belongs = f"about {mean:,.1f} belong there (model estimate)"
    return f"Of the top {top.k:,} by {way}, {belongs}."


def cut_lines(result: Ranking, most: int = NAMED, *, html: bool = False) -> list[str]:
    """Say which items are in, too close to call and out, before anything else.

    Args:
        result: The ranking.
        most: How many items of a kind are named.
        html: Whether it is for a page.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [3, 2, 5, 1])
        >>> print(*cut_lines(rank(ratings, method="mean-rank", top=1, rng=7))[:2])
        In (1): x. Out (2).
    """
    top = result.top
    # Names may hold markup; the rest of a sentence does not.
    text, show, join = (
        (Markup, name, join_names) if html else (str, plain_name, join_plain)
    )

    def names(items: Sequence[Label]) -> str:
        titles = {item: shorten(title, TITLE) for item, title in result.titles.items()}
        return join([show(item, titles.get(item)) for item in items], most)

    first = [row.item for row in result.items if row.rank_low_all == 1]
    together = []
    if first:
        may = f"{plural(len(first), 'item')} may be first (95%, all statements at once)"
        together = [text("{}: {}.").format(text(may), names(first)), text(AT_ONCE)]
    if top is None:
        return together
    lost, unrated = [*together], _unrated_line(result)
    if unrated:
        lost += [text("Not judged ({:,}): {}.").format(len(unrated), names(unrated))]
    if not (top.inside or top.open or top.out):
        why = f"Method {result.method} gives no intervals of ranks for these ratings"
        why = text(f"{why}, so it cannot say which of them are clear.")
        best = text("The best {:,}: {}.").format(top.k, names(top.items))
        return [best, why, *lost]
    places_left, crossing = top.k - len(top.inside), {*top.open}
    places = plural(places_left, "place") if places_left else "no place left"
    groups = {f"In ({len(top.inside):,})": top.inside}
    agenda = tuple(row.item for row in crossing_items(result))
    close = plural(len(top.open), "item")
    groups[f"Too close to call ({close}, {places})"] = agenda
    pairs = ((head, names(items)) for head, items in groups.items() if items)
    lines = [text("{}: {}.").format(*pair) for pair in pairs]
    if top.open and places_left:
        chosen = [show(item) for item in top.items if item in crossing]
        by = "By share" if result.by_share else "By rank"
        go = (
            "the place goes to"
            if places_left == 1
            else f"the {places_left:,} places go to"
        )
        lines.append(text("{} alone, {} {}.").format(by, go, join(chosen, most)))
        lines += filter(None, [text(expected_sentence(result))])
    lines += [text(f"Out ({len(top.out):,}).")] if top.out else []
    sure = result.uncertainty
    if top.open and sure is not None:
        ranks = f"the item's {100 * sure.level:g}% rank interval crosses the cut"
        rows = (row for row in result.items if row.item in crossing)
        ends = ((row.rank_low or 0, row.rank_high or 0) for row in rows)
        across = all(low <= top.k < high for low, high in ends)
        beyond = "" if across else ", or lies on the other side of it than its rank"
        lines.append(text(f'"Too close to call": {ranks}{beyond}.'))
    return [*lines, *lost]


def weighting_lines(
    result: Ranking, most: int = CLOSEST, *, html: bool = False
) -> list[str]:
    """Say what the weights of criteria decide; nothing for one score or no cut.

    Examples:
        >>> import polars as pl
        >>> from evenhand import rank
        >>> frame = pl.DataFrame({"judge": list("aabb"), "item": list("xyxy"),
        ...                       "taste": [5, 2, 4, 2], "looks": [1, 3, 2, 4]})
        >>> by = {"method": "mean", "top": 1, "rng": 7}
        >>> for line in weighting_lines(rank(frame, score=["taste", "looks"], **by)):
        ...     print(line)
        Weights: none of the 1 is in for every weighting.
        x is in unless taste counts for less than 44% (in for 56.1% of all weightings).
        y comes in if taste counts for less than 44% (in for 43.9% of all weightings).
    """
    decided = result.weightings
    if decided is None:
        return []
    show = name if html else plain_name

    def item_name(item: Label) -> str:
        return str(show(item, result.titles.get(item)))

    always = decided.always
    sure = "none" if not always else f"{len(always)}"
    verb = "are" if len(always) > 1 else "is"
    lines = [f"Weights: {sure} of the {decided.k} {verb} in for every weighting."]
    near = []
    for item, portion in decided.portion.items():
        limits = []
        # Of two criteria one says it all.
        named_by = decided.names[:1] if len(decided.names) == 2 else decided.names
        for criterion, share in zip(named_by, decided.shares, strict=False):
            ends = decided.now(criterion, item)
            if ends is None:
                limits += _ways_in(
                    criterion, share, decided.ranges[criterion].get(item, ())
                )
                continue
            low, high = ends
            limits += [
                (high - share, f"{criterion} counts for more than {high:.0%}")
            ] * (high < 1)
            limits += [(share - low, f"{criterion} counts for less than {low:.0%}")] * (
                low > 0
            )
        if not limits:
            continue
        inside = decided.now(decided.names[0], item) is not None
        texts = " or ".join(text for _, text in sorted(limits))
        how = "is in unless" if inside else "comes in if"
        drawn = f"in for {share_text(portion, certain=False)} of all weightings"
        near.append((min(limits)[0], f"{item_name(item)} {how} {texts} ({drawn})."))
    near.sort(key=lambda line: line[0])
    lines += [text for _, text in near[:most]]
    if len(near) > most:
        lines.append(
            f"{len(near) - most:,} more items come in or leave; --all shows them."
        )
    if not decided.linear:
        alike = (
            f"{decided.agree} of the {decided.k} above are in at the present weights"
        )
        lines.append(
            "Worked out on the estimates by each criterion, added up by their weights: "
            f"{alike}."
        )
    return lines


def _ways_in(
    criterion: str, share: float, ranges: Iterable[tuple[float, float]]
) -> list[tuple[float, str]]:
    """Say at which weights of a criterion an item that is out comes in."""
    ways = []
    for low, high in ranges:
        more = low > share
        away, bound = (low - share, low) if more else (share - high, high)
        word = "more" if more else "less"
        ways.append((away, f"{criterion} counts for {word} than {bound:.0%}"))
    return ways


def ranking_text(result: Ranking) -> str:
    r"""Show a ranking as text: the decision, then the rows around what is open.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> found = ranking_text(rank(ratings, method="topological", top=1, rng=7))
        >>> print(*found.splitlines()[:4], sep="\n")
        Ranking by topological, 0 coins, seed 7
        In (1): y.
        Out (1).
        rank  item  ranks  reviews  mean score  share in top 1
    """
    coins = plural(len(result.draws), "coin")
    lines = [f"Ranking by {result.method}, {coins}, seed {result.seed}"]
    lines += cut_lines(result)
    lines += weighting_lines(result)
    shown = tables.window(result)
    layout = tables.ranking(result, shown)
    heads, rows = layout.plain()
    drawn = align_columns(
        [heads, *([shorten(cell, WIDE) for cell in row] for row in rows)]
    )
    for place, row in enumerate(layout.rows, start=1):
        if row.line == "cut":
            drawn.insert(place, f" {layout.cut} ".center(len(drawn[0]), "-"))
    hidden = len(result.items) - len(shown)
    more = [f"{layout.caption}. to_frame() has all."] if hidden else []
    more += [
        warning.message
        for warning in result.notices
        if warning.code == "intervals_by_cluster"
    ]
    return "\n".join([*lines, *drawn, *more])


def pass_lines(result: Grades) -> list[str]:
    """Say who is above, below and open at the pass mark; nothing without one.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> for line in pass_lines(grade(ratings, passing=3, rng=7)):
        ...     print(line)
        Pass mark 3: 1 safely above, 1 safely below, 0 too close to call.
        Below: y.
    """
    mark = pass_mark(result)
    if mark is None:
        return []
    above, below, still = map(result.at, ("above", "below", "open"))
    marks = {row.item: row.mark for row in result.items}
    still = tuple(sorted(still, key=lambda item: abs(marks[item] - mark)))
    sure = f"{len(above)} safely above, {len(below)} safely below"
    by = " in total and by each criterion" if "pass_each" in result.parameters else ""
    lines = [f"Pass mark {mark:g}{by}: {sure}, {len(still)} too close to call."]
    for word, items in (("Too close to call", still), ("Below", below)):
        names = [plain_name(item, result.titles.get(item)) for item in items]
        lines += [f"{word}: {join_plain(names, NAMED)}."] if items else []
    return lines


def model_lines(result: Grades, *, explained: bool = False) -> list[str]:
    """Say which model marks come from, what they stand for, and what they may claim.

    Args:
        result: The marks.
        explained: Whether --explain already shows the rest of the claim.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> print(model_lines(grade(ratings, rng=7))[1])
        Marks are on the scale of the scores.
    """
    parameters = result.parameters
    anchors = [row.mark for row in result.items if row.anchor]
    scale = "Marks are on the scale of the scores."
    if anchors and parameters["link"] == "regression":
        marks = plural(len(anchors), "item")
        scale = f"Marks are what people would give, by their marks of {marks}."
    elif anchors:
        fixed = "level and spread" if len(set(anchors)) > 1 else "level"
        scale = f"The marks of {plural(len(anchors), 'anchor')} fix their {fixed}."
    elif parameters["onto"] not in (None, result.form) and result.form is not None:
        (low, high), (least, most) = parameters["onto"], result.form  # type: ignore[misc]  # two numbers
        origin = (
            "" if parameters["form"] else ", the lowest and highest that were given"
        )
        scale = f"Marks {low:g} to {high:g} stand for scores {least:g} to {most:g}"
        scale += f"{origin}."
    return [
        f"Model: {result.method}. {result.because[:1].upper()}{result.because[1:]}.",
        scale,
        result.assumes,
        claim(result.certificate, explained=explained),
    ]


SUPPORTED = {
    "judges": "Judges' errors do not clearly differ between groups (p = {p_value:.2g})"
    ", so the labels do not contradict trusting judges alone. The intervals of the "
    "means need no such trust.",
    "difference": "Judges' errors differ between groups (p = {p_value:.2g}): do not "
    "trust judges alone. Corrected by people's marks they still shorten intervals.",
    "people": "Judges hardly shorten the intervals of people's marks alone: go by "
    "these.",
}
DRAWN = {"drawn": "as the record says", "declared": "as you declared"}


def means_lines(result: Grades) -> list[str]:
    """Say what mean marks rest on, and what more labels would do."""
    if (means := result.means) is None:
        return []
    sentences = [
        f"{100 * CONFIDENCE:g}% of intervals contain the mean of the marks that people "
        "would give all items of a group, whatever judges do, because the marked items "
        f"were drawn at random ({DRAWN[means.sample]}).",
        SUPPORTED[means.supported].format(p_value=means.p_value),
    ]
    if means.pair is not None:
        pair = " and ".join(map(str, means.pair))
        sentences.append(
            f"About {means.further:,} more labels of each of {pair} would separate "
            "them, if they differ as much as it seems (with a probability of 80%)."
            if means.further
            else f"Not even marks of all items would separate {pair}."
        )
    return sentences


def grades_text(result: Grades) -> str:
    """Show marks as plain text, as `repr` does."""
    if result.means is not None:
        heads, rows = tables.group_means(result.means).plain()
        return "\n".join([*align_columns([heads, *rows]), *means_lines(result)])
    heads, rows = tables.grades(result).plain()
    more = [f"and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else []
    lines = align_columns([heads, *rows[:SHOWN]])
    return "\n".join([*pass_lines(result), *lines, *more, *model_lines(result)[:3]])


def pass_mark(result: Grades) -> float | None:
    """Return the mark that was asked for, if any."""
    mark = result.parameters["passing"]
    return mark if isinstance(mark, float) else None


def grades_verdict(result: Grades) -> str:
    """Say in one sentence what the marks decide.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> grades_verdict(grade(ratings, rng=7))
        '2 items marked, from 1.05 to 5.00.'
    """
    high, low = one_precision([result.items[end].mark for end in (0, -1)])
    marked = f"{plural(len(result.items), 'item')} marked, from {low} to {high}."
    return next(iter(pass_lines(result)), marked)

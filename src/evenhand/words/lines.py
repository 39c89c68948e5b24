"""A result in a few lines: numbers first, then the sentence that matters.

Terminals and `repr` show these; what explains them stands in the templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from evenhand.claims import NONE
from evenhand.errors import aligned, counted, printable
from evenhand.words.text import joined, name, plain_joined, plain_name, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Certificate, Label
    from evenhand.ranking.results import Ranking

TIE = "tie coin"
# Items named in a sentence, characters of their titles, and of a cell.
NAMED, TITLE, WIDE = 12, 40, 60


def claim(certificate: Certificate | None) -> str:
    """Say in a sentence what an answer may claim.

    Examples:
        >>> from evenhand.claims import Claim, Finding, certify
        >>> claim(certify(Claim("G", "never worse than a coin")))
        'Claim: Never worse than a coin (Theorem G).'
        >>> claim(certify(Claim("G", "better"), [Finding("declared", "a random draw")]))
        'Claim: Better (Theorem G). This rests on 1 assumption; see --explain.'
    """
    if certificate is None:
        return "Claim: none."
    verified = [text for text in certificate.checked if text.endswith("verified")]
    more = "".join(f" Checked: {text}." for text in verified)
    if certificate.declared and certificate.theorem != NONE:
        number = counted(len(certificate.declared), "assumption")
        more += f" This rests on {number}; see --explain."
    elif certificate.sentence != certificate.brief:
        more += " For more, see --explain."
    return f"Claim: {certificate.brief}{more}"


def comparison_lines(result: Comparison) -> list[str]:
    """Say which of two items is ahead, how sure that is, and what it may claim.

    Examples:
        >>> from evenhand import compare
        >>> print(*comparison_lines(compare([3], [2], method="mean", rng=7))[:1])
        A comes out ahead of B, by means.
    """
    first, second = (printable(item) for item in result.items)
    winner = printable(result.winner)
    loser = second if winner == first else first
    lines = [f"{winner} comes out ahead of {loser}{_why(result)}."]
    lines += _p_values(result, first, second)
    about = "about " if result.p_first_se else ""
    lines.append(
        f"Given these scores the rule picks {first} with probability {about}"
        f"{result.p_first:.3g}. This is randomisation, not the probability that it is "
        "better."
    )
    if result.error_bound is not None:
        effect = result.error_bound["effect"]
        lines.append(
            "No difference is large enough to bound the mean's error by 5 %."
            if effect is None
            else "The mean errs with probability at most 5 % if scores differ by "
            f"{effect:.3g} or more on average."
        )
    return [*lines, claim(result.certificate)]


def _why(result: Comparison) -> str:
    if result.votes is not None:
        ours, theirs = sorted(result.votes, reverse=True)
        coin = " and a fair coin" if ours == theirs else ""
        return f", by {counted(ours, 'vote')} to {theirs}{coin}"
    if result.decided_by == TIE:
        return ", by a fair coin after a tie"
    article = "a fair " if result.decided_by == "coin" else ""
    return f", by {article}{result.decided_by}"


def _p_values(result: Comparison, first: str, second: str) -> list[str]:
    test = result.test
    if test is None:
        return []
    how = "exact" if test.exact else "sampled"
    if result.parameters.get("design") is None:
        how += ", if reviewers were assigned at random, which nobody declared"
    else:
        how += ", on any increasing scales"
    return [
        f"p = {test.p_value:.3g} two-sided, {test.p_value_first:.3g} for {first}, "
        f"{test.p_value_second:.3g} for {second} ({how})."
    ]


def cut_lines(result: Ranking, most: int = NAMED, *, html: bool = False) -> list[str]:
    """Say which items are in, open and out, before anything else.

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
    if top is None:
        return []
    # Names may hold markup; the rest of a sentence does not.
    text, show, join = (
        (Markup, name, joined) if html else (str, plain_name, plain_joined)
    )

    def names(items: Sequence[Label]) -> str:
        titles = {item: shortened(it, TITLE) for item, it in result.titles.items()}
        return join([show(item, titles.get(item)) for item in items], most)

    if not (top.inside or top.open or top.out):
        return [
            text("The best {:,}: {}.").format(top.k, names(top.items)),
            text(
                f"Method {result.method} gives no intervals of ranks for these ratings,"
                " so it cannot say which of them are clear."
            ),
        ]
    left, crossing = top.k - len(top.inside), {*top.open}
    places = f"for {counted(left, 'place')}" if left else "with no place left"
    heads = (f"In ({len(top.inside):,})", f"Open ({len(top.open):,} {places})")
    lines = [
        text("{}: {}.").format(head, names(items))
        for head, items in zip(heads, (top.inside, top.open), strict=True)
        if items
    ]
    lines += [text(f"Out ({len(top.out):,}).")] if top.out else []
    if top.open and left:
        go = "open place goes" if left == 1 else f"{left:,} open places go"
        rest = [show(item) for item in top.items if item in crossing]
        lines.append(text("By rank the {} to {}.").format(go, join(rest, most)))
    sure = result.uncertainty
    if top.open and sure is not None:
        ranks = f"its {100 * sure.level:g} % interval of ranks goes"
        if sure.level == 1:
            ranks = "the ranks that the comparisons allow it go"
        lines.append(text(f"An item is open if {ranks} across the cut."))
    return lines


def ranking_lines(result: Ranking) -> list[str]:
    """Say where another method differs, and the claim.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> print(ranking_lines(rank(ratings, method="safe", top=1, rng=7))[0])
        Method 'adaptive' chooses the same.
    """
    lines, top = [], result.top
    if top is not None and top.opinion:
        lines.append(top.opinion)
    if result.eta_price:
        lines.append(
            f"Settling near ties costs at most {result.eta_price:.3g} in expected "
            "Kendall tau, if every true ranking is equally likely."
        )
    return [*lines, claim(result.certificate)]


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
    from evenhand.words import tables  # noqa: PLC0415 - of rankings alone

    coins = counted(len(result.draws), "coin")
    lines = [f"Ranking by {result.method}, {coins}, seed {result.seed}"]
    lines += cut_lines(result)
    if not result.items:
        return lines[0]
    shown = tables.window(result)
    made = tables.ranking(result, shown)
    heads, rows = made.plain()
    drawn = aligned([heads, *([shortened(it, WIDE) for it in row] for row in rows)])
    for place, row in enumerate(made.rows, start=1):
        if "cut" in row.attributes:
            drawn.insert(place, f" {made.cut} ".center(len(drawn[0]), "-"))
    left = len(result.items) - len(shown)
    more = [f"{made.caption}. to_frame() has all."] if left else []
    return "\n".join([*lines, *drawn, *more])

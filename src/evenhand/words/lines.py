"""A result in a few lines: numbers first, then the sentence that matters.

Terminals and `repr` show these; what explains them stands in the templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.claims import NONE
from evenhand.errors import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Certificate, Label
    from evenhand.ranking.results import Ranking

TIE = "tie coin"
CUT = "--- cut ---"
LOT = " It settles part of its order at random, so another seed may choose differently."


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


def ranking_lines(result: Ranking) -> list[str]:
    """Say which items are chosen, where another method differs, and the claim.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> print(ranking_lines(rank(ratings, method="mean", top=1, rng=7))[0])
        The best 1: y.
    """
    lines, top = [], result.top
    if top is not None:
        lines.append(f"The best {top.k}: {_names(top.items)}.")
        if top.other is not None and not top.only_here:
            lines.append(f"Method {top.other} chooses the same.")
        elif top.other is not None:
            lot = LOT if top.other == "safe" else ""
            there, here = _names(top.only_there), _names(top.only_here)
            lines.append(f"Method {top.other} has {there} instead of {here}.{lot}")
    if result.eta_price:
        lines.append(
            f"Settling near ties costs at most {result.eta_price:.3g} in expected "
            "Kendall tau, if every true ranking is equally likely."
        )
    return [*lines, claim(result.certificate)]


def _names(items: Iterable[Label]) -> str:
    return ", ".join(printable(item) for item in items)

"""The top part of every result for people: the decision and what it may claim.

Notebooks show a card as it is; a report's page begins with the same words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from evenhand.claims import NONE
from evenhand.diagnosis.check import TOLD, Check
from evenhand.method import methods
from evenhand.ranking.methods import Model
from evenhand.words import claims, findings, tables
from evenhand.words.lines import (
    headline,
    model_lines,
    p_value_text,
    pass_lines,
    picked_chance,
)
from evenhand.words.text import name, notice, plain_name, sentences, templates

if TYPE_CHECKING:
    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Certificate
    from evenhand.grading import Grades
    from evenhand.ranking.results import Ranking
    from evenhand.ranking.selection import Selection

# What is assumed, for a committee.
ADAPTIVE = "reviewers differ in how strict they are, about as much as the ratings show"
ORDERS = "the better of two items is more often ranked above the other"
UNKNOWN = (
    "reviewers use one and the same scale where these ratings cannot tell how strict "
    "they are"
)
# Notices about which the reader should do something; they come first.
URGENT = (
    *("anchors_differ", "confounded", "counts_contradict_design", "equal_scores"),
    *("extreme_score",),
    *("groups_unknown", "missing_scores", "no_information", "no_spread", "no_theorem"),
    *("not_converged", "one_rating_reviewers", "scores_mislead"),
    *("separate_groups", "shared_names", "submissions_unknown", "unlinked_groups"),
    *("unmatched_scores", "unrated_items"),
)


@dataclass(frozen=True, slots=True)
class Card:
    """What a reader must see first.

    Attributes:
        title: The decision in a line.
        decision: Sentences that say what was decided, from what.
        may: What may be claimed, in plain words.
        may_not: What may not.
        notices: What the reader must know.
        urgent: Whether there is something to be done about it.
        certificate: The certificate, if there is one.
        table: The table that goes with it in a notebook.
    """

    title: str
    decision: tuple[str, ...]
    may: tuple[str, ...]
    may_not: tuple[str, ...]
    notices: tuple[str, ...]
    certificate: Certificate | None = None
    table: tables.TextTable | None = None
    urgent: bool = False

    def html(self) -> str:
        """Lay it out for a notebook: no script, and no colour that a theme may fight.

        Examples:
            >>> from evenhand import compare
            >>> page = comparison_card(compare([7, 9, 4], [6, 3, 5], rng=1)).html()
            >>> "<script" in page, "color:" in page
            (False, False)
        """
        return templates().get_template("card.html.j2").render(card=self)

    def lines(self) -> list[str]:
        """List its sentences, for a terminal; of a card in plain text."""
        return [
            *self.decision,
            "What this may claim:",
            *(f"  {sentence}" for sentence in self.may),
            "What it may not claim:",
            *(f"  {sentence}" for sentence in self.may_not),
        ]


def comparison_card(result: Comparison, *, html: bool = True) -> Card:
    """Say what a comparison decided, for its report and for notebooks.

    Args:
        result: The comparison.
        html: Whether it is for a page.

    Examples:
        >>> from evenhand import compare
        >>> comparison_card(compare([7, 9, 4], [6, 3, 5], rng=1)).title
        Markup('<bdi>A</bdi> comes out ahead of <bdi>B</bdi>')
    """
    titles = getattr(result.ratings, "titles", {})
    verdict, statements = headline(result, html=html)
    return build_card(
        "arms" if result.pairs else "comparison",
        result,
        html=html,
        table=tables.scores(result, titles),
        verdict=verdict,
        chance=picked_chance(result),
        # A terminal has said them before.
        said=" ".join(statements) if html else "",
        p_value_text=p_value_text,
        **_claim_facts(result.certificate, "scores"),
    )


def ranking_card(result: Ranking, *, html: bool = True) -> Card:
    """Say what a ranking decided, for its report and for notebooks.

    Args:
        result: The ranking.
        html: Whether it is for a page.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> ranking_card(rank(ratings, method="mean", top=1, rng=7)).title
        Markup('None of 2 is safely in; 2 compete for the one place.')
    """
    show = name if html else plain_name
    verdict, statements = headline(result, html=html)
    claimed = _claim_facts(result.certificate, "ratings")
    codes = {warning.code for warning in result.notices}
    method = {candidate.name: candidate for candidate in methods("rank")}.get(
        result.method
    )
    by_order = method and issubclass(method, Model) and method.ordinal
    orders = (by_order or result.rho == 1) and not claimed["proved"]
    # A model that weighs scores against orders says by which share.
    shares = result.rho is not None
    assumed = ADAPTIVE if shares or not method else method.assumes
    if orders:
        assumed = ORDERS
    elif codes & {"confounded", "one_rating_reviewers"}:
        assumed = UNKNOWN
    return build_card(
        "ranking",
        result,
        html=html,
        table=tables.ranking(result, tables.window(result)),
        # A terminal has said it above the table.
        first=statements if html else (),
        verdict=verdict,
        kind=getattr(result.ratings, "kind", "scores"),
        names=lambda items: [show(item, result.titles.get(item)) for item in items],
        codes=codes,
        orders=orders,
        unproved=method is not None and method.best.theorem == NONE,
        assumed=assumed,
        **claimed,
    )


def check_card(result: Check) -> Card:
    """Say what a check found, for its report and for notebooks.

    Examples:
        >>> from evenhand import Ratings, check
        >>> card = check_card(check(Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7))
        >>> card.decision[0]
        Markup('2 scores of 2 items by 1 reviewer: 2 per reviewer, 1 per item.')
    """
    return build_card("check", result, verdict=findings.verdict(result))


def grades_card(result: Grades, *, html: bool = True) -> Card:
    """Say what marks stand for, for their report and for notebooks.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> grades_card(grade(ratings, rng=7)).title
        Markup('Marks of 2 items')
    """
    # A terminal has said them before.
    statements = [*pass_lines(result), *model_lines(result)[:2]] if html else []
    return build_card(
        "grades", result, html=html, table=tables.grades(result), said=statements
    )


def build_card(
    template: str,
    result: Comparison | Ranking | Check | Grades | Selection,
    *,
    html: bool = True,
    table: tables.TextTable | None = None,
    **facts: object,
) -> Card:
    """Fill in the sentences of a result, for its page, a notebook or a terminal."""
    facts |= {"html": html, "result": result}
    title, decision, may, may_not = (
        sentences(template, part, facts, html=html)
        for part in ("title", "decision", "may", "may_not")
    )
    certificate = None if isinstance(result, Check) else result.certificate
    omitted = TOLD if isinstance(result, Check) else ()
    shown = [warning for warning in result.notices if warning.code not in omitted]
    shown.sort(key=lambda warning: warning.code not in URGENT)
    notices = tuple(notice(warning.message) for warning in shown)
    urgent = any(warning.code in URGENT for warning in shown)
    return Card(title[0], decision, may, may_not, notices, certificate, table, urgent)


def _claim_facts(certificate: Certificate | None, what: str) -> dict[str, object]:
    """Return what a certificate says in plain words, for templates."""
    if certificate is None:
        return {"proved": False, "reasons": ()}
    declared, weaker = (
        [
            claims.plain_finding(finding)
            for finding in certificate.findings
            if finding.standing == by
        ]
        for by in ("declared", "weaker")
    )
    brief = certificate.brief.removesuffix(".")
    reasons = [claims.reason_sentence(reason) for reason in certificate.voids]
    return {
        "proved": certificate.theorem != NONE,
        "certificate": certificate,
        # No label is in it, so nothing is to be escaped.
        "claim": Markup(claims.plain_claim(certificate)),  # noqa: S704 - ditto
        "averaged": certificate.claim.given in claims.AVERAGED,
        "declared": "; ".join(declared),
        "weaker": "; ".join(weaker),
        "reasons": reasons or (f"Reason: {brief}.",),
        "what": what,
    }

"""What a ranking may claim, and what in its data stands against that.

All claims are conditional on the comparisons, so they rest on scales that are strictly
increasing: a tie within a reviewer voids every one of them, and so does one that would
have come up under another assignment. The scores at hand cannot show that, so it must
be declared. That no number comes up twice does not help: a claim made only then would
be made under some assignments of the same reviewers and not under others, and where it
is made the result could be wrong nearly always.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.claims import (
    ANY_SCALES,
    NONE,
    Certificate,
    Claim,
    Finding,
    assignment_finding,
    certify,
    not_strict,
    selection_findings,
    strictly,
)
from evenhand.designs import PAIR, RANKING_DESIGNS
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.arrays import Codes
    from evenhand.designs.assignment import Declared
    from evenhand.ranking.methods import Answer, RankMethod
    from evenhand.ratings import Ratings

CONSISTENT = (
    f"{ANY_SCALES}, strictly (no reviewer would give two items the same score); "
    "consistent comparisons"
)
RANKING_DESIGN = (
    f"{CONSISTENT}; sets of items of one size, assigned to reviewers at random"
)
COMPARISONS = "given the comparisons"
ANY_RANKING = "any true ranking"
UNIFORM = "every true ranking equally likely"
AS_ANY_ORDINAL = Claim(
    "paper Lemma 1",
    "exactly right as often as any ordinal method can be if every true ranking is "
    "equally likely",
    loss="zero-one",
    baseline="every ordinal method",
    prior=UNIFORM,
    conditional=COMPARISONS,
)
AS_ANY_ORDINAL_AT_WORST = replace(
    AS_ANY_ORDINAL,
    theorem="paper Appendix C",
    says="exactly right as often as any ordinal method can be in the worst case over "
    "true rankings",
    prior=ANY_RANKING,
)
LEAST_SQUARED_RANKS = replace(
    AS_ANY_ORDINAL,
    says="the least expected squared distance of ranks that comparisons alone allow if "
    "every true ranking is equally likely",
    loss="squared ranks",
)
BEATS_ORDINAL = replace(
    AS_ANY_ORDINAL,
    says="exactly right more often than every ordinal method if every true ranking is "
    "equally likely",
    weakly=AS_ANY_ORDINAL.says,
    strict=True,
)
BEATS_UNIFORM = strictly(
    BEATS_ORDINAL,
    "exactly right more often than a uniformly random ordering that respects the "
    "comparisons, whatever the true ranking",
    theorem="paper 8",
    baseline="uniform",
    prior=ANY_RANKING,
)
TIES = strictly(
    Claim("T", "", loss="kendall", prior=ANY_RANKING, conditional=COMPARISONS),
    "closer to the true ranking in expected Kendall tau than with its ties broken at "
    "random, whatever the scales and the true ranking",
    baseline="random tie-breaking",
)
TIES_TWICE = strictly(
    TIES,
    f"{TIES.says}, and exactly right more often where its groups are in the right "
    "order",
    loss="kendall, zero-one",
)
BEATS_ITS_START = strictly(
    TIES,
    "closer on average in Kendall tau and footrule than the ordinal ranking it starts "
    "from if every true ranking is equally likely",
    theorem="paper 7",
    loss="kendall, footrule",
    baseline="the ordinal ranking it starts from",
    prior=UNIFORM,
)
MEANS, MODEL, ORDERS, OWN = (
    Claim(NONE, f"no guarantee{says}")
    for says in (
        ": means compare scales with each other, which may differ",
        ": right only to the extent that reviewers' scales are as it assumes",
        ", but no scale can change its answer: it looks at each reviewer's order only",
        ": evenhand knows nothing about your own function",
    )
)
ADAPTIVE = Claim(
    NONE,
    "adaptive has no guarantee if scales are arbitrary",
    more="Method safe has one if items were assigned at random and nobody ties two "
    "items.",
)
# Without scores method safe has nothing to work with, so it is not held out.
ORDERS_ONLY = Claim(
    NONE,
    "no guarantee",
    more="It uses only orders, so no scale can change it; it is as good as its model.",
)
HOW = "(distinct=True or --design 'NAME(distinct)')"
DISTINCT = "no reviewer would give two items the same score"
WHY_SPLIT = {
    "always": Finding("declared", "split=always was chosen before scores were seen"),
    "first": Finding(
        "checked", "reviewers who made the groups contradict each other themselves"
    ),
    "all": Finding(
        "void",
        "whether to split the reviewers was decided with a look at the scores that "
        "sort the groups. For a guarantee choose safe(split=always) before scores are "
        "seen",
    ),
}


def by_theorem(theorem: str) -> Claim:
    """Claim to beat every ordinal method, by a theorem.

    Examples:
        >>> by_theorem("K").baseline
        'every ordinal method'
    """
    return replace(BEATS_ORDINAL, theorem=theorem)


def _kendall_only(claim: Claim) -> Claim:
    says = TIES.says if claim.strict else TIES.weakly
    return replace(claim, loss=TIES.loss, says=says, weakly=TIES.weakly)


OWN_START = Finding("declared", "a start that does not look at scores")
BY_PROXY = Finding("void", "the order is by a proxy, not by mean ranks")
BY_SAMPLE = Finding(
    "weaker",
    "mean ranks are from sampled orderings",
    lambda claim: replace(claim, says=f"up to sampling error {claim.says}"),
)
ON_AVERAGE = Finding(
    "weaker",
    "with the paper's scan it is proved over random comparisons only",
    lambda claim: replace(claim, conditional="on average over random comparisons"),
)
NO_NOISE = Finding(
    "weaker", "without noise nothing distinguishes equal means", not_strict
)
NOTHING_SETTLED = Finding(
    "weaker",
    "no scores were free to settle anything, so it is its ordinal start",
    not_strict,
)
SPLIT = (
    Finding("checked", "reviewers split at random, without a look at scores"),
    Finding("declared", "noise in scores that has nothing to do with items"),
    Finding(
        "weaker",
        "some reviewers made the groups and only the others sorted them",
        lambda claim: replace(
            _kendall_only(claim), conditional="given the reviewers who made the groups"
        ),
    ),
)
WHOLE = (
    Finding("checked", "no contradiction among the comparisons"),
    Finding("declared", "reviewers order what they see without error"),
)
CONFLICTS = Finding(
    "void",
    "conflicts of interest keep some reviewers from changing places, which the "
    "guarantee needs",
)
ANSWERED = (
    "whoever scored their items would have scored any other set that they might have "
    "been given"
)


def served_again(reused: int) -> Finding:
    """Say that some reviewers' scores settled more than one group, or two of its items.

    Examples:
        >>> served_again(1).text
        '1 reviewer served more than once'
    """
    text = f"{counted(reused, 'reviewer')} served more than once"
    return Finding("weaker", text, _kendall_only)


def ranking_certificate(
    ratings: Ratings,
    method: RankMethod,
    answer: Answer,
    declared: Declared,
    *,
    distinct: bool = False,
) -> Certificate:
    """Work out what a ranking may claim.

    Args:
        ratings: The ratings.
        method: The method.
        answer: What it made of them.
        declared: How items were assigned.
        distinct: Whether it was declared that no reviewer would tie two items.

    Examples:
        >>> from evenhand.designs.assignment import Declared
        >>> from evenhand.ranking.methods import Answer, Topological
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> answer = Answer(np.arange(3))
        >>> ranking_certificate(
        ...     ratings, Topological(), answer, Declared("pairs"), distinct=True
        ... ).theorem
        'paper Lemma 1'
    """
    claim = method.claim(ratings)
    if claim.theorem == NONE:
        return certify(claim, retired=answer.retired)
    if answer.ties is not None and any(draw.anchors for draw in answer.ties.draws):
        claim = replace(claim, theorem="A")
    findings = (
        assignment_finding(declared.design, RANKING_DESIGNS, backing=declared.backing),
        *_tie_findings(ratings, split=answer.split is not None, distinct=distinct),
        *_load_findings(ratings, method, answer, declared),
        *((WHY_SPLIT[answer.split], *SPLIT) if answer.split else WHOLE),
        *((CONFLICTS,) if declared.conflicts and not method.ordinal else ()),
        _answered(declared),
        *declared.departures(),
        *selection_findings(ratings.notices),
        *answer.findings,
    )
    return certify(claim, findings, retired=answer.retired)


def _answered(declared: Declared) -> Finding:
    """Say that nobody's answering depends on their items, and how many did not."""
    missing = counted(declared.missing, "assigned rating")
    seen = f" ({missing} missing)" if declared.missing else ""
    return Finding("declared", f"{ANSWERED}{seen}")


def _tie_findings(
    ratings: Ratings, *, split: bool, distinct: bool
) -> Iterator[Finding]:
    """Say whether scales increase strictly, which all claims but a split's need."""
    tied = ratings.tied_reviewers
    if tied:
        text = f"{counted(tied, 'reviewer')} gave equal scores to several items"
        text += ", although distinct says that nobody would" if distinct else ""
        void = f"{text}, and ties within a reviewer void every ranking guarantee"
    else:
        yield Finding("checked", "no ties within a reviewer")
        text = f"nobody declared that {DISTINCT} {HOW}"
        void = f"nobody declared that {DISTINCT}, under any assignment"
    if not tied and (distinct or ratings.kind != "scores"):
        more = ", whatever the noise" if split else ""
        yield Finding("declared", f"{DISTINCT}{more}")
    elif split:
        yield Finding("weaker", text, not_strict)
    else:
        advice = "" if tied else f"If that is so, declare it {HOW}."
        yield Finding("void", void, advice=advice)


def _load_findings(
    ratings: Ratings, method: RankMethod, answer: Answer, declared: Declared
) -> Iterator[Finding]:
    loads = np.bincount(ratings.reviewer_codes)
    even = bool(loads.min() == loads.max())
    enough = even if answer.ties is None else answer.ties.equal_loads
    most = counted(int(loads.max()), "item")
    if declared.design == "pairs" and not _distinct_pairs(ratings, loads):
        text = (
            "the design 'pairs' gives each reviewer two items and no two the same two, "
            "which is not so here"
        )
        yield Finding("void", text)
    elif not method.ordinal and not enough and not declared.whole:
        text = f"reviewers scored from {loads.min()} to {most} each, and the guarantee"
        yield Finding("void", f"{text} needs equal loads")
    elif even:
        yield Finding("checked", f"equal loads: {most} each")
    elif not method.ordinal:
        text = "equal loads of reviewers used for tied items"
        yield Finding("checked", text if enough else "loads as they were drawn")


def _distinct_pairs(ratings: Ratings, loads: Codes) -> bool:
    if not (loads == PAIR).all():
        return False
    # Ratings come by reviewer and item.
    pairs = ratings.item_codes.reshape(-1, PAIR)
    return len(np.unique(pairs, axis=0)) == len(pairs)

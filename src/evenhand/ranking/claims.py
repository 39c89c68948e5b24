"""What a ranking may claim, and what in its data stands against that.

All claims are conditional on the comparisons, so they rest on scales that are strictly
increasing: a tie within a reviewer voids every one of them, and so does one that would
have come up under another assignment. The scores at hand cannot show that, so it must
be declared. That no number comes up twice does not help: a claim made only then would
be made under some assignments of the same reviewers and not under others, and where it
is made the result could be wrong nearly always.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab.claims import UNRESOLVED, weight_finding
from evenhand.catalogue import TIES, methods
from evenhand.certificate import (
    NONE,
    Certificate,
    Claim,
    Finding,
    assignment_finding,
    certify,
    not_strict,
)
from evenhand.designs import PAIR, RANKING_DESIGNS
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.ab.weights import GapWeight
    from evenhand.certificate import Backing
    from evenhand.ratings import Ratings

# Without scores method safe has nothing to work with, so it is not held out.
ORDERS = (
    "no guarantee; no scale can change it, since there are only orders, and it is as "
    "good as the model behind it"
)
CLAIMS = {method.name: method.best for method in methods("rank")}
SPLIT = "some reviewers made the groups and only the others sorted them"
DISTINCT = "no reviewer would give two items the same score"
WHY_SPLIT = {
    "always": Finding("declared", "split=always was chosen before scores were seen"),
    "first": Finding(
        "checked", "reviewers who made the groups contradict each other themselves"
    ),
    "all": Finding(
        "void",
        "whether to split the reviewers was decided with a look at the scores that "
        "sort the groups. For a guarantee choose split=always (--split always) before "
        "scores are seen",
    ),
}
ORDINAL_METHODS = ("topological", "uniform", "mean-rank")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a ranking beside its ratings.

    Attributes:
        method: Name of the method.
        design: How items were assigned, as declared; None if nobody said.
        backing: What shows that it was drawn so.
        missing: Assigned ratings that are not there.
        conflicts: Whether conflicts of interest kept reviewers from items.
        settled: Number of pairs or groups that scores settled.
        retired: Reviewers whose scores coins used up, None if none are.
        weight: The gap weight, if coins were flipped.
        resolved: Whether floating point tells the gaps from larger ones.
        own_start: Whether the start is a user's function.
        average: Whether the claim holds on average over the comparisons only.
        anchored: Whether scores were taken relative to shared items (Theorem A).
        equal_loads: Whether reviewers who could stand in for each other scored equally
            many items; None asks the same of all reviewers.
        reused: Reviewers whose scores settled more than one group, or two items of one.
        split: Why some reviewers made the groups and others broke ties: "always", since
            it was asked for; "first", since those who made the groups contradict each
            other; "all", since all reviewers do. None without a split.
        distinct: Whether it was declared that no reviewer would tie two items.
        noiseless: Whether ties were broken by bare means.
        sampled: Whether mean ranks are from sampled orderings.
        proxy: Whether they are not mean ranks at all.
        eta_price: Price of overturned neighbours, None if none could be.
    """

    method: str
    design: str | None = None
    backing: Backing = "declared"
    missing: int = 0
    conflicts: bool = False
    settled: int = 0
    retired: int | None = None
    weight: GapWeight | None = None
    resolved: bool = True
    own_start: bool = False
    average: bool = False
    anchored: bool = False
    equal_loads: bool | None = None
    reused: int = 0
    split: str | None = None
    distinct: bool = False
    noiseless: bool = False
    sampled: bool = False
    proxy: bool = False
    eta_price: float | None = None


def ranking_certificate(ratings: Ratings, facts: Facts) -> Certificate:
    """Work out what a ranking may claim.

    Args:
        ratings: The ratings.
        facts: What else is known.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> facts = Facts("topological", "pairs", distinct=True)
        >>> ranking_certificate(ratings, facts).theorem
        'paper Lemma 1'
    """
    claim = CLAIMS[facts.method]
    if claim.theorem == NONE:
        if facts.method == "adaptive" and ratings.kind != "scores":
            claim = replace(claim, says=ORDERS)
        return certify(claim, retired=facts.retired)
    if facts.anchored and claim.theorem == TIES.theorem:
        claim = replace(claim, theorem="A")
    findings = _findings(ratings, facts, claim)
    return certify(claim, findings, retired=facts.retired, eta_price=facts.eta_price)


def _findings(ratings: Ratings, facts: Facts, claim: Claim) -> Iterator[Finding]:
    yield assignment_finding(
        facts.design, claim, RANKING_DESIGNS, backing=facts.backing
    )
    yield from _tie_findings(ratings, facts)
    yield from _load_findings(ratings, facts)
    if facts.split:
        yield WHY_SPLIT[facts.split]
        yield Finding("checked", "reviewers split at random, without a look at scores")
        yield Finding("declared", "noise in scores that has nothing to do with items")
        yield Finding("weaker", SPLIT, _given_the_groups)
    else:
        yield Finding("checked", "no contradiction among the comparisons")
        yield Finding("declared", "reviewers order what they see without error")
    if facts.conflicts and facts.method not in ORDINAL_METHODS:
        yield Finding(
            "void",
            "conflicts of interest keep some reviewers from changing places, which the "
            "guarantee needs",
        )
    if facts.missing:
        yield Finding(
            "declared", "ratings missing for reasons that have nothing to do with items"
        )
    if facts.own_start:
        yield Finding("declared", "a start that does not look at scores")
    if facts.method == "mean-rank" and facts.proxy:
        yield Finding("void", "the order is by a proxy, not by mean ranks")
    elif facts.method == "mean-rank" and facts.sampled:
        yield Finding("weaker", "mean ranks are from sampled orderings", _about)
    if facts.method not in ORDINAL_METHODS:
        yield from _score_findings(facts)


def _score_findings(facts: Facts) -> Iterator[Finding]:
    if facts.weight is not None:
        yield weight_finding(facts.weight)
    if not facts.resolved:
        yield UNRESOLVED
    if facts.average:
        text = "with the paper's scan it is proved over random comparisons only"
        yield Finding("weaker", text, _on_average)
    if facts.reused:
        text = f"{counted(facts.reused, 'reviewer')} served more than once"
        yield Finding("weaker", text, _kendall_only)
    if facts.eta_price and facts.sampled:
        text = "a price of eta that is near enough, from sampled orderings"
        yield Finding("declared", text)
    if facts.noiseless:
        text = "without noise equal means are told apart by nothing"
        yield Finding("weaker", text, not_strict)
    if not facts.settled:
        text = "no scores were free to settle anything, so it is its ordinal start"
        yield Finding("weaker", text, not_strict)


def _tie_findings(ratings: Ratings, facts: Facts) -> Iterator[Finding]:
    """Say whether scales increase strictly, which all claims but a split's need."""
    tied = ratings.tied_reviewers
    if tied:
        text = f"{counted(tied, 'reviewer')} gave equal scores to several items"
        text += ", although distinct says that nobody would" if facts.distinct else ""
        void = f"{text}, and ties within a reviewer void every ranking guarantee"
    else:
        yield Finding("checked", "no ties within a reviewer")
        text = f"nobody declared that {DISTINCT} (distinct=True or --distinct)"
        void = (
            f"a ranking guarantee needs that {DISTINCT}, under any assignment. If "
            "that is so, declare it (distinct=True or --distinct)"
        )
    if not tied and (facts.distinct or ratings.kind != "scores"):
        more = ", whatever the noise" if facts.split else ""
        yield Finding("declared", f"{DISTINCT}{more}")
    elif facts.split:
        yield Finding("weaker", text, not_strict)
    else:
        yield Finding("void", void)


def _load_findings(ratings: Ratings, facts: Facts) -> Iterator[Finding]:
    loads = np.bincount(ratings.reviewer_codes)
    even = bool(loads.min() == loads.max())
    enough = even if facts.equal_loads is None else facts.equal_loads
    if facts.design == "pairs" and not _distinct_pairs(ratings, loads):
        yield Finding(
            "void",
            "the design 'pairs' gives each reviewer two items and no two the same "
            "two, which is not so here",
        )
    elif facts.method not in ORDINAL_METHODS and not enough:
        yield Finding(
            "void",
            f"reviewers scored from {loads.min()} to "
            f"{counted(int(loads.max()), 'item')} each, and the guarantee needs equal "
            "loads",
        )
    elif even:
        yield Finding("checked", f"equal loads: {counted(int(loads[0]), 'item')} each")
    elif facts.method not in ORDINAL_METHODS:
        yield Finding("checked", "equal loads of reviewers used for tied items")


def _distinct_pairs(ratings: Ratings, loads: np.ndarray) -> bool:
    if not (loads == PAIR).all():
        return False
    rows = np.lexsort((ratings.item_codes, ratings.reviewer_codes))
    pairs = ratings.item_codes[rows].reshape(-1, PAIR)
    return len(np.unique(pairs, axis=0)) == len(pairs)


def _given_the_groups(claim: Claim) -> Claim:
    kendall = _kendall_only(claim)
    return replace(kendall, conditional="given the reviewers who made the groups")


def _on_average(claim: Claim) -> Claim:
    return replace(claim, conditional="on average over random comparisons")


def _kendall_only(claim: Claim) -> Claim:
    says = TIES.says if claim.strict else TIES.weakly
    return replace(claim, loss=TIES.loss, says=says, weakly=TIES.weakly)


def _about(claim: Claim) -> Claim:
    return replace(claim, says=f"up to sampling error {claim.says}")

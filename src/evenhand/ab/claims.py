"""What the answer of a comparison may claim: Theorem G and the paper's Theorem 4."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.ab._sides import PAIRED
from evenhand.catalogue import AGAINST_A_COIN, methods
from evenhand.certificate import (
    NONE,
    Certificate,
    Claim,
    Finding,
    assignment_finding,
    certify,
    not_strict,
)
from evenhand.designs import AB_DESIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.ab._sides import Sides
    from evenhand.ab.weights import GapWeight
    from evenhand.certificate import Backing

AVERAGE = "on average over the assignment, not given how many scored each item"
SOMEONE = (
    "at least one reviewer would score the better item higher (if none would, it is "
    "exactly a fair coin)"
)
EVERYONE = "no reviewer would give both items the same score"
UNRESOLVED = Finding(
    "weaker",
    "a gap is beyond what floating point can tell from a larger one",
    not_strict,
)
CLAIMS = {method.name: method.best for method in methods("compare")}
UNPAIRED = ("mean", "median", "trimmed")
# Scores that differ by no more are the same in words.
TINY = 1e-9
EQUAL_DESIGNS = ("halves", "matched")
# Given unequal counts, not every choice of reviewers for an item is equally likely.
GROUPED = ("matched", "panels")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a comparison beside its scores.

    Attributes:
        method: Name of the rule; one of CLAIMS, or a user's own.
        design: How reviewers were assigned, as declared; None if nobody said.
        backing: What shows that it was drawn so.
        missing: Reviewers who were assigned an item and gave no score.
        weight: The gap weight, if the rule votes.
        apart: How far apart floating point needs a reviewer's scores of both items;
            infinite if farther than the scores at hand are.
        vouched: What is said of a user's own rule or statistic, None without one.
    """

    method: str
    design: str | None = None
    backing: Backing = "declared"
    missing: int = 0
    weight: GapWeight | None = None
    apart: float = 0.0
    vouched: str | None = None


def comparison_certificate(sides: Sides, facts: Facts) -> Certificate:
    """Work out what a comparison may claim.

    Args:
        sides: The scores.
        facts: What else is known.

    Examples:
        >>> from evenhand.ab._sides import sides_from_lists
        >>> sides = sides_from_lists([3, 4], [1, 2], None)
        >>> certificate = comparison_certificate(sides, Facts("mean", "halves"))
        >>> certificate.theorem, certificate.strict, certificate.declared[0]
        ('G', False, 'random assignment (halves): declared')
    """
    claim = CLAIMS.get(facts.method, AGAINST_A_COIN)
    if sides.verdict is not None:
        return certify(
            Claim(
                NONE,
                "no theorem is needed: reviewers who scored both items all agree, so "
                "the order is right if their scales are increasing and their scores "
                "free of noise",
            )
        )
    if claim.theorem == NONE:
        return certify(claim)
    if "panels" in (facts.design or "") and claim.theorem.startswith("paper"):
        claim = replace(claim, theorem="G")
    return certify(claim, _findings(sides, facts, claim))


def weight_finding(weight: GapWeight) -> Finding:
    """Say how it is known that a weight increases.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> weight_finding(rational()).text
        'weight rational: strictly increasing by its form'
    """
    if weight.checked_on_grid:
        return Finding("declared", f"weight {weight.name}: checked on a grid")
    return Finding("checked", f"weight {weight.name}: strictly increasing by its form")


def _findings(sides: Sides, facts: Facts, claim: Claim) -> Iterator[Finding]:
    counts = sides.sizes
    if 0 in counts:
        empty = sides.items[counts.index(0)]
        yield Finding("void", f"{empty!r} has no score, so a fair coin decided")
        return
    yield assignment_finding(facts.design, claim, AB_DESIGNS, backing=facts.backing)
    yield from _count_findings(sides, facts)
    yield Finding("declared", "noise in scores does not depend on the item")
    if facts.method not in UNPAIRED and not _paired_by_chance(sides, facts):
        text = "scores were paired blindly, without a look at them"
        yield Finding("declared", text)
    if facts.weight is not None:
        yield weight_finding(facts.weight)
    if facts.vouched is not None:
        yield Finding("declared", facts.vouched.removesuffix("."))
    if facts.apart == math.inf:
        yield UNRESOLVED
    elif claim.strict:
        # Votes that no gap makes certain turn on every score in them.
        certain = facts.weight is not None and facts.weight.limit is not None
        text = EVERYONE if certain else SOMEONE
        if facts.apart > TINY:
            text += f"; differences below {facts.apart:.3g} do not count"
        yield Finding("declared", text)


def _paired_by_chance(sides: Sides, facts: Facts) -> bool:
    """Say whether scores were paired at random, or as they were assigned."""
    if sides.pairing == "random":
        return True
    # A column that contradicts the record of the assignment names other pairs.
    known = sides.groups is not None and sides.groups[0] == sides.groups[1]
    return facts.design == "matched" and known


def _count_findings(sides: Sides, facts: Facts) -> Iterator[Finding]:
    one, two = sides.sizes
    codes = {notice.code for notice in sides.notices}
    allowed = 1 if facts.design == "halves" else 0
    grouped = facts.design in GROUPED
    lost = facts.design in EQUAL_DESIGNS and abs(one - two) > allowed
    if facts.missing or lost or "missing_scores" in codes:
        yield Finding(
            "declared", "scores missing for reasons that have nothing to do with items"
        )
    if "both_dropped" in codes:
        yield Finding(
            "declared",
            "reviewers who scored both items, and are left out, did so by no choice "
            "that has to do with the items",
        )
    if one == two:
        yield Finding("checked", f"equal counts: {one} scores of each item")
    elif facts.method in PAIRED and not grouped:
        text = f"equal counts in the votes: {min(one, two)} scores of each item"
        yield Finding("checked", text)
    else:
        yield Finding(
            "weaker",
            f"the counts are unequal ({one} and {two}), and given such counts "
            f"{'votes and means' if grouped else 'means and medians'} can be "
            "worse than a coin",
            lambda claim: replace(claim, theorem="G", conditional=AVERAGE),
        )

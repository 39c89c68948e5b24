"""What the answer of a comparison may claim: Theorem G and the paper's Theorem 4."""

from __future__ import annotations

import math
from dataclasses import replace
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

    from evenhand.ab._methods import Method, Outcome
    from evenhand.ab._sides import Sides
    from evenhand.ab.weights import GapWeight
    from evenhand.designs.assignment import Declared

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


def comparison_certificate(
    sides: Sides, chosen: Method, declared: Declared, outcome: Outcome
) -> Certificate:
    """Work out what a comparison may claim.

    Args:
        sides: The scores.
        chosen: The rule.
        declared: How reviewers were assigned, as declared, and what shows it.
        outcome: What the rule drew.
    """
    claim = CLAIMS.get(chosen.label, AGAINST_A_COIN)
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
    if "panels" in (declared.design or "") and claim.theorem.startswith("paper"):
        claim = replace(claim, theorem="G")
    return certify(claim, _findings(sides, chosen, declared, outcome, claim))


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


def _findings(
    sides: Sides, chosen: Method, declared: Declared, outcome: Outcome, claim: Claim
) -> Iterator[Finding]:
    counts = sides.sizes
    if 0 in counts:
        empty = sides.items[counts.index(0)]
        yield Finding("void", f"{empty!r} has no score, so a fair coin decided")
        return
    yield assignment_finding(
        declared.design, claim, AB_DESIGNS, backing=declared.backing
    )
    yield from _count_findings(sides, chosen.label, declared)
    yield Finding("declared", "noise in scores does not depend on the item")
    if chosen.label not in UNPAIRED and not _paired_by_chance(sides, declared.design):
        text = "scores were paired blindly, without a look at them"
        yield Finding("declared", text)
    voting = chosen.own is None and chosen.name in ("votes", "guarded")
    if voting:
        yield weight_finding(chosen.weight)
    if outcome.check is not None:
        yield Finding("declared", outcome.check.sentence.removesuffix("."))
    if outcome.apart == math.inf:
        yield UNRESOLVED
    elif claim.strict:
        # Votes that no gap makes certain turn on every score in them.
        certain = voting and chosen.weight.limit is not None
        text = EVERYONE if certain else SOMEONE
        if outcome.apart > TINY:
            text += f"; differences below {outcome.apart:.3g} do not count"
        yield Finding("declared", text)


def _paired_by_chance(sides: Sides, design: str | None) -> bool:
    """Say whether scores were paired at random, or as they were assigned."""
    if sides.pairing == "random":
        return True
    # A column that contradicts the record of the assignment names other pairs.
    known = sides.groups is not None and sides.groups[0] == sides.groups[1]
    return design == "matched" and known


def _count_findings(sides: Sides, method: str, declared: Declared) -> Iterator[Finding]:
    one, two = sides.sizes
    codes = {notice.code for notice in sides.notices}
    allowed = 1 if declared.design == "halves" else 0
    grouped = declared.design in GROUPED
    lost = declared.design in EQUAL_DESIGNS and abs(one - two) > allowed
    if declared.missing or lost or "missing_scores" in codes:
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
    elif method in PAIRED and not grouped:
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

"""What the answer of a comparison may claim: Theorem G and the paper's Theorem 4."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.claims import (
    ANY_SCALES,
    NONE,
    Certificate,
    Claim,
    Finding,
    assignment_finding,
    certify,
    not_strict,
    strictly,
)
from evenhand.designs import AB_DESIGNS, GROUPED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.ab._sides import Sides
    from evenhand.ab.methods import Outcome, Rule
    from evenhand.ab.weights import GapWeight
    from evenhand.claims import Standing
    from evenhand.designs.assignment import Declared

NOT_SEEN = "from counts: reviewers were not seen"
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
AB_DESIGN = (
    f"{ANY_SCALES}; reviewers assigned to the two items at random; noise that does not "
    "depend on the item"
)
WHATEVER = "whatever increasing scales the reviewers use and whatever the values"
BEATS_A_COIN = strictly(
    Claim("G", "", loss="zero-one", baseline="fair coin", prior="any values"),
    f"right more often than a fair coin, {WHATEVER}",
    conditional="given how many scored each item",
)
PAPER_BEATS_A_COIN = replace(BEATS_A_COIN, theorem="paper 4")
AGAINST_A_COIN = not_strict(BEATS_A_COIN)
BASELINE = Claim(
    NONE, "right half of the time, whatever the scores: the baseline itself"
)
AGREED = Claim(
    NONE,
    "no theorem is needed: reviewers who scored both items all agree, so the order is "
    "right if their scales are increasing and their scores free of noise",
)
# Scores that differ by no more are the same in words.
TINY = 1e-9
# By how much the numbers of scores of two items may differ in these designs.
APART = {"halves": 1, "matched": 0}


def comparison_certificate(
    sides: Sides, chosen: Rule, declared: Declared, outcome: Outcome
) -> Certificate:
    """Work out what a comparison may claim.

    Args:
        sides: The scores.
        chosen: The rule.
        declared: How reviewers were assigned, as declared, and what shows it.
        outcome: What the rule drew.
    """
    claim = chosen.best
    if sides.verdict is not None:
        return certify(AGREED)
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
    sides: Sides, chosen: Rule, declared: Declared, outcome: Outcome, claim: Claim
) -> Iterator[Finding]:
    counts = sides.sizes
    if 0 in counts:
        empty = sides.items[counts.index(0)]
        yield Finding("void", f"{empty!r} has no score, so a fair coin decided")
        return
    yield assignment_finding(declared.design, AB_DESIGNS, backing=declared.backing)
    yield from _count_findings(sides, chosen, declared)
    if sides.once is not None:
        standing: Standing = "checked" if sides.once == "checked" else "declared"
        yield Finding(standing, f"{NOT_SEEN}, none of whom gave two of the scores")
    yield Finding("declared", "noise in scores does not depend on the item")
    # A column that contradicts the record of the assignment names other pairs.
    known = sides.groups is not None and sides.groups[0] == sides.groups[1]
    by_chance = sides.pairing == "random" or (declared.design == "matched" and known)
    if chosen.pairs != "none" and not by_chance:
        text = "scores were paired blindly, without a look at them"
        yield Finding("declared", text)
    weight = chosen.weight
    if weight is not None:
        yield weight_finding(weight)
    if outcome.check is not None:
        yield Finding("declared", outcome.check.sentence.removesuffix("."))
    if outcome.apart == math.inf:
        yield UNRESOLVED
    elif claim.strict:
        # Votes that no gap makes certain turn on every score in them.
        certain = weight is not None and weight.limit is not None
        text = EVERYONE if certain else SOMEONE
        if outcome.apart > TINY:
            text += f"; differences below {outcome.apart:.3g} do not count"
        yield Finding("declared", text)


def _count_findings(
    sides: Sides, chosen: Rule, declared: Declared
) -> Iterator[Finding]:
    one, two = sides.sizes
    codes = {notice.code for notice in sides.notices}
    # Of pairs and panels not every choice of reviewers for an item is equally likely.
    grouped = declared.design in GROUPED
    lost = abs(one - two) > APART.get(str(declared.design), math.inf)
    if declared.missing or lost or "missing_scores" in codes:
        text = "scores missing for reasons that have nothing to do with items"
        yield Finding("declared", text)
    yield from declared.departures()
    if "both_dropped" in codes:
        yield Finding(
            "declared",
            "reviewers who scored both items, and are left out, did so by no choice "
            "that has to do with the items",
        )
    if one == two:
        yield Finding("checked", f"equal counts: {one} scores of each item")
    elif chosen.pairs == "only" and not grouped:
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

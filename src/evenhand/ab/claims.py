"""What the answer of a comparison may claim: Theorem G and the paper's Theorem 4."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.ab.law import LISTED
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
from evenhand.designs import AB_DESIGNS, GROUPED
from evenhand.designs.turnout import NEARLY_IMPOSSIBLE, TESTED, Turnout
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.ab._sides import Sides
    from evenhand.ab.methods import Outcome, Rule
    from evenhand.ab.weights import GapWeight
    from evenhand.claims import Label, Standing
    from evenhand.designs.assignment import Declared

NOT_SEEN = "from counts: reviewers were not seen"
AVERAGE = "on average over the assignment, not given how many scored each item"
SOMEONE = (
    "at least one reviewer would score the better item higher (if none would, it is "
    "exactly a fair coin)"
)
EVERYONE = "no reviewer would give both items the same score"
ANSWERED = "whoever scored an item would have scored the other had they got it"
COUNTED_BLINDLY = (
    "the items and scores counted were chosen without a look at the scores"
)
DRAWN_IN_FLOATS = Finding(
    "declared",
    "pairs and votes of so many scores, which are drawn in floating point, follow "
    "their laws exactly",
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


def weight_findings(weight: GapWeight) -> Iterator[Finding]:
    """Say how it is known that a weight increases, whatever the gaps.

    The coins of a weight with an exact form are tossed exactly. Others are rounded, so
    that all large gaps weigh the same: whether a gap at hand is one of them may not
    decide on the claim, or it would be made under some assignments only.

    Examples:
        >>> from evenhand.ab.weights import rational, sigmoid
        >>> [one.text for one in weight_findings(rational())]
        ['weight rational: strictly increasing by its form']
        >>> [one.standing for one in weight_findings(sigmoid())]
        ['weaker']
    """
    if weight.checked_on_grid:
        yield Finding("declared", f"weight {weight.name}: checked on a grid")
    if weight.exact is None:
        text = f"weight {weight.name} is rounded, and cannot tell large gaps apart"
        yield Finding("weaker", text, not_strict)
    else:
        text = f"weight {weight.name}: strictly increasing by its form"
        yield Finding("checked", text)


def p_value_findings(sides: Sides, declared: Declared) -> Iterator[Finding]:
    """What the p-values assume, and the guarantee as well: the design and the draw.

    Args:
        sides: The scores.
        declared: How reviewers were assigned, as declared, and what shows it.
    """
    yield assignment_finding(declared.design, AB_DESIGNS, backing=declared.backing)
    uneven = uneven_turnout(sides, declared)
    if uneven is not None:
        yield Finding("void", f"the counts contradict the design: {uneven}")
    yield Finding("declared", f"{ANSWERED}{_missing_text(sides, declared)}")
    yield from declared.departures()
    yield from selection_findings(sides.notices)
    if sides.once is not None:
        yield Finding("declared", COUNTED_BLINDLY)
        standing: Standing = "checked" if sides.once == "checked" else "declared"
        yield Finding(standing, f"{NOT_SEEN}, none of whom gave two of the scores")
    elif sides.out_of > len(sides.items):
        text = f"the two items, out of {sides.out_of:,}, were chosen without a look at"
        yield Finding("declared", f"{text} the scores")
    if "both_dropped" in {notice.code for notice in sides.notices}:
        yield Finding(
            "declared",
            "reviewers who scored both items, and are left out, did so by no choice "
            "that has to do with the items",
        )
    yield Finding("declared", "noise in scores does not depend on the item")


def p_value_assumptions(sides: Sides, declared: Declared) -> tuple[str, ...]:
    """List what the p-values assume and the scores cannot show, or contradict."""
    found = p_value_findings(sides, declared)
    return tuple(one.text for one in found if one.standing in ("declared", "void"))


def uneven_turnout(sides: Sides, declared: Declared) -> str | None:
    """Say which counts the declared design makes nearly impossible, if it does.

    Examples:
        >>> from evenhand.ab._sides import sides_from_lists
        >>> from evenhand.designs.assignment import Declared
        >>> uneven_turnout(sides_from_lists([5] * 40, [4] * 4, None), Declared("coins"))
        "40 scores of 'A' and 4 of 'B' have probability 1.7e-08 under coins"
    """
    answers, drawn = declared.turnout, declared.assignment
    items: tuple[Label, ...] = sides.items if drawn is None else drawn.items
    if drawn is None and declared.design in TESTED:
        answers = Turnout(sides.sizes)
    if answers is None or answers.probability >= NEARLY_IMPOSSIBLE:
        return None
    of = ["", ""] if answers.given is None else [f" of {n:,}" for n in answers.given]
    one, two = (f"{n:,}{out}" for n, out in zip(answers.answered, of, strict=True))
    lone = " without their partner's" if declared.design == "matched" and drawn else ""
    counts = f"{one} scores{lone} of {items[0]!r} and {two} of {items[1]!r}"
    chance = f"{answers.probability:.2g} under {declared.design}"
    return f"{counts} have probability {chance}"


def _missing_text(sides: Sides, declared: Declared) -> str:
    if declared.missing:
        return f" ({counted(declared.missing, 'assigned score')} missing)"
    one, two = sides.sizes
    lost = abs(one - two) > APART.get(str(declared.design), math.inf)
    seen = lost or any(notice.code == "missing_scores" for notice in sides.notices)
    return " (some scores are missing)" if seen else ""


def _findings(
    sides: Sides, chosen: Rule, declared: Declared, outcome: Outcome, claim: Claim
) -> Iterator[Finding]:
    yield from p_value_findings(sides, declared)
    yield _count_finding(sides, chosen, declared)
    # A column that contradicts the record of the assignment names other pairs.
    known = sides.groups is not None and sides.groups[0] == sides.groups[1]
    by_chance = sides.pairing == "random" or (declared.design == "matched" and known)
    if chosen.pairs != "none" and not by_chance:
        text = "scores were paired blindly, without a look at them"
        yield Finding("declared", text)
    weight = chosen.weight
    if weight is not None:
        yield from weight_findings(weight)
        if max(sides.sizes) > LISTED:
            yield DRAWN_IN_FLOATS
    if outcome.check is not None:
        yield Finding("declared", outcome.check.sentence.removesuffix("."))
    if claim.strict and (weight is None or weight.exact is not None):
        # Votes that no gap makes certain turn on every score in them.
        certain = weight is not None and weight.limit is not None
        yield Finding("declared", EVERYONE if certain else SOMEONE)


def _count_finding(sides: Sides, chosen: Rule, declared: Declared) -> Finding:
    one, two = sides.sizes
    # Of pairs and panels not every choice of reviewers for an item is equally likely.
    grouped = declared.design in GROUPED
    if one == two:
        return Finding("checked", f"equal counts: {one} scores of each item")
    if chosen.pairs == "only" and not grouped:
        text = f"equal counts in the votes: {min(one, two)} scores of each item"
        return Finding("checked", text)
    return Finding(
        "weaker",
        f"the counts are unequal ({one} and {two}), and given such counts "
        f"{'votes and means' if grouped else 'means and medians'} can be "
        "worse than a coin",
        lambda claim: replace(claim, theorem="G", conditional=AVERAGE),
    )

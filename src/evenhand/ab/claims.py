"""What the answer of a comparison may claim: Theorem G and the paper's Theorem 4."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.ab.law import LISTED
from evenhand.claims import (
    ANY_SCALES,
    NONE,
    NOT_STRICT,
    Certificate,
    Claim,
    Finding,
    assignment_finding,
    certify,
    dominance_findings,
    selection_findings,
)
from evenhand.designs.design import names_of
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.ab._sides import Sides
    from evenhand.ab.arms import Arms
    from evenhand.ab.methods import Outcome, Rule
    from evenhand.ab.weights import GapWeight
    from evenhand.claims import Json, Label, Standing
    from evenhand.designs import turnout as turnouts
    from evenhand.designs.design import Declared, TwoItemDesign
else:
    turnouts = lazy("evenhand.designs.turnout")

AB_DESIGN = (
    f"{ANY_SCALES}; reviewers assigned to the two items at random; noise that does not "
    "depend on the item"
)
BEATS_A_COIN = Claim(
    "coin", "G", "zero-one", "fair coin", "any values", given="counts", strict=True
)
PAPER_BEATS_A_COIN = replace(BEATS_A_COIN, theorem="paper 4")
AGAINST_A_COIN = replace(BEATS_A_COIN, strict=False)
BASELINE = Claim("fair_coin")
AGREED = Claim("agreed")
BEST_ARM = replace(BEATS_A_COIN, code="best_arm", baseline="any other item")
# What holds for several items: the law does not change when two of them swap names.
ARM_DESIGNS = ("halves", "coins")


def comparison_certificate(
    sides: Sides, chosen: Rule, declared: Declared[TwoItemDesign], outcome: Outcome
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
    design = declared.design
    if design and design.symmetry == "items" and claim == PAPER_BEATS_A_COIN:
        claim = BEATS_A_COIN
    return certify(claim, _findings(sides, chosen, declared, outcome, claim))


def arms_certificate(
    arms: Arms, chosen: Rule, declared: Declared[TwoItemDesign]
) -> Certificate:
    """Work out what the choice of the best of several items may claim."""
    if chosen.best.theorem == NONE:
        return certify(Claim("fair_arm"))
    claim = replace(BEST_ARM, strict=chosen.best.strict)
    if chosen.follows == "mean":
        claim = replace(claim, code="best_arm_means")
    findings = [*p_value_findings(arms, declared)]
    least, most = min(arms.sizes), max(arms.sizes)
    counts: dict[str, Json] = {"scores": least, "first": least, "second": most}
    if least == most:
        findings.append(Finding("equal_counts", "checked", counts))
    else:
        leaves = {"given": "assignment"}
        counts["grouped"] = False
        findings.append(Finding("unequal_counts", "weaker", counts, leaves=leaves))
    if chosen.weight is not None:
        findings += weight_findings(chosen.weight)
    if claim.strict:
        findings.append(Finding("someone_of_two", "declared"))
    return certify(claim, findings)


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
    facts = {"weight": weight.name}
    if weight.checked_on_grid:
        yield Finding("weight_on_grid", "declared", facts)
    if weight.exact is None:
        yield Finding("weight_rounded", "weaker", facts, leaves=NOT_STRICT)
    else:
        yield Finding("weight_increasing", "checked", facts)


def p_value_findings(
    sides: Sides | Arms, declared: Declared[TwoItemDesign]
) -> Iterator[Finding]:
    """What the p-values assume, and the guarantee as well: the design and the draw.

    Args:
        sides: The scores.
        declared: How reviewers were assigned, as declared, and what shows it.
    """
    yield assignment_finding(
        declared.design_name,
        names_of("compare") if len(sides.sizes) == 2 else ARM_DESIGNS,
        backing=declared.backing,
    )
    uneven = uneven_turnout(sides, declared)
    if uneven is not None:
        yield Finding("contradicted_counts", "void", uneven)
    yield Finding("either_scored", "declared", _missing_facts(sides, declared))
    yield from declared.departures()
    yield from selection_findings(sides.notices)
    if sides.once is not None:
        yield Finding("counted_blindly", "declared")
        standing: Standing = "checked" if sides.once == "checked" else "declared"
        yield Finding("reviewers_not_seen", standing)
    elif sides.out_of > len(sides.items):
        yield Finding("chosen_blindly", "declared", {"items": sides.out_of})
    if "both_dropped" in {notice.code for notice in sides.notices}:
        yield Finding("both_dropped", "declared")
    yield Finding("item_free_noise", "declared")


def p_value_assumptions(
    sides: Sides | Arms, declared: Declared[TwoItemDesign]
) -> tuple[Finding, ...]:
    """List what the p-values assume and the scores cannot show, or contradict."""
    findings = p_value_findings(sides, declared)
    return tuple(
        finding for finding in findings if finding.standing in ("declared", "void")
    )


def uneven_turnout(
    sides: Sides | Arms, declared: Declared[TwoItemDesign]
) -> dict[str, Json] | None:
    """Return the counts that the declared design makes nearly impossible, if it does.

    Examples:
        >>> from evenhand.ab._sides import sides_from_lists
        >>> from evenhand.designs import Coins
        >>> from evenhand.designs.design import Declared
        >>> sides = sides_from_lists([5] * 40, [4] * 4, None)
        >>> uneven_turnout(sides, Declared(Coins()))["answered"]
        [40, 4]
    """
    answers, drawn = declared.turnout, declared.assignment
    items: tuple[Label, ...] = sides.items if drawn is None else drawn.items
    symmetry = None if declared.design is None else declared.design.symmetry
    if drawn is None and symmetry in ("reviewers", "partners"):
        # Of several items those with the fewest and the most scores.
        places = 0, 1
        if len(items) > 2:
            places = (
                sides.sizes.index(min(sides.sizes)),
                sides.sizes.index(max(sides.sizes)),
            )
        items = items[places[0]], items[places[1]]
        answers = turnouts.Turnout((sides.sizes[places[0]], sides.sizes[places[1]]))
    # Of several items the two are the farthest apart of all pairs.
    pairs = math.comb(len(sides.sizes), 2)
    if answers is None or answers.probability * pairs >= turnouts.NEARLY_IMPOSSIBLE:
        return None
    return {
        "items": list(items),
        "answered": list(answers.answered),
        "given": None if answers.given is None else list(answers.given),
        "without_partner": symmetry == "partners" and drawn is not None,
        "probability": answers.probability,
        "design": declared.design_name,
    }


def _missing_facts(
    sides: Sides | Arms, declared: Declared[TwoItemDesign]
) -> dict[str, Json]:
    apart = math.inf if declared.design is None else declared.design.apart
    lost = max(sides.sizes) - min(sides.sizes) > apart
    seen = lost or any(notice.code == "missing_scores" for notice in sides.notices)
    return {"missing": declared.missing, "some_missing": seen}


def _findings(
    sides: Sides,
    chosen: Rule,
    declared: Declared[TwoItemDesign],
    outcome: Outcome,
    claim: Claim,
) -> Iterator[Finding]:
    yield from p_value_findings(sides, declared)
    yield from dominance_findings(sides.notices)
    yield _count_finding(sides, chosen, declared)
    # A column that contradicts the record of the assignment names other pairs.
    same_groups = sides.groups is not None and sides.groups[0] == sides.groups[1]
    design = declared.design
    partners = design is not None and design.symmetry == "partners"
    by_chance = sides.pairing == "random" or (partners and same_groups)
    if chosen.pairs != "none" and not by_chance:
        yield Finding("paired_blindly", "declared")
    weight = chosen.weight
    if weight is not None:
        yield from weight_findings(weight)
        if max(sides.sizes) > LISTED:
            yield Finding("drawn_in_floats", "declared")
    if outcome.check is not None:
        evaluations = outcome.check.evaluations
        facts: dict[str, Json] = {"rule": chosen.display_name, "asked": evaluations}
        yield Finding("rule_checked", "declared", facts)
    if claim.strict and (weight is None or weight.exact is not None):
        # Votes that no gap makes certain turn on every score in them.
        certain = weight is not None and weight.limit is not None
        yield Finding("everyone" if certain else "someone", "declared")


def _count_finding(
    sides: Sides, chosen: Rule, declared: Declared[TwoItemDesign]
) -> Finding:
    n_first, n_second = sides.sizes
    # Of pairs and panels not every choice of reviewers for an item is equally likely.
    grouped = declared.design is not None and declared.design.symmetry != "reviewers"
    if n_first == n_second:
        return Finding("equal_counts", "checked", {"scores": n_first})
    if chosen.pairs == "only" and not grouped:
        return Finding("equal_votes", "checked", {"scores": min(n_first, n_second)})
    return Finding(
        "unequal_counts",
        "weaker",
        {"first": n_first, "second": n_second, "grouped": grouped},
        leaves={"theorem": "G", "given": "assignment"},
    )

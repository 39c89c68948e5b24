"""What a ranking may claim, and what in its data stands against that.

All claims but Theorem M's are conditional on the comparisons, so they rest on scales
that are strictly increasing: a tie within a reviewer voids every one of them, and so
does one that would have come up under another assignment. The scores at hand cannot
show that, so it must be declared. That no number comes up twice does not help: a claim
made only then would be made under some assignments of the same reviewers and not under
others, and where it is made the result could be wrong nearly always.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

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
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.claims import Json
    from evenhand.designs import design as designs
    from evenhand.designs.design import Declared, ManyItemDesign
    from evenhand.ranking.methods import Answer, RankMethod
    from evenhand.ratings import Ratings
else:
    designs = lazy("evenhand.designs.design")

CONSISTENT = (
    f"{ANY_SCALES}, strictly (no reviewer would give two items the same score); "
    "consistent comparisons"
)
RANKING_DESIGN = (
    f"{CONSISTENT}; sets of items of one size, assigned to reviewers at random"
)
ANY_RANKING = "any true ranking"
UNIFORM = "every true ranking equally likely"
AS_ANY_ORDINAL = Claim(
    "as_any_ordinal",
    "paper Lemma 1",
    loss="zero-one",
    baseline="every ordinal method",
    prior=UNIFORM,
    given="comparisons",
)
AS_ANY_ORDINAL_AT_WORST = replace(
    AS_ANY_ORDINAL,
    code="as_any_ordinal_at_worst",
    theorem="paper Appendix C",
    prior=ANY_RANKING,
)
LEAST_SQUARED_RANKS = replace(
    AS_ANY_ORDINAL, code="squared_ranks", loss="squared ranks"
)
BEATS_ORDINAL = replace(AS_ANY_ORDINAL, code="beats_ordinal", strict=True)
BEATS_UNIFORM = replace(
    BEATS_ORDINAL,
    code="beats_uniform",
    theorem="paper 8",
    baseline="uniform",
    prior=ANY_RANKING,
)
TIES = Claim(
    "ties",
    "T",
    loss="kendall",
    baseline="random tie-breaking",
    prior=ANY_RANKING,
    given="comparisons",
    strict=True,
)
TIES_TWICE = replace(TIES, code="ties_twice", loss="kendall, zero-one")
BEATS_ITS_START = replace(
    TIES,
    code="beats_its_start",
    theorem="paper 7",
    loss="kendall, footrule",
    baseline="the ordinal ranking it starts from",
    prior=UNIFORM,
)
ANY_TWO = Claim(
    "any_two",
    "M",
    loss="pairs, kendall",
    baseline="random order",
    prior="any values",
    given="assignment",
)
ANY_TWO_STRICTLY = replace(ANY_TWO, strict=True)
MEANS, MODEL, ORDERS, OWN = map(Claim, ("means", "model", "orders", "own"))
ADAPTIVE, ADAPTIVE_DRAWN = map(Claim, ("adaptive", "adaptive_drawn"))
# Without scores method safe has nothing to work with, so it is not held out.
ORDERS_ONLY = Claim("orders_only")
WHY_SPLIT = {
    "always": Finding("split_always", "declared"),
    "first": Finding("split_by_first", "checked"),
    "all": Finding("split_by_all", "void"),
}


def by_theorem(theorem: str) -> Claim:
    """Claim to beat every ordinal method, by a theorem.

    Examples:
        >>> by_theorem("K").baseline
        'every ordinal method'
    """
    return replace(BEATS_ORDINAL, theorem=theorem)


KENDALL_ONLY = {"code": TIES.code, "loss": TIES.loss}
ALIKE_ONLY = {"code": "two_alike", "loss": "pairs"}
OWN_START = Finding("own_start", "declared")
BY_PROXY = Finding("by_proxy", "void")
BY_SAMPLE = Finding("by_sample", "weaker", leaves={"sampled": True})
ON_AVERAGE = Finding("on_average", "weaker", leaves={"given": "random_comparisons"})
NO_NOISE = Finding("no_noise", "weaker", leaves=NOT_STRICT)
NOTHING_SETTLED = Finding("nothing_settled", "weaker", leaves=NOT_STRICT)
SPLIT = (
    Finding("split_at_random", "checked"),
    Finding("unrelated_noise", "declared"),
    Finding("split_groups", "weaker", leaves=KENDALL_ONLY | {"given": "groups"}),
)
WHOLE = (Finding("consistent", "checked"), Finding("ordered_rightly", "declared"))
CONFLICTS = Finding("conflicts", "void")
BY_SHARE = Finding("by_share", "void")
WEIGHTS_FIXED = Finding("weights_fixed", "declared")
WEIGHTS_ESTIMATED = Finding("weights_estimated", "void")


def served_again(reused: int) -> Finding:
    """Say that some reviewers' scores settled more than one group, or two of its items.

    Examples:
        >>> served_again(1).text
        'scores of 1 reviewer were used twice'
    """
    return Finding("served_again", "weaker", {"reviewers": reused}, leaves=KENDALL_ONLY)


def ranking_certificate(
    ratings: Ratings,
    method: RankMethod,
    answer: Answer,
    declared: Declared[ManyItemDesign] | None,
    *,
    distinct: bool = False,
) -> Certificate:
    """Work out what a ranking may claim.

    Args:
        ratings: The ratings.
        method: The method.
        answer: What it made of them.
        declared: How items were assigned, None if nobody said.
        distinct: Whether it was declared that no reviewer would tie two items.

    Examples:
        >>> from evenhand.designs import Pairs
        >>> from evenhand.designs.design import Declared
        >>> from evenhand.ranking.methods import Answer, Topological
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> answer = Answer(np.arange(3))
        >>> ranking_certificate(
        ...     ratings, Topological(), answer, Declared(Pairs()), distinct=True
        ... ).theorem
        'paper Lemma 1'
    """
    claim = method.claim(ratings, declared)
    if claim.theorem == NONE:
        return certify(claim, retired=answer.retired)
    declared = declared or designs.Declared()
    if claim.theorem == ANY_TWO.theorem:
        any_two = _any_two_findings(ratings, method, declared, distinct=distinct)
        return certify(claim, (*any_two, *answer.findings))
    shared = len(declared.assignment.common) if declared.assignment else 0
    if answer.ties is not None and any(draw.anchors for draw in answer.ties.draws):
        claim = replace(claim, theorem="A")
    findings = (
        assignment_finding(
            declared.design_name, designs.names_of("rank"), backing=declared.backing
        ),
        *_tie_findings(ratings, split=answer.split is not None, distinct=distinct),
        *_load_findings(ratings, method, answer, declared),
        *((WHY_SPLIT[answer.split], *SPLIT) if answer.split else WHOLE),
        *((CONFLICTS,) if declared.conflicts and not method.ordinal else ()),
        *((Finding("common_items", "checked", {"items": shared}),) if shared else ()),
        Finding("any_set_scored", "declared", {"missing": declared.missing}),
        *declared.departures(),
        *selection_findings(ratings.notices),
        *dominance_findings(ratings.notices),
        *answer.findings,
    )
    return certify(claim, findings, retired=answer.retired)


def _any_two_findings(
    ratings: Ratings,
    method: RankMethod,
    declared: Declared[ManyItemDesign],
    *,
    distinct: bool,
) -> Iterator[Finding]:
    """Say what Theorem M needs: a draw in which two items might change names."""
    draw, design = declared.assignment, declared.design
    design_name, backing = declared.design_name, declared.backing
    yield assignment_finding(design_name, designs.names_of("rank"), backing=backing)
    if draw is None and design is not None and not design.follow(ratings):
        yield Finding("not_pairs", "void")
    if declared.conflicts:
        alike, pairs = draw.alike_items() if draw else (0, 0)
        uniform = draw is not None and draw.uniform
        facts: dict[str, Json] = {"alike": alike, "pairs": pairs, "uniform": uniform}
        if alike and uniform:
            yield Finding("alike_items", "weaker", facts, leaves=ALIKE_ONLY)
        else:
            yield Finding("conflicts_favour", "void", facts)
    elif draw is None:
        yield Finding("free_draw", "declared")
    yield Finding("scales_fixed", "declared")
    yield Finding("silent_blindly", "declared", {"missing": declared.missing})
    yield Finding("item_free_noise", "declared")
    if method.declares_constants:
        yield Finding("constants_declared", "declared")
    if method.weighs and ratings.weights is not None:
        yield WEIGHTS_ESTIMATED if ratings.confidence else WEIGHTS_FIXED
    yield Finding("no_reference", "checked")
    if not method.exact_values:
        yield Finding("values_in_floats", "declared")
    if draw is not None and draw.common:
        yield Finding("common_items", "checked", {"items": len(draw.common)})
    if method.best_under_draw.strict:
        yield from _tie_findings(ratings, split=True, distinct=distinct)
    yield from declared.departures()
    yield from selection_findings(ratings.notices)
    yield from dominance_findings(ratings.notices)


def _tie_findings(
    ratings: Ratings, *, split: bool, distinct: bool
) -> Iterator[Finding]:
    """Say whether scales increase strictly, which all claims but a split's need."""
    tied = ratings.tied_reviewers
    facts: dict[str, Json] = {"reviewers": tied, "distinct": distinct, "split": split}
    if not tied:
        yield Finding("no_ties", "checked")
    if not tied and (distinct or ratings.kind != "scores"):
        yield Finding("distinct", "declared", {"split": split})
        return
    code = "ties" if tied else "ties_possible"
    if split:
        yield Finding(code, "weaker", facts, leaves=NOT_STRICT)
    else:
        yield Finding(code, "void", facts, mends=not tied)


def _load_findings(
    ratings: Ratings,
    method: RankMethod,
    answer: Answer,
    declared: Declared[ManyItemDesign],
) -> Iterator[Finding]:
    loads = np.bincount(ratings.reviewer_codes)
    even = bool(loads.min() == loads.max())
    enough = even if answer.ties is None else answer.ties.equal_loads
    facts = {"least": int(loads.min()), "most": int(loads.max())}
    if declared.design is not None and not declared.design.follow(ratings):
        yield Finding("not_pairs", "void")
    elif not method.ordinal and not enough and not declared.whole:
        yield Finding("unequal_loads", "void", facts)
    elif even:
        yield Finding("equal_loads", "checked", facts)
    elif not method.ordinal:
        yield Finding("equal_tied_loads" if enough else "drawn_loads", "checked")

"""Claims on two items beyond the paper: Theorems G and D, bounds and p-values."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand._outcomes import HALF
from evenhand._randomness import below
from evenhand.ab.pvalues import exact_p_values
from evenhand.ab.weights import GapWeight, linear, offset, rational
from evenhand.designs import AB_DESIGNS
from evenhand.lab.claims import COUNTEREXAMPLE, ENUMERATION, SEARCH, Found, Trial, claim
from evenhand.lab.dominance import Witness, scales_text
from evenhand.lab.duels import TRUTHS, ItemRule, assignments, duel, named, over_coin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand._randomness import Stream
    from evenhand.lab.polynomial import Table

FIXED = (
    "sign",
    "mean",
    "median:upper",
    "median:lower",
    "median:middle",
    "trimmed",
    "midrank",
)
GUARDED = ("trimmed", "mean", "median", "midrank", "sign")
P_STATISTICS = ("mean", "median", "trimmed", "midrank")
RANGE = 6
TERMS = 40
# Who scores is worth so many times more than what is scored.
FARTHEST = 10**8


@claim("Theorem G", ENUMERATION)
def theorem_g(trial: Trial) -> Found:
    """No monotone and antisymmetric rule is ever below a half.

    Sign, mean, medians, trimmed mean and rank sum are right at least half of the time
    under each of the four designs, with 2 and 4 reviewers, on all scales with scores 0,
    1 and 3, ties included ({count} cases).
    """
    found = []
    truths = TRUTHS[: trial.pick(1, 2)]
    for design, m in itertools.product(AB_DESIGNS, (2, 4)):
        tables = list(_tables(m, (0, 1, 3), design))
        for name in FIXED:
            success = duel(_fixed(name), design, m)
            for truth, table in itertools.product(truths, tables):
                margin = success(truth, table) - HALF
                where = f"{name}, {design}: {Witness(truth, table, margin)}"
                found.append((margin, where))
    margin, text = min(found)
    return Found(margin, margin >= 0, text, {"count": len(found)})


@claim("Theorem G, strict", SEARCH)
def theorem_g_strict(trial: Trial) -> Found:
    """A mixture with the votes is strictly above a half.

    A mixture of nine parts trimmed, mean, median, midrank or sign and one part votes is
    right more than half of the time on all scales tried, under each of the four
    designs, with 2 and 4 reviewers (4 in two panels).
    """
    found = []
    for design, m, statistic in itertools.product(AB_DESIGNS, (2, 4), GUARDED):
        if (design, m) == ("panels", 2):
            continue
        margin, table = trial.worst(
            f"theorem g {design} {m} {statistic}",
            over_coin(duel(_guarded(trial, statistic), design, m)),
            (m, 2),
            trial.pick(12, 300) // (m // 2),
        )
        where = f"{statistic}, {design}: {Witness(TRUTHS[0], table, margin)}"
        found.append((margin, where))
    margin, text = min(found)
    return Found(margin, margin > 0, text)


def _fixed(name: str) -> ItemRule:
    return named(name, rational())


def _guarded(trial: Trial, statistic: str) -> ItemRule:
    return ItemRule(
        lambda one, two: trial.on_trial.guarded(one, two, statistic), paired=True
    )


def _tables(m: int, scores: Sequence[int], design: str) -> Iterator[Table]:
    """List all scales with the given scores, equal ones included."""
    kinds = list(
        itertools.combinations_with_replacement([Fraction(s) for s in scores], 2)
    )
    # Who is who does not matter, nor which pair or panel is which.
    if design in ("halves", "coins"):
        return itertools.combinations_with_replacement(kinds, m)
    couples = list(itertools.combinations_with_replacement(kinds, 2))
    chosen = itertools.combinations_with_replacement(couples, m // 2)
    return (tuple(itertools.chain(*some)) for some in chosen)


@claim("Theorem D", COUNTEREXAMPLE)
def theorem_d(trial: Trial) -> Found:
    """Every rule without coins has scales on which it is no better than a coin.

    On scales on which each reviewer is four times as high as the one before, every
    built-in rule without coins is right at most half of the time, under each of the
    four designs, for every even number of reviewers up to {most}; the margin is the
    largest.
    """
    most = trial.pick(4, 6)
    found = []
    for design, name in itertools.product(AB_DESIGNS, FIXED):
        for m in range(2, most + 1, 2):
            success = duel(_fixed(name), design, m)
            margin = max(over_coin(success, truth)(_apart(m, 4)) for truth in TRUTHS)
            found.append((margin, f"{name}, {design}, {m} reviewers"))
    margin, text = max(found)
    return Found(margin, margin <= 0, text, {"most": most})


@claim("Theorem D, infimum", COUNTEREXAMPLE)
def theorem_d_infimum(trial: Trial) -> Found:
    """With coins, too, the margin can be as small as one likes.

    The farther reviewers are apart, the smaller is the margin of a mixture with the
    votes, and it stays above 0; the margin is the largest at a factor of 10**8, for 4
    reviewers and each of the four designs.
    """
    before = Fraction(1)
    falls = True
    for far in (4, 10**4, FARTHEST):
        margins = [
            over_coin(duel(_guarded(trial, statistic), design, 4))(_apart(4, far))
            for design, statistic in itertools.product(AB_DESIGNS, GUARDED)
        ]
        falls = falls and min(margins) > 0 and max(margins) < before
        before = max(margins)
    return Found(before, falls and before < Fraction(1, 10**6))


def _apart(m: int, far: int) -> Table:
    """Return scales on which scores say who scored, not what was scored."""
    return tuple((Fraction(far**j), Fraction(far**j) + HALF) for j in range(1, m + 1))


@claim("Linear weight", ENUMERATION)
def linear_weight(trial: Trial) -> Found:
    """The linear weight has the best guaranteed margin per unit of effect.

    On all scales with scores 0 to 6 the linear weight's margin over a coin is exactly
    1/24 of the two reviewers' effects together, and each of {others} other weights has
    less at worst; the margin is by how much.
    """
    kinds = list(itertools.combinations([Fraction(s) for s in range(RANGE + 1)], 2))
    pairs = list(itertools.product(kinds, repeat=2))
    optimum = Fraction(1, 4 * RANGE)
    straight = {_ratio(linear(RANGE), one, two) for one, two in pairs}
    least = []
    for weight in _others(trial):
        ratio = min(_ratio(weight, one, two) for one, two in pairs)
        least.append((optimum - ratio, f"{weight}: {float(ratio):.4g}"))
    margin, text = min(least)
    holds = straight == {optimum} and margin > 0
    return Found(margin, holds, text, {"others": len(least)})


def _others(trial: Trial) -> list[GapWeight]:
    powers = range(-trial.pick(4, 10), trial.pick(4, 10) + 1)
    slopes = [rational(Fraction(2) ** power) for power in powers]
    flatter = [linear(RANGE + 1), linear(2 * RANGE)]
    raised = [
        offset(Fraction(c, 10), base)
        for c in (1, 5, 9)
        for base in (linear(RANGE), rational(Fraction(1, 4)))
    ]
    return [*slopes, *flatter, *raised]


def _ratio(
    weight: GapWeight, one: Sequence[Fraction], two: Sequence[Fraction]
) -> Fraction:
    """Return the margin over a coin per unit of the two effects together."""
    gaps = (one[1] - two[0], two[1] - one[0])
    pushes = (_push(weight, gap) for gap in gaps)
    return sum(pushes, Fraction(0)) / (4 * (one[1] - one[0] + two[1] - two[0]))


def _push(weight: GapWeight, gap: Fraction) -> Fraction:
    # One number at a time is faster without arrays.
    if weight.exact is None or gap == 0:
        return Fraction(0)
    size = weight.exact(abs(gap))
    return size if gap > 0 else -size


@claim("Mean, bound", ENUMERATION)
def mean_bound(trial: Trial) -> Found:
    """The mean errs with a probability below an exponential in the effect.

    On all scales with scores 0 to 4 and halves of up to {most} reviewers the mean errs,
    ties counted, at most with probability exp(-k**2 / (k + 1) (t / R)**2).
    """
    top, most = 4, trial.pick(2, 3)
    kinds = list(itertools.combinations([Fraction(s) for s in range(top + 1)], 2))
    found = []
    for k in range(1, most + 1):
        halves = list(assignments("halves", 2 * k))
        for table in itertools.combinations_with_replacement(kinds, 2 * k):
            errors = sum(_mean_gap(table, sides) <= 0 for sides in halves)
            effect = sum((high - low for low, high in table), Fraction(0)) / (2 * k)
            size = Fraction(k * k, k + 1) * (effect / top) ** 2
            margin = exp_below(size) - Fraction(errors, len(halves))
            found.append((margin, f"{2 * k} reviewers: {scales_text(table)}"))
    margin, text = min(found)
    return Found(margin, margin >= 0, text, {"most": most})


def _mean_gap(table: Table, sides: tuple[int, ...]) -> Fraction:
    rows = zip(table, sides, strict=True)
    return sum((row[1] if side == 0 else -row[0] for row, side in rows), Fraction(0))


def exp_below(size: Fraction) -> Fraction:
    """Return a fraction just below exp(-size), for a size from 0 to 8.

    Examples:
        >>> round(float(exp_below(Fraction(2))), 12)
        0.135335283237
    """
    term, total = Fraction(1), Fraction(1)
    # Ends on a negative term, and from the size on they fall: it is below.
    for number in range(1, TERMS):
        term *= -size / number
        total += term
    return total


@claim("P-values", ENUMERATION)
def p_values(trial: Trial) -> Found:
    """A p-value of at most alpha comes up with probability at most alpha.

    If the first item is no better, the p-value against that is at most alpha with
    probability at most alpha, for every alpha, on {scales} random scales, four designs
    and five statistics.
    """
    source = trial.source("p-values")
    found = []
    tried = (("halves", 4), ("coins", 3), ("matched", 4), ("panels", 4))
    for number in range(trial.pick(6, 60)):
        for design, m in tried:
            table = _wild(m, source)
            name = P_STATISTICS[number % len(P_STATISTICS)]
            if design == "matched" and number % 2:
                name = "pairs"
            margin = type_one(table, design, name)
            found.append((margin, f"{name}, {design}: {scales_text(table)}"))
    margin, text = min(found)
    return Found(margin, margin >= 0, text, {"scales": len(found)})


def type_one(table: Table, design: str, statistic: str) -> Fraction:
    """Return the least of alpha minus P(p <= alpha), over all p-values there are.

    Examples:
        >>> type_one(((Fraction(0), Fraction(1)),) * 2, "halves", "mean")
        Fraction(0, 1)
    """
    law: dict[Fraction, Fraction] = {}
    for sides, chance in assignments(design, len(table)).items():
        # The first item is the worse one.
        one = [row[0] for row, side in zip(table, sides, strict=True) if side == 0]
        two = [row[1] for row, side in zip(table, sides, strict=True) if side == 1]
        labels = [[r // 2 for r, s in enumerate(sides) if s == side] for side in (0, 1)]
        groups = (labels[0], labels[1]) if design in ("matched", "panels") else None
        p, _ = exact_p_values(
            one, two, statistic=statistic, design=design, groups=groups
        )
        law[p] = law.get(p, Fraction(0)) + chance
    reached, least = Fraction(0), Fraction(1)
    for alpha in sorted(law):
        reached += law[alpha]
        least = min(least, alpha - reached)
    return least


def _wild(m: int, source: Stream) -> Table:
    """Draw scales with ties, small effects and large offsets."""
    rows = []
    for _ in range(m):
        low = Fraction((1, 3, 10, 1000)[below(source, 4)] * below(source, 4))
        rows.append((low, low + (0, 0, 1, 2, 500)[below(source, 5)]))
    return tuple(rows)

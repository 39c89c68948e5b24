"""The paper's claims on two items, checked: Theorems 1 to 4 and 6."""

from __future__ import annotations

import functools
import itertools
import statistics
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._outcomes import HALF
from evenhand._randomness import below
from evenhand.ab.weights import GapWeight, offset, rational
from evenhand.lab.adversary import as_table, random_rows, worst
from evenhand.lab.claims import COUNTEREXAMPLE, ENUMERATION, SEARCH, Row, Trial
from evenhand.lab.dominance import Witness, scales_text
from evenhand.lab.duels import TRUTHS, ItemRule, Success, duel, named
from evenhand.lab.refutation import SCORES, refute
from evenhand.lab.scales import scales
from evenhand.lab.worlds import exact_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.ab._numbers import Floats
    from evenhand.lab.duels import Rule, Sides
    from evenhand.lab.polynomial import First, Order, Table
    from evenhand.lab.refutation import Assignment, FixedRule, Score

WEIGHTS = (rational(), rational(Fraction(1, 10)), offset(Fraction(1, 2)))
FIXED = ("sign", "mean", "median:upper", "median:lower", "median:middle")


def theorem_1(trial: Trial) -> Row:
    """No fixed rule on two scores beats a coin on all scales."""
    zoo: list[FixedRule] = [
        lambda _z, y1, y2: 1 if y1 > y2 else 2,
        lambda _z, y1, y2: 1 if y1 < y2 else 2,
        lambda _z, _y1, _y2: 1,
        lambda z, _y1, _y2: z[0],
        lambda z, y1, y2: z[0] if y1 + y2 > SCORES[-1] else 3 - z[0],
        lambda _z, y1, y2: 1 if y1 - y2 > 1 else 2,
        lambda z, y1, y2: 1 if 2 * y1 - (z == (1, 2)) > 2 * y2 else 2,
    ]
    source = trial.source("theorem 1")
    zoo += [_table_rule(source) for _ in range(trial.pick(200, 4000))]
    found = [refute(rule) for rule in zoo]
    best = max(found, key=lambda refutation: refutation.probability)
    return Row(
        "Theorem 1",
        f"Each of {len(zoo)} fixed rules, most of them random tables, is right at most "
        "half of the time on scales found by the paper's two constructions; the margin "
        "is the best rule's.",
        COUNTEREXAMPLE,
        best.probability - HALF,
        best.probability <= HALF,
        repr(best),
    )


def _table_rule(source: np.random.PCG64) -> FixedRule:
    questions = itertools.product(((1, 2), (2, 1)), SCORES, SCORES)
    answers = {question: 1 + below(source, 2) for question in questions}

    def rule(assignment: Assignment, y1: Score, y2: Score) -> int:
        return answers[assignment, int(y1), int(y2)]

    return rule


def theorem_2(trial: Trial) -> Row:
    """The canonical estimator strictly beats a coin."""
    parts = []
    for weight in WEIGHTS:
        rule = ItemRule(functools.partial(_canonical, trial, weight), paired=True)
        success = duel(rule, "halves", 2)
        parts.append((f"weight {weight}", success, 2, trial.pick(150, 5000)))
    return _strict(
        trial,
        "Theorem 2",
        "The canonical estimator is right more than half of the time on all scales "
        "tried, for three weights and both true rankings.",
        parts,
    )


def _canonical(trial: Trial, weight: GapWeight, one: Floats, two: Floats) -> Floats:
    return trial.on_trial.canonical(np.concatenate([one, two], axis=-1), weight)


def theorem_3(trial: Trial) -> Row:
    """Sign, mean and medians get exactly half on the paper's families."""
    deviations = []
    for m in range(2, trial.pick(6, 8) + 1, 2):
        doubling = tuple(
            (2**j + Fraction(1, 4), 2**j + Fraction(3, 4)) for j in range(m)
        )
        for name, truth in itertools.product(FIXED, TRUTHS):
            table = doubling if name == "median:middle" else _family(m)
            right = duel(named(name, rational()), "halves", m)(truth, table)
            deviations.append((right - HALF, f"{name}, {m} reviewers"))
    margin, where = max(deviations, key=lambda pair: (abs(pair[0]), pair[1]))
    return Row(
        "Theorem 3",
        "Sign, mean and the three medians are right exactly half of the time on the "
        "paper's counterexamples, for every even number of reviewers up to "
        f"{trial.pick(6, 8)}; the margin is the largest deviation.",
        COUNTEREXAMPLE,
        margin,
        all(deviation == 0 for deviation, _ in deviations),
        where if margin else "",
    )


def _family(m: int) -> Table:
    values = np.array([[Fraction(1, 4), Fraction(3, 4)]] * m, dtype=object)
    scores = scales("incremental-one-biased").apply(values, np.empty((m, 0)))
    return tuple(tuple(row) for row in scores.tolist())


def _votes(trial: Trial, weight: GapWeight) -> ItemRule:
    return ItemRule(
        lambda one, two: trial.on_trial.votes(one, two, weight), paired=True
    )


def theorem_4(trial: Trial, design: str = "halves") -> Row:
    """The vote strictly beats a coin, under each of the paper's three designs."""
    cases = {
        "halves": [(2, 100, 2000), (3, 60, 1000), (4, 80, 2000), (6, 8, 150)],
        "coins": [(2, 60, 1000), (3, 40, 1000), (4, 20, 500)],
        "matched": [(2, 60, 1000), (4, 60, 1000), (6, 10, 300)],
    }[design]
    parts = [
        (
            f"{m} reviewers",
            duel(_votes(trial, rational()), design, m),
            m,
            trial.pick(quick, full),
        )
        for m, quick, full in cases
    ]
    name = {"halves": "Theorem 4", "coins": "Theorem 4 (a)", "matched": "Theorem 4 (b)"}
    how = {
        "halves": "reviewers assigned in halves, 2, 3, 4 and 6 of them",
        "coins": "each reviewer assigned by a coin, 2, 3 and 4 of them",
        "matched": "reviewers assigned within pairs, 2, 4 and 6 of them",
    }[design]
    return _strict(
        trial,
        name[design],
        "The majority of canonical votes is right more than half of the time on all "
        f"scales tried, {how}.",
        parts,
    )


def theorem_4_bound(trial: Trial) -> Row:
    """The worst pair's binomial bounds the vote from below."""
    source = trial.source("theorem 4 bound")
    smallest, text, holds = Fraction(1), "", True
    for m, tables in ((2, 20), (4, 20), (6, 3)):
        exact = duel(_votes(trial, rational()), "halves", m)
        pair = duel(
            ItemRule(functools.partial(_canonical, trial, rational()), paired=True),
            "halves",
            2,
        )
        for _ in range(tables * trial.pick(1, 10)):
            table = as_table(random_rows((m, 2), source))
            worst_pair = min(
                pair(TRUTHS[0], two) for two in itertools.combinations(table, 2)
            )
            bound = binomial_majority(m // 2, worst_pair)
            right = exact(TRUTHS[0], table)
            holds = holds and right >= bound > HALF
            if bound - HALF < smallest:
                smallest = bound - HALF
                text = f"{m} reviewers: exact {float(right):.6f}, bound "
                text += f"{float(bound):.6f}"
    return Row(
        "Theorem 4, bound",
        "On random scales the vote is right at least as often as the majority of m/2 "
        "independent copies of its worst pair, and that more than half of the time.",
        ENUMERATION,
        smallest,
        holds,
        text,
    )


def binomial_majority(votes: int, p: Fraction) -> Fraction:
    """Return P(majority of independent votes is right), ties by a fair coin.

    Examples:
        >>> binomial_majority(2, Fraction(3, 4))
        Fraction(3, 4)
    """
    law = [Fraction(1)]
    for _ in range(votes):
        law = [
            miss * (1 - p) + hit * p
            for miss, hit in zip([*law, Fraction(0)], [Fraction(0), *law], strict=True)
        ]
    above = sum(law[votes // 2 + 1 :], Fraction(0))
    return above + (law[votes // 2] / 2 if votes % 2 == 0 else 0)


def theorem_6(trial: Trial) -> Row:
    """The canonical estimator survives noise that is alike for all."""
    return _noisy(
        trial,
        "Theorem 6",
        "The canonical estimator is right more than half of the time under independent "
        "noise with three values, drawn for every score from one law, on all scales "
        "and noise values tried.",
        noises=1,
    )


def theorem_6_by_reviewer(trial: Trial) -> Row:
    """So it does if each reviewer has a noise of its own."""
    return _noisy(
        trial,
        "Theorem 6, noise by reviewer",
        "The same with a law of the noise for each reviewer: all that is needed is "
        "that noise does not look at the item.",
        noises=2,
    )


def _noisy(trial: Trial, name: str, check: str, *, noises: int) -> Row:
    chances = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    draws = list(itertools.product(range(3), repeat=2))
    weights = [chances[a] * chances[b] / 2 for a, b in draws]

    def margin(table: Table) -> Fraction:
        (low1, _, high1), (low2, _, high2) = table[:2]
        noise1, noise2 = table[2], table[1 + noises]
        scores = [
            pair
            for a, b in draws
            for pair in (
                (high1 + noise1[a], low2 + noise2[b]),
                (high2 + noise2[b], low1 + noise1[a]),
            )
        ]
        right = trial.on_trial.canonical(np.array(scores, dtype=object), rational())
        doubled = [weight for weight in weights for _ in range(2)]
        return sum(map(Fraction.__mul__, doubled, right.tolist()), -HALF)

    found, table = worst(
        margin,
        (2 + noises, 3),
        trial.source(name),
        budget=trial.pick(150, 3000),
    )
    text = f"scales {scales_text(table[:2])}; noise {scales_text(table[2:])}"
    return Row(name, check, SEARCH, found, found > 0, text)


def theorem_6_needs(trial: Trial) -> Row:
    """Noise that looks at the item breaks it."""
    high, low = Fraction(1), Fraction(0)
    rare = Fraction(1, 100)
    noise = {Fraction(-100): 1 - rare, Fraction(9900): rare}
    right = Fraction(0)
    for error, chance in noise.items():
        scores = np.array([[high + error, low]], dtype=object)
        right += chance * trial.on_trial.canonical(scores, rational())[0]
    return Row(
        "Theorem 6, what it needs",
        "With noise of mean zero on the better item only, -100 mostly and 9900 once in "
        "a hundred, the canonical estimator is right less than 2 times in a hundred.",
        COUNTEREXAMPLE,
        right - HALF,
        right < Fraction(1, 50),
        f"right with probability {float(right):.4f}",
    )


def fails(trial: Trial, name: str) -> Row:
    """The search finds that sign, mean and median do not strictly beat a coin."""
    parts = [
        (rule, duel(named(rule, rational()), "halves", m), m, trial.pick(60, 400))
        for rule in FIXED
        if rule.partition(":")[0] == name
        for m in (2, 4)
    ]
    found = [_searched(trial, f"can fail {name}", part, told=False) for part in parts]
    margin, text = max(found)
    kinds = "each of the three medians is" if name == "median" else f"the {name} is"
    return Row(
        f"Can fail: {name}",
        f"From random scales, without being told the paper's, the search finds that "
        f"{kinds} no better than a coin, with 2 and with 4 reviewers.",
        SEARCH,
        margin,
        margin <= 0,
        text,
    )


def fails_mad(trial: Trial) -> Row:
    """The search finds that dividing by the spread of the same data breaks the vote."""
    rule = scaled_by_mad(exact_first(rational()))
    part = ("MAD", duel(rule, "halves", 4), 4, trial.pick(1200, 10_000))
    margin, text = _searched(trial, "can fail mad", part, truths=TRUTHS[:1], told=False)
    return Row(
        "Can fail: MAD scaling",
        "The search finds scales on which the vote is right less than half of the time "
        "if gaps are divided by the median absolute deviation of all scores, with 4 "
        "reviewers.",
        SEARCH,
        margin,
        margin < 0,
        text,
    )


def scaled_by_mad(first: First) -> Rule:
    """Return the vote of two pairs on gaps divided by the MAD of all scores.

    Examples:
        >>> rule = scaled_by_mad(exact_first(rational()))
        >>> rule((0, 1, 0, 1), [Fraction(score) for score in (3, 1, 4, 0)])
        Fraction(383, 462)
    """

    def rule(sides: Sides, scores: Sequence[Fraction]) -> Fraction:
        middle = statistics.median(scores)
        spread = statistics.median([abs(score - middle) for score in scores])
        by_item = [
            [score for score, side in zip(scores, sides, strict=True) if side == item]
            for item in (0, 1)
        ]
        # With two pairs a majority, ties by a coin, is right as often as one vote.
        gaps = [one - two for one, two in itertools.product(*by_item)]
        chances = [
            first(gap / spread) if spread else Fraction(1 + (gap > 0) - (gap < 0), 2)
            for gap in gaps
        ]
        return sum(chances, Fraction(0)) / len(chances)

    return rule


Part = tuple[str, Success, int, int]


def _strict(trial: Trial, name: str, check: str, parts: Sequence[Part]) -> Row:
    margin, text = min(_searched(trial, name, part) for part in parts)
    return Row(name, check, SEARCH, margin, margin > 0, text)


def _searched(
    trial: Trial,
    purpose: str,
    part: Part,
    *,
    truths: Sequence[Order] = TRUTHS,
    told: bool = True,
) -> tuple[Fraction, str]:
    """Search for the smallest margin over a coin, at any true ranking."""
    label, success, m, budget = part
    found = []
    for truth in truths:
        margin, table = worst(
            functools.partial(_over_coin, success, truth),
            (m, 2),
            trial.source(f"{purpose} {label} {truth}"),
            budget=budget,
            families=told,
        )
        found.append((margin, f"{label}: {Witness(truth, table, margin)}"))
    return min(found)


def _over_coin(success: Success, truth: Order, table: Table) -> Fraction:
    return success(truth, table) - HALF

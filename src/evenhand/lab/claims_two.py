"""The paper's claims on two items, checked: Theorems 1 to 4 and 6."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._outcomes import HALF
from evenhand._randomness import below
from evenhand.ab.weights import GapWeight, offset, rational
from evenhand.lab.adversary import as_table, random_rows
from evenhand.lab.claims import COUNTEREXAMPLE, ENUMERATION, SEARCH, Found, Trial, claim
from evenhand.lab.dominance import Witness, scales_text
from evenhand.lab.duels import TRUTHS, ItemRule, Success, duel, named, over_coin
from evenhand.lab.refutation import SCORES, refute
from evenhand.lab.scales import scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._randomness import Stream
    from evenhand.ab._numbers import Floats
    from evenhand.lab.polynomial import Order, Table
    from evenhand.lab.refutation import Assignment, FixedRule, Score

WEIGHTS = (rational(), rational(Fraction(1, 10)), offset(Fraction(1, 2)))
FIXED = ("sign", "mean", "median:upper", "median:lower", "median:middle")
# Reviewers, and tables of scales for each true ranking in a quick and a full search.
Case = tuple[int, int, int]


@claim("Theorem 1", COUNTEREXAMPLE)
def theorem_1(trial: Trial) -> Found:
    """No fixed rule on two scores beats a coin on all scales.

    Each of {rules} fixed rules, most of them random tables, is right at most half of
    the time on scales found by the paper's two constructions; the margin is the best
    rule's.
    """
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
    best = max((refute(rule) for rule in zoo), key=lambda found: found.probability)
    margin = best.probability - HALF
    return Found(margin, margin <= 0, repr(best), {"rules": len(zoo)})


def _table_rule(source: Stream) -> FixedRule:
    questions = itertools.product(((1, 2), (2, 1)), SCORES, SCORES)
    answers = {question: 1 + below(source, 2) for question in questions}

    def rule(assignment: Assignment, y1: Score, y2: Score) -> int:
        return answers[assignment, int(y1), int(y2)]

    return rule


@claim("Theorem 2", SEARCH)
def theorem_2(trial: Trial) -> Found:
    """The canonical estimator strictly beats a coin.

    The canonical estimator is right more than half of the time on all scales tried, for
    three weights and both true rankings.
    """
    found = [
        searched(
            trial,
            f"Theorem 2 weight {weight}",
            f"weight {weight}",
            duel(_canonical(trial, weight), "halves", 2),
            (2, 150, 5000),
        )
        for weight in WEIGHTS
    ]
    return _strict(found)


def _canonical(trial: Trial, weight: GapWeight) -> ItemRule:
    def rule(one: Floats, two: Floats) -> Floats:
        return trial.on_trial.canonical(np.concatenate([one, two], axis=-1), weight)

    return ItemRule(rule, paired=True)


@claim("Theorem 3", COUNTEREXAMPLE)
def theorem_3(trial: Trial) -> Found:
    """Sign, mean and medians get exactly half on the paper's families.

    Sign, mean and the three medians are right exactly half of the time on the paper's
    counterexamples, for every even number of reviewers up to {most}; the margin is the
    largest deviation.
    """
    most = trial.pick(6, 8)
    deviations = []
    for m in range(2, most + 1, 2):
        doubling = tuple(
            (2**j + Fraction(1, 4), 2**j + Fraction(3, 4)) for j in range(m)
        )
        for name, truth in itertools.product(FIXED, TRUTHS):
            table = doubling if name == "median:middle" else _family(m)
            right = duel(named(name, rational()), "halves", m)(truth, table)
            deviations.append((right - HALF, f"{name}, {m} reviewers"))
    margin, where = max(deviations, key=lambda pair: (abs(pair[0]), pair[1]))
    return Found(margin, margin == 0, where if margin else "", {"most": most})


def _family(m: int) -> Table:
    values = np.array([[Fraction(1, 4), Fraction(3, 4)]] * m, dtype=object)
    scores = scales("incremental-one-biased").apply(values, np.empty((m, 0)))
    return tuple(tuple(row) for row in scores.tolist())


@claim("Theorem 4", SEARCH)
def theorem_4(trial: Trial) -> Found:
    """The vote strictly beats a coin, if reviewers are assigned in halves.

    The majority of canonical votes is right more than half of the time on all scales
    tried, reviewers assigned in halves, 2, 3, 4 and 6 of them.
    """
    cases = [(2, 100, 2000), (3, 60, 1000), (4, 80, 2000), (6, 8, 150)]
    return _vote(trial, "Theorem 4", "halves", cases)


@claim("Theorem 4 (a)", SEARCH)
def theorem_4a(trial: Trial) -> Found:
    """So it does if each reviewer is assigned by a coin.

    The majority of canonical votes is right more than half of the time on all scales
    tried, each reviewer assigned by a coin, 2, 3 and 4 of them.
    """
    cases = [(2, 60, 1000), (3, 40, 1000), (4, 20, 500)]
    return _vote(trial, "Theorem 4 (a)", "coins", cases)


@claim("Theorem 4 (b)", SEARCH)
def theorem_4b(trial: Trial) -> Found:
    """So it does if reviewers are assigned within pairs.

    The majority of canonical votes is right more than half of the time on all scales
    tried, reviewers assigned within pairs, 2, 4 and 6 of them.
    """
    cases = [(2, 60, 1000), (4, 60, 1000), (6, 10, 300)]
    return _vote(trial, "Theorem 4 (b)", "matched", cases)


def _vote(trial: Trial, name: str, design: str, cases: Sequence[Case]) -> Found:
    found = []
    for case in cases:
        label = f"{case[0]} reviewers"
        success = duel(_votes(trial), design, case[0])
        found.append(searched(trial, f"{name} {label}", label, success, case))
    return _strict(found)


def _votes(trial: Trial) -> ItemRule:
    return ItemRule(
        lambda one, two: trial.on_trial.votes(one, two, rational()), paired=True
    )


@claim("Theorem 4, bound", ENUMERATION)
def theorem_4_bound(trial: Trial) -> Found:
    """The worst pair's binomial bounds the vote from below.

    On random scales the vote is right at least as often as the majority of m/2
    independent copies of its worst pair, and that more than half of the time.
    """
    source = trial.source("theorem 4 bound")
    pair = duel(_canonical(trial, rational()), "halves", 2)
    smallest, text, holds = Fraction(1), "", True
    for m, tables in ((2, 20), (4, 20), (6, 3)):
        exact = duel(_votes(trial), "halves", m)
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
    return Found(smallest, holds, text)


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


@claim("Theorem 6", SEARCH)
def theorem_6(trial: Trial) -> Found:
    """The canonical estimator survives noise that is alike for all.

    The canonical estimator is right more than half of the time under independent noise
    with three values, drawn for every score from one law, on all scales and noise
    values tried.
    """
    return _noisy(trial, "Theorem 6", noises=1)


@claim("Theorem 6, noise by reviewer", SEARCH)
def theorem_6_by_reviewer(trial: Trial) -> Found:
    """So it does if each reviewer has a noise of its own.

    The same with a law of the noise for each reviewer: all that is needed is that noise
    does not look at the item.
    """
    return _noisy(trial, "Theorem 6, noise by reviewer", noises=2)


def _noisy(trial: Trial, name: str, *, noises: int) -> Found:
    chances = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    draws = list(itertools.product(range(3), repeat=2))
    weights = [chances[a] * chances[b] / 2 for a, b in draws for _ in range(2)]

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
        return sum(map(Fraction.__mul__, weights, right.tolist()), -HALF)

    found, table = trial.worst(name, margin, (2 + noises, 3), trial.pick(150, 3000))
    text = f"scales {scales_text(table[:2])}; noise {scales_text(table[2:])}"
    return Found(found, found > 0, text)


@claim("Theorem 6, what it needs", COUNTEREXAMPLE)
def theorem_6_needs(trial: Trial) -> Found:
    """Noise that looks at the item breaks it.

    With noise of mean zero on the better item only, -100 mostly and 9900 once in a
    hundred, the canonical estimator is right less than 2 times in a hundred.
    """
    rare = Fraction(1, 100)
    noise = {Fraction(-100): 1 - rare, Fraction(9900): rare}
    right = Fraction(0)
    for error, chance in noise.items():
        scores = np.array([[1 + error, Fraction(0)]], dtype=object)
        right += chance * trial.on_trial.canonical(scores, rational())[0]
    text = f"right with probability {float(right):.4f}"
    return Found(right - HALF, right < Fraction(1, 50), text)


def searched(
    trial: Trial,
    purpose: str,
    label: str,
    success: Success,
    case: Case,
    *,
    truths: Sequence[Order] = TRUTHS,
    told: bool = True,
) -> tuple[Fraction, str]:
    """Search for the smallest margin over a coin, at any true ranking."""
    m, *budget = case
    found = []
    for truth in truths:
        margin, table = trial.worst(
            f"{purpose} {truth}",
            over_coin(success, truth),
            (m, 2),
            trial.pick(*budget),
            told=told,
        )
        found.append((margin, f"{label}: {Witness(truth, table, margin)}"))
    return min(found)


def _strict(found: Sequence[tuple[Fraction, str]]) -> Found:
    margin, text = min(found)
    return Found(margin, margin > 0, text)

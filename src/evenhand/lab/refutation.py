"""Theorem 1 as software: every fixed rule on two scores is fooled by some scales."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from evenhand.errors import OptionError, shown

Assignment = tuple[int, int]
Score: TypeAlias = int | float | Fraction
FixedRule = Callable[[Assignment, Score, Score], int]
Scale = tuple[Score, Score]
Question = tuple[Assignment, Score, Score]

ASSIGNMENTS: tuple[Assignment, Assignment] = ((1, 2), (2, 1))
SCORES: tuple[int, int, int, int] = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True, repr=False)
class Refutation:
    """Scales on which a fixed rule is right at most half of the time.

    Attributes:
        construction: "disjoint ranges" or "equal scales".
        better: The better item, 1 or 2.
        scales: For each reviewer, the score of the worse item and of the better one.
        answers: What the rule said under the assignments (1, 2) and (2, 1).
        probability: That the rule is right, over the random assignment.
    """

    construction: str
    better: int
    scales: tuple[Scale, Scale]
    answers: tuple[int, int]
    probability: Fraction

    def __repr__(self) -> str:
        tables = "; ".join(
            f"f{reviewer}(0) = {low}, f{reviewer}(1) = {high}"
            for reviewer, (low, high) in enumerate(self.scales, start=1)
        )
        return (
            f"right with probability {self.probability} ({self.construction}): item "
            f"{self.better} is better, {tables}"
        )


def refute(rule: FixedRule) -> Refutation:
    """Find scales on which a fixed rule is right at most half of the time.

    The rule is a black box. Let a < b < c < d be four of the scores, and let item 1 be
    better. Disjoint ranges: reviewer 1 gives a or b, reviewer 2 gives c or d. Under the
    assignment (1, 2) the rule is shown y1 = b and y2 = c, under (2, 1) it is shown
    y1 = d and y2 = a. If one of its two answers is wrong, these scales do. If both are
    right, it says 1 on (1, 2), b, c although b < c: it differs from the higher score
    there. Then let item 2 be better, and let both reviewers give b to item 1 and c to
    item 2. Under (1, 2) the rule is shown y1 = b and y2 = c again, and is wrong. So
    three questions always suffice. All such scales from the given scores are tried, and
    the ones on which the rule does worst are returned.

    Args:
        rule: From the assignment, which is (1, 2) if reviewer 1 has item 1 and (2, 1)
            if reviewer 1 has item 2, and the scores y1 of item 1 and y2 of item 2, to
            the item that it says is better, 1 or 2. The same input must always get the
            same answer.

    Returns:
        The scales, and how often the rule is right on them.

    Raises:
        OptionError: If the rule does not answer 1 or 2, or answers differently when
            asked again.

    References:
        Wang and Shah (2019), Theorem 1.

    Examples:
        >>> refute(lambda assignment, y1, y2: 1 if y1 > y2 else 2)
        right with probability 1/2 (disjoint ranges): item 1 is better, f1(0) = 0,
        f1(1) = 1; f2(0) = 2, f2(1) = 3
        >>> refute(lambda assignment, y1, y2: 1 if y1 < y2 else 2).probability
        Fraction(0, 1)
    """
    if not callable(rule):
        raise OptionError(
            f"rule must be a function of (assignment, y1, y2), got {rule!r:.80}."
        )
    asked = functools.cache(functools.partial(_answer, rule))
    tried = (
        _tried(asked, construction, scales, better)
        for construction, scales in _constructions()
        for better in (1, 2)
    )
    return min(tried, key=lambda refutation: refutation.probability)


def _constructions() -> Iterator[tuple[str, tuple[Scale, Scale]]]:
    yield "disjoint ranges", (SCORES[:2], SCORES[2:])
    yield "disjoint ranges", (SCORES[2:], SCORES[:2])
    for low, high in itertools.combinations(SCORES, 2):
        yield "equal scales", ((low, high), (low, high))


def _tried(
    asked: Callable[[Question], int],
    construction: str,
    scales: tuple[Scale, Scale],
    better: int,
) -> Refutation:
    answers = []
    for assignment in ASSIGNMENTS:
        given = {
            item: scale[item == better]
            for item, scale in zip(assignment, scales, strict=True)
        }
        answers.append(asked((assignment, given[1], given[2])))
    right = Fraction(answers.count(better), len(ASSIGNMENTS))
    return Refutation(construction, better, scales, (answers[0], answers[1]), right)


def _answer(rule: FixedRule, question: Question) -> int:
    answer, again = (rule(*question) for _ in range(2))
    if answer != again:
        raise OptionError(
            f"rule must be fixed, got {shown(answer)} and then {shown(again)} for "
            f"{question}."
        )
    if isinstance(answer, bool) or answer not in (1, 2):
        raise OptionError(
            f"rule must answer 1 or 2, got {shown(answer)} for {question}."
        )
    return answer

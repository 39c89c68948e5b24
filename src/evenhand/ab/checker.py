"""A look for a failure of what Theorem G asks of a rule, around the data at hand.

Theorem G holds for any rule that never turns against an item whose score rises, and
that turns round when the two items swap names. A user's function is asked at the data,
at random neighbours, and at both with single scores moved. A failure is shown; that
none is found is no proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from evenhand.arrays import Floats, Numbers, as_lists
from evenhand.errors import OptionError, RatingsError, listing, name_of, quote
from evenhand.randomness import RNGLike, seed_from, stream

OwnRule = Callable[[Floats, Floats], float | Fraction]
Scores = tuple[Floats, Floats]
# How often a rule is asked.
LIMIT = 3000
# A fall or a lopsidedness up to this is rounding.
ROUNDING = 1e-9
# How far beyond the ends scores are moved, in ranges of the data.
BEYOND = np.array([-1000, -10, -1, -0.01, 0.01, 1, 10, 1000])
MOST_TARGETS = 40
# A move beyond the floats would not be a score.
LARGEST = float(np.finfo(np.float64).max)
TURN = "turn p into 1 - p when the items swap"
RISE = "not fall when a first score rises or a second score falls"


class RuleCheck(NamedTuple):
    """What a search for a failure of a user's rule found.

    Attributes:
        evaluations: How often the function was asked and had an answer.
        sentence: What was found, for people.
        failure: Scores of both items at two places between which it fails, if there
            are such.
    """

    evaluations: int
    sentence: str
    failure: tuple[Scores, Scores] | None = None


def check_rule(
    rule: OwnRule, first: Numbers, second: Numbers, *, rng: RNGLike = None
) -> RuleCheck:
    """Look for scores near the data at which a rule breaks the terms of Theorem G.

    The rule must not fall when a score of the first item rises or one of the second
    falls, and must turn round when the items swap names: p becomes 1 - p. Falls of up
    to a thousand-millionth are taken for rounding.

    Scores are moved one at a time to every other score, half-way between, a little
    beyond the ends and 10 and 1000 times the range away, from the data, from random
    neighbours (the data with some scores replaced by others of either item) and from
    equal scores.

    Args:
        rule: Function of the scores of the first item and of the second, two arrays of
            floats in pairing order, that returns the probability that the first is
            output.
        first: Scores of the first item.
        second: Scores of the second item.
        rng: Seed for the random neighbours.

    Returns:
        What was found.

    Raises:
        RatingsError: If a score is not finite, or an item has none.
        OptionError: If the rule does not return a probability.

    Examples:
        >>> from evenhand.ab.methods import HigherMean
        >>> check_rule(HigherMean().chance, [7, 9, 4], [6, 3, 5], rng=1).failure is None
        True
        >>> def lazy(one, two):
        ...     return float(one.mean() > two.mean())
        >>> check = check_rule(lazy, [7, 9], [6, 10], rng=1)
        >>> print(check.sentence)  # doctest: +ELLIPSIS
        lazy must turn p into 1 - p when the items swap, got 0 for first 7.0, 9.0 ...
    """
    first_scores, second_scores = (
        side.astype(np.float64) for side in as_lists(first, second)
    )
    if not len(first_scores) or not len(second_scores):
        raise RatingsError("first and second must be two lists with a score each.")
    answer(rule, first_scores, second_scores)
    n_asked, remaining, name = 1, LIMIT - 1, name_of(rule)
    source = np.random.Generator(stream(seed_from(rng), "check"))
    for swapped, rows in _chains(first_scores, second_scores, source):
        answers = list(_answers(rule, rows[:remaining]))
        n_asked, remaining = n_asked + len(answers), remaining - len(rows)
        for (before, p), (after, q) in itertools.pairwise(answers):
            if (abs(p + q - 1) if swapped else p - q) > ROUNDING:
                evidence = (
                    f"{p:.4g} for {_text(*before)}, and {q:.4g} for {_text(*after)}"
                )
                text = f"{name} must {TURN if swapped else RISE}, got {evidence}."
                return RuleCheck(n_asked, text, (before, after))
        if remaining <= 0:
            break
    text = (
        f"{name} was asked {n_asked} times around the data, and no score was found at "
        "which it falls when it should rise, or does not turn round when the items "
        "swap."
    )
    return RuleCheck(n_asked, text)


def answer(rule: OwnRule, first: Floats, second: Floats) -> float | Fraction:
    """Ask a user's function once, and check that it answers with a probability.

    Args:
        rule: The function; it gets copies of the scores.
        first: Scores of the first item.
        second: Scores of the second item.

    Returns:
        Its answer, as a number of Python.

    Raises:
        OptionError: If it is not a probability.

    Examples:
        >>> answer(np.dot, np.array([0.5, 0.0]), np.array([0.5, 4.0]))
        0.25
    """
    value: object = rule(first.copy(), second.copy())
    if isinstance(value, np.ndarray | np.generic) and value.size == 1:
        value = value.item()
    is_number = isinstance(value, int | float | Fraction)
    if is_number and not isinstance(value, bool) and 0 <= value <= 1:  # type: ignore[operator]  # a number
        return value  # type: ignore[return-value]  # a number
    raise _NoAnswerError(
        f"{name_of(rule)} must return a probability in [0, 1], got {quote(value)} for "
        f"{_text(first, second)}."
    )


class _NoAnswerError(OptionError):
    """A rule returned something else; what it raises itself is no such error."""


def _answers(rule: OwnRule, rows: list[Scores]) -> Iterator[tuple[Scores, float]]:
    """Ask near the data; a rule may refuse with an error, which tells nothing."""
    for row in rows:
        try:
            with np.errstate(all="ignore"):
                yield row, float(answer(rule, *row))
        except _NoAnswerError:
            raise
        except (ValueError, ArithmeticError):
            continue


def _chains(
    first: Floats, second: Floats, chance: np.random.Generator
) -> Iterator[tuple[bool, list[Scores]]]:
    """Give chains of scores without end.

    The first item's chances must not fall along one, or it swaps the items.
    """
    scores, firsts = np.concatenate([first, second]), len(first)
    levels = np.unique(scores)
    inner = np.concatenate([levels, levels[1:] / 2 + levels[:-1] / 2])
    width = float(levels[-1] / 4 - levels[0] / 4) * 4
    width = min(width or max(1.0, abs(float(levels[0]))), LARGEST / 1e6)
    ends = np.where(BEYOND < 0, levels[0], levels[-1])
    outer = np.clip(ends + width * BEYOND, -LARGEST, LARGEST)
    for place in itertools.cycle(chance.permutation(len(scores)).tolist()):
        moved = chance.random(len(scores)) < chance.random()
        near = np.where(moved, chance.choice(inner, len(scores)), scores)
        # With the same scores of both items only 1/2 can be turned round.
        for base in (scores, near, np.full_like(scores, near[place])):
            a, b = base[:firsts], base[firsts:]
            yield True, [(a, b), (b, a)]
            inner_targets = chance.permutation(inner)[:MOST_TARGETS]
            targets = np.unique([*inner_targets, *outer, base[place]])
            rows = np.tile(base, (len(targets), 1))
            rows[:, place] = targets if place < firsts else targets[::-1]
            yield False, [(row[:firsts], row[firsts:]) for row in rows]


def _text(first: Floats, second: Floats) -> str:
    first_text, second_text = (
        listing(float(f"{score:.6g}") for score in side.tolist())
        for side in (first, second)
    )
    return f"first {first_text} and second {second_text}"

"""A look for a failure of what Theorem G asks of a rule, around the data at hand.

Theorem G holds for any rule that never turns against an item whose score rises, and
that turns round when the two items swap names. A user's function is asked at the data,
at random neighbours, and at both with single scores moved. A failure is shown; that
none is found is no proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from evenhand.arrays import Floats, Numbers, as_lists
from evenhand.errors import (
    OptionError,
    RatingsError,
    as_whole,
    listing,
    name_of,
    shown,
)
from evenhand.method import choice
from evenhand.randomness import RNGLike, seed_from, stream

OwnRule = Callable[[Floats, Floats], float | Fraction]
Kind = Literal["probability", "statistic"]
LIMIT = 3000
# A fall or a lopsidedness up to this is rounding.
ROUNDING = 1e-9
# How far beyond the ends scores are moved, in ranges of the data.
BEYOND = np.array([-1000, -10, -1, -0.01, 0.01, 1, 10, 1000])
MOST_TARGETS = 40
# A move beyond the floats would not be a score.
LARGEST = float(np.finfo(np.float64).max)


class Place(NamedTuple):
    """Scores of the first item and of the second, and what the rule says there."""

    first: Floats
    second: Floats
    value: float


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """What a search for a failure of a user's rule or statistic found.

    Attributes:
        evaluations: How often the function was asked and had an answer.
        sentence: What was found, for people.
        failure: Two places between which it fails, if there are such.
    """

    evaluations: int
    sentence: str
    failure: tuple[Place, Place] | None = None

    @property
    def passed(self) -> bool:
        """Whether no failure was found."""
        return self.failure is None


def check_rule(
    rule: OwnRule,
    first: Numbers,
    second: Numbers,
    *,
    kind: Kind = "probability",
    rng: RNGLike = None,
    limit: int = LIMIT,
) -> RuleCheck:
    """Look for scores near the data at which a rule breaks the terms of Theorem G.

    The rule must not fall when a score of the first item rises or one of the second
    falls, and must turn round when the items swap names: p becomes 1 - p, or a
    statistic changes its sign. Of a statistic only the sign is looked at, since only
    that is used. Falls of up to a thousand-millionth are taken for rounding.

    Scores are moved one at a time to every other score, half-way between, a little
    beyond the ends and 10 and 1000 times the range away, from the data and from random
    neighbours: the data with some scores replaced by others of either item.

    Args:
        rule: Function of the scores of the first item and of the second, two arrays of
            floats in pairing order, that returns the probability that the first is
            output, or a statistic.
        first: Scores of the first item.
        second: Scores of the second item.
        kind: "probability", or "statistic" if the sign of the answer decides.
        rng: Seed for the random neighbours.
        limit: How often the rule may be asked.

    Returns:
        What was found.

    Raises:
        RatingsError: If a score is not finite, or an item has none.
        OptionError: If an option is bad, or the rule does not return a probability
            (or a number).

    Examples:
        >>> from evenhand.ab import rules
        >>> check_rule(rules.mean, [7, 9, 4], [6, 3, 5], rng=1).passed
        True
        >>> def lazy(one, two):
        ...     return float(one.mean() > two.mean())
        >>> check = check_rule(lazy, [7, 9], [6, 10], rng=1)
        >>> print(check.sentence)  # doctest: +ELLIPSIS
        lazy must turn p into 1 - p when the items swap, got 0 for first 7.0, 9.0 ...
    """
    choice("kind", "probability", "statistic")(kind)
    one, two = (side.astype(np.float64) for side in as_lists(first, second))
    if not len(one) or not len(two):
        raise RatingsError(
            "first and second must be two lists with a score each, got "
            f"{len(one)} and {len(two)} scores."
        )
    seed, most, name = seed_from(rng), as_whole("limit", limit, 1), name_of(rule)
    sizes = [abs(float(answer(rule, one, two, kind)))]
    left = most - 1
    for swapped, rows in _chains(one, two, np.random.Generator(stream(seed, "check"))):
        places = [found for row in rows[:left] for found in _ask(rule, *row, kind)]
        sizes += [abs(place.value) for place in places]
        leads = _leads([place.value for place in places], kind, float(np.median(sizes)))
        falls = np.abs(leads[:-1] + leads[1:]) if swapped else leads[:-1] - leads[1:]
        if (falls > ROUNDING).any():
            place = int(np.argmax(falls > ROUNDING))
            failure = places[place], places[place + 1]
            text = _sentence(name, kind, *failure, swapped=swapped)
            return RuleCheck(len(sizes), text, failure)
        left -= len(rows)
        if left <= 0:
            break
    text = (
        f"{name} was asked {len(sizes)} times around the data, and no score was found "
        "at which it falls when it should rise, or does not turn round when the items "
        "swap."
    )
    return RuleCheck(len(sizes), text)


def answer(
    rule: OwnRule, first: Floats, second: Floats, kind: Kind
) -> float | Fraction:
    """Ask a user's function once, and check that it answers with what it should.

    Args:
        rule: The function; it gets copies of the scores.
        first: Scores of the first item.
        second: Scores of the second item.
        kind: "probability", or "statistic" for any number.

    Returns:
        Its answer, as a number of Python.

    Raises:
        OptionError: If it is not a probability, or not a number.

    Examples:
        >>> answer(np.dot, np.array([1.0, 2.0]), np.array([3.0, 4.0]), "statistic")
        11.0
    """
    value: object = rule(first.copy(), second.copy())
    if isinstance(value, np.ndarray | np.generic) and value.size == 1:
        value = value.item()
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        probable = kind == "statistic" or 0 <= value <= 1
        if probable and not (isinstance(value, float) and math.isnan(value)):
            return value
    wanted = "a probability in [0, 1]" if kind == "probability" else "a number"
    raise _NoAnswerError(
        f"{name_of(rule)} must return {wanted}, got {shown(value)} for "
        f"{_text(first, second)}."
    )


class _NoAnswerError(OptionError):
    """A rule returned something else; what it raises itself is no such error."""


def _ask(rule: OwnRule, one: Floats, two: Floats, kind: Kind) -> list[Place]:
    """Ask near the data; a rule may refuse with an error, which tells nothing."""
    try:
        with np.errstate(all="ignore"):
            return [Place(one, two, float(answer(rule, one, two, kind)))]
    except _NoAnswerError:
        raise
    except (ValueError, ArithmeticError):
        return []


def _chains(
    one: Floats, two: Floats, chance: np.random.Generator
) -> Iterator[tuple[bool, list[tuple[Floats, Floats]]]]:
    """Give chains of scores without end.

    The first item's chances must not fall along one, or it swaps the items.
    """
    scores, firsts = np.concatenate([one, two]), len(one)
    levels = np.unique(scores)
    inner = np.concatenate([levels, levels[1:] / 2 + levels[:-1] / 2])
    width = float(levels[-1] / 4 - levels[0] / 4) * 4
    width = min(width or max(1.0, abs(float(levels[0]))), LARGEST / 1e6)
    ends = np.where(BEYOND < 0, levels[0], levels[-1])
    outer = np.clip(ends + width * BEYOND, -LARGEST, LARGEST)
    places = chance.permutation(len(scores)).tolist()
    # With the same scores of both items only 1/2 can be turned round.
    bases = [np.full_like(scores, side[0]) for side in (one, two)]
    bases += [np.tile(side, 2) for side in (one, two) if len(one) == len(two)]
    bases.append(scores)
    while True:
        moved = chance.random(len(scores)) < chance.random()
        near = np.where(moved, chance.choice(inner, len(scores)), scores)
        paths = [(near, int(chance.integers(len(scores))))]
        paths += [(scores, places.pop())] if places else []
        for base, place in paths:
            some = chance.permutation(inner)[:MOST_TARGETS]
            targets = np.unique([*some, *outer, base[place]])
            rows = np.tile(base, (len(targets), 1))
            rows[:, place] = targets if place < firsts else targets[::-1]
            yield False, [(row[:firsts], row[firsts:]) for row in rows]
        base = bases.pop() if bases else near
        yield True, [(base[:firsts], base[firsts:]), (base[firsts:], base[:firsts])]


def _leads(values: list[float], kind: Kind, size: float) -> Floats:
    """Return how far the first item is ahead, from -1 to 1.

    The sign of a statistic that is all rounding, beside its usual size, says nothing.
    """
    found = np.array(values)
    if kind == "probability":
        return 2 * found - 1
    return np.sign(np.where(np.abs(found) > ROUNDING * size, found, 0.0))


def _text(first: Floats, second: Floats) -> str:
    one, two = (listing(_short(x) for x in side.tolist()) for side in (first, second))
    return f"first {one} and second {two}"


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _sentence(
    name: str, kind: Kind, before: Place, after: Place, *, swapped: bool
) -> str:
    got = f"got {before.value:.4g} for {_text(*before[:2])}, and {after.value:.4g}"
    if swapped:
        turn = "p into 1 - p" if kind == "probability" else "its sign round"
        rule = f"turn {turn} when the items swap"
        return f"{name} must {rule}, {got} with the items swapped."
    one, two = (np.concatenate(place[:2]) for place in (before, after))
    moved = int(np.flatnonzero(one != two)[0])
    old, new = _short(one[moved]), _short(two[moved])
    first = moved < len(before.first)
    rule = f"not fall when a {'first score rises' if first else 'second score falls'}"
    return f"{name} must {rule}, {got} when the score {old} there becomes {new}."

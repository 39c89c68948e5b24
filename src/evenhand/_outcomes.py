"""The exact law of a randomised procedure, by following every branch.

A procedure asks a `Chance` for its random choices. Handed a stream of bits it makes one
draw; handed to `outcomes` it is replayed until every sequence of choices was made once,
and each result carries its exact probability.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, TypeVar

from evenhand.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    Result = TypeVar("Result", bound=Hashable)

HALF = Fraction(1, 2)
_STATE = (
    "program must depend on chance alone, but it went another way when the same "
    "choices were replayed. Keep no state between runs."
)


class Chance(Protocol):
    """What a randomised procedure may ask for."""

    def pick(self, count: int) -> int:
        """Return one of 0, ..., count - 1, all equally likely."""

    def coin(self, p: Fraction) -> bool:
        """Return True with probability p."""


class _Branch:
    """A Chance that takes a prescribed path, and the first branch beyond it."""

    def __init__(self) -> None:
        # One entry per choice: which branch is taken, the branches' weights, and the
        # probability of the path before the choice.
        self._taken: list[int] = []
        self._weights: list[tuple[Fraction, ...]] = []
        self._before: list[Fraction] = []
        self._depth = 0

    def pick(self, count: int) -> int:
        if count < 1:
            raise OptionError(f"count must be at least 1, got {count!r}.")
        return self._choose(_equal(count))

    def coin(self, p: Fraction) -> bool:
        if not isinstance(p, Fraction | int) or not 0 <= p <= 1:
            raise OptionError(f"p must be a Fraction between 0 and 1, got {p!r}.")
        return self._choose((Fraction(p), 1 - Fraction(p))) == 0

    def weight(self) -> Fraction:
        """Return the probability of the path that was taken."""
        if self._depth != len(self._taken):
            raise OptionError(_STATE)
        if not self._taken:
            return Fraction(1)
        return self._before[-1] * self._weights[-1][self._taken[-1]]

    def advance(self) -> bool:
        """Go to the next path of positive probability; False after the last."""
        self._depth = 0
        while self._taken:
            later = _first_positive(self._weights[-1], self._taken[-1] + 1)
            if later is not None:
                self._taken[-1] = later
                return True
            self._taken.pop()
            self._weights.pop()
            self._before.pop()
        return False

    def _choose(self, weights: tuple[Fraction, ...]) -> int:
        if self._depth == len(self._taken):
            self._before.append(self.weight())
            self._taken.append(_first_positive(weights, 0) or 0)
            self._weights.append(weights)
        elif self._weights[self._depth] != weights:
            raise OptionError(_STATE)
        self._depth += 1
        return self._taken[self._depth - 1]


def outcomes(program: Callable[[Chance], Result]) -> dict[Result, Fraction]:
    """Return every result of a randomised procedure with its exact probability.

    The program is run once for each sequence of choices, so their number must be small.

    Args:
        program: A procedure that takes all its randomness from the Chance it is given
            and returns something hashable.

    Returns:
        From each possible result to its probability; they add up to one.

    Raises:
        OptionError: If a choice is not a proper one, or the program keeps state.

    Examples:
        >>> two_dice = outcomes(lambda chance: chance.pick(6) + chance.pick(6))
        >>> two_dice[10]
        Fraction(1, 36)
        >>> outcomes(lambda chance: chance.coin(Fraction(3, 4)))
        {True: Fraction(3, 4), False: Fraction(1, 4)}
    """
    law: dict[Result, Fraction] = {}
    branch = _Branch()
    while True:
        result = program(branch)
        law[result] = law.get(result, Fraction(0)) + branch.weight()
        if not branch.advance():
            return law


@functools.cache
def _equal(count: int) -> tuple[Fraction, ...]:
    return (Fraction(1, count),) * count


def _first_positive(weights: tuple[Fraction, ...], start: int) -> int | None:
    for index in range(start, len(weights)):
        if weights[index] > 0:
            return index
    return None

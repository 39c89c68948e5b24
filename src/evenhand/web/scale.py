"""The scales of an evaluation: numbers, letters, or an order of one's items."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.claims import Json

KINDS = ("number", "letters", "order")
MOST_LEVELS, FEWEST_LEVELS, MOST_STEPS = 26, 2, 1_000_000
LONGEST = 80


@dataclass(frozen=True, slots=True)
class RatingScale:
    """What reviewers rate on.

    Attributes:
        kind: "number", "letters" or "order".
        low: Least number.
        high: Largest number.
        step: What neighbouring numbers differ by.
        levels: For letters, each level and what it means, best first. The worst level
            counts 1, the next 2, and so on.
    """

    kind: str = "number"
    low: float = 0.0
    high: float = 100.0
    step: float = 0.1
    levels: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what nobody could rate on."""
        if self.kind not in KINDS:
            raise OptionError("The scale must be number, letters or order.")
        if self.kind == "number":
            self._check_numbers()
        if self.kind == "letters":
            names = [name for name, _ in self.levels]
            if not FEWEST_LEVELS <= len(names) <= MOST_LEVELS:
                raise OptionError(
                    f"Letters must have from {FEWEST_LEVELS} to {MOST_LEVELS} levels, "
                    f"got {len(names)}. Write one on each line, the best first."
                )
            if len(set(names)) < len(names) or not all(names):
                raise OptionError("Each level must have its own name.")
            if any(len(text) > LONGEST for level in self.levels for text in level):
                raise OptionError(f"A level must have at most {LONGEST} characters.")

    def _check_numbers(self) -> None:
        if not all(map(math.isfinite, (self.low, self.high, self.step))):
            raise OptionError("The scale must have numbers as its ends and its step.")
        if not self.low < self.high or self.step <= 0:
            raise OptionError(
                f"The scale must go up by a step above 0, got {number(self.low)} to "
                f"{number(self.high)} by {number(self.step)}."
            )
        if (self.high - self.low) / self.step > MOST_STEPS:
            raise OptionError("The step is too small for the scale.")

    def problem(self, score: float, size: int) -> str | None:
        """Say what is wrong with a score, None if it is on the scale.

        Args:
            score: The score.
            size: How many items the reviewer has, for an order.

        Examples:
            >>> RatingScale().problem(710, 3)
            'Score must be from 0 to 100, got 710.'
            >>> RatingScale().problem(71.5, 3)
        """
        low, high, step = self.low, self.high, self.step
        if self.kind != "number":
            low, step = 1.0, 1.0
            high = float(len(self.levels) if self.kind == "letters" else size)
        if not math.isfinite(score) or not low <= score <= high:
            return (
                f"Score must be from {number(low)} to {number(high)}, got "
                f"{number(score)}."
            )
        exact = [Fraction(str(value)) for value in (score, low, step)]
        if (exact[0] - exact[1]) % exact[2] and score != high:
            return (
                f"Score must be in steps of {number(step)} from {number(low)}, got "
                f"{number(score)}."
            )
        return None

    def label_of(self, score: float | None) -> str:
        """Return a score as its reviewer sees it.

        Examples:
            >>> RatingScale("letters", levels=(("A", "good"), ("B", "bad"))).label_of(2)
            'A'
            >>> RatingScale().label_of(None)
            'not rated'
        """
        if score is None:
            return "not rated"
        if self.kind == "letters":
            return self.levels[len(self.levels) - int(score)][0]
        return number(score)

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values."""
        plain = asdict(self)
        return {**plain, "levels": [list(level) for level in self.levels]}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> RatingScale:
        """Return the scale of `to_dict`.

        Examples:
            >>> RatingScale.from_dict(RatingScale("order").to_dict()).kind
            'order'
        """
        levels = tuple(
            (str(level), str(meaning)) for level, meaning in fields["levels"]
        )
        return cls(**{**fields, "levels": levels})


def number(value: float) -> str:
    """Write a number without needless digits.

    Examples:
        >>> number(64.0), number(71.5), number(float("inf"))
        ('64', '71.5', 'inf')
    """
    if math.isfinite(value) and value == int(value) and abs(value) < 10**15:
        return str(int(value))
    return repr(float(value))

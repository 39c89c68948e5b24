"""Errors that a user of evenhand may meet.

Every message is one or two full sentences that name the place and the value and say
what to do; the command line prints it as it is and exits with code 2.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN = 8
# Persian, Hindi and emojis are written with these; they move nothing.
JOINERS = "\u200c\u200d"


class EvenhandError(Exception):
    """Anything that evenhand refuses, in words for its user."""


class RatingsError(EvenhandError, ValueError):
    """The ratings cannot be used as they are."""


class ContradictionError(RatingsError):
    """The reviewers' comparisons contradict each other.

    Attributes:
        cycle: Item labels around one shortest cycle, each put above the next, and the
            last above the first.
        reviewers: For each item of the cycle, one reviewer who put it above the next.
    """

    def __init__(
        self, message: str, *, cycle: Sequence[object], reviewers: Sequence[object]
    ) -> None:
        """Keep the cycle beside the message."""
        super().__init__(message)
        self.cycle = tuple(cycle)
        self.reviewers = tuple(reviewers)


class OptionError(EvenhandError, ValueError):
    """A method, weight, seed or other option is unknown or out of range."""


class DesignError(EvenhandError, ValueError):
    """A random assignment cannot be drawn as asked, or is not what was declared."""


class RecordError(EvenhandError, ValueError):
    """A record is not ours, damaged, or of another version."""


class ConvergenceError(EvenhandError, RuntimeError):
    """A computation used up its budget before it was done."""


def listing(values: Iterable[object]) -> str:
    """List values for a message, quoted, at most eight of them.

    Examples:
        >>> listing(["Anna", "Bo", 3])
        "'Anna', 'Bo', 3"
        >>> listing(range(12))
        '0, 1, 2, 3, 4, 5, 6, 7 and 4 more'
    """
    shown = [repr(value) for value in values]
    more = len(shown) - SHOWN
    return ", ".join(shown[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def counted(number: object, noun: str) -> str:
    """Count things for a message, with commas in large numbers.

    Examples:
        >>> counted(1, "reviewer"), counted(1200, "item")
        ('1 reviewer', '1,200 items')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def unknown(what: str, name: object, known: Iterable[object]) -> str:
    """Say that a name is unknown, with the nearest known one.

    Examples:
        >>> unknown("reviewer", "anna", ["Anna", "Bo"])
        "unknown reviewer 'anna', did you mean 'Anna'? Known reviewers: 'Anna', 'Bo'."
        >>> unknown("method", "xyz", ["votes"])
        "unknown method 'xyz'. Known methods: 'votes'."
    """
    choices = list(known)
    by_text = {str(choice).casefold(): choice for choice in reversed(choices)}
    near = difflib.get_close_matches(str(name).casefold(), list(by_text), n=1)
    hint = f", did you mean {by_text[near[0]]!r}?" if near else "."
    plural = what if what.endswith("s") else f"{what}s"
    plural = f"{what}es" if what.endswith("ss") else plural
    return f"unknown {what} {name!r}{hint} Known {plural}: {listing(choices)}."


def printable(value: object) -> str:
    r"""Show a label or a message on one line, with control characters made visible.

    Examples:
        >>> print(printable("two\nlines"), printable(7))
        two\nlines 7
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in JOINERS
        else repr(character)[1:-1]
        for character in text
    )

"""Errors that a user of evenhand may meet.

Every message is one or two full sentences that name the place and the value and say
what to do; the command line prints it as it is and exits with code 2.
"""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import re
import shlex
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 8
# How alike a guess must be, and less so if both begin with the same letter: "half" is
# "halves" (0.6) and "anna" is "Hanna", but "lottery" is not "sorter" (0.62).
NEAR, BEGINS_ALIKE = 0.65, 0.6
# Persian, Hindi and emojis are written with these; they move nothing.
JOINERS = "\u200c\u200d"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class EvenhandError(Exception):
    """Anything that evenhand refuses, in words for its user."""


class RatingsError(EvenhandError, ValueError):
    """The ratings cannot be used as they are.

    Attributes:
        problems: Row, rule and advice of each bad value, if rows are to blame.
    """

    problems: tuple[tuple[int, str, str], ...] = ()


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


def shell_word(text: str) -> str:
    r"""Write a text as a shell takes it, on one line.

    Examples:
        >>> print(shell_word("two words"), shell_word("two\nlines"))
        'two words' $'two\nlines'
    """
    return shlex.quote(text) if text.isprintable() else f"${text!r}"


def quote(value: object) -> str:
    """Show a bad value in a message, on one line and cut to a readable length.

    Examples:
        >>> quote("x" * 200) == repr("x" * 76)[:-1] + "..."
        True
        >>> quote(10**5000)
        'a very large int'
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a very large {type(value).__name__}"
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= 80 else text[:77] + "..."


def must_be(name: str, rule: str, value: object) -> OptionError:
    """Return the refusal of an option that breaks a rule.

    Examples:
        >>> must_be("draws", "a whole number", 2.5)
        OptionError('draws must be a whole number, got 2.5.')
    """
    return OptionError(f"{name} must be {rule}, got {quote(value)}.")


def refuse_option(name: str, value: object, why: str) -> None:
    """Refuse an option that has no use where it was given.

    Examples:
        >>> refuse_option("scale", "bad<good", "for ranks: it orders scores")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: scale must be left out for ranks: it orders scores.
    """
    if value:
        raise OptionError(f"{name} must be left out {why}.")


def name_of(subject: object) -> str:
    """Return what a name or a user's function is called in results and messages.

    Examples:
        >>> import functools
        >>> name_of("votes"), name_of(min), name_of(functools.partial(min, 3))
        ('votes', 'min', 'min')
    """
    if isinstance(subject, str):
        return subject
    inner = getattr(subject, "func", subject)
    return str(getattr(inner, "__name__", type(inner).__name__))


def require_text(rule: str = "text", /, **options: object) -> None:
    """Refuse options that are neither None nor text.

    Examples:
        >>> require_text("the name of a column", reviewer=["judge", "prompt"])
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: reviewer must be the name of a column, got
        ['judge', 'prompt'].
    """
    for name, value in options.items():
        if value is not None and not isinstance(value, str):
            raise must_be(name, rule, value)


def require_sequence(rule: str, /, **options: object) -> None:
    """Refuse options that cannot be gone through one by one.

    Examples:
        >>> require_sequence("integers", levels=3)
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: levels must be a sequence of integers, got 3.
    """
    for name, value in options.items():
        if not isinstance(value, Iterable):
            raise must_be(name, f"a sequence of {rule}", value)


def require_whole(
    name: str, value: object, least: int, most: int | None = None, what: str = ""
) -> None:
    """Refuse what is not a whole number in a range.

    Args:
        name: The option.
        value: What was given.
        least: Smallest number allowed.
        most: Largest number allowed, if there is one.
        what: What the largest number is.

    Raises:
        OptionError: If it is something else.

    Examples:
        >>> require_whole("draws", 7, 1)
    """
    # Integers of NumPy register as Integral, too.
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not least <= value <= (value if most is None else most):  # type: ignore[operator]  # an integer
        rule = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise must_be(name, f"a whole number {rule}{what and f', {what}'}", value)


def as_whole(name: str, value: object, least: int) -> int:
    """Return a whole number of at least so much.

    Raises:
        OptionError: If it is not one.

    Examples:
        >>> as_whole("limit", 3, 1)
        3
    """
    require_whole(name, value, least)
    return int(value)  # type: ignore[call-overload,no-any-return]  # an integer here


def as_finite(name: str, value: object) -> Fraction:
    """Return a finite number, exactly.

    Raises:
        OptionError: If it is not one.

    Examples:
        >>> as_finite("c", 0.5)
        Fraction(1, 2)
    """
    number = value
    if isinstance(value, numbers.Number) and hasattr(value, "item"):
        number = value.item()  # of NumPy
    if isinstance(number, int | float | Fraction) and not isinstance(number, bool):
        if isinstance(number, float) and not math.isfinite(number):
            raise OptionError(f"{name} must be finite, got {value!r}.")
        return Fraction(number)
    raise must_be(name, "a number", value)


def as_positive(name: str, value: object) -> Fraction:
    """Return a finite number above 0, exactly.

    Raises:
        OptionError: If it is not one.

    Examples:
        >>> as_positive("scale", 2)
        Fraction(2, 1)
    """
    number = as_finite(name, value)
    if number <= 0:
        raise OptionError(f"{name} must be above 0, got {value!r}.")
    return number


def require_function(name: str, value: object, *arguments: str) -> None:
    """Refuse what cannot be called with these arguments.

    Examples:
        >>> require_function("start", len, "the comparisons", "a Generator")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: start must be a function of 2 arguments, the
        comparisons and a Generator, got <built-in function len>.
    """
    try:
        inspect.signature(value).bind(*arguments)  # type: ignore[arg-type]  # or else
    except TypeError:
        number = plural(len(arguments), "argument")
        rule = f"a function of {number}, {' and '.join(arguments)}"
        raise must_be(name, rule, value) from None
    except ValueError:
        pass  # a function in C that does not say what it takes


def listing(values: Iterable[object]) -> str:
    """List values for a message, quoted, at most eight of them.

    Examples:
        >>> listing(["Anna", "Bo", 3])
        "'Anna', 'Bo', 3"
        >>> listing(range(12))
        '0, 1, 2, 3, 4, 5, 6, 7 and 4 more'
    """
    texts = [repr(value) for value in values]
    more = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def plural(number: object, noun: str) -> str:
    """Count things for a message, with commas in large numbers.

    Examples:
        >>> plural(1, "reviewer"), plural(1200, "item")
        ('1 reviewer', '1,200 items')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def unknown(what: str, name: object, choices: Iterable[object], *, of: str = "") -> str:
    """Say that a name is unknown, with the nearest known one.

    Examples:
        >>> unknown("reviewer", "anna", ["Anna", "Bo"])
        "unknown reviewer 'anna', did you mean 'Anna'? Known reviewers: 'Anna', 'Bo'."
        >>> unknown("method", "xyz", ["votes"])
        "unknown method 'xyz'. Known methods: 'votes'."
        >>> unknown("option", "ep", ["eps"], of="guarded")
        "unknown option 'ep' of guarded, did you mean 'eps'? Known options: 'eps'."
    """
    listed = list(choices)
    by_text = {str(choice).casefold(): choice for choice in reversed(listed)}
    typed = str(name).casefold()
    near = difflib.get_close_matches(typed, list(by_text), 1, NEAR)
    alike = [text for text in by_text if text[:1] == typed[:1]]
    near = near or difflib.get_close_matches(typed, alike, 1, BEGINS_ALIKE)
    hint = f", did you mean {by_text[near[0]]!r}?" if near else "."
    kinds = what if what.endswith("s") else f"{what}s"
    kinds = f"{what}es" if what.endswith("ss") else kinds
    whose, all_known = f" of {of}" if of else "", listing(listed) or "none"
    return f"unknown {what} {name!r}{whose}{hint} Known {kinds}: {all_known}."


def align_columns(table: Sequence[Sequence[str]]) -> list[str]:
    """Lay out rows of cells in columns, to the right but for the second.

    Examples:
        >>> align_columns([("rank", "item"), ("1", "x")])
        ['rank  item', '   1  x   ']
    """
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    sides = [str.rjust, str.ljust, *[str.rjust] * len(widths)]
    return [
        "  ".join(
            side(cell, width)
            for side, cell, width in zip(sides, row, widths, strict=False)
        )
        for row in table
    ]


def visible(text: str) -> str:
    r"""Show the control characters in a table or a query; lines and tabs stay.

    Examples:
        >>> print(visible("a\x1b[31m,1"))
        a\x1b[31m,1
    """
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def printable(value: object) -> str:
    r"""Show a label or a message on one line, with control characters made visible.

    Examples:
        >>> print(printable("two\nlines"), printable(7))
        two\nlines 7
    """
    return "".join(
        character
        if character.isprintable() or character in JOINERS
        else repr(character)[1:-1]
        for character in str(value)
    )

"""Score words and letters, mapped by an order that the user declares.

The words of a form have an order, but no distances. They are given the numbers 1, 2,
3, ... in their order; a method that uses the sizes of scores then treats steps as
equal, which is said in `words_as_steps`. Numbers may be words too: "5<4<3<2<1" is the
scale of schools where 1 is best.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.claims import Notice
from evenhand.columns import MISSING_WORDS
from evenhand.errors import OptionError, listing, shown
from evenhand.formats.layouts import is_number
from evenhand.formats.tables import texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.columns import Source
    from evenhand.formats.tables import Values

LETTER = re.compile(r"[A-Za-z]")
EMPTY = "Leave the cell empty where there is no score."
FARTHEST = 5
"""Letters of one scale are no further apart; a lone Z after A to E is a slip."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An order of score words.

    Attributes:
        steps: Number of each word, in small letters; higher is better.
        best: The best letter, where letters count from it; else empty.
    """

    steps: Mapping[str, float]
    best: str = ""


def parse_scale(order: str = "", best: str = "") -> Scale:
    """Take the order of words or the best letter from their options.

    Args:
        order: Words from worst to best with < between them.
        best: The best letter of a scale of single letters.

    Returns:
        The scale.

    Raises:
        OptionError: If both are given, or one cannot be used.

    Examples:
        >>> parse_scale("reject < weak reject < accept").steps
        {'reject': 1.0, 'weak reject': 2.0, 'accept': 3.0}
    """
    if order and best:
        raise OptionError("scale and best must not both be given.")
    if best:
        if not LETTER.fullmatch(best.strip()):
            raise OptionError(
                f"best must be a single letter, got {shown(best)}. Give the order of "
                "other grades with scale= or --scale."
            )
        return Scale({}, best.strip().casefold())
    _check_signs(order)
    words = [_folded(word) for word in order.split("<")]
    if len(words) < 2 or not all(words):  # noqa: PLR2004 - one word has no order
        raise OptionError(
            "scale must be words from worst to best with < between them, such as "
            f"'reject<accept', got {shown(order)}."
        )
    twice = next((word for word in words if words.count(word) > 1), "")
    if twice:
        raise OptionError(f"scale must name each word once, got {shown(twice)} twice.")
    return Scale({word: float(step) for step, word in enumerate(words, start=1)})


def _check_signs(order: str) -> None:
    """Refuse other signs than <, with the order that was probably meant."""
    rule = f"scale must have < between its words, worst first, got {shown(order)}."
    if re.search(r"[<>]\s*=|[\u2264\u2265]", order):
        raise OptionError(f"{rule} Each word is a step of its own: write < alone.")
    if ">" in order:
        turned = "<".join(word.strip() for word in reversed(order.split(">")))
        hint = "" if "<" in order else f" Did you mean {shown(turned)}?"
        raise OptionError(f"{rule}{hint}")


def number_words(
    values: Values, what: str, source: Source, scale: Scale
) -> tuple[list[object], Notice]:
    """Turn a column of score words into numbers.

    Args:
        values: The column.
        what: Its name.
        source: Its file and lines.
        scale: The order of the words.

    Returns:
        A number for each word, None where there is none; and a notice that says which
        number each word got.

    Raises:
        RatingsError: If a word is not on the scale.

    Examples:
        >>> from evenhand.columns import Source
        >>> number_words(["B", "", "A"], "merit", Source(), parse_scale(best="A"))[0]
        [1.0, None, 2.0]
    """
    words = texts(values)
    # A look at the distinct words only, since a file may have a million rows.
    keys = {word: _folded(word) for word in dict.fromkeys(words) if word}
    steps = scale.steps or _letters(keys, words, what, source, scale.best)
    bad = next((word for word, key in keys.items() if key not in steps), "")
    if bad:
        kind = "" if any(map(is_number, steps)) else "words"
        raise source.at(
            words.index(bad),
            f"{what} must be on the scale {_order(steps)}, got {shown(bad)}",
            _advice(bad, kind, "Add it to --scale or mend the file."),
        )
    found: dict[str, object] = {word: steps[key] for word, key in keys.items()}
    text = (
        f"Words of {what!r} stand for numbers: "
        f"{', '.join(f'{_shown(word)} = {step:g}' for word, step in steps.items())}. "
        "Methods that use the sizes of scores take these steps as equal."
    )
    return [found.get(word) for word in words], Notice("words_as_steps", text)


def _advice(word: str, kind: str, advice: str) -> str:
    """Say what to do about a word that is not on a scale of words or letters."""
    if word.casefold() in MISSING_WORDS:
        return EMPTY
    if kind and is_number(word):
        return f"Numbers and {kind} cannot be one scale."
    return advice


def _letters(
    keys: Mapping[str, str], words: list[str], what: str, source: Source, best: str
) -> dict[str, float]:
    """Number letters by their distance from the best one."""
    bad = next((word for word in keys if not LETTER.fullmatch(word)), "")
    if bad:
        order = "Give the order of such grades with scale= or --scale."
        text = f"{what} must be one letter, got {shown(bad)}"
        raise source.at(words.index(bad), text, _advice(bad, "letters", order))
    seen = sorted({*keys.values(), best})
    if best not in (seen[0], seen[-1]):
        raise source.whole(
            f"best must be the first or the last letter of the scale, got "
            f"{best.upper()!r} among {listing(letter.upper() for letter in seen)}. "
            "Give the order with scale= or --scale."
        )
    for one, two in itertools.pairwise(sorted(seen, reverse=best == seen[-1])):
        if abs(ord(one) - ord(two)) > FARTHEST:
            row = next(row for row, word in enumerate(words) if keys.get(word) == two)
            raise source.at(
                row,
                f"{what} must be a letter of one scale, got {shown(words[row])} where "
                f"the nearest is {one.upper()!r}",
                "Give the order with scale= or --scale.",
            )
    worst = max(seen, key=lambda letter: abs(ord(letter) - ord(best)))
    ordered = sorted(seen, reverse=worst > best)
    return {letter: 1.0 + abs(ord(letter) - ord(worst)) for letter in ordered}


def _folded(word: str) -> str:
    """Reduce a word to what is compared: 2.0 is 2, and case does not matter."""
    text = " ".join(word.split())
    if is_number(text):
        return f"{float(text):.15g}"
    return text.casefold()


def _order(steps: Mapping[str, float]) -> str:
    return "<".join(map(_shown, sorted(steps, key=lambda word: steps[word])))


def _shown(word: str) -> str:
    return word.upper() if LETTER.fullmatch(word) else word

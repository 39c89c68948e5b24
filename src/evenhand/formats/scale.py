"""Score cells: numbers with a base or words beside them; words and letters.

"8/10" and "5. Strong accept" begin with their number. The words of a form have an
order, but no distances. They are given the numbers 1, 2, 3, ... in their order; a
method that uses the sizes of scores then treats steps as equal, which is said in
`words_as_steps`. Numbers may be words too: "5<4<3<2<1" is the scale of schools where 1
is best.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

import polars as pl

from evenhand.claims import Notice
from evenhand.columns import MISSING_WORDS
from evenhand.errors import OptionError, listing, shown
from evenhand.formats.layouts import is_number, scored
from evenhand.formats.tables import texts

if TYPE_CHECKING:
    from evenhand.columns import Source
    from evenhand.formats.tables import Values

LETTER = re.compile(r"[A-Za-z]")
BEST = re.compile(r"\s*best\s*=\s*(.*?)\s*")
BASE = re.compile(r"\s*/\s*(?=.*[1-9])([0-9]+(?:\.[0-9]+)?)\s*")
NUMBERS = re.compile(
    r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:\s*(?:/|out of)\s*([0-9]+(?:\.[0-9]+)?))?"
)
FARTHEST = 5
"""Letters of one scale are no further apart; a lone Z after A to E is a slip."""


def parse_scale(order: str) -> dict[str, float]:
    """Take the order of words from the option.

    Args:
        order: Words from worst to best with < between them.

    Returns:
        Number of each word, in small letters; higher is better.

    Raises:
        OptionError: If it cannot be used.

    Examples:
        >>> parse_scale("reject < weak reject < accept")
        {'reject': 1.0, 'weak reject': 2.0, 'accept': 3.0}
    """
    words = [_folded(word) for word in order.split("<")]
    if not all(words) or len(words) == 1 or re.search("[>=\u2264\u2265]", order):
        raise OptionError(
            "scale must be words from worst to best with < between them, such as "
            "'reject<accept', or best= and a letter, or / and a base, such as /10, got "
            f"{shown(order)}."
        )
    twice = next((word for word in words if words.count(word) > 1), "")
    if twice:
        raise OptionError(f"scale must name each word once, got {shown(twice)} twice.")
    return {word: float(step) for step, word in enumerate(words, start=1)}


def number_column(
    values: Values, what: str, source: Source, scale: str = ""
) -> tuple[list[object], list[Notice]]:
    """Turn a column of scores into numbers, by a scale if one is given.

    Examples:
        >>> from evenhand.columns import Source
        >>> number_column(["good", "bad"], "mark", Source(), "bad<good")[0]
        [2.0, 1.0]
    """
    if not scale or BASE.fullmatch(scale):
        return number_cells(values, what, source, scale)
    numbers, notice = number_words(values, what, source, scale)
    return numbers, [notice]


def number_cells(
    values: Values, what: str, source: Source, base: str = ""
) -> tuple[list[object], list[Notice]]:
    """Turn cells such as "8/10", "5. Strong accept" and "n/a" into numbers.

    Args:
        values: The column.
        what: Its name.
        source: Its file and lines.
        base: "/" and what all scores are to be out of, or empty.

    Returns:
        Each cell's number, None where there is no score. A cell that is something else
        stays as it is, so that the usual error names its place. And what to say.

    Raises:
        RatingsError: If scores are out of several numbers and no base is given.

    Examples:
        >>> from evenhand.columns import Source
        >>> number_cells(["8/10", "n/a", "5"], "mark", Source())[0]
        ['8', None, '5']
        >>> number_cells(["4/5", "9/10"], "mark", Source(), "/10")[0]
        [8.0, 9.0]
    """
    cells = texts(values)
    # A look at the distinct cells only, since a file may have a million rows.
    distinct = pl.Series(list(dict.fromkeys(cells)), dtype=pl.String)
    numbers = distinct.filter(scored(distinct)).to_list()
    parsed = {cell: match for cell in numbers if (match := NUMBERS.match(cell))}
    bases: dict[str, str] = {}
    for cell, match in parsed.items():
        if match[2]:
            bases.setdefault(match[2], cell)
    onto = BASE.fullmatch(base)
    if len({*map(float, bases)}) > 1 and not onto:
        raise source.whole(
            f"{what} has scores out of several numbers: {listing(bases.values())}. Put "
            "all onto one scale, for instance with scale= or --scale "
            f"/{max(bases, key=float)}."
        )
    most = float(onto[1]) if onto else min(map(float, bases), default=math.inf)
    found: dict[str, object] = {"": None}
    for cell in {*cells} - parsed.keys():
        found[cell] = None if cell.casefold() in MISSING_WORDS else cell or None
    bad = []
    for cell, match in parsed.items():
        number, limit = match[1], float(match[2] or most)
        if float(number) > limit or not limit:
            hint = "" if match[2] else f"Other scores are out of {most:g}."
            rule = f"at most {limit:g}" if limit else "out of more than 0"
            row = cells.index(cell)
            bad.append((row, f"{what} must be {rule}, got {shown(cell)}", hint))
        else:
            found[cell] = float(number) * most / limit if onto and match[2] else number
    if bad:
        raise source.each(bad)
    others = (cell for base, cell in bases.items() if float(base) != most)
    example = next(others, next(iter(bases.values()), ""))
    text = f"Scores of {what!r} are out of {most:g}: {example} counts as"
    said = f"{text} {float(str(found[example])):g}." if bases else ""
    notices = [Notice("score_base", said)] if bases else []
    kept = (bool, list, dict)
    return [
        value if isinstance(value, kept) else found[cell]
        for cell, value in zip(cells, values, strict=True)
    ], notices


def number_words(
    values: Values, what: str, source: Source, scale: str
) -> tuple[list[object], Notice]:
    """Turn a column of score words into numbers.

    Args:
        values: The column.
        what: Its name.
        source: Its file and lines.
        scale: The order of the words, or "best=" and a letter.

    Returns:
        A number for each word, None where there is none; and a notice that says which
        number each word got.

    Raises:
        RatingsError: If a word is not on the scale.

    Examples:
        >>> from evenhand.columns import Source
        >>> number_words(["B", "", "A"], "merit", Source(), "best=A")[0]
        [1.0, None, 2.0]
    """
    words = texts(values)
    # A look at the distinct words only, since a file may have a million rows.
    keys = {word: _folded(word) for word in dict.fromkeys(words) if word}
    best = BEST.fullmatch(scale)
    if best:
        steps = _letters({*keys.values()}, what, source, best[1])
    else:
        steps = parse_scale(scale)
    keys = {
        it: key for it, key in keys.items() if key in steps or key not in MISSING_WORDS
    }
    bad = [word for word, key in keys.items() if key not in steps]
    if bad:
        order = "<".join(map(_shown, sorted(steps, key=lambda word: steps[word])))
        raise source.each(
            (
                words.index(word),
                f"{what} must be on the scale {order}, got {shown(word)}",
                "Add it to --scale or mend the file.",
            )
            for word in bad
        )
    text = (
        f"Words of {what!r} stand for numbers: "
        f"{', '.join(f'{_shown(word)} = {step:g}' for word, step in steps.items())}. "
        "Methods that use the sizes of scores take these steps as equal."
    )
    numbers = {word: steps[key] for word, key in keys.items()}
    return [numbers.get(word) for word in words], Notice("words_as_steps", text)


def _letters(keys: set[str], what: str, source: Source, best: str) -> dict[str, float]:
    """Number letters by their distance from the best one."""
    seen = sorted({key for key in keys if LETTER.fullmatch(key)} | {best.casefold()})
    if not LETTER.fullmatch(best):
        raise OptionError(
            f"scale must be best= and a single letter, got {shown(f'best={best}')}. "
            "Give the order of other grades as 'worst<...<best'."
        )
    ordered = sorted(seen, reverse=best.casefold() == seen[0])
    far = any(abs(ord(a) - ord(b)) > FARTHEST for a, b in itertools.pairwise(ordered))
    if ordered[-1] != best.casefold() or far:
        raise source.whole(
            f"{what} must have letters of one scale that ends in {best.upper()!r}, got "
            f"{listing(letter.upper() for letter in seen)}. Give the order with scale= "
            "or --scale."
        )
    return {letter: 1.0 + abs(ord(letter) - ord(ordered[0])) for letter in ordered}


def _folded(word: str) -> str:
    """Reduce a word to what is compared: 2.0 is 2, and case does not matter."""
    text = " ".join(word.split())
    if is_number(text):
        return f"{float(text):.15g}"
    return text.casefold()


def _shown(word: str) -> str:
    return word.upper() if LETTER.fullmatch(word) else word

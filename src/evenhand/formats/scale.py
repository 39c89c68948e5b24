"""Score cells: which cells are scores, and the numbers of words and letters.

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
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.claims import DataWarning
from evenhand.columns import NUMBER, number_series
from evenhand.errors import OptionError, RatingsError, listing, must_be, quote
from evenhand.formats.tables import NOTHING, Table, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.claims import Json
    from evenhand.columns import Source

LETTER = re.compile(r"[A-Za-z]")
BEST = re.compile(r"\s*best\s*=\s*([A-Za-z])\s*")
BASE = re.compile(r"\s*/\s*(?=.*[1-9])([0-9]+(?:\.[0-9]+)?)\s*")
DIGITS = NUMBER.strip("^$")
NUMBERS = re.compile(rf"({DIGITS})(?:\s*(?:/|out of)\s*([0-9]+(?:\.[0-9]+)?))?")
LED = (
    rf"^{DIGITS}(?:\s*(?:/|out of)\s*[0-9]+(?:\.[0-9]+)?|"
    r"\s*[:.)(=\x{2013}\x{2014}-]\s*\p{L}.*|\s+\p{L}[^\d\n]*)$"
)
"""A number with its base or its words: 8/10, "5. Strong accept", "5 (accept)"."""
CHANGED = (
    rf"(?i)^{DIGITS}(?:[:.(=-]+e[+-]?[0-9]|\s+(?:k|m|mio|mn|bn)\.?$|"
    r"\s+(?:dozen|hundred|thousand|[mb]illion|trillion|lakh|crore)s?\b|"
    r"[^\w]+(?:and a half|n/?a|missing|no answer|not (?:rated|answered|applicable))\b|"
    r"\s+point\s+\p{L}|[^\w/]*\b(?:or|to|and)\b[^0-9]*[0-9]|"
    r"-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:-[0-9]+)?$)"
)
"""What follows makes another number of it, or none: 2.e-5x, "2 k", "3 (or 4)", a date,
"99 - no answer"."""
ORDER = (
    "words from worst to best with < between them, such as 'reject<accept', or best= "
    "and a letter, or / and a base, such as /10"
)
USUAL = (
    "strongly disagree<disagree<neutral<agree<strongly agree",
    "strongly disagree<disagree<neither agree nor disagree<agree<strongly agree",
    "strongly disagree<disagree<somewhat disagree<neither agree nor disagree<"
    "somewhat agree<agree<strongly agree",
    "very poor<poor<fair<good<very good<excellent",
    "very bad<bad<neutral<good<very good",
    "very dissatisfied<dissatisfied<neutral<satisfied<very satisfied",
    "very unlikely<unlikely<neutral<likely<very likely",
)
"""Scales whose words have one order for everybody."""
CONFIDENCE = (
    "none<low<medium<high<expert",
    "very low<low<medium<high<very high",
    "not confident<somewhat confident<fairly confident<confident<quite confident<"
    "very confident<extremely confident<absolutely certain",
    "no knowledge<some familiarity<familiar<knowledgeable<very knowledgeable<expert",
    "not at all<slightly<moderately<very<extremely",
)
"""The same of confidence."""
MOST_WORDS = 12
LONGEST_WORD = 40
FARTHEST = 5
"""Letters of one scale are no further apart; a lone Z after A to E is a slip."""


def is_number(text: str) -> bool:
    """Return whether a text is a number.

    Examples:
        >>> is_number("2.5"), is_number("B")
        (True, False)
    """
    return re.fullmatch(NUMBER, text) is not None


def filled_cells(values: pl.Series | Sequence[object]) -> pl.Series:
    """Return the cells of a column that hold something, as text.

    Examples:
        >>> filled_cells(["3", "n/a", None, "x", "4"]).to_list()
        ['3', '4']
    """
    cells = strings(values)
    return cells.filter(~cells.str.to_lowercase().is_in(NOTHING))


def are_scores(cells: pl.Series) -> pl.Series:
    """Return which cells are numbers, or begin with one that a base or words follow.

    Examples:
        >>> cells = pl.Series(["2e-05", "8/10", "5. Strong accept", "B", "7 to 8"])
        >>> are_scores(cells).to_list()
        [True, True, True, False, False]
    """
    led = cells.str.contains(LED) & ~cells.str.contains(CHANGED)
    return cells.str.contains(NUMBER) | led


def may_be_scores(values: pl.Series | Sequence[object], least: int = 1) -> bool:
    """Return whether most of a column are numbers or few short words, at least so many.

    One bad cell must not hide the field: another would then be taken for the score.

    Examples:
        >>> may_be_scores(["3", "B", "4", "5"]), may_be_scores(["A long remark."])
        (True, False)
    """
    if any(isinstance(value, list | dict | pl.Series) for value in values):
        return False
    cells = filled_cells(values)
    distinct = cells.n_unique()
    short = (cells.str.len_chars() <= LONGEST_WORD) & ~cells.str.ends_with(".")
    words = cells.filter(short)
    numbers = are_scores(cells) & (short | (distinct <= MOST_WORDS))
    if numbers.any() and 2 * int(numbers.sum()) >= len(cells):
        return True
    few = distinct >= least and words.n_unique() <= MOST_WORDS
    return few and 2 * len(words) >= len(cells) > 0


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
    words = [_fold_case(word) for word in order.split("<")]
    if not all(words) or len(words) == 1 or re.search("[>=\u2264\u2265]", order):
        raise must_be("scale", ORDER, order)
    twice = next((word for word in words if words.count(word) > 1), "")
    if twice:
        raise OptionError(f"scale must name each word once, got {quote(twice)} twice.")
    return {word: float(step) for step, word in enumerate(words, start=1)}


def usual_scale(
    values: pl.Series | Sequence[object], usual: Sequence[str] = USUAL
) -> str:
    """Return the usual scale that all words of a column are on, or an empty text.

    Examples:
        >>> usual_scale(["Good", "fair", ""])
        'very poor<poor<fair<good<very good<excellent'
    """
    words = {_fold_case(word) for word in filled_cells(values).unique()}
    scales = (scale for scale in usual if words <= {*scale.split("<")})
    return next(scales, "") if len(words) > 1 else ""


def number_column(table: Table, name: str, scale: str = "") -> Table:
    """Turn a column of scores into numbers, by a scale if one is given.

    Args:
        table: The table.
        name: Its column of scores.
        scale: The order of words, "best=" and a letter, or "/" and a base.

    Returns:
        The table with each cell's number as text, null where there is no score, and
        with a notice. Without an order a cell that is something else stays as it is, so
        that the usual error names its place.

    Raises:
        RatingsError: If a word is not on the scale, or scores are out of several
            numbers and no base is given.

    Examples:
        >>> from evenhand.columns import Source
        >>> table = Table.of({"mark": ["good", "bad", ""]}, Source())
        >>> number_column(table, "mark", "bad<good").columns["mark"].to_list()
        ['2.0', '1.0', None]
        >>> table = Table.of({"mark": ["8/10", "n/a", "2e-05"]}, Source())
        >>> number_column(table, "mark").columns["mark"].to_list()
        ['8', None, '2e-05']
    """
    cells, source = strings(table.columns[name]), table.source
    numbered = _leading_numbers if not scale or BASE.fullmatch(scale) else _number_words
    # A look at the distinct cells only, since a file may have a million rows.
    distinct = cells.unique(maintain_order=True)
    number_of, bad, warning = numbered(distinct, name, source, scale)
    if bad:
        raise source.each(
            (
                cells.index_of(cell) or 0,
                f"{name} must be {rule}, got {quote(cell)}",
                hint,
            )
            for cell, (rule, hint) in bad.items()
        )
    numbers = cells.replace_strict(number_of, return_dtype=pl.String)
    table = replace(table, columns={**table.columns, name: numbers})
    return table.warn(warning.code, **warning.facts) if warning else table


def order_levels(table: Table, name: str, order: str = "") -> Table:
    """Put words of confidence into their order: that of their numbers, or as said.

    Raises:
        RatingsError: If no order is known.

    Examples:
        >>> from evenhand.columns import Source
        >>> table = Table.of({"sure": ["4. High", "High", "2: low"]}, Source())
        >>> order_levels(table, "sure", "2: low<high<4. high").columns["sure"].dtype
        Enum(categories=['2: low', 'High', '4. High'])
        >>> table = Table.of({"sure": ["4. High", "2: low", ""]}, Source())
        >>> order_levels(table, "sure").columns["sure"].dtype
        Enum(categories=['2: low', '4. High'])
    """
    cells = table.columns[name]
    if cells.dtype == pl.Enum or (cells.dtype.is_numeric() and not order):
        return table
    order = order or usual_scale(cells, CONFIDENCE)
    try:
        numbered = number_column(replace(table, notices=()), name, order).columns[name]
        numbers, missing = number_series(numbered, name, table.source)
    except RatingsError as error:
        advice = "Give their order from least to most: --confidence"
        raise RatingsError(f"{error} {advice} '{name}=low<medium<high'.") from None
    levels = pl.DataFrame({"number": numbers, "word": strings(cells)}).filter(~missing)
    levels = levels.group_by("number", maintain_order=True).first().sort("number")
    words = levels["word"].to_list()
    named = pl.Series(numbers).replace_strict(
        levels["number"], words, default=None, return_dtype=pl.Enum(words)
    )
    return replace(table, columns={**table.columns, name: named})


Numbered = tuple[
    dict[str, float | str | None], dict[str, tuple[str, str]], DataWarning | None
]
"""Each cell's number, rule and hint for bad cells, and code and text of a notice."""


def _number_words(
    distinct: pl.Series, what: str, source: Source, scale: str
) -> Numbered:
    """Turn words and letters into steps."""
    keys = {word: _fold_case(word) for word in distinct}
    best = BEST.fullmatch(scale)
    if best:
        steps = _letters({*keys.values()}, what, source, best[1])
    else:
        steps = parse_scale(scale)
    order = "<".join(map(_display_word, sorted(steps, key=lambda word: steps[word])))
    problem = f"on the scale {order}", "Add it to --scale or mend the file."
    strange = {*keys.values()} - {*steps, *NOTHING}
    bad = {word: problem for word, key in keys.items() if key in strange}
    named: Json = [[_display_word(word), step] for word, step in steps.items()]
    warning = DataWarning("words_as_steps", {"column": what, "steps": named})
    numbers = {word: steps.get(key) for word, key in keys.items()}
    return {**numbers}, bad, warning


def _leading_numbers(
    distinct: pl.Series, what: str, source: Source, scale: str
) -> Numbered:
    """Turn cells such as "8/10", "5. Strong accept" and "n/a" into numbers."""
    numeric = distinct.filter(are_scores(distinct))
    parsed = {cell: match for cell in numeric if (match := NUMBERS.match(cell))}
    bases = {match[2]: cell for cell, match in reversed([*parsed.items()]) if match[2]}
    onto = BASE.fullmatch(scale)
    if len({*map(float, bases)}) > 1 and not onto:
        raise source.whole(
            f"{what} has scores out of several numbers: {listing(bases.values())}. Put "
            "all onto one scale, for instance with scale= or --scale "
            f"/{max(bases, key=float)}."
        )
    most = float(onto[1]) if onto else min(map(float, bases), default=math.inf)
    numbers: dict[str, float | str | None] = {
        cell: None if cell.casefold() in NOTHING else cell for cell in distinct
    }
    bad = {}
    for cell, match in parsed.items():
        number, limit = match[1], float(match[2] or most)
        if float(number) > limit or not limit:
            hint = "" if match[2] else f"Other scores are out of {most:g}."
            bad[cell] = f"at most {limit:g}" if limit else "out of more than 0", hint
        elif onto and match[2]:
            number = str(float(number) * most / limit)
        numbers[cell] = number
    if not bases or bad:
        return numbers, bad, None
    others = (cell for base, cell in bases.items() if float(base) != most)
    example = next(others, next(iter(bases.values())))
    facts: dict[str, Json] = {"column": what, "base": most, "example": example}
    facts["number"] = float(numbers[example] or 0)
    return numbers, bad, DataWarning("score_base", facts)


def _letters(keys: set[str], what: str, source: Source, best: str) -> dict[str, float]:
    """Number letters by their distance from the best one."""
    seen = sorted({key for key in keys if LETTER.fullmatch(key)} | {best.casefold()})
    ordered = sorted(seen, reverse=best.casefold() == seen[0])
    far = any(abs(ord(a) - ord(b)) > FARTHEST for a, b in itertools.pairwise(ordered))
    if ordered[-1] != best.casefold() or far:
        raise source.whole(
            f"{what} must have letters of one scale that ends in {best.upper()!r}, got "
            f"{listing(letter.upper() for letter in seen)}. Give the order with scale= "
            "or --scale."
        )
    return {letter: 1.0 + abs(ord(letter) - ord(ordered[0])) for letter in ordered}


def _fold_case(word: str) -> str:
    """Reduce a word to what is compared: 2.0 is 2, and case does not matter."""
    text = " ".join(word.split())
    if is_number(text):
        return f"{float(text):.15g}"
    return text.casefold()


def _display_word(word: str) -> str:
    return word.upper() if LETTER.fullmatch(word) else word

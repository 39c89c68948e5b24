"""Wide tables: items by reviewers, or the other way round, as the user says.

Nothing in a wide table tells which way round it is, so it is never guessed. Nothing
tells a reviewer's column from another column of numbers either; a column that is named
like a summary, a number or a remark is refused.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.columns import ALIASES, Columns, Source
from evenhand.errors import counted, listing, must_be, require_unused, shown
from evenhand.formats import layouts
from evenhand.formats.scale import given, is_number, may_be_scores, scored
from evenhand.formats.tables import Table, plain, strings

Floats = NDArray[np.float64]

OTHER_WAY = {"item": "reviewer", "reviewer": "item"}
SUMMARY = re.compile(
    r"(?:weighted |overall |grand |final |sub ?|adjusted |normali[sz]ed |scores? )*"
    r"(?:mean|average|avg|total|sum|median|rank|ranking|stdev|stddev|std|sd|std dev|"
    r"standard deviation|variance|var|min|max|minimum|maximum|count|n|result|overall|"
    r"(?:final|combined|aggregate|weighted|adjusted) score|mittel|mittelwert|schnitt|"
    r"durchschnitt|summe|gesamt|rang|standardabweichung|moyenne|somme|ecart type|"
    r"mediane?|mediana|promedio|suma|gemiddelde|weights?|max points|out of|"
    r"[\u03bc\u03c3\u00f8\u2205\u2211])"
    r"(?: (?:of )?(?:scores?|ratings?|grades?|marks?|points|reviews?|reviewers?))?"
)
"""Names of summaries, some of them in other languages; numbers tell the rest."""
OTHER = re.compile(
    r"#|no|nr|number|index|row|line|id|key|code|phone|"
    r"(?:item|paper|submission|project|entry|student|user|reviewer|judge|team) "
    r"?(?:#|no|nr|number|id|count)|year|date|time|timestamp|month|day|deadline|age|"
    r"track|session|group|section|class|accept|accepted|reject|rejected|decision|"
    r"(?:.* )?(?:confidence|expertise|familiarity)|"
    r"pages|words|length|size|version|budget|cost|price|amount|votes"
)
"""Names of other columns of numbers; those of words are refused for their words."""
ROLES = frozenset().union(*ALIASES.values()) - {"mark"}
"""Names of the columns of a long table; Mark is a first name too."""
LEAST = 2
A = {"item": "an item", "reviewer": "a reviewer"}
EDGE = 6
"""Summaries do not stand further inside a table."""
LEAST_MATCHES = 3
MOST_CELLS = 200
SLACK = 1e-9


def tell(table: Table) -> str:
    """Say why a table looks wide: labels first, then columns of numbers only."""
    names = [name for name in table.columns if not layouts.TITLE.fullmatch(plain(name))]
    cells = [given(table.columns[name]) for name in names]
    numeric = [len(values) > 0 and scored(values).all() for values in cells]
    if table.corner is not None:
        return "an empty corner and columns of numbers" if any(numeric) else ""
    if len(names) <= LEAST or not all(numeric[1:]) or is_number(names[0]):
        return ""
    long = any(plain(name) in ROLES for name in names[1:])
    return "" if long else "columns of numbers"


def take(table: Table, asked: layouts.Asked) -> layouts.Long:
    """Take one rating from each filled cell.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> table = Table.of({"talk": ["x", "y"], "Anna": [3, None]}, Source())
        >>> take(table, Asked(rows="items")).table.notices
        (Notice(code='unrated_items', message="Items without any score are not in the
        result: 'y'."),)
    """
    _check_asked(table, asked)
    parts = _parts(table, asked)
    filled = np.column_stack([(cell != "").to_numpy() for cell in parts.cells])
    if not filled.any():
        raise table.source.whole("There is no rating: every cell is empty.")
    _check_lines(table.source, parts)
    rows, columns = np.nonzero(filled)
    across = layouts.cut(parts.across)
    cells = pl.concat([cell.alias("score") for cell in parts.cells])
    found = {
        parts.down: parts.labels.gather(rows),
        parts.other: pl.Series(across).gather(columns),
        "score": cells.gather(columns * len(parts.labels) + rows),
    }
    # Reviewers are counted, not named: this stands in anonymised results too.
    listed = f": {listing(across)}" if parts.other == "item" else ""
    said = f"{parts.down}s in the rows ({parts.name}), {parts.other}s in "
    said += f"{counted(len(across), 'column')}{listed}"
    source = table.source.keep(rows.tolist())
    table = _unused(replace(table, columns=found, source=source), parts, filled)
    table = layouts.numbered_anew(table, "reviewer", "item")
    names = Columns("reviewer", "item", "score")
    return layouts.Long(table, names, said, parts.titles)


class _Parts(NamedTuple):
    """A wide table taken apart.

    Attributes:
        down: What the rows are, "item" or "reviewer".
        other: What the columns are.
        name: Where the labels of the rows stand.
        labels: The label of each row, empty where there is none.
        across: Names of the columns of scores.
        cells: Their cells as text, empty where there is no score.
        titles: What people call an item.
    """

    down: str
    other: str
    name: str
    labels: pl.Series
    across: list[str]
    cells: list[pl.Series]
    titles: dict[str, str]


def _check_asked(table: Table, asked: layouts.Asked) -> None:
    if not asked.rows:
        raise table.source.whole(
            "This looks like a wide table. Say what its rows are with rows= or --rows: "
            "'items' (a column for each reviewer) or 'reviewers' (a column for each "
            "item). If each row is one rating instead, name its columns with "
            "--reviewer, --item and --score."
        )
    labels = asked.rows.removesuffix("s")
    if asked.rows != f"{labels}s" or labels not in OTHER_WAY:
        raise must_be("rows", "'items' or 'reviewers'", asked.rows)
    why = f"for a wide table: only {labels}= or --{labels} can name a column"
    for part in asked.columns.__slots__:
        if part != labels:
            require_unused(part, getattr(asked.columns, part), why)
    if table.nameless:
        text = "A column without a name holds values. Name it or empty it."
        raise table.source.whole(text)


def _parts(table: Table, asked: layouts.Asked) -> _Parts:
    down = asked.rows.removesuffix("s")
    other = OTHER_WAY[down]
    names = list(table.columns)
    first = getattr(asked.columns, down)
    if first and first not in names:
        raise table.source.unknown("column", first, names)
    labels = table.corner
    if first or labels is None:
        first = first or names[0]
        labels = table.columns[first]
    if is_number(first):
        text = f"The first line must hold the column names, got {listing(names)}."
        raise table.source.whole(text)
    labels = strings(labels)
    name = f"column {first!r}" if first else "first column"
    across = [one for one in names if one != first]
    titled = [one for one in across if layouts.TITLE.fullmatch(plain(one))][:1]
    titles = {}
    if titled and down == "item":
        titles = layouts.titled(labels, table.texts(*titled))
        across.remove(*titled)
    if not across:
        raise table.source.whole(f"There is no column of {A[other]}.")
    return _Parts(
        down, other, name, labels, across, [*map(table.cells, across)], titles
    )


def _bare(name: str) -> str:
    """Reduce a name to its words: "Score (avg.)" is "score avg"."""
    text = unicodedata.normalize("NFKD", plain(name))
    kept = "".join(one for one in text if not unicodedata.combining(one))
    return " ".join(re.sub(r"[^\w#\u2211\u2205]+", " ", kept).split())


def _check_lines(source: Source, parts: _Parts) -> None:
    """Refuse columns and rows that are not those of one reviewer or item."""
    numbers = np.column_stack([_numbers_of(cell) for cell in parts.cells])
    for table, labels, kind, what in (
        (numbers.T, parts.across, "Column", parts.other),
        (numbers, parts.labels, "Row", parts.down),
    ):
        summary = f"looks like a summary, not like {A[what]}"
        for place, label in enumerate(labels):
            name, is_column, why = _bare(label), kind == "Column", ""
            if SUMMARY.fullmatch(name):
                why = summary
            elif is_column and (OTHER.fullmatch(name) or name in ROLES):
                why = f"does not look like {A[what]}"
            elif is_column and _is_text(parts.cells[place]):
                why = "holds text, not scores"
            elif not EDGE <= place < len(labels) - EDGE and (it := _told(table, place)):
                why = f"is the {it} of others wherever it is given: it {summary}"
                why += ". If it is one, give the ratings in the long form"
            if why:
                raise source.whole(
                    f"{kind} {shown(label)} {why}. Remove or rename it; if it holds "
                    f"the labels of the {parts.down}s, name it with {parts.down}= or "
                    f"--{parts.down}."
                )


def _is_text(cells: pl.Series) -> bool:
    return len(given(cells)) > 0 and not may_be_scores(cells)


def _told(table: Floats, place: int) -> str:
    """Say which summary of all others, or of those before it, a line is, if of any."""
    cells = table[:, np.isfinite(table[place])][:, :MOST_CELLS]
    values, others = cells[place], np.delete(cells, place, axis=0)
    return _statistic(values, others) or _statistic(values, cells[:place])


def _statistic(values: Floats, others: Floats) -> str:
    """Say which summary of the other lines a line is, if of any.

    Args:
        values: Its cells.
        others: The same cells of other lines, NaN where there is none.

    Examples:
        >>> _statistic(np.array([2, 3, 3.5]), np.array([[1, 4, 2], [3, 2, 5]]))
        'mean'
    """
    if len(others) < LEAST or len(values) == 0:
        return ""
    decimals = next((it for it in range(9) if (values.round(it) == values).all()), 9)
    # How far rounding may have moved the numbers; whole ones are exact.
    slack = (0.5 * 10.0**-decimals if decimals else 0.0) + SLACK * (1 + np.abs(values))
    sums, counts = np.nansum(others, axis=0), np.isfinite(others).sum(axis=0)
    # Where reviewers agree, cells say nothing, and one says what its like say again.
    new = (others != values).all(axis=0)
    telling = np.unique(np.vstack([values, others])[:, new], axis=1).shape[1]
    for name, divisor in (("mean", np.maximum(counts, 1)), ("sum", 1)):
        near = (np.abs(sums / divisor - values) <= slack).all()
        if near and telling >= LEAST_MATCHES:
            return name
    return ""


def _unused(table: Table, parts: _Parts, filled: NDArray[np.bool_]) -> Table:
    """Say which items have no score, and how many reviewers."""
    rated = parts.labels.filter(pl.Series(filled.any(axis=1)))
    idle = parts.labels.filter(~parts.labels.is_in(["", *rated]))
    unused = {
        parts.down: idle.unique(maintain_order=True).to_list(),
        parts.other: [parts.across[it] for it in np.flatnonzero(~filled.any(axis=0))],
    }
    if unused["item"]:
        text = "Items without any score are not in the result"
        table = table.noted("unrated_items", f"{text}: {listing(unused['item'])}.")
    if unused["reviewer"]:
        idlers = counted(len(unused["reviewer"]), "reviewer")
        table = table.noted("idle_reviewers", f"{idlers} without any score left out.")
    return table


def _numbers_of(cells: pl.Series) -> Floats:
    """Return texts as numbers, NaN where there is none.

    Examples:
        >>> _numbers_of(pl.Series(["1.5", "", "B"])).tolist()
        [1.5, nan, nan]
    """
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


WIDE = layouts.Layout("wide", "a wide table", take, tell=tell, only_scores=False)

"""Lists of items, reviewers and conflicts in; the assignment as CSV out.

A spreadsheet runs a cell that begins with =, +, - or @ as a formula. Such a label is
written with an apostrophe before it, and the apostrophe is taken off again when one of
our own files is read. Labels that are plain integers, such as -5, stay as they are.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.columns import (
    ALIASES,
    CANONICAL_INTEGER,
    FORMULA_START,
    Source,
    code_labels,
    is_alias,
    label_series,
    number_series,
)
from evenhand.designs.assignment import ESCAPED
from evenhand.designs.design import RandomDesign, as_design
from evenhand.errors import RatingsError, listing
from evenhand.formats.delimited import check_text, read_cells
from evenhand.formats.files import fetch
from evenhand.formats.tables import Table, decimal_points, read_table
from evenhand.lazy import lazy
from evenhand.ratings import frame_columns, is_frame, join_labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.arrays import Scores
    from evenhand.claims import Label
    from evenhand.designs.assignment import Assignment
    from evenhand.formats.files import File
    from evenhand.ranking import selection
    from evenhand.ranking.selection import Intervals
else:
    selection = lazy("evenhand.ranking.selection")

FORMULA = re.compile(f"'*{FORMULA_START}")


def safe_cell(label: Label) -> str:
    """Return a cell that no spreadsheet runs as a formula.

    Examples:
        >>> safe_cell("=1+1"), safe_cell("-5"), safe_cell("'@anna"), safe_cell("x=1")
        ("'=1+1", '-5', "''@anna", 'x=1')
    """
    text = str(label)
    if FORMULA.match(text) and not re.fullmatch(CANONICAL_INTEGER, text):
        return f"'{text}"
    return text


def plain_label(cell: str) -> str:
    """Return the label that `safe_cell` was given.

    Examples:
        >>> plain_label(safe_cell("=1+1")), plain_label("'quoted'")
        ('=1+1', "'quoted'")
    """
    return cell[1:] if ESCAPED.match(cell) else cell


def read_labels(path: str, what: str, column: str | None = None) -> list[str]:
    """Read labels: one on each line, or a column of a table.

    Args:
        path: File, or "-" for standard input.
        what: "item" or "reviewer".
        column: Name of the column; by default the one that is named for what it holds.

    Returns:
        The labels as text, without white space around them.

    Raises:
        RatingsError: If the file cannot be read, or has no such column.
    """
    file = fetch(path)
    lines = None if column else _plain_lines(file, what)
    if lines is not None:
        return [plain_label(line) for line in lines]
    return _labels(read_table(file), what, column)


def read_pairs(
    path: str, first: tuple[str, str | None], second: tuple[str, str | None]
) -> list[tuple[str, str]]:
    """Read two columns of a table, such as reviewer and item of each conflict.

    Args:
        path: File, or "-" for standard input.
        first: What the first column holds, and its name or None.
        second: The same for the second.

    Returns:
        The labels of each row.

    Raises:
        RatingsError: If the file cannot be read, or has no such column.
    """
    table = read_table(fetch(path))
    return list(zip(_labels(table, *first), _labels(table, *second), strict=True))


def read_marks(
    path: str,
    decimal: str = "",
    what: str = "mark",
    columns: tuple[str | None, str | None] = (None, None),
) -> dict[str, float]:
    """Read a number for each item, such as its cost; see `read_repeats`.

    Raises:
        RatingsError: As there, or if an item has two.
    """
    numbers = read_repeats(path, decimal, what, columns)
    for label, several in numbers.items():
        if len(set(several)) > 1:
            raise RatingsError(f"{path}: {label!r} must have one {what}, got two.")
    return {label: several[0] for label, several in numbers.items()}


def read_repeats(
    path: str,
    decimal: str = "",
    what: str = "mark",
    columns: tuple[str | None, str | None] = (None, None),
) -> dict[str, list[float]]:
    """Read marks that people gave items, or what else is a number.

    Args:
        path: Table with a column for the item, or several that name it together, and
            one for the mark.
        decimal: Decimal sign, "." or ","; empty if the file tells.
        what: What the number is.
        columns: Names of the two columns, None for those that are named so.

    Returns:
        The marks of each item.

    Raises:
        RatingsError: If the file cannot be read, has no such column, or a mark is no
            number.
    """
    table = decimal_points(read_table(fetch(path)), decimal)
    labels = _labels(table, "item", columns[0])
    column = columns[1] and table.column_for(what, columns[1])
    column = column or _column(table, what)
    marks, missing = number_series(table.columns[column], column, table.source)
    by_label: dict[str, list[float]] = {}
    for row, (label, mark) in enumerate(zip(labels, marks.tolist(), strict=True)):
        if missing[row]:
            raise table.source.at(row, f"{column} must be a number, got nothing")
        by_label.setdefault(label, []).append(mark)
    return by_label


def read_intervals(data: Any) -> Intervals:  # noqa: ANN401 - a path or any dataframe
    """Read intervals of items' values.

    Args:
        data: Path or dataframe with columns item, low, high and maybe estimate, for
            which the middle stands otherwise.

    Raises:
        RatingsError: If it cannot be read, a column is missing, a value is no number,
            an interval is turned round or an item has two.

    Examples:
        >>> import polars as pl
        >>> frame = pl.DataFrame({"item": ["x", "y"], "low": [1, 2], "high": [3, 4]})
        >>> read_intervals(frame).values[0].tolist()
        [2.0, 3.0]
    """
    if is_frame(data):
        table = Table.of(frame_columns(data), Source())
    else:
        table = decimal_points(read_table(fetch(data)), "")
    labels, codes = code_labels(
        label_series(table.columns[_column(table, "item")], "item", table.source)
    )
    low, high = (_numbers(table, name) for name in ("low", "high"))
    estimate = (low + high) / 2
    if table.find("estimate"):
        estimate = _numbers(table, "estimate")
    for row in np.flatnonzero((low > estimate) | (estimate > high)).tolist():
        numbers = f"{low[row]:g}, {estimate[row]:g} and {high[row]:g}"
        text = f"low, estimate and high must not fall, got {numbers}"
        raise table.source.at(row, text)
    for row in np.flatnonzero(pl.Series(codes).is_first_distinct().not_()).tolist():
        name = labels[codes[row]]
        raise table.source.at(row, f"{name!r} must have one interval, got two")
    values = np.stack([estimate, low, high])
    return selection.Intervals(labels, values[:, np.argsort(codes)])


def _numbers(table: Table, name: str) -> Scores:
    column = table.column_for(name, name)
    numbers, missing = number_series(table.columns[column], name, table.source)
    for row in np.flatnonzero(missing).tolist():
        raise table.source.at(row, f"{name} must be a number, got nothing")
    return numbers


def to_csv(assignment: Assignment) -> str:
    """Return an assignment as CSV that is safe to open; pairs and panels go with it.

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> print(to_csv(assign(["=A1", "B"], ["a"], design="coins", rng=1)), end="")
        reviewer,item
        a,B
    """
    groups = dict(assignment.groups or ())
    more = [as_design(assignment.design, RandomDesign).group] if groups else []
    lines = [csv_line(["reviewer", "item", *more])]
    for reviewer, item in assignment.rows:
        group = [groups[reviewer]] if groups else []
        lines.append(csv_line(map(safe_cell, (reviewer, item, *group))))
    return "".join(lines)


def csv_line(cells: Iterable[str]) -> str:
    r"""Return one line of CSV.

    Examples:
        >>> csv_line(["a", "x, y"])
        'a,"x, y"\n'
    """
    # The writer quotes a carriage return only if lines end in one.
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return f"{text.getvalue()[:-2]}\n"


def _plain_lines(file: File, what: str) -> list[str] | None:
    """Return the lines of a list without a header, or None for a table."""
    if file.format != "csv":
        return None
    check_text(file)
    cells = read_cells(file.name, file.data)
    if len(cells.header) != 1 or _is_name_for(cells.header[0], what):
        return None
    lines = [cells.header[0], *(row[0] or "" for row in cells.rows.iter_rows())]
    return [line.strip() for line in lines if line.strip()]


def _is_name_for(name: str, what: str) -> bool:
    aliases = ALIASES["score" if what == "mark" else what]
    return is_alias(name, aliases | {f"{what}s"})


def _column(table: Table, what: str) -> str:
    """Return the column that is called so, or else by another name of what it is."""
    exact = [name for name in table.columns if name.casefold() == what]
    matches = exact or [name for name in table.columns if _is_name_for(name, what)]
    if len(matches) == 1:
        return matches[0]
    raise table.source.whole(
        f"There must be one column for the {what}, got {len(matches)} among "
        f"{listing(table.columns)}. Call it {what}, or name it with an option."
    )


def _labels(table: Table, what: str, column: str | None = None) -> list[str]:
    if column and "+" in column and column not in table.columns:
        joined = join_labels(column.split("+"), table.columns, table.source)
        return [str(label) for label in joined.to_list()]
    name = table.column_for(what, column.strip()) if column else _column(table, what)
    series = label_series(table.columns[name], what, table.source)
    return [str(label) for label in series.to_list()]

"""Criteria of a file: several columns, sheets of a workbook, or values of a column.

Each criterion is read as if it were the only score of the file, by whatever layout the
file has; the ratings are then put side by side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.criteria import TOTAL, Criteria, number_columns, total_text, weigh
from evenhand.errors import listing, quote
from evenhand.formats import roles
from evenhand.formats.files import fetch, paths_of
from evenhand.formats.tables import plain, workbook_sheets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.arrays import Table as Numbers
    from evenhand.formats.files import Readable
    from evenhand.formats.layouts import LongForm, ReadOptions
    from evenhand.formats.tables import Table

PAIR = ["reviewer", "item"]
LABELLED = ("reviewer", "item", "pair", "weight", "cluster", "order", "probability")
OTHER_COLUMNS = "other_columns"


def sheet_names(
    source: Readable | Sequence[Readable], options: ReadOptions
) -> Sequence[str]:
    """Return the sheets of a workbook, none of another file or if one was named."""
    paths = paths_of(source)
    if options.sheet or len(paths) > 1 or paths[0] == "-" or hasattr(paths[0], "read"):
        return ()
    file = fetch(paths[0])
    return workbook_sheets(file) if file.format == "excel" else ()


def criterion_rows(table: Table, names: Sequence[str]) -> dict[str, Table]:
    """Return the rows of each criterion, if a column says which one a row is about.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> columns = {"item": ["x", "x"], "criterion": ["taste", "looks"]}
        >>> table = Table.of({**columns, "score": [1, 2]}, Source())
        >>> criterion_rows(table, ["taste", "looks"])["looks"].texts("score")
        ['2']
    """
    if all(table.find(name) for name in names):
        return {}
    for column in table.columns:
        if not roles.QUESTIONS.search(plain(column)):
            continue
        cells = table.cells(column)
        if not {*names} <= {*cells}:
            continue
        others = {name: cell for name, cell in table.columns.items() if name != column}
        bare = replace(table, columns=others)
        return {name: bare.keep((cells == name).arg_true().to_list()) for name in names}
    return {}


def join_criteria(forms: Mapping[str, LongForm]) -> tuple[LongForm, dict[str, str]]:
    """Put the ratings by each criterion side by side.

    Args:
        forms: The long form of each criterion, by the name that the user gave it.

    Returns:
        The long form with a column for each criterion, and the name that the user gave
        to each column.

    Raises:
        RatingsError: If a reviewer rated an item twice, so that nobody can say which
            scores belong together.
    """
    first = next(iter(forms.values()))
    if not first.names.score:
        raise first.table.source.whole("Only scores can be criteria, not ranks.")
    taken = {name for part in LABELLED if (name := getattr(first.names, part))}
    names: dict[str, str] = {}
    for name, form in forms.items():
        called = form.names.score if form.names.score != "score" else name
        called = f"{called} (criterion)" if called in taken else called
        if called in names:
            text = f"Criteria must differ, got {quote(called)} twice. Name others."
            raise first.table.source.whole(text)
        names[called] = name
    tables = [form.table for form in forms.values()]
    scores = [form.table.columns[form.names.score] for form in forms.values()]
    pairs = [
        pl.DataFrame(
            {part: form.table.cells(getattr(form.names, part)) for part in PAIR}
        )
        for form in forms.values()
    ]
    if all(pair.equals(pairs[0]) for pair in pairs):
        columns = dict(zip(names, scores, strict=True))
        table = replace(first.table, columns={**first.table.columns, **columns})
    else:
        table = _join_rows(tables, pairs, dict(zip(names, scores, strict=True)), first)
    notices = dict.fromkeys(
        notice
        for each in tables
        for notice in each.notices
        if notice.code != OTHER_COLUMNS or len({*map(id, tables)}) > 1
    )
    return replace(first, table=replace(table, notices=tuple(notices))), names


def _join_rows(
    tables: Sequence[Table],
    pairs: Sequence[pl.DataFrame],
    scores: Mapping[str, pl.Series],
    first: LongForm,
) -> Table:
    """Join ratings by reviewer and item, of which each criterion may lack some."""
    parts = []
    for place, (table, pair, values) in enumerate(
        zip(tables, pairs, scores.values(), strict=True)
    ):
        again = pair.is_duplicated().arg_true()
        if len(again):
            reviewer, item = pair.row(again[-1])
            text = f"reviewer {quote(reviewer)} rated item {quote(item)} twice"
            advice = "With several criteria, leave one of the ratings out."
            raise table.source.at(again[-1], text, advice)
        number = pl.Series("row", range(pair.height), dtype=pl.Int64)
        index = pl.DataFrame({"part": [place] * pair.height, "row": number})
        used = {
            part: table.columns[name]
            for part in LABELLED
            if part not in PAIR and (name := getattr(first.names, part))
        }
        score = values.alias(f"score {place}")
        parts.append(
            pl.concat(
                [pair, index, pl.DataFrame(used), score.to_frame()], how="horizontal"
            )
        )
    rows = pl.concat(parts, how="diagonal_relaxed")
    joined = rows.group_by(PAIR, maintain_order=True).agg(
        pl.col("part", "row").first(),
        pl.exclude(*PAIR, "part", "row").drop_nulls().first(),
    )
    places = list(joined.select("part", "row").rows())

    def line(row: int) -> int:
        part, place = places[row]
        number: int = tables[part].source.line(place)
        return number

    source = replace(first.table.source, line=line)
    columns = {getattr(first.names, part): joined[part] for part in PAIR}
    columns |= {
        name: joined[part]
        for part in LABELLED
        if part not in PAIR and (name := getattr(first.names, part))
    }
    columns |= {name: joined[f"score {place}"] for place, name in enumerate(scores)}
    return replace(first.table, columns=columns, source=source)


def criterion_scores(table: Table, names: Sequence[str]) -> Numbers:
    """Return the scores of criteria, a column for each; nan where one is missing."""
    numbers = number_columns(table.columns, names, table.source).values()
    return np.column_stack([np.where(lacks, np.nan, each) for each, lacks in numbers])


def add_total(
    long: LongForm, names: Mapping[str, str], options: ReadOptions
) -> tuple[LongForm, Criteria]:
    """Add the total of the criteria, which is the score."""
    table = long.table
    weights = {name: options.criteria[wanted] for name, wanted in names.items()}
    numbers = number_columns(table.columns, [*names], table.source)
    criteria, total, warnings = weigh(
        numbers, weights, table.source, options.missing_criteria
    )
    score = criteria.overall or (f"{TOTAL} score" if TOTAL in table.columns else TOTAL)
    table = replace(
        table,
        columns={**table.columns, score: total},
        notices=(*table.notices, *warnings),
    )
    # The long form is that of the first criterion.
    origin, was = long.origin, f"score from {long.names.score!r}"
    score_from = f"score {total_text(criteria)}"
    if criteria.overall:
        listed = listing(criteria.names)
        score_from = f"score from {criteria.overall!r} beside criteria {listed}"
    origin = (
        origin.replace(was, score_from) if was in origin else f"{origin}; {score_from}"
    )
    names_used = replace(long.names, score=score)
    return replace(long, table=table, names=names_used, origin=origin), criteria

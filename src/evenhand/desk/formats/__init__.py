"""Files of ratings: what is read, and how.

A file becomes a table of named columns (`files`, `tables`, `documents`). One module per
platform turns that table into the long form (`layouts` says what such a module offers,
`platforms` lists them), and the rest is the same for all: score words, anonymising,
Ratings.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import narwhals as nw

from evenhand._columns import Columns
from evenhand._labels import Source, column_values, require_text
from evenhand.desk.formats.files import FORMATS, Readable, fetch
from evenhand.desk.formats.layouts import Asked, Layout, Long, texts
from evenhand.desk.formats.platforms import MARKS, PLATFORMS, recognised
from evenhand.desk.formats.scale import check_numbers, numbered, parse_scale
from evenhand.desk.formats.tables import Table, read_table
from evenhand.errors import OptionError, RatingsError, unknown
from evenhand.ratings import Ratings, eager_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame

    from evenhand._results import Label
    from evenhand.desk.anonymise import Key
    from evenhand.desk.formats.layouts import Values
    from evenhand.desk.formats.scale import Scale

__all__ = ["FORMATS", "PLATFORMS", "read_ratings"]


def read_ratings(  # noqa: PLR0913 - a keyword for each option of the command line
    source: Readable | IntoDataFrame,
    *,
    format: str | None = None,  # noqa: A002 - the option's name on the command line
    reviewer: str | None = None,
    item: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    pair: str | None = None,
    scale: str | None = None,
    best: str | None = None,
    rows: str | None = None,
    companion: Readable | IntoDataFrame | None = None,
    sheet: str | None = None,
    anonymise: str | None = None,
    all_items: Sequence[Label] | None = None,
) -> Ratings:
    r"""Read ratings from a file, as a platform exports it or with one row per rating.

    CSV (with commas, semicolons or tabs), TSV, Parquet, JSON, JSON lines and Excel are
    read, also compressed with gzip. Exports of HotCRP, OpenReview, CMT, EasyChair,
    Moodle, Canvas and Gavel are recognised by their columns; `read_as` of the result
    says what the file was taken for, and why. In other files columns are found by name
    ("reviewer", "item", "score") or by a well-known other name ("judge", "paper",
    "mark"). Empty rows are skipped; rows without a score are left out and named in
    `notices`. A cell of a workbook that shows an error, such as #N/A, counts as empty.

    Args:
        source: Path, "-" for standard input, an open stream of bytes or text, or a
            dataframe.
        format: What the file is: a platform ("hotcrp", "openreview", "cmt",
            "easychair", "moodle", "canvas", "gavel", "wide", "long") or only how it is
            stored ("csv", "tsv", "parquet", "json", "jsonl", "excel"). By default the
            columns tell the one, and the suffix the other.
        reviewer: Column of the reviewer.
        item: Column of the item.
        score: Column or field of the score, higher is better.
        rank: Column of the rank, 1 is best.
        winner: Column of the better item, for plain comparisons.
        loser: Column of the worse item.
        pair: Column of the pair of reviewers.
        scale: Score words from worst to best with < between them.
        best: The best letter, where scores are single letters.
        rows: What the rows of a wide table are: "items" or "reviewers".
        companion: Second file of the same export, where a platform splits it.
        sheet: Sheet of a workbook; by default the only one that holds anything.
        anonymise: Path of a key. Reviewers are replaced by codes; the key is read, or
            made if it is not there.
        all_items: Every item there is, if some have no rating.

    Returns:
        The ratings.

    Raises:
        RatingsError: If the file cannot be read or a value in it is bad; the message
            names the file, the line, the column and the value.
        OptionError: If an option is unknown.

    Examples:
        >>> import io
        >>> text = "judge,paper,mark\nanna,1,7\nbo,1,6\nbo,2,8\n"
        >>> read_ratings(io.StringIO(text))
        Ratings(3 scores by 2 reviewers of 2 items)
        >>> text = "judge,entry,grade\nanna,x,good\nbo,x,poor\n"
        >>> read_ratings(io.StringIO(text), scale="poor<fair<good").scores.tolist()
        [3.0, 1.0]
    """
    require_text(
        "the name of a column",
        reviewer=reviewer,
        item=item,
        score=score,
        rank=rank,
        winner=winner,
        loser=loser,
        pair=pair,
    )
    require_text(
        format=format,
        scale=scale,
        best=best,
        rows=rows,
        sheet=sheet,
        anonymise=anonymise,
    )
    given = Columns(
        reviewer=reviewer or "",
        item=item or "",
        score=score or "",
        rank=rank or "",
        winner=winner or "",
        loser=loser or "",
        pair=pair or "",
    )
    wishes = Wishes(
        format=format or "",
        scale=scale or "",
        best=best or "",
        rows=rows or "",
        sheet=sheet or "",
        anonymise=anonymise or "",
    )
    ratings, key = read_with_key(
        source, given, wishes, companion=companion, all_items=all_items
    )
    if key is not None and key.is_new:
        from evenhand._outputs import write_all  # noqa: PLC0415 - few ask

        write_all([key.output()])
    return ratings


@dataclass(frozen=True, slots=True)
class Wishes:
    """What `read_ratings` was told beside the columns; empty where nothing was."""

    format: str = ""
    scale: str = ""
    best: str = ""
    rows: str = ""
    sheet: str = ""
    anonymise: str = ""


def read_with_key(
    source: Readable | IntoDataFrame,
    given: Columns,
    wishes: Wishes,
    *,
    companion: Readable | IntoDataFrame | None = None,
    all_items: Sequence[Label] | None = None,
) -> tuple[Ratings, Key | None]:
    r"""Read ratings, and leave it to the caller to write a new key.

    Args:
        source: As for `read_ratings`.
        given: Columns that were named.
        wishes: What else was said.
        companion: Second file of the same export.
        all_items: Every item there is, if some have no rating.

    Returns:
        The ratings, and the key if reviewers were replaced by codes.

    Raises:
        RatingsError: As for `read_ratings`.
        OptionError: If an option is unknown.

    Examples:
        >>> import io
        >>> text = io.StringIO("judge,paper,mark\nanna,1,7\n")
        >>> read_with_key(text, Columns(), Wishes())
        (Ratings(1 score by 1 reviewer of 1 item), None)
    """
    order = parse_scale(wishes.scale, wishes.best)
    stored, layout = _meant(wishes.format)
    table = _table(source, stored, wishes.sheet, guess=layout is not None)
    other = None if companion is None else _table(companion, "", "", guess=True)
    asked = Asked(given, wishes.rows, other)
    layout, reason = recognised(table, asked, layout)
    long = _numbered(layout.take(table, asked), order)
    because = f", by {reason}" if reason else ""
    # Columns that are called what they are need no word.
    plain = layout is PLATFORMS["long"] and all(
        name in ("", part)
        for part, name in zip(Columns.__slots__, astuple(long.names), strict=True)
    )
    read_as = "" if plain else f"{layout.title}{because}: {long.said}."

    def taken(it: Long) -> Ratings:
        return Ratings.from_columns(
            {**it.columns},
            it.names,
            it.source,
            all_items=all_items,
            titles=it.titles,
            notices=it.notices,
            read_as=read_as,
        )

    if not wishes.anonymise:
        return taken(long), None
    key, pairs, coded = _coded(long, wishes.anonymise)
    # Errors and notes come from the codes, draws from the names.
    public = taken(coded)
    return taken(long).under_codes(public, key.codes, pairs), key


def _meant(name: str) -> tuple[str, Layout | None]:
    """Tell how a file is stored from what it is; --format may name either."""
    if name in FORMATS or not name:
        return name, None
    if name not in PLATFORMS:
        text = unknown("format", name, [*PLATFORMS, *FORMATS])
        raise OptionError(text[:1].upper() + text[1:])
    return "", PLATFORMS[name]


def _table(
    source: Readable | IntoDataFrame, stored: str, sheet: str, *, guess: bool
) -> Table:
    frame = nw.from_native(source, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return read_table(fetch(frame, stored, guess=guess), sheet, MARKS)
    for option, value in (("format", stored), ("sheet", sheet)):
        if value:
            raise OptionError(
                f"{option} must be left out for a dataframe, got {value!r}."
            )
    eager = eager_frame(frame)
    names = [str(name).strip() for name in eager.columns]
    if len(set(names)) < len(names):
        raise RatingsError("Column names must differ as text. Rename one.")
    values = [column_values(eager.get_column(name)) for name in eager.columns]
    return Table(dict(zip(names, values, strict=True)), Source())


def _numbered(long: Long, order: Scale | None) -> Long:
    """Turn score words into numbers by their declared order."""
    name = long.names.score
    if long.names.kind != "scores":
        if order is not None:
            raise OptionError(
                f"scale and best must be left out for {long.names.kind}: they order "
                "score words."
            )
        return long
    values = long.columns[name]
    if order is None:
        check_numbers(values, name, long.source)
        return long
    numbers, notice = numbered(values, name, long.source, order)
    return replace(
        long,
        columns={**long.columns, name: numbers},
        notices=(*long.notices, notice),
    )


def _coded(long: Long, path: str) -> tuple[Key, dict[str, str], Long]:
    """Replace reviewers by codes, and pairs by the codes of their reviewers."""
    from evenhand.desk.anonymise import CODED, open_key, recode  # noqa: PLC0415 - few ask

    name, pair = long.names.reviewer, long.names.pair
    if not name:
        raise long.source.whole("There is no reviewer to anonymise.")
    key = open_key(path, long.columns[name])
    codes = recode(long.columns[name], key)
    columns: dict[str, Values] = {**long.columns, name: codes}
    shown: dict[str, str] = {}
    if pair:
        # A pair is often named for the two people in it.
        labels = texts(long.columns[pair])
        members: dict[str, set[str]] = {}
        for label, code in zip(labels, codes, strict=True):
            members.setdefault(label, set()).add(str(code))
        shown = {label: "+".join(sorted(them)) for label, them in members.items()}
        if len(set(shown.values())) < len(shown):
            raise long.source.whole(
                "Pairs of the same reviewers cannot be told apart by codes. Leave out "
                "anonymise or mend the pairs."
            )
        columns[pair] = [shown[label] if label else None for label in labels]
    notices = (*long.notices, CODED, *key.notices(long.columns[name]))
    return key, shown, replace(long, columns=columns, notices=notices)

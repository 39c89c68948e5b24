"""Read ratings: tell what a file is, take it apart, and put it into one form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from importlib import import_module
from typing import TYPE_CHECKING

import narwhals as nw
import polars as pl

from evenhand.columns import (
    Source,
    alike,
    alike_notices,
    are_counts,
    column_values,
    given_columns,
    label_series,
)
from evenhand.errors import (
    OptionError,
    listing,
    require_sequence,
    require_text,
    unknown,
)
from evenhand.formats import PLATFORMS, layouts
from evenhand.formats.files import Readable, fetch
from evenhand.formats.layouts import Asked, Layout, Long
from evenhand.formats.tables import Table, decimal_points, plain, read_table
from evenhand.ratings import Ratings, frame_columns, join_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame

    from evenhand.claims import Label, Notice
    from evenhand.engines.counts import Counts, Once
    from evenhand.formats.anonymise import Key
    from evenhand.formats.tables import Values

GENERAL = ("long", "wide")
Names = str | Iterable[object]


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
    weight: str | None = None,
    scale: str | None = None,
    decimal: str | None = None,
    exclude: Names = (),
    only: Names = (),
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
        format: What the file is: "hotcrp", "openreview", "cmt", "easychair", "moodle",
            "canvas", "gavel", "forms", "wide" or "long". By default the columns tell.
        reviewer: Column of the reviewer, or several that name one together with +
            between them, "judge+prompt".
        item: Column of the item, or several.
        score: Column or field of the score, higher is better.
        rank: Column of the rank, 1 is best.
        winner: Column of the better item, for plain comparisons.
        loser: Column of the worse item.
        pair: Column of the pair of reviewers.
        weight: Column or field of how much a rating counts, such as a confidence.
        scale: Score words from worst to best with < between them; or "best=A" for the
            best of single letters; or "/10" to put scores such as 4/5 onto 0 to 10.
        decimal: Decimal sign of the numbers, "." or ",". By default it is a comma in
            files with semicolons whose numbers have one, and else a point.
        exclude: Items and reviewers to leave out, by label; "item=" or "reviewer="
            before a label that is both; "self" for ratings of the reviewer's own item.
        only: Items and reviewers to keep, by label.
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
    given = given_columns(
        reviewer=reviewer,
        item=item,
        score=score,
        rank=rank,
        winner=winner,
        loser=loser,
        pair=pair,
        weight=weight,
    )
    options = {
        "format": format,
        "scale": scale,
        "decimal": decimal,
        "rows": rows,
        "sheet": sheet,
        "anonymise": anonymise,
    }
    require_text(**options)
    said = {name: value or "" for name, value in options.items()}
    left, kept = _labels("exclude", exclude), _labels("only", only)
    asked = Asked(given, **said, exclude=left, only=kept)
    ratings, key = read_with_key(
        source, asked, companion=companion, all_items=all_items
    )
    if key is not None and key.is_new:
        from evenhand._outputs import write_all  # noqa: PLC0415 - few ask

        write_all([key.output()])
    return ratings


def read_with_key(
    source: Readable | IntoDataFrame,
    asked: Asked,
    *,
    companion: Readable | IntoDataFrame | None = None,
    all_items: Sequence[Label] | None = None,
) -> tuple[Ratings, Key | None]:
    r"""Read ratings, and leave it to the caller to write a new key.

    Args:
        source: As for `read_ratings`.
        asked: What the user said.
        companion: Second file of the same export.
        all_items: Every item there is, if some have no rating.

    Returns:
        The ratings, and the key if reviewers were replaced by codes.

    Raises:
        RatingsError: As for `read_ratings`.
        OptionError: If an option is unknown.

    Examples:
        >>> import io
        >>> read_with_key(io.StringIO("judge,paper,mark\nanna,1,7\n"), Asked())
        (Ratings(1 score by 1 reviewer of 1 item), None)
    """
    table, named, commas = _opened(source, asked, companion)
    if are_counts(table.columns, asked.columns):
        raise table.source.whole(
            "These are counts of scores, by the column 'count', and only compare can "
            "decide from them. Give the ratings, or leave out that column."
        )
    return _ratings(table, asked, named, commas, all_items)


def read_counts(
    source: Readable | IntoDataFrame,
    *,
    item: str | None = None,
    score: str | None = None,
    once: Once | None = None,
) -> Counts:
    r"""Read counts of scores from a file: columns item, score and count.

    Args:
        source: Path, "-" for standard input, a stream or a dataframe.
        item: Column of the item, by default found by its name.
        score: Column of the score, likewise.
        once: How it is known that nobody gave two of the scores, see Counts; by default
            what a column `once` says, or "declared".

    Raises:
        RatingsError: If the file cannot be read or a value in it is bad.

    Examples:
        >>> import io
        >>> read_counts(io.StringIO("item,score,count\nx,5,70\ny,4,90\n"))
        Counts(160 scores of 2 items)
    """
    asked = Asked(given_columns(item=item, score=score))
    table, _, _ = _opened(source, asked, None)
    return _counts(table, asked, once)


def read_counts_or_ratings(
    source: Readable | IntoDataFrame, asked: Asked
) -> tuple[Ratings | Counts, Key | None]:
    r"""Read what `compare` can decide from, and leave a new key to the caller.

    Args:
        source: As for `read_ratings`.
        asked: What the user said.

    Raises:
        RatingsError: As for `read_ratings`.
        OptionError: If an option is unknown, or not for counts.

    Examples:
        >>> import io
        >>> read_counts_or_ratings(io.StringIO("item,score,count\nx,5,70\n"), Asked())
        (Counts(70 scores of 1 item), None)
    """
    table, named, commas = _opened(source, asked, None)
    if not are_counts(table.columns, asked.columns):
        return _ratings(table, asked, named, commas, None)
    for option in ("scale", "rows", "exclude", "only", "anonymise"):
        if getattr(asked, option):
            raise OptionError(
                f"{option} must be left out for counts of scores: it is about ratings."
            )
    for part in ("pair", "weight"):
        if getattr(asked.columns, part):
            raise OptionError(
                f"a column for the {part} must be left out for counts of scores: it is "
                "about ratings."
            )
    return _counts(table, asked, None), None


def _counts(table: Table, asked: Asked, once: Once | None) -> Counts:
    from evenhand.engines.counts import (  # noqa: PLC0415 - if asked for
        ONCE,
        STANDINGS,
        Counts,
        count_columns,
    )

    names = count_columns(table.columns, asked.columns, table.source)
    # What `evenhand count` found out stands in a column of its own.
    said = {*table.texts(ONCE)} if ONCE in table.columns else set()
    if once is None and said and (len(said) > 1 or not said <= {*STANDINGS}):
        raise table.source.whole(
            f"Column {ONCE!r} must say one of {listing(STANDINGS)} in every row, the "
            f"same in all, got {listing(sorted(said))}."
        )
    if once is None and said:
        once = said.pop()  # type: ignore[assignment]  # checked by Counts
    return Counts.from_columns(
        table.columns,
        names,
        table.source,
        once=once or "declared",
        read_as=f"counts of scores, by {table.why('count')}.",
    )


def _opened(
    source: Readable | IntoDataFrame,
    asked: Asked,
    companion: Readable | IntoDataFrame | None,
) -> tuple[Table, Layout | None, Sequence[Notice]]:
    """Read a file's cells; the layout is the one that the user named."""
    name = asked.format
    if name and name not in PLATFORMS:
        text = unknown("format", name, PLATFORMS)
        raise OptionError(text[:1].upper() + text[1:])
    named = layout_of(name) if name else None
    table = _table(source, asked.sheet)
    if companion is not None:
        table = replace(table, companion=_table(companion))
    table, commas = decimal_points(_joined(table, asked), asked.decimal)
    return table, named, commas


def _ratings(
    table: Table,
    asked: Asked,
    named: Layout | None,
    commas: Sequence[Notice],
    all_items: Sequence[Label] | None,
) -> tuple[Ratings, Key | None]:
    layout, reason = recognise(table, asked, named)
    layout.check_options(table, asked)
    found = layout.take(table, asked)
    found = replace(found, notices=(*found.notices, *commas))
    found = _numbered(_selected(found, asked), asked)
    because = f", by {reason}" if reason else ""
    # Columns that are called what they are need no word.
    named_so = all(name in ("", part) for part, name in asdict(found.names).items())
    is_plain = layout.name == "long" and named_so
    read_as = "" if is_plain else f"{layout.title}{because}: {found.said}."

    key = None
    if asked.anonymise:
        key, found = _coded(found, asked.anonymise)
    ratings = Ratings.from_columns(
        found.columns,
        found.names,
        found.source,
        all_items=all_items,
        titles=found.titles,
        notices=found.notices,
        read_as=read_as,
    )
    if key is None:
        return ratings, None
    return ratings.in_order_of({code: name for name, code in key.codes.items()}), key


def layout_of(name: str) -> Layout:
    """Load the module of a layout.

    Examples:
        >>> layout_of("gavel").title
        'decisions of Gavel'
    """
    layout: Layout = import_module(f"evenhand.formats.{name}").LAYOUT
    return layout


def recognise(
    table: Table, asked: Asked, layout: Layout | None = None
) -> tuple[Layout, str]:
    """Tell a table's layout, and why.

    Args:
        table: The table.
        asked: What the user said; columns for reviewer and item make it long.
        layout: The one that the user named.

    Returns:
        The layout and the reason, empty if the user named it.

    Raises:
        RatingsError: If it may be one of several.

    Examples:
        >>> table = Table({"judge": ["a"], "entry": ["x"], "mark": ["1"]}, Source())
        >>> recognise(table, Asked())[1]
        "columns 'judge', 'entry' and 'mark'"
    """
    if asked.rows and layout is not None and layout.name not in ("wide", "forms"):
        raise OptionError(
            "rows must be left out: it says which way round a wide table is."
        )
    names = {plain(name) for name in table.columns}
    columns = asked.columns
    rated = not (columns.winner or columns.rank or asked.rows == "items")
    if layout is None and rated and not names.isdisjoint(PLATFORMS["forms"]):
        from evenhand.formats import forms  # noqa: PLC0415 - few files are

        # The last responses count, whatever columns the user names.
        time = forms.time_of(table) if columns.item or asked.rows else ""
        reason = forms.tell(table) or (table.why(time) if time else "")
        if reason:
            return forms.LAYOUT, reason
    if layout is not None or asked.rows:
        return layout or layout_of("wide"), ""
    if (columns.reviewer and columns.item) or columns.winner or columns.rank:
        return layout_of("long"), ""
    possible = (
        layout_of(name)
        for name, marks in PLATFORMS.items()
        # The list of reviews may lie deeper in a document.
        if marks and (table.document is not None or not names.isdisjoint(marks))
    )
    found = [(one, reason) for one in possible if (reason := one.recognise(table))]
    if len(found) > 1:
        raise table.source.whole(
            f"The file may come from {listing(one.name for one, _ in found)}. Say "
            "which with format= or --format."
        )
    if found:
        return found[0]
    for name in GENERAL:
        general = layout_of(name)
        if reason := general.recognise(table):
            return general, reason
    return layout_of("long"), ""


def _table(source: Readable | IntoDataFrame, sheet: str = "") -> Table:
    frame = nw.from_native(source, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return read_table(fetch(frame), sheet)
    if sheet:
        raise OptionError(f"sheet must be left out for a dataframe, got {sheet!r}.")
    columns = frame_columns(frame)
    values = {name: column_values(column) for name, column in columns.items()}
    return Table(values, Source())


def _labels(option: str, names: Names) -> tuple[str, ...]:
    several = [names] if isinstance(names, str | int) else names
    require_sequence("labels", **{option: several})
    return tuple(map(str, several))


def _selected(found: Long, asked: Asked) -> Long:
    """Leave out what the user does not want, and tell of ratings of one's own."""
    own = layouts.own_rows(found) if found.names.item else []
    if asked.exclude or asked.only:
        from evenhand.formats.selection import select  # noqa: PLC0415 - few ask

        found, own = select(found, asked, own)
    notices = layouts.own_notices(found, own, named=not asked.anonymise)
    return replace(found, notices=(*found.notices, *notices))


def _joined(table: Table, asked: Asked) -> Table:
    """Add the columns that were asked for as several: judge+prompt."""
    more = {}
    for name in (asked.columns.reviewer, asked.columns.item):
        parts = name.split("+")
        if len(parts) > 1 and name not in table.columns:
            more[name] = join_labels(parts, table.columns, table.source)
    return replace(table, columns={**table.columns, **more}) if more else table


def _numbered(found: Long, asked: Asked) -> Long:
    """Turn cells that are no plain numbers into numbers, if it is clear how."""
    kind = found.names.kind
    if asked.scale and kind != "scores":
        raise OptionError(f"scale must be left out for {kind}: it orders scores.")
    names = [
        name
        for name in (found.names.score, found.names.rank, found.names.weight)
        if name
    ]
    columns = {**found.columns}
    notices = list(found.notices)
    for name in names:
        scale = asked.scale if name == found.names.score else ""
        if not scale and _has_numbers(columns[name]):
            continue
        from evenhand.formats.scale import number_column  # noqa: PLC0415 - few need it

        columns[name], more = number_column(columns[name], name, found.source, scale)
        notices += more
    source = replace(found.source, orders=kind == "scores" and not asked.scale)
    return replace(found, columns=columns, source=source, notices=notices)


def _has_numbers(values: Values) -> bool:
    """Return whether every value is a plain number or empty."""
    if isinstance(values, list):
        return not any(isinstance(value, str) for value in values)
    if values.dtype != pl.String:
        return True
    return values.cast(pl.Float64, strict=False).null_count() == values.null_count()


def _coded(found: Long, path: str) -> tuple[Key, Long]:
    """Replace reviewers by codes."""
    from evenhand.formats.anonymise import CODED, open_key  # noqa: PLC0415 - few ask

    name = found.names.reviewer
    if not name:
        raise found.source.whole("There is no reviewer to anonymise.")
    if found.names.pair:
        raise OptionError(
            "anonymise must be left out for pairs of reviewers, whose labels may tell "
            "who they are."
        )
    people = label_series(found.columns[name], name, found.source).cast(pl.String)
    names = people.unique().sort().to_list()
    key = open_key(path, names)
    coded = (sorted(key.codes[one] for one in pair) for pair in alike(names))
    similar = alike_notices("reviewer", [(one, two) for one, two in sorted(coded)])
    return key, replace(
        found,
        columns={**found.columns, name: people.replace_strict(key.codes)},
        notices=(*found.notices, CODED, *similar),
    )

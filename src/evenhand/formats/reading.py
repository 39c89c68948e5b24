"""Read ratings: tell what a file is, take it apart, and put it into one form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.claims import EXCLUDED, few
from evenhand.columns import (
    Columns,
    Source,
    are_counts,
    column_values,
    given_columns,
    label_series,
)
from evenhand.criteria import read_weights
from evenhand.errors import (
    OptionError,
    listing,
    must_be,
    refuse_option,
    require_sequence,
    require_text,
    unknown,
)
from evenhand.formats import roles
from evenhand.formats.criteria import (
    add_total,
    criterion_rows,
    criterion_scores,
    join_criteria,
    sheet_names,
)
from evenhand.formats.documents import EXAMPLE
from evenhand.formats.files import File, Readable, fetch, paths_of
from evenhand.formats.layouts import (
    Layout,
    LongForm,
    ReadOptions,
    layout_of,
    recognise,
)
from evenhand.formats.tables import (
    Table,
    TextOptions,
    decimal_points,
    read_table,
    strings,
)
from evenhand.labels import (
    alike,
    alike_notices,
    blank_notices,
    merge_notice,
    merged_spellings,
)
from evenhand.lazy import lazy
from evenhand.ratings import Ratings, frame_columns, is_frame, join_labels, take_naming

if TYPE_CHECKING:
    from collections.abc import Mapping

    from narwhals.typing import IntoDataFrame, IntoLazyFrame

    from evenhand import _outputs
    from evenhand.arrays import Flags
    from evenhand.claims import Label
    from evenhand.criteria import Scored
    from evenhand.engines import counts
    from evenhand.engines.counts import Counts, Once
    from evenhand.formats import anonymise, nested, repeats, stacking
    from evenhand.formats import scale as scales
    from evenhand.formats.anonymise import Key
else:
    # Few files need these.
    _outputs, counts = lazy("evenhand._outputs"), lazy("evenhand.engines.counts")
    anonymise = lazy("evenhand.formats.anonymise")
    repeats = lazy("evenhand.formats.repeats")
    nested = lazy("evenhand.formats.nested")
    stacking = lazy("evenhand.formats.stacking")
    scales = lazy("evenhand.formats.scale")

Names = str | Iterable[object]
LABELS = ("exclude", "only", "merge")
FLAGS = ("header", "lower_is_better")
JOINED = ("reviewer", "item", "pair", "cluster")
"""Columns that several may name together."""

SELF = "self"
NO_CLUSTERS = "none"
NAME = re.compile(r"[^\W\d_].*[^\W\d_]", re.DOTALL)
WORD = re.compile(r"[^\W\d_]+")
AUTHORS_END = re.compile(r"[;,|\n]|\band\b")


def read_ratings(  # noqa: PLR0913 - a keyword for each option of the command line
    source: Readable | Sequence[Readable] | IntoDataFrame | IntoLazyFrame,
    *,
    format: str | None = None,  # noqa: A002 - the option's name on the command line
    reviewer: str | Sequence[str] | None = None,
    item: str | Sequence[str] | None = None,
    score: Scored | None = None,
    rank: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    pair: str | Sequence[str] | None = None,
    weight: str | None = None,
    confidence: str | None = None,
    cluster: str | Sequence[str] | None = None,
    order: str | None = None,
    answered: str | None = None,
    probability: str | None = None,
    scale: str | None = None,
    decimal: str | None = None,
    exclude: Names = (),
    only: Names = (),
    rows: str | None = None,
    companion: Readable | IntoDataFrame | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    merge: Names = (),
    repeats: str | None = None,
    missing_criteria: str | None = None,
    lower_is_better: bool | None = None,
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
            dataframe; or a folder, a pattern such as "reviews/*.json" or a list, for
            several files of one kind.
        format: What the file is: "hotcrp", "openreview", "cmt", "easychair", "moodle",
            "canvas", "gavel", "forms", "votes", "orders", "evaluation",
            "wide" or "long". By default the columns tell.
        reviewer: Column of the reviewer, or several that name one together, in a list
            or with + between them, "judge+prompt"; "people" or "seats" behind them, or
            alone, says whether a label is one person or somebody else at each item.
        item: Column of the item, or several.
        score: Column or field of the score, higher is better; or several criteria in a
            list, or with their weights, {"novelty": 2, "soundness": 1}: columns, sheets
            of a workbook, or values of a column called criterion. The score is then
            their weighted mean; of different scales, whose weights must be given, their
            weighted sum; or the form's own overall, if it is in the list.
        rank: Column of the rank, 1 is best.
        winner: Column of the better item, for plain comparisons.
        loser: Column of the worse item.
        pair: Column of the pair of reviewers.
        weight: Column or field of how much a rating counts.
        confidence: Column or field of the reviewer's confidence, numbers or words; how
            much its levels count is estimated. "COLUMN=low<medium<high" gives the order
            of words.
        cluster: Column of what reviewers share that may move their scores together,
            such as a prompt, or several columns; of evaluation logs and votes it
            is the prompt, unless this is "none".
        order: Column of when an item was assigned, for a comparison that is watched.
        answered: Column of when a score came in, likewise.
        probability: Column of the probability of the first item, likewise.
        scale: Score words from worst to best with < between them; or "best=A" for the
            best of single letters; or "/10" to put scores such as 4/5 onto 0 to 10.
        decimal: Decimal sign of the numbers, "." or ",". By default it is a comma in
            files with semicolons whose numbers have one, and else a point.
        exclude: Items and reviewers to leave out, by label; "item=" or "reviewer="
            before a label that is both; "self" for ratings of the reviewer's own item.
        only: Items and reviewers to keep, by label.
        rows: What the rows of a wide table are: "items" or "reviewers".
        companion: Second file of the same export, where a platform splits it.
        sheet: Sheet of a workbook, or list of records within JSON; by default the only
            one that holds anything.
        encoding: Encoding of a text, such as "windows-1252" or "mac". By default UTF-8,
            UTF-16, Windows-1252 and Mac Roman are told apart.
        delimiter: What separates fields of a text, such as ";" or "tab".
        header: Whether the first line holds names. If not, columns are called 1, 2, 3.
        merge: "item", "reviewer" or both: labels of these that look alike, such as Tea
            and tea, are one; with "case", or that alone, only if their case differs. A
            reviewer who rated both is refused like any other who rated an item twice.
        repeats: What counts of several ratings of one item by one reviewer: the "last"
            in the file, their "mean", or "all", the second as that of a reviewer
            "anna#2". By default they are refused.
        missing_criteria: What becomes of a rating that lacks a criterion: "leave-out",
            or "rescale" for the mean of those it has.
        lower_is_better: Whether the lowest score is the best; scores then get a minus
            sign. By default it is asked where a score is called penalty or the like.
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
    ratings: Ratings = read_data(**locals())
    return ratings


def read_data(
    source: Readable | Sequence[Readable] | IntoDataFrame | IntoLazyFrame,
    *,
    companion: Readable | IntoDataFrame | None = None,
    all_items: Sequence[Label] | None = None,
    counts: bool = False,
    **options: Any,  # noqa: ANN401 - of read_ratings
) -> Any:  # noqa: ANN401 - counts only if these will do
    """Read ratings, or counts of scores if these will do.

    Args:
        source: As for `read_ratings`.
        companion: Second file of the same export.
        all_items: Every item there is, if some have no rating.
        counts: Whether counts of scores will do, as for `compare`.
        options: The other options of `read_ratings`; None if not given.

    Returns:
        The Ratings or Counts. A new key is written.
    """
    flags: Any = {name: options.pop(name, None) for name in FLAGS}
    for name, flag in flags.items():
        if flag is not None and not isinstance(flag, bool):
            raise must_be(name, "True, False or None", flag)
    names = {part: options.pop(part, None) for part in Columns.__slots__}
    names["score"], criteria = read_weights(names["score"])
    columns = given_columns(
        **{part: _join_names(part, name) for part, name in names.items()}
    )
    chosen: Any = {name: _labels(name, options.pop(name, None)) for name in LABELS}
    require_text(**options)
    texts: Any = {name: value or "" for name, value in options.items()}
    request = ReadOptions(columns, **texts, **chosen, **flags, criteria=criteria)
    more: Any = {"companion": companion, "all_items": all_items, "counts": counts}
    data, key = read(source, request, **more)
    if key is not None and key.is_new:
        _outputs.write_all([key.output()])
    return data


def _join_names(part: str, names: object) -> str | None:
    """Return columns that name one thing together as the command line writes them."""
    if names is None or isinstance(names, str):
        return names
    parts = list(names) if part in JOINED and isinstance(names, Sequence) else []
    if not parts or not all(isinstance(name, str) for name in parts):
        several = " or a list of names" if part in JOINED else ""
        raise must_be(part, f"the name of a column{several}", names)
    return "+".join(parts)


def read(
    source: Readable | Sequence[Readable] | IntoDataFrame | IntoLazyFrame,
    options: ReadOptions,
    *,
    companion: Readable | IntoDataFrame | None = None,
    all_items: Sequence[Label] | None = None,
    counts: bool = False,
) -> tuple[Ratings | Counts, Key | None]:
    r"""Read ratings, and leave it to the caller to write a new key.

    Args:
        source: As for `read_ratings`.
        options: What the user said.
        companion: Second file of the same export.
        all_items: Every item there is, if some have no rating.
        counts: Whether counts of scores will do, as for `compare`.

    Returns:
        The ratings or counts, and the key if reviewers were replaced by codes.

    Raises:
        RatingsError: As for `read_ratings`.
        OptionError: If an option is unknown, or not for counts.

    Examples:
        >>> import io
        >>> read(io.StringIO("judge,paper,mark\nanna,1,7\n"), ReadOptions())
        (Ratings(1 score by 1 reviewer of 1 item), None)
        >>> file = io.StringIO("item,score,count\nx,5,70\n")
        >>> read(file, ReadOptions(), counts=True)
        (Counts(70 scores of 1 item), None)
    """
    if options.format:
        layout_of(options.format)
    if "<" in options.columns.confidence:
        name, _, levels = options.columns.confidence.rpartition("=")
        named = replace(options.columns, confidence=name)
        options = replace(options, columns=named, levels=levels)
    parts = _criterion_tables(source, options)
    table, options = next(iter(parts.values()))
    if companion is not None:
        second = _table(companion, ReadOptions())[0]
        parts = {
            name: (replace(part, companion=second), chosen)
            for name, (part, chosen) in parts.items()
        }
    if options.criteria or not are_counts(table.columns, options.columns):
        return _ratings(parts, all_items)
    if not counts:
        raise table.source.whole(
            "These are counts of scores, by the column 'count', and only compare can "
            "decide from them. Give the ratings, or leave out that column."
        )
    ratings_only = ("scale", "rows", "exclude", "only", "merge", "anonymise")
    more_only = ("repeats", "lower_is_better", "pair", "weight", "confidence")
    for name in (*ratings_only, *more_only):
        value = getattr(options, name, "") or getattr(options.columns, name, "")
        refuse_option(name, value, "for counts of scores: it is about ratings")
    return _counts(table, options, None), None


def read_counts(
    source: Readable | Sequence[Readable] | IntoDataFrame,
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
    options = ReadOptions(given_columns(item=item, score=score))
    return _counts(*_table(source, options), once)


def _counts(table: Table, options: ReadOptions, once: Once | None) -> Counts:
    names = counts.count_columns(table.columns, options.columns, table.source)
    # What `evenhand count` found out stands in a column of its own.
    standings = {*table.texts(counts.ONCE)} if counts.ONCE in table.columns else set()
    if (
        once is None
        and standings
        and (len(standings) > 1 or not standings <= {*counts.STANDINGS})
    ):
        raise table.source.whole(
            f"Column {counts.ONCE!r} must say one of {listing(counts.STANDINGS)} in "
            f"every row, the same in all, got {listing(sorted(standings))}."
        )
    if once is None and standings:
        once = standings.pop()  # type: ignore[assignment]  # checked by Counts
    return counts.Counts.from_columns(
        table.columns,
        names,
        table.source,
        once=once or "declared",
        read_as=f"counts of scores, by {table.why('count')}.",
    )


Request = tuple[Table, ReadOptions]
"""A table, and how its ratings are to be read."""


def _criterion_tables(
    source: Readable | Sequence[Readable] | IntoDataFrame | IntoLazyFrame,
    options: ReadOptions,
) -> dict[str, Request]:
    """Return what each criterion is read from, and how; "" stands for a score alone."""
    criteria = options.criteria
    if not criteria:
        refuse_option("missing_criteria", options.missing_criteria, "for one score")
        return {"": _table(source, options)}
    sheets: Sequence[str] = ()
    if not is_frame(source):
        sheets = sheet_names(source, options)  # type: ignore[arg-type]  # no frame
    if {*criteria} <= {*sheets}:
        return {name: _table(source, replace(options, sheet=name)) for name in criteria}
    table, options = _table(source, options)
    if by_value := criterion_rows(table, [*criteria]):
        return {name: (rows, options) for name, rows in by_value.items()}

    def of_column(name: str) -> ReadOptions:
        return replace(options, columns=replace(options.columns, score=name))

    return {name: (table, of_column(name)) for name in criteria}


def _without_clusters(long: LongForm) -> LongForm:
    """Leave out clusters that a layout takes by itself."""
    notices = (each for each in long.table.notices if each.code != "prompts")
    table = replace(long.table, notices=tuple(notices))
    return replace(long, table=table, names=replace(long.names, cluster=""))


def _long_form(
    table: Table, options: ReadOptions
) -> tuple[Layout, str, LongForm, ReadOptions]:
    """Read a table by its layout, without the columns that are to be left out."""
    columns = [name for name in options.exclude if name in table.columns]
    wants_none = options.columns.cluster == NO_CLUSTERS not in table.columns
    if wants_none:
        options = replace(options, columns=replace(options.columns, cluster=""))
    layout, reason = recognise(_without_columns(table, columns), options)
    layout.check_options(table, options)
    if columns and layout.name != "wide":  # there they are labels
        table = _without_columns(table, columns)
        table = table.warn("other_columns", columns=len(columns), names=few(columns))
        kept = [name for name in options.exclude if name not in columns]
        options = replace(options, exclude=kept)
    long = layout.read(table, options)
    return layout, reason, _without_clusters(long) if wants_none else long, options


def _ratings(
    parts: Mapping[str, Request], all_items: Sequence[Label] | None
) -> tuple[Ratings, Key | None]:
    table = next(iter(parts.values()))[0]
    forms = {name: _long_form(*request) for name, request in parts.items()}
    layout, reason, long, options = next(iter(forms.values()))
    names: dict[str, str] = {}
    if options.criteria:
        long, names = join_criteria({name: form[2] for name, form in forms.items()})
    long = _select_rows(long, options)
    for name in names or [long.names.score]:
        scored = replace(long, names=replace(long.names, score=name))
        scored = roles.turn_scores(_number_scores(scored, options), options)
        long = replace(long, table=scored.table)
    criteria = None
    if names:
        long, criteria = add_total(long, names, options)
    long = _merge_labels(_without_blanks(long, table, options), options)
    for part in ("cluster", "confidence"):
        if not getattr(long.names, part):
            why = f"for {layout.title}: its ratings are read without it"
            refuse_option(part, getattr(options.columns, part), why)
    # Where each part of the long form comes from says by which columns.
    because = f", by {reason}" if reason and layout.name != "long" else ""
    # Columns that are called what they are need no word.
    named_so = all(name in ("", part) for part, name in asdict(long.names).items())
    is_plain = layout.name == "long" and named_so and criteria is None
    read_as = "" if is_plain else f"{layout.title}{because}: {long.origin}."
    key = None
    if options.anonymise:
        key, long = _code_reviewers(long, options.anonymise)
    if options.repeats:
        why = "with several criteria"
        mean_of_criteria = options.repeats == "mean" and criteria is not None
        refuse_option("repeats='mean'", mean_of_criteria, why)
        long = repeats.settle_repeats(long, options.repeats)
    if criteria is not None:
        criteria = replace(
            criteria, scores=criterion_scores(long.table, criteria.names)
        )
    ratings = Ratings.from_columns(
        long.table.columns,
        long.names,
        long.table.source,
        all_items=all_items,
        people=False if long.seats else options.people,
        titles=long.titles,
        notices=long.table.notices,
        read_as=read_as,
        criteria=criteria,
    )
    if key is None:
        return ratings, None
    return ratings.in_order_of({code: name for name, code in key.codes.items()}), key


def _table(
    source: Readable | Sequence[Readable] | IntoDataFrame | IntoLazyFrame,
    options: ReadOptions,
) -> tuple[Table, ReadOptions]:
    """Read a file's cells, join columns such as judge+prompt, and say of commas.

    Returns:
        The table, and what was asked: whether reviewers are people or seats stands
        apart from the columns that name them.
    """
    if is_frame(source):
        for name in ("sheet", "encoding", "delimiter"):
            refuse_option(name, getattr(options, name), "for a dataframe")
        refuse_option("header", options.header is not None, "for a dataframe")
        columns = frame_columns(source)  # type: ignore[arg-type]  # a frame
        values = {name: column_values(column) for name, column in columns.items()}
        table = Table.of(values, Source())
    else:
        files = [fetch(path) for path in paths_of(source)]  # type: ignore[arg-type]  # no frame
        tables = [_file_table(file, options) for file in files]
        table = tables[0] if len(tables) == 1 else stacking.stack_tables(tables)
        if table.document is not None:
            table, options = nested.unfold(table, options)
        if not table.columns:
            raise table.source.whole(f"There is no row. {EXAMPLE}")
    parts, people = take_naming(options.columns.reviewer.split("+"), table.columns)
    named = replace(options.columns, reviewer="+".join(parts))
    options = replace(options, columns=named, people=people)
    more = {
        name: join_labels(parts, table.columns, table.source)
        for name in (getattr(options.columns, part) for part in JOINED)
        if len(parts := name.split("+")) > 1 and name not in table.columns
    }
    table = replace(table, columns={**table.columns, **more})
    return decimal_points(table, options.decimal), options


def _without_columns(table: Table, names: Sequence[str]) -> Table:
    columns = table.columns.items()
    kept = {name: values for name, values in columns if name not in names}
    return replace(table, columns=kept)


def _file_table(file: File, options: ReadOptions) -> Table:
    if file.format not in ("excel", "json", "jsonl"):
        refuse_option("sheet", options.sheet, f"for {file.format}")
    if file.format in ("excel", "parquet"):
        refuse_option("encoding", options.encoding, f"for {file.format}")
    if file.format != "csv" and not options.encoding:
        refuse_option("delimiter", options.delimiter, f"for {file.format}")
    header, has_rows = options.header, bool(options.rows)
    text = TextOptions(options.encoding, options.delimiter, header, has_rows)
    return read_table(file, options.sheet, text)


def _labels(option: str, names: Names | None) -> tuple[str, ...]:
    several = [names] if isinstance(names, str | int) else names
    several = () if several is None else several
    require_sequence("labels", **{option: several})
    return tuple(map(str, several))


def _number_scores(long: LongForm, options: ReadOptions) -> LongForm:
    """Turn cells that are no plain numbers into numbers, if it is clear how."""
    kind = long.names.kind
    if kind != "scores":
        refuse_option("scale", options.scale, f"for {kind}: it orders scores")
    table = long.table
    for name in (long.names.score, long.names.rank, long.names.weight):
        scale = options.scale if name == long.names.score else ""
        if name and (scale or not _has_numbers(table.columns[name])):
            scale = scale or scales.usual_scale(table.columns[name])
            table = scales.number_column(table, name, scale)
    if long.names.confidence:
        table = scales.order_levels(table, long.names.confidence, options.levels)
    source = replace(table.source, orders=kind == "scores" and not options.scale)
    return replace(long, table=replace(table, source=source))


def _has_numbers(values: pl.Series) -> bool:
    """Return whether every value is a plain number or empty."""
    if values.dtype == pl.Object:
        return not any(isinstance(value, str) for value in values)
    if values.dtype != pl.String:
        return True
    return values.cast(pl.Float64, strict=False).null_count() == values.null_count()


def _parts(long: LongForm) -> dict[str, list[str]]:
    """Return the columns of items and of reviewers."""
    names = long.names
    items = [name for name in (names.item, names.winner, names.loser) if name]
    return {"item": items, "reviewer": [names.reviewer] if names.reviewer else []}


def _without_blanks(long: LongForm, table: Table, options: ReadOptions) -> LongForm:
    """Say which labels stood in the file with and without blanks around them."""
    notices = long.table.notices
    raw = [*table.columns.values(), *([] if table.corner is None else [table.corner])]
    for part, names in _parts(long).items():
        columns = [long.table.columns[name] for name in names]
        as_read = all(any(column is series for series in raw) for column in columns)
        # Most layouts strip labels, so the file is looked at; else Ratings says it.
        if names and (not as_read or options.merge or options.anonymise):
            labels = pl.concat([long.table.labels(name) for name in names]).implode()
            texts = (series.unique() for series in raw if series.dtype == pl.String)
            cells = [series.filter(strings(series).is_in(labels)) for series in texts]
            named = part == "item" or not options.anonymise
            notices += blank_notices(part, cells, named=named)
    return replace(long, table=replace(long.table, notices=notices))


def _merge_labels(long: LongForm, options: ReadOptions) -> LongForm:
    """Give labels that look alike one spelling, if the user asks for it."""
    if not {*options.merge} <= {"item", "reviewer", "case"}:
        raise must_be("merge", "'item', 'reviewer' or 'case'", [*options.merge])
    table, case = long.table, "case" in options.merge
    merged_parts = {*options.merge} - {"case"} or ({"item", "reviewer"} if case else {})
    for part, names in _parts(long).items():
        if part in merged_parts and names:
            labels = {name: strings(table.columns[name]) for name in names}
            spellings = merged_spellings(pl.concat(labels.values()), case=case)
            columns = {
                name: series.replace(spellings) for name, series in labels.items()
            }
            table = replace(table, columns={**table.columns, **columns})
            if spellings:
                named = part == "item" or not options.anonymise
                warning = merge_notice(part, spellings, named=named)
                table = table.warn(warning.code, **warning.facts)
    return replace(long, table=table)


def _code_reviewers(long: LongForm, path: str) -> tuple[Key, LongForm]:
    """Replace reviewers by codes."""
    name, table = long.names.reviewer, long.table
    if not name:
        raise table.source.whole("There is no reviewer to anonymise.")
    why = "for pairs of reviewers, whose labels may tell who they are"
    refuse_option("anonymise", long.names.pair, why)
    people = label_series(table.columns[name], name, table.source).cast(pl.String)
    names = people.unique().sort().to_list()
    key = anonymise.open_key(path, names)
    coded = (sorted(key.codes[person] for person in pair) for pair in alike(names))
    similar = alike_notices(
        "reviewer", [(first, second) for first, second in sorted(coded)]
    )
    columns = {**table.columns, name: people.replace_strict(key.codes)}
    notices = (*table.notices, anonymise.CODED, *similar)
    return key, replace(long, table=replace(table, columns=columns, notices=notices))


def _select_rows(long: LongForm, options: ReadOptions) -> LongForm:
    """Leave out what the user does not want, and tell of ratings of one's own."""
    own, table = _own_rows(long), long.table
    keep = _rows_to_keep(long, options, own)
    if not keep.all():
        if not keep.any():
            raise table.source.whole("There is no rating left. Exclude less.")
        table = table.warn(EXCLUDED, ratings=int((~keep).sum()))
        table = table.keep(np.flatnonzero(keep).tolist())
    own = own[keep]
    if own.any():
        people = table.cells(long.names.reviewer).filter(pl.Series(own))
        names = few(() if options.anonymise else people.unique().sort())
        table = table.warn("self_ratings", ratings=len(people), reviewers=names)
    return replace(long, table=table)


def _own_rows(long: LongForm) -> Flags:
    """Tell in which rows somebody rates what seems to be their own.

    The reviewer is called like the item, or is one of its authors, but for case and
    blanks; the part of an e-mail before the @ counts as a name.
    """
    names = long.names
    own = np.zeros(long.table.height, dtype=np.bool_)
    if not names.reviewer or not names.item:
        return own
    labels = [long.table.labels(name) for name in (names.reviewer, names.item)]
    aliases, whose = [long.people], [long.titles, long.authors]
    sides = (labels[0], aliases), (labels[1], whose)
    # Most files are told by the words of their distinct labels.
    texts = (
        " ".join(chain(labels, *(mapping.values() for mapping in more)))
        for labels, more in sides
    )
    if set.isdisjoint(*(set(WORD.findall(text.casefold())) for text in texts)):
        return own
    reviewer_names, item_names = (
        {
            label: _names_in(label, *(mapping.get(label, "") for mapping in more))
            for label in labels
        }
        for labels, more in sides
    )
    columns = map(long.table.cells, (names.reviewer, names.item))
    pairs = zip(*columns, strict=True)
    return np.array(
        [bool(reviewer_names[person] & item_names[item]) for person, item in pairs]
    )


def _names_in(*texts: str) -> set[str]:
    """Return the names in some texts; numbers and single letters are nobody's."""
    named = [text.casefold() for text in texts if NAME.search(text)]
    parts = [part for text in named for part in (text, *AUTHORS_END.split(text))]
    parts += [
        re.sub("[._-]+", " ", address.partition("@")[0])
        for address in parts
        if "@" in address
    ]
    return {" ".join(part.split()) for part in parts if NAME.search(part)}


def _rows_to_keep(long: LongForm, options: ReadOptions, own: Flags) -> Flags:
    """Tell which ratings the user wants."""
    keep = np.ones(len(own), dtype=np.bool_)
    if not (options.exclude or options.only):
        return keep
    labels: dict[str, set[str]] = {"item": set(), "reviewer": set()}
    columns = []
    for role in ("item", "winner", "loser", "reviewer"):
        if name := getattr(long.names, role):
            part, cells = role if role in labels else "item", long.table.cells(name)
            labels[part].update(cells.unique())
            columns.append((part, cells))
    out = [_part_of(text, labels) for text in options.exclude]
    only = [_part_of(text, labels) for text in options.only]
    if (SELF, SELF) in out:
        keep &= ~own
    for part, cells in columns:
        kept = [label for kind, label in only if kind == part] or [*labels[part]]
        keep &= cells.is_in(kept).to_numpy()
        keep &= ~cells.is_in([label for kind, label in out if kind == part]).to_numpy()
    return keep


def _part_of(text: str, labels: dict[str, set[str]]) -> tuple[str, str]:
    """Tell whether a name is an item's or a reviewer's, or "self"."""
    part, equals, label = text.partition("=")
    parts, what = [part], part
    if (
        not equals
        or part not in labels
        or any(text in them for them in labels.values())
    ):
        parts, what, label = list(labels), "name", text
    label = label.strip()
    there = [part for part in parts if label in labels[part]]
    if not there and label == SELF:
        return SELF, SELF
    if not there:
        every = set().union(*(labels[part] for part in parts))
        raise OptionError(unknown(what, label, sorted(every)))
    if len(there) > 1:
        raise OptionError(
            f"{label!r} is both an item and a reviewer. Write 'item={label}' or "
            f"'reviewer={label}'."
        )
    return there[0], label

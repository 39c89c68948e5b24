"""Exports: what a result holds, as tables for a spreadsheet or another program.

Each command names its tables. The table "ratings" is what was read, in the long form
and with codes instead of names if those were asked for. Read again, it has the same
hash; without codes, whoever gets it can repeat the result.

Names in a table come from strangers, so no format may run them. In CSV and TSV a cell
that a spreadsheet would take for a formula begins with an apostrophe, and a cell that
holds any usual separator is quoted, as LibreOffice splits at several of them. In Excel
every text is stored as text, never as a formula or a link, and marked so that it stays
text when its cell is edited. In Markdown whatever could end a cell, begin a tag or a
link is written as an entity. Parquet and JSON hold names as they are.

CSV and TSV are UTF-8. They begin with a byte order mark if they hold anything but
ASCII, as Excel takes them for another coding otherwise and spoils names in silence;
plain files stay plain for scripts.
"""

from __future__ import annotations

import io
import json
import re
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from polars import selectors

from evenhand._outputs import Output
from evenhand.ab.comparison import Comparison
from evenhand.claims import version
from evenhand.designs.assignment import ESCAPED
from evenhand.diagnosis.check import Check
from evenhand.errors import OptionError, listing, printable, shown, unknown
from evenhand.formats.files import UTF8_MARK
from evenhand.formats.lists import safe_cell
from evenhand.grading import Grades
from evenhand.ranking.results import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

    from evenhand.arrays import Floats
    from evenhand.claims import Label
    from evenhand.ratings import Ratings

    Result = Ranking | Comparison | Check | Grades
    Maker = Callable[..., pl.DataFrame]
    About = Mapping[str, str | int]

COMMANDS = {Ranking: "rank", Comparison: "compare", Check: "check", Grades: "grade"}
"""The command that gives such a result."""
ALL = "all"
"""Every table of a command, for a format that holds several."""
EXACT = "ratings"
"""The table that is read again, so nothing in it may be changed to fit a format."""
SUFFIXES = (".csv", ".tsv", ".xlsx", ".parquet", ".json", ".jsonl", ".md")
SEVERAL = (".xlsx", ".json", ".md")
"""Formats of which one file holds several tables."""
SCHEMA = "evenhand.tables/1"
WORD = re.compile(r"[A-Za-z]*")
EXACT_WHOLE = 2.0**53
INT64 = 2**63
NUMBERS = selectors.float()
SPECIAL = re.compile(r"""[,;|\t\r\n"]""")
# Excel shows longer integers than these with zeros at their ends.
EXCEL_ROWS, EXCEL_TEXT, EXCEL_DIGITS = 1_048_576, 32_767, 10**15
# The writer's escapes for these are not undone by everyone who reads them.
NOT_IN_EXCEL = re.compile("_x[0-9A-Fa-f]{4}_x[0-9A-Fa-f]{4}_|[\ufffe\uffff]")
WIDEST, NARROWEST, SAMPLED = 60, 8, 1000
ENTITIES = str.maketrans(
    {character: f"&#{ord(character)};" for character in "|\\`<>&[]$"}
    | {character: f"\\{character}" for character in "*_~"}
)
# Fields of what a table is made of; those of text, and names that a table has instead.
RANKED = (
    *("rank", "item", "rank_low", "rank_high", "group", "mean_rank", "reviews"),
    *("mean_score", "spread", "estimate", "error", "p_top", "side"),
    "settled_by_chance",
)
REVIEWER = ["strictness", "offset", "offset_se", "spread", "slope", "slope_se"]
REVIEWER += ["agreement", "correlation"]
RUNG = ("assumption", "method", "accuracy", "se", "behind", "behind_se")
FINDING = ("code", "message")
TEXTS = {*FINDING, *RUNG[:2], "strictness", "spread", "agreement"}
RENAMED = {"se": "accuracy_error", "message": "finding"}
RENAMED |= {f"{name}_se": f"{name}_error" for name in ("offset", "slope", "behind")}


def parse_export(text: str, command: str) -> tuple[str, str]:
    """Take apart what was given to --export: [TABLE=]PATH.

    What stands before the first "=" is a table if it is a plain word; anything else, as
    in "./a=b.csv", is part of the path. "ranking=a=b.csv" writes to "a=b.csv".

    Args:
        text: What was given.
        command: "rank", "compare" or "check".

    Returns:
        The table, or "all", and the path.

    Raises:
        OptionError: If there is no such table, no path, or the suffix is unknown.

    Examples:
        >>> parse_export("out.xlsx", "rank"), parse_export("draws=coins.csv", "rank")
        (('ranking', 'out.xlsx'), ('draws', 'coins.csv'))
        >>> parse_export("draws=coins.csv", "compare")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: unknown table 'draws'. Known tables: 'comparison',
        'ratings', 'all'. A file name with '=' goes after a table: comparison=NAME.
    """
    known = TABLES[command]
    head, sign, rest = text.partition("=")
    table, path = known[0], text
    if sign and WORD.fullmatch(head):
        table, path = head.casefold(), rest
    if table not in (*known, ALL):
        raise OptionError(
            f"{unknown('table', head, (*known, ALL))} A file name with '=' goes after "
            f"a table: {known[0]}=NAME."
        )
    if not path.strip():
        raise OptionError(f"export must be [TABLE=]PATH, got {text!r}.")
    suffix = _suffix(path)
    if table == ALL and suffix not in SEVERAL:
        raise OptionError(
            f"export of 'all' must be a file that holds several tables, got {path!r}. "
            f"Known suffixes: {', '.join(map(repr, SEVERAL))}."
        )
    return table, path


def _suffix(path: str) -> str:
    """Return the suffix that says how to write a file."""
    suffix = PurePath(path).suffix.casefold()
    if suffix not in SUFFIXES:
        raise OptionError(
            f"export must end in a known suffix, got {path!r}. Known suffixes: "
            f"{listing(SUFFIXES)}."
        )
    return suffix


def export_outputs(
    exports: Iterable[tuple[str, str]],
    ratings: Ratings,
    result: Result,
    check: Check | None = None,
) -> list[Output]:
    """Return the files to write; tables for one path go into one file.

    Args:
        exports: Table and path of each, as `parse_export` gives them.
        ratings: What was rated.
        result: The ranking, comparison, check or marks.
        check: The check of the same ratings, for the reviewers of a ranking.

    Returns:
        A file for each path.

    Raises:
        OptionError: If a format cannot hold what it is asked to.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> found = rank(ratings, method="mean", rng=7)
        >>> wanted = [("ranking", "a.xlsx"), ("draws", "a.xlsx"), ("ratings", "b.csv")]
        >>> [output.path for output in export_outputs(wanted, ratings, found)]
        ['a.xlsx', 'b.csv']
    """
    wanted: dict[Path, tuple[str, dict[str, pl.DataFrame]]] = {}
    for what, path in exports:
        _, tables = wanted.setdefault(Path(path).resolve(), (path, {}))
        for name in TABLES[COMMANDS[type(result)]] if what == ALL else (what,):
            tables[name] = table_of(name, ratings, result, check)
    facts = about(ratings, result)
    return [
        Output(path, exported(tables, path, facts)) for path, tables in wanted.values()
    ]


def about(ratings: Ratings, result: Result) -> dict[str, str | int]:
    """Say where tables came from, and what they may claim.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> about(ratings, rank(ratings, method="mean", rng=7))["seed"]
        '7'
    """
    given = {name: it for name, it in result.parameters.items() if it is not None}
    certificate = None if isinstance(result, Check) else result.certificate
    facts: dict[str, str | int] = {
        "made by": f"evenhand {version()}",
        "method": "check" if isinstance(result, Check) else result.method,
        "options": json.dumps(given, ensure_ascii=False, default=str) if given else "",
        "seed": str(result.seed),
        "read as": ratings.read_as,
        "reviewers": ratings.n_reviewers,
        "items": ratings.n_items,
        "kind of ratings": ratings.kind,
        "ratings": ratings.n_ratings,
        "hash of the ratings": ratings.sha256,
        "what this may claim": "" if certificate is None else certificate.sentence,
    }
    for number, notice in enumerate(result.notices, start=1):
        facts[f"note {number}"] = notice.message
    return {name: fact for name, fact in facts.items() if fact != ""}


def table_of(
    what: str, ratings: Ratings, result: Result, check: Check | None = None
) -> pl.DataFrame:
    """Return one table of a result.

    Args:
        what: Name of the table.
        ratings: What was rated.
        result: The ranking, comparison, check or marks.
        check: The check of the same ratings, for the reviewers of a ranking.

    Returns:
        The table. A number that is not known is null. Integer labels that no column of
        64 bits holds are text.

    Raises:
        OptionError: If the result has no such table, or it needs a check.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> table_of("ranking", ratings, rank(ratings, rng=7))["item"].to_list()
        ['y', 'x']
    """
    known = TABLES[COMMANDS[type(result)]]
    if what not in known:
        raise OptionError(unknown("table", what, known))
    asked = isinstance(result, Ranking) and what == "reviewers"
    return MAKERS[what](ratings.public, check if asked else result)


def _labels(labels: Sequence[Label]) -> pl.Series:
    small = all(isinstance(label, int) and -INT64 <= label < INT64 for label in labels)
    if small and labels:
        return pl.Series(labels, dtype=pl.Int64)
    return pl.Series([str(label) for label in labels], dtype=pl.String)


def _fields(rows: Sequence[object], names: Sequence[str]) -> pl.DataFrame:
    """Return fields of all rows, some under other names; a row of None has none."""
    columns = {name: [getattr(row, name, None) for row in rows] for name in names}
    kinds = {name: pl.String if name in TEXTS else pl.Float64 for name in names}
    return pl.DataFrame(columns, schema=kinds).rename(RENAMED, strict=False)


def _titled(
    frame: pl.DataFrame, items: Sequence[str], ratings: Ratings
) -> pl.DataFrame:
    """Put items' titles, if any item has one, beside their labels."""
    titles = {str(item): title for item, title in ratings.titles.items()}
    for name in items if titles else ():
        called = [titles.get(str(item), "") for item in frame[name]]
        column = pl.Series("title" if name == "item" else f"{name}_title", called)
        frame = frame.insert_column(frame.get_column_index(name) + 1, column)
    return frame


def _ranking(ratings: Ratings, result: Ranking) -> pl.DataFrame:
    drawn = {item for draw in result.draws for item in draw.items}
    settled = pl.Series("settled_by_chance", [item in drawn for item in result.order])
    frame = result.to_frame().rename({"bucket": "group"}).with_columns(settled)
    absent = {"p_top", "side"} if result.top is None else set()
    shown = [name for name in RANKED if name not in absent]
    return _titled(frame.select(shown), ["item"], ratings)


def _reviewers(ratings: Ratings, check: Check | None) -> pl.DataFrame:
    if check is None:
        raise OptionError("The table 'reviewers' of a ranking needs a check.")
    loads = np.bincount(ratings.reviewer_codes, minlength=ratings.n_reviewers)
    means: list[float | None] = [None] * ratings.n_reviewers
    if ratings.kind == "scores":
        # A weighted sum could overflow where each score over its count does not.
        shares = ratings.preference / loads[ratings.reviewer_codes]
        means = np.bincount(ratings.reviewer_codes, weights=shares).tolist()
    counts = {
        "reviewer": _labels(ratings.reviewer_labels),
        "ratings": pl.Series(loads, dtype=pl.Int64),
        "mean_score": pl.Series(means, dtype=pl.Float64),
    }
    people = _fields(check.reviewers or [None] * ratings.n_reviewers, REVIEWER)
    return pl.concat([pl.DataFrame(counts), people], how="horizontal")


def _draws(_: Ratings, result: Ranking) -> pl.DataFrame:
    draws = result.draws
    items = _labels([it for draw in draws for it in draw.items]).dtype
    people = _labels([it for draw in draws for it in draw.reviewers]).dtype
    who = [[*draw.reviewers] for draw in draws]
    anchors = [[[*it] for it in draw.anchors] for draw in draws]
    return pl.DataFrame(
        {
            "first_item": _labels([draw.items[0] for draw in draws]),
            "second_item": _labels([draw.items[1] for draw in draws]),
            "p_first": pl.Series([draw.p_first for draw in draws], dtype=pl.Float64),
            "put_first": _labels([draw.first for draw in draws]),
            "reviewers": pl.Series(who, dtype=pl.List(people), strict=False),
            "anchors": pl.Series(anchors, dtype=pl.List(pl.List(items)), strict=False),
        }
    )


def _comparison(ratings: Ratings, result: Comparison) -> pl.DataFrame:
    claim = None if result.certificate is None else result.certificate.sentence
    sides = {"first": result.items[0], "second": result.items[1]}
    labels = {**sides, "winner": result.winner}
    frame = result.to_frame().with_columns(
        *(_labels([label]).alias(name) for name, label in labels.items()),
        pl.Series("may_claim", [claim], dtype=pl.String),
    )
    last = ("method", "seed", "may_claim")
    frame = frame.select(pl.exclude(last), *last)
    return _titled(frame.rename({"p_first_se": "p_first_error"}), [*sides], ratings)


def _contradictions(ratings: Ratings, found: Check) -> pl.DataFrame:
    worst, sides = found.contradictions.worst, ("first", "second")
    columns = {}
    for end, side in enumerate(sides):
        columns[side] = _labels([pair.items[end] for pair in worst])
        votes = [pair.votes[end] for pair in worst]
        columns[f"{side}_above"] = pl.Series(votes, dtype=pl.Int64)
    frame = pl.DataFrame(columns).select(*sides, pl.exclude(sides))
    return _titled(frame, sides, ratings)


def _ladder(_: Ratings, found: Check) -> pl.DataFrame:
    rungs = () if found.ladder is None else found.ladder.rungs
    verdict = "" if found.ladder is None else found.ladder.verdict
    return _fields(rungs, RUNG).with_columns(verdict=pl.col("assumption") == verdict)


def _ratings(ratings: Ratings, _: object) -> pl.DataFrame:
    """Return what was read, so that reading it again gives the same ratings."""
    if ratings.kind == "comparisons":
        return _pairs(ratings)
    scored = ratings.kind == "scores"
    values = ratings.preference if scored else 0.0 - ratings.preference
    columns = {
        "reviewer": _labels(ratings.reviewer_labels).gather(ratings.reviewer_codes),
        "item": _labels(ratings.item_labels).gather(ratings.item_codes),
        "score" if scored else "rank": _shortest(values),
    }
    if ratings.pair_codes is not None:
        columns["pair"] = _labels(ratings.pair_labels).gather(ratings.pair_codes)
    if ratings.weights is not None:
        columns["weight"] = _shortest(ratings.weights)
    return pl.DataFrame(columns)


def _pairs(ratings: Ratings) -> pl.DataFrame:
    # Each comparison is a reviewer with two rows, and rows go by reviewer.
    items = ratings.item_codes.reshape(-1, 2)
    above = ratings.preference.reshape(-1, 2).argmax(axis=1)
    labels = _labels(ratings.item_labels)
    row = np.arange(len(items))
    columns = {
        "winner": labels.gather(items[row, above]),
        "loser": labels.gather(items[row, 1 - above]),
    }
    people = ratings.reviewer_labels
    if isinstance(people[0], str):
        names = [str(label).rpartition("#")[0] for label in people]
        columns = {"reviewer": _labels(names), **columns}
    return pl.DataFrame(columns)


def _shortest(numbers: Floats) -> pl.Series:
    whole = (np.round(numbers) == numbers) & (np.abs(numbers) < EXACT_WHOLE)
    return pl.Series(numbers, dtype=pl.Int64 if whole.all() else pl.Float64)


TABLES = {
    "rank": ("ranking", "reviewers", "draws", "ratings"),
    "grade": ("grades", "ratings"),
    "compare": ("comparison", "ratings"),
    "check": ("reviewers", "contradictions", "findings", "ladder", "ratings"),
}
"""Tables of each command; the first is the default."""
# What makes each table, of ratings and a result.
MAKERS: dict[str, Maker] = {
    "ranking": _ranking,
    "reviewers": _reviewers,
    "draws": _draws,
    "grades": lambda ratings, it: _titled(it.to_frame(), ["item"], ratings),
    "comparison": _comparison,
    "contradictions": _contradictions,
    "findings": lambda _, check: _fields(check.findings, FINDING),
    "ladder": _ladder,
    "ratings": _ratings,
}


def exported(
    tables: Mapping[str, pl.DataFrame], path: str, about: About | None = None
) -> bytes:
    r"""Write tables as one file.

    Args:
        tables: Tables by name; the names are ours, never from data.
        path: The file; its suffix says how to write it.
        about: What the tables came from. Excel has a sheet for it, except beside
            ratings alone, which are to be read again; Markdown says it below, and JSON
            with several tables has it as a field.

    Returns:
        The bytes of the file.

    Raises:
        OptionError: If the suffix is unknown, the format holds one table only, or
            cannot hold a value of the ratings.

    Examples:
        >>> table = pl.DataFrame({"item": ["=1+1", "tea"], "rank": [1, 2]})
        >>> exported({"ranking": table}, "out.csv")
        b"item,rank\n'=1+1,1\ntea,2\n"
        >>> exported({"ranking": table}, "out.doc")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: export must end in a known suffix, got 'out.doc'.
        Known suffixes: '.csv', '.tsv', '.xlsx', '.parquet', '.json', '.jsonl', '.md'.
    """
    suffix = _suffix(path)
    if len(tables) != 1 and suffix not in SEVERAL:
        raise OptionError(
            f"{path}: A {suffix} file holds one table, got {listing(tables)}. Give a "
            f"file for each, or one that ends in {listing(SEVERAL)}."
        )
    # What is not finite is not known.
    finite = pl.when(NUMBERS.is_finite()).then(NUMBERS)
    tables = {name: frame.with_columns(finite) for name, frame in tables.items()}
    ((name, table), *_) = tables.items()
    if suffix == ".xlsx":
        return _workbook(tables, path, None if [*tables] == [EXACT] else about)
    if suffix == ".parquet":
        file = io.BytesIO()
        table.write_parquet(file)
        return file.getvalue()
    if suffix == ".json":
        text = _json(tables, about)
    elif suffix == ".jsonl":
        rows = (json.dumps(row, ensure_ascii=False) for row in table.to_dicts())
        text = "".join(f"{row}\n" for row in rows)
    elif suffix == ".md":
        text = _markdown(tables, about)
    else:
        text = _delimited(table, path, exact=name == EXACT)
    return text.encode()


def _delimited(table: pl.DataFrame, path: str, *, exact: bool) -> str:
    """Write a table as text with separators, safe to open in a spreadsheet.

    If it need not be read again as it is, white space around texts and NUL characters,
    which no reader takes, are left out.
    """

    def cell(text: str) -> str:
        if exact and "\0" in text:
            raise _does_not_fit(path, text)
        # White space before a formula does not keep everyone from running it.
        safe = safe_cell(text if exact else text.replace("\0", "").strip())
        quoted = '"' + safe.replace('"', '""') + '"'
        return quoted if SPECIAL.search(safe) else safe

    separator = "\t" if _suffix(path) == ".tsv" else ","
    columns = [_texts(column, cell, repr) for column in table]
    rows = [table.columns, *zip(*columns, strict=True)]
    text = "".join(f"{separator.join(row)}\n" for row in rows)
    return text if text.isascii() else UTF8_MARK.decode() + text


def _texts(
    column: pl.Series, text: Callable[[str], str], number: Callable[[float], str]
) -> list[str]:
    """Return a column's cells as text; what is not known is empty."""
    column = _joined(column)
    if column.dtype == pl.String:
        # Labels repeat, so each is looked at once.
        found = {it: text(it) for it in column.drop_nulls().unique()}
        return [found.get(it, "") for it in column]
    write = number if column.dtype.is_float() else repr
    return ["" if it is None else write(it).lower() for it in column]


def _joined(column: pl.Series) -> pl.Series:
    """Return lists as JSON, as a name may hold any character that would join them."""
    if column.dtype != pl.List:
        return column
    cells = column.to_list()
    texts = [None if it is None else json.dumps(it, ensure_ascii=False) for it in cells]
    return pl.Series(column.name, texts, dtype=pl.String)


def _does_not_fit(path: str, text: str) -> OptionError:
    return OptionError(
        f"{path}: A {_suffix(path)} file cannot hold the label {shown(text)} as it "
        "is. Write ratings as .parquet or .jsonl."
    )


def _json(tables: Mapping[str, pl.DataFrame], about: About | None) -> str:
    rows = {name: frame.to_dicts() for name, frame in tables.items()}
    found: object = {"schema": SCHEMA, "about": about or {}, **rows}
    if len(rows) == 1:
        (found,) = rows.values()
    return f"{json.dumps(found, indent=2, ensure_ascii=False)}\n"


def _markdown(tables: Mapping[str, pl.DataFrame], about: About | None) -> str:
    parts = []
    for name, frame in tables.items():
        parts += [f"## {name.capitalize()}"] if len(tables) > 1 else []
        # People need no column that says nothing; programs read other formats.
        told = [it for it in frame if it.null_count() < frame.height or it.is_empty()]
        names = [column.name.replace("_", " ") for column in told]
        rules = ["---:" if column.dtype.is_numeric() else "---" for column in told]
        cells = [_texts(column, _marked, _rounded) for column in told]
        rows = (names, rules, *zip(*cells, strict=True))
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    facts = [f"- {name}: {_marked(str(it))}" for name, it in (about or {}).items()]
    return "\n\n".join([*parts, *(["\n".join(facts)] if facts else [])]) + "\n"


def _marked(text: str) -> str:
    shown = printable(text.strip()).translate(ENTITIES)
    # Viewers make links of bare addresses.
    return re.sub(
        r"(?i)(?<=\bwww)\.|:(?=//)", lambda found: f"&#{ord(found[0])};", shown
    )


def _rounded(number: float) -> str:
    """Show four digits, but never a probability short of 1 as 1."""
    text = f"{number:.4g}"
    return repr(number) if float(text) == 1 != number else text


class _Exact(float):
    """A number that is written with all its digits; the writer keeps sixteen."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return repr(float(self))


def _workbook(
    tables: Mapping[str, pl.DataFrame], path: str, about: About | None
) -> bytes:
    import xlsxwriter  # noqa: PLC0415 - only for those who want a workbook

    file = io.BytesIO()
    plain = {"strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(file, {"in_memory": True, **plain})
    # The time of writing would make two files of one result differ.
    book.set_properties({"created": datetime(2000, 1, 1)})
    bold = book.add_format({"bold": True})
    text = book.add_format({"quote_prefix": True})
    sheets = dict(tables)
    if about is not None:
        names, values = [*about], [str(value) for value in about.values()]
        sheets["about"] = pl.DataFrame({"about": names, "value": values})
    for name, frame in sheets.items():
        if frame.height >= EXCEL_ROWS:
            raise OptionError(
                f"{path}: A sheet of Excel holds {EXCEL_ROWS:,} rows, got "
                f"{frame.height + 1:,}. Use another format, such as .csv or .parquet."
            )
        sheet = book.add_worksheet(name)
        sheet.write_row(0, 0, frame.columns, bold)
        for place, column in enumerate(frame):
            _fill(sheet, place, column, text, path, exact=name == EXACT)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, frame.height, frame.width - 1)
    book.close()
    return file.getvalue()


def _fill(
    sheet: Worksheet,
    place: int,
    column: pl.Series,
    form: Format,
    path: str,
    *,
    exact: bool,
) -> None:
    values = _joined(column).to_list()
    for row, value in enumerate(values, start=1):
        if isinstance(value, bool):
            sheet.write_boolean(row, place, value)
        elif isinstance(value, int) and abs(value) < EXCEL_DIGITS:
            sheet.write_number(row, place, value)
        elif isinstance(value, float):
            sheet.write_number(row, place, _Exact(value))
        elif value is not None:
            text = _excel_text(str(value), path, exact=exact)
            sheet.write_string(row, place, text, form)
    sample = [column.name, *map(str, values[:SAMPLED])]
    widest = max(len(line) for text in sample for line in text.split("\n"))
    sheet.set_column(place, place, min(max(widest + 2, NARROWEST), WIDEST))


def _excel_text(text: str, path: str, *, exact: bool) -> str:
    # Our reader takes off the apostrophe of a label that looks escaped.
    text = f"'{text}" if ESCAPED.match(text) else text
    too_long = len(text.encode("utf-16-le")) > 2 * EXCEL_TEXT
    if exact and (too_long or NOT_IN_EXCEL.search(text)):
        raise _does_not_fit(path, text)
    return f"{text[: EXCEL_TEXT // 2]}..." if too_long else text

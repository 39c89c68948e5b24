"""From a file of any format to named columns and line numbers."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evenhand.claims import DataWarning, Json
from evenhand.columns import (
    ALIASES,
    FORMULA_START,
    MISSING_WORDS,
    NUMBER,
    TEXTUAL,
    Source,
    as_series,
    as_valid,
    cut_alike,
    first_repeat,
    is_alias,
    matching_names,
    option_for,
    require_no_thousands,
)
from evenhand.errors import RatingsError, listing, must_be, quote
from evenhand.formats.delimited import check_text, decode_text, read_cells
from evenhand.formats.documents import (
    EXAMPLE,
    finite_or_text,
    flatten,
    parse_json,
    top_records,
)
from evenhand.unpacking import PARQUET, available_memory, refusal, unpacking_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.formats.files import File

Reasons = Mapping[str, Iterable[bool]]
"""Rows to leave out: by the code of a notice, what it says of them, and which."""
COMMA_NUMBER = r"^[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+|\s*/\s*[0-9]+)?$"
THOUSANDS = r"^[+-]?[0-9]{1,3},[0-9]{3}$"
NOTHING = ["", *MISSING_WORDS]
LABELS = ALIASES["reviewer"] | ALIASES["item"]
HEADER_MARKS = frozenset({"SubmissionId", "Paper ID"})
"""Names in headers that may stand below other lines, as CMT writes them."""
IMPORT_ID = '{"ImportId":'
RESPONSES = {"Response", "Open-Ended Response"}
"""What SurveyMonkey writes below a question without options."""
APPRAISE = "username", "system", "segment", "item type", "source", "target", "score"
"""Columns of Appraise, which writes no names."""
APPRAISE_LINE = re.compile(
    r"(?:[^\t]+\t){3}(?:TGT|CHK|BAD|REF)[^\t]*\t(?:[A-Za-z]{2,3}(?:[-_]\w+)?\t){2}"
    r"[0-9.]+(\t[^\t]+\t(?:True|False))?(?:\t.*)?"
)
"""What is in them: an annotator, a system, a segment, its type, languages, a score; and
in some campaigns a document, and whether the score is for the whole of it."""
PREAMBLE = 10
LEAST_MEMORY = 2**30
"""What decoding a small file may take."""
DECODER = Path(__file__).with_name("decoder.py")


class TextOptions(NamedTuple):
    """What the user said of a text.

    Attributes:
        encoding: Its encoding; by default the text tells.
        delimiter: What separates its fields; by default the text tells.
        header: Whether its first line holds names; None if not said.
        matrix: Whether it is a wide table, which may go without names.
    """

    encoding: str = ""
    delimiter: str = ""
    header: bool | None = None
    matrix: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """What a file holds.

    Attributes:
        columns: Each column's values by its name, without white space around it.
        source: The file and the line of each row, for messages.
        corner: The first column if it has no name, as in wide tables.
        document: What a JSON file holds, as plain values.
        nameless: Whether another column holds something but has no name.
        companion: A second table of the same export, if one was given.
        commas: Whether numbers may have decimal commas: semicolons separate fields.
        named: Whether the first line holds names, if that was said; if it does not,
            columns are numbered from 1.
        notices: What was left out or taken otherwise, and what the reader must know.
    """

    columns: Mapping[str, pl.Series]
    source: Source
    corner: pl.Series | None = None
    document: object = None
    nameless: bool = False
    companion: Table | None = None
    commas: bool = False
    named: bool | None = None
    notices: tuple[DataWarning, ...] = ()

    @classmethod
    def of(
        cls, columns: Mapping[str, Sequence[object] | pl.Series], source: Source
    ) -> Table:
        """Make a table of columns that may be of plain values.

        Examples:
            >>> Table.of({"item": ["x", "y"]}, Source()).height
            2
        """
        series = {name: as_series(values) for name, values in columns.items()}
        return cls(series, source)

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def find(self, *names: str) -> str:
        """Return the column that has the first of these names, or an empty text.

        Examples:
            >>> table = Table.of({"Paper ID": ["1"]}, Source())
            >>> table.find("pid", "paper id"), table.find("email")
            ('Paper ID', '')
        """
        columns = {plain(name): name for name in reversed(list(self.columns))}
        columns |= {"": ""} | {name: name for name in self.columns}
        matches = (columns.get(name) or columns.get(plain(name)) for name in names)
        return next(filter(None, matches), "")

    def why(self, *names: str) -> str:
        """Return the reason for a layout: that the table has all these columns.

        Examples:
            >>> table = Table.of({"Winner ID": ["1"], "Loser ID": ["2"]}, Source())
            >>> table.why("winner id", "loser id"), table.why("winner id", "time")
            ("columns 'Winner ID' and 'Loser ID'", '')
        """
        columns = [self.find(name) for name in names]
        if not all(columns):
            return ""
        *first, last = (repr(name) for name in columns)
        return f"columns {', '.join(first)} and {last}" if first else f"column {last}"

    def cells(self, *names: str) -> pl.Series:
        """Return the first column there is as text, empty where there is none.

        Examples:
            >>> table = Table.of({"#": [1.0, None]}, Source())
            >>> table.cells("#").to_list(), table.cells("version").to_list()
            (['1', ''], ['', ''])
        """
        name = self.find(*names)
        return strings(self.columns[name] if name else [""] * self.height)

    def labels(self, name: str) -> pl.Series:
        """Return the distinct cells of a column as text, the sooner for a long one.

        Examples:
            >>> Table.of({"item": ["x", "x "]}, Source()).labels("item").to_list()
            ['x']
        """
        column = self.columns[name]
        distinct = column if column.dtype == pl.Object else column.unique()
        return strings(distinct).unique()

    def texts(self, *names: str) -> list[str]:
        """Return what `cells` does, as a list."""
        return self.cells(*names).to_list()

    def warn(self, code: str, **facts: Json) -> Table:
        """Return the table with one more notice."""
        return replace(self, notices=(*self.notices, DataWarning(code, facts)))

    def keep(self, rows: list[int]) -> Table:
        """Return these rows only; messages still name the right lines.

        Examples:
            >>> kept = Table.of({"a": ["x", "y", "z"]}, Source("r.csv")).keep([0, 2])
            >>> kept.columns["a"].to_list(), kept.source.line(1)
            (['x', 'z'], 2)
        """
        columns = {name: column.gather(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, source=self.source.keep(rows))

    def leave_out(self, noun: str, reasons: Reasons) -> Table:
        """Return the rows that nothing is said against, with a notice for each reason.

        Args:
            noun: What a row is.
            reasons: Which rows to leave out, and why; the first reason counts.

        Raises:
            RatingsError: If no row is left.

        Examples:
            >>> table = Table.of({"id": ["x", "y"]}, Source())
            >>> table.leave_out("review", {"not_done": [False, True]}).notices
            (DataWarning(code='not_done', facts={'rows': 1, 'noun': 'review'}),)
        """
        table, kept = self, np.ones(self.height, dtype=np.bool_)
        for code, rows in reasons.items():
            dropped = kept & np.fromiter(rows, np.bool_, len(kept))
            kept &= ~dropped
            if dropped.any():
                table = table.warn(code, rows=int(dropped.sum()), noun=noun)
        if not kept.any():
            sentences = [
                f"There is no {noun} left.",
                *(warning.message for warning in table.notices),
            ]
            raise self.source.whole(" ".join(sentences))
        return table.keep(np.flatnonzero(kept).tolist())

    def column_for(self, part: str, wanted: str, *names: str) -> str:
        """Return the column that the user named, or else the platform's own.

        Raises:
            RatingsError: If there is no such column.

        Examples:
            >>> table = Table.of({"Paper ID": ["1"], "track": ["2"]}, Source())
            >>> table.column_for("item", "", "paper id")
            'Paper ID'
            >>> table.column_for("item", "Track")
            'track'
        """
        column = self.find(wanted) if wanted else self.find(*names)
        near = (
            matching_names(wanted, list(self.columns)) if wanted and not column else []
        )
        column = near[0] if len(near) == 1 else column
        if wanted and not column:
            raise self.source.unknown("column", wanted, cut_alike(self.columns))
        if not column:
            raise self.no_column(part)
        return column

    def no_column(self, part: str) -> RatingsError:
        """Return the error that no column holds the reviewer, the item or the score."""
        return self.source.whole(
            f"No column for the {part} among {listing(cut_alike(self.columns))}. Say "
            f"which it is with {option_for(part)}."
        )


def plain(name: str) -> str:
    """Reduce a column name to what people mean by it.

    Examples:
        >>> plain(" Reviewer_Name "), plain("Paper-ID")
        ('reviewer name', 'paper id')
    """
    return " ".join(re.sub(r"[_\s-]+", " ", name).casefold().split())


def as_text(value: object) -> str:
    """Return one value as stripped text, empty if there is none.

    Examples:
        >>> as_text(2.0), as_text(None)
        ('2', '')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return as_valid(str(value).strip())


def strings(values: pl.Series | Sequence[object]) -> pl.Series:
    """Return a column as stripped text, empty where there is none.

    Examples:
        >>> strings([" a ", None, 2.0]).to_list()
        ['a', '', '2']
    """
    series = as_series(values)
    if series.dtype in TEXTUAL or series.dtype.is_integer():
        return series.cast(pl.String).str.strip_chars().fill_null("")
    return pl.Series([*map(as_text, series)], dtype=pl.String)


def read_table(file: File, sheet: str = "", text: TextOptions | None = None) -> Table:
    r"""Read a file as a table.

    Args:
        file: The file.
        sheet: Sheet of a workbook; by default the only one that holds anything.
        text: What the user said of a text; without it, it must be UTF-8 with a header.

    Returns:
        Its columns. Rows in which every cell is empty are not part of it.

    Raises:
        RatingsError: If the file is damaged or not of its format.

    Examples:
        >>> from evenhand.formats.files import File
        >>> file = File("ratings.csv", b"judge, mark\nanna,7\n", "csv")
        >>> list(read_table(file).columns)
        ['judge', 'mark']
    """
    if file.format == "parquet":
        return _parquet(file)
    if file.format == "excel":
        return _excel(file, sheet, text)
    warnings: list[DataWarning] = []
    if text is None:
        check_text(file)
    else:
        file, warnings = decode_text(file, text.encoding)
    if file.format != "csv":
        return replace(_json(file), notices=tuple(warnings))
    cells = read_cells(file.name, file.data, text.delimiter if text else "")
    table = _text_table(cells.header, cells.rows, Source(file.name, cells.line), text)
    notices = (*warnings, *table.notices)
    return replace(table, commas=cells.separator == ";", notices=notices)


def decimal_points(table: Table, sign: str) -> Table:
    """Read commas in numbers as decimal points, if the file or the user says so.

    Args:
        table: The table.
        sign: The decimal sign that the user named, or empty.

    Returns:
        The table, with a notice if there are such numbers.

    Raises:
        OptionError: If the sign is neither a point nor a comma.
        RatingsError: If 1.250 stands among decimal commas, which may be a thousand.

    Examples:
        >>> table = Table({"mark": as_series(["7,5", "8"])}, Source(), commas=True)
        >>> decimal_points(table, "").columns["mark"].to_list()
        ['7.5', '8']
    """
    if sign not in ("", ".", ","):
        raise must_be("decimal", "'.' or ','", sign)
    converted = {}
    free = [name for name in table.columns if not is_alias(name, LABELS)]
    for name in free if sign == "," or (table.commas and not sign) else ():
        cells = table.cells(name)
        number = cells.str.contains(COMMA_NUMBER)
        others = cells.str.contains(NUMBER) | cells.str.to_lowercase().is_in(NOTHING)
        # 1,250 alone may be a thousand; beside 7,5 it may not.
        sure = sign or not cells.filter(number).str.contains(THOUSANDS).all()
        mostly = 2 * int((number | others).sum()) >= len(cells)
        if mostly and (sign or (number.any() and sure)):
            require_no_thousands(cells, name, table.source)
        if number.any() and sure and mostly:
            points = cells.str.replace(",", ".", literal=True)
            converted[name] = points.zip_with(number, cells)
    table = replace(table, columns={**table.columns, **converted})
    return table.warn("decimal_commas") if converted else table


def _json(file: File) -> Table:
    """Read JSON as a table: a row for each object of its list, or for each line."""
    name, text = file.name, file.data.decode()
    if file.format == "json":
        document = parse_json(name, text, number=finite_or_text)
        source = Source(name, lambda row: row + 1, "entry")
    else:
        lines = enumerate(text.split("\n"), start=1)
        rows = {number: line for number, line in lines if line.strip()}
        document = [parse_json(name, rows[line], line, finite_or_text) for line in rows]
        source = Source(name, list(rows).__getitem__)
    table = Table.of(flatten(document, source), source)
    # The rows may stand in a list deeper in the document.
    inner = [value for record in top_records(document) for value in record.values()]
    if not table.columns and not any(isinstance(value, list | dict) for value in inner):
        raise source.whole(f"There is no row. {EXAMPLE}")
    return replace(table, document=document)


def _parquet(file: File) -> Table:
    answer, frame = _decode(file, "", "Parquet; it may be damaged")
    if "held" in answer:
        size = len(file.data)
        most = unpacking_limit(size, PARQUET)
        raise refusal(file.name, size, int(answer["held"][0]), most)
    source = Source(file.name, lambda row: row + 1, "row")
    return Table(dict(zip(_names(frame.columns, source), frame, strict=True)), source)


def _excel(file: File, sheet: str, text: TextOptions | None) -> Table:
    answer, frame = _decode(
        file,
        sheet,
        "Excel; it may be damaged, an archive to be unpacked first, or have a cell far "
        "outside its table",
    )
    meant = answer["meant"]
    if sheet and not meant:
        raise Source(file.name).unknown("sheet", sheet, answer["sheets"])
    if len(meant) > 1:
        raise RatingsError(
            f"{file.name}: Several sheets hold something: {listing(meant)}. "
            "Say which with sheet= or --sheet."
        )
    filled = _filled_rows(frame).tolist()
    if not filled:
        raise RatingsError(f"{file.name}: There is no row.")
    rows = filled[:PREAMBLE]
    marked = (row for row in rows if not HEADER_MARKS.isdisjoint(frame.row(row)))
    head = next(marked, filled[0])
    header = [cell or "" for cell in frame.row(head)]
    source = Source(file.name, lambda row: head + row + 2, "row")
    return _text_table(header, frame[head + 1 :], source, text)


def _decode(
    file: File, sheet: str, fault: str
) -> tuple[dict[str, list[str]], pl.DataFrame]:
    most = unpacking_limit(len(file.data), PARQUET)
    memory = max(available_memory() // 2, LEAST_MEMORY)
    question = json.dumps([file.format, sheet, most, memory]).encode() + b"\n"
    try:
        done = subprocess.run(  # noqa: S603 - our own program, no shell
            [sys.executable, "-P", str(DECODER)],
            input=question + file.data,
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        text = f"{file.name}: The file cannot be read as {fault}."
        raise RatingsError(text) from None
    answer, _, table = done.stdout.partition(b"\n")
    frame = pl.read_ipc(io.BytesIO(table)) if table else pl.DataFrame()
    return json.loads(answer), frame


def _text_table(
    header: Sequence[str],
    rows: pl.DataFrame,
    source: Source,
    text: TextOptions | None,
) -> Table:
    text = text or TextOptions()
    named, line = text.header, source.line
    appraise = _appraise_names(header) if named is None else []
    guessed = named is None and text.matrix and _are_scores(header)
    if appraise or guessed or named is False:
        named, first = (
            None if appraise else False,
            pl.DataFrame([header], rows.schema, orient="row"),
        )
        rows = pl.concat([first, rows])
        header = appraise or [str(place) for place in range(1, rows.width + 1)]
        source = replace(source, line=lambda row: line(row - 1))
    elif named is None:
        header, more = _header_rows(header, rows)
        rows, source = rows[more:], replace(source, line=lambda row: line(row + more))
    names = _names(header, source)
    filled = _filled_rows(rows)
    if len(filled) == 0:
        raise source.whole("There is a header but no row below it.")
    if len(filled) < rows.height:
        rows = rows[filled]
        source = source.keep(filled.tolist())
    cells = list(map(_unescape, rows))
    # Columns without a name, as spreadsheets and indices leave them, are not read.
    columns = {name: cell for name, cell in zip(names, cells, strict=True) if name}
    others = [place for place, name in enumerate(names) if place and not name]
    nameless = len(_filled_rows(rows[:, others])) > 0
    corner = None if names[0] else cells[0]
    table = Table(columns, source, corner, nameless=nameless, named=named)
    return table.warn("no_header") if guessed else table


def _are_scores(header: Sequence[str]) -> bool:
    """Tell a first line of scores: numbers only, some of them repeated."""
    names = [name.strip() for name in header]
    numbers = all(re.fullmatch(NUMBER, name) for name in names)
    return numbers and first_repeat(names) != ""


def _header_rows(header: Sequence[str], rows: pl.DataFrame) -> tuple[list[str], int]:
    """Join the lines of a header that surveys write in two or three.

    SurveyMonkey has a question above its first option and the options in the second
    line; Qualtrics has questions in the second, and ids of its own in the third.

    Returns:
        A name for each column, such as "Question [option]", and how many lines below
        the first belong to the header.
    """
    names = [name.strip() for name in header]
    below = [[(cell or "").strip() for cell in row] for row in rows[:2].iter_rows()]
    ids = [cell for cell in below[-1] if cell] if len(below) > 1 else []
    if ids and all(cell.startswith(IMPORT_ID) for cell in ids):
        pairs = zip(names, below[0], strict=True)
        return _distinct([text or name for name, text in pairs]), 2
    options = below[0] if below else [""]
    under = [cell for name, cell in zip(names, options, strict=False) if not name]
    several = under and all(not re.fullmatch(NUMBER, cell) and cell for cell in under)
    if not names[0] or options[0] or not (several or RESPONSES & {*options}):
        return list(header), 0
    questions: list[str] = []
    for name in names:
        questions.append(name or questions[-1])
    joined = [
        f"{question} [{option}]" if option and option not in RESPONSES else question
        for question, option in zip(questions, options, strict=True)
    ]
    return _distinct(joined), 1


def _distinct(names: Sequence[str]) -> list[str]:
    """Number names that stand several times, from the second on."""
    times: Counter[str] = Counter()
    numbered = []
    for name in names:
        times[name] += 1
        numbered.append(f"{name} ({times[name]})" if times[name] > 1 else name)
    return numbered


def _appraise_names(cells: Sequence[str]) -> list[str]:
    """Return names for a first line of Appraise, which has none; empty for others.

    Examples:
        >>> line = ["anna", "sys", "7", "TGT", "eng", "deu", "78", "doc1", "False"]
        >>> _appraise_names(line)[6:]
        ['score', 'document', 'column 9']
    """
    line = APPRAISE_LINE.fullmatch("\t".join(map(str.strip, cells)))
    names = [*APPRAISE, "document"] if line and line[1] else [*APPRAISE]
    more = range(len(names) + 1, len(cells) + 1)
    return [*names, *(f"column {place}" for place in more)] if line else []


def _unescape(column: pl.Series) -> pl.Series:
    """Take off the apostrophe that keeps a label of ours from running as a formula.

    In a file that holds a label with and without it, it is part of the label.
    """
    if not column.str.starts_with("'").any():
        return column
    bare = column.str.replace(f"^'('*{FORMULA_START})", "$1")
    # A number that a spreadsheet keeps as text is no label.
    label = ~bare.str.contains(NUMBER).fill_null(value=False)
    merged = bare.filter(label).n_unique() < column.filter(label).n_unique()
    return column if merged else bare


def _filled_rows(rows: pl.DataFrame) -> NDArray[np.int64]:
    filled = np.zeros(rows.height, dtype=np.bool_)
    for column in rows:
        filled |= column.str.contains(r"\S").fill_null(value=False).to_numpy()
    return np.flatnonzero(filled)


def _names(header: Sequence[str], source: Source) -> list[str]:
    """Return the names of columns, which must differ where they are given."""
    names = [name.strip() for name in header]
    if twice := first_repeat(names):
        text = f"Column names must differ, got {quote(twice)} twice. Rename one."
        if _are_scores(header):
            text = (
                f"The first line looks like scores, not names: {listing(names)}. For a "
                "matrix of scores without labels say --rows items or --rows "
                "reviewers; for other tables say header=False or --no-header, or add "
                "a line of names."
            )
        raise source.whole(text)
    return names


def workbook_sheets(file: File) -> list[str]:
    """Return the sheets of a workbook."""
    return _decode(file, "", "Excel; it may be damaged")[0]["sheets"]

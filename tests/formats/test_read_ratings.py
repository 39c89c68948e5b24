from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import xlsxwriter

from evenhand.errors import EvenhandError, OptionError, RatingsError
from evenhand.formats import tables
from evenhand.formats.reading import read_ratings
from evenhand.ratings import REPEATS, Ratings
from tests.formats.reader import Reader, decoded_here

HEADER = "reviewer,item,score\n"
GOOD = HEADER + "anna,x,7\nbo,x,6.5\n"
WORDS = (
    " If these scores are words, give their order with scale= or --scale "
    "'worst<...<best', or the best letter with --scale best=A."
)
EXPECTED = Ratings(["anna", "bo"], ["x", "x"], [7, 6.5])


FILE = Reader("ratings.csv")
read, refused = FILE.read, FILE.refused


def workbook(*sheets: tuple[str, list[list[Any]]], hidden: str = "") -> bytes:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    for name, rows in sheets:
        sheet = book.add_worksheet(name)
        if name == hidden:
            sheet.hide()
        for row, values in enumerate(rows):
            for column, value in enumerate(values):
                if isinstance(value, str):
                    sheet.write_string(row, column, value)
                elif value is not None:
                    sheet.write(row, column, value)
    book.close()
    return file.getvalue()


def parquet(**columns: Any) -> bytes:  # noqa: ANN401 - any column
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode whole files in this process, which is quicker."""
    monkeypatch.setattr(tables, "_decode", decoded_here)


# Where the bytes come from.


def source_refused(source: Any, error: type[EvenhandError] = RatingsError) -> str:  # noqa: ANN401 - anything
    with pytest.raises(error) as caught:
        read_ratings(source)
    return str(caught.value)


def test_paths_open_files_and_streams_are_read(tmp_path: Path) -> None:
    path = tmp_path / "ratings.tsv"
    path.write_text(GOOD.replace(",", "\t"))
    with path.open() as text, path.open("rb") as binary:
        streams = io.StringIO(GOOD), io.BytesIO(GOOD.encode())
        for source in (path, str(path), text, binary, *streams):
            assert read_ratings(source).sha256 == EXPECTED.sha256


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_hyphen_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(GOOD.encode()), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_ratings("-").sha256 == EXPECTED.sha256
    assert source_refused("-") == "<stdin>: The file is empty."
    monkeypatch.setattr(sys, "stdin", io.StringIO(HEADER + "a,x,bad\n"))
    text = f"<stdin>:2: score must be a number, got 'bad'.{WORDS}"
    assert source_refused("-") == text
    # A terminal is not waited for.
    for nothing in (Terminal(GOOD), None):
        monkeypatch.setattr(sys, "stdin", nothing)
        said = source_refused("-")
        assert said.startswith("<stdin>: Nothing was sent to standard input. ")


def test_a_path_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    near = tmp_path / "Ratings.csv"
    near.write_text(GOOD)
    for name, words in {
        "ratigns.csv": f"There is no such file, did you mean {str(near)!r}?",
        "zzz": "There is no such file.",
        "nowhere/r.csv": f"There is no folder {str(tmp_path / 'nowhere')!r}.",
    }.items():
        path = tmp_path / name
        assert source_refused(path) == f"{path}: {words}"
    said = source_refused("x" * 5000 + ".csv")
    assert said.endswith("The file cannot be read: File name too long.")


def test_a_file_without_permission_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    said = "a.csv: The file cannot be read: Permission denied."
    assert source_refused("a.csv") == said


@pytest.mark.parametrize("wrong", [5, None, [], [5], "a\0b.csv", ""])
def test_what_is_no_file_is_refused(wrong: object) -> None:
    named = "the name of a file" if isinstance(wrong, str) else "a file name, '-', an"
    said = source_refused(wrong, OptionError)
    assert said.startswith(f"source must be {named}")


def test_a_stream_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    class Empty(io.RawIOBase):
        def read(self, size: int = -1) -> None:
            del size

    path = tmp_path / "a.csv"
    with path.open("w") as file:
        assert "cannot be read" in source_refused(file)
    assert "stream cannot be read: I/O operation on cl" in source_refused(file)
    path.write_bytes(b"reviewer,item,score\nJos\xe9,x,1\n")
    with path.open(encoding="utf-8") as file:
        assert "can't decode byte 0xe9" in source_refused(file)
    assert "stream must give bytes or text" in source_refused(Empty())


def test_half_a_surrogate_pair_in_a_text_stream_is_refused_with_its_line() -> None:
    said = source_refused(io.StringIO(HEADER + "\ud800,x,1\n"))
    assert said.startswith("<stream>:2: text must be UTF-8, got byte")


# Which format it is.


TABLE = EXPECTED.to_frame()


@pytest.mark.parametrize("name", ["a.csv", "a.doc", "a", "a.json.gz", "a.xlsx"])
@pytest.mark.parametrize(
    "data",
    [
        TABLE.write_ndjson().encode(),
        TABLE.write_json().encode(),
        parquet(**TABLE.to_dict()),
        workbook(("A", [TABLE.columns, *map(list, TABLE.rows())])),
        gzip.compress(TABLE.write_json().encode(), mtime=0),
    ],
)
@pytest.mark.usefixtures("in_process")
def test_the_bytes_tell_the_format_whatever_the_name(data: bytes, name: str) -> None:
    assert read(data, name).sha256 == EXPECTED.sha256


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_label_with_an_apostrophe_is_not_merged_with_one_without(name: str) -> None:
    lines = ["reviewer,item,score", "a,=q,1", "a,'=q,2", "b,'=r,3"]
    text = "\n".join(lines).replace(",", "\t" if name == "a.tsv" else ",")
    ratings = read(text, name)
    assert ratings.item_labels == ("'=q", "'=r", "=q")
    assert [(notice.code, notice.message) for notice in ratings.notices] == [
        (
            "similar_items",
            "Labels that look alike are taken for different items: "
            "\"'=q\" and '=q'. If they are the same, merge them with merge= or "
            "--column merge=item.",
        )
    ]


def test_the_apostrophe_of_our_own_files_is_taken_off() -> None:
    text = "reviewer,item,score\na,'=q,'-1\na,''=q,-1\nb,-5,1"
    ratings = read(text, "a.csv")
    assert ratings.item_labels == ("'=q", "-5", "=q")
    assert ratings.scores.tolist() == [-1, -1, 1]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(
        OptionError, match=r"^Unknown format 'xlsx'.*Known formats: 'hotcrp'"
    ):
        read(GOOD, format="xlsx")


@pytest.mark.parametrize("option", ["", None])
def test_an_empty_option_is_no_option(option: str | None) -> None:
    ratings = read(GOOD, format=option, reviewer=option, score=option, sheet=option)
    assert ratings.sha256 == EXPECTED.sha256


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"\x1f\x8b junk", b"\x1f\x8b\x08" * 9])
def test_what_only_begins_like_gzip_is_refused(data: bytes) -> None:
    assert refused(data, "a.csv.gz") == (
        "a.csv.gz: The file begins like gzip but cannot be decompressed."
    )
    assert "cannot be decompressed" in refused(gzip.compress(GOOD.encode())[:-9])


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"PAR1junkPAR1", "a.parquet"),
        (parquet(a=[1])[:-20], "a.parquet"),
        (b"PK\x03\x04junk", "a.xlsx"),
        (workbook(("A", [[1]]))[:500], "a.xlsx"),
        (b"\xd0\xcf\x11\xe0junk", "a.xls"),
    ],
)
def test_a_damaged_binary_file_is_refused(data: bytes, name: str) -> None:
    known = "Parquet" if name == "a.parquet" else "Excel"
    text = f"{name}: The file cannot be read as {known}; it may be damaged"
    assert refused(data, name).startswith(text)


def test_a_stray_cell_in_the_last_corner_does_not_end_the_program() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    sheet.write(0, 0, "reviewer")
    sheet.write(1_048_575, 16_383, "stray")
    book.close()
    assert refused(file.getvalue(), "a.xlsx") == (
        "a.xlsx: The file cannot be read as Excel; it may be damaged, an archive to be "
        "unpacked first, or have a cell far outside its table."
    )


def test_a_sheet_is_only_for_workbooks() -> None:
    with pytest.raises(OptionError, match=r"^sheet must be left out for csv\.$"):
        read(GOOD, sheet="A")


# What text may look like.


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.replace("\n", "\n\n"),
        "\n  \n" + GOOD + "\n,,\n \n",
        GOOD.rstrip("\n"),
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace(",", " , "),
        '"reviewer"," item ","score"\n"anna","x","7"\n"bo","x"," 6.5 "\n',
        "score,comment,item,reviewer\n7,,x,anna\n6.5,,x,bo\n",
        ",reviewer,item,score,\n0,anna,x,7,\n1,bo,x,6.5,\n",
        "Unnamed: 0,reviewer,item,score\n0,anna,x,7\n1,bo,x,6.5\n",
        "Judge;Paper ID;Mark\nanna;x;7.0\nbo;x;65e-1\n",
    ],
)
def test_a_messy_file_is_read_as_it_was_meant(content: str) -> None:
    ratings = read(content)
    assert ratings.sha256 == EXPECTED.sha256
    assert ratings.notices == ()


NOT_UTF8 = (
    "text must be UTF-8, got byte {}. Save the file as UTF-8, or name its encoding "
    "with encoding= or --encoding."
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "ratings.csv: The file is empty."),
        (" \r\n\t\n", "ratings.csv: The file is empty."),
        (b"\xef\xbb\xbf", "ratings.csv: The file is empty."),
        (HEADER, "ratings.csv: There is a header but no row below it."),
        (HEADER + "\n,,\n", "ratings.csv: There is a header but no row below it."),
        (",,\n,,\n", "ratings.csv: There is a header but no row below it."),
        (HEADER + "a,b\0,1\n\xff", f"ratings.csv:2: {NOT_UTF8.format('0x00')}"),
        (bytes(range(128, 256)), f"ratings.csv:1: {NOT_UTF8.format('0x80')}"),
        (
            (HEADER + "Zo\xeb,caf\xe9,1\n").encode() + b"Jos\xe9,x,7\n",
            f"ratings.csv:3: {NOT_UTF8.format('0xe9')}",
        ),
        (
            HEADER.encode() + "\u5f20\u4e09\u4e30,x,7\n".encode("gbk"),
            f"ratings.csv:2: {NOT_UTF8.format('0xd5')}",
        ),
        (
            HEADER + 'a,"b,1\n',
            "ratings.csv:2: a quote is opened here and never closed.",
        ),
        (
            HEADER + "a,b,1\na,c\n",
            "ratings.csv:3: the line has 2 fields, the header 3. Read with commas; "
            "if the file uses another sign, name it with delimiter= or --delimiter.",
        ),
        (
            HEADER + "a,b,1\na,c,7,5\n",
            "ratings.csv:3: the line has 4 fields, the header 3. Read with commas; "
            "if the file uses another sign, name it with delimiter= or --delimiter.",
        ),
        (
            "reviewer,item,score,score \na,b,1,2\n",
            "ratings.csv: Column names must differ, got 'score' twice. Rename one.",
        ),
        (
            "reviewer,item,Score,score\na,b,1,2\n",
            "ratings.csv: Several columns may be the score: 'Score', 'score'. "
            "Say which with score= or --score.",
        ),
        (
            "anna,x,7\nbo,x,6\n",
            "ratings.csv: The first line must hold the column names, "
            "got 'anna', 'x', '7'. If it holds scores, say header=False or "
            "--no-header; if its numbers name reviewers or items, say which its "
            "rows are with rows= or --rows.",
        ),
        (
            HEADER + "\na,b,7:10\n",
            "ratings.csv:3: score must be a number, got '7:10'. Write a plain number; "
            "or, if these scores are words, give their order with scale= or --scale "
            "'worst<...<best'.",
        ),
        (
            'judge,item,Mark\na,b,"7,5"\n',
            "ratings.csv:2: Mark must be a number, got '7,5'. Write decimals with a "
            "point, and thousands without a comma; or, if commas are decimal points, "
            "say so with --decimal ','.",
        ),
        (
            HEADER + 'a,"x\ny",1\na,z,#REF!\n',
            "ratings.csv:4: score must be a number, got '#REF!'. Write a plain number; "
            "or, if these scores are words, give their order with scale= or --scale "
            "'worst<...<best'.",
        ),
        (HEADER + "a,b,1e999\n", "ratings.csv:2: score must be finite, got '1e999'."),
        (
            HEADER + "a,b,1\n ,c,2\n",
            "ratings.csv:3: reviewer must be given, got nothing.",
        ),
        (HEADER + "a,,1\n", "ratings.csv:2: item must be given, got nothing."),
        (
            HEADER + "a,x,\n\na,b,1\nc,d,2\n a ,b,3\n",
            "ratings.csv:6: reviewer 'a' rated item 'b' twice (first: line 4). Say "
            "which count with repeats= or --repeats last, mean or all.",
        ),
        (
            HEADER + "a,b,\n",
            "ratings.csv: There is no rating. Give at least one row with a score.",
        ),
        (
            "winner,loser\nx,y\nz, z\n",
            "ratings.csv:3: winner and loser must differ, got 'z' twice.",
        ),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(
    content: str | bytes, message: str
) -> None:
    assert refused(content) == message


def test_an_option_names_a_column_of_the_file() -> None:
    content = "who,what,mark,grade\na,x,1,2\n"
    ratings = read(content, reviewer="who", item="what", score=" grade ")
    assert ratings.scores.tolist() == [2.0]
    assert refused(content, reviewer="who", item="wat") == (
        "ratings.csv: Unknown column 'wat', did you mean 'what'? "
        "Known columns: 'who', 'what', 'mark', 'grade'."
    )


def test_empty_scores_are_left_out_and_said() -> None:
    ratings = read(HEADER + "anna,x,7\nbo,x,6.5\nbo,y,\n", all_items=["x", "y"])
    assert ratings.item_labels == ("x", "y")
    assert [notice.code for notice in ratings.notices] == ["missing_scores"]


def test_ranks_and_comparisons_are_read() -> None:
    assert read("reviewer,item,rank\na,x,1\na,y,2\n").preference.tolist() == [-1, -2]
    comparisons = read("Annotator ID,Winner ID,Loser ID,Time\n1,7,8,now\n")
    assert comparisons.kind == "comparisons"
    assert comparisons.item_labels == (7, 8)


def test_a_pair_column_is_read() -> None:
    ratings = read("reviewer,item,score,pair\na,x,1,p\nb,y,2,p\n")
    assert ratings.pair_labels == ("p",)


# JSON lines.

LINE = '{"reviewer": "a", "item": "x", "score": 1}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{LINE}\n[1]\n", "a.jsonl:2: The file cannot be read as JSON: Extra data."),
        (
            f"{LINE}\n\n{{\n",
            "a.jsonl:3: The file cannot be read as JSON: Expecting property name "
            "enclosed in double quotes.",
        ),
        (
            f'{LINE}\n\n{{"reviewer": true, "item": "x", "score": 1}}',
            "a.jsonl:3: reviewer must be text or an integer, got True.",
        ),
        (
            f'{LINE}\n{{"reviewer": "\\ud800", "item": "x", "score": 1}}',
            r"a.jsonl:2: reviewer must be valid Unicode text, got '\ud800'.",
        ),
        (
            '{"reviewer": "a", "score": 1}\n{"reviewer": "b", "item": "x", "score": 1}',
            "a.jsonl:1: item must be given, got nothing.",
        ),
    ],
)
def test_bad_json_lines_are_refused_in_one_sentence(content: str, message: str) -> None:
    assert refused(content, "a.jsonl") == message


def test_lines_that_share_no_keys_are_refused() -> None:
    lines = "\n".join(f'{{"paper{number}": 7}}' for number in range(1, 2000))
    assert refused(lines, "a.jsonl") == (
        "a.jsonl:1001: rows must share their keys, got more than 1000 different ones."
    )


def test_keys_may_come_in_any_order_and_be_absent() -> None:
    content = (
        '\ufeff{" reviewer ": "anna", "item": "x", "score": "7", "text": "a\\nb"}\r\n'
        "\n\n"
        '{"score": 6.5, "item": "x", "reviewer": "bo"}\n'
        '{"item": "y", "reviewer": "bo", "": 3}\n'
    )
    ratings = read(content, "a.ndjson", all_items=None)
    assert ratings.sha256 == EXPECTED.sha256
    assert [n.code for n in ratings.notices] == ["missing_scores", "unrated_items"]


# Parquet and Excel.


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"item": [1, 2], "score": [1.0, np.inf]},
            "a.parquet: row 2: score must be finite, got inf.",
        ),
        (
            {"item": [None, 2], "score": [1.0, 2.0]},
            "a.parquet: row 1: item must be given, got nothing.",
        ),
        (
            {"item": [1, 2], "score": [1, 2], " score": [1, 2]},
            "a.parquet: Column names must differ, got 'score' twice. Rename one.",
        ),
        (
            {"item": [], "score": []},
            "a.parquet: There is no rating. Give at least one row with a score.",
        ),
    ],
)
def test_errors_in_parquet_name_the_row(columns: dict[str, Any], message: str) -> None:
    data = parquet(reviewer=["a", "b"][: len(columns["item"])], **columns)
    assert refused(data, "a.parquet") == message


ROWS: list[list[Any]] = [
    [],
    ["reviewer", None, "item", "score"],
    [1.0, "note", "007", 1 / 3],
    [],
    [2, None, "8 ", "7.5"],
    [12345678901, None, 9, 123456789.123],
]


def test_a_sheet_is_read_from_its_first_filled_row() -> None:
    ratings = read(workbook(("A", ROWS), ("B", [])), "a.xlsx")
    assert ratings.reviewer_labels == (1, 2, 12345678901)
    assert ratings.item_labels == ("007", "8", "9")
    assert ratings.scores.tolist() == [1 / 3, 7.5, 123456789.123]


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([3, None, 9, "abc"], f"score must be a number, got 'abc'.{WORDS}"),
        ([3, None, 9, True], f"score must be a number, got 'true'.{WORDS}"),
        ([3, None, None, 1], "item must be given, got nothing."),
        (
            [2.0, None, " 8", 1],
            f"reviewer 2 rated item '8' twice (first: row 5). {REPEATS}",
        ),
    ],
)
def test_errors_in_a_sheet_name_its_row(row: list[object], message: str) -> None:
    data = workbook(("A", [*ROWS, row]))
    assert refused(data, "a.xlsx") == f"a.xlsx: row 7: {message}"


@pytest.mark.usefixtures("in_process")
def test_one_of_several_sheets_must_be_named() -> None:
    data = workbook(("Notes", [["see", "there"]]), ("A", ROWS), ("Empty", []))
    assert refused(data, "a.xlsx") == (
        "a.xlsx: Several sheets hold something: 'Notes', 'A'. "
        "Say which with sheet= or --sheet."
    )
    assert read(data, "a.xlsx", sheet="A").n_ratings == 3
    assert refused(data, "a.xlsx", sheet="notes") == (
        "a.xlsx: Unknown sheet 'notes', did you mean 'Notes'? "
        "Known sheets: 'Notes', 'A', 'Empty'."
    )
    assert refused(data, "a.xlsx", sheet="Empty") == "a.xlsx: There is no row."


@pytest.mark.usefixtures("in_process")
def test_a_hidden_sheet_is_not_meant_unless_it_is_named() -> None:
    data = workbook(("A", ROWS), ("Lists", [["reviewer"]]), hidden="Lists")
    assert read(data, "a.xlsx").n_ratings == 3
    text = "a.xlsx: There is a header but no row below it."
    assert refused(data, "a.xlsx", sheet="Lists") == text


@pytest.mark.usefixtures("in_process")
def test_a_workbook_without_anything_is_refused() -> None:
    assert refused(workbook(("A", []), ("B", [])), "a.xlsx") == (
        "a.xlsx: There is no row."
    )
    assert refused(workbook(("A", [["reviewer"], []])), "a.xlsx") == (
        "a.xlsx: There is a header but no row below it."
    )


def test_decoding_does_not_run_code_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "polars.py").write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(tmp_path)
    data = parquet(reviewer=["anna", "bo"], item=["x", "x"], score=[7.0, 6.5])
    assert read(data, "a.parquet").sha256 == EXPECTED.sha256


def test_without_python_to_decode_there_is_still_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", os.devnull)
    text = refused(parquet(a=[1]), "a.parquet")
    assert text == "a.parquet: The file cannot be read as Parquet; it may be damaged."


def test_a_decoder_that_is_killed_leaves_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A damaged Parquet page can state 2**61 values, and polars then aborts.
    program = tmp_path / "decoder.py"
    program.write_text("import os\nos.kill(os.getpid(), 9)\n")
    monkeypatch.setattr(tables, "DECODER", program)
    text = refused(parquet(a=[1]), "a.parquet")
    assert text == "a.parquet: The file cannot be read as Parquet; it may be damaged."

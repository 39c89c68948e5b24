from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.errors import RatingsError
from evenhand.formats.delimited import Cells, _by_csv, _by_polars, read_cells

if TYPE_CHECKING:
    from collections.abc import Callable

Outcome = str | list[tuple[int, list[str]]] | None


def outcome(read: Callable[[], Cells | None]) -> Outcome:
    """Return the message, or the header and the rows that hold anything, by line."""
    try:
        cells = read()
    except RatingsError as error:
        return str(error)
    if cells is None:
        return None
    rows = [(0, [name.strip() for name in cells.header])]
    for number, row in enumerate(cells.rows.iter_rows()):
        stripped = [(cell or "").strip() for cell in row]
        if any(stripped):
            rows.append((cells.line(number), stripped))
    return rows


def read(text: str) -> Outcome:
    return outcome(lambda: read_cells("a.csv", text.encode()))


@settings(max_examples=150)
@given(st.text("ab1,\n\r é", max_size=30), st.sampled_from(["a,b\n", "a,b\r\n"]))
@example("\n\n  \n1,2", "a,b\n")
@example(",\n,x\n", "a,b\n")
def test_the_fast_reader_agrees_with_the_careful_one(body: str, head: str) -> None:
    data = (head + body).encode()
    fast = outcome(lambda: _by_polars(data, ",", 1))
    if fast is not None:
        assert fast == outcome(lambda: _by_csv("a.csv", data, ",", 1))


cells = st.text(
    st.sampled_from("a1é😀 ,;\t\"'\n=#\u2028\x0b") | st.characters(codec="utf-8"),
    max_size=6,
).filter(lambda text: "\0" not in text and "\r" not in text)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(cells, cells, cells), max_size=6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_was_written_is_read_back(
    rows: list[tuple[str, ...]], separator: str, end: str, quoting: int
) -> None:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]  # a plain int in the stubs' eyes
    writer.writerows([("reviewer", "item", "score"), *rows])
    found = read(file.getvalue())
    stripped = [[cell.strip() for cell in row] for row in rows]
    assert isinstance(found, list)
    assert [row for _, row in found[1:]] == [row for row in stripped if any(row)]


def test_lines_are_counted_in_the_file() -> None:
    text = '\n\n"a","b"\n\n1,2\n"x\ny",4\n,\n5,6\n'
    rows = [(5, ["1", "2"]), (6, ["x\ny", "4"]), (9, ["5", "6"])]
    assert read(text) == [(0, ["a", "b"]), *rows]
    careful = text.replace('"a"', 'a"')
    assert read(careful) == [(0, ['a"', "b"]), *rows]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,b,c", ["a", "b", "c"]),
        ("a;b;c", ["a", "b", "c"]),
        ("a\tb\tc", ["a", "b", "c"]),
        ("a;b;c, or d", ["a", "b", "c, or d"]),
        ('a,b,"c;d;e;f"', ["a", "b", "c;d;e;f"]),
        ('a,b,"c\nd"', ["a", "b", "c\nd"]),
        ("\ta\tb", ["", "a", "b"]),
        ('a 5",b,c;d', ['a 5"', "b", "c;d"]),
        (' a , "b" ,c', None),
        (' a , "b",c', ["a", "b", "c"]),
        ("a,b,c\td", ["a,b,c", "d"]),
        (",,\n\na,b,c", ["a", "b", "c"]),
        (",,,\na,b,c", ["a", "b", "c"]),
        ("alone", ["alone"]),
    ],
)
def test_the_separator_is_found_in_the_header(
    header: str, names: list[str] | None
) -> None:
    found = read(header + "\n")
    assert found == [(0, names)] if names else "closing quote" in str(found)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_is_read(end: str) -> None:
    rows = [(0, ["a", "b"]), (2, ["1", "2"]), (3, ["3", "4"])]
    assert read(end.join(["a,b", "1,2", "3,4", ""])) == rows
    assert read(end.join(["a,b", "1,2", "3,4"])) == rows


@pytest.mark.parametrize(
    ("row", "count"), [("1", 1), ("1,2,3", 3), ('"1,2"', 1), ("1,2,", 3), ('""""', 1)]
)
@pytest.mark.parametrize("stray", ["", '5" disk,x\n'])
def test_a_row_of_another_width_is_refused_with_its_line(
    row: str, count: int, stray: str
) -> None:
    text = f'a,b\n{stray}"x\ny",z\n{row}\n'
    line = 5 if stray else 4
    assert read(text) == (
        f"a.csv:{line}: the line has {count} field{'s' * (count > 1)}, the header 2. "
        "Read with commas; if the file uses another sign, name it with delimiter= or "
        "--delimiter."
    )


@pytest.mark.parametrize("rows", ["1\n1,2,3\n", "1,2,3\n1\n", "1\n1,2\n1,2,3"])
def test_a_long_row_does_not_make_up_for_a_short_one(rows: str) -> None:
    count = rows.partition("\n")[0].count(",") + 1
    assert read(f"a,b\n{rows}") == (
        f"a.csv:2: the line has {count} field{'s' * (count > 1)}, the header 2. "
        "Read with commas; if the file uses another sign, name it with delimiter= or "
        "--delimiter."
    )


@pytest.mark.parametrize("stray", ["", '5" disk,x\n'])
def test_a_row_of_nothing_is_skipped_however_wide(stray: str) -> None:
    found = read(f'a,b\n{stray}\n   \n,\n,,,\n"",""\n""\n1,2\n')
    assert isinstance(found, list)
    assert found[-1] == (9 if stray else 8, ["1", "2"])
    assert len(found) == (3 if stray else 2)


@pytest.mark.parametrize("tail", ["", "\nx,y\n" * 50, "1,2\n" * 100_000])
def test_an_unclosed_quote_is_refused_where_it_opens(tail: str) -> None:
    text = f'a,b\n1,2\n3,"4\n{tail}'
    assert read(text) == "a.csv:3: a quote is opened here and never closed."


def test_text_after_a_closing_quote_is_refused() -> None:
    assert read('a,b\n"1"x,2\n') == (
        "a.csv:2: a closing quote must end its field, got more text after it. "
        "Write a quote inside a quoted field twice."
    )


def test_a_quote_inside_a_plain_field_is_part_of_it() -> None:
    assert read('a,b\n5" disk,6" disk\n')[1:] == [(2, ['5" disk', '6" disk'])]  # type: ignore[index]  # rows, not a message
    assert read('a,b\n1, "x, y"\n')[1:] == [(2, ["1", "x, y"])]  # type: ignore[index]  # rows, not a message


def test_a_long_field_is_read() -> None:
    long = "x" * 200_000
    assert read(f'a,b\n"{long}",2\n') == [(0, ["a", "b"]), (2, [long, "2"])]

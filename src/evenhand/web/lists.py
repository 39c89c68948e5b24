"""Lists that organisers paste or upload: items, reviewers and conflicts."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError, OptionError, plural, quote, unknown
from evenhand.formats.delimited import check_text, read_cells
from evenhand.formats.files import fetch
from evenhand.formats.lists import plain_label
from evenhand.formats.tables import read_table, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST, MOST_ROWS = 200, 20_000
MOST_BYTES, MOST_UNPACKED = 5 * 2**20, 50 * 2**20
EMAIL = re.compile(r"[<(]?\s*([^\s<>(),;]+@[^\s<>(),;]+\.[^\s<>(),;]+)\s*[>)]?")
HEADER = re.compile(
    "items?|label|titles?|names?|reviewers?|e-?mail|id|paper|project|judge", re.I
)
ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Item:
    """What is rated.

    Attributes:
        label: What it is called in every file.
        title: What people call it; may be empty.
        url: Where to see it; may be empty.
    """

    label: str
    title: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """Who rates. The e-mail address only goes into the mail-merge list."""

    name: str
    email: str = ""


def read_items(text: str) -> list[Item]:
    r"""Read items, one on each line: a label, and a title if every line has one.

    Raises:
        OptionError: If a label is there twice or too long, or there are too many.

    Examples:
        >>> read_items("t1, On trees\nt2, On lists, and more")[1]
        Item(label='t2', title='On lists, and more', url='')
        >>> read_items("Trees, and more\nLists")[0].label
        'Trees, and more'
    """
    lines = _lines(text)
    apart = next(
        (sign for sign in ("\t", ";", ",") if all(sign in line for line in lines)), None
    )
    items = []
    for line in lines:
        address = ADDRESS.search(line)
        url = address[0] if address else ""
        remainder = line.replace(url, "").strip(" \t,;") if url else line
        label, _, title = remainder.partition(apart) if apart else (remainder, "", "")
        items.append(Item(label.strip() or url, title.strip(), url))
    _check([item.label for item in items], "item")
    for item in items:
        if len(item.title) > LONGEST or len(item.url) > 10 * LONGEST:
            raise OptionError(f"The title of {quote(item.label)} is too long.")
    return items


def read_people(text: str) -> list[Person]:
    r"""Read reviewers, one on each line: a name, and an e-mail address if there is one.

    Raises:
        OptionError: If a name is there twice or too long, or there are too many.

    Examples:
        >>> read_people("Anna <anna@example.org>\nBo")
        [Person(name='Anna', email='anna@example.org'), Person(name='Bo', email='')]
    """
    people = []
    for line in _lines(text):
        address = EMAIL.search(line)
        email = address[1] if address else ""
        remainder = line.replace(address[0], " ") if address else line
        name = " ".join(remainder.strip(" \t,;").split())
        people.append(Person(name or email, email))
    _check([person.name for person in people], "reviewer")
    return people


def read_conflicts(
    text: str, people: Sequence[str], items: Sequence[str]
) -> list[tuple[str, str]]:
    r"""Read conflicts, one on each line: a reviewer and an item.

    Raises:
        OptionError: If one is not on its list.

    Examples:
        >>> read_conflicts("Anna, t1", ["Anna"], ["t1"])
        [('Anna', 't1')]
    """
    conflicts = []
    for line in _lines(text):
        pair = _pair(line, set(people), set(items))
        if pair is None:
            head = re.split(r"[\t;,:]", line)[0].strip()
            if head in people:
                item = line[len(head) :].strip(" \t;,:")
                raise OptionError(f"conflicts: {unknown('item', item, items)}")
            raise OptionError(f"conflicts: {unknown('reviewer', head, people)}")
        conflicts.append(pair)
    return sorted(set(conflicts))


def _pair(line: str, people: set[str], items: set[str]) -> tuple[str, str] | None:
    for separator in re.finditer(r"[\t;,:]", line):
        person, what = (
            line[: separator.start()].strip(),
            line[separator.end() :].strip(),
        )
        if person in people and what in items:
            return person, what
    return None


def read_levels(text: str) -> tuple[tuple[str, str], ...]:
    r"""Read the levels of a scale of letters, one on each line, the best first.

    Examples:
        >>> read_levels("A: excellent\nB")
        (('A', 'excellent'), ('B', ''))
    """
    cut = (re.split(r"[:\t;,=]", line, maxsplit=1) for line in _lines(text))
    return tuple((parts[0].strip(), "".join(parts[1:]).strip()) for parts in cut)


def lines_from_file(name: str, data: bytes) -> str:
    """Turn an uploaded list into lines for the form, so that it is seen before use.

    Args:
        name: Name of the file; only its ending matters.
        data: Its bytes.

    Returns:
        A line for each row, with tabs between cells; a header is left out.

    Raises:
        EvenhandError: If it cannot be read or is too large.
    """
    if len(data) > MOST_BYTES:
        raise OptionError(f"A list must have at most {MOST_BYTES // 2**20} MB.")
    stream = io.BytesIO(data)
    stream.name = "list" + PurePath(name.casefold()).suffix[:10]
    try:
        file = fetch(stream, MOST_UNPACKED)
        if file.format == "parquet":
            raise OptionError("A list must be CSV, TSV, JSON or Excel.")
        if file.format == "csv":
            check_text(file)
            cells = read_cells(file.name, file.data)
            rows = [list(cells.header), *(list(row) for row in cells.rows.iter_rows())]
            rows = rows[1:] if _is_header(rows[0]) else rows
        else:
            table = read_table(file)
            columns = [strings(values).to_list() for values in table.columns.values()]
            rows = [list(row) for row in zip(*columns, strict=True)]
    except EvenhandError as error:
        raise OptionError(str(error)) from None
    if len(rows) > MOST_ROWS:
        raise OptionError(f"A list must have at most {MOST_ROWS:,} rows.")
    return "\n".join("\t".join(_cell(cell) for cell in row).rstrip() for row in rows)


def _cell(value: object) -> str:
    return " ".join(plain_label(str(value if value is not None else "")).split())


def _is_header(cells: Sequence[str]) -> bool:
    return any(HEADER.fullmatch(cell.strip()) for cell in cells)


def _lines(text: str) -> list[str]:
    # Control characters would hide in labels, links and files.
    clean = "".join(
        character if character.isprintable() or character in "\t\n\r" else " "
        for character in text
    )
    lines = [line.strip() for line in clean.splitlines()]
    filled = [line for line in lines if line]
    if len(filled) > MOST_ROWS:
        raise OptionError(f"A list must have at most {MOST_ROWS:,} lines.")
    return filled


def _check(labels: Sequence[str], what: str) -> None:
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            raise OptionError(
                f"{what.capitalize()}s must be different, got {quote(label)} twice."
            )
        if len(label) > LONGEST:
            raise OptionError(
                f"{what} must have at most {LONGEST} characters, got "
                f"{plural(len(label), 'character')}."
            )
        seen.add(label)

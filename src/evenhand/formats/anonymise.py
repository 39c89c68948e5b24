"""Codes instead of reviewers' names, and the key that leads back.

A code says nothing about its name: which reviewer gets which code is drawn from the
operating system's randomness. In the order of the alphabet, whoever knows the names
could read the codes off a list of them; drawn from the published seed, they could
repeat the draw. So a key cannot be made again. It is written once, for its owner's eyes
only and never over another file, and is read whenever it is named again: the same
reviewers then have the same codes.

Codes are for outputs only. Draws and decisions go by the names, in their order, so that
the announced seed is the only source of chance, whatever key is drawn. What is written
out goes by the codes, because the order of names would tell who is who; so does the
hash of the ratings, from which names could be guessed. A repeat needs the key.

A key never grows by itself. Ratings of a reviewer who is not in it are refused, because
a wrong key would otherwise swallow a whole list of strangers. Its owner may add a row,
with a code that is not in use; earlier results stay valid.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evenhand._outputs import Output
from evenhand.claims import Notice
from evenhand.columns import alike, alike_notices, as_label, label_series
from evenhand.errors import OptionError, RatingsError, listing, shown
from evenhand.formats.files import fetch
from evenhand.formats.lists import csv_line, safe_cell
from evenhand.formats.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CODE = re.compile(r"R[0-9]{2,}")
COLUMNS = ("code", "reviewer")
NOT_HIDDEN = (
    "Codes hide names, not people: scores, and which items somebody rated, can still "
    "show who it was to those who know them. Items and titles stay as they are, and so "
    "do the files that were read. Whoever has the key can undo the codes, so keep it "
    "apart from the results."
)
"""What a user must know about anonymised results."""
CODED = Notice(
    "coded_reviewers",
    "Reviewers are shown by codes. Draws follow the order of their names, so a repeat "
    "needs the key.",
)


@dataclass(frozen=True, slots=True)
class Key:
    """Which code stands for which reviewer.

    Attributes:
        codes: The code of each reviewer; reviewers as text without white space around.
        path: The key's file.
        is_new: Whether the file is yet to be written.
    """

    codes: Mapping[str, str]
    path: str
    is_new: bool

    def output(self) -> Output:
        r"""Return the file to write for a new key, in the order of codes.

        Examples:
            >>> Key({"=Bo": "R02", "Anna": "R01"}, "key.csv", True).output().data
            b"code,reviewer\nR01,Anna\nR02,'=Bo\n"
        """
        ordered = sorted((len(code), code, name) for name, code in self.codes.items())
        rows = [COLUMNS, *((code, safe_cell(name)) for _, code, name in ordered)]
        return Output(self.path, "".join(map(csv_line, rows)).encode(), private=True)

    def notices(self, reviewers: Iterable[object]) -> tuple[Notice, ...]:
        """Name by their codes reviewers whose names look alike, as codes never do.

        Examples:
            >>> key = Key({"Anna": "R02", "anna": "R01"}, "key.csv", True)
            >>> key.notices(["anna", "Anna"])[0].message
            "Labels that look alike are taken for different reviewers: 'R01' and 'R02'."
        """
        given = {name for name in _names(reviewers) if name is not None}
        names = sorted(given & self.codes.keys())
        coded = ([self.codes[name] for name in pair] for pair in alike(names))
        pairs = sorted((min(pair), max(pair)) for pair in coded)
        return alike_notices("reviewer", pairs)


def open_key(path: str, reviewers: Iterable[object]) -> Key:
    """Read a key, or draw a new one if there is no such file.

    Args:
        path: The key's file.
        reviewers: All reviewers of the ratings; empty values are passed over.

    Returns:
        The key, which holds a code for each reviewer.

    Raises:
        RatingsError: If the file is damaged or lacks a reviewer.
        OptionError: If there is nobody to give a code to, or the path is no file's.

    Examples:
        >>> key = open_key("no-such-key.csv", ["Anna", "Bo", "Anna", ""])
        >>> sorted(key.codes), sorted(key.codes.values()), key.is_new
        (['Anna', 'Bo'], ['R01', 'R02'], True)
    """
    if path in ("", "-"):
        raise OptionError(f"anonymise must be the path of a key file, got {path!r}.")
    names = list(dict.fromkeys(name for name in _names(reviewers) if name is not None))
    if not names:
        raise OptionError("anonymise must have reviewers to give codes to, got none.")
    if not Path(path).exists():
        return Key(_drawn(names), path, is_new=True)
    codes = _read(path)
    # Counted, not named: the message may end up beside anonymised results.
    strangers = len({*names} - codes.keys())
    if strangers:
        are = "reviewer is" if strangers == 1 else "reviewers are"
        raise RatingsError(
            f"{path}: {strangers} {are} not in the key. Add a row for each with a code "
            "that is not in use, or name another file for a new key."
        )
    return Key(codes, path, is_new=False)


def recode(values: pl.Series | Iterable[object], key: Key) -> list[object]:
    """Put codes in the place of reviewers.

    Args:
        values: The column of reviewers, as it was read.
        key: A key that holds them all.

    Returns:
        The codes. What cannot be a label, such as an empty cell, stays as it is, so
        that the usual error names its place.

    Examples:
        >>> key = Key({"Anna": "R02", "7": "R01"}, "key.csv", True)
        >>> recode([" Anna", 7, None, "7"], key)
        ['R02', 'R01', None, 'R01']
    """
    given = values.to_list() if isinstance(values, pl.Series) else list(values)
    return [
        value if name is None else key.codes[name]
        for value, name in zip(given, _names(given), strict=True)
    ]


def _names(values: Iterable[object]) -> list[str | None]:
    """Return each value as the text of its label, None if it cannot be one."""
    texts = pl.Series(map(_text, values), dtype=pl.String)
    # Ratings strip labels in the same way; Python's own strip takes off more.
    return [name or None for name in texts.str.strip_chars().to_list()]


def _text(value: object) -> str | None:
    try:
        label = as_label(value)
    except ValueError:
        return None
    return None if label is None else str(label)


def _drawn(names: list[str]) -> dict[str, str]:
    if any("\0" in name for name in names):
        raise RatingsError("reviewer must be without NUL characters to have a code.")
    # Ratings may hold codes of an earlier key; a code is never also a name.
    taken = {name.casefold() for name in names}
    width = max(2, len(str(len(names))))
    free = (f"R{number:0{width}}" for number in count(1))
    unused = (code for code in free if code.casefold() not in taken)
    codes = list(islice(unused, len(names)))
    secrets.SystemRandom().shuffle(codes)
    return dict(zip(names, codes, strict=True))


def _read(path: str) -> dict[str, str]:
    table = read_table(fetch(path, "csv"))
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise table.source.whole(
            f"A key must have the columns 'code' and 'reviewer', got "
            f"{listing(table.columns)}. Name a key file, or one that is not there yet."
        )
    codes, names = (
        [str(it) for it in label_series(table.columns[name], name, table.source)]
        for name in COLUMNS
    )
    taken = set(names)
    for row, code in enumerate(codes):
        if not CODE.fullmatch(code):
            raise table.source.at(
                row, f"code must be R and two digits or more, got {shown(code)}"
            )
        if code in taken:
            raise table.source.at(
                row, f"code must not be a reviewer's name too, got {shown(code)}"
            )
    for what, values in zip(COLUMNS, (codes, names), strict=True):
        first: dict[str, int] = {}
        for row, value in enumerate(values):
            if first.setdefault(value, row) != row:
                raise table.source.at(
                    row,
                    f"{what} must be in the key once, got {shown(value)} again after "
                    f"{table.source.place(first[value])}",
                )
    return dict(zip(names, codes, strict=True))

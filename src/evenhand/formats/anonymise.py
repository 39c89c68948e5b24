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

from evenhand._outputs import Output
from evenhand.claims import DataWarning
from evenhand.columns import label_series
from evenhand.errors import RatingsError, listing, must_be, plural, quote
from evenhand.formats.files import fetch
from evenhand.formats.lists import csv_line, safe_cell
from evenhand.formats.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CODE = re.compile(r"R[0-9]{2,}")
COLUMNS = ("code", "reviewer")
NOT_HIDDEN = (
    "Codes hide names, not people: scores, and which items somebody rated, can still "
    "show who it was to those who know them. Items and titles stay as they are, and so "
    "do the files that were read. Whoever has the key can undo the codes, so keep it "
    "apart from the results."
)
"""What a user must know about anonymised results."""
CODED = DataWarning("coded_reviewers")


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


def open_key(path: str, reviewers: Sequence[str]) -> Key:
    """Read a key, or draw a new one if there is no such file.

    Args:
        path: The key's file.
        reviewers: The distinct reviewers of the ratings.

    Returns:
        The key, which holds a code for each reviewer.

    Raises:
        RatingsError: If the file is damaged or lacks a reviewer.
        OptionError: If the path is no file's.

    Examples:
        >>> key = open_key("no-such-key.csv", ["Anna", "Bo"])
        >>> sorted(key.codes), sorted(key.codes.values()), key.is_new
        (['Anna', 'Bo'], ['R01', 'R02'], True)
    """
    if path in ("", "-"):
        raise must_be("anonymise", "the path of a key file", path)
    if not Path(path).exists():
        return Key(_draw_codes(reviewers), path, is_new=True)
    codes = _read(path)
    # Counted, not named: the message may end up beside anonymised results.
    strangers = len({*reviewers} - codes.keys())
    if strangers:
        raise RatingsError(
            f"{path}: The key lacks {plural(strangers, 'reviewer')}. Add a row for "
            "each with a code that is not in use, or name another file for a new key."
        )
    return Key(codes, path, is_new=False)


def _draw_codes(names: Sequence[str]) -> dict[str, str]:
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
    table = read_table(fetch(path))
    if any(name not in table.columns for name in COLUMNS):
        raise table.source.whole(
            f"A key must have the columns 'code' and 'reviewer', got "
            f"{listing(table.columns)}. Name a key file, or one that is not there yet."
        )
    codes, names = (
        [str(label) for label in label_series(table.columns[name], name, table.source)]
        for name in COLUMNS
    )
    taken = set(names)
    codes_by_name: dict[str, str] = {}
    for row, (code, name) in enumerate(zip(codes, names, strict=True)):
        if not CODE.fullmatch(code) or code in taken or name in codes_by_name:
            rule = "row must be a code of its own, R and two digits or more, and a "
            cells = f"{quote(code)} and {quote(name)}"
            raise table.source.at(row, f"{rule}reviewer of its own, got {cells}")
        taken.add(code)
        codes_by_name[name] = code
    return codes_by_name

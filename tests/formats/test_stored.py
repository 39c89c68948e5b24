"""Every platform's sample, stored in every way, gives the same ratings."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

from evenhand.formats import tables
from evenhand.formats.reading import read_ratings
from tests.formats.fuzzing import COMPANIONS, EXPORTS, OWN, samples
from tests.formats.reader import decoded_here, stream

if TYPE_CHECKING:
    from pathlib import Path

SEMICOLONS = ("forms.csv", "semicolons.csv")
REFUSED = ("moodle-submissions.csv", "openreview-console.csv")
ALL = [
    path
    for path in samples()
    if path.suffix == ".csv" and path.name not in (*SEMICOLONS, *REFUSED)
]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_every_way_of_storing_a_sample_gives_the_same_ratings(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_decode", decoded_here)
    options: dict[str, Any] = dict(OWN.get(path.name, {}))
    if path.name in COMPANIONS:
        options["companion"] = EXPORTS / COMPANIONS[path.name]
    data = path.read_bytes()
    header, *rows = csv.reader(io.StringIO(data.decode()))
    semicolons, book = io.StringIO(), io.BytesIO()
    csv.writer(semicolons, delimiter=";").writerows([header, *rows])
    frame = pl.DataFrame(rows, schema=header, orient="row")
    frame.write_excel(book)
    stored: list[Any] = [
        stream(b"\xef\xbb\xbf" + data, "s.csv"),
        stream(data.replace(b"\n", b"\r\n"), "s.csv"),
        stream(semicolons.getvalue(), "s.csv"),
        stream(book.getvalue(), "s.xlsx"),
        stream(frame.write_json(), "s.json"),
        frame,
        pl.read_csv(data),
        pd.read_csv(io.BytesIO(data)),
    ]
    expected = read_ratings(path, **options).sha256
    assert [read_ratings(one, **options).sha256 for one in stored] == [expected] * 8

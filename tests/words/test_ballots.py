"""Workbooks to fill in and ballots to print, from an assignment."""

import io
import re
import zipfile
from pathlib import Path

from evenhand import Ratings, assign, read_ratings
from evenhand.designs.assignment import Assignment
from evenhand.words.ballots import ballots, sheets

HOSTILE = ["=1+1", "O'Neil [x]", "o'neil [x]", "<b>Bo</b>", "all", "é" * 40]
ITEMS = ["=A1", "<script>alert(1)</script>", "tea", "café"]


def drawn() -> Assignment:
    return assign(ITEMS, HOSTILE, design="balanced", per_reviewer=2, secret="7" * 64)


def filled(book: bytes) -> bytes:
    """Put what a spreadsheet would have worked out into the sheet of all scores."""
    number = iter(range(1, 100))
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                text = re.sub(
                    r"<v></v>", lambda _: f"<v>{next(number)}</v>", data.decode()
                )
                data = text.encode()
            new.writestr(name, data)
    return changed.getvalue()


def test_the_sheet_of_all_scores_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "sheets.xlsx"
    path.write_bytes(filled(sheets(drawn())))
    ratings = read_ratings(path, sheet="all", rows="items")
    assert not drawn().strays(ratings)
    assert drawn().missing(ratings) == ()
    assert sorted(ratings.scores.tolist()) == list(range(1, 13))


def test_each_reviewer_has_a_tab_and_only_our_formulas_are_formulas() -> None:
    book = sheets(drawn())
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        names = re.findall(
            r'<sheet name="([^"]+)"', parts.read("xl/workbook.xml").decode()
        )
        cells = [
            parts.read(f"xl/worksheets/sheet{n}.xml").decode() for n in range(2, 8)
        ]
        pointed = re.findall(
            r"<f>(.*?)</f>", parts.read("xl/worksheets/sheet1.xml").decode()
        )
    assert len(names) == len({name.casefold() for name in names}) == 7
    assert all(len(name) <= 31 for name in names)
    # A cell is a formula only in the sheet that collects the scores.
    assert all("<f>" not in text for text in cells)
    assert len(pointed) == 12
    assert all(re.fullmatch(r"IF\((.+)=\"\",\"\",\1\)", text) for text in pointed)
    assert sheets(drawn()) == book


def test_a_filled_tab_is_read_alone(tmp_path: Path) -> None:
    book = sheets(assign([1, 2, 3], ["Anna", "Bo"], design="pairs", rng=1))
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "xl/worksheets/sheet2.xml":
                text = re.sub(rb'(<c r="C[23]" s="\d+")/>', rb"\1><v>5</v></c>", text)
            new.writestr(name, text)
    path = tmp_path / "sheets.xlsx"
    path.write_bytes(changed.getvalue())
    ratings: Ratings = read_ratings(path, sheet="Anna")
    assert ratings.n_ratings == 2
    assert ratings.reviewer_labels == ("Anna",)


def test_ballots_have_a_page_for_each_reviewer_and_names_are_escaped() -> None:
    page = ballots(drawn())
    assert page.count("<section>") == len(HOSTILE)
    assert "break-after: page" in page
    assert "<script>" not in page
    assert "&lt;b&gt;Bo&lt;/b&gt;" in page
    assert page.count("&lt;script&gt;") == 3
    assert str(drawn().seal) in page

"""Exports are safe to open, say what was found, and are read again as they were."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest import mock

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.ab.comparison import Comparison, compare
from evenhand.diagnosis.check import Check, check
from evenhand.errors import OptionError
from evenhand.formats import tables
from evenhand.formats.decoder import decode
from evenhand.formats.reading import read_ratings
from evenhand.grading import grade
from evenhand.ranking.ranking import rank
from evenhand.ranking.results import Draw, RankedItem, Ranking
from evenhand.ratings import Ratings
from evenhand.words.exports import (
    SUFFIXES,
    TABLES,
    about,
    export_outputs,
    export_tables,
    parse_export,
    table_of,
)

if TYPE_CHECKING:
    from evenhand.formats.files import File
    from evenhand.grading import Grades

    Results = dict[str, Ranking | Comparison | Check | Grades | eh.Selection]

READ = (".csv", ".tsv", ".xlsx", ".parquet", ".jsonl", ".json")
REAL = {"error": pl.Float64}
HOSTILE = [
    '=HYPERLINK("x")',
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "'quoted",
    "'=quoted",
    "''-twice",
    "a|b",
    "a;=1+1",
    "x\ny",
    "x\ry",
    "x\r\ny",
    "x\ty",
    "007",
    "-5",
    "+",
    "@anna",
    '"',
    ",",
    "\\",
    "[a](http://x)",
    "`b`",
    "_x000D_",
    "😀",
    "\uff1d1+1",
    "NA",
    "TRUE",
    "1e5",
    "https://x.org",
    "\ufeff=1",
]


def read_here(data: bytes, sheet: str | None = None) -> Ratings:
    """Read without a process for each file, which takes its time."""

    def decoded(file: File, sheet: str, fault: str) -> tuple[object, object]:
        del fault
        return decode(file.format, sheet, file.data)

    with mock.patch.object(tables, "_decode", decoded):
        return read_ratings(io.BytesIO(data), sheet=sheet)


def workbook(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        return {name: book.read(name).decode() for name in book.namelist()}


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    reviewers = [name for name in HOSTILE for _ in range(2)]
    items = [
        HOSTILE[(i + k) % len(HOSTILE)] for i in range(len(HOSTILE)) for k in (0, 3)
    ]
    return Ratings(reviewers, items, [i % 7 + 0.1 for i in range(len(items))])


@pytest.fixture(scope="module")
def checked(ratings: Ratings) -> Check:
    return check(ratings, rng=7)


@pytest.fixture(scope="module")
def ranked(ratings: Ratings) -> Ranking:
    found = rank(ratings, method="safe", top=3, rng=7)
    coin = Draw((HOSTILE[0], HOSTILE[4]), 0.62, HOSTILE[0], (*HOSTILE[:2],), ((",",),))
    return replace(found, draws=(coin, *found.draws))


# Reading again


@pytest.mark.parametrize("suffix", READ)
def test_ratings_are_read_again_as_they_were(ratings: Ratings, suffix: str) -> None:
    result = rank(ratings, method="mean", rng=7)
    (output,) = export_outputs([("ratings", f"out{suffix}")], ratings, result)
    again = read_ratings(io.BytesIO(output.data))
    assert again.sha256 == ratings.sha256


KINDS = {
    "integers": Ratings([7, 7, -5, 12], [1, 2, 1, 2], [1, 2, 3, 4]),
    "large integers": Ratings([2**62, 3, 3], [-(2**62), 4, 5], [0.1, 1e300, -7]),
    "one digit more": Ratings(["a", "a"], [2**53 + 1, 10**15], [0.1 + 0.2, 1 / 3]),
    "pairs": Ratings(["a", "b"], ["x", "y"], [1, 2], pairs=["=p", "=p"]),
    "ranks": Ratings.from_ranks(["a", "a", "b"], ["x", "y", "x"], [1, 2.5, 1]),
    "comparisons": Ratings.from_comparisons(["x", "x", "y"], ["y", "z", "x"]),
    "people": Ratings.from_comparisons(
        ["x", "x", "y"] * 5, ["y", "z", "x"] * 5, reviewers=["=a#1", "b", "b"] * 5
    ),
    "numbered people": Ratings.from_comparisons([3, 1], [2, 2], reviewers=[8, 9]),
}


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_again(kind: str, suffix: str) -> None:
    given = KINDS[kind]
    table = table_of("ratings", given, check_free(given))
    again = read_here(export_tables({"ratings": table}, f"out{suffix}"))
    assert again.kind == given.kind
    assert again.sha256 == given.sha256


label = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffe\uffff")
    | st.sampled_from("='+-@\t\r\n\"|;,_x0D"),
    min_size=1,
).filter(
    lambda text: (
        pl.Series([text]).str.strip_chars()[0] != ""
        and not re.search("_x[0-9A-Fa-f]{4}_x[0-9A-Fa-f]{4}_", text)
    )
)
number = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(st.tuples(label, label, number), min_size=1, max_size=6),
    st.sampled_from([*READ]),
)
def test_any_label_and_score_is_read_again(
    rows: list[tuple[str, str, float]], suffix: str
) -> None:
    columns = {(r.strip(), i.strip()): (r, i, s) for r, i, s in rows}.values()
    reviewers, items, scores = zip(*columns, strict=True)
    given = Ratings(reviewers, items, scores)
    table = table_of("ratings", given, check_free(given))
    data = export_tables({"ratings": table}, f"out{suffix}")
    assert read_here(data).sha256 == given.sha256


def check_free(given: Ratings) -> Ranking:
    """A ranking of nothing, for tables that look at the ratings alone."""
    return Ranking((), (), (), "mean", {}, 7, given.summary(), ())


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a\0b", ".csv"),
        ("a\0b", ".tsv"),
        ("a\ufffeb", ".xlsx"),
        ("_x005F_x0041_", ".xlsx"),
        ("x" * 32_768, ".xlsx"),
    ],
)
def test_ratings_that_a_format_would_change_are_refused(name: str, suffix: str) -> None:
    given = Ratings(["a"], [name], [1])
    table = table_of("ratings", given, check_free(given))
    with pytest.raises(OptionError, match=r"as it is\. Write it as \.parquet or"):
        export_tables({"ratings": table}, f"out{suffix}")
    for exact in (".parquet", ".jsonl"):
        data = export_tables({"ratings": table}, f"out{exact}")
        assert read_here(data).sha256 == given.sha256


# Safe to open


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t")])
@pytest.mark.parametrize("what", TABLES["rank"])
def test_no_cell_begins_like_a_formula(
    ratings: Ratings,
    ranked: Ranking,
    checked: Check,
    what: str,
    suffix: str,
    separator: str,
) -> None:
    table = table_of(what, ratings, ranked, checked)
    text = export_tables({what: table}, f"out{suffix}").decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    assert len(rows) == table.height + 1
    assert rows[0] == table.columns
    for row in rows:
        assert len(row) == table.width
        for cell in row:
            plain = re.fullmatch(r"-?[0-9.]+(e[+-]?[0-9]+)?", cell)
            assert plain or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_texts_are_quoted() -> None:
    # LibreOffice may split at semicolons and tabs in a file with commas.
    table = pl.DataFrame({"item": ["a;=1", "a\t=1", 'a"', "plain"]})
    text = export_tables({"ranking": table}, "out.csv").decode()
    assert text == '"item"\n"a;=1"\n"a\t=1"\n"a"""\n"plain"\n'


def test_white_space_does_not_hide_a_formula() -> None:
    table = pl.DataFrame({"title": [" =1+1", "\n\t@x", "\u00a0=1"]})
    text = export_tables({"ranking": table}, "out.csv").decode("utf-8-sig")
    assert text.replace('"', "") == "title\n'=1+1\n'@x\n'=1\n"


@pytest.mark.parametrize("command", TABLES)
def test_workbooks_hold_no_formula_and_no_link(
    ratings: Ratings, ranked: Ranking, checked: Check, command: str
) -> None:
    two = Ratings(["a", "b"], ['=HYPERLINK("x")', "https://x.org"], [1, 2])
    results: Results = {
        "rank": ranked,
        "compare": compare(two, rng=7),
        "check": checked,
        "grade": grade(ratings, rng=7),
        "select": eh.select(ratings, places=3, rng=7),
    }
    given = two if command == "compare" else ratings
    exports = [("all", "out.xlsx")]
    (output,) = export_outputs(exports, given, results[command], checked)
    parts = workbook(output.data)
    for name, text in parts.items():
        assert "<f>" not in text, name
        assert "<hyperlink " not in text, name
        assert 'TargetMode="External"' not in text, name
    sheets = re.findall(r'<sheet name="([^"]*)"', parts["xl/workbook.xml"])
    assert sheets == [*TABLES[command], "about"]


def test_text_in_a_workbook_stays_text_when_it_is_edited() -> None:
    table = pl.DataFrame({"item": ["=1+1", "tea"]})
    data = export_tables({"ranking": table}, "out.xlsx")
    assert 'quotePrefix="1"' in workbook(data)["xl/styles.xml"]
    assert "<t>=1+1</t>" in workbook(data)["xl/sharedStrings.xml"]


def test_numbers_in_a_workbook_are_numbers_with_all_digits() -> None:
    values = [
        0.1 + 0.2,
        1 / 3,
        5e-324,
        1.7976931348623157e308,
        -0.5,
        None,
        float("nan"),
    ]
    table = pl.DataFrame(
        {"value": values, "rank": [*range(7)], "by_lot": [True, *[False] * 6]}
    )
    sheet = workbook(export_tables({"ranking": table}, "out.xlsx"))[
        "xl/worksheets/sheet1.xml"
    ]
    found = re.findall(r'<c r="A[2-8]"><v>([^<]*)</v></c>', sheet)
    assert [float(text) for text in found] == values[:5]
    assert '<c r="B8"><v>6</v></c>' in sheet
    assert '<c r="C2" t="b"><v>1</v></c>' in sheet
    assert not re.search(r'r="A[78]"', sheet)


def test_a_workbook_has_a_frozen_header_a_filter_and_fitting_columns() -> None:
    table = pl.DataFrame({"item": ["x" * 30, "y"], "rank": [1, 2]})
    sheet = workbook(export_tables({"ranking": table}, "out.xlsx"))[
        "xl/worksheets/sheet1.xml"
    ]
    assert 'ySplit="1"' in sheet
    assert 'state="frozen"' in sheet
    assert '<autoFilter ref="A1:B3"/>' in sheet
    widths = [float(it) for it in re.findall(r'<col [^>]*width="([0-9.]+)"', sheet)]
    assert widths[0] > 30 > widths[1]


def test_one_result_gives_the_same_bytes_twice(
    ratings: Ratings, ranked: Ranking, checked: Check
) -> None:
    def written() -> list[bytes]:
        exports = [("all", "a.xlsx"), ("all", "a.json"), ("ranking", "a.parquet")]
        outputs = export_outputs(exports, ratings, ranked, checked)
        return [output.data for output in outputs]

    assert written() == written()
    # Both may be of one second, so the time itself is looked for too.
    assert "2000-01-01T00:00:00Z" in workbook(written()[0])["docProps/core.xml"]


# What is in it


def test_json_is_plain(ratings: Ratings, ranked: Ranking, checked: Check) -> None:
    table = table_of("ranking", ratings, ranked)
    rows = json.loads(export_tables({"ranking": table}, "out.json"))
    assert [row["item"] for row in rows] == [*ranked.order]
    assert [row["mean_score"] for row in rows] == [it.mean_score for it in ranked.items]
    (output,) = export_outputs([("all", "x.json")], ratings, ranked, checked)
    found = json.loads(output.data)
    assert found["schema"] == "evenhand.tables/1"
    assert found["about"]["seed"] == "7"
    assert [*found][2:] == [*TABLES["rank"]]


def test_numbers_that_are_not_known_are_empty() -> None:
    table = pl.DataFrame({"a": [None, float("nan"), 0.1 + 0.2], "b": [1, None, 2]})
    rows = export_tables({"x": table}, "a.csv").splitlines()
    assert rows[1:] == [b",1", b",", b"0.30000000000000004,2"]
    lists = pl.DataFrame({"a": [None, [1, 2]], "b": [1, 2]})
    assert export_tables({"x": lists}, "a.csv").splitlines()[1:] == [
        b",1",
        b'"[1, 2]",2',
    ]
    assert json.loads(export_tables({"x": table}, "a.json"))[:2] == [
        {"a": None, "b": 1},
        {"a": None, "b": None},
    ]


def test_a_byte_order_mark_comes_with_names_that_need_it() -> None:
    plain, accented = (pl.DataFrame({"item": [it]}) for it in ("Zoe", "Zoë"))
    assert export_tables({"x": plain}, "a.csv") == b'"item"\n"Zoe"\n'
    assert export_tables({"x": accented}, "a.csv") == '\ufeff"item"\n"Zoë"\n'.encode()


def test_a_ranking_has_its_places_groups_and_coins() -> None:
    given = Ratings(["a", "a", "b"], ["x", "y", "z"], [1, 2, 3])
    rows = tuple(
        RankedItem(item, place, 1, 1.5, 1, 1, 2, 0.5, 3.0, None, 0.1, 0.2)
        for place, item in enumerate("zyx", start=1)
    )
    draw = Draw(("z", "y"), 0.62, "z", ("b", "a"))
    result = Ranking(("z", "y", "x"), rows, (draw,), "safe", {}, 7, {}, ())
    table = table_of("ranking", given, result)
    assert table.columns[:3] == ["rank", "item", "group"]
    assert {"rank_low", "rank_high", "estimate", "settled_by_chance"} < {*table.columns}
    assert table["item"].to_list() == ["z", "y", "x"]
    assert table["settled_by_chance"].to_list() == [True, True, False]
    assert table["spread"].to_list() == [None] * 3
    coins = table_of("draws", given, result)
    assert coins.row(0) == ("z", "y", 0.62, "z", ["b", "a"], [])
    assert export_tables({"draws": coins}, "a.csv").splitlines()[1] == (
        b'"z","y",0.62,"z","[""b"", ""a""]","[]"'
    )


def test_titles_stand_beside_their_items() -> None:
    given = Ratings(["a", "a"], [1, 2], [1, 2])
    given.titles = {2: "=On titles"}
    result = rank(given, method="mean", rng=7)
    table = table_of("ranking", given, result)
    assert table.columns[1:3] == ["item", "title"]
    assert table.select("item", "title").rows() == [(2, "=On titles"), (1, "")]
    assert b',2,"\'=On titles",' in export_tables({"ranking": table}, "a.csv")
    two = Ratings(["a", "b"], [1, 2], [1, 2])
    two.titles = {1: "One"}
    (row,) = table_of("comparison", two, compare(two, rng=7)).rows(named=True)
    assert (row["first_title"], row["second_title"]) == ("One", "")


def test_the_chance_to_be_among_the_best_is_there_when_asked(ranked: Ranking) -> None:
    given = Ratings(["a", "a"], ["x", "y"], [1, 2])
    assert "p_top" not in table_of("ranking", given, rank(given, rng=7)).columns
    assert "p_top" in table_of("ranking", given, rank(given, top=1, rng=7)).columns
    assert ranked.top is not None


def test_reviewers_are_as_strict_as_the_check_says() -> None:
    given = Ratings(
        ["a"] * 4 + ["b"] * 4 + ["c"],
        [1, 2, 3, 4] * 2 + [1],
        [1, 2, 3, 4, 5, 6, 7.1, 8, 2],
    )
    found = check(given, rng=7)
    table = table_of("reviewers", given, found)
    assert table["strictness"].to_list() == [one.strictness for one in found.reviewers]
    assert table["offset_error"].to_list() == [one.offset_se for one in found.reviewers]
    assert table["mean_score"].to_list() == pytest.approx([2.5, 6.525, 2])
    assert table["ratings"].to_list() == [4, 4, 1]
    ranked = rank(given, method="mean", rng=7)
    assert table_of("reviewers", given, ranked, found).equals(table)


def test_a_check_of_orders_still_lists_its_reviewers() -> None:
    given = Ratings.from_ranks(["a", "a", "b"], ["x", "y", "x"], [1, 2, 1])
    table = table_of("reviewers", given, check(given, rng=7))
    assert table.select("reviewer", "ratings", "strictness").rows() == [
        ("a", 2, None),
        ("b", 1, None),
    ]


def test_a_check_has_its_contradictions() -> None:
    given = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 2, 5, 4])
    found = check(given, rng=7)
    assert table_of("contradictions", given, found).rows() == [("x", "y", 1, 1)]
    alone = Ratings(["a"], ["x"], [1])
    empty = table_of("contradictions", alone, check(alone, rng=7))
    assert empty.height == 0
    for suffix in SUFFIXES:
        assert isinstance(export_tables({"contradictions": empty}, f"a{suffix}"), bytes)


def test_a_comparison_is_one_row_with_what_it_may_claim() -> None:
    given = Ratings(["a", "b", "c", "d"], ["x", "y", "x", "y"], [1, 2, 3, 4])
    result = compare(given, rng=7)
    (row,) = table_of("comparison", given, result).rows(named=True)
    assert (row["first"], row["second"]) == result.items
    assert row["winner"] == result.winner
    assert row["p_first"] == result.p_first
    assert row["p_value"] == result.p_value
    assert result.certificate is not None
    assert row["may_claim"] == result.certificate.sentence
    assert row["seed"] == "7"


def test_about_says_what_repeats_the_result(ratings: Ratings, ranked: Ranking) -> None:
    facts = about(ratings, ranked)
    assert facts["hash of the ratings"] == ratings.sha256
    assert facts["method"] == "safe"
    assert facts["seed"] == "7"
    assert ranked.certificate is not None
    assert facts["what this may claim"] == ranked.certificate.sentence
    for notice in ranked.notices:
        assert notice.message in facts.values()


def test_tables_for_one_path_share_a_workbook(
    ratings: Ratings, ranked: Ranking
) -> None:
    exports = [("ranking", "a.xlsx"), ("draws", "./a.xlsx"), ("ratings", "a.xlsx")]
    (output,) = export_outputs(exports, ratings, ranked)
    names = re.findall(
        r'<sheet name="([^"]*)"', workbook(output.data)["xl/workbook.xml"]
    )
    assert names == ["ranking", "draws", "ratings", "about"]
    assert read_here(output.data, "ratings").sha256 == ratings.sha256


# Words on the command line


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("out.csv", ("ranking", "out.csv")),
        ("draws=out.csv", ("draws", "out.csv")),
        ("Draws=out.CSV", ("draws", "out.CSV")),
        ("ranking=a=b.csv", ("ranking", "a=b.csv")),
        ("./a=b.csv", ("ranking", "./a=b.csv")),
        ("run2=b.csv", ("ranking", "run2=b.csv")),
        (r"C:\out\a.xlsx", ("ranking", r"C:\out\a.xlsx")),
        (r"draws=C:\out\a=1.xlsx", ("draws", r"C:\out\a=1.xlsx")),
        ("all=out.xlsx", ("all", "out.xlsx")),
    ],
)
def test_an_export_names_a_table_and_a_path(text: str, found: tuple[str, str]) -> None:
    assert parse_export(text, "rank") == found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rankin=out.csv", "unknown table 'rankin', did you mean 'ranking'"),
        ("ladder=out.csv", "'ranking', 'reviewers', 'draws', 'ratings', 'all'"),
        ("ranking=", "a file ending in '.csv'.* got ''"),
        ("out.xls", "a file ending in '.csv'.* got 'out.xls'"),
        ("all=out.csv", "tables together must be a file .* got 'out.csv'"),
    ],
)
def test_a_wrong_export_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        parse_export(text, "rank")


def test_a_file_for_one_table_takes_one(ratings: Ratings, ranked: Ranking) -> None:
    with pytest.raises(
        OptionError, match=r"ending in '\.xlsx', '\.json', got 'a\.csv'"
    ):
        export_outputs([("ranking", "a.csv"), ("draws", "a.csv")], ratings, ranked)


def test_a_sheet_that_is_too_long_is_refused() -> None:
    table = pl.DataFrame({"rank": range(1_048_576)})
    with pytest.raises(OptionError, match="at most 1,048,576 rows, got 1048577"):
        export_tables({"ranking": table}, "a.xlsx")


def test_each_command_makes_the_tables_that_it_names(
    ratings: Ratings, ranked: Ranking, checked: Check
) -> None:
    two = Ratings(["a", "b"], ["x", "y"], [1, 2])
    results: Results = {
        "rank": ranked,
        "compare": compare(two, rng=7),
        "check": checked,
        "grade": grade(ratings, rng=7),
        "select": eh.select(ratings, places=3, rng=7),
    }
    for command, names in TABLES.items():
        given = two if command == "compare" else ratings
        for name in names:
            assert table_of(name, given, results[command], checked).width > 0

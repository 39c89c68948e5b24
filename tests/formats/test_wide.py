"""Wide tables: never guessed, never a summary for a reviewer, and quick."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import OptionError, RatingsError
from evenhand.formats.reading import read_ratings
from evenhand.ratings import Ratings
from examples.exports_teaching import HERE
from tests.formats.reader import Reader, notices, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.claims import Label

ITEMS, REVIEWERS = HERE / "wide-items.csv", HERE / "wide-reviewers.xlsx"
SMALL = "talk,Anna,Bo\nx,3,4\ny,,2\n"
EXPECTED = Ratings(["Anna", "Bo", "Bo"], ["x", "x", "y"], [3, 4, 2])
ASKED = (
    "This looks like a wide table. Say what its rows are with rows= or --rows: 'items' "
    "(a column for each reviewer) or 'reviewers' (a column for each item). If each row "
    "is one rating instead, name its columns with --reviewer, --item and --score."
)


FILE = Reader("wide.csv")


def read(content: str, rows: str = "items", **options: Any) -> Ratings:  # noqa: ANN401 - options
    return FILE.read(content, rows=rows, **options)


def refused(content: str, rows: str = "items", **options: Any) -> str:  # noqa: ANN401 - options
    return FILE.refused(content, rows=rows, **options)


def test_the_sample_with_a_row_for_each_item_is_read() -> None:
    ratings = read_ratings(ITEMS, rows="items")
    assert (ratings.n_reviewers, ratings.n_items, ratings.n_ratings) == (8, 10, 40)
    assert ratings.titles["P02"] == 'Bridges of "soft" steel'
    assert ratings.notices == ()
    assert ratings.read_as == (
        "a wide table: items in the rows (column 'project'), reviewers in 8 columns."
    )


def test_the_sample_with_a_row_for_each_reviewer_holds_the_same() -> None:
    ratings = read_ratings(REVIEWERS, rows="reviewers")
    assert ratings.reviewer_labels[0] == "Anna Berg"
    assert ratings.read_as == (
        "a wide table: reviewers in the rows (first column), items in 10 columns: "
        "'P01', 'P02', 'P03', 'P04', 'P05', 'P06', 'P07', 'P08' and 2 more."
    )
    other = read_ratings(ITEMS, rows="items")
    assert ratings.scores.tolist() == other.scores.tolist()
    assert ratings.item_codes.tolist() == other.item_codes.tolist()


@pytest.mark.parametrize(
    "text",
    [
        SMALL,
        SMALL.replace("talk", ""),
        "talk,1,2\n1,3,4\n2,,2\n",
        "talk,title,Anna,Bo\nx,On tea,3,4\n",
    ],
)
def test_the_orientation_is_asked_for_and_never_guessed(text: str) -> None:
    with pytest.raises(RatingsError) as caught:
        FILE.read(text)
    assert str(caught.value) == f"wide.csv: {ASKED}"
    with pytest.raises(
        OptionError, match="rows must be 'items' or 'reviewers', got 'i'"
    ):
        read(text, "i")


def test_rows_and_columns_change_places() -> None:
    assert read(SMALL).sha256 == EXPECTED.sha256
    turned = "who,x,y\nAnna,3,\nBo,4,2\n"
    assert read(turned, "reviewers").sha256 == EXPECTED.sha256


def test_labels_may_stand_in_another_column() -> None:
    text = ",talk,Anna,Bo\n0,x,3,4\n1,y,,2\n"
    assert read(text, item="talk").sha256 == EXPECTED.sha256
    assert read("Anna,talk,Bo\n3,x,4\n,y,2\n", item="talk").sha256 == EXPECTED.sha256
    assert refused(text, item="talks") == (
        "wide.csv: Unknown column 'talks', did you mean 'talk'? Known columns: 'talk', "
        "'Anna', 'Bo'."
    )


def test_an_index_before_the_labels_is_not_taken_for_them() -> None:
    names = "abcdefghijklmnop"
    text = ",talk,Anna\n" + "".join(f"{n},{name},3\n" for n, name in enumerate(names))
    assert refused(text) == (
        "wide.csv: Column 'talk' holds text, not scores. Leave it out with exclude= or "
        "--exclude talk, or rename it; if it holds the labels of the items, name it "
        "with item= or --item."
    )


@pytest.mark.parametrize(
    "name", ["id", "#", "Year", "track", "paper_id", "pages", "Score"]
)
def test_other_columns_are_refused_by_their_name(name: str) -> None:
    assert refused(f"talk,{name},Anna\nx,3,4\ny,1,2\n") == (
        f"wide.csv: Column '{name}' does not look like a reviewer. Leave it out "
        f"with exclude= or --exclude {shlex.quote(name)}, or rename it; if it holds "
        "the labels of the items, name it with item= or --item."
    )


def test_a_long_table_with_another_name_is_not_taken_for_a_wide_one() -> None:
    text = "who,item,score\nanna,1,3\n"
    with pytest.raises(RatingsError, match="No column for the reviewer among 'who'"):
        FILE.read(text)
    assert "Column 'item' does not look like a reviewer" in refused(text)
    assert read("talk,Anna,Mark\nx,3,4\n").reviewer_labels == ("Anna", "Mark")


def test_a_text_beside_the_labels_is_refused() -> None:
    text = "talk,speaker,Anna\nx,A long name that goes on and on and on for ever,4\n"
    assert refused(text).startswith(
        "wide.csv: Column 'speaker' holds text, not scores."
    )


def test_titles_are_taken_where_rows_are_items() -> None:
    text = "talk,Paper Title,Anna,Bo\nx,On tea,3,4\ny,On milk,,2\n"
    ratings = read(text)
    assert ratings.sha256 == EXPECTED.sha256
    assert ratings.titles == {"x": "On tea", "y": "On milk"}
    said = refused("who,title,x\nAnna,Dr,3\n", "reviewers")
    assert "must be a number, got 'Dr'" in said


def test_score_words_are_mapped() -> None:
    text = "talk,Anna,Bo\nx,Good,poor\ny,,good\n"
    ratings = read(text, scale="poor<good")
    assert ratings.scores.tolist() == [2.0, 1.0, 2.0]
    words = refused(text.replace("poor", "meh"))
    assert words.startswith("wide.csv:2: score must be a number, got 'Good'.")
    assert refused(text.replace("poor", "bad"), scale="poor<good").startswith(
        "wide.csv:2: score must be on the scale poor<good, got 'bad'."
    )
    letters = read("talk,Anna,Bo\nx,A,B\ny,C,A\n", scale="best=A")
    assert letters.scores.tolist() == [3.0, 1.0, 2.0, 3.0]


def test_a_bad_cell_is_named_by_its_line() -> None:
    assert refused("talk,Anna,Bo\nx,3,4\n\ny,7:10,2\n") == (
        "wide.csv:4: score must be a number, got '7:10'. Write a plain number; or, if "
        "these scores are words, give their order with scale= or --scale "
        "'worst<...<best'."
    )


def test_a_row_of_scores_needs_its_label() -> None:
    assert refused("talk,Anna,Bo\nx,3,4\n,1,2\n") == (
        "wide.csv:3: item must be given, got nothing."
    )


def test_one_item_in_two_rows_is_refused_where_a_reviewer_meets_it_twice() -> None:
    message = refused("talk,Anna,Bo\nx,3,4\ny,1,1\nx,,2\n")
    assert message.startswith("wide.csv:4:")
    assert "line 2" in message
    assert read("talk,Anna,Bo\nx,3,\nx,,4\ny,,2\n").sha256 == EXPECTED.sha256


def test_rows_and_columns_without_any_score_are_told() -> None:
    ratings = read("talk,Anna,Bo,Cy\nx,3,4,\ny,,2,\nz,,,\n")
    assert ratings.sha256 == EXPECTED.sha256
    assert notices(ratings) == {
        "unrated_items": "Items without any score are not in the result: 'z'.",
        "idle_reviewers": "1 reviewer without any score left out.",
    }


def test_an_empty_table_is_refused() -> None:
    assert refused("talk,Anna\nx,\n") == (
        "wide.csv: There is no rating: every cell is empty."
    )
    assert refused("talk\nx\n") == "wide.csv: There is no column of a reviewer."
    assert refused("talk,Anna\n") == (
        "wide.csv: There is a header but no row below it."
    )


def test_a_file_without_a_header_is_refused() -> None:
    assert refused("1,2,3\n2,3,4\n") == (
        "wide.csv: The first line holds numbers: '1', '2', '3'. If they are scores, "
        "say header=False or --no-header; if they are names of columns, say "
        "header=True or --header, or name the column of the items with item= or --item."
    )


def test_names_of_digits_are_numbers_of_people() -> None:
    ratings = read("talk,2,10\n1,3,4\n2,,2\n")
    assert ratings.reviewer_labels == (2, 10)
    assert ratings.item_labels == (1, 2)


def test_other_options_have_no_place() -> None:
    for part in ("reviewer", "score", "rank", "pair"):
        with pytest.raises(OptionError, match=f"^{part} must be left out for a wide"):
            read(SMALL, **{part: "Anna"})
    with pytest.raises(
        OptionError, match="companion must be left out for a wide table"
    ):
        read(SMALL, companion=stream(SMALL))


def test_names_that_are_code_stay_names() -> None:
    text = 'talk,<script>alert(1)</script>,"=HYPERLINK(""x"")"\n../../etc/passwd,3,4\n'
    ratings = read(text)
    assert ratings.reviewer_labels == ("<script>alert(1)</script>", '=HYPERLINK("x")')
    assert ratings.item_labels == ("../../etc/passwd",)


def test_columns_of_other_types_are_refused_in_a_sentence() -> None:
    frame = pl.DataFrame({"talk": ["x"], "Anna": [[1, 2]], "Bo": [True]})
    with pytest.raises(RatingsError, match="score must be a number"):
        read_ratings(frame, rows="items")
    half = stream('[{"talk": "\\ud800", "Anna": 3}]', "w.json")
    assert read_ratings(half, rows="items").item_labels == ("?",)


@settings(max_examples=20)
@given(
    st.lists(
        st.from_regex(r"p[a-z]{1,3}", fullmatch=True),
        min_size=1,
        max_size=5,
        unique=True,
    ),
    st.lists(
        st.from_regex(r"q[a-z]{1,3}", fullmatch=True),
        min_size=1,
        max_size=5,
        unique=True,
    ),
    st.data(),
)
def test_a_table_and_its_transpose_hold_the_same(
    items: list[str], people: list[str], data: st.DataObject
) -> None:
    cell = st.none() | st.integers(-9, 9)
    grid = [[data.draw(cell) for _ in people] for _ in items]
    grid[0][0] = 1
    triples: list[tuple[Label, Label, float]] = [
        (who, item, value)
        for item, row in zip(items, grid, strict=True)
        for who, value in zip(people, row, strict=True)
        if value is not None
    ]
    expected = Ratings(*(list(column) for column in zip(*triples, strict=True)))
    down = pl.DataFrame(
        [[item, *row] for item, row in zip(items, grid, strict=True)],
        schema=["talk", *people],
        orient="row",
        infer_schema_length=None,
    )
    across = pl.DataFrame(
        [[who, *row] for who, row in zip(people, zip(*grid, strict=True), strict=True)],
        schema=["who", *items],
        orient="row",
        infer_schema_length=None,
    )
    assert read_ratings(down, rows="items").sha256 == expected.sha256
    assert read_ratings(across, rows="reviewers").sha256 == expected.sha256


def grid(columns: dict[str, NDArray[np.float64]]) -> str:
    """Return a wide table; NaN is an empty cell."""
    lines = [",".join(["worker", *columns])]
    for row, cells in enumerate(zip(*columns.values(), strict=True)):
        texts = ("" if np.isnan(cell) else f"{cell:g}" for cell in cells)
        lines.append(",".join([f"w{row}", *texts]))
    return "\n".join(lines) + "\n"


def marks(rows: int, items: int, high: int = 5) -> dict[str, NDArray[np.float64]]:
    """Draw marks from 1 to high, of which a third is missing."""
    rng = np.random.default_rng(5)
    values = rng.integers(1, high + 1, (items, rows)).astype(np.float64)
    values[rng.random(values.shape) < 1 / 3] = np.nan
    return {f"S{n}x": column for n, column in enumerate(values)}


# How many summaries each of 40 workers rated.
WORK = np.random.default_rng(1).integers(1, 48, 40).astype(np.float64)


def test_a_count_among_marks_is_refused_by_its_name() -> None:
    text = grid({"Annotate_number": WORK, **marks(40, 8)})
    assert refused(text, "reviewers") == (
        "wide.csv: Column 'Annotate_number' looks like a count or an id, not like an "
        "item. Leave it out with exclude= or --exclude Annotate_number, or rename it; "
        "if it holds the labels of the reviewers, name it with reviewer= or --reviewer."
    )


@pytest.mark.parametrize("place", [0, 4, 8])
def test_a_count_among_marks_is_refused_by_its_numbers(place: int) -> None:
    columns = list(marks(40, 8).items())
    columns.insert(place, ("Done", WORK))
    low, high = int(WORK.min()), int(WORK.max())
    assert refused(grid(dict(columns)), "reviewers").startswith(
        f"wide.csv: Column 'Done' goes from {low} to {high}, all others from 1 to 5: "
        "it looks like a count, not like an item. If it is one, give the ratings in "
        "the long form. Leave it out with exclude= or --exclude Done, or rename it;"
    )


@pytest.mark.parametrize("rows", ["items", "reviewers"])
def test_a_count_of_the_row_and_a_number_of_the_row_are_refused(rows: str) -> None:
    columns = marks(30, 8)
    filled = np.isfinite([*columns.values()]).sum(axis=0).astype(np.float64)
    said = refused(grid({**columns, "Fy": filled}), rows)
    assert "Column 'Fy' is the count of others wherever it is given" in said
    said = refused(grid({"Lfd": np.arange(1.0, 31.0), **columns}), rows)
    assert "Column 'Lfd' numbers the rows" in said


def test_a_column_that_is_left_out_is_not_refused() -> None:
    columns = marks(40, 8)
    text = grid({"Annotate_number": WORK, "Mean": WORK / 2, **columns})
    both = ["Annotate_number", "item=Mean"]
    ratings = read(text, "reviewers", exclude=both)
    assert ratings.sha256 == read(grid(columns), "reviewers").sha256
    assert ratings.notices[0].code == "excluded"


def test_a_summary_row_that_is_left_out_is_not_refused() -> None:
    text = "talk,Anna,Bo\nx,3,4\ny,,2\nAverage,3,3\n"
    assert read(text, exclude="Average").sha256 == EXPECTED.sha256


def test_items_far_apart_are_not_counts() -> None:
    # On 0 to 100 by all; far better than all others; a reviewer with another scale.
    assert read(grid(marks(40, 8, high=100)), "reviewers").n_items == 8
    for values in ([5, 5, 4, 5], [90, 75, 98, 60]):
        best = np.array(values, dtype=np.float64)
        others = {"A": np.ones(4), "B": best // 40 + 1, "C": np.array([1, 2, 2, 1.0])}
        assert read(grid({**others, "D": best}), "reviewers").n_items == 4
    hundred = np.random.default_rng(3).integers(0, 101, 40).astype(np.float64)
    assert read(grid({"Anna": hundred, **marks(40, 8)})).n_reviewers == 9
    for name in ("The Count", "Lucky number"):
        columns = marks(40, 8)
        columns[name] = columns.pop("S0x")
        assert read(grid(columns), "reviewers").n_items == 8


def test_one_reviewer_with_another_scale_makes_no_item_a_count() -> None:
    columns = marks(40, 8)
    for column in columns.values():
        column[:10] *= 20
    columns["S0x"][10:] = np.nan
    assert read(grid(columns), "reviewers").n_items == 8


def test_random_marks_are_not_taken_for_counts() -> None:
    # Fixed seeds; that a change of rules refuses ordinary tables would be seen here.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows, items, high = rng.integers(3, 30), rng.integers(2, 12), rng.choice([5, 9])
        values = np.round(rng.normal(rng.normal(0, 2, items), 1, (rows, items)).T * 2)
        low = values.min()
        columns = {f"T{n}x": np.minimum(it - low, high) for n, it in enumerate(values)}
        assert read(grid(columns), "reviewers").n_items == items

"""Reviewers who are no people: pseudonyms for one item, and seats."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from evenhand.diagnosis import ladder
from evenhand.diagnosis.check import Check, check
from evenhand.errors import OptionError, RatingsError
from evenhand.formats.reading import read_ratings
from evenhand.grading import Grades, grade
from evenhand.ranking.ranking import rank
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from pathlib import Path

PAPERS, COLLISIONS = 300, 9
OWN = "Each score counts as a reviewer of its own"


def conference(collisions: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Reviews of 300 papers, 3 to 5 each, signed with a pseudonym for each; values.

    Some pseudonyms, of papers that follow each other, are the same by chance.
    """
    rng = np.random.default_rng(31)
    counts = rng.integers(3, 6, PAPERS)
    values = rng.normal(5.5, 1.2, PAPERS)
    papers = np.repeat(np.arange(PAPERS), counts)
    names = [f"Reviewer_{rng.integers(16**6):06x}{row}" for row in range(len(papers))]
    first = np.cumsum(counts) - counts
    for paper in range(0, 2 * collisions, 2):
        names[first[paper + 1]] = names[first[paper]]
    scores = np.clip(np.round(values[papers] + rng.normal(0, 1.3, len(papers))), 1, 10)
    frame = pl.DataFrame({"reviewer": names, "item": papers, "score": scores})
    return frame, values


def codes(found: Ratings | Check | Grades) -> list[str]:
    return [one.code for one in found.notices]


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return conference(COLLISIONS)[0]


def test_pseudonyms_say_nothing_about_strictness(frame: pl.DataFrame) -> None:
    found = check(frame, rng=7)
    assert "pseudonyms" in codes(found)
    assert found.variance is not None
    assert found.variance.reviewer is None
    assert found.ladder is None
    assert {one.strictness for one in found.reviewers} == {"not enough ratings to say"}
    assert found.data["reviewers"] == frame.height


def test_an_order_by_pseudonyms_is_the_one_of_distinct_reviewers(
    frame: pl.DataFrame,
) -> None:
    # On the same scores as if no two pseudonyms were equal.
    apart = frame.with_columns(reviewer=pl.int_range(pl.len()))
    found, expected = rank(frame, top=60, rng=7), rank(apart, top=60, rng=7)
    assert found.order == expected.order
    assert found.rho == 0
    ranks = [
        [(row.rank_low, row.rank_high) for row in it.items] for it in (found, expected)
    ]
    assert ranks[0] == ranks[1]
    notice = next(one for one in found.notices if one.code == "pseudonyms")
    assert notice.message.startswith(
        f"Reviewers look like pseudonyms for one item: all but {COLLISIONS} of "
        f"{frame['reviewer'].n_unique():,} rated one item only. {OWN}"
    )
    assert "as if all were equally strict" in notice.message


def test_intervals_of_ranks_by_pseudonyms_hold_and_say_something() -> None:
    frame, values = conference(COLLISIONS)
    found = rank(frame, rng=7)
    true = np.argsort(np.argsort(-values)) + 1
    rows = found.items
    inside = [row.rank_low <= true[row.item] <= row.rank_high for row in rows]  # type: ignore[index]  # known
    # Of 300 intervals of 90%, about 270 hold; fewer than 240 would be six standard
    # errors if they were independent.
    assert sum(inside) >= 240
    widths = [row.rank_high - row.rank_low for row in rows]  # type: ignore[operator]  # known
    assert np.median(widths) < 0.6 * PAPERS


def test_marks_by_pseudonyms_are_means(frame: pl.DataFrame) -> None:
    found = grade(frame, rng=7)
    assert "pseudonyms" in codes(found)
    assert [row.mark for row in found.items] == pytest.approx(
        [row.mean_score for row in found.items]
    )


def test_labels_of_people_are_left_as_they_are(frame: pl.DataFrame) -> None:
    for given in ("people", ["reviewer", "people"]):
        ratings = Ratings.from_frame(frame, reviewer=given)
        assert ratings.n_reviewers == frame["reviewer"].n_unique()
        assert "pseudonyms" not in codes(ratings)
    kept = read_ratings(io.StringIO(frame.write_csv()), reviewer="reviewer+people")
    assert kept.n_reviewers == frame["reviewer"].n_unique()
    assert rank(frame, reviewer="people", rng=7).data["reviewers"] == kept.n_reviewers


def test_a_column_called_people_is_a_column() -> None:
    table = "people,item,score\na,x,1\nb,x,2\n"
    assert read_ratings(io.StringIO(table), reviewer="people").n_reviewers == 2
    table = "reviewer,people,item,score\na,1,x,1\na,2,x,2\n"
    ratings = read_ratings(io.StringIO(table), reviewer="reviewer+people")
    assert ratings.reviewer_labels == ("a / 1", "a / 2")


@pytest.mark.parametrize(
    "loads",
    [
        [1] * 200,
        [1] * 195 + [2] * 5 + [4],
        [1] * 95 + [2] * 5,
        [1] * 60 + [2],
        [2] * 200,
    ],
)
def test_others_are_not_taken_for_pseudonyms(loads: list[int]) -> None:
    rng = np.random.default_rng(3)
    rows = [
        (who, item)
        for who, load in enumerate(loads)
        for item in rng.choice(40, load, replace=False).tolist()
    ]
    who, what = zip(*rows, strict=True)
    ratings = Ratings(who, what, rng.integers(1, 6, len(rows)))
    assert ratings.n_reviewers == len(loads)
    assert ratings.notices == ()


def test_split_reviewers_do_not_depend_on_the_order_of_rows_and_keep_scores(
    frame: pl.DataFrame,
) -> None:
    one = Ratings.from_frame(frame)
    other = Ratings.from_frame(frame.reverse())
    assert one.sha256 == other.sha256
    rows = one.to_frame().with_columns(pl.col("reviewer").str.replace("#.*", ""))
    assert rows.sort("item", "reviewer").equals(frame.sort("item", "reviewer"))


def test_a_pseudonym_that_rates_an_item_twice_is_still_refused(
    frame: pl.DataFrame,
) -> None:
    with pytest.raises(RatingsError, match="rated item 0 twice"):
        Ratings.from_frame(pl.concat([frame, frame[:1]]))


def seats(names: list[str], filled: list[int]) -> str:
    """Write a wide table in which each item fills so many columns from the left."""
    rng = np.random.default_rng(5)
    lines = [",".join(["paper", *names])]
    for item, number in enumerate(filled):
        cells = [str(one) for one in rng.integers(1, 11, number)]
        lines.append(",".join([f"p{item}", *cells, *[""] * (len(names) - number)]))
    return "\n".join(lines) + "\n"


NAMES = [
    [str(number) for number in range(7)],
    [f"R{number}" for number in range(7)],
    [f"Reviewer {number}" for number in range(1, 8)],
    [f"J{number}" for number in range(1, 8)],
    [f"Panelist #{number}" for number in range(1, 8)],
]
FILLED = [3, 4, 5, 4, 6, 3, 5, 7, 4, 3] * 4


@pytest.mark.parametrize("names", NAMES)
def test_numbers_that_items_fill_from_the_left_are_seats(names: list[str]) -> None:
    table = seats(names, FILLED)
    ratings = read_ratings(io.StringIO(table), rows="items")
    assert codes(ratings) == ["seats"]
    assert ratings.n_reviewers == ratings.n_ratings == sum(FILLED)
    assert ratings.notices[0].message.startswith(
        "The 7 reviewers are seats, not people: items fill their numbers from the "
        f"first on, 3 to 7 of them. {OWN}"
    )
    people = read_ratings(io.StringIO(table), rows="items", reviewer="people")
    assert people.n_reviewers == 7
    assert people.notices == ()


def test_seats_are_found_beside_a_column_that_is_left_out() -> None:
    header, *rows = seats(NAMES[2], FILLED).splitlines()
    lines = [f"{header},decision", *(f"{row},Accept" for row in rows)]
    ratings = read_ratings(
        io.StringIO("\n".join(lines)), rows="items", exclude="decision"
    )
    assert "seats" in codes(ratings)
    assert f"reviewers in {len(NAMES[2])} columns" in ratings.read_as
    alone = read_ratings(io.StringIO(seats(NAMES[2], FILLED)), rows="items")
    assert ratings.n_reviewers == alone.n_reviewers


def test_seats_are_found_in_the_long_form() -> None:
    wide = read_ratings(io.StringIO(seats(NAMES[2], FILLED)), rows="items")
    rows = [
        f"{item},{number},{score}"
        for item, number, score in (
            (f"p{item}", f"Reviewer {seat + 1}", 5)
            for item, filled in enumerate(FILLED)
            for seat in range(filled)
        )
    ]
    text = "\n".join(["item,reviewer,score", *rows]) + "\n"
    ratings = read_ratings(io.StringIO(text))
    assert codes(ratings) == ["seats"]
    assert ratings.n_reviewers == wide.n_reviewers


@pytest.mark.parametrize("names", NAMES[:4])
def test_a_full_panel_of_numbers_is_asked_about_and_taken_for_people(
    names: list[str],
) -> None:
    table = seats(names, [7] * 30)
    ratings = read_ratings(io.StringIO(table), rows="items")
    assert codes(ratings) == ["pseudonyms"]
    assert ratings.n_reviewers == 7
    message = ratings.notices[0].message
    first = 0 if names[0].endswith("0") else 1
    assert f"numbered from {first} within" in message
    assert "--reviewer seats" in message
    assert "--reviewer people" in message
    people = read_ratings(io.StringIO(table), rows="items", reviewer="people")
    assert people.notices == ()
    split = read_ratings(io.StringIO(table), rows="items", reviewer="seats")
    assert split.n_reviewers == split.n_ratings == 210


@pytest.mark.parametrize(
    ("names", "filled"),
    [
        # Judges who left one after the other.
        (NAMES[3], sorted(FILLED, reverse=True)),
        # A third judge who missed some items.
        (NAMES[3][:3], [3, 2, 3, 3, 2] * 8),
        # People by name.
        (["Anna", "Bo", "Cy", "Dee", "Eve", "Fay", "Gus"], FILLED),
    ],
)
def test_what_may_be_people_is_taken_for_people(
    names: list[str], filled: list[int]
) -> None:
    ratings = read_ratings(io.StringIO(seats(names, filled)), rows="items")
    assert ratings.n_reviewers == len(names)
    assert "seats" not in codes(ratings)


def test_numbered_people_who_rate_at_random_are_people() -> None:
    rng = np.random.default_rng(6)
    table = rng.integers(1, 11, (60, 7)).astype(object)
    table[rng.random((60, 7)) < 0.4] = ""
    lines = [f"p{row}," + ",".join(map(str, cells)) for row, cells in enumerate(table)]
    text = "\n".join([",".join(["paper", *NAMES[3]]), *lines]) + "\n"
    ratings = read_ratings(io.StringIO(text), rows="items")
    assert ratings.n_reviewers == 7
    assert codes(ratings) == []


def test_seats_are_for_scores() -> None:
    table = io.StringIO("reviewer,item,rank\na,x,1\na,y,2\n")
    with pytest.raises(OptionError, match="one alone orders nothing, got 'seats'"):
        read_ratings(table, reviewer="seats")


def test_codes_stand_for_seats_too(tmp_path: Path) -> None:
    key = str(tmp_path / "key.csv")
    table = io.StringIO(seats(NAMES[0], FILLED))
    ratings = read_ratings(table, rows="items", anonymise=key)
    assert ratings.n_reviewers == ratings.public.n_reviewers == sum(FILLED)


def two_comparisons(number: int) -> Ratings:
    """So many reviewers of one item, and two of two."""
    rng = np.random.default_rng(4)
    rows = [(f"r{row}", row % 30) for row in range(number)]
    rows += [(f"s{row}", item) for row in range(2) for item in (row, row + 15)]
    who, what = zip(*rows, strict=True)
    return Ratings(who, what, rng.normal(size=len(rows)), people=True)


def test_one_comparison_is_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    # One part of five is tried, as of large data.
    monkeypatch.setattr(ladder, "TEN_FOLDS", 10)
    monkeypatch.setattr(ladder, "MANY_LEVELS", 10)
    tried = {}
    for number in range(90, 105):
        ratings = two_comparisons(number)
        pairs = ladder.climb(ratings).pairs
        tried[pairs] = ladder.ladder_or_why(ratings)[1], ratings
    assert {pairs for pairs, (why, _) in tried.items() if why} == {0, 1}
    why, ratings = tried[1]
    assert why == "one_tried"
    found = check(ratings, rng=7)
    said = {one.code: one.message for one in found.findings}
    assert said["no_ladder"] == (
        "The ladder is left out. One comparison only: nothing can be tested."
    )
    assert found.ladder is None

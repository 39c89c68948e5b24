import json
from dataclasses import FrozenInstanceError

import polars as pl
import pytest

from evenhand.claims import version
from evenhand.ranking.ranking import rank
from evenhand.ranking.results import Ranking
from evenhand.ratings import Ratings

FREE = Ratings(["a", "b", "b"], ["x", "y", "z"], [1.0, 4.0, 2.5])


def test_json_has_the_documented_fields_in_their_order() -> None:
    result = rank(FREE, design="pairs", method="flips", rng=7)
    told = json.loads(json.dumps(result.to_dict()))
    assert list(told) == [
        "schema",
        "order",
        "items",
        "rho",
        "intervals",
        "top",
        "draws",
        "method",
        "parameters",
        "seed",
        "certificate",
        "data",
        "warnings",
        "version",
    ]
    assert told["schema"] == "evenhand.rank/1"
    assert told["order"] == list(result.order)
    assert list(told["items"][0]) == [
        "item",
        "rank",
        "bucket",
        "mean_rank",
        "reviews",
        "rank_low",
        "rank_high",
        "p_top",
        "mean_score",
        "spread",
        "estimate",
        "error",
        "side",
    ]
    assert told["draws"] == [
        {
            "items": ["x", "y"],
            "p_first": 0.125,
            "first": result.draws[0].first,
            "reviewers": ["a", "b"],
            "anchors": [],
        }
    ]
    assert told["data"] == FREE.summary()
    assert result.certificate is not None
    assert told["certificate"] == result.certificate.to_dict()
    assert told["version"] == version()
    assert {warning["code"] for warning in told["warnings"]} == {
        "separate_groups",
        "unequal_loads",
    }


def test_the_frame_has_a_row_for_each_item_best_first() -> None:
    result = rank(FREE, method="mean", rng=7)
    frame = result.to_frame()
    assert frame["item"].to_list() == ["y", "z", "x"]
    assert frame["rank"].to_list() == [1, 2, 3]
    assert frame["mean_score"].to_list() == [4.0, 2.5, 1.0]
    assert frame.schema["group"] == pl.Int64
    assert frame.schema["mean_rank"] == pl.Float64
    assert frame.rename({"group": "bucket"}).rows(named=True) == result.rows()


def test_the_frame_keeps_integer_labels() -> None:
    found = rank(Ratings([1, 1], [5, 6], [1, 2]), method="flips", rng=7).to_frame()
    assert found["item"].to_list() == [6, 5]


def test_people_see_a_short_table_with_three_digits() -> None:
    ratings = Ratings(["a", "b", "a"], ["x", "x", "y"], [1, 2.23456, 0])
    assert repr(rank(ratings, method="mean", rng=7)).splitlines() == [
        "Ranking by mean, 0 coins, seed 7",
        "rank  item  ranks  reviews  mean score  spread",
        "   1  x       1\u20132        2        1.62   0.873",
        "   2  y       1\u20132        1           0        ",
    ]


def test_long_rankings_are_cut_in_print() -> None:
    ratings = Ratings(["a"] * 90, range(90), range(90))
    lines = repr(rank(ratings, method="mean", rng=7)).splitlines()
    assert lines[-1] == (
        "Items, best first (90 items; 50 below not shown). to_frame() has all."
    )
    assert len(lines) == 43
    lines = repr(rank(ratings, method="mean-rank", top=50, rng=7)).splitlines()
    assert lines[1].startswith("In (50): 89, 88, ")
    assert lines[1].endswith(" 78 and 38 more.")
    assert lines[2] == "Out (40)."
    assert lines[-1].startswith("Items, best first (90 items; 30 above and 20 below")
    middle = next(place for place, line in enumerate(lines) if "cut after 50" in line)
    assert lines[middle - 1].split()[:2] == ["50", "40"]
    assert lines[middle + 1].split()[:2] == ["51", "39"]
    assert len(lines) == 1 + 2 + 1 + 40 + 1 + 1


def test_labels_cannot_break_the_page_or_the_screen() -> None:
    nasty = "<script>alert('x')</script>"
    ratings = Ratings(["a", "a"], [nasty, "two\nlines\x1b[2J"], [1, 2])
    result = rank(ratings, method="mean", rng=7)
    page = result._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in repr(result)
    assert "two\\nlines" in repr(result)


def test_the_page_has_a_row_for_each_item() -> None:
    page = rank(FREE, method="flips", rng=7)._repr_html_()
    assert page.count("<tr") == 4
    assert "with method flips and seed 7" in page


def test_a_ranking_cannot_be_changed() -> None:
    result = rank(FREE, method="flips", rng=7)
    assert isinstance(result, Ranking)
    assert not hasattr(result, "__dict__")
    with pytest.raises(FrozenInstanceError):
        result.seed = 8  # type: ignore[misc]  # on purpose

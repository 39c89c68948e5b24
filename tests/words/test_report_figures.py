"""Charts for slides and notebooks: numbers, words, safety and files."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import vl_convert

import evenhand
from evenhand import Ratings
from evenhand._outputs import write_all
from evenhand.columns import Columns, Source
from evenhand.diagnosis.check import Check, check
from evenhand.errors import OptionError, printable
from evenhand.randomness import stream, uniforms
from evenhand.words.figures import figures_of, pictures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.words.figures import Figure

    Figures = dict[str, Figure]

HOSTILE = (
    "<script>alert(1)</script>",
    '=HYPERLINK("http://evil.example/x")',
    "../../etc/passwd",
    "datum['rank'] + \"'; //",
    "שלום עולם",
    "👩‍🚀 rocket",
    "tab\there\x07",
    "a.b[0]" * 80,
    "a.b[0]" * 80 + "other",
)


def figures(ratings: Ratings, top: int, method: str = "adaptive") -> Figures:
    result = evenhand.rank(ratings, method=method, top=top, rng=7)
    return figures_of(ratings, result, check(ratings, rng=7))


@functools.cache
def panel() -> Figures:
    return figures(evenhand.read_ratings("examples/panel.csv"), 4)


@functools.cache
def hostile() -> Figures:
    people = [f"{label} by" for label in HOSTILE[:5]]
    items = [item for _ in people for item in HOSTILE]
    columns: dict[str, object] = {
        "reviewer": [person for person in people for _ in HOSTILE],
        "item": items,
        "score": uniforms(stream(3, "hostile"), len(items)).round(2).tolist(),
    }
    titles = {item: f"{item} <img src=x>" for item in HOSTILE}
    ratings = Ratings.from_columns(columns, Columns(), Source(), titles=titles)
    return figures(ratings, 3)


@functools.cache
def large() -> tuple[Check, Figures]:
    # 200 items with 5 reviews each, by 125 reviewers of 8.
    units = uniforms(stream(7, "figures"), 1200)
    values, noise = units[:200], units[200:]
    items = np.concatenate(
        [np.argsort(noise[200 * turn : 200 * (turn + 1)]) for turn in range(5)]
    )
    reviewers = np.arange(1000) // 8
    scores = np.round(10 * values[items] + 4 * noise + reviewers % 5 * 0.5, 1)
    ratings = Ratings(
        [f"reviewer {code}" for code in reviewers],
        [f"Paper with a rather long name {code}" for code in items],
        scores,
    )
    result, found = evenhand.rank(ratings, top=40, rng=7), check(ratings, rng=7)
    return found, figures_of(ratings, result, found)


def compared(ratings: Ratings, **options: Any) -> Figures:  # noqa: ANN401 - of compare
    return figures_of(ratings, evenhand.compare(ratings, rng=7, **options))


def designs() -> Figures:
    return compared(evenhand.read_ratings("examples/designs.csv"), method="votes")


def stars() -> Figures:
    items, scores = ["x"] * 4 + ["y"] * 3, [3, 4, 4, 4, 3, 3, 4]
    return compared(Ratings(range(7), items, scores))


def points_of(figure: Figure) -> list[dict[str, Any]]:
    """Return the points of the first layer."""
    chart = figure.to_dict()
    first: list[dict[str, Any]] = chart["datasets"][chart["layer"][0]["data"]["name"]]
    return first


def outside_data(value: object) -> Iterator[str]:
    """Go through all names and texts of a chart but those of the data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from outside_data(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            # The text alternative and names of colours are shown as text.
            if name not in ("datasets", "description", "domain", "$schema"):
                yield from outside_data(one)


@pytest.mark.parametrize("make", [panel, hostile, designs, stars])
def test_every_chart_compiles_without_warnings(
    make: Any,  # noqa: ANN401 - makes charts
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, figure in make().items():
        found = vl_convert.vegalite_to_vega(figure.to_dict(), show_warnings=True)
        assert found["marks"], name
        told = capfd.readouterr()
        assert (told.out, told.err) == ("", ""), name


def test_ranks_show_every_interval_and_count_those_that_are_open() -> None:
    assert [*panel()] == ["ranks", "strictness"]
    rows = evenhand.rank(evenhand.read_ratings("examples/panel.csv"), top=4, rng=7)
    chart = panel()["ranks"].to_dict()
    points = points_of(panel()["ranks"])
    assert [(point["low"], point["value"], point["high"]) for point in points] == [
        ((row.rank_low or 0) - 0.5, row.rank, (row.rank_high or 0) + 0.5)
        for row in rows.items
    ]
    assert [point["kind"] for point in points] == [row.side for row in rows.items]
    assert rows.top is not None
    crossing = f" {len(rows.top.open)} items are too close to call at the cut"
    assert crossing in chart["description"]
    caption = " ".join(chart["title"]["subtitle"])
    assert "if the model fitted for them is right" in caption


def test_ranks_without_a_cut_have_one_colour() -> None:
    ratings = evenhand.read_ratings("examples/conference.csv")
    figure = figures_of(ratings, evenhand.rank(ratings, rng=7))["ranks"]
    drawn = vl_convert.vegalite_to_svg(figure.to_json())
    for mark in ("rule mark", "point"):
        marks = re.findall(rf'aria-roledescription="{mark}"[^>]*>', drawn)
        assert len(marks) == 12
        assert all("#0072B2" in one for one in marks)


def test_strictness_shows_reviewers_that_stand_out() -> None:
    checked, drawn = large()
    chart, points = drawn["strictness"].to_dict(), points_of(drawn["strictness"])
    found = checked.reviewers
    offsets = {one.reviewer: one.offset for one in found if one.offset is not None}
    assert len(points) == 40
    for point in points:
        assert point["value"] == pytest.approx(offsets[point["name"]], rel=1e-3)
    caption = " ".join(chart["title"]["subtitle"])
    assert f"40 of {len(offsets)} reviewers" in caption
    words = [one.strictness for one in found]
    assert f"{words.count('strict')} clearly strict" in chart["description"]


def test_of_many_items_those_around_the_cut_are_shown() -> None:
    chart = large()[1]["ranks"].to_dict()
    assert "40 of 200 items" in " ".join(chart["title"]["subtitle"])
    ranks = [point["value"] for point in points_of(large()[1]["ranks"])]
    assert len(ranks) == 40
    assert 40 in ranks
    assert len(json.dumps(chart)) < 50_000


def test_scores_and_shares_of_two_items_are_told_in_words() -> None:
    scores = designs()["scores"]
    points = points_of(scores)
    new = [point["score"] for point in points if point["name"] == "new design"]
    told = f"new design: {len(new)} scores, mean {np.mean(new):.3g}"
    assert told in scores.to_dict()["description"]
    assert stars()["shares"].to_dict()["description"] == (
        "x: 3 25%, 4 75%. y: 3 66.7%, 4 33.3%."
    )


def test_reviewers_of_both_items_that_were_dropped_are_not_shown() -> None:
    ratings = Ratings(["a", "a", "b", "c"], ["x", "y", "x", "y"], [3, 8, 4, 5])
    points = points_of(compared(ratings, method="votes", both="drop")["scores"])
    assert [point["score"] for point in points] == [4, 5]


def test_charts_without_numbers_are_left_out() -> None:
    duels = evenhand.read_ratings("examples/duels.csv")
    assert [*figures(duels, 3)] == ["ranks"]
    for given in (["a", "a"], ["a", "b"]):
        level = Ratings(given, ["x", "y"], [1, 1])
        assert figures_of(level, check(level, rng=7)) == {}


def test_labels_are_data_and_nothing_else() -> None:
    fragments = {printable(label)[:9] for label in HOSTILE}
    assert [*hostile()] == ["ranks", "strictness"]
    for name, figure in hostile().items():
        chart = figure.to_dict()
        for text in outside_data(chart):
            assert not any(part in text for part in fragments), (name, text)
            assert "http" not in text
        assert not re.search(r"[\x00-\x1f\x7f]", json.dumps(chart, ensure_ascii=False))
        names = [point["name"] for point in points_of(figure)]
        assert len(set(names)) == len(names)
        assert max(map(len, names)) <= 28 + 4
    for output in pictures(hostile(), "charts"):
        assert b"<script" not in output.data


def test_the_same_charts_come_from_any_row_order() -> None:
    rows = evenhand.read_ratings("examples/panel.csv").rows()
    turned = [rows[place] for place in np.argsort(uniforms(stream(1, "x"), len(rows)))]
    reviewers, items, scores = (
        [row[name] for row in turned] for name in ("reviewer", "item", "score")
    )
    again = figures(Ratings(reviewers, items, scores), 4)
    for name, figure in panel().items():
        assert again[name].to_dict() == figure.to_dict()


def test_huge_scores_are_drawn_as_finite_numbers() -> None:
    scores = [1e308, -1e308, 5e307, 1e308, 0, 1e307]
    ratings = Ratings(["a"] * 3 + ["b"] * 3, ["x", "y", "z"] * 2, scores)
    for figure in figures_of(ratings, check(ratings, rng=7)).values():
        json.dumps(figure.to_dict(), allow_nan=False)


def test_pictures_are_written_as_png_and_svg(tmp_path: Path) -> None:
    outputs = pictures(panel(), str(tmp_path / "new" / "charts"))
    write_all(outputs)
    paths = [Path(output.path) for output in outputs]
    names = [f"{name}.{suffix}" for name in panel() for suffix in ("svg", "png")]
    assert [path.name for path in paths] == names
    assert paths[1].read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    picture = paths[0].read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "Ranks and their intervals" in picture
    assert "P05" in picture


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    there = tmp_path / "file"
    there.write_text("x", encoding="utf-8")
    with pytest.raises(OptionError, match=r"must be a path .*file/ranks\.svg'"):
        write_all(pictures(panel(), str(there)))

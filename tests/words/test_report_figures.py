"""Charts of reports: numbers, words, safety and files."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pytest
import vl_convert

import evenhand
from evenhand import Ratings
from evenhand._outputs import write_all
from evenhand.columns import Columns, Source
from evenhand.diagnosis.check import Check, check
from evenhand.diagnosis.warp import Warp, warp
from evenhand.errors import OptionError, printable
from evenhand.randomness import stream, uniforms
from evenhand.words.check_figures import (
    check_figures,
    consensus,
)
from evenhand.words.decision_figures import comparison_figures, ranking_figures
from evenhand.words.figures import Figure, pictures, unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.ranking.ranking import Ranking

PANEL = "examples/panel.csv"
HOSTILE = (
    "<script>alert(1)</script>",
    '=HYPERLINK("http://evil.example/x")',
    "../../etc/passwd",
    "datum['rank'] + \"'; //",
    "שלום עולם",
    "👩‍🚀 rocket",
    "tab\there\x07",
    "a.b[0]" * 80,
)


@dataclass
class Case:
    """Ratings and all that is known of them."""

    ratings: Ratings
    result: Ranking
    checked: Check
    warped: Warp | None

    def figures(self) -> list[Figure]:
        return ranking_figures(self.ratings, self.result, self.checked, self.warped)

    def named(self) -> dict[str, Figure]:
        return {figure.name: figure for figure in self.figures()}


def case(
    ratings: Ratings, method: str = "adaptive", *, top: int, draws: int = 4
) -> Case:
    result = evenhand.rank(ratings, method=method, top=top, rng=7)
    warped = None
    if ratings.kind == "scores" and draws:
        warped = warp(ratings, method=method, top=top, draws=draws, rng=7)
    return Case(ratings, result, check(ratings, rng=7), warped)


@pytest.fixture(scope="module")
def panel() -> Case:
    return case(evenhand.read_ratings(PANEL), top=4)


@pytest.fixture(scope="module")
def workshop() -> Case:
    return case(evenhand.read_ratings("examples/workshop/ratings.csv"), "safe", top=3)


@pytest.fixture(scope="module")
def large() -> Case:
    # 1,000 items with 5 reviews each, by 625 reviewers of 8.
    units = uniforms(stream(7, "figures"), 6000)
    values, noise = units[:1000], units[1000:]
    items = np.concatenate(
        [np.argsort(noise[1000 * turn : 1000 * (turn + 1)]) for turn in range(5)]
    )
    reviewers = np.arange(5000) // 8
    scores = np.round(10 * values[items] + 4 * noise + reviewers % 5 * 0.5, 1)
    ratings = Ratings(
        [f"reviewer {code}" for code in reviewers],
        [f"Paper with a rather long name {code}" for code in items],
        scores,
    )
    return case(ratings, top=200, draws=0)


@pytest.fixture(scope="module")
def hostile() -> Case:
    people = [f"{label} by" for label in HOSTILE[:5]]
    reviewers = [person for person in people for _ in HOSTILE]
    items = [item for _ in people for item in HOSTILE]
    scores = uniforms(stream(3, "hostile"), len(items)).round(2).tolist()
    columns: dict[str, object] = {"reviewer": reviewers, "item": items, "score": scores}
    titles = {item: f"{item} <img src=x>" for item in HOSTILE}
    ratings = Ratings.from_columns(columns, Columns(), Source(), titles=titles)
    return case(ratings, top=3)


def designs() -> tuple[Ratings, evenhand.Comparison]:
    ratings = evenhand.read_ratings("examples/designs.csv")
    return ratings, evenhand.compare(ratings, method="votes", rng=1)


def points_of(figure: Figure, name: str) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = json.loads(json.dumps(figure.chart))["datasets"][
        name
    ]
    return points


def outside_data(value: object, *, at_top: bool = True) -> Iterator[str]:
    """Go through all names and texts of a spec but those of the data sets."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from outside_data(one, at_top=False)
    elif isinstance(value, dict):
        for name, one in value.items():
            # Names of choices and the text alternative are shown as text.
            if name in ("labels", "description") or (at_top and name == "datasets"):
                continue
            yield name
            yield from outside_data(one, at_top=False)


def require_compiles(
    figures: Sequence[Figure], capfd: pytest.CaptureFixture[str]
) -> None:
    for figure in figures:
        alt.LayerChart.from_dict(figure.chart)
        found = vl_convert.vegalite_to_vega(figure.titled(), show_warnings=True)
        assert found["marks"], figure.name
        told = capfd.readouterr()
        assert (told.out, told.err) == ("", ""), figure.name


def test_every_figure_is_valid_and_compiles_without_warnings(
    panel: Case, workshop: Case, hostile: Case, capfd: pytest.CaptureFixture[str]
) -> None:
    for one in (panel, workshop, hostile):
        require_compiles(one.figures(), capfd)
    require_compiles(comparison_figures(*designs()), capfd)


def test_a_panel_has_all_figures_that_it_has_numbers_for(panel: Case) -> None:
    assert list(panel.named()) == ["ranks", "warp", "scales", "strictness"]


def test_ranks_show_every_interval_and_count_those_that_cross_the_cut(
    panel: Case,
) -> None:
    figure = panel.named()["ranks"]
    rows = panel.result.items
    points = points_of(figure, "ranks")
    assert [(point["from"], point["to"]) for point in points] == [
        (row.rank_low, row.rank_high) for row in rows
    ]
    open_items = sum(
        (row.rank_low or 0) <= 4 and (row.rank_high or 0) > 4 for row in rows
    )
    assert f" {open_items} items have an interval that crosses the cut" in figure.alt
    assert "if the model fitted for them is right" in figure.caption


def test_bands_change_where_the_group_does(panel: Case) -> None:
    points = points_of(panel.named()["ranks"], "ranks")
    for one, other in itertools.pairwise(points):
        assert (one["band"] == other["band"]) == (one["group"] == other["group"])


def test_the_warp_figure_has_a_row_for_each_item_method_and_strength(
    panel: Case,
) -> None:
    figure = panel.named()["warp"]
    assert panel.warped is not None
    expected = {
        (row.item, found.method, found.strength): row.kept
        for found in panel.warped.survivals
        for row in found.items
    }
    points = points_of(figure, "warp")
    assert {
        (point["item"], point["method"], point["scales"]): point["stays on its side"]
        for point in points
    } == pytest.approx(expected, abs=1e-4)
    assert figure.alt.startswith("Under mild warps 3.8 of the best 4 by adaptive stay")


def test_strictness_lists_reviewers_who_have_one_and_shows_those_that_stand_out(
    large: Case,
) -> None:
    figure = large.named()["strictness"]
    found = {
        one.reviewer: one.offset
        for one in large.checked.reviewers
        if one.offset is not None
    }
    points = points_of(figure, "reviewers")
    assert len(points) == 40
    for point in points:
        assert point["value"] == pytest.approx(found[point["reviewer"]], rel=1e-3)
    assert f"40 of {len(found)} reviewers" in figure.caption
    words = [one.strictness for one in large.checked.reviewers]
    assert f"{words.count('strict')} clearly strict" in figure.alt


def test_the_consensus_leaves_out_the_reviewer_and_the_others_strictness() -> None:
    ratings = Ratings(
        ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
        ["x", "y", "z"] * 3,
        [1, 2, 3, 4, 5, 6.5, 3, 4, 5.2],
    )
    found = check(ratings, rng=7)
    offsets = {one.reviewer: one.offset or 0.0 for one in found.reviewers}
    assert offsets["a"] < 0
    expected = ((4 - offsets["b"]) + (3 - offsets["c"])) / 2
    assert consensus(ratings, found.reviewers)[0] == pytest.approx(expected)


def test_scores_of_two_items_are_told_in_words() -> None:
    ratings, result = designs()
    (scores,) = comparison_figures(ratings, result)
    points = points_of(scores, "scores")
    assert len(points) == ratings.n_ratings
    new = [point["score"] for point in points if point["name"] == "new design"]
    assert f"new design: {len(new)} scores, mean {np.mean(new):.3g}" in scores.alt


def test_pairs_of_reviewers_are_joined_by_lines() -> None:
    ratings = Ratings(
        ["a", "b", "c", "d"], ["x", "y"] * 2, [3, 8, 4, 5], pairs=[1, 1, 2, 2]
    )
    result = evenhand.compare(ratings, method="votes", rng=7)
    figure = comparison_figures(ratings, result)[0]
    points = points_of(figure, "pairs")
    assert [point["score"] for point in points] == [3, 8, 4, 5]
    assert "Lines join" in figure.caption


def test_reviewers_of_both_items_that_were_dropped_are_not_shown() -> None:
    ratings = Ratings(["a", "a", "b", "c"], ["x", "y", "x", "y"], [3, 8, 4, 5])
    result = evenhand.compare(ratings, method="votes", both="drop", rng=7)
    figure = comparison_figures(ratings, result)[0]
    points = points_of(figure, "scores")
    assert [point["reviewer"] for point in points] == ["b", "c"]


def test_figures_without_numbers_are_left_out() -> None:
    duels = evenhand.read_ratings("examples/duels.csv")
    result = evenhand.rank(duels, method="adaptive", rng=7)
    found = ranking_figures(duels, result, check(duels, rng=7), None)
    assert [figure.name for figure in found] == ["ranks"]
    single = Ratings(["a", "a"], ["x", "y"], [1, 2])
    assert check_figures(single, check(single, rng=7)) == []
    level = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 1, 1, 1])
    assert check_figures(level, check(level, rng=7)) == []


def test_labels_are_data_and_nothing_else(hostile: Case) -> None:
    people = hostile.ratings.reviewer_labels
    fragments = {printable(label)[:9] for label in (*HOSTILE, *people)}
    figures = hostile.figures()
    assert {figure.name for figure in figures} == {
        "ranks",
        "warp",
        "scales",
        "strictness",
    }
    for figure in figures:
        written = {**figure.chart, "description": figure.alt}
        texts = list(outside_data(written))
        for text in texts:
            assert not any(part in text for part in fragments), (figure.name, text)
            assert "http" not in text
        assert not {"url", "href", "$schema", "config", "background"} & set(texts)
        shown = json.dumps(written, ensure_ascii=False)
        assert not re.search(r"[\x00-\x1f\x7f]", shown)


def test_every_item_keeps_a_row_of_its_own_when_names_are_cut() -> None:
    labels = [f"{'same beginning ' * 4}{number}" for number in range(3)]
    found = unique(labels)
    assert len(set(found)) == 3
    assert max(map(len, found)) <= 28 + 4


def test_titles_hover(hostile: Case) -> None:
    title = points_of(hostile.named()["ranks"], "ranks")[0]["title"]
    assert title.endswith("<img src=x>") or len(title) > 99


def test_the_same_figures_come_from_any_row_order(panel: Case) -> None:
    rows = panel.ratings.rows()
    turned = [rows[place] for place in np.argsort(uniforms(stream(1, "x"), len(rows)))]
    columns: list[list[str]] = [
        [str(row[name]) for row in turned] for name in ("reviewer", "item")
    ]
    scores = [float(str(row["score"])) for row in turned]
    again = case(Ratings(columns[0], columns[1], scores), top=4)
    assert again.figures() == panel.figures()


def test_a_thousand_items_add_less_than_a_megabyte(
    large: Case, capfd: pytest.CaptureFixture[str]
) -> None:
    figures = large.figures()
    require_compiles(figures, capfd)
    sizes = {figure.name: len(json.dumps(figure.chart)) for figure in figures}
    assert sum(sizes.values()) < 600_000, sizes
    assert "40 of 1,000 items" in figures[0].caption
    ranks = [point["rank"] for point in points_of(figures[0], "ranks")]
    assert ranks == [*range(181, 221)]


def test_huge_scores_are_drawn_as_finite_numbers() -> None:
    scores = [1e308, -1e308, 5e307, 1e308, 0, 1e307]
    ratings = Ratings(["a"] * 3 + ["b"] * 3, ["x", "y", "z"] * 2, scores)
    for figure in check_figures(ratings, check(ratings, rng=7)):
        json.dumps(figure.chart, allow_nan=False)


def test_pictures_are_written_as_png_and_svg(panel: Case, tmp_path: Path) -> None:
    figures = panel.figures()[:2]
    outputs = pictures(figures, str(tmp_path / "new" / "charts"))
    write_all(outputs)
    paths = [Path(output.path) for output in outputs]
    assert [path.name for path in paths] == [
        "ranks.svg",
        "ranks.png",
        "warp.svg",
        "warp.png",
    ]
    assert paths[1].read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    picture = paths[0].read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert figures[0].title in picture
    assert "P05" in picture


def test_hostile_names_are_escaped_in_pictures(hostile: Case) -> None:
    for output in pictures(hostile.figures()[:2], "charts"):
        assert b"<script" not in output.data


def test_a_folder_that_cannot_be_made_is_named(panel: Case, tmp_path: Path) -> None:
    there = tmp_path / "file"
    there.write_text("x", encoding="utf-8")
    with pytest.raises(OptionError, match=r"must be a path .*file/ranks\.svg'"):
        write_all(pictures(panel.figures()[:1], str(there)))

"""The protocol on real ratings, on made-up ones."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from bench import real
from evenhand.diagnosis.warp import warp_scores as put_through
from evenhand.randomness import stream

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = np.random.default_rng(1)
    with (tmp_path / "wine_test.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["reviewer", "item", "score"])
        for reviewer in range(15):
            for item in range(12):
                score = item % 6 + source.normal()
                writer.writerow([f"r{reviewer}", f"{'ab'[item // 6]}_{item}", score])
    lines = [
        "item,value",
        *(f"{'ab'[item // 6]}_{item},{item % 6}" for item in range(12)),
    ]
    (tmp_path / "wine_test_truth.csv").write_text("\n".join(lines))
    rows = ["reviewer,item,score"]
    rows += [f"{item % 7},{item},{item % 5}" for item in range(30)]
    rows += [f"{(item + 3) % 7},{item},{item % 4}" for item in range(30)]
    (tmp_path / "sparse.csv").write_text("\n".join(rows))
    lines = ["item,value", *(f"{item},{item % 5}" for item in range(30))]
    (tmp_path / "sparse_truth.csv").write_text("\n".join(lines))
    (tmp_path / "other_ranks.csv").write_text("reviewer,item,rank\na,x,1\n")
    return tmp_path


def test_only_score_files_are_read_and_names_give_groups(folder: Path) -> None:
    sparse, wine = real.read(folder)
    assert (sparse.name, wine.name) == ("sparse", "wine_test")
    assert wine.groups.tolist() == [0] * 6 + [1] * 6
    assert [cell.load for cell in real.cells(sparse)] == [0]
    unknown = sparse._replace(truth=np.full(30, np.nan))
    assert list(real.cells(unknown)) == []
    # 15 reviewers of 2 items make 30 ratings: at most 6 items with 5 each.
    sizes = {(cell.load, cell.reviews): cell.items for cell in real.cells(wine)}
    assert sizes[2, 5] == 6
    assert sizes[5, 2] == 12
    # Ten ratings of each of at least ten items: only with ten items a reviewer.
    assert sizes[10, 10] == 12
    assert len(sizes) == 10


def test_a_drawn_design_has_the_loads_asked_for(folder: Path) -> None:
    _, wine = real.read(folder)
    for cell in real.cells(wine):
        rows = real.draw(wine, cell, stream(7, "draw"))
        counts = np.bincount(wine.items[rows], minlength=12)
        assert sorted(counts[counts > 0].tolist()) == [cell.reviews] * cell.items
        assert np.bincount(wine.reviewers[rows]).max() <= cell.load


def test_agreement_counts_pairs_of_a_group_that_the_truth_orders() -> None:
    truth = np.array([1.0, 2.0, 2.0, 5.0, np.nan])

    def found(estimates: list[float], truth: Scores, groups: list[int]) -> float:
        order = real.true_order(truth, np.array(groups))
        return real.agreement(np.array(estimates), order).item()

    assert found([1, 2, 3, 4, 0], truth, [0] * 5) == 1
    # Of five ordered pairs, one is tied, one is wrong and three are right.
    assert found([1, 1, 9, 4, 0], truth, [0] * 5) == pytest.approx(0.4)
    assert found([2, 1, 3, 4, 0], truth, [0, 0, 1, 1, 1]) == 0
    assert math.isnan(found([1, 2, 3, 4, 0], truth, [0, 1, 2, 3, 4]))


def test_the_error_of_a_whole_set_is_the_jackknife_over_its_items() -> None:
    source = np.random.default_rng(1)
    truth = np.round(source.normal(size=80), 1)
    groups = np.arange(80) % 3
    estimates = truth + source.normal(size=80)
    order = real.true_order(truth, groups)
    values = real.agreement(estimates, order, whole=True)
    assert values.mean() == pytest.approx(real.agreement(estimates, order).item())
    left = []
    for item in range(80):
        keep = np.arange(80) != item
        part = real.true_order(truth[keep], groups[keep])
        left.append(real.agreement(estimates[keep], part).item())
    jackknife = math.sqrt(79 * np.var(left))
    error = values.std(ddof=1) / math.sqrt(80)
    assert error == pytest.approx(jackknife, rel=0.05)


def test_a_set_with_a_single_design_has_an_error_above_0(folder: Path) -> None:
    sparse, _ = real.read(folder)
    (cell,) = real.cells(sparse)
    rows = real.run(sparse, cell, 2, 7, ["adaptive", "mean"])
    (_, line) = real.report(rows)
    assert line["cells"] == 1
    assert all(float(line[f"{warp} se"]) > 0 for warp in real.WARPS)


def test_the_warps_are_those_of_the_warp_test(folder: Path) -> None:
    _, wine = real.read(folder)
    rows = np.arange(20, 90)
    scores, people = wine.scores[rows], wine.reviewers[rows]
    wanted = put_through(scores, people, stream(7, "mild"), "mild")
    assert (real.warp_data(wine, rows, "mild", stream(7, "mild")) == wanted).all()


def test_two_workers_find_what_one_process_finds(folder: Path) -> None:
    out = folder / "out"
    options = ["--draws", "1", "--workers", "2", "--method", "borda", "--out", str(out)]
    result = CliRunner().invoke(real.main, [str(folder), *options])
    assert result.exit_code == 0, result.output
    wanted = {}
    for data in real.read(folder):
        for cell in real.cells(data):
            for row in real.run(data, cell, 1, 7, ["adaptive", "mean", "borda"]):
                key = (cell.data, cell.load, cell.reviews, row.warp, row.method)
                wanted[key] = float(np.nanmean(row.values))
    with (out / "cells.csv").open(newline="") as lines:
        found = {
            (
                line["data"],
                int(line["load"]),
                int(line["reviews"]),
                line["warp"],
                line["method"],
            ): float(line["kendall"])
            for line in csv.DictReader(lines)
        }
    assert found == wanted
    assert len(found) == 11 * 3 * 3
    assert (out / "real.svg").read_text().startswith("<svg")
    summary = (out / "summary.csv").read_text()
    assert summary.count("10 ratings an item,1,") == 3
    assert "in 10 cells" in result.output
    assert "in 1 cells: 10 ratings" in result.output


def test_marks_are_held_against_the_ratings_that_were_not_drawn(folder: Path) -> None:
    sparse, wine = real.read(folder)
    half = real.half(sparse, stream(7, "half"))
    assert np.bincount(sparse.items[half], minlength=30).tolist() == [1] * 30
    drawn = np.flatnonzero(wine.reviewers < 10)
    means, errors = real._others(wine, drawn)  # noqa: SLF001 - the protocol itself
    others = wine.scores[(wine.items == 3) & (wine.reviewers >= 10)]
    assert means[3] == pytest.approx(others.mean())
    # Noise of standard deviation 1 over five scores; 60 of them tell it to 10%.
    assert errors == pytest.approx(1 / math.sqrt(5), rel=0.5)
    found = real.run_grades(wine, real.Cell("wine_test", 5, 5, 12), 2, 7)
    assert [one.kind for one in found] == ["other reviewers"] * 2
    for one in found:
        assert 0.5 < one.covered <= 1
        assert one.errors[1] < 3 * one.errors[0]
    assert real.grade_table(found).row_count == 2

"""The protocol on real ratings, on made-up ones."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from bench import real
from evenhand._randomness import stream

if TYPE_CHECKING:
    from pathlib import Path


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
    assert len(sizes) == 9


def test_a_drawn_design_has_the_loads_asked_for(folder: Path) -> None:
    _, wine = real.read(folder)
    for cell in real.cells(wine):
        rows = real.draw(wine, cell, stream(7, "draw"))
        counts = np.bincount(wine.items[rows], minlength=12)
        assert sorted(counts[counts > 0].tolist()) == [cell.reviews] * cell.items
        assert np.bincount(wine.reviewers[rows]).max() <= cell.load


def test_agreement_counts_pairs_of_a_group_that_the_truth_orders() -> None:
    truth = np.array([1.0, 2.0, 2.0, 5.0, np.nan])
    one = np.zeros(5, dtype=np.int64)
    assert real.agreement(np.array([1.0, 2, 3, 4, 0]), truth, one) == 1
    # Of five ordered pairs, one is tied, one is wrong and three are right.
    assert real.agreement(np.array([1.0, 1, 9, 4, 0]), truth, one) == pytest.approx(0.4)
    two = np.array([0, 0, 1, 1, 1])
    assert real.agreement(np.array([2.0, 1, 3, 4, 0]), truth, two) == 0
    assert math.isnan(real.agreement(truth, truth, np.arange(5)))


@pytest.mark.parametrize("warp", ["mild", "extreme"])
def test_warps_keep_each_reviewers_order(folder: Path, warp: str) -> None:
    _, wine = real.read(folder)
    rows = np.arange(len(wine.scores))
    scores = real.warped(wine, rows, warp, stream(7, warp))
    for reviewer in range(15):
        own = wine.reviewers == reviewer
        order = np.argsort(wine.scores[own])
        assert (np.diff(scores[own][order]) > 0).all()
    assert np.corrcoef(scores, wine.scores)[0, 1] < 0.95


def test_two_workers_find_what_one_process_finds(folder: Path) -> None:
    out = folder / "out"
    options = ["--draws", "2", "--workers", "2", "--method", "borda", "--out", str(out)]
    result = CliRunner().invoke(real.main, [str(folder), *options])
    assert result.exit_code == 0, result.output
    wanted = {}
    for data in real.read(folder):
        for cell in real.cells(data):
            for row in real.run(data, cell, 2, 7, ["adaptive", "mean", "borda"]):
                key = (cell.data, cell.load, cell.reviews, row.warp, row.method)
                wanted[key] = float(np.nanmean(row.draws))
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
    assert len(found) == 10 * 3 * 3
    assert (out / "real.svg").read_text().startswith("<svg")
    assert (out / "summary.csv").exists()

"""The paper's figures: numbers against golden ones, files, repeatability."""

import csv
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from evenhand.errors import OptionError
from evenhand.lab.figures import (
    FULL,
    ITEMS,
    QUICK,
    REVIEWERS,
    Figure,
    FigureRow,
    Size,
    reproduce,
)
from evenhand.lab.simulation import improvement
from evenhand.randomness import stream, uniforms

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_figures.json").read_text()
)
SMALL = Size(
    rounds=1000, trials=60, samples=60, reviewers=(2, 4, 8, 10), items=(3, 4, 8, 10, 20)
)
TINY = Size(rounds=20, trials=3, samples=5, reviewers=(2, 4), items=(3, 4))
FILES = ("fig1", "fig1a", "fig1b", "fig1c", "fig2", "fig3")
ENDINGS = ("json", "csv", "png", "svg")


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return {figure.name: figure for figure in reproduce(["all"], size=SMALL, rng=7)}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures") / "deep" / "out"
    reproduce("all", folder, size=TINY, rng=7)
    return folder


def only(figure: Figure, **fields: object) -> FigureRow:
    rows = [
        row
        for row in figure.rows
        if all(row[field] == value for field, value in fields.items())
    ]
    assert len(rows) == 1
    return rows[0]


def test_the_default_run_is_as_large_as_the_papers() -> None:
    assert FULL.rounds >= 10_000
    assert (FULL.trials, FULL.samples) == (100, 1000)
    assert set(REVIEWERS) >= {2, 4, 6, 8, 10, 20, 30, 40, 50, 100}
    assert set(ITEMS) >= {*range(3, 11), 15, 20, 30, 40, 50}
    assert QUICK.samples < FULL.samples


@pytest.mark.parametrize("name", ["fig1a", "fig1b", "fig1c"])
def test_figure_1_agrees_with_golden_numbers(
    figures: dict[str, Figure], name: str
) -> None:
    for known in GOLDEN["fig1"]:
        if known["figure"] == name and known["m"] in SMALL.reviewers:
            row = only(figures[name], m=known["m"], method=known["method"])
            # Within five standard errors: one false alarm in 1.7 million.
            off = abs(float(row["improvement"]) - known["improvement"])
            assert off <= 5 * float(row["se"]) + 1e-9


@pytest.mark.parametrize(
    "known", [row for row in GOLDEN["fig2"] if row["n"] in SMALL.items]
)
def test_figure_2_agrees_with_golden_numbers(
    figures: dict[str, Figure], known: dict[str, float]
) -> None:
    row = only(figures["fig2"], n=known["n"], method="flips")
    assert row["m"] == known["m"]
    # Within five standard errors: one false alarm in 1.7 million.
    together = math.hypot(float(row["se"]), known["se"])
    assert abs(float(row["improvement"]) - known["improvement"]) < 5 * together
    each, each_se = (
        float(row[f"improvement_mean_of_trials{part}"]) for part in ("", "_se")
    )
    # The mean of ratios is off by the variance of the trials' own losses, below 1%.
    assert abs(each - known["improvement"]) < 5 * math.hypot(each_se, known["se"]) + 1


def test_the_error_of_a_ratio_agrees_with_leaving_out_each_trial() -> None:
    source = stream(7, "ratio")
    base = 1 + uniforms(source, 200)
    ours = base / 2 + 0.1 * uniforms(source, 200)
    gain, se = improvement(base, ours)
    left = np.array(
        [
            improvement(np.delete(base, trial), np.delete(ours, trial))[0]
            for trial in range(200)
        ]
    )
    jackknife = math.sqrt(199 / 200 * ((left - left.mean()) ** 2).sum())
    assert gain == pytest.approx(100 * (1 - ours.sum() / base.sum()))
    assert se == pytest.approx(jackknife, rel=0.02)


def test_figure_2_shows_zero_for_three_items_and_says_why(
    figures: dict[str, Figure],
) -> None:
    row = only(figures["fig2"], n=3, method="flips")
    assert (row["m"], row["improvement"]) == (1, 0.0)
    assert "no theorem applies" in str(row["note"])
    codes = {notice.code for notice in figures["fig2"].notices}
    assert codes == {"no_theorem", "fair_coin"}


def test_figure_2_has_fair_coins_beside(figures: dict[str, Figure]) -> None:
    for n in (4, 8, 10, 20):
        flips, fair = (
            float(only(figures["fig2"], n=n, method=method)["improvement"])
            for method in ("flips", "fair-coin")
        )
        assert 0 < fair < flips


def test_figure_3_tells_that_the_paper_read_its_maximum_off_a_plot(
    figures: dict[str, Figure],
) -> None:
    (notice,) = figures["fig3"].notices
    assert notice.code == "read_off_plot"
    assert "(25%, 9%)" in notice.message
    assert "(22.74%, 9.05%)" in notice.message


@pytest.mark.parametrize("known", GOLDEN["fig3"])
def test_figure_3_is_exact(figures: dict[str, Figure], known: dict[str, float]) -> None:
    row = only(figures["fig3"], k=known["k"])
    assert row["gamma"] == known["gamma"]
    for side in ("perfect", "biased"):
        assert row[side] == pytest.approx(known[side], abs=1e-9)


def test_every_figure_has_the_documented_fields(figures: dict[str, Figure]) -> None:
    for figure in figures.values():
        document = figure.to_dict()
        assert document["schema"] == "evenhand.figure/1"
        assert document["figure"] == figure.name
        assert document["seed"] == 7
        assert {"rows", "parameters", "warnings", "version"} <= set(document)
    assert {"m", "method", "improvement", "se"} <= set(figures["fig1a"].rows[0])
    assert {"n", "method", "improvement", "se"} <= set(figures["fig2"].rows[0])
    assert {"gamma", "perfect", "biased"} <= set(figures["fig3"].rows[0])


def test_all_files_are_written_and_parse(written: Path) -> None:
    assert sorted(path.name for path in written.iterdir()) == sorted(
        f"{name}.{ending}" for name in FILES for ending in ENDINGS
    )
    for name in FILES:
        document = json.loads((written / f"{name}.json").read_text())
        rows = list(csv.DictReader(io.StringIO((written / f"{name}.csv").read_text())))
        assert document["figure"] == name
        assert len(rows) == len(document["rows"])
        assert list(rows[0]) == list(document["rows"][0])
        assert (written / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (written / f"{name}.svg").read_text().startswith("<svg")


def test_figure_1_is_the_sum_of_its_panels(written: Path) -> None:
    whole = json.loads((written / "fig1.json").read_text())["rows"]
    for name in ("fig1a", "fig1b", "fig1c"):
        own = json.loads((written / f"{name}.json").read_text())["rows"]
        assert own
        assert [row for row in whole if row["figure"] == name] == [
            {"figure": name, **row} for row in own
        ]


def test_a_seed_repeats_every_byte_but_counted_names_whatever_else_is_made(
    written: Path, tmp_path: Path
) -> None:
    (figure,) = reproduce(["fig3"], tmp_path, size=TINY, rng=7)
    (other,) = reproduce(["fig2"], tmp_path, size=TINY, rng=7)
    again = [*tmp_path.iterdir()]
    assert len(again) == 2 * len(ENDINGS)
    for path in again:
        both = [it.read_bytes() for it in (path, written / path.name)]
        first, second = (re.sub(rb"clip\d+", b"", it) for it in both)
        assert first == second
    for one in (figure, other):
        document = json.loads((written / f"{one.name}.json").read_text())
        assert document == json.loads(json.dumps(one.to_dict()))


def test_an_unknown_figure_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(OptionError, match="unknown figure 'fig4', did you mean"):
        reproduce(["fig3", "fig4"], tmp_path / "out", size=TINY)
    assert not (tmp_path / "out").exists()


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OptionError, match="output must be a directory"):
        reproduce(["fig3"], tmp_path / "file", size=TINY)


def test_a_file_that_cannot_be_replaced_leaves_no_half_of_one(tmp_path: Path) -> None:
    (tmp_path / "fig3.json").mkdir()
    with pytest.raises(OptionError, match="this is a folder"):
        reproduce(["fig3"], tmp_path, size=TINY)
    assert [path.name for path in tmp_path.iterdir()] == ["fig3.json"]


def test_a_table_has_a_line_for_each_row(written: Path) -> None:
    lines = (written / "fig3.csv").read_text().splitlines()
    assert len(lines) == 1 + 21
    assert lines[0].startswith("gamma,perfect,biased,")

"""`evenhand reproduce`, as a stranger would use it."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from evenhand.lab import figures
from evenhand.lab.figures import Size
from tests import commands


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Size(rounds=20, trials=2, samples=5, reviewers=(2, 30), items=(3, 4))
    monkeypatch.setattr(figures, "QUICK", small)


run = partial(commands.run, "reproduce")


def test_all_figures_are_printed_and_written(tmp_path: Path) -> None:
    result = run("--quick", "-o", str(tmp_path / "out"), "--seed", "7")
    assert result.exit_code == 0
    for name in ("fig1a", "fig1b", "fig1c", "fig2", "fig3"):
        assert f"{name}: " in result.stdout
        document = json.loads((tmp_path / "out" / f"{name}.json").read_text())
        assert document["seed"] == 7
    assert "read off a plot" in result.stdout
    assert "no theorem applies" in result.stdout
    assert "seed 7" in result.stderr
    assert str(tmp_path) in result.stderr
    # Sampled values carry their standard error.
    line = next(
        line
        for line in result.stdout[result.stdout.index("fig1b") :].splitlines()
        if line.startswith("│ 30")
    )
    votes = line.split("│")[2]
    assert votes.count("\u00b1") == 1
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_one_figure_is_made_alone_with_a_seed_that_is_drawn_and_printed(
    tmp_path: Path,
) -> None:
    result = run("fig3", "--quick", "-o", str(tmp_path))
    assert result.exit_code == 0
    seed = int(result.stderr.rsplit("seed ", 1)[1])
    assert json.loads((tmp_path / "fig3.json").read_text())["seed"] == seed
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "fig3.csv",
        "fig3.json",
        "fig3.png",
        "fig3.svg",
    ]
    assert "22.7411" in result.stdout
    assert "fig2" not in result.stdout


def test_the_same_seed_prints_the_same(tmp_path: Path) -> None:
    one, two = (
        run("fig2", "--quick", "-o", str(tmp_path), "--seed", "7") for _ in range(2)
    )
    assert one.stdout == two.stdout != ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fig4"], "'fig4' is not one of 'fig1'"),
        (["fig3", "--quick", "-o", "/dev/null/x"], "output must be a directory"),
        (["--sed", "7"], "No such option '--sed'"),
        (["fig3", "--seed", "-1"], "--seed"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    words: list[str], message: str
) -> None:
    assert message in commands.refused("reproduce", *words)


def test_a_plain_installation_writes_numbers_and_says_how_to_get_charts(
    tmp_path: Path,
) -> None:
    code = (
        "import sys\n"
        "sys.modules['vl_convert'] = None\n"
        "from evenhand.lab import figures\n"
        "figures.QUICK = figures.Size(20, 2, 5, (2, 30), (3, 4))\n"
        "from evenhand.cli import cli\n"
        "cli(['reproduce', 'all', '--quick', '-o', sys.argv[1], '--seed', '7'])\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "out")]
    result = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    assert result.returncode == 0
    assert "pip install 'evenhand[charts]'" in result.stderr
    names = ("fig1", "fig1a", "fig1b", "fig1c", "fig2", "fig3")
    numbers = {f"{name}{end}" for name in names for end in (".csv", ".json")}
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == numbers


def test_without_the_package_for_charts_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    out = tmp_path / "charts"
    words = ("rank", "examples/panel.csv", "--export", f"charts={out}")
    assert "pip install 'evenhand[charts]'" in commands.refused(*words)
    assert not out.exists()

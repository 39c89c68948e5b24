"""`evenhand simulate`, as a stranger would use it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests import commands

run = partial(commands.run, "simulate")
refused = partial(commands.refused, "simulate")


def test_two_items_are_simulated_by_default() -> None:
    result = run("--trials", "200", "--seed", "7")
    assert result.exit_code == 0
    names = [line.partition(":")[0] for line in result.stdout.splitlines()[1:]]
    assert names == ["coin", "guarded", "votes", "mean", "median", "sign"]
    assert "(se " in result.stdout
    assert result.stderr == "seed 7\n"


def test_rankings_are_measured_against_the_index_order() -> None:
    result = run("--job", "rank", "--items", "4", "--trials", "70", "--json")
    found = json.loads(result.stdout)
    assert found["schema"] == "evenhand.simulate/1"
    names = [row["method"] for row in found["rows"]]
    assert names == ["topological", "flips", "mean-rank", "safe"]
    assert found["rows"][0]["improvement"] == 0
    assert found["parameters"]["losses"] == ["kendall"]
    assert result.stderr == f"seed {found['seed']}\n"


def test_a_seed_repeats_a_run() -> None:
    words = ("--trials", "100", "--json", "--seed", "7")
    assert run(*words).stdout == run(*words, "--workers", "1").stdout
    assert run(*words).stdout != run(*words[:-1], "8").stdout


def test_options_say_what_is_simulated() -> None:
    words = [
        *("--reviewers", "6", "--values", "normal:0:2", "--scales", "power > levels:9"),
        *("--noise", "per-reviewer:0:1", "--design", "panels", "--panels", "3"),
        *("--method", "votes(rational(2))", "--method", "median(lower)"),
        *("--baseline", "mean", "--loss", "zero-one", "--loss", "footrule"),
        *("--trials", "100", "--json"),
    ]
    found = json.loads(run(*words).stdout)
    parameters = found["parameters"]
    scenario = parameters["scenario"]
    assert scenario["reviewers"] == 6
    assert scenario["scales"] == "power > levels:9"
    assert (scenario["design"], scenario["panels"]) == ("panels", 3)
    votes = "votes(weight=rational(gamma=2))"
    assert parameters["methods"] == ["mean", votes, "median(median=lower)"]
    assert len(found["rows"]) == 6
    wrong = {(row["method"], row["loss"]): row["risk"] for row in found["rows"]}
    assert wrong[votes, "footrule"] == pytest.approx(2 * wrong[votes, "zero-one"])


def test_methods_take_options_in_brackets() -> None:
    words = ["--job", "rank", "--items", "5", "--loss", "zero-one", "--loss", "kendall"]
    tried = ["sorter(anchored=False)", "ties(noise=0.5)", "safe(noise=0.1)"]
    for method in tried:
        words += ["--method", method]
    found = json.loads(run(*words, "--trials", "64", "--json", "--seed", "7").stdout)
    assert [row["method"] for row in found["rows"][2::2]] == tried
    assert (
        run(
            "--method", "guarded(eps=0.2, statistic=midrank)", "--trials", "64"
        ).exit_code
        == 0
    )


def test_no_baseline_means_no_improvement() -> None:
    words = ("--baseline", "none", "--trials", "64", "--method", "mean")
    assert "improvement" not in run(*words).stdout
    rows = json.loads(run(*words, "--json").stdout)["rows"]
    assert [row["improvement"] for row in rows] == [None]


def test_what_no_theorem_covers_is_said() -> None:
    result = run("--job", "rank", "--items", "3", "--trials", "64")
    assert result.exit_code == 0
    assert "Note (no_theorem): With 3 items and 1 reviewer no theorem" in result.stderr


def test_a_result_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    assert run("--trials", "64", "--json", "-o", str(file)).stdout == ""
    assert json.loads(file.read_text())["trials"] == 64


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--job", "rnk"], "'rnk' is not one of 'compare', 'rank'"),
        (["--scales", "afine"], "unknown scale 'afine', did you mean 'affine'?"),
        (["--method", "voes"], "unknown method 'voes', did you mean 'votes'?"),
        (
            ["--job", "rank", "--items", "4", "--method", "safe(noise=-0.7)"],
            "noise must be a finite number of at least 0, got -0.7.",
        ),
        (["--loss", "kendal"], "'kendal', did you mean 'kendall'?"),
        (["--design", "halfs"], "unknown design 'halfs', did you mean 'halves'?"),
        (["--reviewers", "5", "--design", "matched"], "reviewers must be even"),
        (["--reviewers", "0"], "0 is not in the range"),
        (
            ["--job", "rank", "--items", "4", "--reviewers", "6"],
            "reviewers must be fewer than 6, the number of pairs of 4 items",
        ),
        (["--trials", "1"], "trials must be a whole number from 2 to"),
        (["case.toml"], "Got unexpected extra argument (case.toml)"),
        (["--trails", "9"], "No such option '--trails'"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], sentence: str) -> None:
    assert sentence in refused(*words)


def test_the_help_ends_with_an_example_that_runs() -> None:
    lines = run("--help").stdout.splitlines()
    place = next(i for i, line in enumerate(lines) if line.strip() == "Example:")
    words = lines[place + 1].split()
    assert words[:2] == ["evenhand", "simulate"]
    result = run(*words[2:])
    assert result.exit_code == 0
    assert "100%" in result.stdout


def processes_of(group: int) -> set[str]:
    """Return the processes of a session that still run, from Linux's list of them."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            if fields[3] == str(group) and fields[0] != "Z":
                found.add(place.name)
    return found


def gone_within(group: int, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while processes_of(group) and time.monotonic() < limit:
        time.sleep(0.1)
    return not processes_of(group)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize(
    ("number", "begun"),
    [(signal.SIGINT, 3), (signal.SIGINT, 2), (signal.SIGTERM, 2), (signal.SIGKILL, 3)],
)
def test_workers_end_with_their_parent(
    tmp_path: Path, number: signal.Signals, begun: int
) -> None:
    output = tmp_path / "out.json"
    words = ["simulate", "--reviewers", "100", "--trials", "100000000"]
    words += ["--workers", "2"]
    program = "from evenhand.cli import main; main()"
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", program, *words, "-o", str(output)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            # The parent, the tracker of its resources, and workers.
            while len(processes_of(process.pid)) <= begun:
                assert process.poll() is None
                time.sleep(0.1)
            # They work by then, or still import.
            time.sleep(0.6 if begun > 2 else 0.0)
            if number is signal.SIGINT:  # the keyboard's, to all of them
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
            # Two seconds on an idle machine; one that has much to do takes longer.
            assert gone_within(process.pid, 30.0)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        said = process.stderr.read() if process.stderr else ""
    if number is signal.SIGINT:
        assert process.returncode == 130
        assert said == "evenhand: Interrupted.\n"
    else:
        assert process.returncode == -number
    assert not list(tmp_path.iterdir())


def test_levels_show_what_a_coarse_scale_costs(tmp_path: Path) -> None:
    """Two levels tie more, and save fewer of a coin's errors, than a hundred."""
    chart = tmp_path / "levels.svg"
    words = (
        "--levels",
        "2,5,100",
        "--method",
        "mean",
        "--trials",
        "640",
        "--seed",
        "7",
    )
    result = run(*words, "--json", "--chart", str(chart))
    assert result.exit_code == 0
    figure = json.loads(result.stdout)
    assert figure["parameters"]["scenario"]["scales"] == "power"
    rows = figure["rows"]
    assert [row["levels"] for row in rows] == [2, 5, 100]
    lost, saved = ([row[name] for row in rows] for name in ("lost", "improvement"))
    assert lost == sorted(lost, reverse=True)
    assert lost[0] > 10
    assert lost[-1] < 1
    assert saved[0] < saved[-1]
    assert chart.read_text().startswith("<svg")
    assert "guarantee lost to ties" in chart.read_text()
    assert "levels" in run(*words).stdout


def test_ranking_with_levels_loses_the_guarantee_to_any_tie() -> None:
    words = ("--job", "rank", "--levels", "2,100", "--items", "4", "--trials", "64")
    figure = json.loads(run(*words, "--json").stdout)
    lost = {row["levels"]: row["lost"] for row in figure["rows"]}
    assert lost[2] > 50 > lost[100]


def test_levels_that_are_none_are_refused() -> None:
    assert "levels must be whole numbers" in refused("--levels", "2,a")
    assert "at least 2 levels" in refused("--levels", "1")
    assert "chart must be a .svg or .png, with --levels" in refused("--chart", "a.svg")

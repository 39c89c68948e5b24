"""The benchmark: what it prints, and that it prints nothing where sides disagree."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from click.testing import CliRunner

from bench import power, speed
from bench.jobs import JOBS
from bench.measure import (
    MOST_CALLS,
    Data,
    Job,
    Result,
    Side,
    agreed,
    exponent,
    measure,
    peak_memory,
)

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def same(_: Data, ours: int, theirs: int) -> str:
    return agreed("equal", right=ours == theirs)


def job(*peers: Side, title: str = "sum", right: bool = True) -> Job:
    return Job(
        "sum",
        title,
        "numbers",
        (10, 20),
        (20,),
        (2, 4),
        lambda size: Data(numbers=range(size)),
        lambda data: sum(data.numbers),
        lambda *_: agreed("checked", right=right),
        Side("nothing", lambda _: None),
        peers,
    )


RIGHT = Side("right", lambda data: sum(data.numbers), same)
WRONG = Side("wrong", lambda data: sum(data.numbers) + 1, same)
MISSING = Side("absent", lambda _: 0, same, needs="no_such_module")
SMALL = Side("small", lambda data: sum(data.numbers), same, most=10)


def measured(tried: Job) -> dict[int, Result]:
    return {size: measure(tried, size, 2) for size in tried.sizes}


def test_a_row_whose_sides_disagree_is_not_printed_and_is_named() -> None:
    tried = job(RIGHT, WRONG)
    found = measured(tried)
    assert [row["peer"] for row in speed.rows(tried, found)] == ["right"]
    assert list(speed.left_out(tried, found)) == [
        {"job": "sum", "text": f"{size} numbers, wrong: equal: not so"}
        for size in (10, 20)
    ]


def test_nothing_is_printed_if_our_own_answer_fails_its_test() -> None:
    tried = job(RIGHT, right=False)
    found = measured(tried)
    assert not list(speed.rows(tried, found))
    texts = [line["text"] for line in speed.left_out(tried, found)]
    assert "20 numbers, ours: checked: not so" in texts
    assert speed.growth(tried, found)["exponent"] is None


def test_a_missing_peer_is_named_and_one_beyond_its_size_is_not() -> None:
    tried = job(MISSING, SMALL)
    found = measured(tried)
    (row,) = speed.rows(tried, found)
    assert row["peer"] == "absent (missing)"
    assert row["theirs"] is None
    assert "small" in found[10].seconds
    assert "small" not in found[20].seconds


def test_a_peer_that_runs_a_part_is_charged_for_the_whole() -> None:
    sizes: list[int] = []
    part = Side("part", lambda data: sizes.append(len(data.numbers)), share=1e-9)
    found = measure(job(part), 10, 3)
    # Once to compare, and twice as often as short calls are repeated.
    assert sizes == [10] * (1 + 2 * MOST_CALLS)
    assert found.seconds["part"] > 100 * found.seconds["ours"]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_is_that_power(power: float) -> None:
    times = {size: 3e-7 * size**power for size in (10, 100, 1000, 10_000)}
    assert exponent(times) == pytest.approx(power)


def test_one_size_has_no_exponent() -> None:
    assert exponent({10: 1.0}) is None


def test_a_row_has_times_ratios_and_memory() -> None:
    row = dict.fromkeys(("job", "size", "peer", "limit"), "x")
    times = {"ours": 0.002, "theirs": 3.0, "least": 0.001}
    memory = {"memory": 12.3, "their_memory": 4567.0}
    shown = speed.cells({**row, **times, **memory})
    assert shown[2:] == [
        *("2 ms", "x", "3 s", "1,500x"),
        *("x", "1 ms", "2x", "12 MB, 4,567 MB"),
    ]


def test_times_are_written_with_three_digits() -> None:
    times = [None, 1.234e-7, 9.994e-4, 9.996e-4, 0.9996, 12.34, 1234.4]
    assert [speed.duration(seconds) for seconds in times] == [
        *("", "0.123 us", "999 us", "1 ms", "1 s", "12.3 s", "1,234 s")
    ]


def test_the_page_has_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = job(RIGHT, WRONG, title="sum of numbers")
    monkeypatch.setattr(speed, "JOBS", [tried])
    made = speed.document(
        {"sum": measured(tried)}, rounds=2, quick=False, machine={"cores": 2}
    )
    text = speed.page(json.loads(json.dumps(made)))
    for part in ("Machine", "Results", "Growth", "Agreement", "Left out"):
        assert f"\n## {part}\n" in text
    assert "2 rounds" in text
    assert "- cores: 2" in text
    (row,) = [line for line in text.splitlines() if "| right |" in line]
    assert row.count("|") == len(speed.TITLES) + 1
    assert "no results" not in text


def test_a_busy_machine_writes_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "JOBS", [])
    monkeypatch.setattr("os.getloadavg", lambda: (1.6, 0.0, 0.0))
    out = tmp_path / "out"
    refused = CliRunner().invoke(speed.main, ["--out", str(out)])
    assert refused.exit_code == 1
    assert "load average is 1.60" in refused.output
    assert not out.exists()
    CliRunner().invoke(speed.main, ["--out", str(out), "--force"])
    assert "although the machine had other work" in (out / "performance.md").read_text()


def test_a_quiet_machine_writes_what_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 0.0, 0.0))
    monkeypatch.setattr(speed, "peak_memory", lambda *_: 1.0)
    options = ["--quick", "--only", "kendall", "--rounds", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(speed.main, options)
    assert result.exit_code == 0, result.output
    made = json.loads((tmp_path / "performance.json").read_text())
    page = (tmp_path / "performance.md").read_text()
    assert page == speed.page(made)
    assert [row["peer"] for row in made["rows"]] == ["scipy"]
    assert made["left_out"] == []
    assert "although" not in page
    assert page.partition("## Results")[2].strip() in result.output


def test_a_job_that_is_measured_again_takes_its_own_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = job(RIGHT, title="sum"), job(RIGHT, WRONG, title="sum, again")
    both = [one, replace(two, name="again")]
    monkeypatch.setattr(speed, "JOBS", both)

    def made(*tried: Job, cores: int = 2) -> dict[str, Any]:
        found = {each.name: measured(each) for each in tried}
        return speed.document(found, rounds=2, quick=False, machine={"cores": cores})

    old, new = made(*both), made(both[1])
    found = speed.merged(old, new)
    assert found["rows"] == [old["rows"][0], new["rows"][0]]
    assert [entry["job"] for entry in found["growth"]] == ["sum", "sum, again"]
    assert found["left_out"] == new["left_out"]
    found = speed.merged(old, made(one))
    assert [row["job"] for row in found["rows"]] == ["sum", "sum, again"]
    # What was left out of the other one is still said.
    assert found["left_out"] == old["left_out"]
    with pytest.raises(ClickException, match="another machine"):
        speed.merged(old, made(one, cores=4))


def test_memory_is_that_of_the_call_alone() -> None:
    order = next(job for job in JOBS if job.name == "order")
    # Twelve bytes a pair; pairs themselves take sixteen and the doubles eight.
    assert 5 < peak_memory(order, 1_000_000, "ours") < 25


@pytest.mark.parametrize("tried", JOBS, ids=lambda tried: tried.name)
def test_every_job_is_complete(tried: Job) -> None:
    assert set(tried.shown) <= set(tried.sizes)
    assert list(tried.sizes) == sorted(tried.sizes)
    assert len(tried.sizes) == len(tried.quick)
    assert len({job.name for job in JOBS}) == len(JOBS)
    names = [side.name for side in (*tried.peers, tried.limit)]
    assert len({"ours", *names}) == len(names) + 1


@pytest.mark.skipif(not PAGE.exists(), reason="the page has not been made yet")
def test_the_page_of_the_docs_is_what_the_figures_make() -> None:
    figures = json.loads(PAGE.with_suffix(".json").read_text())
    assert not figures["quick"]
    assert PAGE.read_text() == speed.page(figures)


def test_the_power_of_compare_is_a_table_of_shares_beside_the_usual_tests() -> None:
    found = CliRunner().invoke(power.main, ["--trials", "2", "--size", "8"])
    head, _, *rows = found.stdout.splitlines()
    assert head.endswith("| midrank (default) | trimmed | Welch | Mann-Whitney |")
    assert len(rows) == len(power.SCALES) * len(power.SHIFTS)
    assert all(0 <= float(row.split("|")[4]) <= 1 for row in rows)

"""The benchmark: what it measures, what it leaves out, and the page."""

import json
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from click.testing import CliRunner

from bench import power, speed
from bench.jobs import JOBS, Job

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def number(value: float) -> Any:  # noqa: ANN401 - a maker of calls
    return lambda: lambda: value


def job(**fields: Any) -> Job:  # noqa: ANN401 - fields of a job
    told = {"name": "sum", "title": "a sum", "ours": number(1.0), "most": 2.0}
    return Job(**{**told, **fields})


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a function
    """Run sides here, from a list of one job, instead of in processes."""

    def use(tried: Job) -> dict[str, Any]:
        def here(_: Job, side: str, __: Path) -> tuple[dict[str, Any], Any]:
            make = tried.ours if side == "evenhand" else tried.peers[side]
            if not callable(make):
                raise ClickException("a command")
            told = {"side": side, "whole": 1.5, "call": 0.25, "megabytes": 99.6}
            return told, make()()

        monkeypatch.setattr(speed, "by_call", here)
        return speed.measure(tried)

    return use


def test_a_peer_that_disagrees_gets_no_figures(only: Any) -> None:  # noqa: ANN401 - a function
    peers = {"right": number(1.0), "wrong": number(3.0)}
    near = {"agree": lambda ours, theirs: 1 - abs(ours - theirs), "least": 0.9}
    rows = list(speed.rows(only(job(peers=peers, **near))))
    assert rows == [
        "| a sum | evenhand |  | 1.5 | 0.25 | 100 | 2 |",
        "|  | right |  | 1.5 | 0.25 | 100 |  |",
        "|  | wrong | not measured: another answer | | | | |",
    ]


def test_a_peer_that_fails_is_named(only: Any) -> None:  # noqa: ANN401 - a function
    def absent() -> Any:  # noqa: ANN401 - never returns
        raise ClickException("absent failed")

    found = only(job(peers={"absent": absent}))
    assert found["sides"][1] == {"side": "absent", "missing": "absent failed"}


def test_a_process_is_measured_and_a_failing_one_is_not(tmp_path: Path) -> None:
    used, peak, text = speed.run(
        ["python3", "-c", "print(sum(range(10**6)))"], tmp_path
    )
    assert 0 < used < 60
    assert peak > 1
    assert text == "499999500000\n"
    with pytest.raises(ClickException, match=r"failed: .*no such thing"):
        speed.run(["python3", "-c", "raise SystemExit('no such thing')"], tmp_path)


def test_small_jobs_run_and_their_sides_agree() -> None:
    for name in ("panel", "stars"):
        tried = next(one for one in JOBS if one.name == name)
        assert callable(tried.ours)
        ours = tried.ours()()
        theirs = tried.peers.get("scipy mannwhitneyu")
        if theirs is not None and tried.agree is not None:
            assert tried.agree(ours, theirs()()) >= tried.least


def test_jobs_have_names_of_their_own_and_a_limit() -> None:
    names = [one.name for one in JOBS]
    assert len(set(names)) == len(names)
    assert all(one.most > 0 for one in JOBS)


def test_the_page_is_what_its_numbers_say() -> None:
    document = json.loads(PAGE.with_suffix(".json").read_text())
    assert PAGE.read_text() == speed.page(document)
    names = {one.name for one in JOBS}
    assert {found["job"] for found in document["jobs"]} <= names


def test_the_power_of_compare_is_a_table_of_shares_beside_the_usual_tests() -> None:
    found = CliRunner().invoke(power.main, ["--trials", "2", "--size", "8"])
    head, _, *rows = found.stdout.splitlines()
    assert head.endswith("| midrank (default) | trimmed | Welch | Mann-Whitney |")
    assert len(rows) == len(power.SCALES) * len(power.SHIFTS)
    assert all(0 <= float(row.split("|")[4]) <= 1 for row in rows)

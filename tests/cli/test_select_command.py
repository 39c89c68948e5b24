"""`evenhand select`: chances, draws, records that an audit replays, refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.cli import cli
from evenhand.records.canonical import contents, finish
from tests.commands import FIELDS, refused, run

CONFERENCE = "examples/conference.csv"
CHOOSE = ("select", CONFERENCE, "--places", "4", "--rule", "cut")
INTERVALS = (
    "item,low,high,field,cost\na,5,7,law,2\nb,3,6,law,1\nc,1,4,art,1\nd,0,2,art,3\n"
)


@pytest.fixture
def intervals(tmp_path: Path) -> str:
    path = tmp_path / "intervals.csv"
    path.write_text(INTERVALS, encoding="utf-8")
    return str(path)


def test_chances_are_shown_and_nothing_is_drawn_without_being_asked() -> None:
    shown = run(*CHOOSE)
    assert shown.exit_code == 0
    assert "Lottery:" in shown.stdout
    assert "not drawn" not in shown.stdout
    plain = json.loads(run(*CHOOSE, "--json").stdout)
    assert list(plain) == FIELDS["select"]
    assert list(plain["rows"][0]) == FIELDS["select.rows"]
    assert list(plain["rules"][0]) == FIELDS["select.rules"]
    assert plain["draw"] is None
    assert {row["drawn"] for row in plain["rows"]} == {None}


def test_a_sealed_draw_is_replayed_with_its_secret(tmp_path: Path) -> None:
    seal, secret, record = (str(tmp_path / name) for name in ("s", "k", "r.json"))
    run("assign", "--seal", seal, "--secret", secret)
    sealed = ("--secret", secret, "--seal", seal)
    more = (*sealed, "--sealed-before", "scores", "--record", record)
    drawn = run(*CHOOSE, "--draw", *more)
    assert drawn.exit_code == 0, drawn.stderr
    told = json.loads(Path(record).read_text("utf-8"))["result"]
    assert told["draw"]["sealed_before"] == "scores"
    assert told["seed"] is None
    open_audit = run("audit", record, CONFERENCE)
    assert open_audit.exit_code == 0
    assert "what was drawn needs the secret" in open_audit.stdout
    whole = run("audit", record, CONFERENCE, *sealed)
    assert whole.exit_code == 0
    assert "ok      draw secret" in whole.stdout
    run("assign", "--seal", f"{seal}2", "--secret", f"{secret}2")
    assert run("audit", record, CONFERENCE, "--seal", f"{seal}2").exit_code == 1
    assert "seal of the secret" in refused(
        *CHOOSE, "--draw", *sealed[:2], "--seal", f"{seal}2"
    )


def swap_drawn(result: dict[str, Any]) -> None:
    lucky = next(
        row for row in result["rows"] if row["drawn"] and row["group"] == "lottery"
    )
    unlucky = next(row for row in result["rows"] if not row["drawn"])
    lucky["drawn"], unlucky["drawn"] = False, True


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "places": lambda result: result.update(places=5),
    "asked places": lambda result: result["parameters"].update(places=5),
    "interval": lambda result: result["rows"][3].update(low=9.0),
    "chance": lambda result: result["rows"][3].update(chance_exact="1", chance=1.0),
    "draw": swap_drawn,
    "seed": lambda result: result.update(seed=8),
    "worst case": lambda result: result.update(worst_case=3.9),
    "no reason": lambda result: result["parameters"]["fixed"].update(G=["in", ""]),
    "no places": lambda result: result["parameters"].update(places=99),
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("select") / "record.json"
    words = ("--draw", "--seed", "7", "--fix-in", "G=won the appeal")
    drawn = run(*CHOOSE, *words, "--record", str(path))
    assert drawn.exit_code == 0, drawn.stderr
    assert run("audit", str(path), CONFERENCE).exit_code == 0
    record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert record["result"]["parameters"]["fixed"] == {"G": ["in", "won the appeal"]}
    return record


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_records_differ(
    forgery: str, record: dict[str, Any], tmp_path: Path
) -> None:
    forged = json.loads(json.dumps(contents(record)))
    FORGERIES[forgery](forged["result"])
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(finish(forged)), encoding="utf-8")
    audit = run("audit", str(path), CONFERENCE)
    assert audit.exit_code == 1, audit.output
    assert "First difference, in the decision" in audit.stdout


def test_intervals_and_quotas_come_from_a_table(intervals: str, tmp_path: Path) -> None:
    record, table = str(tmp_path / "r.json"), str(tmp_path / "t.csv")
    words = ("select", "--intervals", intervals, "--draw", "--seed", "3")
    quota = ("--places", "2", "--quota", "field=art:1-1", "--export", table)
    drawn = run(*words, *quota, "--record", record)
    assert drawn.exit_code == 0, drawn.output
    chosen = pl.read_csv(table).filter(pl.col("drawn"))
    assert len(chosen) == 2
    assert chosen["item"].is_in(["c", "d"]).sum() == 1
    assert run("audit", record, intervals).exit_code == 0
    Path(intervals).write_text(INTERVALS.replace("b,3", "b,2"), encoding="utf-8")
    assert run("audit", record, intervals).exit_code == 1


def test_a_budget_takes_the_place_of_places(intervals: str, tmp_path: Path) -> None:
    record = tmp_path / "r.json"
    words = (
        "select",
        "--intervals",
        intervals,
        "--rule",
        "cut",
        "--draw",
        "--seed",
        "3",
    )
    drawn = run(*words, "--budget", "4", "cost", "--record", str(record))
    assert drawn.exit_code == 0, drawn.output
    assert "Budget: 4. A draw costs 3; this one costs 3 and leaves 1." in drawn.stdout
    assert run("audit", str(record), intervals).exit_code == 0
    forged = contents(json.loads(record.read_text("utf-8")))
    forged["result"]["parameters"]["costs"]["a"] = 1.0
    record.write_text(json.dumps(finish(forged)), encoding="utf-8")
    assert run("audit", str(record), intervals).exit_code == 1


def test_pools_are_selected_each_for_itself(tmp_path: Path) -> None:
    pools, reviews, record = (str(tmp_path / name) for name in ("p", "r.csv", "s.json"))
    people = ("examples/applications.csv", "--item-column", "application")
    drawn = run(
        *("assign", "--items", people[0], "--reviewers", *people),
        *("--reviewer-column", "applicant", "--design", "two-pools", "-o", reviews),
        *("--per-reviewer", "2", "--seed", "7", "--record", pools),
    )
    assert drawn.exit_code == 0, drawn.output
    table = pl.read_csv(reviews)
    score = table["item"].str.slice(1).cast(pl.Int64)
    table.with_columns(score=score + pl.arange(table.height) % 3).write_csv(reviews)
    words = ("select", reviews, "--assignment", pools, "--places", "2", "--pool")
    items = [
        {row["item"] for row in json.loads(run(*words, pool, "--json").stdout)["rows"]}
        for pool in ("1", "2")
    ]
    assert not items[0] & items[1]
    assert len(items[0] | items[1]) == table["item"].n_unique()
    made = run(*words, "2", "--draw", "--seed", "3", "--record", record)
    assert made.exit_code == 0, made.output
    assert "own item" in run(*words, "2", "--explain").stdout
    audit = ("audit", record, reviews, "--assignment", pools)
    assert run(*audit).exit_code == 0, run(*audit).output
    forged = contents(json.loads(Path(record).read_text("utf-8")))
    forged["result"]["parameters"]["pool"] = 1
    Path(record).write_text(json.dumps(finish(forged)), encoding="utf-8")
    assert run(*audit).exit_code == 1


def test_comparisons_may_be_free_of_noise(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("winner,loser\na,b\na,c\nb,d\n", encoding="utf-8")
    chosen = run("select", str(votes), "--places", "2", "--noise-free", "--json")
    assert chosen.exit_code == 0, chosen.output
    assert json.loads(chosen.stdout)["intervals"]["source"] == "comparisons"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--places", "12"), "places must be a whole number from 1 to 11"),
        (("--places", "4", "--rule", "cutt"), "did you mean 'cut'?"),
        (("--places", "4", "--draw"), "draw must come with a seed or a secret"),
        (("--places", "4", "--seed", "1"), "must come with --draw"),
        (("--places", "4", "--fix-in", "A="), "with a reason"),
        (("--places", "4", "--quota", "item"), "--quota must be as field=law:2-5"),
        (
            ("--places", "4", "--quota", "item=A:2-"),
            "'item=A:2-' with 1 instead of 2",
        ),
        (("--budget", "x", "cost"), "Invalid value for '--budget'"),
        (("--places", "4", "--intervals", CONFERENCE), "FILE or --intervals"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in refused("select", CONFERENCE, *words)


def test_at_most_24_options_are_listed() -> None:
    command = cli.get_command(cli.make_context("evenhand", ["methods"]), "select")
    assert command is not None
    shown = [param for param in command.params if not getattr(param, "hidden", False)]
    assert sum(param.opts[0].startswith("-") for param in shown) <= 24

"""`evenhand audit`: exit 0 if nothing differs, 1 if something does, 2 if not ours."""

import json
from functools import partial
from pathlib import Path

import pytest

from evenhand import compare, read_ratings
from evenhand.designs.drawing import assign
from evenhand.records.canonical import finish
from evenhand.records.record import (
    assignment_record,
    seal_record,
    secret_record,
    text_of,
    write_decision,
)
from tests import commands

SECRET = "0f" * 32
PEOPLE = ["Anna", "Bo", "Cy", "Di"]
CHAIN = ("--assignment", "a.json", "--seal", "seal.json", "--secret", "secret.json")


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    drawn = assign(["x", "y"], PEOPLE, design="halves", secret=SECRET)
    Path("a.json").write_text(text_of(assignment_record(drawn)))
    Path("seal.json").write_text(text_of(seal_record(SECRET)))
    Path("secret.json").write_text(text_of(secret_record(SECRET)))
    lines = [f"{who},{what},{len(str(who))}" for who, what in drawn.rows]
    Path("r.csv").write_text("\n".join(["reviewer,item,score", *lines]))
    decision = compare(read_ratings("r.csv"), method="votes", rng=4)
    write_decision(decision, "d.json")


run = partial(commands.run, "audit")
refused = partial(commands.refused, "audit")


def test_a_whole_chain_that_fits_exits_zero() -> None:
    result = run("d.json", "r.csv", *CHAIN)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("Nothing differs.\n")
    assert SECRET not in result.output


def test_what_is_missing_is_named() -> None:
    result = run("a.json")
    assert result.exit_code == 0
    assert "could not be checked" in result.stdout
    assert "seed is still sealed" in result.stdout


def test_an_edited_record_exits_one_and_names_the_field() -> None:
    text = Path("d.json").read_text()
    record = json.loads(text)
    record["result"]["p_first"] = 0.999
    Path("d.json").write_text(json.dumps(record))
    result = run("d.json", "r.csv", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["schema"] == "evenhand.audit/1"
    assert found["identical"] is False
    assert found["checks"][0]["field"] == "result.p_first"
    assert found["checks"][0]["found"] == 0.999


def test_an_edit_with_fitting_hashes_exits_one_by_replay() -> None:
    record = json.loads(Path("d.json").read_text())
    result = record["result"]
    result["winner"] = next(
        item for item in result["items"] if item != result["winner"]
    )
    body = {k: v for k, v in record.items() if k not in ("hashes", "sha256")}
    Path("d.json").write_text(text_of(finish(body)))
    done = run("d.json", "r.csv")
    assert done.exit_code == 1
    assert "First difference, in the decision: result.winner: expected" in done.stdout


def test_a_changed_rating_exits_one() -> None:
    text = Path("r.csv").read_text()
    Path("r.csv").write_text(
        text.replace("Anna,x,4", "Anna,x,9").replace("Anna,y,4", "Anna,y,9")
    )
    done = run("d.json", "r.csv")
    assert done.exit_code == 1
    assert "result.data.sha256" in done.stdout


def test_a_rating_by_somebody_else_exits_one_and_is_named() -> None:
    swap = Path("r.csv").read_text().replace("Anna,", "Eve,")
    Path("r.csv").write_text(swap)
    done = run("a.json", "r.csv")
    assert done.exit_code == 1
    assert "by reviewer 'Eve'" in done.stdout


def test_columns_and_output_can_be_named() -> None:
    text = Path("r.csv").read_text().replace("reviewer,item,score", "who,what,how")
    Path("r.csv").write_text(text)
    columns = ("--reviewer", "who", "--item", "what", "--score", "how")
    done = run("d.json", "r.csv", *columns, "-o", "audit.txt")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert "Nothing differs" in Path("audit.txt").read_text()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("none.json",), "cannot be read"),
        (("r.csv",), "read as JSON"),
        (("seal.json",), "Give the seal with --seal"),
        (("a.json", "none.csv"), "There is no such file"),
        (("a.json", "--assignment", "a.json"), "Leave out --assignment"),
        (("a.json", "--seal", "secret.json"), "This must be a seal"),
        (("d.json", "--assignment", "d.json"), "must be an assignment"),
        (("d.json", "--assignment", "r.csv"), "read as JSON"),
        ((), "RECORD"),
    ],
)
def test_what_cannot_be_read_exits_two(words: tuple[str, ...], reason: str) -> None:
    assert reason in refused(*words)


def test_a_record_that_was_cut_off_exits_two_in_a_sentence() -> None:
    data = Path("d.json").read_bytes()
    for end in range(1, len(data) - 2, 40):
        Path("cut.json").write_bytes(data[:end])
        assert "cut.json:" in refused("cut.json", "r.csv")

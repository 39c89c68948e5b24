"""`evenhand assign`: from lists to a sealed assignment, as a stranger would use it."""

import csv
import io
import json
import stat
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from evenhand import read_ratings
from evenhand.designs.drawing import seal_of
from evenhand.errors import RecordError
from evenhand.records.canonical import contents, finish
from evenhand.records.record import load_assignment, read_hex, read_record, text_of
from tests import commands


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("items.txt").write_text("p1\np2\np3\np4\n")
    Path("two.txt").write_text("x\ny\n")
    Path("people.csv").write_text(
        "name,reviewer,pair,panel\nA,Anna,1,n\nB,Bo,2,n\nC,Cy,2,s\nD,Di,1,s\n"
    )
    Path("conflicts.csv").write_text("reviewer,item\nBo,p1\nBo,p2\n")


run = partial(commands.run, "assign")
audited = partial(commands.run, "audit")


def refused(*words: str) -> str:
    before = sorted(Path().iterdir())
    message = commands.refused("assign", *words)
    assert sorted(Path().iterdir()) == before
    return message


SEALED = ("--seal", "seal.json", "--secret", "secret.json")
LISTS = ("--items", "items.txt", "--reviewers", "people.csv")
TWO = ("--items", "two.txt", "--reviewers", "people.csv")
BALANCED = (*LISTS, "--design", "balanced", "--per-reviewer", "2")


def rows(result: Result) -> list[dict[str, str]]:
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_prints_rows_and_the_seed_that_repeats_them() -> None:
    first = run(*BALANCED, "--conflicts", "conflicts.csv")
    seed = first.stderr.split("seed ")[1].strip()
    again = run(*BALANCED, "--conflicts", "conflicts.csv", "--seed", seed)
    assert rows(first) == rows(again)
    assert {"reviewer": "Bo", "item": "p3"} in rows(first)
    assert {"reviewer": "Bo", "item": "p4"} in rows(first)
    assert len(rows(first)) == 8
    assert "Every feasible assignment was equally likely." in first.stderr


def test_the_order_of_lines_does_not_matter() -> None:
    first = rows(run(*BALANCED, "--seed", "7"))
    Path("items.txt").write_text("p4\np2\np1\np3\n")
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]))
    assert rows(run(*BALANCED, "--seed", "7")) == first


@pytest.mark.parametrize(
    ("design", "column"), [("matched", "pair"), ("panels", "panel")]
)
def test_pairs_and_panels_are_found_and_go_with_the_rows(
    design: str, column: str
) -> None:
    found = rows(run(*TWO, "--design", design, "--seed", "3"))
    item = {row["reviewer"]: row["item"] for row in found}
    assert {row["reviewer"]: row[column] for row in found}["Cy"] in ("2", "s")
    assert (item["Bo"] == item["Cy"]) == (
        design == "panels" and item["Anna"] == item["Cy"]
    )
    named = rows(run(*TWO, "--design", design, "--group", column, "--seed", "3"))
    assert named == found


def test_items_come_from_standard_input() -> None:
    words = ("--items", "-", *TWO[2:], "--design", "halves", "--seed", "1")
    result = run(*words, given="x\ny\n")
    assert {row["item"] for row in rows(result)} == {"x", "y"}


def test_json_is_the_record() -> None:
    result = run(*BALANCED, "--seed", "7", "--json", "--record", "a.json")
    assert json.loads(result.stdout) == read_record("a.json")
    assert json.loads(result.stdout)["seed"] == 7


def test_a_secret_is_sealed_first_and_drawn_with_later() -> None:
    result = run(*SEALED)
    assert result.exit_code == 0
    secret = read_hex("secret.json", "secret")
    assert read_hex("seal.json", "seal") == seal_of(secret)
    assert stat.S_IMODE(Path("secret.json").stat().st_mode) == 0o600
    drawn = run(*BALANCED, *SEALED[2:], "--record", "a.json", "-o", "o.csv")
    assert drawn.exit_code == 0
    assert load_assignment("a.json", secret=secret).backing == "revealed"
    files = ("a.json", "seal.json", "o.csv")
    texts = [Path(name).read_text() for name in files]
    shown = "".join([result.output, drawn.output, *texts])
    assert secret not in shown
    assert str(int(secret, 16)) not in shown


def test_seal_and_draw_can_be_one_step() -> None:
    result = run(*BALANCED, *SEALED, "--record", "a.json")
    assert len(rows(result)) == 8
    secret = read_hex("secret.json", "secret")
    seal = read_hex("seal.json", "seal")
    assert load_assignment("a.json", secret=secret, seal=seal).fits_seal
    assert "publish it before any rating exists" in result.stderr
    assert "seed" not in result.stderr


def test_a_secret_is_never_written_over() -> None:
    Path("secret.json").write_text("precious")
    assert "there already" in refused(*SEALED)
    assert Path("secret.json").read_text() == "precious"


def test_nothing_is_written_if_one_file_cannot_be() -> None:
    words = (*BALANCED, *SEALED, "--record", "none/a.json", "-o", "o.csv")
    assert "none/a.json" in refused(*words)


def test_labels_that_look_like_formulas_are_safe_and_come_back() -> None:
    Path("items.txt").write_text("=1+1\n-5\n+x\n")
    Path("people.csv").write_text("reviewer\n@anna\n=cmd()\n'tis\n")
    result = run(
        *LISTS, "--design", "pairs", "--seed", "1", "-o", "o.csv", "--record", "a.json"
    )
    assert result.exit_code == 0
    text = io.StringIO(Path("o.csv").read_text())
    cells = {cell for row in csv.reader(text) for cell in row}
    assert {"'=1+1", "-5", "'+x", "'@anna", "'=cmd()", "'tis"} <= cells
    lines = Path("o.csv").read_text().splitlines()
    scored = [f"{lines[0]},score", *(f"{line},1" for line in lines[1:])]
    Path("ratings.csv").write_text("\n".join(scored))
    assert not load_assignment("a.json").strays(read_ratings("ratings.csv"))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "--items must be given"),
        (LISTS, "--design must be given"),
        (("--seal", "s.json"), "--seal must come with --secret"),
        (
            ("--seal", "s", "--secret", "k", "-o", "x"),
            "--output must come with --items",
        ),
        ((*BALANCED, "--secret", "none"), "none: The file cannot be read"),
        ((*BALANCED, "--secret", "k", "--seed", "1"), "--seed must be left out"),
        ((*LISTS, "--design", "balansed"), "unknown design 'balansed'"),
        ((*LISTS, "--design", "balanced"), "per_reviewer or per_item must be given"),
        (
            (*LISTS, "--design", "halves"),
            "items must be two for design 'halves', got 4",
        ),
        ((*LISTS, "--design", "pairs", "--group", "pair"), "--group must be left out"),
        ((*BALANCED, "-o", "items.txt"), "must not replace --items"),
        ((*BALANCED, "-o", "x", "--record", "x"), "must not replace --output"),
        ((*BALANCED, "--conflicts", "items.txt"), "one column for the reviewer"),
        ((*BALANCED, "--reviewer-column", "nam"), "Unknown column 'nam', did you mean"),
        (
            ("--items", "-", "--reviewers", "-", "--design", "pairs"),
            "<stdin>: The file is empty",
        ),
        (
            (*BALANCED[:-1], "3", "--conflicts", "conflicts.csv"),
            "reviewer 'Bo' must get 3 items, got only 2 without a conflict",
        ),
    ],
)
def test_refuses_in_one_sentence(words: tuple[str, ...], reason: str) -> None:
    assert reason in refused(*words)


def ratings_of(path: str, *left_out: str) -> str:
    """Write a rating for each review of a table, but for some reviewers."""
    with Path(path).open(encoding="utf-8") as file:
        found = [row for row in csv.DictReader(file) if row["reviewer"] not in left_out]
    lines = [f"{r['reviewer']},{r['item']},{n}" for n, r in enumerate(found, 1)]
    Path("r.csv").write_text("\n".join(["reviewer,item,score", *lines]))
    return "r.csv"


def sealed_draw() -> None:
    Path("draw").mkdir()
    seal = ("--seal", "draw/seal.json", "--secret", "draw/secret.json")
    record = ("--record", "draw/assignment.json", "-o", "first.csv")
    people = "\n".join(["Anna", "Bo", "Cy", "Di", "Ed", "Flo"])
    Path("people.txt").write_text(people)
    lists = ("--items", "items.txt", "--reviewers", "people.txt")
    sizes = ("--design", "balanced", "--per-reviewer", "2")
    assert run(*lists, *sizes, *seal, *record).exit_code == 0


def test_a_judge_goes_home_and_the_audit_of_the_amended_draw_is_clean() -> None:
    sealed_draw()
    amended = run("--amend", "draw", "--drop", "Bo", "-o", "second.csv")
    assert amended.exit_code == 0, amended.stderr
    assert "The guarantee stays if nobody left because of an item." in amended.stderr
    assert "Wrote draw/assignment-2.json" in amended.stderr
    record = read_record("draw/assignment-2.json")
    first = read_record("draw/assignment.json")
    assert record["amends"]["sha256"] == first["sha256"]
    assert (record["seed"], record["seal"]) == (None, first["seal"])
    file = ratings_of("second.csv")
    decide = ["rank", file, "--method", "ties", "--seed", "7"]
    decide += ["--design", "balanced(distinct)"]
    ranked = commands.run(
        *decide, "--assignment", "draw", "--record", "d.json", "--json"
    )
    assert ranked.exit_code == 0, ranked.stderr
    told = json.loads(ranked.stdout)["certificate"]
    assert told["theorem"] == "none" or "verified" in "".join(told["checked"])
    result = audited("d.json", file, "--assignment", "draw")
    assert result.exit_code == 0, result.stdout
    assert (
        "ok      assignment 2: The seed draws this assignment again." in result.stdout
    )
    assert "--  " not in result.stdout
    alone = audited("draw", file)
    assert alone.exit_code == 0
    assert "The guarantee stays if nobody left because of an item." in alone.stdout


def test_a_judge_who_gives_nothing_is_no_difference_but_is_named() -> None:
    sealed_draw()
    file = ratings_of("first.csv", "Bo")
    result = audited("draw", file)
    assert result.exit_code == 0
    assert "2 assigned reviews without a rating" in result.stdout
    assert "The guarantee stays if nobody left because of an item." in result.stdout


def test_amendments_form_a_chain_and_an_edited_one_is_named() -> None:
    sealed_draw()
    assert run("--amend", "draw", "--drop", "Bo", "--add", "Lee").exit_code == 0
    kept = ("--secret", "draw/secret.json", "--drop", "Cy", "--leave-open")
    last = run("--amend", "draw/assignment.json", *kept)
    assert "Wrote draw/assignment-3.json" in last.stderr
    assert "if nobody left or stepped in because of an item" in last.stderr
    drawn = load_assignment("draw")
    assert drawn.leavers == ("Bo", "Cy")
    assert drawn.reviewers == ("Anna", "Di", "Ed", "Flo", "Lee")
    assert audited("draw").exit_code == 0
    second = Path("draw/assignment-2.json")
    second.write_text(second.read_text().replace('"Lee"', '"Leo"'))
    result = audited("draw")
    assert result.exit_code == 1
    assert "DIFFERS assignment 2 record: It was edited or damaged" in result.stdout


def test_a_lost_link_is_missed_and_the_law_says_each_thing_once() -> None:
    sealed_draw()
    for name in ("Bo", "Cy", "Ed"):
        last = run("--amend", "draw", "--drop", name)
        assert last.stderr.count("Who took over reviews that were open") == 1
    Path("draw/assignment-3.json").unlink()
    Path("draw/assignment-2.json").unlink()
    says = "draw/assignment-2.json: The record is missing, though assignment-4.json"
    assert says in refused("--amend", "draw", "--drop", "Di")
    assert says in audited("draw").stderr
    assert not Path("draw/assignment-2.json").exists()


def test_another_draw_cannot_be_slipped_under_an_amendment() -> None:
    sealed_draw()
    run("--amend", "draw", "--drop", "Bo")
    kept = Path("draw/assignment-2.json").read_text()
    Path("draw/assignment-2.json").unlink()
    run("--amend", "draw", "--drop", "Cy")
    Path("draw/assignment-3.json").write_text(kept)
    result = audited("draw")
    assert result.exit_code == 1
    assert "DIFFERS assignment 3: It amends another record." in result.stdout
    ranked = commands.run("rank", ratings_of("first.csv"), "--assignment", "draw")
    assert ranked.exit_code == 2
    assert "amends another than that before it" in ranked.stderr
    unlinked = finish(
        {**contents(read_record("draw/assignment-2.json")), "amends": None}
    )
    Path("draw/assignment-2.json").write_text(text_of(unlinked))
    with pytest.raises(RecordError, match="amends another than that before it"):
        load_assignment("draw")


def test_what_a_judge_did_before_leaving_stays() -> None:
    sealed_draw()
    own = [row for row in Path("first.csv").read_text().split() if row[:3] == "Bo,"]
    Path("done.csv").write_text(f"reviewer,item,score\n{own[0]},7\n")
    result = run("--amend", "draw", "--drop", "Bo", "--done", "done.csv")
    assert own[0] in result.stdout.split()
    assert own[1] not in result.stdout.split()
    assert "those who stopped halfway are left out (--exclude): 'Bo'" in result.stderr
    # The same as a wide table, which the record tells how to read.
    Path("draw/assignment-2.json").unlink()
    item = own[0].split(",")[1]
    Path("done.csv").write_text(f"item,Anna,Bo,Cy\n{item},,7,\np9,,,\n")
    again = run("--amend", "draw", "--drop", "Bo", "--done", "done.csv")
    assert again.stdout == result.stdout
    Path("draw/assignment-2.json").unlink()
    Path("done.csv").write_text("reviewer,item,score\nBo,p1,7\nBo,p2,7\nBo,p3,7\n")
    words = ("--amend", "draw", "--drop", "Bo", "--done", "done.csv")
    assert "ratings must come from the assignment" in refused(*words)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--drop", "Bo"), "--drop must come with --amend."),
        (("--leave-open", *BALANCED), "--leave-open must come with --amend."),
        (
            ("--amend", "draw"),
            "drop must name at least one reviewer and leave at least one, got nobody.",
        ),
        (("--amend", "draw", "--drop", "Boo"), "unknown reviewer 'Boo', did you mean"),
        (("--amend", "draw", "--drop", "Bo", "--seed", "7"), "--seed must be left out"),
        (("--amend", "none", "--drop", "Bo"), "none: The file cannot be read"),
        (("--amend", ".", "--drop", "Bo"), "must be a folder with assignment.json"),
        ((*BALANCED, "--sheets", "s.csv"), "--sheets must be a file that ends in"),
        ((*BALANCED, "--ballots", "b.pdf"), "--ballots must be a file that ends in"),
    ],
)
def test_what_an_amendment_cannot_be_is_said(words: tuple[str, ...], says: str) -> None:
    sealed_draw()
    assert says in refused(*words)


def test_a_sealed_draw_is_amended_only_with_its_secret() -> None:
    sealed_draw()
    Path("draw/secret.json").rename("kept.json")
    assert "secret must be given" in refused("--amend", "draw", "--drop", "Bo")
    assert run("--amend", "draw", "--drop", "Bo", "--secret", "kept.json").stdout


def test_an_amendment_edited_with_its_hashes_is_found_by_the_draw() -> None:
    sealed_draw()
    run("--amend", "draw", "--drop", "Bo")
    path = Path("draw/assignment-2.json")
    record = read_record(path)
    for field, value in (
        ("rows", record["rows"][1:]),
        ("amends", {**record["amends"], "leave_open": True}),
        ("law", "By lot."),
    ):
        path.write_text(text_of(finish({**contents(record), field: value})))
        result = audited("draw")
        assert result.exit_code == 1
        assert "DIFFERS assignment 2: A replay gives another value" in result.stdout
    for wrong in (7, {}, {**record["amends"], "done": [["Bo"]]}):
        path.write_text(text_of(finish({**contents(record), "amends": wrong})))
        result = audited("draw")
        assert result.exit_code == 2
        assert "amends." in result.stderr
    path.rename("alone.json")
    assert (
        "alone.json: The record amends another one. Put" in audited("alone.json").stderr
    )


def test_a_comparison_takes_a_chain_and_certifies_it() -> None:
    Path("draw").mkdir()
    seal = ("--seal", "draw/seal.json", "--secret", "draw/secret.json")
    record = ("--record", "draw/assignment.json", "-o", "first.csv")
    assert run(*TWO, "--design", "matched", *seal, *record).exit_code == 0
    assert run("--amend", "draw", "--drop", "Bo", "-o", "second.csv").exit_code == 0
    file = ratings_of("second.csv")
    decide = ["compare", file, "--assignment", "draw", "--record", "d.json", "--json"]
    compared = commands.run(*decide, "--seed", "7")
    assert compared.exit_code == 0, compared.stderr
    told = json.loads(compared.stdout)["certificate"]
    assert (
        "1 reviewer left for reasons that have nothing to do with items"
        in (told["declared"])
    )
    assert told["conditional"].startswith("on average over the assignment")
    assert audited("d.json", file, "--assignment", "draw").exit_code == 0


def test_a_label_does_nothing_to_a_terminal() -> None:
    title = "\x1b]owned\x07x"
    Path("odd.txt").write_text(f"{title}\ny\n=1+1\n")
    words = ("--items", "odd.txt", "--reviewers", "people.csv", "--design", "balanced")
    found = run(*words, "--per-reviewer", "3", "--seed", "1")
    assert found.exit_code == 0, found.stderr
    assert "\x1b" not in found.stdout + found.stderr
    assert "Anna,\\x1b]owned\\x07x" in found.stdout
    assert "Anna,'=1+1" in found.stdout
    assert run(*words, "--per-reviewer", "3", "-o", "out.csv").exit_code == 0
    assert title in Path("out.csv").read_text()

"""What the commands write beside their answer, and how they read exports."""

import csv
import json
import re
import shlex
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest

from evenhand import Ratings, read_ratings
from evenhand.words.page import report_draws
from tests.commands import refused, run
from tests.test_formats_page import READ, printed_audit, words

ROOT = Path(__file__).parents[2]
HOTCRP = (
    "examples/exports/hotcrp-reviews.csv",
    *("--score", "Overall merit", "--scale", "best=A", "--seed", "3"),
)
NAMES = ("anna@example.org", "bo@example.org", "cy@example.org", "kim@example.org")
CHECK_IT = r"^Check it with: evenhand (.*)$"
HOSTILE = (
    '=HYPERLINK("x")',
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "a|b`c`[d](e)",
)


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_a_file_was_taken_for_is_said() -> None:
    result = run("rank", *HOTCRP)
    assert "Read as HotCRP, by columns 'paper', 'title'" in result.stderr
    assert "Read as" not in run("rank", "examples/conference.csv").stderr


def test_a_report_shows_the_command_with_its_seed(desk: Path) -> None:
    result = run("check", "examples/designs.csv", "--report", "r.html")
    seed = re.search(r"seed (\d+)", result.stderr)
    assert seed is not None
    page = (desk / "r.html").read_text()
    shown = "evenhand check examples/designs.csv --report r.html --seed "
    assert f"{shown}{seed[1]}" in page


def test_charts_are_written_as_png_and_svg(desk: Path) -> None:
    run("compare", "examples/designs.csv", "--export", "charts=charts", "--seed", "1")
    names = sorted(path.name for path in (desk / "charts").iterdir())
    assert names == ["scores.png", "scores.svg"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--report", "r.pdf"),
            "report must be a file that ends in .html, got 'r.pdf'",
        ),
        (("--report", "no/r.html"), "in a folder that is there, got 'no/r.html'."),
        (("--report", "examples"), "report must be a file that ends in .html"),
        (("--export", "out.doc"), "'.csv'"),
        (("--export", "rankings=a.csv"), "did you mean 'ranking'?"),
        (("--export", "no/a.csv"), "export must be in a folder that is there"),
        (("--export", "examples/conference.csv"), "must not replace FILE"),
        (("--export", "charts=examples/panel.csv"), "charts must be a folder"),
        (("--anonymise", ""), "anonymise must be given, got ''."),
        (("--scale", "best=AB"), "or best= and a letter"),
        (("--decimal", ";"), "decimal must be '.' or ',', got ';'."),
        (
            ("--exclude", "P77"),
            "unknown name 'P77'. Known names: 'A', 'B'",
        ),
        (("--scale", "good"), "scale must be words from worst to best"),
        (("--with", "examples/nothing.csv"), "There is no such file"),
        (
            ("--anonymise", "k.csv", "--assignment", "a.json"),
            "--anonymise must be left out with --assignment",
        ),
        (("--anonymise", "examples/panel.csv"), "examples/panel.csv: "),
    ],
)
def test_what_cannot_be_written_or_read_is_refused_before_anything_is(
    options: tuple[str, ...], message: str, desk: Path
) -> None:
    before = {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()}
    assert message in refused("rank", "examples/conference.csv", *options)
    after = {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()}
    assert after == before


def test_all_files_are_written_or_none(desk: Path) -> None:
    (desk / "locked").write_text("kept")
    (desk / "t.csv").symlink_to(desk / "nowhere" / "t.csv")
    refused(
        *("rank", "examples/conference.csv", "--record", "d.json"),
        *("--export", "a.csv", "--export", "draws=t.csv/x.csv"),
    )
    assert not (desk / "d.json").exists()
    assert not (desk / "a.csv").exists()


@pytest.mark.parametrize("name", READ)
def test_no_reviewer_is_named_in_what_is_anonymised(name: str, desk: Path) -> None:
    drawn = name == READ[0]
    outputs = (
        *("--record", "d.json", "--json", "-o", "o.json", "--anonymise", "key.csv"),
        *("--export", "ratings=ratings.json", "--export", "ranking=ranking.json"),
        # They are drawn from what the files above hold, which takes longest.
        *(("--report", "r.html", "--export", "all=all.json") if drawn else ()),
        *(("--export", "charts=charts") if drawn else ("--method", "borda")),
    )
    result = run("rank", *words(name), "--seed", "1", *outputs)
    assert result.exit_code == 0, result.stderr
    files = [*desk.glob("*.json"), *desk.glob("*.html"), *desk.glob("charts/*.svg")]
    assert len(files) > 3 + 2 * drawn
    with Path("key.csv").open(newline="") as key:
        coded = {row["code"]: row["reviewer"] for row in csv.DictReader(key)}
    rows = json.loads(Path("ratings.json").read_text())
    assert {str(row["reviewer"]).split("#")[0] for row in rows} <= set(coded)
    # Numbers would be found everywhere.
    people = {one for one in coded.values() if not one.isdigit() and len(one) > 2}
    items = {str(row.get("item", row.get("winner"))) for row in rows}
    if drawn:
        (told,) = re.findall(CHECK_IT, result.stderr, re.MULTILINE)
        assert "--anonymise" in told
        assert shlex.split(told) == printed_audit((desk / "r.html").read_text())
    named = re.compile("|".join(rf"\b{re.escape(one)}\b" for one in people - items))
    for text in [result.stderr, *(path.read_text() for path in files)]:
        assert not people - items or named.search(text) is None
    assert stat.S_IMODE(Path("key.csv").stat().st_mode) == 0o600


@pytest.mark.parametrize("options", [("--top", "99"), ("--method", "safe(noise=-3)")])
def test_a_command_that_fails_leaves_no_key(options: tuple[str, ...]) -> None:
    refused("rank", "examples/conference.csv", "--anonymise", "key.csv", *options)
    assert not Path("key.csv").exists()


def test_an_audit_makes_no_key() -> None:
    run("rank", "examples/conference.csv", "--record", "d.json", "--seed", "1")
    told = refused("audit", "d.json", "examples/conference.csv", "--anonymise", "k.csv")
    assert "--anonymise must be the key of the decision, got 'k.csv'" in told
    assert not Path("k.csv").exists()


def test_nothing_stays_where_the_answer_cannot_be_written(desk: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full on this system")
    refused(
        *("rank", "examples/exports/gavel-decisions.csv", "--export", "a.csv"),
        *("-o", "/dev/full", "--export", "charts=charts"),
    )
    assert not (desk / "a.csv").exists()
    assert not (desk / "charts").exists() or not list((desk / "charts").iterdir())


def test_one_workbook_may_be_named_in_two_ways(desk: Path) -> None:
    result = run(
        *("rank", "examples/conference.csv", "--seed", "1"),
        *("--export", "ranking=b.xlsx", "--export", "ratings=./b.xlsx"),
    )
    assert result.exit_code == 0, result.stderr
    assert (desk / "b.xlsx").exists()


def test_a_key_gives_the_same_codes_and_draws_again() -> None:
    options = (*HOTCRP, "--anonymise", "key.csv", "--json")
    assert run("rank", *options).stdout == run("rank", *options).stdout


def test_an_auditor_knows_coded_ratings_and_replays_with_the_key(desk: Path) -> None:
    run(
        *("rank", *HOTCRP, "--anonymise", "key.csv", "--record", "d.json"),
        *("--export", "ratings=coded.csv"),
    )
    assert not any(name in (desk / "coded.csv").read_text() for name in NAMES)
    result = run("audit", "d.json", "coded.csv")
    assert "ok      data: The decision was made from these ratings." in result.stdout
    whole = run("audit", "d.json", *HOTCRP[:-2], "--anonymise", "key.csv")
    assert whole.exit_code == 0
    assert "ok      decision" in whole.stdout


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl"])
def test_hostile_names_pass_through_exports_harmlessly(suffix: str, desk: Path) -> None:
    rows = [
        {"reviewer": f"{who} {name}", "item": name, "score": place + who}
        for place, name in enumerate(HOSTILE)
        for who in range(3)
    ]
    text = "\n".join(json.dumps(row) for row in rows)
    (desk / "h.jsonl").write_text(text)
    pictures = ("--report", "r.html", "--export", "charts=charts")
    result = run(
        *("rank", "h.jsonl", "--seed", "1", "--export", f"ratings=r.{suffix}"),
        *("--export", f"t.{suffix}", *(pictures if suffix == "csv" else ())),
    )
    assert result.exit_code == 0, result.stderr
    table = (desk / f"t.{suffix}").read_text(encoding="utf-8-sig")
    if suffix in ("csv", "tsv"):
        assert not re.search(r"(?:^|[,\t])\"?=", table, re.MULTILINE)
    if suffix == "csv":
        assert "<script>alert" not in (desk / "r.html").read_text()
    assert not any(path.name == "passwd" for path in desk.rglob("*"))
    again = run("rank", f"r.{suffix}", "--seed", "1", "--json")
    first = run("rank", "h.jsonl", "--seed", "1", "--json")
    assert json.loads(again.stdout)["data"] == json.loads(first.stdout)["data"]


def test_a_report_of_many_ratings_leaves_the_warp_test_out() -> None:
    people, items = np.arange(5_001) % 200, np.arange(5_001) // 200
    assert report_draws(Ratings(people, items, items)) == 0
    assert report_draws(Ratings(people[:5_000], items[:5_000], people[:5_000])) == 10
    alone = np.arange(201)
    assert report_draws(Ratings(alone, alone, alone)) == 0
    assert report_draws(Ratings(alone[:200], alone[:200], alone[:200])) == 30


def decided(*words: str) -> dict[str, object]:
    """Return what a command decided, without what names or counts codes."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    for draw in found.get("draws", ()):
        del draw["reviewers"]
    return {key: found[key] for key in found if key not in ("data", "warnings")}


@pytest.mark.parametrize(
    "words",
    [
        ("rank", "a.csv", "--method", "safe", "--top", "4"),
        ("rank", "examples/conference.csv", "--method", "adaptive", "--top", "4"),
        ("rank", "w.csv", "--method", "flips"),
        ("rank", "w.csv", "--method", "sorter"),
        ("compare", "examples/designs.csv", "--method", "votes"),
    ],
)
def test_one_announced_seed_gives_one_decision_whatever_key_is_drawn(
    words: tuple[str, ...], desk: Path
) -> None:
    rng = np.random.default_rng(5)
    noise = [
        f"r{who},{item},{rng.integers(1, 100)}"
        for who in range(24)
        for item in rng.choice(12, 3, replace=False)
    ]
    (desk / "a.csv").write_text("\n".join(["reviewer,item,score", *noise]))
    # Without ties or contradictions, as some methods need.
    rows = [
        f"r{w},{i % 12},{(i % 12) * (w + 2)}" for w in range(24) for i in (w, w + 5)
    ]
    (desk / "w.csv").write_text("\n".join(["reviewer,item,score", *rows]))
    plain = decided(*words, "--seed", "7")
    for number in range(3):
        key = f"key{number}.csv"
        assert decided(*words, "--seed", "7", "--anonymise", key) == plain


def test_a_coded_record_is_audited_with_its_key_and_asks_for_it() -> None:
    words = ("rank", "examples/conference.csv", "--method", "safe", "--seed", "7")
    for number in range(3):
        key = f"key{number}.csv"
        made = run(
            *words,
            "--anonymise",
            key,
            "--record",
            "d.json",
            "--export",
            "ratings=c.csv",
        )
        assert made.exit_code == 0, made.stderr
        whole = run("audit", "d.json", words[1], "--anonymise", key)
        assert whole.exit_code == 0, whole.stdout
        assert "ok      decision" in whole.stdout
        for file in (words[1], "c.csv"):
            bare = run("audit", "d.json", file)
            assert bare.exit_code == 0, bare.stdout
            assert "Give their key with --anonymise" in bare.stdout
            assert "DIFFERS" not in bare.stdout
        assert "ok      data" in run("audit", "d.json", "c.csv").stdout
    other = run("audit", "d.json", words[1], "--anonymise", "key0.csv")
    assert other.exit_code == 1
    assert "or this is not its key" in other.stdout


def test_outputs_do_not_tell_the_order_of_names_behind_codes(desk: Path) -> None:
    run(
        *(
            "check",
            "examples/workshop/ratings.csv",
            "--anonymise",
            "key.csv",
            "--seed",
            "1",
        ),
        *("--export", "ratings=r.csv", "--export", "reviewers=p.csv"),
        *("--json", "-o", "check.json"),
    )
    for name in ("r.csv", "p.csv"):
        lines = (desk / name).read_text().splitlines()[1:]
        people = [line.split(",")[0] for line in lines]
        assert people == sorted(people)
    found = json.loads((desk / "check.json").read_text())
    people = [one["reviewer"] for one in found["reviewers"]]
    assert people == sorted(people)
    ratings = read_ratings("examples/workshop/ratings.csv", anonymise="key.csv")
    rows = [str(row["reviewer"]) for row in ratings.rows()]
    assert rows == sorted(rows) == ratings.to_frame()["reviewer"].to_list()


@pytest.mark.parametrize(
    "words",
    [
        ("rank", *HOTCRP, "--anonymise", "the key.csv"),
        ("rank", "a b.csv", "--reviewer", "who?", "--score", "it's", "--seed", "1"),
        ("compare", "examples/designs.csv", "--format", "long", "--seed", "1"),
        ("rank", "examples/exports/wide-items.csv", "--rows", "items", "--seed", "1"),
        ("rank", "ranks.csv", "--column", "rank=its place", "--seed", "1"),
        (
            *("rank", "examples/workshop/ratings.csv", "--method", "safe"),
            *("--assignment", "draw"),
        ),
    ],
)
def test_the_audit_that_a_command_and_its_report_print_runs_as_printed(
    words: tuple[str, ...], desk: Path
) -> None:
    (desk / "a b.csv").write_text("who?,item,it's\na,x,1\na,y,2\nb,y,3\nb,z,\n")
    ranks = "reviewer,item,its place\na,x,1\na,y,2\nb,y,1\nb,z,2\n"
    (desk / "ranks.csv").write_text(ranks)
    folder = "examples/workshop"
    run(
        *("assign", "--items", f"{folder}/talks.txt", "--design", "balanced"),
        *("--reviewers", f"{folder}/reviewers.txt", "--per-reviewer", "3"),
        *("--secret", f"{folder}/secret.json", "--record", "assignment.json"),
    )
    (desk / "draw").mkdir()
    (desk / "assignment.json").rename(desk / "draw" / "assignment.json")
    for name in ("seal", "secret"):
        source = desk / folder / f"{name}.json"
        (desk / "draw" / f"{name}.json").write_bytes(source.read_bytes())
    reported = "--assignment" in words
    page = ("--report", "r.html") if reported else ()
    made = run(*words, "--record", "the record.json", *page)
    assert made.exit_code == 0, made.stderr
    (told,) = re.findall(CHECK_IT, made.stderr, re.MULTILINE)
    if reported:
        assert shlex.split(told) == printed_audit((desk / "r.html").read_text())
    audited = run(*shlex.split(told))
    assert audited.exit_code == 0, audited.output
    assert "ok      decision" in audited.stdout
    if reported:
        assert audited.stdout.endswith("Nothing differs.\n")


def test_rows_without_scores_name_items_and_reviewers_as_such(desk: Path) -> None:
    (desk / "r.csv").write_text("reviewer,item,score\nbruno27,57,1\nbruno27,58,\n")
    told = run("rank", "r.csv", "--seed", "1").stderr
    assert "1 row without a score was left out: item 58 by bruno27." in told

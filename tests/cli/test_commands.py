"""The command line, as a stranger would use it."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import click
import pytest

import evenhand as eh
from evenhand.cli import COMMANDS, cli
from evenhand.errors import printable
from evenhand.words.lines import cut_lines
from tests.commands import FIELDS, refused, run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CONFERENCE = str(EXAMPLES / "conference.csv")
DESIGNS = str(EXAMPLES / "designs.csv")

FLIPS = ("--method", "flips")
COMPARE_METHODS = [method.name for method in eh.methods("compare")]
RANK_METHODS = [method.name for method in eh.methods("rank")]


def test_compare_prints_the_documented_fields() -> None:
    result = json.loads(run("compare", DESIGNS, "--json", "--seed", "7").stdout)
    assert list(result) == FIELDS["compare"]
    assert result["schema"] == "evenhand.compare/1"
    assert result["items"] == ["new design", "old design"]
    assert result["winner"] in result["items"]
    assert 0 < result["p_first"] < 1
    assert result["decided_by"] in ("votes", "trimmed means")
    assert 0 < result["p_value_first"] < result["p_value"] < 0.05
    assert result["certificate"]["theorem"] == "none"
    assert result["data"]["ratings"] == 12


def test_rank_prints_the_documented_fields() -> None:
    words = ("rank", CONFERENCE, "--json", "--seed", "7", *FLIPS)
    result = json.loads(run(*words).stdout)
    assert list(result) == FIELDS["rank"]
    assert result["schema"] == "evenhand.rank/1"
    assert [list(row) for row in result["items"]] == [FIELDS["rank.items"]] * 12
    assert [row["item"] for row in result["items"]] == result["order"]
    assert result["draws"]
    for draw in result["draws"]:
        assert list(draw) == FIELDS["rank.draws"]


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_shuffled_rows_give_the_same_bytes(command: str, tmp_path: Path) -> None:
    source = Path(DESIGNS if command == "compare" else CONFERENCE)
    header, *rows = source.read_text().splitlines()
    shuffled = tmp_path / source.name
    random.Random(2019).shuffle(rows)
    shuffled.write_text("\n".join([header, *rows]) + "\n")
    words = ("--json", "--seed", "2019")
    first, second = (
        run(command, str(source), *words),
        run(command, str(shuffled), *words),
    )
    assert first.exit_code == 0
    assert first.stdout_bytes == second.stdout_bytes


def test_a_drawn_seed_is_printed_and_repeats_the_run() -> None:
    drawn = run("rank", CONFERENCE, "--json")
    seed = json.loads(drawn.stdout)["seed"]
    assert f"seed {seed}\n" in drawn.stderr
    assert 0 <= seed < 2**53
    again = run("rank", CONFERENCE, "--json", "--seed", str(seed))
    assert again.stdout == drawn.stdout


def test_standard_input_is_a_file_called_dash() -> None:
    text = Path(CONFERENCE).read_text()
    piped = run("rank", "-", "--json", "--seed", "1", given=text)
    assert piped.stdout == run("rank", CONFERENCE, "--json", "--seed", "1").stdout


def test_output_goes_to_a_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    result = run("rank", CONFERENCE, "--json", "--seed", "1", "-o", str(target))
    assert result.stdout == ""
    assert json.loads(target.read_text())["schema"] == "evenhand.rank/1"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "no such folder" / "result.json"
    message = refused("rank", CONFERENCE, "-o", str(target))
    assert "output must be in a folder that is there" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rank", "nowhere.csv"), "nowhere.csv"),
        (("rank", CONFERENCE, "--method", "flip"), "did you mean 'flips'?"),
        (("rank", CONFERENCE, "--metod", "flips"), "No such option '--metod'"),
        (("rank", CONFERENCE, "--seed", "-1"), "--seed"),
        (("rank", CONFERENCE, "--score", "mark"), "unknown column 'mark'"),
        (
            ("rank", CONFERENCE, "--method", "flips(weigth=1)"),
            "unknown option 'weigth' of flips, did you mean 'weight'?",
        ),
        (
            ("rank", CONFERENCE, "--method", "flips(weight=ratonal)"),
            "did you mean 'rational'?",
        ),
        (
            ("rank", CONFERENCE, "--method", "flips(weight=rational(-1))"),
            "gamma must be",
        ),
        (("rank", CONFERENCE, "--method", "flips("), "in brackets, got 'flips('"),
        (("rank", CONFERENCE, "--method", "flips:3"), "in brackets, got 'flips:3'"),
        (
            ("rank", CONFERENCE, "--method", "__import__('os').system('date')"),
            "in brackets, got",
        ),
        (("rank", CONFERENCE, "--method", "flips(start=mean)"), "unknown start 'mean'"),
        (("rank", CONFERENCE, "--column", "mark=x"), "--column must be one of rank"),
        (("rank", "-"), "<stdin>: The file is empty."),
        (("compare", CONFERENCE), "12"),
        (("compare", CONFERENCE, "--items", "A", "Z"), "unknown item 'Z'"),
        (
            ("compare", DESIGNS, "--method", "votes(trim=0.3)"),
            "unknown option 'trim' of votes",
        ),
        (("rnk", CONFERENCE), "did you mean 'rank'?"),
        (("--no-such",), "No such option '--no-such'."),
        (("rank",), "Missing argument 'FILE'"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_2(
    words: tuple[str, ...], message: str
) -> None:
    assert message.casefold() in refused(*words).casefold()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reviewer,item,score\na,x,7:10\n", "ratings.csv:2: score must be a number"),
        ("reviewer,item,score\na,x,1\na,x,2\n", "ratings.csv:3: "),
        ("reviewer,item,score\na,x,inf\n", "got 'inf'"),
        ("reviewer,item\na,x\n", "No column for the score"),
        ("", "ratings.csv"),
        ("reviewer,item,score\n", "ratings.csv"),
        ('reviewer,item,score\na,"x,1\n', "ratings.csv:2"),
        ("reviewer,item,score\na,x,1,9\n", "ratings.csv:2"),
    ],
)
def test_bad_files_are_one_sentence_with_the_place(
    text: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text(text)
    assert message in refused("rank", str(file))


def test_ranks_are_refused_by_cardinal_methods_in_words(tmp_path: Path) -> None:
    file = tmp_path / "ranks.csv"
    file.write_text("reviewer,item,rank\na,x,1\na,y,2\n")
    message = refused("rank", str(file), *FLIPS)
    assert "a rank is never used as a score" in message
    result = run("rank", str(file), "--method", "topological", "--json")
    assert json.loads(result.stdout)["order"] == ["x", "y"]


def test_demo_ranks_and_saves_what_it_ranked(tmp_path: Path) -> None:
    target = tmp_path / "conference.csv"
    shown = run("demo", "--seed", "7", "--save", str(target))
    assert shown.exit_code == 0
    assert "plain mean" in shown.stdout
    assert target.read_text().startswith("reviewer,item,score\n1,")
    ranked = run("rank", str(target), "--seed", "7", "--top", "3")
    table = [line for line in shown.stdout.splitlines() if line.startswith(("│", "╞"))]
    assert len(table) == 13  # with the cut
    assert all(line in ranked.stdout for line in table)


def test_methods_lists_what_compare_and_rank_take() -> None:
    rows = json.loads(run("methods", "--json").stdout)["methods"]
    by_job = {
        job: {row["name"] for row in rows if row["job"] == job}
        for job in ("compare", "rank")
    }
    assert by_job == {"compare": set(COMPARE_METHODS), "rank": set(RANK_METHODS)}
    assert sum(row["default"] for row in rows) == 2
    plain = run("methods").stdout
    assert all(row["name"] in plain for row in rows)
    assert "Theorem T" in plain  # the end of the longest claims
    assert "…" not in plain


@pytest.mark.parametrize("method", COMPARE_METHODS)
def test_every_method_of_compare_decides_and_can_be_audited(
    method: str, tmp_path: Path
) -> None:
    record = str(tmp_path / "record.json")
    words = ("--method", method, "--seed", "1", "--design", "halves")
    result = run("compare", DESIGNS, *words, "--record", record)
    assert result.exit_code == 0
    done = run("audit", record, DESIGNS)
    assert done.exit_code == 0, done.stdout
    assert "Difference" in result.stdout
    tossed = method in ("guarded", "votes", "sign")
    assert ("This rule is randomized" in result.stdout) == tossed
    assert len(result.stdout.splitlines()) <= 8


def test_labels_with_control_characters_and_markup_are_shown_as_they_are() -> None:
    text = 'reviewer,item,score\na,"[red]x",2\na,"line\nbreak",1\n'
    shown = run("rank", "-", "--method", "mean", "--seed", "1", given=text).stdout
    assert "[red]x" in shown
    assert "line\\nbreak" in shown
    assert printable("\x1b[2J") == "\\x1b[2J"


def claimed(given: str, *words: str) -> str:
    found = run(*words, "--seed", "1", "--json", given=given)
    return str(json.loads(found.stdout)["certificate"]["sentence"])


def test_a_claim_that_the_data_void_is_not_made() -> None:
    plain = ("rank", "-", "--design", "balanced", *FLIPS)
    rank = ("rank", "-", "--design", "balanced(distinct)", *FLIPS)
    clean = "reviewer,item,score\na,x,1\na,y,3\nb,w,2\nb,z,3\n"
    assert claimed(clean, *rank).startswith("Exactly right more often")
    assert claimed(clean, "rank", "-", *FLIPS).startswith("No guarantee: nobody")
    assert "--design 'NAME(distinct)'" in claimed(clean, *plain)
    always = ("--method", "safe(split=always)", "--design", "balanced")
    assert "split=always was chosen before" in claimed(clean, "rank", "-", *always)
    ties = clean.replace("a,y,3", "a,y,1")
    assert "ties within a reviewer void" in claimed(ties, *rank)
    loads = clean.replace("b,z,3\n", "")
    assert "equal loads" in claimed(loads, *rank)
    compare = ("compare", "-", "--design", "coins", "--method")
    sides = "reviewer,item,score\na,x,1\nb,y,2\nc,y,3\n"
    assert "not given how many scored" in claimed(sides, *compare, "mean")
    assert claimed(sides, *compare, "votes").startswith("Right more often than a fair")


def test_scores_too_large_for_floats_are_noted_without_a_warning() -> None:
    huge = "reviewer,item,score\na,x,1e308\nb,y,-1e308\n"
    for words in (("rank", "-", *FLIPS), ("compare", "-")):
        result = run(*words, "--seed", "1", given=huge)
        assert "gap_beyond_floats" in result.stderr
        assert "overflow" not in result.stderr
    message = refused("grade", "-", given=f"{huge}b,x,1e300\n")
    assert "scores must be below 1e+150 to be graded" in message


def test_a_long_circle_is_shown_in_part() -> None:
    rows = "".join(
        f"r{number},{number},2\nr{number},{(number + 1) % 50},1\n"
        for number in range(50)
    )
    message = refused("rank", "-", *FLIPS, given=f"reviewer,item,score\n{rows}")
    assert "and so on over 43 more" in message
    assert len(message) < 700


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("topological", "winner,loser\nx,y\ny,x\n", "'adaptive' copes with contrad"),
        (
            "flips",
            "reviewer,item,score\na,x,1\na,y,2\nb,y,1\nb,x,2\n",
            "'adaptive' and 'safe' cope with contradictions",
        ),
    ],
)
def test_contradictions_are_shown_to_who_asks_for_an_ordering(
    method: str, text: str, message: str
) -> None:
    shown = refused("rank", "-", "--method", method, given=text)
    assert message in shown
    assert method == "topological" or "'x' above 'y'" in shown
    assert run("rank", "-", given=text).exit_code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_an_example(command: str) -> None:
    text = run(command, "--help").stdout
    assert f"  evenhand {command}" in text[text.index("Example") :]


def test_labels_and_file_names_with_line_breaks_stay_on_one_line() -> None:
    assert "no\\nsuch.csv" in refused("rank", "no\nsuch.csv")
    assert "score must be given" in refused("rank", CONFERENCE, "--score", "")


def evenhand(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("evenhand")
    return subprocess.run(  # type: ignore[call-overload,no-any-return]  # noqa: S603 - options vary; our own program
        [program, *words], check=False, text=True, stderr=subprocess.PIPE, **options
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_fails_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        result = evenhand("methods", stdout=full)
    assert result.returncode == 2
    assert result.stderr == "evenhand: The output fails: No space left on device.\n"


def test_a_screen_without_a_character_gets_an_escape() -> None:
    result = evenhand(
        *("rank", "-", "--method", "mean", "--seed", "1"),
        input="reviewer,item,score\na,e\u0301,1\n",
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert result.returncode == 0
    assert "e\\u0301" in result.stdout


@pytest.mark.parametrize("words", [(), ("--items", "10", "9")])
def test_an_item_of_which_no_row_has_a_score_is_not_compared(
    words: tuple[str, ...],
) -> None:
    text = "reviewer,item,score\na,10,\nb,9,2\n"
    message = refused("compare", "-", *words, "--seed", "1", "--json", given=text)
    assert message == (
        "evenhand: There is no score of 10 to compare. Both items need one. 1 row "
        "without a score was left out: item 10 by a.\n"
    )
    typo = refused("compare", "-", "--items", "11", "9", given=text)
    assert "unknown item '11'" in typo


def test_integer_items_are_compared_in_their_own_order() -> None:
    text = "reviewer,item,score\na,10,1\nb,9,2\n"
    result = run("compare", "-", "--seed", "1", "--json", given=text)
    assert json.loads(result.stdout)["items"] == [9, 10]


def test_no_output_replaces_an_input(tmp_path: Path) -> None:
    for source, command in ((CONFERENCE, "rank"), (DESIGNS, "compare")):
        file = tmp_path / "ratings.csv"
        text = Path(source).read_text()
        file.write_text(text)
        for option in ("--record", "-o"):
            words = (command, str(file), option, str(tmp_path / "." / "ratings.csv"))
            assert "must not replace FILE" in refused(*words)
        assert "path of a file" in refused(command, str(file), "--record", "-")
        both = (command, str(file), "--record", str(tmp_path / "x"))
        assert "must not replace" in refused(*both, "-o", str(tmp_path / "x"))
        assert file.read_text() == text
        assert [path.name for path in tmp_path.iterdir()] == ["ratings.csv"]


def test_a_secret_is_never_written_over(tmp_path: Path) -> None:
    for name, lines in (("items", "x\ny\nz\n"), ("people", "a\nb\nc\n")):
        (tmp_path / name).write_text(lines)
    seal, secret = str(tmp_path / "seal"), str(tmp_path / "secret")
    assert run("assign", "--seal", seal, "--secret", secret).exit_code == 0
    kept = Path(secret).read_text()
    words = ["assign", "--items", str(tmp_path / "items"), "--design", "pairs"]
    words += ["--reviewers", str(tmp_path / "people"), "--secret", secret]
    for option in ("--record", "-o"):
        assert "must not replace --secret" in refused(*words, option, secret)
    assert Path(secret).read_text() == kept


@pytest.mark.parametrize("method", RANK_METHODS)
@pytest.mark.parametrize("start", [None, "mean-rank(mean_ranks=proxy)", "uniform"])
def test_every_ranking_has_every_item_and_can_be_audited(
    method: str, start: str | None, tmp_path: Path
) -> None:
    if start is not None and method not in ("flips", "twins", "ties"):
        return
    record = str(tmp_path / "record.json")
    words = ["rank", CONFERENCE, "--seed", "3", "--top", "2", "--method"]
    words.append(method if start is None else f"{method}(start={start})")
    found = run(*words, "--record", record, "--design", "balanced", "--json")
    assert sorted(json.loads(found.stdout)["order"]) == list("ABCDEFGHIJKL")
    done = run("audit", record, CONFERENCE)
    assert done.exit_code == 0, done.stdout


def test_a_warp_tests_the_ranking_that_is_printed() -> None:
    method, file = "safe(noise=1.0)", str(EXAMPLES / "workshop" / "ratings.csv")
    base = (file, "--seed", "7", "--json", "--method", method)
    ranked = json.loads(run("rank", *base).stdout)["order"]
    found = json.loads(run("check", *base, "--warp", "--top", "4").stdout)
    ours = [row for row in found["warp"]["survivals"] if row["method"] == method]
    for survival in ours:
        assert [row["item"] for row in survival["items"]] == ranked
        stays = sum(row["p_top"] for row in survival["items"][:4])
        assert survival["stay"] == pytest.approx(stays)
    assert ours
    assert (found["needed"]["above"], found["needed"]["below"]) == (*ranked[3:5],)


def test_ranks_have_no_scale_to_warp(tmp_path: Path) -> None:
    file = tmp_path / "ranks.csv"
    file.write_text("reviewer,item,rank\na,x,1\na,y,2\n")
    assert "have no scale to redraw" in refused("check", str(file), "--warp")


def crowd(tmp_path: Path, items: int = 120) -> str:
    """Write a file in which item n beats item n + 1, and some are alike."""
    file = tmp_path / "crowd.csv"
    rows = [
        f"r{who},{item},Paper no. {item},{items - item + (who * item) % 5}"
        for item in range(items)
        for who in range(4)
    ]
    file.write_text("\n".join(["reviewer,item,title,score", *rows]) + "\n")
    return str(file)


def test_a_long_ranking_shows_the_decision_and_what_is_around_it(
    tmp_path: Path,
) -> None:
    file = crowd(tmp_path)
    result = eh.rank(eh.read_ratings(file), top=50, rng=7)
    assert result.top is not None
    shown = run("rank", file, "--top", "50", "--seed", "7").stdout.splitlines()
    assert shown[0].startswith(f"In ({len(result.top.inside)}): 1 (Paper no. 1), ")
    table = [line for line in shown if line.startswith("│")]
    assert len(table) == 40
    cut = next(place for place, line in enumerate(shown) if " cut after 50 " in line)
    assert "Paper no." in shown[cut - 1]
    assert all(
        any(f" {item} Paper" in row for row in table) for item in result.top.open
    )
    assert any("not shown): --all shows them." in line for line in shown)
    every = run("rank", file, "--top", "50", "--seed", "7", "--all").stdout
    assert sum(line.startswith("│") for line in every.splitlines()) == 120
    assert "What this may claim:" in every
    assert all(
        f"{item} (Paper no. {item})" in " ".join(every.split())
        for item in result.top.inside
    )
    assert every == run("rank", file, "--top", "50", "--seed", "7", "--explain").stdout
    assert len(json.loads(run("rank", file, "--json").stdout)["items"]) == 120


def test_a_method_without_intervals_names_the_best_and_says_why() -> None:
    ratings = eh.read_ratings(CONFERENCE)
    own = eh.rank(ratings, method=lambda given, _: range(given.n_items), top=2)
    lines = cut_lines(own)
    assert lines[0] == "The best 2: A and B."
    assert "gives no intervals of ranks for these ratings" in lines[1]


@pytest.mark.parametrize(("chosen", "kept"), [(None, "1"), ("2", "2")])
def test_a_command_keeps_blas_to_one_thread_unless_told(
    chosen: str | None, kept: str
) -> None:
    words = (
        "import os, sys; from evenhand.cli import main\n"
        "assert 'numpy' not in sys.modules\n"
        "try: main(['--help'])\n"
        "finally: print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    given = {
        key: value for key, value in os.environ.items() if "NUM_THREADS" not in key
    }
    given |= {} if chosen is None else {"OPENBLAS_NUM_THREADS": chosen}
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", words],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == kept, done.stderr


@pytest.mark.parametrize("command", ["rank", "compare"])
def test_a_command_has_at_most_24_options_under_headings(command: str) -> None:
    parsed = cli.get_command(cli.make_context("evenhand", ["methods"]), command)
    assert parsed is not None
    listed = [param for param in parsed.params if not getattr(param, "hidden", False)]
    assert sum(param.opts[0].startswith("-") for param in listed) <= 24
    shown = run(command, "--help").stdout
    headings = ["Method:", "Decision:", "Output:", "Reading FILE:"]
    places = [shown.index(heading) for heading in headings]
    assert places == sorted(places)
    assert shown[: places[-1]].count("\n") < 60


def test_explain_says_what_may_not_be_claimed() -> None:
    short = run("compare", DESIGNS, "--seed", "1").stdout
    long = run("compare", DESIGNS, "--seed", "1", "--explain").stdout
    assert long.startswith(short.splitlines()[0])
    assert "What it may not claim:" in long
    assert "What it may not claim:" not in short
    ranked = run("rank", CONFERENCE, "--seed", "1", "--explain").stdout
    assert "What it may not claim:" in ranked


def test_methods_shows_one_method_with_its_options() -> None:
    shown = " ".join(run("methods", "flips").stdout.split())
    for part in ("start=topological", "Theorem 5", "Assumes: any increasing scales"):
        assert part in shown
    assert "did you mean 'flips'?" in refused("methods", "flip")
    both = json.loads(run("methods", "mean", "--json").stdout)["methods"]
    assert [row["job"] for row in both] == ["compare", "rank"]


def single_options() -> list[tuple[str, str, int]]:
    """Return every option that is given once, its command and its number of values."""
    context = cli.make_context("evenhand", ["methods"])
    return [
        (command, one.opts[0], one.nargs)
        for command in cli.list_commands(context)
        for one in (cli.get_command(context, command) or cli).params
        if isinstance(one, click.Option) and not (one.multiple or one.is_flag)
    ]


def test_an_option_that_cannot_be_repeated_is_refused_twice() -> None:
    found = single_options()
    assert ("rank", "--item", 1) in found
    assert ("serve", "--port", 1) in found
    for command, option, values in found:
        words = [option, *["1"] * values] * 2
        said = run(command, *words).output
        once = (
            f"evenhand: {option} must be given once, got it 2 times. Keep one of them."
        )
        assert once in said


def test_options_that_can_be_repeated_are(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("who,what,place\na,x,1\na,y,2\nb,y,2\nb,z,1\n")
    words = ["--reviewer", "who", "--item", "what", "--column", "rank=place"]
    leave = ["--exclude", "x", "--exclude", "a", "--json", "--json"]
    assert run("rank", str(file), *words, *leave).exit_code == 0
    twice = refused("rank", str(file), *words, "--column", "rank=what")
    assert "--column rank must be given once, got it twice." in twice

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from tests import commands

run = partial(commands.run, "check")
refused = partial(commands.refused, "check")


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twelve reviewers of ten items, one of them harsh, one with all scores alike."""
    rng = np.random.default_rng(5)
    rows = ["reviewer,item,score"]
    for reviewer in range(12):
        offset = -4 if reviewer == 3 else 0
        for item in rng.choice(10, 5, replace=False).tolist():
            score = 5 if reviewer == 7 else round(item + offset + rng.normal(), 1)
            rows.append(f"r{reviewer:02},item {item},{score}")
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def result(scores: str) -> Result:
    """What is printed of them."""
    return run(scores, "--top", "3", "--seed", "7")


def test_people_read_the_verdict_first(result: Result) -> None:
    assert result.exit_code == 0
    titles = re.findall(r"^[A-Z][A-Z ]+\?$", result.stdout, re.MULTILINE)
    assert titles == [
        "CAN SCORES BE COMPARED ACROSS REVIEWERS?",
        "HOW MANY MORE REVIEWS?",
        "WHAT CAN BE ORDERED?",
        "DO REVIEWERS CONTRADICT EACH OTHER?",
        "WHERE DO SCORES DIFFER?",
        "HOW STRICT IS EACH REVIEWER?",
        "HOW ARE THE RATINGS SPREAD?",
    ]
    assert result.stdout.startswith("60 scores of 10 items by 12 reviewers: ")
    assert re.search(r"│ r03 +│ +5 │ strict ", result.stdout)
    assert "gave all their items the same score: 'r07'" in " ".join(
        result.stdout.split()
    )
    assert "The cut after 3 lies between" in result.stdout
    assert result.stderr == "seed 7\n"
    for method in ("mean", "additive", "affine", "isotonic", "bradley-terry"):
        assert f" {method} " in result.stdout


def test_json_is_the_result_that_the_seed_repeats_in_a_file(
    scores: str, tmp_path: Path
) -> None:
    first, path = run(scores, "--top", "3", "--json"), tmp_path / "check.json"
    document = json.loads(first.stdout)
    assert document["schema"] == "evenhand.check/1"
    assert document["kind"] == "scores"
    assert document["parameters"] == {"top": 3}
    assert len(document["reviewers"]) == 12
    assert len(document["ladder"]["rungs"]) == 5
    assert document["needed"]["top"] == 3
    seed = re.findall(r"seed (\d+)", first.stderr)[0]
    assert document["seed"] == int(seed)
    again = ("--top", "3", "--json", "--seed", seed, "-o", str(path))
    assert run(scores, *again).stdout == ""
    assert path.read_text(encoding="utf-8") == first.stdout


def test_what_is_wrong_is_one_sentence(scores: str, tmp_path: Path) -> None:
    message = "top must be a whole number from 1 to 9, one less than the items, got 10."
    assert message in refused(scores, "--top", "10")
    nowhere = ("-o", str(tmp_path / "none" / "x"))
    assert "in a folder that is there" in refused("no-such-file.csv", *nowhere)
    path = tmp_path / "bad.csv"
    path.write_text("reviewer,item,score\na,x,seven\n", encoding="utf-8")
    assert "bad.csv:2: score must be a number" in refused(str(path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("reviewer,item,score\na,x,1\n", "The item stands alone."),
        ("reviewer,item,score\na,x,1\nb,y,2\n", "cannot distinguish items"),
        ("reviewer,item,score\na,x,1\na,y,1\n", "Every score is the same."),
        ("reviewer,item,rank\na,x,1\na,y,2\n", "There are only ranks, no scores"),
        ("winner,loser\nx,y\ny,z\nz,x\n", "All 3 items are in a preference cycle"),
        ("reviewer,item,score\na,x\x1b[2J,1\na,y,2\n", "Reviewers' orders connect all"),
    ],
)
def test_little_data_is_explained(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "little.csv"
    path.write_text(text, encoding="utf-8")
    result = run(str(path), "--seed", "7")
    assert result.exit_code == 0
    assert words in " ".join(result.stdout.split())
    assert "\x1b" not in result.stdout


def test_scores_of_an_outlier_are_noted_on_standard_error(
    scores: str, tmp_path: Path
) -> None:
    lines = Path(scores).read_text(encoding="utf-8").splitlines()
    lines[5] = f"{lines[5].rpartition(',')[0]},1e300"
    path = tmp_path / "outlier.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    result = run(str(path), "--seed", "7")
    assert result.exit_code == 0
    assert "Note (extreme_score)" in result.stderr
    assert "nan" not in result.stdout
    assert "HOW MANY MORE REVIEWS?" not in result.stdout


def test_what_is_an_average_over_items_is_not_called_a_probability(
    result: Result,
) -> None:
    text = result.stdout
    table = text[text.index("The cut after 3") : text.index("WHAT CAN BE ORDERED?")]
    words = " ".join(re.sub("[┃│]", " ", table).split())
    assert "in the order of the ranking" in words
    assert "with probability" not in words
    head = table[table.index("┏") : table.index("┡")]
    cells = [line.strip("┃").split("┃") for line in head.splitlines()[1:]]
    titles = [" ".join(" ".join(parts).split()) for parts in zip(*cells, strict=True)]
    assert titles[1] == "probability that these two are in their true order"
    assert re.fullmatch(
        r"average share of the \d+ items near the cut that are on their true side",
        titles[2],
    )

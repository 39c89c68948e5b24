"""A method is a value: text form, options, registry; a new one is a class."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.ab.methods import Guarded, Rule
from evenhand.cli import cli
from evenhand.lab.scenario import Scenario
from evenhand.method import Method, as_method, number, option, parse
from evenhand.ranking.methods import (
    Adaptive,
    Answer,
    BradleyTerry,
    Flips,
    RankMethod,
    Safe,
    Task,
    Uniform,
)
from tests.plain_rules import mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.arrays import Floats, Numbers

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def by_best() -> Iterator[type[RankMethod]]:
    """Define a ranking method as a user would: one class, nothing else."""

    class ByQuantile(RankMethod):
        """By a quantile of each item's scores."""

        name = "quantile"
        best = BradleyTerry.best
        noisy = True
        share: float = option(0.5, "Which.", number("share", "in [0, 1]", abs))

        def answer(self, task: Task) -> Answer:
            starts, rows = task.ratings.by_item()
            scores = np.split(task.ratings.scores[rows], starts[1:-1])
            values = [np.quantile(part, self.share) for part in scores]
            return Answer(np.argsort(-np.array(values), kind="stable"))

    yield ByQuantile
    del Method.registry["rank", "quantile"]


@pytest.fixture
def softly() -> Iterator[type[Rule]]:
    """Define a rule for two items as a user would."""

    class Softly(Rule):
        """The higher mean, but only so often."""

        name = "softly"
        trust: float = option(
            0.75, "How often.", number("trust", "from 0.5 to 1", lambda x: x >= 0.5)
        )

        def chance(self, first: Numbers, second: Numbers) -> Floats:
            return 0.5 + (2 * self.trust - 1) * (mean(first, second) - 0.5)

    yield Softly
    del Method.registry["compare", "softly"]


def run(*words: str) -> str:
    result = CliRunner().invoke(cli, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_new_ranking_method_is_one_class(
    by_best: type[RankMethod], tmp_path: Path
) -> None:
    assert by_best in eh.methods("rank")
    assert "By a quantile of each item's scores." in run("methods", "quantile")
    file, record = str(EXAMPLES / "panel.csv"), str(tmp_path / "record.json")
    text = "quantile(share=0.25)"
    words = ("rank", file, "--method", text, "--seed", "7")
    found = json.loads(run(*words, "--json", "--record", record))
    assert (found["method"], found["parameters"]["share"]) == ("quantile", 0.25)
    assert found["certificate"]["theorem"] == "none"
    ratings = eh.read_ratings(file)
    for method in (text, by_best.from_options({"share": 0.25})):
        assert eh.rank(ratings, method=method, rng=7).to_dict() == found
    assert "ok      decision" in run("audit", record, file)
    scenario = Scenario(job="rank", items=5, reviewers=8)
    tried = eh.simulate(scenario, text, baseline="mean", trials=64, rng=7)
    assert [row.method for row in tried.rows] == ["mean", text]
    survived = eh.warp(ratings, method=text, draws=2, rng=7)
    assert survived.method == text


def test_a_new_rule_for_two_items_is_one_class(
    softly: type[Rule], tmp_path: Path
) -> None:
    assert softly in eh.methods("compare")
    file, record = str(EXAMPLES / "designs.csv"), str(tmp_path / "record.json")
    words = ("compare", file, "--method", "softly(trust=0.6)", "--seed", "7")
    declared = (*words, "--design", "halves", "--json", "--record", record)
    found = json.loads(run(*declared))
    assert (found["method"], found["parameters"]["trust"]) == ("softly", 0.6)
    assert found["p_first"] == pytest.approx(0.6)
    assert found["certificate"]["theorem"] == "G"
    assert found["p_value"] is not None
    assert "ok      decision" in run("audit", record, file)
    tried = eh.simulate(Scenario(), "softly(0.6)", baseline="coin", trials=64, rng=7)
    assert tried.rows[1].method == "softly(trust=0.6)"


@pytest.mark.parametrize("job", ["compare", "rank"])
def test_every_method_is_what_its_text_form_says(job: str) -> None:
    kind = Rule if job == "compare" else RankMethod
    for method in eh.methods(job):  # type: ignore[arg-type]  # one of the two
        assert as_method(method.name, kind) == method()
        assert as_method(str(method()), kind) == method()
        assert method.summary().endswith(".")
        assert str(method()) == method.name


@pytest.mark.parametrize(
    "text",
    [
        "flips(start=uniform, weight=rational(gamma=2))",
        "flips(weight=offset(c=0.3, base=rational(gamma=2)))",
        "twins(start=mean-rank(mean_ranks=proxy), twins=one, by=direct)",
        "safe(split=always, noise=0.5, anchored=False)",
        "flips-uniform(scan=paper)",
    ],
)
def test_a_text_form_is_read_and_written_again(text: str) -> None:
    assert str(as_method(text, RankMethod)) == text
    assert as_method(text, RankMethod) == as_method(f" {text} ", RankMethod)


def test_options_of_a_rule_are_read_and_written_again() -> None:
    text = "guarded(eps=0.2, statistic='median:lower')"
    value = Guarded(eps=0.2, statistic="median(lower)")
    assert value.eps == Fraction(1, 5)
    assert value.parameters()["statistic"] == "median:lower"
    assert str(value) == text
    assert as_method(text, Rule) == value


def test_a_switch_is_turned_on_by_its_name() -> None:
    value = as_method("adaptive(reliabilities)", RankMethod)
    assert value == Adaptive(reliabilities=True)
    assert value == as_method("adaptive(reliabilities=True)", RankMethod)
    assert str(value) == "adaptive(reliabilities)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("adaptive(reliable)", "options of adaptive must be named, got 'adaptive(reli"),
        ("flips(", "wrong at character 6"),
        ("flips)", "wrong at character"),
        ("", "wrong at character 1"),
        ("flips(weigth=1)", "unknown option 'weigth' of flips, did you mean 'weight'?"),
        ("flips(3)", "options of flips must be named"),
        ("mean(3)", "options of mean must be named"),
        ("mean-rank(exact, auto)", "options of mean-rank must be named"),
        ("mean-rank(exact, mean_ranks=auto)", "options of mean-rank must be named"),
        ("safe(noise=1, noise=2)", "with options in brackets, got"),
        ("flips(weight=rational(1, gamma=2))", "weight rational must have gamma"),
        ("flips(weight=rational:2)", "with options in brackets, got"),
        ("borda(x=1)", "unknown option 'x' of borda. Known options: none."),
        ("flips(start=adaptive)", "unknown start 'adaptive'"),
        ("flips(start=flips)", "unknown start 'flips'"),
        ("safe(noise='0.1')", "noise must be a finite number of at least 0"),
        ("safe(anchored=1)", "anchored must be True or False, got 1."),
        ("safe(split=sometimes)", "split must be one of 'auto', 'always'"),
        ("flips(**{'weight': 1})", "unknown option 'None' of flips"),
        ("flips(weight=1+1)", "wrong at character 14"),
        ("flips(weight=lambda gap: gap)", "wrong at character 14"),
        ("__import__('os')", "unknown method '__import__'"),
        ("().__class__", "wrong at character 1"),
        ("flips(start=open('x'))", "unknown start 'open'"),
        ("flíps", "wrong at character 1"),
        ("flips" + "(" * 500, "with options in brackets, got"),
        ("f(" + "9" * 5000 + ")", "with options in brackets, got"),
    ],
)
def test_what_is_no_method_gets_a_sentence_and_never_runs(
    text: str, message: str
) -> None:
    with pytest.raises(eh.OptionError) as error:
        as_method(text, RankMethod)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("thing", [None, 3, ["flips"], {"name": "flips"}, b"flips"])
def test_what_is_neither_text_nor_method_nor_function_is_refused(thing: object) -> None:
    with pytest.raises(eh.OptionError, match="must be a name or a function"):
        as_method(thing, RankMethod)


def test_a_class_stands_for_its_defaults() -> None:
    assert as_method(Safe, RankMethod) == Safe()
    assert Flips() != Flips(start=Uniform())
    assert len({Flips(), Flips(), Safe()}) == 2


def test_a_rule_is_no_ranking_method() -> None:
    with pytest.raises(eh.OptionError, match="a name or a function, got guarded"):
        as_method(Guarded(), RankMethod)
    for kind in (RankMethod, Guarded):
        with pytest.raises(eh.OptionError, match="must be a name or a function"):
            as_method(kind, RankMethod)


def test_names_with_hyphens_keep_their_place_in_messages() -> None:
    assert parse("mean-rank(mean_ranks=exact)").name == "mean-rank"
    assert parse("twins(start=mean-rank)").named == {"start": "mean-rank"}


@pytest.mark.parametrize("name", ["Bad Name", "a(b)", "-x", "1x", "class", "ünï", ""])
def test_a_name_that_no_text_could_name_is_refused(name: str) -> None:
    with pytest.raises(eh.OptionError, match="name of a method must be letters"):
        type("Mine", (RankMethod,), {"name": name, "best": BradleyTerry.best})
    assert ("rank", name) not in Method.registry


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(eh.OptionError, match="must be new, got 'flips' again"):
        type("Mine", (RankMethod,), {"name": "flips", "best": BradleyTerry.best})
    with pytest.raises(eh.OptionError, match="must say its best claim"):
        type("Mine", (RankMethod,), {"name": "mine"})
    assert Method.registry["rank", "flips"] is Flips


@pytest.mark.parametrize("given", [Answer(np.array([0, 0, 1])), [0, 1, 2], None])
def test_what_a_method_answers_is_checked(given: object) -> None:
    class Odd(RankMethod):
        """Anything."""

        name = "odd"
        best = BradleyTerry.best
        noisy = True

        def answer(self, task: Task) -> Answer:
            del task
            return given  # type: ignore[return-value]  # that is the point

    ratings = eh.Ratings(["a", "a", "a"], ["x", "y", "z"], [1, 2, 3])
    try:
        with pytest.raises(eh.OptionError, match="method odd must return"):
            eh.rank(ratings, method="odd", rng=1)
    finally:
        del Method.registry["rank", "odd"]
    for thing in (RankMethod(), RankMethod):
        with pytest.raises(eh.OptionError, match="must be a name or a function"):
            eh.rank(ratings, method=thing, rng=1)  # type: ignore[arg-type]  # refused

"""Python takes what the command line takes, in every function alike."""

from __future__ import annotations

import inspect
import json
import math
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import evenhand as eh
from evenhand.ratings import ReadingOptions
from tests.commands import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = ["poor", "fair", "good"]
ROWS = {
    "reviewer": list("aabbccddeeff"),
    "item": ["x", "y"] * 6,
    "score": [1, 3, 2, 3, 1, 2, 2, 2, 1, 3, 3, 2],
}
LONG = pl.DataFrame(ROWS)
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, object]]] = {
    "rank": (eh.rank, {}),
    "grade": (eh.grade, {}),
    "check": (eh.check, {}),
    "compare": (eh.compare, {"both": "drop"}),
}
# compare has reviewers of one item each.
HALVES = LONG[[0, 3, 4, 7, 8, 11]]


def result(name: str, data: object, **options: object) -> dict[str, Any]:
    function, own = FUNCTIONS[name]
    found: dict[str, Any] = function(data, rng=7, **own, **options).to_dict()
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_path_a_wide_frame_and_words_are_read_as_files_are(
    name: str, tmp_path: Path
) -> None:
    frame = HALVES if name == "compare" else LONG
    expected = result(name, eh.Ratings.from_frame(frame))
    path = tmp_path / "ratings.csv"
    frame.write_csv(path)
    assert result(name, path) == result(name, str(path)) == expected
    assert result(name, frame.to_pandas(), reviewer="reviewer") == expected
    wide = frame.pivot(on="reviewer", index="item", values="score")
    assert result(name, wide, rows="items")["data"] == expected["data"]
    texts = frame.with_columns(
        pl.Series("score", [WORDS[s - 1] for s in frame["score"]])
    )
    by_scale = result(name, texts, scale="poor<fair<good")
    assert by_scale["data"] == expected["data"]
    categories = texts.with_columns(pl.col("score").cast(pl.Enum(WORDS)))
    assert result(name, categories) == by_scale
    ordered = pd.Categorical(texts["score"].to_list(), WORDS, ordered=True)
    assert result(name, texts.to_pandas().assign(score=ordered)) == by_scale


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_score_is_left_out_alike_and_booleans_are_scores(name: str) -> None:
    frame = HALVES if name == "compare" else LONG
    gaps = frame.with_columns(pl.col("score").cast(pl.Float64))
    gaps[1, "score"] = None
    expected = result(name, gaps)
    assert "missing_scores" in [notice["code"] for notice in expected["warnings"]]
    assert result(name, gaps.fill_null(math.nan)) == expected
    assert result(name, gaps.to_pandas()) == expected
    passed = frame.with_columns(pl.col("score") > 1)
    numbers = passed.with_columns(pl.col("score").cast(pl.Int64))
    assert result(name, passed) == result(name, numbers)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unknown_option_gets_the_nearest(name: str) -> None:
    with pytest.raises(eh.OptionError, match=r"unknown option 'scael', .*'scale'\?"):
        result(name, LONG, scael="poor<good")
    with pytest.raises(eh.OptionError, match=r"scale must be left out for a Ratings"):
        result(name, eh.Ratings.from_frame(LONG), scale="poor<good")


def test_every_function_knows_the_options_of_read_ratings() -> None:
    options = [*inspect.signature(eh.read_ratings).parameters][1:]
    assert {*ReadingOptions.__annotations__} == {*options} - {
        "answered",
        "cluster",
        "order",
        "probability",
    }
    assert eh.__version__ == metadata.version("evenhand")


def test_missing_scores_of_lists_are_left_out() -> None:
    scores = [3.0, math.nan, 2.0], [1.0, 2.0, None]
    found = eh.compare(*scores, rng=7)  # type: ignore[arg-type]  # None is missing
    assert found.scores is not None
    assert (found.scores.n, found.notices[0].code) == ((2, 2), "missing_scores")
    matched = eh.compare(*scores, design="matched", rng=7)  # type: ignore[arg-type]  # as above
    assert matched.scores is not None
    assert matched.scores.n == (1, 1)


def test_clusters_are_read_recorded_and_replayed(tmp_path: Path) -> None:
    frame = LONG.with_columns(prompt=pl.col("reviewer").replace("f", "e") + "1")
    frame = pl.concat(
        [frame, frame.with_columns(pl.all().exclude("item", "score") + "2")]
    )
    path, record = tmp_path / "r.csv", tmp_path / "record.json"
    frame.write_csv(path)
    expected: dict[str, Any] = eh.rank(frame, cluster="prompt", rng=7).to_dict()
    assert expected["intervals"]["clusters"] == 10
    assert eh.rank(path, cluster="prompt", rng=7).to_dict() == expected
    column = ("--cluster", "prompt")
    words = [
        "rank",
        str(path),
        *column,
        "--seed",
        "7",
        "--json",
        "--record",
        str(record),
    ]
    shown = run(*words)
    assert json.loads(shown.stdout) == json.loads(json.dumps(expected))
    assert f"{record} {path} --cluster prompt" in shown.stderr
    audit = run("audit", str(record), str(path), *column)
    assert (audit.exit_code, "DIFFERS" in audit.stdout) == (0, False)
    without = run("audit", str(record), str(path))
    assert "Name their column with --column cluster=COLUMN" in " ".join(
        without.stdout.split()
    )
    checked = json.loads(run("check", str(path), *column, "--json").stdout)
    assert (
        checked["agreement"] is None or checked["agreement"]["left_out"] == "clusters"
    )
    for command, why in (
        ("compare", "p-values draw the item of each reviewer again"),
        ("grade", "its errors take reviewers as independent"),
    ):
        refused = run(command, str(path), *column)
        assert refused.exit_code == 2
        assert why in " ".join(refused.stderr.split())


def test_seed_is_another_word_for_rng() -> None:
    ratings = eh.Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
    for function in (eh.rank, eh.grade, eh.check, eh.warp):
        call: Any = function
        assert call(ratings, seed=7).seed == 7
        with pytest.raises(eh.OptionError, match="seed and rng are one option"):
            call(ratings, seed=7, rng=8)

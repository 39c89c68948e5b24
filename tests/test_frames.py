"""Dataframes go into every function that takes ratings."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import evenhand as eh

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(5)
SCORES = pl.DataFrame(
    [
        (judge, prompt, model, float(RNG.integers(1, 11)))
        for judge, prompt, model in itertools.product("xyz", range(6), "ABC")
    ],
    schema=["judge", "prompt", "model", "score"],
    orient="row",
)
JOINED = eh.Ratings(
    [f"{judge} / {prompt}" for judge, prompt in SCORES[["judge", "prompt"]].rows()],
    SCORES["model"].to_list(),
    SCORES["score"].to_list(),
)


def test_several_columns_name_one_reviewer() -> None:
    columns: Any = {"reviewer": ["judge", "prompt"], "item": "model"}
    for frame in (SCORES.lazy(), pd.DataFrame(SCORES.to_dict(as_series=False))):
        found = eh.rank(frame, method="mean", rng=7, **columns)
        assert found.to_dict() == eh.rank(JOINED, method="mean", rng=7).to_dict()
    assert eh.rank(SCORES, rng=7, **columns).to_dict() == (
        eh.rank(JOINED, rng=7).to_dict()
    )
    assert eh.check(SCORES, rng=7, **columns).to_dict() == (
        eh.check(JOINED, rng=7).to_dict()
    )
    warped = eh.warp(SCORES, draws=5, rng=7, **columns)
    assert warped.to_dict() == eh.warp(JOINED, draws=5, rng=7).to_dict()


def test_a_judge_of_all_prompts_is_summarised_by_items_of_two_columns() -> None:
    found = eh.check(SCORES, reviewer="judge", item=["model", "prompt"], rng=7)
    assert [(one.reviewer, one.ratings) for one in found.reviewers] == [
        (judge, 18) for judge in "xyz"
    ]


def test_rows_of_an_ab_test_need_no_name_and_no_order() -> None:
    frame = pl.DataFrame(
        {"arm": ["a", "b", "a", "b", "a"], "stars": [5, 3, 4, 2, None]}
    )
    found = [
        eh.compare(one, item="arm", score="stars", method="votes", rng=3)
        for one in (frame, frame.reverse())
    ]
    assert found[0].to_dict() == found[1].to_dict()
    assert found[0].p_value == eh.compare([5, 4], [3, 2], method="votes").p_value
    codes = [notice.code for notice in found[0].notices]
    assert codes[:2] == ["rows_are_reviewers", "missing_scores"]


def test_a_reviewer_column_is_used_where_there_is_one() -> None:
    frame = pl.DataFrame({"user": ["u", "u"], "variant": ["a", "b"], "rating": [5, 3]})
    with pytest.raises(eh.RatingsError, match="both"):
        eh.compare(frame, rng=3)


def test_files_take_columns_that_name_a_reviewer_together(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    SCORES.write_csv(path)
    found = eh.read_ratings(path, reviewer="judge+prompt", item="model")
    assert found.sha256 == JOINED.sha256
    with pytest.raises(eh.RatingsError, match=r"Unknown column 'promt'"):
        eh.read_ratings(path, reviewer="judge+promt", item="model")
    with pytest.raises(
        eh.RatingsError, match=r"44 more rows repeat a rating\. If several columns name"
    ):
        eh.read_ratings(path, reviewer="judge", item="model")


def test_a_column_name_that_comes_twice_gets_a_sentence() -> None:
    frame = pd.DataFrame(
        [["a", "x", 3, 4]], columns=["reviewer", "item", "score", "score"]
    )
    with pytest.raises(
        eh.RatingsError, match="Column names must differ, got one twice"
    ):
        eh.rank(frame)

"""Scenarios: defaults, and one sentence for everything that does not fit."""

from typing import Any

import numpy as np
import pytest

from evenhand.errors import DesignError, OptionError
from evenhand.lab.scenario import FIELDS, Scenario


def test_two_items_are_the_default() -> None:
    assert Scenario().to_dict() == {
        "job": "compare",
        "items": 2,
        "reviewers": 10,
        "values": "uniform:0:1",
        "scales": "affine",
        "noise": "none",
        "design": "halves",
        "per_reviewer": 0,
        "panels": 0,
    }


def test_ranking_is_the_papers_simulation_by_default() -> None:
    scenario = Scenario(job="rank")
    assert (scenario.items, scenario.reviewers) == (10, 22)
    assert (scenario.values, scenario.design) == ("uniform:0:10", "pairs")
    assert Scenario(job="rank", items=3).reviewers == 1


def test_designs_bring_defaults_of_their_own() -> None:
    dealt = Scenario(job="rank", items=6, design="balanced")
    assert (dealt.reviewers, dealt.per_reviewer) == (6, 3)
    assert Scenario(job="rank", items=6, design="everything").per_reviewer == 6
    assert Scenario(design="panels").panels == 2


def test_a_scenario_gives_itself_again() -> None:
    first = Scenario(job="rank", items=5, design="balanced", scales="power > levels:3")
    fields: dict[str, Any] = first.to_dict()
    assert Scenario(**fields) == first


def test_scales_are_laid_over_the_values() -> None:
    family = Scenario(values="uniform:10:20", scales="levels:3").family()
    scores = family.apply(np.array([[11.0, 15.1]]), np.random.default_rng(7))
    assert scores.tolist() == [[10.0, 15.0]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"job": "rnk"}, "unknown job 'rnk', did you mean 'rank'?"),
        ({"design": "halfs"}, "unknown design 'halfs', did you mean 'halves'?"),
        ({"job": "rank", "design": "halves"}, "unknown design 'halves'"),
        ({"scales": "afine"}, "did you mean 'affine'?"),
        ({"noise": "gauss"}, "unknown noise 'gauss'"),
        ({"values": "unifrm:0:1"}, "unknown value 'unifrm', did you mean"),
        ({"reviewers": -1}, "reviewers must be a whole number of at least 0, got -1."),
        ({"reviewers": 3.5}, "reviewers must be a whole number of at least 0, got 3.5"),
        ({"panels": True}, "panels must be a whole number of at least 0, got True."),
        ({"values": 3}, "values must be text, got 3."),
    ],
)
def test_options_that_mean_nothing_are_refused(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(OptionError) as refusal:
        Scenario(**options)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"reviewers": 5, "design": "matched"},
            "reviewers must be even for design 'matched', got 5.",
        ),
        ({"items": 3}, "items must be exactly 2 for job 'compare', got 3."),
        (
            {"job": "rank", "items": 2},
            "items must be at least 3 for job 'rank', got 2.",
        ),
        ({"per_reviewer": 2}, "per_reviewer must be 0 for design 'halves', got 2."),
        ({"panels": 3}, "panels must be left out for design 'halves'."),
        (
            {"design": "panels", "panels": 11},
            "panels must be from 2 to the 10 reviewers, got 11.",
        ),
        ({"job": "rank", "panels": 2}, "panels must be left out for design 'pairs'."),
        (
            {"job": "rank", "items": 4, "reviewers": 6},
            "reviewers must be fewer than 6, the number of pairs of 4 items, for "
            "design 'pairs', got 6. With every pair compared no theorem applies",
        ),
        (
            {"job": "rank", "items": 4, "per_reviewer": 3},
            "per_reviewer must be 2 for design 'pairs', got 3.",
        ),
        (
            {"job": "rank", "items": 4, "design": "balanced", "per_reviewer": 5},
            "per_reviewer must be at most items = 4, got 5.",
        ),
    ],
)
def test_designs_that_do_not_fit_are_refused(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(DesignError) as refusal:
        Scenario(**options)
    assert words in str(refusal.value)


def test_every_field_is_explained() -> None:
    assert Scenario.__doc__ is not None
    assert [
        name for name in FIELDS if f"        {name}: " not in Scenario.__doc__
    ] == []


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("uniform:0:1:2", "at most 2 numbers"),
        ("uniform:1:1", "a lower end before the higher one"),
        ("uniform:0:x", "finite numbers, not 'x', got 'uniform:0:x'"),
        ("normal:0:0", "an SD above 0"),
        ("normal:0:inf", "finite numbers, not 'inf'"),
        ("given:1,2", "unknown value 'given'"),
    ],
)
def test_bad_values_are_refused(spec: str, words: str) -> None:
    with pytest.raises(OptionError) as refusal:
        Scenario(values=spec)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("none:1", "at most 0 numbers after 'none'"),
        ("normal", "at least 1 and at most 1 numbers after 'normal'"),
        ("normal:-1", "SDs of at least 0"),
        ("per-reviewer:1", "at least 2"),
        ("per-reviewer:2:1", "SDs of at least 0, the lower first"),
    ],
)
def test_bad_noise_is_refused(spec: str, words: str) -> None:
    with pytest.raises(OptionError) as refusal:
        Scenario(noise=spec)
    assert words in str(refusal.value)


def test_sizes_that_do_not_fit_in_memory_are_refused() -> None:
    with pytest.raises(DesignError, match="must be at most 2,000,000 to fit in memory"):
        Scenario(job="rank", items=2000)

"""How long a watched comparison takes: the simulation is that of the library."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.looks import STREAMS, alarms
from evenhand.ab.evidence import places, watch
from evenhand.ab.pvalues import p_values
from evenhand.errors import EvenhandError
from evenhand.lab.watching import (
    evidence_paths,
    midrank_z,
    past_places,
    plan_watch,
    settle_times,
)
from tests.commands import refused, run


def test_paths_are_those_of_a_watch() -> None:
    rng = np.random.default_rng(36)
    first, scores = (
        rng.random((2, 1300)) < 0.5,
        rng.integers(1, 6, (2, 1300)).astype(np.float64),
    )
    scores = np.where(first, scores + 0.3, scores)
    assert np.allclose(past_places(scores), [places(row) for row in scores])
    logs = evidence_paths(first, scores, np.full((2, 1300), 0.5))
    stops, leads = settle_times(logs, 0.05)
    for row in range(2):
        whole = watch(first[row], scores[row], np.full(1300, 0.5), (0, 1))
        assert np.exp(logs[row, -1, 2]) == pytest.approx(whole.e_value)
        assert whole.settled_at == (stops[row] if np.isfinite(stops[row]) else None)
        assert whole.settled in (None, int(leads[row]))


def test_the_fixed_test_is_the_midrank_test() -> None:
    rng = np.random.default_rng(3)
    first, scores = (
        rng.random((1, 300)) < 0.5,
        rng.integers(1, 6, (1, 300)).astype(np.float64),
    )
    z = float(midrank_z(first, scores)[0])
    sides = scores[first], scores[~first]
    exact = p_values(*sides, statistic="midrank", rng=1).p_value_first
    assert math.erfc(z / math.sqrt(2)) / 2 == pytest.approx(exact, abs=0.02)


def test_a_plan_names_the_better_item_and_says_how_many() -> None:
    plan = plan_watch(1.0, reviewers=150, trials=100, rng=7)
    assert plan.fixed is not None
    assert plan.quantiles[0.5] is not None
    assert plan.quantiles[0.5] <= 1.6 * plan.fixed
    assert plan.wrong < 0.05
    assert plan_watch(0.01, reviewers=30, trials=20, rng=7).quantiles[0.5] is None
    for options in ({"scale": "stars"}, {"alpha": 2.0}, {"trials": 0}):
        with pytest.raises(EvenhandError):
            plan_watch(1.0, **options)


def test_the_command_plans_a_watch() -> None:
    words = ("simulate", "--job", "sequential")
    done = run(*words, "--effect", "1", "--reviewers", "60", "--trials", "20")
    assert "A look after every score" in done.stdout
    assert "effect must be given" in refused(*words)
    assert "unless the job is sequential" in refused("simulate", "--effect", "1")


@pytest.mark.parametrize("name", STREAMS)
def test_no_stream_fools_the_evidence_more_often_than_it_says(name: str) -> None:
    # 100 runs of 60 scores at 5%: more than 19 have a chance below 1e-6.
    assert alarms(name, 100, 60, 7)[0] <= 0.19

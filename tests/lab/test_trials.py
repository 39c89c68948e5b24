"""Drawn trials follow the designs' exact laws and the scenario's words."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from evenhand import designs
from evenhand.errors import OptionError
from evenhand.lab.scenario import Scenario, Trials, draw_trials

TRIALS = 6000


def drawn(scenario: Scenario, trials: int, seed: int = 7) -> Trials:
    return draw_trials(scenario, trials, np.random.default_rng(seed))


def too_far(seen: Counter[Any], law: Mapping[Any, Fraction], trials: int) -> bool:
    # Six standard errors for each of at most 120 outcomes: a correct build fails for
    # fewer than one seed in a million.
    for outcome, chance in law.items():
        p = float(chance)
        if abs(seen[outcome] - trials * p) > 6 * (trials * p * (1 - p)) ** 0.5:
            return True
    return not set(seen) <= set(law)


@pytest.mark.parametrize(
    ("scenario", "law"),
    [
        (Scenario(reviewers=4), designs.law("halves", 4)),
        (Scenario(reviewers=5), designs.law("halves", 5)),
        (Scenario(reviewers=3, design="coins"), designs.law("coins", 3)),
        (
            Scenario(reviewers=4, design="matched"),
            designs.law("matched", ["a", "a", "b", "b"]),
        ),
        (
            Scenario(reviewers=5, design="panels", panels=3),
            designs.law("panels", ["a", "a", "b", "b", "c"]),
        ),
        (Scenario(reviewers=4, design="panels"), designs.law("panels", "aabb")),
        (Scenario(job="rank", items=4, reviewers=2), designs.law("pairs", 4, 2)),
        (
            Scenario(
                job="rank", items=3, reviewers=3, design="balanced", per_reviewer=2
            ),
            designs.law("balanced", 3, 3, 2),
        ),
    ],
)
def test_drawn_assignments_have_the_designs_law(
    scenario: Scenario, law: Mapping[Any, Fraction]
) -> None:
    assigned = drawn(scenario, TRIALS).assigned
    if scenario.job == "compare":
        seen: Counter[Any] = Counter(map(tuple, assigned[..., 0].tolist()))
    else:
        seen = Counter(tuple(map(tuple, rows)) for rows in assigned.tolist())
    assert not too_far(seen, law, TRIALS)


def test_everything_is_seen_by_everybody() -> None:
    block = drawn(Scenario(job="rank", items=3, design="everything"), 2)
    assert block.assigned.tolist() == [[[0, 1, 2]] * 3] * 2


def test_scores_are_those_of_the_items_seen() -> None:
    scenario = Scenario(job="rank", items=5, scales="incremental")
    block = drawn(scenario, 4)
    for trial in range(4):
        for reviewer in range(scenario.reviewers):
            seen = block.assigned[trial, reviewer]
            expected = block.values[trial, seen] + (reviewer + 1)
            assert block.scores[trial, reviewer].tolist() == expected.tolist()


def test_every_true_ranking_is_as_likely() -> None:
    scenario = Scenario(job="rank", items=3, values="normal:0:1")
    order = np.argsort(drawn(scenario, TRIALS).values, axis=1)
    seen = Counter(map(tuple, order.tolist()))
    assert len(seen) == 6
    assert not too_far(seen, dict.fromkeys(seen, Fraction(1, 6)), TRIALS)


def test_normal_noise_has_its_spread() -> None:
    scenario = Scenario(reviewers=40_000, scales="identity", noise="normal:3")
    block = drawn(scenario, 1)
    noise = (block.scores[0] - np.take(block.values[0], block.assigned[0])) / 3
    # Six standard errors of a mean and of a variance.
    assert abs(noise.mean()) < 6 / 200
    assert abs(noise.var() - 1) < 6 * 2**0.5 / 200


def test_values_follow_their_law() -> None:
    uniform = drawn(Scenario(values="uniform:-1:3"), TRIALS).values
    normal = drawn(Scenario(values="normal:5:2"), TRIALS).values
    assert -1 <= uniform.min() < uniform.max() <= 3
    # Six standard errors of a mean and of a variance.
    for values, mean, sd in ((uniform, 1, 2 / 3**0.5), (normal, 5, 2)):
        assert abs(values.mean() - mean) < 6 * sd / (2 * TRIALS) ** 0.5
        assert abs(values.var() / sd**2 - 1) < 6 * (2 / (2 * TRIALS)) ** 0.5


def test_a_reviewers_own_spread_scales_all_of_its_noise() -> None:
    scenario = Scenario(
        job="rank",
        items=2000,
        reviewers=2,
        design="everything",
        scales="identity",
        noise="per-reviewer:1:9",
    )
    block = drawn(scenario, 1)
    spread = (block.scores[0] - block.values[0]).std(axis=1)
    assert 0.9 < spread.min() < spread.max() < 10
    assert abs(spread[0] - spread[1]) > 0.5


def test_ties_are_seen_where_a_reviewer_cannot_tell_items_apart() -> None:
    assert not drawn(Scenario(), 64).tied.any()
    assert drawn(Scenario(scales="levels:2"), 64).tied.any()
    # On a form of two marks, two of three items are always tied.
    every = Scenario(job="rank", items=3, design="everything", scales="levels:2")
    assert drawn(every, 64).tied.all()


def test_scores_beyond_floats_are_refused() -> None:
    scenario = Scenario(
        values="uniform:0:1", scales="affine:1e308:1.7e308 > affine:9:9"
    )
    with pytest.raises(OptionError, match="scores must be finite"):
        drawn(scenario, 2)

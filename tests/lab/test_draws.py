"""Drawn trials follow the designs' exact laws and the scenario's words."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from evenhand import designs
from evenhand.ab._numbers import Floats
from evenhand.errors import OptionError
from evenhand.lab import _draws
from evenhand.lab._draws import draw_block, score_range
from evenhand.lab.scales import scales
from evenhand.lab.scenario import Scenario

TRIALS = 6000


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
        (Scenario(reviewers=4), designs.enumerate_halves(4)),
        (Scenario(reviewers=5), designs.enumerate_halves(5)),
        (Scenario(reviewers=3, design="coins"), designs.enumerate_coins(3)),
        (
            Scenario(reviewers=4, design="matched"),
            designs.enumerate_matched(["a", "a", "b", "b"]),
        ),
        (
            Scenario(reviewers=5, design="panels", panels=3),
            designs.enumerate_panels(["a", "a", "b", "b", "c"]),
        ),
        (Scenario(reviewers=4, design="panels"), designs.enumerate_panels("aabb")),
        (Scenario(job="rank", items=4, reviewers=2), designs.enumerate_pairs(4, 2)),
        (
            Scenario(
                job="rank", items=3, reviewers=3, design="balanced", per_reviewer=2
            ),
            designs.enumerate_balanced(3, 3, 2),
        ),
    ],
)
def test_drawn_assignments_have_the_designs_law(
    scenario: Scenario, law: Mapping[Any, Fraction]
) -> None:
    assigned = draw_block(scenario, 7, 0, TRIALS).assigned
    if scenario.job == "compare":
        seen: Counter[Any] = Counter(map(tuple, assigned[..., 0].tolist()))
    else:
        seen = Counter(tuple(map(tuple, rows)) for rows in assigned.tolist())
    assert not too_far(seen, law, TRIALS)


def test_many_items_are_paired_by_the_design_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_draws, "SHUFFLED_PAIRS", 0)
    scenario = Scenario(job="rank", items=4, reviewers=2)
    assigned = draw_block(scenario, 7, 0, 2000).assigned.tolist()
    seen = Counter(tuple(map(tuple, rows)) for rows in assigned)
    assert not too_far(seen, designs.enumerate_pairs(4, 2), 2000)


def test_everything_is_seen_by_everybody() -> None:
    block = draw_block(Scenario(job="rank", items=3, design="everything"), 7, 0, 2)
    assert block.assigned.tolist() == [[[0, 1, 2]] * 3] * 2


def test_the_first_trials_do_not_depend_on_how_many_follow() -> None:
    for scenario in (
        Scenario(noise="per-reviewer:0:1", reviewers=5),
        Scenario(job="rank", items=5, noise="normal:1", values="given:1,2,3,4,5"),
        Scenario(job="rank", items=5, design="balanced", scales="piecewise"),
    ):
        few, many = (draw_block(scenario, 7, 3, count) for count in (2, 5))
        for name in ("values", "assigned", "scores", "tied", "pairing"):
            assert (getattr(few, name) == getattr(many, name)[:2]).all(), name


def test_blocks_and_seeds_differ() -> None:
    drawn = [
        draw_block(Scenario(), seed, number, 1).values.tolist()
        for seed, number in ((7, 0), (7, 1), (8, 0))
    ]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


def test_scores_are_those_of_the_items_seen() -> None:
    scenario = Scenario(job="rank", items=5, scales="incremental")
    block = draw_block(scenario, 7, 0, 4)
    for trial in range(4):
        for reviewer in range(scenario.reviewers):
            seen = block.assigned[trial, reviewer]
            expected = block.values[trial, seen] + (reviewer + 1)
            assert block.scores[trial, reviewer].tolist() == expected.tolist()


def test_only_what_a_reviewer_sees_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    family = scales("affine")

    def counted(values: Floats, uniforms: Floats) -> Floats:
        sizes.append(values.size)
        return family.apply(values, uniforms)

    scenario = Scenario(job="rank", items=40, reviewers=30, scales="affine")
    plain = draw_block(scenario, 7, 0, 6).scores
    # What somebody else made of a family may look at other values.
    watched = replace(family, apply=counted)
    monkeypatch.setattr(Scenario, "family", lambda _: watched)
    np.testing.assert_array_max_ulp(draw_block(scenario, 7, 0, 6).scores, plain, 1)
    object.__setattr__(watched, "one_by_one", True)
    np.testing.assert_array_equal(draw_block(scenario, 7, 0, 6).scores, plain)
    assert sizes == [6 * 30 * 40, 6 * 30 * 2]


def test_every_order_of_given_values_is_as_likely() -> None:
    scenario = Scenario(job="rank", items=3, values="given:1,2,4")
    values = draw_block(scenario, 7, 0, TRIALS).values.tolist()
    seen = Counter(map(tuple, values))
    assert len(seen) == 6
    assert not too_far(seen, dict.fromkeys(seen, Fraction(1, 6)), TRIALS)


def test_every_true_ranking_is_as_likely() -> None:
    scenario = Scenario(job="rank", items=3, values="normal:0:1")
    places = draw_block(scenario, 7, 0, TRIALS).places().tolist()
    seen = Counter(map(tuple, places))
    assert len(seen) == 6
    assert not too_far(seen, dict.fromkeys(seen, Fraction(1, 6)), TRIALS)


def test_an_arbitrary_truth_stays() -> None:
    scenario = Scenario(job="rank", items=4, truth="arbitrary", order=(3, 1, 4, 2))
    places = draw_block(scenario, 7, 0, 50).places()
    assert (places == [1, 3, 0, 2]).all()


def test_noise_has_its_law() -> None:
    scenario = Scenario(
        reviewers=1000, scales="identity", noise="discrete:-1,0,2:0.2,0.3,0.5"
    )
    block = draw_block(scenario, 7, 0, 1)
    noise = block.scores[0] - np.take(block.values[0], block.assigned[0])
    seen = Counter(np.round(noise.ravel()).astype(int).tolist())
    law = {-1: Fraction(1, 5), 0: Fraction(3, 10), 2: Fraction(1, 2)}
    assert not too_far(seen, law, 1000)


def test_normal_noise_has_its_spread() -> None:
    scenario = Scenario(reviewers=40_000, scales="identity", noise="normal:3")
    block = draw_block(scenario, 7, 0, 1)
    noise = (block.scores[0] - np.take(block.values[0], block.assigned[0])) / 3
    # Six standard errors of a mean and of a variance.
    assert abs(noise.mean()) < 6 / 200
    assert abs(noise.var() - 1) < 6 * 2**0.5 / 200


def test_a_form_has_so_many_marks_within_the_range_of_a_trial_run() -> None:
    scenario = Scenario(job="rank", items=5, noise="normal:1", levels=4)
    low, high = score_range(scenario)
    block = draw_block(scenario, 7, 0, 100)
    marks = np.unique(block.scores)
    assert np.allclose(marks, np.linspace(low, high, 4))
    assert block.tied.any()


def test_ties_are_seen_where_a_reviewer_cannot_tell_items_apart() -> None:
    assert not draw_block(Scenario(), 7, 0, 64).tied.any()
    assert draw_block(Scenario(scales="levels:2"), 7, 0, 64).tied.any()
    # On a form of two marks, two of three items are always tied.
    every = Scenario(job="rank", items=3, design="everything", levels=2)
    assert draw_block(every, 7, 0, 64).tied.all()


def test_a_users_scales_are_looked_at() -> None:
    def falling(reviewer: int, values: Floats) -> Floats:
        return values if reviewer else -values

    def flat(reviewer: int, values: Floats) -> Floats:
        return values * 0 + reviewer

    for scale in (falling, flat):
        with pytest.raises(OptionError, match=r"increasing on the values used.*\b0\."):
            draw_block(Scenario(scales=scale), 7, 0, 2)


def test_scores_beyond_floats_are_refused() -> None:
    scenario = Scenario(
        values="uniform:0:1", scales="affine:1e308:1.7e308 > affine:9:9"
    )
    with pytest.raises(OptionError, match="scores must be finite"):
        draw_block(scenario, 7, 0, 2)

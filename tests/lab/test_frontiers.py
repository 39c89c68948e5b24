"""The best weight for declared biases: closed forms, brackets, and other ways."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.ab import weights
from evenhand.ab.weights import GapWeight
from evenhand.errors import OptionError
from evenhand.lab import Scenario, best_weight, frontier
from evenhand.lab.curves import best_tradeoff, known_bias_frontier, tradeoff
from evenhand.lab.exact import uniform_success
from evenhand.lab.frontiers import (
    Frontier,
    as_game,
    best_step,
    bias_law,
    kinks_of,
    scenario_law,
    step_gain,
    worst,
)

FLOORS = (0.0, 10.0, 26.17, 50.0, 99.0)


@pytest.fixture(scope="module")
def unknown_bias() -> Frontier:
    return frontier(between=(0, 4))


# What a step gains.


@given(st.floats(0, 5), st.floats(0, 6))
@settings(max_examples=50)
def test_a_step_gains_what_the_average_over_values_says(
    bias: float, threshold: float
) -> None:
    def pushed(gaps: np.ndarray) -> np.ndarray:
        return np.asarray(np.sign(gaps) * (np.abs(gaps) >= threshold))

    gaps = (np.arange(20_000) + 0.5) / 20_000
    known = np.mean((1 - gaps) * (pushed(gaps + bias) + pushed(gaps - bias)))
    assert step_gain(bias, threshold) == pytest.approx(known, abs=2e-4)


@given(st.floats(0, 5), st.floats(0, 5))
def test_bias_and_threshold_play_the_same_part(one: float, two: float) -> None:
    assert step_gain(one, two) == pytest.approx(step_gain(two, one), abs=1e-15)


@given(st.floats(0, 3))
def test_between_kinks_a_step_gains_a_polynomial_of_degree_two(bias: float) -> None:
    law = bias_law(bias)
    ends = np.append(law.kinks, law.kinks[-1] + 1)
    for low, high in itertools.pairwise(ends):
        third = np.diff(law.net(np.linspace(low, high, 7)), 3)
        assert np.abs(third).max() < 1e-12


@pytest.mark.parametrize("gamma", [0.01, 1.0, 40.0, 1e5])
def test_weights_gain_what_the_closed_forms_say(gamma: float) -> None:
    point = tradeoff(gamma)
    weight = weights.rational(gamma)
    assert 100 * bias_law(0).improvement(weight) == pytest.approx(point.perfect)
    assert 100 * bias_law(1).improvement(weight) == pytest.approx(point.biased)
    assert 100 * bias_law(-1).improvement(weight) == pytest.approx(point.biased)


def test_weights_gain_what_the_exact_lab_says_at_other_biases() -> None:
    weight = weights.offset(0.2, weights.sigmoid(0.1))
    for bias in (Fraction(1, 3), Fraction(3, 4), Fraction(5, 2)):
        known = uniform_success("votes", (0, bias), weight=weight).improvement
        assert 100 * bias_law(float(bias)).improvement(weight) == pytest.approx(known)


# A known bias: the frontier of the paper's Figure 3.


def test_for_a_known_bias_of_1_it_is_half_of_what_is_given_up() -> None:
    for point in frontier([1.0], perfect=FLOORS).points:
        assert point.worst == pytest.approx(known_bias_frontier(point.floor), abs=1e-9)
        assert point.bound == pytest.approx(point.worst, abs=1e-9)
        assert point.perfect >= point.floor - 1e-9


def test_the_paper_s_family_reaches_9_where_37_is_possible() -> None:
    best = best_tradeoff()
    (point,) = frontier([1.0], perfect=26.17).points
    by_name = {found.family: found for found in point.families}
    assert by_name["rational"].worst == pytest.approx(best.biased, abs=1e-9)
    assert point.worst == pytest.approx(36.915, abs=1e-9)
    # c + (1 - c) u / 2 gains (1 - c) / 6 whatever the bias, c + (1 - c) / 6 without.
    c = (0.2617 - 1 / 6) * 6 / 5
    known = 100 * (1 - c) / 6
    assert by_name["offset-linear"].worst == pytest.approx(known, abs=1e-9)


# An unknown bias in [0, 4].


def test_for_an_unknown_bias_the_numbers_are_the_known_ones(
    unknown_bias: Frontier,
) -> None:
    (point,) = unknown_bias.points
    assert unknown_bias.exact
    assert 4.56 < point.worst <= point.bound < 4.59
    found = {one.family: one.worst for one in point.families}
    # (1 - c) / 15 with c + (1 - c) / 15 = 1 / 2.
    assert found["offset-linear"] == pytest.approx(100 / 28, abs=1e-6)
    assert found["offset-rational"] == pytest.approx(1.138, abs=1e-3)
    assert found["rational"] == pytest.approx(0.4576, abs=1e-4)
    assert list(found) == ["offset-linear", "offset-rational", "rational"]


def test_finer_grids_bring_the_bounds_together() -> None:
    brackets = []
    for cells in (30, 60, 120, 480):
        (point,) = frontier(between=(0, 4), cells=cells).points
        brackets.append((point.worst, point.bound))
    widths = [bound - worst for worst, bound in brackets]
    assert all(fine < coarse for coarse, fine in itertools.pairwise(widths))
    assert widths[-1] < 0.01
    # They all hold the same number.
    assert max(worst for worst, _ in brackets) <= min(bound for _, bound in brackets)


def test_the_table_gains_at_least_that_at_every_bias(unknown_bias: Frontier) -> None:
    (point,) = unknown_bias.points
    at, shares = np.array(point.at), np.array(point.shares)
    biases = np.linspace(0, 4, 20_001)
    gains = 100 * step_gain(biases[:, None], at) @ shares
    assert gains.min() >= point.worst - 1e-12
    assert gains.min() == pytest.approx(point.worst, abs=1e-4)
    assert 100 * step_gain(0.0, at) @ shares == pytest.approx(point.perfect)
    assert shares.sum() <= 1 + 1e-12


@given(
    st.lists(st.floats(0, 5), min_size=1, max_size=8, unique=True),
    st.lists(st.floats(0.01, 1), min_size=8, max_size=8),
    st.floats(0, 1),
)
@settings(max_examples=60)
def test_no_table_gets_beyond_the_bound(
    at: list[float], sizes: list[float], kept: float
) -> None:
    # A share at 0 makes every table keep the floor of one half.
    shares = np.array(sizes[: len(at)]) / sum(sizes[: len(at)]) * kept / 2
    table = np.append(np.array(at), 0.0)
    game = as_game((), (0.0, 4.0), None, 60)
    gained, _ = worst(game, table, np.append(shares, 1 - shares.sum()))
    assert 100 * gained <= BOUND


BOUND = frontier(between=(0, 4), cells=60).points[0].bound


@given(st.lists(st.floats(0, 4), min_size=1, max_size=5))
@settings(max_examples=30)
def test_the_best_step_is_the_best_on_a_fine_grid(biases: list[float]) -> None:
    game = as_game(biases, None, None, 10)
    prices = np.full(len(biases), 1 / len(biases))
    grid = np.linspace(0, 5, 5001)
    gains = sum(step_gain(bias, grid) for bias in biases) / len(biases)
    found = best_step(game, prices, 0.25)
    assert found >= (gains + step_gain(0.0, grid) / 4).max() - 1e-12
    assert found <= (gains + step_gain(0.0, grid) / 4).max() + 1e-3


def test_kinks_are_where_the_formula_changes() -> None:
    assert kinks_of([2.0]).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_families_never_beat_the_bound_nor_miss_the_floor() -> None:
    for point in frontier([0.5, 2.0], perfect=FLOORS).points:
        for found in point.families:
            assert found.worst <= point.bound + 1e-9
            assert found.perfect >= point.floor - 1e-6
            for bias in (0.5, 2.0):
                gained = 100 * bias_law(bias).improvement(found.weight)
                assert gained >= found.worst - 1e-9


# Averages, scenarios and ranges.


def test_a_prior_on_one_scenario_is_that_scenario() -> None:
    (average,) = frontier([1.0, 3.0], prior=[1, 0], perfect=40).points
    assert average.worst == pytest.approx(30, abs=1e-9)
    assert average.bound == pytest.approx(30, abs=1e-9)
    assert average.where == "on average"


def test_the_average_is_at_least_the_worst() -> None:
    (average,) = frontier([0.5, 2.0], prior=[0.5, 0.5], perfect=40).points
    (least,) = frontier([0.5, 2.0], perfect=40).points
    assert average.worst > least.worst


def test_scenarios_that_add_are_biases_by_another_name() -> None:
    named = frontier([Scenario(reviewers=2, scales="incremental")], perfect=30)
    assert named.exact
    assert named.scenarios == ("incremental",)
    assert named.points[0].worst == pytest.approx(35, abs=1e-9)
    wide = Scenario(reviewers=2, values="uniform:0:2", scales="incremental")
    (half,) = frontier([wide], perfect=30).points
    (known,) = frontier([0.5], perfect=30).points
    assert half.worst == pytest.approx(known.worst, abs=1e-9)
    assert max(half.at) == pytest.approx(2 * max(known.at))


def test_a_disjoint_scale_keeps_its_distance_from_wide_values() -> None:
    wide = Scenario(reviewers=2, values="uniform:0:5", scales="disjoint")
    assert scenario_law(wide).largest == 15
    assert scenario_law(wide).net(np.array([10.0]))[0] == 0.5


def test_points_come_close_to_the_formula() -> None:
    def adding(reviewer: int, values: np.ndarray) -> np.ndarray:
        return values + reviewer

    law = scenario_law(Scenario(reviewers=2, scales=adding))
    assert not law.exact
    thresholds = np.linspace(0, 2.2, 45)
    np.testing.assert_allclose(law.net(thresholds), step_gain(1, thresholds), atol=2e-4)
    assert law.improvement(weights.rational()) == pytest.approx(
        bias_law(1).improvement(weights.rational()), abs=2e-5
    )


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(reviewers=2, scales="affine"),
        Scenario(reviewers=2, scales="bias:0.5"),
        Scenario(reviewers=2, scales="identity > levels:4", values="normal:0:1"),
        Scenario(reviewers=2, scales="identity", noise="normal:0.3"),
        Scenario(reviewers=2, scales="power", noise="per-reviewer:0:1"),
    ],
    ids=lambda scenario: f"{scenario.scales} {scenario.noise}",
)
def test_points_agree_with_simulation(scenario: Scenario) -> None:
    law = scenario_law(scenario)
    run = eh.simulate(scenario, "votes", baseline="coin", trials=8000, rng=2019)
    row = next(row for row in run.rows if row.method == "votes")
    assert row.improvement is not None
    assert row.improvement_se is not None
    # Five standard errors, and the error of the points: one seed in 1.7 million.
    gained = 100 * law.improvement(weights.rational())
    assert abs(row.improvement - gained) < 5 * row.improvement_se + 0.02


def test_a_scenario_without_a_formula_has_a_table_and_no_linear_weight() -> None:
    found = frontier([Scenario(reviewers=2, scales="affine"), 1.0], perfect=30)
    assert not found.exact
    (point,) = found.points
    assert 0 < point.worst <= point.bound < point.worst + 0.1
    assert {one.family for one in point.families} == {"rational", "offset-rational"}


def test_a_known_adversary_is_no_worse_than_a_known_bias() -> None:
    # The larger of its two gaps always tells the truth, the smaller one never does.
    (point,) = frontier([Scenario(reviewers=2, scales="adversary")], perfect=30).points
    assert point.worst == pytest.approx(35, abs=1e-9)
    assert point.bound == pytest.approx(35, abs=1e-9)


def test_a_range_of_one_bias_is_that_bias() -> None:
    (point,) = frontier(between=(1, 1), perfect=40).points
    assert point.worst == pytest.approx(30, abs=1e-9)


# The table as a weight.


def test_the_table_is_a_strictly_increasing_weight(unknown_bias: Frontier) -> None:
    (point,) = unknown_bias.points
    weight = point.weight(mix=0.02)
    values = weight(np.linspace(0, 8, 4001))
    assert (np.diff(values) > 0).all()
    assert 0 < values[0] < values[-1] < 1
    # One part in fifty costs at most that part.
    for bias in (0.0, 0.9, 2.5, 4.0):
        gained = 100 * bias_law(bias).improvement(weight)
        assert gained > 0.98 * point.worst - 0.1


def test_the_strict_table_beats_a_coin_on_scales_where_steps_do_not() -> None:
    (point,) = frontier([1.0], perfect=50).points
    gaps = [0.3 - 50.1, 50.3 - 0.1]
    assert weights.odd(point.weight(), gaps).mean() > 0.5
    values = np.array([50.2, 49.8])
    assert len({float(sum(np.array(point.shares)[point.at <= v])) for v in values}) == 1


def test_a_record_of_the_table_gives_it_again(unknown_bias: Frontier) -> None:
    weight = unknown_bias.points[0].weight()
    again = weights.as_weight(json.loads(json.dumps(weight.to_dict())))
    gaps = np.linspace(0, 6, 301)
    np.testing.assert_array_equal(again(gaps), weight(gaps))


@pytest.mark.parametrize("family", ["rational", "offset-rational", "offset-linear"])
def test_the_best_weight_of_a_family_is_the_frontier_s(family: str) -> None:
    chosen = best_weight([1.0], perfect=50, family=family)
    (point,) = frontier([1.0], perfect=50).points
    (known,) = [one for one in point.families if one.family == family]
    assert chosen.to_dict() == known.weight.to_dict()


def test_the_best_weight_for_an_unknown_bias_is_linear_with_an_offset() -> None:
    chosen = best_weight(between=(0, 4))
    assert isinstance(chosen, GapWeight)
    assert chosen.name == "offset"
    assert chosen(0.0) == pytest.approx(13 / 28, abs=1e-6)
    assert chosen(5.0) == pytest.approx(1)
    assert best_weight(between=(0, 4), family="steps").name == "steps"


def test_results_print_and_go_into_json(unknown_bias: Frontier) -> None:
    text = repr(unknown_bias)
    assert text.startswith(
        "perfect >= 50 %: any weight 4.57 % (at most 4.58 %), offset"
    )
    document = json.loads(json.dumps(unknown_bias.to_dict()))
    assert document["schema"] == "evenhand.frontier/1"
    assert document["between"] == [0, 4]
    assert document["scenarios"] == ["bias between 0 and 4"]
    assert "strictly" in document["caution"]
    (point,) = document["points"]
    assert [found["family"] for found in point["families"]][:1] == ["offset-linear"]


# What is refused.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"at least one, or give between=\(0, 4\)"),
        ({"scenarios": [1.0], "perfect": 100}, "at least 0 and below 100"),
        ({"scenarios": [1.0], "perfect": [50, -1]}, r"got -1\.0"),
        ({"scenarios": [1.0], "cells": 5}, "cells must be from 10 to 2000, got 5"),
        ({"scenarios": [float("nan")]}, "finite biases or Scenarios, got nan"),
        ({"scenarios": ["one"]}, "finite biases or Scenarios, got 'one'"),
        ({"between": (3, 1)}, "lowest bias of at least 0"),
        ({"between": (-1, 1)}, "lowest bias of at least 0"),
        ({"between": (0, 1), "prior": [1]}, "prior must be for known scenarios"),
        ({"scenarios": [1.0, 2.0], "prior": [1]}, "each of the 2 scenarios"),
        ({"scenarios": [1.0, 2.0], "prior": [0.5, 0.6]}, "add up to 1"),
        ({"scenarios": [Scenario(reviewers=4)]}, "2 reviewers .* 4 reviewers"),
        ({"scenarios": [Scenario(job="rank")]}, "got job 'rank'"),
        ({"scenarios": [Scenario(reviewers=2, design="coins")]}, "design 'coins'"),
        ({"scenarios": [Scenario(reviewers=2, levels=5)]}, "'> levels:5' after"),
        (
            {"scenarios": [1.0, Scenario(reviewers=2, values="uniform:0:2")]},
            "values must be 'uniform:0:1' in all scenarios, got 'uniform:0:2'",
        ),
    ],
)
def test_bad_options_are_refused_in_words(
    options: dict[str, object], words: str
) -> None:
    with pytest.raises(OptionError, match=words):
        frontier(**options)  # type: ignore[arg-type]  # mistakes among them


def test_an_unknown_or_unfit_family_is_refused() -> None:
    with pytest.raises(OptionError, match="did you mean 'rational'"):
        best_weight([1.0], family="rationl")
    with pytest.raises(OptionError, match="within reach of the family 'offset-linear'"):
        best_weight([Scenario(reviewers=2)], family="offset-linear")

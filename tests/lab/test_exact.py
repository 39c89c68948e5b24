"""Two items without simulation: against brute force, golden numbers and theorems."""

import itertools
import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import designs
from evenhand.ab.weights import as_weight, rational
from evenhand.errors import DesignError, OptionError, RatingsError
from evenhand.lab import _matchings as matchings
from evenhand.lab._quadrature import over_gap
from evenhand.lab.exact import biases, sampled_success, success, uniform_success

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_figures.json").read_text()
)
FAMILIES = {
    "fig1a": "one-biased",
    "fig1b": "incremental",
    "fig1c": "incremental-one-biased",
}
HALF = Fraction(1, 2)
RULES = ("sign", "mean", "median", "trimmed", "votes", "guarded")

numbers = st.fractions(min_value=-3, max_value=3, max_denominator=6)
gaps = st.fractions(min_value=Fraction(1, 50), max_value=5, max_denominator=50)
scored = st.integers(1, 3).flatmap(
    lambda half: st.lists(
        st.tuples(numbers, gaps), min_size=2 * half, max_size=2 * half
    )
)
shifts = st.integers(1, 3).flatmap(
    lambda half: st.lists(numbers, min_size=2 * half, max_size=2 * half)
)


def sides(
    pairs: Sequence[tuple[Fraction, Fraction]],
) -> tuple[list[Fraction], list[Fraction]]:
    return [low + gap for low, gap in pairs], [low for low, _ in pairs]


@given(scored, st.sampled_from(RULES))
@settings(max_examples=60)
def test_success_agrees_with_the_law_over_every_assignment(
    pairs: list[tuple[Fraction, Fraction]], method: str
) -> None:
    better, worse = sides(pairs)
    halves = designs.enumerate_halves(len(pairs))
    assert success(method, better, worse) == success(
        method, better, worse, design=halves
    )


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=4, max_size=4),
    st.sampled_from(RULES),
)
@settings(max_examples=60)
def test_ties_are_broken_by_a_fair_coin(
    marks: list[tuple[int, int]], method: str
) -> None:
    better, worse = sides([(Fraction(low), Fraction(gap)) for low, gap in marks])
    halves = designs.enumerate_halves(len(marks))
    known = success(method, better, worse, design=halves)
    assert success(method, better, worse) == known


@given(scored)
@settings(max_examples=40)
def test_floats_agree_with_fractions(pairs: list[tuple[Fraction, Fraction]]) -> None:
    better, worse = sides(pairs)
    floats = [[float(score) for score in side] for side in (better, worse)]
    exact = float(success("votes", better, worse))
    assert success("votes", *floats) == pytest.approx(exact, abs=1e-12)


@given(scored)
@settings(max_examples=40)
def test_votes_beat_a_fair_coin_on_all_increasing_scales(
    pairs: list[tuple[Fraction, Fraction]],
) -> None:
    assert success("votes", *sides(pairs)) > HALF


@given(scored, st.sampled_from(RULES))
@settings(max_examples=40)
def test_no_rule_is_worse_than_a_fair_coin(
    pairs: list[tuple[Fraction, Fraction]], method: str
) -> None:
    assert success(method, *sides(pairs)) >= HALF


@pytest.mark.parametrize("count", [2, 4, 6, 8])
@pytest.mark.parametrize("method", ["sign", "median"])
def test_ranges_far_apart_leave_sign_and_median_with_a_fair_coin(
    method: str, count: int
) -> None:
    low = [Fraction(10**reviewer) for reviewer in range(count)]
    assert success(method, [score + 1 for score in low], low) == HALF


@pytest.mark.parametrize("count", [2, 4, 6, 8])
def test_one_wild_reviewer_leaves_the_mean_with_a_fair_coin(count: int) -> None:
    low = [Fraction(0)] * (count - 1) + [Fraction(1000)]
    assert success("mean", [score + 1 for score in low], low) == HALF


def test_a_coin_is_right_half_of_the_time_for_any_number_of_reviewers() -> None:
    assert success("coin", [Fraction(2)] * 40, [Fraction(1)] * 40) == HALF
    assert uniform_success("coin", [0] * 40).probability == HALF


def test_unequal_counts_can_leave_the_mean_worse_than_a_coin() -> None:
    # One against two reviewers, as in the notes: right in one case of three.
    low = [Fraction(0), Fraction(0), Fraction(10)]
    high = [Fraction(1), Fraction(1), Fraction(11)]
    law = {s: p for s, p in designs.enumerate_halves(3).items() if sum(s) == 1}
    law = {sides: Fraction(1, len(law)) for sides in law}
    mean = success("mean", high, low, design=law)
    votes = success("votes", high, low, design=designs.enumerate_coins(3))
    assert mean != HALF
    assert votes > HALF


def plain_law(
    values: Sequence[Fraction], statistic: Callable[[Sequence[Fraction]], Fraction]
) -> dict[Fraction, Fraction]:
    """One half's statistic minus the other's, over all halves."""
    everyone = range(len(values))
    chosen = list(itertools.combinations(everyone, len(values) // 2))
    law: dict[Fraction, Fraction] = {}
    for half in chosen:
        one = sorted(values[i] for i in half)
        two = sorted(values[i] for i in everyone if i not in half)
        gap = statistic(one) - statistic(two)
        law[gap] = law.get(gap, Fraction(0)) + Fraction(1, len(chosen))
    return law


def average(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


@given(shifts)
@settings(max_examples=60)
def test_means_of_halves_are_counted_right(values: list[Fraction]) -> None:
    assert matchings.mean_law(values) == plain_law(values, average)


@given(shifts, st.data())
@settings(max_examples=60)
def test_order_statistics_of_halves_are_counted_right(
    values: list[Fraction], data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(values) // 2))
    law = matchings.order_statistic_law(values, place)
    assert law == plain_law(values, lambda ordered: ordered[-place])


@given(shifts)
@settings(max_examples=40)
def test_halves_of_levels_are_weighed_right(values: list[Fraction]) -> None:
    levels = sorted(set(values))
    sizes = [values.count(level) for level in levels]
    law = matchings.difference_law(levels, sizes, lambda ordered: ordered[0])
    assert law == plain_law(values, min)


def exceeds(threshold: Fraction) -> Fraction:
    return (1 - min(max(threshold, Fraction(0)), Fraction(1))) ** 2


MEDIANS: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "upper": lambda ordered: ordered[len(ordered) // 2],
    "lower": lambda ordered: ordered[(len(ordered) - 1) // 2],
    "middle": lambda ordered: (
        (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2
    ),
}


@given(shifts, st.sampled_from(sorted(MEDIANS)))
@settings(max_examples=60)
def test_medians_are_averaged_over_uniform_values(
    values: list[Fraction], which: str
) -> None:
    law = plain_law(values, MEDIANS[which])
    known = sum(p * exceeds(-gap) for gap, p in law.items())
    assert uniform_success("median", values, median=which).probability == known


@given(shifts)
@settings(max_examples=40)
def test_means_and_trimmed_means_are_averaged_over_uniform_values(
    values: list[Fraction],
) -> None:
    law = plain_law(values, average)
    known = sum(p * exceeds(-gap) for gap, p in law.items())
    assert uniform_success("mean", values).probability == known
    cut = math.floor(len(values) // 2 * 0.4)
    law = plain_law(values, lambda half: average(half[cut : len(half) - cut]))
    known = sum(p * exceeds(-gap) for gap, p in law.items())
    assert uniform_success("trimmed", values, trim=0.4).probability == known


@given(shifts)
@settings(max_examples=25)
def test_signs_are_averaged_over_uniform_values(values: list[Fraction]) -> None:
    apart = {abs(a - b) for a, b in itertools.combinations(values, 2)}
    edges = sorted({Fraction(0), Fraction(1), *(gap for gap in apart if gap < 1)})
    known = Fraction(0)
    for low, high in itertools.pairwise(edges):
        better = [value + (low + high) / 2 for value in values]
        chance = Fraction(success("sign", better, values))
        known += (exceeds(low) - exceeds(high)) * chance
    assert uniform_success("sign", values).probability == known


@given(shifts, st.sampled_from(["rational:1", "rational:50", "sigmoid:0.5"]))
@settings(max_examples=15)
def test_votes_are_averaged_over_uniform_values(
    values: list[Fraction], weight: str
) -> None:
    floats = [float(value) for value in values]
    apart = {abs(a - b) for a, b in itertools.combinations(floats, 2)}

    def chances(points: np.ndarray) -> np.ndarray:
        better = [[value + gap for value in floats] for gap in points.tolist()]
        return np.array([success("votes", up, floats, weight=weight) for up in better])

    known = over_gap(chances, apart)
    found = uniform_success("votes", values, weight=weight)
    assert found.exact
    assert found.probability == pytest.approx(known, abs=1e-9)


@pytest.mark.parametrize("row", [row for row in GOLDEN["fig1"] if not row["se"]])
def test_exact_values_of_figure_1(row: dict[str, float | str]) -> None:
    values = biases(FAMILIES[str(row["figure"])], int(row["m"]))
    found = uniform_success(str(row["method"]), values, samples=2, rng=7)
    assert found.exact
    assert found.se == 0
    assert found.improvement == pytest.approx(row["improvement"], abs=1e-9)


def test_twenty_reviewers_are_exact_and_agree_with_samples() -> None:
    # Within five standard errors: a correct build fails once in 1.7 million.
    row = next(
        row
        for row in GOLDEN["fig1"]
        if row["m"] == 20 and row["figure"] == "fig1c" and row["method"] == "votes"
    )
    found = uniform_success("votes", biases("incremental-one-biased", 20))
    assert found.exact
    assert abs(found.improvement - row["improvement"]) < 5 * row["se"]


@pytest.mark.parametrize("figure", ["fig1b", "fig1c"])
def test_fifty_reviewers_are_sampled_with_a_standard_error(figure: str) -> None:
    # Within five standard errors: a correct build fails once in 1.7 million.
    row = next(
        row
        for row in GOLDEN["fig1"]
        if row["m"] == 50 and row["figure"] == figure and row["method"] == "votes"
    )
    values = biases(FAMILIES[figure], 50)
    found = uniform_success("votes", values, samples=20_000, rng=7)
    assert not found.exact
    together = math.hypot(found.improvement_se, row["se"])
    assert 0 < found.improvement_se < 0.05
    assert abs(found.improvement - row["improvement"]) < 5 * together


@pytest.mark.parametrize("method", RULES)
@pytest.mark.parametrize("family", FAMILIES.values())
def test_trials_agree_with_exact_values(method: str, family: str) -> None:
    # Within five standard errors: a correct build fails once in 1.7 million.
    values = biases(family, 6)
    exact = uniform_success(method, values)
    trial = sampled_success(method, values, trials=4000, rng=7)
    assert not trial.exact
    assert abs(trial.improvement - exact.improvement) <= 5 * trial.improvement_se


def test_rules_without_a_formula_are_sampled_when_halves_are_too_many() -> None:
    # Within five standard errors: a correct build fails once in 1.7 million.
    values = [Fraction(reviewer, 7) for reviewer in range(30)]
    found = uniform_success("trimmed", values, trim=0, samples=4000, rng=7)
    exact = uniform_success("mean", values)
    assert exact.exact
    assert not found.exact
    assert abs(found.improvement - exact.improvement) < 5 * found.improvement_se


def test_signs_are_sampled_when_matchings_are_too_many() -> None:
    # Within five standard errors: a correct build fails once in 1.7 million.
    values = [Fraction(reviewer, 40) for reviewer in range(14)]
    exact = uniform_success("sign", values[::2] * 2)
    assert exact.exact
    more = [Fraction(reviewer, 40) for reviewer in range(20)]
    found = uniform_success("sign", more, samples=4000, rng=7)
    again = sampled_success("sign", more, trials=4000, rng=8)
    assert not found.exact
    together = math.hypot(found.improvement_se, again.improvement_se)
    assert abs(found.improvement - again.improvement) < 5 * together


@given(scored, st.sampled_from([Fraction(1, 10), Fraction(1, 3), 1]))
@settings(max_examples=30)
def test_guarded_is_a_mixture_and_beats_a_fair_coin_on_all_increasing_scales(
    pairs: list[tuple[Fraction, Fraction]], eps: Fraction
) -> None:
    better, worse = sides(pairs)
    found = success("guarded", better, worse, eps=eps, trim=0.25)
    followed = success("trimmed", better, worse, trim=0.25)
    voted = success("votes", better, worse)
    assert found == (1 - eps) * followed + eps * voted
    assert found > HALF


@pytest.mark.parametrize("count", [10, 30])
def test_guarded_mixes_what_is_exact_and_what_is_sampled(count: int) -> None:
    values = [Fraction(reviewer, 7) for reviewer in range(count)]
    parts = [
        uniform_success(name, values, samples=200, rng=7)
        for name in ("trimmed", "votes")
    ]
    found = uniform_success("guarded", values, samples=200, rng=7)
    exact, error = (0.9, 0.1), [part.improvement_se for part in parts]
    expected = sum(q * part.improvement for q, part in zip(exact, parts, strict=True))
    assert found.improvement == pytest.approx(expected)
    assert found.improvement_se == pytest.approx(
        math.hypot(0.9 * error[0], 0.1 * error[1])
    )
    assert found.exact == (count == 10)
    assert (found.se > 0) == (count == 30)


def test_the_same_seed_gives_the_same_samples() -> None:
    values = biases("incremental", 30)
    one, two, other = (
        uniform_success("votes", values, samples=100, rng=seed) for seed in (7, 7, 8)
    )
    assert one == two != other


@pytest.mark.parametrize(
    ("family", "added"),
    [
        ("identity", [0, 0, 0, 0]),
        ("one-biased", [0, 0, 0, 4]),
        ("incremental", [1, 2, 3, 4]),
        ("incremental-one-biased", [0, 1, 2, 6]),
    ],
)
def test_the_papers_biases(family: str, added: list[int]) -> None:
    assert list(map(int, biases(family, 4))) == added


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: success("vote", [1], [0]), OptionError, "did you mean 'votes'"),
        (lambda: success("mean", [1, 2, 3], [0, 1, 2]), DesignError, "got 3"),
        (lambda: success("mean", [1, 2], [0, 3]), RatingsError, "by reviewer 1"),
        (lambda: success("mean", [1, 2], [0]), RatingsError, "shapes"),
        (
            lambda: success("mean", [1, 2], [0, 1], design={(0,): Fraction(1)}),
            DesignError,
            "2 reviewers, got one for 1",
        ),
        (
            lambda: success("mean", list(range(1, 31)), list(range(30))),
            OptionError,
            "got 30",
        ),
        (
            lambda: success("votes", *sides([(Fraction(j), HALF) for j in range(20)])),
            OptionError,
            "got 20. Use floats",
        ),
        (
            lambda: success("guarded", [1, 2], [0, 1], eps=0),
            OptionError,
            "eps must be above 0",
        ),
        (lambda: biases("affine", 4), OptionError, "unknown shifting scale 'affine'"),
        (lambda: uniform_success("mean", [0]), DesignError, "got 1"),
        (
            lambda: sampled_success("mean", [0, 0], trials=1),
            OptionError,
            "trials must be at least 2",
        ),
        (
            lambda: uniform_success("median", [0, 0], median="uper"),
            OptionError,
            "did you mean 'upper'",
        ),
    ],
)
def test_bad_input_is_refused_in_words(
    call: Callable[[], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        call()


def test_a_weight_without_an_exact_form_gives_floats() -> None:
    chance = success(
        "votes", [Fraction(1)] * 2, [Fraction(0)] * 2, weight=as_weight("sigmoid:1")
    )
    assert isinstance(chance, float)
    exact = success("votes", [Fraction(1)] * 2, [Fraction(0)] * 2, weight=rational(3))
    assert exact == Fraction(7, 8)

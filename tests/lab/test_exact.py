"""Two items without simulation: against brute force, golden numbers and theorems."""

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from evenhand.ab.law import majority_probability
from evenhand.ab.weights import as_weight, odd, rational
from evenhand.errors import DesignError, OptionError
from evenhand.lab.duels import TRUTHS, duel, named
from evenhand.lab.exact import biases, sampled_success, uniform_success

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
shifts = st.integers(1, 3).flatmap(
    lambda half: st.lists(numbers, min_size=2 * half, max_size=2 * half)
)


def test_a_coin_is_right_half_of_the_time_for_any_number_of_reviewers() -> None:
    assert uniform_success("coin", [0] * 40).probability == HALF


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
    right = duel(named("sign", rational()), "halves", len(values))
    known = Fraction(0)
    for low, high in itertools.pairwise(edges):
        table = tuple((value, value + (low + high) / 2) for value in values)
        known += (exceeds(low) - exceeds(high)) * right(TRUTHS[0], table)
    assert uniform_success("sign", values).probability == known


def matchings(people: Sequence[float]) -> Iterator[list[tuple[float, float]]]:
    """List all perfect matchings."""
    if not people:
        yield []
    for place in range(1, len(people)):
        for rest in matchings([*people[1:place], *people[place + 1 :]]):
            yield [(people[0], people[place]), *rest]


@given(shifts, st.sampled_from(["rational:1", "rational:50", "sigmoid:0.5"]))
@settings(max_examples=15)
def test_votes_are_averaged_over_uniform_values(
    values: list[Fraction], weight: str
) -> None:
    floats = [float(value) for value in values]
    every = np.array(list(matchings(floats)))
    apart = every[..., 0] - every[..., 1]

    def density(gap: float) -> float:
        chances = [odd(as_weight(weight), gap + side) for side in (apart, -apart)]
        right = majority_probability((chances[0] + chances[1]) / 2)
        return float(2 * (1 - gap) * np.mean(right))

    edges = sorted({0.0, 1.0, *np.abs(apart[apart**2 < 1]).tolist()})
    known = sum(
        quad(density, low, high, epsabs=1e-12)[0]
        for low, high in itertools.pairwise(edges)
    )
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
        (lambda: uniform_success("vote", [0, 0]), OptionError, "did you mean 'votes'"),
        (
            lambda: uniform_success("guarded", [0, 0], eps=0),
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

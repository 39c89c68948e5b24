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
from evenhand.ab.weights import as_weight, odd
from evenhand.errors import DesignError
from evenhand.lab import Scenario, simulate
from evenhand.lab.duels import TRUTHS, duel, item_rule
from evenhand.lab.exact import biases, uniform_success

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_figures.json").read_text()
)
FAMILIES = {
    "fig1a": "one-biased",
    "fig1b": "incremental",
    "fig1c": "incremental-one-biased",
}
HALF = Fraction(1, 2)
RULES = ("sign", "mean", "median", "votes")

numbers = st.fractions(min_value=-3, max_value=3, max_denominator=6)
shifts = st.integers(1, 3).flatmap(
    lambda half: st.lists(numbers, min_size=2 * half, max_size=2 * half)
)


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


@given(shifts)
@settings(max_examples=60)
def test_medians_and_means_are_averaged_over_uniform_values(
    values: list[Fraction],
) -> None:
    for method, statistic in (
        ("median", lambda ordered: ordered[len(ordered) // 2]),
        ("mean", average),
    ):
        law = plain_law(values, statistic)
        known = sum(p * exceeds(-gap) for gap, p in law.items())
        assert uniform_success(method, values).probability == known


@given(shifts)
@settings(max_examples=25)
def test_signs_are_averaged_over_uniform_values(values: list[Fraction]) -> None:
    apart = {abs(a - b) for a, b in itertools.combinations(values, 2)}
    edges = sorted({Fraction(0), Fraction(1), *(gap for gap in apart if gap < 1)})
    right = duel(item_rule("sign"), "halves", len(values))
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


@given(shifts, st.sampled_from(["rational(1)", "rational(50)", "sigmoid(0.5)"]))
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
    together = math.hypot(200 * found.se, row["se"])
    assert 0 < 200 * found.se < 0.05
    assert abs(found.improvement - row["improvement"]) < 5 * together


@pytest.mark.parametrize("method", RULES)
@pytest.mark.parametrize("family", FAMILIES.values())
def test_trials_agree_with_exact_values(method: str, family: str) -> None:
    # Within five standard errors: a correct build fails once in 1.7 million.
    values = biases(family, 6)
    exact = uniform_success(method, values)
    scenario = Scenario(reviewers=6, scales=family)
    (row,) = simulate(scenario, method, trials=4000, rng=7).rows
    assert abs(1 - row.risk - float(exact.probability)) <= 5 * row.se


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
        (lambda: uniform_success("mean", [0]), DesignError, "got 1"),
    ],
)
def test_bad_input_is_refused_in_words(
    call: Callable[[], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        call()

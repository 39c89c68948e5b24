"""Scales: every family increases, composes, and is exact where exactness counts."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.arrays import Floats
from evenhand.errors import OptionError
from evenhand.lab.scales import families, scales

SPECS = [
    *(name for name in families() if name != "levels"),
    "levels:4",
    "affine:0.5:2:-3:3",
    "affine:1:1:0:0",
    "power:1:2",
    "affine > power > levels:5",
    "power > disjoint > adversary",
]
DETERMINISTIC = [
    "identity",
    "one-biased",
    "incremental",
    "incremental-one-biased",
    "disjoint",
    "adversary",
    "adversary:spread",
]
M = 5
RNG = np.random.default_rng(2019)


def increases(values: Floats, scores: Floats, *, strict: bool = True) -> bool:
    """Say whether scores of all reviewers rise with the values."""
    order = np.argsort(values, axis=-1)
    steps = np.diff(np.take_along_axis(scores, order, axis=-1))
    return bool((steps > 0 if strict else steps >= 0).all())


def scored(spec: str, values: list[float], seed: int) -> tuple[Floats, Floats]:
    family = scales(spec)
    wide = np.broadcast_to(np.array(values, dtype=float), (M, len(values)))
    return wide, family.apply(wide, np.random.default_rng(seed))


def exactly(spec: str, values: list[Fraction], reviewers: int) -> list[list[Fraction]]:
    wide = np.array([values] * reviewers, dtype=object)
    result: list[list[Fraction]] = scales(spec).apply(wide, RNG).tolist()
    return result


def test_a_bias_is_a_normal_shift_of_each_reviewer() -> None:
    values = np.zeros((20_000, 2))
    shifts = scales("bias:0.25").apply(values, np.random.default_rng(7))
    np.testing.assert_array_equal(shifts[:, 0], shifts[:, 1])
    # Five standard errors of the mean and of the SD: one seed in 1.7 million each.
    assert abs(shifts[:, 0].mean()) < 5 * 0.25 / np.sqrt(20_000)
    assert abs(shifts[:, 0].std() - 0.25) < 5 * 0.25 / np.sqrt(40_000)
    usual = scales("bias").apply(values, np.random.default_rng(7))
    np.testing.assert_array_equal(usual, 2 * shifts)


def test_a_negative_bias_sd_is_refused() -> None:
    with pytest.raises(OptionError, match="an SD of at least 0, got 'bias:-1'"):
        scales("bias:-1")


# Far enough apart that no scale's own arithmetic can make them equal.
apart = st.lists(st.integers(-50, 150), min_size=2, max_size=6, unique=True).map(
    lambda whole: [number / 100 for number in whole]
)


@pytest.mark.parametrize("spec", SPECS)
@given(values=apart, seed=st.integers(0, 10**6))
@settings(max_examples=25)
def test_every_family_increases(spec: str, values: list[float], seed: int) -> None:
    wide, scores = scored(spec, values, seed)
    assert scores.shape == wide.shape
    assert increases(wide, scores, strict="levels" not in spec)


def test_the_papers_families_add_what_the_paper_says() -> None:
    x = Fraction(1, 3)
    added = {
        spec: [score - x for (score,) in exactly(spec, [x], 4)]
        for spec in ("one-biased", "incremental", "incremental-one-biased")
    }
    assert added == {
        "one-biased": [0, 0, 0, 4],
        "incremental": [1, 2, 3, 4],
        "incremental-one-biased": [0, 1, 2, 6],
    }


@pytest.mark.parametrize("spec", DETERMINISTIC)
@given(parts=st.lists(st.integers(0, 64), min_size=1, max_size=5))
@settings(max_examples=20)
def test_what_the_adversary_starts_from_is_exact_on_fractions(
    spec: str, parts: list[int]
) -> None:
    values = [Fraction(number, 64) for number in parts]
    exact = exactly(spec, values, 3)
    assert all(isinstance(score, int | Fraction) for row in exact for score in row)
    floats = np.array([[float(value) for value in values]] * 3)
    scores = scales(spec).apply(floats, RNG)
    assert np.abs(np.array(exact, dtype=float) - scores).max() < 1e-12


def test_affine_slopes_and_shifts_are_where_they_should_be() -> None:
    _, scores = scored("affine:2:3:-1:0", [0.0, 1.0], 7)
    slopes, shifts = scores[:, 1] - scores[:, 0], scores[:, 0]
    assert ((slopes > 2) & (slopes <= 3)).all()
    assert ((shifts >= -1) & (shifts < 0)).all()
    assert len(set(slopes.tolist())) == M


def test_a_slope_is_never_zero() -> None:
    class Highest(np.random.Generator):
        def random(self, size: Any = None, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - of NumPy
            return np.full(size, 1 - 2.0**-53)

    highest = Highest(np.random.PCG64(7))
    assert (np.diff(scales("affine").apply(np.array([[0.0, 1.0]]), highest)) > 0).all()


def test_levels_round_to_the_nearest_mark() -> None:
    values = np.array([[-1, 1 / 8, 1 / 7, 7 / 16, 3]])
    row = scales("levels:5").apply(values, RNG)
    assert row.tolist() == [[0, 1 / 4, 1 / 4, 1 / 2, 1]]
    values = np.array([[12.0, 13.0, 18.0]])
    assert scales("levels:3:10:20").apply(values, RNG).tolist() == [[10, 15, 20]]


def test_no_two_reviewers_share_a_range_on_disjoint_scales() -> None:
    _, scores = scored("disjoint", [0.0, 0.3, 1.0], 7)
    assert (scores[1:].min(axis=1) > scores[:-1].max(axis=1)).all()


def test_the_span_is_what_the_shapes_are_laid_over() -> None:
    values, (one, two) = np.array([[0.2, 0.9]]), map(np.random.default_rng, (7, 7))
    unit = scales("power").apply(values, one)
    ten = scales("power", span=(10, 20)).apply(10 + 10 * values, two)
    assert np.allclose(ten, 10 + 10 * unit)


def test_the_adversary_lets_nothing_count_but_who_scored() -> None:
    _, scores = scored("adversary", [0.4, 0.5, 0.1], 7)
    assert (scores[1:].min(axis=1) > scores[:-1].max(axis=1)).all()
    # No sum of lower reviewers' scores makes up for one of a higher reviewer.
    for reviewer in range(1, M):
        assert scores[reviewer].min() > scores[:reviewer].max(axis=1).sum()
    # Equal values share a score, and only the order of the others counts.
    _, tied = scored("adversary", [0.4, 0.1, 0.4], 7)
    assert (tied[:, 0] == tied[:, 2]).all()
    assert (scores == scored("adversary", [0.4, 9.0, -2.0], 7)[1]).all()


def test_the_spread_adversary_turns_reviewers_round_below_the_middle() -> None:
    _, scores = scored("adversary:spread", [1.0, 2.0, 3.0, 4.0], 7)
    assert (np.diff(scores[:, 2:], axis=0) > 0).all()
    assert (np.diff(scores[:, :2], axis=0) < 0).all()


def test_a_thousand_reviewers_and_more_stay_within_floats() -> None:
    values = np.broadcast_to(np.arange(3.0), (3000, 3))
    scores = scales("adversary").apply(values, RNG)
    assert np.isfinite(scores).all()
    assert increases(values, scores)


def test_composition_goes_from_left_to_right() -> None:
    values = np.array([[0.1, 0.9]] * 2)
    for spec, scores in (
        ("incremental > levels:2", [[1, 1], [1, 1]]),
        ("levels:2 > incremental", [[1, 2], [2, 3]]),
    ):
        assert scales(spec).apply(values, RNG).tolist() == scores
    assert scales("affine>bias:3 > power").name == "affine > bias:3 > power"


def test_composed_families_use_uniforms_of_their_own() -> None:
    values, (rng, other) = (
        np.array([[0.0, 1.0]] * 2),
        map(np.random.default_rng, (7, 7)),
    )
    both = scales("affine > affine").apply(values, rng)
    once = scales("affine").apply(values, other)
    assert (both == scales("affine").apply(once, other)).all()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("afine", "unknown scale 'afine', did you mean 'affine'?"),
        ("affine > levls:3", "unknown scale 'levls', did you mean 'levels'?"),
        ("", "unknown scale ''"),
        ("identity:3", "at most 0 numbers after 'identity', got 'identity:3'"),
        ("affine:a", "finite numbers, not 'a', got 'affine:a'"),
        ("affine:1e999", "finite numbers, not '1e999'"),
        ("affine:-1:1", "slopes of at least 0 and not all 0"),
        ("affine:0:0", "slopes of at least 0 and not all 0"),
        ("affine:0:1:2:1", "a lower shift before the higher one"),
        ("power:0:1", "powers above 0, the lower first"),
        ("levels", "at least 1 and at most 3 numbers after 'levels'"),
        ("levels:1", "a whole number of at least 2 levels"),
        ("levels:3:1:1", "a lower end before the higher one"),
        ("adversary:sprad", "at most 0 numbers after 'adversary'"),
    ],
)
def test_bad_scales_are_refused_in_a_sentence(spec: str, words: str) -> None:
    with pytest.raises(OptionError) as refusal:
        scales(spec)
    assert words in str(refusal.value)

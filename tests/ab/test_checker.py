"""The checker: what it must catch on ordinary data, and what it must let pass."""

import functools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from evenhand import OptionError, RatingsError
from evenhand.ab import checker, weights
from evenhand.ab.checker import LIMIT, OwnRule, Scores, answer, check_rule
from evenhand.arrays import Floats
from evenhand.errors import name_of
from tests import plain_rules

DATA: dict[str, tuple[list[float], list[float]]] = {
    "whole": ([7, 9, 4, 6, 8], [6, 3, 5, 4, 7]),
    "five points": ([5, 4, 4, 2, 5, 3], [3, 3, 4, 1, 2, 5]),
    "decimals": ([0.31, 0.72, 0.55, 0.18], [0.44, 0.61, 0.09, 0.95]),
    "far apart": ([90.5, 91.0, 93.5, 95.0, 92.0], [1.5, 2.0, 2.5, 0.5, 3.0]),
    "an outlier": ([3.0, 4.0, 5.0, 60.0, 4.5], [3.5, 2.0, 4.0, 3.0, 5.5]),
    "unequal": ([3.0, 4.0, 5.0, 2.5], [3.5, 2.0, 4.0, 3.0, 5.5, 1.0, 4.4]),
}


def in_pairs(one: Floats, two: Floats) -> tuple[Floats, Floats]:
    count = min(len(one), len(two))
    return one[:count], two[:count]


def votes_scaled(one: Floats, two: Floats, by: float) -> float:
    if by == 0:
        return float(plain_rules.sign(*in_pairs(one, two)))
    return float(plain_rules.votes(*in_pairs(one / by, two / by)))


def mad(scores: Floats) -> float:
    return float(np.median(np.abs(scores - np.median(scores))))


def scaled_by_mad(one: Floats, two: Floats) -> float:
    return votes_scaled(one, two, mad(np.concatenate([one, two])))


def scaled_by_pooled_deviation(one: Floats, two: Floats) -> float:
    square = len(one) * one.var() + len(two) * two.var()
    return votes_scaled(one, two, math.sqrt(square / (len(one) + len(two) - 2)))


def without_far_ones(scores: Floats) -> Floats:
    spread = mad(scores)
    kept: Floats = scores[np.abs(scores - np.median(scores)) <= 2 * spread]
    return kept


def within_fences(scores: Floats) -> Floats:
    low, high = np.quantile(scores, [0.25, 0.75])
    reach = 1.5 * (high - low)
    kept: Floats = scores[(scores >= low - reach) & (scores <= high + reach)]
    return kept


def mean_after_mad(one: Floats, two: Floats) -> float:
    return float(without_far_ones(one).mean() - without_far_ones(two).mean())


def mean_after_fences(one: Floats, two: Floats) -> float:
    return float(within_fences(one).mean() - within_fences(two).mean())


def mean_after_pooled_fences(one: Floats, two: Floats) -> float:
    kept = within_fences(np.concatenate([one, two]))
    sides = [side[(side >= kept.min()) & (side <= kept.max())] for side in (one, two)]
    return float(sides[0].mean() - sides[1].mean()) if all(map(len, sides)) else 0.0


def as_probability(statistic: OwnRule) -> OwnRule:
    @functools.wraps(statistic)
    def rule(one: Floats, two: Floats) -> float:
        return float(1 + np.sign(round(float(statistic(one, two)), 9))) / 2

    return rule


def u_statistic(one: Floats, two: Floats) -> float:
    return float(np.arctan(one[:, None] - two[None, :]).sum())


def hodges_lehmann(one: Floats, two: Floats) -> float:
    return float(np.median(one[:, None] - two[None, :]))


def welch(one: Floats, two: Floats) -> float:
    """Its sign is that of the difference of the means, and only that is used."""
    gap = float(one.mean() - two.mean())
    error = math.sqrt(one.var() / len(one) + two.var() / len(two))
    return gap / error if error > 0 else gap


BREAKERS: list[OwnRule] = [
    scaled_by_mad,
    scaled_by_pooled_deviation,
    as_probability(mean_after_mad),
    as_probability(mean_after_fences),
    as_probability(mean_after_pooled_fences),
]


def paired(rule: Callable[[Floats, Floats], Floats]) -> OwnRule:
    def on_pairs(one: Floats, two: Floats) -> float:
        return float(rule(*in_pairs(one, two)))

    return on_pairs


def mixture(one: Floats, two: Floats) -> float:
    parts = [
        plain_rules.mean(one, two),
        plain_rules.median(one, two),
        plain_rules.midrank(one, two),
    ]
    return float(np.dot(parts, [0.5, 0.25, 0.25]))


SAFE: dict[str, Callable[[Floats, Floats], object]] = {
    "coin": plain_rules.coin,
    "sign": paired(plain_rules.sign),
    "mean": plain_rules.mean,
    "trimmed": plain_rules.trimmed,
    "median": plain_rules.median,
    "lower median": functools.partial(plain_rules.median, median="lower"),
    "middle median": functools.partial(plain_rules.median, median="middle"),
    "midrank": plain_rules.midrank,
    "votes": paired(plain_rules.votes),
    "sigmoid votes": paired(functools.partial(plain_rules.votes, weight="sigmoid")),
    "guarded": plain_rules.guarded,
    "guarded sign": functools.partial(plain_rules.guarded, statistic="sign"),
    "mixture": mixture,
    "U-statistic": as_probability(u_statistic),
    "Hodges-Lehmann": as_probability(hodges_lehmann),
    "Welch": as_probability(welch),
    "difference of sums": as_probability(lambda one, two: one.sum() - two.sum()),
}


def sides(place: Scores) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(place[0].tolist()), tuple(place[1].tolist())


# Of four scores, fences around the quartiles leave none outside.
CAUGHT = [
    pytest.param(rule, data, id=f"{name_of(rule)} {data}")
    for rule in BREAKERS
    for data in DATA
    if not (data == "decimals" and "fences" in name_of(rule))
]


@pytest.mark.parametrize(("rule", "data"), CAUGHT)
def test_scaling_and_cleaning_by_the_data_are_caught(rule: OwnRule, data: str) -> None:
    check = check_rule(rule, *DATA[data], rng=1)
    found = check.failure
    assert found is not None
    assert "must not fall" in check.sentence
    # The failure is one: a single score moved in its item's favour, and a fall.
    moves = [
        (side, old, new)
        for side in (0, 1)
        for old, new in zip(sides(found[0])[side], sides(found[1])[side], strict=True)
        if old != new
    ]
    assert len(moves) == 1
    side, old, new = moves[0]
    assert new > old if side == 0 else new < old
    values = [float(answer(rule, *place)) for place in found]
    assert values[1] < values[0]


# Each rule on two sets, one of them with unequal counts.
PASSED = [
    (name, data)
    for place, name in enumerate(SAFE)
    for data in (list(DATA)[place % 5], "unequal")
] + [("guarded", data) for data in ("decimals", "far apart", "an outlier")]


@pytest.mark.parametrize(("name", "data"), sorted(set(PASSED)))
def test_rules_that_keep_the_terms_pass(
    name: str, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "LIMIT", 250)
    check = check_rule(SAFE[name], *DATA[data], rng=1)  # type: ignore[arg-type]  # also NumPy's numbers
    assert check.failure is None
    assert check.evaluations == 250
    assert "asked 250 times around the data" in check.sentence


def one_side(one: Floats, _: Floats) -> float:
    return float(one.mean() > 3)


def favours_the_first(one: Floats, two: Floats) -> float:
    return 0.75 if one.mean() >= two.mean() else 0.25


def backwards(one: Floats, two: Floats) -> float:
    return float(plain_rules.mean(two, one))


def test_a_rule_that_does_not_turn_round_is_shown_with_its_items_swapped() -> None:
    check = check_rule(one_side, [7, 9], [6, 3], rng=1)
    assert check.failure is not None
    assert "when the items swap" in check.sentence
    assert sides(check.failure[0]) == ((7, 9), (6, 3))
    assert sides(check.failure[1]) == ((6, 3), (7, 9))
    assert check.sentence == (
        "one_side must turn p into 1 - p when the items swap, got 1 for first 7.0, 9.0 "
        "and second 6.0, 3.0, and 1 for first 6.0, 3.0 and second 7.0, 9.0."
    )


@pytest.mark.parametrize("second", [[6, 3], [6, 3, 1]])
def test_ties_that_are_not_even_are_found_away_from_the_data(
    second: list[float],
) -> None:
    check = check_rule(favours_the_first, [7, 9], second, rng=1)
    assert check.failure is not None
    assert "when the items swap" in check.sentence
    one, two = check.failure[0]
    assert sum(one) / len(one) == sum(two) / len(two)


def test_a_rule_for_the_lower_score_is_told_what_it_must_do() -> None:
    check = check_rule(backwards, [7, 9], [6, 3], rng=1)
    assert check.sentence.startswith("backwards must not fall when a first score rises")


def test_the_same_seed_asks_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "LIMIT", 300)

    def run(seed: int) -> list[tuple[float, ...]]:
        asked = []

        def watched(one: Floats, two: Floats) -> float:
            asked.append((*one.tolist(), *two.tolist()))
            return float(plain_rules.mean(one, two))

        check_rule(watched, [7, 9], [6, 3], rng=seed)
        return asked

    assert run(1) == run(1)
    assert run(1) != run(2)
    found = run(1)
    assert len(found) == 300
    assert found[0] == (7, 9, 6, 3)
    assert (6, 3, 7, 9) in found
    for moved in (6, 8, 3, 4.5, 9.06, 15, 69, 6009, -57, -5997):
        assert (moved, 9, 6, 3) in found


def test_scores_where_a_rule_has_no_answer_are_passed_over() -> None:
    declared = functools.partial(plain_rules.votes, weight=weights.linear(10))
    check = check_rule(declared, [7, 9], [6, 3], rng=1)  # type: ignore[arg-type]  # NumPy's numbers
    assert check.failure is None
    assert 0 < check.evaluations < LIMIT
    assert f"was asked {check.evaluations} times" in check.sentence


def test_what_a_rule_raises_at_the_data_is_the_users_to_see() -> None:
    def broken(_one: Floats, _two: Floats) -> float:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        check_rule(broken, [1], [2], rng=1)

    def careless(one: Floats, two: Floats) -> float:
        if max(one) > 100:
            raise KeyError
        return float(plain_rules.mean(one, two))

    with pytest.raises(KeyError):
        check_rule(careless, [1], [2], rng=1)


def test_an_answer_that_is_none_near_the_data_is_refused() -> None:
    def odd(one: Floats, two: Floats) -> float:
        return float(plain_rules.mean(one, two)) if max(one) < 100 else math.nan

    words = r"odd must return a probability in \[0, 1\], got nan for first"
    with pytest.raises(OptionError, match=words):
        check_rule(odd, [1], [2], rng=1)


@pytest.mark.parametrize(
    "data",
    [
        ([1e308, -1e308, 3.0], [1e308, 2.0, 1.7e308]),
        ([5.0, 5.0], [5.0, 5.0]),
        ([0.0], [0.0]),
        ([1e-300], [2e-300]),
    ],
)
def test_extreme_and_equal_scores_are_no_trouble(
    data: tuple[list[float], list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "LIMIT", 300)
    for rule in (plain_rules.mean, plain_rules.guarded, plain_rules.midrank):
        assert check_rule(rule, *data, rng=1).failure is None  # type: ignore[arg-type]  # NumPy's numbers


def test_answers_may_be_any_kind_of_number() -> None:
    one, two = np.ones(1), np.zeros(1)
    half = Fraction(1, 2)
    values: list[object] = [0.5, np.float64(0.5), np.array(0.5), np.array([0.5]), half]
    for value in values:
        rule = functools.partial(lambda value, _one, _two: value, value)
        assert answer(rule, one, two) == 0.5
    assert answer(lambda *_: 1, one, two) == 1
    exact = answer(lambda *_: Fraction(1, 3), one, two)
    assert exact == Fraction(1, 3)


def test_names_of_functions() -> None:
    class Callable1:
        def __call__(self, one: Floats, two: Floats) -> float:
            return float(plain_rules.mean(one, two))

    assert name_of(Callable1()) == "Callable1"
    assert name_of(functools.partial(plain_rules.votes, weight=None)) == "votes"
    assert name_of(lambda: 0) == "<lambda>"


def test_long_lists_are_cut_short_in_words_but_not_in_the_result() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.random(30), rng.random(30)
    check = check_rule(scaled_by_mad, first, second, rng=1)
    assert "and 22 more" in check.sentence
    assert check.failure is not None
    assert len(check.failure[0][0]) == 30


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ([], r"two lists with a score each"),
        ([[1]], r"first scores must be one list, got shape"),
        ([math.inf], r"first score must be finite, got inf"),
    ],
)
def test_refusals(first: list[float], words: str) -> None:
    with pytest.raises(RatingsError, match=words):
        check_rule(plain_rules.mean, first, [2])  # type: ignore[arg-type]  # NumPy's numbers

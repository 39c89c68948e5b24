"""The interval of a difference: every shift that the test does not reject."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import compare
from evenhand.ab import pvalues
from evenhand.ab.law import ScoreCounts, count_scores
from evenhand.ab.pvalues import Difference, mean_interval
from tests.ab.test_pvalues import exact_p_values

LABELS = {
    "matched": ([0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]),
    "panels": ([0, 0, 1, 2, 3, 4, 4], [5, 6, 6, 7, 8, 8, 9]),
}
scores = st.lists(st.integers(0, 6).map(float), min_size=7, max_size=7)


def two_sided(
    first: list[float], second: list[float], by: Fraction, design: str | None
) -> Fraction:
    one = [Fraction(score) - by for score in first]
    two, groups = [Fraction(score) for score in second], LABELS.get(design or "")
    tails = exact_p_values(one, two, design=design, groups=groups)
    return min(Fraction(1), 2 * min(tails))


@settings(max_examples=30)
@given(scores, scores, st.sampled_from([None, "halves", "coins", "matched", "panels"]))
def test_the_ends_belong_to_the_interval_and_nothing_beyond_them_does(
    first: list[float], second: list[float], design: str | None
) -> None:
    """Exactly, by the p-values of Fractions at the ends and just beyond them."""
    one, two = np.array(first), np.array(second)
    groups = LABELS.get(design or "")
    found = mean_interval(one, two, design=design, groups=groups)
    assert found is not None
    assert found.how == "enumeration"
    assert found.p_value == float(two_sided(first, second, Fraction(0), design))
    alpha, little = Fraction(1, 20), Fraction(1, 10**6)
    assert found.low is not None
    assert found.high is not None
    # Ends are fractions with small denominators, of which a float has twelve digits.
    ends = [Fraction(end).limit_denominator(2000) for end in (found.low, found.high)]
    assert [float(end) for end in ends] == pytest.approx([found.low, found.high])
    assert all(two_sided(first, second, end, design) > alpha for end in ends)
    assert two_sided(first, second, ends[0] - little, design) <= alpha
    assert two_sided(first, second, ends[1] + little, design) <= alpha
    assert (found.low <= 0 <= found.high) == (found.p_value > 0.05)


@pytest.mark.parametrize(("size", "levels"), [(5, 2), (12, 5), (40, 300), (150, 5)])
def test_the_interval_holds_0_exactly_if_its_p_value_is_above_5_percent(
    size: int, levels: int
) -> None:
    rng = np.random.default_rng(size + levels)
    # Of many scores, no lift and one about as large as can be told from it.
    for lift in (0, 1, 2, 3) if size < 40 else (0, 2):
        one = rng.integers(0, levels, size) + lift * levels / (4 * math.sqrt(size))
        two = rng.integers(0, levels, size + 1)
        result = compare(one, two, method="mean", rng=1)
        found, tested = result.difference, result.test
        assert found is not None
        assert tested is not None
        # Sampled by each for itself: five standard errors, two-sided.
        own = 0.5 / math.sqrt(found.samples) if found.samples else 0
        room = 10 * math.hypot(tested.se, own) + 1e-9
        assert found.p_value == pytest.approx(tested.p_value, abs=room)
        assert found.low is not None
        assert found.high is not None
        assert (found.low <= 0 <= found.high) == ((found.p_value or 0) > 0.05)


def test_the_interval_does_not_depend_on_the_method_and_equal_scores_have_one() -> None:
    one, two = [7, 9, 4, 8, 6], [6, 3, 5, 5, 2]
    means, usual = (compare(one, two, method=it, rng=1) for it in ("mean", "guarded"))
    assert means.difference == usual.difference
    many = np.full(20_001, 3.0)
    same = compare(many, many, rng=1).difference
    assert same == Difference(0.0, 0.0, 0.0, 1.0, "normal", 0)


def test_shifting_one_item_shifts_the_interval_and_nothing_else() -> None:
    rng = np.random.default_rng(5)
    one, two = rng.normal(size=40), rng.normal(size=35)
    for design in (None, "coins"):
        near, far = (
            compare(one + by, two, design=design, rng=3).difference for by in (0, 100)
        )
        assert near is not None
        assert far is not None
        assert far.how == near.how == "sampling"
        ends = [near.estimate + 100, (near.low or 0) + 100, (near.high or 0) + 100]
        assert far[:3] == pytest.approx(ends)


def test_tables_give_what_their_lists_give_in_any_order() -> None:
    rng = np.random.default_rng(6)
    one, two = (
        rng.integers(1, 6, 50).astype(float),
        rng.integers(1, 6, 47).astype(float),
    )
    found = mean_interval(one, two, seed=2)
    again = mean_interval(count_scores(one), count_scores(two[::-1]), seed=2)
    assert found == again
    first, second = rng.random((2, 40))
    groups = [*range(40)]
    by = {"design": "matched", "seed": 2}
    listed = mean_interval(first, second, groups=(groups, groups), **by)  # type: ignore[arg-type]  # by name
    order = rng.permutation(40)
    turned = mean_interval(
        first[order],
        second,
        groups=(order.tolist(), groups),
        **by,  # type: ignore[arg-type]  # by name
    )
    assert listed == turned


# Of 400 intervals fewer than 350 hold the truth once in 3 million times, if each does
# so with probability 0.95; more than 395 once in 10,000.
@pytest.mark.parametrize(
    ("design", "kind"),
    [
        ("halves", "stars"),
        ("halves", "skewed"),
        ("coins", "stars"),
        ("matched", "skewed"),
    ],
)
def test_95_of_100_intervals_hold_a_constant_shift(
    design: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Validity does not rest on how many assignments are redrawn.
    monkeypatch.setattr(pvalues, "MOST", 1000)
    # Of pairs there are 2**10 assignments, and all are gone through.
    size = 10 if design == "matched" else 12
    rng, held, by = np.random.default_rng(2019), 0, 0.75
    for _ in range(400):
        drawn = rng.integers(1, 6, 2 * size), rng.lognormal(size=2 * size)
        base = np.asarray(drawn[kind == "skewed"], float)
        ahead = rng.permutation(2 * size) < size
        groups = None
        if design == "coins":
            ahead = rng.random(2 * size) < 0.5
        elif design == "matched":
            ahead = np.repeat(rng.random(size) < 0.5, 2) ^ (
                np.arange(2 * size) % 2 == 0
            )
            pairs = np.arange(2 * size) // 2
            groups = pairs[ahead].tolist(), pairs[~ahead].tolist()
        one, two = base[ahead] + by, base[~ahead]
        found = mean_interval(one, two, design=design, groups=groups)
        assert found is not None
        low, high = found.low or -math.inf, found.high or math.inf
        held += low - 1e-9 <= by <= high + 1e-9
    assert held >= 350


def test_the_normal_limit_is_where_redraws_lead_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(7)
    one, two = (
        count_scores(rng.normal(size=3000) + 0.05),
        count_scores(rng.normal(size=2500)),
    )
    redrawn = mean_interval(one, two)
    monkeypatch.setattr(pvalues, "MANY_SCORES", 0)
    limit = mean_interval(one, two)
    assert redrawn is not None
    assert limit is not None
    assert (redrawn.how, limit.how) == ("sampling", "normal")
    # An end of 1,000 redraws has a standard error of 0.084 of a standard error of the
    # difference; five of them, and the limit itself, make one false alarm in a million.
    error = math.sqrt(1 / 3000 + 1 / 2500)
    assert limit[:3] == pytest.approx(redrawn[:3], abs=0.45 * error)
    assert limit.p_value == pytest.approx(redrawn.p_value or 0, abs=0.08)


def test_few_assignments_give_no_interval() -> None:
    few = compare([7, 9, 4], [6, 3, 5], rng=1).difference
    assert few == Difference(2.0, None, None, 0.4, "enumeration", 0)
    assert compare([7, 9], [1, 2], method="coin", rng=1).difference == Difference(6.5)


@pytest.mark.parametrize("size", [1e308, 1e-308, 5e-324, 0.0])
def test_scores_of_any_size_have_finite_differences_or_none(size: float) -> None:
    one, two = [0.5 * size, size, size, 0.25 * size, size], [0.0, size, -size, 0.0, 0.0]
    found = compare(one, two, rng=1)
    assert found.scores is not None
    for number in (*found.scores.means, *(found.difference or ())[:4]):
        assert number is None or math.isfinite(number)
    assert compare([1.7e308] * 4, [-1.7e308] * 4, rng=1).difference is None


def test_billions_of_scores_have_an_interval_at_once() -> None:
    levels = np.array([1.0, 2, 3, 4, 5])
    shares = np.array([50, 100, 200, 350, 300]) * 10**6
    one, two = ScoreCounts(levels, shares), ScoreCounts(levels, shares[::-1].copy())
    start = time.process_time()
    found = mean_interval(one, two)
    # Ten times what it takes here.
    assert time.process_time() - start < 5
    assert found is not None
    spread = math.sqrt(
        sum(np.cov(levels, aweights=side.counts, ddof=0) for side in (one, two)) / 1e9
    )
    assert found[1:3] == pytest.approx(
        (1.5 - 1.96 * spread, 1.5 + 1.96 * spread), abs=0.2 * spread
    )


def test_shares_are_for_forms_and_a_tie_has_no_sign() -> None:
    found = compare([0.00694378, 2.11045], [0.307389, 0.785939], rng=7)
    assert found.scores is not None
    assert found.scores.levels is None
    tied = [str(compare([5, 5], [5, 5], rng=seed)) for seed in range(4)]
    assert all("Difference 0, p" in text for text in tied)

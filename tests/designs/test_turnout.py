"""Whether numbers of answers fit the design."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.designs.drawing import assign
from evenhand.designs.turnout import NEARLY_IMPOSSIBLE, Turnout, turnout

few = st.integers(0, 80)


@given(one=few, two=few, silent=st.tuples(few, few))
def test_tails_are_those_of_the_two_laws(
    one: int, two: int, silent: tuple[int, int]
) -> None:
    bare = min(1.0, 2 * stats.binom.cdf(min(one, two), one + two, 0.5))
    assert Turnout((one, two)).probability == pytest.approx(bare, rel=1e-9)
    given_one, given_two = one + silent[0], two + silent[1]
    sides = [(one, given_one, given_two), (two, given_two, given_one)]
    some, ours, others = min(sides, key=lambda side: side[0] / max(side[1], 1))
    law = stats.hypergeom(ours + others, ours, one + two)
    tail = min(1.0, 2 * law.cdf(some))
    found = Turnout((one, two), (given_one, given_two)).probability
    assert found == pytest.approx(tail, rel=1e-8)


def test_an_honest_experiment_is_suspected_once_in_a_thousand_at_most() -> None:
    """All splits of 100 answers, by fair coins: exact."""
    law = stats.binom(100, 0.5)
    alarm = sum(
        law.pmf(one)
        for one in range(101)
        if Turnout((one, 100 - one)).probability < NEARLY_IMPOSSIBLE
    )
    assert 0.0003 < alarm <= NEARLY_IMPOSSIBLE


def test_many_answers_take_no_time_and_lose_no_digits() -> None:
    exact = 2 * stats.binom.cdf(10**8, 2 * 10**8 + 30_000, 0.5)
    assert Turnout((10**8, 10**8 + 30_000)).probability == pytest.approx(
        exact, rel=1e-4
    )


def test_people_who_stepped_in_are_not_those_who_were_drawn() -> None:
    drawn = assign(["x", "y"], [*"abcdef"], design="halves", rng=7)
    gone = drawn.rows[0][0]
    after = drawn.amend([gone], add=["z"])
    answered = [row for row in drawn.rows if row[0] != gone]
    found = turnout(after, answered)
    assert found is not None
    assert found.given == (3, 3)
    assert sorted(found.answered) == [2, 3]


def test_panels_are_not_tested() -> None:
    groups = {who: place // 2 for place, who in enumerate("abcdefgh")}
    drawn = assign(["x", "y"], [*"abcdefgh"], design="panels", groups=groups, rng=7)
    assert turnout(drawn, drawn.rows[:2]) is None

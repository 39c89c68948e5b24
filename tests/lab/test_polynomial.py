from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import OptionError
from evenhand.lab.theorems import brief
from evenhand.lab.worlds import (
    Drawn,
    First,
    Order,
    Polynomial,
    Scores,
    coin_law,
    evaluate,
    graph,
)
from evenhand.posets.graph import Comparisons
from evenhand.randomness import Chance

Edges = tuple[tuple[int, int], ...]


def test_a_shared_reviewer_is_filled_in_once() -> None:
    # Two people; person 0 scores place 0 above place 1 by 3, person 1 by 1.
    table = ((Fraction(0), Fraction(3)), (Fraction(1), Fraction(2)))
    certain: First = lambda gap: Fraction(gap > 0)  # noqa: E731 - a step
    once: Polynomial = {((0, 0, 1, 1),): Fraction(1)}
    twice: Polynomial = {((0, 0, 1, 1), (0, 1, 1, 0)): Fraction(1)}
    # 3 > 1 and 2 > 0: always. Then 0 > 2 never.
    assert evaluate(once, table, certain) == 1
    assert evaluate(twice, table, certain) == 0


def test_an_estimator_that_uses_scores_in_another_way_is_refused() -> None:
    def doubling(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
        del comparisons

        def draw(chance: Chance) -> Order:
            gap = scores[0, 0] - scores[1, 1]
            return (0, 1) if chance.coin(first(2 * gap)) else (1, 0)

        return draw

    with pytest.raises(OptionError, match="p must be a Fraction between 0 and 1"):
        coin_law(doubling, graph(2, ()), [[0], [1]])


@settings(max_examples=40)
@given(st.fractions(), st.integers(0, 400))
def test_a_long_fraction_is_cut_towards_zero(value: Fraction, power: int) -> None:
    long = value / 3**power
    cut = brief(long)
    assert abs(cut) <= abs(long)
    assert (cut > 0) == (long > 0)
    assert (cut < 0) == (long < 0)
    assert abs(long - cut) * 1000 <= abs(long)
    if power == 0:
        assert cut == value or len(str(value)) > 60
    assert len(str(cut)) < 450

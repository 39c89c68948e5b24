from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import OptionError
from evenhand.lab.dominance import Refutation, Score, refute

Assignment = tuple[int, int]
FixedRule = Callable[[Assignment, Score, Score], int]
HALF = Fraction(1, 2)


def replayed(rule: FixedRule, refutation: Refutation) -> Fraction:
    """Work out from the scales alone how often the rule is right."""
    scale1, scale2 = refutation.scales
    better, worse = refutation.better, 3 - refutation.better
    right = 0
    for assignment in ((1, 2), (2, 1)):
        given: dict[int, Score] = {}
        for item, (low, high) in zip(assignment, (scale1, scale2), strict=True):
            assert low < high
            given[item] = high if item == better else low
        assert set(given) == {better, worse}
        right += rule(assignment, given[1], given[2]) == better
    return Fraction(right, 2)


answers = st.lists(st.sampled_from([1, 2]), min_size=32, max_size=32)


@given(answers)
def test_any_table_of_answers_is_fooled(table: list[int]) -> None:
    def rule(assignment: Assignment, y1: Score, y2: Score) -> int:
        return table[16 * (assignment == (1, 2)) + 4 * int(y1) + int(y2)]

    found = refute(rule)
    assert found.probability <= HALF
    assert replayed(rule, found) == found.probability


def test_what_is_no_fixed_rule_is_refused() -> None:
    with pytest.raises(
        OptionError, match="must answer 1 or 2, and always the same, got 0"
    ):
        refute(lambda _z, _y1, _y2: 0)
    with pytest.raises(OptionError, match="got False and then False"):
        refute(lambda _z, y1, y2: y1 > y2)
    flickering = iter([1, 2] * 100)
    with pytest.raises(OptionError, match="got 1 and then 2"):
        refute(lambda _z, _y1, _y2: next(flickering))

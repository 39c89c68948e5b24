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

ZOO: dict[str, FixedRule] = {
    "higher score": lambda _z, y1, y2: 1 if y1 > y2 else 2,
    "higher score, ties to item 1": lambda _z, y1, y2: 1 if y1 >= y2 else 2,
    "lower score": lambda _z, y1, y2: 1 if y1 < y2 else 2,
    "always 1": lambda _z, _y1, _y2: 1,
    "always 2": lambda _z, _y1, _y2: 2,
    "item of reviewer 1": lambda z, _y1, _y2: z[0],
    "item of reviewer 2": lambda z, _y1, _y2: z[1],
    "far higher score": lambda _z, y1, y2: 1 if y1 - y2 > 1 else 2,
    "threshold on item 1": lambda _z, y1, _y2: 1 if y1 > 1.5 else 2,
    "threshold on reviewer 1": lambda z, y1, y2: (
        z[0] if (y1 if z[0] == 1 else y2) > 1.5 else z[1]
    ),
    "higher score, with a bonus for reviewer 2": lambda z, y1, y2: (
        1 if y1 + 2 * (z == (2, 1)) > y2 + 2 * (z == (1, 2)) else 2
    ),
    "parity": lambda z, y1, y2: 1 + int(y1 + 2 * y2 + z[0]) % 2,
}


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


@pytest.mark.parametrize("name", ZOO)
def test_every_rule_of_the_zoo_is_fooled(name: str) -> None:
    found = refute(ZOO[name])
    assert found.probability <= HALF
    assert replayed(ZOO[name], found) == found.probability


def test_the_higher_score_is_fooled_by_disjoint_ranges_alone() -> None:
    found = refute(ZOO["higher score"])
    assert found.construction == "disjoint ranges"
    assert found.probability == HALF


def test_a_rule_that_is_wrong_at_a_point_is_fooled_there() -> None:
    assert refute(ZOO["lower score"]).probability == 0
    assert refute(ZOO["always 1"]).probability == 0


answers = st.lists(st.sampled_from([1, 2]), min_size=32, max_size=32)


@given(answers)
def test_any_table_of_answers_is_fooled(table: list[int]) -> None:
    def rule(assignment: Assignment, y1: Score, y2: Score) -> int:
        return table[16 * (assignment == (1, 2)) + 4 * int(y1) + int(y2)]

    found = refute(rule)
    assert found.probability <= HALF
    assert replayed(rule, found) == found.probability


@given(answers)
def test_three_questions_suffice(table: list[int]) -> None:
    # The proof in the docstring, with a = 0, b = 1, c = 2 and d = 3.
    def rule(assignment: Assignment, y1: int, y2: int) -> int:
        return table[16 * (assignment == (1, 2)) + 4 * y1 + y2]

    disjoint = [rule((1, 2), 1, 2), rule((2, 1), 3, 0)]
    if disjoint.count(1) == 2:
        equal = [disjoint[0], rule((2, 1), 1, 2)]
        assert equal.count(2) <= 1
    else:
        assert disjoint.count(1) <= 1


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


def test_a_refutation_prints() -> None:
    found = refute(ZOO["higher score"])
    assert found.scales == ((0, 1), (2, 3))
    assert (found.better, found.answers) == (1, (2, 1))
    assert repr(found).startswith("right with probability 1/2 (disjoint ranges): item")

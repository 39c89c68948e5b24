import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from evenhand.ab.weights import odd, rational
from evenhand.posets.graph import comparisons, from_edges
from evenhand.randomness import outcomes, stream, uniforms
from evenhand.ranking.flips import (
    choose_twins,
    rearrange,
    settle_twins,
    twins_program,
)
from evenhand.ratings import Ratings

Row = tuple[int, int, float]


def canonical(gap: Fraction) -> Fraction:
    share = abs(gap) / (1 + abs(gap))
    return (1 + (share if gap > 0 else -share)) / 2


def table(*rows: Row) -> Ratings:
    reviewers, items, scores = zip(*rows, strict=True)
    return Ratings(reviewers, items, scores, all_items=range(max(items) + 1))


# Items 0, 1 above 2, and 3, 4 below it; all four compared with 2 only.
FAN = (
    (0, 0, 9.0),
    (0, 2, 5.0),
    (1, 1, 7.0),
    (1, 2, 1.0),
    (2, 2, 6.0),
    (2, 3, 2.0),
    (3, 2, 8.0),
    (3, 4, 4.0),
)


def test_rearranging_moves_only_the_three_groups_among_their_own_places() -> None:
    order = [5, 3, 0, 6, 2, 4, 1]
    # Places 1, 2, 4 and 6 belong to the groups; 5, 6 and 4 stay.
    assert rearrange(order, [2], [0, 1], [3]).tolist() == [5, 2, 0, 6, 1, 4, 3]
    assert order == [5, 3, 0, 6, 2, 4, 1]


def test_rearranging_keeps_the_order_within_each_group() -> None:
    after = rearrange([5, 4, 1, 0, 3, 2], [2, 3], [0, 1], [4, 5]).tolist()
    assert after == [3, 2, 1, 0, 5, 4]


def test_one_pair_is_the_first_in_index_order_with_two_reviewers() -> None:
    classes = [(2, 3, 5), (0, 1, 4)]
    reviewers = [[7], [7], [1], [2], [8], [3]]
    assert choose_twins(classes, reviewers, "one") == [(0, 4)]


def test_all_pairs_are_disjoint_and_greedy_in_index_order() -> None:
    classes = [(0, 1, 2, 3, 4), (5, 6)]
    reviewers = [[1], [2], [], [3], [4], [9], [9]]
    assert choose_twins(classes, reviewers, "all") == [(0, 1), (3, 4)]


def test_a_twin_passed_over_by_one_may_pair_with_another() -> None:
    # Items 0 and 1 have the same only reviewer; 1 then pairs with 3.
    assert choose_twins([(0, 1, 2, 3)], [[1], [1], [2], [3]], "all") == [(0, 2), (1, 3)]


def test_all_twins_of_a_fan_are_settled_around_their_middle() -> None:
    ratings = table(*FAN)
    start = np.array([4, 3, 2, 1, 0])
    for seed in range(20):
        after, coins = settle_twins(
            ratings, comparisons(ratings), start, rational(), stream(seed, "twins")
        )
        assert after[2] == 2
        assert set(after[:2].tolist()) == {0, 1}
        assert [coin.items for coin in coins] == [(1, 0), (4, 3)]
        assert [coin.reviewers for coin in coins] == [(1, 0), (3, 2)]
        assert [coin.p_first for coin in coins] == [
            odd(rational(), 7.0 - 9.0),
            odd(rational(), 4.0 - 2.0),
        ]
        for coin in coins:
            places = [after.tolist().index(item) for item in coin.items]
            assert (places[0] < places[1]) == coin.kept


def test_one_pair_leaves_the_order_below_it_as_the_start_has_it() -> None:
    ratings = table(*FAN)
    after, coins = settle_twins(
        ratings,
        comparisons(ratings),
        np.array([4, 3, 2, 1, 0]),
        rational(),
        stream(7, "twins"),
        pairs="one",
        by="direct",
    )
    assert [coin.items for coin in coins] == [(1, 0)]
    assert after[2:].tolist() == [4, 3, 2]


def test_closure_finds_twins_that_direct_comparisons_do_not() -> None:
    # 0 and 1 are above 2; only 0 was also compared with 3, which is below 2.
    rows = (
        (0, 0, 9.0),
        (0, 2, 5.0),
        (1, 1, 7.0),
        (1, 2, 1.0),
        (2, 2, 6.0),
        (2, 3, 2.0),
        (3, 0, 8.0),
        (3, 3, 4.0),
    )
    ratings = table(*rows)
    start = np.arange(4)
    cases: list[tuple[str, list[tuple[int, int]]]] = [
        ("direct", []),
        ("closure", [(0, 1)]),
    ]
    for by, expected in cases:
        after, coins = settle_twins(
            ratings, comparisons(ratings), start, rational(), stream(7, "t"), by=by
        )
        assert [coin.items for coin in coins] == expected
        if not expected:
            assert after.tolist() == start.tolist()


def test_without_a_twin_even_a_start_against_the_comparisons_is_returned() -> None:
    # As printed, the start is re-arranged around twins only.
    ratings = table((0, 0, 9), (0, 1, 5), (1, 1, 5), (1, 2, 3))
    start = np.array([2, 1, 0])
    after, coins = settle_twins(
        ratings, comparisons(ratings), start, rational(), stream(7, "twins")
    )
    assert after.tolist() == [2, 1, 0]
    assert coins == ()


@st.composite
def strict_ratings(draw: st.DrawFn) -> Ratings:
    """Draw ratings by reviewers who order a few items strictly by one truth."""
    n_items = draw(st.integers(2, 7))
    truth = draw(st.permutations(range(n_items)))
    rows = []
    for reviewer in range(draw(st.integers(1, 7))):
        seen = draw(
            st.lists(
                st.sampled_from(range(n_items)), min_size=1, max_size=3, unique=True
            )
        )
        base = draw(st.integers(-9, 9))
        rows += [(reviewer, item, base - 2 * truth.index(item)) for item in seen]
    reviewers, items, scores = zip(*rows, strict=True)
    return Ratings(reviewers, items, scores, all_items=range(n_items))


class Script:
    """A Chance that takes the uniforms that were drawn for each pair."""

    def __init__(self, draws: list[float]) -> None:
        self._draws = iter(draws)

    def pick(self, count: int) -> int:
        return int(next(self._draws) * count)

    def coin(self, p: Fraction) -> bool:
        return next(self._draws) < p


@settings(max_examples=50)
@given(
    strict_ratings(),
    st.data(),
    st.integers(0, 2**32),
    st.sampled_from(["one", "all"]),
    st.sampled_from(["direct", "closure"]),
)
def test_the_fast_version_does_what_the_exact_program_does(
    ratings: Ratings, data: st.DataObject, seed: int, pairs: str, by: str
) -> None:
    graph = comparisons(ratings)
    start = data.draw(st.permutations(range(ratings.n_items)))
    after, coins = settle_twins(
        ratings,
        graph,
        np.array(start),
        rational(),
        stream(seed, "twins"),
        pairs=pairs,
        by=by,
    )
    scores = {
        (reviewer, item): Fraction(score)
        for reviewer, item, score in zip(
            ratings.reviewer_codes.tolist(),
            ratings.item_codes.tolist(),
            ratings.scores.tolist(),
            strict=True,
        )
    }
    units = uniforms(stream(seed, "twins"), (ratings.n_items, 2))
    script = [unit for coin in coins for unit in units[min(coin.items)].tolist()]
    program = twins_program(graph, scores, start, canonical, pairs=pairs, by=by)
    assert tuple(after.tolist()) == program(Script(script))
    for coin in coins:
        (a, b), (one, other) = coin.items, coin.reviewers
        assert one != other
        gap = scores[one, a] - scores[other, b]
        assert coin.p_first == odd(rational(), float(gap))
        assert abs(coin.p_first - canonical(gap)) < 2**-50
        assert start.index(a) < start.index(b)


def test_outputs_are_as_frequent_as_the_exact_law_says() -> None:
    ratings = table(*FAN, (4, 0, 3.0), (5, 0, 8.0))
    exact = {
        (reviewer, item): Fraction(score)
        for reviewer, item, score in (*FAN, (4, 0, 3.0), (5, 0, 8.0))
    }
    graph = comparisons(ratings)
    law = outcomes(twins_program(graph, exact, range(5), canonical))
    draws = 1200
    counts = Counter(
        tuple(
            settle_twins(
                ratings, graph, np.arange(5), rational(), stream(seed, "twins")
            )[0].tolist()
        )
        for seed in range(draws)
    )
    assert len(law) == 4
    assert set(counts) <= set(law)
    # Chi-square at its upper 1e-6 quantile; every expected count is above 50.
    assert min(law.values()) * draws > 50
    statistic = sum(
        (counts[order] - draws * float(mass)) ** 2 / (draws * float(mass))
        for order, mass in law.items()
    )
    assert statistic < chi2.isf(1e-6, len(law) - 1)


def test_a_graph_without_comparisons_makes_everything_a_twin() -> None:
    scores = {(item, item): Fraction(item) for item in range(4)}
    law = outcomes(
        twins_program(from_edges(4, [], []), scores, range(4), lambda _: Fraction(1, 4))
    )
    expected = {
        (*one, *other): Fraction(1 if one == (0, 1) else 3, 4)
        * Fraction(1 if other == (2, 3) else 3, 4)
        for one, other in itertools.product([(0, 1), (1, 0)], [(2, 3), (3, 2)])
    }
    assert law == expected

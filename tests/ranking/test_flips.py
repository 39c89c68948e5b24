import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from evenhand.ab.weights import odd, rational
from evenhand.posets.graph import (
    comparisons,
    from_edges,
    is_ordering,
    levels_of_both,
)
from evenhand.posets.orderings import topological_order
from evenhand.randomness import below, outcomes, stream, uniforms
from evenhand.ranking.flips import (
    Flip,
    choose_flips,
    flip_neighbours,
    flips_program,
    people_of,
    pick_pair,
    scan_from,
    scores_of,
)
from evenhand.ratings import Ratings

SCANS = [(0, 1), (0, 2), (1, 2)]
units = st.floats(0, 1, exclude_max=True)


def canonical(gap: Fraction) -> Fraction:
    share = abs(gap) / (1 + abs(gap))
    return (1 + (share if gap > 0 else -share)) / 2


@st.composite
def ratings_with_ties(draw: st.DrawFn) -> Ratings:
    """Draw ratings with ties, single reviews, unreviewed items and contradictions."""
    n_items = draw(st.integers(1, 7))
    cells = [(j, i) for j in range(draw(st.integers(1, 6))) for i in range(n_items)]
    seen = draw(st.lists(st.sampled_from(cells), min_size=1, unique=True))
    scores = draw(st.lists(st.integers(0, 3), min_size=len(seen), max_size=len(seen)))
    reviewers, items = zip(*seen, strict=True)
    return Ratings(reviewers, items, scores, all_items=range(n_items))


def free_in(ratings: Ratings, order: list[int]) -> list[bool]:
    graph = comparisons(ratings)
    return [
        all(one == other for _, one, other in levels_of_both(graph, *pair))
        for pair in itertools.pairwise(order)
    ]


def people_in(ratings: Ratings) -> list[list[int]]:
    return people_of(scores_of(ratings), ratings.n_items)


def listed_pairs(
    ones: list[int], others: list[int], retired: set[int]
) -> list[tuple[int, int]]:
    return [
        (one, other)
        for one, other in itertools.product(ones, others)
        if one != other and not {one, other} & retired
    ]


def pick_by(unit: float) -> Callable[[int], int]:
    return lambda count: int(unit * count)


@settings(max_examples=50)
@given(ratings_with_ties(), st.data(), st.sampled_from(SCANS))
def test_neighbours_and_reviewers_are_chosen_as_from_plain_lists(
    ratings: Ratings, data: st.DataObject, scan: tuple[int, int]
) -> None:
    n = ratings.n_items
    order = data.draw(st.permutations(range(n)))
    draws = data.draw(st.lists(units, min_size=n, max_size=n))
    free, people = free_in(ratings, order), people_in(ratings)
    expected, retired = [], set[int]()
    position, step = scan
    while position < n - 1:
        a, b = order[position : position + 2]
        pairs = listed_pairs(people[a], people[b], retired) if free[position] else []
        if pairs:
            crew = pairs[int(draws[position] * len(pairs))]
            retired.update(crew)
            expected.append(((a, b), crew))
        position += 2 if pairs else step
    chosen = choose_flips(free, people, order, scan, lambda at: pick_by(draws[at]))
    assert chosen == expected


@given(
    st.sets(st.integers(0, 9)).map(sorted),
    st.sets(st.integers(0, 9)).map(sorted),
    units,
)
def test_pairs_of_reviewers_are_numbered_like_a_plain_list(
    ones: list[int], others: list[int], unit: float
) -> None:
    pairs = listed_pairs(ones, others, set())
    expected = pairs[int(unit * len(pairs))] if pairs else None
    assert pick_pair(pick_by(unit), ones, others) == expected


@settings(max_examples=50)
@given(ratings_with_ties(), st.data())
def test_only_neighbours_that_nobody_put_in_order_are_settled(
    ratings: Ratings, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(ratings.n_items)))
    free = free_in(ratings, order)
    for start in range(2):
        _, coins = flip_neighbours(
            ratings,
            comparisons(ratings),
            np.array(order, dtype=np.int64),
            rational(),
            stream(7, "flips"),
            scan=(start, len(order)),
        )
        people = [people_in(ratings)[item] for item in order[start : start + 2]]
        possible = start < len(free) and free[start]
        possible = possible and bool(listed_pairs(people[0], people[1], set()))
        expected = [tuple(order[start : start + 2])] if possible else []
        assert [coin.items for coin in coins] == expected


@st.composite
def consistent_ratings(draw: st.DrawFn) -> Ratings:
    """Draw ratings in which reviewers agree with one true order, with ties."""
    n_items = draw(st.integers(2, 8))
    truth = draw(st.permutations(range(n_items)))
    reviewers, items, scores = [], [], []
    for reviewer in range(draw(st.integers(1, 7))):
        seen = draw(st.lists(st.sampled_from(range(n_items)), min_size=1, unique=True))
        steps = draw(st.lists(st.integers(0, 3), min_size=n_items, max_size=n_items))
        levels = list(itertools.accumulate(steps))
        for item in seen:
            reviewers.append(reviewer)
            items.append(item)
            scores.append(levels[n_items - 1 - truth.index(item)])
    return Ratings(reviewers, items, scores, all_items=range(n_items))


def scores_by_code(ratings: Ratings) -> dict[tuple[int, int], float]:
    columns = (ratings.reviewer_codes, ratings.item_codes, ratings.scores)
    return {
        (reviewer, item): value
        for reviewer, item, value in zip(
            *(column.tolist() for column in columns), strict=True
        )
    }


@settings(max_examples=50)
@given(
    consistent_ratings(),
    st.integers(0, 2**32),
    st.sampled_from(SCANS),
)
def test_coins_are_what_they_say_and_the_ordering_stays_topological(
    ratings: Ratings, seed: int, scan: tuple[int, int]
) -> None:
    graph = comparisons(ratings)
    start = topological_order(graph)
    after, coins = flip_neighbours(
        ratings,
        comparisons(ratings),
        start,
        rational(),
        stream(seed, "flips"),
        scan=scan,
    )
    assert is_ordering(graph, after)
    score = scores_by_code(ratings)
    people = [reviewer for coin in coins for reviewer in coin.reviewers]
    assert len(people) == len(set(people))
    place = {item: index for index, item in enumerate(after.tolist())}
    before = {item: index for index, item in enumerate(start.tolist())}
    settled: set[int] = set()
    for coin in coins:
        a, b = coin.items
        one, other = coin.reviewers
        assert coin.gap == score[one, a] - score[other, b]
        p_first = float(canonical(Fraction(coin.gap)))
        assert coin.p_first == pytest.approx(p_first, abs=1e-15)
        assert coin.anchors == ()
        assert before[b] == before[a] + 1
        assert (place[a] < place[b]) == coin.kept
        assert {place[a], place[b]} == {before[a], before[b]}
        assert not settled & {a, b}
        settled |= {a, b}
    for item in set(range(ratings.n_items)) - settled:
        assert place[item] == before[item]


@settings(max_examples=50)
@given(consistent_ratings(), st.integers(0, 2**32))
def test_a_coin_takes_two_uniforms_for_each_position(
    ratings: Ratings, seed: int
) -> None:
    graph = comparisons(ratings)
    start = topological_order(graph)
    draws = uniforms(stream(seed, "flips"), (ratings.n_items, 2))
    score = scores_by_code(ratings)
    chosen = choose_flips(
        free_in(ratings, start.tolist()),
        people_in(ratings),
        start.tolist(),
        (0, 1),
        lambda position: pick_by(draws[position, 0]),
    )
    expected = []
    for (a, b), (one, other) in chosen:
        position = start.tolist().index(a)
        gap = score[one, a] - score[other, b]
        p_first = float(odd(rational(), gap))
        kept = bool(draws[position, 1] < p_first)
        expected.append(Flip((a, b), gap, p_first, kept, (one, other)))
    _, coins = flip_neighbours(
        ratings, comparisons(ratings), start, rational(), stream(seed, "flips")
    )
    assert list(coins) == expected


def test_outputs_are_as_frequent_as_the_exact_law_says() -> None:
    # Four items, five reviewers of two to three items; two coins may be flipped.
    rows = [(0, 0, 8), (0, 2, 1), (1, 1, 6), (1, 3, 5), (2, 0, 3), (3, 1, 9), (4, 2, 4)]
    reviewers, items, scores = zip(*rows, strict=True)
    ratings = Ratings(reviewers, items, scores)
    graph = comparisons(ratings)
    start = topological_order(graph)
    exact = {(reviewer, item): Fraction(score) for reviewer, item, score in rows}
    law = outcomes(flips_program(graph, exact, start.tolist(), canonical))
    assert len(law) == 4
    draws = 2500
    counts = Counter(
        tuple(
            flip_neighbours(ratings, graph, start, rational(), stream(seed, "flips"))[
                0
            ].tolist()
        )
        for seed in range(draws)
    )
    assert set(counts) <= set(law)
    # Chi-square at its upper 1e-6 quantile; every expected count is above 50.
    assert min(law.values()) * draws > 50
    statistic = sum(
        (counts[order] - draws * float(mass)) ** 2 / (draws * float(mass))
        for order, mass in law.items()
    )
    assert statistic < chi2.isf(1e-6, len(law) - 1)


def table(*rows: tuple[int, int, float]) -> Ratings:
    reviewers, items, scores = zip(*rows, strict=True)
    n_items = max(items) + 1
    return Ratings(reviewers, items, scores, all_items=range(n_items))


def coins_of(
    ratings: Ratings, seed: int = 7, scan: tuple[int, int] = (0, 1)
) -> list[tuple[tuple[int, int], tuple[int, ...]]]:
    order = topological_order(comparisons(ratings))
    _, coins = flip_neighbours(
        ratings,
        comparisons(ratings),
        order,
        rational(),
        stream(seed, "flips"),
        scan=scan,
    )
    return [(coin.items, coin.reviewers) for coin in coins]


def test_a_draw_at_one_position_does_not_shift_another() -> None:
    # Items 0 and 1 are free in one set of ratings and compared in the other; the coin
    # for items 2 and 3 falls the same way.
    free = table((0, 0, 9), (1, 1, 8), (2, 2, 5), (3, 3, 5))
    bound = table((0, 0, 9), (0, 1, 8), (2, 2, 5), (3, 3, 5))
    for seed in range(40):
        coins = [
            flip_neighbours(
                ratings,
                comparisons(ratings),
                np.arange(4),
                rational(),
                stream(seed, "flips"),
                scan=(0, 2),
            )[1]
            for ratings in (free, bound)
        ]
        assert [coin.items for coin in coins[0]] == [(0, 1), (2, 3)]
        assert [coin.items for coin in coins[1]] == [(2, 3)]
        assert coins[0][1].kept == coins[1][0].kept


def test_a_retired_reviewer_takes_all_scores_of_both_along() -> None:
    # After the coin on 0 and 1, items 2 and 3 have no score left.
    assert coins_of(table((0, 0, 9), (0, 2, 5), (1, 1, 8), (1, 3, 4))) == [
        ((0, 1), (0, 1))
    ]
    # One more reviewer each, and they have.
    more = table((0, 0, 9), (0, 2, 5), (1, 1, 8), (1, 3, 4), (2, 2, 1), (3, 3, 1))
    later = {tuple(coins_of(more, seed)) for seed in range(30)}
    assert later == {(((0, 1), (0, 1)), ((2, 3), (2, 3)))}


def test_a_comparison_by_a_retired_reviewer_still_binds() -> None:
    # Reviewer 0 is retired by the coin on 0 and 1 but put 2 above 3.
    ratings = table((0, 0, 9), (0, 2, 5), (0, 3, 4), (1, 1, 8), (2, 2, 1), (3, 3, 7))
    assert coins_of(ratings) == [((0, 1), (0, 1))]


def test_neighbours_that_one_reviewer_tied_need_two_different_reviewers() -> None:
    assert coins_of(table((0, 0, 5), (0, 1, 5))) == []
    tied = table((0, 0, 5), (0, 1, 5), (1, 1, 3))
    assert coins_of(tied) == [((0, 1), (0, 1))]
    both = table((0, 0, 5), (0, 1, 5), (1, 0, 3), (1, 1, 3))
    assert {coins_of(both, seed)[0][1] for seed in range(30)} == {(0, 1), (1, 0)}


def test_neighbours_without_a_score_are_left_alone() -> None:
    ratings = Ratings([0, 1], [0, 2], [5, 5], all_items=range(3))
    assert coins_of(ratings) == []


def test_every_pair_of_reviewers_is_as_likely() -> None:
    # Items with 2 and 3 reviewers, one of them shared by a tie: 5 pairs.
    ratings = table((0, 0, 5), (1, 0, 5), (1, 1, 5), (2, 1, 5), (3, 1, 5))
    draws = 750
    counts = Counter(coins_of(ratings, seed)[0][1] for seed in range(draws))
    assert set(counts) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)}
    # Chi-square at its upper 1e-6 quantile.
    expected = draws / 5
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert statistic < chi2.isf(1e-6, 4)


def test_the_parity_scan_begins_at_either_position_by_a_fair_coin() -> None:
    draws = 2000
    scans = Counter(
        scan_from("parity", partial(below, stream(seed, "scan")))
        for seed in range(draws)
    )
    assert set(scans) == {(0, 2), (1, 2)}
    # Five standard errors: a fair coin fails for one seed in 1.7 million.
    assert abs(scans[0, 2] - draws / 2) < 5 * math.sqrt(draws) / 2


def test_scores_of_any_size_give_a_probability() -> None:
    ratings = table((0, 0, 1.7e308), (1, 1, -1.7e308))
    _, coins = flip_neighbours(
        ratings, comparisons(ratings), np.arange(2), rational(), stream(7, "flips")
    )
    assert coins[0].p_first == 1.0
    assert coins[0].kept


def test_the_exact_program_follows_either_parity() -> None:
    graph = from_edges(3, [], [])
    scores = {(item, item): Fraction(2 - item) for item in range(3)}
    law = outcomes(flips_program(graph, scores, (0, 1, 2), canonical, scan="parity"))
    flip = (1 - canonical(Fraction(1))) / 2
    assert law == {(0, 1, 2): 1 - 2 * flip, (1, 0, 2): flip, (0, 2, 1): flip}

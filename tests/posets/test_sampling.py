from __future__ import annotations

import math
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammainccinv

from evenhand.errors import ConvergenceError, RatingsError
from evenhand.posets.graph import (
    Comparisons,
    comparisons,
    edges,
    from_edges,
    is_ordering,
)
from evenhand.posets.orderings import all_orderings
from evenhand.posets.sampling import (
    Counted,
    Swept,
    draw_order,
    plan_orders,
    sample,
    uniform_order,
)
from evenhand.randomness import Stream, below, stream
from evenhand.ratings import Ratings
from tests.strategies import consistent_ratings

if TYPE_CHECKING:
    from collections.abc import Callable

FALSE_ALARM = 1e-6
DRAWS_PER_ORDERING = 60

TWO_PAIRS = from_edges(4, [0, 2], [1, 3])
LETTER_N = from_edges(4, [0, 0, 1], [2, 3, 3])
FENCE = from_edges(5, [0, 2, 2, 4], [1, 1, 3, 3])
# Two tied levels, held together by a joint, and a pair inside each.
TIED = comparisons(
    Ratings(
        [0] * 6 + [1, 1, 2, 2],
        [0, 1, 2, 3, 4, 5, 0, 1, 4, 5],
        [1, 1, 1, 0, 0, 0, 2, 1, 2, 1],
    )
)
# Three tied items above three, one pair across from another reviewer, one item free.
MIXED = comparisons(
    Ratings(
        [0] * 5 + [1, 1, 2, 2],
        [0, 1, 2, 3, 4, 5, 3, 0, 5],
        [2, 2, 1, 1, 1, 2, 1, 5, 4],
    )
)


def randomised_kahn(c: Comparisons, source: Stream) -> tuple[int, ...]:
    """Take a random free item at every step: an ordering, but not uniformly."""
    pairs = list(zip(*(codes.tolist() for codes in edges(c)), strict=True))
    order: list[int] = []
    left = set(range(c.n_items))
    while left:
        free = sorted(left - {b for a, b in pairs if a in left})
        order.append(free[below(source, len(free))])
        left.remove(order[-1])
    return tuple(order)


def looks_uniform(c: Comparisons, draw: Callable[[], tuple[int, ...]]) -> bool:
    """Chi-square test over all orderings; false alarm one time in a million."""
    orderings = list(all_orderings(c))
    drawn = Counter(draw() for _ in range(DRAWS_PER_ORDERING * len(orderings)))
    assert set(drawn) <= set(orderings)
    statistic = sum(
        (drawn[order] - DRAWS_PER_ORDERING) ** 2 / DRAWS_PER_ORDERING
        for order in orderings
    )
    limit = 2 * gammainccinv((len(orderings) - 1) / 2, FALSE_ALARM)
    return bool(statistic < limit)


def sampler(c: Comparisons, *, ideals: int) -> Callable[[], tuple[int, ...]]:
    plan = plan_orders(c, ideals=ideals)
    source = stream(2019, "uniform orderings")
    return lambda: tuple(draw_order(plan, source).tolist())


@pytest.mark.parametrize("ideals", [50_000, 1, 0])
@pytest.mark.parametrize(
    "c",
    [TWO_PAIRS, LETTER_N, FENCE, TIED, MIXED],
    ids=["two pairs", "letter N", "fence", "tied", "mixed"],
)
def test_orderings_are_drawn_uniformly_on_both_sides_of_the_switch(
    c: Comparisons, ideals: int
) -> None:
    assert looks_uniform(c, sampler(c, ideals=ideals))


@pytest.mark.parametrize("c", [TWO_PAIRS, FENCE, MIXED])
def test_taking_random_free_items_fails_the_same_test(c: Comparisons) -> None:
    source = stream(2019, "randomised Kahn")
    assert not looks_uniform(c, lambda: randomised_kahn(c, source))


def test_edges_that_others_imply_are_dropped_without_harm() -> None:
    # Two letters N with a chain of three between them, all pairs given: 25 orderings.
    first, middle, last = range(4), range(4, 7), range(7, 11)
    pairs = [(0, 2), (0, 3), (1, 3), (7, 9), (7, 10), (8, 10), (4, 5), (4, 6), (5, 6)]
    for upper, lower in ((first, middle), (first, last), (middle, last)):
        pairs += [(a, b) for a in upper for b in lower]
    c = from_edges(11, [a for a, _ in pairs], [b for _, b in pairs])
    (piece,) = plan_orders(c, ideals=0).pieces.pieces
    assert sum(len(lower) for lower in piece.below or []) == 3 + 2 + 2 + 2 + 3
    assert is_ordering(c, sampler(c, ideals=0)())


def test_the_switch_is_where_the_ideals_say() -> None:
    # The letter N has 8 order ideals.
    assert isinstance(plan_orders(LETTER_N, ideals=8).parts[0], Counted)
    assert isinstance(plan_orders(LETTER_N, ideals=7).parts[0], Swept)
    assert plan_orders(TWO_PAIRS).parts == ()
    assert len(plan_orders(TWO_PAIRS, ideals=0).parts) == 1


@pytest.mark.parametrize("ideals", [50_000, 0])
def test_each_pair_of_a_larger_poset_is_ordered_with_its_exact_probability(
    ideals: int,
) -> None:
    # Two chains of 6: item i of the first is above item j of the second in all but
    # those orderings that have more than j of the second before it.
    chain = np.arange(5)
    c = from_edges(12, np.append(chain, chain + 6), np.append(chain + 1, chain + 7))
    draws = 4000 if ideals else 800
    plan = plan_orders(c, ideals=ideals)
    source = stream(7, "pairs")
    counts = np.zeros((6, 6), dtype=np.int64)
    for _ in range(draws):
        place = np.argsort(draw_order(plan, source))
        counts += place[:6, None] < place[None, 6:]
    for i in range(6):
        for j in range(6):
            # Of the second chain, at most j are placed before item i of the first.
            ways = sum(
                math.comb(i + k, i) * math.comb(11 - i - k, 5 - i) for k in range(j + 1)
            )
            p = ways / math.comb(12, 6)
            # Six standard errors: all 36 together fail for one seed in ten million.
            error = 6 * math.sqrt(p * (1 - p) / draws)
            assert abs(counts[i, j] / draws - p) < error


@settings(max_examples=40)
@given(
    consistent_ratings(max_items=12, max_reviewers=5),
    st.integers(0, 2**53),
    st.sampled_from([50_000, 10, 1, 0]),
)
def test_every_draw_respects_the_comparisons(
    ratings: Ratings, seed: int, ideals: int
) -> None:
    c = comparisons(ratings)
    order = uniform_order(c, stream(seed, "order"), ideals=ideals)
    assert is_ordering(c, order)
    again = uniform_order(c, stream(seed, "order"), ideals=ideals)
    assert (again == order).all()


def test_items_without_a_rating_are_placed_too() -> None:
    ratings = Ratings(["r", "r"], [1, 2], [5, 4], all_items=range(4))
    c = comparisons(ratings)
    assert looks_uniform(c, sampler(c, ideals=50_000))


def test_a_reviewer_of_2000_items_in_five_levels_is_drawn_at_once() -> None:
    ratings = Ratings(["r"] * 2000, range(2000), np.arange(2000) % 5)
    c = comparisons(ratings)
    plan = plan_orders(c)
    assert plan.parts == ()
    order = draw_order(plan, stream(1, "order"))
    assert is_ordering(c, order)
    assert not np.array_equal(order, draw_order(plan, stream(2, "order")))


@pytest.mark.parametrize("half", [True, False], ids=["half of all pairs", "2n pairs"])
def test_large_designs_are_drawn(*, half: bool) -> None:
    n_items = 300 if half else 3000
    bits = np.random.Generator(np.random.PCG64(5))
    above, below_ = np.triu_indices(n_items, 1)
    chosen = bits.permutation(len(above))[: len(above) // 2 if half else 2 * n_items]
    names = bits.permutation(n_items)
    c = from_edges(n_items, names[above[chosen]], names[below_[chosen]])
    assert is_ordering(c, uniform_order(c, stream(1, "order")))


def test_ranks_and_comparisons_will_do() -> None:
    ranks = Ratings.from_ranks(["r"] * 3, ["x", "y", "z"], [3, 1, 2])
    order = uniform_order(comparisons(ranks), stream(1, "order"))
    assert order.tolist() == [1, 2, 0]
    pairs = Ratings.from_comparisons(["y", "z"], ["z", "x"])
    order = uniform_order(comparisons(pairs), stream(1, "order"))
    assert order.tolist() == [1, 2, 0]


def test_contradictory_comparisons_have_nothing_to_draw() -> None:
    with pytest.raises(RatingsError, match="got items 0 above 1 above 0"):
        uniform_order(from_edges(2, [0, 1], [1, 0]), stream(1, "order"))


def test_what_would_take_minutes_is_refused_at_once() -> None:
    # Twenty reviewers of 1,000 items each, in five levels.
    source = np.random.default_rng(3)
    values = source.random(5000)
    items = [source.choice(5000, 1000, replace=False) for _ in range(20)]
    scores = [np.searchsorted(np.sort(source.random(4)), values[i]) for i in items]
    ratings = Ratings(
        np.repeat(np.arange(20), 1000), np.concatenate(items), np.concatenate(scores)
    )
    started = time.process_time()
    with pytest.raises(ConvergenceError, match="take too long to draw"):
        uniform_order(comparisons(ratings), stream(1, "order"))
    assert time.process_time() - started < 10


def test_samples_of_the_two_chains_are_uniform_and_repeat() -> None:
    c = from_edges(4, [0, 2], [1, 3])
    drawn = sample(c, 3000, rng=7)
    assert (drawn == sample(c, 3000, rng=7)).all()
    counts = Counter(map(tuple, drawn.tolist()))
    assert len(counts) == 6
    # With five degrees of freedom a correct build exceeds this once in a million seeds.
    spread = sum((count - 500) ** 2 / 500 for count in counts.values())
    assert spread < 2 * gammainccinv(5 / 2, FALSE_ALARM)

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammainccinv

from evenhand.errors import ConvergenceError
from evenhand.posets import sampling
from evenhand.posets.graph import (
    Comparisons,
    comparisons,
    edges,
    from_edges,
    is_ordering,
)
from evenhand.posets.orderings import Ideals, Piece, all_orderings, topological_order
from evenhand.posets.sampling import (
    Sweep,
    draw_order,
    fold,
    plan_folds,
    plan_orders,
    sample,
    uniform_order,
)
from evenhand.randomness import Stream, below, stream
from evenhand.ratings import Ratings
from tests.posets.plain import whole_piece
from tests.strategies import Poset, consistent_ratings, posets

if TYPE_CHECKING:
    from collections.abc import Callable

FALSE_ALARM = 1e-6

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
        [0] * 5 + [1, 1, 2, 2], [0, 1, 2, 3, 4, 5, 3, 0, 5], [2, 2, 1, 1, 1, 2, 1, 5, 4]
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
    each = max(15, 480 // len(orderings))
    drawn = Counter(draw() for _ in range(each * len(orderings)))
    assert set(drawn) <= set(orderings)
    statistic = sum((drawn[order] - each) ** 2 / each for order in orderings)
    limit = 2 * gammainccinv((len(orderings) - 1) / 2, FALSE_ALARM)
    return bool(statistic < limit)


def sampler(c: Comparisons, *, ideals: int) -> Callable[[], tuple[int, ...]]:
    plan = plan_orders(c, ideals=ideals)
    source = stream(2019, "uniform orderings")
    return lambda: tuple(draw_order(plan, source).tolist())


@pytest.mark.parametrize("ideals", [50_000, 0])
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
    assert len(plan_orders(c).parts) == len(plan_orders(c, ideals=0).parts) == 2
    assert is_ordering(c, sampler(c, ideals=0)())


def test_the_switch_is_where_the_ideals_say() -> None:
    # The letter N has 8 order ideals.
    assert isinstance(plan_orders(LETTER_N, ideals=8).parts[0], Ideals)
    assert isinstance(plan_orders(LETTER_N, ideals=7).parts[0], Sweep)
    assert plan_orders(TWO_PAIRS).parts == []


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
    st.sampled_from([50_000, 10, 0]),
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
    assert plan.parts == []
    order = draw_order(plan, stream(1, "order"))
    assert is_ordering(c, order)
    assert not np.array_equal(order, draw_order(plan, stream(2, "order")))


@pytest.mark.parametrize("half", [True, False], ids=["half of all pairs", "2n pairs"])
def test_large_designs_are_drawn(*, half: bool) -> None:
    n_items = 300 if half else 3000
    bits = np.random.Generator(np.random.PCG64(5))
    drawn = bits.integers(n_items, size=(2, n_items**2 // 3 if half else 2 * n_items))
    above, below_ = np.sort(drawn[:, drawn[0] != drawn[1]], axis=0)
    names = bits.permutation(n_items)
    c = from_edges(n_items, names[above], names[below_])
    assert is_ordering(c, uniform_order(c, stream(1, "order")))


def test_ranks_and_comparisons_will_do() -> None:
    ranks = Ratings.from_ranks(["r"] * 3, ["x", "y", "z"], [3, 1, 2])
    order = uniform_order(comparisons(ranks), stream(1, "order"))
    assert order.tolist() == [1, 2, 0]
    pairs = Ratings.from_comparisons(["y", "z"], ["z", "x"])
    order = uniform_order(comparisons(pairs), stream(1, "order"))
    assert order.tolist() == [1, 2, 0]


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


# Coupling from the past.
# A pair beside a free item.
PAIR = from_edges(3, [0], [1])


def whole_sweep(c: Comparisons) -> Sweep:
    return Sweep(whole_piece(c))


def crown(half: int) -> Comparisons:
    """A fence that closes to a circle."""
    upper = np.arange(half)
    return from_edges(
        2 * half,
        np.concatenate([upper, upper]),
        half + np.concatenate([upper, (upper + 1) % half]),
    )


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=40), min_size=1))
def test_lists_of_any_length_are_folded_to_their_least_value(
    lists: list[list[int]],
) -> None:
    values = np.random.default_rng(3).permutation(10).astype(np.float64)
    nodes = np.array([node for nodes in lists for node in nodes])
    plan = plan_folds(nodes, np.array([len(nodes) for nodes in lists]))
    expected = [float(values[nodes].min()) for nodes in lists]
    assert fold(np.minimum, values, plan).tolist() == expected


@settings(max_examples=50)
@given(consistent_ratings(max_items=8, max_reviewers=3))
def test_no_two_items_of_one_colour_are_neighbours(ratings: Ratings) -> None:
    c = comparisons(ratings)
    if c.n_items < 2:
        return
    piece = whole_piece(c)
    sweep = Sweep(piece)
    assert sorted(sweep.items.tolist()) == list(range(c.n_items))
    pairs = {(at, low) for at, lower in enumerate(piece.below or []) for low in lower}
    for begin, end, *_ in sweep.colours:
        alike = sweep.items[begin:end].tolist()
        assert not pairs.intersection(itertools.permutations(alike, 2))


@settings(max_examples=60)
@given(posets(min_items=2, max_items=6), st.data())
def test_a_chain_of_real_numbers_stays_between_bottom_and_top(
    poset: Poset, data: st.DataObject
) -> None:
    """The chain is exact: Fractions, and uniforms with 64 bits more than are drawn."""
    c = poset.comparisons()
    sweep = whole_sweep(c)
    size = c.n_items
    place = np.argsort(topological_order(c)).tolist()
    pairs = [
        (place[upper], place[lower])
        for upper, lower in zip(*(e.tolist() for e in edges(c)), strict=True)
    ]
    # A point of the polytope: values fall along the ordering.
    steps = data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    value = [1 - Fraction(fall, 100) for fall in itertools.accumulate(steps)]
    values = sweep.start(1)
    words = st.lists(
        st.integers(0, 2**117 - 1) | st.sampled_from([0, 2**117 - 1, 2**64]),
        min_size=size,
        max_size=size,
    )
    for row in data.draw(st.lists(words, min_size=1, max_size=6)):
        for item, word in zip(sweep.items.tolist(), row, strict=True):
            low = max((value[b] for a, b in pairs if a == item), default=Fraction(0))
            high = min((value[a] for a, b in pairs if b == item), default=Fraction(1))
            value[item] = low + (high - low) * Fraction(word, 2**117)
        uniforms = np.array([(word >> 64) * 2.0**-53 for word in row])
        sweep.run(values, uniforms[None, :, None])
        for at, item in enumerate(sweep.items.tolist()):
            bottom, top = values[at, :, 0].tolist()
            assert Fraction(bottom) <= value[item] <= Fraction(top)


def spread_evenly(codes: list[int], kinds: int) -> bool:
    counts, mean = Counter(codes), len(codes) / kinds
    statistic = sum((counts[code] - mean) ** 2 / mean for code in range(kinds))
    return bool(statistic < 2 * gammainccinv((kinds - 1) / 2, FALSE_ALARM))


@pytest.mark.parametrize(
    "c", [LETTER_N, FENCE, TIED, PAIR], ids=["letter N", "fence", "tied", "pair"]
)
@pytest.mark.parametrize("rows", [1, 32])
def test_samples_are_drawn_uniformly_and_independently(
    c: Comparisons, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chi-square tests; each one raises a false alarm for one seed in a million.

    Counted are all orderings, and pairs of orderings of neighbouring samples. Few are
    settled by the first attempt if it has one sweep, most if it has 32.
    """
    monkeypatch.setattr(sampling, "ROWS", rows)
    known = list(all_orderings(c))
    number = {order: code for code, order in enumerate(known)}
    sweep, order = whole_sweep(c), topological_order(c)
    samples = max(200 * len(known), 10 * len(known) ** 2)
    drawn = order[sweep.draw(stream(2019, "orders"), samples)]
    codes = [number[tuple(sample)] for sample in drawn.tolist()]
    assert spread_evenly(codes, len(known))
    pairs = [
        first * len(known) + second
        for first, second in zip(codes[::2], codes[1::2], strict=True)
    ]
    assert spread_evenly(pairs, len(known) ** 2)


def test_words_that_are_not_kept_between_attempts_fail_the_same_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = itertools.count()
    monkeypatch.setattr(sampling, "ROWS", 1)
    monkeypatch.setattr(
        sampling, "stream", lambda seed, name: stream(seed, f"{name} {next(fresh)}")
    )
    known = list(all_orderings(PAIR))
    sweep = whole_sweep(PAIR)
    drawn = topological_order(PAIR)[sweep.draw(stream(2019, "orders"), 5000)]
    codes = [known.index(tuple(sample)) for sample in drawn.tolist()]
    assert not spread_evenly(codes, len(known))


def test_starting_earlier_does_not_change_the_ordering(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sweep, apart = whole_sweep(crown(9)), sampling._apart  # noqa: SLF001 - to refuse
    expected = [sweep.draw(stream(seed, "order")).tolist() for seed in range(20)]
    attempts = itertools.count()
    # The first two attempts do not count.
    monkeypatch.setattr(
        sampling, "_apart", lambda values: apart(values) & (next(attempts) > 1)
    )
    for seed in range(20):
        assert sweep.draw(stream(seed, "order")).tolist() == expected[seed]
        attempts = itertools.count()


def test_the_next_draw_does_not_depend_on_how_many_are_asked_for() -> None:
    left = []
    for samples in (1, 300):
        source = stream(7, "orders")
        whole_sweep(FENCE).draw(source, samples)
        left.append(source.random_raw(3).tolist())
    assert left[0] == left[1]


def test_single_orderings_of_a_seed_stay_what_they_were() -> None:
    # A record of a ranking is repeated by its seed.
    sweep = whole_sweep(crown(6))
    orders = [sweep.draw(stream(seed, "order"))[0].tolist() for seed in range(3)]
    assert orders == [
        [1, 0, 2, 7, 5, 4, 3, 9, 6, 11, 8, 10],
        [1, 0, 4, 2, 5, 7, 8, 11, 6, 3, 10, 9],
        [2, 4, 1, 5, 0, 3, 10, 8, 6, 9, 7, 11],
    ]


def test_sweeping_without_end_is_refused_in_words() -> None:
    sweep = Sweep(Piece(np.arange(40), [[item + 1] for item in range(39)] + [[]]))
    sweep.sweeps = 0
    with pytest.raises(ConvergenceError, match="of 40 items that cannot be taken"):
        sweep.draw(stream(1, "order"))
    with pytest.raises(ConvergenceError, match="too long to draw"):
        sweep.draw(stream(1, "order"), 3)

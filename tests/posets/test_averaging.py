from __future__ import annotations

import importlib
import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import ConvergenceError
from evenhand.posets import sampling
from evenhand.posets.averaging import _between, averages, mean_rank_order
from evenhand.posets.graph import Comparisons, comparisons, from_edges
from evenhand.posets.orderings import all_orderings, closure
from tests.strategies import Poset, consistent_ratings, posets

if TYPE_CHECKING:
    from evenhand.ratings import Ratings

# The package has a function of this name.
MODULE = importlib.import_module("evenhand.posets.averaging")
CLOSE = 1e-13
SAMPLES = 2000
N_SHAPE = ([0, 0, 1], [2, 3, 3])
FENCE = ([0, 2, 2, 4, 4, 6, 6], [1, 1, 3, 3, 5, 5, 7])


def series_parallel(depth: int) -> st.SearchStrategy[Poset]:
    """Posets that are put together from single items, side by side or stacked."""

    def joined(pair: tuple[Poset, Poset], *, stacked: bool) -> Poset:
        one, other = pair
        size = one.n_items
        above = one.above + [size + item for item in other.above]
        below = one.below + [size + item for item in other.below]
        if stacked:
            for upper, lower in itertools.product(range(size), range(other.n_items)):
                above.append(upper)
                below.append(size + lower)
        return Poset(size + other.n_items, above, below)

    single = st.just(Poset(1, [], []))
    if depth == 0:
        return single
    pairs = st.tuples(series_parallel(depth - 1), series_parallel(depth - 1))
    return st.one_of(
        st.just(Poset(4, *N_SHAPE)) if depth == 1 else single,
        pairs.map(lambda pair: joined(pair, stacked=True)),
        pairs.map(lambda pair: joined(pair, stacked=False)),
    )


def all_ranks(c: Comparisons) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Places of the items, from 0, in every ordering."""
    return np.argsort(np.array(list(all_orderings(c))), axis=1)


def assert_averages_are_brute_force(c: Comparisons) -> None:
    found = averages(c)
    ranks = all_ranks(c)
    total = len(ranks)
    mean = [Fraction(int(number) + total, total) for number in ranks.sum(axis=0)]
    assert list(found.fractions) == mean
    assert found.mean_rank.tolist() == [float(rank) for rank in mean]
    assert found.exact
    assert found.mean_rank_se.tolist() == [0] * c.n_items
    place = np.arange(c.n_items)
    places = (ranks[:, :, None] == place).mean(axis=0)
    above = (ranks[:, :, None] < ranks[:, None, :]).mean(axis=0)
    assert found.places is not None
    assert found.above is not None
    assert np.abs(found.places - places).max() < CLOSE
    assert np.abs(found.above - above).max() < CLOSE


@settings(max_examples=60)
@given(posets(max_items=7))
def test_averages_of_posets_are_those_over_all_orderings(poset: Poset) -> None:
    assert_averages_are_brute_force(poset.comparisons())


@settings(max_examples=40)
@given(consistent_ratings(max_items=7, max_reviewers=3))
def test_averages_of_ratings_with_ties_are_those_over_all_orderings(
    ratings: Ratings,
) -> None:
    assert_averages_are_brute_force(comparisons(ratings))


@settings(max_examples=60)
@given(series_parallel(3).filter(lambda poset: poset.n_items <= 7))
def test_averages_of_nested_splits_are_those_over_all_orderings(poset: Poset) -> None:
    assert_averages_are_brute_force(poset.comparisons())


@pytest.mark.parametrize(
    "c",
    [
        from_edges(8, *FENCE),
        # Two letters N, one above the other, beside a chain of two and a free item.
        from_edges(7, [0, 0, 1, 4], [2, 3, 3, 5]),
        from_edges(8, [0, 0, 1, 2, 3, 4, 4, 5], [2, 3, 3, 4, 5, 6, 7, 7]),
        from_edges(6, [0, 0, 1, 1, 2, 2], [4, 5, 3, 5, 3, 4]),
        from_edges(0, [], []),
    ],
)
def test_averages_of_known_shapes_are_those_over_all_orderings(c: Comparisons) -> None:
    if c.n_items:
        assert_averages_are_brute_force(c)
    else:
        assert averages(c).fractions == ()


def test_mean_ranks_of_the_letter_n_are_these() -> None:
    # Of its five orderings 0123, 0132, 0213, 1023, 1032, counted by hand.
    expected = [Fraction(7, 5), Fraction(9, 5), Fraction(16, 5), Fraction(18, 5)]
    assert list(averages(from_edges(4, *N_SHAPE)).fractions) == expected


@settings(max_examples=50)
@given(posets(max_items=6))
def test_mean_ranks_respect_the_order_strictly(poset: Poset) -> None:
    c = poset.comparisons()
    ranks = averages(c).fractions
    for upper, lower in np.argwhere(closure(c)).tolist():
        assert ranks[lower] - ranks[upper] >= 1


@settings(max_examples=30)
@given(posets(max_items=5))
def test_sorting_by_mean_rank_has_the_least_squared_distance(poset: Poset) -> None:
    c = poset.comparisons()
    truths = all_ranks(c)
    rank = np.argsort(np.argsort(averages(c).mean_rank))
    risks = [
        int(((np.array(guess) - truths) ** 2).sum())
        for guess in itertools.permutations(range(c.n_items))
    ]
    assert int(((rank - truths) ** 2).sum()) == min(risks)


def expected_kendall(n_items: int, m: int) -> Fraction:
    """Expected Kendall tau of sorting by mean rank, ties by lot.

    The rule treats items alike, so the true ranking may as well be 0, 1, 2, ...; a tie
    in mean rank is wrong half of the time.
    """
    pairs = list(itertools.combinations(range(n_items), 2))
    total, count = Fraction(0), 0
    for observed in itertools.combinations(pairs, m):
        above, below = zip(*observed, strict=True)
        ranks = averages(from_edges(n_items, above, below)).fractions
        total += sum(ranks[i] > ranks[j] for i, j in pairs)
        total += Fraction(sum(ranks[i] == ranks[j] for i, j in pairs), 2)
        count += 1
    return total / count


def test_five_items_and_five_comparisons_gain_a_quarter_over_the_index_order() -> None:
    """Exactly 25.39% in expected Kendall tau.

    The expected Kendall tau of the index order, 50263/30240, is computed in
    test_orderings.
    """
    found = expected_kendall(5, 5)
    assert found == Fraction(625, 504)
    gain = 1 - found / Fraction(50263, 30240)
    assert gain == Fraction(12763, 50263)


@pytest.mark.parametrize(("size", "others"), [(1, 0), (1, 1), (3, 4), (6, 2)])
def test_items_from_elsewhere_fall_in_by_the_negative_hypergeometric_law(
    size: int, others: int
) -> None:
    counts = np.zeros((size, others + 1))
    for own in itertools.combinations(range(size + others), size):
        for number, place in enumerate(own):
            counts[number, place - number] += 1
    expected = counts / math.comb(size + others, others)
    assert np.abs(_between(size, others) - expected).max() < CLOSE


def test_the_law_keeps_its_precision_for_large_groups() -> None:
    size, others = 1500, 1400
    law = _between(size, others)
    for r, j in [(1, 0), (1, 40), (700, 650), (750, 900), (1500, 1400)]:
        ways = math.comb(r - 1 + j, j) * math.comb(size - r + others - j, others - j)
        exact = ways / math.comb(size + others, others)
        assert law[r - 1, j] == pytest.approx(exact, rel=1e-9)


def test_two_chains_beside_each_other_spread_evenly() -> None:
    above = [*range(299), *range(300, 399)]
    found = averages(from_edges(400, above, [item + 1 for item in above]))
    expected = [Fraction(401 * k, 301) for k in range(1, 301)]
    expected += [Fraction(401 * k, 101) for k in range(1, 101)]
    assert list(found.fractions) == expected
    assert found.places is not None
    by_places = found.places @ np.arange(1, 401)
    assert np.abs(by_places - found.mean_rank).max() < 1e-9


def test_tables_are_left_out_for_many_items() -> None:
    found = averages(from_edges(3001, [0], [1]))
    assert found.places is None
    assert found.above is None
    assert found.fractions[:3] == (Fraction(3002, 3), Fraction(6004, 3), Fraction(1501))


def test_pairs_are_left_out_on_request() -> None:
    found = averages(from_edges(4, *N_SHAPE), pairs=False)
    assert found.above is None
    assert found.places is not None


@pytest.mark.parametrize(
    "c",
    [
        from_edges(8, *FENCE),
        # The letter N above a free item, both beside a chain of two and an N.
        from_edges(11, [0, 0, 1, 2, 3, 5, 7, 7, 8], [2, 3, 3, 4, 4, 6, 9, 10, 10]),
    ],
)
@pytest.mark.parametrize("ideals", [0, 7])
def test_sampled_averages_are_near_the_exact_ones(c: Comparisons, ideals: int) -> None:
    exact = averages(c)
    found = averages(c, ideals=ideals, samples=SAMPLES, rng=2019)
    assert found.samples == SAMPLES
    assert not found.exact
    # Seven standard errors, fewer than 1,000 numbers in all cases: by the normal tail a
    # correct build fails for one seed in 300 million.
    gap = np.abs(found.mean_rank - exact.mean_rank)
    assert (gap <= 7 * found.mean_rank_se).all()
    assert found.mean_rank_se.max() > 0
    assert found.places is not None
    assert exact.places is not None
    # Means of shares in [0, 1] from at most two independent samples.
    gap = np.abs(found.places - exact.places)
    assert gap.max() < 7 * math.sqrt(1 / (2 * SAMPLES))
    assert found.above is None
    by_places = found.places @ np.arange(1, c.n_items + 1)
    assert np.abs(by_places - found.mean_rank).max() < 1e-9


def test_standard_errors_are_those_of_the_sampled_piece_spread_out() -> None:
    alone = averages(from_edges(4, *N_SHAPE)).places
    assert alone is not None
    rank = np.arange(1, 5)
    deviation = np.sqrt(alone @ rank**2 - (alone @ rank) ** 2)
    found = averages(from_edges(7, *N_SHAPE), ideals=7, samples=SAMPLES, rng=2019)
    expected = deviation * (8 / 5) / math.sqrt(SAMPLES)
    # A deviation of 2,000 is known within 2% or so; 10% is five of that.
    assert np.abs(found.mean_rank_se[:4] / expected - 1).max() < 0.1
    assert found.mean_rank_se[4:].tolist() == [0, 0, 0]
    assert found.fractions[4:] == (Fraction(4),) * 3


def test_many_items_are_sampled_without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    c = from_edges(8, *FENCE)
    whole = averages(c, ideals=0, samples=50, rng=7)
    monkeypatch.setattr(MODULE, "TABLE_ITEMS", 7)
    found = averages(c, ideals=0, samples=50, rng=7)
    assert found.places is None
    assert found.above is None
    assert found.fractions == whole.fractions
    assert found.mean_rank_se.tolist() == whole.mean_rank_se.tolist()


def test_a_seed_repeats_the_sample() -> None:
    c = from_edges(8, *FENCE)
    one, other, third = (
        averages(c, ideals=0, samples=100, rng=seed) for seed in (7, 7, 8)
    )
    assert one.fractions == other.fractions != third.fractions


def test_arrays_are_read_only() -> None:
    found = averages(from_edges(4, *N_SHAPE))
    for table in (found.mean_rank, found.mean_rank_se, found.places, found.above):
        assert table is not None
        assert not table.flags.writeable


def test_exact_mean_ranks_stop_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    c = from_edges(4, *N_SHAPE)
    monkeypatch.setattr(sampling, "COUNTED_IDEALS", 7)
    with pytest.raises(ConvergenceError, match=r"4 items .* within 7 order ideals"):
        mean_rank_order(c, 7, "exact")
    monkeypatch.setattr(sampling, "COUNTED_IDEALS", 8)
    assert sum(mean_rank_order(c, 7, "exact").averages.fractions) == 10

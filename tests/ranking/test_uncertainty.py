import itertools
import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import evenhand as eh
from evenhand.arrays import Codes
from evenhand.errors import OptionError
from evenhand.method import as_method
from evenhand.models.adaptive import adaptive
from evenhand.models.additive import additive
from evenhand.models.bradley_terry import borda, bradley_terry
from evenhand.models.design import Fit
from evenhand.models.posterior import adaptive_errors
from evenhand.posets import averages, from_edges
from evenhand.ranking import uncertainty
from evenhand.ranking.methods import RankMethod, Task
from evenhand.ranking.uncertainty import (
    RankUncertainty,
    from_fit,
    from_places,
)
from evenhand.ratings import Ratings

Floats = NDArray[np.float64]


def draw(
    seed: int,
    n: int = 20,
    m: int = 20,
    load: int = 4,
    noise: float = 0.7,
    offset: float = 0.5,
) -> tuple[Floats, Ratings]:
    """Draw additive ratings: values, reviewers' offsets and noise, all normal."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    rounds = -(-m * load // n)
    slots = np.concatenate([rng.permutation(n) for _ in range(rounds)])[: m * load]
    reviewers, items = np.repeat(np.arange(m), load), slots
    _, keep = np.unique(reviewers * n + items, return_index=True)
    reviewers, items = reviewers[keep], items[keep]
    scores = values[items] + offset * rng.normal(size=m)[reviewers]
    scores = scores + noise * rng.normal(size=len(scores))
    return values, Ratings(reviewers, items, scores, all_items=range(n))


def covered(values: Floats, found: RankUncertainty) -> float:
    true = np.empty(len(values), dtype=np.int64)
    true[np.argsort(-values)] = np.arange(1, len(values) + 1)
    return float(np.mean((found.rank_low <= true) & (true <= found.rank_high)))


def plain_means(ratings: Ratings) -> Floats:
    counts = np.bincount(ratings.item_codes, minlength=ratings.n_items)
    sums = np.bincount(ratings.item_codes, ratings.scores, ratings.n_items)
    return np.asarray(sums / np.maximum(counts, 1))


def order_of(values: Floats) -> NDArray[np.int64]:
    return np.argsort(-values, kind="stable").astype(np.int64)


# Orderings.


def brute_interval(law: Floats, level: float) -> tuple[int, int]:
    tail = (1 - level) / 2
    low, high = 1, len(law)
    while math.fsum(law[:low]) <= tail + 1e-9:
        low += 1
    while math.fsum(law[high - 1 :]) <= tail + 1e-9:
        high -= 1
    return low, high


edge = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda e: e[0] < e[1])


def groups_of(found: RankUncertainty) -> list[list[int]]:
    cuts = np.flatnonzero(np.diff(found.buckets)) + 1
    return [part.tolist() for part in np.split(found.order, cuts)]


@settings(max_examples=50)
@given(st.lists(edge, max_size=8))
def test_intervals_of_orderings_leave_out_a_tail_at_either_end(
    pairs: list[tuple[int, int]],
) -> None:
    known = averages(from_edges(6, [a for a, _ in pairs], [b for _, b in pairs]))
    assert known.places is not None
    order = np.argsort(known.mean_rank, kind="stable")
    found = from_places(order, known.places, above=known.above)
    for place, item in enumerate(order.tolist(), start=1):
        low, high = brute_interval(known.places[item], 0.9)
        assert found.rank_low[item] == min(low, place)
        assert found.rank_high[item] == max(high, place)
        inside = known.places[item, found.rank_low[item] - 1 : found.rank_high[item]]
        assert inside.sum() >= 0.9 - 1e-9
    for k in range(1, 7):
        top, shares = known.places[:, :k].sum(axis=1), found.p_top(k)
        assert shares == pytest.approx(top)
        # Certain answers are exactly so.
        assert ((shares == 1) == (known.places[:, k:].sum(axis=1) == 0)).all()


@settings(max_examples=50)
@given(st.lists(edge, max_size=8))
def test_no_item_of_a_bucket_is_told_apart_from_a_later_one(
    pairs: list[tuple[int, int]],
) -> None:
    known = averages(from_edges(6, [a for a, _ in pairs], [b for _, b in pairs]))
    assert known.places is not None
    assert known.above is not None
    order = np.argsort(known.mean_rank, kind="stable")
    found = from_places(order, known.places, above=known.above)
    groups = groups_of(found)
    assert list(itertools.chain(*groups)) == order.tolist()
    for group in groups:
        for one, other in itertools.combinations(group, 2):
            assert known.above[one, other] < 0.95
    for group, after in itertools.pairwise(groups):
        assert max(known.above[one, after[0]] for one in group) >= 0.95 - 1e-9


def test_twins_share_a_bucket_and_a_chain_has_none() -> None:
    chain = averages(from_edges(3, [0, 1], [1, 2]))
    free = averages(from_edges(3, [], []))
    for known, buckets in ((chain, (1, 2, 3)), (free, (1, 1, 1))):
        assert known.places is not None
        for above in (known.above, None):
            found = from_places([0, 1, 2], known.places, above=above)
            assert found.buckets == buckets
    assert found.source == "posterior over orderings"
    assert found.rank_low.tolist() == [1, 1, 1]
    assert found.rank_high.tolist() == [3, 3, 3]


def test_orderings_give_pairs_places_or_nothing() -> None:
    ratings = Ratings([0, 0, 0, 1, 1], [0, 1, 2, 3, 1], [5, 4, 3, 2, 1])
    known = averages(Task(ratings, 7).graph)
    assert known.places is not None
    ranking = eh.rank(ratings, method="mean-rank", rng=7)
    assert ranking.uncertainty is not None
    paired = from_places(ranking.uncertainty.order, known.places, above=known.above)
    assert ranking.uncertainty.buckets == paired.buckets
    proxy = eh.rank(ratings, method="mean-rank(mean_ranks=proxy)", rng=7)
    assert proxy.uncertainty is None


# Models.


def given_fit(values: list[float], errors: list[float]) -> Fit:
    groups = np.zeros(len(values), dtype=np.int64)
    return Fit("bradley-terry", np.array(values), groups, np.array(errors))


def test_model_draws_have_the_probabilities_of_normal_errors() -> None:
    found = from_fit(given_fit([1.0, 0.0], [0.6, 0.8]), 7, order=[0, 1])
    p = statistics.NormalDist().cdf(1.0)
    # Five standard errors: false alarm 6e-7.
    bound = 5 * math.sqrt(p * (1 - p) / 2000)
    assert abs(found.p_top(1)[0] - p) < bound
    assert found.p_top(1).sum() == 1.0
    assert found.p_top(2).tolist() == [1.0, 1.0]
    assert (found.source, found.draws) == ("model", 2000)


def test_two_items_are_told_apart_exactly_if_their_intervals_do_not_meet() -> None:
    for gap in (0.5, 1.5, 2.0, 3.0, 4.0):
        found = from_fit(given_fit([gap, 0.0], [1.0, 1.0]), 7, order=[0, 1])
        meet = found.rank_high[0] >= found.rank_low[1]
        assert (found.buckets == (1, 1)) == meet


def test_equal_values_without_errors_go_by_lot_in_every_draw() -> None:
    found = from_fit(given_fit([2.0, 1.0, 1.0], [0.0, 0.0, 0.0]), 7, order=[0, 1, 2])
    assert found.buckets == (1, 2, 2)
    assert found.rank_low.tolist() == [1, 2, 2]
    assert found.rank_high.tolist() == [1, 3, 3]
    # Five standard errors: false alarm 6e-7.
    assert abs(found.p_top(2)[1] - 0.5) < 5 * math.sqrt(0.25 / 2000)


def test_an_interval_is_not_stretched_to_the_place_that_the_order_gave() -> None:
    fit = given_fit([9.0, 5.0, 1.0], [0.1, 0.1, 0.1])
    found = from_fit(fit, 7, order=[2, 1, 0])
    assert found.rank_low.tolist() == [1, 2, 3]
    assert found.rank_high.tolist() == [1, 2, 3]
    places = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
    assert from_places([2, 0, 1], places).rank_low.tolist() == [1, 1, 3]


def test_choosing_by_share_puts_the_likeliest_first_and_keeps_the_others() -> None:
    # Item 0 is surely 0.5; three others may be anything about 0.
    fit = given_fit([0.5, 0.3, 0.2, 0.1, 0.0], [0.01, 3.0, 3.0, 3.0, 0.01])
    found = from_fit(fit, 7, order=[0, 1, 2, 3, 4])
    chosen = found.choose_by_share(1)
    shares = found.p_top(1)
    assert chosen.order[0] == shares.argmax()
    assert chosen.order[0] != 0
    assert chosen.order[1] == 0
    assert sorted(chosen.order.tolist()) == [0, 1, 2, 3, 4]
    assert chosen.p_top(1).tolist() == shares.tolist()
    assert (chosen.source, chosen.draws) == (found.source, found.draws)
    assert chosen.rank_low.tolist() == found.rank_low.tolist()


def test_expected_places_of_the_likeliest_are_counted_on_other_draws() -> None:
    """Equal items: chosen and counted on the same draws, chance would favour some."""
    fit = given_fit([0.0] * 200, [1.0] * 200)
    by_rank, best = from_fit(fit, 7, order=range(200)).expected_places(5)
    # 5 of 200 by lot: .125 on average. Five standard errors of 2,000 draws, .04.
    assert abs(by_rank - 0.125) < 0.04
    assert abs(best - 0.125) < 0.04


# Coverage of 90% intervals on additive data, 60 sets of 20 items: 1,200 true ranks.
# Ranks of one set depend on each other; taking a set for 4 independent ones, 0.9 has a
# standard error of 0.02, and 0.8 is five of them below: false alarm below 1e-6.
LEAST = 0.8


def mean_fit(ratings: Ratings) -> Fit:
    values = plain_means(ratings)
    return Fit("mean", values, np.zeros(len(values), dtype=np.int64))


def from_model(
    ratings: Ratings, fit: Fit, seed: int, *, order: Sequence[int] | Codes
) -> RankUncertainty | None:
    method = as_method(fit.method, RankMethod)
    return uncertainty.from_model(method, ratings, fit, seed, order=order)


MODELS: dict[str, Callable[[Ratings], Fit]] = {
    "additive": additive,
    "adaptive": adaptive,
    "bradley": bradley_terry,
    "mean": mean_fit,
}


# The draws of every model: tests/models/test_posterior.py.
@pytest.fixture(scope="module")
def drawn() -> list[tuple[Floats, RankUncertainty]]:
    """Values and what the additive model says of the ranks, of 60 sets."""
    found = []
    for seed in range(60):
        values, ratings = draw(seed)
        fit = additive(ratings)
        sure = from_model(ratings, fit, seed, order=order_of(fit.estimates))
        assert sure is not None
        found.append((values, sure))
    return found


def test_intervals_of_models_cover_the_true_rank_about_as_stated(
    drawn: list[tuple[Floats, RankUncertainty]],
) -> None:
    shares = [covered(values, found) for values, found in drawn]
    widths = [np.mean(found.rank_high - found.rank_low + 1) for _, found in drawn]
    assert np.mean(shares) > LEAST
    # Intervals of all ranks would cover everything, and say nothing.
    assert np.mean(widths) < 14


def test_probabilities_of_the_top_are_right_on_average(
    drawn: list[tuple[Floats, RankUncertainty]],
) -> None:
    told, came = [], []
    for values, found in drawn:
        p = found.p_top(5)
        best = np.argsort(-values)[:5]
        sure = p > 0.7
        told.append(p[sure].sum())
        came.append(np.isin(np.flatnonzero(sure), best).sum())
        assert p.sum() == pytest.approx(5)
    # About 200 calls with a mean chance near 0.85: a standard error of 0.026 each way.
    assert sum(came) / sum(told) == pytest.approx(1, abs=0.15)


def test_errors_of_adaptive_follow_the_scales() -> None:
    _, tame = draw(1, offset=0.1)
    wild = Ratings(
        tame.reviewer_codes,
        tame.item_codes,
        tame.scores + 1000.0 * tame.reviewer_codes,
    )
    for ratings in (tame, wild):
        fit = adaptive(ratings)
        errors = adaptive_errors(ratings, fit)
        assert np.isfinite(errors).all()
        assert (errors > 0).all()
    ordinal = bradley_terry(wild)
    assert ordinal.errors is not None
    expected = ordinal.errors / np.std(ordinal.estimates)
    assert expected.shape == errors.shape
    assert errors == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("model", MODELS)
def test_intervals_shrink_with_data_and_chances_of_small_panels_stay_open(
    model: str,
) -> None:
    # 20 items: 5 ratings each, and 500. Independent errors with the common level left
    # 5 ranks and more to REML, and 7 to Bradley-Terry, however many ratings there were.
    widths = []
    for reviewers in (20, 2000):
        _, ratings = draw(3, m=reviewers, load=5, noise=1.0)
        fit = MODELS[model](ratings)
        order = order_of(fit.estimates)
        found = from_model(ratings, fit, 7, order=order)
        assert found is not None
        widths.append(float(np.mean(found.rank_high - found.rank_low + 1)))
    assert widths[0] > 6
    assert widths[1] < 3
    for seed in range(10):
        _, ratings = draw(seed, n=4, m=3, load=4, noise=1.0)
        fit = MODELS[model](ratings)
        order = order_of(fit.estimates)
        found = from_model(ratings, fit, 7, order=order)
        assert found is not None
        assert found.p_top(1).max() < 0.999


def test_buckets_are_cut_by_the_drawn_rankings() -> None:
    _, ratings = draw(4, m=100)
    fit = adaptive(ratings)
    order = order_of(fit.estimates)
    found = from_model(ratings, fit, 7, order=order)
    assert found is not None
    ranks = found._ranks  # noqa: SLF001 - the draws themselves
    assert ranks is not None
    groups = groups_of(found)
    assert 1 < len(groups) < 20
    for group, after in itertools.pairwise(groups):
        above = [(ranks[:, one] < ranks[:, after[0]]).mean() for one in group]
        assert max(above) >= 0.95
    for group in groups:
        for one, other in itertools.combinations(group, 2):
            assert (ranks[:, one] < ranks[:, other]).mean() < 0.95


# Which of them.


def test_models_have_intervals_if_they_say_how_sure_they_are() -> None:
    _, ratings = draw(1)
    for fit in (adaptive(ratings), additive(ratings), bradley_terry(ratings)):
        order = order_of(fit.estimates)
        found = from_model(ratings, fit, 7, order=order)
        assert found is not None
        assert found.source == "model"
        assert np.array_equal(found.order, order)
    fit = borda(ratings)
    assert from_model(ratings, fit, 7, order=order_of(fit.estimates)) is None


def test_the_same_seed_gives_the_same_answer_whatever_the_row_order() -> None:
    _, ratings = draw(2)
    shuffle = np.random.default_rng(1).permutation(ratings.n_ratings)
    again = Ratings(
        ratings.reviewer_codes[shuffle],
        ratings.item_codes[shuffle],
        ratings.scores[shuffle],
    )
    order = order_of(plain_means(ratings))
    one, other = (
        from_model(part, mean_fit(part), 7, order=order) for part in (ratings, again)
    )
    assert one is not None
    assert other is not None
    assert np.array_equal(one.p_top(3), other.p_top(3))
    assert one.buckets == other.buckets
    third = from_model(ratings, mean_fit(ratings), 8, order=order)
    assert third is not None
    assert not np.array_equal(one.p_top(3), third.p_top(3))


@pytest.mark.parametrize(
    ("reviewers", "items", "scores"),
    [
        ([0], [0], [1.0]),
        ([0, 0, 0], [0, 1, 2], [1.0, 3.0, 2.0]),
        ([0, 1, 2, 3], [0, 1, 2, 0], [5.0] * 4),
        ([0, 0, 1, 1], [0, 1, 1, 0], [1e300, -1e300, 1e300, 0.0]),
        ([0, 0, 1, 1], [0, 1, 2, 3], [1, 2, 3, 4]),
        (range(30), [*range(3)] * 10, range(30)),
    ],
)
def test_odd_data_get_intervals_all_the_same(
    reviewers: list[int], items: list[int], scores: list[float]
) -> None:
    ratings = Ratings(list(reviewers), items, list(scores))
    n = ratings.n_items
    for fit in (
        adaptive(ratings),
        additive(ratings),
        bradley_terry(ratings),
    ):
        order = order_of(fit.estimates)
        found = from_model(ratings, fit, 7, order=order)
        assert found is not None
        assert (found.rank_low >= 1).all()
        assert (found.rank_low <= found.rank_high).all()
        assert (found.rank_high <= n).all()
        assert np.isfinite(found.p_top(1)).all()
        assert len(found.buckets) == n


def test_items_that_nothing_tells_apart_are_one_bucket() -> None:
    ratings = Ratings([0, 1, 2, 3], [0, 1, 2, 3], [5.0] * 4)
    fit = adaptive(ratings)
    found = from_model(ratings, fit, 7, order=range(4))
    assert found is not None
    assert found.buckets == (1, 1, 1, 1)
    assert found.rank_low.tolist() == [1] * 4
    assert found.rank_high.tolist() == [4] * 4


def test_arrays_are_read_only() -> None:
    found = from_fit(given_fit([1.0, 0.0], [1.0, 1.0]), 7, order=[0, 1])
    for table in (found.order, found.rank_low, found.rank_high):
        assert not table.flags.writeable


def test_options_out_of_range_are_refused() -> None:
    fit = given_fit([1.0, 0.0], [1.0, 1.0])
    with pytest.raises(OptionError, match="k must be a whole number from 1 to 2"):
        from_fit(fit, 7, order=[0, 1]).p_top(3)

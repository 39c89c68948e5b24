import functools
import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtr

from evenhand.errors import OptionError
from evenhand.lab.scenario import Scenario, draw_trials
from evenhand.posets.averaging import MeanRankOrder, averages, mean_rank_order
from evenhand.posets.graph import comparisons, from_edges
from evenhand.posets.orderings import twins
from evenhand.randomness import below, stream
from evenhand.ranking import ties
from evenhand.ranking.methods import Safe, Ties
from evenhand.ranking.ties import (
    NOISE,
    before,
    break_ties,
    choose_layers,
    equal_mean_ranks,
    mean_values,
    read_sheets,
    twin_buckets,
)
from evenhand.ratings import Ratings

Floats = NDArray[np.float64]


def single(*scores: float) -> Ratings:
    """Score each item once, each by a reviewer of its own."""
    return Ratings(range(len(scores)), range(len(scores)), scores)


def test_a_bucket_keeps_its_places_and_all_others_stay() -> None:
    ratings = single(1, 2, 3, 4, 5, 6)
    order = [5, 0, 4, 1, 3, 2]
    found = break_ties(ratings, order, [(4, 2, 1)], stream(7, "ties"), noise=0)
    assert found.order.tolist() == [5, 0, 4, 2, 3, 1]
    assert order == [5, 0, 4, 1, 3, 2]


def test_draws_are_the_neighbours_of_each_bucket_as_they_came_out() -> None:
    ratings = single(3, 1, 2, 7, 9)
    found = break_ties(
        ratings, np.arange(5), [(0, 1, 2), (3, 4)], stream(7, "ties"), noise=1e-3
    )
    assert found.order.tolist() == [0, 2, 1, 4, 3]
    assert [draw.items for draw in found.draws] == [(0, 2), (1, 2), (3, 4)]
    assert [draw.kept for draw in found.draws] == [True, False, False]
    assert [draw.gap for draw in found.draws] == [1, -1, -2]
    assert [draw.reviewers for draw in found.draws] == [(0, 2), (1, 2), (3, 4)]
    assert [draw.anchors for draw in found.draws] == [(), (), ()]
    assert (found.settled, found.noise) == (2, 1e-3)


def test_anchored_draws_name_the_anchors_of_each_layer() -> None:
    ratings = Ratings(
        [0, 0, 1, 1, 2, 2, 3, 3],
        [0, 2, 1, 2, 0, 3, 1, 3],
        [5, 4, 9, 7, 1, 0, 2, 0],
    )
    found = break_ties(ratings, range(4), [(0, 1)], stream(7, "ties"))
    (draw,) = found.draws
    assert draw.gap == (1 + 1) / 2 - (2 + 2) / 2
    crews = draw.reviewers[::2], draw.reviewers[1::2]
    assert sorted(zip(*crews, draw.anchors, strict=True)) == [
        (0, 1, (2,)),
        (2, 3, (3,)),
    ]
    assert draw.p_first == pytest.approx(ndtr(-1 / (NOISE * math.sqrt(2))), rel=1e-12)
    plain = break_ties(ratings, range(4), [(0, 1)], stream(7, "ties"), anchored=False)
    assert plain.draws[0].gap == 3 - 5.5


@given(st.floats(-50, 50), st.floats(0.01, 50))
def test_the_probability_is_that_of_two_normal_errors(gap: float, noise: float) -> None:
    expected = float(ndtr(gap / (noise * math.sqrt(2))))
    assert before(Fraction(gap), noise) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    assert before(Fraction(gap), 0) == 0.5 + 0.5 * np.sign(gap)


def test_three_tied_items_come_out_as_normal_errors_say() -> None:
    ratings = single(0.0, 0.5, 1.5)
    draws = 1200
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(draws):
        source = stream(seed, "ties")
        found = break_ties(ratings, [0, 1, 2], [(0, 1, 2)], source, noise=1.0)
        counts.update(itertools.combinations(found.order.tolist(), 2))
        for draw in found.draws:
            expected = ndtr(draw.gap / math.sqrt(2))
            assert draw.p_first == pytest.approx(expected, rel=1e-12)
    for one, other in itertools.combinations(range(3), 2):
        p = ndtr((ratings.scores[one] - ratings.scores[other]) / math.sqrt(2))
        # Five and a half standard errors, for three pairs: false alarm below 2e-7.
        bound = 5.5 * math.sqrt(p * (1 - p) / draws)
        assert abs(counts[one, other] / draws - p) < bound


def test_equal_means_without_noise_are_ordered_by_lot() -> None:
    ratings = single(1, 1)
    draws = 800
    found = [
        break_ties(ratings, [0, 1], [(0, 1)], stream(seed, "ties"), noise=0)
        for seed in range(draws)
    ]
    first = sum(one.order[0] == 0 for one in found)
    # Five standard errors: false alarm 6e-7.
    assert abs(first / draws - 0.5) < 5 * math.sqrt(0.25 / draws)
    assert found[0].draws[0].p_first == 0.5


def test_items_without_a_score_take_places_by_lot() -> None:
    ratings = Ratings([0, 1], [0, 1], [9, 1], all_items=range(4))
    draws = 1200
    counts = Counter(
        tuple(
            break_ties(
                ratings, range(4), [(0, 1, 2, 3)], stream(seed, "ties"), noise=0
            ).order.tolist()
        )
        for seed in range(draws)
    )
    # Item 0 always goes before 1, and 2 and 3 are anywhere: 12 orders.
    assert len(counts) == 12
    assert all(order.index(0) < order.index(1) for order in counts)
    # Chi-square is below 63.9 with probability 1 - 1.7e-9 for 11 degrees of freedom.
    expected = draws / 12
    assert sum((k - expected) ** 2 / expected for k in counts.values()) < 63.9
    alone = Ratings([0], [0], [9], all_items=range(2))
    found = {
        tuple(break_ties(alone, [0, 1], [(0, 1)], stream(seed, "t")).order.tolist())
        for seed in range(40)
    }
    assert found == {(0, 1), (1, 0)}


@pytest.mark.parametrize(
    ("scores", "noise", "strict"),
    [
        ((1.0, 2.0), 0.1, True),
        ((1.0, 2.0), 0.0, False),
        ((0.0, 10.0), 1.0, True),
        ((0.0, 17.0), 1.0, False),
        ((17.0, 0.0), 1.0, False),
        ((-1.7e308, 1.7e308), 1e-300, False),
    ],
)
def test_differences_beyond_floats_are_told(
    scores: tuple[float, float], noise: float, *, strict: bool
) -> None:
    for order in ([0, 1], [1, 0]):
        found = break_ties(
            single(*scores), order, [(0, 1)], stream(7, "ties"), noise=noise
        )
        assert found.resolved == strict


def test_noise_is_not_lost_beside_large_scores() -> None:
    # 1e17 + 1 is 1e17 in floats, but equal scores still differ by their noise.
    ratings = single(1e17, 1e17, 1e17 + 16)
    firsts = {
        tuple(
            break_ties(
                ratings, range(3), [(0, 1, 2)], stream(seed, "ties"), noise=8.0
            ).order.tolist()
        )
        for seed in range(60)
    }
    assert len(firsts) > 3


def test_anchors_close_together_do_not_overflow() -> None:
    ratings = Ratings(
        [0, 0, 0, 1, 1, 1], [0, 2, 3, 1, 2, 3], [1e300, 1e-300, 0, -1e300, 1e-300, 0]
    )
    (draw,) = break_ties(ratings, range(4), [(0, 1)], stream(7, "ties")).draws
    assert draw.gap == 1.7976931348623157e308
    assert draw.p_first == 1.0


def test_nothing_to_break_makes_no_draw() -> None:
    found = break_ties(single(1, 2), [1, 0], [], stream(7, "ties"))
    assert found.order.tolist() == [1, 0]
    assert (found.draws, found.settled) == ((), 0)
    assert found.equal_loads


def test_unequal_loads_are_told() -> None:
    ratings = Ratings([0, 1, 1], [0, 1, 2], [1, 2, 3])
    assert not break_ties(ratings, range(3), [(0, 1)], stream(7, "t")).equal_loads
    assert break_ties(ratings, range(3), [(1, 2)], stream(7, "t")).equal_loads


@pytest.mark.parametrize("noise", [-1, math.nan, math.inf, "a lot", True])
@pytest.mark.parametrize("method", [Ties, Safe])
def test_bad_noise_is_refused_in_words(
    method: type[Ties | Safe], noise: object
) -> None:
    with pytest.raises(
        OptionError, match="noise must be a finite number of at least 0"
    ):
        method(noise=noise)  # type: ignore[arg-type]  # wrong on purpose


# Buckets.


def test_twins_are_listed_by_place_even_if_apart() -> None:
    c = from_edges(6, [0, 2, 5, 5], [1, 1, 3, 4])
    assert twin_buckets([5, 4, 0, 3, 2, 1], c) == ((4, 3), (0, 2))


edge_lists = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda e: e[0] < e[1]),
    max_size=9,
)


@settings(max_examples=50)
@given(edge_lists, st.integers(0, 2**32))
def test_twins_have_equal_mean_ranks(edges: list[tuple[int, int]], seed: int) -> None:
    c = from_edges(6, [a for a, _ in edges], [b for _, b in edges])
    found = mean_rank_order(c, seed)
    buckets = equal_mean_ranks(found, c)
    assert sorted(map(sorted, buckets)) == sorted(map(sorted, found.ties))
    for members in twins(c):
        assert any(set(members) <= set(bucket) for bucket in buckets)
    places = found.order.tolist()
    for bucket in buckets:
        first = places.index(bucket[0])
        assert places[first : first + len(bucket)] == list(bucket)


def test_sampled_mean_ranks_fall_back_on_twins() -> None:
    c = from_edges(5, [0, 0, 0, 4], [1, 2, 3, 3])
    sampled = averages(c, ideals=0, samples=50, rng=7)
    assert not sampled.exact
    assert sampled.fractions[1] != sampled.fractions[2]
    order = np.argsort(sampled.mean_rank, kind="stable").astype(np.int64)
    found = MeanRankOrder(order, (1, 2, 3, 4, 5), sampled)
    assert [sorted(tied) for tied in equal_mean_ranks(found, c)] == [[1, 2]]


# Simulation: every family of strict scales, against ties broken by lot.


def gains(scenario: Scenario, trials: int) -> Floats:
    """Return by how many pairs of tied items scores beat a lot, noise averaged out."""
    block = draw_trials(scenario, trials, np.random.default_rng(2019))
    truth = np.argsort(np.argsort(-block.values, axis=1), axis=1)
    reviewers = np.repeat(np.arange(scenario.reviewers), block.assigned.shape[-1])
    found = []
    for trial in range(trials):
        items = block.assigned[trial].ravel()
        ratings = Ratings(
            reviewers,
            items,
            block.scores[trial].ravel(),
            all_items=range(scenario.items),
        )
        c = comparisons(ratings)
        source = stream(trial, "layers")
        gain = 0.0
        for bucket in equal_mean_ranks(mean_rank_order(c, trial), c):
            scored = [item for item in bucket if item in items]
            sheets = read_sheets(ratings)
            if len(scored) < 2:
                continue
            layers = choose_layers(sheets, scored, functools.partial(below, source))
            values = mean_values(sheets, scored, layers)
            pairs = itertools.combinations(zip(scored, values, strict=True), 2)
            for (one, value), (other, less) in pairs:
                right = before(value - less, NOISE) - 0.5
                gain += right if truth[trial, one] < truth[trial, other] else -right
        found.append(gain)
    return np.array(found)


# On other scales: tests/lab/test_beyond_tables.py.
def test_scores_gain_in_the_papers_scenario() -> None:
    found = gains(Scenario(job="rank", items=5), 400)
    # The true gain is about 0.14 pairs, and its standard error here 0.02.
    assert found.mean() > 5 * found.std() / math.sqrt(len(found))


def test_one_error_in_a_great_many_may_beany_number() -> None:
    """Without it no gap beyond 16.6 times the noise would ever be overturned."""
    errors = [ties.any_number(stream(seed, "ties")) for seed in range(2000)]
    assert {error > 0 for error in errors} == {True, False}
    assert max(errors) > 20
    assert min(errors) < -20
    assert min(abs(error) for error in errors if error) < 0.01
    # Fewer than one in a million times none of 2,000 is beyond 20, or within 0.01.


def test_the_rare_error_is_drawn_where_the_uniform_is_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = [Fraction(10**6)]
    monkeypatch.setattr(ties, "uniforms", lambda *_: np.array([0.0, 0.5]))
    monkeypatch.setattr(ties, "any_number", lambda _: drawn[0])
    ratings = Ratings(["a", "b"], ["x", "y"], [0.0, 1000.0])
    found = break_ties(ratings, [0, 1], [(0, 1)], stream(7, "ties"))
    # The better score is 1,000 points ahead, and the noise 0.3.
    assert found.order.tolist() == [0, 1]
    assert not found.resolved

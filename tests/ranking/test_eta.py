import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import OptionError, RatingsError
from evenhand.posets.averaging import averages
from evenhand.posets.graph import comparisons, from_edges
from evenhand.randomness import Chance, outcomes, stream
from evenhand.ranking.anchors import Sheets, choose_layers, mean_values
from evenhand.ranking.eta import NearTies, near_ties
from evenhand.ranking.mean_rank import mean_rank_order
from evenhand.ranking.methods import Answer, Safe, Task
from evenhand.ranking.ties import break_ties, equal_mean_ranks
from evenhand.ratings import Ratings

Edges = tuple[tuple[int, int], ...]
Order = tuple[int, ...]
Buckets = tuple[tuple[int, ...], ...]
HALF = Fraction(1, 2)


@functools.cache
def orderings(n: int, edges: Edges) -> list[Order]:
    return [
        order
        for order in itertools.permutations(range(n))
        if all(order.index(a) < order.index(b) for a, b in edges)
    ]


def share_above(n: int, edges: Edges, a: int, b: int) -> Fraction:
    every = orderings(n, edges)
    return Fraction(sum(one.index(a) < one.index(b) for one in every), len(every))


def near_of(n: int, edges: Edges, eta: float) -> tuple[list[int], NearTies]:
    c = from_edges(n, [a for a, _ in edges], [b for _, b in edges])
    found = mean_rank_order(c, 7)
    above = averages(c, rng=7).above
    assert above is not None
    order = found.order.tolist()
    return order, near_ties(order, equal_mean_ranks(found, c), above, eta)


def kendall(one: Order, other: Order) -> int:
    return sum(
        (one.index(a) < one.index(b)) != (other.index(a) < other.index(b))
        for a, b in itertools.combinations(one, 2)
    )


def by_lot(order: list[int], buckets: Buckets) -> list[Order]:
    """List the orders that a lot in each bucket of neighbours may give."""
    orders = []
    for ranked in itertools.product(*map(itertools.permutations, buckets)):
        after = list(order)
        for bucket, ranks in zip(buckets, ranked, strict=True):
            places = sorted(map(order.index, bucket))
            for place, item in zip(places, ranks, strict=True):
                after[place] = item
        orders.append(tuple(after))
    return orders


def lot_loss(n: int, edges: Edges, orders: list[Order]) -> Fraction:
    truths = orderings(n, edges)
    total = sum(kendall(one, truth) for one in orders for truth in truths)
    return Fraction(total, len(orders) * len(truths))


edge_lists = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda e: e[0] < e[1]),
    max_size=6,
    unique=True,
).map(lambda edges: tuple(sorted(edges)))


@settings(max_examples=60)
@given(edge_lists, st.sampled_from([0.05, 0.1, 0.2, 0.4]))
def test_the_price_is_what_a_lot_in_the_merged_buckets_loses(
    edges: Edges, eta: float
) -> None:
    order, near = near_of(5, edges, eta)
    c = from_edges(5, [a for a, _ in edges], [b for _, b in edges])
    ties = equal_mean_ranks(mean_rank_order(c, 7), c)
    start = lot_loss(5, edges, by_lot(order, ties))
    after = lot_loss(5, edges, by_lot(order, near.buckets))
    assert near.price == pytest.approx(float(after - start), abs=1e-12)
    exact = [share_above(5, edges, a, b) for a, b in near.merged]
    assert all(q <= HALF + Fraction(str(eta)) for q in exact)
    assert near.price == pytest.approx(float(sum(q - HALF for q in exact)), abs=1e-12)
    for tied in ties:
        assert any(set(tied) <= set(bucket) for bucket in near.buckets)
    for bucket in near.buckets:
        assert len(bucket) == 2 or bucket in ties


def cuts(runs: list[list[int]]) -> list[list[list[int]]]:
    """List all ways to join neighbouring runs into buckets of two."""
    if not runs:
        return [[]]
    found = []
    for size in range(1, min(len(runs), 2) + 1):
        bucket = [item for run in runs[:size] for item in run]
        if size == 1 or len(bucket) == 2:
            found += [[bucket, *rest] for rest in cuts(runs[size:])]
    return found


@settings(max_examples=60)
@given(
    st.permutations(range(6)),
    st.lists(st.floats(0.3, 0.75), min_size=15, max_size=15),
    st.booleans(),
)
def test_no_other_way_to_merge_takes_more_pairs_or_as_many_for_less(
    order: list[int],
    chances: list[float],
    tied: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    above = np.zeros((6, 6))
    for (a, b), q in zip(itertools.combinations(order, 2), chances, strict=True):
        above[a, b], above[b, a] = q, 1 - q
    ties = [order[1:3]] if tied else []
    runs = (
        [order[:1], order[1:3], *([x] for x in order[3:])]
        if tied
        else [[x] for x in order]
    )
    near = near_ties(order, ties, above, 0.1)
    own = {pair for tie in ties for pair in itertools.combinations(tie, 2)}
    ways = []
    for way in cuts(runs):
        pairs = {
            pair for bucket in way for pair in itertools.combinations(bucket, 2)
        } - own
        if all(above[pair] <= 0.6 for pair in pairs):
            ways.append((len(pairs), -sum(above[pair] - 0.5 for pair in pairs)))
    pairs_taken, saved = max(ways)
    assert len(near.merged) == pairs_taken
    assert near.price == pytest.approx(-saved, abs=1e-9)


def test_items_without_a_score_are_not_put_at_risk() -> None:
    above = np.full((3, 3), 0.5)
    near = near_ties([0, 1, 2], [], above, 0.1, scored=[True, False, True])
    assert near.buckets == ()
    assert len(near_ties([0, 1, 2], [], above, 0.1).buckets) == 1


def test_a_probability_rounded_up_to_the_limit_counts_as_within() -> None:
    above = np.array([[0, 0.6000000000000001], [0.4, 0]])
    assert near_ties([0, 1], [], above, 0.1).buckets == ((0, 1),)
    assert near_ties([0, 1], [], above, 0.099).buckets == ()


# The price is honest: no scales can make it cost more.


def smooth(gap: Fraction) -> Fraction:
    share = abs(gap) / (1 + abs(gap))
    return (1 + (share if gap > 0 else -share)) / 2


def settled_loss(
    edges: Edges,
    near: NearTies,
    order: list[int],
    scale: list[int],
    *,
    anchored: bool,
) -> Fraction:
    truths = orderings(1 + max(order), edges)
    settle = functools.partial(
        settled_given, edges, near.buckets, order, scale, anchored=anchored
    )
    return sum(map(settle, truths), Fraction(0)) / len(truths)


def settled_given(
    edges: Edges,
    buckets: Buckets,
    order: list[int],
    scale: list[int],
    truth: Order,
    *,
    anchored: bool,
) -> Fraction:
    """Return the expected Kendall tau if reviewers of comparisons settle buckets."""
    value = {item: len(truth) - 1 - rank for rank, item in enumerate(truth)}
    inside = {pair for one in buckets for pair in itertools.combinations(one, 2)}
    loss = Fraction(
        sum(
            truth.index(a) > truth.index(b)
            for a, b in itertools.combinations(order, 2)
            if (a, b) not in inside
        )
    )
    worlds = list(itertools.permutations(edges))
    for assigned, bucket in itertools.product(worlds, buckets):
        marks = {
            one: {item: Fraction(scale[one] + value[item]) for item in pair}
            for one, pair in enumerate(assigned)
        }
        people = {
            item: [one for one, pair in enumerate(assigned) if item in pair]
            for item in bucket
        }
        sheets = Sheets(people, marks)

        def program(
            chance: Chance, sheets: Sheets = sheets, bucket: Order = bucket
        ) -> tuple[Fraction, ...]:
            layers = choose_layers(sheets, bucket, chance.pick, anchored=anchored)
            return tuple(mean_values(sheets, bucket, layers))

        for values, mass in outcomes(program).items():
            for (a, x), (b, y) in itertools.combinations(
                zip(bucket, values, strict=True), 2
            ):
                wrong = smooth(y - x) if value[a] > value[b] else smooth(x - y)
                loss += mass * wrong / len(worlds)
    return loss


@pytest.mark.parametrize(
    "edges",
    [((0, 1), (0, 2), (1, 3)), ((0, 1), (2, 3), (0, 3)), ((0, 1), (0, 2), (3, 2))],
)
@pytest.mark.parametrize("scale", [[0, 0, 0], [0, 10**6, 10**12], [5, -3, 100]])
@pytest.mark.parametrize("anchored", [True, False])
def test_settling_near_ties_never_loses_more_than_the_price(
    edges: Edges, scale: list[int], *, anchored: bool
) -> None:
    order, near = near_of(4, edges, 0.2)
    assert near.merged
    loss = settled_loss(edges, near, order, scale, anchored=anchored)
    price = sum(share_above(4, edges, a, b) - HALF for a, b in near.merged)
    assert loss < lot_loss(4, edges, by_lot(order, ())) + price
    assert near.price == pytest.approx(float(price), abs=1e-12)


def test_useless_scores_lose_nearly_the_whole_price_and_anchors_win_it_back() -> None:
    # With reviewers so far apart, scores as they are tell next to nothing.
    edges = ((0, 1), (2, 3), (0, 3))
    order, near = near_of(4, edges, 0.2)
    start = lot_loss(4, edges, by_lot(order, ()))
    plain, anchored = (
        settled_loss(edges, near, order, [0, 10**6, 10**12], anchored=anchored) - start
        for anchored in (False, True)
    )
    assert near.price > 0.1
    assert 0.99 * near.price < plain < near.price
    assert anchored < 0


# Method safe.


def safe(ratings: Ratings, seed: int = 7, **options: object) -> Answer:
    method, task = Safe.made(options), Task(ratings, seed)
    method.check(task)
    return method.answer(task)


def ratings_of(edges: Edges, scale: list[int]) -> Ratings:
    rows = [
        (one, item, scale[one] - place)
        for one, pair in enumerate(edges)
        for place, item in enumerate(pair)
    ]
    return Ratings(*zip(*rows, strict=True))


def test_safe_is_mean_rank_with_its_ties_broken_by_scores() -> None:
    edges = ((0, 1), (0, 2), (3, 0))
    ratings = ratings_of(edges, [5, 5, 9])
    c = comparisons(ratings)
    for seed in range(10):
        found = safe(ratings, seed)
        start = mean_rank_order(c, seed)
        assert found.mean_ranks is not None
        assert found.mean_ranks.order.tolist() == start.order.tolist()
        again = break_ties(ratings, start.order, [(1, 2)], stream(seed, "ties"))
        assert found.order.tolist() == again.order.tolist()
        assert found.ties is not None
        assert found.ties.draws == again.draws
        assert found.eta_price is None
        (draw,) = found.ties.draws
        assert draw.anchors == ((0,),)


def test_safe_with_eta_tells_its_price() -> None:
    edges = ((0, 1), (0, 2), (1, 3))
    ratings = Ratings(
        [0, 0, 1, 1, 2, 2, 3], [0, 1, 0, 2, 1, 3, 4], [9, 7, 8, 1, 6, 2, 5]
    )
    found = safe(ratings, eta=0.1)
    assert found.ties is not None
    assert [sorted(draw.items) for draw in found.ties.draws] == [[1, 4]]
    assert found.eta_price == pytest.approx(
        float(share_above(5, edges, 1, 4) - HALF), abs=1e-12
    )
    other = safe(ratings, eta=0.1, noise=0.5, anchored=False)
    assert other.ties is not None
    assert (other.ties.noise, other.eta_price) == (0.5, found.eta_price)


@pytest.mark.parametrize("eta", [-0.1, 0.5, math.nan, "0.1", True])
def test_bad_eta_is_refused_in_words(eta: object) -> None:
    ratings = Ratings([0, 0], [0, 1], [1, 2])
    with pytest.raises(OptionError, match=r"eta must be a number from 0 to below 0\.5"):
        safe(ratings, eta=eta)


def test_eta_is_refused_for_too_many_items_and_for_a_proxy() -> None:
    text = "eta must be 0 for more than 3,000 items, and where mean ranks are a proxy"
    ratings = Ratings([0] * 3001, range(3001), range(3001))
    with pytest.raises(OptionError, match=text):
        safe(ratings, eta=0.1)
    ratings = Ratings([0, 0, 1], [0, 1, 2], [3, 2, 1])
    with pytest.raises(OptionError, match=text):
        safe(ratings, eta=0.1, mean_ranks="proxy")


def test_ties_of_a_proxy_are_broken_by_scores_too() -> None:
    # Items 0 and 2 have one item below each, 1 and 3 one above, and 4 none.
    ratings = Ratings([0, 0, 1, 1, 2], [0, 1, 2, 3, 4], [9, 5, 7, 1, 4])
    found = safe(ratings, mean_ranks="proxy", noise=0)
    assert found.mean_ranks is not None
    assert found.ties is not None
    assert found.mean_ranks.proxy
    assert [sorted(draw.items) for draw in found.ties.draws] == [[0, 2], [1, 3]]
    assert found.order.tolist() == [0, 2, 4, 1, 3]


def test_buckets_apart_are_refused_in_words() -> None:
    above = np.full((3, 3), 0.5)
    with pytest.raises(OptionError, match="buckets must be of neighbouring places"):
        near_ties([0, 1, 2], [(0, 2)], above, 0.1)


def test_ranks_are_refused() -> None:
    ranks = Ratings.from_ranks([0, 0], [0, 1], [1, 2])
    with pytest.raises(RatingsError, match="a rank is never used as a score"):
        safe(ranks)

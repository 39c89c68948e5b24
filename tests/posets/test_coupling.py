from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammainccinv

from evenhand.errors import ConvergenceError
from evenhand.posets import coupling
from evenhand.posets.coupling import Past, Sweep, fold, plan_folds, settle, settle_many
from evenhand.posets.graph import comparisons, edges, from_edges
from evenhand.posets.orderings import all_orderings, take_apart, topological_order
from evenhand.randomness import stream
from evenhand.ratings import Ratings
from tests.strategies import Poset, consistent_ratings, posets

if TYPE_CHECKING:
    from evenhand.arrays import Codes
    from evenhand.posets.graph import Comparisons

N_POSET = from_edges(4, [0, 0, 1], [2, 3, 3])
FENCE = from_edges(5, [0, 2, 2, 4], [1, 1, 3, 3])
# Two tied levels, and a pair inside each.
TIED = comparisons(
    Ratings(
        [0] * 6 + [1, 1, 2, 2],
        [0, 1, 2, 3, 4, 5, 0, 1, 4, 5],
        [1, 1, 1, 0, 0, 0, 2, 1, 2, 1],
    )
)
# A pair beside a free item.
PAIR = from_edges(3, [0], [1])
FALSE_ALARM = 1e-6


def whole_sweep(c: Comparisons) -> Sweep:
    (piece,) = take_apart(c, whole=True).pieces
    assert piece.below is not None
    return Sweep(piece.below)


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


@given(consistent_ratings(max_items=8, max_reviewers=3))
def test_no_two_items_of_one_colour_are_neighbours(ratings: Ratings) -> None:
    c = comparisons(ratings)
    if c.n_items < 2:
        return
    (piece,) = take_apart(c, whole=True).pieces
    sweep = Sweep(piece.below or [])
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
    values = sweep.start(2, 1)
    slack = np.array([-coupling.SLACK, coupling.SLACK]) * 2.0**-53
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
        sweep.run(values, uniforms[None, :, None], slack)
        for at, item in enumerate(sweep.items.tolist()):
            bottom, top = values[at, :, 0].tolist()
            assert Fraction(bottom) <= value[item] <= Fraction(top)


def draw_many(sweep: Sweep, samples: int, seed: int = 2019) -> Codes:
    return np.concatenate(list(settle_many(sweep, stream(seed, "orders"), samples)))


def looks_uniform(codes: list[int], kinds: int) -> bool:
    counts, mean = Counter(codes), len(codes) / kinds
    statistic = sum((counts[code] - mean) ** 2 / mean for code in range(kinds))
    return bool(statistic < 2 * gammainccinv((kinds - 1) / 2, FALSE_ALARM))


@pytest.mark.parametrize(
    "c", [N_POSET, FENCE, TIED, PAIR], ids=["letter N", "fence", "tied", "pair"]
)
@pytest.mark.parametrize("rows", [1, 32])
def test_samples_are_drawn_uniformly_and_independently(
    c: Comparisons, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chi-square tests; each one raises a false alarm for one seed in a million.

    Counted are all orderings, and pairs of orderings of neighbouring samples. Few are
    settled by the first attempt if it has one sweep, most if it has 32.
    """
    monkeypatch.setattr(coupling, "ROWS", rows)
    known = list(all_orderings(c))
    number = {order: code for code, order in enumerate(known)}
    sweep, order = whole_sweep(c), topological_order(c)
    samples = max(200 * len(known), 10 * len(known) ** 2)
    values, _ = Past(sweep, stream(2019, "orders"), samples).draw()
    drawn = order[sweep.items[np.argsort(-values, axis=0).T]]
    codes = [number[tuple(sample)] for sample in drawn.tolist()]
    assert looks_uniform(codes, len(known))
    pairs = [
        first * len(known) + second
        for first, second in zip(codes[::2], codes[1::2], strict=True)
    ]
    assert looks_uniform(pairs, len(known) ** 2)


@pytest.mark.parametrize("c", [N_POSET, FENCE, TIED], ids=["letter N", "fence", "tied"])
def test_samples_that_follow_others_are_uniform_too(
    c: Comparisons, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third sample of each chain, with as many chains as there are samples."""
    known = list(all_orderings(c))
    chains = 200 * len(known)
    monkeypatch.setattr(coupling, "CHAINS", chains)
    drawn = draw_many(whole_sweep(c), 3 * chains)[-chains:]
    found = topological_order(c)[drawn].tolist()
    assert looks_uniform([known.index(tuple(s)) for s in found], len(known))


def test_words_that_are_not_kept_between_attempts_fail_the_same_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = itertools.count()
    monkeypatch.setattr(coupling, "ROWS", 1)
    monkeypatch.setattr(coupling, "_longer", lambda chunks, *_: chunks + 1)
    monkeypatch.setattr(
        coupling, "stream", lambda seed, name: stream(seed, f"{name} {next(fresh)}")
    )
    known = list(all_orderings(PAIR))
    sweep = whole_sweep(PAIR)
    values, _ = Past(sweep, stream(2019, "orders"), 5000).draw()
    drawn = topological_order(PAIR)[sweep.items[np.argsort(-values, axis=0).T]]
    codes = [known.index(tuple(sample)) for sample in drawn.tolist()]
    assert not looks_uniform(codes, len(known))


def test_starting_earlier_does_not_change_the_ordering(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sweep = whole_sweep(crown(9))
    expected = [settle(sweep, stream(seed, "order")).tolist() for seed in range(20)]
    for longer in (lambda chunks, *_: chunks + 1, lambda chunks, *_: 5 * chunks):
        monkeypatch.setattr(coupling, "_longer", longer)
        found = [settle(sweep, stream(seed, "order")).tolist() for seed in range(20)]
        assert found == expected


def test_the_next_draw_does_not_depend_on_how_many_are_asked_for() -> None:
    left = []
    for samples in (1, 300):
        source = stream(7, "orders")
        list(settle_many(whole_sweep(FENCE), source, samples))
        left.append(source.random_raw(3).tolist())
    assert left[0] == left[1]


def test_single_orderings_of_a_seed_stay_what_they_were() -> None:
    # A record of a ranking is repeated by its seed.
    sweep = whole_sweep(crown(6))
    orders = [settle(sweep, stream(seed, "order")).tolist() for seed in range(3)]
    assert orders == [
        [1, 0, 2, 7, 5, 4, 3, 9, 6, 11, 8, 10],
        [1, 0, 4, 2, 5, 7, 8, 11, 6, 3, 10, 9],
        [2, 4, 1, 5, 0, 3, 10, 8, 6, 9, 7, 11],
    ]


def test_sweeping_without_end_is_refused_in_words() -> None:
    sweep = Sweep([[item + 1] for item in range(39)] + [[]])
    sweep.sweeps = 0
    with pytest.raises(ConvergenceError, match="of 40 items that cannot be taken"):
        settle(sweep, stream(1, "order"))
    with pytest.raises(ConvergenceError, match="too long to draw"):
        draw_many(sweep, 3)

# ruff: noqa: SLF001 - sweeps that only drawing uses are looked at here.
from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammainccinv

from evenhand._kernels import coupling as kernels
from evenhand._randomness import Stream, stream
from evenhand.errors import ConvergenceError
from evenhand.posets import coupling
from evenhand.posets.comparisons import comparisons, edges, from_edges
from evenhand.posets.coupling import neighbours, settle, settle_many
from evenhand.posets.orderings import all_orderings, topological_order
from evenhand.posets.pieces import as_diagram, irreducible, take_apart
from evenhand.ratings import Ratings
from tests.strategies import Poset, consistent_ratings, posets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand._kernels.diagrams import Diagram
    from evenhand.posets.comparisons import Comparisons

N_POSET = from_edges(4, [0, 0, 1], [2, 3, 3])
SCALE = 2**62
HALF_SCALE = 2**31
FENCE = from_edges(5, [0, 2, 2, 4], [1, 1, 3, 3])
# Two tied levels, held together by a joint, and a pair inside each.
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


def whole_diagram(c: Comparisons) -> Diagram:
    ((_, diagram),) = irreducible(take_apart(c, topological_order(c), whole=True))
    return diagram


def plain_sweep(
    c: Comparisons, bottom: list[int], top: list[int], words: list[list[int]]
) -> None:
    """Sweep with whole numbers of Python, on all direct comparisons."""
    pairs = list(zip(*(codes.tolist() for codes in edges(c)), strict=True))
    order = topological_order(c).tolist()
    for row in words:
        for item, word in zip(order, row, strict=True):
            for chain, extra in ((bottom, 0), (top, 2)):
                low = max((chain[b] for a, b in pairs if a == item), default=0)
                high = min((chain[a] for a, b in pairs if b == item), default=SCALE)
                share = (high - low) * word // 2**64
                chain[item] = low + min(high - low, share + extra)


words_strategy = st.integers(0, 2**64 - 1) | st.sampled_from(
    [0, 1, 2**64 - 1, 2**63, 2**32 - 1, 2**32]
)


@settings(max_examples=60)
@given(consistent_ratings(max_items=8, max_reviewers=3), st.data())
def test_sweeps_are_those_of_whole_numbers_in_python(
    ratings: Ratings, data: st.DataObject
) -> None:
    c = comparisons(ratings)
    if c.n_items < 2:
        return
    row = st.lists(words_strategy, min_size=c.n_items, max_size=c.n_items)
    words = data.draw(st.lists(row, min_size=1, max_size=5))
    around = neighbours(whole_diagram(c))
    values = np.zeros((around.n_places, 2), dtype=np.int64)
    values[:, 1] = SCALE
    kernels.sweep(around, values, np.array(words, dtype=np.uint64))
    bottom, top = [0] * c.n_items, [SCALE] * c.n_items
    plain_sweep(c, bottom, top, words)
    order = topological_order(c)
    assert values[: c.n_items, 0].tolist() == [bottom[item] for item in order]
    assert values[: c.n_items, 1].tolist() == [top[item] for item in order]


@given(posets(min_items=2, max_items=6), st.data())
def test_a_chain_of_real_numbers_stays_between_bottom_and_top(
    poset: Poset, data: st.DataObject
) -> None:
    """The chain is exact: Fractions, and uniforms with 64 bits more than are drawn."""
    c = poset.comparisons()
    pairs = list(zip(*(codes.tolist() for codes in edges(c)), strict=True))
    order = topological_order(c).tolist()
    n_items = c.n_items
    # A point of the polytope: values fall along the topological order.
    steps = data.draw(st.lists(st.integers(0, 9), min_size=n_items, max_size=n_items))
    falling = [1 - Fraction(fall, 100) for fall in itertools.accumulate(steps)]
    value = dict(zip(order, falling, strict=True))
    bottom, top = [0] * n_items, [SCALE] * n_items
    for _ in range(data.draw(st.integers(1, 6))):
        row = data.draw(st.lists(words_strategy, min_size=n_items, max_size=n_items))
        tails = data.draw(st.lists(words_strategy, min_size=n_items, max_size=n_items))
        for item, word, tail in zip(order, row, tails, strict=True):
            low = max((value[b] for a, b in pairs if a == item), default=Fraction(0))
            high = min((value[a] for a, b in pairs if b == item), default=Fraction(1))
            value[item] = low + (high - low) * Fraction(word * 2**64 + tail, 2**128)
        plain_sweep(c, bottom, top, [row])
        for item in range(n_items):
            assert bottom[item] <= value[item] * SCALE <= top[item]


half_words = st.integers(0, 2**32 - 1) | st.sampled_from(
    [0, 1, 2**32 - 1, 2**31, 2**16 - 1]
)


def plain_half_sweep(
    c: Comparisons, bottom: list[int], top: list[int], words: list[list[int]]
) -> None:
    """Sweep one lane with fractions, on all direct comparisons."""
    pairs = list(zip(*(codes.tolist() for codes in edges(c)), strict=True))
    order = topological_order(c).tolist()
    for row in words:
        for item, word in zip(order, row, strict=True):
            for chain, end in ((bottom, word), (top, word + 1)):
                low = max((chain[b] for a, b in pairs if a == item), default=0)
                high = min(
                    (chain[a] for a, b in pairs if b == item), default=HALF_SCALE
                )
                exact = low + (high - low) * Fraction(end, 2**32)
                chain[item] = math.floor(exact) if chain is bottom else math.ceil(exact)


@settings(max_examples=60)
@given(consistent_ratings(max_items=8, max_reviewers=3), st.data())
def test_sweeps_of_lanes_are_those_of_fractions_one_by_one(
    ratings: Ratings, data: st.DataObject
) -> None:
    c = comparisons(ratings)
    if c.n_items < 2:
        return
    row = st.lists(half_words, min_size=c.n_items, max_size=c.n_items)
    n_rows = data.draw(st.integers(1, 4))
    lane = st.lists(row, min_size=n_rows, max_size=n_rows)
    lanes = data.draw(st.lists(lane, min_size=1, max_size=5))
    around = neighbours(whole_diagram(c))
    values = np.zeros((around.n_places, 2, len(lanes)), dtype=np.uint32)
    values[:, 1] = HALF_SCALE
    words = np.ascontiguousarray(np.moveaxis(np.array(lanes, dtype=np.uint32), 0, 2))
    kernels.sweep_lanes(around, values, words)
    order = topological_order(c)
    for number, lane_words in enumerate(lanes):
        bottom, top = [0] * c.n_items, [HALF_SCALE] * c.n_items
        plain_half_sweep(c, bottom, top, lane_words)
        found = values[: c.n_items, :, number]
        assert found[:, 0].tolist() == [bottom[item] for item in order]
        assert found[:, 1].tolist() == [top[item] for item in order]


def past(diagram: Diagram, seed: int, rows: int) -> coupling._Past:
    def words(chunk: int, digit: int) -> NDArray[np.uint64]:
        size = rows * diagram.n_items
        return stream(seed, f"{chunk} {digit}").random_raw(size)

    return coupling._Past(diagram, neighbours(diagram), rows, words)


@given(posets(min_items=2, max_items=6), st.integers(0, 99))
def test_more_bits_narrow_the_same_intervals(poset: Poset, seed: int) -> None:
    sweeps = past(whole_diagram(poset.comparisons()), seed, 2)
    narrow, wide = sweeps.swept(3, 1), sweeps.swept(3, 2)
    assert (wide[:, 0] >= narrow[:, 0].astype(np.object_) * 2**64).all()
    assert (wide[:, 1] <= narrow[:, 1].astype(np.object_) * 2**64).all()
    assert (wide[:, 0] <= wide[:, 1]).all()


@given(posets(min_items=2, max_items=6), st.integers(0, 99))
def test_lanes_hold_the_same_intervals_with_fewer_bits(poset: Poset, seed: int) -> None:
    diagram = whole_diagram(poset.comparisons())
    around, shape = neighbours(diagram), (2, diagram.n_items, 16)
    block = coupling._Block(diagram, around, seed, 0, shape, {})
    coarse = block.swept(np.array([3, 5]), 3).astype(np.int64) * 2**31
    for column, lane in enumerate((3, 5)):
        fine = block.alone(lane).swept(3, 1)
        assert (fine[:, 0] >= coarse[:, 0, column]).all()
        assert (fine[:, 1] <= coarse[:, 1, column]).all()


@settings(max_examples=40)
@given(consistent_ratings(max_items=7, max_reviewers=3), st.integers(0, 99))
def test_bits_that_do_not_suffice_are_followed_by_more(
    ratings: Ratings, seed: int
) -> None:
    c = comparisons(ratings)
    if c.n_items < 2:
        return
    diagram = whole_diagram(c)
    expected = settle(diagram, stream(seed, "order"))
    swept = coupling._Past.swept

    def blurred(
        self: coupling._Past, chunks: int, n_words: int
    ) -> NDArray[np.int64] | NDArray[np.object_]:
        values = swept(self, chunks, n_words)
        if n_words == 1:
            values[:, 0], values[:, 1] = 0, 1
        return values

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coupling._Past, "swept", blurred)
        assert (settle(diagram, stream(seed, "order")) == expected).all()


def draw_many(
    diagram: Diagram, samples: int, seed: int = 2019, name: str = "orders"
) -> NDArray[np.int64]:
    return np.concatenate(list(settle_many(diagram, stream(seed, name), samples)))


@pytest.mark.parametrize("c", [N_POSET, FENCE, TIED], ids=["letter N", "fence", "tied"])
def test_lanes_that_bits_do_not_settle_go_on_alone_to_the_same_ordering(
    c: Comparisons, monkeypatch: pytest.MonkeyPatch
) -> None:
    diagram = whole_diagram(c)
    expected = draw_many(diagram, 40)
    swept = coupling._Block.swept

    def blurred(
        self: coupling._Block, lanes: NDArray[np.int64], chunks: int
    ) -> NDArray[np.uint32]:
        values = swept(self, lanes, chunks)
        hidden = lanes % 3 == 1
        values[:, 0, hidden], values[:, 1, hidden] = 0, 1
        return values

    monkeypatch.setattr(coupling._Block, "swept", blurred)
    assert (draw_many(diagram, 40) == expected).all()


@pytest.mark.parametrize(
    "c", [N_POSET, FENCE, TIED, PAIR], ids=["letter N", "fence", "tied", "pair"]
)
@pytest.mark.parametrize("rows", [1, 32])
def test_lanes_are_drawn_uniformly_and_independently(
    c: Comparisons, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chi-square tests; each one raises a false alarm for one seed in a million.

    Counted are all orderings, and pairs of orderings in neighbouring lanes. Few lanes
    are settled by the first attempt if it has one sweep, most if it has 32.
    """
    monkeypatch.setattr(coupling, "MOST_ROWS", rows)
    known = list(all_orderings(c))
    number = {order: code for code, order in enumerate(known)}
    order = topological_order(c)
    drawn = draw_many(whole_diagram(c), max(200 * len(known), 10 * len(known) ** 2))
    codes = [number[tuple(sample)] for sample in order[drawn].tolist()]
    assert looks_uniform(codes, len(known))
    pairs = [
        first * len(known) + second
        for first, second in zip(codes[::2], codes[1::2], strict=True)
    ]
    assert looks_uniform(pairs, len(known) ** 2)


def test_words_that_are_not_kept_between_attempts_fail_the_same_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = stream(1, "fresh")
    monkeypatch.setattr(coupling, "MOST_ROWS", 1)
    monkeypatch.setattr(coupling, "MOST_KEPT", 0)
    monkeypatch.setattr(coupling, "_longer", lambda chunks, *_: chunks + 1)
    monkeypatch.setattr(coupling, "_words", lambda _, __, size: fresh.random_raw(size))
    known = list(all_orderings(PAIR))
    # One block each, since later ones start where most are settled.
    blocks = [draw_many(whole_diagram(PAIR), 256, seed) for seed in range(20)]
    drawn = topological_order(PAIR)[np.concatenate(blocks)].tolist()
    assert not looks_uniform([known.index(tuple(s)) for s in drawn], len(known))


def looks_uniform(codes: list[int], kinds: int) -> bool:
    counts, mean = Counter(codes), len(codes) / kinds
    statistic = sum((counts[code] - mean) ** 2 / mean for code in range(kinds))
    return bool(statistic < 2 * gammainccinv((kinds - 1) / 2, FALSE_ALARM))


@settings(max_examples=25)
@given(consistent_ratings(max_items=9, max_reviewers=4), st.integers(0, 99))
def test_a_sample_does_not_depend_on_how_many_are_asked_for(
    ratings: Ratings, seed: int
) -> None:
    c = comparisons(ratings)
    if c.n_items < 2:
        return
    diagram = whole_diagram(c)
    many = draw_many(diagram, 300, seed)
    assert many.shape == (300, c.n_items)
    for samples in (1, 17, 256, 257):
        assert (draw_many(diagram, samples, seed) == many[:samples]).all()


def test_samples_of_many_items_do_not_depend_on_how_many_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    diagram = whole_diagram(FENCE)
    monkeypatch.setattr(coupling, "LANE_ITEMS", 4)
    many = draw_many(diagram, 30)
    assert (draw_many(diagram, 3) == many[:3]).all()
    assert len({tuple(order) for order in many.tolist()}) > 4


def test_the_next_draw_does_not_depend_on_how_many_are_asked_for() -> None:
    left = []
    for samples in (1, 300):
        source = stream(7, "orders")
        list(settle_many(whole_diagram(FENCE), source, samples))
        left.append(source.random_raw(3).tolist())
    assert left[0] == left[1]


@pytest.mark.parametrize("kept", [0, 1, 64])
def test_the_start_does_not_change_lanes(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    diagram = whole_diagram(crown(9))
    monkeypatch.setattr(coupling, "MOST_KEPT", kept)
    expected = draw_many(diagram, 600)
    for longer in (lambda chunks, *_: chunks + 1, lambda chunks, *_: 5 * chunks):
        monkeypatch.setattr(coupling, "_longer", longer)
        assert (draw_many(diagram, 600) == expected).all()


def test_what_few_samples_need_is_drawn_for_them_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = []

    def counted(seed: int, purpose: str, size: int) -> NDArray[np.uint64]:
        drawn.append((purpose, size))
        return words(seed, purpose, size)

    words = coupling._words
    diagram = whole_diagram(crown(9))
    monkeypatch.setattr(coupling, "MOST_KEPT", 1)
    monkeypatch.setattr(coupling, "MOST_ROWS", 4)
    monkeypatch.setattr(coupling, "_words", counted)
    few, many = draw_many(diagram, 2), draw_many(diagram, 40)
    assert (few == many[:2]).all()
    block, *late = drawn
    assert block[0] == "samples 0 sweeps 0"
    # A block has 256 lanes.
    own = [size for purpose, size in late if purpose.startswith("sample ")]
    assert own
    assert all(256 * size == block[1] for size in own)


def crown(half: int) -> Comparisons:
    """A fence that closes to a circle."""
    upper = np.arange(half)
    return from_edges(
        2 * half,
        np.concatenate([upper, upper]),
        half + np.concatenate([upper, (upper + 1) % half]),
    )


def test_streams_are_opened_for_blocks_and_not_for_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []

    def counted(seed: int, purpose: str) -> Stream:
        opened.append(purpose)
        return stream(seed, purpose)

    monkeypatch.setattr(coupling, "stream", counted)
    diagram = whole_diagram(crown(40))
    numbers = []
    for samples in (1, 100, 1000):
        opened.clear()
        draw_many(diagram, samples)
        assert len(set(opened)) == len(opened)
        numbers.append(len(opened))
    # A block of up to 256 samples needs some 100 sweeps, 12 of them to a stream.
    assert numbers[0] <= numbers[1] <= 20
    assert numbers[2] <= 4 * 20


def test_neighbours_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(diagram: Diagram) -> kernels.Neighbours:
        calls.append(diagram)
        return neighbours(diagram)

    monkeypatch.setattr(coupling, "neighbours", counted)
    diagram = whole_diagram(crown(20))
    draw_many(diagram, 600)
    assert len(calls) == 1
    settle(diagram, stream(1, "order"))
    assert len(calls) == 2


def test_starting_earlier_does_not_change_the_ordering(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    diagram = whole_diagram(N_POSET)
    expected = [settle(diagram, stream(seed, "order")).tolist() for seed in range(50)]
    monkeypatch.setattr(coupling, "_longer", lambda chunks, *_: 3 * chunks)
    found = [settle(diagram, stream(seed, "order")).tolist() for seed in range(50)]
    assert found == expected
    monkeypatch.setattr(coupling, "_words", other(coupling._words))
    found = [settle(diagram, stream(seed, "order")).tolist() for seed in range(50)]
    assert found != expected


def other(
    words: Callable[[int, str, int], NDArray[np.uint64]],
) -> Callable[[int, str, int], NDArray[np.uint64]]:
    """Words of other streams, so that the draws differ."""
    return lambda seed, purpose, size: words(seed, f"other {purpose}", size)


def test_single_orderings_of_a_seed_stay_what_they_were() -> None:
    # A record of a ranking is repeated by its seed.
    diagram = whole_diagram(crown(6))
    orders = [settle(diagram, stream(seed, "order")).tolist() for seed in range(3)]
    assert orders == [
        [0, 5, 6, 4, 11, 2, 1, 3, 8, 9, 7, 10],
        [5, 1, 4, 11, 3, 0, 2, 9, 6, 7, 8, 10],
        [2, 3, 0, 4, 9, 1, 7, 5, 11, 8, 10, 6],
    ]


def test_sweeping_without_end_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coupling, "MOST_REDRAWN", 1000)
    chain = as_diagram(40, 40, np.arange(39), np.arange(1, 40))
    with pytest.raises(ConvergenceError, match="of 40 connected items was not settled"):
        settle(chain, stream(1, "order"))


def test_sweeping_lanes_without_end_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coupling, "MOST_IN_LANES", 1000)
    chain = as_diagram(40, 40, np.arange(39), np.arange(1, 40))
    with pytest.raises(ConvergenceError, match="of 40 connected items was not settled"):
        draw_many(chain, 3)

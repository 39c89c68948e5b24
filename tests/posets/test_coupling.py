from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._kernels import coupling as kernels
from evenhand._randomness import stream
from evenhand.errors import ConvergenceError
from evenhand.posets import coupling
from evenhand.posets.comparisons import comparisons, edges, from_edges
from evenhand.posets.coupling import neighbours, settle
from evenhand.posets.orderings import topological_order
from evenhand.posets.pieces import as_diagram, irreducible, take_apart
from tests.strategies import Poset, consistent_ratings, posets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand._kernels.diagrams import Diagram
    from evenhand.posets.comparisons import Comparisons
    from evenhand.ratings import Ratings

    Swept = Callable[[Diagram, int, int, int, int], NDArray[np.int64]]

N_POSET = from_edges(4, [0, 0, 1], [2, 3, 3])
SCALE = 2**62


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


@given(posets(min_items=2, max_items=6), st.integers(0, 99))
def test_more_bits_narrow_the_same_intervals(poset: Poset, seed: int) -> None:
    diagram = whole_diagram(poset.comparisons())
    narrow = coupling._swept(diagram, seed, 2, 3, 1)  # noqa: SLF001 - not to be drawn from
    wide = coupling._swept(diagram, seed, 2, 3, 2)  # noqa: SLF001 - the same
    assert (wide[:, 0] >= narrow[:, 0].astype(np.object_) * 2**64).all()
    assert (wide[:, 1] <= narrow[:, 1].astype(np.object_) * 2**64).all()
    assert (wide[:, 0] <= wide[:, 1]).all()


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
    drawn = coupling._swept  # noqa: SLF001 - to be replaced

    def blurred(
        diagram: Diagram, seed: int, rows: int, chunks: int, n_words: int
    ) -> NDArray[np.int64] | NDArray[np.object_]:
        values = drawn(diagram, seed, rows, chunks, n_words)
        if n_words == 1:
            values[:, 0], values[:, 1] = 0, 1
        return values

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coupling, "_swept", blurred)
        assert (settle(diagram, stream(seed, "order")) == expected).all()


def test_starting_earlier_does_not_change_the_ordering(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    diagram = whole_diagram(N_POSET)
    expected = [settle(diagram, stream(seed, "order")).tolist() for seed in range(50)]
    monkeypatch.setattr(coupling, "_longer", lambda chunks, *_: 3 * chunks)
    found = [settle(diagram, stream(seed, "order")).tolist() for seed in range(50)]
    assert found == expected
    monkeypatch.setattr(coupling, "_words", earlier(coupling._words))  # noqa: SLF001 - its twin
    found = [settle(diagram, stream(seed, "order")).tolist() for seed in range(50)]
    assert found != expected


def earlier(
    words: Callable[[int, int, int, int], NDArray[np.uint64]],
) -> Callable[[int, int, int, int], NDArray[np.uint64]]:
    """Words of other chunks, so that the draws differ."""
    return lambda seed, chunk, digit, size: words(seed, chunk + 1, digit, size)


def test_sweeping_without_end_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coupling, "MOST_REDRAWN", 1000)
    chain = as_diagram(40, 40, np.arange(39), np.arange(1, 40))
    with pytest.raises(ConvergenceError, match="of 40 connected items was not settled"):
        settle(chain, stream(1, "order"))

"""Trials with fixed scores give, to the last bit, what the rules give on the scores."""

import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand._kernels.trials import (
    central_sides,
    mean_sides,
    pack_columns,
    scores_in_order,
    sign_sides,
)
from evenhand._randomness import Stream, stream, uniforms
from evenhand.lab import _uniform
from evenhand.lab._fixed_scores import PACKED, Trials, as_orders, random_words
from evenhand.lab._uniform import CHUNK, Rule, as_rule, sampled, sampled_together

RULES: list[tuple[str, dict[str, Any]]] = [
    ("coin", {}),
    ("sign", {}),
    ("mean", {}),
    ("median", {}),
    ("median", {"median": "lower"}),
    ("median", {"median": "middle"}),
    ("trimmed", {}),
    ("guarded", {}),
    ("votes", {}),
    ("votes", {"weight": "rational:0.3"}),
    ("votes", {"weight": "exponential:2"}),
    ("votes", {"weight": lambda gap: gap / (2 + gap)}),
]


def drawn(numbers: list[Fraction], trials: int, seed: int) -> Trials:
    source = stream(seed, "trials")
    values = np.sort(uniforms(source, (trials, 2)), axis=1)
    orders = as_orders(random_words(source, (trials, len(numbers))))
    return Trials(orders, values, np.array([float(number) for number in numbers]))


@pytest.mark.parametrize(("method", "options"), RULES)
@settings(max_examples=15)
@given(
    numbers=st.lists(
        st.fractions(-3, 3, max_denominator=4), min_size=2, max_size=24
    ).map(lambda row: row[: len(row) // 2 * 2]),
    seed=st.integers(0, 2**32),
)
def test_chances_are_those_of_the_rule_on_the_scores(
    method: str, options: dict[str, Any], numbers: list[Fraction], seed: int
) -> None:
    rule = as_rule(method, **options)
    trials = drawn(numbers, 20, seed)
    expected = np.asarray(rule.given(*trials.scores))
    np.testing.assert_array_equal(trials.chances(rule), expected)


def test_means_too_near_to_tell_are_compared_exactly() -> None:
    """0.1 + 0.2 and 0.3 + 0.0 have the same mean; in floats they do not."""
    added = np.array([0.1, 0.2, 0.3, 0.0])
    orders = np.array([[0, 1, 2, 3], [2, 3, 0, 1], [2, 1, 0, 3]])
    trials = Trials(orders, np.zeros((3, 2)), added)
    assert trials.chances(as_rule("mean")).tolist() == [0.5, 0.5, 1.0]


@given(st.permutations(range(9)), st.integers(0, 3))
def test_central_sides_are_found_as_by_sorting(order: list[int], place: int) -> None:
    added = np.array([0.0, 0.0, 1.0, 1.5, 2.0, 2.0, 4.0, 5.0])
    people = [reviewer for reviewer in order if reviewer < len(added)]
    values = np.array([[0.25, 0.75]])
    better = sorted(added[people[:4]] + 0.75)[place]
    worse = sorted(added[people[4:]] + 0.25)[place]
    known = int(better > worse) - int(better < worse)
    ranks = np.arange(len(added))
    found = central_sides(np.array([people]), values, added, ranks, place)
    assert found.tolist() == [known]


@given(st.sampled_from([64, 66, 100, 128, 140]), st.data())
def test_central_sides_are_found_in_any_word_of_marks(
    size: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(size)))
    place = data.draw(st.integers(0, size // 2 - 1))
    added = np.arange(float(size))
    better, worse = (
        sorted(side)[place] for side in (order[: size // 2], order[size // 2 :])
    )
    values = np.array([[0.0, 0.0]])
    ranks = np.arange(size)
    found = central_sides(np.array([order]), values, added, ranks, place)
    assert found.tolist() == [int(better > worse) - int(better < worse)]


@given(
    rows=st.lists(st.permutations(range(6)), min_size=1, max_size=4),
    added=st.lists(st.floats(-9, 9), min_size=6, max_size=6),
    values=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_scores_in_order_are_those_of_their_twin(
    rows: list[list[int]], added: list[float], values: tuple[float, float]
) -> None:
    table = np.array([values] * len(rows))
    better, worse = scores_in_order(np.array(rows), table, np.array(added))
    assert better.tolist() == [[added[i] + values[1] for i in row[:3]] for row in rows]
    assert worse.tolist() == [[added[i] + values[0] for i in row[3:]] for row in rows]


@given(pairs=st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1))
def test_sides_of_signs_and_means_are_those_of_their_twins(
    pairs: list[tuple[int, int]],
) -> None:
    better, worse = np.array([pairs], dtype=np.float64).transpose(2, 0, 1).copy()
    wins = sum((one > two) - (one < two) for one, two in pairs)
    assert sign_sides(better, worse).tolist() == [np.sign(wins)]
    gap = sum(one - two for one, two in pairs)
    sides, clear = mean_sides(better, worse)
    assert sides.tolist() == [np.sign(gap)]
    assert clear.tolist() == [gap != 0]


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9),
    st.integers(4, 12),
)
def test_columns_are_packed_into_low_bits(row: list[int], bits: int) -> None:
    words = np.array([row, row], dtype=np.uint64)
    pack_columns(words, np.uint64(2**bits - 1))
    expected = [(word >> bits << bits) + column for column, word in enumerate(row)]
    assert words.tolist() == [expected, expected]


class Words(Stream):
    """A stream of known words."""

    def random_raw(self, size: int, *_: object) -> Any:  # type: ignore[override]  # one of its forms  # noqa: ANN401 - as NumPy has it
        return np.array([5, 3, 3, 9], dtype=np.uint64)[:size] << np.uint64(11)


def test_equal_uniforms_stay_in_the_order_of_the_reviewers() -> None:
    assert as_orders(random_words(Words(1), (1, 4))).tolist() == [[1, 2, 0, 3]]


@pytest.mark.parametrize("size", [1, 2, PACKED, PACKED + 1])
def test_orders_are_those_of_the_uniforms(size: int) -> None:
    known = np.argsort(uniforms(stream(3, "orders"), (2, size)), axis=1, kind="stable")
    found = as_orders(random_words(stream(3, "orders"), (2, size)))
    np.testing.assert_array_equal(found, known)


def test_rules_tried_together_get_what_each_gets_alone() -> None:
    numbers = [Fraction(number, 3) for number in range(6)]
    tried = [as_rule(method, **options) for method, options in RULES]
    together = sampled_together(tried, numbers, CHUNK + 5, 7)
    alone = [sampled(rule, numbers, CHUNK + 5, 7) for rule in tried]
    assert together == alone


@pytest.mark.parametrize(("threads", "piece"), [(1, 2500), (2, 7), (3, 64)])
def test_neither_threads_nor_pieces_change_a_result(
    threads: int, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = [Fraction(number, 3) for number in range(8)]
    tried = [as_rule(name) for name in ("votes", "sign", "mean", "median", "trimmed")]
    expected = [sampled(rule, numbers, 300, 7) for rule in tried]
    monkeypatch.setattr(_uniform, "cores", lambda: threads)
    monkeypatch.setattr(_uniform, "PIECE", piece)
    assert sampled_together(tried, numbers, 300, 7) == expected


def test_a_function_of_the_users_runs_on_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = as_rule("votes", weight=lambda gap: gap / (2 + gap))
    names: set[str] = set()

    def watched(self: Trials, rule: Rule) -> NDArray[np.float64]:
        names.add(threading.current_thread().name)
        return chances(self, rule)

    chances = Trials.chances
    monkeypatch.setattr(Trials, "chances", watched)
    monkeypatch.setattr(_uniform, "cores", lambda: 4)
    monkeypatch.setattr(_uniform, "PIECE", 5)
    sampled(rule, [Fraction(0)] * 4, 40, 7)
    assert len(names) == 1

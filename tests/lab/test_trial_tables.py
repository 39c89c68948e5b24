"""Blocks of trials in one table are what they are alone, with less work."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand._kernels.chances import (
    packed_words,
    rational_votes,
    scores_of_sides,
    unpacked_scores,
)
from evenhand._kernels.seeding import INIT_A, MASK, MULT_A, spawned_states
from evenhand._randomness import stream
from evenhand.ab._numbers import Floats
from evenhand.ab.law import majority_probability
from evenhand.ab.rules import followed, mean, votes
from evenhand.ab.weights import odd, rational
from evenhand.errors import OptionError
from evenhand.lab import _blocks, _draws
from evenhand.lab._blocks import (
    BLOCK,
    FIRST_BLOCKS,
    TABLE_BLOCKS,
    Tally,
    Task,
    run_batch,
    run_blocks,
    table_blocks,
)
from evenhand.lab._draws import Source, draw_block, draw_table, streams
from evenhand.lab._two_items import _by_side
from evenhand.lab.scales import Scales
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import CHECKED, simulate

Codes = NDArray[np.int64]
Words = NDArray[np.uint64]
RULES = ("votes", "sign", "mean", "median")
# Few enough values that equal ones come up, in upper bits, in lower bits and in both.
words = st.sampled_from([0, 1, 2, 3, 1 << 62, (1 << 62) + 1, 1 << 63, (1 << 64) - 1])
scores = st.floats(-9, 9) | st.sampled_from([0.0, -0.0, 1e300, 1.7e308, -1.7e308])


def cubes(reviewer: int, values: Floats) -> Floats:
    return values**3 + reviewer


def first_higher(first: Floats, second: Floats) -> float:
    return float(first[0] > second[0])


SCENARIOS = [
    Scenario(reviewers=7, scales="incremental"),
    Scenario(reviewers=6, design="coins", noise="per-reviewer:0:1"),
    Scenario(reviewers=6, design="matched", scales="exponential", values="normal:0:1"),
    Scenario(reviewers=9, design="panels", panels=4, scales="adversary:spread"),
    Scenario(reviewers=5, scales="power", noise="normal:0.1", levels=6),
    Scenario(reviewers=4, scales=cubes, values="given:3,-0.0"),
    Scenario(reviewers=1, scales="bias", truth="arbitrary", order=(2, 1)),
    Scenario(reviewers=3, scales=Scales("own", 1, lambda v, u: v + u, strict=True)),
    Scenario(job="rank", items=4, noise="discrete:-1,1"),
    Scenario(job="rank", items=5, design="balanced", levels=3),
    Scenario(job="rank", items=3, design="everything"),
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_table_holds_its_blocks(scenario: Scenario) -> None:
    blocks = [(0, 3), (7, 5), (2, 1)]
    table = draw_table(scenario, 7, blocks)
    alone = [draw_block(scenario, 7, number, trials) for number, trials in blocks]
    for name in ("values", "assigned", "scores", "tied", "pairing"):
        parts = [getattr(block, name) for block in alone]
        assert getattr(table, name).tobytes() == np.concatenate(parts).tobytes()


@given(
    st.integers(0, 2**40) | st.integers(0, 2**300),
    st.lists(st.text(), min_size=1, max_size=3),
)
def test_streams_are_those_of_one_at_a_time(seed: int, purposes: list[str]) -> None:
    opened = [source.state for source in streams(seed, purposes)]
    assert opened == [stream(seed, purpose).state for purpose in purposes]


@given(
    st.integers(0, 2**128 - 1),
    st.lists(
        st.lists(st.integers(0, MASK), min_size=2, max_size=2), min_size=1, max_size=4
    ),
)
def test_states_are_those_of_numpys_seed_sequences(
    seed: int, keys: list[list[int]]
) -> None:
    constant = INIT_A * pow(MULT_A, 16, 1 << 32) & MASK
    pool = np.random.SeedSequence(seed).pool
    found = spawned_states(pool, constant, np.array(keys, dtype=np.uint32))
    plain = [np.random.SeedSequence(seed, spawn_key=key) for key in keys]
    expected = [child.generate_state(4, np.uint64).tolist() for child in plain]
    assert found.tolist() == expected


@given(st.integers(1, 6), st.data())
def test_halves_with_equal_words_are_those_of_two_sorts(
    count: int, data: st.DataObject
) -> None:
    row = st.lists(words, min_size=count + 1, max_size=count + 1)
    table = np.array(data.draw(st.lists(row, min_size=1, max_size=4)), dtype=np.uint64)

    @dataclass(frozen=True)
    class Known(Source):
        def words(self, purpose: str, *each: int) -> Words:
            assert (purpose, each) == ("design", (count + 1,))
            return table

    found = _draws._halved(Known(7, ()), count)  # noqa: SLF001 - what is tested
    for sides, (*own, last) in zip(found, table, strict=True):
        place = np.argsort(np.argsort(np.array(own)))
        fewer = count // 2 + (int(last) >> 63) * (count % 2)
        assert sides.tolist() == (place >= fewer).tolist()


@given(st.integers(1, 7), st.data())
def test_scores_are_put_in_order_by_side_and_key(m: int, data: st.DataObject) -> None:
    def table(each: st.SearchStrategy[Any], kind: type[Any]) -> NDArray[Any]:
        row = st.lists(each, min_size=m, max_size=m)
        return np.array([data.draw(row), data.draw(row)], dtype=kind)

    sides, given_scores = table(st.integers(0, 1), np.int64), table(scores, np.float64)
    keys = table(words, np.uint64)
    found = _by_side(sides, keys, given_scores)
    for row in range(2):
        places = sorted(range(m), key=lambda i: (sides[row, i], int(keys[row, i]), i))
        assert found[row].tobytes() == given_scores[row, places].tobytes()


@given(st.lists(st.tuples(st.integers(0, 1), words, scores), min_size=1, max_size=9))
def test_packing_is_what_its_plain_twin_does(
    columns: list[tuple[int, int, float]],
) -> None:
    bits = (len(columns) - 1).bit_length()
    sides = np.array([[side for side, _, _ in columns]])
    keys = np.array([[key for _, key, _ in columns]], dtype=np.uint64)
    given_scores = np.array([[score for _, _, score in columns]])
    packed = packed_words(sides, keys, bits)
    plain = [
        side << 63 | (key >> 1 >> bits << bits) | place
        for place, (side, key, _) in enumerate(columns)
    ]
    assert packed[0].tolist() == plain
    ordered, close = unpacked_scores(np.sort(packed), given_scores, bits)
    upper = sorted(word >> bits for word in plain)
    assert close.tolist() == [len(set(upper)) < len(upper)]
    expected = [columns[word % (1 << bits)][2] for word in sorted(plain)]
    assert ordered[0].tolist() == expected


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=9), st.floats(0.01, 99))
def test_votes_of_the_usual_weight_are_what_any_weight_gives(
    pairs: list[tuple[float, float]], gamma: float
) -> None:
    first, second = (np.array([side]) for side in zip(*pairs, strict=True))
    with np.errstate(over="ignore"):
        chances = odd(rational(gamma), first - second)
    assert rational_votes(first, second, gamma).tolist() == chances.tolist()
    voted = votes(first, second, weight=rational(gamma))
    assert voted.tolist() == majority_probability(chances).tolist()
    assert votes(first[0], second[0], weight=rational(gamma)) == voted[0]


@given(st.lists(st.tuples(st.integers(0, 1), scores, scores), min_size=1))
def test_each_side_has_its_score(columns: list[tuple[int, float, float]]) -> None:
    sides, first, second = (np.array([part]) for part in zip(*columns, strict=True))
    found = scores_of_sides(sides, first, second)
    assert found.tolist() == np.where(sides, second, first).tolist()


def test_rules_leave_the_scores_they_are_given() -> None:
    def spoil(one: Floats, two: Floats) -> float:
        one[:], two[:] = 0.0, 0.0
        return 1.0

    one, two = np.array([[3.0, 1.0]]), np.array([[2.0, 5.0]])
    mean(one, two)
    votes(one, two)
    followed("median", one, two)
    followed(spoil, one, two)
    assert (one.tolist(), two.tolist()) == ([[3.0, 1.0]], [[2.0, 5.0]])


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if s.job == "compare"])
def test_tables_leave_no_trace(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(blocks: int) -> str:
        calls: list[tuple[int, int, float | None]] = []
        monkeypatch.setattr(_blocks, "TABLE_SCORES", blocks * 64 * scenario.reviewers)
        result = simulate(
            scenario,
            [*RULES, "guarded", first_higher] if scenario.reviewers > 1 else RULES,
            losses=["zero-one", "footrule"],
            trials=BLOCK * (CHECKED + 4) + 5,
            rng=7,
            progress=lambda *call: calls.append(call),
        )
        return json.dumps([result.to_dict(), calls])

    alone = run(0)
    assert run(3) == alone
    assert run(10**6) == alone


def counted(task: Task, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int, int]:
    """Count blocks that were run, tables that were drawn and streams opened."""
    tables: list[int] = []
    opened: list[str] = []

    def drawn(scenario: Scenario, seed: int, parts: Sequence[tuple[int, int]]) -> Any:  # noqa: ANN401 - a block
        tables.append(len(parts))
        return draw_table(scenario, seed, parts)

    def opening(seed: int, purposes: Sequence[str]) -> list[np.random.PCG64]:
        opened.extend(purposes)
        return streams(seed, purposes)

    with monkeypatch.context() as patch:
        patch.setattr(_blocks, "draw_table", drawn)
        patch.setattr(_draws, "streams", opening)
        blocks = len(list(run_blocks(task, workers=1, batch=1)))
    assert sum(tables) == blocks
    return blocks, len(tables), len(opened)


def test_work_grows_with_tables_not_with_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work(reviewers: int, blocks: int) -> tuple[int, int, int]:
        scenario = Scenario(reviewers=reviewers, scales="incremental")
        task = Task(scenario, RULES, ("zero-one",), 0, None, BLOCK * blocks, 7)
        return counted(task, monkeypatch)

    # Values, sides and pairing have a stream each; scales and noise need none here.
    assert work(100, 157) == (157, 5, 3 * 157)
    # 16, 32, 64, 128 and then 256 blocks at a time.
    assert work(2, 240 + 3 * TABLE_BLOCKS) == (1008, 7, 3 * 1008)


def test_each_rule_is_asked_once_for_each_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def watched(one: Floats, two: Floats) -> Floats:
        asked.append(len(one))
        return mean(one, two)

    monkeypatch.setattr("evenhand.ab.rules.mean", watched)
    simulate(Scenario(), "mean", trials=BLOCK * 48, rng=7)
    # The first is a look at the options.
    assert asked == [1, BLOCK * FIRST_BLOCKS, BLOCK * (48 - FIRST_BLOCKS)]


def test_tables_are_bounded() -> None:
    def blocks(scenario: Scenario, *methods: Any, weight: Any = None) -> int:  # noqa: ANN401 - whatever a task takes
        return table_blocks(Task(scenario, methods, ("zero-one",), 0, weight, 2, 7))

    assert blocks(Scenario(reviewers=10**6), "mean") == 1
    assert blocks(Scenario(reviewers=100), "mean") * 100 * BLOCK <= 1 << 18
    assert blocks(Scenario(reviewers=2), "mean") == TABLE_BLOCKS
    assert blocks(Scenario(job="rank"), "mean") == 1
    # What is the user's own never runs beyond where a run may end.
    assert FIRST_BLOCKS == CHECKED
    own: list[Callable[[], int]] = [
        lambda: blocks(Scenario(), "mean", first_higher),
        lambda: blocks(Scenario(scales=cubes), "mean"),
        lambda: blocks(Scenario(), "votes", weight=lambda gap: gap / (2 + gap)),
    ]
    assert [each() for each in own] == [FIRST_BLOCKS] * 3


def test_a_batch_is_cut_into_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(Scenario(reviewers=5), RULES, ("zero-one",), 0, None, 64 * 5 + 9, 7)
    alone = [run_batch(task, [number])[0] for number in task.blocks()]
    monkeypatch.setattr(_blocks, "TABLE_SCORES", 4 * 64 * 5)
    together = run_batch(task, task.blocks())
    assert [repr(tally) for tally in together] == [repr(tally) for tally in alone]


def test_blocks_before_one_that_cannot_be_are_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = Task(Scenario(), ("mean",), ("zero-one",), 0, None, 64 * 9, 7)
    run_as_it_is = _blocks._runner(task)  # noqa: SLF001 - put in its place

    def failing(parts: Sequence[tuple[int, int]]) -> Any:  # noqa: ANN401 - as it gives
        if any(number == 5 for number, _ in parts):
            raise OptionError("scores must be finite.")
        return run_as_it_is(parts)

    expected = [repr(tally) for tally in run_batch(task, range(5))]
    monkeypatch.setattr(_blocks, "_runner", lambda _: failing)
    given_tallies: list[Tally] = []
    with pytest.raises(OptionError, match="finite") as caught:
        given_tallies.extend(run_blocks(task, workers=1, batch=1))
    assert [repr(tally) for tally in given_tallies] == expected
    assert caught.value.__context__ is None


@given(scores, scores)
def test_single_scores_are_in_the_order_of_their_decimals(a: float, b: float) -> None:
    exact = [[Fraction(repr(score))] for score in (a, b)]
    assert mean([a], [b]) == mean(*exact)
    twice = mean([a, a], [b, b])
    assert mean([a], [b]) == twice

"""Theorem S, exactly: no way of stopping gains evidence between equal items."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.ab.evidence import (
    STEEPNESS,
    Monitor,
    bets,
    lead,
    log_factors,
    places,
    watch,
    watch_blocks,
)
from evenhand.ab.law import count_sides
from evenhand.errors import EvenhandError
from tests.commands import run

if TYPE_CHECKING:
    from collections.abc import Callable

Items = tuple[bool, ...]
Past = tuple[float, ...]
ONE, HALF = Fraction(1), Fraction(1, 2)
LEVELS = (1.0, 2.0, 3.0)
# What a reviewer would give the first and the second item, the first no better.
PAIRS = [pair for pair in product(LEVELS, LEVELS) if pair[0] <= pair[1]]


@cache
def exact_bets(past: Past, score: float, share: Fraction) -> tuple[Fraction, ...]:
    """Return the bets of the library on a score, as the exact numbers they are."""
    place = places(np.array([*past, score]))[-1:]
    q = bets(place, np.array([float(share)]))[0, : len(STEEPNESS)]
    return tuple(map(Fraction, q.tolist()))


def best_stop(
    table: tuple[tuple[float, float], ...],
    share_of: Callable[[Items, Past], Fraction],
    silent: int = -1,
    at: int = 0,
    **history: Any,  # noqa: ANN401 - of three kinds
) -> Fraction:
    """Return the largest mean of the evidence that any stopping rule reaches."""
    evidence = history.get("evidence", (ONE,) * len(STEEPNESS))
    past, items = history.get("past", ()), history.get("items", ())
    now = sum(evidence, Fraction()) / len(evidence)
    if at == len(table):
        return now
    share, going_on = share_of(items, past), Fraction()
    for first in (True, False):
        chance = share if first else 1 - share
        if not chance:
            continue
        score, after = table[at][not first], evidence
        seen = (at != silent) and 0 < share < 1
        if seen:
            q = exact_bets(past, score, share)
            bet = q if first else tuple(1 - part for part in q)
            after = tuple(e * b / chance for e, b in zip(evidence, bet, strict=True))
        following = {
            "evidence": after,
            "past": (*past, score) if (at != silent) else past,
            "items": (*items, first),
        }
        going_on += chance * best_stop(table, share_of, silent, at + 1, **following)
    return max(now, going_on)


def coins(_: Items, __: Past) -> Fraction:
    return HALF


def uneven(_: Items, __: Past) -> Fraction:
    return Fraction(1, 8)


def halves(items: Items, _: Past) -> Fraction:
    """Two places for each item were planned."""
    return Fraction(2 - sum(items), 4 - len(items))


def adaptive(items: Items, past: Past) -> Fraction:
    """Give the item that did better the next reviewer more often."""
    wins = sum(
        score if first else -score for first, score in zip(items, past, strict=True)
    )
    return Fraction(3, 4) if wins > 0 else Fraction(1, 4)


@pytest.mark.parametrize("share_of", [coins, uneven, halves, adaptive])
def test_no_stopping_rule_gains_between_items_of_which_the_first_is_no_better(
    share_of: Callable[[Items, Past], Fraction],
) -> None:
    # Every table of what four reviewers on three levels would give; the last reviewer's
    # level pairs are thinned to those that differ most.
    for table in product(PAIRS, PAIRS, PAIRS, [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]):
        assert best_stop(table, share_of) <= 1, table


def test_silent_reviewers_take_a_place_and_cost_nothing() -> None:
    for table in product(PAIRS, repeat=3):
        full = (*table, (2.0, 2.0))
        assert best_stop(full, halves, silent=1) <= 1


def test_a_better_first_item_gains() -> None:
    assert best_stop(((3.0, 1.0),) * 4, coins) > 1


def sup_of_mean(
    evidence_of: Callable[[Items], Fraction],
    chance_of: Callable[[Items], Fraction],
    items: Items = (),
) -> Fraction:
    """Return the best mean of a process between equal items, by its own factors."""
    now, going_on = evidence_of(items), Fraction()
    if len(items) == 10:
        return now
    share = chance_of(items)
    for first in (True, False):
        chance = share if first else 1 - share
        if chance:
            going_on += chance * sup_of_mean(evidence_of, chance_of, (*items, first))
    return max(now, going_on)


def from_data(items: Items) -> Fraction:
    """Bet 9 to 1 on the first, with the places that the data at hand happen to have."""
    evidence, q = ONE, Fraction(9, 10)
    for at, first in enumerate(items):
        share = Fraction(sum(items[at:]), len(items) - at)
        if 0 < share < 1:
            evidence *= q / share if first else (1 - q) / (1 - share)
    return evidence


def test_places_counted_from_the_data_at_hand_are_no_evidence() -> None:
    def places_left(items: Items) -> Fraction:
        return Fraction(5 - sum(items), 10 - len(items))

    assert round(float(sup_of_mean(from_data, places_left)), 2) == 3.08
    assert round(float(sup_of_mean(from_data, lambda _: HALF)), 2) == 2.23


def test_the_order_of_answers_is_no_order_of_bets() -> None:
    # Item 1 is answered first: of those who answered now nine in ten have it.
    share, q = Fraction(9, 10), Fraction(9, 10)
    assert share * q / HALF + (1 - share) * (1 - q) / HALF > Fraction(16, 10)


def exact_lead(items: Items, scores: Past) -> Fraction:
    """Return the lead of a block, as the exact number that its float is."""
    sides = [
        np.array([s for s, first in zip(scores, items, strict=True) if first == side])
        for side in (True, False)
    ]
    return Fraction(lead(*count_sides(*sides)))


@pytest.mark.parametrize("halves_within", [False, True])
def test_the_lead_of_a_block_has_no_positive_mean(halves_within: bool) -> None:  # noqa: FBT001 - of pytest
    # Every table of what four reviewers on three levels would give.
    draws = list(product((True, False), repeat=4))
    if halves_within:
        draws = [z for z in draws if sum(z) == 2]
    for table in product(PAIRS, repeat=4):
        total = Fraction()
        for items in draws:
            scores = tuple(
                pair[not first] for pair, first in zip(table, items, strict=True)
            )
            total += exact_lead(items, scores)
        assert total <= 0, table


def test_unequal_coins_and_days_of_answers_are_no_blocks() -> None:
    # Equal items, a ramp within the block: who scores high gets the first item with
    # probability 3/4, who scores low with 1/4.
    mean = Fraction()
    for items in product((True, False), repeat=2):
        chance = Fraction(1)
        for first, share in zip(items, (Fraction(3, 4), Fraction(1, 4)), strict=True):
            chance *= share if first else 1 - share
        mean += chance * exact_lead(items, (2.0, 1.0))
    assert mean > 0
    # Coins; the first item is answered at once, the second at once by low scorers only.
    mean = Fraction()
    for items in product((True, False), repeat=2):
        seen = [
            (first, score)
            for first, score in zip(items, (1.0, 2.0), strict=True)
            if first or score == 1
        ]
        sides, marks = zip(*seen, strict=True) if seen else ((), ())
        mean += Fraction(1, 4) * exact_lead(sides, marks)
    assert mean > 0


def test_a_day_of_one_halves_design_is_no_block() -> None:
    # Halves of six in two days of three; second-day scores 0, 1, 1; bet all on the
    # sign of the difference of means if day one had two of the first item.
    values, total, draws = (0, 1, 1), Fraction(), 0
    for items in product((0, 1), repeat=6):
        if sum(items) != 3:
            continue
        draws += 1
        day = list(zip(items[3:], values, strict=True))
        ones = [score for item, score in day if item]
        others = [score for item, score in day if not item]
        sign = 0
        if ones and others:
            gap = Fraction(sum(ones), len(ones)) - Fraction(sum(others), len(others))
            sign = (gap > 0) - (gap < 0)
        total += 1 + (sign if sum(items[:3]) == 2 else 0)
    assert total / draws == Fraction(23, 20)


def test_factors_are_what_the_bets_pay() -> None:
    rng = np.random.default_rng(36)
    place, share = rng.uniform(-1, 1, 200), rng.uniform(0.05, 0.95, 200)
    first = rng.random(200) < share
    q = bets(place, share)
    paid = np.where(first, q.T / share, (1 - q.T) / (1 - share)).T
    assert np.allclose(np.exp(log_factors(first, place, share)), paid, rtol=1e-12)


@pytest.mark.parametrize("planned", [None, (600, 600)])
def test_a_monitor_says_what_the_whole_says(planned: tuple[int, int] | None) -> None:
    rng = np.random.default_rng(36)
    first = rng.permuted(np.arange(1200) % 2 == 0)
    scores = np.round(rng.normal(size=1200) + 0.1 * first, 1)
    share = np.full(1200, 0.5)
    if planned:
        given_out = np.concatenate([[0], np.cumsum(first)[:-1]])
        share = (600 - given_out) / (1200 - np.arange(1200))
    monitor = Monitor(("A", "B"), "halves" if planned else "coins", planned=planned)
    for at, (is_first, score) in enumerate(zip(first, scores, strict=True)):
        monitor.add("A" if is_first else "B", score)
        if at == 1100:
            monitor = Monitor.from_dict(json.loads(json.dumps(monitor.to_dict())))
    whole, state = watch(first, scores, share, ("A", "B")), monitor.state
    assert (state.settled, state.settled_at) == (whole.settled, whole.settled_at)
    for name in ("e_first", "e_second", "e_value", "p_value"):
        assert getattr(state, name) == pytest.approx(getattr(whole, name), rel=1e-9)


def test_swapping_the_items_swaps_the_evidence() -> None:
    rng = np.random.default_rng(7)
    first, scores = rng.random(300) < 0.5, rng.normal(size=300)
    one = watch(first, scores, np.full(300, 0.5), ("A", "B"))
    two = watch(~first, scores, np.full(300, 0.5), ("B", "A"))
    assert one.e_first == pytest.approx(two.e_second, rel=1e-12)
    assert one.interval is not None
    assert two.interval is not None
    assert one.interval == pytest.approx((-two.interval[1], -two.interval[0]))


def test_the_interval_covers_a_constant_shift() -> None:
    # 60 watches of 120 scores; more than 15 misses of a 95% interval have a chance
    # below 1e-6.
    rng = np.random.default_rng(8)
    misses = 0
    for _ in range(60):
        first = rng.random(120) < 0.5
        scores = rng.normal(size=120) + 1.5 * first
        interval = watch(first, scores, np.full(120, 0.5), ("A", "B")).interval
        assert interval is not None
        misses += not interval[0] <= 1.5 <= interval[1]
    assert misses <= 15


@pytest.mark.parametrize(
    ("options", "added", "message"),
    [
        ({"items": ("A", "A")}, None, "items must be two different labels"),
        ({"alpha": 2}, None, "alpha must be between 0 and 1"),
        ({"design": "panels"}, None, "design must be 'coins' or 'halves'"),
        ({"design": "halves"}, None, "planned must be the planned places"),
        ({}, ("C", 3), "item must be 'A' or 'B', got 'C'"),
        ({}, ("A", float("nan")), "score must be"),
        ({}, ("A", 3, 1.5), "probability must be between 0 and 1"),
        (
            {"design": "halves", "planned": (0, 1)},
            ("A", 3),
            "planned places must be enough",
        ),
    ],
)
def test_what_cannot_be_watched_is_refused(
    options: dict[str, Any], added: tuple[Any, ...] | None, message: str
) -> None:
    with pytest.raises(EvenhandError, match=message):
        Monitor(**options).add(*(added or ("A", 1)))


def ab_frame(size: int = 400, times: int = 400) -> pl.DataFrame:
    """Make an A/B test in which B is better, of people without a name."""
    rng = np.random.default_rng(9)
    is_b = rng.random(size) < 0.5
    return pl.DataFrame(
        {
            "variant": np.where(is_b, "B", "A"),
            "stars": np.clip(np.round(3 + rng.normal(size=size) + is_b), 1, 5),
            "when": np.arange(size) * times // size,
            "share": np.full(size, 0.5),
        }
    ).with_columns(day=pl.lit("2026-05-") + (1 + pl.col("when") // 20).cast(str))


COLUMNS: Any = {"item": "variant", "score": "stars", "rng": 7}


def test_compare_watches_in_the_order_of_assignment() -> None:
    frame = ab_frame()
    result = eh.compare(
        frame, sequential=True, order="when", design="coins", **COLUMNS
    ).sequential
    assert result is not None
    whole = watch(
        frame["variant"].to_numpy() == "A",
        frame["stars"].to_numpy(),
        np.full(400, 0.5),
        ("A", "B"),
    )
    assert result == whole
    assert result.settled == "B"
    mixed = frame.sample(fraction=1, shuffle=True, seed=1)
    by_share: Any = {"order": "when", "probability": "share"}
    again = eh.compare(mixed, sequential=True, **by_share, **COLUMNS).sequential
    assert again == whole


def test_the_plot_of_a_watch_is_its_evidence_with_the_line_that_settles() -> None:
    more: Any = {"order": "when", "design": "coins", "sequential": True}
    chart = eh.compare(ab_frame(60), **COLUMNS, **more).plot().to_dict()
    line, rule = chart["layer"]
    data = chart["datasets"]
    assert len(data[line["data"]["name"]]) == 60
    assert data[rule["data"]["name"]] == [{"e_value": 20.0}]
    assert line["encoding"]["y"]["scale"] == {"type": "log"}


def test_the_order_of_people_assigned_at_once_is_of_no_matter() -> None:
    rng = np.random.default_rng(10)
    first, scores = rng.random(3000) < 0.5, rng.integers(1, 6, 3000).astype(float)
    times, share = np.arange(3000.0) // 250, np.full(3000, 0.5)
    one = watch(first, scores, share, ("A", "B"), times=times)
    mixed = np.lexsort((scores, first, times))
    two = watch(first[mixed], scores[mixed], share, ("A", "B"), times=times)
    assert (one.settled_at, one.interval) == (two.settled_at, two.interval)
    assert one.e_value == pytest.approx(two.e_value, rel=1e-9)
    assert {look.n % 250 for look in one.looks} == {0}
    # Nobody came before, so nothing can be held against anything.
    assert watch(first, scores, share, ("A", "B"), times=0 * times).p_value == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": "coins"}, "Name its column with order= or --order"),
        ({"order": "when"}, "declare design 'coins', or name their column"),
        ({"order": "when", "design": "halves"}, "planned= or --planned"),
        ({"order": "when", "planned": (9, 9)}, "for halves, and for nothing else"),
        (
            {"order": "when", "design": "halves", "planned": (200, 9)},
            r"planned must be at least \d+ and \d+, got \(200, 9\)",
        ),
        (
            {"order": "when", "design": "coins", "window": "2 weeks"},
            "window must be a time such as 3d",
        ),
        (
            {"order": "when", "design": "coins", "window": "3d"},
            "answered= or --answered",
        ),
        (
            {"order": "variant", "design": "coins"},
            "variant must be a number, or a time",
        ),
        ({"order": "when", "probability": "stars"}, "stars must be between 0 and 1"),
        ({"order": "when", "design": "coins", "alpha": 0}, "alpha must be between"),
    ],
)
def test_a_watch_without_what_it_needs_is_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(EvenhandError, match=message):
        eh.compare(ab_frame(), sequential=True, **options, **COLUMNS)


def test_times_are_read_as_times() -> None:
    frame = ab_frame(times=400)
    by_day: Any = {"sequential": True, "design": "coins"}
    days = eh.compare(frame, order="day", **by_day, **COLUMNS).sequential
    numbered = frame.with_columns(number=pl.col("when") // 20)
    assert days == eh.compare(numbered, order="number", **by_day, **COLUMNS).sequential


def test_planned_halves_are_watched_as_by_a_monitor() -> None:
    frame = ab_frame().with_columns(
        half=np.random.default_rng(4).permuted([0, 1] * 200)
    )
    monitor = Monitor((0, 1), "halves", planned=(210, 220))
    for item, score in frame.select("half", "stars").rows():
        monitor.add(item, score)
    named: Any = {**COLUMNS, "item": "half", "order": "when", "sequential": True}
    more: Any = {"design": "halves", "planned": (210, 220)}
    watch_of_all = eh.compare(frame, **named, **more).sequential
    assert watch_of_all is not None
    assert watch_of_all.e_value == pytest.approx(monitor.state.e_value, rel=1e-9)


def test_matched_pairs_are_blocks() -> None:
    rng = np.random.default_rng(5)
    is_b = np.stack([first := rng.random(80) < 0.5, ~first], axis=1).ravel()
    frame = pl.DataFrame(
        {
            "variant": np.where(is_b, "B", "A"),
            "stars": rng.normal(size=160) + is_b,
            "who": np.arange(160),
            "pair": np.arange(160) // 2,
            "when": np.arange(160),
        }
    )
    more: Any = {"reviewer": "who", "pair": "pair", "design": "matched"}
    result = eh.compare(
        frame, **COLUMNS, **more, order="when", sequential=True
    ).sequential
    pairs = frame["stars"].to_numpy().reshape(80, 2)
    signs = np.sign(pairs[:, 0] - pairs[:, 1]) * np.where(is_b[::2], -1, 1)
    assert result == watch_blocks(signs.tolist(), [2] * 80, ("A", "B"))
    assert result is not None
    assert result.settled == "B"


def test_late_answers_and_those_who_still_have_time_do_not_count() -> None:
    took = np.random.default_rng(6).exponential(30, 400)
    frame = ab_frame().with_columns(came=pl.col("when") + pl.Series(took))
    named: Any = {**COLUMNS, "order": "when", "design": "coins", "sequential": True}
    result = eh.compare(frame, **named, answered="came", window=60)
    now = float((np.arange(400) + took).max())
    kept = frame.filter((pl.Series(took) <= 60) & (pl.col("when") <= now - 60))
    alone = eh.compare(kept, **named).sequential
    assert result.sequential == alone
    facts = {notice.code: notice.facts for notice in result.notices}["outside_window"]
    assert facts["items"] == ["A", "B"]
    assert sum(facts["in_time"]) == kept.height  # type: ignore[arg-type]


def test_answer_times_alone_are_an_assumption_with_shares() -> None:
    named: Any = {**COLUMNS, "answered": "when", "design": "coins", "sequential": True}
    result = eh.compare(ab_frame(), **named)
    facts = {notice.code: notice.facts for notice in result.notices}
    assert str(facts["ordered_by_answers"]["shares"]).count("%") == 5


def test_counts_by_day_are_blocks(tmp_path: Path) -> None:
    frame, counted = ab_frame(times=400), str(tmp_path / "counts.csv")
    table = str(tmp_path / "ab.csv")
    frame.with_columns(who=pl.int_range(400)).write_csv(table)
    columns = ("--reviewer", "who", "--item", "variant", "--score", "stars")
    done = run("count", table, *columns, "--by", "day", "-o", counted)
    assert done.exit_code == 0, done.output
    watched: Any = {"sequential": True, "design": "coins", "order": "day", "rng": 7}
    result = eh.compare(counted, **watched).sequential
    leads, sizes = [], []
    for day in sorted(set(frame["day"]), key=lambda text: int(text.split("-")[-1])):
        block = frame.filter(pl.col("day") == day)
        sides = (
            block.filter(pl.col("variant") == item)["stars"].to_numpy() for item in "AB"
        )
        leads.append(lead(*count_sides(*sides)))
        sizes.append(block.height)
    assert result == watch_blocks(leads, sizes, ("A", "B"))
    with pytest.raises(EvenhandError, match="a day of one draw of halves is not"):
        eh.compare(counted, **{**watched, "design": "halves"})
    with pytest.raises(EvenhandError, match="evenhand count --by day"):
        eh.compare(eh.read_counts(counted), sequential=True, design="coins")


def test_the_record_of_a_watch_is_audited(tmp_path: Path) -> None:
    table, record = str(tmp_path / "ab.csv"), str(tmp_path / "r.json")
    ab_frame(120).with_columns(who=pl.int_range(120)).write_csv(table)
    columns = ("--reviewer", "who", "--item", "variant", "--score", "stars")
    watched = ("--sequential", "--order", "day", "--design", "coins", "--seed", "1")
    result = run("compare", table, *columns, *watched, "--record", record)
    assert result.exit_code == 0, result.output
    assert "--order day" in result.stderr
    audit = run("audit", record, table, *columns, "--order", "day")
    assert audit.exit_code == 0, audit.output
    text = Path(record).read_text("utf-8")
    forged = re.sub(r'("e_first": ?)0', r"\g<1>9", text)
    assert forged != text
    Path(record).write_text(forged, "utf-8")
    assert run("audit", record, table, *columns, "--order", "day").exit_code == 1

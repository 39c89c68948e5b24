"""Few reviews beside many: what an order by estimate and one by share answer."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import evenhand as eh
from evenhand.errors import OptionError
from evenhand.ratings import Ratings
from tests.commands import run

if TYPE_CHECKING:
    from pathlib import Path

K = 10


@cache
def films() -> Ratings:
    """Return 300 films, of which 30 have 60 to 120 reviews and the others 1 or 2."""
    rng = np.random.default_rng(9)
    counts = np.append(rng.integers(60, 120, 30), rng.integers(1, 3, 270))
    values, offsets = 0.5 * rng.normal(size=300), 0.4 * rng.normal(size=150)
    people = [rng.choice(150, count, replace=False) for count in counts]
    items = np.repeat(np.arange(300), counts)
    who = np.concatenate(people)
    scores = 3.5 + values[items] + offsets[who] + 0.8 * rng.normal(size=len(who))
    scores = np.clip(np.round(2 * scores) / 2, 0.5, 5)
    return Ratings(who.tolist(), [f"f{item}" for item in items], scores)


@cache
def ranked(top: int | str = K) -> eh.Ranking:
    return eh.rank(films(), top=top, rng=7)


def warnings(result: eh.Ranking) -> dict[str, str]:
    return {one.code: one.message for one in result.notices}


def test_no_interval_is_stretched_to_the_rank() -> None:
    sure = ranked().uncertainty
    assert sure is not None
    ranks = np.sort(np.asarray(sure._ranks), axis=0)  # noqa: SLF001 - what was drawn
    out = len(ranks) // 20
    assert sure.rank_low.tolist() == ranks[out].tolist()
    assert sure.rank_high.tolist() == ranks[-1 - out].tolist()


def test_a_rank_outside_its_interval_is_said_with_its_facts() -> None:
    result = ranked()
    outside = [
        row
        for row in result.items
        if row.rank_low is not None
        and row.rank_high is not None
        and not row.rank_low <= row.rank <= row.rank_high
    ]
    assert outside
    text = warnings(result)["rank_outside_interval"]
    assert text.startswith(f"{len(outside)} of 300 items have a rank outside their 90%")
    (most,) = (row for row in outside if f"{row.item!r} (rank {row.rank}," in text)
    assert f"ranks {most.rank_low} to {most.rank_high})" in text
    ordinary = eh.rank(eh.read_ratings("examples/panel.csv"), top=4, rng=7)
    assert {"rank_outside_interval", "likelier_by_share"}.isdisjoint(warnings(ordinary))


def test_an_item_whose_rank_and_interval_disagree_at_the_cut_is_open() -> None:
    result = ranked()
    for row in result.items:
        assert row.rank_low is not None
        assert row.rank_high is not None
        ends = (min(row.rank, row.rank_low), max(row.rank, row.rank_high))
        side = "in" if ends[1] <= K else "out" if ends[0] > K else "open"
        assert row.side == side
    chosen = [row for row in result.items[:K] if (row.rank_low or 0) > K]
    assert chosen
    assert {row.side for row in chosen} == {"open"}
    assert "crosses the cut, or lies on the other side of it than its rank" in repr(
        result
    )


def test_the_likeliest_hold_more_of_the_true_best_and_a_sentence_says_so() -> None:
    by_rank, by_share = ranked(), ranked(f"share={K}")
    places = [
        sum(row.p_top or 0 for row in result.items[:K])
        for result in (by_rank, by_share)
    ]
    assert by_rank.uncertainty is not None
    chosen, best = by_rank.uncertainty.expected_places(K)
    assert chosen == pytest.approx(places[0])
    assert chosen < best <= places[1]
    assert warnings(by_rank)["likelier_by_share"].startswith(
        f"By rank these {K} hold {chosen:.1f} of the true best {K} on average; the {K} "
        f"with the largest shares would hold {best:.1f}."
    )
    assert f"--top share={K}" in warnings(by_rank)["likelier_by_share"]
    assert "likelier_by_share" not in warnings(by_share)


def test_by_share_the_largest_shares_come_first_and_the_others_keep_their_order() -> (
    None
):
    by_rank, by_share = ranked(), ranked(f"share={K}")
    assert by_share.by_share
    assert not by_rank.by_share
    shares = by_rank.p_top(K)
    assert [row.p_top for row in by_share.items[:K]] == sorted(shares.values())[
        : -K - 1 : -1
    ]
    rest = set(by_share.order[K:])
    assert by_share.order[K:] == tuple(item for item in by_rank.order if item in rest)
    intervals = {row.item: (row.rank_low, row.rank_high) for row in by_rank.items}
    assert intervals == {
        row.item: (row.rank_low, row.rank_high) for row in by_share.items
    }


def test_a_record_by_share_replays(tmp_path: Path) -> None:
    file, record = tmp_path / "films.csv", tmp_path / "record.json"
    films().to_frame().write_csv(file)
    asked = ("--top", f"share={K}", "--seed", "7", "--json", "--record", str(record))
    made = json.loads(run("rank", str(file), *asked).stdout)
    assert made["parameters"]["top"] == f"share={K}"
    assert made["top"]["k"] == K
    assert made["order"] == list(ranked(f"share={K}").order)
    said = run("audit", str(record), str(file))
    assert said.exit_code == 0, said.output
    assert "give this result again" in said.output


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ("best=3", "top must be a whole number from 1 to 12, .* got 'best=3'."),
        ("4", "top must be a whole number from 1 to 12, .* got '4'."),
        ("share=", "top must be a whole number, or share= and one, got 'share='."),
        ("share=0", "top must be a whole number from 1 to 12"),
        ("share=13", "top must be a whole number from 1 to 12"),
        (2.5, "top must be a whole number from 1 to 12"),
    ],
)
def test_another_top_is_refused(top: object, words: str) -> None:
    panel = eh.read_ratings("examples/panel.csv")
    with pytest.raises(OptionError, match=words):
        eh.rank(panel, top=top, rng=7)  # type: ignore[arg-type]  # what users try


def test_only_models_choose_by_share() -> None:
    panel = eh.read_ratings("examples/panel.csv")
    for method in ("safe", "borda"):
        with pytest.raises(
            OptionError, match="method must be adaptive, additive, bradl"
        ):
            eh.rank(panel, method=method, top="share=4", rng=7)
    for method in ("additive", "bradley-terry", "mean"):
        assert eh.rank(panel, method=method, top="share=4", rng=7).by_share


def test_counts_of_pairs_choose_by_share_too() -> None:
    from evenhand.engines.pairs import count_pairs  # noqa: PLC0415 - one test's

    panel = eh.read_ratings("examples/panel.csv")
    pairs = count_pairs(panel.to_frame().lazy())
    result = eh.rank(pairs, method="bradley-terry", top="share=4", rng=7)
    assert result.by_share


def test_the_report_says_what_is_left_out_by_share(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    panel = eh.read_ratings("examples/panel.csv")
    eh.rank(panel, top="share=4", rng=7).report(str(page))
    text = page.read_text(encoding="utf-8")
    assert "The first items were chosen by share" in text
    assert "top=&#39;share=4&#39;" in text

"""Ranks that hold for all items at once."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.ranking import simultaneous
from evenhand.records.record import decision_record, text_of
from evenhand.records.replay import audit
from evenhand.words.pictures import ranking_rows

MODELS, PROMPTS, JUDGES = 6, 60, 2


def judged(seed: int, values: Any, prompts: int = PROMPTS) -> eh.Ratings:  # noqa: ANN401 - a list
    """Draw scores of models by judges who share what a prompt does to each model."""
    rng = np.random.default_rng(seed)
    values = np.asarray(values)
    shared = rng.normal(size=(prompts, 1, len(values)))
    scores = values + shared + 0.5 * rng.normal(size=(prompts, JUDGES, len(values)))
    people, items = np.divmod(np.arange(scores.size), len(values))
    return eh.Ratings(people, items, np.round(scores.ravel(), 2))


def by_prompt(ratings: eh.Ratings) -> Any:  # noqa: ANN401 - clusters
    return {who: int(who) // JUDGES for who in ratings.reviewer_labels}


def test_signs_are_those_of_every_turn_worked_out_by_hand() -> None:
    # Eight prompts, all won by the first: of all 256 turns the largest statistic of two
    # items is 8 / sqrt(8) in 2, and 2 / 256 is below the least share, .5%, that a
    # rejection needs; of five prompts 2 / 32 is above 5%.
    for number, sure in ((8, True), (5, False), (4, False)):
        people, items = np.divmod(np.arange(2 * number), 2)
        ratings = eh.Ratings(people, items, -items)
        assert simultaneous.from_signs(ratings, None, 7)[0, 1] == sure
    turns = np.array([*itertools.product([-1, 1], repeat=8)])
    assert np.mean(np.abs(turns.sum(axis=1)) >= 8) == 2 / 256


def test_prompts_of_several_judges_count_once() -> None:
    ratings = judged(3, [0.0, 0.3], prompts=20)
    codes = ratings.reviewer_codes // JUDGES
    # Thrice the same judges add nothing to a prompt.
    again = [(ratings.reviewer_codes + 40 * copy) for copy in range(3)]
    many = eh.Ratings(
        np.concatenate(again),
        np.tile(ratings.item_codes, 3),
        np.tile(ratings.scores, 3),
    )
    prompts = (many.reviewer_codes % 40) // JUDGES
    first = simultaneous.from_signs(ratings, codes, 7)
    assert simultaneous.from_signs(many, prompts, 7).tolist() == first.tolist()


def test_any_increasing_scale_of_each_reviewer_gives_the_same_sets() -> None:
    ratings = judged(5, np.linspace(0, 1, MODELS))
    power = 1 + ratings.reviewer_codes % 3
    warped = np.exp(ratings.scores * power) * 7 - ratings.reviewer_codes
    again = eh.Ratings(ratings.reviewer_codes, ratings.item_codes, warped)
    codes = ratings.reviewer_codes // JUDGES
    sets = [simultaneous.from_signs(data, codes, 7) for data in (ratings, again)]
    assert sets[0].any()
    assert sets[0].tolist() == sets[1].tolist()


def false_alarms(draw: Any, number: int) -> int:  # noqa: ANN401 - a function
    """Count sets of equal items of which any is said to be above another."""
    return sum(bool(draw(seed).any()) for seed in range(number))


def test_equal_items_are_told_apart_in_five_of_a_hundred_sets() -> None:
    # Of 400 sets 20 are expected and above 43 one in a million, below 4 as many.
    def draw(seed: int) -> Any:  # noqa: ANN401 - an array
        ratings = judged(seed, np.zeros(MODELS), prompts=40)
        return simultaneous.from_signs(ratings, ratings.reviewer_codes // JUDGES, seed)

    assert 3 < false_alarms(draw, 400) < 44


def test_redraws_of_few_clusters_keep_the_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(simultaneous, "DRAWS", 399)

    # Means of eight clusters, redrawn: normal critical values would be wrong in 14% of
    # sets, and 400 sets have more than 44 in less than one of a million at 5%.
    def draw(seed: int) -> Any:  # noqa: ANN401 - an array
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(8, 4))
        lots = rng.integers(8, size=(200, 7))
        redraws = rows[lots].mean(axis=1)
        return simultaneous.from_redraws(rows.mean(axis=0), redraws, 8, seed)

    assert false_alarms(draw, 400) < 45


def test_sets_of_values_hold_in_95_of_100_draws_and_no_more_can() -> None:
    rng = np.random.default_rng(7)
    draws = rng.normal([0.0, 0.5, 1.5, 2.0], 0.5, size=(2000, 4))
    above = simultaneous.from_values(draws)
    gaps = draws[:, :, None] > draws[:, None, :]
    share = float((gaps | ~above).all(axis=(1, 2)).mean())
    assert share >= 0.95
    means = draws.mean(axis=0)
    clear = (means[:, None] > means) & ~above
    worth = (means[:, None] - means) / np.sqrt(2)
    following = np.unravel_index(np.argmax(np.where(clear, worth, -1)), above.shape)
    above[following] = True
    assert (gaps | ~above).all(axis=(1, 2)).mean() < 0.95


def test_a_ranking_has_both_kinds_of_ranks_and_says_which_is_for_what() -> None:
    ratings = judged(11, [0.0, 0.0, 0.1, 1.0, 1.05, 1.1])
    options: Any = {"cluster": by_prompt(ratings), "method": "centred", "rng": 7}
    found = eh.rank(ratings, simultaneous=True, **options)
    plain = eh.rank(ratings, **options)
    assert found.order == plain.order
    low, high = found.uncertainty.ranks_at_once  # type: ignore[union-attr,misc]  # asked for
    for row, usual in zip(found.items, plain.items, strict=True):
        assert (row.rank_low, row.rank_high) == (usual.rank_low, usual.rank_high)
        assert row.rank_low_all == low[int(row.item)]
        assert row.rank_high_all == high[int(row.item)]
    assert "rank_low_all" not in plain.rows()[0]
    assert found.rows()[0]["rank_low_all"] == 1
    assert found.to_frame()["rank_high_all"].dtype == pl.Int64
    assert "items may be first (95%, all statements at once): " in repr(found)
    assert '"all at once" holds for all items together (95%)' in repr(found)
    # The two groups of equal models are the groups of the table and of its picture.
    assert [sorted(map(int, group)) for group in found.buckets] == [
        [3, 4, 5],
        [0, 1, 2],
    ]
    bars = ranking_rows(found)
    assert [row.edge for row in bars.rows] == [False] * 3 + [True] + [False] * 2
    assert bars.columns["all at once"][1] == [
        f"{row.rank_low_all}\u2013{row.rank_high_all}" for row in found.items
    ]


def test_top_and_common_items_keep_them() -> None:
    ratings = judged(11, [0.0, 0.0, 0.1, 1.0, 1.05, 1.1])
    options: Any = {"cluster": by_prompt(ratings), "simultaneous": True, "rng": 7}
    options["method"] = "centred"
    for top in (2, "share=2"):
        found = eh.rank(ratings, top=top, **options)
        assert found.items[-1].rank_low_all == 4


def test_a_record_of_it_is_replayed(tmp_path: Any) -> None:  # noqa: ANN401 - a path
    ratings = judged(11, [0.0, 0.5, 2.0])
    found = eh.rank(ratings, simultaneous=True, rng=7)
    path = tmp_path / "decision.json"
    path.write_text(text_of(decision_record(found, None)))
    assert audit(path, ratings).identical
    path.write_text(path.read_text().replace('"rank_low_all":2', '"rank_low_all":1'))
    assert not audit(path, ratings).identical


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"method": "safe"}, "for a method that gives items values, such as adaptive, unl"),
    ({"simultaneous": 1}, "simultaneous must be True or False, got 1"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_cannot_be_said_at_once_is_refused(
    options: dict[str, Any], message: str
) -> None:
    ratings = eh.Ratings(list("aabbcc"), list("xyyzzx"), [2, 1, 2, 1, 1, 2])
    with pytest.raises(eh.OptionError, match=message):
        eh.rank(ratings, **{"simultaneous": True, "rng": 7, **options})


def test_too_many_items_are_refused() -> None:
    items = np.arange(201)
    ratings = eh.Ratings(np.repeat([0, 1], 201), np.tile(items, 2), np.tile(items, 2))
    with pytest.raises(eh.OptionError, match="and this many items"):
        eh.rank(ratings, simultaneous=True, rng=7)

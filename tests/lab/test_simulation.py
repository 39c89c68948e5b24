"""Simulations agree with exact values, and do not depend on how they are run."""

import json
import math
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.ab.methods import HigherMedian, Rule, Votes
from evenhand.ab.weights import rational
from evenhand.arrays import Floats
from evenhand.errors import OptionError
from evenhand.lab import simulation
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import (
    BLOCK,
    RiskRow,
    TrialPlan,
    draw_ratings,
    run_block,
    simulate,
)
from evenhand.method import as_method, methods
from evenhand.ranking.methods import Flips
from evenhand.ratings import Ratings
from tests.commands import FIELDS

METHODS = [method.name for method in methods("rank")]
ORACLE = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_simulate.json").read_text()
)
RULES = ["sign", "mean", "median", "votes"]
SMALL = Scenario(job="rank", items=5)
AGAINST = "kept against random tie-breaking"


def first_higher(first: Floats, second: Floats) -> float:
    return float(first[0] > second[0])


def backwards(ratings: Ratings, _: np.random.Generator) -> list[int]:
    return list(range(ratings.n_items))[::-1]


def gain(row: RiskRow) -> tuple[float, float]:
    assert row.improvement is not None
    assert row.improvement_se is not None
    return row.improvement, row.improvement_se


@pytest.mark.parametrize("scales", ORACLE["fig1"])
def test_two_items_agree_with_the_exact_values(scales: str) -> None:
    result = simulate(
        Scenario(reviewers=10, scales=scales),
        RULES,
        baseline="coin",
        trials=6400,
        rng=1,
    )
    for row in result.rows[1:]:
        found, se = gain(row)
        # Five standard errors: a right number fails for one seed in 1.7 million.
        assert abs(found - ORACLE["fig1"][scales][row.method]) <= 5 * se, row


def test_rules_without_error_have_none() -> None:
    result = simulate(
        Scenario(reviewers=10, scales="one-biased"), RULES, baseline="coin", rng=1
    )
    rows = {row.method: row for row in result.rows}
    assert gain(rows["sign"]) == gain(rows["median"]) == (100, 0)
    assert (rows["coin"].risk, rows["coin"].se) == (0.5, 0)
    assert gain(rows["coin"]) == (0, 0)


def test_rankings_agree_with_the_oracle() -> None:
    oracle = ORACLE["fig2"]
    scenario = Scenario(job="rank", items=5, reviewers=5)
    result = simulate(scenario, "flips", baseline="topological", trials=1920, rng=1)
    base, flips = result.rows
    found, se = gain(flips)
    # By fair coins on the same neighbours it would be six standard errors less.
    assert abs(found - oracle["improvement"]) < 5 * math.hypot(se, oracle["se"])
    exact = oracle["base"][0] / oracle["base"][1]
    assert abs(base.risk - exact) < 5 * base.se
    assert se < 1


def test_a_side_without_scores_is_settled_by_a_fair_coin() -> None:
    result = simulate(Scenario(reviewers=1), [*RULES, first_higher], trials=100, rng=7)
    assert {(row.risk, row.se) for row in result.rows} == {(0.5, 0.0)}


def test_unequal_counts_are_taken_as_they_come() -> None:
    scenario = Scenario(reviewers=3, design="coins", scales="identity")
    result = simulate(scenario, ["mean", "votes", "sign"], trials=4000, rng=7)
    # With equal scales only an empty side, one time in four, is ever in doubt.
    for row in (result.rows[0], result.rows[2]):
        assert abs(row.risk - 1 / 8) < 5 * row.se


def test_every_ranking_method_can_be_tried() -> None:
    scenario = Scenario(job="rank", items=4, design="balanced", reviewers=5)
    result = simulate(scenario, METHODS, trials=4, rng=7)
    assert [row.method for row in result.rows] == METHODS
    assert all(0 <= row.risk <= 6 for row in result.rows)


def test_options_are_in_brackets_or_in_a_value() -> None:
    tried = ["median(lower)", "median", "trimmed(0.4)", "votes(rational(8))", "votes"]
    rows = simulate(Scenario(reviewers=4), tried, trials=300, rng=7).rows
    assert [as_method(row.method, Rule) for row in rows] == [
        as_method(text, Rule) for text in tried
    ]
    assert rows[0].risk != rows[1].risk
    assert rows[3].risk != rows[4].risk
    values = [HigherMedian(median="lower"), Votes(weight=rational(8))]
    again = simulate(Scenario(reviewers=4), values, trials=300, rng=7).rows
    assert again == (rows[0], rows[3])
    orders = [
        "flips(weight=rational(9))",
        "flips",
        "flips-uniform(scan=paper)",
        "twins(twins=one, by=direct)",
    ]
    rows = simulate(SMALL, orders, trials=100, rng=7).rows
    assert len({row.risk for row in rows}) == 4
    heavier = simulate(SMALL, Flips(weight=rational(9)), trials=100, rng=7).rows[0]
    assert heavier.method == rows[0].method
    assert heavier.risk == pytest.approx(rows[0].risk, rel=1e-12)
    tried = [
        "guarded(eps=0.3)",
        "guarded(statistic=midrank)",
        "guarded(eps=0.3, statistic=midrank)",
        "guarded",
    ]
    rows = simulate(Scenario(reviewers=7), tried, trials=300, rng=7).rows
    assert len({row.risk for row in rows}) == 4


def test_a_baseline_that_is_tried_anyway_has_one_row() -> None:
    tried = ["votes(rational(2))", "mean"]
    result = simulate(
        Scenario(), tried, baseline=Votes(weight=rational(2)), trials=64, rng=7
    )
    assert [row.improvement == 0 for row in result.rows] == [True, False]
    assert result.parameters["baseline"] == result.rows[0].method


def test_all_methods_see_the_same_data() -> None:
    tried = ["uniform", "flips-uniform", "sorter", "safe"]
    among = simulate(SMALL, tried, baseline="topological", trials=BLOCK + 6, rng=7)
    for row in among.rows:
        alone = simulate(SMALL, row.method, trials=BLOCK + 6, rng=7).rows[0]
        found, known = (row.risk, row.se), (alone.risk, alone.se)
        assert found == pytest.approx(known, rel=1e-12), row.method


def test_a_loss_does_not_depend_on_other_losses() -> None:
    losses = ["footrule", "zero-one", "kendall"]
    together = simulate(SMALL, "sorter", losses=losses, trials=100, rng=7).rows
    for row in together:
        alone = simulate(SMALL, "sorter", losses=row.loss, trials=100, rng=7).rows[0]
        assert (row.risk, row.se) == pytest.approx((alone.risk, alone.se), rel=1e-12)


def test_a_weightless_coin_is_a_fair_coin_on_the_same_neighbours() -> None:
    rows = simulate(
        SMALL, ["flips(weight=linear(1000000000))", "flips"], trials=200, rng=7
    ).rows
    assert rows[0].risk > rows[1].risk


@pytest.fixture(scope="module")
def workers() -> Iterator[Executor]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        yield executor


# Of two items, on several processes: tests/engines/test_executors.py.
def test_processes_leave_no_trace(
    workers: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(executor: Executor | None = None) -> str:
        options: dict[str, Any] = {"executor": executor, "rng": 7}
        options["trials"] = 5 * BLOCK + 10
        result = simulate(SMALL, "flips", baseline="flips", **options)
        return json.dumps(result.to_dict())

    monkeypatch.setattr(simulation, "TIMED", 2)
    monkeypatch.setattr(simulation, "BATCH_SECONDS", 0.0)
    alone = run()
    with monkeypatch.context() as patch:
        patch.setattr(simulation, "WORTH_SECONDS", math.inf)
        patch.setattr(workers, "submit", None)
        # A short run stays here.
        assert run(workers) == alone
    # So that even a short run goes to other processes.
    monkeypatch.setattr(simulation, "WORTH_SECONDS", -1.0)
    assert run(workers) == alone
    with ThreadPoolExecutor(2) as threads:
        assert run(threads) == alone


def test_ties_are_noticed_for_two_items_too() -> None:
    found = simulate(Scenario(scales="levels:3"), "votes", trials=64, rng=7)
    assert [notice.code for notice in found.notices] == ["ties_within_reviewers"]
    assert "never worse than a coin" in found.notices[0].message
    assert simulate(Scenario(), "votes", trials=64, rng=7).notices == ()


def test_more_trials_begin_with_the_same_ones() -> None:
    plans = [TrialPlan(SMALL, (Flips(),), ("kendall",), 0, n, 7) for n in (100, 1000)]
    first, longer = (run_block(plan, 0) for plan in plans)
    assert first[0].tolist() == longer[0].tolist()
    assert [len(run_block(plans[0], number)[0]) for number in range(2)] == [64, 36]


def test_standard_errors_are_the_spread_of_repeated_simulations() -> None:
    runs = [
        gain(
            simulate(
                Scenario(reviewers=6), "votes", baseline="mean", trials=256, rng=seed
            ).rows[1]
        )
        for seed in range(150)
    ]
    found = np.std([run[0] for run in runs])
    said = np.mean([run[1] for run in runs])
    # The spread of 150 numbers is known to 6%; five errors and some for the tail.
    assert 0.7 < found / said < 1.4


def test_a_baseline_without_error_has_no_improvement_on_it() -> None:
    scenario = Scenario(job="rank", items=4, design="everything")
    result = simulate(scenario, backwards, baseline="mean", trials=100, rng=7)
    assert [row.improvement for row in result.rows] == [None, None]
    assert json.loads(json.dumps(result.to_dict()))["rows"][0]["improvement"] is None


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(simulation, "say", lambda *call: calls.append(call))
    simulate(Scenario(), "mean", trials=BLOCK + 36, rng=7)
    assert calls == [("Trials", 64, 100), ("Trials", 100, 100)]


def test_own_methods_are_tried_beside_ours() -> None:
    result = simulate(
        Scenario(reviewers=2, scales="identity"),
        [first_higher, "sign"],
        baseline="coin",
        trials=200,
        rng=7,
    )
    assert [row.method for row in result.rows] == ["coin", "first_higher", "sign"]
    assert [row.risk for row in result.rows] == [0.5, 0, 0]
    every = Scenario(job="rank", items=4, design="everything")
    rows = simulate(every, [backwards, "borda"], trials=50, rng=7).rows
    assert rows[0].risk > rows[1].risk == 0


def test_one_reviewer_is_a_coin() -> None:
    alone = Scenario(reviewers=1, scales="identity")
    assert simulate(alone, "votes", trials=50, rng=7).rows[0].risk == 0.5


def test_scores_beyond_floats_are_refused_without_a_warning() -> None:
    huge = Scenario(noise="normal:1e308", values="uniform:0:1e308")
    with pytest.raises(OptionError, match="scores must be finite"):
        simulate(huge, "votes", trials=64, rng=7)


def test_plain_rows_have_the_documented_fields() -> None:
    result = simulate(Scenario(), "mean", baseline="coin", trials=64, rng=7).to_dict()
    assert list(result) == FIELDS["simulate"]
    rows = result["rows"]
    assert isinstance(rows, list)
    assert list(rows[0]) == FIELDS["simulate.rows"]


def test_a_frame_has_a_row_for_each_method_and_loss() -> None:
    result = simulate(
        SMALL,
        ["flips", "twins"],
        losses=["kendall", "footrule", "top-2"],
        trials=20,
        rng=7,
    )
    frame = result.to_frame()
    assert frame["method"].to_list() == ["flips"] * 3 + ["twins"] * 3
    assert frame["loss"].to_list() == ["kendall", "footrule", "top-2"] * 2
    assert frame["improvement"].null_count() == 6


def test_the_ratings_of_a_trial_can_be_drawn() -> None:
    scenario = Scenario(job="rank", items=4, design="balanced", per_reviewer=2)
    ratings, truth = draw_ratings(scenario, rng=7)
    assert ratings.item_labels == (1, 2, 3, 4)
    assert np.bincount(ratings.reviewer_codes).tolist() == [2, 2, 2, 2]
    for reviewer in range(4):
        scored = ratings.reviewer_codes == reviewer
        one, two = ratings.item_codes[scored] + 1
        gap = np.diff(ratings.scores[scored])[0]
        assert (gap > 0) == (truth[int(two)] > truth[int(one)])
    matched, _ = draw_ratings(Scenario(reviewers=4, design="matched"), rng=7)
    assert matched.pair_codes is not None
    assert matched.pair_codes.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": "voes"}, "unknown method 'voes', did you mean 'votes'?"),
        ({"methods": "flips"}, "unknown method 'flips'"),
        ({"methods": []}, "methods and losses must name at least one each."),
        ({"methods": [3]}, "method must be a name or a function, got 3."),
        ({"losses": "kendal"}, "'kendal', did you mean 'kendall'?"),
        ({"losses": "top-3"}, "loss must be at most 'top-2' here, got 'top-3'."),
        ({"losses": "top-0"}, "'top-0'"),
        ({"losses": [3]}, "loss must be a name, got 3."),
        ({"baseline": "con"}, "unknown baseline 'con', did you mean 'coin'?"),
        ({"trials": 1}, "trials must be a whole number from 2 to"),
        ({"rng": -1}, "rng must be"),
        ({"scenario": "rank"}, "scenario must be a Scenario, got 'rank'."),
        (
            {"methods": lambda *_: 2},
            "<lambda> must return a probability in [0, 1], got 2 for first",
        ),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], words: str) -> None:
    usual: dict[str, object] = {"scenario": Scenario(), "methods": "mean", "trials": 64}
    with pytest.raises(OptionError) as refusal:
        simulate(**{**usual, **options})  # type: ignore[arg-type]  # what is tested
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("scenario", "tried", "words"),
    [
        (SMALL, "votes", "unknown method 'votes'"),
        *(
            (
                Scenario(job="rank", items=5, noise="normal:9", reviewers=9),
                method,
                f"method {method} cannot be tried here: Method '{method}' needs",
            )
            for method in ("mean-rank", "sorter", "ties", "flips")
        ),
        (
            SMALL,
            Flips(start=lambda graph, _: range(graph.n_items)),  # type: ignore[arg-type]  # read as one
            "start must respect every comparison for method 'flips', got a ranking",
        ),
        (SMALL, "mean", "method mean cannot be tried here: items must have"),
        (
            SMALL,
            lambda *_: [0, 1],
            "method <lambda> must return the code of each of the 5 items once, best "
            "first, got [0, 1].",
        ),
    ],
)
def test_rankings_that_cannot_be_tried_are_refused(
    scenario: Scenario, tried: str, words: str
) -> None:
    with pytest.raises(OptionError) as refusal:
        simulate(scenario, tried, trials=200, rng=7)
    assert words in str(refusal.value)

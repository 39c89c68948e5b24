"""Tables of what goes beyond the paper, reproduced by simulation.

Seeds are fixed. A bound is five standard errors wide unless a comment says otherwise,
so that a right build fails for one seed in 1.7 million.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import RiskRow, simulate

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_simulate.json").read_text()
)
WIDE = 5
# Improvement over a coin in per cent, 10 reviewers: mean, median, votes, guarded. The
# table was simulated; what is exact is up to 0.3 off.
TABLE = {
    "identity": (100, 100, 40, 94),
    "bias:0.5": (60, 54, 28, 54.8),
    "one-biased": (0, 100, 33, 93.3),
    "incremental": (12.5, 0, 6.1, 9.1),
    "incremental-one-biased": (0, 0, 5.3, 9.0),
}
RULES = ("mean", "median", "votes", "guarded")
OFF = 0.3


def gain(row: RiskRow) -> tuple[float, float]:
    assert row.improvement is not None
    assert row.improvement_se is not None
    return row.improvement, row.improvement_se


# Two items.


@pytest.mark.parametrize("family", TABLE)
def test_the_table_of_two_items_is_reproduced(family: str) -> None:
    run = simulate(
        Scenario(reviewers=10, scales=family),
        RULES,
        baseline="coin",
        trials=3200,
        rng=2019,
    )
    rows = {row.method: row for row in run.rows}
    for method, told in zip(RULES, TABLE[family], strict=True):
        found, error = gain(rows[method])
        # Random biases have no exact row; the table has it in whole numbers.
        known, off = float(told), 0.5
        if family in GOLDEN["fig1"] and method != "guarded":
            known, off = GOLDEN["fig1"][family][method], 0.0
            assert abs(known - told) < OFF, method
        assert abs(found - known) <= off + WIDE * error, method


@pytest.mark.parametrize("family", TABLE)
def test_guarded_is_above_votes_in_each_row_by_the_margins_of_the_table(
    family: str,
) -> None:
    run = simulate(
        Scenario(reviewers=10, scales=family),
        "guarded",
        baseline="votes",
        trials=1280,
        rng=7,
    )
    found, error = gain(run.rows[1])
    *_, votes, guarded = TABLE[family]
    # Both are per cent of a coin's risk; this is per cent of the risk of the votes.
    margin = 100 * (guarded - votes) / (100 - votes)
    assert found > margin - OFF - WIDE * error
    if family in ("identity", "bias:0.5", "one-biased"):
        assert found > WIDE * error


# Many items.


# At ten items: tests/ranking/test_mean_rank.py, over all orderings of 150 sets.
def test_mean_ranks_beat_the_index_order_without_a_score() -> None:
    run = simulate(
        Scenario(job="rank", items=50),
        "mean-rank",
        baseline="topological",
        trials=128,
        rng=2019,
    )
    found, error = gain(run.rows[1])
    # The known number was simulated too, to about 0.3.
    assert abs(found - 34.4) < WIDE * math.hypot(error, 0.3)
    assert error < 1.5


def test_mean_ranks_of_five_items_lose_as_much_as_is_exact() -> None:
    run = simulate(
        Scenario(job="rank", items=5, reviewers=5),
        "mean-rank",
        baseline="topological",
        trials=384,
        rng=2019,
    )
    index, mean_rank = run.rows
    assert abs(index.risk - Fraction(50263, 30240)) < WIDE * index.se
    assert abs(mean_rank.risk - Fraction(625, 504)) < WIDE * mean_rank.se
    found, error = gain(mean_rank)
    exact = 100 * (1 - Fraction(625, 504) / Fraction(50263, 30240))
    assert abs(found - exact) < WIDE * error


def test_scores_gain_in_the_papers_scenario() -> None:
    known = {"ties": 3.0, "safe": 4.0}
    run = simulate(
        Scenario(job="rank", items=10),
        list(known),
        baseline="mean-rank",
        trials=256,
        rng=2019,
    )
    assert len(run.rows) == len(known) + 1
    for row in run.rows[1:]:
        found, error = gain(row)
        # The known numbers are from longer runs, with errors up to 0.26. That there
        # is a gain at five items is shown in tests/ranking/test_ties.py, by chances in
        # fewer trials; at ten it takes more trials to see.
        assert abs(found - known[row.method]) < WIDE * math.hypot(error, 0.26), row

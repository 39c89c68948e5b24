"""Simulations agree with exact values, and do not depend on how they are run."""

import itertools
import json
import math
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._outcomes import outcomes
from evenhand._randomness import stream
from evenhand.ab._numbers import Floats
from evenhand.ab.comparison import compare
from evenhand.ab.weights import rational
from evenhand.errors import OptionError
from evenhand.lab import _blocks, _trial
from evenhand.lab._blocks import BLOCK, Tally, Task, run_batch
from evenhand.lab._draws import Block, draw_block
from evenhand.lab._losses import Arranged, loss
from evenhand.lab._many_items import ranking_method
from evenhand.lab._trial import Trial
from evenhand.lab._two_items import rule, two_item_losses
from evenhand.lab.results import Row
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import CHECKED, draw_ratings, simulate
from evenhand.losses import kendall_tau
from evenhand.losses import loss as named_loss
from evenhand.posets.averages import averages
from evenhand.posets.comparisons import comparisons, find_contradiction, from_edges
from evenhand.ranking.flips import flip_neighbours, scan_from
from evenhand.ranking.mean_rank import mean_rank_order
from evenhand.ranking.ranking import METHODS, rank
from evenhand.ranking.sorter import sorter_program
from evenhand.ranking.split import split_order
from evenhand.ranking.ties import equal_mean_ranks
from evenhand.ranking.twins import settle_twins
from evenhand.ratings import Ratings

ORACLE = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_simulate.json").read_text()
)
RULES = ["sign", "mean", "median", "votes"]
# Of this seed the ratings have two pairs of twins.
TWINS_SEED = 18
SMALL = Scenario(job="rank", items=5)
CONTRADICTION_SEED = 2
AGAINST = "kept against random tie-breaking"
HALF = Fraction(1, 2)


def first_higher(first: Floats, second: Floats) -> float:
    return float(first[0] > second[0])


def backwards(ratings: Ratings, _: np.random.Generator) -> list[int]:
    return list(range(ratings.n_items))[::-1]


def gain(row: Row) -> tuple[float, float]:
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
    result = simulate(scenario, "flips", baseline="topological", trials=5000, rng=1)
    base, flips = result.rows
    found, se = gain(flips)
    assert abs(found - oracle["improvement"]) < 5 * math.hypot(se, oracle["se"])
    exact = oracle["base"][0] / oracle["base"][1]
    assert abs(base.risk - exact) < 5 * base.se
    assert se < 0.6


@pytest.mark.parametrize("method", ["flips", "flips-uniform", "twins"])
def test_expectations_are_those_of_coins_that_are_flipped(method: str) -> None:
    """The loss of what the method draws, less its expectation, is 0 on average."""
    scenario = Scenario(job="rank", items=6, reviewers=5)
    ratings, truth = draw_ratings(scenario, rng=TWINS_SEED)
    best_first = np.array(sorted(range(6), key=lambda code: -truth[code + 1]))
    places = np.argsort(best_first).astype(np.int64)
    tried = ranking_method(method, rational())
    differences = []
    for seed in range(300):
        trial = Trial(ratings, stream(seed, "start"))
        found = tried.run(trial, stream(seed, "coins"))
        assert isinstance(found, Arranged)
        expected = found.average(places, [loss("kendall", 6)])[0]
        source = stream(seed, "coins")
        if method == "twins":
            after, flipped = settle_twins(
                ratings, trial.graph, trial.smallest, rational(), source
            )
        elif method == "flips":
            after, flipped = flip_neighbours(
                ratings, trial.smallest, rational(), source
            )
        else:
            scan = scan_from("parity", source)
            after, flipped = flip_neighbours(
                ratings, trial.drawn, rational(), source, scan=scan
            )
        assert flipped == found.coins
        differences.append(kendall_tau(best_first, after) - expected)
    # Five standard errors: one seed in 1.7 million.
    error = np.std(differences) / math.sqrt(len(differences))
    assert error > 0
    assert abs(np.mean(differences)) < 5 * error


# Items 0, 5 and 6 are above 3 and 4; 1 and 2 have no score, 7 and 8 one each.
TIED = Ratings(
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7],
    [0, 3, 0, 4, 5, 3, 5, 4, 6, 3, 6, 4, 7, 8],
    [5, 1, 9, 2, 4.5, 1.5, 8, 2, 7, 1.2, 6, 2.5, 3, 3.2],
    all_items=range(9),
)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("mean-rank", {}),
        ("ties", {}),
        ("safe", {}),
        ("ties:2:raw", {"noise": 2.0, "anchored": False}),
        ("safe:0.3:1", {"eta": 0.3, "noise": 1.0}),
        ("sorter:raw", {"anchored": False}),
        ("sorter:3:rational:2", {"score_pairs": 3, "weight": "rational:2"}),
        ("flips:3", {"score_pairs": 3}),
        ("mean-rank:proxy", {"mean_ranks": "proxy"}),
    ],
)
def test_expectations_are_those_of_whole_rankings(
    method: str, options: dict[str, Any]
) -> None:
    best_first = [5, 0, 6, 2, 8, 7, 1, 4, 3]
    places = np.argsort(best_first).astype(np.int64)
    names = ["kendall", "zero-one", "footrule", "top-2"]
    losses = [loss(name, 9) for name in names]
    tried = ranking_method(method, rational())
    expected, drawn = [], []
    for seed in range(150):
        trial = Trial(TIED, stream(seed, "start"), stream(seed, "lots"))
        expected.append(tried.run(trial, stream(seed, "run")).average(places, losses))
        found = rank(TIED, method=method.partition(":")[0], rng=seed, **options).order
        drawn.append([named_loss(name)(best_first, found) for name in names])
    ours, theirs = np.array(expected), np.array(drawn)
    # Five standard errors: one seed in 1.7 million for each of four losses.
    error = np.hypot(ours.std(axis=0), theirs.std(axis=0)) / math.sqrt(150)
    assert np.all(abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 5 * error)
    if method.startswith(("ties", "safe", "mean-rank")):
        assert ours[:, 0].std() < theirs[:, 0].std()


@pytest.mark.parametrize(
    ("name", "noise", "split"),
    [("safe", "normal:9", "auto"), ("safe:always", "none", "always")],
)
def test_safe_splits_reviewers_as_rank_does(name: str, noise: str, split: str) -> None:
    scenario = Scenario(job="rank", items=5, reviewers=9, noise=noise)
    ratings, truth = draw_ratings(scenario, rng=CONTRADICTION_SEED)
    consistent = find_contradiction(comparisons(ratings)) is None
    assert consistent == (noise == "none")
    best_first = sorted(truth, key=lambda label: -truth[label])
    places = np.argsort([int(label) - 1 for label in best_first]).astype(np.int64)
    method = ranking_method(name, rational())
    differences = []
    for seed in range(150):
        outcome = method.run(Trial(ratings, stream(1, "x")), stream(seed, "y"))
        expected = outcome.average(places, [loss("kendall", 5)])[0]
        # Of the same seed, so that reviewers are split in the same way.
        own = _trial.draw_seed(stream(seed, "y"))
        drawn = [item + 1 for item in split_order(ratings, own).order.tolist()]
        if seed == 0:
            found = rank(ratings, method="safe", split=split, rng=own)
            assert list(found.order) == drawn
        differences.append(kendall_tau(best_first, drawn) - expected)
    # Five standard errors: one seed in 1.7 million.
    error = np.std(differences) / math.sqrt(len(differences))
    assert error > 0
    assert abs(np.mean(differences)) < 5 * error


def test_tied_items_next_to_each_other_leave_no_chance_in_kendall() -> None:
    method = ranking_method("mean-rank", rational())
    best_first = [5, 0, 6, 2, 8, 7, 1, 4, 3]
    found = {
        method.run(Trial(TIED, stream(seed, "x")), stream(seed, "y")).average(
            np.argsort(best_first).astype(np.int64), [loss("kendall", 9)]
        )[0]
        for seed in range(30)
    }
    # Half of the pairs within {0, 5, 6}, {1, 2, 7, 8} and {3, 4}.
    assert found == {5.0}


def test_the_sorters_chance_to_be_right_is_exact() -> None:
    """Every true ranking of four items, one reviewer each: no choice of reviewers."""
    scores = [Fraction(1), Fraction(4), Fraction(5, 2), Fraction(2)]
    ratings = Ratings(range(4), range(4), [float(score) for score in scores])
    law = outcomes(
        sorter_program(
            comparisons(ratings),
            {(item, item): score for item, score in enumerate(scores)},
            lambda gap: HALF + gap / (2 * (1 + abs(gap))),
        )
    )
    method = ranking_method("sorter", rational())
    found = {}
    for truth in itertools.permutations(range(4)):
        outcome = method.run(Trial(ratings, stream(1, "x")), stream(1, "y"))
        places = np.argsort(truth).astype(np.int64)
        found[truth] = 1 - outcome.average(places, [loss("zero-one", 4)])[0]
    assert sum(found.values()) == pytest.approx(1)
    assert found == pytest.approx({t: float(law.get(t, 0)) for t in found})


def test_the_sorters_chance_to_be_right_is_so_on_average_over_reviewers() -> None:
    scores = {(0, 0): 1, (1, 1): 4, (2, 2): 2.5, (3, 0): 3, (4, 1): 0.5, (5, 2): 2}
    reviewers, items = zip(*scores, strict=True)
    ratings = Ratings(reviewers, items, list(scores.values()))
    law = outcomes(
        sorter_program(
            comparisons(ratings),
            {where: Fraction(score) for where, score in scores.items()},
            lambda gap: HALF + gap / (2 * (1 + abs(gap))),
        )
    )
    method = ranking_method("sorter", rational())
    for truth in itertools.permutations(range(3)):
        places = np.argsort(truth).astype(np.int64)
        found = []
        for seed in range(300):
            outcome = method.run(Trial(ratings, stream(1, "x")), stream(seed, "y"))
            found.append(1 - outcome.average(places, [loss("zero-one", 3)])[0])
        # Five standard errors: one seed in 1.7 million for each true ranking.
        error = np.std(found) / math.sqrt(len(found))
        assert error > 0
        assert abs(np.mean(found) - float(law[truth])) < 5 * error


edges = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda e: e[0] < e[1]),
    max_size=12,
)


@given(edges, st.permutations(range(7)), st.integers(0, 2**32))
@settings(max_examples=60)
def test_mean_ranks_are_counted_as_rank_has_them(
    pairs: list[tuple[int, int]], names: list[int], seed: int
) -> None:
    c = from_edges(7, [names[a] for a, _ in pairs], [names[b] for _, b in pairs])
    found, known = _trial._counted(c, seed), mean_rank_order(c, seed)  # noqa: SLF001 - its twin
    assert found is not None
    assert found.order.tolist() == known.order.tolist()
    assert found.ties == equal_mean_ranks(known, c)
    assert found.above is not None
    above = averages(c, rng=seed).above
    assert above is not None
    assert found.above == pytest.approx(above)


def test_orderings_too_many_to_count_are_averaged_as_rank_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = ["mean-rank", "ties", "safe", "safe:0.1"]
    counted = simulate(SMALL, tried, trials=100, rng=7).rows
    monkeypatch.setattr(_trial, "COUNTED_IDEALS", 0)
    others = simulate(SMALL, tried, trials=100, rng=7).rows
    assert [row.risk for row in others[:3]] == [row.risk for row in counted[:3]]
    # The same trials, but with lots of their own.
    assert others[3].risk == pytest.approx(counted[3].risk, abs=0.1)
    assert others[3].risk < others[2].risk


@pytest.mark.parametrize("method", [*RULES, "coin", "trimmed"])
def test_a_trial_of_two_items_is_a_comparison(method: str) -> None:
    scenario = Scenario(reviewers=7, scales="piecewise", noise="normal:0.3")
    block = draw_block(scenario, 7, 0, 20)
    found = two_item_losses(
        scenario, block, [rule(method, rational())], [loss("zero-one", 2)]
    )
    for trial in range(20):
        reviewers = np.argsort(block.pairing[trial])
        scores = block.scores[trial, reviewers, 0]
        sides = block.assigned[trial, reviewers, 0]
        first, second = scores[sides == 0], scores[sides == 1]
        if method in ("sign", "votes"):
            first, second = first[:3], second[:3]
        p_first = compare(first, second, method=method, rng=7).p_first
        better = block.values[trial, 0] > block.values[trial, 1]
        assert found[trial, 0, 0] == pytest.approx(1 - p_first if better else p_first)


def test_matched_reviewers_are_paired_with_each_other() -> None:
    scenario = Scenario(reviewers=4, design="matched")
    block = Block(
        values=np.array([[1.0, 0.0]]),
        assigned=np.array([[[0], [1], [1], [0]]]),
        scores=np.array([[[10.0], [9.0], [1.0], [2.0]]]),
        tied=np.array([False]),
        pairing=np.array([[0, 1, 0, 1]], dtype=np.uint64),
    )
    sign, losses = [rule("sign", rational())], [loss("zero-one", 2)]
    assert two_item_losses(scenario, block, sign, losses).tolist() == [[[0.0]]]
    halves = Scenario(reviewers=4)
    assert two_item_losses(halves, block, sign, losses).tolist() == [[[0.5]]]


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
    result = simulate(scenario, list(METHODS), trials=20, rng=7)
    assert [row.method for row in result.rows] == list(METHODS)
    assert all(0 <= row.risk <= 6 for row in result.rows)


def test_options_follow_a_colon() -> None:
    scenario = Scenario(reviewers=4)
    tried = ["median:lower", "median:upper", "trimmed:0.4", "votes:rational:8", "votes"]
    rows = simulate(scenario, tried, trials=300, rng=7).rows
    assert [row.method for row in rows] == tried
    assert rows[0].risk != rows[1].risk
    assert rows[3].risk != rows[4].risk
    heavier = simulate(scenario, "votes", weight="rational:8", trials=300, rng=7).rows[
        0
    ]
    assert heavier.risk == rows[3].risk
    orders = ["flips:rational:9", "flips", "flips-uniform:paper", "twins:one:direct"]
    rows = simulate(SMALL, orders, trials=100, rng=7).rows
    assert rows[0].risk != rows[1].risk
    assert len({row.risk for row in rows}) == 4
    orders = ["ties", "ties:raw", "ties:9", "safe", "safe:0.2", "safe:0.2:raw:9"]
    orders += ["mean-rank", "sorter:3", "sorter:raw", "sorter:raw:rational:9"]
    rows = simulate(SMALL, orders, trials=100, rng=7).rows
    assert len({row.risk for row in rows}) == len(orders)
    # The same words in any order, and what is so without a word.
    same = {
        "safe:raw:0.2:9": "safe:0.2:9:raw",
        "ties:anchored:0.3": "ties",
        "mean-rank:exact": "mean-rank:auto",
        "safe:0:.3": "safe",
    }
    for one, other in same.items():
        rows = simulate(SMALL, [one, other], trials=64, rng=7).rows
        assert rows[0].risk == rows[1].risk
    tried = ["guarded:0.3", "guarded:midrank", "guarded:0.3:midrank", "guarded"]
    rows = simulate(Scenario(reviewers=7), tried, trials=300, rng=7).rows
    assert len({row.risk for row in rows}) == 4


def test_all_methods_see_the_same_data() -> None:
    alone = simulate(SMALL, "flips", trials=150, rng=7).rows[0]
    tried = ["uniform", "flips-uniform", "twins", "flips"]
    tried += ["mean-rank", "sorter", "ties", "safe"]
    among = simulate(SMALL, tried, baseline="topological", trials=150, rng=7)
    row = next(row for row in among.rows if row.method == "flips")
    assert (row.risk, row.se) == (alone.risk, alone.se)
    for row in among.rows:
        alone = simulate(SMALL, row.method, trials=150, rng=7).rows[0]
        assert (row.risk, row.se) == (alone.risk, alone.se), row.method


def test_a_loss_does_not_depend_on_other_losses() -> None:
    losses = ["footrule", "zero-one", "kendall"]
    together = simulate(SMALL, "sorter", losses=losses, trials=100, rng=7).rows
    for row in together:
        alone = simulate(SMALL, "sorter", losses=row.loss, trials=100, rng=7).rows[0]
        assert row == alone


def test_a_weightless_coin_is_a_fair_coin_on_the_same_neighbours() -> None:
    rows = simulate(SMALL, ["flips:linear:1000000000", "flips"], trials=200, rng=7).rows
    assert rows[0].risk > rows[1].risk


@pytest.mark.parametrize(
    ("scenario", "tried", "batch"),
    [(Scenario(scales="power", reviewers=7), RULES, 1), (SMALL, ["flips"], 64)],
)
def test_workers_and_batches_leave_no_trace(
    scenario: Scenario, tried: list[str], batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(workers: int, batch: int) -> str:
        result = simulate(
            scenario,
            tried,
            baseline=tried[0],
            trials=BLOCK * 5 + 10,
            workers=workers,
            batch=batch,
            rng=7,
        )
        return json.dumps(result.to_dict())

    alone = run(1, 1)
    assert run(1, 64) == alone
    started: list[int] = []

    class Watched(ProcessPoolExecutor):
        def __init__(self, workers: int, **options: Any) -> None:  # noqa: ANN401 - as they come
            started.append(workers)
            super().__init__(workers, **options)

    monkeypatch.setattr(_blocks, "ProcessPoolExecutor", Watched)
    assert run(2, batch) == alone
    assert started == []
    # So that even a short run goes to other processes.
    monkeypatch.setattr(_blocks, "WORTH_SECONDS", -1.0)
    assert run(2, batch) == alone
    assert started == [2]


def test_functions_that_cannot_travel_stay_in_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_blocks, "WORTH_SECONDS", -1.0)
    monkeypatch.setattr(_blocks, "ProcessPoolExecutor", None)

    def local(first: Floats, second: Floats) -> float:
        return float(first.max() > second.max())

    result = simulate(Scenario(), local, trials=200, workers=2, rng=7)
    assert result.rows[0].method == "local"


def test_processes_that_do_not_start_are_an_error_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken(ProcessPoolExecutor):
        def submit(self, *_: object, **__: object) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool())
            return future

    monkeypatch.setattr(_blocks, "WORTH_SECONDS", -1.0)
    monkeypatch.setattr(_blocks, "ProcessPoolExecutor", Broken)
    with pytest.raises(OptionError, match="workers must be 1 here"):
        simulate(Scenario(), "mean", trials=300, workers=2, rng=7)


def test_ties_are_noticed_for_two_items_too() -> None:
    found = simulate(Scenario(scales="levels:3"), "votes", trials=64, rng=7)
    assert [notice.code for notice in found.notices] == ["ties_within_reviewers"]
    assert "never worse than a coin" in found.notices[0].message
    assert simulate(Scenario(), "votes", trials=64, rng=7).notices == ()


def test_more_trials_begin_with_the_same_ones() -> None:
    task = Task(SMALL, ("flips",), ("kendall",), 0, None, 100, 7)
    longer = Task(SMALL, ("flips",), ("kendall",), 0, None, 1000, 7)
    assert run_batch(task, [0])[0].mean == run_batch(longer, [0])[0].mean
    assert [tally.trials for tally in run_batch(task, task.blocks())] == [64, 36]


numbers = st.floats(-5, 5)


@given(
    st.lists(st.tuples(numbers, numbers), min_size=2, max_size=30),
    st.lists(st.integers(1, 29), max_size=4),
)
@settings(max_examples=60)
def test_tallies_add_up_to_the_moments_of_all_trials(
    pairs: list[tuple[float, float]], cuts: list[int]
) -> None:
    losses = np.array(pairs) + 10

    def tally(part: Floats) -> Tally:
        off = part - part.mean(axis=0)
        return Tally(
            len(part),
            1,
            part.mean(axis=0)[:, None],
            (off * off).sum(axis=0)[:, None],
            (off * off[:, :1]).sum(axis=0)[:, None],
        )

    parts = [part for part in np.split(losses, sorted(cuts)) if len(part)]
    total = tally(parts[0])
    for part in parts[1:]:
        total = total.plus(tally(part), 0)
    n = len(losses)
    assert (total.trials, total.tied) == (n, len(parts))
    errors, gains, slacks = total.errors(0)
    table = np.cov(losses.T) / n
    mean = losses.mean(axis=0)
    ratio = mean[1] / mean[0]
    assert total.mean[:, 0] == pytest.approx(mean)
    assert errors[:, 0] == pytest.approx(np.sqrt(np.diag(table)), abs=1e-7)
    assert gains[1, 0] == pytest.approx(100 * (1 - ratio), abs=1e-9)
    spread = table[1, 1] - 2 * ratio * table[0, 1] + ratio**2 * table[0, 0]
    slack = 100 * math.sqrt(max(spread, 0)) / mean[0]
    assert slacks[1, 0] == pytest.approx(slack, abs=1e-4)
    assert slacks[0, 0] == 0


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
    # The spread of 150 numbers is known to 6 %; five errors and some for the tail.
    assert 0.7 < found / said < 1.4


def test_a_requested_error_ends_a_run() -> None:
    def run(error: float | None, batch: int = 8) -> tuple[int, float]:
        result = simulate(
            Scenario(),
            ["mean", "votes"],
            baseline="coin",
            error=error,
            trials=20_000,
            batch=batch,
            rng=7,
        )
        return result.trials, max(gain(row)[1] for row in result.rows)

    trials, largest = run(1.5)
    assert trials % (CHECKED * BLOCK) == 0
    assert CHECKED * BLOCK < trials < 20_000
    assert largest <= 1.5
    assert run(1.5, batch=1) == run(1.5, batch=64) == (trials, largest)
    before = simulate(
        Scenario(), "mean", baseline="coin", trials=trials - CHECKED * BLOCK, rng=7
    )
    assert gain(before.rows[1])[1] > 1.5
    assert run(1e-9)[0] == 20_000


def test_without_a_baseline_the_error_is_that_of_the_risk() -> None:
    result = simulate(Scenario(), "mean", error=0.008, trials=20_000, rng=7)
    assert result.trials < 20_000
    assert result.rows[0].se <= 0.008
    assert result.rows[0].improvement is None


def test_a_baseline_without_error_has_no_improvement_on_it() -> None:
    scenario = Scenario(job="rank", items=4, design="everything")
    result = simulate(scenario, backwards, baseline="mean", trials=100, error=9, rng=7)
    assert [row.improvement for row in result.rows] == [None, None]
    assert json.loads(json.dumps(result.to_dict()))["rows"][0]["improvement"] is None


def test_progress_is_reported_with_the_error() -> None:
    calls: list[tuple[int, int, float | None]] = []
    trials = BLOCK * CHECKED + 100
    simulate(
        Scenario(),
        "mean",
        trials=trials,
        levels=[2, 3],
        rng=7,
        progress=lambda *call: calls.append(call),
    )
    first = BLOCK * CHECKED
    assert [call[0] for call in calls] == [first, trials, trials + first, 2 * trials]
    assert {call[1] for call in calls} == {2 * trials}
    assert all(call[2] is not None and 0 < call[2] < 1 for call in calls)


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
    truth = Scenario(job="rank", items=4, truth="arbitrary", order=(4, 3, 2, 1))
    rows = simulate(truth, backwards, baseline="topological", trials=50, rng=7).rows
    assert (rows[1].risk, gain(rows[1])) == (0, (100, 0))


def test_levels_are_studied_on_the_same_data() -> None:
    study = simulate(
        Scenario(reviewers=6),
        ["votes", "mean"],
        baseline="coin",
        levels=[2, 1000],
        trials=400,
        rng=7,
    )
    rows = study.to_dict()["rows"]
    assert isinstance(rows, list)
    assert [row["levels"] for row in rows] == [2, 2, 2, 1000, 1000, 1000]
    assert [row["certificate"] for row in rows[:2]] == [
        "none",
        "never worse than a coin",
    ]
    assert rows[0]["ties"] > rows[3]["ties"] > 0
    fine = simulate(Scenario(reviewers=6), "votes", trials=400, rng=7).rows[0]
    assert abs(study.rows[4].risk - fine.risk) < 0.01
    assert study.to_dict()["parameters"]["levels"] == [2, 1000]  # type: ignore[index,call-overload]  # a mapping


def test_a_form_without_ties_leaves_the_guarantee() -> None:
    even = Scenario(reviewers=4, values="given:0,1", scales="identity")
    rows = simulate(even, ["votes", "mean"], levels=[3], trials=50, rng=7).rows
    assert [row.certificate for row in rows] == [
        "strictly better than a coin",
        "never worse than a coin",
    ]
    every = Scenario(job="rank", items=4, values="given:0,1,2,3", scales="identity")
    study = simulate(
        every,
        ["flips", backwards],
        losses="zero-one",
        levels=[2, 4],
        trials=50,
        rng=7,
    )
    assert [row.certificate for row in study.rows] == ["void", "none", "kept", "none"]
    assert {notice.code for notice in study.notices} == {"ties_within_reviewers"}
    small = Scenario(job="rank", items=3, values="given:0,1,2", scales="identity")
    study = simulate(small, "flips", trials=50, rng=7)
    assert {notice.code for notice in study.notices} == {"no_theorem"}


@pytest.mark.parametrize(
    ("method", "loss", "changes", "certificate"),
    [
        ("flips", "zero-one", {}, "kept"),
        ("flips", "kendall", {}, "none"),
        ("flips", "zero-one", {"noise": "normal:0.0001"}, "none"),
        ("flips", "zero-one", {"truth": "arbitrary"}, "none"),
        ("flips-uniform", "zero-one", {"truth": "arbitrary"}, "kept"),
        ("flips-uniform:paper", "zero-one", {}, "none"),
        ("twins", "kendall", {}, "kept"),
        ("twins", "zero-one", {}, "none"),
        ("topological", "zero-one", {}, "none"),
        ("flips", "zero-one", {"reviewers": 1}, "none"),
        ("flips-uniform:3", "zero-one", {}, "kept"),
        ("flips", "zero-one", {"design": "everything"}, "none"),
        ("sorter:3:raw", "zero-one", {}, "kept"),
        ("sorter", "kendall", {}, "none"),
        ("sorter", "zero-one", {"truth": "arbitrary"}, "none"),
        ("sorter", "zero-one", {"noise": "normal:0.0001"}, "none"),
        ("ties", "kendall", {"truth": "arbitrary"}, AGAINST),
        ("ties:raw", "kendall", {}, AGAINST),
        ("ties", "zero-one", {}, "none"),
        ("ties", "kendall", {"design": "everything"}, "none"),
        ("ties", "kendall", {"noise": "normal:0.0001"}, "none"),
        ("safe", "kendall", {"design": "balanced", "per_reviewer": 2}, AGAINST),
        ("safe:0:1", "kendall", {}, AGAINST),
        ("safe:always", "kendall", {}, AGAINST),
        ("safe:0.1", "kendall", {}, "none"),
        ("mean-rank", "kendall", {}, "none"),
    ],
)
def test_a_guarantee_is_kept_for_its_own_loss_truth_and_noise_only(
    method: str, loss: str, changes: dict[str, str | int], certificate: str
) -> None:
    plain = {"job": "rank", "items": 4, "reviewers": 3, "scales": "identity"}
    scenario = Scenario.from_options(**{**plain, "values": "given:0,1,2,3", **changes})
    rows = simulate(scenario, method, losses=loss, levels=[2**20], trials=8, rng=7).rows
    assert [row.certificate for row in rows] == [certificate]


def test_one_reviewer_is_a_coin_and_says_so() -> None:
    alone = Scenario(reviewers=1, values="given:0,1", scales="identity")
    row = simulate(alone, "votes", levels=[2], trials=50, rng=7).rows[0]
    assert row.risk == 0.5
    assert row.certificate == "never worse than a coin"


@pytest.mark.parametrize("noise", ["normal:1e308", "discrete:1e308,-1e308"])
def test_scores_beyond_floats_are_refused_without_a_warning(noise: str) -> None:
    huge = Scenario(noise=noise, values="uniform:0:1e308")
    with pytest.raises(OptionError, match="scores must be finite"):
        simulate(huge, "votes", trials=64, rng=7)


def test_plain_rows_have_the_documented_fields() -> None:
    result = simulate(Scenario(), "mean", baseline="coin", trials=64, rng=7).to_dict()
    assert list(result) == [
        "schema",
        "rows",
        "trials",
        "parameters",
        "seed",
        "warnings",
        "version",
    ]
    rows = result["rows"]
    assert isinstance(rows, list)
    assert list(rows[0]) == [
        "method",
        "loss",
        "risk",
        "se",
        "improvement",
        "improvement_se",
    ]


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


def test_the_first_trial_can_be_drawn() -> None:
    scenario = Scenario(job="rank", items=4, design="balanced", per_reviewer=2)
    ratings, truth = draw_ratings(scenario, rng=7)
    block = draw_block(scenario, 7, 0, 5)
    assert list(truth.values()) == block.values[0].tolist()
    assert ratings.scores.tolist() == block.scores[0].ravel().tolist()
    assert ratings.item_labels == (1, 2, 3, 4)
    matched, _ = draw_ratings(Scenario(reviewers=4, design="matched"), rng=7)
    assert matched.pair_codes is not None
    assert matched.pair_codes.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_charts_are_drawn(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"gains.{kind}"
    levels = [2, 5] if kind == "svg" else []
    result = simulate(
        Scenario(), ["votes", first_higher], levels=levels, trials=64, rng=7
    )
    result.save_chart(file)
    content = file.read_bytes()
    assert content.startswith(b"\x89PNG" if kind == "png" else b"<svg")
    if kind == "svg":
        assert b"first_higher" in content


def test_charts_of_other_kinds_are_refused(tmp_path: Path) -> None:
    result = simulate(Scenario(), "mean", trials=64, rng=7)
    with pytest.raises(
        OptionError, match=r"must be a \.png or \.svg file, got 'a\.pdf'"
    ):
        result.save_chart("a.pdf")
    with pytest.raises(OptionError, match="can be written"):
        result.save_chart(tmp_path / "none" / "a.svg")


def test_numbers_print_for_people() -> None:
    result = simulate(Scenario(), "mean", baseline="coin", levels=[5], trials=64, rng=7)
    lines = repr(result).splitlines()
    assert lines[0] == "64 trials, seed 7"
    assert lines[1].startswith(
        "coin with 5 levels: zero-one 0.5 (se 0), improvement 0 %"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": "voes"}, "unknown method 'voes', did you mean 'votes'?"),
        ({"methods": "flips"}, "unknown method 'flips'"),
        ({"methods": "mean:3"}, "method 'mean' must have no option, got 'mean:3'."),
        ({"methods": "median:uper"}, "unknown median 'uper', did you mean 'upper'?"),
        ({"methods": "trimmed:0.9"}, "trim must be at least 0 and below 0.5"),
        ({"methods": "trimmed:x"}, "trim must be a number, got 'x'."),
        ({"methods": "guarded:x"}, "eps must be a number, got 'x'."),
        ({"methods": "guarded:0"}, "eps must be above 0 and at most 1, got 0"),
        ({"methods": "guarded:0.1:mode"}, "unknown statistic 'mode'"),
        ({"methods": "votes:ratio"}, "unknown weight 'ratio'"),
        ({"methods": []}, "methods and losses must name at least one each."),
        ({"methods": [3]}, "method must be a name or a function, got 3."),
        ({"losses": "kendal"}, "'kendal', did you mean 'kendall'?"),
        ({"losses": "top-3"}, "loss must be at most 'top-2' for 2 items"),
        ({"baseline": "con"}, "unknown method 'con', did you mean 'coin'?"),
        ({"trials": 1}, "trials must be an integer of at least 2, got 1."),
        ({"workers": 0}, "workers must be an integer of at least 1, got 0."),
        ({"batch": 0.5}, "batch must be an integer of at least 1, got 0.5."),
        ({"error": 0}, "error must be a number above 0, got 0."),
        ({"levels": [1]}, "levels must be an integer of at least 2, got 1."),
        ({"weight": "linear"}, "weight linear must have one parameter"),
        ({"rng": -1}, "rng must be"),
        ({"scenario": "rank"}, "scenario must be a Scenario, got 'rank'."),
        (
            {"methods": lambda *_: 2},
            "method <lambda> must return a probability, got 2.",
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
        (SMALL, "mean:2", "method 'mean' must have no option"),
        (SMALL, "twins:some", "unknown weight 'some'"),
        (
            SMALL,
            "safe:row",
            "method 'safe' must have options eta and then noise and one of 'raw', "
            "'anchored', 'always', 'auto', got 'safe:row'.",
        ),
        (
            Scenario(job="rank", items=5, noise="normal:9", reviewers=9),
            "safe:0.1",
            "eta must be 0 where reviewers are split, got 0.1.",
        ),
        (SMALL, "mean-rank:3", "one of 'exact', 'sampled', 'proxy', 'auto', got"),
        (SMALL, "safe:0.5", "eta must be a number from 0 to below 0.5, got 0.5."),
        (SMALL, "ties:-1", "noise must be a finite number of at least 0, got -1."),
        (SMALL, "ties:inf", "noise must be a finite number of at least 0, got inf."),
        (SMALL, "ties:1:1", "method 'ties' must have options noise and one of"),
        (SMALL, "sorter:2", "score_pairs must be an odd whole number of at least 1"),
        (SMALL, "sorter:1.5", "score_pairs must be an odd whole number of at least 1"),
        (SMALL, "sorter:3:some", "unknown weight 'some'"),
        *(
            (
                Scenario(job="rank", items=5, noise="normal:9", reviewers=9),
                method,
                f"method '{method}' must have comparisons that are consistent",
            )
            for method in ("mean-rank", "sorter", "ties")
        ),
        (
            Scenario(job="rank", items=5, noise="normal:9", reviewers=9),
            "flips",
            "method 'flips' must have comparisons that are consistent, got a "
            "contradiction. Choose noise 'none' or method 'safe'.",
        ),
        (SMALL, "mean", "method 'mean' cannot be tried here: items must have"),
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


def test_scales_that_do_not_increase_are_refused() -> None:
    with pytest.raises(OptionError, match="increasing on the values used"):
        simulate(Scenario(scales=lambda _, x: -x), "mean", rng=7)


def test_an_error_that_was_not_reached_is_said() -> None:
    few = simulate(Scenario(), "votes", trials=100, error=0.001, rng=7)
    assert [notice.code for notice in few.notices] == ["error_not_reached"]
    assert "in 100 trials" in few.notices[0].message
    met = simulate(Scenario(), "votes", trials=100, error=50, rng=7)
    assert met.notices == ()

"""What is tried: as `compare` and `rank` do it."""

import numpy as np
import pytest

from evenhand import losses
from evenhand.ab.comparison import compare
from evenhand.ab.methods import HigherMean, Rule, Sign
from evenhand.lab.scenario import Scenario, Trials, draw_trials
from evenhand.lab.simulation import draw_ratings, order_by, two_item_losses
from evenhand.method import as_method
from evenhand.posets.contradictions import find_contradiction
from evenhand.posets.graph import comparisons
from evenhand.ranking.methods import RankMethod, Safe, Task
from evenhand.ranking.ranking import rank
from evenhand.ratings import Ratings
from tests import plain_rules


@pytest.mark.parametrize("name", ["zero-one", "kendall", "footrule", "top-1", "top-2"])
def test_two_items_in_the_wrong_order_lose_what_the_losses_say(name: str) -> None:
    trials = Trials(
        values=np.array([[1.0, 0.0]]),
        assigned=np.array([[[0], [1]]]),
        scores=np.array([[[1.0], [2.0]]]),
        tied=np.array([False]),
        pairing=np.zeros((1, 2)),
    )
    found = two_item_losses([HigherMean()], [name], trials)
    assert found.tolist() == [[[losses.loss(name)(["a", "b"], ["b", "a"])]]]


CONTRADICTION_SEED = 2


# Items 0, 5 and 6 are above 3 and 4; 1 and 2 have no score, 7 and 8 one each.
TIED = Ratings(
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7],
    [0, 3, 0, 4, 5, 3, 5, 4, 6, 3, 6, 4, 7, 8],
    [5, 1, 9, 2, 4.5, 1.5, 8, 2, 7, 1.2, 6, 2.5, 3, 3.2],
    all_items=range(9),
)


@pytest.mark.parametrize(
    "method",
    [
        "topological",
        "uniform",
        "flips",
        "flips-uniform",
        "twins",
        "mean-rank",
        "mean-rank(mean_ranks=proxy)",
        "sorter(anchored=false)",
        "sorter(weight=rational(2))",
        "ties",
        "ties(start=borda, noise=2, anchored=false)",
        "safe",
        "safe(noise=1)",
        "safe(split=always)",
        "borda",
        "adaptive",
    ],
)
def test_a_method_is_tried_as_rank_uses_it(method: str) -> None:
    tried = as_method(method, RankMethod)
    for seed in range(10):
        order = order_by(tried, Task(TIED, seed))
        assert tuple(order.tolist()) == rank(TIED, method=method, rng=seed).order


def test_safe_splits_reviewers_who_contradict_each_other_as_rank_does() -> None:
    scenario = Scenario(job="rank", items=5, reviewers=9, noise="normal:9")
    ratings, _ = draw_ratings(scenario, rng=CONTRADICTION_SEED)
    assert find_contradiction(comparisons(ratings)) is not None
    order = order_by(Safe(), Task(ratings, 7))
    found = rank(ratings, method="safe", rng=7)
    assert [code + 1 for code in order.tolist()] == list(found.order)


@pytest.mark.parametrize(
    "method", ["sign", "mean", "median", "votes", "coin", "trimmed", "guarded"]
)
def test_a_trial_of_two_items_is_a_comparison(method: str) -> None:
    scenario = Scenario(reviewers=7, scales="power", noise="normal:0.3")
    trials = draw_trials(scenario, 20, np.random.default_rng(7))
    found = two_item_losses([as_method(method, Rule)], ["zero-one"], trials)
    for trial in range(20):
        reviewers = np.argsort(trials.pairing[trial])
        scores = trials.scores[trial, reviewers, 0]
        sides = trials.assigned[trial, reviewers, 0]
        first, second = scores[sides == 0], scores[sides == 1]
        if method in ("sign", "votes"):
            first, second = first[:3], second[:3]
        if method == "guarded":
            p_first = float(plain_rules.guarded(first, second))
        else:
            p_first = compare(first, second, method=method, rng=7).p_first
        better = trials.values[trial, 0] > trials.values[trial, 1]
        assert found[trial, 0, 0] == pytest.approx(1 - p_first if better else p_first)


def test_scores_are_paired_in_the_order_of_the_pairing() -> None:
    sides, scores = [[[0], [1], [1], [0]]], [[[10.0], [9.0], [1.0], [2.0]]]
    for pairing, wrong in (([0, 0.25, 0.5, 0.75], 0.0), ([0, 0.6, 0, 0.6], 0.5)):
        trials = Trials(
            values=np.array([[1.0, 0.0]]),
            assigned=np.array(sides),
            scores=np.array(scores),
            tied=np.array([False]),
            pairing=np.array([pairing]),
        )
        assert two_item_losses([Sign()], ["zero-one"], trials).tolist() == [[[wrong]]]


def test_matched_reviewers_are_paired_with_each_other() -> None:
    scenario = Scenario(reviewers=6, design="matched", scales="disjoint")
    trials = draw_trials(scenario, 30, np.random.default_rng(7))
    assert (np.diff(trials.pairing) > 0).all()
    # The second of each pair has the higher range, so it is who scored that counts.
    wins = (trials.assigned[:, 1::2, 0] == 0).sum(axis=1)
    first = wins > 3 / 2
    better = trials.values[:, 0] > trials.values[:, 1]
    found = two_item_losses([Sign()], ["zero-one"], trials)
    assert found[:, 0, 0].tolist() == (first != better).astype(float).tolist()

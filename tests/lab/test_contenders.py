"""What is tried: as `rank` does it, with coins averaged out exactly."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import losses
from evenhand.ab import rules
from evenhand.ab.comparison import compare
from evenhand.ab.methods import Mean, Rule, Sign
from evenhand.errors import OptionError
from evenhand.lab.scenario import Scenario, Trials, draw_trials
from evenhand.lab.simulation import (
    check_loss,
    draw_ratings,
    expected_losses,
    order_and_coins,
    two_item_losses,
)
from evenhand.method import as_method
from evenhand.posets.contradictions import find_contradiction
from evenhand.posets.graph import comparisons
from evenhand.ranking.flips import Coin
from evenhand.ranking.methods import RankMethod, Safe, Task
from evenhand.ranking.ranking import rank
from evenhand.ratings import Ratings

Case = tuple[list[int], list[int], list[tuple[int, int]], list[float]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(2, 6))
    order = draw(st.permutations(range(n)))
    truth = draw(st.permutations(range(n)))
    shuffled = draw(st.permutations(range(n)))
    n_pairs = draw(st.integers(0, n // 2))
    pairs = []
    for number in range(n_pairs):
        pair = shuffled[2 * number : 2 * number + 2]
        one, other = sorted(pair, key=order.index)
        pairs.append((one, other))
    chances = [draw(st.floats(0, 1)) for _ in pairs]
    return order, truth, pairs, chances


def flipped(case: Case, names: list[str]) -> list[float]:
    """Flip every coin both ways, and average the losses of what comes out."""
    order, truth, pairs, chances = case
    totals = [0.0] * len(names)
    for kept in itertools.product([True, False], repeat=len(pairs)):
        after = list(order)
        mass = 1.0
        for (one, other), keep, p in zip(pairs, kept, chances, strict=True):
            mass *= p if keep else 1 - p
            if not keep:
                i, j = order.index(one), order.index(other)
                after[i], after[j] = other, one
        for place, name in enumerate(names):
            totals[place] += mass * losses.loss(name)(truth, after)
    return totals


@given(cases())
@settings(max_examples=150)
def test_averages_are_those_of_flipping_every_coin_both_ways(case: Case) -> None:
    order, truth, pairs, chances = case
    names = ["zero-one", "kendall", "footrule", "top-1", f"top-{len(order)}", "top-2"]
    places = np.argsort(np.array(truth)).astype(np.int64)
    coins = [
        Coin(pair, 0.0, p, kept=True, reviewers=(0, 1))
        for pair, p in zip(pairs, chances, strict=True)
    ]
    found = expected_losses(np.array(order, dtype=np.int64), coins, places, names)
    assert found == pytest.approx(flipped(case, names), abs=1e-12)


@pytest.mark.parametrize("name", ["zero-one", "kendall", "footrule", "top-1", "top-2"])
def test_two_items_in_the_wrong_order_lose_what_the_losses_say(name: str) -> None:
    trials = Trials(
        values=np.array([[1.0, 0.0]]),
        assigned=np.array([[[0], [1]]]),
        scores=np.array([[[1.0], [2.0]]]),
        tied=np.array([False]),
        pairing=np.zeros((1, 2)),
    )
    found = two_item_losses([Mean()], [name], trials)
    assert found.tolist() == [[[losses.loss(name)(["a", "b"], ["b", "a"])]]]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kendal", "'kendal', did you mean 'kendall'?"),
        ("top-0", "'top-0'"),
        ("top-5", "loss must be at most 'top-4' for 4 items, got 'top-5'."),
        (3, "loss must be a name, got 3."),
    ],
)
def test_unknown_losses_are_refused(name: str, words: str) -> None:
    with pytest.raises(OptionError) as refusal:
        check_loss(name, 4)
    assert words in str(refusal.value)


# Of this seed the ratings have two pairs of twins.
TWINS_SEED = 18
CONTRADICTION_SEED = 2


@pytest.mark.parametrize("method", ["flips", "flips-uniform", "twins"])
def test_expectations_are_those_of_coins_that_are_flipped(method: str) -> None:
    """The loss of what `rank` draws, less its expectation, is 0 on average."""
    scenario = Scenario(job="rank", items=6, reviewers=5)
    ratings, truth = draw_ratings(scenario, rng=TWINS_SEED)
    best_first = sorted(truth, key=lambda label: -truth[label])
    places = np.argsort([int(label) - 1 for label in best_first])
    tried = as_method(method, RankMethod)
    differences = []
    for seed in range(100):
        order, coins = order_and_coins(tried, Task(ratings, seed))
        (expected,) = expected_losses(order, coins, places, ["kendall"])
        drawn = rank(ratings, method=method, rng=seed)
        assert [coin.p_first for coin in coins] == [
            draw.p_first for draw in drawn.draws
        ]
        differences.append(losses.kendall_tau(best_first, drawn.order) - expected)
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
    "method",
    [
        "topological",
        "uniform",
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
        order, coins = order_and_coins(tried, Task(TIED, seed))
        assert tuple(order.tolist()) == rank(TIED, method=method, rng=seed).order
        assert coins == ()


def test_safe_splits_reviewers_who_contradict_each_other_as_rank_does() -> None:
    scenario = Scenario(job="rank", items=5, reviewers=9, noise="normal:9")
    ratings, _ = draw_ratings(scenario, rng=CONTRADICTION_SEED)
    assert find_contradiction(comparisons(ratings)) is not None
    order, _ = order_and_coins(Safe(), Task(ratings, 7))
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
            p_first = float(rules.guarded(first, second))
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

"""What is tried in a simulation: rules for two items, ranking methods, and losses."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand.ab.methods import Rule
from evenhand.ab.numbers import Floats
from evenhand.errors import ContradictionError, OptionError, RatingsError, shown
from evenhand.losses import loss as named_loss
from evenhand.ranking.methods import RankMethod, Task
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.lab.scenario import Trials
    from evenhand.ranking.flips import Coin

    Codes = NDArray[np.int64]
    Run = Callable[[Task], tuple[Codes, Sequence[Coin]]]

OwnRule: TypeAlias = Callable[[Floats, Floats], float]
OwnRanking: TypeAlias = Callable[[Ratings, np.random.Generator], object]
Tried: TypeAlias = str | Rule | RankMethod | OwnRule | OwnRanking
Chance: TypeAlias = Callable[[Floats, Floats], Floats]

# What it costs to put two items in the wrong order.
OF_TWO = {"zero-one": 1.0, "kendall": 1.0, "footrule": 2.0, "top-1": 1.0}


def check_loss(name: str, items: int) -> None:
    """Refuse a loss that there is not, for so many items.

    Raises:
        OptionError: If there is no such loss.

    Examples:
        >>> check_loss("top-3", 10)
    """
    if not isinstance(name, str):
        raise OptionError(f"loss must be a name, got {shown(name)}.")
    named_loss(name)
    if _best(name) > items:
        raise OptionError(
            f"loss must be at most 'top-{items}' for {items} items, got {name!r}."
        )


def _best(loss: str) -> int:
    return int(loss.removeprefix("top-")) if loss.startswith("top-") else 0


def rule(method: Rule) -> Chance:
    """Return a rule for two items as a function.

    Returns:
        From scores of both items, shapes (trials, k1) and (trials, k2), to the
        probability that the first is output.

    Examples:
        >>> from evenhand.ab.methods import Median
        >>> rule(Median(median="lower"))(np.array([[1, 4]]), np.array([[2]]))
        array([0.])
    """
    if method.pairs == "only":
        return functools.partial(_paired, method.chance)
    return method.chance


def _paired(chance: Chance, one: Floats, two: Floats) -> Floats:
    pairs = min(one.shape[-1], two.shape[-1])
    return chance(one[:, :pairs], two[:, :pairs])


def two_item_losses(
    trials: Trials, tried: Sequence[Chance], losses: Sequence[str]
) -> Floats:
    """Return the expected losses of rules, shape (trials, rules, losses).

    Examples:
        >>> from evenhand.ab.methods import Mean
        >>> from evenhand.lab.scenario import Scenario, draw_trials
        >>> scenario = Scenario(reviewers=4, scales="identity")
        >>> trials = draw_trials(scenario, 3, np.random.default_rng(7))
        >>> mean = rule(Mean())
        >>> float(two_item_losses(trials, [mean], ["zero-one"]).sum())
        0.0
    """
    sides = trials.assigned[..., 0]
    # The first item's scores before the second's, in the order of the pairing.
    order = np.argsort(sides + trials.pairing, axis=-1)
    scores = np.take_along_axis(trials.scores[..., 0], order, axis=-1)
    firsts = sides.shape[1] - sides.sum(axis=-1)
    # A side without scores leaves a fair coin.
    chances = np.full((len(scores), len(tried)), 0.5)
    for count in set(firsts.tolist()) - {0, sides.shape[1]}:
        rows = firsts == count
        one, two = scores[rows, :count], scores[rows, count:]
        for column, chance in enumerate(tried):
            chances[rows, column] = chance(one, two)
    better = trials.values[:, :1] > trials.values[:, 1:]
    wrong = np.where(better, 1 - chances, chances)
    return wrong[..., None] * [OF_TWO.get(loss, 0.0) for loss in losses]


def ranking_method(method: RankMethod) -> Run:
    """Return a ranking method as a function.

    Returns:
        From what is to be ranked to item codes, best first, as they are if every coin
        keeps them, and those coins.

    Examples:
        >>> from evenhand.ranking.methods import Borda
        >>> task = Task(Ratings(["a", "a"], [0, 1], [1, 2]), 7)
        >>> ranking_method(Borda())(task)[0].tolist()
        [1, 0]
    """

    def run(task: Task) -> tuple[Codes, Sequence[Coin]]:
        try:
            method.check(task)
            answer = method.answer(task)
        except ContradictionError as error:
            raise OptionError(
                f"method {method} must have comparisons that are consistent, got a "
                "contradiction. Choose noise 'none' or method 'safe'."
            ) from error
        except RatingsError as error:
            raise OptionError(
                f"method {method} cannot be tried here: {error}"
            ) from error
        if not method.disjoint:
            return answer.order, ()
        order = answer.order.copy()
        place = np.argsort(order)
        for coin in answer.coins:
            if not coin.kept:
                order[place[list(coin.items)]] = coin.items[::-1]
        return order, answer.coins

    return run


def ranking_losses(
    tried: Sequence[Run],
    losses: Sequence[str],
    trials: Trials,
    rng: np.random.Generator,
) -> Floats:
    """Return the expected losses of ranking methods, shape (trials, methods, losses).

    All methods of a trial have the same seed, so that none depends on the others.

    Raises:
        OptionError: If a method cannot be used in a trial.

    Examples:
        >>> from evenhand.lab.scenario import Scenario, draw_trials
        >>> from evenhand.ranking.methods import Flips
        >>> scenario = Scenario(job="rank", items=4, design="everything")
        >>> rng = np.random.default_rng(7)
        >>> trials = draw_trials(scenario, 3, rng)
        >>> flips = ranking_method(Flips())
        >>> float(ranking_losses([flips], ["kendall"], trials, rng).sum())
        0.0
    """
    truth = trials.places()
    seeds = rng.integers(2**53, size=len(truth)).tolist()
    result = np.empty((len(truth), len(tried), len(losses)))
    for row, ratings in enumerate(_ratings_of(trials)):
        task = Task(ratings, seeds[row], intervals=False)
        for column, run in enumerate(tried):
            result[row, column] = expected_losses(*run(task), truth[row], losses)
    return result


def _ratings_of(trials: Trials) -> Iterator[Ratings]:
    """Make the Ratings of each trial.

    Labels are codes already, so only one is made from labels, and the others are copies
    with other items and scores: that takes a hundredth of the time.
    """
    count, n_reviewers, each = trials.assigned.shape
    reviewers = np.repeat(np.arange(n_reviewers), each)
    items, scores = (
        part.reshape(count, -1) for part in (trials.assigned, trials.scores)
    )
    every = range(trials.values.shape[1])
    first = Ratings(reviewers, items[0], scores[0], all_items=every)
    for row in range(count):
        ratings = copy.copy(first)
        ratings.item_codes, ratings.preference = items[row], scores[row]
        yield ratings


def expected_losses(
    order: Codes, coins: Sequence[Coin], truth: Codes, losses: Sequence[str]
) -> list[float]:
    """Average the losses of a ranking over independent coins on disjoint pairs.

    Args:
        order: Item codes, best first, as they are if every coin keeps them.
        coins: The coins; each keeps its first item first or exchanges the two.
        truth: Place of each item in the true ranking, from 0.
        losses: Which losses.

    Returns:
        The average of each.

    Examples:
        >>> from evenhand.ranking.flips import Coin
        >>> coin = Coin((1, 0), -1.0, 0.25, True, (0, 1))
        >>> order, truth = np.array([1, 0, 2]), np.arange(3)
        >>> expected_losses(order, [coin], truth, ["kendall", "zero-one"])
        [0.25, 0.25]
    """
    pairs = np.array([coin.items for coin in coins], dtype=np.int64).reshape(-1, 2)
    kept = np.array([coin.p_first for coin in coins])
    place = np.argsort(order)
    # Both places that an item may come to, and the chance of each.
    places, chances = np.stack([place, place]), np.zeros((2, len(order)))
    places[1, pairs] = place[pairs[:, ::-1]]
    chances[1, pairs] = 1 - kept[:, None]
    chances[0] = 1 - chances[1]

    def average(loss: str) -> float:
        if loss == "kendall":
            return _expected_kendall(places, chances, pairs, truth)
        if loss == "footrule":
            return float((chances * np.abs(places - truth)).sum())
        if loss == "zero-one":
            right = (chances * (places == truth)).sum(axis=0)
            # Of two exchanged items both come right or none.
            right[pairs[:, 0]], right[pairs[:, 1]] = right[pairs].min(axis=1), 1.0
            return float(1 - right.prod())
        missed = chances * (places >= _best(loss))
        return float(missed[:, truth < _best(loss)].sum())

    return [average(loss) for loss in losses]


def _expected_kendall(
    places: Codes, chances: Floats, pairs: Codes, truth: Codes
) -> float:
    above = np.zeros((len(truth), len(truth)))
    for one, p in zip(places, chances, strict=True):
        for two, q in zip(places, chances, strict=True):
            above += p[:, None] * q * (one[:, None] < two)
    # The two of a pair change places together.
    first, second = pairs.T
    above[first, second], above[second, first] = chances[0, first], chances[1, first]
    return float((1 - above)[truth[:, None] < truth].sum())

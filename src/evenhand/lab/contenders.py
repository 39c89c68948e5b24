"""What is tried in a simulation: rules for two items, ranking methods, and losses.

A text names a rule or a method, with options after a colon:

- two items: "median:lower", "trimmed:0.1", "votes:rational:2", "guarded:0.2",
  "guarded:0.2:midrank";
- many, in any order but for a weight, which comes last: "flips:3:linear:10",
  "flips-uniform:paper", "sorter:3" (score pairs for each coin), "twins:one:direct",
  "mean-rank:proxy", "ties:0.5" (noise), "safe:0.1:0.5" (eta, then noise), "raw" for
  sorter, ties and safe (scores as they are, not relative to shared items), and
  "safe:always" (reviewers are split whether they contradict each other or not).
"""

from __future__ import annotations

import contextlib
import copy
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand._labels import require_function, shown
from evenhand._randomness import stream
from evenhand.ab.comparison import METHODS as RULES
from evenhand.ab.numbers import Floats
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.calibration.models import MODELS
from evenhand.errors import OptionError, RatingsError, unknown
from evenhand.lab.duels import PAIRED, with_options
from evenhand.lab.scales import name_of
from evenhand.losses import loss as named_loss
from evenhand.posets.comparisons import comparisons
from evenhand.posets.contradictions import find_contradiction
from evenhand.ranking.answers import STARTS, WITH_SCORES, Options, Task, from_start
from evenhand.ranking.eta import check_eta
from evenhand.ranking.flips import SCANS, check_score_pairs
from evenhand.ranking.mean_rank import HOWS
from evenhand.ranking.models import by_estimates
from evenhand.ranking.ranking import METHODS, NOISY
from evenhand.ranking.split import WHEN
from evenhand.ranking.twins import BYS, PAIRS
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
Tried: TypeAlias = str | OwnRule | OwnRanking
Chance: TypeAlias = Callable[[Floats, Floats], Floats]

# What it costs to put two items in the wrong order.
OF_TWO = {"zero-one": 1.0, "kendall": 1.0, "footrule": 2.0, "top-1": 1.0}
ANCHORS = ("raw", "anchored")
CHOICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "flips-uniform": {"scan": SCANS},
    "twins": {"twins": PAIRS, "by": BYS},
    "mean-rank": {"mean_ranks": HOWS},
    "sorter": {"anchored": ANCHORS},
    "ties": {"anchored": ANCHORS},
    "safe": {"anchored": ANCHORS, "split": WHEN},
}
NUMBERS: Mapping[str, tuple[str, ...]] = {
    "flips": ("score_pairs",),
    "flips-uniform": ("score_pairs",),
    "sorter": ("score_pairs",),
    "ties": ("noise",),
    "safe": ("eta", "noise"),
}
WEIGHED = ("flips", "flips-uniform", "twins", "sorter")
# Methods whose coins are on disjoint pairs, so that they can be averaged out.
AVERAGED = ("flips", "flips-uniform", "twins")


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


def rule(method: Tried, weight: GapWeight) -> Chance:
    """Return the rule for two items that a text names, or a user's own.

    Returns:
        From scores of both items, shapes (trials, k1) and (trials, k2), to the
        probability that the first is output.

    Raises:
        OptionError: If there is no such rule or option.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> rule("median:lower", rational())(np.array([[1, 4]]), np.array([[2]]))
        array([0.])
    """
    if not isinstance(method, str):
        return _own_rule(method)
    name = method.partition(":")[0]
    if name not in RULES:
        raise OptionError(unknown("method", name, RULES))
    chance = with_options(method, weight)
    return functools.partial(_paired, chance) if name in PAIRED else chance


def _paired(chance: Chance, one: Floats, two: Floats) -> Floats:
    pairs = min(one.shape[-1], two.shape[-1])
    return chance(one[:, :pairs], two[:, :pairs])


def _own(function: Tried, *arguments: str) -> Callable[..., object]:
    """Refuse what is neither a name nor a function of these."""
    if not callable(function):
        raise OptionError(
            f"method must be a name or a function, got {shown(function)}."
        )
    require_function("method", function, *arguments)
    return function


def _own_rule(method: Tried) -> Chance:
    function = _own(method, "the first scores", "the second scores")

    def chance(one: Floats, two: Floats) -> Floats:
        answers = [function(a, b) for a, b in zip(one, two, strict=True)]
        for answer in answers:
            if not isinstance(answer, int | float | np.number) or not 0 <= answer <= 1:
                raise OptionError(
                    f"method {name_of(method)} must return a probability, got "
                    f"{shown(answer)}."
                )
        return np.array(answers, dtype=np.float64)

    return chance


def two_item_losses(
    trials: Trials, tried: Sequence[Chance], losses: Sequence[str]
) -> Floats:
    """Return the expected losses of rules, shape (trials, rules, losses).

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.lab.scenario import Scenario, draw_trials
        >>> scenario = Scenario(reviewers=4, scales="identity")
        >>> trials = draw_trials(scenario, 3, np.random.default_rng(7))
        >>> mean = rule("mean", rational())
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


def ranking_options(method: str, weight: GapWeight | None = None) -> Options:
    """Read what a text tells a ranking method.

    Args:
        method: A name, with options after a colon.
        weight: The weight if the text has none.

    Raises:
        OptionError: If there is no such method or option, or a number is out of range.

    Examples:
        >>> options = ranking_options("safe:raw:0.1")
        >>> options.anchored, options.eta
        (False, 0.1)
    """
    name, *left = method.split(":")
    if name not in METHODS:
        raise OptionError(unknown("method", name, METHODS))
    words, numbers = dict(CHOICES.get(name, {})), list(NUMBERS.get(name, ()))
    found: dict[str, str | float] = {}
    while left:
        fits = next((option for option in words if left[0] in words[option]), None)
        number = _as_number(left[0])
        if fits is not None:
            found[fits] = left.pop(0)
            del words[fits]
        elif numbers and number is not None:
            found[numbers.pop(0)] = number
            del left[0]
        else:
            break
    if left and name not in WEIGHED:
        allowed = _allowed(name)
        raise OptionError(f"method {name!r} must have {allowed}, got {method!r}.")
    check_score_pairs(found.get("score_pairs", 1))  # type: ignore[arg-type]  # refuses 1.5
    check_eta(found.get("eta", 0.0))  # type: ignore[arg-type]  # a number
    noise = float(found.get("noise", 0.0))
    if not (math.isfinite(noise) and noise >= 0):
        raise OptionError(f"noise must be a finite number of at least 0, got {noise}.")
    return Options(
        as_weight(":".join(left)) if left else as_weight(weight),
        start="mean-rank" if name == "ties" else "topological",
        **{**found, "anchored": found.get("anchored") != ANCHORS[0]},  # type: ignore[arg-type]  # by the tables above
    )


def _as_number(text: str) -> float | None:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return None


def _allowed(name: str) -> str:
    numbers = " and then ".join(NUMBERS.get(name, ()))
    words = [repr(word) for known in CHOICES.get(name, {}).values() for word in known]
    if not words:
        return "no option"
    parts = filter(None, [numbers, f"one of {', '.join(words)}"])
    return f"options {' and '.join(parts)}"


def ranking_method(method: Tried, weight: GapWeight) -> Run:
    """Return the ranking method that a text names, or a user's own.

    Returns:
        From what is to be ranked to item codes, best first, as they are if every coin
        keeps them, and those coins.

    Raises:
        OptionError: If there is no such method or option.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> ratings = Ratings(["a", "a"], [0, 1], [1, 2])
        >>> task = Task(ratings, comparisons(ratings), 7)
        >>> ranking_method("borda", rational())(task)[0].tolist()
        [1, 0]
    """
    if not isinstance(method, str):
        return _own_ranking(method)
    options = ranking_options(method, weight)
    name = method.partition(":")[0]

    def run(task: Task) -> tuple[Codes, Sequence[Coin]]:
        if name not in NOISY and find_contradiction(task.graph) is not None:
            raise OptionError(
                f"method {method!r} must have comparisons that are consistent, got a "
                "contradiction. Choose noise 'none' or method 'safe'."
            )
        try:
            if name in STARTS:
                return from_start(task, name, options.mean_ranks).order, ()
            if name in MODELS:
                # Without the intervals of `rank`, which take most of its time.
                return by_estimates(MODELS[name](task.ratings).estimates, task.seed), ()
            answer = WITH_SCORES[name](task, options)
        except RatingsError as error:
            raise OptionError(
                f"method {method!r} cannot be tried here: {error}"
            ) from error
        if name not in AVERAGED:
            return answer.order, ()
        order = answer.order.copy()
        place = np.argsort(order)
        for coin in answer.coins:
            if not coin.kept:
                order[place[list(coin.items)]] = coin.items[::-1]
        return order, answer.coins

    return run


def _own_ranking(method: Tried) -> Run:
    name, own = name_of(method), _own(method, "the ratings", "a Generator")

    def run(task: Task) -> tuple[Codes, Sequence[Coin]]:
        rng = np.random.Generator(stream(task.seed, name))
        answer = own(task.ratings, rng)
        order, n_items = np.asarray(answer), task.ratings.n_items
        if order.dtype.kind not in "iu" or not np.array_equal(
            np.sort(order), np.arange(n_items)
        ):
            raise OptionError(
                f"method {name} must return the code of each of the {n_items} items "
                f"once, best first, got {shown(answer)}."
            )
        return order.astype(np.int64), ()

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
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.lab.scenario import Scenario, draw_trials
        >>> scenario = Scenario(job="rank", items=4, design="everything")
        >>> rng = np.random.default_rng(7)
        >>> trials = draw_trials(scenario, 3, rng)
        >>> flips = ranking_method("flips", rational())
        >>> float(ranking_losses([flips], ["kendall"], trials, rng).sum())
        0.0
    """
    truth = trials.places()
    seeds = rng.integers(2**53, size=len(truth)).tolist()
    result = np.empty((len(truth), len(tried), len(losses)))
    for row, ratings in enumerate(_ratings_of(trials)):
        task = Task(ratings, comparisons(ratings), seeds[row])
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

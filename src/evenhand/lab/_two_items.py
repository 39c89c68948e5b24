"""Rules for two items on many trials at once, without flipping a coin.

A text names a rule, with its option after a colon: "median:lower", "trimmed:0.1",
"votes:rational:2", "guarded:0.2", "guarded:0.2:midrank". A user's own rule is a
function from the scores of the first item and of the second to the probability that the
first is output.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand._kernels.chances import packed_words, unpacked_scores
from evenhand._labels import require_function, shown
from evenhand.ab import rules
from evenhand.ab._numbers import Floats
from evenhand.ab._sides import PAIRED
from evenhand.ab.comparison import METHODS
from evenhand.ab.weights import as_weight
from evenhand.errors import OptionError, unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ab.weights import GapWeight
    from evenhand.lab._draws import Block
    from evenhand.lab._losses import Loss
    from evenhand.lab.scenario import Scenario

    Codes = NDArray[np.int64]
    Words = NDArray[np.uint64]

# Keys that differ by this much differ in the upper bits that are sorted by.
IN_ORDER = np.uint64(32)

OwnRule: TypeAlias = Callable[[Floats, Floats], float]
Chance: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule to be tried.

    Attributes:
        name: What the user called it.
        chance: From the scores of both sides, shapes (trials, k1) and (trials, k2), to
            the probability that the first is output.
        paired: Whether it needs scores in pairs.
    """

    name: str
    chance: Chance
    paired: bool


def rule(method: str | OwnRule, weight: GapWeight) -> Rule:
    """Return the rule that a text names, or a user's own.

    Raises:
        OptionError: If there is no such rule or option.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> rule("median:lower", rational()).chance(np.array([[1, 4]]), np.array([[2]]))
        array([0.])
    """
    if not isinstance(method, str):
        return _own(method)
    name, _, option = method.partition(":")
    if name not in METHODS:
        raise OptionError(unknown("method", name, METHODS))
    chance: Chance = getattr(rules, name)
    if name == "votes":
        chosen = as_weight(option) if option else weight
        chance = functools.partial(rules.votes, weight=chosen)
    elif name == "guarded":
        eps, statistic = _guard(option)
        chance = functools.partial(
            rules.guarded, eps=eps, statistic=statistic, weight=weight
        )
    elif name == "median" and option:
        chance = functools.partial(rules.median, median=option)
    elif name == "trimmed" and option:
        chance = functools.partial(rules.trimmed, trim=_number("trim", option))
    elif option:
        raise OptionError(f"method {name!r} must have no option, got {method!r}.")
    # A bad option is refused here, not in the middle of a run.
    chance(np.zeros((1, 1)), np.zeros((1, 1)))
    return Rule(method, chance, name in PAIRED)


def two_item_losses(
    scenario: Scenario, block: Block, tried: Sequence[Rule], losses: Sequence[Loss]
) -> Floats:
    """Return the expected losses of rules, shape (trials, rules, losses).

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.lab._draws import draw_block
        >>> from evenhand.lab._losses import loss
        >>> from evenhand.lab.scenario import Scenario
        >>> scenario = Scenario(reviewers=4, scales="identity")
        >>> block = draw_block(scenario, 7, 0, 3)
        >>> mean = rule("mean", rational())
        >>> two_item_losses(scenario, block, [mean], [loss("zero-one", 2)]).sum()
        np.float64(0.0)
    """
    sides = block.assigned[..., 0]
    m = sides.shape[1]
    keys = block.pairing
    if scenario.design == "matched":
        # One of each pair has each item, so pairs are found in the order they are in.
        keys = np.broadcast_to(np.arange(m, dtype=np.uint64) << IN_ORDER, sides.shape)
    scores = _by_side(sides, keys, block.scores[..., 0])
    firsts = m - sides.sum(axis=-1)
    chances = np.empty((len(scores), len(tried)))
    for count in np.flatnonzero(np.bincount(firsts)).tolist():
        rows = np.flatnonzero(firsts == count)
        those = scores if len(rows) == len(scores) else scores[rows]
        one, two = those[:, :count], those[:, count:]
        for column, this in enumerate(tried):
            chances[rows, column] = _chances(this, one, two)
    better = block.values[:, :1] > block.values[:, 1:]
    wrong = np.where(better, 1 - chances, chances)
    return np.asarray(wrong[..., None] * [loss.of_two() for loss in losses])


def _by_side(sides: Codes, keys: Words, scores: Floats) -> Floats:
    """Return the scores of the first item, then those of the second, by their keys.

    A word holds the side, as much of the key as there is room for, and the reviewer, so
    that sorting the words themselves, which is quick, sorts the reviewers.

    Args:
        sides: 0 or 1, shape (trials, reviewers).
        keys: Random words, of the same shape; equal ones leave the order as it is.
        scores: Scores, of the same shape.

    Examples:
        >>> keys = np.array([[5, 3, 9, 1]], dtype=np.uint64)
        >>> _by_side(np.array([[1, 0, 0, 1]]), keys, np.array([[5.0, 6.0, 7.0, 8.0]]))
        array([[6., 7., 8., 5.]])
    """
    bits = (sides.shape[1] - 1).bit_length()
    whole = np.ascontiguousarray(keys)
    words = packed_words(np.ascontiguousarray(sides), whole, bits)
    words.sort(axis=-1)
    ordered, close = unpacked_scores(words, np.ascontiguousarray(scores), bits)
    for row in np.flatnonzero(close).tolist():
        # Keys that differ in their last bits only, or not at all.
        ordered[row] = scores[row, np.lexsort((keys[row], sides[row]))]
    return ordered


def _chances(this: Rule, one: Floats, two: Floats) -> Floats:
    if 0 in (one.shape[-1], two.shape[-1]):
        return np.full(len(one), 0.5)
    if this.paired:
        pairs = min(one.shape[-1], two.shape[-1])
        one, two = one[:, :pairs], two[:, :pairs]
    return this.chance(one, two)


def _own(function: OwnRule) -> Rule:
    name = str(getattr(function, "__name__", type(function).__name__))
    if not callable(function):
        raise OptionError(
            f"method must be a name or a function, got {shown(function)}."
        )
    require_function("method", function, "the first scores", "the second scores")

    def chance(one: Floats, two: Floats) -> Floats:
        answers = [function(a, b) for a, b in zip(one, two, strict=True)]
        for answer in answers:
            if not isinstance(answer, int | float | np.number) or not 0 <= answer <= 1:
                raise OptionError(
                    f"method {name} must return a probability, got {shown(answer)}."
                )
        return np.array(answers, dtype=np.float64)

    return Rule(name, chance, paired=False)


def _guard(option: str) -> tuple[float, str | None]:
    """Read a probability of the votes, or a statistic, or one after the other."""
    if option in ("", *rules.STATISTICS):
        return rules.EPS, option or None
    eps, _, statistic = option.partition(":")
    return _number("eps", eps), statistic or None


def _number(name: str, option: str) -> float:
    try:
        return float(option)
    except ValueError:
        raise OptionError(f"{name} must be a number, got {option!r}.") from None

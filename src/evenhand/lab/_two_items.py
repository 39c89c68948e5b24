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

from evenhand._labels import shown
from evenhand.ab import rules
from evenhand.ab._numbers import Floats
from evenhand.ab._sides import PAIRED
from evenhand.ab.comparison import METHODS
from evenhand.ab.weights import as_weight
from evenhand.errors import OptionError, unknown

if TYPE_CHECKING:
    from evenhand.ab.weights import GapWeight
    from evenhand.lab._draws import Block
    from evenhand.lab._losses import Loss
    from evenhand.lab.scenario import Scenario

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
    sides, scores = block.assigned[..., 0], block.scores[..., 0]
    keys = block.pairing
    if scenario.design == "matched":
        keys = np.broadcast_to(np.arange(sides.shape[1]) // 2, sides.shape)
    shuffled = np.argsort(keys, axis=-1, kind="stable")
    by_side = np.argsort(
        np.take_along_axis(sides, shuffled, axis=-1), axis=-1, kind="stable"
    )
    order = np.take_along_axis(shuffled, by_side, axis=-1)
    scores = np.take_along_axis(scores, order, axis=-1)
    firsts = (sides == 0).sum(axis=-1)
    chances = np.empty((len(scores), len(tried)))
    for count in np.unique(firsts).tolist():
        rows = np.flatnonzero(firsts == count)
        one, two = scores[rows, :count], scores[rows, count:]
        for column, this in enumerate(tried):
            chances[rows, column] = _chances(this, one, two)
    better = block.values[:, :1] > block.values[:, 1:]
    wrong = np.where(better, 1 - chances, chances)
    return np.asarray(wrong[..., None] * [loss.of_two() for loss in losses])


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

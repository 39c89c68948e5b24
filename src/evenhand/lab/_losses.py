"""Losses by name, averaged over the chance that a ranking was made with.

A ranking has coins on pairs of items, and groups of tied items of which the chance of
each item to come before each other one is known. Coins are averaged out of every loss.
Kendall tau adds up over pairs, so groups are averaged out of it too where no other item
stands between theirs; all else takes the ranking as it was drawn.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from evenhand._kernels.simulation import expected_losses
from evenhand._labels import shown
from evenhand.errors import OptionError
from evenhand.losses import loss as named_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from evenhand.ranking.flips import Coin

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

# In the order of `expected_losses`.
NAMES = ("zero-one", "kendall", "footrule")
ZERO_ONE, KENDALL = 0, 1


@dataclass(frozen=True, slots=True)
class Loss:
    """One loss.

    Attributes:
        name: Its name.
        column: Which of the four losses of `expected_losses` it is.
        best: How many items count as the best.
    """

    name: str
    column: int
    best: int

    def of_two(self) -> float:
        """Return the loss of putting two items in the wrong order.

        Examples:
            >>> loss("footrule", 2).of_two(), loss("top-1", 2).of_two()
            (2.0, 1.0)
        """
        return (1.0, 1.0, 2.0, float(self.best == 1))[self.column]


def loss(name: str, items: int) -> Loss:
    """Return the loss that a text names.

    Args:
        name: "zero-one", whether the ranking is not exactly right; "kendall", the
            number of pairs in the wrong order; "footrule", the sum of the distances
            from the true places; or "top-3", how many of the best three items are not
            among the first three, and so on.
        items: Number of items.

    Returns:
        The loss.

    Raises:
        OptionError: If there is no such loss.

    Examples:
        >>> loss("top-3", 10)
        Loss(name='top-3', column=3, best=3)
    """
    if not isinstance(name, str):
        raise OptionError(f"loss must be a name, got {shown(name)}.")
    # Unknown names are refused there.
    named_loss(name)
    if name in NAMES:
        return Loss(name, NAMES.index(name), 1)
    best = int(name.removeprefix("top-"))
    if best > items:
        raise OptionError(
            f"loss must be at most 'top-{items}' for {items} items, got {name!r}."
        )
    return Loss(name, len(NAMES), best)


class Outcome(Protocol):
    """What a method made of a trial, as far as it is not yet left to chance."""

    def average(self, truth: Codes, losses: Sequence[Loss]) -> list[float]:
        """Return the expectation of each loss.

        Args:
            truth: Place of each item in the true ranking, from 0.
            losses: Which losses.
        """


@dataclass(frozen=True, slots=True)
class Group:
    """Tied items in neighbouring places.

    Attributes:
        items: Their codes.
        first: first[i][j] is the probability that items[i] comes before items[j].
    """

    items: tuple[int, ...]
    first: Sequence[Sequence[float]]

    def averaged_out(self, place: Codes, truth: Codes) -> float:
        """Return by how much Kendall tau is higher on average than as drawn.

        Examples:
            >>> group = Group((0, 1, 2), [[0.5] * 3] * 3)
            >>> group.averaged_out(np.array([2, 1, 0]), np.array([0, 1, 2]))
            -1.5
        """
        gain = 0.0
        for i, j in itertools.combinations(range(len(self.items)), 2):
            one, other = self.items[i], self.items[j]
            right = truth[one] < truth[other]
            wrong = 1 - self.first[i][j] if right else self.first[i][j]
            gain += wrong - ((place[one] < place[other]) != right)
        return float(gain)


@dataclass(frozen=True, slots=True)
class Arranged:
    """An ordering with coins and groups of tied items.

    Attributes:
        order: Item codes, best first, as they are if every coin keeps them; groups as
            they were drawn.
        coins: Coins on disjoint pairs of items.
        groups: Disjoint groups of items without coins.
    """

    order: Codes
    coins: Sequence[Coin] = ()
    groups: Sequence[Group] = ()

    def average(self, truth: Codes, losses: Sequence[Loss]) -> list[float]:
        """Return the expectation of each loss; see `average_losses`."""
        return average_losses(self.order, self.coins, truth, losses, self.groups)


@dataclass(frozen=True, slots=True)
class Questioned:
    """An ordering that was asked for question by question.

    Attributes:
        right: From true places to the probability that all answers, and what is left
            open after them, come out right.
        drawn: Draws the ordering, for other losses.
    """

    right: Callable[[Codes], float]
    drawn: Callable[[], Codes]

    def average(self, truth: Codes, losses: Sequence[Loss]) -> list[float]:
        """Return the expectation of the zero-one loss, and other losses as drawn."""
        found = [0.0] * len(losses)
        if any(loss.column != ZERO_ONE for loss in losses):
            found = average_losses(self.drawn(), (), truth, losses)
        if any(loss.column == ZERO_ONE for loss in losses):
            wrong = 1 - self.right(truth)
            for number, loss in enumerate(losses):
                if loss.column == ZERO_ONE:
                    found[number] = wrong
        return found


def average_losses(
    order: Codes,
    coins: Sequence[Coin],
    truth: Codes,
    losses: Sequence[Loss],
    groups: Sequence[Group] = (),
) -> list[float]:
    """Average losses of a ranking over its coins, and Kendall tau over its groups.

    Args:
        order: Item codes, best first, as they are if every coin keeps them.
        coins: Coins on disjoint pairs of items.
        truth: Place of each item in the true ranking, from 0.
        losses: Which losses.
        groups: Disjoint groups of items without coins, in neighbouring places.

    Returns:
        The average of each.

    Examples:
        >>> from evenhand.ranking.flips import Coin
        >>> coin = Coin((1, 0), -1.0, 0.25, True, (0, 1))
        >>> average_losses(np.array([1, 0, 2]), [coin], np.arange(3),
        ...                [loss("kendall", 3), loss("zero-one", 3)])
        [0.25, 0.25]
    """
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    mate = np.arange(len(order))
    moved = np.zeros(len(order))
    for coin in coins:
        one, other = coin.items
        mate[one], mate[other] = other, one
        moved[one] = moved[other] = 1 - coin.p_first
    found = {
        best: expected_losses(place, mate, moved, truth, best)
        for best in {loss.best for loss in losses}
    }
    apart = sum(group.averaged_out(place, truth) for group in groups)
    for column in found.values():
        column[KENDALL] += apart
    return [float(found[loss.best][loss.column]) for loss in losses]

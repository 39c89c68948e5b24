"""Losses by name, averaged over the coins of a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.simulation import expected_losses
from evenhand._labels import shown
from evenhand.errors import OptionError
from evenhand.losses import loss as named_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.ranking.flips import Coin

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

# In the order of `expected_losses`.
NAMES = ("zero-one", "kendall", "footrule")


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


def average_losses(
    order: Codes, coins: Sequence[Coin], truth: Codes, losses: Sequence[Loss]
) -> list[float]:
    """Average losses of a ranking over its coins.

    Args:
        order: Item codes, best first, as they are if every coin keeps them.
        coins: Coins on disjoint pairs of items.
        truth: Place of each item in the true ranking, from 0.
        losses: Which losses.

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
    return [float(found[loss.best][loss.column]) for loss in losses]

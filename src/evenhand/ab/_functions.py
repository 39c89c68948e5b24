"""A user's own function: applied to an array, and checked on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import shown
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.ab._numbers import Floats

GRID = np.concatenate([[0.0], np.logspace(-9, 9, 1000)])
# Below FLAT a step is rounding; above JUMP it cannot be.
FLAT = 1e-13
JUMP = 1e-6


def on_floats(function: Callable[..., object], points: Floats, what: str) -> Floats:
    """Apply a user's function to an array, or to one float after another.

    A function that was written for single numbers raises TypeError or ValueError on an
    array, or answers with one number. Any other error is the user's to see.

    Args:
        function: The user's function.
        points: Where it is wanted.
        what: What it is called in a message.

    Returns:
        Its values, of the shape of points.

    Raises:
        OptionError: If it does not answer with numbers.

    Examples:
        >>> import math
        >>> on_floats(math.sqrt, np.array([1.0, 4.0]), "root")
        array([1., 2.])
    """
    with np.errstate(all="ignore"):
        # A function of one number may take an array of one, with a warning.
        if points.size > 1:
            try:
                values = np.asarray(function(points), dtype=np.float64)
            except (TypeError, ValueError):
                values = np.empty(0)
            if values.shape == points.shape:
                return values
        answers = [function(point) for point in points.reshape(-1).tolist()]
    try:
        numbers = [float(answer) for answer in answers]  # type: ignore[arg-type]  # tried
    except (TypeError, ValueError):
        raise OptionError(
            f"{what} must return a number for a number, got {shown(answers[0])} at "
            f"{points.flat[0]}."
        ) from None
    return np.array(numbers).reshape(points.shape)


def check_weight(name: str, function: Callable[[float], float]) -> None:
    """Look for a gap at which a user's weight leaves [0, 1) or does not increase.

    Raises:
        OptionError: If the grid shows one.

    Examples:
        >>> check_weight("mine", lambda gap: gap / (2 + gap))
    """
    values = on_floats(function, GRID, f"weight {name}")
    outside = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if len(outside):
        place = int(outside[0])
        raise OptionError(
            f"weight {name} must be in [0, 1), got {values[place]:.4g} at "
            f"gap {GRID[place]:.3g}. For scores on a known range use linear."
        )
    steps = np.diff(values)
    flat = np.abs(steps) <= FLAT
    seen = steps > JUMP
    # A jump right after gap 0 is allowed.
    seen[0] = False
    # Rounding ends an increase little by little. A true plateau is entered or left
    # with a step that can be seen.
    plateau = np.zeros(len(steps), dtype=bool)
    plateau[1:] |= flat[1:] & seen[:-1]
    plateau[:-1] |= flat[:-1] & seen[1:]
    wrong = np.flatnonzero((steps < -FLAT) | plateau)
    if len(wrong) or flat[1:].all():
        place = int(wrong[0]) if len(wrong) else 1
        raise OptionError(
            f"weight {name} must be strictly increasing, got {values[place]} at gap "
            f"{GRID[place]:.3g} and {values[place + 1]} at gap {GRID[place + 1]:.3g}."
        )

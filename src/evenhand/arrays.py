"""What arrays hold, by name, and arrays that may not change."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
"""Codes of items or reviewers, or counts."""
Scores = NDArray[np.float64]
"""A number for each rating, item or reviewer."""
Table = NDArray[np.float64]
"""Numbers in rows and columns."""
Flags = NDArray[np.bool_]
"""What holds."""
Array = TypeVar("Array", bound=NDArray[np.generic])


def frozen(array: Array) -> Array:
    """Forbid changes to an array.

    Examples:
        >>> frozen(np.zeros(2)).flags.writeable
        False
    """
    array.flags.writeable = False
    return array

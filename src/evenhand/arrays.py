"""What arrays hold, by name, for annotations."""

from __future__ import annotations

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

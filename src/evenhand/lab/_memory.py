"""Memory that is used again and again."""

from __future__ import annotations

import numpy as np

# Larger than the arrays that come and go.
KEPT_BYTES = 1 << 24


def keep_freed_memory() -> None:
    """Let the C library keep what is freed for the next arrays.

    It does so once it has seen a large array come and go; before that, it asks the
    system for every page again, which takes as long as the work on it.

    Examples:
        >>> keep_freed_memory()
    """
    np.empty(KEPT_BYTES, dtype=np.uint8)

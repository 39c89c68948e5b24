"""How many cores there are to run on."""

from __future__ import annotations

import os


def cores() -> int:
    """Return the number of cores that this process may use.

    Examples:
        >>> cores() >= 1
        True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

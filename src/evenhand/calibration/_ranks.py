"""Scores as ranks among all ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]


def rank_shares(scores: Scores) -> Scores:
    """Return (rank - 1/2) / N; equal scores share the mean of their ranks.

    Examples:
        >>> rank_shares(np.array([3.0, 9.0, 3.0, -1.0])).tolist()
        [0.5, 0.875, 0.5, 0.125]
    """
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray((ranks[place] - 0.5) / len(scores))


def normal_scores(scores: Scores) -> Scores:
    """Return the normal quantiles of the rank shares.

    Examples:
        >>> normal_scores(np.array([3.0, 9.0, -1.0])).round(3).tolist()
        [0.0, 0.967, -0.967]
    """
    from scipy.special import ndtri  # noqa: PLC0415 - slow to load

    return np.asarray(ndtri(rank_shares(scores)))

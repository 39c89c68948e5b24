"""Integrals that are right to the last digits: Gauss-Legendre on halved panels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import ConvergenceError

Floats: TypeAlias = NDArray[np.float64]
Function: TypeAlias = Callable[[Floats], Floats]

ROUGH = np.polynomial.legendre.leggauss(8)
FINE = np.polynomial.legendre.leggauss(12)
# The rough rule may be off by this much on a panel. Where the function is smooth the
# fine rule, of half as many nodes again, is then off by its power 3/2: 1e-15.
TOLERANCE = 1e-10
PANELS = 20_000


def integrate(function: Function, edges: Iterable[float]) -> float:
    """Integrate a function that is smooth between edges, and mostly beyond.

    A panel on which two rules disagree is halved, so that a kink or a jump in an
    unknown place costs time and not accuracy.

    Args:
        function: From an array of points to an array of values.
        edges: Ends of the interval, and points between at which the function may bend.

    Returns:
        The integral.

    Raises:
        ConvergenceError: If that takes too many panels.

    Examples:
        >>> round(integrate(lambda x: np.abs(x - 0.3), [0, 1]), 8)
        0.29
    """
    points = sorted(set(edges))
    waiting = list(itertools.pairwise(points))[::-1]
    parts: list[float] = []
    while waiting:
        if len(parts) + len(waiting) > PANELS:
            raise ConvergenceError(
                f"the integral must settle within {PANELS} panels, got a function too "
                "rough for that. Use simulate."
            )
        low, high = waiting.pop()
        rough = _panel(function, ROUGH, low, high)
        fine = _panel(function, FINE, low, high)
        middle = (low + high) / 2
        if abs(fine - rough) <= TOLERANCE or not low < middle < high:
            parts.append(fine)
        else:
            waiting += [(middle, high), (low, middle)]
    return math.fsum(parts)


def over_gap(function: Function, bends: Iterable[float]) -> float:
    """Average a function of the gap between two values uniform on [0, 1].

    The larger minus the smaller has density 2 (1 - gap).

    Args:
        function: From an array of gaps to an array of values.
        bends: Gaps at which the function may bend or jump.

    Returns:
        The average.

    Examples:
        >>> round(over_gap(lambda gap: gap, []), 12)
        0.333333333333
    """
    inside = [bend for bend in bends if 0 < bend < 1]
    return integrate(lambda gap: 2 * (1 - gap) * function(gap), [0.0, *inside, 1.0])


def gap_nodes(edges: Sequence[float]) -> tuple[Floats, Floats]:
    """Return nodes and weights for `over_gap`, one panel between each two edges.

    Examples:
        >>> nodes, weights = gap_nodes([0, 1])
        >>> round(float((weights * nodes).sum()), 12), round(float(weights.sum()), 12)
        (0.333333333333, 1.0)
    """
    nodes, weights = FINE
    ends = np.asarray(edges, dtype=np.float64)
    halves = np.diff(ends)[:, None] / 2
    gaps = ends[:-1, None] + halves * (1 + nodes)
    return gaps.ravel(), (halves * weights * 2 * (1 - gaps)).ravel()


def _panel(
    function: Function, rule: tuple[Floats, Floats], low: float, high: float
) -> float:
    nodes, weights = rule
    half = (high - low) / 2
    return float(weights @ function(low + half * (1 + nodes))) * half

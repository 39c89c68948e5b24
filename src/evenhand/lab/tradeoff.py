"""The canonical setting, exactly: accuracy if all is well against accuracy if not.

Two items of values uniform on [0, 1], two reviewers, one coin. The paper's Figure 3
plots the estimator's relative improvement over a fair coin under perfect calibration
against that under a bias of 1 of one reviewer. For the weight gamma gap / (1 + gamma
gap) both have closed forms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.optimize import brentq

from evenhand.errors import OptionError

# Below this gamma the closed forms cancel and their power series are used.
SMALL = 0.125
TERMS = 40


class Tradeoff(NamedTuple):
    """Relative improvements over a fair coin, in per cent.

    Attributes:
        gamma: Parameter of the weight.
        perfect: If both reviewers report values as they are.
        biased: If one of them adds 1.
    """

    gamma: float
    perfect: float
    biased: float


def tradeoff(gamma: float) -> Tradeoff:
    """Return the point of the paper's Figure 3 for the weight rational(gamma).

    Args:
        gamma: Above 0.

    Returns:
        The point, right to about 13 digits from tiny to huge gamma.

    Raises:
        OptionError: If gamma is not a finite number above 0.

    References:
        Wang and Shah (2019), Section 4.3. Its "(25 %, 9 %)" at gamma = 1 was read off
        the plot; the point is this one.

    Examples:
        >>> point = tradeoff(1)
        >>> round(point.perfect, 2), round(point.biased, 2)
        (22.74, 9.05)
    """
    if not 0 < gamma < math.inf:
        raise OptionError(f"gamma must be finite and above 0, got {gamma!r}.")
    g = float(gamma)
    if g < SMALL:
        perfect, biased = _series(g)
    else:
        one, two = math.log1p(g), math.log1p(g / (1 + g))
        perfect = 1 - 2 / g * ((1 + 1 / g) * one - 1)
        biased = 2 / g - one / g**2 - (2 / g + 1 / g**2) * two
    return Tradeoff(g, 100 * perfect, 100 * biased)


def best_tradeoff() -> Tradeoff:
    """Return the point of Figure 3 where the improvement under bias is largest.

    Examples:
        >>> best = best_tradeoff()
        >>> round(best.gamma, 4), round(best.perfect, 2), round(best.biased, 2)
        (1.2299, 26.17, 9.13)
    """

    def slope(g: float) -> float:
        # The derivative of `biased`, times gamma**3 / 2.
        return math.log1p(g) - g - g / (1 + g) + (1 + g) * math.log1p(g / (1 + g))

    return tradeoff(float(brentq(slope, 0.5, 4.0, xtol=1e-15, rtol=1e-15)))


def known_bias_frontier(perfect: float) -> float:
    """Return the largest improvement under a bias of 1 that any weight allows.

    It is approached by weights that are constant up to gaps of 1 and near 1 beyond,
    and presumes that the bias is known to be 1. `evenhand.lab.frontier` finds the same
    by linear programming, and more.

    Args:
        perfect: Improvement under perfect calibration, in per cent.

    Returns:
        Improvement under bias, in per cent.

    Raises:
        OptionError: If perfect is not between 0 and 100.

    Examples:
        >>> known_bias_frontier(26.0)
        37.0
    """
    if not 0 <= perfect <= 100:  # noqa: PLR2004 - per cent
        raise OptionError(f"perfect must be between 0 and 100, got {perfect!r}.")
    return (100 - perfect) / 2


def _series(g: float) -> tuple[float, float]:
    # w = g u - (g u)**2 + ...; integrate 2 (1 - u) u**j over [0, 1], and
    # (2 - u) u**j over [1, 2] minus u u**j over [0, 1].
    perfect, biased = [], []
    for j in range(1, TERMS):
        power = -((-g) ** j)
        perfect.append(power * 2 / ((j + 1) * (j + 2)))
        biased.append(power * ((2 ** (j + 2) - 2) / (j + 1) - 2 ** (j + 2) / (j + 2)))
    return math.fsum(perfect), math.fsum(biased)

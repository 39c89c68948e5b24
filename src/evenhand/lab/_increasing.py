"""Do scores increase with values?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab._numbers import Floats, is_exact
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_increasing(values: Floats, scores: Floats, *, strict: bool = True) -> None:
    """Refuse scores that do not increase with the values they were given for.

    Args:
        values: Shape (..., reviewers, items).
        scores: Of the same shape.
        strict: Whether unequal values must get unequal scores.

    Raises:
        OptionError: If a reviewer scores a lower value higher, or equal values
            unequally, or, if strict, unequal values equally.

    Examples:
        >>> check_increasing(np.array([[1.0, 2.0]]), np.array([[7.0, 7.0]]))
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: scales must be increasing on the values used, got
        scores 7 and 7 for values 1 and 2 by reviewer 0.
    """
    if not is_exact(scores) and not np.isfinite(scores).all():
        place = tuple(np.argwhere(~np.isfinite(scores))[0].tolist())
        raise OptionError(
            f"scales must give finite scores on the values used, got {scores[place]:g} "
            f"for value {_brief(values[place])} by reviewer {place[-2]}."
        )
    order = np.argsort(values, axis=-1, kind="stable")
    low = np.take_along_axis(values, order, axis=-1)
    high = np.take_along_axis(scores, order, axis=-1)
    apart = low[..., 1:] > low[..., :-1]
    rises = high[..., 1:] > high[..., :-1]
    level = high[..., 1:] == high[..., :-1]
    wrong = np.where(apart, ~rises & (True if strict else ~level), ~level)
    if wrong.any():
        *leading, reviewer, item = np.argwhere(wrong)[0].tolist()
        one, two = (*leading, reviewer, item), (*leading, reviewer, item + 1)
        raise OptionError(
            "scales must be increasing on the values used, got scores "
            f"{_brief(high[one])} and {_brief(high[two])} for values "
            f"{_brief(low[one])} and {_brief(low[two])} by reviewer {reviewer}."
        )


def ranks(values: Floats) -> NDArray[np.int64]:
    """Count for each value how many of the same reviewer's are lower.

    Examples:
        >>> ranks(np.array([[2.5, 0.0, 9.0, 2.5]]))
        array([[1, 0, 3, 1]])
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    places = np.broadcast_to(np.arange(values.shape[-1]), values.shape).copy()
    places[..., 1:][ordered[..., 1:] == ordered[..., :-1]] = 0
    result = np.empty(values.shape, dtype=np.int64)
    # Equal values share the place of the first of them.
    firsts = np.maximum.accumulate(places, axis=-1)
    np.put_along_axis(result, order, firsts, axis=-1)
    return result


def _brief(number: object) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)

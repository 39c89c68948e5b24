"""Gap weights: how far a gap between two scores may push a coin.

A gap weight w is a strictly increasing map from gaps in [0, inf) to [0, 1). Its odd
extension W(d) = (1 + sign(d) w(|d|)) / 2 is the probability that the item whose score
is higher by d is output as better. Floats go in and out as arrays; Fractions stay exact
where the formula allows it.
"""

from __future__ import annotations

import bisect
import functools
import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import (
    Floats,
    Numbers,
    as_numbers,
    constant,
    is_exact,
    magnitude,
    map_exact,
)
from evenhand.errors import (
    OptionError,
    RatingsError,
    as_finite,
    as_positive,
    must_be,
    name_of,
    quote,
    require_function,
    unknown,
)
from evenhand.lazy import lazy
from evenhand.method import option, parse
from evenhand.randomness import Stream, is_below

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy import optimize

    from evenhand.claims import Json

    ExactMap = Callable[[Fraction], Fraction]
else:
    optimize = lazy("scipy.optimize")

Number = int | float | Fraction

GRID = np.concatenate([[0.0], np.logspace(-9, 9, 1000)])
# Below FLAT a step is rounding; above JUMP it cannot be.
FLAT = 1e-13
JUMP = 1e-6
# A user's function is never asked beyond this gap, where its own formula may overflow.
FAR = 1e100
# A gap just beyond a declared range is the rounding of a difference, not a bad score.
ROUNDING = 1e-12
HALF = 0.5
# Points of `best` in a range, and the slope that keeps it strictly increasing.
KNOTS, SLOPE = 20, 1e-4
# Eight units of rounding. If probabilities a step apart differ by more, then those a
# step apart at smaller gaps, where a weight is steeper, differ as computed as well.
BLURRED = 2.0**-50
# A probability that is computed is nearer than this to the exact one.
NEAR = 2.0**-40


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GapWeight:
    """An increasing map from gaps to [0, 1).

    Attributes:
        name: Name of the family, or of the user's function.
        parameters: Its parameters by name; of a base, the weight.
        function: The map on an array of gaps of at least 0.
        exact: The map on one Fraction, or None if there is no exact form.
        limit: Largest gap that it is defined for, or None.
        checked_on_grid: True for a user's function, whose range and strict increase
            were seen on a grid only.

    Examples:
        >>> weight = rational(2)
        >>> weight, weight(1.5)
        (rational(gamma=2), np.float64(0.75))
        >>> weight(Fraction(1, 3))
        Fraction(2, 5)
    """

    name: str
    parameters: Mapping[str, Json | GapWeight]
    function: Callable[[Floats], Floats]
    exact: ExactMap | None = None
    limit: Fraction | None = None
    checked_on_grid: bool = False

    def __call__(self, gap: Numbers) -> Floats:
        """Return the weight of each gap; Fractions for Fractions where exact.

        Raises:
            RatingsError: If a gap is negative or not a number.
            OptionError: If a gap is beyond the declared range.
        """
        gaps = as_numbers(gap, "gap", infinite=True)
        if (gaps < 0).any():
            raise RatingsError(f"gap must be at least 0, got {gaps.min()}.")
        return self.values(gaps)[()]

    def values(self, gaps: Floats) -> Floats:
        """Return the weights of gaps that are already checked, as an array."""
        slack = 1 if is_exact(gaps) else 1 + ROUNDING
        if self.limit is not None:
            beyond = gaps > constant(self.limit, gaps) * slack
            if beyond.any():
                raise OptionError(
                    f"gap must be within the range {_json(self.limit)} of the linear "
                    f"weight, got {gaps[beyond].flat[0]}. Declare the full range of "
                    "the scores, or use the weight 'rational'."
                )
        if is_exact(gaps) and self.exact is not None:
            return map_exact(self.exact, gaps)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            values = self.function(gaps.astype(np.float64))
        return np.minimum(values, 1.0)

    def to_dict(self) -> dict[str, Json]:
        """Return name and parameters for the result's JSON.

        Examples:
            >>> rational(2).to_dict()
            {'name': 'rational', 'parameters': {'gamma': 2}, 'checked_on_grid': False}
        """
        parameters: dict[str, Json] = {
            name: to.to_dict() if isinstance(to, GapWeight) else to
            for name, to in self.parameters.items()
        }
        kind: Json = self.checked_on_grid
        return {"name": self.name, "parameters": parameters, "checked_on_grid": kind}

    def __repr__(self) -> str:
        parts = (f"{name}={to}" for name, to in self.parameters.items())
        return f"{self.name}({', '.join(parts)})"

    def __eq__(self, weight: object) -> bool:
        same = isinstance(weight, GapWeight) and self.to_dict() == weight.to_dict()
        return self is weight or (same and not self.checked_on_grid)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process by name and parameters."""
        return as_weight, (self.to_dict(),)


def rational(gamma: Number = 1) -> GapWeight:
    """Return the paper's weight, gamma gap / (1 + gamma gap).

    Args:
        gamma: How fast it rises, above 0.

    Returns:
        The weight; exact on Fractions.

    Raises:
        OptionError: If gamma is not a finite number above 0.

    Examples:
        >>> rational()([0.0, 1.0, 3.0])
        array([0.  , 0.5 , 0.75])
    """
    exact = as_positive("gamma", gamma)
    slope = float(exact)
    return GapWeight(
        "rational",
        {"gamma": _json(gamma)},
        lambda gaps: _share(slope * gaps),
        lambda gap: exact * gap / (1 + exact * gap),
    )


def sigmoid(scale: Number = 1) -> GapWeight:
    """Return the sigmoid weight, 1 / (1 + exp(-gap / scale)), 1/2 at gap 0.

    Args:
        scale: Gap at which it is 0.73, above 0.

    Returns:
        The weight.

    Raises:
        OptionError: If scale is not a finite number above 0.

    Examples:
        >>> sigmoid()([0.0, 2.0]).round(4)
        array([0.5   , 0.8808])
    """
    width = float(as_positive("scale", scale))
    return GapWeight(
        "sigmoid", {"scale": _json(scale)}, lambda gaps: _share(np.exp(gaps / width))
    )


def linear(range: Number) -> GapWeight:  # noqa: A002 - its name in text and JSON
    """Return the linear weight, gap / range, for scores on a declared range.

    It has the best guaranteed margin per unit of effect, if no gap exceeds the range.

    Args:
        range: Highest minus lowest possible score, above 0.

    Returns:
        The weight; exact on Fractions. A gap beyond the range is an OptionError.

    Raises:
        OptionError: If the range is not a finite number above 0.

    Examples:
        >>> linear(10)([0.0, 4.0, 10.0])
        array([0. , 0.4, 1. ])
    """
    exact = as_positive("range", range)
    width = float(exact)
    return GapWeight(
        "linear",
        {"range": _json(range)},
        lambda gaps: np.minimum(gaps / width, 1.0),
        lambda gap: gap / exact,
        limit=exact,
    )


def exponential(scale: Number = 1) -> GapWeight:
    """Return the exponential weight, 1 - exp(-gap / scale).

    Args:
        scale: Gap at which it is 0.63, above 0.

    Returns:
        The weight.

    Raises:
        OptionError: If scale is not a finite number above 0.

    Examples:
        >>> exponential(2)([0.0, 2.0]).round(4)
        array([0.    , 0.6321])
    """
    width = float(as_positive("scale", scale))
    return GapWeight(
        "exponential",
        {"scale": _json(scale)},
        lambda gaps: _share(np.expm1(gaps / width)),
    )


def offset(c: Number, base: GapWeight | str | None = None) -> GapWeight:
    """Return c + (1 - c) base: even a tiny gap pushes the coin by c.

    Args:
        c: Weight of the smallest gap, at least 0 and below 1.
        base: The weight that is squeezed into [c, 1), rational(1) if None.

    Returns:
        The weight; exact on Fractions if the base is.

    Raises:
        OptionError: If c is out of range.

    Examples:
        >>> offset(0.5, rational())([0.0, 1.0])
        array([0.5 , 0.75])
    """
    exact_c = as_finite("c", c)
    if not 0 <= exact_c < 1:
        raise OptionError(f"c must be at least 0 and below 1, got {c!r}.")
    under = as_weight(base)
    low, room = float(exact_c), float(1 - exact_c)
    exact = under.exact
    return GapWeight(
        "offset",
        {"c": _json(c), "base": under},
        lambda gaps: low + room * under.values(gaps),
        None if exact is None else lambda gap: exact_c + (1 - exact_c) * exact(gap),
        under.limit,
        under.checked_on_grid,
    )


def points(gaps: Sequence[Number], weights: Sequence[Number]) -> GapWeight:
    """Return a weight that is linear between points, such as `best` finds.

    Args:
        gaps: Increasing, from 0 to the largest gap that there can be.
        weights: Weights of these gaps, increasing, at least 0 and at most 1.

    Returns:
        The weight; exact on Fractions. A larger gap is an OptionError.

    Raises:
        OptionError: If the points are not such.

    Examples:
        >>> points((0, 1, 4), (0.25, 0.5, 1))([0.0, 0.5, 4.0])
        array([0.25 , 0.375, 1.   ])
    """
    try:
        xs, ys = (
            [as_finite("point", value) for value in row] for row in (gaps, weights)
        )
    except TypeError:
        raise must_be(
            "gaps and weights", "two lists of numbers", (gaps, weights)
        ) from None
    steps = [b - a for row in (xs, ys) for a, b in itertools.pairwise(row)]
    sized = len(xs) == len(ys) > 1 and xs[0] == 0 <= ys[0] and ys[-1] <= 1
    if not sized or min(steps) <= 0:
        rule = "as many gaps from 0 as weights from 0 to 1, both increasing"
        raise must_be("points", rule, (gaps, weights))
    at, values = (np.array(row, dtype=np.float64) for row in (xs, ys))

    def exact(gap: Fraction) -> Fraction:
        place = min(max(bisect.bisect_left(xs, gap), 1), len(xs) - 1)
        share = (gap - xs[place - 1]) / (xs[place] - xs[place - 1])
        return ys[place - 1] + share * (ys[place] - ys[place - 1])

    parameters: dict[str, Json] = {"gaps": [*map(_json, gaps)]}
    parameters["weights"] = [*map(_json, weights)]
    return GapWeight(
        "points",
        parameters,
        lambda gaps: np.interp(gaps, at, values),
        exact,
        xs[-1],
    )


def best(range: Number, bias: Number, *, perfect: float = 0.5) -> GapWeight:  # noqa: A002 - as of `linear`
    """Return the weight with the most accuracy under a bias of unknown size.

    Two reviewers score items whose values are uniform in a declared range, and one of
    them adds a bias between 0 and a declared one. Of all weights that save a given
    share of a coin's errors where there is no bias, it saves the largest share at the
    worst bias: a linear programme, on points a twentieth of the range apart. Of several
    best ones it is the solver's. Which reviewers there are decides on no guarantee.

    Args:
        range: Largest minus smallest value, above 0.
        bias: The largest bias, above 0.
        perfect: Share of a coin's errors to save without bias, from 0 to below 1.

    Returns:
        A weight of `points`, up to a gap of range + bias.

    Raises:
        OptionError: If a number is out of range.

    References:
        Wang and Shah (2019), Figure 3 and Section 5: how to choose w.

    Examples:
        >>> weight = best(1, 4)
        >>> weight.limit, weight([0.2, 2.0]).round(2).tolist()
        (Fraction(5, 1), [0.5, 0.69])
    """
    width, largest = (
        float(as_positive("range", range)),
        float(as_positive("bias", bias)),
    )
    if not 0 <= perfect < 1:
        raise must_be("perfect", "from 0 to below 1", perfect)
    gaps = np.unique(
        np.append(np.arange(0, width + largest, width / KNOTS), width + largest)
    )
    return points(gaps.tolist(), _best_at(gaps, width, largest, perfect).tolist())


def savings(gaps: Floats, width: float, bias: float) -> Floats:
    """Return what each point of a weight adds to the share of errors saved.

    Of the gaps of two values, u with density 2 (1 - u) for a range of 1, half are seen
    as u + bias, and half as u - bias.

    Examples:
        >>> parts = savings(np.array([0.0, 1.0]), 1.0, 0.0)
        >>> parts.round(3).tolist()
        [0.667, 0.333]
    """
    ends = np.unique(np.clip([*gaps, *(bias - gaps), *(gaps - bias)], 0, width))
    nodes, shares = np.polynomial.legendre.leggauss(3)
    length = np.diff(ends)[:, None]
    u = (ends[:-1, None] + length * (nodes + 1) / 2).ravel()
    mass = (length * shares / 2).ravel() * 2 * (1 - u / width) / width
    total = np.zeros(len(gaps))
    for seen in (u + bias, u - bias):
        size = np.abs(seen)
        above = np.clip(np.searchsorted(gaps, size), 1, len(gaps) - 1)
        part = (size - gaps[above - 1]) / (gaps[above] - gaps[above - 1])
        signed = mass * np.sign(seen) / 2
        np.add.at(total, above, signed * part)
        np.add.at(total, above - 1, signed * (1 - part))
    return total


def _best_at(gaps: Floats, width: float, bias: float, perfect: float) -> Floats:
    """Solve the linear programme, and add a slope so slight that it costs nothing."""
    size = len(gaps)
    rows = np.stack([savings(gaps, width, at) for at in gaps[gaps <= bias]])
    worst = np.concatenate([-rows, np.ones((len(rows), 1))], axis=1)
    enough = np.append(-savings(gaps, width, 0.0), 0.0)
    rises = np.eye(size - 1, size + 1) - np.eye(size - 1, size + 1, 1)
    limits = np.concatenate([np.zeros(len(rows)), [-perfect], np.zeros(size - 1)])
    solution = optimize.linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.vstack([worst, enough, rises]),
        b_ub=limits,
        bounds=[(0, 1)] * size + [(None, None)],
        method="highs",
    )
    steady = np.maximum.accumulate(np.clip(solution.x[:-1], 0, 1))
    return np.asarray(np.round((1 - SLOPE) * steady + SLOPE * gaps / gaps[-1], 9))


def as_weight(
    weight: GapWeight | Callable[[float], float] | Mapping[str, object] | str | None,
) -> GapWeight:
    """Return a gap weight from whatever names one.

    Args:
        weight: A GapWeight; None for rational(1); a text such as "rational(2)",
            "linear(10)" or "offset(0.3, rational(1))"; what
            `GapWeight.to_dict` returned, as it is in a record; or any function of a
            gap, on arrays or on single floats, whose range and strict increase are
            checked on a grid from 0 to a thousand million.

    Returns:
        The weight.

    Raises:
        OptionError: If the name is unknown, a parameter is bad, or the function leaves
            [0, 1) or does not increase.

    Examples:
        >>> as_weight("offset(0.3, rational(2))")
        offset(c=0.3, base=rational(gamma=2))
        >>> as_weight({"name": "linear", "parameters": {"range": 10}})
        linear(range=10)
        >>> as_weight(lambda gap: gap / (2 + gap)).checked_on_grid
        True
    """
    if weight is None:
        return rational()
    if isinstance(weight, GapWeight):
        return weight
    if isinstance(weight, str):
        call = parse(weight, "weight", "rational(2)")
        return _make(call.name, call.given, call.named, weight)
    if isinstance(weight, Mapping):
        name, parameters = weight.get("name"), weight.get("parameters", {})
        if weight.get("checked_on_grid", False) and name != "offset":
            raise OptionError(
                "weight must be a built-in one to be made again from a record, got the "
                f"function {quote(name)}. Pass the function itself."
            )
        return _make(name, (), parameters, parameters)  # type: ignore[arg-type]  # or an error
    if callable(weight):
        require_function("weight", weight, "a gap")
        name = name_of(weight)
        check_weight(name, weight)
        function = functools.partial(_in_range, name, weight)
        return GapWeight(name, {}, function, checked_on_grid=True)
    raise must_be("weight", "a name, a gap weight or a function of a gap", weight)


def odd(weight: GapWeight, gap: Numbers) -> Floats:
    """Return W(gap) = (1 + sign(gap) w(|gap|)) / 2, and 1/2 at 0 whatever w(0) is.

    W(-gap) is 1 - W(gap) to the last bit.

    Args:
        weight: The gap weight w.
        gap: Differences of two scores, of any sign.

    Returns:
        Probabilities, of the shape of gap.

    Raises:
        RatingsError: If a gap is not a number.
        OptionError: If a gap is beyond the weight's declared range.

    Examples:
        >>> odd(rational(), [-1.0, 0.0, 1.0])
        array([0.25, 0.5 , 0.75])
        >>> odd(sigmoid(), 0.0)
        np.float64(0.5)
    """
    gaps = as_numbers(gap, "gap", infinite=True)
    upper = np.asarray((1 + weight.values(magnitude(gaps))) / 2)
    half = constant(Fraction(1, 2), upper)
    sided = np.where(gaps < 0, 1 - upper, upper)
    return np.where(gaps == 0, half, sided)[()]


def toss(
    weight: GapWeight,
    unit: float,
    chance: float,
    scores: tuple[float | Fraction, float | Fraction],
    source: Stream,
) -> bool:
    """Toss the coin of two scores; exactly, if the weight has an exact form.

    Args:
        weight: The gap weight.
        unit: The uniform that decides, as `uniforms` draws it.
        chance: What `odd` returns for the gap in scores.
        scores: The two scores.
        source: Where further bits come from, if the uniform is too near the chance.

    Returns:
        Whether the first score wins, with probability W of their exact difference.

    Examples:
        >>> from evenhand.randomness import stream
        >>> toss(rational(), 0.74, 0.75, (4.0, 3.0), stream(7, "coins"))
        True
    """
    if weight.exact is None or abs(unit - chance) > NEAR:
        return unit < chance
    gap = Fraction(scores[0]) - Fraction(scores[1])
    # Differences of floats may be beyond the range by their rounding.
    size = abs(gap) if weight.limit is None else min(abs(gap), weight.limit)
    lean = weight.exact(size) if gap else Fraction(0)
    return is_below(unit, (1 + (lean if gap > 0 else -lean)) / 2, source)


def resolves(
    weight: GapWeight, gap: ArrayLike, *, step: float | Floats = 1
) -> NDArray[np.bool_]:
    """Say where floats still tell W(gap) from W(gap + step), and from a fair coin.

    Where they do not, a coin that is tossed exactly is better than a fair one by less
    than any number that is printed shows.

    Args:
        weight: The gap weight.
        gap: Differences of two scores, of any sign.
        step: Smallest change of a gap that should still count.

    Returns:
        True where the two probabilities differ, of the shape of gap.

    Examples:
        >>> resolves(rational(), [1.0, 1e6, 1e9, 1e16])
        array([ True,  True, False, False])
    """
    gaps = magnitude(as_numbers(gap, "gap", infinite=True)).astype(np.float64)
    # There is no gap beyond the range that the largest one could be taken for.
    limit = math.inf if weight.limit is None else float(weight.limit)
    gaps = np.minimum(gaps, np.maximum(limit - step, 0))
    chances, further = odd(weight, gaps), odd(weight, np.minimum(gaps + step, limit))
    seen = (gaps == 0) | (chances > HALF)
    return np.asarray(seen & (further - chances > BLURRED))[()]


def finest(scores: Floats) -> float:
    """Return the least difference between scores, 0 counted among them, at most 1.

    Differences that rounding makes do not count.

    Examples:
        >>> finest(np.array([7.5, 3.0, 0.1 + 0.2, 0.3]))
        0.3
    """
    ordered = np.unique(np.append(scores, 0.0))
    with np.errstate(over="ignore"):
        steps = np.diff(ordered)
    sizes = np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    return float(steps[steps > ROUNDING * sizes].min(initial=1.0))


def _share(size: Floats) -> Floats:
    """Return size / (1 + size), so that rounding never makes it fall."""
    return np.asarray(1 / (1 + 1 / size), dtype=np.float64)


def _json(value: Number) -> int | float:
    exact = Fraction(value)
    whole = exact.denominator == 1 and not isinstance(value, float)
    return exact.numerator if whole else float(exact)


def _make(
    name: object, values: Sequence[object], named: Mapping[str, object], source: object
) -> GapWeight:
    """Make a weight by its name and parameters."""
    if not isinstance(name, str) or name not in _MAKERS:
        raise OptionError(unknown("weight", name, NAMES))
    form = inspect.signature(_MAKERS[name])
    try:
        form.bind(*values, **named)
    except TypeError:
        raise OptionError(
            f"weight {name} must have {', '.join(form.parameters)}, got "
            f"{quote(source)}. Write for instance rational(1), linear(10) or "
            "offset(0.3, rational(1))."
        ) from None
    return _MAKERS[name](*values, **named)


_MAKERS: dict[str, Callable[..., GapWeight]] = {
    maker.__name__: maker
    for maker in (rational, sigmoid, linear, exponential, offset, points)
}
NAMES = tuple(_MAKERS)


def _in_range(name: str, function: Callable[[float], float], gaps: Floats) -> Floats:
    values = on_floats(function, np.minimum(gaps, FAR), f"weight {name}")
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        raise OptionError(
            f"weight {name} must be in [0, 1), got {values[bad].flat[0]:.4g} at gap "
            f"{gaps[bad].flat[0]:.3g}. For scores on a known range use linear."
        )
    return values


def on_floats(function: Callable[..., object], points: Floats, what: str) -> Floats:
    """Apply a user's function to one float after another.

    Args:
        function: The user's function; an error in it is the user's to see.
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
        answers = [function(point) for point in points.reshape(-1).tolist()]
    try:
        numbers = [float(answer) for answer in answers]  # type: ignore[arg-type]  # tried
    except (TypeError, ValueError):
        raise OptionError(
            f"{what} must return a number for a number, got {quote(answers[0])} at "
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
    values = _in_range(name, function, GRID)
    steps = np.diff(values)
    flat, seen = np.abs(steps) <= FLAT, steps > JUMP
    # A jump right after gap 0 is allowed.
    seen[0] = False
    # Rounding ends an increase little by little. A true plateau is entered or left
    # with a step that can be seen.
    entered, exited = np.append(False, seen[:-1]), np.append(seen[1:], False)
    wrong = np.flatnonzero((steps < -FLAT) | (flat & (entered | exited)))
    if len(wrong) or flat[1:].all():
        place = int(wrong[0]) if len(wrong) else 1
        raise OptionError(
            f"weight {name} must be strictly increasing, got {values[place]} at gap "
            f"{GRID[place]:.3g} and {values[place + 1]} at gap {GRID[place + 1]:.3g}."
        )


WEIGHT = option(
    rational(),
    "How a gap in scores weighs: rational(2), linear(10), sigmoid(1), exponential(1), "
    "offset(0.3, rational(2)), or in Python a function of a gap.",
    as_weight,
)

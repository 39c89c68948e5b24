"""Chance: named streams from one seed, and the exact law of a small random procedure.

Every draw comes from a stream that is named for its purpose and follows from one seed,
so that a result repeats on any machine. A procedure that asks a `Chance` for its coins
and picks can be run with a stream, or followed through every choice by `outcomes`,
which gives the exact probability of each result.
"""

from __future__ import annotations

import functools
import hashlib
import math
import secrets
from fractions import Fraction
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

import numpy as np

from evenhand.errors import OptionError, must_be
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray
    from scipy import special

    Result = TypeVar("Result", bound=Hashable)
    # For each choice the branch that is taken, and the weights of all.
    Way = Sequence[tuple[int, tuple[Fraction, ...]]]
else:
    special = lazy("scipy.special")

RNGLike = np.random.Generator | np.random.SeedSequence | int | None
Stream = np.random.PCG64

P = ParamSpec("P")
T = TypeVar("T")

SEED_BITS = 53
WORD_BITS = 64
_TO_UNIT = 2.0**-SEED_BITS
# Uniforms lie on a grid of 2**-53 from 0, where the normal quantile is infinite.
_HALF_STEP = _TO_UNIT / 2


def seed_as_rng(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function understand `seed` as another word for its `rng`.

    Examples:
        >>> seed_as_rng(lambda rng=None: rng)(seed=7)
        7
    """

    @functools.wraps(function)
    def call_with_rng(*arguments: P.args, **options: P.kwargs) -> T:
        if "seed" in options:
            if options.get("rng") is not None:
                raise OptionError("seed and rng are one option: give one of them.")
            options["rng"] = options.pop("seed")
        return function(*arguments, **options)

    return call_with_rng


def seed_from(rng: RNGLike) -> int:
    """Turn whatever the user gave as `rng` into one integer seed.

    An integer is taken as it is; a Generator or SeedSequence yields a 53-bit seed; None
    draws a fresh one. The seed goes into the result, where it repeats the run.

    Examples:
        >>> seed_from(7)
        7
        >>> seed_from(np.random.default_rng(7)) == seed_from(np.random.default_rng(7))
        True
    """
    if rng is None:
        return secrets.randbits(SEED_BITS)
    if isinstance(rng, np.random.Generator):
        # Two raw words, since some bit generators have only 32 bits in one.
        first, second = (int(word) for word in rng.bit_generator.random_raw(2))
        return int(((first << 32) ^ second) % 2**SEED_BITS)
    if isinstance(rng, np.random.SeedSequence):
        return int(rng.generate_state(1, np.uint64)[0]) >> (WORD_BITS - SEED_BITS)
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        rule = "a Generator, a SeedSequence, None or an integer of at least 0"
        raise must_be("rng", rule, rng)
    return int(rng)


def stream(seed: int, purpose: str) -> Stream:
    """Open the stream of raw bits that a seed has for one purpose.

    Examples:
        >>> stream(7, "pairing").random_raw() == stream(7, "coins").random_raw()
        False
    """
    digest = hashlib.sha256(purpose.encode()).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key))


def as_stream(source: Stream | RNGLike, purpose: str) -> Stream:
    """Return a stream as it is, and open one from whatever else the user gave.

    Examples:
        >>> as_stream(7, "coins").random_raw() == stream(7, "coins").random_raw()
        True
    """
    if isinstance(source, Stream):
        return source
    return stream(seed_from(source), purpose)


def uniforms(source: Stream, size: int | tuple[int, ...]) -> NDArray[np.float64]:
    """Draw uniforms on the grid of 2**-53 in [0, 1).

    Examples:
        >>> bool((uniforms(stream(7, "coins"), (2, 3)) < 1).all())
        True
    """
    shape = (size,) if isinstance(size, int) else size
    words = source.random_raw(math.prod(shape))
    words >>= np.uint64(WORD_BITS - SEED_BITS)
    return np.multiply(words, _TO_UNIT, dtype=np.float64).reshape(shape)


def is_below(unit: float, chance: Fraction, source: Stream) -> bool:
    """Say whether a uniform number of unlimited bits is below a chance.

    Args:
        unit: Its first 53 bits, as `uniforms` draws them.
        chance: The chance, which the answer is True with, exactly.
        source: Where further bits come from, as far as they matter.

    Examples:
        >>> is_below(0.5, Fraction(1, 3), stream(7, "coins"))
        False
        >>> is_below(1 - 2**-53, 1 - Fraction(1, 10**40), stream(7, "coins"))
        True
    """
    low, step = Fraction(unit), Fraction(1, 2**SEED_BITS)
    while low < chance < low + step:
        step /= 2**WORD_BITS
        low += int(source.random_raw()) * step
    return low + step <= chance


def standard_normal(units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn uniforms into standard normal numbers.

    Examples:
        >>> standard_normal(np.array([0.0, 0.5])).round(3)
        array([-8.292,  0.   ])
    """
    return np.asarray(special.ndtri(np.maximum(units, _HALF_STEP)), dtype=np.float64)


def below(source: Stream, bound: int) -> int:
    """Draw an integer that is exactly uniform on 0, ..., bound - 1; any size of bound.

    Raises:
        OptionError: If bound is not at least 1.

    Examples:
        >>> 0 <= below(stream(7, "choice"), 10**50) < 10**50
        True
    """
    if bound < 1:
        raise must_be("bound", "at least 1", bound)
    bits = (bound - 1).bit_length()
    if bits == 0:
        return 0
    words = -(-bits // WORD_BITS)
    while True:
        value = 0
        for _ in range(words):
            value = (value << WORD_BITS) | int(source.random_raw())
        value >>= words * WORD_BITS - bits
        if value < bound:
            return value


def permutation(source: Stream, size: int) -> NDArray[np.int64]:
    """Draw a uniformly random order of 0, ..., size - 1.

    Sorting random words gives a uniform order once they are distinct, so equal words
    (one time in 10**13 at a thousand items) are drawn again.

    Examples:
        >>> sorted(permutation(stream(7, "pairing"), 4).tolist())
        [0, 1, 2, 3]
    """
    while True:
        words = np.atleast_1d(source.random_raw(size))
        order = np.argsort(words, kind="stable")
        if size == 0 or bool((np.diff(words[order]) > 0).all()):
            return order.astype(np.int64)


HALF = Fraction(1, 2)
_STATE = (
    "program must depend on chance alone, but it went another way when the same "
    "choices were replayed. Keep no state between runs."
)


class Chance(Protocol):
    """What a randomised procedure may ask for."""

    def pick(self, count: int) -> int:
        """Return one of 0, ..., count - 1, all equally likely."""

    def coin(self, p: Fraction) -> bool:
        """Return True with probability p."""


class Drawn:
    """A Chance that draws from a stream, exactly."""

    def __init__(self, source: Stream) -> None:
        """Take the stream."""
        self._source = source

    def pick(self, count: int) -> int:
        """Return one of 0, ..., count - 1, all equally likely."""
        return below(self._source, count)

    def coin(self, p: Fraction) -> bool:
        """Return True with probability p."""
        return below(self._source, p.denominator) < p.numerator


class _Path:
    """A Chance that goes a given way, then the first, and notes the other ways."""

    def __init__(self, way: Way, weight: Fraction) -> None:
        self.way, self.weight, self.others = list(way), weight, list[_Path]()
        self.left = iter(way)

    def pick(self, count: int) -> int:
        return self._choose((Fraction(1, count),) * count)

    def coin(self, p: Fraction) -> bool:
        if not isinstance(p, Fraction | int) or not 0 <= p <= 1:
            raise must_be("p", "a Fraction between 0 and 1", p)
        return self._choose((Fraction(p), 1 - Fraction(p))) == 0

    def _choose(self, weights: tuple[Fraction, ...]) -> int:
        for branch, expected in self.left:
            if expected != weights:
                raise OptionError(_STATE)
            return branch
        first, *later = (branch for branch, weight in enumerate(weights) if weight > 0)
        for branch in reversed(later):
            way = (*self.way, (branch, weights))
            self.others.append(_Path(way, self.weight * weights[branch]))
        self.way.append((first, weights))
        self.weight *= weights[first]
        return first


def outcomes(program: Callable[[Chance], Result]) -> dict[Result, Fraction]:
    """Return every result of a randomised procedure with its exact probability.

    The program is run once for each sequence of choices, so their number must be small.

    Args:
        program: A procedure that takes all its randomness from the Chance it is given
            and returns something hashable.

    Returns:
        From each possible result to its probability; they add up to one.

    Raises:
        OptionError: If the program keeps state.

    Examples:
        >>> two_dice = outcomes(lambda chance: chance.pick(6) + chance.pick(6))
        >>> two_dice[10]
        Fraction(1, 36)
        >>> outcomes(lambda chance: chance.coin(Fraction(3, 4)))
        {True: Fraction(3, 4), False: Fraction(1, 4)}
    """
    law: dict[Result, Fraction] = {}
    paths = [_Path((), Fraction(1))]
    while paths:
        path = paths.pop()
        result = program(path)
        if next(path.left, None) is not None:
            raise OptionError(_STATE)
        law[result] = law.get(result, Fraction(0)) + path.weight
        paths += path.others
    return law


def pick_places(
    logs: NDArray[np.float64], lots: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Pick a place for each uniform, with chances that are known but for a factor.

    Args:
        logs: Logarithm of each place's chance, up to a constant.
        lots: The uniforms.

    Examples:
        >>> pick_places(np.log([1.0, 2.0, 1.0]), np.array([0.2, 0.5, 0.9])).tolist()
        [0, 1, 2]
    """
    shares = np.cumsum(np.exp(logs - logs.max()))
    place = np.searchsorted(shares, lots * shares[-1])
    return np.asarray(np.minimum(place, len(logs) - 1), dtype=np.int64)

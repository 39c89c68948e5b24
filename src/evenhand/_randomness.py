"""Where chance comes from: one seed, named streams, raw PCG64 bits.

NumPy may change how its Generator methods turn bits into numbers; it does not change
PCG64 or SeedSequence. All draws here are made from raw 64-bit words, so a seed means
the same thing on every machine and under every NumPy. Each purpose has its own stream,
so that adding a draw for one never shifts another.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

RNGLike = np.random.Generator | np.random.SeedSequence | int | None
Stream = np.random.PCG64

SEED_BITS = 53
WORD_BITS = 64
_TO_UNIT = 2.0**-SEED_BITS
# Uniforms lie on a grid of 2**-53 from 0, where the normal quantile is infinite.
_HALF_STEP = _TO_UNIT / 2


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
        raise OptionError(
            f"rng must be a Generator, a SeedSequence, None or an integer of at least "
            f"0, got {rng!r}."
        )
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
    units = (words >> np.uint64(WORD_BITS - SEED_BITS)).astype(np.float64)
    return (units * _TO_UNIT).reshape(shape)


def standard_normal(units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn uniforms into standard normal numbers.

    Examples:
        >>> standard_normal(np.array([0.0, 0.5])).round(3)
        array([-8.292,  0.   ])
    """
    # Imported here because few draws need it.
    from scipy.special import ndtri  # noqa: PLC0415 - slow to load

    return np.asarray(ndtri(np.maximum(units, _HALF_STEP)), dtype=np.float64)


def below(source: Stream, bound: int) -> int:
    """Draw an integer that is exactly uniform on 0, ..., bound - 1; any size of bound.

    Raises:
        OptionError: If bound is not at least 1.

    Examples:
        >>> 0 <= below(stream(7, "choice"), 10**50) < 10**50
        True
    """
    if bound < 1:
        raise OptionError(f"bound must be at least 1, got {bound}.")
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

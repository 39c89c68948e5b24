"""Compiled loops: arrays and drawn uniforms in, arrays out.

One file per room. A kernel never validates, draws or raises; each has a plain twin in
its test that it is compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function with Numba, keeping its type for mypy.

    The compiled code is kept on disk; where no folder can be written, as for a user
    without a home, it is compiled anew in each run. Other threads run beside it.
    """
    try:
        return cast("Callable[P, R]", numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast("Callable[P, R]", numba.njit(nogil=True)(function))

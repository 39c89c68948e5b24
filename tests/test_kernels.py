"""The decorator of compiled loops."""

import os
import subprocess
import sys
from collections.abc import Callable

import numba
import pytest

from evenhand._kernels import kernel


def test_kernels_run_where_nothing_can_be_kept_on_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    njit = numba.njit

    def nowhere_to_write(
        *functions: Callable[[int], int], cache: bool = False, nogil: bool = False
    ) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*functions, nogil=nogil)  # type: ignore[call-overload]  # with or without a function

    monkeypatch.setattr(numba, "njit", nowhere_to_write)
    doubled = kernel(lambda number: 2 * number)
    assert doubled(21) == 42


def test_kernels_run_as_plain_python() -> None:
    code = (
        "import numpy as np\n"
        "from evenhand._kernels.kendall import disagreements, places_of\n"
        "from evenhand.posets.orderings import order_edges\n"
        "few, other = np.arange(3), np.array([2, 0, 1])\n"
        "print(places_of(np.arange(40)[::-1])[:2], disagreements(few, other))\n"
        "print(order_edges(3, [2, 1], [0, 0]).order)\n"
    )
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(  # noqa: S603 - our own code.
        [sys.executable, "-c", code],
        check=False,
        env=plain,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[39 38] 2\n[1 2 0]\n", done.stderr

"""The decorator of compiled loops."""

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

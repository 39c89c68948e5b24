"""The decorator of compiled loops."""

import numba
import pytest

from evenhand._kernels import kernel


def test_kernels_run_where_nothing_can_be_kept_on_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    njit = numba.njit

    def nowhere_to_write(*, cache: bool = False, nogil: bool) -> object:
        assert nogil
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(nogil=nogil)

    monkeypatch.setattr(numba, "njit", nowhere_to_write)
    doubled = kernel(lambda number: 2 * number)
    assert doubled(21) == 42

"""Work done on several cores."""

import threading

import pytest

from evenhand import _cores
from evenhand._cores import beside, cores


def test_there_is_a_core() -> None:
    assert cores() >= 1


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("worth", [False, True])
def test_results_come_in_the_order_of_the_work(
    monkeypatch: pytest.MonkeyPatch, number: int, *, worth: bool
) -> None:
    monkeypatch.setattr(_cores, "cores", lambda: number)
    threads = set()

    def piece(value: int) -> int:
        threads.add(threading.get_ident())
        return value

    work = [lambda value=value: piece(value) for value in range(9)]
    assert beside(work, worth=worth) == list(range(9))
    assert len(threads) <= (number if worth else 1)
    if number == 1 or not worth:
        assert threads == {threading.get_ident()}


def test_nothing_to_do_is_done() -> None:
    assert beside([]) == []


def test_an_error_of_one_piece_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cores, "cores", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        beside([lambda: 1 // 1, lambda: 1 // 0])

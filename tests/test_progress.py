"""Long work says what it is at, once, and only to somebody who watches."""

from __future__ import annotations

import io
import sys
import time
from types import ModuleType

import pytest

import evenhand as eh
from evenhand import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watch(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in place of stderr; a fixture's would be captured over."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    return found


def test_nothing_is_shown_of_short_work(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    eh.rank(eh.Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7)
    assert terminal.getvalue() == ""


def test_long_work_shows_what_it_is_at_and_takes_it_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = watch(monkeypatch)
    with progress.working("Counting", after=0.01) as say:
        say("Counting on", 1, 2)
        time.sleep(0.4)
        with progress.working("Within", after=0.0):
            time.sleep(0.05)
    shown = terminal.getvalue()
    assert "Counting on" in shown
    assert "Within" not in shown
    assert shown.rstrip().endswith("\x1b[2K")


def test_nobody_watches_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with progress.working("Counting", after=0.0):
        time.sleep(0.05)
    assert file.getvalue() == ""


def test_a_notebook_gets_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    with progress.working("Counting", after=0.0) as say:
        time.sleep(0.2)
        say("Counting on")
    assert file.getvalue() == "Counting ...\n"


def test_an_error_ends_the_display(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    with pytest.raises(ZeroDivisionError), progress.working("Counting"):
        raise ZeroDivisionError
    with progress.working("Again", after=0.0):
        time.sleep(0.4)
    assert "Again" in terminal.getvalue()

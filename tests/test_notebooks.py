"""Each notebook runs from top to bottom as a script and says what it should."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

NOTEBOOKS = Path(__file__).parent.parent / "examples" / "notebooks"


def run(name: str) -> dict[str, Any]:
    return runpy.run_path(str(NOTEBOOKS / f"{name}.py"))


def test_there_are_three() -> None:
    names = {path.stem for path in NOTEBOOKS.glob("*.py")}
    assert names == {"conference", "ab", "judges"}


def test_a_conference_is_checked_ranked_and_drawn() -> None:
    cells = run("conference")
    assert cells["check"].findings
    assert len(cells["ranking"].order) == 12


def test_the_better_design_is_found() -> None:
    assert run("ab")["comparison"].winner == "B"


def test_judges_are_held_to_people(capsys: pytest.CaptureFixture[str]) -> None:
    """A noise judge is named; 12 intervals of 95% miss 3 in one seed of 500."""
    cells = run("judges")
    assert [row.reviewer for row in cells["check"].unreliable] == ["judge z"]
    assert cells["check"].unreliable[0].gain > 0.03
    assert sum(cells["right"]) >= 9
    assert "whatever judges do" in capsys.readouterr().out

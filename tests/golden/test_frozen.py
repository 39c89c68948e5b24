"""Answers stay as they were stored: discrete fields identical, floats to 1e-9."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import frozen

CASES = list(frozen.cases(Path("inputs")))


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    frozen.write_inputs(folder)
    return folder


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_answers_are_as_stored(name: str, inputs: Path) -> None:
    case = next(case for case in frozen.cases(inputs) if case.name == name)
    stored = frozen.load(case.store)[name]
    assert frozen.differences(stored, frozen.answer(case), case) == []


def test_a_changed_answer_is_seen() -> None:
    case = CASES[0]
    stored = {"order": ["a", "b"], "items": [{"mean_score": 1.0, "rank": 1}]}
    other = {"order": ["b", "a"], "items": [{"mean_score": 1.0 + 1e-8, "rank": 2}]}
    found = frozen.differences(stored, other, case)
    assert [place.split(":")[0] for place in found] == [
        ".items[0].mean_score",
        ".items[0].rank",
        ".order[0]",
        ".order[1]",
    ]

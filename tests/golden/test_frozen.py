"""Answers stay as they were stored: discrete fields identical, floats to 1e-9."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import frozen

CASES = list(frozen.cases(Path("inputs")))


Stored = dict[str, tuple[frozen.Case, object]]


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Each case, on files that are written once, with its answer."""
    folder = tmp_path_factory.mktemp("inputs")
    frozen.write_inputs(folder)
    answers: dict[str, object] = {}
    for path in sorted({case.store for case in CASES}):
        answers |= frozen.load(path)
    return {case.name: (case, answers[case.name]) for case in frozen.cases(folder)}


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_answers_are_as_stored(name: str, stored: Stored) -> None:
    case, answer = stored[name]
    assert frozen.differences(answer, frozen.answer(case), case) == []


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

"""Damaged exports are read or refused in a sentence; see fuzzing.py for a long run."""

import random
from pathlib import Path

import pytest

from tests.formats.fuzzing import (
    BINARY,
    COMPANIONS,
    EXPORTS,
    attempt,
    damaged,
    options,
    samples,
)

TEXTS = [path for path in samples() if path.suffix not in BINARY]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_damaged_export_is_read_or_refused_in_a_sentence(path: Path) -> None:
    chance = random.Random(path.name)
    other = COMPANIONS.get(path.name)
    second = None if other is None else (EXPORTS / other).read_bytes()
    for _ in range(30):
        data = damaged(path.read_bytes(), chance)
        assert attempt(path.name, data, options(path.name, chance), second) in (
            "read",
            "refused",
        )

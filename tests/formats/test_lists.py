"""Lists of items and reviewers that were written by us, read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from evenhand.formats.lists import read_labels
from evenhand.words.exports import export_tables

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "json", "jsonl"])
def test_labels_with_any_number_of_apostrophes_come_back(
    tmp_path: Path, suffix: str
) -> None:
    labels = ["=q", "'=r", "''=s", "x"]
    table = pl.DataFrame({"item": labels, "score": [1, 2, 3, 4]})
    path = tmp_path / f"items.{suffix}"
    path.write_bytes(export_tables({"ratings": table}, str(path)))
    assert read_labels(str(path), "item") == labels

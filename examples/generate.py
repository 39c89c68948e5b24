"""Make the example files: `python examples/generate.py`.

Everything here is generated; a test checks that the files are what this writes.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand import designs
from evenhand._randomness import stream, uniforms
from evenhand.cli.demo import as_csv, conference

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 7
HERE = Path(__file__).parent


def table(header: list[str], rows: list[list[object]]) -> str:
    """Write rows as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def two_designs() -> str:
    """Twelve visitors, each with a scale of their own, each shown one design."""
    shown = designs.halves(12, rng=SEED)
    slopes = 1 + 4 * uniforms(stream(SEED, "slopes"), 12)
    shifts = 5 * uniforms(stream(SEED, "shifts"), 12)
    rows: list[list[object]] = [
        [
            f"visitor {visitor + 1:02d}",
            "new design" if item else "old design",
            round(float(shifts[visitor] + slopes[visitor] * (0.4, 0.9)[item]), 1),
        ]
        for visitor, item in enumerate(shown.tolist())
    ]
    return table(["user", "variant", "rating"], rows)


FILES: dict[str, Callable[[], str]] = {
    "conference.csv": lambda: as_csv(conference(SEED)[0]),
    "designs.csv": two_designs,
    "contradiction.csv": lambda: table(
        ["reviewer", "item", "score"],
        [["Anna", "x", 5], ["Anna", "y", 3], ["Bo", "y", 9], ["Bo", "x", 8]],
    ),
    "duels.csv": lambda: table(
        ["judge", "winner", "loser"],
        [["Cy", "apple", "quince"], ["Dee", "pear", "plum"], ["Cy", "apple", "plum"]],
    ),
}

if __name__ == "__main__":
    for name, make in FILES.items():
        (HERE / name).write_text(make(), encoding="utf-8")

"""The level of intervals of ranks and marks is written once."""

import subprocess
import sys

SCRIPT = """
import evenhand.claims
evenhand.claims.LEVEL = 0.8
import evenhand as eh
from evenhand.words.tables import grades
ratings = eh.Ratings([*"aaabbbccc"], [*"xyz" * 3], [9, 5, 1, 8, 6, 2, 5, 7, 3])
ranking, marks = eh.rank(ratings, top=1, rng=7), eh.grade(ratings, rng=7)
print(ranking.uncertainty.level, ranking)
print(marks.assumes, [column.title for column in grades(marks).columns])
"""


def test_one_constant_changes_numbers_and_sentences() -> None:
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - our own script
    text = done.stdout
    assert text.startswith("0.8 ")
    assert "8 of 10 intervals" in text
    assert "'80% interval'" in text
    assert "90" not in text

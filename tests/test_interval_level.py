"""The levels of intervals are written once: each changes numbers and sentences."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = """
import json, re, sys
import evenhand.claims
evenhand.claims.LEVEL, evenhand.claims.CONFIDENCE = map(float, sys.argv[1:])
import evenhand as eh
from evenhand.words.tables import grades

people, items = [*"aaaabbbbccccdddd"], [*"wxyz" * 4]
scores = [9, 5, 1, 3, 8, 6, 2, 5, 5, 7, 3, 4, 7, 8, 2, 1]
ratings = eh.Ratings(people, items, scores)
ranking, marks = eh.rank(ratings, top=1, rng=7), eh.grade(ratings, passing=4, rng=7)
compared = eh.compare([3, 4, 5, 6, 9], [1, 2, 2, 3, 4], design="halves", rng=7)
checked = eh.check(ratings, top=1, rng=7)
results = {"rank": ranking, "grade": marks, "compare": compared, "check": checked}
texts = {name: str(result) for name, result in results.items()}
texts["grade"] += str([column.title for column in grades(marks).columns])
pages = {}
for name, result in results.items():
    result.report("report.html")
    pages[name] = re.sub("<[^>]*>", "", open("report.html").read())
said = {
    name: sorted(set(re.findall(r"(\\d+) ?% (?:rank )?interval", text + pages[name])))
    for name, text in texts.items()
}
share, ranked = checked.variance.reviewer, ranking.to_dict()
numbers = {
    "level": ranked["intervals"]["level"],
    "rank": [[row["rank_low"], row["rank_high"]] for row in ranked["items"]],
    "grade": [[row["low"], row["high"]] for row in marks.to_dict()["grades"]],
    "compare": [[compared.difference.low, compared.difference.high]],
    "check": [[share.low, share.high]],
}
print(json.dumps([said, numbers], default=float))
"""


def answers(folder: Path, level: float, confidence: float) -> Any:  # noqa: ANN401 - JSON
    """Return which levels the words name, and the ends of the intervals."""
    command = [sys.executable, "-c", SCRIPT, str(level), str(confidence)]
    done = subprocess.run(  # noqa: S603 - our own script
        command, capture_output=True, check=False, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_one_constant_changes_every_number_and_sentence(tmp_path: Path) -> None:
    (said, wide), (other_said, narrow) = (
        answers(tmp_path, *levels) for levels in ((0.9, 0.95), (0.5, 0.7))
    )
    # Reports of a ranking and of marks also show what a check estimates.
    assert said["rank"] == said["grade"] == ["90", "95"]
    assert said["compare"] == said["check"] == ["95"]
    assert other_said["rank"] == other_said["grade"] == ["50", "70"]
    assert other_said["compare"] == other_said["check"] == ["70"]
    assert (wide["level"], narrow["level"]) == (0.9, 0.5)
    for name in ("rank", "grade", "compare", "check"):
        ends = list(zip(wide[name], narrow[name], strict=True))
        assert all(a[0] <= b[0] <= b[1] <= a[1] for a, b in ends), name
        assert wide[name] != narrow[name], name

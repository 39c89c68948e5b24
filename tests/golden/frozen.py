"""Answers that were stored once, so that a change of code shows as a change of answers.

Every command and method on the examples and on small sets, each hard in one way.
`python -m tests.golden.frozen [WORDS]` stores the cases whose names have these words
again: only where an answer is meant to change, in the same commit, which says why.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from click.testing import CliRunner

import evenhand as eh
from evenhand.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FLOATS = 1e-9
# In standard errors: two correct builds differ by more in one of 1.7 million numbers.
ERRORS = 5.0
MANY = 1000

RANK = [method.name for method in eh.methods("rank")]
COMPARE = [method.name for method in eh.methods("compare")]


def _rows(text: str) -> list[tuple[str, str, float]]:
    """Read "r: a 1, b 2; s: ..." as ratings."""
    rows = []
    for part in text.split(";"):
        reviewer, given = part.split(":")
        for one in given.split(","):
            item, score = one.split()
            rows.append((reviewer.strip(), item, float(score)))
    return rows


RATINGS = {
    "ties": _rows(
        "r1: a 3, b 3, c 2; r2: b 4, c 4, d 1; r3: a 5, d 5; r4: c 2, e 2, a 3;"
        "r5: e 1, b 1, d 1"
    ),
    "contradictions": _rows(
        "r1: a 5, b 3; r2: b 9, a 2; r3: a 7, c 4, d 1; r4: c 8, b 6; r5: d 3, b 2.5;"
        "r6: d 4, c 1"
    ),
    "groups": _rows("r1: a 5, b 3; r2: b 4, c 1; r3: x 9, y 2; r4: y 7, z 3; r5: w 4"),
    "one-reviewer": _rows("r1: a 5, b 3, c 9, d 1"),
    "equal": _rows("r1: a 5, b 5; r2: b 5, c 5; r3: c 5, a 5"),
    "chain": _rows(
        "r1: a 1.5, b .5; r2: b 3, c 2; r3: c 90, d 10; r4: a 7, d 2; r5: e 3, b 2;"
        "r6: e 0.25, f -1; r7: f 6, g 5.5"
    ),
    "far-apart": _rows(
        "r1: a 1e9, b 1; r2: b 5, c 4; r3: a 1e-9, c -1e9; r4: c 2, b 2.5"
    ),
}
SIDES: dict[str, tuple[list[float], list[float]]] = {
    "stars": ([5, 5, 4, 4, 3, 5, 2, 4], [3, 4, 2, 5, 1, 3, 4]),
    "sided-equal": ([3, 3, 3], [3, 3, 3]),
    "lone": ([7.5], [2.5]),
    "odd-counts": ([1, 2, 3.25], [0.5, 9, 2, 4, 1.75]),
    "wide-range": ([1e6, 1e-6, 3], [2.5, 1e6, -4]),
}


class Case(NamedTuple):
    """A command line to run, and the file with its input."""

    name: str
    words: tuple[str, ...]

    @property
    def store(self) -> Path:
        """The file that holds this case and others on the same data."""
        return HERE / "answers" / f"{self.name.split(' ')[0]}.json"


def write_inputs(folder: Path) -> None:
    """Write the generated sets as files there."""
    for name, rows in RATINGS.items():
        lines = ["reviewer,item,score", *(f"{r},{i},{s!r}" for r, i, s in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    for name, sides in SIDES.items():
        scores = [
            (item, s) for item, side in zip("AB", sides, strict=True) for s in side
        ]
        lines = [f"u{place},{item},{s!r}" for place, (item, s) in enumerate(scores)]
        lines.insert(0, "reviewer,item,score")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    for name, count in {"items": 6, "two": 2, "people": 12}.items():
        names = [f"{name[0]}{place}" for place in range(count)]
        (folder / f"{name}.txt").write_text("\n".join(names) + "\n")


def cases(folder: Path) -> Iterator[Case]:
    """List all cases."""
    yield from _many_items(folder)
    yield from _two_items(folder)
    for design in ("halves", "coins", "pairs", "balanced"):
        items = folder / ("two.txt" if design in {"halves", "coins"} else "items.txt")
        words = ["assign", "--items", str(items), "--design", design, "--seed", "7"]
        words += ["--reviewers", str(folder / "people.txt")]
        words += ["--per-reviewer", "3"] if design == "balanced" else []
        yield Case(f"assign {design}", tuple(words))
    simulate = ("simulate", "--workers", "1", "--seed", "7")
    for method in COMPARE:
        run = (*simulate, "--trials", "2000", "--method", method)
        yield Case(f"simulate compare {method}", run)
    many = ("--job", "rank", "--items", "5", "--reviewers", "8", "--trials", "500")
    for method in ("flips", "twins", "sorter", "mean-rank", "mean", "bradley-terry"):
        yield Case(f"simulate rank {method}", (*simulate, *many, "--method", method))
    yield Case("methods", ("methods",))


def _many_items(folder: Path) -> Iterator[Case]:
    named = {name: folder / f"{name}.csv" for name in RATINGS}
    examples = ("panel", "conference", "duels")
    named |= {name: ROOT / "examples" / f"{name}.csv" for name in examples}
    for name, path in named.items():
        for method in RANK:
            words = ["rank", str(path), "--method", method, "--seed", "7", "--top", "2"]
            if method not in {"mean", "adaptive"}:
                words += ["--design", "pairs(distinct)"]
            yield Case(f"{name} rank {method}", tuple(words))
        yield Case(f"{name} check", ("check", str(path), "--seed", "7", "--top", "2"))
    split = ("--design", "pairs(distinct)", "--method", "safe(split=always)")
    safe = ("rank", str(named["contradictions"]), "--seed", "7", *split)
    yield Case("contradictions rank safe split", safe)


def _two_items(folder: Path) -> Iterator[Case]:
    pairs = {name: folder / f"{name}.csv" for name in SIDES}
    pairs["designs"] = ROOT / "examples" / "designs.csv"
    for name, path in pairs.items():
        start = ("compare", str(path), "--seed", "7")
        for method in COMPARE:
            words = (*start, "--method", method)
            yield Case(f"{name} compare {method} None", words)
            for design in ("halves", "coins"):
                declared = (*words, "--design", design)
                yield Case(f"{name} compare {method} {design}", declared)
        for test in ("mean", "median", "trimmed", "midrank", "pairs"):
            yield Case(f"{name} compare test {test}", (*start, "--test", test))


def answer(case: Case) -> object:
    """Run a case: its JSON, or the sentence with which it was refused."""
    result = CliRunner().invoke(cli, [*case.words, "--json"], catch_exceptions=False)
    if result.exit_code:
        # Paths differ from run to run, and the end of a refusal says what to do.
        sentence = " ".join(result.stderr.split())
        return {"exit": result.exit_code, "refused": sentence[-160:]}
    document = json.loads(result.stdout)
    document.pop("version", None)
    if "hashes" in document:  # that of the version is another in every version
        del document["hashes"]["version"], document["sha256"]
    return _without_facts(document)


def _without_facts(value: object) -> object:
    """Leave out facts: the sentences beside them are made of them."""
    if isinstance(value, dict):
        kept = {name: part for name, part in value.items() if name != "facts"}
        return {name: _without_facts(part) for name, part in kept.items()}
    return [*map(_without_facts, value)] if isinstance(value, list) else value


def differences(stored: object, found: object, case: Case) -> list[str]:
    """List the places where two answers differ by more than they may."""
    return list(_compare(stored, found, "", _Slack(stored, case)))


class _Slack:
    """How far sampled numbers of a document may be apart."""

    def __init__(self, document: object, case: Case) -> None:
        self.document = document if isinstance(document, dict) else {}
        self.command = case.words[0]
        intervals = self.document.get("intervals") or {}
        self.draws = int(intervals.get("draws", 0))
        parameters = self.document.get("parameters") or {}
        self.orders = int(parameters.get("samples") or 0)
        test = self.document.get("test") or {}
        self.test_error = float(test.get("se") or 0)
        self.sampled = self.command == "check" or self.draws or self.test_error
        shift = self.document.get("difference") or {}
        ends = [float(shift.get(end) or 0) for end in ("low", "high")]
        self.reach = ends[1] - ends[0] if shift.get("samples") else 0.0
        self.pairing_error = float(self.document.get("p_first_se") or 0)

    def of(
        self, place: str, value: float, parent: Mapping[str, object]
    ) -> float | None:
        """Return the slack of a number at a place; None where it is not looked at."""
        key = place.rsplit(".", 1)[-1]
        if self.command == "rank":
            return self._of_ranking(key, value)
        if self.command == "compare":
            return self._of_comparison(key)
        if self.command == "check" and place.startswith(".variance"):
            return 0.0 if key == "share" else 0.25  # ends of a bootstrap's interval
        if self.command == "simulate":
            error = parent.get("se" if key == "risk" else f"{key}_se")
            if isinstance(error, int | float):
                return ERRORS * math.sqrt(2) * float(error)
            return None if key.endswith("se") else 0.0
        return 0.0

    def _of_ranking(self, key: str, value: float) -> float | None:
        if self.draws and key == "p_top":
            return ERRORS * math.sqrt(2 * max(value * (1 - value), 0.01) / self.draws)
        if self.draws and key in {"rank_low", "rank_high"}:
            return 1.0 if self.draws >= MANY else 3.0
        if self.draws and key == "bucket":
            return None
        if self.orders and key == "mean_rank":
            return ERRORS * math.sqrt(2 / self.orders) * 4
        return 0.0

    def _of_comparison(self, key: str) -> float | None:
        if self.test_error and key.startswith("p_value"):
            return ERRORS * math.sqrt(2) * 2 * self.test_error
        if self.test_error and key in {"se", "samples", "seed"}:
            return None
        if self.reach and key in {"low", "high"}:
            return 0.2 * self.reach  # of five standard errors of 1,000 redraws or more
        if self.pairing_error and key in {"p_first", "p_first_se"}:
            return ERRORS * math.sqrt(2) * self.pairing_error
        return 0.0


def _compare(stored: object, found: object, place: str, slack: _Slack) -> Iterator[str]:
    if isinstance(stored, dict) and isinstance(found, dict):
        for key in sorted(stored.keys() | found.keys()):
            at = f"{place}.{key}"
            if key not in stored or key not in found:
                yield f"{at}: only {'found' if key in found else 'stored'}"
                continue
            pair = stored[key], found[key]
            if all(isinstance(one, int | float) for one in pair):
                yield from _numbers(pair, at, slack.of(at, float(pair[0]), stored))
            else:
                yield from _compare(*pair, at, slack)
    elif isinstance(stored, list) and isinstance(found, list):
        if len(stored) != len(found):
            yield f"{place}: {len(stored)} stored, {len(found)} found"
        for count, (one, other) in enumerate(zip(stored, found, strict=False)):
            yield from _compare(one, other, f"{place}[{count}]", slack)
    elif isinstance(stored, float) or isinstance(found, float):
        yield from _numbers((stored, found), place, 0.0)
    elif _words(stored, slack) != _words(found, slack):
        yield f"{place}: {stored!r} stored, {found!r} found"


def _words(value: object, slack: _Slack) -> object:
    """Leave numbers out of sentences that may quote sampled ones."""
    if isinstance(value, str) and slack.sampled and " " in value:
        return re.sub(r"[0-9.]+", "#", value)
    return value


def _numbers(
    pair: tuple[object, object], place: str, slack: float | None
) -> Iterator[str]:
    stored, found = pair
    if slack is None:
        return
    if not (isinstance(stored, int | float) and isinstance(found, int | float)):
        yield f"{place}: {stored!r} stored, {found!r} found"
        return
    apart = abs(float(stored) - float(found))
    whole = isinstance(stored, int) and isinstance(found, int)
    room = slack + (0.0 if whole else FLOATS * max(1.0, abs(float(stored))))
    if not apart <= room:
        yield f"{place}: {stored!r} stored, {found!r} found"


def load(path: Path) -> dict[str, object]:
    """Read the answers that a file holds."""
    stored: dict[str, object] = json.loads(path.read_text())
    return stored


def store(folder: Path, words: Sequence[str]) -> None:
    """Run and store the cases whose names have all words; others stay as they are."""
    write_inputs(folder)
    kept: dict[Path, dict[str, object]] = {}
    for case in cases(folder):
        held = kept.setdefault(
            case.store, load(case.store) if case.store.exists() else {}
        )
        if all(word in case.name for word in words):
            held[case.name] = answer(case)
    for path, held in kept.items():
        lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in held.items()]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        store(Path(place), sys.argv[1:])

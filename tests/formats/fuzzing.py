"""Damage the sample of every platform, and see that reading it never breaks.

The suite runs a few hundred of these; a longer run is

    python -m tests.formats.fuzzing 100000 --seed 1

which prints how many inputs of each sample were read and refused. Whatever comes out
must be ratings, or one of our sentences on one line.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import multiprocessing
import random
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import EvenhandError
from evenhand.formats import PLATFORMS
from evenhand.formats.reading import read_ratings
from tests.formats.lookalikes import FILES
from tests.formats.test_look_alikes import LOOK_ALIKES
from tests.formats.test_nested import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

EXPORTS = Path(__file__).parents[2] / "examples" / "exports"
BINARY = (".xlsx", ".parquet", ".xls")
COMPANIONS = {"moodle-assessments.csv": "moodle-submissions.csv"}
TOKENS = (
    *(b'"', b",", b";", b"\t", b"\n", b"\r\n", b"\0", b"\xff", b" ", b"'", b"''"),
    *(
        b"\xef\xbb\xbf",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"null",
        b"true",
        b"NaN",
        b"1e999",
    ),
    *(b"-0", b"007", b"9" * 400, b"A", b"F", b"X", b"5: good", b"accept", b"N/A", b"-"),
    *(
        b"=1+1",
        b"<script>",
        b"../../x",
        b"\\ud800",
        b"\xe2\x80\xae",
        b"paper",
        b"score",
    ),
    *(b"winner", b"left", b"tie", b"model_a", b">", b"=", b"Rank 1"),
    *(b"review", b"Email", b"- Value)", b"SubmissionId", b"Score: 3\n", b"total score"),
)
WORDS = "strong reject<reject<weak reject<weak accept<accept<strong accept"
OWN: dict[str, dict[str, str]] = {
    "hotcrp-reviews.csv": {"score": "Overall merit", "scale": "best=A"},
    "hotcrp-scores.csv": {"score": "OveMer"},
    "hotcrp-batch.csv": {"score": "Overall merit"},
    "hotcrp.json": {"score": "OveMer"},
    "openreview-v1.json": {"score": "rating"},
    "openreview-v2.json": {"score": "rating"},
    "cmt.csv": {"score": "Overall Rating"},
    "cmt.xlsx": {"score": "Overall Rating"},
    "cmt-older.xlsx": {"score": "Overall Rating"},
    "easychair-review.csv": {"score": "Overall evaluation"},
    "wide-items.csv": {"rows": "items"},
    "wide-reviewers.xlsx": {"rows": "reviewers"},
    "words.csv": {"scale": WORDS},
    "letters.tsv": {"scale": "best=A"},
}
"""What each sample needs, as in docs/formats.md."""
CELLS = tuple(token for token in TOKENS if not set(token) & set(b'",;\t\n\0'))
SCALES = ("reject<accept", "weak reject<borderline<accept", "C<B<A", "x<<y", "1<2")
RARE: dict[str, list[Any]] = {
    "encoding": ["utf-8", "utf-16", "windows-1252", "mac"],
    "delimiter": [",", ";", "tab", "|"],
    "header": [True, False],
    "rank": ["Please rank", "How good?", "Rank"],
}
NODES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    "",
    "x",
    "C",
    [],
    {},
    [[]],
    [None],
    [{}],
    {"": 1},
    "5: a",
)
BATCH = 500


def sources() -> dict[str, bytes]:
    """Return every sample file, and look-alikes of others, by name."""
    here = {path.name: path.read_bytes() for path in samples()}
    here |= {name: json.dumps(value).encode() for name, value in DOCUMENTS.items()}
    likes = {f"like-{name}": file.data for name, file in FILES.items()}
    logs = [look_alike().files for look_alike in LOOK_ALIKES]
    likes |= {
        f"log-{Path(name).name}": text.encode()
        for files in logs
        for name, text in files.items()
    }
    return here | likes | generated()


def samples() -> list[Path]:
    """Return every sample file."""
    return sorted(path for path in EXPORTS.iterdir() if path.is_file())


def generated() -> dict[str, bytes]:
    """Make small votes and orders, of which there is no sample file."""
    chance = random.Random(33)
    items, sides = ["GPT", "LLaMA", "Falcon", "Dolly"], ["model_a", "model_b", "tie"]
    pairs = [chance.sample(items, 2) for _ in range(30)]
    votes = [(*pair, chance.choice(sides)) for pair in pairs]
    games = [
        (*pair, *chance.choices(["model_1", "model_2", "error"], k=2)) for pair in pairs
    ]
    orders = [chance.sample(items, 4) for _ in range(6)]
    columns = [*zip(*orders, strict=True)]
    tables: dict[str, list[Sequence[str]]] = {
        "votes-sides.csv": [("model_a", "model_b", "winner"), *votes],
        "votes-items.csv": [
            ("left", "right", "winner", "worker"),
            *((*pair, pair[0], "w") for pair in pairs),
        ],
        "votes-games.csv": [("model_1", "model_2", "g1_winner", "g2_winner"), *games],
        "orders-columns.csv": [[f"P{person}" for person in range(6)], *columns],
        "orders-rows.csv": [[f"Rank {place}" for place in range(1, 5)], *orders],
        "orders-lists.csv": [
            ["voter", "ranking"],
            *([str(at), " > ".join(order)] for at, order in enumerate(orders)),
        ],
    }
    return {
        name: "\n".join(map(",".join, rows)).encode() for name, rows in tables.items()
    }


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Damage a file in one to five ways, most often in one."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
        data = chance.choice(WAYS)(data, chance)
    return data


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(TOKENS) + data[at:]


def _replace(data: bytes, chance: random.Random) -> bytes:
    at, token = chance.randint(0, len(data)), chance.choice(TOKENS)
    return data[:at] + token + data[at + len(token) :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _drop(data: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + data[at + chance.randint(1, 60) :]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    return b"\n".join([*lines[:at], lines[at], *lines[at:]])


def _swap_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def _cell(data: bytes, chance: random.Random) -> bytes:
    cells = data.split(b",")
    cells[chance.randrange(len(cells))] = chance.choice(TOKENS)
    return b",".join(cells)


def _rename(data: bytes, chance: random.Random) -> bytes:
    head, end, rest = data.partition(b"\n")
    return _cell(head, chance) + end + rest


def _recoded(data: bytes, chance: random.Random) -> bytes:
    kind = chance.randrange(5)
    if kind == 0:
        return data.replace(b"\n", b"\r\n")
    if kind == 1:
        return b"\xef\xbb\xbf" + data
    if kind == 2:
        return gzip.compress(data, mtime=0)
    text = data.decode("utf-8", "replace")
    return text.encode("utf-16" if kind == 3 else "latin-1", "replace")


def _spliced(data: bytes, chance: random.Random) -> bytes:
    other = chance.choice(samples()).read_bytes()
    return data[: chance.randint(0, len(data))] + other[chance.randint(0, len(other)) :]


def _renested(data: bytes, chance: random.Random) -> bytes:
    """Put something else into a place of a JSON document, which stays JSON."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return _cell(data, chance)
    inner = document
    while isinstance(inner, dict | list) and inner:
        places = list(inner) if isinstance(inner, dict) else range(len(inner))
        place = chance.choice(places)
        deeper = inner[place]
        if chance.random() < 0.3 or not isinstance(deeper, dict | list) or not deeper:
            inner[place] = chance.choice((*NODES, [deeper, deeper], {"a": deeper}))
            break
        inner = deeper
    return json.dumps(document).encode()


WAYS = (
    _renested,
    _renested,
    _insert,
    _replace,
    _cut,
    _drop,
    _repeat,
    _swap_lines,
    _cell,
    _cell,
    _rename,
    _rename,
    _recoded,
    _spliced,
)


def options(name: str, chance: random.Random) -> dict[str, Any]:
    """Draw options that a user might try; half the time those that are right."""
    if chance.random() < 0.5:
        like = FILES.get(name.removeprefix("like-"))
        return like.options if like else OWN.get(name, {})
    found: dict[str, Any] = {}
    if chance.random() < 0.2:
        found["format"] = chance.choice(list(PLATFORMS))
    if chance.random() < 0.5:
        found["score"] = chance.choice(
            ["Overall merit", "OveMer", "rating", "Overall Rating", "Score", "score"]
        )
    if chance.random() < 0.3:
        found["scale"] = f"best={chance.choice('AEXZ')}"
    elif chance.random() < 0.3:
        found["scale"] = chance.choice(SCALES)
    if chance.random() < 0.2:
        found["rows"] = chance.choice(["items", "reviewers"])
    for option, values in RARE.items():
        if chance.random() < 0.1:
            found[option] = chance.choice(values)
    return found


def attempt(name: str, data: bytes, chosen: dict[str, Any], other: bytes | None) -> str:
    """Read damaged bytes; return "read", or "refused" if that was said in a sentence.

    Raises:
        AssertionError: If something else came out.
    """
    stream = io.BytesIO(data)
    stream.name = name
    companion = None if other is None else io.BytesIO(other)
    try:
        ratings = read_ratings(stream, companion=companion, **chosen)
    except EvenhandError as error:
        message = str(error)
        assert message.endswith((".", "?")), message
        # Several problems stand on lines of their own.
        assert message.count("\n") == message.count("\n  "), message
        return "refused"
    assert ratings.n_ratings > 0
    assert np.isfinite(ratings.preference).all()
    assert all(str(label).strip() for label in ratings.reviewer_labels)
    assert all(str(label).strip() for label in ratings.item_labels)
    assert "\n" not in ratings.read_as
    return "read"


def require_same(name: str, data: bytes, chance: random.Random) -> None:
    """Check that a file reads as before if only its line ends or packing change.

    Raises:
        AssertionError: If other ratings come out, or another refusal.
    """
    like = FILES.get(name.removeprefix("like-"))
    own: dict[str, Any] = like.options if like else OWN.get(name, {})
    changes = [lambda text: gzip.compress(text, mtime=0)]
    if data.isascii():
        changes += [lambda text: b"\xef\xbb\xbf" + text]
        changes += [lambda text: text.replace(b"\n", b"\r\n")]
    outcomes = []
    for version in (data, chance.choice(changes)(data)):
        stream = io.BytesIO(version)
        stream.name = name
        try:
            outcomes.append(read_ratings(stream, **own).sha256)
        except EvenhandError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1], (name, outcomes)


def triples(name: str, data: bytes, chosen: dict[str, Any]) -> Counter[tuple[str, ...]]:
    """Read bytes into who, what and how much; empty if they are refused."""
    stream = io.BytesIO(data)
    stream.name = name
    try:
        ratings = read_ratings(stream, **chosen)
    except EvenhandError:
        return Counter()
    # Reviewers without a name are numbered, so theirs may move.
    return Counter(
        (str(label).partition("#")[0].strip("0123456789"), *map(str, rating))
        for label, *rating in ratings.to_frame().iter_rows()
    )


def require_local(name: str, data: bytes, chance: random.Random) -> bool:
    """Check that another word in one cell changes no rating but those of its line.

    Returns:
        Whether the changed file was read.

    Raises:
        AssertionError: If ratings of other lines changed.
    """
    like = FILES.get(name.removeprefix("like-"))
    own: dict[str, Any] = like.options if like else OWN.get(name, {})
    lines = data.split(b"\n")
    at = chance.randrange(1, len(lines))
    cells = lines[at].split(b",")
    cells[chance.randrange(len(cells))] = chance.choice(CELLS)
    changed = [*lines[:at], b",".join(cells), *lines[at + 1 :]]
    whole = triples(name, data, own)
    after = triples(name, b"\n".join(changed), own)
    without = triples(name, b"\n".join(lines[:at] + lines[at + 1 :]), own)
    if not after or not without:
        return False
    most = max(whole.total() - without.total(), 2)
    lost, new = (whole - after).total(), (after - whole).total()
    assert max(lost, new) <= most, (name, at, lines[at], changed[at], lost, new, most)
    return True


def batch(work: tuple[int, int, bool]) -> Counter[tuple[str, str]]:
    """Try some inputs; every one is drawn from the seed and its number."""
    seed, size, binary = work
    chance = random.Random(seed)
    texts = sources()
    files = [Path(name) for name in texts if name.endswith(BINARY) == binary]
    found: Counter[tuple[str, str]] = Counter()
    for number in range(size):
        path = chance.choice(files)
        packed = path.suffix == ".gz" or path.name in COMPANIONS
        if number % 50 == 0 and not packed:
            require_same(path.name, texts[path.name], chance)
        if number % 10 == 0 and path.suffix in {".csv", ".tsv"} and not packed:
            require_local(path.name, texts[path.name], chance)
        data = damaged(texts[path.name], chance)
        other = COMPANIONS.get(path.name)
        second = None if other is None else (EXPORTS / other).read_bytes()
        if second is not None and chance.random() < 0.5:
            second = damaged(second, chance)
        chosen = options(path.name, chance)
        try:
            found[path.name, attempt(path.name, data, chosen, second)] += 1
        except BaseException:
            place = Path(f"broken-{seed}-{number}{path.suffix}")
            place.write_bytes(data)
            sys.stderr.write(f"{path.name} {chosen} kept as {place}\n")
            raise
    return found


def main() -> None:
    """Run as many inputs as asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    # Every fiftieth input is a damaged workbook or Parquet file, which a process of its
    # own decodes.
    slow = given.inputs // 50
    work = [
        (given.seed * 1_000_003 + number, BATCH, False)
        for number in range((given.inputs - slow + BATCH - 1) // BATCH)
    ]
    work += [
        (given.seed * 1_000_003 + 10**6 + number, 50, True)
        for number in range(slow // 50)
    ]
    found: Counter[tuple[str, str]] = Counter()
    with multiprocessing.get_context("spawn").Pool(given.workers) as pool:
        for done in pool.imap_unordered(batch, work):
            found += done
            sys.stderr.write(f"\r{sum(found.values()):,} inputs")
    sys.stderr.write("\n")
    for name in sorted({name for name, _ in found}):
        read, refused = found[name, "read"], found[name, "refused"]
        sys.stdout.write(f"{name:32} read {read:7,}  refused {refused:7,}\n")
    sys.stdout.write(f"{sum(found.values()):,} inputs, no traceback\n")


if __name__ == "__main__":
    main()

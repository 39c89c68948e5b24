"""Jobs that are whole processes: a ranking from a file, and the help."""

from __future__ import annotations

import atexit
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace as Data

import numpy as np
import polars as pl

from bench.measure import Job, Side, agreed
from bench.orders import DECADES, distinct

EVENHAND = str(Path(sys.executable).with_name("evenhand"))
# Reviewers have ten items, items a hundred ratings.
LOAD, RATED = 10, 100
CODED = """
import sys, polars as pl
table = pl.read_csv(sys.argv[1])
for name in ("reviewer", "item"):
    codes = table[name].cast(pl.Categorical).to_physical()
"""
# A new process counts its parent's memory as its own, so to measure it, a small one in
# between has to start it. It says on standard error how many kilobytes were taken.
BETWEEN = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""
THROUGH: list[str] = []
peaks: list[int] = []
ITEM = re.compile(r"paper (\d{6})")


def _run(*command: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own commands.
        [*THROUGH, *command], check=True, capture_output=True, text=True
    )
    if THROUGH:
        peaks.append(int(done.stderr.split()[-1]))
    return done.stdout


def _file(size: int) -> Data:
    """Write ratings that agree with one hidden ranking, in random order."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path, out = Path(folder.name, "ratings.csv"), Path(folder.name, "ranking.txt")
    rng = np.random.default_rng(1)
    rows = distinct(rng, size // LOAD, LOAD, max(size // RATED, LOAD))
    value = rng.permutation(rows.max() + 1)
    places = np.argsort(np.argsort(value[rows], axis=1), axis=1)
    scores = 2 * places + 1 + rng.integers(2, size=rows.shape)
    people = np.repeat(np.arange(len(rows)), LOAD)
    codes = {"r": people, "i": rows.ravel(), "score": scores.ravel()}
    table = pl.DataFrame(codes).sample(fraction=1.0, shuffle=True, seed=1)
    names = [("reviewer", "r", 7), ("paper", "i", 6)]
    texts = [
        pl.format(f"{word} {{}}", pl.col(code).cast(pl.String).str.zfill(width))
        for word, code, width in names
    ]
    table.select(texts[0].alias("reviewer"), texts[1].alias("item"), "score").write_csv(
        path
    )
    best_first = np.take_along_axis(rows, np.argsort(-places, axis=1), axis=1)
    return Data(path=str(path), out=out, rows=best_first, folder=folder)


def _rank(data: Data) -> str:
    command = [EVENHAND, "rank", data.path, "--method", "flips", "--seed", "1"]
    _run(*command, "-o", str(data.out))
    text: str = data.out.read_text(encoding="utf-8")
    return text


def _ranked(data: Data, text: str) -> str:
    order = list(dict.fromkeys(int(code) for code in ITEM.findall(text)))
    place = np.zeros(data.rows.max() + 1)
    right = sorted(order) == np.unique(data.rows).tolist()
    if right:
        place[order] = np.arange(len(order))
        right = bool((np.diff(place[data.rows], axis=1) > 0).all())
    return agreed("every item is there and every comparison is respected", right=right)


def _help(_: Data) -> str:
    return _run(EVENHAND, "--help")


JOBS = [
    Job(
        "file",
        "`evenhand rank FILE --method flips`, whole process, text labels",
        "rows",
        DECADES,
        DECADES[2:],
        (2_000, 4_000, 8_000, 16_000),
        _file,
        _rank,
        _ranked,
        Side(
            "polars reads and codes the file",
            lambda data: _run(sys.executable, "-c", CODED, data.path),
        ),
        process=True,
    ),
    Job(
        "help",
        "`evenhand --help`, whole process",
        "runs",
        (1,),
        (1,),
        (1,),
        lambda _: Data(),
        _help,
        lambda _, text: agreed("prints its usage", right=text.startswith("Usage")),
        Side(
            "python imports click",
            lambda _: _run(sys.executable, "-c", "import click"),
        ),
        process=True,
    ),
]

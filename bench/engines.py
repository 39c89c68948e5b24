"""What it costs to count where ratings are: CPU seconds and memory, engine by engine.

    python -m bench.engines --folder DATA                    all of it, at full size
    python -m bench.engines --folder DATA --share 0.01

Each step runs in a process of its own, so that peak memory is its own; `cpu` is all of
it with imports, `query` the counting alone. Data are made once and kept in the folder.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, PAIRS, SAME = 100_000_000, 20_000_000, 2_000_000
PART, ITEMS, LOAD = 5_000_000, 200, 4
# Rows that engines write and read together.
GROUP = 122_880


def make(folder: Path, share: float) -> None:
    """Write one star rating by each user of two designs, and four by each reviewer."""
    rng = np.random.default_rng(19)
    stars = folder / "stars"
    stars.mkdir(parents=True, exist_ok=True)
    rows, step = int(ROWS * share), min(PART, int(ROWS * share))
    for start in range(0, rows, step):
        path = stars / f"{start // step:03}.parquet"
        if not path.exists():
            size = min(step, rows - start)
            frame = {
                "reviewer": np.arange(start, start + size),
                "item": pl.Series(["old", "new"])[rng.integers(0, 2, size)],
                "score": rng.choice(5, size, p=[0.06, 0.14, 0.28, 0.32, 0.2]) + 1.0,
            }
            pl.DataFrame(frame).write_parquet(path, row_group_size=GROUP)
    for name, size in (("pairs", PAIRS), ("same", SAME)):
        path = folder / f"{name}.parquet"
        if not path.exists():
            _scores(int(size * share) // LOAD, rng).write_parquet(path)


def _scores(people: int, rng: np.random.Generator) -> pl.DataFrame:
    """Give each reviewer four of the items, and an offset."""
    quarter = ITEMS // LOAD
    items = rng.integers(0, quarter, (people, LOAD)) + np.arange(LOAD) * quarter
    value = np.linspace(-1, 1, ITEMS)[rng.permutation(ITEMS)]
    noise = rng.normal(size=(people, LOAD)) + rng.normal(size=(people, 1))
    score = np.clip(np.round(3 + value[items] + noise), 1, 5)
    return pl.DataFrame(
        {
            "reviewer": np.repeat(np.arange(people), LOAD),
            "item": items.ravel(),
            "score": score.ravel(),
        }
    )


def stars(folder: Path, engine: str, names: str = "*") -> Any:  # noqa: ANN401 - of any engine
    """Open the stars, or some of their files."""
    return _open(str(folder / "stars" / f"{names}.parquet"), engine)


def _open(pattern: str, engine: str) -> Any:  # noqa: ANN401 - of any engine
    if engine == "polars":
        return pl.scan_parquet(pattern)
    import duckdb  # noqa: PLC0415 - not loaded where it is not measured

    return duckdb.connect().read_parquet(pattern)


def histogram(folder: Path, engine: str) -> dict[str, Any]:
    """Count the stars as users do."""
    import evenhand as eh  # noqa: PLC0415 - its time is part of the step

    # Imports belong to `cpu`, not to `query`.
    eh.count_ratings(stars(folder, engine, "000").limit(1), once="declared")
    there, start = stars(folder, engine), time.process_time()
    counts = eh.count_ratings(there, once="declared")
    query = round(time.process_time() - start, 2)
    counts.to_frame().write_csv(folder / "counts.csv")
    return {"query": query, "answer": counts.sha256[:12], "rows": counts.n_ratings}


def bare(folder: Path, engine: str) -> dict[str, Any]:
    """Run the bare GROUP BY."""

    def ask(there: Any) -> pl.DataFrame:  # noqa: ANN401 - of any engine
        if engine == "polars":
            found = there.group_by("item", "score").len().collect(engine="streaming")
        else:
            found = there.aggregate("item, score, count(*) AS len").pl()
        return pl.DataFrame(found)

    ask(stars(folder, engine, "000").limit(1))
    there, start = stars(folder, engine), time.process_time()
    found = ask(there)
    query = round(time.process_time() - start, 2)
    return {"query": query, "rows": int(found["len"].sum())}


def integrity(folder: Path, engine: str) -> dict[str, Any]:
    """Count a fifth and check that nobody scored twice: each row is a reviewer."""
    import evenhand as eh  # noqa: PLC0415 - its time is part of the step

    counts = eh.count_ratings(stars(folder, engine, "00[0-3]"))
    return {"once": counts.once, "rows": counts.n_ratings}


def compare(folder: Path, engine: str) -> dict[str, Any]:
    """Compare from the counts."""
    del engine
    import evenhand as eh  # noqa: PLC0415 - its time is part of the step

    counts = eh.read_counts(str(folder / "counts.csv"))
    result = eh.compare(counts, design="halves", rng=1)
    return {"winner": result.winner, "p_first": result.p_first, "p": result.p_value}


def pairs(folder: Path, engine: str) -> dict[str, Any]:
    """Count pairs, then fit Bradley-Terry, timed apart."""
    import evenhand as eh  # noqa: PLC0415 - its time is part of the step

    found = eh.count_pairs(_open(str(folder / "pairs.parquet"), engine))
    start = time.process_time()
    first = eh.rank(found, method="bradley-terry", rng=1)
    middle = time.process_time()
    eh.rank(found, method="additive", rng=1)
    end = time.process_time()
    return {
        "pairs": len(found.first),
        "best": first.order[0],
        "bradley_terry": round(middle - start, 2),
        "additive": round(end - middle, 2),
    }


def same(folder: Path, engine: str) -> dict[str, Any]:
    """Hold the same ratings, through five ways in, against each other."""
    del engine
    import evenhand as eh  # noqa: PLC0415 - its time is part of the step
    from tests.engines import servers  # noqa: PLC0415 - likewise

    path = folder / "same.parquet"
    frame = pl.read_parquet(path)
    ratings = eh.Ratings.from_frame(frame)
    known = eh.rank(ratings, method="bradley-terry", rng=1)
    one = {row.item: row.estimate or 0.0 for row in known.items}
    two = frame.filter(pl.col("item").is_in([0, 1])).unique("reviewer", keep="any")
    two.write_parquet(folder / "two.parquet")
    whole = eh.compare(eh.Ratings.from_frame(two), design="coins", rng=1)
    found: dict[str, Any] = {}

    def hold(name: str, ours: Any, apart: Any) -> None:  # noqa: ANN401 - of any engine
        ranked = eh.rank(eh.count_pairs(ours), method="bradley-terry", rng=1)
        counts = eh.count_ratings(apart)
        told = eh.compare(counts, design="coins", rng=1)
        fields = ("winner", "p_first", "p_value", "difference", "test", "scores")
        found[name] = {
            "counts": counts.sha256[:12],
            "compare": all(getattr(told, it) == getattr(whole, it) for it in fields),
            "apart": max(
                abs((row.estimate or 0.0) - one[row.item]) for row in ranked.items
            ),
        }

    hold("polars", pl.scan_parquet(path), two.lazy())
    hold("duckdb", _open(str(path), ""), _open(str(folder / "two.parquet"), ""))
    with servers.spark(folder / "spark") as session:
        files = (str(path), str(folder / "two.parquet"))
        hold("spark", *(session.read.parquet(file) for file in files))
    with servers.postgres() as there:
        for name, table in (("ours", frame), ("two", two)):
            there.create_table(name, table.to_arrow())
        hold("postgres", there.table("ours"), there.table("two"))
    return found


STEPS: dict[str, Callable[[Path, str], dict[str, Any]]] = {
    "bare": bare,
    "histogram": histogram,
    "compare": compare,
    "integrity": integrity,
    "pairs": pairs,
    "same": same,
}
PLAN = (
    *(
        (step, engine)
        for engine in ("polars", "duckdb")
        for step in ("bare", "histogram")
    ),
    ("compare", ""),
    ("integrity", "polars"),
    ("integrity", "duckdb"),
    ("pairs", "polars"),
    ("pairs", "duckdb"),
    ("same", ""),
)


def run(step: str, engine: str, folder: Path) -> dict[str, Any]:
    """Run a step in a process of its own, and return what it took."""
    words = [sys.executable, "-m", "bench.engines", "--folder", str(folder)]
    done = subprocess.run(  # noqa: S603 - ourselves
        [*words, "--step", step, "--engine", engine],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return {"step": step, "engine": engine, "failed": done.stderr[-300:]}
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"step": step, "engine": engine, **told}


def main() -> None:
    """Run one step, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--only", choices=STEPS)
    parser.add_argument("--engine", default="")
    given = parser.parse_args()
    if given.step:
        told = STEPS[given.step](given.folder, given.engine)
        used = resource.getrusage(resource.RUSAGE_SELF)
        cost = {
            "cpu": round(used.ru_utime + used.ru_stime, 2),
            "megabytes": used.ru_maxrss // 1024,
        }
        sys.stdout.write(json.dumps(cost | told) + "\n")
        return
    make(given.folder, given.share)
    for step, engine in PLAN:
        if given.only in (None, step):
            told = run(step, engine, given.folder)
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Checks, decisions and previews, in other processes so that raters never wait."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import tempfile
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from evenhand.ab.comparison import compare
from evenhand.designs.drawing import verify
from evenhand.engines.pool import Pool
from evenhand.errors import EvenhandError
from evenhand.formats.reading import read_ratings
from evenhand.lazy import lazy
from evenhand.ranking.ranking import rank
from evenhand.ranking.selection import select
from evenhand.records.record import (
    assignment_from,
    decision_record,
    parse,
    text_of,
)
from evenhand.words.page import write_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.ab.comparison import Comparison
    from evenhand.designs.assignment import Assignment
    from evenhand.diagnosis import check as diagnosis
    from evenhand.diagnosis.check import Check
    from evenhand.ranking.ranking import Ranking
    from evenhand.ranking.selection import Selection
    from evenhand.ratings import Ratings
else:
    diagnosis = lazy("evenhand.diagnosis.check")

Result = TypeVar("Result")
NICE = 10


class Workers:
    """Processes that compute, with less priority than the pages."""

    def __init__(self, count: int = 2) -> None:
        """Start none yet."""
        self._pool = Pool(count, _calm)
        self._stopped = False

    async def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Run something in another process.

        Raises:
            EvenhandError: As the work does.
        """
        loop = asyncio.get_running_loop()
        for _ in range(2):
            try:
                return await loop.run_in_executor(self._pool, work, *arguments)
            except BrokenExecutor:
                if self._stopped:
                    # A job that was asked for is done after the next start.
                    raise asyncio.CancelledError from None
        raise BrokenExecutor("Processes that compute end at once.")

    def stop(self) -> None:
        """End the processes, whatever they are at, and wait until they are gone."""
        self._stopped = True
        self._pool.end()


def _calm() -> None:
    with contextlib.suppress(OSError):
        os.nice(NICE)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def warm() -> None:
    """Import what a job needs, so that the first one does not wait for it."""
    getattr(diagnosis, "check")  # noqa: B009 - at its first use it is imported


def compute(task: dict[str, Any]) -> dict[str, Any]:
    """Check ratings or decide from them; runs in another process.

    Args:
        task: What to do: "kind", "ratings" as CSV, "records" of the assignment, the
            "conflicts" that they hide, "secret", "seal", "seed", "job", "method", "top"
            and "distinct".

    Returns:
        Record, report and what the log says; or an error in words.
    """
    try:
        stream = io.BytesIO(task["ratings"].encode())
        stream.name = "ratings.csv"
        ratings = read_ratings(stream)
        if task["kind"] == "check":
            return _check(ratings, task)
        return _decide(ratings, task)
    except EvenhandError as error:
        return {"error": str(error)}


def _check(ratings: Ratings, task: dict[str, Any]) -> dict[str, Any]:
    top = task["top"] if task["top"] and task["top"] < ratings.n_items else None
    result = diagnosis.check(ratings, top=top, rng=task["seed"])
    return {"report": _report(result), "says": "{}"}


def _decide(ratings: Ratings, task: dict[str, Any]) -> dict[str, Any]:
    drawn = _assignment(task)
    options: dict[str, Any] = {
        "method": task["method"],
        "assignment": drawn,
        "rng": task["seed"],
    }
    result: Ranking | Comparison | Selection
    top = min(task["top"] or 1, ratings.n_items)
    if task["job"] == "select":
        result = select(ratings, places=top, **options)
    elif task["job"] == "rank":
        result = rank(ratings, top=top, distinct=task["distinct"], **options)
    else:
        result = compare(ratings, **options)
    record = decision_record(result, drawn)
    statement = {
        "method": task["method"],
        "seed": task["seed"],
        "record_sha256": record["sha256"],
        "ratings_sha256": result.data.get("sha256"),
    }
    return {
        "record": text_of(record),
        "report": _report(result),
        "says": json.dumps(statement),
    }


def _assignment(task: dict[str, Any]) -> Assignment:
    drawn: Assignment | None = None
    hidden = task.get("conflicts", ())
    for text in task["records"]:
        record = parse(text.encode(), "assignment")
        drawn = assignment_from(record, "assignment", drawn, hidden)
    if drawn is None:
        raise EvenhandError("Nothing was drawn.")
    return verify(drawn, task["secret"], task["seal"])


def _report(result: Ranking | Comparison | Selection | Check) -> str:
    """Return the page that the command line writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write_report(result, path)
        return path.read_text(encoding="utf-8")

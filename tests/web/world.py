"""An evaluation in a database, for tests: made, sealed, rated, without pages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import sqlalchemy as sa

from evenhand.web import actions, guard, reads
from evenhand.web import tables as t
from evenhand.web.accept import Entry, ReviewAnswer, Sending
from evenhand.web.plan import read_plan
from evenhand.web.store import Store, link_token, open_store
from evenhand.web.writer import write_batch

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
FORM = {
    "title": "Autumn talks",
    "items": "\n".join(f"t{n}, Talk {n}" for n in range(1, 9)),
    "reviewers": "\n".join(f"Person {n}, p{n}@example.org" for n in range(1, 9)),
    "reserves": "Rae\nRob",
    "per_reviewer": "3",
    "top": "3",
}


class Site:
    """A database with what happens in it, at times that the test says."""

    def __init__(self, where: str) -> None:
        self.store: Store = open_store(where)
        self.now = NOON
        self.do(actions.first_organiser, "Olga")

    def do(self, change: Callable[..., Any], *given: Any, **more: Any) -> Any:
        with self.store.writing.begin() as connection:
            return change(connection, self.now, *given, **more)

    def read(self, query: Callable[..., Any], *given: Any) -> Any:
        with self.store.read() as connection:
            return query(connection, *given)

    def draft(self, **more: str) -> tuple[int, str]:
        form = {**FORM, **more}
        which, slug = self.do(actions.create, 1, form)
        return which, slug

    def seal(self, which: int, closes_at: datetime | None = None) -> None:
        form = self.read(
            lambda c: c.execute(
                sa.select(t.evaluation.c.form).where(t.evaluation.c.id == which)
            ).scalar_one()
        )
        key = self.read(reads.key, which)
        plan = read_plan(json.loads(form), closes_at)
        made = actions.prepare(plan, form, key)
        self.do(actions.seal, which, made, self.store.key)

    def opened(self, **more: str) -> tuple[int, str]:
        which, slug = self.draft(**more)
        self.seal(which)
        return which, slug

    def tokens(self, which: int, slug: str) -> dict[str, str]:
        """Return the link of each reviewer by name."""
        draw, key = self.read(reads.by_id, which).draw, self.store.key
        return {
            row.name: guard.base32(link_token(key, slug, row.id, row.serial, draw))
            for row in self.read(reads.links, which)
        }

    def rate(self, *sendings: Sending) -> list[ReviewAnswer]:
        with self.store.writing.begin() as connection:
            return write_batch(connection, sendings, self.now)

    def rate_all(self, token: str, score: Callable[[str], float]) -> list[ReviewAnswer]:
        digest = guard.digest(token)
        self.do(actions.begin, digest)
        row = self.read(reads.rater, digest)
        tasks = self.read(reads.tasks, row.evaluation_id, row.id)
        return [
            self.rate(
                Sending(
                    digest,
                    os.urandom(16).hex(),
                    (Entry(it.place, it.version, "score", score(it.label)),),
                )
            )[0]
            for it in tasks
        ]

    def later(self, **more: float) -> None:
        self.now += timedelta(**more)


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Run Debian's PostgreSQL in a folder, on a socket there and no port."""
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        for parent in folder.parents:
            if parent.owner() == "root" and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
    _run_postgres(folder, "initdb", "-A", "trust", "-U", "postgres")
    start_postgres(folder)
    try:
        # The key of links goes into this folder, and not into the user's own.
        with mock.patch.dict(os.environ, {"XDG_STATE_HOME": str(folder / "state")}):
            (folder / "state").mkdir()
            yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        stop_postgres(folder)


def start_postgres(folder: Path) -> None:
    """Start the PostgreSQL of a folder."""
    options = f"-k {folder} -c listen_addresses= -c max_connections=20"
    log = str(folder / "log")
    _run_postgres(folder, "pg_ctl", "-w", "-l", log, "-o", options, "start")


def stop_postgres(folder: Path) -> None:
    """Stop the PostgreSQL of a folder, as a crash does."""
    _run_postgres(folder, "pg_ctl", "-w", "-m", "immediate", "stop")


def _run_postgres(folder: Path, program: str, *words: str) -> None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    subprocess.run(
        [found[-1] / program, "-D", folder / "data", *words],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        user="postgres" if os.getuid() == 0 else None,
    )


def has_postgres() -> bool:
    """Say whether PostgreSQL can be started here."""
    return bool(list(Path("/usr/lib/postgresql").glob("*/bin/initdb")))

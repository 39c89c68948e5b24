"""Load: raters against `evenhand serve`, over loopback only.

Each rater opens the page of a reviewer and saves a rating, again and again. Two kinds
of runs: without a pause (saturated), and with time to think between two ratings.

    python -m bench.load --raters 50 --seconds 10
    python -m bench.load --raters 500 --think 5 --seconds 60
    python -m bench.load --db postgresql://... --raters 50 --seconds 10

It prints one line of JSON: saves per second, times of a save in milliseconds, errors,
and whether tables, history and log agree afterwards. The server runs in a process of
its own, and so does the driver.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.web import actions, guard, reads
from evenhand.web.jobs import Workers
from evenhand.web.plan import read_plan
from evenhand.web.running import Address, Served, listen, reading_engine
from evenhand.web.store import link_token, open_store
from evenhand.web.verify import verify_all

if TYPE_CHECKING:
    from collections.abc import Callable

EACH, ITEMS = 8, 200
MILLI = 1000


def make_evaluation(db: str, reviewers: int) -> list[str]:
    """Make an evaluation whose reviewers have begun; return their links."""
    form = {
        "title": "Load",
        "items": "\n".join(f"item {n}" for n in range(ITEMS)),
        "reviewers": "\n".join(f"person {n}" for n in range(reviewers)),
        "per_reviewer": str(EACH),
    }
    store = open_store(db)
    now = datetime.now(UTC)
    with store.writing.begin() as connection:
        who = actions.first_organiser(connection, now, "Bench")
        which, slug = actions.create(connection, now, who, form)
        key = reads.key(connection, which)
        made = actions.prepare(read_plan(form, None), json.dumps(form), key)
        actions.seal(connection, now, which, made, store.key)
        tokens = [
            guard.base32(link_token(store.key, slug, row.id, row.serial))
            for row in reads.links(connection, which)
        ]
        for token in tokens:
            actions.begin(connection, now, guard.digest(token))
    store.close()
    return [f"/r/{token}" for token in tokens]


class Rater:
    """One person with one connection that stays open."""

    def __init__(self, port: int, link: str, think: float) -> None:
        """Remember where to rate."""
        self.port, self.link, self.think = port, link, think
        self.versions = [0] * EACH
        self.times: list[float] = []
        self.acknowledged: list[tuple[str, int, int]] = []
        self.errors = 0

    async def run(self, until: float, *, pages: bool) -> None:
        """Rate until the time is over."""
        chance = random.Random(self.link)  # noqa: S311 - scores of a load test
        await asyncio.sleep(chance.random() * max(self.think, 0.5))
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            self.errors += 1
            return
        try:
            await self._loop(reader, writer, until, chance, pages=pages)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            self.errors += 1
        writer.close()

    async def _loop(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        until: float,
        chance: random.Random,
        *,
        pages: bool,
    ) -> None:
        while time.monotonic() < until:
            if pages:
                await self._ask(reader, writer, "GET", self.link)
            place = chance.randrange(EACH)
            began = time.perf_counter()
            status, body = await self._rate(reader, writer, place, chance)
            self.times.append(time.perf_counter() - began)
            if status == 201:
                version = json.loads(body)["entries"][0]["version"]
                self.versions[place] = version
                self.acknowledged.append((self.link, place, version))
            else:
                self.errors += 1
            await asyncio.sleep(self.think * 2 * chance.random())

    async def _rate(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        place: int,
        chance: random.Random,
    ) -> tuple[int, bytes]:
        score = round(100 * chance.random(), 1)
        body = {"base": self.versions[place], "kind": "score", "score": score}
        return await self._ask(
            reader,
            writer,
            "POST",
            f"{self.link}/items/{place + 1}",
            json.dumps(body).encode(),
            f"idempotency-key: {os.urandom(16).hex()}\r\n",
        )

    async def _ask(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        method: str,
        path: str,
        body: bytes = b"",
        more: str = "",
    ) -> tuple[int, bytes]:
        accept = "application/json" if body else "text/html"
        writer.write(
            f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: {accept}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n{more}"
            "\r\n".encode()
            + body
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


async def drive(
    port: int,
    links: list[str],
    raters: int,
    think: float,
    seconds: float,
    *,
    pages: bool,
) -> list[Rater]:
    """Let raters rate for a while."""
    people = [Rater(port, link, think) for link in links[:raters]]
    until = time.monotonic() + seconds
    await asyncio.gather(*(one.run(until, pages=pages) for one in people))
    return people


def start(db: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start the server in another process, and wait until it answers."""
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-m", "bench.load", "--serve", db, str(port)]
    )
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return server, port
    raise RuntimeError("the server does not start")


class Idle(Workers):
    """Nothing is decided, so no process gets ready for it."""

    async def run(self, work: Callable[..., Any], *given: object) -> Any:  # noqa: ANN401 - nothing
        """Do nothing."""


def serve(db: str, port: int) -> None:
    """Serve without limits for each link, which the driver would run into."""
    served = Served(db, Address(port=port), limited=False)
    served.site.workers = Idle()
    try:
        served.run(listen("127.0.0.1", port), lambda: None)
    finally:
        served.close()


def percentile(times: list[float], share: float) -> float:
    """Return a percentile in milliseconds."""
    ordered = sorted(times)
    at = min(len(ordered) - 1, int(share * len(ordered)))
    return round(MILLI * ordered[at], 1) if ordered else 0.0


def main() -> None:
    """Run one measurement."""
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", default="")
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--think", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--no-pages", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = given.db or str(Path(folder) / "load.db")
        links = make_evaluation(db, max(given.raters, 50))
        server, port = start(db)
        cpu = os.times()
        try:
            people = asyncio.run(
                drive(
                    port,
                    links,
                    given.raters,
                    given.think,
                    given.seconds,
                    pages=not given.no_pages,
                )
            )
        finally:
            server.terminate()
            server.wait()
        after = os.times()
        times = [one for person in people for one in person.times]
        with reading_engine(db).connect() as connection:
            faults = verify_all(connection)
        found = {
            "raters": given.raters,
            "think": given.think,
            "seconds": given.seconds,
            "saves": len(times),
            "per_second": round(len(times) / given.seconds, 1),
            "p50": percentile(times, 0.5),
            "p99": percentile(times, 0.99),
            "errors": sum(person.errors for person in people),
            "server_cpu_seconds": round(
                after.children_user
                + after.children_system
                - cpu.children_user
                - cpu.children_system,
                2,
            ),
            "faults": faults,
        }
        print(json.dumps(found))  # noqa: T201 - its result


if __name__ == "__main__":
    main()

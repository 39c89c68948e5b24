"""kill -9 at a random moment: every acknowledged rating is there, the chain is whole.

Two rounds here; `python -m tests.web.test_kill 20 [postgresql://...]` runs more.
"""

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sqlalchemy as sa

from bench.load import Rater, make_evaluation, start
from evenhand.web import guard
from evenhand.web import tables as t
from evenhand.web.running import reading_engine
from evenhand.web.store import open_store
from evenhand.web.verify import verify_all


def one_round(db: str, chance: random.Random, raters: int = 10) -> int:
    """Kill a server under load; return how many ratings it had acknowledged."""
    links = make_evaluation(db, raters)
    server, port = start(db)
    people = [Rater(port, link, 0.02) for link in links[:raters]]
    asyncio.run(_attack(server, people, chance.random()))
    server.wait()
    # A restart recovers, and takes the lock that the dead server had.
    open_store(db).close()
    engine = reading_engine(db)
    with engine.connect() as connection:
        faults = verify_all(connection)
        rows = connection.execute(
            sa.select(
                t.link.c.token_sha256, t.submission.c.place, t.submission.c.version
            ).join_from(
                t.link,
                t.submission,
                (t.link.c.evaluation_id == t.submission.c.evaluation_id)
                & (t.link.c.reviewer_id == t.submission.c.reviewer_id),
            )
        ).all()
    engine.dispose()
    stored = {tuple(row) for row in rows}
    acknowledged = {
        (guard.digest(link.removeprefix("/r/")), place + 1, version)
        for person in people
        for link, place, version in person.acknowledged
    }
    assert faults == []
    assert acknowledged <= stored, f"{len(acknowledged - stored)} lost"
    return len(acknowledged)


async def _attack(
    server: subprocess.Popen[bytes], people: list[Rater], wait: float
) -> None:
    """Let people rate, and kill the server some time after its first answer."""
    until = time.monotonic() + 120
    raters = [asyncio.create_task(one.run(until, pages=False)) for one in people]
    while not any(one.acknowledged for one in people) and time.monotonic() < until:
        await asyncio.sleep(0.01)
    await asyncio.sleep(wait)
    server.kill()
    await asyncio.gather(*raters)


def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    chance = random.Random(7)
    counts = [one_round(str(tmp_path / f"{n}.db"), chance) for n in range(2)]
    assert sum(counts) > 20


if __name__ == "__main__":
    began, total = time.process_time(), 0
    address = sys.argv[2] if len(sys.argv) > 2 else ""
    for number in range(int(sys.argv[1])):
        with tempfile.TemporaryDirectory() as folder:
            where = address or str(Path(folder) / "kill.db")
            many = one_round(where, random.Random(number))
            total += many
            print(f"round {number + 1}: {many} acknowledged, 0 lost")  # noqa: T201 - its result
    print(f"{total} acknowledged, 0 lost")  # noqa: T201 - its result

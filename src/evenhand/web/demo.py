"""A demonstration: eight simulated reviewers rate in front of the organiser."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evenhand.web import actions, guard, reads
from evenhand.web.accept import Entry, Sending
from evenhand.web.plan import DEFAULTS, read_plan
from evenhand.web.store import link_token

if TYPE_CHECKING:
    from evenhand.web.site import Site
    from evenhand.web.store import Store

TALKS = ("Trees", "Lists", "Graphs", "Heaps", "Queues", "Sets", "Maps", "Tries")
DEMO = {
    **DEFAULTS,
    "title": "Demonstration: eight talks",
    "items": "\n".join(f"talk {n}, {name}" for n, name in enumerate(TALKS, 1)),
    "reviewers": "Ada\nBo\nCy\nDee\nEli\nFay\nGus\nHal",
    "reserves": "Ida\nJo",
}
PAUSE = 0.25


def make_demo(store: Store, name: str) -> str:
    """Make the evaluation of the demonstration; return its public name."""
    form = json.dumps({name: DEMO[name] for name in DEFAULTS})
    with store.writing.begin() as connection:
        now = datetime.now(UTC)
        organiser_id = actions.first_organiser(connection, now, name)
        evaluation_id, slug = actions.create(
            connection, now, organiser_id, json.loads(form)
        )
        key = reads.key(connection, evaluation_id)
        prepared = actions.prepare(read_plan(DEMO, None), form, key)
        actions.seal(connection, now, evaluation_id, prepared, store.key)
    return slug


async def rate_demo(site: Site, slug: str) -> None:
    """Let the reviewers of the demonstration rate, each on a scale of their own."""
    with site.store.read() as connection:
        row = reads.evaluation(connection, slug)
        links = reads.links(connection, row.id) if row else []
    tokens = [
        guard.digest(
            guard.base32(link_token(site.store.key, slug, link.id, link.serial))
        )
        for link in links
    ]
    await asyncio.gather(
        *(_rate_one(site, token, reviewer) for reviewer, token in enumerate(tokens))
    )


async def _rate_one(site: Site, token: str, reviewer: int) -> None:
    await asyncio.sleep(PAUSE * (1 + reviewer))
    await site.writer.change(lambda c, now: actions.begin(c, now, token))
    with site.store.read() as connection:
        row = reads.rater(connection, token)
        tasks = reads.tasks(connection, row.evaluation_id, row.id) if row else []
    for task in tasks:
        await asyncio.sleep(PAUSE * 4)
        place = TALKS.index(task.title)
        # A strict, a mild, a wide and a narrow scale: the orders agree, scores do not.
        score = round(
            10 + 5 * reviewer % 40 + (3 + reviewer % 4) * place + 0.1 * reviewer, 1
        )
        entry = Entry(task.place, task.version, "score", score)
        await site.writer.rate(Sending(token, _key(token, task.place), (entry,)))
    await site.writer.change(lambda c, now: actions.finish(c, now, token))


def _key(token: str, place: int) -> str:
    return f"{token[:28]}{place:04}"

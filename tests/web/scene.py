"""An evaluation in every state and of every scale, and links of all kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from evenhand.web import actions, guard, jobs, organiser, reads
from evenhand.web.publishing import files_of, with_log
from tests.web.world import Site

STATES = ("draft", "sealed", "open", "closed", "decided", "published", "purged")
SCALES: dict[str, dict[str, str]] = {
    "letters": {"scale": "letters"},
    "order": {"scale": "order"},
    "compare": {"job": "compare", "items": "t1, One\nt2, Two"},
}
NO_LINK = "/r/" + "0" * 26
REPORT = "<h1>A report.</h1>"


@dataclass(slots=True)
class Scene:
    """A database, and what leads to its evaluations.

    Attributes:
        db: The file.
        slugs: The public name of the evaluation in each state.
        links: For each state, the link of who has rated ("own"), never began
            ("waiting"), declined ("left"), or got another one ("revoked").
    """

    db: Path
    slugs: dict[str, str] = field(default_factory=dict)
    links: dict[str, dict[str, str]] = field(default_factory=dict)

    def link(self, state: str, who: str) -> str:
        """Return the link of somebody, or one that nobody has."""
        return self.links.get(state, {}).get(who, NO_LINK)


def make_scene(folder: Path, *, scales: bool = False) -> Scene:
    """Make an evaluation in each state; with open ones of other scales if asked."""
    scene = Scene(folder / "scene.db")
    site = Site(str(scene.db))
    site.now = datetime.now(UTC)
    for state in STATES:
        _make(site, scene, state)
    for name, more in SCALES.items() if scales else ():
        which, slug = site.opened(**more)
        tokens = list(site.tokens(which, slug).values())
        site.do(actions.begin, guard.digest(tokens[0]))
        scene.slugs[name] = slug
        scene.links[name] = {"own": f"/r/{tokens[0]}", "waiting": f"/r/{tokens[1]}"}
    if scales:
        _, slug = site.opened(places="3", reviewers="", reserves="", top="2")
        row = site.read(reads.evaluation, slug)
        site.do(actions.open_door, row.id, site.store.key)
        row = site.read(reads.evaluation, slug)
        scene.slugs["door"] = slug
        token = actions.door_token(site.store.key, row)
        scene.links["door"] = {"door": f"/d/{token}"}
    site.store.close()
    return scene


def _make(site: Site, scene: Scene, state: str) -> None:
    which, slug = site.draft(**({"begin": "later"} if state == "sealed" else {}))
    scene.slugs[state] = slug
    if state == "draft":
        return
    site.seal(which)
    tokens = list(site.tokens(which, slug).values())
    names = {"own": 0, "waiting": 1} if state == "sealed" else {}
    names = names or {"own": 0, "left": 2, "revoked": 3, "waiting": 4}
    scene.links[state] = {who: f"/r/{tokens[at]}" for who, at in names.items()}
    if state == "sealed":
        return
    for token in tokens[:2]:
        site.rate_all(token, lambda label: 10.0 * int(label[1:]))
    site.do(actions.decline, guard.digest(tokens[2]))
    site.do(actions.new_link, which, 4, site.store.key)
    if state == "open":
        return
    site.do(actions.close, which)
    if state in ("decided", "published"):
        decide(site, which)
    if state == "published":
        publish(site, which)
    if state == "purged":
        site.do(actions.purge, which)
        del scene.links[state]


def decide(site: Site, which: int) -> None:
    """Decide in this process, and end a check; their pages are tested elsewhere."""
    for kind in ("decision", "check"):
        number = site.do(actions.ask_job, which, kind, {"method": "adaptive"})
        task = site.read(organiser.task_of, which, kind)
        made = {"report": REPORT, "says": "{}"}
        if kind == "decision":
            with mock.patch.object(jobs, "_report", return_value=REPORT):
                made = jobs.compute(task)
        site.do(actions.end_job, which, kind, number, made)


def publish(site: Site, which: int) -> bytes:
    """Publish with the ratings; return the bundle."""
    row = site.read(reads.by_id, which)
    _, text = site.read(organiser.ratings_that_count, which)
    files = site.read(lambda c: files_of(c, row, text, with_ratings=True))
    site.do(actions.publish, which, files, row.head_hash)
    bundle: bytes = site.read(with_log, which, files)
    return bundle

"""A browser without a browser: an organiser and reviewers, in process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2 as httpx
import uvicorn
from axe_playwright_python.base import AXE_SCRIPT
from starlette.testclient import TestClient

from evenhand.web import reads
from evenhand.web.jobs import warm
from evenhand.web.running import Address, Served, listen
from tests.commands import run
from tests.web.world import FORM

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from starlette.applications import Starlette

HOST = "http://127.0.0.1"


class Here:
    """Works in a thread of this process, which has imported what it takes."""

    async def run(self, work: Callable[..., Any], *given: object) -> Any:
        return None if work is warm else await asyncio.to_thread(work, *given)

    def stop(self) -> None:
        """No process is left."""


def scope_of(method: str, path: str, query: bytes, headers: Any) -> dict[str, Any]:
    """Return what a server says of a request."""
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": quote(path).encode(),
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 0),
        "state": {},
    }


async def exchange(app: Any, scope: dict[str, Any], body: bytes) -> tuple[Any, str]:
    """Hand a request to an app; return the parts of its answer and its traceback."""
    parts = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(part: Any) -> None:
        sent.append(part)

    try:
        await app(scope, receive, send)
    except Exception:  # noqa: BLE001 - it has answered 500 by then
        return sent, traceback.format_exc()
    return sent, ""


class Handed(httpx.BaseTransport):
    """Hands requests to an app in its loop: one call each, as a server does."""

    def __init__(self, app: Starlette, portal: BlockingPortal) -> None:
        self.app, self.portal = app, portal

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = [(key.lower(), value) for key, value in request.headers.raw]
        scope = scope_of(request.method, request.url.path, request.url.query, headers)
        sent, _ = self.portal.call(exchange, self.app, scope, request.read())
        body = b"".join(part.get("body", b"") for part in sent)
        head = sent[0]
        return httpx.Response(head["status"], headers=head["headers"], content=body)


class Desk:
    """A served database with an organiser who is signed in."""

    def __init__(self, db: str, *, limited: bool = False) -> None:
        self.served = Served(db, Address(), limited=limited)
        self.served.site.workers = Here()  # type: ignore[assignment]  # no process
        self._running = TestClient(self.served.app)
        self._running.__enter__()
        self._csrf = ""
        self.client = self.guest()
        self.sign_in(self.client)

    def sign_in(self, client: httpx.Client, link: str = "") -> None:
        answer = client.post(link or self.served.signin())
        assert answer.status_code == 303, answer.text

    def guest(self) -> httpx.Client:
        """Return somebody else, who is not signed in."""
        assert self._running.portal is not None
        handed = Handed(self.served.app, self._running.portal)
        return httpx.Client(transport=handed, base_url=HOST)

    def csrf(self) -> str:
        """Return what this session's forms hold; it stays the same."""
        self._csrf = self._csrf or self._read_csrf()
        return self._csrf

    def _read_csrf(self) -> str:
        found = re.search(r'name="csrf" value="(\w+)"', self.client.get("/e/new").text)
        assert found is not None
        return found[1]

    def post(self, path: str, **data: str) -> httpx.Response:
        return self.client.post(path, data={"csrf": self.csrf(), **data})

    def do(self, slug: str, *actions: str, **data: str) -> None:
        """Do something with an evaluation that its state allows."""
        for action in actions:
            more = {"title": self.title(slug), **data} if action == "close" else data
            answer = self.post(f"/e/{slug}/{action}", **more)
            assert answer.status_code == 303, (action, words(answer))

    def title(self, slug: str) -> str:
        """Return the title, which closing asks for."""
        with self.served.store.read() as connection:
            row = reads.evaluation(connection, slug)
        assert row is not None
        return row.title

    def refuse(self, path: str, status: int, says: str = "", **data: str) -> None:
        """Ask for something that is refused with a sentence."""
        answer = self.post(path, **data)
        assert answer.status_code == status, (path, words(answer))
        assert says in words(answer)

    def decide(self, slug: str) -> str:
        """Close and decide; return the page."""
        self.do(slug, "close", "jobs/decision")
        text = self.wait(slug)
        assert 'class="lead"' in text, text
        return text

    def finish(
        self, slug: str, size: int = 3, most: int | None = None
    ) -> dict[str, bytes]:
        """Let people rate, decide and publish; return what each of them can keep."""
        guest, kept = self.guest(), {}
        for name, link in list(self.links(slug).items())[:most]:
            rate_all(guest, link, size)
            kept[name] = guest.get(f"{link}/mine.json").content
        self.decide(slug)
        self.do(slug, "publish", ratings="yes")
        return kept

    def sealed(self, **more: str) -> str:
        """Make an evaluation and seal it; return its public name."""
        answer = self.post("/e", does="seal", **{**FORM, **more})
        assert answer.status_code == 303, words(answer)
        return answer.headers["location"].split("/")[2]

    def links(self, slug: str) -> dict[str, str]:
        """Return the address of each reviewer's link by name."""
        lines = self.client.get(f"/e/{slug}/links.csv").text.splitlines()[1:]
        cells = [line.split(",") for line in lines]
        return {one[0]: one[2].removeprefix(HOST) for one in cells}

    def wait(self, slug: str, kind: str = "decision") -> str:
        """Wait until a job is done; return the page."""
        until = time.monotonic() + 600
        while time.monotonic() < until:
            text = self.client.get(f"/e/{slug}").text
            if "is being worked out" not in text:
                return text
            time.sleep(0.05)
        raise AssertionError(kind)

    def close(self) -> None:
        self._running.__exit__(None, None, None)
        self.served.close()


@contextlib.contextmanager
def served_at(db: Path) -> Iterator[tuple[str, Served]]:
    """Serve a database on a free port; gives its address and what is served."""
    served = Served(str(db), Address())
    served.site.workers = Here()  # type: ignore[assignment]  # no process
    taken = listen("127.0.0.1", 0)
    config = uvicorn.Config(served.app, log_level="error", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([taken],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{taken.getsockname()[1]}", served
    server.should_exit = True
    thread.join()
    served.close()


def violations(page: Any, part: str | None = None) -> list[str]:
    """Return what axe finds on a page of a browser, which gets its script once."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
    run = (
        "(part) => axe.run(part || document, {resultTypes: ['violations']})"
        ".then(told => told.violations)"
    )
    return [
        f"{it['id']} {[node['html'][:100] for node in it['nodes'][:2]]}"
        for it in page.evaluate(run, part)
    ]


def words(answer: httpx.Response) -> str:
    """Return what a page says was wrong."""
    found = re.findall(r'role="alert"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
    return " ".join(found) or answer.text[:500]


def rate(
    client: Any, link: str, place: int, score: object, base: int = 0, key: str = ""
) -> httpx.Response:
    """Send a rating as our script does."""
    answer: httpx.Response = client.post(
        f"{link}/items/{place}",
        json={
            "base": base,
            "kind": "score",
            "score": score,
            "nonce": os.urandom(16).hex(),
        },
        headers={
            "accept": "application/json",
            "idempotency-key": key or os.urandom(16).hex(),
        },
    )
    return answer


def rate_all(client: Any, link: str, size: int = 3) -> None:
    """Begin and rate every item by its number."""
    assert client.post(f"{link}/begin").status_code == 303
    page = client.get(link).text
    for place in range(1, size + 1):
        label = re.search(rf'id="label-{place}"><bdi>t(\d+)', page)
        assert label is not None
        answer = rate(client, link, place, 10 * int(label[1]) + 1)
        assert answer.status_code == 201, answer.text
    assert client.post(f"{link}/done").status_code == 303


def audited(*words: object) -> tuple[int, str]:
    """Audit as the command line does; return its exit code and what it prints."""
    result = run("audit", *map(str, words))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def bundle_of(desk: Desk, slug: str, folder: Path) -> Path:
    """Download the bundle as anybody can."""
    answer = desk.guest().get(f"/p/{slug}/bundle.zip")
    assert answer.status_code == 200
    path = folder / "bundle.zip"
    path.write_bytes(answer.content)
    return path

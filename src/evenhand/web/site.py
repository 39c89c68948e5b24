"""What every page has at hand: the database, the writer, forms, answers, templates."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import jinja2
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import HTMLResponse

from evenhand.errors import plural
from evenhand.web import clock, guard, reads
from evenhand.web import tables as t
from evenhand.web.scale import number
from evenhand.web.states import state_at
from evenhand.words.claims import plain_claim_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from starlette.requests import Request

    from evenhand.web.jobs import Workers
    from evenhand.web.reads import Evaluation
    from evenhand.web.store import Store
    from evenhand.web.writer import Writer

SMALL, LARGE = 64 * 2**10, 6 * 2**20
MOST_FIELDS = 200
LONGEST_BODY = 60.0
"""Seconds in which all of a request must have come."""
JSON = "application/json"


@dataclass(slots=True)
class Site:
    """One running app.

    Attributes:
        store: The database.
        writer: What writes.
        workers: What computes.
        hosts: Names under which it may be asked; empty for any.
        public_url: Its address for others, without a slash at the end; or empty.
        secure: Whether cookies are for https only.
        limited: Whether senders are held to a rate.
        access_log: Whether each request is noted.
        failing: Whether the database failed when it was last asked.
        running: Jobs that are being worked out: evaluation, kind and number.
        now: The clock.
    """

    store: Store
    writer: Writer
    workers: Workers
    hosts: frozenset[str] = frozenset()
    public_url: str = ""
    secure: bool = False
    limited: bool = True
    access_log: bool = False
    failing: bool = False
    running: dict[tuple[int, str, int], asyncio.Task[None]] = field(
        default_factory=dict
    )
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    saves: guard.Limit = field(default_factory=lambda: guard.Limit(1, 30))
    requests: guard.Limit = field(default_factory=lambda: guard.Limit(10, 200))

    def base(self, request: Request) -> str:
        """Return the address that links begin with."""
        return self.public_url or str(request.base_url).rstrip("/")

    def is_local(self, request: Request) -> bool:
        """Say whether links open on this machine alone."""
        return urlsplit(self.base(request)).hostname in guard.LOOPBACK


def site_of(request: Request) -> Site:
    """Return the app that was asked."""
    site: Site = request.app.state.site
    return site


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("evenhand.web", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = plural
    environment.filters["number"] = number
    environment.globals["local_time"] = clock.local_time
    environment.globals["time_left"] = clock.time_left
    environment.globals["ago"] = clock.ago
    environment.globals["moment"] = t.moment
    environment.globals["plain_claim"] = plain_claim_of
    return environment


TEMPLATES = _environment()


def page(
    request: Request, name: str, status: int = 200, **context: object
) -> HTMLResponse:
    """Fill a template."""
    variables = {"now": site_of(request).now(), "csrf": "", **context}
    text = TEMPLATES.get_template(f"{name}.html.j2").render(**variables)
    return HTMLResponse(text, status)


def message(
    request: Request, title: str, text: str, status: int, back: str = ""
) -> HTMLResponse:
    """Say one thing on a page of its own."""
    return page(request, "message", status, title=title, text=text, back=back)


def wants_json(request: Request) -> bool:
    """Say whether the sender is our script and not a form."""
    return JSON in request.headers.get("accept", "")


async def read_body(request: Request, most: int = SMALL) -> bytes:
    """Read what was sent, if it is not too large.

    Raises:
        HTTPException: If it is.
    """
    return b"".join([part async for part in _parts(request, most)])


async def _parts(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """Read what was sent, and stop as soon as it is too large or takes too long."""
    size, stream = 0, request.stream()
    until = asyncio.get_running_loop().time() + LONGEST_BODY
    while True:
        try:
            async with asyncio.timeout_at(until):
                part = await anext(stream, None)
        except TimeoutError:
            headers = {"connection": "close"}
            raise HTTPException(408, "That took too long.", headers) from None
        if part is None:
            return
        size += len(part)
        if size > most:
            raise HTTPException(413, "That is too large.")
        yield part


async def read_form(request: Request, most: int = SMALL) -> dict[str, str]:
    """Read the fields of a form, the last of each name; files are left out.

    Raises:
        HTTPException: If it is not a form, or too large.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    body = await read_body(request, most)
    if kind == "application/x-www-form-urlencoded":
        try:
            pairs = parse_qsl(
                body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS
            )
        except ValueError:
            raise HTTPException(400, "The form cannot be read.") from None
        return {name: _plain(value) for name, value in pairs}
    if not body:
        return {}
    raise HTTPException(415, "This must be a form.")


async def read_upload(
    request: Request, most: int = LARGE
) -> tuple[dict[str, str], dict[str, tuple[str, bytes]]]:
    """Read a form with files: its fields, and the name and bytes of each file.

    Raises:
        HTTPException: If it is not a form, or too large.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "multipart/form-data":
        return await read_form(request, most), {}
    fields, files = {}, {}
    parser = MultiPartParser(
        request.headers,
        _parts(request, most),
        max_files=10,
        max_fields=MOST_FIELDS,
        max_part_size=most,
    )
    try:
        form = await parser.parse()
    except MultiPartException:
        raise HTTPException(400, "The form cannot be read.") from None
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            data = await value.read()
            if data:
                files[name] = (value.filename or "", data)
        else:
            fields[name] = _plain(value)
    await form.close()
    return fields, files


def _plain(value: str) -> str:
    # Lone halves of characters cannot be stored, and a NUL not in PostgreSQL.
    return value.encode("utf-8", "replace").decode().replace("\0", " ")


async def read_json(request: Request, most: int = SMALL) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        HTTPException: If it is none, or too large.
    """
    try:
        value = json.loads(await read_body(request, most))
    except (ValueError, RecursionError):
        raise HTTPException(400, "This must be JSON.") from None
    if not isinstance(value, dict):
        raise HTTPException(400, "This must be a JSON object.")
    return {
        _plain(name): _plain(field) if isinstance(field, str) else field
        for name, field in value.items()
    }


def session_of(request: Request) -> tuple[str, int] | None:
    """Return the session and the organiser of a request, None if nobody signed in."""
    site = site_of(request)
    token = request.cookies.get(guard.COOKIE, "")
    digest = guard.digest(token)
    if not digest:
        return None
    with site.store.read() as connection:
        organiser_id = reads.organiser(connection, digest, t.stamp(site.now()))
    return None if organiser_id is None else (token, organiser_id)


def organiser(request: Request) -> tuple[str, int]:
    """Return the session and the organiser.

    Raises:
        HTTPException: If nobody signed in.
    """
    session = session_of(request)
    if session is None:
        raise HTTPException(
            401, "Sign in first: use the link that evenhand serve printed."
        )
    wait = site_of(request).requests.wait(f"o{session[1]}")
    if wait and site_of(request).limited:
        raise HTTPException(429, "Too fast. Wait a moment.", {"retry-after": "2"})
    return session


def own_evaluation(request: Request) -> Evaluation:
    """Return the evaluation of a request, if its organiser asks.

    Raises:
        HTTPException: If nobody signed in, or it is not theirs.
    """
    _, organiser_id = organiser(request)
    with site_of(request).store.read() as connection:
        row = reads.evaluation(connection, request.path_params["slug"])
        if row is None or not reads.is_member(connection, row.id, organiser_id):
            raise HTTPException(404, "There is no such evaluation of yours.")
    return row


def state_of(request: Request, row: Evaluation) -> str:
    """Return the state of an evaluation now."""
    return state_at(row.stage(), site_of(request).now())


def check_origin(request: Request) -> None:
    """Refuse what another site's page sent.

    Raises:
        HTTPException: If it says so.
    """
    host = request.headers.get("host", "")
    if not guard.same_origin(request.headers.get("origin"), host):
        raise HTTPException(403, "This came from another site, so it was not done.")


def check_form(request: Request, form: dict[str, str]) -> None:
    """Refuse a form that is not from a page of this session.

    Raises:
        HTTPException: If it is not.
    """
    check_origin(request)
    session, _ = organiser(request)
    if not guard.is_csrf(session, form.pop("csrf", "")):
        raise HTTPException(
            403, "This form is not from a page of yours. Reload the page and try again."
        )

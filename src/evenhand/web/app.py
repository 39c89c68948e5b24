"""The route table, and what stands around every request."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.responses import Response as PlainResponse
from starlette.routing import Route

from evenhand.errors import EvenhandError
from evenhand.web import actions, guard, organiser, public, reads, reviewer
from evenhand.web.jobs import warm
from evenhand.web.site import message, wants_json
from evenhand.web.writer import FAILURES, RefusedError, UnsavedError, reason_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from evenhand.web.site import Site

LOG = logging.getLogger("evenhand.web")
ACCESS = logging.getLogger("evenhand.access")
STATIC = {
    path.name: path.read_bytes()
    for path in (resources.files("evenhand.web") / "static").iterdir()
    if path.name.endswith((".css", ".js", ".svg"))
}
HOUR = 3600
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


async def static(request: Request) -> Response:
    """Serve our own style and script."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404, "There is no such file.")
    kind = KINDS[name.rpartition(".")[2]]
    headers = {"cache-control": "public, max-age=300"}
    return PlainResponse(STATIC[name], media_type=kind, headers=headers)


ROUTES = [
    Route("/", organiser.home),
    Route("/healthz", public.health),
    Route("/static/{name}", static),
    Route("/in/{token}", organiser.sign_in_page),
    Route("/in/{token}", organiser.sign_in, methods=["POST"]),
    Route("/out", organiser.sign_out, methods=["POST"]),
    Route("/e/new", organiser.new),
    Route("/e/preview", organiser.preview_form, methods=["POST"]),
    Route("/e", organiser.save, methods=["POST"]),
    Route("/e/{slug}", organiser.show),
    Route("/e/{slug}/edit", organiser.edit),
    Route("/e/{slug}/progress.json", organiser.progress),
    Route("/e/{slug}/close", organiser.close),
    Route("/e/{slug}/links", organiser.links),
    Route("/e/{slug}/links.csv", organiser.links_csv),
    Route("/e/{slug}/people.csv", organiser.people_csv),
    Route("/e/{slug}/links/print", organiser.links_sheet),
    Route("/e/{slug}/door", organiser.door),
    Route("/e/{slug}/door/{door}", organiser.change_door, methods=["POST"]),
    Route("/e/{slug}/ratings.csv", organiser.ratings_file),
    Route("/e/{slug}/notes.csv", organiser.notes_file),
    Route("/e/{slug}/who-is-who.csv", organiser.who_is_who),
    Route("/e/{slug}/names.json", organiser.names_file),
    Route("/e/{slug}/bundle.zip", organiser.bundle),
    Route("/e/{slug}/reviewers/{reviewer:int}", organiser.person),
    Route("/e/{slug}/{kind}/{number:int}/report", organiser.report),
    Route("/e/{slug}/publish", organiser.publish, methods=["POST"]),
    Route("/e/{slug}/purge", organiser.purge, methods=["POST"]),
    Route("/e/{slug}/invite", organiser.invite, methods=["POST"]),
    Route(
        "/e/{slug}/organisers/{organiser:int}/remove",
        organiser.remove,
        methods=["POST"],
    ),
    Route("/e/{slug}/jobs/{kind}", organiser.job, methods=["POST"]),
    Route(
        "/e/{slug}/reviewers/{reviewer:int}/{repair}",
        organiser.repair,
        methods=["POST"],
    ),
    Route("/e/{slug}/{action}", organiser.change, methods=["POST"]),
    Route("/d/{token}", reviewer.door),
    Route("/d/{token}", reviewer.take_place, methods=["POST"]),
    Route("/r", reviewer.recover, methods=["POST"]),
    Route("/r/{token}", reviewer.show),
    Route("/r/{token}/mine.json", reviewer.own),
    Route("/r/{token}/begin", reviewer.begin, methods=["POST"]),
    Route("/r/{token}/decline", reviewer.decline, methods=["POST"]),
    Route("/r/{token}/return", reviewer.take_part, methods=["POST"]),
    Route("/r/{token}/done", reviewer.done, methods=["POST"]),
    Route("/r/{token}/order", reviewer.order, methods=["POST"]),
    Route("/r/{token}/tie", reviewer.tie, methods=["POST"]),
    Route("/r/{token}/equal", reviewer.equal, methods=["POST"]),
    Route("/r/{token}/items/{place:int}", reviewer.rate, methods=["POST"]),
    Route("/p/{slug}", public.show),
    Route("/p/{slug}/{name}", public.file),
]


def access_line(scope: Scope, status: int, elapsed: float) -> str:
    """Return the line of a request in the access log: its route, and no link.

    Examples:
        >>> scope = {"method": "GET", "client": ("10.0.0.7", 1), "route": ROUTES[3]}
        >>> access_line(scope, 200, 1.234)
        '10.0.0.7 GET /in/{token} 200 1.2 ms'
    """
    client = (scope.get("client") or ("-",))[0]
    # Even an address that is nobody's may be a link that was typed wrongly.
    route = getattr(scope.get("route"), "path", "-")
    slug = scope.get("path_params", {}).get("slug", "")
    path = route.replace("{slug}", slug) if guard.is_slug(slug) else route
    return f"{client} {scope['method']} {path} {status} {elapsed:.1f} ms"


class HostGuard:
    """Holds requests to our hosts, and adds headers to answers."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        """Wrap an app."""
        self.app, self.site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        name = guard.host_name(hosts[0].decode("latin-1")) if len(hosts) == 1 else None
        if name is None or (self.site.hosts and name not in self.site.hosts):
            text = "This address is not served here. See evenhand serve --public-url.\n"
            await PlainTextResponse(text, 400)(scope, receive, send)
            return

        start = time.perf_counter()

        async def send_with_headers(part: Message) -> None:
            if part["type"] == "http.response.start":
                if self.site.access_log:
                    elapsed = 1000 * (time.perf_counter() - start)
                    ACCESS.info(access_line(scope, part["status"], elapsed))
                header_names = {name.lower() for name, _ in part["headers"]}
                part["headers"] = [
                    *part["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in guard.HEADERS.items()
                        if name.encode() not in header_names
                    ),
                ]
            await send(part)

        await self.app(scope, receive, send_with_headers)


def _error_answer(request: Request, status: int, text: str, **headers: str) -> Response:
    """Say in words why something was not done."""
    if wants_json(request):
        body = {"code": f"status_{status}", "message": text}
        return JSONResponse(body, status, headers)
    title = "Not found" if status == 404 else "Not done"
    response = message(request, title, text, status)
    response.headers.update(headers)
    return response


async def _answer_refusal(request: Request, error: Exception) -> Response:
    if isinstance(error, UnsavedError):
        _note_failure(request.app.state.site, error)
    status = error.status if isinstance(error, RefusedError) else 422
    return _error_answer(request, status, str(error))


async def _answer_no_database(request: Request, error: Exception) -> Response:
    _note_failure(request.app.state.site, error)
    text = "The database does not answer. Nothing was changed. Try again in a moment."
    return _error_answer(request, 503, text, **{"retry-after": "5"})


def _note_failure(site: Site, error: Exception) -> None:
    """Say once that the database fails, however many requests there are."""
    if not site.failing:
        LOG.error("The database fails: %s", reason_of(error))
    site.failing = True


async def _answer_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else ""
    texts = {404: "There is no such page.", 405: "This cannot be done here."}
    plain = detail in ("Not Found", "Method Not Allowed")
    text = texts[status] if plain and status in texts else detail
    headers = getattr(error, "headers", None) or {}
    return _error_answer(request, status, text, **headers)


async def _answer_fault(request: Request, error: Exception) -> Response:
    LOG.error("failed", exc_info=error)
    return _error_answer(
        request, 500, "This is our fault, not yours. Nothing was changed."
    )


def make_app(site: Site, *more: Callable[[], Coroutine[Any, Any, None]]) -> Starlette:
    """Make the app of a database; `more` runs beside it."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        works = [tick(site), _warm(site), *(start() for start in more)]
        running = [asyncio.create_task(work) for work in works]
        yield
        for task in running:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        site.workers.stop()

    handlers: dict[Any, Any] = {
        EvenhandError: _answer_refusal,
        **dict.fromkeys(FAILURES, _answer_no_database),
        HTTPException: _answer_http,
        Exception: _answer_fault,
    }
    app = Starlette(routes=ROUTES, exception_handlers=handlers, lifespan=lifespan)
    app.add_middleware(HostGuard, site=site)
    app.state.site = site
    return app


async def tick(site: Site) -> None:
    """Start jobs that were never done, delete what is due, and mind the database."""
    with site.store.read() as connection:
        waiting = reads.waiting(connection)
    for job in waiting:
        organiser.start_job(site, job.evaluation_id, job.kind, job.number)
    for second in itertools.count(1):
        await asyncio.sleep(1)
        try:
            if site.failing:
                with site.store.read() as connection:
                    connection.exec_driver_sql("SELECT 1")
                site.failing = False
                LOG.warning("The database answers again.")
            if second % HOUR == 0:
                purged = await site.writer.change(actions.purge_due)
                if purged:
                    await site.writer.tidy()
        except (*FAILURES, UnsavedError) as error:
            _note_failure(site, error)
        except Exception:  # whatever it is, it is tried again
            LOG.exception("deleting failed")


async def _warm(site: Site) -> None:
    with contextlib.suppress(Exception):
        await site.workers.run(warm)

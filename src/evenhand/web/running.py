"""Run the app: the address it is served at, the server, a demonstration."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import threading
import webbrowser
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import sqlalchemy as sa
import uvicorn

from evenhand.errors import OptionError
from evenhand.web import actions, guard
from evenhand.web.app import ACCESS, make_app
from evenhand.web.connections import (
    AT_ONCE,
    MOST,
    Impatient,
    Server,
    room_for_connections,
)
from evenhand.web.demo import make_demo, rate_demo
from evenhand.web.jobs import Workers
from evenhand.web.site import Site
from evenhand.web.store import Store, open_store, read_only
from evenhand.web.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.applications import Starlette
    from starlette.types import Message

KEEP_ALIVE = 75
EVERYWHERE = "0.0.0.0"  # noqa: S104 - as --lan asks
NAME = "Organiser"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the app is served.

    Attributes:
        host: What is listened on.
        port: The port; 0 for any that is free.
        public_url: The address for others, or empty.
        proxy: Whether a proxy's headers are trusted.
        certfile: A certificate, for https.
        keyfile: Its key.
        access_log: Whether each request is noted, without what links hold.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str = ""
    proxy: bool = False
    certfile: str | None = None
    keyfile: str | None = None
    access_log: bool = False

    @property
    def hosts(self) -> frozenset[str]:
        """Names under which the app may be asked."""
        names = {self.host, urlsplit(self.public_url).hostname or ""} - {EVERYWHERE}
        return guard.LOOPBACK | {name.casefold() for name in names if name}

    @property
    def secure(self) -> bool:
        """Whether browsers talk https to it."""
        return self.certfile is not None or self.public_url.startswith("https://")


def lan_address() -> str:
    """Return the address of this machine in its network; nothing is sent for it.

    Raises:
        OptionError: If it is in none.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            raise OptionError("This machine seems to be in no network.") from None
        return str(probe.getsockname()[0])


def listen(host: str, port: int) -> socket.socket:
    """Take a port.

    Raises:
        OptionError: If it is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Whoever comes before the server has started waits, and is not turned away.
        listener.listen(MOST)
    except OSError as error:
        listener.close()
        raise OptionError(
            f"Port {port} of {host} cannot be used: {error.strerror}. Choose another "
            "with --port."
        ) from None
    return listener


class Served:
    """A database with its writer and its app, to be closed at the end."""

    def __init__(
        self,
        db: str,
        address: Address,
        *,
        limited: bool = True,
        demo: bool = False,
        key: str = "",
    ) -> None:
        """Open the database.

        Raises:
            OptionError: If it cannot be opened.
        """
        self.store: Store = open_store(db, key)
        self.address = address
        self.site = Site(
            self.store,
            Writer(self.store),
            Workers(),
            hosts=address.hosts,
            public_url=address.public_url.rstrip("/"),
            secure=address.secure,
            limited=limited,
            access_log=address.access_log,
        )
        slug = make_demo(self.store, NAME) if demo else ""
        more = [lambda: rate_demo(self.site, slug)] if demo else []
        self.app: Starlette = make_app(self.site, *more)

    def signin(self) -> str:
        """Return a new link for the organiser of this server, without the host."""
        with self.store.writing.begin() as connection:
            now = datetime.now(UTC)
            organiser_id = actions.first_organiser(connection, now, NAME)
            return f"/in/{actions.make_signin(connection, now, organiser_id)}"

    def run(self, taken: socket.socket, started: Callable[[], None]) -> None:
        """Serve until somebody stops it."""
        address = self.address
        if address.access_log:
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
            ACCESS.addHandler(handler)
            ACCESS.setLevel(logging.INFO)
        Impatient.most = room_for_connections()
        config = uvicorn.Config(
            self.app,
            http=Impatient,
            backlog=AT_ONCE,
            log_level="warning",
            access_log=False,
            timeout_keep_alive=KEEP_ALIVE,
            proxy_headers=address.proxy,
            forwarded_allow_ips="*" if address.proxy else "",
            server_header=False,
            ssl_certfile=address.certfile,
            ssl_keyfile=address.keyfile,
            timeout_graceful_shutdown=5,
        )
        # What uvicorn says of a bad request may hold its address, and so a link.
        logging.getLogger("uvicorn.access").disabled = True
        server = Server(config, started)
        # uvicorn finishes, then lets the signal that stopped it come again.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[taken])

    def get(self, path: str) -> tuple[int, str]:
        """Return one page as the organiser of this server sees it."""
        with self.store.writing.begin() as connection:
            now = datetime.now(UTC)
            organiser_id = actions.first_organiser(connection, now, NAME)
            token = actions.make_signin(connection, now, organiser_id)
            session = actions.sign_in(connection, now, token)
        try:
            return asyncio.run(_get(self.app, path, session))
        finally:
            with self.store.writing.begin() as connection:
                actions.sign_out(connection, datetime.now(UTC), session)

    def close(self) -> None:
        """Finish what was handed over, and close the database."""
        self.site.writer.stop()
        self.site.workers.stop()
        self.store.close()


async def _get(app: Starlette, path: str, session: str) -> tuple[int, str]:
    route, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": route,
        "raw_path": route.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"cookie", f"{guard.COOKIE}={session}".encode()),
        ],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 0),
        "state": {},
    }
    parts: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(part: Message) -> None:
        parts.append(part)

    await app(scope, receive, send)
    body = b"".join(part.get("body", b"") for part in parts)
    return int(parts[0]["status"]), body.decode("utf-8", "replace")


def open_browser(address: str) -> None:
    """Open the organiser's browser, if there is one."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def reading_engine(db: str) -> sa.Engine:
    """Open a database to be read only, while a server may run on it.

    Raises:
        OptionError: If there is no such file.
    """
    if "://" in db:
        _, _, location = db.partition("://")
        return sa.create_engine(f"postgresql+psycopg://{location}")
    path = Path(db)
    return sa.create_engine(
        "sqlite://", creator=lambda: read_only(path), isolation_level="AUTOCOMMIT"
    )

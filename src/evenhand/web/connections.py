"""Connections that ask for nothing: they are closed before they keep others out.

The server takes a whole head before it asks the app, and would wait for one for ever.
"""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable

MOST, FEWEST, AT_ONCE = 2000, 16, 16
OTHER_FILES = 128
"""Files beside those of connections, and of connections that are being closed."""


def room_for_connections() -> int:
    """Let this process open more files, if it may; return for how many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless, n_files = resource.RLIM_INFINITY, MOST + OTHER_FILES
    if soft != endless and soft < n_files:
        soft = n_files if hard == endless else min(hard, n_files)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST if soft == endless else max(min(soft - OTHER_FILES, MOST), FEWEST)


class Impatient(H11Protocol):
    """Drops who sends no head in time, and who is idle when there are too many."""

    most: ClassVar[int] = MOST
    seconds: ClassVar[float] = 15
    idle: ClassVar[dict[Impatient, asyncio.TimerHandle | None]] = {}
    """Who has asked for nothing, the longest first; with a clock if a head is due."""

    def _welcome(self, transport: asyncio.Transport) -> None:
        """Wait for a head; the one that waited longest makes room if there is none."""
        super().connection_made(transport)
        self._mind()
        if len(self.connections) > self.most:
            next(iter(self.idle)).drop()

    connection_made = _welcome  # by this name asyncio calls it

    def handle_events(self) -> None:
        """Take what has come of a request."""
        super().handle_events()
        self._mind()

    def on_response_complete(self) -> None:
        """Stay for another request, for as long as the server says."""
        super().on_response_complete()
        if not self._is_busy():
            self.idle.setdefault(self, None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._forget()
        super().connection_lost(exc)

    def drop(self) -> None:
        """Give its place to another connection."""
        self._forget()
        self.transport.abort()

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _mind(self) -> None:
        if self._is_busy():
            self._forget()
        elif self.idle.get(self) is None:
            self.idle[self] = self.loop.call_later(self.seconds, self.drop)

    def _forget(self) -> None:
        timer = self.idle.pop(self, None)
        if timer is not None:
            timer.cancel()


class Server(uvicorn.Server):
    """Takes few connections at once, so that idle ones can be closed for them."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        """Keep what to do when it answers."""
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and let the others wait in a long queue and not be turned away."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(MOST)
        self._started()

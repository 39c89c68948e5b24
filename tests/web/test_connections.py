"""Connections that ask for nothing keep nobody out."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from evenhand.web import connections
from evenhand.web.connections import MOST, OTHER_FILES, Impatient, room_for_connections
from evenhand.web.running import listen
from tests.web.test_serve import serving


@contextmanager
def half_open(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Open connections that never finish the head of a request."""
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            one.sendall(b"GET / HTTP/1.1\r\nHost: 127")
            made.append(one)
        yield made


def test_more_half_open_connections_than_files(tmp_path: Path) -> None:
    words = ["--db", str(tmp_path / "e.db")]
    with serving(*words, files=200) as (process, base, link):
        with half_open(int(base.rpartition(":")[2]), 400):
            began = time.monotonic()
            assert httpx.get(f"{base}/healthz", timeout=60).text.startswith("ok ")
            assert httpx.post(link, timeout=60).status_code == 303
            assert time.monotonic() - began < 10
        process.terminate()
        process.wait(30)
        assert process.stdout is not None
        assert process.stdout.read() == ""


def test_the_limit_of_open_files_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = resource.RLIM_INFINITY
    for soft, hard, raised, room in [
        (1024, 524_288, MOST + OTHER_FILES, MOST),
        (1024, endless, MOST + OTHER_FILES, MOST),
        (1024, 1024, 1024, 1024 - OTHER_FILES),
        (endless, endless, endless, MOST),
        (100_000, 524_288, 100_000, MOST),
    ]:
        limits = [(soft, hard)]
        monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])  # noqa: B023 - at once
        monkeypatch.setattr(
            resource,
            "setrlimit",
            lambda _, given: limits.append(given),  # noqa: B023 - at once
        )
        assert room_for_connections() == room
        assert limits[-1] == (raised, hard)


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Serve "hello" to three connections, each of which has a second for its head."""
    monkeypatch.setattr(Impatient, "seconds", 1.0)
    monkeypatch.setattr(Impatient, "most", 3)
    taken, started = listen("127.0.0.1", 0), threading.Event()
    hello = PlainTextResponse("hello")
    config = uvicorn.Config(hello, http=Impatient, lifespan="off", log_level="error")
    server = connections.Server(config, started.set)
    run = threading.Thread(target=server.run, args=([taken],), daemon=True)
    run.start()
    assert started.wait(60)
    yield taken.getsockname()[1]
    server.should_exit = True
    run.join()


def test_a_head_that_does_not_come_is_not_waited_for(port: int) -> None:
    with half_open(port, 2) as (one, two):
        for _ in range(2):
            two.sendall(b".0.0.1\r\n\r\n")
            while b"hello" not in two.recv(1000):
                continue
            two.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        # The second head came in time, the third does not.
        assert is_gone(one)
        assert is_gone(two)


def is_gone(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


def test_who_was_idle_for_longest_makes_room(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Impatient, "seconds", 60)
    with half_open(port, 5) as made:
        made[4].sendall(b".0.0.1\r\n\r\n")
        assert made[4].recv(12) == b"HTTP/1.1 200"
        assert all(map(is_gone, made[:2]))
        for one in made[2:4]:
            one.settimeout(0)
            with pytest.raises(BlockingIOError):
                one.recv(1)

"""Processes on this machine that run what they are sent, until they are ended.

Each has a line of its own. Those of a `ProcessPoolExecutor` (and of loky) answer on one
line, whose other end the parent keeps open: when one ends in the middle of an answer,
as it does when memory runs out, whoever waits for the rest of it waits for ever. Users
are those who simulate with --workers and press Ctrl-C, and the app, which must go on.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Result = TypeVar("Result")


class Pool(ThreadPoolExecutor):
    """Threads that hand each call to a process of their own.

    A call whose process is lost raises BrokenExecutor; the next one gets a new process.
    """

    def __init__(self, count: int, begin: Callable[[], object] | None = None) -> None:
        """Start none yet.

        Args:
            count: How many processes there are at most.
            begin: What each does first.
        """
        super().__init__(count)
        self._begin = begin
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._started: list[BaseProcess] = []
        self._ended = False

    def submit(
        self, fn: Callable[..., Result], /, *args: object, **kwargs: object
    ) -> Future[Result]:
        """Let a process call a function."""
        return super().submit(self._ask, (fn, args, kwargs))

    def end(self) -> None:
        """End the processes, whatever they are at, and wait until they are gone."""
        self.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._ended = True
        for process in self._started:
            process.kill()
        for process in self._started:
            process.join()
        self.shutdown()

    def _ask(self, call: tuple[object, ...]) -> Any:  # noqa: ANN401 - what it returns
        try:
            line = self._line()
            line.send(call)
            works, answer = line.recv()
        except (EOFError, OSError) as error:
            self._forget()
            raise BrokenExecutor from error
        if works:
            return answer
        raise answer

    def _line(self) -> Connection:
        """Return the line to the process of this thread, which may begin now."""
        if not hasattr(self._mine, "line"):
            with self._lock:
                if self._ended:
                    raise EOFError
                self._mine.line, self._mine.process = self._start()
        line: Connection = self._mine.line
        return line

    def _forget(self) -> None:
        """Let go of a process that is lost, and of its line."""
        lost = self._mine.__dict__.pop("process", None)
        self._mine.__dict__.clear()
        with self._lock:
            if lost is not None and not self._ended:
                self._started.remove(lost)
                lost.kill()
                lost.join()
                lost.close()

    def _start(self) -> tuple[Connection, BaseProcess]:
        # Fresh processes: forking one that has threads, as polars has, may hang.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self._begin), daemon=True)
        # The keyboard interrupts every process, even one that still imports; ours leave
        # that to us: what a thread blocks, the processes that it starts block too.
        if hasattr(signal, "pthread_sigmask"):
            resource_tracker.ensure_running()  # whose start unblocks it
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        process.start()
        theirs.close()
        self._started.append(process)
        return ours, process


def serve(line: Connection, begin: Callable[[], object] | None) -> None:
    """Answer calls until the line is closed, or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()
    if begin is not None:
        begin()
    with contextlib.suppress(EOFError, OSError):
        while True:
            answer = _answer(line.recv_bytes())
            try:
                line.send(answer)
            except Exception as error:  # noqa: BLE001 - whatever pickling it raises
                line.send((False, _sendable(error)))


def _answer(call: bytes) -> tuple[bool, object]:
    """Return whether a call works, and its result or error."""
    try:
        fn, args, kwargs = pickle.loads(call)  # noqa: S301 - from our own parent
        return True, fn(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001 - raised again by whoever called
        error.add_note(f"In a worker:\n{traceback.format_exc()}")
        return False, _sendable(error)


def _sendable(error: BaseException) -> BaseException:
    """Return an error, or if it cannot be sent one that says the same."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever its class raises
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def _follow() -> None:
    """End at once, whatever this process is at, when its parent is gone."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
    os._exit(1)

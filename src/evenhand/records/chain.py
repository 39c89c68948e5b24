"""A log that shows every later change: each line holds the hash of the one before.

The first line follows the seal that was published, so the chain begins with it. What is
private stands in the log as the hash of a salted payload: the content cannot be
guessed from its hash, and it can be erased while the chain stays whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import RecordError
from evenhand.records.canonical import canonical, decoded, is_dict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from evenhand.claims import Json

EVENT = "evenhand.event/1"
PAYLOAD_PREFIX = "evenhand.payload/1:"
DECIDE_PREFIX = "evenhand.decide/1:"
SEED_BITS = 53
HASH_BITS = 256


@dataclass(frozen=True, slots=True)
class Head:
    """Where a log stands.

    Attributes:
        n: Number of its last event, 0 before the first.
        hash: Hash of that event, the seal before the first.
    """

    n: int
    hash: str


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a log.

    Attributes:
        n: Its number, from 1.
        line: Its text.
        hash: SHA-256 of the text.
    """

    n: int
    line: str
    hash: str

    @property
    def head(self) -> Head:
        """Where the log stands after it."""
        return Head(self.n, self.hash)


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def minute(at: datetime) -> str:
    """Write a time as public lines have it: seconds would tell who rated when.

    Examples:
        >>> from datetime import UTC, datetime
        >>> minute(datetime(2026, 11, 16, 12, 4, 59, tzinfo=UTC))
        '2026-11-16T12:04Z'
    """
    return at.strftime("%Y-%m-%dT%H:%MZ")


def payload_hash(salt: str, body: Json) -> str:
    """Return the hash that stands in the log for a private body.

    Examples:
        >>> payload_hash("00", {"score": 5})[:8]
        '38b87a84'
    """
    return text_hash(f"{PAYLOAD_PREFIX}{salt}:{canonical(body)}")


def append(
    head: Head,
    kind: str,
    at: datetime,
    *,
    says: Mapping[str, Json] | None = None,
    payload: str | None = None,
) -> Event:
    """Write the next event of a log.

    Args:
        head: Where the log stands.
        kind: What happened.
        at: When, in UTC.
        says: What everybody may read about it.
        payload: Hash of what is private about it, by `payload_hash`.

    Returns:
        The event.

    Examples:
        >>> from datetime import UTC, datetime
        >>> at = datetime(2026, 11, 16, 12, 4, tzinfo=UTC)
        >>> append(Head(0, "0" * 64), "opened", at).line[:49]
        '{"at":"2026-11-16T12:04Z","kind":"opened","n":1,"'
    """
    content: dict[str, Json] = {
        "schema": EVENT,
        "n": head.n + 1,
        "at": minute(at),
        "kind": kind,
        "prev": head.hash,
    }
    if says is not None:
        content["says"] = says
    if payload is not None:
        content["payload"] = payload
    line = canonical(content)
    return Event(head.n + 1, line, text_hash(line))


def parse_event(line: str, n: int) -> dict[str, Json]:
    """Read one line of a log.

    Raises:
        RecordError: If it is not an event in its canonical form.
    """
    value = decoded(line.encode(), f"log line {n}")
    if not is_dict(value) or value.get("schema") != EVENT or canonical(value) != line:
        raise RecordError(f"log line {n}: This is not an event of evenhand.")
    return dict(value)


def follow(lines: Iterable[str], seal: str) -> tuple[list[dict[str, Json]], Head]:
    """Follow a log from its seal to its head.

    Args:
        lines: The lines, without their ends.
        seal: What the first line must follow.

    Returns:
        The events, and where the log stands.

    Raises:
        RecordError: If a line is not ours, or does not follow the one before it; it
            names the line.

    Examples:
        >>> from datetime import UTC, datetime
        >>> at = datetime(2026, 11, 16, 12, 4, tzinfo=UTC)
        >>> one = append(Head(0, "0" * 64), "opened", at)
        >>> follow([one.line], "0" * 64)[1] == one.head
        True
        >>> follow([one.line], "1" * 64)
        Traceback (most recent call last):
        ...
        evenhand.errors.RecordError: log line 1 does not follow the seal.
    """
    head = Head(0, seal)
    events = []
    for n, line in enumerate(lines, start=1):
        event = parse_event(line, n)
        if event.get("prev") != head.hash or event.get("n") != n:
            before = f"line {n - 1}" if n > 1 else "the seal"
            raise RecordError(f"log line {n} does not follow {before}.")
        events.append(event)
        head = Head(n, text_hash(line))
    return events, head


def decision_seed(secret: str, head: str) -> int:
    """Return the seed of a decision, which nobody can choose once ratings exist.

    Args:
        secret: The sealed secret.
        head: Hash of the event by which the evaluation was closed.

    Returns:
        The first 53 bits of a hash of both.

    Examples:
        >>> decision_seed("0" * 64, "1" * 64)
        4536101766584879
    """
    digest = int(text_hash(f"{DECIDE_PREFIX}{secret}:{head}"), 16)
    return digest >> (HASH_BITS - SEED_BITS)

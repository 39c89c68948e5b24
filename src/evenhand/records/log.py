"""The log of an evaluation: lines that show every later change, and their rules.

Each line holds the hash of the one before, and the first follows the seal that was
published. What is private stands in the log as the hash of a salted payload: the
content cannot be guessed from its hash, and it can be erased while the chain stays
whole. A log whose hashes fit can still tell of something that the app never allows, as
a rating after the close; `Rules` holds each event against all that came before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.errors import RecordError
from evenhand.records.canonical import canonical, decoded, is_dict, text_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from evenhand.claims import Json
    from evenhand.designs.assignment import Assignment

    Rule = Iterator[tuple[object, str]]

EVENT = "evenhand.event/1"
PAYLOAD_PREFIX = "evenhand.payload/1:"
DECIDE_PREFIX = "evenhand.decide/1:"
SEED_BITS, HASH_BITS = 53, 256
REPAIRS = ("absent", "reserve", "substitute")
RATED = ("rated", "recused", "cleared")
PRIVATE = (*REPAIRS, *RATED, "begun")
COLLECTED = ("closed", "decided", "published")
RUNNING = ("sealed", "open")
MOVES: dict[str, tuple[tuple[str, ...], str | None]] = {
    "created": (("not made",), "draft"),
    "sealed": (("draft",), "sealed"),
    "unsealed": (RUNNING, "draft"),
    "opened": (("sealed",), "open"),
    "paused": (("open",), None),
    "resumed": (("open",), None),
    "extended": (RUNNING, None),
    "new link": (RUNNING, None),
    "absent": ((*RUNNING, "closed"), None),
    "reserve": (RUNNING, None),
    "substitute": (RUNNING, None),
    "begun": (("open",), None),
    "rated": (("open",), None),
    "recused": (("open",), None),
    "cleared": (("open",), None),
    "closed": (("open",), "closed"),
    "looked": (("closed",), None),
    "decided": (COLLECTED, None),
    "published": (("decided", "published"), "published"),
}
"""For each kind of event, the states that allow it, and the state after it."""
MINUTE = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\dZ")


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
class Event(Head):
    """One line of a log, and where the log stands after it.

    Attributes:
        line: Its text.
    """

    line: str


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
    n, more = head.n + 1, {"says": says, "payload": payload}
    known: dict[str, Json] = {"schema": EVENT, "n": n, "at": minute(at), "kind": kind}
    told = {key: value for key, value in more.items() if value is not None}
    line = canonical({**known, "prev": head.hash, **told})
    return Event(n, text_hash(line), line)


def parse_event(line: str, n: int) -> dict[str, Any]:
    """Read one line of a log.

    Raises:
        RecordError: If it is not an event in its canonical form.
    """
    value = decoded(line.encode(), f"log line {n}")
    if not is_dict(value) or value.get("schema") != EVENT or canonical(value) != line:
        raise RecordError(f"log line {n}: This is not an event of evenhand.")
    return dict(value)


def follow(lines: Iterable[str], seal: str) -> tuple[list[dict[str, Any]], Head]:
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
        >>> follow([one.line], "0" * 64)[1] == Head(1, one.hash)
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


def says(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what everybody may read about an event."""
    told = event.get("says")
    return told if is_dict(told) else {}


def since_sealed(events: Sequence[Mapping[str, Json]]) -> int:
    """Return the place of the last "sealed", by which the draw that holds was made.

    Raises:
        RecordError: If nothing was sealed.

    Examples:
        >>> since_sealed([{"kind": "created"}, {"kind": "sealed"}])
        1
    """
    found = [n for n, event in enumerate(events) if event.get("kind") == "sealed"]
    if not found:
        raise RecordError("The log does not say that anything was sealed.")
    return found[-1]


def on_scale(score: float, scale: Mapping[str, Any], size: int) -> bool:
    """Say whether a score is on a scale that was sealed.

    Args:
        score: The score.
        scale: The scale, as in the lists.
        size: How many items the reviewer has, for an order.

    Examples:
        >>> on_scale(2.5, {"kind": "number", "low": 0, "high": 3, "step": 0.5}, 1)
        True
        >>> on_scale(4, {"kind": "order"}, 3)
        False
    """
    if scale["kind"] == "number":
        low, high, step = (float(scale[name]) for name in ("low", "high", "step"))
    else:
        many = len(scale["levels"]) if scale["kind"] == "letters" else size
        low, high, step = 1.0, float(many), 1.0
    if not low <= score <= high:
        return False
    exact = [Fraction(str(value)) for value in (score, low, step)]
    return score == high or not (exact[0] - exact[1]) % exact[2]


class Rules:
    """What is known of an evaluation while its log is followed."""

    def __init__(
        self,
        events: Sequence[Mapping[str, Json]],
        bodies: Mapping[int, Mapping[str, Any]] | None,
        drawn: Sequence[Assignment],
        scale: Mapping[str, Any],
    ) -> None:
        """Take a log, and what it is held against.

        Args:
            events: The events of the log.
            bodies: What is private about them, by number; None if it is not known.
            drawn: The draw that holds, and each of its amendments.
            scale: The scale, as it was sealed.
        """
        self._events, self._bodies, self._scale = events, bodies, scale
        self._holds = since_sealed(events)
        self._given = [
            {str(who): set(map(str, own)) for who, own in it.bundles().items() if own}
            for it in drawn
        ]
        self._state, self._at, self._seal = "not made", "", ""
        self._draws, self._part, self._decided, self._begun = 0, 0, 0, 0
        self._paused = self._looked = False
        self._began: set[str] = set()
        self._last: dict[tuple[str, str], tuple[int, float | None]] = {}

    def broken(self) -> str | None:
        """Follow the log to its end; return what is against the rules, and where."""
        for n, event in enumerate(self._events, start=1):
            for is_broken, sentence in self._event(n, event):
                if is_broken:
                    return f"Event {n}: {sentence}"
        if self._events[-1].get("kind") != "published":
            return "The log does not end with what was published."
        return None

    def _event(self, n: int, event: Mapping[str, Json]) -> Rule:
        """Yield whether each rule for an event is broken, and what to say then."""
        found, at, told = event.get("kind"), str(event.get("at")), says(event)
        kind = found if isinstance(found, str) else ""
        yield kind not in MOVES, f"There is no such kind as {canonical(found)}."
        yield not MINUTE.fullmatch(at), "Its time is none."
        yield at < self._at, "It is earlier than the event before it."
        self._at = at
        about, bodies = kind in PRIVATE, self._bodies
        lacks = about and bodies is not None and n not in bodies
        says_so = "It must have private content only if it is about a reviewer."
        yield ("payload" in event) != about or lacks, says_so
        yield from self._move(kind)
        if kind in ("created", "unsealed", "sealed"):
            self._part = 0
            if kind != "sealed":
                self._draws += 1
                self._seal = str(told.get("seal"))
            same = (told.get("draw"), told.get("seal")) == (self._draws, self._seal)
            yield not same, "It has another seal, or another number of the draw."
        elif kind in REPAIRS:
            self._part += 1
            late = n > self._holds and self._part >= len(self._given)
            wrong = told.get("part") != self._part + 1
            yield wrong or late, "Its amendment is not here."
        elif kind == "closed" and n > self._holds:
            yield from self._closed(told)
        elif kind == "decided":
            number = told.get("number")
            later = isinstance(number, int) and number > self._decided
            yield not later, "Decisions must be numbered one after the other."
            self._decided = int(str(number))
        elif bodies is not None and kind in ("begun", *RATED):
            yield from self._rater(kind, bodies[n])
        self._begun += kind == "begun"

    def _move(self, kind: str) -> Rule:
        """Hold an event against the state of the evaluation, and move on."""
        allowed, after = MOVES[kind]
        cannot = f'"{kind}" cannot be'
        rating = kind in ("begun", *RATED, "paused")
        wrong = self._state not in allowed
        yield wrong, f"{cannot} while the evaluation is {self._state}."
        yield self._paused and rating, f"{cannot} while the evaluation is paused."
        seen = self._looked and kind in ("looked", "absent")
        yield seen, f"{cannot} once scores were seen."
        yield kind == "resumed" and not self._paused, "It was not paused."
        begun = kind == "unsealed" and self._begun
        yield begun, "Somebody had begun, so the draw stands."
        yield kind == "decided" and not self._looked, "Nobody had looked at scores."
        stays = self._paused and after is None and kind != "resumed"
        self._paused = kind == "paused" or stays
        self._looked = self._looked or kind == "looked"
        if kind == "decided" and self._state == "closed":
            after = "decided"
        self._state = after or self._state

    @property
    def _now(self) -> Mapping[str, set[str]]:
        """The items of each reviewer, after the repairs so far."""
        return self._given[min(self._part, len(self._given) - 1)]

    def _closed(self, told: Mapping[str, Json]) -> Rule:
        never = len(self._now) - self._begun
        counts = {"begun": self._begun, "never_began": never}
        if self._bodies is not None:
            scores = [score for _, score in self._last.values()]
            counts["ratings"] = sum(score is not None for score in scores)
        for name, count in counts.items():
            says_so = f'It says {canonical(told.get(name))} for "{name}"; '
            yield told.get(name) != count, f"{says_so}the log has {count}."

    def _rater(self, kind: str, body: Mapping[str, Any]) -> Rule:
        who, item, score = (body.get(key) for key in ("reviewer", "item", "score"))
        own = self._now.get(who, set()) if isinstance(who, str) else set()
        yield not own, "The reviewer has no items."
        if kind == "begun":
            yield who in self._began, "The reviewer had begun already."
            self._began.add(str(who))
            return
        yield who not in self._began, "The reviewer had not begun."
        mine = isinstance(item, str) and item in own
        yield not mine, "The item is not one of the reviewer's."
        if kind == "rated":
            is_number = isinstance(score, int | float) and not isinstance(score, bool)
            text = canonical(score)
            yield not is_number, f"A score must be a number, got {text}."
            fits = on_scale(score or 0, self._scale, len(own))
            yield not fits, f"{text} is not on the scale that was sealed."
        else:
            yield score is not None, "There is a score where nothing was rated."
        pair = (str(who), str(item))
        version = self._last.get(pair, (0, None))[0] + 1
        says_so = "A rating between it and the one before is missing."
        yield body.get("version") != version, says_so
        self._last[pair] = (version, score)

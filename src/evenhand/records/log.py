"""The log of an evaluation: lines that show every later change, and their rules.

Each line holds the hash of the one before, and the first follows the seal that was
published. What is private stands in the log as the hash of a salted payload: the
content cannot be guessed from its hash, and it can be erased while the chain stays
whole. A log whose hashes fit can still tell of something that the app never allows, as
a rating after the close; `Rules` holds each event against all that came before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.errors import RecordError
from evenhand.records.canonical import canonical, decode, is_dict, text_hash
from evenhand.records.events import BODIES, event_fault, minute, minutes_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from evenhand.claims import Json
    from evenhand.designs.assignment import Assignment

    Rule = Iterator[tuple[object, str]]

EVENT = "evenhand.event/1"
PAYLOAD_PREFIX = "evenhand.payload/1:"
DECIDE_PREFIX = "evenhand.decide/2:"
SEED_BITS, HASH_BITS = 53, 256
REPAIRS = ("absent", "reserve", "substitute")
RATED = ("rated", "recused", "cleared")
UNDO = 10
"""Minutes in which a close can be undone, if nobody saw scores."""
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
    "blind link": (("open",), None),
    "absent": ((*RUNNING, "closed"), None),
    "reserve": (RUNNING, None),
    "substitute": (RUNNING, None),
    "begun": (("open",), None),
    "rated": (("open",), None),
    "recused": (("open",), None),
    "cleared": (("open",), None),
    "closed": (("open",), "closed"),
    "reopened": (("closed",), "open"),
    "valued": (("closed",), None),
    "looked": (("closed",), None),
    "decided": (COLLECTED, None),
    "published": (("decided", "published"), "published"),
    "withdrawn": (("published",), "decided"),
}
"""For each kind of event, the states that allow it, and the state after it."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a log stands.

    Attributes:
        n: Number of its last event, 0 before the first.
        hash: Hash of that event, the seal before the first.
        at: Time of that event, as its line has it; empty before the first.
    """

    n: int
    hash: str
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Event(Head):
    """One line of a log, and where the log stands after it.

    Attributes:
        line: Its text.
    """

    line: str = ""


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
    """Write the next event of a log, never at an earlier time than the one before.

    Clocks differ, and are set back; the order of events is that of the log.

    Args:
        head: Where the log stands.
        kind: What happened.
        at: When, in UTC, by the clock of who writes it.
        says: What everybody may read about it.
        payload: Hash of what is private about it, by `payload_hash`.

    Returns:
        The event.

    Raises:
        RecordError: If an event of this kind has other fields.

    Examples:
        >>> from datetime import UTC, datetime
        >>> at = datetime(2026, 11, 16, 12, 4, tzinfo=UTC)
        >>> append(Head(0, "0" * 64), "opened", at).line[:49]
        '{"at":"2026-11-16T12:04Z","kind":"opened","n":1,"'
    """
    n, more = head.n + 1, {"says": says, "payload": payload}
    when = max(minute(at), head.at)
    fields: dict[str, Json] = {"schema": EVENT, "n": n, "at": when, "kind": kind}
    extra = {key: value for key, value in more.items() if value is not None}
    event = {**fields, "prev": head.hash, **extra}
    if fault := event_fault(event):
        raise RecordError(f'An event "{kind}" cannot be written: {fault}')
    line = canonical(event)
    return Event(n, text_hash(line), when, line)


def parse_event(line: str, n: int) -> dict[str, Any]:
    """Read one line of a log.

    Raises:
        RecordError: If it is not an event in its canonical form.
    """
    value = decode(line.encode(), f"log line {n}")
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
        head = Head(n, text_hash(line), str(event.get("at")))
    return events, head


def seed_of_decision(secret: str, nonces: str, value: str = "") -> int:
    """Return the seed of a decision.

    Args:
        secret: The sealed secret.
        nonces: Hash of what reviewers' devices drew, by `nonces_hash`.
        value: The public value that was named at sealing, if there was one.

    Returns:
        The first 53 bits of a hash of all three.

    Examples:
        >>> seed_of_decision("0" * 64, "1" * 64)
        5408047709109572
    """
    digest = int(text_hash(f"{DECIDE_PREFIX}{secret}:{nonces}:{value}"), 16)
    return digest >> (HASH_BITS - SEED_BITS)


def nonces_in(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what reviewers' devices drew, a nonce for each rating that has one.

    They are sorted: in which order ratings came, when, and what organisers did
    meanwhile changes nothing.
    """
    rated = (says(event) for event in events if event.get("kind") in RATED)
    return sorted(entry["nonce"] for entry in rated if entry.get("nonce"))


def public_value_in(events: Iterable[Mapping[str, Any]]) -> str:
    """Return the public value that was put in after the close, "" if there is none."""
    values = [says(event)["value"] for event in events if event.get("kind") == "valued"]
    return str(values[-1]) if values else ""


def seed_from(secret: str, events: Sequence[Mapping[str, Any]]) -> int:
    """Return the seed that follows from a secret and a log."""
    nonces = text_hash(",".join(nonces_in(events)))
    return seed_of_decision(secret, nonces, public_value_in(events))


def says(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what everybody may read about an event."""
    content = event.get("says")
    return content if is_dict(content) else {}


def last_sealing(events: Sequence[Mapping[str, Json]]) -> int:
    """Return the place of the last "sealed", by which the draw that holds was made.

    Raises:
        RecordError: If nothing was sealed.

    Examples:
        >>> last_sealing([{"kind": "created"}, {"kind": "sealed"}])
        1
    """
    places = [n for n, event in enumerate(events) if event.get("kind") == "sealed"]
    if not places:
        raise RecordError("The log does not say that anything was sealed.")
    return places[-1]


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
        public_value: str | None = None,
    ) -> None:
        """Take a log, and what it is held against.

        Args:
            events: The events of the log.
            bodies: What is private about them, by number; None if it is not known.
            drawn: The draw that holds, and each of its amendments.
            scale: The scale, as it was sealed.
            public_value: What was named at sealing, to be put in after the close.
        """
        self._events, self._bodies, self._scale = events, bodies, scale
        sealed = any(event.get("kind") == "sealed" for event in events)
        self._holds = last_sealing(events) if sealed else len(events)
        self._lacks_value = public_value is not None
        self._left = [
            len(assignment.amends.drop) if assignment.amends else 0
            for assignment in drawn
        ]
        self._given = [
            {
                str(reviewer): set(map(str, own))
                for reviewer, own in assignment.bundles().items()
                if own
            }
            for assignment in drawn
        ]
        self._state, self._at, self._seal = "not made", "", ""
        self._draws, self._part, self._decided, self._begun = 0, 0, 0, 0
        self._paused = self._looked = self._valued = False
        self._closed_at = ""
        self._began: set[str] = set()
        self._last: dict[tuple[str, str], tuple[int, float | None]] = {}

    def broken(self, *, published: bool = True) -> str | None:
        """Follow the log to its end; return what is against the rules, and where.

        Args:
            published: Whether it must end with what was published.
        """
        for n, event in enumerate(self._events, start=1):
            for is_broken, sentence in self._event(n, event):
                if is_broken:
                    return f"Event {n}: {sentence}"
        if published and self._events[-1].get("kind") != "published":
            return "The log does not end with what was published."
        return None

    def _event(self, n: int, event: Mapping[str, Json]) -> Rule:
        """Yield whether each rule for an event is broken, and what to say then."""
        raw_kind, at, content = event.get("kind"), str(event.get("at")), says(event)
        kind = raw_kind if isinstance(raw_kind, str) else ""
        yield kind not in MOVES, f"There is no such kind as {canonical(raw_kind)}."
        fault = event_fault(event)
        yield fault is not None, str(fault)
        yield at < self._at, "It is earlier than the event before it."
        self._at = at
        bodies = self._bodies
        lacks = kind in BODIES and bodies is not None and n not in bodies
        yield lacks, "What is private about it is not here."
        yield from self._move(kind)
        if kind in ("created", "unsealed", "sealed"):
            self._part = 0
            if kind != "sealed":
                self._draws += 1
                self._seal = str(content.get("seal"))
            same = (content.get("draw"), content.get("seal")) == (
                self._draws,
                self._seal,
            )
            yield not same, "It has another seal, or another number of the draw."
        elif kind in REPAIRS:
            self._part += 1
            late = n > self._holds and self._part >= len(self._given)
            wrong = content.get("part") != self._part + 1
            yield wrong or late, "Its amendment is not here."
            if n > self._holds:
                miscounted = content["reviewers"] != self._left[self._part]
                yield miscounted, "Its amendment is about another number of reviewers."
        elif kind == "closed":
            self._closed_at = at
            yield from self._check_counts(content) if n > self._holds else ()
        elif kind == "reopened":
            late = minutes_between(self._closed_at, at) > UNDO
            yield late, f"A close can be undone for {UNDO} minutes only."
        elif kind == "decided":
            number = content.get("number")
            later = isinstance(number, int) and number > self._decided
            yield not later, "Decisions must be numbered one after the other."
            self._decided = int(str(number))
        elif bodies is not None and kind in ("begun", "blind link", *RATED):
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
        stands = kind == "unsealed" and self._begun
        yield stands, "Somebody had begun, so the draw stands."
        yield kind == "decided" and not self._looked, "Nobody had looked at scores."
        early = kind == "looked" and self._lacks_value
        yield early, "The public value that was named at sealing had not been put in."
        late = kind == "valued" and (self._looked or not self._lacks_value)
        yield late, "There was no public value to be put in any more."
        stands = kind == "reopened" and (self._looked or self._valued)
        yield stands, "A close cannot be undone once scores or the value were seen."
        self._lacks_value = self._lacks_value and kind != "valued"
        self._valued = self._valued or kind == "valued"
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

    def _check_counts(self, content: Mapping[str, Json]) -> Rule:
        never = len(self._now) - self._begun
        counts = {"begun": self._begun, "never_began": never}
        if self._bodies is not None:
            scores = [score for _, score in self._last.values()]
            counts["ratings"] = sum(score is not None for score in scores)
        for name, count in counts.items():
            says_so = f'It says {canonical(content.get(name))} for "{name}"; '
            yield content.get(name) != count, f"{says_so}the log has {count}."

    def _rater(self, kind: str, body: Mapping[str, Any]) -> Rule:
        reviewer, item, score = (body.get(key) for key in ("reviewer", "item", "score"))
        own = self._now.get(reviewer, set()) if isinstance(reviewer, str) else set()
        yield not own, "The reviewer has no items."
        if kind == "begun":
            yield reviewer in self._began, "The reviewer had begun already."
            self._began.add(str(reviewer))
            return
        yield reviewer not in self._began, "The reviewer had not begun."
        if kind == "blind link":
            return
        is_own = isinstance(item, str) and item in own
        yield not is_own, "The item is not one of the reviewer's."
        if kind == "rated":
            is_number = isinstance(score, int | float) and not isinstance(score, bool)
            text = canonical(score)
            yield not is_number, f"A score must be a number, got {text}."
            fits = on_scale(score or 0, self._scale, len(own))
            yield not fits, f"{text} is not on the scale that was sealed."
        else:
            yield score is not None, "There is a score where nothing was rated."
        pair = (str(reviewer), str(item))
        version = self._last.get(pair, (0, None))[0] + 1
        says_so = "A rating between it and the one before is missing."
        yield body.get("version") != version, says_so
        self._last[pair] = (version, score)

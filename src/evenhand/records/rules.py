"""The rules that the log of an evaluation must keep, from its seal to its end.

A log whose hashes fit can still tell of something that the app never allows: a rating
after the close, a score that is not on the scale. Here each event is held against all
that came before it.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.errors import RecordError
from evenhand.records.canonical import canonical, is_dict, is_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.claims import Json
    from evenhand.designs.assignment import Assignment

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


class BrokenRuleError(RecordError):
    """An event that the rules do not allow."""


def says(event: Mapping[str, Json]) -> Mapping[str, Json]:
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
        self._given = [
            {str(who): set(map(str, own)) for who, own in it.bundles().items() if own}
            for it in drawn
        ]
        self._state, self._at, self._seal = "", "", ""
        self._draws, self._part, self._decided, self._begun = 0, 0, 0, 0
        self._paused = self._looked = False
        self._began: set[str] = set()
        self._last: dict[tuple[str, str], tuple[int, float | None]] = {}

    def follow(self) -> None:
        """Follow the log to its end.

        Raises:
            BrokenRuleError: If an event is against the rules; it names the event.
        """
        holds = since_sealed(self._events)
        for n, event in enumerate(self._events, start=1):
            wrong = self._form(n, event) or self._move(event)
            wrong = wrong or self._own(n, event, holds=n > holds)
            if wrong:
                raise BrokenRuleError(f"Event {n}: {wrong}")
        if self._events[-1].get("kind") != "published":
            raise BrokenRuleError("The log does not end with what was published.")

    def _form(self, n: int, event: Mapping[str, Json]) -> str:
        kind, at = event.get("kind"), event.get("at")
        if not isinstance(kind, str) or kind not in MOVES:
            return f"There is no such kind as {canonical(kind)}."
        if not isinstance(at, str) or not MINUTE.fullmatch(at):
            return "Its time is none."
        if at < self._at:
            return "It is earlier than the event before it."
        self._at = at
        known = self._bodies is None or n in self._bodies
        if ("payload" in event) != (kind in PRIVATE) or (kind in PRIVATE and not known):
            return "It must have private content only if it is about a reviewer."
        return ""

    def _move(self, event: Mapping[str, Json]) -> str:
        kind = str(event["kind"])
        allowed, after = MOVES[kind]
        now = self._state or "not made"
        paused = self._paused and kind in ("begun", *RATED, "paused")
        seen = self._looked and kind in ("looked", "absent")
        why = {
            f'"{kind}" cannot be while the evaluation is {now}.': now not in allowed,
            f'"{kind}" cannot be while the evaluation is paused.': paused,
            f'"{kind}" cannot be once scores were seen.': seen,
            "It was not paused.": kind == "resumed" and not self._paused,
            "Somebody had begun, so the draw stands.": kind == "unsealed"
            and self._begun > 0,
            "Nobody had looked at scores.": kind == "decided" and not self._looked,
        }
        wrong = next((sentence for sentence, holds in why.items() if holds), "")
        if wrong:
            return wrong
        self._paused = kind == "paused" or (self._paused and after is None)
        self._paused = self._paused and kind != "resumed"
        self._looked = self._looked or kind == "looked"
        if kind == "decided" and self._state == "closed":
            after = "decided"
        self._state = after or self._state
        return ""

    def _own(self, n: int, event: Mapping[str, Json], *, holds: bool) -> str:
        kind, told = str(event["kind"]), says(event)
        if kind in ("created", "unsealed", "sealed"):
            return self._sealing(kind, told)
        if kind in REPAIRS:
            self._part += 1
            late = holds and self._part >= len(self._given)
            wrong = told.get("part") != self._part + 1 or late
            return "Its amendment is not here." if wrong else ""
        if kind == "begun":
            self._begun += 1
        if kind == "closed":
            return self._closed(told) if holds else ""
        if kind == "decided":
            number = told.get("number")
            later = isinstance(number, int) and number > self._decided
            self._decided = int(str(number)) if later else 0
            return "" if later else "Decisions must be numbered one after the other."
        if self._bodies is None or kind not in ("begun", *RATED):
            return ""
        return self._rater(kind, self._bodies[n])

    def _sealing(self, kind: str, told: Mapping[str, Json]) -> str:
        if kind != "sealed":
            self._draws += 1
            self._seal = str(told.get("seal"))
        self._part = 0
        same = told.get("draw") == self._draws and told.get("seal") == self._seal
        return "" if same else "It has another seal, or another number of the draw."

    @property
    def _now(self) -> Mapping[str, set[str]]:
        """The items of each reviewer, after the repairs so far."""
        return self._given[min(self._part, len(self._given) - 1)]

    def _closed(self, told: Mapping[str, Json]) -> str:
        never = len(self._now) - self._begun
        counts = {"begun": self._begun, "never_began": never}
        if self._bodies is not None:
            scores = [score for _, score in self._last.values()]
            counts["ratings"] = sum(score is not None for score in scores)
        for name, count in counts.items():
            if told.get(name) != count:
                found = canonical(told.get(name))
                return f'It says {found} for "{name}"; the log has {count}.'
        return ""

    def _rater(self, kind: str, body: Mapping[str, Any]) -> str:
        who, item = body.get("reviewer"), body.get("item")
        own = self._now.get(who) if isinstance(who, str) else None
        if own is None:
            return "The reviewer has no items."
        if kind == "begun":
            if who in self._began:
                return "The reviewer had begun already."
            self._began.add(str(who))
            return ""
        if who not in self._began:
            return "The reviewer had not begun."
        if not isinstance(item, str) or item not in own:
            return "The item is not one of the reviewer's."
        return self._score(kind, (str(who), item), body, len(own))

    def _score(
        self, kind: str, pair: tuple[str, str], body: Mapping[str, Any], size: int
    ) -> str:
        score, before = body.get("score"), self._last.get(pair, (0, None))[0]
        if kind == "rated":
            if isinstance(score, bool) or not isinstance(score, int | float):
                return f"A score must be a number, got {canonical(score)}."
            if not on_scale(score, self._scale, size):
                return f"{canonical(score)} is not on the scale that was sealed."
        elif score is not None:
            return "There is a score where nothing was rated."
        if body.get("version") != before + 1:
            return "A rating between it and the one before is missing."
        self._last[pair] = (before + 1, None if score is None else float(score))
        return ""


def decision_options(
    lists: Mapping[str, Json], result: Mapping[str, Json]
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the options of a decision as they were sealed, and as they were.

    Args:
        lists: What was fixed at sealing.
        result: The result of the decision's record.

    Raises:
        RecordError: If the result does not say how it was made.
    """
    used, data = result["parameters"], result["data"]
    if not is_dict(used) or not is_dict(data):
        raise RecordError("The decision has no parameters.")
    job = "compare" if result["schema"] == "evenhand.compare/1" else "rank"
    expected: dict[str, Json] = {
        "job": lists["job"],
        "design": lists["design"],
        "method": lists["method"],
    }
    found: dict[str, Json] = {
        "job": job,
        "design": used.get("design"),
        "method": result["method"],
    }
    if job == "rank":
        many, top = data["items"], lists["top"]
        if isinstance(many, int) and isinstance(top, int):
            top = min(top, many)
        expected |= {"top": top, "distinct": lists["distinct"]}
        found |= {"top": used.get("top"), "distinct": used.get("distinct")}
    return expected, found


def labels(value: Json) -> list[str]:
    """Return a list of labels as texts; none if it is no list."""
    return [str(it) for it in value] if is_list(value) else []

"""What each kind of event holds: a fixed set of fields, each of one form.

Nothing else fits into a log. Whoever writes one cannot hide a message in it, nor try
fields until the hashes please; whoever audits one holds it against the same table.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evenhand.records.canonical import brief, is_dict, is_list

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.claims import Json

    Form = Callable[[Json], bool]
    Forms = Mapping[str, Form]

MINUTES = "%Y-%m-%dT%H:%MZ"
LONGEST_VALUE = 128


def minute(at: datetime) -> str:
    """Write a time as public lines have it: seconds would tell who rated when.

    Examples:
        >>> from datetime import UTC, datetime
        >>> minute(datetime(2026, 11, 16, 12, 4, 59, tzinfo=UTC))
        '2026-11-16T12:04Z'
    """
    return at.strftime(MINUTES)


def minutes_between(first: str, last: str) -> float:
    """Return how many minutes lie between two times of public lines.

    Examples:
        >>> minutes_between("2026-11-16T12:04Z", "2026-11-16T12:14Z")
        10.0
    """
    start, end = (datetime.strptime(at, MINUTES) for at in (first, last))
    return (end - start).total_seconds() / 60


def _text_form(pattern: str) -> Form:
    """Return whether a value is a text of this pattern."""
    form = re.compile(pattern)
    return lambda value: isinstance(value, str) and bool(form.fullmatch(value))


def _is_minute(value: Json) -> bool:
    """Say whether a value is a time as `minute` writes it."""
    try:
        return minute(datetime.strptime(str(value), MINUTES)) == value
    except ValueError:
        return False


def _is_deadline(value: Json) -> bool:
    """Say whether a value is a time as the tables keep it, or None."""
    try:
        at = datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError):
        return value is None
    return at.isoformat(timespec="microseconds") == value


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_texts(value: Json) -> bool:
    return is_list(value) and all(map(_is_text, value))


def _is_anything(_: Json) -> bool:
    return True


def _are_hashes(value: Json) -> bool:
    return is_dict(value) and all(map(_is_hash, value.values()))


def _is_nonce(value: Json) -> bool:
    return value is None or is_nonce(value)


_is_hash = _text_form("[0-9a-f]{64}")
is_nonce = _text_form("[0-9a-f]{32}")
is_public_value = _text_form(rf"[0-9a-z.]{{1,{LONGEST_VALUE}}}")
_DRAW: Forms = {"draw": _is_count, "seal": _is_hash}
_REPAIR: Forms = {"part": _is_count, "reviewers": _is_count, "record_sha256": _is_hash}
_RATED: Forms = {"nonce": _is_nonce}
_PEOPLE: Forms = {"reviewers": _is_texts}
_RATING: Forms = {
    "reviewer": _is_text,
    "item": _is_text,
    "version": _is_count,
    "score": _is_anything,  # the rules know the scale
}
SAYS: Mapping[str, Forms] = {
    "created": _DRAW,
    "sealed": {**_DRAW, "lists_sha256": _is_hash, "record_sha256": _is_hash},
    "unsealed": _DRAW,
    "opened": {},
    "paused": {},
    "resumed": {},
    "extended": {"closes_at": _is_deadline},
    "new link": {},
    "blind link": {},
    **dict.fromkeys(("absent", "reserve"), _REPAIR),
    "substitute": {**_REPAIR, "people": _are_hashes},
    "begun": {},
    **dict.fromkeys(("rated", "recused", "cleared"), _RATED),
    "closed": dict.fromkeys(("ratings", "begun", "never_began"), _is_count),
    "reopened": {},
    "valued": {"value": is_public_value},
    "looked": {},
    "decided": {
        **dict.fromkeys(("number", "seed"), _is_count),
        "method": _is_text,
        **dict.fromkeys(("record_sha256", "ratings_sha256"), _is_hash),
    },
    "published": {"files": _are_hashes},
    "withdrawn": {},
    "purged": {"ratings": _is_count},
}
"""What everybody may read about each kind of event."""
BODIES: Mapping[str, Forms] = {
    **dict.fromkeys(("absent", "reserve", "substitute"), _PEOPLE),
    "begun": {"reviewer": _is_text},
    "blind link": {"reviewer": _is_text},
    **dict.fromkeys(("rated", "recused", "cleared"), _RATING),
}
"""What is private about an event, for those that have something private."""
_LINE: Forms = {
    **dict.fromkeys(("schema", "kind"), _is_text),
    "n": _is_count,
    "prev": _is_hash,
    "at": _is_minute,
}
_PAYLOAD: Forms = {"n": _is_count, "salt": _is_hash, "body": is_dict}


def event_fault(event: Mapping[str, Json]) -> str | None:
    """Say which field of an event does not belong there, lacks, or is of another form.

    Examples:
        >>> event_fault({"kind": "opened", "at": "2026-11-16T12:04Z", "winner": "t1"})
        'It must not have "winner".'
    """
    kind = str(event["kind"])
    if kind not in SAYS:
        return "There is no such kind of event."
    forms: dict[str, Form] = dict(_LINE)
    if SAYS[kind]:
        forms["says"] = is_dict
    if kind in BODIES:
        forms["payload"] = _is_hash
    return _fault(event, forms) or _fault(event.get("says", {}), SAYS[kind], "says.")


def payload_fault(row: Json, kind: str) -> str | None:
    """Say the same of a row of payloads, which belongs to an event of a kind."""
    if not is_dict(row):
        return f"What is private about it cannot be {brief(row)}."
    return _fault(row, _PAYLOAD) or _fault(row["body"], BODIES[kind], "body.")


def _fault(content: Json, forms: Forms, place: str = "") -> str | None:
    fields: Mapping[str, Json] = content if is_dict(content) else {}
    for name in fields:
        if name not in forms:
            return f"It must not have {brief(place + name)}."
    for name, fits in forms.items():
        if name not in fields:
            return f"It lacks {brief(place + name)}."
        if not fits(fields[name]):
            return f"{brief(place + name)} cannot be {brief(fields[name])}."
    return None

"""The pages of a reviewer, behind a private link: before, my items, done."""

from __future__ import annotations

import math
import re
import secrets
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse

from evenhand.records.events import is_nonce
from evenhand.records.people import RECEIPT, salt_of
from evenhand.web import actions, guard, reads
from evenhand.web import tables as t
from evenhand.web.accept import CREATED, NOTE, OK, Answer, Entry, Sending
from evenhand.web.site import (
    check_origin,
    message,
    page,
    read_form,
    read_json,
    site_of,
    state_of,
    wants_json,
)
from evenhand.web.writer import RefusedError, scale_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

KEY = re.compile(r"[0-9a-f]{32}")
LONGEST_NOTE = 2000
GIVEN_UP = ("absent", "replaced")


def _asked(request: Request) -> tuple[str, Any, Any]:
    """Return the hash of the link, its reviewer, and the evaluation.

    Raises:
        HTTPException: If there is no such link, or it was withdrawn.
    """
    digest = guard.digest(request.path_params["token"])
    with site_of(request).store.read() as connection:
        person = reads.rater(connection, digest)
        row = None if person is None else reads.evaluation(connection, person.slug)
    if person is None or row is None:
        raise HTTPException(404, "There is no such link. Check that it is complete.")
    if person.revoked_at is not None:
        raise HTTPException(401, "This link was withdrawn. Ask for a new one.")
    return digest, person, row


def _here(request: Request) -> str:
    return f"/r/{request.path_params['token']}"


async def show(request: Request) -> Response:
    """Show what the reviewer can do now; this changes nothing."""
    _, person, row = _asked(request)
    return _page(request, person, row)


def _page(
    request: Request,
    person: Any,  # noqa: ANN401 - a row
    row: Any,  # noqa: ANN401 - a row
    status: int = 200,
    **more: object,
) -> Response:
    state = state_of(request, row)
    if person.state in GIVEN_UP:
        text = "You do not take part. If that is wrong, tell the organiser."
        return message(request, row.title, text, status)
    if person.state == "invited":
        return _before(request, person, row, state, status, **more)
    site = site_of(request)
    scale = scale_of(row)
    with site.store.read() as connection:
        tasks = reads.tasks(connection, row.id, person.id)
        history = reads.history(connection, row.id, person.id)
        lists = reads.lists(connection, row.id)
    receipts = {it.place: it for it in history}
    if scale.kind == "order":
        tasks = sorted(tasks, key=lambda it: (-(it.score or 0), it.place))
    ties = _ties(tasks) if lists["distinct"] and scale.kind == "number" else None
    context = {
        "row": row,
        "state": state,
        "person": person,
        "salt": _salt(request, person),
        "lists": lists,
        "scale": scale,
        "tasks": tasks,
        "receipts": receipts,
        "nonce_of": reads.nonce_of,
        "ties": None if person.ties_kept else ties,
        "left": sum(it.state == "empty" for it in tasks),
        "here": _here(request),
        "key": lambda: secrets.token_hex(16),
        "ends": t.moment(row.closes_at),
        "open": state == "open" and not row.paused,
        "error": None,
        "error_place": None,
        "typed": None,
        "typed_note": "",
    }
    return page(request, "items", status, **{**context, **more})


def _salt(request: Request, person: Any) -> str | None:  # noqa: ANN401 - a row
    """Return what shows a reviewer that their code is the one that was sealed."""
    with site_of(request).store.read() as connection:
        key = reads.key(connection, person.evaluation_id)
    return None if key is None else salt_of(key, person.name)


def _before(
    request: Request,
    person: Any,  # noqa: ANN401 - a row
    row: Any,  # noqa: ANN401 - a row
    state: str,
    status: int,
    **more: object,
) -> Response:
    with site_of(request).store.read() as connection:
        count = len(reads.tasks(connection, row.id, person.id))
        lists = reads.lists(connection, row.id)
        seal = reads.last_draw(connection, row.id).seal
    context = {
        "row": row,
        "state": state,
        "person": person,
        "lists": lists,
        "count": count,
        "seal": seal,
        "here": _here(request),
        "ends": t.moment(row.closes_at),
        "error": None,
    }
    return page(request, "before", status, **{**context, **more})


def _ties(tasks: Sequence[Any]) -> tuple[Any, Any] | None:
    """Return two items with equal scores, if all are rated."""
    if any(it.state == "empty" for it in tasks):
        return None
    by_score: dict[float, Any] = {}
    for it in tasks:
        if it.state == "rated":
            other = by_score.setdefault(it.score, it)
            if other is not it:
                return other, it
    return None


def _changing(change: Callable[..., None]) -> Callable[[Request], Any]:
    """Make a handler of a change that only needs the link."""

    async def handler(request: Request) -> Response:
        check_origin(request)
        digest, person, row = _asked(request)
        _limit(request, digest)
        await read_form(request)
        try:
            await site_of(request).writer.change(
                lambda connection, now: change(connection, now, digest)
            )
        except RefusedError as error:
            return _page(request, person, row, error.status, error=str(error))
        return RedirectResponse(_here(request), 303)

    return handler


begin = _changing(actions.begin)
decline = _changing(actions.decline)
done = _changing(actions.finish)
equal = _changing(actions.keep_ties)


def _limit(request: Request, digest: str) -> None:
    site = site_of(request)
    wait = site.saves.wait(digest) if site.limited else 0.0
    if wait:
        raise HTTPException(
            429, "Too fast. Wait a moment.", {"retry-after": str(math.ceil(wait))}
        )


async def rate(request: Request) -> Response:
    """Take a rating of one item."""
    check_origin(request)
    digest = guard.digest(request.path_params["token"])
    _limit(request, digest)
    place = request.path_params["place"]
    given, key = await _sent(request)
    try:
        entries = (_entry(given, place),)
        sending = Sending(digest, _checked(key), entries, _nonce(given))
    except RefusedError as error:
        return _rated(request, given, _wrong(str(error), place))
    return _rated(request, given, await site_of(request).writer.rate(sending))


async def _sent(request: Request) -> tuple[dict[str, Any], str]:
    """Read what our script or a form sent, and its key."""
    if request.headers.get("content-type", "").startswith("application/json"):
        return await read_json(request), request.headers.get("idempotency-key", "")
    given: dict[str, Any] = dict(await read_form(request))
    return given, given.get("key", "")


def _checked(key: str) -> str:
    if not KEY.fullmatch(key):
        raise RefusedError("The key must be 32 hexadecimal digits.", 422)
    return key


def _nonce(given: Mapping[str, Any]) -> str | None:
    """Return what the device drew; a form without our script has nothing there."""
    nonce = given.get("nonce") or None
    if nonce is not None and not is_nonce(nonce):
        raise RefusedError("The nonce must be 32 hexadecimal digits.", 422)
    return nonce


def _wrong(text: str, place: int | None = None) -> Answer:
    return Answer(422, {"code": "not_known", "message": text, "place": place})


def _entry(given: dict[str, Any], place: int) -> Entry:
    kind = str(given.get("kind") or "score")
    note = given.get("note")
    if isinstance(note, str):
        # A form has two characters for the end of a line, our script one.
        note = note.replace("\r\n", "\n")
    if note is not None and (not isinstance(note, str) or len(note) > LONGEST_NOTE):
        raise RefusedError(f"A note may have at most {LONGEST_NOTE} characters.", 422)
    if kind == "score" and note and given.get("score") in (None, ""):
        # Who writes a note and no score wants the note to be kept.
        kind = NOTE
    score = _number(given.get("score")) if kind == "score" else None
    base = given.get("base")
    if isinstance(base, str) and base.isascii() and base.isdigit() and len(base) < 10:  # noqa: PLR2004 - no such version
        base = int(base)
    if isinstance(base, bool) or not isinstance(base, int) or not 0 <= base < 2**31:
        raise RefusedError("The version must be a number.", 422)
    return Entry(place, base, kind, score, note)


def _number(value: object) -> float:
    if isinstance(value, str):
        value = value.strip().replace(",", ".")
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError  # noqa: TRY301 - one way out
        found = float(value)
    except (ValueError, OverflowError):
        raise RefusedError("Give a number.", 422) from None
    if not math.isfinite(found):
        raise RefusedError("Give a number.", 422)
    return found


def _rated(request: Request, given: dict[str, Any], found: Answer) -> Response:
    """Answer a rating: to our script in JSON, to a form by the page."""
    place = request.path_params.get("place")
    if wants_json(request):
        return JSONResponse(found.body, found.status)
    if found.status in (OK, CREATED):
        return RedirectResponse(f"{_here(request)}#item-{place or 1}", 303)
    _, person, row = _asked(request)
    told = {
        "error": found.body["message"],
        "error_place": place,
        "typed": str(given.get("score") or ""),
        "typed_note": str(given.get("note") or ""),
    }
    return _page(request, person, row, found.status, **told)


async def order(request: Request) -> Response:
    """Take an order of all items of a reviewer, the best first."""
    check_origin(request)
    digest, person, row = _asked(request)
    _limit(request, digest)
    with site_of(request).store.read() as connection:
        tasks = reads.tasks(connection, row.id, person.id)
    if scale_of(row).kind != "order":
        raise HTTPException(404, "These items are not put into an order.")
    given, key = await _sent(request)
    places = given.get("order")
    if isinstance(places, str):
        places = _moved(places, str(given.get("move", "")))
    known = sorted(it.place for it in tasks)
    if (
        not isinstance(places, list)
        or not all(type(it) is int for it in places)
        or sorted(places) != known
    ):
        return _rated(request, given, _wrong("The order must hold all your items."))
    try:
        entries = tuple(
            _entry(
                {"base": given.get(f"base_{place}"), "score": len(known) - at}, place
            )
            for at, place in enumerate(places)
        )
        sending = Sending(digest, _checked(key), entries, _nonce(given))
    except RefusedError as error:
        return _rated(request, given, _wrong(str(error)))
    return _rated(request, given, await site_of(request).writer.rate(sending))


def _moved(text: str, move: str) -> list[int] | None:
    """Read an order, and move one item of it up or down."""
    parts = text.split(",")
    if not all(it.isascii() and it.isdigit() and len(it) < 10 for it in parts):  # noqa: PLR2004 - no such place
        return None
    places = [int(it) for it in parts]
    place, _, way = move.partition(":")
    if place.isascii() and place.isdigit() and len(place) < 10 and int(place) in places:  # noqa: PLR2004 - ditto
        at = places.index(int(place))
        to = at - 1 if way == "up" else at + 1
        if 0 <= to < len(places):
            places[at], places[to] = places[to], places[at]
    return places


async def tie(request: Request) -> Response:
    """Put one of two equal items a step above the other."""
    check_origin(request)
    digest, person, row = _asked(request)
    _limit(request, digest)
    given = await read_form(request)
    scale = scale_of(row)
    with site_of(request).store.read() as connection:
        tasks = reads.tasks(connection, row.id, person.id)
    pair = _ties(tasks) if scale.kind == "number" else None
    chosen = [it for it in pair or () if str(it.place) == given.get("better")]
    if pair is None or not chosen:
        return RedirectResponse(_here(request), 303)
    better = chosen[0]
    other = pair[0] if better is pair[1] else pair[1]
    up = better.score + scale.step <= scale.high
    task, score = (better, better.score + scale.step) if up else (other, 0.0)
    if not up:
        score = other.score - scale.step
    score = round(score, 9)
    entry = Entry(task.place, task.version, "score", score)
    try:
        sending = Sending(digest, secrets.token_hex(16), (entry,), _nonce(given))
    except RefusedError as error:
        return _rated(request, given, _wrong(str(error)))
    found = await site_of(request).writer.rate(sending)
    return _rated(request, given, found)


async def own(request: Request) -> Response:
    """Hand out all that is kept of a reviewer."""
    _, person, row = _asked(request)
    if person.state not in ("begun", "done"):
        raise HTTPException(409, "Press Begin first.")
    scale = scale_of(row)
    with site_of(request).store.read() as connection:
        history = reads.history(connection, row.id, person.id)
        named = reads.named(connection, row.id)
    sent = [
        {
            "item": it.label,
            "version": it.version,
            "kind": it.kind,
            "score": it.score,
            "shown": scale.shown(it.score),
            "note": it.note,
            "at": it.at,
            "n": it.n,
            "receipt": it.receipt,
            "nonce": reads.nonce_of(it),
        }
        for it in history
    ]
    return JSONResponse(
        {
            "schema": RECEIPT,
            "evaluation": row.title,
            "code": person.label,
            "name": person.name,
            "salt": _salt(request, person),
            "conflicts": next(own for code, _, own in named if code == person.label),
            "sent": sent,
        },
        headers={"content-disposition": 'attachment; filename="my-ratings.json"'},
    )

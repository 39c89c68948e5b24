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
from evenhand.web.accept import CREATED, NOTE, OK, Entry, ReviewAnswer, Sending
from evenhand.web.site import (
    check_origin,
    page,
    read_form,
    read_json,
    site_of,
    state_of,
    wants_json,
)
from evenhand.web.store import link_token, recovery_code
from evenhand.web.writer import RefusedError, UnsavedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import sqlalchemy as sa
    from starlette.requests import Request
    from starlette.responses import Response

    from evenhand.web.reads import Evaluation, LinkedReviewer, TaskRow

KEY = re.compile(r"[0-9a-f]{32}")
LONGEST_NOTE = 2000
GIVEN_UP = ("absent", "replaced")
PLACE = "place"
"""The cookie of a device at a door: the link of who took a place on it."""


def _link_holder(request: Request) -> tuple[str, LinkedReviewer, Evaluation]:
    """Return the hash of the link, its reviewer, and the evaluation.

    Raises:
        HTTPException: If there is no such link, or it was withdrawn.
    """
    digest = guard.digest(request.path_params["token"])
    with site_of(request).store.read() as connection:
        person = reads.rater(connection, digest)
        if person is None:
            raise HTTPException(404, "There is no such link. Check that it is whole.")
        if person.revoked_at is not None:
            raise HTTPException(401, "This link was withdrawn. Ask for a new one.")
        return digest, person, reads.by_id(connection, person.evaluation_id)


def _here(request: Request) -> str:
    return f"/r/{request.path_params['token']}"


async def show(request: Request) -> Response:
    """Show what the reviewer can do now; this changes nothing."""
    _, person, row = _link_holder(request)
    return _page(request, person, row)


def _page(
    request: Request,
    person: LinkedReviewer,
    row: Evaluation,
    status: int = 200,
    **more: object,
) -> Response:
    """Show the page before Begin, or the items."""
    state, scale = state_of(request, row), row.rating_scale
    if person.state in GIVEN_UP:
        can_return = person.state == "absent" and state == "open" and not row.paused
        context = {"row": row, "can_return": can_return, "here": _here(request)}
        return page(request, "left", status, **context, **{"error": None, **more})
    with site_of(request).store.read() as connection:
        tasks = _tasks(connection, person)
        history = reads.history(connection, row.id, person.id)
        lists = reads.lists(connection, row.id)
        seal = reads.draws(connection, row.id)[-1].seal
    if scale.kind == "order":
        tasks = sorted(tasks, key=lambda task: (-(task.score or 0), task.place))
    asks = lists["distinct"] and scale.kind == "number" and not person.ties_kept
    context = {
        "row": row,
        "state": state,
        "person": person,
        "salt": _salt(request, person),
        "lists": lists,
        "seal": seal,
        "scale": scale,
        "tasks": tasks,
        "receipts": {entry.place: entry for entry in history},
        "ties": _ties(tasks) if asks else None,
        "left": sum(task.state == "empty" for task in tasks),
        "here": _here(request),
        "code": _code(request, person, row),
        "key": lambda: secrets.token_hex(16),
        "ends": t.moment(row.closes_at),
        "open": state == "open" and not row.paused,
        "error": None,
        "error_place": None,
        "typed": None,
        "typed_note": "",
    }
    name = "before" if person.state == "invited" else "items"
    return page(request, name, status, **{**context, **more})


def _tasks(connection: sa.Connection, person: LinkedReviewer) -> list[TaskRow]:
    """Return the items of a reviewer, as far as their link shows ratings."""
    rows = reads.tasks(connection, person.evaluation_id, person.id)
    return [row.shown_to(person.blind_n) for row in rows]


def _code(request: Request, person: LinkedReviewer, row: Evaluation) -> str:
    """Return the code by which a reviewer finds their page again."""
    key = site_of(request).store.key
    code = recovery_code(key, row.slug, person.id, person.serial, row.draw)
    return "-".join(code[at : at + 4] for at in range(0, len(code), 4))


async def recover(request: Request) -> Response:
    """Lead from a recovery code to the link that it stands for."""
    check_origin(request)
    form, site = await read_form(request), site_of(request)
    with site.store.read() as connection:
        person = reads.rater(connection, guard.code_digest(form.get("code", "")))
        if person is None or person.revoked_at is not None:
            text = "There is no such code. Check it, or ask the organiser."
            return page(request, "home", 404, error=text)
        row = reads.by_id(connection, person.evaluation_id)
    serial, key = -person.serial, site.store.key
    token = guard.base32(link_token(key, row.slug, person.id, serial, row.draw))
    return RedirectResponse(f"/r/{token}", 303)


def _door(request: Request) -> tuple[str, Evaluation]:
    """Return the hash of a door's token, and its evaluation.

    Raises:
        HTTPException: If it is closed or none.
    """
    digest = guard.digest(request.path_params["token"])
    with site_of(request).store.read() as connection:
        row = reads.by_door(connection, digest) if digest else None
    if row is None:
        raise HTTPException(404, "This door is closed. Ask the organiser.")
    return digest, row


async def door(request: Request) -> Response:
    """Ask whoever comes for their name; who was here on this device goes on."""
    _, row = _door(request)
    return _way_back(request, row) or _door_page(request, row)


def _way_back(request: Request, row: Evaluation) -> Response | None:
    """Lead to the place that somebody took on this device, if it is still theirs."""
    token = request.cookies.get(PLACE, "")
    with site_of(request).store.read() as connection:
        person = reads.rater(connection, guard.digest(token))
    if person is None or person.revoked_at or person.evaluation_id != row.id:
        return None
    return RedirectResponse(f"/r/{token}", 303)


def _door_page(request: Request, row: Evaluation, **more: Any) -> Response:  # noqa: ANN401 - of the page
    context = {"error": "", "here": f"/d/{request.path_params['token']}", **more}
    is_open = state_of(request, row) == "open" and not row.paused
    return page(request, "enter", row=row, open=is_open, **context)


async def take_place(request: Request) -> Response:
    """Give somebody who came the next place, and a cookie that finds it again."""
    check_origin(request)
    digest, row = _door(request)
    if back := _way_back(request, row):
        return back
    _limit(request, f"{digest}{request.client and request.client.host}")
    form, site = await read_form(request), site_of(request)
    name, contact = form.get("name", ""), form.get("contact", "")
    try:
        number = await site.writer.change(
            lambda c, now: actions.take_place(c, now, digest, name, contact)
        )
    except RefusedError as error:
        return _door_page(request, row, status=error.status, error=str(error))
    with site.store.read() as connection:
        links = {person.id: person for person in reads.links(connection, row.id)}
    serial, key = links[number].serial, site.store.key
    token = guard.base32(link_token(key, row.slug, number, serial, row.draw))
    answer = RedirectResponse(f"/r/{token}", 303)
    age = int(actions.SESSION.total_seconds())
    answer.set_cookie(
        PLACE,
        token,
        max_age=age,
        path=f"/d/{request.path_params['token']}",
        httponly=True,
        samesite="lax",
        secure=site.secure,
    )
    return answer


def _salt(request: Request, person: LinkedReviewer) -> str | None:
    """Return what shows a reviewer that their code is the one that was sealed."""
    with site_of(request).store.read() as connection:
        key = reads.key(connection, person.evaluation_id)
    return salt_of(key, person.name) if key else None


def _ties(tasks: Sequence[TaskRow]) -> tuple[TaskRow, TaskRow] | None:
    """Return two items with equal scores, if all are rated."""
    if any(task.state == "empty" for task in tasks):
        return None
    by_score: dict[float | None, TaskRow] = {}
    for task in tasks:
        if task.state == "rated":
            earlier = by_score.setdefault(task.score, task)
            if earlier is not task:
                return earlier, task
    return None


def _changing(change: Callable[..., None]) -> Callable[[Request], Any]:
    """Make a handler of a change that only needs the link."""

    async def handler(request: Request) -> Response:
        check_origin(request)
        digest, person, row = _link_holder(request)
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
take_part = _changing(actions.take_part)
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
    fields, key = await _read_sending(request)
    return await _send(request, digest, key, fields, {place: fields})


async def _send(
    request: Request,
    digest: str,
    key: str,
    fields: dict[str, Any],
    entries: Mapping[int, dict[str, Any]],
) -> Response:
    """Hand over what is parsed of each place, and answer."""
    place = request.path_params.get("place")
    try:
        parsed = tuple(_entry(entry, place) for place, entry in entries.items())
        sending = Sending(digest, _require_key(key), parsed, _nonce(fields))
        answer = await site_of(request).writer.rate(sending)
    except UnsavedError:
        raise
    except RefusedError as error:
        answer = _wrong(str(error), place)
    return _answer_rating(request, fields, answer)


async def _read_sending(request: Request) -> tuple[dict[str, Any], str]:
    """Read what our script or a form sent, and its key."""
    if request.headers.get("content-type", "").startswith("application/json"):
        return await read_json(request), request.headers.get("idempotency-key", "")
    fields: dict[str, Any] = dict(await read_form(request))
    return fields, fields.get("key", "")


def _require_key(key: str) -> str:
    if not KEY.fullmatch(key):
        raise RefusedError("The key must be 32 hexadecimal digits.", 422)
    return key


def _nonce(fields: Mapping[str, Any]) -> str | None:
    """Return what the device drew; a form without our script has nothing there."""
    nonce = fields.get("nonce") or None
    if nonce is not None and not is_nonce(nonce):
        raise RefusedError("The nonce must be 32 hexadecimal digits.", 422)
    return nonce


def _wrong(text: str, place: int | None = None) -> ReviewAnswer:
    return ReviewAnswer(422, {"code": "not_known", "message": text, "place": place})


def _entry(fields: dict[str, Any], place: int) -> Entry:
    kind = str(fields.get("kind") or "score")
    note = fields.get("note")
    if isinstance(note, str):
        # A form has two characters for the end of a line, our script one.
        note = note.replace("\r\n", "\n")
    if note is not None and (not isinstance(note, str) or len(note) > LONGEST_NOTE):
        raise RefusedError(f"A note may have at most {LONGEST_NOTE} characters.", 422)
    if kind == "score" and note and fields.get("score") in (None, ""):
        # Who writes a note and no score wants the note to be kept.
        kind = NOTE
    score = _number(fields.get("score")) if kind == "score" else None
    base = fields.get("base")
    if isinstance(base, str) and base.isascii() and base.isdigit() and len(base) < 10:
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
        number = float(value)
    except (ValueError, OverflowError):
        raise RefusedError("Give a number.", 422) from None
    if not math.isfinite(number):
        raise RefusedError("Give a number.", 422)
    return number


def _answer_rating(
    request: Request, fields: dict[str, Any], answer: ReviewAnswer
) -> Response:
    """Answer a rating: to our script in JSON, to a form by the page."""
    place = request.path_params.get("place")
    if wants_json(request):
        return JSONResponse(answer.body, answer.status)
    if answer.status in (OK, CREATED):
        return RedirectResponse(f"{_here(request)}#item-{place or 1}", 303)
    _, person, row = _link_holder(request)
    context = {
        "error": answer.body["message"],
        "error_place": place,
        "typed": str(fields.get("score") or ""),
        "typed_note": str(fields.get("note") or ""),
    }
    return _page(request, person, row, answer.status, **context)


async def order(request: Request) -> Response:
    """Take an order of all items of a reviewer, the best first."""
    check_origin(request)
    digest, person, row = _link_holder(request)
    _limit(request, digest)
    with site_of(request).store.read() as connection:
        tasks = reads.tasks(connection, row.id, person.id)
    if row.rating_scale.kind != "order":
        raise HTTPException(404, "These items are not put into an order.")
    fields, key = await _read_sending(request)
    places = fields.get("order")
    if isinstance(places, str):
        places = _move_item(places, str(fields.get("move", "")))
    assigned = sorted(task.place for task in tasks)
    if (
        not isinstance(places, list)
        or not all(type(place) is int for place in places)
        or sorted(places) != assigned
    ):
        return _answer_rating(
            request, fields, _wrong("The order must hold all your items.")
        )
    entries = {
        place: {"base": fields.get(f"base_{place}"), "score": len(assigned) - at}
        for at, place in enumerate(places)
    }
    return await _send(request, digest, key, fields, entries)


def _move_item(text: str, move: str) -> list[int] | None:
    """Read an order, and move one item of it up or down."""
    parts = text.split(",")
    if not all(
        digits.isascii() and digits.isdigit() and len(digits) < 10 for digits in parts
    ):
        return None
    places = [int(digits) for digits in parts]
    place, _, way = move.partition(":")
    if place.isascii() and place.isdigit() and len(place) < 10 and int(place) in places:
        at = places.index(int(place))
        to = at - 1 if way == "up" else at + 1
        if 0 <= to < len(places):
            places[at], places[to] = places[to], places[at]
    return places


async def tie(request: Request) -> Response:
    """Put one of two equal items a step above the other."""
    check_origin(request)
    digest, person, row = _link_holder(request)
    _limit(request, digest)
    fields: dict[str, Any] = dict(await read_form(request))
    scale = row.rating_scale
    with site_of(request).store.read() as connection:
        tasks = _tasks(connection, person)
    pair = _ties(tasks) if scale.kind == "number" else None
    chosen = [tied for tied in pair or () if str(tied.place) == fields.get("better")]
    if pair is None or not chosen:
        return RedirectResponse(_here(request), 303)
    better, worse = pair if chosen[0] is pair[0] else pair[::-1]
    tied = better.score or 0.0
    up = tied + scale.step <= scale.high
    task = better if up else worse
    score = round(tied + scale.step if up else tied - scale.step, 9)
    entries = {task.place: {"base": task.version, "score": score}}
    return await _send(request, digest, secrets.token_hex(16), fields, entries)


async def own(request: Request) -> Response:
    """Hand out all that is kept of a reviewer."""
    _, person, row = _link_holder(request)
    if person.state not in ("begun", "done"):
        raise HTTPException(409, "Press Begin first.")
    scale = row.rating_scale
    with site_of(request).store.read() as connection:
        history = reads.history(connection, row.id, person.id)
        named = reads.names_and_conflicts(connection, row.id)
    sent = [
        {
            "item": entry.label,
            "version": entry.version,
            "kind": entry.kind,
            "score": entry.score,
            "shown": scale.label_of(entry.score),
            "note": entry.note,
            "at": entry.at,
            "n": entry.n,
            "receipt": entry.receipt,
            "nonce": entry.nonce,
        }
        # An audit holds all that is here against the log.
        for entry in history
        if entry.n > person.blind_n
    ]
    is_open = state_of(request, row) == "open"
    return JSONResponse(
        {
            "schema": RECEIPT,
            "evaluation": row.title,
            "code": person.label,
            "name": person.name,
            "salt": _salt(request, person),
            "conflicts": next(own for code, _, own in named if code == person.label),
            "recovery": _code(request, person, row) if is_open else None,
            "sent": sent,
        },
        headers={"content-disposition": 'attachment; filename="my-ratings.json"'},
    )

"""The pages of organisers: new, links, progress, repairs, close, decide, publish."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from typing import TYPE_CHECKING, Any

import segno
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.responses import Response as PlainResponse

from evenhand.designs.drawing import seal_of
from evenhand.errors import EvenhandError
from evenhand.formats.lists import csv_line, safe_cell
from evenhand.ranking.selection import SCHEMA as SELECTION
from evenhand.records.bundle import collect, ratings_csv
from evenhand.records.log import nonces_in, public_value_in, seed_from
from evenhand.records.people import names_record
from evenhand.records.record import text_of
from evenhand.web import absence, actions, clock, guard, reads
from evenhand.web import tables as t
from evenhand.web.jobs import compute
from evenhand.web.lists import lines_from_file
from evenhand.web.plan import DEFAULTS, METHODS, narrow_choice, read_plan
from evenhand.web.preview import Preview, preview
from evenhand.web.publishing import files_of, with_log
from evenhand.web.site import (
    check_form,
    check_origin,
    message,
    organiser,
    own_evaluation,
    page,
    read_form,
    read_upload,
    session_of,
    site_of,
    state_of,
)
from evenhand.web.states import COLLECTED, refusal, undo_until
from evenhand.web.store import link_token
from evenhand.web.writer import FAILURES, RefusedError, UnsavedError
from evenhand.words.lines import from_json, headline
from evenhand.words.selections import selection_headline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    import sqlalchemy as sa
    from starlette.requests import Request
    from starlette.responses import Response

    from evenhand.web.plan import EvaluationPlan
    from evenhand.web.reads import Evaluation, LinkedReviewer, Progress
    from evenhand.web.site import Site

SIMPLE = {
    "open": actions.open_now,
    "unseal": actions.unseal,
    "close": actions.close,
    "reopen": actions.reopen,
    "look": actions.look,
    "withdraw": actions.withdraw,
}
ACTIONS = (*SIMPLE, "extend", "pause", "resume", "value")
JOBS = ("check", "decision")
DOORS = ("open", "close")
REPAIRS = (*absence.REPAIRS, "link", "blind")
LISTED = ("items", "reviewers", "reserves", "conflicts")
LOG = logging.getLogger("evenhand.web")
CSV = "text/csv; charset=utf-8"
BACK_IN = 5


def _own(request: Request) -> dict[str, Any]:
    """Return what every page of an organiser needs."""
    session, organiser_id = organiser(request)
    return {"csrf": guard.csrf(session), "signed_in": organiser_id}


def _choice(request: Request, name: str, choices: tuple[str, ...]) -> str:
    """Return a part of the address.

    Raises:
        HTTPException: If there is no such page.
    """
    choice: str = request.path_params[name]
    if choice not in choices:
        raise HTTPException(404, "There is no such page.")
    return choice


async def home(request: Request) -> Response:
    """Show the evaluations of whoever signed in, or the form of their first one."""
    if session_of(request) is None:
        return page(request, "home", error="")
    context = _own(request)
    with site_of(request).store.read() as connection:
        rows = reads.evaluations(connection, context["signed_in"])
        done = {row.id: _count(connection, row.id) for row in rows}
    if not rows:
        return await new(request)
    states = {row.id: state_of(request, row) for row in rows}
    return page(request, "list", rows=rows, done=done, states=states, **context)


def _count(connection: sa.Connection, evaluation_id: int) -> tuple[int, int]:
    rows = [
        person
        for person in reads.progress(connection, evaluation_id)
        if person.state != "absent" and not person.is_free_place
    ]
    return sum(person.rated for person in rows), sum(person.given for person in rows)


async def sign_in_page(request: Request) -> Response:
    """Ask before a sign-in link is used, since programs open links too."""
    site = site_of(request)
    digest = guard.digest(request.path_params["token"])
    with site.store.read() as connection:
        usable = reads.can_sign_in(connection, digest, t.stamp(site.now()))
    status = 200 if usable else 403
    return page(request, "sign_in", status, usable=usable, here=request.url.path)


async def sign_in(request: Request) -> Response:
    """Turn a sign-in link into a session."""
    check_origin(request)
    await read_form(request)
    site, token = site_of(request), request.path_params["token"]
    session = await site.writer.change(
        lambda connection, now: actions.sign_in(connection, now, token)
    )
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        guard.COOKIE,
        session,
        max_age=int(actions.SESSION.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=site.secure,
    )
    return answer


async def sign_out(request: Request) -> Response:
    """End the session."""
    check_form(request, await read_form(request))
    session, _ = organiser(request)
    await site_of(request).writer.change(
        lambda connection, now: actions.sign_out(connection, now, session)
    )
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(guard.COOKIE)
    return answer


async def new(request: Request) -> Response:
    """Show the form of a new evaluation, which has its public name already."""
    return _form_page(request, DEFAULTS, guard.fresh_slug())


async def edit(request: Request) -> Response:
    """Show the form of a draft."""
    row = own_evaluation(request)
    if row.state != "draft":
        return RedirectResponse(f"/e/{row.slug}", 303)
    return _form_page(request, json.loads(row.form), row.slug)


def _form_page(
    request: Request,
    form: Mapping[str, str],
    slug: str,
    status: int = 200,
    *,
    seen: Preview | None = None,
    error: str = "",
    notes: tuple[str, ...] = (),
) -> Response:
    with site_of(request).store.read() as connection:
        row = reads.evaluation(connection, slug)
        is_draft = row is not None and row.state == "draft"
        seal = seal_of(reads.secret(connection, row.id)) if row and is_draft else ""
    return page(
        request,
        "new",
        status,
        form={**DEFAULTS, **form},
        slug=slug,
        saved=row is not None,
        seal=seal,
        seen=seen,
        error=error,
        notes=notes,
        methods=METHODS,
        zones=clock.zones(),
        **_own(request),
    )


def _plan(form: Mapping[str, str]) -> EvaluationPlan:
    fields = {**DEFAULTS, **form}
    return read_plan(fields, clock.read_deadline(fields["closes"], fields["zone"]))


async def preview_form(request: Request) -> Response:
    """Say what a plan will allow; for our script only that part of the page."""
    form, files, slug = await _own_upload(request)
    try:
        form, notes = await asyncio.to_thread(_fill_lists, form, files)
        seen = await site_of(request).workers.run(preview, _plan(form))
    except EvenhandError as error:
        seen, notes = Preview(problem=str(error)), ()
    if request.headers.get("x-part") == "preview":
        return page(request, "preview", seen=seen)
    return _form_page(request, form, slug, seen=seen, notes=notes)


def _fill_lists(
    form: dict[str, str], files: Mapping[str, tuple[str, bytes]]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Put uploaded lists into the form, and say what changes."""
    notes = []
    for name in LISTED:
        if f"{name}_file" not in files:
            continue
        text = lines_from_file(*files[f"{name}_file"])
        before = set(form.get(name, "").splitlines())
        after = set(text.splitlines())
        notes.append(
            f"{name}: {len(after - before)} new, {len(before - after)} gone, "
            f"{len(after & before)} the same."
        )
        form[name] = text
    return form, tuple(notes)


async def _own_upload(
    request: Request,
) -> tuple[dict[str, str], dict[str, tuple[str, bytes]], str]:
    """Read the form of a draft with its files, but only of somebody who signed in.

    Returns:
        Its fields, its files, and the public name of its evaluation.
    """
    check_origin(request)
    organiser(request)
    form, files = await read_upload(request)
    check_form(request, form)
    slug = form.pop("slug", "")
    return form, files, slug if guard.is_slug(slug) else guard.fresh_slug()


async def save(request: Request) -> Response:
    """Save a draft, or seal it, as the button says."""
    form, files, slug = await _own_upload(request)
    seals = form.pop("does", "save") == "seal"
    site, (_, organiser_id) = site_of(request), organiser(request)
    try:
        form, notes = await asyncio.to_thread(_fill_lists, form, files)
        form = {name: form[name] for name in DEFAULTS if name in form}
        if files:
            return _form_page(request, form, slug, notes=notes)
        plan = _plan(form) if seals else None
    except EvenhandError as error:
        return _form_page(request, form, slug, 422, error=str(error))
    evaluation_id = await site.writer.change(
        lambda connection, now: actions.save(connection, now, organiser_id, slug, form)
    )
    try:
        if plan is not None:
            await _seal(request, evaluation_id, plan)
    except EvenhandError as error:
        with site.store.read() as connection:
            row = reads.by_id(connection, evaluation_id)
        if row.state == "draft":
            return _form_page(request, form, slug, 422, error=str(error))
        # The button was pressed twice, and the first time did it.
    return RedirectResponse(f"/e/{slug}{'/links' if seals else ''}", 303)


async def _seal(request: Request, evaluation_id: int, plan: EvaluationPlan) -> None:
    site = site_of(request)
    with site.store.read() as connection:
        key = reads.key(connection, evaluation_id)
        form = reads.by_id(connection, evaluation_id).form
    prepared = await asyncio.to_thread(actions.prepare, plan, form, key)
    await site.writer.change(
        lambda c, now: actions.seal(c, now, evaluation_id, prepared, site.store.key)
    )


async def show(request: Request) -> Response:
    """Show an evaluation as it stands."""
    row = own_evaluation(request)
    if row.state == "draft":
        return RedirectResponse(f"/e/{row.slug}/edit", 303)
    if not _has_draw(request, row):
        return message(request, row.title, "This draft was deleted.", 410, "/")
    return _evaluation_page(request, row)


def _has_draw(request: Request, row: Evaluation) -> bool:
    with site_of(request).store.read() as connection:
        return bool(reads.draws(connection, row.id))


def _evaluation_page(
    request: Request, row: Evaluation, status: int = 200, error: str = ""
) -> Response:
    site, state = site_of(request), state_of(request, row)
    is_collected = state in COLLECTED
    with site.store.read() as connection:
        people = reads.progress(connection, row.id)
        lists = reads.lists(connection, row.id)
        decisions = reads.jobs(connection, row.id, "decision")
        records = [json.loads(job.record)["result"] for job in decisions if job.record]
        events = reads.events(connection, row.id) if is_collected else []
        waits = is_collected and not records
        context: dict[str, Any] = {
            "coverage": reads.coverage(connection, row.id),
            "draws": reads.draws(connection, row.id),
            "organisers": reads.organisers(connection, row.id),
            "checks": reads.jobs(connection, row.id, "check"),
            "published": sorted(reads.published_files(connection, row.id)),
            "unassigned": reads.items_without_reviewer(connection, row.id),
            "seed": None,
            "unjudged": _items_without_rating(connection, row.id) if waits else [],
        }
        if is_collected and row.looked_at:
            context["seed"] = seed_from(reads.secret(connection, row.id), events)
    stage = row.stage(sum(person.begun_at is not None for person in people))
    return page(
        request,
        "evaluation",
        status,
        row=row,
        state=state,
        error=error,
        people=people,
        lists=lists,
        decisions=decisions,
        decided=[(headline_of(result, lists), result) for result in records],
        candidates=_candidates(lists),
        value=public_value_in(events),
        nonces=len(nonces_in(events)),
        unfinished=absence.unfinished_price(
            [person.name for person in _who_lacks_ratings(people)],
            keep=lists["keep_unfinished"],
        ),
        undo=undo_until(stage, site.now()),
        may=lambda action: refusal(action, stage, site.now()) is None,
        closes=clock.for_form(t.moment(row.closes_at), row.zone),
        closed_at=t.moment(row.closed_at) or stage.ends_at,
        base=site.base(request),
        **context,
        **_own(request),
    )


def _who_lacks_ratings(people: Iterable[Progress]) -> list[Progress]:
    """Return who began and has not rated all their items."""
    return [
        person for person in people if person.begun_at and person.rated < person.given
    ]


def _candidates(lists: Mapping[str, Any]) -> str:
    """Warn if what is published shows nearly who was kept from which item."""
    if not lists.get("n_conflicts"):
        return ""
    return narrow_choice(len(lists["items"]), lists["per_reviewer"])


def headline_of(
    result: Mapping[str, Any], lists: Mapping[str, Any]
) -> tuple[str, list[str]]:
    """Return what the report of a decision says first, for other pages."""
    titles = {str(row[0]): str(row[1]) for row in lists["items"]}
    if result["schema"] == SELECTION:
        return selection_headline(result["rows"], result["places"], titles)
    # Labels that look like formulas have a quote before them in the ratings.
    judged = {str(label) for label in result.get("order", titles)}
    lost = [
        item for item in titles if item not in judged and safe_cell(item) not in judged
    ]
    titles_by_cell = {safe_cell(item): title for item, title in titles.items() if title}
    return headline(from_json(result, titles_by_cell, lost), html=True)


def _items_without_rating(connection: sa.Connection, evaluation_id: int) -> list[str]:
    """Return the items of which no rating counts."""
    rows, _ = ratings_that_count(connection, evaluation_id)
    judged = {item for _, item, _ in rows}
    return [
        str(row[0])
        for row in reads.lists(connection, evaluation_id)["items"]
        if row[0] not in judged
    ]


async def progress(request: Request) -> Response:
    """Hand our script the state of things; it polls with the head of the log."""
    row = own_evaluation(request)
    with site_of(request).store.read() as connection:
        n_rated, n_given = _count(connection, row.id)
        jobs = reads.jobs(connection, row.id)
    n_waiting = sum(job.state == "waiting" for job in jobs)
    mark = f'"{row.head_hash}-{n_waiting}-{state_of(request, row)}"'
    if request.headers.get("if-none-match") == mark:
        return PlainResponse(status_code=304, headers={"etag": mark})
    body = {"rated": n_rated, "given": n_given, "state": state_of(request, row)}
    return JSONResponse(body, headers={"etag": mark})


async def close(request: Request) -> Response:
    """Say what closing does, and ask for the title."""
    return _close_page(request, own_evaluation(request))


def _close_page(
    request: Request, row: Evaluation, status: int = 200, error: str = ""
) -> Response:
    site = site_of(request)
    why = refusal("close", row.stage(), site.now())
    if why is not None:
        return _refusal_page(request, row, RefusedError(why))
    with site.store.read() as connection:
        people = reads.progress(connection, row.id)
        keep = reads.lists(connection, row.id)["keep_unfinished"]
        unrated = dict(reads.coverage(connection, row.id)).get(0, 0)
    context: dict[str, Any] = {
        "unfinished": _who_lacks_ratings(people),
        "never_began": [
            person.display_name
            for person in people
            if person.given and not (person.begun_at or person.is_free_place)
        ],
        "keep": keep,
        "unrated": unrated,
    }
    return page(
        request, "close", status, row=row, error=error, **context, **_own(request)
    )


async def _own_form(request: Request) -> tuple[Evaluation, dict[str, str]]:
    """Return an evaluation, and the form that one of its organisers sent.

    Raises:
        HTTPException: If it is not theirs, or another site sent it.
    """
    form = await read_form(request)
    check_form(request, form)
    return own_evaluation(request), form


async def _change(
    request: Request,
    row: Evaluation,
    change: Callable[[sa.Connection, datetime], object],
    back: str = "",
) -> Response:
    """Make a change, and show the evaluation with it, or why it was not made."""
    try:
        await site_of(request).writer.change(change)
    except EvenhandError as error:
        return _refusal_page(request, row, error)
    return RedirectResponse(back or f"/e/{row.slug}", 303)


async def change(request: Request) -> Response:
    """Do one of the simple actions."""
    row, form = await _own_form(request)
    action = _choice(request, "action", ACTIONS)
    if action == "close" and form.get("title", "").strip() != row.title:
        return _close_page(request, row, 422, "Type the title exactly to close it.")

    def do(connection: sa.Connection, now: datetime) -> None:
        if action == "extend":
            closes = clock.read_deadline(form.get("closes", ""), row.zone)
            actions.extend(connection, now, row.id, closes)
        elif action == "value":
            actions.put_value(connection, now, row.id, form.get("value", ""))
        elif action in SIMPLE:
            SIMPLE[action](connection, now, row.id)
        else:
            actions.pause(connection, now, row.id, action)

    return await _change(request, row, do)


def _refusal_page(request: Request, row: Evaluation, error: EvenhandError) -> Response:
    status = error.status if isinstance(error, RefusedError) else 422
    with site_of(request).store.read() as connection:
        now = reads.by_id(connection, row.id)
    if now.state == "draft" or not _has_draw(request, row):
        return message(request, row.title, str(error), status, f"/e/{row.slug}")
    return _evaluation_page(request, now, status, str(error))


async def links(request: Request) -> Response:
    """Show everybody's link, to be copied."""
    row, rows = _links(request)
    with site_of(request).store.read() as connection:
        unassigned = reads.items_without_reviewer(connection, row.id)
        items = len(reads.items(connection, row.id))
    context: dict[str, Any] = {"links": rows, "unassigned": unassigned}
    context["lists_door"] = json.loads(row.form).get("places", "0") != "0"
    context["local"] = site_of(request).is_local(request)
    return page(request, "links", row=row, items=items, **context, **_own(request))


def _links(request: Request) -> tuple[Evaluation, list[tuple[LinkedReviewer, str]]]:
    """Return the evaluation, and each reviewer with their link.

    Raises:
        HTTPException: If there are no links now.
    """
    row = own_evaluation(request)
    if state_of(request, row) not in ("sealed", "open"):
        raise HTTPException(409, "There are links only while reviewers can rate.")
    with site_of(request).store.read() as connection:
        rows = reads.links(connection, row.id)
    # Who has begun has ratings that a link would show.
    invited = (person for person in rows if person.state == "invited")
    rows = [person for person in invited if not person.at_door]
    return row, [(person, _address(request, row, person)) for person in rows]


async def links_csv(request: Request) -> Response:
    """Hand out the links for a mail merge."""
    row, rows = _links(request)
    cells = [
        (person.name, person.email, address, person.state) for person, address in rows
    ]
    return _table(f"links-{row.slug}", ["name", "email", "link", "state"], cells)


async def door(request: Request) -> Response:
    """Show the one link for whoever comes, as a picture for the wall."""
    row, _ = _links(request)
    site = site_of(request)
    address = f"{site.base(request)}/d/{actions.door_token(site.store.key, row)}"
    picture = segno.make(address, micro=False).svg_data_uri(scale=8, light="#fff")
    with site.store.read() as connection:
        people = reads.people(connection, row.id)
    places = [person for person in people if person.at_door]
    context: dict[str, Any] = {"address": address, "picture": picture, **_own(request)}
    return page(request, "door", row=row, places=places, **context)


async def change_door(request: Request) -> Response:
    """Open or close the door."""
    row, _ = await _own_form(request)
    choice, key = _choice(request, "door", DOORS), site_of(request).store.key

    def do(connection: sa.Connection, now: datetime) -> None:
        if choice == "open":
            actions.open_door(connection, now, row.id, key)
        else:
            actions.close_door(connection, now, row.id)

    return await _change(request, row, do, f"/e/{row.slug}/door")


async def people_csv(request: Request) -> Response:
    """Hand out who is how far, without a link."""
    row = own_evaluation(request)
    if state_of(request, row) not in ("sealed", "open"):
        raise HTTPException(409, "There is somebody to remind only while people rate.")
    with site_of(request).store.read() as connection:
        people = reads.progress(connection, row.id)
    cells = [
        (
            person.display_name,
            person.email or person.contact,
            person.standing,
            person.rated,
            person.given,
        )
        for person in people
        if person.given and not person.is_free_place
    ]
    names = ["name", "email", "state", "rated", "items"]
    return _table(f"people-{row.slug}", names, cells)


async def links_sheet(request: Request) -> Response:
    """Show a sheet of QR codes to print and cut."""
    row, rows = _links(request)
    codes = [
        (person, address, segno.make(address, micro=False).svg_data_uri(scale=4))
        for person, address in rows
        if address
    ]
    return page(request, "sheet", row=row, codes=codes, **_own(request))


async def person(request: Request) -> Response:
    """Show what can be done about one reviewer, each with its price."""
    return _person_page(request, own_evaluation(request))


def _person_page(
    request: Request, row: Evaluation, status: int = 200, error: str = ""
) -> Response:
    with site_of(request).store.read() as connection:
        people = reads.progress(connection, row.id)
    number = request.path_params["reviewer"]
    person = next((person for person in people if person.id == number), None)
    if person is None:
        raise HTTPException(404, "There is no such reviewer.")
    reserve = next((person.name for person in reads.free_reserves(people)), "")
    prices = {
        kind: absence.price(kind, person.name, reserve)
        for kind in absence.REPAIRS
        if (kind != "reserve" or reserve) and kind != person.state
    }
    context = {"row": row, "state": state_of(request, row), "error": error}
    return page(
        request,
        "person",
        status,
        person=person,
        prices=prices,
        **context,
        **_own(request),
    )


async def repair(request: Request) -> Response:
    """Mark absent, let a reserve or a substitute take over, or make a new link."""
    row, form = await _own_form(request)
    site, number = site_of(request), request.path_params["reviewer"]
    kind = _choice(request, "repair", REPAIRS)
    key = site.store.key

    def do(connection: sa.Connection, now: datetime) -> None:
        if kind in ("link", "blind"):
            make = actions.new_link if kind == "link" else actions.blind_link
            make(connection, now, row.id, number, key)
        else:
            substitute = {name: form.get(name, "") for name in ("name", "email")}
            actions.repair(connection, now, row.id, number, kind, key=key, **substitute)

    try:
        await site.writer.change(do)
    except RefusedError as error:
        if error.status == 404:
            raise
        return _person_page(request, row, error.status, str(error))
    if kind == "blind":
        return _blind_page(request, row, number)
    where = "/links" if kind == "link" else ""
    return RedirectResponse(f"/e/{row.slug}{where}", 303)


def _blind_page(request: Request, row: Evaluation, number: int) -> Response:
    """Show a link once to a reviewer who lost theirs."""
    site = site_of(request)
    with site.store.read() as connection:
        links = reads.links(connection, row.id)
        person = next(holder for holder in links if holder.id == number)
    address = _address(request, row, person)
    return _link_page(request, row, address, person.name)


def _link_page(
    request: Request, row: Evaluation, address: str, holder: str = ""
) -> Response:
    """Show a link once: a reviewer's, or an invitation."""
    context: dict[str, Any] = {"address": address, "holder": holder, **_own(request)}
    return page(request, "invited", row=row, **context)


def _address(request: Request, row: Evaluation, person: LinkedReviewer) -> str:
    """Return a reviewer's link, "" if it was made with another key."""
    site = site_of(request)
    token = guard.base32(
        link_token(site.store.key, row.slug, person.id, person.serial, row.draw)
    )
    is_current = guard.digest(token) == person.token_sha256
    return f"{site.base(request)}/r/{token}" if is_current else ""


def _after_look(request: Request) -> Evaluation:
    """Return the evaluation, if it was said that scores are looked at.

    Raises:
        HTTPException: If not.
    """
    row = own_evaluation(request)
    if row.looked_at is None or row.state == "purged":
        raise HTTPException(
            409, "Close the evaluation and press Look at the ratings first."
        )
    return row


def ratings_that_count(
    connection: sa.Connection, evaluation_id: int
) -> tuple[list[tuple[str, str, float]], str]:
    """Return the ratings that count, and the same as CSV."""
    lists = reads.lists(connection, evaluation_id)
    drawn = reads.assignment(connection, evaluation_id)
    events = reads.events(connection, evaluation_id)
    payloads = reads.payloads(connection, evaluation_id)
    bodies = {payload.n: json.loads(payload.body) for payload in payloads}
    rows, _ = collect(events, bodies, drawn, keep_unfinished=lists["keep_unfinished"])
    titles = {row[0]: row[1] for row in lists["items"]}
    is_order = lists["scale"]["kind"] == "order"
    return rows, ratings_csv(rows, titles, is_order=is_order)


async def ratings_file(request: Request) -> Response:
    """Hand out the ratings that count, by codes."""
    row = _after_look(request)
    with site_of(request).store.read() as connection:
        _, text = ratings_that_count(connection, row.id)
    return _attachment(text, f"ratings-{row.slug}")


async def notes_file(request: Request) -> Response:
    """Hand out all ratings with their notes, by codes."""
    row = _after_look(request)
    with site_of(request).store.read() as connection:
        rows = reads.ratings(connection, row.id)
    cells = [
        (task.reviewer, task.label, task.state, task.score, " ".join(task.note.split()))
        for task in rows
    ]
    names = ["reviewer", "item", "state", "score", "note"]
    return _table(f"notes-{row.slug}", names, cells)


async def who_is_who(request: Request) -> Response:
    """Hand out which code is who."""
    row = _after_look(request)
    with site_of(request).store.read() as connection:
        people = reads.people(connection, row.id)
    cells = [
        (
            person.label,
            person.display_name,
            person.email or person.contact,
            person.state,
        )
        for person in people
    ]
    names = ["code", "reviewer", "email", "state"]
    return _table(f"who-is-who-{row.slug}", names, cells)


async def names_file(request: Request) -> Response:
    """Hand out what shows who is which code, for those who may know it."""
    row = _after_look(request)
    with site_of(request).store.read() as connection:
        key = reads.key(connection, row.id)
        people = reads.names_and_conflicts(connection, row.id)
    headers = {"content-disposition": f'attachment; filename="names-{row.slug}.json"'}
    text = text_of(names_record(key, people))
    return PlainResponse(text, media_type="application/json", headers=headers)


def _table(
    name: str, header: list[str], rows: Iterable[tuple[object, ...]]
) -> Response:
    """Hand out a table whose cells no spreadsheet takes for formulas."""

    def cell(value: object) -> str:
        return repr(value) if isinstance(value, float) else safe_cell(str(value or ""))

    lines = [csv_line(header), *(csv_line(map(cell, row)) for row in rows)]
    return _attachment("".join(lines), name)


def _attachment(text: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}.csv"'}
    return PlainTextResponse(text, media_type=CSV, headers=headers)


async def job(request: Request) -> Response:
    """Ask for a check or a decision; another process works it out."""
    row, form = await _own_form(request)
    site, kind = site_of(request), _choice(request, "kind", JOBS)
    try:
        number = await site.writer.change(
            lambda c, now: actions.ask_job(c, now, row.id, kind, form)
        )
    except EvenhandError as error:
        return _refusal_page(request, row, error)
    start_job(site, row.id, kind, number)
    return RedirectResponse(f"/e/{row.slug}", 303)


def start_job(site: Site, evaluation_id: int, kind: str, number: int) -> None:
    """Start a job that waits, unless it is being worked out, and go on."""
    key = (evaluation_id, kind, number)
    if key not in site.running:
        task = asyncio.get_running_loop().create_task(_work(site, *key))
        site.running[key] = task
        task.add_done_callback(lambda _: site.running.pop(key))


async def _work(site: Site, evaluation_id: int, kind: str, number: int) -> None:
    while True:
        with contextlib.suppress(*FAILURES, UnsavedError):
            await _work_once(site, evaluation_id, kind, number)
            return
        await asyncio.sleep(BACK_IN)


async def _work_once(site: Site, evaluation_id: int, kind: str, number: int) -> None:
    try:
        with site.store.read() as connection:
            jobs = reads.jobs(connection, evaluation_id, kind)
            if all(job.number != number or job.state != "waiting" for job in jobs):
                return
            task = task_of(connection, evaluation_id, kind)
        result = await site.workers.run(compute, task)
    except FAILURES:
        raise
    except Exception as error:  # the page must not wait for ever
        LOG.exception("job failed")
        words = str(error) if isinstance(error, EvenhandError) else "The job failed."
        result = {"error": words}
    await site.writer.change(
        lambda c, now: actions.end_job(c, now, evaluation_id, kind, number, result)
    )


def task_of(connection: sa.Connection, evaluation_id: int, kind: str) -> dict[str, Any]:
    """Return what another process needs to check or to decide."""
    rows, text = ratings_that_count(connection, evaluation_id)
    if not rows:
        raise RefusedError("There are no ratings that count.")
    lists = reads.lists(connection, evaluation_id)
    draws = reads.draws(connection, evaluation_id)
    secret = reads.secret(connection, evaluation_id)
    drawn_with = reads.draw_secret(connection, evaluation_id)
    return {
        "kind": kind,
        "ratings": text,
        "records": [draw.record for draw in draws if draw.number == draws[-1].number],
        "conflicts": reads.conflicts(connection, evaluation_id),
        "secret": drawn_with,
        "seal": seal_of(drawn_with),
        "seed": seed_from(secret, reads.events(connection, evaluation_id)),
        "job": lists["job"],
        "method": lists["method"],
        "top": lists["top"],
        "distinct": lists["distinct"],
    }


async def report(request: Request) -> Response:
    """Show the page of a check or of a decision, as the command line writes it."""
    row, kind = _after_look(request), _choice(request, "kind", JOBS)
    with site_of(request).store.read() as connection:
        jobs = reads.jobs(connection, row.id, kind)
    reports = {job.number: job.report for job in jobs if job.report is not None}
    if request.path_params["number"] not in reports:
        raise HTTPException(404, "There is no such report.")
    return report_page(reports[request.path_params["number"]].encode())


def report_page(body: bytes) -> Response:
    """Serve a report, which brings its own policy and is kept from all else."""
    headers = {
        "content-security-policy": "sandbox allow-scripts allow-downloads; "
        "frame-ancestors 'none'"
    }
    return PlainResponse(body, media_type="text/html; charset=utf-8", headers=headers)


async def publish(request: Request) -> Response:
    """Publish the result with all that shows how it came about."""
    row, form = await _own_form(request)
    why = refusal("publish", row.stage(), site_of(request).now())
    if why is not None:
        return _refusal_page(request, row, RefusedError(why))
    with_ratings = form.get("ratings") == "yes"
    with site_of(request).store.read() as connection:
        _, text = ratings_that_count(connection, row.id)
        files = files_of(connection, row, text, with_ratings=with_ratings)
        head = reads.by_id(connection, row.id).head_hash
    return await _change(
        request, row, lambda c, now: actions.publish(c, now, row.id, files, head)
    )


async def bundle(request: Request) -> Response:
    """Hand out the bundle that was published."""
    row = own_evaluation(request)
    with site_of(request).store.read() as connection:
        files = reads.published_files(connection, row.id)
        if not files:
            raise HTTPException(409, "Nothing was published yet.")
        data = with_log(connection, row.id, files)
    return bundle_file(data, row.slug)


def bundle_file(data: bytes, slug: str) -> Response:
    """Serve a bundle as a file."""
    name = f'attachment; filename="evenhand-{slug}.zip"'
    return PlainResponse(
        data, media_type="application/zip", headers={"content-disposition": name}
    )


async def purge(request: Request) -> Response:
    """Delete names, notes and payloads, if the title was typed."""
    row, form = await _own_form(request)
    if form.get("title", "").strip() != row.title:
        why = RefusedError("Type the title exactly to delete the names.", 422)
        return _refusal_page(request, row, why)
    answer = await _change(
        request, row, lambda c, now: actions.purge(c, now, row.id), "/"
    )
    await site_of(request).writer.tidy()
    return answer


async def remove(request: Request) -> Response:
    """Let somebody organise this evaluation no longer."""
    row, _ = await _own_form(request)
    number, (_, organiser_id) = request.path_params["organiser"], organiser(request)
    back = "/" if number == organiser_id else ""
    return await _change(
        request, row, lambda c, now: actions.remove_member(c, now, row.id, number), back
    )


async def invite(request: Request) -> Response:
    """Make a link by which somebody else becomes an organiser of this evaluation."""
    row, form = await _own_form(request)
    site = site_of(request)
    name = " ".join(form.get("name", "").split())
    try:
        token = await site.writer.change(
            lambda c, now: actions.make_signin(
                c, now, None, evaluation_id=row.id, name=name
            )
        )
    except EvenhandError as error:
        return _refusal_page(request, row, error)
    address = f"{site.base(request)}/in/{token}"
    return _link_page(request, row, address)

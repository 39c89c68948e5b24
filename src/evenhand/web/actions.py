"""What organisers and reviewers change, each in one transaction with its event.

Every function takes the writer's connection and the time. What is not allowed is
refused in words, and nothing is changed then.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from evenhand.designs.drawing import assign, fresh_secret, reserve_order, seal_of
from evenhand.errors import plural
from evenhand.records.bundle import without_ratings
from evenhand.records.events import is_public_value
from evenhand.records.log import Event, append, payload_hash, public_value_in
from evenhand.records.people import (
    draw_secret,
    people_hashes,
    plain_name,
    secret_of,
)
from evenhand.records.record import assignment_record, text_of
from evenhand.web import guard, reads
from evenhand.web import tables as t
from evenhand.web.absence import repair as repaired
from evenhand.web.clock import check_near
from evenhand.web.plan import draw_codes, lists_record, require_complete
from evenhand.web.states import ACTIONS, is_due, refusal, state_at
from evenhand.web.store import link_token
from evenhand.web.writer import RefusedError, stage_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.claims import Json
    from evenhand.designs.assignment import Assignment
    from evenhand.web.plan import EvaluationPlan

NOT_FOUND, GONE = 404, 401
RETAIN = timedelta(days=180)
SESSION, SIGN_IN, INVITED = timedelta(days=7), timedelta(minutes=15), timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draw that was made, to be written if the draft is still the same.

    Attributes:
        plan: The plan that was drawn for.
        codes: The code of each person.
        lists: The record of what is fixed.
        drawn: The assignment, with its secret.
        form: The text of the draft.
    """

    plan: EvaluationPlan
    codes: Mapping[str, str]
    lists: dict[str, Json]
    drawn: Assignment
    form: str


def prepare(plan: EvaluationPlan, form: str, key: str | None) -> Prepared:
    """Draw who rates what; this may take a while, so it is done before the writing.

    Raises:
        EvenhandError: If the plan is not complete, or there is no such assignment.
    """
    if key is None:
        raise RefusedError(
            "An earlier version of evenhand made this draft. Make a new evaluation."
        )
    require_complete(plan)
    codes, hidden = draw_codes(plan, key), bool(plan.conflicts)
    drawn = assign(
        [item.label for item in plan.items],
        [codes[person.name] for person in plan.people],
        conflicts=[(codes[reviewer], what) for reviewer, what in plan.conflicts],
        secret=draw_secret(key, has_conflicts=hidden),
        **plan.options(),
    )
    drawn = replace(drawn, conflicts_hidden=hidden)
    return Prepared(plan, codes, lists_record(plan, key), drawn, form)


def log(
    connection: sa.Connection,
    evaluation_id: int,
    kind: str,
    now: datetime,
    *,
    says: Mapping[str, Json] | None = None,
    body: Mapping[str, Json] | None = None,
) -> Event:
    """Write an event to the log of an evaluation, whose row is locked."""
    head = reads.heads(connection, [reads.by_id(connection, evaluation_id)])[
        evaluation_id
    ]
    salt = secrets.token_hex(32)
    event = append(
        head,
        kind,
        now,
        says=says,
        payload=None if body is None else payload_hash(salt, body),
    )
    at = {"evaluation_id": evaluation_id, "n": event.n}
    connection.execute(
        t.event.insert(), [{**at, "line": event.line, "hash": event.hash}]
    )
    if body is not None:
        connection.execute(
            t.payload.insert(), [{**at, "salt": salt, "body": json.dumps(body)}]
        )
    _set(connection, evaluation_id, head_n=event.n, head_hash=event.hash)
    return event


def _set(connection: sa.Connection, evaluation_id: int, **values: object) -> None:
    connection.execute(
        t.evaluation.update().where(t.evaluation.c.id == evaluation_id).values(**values)
    )


def lock_evaluation(connection: sa.Connection, evaluation_id: int) -> Any:  # noqa: ANN401 - a row
    """Return the row of an evaluation, which nobody else changes before the commit."""
    by_id = t.evaluation.c.id == evaluation_id
    return connection.execute(
        sa.select(t.evaluation).where(by_id).with_for_update()
    ).one()


def lock_for(
    connection: sa.Connection, evaluation_id: int, action: str, now: datetime
) -> Any:  # noqa: ANN401 - a row
    """Lock an evaluation and return its row, if an action is allowed now.

    A deadline alone closes nothing for good, since one wrong clock would do so; what
    needs the close writes it down, at the deadline whenever that is done.

    Raises:
        RefusedError: If it is not; it says why.
    """
    row = lock_evaluation(connection, evaluation_id)
    n_begun = sum(
        person.begun_at is not None
        for person in reads.people(connection, evaluation_id)
    )
    stage = stage_of(row, n_begun)
    why = refusal(action, stage, now)
    if why is not None:
        raise RefusedError(why)
    if stage.ends_at and is_due(stage, now) and "open" not in ACTIONS[action][0]:
        _close(connection, evaluation_id, stage.ends_at)
        row = reads.by_id(connection, evaluation_id)
    return row


def create(
    connection: sa.Connection,
    now: datetime,
    organiser: int,
    form: Mapping[str, str],
    slug: str = "",
) -> tuple[int, str]:
    """Make a draft; its secret is drawn, and its seal is the start of its log.

    Returns:
        Its id and its public name.
    """
    key = fresh_secret()
    secret = secret_of(key)
    slug = slug or guard.fresh_slug()
    evaluation_id = connection.execute(
        t.evaluation.insert().returning(t.evaluation.c.id),
        {
            "slug": slug,
            "title": form.get("title", "") or "Untitled",
            "state": "draft",
            "form": json.dumps(dict(form)),
            "first_seal": seal_of(secret),
            "head_n": 0,
            "head_hash": seal_of(secret),
            "created_at": t.stamp(now),
        },
    ).scalar_one()
    columns = {"evaluation_id": evaluation_id}
    connection.execute(t.secret.insert(), [{**columns, "number": 1, "secret": secret}])
    connection.execute(t.private.insert(), [{**columns, "number": 1, "key": key}])
    connection.execute(t.member.insert(), [{**columns, "organiser_id": organiser}])
    log(
        connection,
        evaluation_id,
        "created",
        now,
        says={"draw": 1, "seal": seal_of(secret)},
    )
    return evaluation_id, slug


def save(
    connection: sa.Connection,
    now: datetime,
    organiser: int,
    slug: str,
    form: Mapping[str, str],
) -> int:
    """Save a draft under the name that its form has, and return its id.

    A form that is sent twice makes one evaluation, and changes nothing then.

    Raises:
        RefusedError: If it is somebody else's, or is no draft any more.
    """
    row = reads.evaluation(connection, slug)
    if row is None:
        return create(connection, now, organiser, form, slug)[0]
    if not reads.is_member(connection, row.id, organiser):
        raise RefusedError("There is no such evaluation of yours.", NOT_FOUND)
    text = json.dumps(dict(form))
    if row.form != text:
        lock_for(connection, row.id, "edit", now)
        title = form.get("title", "") or "Untitled"
        _set(connection, row.id, form=text, title=title)
    return int(row.id)


def seal(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    prepared: Prepared,
    key: bytes,
) -> None:
    """Fix lists, design and rules, write down the draw, and make the links."""
    row = lock_for(connection, evaluation_id, "seal", now)
    if row.form != prepared.form:
        raise RefusedError("The draft was changed meanwhile. Seal it again.")
    check_near(prepared.plan.closes_at, now)
    record = assignment_record(prepared.drawn)
    secret = reads.secret(connection, evaluation_id)
    columns = {"evaluation_id": evaluation_id}
    connection.execute(
        t.draw.insert(),
        [
            {
                **columns,
                "number": row.draw,
                "part": 1,
                "seal": seal_of(secret),
                "lists": text_of(prepared.lists),
                "record": text_of(record),
                "drawn_at": t.stamp(now),
            }
        ],
    )
    connection.execute(
        t.private.update()
        .where(
            t.private.c.evaluation_id == evaluation_id, t.private.c.number == row.draw
        )
        .values(conflicts=json.dumps(prepared.drawn.conflicts))
    )
    _write_people(connection, evaluation_id, prepared, secret)
    _write_tasks(connection, evaluation_id, prepared.drawn)
    people = reads.people(connection, evaluation_id)
    for person in people:
        if person.role == "regular":
            make_link(connection, now, row, person.id, key)
    plan = prepared.plan
    _set(
        connection,
        evaluation_id,
        state="sealed",
        title=plan.title,
        scale=json.dumps(plan.scale.to_dict()),
        closes_at=None if plan.closes_at is None else t.stamp(plan.closes_at),
        zone=plan.zone,
        grace=plan.grace,
    )
    says: dict[str, Json] = {
        "draw": row.draw,
        "seal": seal_of(secret),
        "lists_sha256": prepared.lists["sha256"],
        "record_sha256": record["sha256"],
    }
    log(connection, evaluation_id, "sealed", now, says=says)
    if plan.at_once:
        open_now(connection, now, evaluation_id)


def _write_people(
    connection: sa.Connection, evaluation_id: int, prepared: Prepared, secret: str
) -> None:
    plan, codes = prepared.plan, prepared.codes
    columns = {"evaluation_id": evaluation_id}
    connection.execute(
        t.item.insert(),
        [
            {
                **columns,
                "id": n,
                "label": item.label,
                "title": item.title,
                "url": item.url,
            }
            for n, item in enumerate(plan.items, start=1)
        ],
    )
    order = reserve_order([codes[person.name] for person in plan.reserves], secret)
    turns = {str(code): turn for turn, code in enumerate(order, start=1)}
    connection.execute(
        t.reviewer.insert(),
        [
            {
                **columns,
                "id": n,
                "label": codes[person.name],
                "name": person.name,
                "email": person.email,
                "role": "reserve" if codes[person.name] in turns else "regular",
                "turn": turns.get(codes[person.name]),
                "state": "invited",
            }
            for n, person in enumerate((*plan.people, *plan.reserves), start=1)
        ],
    )


def _write_tasks(
    connection: sa.Connection, evaluation_id: int, drawn: Assignment
) -> None:
    people = {row.label: row.id for row in reads.people(connection, evaluation_id)}
    items = {row.label: row.id for row in reads.items(connection, evaluation_id)}
    rows: list[dict[str, object]] = []
    for reviewer, own in drawn.bundles().items():
        # In which order a reviewer sees the items does not matter to the draw.
        secrets.SystemRandom().shuffle(own)
        for place, label in enumerate(own, start=1):
            rows.append(
                {
                    "evaluation_id": evaluation_id,
                    "id": len(rows) + 1,
                    "reviewer_id": people[str(reviewer)],
                    "item_id": items[str(label)],
                    "place": place,
                }
            )
    connection.execute(t.task.insert(), rows)


def make_link(
    connection: sa.Connection,
    now: datetime,
    row: Any,  # noqa: ANN401 - a row
    reviewer: int,
    key: bytes,
) -> None:
    """Make one more link for a reviewer; earlier ones go on working."""
    evaluation_id = row.id
    of_reviewer = (t.link.c.evaluation_id == evaluation_id) & (
        t.link.c.reviewer_id == reviewer
    )
    last = connection.execute(
        sa.select(sa.func.max(t.link.c.serial)).where(of_reviewer)
    )
    serial = (last.scalar() or 0) + 1
    token = guard.base32(link_token(key, row.slug, reviewer, serial, row.draw))
    connection.execute(
        t.link.insert(),
        {
            "token_sha256": guard.digest(token),
            "evaluation_id": evaluation_id,
            "reviewer_id": reviewer,
            "serial": serial,
            "made_at": t.stamp(now),
        },
    )


def revoke_links(
    connection: sa.Connection, now: datetime, evaluation_id: int, reviewer: int
) -> None:
    """Withdraw all links of a reviewer."""
    connection.execute(
        t.link.update()
        .where(
            t.link.c.evaluation_id == evaluation_id,
            t.link.c.reviewer_id == reviewer,
            t.link.c.revoked_at.is_(None),
        )
        .values(revoked_at=t.stamp(now))
    )


def new_link(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    reviewer: int,
    key: bytes,
) -> None:
    """Withdraw a reviewer's links and make a new one; who was absent may come."""
    row = lock_for(connection, evaluation_id, "link", now)
    person = _unseen(connection, evaluation_id, reviewer)
    revoke_links(connection, now, evaluation_id, reviewer)
    make_link(connection, now, row, reviewer, key)
    _move(connection, person, state="invited")
    log(connection, evaluation_id, "new link", now)


def unseal(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Go back to a draft with a new secret; the draw that was made stays listed."""
    row = lock_for(connection, evaluation_id, "unseal", now)
    for table in (t.link, t.task, t.reviewer, t.item):
        connection.execute(table.delete().where(table.c.evaluation_id == evaluation_id))
    connection.execute(
        t.draw.update()
        .where(t.draw.c.evaluation_id == evaluation_id, t.draw.c.dropped_at.is_(None))
        .values(dropped_at=t.stamp(now))
    )
    key, number = fresh_secret(), row.draw + 1
    secret = secret_of(key)
    columns = {"evaluation_id": evaluation_id, "number": number}
    connection.execute(t.secret.insert(), [{**columns, "secret": secret}])
    connection.execute(t.private.insert(), [{**columns, "key": key}])
    _set(connection, evaluation_id, state="draft", draw=number, paused=0)
    says: dict[str, Json] = {"draw": number, "seal": seal_of(secret)}
    log(connection, evaluation_id, "unsealed", now, says=says)


def open_now(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Let reviewers begin."""
    lock_for(connection, evaluation_id, "open", now)
    _set(connection, evaluation_id, state="open")
    log(connection, evaluation_id, "opened", now)


def pause(
    connection: sa.Connection, now: datetime, evaluation_id: int, action: str
) -> None:
    """Pause or resume."""
    lock_for(connection, evaluation_id, action, now)
    _set(connection, evaluation_id, paused=int(action == "pause"))
    log(connection, evaluation_id, f"{action}d", now)


def extend(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    closes_at: datetime | None,
) -> None:
    """Move the deadline."""
    lock_for(connection, evaluation_id, "extend", now)
    if closes_at is not None and closes_at <= now:
        raise RefusedError("The new deadline must be in the future.", 422)
    check_near(closes_at, now)
    at = None if closes_at is None else t.stamp(closes_at)
    _set(connection, evaluation_id, closes_at=at)
    log(connection, evaluation_id, "extended", now, says={"closes_at": at})


def close(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Take no more ratings."""
    lock_for(connection, evaluation_id, "close", now)
    _close(connection, evaluation_id, now)


def _close(connection: sa.Connection, evaluation_id: int, now: datetime) -> None:
    rated = reads.progress(connection, evaluation_id)
    says: dict[str, Json] = {
        "ratings": sum(person.rated for person in rated),
        "begun": sum(person.begun_at is not None for person in rated),
        "never_began": sum(
            person.begun_at is None and person.given > 0 for person in rated
        ),
    }
    event = log(connection, evaluation_id, "closed", now, says=says)
    _set(
        connection,
        evaluation_id,
        state="closed",
        paused=0,
        closed_head=event.hash,
        closed_at=t.stamp(now),
    )


def put_value(
    connection: sa.Connection, now: datetime, evaluation_id: int, text: str
) -> None:
    """Put in the public value that was named at sealing, once, before any look."""
    lock_for(connection, evaluation_id, "value", now)
    name = reads.lists(connection, evaluation_id).get("public_value")
    if name is None or public_value_in(reads.events(connection, evaluation_id)):
        raise RefusedError("There is no public value to be put in.")
    value = "".join(text.split()).lower()
    if not is_public_value(value):
        rule = "digits, letters from a to z and points, 128 at most"
        raise RefusedError(f"The value must have {rule}.", 422)
    log(connection, evaluation_id, "valued", now, says={"value": value})


def look(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Note that scores are seen from now on; who never began is absent."""
    row = lock_for(connection, evaluation_id, "look", now)
    if row.looked_at is not None:
        return
    name = reads.lists(connection, evaluation_id).get("public_value")
    if name is not None and not public_value_in(
        reads.events(connection, evaluation_id)
    ):
        raise RefusedError(f"Put in the public value first: {name}.")
    rows = [
        person for person in reads.progress(connection, evaluation_id) if person.given
    ]
    never_began = [person for person in rows if person.begun_at is None]
    if 0 < len(never_began) < len(rows):
        _amend(connection, now, evaluation_id, "absent", never_began)
    log(connection, evaluation_id, "looked", now)
    _set(connection, evaluation_id, looked_at=t.stamp(now))


def _person(connection: sa.Connection, evaluation_id: int, reviewer: int) -> Any:  # noqa: ANN401 - a row
    return connection.execute(
        sa.select(t.reviewer).where(
            t.reviewer.c.evaluation_id == evaluation_id, t.reviewer.c.id == reviewer
        )
    ).one()


def _unseen(connection: sa.Connection, evaluation_id: int, reviewer: int) -> Any:  # noqa: ANN401 - a row
    """Return a reviewer who has items and never saw them.

    Raises:
        RefusedError: If there is no such reviewer.
    """
    people = {row.id: row for row in reads.progress(connection, evaluation_id)}
    if reviewer not in people:
        raise RefusedError("There is no such reviewer.", NOT_FOUND)
    person = people[reviewer]
    if person.begun_at is not None:
        raise RefusedError(
            f"{person.name} has begun and seen the items. A new link would show you "
            "the ratings, and whoever saw an item may leave because of it."
        )
    if not person.given:
        raise RefusedError(f"{person.name} has no items.")
    return person


def _amend(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    kind: str,
    never_began: Sequence[Any],
    stands_in: Any = None,  # noqa: ANN401 - a row
) -> None:
    """Draw an amendment for those who never began, and write it down."""
    drawn = reads.assignment(connection, evaluation_id)
    secret = reads.draw_secret(connection, evaluation_id)
    labels = [person.label for person in never_began]
    new = None if stands_in is None else stands_in.label
    after = repaired(drawn, kind, labels, new, secret=secret)
    record = assignment_record(after)
    row = reads.last_draw(connection, evaluation_id)
    connection.execute(
        t.draw.insert(),
        {
            "evaluation_id": evaluation_id,
            "number": row.number,
            "part": row.part + 1,
            "seal": row.seal,
            "lists": row.lists,
            "record": text_of(record),
            "drawn_at": t.stamp(now),
        },
    )
    connection.execute(
        t.reviewer.update()
        .where(
            t.reviewer.c.evaluation_id == evaluation_id,
            t.reviewer.c.id.in_([person.id for person in never_began]),
        )
        .values(state="absent" if stands_in is None else "replaced")
    )
    says: dict[str, Json] = {
        "part": row.part + 1,
        "reviewers": len(labels),
        "record_sha256": record["sha256"],
    }
    key = reads.key(connection, evaluation_id)
    if kind == "substitute" and key is not None and new is not None:
        # Nobody knew of them at sealing, so that the lists do not have them.
        says["people"] = dict(people_hashes(key, [(new, stands_in.name, [])]))
    log(connection, evaluation_id, kind, now, says=says, body={"reviewers": labels})


def repair(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    reviewer: int,
    kind: str,
    *,
    name: str = "",
    email: str = "",
    key: bytes,
) -> None:
    """Mark absent, or let the next reserve or a named substitute take over.

    Raises:
        RefusedError: If the reviewer has begun, or there is nobody to step in.
    """
    row = lock_for(connection, evaluation_id, "repair", now)
    person = _unseen(connection, evaluation_id, reviewer)
    if kind == "absent":
        # The draw is amended at the first look: until then somebody may step in.
        _move(connection, person, state="absent")
        revoke_links(connection, now, evaluation_id, reviewer)
        return
    new = _stand_in(connection, evaluation_id, kind, name, email)
    _amend(connection, now, evaluation_id, kind, [person], new)
    in_evaluation = t.task.c.evaluation_id == evaluation_id
    connection.execute(
        t.task.update()
        .where(in_evaluation, t.task.c.reviewer_id == reviewer)
        .values(reviewer_id=new.id)
    )
    _move(connection, new, stands_in_for=reviewer)
    revoke_links(connection, now, evaluation_id, reviewer)
    make_link(connection, now, row, new.id, key)


def _stand_in(
    connection: sa.Connection, evaluation_id: int, kind: str, name: str, email: str
) -> Any:  # noqa: ANN401 - a row
    people = reads.people(connection, evaluation_id)
    if kind == "reserve":
        free = [
            person
            for person in people
            if person.role == "reserve" and not person.stands_in_for
        ]
        if not free:
            raise RefusedError("There is no reserve left.")
        return min(free, key=lambda person: person.turn)
    name = " ".join(name.split())
    if not 1 <= len(name) <= guard.LONGEST_NAME:
        raise RefusedError("Give the name of the substitute.", 422)
    if any(plain_name(person.name) == plain_name(name) for person in people):
        raise RefusedError(f"{name} is on the list already.", 422)
    number = max(person.id for person in people) + 1
    width = max(2, len(str(number)))
    connection.execute(
        t.reviewer.insert(),
        {
            "evaluation_id": evaluation_id,
            "id": number,
            "label": f"R{number:0{width}}",
            "name": name,
            "email": email[: guard.LONGEST_NAME],
            "role": "substitute",
            "state": "invited",
        },
    )
    return _person(connection, evaluation_id, number)


def _rater(connection: sa.Connection, token: str, now: datetime) -> Any:  # noqa: ANN401 - a row
    link = reads.rater(connection, token)
    if link is None:
        raise RefusedError("There is no such link.", NOT_FOUND)
    if link.revoked_at is not None:
        raise RefusedError("This link was withdrawn. Ask for a new one.", GONE)
    stage = stage_of(lock_evaluation(connection, link.evaluation_id))
    if state_at(stage, now) != "open":
        raise RefusedError("This evaluation is not open.", 423)
    if stage.paused:
        raise RefusedError("The organiser paused this evaluation. Try later.", 423)
    return _person(connection, link.evaluation_id, link.reviewer_id)


def _move(connection: sa.Connection, person: Any, **values: object) -> None:  # noqa: ANN401 - a row
    connection.execute(
        t.reviewer.update()
        .where(
            t.reviewer.c.evaluation_id == person.evaluation_id,
            t.reviewer.c.id == person.id,
        )
        .values(**values)
    )


def begin(connection: sa.Connection, now: datetime, token: str) -> None:
    """Show a reviewer their items from now on; the log keeps that they saw them."""
    person = _rater(connection, token, now)
    if person.state in ("begun", "done"):
        return
    if person.state != "invited":
        raise RefusedError("This place was given up.", GONE)
    log(connection, person.evaluation_id, "begun", now, body={"reviewer": person.label})
    at = t.stamp(now)
    _move(connection, person, state="begun", begun_at=at, active_at=at)


def decline(connection: sa.Connection, now: datetime, token: str) -> None:
    """Take no part; possible only before a reviewer has begun."""
    person = _rater(connection, token, now)
    if person.state == "absent":
        return
    if person.state != "invited":
        raise RefusedError(
            "You have begun already. Leave what you cannot rate, or say that you "
            "cannot rate it."
        )
    _move(connection, person, state="absent")


def _active_rater(connection: sa.Connection, token: str, now: datetime) -> Any:  # noqa: ANN401 - a row
    person = _rater(connection, token, now)
    if person.begun_at is None:
        raise RefusedError("Press Begin first.")
    return person


def finish(connection: sa.Connection, now: datetime, token: str) -> None:
    """Say that a reviewer is done; ratings can still be changed until the close."""
    person = _active_rater(connection, token, now)
    tasks = reads.tasks(connection, person.evaluation_id, person.id)
    n_left = sum(task.state == "empty" for task in tasks)
    if n_left:
        raise RefusedError(f"{plural(n_left, 'item')} not rated yet.")
    _move(connection, person, state="done", done_at=t.stamp(now))


def keep_ties(connection: sa.Connection, now: datetime, token: str) -> None:
    """Note that a reviewer was asked about equal scores, and keeps them."""
    _move(connection, _active_rater(connection, token, now), ties_kept=1)


def ask_job(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    kind: str,
    options: Json,
) -> int:
    """Write down that a check or a decision is wanted; return its number."""
    lock_for(connection, evaluation_id, "check" if kind == "check" else "decide", now)
    look(connection, now, evaluation_id)
    same_kind = (t.job.c.evaluation_id == evaluation_id) & (t.job.c.kind == kind)
    last = connection.execute(sa.select(sa.func.max(t.job.c.number)).where(same_kind))
    number = (last.scalar() or 0) + 1
    connection.execute(
        t.job.insert(),
        {
            "evaluation_id": evaluation_id,
            "kind": kind,
            "number": number,
            "state": "waiting",
            "options": json.dumps(options),
            "asked_at": t.stamp(now),
        },
    )
    return number


def end_job(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    kind: str,
    number: int,
    result: Mapping[str, Any],
) -> None:
    """Write down what a job found, and log a decision."""
    row = lock_evaluation(connection, evaluation_id)
    if row.state == "purged":
        return
    failed = result.get("error")
    names = ("record", "report", "error")
    connection.execute(
        t.job.update()
        .where(
            t.job.c.evaluation_id == evaluation_id,
            t.job.c.kind == kind,
            t.job.c.number == number,
            t.job.c.state == "waiting",
        )
        .values(
            state="failed" if failed else "done",
            done_at=t.stamp(now),
            **{name: result.get(name) for name in names},
        )
    )
    if kind == "check" or failed:
        return
    statement: dict[str, Json] = {"number": number, **json.loads(result["says"])}
    log(connection, evaluation_id, "decided", now, says=statement)
    if row.state == "closed":
        _set(connection, evaluation_id, state="decided")


def publish(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    files: Mapping[str, bytes],
    head: str,
) -> None:
    """Publish files; the log holds their hashes.

    Raises:
        RefusedError: If something happened since the files were made.
    """
    row = lock_for(connection, evaluation_id, "publish", now)
    if row.head_hash != head:
        raise RefusedError("Something changed meanwhile. Publish it again.")
    _put_out(connection, now, evaluation_id, files)
    until = row.retain_until or t.stamp(now + RETAIN)
    _set(connection, evaluation_id, state="published", retain_until=until)


def _put_out(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    files: Mapping[str, bytes],
) -> None:
    """Let everybody have these files and no others."""
    in_evaluation = t.published.c.evaluation_id == evaluation_id
    connection.execute(t.published.delete().where(in_evaluation))
    connection.execute(
        t.published.insert(),
        [
            {
                "evaluation_id": evaluation_id,
                "name": name,
                "body": body,
                "at": t.stamp(now),
            }
            for name, body in files.items()
        ],
    )
    hashes: dict[str, Json] = {
        name: hashlib.sha256(body).hexdigest() for name, body in files.items()
    }
    log(connection, evaluation_id, "published", now, says={"files": hashes})


def withdraw(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Take back what was published; the log keeps that it was."""
    lock_for(connection, evaluation_id, "withdraw", now)
    connection.execute(
        t.published.delete().where(t.published.c.evaluation_id == evaluation_id)
    )
    _set(connection, evaluation_id, state="decided")
    log(connection, evaluation_id, "withdrawn", now)


def purge(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Delete names, notes, links and single ratings, also those that are public."""
    row = lock_for(connection, evaluation_id, "purge", now)
    counts: dict[str, Json] = {
        "ratings": sum(
            person.rated for person in reads.progress(connection, evaluation_id)
        )
    }
    _take_ratings_back(connection, now, evaluation_id)
    tables = (t.link, t.payload, t.submission, t.task, t.job, t.private)
    for table in tables:
        connection.execute(table.delete().where(table.c.evaluation_id == evaluation_id))
    connection.execute(
        t.reviewer.update()
        .where(t.reviewer.c.evaluation_id == evaluation_id)
        .values(name="", email="")
    )
    if row.state != "published":
        connection.execute(
            t.secret.delete().where(t.secret.c.evaluation_id == evaluation_id)
        )
    _set(connection, evaluation_id, state="purged", form="{}")
    log(connection, evaluation_id, "purged", now, says=counts)


def _take_ratings_back(
    connection: sa.Connection, now: datetime, evaluation_id: int
) -> None:
    """Publish again without single ratings, if they were published."""
    files = reads.published_files(connection, evaluation_id)
    kept = without_ratings(files)
    if len(kept) < len(files):
        _put_out(connection, now, evaluation_id, kept)


def purge_due(connection: sa.Connection, now: datetime) -> list[str]:
    """Purge what is kept longer than was said; return the titles."""
    due = connection.execute(
        sa.select(t.evaluation).where(
            t.evaluation.c.state != "purged",
            t.evaluation.c.retain_until.is_not(None),
            t.evaluation.c.retain_until <= t.stamp(now),
        )
    ).all()
    for row in due:
        purge(connection, now, row.id)
    return [row.title for row in due]


def first_organiser(connection: sa.Connection, now: datetime, name: str) -> int:
    """Return the organiser of this server, made at the first start."""
    organiser_id = connection.execute(sa.select(sa.func.min(t.organiser.c.id))).scalar()
    return organiser_id or _new_organiser(connection, now, name)


def _new_organiser(connection: sa.Connection, now: datetime, name: str) -> int:
    return int(
        connection.execute(
            t.organiser.insert().returning(t.organiser.c.id),
            {"name": name, "created_at": t.stamp(now)},
        ).scalar_one()
    )


def make_signin(
    connection: sa.Connection,
    now: datetime,
    organiser: int | None,
    *,
    evaluation_id: int | None = None,
    name: str = "",
) -> str:
    """Make a link by which an organiser signs in once; return its token."""
    if evaluation_id is not None:
        lock_for(connection, evaluation_id, "invite", now)
    token = guard.fresh_token()
    connection.execute(
        t.signin.insert(),
        {
            "token_sha256": guard.digest(token),
            "organiser_id": organiser,
            "evaluation_id": evaluation_id,
            "name": name[: guard.LONGEST_NAME],
            "expires_at": t.stamp(
                now + (SIGN_IN if evaluation_id is None else INVITED)
            ),
        },
    )
    return token


def sign_in(connection: sa.Connection, now: datetime, token: str) -> str:
    """Use a sign-in link, once; return the token of the session.

    Raises:
        RefusedError: If the link is unknown, used or too old.
    """
    digest = guard.digest(token)
    row = connection.execute(
        sa.select(t.signin).where(t.signin.c.token_sha256 == digest).with_for_update()
    ).one_or_none()
    if row is None or row.used_at is not None or row.expires_at < t.stamp(now):
        raise RefusedError(
            "This sign-in link is unknown, was used, or is too old. Start evenhand "
            "serve again, or ask who invited you for a new one.",
            403,
        )
    used = t.signin.update().where(t.signin.c.token_sha256 == digest)
    connection.execute(used.values(used_at=t.stamp(now)))
    organiser_id = row.organiser_id
    if organiser_id is None:
        organiser_id = _new_organiser(connection, now, row.name or "Organiser")
    if row.evaluation_id is not None:
        membership = {"evaluation_id": row.evaluation_id, "organiser_id": organiser_id}
        connection.execute(t.member.insert(), membership)
    session = guard.fresh_token()
    connection.execute(
        t.session.insert(),
        {
            "token_sha256": guard.digest(session),
            "organiser_id": organiser_id,
            "created_at": t.stamp(now),
            "expires_at": t.stamp(now + SESSION),
        },
    )
    return session


def sign_out(connection: sa.Connection, _: datetime, token: str) -> None:
    """End a session."""
    by_token = t.session.c.token_sha256 == guard.digest(token)
    connection.execute(t.session.delete().where(by_token))

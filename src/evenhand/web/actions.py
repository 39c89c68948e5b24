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
from evenhand.errors import counted
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
    from evenhand.web.plan import Plan

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

    plan: Plan
    codes: Mapping[str, str]
    lists: dict[str, Json]
    drawn: Assignment
    form: str


def prepare(plan: Plan, form: str, key: str | None) -> Prepared:
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
        conflicts=[(codes[who], what) for who, what in plan.conflicts],
        secret=draw_secret(key, has_conflicts=hidden),
        **plan.options(),
    )
    drawn = replace(drawn, conflicts_hidden=hidden)
    return Prepared(plan, codes, lists_record(plan, key), drawn, form)


def log(
    connection: sa.Connection,
    which: int,
    kind: str,
    now: datetime,
    *,
    says: Mapping[str, Json] | None = None,
    body: Mapping[str, Json] | None = None,
) -> Event:
    """Write an event to the log of an evaluation, whose row is locked."""
    head = reads.heads(connection, [reads.by_id(connection, which)])[which]
    salt = secrets.token_hex(32)
    event = append(
        head,
        kind,
        now,
        says=says,
        payload=None if body is None else payload_hash(salt, body),
    )
    at = {"evaluation_id": which, "n": event.n}
    connection.execute(
        t.event.insert(), [{**at, "line": event.line, "hash": event.hash}]
    )
    if body is not None:
        connection.execute(
            t.payload.insert(), [{**at, "salt": salt, "body": json.dumps(body)}]
        )
    _set(connection, which, head_n=event.n, head_hash=event.hash)
    return event


def _set(connection: sa.Connection, which: int, **values: object) -> None:
    connection.execute(
        t.evaluation.update().where(t.evaluation.c.id == which).values(**values)
    )


def _locked(connection: sa.Connection, which: int) -> Any:  # noqa: ANN401 - a row
    """Return the row of an evaluation, which nobody else changes before the commit."""
    mine = t.evaluation.c.id == which
    return connection.execute(
        sa.select(t.evaluation).where(mine).with_for_update()
    ).one()


def allowed(connection: sa.Connection, which: int, action: str, now: datetime) -> Any:  # noqa: ANN401 - a row
    """Lock an evaluation and return its row, if an action is allowed now.

    A deadline alone closes nothing for good, since one wrong clock would do so; what
    needs the close writes it down, at the deadline whenever that is done.

    Raises:
        RefusedError: If it is not; it says why.
    """
    row = _locked(connection, which)
    begun = sum(it.begun_at is not None for it in reads.people(connection, which))
    stage = stage_of(row, begun)
    why = refusal(action, stage, now)
    if why is not None:
        raise RefusedError(why)
    if stage.ends_at and is_due(stage, now) and "open" not in ACTIONS[action][0]:
        _close(connection, which, stage.ends_at)
        row = reads.by_id(connection, which)
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
    which = connection.execute(
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
    mine = {"evaluation_id": which}
    connection.execute(t.secret.insert(), [{**mine, "number": 1, "secret": secret}])
    connection.execute(t.private.insert(), [{**mine, "number": 1, "key": key}])
    connection.execute(t.member.insert(), [{**mine, "organiser_id": organiser}])
    log(connection, which, "created", now, says={"draw": 1, "seal": seal_of(secret)})
    return which, slug


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
        allowed(connection, row.id, "edit", now)
        title = form.get("title", "") or "Untitled"
        _set(connection, row.id, form=text, title=title)
    return int(row.id)


def seal(
    connection: sa.Connection, now: datetime, which: int, made: Prepared, key: bytes
) -> None:
    """Fix lists, design and rules, write down the draw, and make the links."""
    row = allowed(connection, which, "seal", now)
    if row.form != made.form:
        raise RefusedError("The draft was changed meanwhile. Seal it again.")
    check_near(made.plan.closes_at, now)
    record = assignment_record(made.drawn)
    secret = reads.secret(connection, which)
    mine = {"evaluation_id": which}
    connection.execute(
        t.draw.insert(),
        [
            {
                **mine,
                "number": row.draw,
                "part": 1,
                "seal": seal_of(secret),
                "lists": text_of(made.lists),
                "record": text_of(record),
                "drawn_at": t.stamp(now),
            }
        ],
    )
    connection.execute(
        t.private.update()
        .where(t.private.c.evaluation_id == which, t.private.c.number == row.draw)
        .values(conflicts=json.dumps(made.drawn.conflicts))
    )
    _write_people(connection, which, made, secret)
    _write_tasks(connection, which, made.drawn)
    people = reads.people(connection, which)
    for person in people:
        if person.role == "regular":
            make_link(connection, now, row, person.id, key)
    plan = made.plan
    _set(
        connection,
        which,
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
        "lists_sha256": made.lists["sha256"],
        "record_sha256": record["sha256"],
    }
    log(connection, which, "sealed", now, says=says)
    if plan.at_once:
        open_now(connection, now, which)


def _write_people(
    connection: sa.Connection, which: int, made: Prepared, secret: str
) -> None:
    plan, codes = made.plan, made.codes
    mine = {"evaluation_id": which}
    connection.execute(
        t.item.insert(),
        [
            {**mine, "id": n, "label": it.label, "title": it.title, "url": it.url}
            for n, it in enumerate(plan.items, start=1)
        ],
    )
    order = reserve_order([codes[person.name] for person in plan.reserves], secret)
    turns = {str(code): turn for turn, code in enumerate(order, start=1)}
    connection.execute(
        t.reviewer.insert(),
        [
            {
                **mine,
                "id": n,
                "label": codes[it.name],
                "name": it.name,
                "email": it.email,
                "role": "reserve" if codes[it.name] in turns else "regular",
                "turn": turns.get(codes[it.name]),
                "state": "invited",
            }
            for n, it in enumerate((*plan.people, *plan.reserves), start=1)
        ],
    )


def _write_tasks(connection: sa.Connection, which: int, drawn: Assignment) -> None:
    people = {it.label: it.id for it in reads.people(connection, which)}
    items = {it.label: it.id for it in reads.items(connection, which)}
    rows: list[dict[str, object]] = []
    for who, own in drawn.bundles().items():
        # In which order a reviewer sees the items does not matter to the draw.
        secrets.SystemRandom().shuffle(own)
        for place, label in enumerate(own, start=1):
            rows.append(
                {
                    "evaluation_id": which,
                    "id": len(rows) + 1,
                    "reviewer_id": people[str(who)],
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
    which = row.id
    mine = (t.link.c.evaluation_id == which) & (t.link.c.reviewer_id == reviewer)
    last = connection.execute(sa.select(sa.func.max(t.link.c.serial)).where(mine))
    serial = (last.scalar() or 0) + 1
    token = guard.base32(link_token(key, row.slug, reviewer, serial, row.draw))
    connection.execute(
        t.link.insert(),
        {
            "token_sha256": guard.digest(token),
            "evaluation_id": which,
            "reviewer_id": reviewer,
            "serial": serial,
            "made_at": t.stamp(now),
        },
    )


def revoke_links(
    connection: sa.Connection, now: datetime, which: int, reviewer: int
) -> None:
    """Withdraw all links of a reviewer."""
    connection.execute(
        t.link.update()
        .where(
            t.link.c.evaluation_id == which,
            t.link.c.reviewer_id == reviewer,
            t.link.c.revoked_at.is_(None),
        )
        .values(revoked_at=t.stamp(now))
    )


def new_link(
    connection: sa.Connection, now: datetime, which: int, reviewer: int, key: bytes
) -> None:
    """Withdraw a reviewer's links and make a new one; who was absent may come."""
    row = allowed(connection, which, "link", now)
    person = _unseen(connection, which, reviewer)
    revoke_links(connection, now, which, reviewer)
    make_link(connection, now, row, reviewer, key)
    _move(connection, person, state="invited")
    log(connection, which, "new link", now)


def unseal(connection: sa.Connection, now: datetime, which: int) -> None:
    """Go back to a draft with a new secret; the draw that was made stays listed."""
    row = allowed(connection, which, "unseal", now)
    for table in (t.link, t.task, t.reviewer, t.item):
        connection.execute(table.delete().where(table.c.evaluation_id == which))
    connection.execute(
        t.draw.update()
        .where(t.draw.c.evaluation_id == which, t.draw.c.dropped_at.is_(None))
        .values(dropped_at=t.stamp(now))
    )
    key, number = fresh_secret(), row.draw + 1
    secret = secret_of(key)
    mine = {"evaluation_id": which, "number": number}
    connection.execute(t.secret.insert(), [{**mine, "secret": secret}])
    connection.execute(t.private.insert(), [{**mine, "key": key}])
    _set(connection, which, state="draft", draw=number, paused=0)
    says: dict[str, Json] = {"draw": number, "seal": seal_of(secret)}
    log(connection, which, "unsealed", now, says=says)


def open_now(connection: sa.Connection, now: datetime, which: int) -> None:
    """Let reviewers begin."""
    allowed(connection, which, "open", now)
    _set(connection, which, state="open")
    log(connection, which, "opened", now)


def pause(connection: sa.Connection, now: datetime, which: int, action: str) -> None:
    """Pause or resume."""
    allowed(connection, which, action, now)
    _set(connection, which, paused=int(action == "pause"))
    log(connection, which, f"{action}d", now)


def extend(
    connection: sa.Connection, now: datetime, which: int, closes_at: datetime | None
) -> None:
    """Move the deadline."""
    allowed(connection, which, "extend", now)
    if closes_at is not None and closes_at <= now:
        raise RefusedError("The new deadline must be in the future.", 422)
    check_near(closes_at, now)
    at = None if closes_at is None else t.stamp(closes_at)
    _set(connection, which, closes_at=at)
    log(connection, which, "extended", now, says={"closes_at": at})


def close(connection: sa.Connection, now: datetime, which: int) -> None:
    """Take no more ratings."""
    allowed(connection, which, "close", now)
    _close(connection, which, now)


def _close(connection: sa.Connection, which: int, now: datetime) -> None:
    rated = reads.progress(connection, which)
    says: dict[str, Json] = {
        "ratings": sum(it.rated for it in rated),
        "begun": sum(it.begun_at is not None for it in rated),
        "never_began": sum(it.begun_at is None and it.given > 0 for it in rated),
    }
    event = log(connection, which, "closed", now, says=says)
    _set(
        connection,
        which,
        state="closed",
        paused=0,
        closed_head=event.hash,
        closed_at=t.stamp(now),
    )


def put_value(connection: sa.Connection, now: datetime, which: int, text: str) -> None:
    """Put in the public value that was named at sealing, once, before any look."""
    allowed(connection, which, "value", now)
    name = reads.lists(connection, which).get("public_value")
    if name is None or public_value_in(reads.events(connection, which)):
        raise RefusedError("There is no public value to be put in.")
    value = "".join(text.split()).lower()
    if not is_public_value(value):
        rule = "digits, letters from a to z and points, 128 at most"
        raise RefusedError(f"The value must have {rule}.", 422)
    log(connection, which, "valued", now, says={"value": value})


def look(connection: sa.Connection, now: datetime, which: int) -> None:
    """Note that scores are seen from now on; who never began is absent."""
    row = allowed(connection, which, "look", now)
    if row.looked_at is not None:
        return
    name = reads.lists(connection, which).get("public_value")
    if name is not None and not public_value_in(reads.events(connection, which)):
        raise RefusedError(f"Put in the public value first: {name}.")
    rows = [it for it in reads.progress(connection, which) if it.given]
    left = [it for it in rows if it.begun_at is None]
    if 0 < len(left) < len(rows):
        _amend(connection, now, which, "absent", left)
    log(connection, which, "looked", now)
    _set(connection, which, looked_at=t.stamp(now))


def _person(connection: sa.Connection, which: int, reviewer: int) -> Any:  # noqa: ANN401 - a row
    return connection.execute(
        sa.select(t.reviewer).where(
            t.reviewer.c.evaluation_id == which, t.reviewer.c.id == reviewer
        )
    ).one()


def _unseen(connection: sa.Connection, which: int, reviewer: int) -> Any:  # noqa: ANN401 - a row
    """Return a reviewer who has items and never saw them.

    Raises:
        RefusedError: If there is no such reviewer.
    """
    people = {it.id: it for it in reads.progress(connection, which)}
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
    which: int,
    kind: str,
    left: Sequence[Any],
    stands_in: Any = None,  # noqa: ANN401 - a row
) -> None:
    """Draw an amendment for those who never began, and write it down."""
    drawn = reads.assignment(connection, which)
    secret = reads.draw_secret(connection, which)
    labels = [it.label for it in left]
    new = None if stands_in is None else stands_in.label
    after = repaired(drawn, kind, labels, new, secret=secret)
    record = assignment_record(after)
    row = reads.last_draw(connection, which)
    connection.execute(
        t.draw.insert(),
        {
            "evaluation_id": which,
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
            t.reviewer.c.evaluation_id == which,
            t.reviewer.c.id.in_([it.id for it in left]),
        )
        .values(state="absent" if stands_in is None else "replaced")
    )
    says: dict[str, Json] = {
        "part": row.part + 1,
        "reviewers": len(labels),
        "record_sha256": record["sha256"],
    }
    key = reads.key(connection, which)
    if kind == "substitute" and key is not None and new is not None:
        # Nobody knew of them at sealing, so that the lists do not have them.
        says["people"] = dict(people_hashes(key, [(new, stands_in.name, [])]))
    log(connection, which, kind, now, says=says, body={"reviewers": labels})


def repair(
    connection: sa.Connection,
    now: datetime,
    which: int,
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
    row = allowed(connection, which, "repair", now)
    person = _unseen(connection, which, reviewer)
    if kind == "absent":
        # The draw is amended at the first look: until then somebody may step in.
        _move(connection, person, state="absent")
        revoke_links(connection, now, which, reviewer)
        return
    new = _stand_in(connection, which, kind, name, email)
    _amend(connection, now, which, kind, [person], new)
    mine = t.task.c.evaluation_id == which
    connection.execute(
        t.task.update()
        .where(mine, t.task.c.reviewer_id == reviewer)
        .values(reviewer_id=new.id)
    )
    _move(connection, new, stands_in_for=reviewer)
    revoke_links(connection, now, which, reviewer)
    make_link(connection, now, row, new.id, key)


def _stand_in(
    connection: sa.Connection, which: int, kind: str, name: str, email: str
) -> Any:  # noqa: ANN401 - a row
    people = reads.people(connection, which)
    if kind == "reserve":
        free = [it for it in people if it.role == "reserve" and not it.stands_in_for]
        if not free:
            raise RefusedError("There is no reserve left.")
        return min(free, key=lambda it: it.turn)
    name = " ".join(name.split())
    if not 1 <= len(name) <= guard.LONGEST_NAME:
        raise RefusedError("Give the name of the substitute.", 422)
    if any(plain_name(it.name) == plain_name(name) for it in people):
        raise RefusedError(f"{name} is on the list already.", 422)
    number = max(it.id for it in people) + 1
    width = max(2, len(str(number)))
    connection.execute(
        t.reviewer.insert(),
        {
            "evaluation_id": which,
            "id": number,
            "label": f"R{number:0{width}}",
            "name": name,
            "email": email[: guard.LONGEST_NAME],
            "role": "substitute",
            "state": "invited",
        },
    )
    return _person(connection, which, number)


def _rater(connection: sa.Connection, token: str, now: datetime) -> Any:  # noqa: ANN401 - a row
    found = reads.rater(connection, token)
    if found is None:
        raise RefusedError("There is no such link.", NOT_FOUND)
    if found.revoked_at is not None:
        raise RefusedError("This link was withdrawn. Ask for a new one.", GONE)
    stage = stage_of(_locked(connection, found.evaluation_id))
    if state_at(stage, now) != "open":
        raise RefusedError("This evaluation is not open.", 423)
    if stage.paused:
        raise RefusedError("The organiser paused this evaluation. Try later.", 423)
    return _person(connection, found.evaluation_id, found.reviewer_id)


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


def _begun(connection: sa.Connection, token: str, now: datetime) -> Any:  # noqa: ANN401 - a row
    person = _rater(connection, token, now)
    if person.begun_at is None:
        raise RefusedError("Press Begin first.")
    return person


def finish(connection: sa.Connection, now: datetime, token: str) -> None:
    """Say that a reviewer is done; ratings can still be changed until the close."""
    person = _begun(connection, token, now)
    tasks = reads.tasks(connection, person.evaluation_id, person.id)
    left = sum(it.state == "empty" for it in tasks)
    if left:
        raise RefusedError(f"{counted(left, 'item')} not rated yet.")
    _move(connection, person, state="done", done_at=t.stamp(now))


def keep_ties(connection: sa.Connection, now: datetime, token: str) -> None:
    """Note that a reviewer was asked about equal scores, and keeps them."""
    _move(connection, _begun(connection, token, now), ties_kept=1)


def ask_job(
    connection: sa.Connection, now: datetime, which: int, kind: str, options: Json
) -> int:
    """Write down that a check or a decision is wanted; return its number."""
    allowed(connection, which, "check" if kind == "check" else "decide", now)
    look(connection, now, which)
    mine = (t.job.c.evaluation_id == which) & (t.job.c.kind == kind)
    last = connection.execute(sa.select(sa.func.max(t.job.c.number)).where(mine))
    number = (last.scalar() or 0) + 1
    connection.execute(
        t.job.insert(),
        {
            "evaluation_id": which,
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
    which: int,
    kind: str,
    number: int,
    result: Mapping[str, Any],
) -> None:
    """Write down what a job found, and log a decision."""
    row = _locked(connection, which)
    if row.state == "purged":
        return
    failed = result.get("error")
    names = ("record", "report", "error")
    connection.execute(
        t.job.update()
        .where(
            t.job.c.evaluation_id == which,
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
    told: dict[str, Json] = {"number": number, **json.loads(result["says"])}
    log(connection, which, "decided", now, says=told)
    if row.state == "closed":
        _set(connection, which, state="decided")


def publish(
    connection: sa.Connection,
    now: datetime,
    which: int,
    files: Mapping[str, bytes],
    head: str,
) -> None:
    """Publish files; the log holds their hashes.

    Raises:
        RefusedError: If something happened since the files were made.
    """
    row = allowed(connection, which, "publish", now)
    if row.head_hash != head:
        raise RefusedError("Something changed meanwhile. Publish it again.")
    _put_out(connection, now, which, files)
    until = row.retain_until or t.stamp(now + RETAIN)
    _set(connection, which, state="published", retain_until=until)


def _put_out(
    connection: sa.Connection, now: datetime, which: int, files: Mapping[str, bytes]
) -> None:
    """Let everybody have these files and no others."""
    mine = t.published.c.evaluation_id == which
    connection.execute(t.published.delete().where(mine))
    connection.execute(
        t.published.insert(),
        [
            {"evaluation_id": which, "name": name, "body": body, "at": t.stamp(now)}
            for name, body in files.items()
        ],
    )
    hashes: dict[str, Json] = {
        name: hashlib.sha256(body).hexdigest() for name, body in files.items()
    }
    log(connection, which, "published", now, says={"files": hashes})


def withdraw(connection: sa.Connection, now: datetime, which: int) -> None:
    """Take back what was published; the log keeps that it was."""
    allowed(connection, which, "withdraw", now)
    connection.execute(t.published.delete().where(t.published.c.evaluation_id == which))
    _set(connection, which, state="decided")
    log(connection, which, "withdrawn", now)


def purge(connection: sa.Connection, now: datetime, which: int) -> None:
    """Delete names, notes, links and single ratings, also those that are public."""
    row = allowed(connection, which, "purge", now)
    counts: dict[str, Json] = {
        "ratings": sum(it.rated for it in reads.progress(connection, which))
    }
    _take_ratings_back(connection, now, which)
    tables = (t.link, t.payload, t.submission, t.task, t.job, t.private)
    for table in tables:
        connection.execute(table.delete().where(table.c.evaluation_id == which))
    connection.execute(
        t.reviewer.update()
        .where(t.reviewer.c.evaluation_id == which)
        .values(name="", email="")
    )
    if row.state != "published":
        connection.execute(t.secret.delete().where(t.secret.c.evaluation_id == which))
    _set(connection, which, state="purged", form="{}")
    log(connection, which, "purged", now, says=counts)


def _take_ratings_back(connection: sa.Connection, now: datetime, which: int) -> None:
    """Publish again without single ratings, if they were published."""
    files = reads.published(connection, which)
    kept = without_ratings(files)
    if len(kept) < len(files):
        _put_out(connection, now, which, kept)


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
    found = connection.execute(sa.select(sa.func.min(t.organiser.c.id))).scalar()
    return found or _new_organiser(connection, now, name)


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
    which: int | None = None,
    name: str = "",
) -> str:
    """Make a link by which an organiser signs in once; return its token."""
    if which is not None:
        allowed(connection, which, "invite", now)
    token = guard.fresh_token()
    connection.execute(
        t.signin.insert(),
        {
            "token_sha256": guard.digest(token),
            "organiser_id": organiser,
            "evaluation_id": which,
            "name": name[: guard.LONGEST_NAME],
            "expires_at": t.stamp(now + (SIGN_IN if which is None else INVITED)),
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
    who = row.organiser_id
    if who is None:
        who = _new_organiser(connection, now, row.name or "Organiser")
    if row.evaluation_id is not None:
        mine = {"evaluation_id": row.evaluation_id, "organiser_id": who}
        connection.execute(t.member.insert(), mine)
    session = guard.fresh_token()
    connection.execute(
        t.session.insert(),
        {
            "token_sha256": guard.digest(session),
            "organiser_id": who,
            "created_at": t.stamp(now),
            "expires_at": t.stamp(now + SESSION),
        },
    )
    return session


def sign_out(connection: sa.Connection, _: datetime, token: str) -> None:
    """End a session."""
    mine = t.session.c.token_sha256 == guard.digest(token)
    connection.execute(t.session.delete().where(mine))

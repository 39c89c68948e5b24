"""What organisers and reviewers change, each in one transaction with its event.

Every function takes the writer's connection and the time. What is not allowed is
refused in words, and nothing is changed then.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass, replace
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
from evenhand.web.absence import repair as amend_draw
from evenhand.web.clock import check_near
from evenhand.web.plan import draw_codes, lists_record, require_complete
from evenhand.web.reads import DrawRow
from evenhand.web.states import ACTIONS, is_due, refusal, state_at
from evenhand.web.store import link_token, recovery_code
from evenhand.web.writer import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.claims import Json
    from evenhand.designs.assignment import Assignment
    from evenhand.web.plan import EvaluationPlan
    from evenhand.web.reads import Evaluation, LinkedReviewer, Progress, ReviewerRow

NOT_FOUND, GONE = 404, 401
RETAIN = timedelta(days=180)
SESSION, SIGN_IN, INVITED = timedelta(days=7), timedelta(minutes=15), timedelta(days=7)


@dataclass(frozen=True, slots=True)
class LockedEvaluation:
    """An evaluation that nobody else changes before the commit.

    Attributes:
        connection: The writer's connection.
        now: The time.
        row: Its row, as it was when it was locked.
    """

    connection: sa.Connection
    now: datetime
    row: Evaluation

    @property
    def id(self) -> int:
        """Its id."""
        return self.row.id

    def set(self, **values: object) -> None:
        """Change its own row."""
        by_id = t.evaluation.c.id == self.id
        self.connection.execute(t.evaluation.update().where(by_id).values(**values))

    def insert(self, table: sa.Table, *rows: Mapping[str, object]) -> None:
        """Write rows below it."""
        key = {"evaluation_id": self.id}
        self.connection.execute(table.insert(), [{**key, **row} for row in rows])

    def update(
        self, table: sa.Table, *only: sa.ColumnElement[bool], **values: object
    ) -> None:
        """Change rows below it that meet some conditions."""
        own = table.c.evaluation_id == self.id
        self.connection.execute(table.update().where(own, *only).values(**values))

    def delete(self, *tables: sa.Table) -> None:
        """Delete all rows below it."""
        for table in tables:
            own = table.c.evaluation_id == self.id
            self.connection.execute(table.delete().where(own))

    def log(
        self,
        kind: str,
        says: Mapping[str, Json] | None = None,
        body: Mapping[str, Json] | None = None,
    ) -> Event:
        """Write an event to its log, with what is private about it."""
        row = reads.by_id(self.connection, self.id)
        head = reads.heads(self.connection, [row])[self.id]
        salt = secrets.token_hex(32)
        payload = None if body is None else payload_hash(salt, body)
        event = append(head, kind, self.now, says=says, payload=payload)
        self.insert(t.event, {"n": event.n, "line": event.line, "hash": event.hash})
        if body is not None:
            text = json.dumps(body)
            self.insert(t.payload, {"n": event.n, "salt": salt, "body": text})
        self.set(head_n=event.n, head_hash=event.hash)
        return event


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


def prepare(plan: EvaluationPlan, form: str, key: str) -> Prepared:
    """Draw who rates what; this may take a while, so it is done before the writing.

    Raises:
        EvenhandError: If the plan is not complete, or there is no such assignment.
    """
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


def lock(
    connection: sa.Connection, now: datetime, evaluation_id: int
) -> LockedEvaluation:
    """Lock an evaluation until the commit."""
    row = reads.by_id(connection, evaluation_id, lock=True)
    return LockedEvaluation(connection, now, row)


def lock_for(
    connection: sa.Connection, now: datetime, evaluation_id: int, action: str
) -> LockedEvaluation:
    """Lock an evaluation, if an action is allowed now.

    A deadline alone closes nothing for good, since one wrong clock would do so; what
    needs the close writes it down, at the deadline whenever that is done.

    Raises:
        RefusedError: If it is not; it says why.
    """
    evaluation = lock(connection, now, evaluation_id)
    people = reads.people(connection, evaluation_id)
    stage = evaluation.row.stage(sum(person.begun_at is not None for person in people))
    why = refusal(action, stage, now)
    if why is not None:
        raise RefusedError(why)
    if stage.ends_at and is_due(stage, now) and "open" not in ACTIONS[action][0]:
        _close(replace(evaluation, now=stage.ends_at))
        evaluation = lock(connection, now, evaluation_id)
    return evaluation


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
    seal, slug = seal_of(secret_of(key)), slug or guard.fresh_slug()
    values = {"slug": slug, "state": "draft", "form": json.dumps(dict(form))}
    values |= {"title": form.get("title", "") or "Untitled", "created_at": t.stamp(now)}
    heads = {"first_seal": seal, "head_n": 0, "head_hash": seal}
    evaluation_id = connection.execute(
        t.evaluation.insert().returning(t.evaluation.c.id), {**values, **heads}
    ).scalar_one()
    evaluation = lock(connection, now, evaluation_id)
    evaluation.insert(t.member, {"organiser_id": organiser})
    _write_secret(evaluation, "created", 1, key)
    return evaluation_id, slug


def _write_secret(
    evaluation: LockedEvaluation, event: str, number: int, key: str
) -> None:
    """Keep the secret of a new draw, and log its seal."""
    secret = secret_of(key)
    evaluation.insert(t.secret, {"number": number, "secret": secret})
    evaluation.insert(t.private, {"number": number, "key": key})
    evaluation.log(event, {"draw": number, "seal": seal_of(secret)})


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
        title = form.get("title", "") or "Untitled"
        lock_for(connection, now, row.id, "edit").set(form=text, title=title)
    return row.id


def seal(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    prepared: Prepared,
    key: bytes,
) -> None:
    """Fix lists, design and rules, write down the draw, and make the links."""
    evaluation = lock_for(connection, now, evaluation_id, "seal")
    plan, number = prepared.plan, evaluation.row.draw
    if evaluation.row.form != prepared.form:
        raise RefusedError("The draft was changed meanwhile. Seal it again.")
    check_near(plan.closes_at, now)
    record = assignment_record(prepared.drawn)
    secret = reads.secret(connection, evaluation_id)
    lists = text_of(prepared.lists)
    _write_draw(evaluation, DrawRow(number, 1, seal_of(secret), lists, text_of(record)))
    hidden = json.dumps(prepared.drawn.conflicts)
    evaluation.update(t.private, t.private.c.number == number, conflicts=hidden)
    _write_people(evaluation, prepared, secret)
    _write_tasks(evaluation, prepared.drawn)
    for person in reads.people(connection, evaluation_id):
        if person.role == "regular":
            make_link(evaluation, person.id, key)
    evaluation.set(
        state="sealed",
        title=plan.title,
        scale=json.dumps(plan.scale.to_dict()),
        closes_at=plan.closes_at and t.stamp(plan.closes_at),
        zone=plan.zone,
        grace=plan.grace,
    )
    says = {
        "draw": number,
        "seal": seal_of(secret),
        "lists_sha256": prepared.lists["sha256"],
        "record_sha256": record["sha256"],
    }
    evaluation.log("sealed", says)
    if plan.at_once:
        open_now(connection, now, evaluation_id)


def _write_draw(evaluation: LockedEvaluation, draw: DrawRow) -> None:
    evaluation.insert(t.draw, {**asdict(draw), "drawn_at": t.stamp(evaluation.now)})


def _write_people(
    evaluation: LockedEvaluation, prepared: Prepared, secret: str
) -> None:
    plan, codes = prepared.plan, prepared.codes
    items = ({"id": n, **asdict(item)} for n, item in enumerate(plan.items, start=1))
    evaluation.insert(t.item, *items)
    order = reserve_order([codes[person.name] for person in plan.reserves], secret)
    turns = {str(code): turn for turn, code in enumerate(order, start=1)}
    named = len(plan.people) - plan.places
    rows = [
        {
            "id": n,
            "label": codes[person.name],
            **asdict(person),
            "role": "reserve" if codes[person.name] in turns else "regular",
            "turn": turns.get(codes[person.name]),
            "state": "invited",
            "at_door": int(named < n <= len(plan.people)),
        }
        for n, person in enumerate((*plan.people, *plan.reserves), start=1)
    ]
    evaluation.insert(t.reviewer, *rows)


def _write_tasks(evaluation: LockedEvaluation, drawn: Assignment) -> None:
    connection = evaluation.connection
    people = {row.label: row.id for row in reads.people(connection, evaluation.id)}
    items = [item.label for item in reads.items(connection, evaluation.id)]
    numbers = {label: n for n, label in enumerate(items, start=1)}
    rows: list[dict[str, object]] = []
    for reviewer, own in drawn.bundles().items():
        # In which order a reviewer sees the items does not matter to the draw.
        secrets.SystemRandom().shuffle(own)
        for place, label in enumerate(own, start=1):
            task = {"id": len(rows) + 1, "item_id": numbers[str(label)], "place": place}
            rows.append({**task, "reviewer_id": people[str(reviewer)]})
    evaluation.insert(t.task, *rows)


def make_link(evaluation: LockedEvaluation, reviewer: int, key: bytes) -> None:
    """Make one more link for a reviewer, with its code; earlier ones go on working."""
    row = evaluation.row
    last = sa.select(sa.func.max(t.link.c.serial)).where(
        t.link.c.evaluation_id == row.id, t.link.c.reviewer_id == reviewer
    )
    serial = (evaluation.connection.execute(last).scalar() or 0) + 1
    token = guard.base32(link_token(key, row.slug, reviewer, serial, row.draw))
    code = recovery_code(key, row.slug, reviewer, serial, row.draw)
    digests = {serial: guard.digest(token), -serial: guard.code_digest(code)}
    link = {"reviewer_id": reviewer, "made_at": t.stamp(evaluation.now)}
    rows = [
        {**link, "serial": place, "token_sha256": digest}
        for place, digest in digests.items()
    ]
    evaluation.insert(t.link, *rows)


def revoke_links(evaluation: LockedEvaluation, reviewer: int) -> None:
    """Withdraw all links of a reviewer."""
    working = (t.link.c.reviewer_id == reviewer) & t.link.c.revoked_at.is_(None)
    evaluation.update(t.link, working, revoked_at=t.stamp(evaluation.now))


def _set_reviewer(
    evaluation: LockedEvaluation, *reviewers: int, **values: object
) -> None:
    evaluation.update(t.reviewer, t.reviewer.c.id.in_(reviewers), **values)


def new_link(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    reviewer: int,
    key: bytes,
) -> None:
    """Withdraw a reviewer's links and make a new one; who was absent may come."""
    evaluation = lock_for(connection, now, evaluation_id, "link")
    _unseen(evaluation, reviewer)
    revoke_links(evaluation, reviewer)
    make_link(evaluation, reviewer, key)
    # A place at the door is free again.
    _set_reviewer(evaluation, reviewer, state="invited", taken_by="", contact="")
    evaluation.log("new link")


def open_door(
    connection: sa.Connection, now: datetime, evaluation_id: int, key: bytes
) -> None:
    """Let whoever comes take a place, by one new link for everybody."""
    evaluation = lock_for(connection, now, evaluation_id, "link")
    if not any(row.at_door for row in reads.people(connection, evaluation_id)):
        raise RefusedError("No places for whoever comes were sealed.")
    serial = evaluation.row.door_serial + 1
    token = door_token(key, replace(evaluation.row, door_serial=serial))
    evaluation.set(door_serial=serial, door_sha256=guard.digest(token))


def close_door(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Let nobody else take a place."""
    lock_for(connection, now, evaluation_id, "link").set(door_sha256=None)


def door_token(key: bytes, row: Evaluation) -> str:
    """Return what leads everybody to the places of an evaluation."""
    return guard.base32(link_token(key, row.slug, 0, row.door_serial, row.draw))


def take_place(
    connection: sa.Connection, now: datetime, door: str, name: str, contact: str
) -> int:
    """Give somebody who came the next place of the sealed list; return its number.

    Raises:
        RefusedError: If there is none, or they have one.
    """
    row = reads.by_door(connection, door)
    if row is None:
        raise RefusedError("This door is closed. Ask the organiser.", NOT_FOUND)
    evaluation = lock(connection, now, row.id)
    if state_at(evaluation.row.stage(), now) != "open" or evaluation.row.paused:
        raise RefusedError("This evaluation is not open now.", 423)
    name, contact = (" ".join(text.split()) for text in (name, contact))
    if not all(0 < len(text) <= guard.LONGEST_NAME for text in (name, contact)):
        raise RefusedError("Give your name, and how to reach you.", 422)
    people = reads.people(connection, row.id)
    if any(plain_name(contact) == plain_name(person.contact) for person in people):
        raise RefusedError(
            "Somebody with this contact has a place. Open the link that you got, or "
            "find it on the first page by your recovery code."
        )
    free = [person for person in people if person.is_free_place]
    free = [person for person in free if person.state == "invited"]
    if not free:
        raise RefusedError("All places are taken. Ask the organiser.")
    _set_reviewer(evaluation, free[0].id, taken_by=name, contact=contact)
    return free[0].id


def blind_link(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    reviewer: int,
    key: bytes,
) -> None:
    """Give a reviewer who has begun another link, which shows no earlier rating.

    Raises:
        RefusedError: If they have not begun: then a new link has nothing to hide.
    """
    evaluation = lock_for(connection, now, evaluation_id, "link")
    rows = {row.id: row for row in reads.people(connection, evaluation_id)}
    if reviewer not in rows:
        raise RefusedError("There is no such reviewer.", NOT_FOUND)
    if rows[reviewer].begun_at is None:
        raise RefusedError(f"{rows[reviewer].name} has not begun: make a new link.")
    revoke_links(evaluation, reviewer)
    make_link(evaluation, reviewer, key)
    event = evaluation.log("blind link", body={"reviewer": rows[reviewer].label})
    _set_reviewer(evaluation, reviewer, blind_n=event.n)


def unseal(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Go back to a draft with a new secret; the draw that was made stays listed."""
    evaluation = lock_for(connection, now, evaluation_id, "unseal")
    evaluation.delete(t.link, t.task, t.reviewer, t.item)
    stands = t.draw.c.dropped_at.is_(None)
    evaluation.update(t.draw, stands, dropped_at=t.stamp(now))
    number = evaluation.row.draw + 1
    evaluation.set(state="draft", draw=number, paused=0, door_sha256=None)
    _write_secret(evaluation, "unsealed", number, fresh_secret())


def open_now(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Let reviewers begin."""
    evaluation = lock_for(connection, now, evaluation_id, "open")
    evaluation.set(state="open")
    evaluation.log("opened")


def pause(
    connection: sa.Connection, now: datetime, evaluation_id: int, action: str
) -> None:
    """Pause or resume."""
    evaluation = lock_for(connection, now, evaluation_id, action)
    evaluation.set(paused=int(action == "pause"))
    evaluation.log(f"{action}d")


def extend(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    closes_at: datetime | None,
) -> None:
    """Move the deadline."""
    evaluation = lock_for(connection, now, evaluation_id, "extend")
    if closes_at is not None and closes_at <= now:
        raise RefusedError("The new deadline must be in the future.", 422)
    check_near(closes_at, now)
    at = None if closes_at is None else t.stamp(closes_at)
    evaluation.set(closes_at=at)
    evaluation.log("extended", {"closes_at": at})


def close(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Take no more ratings; a second time changes nothing."""
    if lock(connection, now, evaluation_id).row.state != "closed":
        _close(lock_for(connection, now, evaluation_id, "close"))


def reopen(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Undo a close, soon after it and before anybody saw a score; the log keeps both.

    Raises:
        RefusedError: If the public value was entered: it would be known too early.
    """
    evaluation = lock_for(connection, now, evaluation_id, "reopen")
    if public_value_in(reads.events(connection, evaluation_id)):
        raise RefusedError("The public value was entered, so the close stands.")
    evaluation.set(state="open", closed_head=None, closed_at=None)
    evaluation.log("reopened")


def _close(evaluation: LockedEvaluation) -> None:
    people = reads.progress(evaluation.connection, evaluation.id)
    never_began = [person for person in people if person.begun_at is None]
    says: dict[str, Json] = {
        "ratings": sum(person.rated for person in people),
        "begun": len(people) - len(never_began),
        "never_began": sum(person.given > 0 for person in never_began),
    }
    head, at = evaluation.log("closed", says).hash, t.stamp(evaluation.now)
    evaluation.set(state="closed", paused=0, closed_head=head, closed_at=at)


def _value_is_due(evaluation: LockedEvaluation) -> str | None:
    """Return the name of the public value, if it was not put in yet."""
    name = reads.lists(evaluation.connection, evaluation.id).get("public_value")
    events = reads.events(evaluation.connection, evaluation.id)
    return None if public_value_in(events) else name


def put_value(
    connection: sa.Connection, now: datetime, evaluation_id: int, text: str
) -> None:
    """Put in the public value that was named at sealing, once, before any look."""
    evaluation = lock_for(connection, now, evaluation_id, "value")
    if _value_is_due(evaluation) is None:
        raise RefusedError("There is no public value to be put in.")
    value = "".join(text.split()).lower()
    if not is_public_value(value):
        rule = "digits, letters from a to z and points, 128 at most"
        raise RefusedError(f"The value must have {rule}.", 422)
    evaluation.log("valued", {"value": value})


def look(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Note that scores are seen from now on; who never began is absent."""
    evaluation = lock_for(connection, now, evaluation_id, "look")
    if evaluation.row.looked_at is not None:
        return
    name = _value_is_due(evaluation)
    if name is not None:
        raise RefusedError(f"Put in the public value first: {name}.")
    people = [row for row in reads.progress(connection, evaluation_id) if row.given]
    never_began = [person for person in people if person.begun_at is None]
    if 0 < len(never_began) < len(people):
        _amend(evaluation, "absent", never_began)
    evaluation.log("looked")
    evaluation.set(looked_at=t.stamp(now))


def _unseen(evaluation: LockedEvaluation, reviewer: int) -> Progress:
    """Return a reviewer who has items and never saw them.

    Raises:
        RefusedError: If there is no such reviewer.
    """
    rows = reads.progress(evaluation.connection, evaluation.id)
    person = {row.id: row for row in rows}.get(reviewer)
    if person is None:
        raise RefusedError("There is no such reviewer.", NOT_FOUND)
    if person.begun_at is not None:
        raise RefusedError(
            f"{person.name} has begun and seen the items. A new link would show you "
            "the ratings, and whoever saw an item may leave because of it."
        )
    if not person.given:
        raise RefusedError(f"{person.name} has no items.")
    return person


def _amend(
    evaluation: LockedEvaluation,
    kind: str,
    never_began: Sequence[Progress],
    stands_in: ReviewerRow | None = None,
) -> None:
    """Draw an amendment for those who never began, and write it down."""
    connection = evaluation.connection
    labels = [person.label for person in never_began]
    after = amend_draw(
        reads.assignment(connection, evaluation.id),
        kind,
        labels,
        None if stands_in is None else stands_in.label,
        secret=reads.draw_secret(connection, evaluation.id),
    )
    record = assignment_record(after)
    last = reads.draws(connection, evaluation.id)[-1]
    _write_draw(evaluation, replace(last, part=last.part + 1, record=text_of(record)))
    state = "absent" if stands_in is None else "replaced"
    _set_reviewer(evaluation, *(person.id for person in never_began), state=state)
    says: dict[str, Json] = {"part": last.part + 1, "reviewers": len(labels)}
    says["record_sha256"] = record["sha256"]
    if kind == "substitute" and stands_in is not None:
        # Nobody knew of them at sealing, so that the lists do not have them.
        person = (stands_in.label, stands_in.name, list[str]())
        says["people"] = dict(
            people_hashes(reads.key(connection, evaluation.id), [person])
        )
    evaluation.log(kind, says, {"reviewers": labels})


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
    evaluation = lock_for(connection, now, evaluation_id, "repair")
    person = _unseen(evaluation, reviewer)
    if kind == "absent":
        # The draw is amended at the first look: until then somebody may step in.
        _set_reviewer(evaluation, reviewer, state="absent")
        revoke_links(evaluation, reviewer)
        return
    new = _stand_in(evaluation, kind, name, email)
    _amend(evaluation, kind, [person], new)
    evaluation.update(t.task, t.task.c.reviewer_id == reviewer, reviewer_id=new.id)
    _set_reviewer(evaluation, new.id, stands_in_for=reviewer)
    revoke_links(evaluation, reviewer)
    make_link(evaluation, new.id, key)


def _stand_in(
    evaluation: LockedEvaluation, kind: str, name: str, email: str
) -> ReviewerRow:
    people = reads.people(evaluation.connection, evaluation.id)
    if kind == "reserve":
        reserves = reads.free_reserves(people)
        if not reserves:
            raise RefusedError("There is no reserve left.")
        return reserves[0]
    name = " ".join(name.split())
    if not 1 <= len(name) <= guard.LONGEST_NAME:
        raise RefusedError("Give the name of the substitute.", 422)
    if any(plain_name(person.name) == plain_name(name) for person in people):
        raise RefusedError(f"{name} is on the list already.", 422)
    number = people[-1].id + 1
    label, email = f"R{number:0{max(2, len(str(number)))}}", email[: guard.LONGEST_NAME]
    row = {"id": number, "label": label, "name": name, "email": email}
    evaluation.insert(t.reviewer, {**row, "role": "substitute", "state": "invited"})
    return reads.people(evaluation.connection, evaluation.id)[-1]


def _rater(
    connection: sa.Connection, now: datetime, token: str, *, active: bool = False
) -> tuple[LockedEvaluation, LinkedReviewer]:
    """Return who has a link, if ratings are taken now; if asked, one who has begun."""
    person = reads.rater(connection, token)
    if person is None:
        raise RefusedError("There is no such link.", NOT_FOUND)
    if person.revoked_at is not None:
        raise RefusedError("This link was withdrawn. Ask for a new one.", GONE)
    evaluation = lock(connection, now, person.evaluation_id)
    if state_at(evaluation.row.stage(), now) != "open":
        raise RefusedError("This evaluation is not open.", 423)
    if evaluation.row.paused:
        raise RefusedError("The organiser paused this evaluation. Try later.", 423)
    # It may have changed before the lock.
    person = reads.rater(connection, token) or person
    if active and person.begun_at is None:
        raise RefusedError("Press Begin first.")
    return evaluation, person


def begin(connection: sa.Connection, now: datetime, token: str) -> None:
    """Show a reviewer their items from now on; the log keeps that they saw them."""
    evaluation, person = _rater(connection, now, token)
    if person.state in ("begun", "done"):
        return
    if person.state != "invited":
        raise RefusedError("This place was given up.", GONE)
    evaluation.log("begun", body={"reviewer": person.label})
    at = t.stamp(now)
    _set_reviewer(evaluation, person.id, state="begun", begun_at=at, active_at=at)


def decline(connection: sa.Connection, now: datetime, token: str) -> None:
    """Take no part; possible only before a reviewer has begun."""
    evaluation, person = _rater(connection, now, token)
    if person.state == "absent":
        return
    if person.state != "invited":
        raise RefusedError(
            "You have begun already. Leave what you cannot rate, or say that you "
            "cannot rate it."
        )
    _set_reviewer(evaluation, person.id, state="absent")


def take_part(connection: sa.Connection, now: datetime, token: str) -> None:
    """Take part after all, until somebody took over."""
    evaluation, person = _rater(connection, now, token)
    if person.state != "absent":
        raise RefusedError("There is nothing to undo: you take part or were replaced.")
    _set_reviewer(evaluation, person.id, state="invited")


def finish(connection: sa.Connection, now: datetime, token: str) -> None:
    """Say that a reviewer is done; ratings can still be changed until the close."""
    evaluation, person = _rater(connection, now, token, active=True)
    tasks = reads.tasks(connection, evaluation.id, person.id)
    n_left = sum(task.state == "empty" for task in tasks)
    if n_left:
        raise RefusedError(f"{plural(n_left, 'item')} not rated yet.")
    _set_reviewer(evaluation, person.id, state="done", done_at=t.stamp(now))


def keep_ties(connection: sa.Connection, now: datetime, token: str) -> None:
    """Note that a reviewer was asked about equal scores, and keeps them."""
    evaluation, person = _rater(connection, now, token, active=True)
    _set_reviewer(evaluation, person.id, ties_kept=1)


def ask_job(
    connection: sa.Connection,
    now: datetime,
    evaluation_id: int,
    kind: str,
    options: Mapping[str, str],
) -> int:
    """Write down that a check or a decision is wanted; return its number."""
    action = "check" if kind == "check" else "decide"
    evaluation = lock_for(connection, now, evaluation_id, action)
    method = reads.lists(connection, evaluation_id)["method"]
    if options.get("method", method) != method:
        raise RefusedError(f"The method {method} was sealed. There is no other.", 422)
    look(connection, now, evaluation_id)
    jobs = reads.jobs(connection, evaluation_id, kind)
    if jobs and jobs[-1].state != "failed":
        # Asked for again, it would be the same: whoever clicks twice sees the first.
        return jobs[-1].number
    number = len(jobs) + 1
    job = {"kind": kind, "number": number, "options": json.dumps({"method": method})}
    evaluation.insert(t.job, {**job, "state": "waiting", "asked_at": t.stamp(now)})
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
    evaluation = lock(connection, now, evaluation_id)
    jobs = {job.number: job for job in reads.jobs(connection, evaluation_id, kind)}
    if number not in jobs or jobs[number].state != "waiting":
        return  # it was deleted, or another process was faster
    failed = result.get("error")
    evaluation.update(
        t.job,
        t.job.c.kind == kind,
        t.job.c.number == number,
        state="failed" if failed else "done",
        done_at=t.stamp(now),
        **{name: result.get(name) for name in ("record", "report", "error")},
    )
    if kind == "check" or failed:
        return
    evaluation.log("decided", {"number": number, **json.loads(result["says"])})
    if evaluation.row.state == "closed":
        evaluation.set(state="decided")


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
    evaluation = lock_for(connection, now, evaluation_id, "publish")
    if evaluation.row.head_hash != head:
        raise RefusedError("Something changed meanwhile. Publish it again.")
    _put_out(evaluation, files)
    until = evaluation.row.retain_until or t.stamp(now + RETAIN)
    evaluation.set(state="published", retain_until=until)


def _put_out(evaluation: LockedEvaluation, files: Mapping[str, bytes]) -> None:
    """Let everybody have these files and no others."""
    evaluation.delete(t.published)
    at = t.stamp(evaluation.now)
    rows = [{"name": name, "body": body, "at": at} for name, body in files.items()]
    evaluation.insert(t.published, *rows)
    hashes: dict[str, Json] = {
        name: hashlib.sha256(body).hexdigest() for name, body in files.items()
    }
    evaluation.log("published", {"files": hashes})


def withdraw(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Take back what was published; the log keeps that it was."""
    evaluation = lock_for(connection, now, evaluation_id, "withdraw")
    evaluation.delete(t.published)
    evaluation.set(state="decided")
    evaluation.log("withdrawn")


def purge(connection: sa.Connection, now: datetime, evaluation_id: int) -> None:
    """Delete names, notes, links and single ratings, also those that are public."""
    evaluation = lock_for(connection, now, evaluation_id, "purge")
    people = reads.progress(connection, evaluation_id)
    files = reads.published_files(connection, evaluation_id)
    kept = without_ratings(files)
    if len(kept) < len(files):
        _put_out(evaluation, kept)
    evaluation.delete(t.link, t.payload, t.submission, t.task, t.job, t.private)
    evaluation.update(t.reviewer, name="", email="", taken_by="", contact="")
    if evaluation.row.state != "published":
        evaluation.delete(t.secret)
    evaluation.set(state="purged", form="{}")
    evaluation.log("purged", {"ratings": sum(person.rated for person in people)})


def purge_due(connection: sa.Connection, now: datetime) -> list[str]:
    """Purge what is kept longer than was said; return the titles."""
    due = connection.execute(
        sa.select(t.evaluation.c.id, t.evaluation.c.title).where(
            t.evaluation.c.state != "purged",
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
    statement = t.organiser.insert().returning(t.organiser.c.id)
    row = {"name": name, "created_at": t.stamp(now)}
    return int(connection.execute(statement, row).scalar_one())


def organiser_by_name(connection: sa.Connection, now: datetime, name: str) -> int:
    """Return the organiser of a name, made if there is none.

    Raises:
        RefusedError: If several have it.
    """
    ids = [
        row.id
        for row in reads.organisers(connection)
        if name in (row.name, str(row.id))
    ]
    if len(ids) > 1:
        raise RefusedError(f"Several organisers are called {name}: give a number.")
    return ids[0] if ids else _new_organiser(connection, now, name)


def remove_organiser(connection: sa.Connection, _: datetime, organiser: int) -> None:
    """End all that an organiser of this server may do.

    Raises:
        RefusedError: If there is nobody else, here or for an evaluation of theirs.
    """
    if len(reads.organisers(connection)) == 1:
        raise RefusedError("There is no other organiser.")
    for row in reads.evaluations(connection, organiser):
        if row.state != "purged":
            _leave(connection, row, organiser)
    for table in (t.member, t.session, t.signin):
        connection.execute(table.delete().where(table.c.organiser_id == organiser))
    connection.execute(t.organiser.delete().where(t.organiser.c.id == organiser))


def remove_member(
    connection: sa.Connection, now: datetime, evaluation_id: int, organiser: int
) -> None:
    """Let somebody organise an evaluation no longer; invitations end too."""
    evaluation = lock_for(connection, now, evaluation_id, "invite")
    _leave(connection, evaluation.row, organiser)


def _leave(connection: sa.Connection, row: Evaluation, organiser: int) -> None:
    ids = [person.id for person in reads.organisers(connection, row.id)]
    if organiser not in ids:
        raise RefusedError("There is no such organiser.", NOT_FOUND)
    if len(ids) == 1:
        raise RefusedError(f"Nobody else organises {row.title}: invite somebody first.")
    member = t.member.c
    is_theirs = (member.evaluation_id == row.id) & (member.organiser_id == organiser)
    connection.execute(t.member.delete().where(is_theirs))
    # Whoever goes may have kept an invitation that nobody has used.
    connection.execute(t.signin.delete().where(t.signin.c.evaluation_id == row.id))


def make_signin(
    connection: sa.Connection,
    now: datetime,
    organiser: int | None,
    *,
    evaluation_id: int | None = None,
    name: str = "",
) -> str:
    """Make a link by which an organiser signs in once; return its token."""
    expires_at = now + SIGN_IN
    if evaluation_id is not None:
        lock_for(connection, now, evaluation_id, "invite")
        expires_at = now + INVITED
    token = guard.fresh_token()
    row = {
        "token_sha256": guard.digest(token),
        "organiser_id": organiser,
        "evaluation_id": evaluation_id,
        "name": name[: guard.LONGEST_NAME],
        "expires_at": t.stamp(expires_at),
    }
    connection.execute(t.signin.insert(), row)
    return token


def sign_in(connection: sa.Connection, now: datetime, token: str) -> str:
    """Use a sign-in link, once; return the token of the session.

    Raises:
        RefusedError: If the link is unknown, used or too old.
    """
    by_token = t.signin.c.token_sha256 == guard.digest(token)
    statement = sa.select(t.signin).where(by_token).with_for_update()
    row = connection.execute(statement).one_or_none()
    if row is None or row.used_at is not None or row.expires_at < t.stamp(now):
        raise RefusedError(
            "This sign-in link is unknown, was used, or is too old. Run evenhand serve "
            "organiser, or ask who invited you for a new one.",
            403,
        )
    connection.execute(t.signin.update().where(by_token).values(used_at=t.stamp(now)))
    organiser_id = row.organiser_id
    if organiser_id is None:
        organiser_id = _new_organiser(connection, now, row.name or "Organiser")
    if row.evaluation_id is not None:
        membership = {"evaluation_id": row.evaluation_id, "organiser_id": organiser_id}
        connection.execute(t.member.insert(), membership)
    session = guard.fresh_token()
    session_row = {
        "token_sha256": guard.digest(session),
        "organiser_id": organiser_id,
        "created_at": t.stamp(now),
        "expires_at": t.stamp(now + SESSION),
    }
    connection.execute(t.session.insert(), session_row)
    return session


def sign_out(connection: sa.Connection, _: datetime, token: str) -> None:
    """End a session."""
    by_token = t.session.c.token_sha256 == guard.digest(token)
    connection.execute(t.session.delete().where(by_token))

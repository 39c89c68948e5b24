"""The tables, the same for SQLite and PostgreSQL.

Every row below an evaluation has the evaluation in its key, and every foreign key
carries it, so that no row of one evaluation can point into another. Times are text in
UTC that sorts as time does; documents are JSON as text.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.event import listens_for

from evenhand.web.states import REVIEWER_STATES, STATES

NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}
metadata = MetaData(naming_convention=NAMES)
Number = BigInteger().with_variant(Integer, "sqlite")
Time = String(32)
Hash = String(64)


def stamp(at: datetime) -> str:
    """Write a time as the tables keep it.

    Examples:
        >>> stamp(datetime(2026, 11, 16, 12, 4, tzinfo=UTC))
        '2026-11-16T12:04:00.000000+00:00'
    """
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def moment(text: str | None) -> datetime | None:
    """Read a time of the tables.

    Examples:
        >>> moment("2026-11-16T12:04:00.000000+00:00").hour
        12
    """
    return None if text is None else datetime.fromisoformat(text)


def _one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _hash_length(column: str) -> CheckConstraint:
    return CheckConstraint(f"length({column}) = 64", name=column)


def _own() -> Column[int]:
    return Column("evaluation_id", Number, ForeignKey("evaluation.id"), nullable=False)


def _of(table: str, *columns: str) -> ForeignKeyConstraint:
    there = [f"{table}.evaluation_id", f"{table}.id"]
    return ForeignKeyConstraint(["evaluation_id", *columns], there)


schema = Table("schema", metadata, Column("number", Integer, primary_key=True))
"""One row, the number of these tables (`store.SCHEMA`): raise it with any change."""
organiser = Table(
    "organiser",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", Time, nullable=False),
    CheckConstraint("length(name) BETWEEN 1 AND 200", name="name"),
)
session = Table(
    "session",
    metadata,
    Column("token_sha256", Hash, primary_key=True),
    Column("organiser_id", Number, ForeignKey("organiser.id"), nullable=False),
    Column("created_at", Time, nullable=False),
    Column("expires_at", Time, nullable=False),
    _hash_length("token_sha256"),
)
evaluation = Table(
    "evaluation",
    metadata,
    Column("id", Number, primary_key=True),
    Column("slug", String(12), nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("paused", Integer, nullable=False, default=0),
    Column("form", Text, nullable=False),
    Column("scale", Text),
    Column("closes_at", Time),
    Column("zone", Text, nullable=False, default="UTC"),
    Column("grace", Integer, nullable=False, default=0),
    Column("draw", Integer, nullable=False, default=1),
    Column("first_seal", Hash, nullable=False),
    Column("head_n", Number, nullable=False),
    Column("head_hash", Hash, nullable=False),
    Column("closed_head", Hash),
    Column("closed_at", Time),
    Column("looked_at", Time),
    Column("retain_until", Time),
    Column("created_at", Time, nullable=False),
    Column("door_serial", Integer, nullable=False, default=0),
    Column("door_sha256", Hash, unique=True),
    _one_of("state", STATES),
    CheckConstraint("length(slug) = 12", name="slug"),
    CheckConstraint("paused IN (0, 1)", name="paused"),
    _hash_length("head_hash"),
)
secret = Table(
    "secret",
    metadata,
    _own(),
    Column("number", Integer, nullable=False),
    Column("secret", Hash, nullable=False),
    PrimaryKeyConstraint("evaluation_id", "number"),
    _hash_length("secret"),
)
private = Table(
    "private",
    metadata,
    _own(),
    Column("number", Integer, nullable=False),
    Column("key", Hash, nullable=False),
    Column("conflicts", Text, nullable=False, default="[]"),
    PrimaryKeyConstraint("evaluation_id", "number"),
    _hash_length("key"),
)
"""What is never published of a draw: its key, and code and item of each conflict."""
signin = Table(
    "signin",
    metadata,
    Column("token_sha256", Hash, primary_key=True),
    Column("organiser_id", Number, ForeignKey("organiser.id")),
    Column("evaluation_id", Number, ForeignKey("evaluation.id")),
    Column("name", Text, nullable=False, default=""),
    Column("expires_at", Time, nullable=False),
    Column("used_at", Time),
    _hash_length("token_sha256"),
)
member = Table(
    "member",
    metadata,
    _own(),
    Column("organiser_id", Number, ForeignKey("organiser.id"), nullable=False),
    PrimaryKeyConstraint("evaluation_id", "organiser_id"),
)
item = Table(
    "item",
    metadata,
    _own(),
    Column("id", Number, nullable=False),
    Column("label", Text, nullable=False),
    Column("title", Text, nullable=False, default=""),
    Column("url", Text, nullable=False, default=""),
    PrimaryKeyConstraint("evaluation_id", "id"),
    UniqueConstraint("evaluation_id", "label"),
    CheckConstraint(
        "url = '' OR url LIKE 'https://%' OR url LIKE 'http://%'", name="url"
    ),
)
reviewer = Table(
    "reviewer",
    metadata,
    _own(),
    Column("id", Number, nullable=False),
    Column("label", Text, nullable=False),
    Column("name", Text, nullable=False, default=""),
    Column("email", Text, nullable=False, default=""),
    Column("role", Text, nullable=False),
    Column("turn", Integer),
    Column("state", Text, nullable=False),
    Column("begun_at", Time),
    Column("done_at", Time),
    Column("active_at", Time),
    Column("stands_in_for", Number),
    Column("ties_kept", Integer, nullable=False, default=0),
    Column("blind_n", Number, nullable=False, default=0),
    Column("at_door", Integer, nullable=False, default=0),
    Column("taken_by", Text, nullable=False, default=""),
    Column("contact", Text, nullable=False, default=""),
    PrimaryKeyConstraint("evaluation_id", "id"),
    UniqueConstraint("evaluation_id", "label"),
    UniqueConstraint("evaluation_id", "role", "turn"),
    _of("reviewer", "stands_in_for"),
    _one_of("role", ("regular", "reserve", "substitute")),
    _one_of("state", REVIEWER_STATES),
    CheckConstraint(
        "state NOT IN ('absent', 'replaced', 'invited') OR begun_at IS NULL",
        name="begun",
    ),
)
link = Table(
    "link",
    metadata,
    Column("token_sha256", Hash, primary_key=True),
    _own(),
    Column("reviewer_id", Number, nullable=False),
    Column("serial", Integer, nullable=False),
    Column("made_at", Time, nullable=False),
    Column("revoked_at", Time),
    _of("reviewer", "reviewer_id"),
    UniqueConstraint("evaluation_id", "reviewer_id", "serial"),
    _hash_length("token_sha256"),
)
draw = Table(
    "draw",
    metadata,
    _own(),
    Column("number", Integer, nullable=False),
    Column("part", Integer, nullable=False),
    Column("seal", Hash, nullable=False),
    Column("lists", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("drawn_at", Time, nullable=False),
    Column("dropped_at", Time),
    PrimaryKeyConstraint("evaluation_id", "number", "part"),
)
task = Table(
    "task",
    metadata,
    _own(),
    Column("id", Number, nullable=False),
    Column("reviewer_id", Number, nullable=False),
    Column("item_id", Number, nullable=False),
    Column("place", Integer, nullable=False),
    Column("state", Text, nullable=False, default="empty"),
    Column("version", Integer, nullable=False, default=0),
    Column("score", Float),
    Column("note", Text, nullable=False, default=""),
    Column("n", Number, nullable=False, default=0),
    PrimaryKeyConstraint("evaluation_id", "id"),
    UniqueConstraint("evaluation_id", "reviewer_id", "item_id"),
    UniqueConstraint("evaluation_id", "reviewer_id", "place"),
    _of("reviewer", "reviewer_id"),
    _of("item", "item_id"),
    _one_of("state", ("empty", "rated", "recused")),
    CheckConstraint("(state = 'rated') = (score IS NOT NULL)", name="score"),
)
submission = Table(
    "submission",
    metadata,
    _own(),
    Column("key", String(32), nullable=False),
    Column("task_id", Number, nullable=False),
    Column("reviewer_id", Number, nullable=False),
    Column("place", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("score", Float),
    Column("note", Text, nullable=False, default=""),
    Column("body_sha256", Hash, nullable=False),
    Column("at", Time, nullable=False),
    Column("n", Number, nullable=False),
    Column("receipt", Hash, nullable=False),
    PrimaryKeyConstraint("evaluation_id", "key", "task_id"),
    UniqueConstraint("evaluation_id", "task_id", "version"),
    UniqueConstraint("evaluation_id", "n"),
    _of("task", "task_id"),
    _of("reviewer", "reviewer_id"),
    _one_of("kind", ("score", "recuse", "clear")),
    CheckConstraint("length(key) = 32", name="key"),
)
event = Table(
    "event",
    metadata,
    _own(),
    Column("n", Number, nullable=False),
    Column("line", Text, nullable=False),
    Column("hash", Hash, nullable=False),
    PrimaryKeyConstraint("evaluation_id", "n"),
)
payload = Table(
    "payload",
    metadata,
    _own(),
    Column("n", Number, nullable=False),
    Column("salt", Hash, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("evaluation_id", "n"),
    ForeignKeyConstraint(["evaluation_id", "n"], ["event.evaluation_id", "event.n"]),
)
job = Table(
    "job",
    metadata,
    _own(),
    Column("kind", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("record", Text),
    Column("report", Text),
    Column("summary", Text),
    Column("error", Text),
    Column("asked_at", Time, nullable=False),
    Column("done_at", Time),
    PrimaryKeyConstraint("evaluation_id", "kind", "number"),
    _one_of("kind", ("check", "decision")),
    _one_of("state", ("waiting", "done", "failed")),
)
published = Table(
    "published",
    metadata,
    _own(),
    Column("name", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("at", Time, nullable=False),
    PrimaryKeyConstraint("evaluation_id", "name"),
)
ONLY_GROWS = {
    "sqlite": """
CREATE TRIGGER event_no_{what} BEFORE {what} ON event
BEGIN SELECT RAISE(ABORT, 'the log only grows'); END""",
    "postgresql": """
CREATE FUNCTION event_no_{what}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the log only grows'; END $$;
CREATE TRIGGER event_no_{what} BEFORE {what} ON event
FOR EACH ROW EXECUTE FUNCTION event_no_{what}()""",
}


@listens_for(event, "after_create")
def _only_grows(_: object, connection: Connection, **_more: object) -> None:
    for what in ("update", "delete"):
        statement = ONLY_GROWS[connection.dialect.name].format(what=what)
        connection.exec_driver_sql(statement)

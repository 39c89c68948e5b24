"""The first tables; the log can only grow."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None
SQLITE = """CREATE TRIGGER event_no_{lower} BEFORE {what} ON event
BEGIN SELECT RAISE(ABORT, 'the log only grows'); END"""
POSTGRES = """CREATE FUNCTION event_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the log only grows'; END $$"""


def upgrade() -> None:
    """Make the tables."""
    # ruff: noqa: E501 - written by Alembic from the tables

    op.create_table(
        "evaluation",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("slug", sa.String(length=12), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("paused", sa.Integer(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("scale", sa.Text(), nullable=True),
        sa.Column("closes_at", sa.String(length=32), nullable=True),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("grace", sa.Integer(), nullable=False),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.Column("first_seal", sa.String(length=64), nullable=False),
        sa.Column(
            "head_n",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("head_hash", sa.String(length=64), nullable=False),
        sa.Column("closed_head", sa.String(length=64), nullable=True),
        sa.Column("closed_at", sa.String(length=32), nullable=True),
        sa.Column("looked_at", sa.String(length=32), nullable=True),
        sa.Column("retain_until", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.CheckConstraint(
            "state IN ('draft', 'sealed', 'open', 'closed', 'decided', 'published', 'purged')",
            name=op.f("ck_evaluation_state"),
        ),
        sa.CheckConstraint(
            "length(head_hash) = 64", name=op.f("ck_evaluation_head_hash")
        ),
        sa.CheckConstraint("length(slug) = 12", name=op.f("ck_evaluation_slug")),
        sa.CheckConstraint("paused IN (0, 1)", name=op.f("ck_evaluation_paused")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluation")),
        sa.UniqueConstraint("slug", name=op.f("uq_evaluation_slug")),
    )
    op.create_table(
        "organiser",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.CheckConstraint(
            "length(name) BETWEEN 1 AND 200", name=op.f("ck_organiser_name")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organiser")),
    )
    op.create_table(
        "draw",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("seal", sa.String(length=64), nullable=False),
        sa.Column("lists", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("drawn_at", sa.String(length=32), nullable=False),
        sa.Column("dropped_at", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_draw_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint(
            "evaluation_id", "number", "part", name=op.f("pk_draw")
        ),
    )
    op.create_table(
        "event",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "n", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_event_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "n", name=op.f("pk_event")),
    )
    op.create_table(
        "item",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "url = '' OR url LIKE 'https://%' OR url LIKE 'http://%'",
            name=op.f("ck_item_url"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_item_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "id", name=op.f("pk_item")),
        sa.UniqueConstraint(
            "evaluation_id", "label", name=op.f("uq_item_evaluation_id_label")
        ),
    )
    op.create_table(
        "job",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=True),
        sa.Column("report", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("asked_at", sa.String(length=32), nullable=False),
        sa.Column("done_at", sa.String(length=32), nullable=True),
        sa.CheckConstraint("kind IN ('check', 'decision')", name=op.f("ck_job_kind")),
        sa.CheckConstraint(
            "state IN ('waiting', 'done', 'failed')", name=op.f("ck_job_state")
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_job_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "kind", "number", name=op.f("pk_job")),
    )
    op.create_table(
        "member",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "organiser_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_member_evaluation_id_evaluation"),
        ),
        sa.ForeignKeyConstraint(
            ["organiser_id"],
            ["organiser.id"],
            name=op.f("fk_member_organiser_id_organiser"),
        ),
        sa.PrimaryKeyConstraint(
            "evaluation_id", "organiser_id", name=op.f("pk_member")
        ),
    )
    op.create_table(
        "published",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_published_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "name", name=op.f("pk_published")),
    )
    op.create_table(
        "reviewer",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("begun_at", sa.String(length=32), nullable=True),
        sa.Column("done_at", sa.String(length=32), nullable=True),
        sa.Column("active_at", sa.String(length=32), nullable=True),
        sa.Column(
            "stands_in_for",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
        ),
        sa.Column("ties_kept", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "role IN ('regular', 'reserve', 'substitute')",
            name=op.f("ck_reviewer_role"),
        ),
        sa.CheckConstraint(
            "state IN ('invited', 'begun', 'done', 'absent', 'replaced')",
            name=op.f("ck_reviewer_state"),
        ),
        sa.CheckConstraint(
            "state NOT IN ('absent', 'replaced', 'invited') OR begun_at IS NULL",
            name=op.f("ck_reviewer_begun"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id", "stands_in_for"],
            ["reviewer.evaluation_id", "reviewer.id"],
            name=op.f("fk_reviewer_evaluation_id_reviewer"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_reviewer_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "id", name=op.f("pk_reviewer")),
        sa.UniqueConstraint(
            "evaluation_id", "label", name=op.f("uq_reviewer_evaluation_id_label")
        ),
        sa.UniqueConstraint(
            "evaluation_id",
            "role",
            "turn",
            name=op.f("uq_reviewer_evaluation_id_role_turn"),
        ),
    )
    op.create_table(
        "secret",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.CheckConstraint("length(secret) = 64", name=op.f("ck_secret_secret")),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_secret_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "number", name=op.f("pk_secret")),
    )
    op.create_table(
        "session",
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column(
            "organiser_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("expires_at", sa.String(length=32), nullable=False),
        sa.CheckConstraint(
            "length(token_sha256) = 64", name=op.f("ck_session_token_sha256")
        ),
        sa.ForeignKeyConstraint(
            ["organiser_id"],
            ["organiser.id"],
            name=op.f("fk_session_organiser_id_organiser"),
        ),
        sa.PrimaryKeyConstraint("token_sha256", name=op.f("pk_session")),
    )
    op.create_table(
        "signin",
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column(
            "organiser_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
        ),
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.String(length=32), nullable=False),
        sa.Column("used_at", sa.String(length=32), nullable=True),
        sa.CheckConstraint(
            "length(token_sha256) = 64", name=op.f("ck_signin_token_sha256")
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_signin_evaluation_id_evaluation"),
        ),
        sa.ForeignKeyConstraint(
            ["organiser_id"],
            ["organiser.id"],
            name=op.f("fk_signin_organiser_id_organiser"),
        ),
        sa.PrimaryKeyConstraint("token_sha256", name=op.f("pk_signin")),
    )
    op.create_table(
        "link",
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "reviewer_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("serial", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.String(length=32), nullable=False),
        sa.Column("revoked_at", sa.String(length=32), nullable=True),
        sa.CheckConstraint(
            "length(token_sha256) = 64", name=op.f("ck_link_token_sha256")
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id", "reviewer_id"],
            ["reviewer.evaluation_id", "reviewer.id"],
            name=op.f("fk_link_evaluation_id_reviewer"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_link_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("token_sha256", name=op.f("pk_link")),
        sa.UniqueConstraint(
            "evaluation_id",
            "reviewer_id",
            "serial",
            name=op.f("uq_link_evaluation_id_reviewer_id_serial"),
        ),
    )
    op.create_table(
        "payload",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "n", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id", "n"],
            ["event.evaluation_id", "event.n"],
            name=op.f("fk_payload_evaluation_id_event"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_payload_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "n", name=op.f("pk_payload")),
    )
    op.create_table(
        "task",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "reviewer_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "item_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "(state = 'rated') = (score IS NOT NULL)", name=op.f("ck_task_score")
        ),
        sa.CheckConstraint(
            "state IN ('empty', 'rated', 'recused')", name=op.f("ck_task_state")
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id", "item_id"],
            ["item.evaluation_id", "item.id"],
            name=op.f("fk_task_evaluation_id_item"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id", "reviewer_id"],
            ["reviewer.evaluation_id", "reviewer.id"],
            name=op.f("fk_task_evaluation_id_reviewer"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_task_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "id", name=op.f("pk_task")),
        sa.UniqueConstraint(
            "evaluation_id",
            "reviewer_id",
            "item_id",
            name=op.f("uq_task_evaluation_id_reviewer_id_item_id"),
        ),
        sa.UniqueConstraint(
            "evaluation_id",
            "reviewer_id",
            "place",
            name=op.f("uq_task_evaluation_id_reviewer_id_place"),
        ),
    )
    op.create_table(
        "submission",
        sa.Column(
            "evaluation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column(
            "task_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column(
            "reviewer_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("body_sha256", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column(
            "n", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("receipt", sa.String(length=64), nullable=False),
        sa.CheckConstraint(
            "kind IN ('score', 'recuse', 'clear')", name=op.f("ck_submission_kind")
        ),
        sa.CheckConstraint("length(key) = 32", name=op.f("ck_submission_key")),
        sa.ForeignKeyConstraint(
            ["evaluation_id", "reviewer_id"],
            ["reviewer.evaluation_id", "reviewer.id"],
            name=op.f("fk_submission_evaluation_id_reviewer"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id", "task_id"],
            ["task.evaluation_id", "task.id"],
            name=op.f("fk_submission_evaluation_id_task"),
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_submission_evaluation_id_evaluation"),
        ),
        sa.PrimaryKeyConstraint(
            "evaluation_id", "key", "task_id", name=op.f("pk_submission")
        ),
        sa.UniqueConstraint(
            "evaluation_id", "n", name=op.f("uq_submission_evaluation_id_n")
        ),
        sa.UniqueConstraint(
            "evaluation_id",
            "task_id",
            "version",
            name=op.f("uq_submission_evaluation_id_task_id_version"),
        ),
    )

    if op.get_bind().dialect.name == "sqlite":
        for what in ("UPDATE", "DELETE"):
            op.execute(SQLITE.format(what=what, lower=what.lower()))
    else:
        op.execute(POSTGRES)
        op.execute(
            "CREATE TRIGGER event_only_grows BEFORE UPDATE OR DELETE ON event "
            "FOR EACH ROW EXECUTE FUNCTION event_only_grows()"
        )

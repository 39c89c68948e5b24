"""A table for the key and the conflicts of each draw."""

from alembic import op

from evenhand.web.tables import private

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Make the table; evaluations of the first version have no key."""
    private.create(op.get_bind())

"""The tables as `tables.py` has them; only what an older database lacks is migrated."""

revision = "1"
down_revision = None


def upgrade() -> None:
    """Do nothing: a new database is made from the tables, and no older one exists."""

"""`evenhand query`: the SQL that counts ratings, for any console."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evenhand.cli import _shared
from evenhand.cli._shared import option

if TYPE_CHECKING:
    from evenhand.claims import Label

JOBS = ["compare", "pairs", "check"]
DIALECTS = ["duckdb", "spark", "postgres", "bigquery", "snowflake"]


@click.command("query", cls=_shared.Grouped)
@click.argument("job", metavar="JOB", type=_shared.Known(JOBS))
@option("--dialect", "Whose SQL.", DIALECTS, default="duckdb", show_default=True)
@option("--table", "Table of the ratings.", "NAME", default="ratings")
@option("--reviewer", "Its column of the reviewer.", "COLUMN", default="reviewer")
@option("--item", "Its column of the item.", "COLUMN", default="item")
@option("--score", "Its column of the score.", "COLUMN", default="score")
@option("--items", "For compare, the two items if there are more.", "A B", nargs=2)
@_shared.writing("-o --output", "Write there instead of printing.", "PATH")
def command(
    job: str,
    dialect: str,
    items: tuple[Label, Label] | None,
    output: str | None,
    **names: str,
) -> None:
    """Print the SQL that counts ratings in a warehouse.

    JOB is compare (how many scores of each value: save the answer as counts.csv for
    evenhand compare), pairs (how each two items were scored, for rank in Python), or
    check (loads, reviews, ties and links). It needs pip install 'evenhand[query]'.

    \b
    Example:
      evenhand query compare --dialect snowflake --table app.ratings --score stars
    """
    _shared.check_output(output)
    from evenhand.engines.sql import sql_of

    found = sql_of(job, dialect, items=items or None, **names)
    parts = [f"-- {text}\n{sql};" for text, sql in found.items()]
    _shared.deliver("\n\n".join(parts), output)

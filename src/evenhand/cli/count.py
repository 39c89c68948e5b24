"""`evenhand count` and `query`: counts of scores from data of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import deciding, option
from evenhand.errors import printable
from evenhand.lazy import lazy

if TYPE_CHECKING:
    import polars as pl

    from evenhand.engines import counts as score_counts
    from evenhand.engines import files as count_files
    from evenhand.engines import sql as sql_counts
    from evenhand.formats import lists
else:
    score_counts = lazy("evenhand.engines.counts")
    count_files = lazy("evenhand.engines.files")
    sql_counts = lazy("evenhand.engines.sql")
    lists = lazy("evenhand.formats.lists")
    pl = lazy("polars")


JOBS = ["compare", "pairs", "check"]
DIALECTS = ["duckdb", "spark", "postgres", "bigquery", "snowflake"]


@click.command("count", cls=_options.Grouped)
@click.argument("files", metavar="FILES...", nargs=-1, required=True)
@_options.options(*_options.COLUMN_OPTIONS)
@deciding("--items A B", "The two items, if there are more.")
@deciding(
    "--by COLUMN",
    "Count by this day of assignment as well, for evenhand compare --sequential.",
)
@deciding(
    "--once",
    "Whether to check that nobody scored twice, which takes about 20 times as long as "
    "to count, or to take it as declared.",
    ["checked", "declared"],
    default="checked",
    show_default=True,
)
@_options.output_option
def count(files: tuple[str, ...], output: str | None, **options: Any) -> None:  # noqa: ANN401 - click's values
    """Count the scores of each value, from ratings that need not fit into memory.

    FILES are Parquet or CSV, a row for each score with a reviewer, an item and the
    score; 'ratings/*.parquet' matches several files (quote it, or your shell expands
    it). The answer has columns item, score and count, for evenhand compare; rows
    without a score are counted with an empty one. A label that a spreadsheet would run
    as a formula gets an apostrophe before it, which evenhand takes off again.

    \b
    Example:
      evenhand count 'ratings/*.parquet' -o counts.csv
    """
    _shared.check_paths({"--output": output}, {f"FILE {name}": name for name in files})

    for part in ("reviewer", "item"):
        names = options[part]
        options[part] = names.split("+") if names and "+" in names else names
    counts = count_files.count_files(
        files, **options | {"items": options["items"] or None}
    )
    safe = pl.col(pl.String).map_elements(lists.safe_cell, pl.String)
    table = counts.to_frame().with_columns(
        safe, pl.lit(counts.once).alias(score_counts.ONCE)
    )
    _shared.deliver_table(table.write_csv(), output)
    if output is not None and output != _shared.STDIN:
        click.echo(f"Wrote {printable(output)}: {counts}", err=True)
    _shared.note(counts.notices)


@click.command("query", cls=_options.Grouped)
@click.argument("job", metavar="JOB", type=click.Choice(JOBS))
@option("--dialect", "Whose SQL.", DIALECTS, default="duckdb", show_default=True)
@option("--table NAME", "Table of the ratings.", default="ratings")
@option("--reviewer COLUMN", "Its column of the reviewer.", default="reviewer")
@option("--item COLUMN", "Its column of the item.", default="item")
@option("--score COLUMN", "Its column of the score.", default="score")
@option("--items A B", "For compare, the two items if there are more.")
@_options.output_option
def query(job: str, dialect: str, output: str | None, **names: Any) -> None:  # noqa: ANN401 - click's values
    """Print the SQL that counts ratings in a warehouse.

    JOB is compare (how many scores of each value: save the answer as counts.csv for
    evenhand compare), pairs (how each two items were scored, for rank in Python), or
    check (loads, reviews, ties and links). It needs pip install 'evenhand[query]'.

    \b
    Example:
      evenhand query compare --dialect snowflake --table app.ratings --score stars
    """
    _shared.check_paths({"--output": output}, {})

    statements = sql_counts.sql_of(
        job, dialect, **names | {"items": names["items"] or None}
    )
    parts = [f"-- {text}\n{sql};" for text, sql in statements.items()]
    _shared.deliver_table("\n\n".join(parts), output)

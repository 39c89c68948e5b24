"""`evenhand count`: how many scores of each value, from files of any size."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli import _shared
from evenhand.cli._shared import deciding, reading
from evenhand.errors import printable


@click.command("count", cls=_shared.Grouped)
@click.argument("files", metavar="FILES...", nargs=-1, required=True)
@reading(
    "--reviewer", "Column of the reviewer; judge+prompt if several name one together."
)
@reading("--item", "Column of the item.", "COLUMN")
@reading("--score", "Column of the score; higher is better.", "COLUMN")
@deciding("--items", "The two items, if there are more.", "A B", nargs=2)
@deciding(
    "--once",
    "Whether to check that nobody scored twice, which takes about 20 times as long as "
    "to count, or to take it as declared.",
    ["checked", "declared"],
    default="checked",
    show_default=True,
)
@_shared.writing("-o --output", "Write there instead of printing.", "PATH")
def command(files: tuple[str, ...], output: str | None, **options: Any) -> None:  # noqa: ANN401 - click's values
    """Count the scores of each value, from ratings that need not fit into memory.

    FILES are Parquet or CSV, a row for each score with a reviewer, an item and the
    score; 'ratings/*.parquet' takes all that fit (in quotes, or your shell takes them
    apart). The answer has columns item, score and count, for evenhand compare; rows
    without a score are counted with an empty one.

    \b
    Example:
      evenhand count 'ratings/*.parquet' -o counts.csv
    """
    _shared.check_output(output)
    _shared.keep_inputs({"--output": output}, {f"FILE {name}": name for name in files})
    import polars as pl

    from evenhand.engines.counts import ONCE
    from evenhand.engines.files import count_files

    for part in ("reviewer", "item"):
        options[part] = _parts(options[part])
    counts = count_files(files, **options | {"items": options["items"] or None})
    frame = counts.to_frame()
    once_told = [counts.once] * frame.height
    _shared.deliver(frame.with_columns(pl.Series(ONCE, once_told)).write_csv(), output)
    if output is not None and output != "-":
        click.echo(f"Wrote {printable(output)}: {counts}", err=True)
    for notice in counts.notices:
        click.echo(f"Note ({notice.code}): {printable(notice.message)}", err=True)


def _parts(names: str | None) -> str | list[str] | None:
    return names.split("+") if names and "+" in names else names

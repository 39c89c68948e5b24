"""`evenhand read`: what a file is read as, before anything is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenhand.claims import version
from evenhand.cli import _options, _shared, check, compare, rank
from evenhand.cli._options import writing
from evenhand.errors import printable
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from evenhand import _outputs
    from evenhand.ratings import Ratings
    from evenhand.words import exports
else:
    _outputs = lazy("evenhand._outputs")
    exports = lazy("evenhand.words.exports")

PLAIN = "the long form: its columns are called what they are."
SHOWN = 5
"""How many ratings are shown."""
ALONE = 10
"""From so many scores of an item on, each by somebody else, items are compared."""


@click.command("read", cls=_options.Grouped)
@writing("--save PATH", "Write all ratings there, such as clean.csv, to be read again.")
@_options.output_options
@_options.reading_options()
@click.pass_context
def command(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - click's values
    """Show what FILE is read as: start here with a file of your own.

    Prints what was recognised and why, the first ratings, what was left out and why,
    and the command to type next. FILE is a table (CSV, TSV, Excel, Parquet), JSON, or
    an export of a platform; a folder or several files of one kind are read as one.
    Options say what cannot be recognised; other commands take the same.

    \b
    Example:
      evenhand read examples/exports/hotcrp.json
      evenhand read reviews/*.json --save clean.csv
    """
    file, save = options.pop("file"), options.pop("save")
    shown = {name: options.pop(name) for name in ("as_json", "output")}
    reading, companion = _shared.take_reading(options)
    inputs = {"--with": companion, "--anonymise": reading.anonymise or None}
    outputs = {"--save": save, "--output": shown["output"]}
    _shared.check_paths(outputs, {**inputs, **_shared.file_inputs(file)})
    ratings, files = _shared.read(file, reading, companion)
    table = exports.ratings_table(ratings.public)
    if save is not None:
        content = exports.export_tables({"ratings": table}, save)
        files.append(_outputs.Output(save, content))
    following = next_command(context, ratings, _shared.file_inputs(file).values())
    first_rows = table.head(SHOWN)
    document = {
        "schema": "evenhand.read/1",
        "read_as": ratings.read_as or PLAIN,
        "kind": ratings.kind,
        "first": first_rows.to_dicts(),
        "next": following,
        "data": ratings.summary(),
        "warnings": [warning.to_dict() for warning in ratings.notices],
        "version": version(),
    }
    _shared.show(
        document, lambda: explain(ratings, first_rows, following), shown, files
    )
    for output in files:
        click.echo(f"Wrote {output.path}", err=True)


def explain(ratings: Ratings, first_rows: pl.DataFrame, following: str) -> str:
    """Tell what was read: why, the first ratings, sizes, notes and what to do next."""
    words = [name for name, kind in first_rows.schema.items() if not kind.is_numeric()]
    cells = {name: [*map(str, first_rows[name])] for name in first_rows.columns}
    sizes = repr(ratings).removeprefix("Ratings(").removesuffix(")")
    text = _shared.render(
        f"Read as {ratings.read_as or PLAIN}",
        _shared.columns(cells, words),
        f"The first {first_rows.height} of {sizes}.",
        *(f"Note ({notice.code}): {notice.message}" for notice in ratings.notices),
    )
    # To be copied, so that no line may be broken.
    return f"{text}Next: {printable(following)}"


def next_command(context: click.Context, ratings: Ratings, files: Iterable[str]) -> str:
    """Return the command to type next: compare, rank or, for one item, check."""
    # Nobody who saw one item alone compares it with another.
    alone = ratings.n_ratings == ratings.n_reviewers >= ALONE * ratings.n_items
    compared = ratings.kind == "scores" and (ratings.n_items == 2 or alone)
    chosen = check if ratings.n_items == 1 else rank
    if (
        compared
        and chosen is rank
        and not (context.params["only"] or context.params["companion"])
    ):
        chosen = compare
    words = ["evenhand", str(chosen.command.name), *files]
    return _shared.command_words(context, chosen.command, words)

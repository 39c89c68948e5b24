"""Files of ratings: what is read, and how.

A file becomes a table of named columns (`files`, `tables`), and one module per layout
turns that table into Ratings. The long form is the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._columns import Columns
from evenhand.desk.formats import long
from evenhand.desk.formats.files import FORMATS, Readable, fetch
from evenhand.desk.formats.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._results import Label
    from evenhand.ratings import Ratings

__all__ = ["FORMATS", "read_ratings"]


def read_ratings(
    source: Readable,
    *,
    format: str | None = None,  # noqa: A002 - the option's name on the command line
    reviewer: str | None = None,
    item: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    pair: str | None = None,
    sheet: str | None = None,
    all_items: Sequence[Label] | None = None,
) -> Ratings:
    r"""Read ratings from a file with one row per rating.

    CSV (with commas, semicolons or tabs), TSV, Parquet, JSON lines and Excel are read,
    also compressed with gzip. Columns are found by name ("reviewer", "item", "score")
    or by a well-known other name ("judge", "paper", "mark"). Empty rows are skipped;
    rows without a score are left out and named in `notices`. A cell of a workbook that
    shows an error, such as #N/A, counts as empty.

    Args:
        source: Path, "-" for standard input, or an open stream of bytes or text.
        format: "csv", "tsv", "parquet", "jsonl" or "excel"; by default the suffix tells
            it, and standard input is CSV.
        reviewer: Column of the reviewer.
        item: Column of the item.
        score: Column of the score, higher is better.
        rank: Column of the rank, 1 is best.
        winner: Column of the better item, for plain comparisons.
        loser: Column of the worse item.
        pair: Column of the pair of reviewers.
        sheet: Sheet of a workbook; by default the only one that holds anything.
        all_items: Every item there is, if some have no rating.

    Returns:
        The ratings.

    Raises:
        RatingsError: If the file cannot be read or a value in it is bad; the message
            names the file, the line, the column and the value.
        OptionError: If an option is unknown.

    Examples:
        >>> import io
        >>> text = "judge,paper,mark\nanna,1,7\nbo,1,6\nbo,2,8\n"
        >>> read_ratings(io.StringIO(text))
        Ratings(3 scores by 2 reviewers of 2 items)
    """
    given = Columns(
        reviewer=reviewer or "",
        item=item or "",
        score=score or "",
        rank=rank or "",
        winner=winner or "",
        loser=loser or "",
        pair=pair or "",
    )
    table = read_table(fetch(source, format or ""), sheet or "")
    return long.take(table, given, all_items)

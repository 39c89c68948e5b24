"""The long form: one row per rating, columns found by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._columns import Columns
    from evenhand._results import Label
    from evenhand.desk.formats.tables import Table


def take(
    table: Table, given: Columns, all_items: Sequence[Label] | None = None
) -> Ratings:
    r"""Take ratings, ranks or comparisons from a table in long form.

    Args:
        table: The table.
        given: Columns that the user named; the others are found.
        all_items: Every item there is, if some have no rating.

    Returns:
        The ratings.

    Raises:
        RatingsError: If a column is missing or ambiguous or a value is bad.

    Examples:
        >>> from evenhand._columns import Columns
        >>> from evenhand.desk.formats.files import File
        >>> from evenhand.desk.formats.tables import read_table
        >>> file = File("taste.tsv", b"winner\tloser\ntea\tmilk\n", "tsv")
        >>> take(read_table(file), Columns())
        Ratings(1 comparison of 2 items)
    """
    return Ratings.from_columns(
        {**table.columns}, given, table.source, all_items=all_items
    )

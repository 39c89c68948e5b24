"""Who a reviewer is: one person under two labels, or several under one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from evenhand._results import Notice
from evenhand.desk.formats.layouts import as_text, plain, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._labels import Source
    from evenhand.desk.formats.layouts import Values

COUNTED = r"^(?i:(?:r|rev|reviewer|review|judge|rater|referee|grader|assessor)[ _#-]*)"
NUMBER_COLUMN = re.compile(r".*(?:\bnumber|\bno\.?|\bnr\.?|#)")
ANEW = (
    "Reviewers are numbered from 1 within every item. If the numbers start again for "
    "each item, one number stands for several people, and nobody's scores of several "
    "items may be compared: then give reviewers labels of their own."
)


def identified(
    emails: Sequence[str], names: Sequence[str], source: Source
) -> list[str]:
    """Return who each row is: the e-mail, or that of the same name in other rows.

    Raises:
        RatingsError: If a name without e-mail has several e-mails elsewhere.

    Examples:
        >>> from evenhand._labels import Source
        >>> identified(["d@x.org", "", ""], ["Dee", "Dee", "Bo"], Source())
        ['d@x.org', 'd@x.org', 'Bo']
    """
    if all(emails) or not any(emails):
        return [email or name for email, name in zip(emails, names, strict=True)]
    known: dict[str, set[str]] = {}
    for email, name in zip(emails, names, strict=True):
        if email and name:
            known.setdefault(name.casefold(), set()).add(email)
    found = []
    for row, (email, name) in enumerate(zip(emails, names, strict=True)):
        same = known.get(name.casefold(), set())
        if not email and len(same) > 1:
            raise source.at(
                row, f"email must be given where several are called {name!r}"
            )
        found.append(email or (next(iter(same)) if same else name))
    return found


def numbered_anew(column: str, reviewers: Values, items: Values) -> tuple[Notice, ...]:
    """Warn where reviewers seem to be numbered within each item.

    Args:
        column: Name of the column of reviewers; bare numbers need one that says so.
        reviewers: Reviewer of each rating.
        items: Item of each rating.

    Returns:
        One notice, or none.

    Examples:
        >>> items = ["x", "x", "y", "y"]
        >>> numbered_anew("judge", ["R1", "R2", "R1", "R2"], items)[0].code
        'pseudonyms'
        >>> numbered_anew("judge", ["R1", "R2", "R2", "R3"], items)
        ()
    """
    optional = "?" if NUMBER_COLUMN.fullmatch(plain(column)) else ""
    pattern = f"{COUNTED}{optional}([1-9][0-9]{{0,5}})$"
    # Most files are told by their first row.
    if len(reviewers) == 0 or not re.match(pattern, as_text(reviewers[0])):
        return ()
    names = pl.Series("name", texts(reviewers), dtype=pl.String)
    numbers = names.str.extract(pattern).cast(pl.Int64).alias("number")
    if numbers.null_count() or numbers.n_unique() != names.n_unique():
        return ()
    labels = pl.Series("item", texts(items), dtype=pl.String)
    each = pl.DataFrame([labels, numbers]).group_by("item")
    counts = each.agg(pl.col("number").n_unique(), most=pl.col("number").max())
    within = (counts["number"] == counts["most"]).all()
    several = counts.height > 1 and numbers.n_unique() > 1
    return (Notice("pseudonyms", ANEW),) if within and several else ()

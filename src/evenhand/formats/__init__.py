"""Files of ratings, read in five steps, each of which is one module or more.

1. `files`: a path, stream or "-" becomes bytes, and how they are stored.
2. `delimited`, `documents`, `decoder`: text, JSON, Parquet and Excel become cells.
3. `tables`: cells become a Table: named columns, and the line of each row.
4. `layouts` recognises whose export a table is. One module per platform then reads it:
   `roles` tells who is the reviewer, and what the item and the score.
5. `reading` does the rest, the same for all: what the user leaves out, score words
   (`scale`), labels that look alike, codes for reviewers (`anonymise`), Ratings.
"""

from __future__ import annotations

from typing import NamedTuple


class Home(NamedTuple):
    """Where a layout is defined, and columns of which its tables have one."""

    module: str
    marks: tuple[str, ...] = ()


PLATFORMS = {
    "hotcrp": Home("hotcrp", ("title", "pid")),
    "openreview": Home("openreview", ("forum", "average rating")),
    "cmt": Home("cmt", ("paper id", "submissionid")),
    "easychair": Home("easychair", ("submission #", "review #")),
    "moodle": Home("courses", ("submissionid", "authorid")),
    "canvas": Home("courses", ("assessor",)),
    "gavel": Home("long", ("annotator id",)),
    "forms": Home(
        "forms",
        (
            *("timestamp", "zeitstempel", "horodateur", "marca temporal"),
            *("tijdstempel", "informazioni cronologiche", "carimbo de data/hora"),
            "completion time",
        ),
    ),
    "votes": Home("votes"),
    "orders": Home("orders"),
    "surveys": Home(
        "surveys",
        (
            *("respondentid", "respondent id", "responseid", "response id"),
            *("internal id", "prolific pid", "submitdate", "date submitted"),
        ),
    ),
    "evaluation": Home(
        "logs",
        (
            *("doc id", "question id", "item type", "item i", "judge score"),
            *("scorer id", "points earned", "recommendation"),
        ),
    ),
    "wide": Home("wide"),
    "long": Home("long"),
}
"""Every layout. A module is loaded only if a table has one of the marks."""

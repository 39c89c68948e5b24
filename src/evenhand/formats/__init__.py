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

Home = tuple[str, tuple[str, ...]]
"""The module of a layout, and columns of which its tables have one."""
TIMES = (
    *("timestamp", "zeitstempel", "horodateur", "marca temporal", "tijdstempel"),
    *("informazioni cronologiche", "carimbo de data/hora", "completion time"),
)
"""What forms call the column of times that they put first."""
PLATFORMS: dict[str, Home] = {
    "hotcrp": ("hotcrp", ("title", "pid")),
    "openreview": ("openreview", ("forum", "average rating")),
    "cmt": ("cmt", ("paper id", "submissionid")),
    "easychair": ("easychair", ("submission #", "review #")),
    "moodle": ("courses", ("submissionid", "authorid")),
    "canvas": ("courses", ("assessor",)),
    "gavel": ("long", ("annotator id",)),
    "forms": (
        "forms",
        (
            *TIMES,
            *("respondentid", "respondent id", "responseid", "response id"),
            *("internal id", "prolific pid", "submitdate", "date submitted"),
            *("email address", "respondent email"),
        ),
    ),
    "votes": ("votes", ()),
    "orders": ("orders", ()),
    "evaluation": (
        "logs",
        (
            *("doc id", "question id", "item type", "item i", "judge score"),
            *("eval id", "seg id"),
            *("scorer id", "points earned", "recommendation"),
        ),
    ),
    "wide": ("wide", ()),
    "long": ("long", ()),
}
"""Every layout. A module is loaded only if a table has one of the marks."""

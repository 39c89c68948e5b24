"""Files of ratings: the names of what is read. `reading` reads it.

A file becomes a table of named columns (`files`, `tables`). One module per
platform turns that table into the long form (`layouts` says what such a module offers),
and the rest is the same for all: score words, anonymising, Ratings.
"""

from __future__ import annotations

PLATFORMS: dict[str, tuple[str, ...]] = {
    "hotcrp": ("title", "pid"),
    "openreview": ("forum", "average rating"),
    "cmt": ("paper id", "submissionid"),
    "easychair": ("submission #", "review #"),
    "moodle": ("submissionid", "authorid"),
    "canvas": ("assessor",),
    "gavel": ("annotator id",),
    "forms": (
        *("timestamp", "zeitstempel", "horodateur", "marca temporal", "tijdstempel"),
        *("informazioni cronologiche", "carimbo de data/hora", "completion time"),
    ),
    **dict.fromkeys(("wide", "long"), ()),
}
"""Every layout, and columns of which a platform's exports have one."""

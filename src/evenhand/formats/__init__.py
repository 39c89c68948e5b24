"""Files of ratings: the names of what is read. `reading` reads it.

A file becomes a table of named columns (`files`, `tables`). One module per
platform turns that table into the long form (`layouts` says what such a module offers),
and the rest is the same for all: score words, anonymising, Ratings.
"""

from __future__ import annotations

PLATFORMS = (
    *("hotcrp", "openreview", "cmt", "easychair", "moodle", "canvas", "gavel"),
    *("forms", "wide", "long"),
)
"""Every layout."""

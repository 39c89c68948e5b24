"""PeerRead: a JSON file for each paper, with reviews, comments and meta reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evenhand.formats import layouts, roles
from evenhand.formats.scale import may_be_scores
from evenhand.formats.tables import Table, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.formats.layouts import ReadOptions

SCORE = "recommendation"
recognise = layouts.has_columns((SCORE, "comments", "reviewer confidence"))
NOT_SCORES = ("file", "id", "accepted", "is meta review", "date", "other keys", "year")


def read(table: Table, options: ReadOptions) -> layouts.LongForm:
    """Take the reviews that have a recommendation; their writers are seats of a paper.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> columns = {"id": ["7", "7"], "RECOMMENDATION": [6, None]}
        >>> columns |= {"OTHER_KEYS": ["AnonReviewer1", "Bo"], "comments": ["", ""]}
        >>> long = read(Table.of(columns, Source()), ReadOptions())
        >>> long.origin, [notice.code for notice in long.table.notices]
        ("item from 'id', reviewer from 'OTHER_KEYS', score from 'RECOMMENDATION'",
        ['unscored_comments', 'pseudonyms'])
    """
    item = table.column_for("item", options.columns.item, "file", "id", "title")
    rows = pl.DataFrame([table.cells(name).alias(name) for name in table.columns])
    first = rows.select(pl.struct(pl.all()).is_first_distinct()).to_series()
    reasons = {
        "meta_reviews": table.cells("is meta review").str.to_lowercase() == "true",
        "unscored_comments": table.cells(options.columns.score or SCORE) == "",
        "repeated_records": ~first,
    }
    table = table.leave_out("review", reasons)
    fields = {
        name: values
        for name, values in table.columns.items()
        if plain(name) not in NOT_SCORES and name != item and may_be_scores(values)
    }
    titles = roles.titles_by_item(table.texts(item), table.texts("title"))
    choose = roles.among(fields, table.source)
    return roles.long_form(table, options, choose, item, _seats(item), titles)


def _seats(item: str) -> Callable[[Table], roles.Writers]:
    def writers(table: Table) -> roles.Writers:
        place, papers = table.find("other keys", "reviewer"), table.texts(item)
        names = table.texts(place) if place else map(str, range(1, table.height + 1))
        people = [f"{paper}/{name}" for paper, name in zip(papers, names, strict=True)]
        hidden = roles.pseudonyms(table, table.height, "openreview")
        return (repr(place) if place else "the review's place", people), hidden

    return writers


PEERREAD = layouts.Layout("peerread", "PeerRead", recognise, read)

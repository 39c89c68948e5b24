"""Which ratings count: items and reviewers that the user leaves out, or keeps alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.claims import Notice
from evenhand.errors import OptionError, counted, unknown
from evenhand.formats.tables import Table, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.formats.layouts import Asked, Long

PARTS = ("item", "reviewer")
SELF = "self"


def select(found: Long, asked: Asked, own: Sequence[int]) -> tuple[Long, list[int]]:
    """Keep the ratings that the user wants.

    Args:
        found: All ratings.
        asked: What to leave out, and what to keep.
        own: Rows in which somebody rates their own item.

    Returns:
        The ratings that are left, and which of them are of one's own item.

    Raises:
        OptionError: If a name is unknown, or is both an item's and a reviewer's.
        RatingsError: If nothing is left.

    Examples:
        >>> from evenhand.columns import Columns, Source
        >>> from evenhand.formats.layouts import Asked, Long
        >>> columns = {"who": ["a", "b", "b"], "what": ["x", "x", "y"]}
        >>> long = Long({**columns}, Columns("who", "what"), Source(), "")
        >>> select(long, Asked(exclude=["a"]), [])[0].columns["what"]
        ['x', 'y']
    """
    names = found.names
    columns = {
        part: [strings(found.columns[name]) for name in them if name]
        for part, them in (
            ("item", (names.item, names.winner, names.loser)),
            ("reviewer", (names.reviewer,)),
        )
    }
    known = {
        part: {label for cells in them for label in cells.unique()}
        for part, them in columns.items()
    }
    keep = np.ones(len(columns["item"][0]), dtype=np.bool_)
    if SELF in asked.exclude and not any(SELF in them for them in known.values()):
        keep[list(own)] = False
    out, only = _parted(asked.exclude, known), _parted(asked.only, known)
    for part, them in columns.items():
        for cells in them:
            keep &= ~cells.is_in(list(out[part])).to_numpy()
            keep &= cells.is_in(list(only[part] or known[part])).to_numpy()
    rows = np.flatnonzero(keep).tolist()
    if not rows:
        raise found.source.whole("There is no rating left. Exclude less.")
    table = Table(found.columns, found.source).keep(rows)
    text = f"{counted(len(keep) - len(rows), 'rating')} left out as you asked."
    notices = [Notice("excluded", text)] if len(rows) < len(keep) else []
    left = replace(
        found,
        columns=table.columns,
        source=table.source,
        notices=(*found.notices, *notices),
    )
    return left, [place for place, row in enumerate(rows) if row in {*own}]


def _parted(names: Sequence[str], known: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return which of some names are items and which are reviewers."""
    found: dict[str, set[str]] = {part: set() for part in PARTS}
    for text in names:
        part, equals, name = text.partition("=")
        if (
            equals
            and part in PARTS
            and not any(text in them for them in known.values())
        ):
            parts, label = [part], name.strip()
        else:
            parts, label = list(PARTS), text.strip()
        there = [part for part in parts if label in known[part]]
        if not there and label == SELF:
            continue
        if not there:
            what = parts[0] if len(parts) == 1 else "label"
            every = sorted({it for part in parts for it in known[part]})
            raise OptionError(unknown(what, label, every))
        if len(there) > 1:
            raise OptionError(
                f"{label!r} is both an item and a reviewer. Write 'item={label}' or "
                f"'reviewer={label}'."
            )
        found[there[0]].add(label)
    return found

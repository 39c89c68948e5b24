"""What the user leaves out: items and reviewers by label, and ratings of one's own."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.claims import EXCLUDED, few
from evenhand.errors import OptionError, unknown

if TYPE_CHECKING:
    from evenhand.arrays import Flags
    from evenhand.formats.layouts import LongForm, ReadOptions

SELF = "self"
NAME = re.compile(r"[^\W\d_].*[^\W\d_]", re.DOTALL)
WORD = re.compile(r"[^\W\d_]+")
AUTHORS_END = re.compile(r"[;,|\n]|\band\b")


def select_rows(long: LongForm, options: ReadOptions) -> LongForm:
    """Leave out what the user does not want, and tell of ratings of one's own."""
    own, table = _own_rows(long), long.table
    keep = _rows_to_keep(long, options, own)
    if not keep.all():
        if not keep.any():
            raise table.source.whole("There is no rating left. Exclude less.")
        table = table.warn(EXCLUDED, ratings=int((~keep).sum()))
        table = table.keep(np.flatnonzero(keep).tolist())
    own = own[keep]
    if own.any():
        people = table.cells(long.names.reviewer).filter(pl.Series(own))
        names = few(() if options.anonymise else people.unique().sort())
        table = table.warn("self_ratings", ratings=len(people), reviewers=names)
    return replace(long, table=table)


def _own_rows(long: LongForm) -> Flags:
    """Tell in which rows somebody rates what seems to be their own.

    The reviewer is called like the item, or is one of its authors, but for case and
    blanks; the part of an e-mail before the @ counts as a name.
    """
    names = long.names
    own = np.zeros(long.table.height, dtype=np.bool_)
    if not names.reviewer or not names.item:
        return own
    people, items = map(long.table.cells, (names.reviewer, names.item))
    aliases, whose = [long.people], [long.titles, long.authors]
    sides = (people.unique(), aliases), (items.unique(), whose)
    # Most files are told by the words of their distinct labels.
    texts = (
        " ".join(chain(labels, *(mapping.values() for mapping in more)))
        for labels, more in sides
    )
    if set.isdisjoint(*(set(WORD.findall(text.casefold())) for text in texts)):
        return own
    reviewer_names, item_names = (
        {
            label: _names(label, *(mapping.get(label, "") for mapping in more))
            for label in labels
        }
        for labels, more in sides
    )
    pairs = zip(people, items, strict=True)
    return np.array(
        [bool(reviewer_names[person] & item_names[item]) for person, item in pairs]
    )


def _names(*texts: str) -> set[str]:
    """Return the names in some texts; numbers and single letters are nobody's."""
    named = [text.casefold() for text in texts if NAME.search(text)]
    parts = [part for text in named for part in (text, *AUTHORS_END.split(text))]
    parts += [
        re.sub("[._-]+", " ", address.partition("@")[0])
        for address in parts
        if "@" in address
    ]
    return {" ".join(part.split()) for part in parts if NAME.search(part)}


def _rows_to_keep(long: LongForm, options: ReadOptions, own: Flags) -> Flags:
    """Tell which ratings the user wants."""
    keep = np.ones(len(own), dtype=np.bool_)
    if not (options.exclude or options.only):
        return keep
    labels: dict[str, set[str]] = {"item": set(), "reviewer": set()}
    columns = []
    for role in ("item", "winner", "loser", "reviewer"):
        if name := getattr(long.names, role):
            part, cells = role if role in labels else "item", long.table.cells(name)
            labels[part].update(cells.unique())
            columns.append((part, cells))
    out = [_part_of(text, labels) for text in options.exclude]
    only = [_part_of(text, labels) for text in options.only]
    if (SELF, SELF) in out:
        keep &= ~own
    for part, cells in columns:
        kept = [label for kind, label in only if kind == part] or [*labels[part]]
        keep &= cells.is_in(kept).to_numpy()
        keep &= ~cells.is_in([label for kind, label in out if kind == part]).to_numpy()
    return keep


def _part_of(text: str, labels: dict[str, set[str]]) -> tuple[str, str]:
    """Tell whether a name is an item's or a reviewer's, or "self"."""
    part, equals, label = text.partition("=")
    parts, what = [part], part
    if (
        not equals
        or part not in labels
        or any(text in them for them in labels.values())
    ):
        parts, what, label = list(labels), "label", text
    label = label.strip()
    there = [part for part in parts if label in labels[part]]
    if not there and label == SELF:
        return SELF, SELF
    if not there:
        every = set().union(*(labels[part] for part in parts))
        raise OptionError(unknown(what, label, sorted(every)))
    if len(there) > 1:
        raise OptionError(
            f"{label!r} is both an item and a reviewer. Write 'item={label}' or "
            f"'reviewer={label}'."
        )
    return there[0], label

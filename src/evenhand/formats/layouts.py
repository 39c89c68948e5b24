"""Layouts: what a platform's export is told by and read by, and which one a table has.

A layout is a value: the reason why a table is of this layout, what it has no use for,
and how reviewer, item and score are taken from it. A new one is a module that defines
its layout under its name in capitals, and a line in PLATFORMS. Everything after that
(score words, missing scores, labels) is the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING

from evenhand.columns import Columns, Source, candidates
from evenhand.errors import OptionError, listing, refuse_option
from evenhand.formats import PLATFORMS
from evenhand.formats.tables import Table, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user said beyond the file.

    Attributes:
        columns: Columns that were named by option; empty where none was.
        format: What the file is, or how it is stored.
        levels: Words of confidence from least to most.
        scale: Score words from worst to best, "best=" and a letter, or "/" and a base.
        decimal: The decimal sign, "." or ","; empty if the file tells.
        exclude: Items and reviewers to leave out.
        only: Items and reviewers to keep.
        merge: Whose labels are one if they look alike: "item", "reviewer" or both;
            "case" if only their case may differ.
        rows: What the rows of a wide table are: "items", "reviewers" or "".
        sheet: Sheet of a workbook.
        encoding: Encoding of a text; empty if the file tells.
        delimiter: What separates fields of a text; empty if the file tells.
        header: Whether the first line holds names; None if not said.
        anonymise: Path of a key.
        people: Whether a reviewer's label is one person; None if not said.
        repeats: What counts of several ratings of one item by one reviewer: "last",
            "mean" or "all"; empty if there must be none.
        lower_is_better: Whether the lowest score is the best; None if not said.
        criteria: Several scores of a rating with their weights, None where not said.
        missing_criteria: What becomes of a rating that lacks one of them.
    """

    columns: Columns = field(default_factory=Columns)
    format: str = ""
    levels: str = ""
    scale: str = ""
    decimal: str = ""
    exclude: Sequence[str] = ()
    only: Sequence[str] = ()
    merge: Sequence[str] = ()
    rows: str = ""
    sheet: str = ""
    encoding: str = ""
    delimiter: str = ""
    header: bool | None = None
    anonymise: str = ""
    people: bool | None = None
    repeats: str = ""
    lower_is_better: bool | None = None
    criteria: Mapping[str, float | None] = field(default_factory=dict)
    missing_criteria: str = ""


@dataclass(frozen=True, slots=True)
class LongForm:
    """Ratings in long form, not yet checked.

    Attributes:
        table: A row for each rating.
        names: Which of its columns is the reviewer, the item, the score and so on.
        origin: Where each part was taken from, to follow "Read as ...".
        titles: What people call an item, by its label as text.
        authors: Whose an item is, by its label as text.
        people: What a reviewer is called beside the label, such as an e-mail.
        seats: Whether reviewers are seats that other people take at each item.
    """

    table: Table
    names: Columns
    origin: str
    titles: Mapping[str, str] = field(default_factory=dict)
    authors: Mapping[str, str] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)
    seats: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """One platform's export.

    Attributes:
        name: What --format calls it.
        title: What people call it.
        recognise: From a table and the user's options to the reason why it is of this
            layout, such as "columns 'id' and 'grade'", or an empty text.
        read: From a table and the user's options to the long form.
        only_scores: Whether ranks, comparisons and pairs are refused.
        one_file: Whether a second file is refused.
    """

    name: str
    title: str
    recognise: Callable[[Table, ReadOptions], str]
    read: Callable[[Table, ReadOptions], LongForm]
    only_scores: bool = True
    one_file: bool = True

    def check_options(self, table: Table, options: ReadOptions) -> None:
        """Refuse options that the export has no use for.

        Raises:
            OptionError: If one was given.
        """
        title = self.title.rpartition(" of ")[2]
        for part in ("rank", "winner", "loser", "pair") if self.only_scores else ():
            declared = getattr(options.columns, part)
            refuse_option(part, declared, f"for {title}: it has scores")
        if self.one_file:
            why = f"for {title}: one file is all there is"
            refuse_option("companion", table.companion is not None, why)


def has_columns(*exports: tuple[str, ...]) -> Callable[[Table, ReadOptions], str]:
    """Return how to recognise a layout by all columns of one of its exports.

    Examples:
        >>> table = Table.of({"Winner ID": ["1"], "Loser ID": ["2"]}, Source())
        >>> has_columns(("id",), ("winner id", "loser id"))(table, ReadOptions())
        "columns 'Winner ID' and 'Loser ID'"
    """
    return lambda table, _: next(
        filter(None, (table.why(*names) for names in exports)), ""
    )


def layout_of(name: str) -> Layout:
    """Load the module of a layout.

    Raises:
        OptionError: If there is no such layout.

    Examples:
        >>> layout_of("gavel").title
        'decisions of Gavel'
    """
    if name not in PLATFORMS:
        raise OptionError(str(Source().unknown("format", name, PLATFORMS)))
    module = import_module(f"evenhand.formats.{PLATFORMS[name][0]}")
    layout: Layout = getattr(module, name.upper())
    return layout


def recognise(table: Table, options: ReadOptions) -> tuple[Layout, str]:
    """Tell a table's layout, and why.

    Args:
        table: The table.
        options: What the user said; columns for reviewer and item make it long.

    Returns:
        The layout and the reason, empty if the user named it.

    Raises:
        RatingsError: If it may be one of several.

    Examples:
        >>> table = Table.of({"judge": ["a"], "entry": ["x"], "mark": ["1"]}, Source())
        >>> recognise(table, ReadOptions())[1]
        "columns 'judge', 'entry' and 'mark'"
    """
    columns = options.columns
    if options.format:
        if options.format not in ("wide", "forms"):
            refuse_option("rows", options.rows, "for a table that is not wide")
        return layout_of(options.format), ""
    # The list of reviews may lie deeper in a document.
    deep, names = table.document is not None, {plain(name) for name in table.columns}
    marked = [
        name
        for name, (_, marks) in PLATFORMS.items()
        if marks and (deep or not names.isdisjoint(marks))
    ]
    # Of a form the last responses count, whatever columns the user names.
    forms = ["forms"] if "forms" in marked else []
    if match := next(_matches(forms, table, options), None):
        return match
    if options.rows:
        return layout_of("wide"), ""
    # Three columns that are a reviewer, an item and a score leave none for votes.
    parts, headings = ("reviewer", "item", "score"), [*table.columns]
    scored = all(candidates(part, headings, columns) for part in parts)
    votes = [] if scored and len(headings) == len(parts) else ["votes"]
    if match := next(_matches(votes, table, options), None):
        return match
    if (columns.reviewer and columns.item) or columns.winner or columns.rank:
        return layout_of("long"), ""
    matches = [*_matches(marked, table, options)]
    if len(matches) > 1:
        possible = listing(layout.name for layout, _ in matches)
        raise table.source.whole(
            f"The file may come from {possible}. Say which with format= or --format."
        )
    # A table in long form is not looked at as a wide one.
    either = _matches(["long", "orders", "wide"], table, options)
    return next(chain(matches, either), (layout_of("long"), ""))


def _matches(
    names: Iterable[str], table: Table, options: ReadOptions
) -> Iterator[tuple[Layout, str]]:
    for layout in map(layout_of, names):
        if reason := layout.recognise(table, options):
            yield layout, reason

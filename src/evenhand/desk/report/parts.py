"""What a page is made of: sections with text, tables, lists and charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from evenhand._cards import Html, escaped, figure, shortened
from evenhand.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.desk.report.figures import Figure

# Rows of the numbers behind a chart, and characters of a cell.
MOST_NUMBERS, LONG_CELL = 1000, 200
SHORT = {
    "places": "Open places",
    "reviewers": "Reviewers",
    "contradictions": "Contradictions",
    "ladder": "Scales",
    "needed": "More reviews",
    "warp": "Warp test",
    "draws": "Chance",
    "load": "Spread of ratings",
    "p-values": "p-values",
    "error-bound": "Error bound",
    "replay": "Repeat it",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        number: Whether it holds numbers.
        hint: What it means, a sentence; shown when the heading is pointed at.
        largest_first: Whether the first click puts large values on top.
    """

    title: str
    number: bool = False
    hint: str = ""
    largest_first: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: What is shown.
        key: What it is sorted by, if that is not the text.
    """

    text: Html
    key: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: A cell for each column.
        group: Number of the group that it belongs to, if there are groups.
        inside: Whether it is above a cut; None without one.
        first: Whether a line goes above it, because its group begins here.
        cut: Whether the cut goes above it.
    """

    cells: tuple[Cell, ...]
    group: int | None = None
    inside: bool | None = None
    first: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        name: Element id.
        caption: What it shows.
        columns: Its columns; the one named by `header` heads the rows.
        rows: Its rows.
        header: Which column heads the rows.
        sortable: Whether the reader may sort it.
        noun: What rows are, for a box that searches them; empty for no box.
        left: Rows that are left out.
    """

    kind: ClassVar[str] = "table"
    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    header: int = 0
    sortable: bool = False
    noun: str = ""
    left: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: Html


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    kind: ClassVar[str] = "bullets"
    lines: tuple[Html, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms with what they are."""

    kind: ClassVar[str] = "facts"
    pairs: tuple[tuple[str, Html], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with its words and its numbers."""

    kind: ClassVar[str] = "picture"
    figure: Figure
    numbers: Table


Block: TypeAlias = Table | Text | Bullets | Facts | Picture


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page.

    Attributes:
        name: Element id.
        title: Heading.
        lead: One or two sentences for a committee.
        blocks: What everyone sees.
        more: What those open who want more.
    """

    name: str
    title: str
    lead: tuple[Html, ...]
    blocks: tuple[Block, ...] = ()
    more: tuple[Block, ...] = ()

    @property
    def short(self) -> str:
        """Its title in a word or two, for the contents."""
        return SHORT.get(self.name, self.title)


def cell(value: object, key: float | None = None) -> Cell:
    """Make a cell of anything; numbers are shown with three digits.

    Examples:
        >>> cell(0.12345), cell("<b>")
        (Cell(text=Html('0.123'), key=0.12345), Cell(text=Html('&lt;b&gt;'), key=None))
    """
    if value is None:
        return Cell(Html(""), key)
    if isinstance(value, Html):
        return Cell(value, key)
    if isinstance(value, float):
        return Cell(Html(figure(value)), value if key is None else key)
    if isinstance(value, int):
        return Cell(Html(f"{value:,}"), value if key is None else key)
    return Cell(escaped(shortened(printable(value), LONG_CELL)), key)


def plain_table(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[object]],
    *,
    sortable: bool = False,
) -> Table:
    """Make a table of values.

    Examples:
        >>> made = plain_table("t", "Two", [Column("a"), Column("b")], [["x", 1]])
        >>> made.rows[0].cells[1].text
        Html('1')
    """
    return Table(
        name,
        caption,
        tuple(columns),
        tuple(
            Row(tuple(one if isinstance(one, Cell) else cell(one) for one in row))
            for row in rows
        ),
        sortable=sortable,
    )


def picture(figure: Figure) -> Picture:
    """Put a chart and the numbers behind it together.

    Examples:
        >>> from evenhand.desk.report.figures import Figure, layered, marks
        >>> chart = layered([marks("rows").mark_point()], {"rows": []}, height=40)
        >>> made = picture(Figure("x", "X", "How.", "What.", chart, ("a",), ((1.5,),)))
        >>> made.numbers.name, made.numbers.columns[0].number
        ('numbers-x', True)
    """
    shown = figure.rows[:MOST_NUMBERS]
    columns = [
        Column(title, number=bool(shown) and all(map(_is_number, values)))
        for title, values in zip(
            figure.header,
            zip(*shown, strict=True) if shown else ((),) * len(figure.header),
            strict=True,
        )
    ]
    numbers = plain_table(
        f"numbers-{figure.name}", f"Numbers behind “{figure.title}”", columns, shown
    )
    left = len(figure.rows) - len(shown)
    return Picture(
        figure,
        Table(numbers.name, numbers.caption, numbers.columns, numbers.rows, left=left),
    )


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and value is not True)

"""Marks in words: sentences, the table, the card of notebooks, rows of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import aligned, counted
from evenhand.words.cards import Card
from evenhand.words.lines import claim
from evenhand.words.rows import Head, Row, Rows, one_precision
from evenhand.words.sides import axis
from evenhand.words.tables import Column, Number, Table, cell, table
from evenhand.words.text import name, notice, plain_joined, plain_name

if TYPE_CHECKING:
    from evenhand.claims import Label
    from evenhand.grading import Grades

# Names in a sentence, and rows of a repr.
NAMED, SHOWN = 12, 40
# Marks from here on are shown with one digit behind the point, smaller ones with two.
TEN = 10
INTERVAL = "90 % interval"
KINDS = {"above": "in", "open": "open", "below": "out"}
MAY = (
    "9 intervals of 10 hold what the reviewers would give the item on average if each "
    "had scored it, to the extent that the model is right.",
    "No mark is drawn to the middle because few scored the item: its interval is "
    "wider.",
)
MAY_NOT = (
    "That a mark is deserved: if all reviewers are wrong in the same way, so is the "
    "mark.",
    "That of two items with overlapping intervals the one with the higher mark is "
    "better.",
)


def pass_lines(result: Grades) -> list[str]:
    """Say who is above, below and open at the pass mark; nothing without one.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> for line in pass_lines(grade(ratings, passing=3, rng=7)):
        ...     print(line)
        Pass mark 3: 1 safely above, 1 safely below, 0 open.
        Below: y.
    """
    mark = result.parameters["passing"]
    if not isinstance(mark, float):
        return []
    above, below, still = map(result.at, ("above", "below", "open"))
    lines = [
        f"Pass mark {mark:g}: {len(above)} safely above, {len(below)} safely below, "
        f"{len(still)} open."
    ]
    for word, items in (("Open", still), ("Below", below)):
        if items:
            lines.append(f"{word}: {plain_joined(_names(result, items), NAMED)}.")
    return lines


def _names(result: Grades, items: tuple[Label, ...]) -> list[str]:
    return [plain_name(item, result.titles.get(item)) for item in items]


def model_lines(result: Grades) -> list[str]:
    """Say which model marks come from, what they stand for, and what they may claim.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> print(model_lines(grade(ratings, rng=7))[1])
        Marks are on the scale of the scores.
    """
    asked = result.parameters
    anchors = [row.mark for row in result.items if row.anchor]
    scale = "Marks are on the scale of the scores."
    if anchors:
        fixed = "level and spread" if len(set(anchors)) > 1 else "level"
        scale = f"The marks of {counted(len(anchors), 'anchor')} fix their {fixed}."
    elif asked["onto"] is not None and result.form is not None:
        (low, high), (least, most) = asked["onto"], result.form  # type: ignore[misc]  # two numbers
        given = "" if asked["form"] else ", the lowest and highest that were given"
        scale = f"Marks {low:g} to {high:g} stand for scores {least:g} to {most:g}"
        scale += f"{given if (low, high) != (least, most) else ''}."
    return [
        f"Marks by the {result.method} model, because {result.because}.",
        scale,
        claim(result.certificate),
    ]


def claim_lines() -> list[str]:
    """List what marks may claim and what not, for a terminal."""
    may, may_not = ([f"  {line}" for line in lines] for lines in (MAY, MAY_NOT))
    return ["What this may claim:", *may, "What it may not claim:", *may_not]


def grades_table(result: Grades, *, html: bool = False) -> Table:
    """Lay the marks out.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> [one.title for one in grades_table(grade(ratings, rng=7)).columns]
        ['item', 'mark', '90 % interval', 'error', 'scores', 'mean score']
    """
    rows, show = result.items, name if html else plain_name
    rounded = result.parameters["rounding"] is not None
    digits = 1 if max(abs(row.mark) for row in rows) >= TEN else 2
    columns: dict[Column, list[object]] = {
        Column("item"): [show(row.item, result.titles.get(row.item)) for row in rows],
        Number("mark"): [
            cell(f"{row.mark:g}" if rounded else f"{row.mark:.{digits}f}", row.mark)
            for row in rows
        ],
        Number(INTERVAL): [
            cell(
                "given"
                if row.anchor
                else f"{row.low:.{digits}f}\N{EN DASH}{row.high:.{digits}f}",
                row.low,
            )
            for row in rows
        ],
        Number("error", "Standard error of the mark."): [
            cell(f"{row.error:.{digits}f}", row.error) for row in rows
        ],
    }
    if rows[0].standing is not None:
        columns[Column("at the pass mark")] = [row.standing for row in rows]
    columns[Number("scores")] = [row.reviews for row in rows]
    if rows[0].mean_score is not None:
        columns[Number("mean score")] = [row.mean_score for row in rows]
    return table("grades-table", f"Marks ({counted(len(rows), 'item')})", columns)


def grades_text(result: Grades) -> str:
    """Show marks as plain text, as `repr` does."""
    made = grades_table(result)
    rows = [[one.text for one in row.cells] for row in made.rows[:SHOWN]]
    lines = aligned([[column.title for column in made.columns], *rows])
    more = [f"and {len(made.rows) - SHOWN} more"] if len(made.rows) > SHOWN else []
    return "\n".join([*pass_lines(result), *lines, *more, *model_lines(result)[:2]])


def grades_card(result: Grades) -> Card:
    """Show marks in a notebook.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> grades_card(grade(ratings, rng=7)).title
        'Marks of 2 items'
    """
    return Card(
        f"Marks of {counted(len(result.items), 'item')}",
        (*pass_lines(result), *model_lines(result)[:2]),
        MAY,
        MAY_NOT,
        tuple(notice(one.message) for one in result.notices),
        result.certificate,
        table=grades_table(result, html=True),
    )


def verdict(result: Grades) -> str:
    """Say in one sentence what the marks decide.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> verdict(grade(ratings, passing=3, rng=7))
        '2 items marked: 1 safely above the pass mark 3, 0 open, 1 safely below.'
    """
    marked, mark = f"{counted(len(result.items), 'item')} marked", _pass_mark(result)
    if mark is None:
        high, low = one_precision([result.items[0].mark, result.items[-1].mark])
        return f"{marked}, from {low} to {high}."
    above, still, below = map(len, map(result.at, ("above", "open", "below")))
    return (
        f"{marked}: {above:,} safely above the pass mark {mark:g}, {still:,} open, "
        f"{below:,} safely below."
    )


def _pass_mark(result: Grades) -> float | None:
    mark = result.parameters["passing"]
    return mark if isinstance(mark, float) else None


def grade_rows(result: Grades) -> Rows:
    """Lay out marks: each item with its interval of marks, and the pass mark.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> [row.word for row in grade_rows(grade(ratings, passing=3, rng=7)).rows]
        ['above', 'below']
    """
    items, mark = result.items, _pass_mark(result)
    ends = [end for row in items for end in (row.low, row.mark, row.high)]
    shared = axis([*ends, *([] if mark is None else [mark])], margin=0.02)
    means = one_precision([row.mean_score for row in items])
    columns: dict[Head, list[str]] = {
        Head("mark"): one_precision([row.mark for row in items]),
        Head("error", "Standard error of the mark."): one_precision(
            [row.error for row in items]
        ),
        Head("mean", "Plain mean of its scores."): means,
        Head("scores"): [f"{row.reviews:,}" for row in items],
    }
    shown = {head: cells for head, cells in columns.items() if any(cells)}
    rows = tuple(
        Row(
            row.item,
            result.titles.get(row.item, ""),
            f"{place:,}",
            shared.place(row.low),
            shared.place(row.high),
            shared.place(row.mark),
            tuple(cells),
            " ".join(filter(None, [row.standing, "given" if row.anchor else ""])),
            kind=KINDS.get(row.standing or "", "in"),
        )
        for place, (row, *cells) in enumerate(
            zip(items, *shown.values(), strict=True), start=1
        )
    )
    passed = None if mark is None else sum(row.mark >= mark for row in items)
    return Rows(
        "item",
        "rank",
        tuple(shown),
        rows,
        shared.ticks,
        "mark",
        line=None if mark is None else shared.place(mark),
        cut=None if not passed else (passed, f"pass mark {mark:g}"),
        words="mark is" if any(row.word for row in rows) else "",
    )

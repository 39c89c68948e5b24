"""What is known about how reviewers were assigned, and what shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand._labels import require_text, shown
from evenhand.assignments.assignment import Assignment
from evenhand.errors import OptionError, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._results import Label
    from evenhand.certificate import Backing
    from evenhand.ratings import Ratings


@dataclass(frozen=True, slots=True)
class Declared:
    """How reviewers were assigned, as far as anybody said or showed.

    Attributes:
        design: Name of the design, None if nobody said.
        backing: What shows that it was drawn so.
        missing: Assigned ratings that are not there.
        conflicts: Whether conflicts of interest kept reviewers from items.
        assignment: The assignment itself, if there is a record of it.
    """

    design: str | None = None
    backing: Backing = "declared"
    missing: int = 0
    conflicts: bool = False
    assignment: Assignment | None = None


def declare(
    design: str | None,
    assignment: Assignment | None,
    known: Sequence[str],
    ratings: Ratings | None,
    items: Sequence[Label] | None = None,
) -> Declared:
    """Put together what the user declares and what a record shows.

    Args:
        design: Name of the design, or None.
        assignment: The assignment that the ratings came through, or None.
        known: Designs that may be declared for this job.
        ratings: The ratings, None if there are only lists of scores.
        items: The items that matter, None for all.

    Raises:
        OptionError: If a design is unknown, or the two contradict each other.
        DesignError: If a rating was never assigned.

    Examples:
        >>> declare("halves", None, ("halves", "coins"), None)
        Declared(design='halves', backing='declared', missing=0, conflicts=False, \
assignment=None)
    """
    require_text(design=design)
    if design is not None and design not in known:
        raise OptionError(unknown("design", design, known))
    if assignment is None:
        return Declared(design)
    if not isinstance(assignment, Assignment):
        raise OptionError(
            f"assignment must be an Assignment, got {shown(assignment)}. Read one from "
            "its record, or draw one with assign."
        )
    if ratings is None:
        raise OptionError(
            "assignment must come with a Ratings. Lists of scores do not say who "
            "scored what."
        )
    if design not in (None, assignment.design):
        raise OptionError(
            f"design must be {assignment.design!r}, which the assignment was drawn by, "
            f"got {design!r}. Leave it out."
        )
    if assignment.design not in known:
        raise OptionError(unknown("design", assignment.design, known))
    assignment.require(ratings, items)
    wanted = None if items is None else {str(item) for item in items}
    missing = [
        row
        for row in assignment.missing(ratings)
        if wanted is None or str(row[1]) in wanted
    ]
    return Declared(
        assignment.design,
        backing=assignment.backing,
        missing=len(missing),
        conflicts=bool(assignment.conflicts),
        assignment=assignment,
    )

"""A check in plain words: what was found, and what that may claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._cards import Card, Html, escaped, shortened
from evenhand.errors import printable

if TYPE_CHECKING:
    from evenhand.lab.check import Check

LONG = 900
MAY = (
    Html("What these ratings look like, and which decisions they can support."),
    Html(
        "Statements about reviewers only where their ratings are enough for them; "
        "elsewhere it says that they are not."
    ),
)
MAY_NOT = (
    Html("Which item is best. A check chooses nothing."),
    Html(
        "That a strict reviewer is wrong. Strictness and spread describe how a "
        "reviewer uses the scale, beside the others at hand."
    ),
    Html(
        "That an assumption is true. Ratings can bear it out, or stand against it, as "
        "far as they go."
    ),
)
# Notices that a finding repeats.
TOLD = ("no_information", "no_ladder", "no_needed", "one_rating_reviewers")


def check_card(found: Check) -> Card:
    """Say what a check found, for its report and for notebooks.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> card = check_card(check(Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7))
        >>> card.decision[0]
        Html('2 scores of 2 items by 1 reviewer: a reviewer rated 2, an item has 1.')
    """
    return Card(
        title=Html("What these ratings can support"),
        decision=tuple(
            escaped(shortened(printable(one.message), LONG)) for one in found.findings
        ),
        may=MAY,
        may_not=MAY_NOT,
        notices=tuple(one for one in found.notices if one.code not in TOLD),
    )

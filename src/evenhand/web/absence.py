"""What it does to the draw and to the claim that somebody does not take part.

Only who has not begun can be marked absent or be replaced: nobody who never saw their
items can have left because of them. A test enumerates every draw and counts the swaps
of two people that change the law: none for what is offered here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import OptionError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.designs.assignment import Assignment

REPAIRS = ("absent", "reserve", "substitute")


@dataclass(frozen=True, slots=True)
class Price:
    """What a repair costs, in words.

    Attributes:
        does: What happens.
        claim: What it does to the claim.
        free: Whether the claim stays as it is.
    """

    does: str
    claim: str
    free: bool


def repair(
    before: Assignment,
    kind: str,
    left: Sequence[str],
    stands_in: str | None = None,
    *,
    secret: str | None = None,
) -> Assignment:
    """Amend a draw for reviewers who never began.

    Args:
        before: The assignment as it holds now.
        kind: "absent", "reserve" or "substitute".
        left: Codes of those who never began; one of them unless the kind is "absent".
        stands_in: Code of who takes over all their items.
        secret: The secret, if the assignment is sealed.

    Returns:
        The amended assignment.

    Raises:
        OptionError: If the kind is unknown or does not fit who stands in.

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> drawn = assign([1, 2], ["a", "b", "c"], design="coins", rng=7)
        >>> repair(drawn, "reserve", ["b"], "r").effect()
        'The guarantee stays: who left had not seen their items. With unequal numbers \
of scores it holds on average over the assignment only.'
    """
    if kind not in REPAIRS or (kind == "absent") != (stands_in is None):
        raise OptionError("The repair must be absent, reserve or substitute.")
    return before.amend(
        list(left),
        add=[] if stands_in is None else [stands_in],
        leave_open=True,
        unseen=True,
        in_turn=kind == "reserve",
        secret=secret,
    )


def price(kind: str, name: str, stands_in: str = "") -> Price:
    """Say what a repair does, and what it costs, before it is done.

    Examples:
        >>> price("absent", "Cy").free
        True
    """
    if kind == "absent":
        return Price(
            f"{name} is marked absent. Nobody gets the items of {name}.",
            f"Unchanged. {name} never saw any item, which the log shows, so being "
            "absent cannot depend on them. The result has fewer ratings.",
            free=True,
        )
    if kind == "reserve":
        return Price(
            f"{stands_in}, the next reserve of the sealed order, takes all items of "
            f"{name}. The link of {name} stops working.",
            f"Unchanged. {name} never saw any item, and nobody chose the reserve: the "
            "order was drawn with the sealed secret.",
            free=True,
        )
    return Price(
        f"Somebody whom you name takes all items of {name}. The link of {name} stops "
        "working.",
        "It then assumes, and says so, that the substitute was chosen without regard "
        "to items. You do not see which items they are, so this is easy to keep.",
        free=False,
    )


def unfinished_price(names: Sequence[str], *, keep: bool) -> str:
    """Say what it costs that reviewers saw their items and did not finish.

    Examples:
        >>> unfinished_price([], keep=False)
        ''
    """
    if not names:
        return ""
    who = f"{counted(len(names), 'reviewer')} began and did not finish"
    does = "Their ratings count" if keep else "Their ratings are left out"
    return (
        f"{who}: {', '.join(names)}. {does}, as the rule says that you set before "
        "sealing. The claim then assumes that they stopped for reasons that have "
        "nothing to do with items."
    )

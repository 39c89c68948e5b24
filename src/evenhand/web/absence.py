"""What it does to the draw and to the claim that somebody does not take part.

Only who has not begun can be marked absent or be replaced: nobody who never saw their
items can have left because of them. A test enumerates every draw and counts the swaps
of two people that change the law: none for what is offered here, if the organiser kept
nobody away because of their items. No log shows that, so it is declared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import OptionError, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.designs.assignment import Assignment

REPAIRS = ("absent", "reserve", "substitute")


@dataclass(frozen=True, slots=True)
class Price:
    """What a repair costs, in words.

    Attributes:
        does: What happens.
        claim: What the claim then assumes.
    """

    does: str
    claim: str


def repair(
    before: Assignment,
    kind: str,
    never_began: Sequence[str],
    stands_in: str | None = None,
    *,
    secret: str | None = None,
) -> Assignment:
    """Amend a draw for reviewers who never began.

    Args:
        before: The assignment as it holds now.
        kind: "absent", "reserve" or "substitute".
        never_began: Their codes; one of them unless the kind is "absent".
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
        'The guarantee stays if nobody left or stepped in because of an item. With \
unequal numbers of scores it holds on average over the assignment only.'
    """
    if kind not in REPAIRS or (kind == "absent") != (stands_in is None):
        raise OptionError("The repair must be absent, reserve or substitute.")
    return before.amend(
        list(never_began),
        add=[] if stands_in is None else [stands_in],
        leave_open=True,
        unseen=True,
        in_turn=kind == "reserve",
        secret=secret,
    )


def price(kind: str, name: str, stands_in: str = "") -> Price:
    """Say what a repair does, and what it costs, before it is done.

    Examples:
        >>> price("absent", "Cy").does
        'Cy is marked absent. Nobody gets the items of Cy.'
    """
    kept_away = (
        f"It then states that {name} is not absent because of an item. The log shows "
        "that they never started, but not that they got their link: it relies on your "
        "word for that."
    )
    if kind == "absent":
        does = f"{name} is marked absent. Nobody gets the items of {name}."
        return Price(does, f"{kept_away} The result has fewer ratings.")
    if kind == "reserve":
        return Price(
            f"{stands_in}, the next reserve of the sealed order, takes all items of "
            f"{name}. The link of {name} stops working.",
            f"{kept_away} Nobody chose the reserve: the order was drawn with the "
            "sealed secret.",
        )
    return Price(
        f"Somebody whom you name takes all items of {name}. The link of {name} stops "
        "working.",
        f"{kept_away} It assumes, too, that you chose the substitute without regard to "
        "items.",
    )


def unfinished_price(names: Sequence[str], *, keep: bool) -> str:
    """Say what it costs that reviewers saw their items and did not finish.

    Examples:
        >>> unfinished_price([], keep=False)
        ''
    """
    if not names:
        return ""
    subject = f"{plural(len(names), 'reviewer')} started but did not finish"
    does = "Their ratings count" if keep else "Their ratings are left out"
    return (
        f"{subject}: {', '.join(names)}. {does}, as you chose before sealing. The "
        "guarantee then assumes that they stopped for reasons unrelated to the items."
    )

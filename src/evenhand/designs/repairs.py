"""Who takes over the items of reviewers who left, drawn at random.

The ranking guarantees need that, given which sets of items are reviewed, any two
reviewers might as well have changed places. What is drawn here looks at nobody's
name, so it keeps that if it depends on the person alone who left. A test follows every
choice and counts the swaps that change the law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evenhand.errors import DesignError, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.claims import Label
    from evenhand.randomness import Chance

    Rows = list[tuple[Label, Label]]

Thing = TypeVar("Thing")


def shuffled(things: Iterable[Thing], chance: Chance) -> list[Thing]:
    """Return things in an order that is uniformly random.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> set(outcomes(lambda chance: tuple(shuffled("abc", chance))).values())
        {Fraction(1, 6)}
    """
    left = list(things)
    return [left.pop(chance.pick(len(left))) for _ in range(len(left))]


def hand_out(
    items: Sequence[Label], held: dict[Label, set[Label]], chance: Chance
) -> Rows:
    """Give items to those who stay, evenly, and nobody what they have already.

    Round after round, with people and items in a random order, as many items as
    possible find somebody, and nobody gets two.

    Args:
        items: The items, one for each review that is open.
        held: For those who stay, what they have or must not get.
        chance: Where choices come from.

    Returns:
        Reviewer and item of each review.

    Raises:
        DesignError: If all who stay have an item already.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> held = {"a": {1}, "b": {2}, "c": {3}}
        >>> sorted(outcomes(lambda chance: tuple(hand_out([1], held, chance))).items())
        [((('b', 1),), Fraction(1, 2)), ((('c', 1),), Fraction(1, 2))]
    """
    has = {who: set(own) for who, own in held.items()}
    given: Rows = []
    left = list(items)
    while left:
        left = shuffled(left, chance)
        taken = _matched(left, shuffled(has, chance), has)
        if not taken:
            raise DesignError(
                f"Nobody who stays can take {listing(sorted(set(left), key=str))}: all "
                "have it already, or a conflict. Let somebody step in (add= or --add), "
                "or leave it open (leave_open=True or --leave-open)."
            )
        for who, number in taken.items():
            given.append((who, left[number]))
            has[who].add(left[number])
        left = [it for number, it in enumerate(left) if number not in taken.values()]
    return given


def _matched(
    items: list[Label], people: list[Label], has: dict[Label, set[Label]]
) -> dict[Label, int]:
    """Find somebody for as many items as possible, one item each at most."""
    taken: dict[Label, int] = {}

    def place(number: int, asked: set[Label]) -> bool:
        for who in people:
            if who in asked or items[number] in has[who]:
                continue
            asked.add(who)
            if who not in taken or place(taken[who], asked):
                taken[who] = number
                return True
        return False

    for number in range(len(items)):
        place(number, set())
    return taken

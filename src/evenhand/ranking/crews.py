"""Whose scores answer a question, and how much they differ.

Reviewers are chosen by what they scored, never by how. Two who share other items are
preferred: each one's score, less the mean that they gave to the shared items, is an
increasing function of the item again (Theorem A), and has lost its offset.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.ranking.flips import fresh_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    Bundle = Mapping[int, float] | Mapping[int, Fraction]
    Bundles = Sequence[Bundle] | Mapping[int, Bundle]

Pair = tuple[int, int]

# Reviewers of an item among whom a question looks for two that share other items.
LOOKED_AT = 12


def choose_crew(
    items: Pair,
    people: Sequence[Sequence[int]],
    bundles: Bundles,
    pick: Callable[[int], int],
    *,
    score_pairs: int,
    anchors: bool,
) -> list[int]:
    """Choose the reviewers of a question, without a look at scores.

    Args:
        items: The two items.
        people: Fresh reviewers of the one item and of the other.
        bundles: The items of each reviewer.
        pick: From a number of choices to the number of one.
        score_pairs: How many score pairs are wanted.
        anchors: Whether reviewers who share other items are preferred.

    Returns:
        An odd number of pairs of reviewers, by turns of the one item and of the other.

    Examples:
        >>> bundles = [{0: 5, 2: 1}, {0: 7, 3: 2}, {1: 6, 3: 4}]
        >>> choose_crew((0, 1), [[0, 1], [2]], bundles, lambda count: 0,
        ...             score_pairs=1, anchors=True)
        [1, 2]
    """
    crew: list[int] = []
    while len(crew) < 2 * score_pairs:
        ones, others = (_some(without(side, crew), pick) for side in people)
        pairs = fresh_pairs(ones, others, frozenset())
        if anchors:
            related = [pair for pair in pairs if shared_items(bundles, items, pair)]
            pairs = related or pairs
        if not pairs:
            break
        crew += pairs[pick(len(pairs))]
    if len(crew) % 4 == 0:
        del crew[-2:]
    return crew


def without(people: Sequence[int], crew: Collection[int]) -> list[int]:
    """List the reviewers who are not in a crew.

    Examples:
        >>> without([1, 2, 3], {2})
        [1, 3]
    """
    return [reviewer for reviewer in people if reviewer not in crew]


def _some(people: list[int], pick: Callable[[int], int]) -> list[int]:
    """Draw as many reviewers as are looked at."""
    if len(people) > LOOKED_AT:
        for place in range(LOOKED_AT):
            drawn = place + pick(len(people) - place)
            people[place], people[drawn] = people[drawn], people[place]
    return people[:LOOKED_AT]


def shared_items(
    bundles: Bundles, items: Pair, reviewers: Sequence[int]
) -> tuple[int, ...]:
    """List the other items that two reviewers both scored.

    Examples:
        >>> shared_items([{0: 5, 2: 1, 3: 4}, {1: 7, 2: 4, 3: 5}], (0, 1), (0, 1))
        (2, 3)
    """
    one, other = (bundles[reviewer].keys() for reviewer in reviewers)
    return tuple(sorted((one & other) - set(items)))


def relative_gap(
    bundles: Bundles, items: Pair, reviewers: Sequence[int], shared: Sequence[int]
) -> Fraction:
    """Return the score of the first item less that of the second, without rounding.

    Args:
        bundles: The scores of each reviewer.
        items: The two items.
        reviewers: Who scored the first, and who scored the second.
        shared: Items whose mean score each reviewer's score is relative to; if there
            are none, scores are taken as they are.

    Examples:
        >>> relative_gap([{0: 5, 2: 1}, {1: 7, 2: 4}], (0, 1), (0, 1), [2])
        Fraction(1, 1)
    """
    one, other = (
        Fraction(bundles[reviewer][item])
        - sum((Fraction(bundles[reviewer][anchor]) for anchor in shared), Fraction(0))
        / max(len(shared), 1)
        for reviewer, item in zip(reviewers, items, strict=True)
    )
    return one - other


def gaps_of(
    bundles: Bundles, items: Pair, crew: Sequence[int], *, anchors: bool
) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Return the gap of each score pair, and the items that it is relative to.

    Examples:
        >>> gaps_of([{0: 5, 2: 1}, {1: 7, 2: 4}], (0, 1), [0, 1], anchors=True)
        [(Fraction(1, 1), (2,))]
    """
    pairs = list(zip(crew[::2], crew[1::2], strict=True))
    bases = [shared_items(bundles, items, pair) if anchors else () for pair in pairs]
    return [
        (relative_gap(bundles, items, pair, base), base)
        for pair, base in zip(pairs, bases, strict=True)
    ]

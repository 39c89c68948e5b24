"""Theorem A: reviewers of tied items are set against what they all scored.

Tied items are compared in layers. A layer has one reviewer for each item, and all of
them scored a set K of other items, the anchors of the layer. Each score is taken
relative to the same reviewer's scores of K: less their mean, and over their spread if K
has two items or more. K may be empty; then scores stay as they are.

Why this keeps Theorem T. Who scored which items is drawn first, and the reviewers are
then given these bundles at random. The layers are chosen by bundles and by chance, with
no look at a score or a name. So K is fixed when the reviewers of a layer change places,
and what reviewer r would make of value x is g_r(x) = (f_r(x) - mean) / spread, with a
mean and a spread of r's own scores of K, whichever item of the tie r was given: an
increasing scale again. Let a be better than b, and exchange their reviewers r, s in
every layer at once. The sum over layers of g_r(a) - g_s(b) and the same sum after the
exchange, of g_s(a) - g_r(b), add up to the sum of g_r(a) - g_r(b) + g_s(a) - g_s(b),
which is positive. Any rule that is increasing and antisymmetric in the difference is
hence right more often than not. That needs no reviewer twice, but layers may have
different anchors; with three items or more all reviewers of one layer must share them.

A mean over any other items, such as all items of each reviewer, moves with the bundle:
then g_r(a) and g_r(b) are on different scales, and the rule can be wrong nearly always.

The choice among reviewers with equal claims is by lot. By name it would not do: the
smaller name of two could go to the one item whenever the other has the third.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.ranking.flips import bundles_of, people_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evenhand.ratings import Ratings

    Pick = Callable[[int], int]

# Two anchors have a spread; one has only a place.
WITH_SPREAD = 2


@dataclass(frozen=True, slots=True)
class Sheets:
    """What reviewers gave, as far as it may matter for some items.

    Attributes:
        people: Reviewers of each of these items, increasing.
        marks: For each such reviewer the scores of all items that they scored.
    """

    people: Mapping[int, Sequence[int]]
    marks: Mapping[int, Mapping[int, float | Fraction]]


@dataclass(frozen=True, slots=True)
class Layer:
    """One reviewer for each of some tied items.

    Attributes:
        reviewers: Their codes, in the order of the items.
        anchors: Codes of other items that all of them scored, and that their scores are
            set against; none for scores as they are.
    """

    reviewers: tuple[int, ...]
    anchors: tuple[int, ...]


def read_sheets(ratings: Ratings, items: Iterable[int]) -> Sheets:
    """Collect the reviewers of some items, and all that they scored.

    Raises:
        RatingsError: If there are no scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> read_sheets(Ratings(["a", "a", "b"], [1, 2, 2], [5, 4, 3]), [0])
        Sheets(people={0: [0]}, marks={0: {0: 5.0, 1: 4.0}})
    """
    bundles, people = bundles_of(rows_of(ratings)), people_of(ratings)
    named = {item: people[item] for item in items}
    crew = {who for several in named.values() for who in several}
    return Sheets(named, {who: bundles[who] for who in sorted(crew)})


def choose_layers(
    sheets: Sheets, items: Sequence[int], pick: Pick, *, anchored: bool = True
) -> tuple[Layer, ...]:
    """Choose reviewers for tied items, and anchors, with no look at a score.

    Layers with two anchors or more are taken if there are any; else layers with one;
    else as many layers without anchors as the item with the fewest reviewers has.

    Args:
        sheets: Who scored what.
        items: The tied items, each with a reviewer.
        pick: From a number of choices to one of them, at random.
        anchored: Whether anchors are wanted.

    Returns:
        The layers, at least one; no reviewer has the same item in two of them.

    Examples:
        >>> marks = {0: {0: 5.0, 2: 4.0}, 1: {1: 9.0, 2: 7.0}, 2: {1: 1.0, 3: 0.0}}
        >>> sheets = Sheets({0: [0], 1: [1, 2]}, marks)
        >>> choose_layers(sheets, [0, 1], lambda _: 0)
        (Layer(reviewers=(0, 1), anchors=(2,)),)
        >>> choose_layers(sheets, [0, 1], lambda _: 0, anchored=False)
        (Layer(reviewers=(0, 1), anchors=()),)
    """
    people = [_shuffled(sheets.people[item], pick) for item in items]
    if anchored:
        inside = frozenset(items)
        seen = {
            one: frozenset(sheets.marks[one]) - inside
            for one in {one for several in people for one in several}
        }
        for least in (WITH_SPREAD, 1):
            layers = _anchored(people, seen, least)
            if layers:
                return layers
    fewest = min(map(len, people))
    chosen = zip(*(several[:fewest] for several in people), strict=True)
    return tuple(Layer(reviewers, ()) for reviewers in chosen)


def _shuffled(people: Sequence[int], pick: Pick) -> list[int]:
    left = list(people)
    return [left.pop(pick(len(left))) for _ in people]


def _anchored(
    people: Sequence[Sequence[int]], seen: Mapping[int, frozenset[int]], least: int
) -> tuple[Layer, ...]:
    """Go through the reviewers of the first item, and find the others their best."""
    used: set[int] = set()
    layers = []
    for first in people[0]:
        chosen, common = [first], seen[first]
        for several in people[1:]:
            free = [one for one in several if one not in used and one not in chosen]
            if len(common) < least or not free or first in used:
                common = frozenset()
                break
            shared = {one: common & seen[one] for one in free}
            chosen.append(max(free, key=lambda one: len(shared[one])))
            common = shared[chosen[-1]]
        if len(common) >= least:
            layers.append(Layer(tuple(chosen), tuple(sorted(common))))
            used.update(chosen)
    return tuple(layers)


def layer_values(sheets: Sheets, items: Sequence[int], layer: Layer) -> list[Fraction]:
    """Return what the reviewers of a layer make of its items, set against the anchors.

    With two anchors or more, scores are divided by the mean distance of the anchors
    from their mean, if that is positive for every reviewer of the layer.

    Examples:
        >>> marks = {0: {0: 5.0, 2: 4.0, 3: 2.0}, 1: {1: 9.0, 2: 7.0, 3: -1.0}}
        >>> sheets = Sheets({0: [0], 1: [1]}, marks)
        >>> [str(x) for x in layer_values(sheets, [0, 1], Layer((0, 1), (2,)))]
        ['1', '2']
        >>> [str(x) for x in layer_values(sheets, [0, 1], Layer((0, 1), (2, 3)))]
        ['2', '3/2']
    """
    rows = list(zip(items, layer.reviewers, strict=True))
    plain = [Fraction(sheets.marks[reviewer][item]) for item, reviewer in rows]
    if not layer.anchors:
        return plain
    anchors = [
        [Fraction(sheets.marks[reviewer][item]) for item in layer.anchors]
        for reviewer in layer.reviewers
    ]
    centres = [_mean(scores) for scores in anchors]
    values = [score - centre for score, centre in zip(plain, centres, strict=True)]
    # The mean distance stays a fraction, as a standard deviation would not.
    spreads = [
        _mean([abs(score - centre) for score in scores])
        for scores, centre in zip(anchors, centres, strict=True)
    ]
    if min(spreads) > 0:
        return [value / spread for value, spread in zip(values, spreads, strict=True)]
    return values


def mean_values(
    sheets: Sheets, items: Sequence[int], layers: Sequence[Layer]
) -> list[Fraction]:
    """Return the mean over layers of what reviewers make of each item.

    Examples:
        >>> sheets = Sheets({}, {0: {0: 5.0}, 1: {1: 9.0}, 2: {0: 3.0}, 3: {1: 2.0}})
        >>> layers = (Layer((0, 1), ()), Layer((2, 3), ()))
        >>> [str(value) for value in mean_values(sheets, [0, 1], layers)]
        ['4', '11/2']
    """
    rows = [layer_values(sheets, items, layer) for layer in layers]
    return [_mean(column) for column in zip(*rows, strict=True)]


def equal_loads(sheets: Sheets, layers: Sequence[Layer]) -> bool:
    """Say whether all reviewers of each layer scored equally many items.

    Examples:
        >>> sheets = Sheets({}, {0: {0: 5.0}, 1: {1: 9.0, 2: 1.0}})
        >>> equal_loads(sheets, [Layer((0, 1), ())])
        False
    """
    return all(
        len(sheets.marks[one]) == len(sheets.marks[other])
        for layer in layers
        for one, other in itertools.pairwise(layer.reviewers)
    )


def _mean(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)

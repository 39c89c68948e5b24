"""Whether the numbers of scores fit the design: a sample ratio test.

If whether people answer has nothing to do with their item, those who answered are split
between two items by the design alone. Of an assignment it is known how many were given
each item, so the number who answered for one of them is hypergeometric. Of matched
pairs only those with one answer say anything, each by a fair coin. Without a record it
is not known who was asked: then every split is a fair coin for each answer, which is
exact under `coins` and, as nobody knows how many halves were meant to be, has the wider
tails of the two under `halves`. Whole panels move many answers at once and are left
out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from evenhand.claims import Label
from evenhand.designs.design import TwoItemDesign, as_design

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evenhand.designs.assignment import Assignment

    Pair = tuple[int, int]

# So uneven numbers come up in one honest experiment of a thousand.
NEARLY_IMPOSSIBLE = 0.001
# What a tail leaves out, as a share of what it has.
NEGLIGIBLE = 1e-17


class Turnout(NamedTuple):
    """How many answered for each of two items.

    Attributes:
        answered: How many did, by item.
        given: How many were given the item, or None if nobody knows.
    """

    answered: Pair
    given: Pair | None = None

    @property
    def probability(self) -> float:
        """Twice the chance of so few answers for the item that has too few, at most 1.

        Examples:
            >>> f"{Turnout((40, 4)).probability:.1e}", Turnout((3, 3)).probability
            ('1.7e-08', 1.0)
            >>> round(Turnout((9, 2), (10, 10)).probability, 4)
            0.0055
        """
        few, many = sorted(self.answered)
        if self.given is None:
            return min(1.0, 2 * _binomial_tail(few, few + many))
        pairs = zip(self.answered, self.given, strict=True)
        shares = [part / max(number, 1) for part, number in pairs]
        low = shares.index(min(shares))
        fewer, n_other = self.given[low], self.given[1 - low]
        tail = _hypergeometric_tail(self.answered[low], few + many, fewer, n_other)
        return min(1.0, 2 * tail)


def turnout(
    assignment: Assignment, rated: Iterable[tuple[Label, Label]]
) -> Turnout | None:
    """Count who answered, of those who were given one of its two items first.

    People who left and people who stepped in are those of the first draw: nobody chose
    them.

    Args:
        assignment: The assignment as it holds now.
        rated: Those rows of the first draw that have a rating.

    Returns:
        The counts; None if the design sends groups that stay together.

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> given = assign(["x", "y"], ["a", "b", "c", "d"], design="halves", rng=7)
        >>> turnout(given, [("b", "x"), ("c", "x"), ("a", "y")])
        Turnout(answered=(2, 1), given=(2, 2))
    """
    first, (first_item, second_item) = assignment.chain[0], assignment.items
    symmetry = as_design(first.design, TwoItemDesign).symmetry
    if symmetry == "items":
        return None
    there = set(rated)
    if symmetry == "partners":
        pairs, group = defaultdict[Label, list[Label]](list), dict(first.groups or ())
        for reviewer, item in there:
            pairs[group[reviewer]].append(item)
        alone = Counter(
            answered_items[0]
            for answered_items in pairs.values()
            if len(answered_items) == 1
        )
        return Turnout((alone[first_item], alone[second_item]))
    n_given, answered = (
        Counter(item for _, item in rows) for rows in (first.rows, there)
    )
    return Turnout(
        (answered[first_item], answered[second_item]),
        (n_given[first_item], n_given[second_item]),
    )


def _binomial_tail(few: int, total: int) -> float:
    """Return the chance of so few heads, or fewer, of fair coins."""
    log = _log_choose(total, few) - total * math.log(2)
    return _sum_down(log, few, lambda k: k / (total - k + 1))


def _hypergeometric_tail(few: int, drawn: int, ours: int, others: int) -> float:
    """Return the chance that so few, or fewer, of those drawn are ours."""
    log = _log_choose(ours, few) + _log_choose(others, drawn - few)
    log -= _log_choose(ours + others, drawn)

    def ratio(k: int) -> float:
        return k * (others - drawn + k) / ((ours - k + 1) * (drawn - k + 1))

    return _sum_down(log, few, ratio)


def _sum_down(log: float, most: int, ratio: Callable[[int], float]) -> float:
    """Sum a law downwards from its value at `most`, by ratios of neighbours."""
    total = term = 1.0
    for k in range(most, 0, -1):
        term *= ratio(k)
        total += term
        if term <= NEGLIGIBLE * total:
            break
    return math.exp(log) * total


def _log_choose(total: int, n_chosen: int) -> float:
    return (
        math.lgamma(total + 1)
        - math.lgamma(n_chosen + 1)
        - math.lgamma(total - n_chosen + 1)
    )

"""Two items: how often a rule is right, exactly, under scales given by a table.

A rule is a name or a function of the scores of the two items. It is evaluated for all
assignments and all pairings in one call.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand import designs
from evenhand.ab import rules
from evenhand.ab.methods import Rule
from evenhand.method import as_method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.arrays import Floats
    from evenhand.lab.worlds import Order, Table

Sides = tuple[int, ...]
OwnRule = Callable[[Sequence[Fraction], Sequence[Fraction]], Fraction]
Chances = Callable[["Floats", "Floats"], "Floats"]
Success = Callable[["Order", "Table"], Fraction]
Batch = tuple["NDArray[np.int64]", "NDArray[np.int64]", Sequence[Fraction]]
"""Reviewers of item 0 and of item 1, a row each, and the probabilities of the rows."""

TRUTHS: tuple[Order, ...] = ((0, 1), (1, 0))


def assignments(design: str, n_reviewers: int) -> dict[Sides, Fraction]:
    """Return every assignment of a design with its exact probability.

    Args:
        design: "halves", "coins", "matched" (neighbours are a pair) or "panels"
            (neighbours are a panel).
        n_reviewers: Number of reviewers.

    Returns:
        From the item, 0 or 1, of each reviewer to the probability.

    Examples:
        >>> assignments("matched", 2)
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    """
    alone = design in ("halves", "coins")
    people = n_reviewers if alone else [r // 2 for r in range(n_reviewers)]
    law: dict[Sides, Fraction] = getattr(designs, f"enumerate_{design}")(people)
    return law


@dataclass(frozen=True, slots=True)
class ItemRule:
    """A rule that looks at the scores of the two items and not at who gave them.

    Attributes:
        function: From scores of item 0 and of item 1, a row each, to probabilities.
        paired: Whether it takes its scores in pairs.
        rest: Whether it takes those that are left over too, after the pairs.
    """

    function: Chances
    paired: bool = False
    rest: bool = False


def own_rule(rule: OwnRule) -> ItemRule:
    """Return a rule for one set of scores of each item in this form.

    Examples:
        >>> own_rule(lambda one, two: Fraction(one[0] > two[0])).function([[1]], [[2]])
        array([Fraction(0, 1)], dtype=object)
    """
    return ItemRule(lambda one, two: np.array(list(map(rule, one, two)), dtype=object))


def item_rule(method: str) -> ItemRule:
    """Return a rule of `compare`, or "midrank", in this form.

    Examples:
        >>> item_rule("median(lower)").function([1, 5], [2, 3])
        np.float64(0.0)
    """
    if method == "midrank":
        return ItemRule(rules.midrank)
    chosen = as_method(method, Rule, "rule")
    some = chosen.pairs == "some"
    return ItemRule(chosen.chance, paired=chosen.pairs != "none", rest=some)


def duel(rule: str | ItemRule, design: str, n_reviewers: int) -> Success:
    """Lay out a rule under a design, to be evaluated at any scales.

    Args:
        rule: What `item_rule` takes, or a rule of the items' scores.
        design: What `assignments` takes.
        n_reviewers: Number of reviewers.

    Returns:
        A function of the truth (the better item and the worse one) and a table (two
        scores by reviewer, for the worse item and for the better one) that gives the
        probability of the right output, over assignments, pairings and coins.

    Examples:
        >>> apart = ((Fraction(0), Fraction(1)), (Fraction(5), Fraction(6)))
        >>> duel("sign", "halves", 2)((0, 1), apart)
        Fraction(1, 2)
    """
    if isinstance(rule, str):
        rule = item_rule(rule)
    law = assignments(design, n_reviewers)
    batches = _batches(law, rule, matched=design == "matched")
    p_first = functools.partial(_batched, rule, batches)

    def success(truth: Order, table: Table) -> Fraction:
        p = p_first(truth[0], table)
        return p if truth[0] == 0 else 1 - p

    return success


def pairings(
    sides: Sides, *, paired: bool, matched: bool = False, rest: bool = False
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """List the ways in which a rule may take the scores of an assignment.

    A rule without pairs takes all scores in one way. A rule with pairs takes equal
    numbers: any of the larger side with the smaller one, in any order, or the named
    pairs of a matched design.

    Args:
        sides: The item of each reviewer.
        paired: Whether the rule takes its scores in pairs.
        matched: Whether neighbours are a pair.
        rest: Whether the reviewers that are left over follow the pairs.

    Returns:
        Reviewers of item 0 and of item 1, in pairs, for each way.

    Examples:
        >>> pairings((0, 1, 1), paired=True)
        [((0,), (1,)), ((0,), (2,))]
    """
    first = tuple(r for r, side in enumerate(sides) if side == 0)
    second = tuple(r for r, side in enumerate(sides) if side == 1)
    if not paired or matched:
        return [(first, second)]
    if len(first) > len(second):
        ways = pairings(tuple(1 - side for side in sides), paired=True, rest=rest)
        return [(one, two) for two, one in ways]
    return [
        (first, (*way, *(r for r in second if rest and r not in way)))
        for way in itertools.permutations(second, len(first))
    ]


def _batched(
    rule: ItemRule, batches: Sequence[Batch], better: int, table: Table
) -> Fraction:
    scores = np.array(table, dtype=object)
    total = Fraction(0)
    for first, second, shares in batches:
        one, two = scores[first, int(better == 0)], scores[second, int(better == 1)]
        chances: list[Fraction] = np.atleast_1d(rule.function(one, two)).tolist()
        total += sum(map(operator.mul, shares, chances), Fraction(0))
    return total


def _batches(
    law: Mapping[Sides, Fraction], rule: ItemRule, *, matched: bool
) -> list[Batch]:
    """Gather assignments and pairings with the same numbers of scores."""
    rows: dict[tuple[int, int], list[tuple[Sides, Sides, Fraction]]]
    rows = defaultdict(list)
    for sides, probability in law.items():
        ways = pairings(sides, paired=rule.paired, matched=matched, rest=rule.rest)
        for one, two in ways:
            rows[len(one), len(two)].append((one, two, probability / len(ways)))
    batches: list[Batch] = []
    for entries in rows.values():
        first, second, shares = zip(*entries, strict=True)
        batches.append((np.array(first, int), np.array(second, int), shares))
    return batches

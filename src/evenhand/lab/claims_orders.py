"""The paper's claims that need no scores, checked: Lemmas 1 and 2, and Appendix B.

What can be known from comparisons alone, over all comparisons of a few items.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand import designs
from evenhand.lab.claims import COUNTEREXAMPLE, ENUMERATION, Row, Trial
from evenhand.lab.estimators import as_law, graph, index_order, uniform
from evenhand.lab.worlds import World, loss_named
from evenhand.posets.comparisons import closure
from evenhand.posets.comparisons import twins as twin_classes
from evenhand.posets.orderings import all_orderings, count_orderings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.lab.estimators import Edges, Ordinal
    from evenhand.lab.polynomial import Order

LOSSES = ("kendall", "footrule")
SIZES = tuple((n, m) for n in (3, 4) for m in range(1, math.comb(n, 2) + 1))


def lemma_1a(trial: Trial) -> Row:
    """Given the comparisons, the true ranking is uniform over their orderings."""
    del trial
    largest, where, checked = Fraction(0), "", 0
    for n, m in SIZES:
        truths = list(itertools.permutations(range(n)))
        joint: dict[frozenset[tuple[int, int]], dict[Order, Fraction]]
        joint = defaultdict(lambda: defaultdict(Fraction))
        for bundles, probability in designs.enumerate_pairs(n, m).items():
            for truth in truths:
                joint[_directed(bundles, truth)][truth] += probability / len(truths)
        for edges, posterior in joint.items():
            checked += 1
            orderings = set(all_orderings(graph(n, tuple(sorted(edges)))))
            total = sum(posterior.values())
            for truth in orderings | set(posterior):
                share = Fraction(truth in orderings, len(orderings))
                deviation = abs(posterior.get(truth, Fraction(0)) / total - share)
                if deviation > largest:
                    largest, where = deviation, f"given {sorted(edges)}"
    return Row(
        "Lemma 1 (a)",
        "Given a uniform true ranking and distinct random pairs of 3 or 4 items, each "
        f"of {checked} sets of comparisons leaves its T topological orderings equally "
        "likely; the margin is the largest deviation from 1/T.",
        ENUMERATION,
        largest,
        largest == 0,
        where,
    )


def lemma_1b(trial: Trial) -> Row:
    """Exactly the topological methods find the true ranking with E[1/T]."""
    del trial
    holds = True
    smallest = Fraction(1)
    for n, m in SIZES:
        worlds = _worlds(n, m)
        total = worlds.total()
        optimum = Fraction(0)
        for edges in {edges for edges, _ in worlds}:
            orderings = set(all_orderings(graph(n, edges)))
            holds = holds and len(orderings) == count_orderings(graph(n, edges))
            # Worlds with these comparisons number T, one for each ordering, so that
            # the best answer is right in one of T.
            share = Fraction(sum(worlds[edges, order] for order in orderings), total)
            optimum += share / len(orderings)
            for answer in itertools.permutations(range(n)):
                lost = share / len(orderings) - Fraction(worlds[edges, answer], total)
                if answer in orderings:
                    holds = holds and lost == 0
                else:
                    smallest = min(smallest, lost)
        for method in (index_order, uniform):
            found = sum(_success(method, n, m).values(), Fraction(0))
            holds = holds and found / math.factorial(n) == optimum
    return Row(
        "Lemma 1 (b)",
        "Among all answers of an ordinal method to all comparisons of 3 or 4 items, "
        "exactly the topological orderings attain E[1/T], as the index order and the "
        "uniform ordering do; the margin is the least that any other answer loses.",
        ENUMERATION,
        smallest,
        holds and smallest > 0,
    )


def minimax(trial: Trial) -> Row:
    """The uniform ordering is minimax, and the index order is not."""
    del trial
    holds = True
    smallest = Fraction(1)
    for n, m in SIZES:
        if not 1 < m < math.comb(n, 2):
            continue
        even, by_index = _success(uniform, n, m), _success(index_order, n, m)
        level = set(even.values())
        average = sum(by_index.values(), Fraction(0)) / len(by_index)
        # No ordinal method has a higher average (Lemma 1), so none a higher minimum.
        holds = holds and level == {average}
        smallest = min(smallest, average - min(by_index.values()))
    return Row(
        "Lemma 1, minimax",
        "The uniform topological ordering is right equally often at every true ranking "
        "of 3 or 4 items, and so minimax by Lemma 1; the margin is what the index "
        "order loses at its worst true ranking.",
        ENUMERATION,
        smallest,
        holds and smallest > 0,
    )


def _directed(
    pairs: Sequence[tuple[int, ...]], truth: Order
) -> frozenset[tuple[int, int]]:
    place = {item: rank for rank, item in enumerate(truth)}
    return frozenset((a, b) if place[a] < place[b] else (b, a) for a, b in pairs)


@functools.cache
def _worlds(n: int, m: int) -> Counter[tuple[Edges, Order]]:
    """Count worlds, equally likely, by comparisons and true ranking."""
    where = World(n, m)
    return Counter(
        (edges, truth) for truth in where.truths() for edges in where.comparisons(truth)
    )


def _success(method: Ordinal, n: int, m: int) -> dict[Order, Fraction]:
    """Return how often an ordinal method is right, by true ranking."""
    found: dict[Order, Fraction] = defaultdict(Fraction)
    share = Fraction(1, math.comb(math.comb(n, 2), m))
    for (edges, truth), count in _worlds(n, m).items():
        law = as_law(method(graph(n, edges)))
        found[truth] += count * share * law.get(truth, Fraction(0))
    return dict(found)


class _Twins(NamedTuple):
    """Comparisons in which two items are twins."""

    n: int
    edges: Edges
    above: tuple[int, ...]
    pair: tuple[int, int]
    below: tuple[int, ...]
    orderings: tuple[Order, ...]


@functools.cache
def _with_twins() -> tuple[_Twins, ...]:
    """List all comparisons of 3 or 4 items that have twins, with each pair of them."""
    found = []
    for n, m in SIZES:
        for edges in sorted({edges for edges, _ in _worlds(n, m)}):
            known = graph(n, edges)
            reach = closure(known)
            orderings = tuple(all_orderings(known))
            for members in twin_classes(known, by="closure"):
                for pair in itertools.combinations(members, 2):
                    above = tuple(np.flatnonzero(reach[:, pair[0]]).tolist())
                    below = tuple(np.flatnonzero(reach[pair[0]]).tolist())
                    found.append(_Twins(n, edges, above, pair, below, orderings))
    return tuple(found)


def _starts() -> Iterator[tuple[_Twins, Order]]:
    for case in _with_twins():
        for start in itertools.permutations(range(case.n)):
            yield case, start


def _rearranged(trial: Trial, case: _Twins, start: Order) -> Order:
    after = trial.on_trial.rearrange(start, case.above, case.pair, case.below)
    return tuple(int(item) for item in after)


def lemma_2(trial: Trial) -> Row:
    """Re-arranging around twins never hurts, whatever the start and the truth."""
    smallest, where, checked = Fraction(10**6), "", 0
    gained = dict.fromkeys(LOSSES, False)
    for case, start in _starts():
        after = _rearranged(trial, case, start)
        for name, truth in itertools.product(LOSSES, case.orderings):
            loss = loss_named(name)
            gain = loss(start, truth) - loss(after, truth)
            gained[name] = gained[name] or gain > 0
            checked += 1
            if gain < smallest:
                smallest = Fraction(gain)
                where = f"given {case.edges}, {start} becomes {after}, truth {truth}"
    return Row(
        "Lemma 2",
        "Re-arranging any start around any twins among 3 or 4 items never increases "
        f"Kendall tau or footrule, in {checked} cases; the margin is the smallest "
        "gain.",
        ENUMERATION,
        smallest,
        smallest >= 0 and all(gained.values()),
        where if smallest < 0 else "",
    )


def lemma_2_swaps(trial: Trial) -> Row:
    """Re-arranging equals a sequence of swaps."""
    differing, checked = [], 0
    for case, start in _starts():
        checked += 1
        if _rearranged(trial, case, start) != _by_swaps(case, start):
            differing.append((case, start))
    return Row(
        "Lemma 2, swaps",
        "Re-arranging gives what swaps of neighbouring items in the wrong groups give, "
        f"for {checked} starts and twins among 3 or 4 items; the margin is the share "
        "that differs.",
        ENUMERATION,
        Fraction(len(differing), checked),
        not differing,
        f"{differing[0][1]} given {differing[0][0].edges}" if differing else "",
    )


def _by_swaps(case: _Twins, start: Order) -> Order:
    """Swap the first two items in the wrong groups with none of a group between."""
    groups = (case.above, case.pair, case.below)
    group = {item: g for g, members in enumerate(groups) for item in members}
    order = list(start)
    while True:
        places = [place for place, item in enumerate(order) if item in group]
        wrong = [
            (i, j)
            for i, j in itertools.pairwise(places)
            if group[order[i]] > group[order[j]]
        ]
        if not wrong:
            return tuple(order)
        i, j = wrong[0]
        order[i], order[j] = order[j], order[i]


def theorem_7_unchanged(trial: Trial) -> Row:
    """Ordering twins rightly may leave the footrule as it is."""
    loss = loss_named("footrule")
    truth, start = (0, 1, 2, 3), (3, 2, 0, 1)
    case = next(case for case in _with_twins() if case.edges == ((0, 2), (1, 2)))
    right = _rearranged(trial, case, start)
    wrong = _swapped(right, case.pair)
    gain = loss(wrong, truth) - loss(right, truth)
    return Row(
        "Theorem 7, footrule unchanged",
        "Given 0 > 2 and 1 > 2, the true ranking 0, 1, 2, 3 and the start 3, 2, 0, 1, "
        "which re-arranging turns into 3, 0, 1, 2, the right order of the twins 0 and "
        "1 gains nothing in footrule, so a strict gain needs other true rankings.",
        COUNTEREXAMPLE,
        Fraction(gain),
        gain == 0 and right == (3, 0, 1, 2),
        f"footrule of {right} and of {wrong}: {loss(right, truth)}",
    )


def theorem_7_witness(trial: Trial) -> Row:
    """For every start some true ranking makes the footrule gain strict."""
    loss = loss_named("footrule")
    smallest, holds, checked = Fraction(10**6), True, 0
    for case, start in _starts():
        truth = _far_apart(case)
        holds = holds and truth in case.orderings
        after = _rearranged(trial, case, start)
        right = after
        if after.index(case.pair[0]) > after.index(case.pair[1]):
            right = _swapped(after, case.pair)
        gain = loss(_swapped(right, case.pair), truth) - loss(right, truth)
        smallest = min(smallest, Fraction(gain))
        checked += 1
    return Row(
        "Theorem 7, strict witness",
        "With the true ranking that the paper builds, one twin right below what is "
        "above both and the other right above what is below both, the right order of "
        f"the twins has a smaller footrule, for {checked} starts and twins among 3 or "
        "4 items; the margin is the smallest gain.",
        ENUMERATION,
        smallest,
        holds and smallest > 0,
    )


def _far_apart(case: _Twins) -> Order:
    """Return the paper's witness: twins as far apart as the comparisons allow."""
    order = index_order(graph(case.n, case.edges))
    rest = set(range(case.n)) - {*case.above, *case.pair, *case.below}
    groups = (case.above, case.pair[:1], rest, case.pair[1:], case.below)
    return tuple(item for group in groups for item in order if item in group)


def _swapped(order: Order, pair: tuple[int, int]) -> Order:
    other = {pair[0]: pair[1], pair[1]: pair[0]}
    return tuple(other.get(item, item) for item in order)

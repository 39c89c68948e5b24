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

from evenhand.lab.claims import COUNTEREXAMPLE, ENUMERATION, Found, Trial, claim
from evenhand.lab.estimators import as_law, graph, index_order, uniform
from evenhand.lab.worlds import World, loss_named
from evenhand.posets.orderings import all_orderings, count_orderings
from evenhand.posets.reach import closure
from evenhand.posets.reach import twins as twin_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.lab.estimators import Edges, Ordinal
    from evenhand.lab.polynomial import Order

LOSSES = ("kendall", "footrule")
SIZES = tuple((n, m) for n in (3, 4) for m in range(1, math.comb(n, 2) + 1))
# Above any loss of four items.
FAR = Fraction(10**6)


@claim("Lemma 1 (a)", ENUMERATION)
def lemma_1a(_: Trial) -> Found:
    """Given the comparisons, the true ranking is uniform over their orderings.

    Given a uniform true ranking and distinct random pairs of 3 or 4 items, each of
    {checked} sets of comparisons leaves its T topological orderings equally likely; the
    margin is the largest deviation from 1/T.
    """
    largest, where, checked = Fraction(0), "", 0
    for n, m in SIZES:
        joint: dict[Edges, dict[Order, Fraction]]
        joint = defaultdict(lambda: defaultdict(Fraction))
        for truth, (pairs, chance) in itertools.product(
            itertools.permutations(range(n)), World(n, m).assignments().items()
        ):
            place = truth.index
            edges = tuple(sorted((min(p, key=place), max(p, key=place)) for p in pairs))
            joint[edges][truth] += chance
        for edges, posterior in joint.items():
            checked += 1
            orderings = set(all_orderings(graph(n, edges)))
            total = sum(posterior.values())
            for truth in orderings | set(posterior):
                share = Fraction(truth in orderings, len(orderings))
                deviation = abs(posterior.get(truth, Fraction(0)) / total - share)
                if deviation > largest:
                    largest, where = deviation, f"given {list(edges)}"
    return Found(largest, largest == 0, where, {"checked": checked})


@claim("Lemma 1 (b)", ENUMERATION)
def lemma_1b(_: Trial) -> Found:
    """Exactly the topological methods find the true ranking with E[1/T].

    Among all answers of an ordinal method to all comparisons of 3 or 4 items, exactly
    the topological orderings attain E[1/T], as the index order and the uniform ordering
    do; the margin is the least that any other answer loses.
    """
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
    return Found(smallest, holds and smallest > 0)


@claim("Lemma 1, minimax", ENUMERATION)
def minimax(_: Trial) -> Found:
    """The uniform ordering is minimax, and the index order is not.

    The uniform topological ordering is right equally often at every true ranking of 3
    or 4 items, and so minimax by Lemma 1; the margin is what the index order loses at
    its worst true ranking.
    """
    holds = True
    smallest = Fraction(1)
    for n, m in SIZES:
        if not 1 < m < math.comb(n, 2):
            continue
        even, by_index = _success(uniform, n, m), _success(index_order, n, m)
        average = sum(by_index.values(), Fraction(0)) / len(by_index)
        # No ordinal method has a higher average (Lemma 1), so none a higher minimum.
        holds = holds and set(even.values()) == {average}
        smallest = min(smallest, average - min(by_index.values()))
    return Found(smallest, holds and smallest > 0)


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


@claim("Lemma 2", ENUMERATION)
def lemma_2(trial: Trial) -> Found:
    """Re-arranging around twins never hurts, whatever the start and the truth.

    Re-arranging any start around any twins among 3 or 4 items never increases Kendall
    tau or footrule, in {checked} cases; the margin is the smallest gain.
    """
    smallest, where, checked = FAR, "", 0
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
    return Found(
        smallest,
        smallest >= 0 and all(gained.values()),
        where if smallest < 0 else "",
        {"checked": checked},
    )


@claim("Lemma 2, swaps", ENUMERATION)
def lemma_2_swaps(trial: Trial) -> Found:
    """Re-arranging equals a sequence of swaps.

    Re-arranging gives what swaps of neighbouring items in the wrong groups give, for
    {checked} starts and twins among 3 or 4 items; the margin is the share that differs.
    """
    starts = list(_starts())
    differing = [
        f"{start} given {case.edges}"
        for case, start in starts
        if _rearranged(trial, case, start) != _by_swaps(case, start)
    ]
    share = Fraction(len(differing), len(starts))
    return Found(share, not differing, "".join(differing[:1]), {"checked": len(starts)})


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


@claim("Theorem 7, footrule unchanged", COUNTEREXAMPLE)
def theorem_7_unchanged(trial: Trial) -> Found:
    """Ordering twins rightly may leave the footrule as it is.

    Given 0 > 2 and 1 > 2, the true ranking 0, 1, 2, 3 and the start 3, 2, 0, 1, which
    re-arranging turns into 3, 0, 1, 2, the right order of the twins 0 and 1 gains
    nothing in footrule, so a strict gain needs other true rankings.
    """
    loss = loss_named("footrule")
    truth, start = (0, 1, 2, 3), (3, 2, 0, 1)
    case = next(case for case in _with_twins() if case.edges == ((0, 2), (1, 2)))
    right = _rearranged(trial, case, start)
    wrong = _swapped(right, case.pair)
    gain = loss(wrong, truth) - loss(right, truth)
    text = f"footrule of {right} and of {wrong}: {loss(right, truth)}"
    return Found(Fraction(gain), gain == 0 and right == (3, 0, 1, 2), text)


@claim("Theorem 7, strict witness", ENUMERATION)
def theorem_7_witness(trial: Trial) -> Found:
    """For every start some true ranking makes the footrule gain strict.

    With the true ranking that the paper builds, one twin right below what is above both
    and the other right above what is below both, the right order of the twins has a
    smaller footrule, for {checked} starts and twins among 3 or 4 items; the margin is
    the smallest gain.
    """
    loss = loss_named("footrule")
    smallest, holds, checked = FAR, True, 0
    for case, start in _starts():
        truth = _far_apart(case)
        holds = holds and truth in case.orderings
        right = _rearranged(trial, case, start)
        if right.index(case.pair[0]) > right.index(case.pair[1]):
            right = _swapped(right, case.pair)
        gain = loss(_swapped(right, case.pair), truth) - loss(right, truth)
        smallest = min(smallest, Fraction(gain))
        checked += 1
    return Found(smallest, holds and smallest > 0, told={"checked": checked})


def _far_apart(case: _Twins) -> Order:
    """Return the paper's witness: twins as far apart as the comparisons allow."""
    order = index_order(graph(case.n, case.edges))
    rest = set(range(case.n)) - {*case.above, *case.pair, *case.below}
    groups = (case.above, case.pair[:1], rest, case.pair[1:], case.below)
    return tuple(item for group in groups for item in order if item in group)


def _swapped(order: Order, pair: tuple[int, int]) -> Order:
    other = {pair[0]: pair[1], pair[1]: pair[0]}
    return tuple(other.get(item, item) for item in order)

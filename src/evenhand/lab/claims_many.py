"""The paper's claims on many items, checked: Algorithm 2, Theorems 5, 7 and 8.

Algorithm 2 is here as printed, to be compared with Algorithm 1: pairs of items first,
reviewers last, the order of choices in which the paper proves Theorem 5.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand._outcomes import HALF, Chance
from evenhand.lab.claims import ENUMERATION, SEARCH, Found, OnTrial, Trial, claim
from evenhand.lab.dominance import Contest, Witness, contest, decided
from evenhand.lab.estimators import Edges, Ordinal, graph, index_order, uniform
from evenhand.lab.polynomial import (
    CoinLaw,
    Drawn,
    Estimator,
    First,
    Order,
    Scores,
    coin_law,
)
from evenhand.lab.worlds import World, world
from evenhand.posets.comparisons import Comparisons, is_ordering
from evenhand.posets.comparisons import edges as edges_of

if TYPE_CHECKING:
    from collections.abc import Sequence

IDENTITY: Order = (0, 1, 2, 3)
# Items, reviewers, and tables of scales for each true ranking.
Case = tuple[int, int, int]


@claim("Algorithm 2", ENUMERATION)
def algorithm_2(trial: Trial) -> Found:
    """Algorithm 2 has the law of Algorithm 1, for all scales at once.

    Given each of {checked} sets of comparisons of 4 items, Algorithms 1 and 2 give the
    same rankings by the same coins with the same probabilities, so whatever the scales;
    the margin is the share that differs.
    """
    where = [World(4, m) for m in range(2, trial.pick(3, 5) + 1)]
    arising = [(one, truth) for one in where for truth in one.truths()]
    graphs = sorted(
        {
            (one.n_reviewers, edges)
            for one, truth in arising
            for edges in one.comparisons(truth)
        }
    )
    differing = []
    for m, edges in graphs:
        known = graph(4, edges)
        ours = over_reviewers(coin_law(trial.on_trial.flips, known, edges), m)
        theirs = coin_law(printed_algorithm_2(edges, m), known, [range(4)] * m)
        if ours != theirs:
            differing.append(edges)
    return Found(
        Fraction(len(differing), len(graphs)),
        not differing,
        f"differ given {differing[0]}" if differing else "",
        {"checked": len(graphs)},
    )


def over_reviewers(law: CoinLaw, m: int) -> CoinLaw:
    """Average a law over all assignments of m reviewers to their bundles.

    Examples:
        >>> law = {((0, 1), ((0, 0, 1, 1),)): Fraction(1)}
        >>> over_reviewers(law, 2)
        {((0, 1), ((0, 0, 1, 1),)): Fraction(1, 2),
         ((0, 1), ((1, 0, 0, 1),)): Fraction(1, 2)}
    """
    ways = list(itertools.permutations(range(m)))
    total: CoinLaw = defaultdict(Fraction)
    for ((order, coins), mass), way in itertools.product(law.items(), ways):
        renamed = tuple((way[r], a, way[s], b) for r, a, s, b in coins)
        total[order, renamed] += mass / len(ways)
    return dict(total)


def printed_algorithm_2(pairs: Edges, m: int) -> Estimator:
    """Return Algorithm 2 given the pairs of items that are compared.

    It fixes the flips and their pairs of items first, then a crew of two reviewers for
    each flip, and only then who of a crew has which pair. So its scores must be those
    that every one of the m reviewers would give to every item.

    References:
        Wang and Shah (2019), Algorithm 2.

    Examples:
        >>> from evenhand._outcomes import outcomes
        >>> from evenhand.lab.estimators import graph
        >>> pairs = ((0, 2), (1, 2))
        >>> scores = {(r, item): Fraction(-item) for r in (0, 1) for item in range(3)}
        >>> method = printed_algorithm_2(pairs, 2)
        >>> outcomes(method(graph(3, pairs), scores, lambda gap: (3 + gap) / 6))
        {(0, 1, 2): Fraction(2, 3), (1, 0, 2): Fraction(1, 3)}
    """

    def estimator(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
        start = index_order(comparisons)

        def procedure(chance: Chance) -> Order:
            positions = _settled(comparisons, start, pairs, chance)
            people = list(range(m))
            crews = []
            for _ in positions:
                choices = list(itertools.combinations(people, 2))
                crews.append(choices[chance.pick(len(choices))])
                people = [person for person in people if person not in crews[-1]]
            after = list(start)
            for position, crew in zip(positions, crews, strict=True):
                a, b = start[position : position + 2]
                one, other = crew if chance.coin(HALF) else crew[::-1]
                if not chance.coin(first(scores[one, a] - scores[other, b])):
                    after[position : position + 2] = [b, a]
            return tuple(after)

        return procedure

    return estimator


def _settled(
    comparisons: Comparisons, start: Order, pairs: Edges, chance: Chance
) -> list[int]:
    """Choose positions to flip and use up a pair of items for each of the two."""
    left = list(pairs)
    positions = []
    position = 0
    while position + 1 < len(start):
        a, b = start[position : position + 2]
        flipped = (*start[:position], b, a, *start[position + 2 :])
        holding = [[pair for pair in left if item in pair] for item in (a, b)]
        if not is_ordering(comparisons, flipped) or not all(holding):
            position += 1
            continue
        used = [choices[chance.pick(len(choices))] for choices in holding]
        left = [pair for pair in left if pair not in used]
        positions.append(position)
        position += 2
    return positions


@claim("Theorem 5", SEARCH)
def theorem_5(trial: Trial) -> Found:
    """Algorithm 1 beats every ordinal method for 0-1 loss, given a uniform prior.

    Given a uniform true ranking, Algorithm 1 finds it more often than every ordinal
    method can, by E[1/T], on all scales tried that know the true ranking, for (items,
    reviewers) = {cases}.
    """
    cases = [(3, 2, trial.pick(150, 3000)), (4, 2, trial.pick(40, 800))]
    cases += [(4, 3, trial.pick(40, 800))]
    cases += [] if trial.quick else [(4, 4, 300), (4, 5, 150)]
    found = [
        averaged(trial, contest(trial.on_trial.flips, uniform, world(n, m)), budget)
        for n, m, budget in cases
    ]
    return _strict(found, cases)


def averaged(
    trial: Trial, duel: Contest, budget: int, *, told: bool = True
) -> tuple[Fraction, str]:
    """Return the smallest margin at a uniform true ranking, and the worst of them."""
    witnesses = duel.searched(budget, trial.seed, families=told)
    lowest = min(witnesses, key=lambda witness: witness.margin)
    m, n = duel.shape
    margin, _ = decided(witnesses, "uniform")
    return margin, f"{n} items, {m} reviewers: {lowest}"


def _strict(found: Sequence[tuple[Fraction, str]], cases: Sequence[Case]) -> Found:
    margin, text = min(found)
    sizes = ", ".join(f"({n}, {m})" for n, m, _ in cases)
    return Found(margin, margin > 0, text, {"cases": sizes})


def reversed_order(comparisons: Comparisons) -> Order:
    """Rank by index from the last, whatever the comparisons say.

    Examples:
        >>> reversed_order(graph(3, ((0, 1),)))
        (2, 1, 0)
    """
    return tuple(reversed(range(comparisons.n_items)))


def hashed_order(comparisons: Comparisons) -> Order:
    """Rank in an order that changes wildly with the comparisons.

    Examples:
        >>> sorted(hashed_order(graph(3, ((0, 1),))))
        [0, 1, 2]
    """
    text = repr(sorted(zip(*map(list, edges_of(comparisons)), strict=True)))
    digest = hashlib.sha256(text.encode()).digest()
    return tuple(sorted(range(comparisons.n_items), key=lambda item: digest[item]))


def mixed_order(comparisons: Comparisons) -> dict[Order, Fraction]:
    """Follow the index order or the reversed one, by a coin.

    Examples:
        >>> len(mixed_order(graph(3, ((0, 1),))))
        2
    """
    law: dict[Order, Fraction] = defaultdict(Fraction)
    for order in (index_order(comparisons), reversed_order(comparisons)):
        law[order] += HALF
    return dict(law)


ORDINALS: dict[str, Ordinal] = {
    "the index order": index_order,
    "the reversed indices": reversed_order,
    "a pseudo-random order": hashed_order,
    "the uniform ordering": uniform,
    "a coin between index and reversed order": mixed_order,
}


def theorem_7(trial: Trial, loss: str) -> Found:
    """Algorithm 3 improves any ordinal method, for Kendall tau and footrule.

    Given a uniform true ranking, Algorithm 3 has a smaller expected {loss} distance
    than the ordinal method it starts from, for {starts} of them, topological or not,
    fixed or random, on all scales tried, with one pair of twins as printed or all, for
    (items, reviewers) = {cases}.
    """
    cases = [(3, 2, trial.pick(30, 800)), (4, 2, trial.pick(6, 60))]
    cases += [(4, 3, trial.pick(4, 60))]
    cases += [] if trial.quick else [(4, 4, 20), (4, 5, 20)]
    found = []
    for (n, m, budget), (name, start), printed in itertools.product(
        cases, ORDINALS.items(), (True, False)
    ):
        method, laws = _twins(trial.on_trial, start, printed, n)
        duel = contest(method, start, world(n, m), loss, laws=laws)
        margin, text = averaged(trial, duel, budget)
        found.append((margin, f"on {name}, {text}"))
    strict = _strict(found, cases)
    return dataclasses.replace(strict, told={**strict.told, "starts": len(ORDINALS)})


theorem_7_kendall = claim("Theorem 7, kendall", SEARCH, loss="kendall")(theorem_7)
theorem_7_footrule = claim("Theorem 7, footrule", SEARCH, loss="footrule")(theorem_7)


@functools.lru_cache(maxsize=4 * len(ORDINALS))
def _twins(
    on_trial: OnTrial,
    start: Ordinal,
    printed: bool,  # noqa: FBT001 - cached by its arguments
    n: int,
) -> tuple[Estimator, dict[Edges, CoinLaw]]:
    """Return Algorithm 3 with its laws so far: one for both losses."""
    del n
    return on_trial.twins_from(start, printed), {}


@claim("Theorem 8", SEARCH)
def theorem_8(trial: Trial) -> Found:
    """Appendix C beats the uniform ordinal method at every true ranking.

    Whatever the true ranking, flips from a uniform topological ordering find it more
    often than that ordering does, over distinct random pairs, on all scales tried, with
    the printed scan and with parity, for (items, reviewers) = {cases}.
    """
    cases = [(3, 2, trial.pick(100, 3000)), (4, 2, trial.pick(100, 3000))]
    cases += [(4, 3, trial.pick(100, 3000)), (4, 4, trial.pick(50, 1000))]
    cases += [(4, 5, trial.pick(30, 500))]
    found = []
    for (n, m, budget), scan in itertools.product(cases, ("paper", "parity")):
        duel = contest(trial.on_trial.flips_from_uniform(scan), uniform, world(n, m))
        # Neither side knows names, so one true ranking stands for all.
        alone = dataclasses.replace(duel, truths=duel.truths[:1])
        margin, text = averaged(trial, alone, budget)
        found.append((margin, f"{scan} scan, {text}"))
    return _strict(found, cases)


@claim("Theorem 8, given the comparisons", SEARCH)
def theorem_8_given(trial: Trial) -> Found:
    """With the parity scan it holds given any comparisons.

    With the parity scan, given every set of 2 to {most} comparisons of 4 items, flips
    from a uniform ordering find the true ranking more often than it does if the true
    ranking has free neighbours with scores, and as often otherwise; the margin is the
    smallest of the former.
    """
    found = []
    holds = True
    method = trial.on_trial.flips_from_uniform("parity")
    most = trial.pick(3, 5)
    for m in range(2, most + 1):
        for pairs in itertools.combinations(itertools.combinations(range(4), 2), m):
            duel = contest(method, uniform, world(4, None, pairs))
            margin, table = trial.worst(
                f"parity {pairs}",
                functools.partial(duel.margin, IDENTITY),
                duel.shape,
                trial.pick(25, 200),
            )
            touched = {item for pair in pairs for item in pair}
            free = any(
                {a, b} <= touched and (a, b) not in pairs
                for a, b in itertools.pairwise(IDENTITY)
            )
            holds = holds and (margin > 0 if free else margin == 0)
            if free:
                text = f"given {pairs}: {Witness(IDENTITY, table, margin)}"
                found.append((margin, text))
    margin, text = min(found)
    return Found(margin, holds, text, {"most": most})

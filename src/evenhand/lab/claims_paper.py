"""The paper's claims, checked: Theorems 1 to 8, Lemmas 1 and 2, Algorithm 2."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.ab.law import majority_probability
from evenhand.ab.rules import first_probability, votes
from evenhand.ab.weights import GapWeight, offset, rational
from evenhand.lab import dominance, worlds
from evenhand.lab.dominance import (
    Contest,
    FixedRule,
    against_coin,
    contest,
    scales_text,
)
from evenhand.lab.theorems import Found, Trial, claim, least
from evenhand.lab.worlds import (
    TRUTHS,
    Edges,
    Order,
    Ordinal,
    as_law,
    duel,
    flips,
    flips_from_uniform,
    graph,
    index_order,
    loss_named,
    twins_from,
    uniform,
)
from evenhand.posets.graph import Comparisons, is_ordering
from evenhand.posets.graph import edges as edges_of
from evenhand.posets.orderings import all_orderings, closure, count_orderings
from evenhand.posets.orderings import twins as twin_classes
from evenhand.randomness import HALF, Chance, Stream, below
from evenhand.ranking.flips import rearrange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evenhand.lab.worlds import Drawn, First, Scores, Table

WEIGHTS = (rational(), rational(Fraction(1, 10)), offset(Fraction(1, 2)))
FIXED = ("sign", "mean", "median(upper)", "median(lower)", "median(middle)")
# Reviewers of a design, and tables of scales for each true ranking, quick and full.
VOTERS = {
    "halves": ((2, 100, 2000), (3, 60, 1000), (4, 80, 2000), (6, 8, 150)),
    "coins": ((2, 60, 1000), (3, 40, 1000), (4, 20, 500)),
    "matched": ((2, 60, 1000), (4, 60, 1000), (6, 10, 300)),
}
LOSSES = ("kendall", "footrule")
SIZES = tuple((n, m) for n in (3, 4) for m in range(1, math.comb(n, 2) + 1))
IDENTITY: Order = (0, 1, 2, 3)


@claim("Theorem 1", "counterexample")
def theorem_1(trial: Trial) -> Found:
    """No fixed rule on two scores beats a coin on all scales.

    Each of {rules} fixed rules, most of them random tables, is right at most half of
    the time on scales found by the paper's two constructions; the margin is the best
    rule's.
    """
    zoo: list[FixedRule] = [
        lambda _z, y1, y2: 1 if y1 > y2 else 2,
        lambda _z, y1, y2: 1 if y1 < y2 else 2,
        lambda _z, _y1, _y2: 1,
        lambda z, _y1, _y2: z[0],
        lambda z, y1, y2: z[0] if y1 + y2 > dominance.SCORES[-1] else 3 - z[0],
        lambda _z, y1, y2: 1 if y1 - y2 > 1 else 2,
        lambda z, y1, y2: 1 if 2 * y1 - (z == (1, 2)) > 2 * y2 else 2,
    ]
    source = trial.source("theorem 1")
    zoo += [_table_rule(source) for _ in range(trial.pick(200, 4000))]
    best = max(
        (dominance.refute(rule) for rule in zoo), key=lambda found: found.probability
    )
    margin = best.probability - HALF
    return Found(margin, margin <= 0, repr(best), {"rules": len(zoo)})


def _table_rule(source: Stream) -> FixedRule:
    questions = itertools.product(
        dominance.ASSIGNMENTS, dominance.SCORES, dominance.SCORES
    )
    answers = {question: 1 + below(source, 2) for question in questions}
    return lambda assignment, y1, y2: answers[assignment, int(y1), int(y2)]


@claim("Theorem 2", "search")
def theorem_2(trial: Trial) -> Found:
    """The canonical estimator strictly beats a coin.

    The canonical estimator is right more than half of the time on all scales tried, for
    three weights and both true rankings.
    """
    budget = trial.pick(150, 5000)
    return least(
        trial.lowest(f"weight {w}", against_coin(_canonical(w), "halves", 2), budget)
        for w in WEIGHTS
    )


def _canonical(weight: GapWeight) -> worlds.Chances:
    return lambda one, two: first_probability(
        np.concatenate([one, two], axis=-1), weight=weight
    )


@claim("Theorem 3", "counterexample")
def theorem_3(trial: Trial) -> Found:
    """Sign, mean and medians get exactly half on the paper's families.

    Sign, mean and the three medians are right exactly half of the time on the paper's
    counterexamples, for every even number of reviewers up to {most}; the margin is the
    largest deviation.
    """
    found: list[tuple[Fraction, str]] = []
    most = trial.pick(6, 8)
    for m, name in itertools.product(range(2, most + 1, 2), FIXED):
        biases = [*range(m - 1), m * (m - 1) // 2]
        if name == "median(middle)":
            biases = [2**j for j in range(m)]
        table = tuple((bias + HALF / 2, bias + 3 * HALF / 2) for bias in biases)
        found += over_half([name], "halves", m, [table])
    margin, where = max(found, key=lambda pair: (abs(pair[0]), pair[1]))
    return Found(margin, margin == 0, where if margin else "", {"most": most})


def over_half(
    names: Iterable[str],
    design: str,
    m: int,
    tables: Iterable[Table],
    truths: tuple[Order, ...] = TRUTHS,
) -> Iterator[tuple[Fraction, str]]:
    """Go through rules, true rankings and scales: how far above a half, and where."""
    cases = list(itertools.product(truths, tables))
    for name in names:
        tried = against_coin(name, design, m)
        for truth, table in cases:
            margin = tried.margin(truth, table)
            yield margin, f"{name}, {design}: {dominance.Witness(margin, truth, table)}"


@claim(
    "Theorem 4 (b)", "search", design="matched", who="reviewers assigned within pairs"
)
@claim(
    "Theorem 4 (a)", "search", design="coins", who="each reviewer assigned by a coin"
)
@claim("Theorem 4", "search", design="halves", who="reviewers assigned in halves")
def theorem_4(trial: Trial, design: str, who: str) -> Found:
    """The vote strictly beats a coin, under three designs.

    The majority of canonical votes is right more than half of the time on all scales
    tried, {who}, {counts} of them.
    """
    del who
    found = [
        trial.lowest(
            f"{m} reviewers",
            against_coin(votes, design, m, "only"),
            trial.pick(*budget),
        )
        for m, *budget in VOTERS[design]
    ]
    *most, last = [str(m) for m, *_ in VOTERS[design]]
    return least(found, counts=f"{', '.join(most)} and {last}")


@claim("Theorem 4, bound", "enumeration")
def theorem_4_bound(trial: Trial) -> Found:
    """The worst pair's binomial bounds the vote from below.

    On random scales the vote is right at least as often as the majority of m/2
    independent copies of its worst pair, and that more than half of the time.
    """
    source = trial.source("theorem 4 bound")
    pair = duel(_canonical(rational()), "halves", 2)
    found, holds = [], True
    for m, tables in ((2, 20), (4, 20), (6, 3)):
        exact = duel(votes, "halves", m, "only")
        for _ in range(tables * trial.pick(1, 10)):
            table = dominance.as_table(dominance.random_rows((m, 2), source))
            pairs = itertools.combinations(table, 2)
            lowest = min(pair(TRUTHS[0], two) for two in pairs)
            bound = Fraction(str(majority_probability([lowest] * (m // 2))))
            right = exact(TRUTHS[0], table)
            holds = holds and right >= bound > HALF
            text = f"exact {float(right):.6f}, bound {float(bound):.6f}"
            found.append((bound - HALF, f"{m} reviewers: {text}"))
    margin, text = min(found)
    return Found(margin, holds, text)


@functools.cache
def _joint(n: int, m: int) -> dict[Edges, dict[Order, Fraction]]:
    """Return the law of comparisons and true ranking, which is uniform."""
    joint: dict[Edges, dict[Order, Fraction]] = defaultdict(dict)
    for truth in (where := worlds.World(n, m)).truths():
        arising = where.comparisons(truth)
        share = Fraction(1, len(arising) * math.factorial(n))
        for edges in arising:
            joint[tuple(sorted(edges))][truth] = share
    return joint


def _every_joint() -> Iterator[tuple[int, Edges, dict[Order, Fraction]]]:
    for n, m in SIZES:
        for edges, joint in sorted(_joint(n, m).items()):
            yield n, edges, joint


@claim("Lemma 1 (a)", "enumeration")
def lemma_1a(_: Trial) -> Found:
    """Given the comparisons, the true ranking is uniform over their orderings.

    Given a uniform true ranking and distinct random pairs of 3 or 4 items, each of
    {checked} sets of comparisons leaves its T topological orderings equally likely; the
    margin is the largest deviation from 1/T.
    """
    found = []
    for n, edges, joint in _every_joint():
        orderings = set(all_orderings(graph(n, edges)))
        even = sum(joint.values(), Fraction(0)) / len(orderings)
        off = max(
            abs(joint.get(truth, Fraction(0)) - even * (truth in orderings))
            for truth in itertools.permutations(range(n))
        )
        found.append((off / even / len(orderings), f"given {list(edges)}"))
    largest, where = max(found)
    told = {"checked": len(found)}
    return Found(largest, largest == 0, where if largest else "", told)


@claim("Lemma 1 (b)", "enumeration")
def lemma_1b(_: Trial) -> Found:
    """Exactly the topological methods find the true ranking with E[1/T].

    Among all answers of an ordinal method to all comparisons of 3 or 4 items, exactly
    the topological orderings attain E[1/T], as the index order and the uniform ordering
    do; the margin is the least that any other answer loses.
    """
    holds, smallest = True, Fraction(1)
    optimum: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for n, edges, joint in _every_joint():
        orderings = set(all_orderings(graph(n, edges)))
        holds = holds and len(orderings) == count_orderings(graph(n, edges))
        # The best answer is right in one of T equally likely orderings.
        best = sum(joint.values(), Fraction(0)) / len(orderings)
        optimum[n, len(edges)] += best
        for answer in itertools.permutations(range(n)):
            lost = best - joint.get(answer, Fraction(0))
            if answer in orderings:
                holds = holds and lost == 0
            else:
                smallest = min(smallest, lost)
    for n, m in SIZES:
        for success in (_success(index_order, n, m), _success(uniform, n, m)):
            right = sum(success.values(), Fraction(0)) / math.factorial(n)
            holds = holds and right == optimum[n, m]
    return Found(smallest, holds and smallest > 0)


@claim("Lemma 1, minimax", "enumeration")
def minimax(_: Trial) -> Found:
    """The uniform ordering is minimax, and the index order is not.

    The uniform topological ordering is right equally often at every true ranking of 3
    or 4 items, and so minimax by Lemma 1; the margin is what the index order loses at
    its worst true ranking.
    """
    holds, smallest = True, Fraction(1)
    for n, m in SIZES:
        if 1 < m < math.comb(n, 2):
            even, by_index = _success(uniform, n, m), _success(index_order, n, m)
            average = sum(by_index.values(), Fraction(0)) / len(by_index)
            # No ordinal method has a higher average (Lemma 1), so none a higher
            # minimum.
            holds = holds and set(even.values()) == {average}
            smallest = min(smallest, average - min(by_index.values()))
    return Found(smallest, holds and smallest > 0)


def _success(method: Ordinal, n: int, m: int) -> dict[Order, Fraction]:
    """Return how often an ordinal method is right, by true ranking."""
    success = dict.fromkeys(itertools.permutations(range(n)), Fraction(0))
    for edges, joint in _joint(n, m).items():
        for order, mass in as_law(method(graph(n, edges))).items():
            success[order] += mass * joint.get(order, 0) * math.factorial(n)
    return success


@claim("Algorithm 2", "enumeration")
def algorithm_2(trial: Trial) -> Found:
    """Algorithm 2 has the law of Algorithm 1, for all scales at once.

    Given each of {checked} sets of comparisons of 4 items, Algorithms 1 and 2 give the
    same rankings by the same coins with the same probabilities, so whatever the scales;
    the margin is the share that differs.
    """
    sizes = range(2, trial.pick(3, 5) + 1)
    graphs = [(m, edges) for m in sizes for edges in sorted(_joint(4, m))]
    differing = []
    for m, edges in graphs:
        known = graph(4, edges)
        ours = over_reviewers(worlds.coin_law(flips, known, edges), m)
        theirs = worlds.coin_law(printed_algorithm_2(edges, m), known, [range(4)] * m)
        if ours != theirs:
            differing.append(f"differ given {edges}")
    share = Fraction(len(differing), len(graphs))
    return Found(share, not share, "".join(differing[:1]), {"checked": len(graphs)})


def over_reviewers(law: worlds.CoinLaw, m: int) -> worlds.CoinLaw:
    """Average a law over all assignments of m reviewers to their bundles.

    Examples:
        >>> law = {((0, 1), ((0, 0, 1, 1),)): Fraction(1)}
        >>> over_reviewers(law, 2)
        {((0, 1), ((0, 0, 1, 1),)): Fraction(1, 2),
         ((0, 1), ((1, 0, 0, 1),)): Fraction(1, 2)}
    """
    ways = list(itertools.permutations(range(m)))
    total: worlds.CoinLaw = defaultdict(Fraction)
    for ((order, coins), mass), way in itertools.product(law.items(), ways):
        renamed = tuple((way[r], a, way[s], b) for r, a, s, b in coins)
        total[order, renamed] += mass / len(ways)
    return dict(total)


def printed_algorithm_2(pairs: Edges, m: int) -> worlds.Estimator:
    """Return Algorithm 2 as printed, given the pairs of items that are compared.

    It fixes the flips and their pairs of items first, then a crew of two reviewers for
    each flip, and only then who of a crew has which pair. So its scores must be those
    that every one of the m reviewers would give to every item.

    References:
        Wang and Shah (2019), Algorithm 2.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> from evenhand.lab.worlds import graph
        >>> pairs = ((0, 2), (1, 2))
        >>> scores = {(r, item): Fraction(-item) for r in (0, 1) for item in range(3)}
        >>> method = printed_algorithm_2(pairs, 2)
        >>> outcomes(method(graph(3, pairs), scores, lambda gap: (3 + gap) / 6))
        {(0, 1, 2): Fraction(2, 3), (1, 0, 2): Fraction(1, 3)}
    """

    def estimator(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
        start = index_order(comparisons)

        def procedure(chance: Chance) -> Order:
            positions = _flips(comparisons, start, pairs, chance)
            people = set(range(m))
            crews = []
            for _ in positions:
                choices = list(itertools.combinations(sorted(people), 2))
                crews.append(choices[chance.pick(len(choices))])
                people -= set(crews[-1])
            after = list(start)
            for position, crew in zip(positions, crews, strict=True):
                a, b = start[position : position + 2]
                one, other = crew if chance.coin(HALF) else crew[::-1]
                if not chance.coin(first(scores[one, a] - scores[other, b])):
                    after[position : position + 2] = [b, a]
            return tuple(after)

        return procedure

    return estimator


def _flips(
    comparisons: Comparisons, start: Order, pairs: Edges, chance: Chance
) -> list[int]:
    """Choose positions to flip and use up a pair of items for each of the two."""
    left, positions = list(pairs), [-2]
    for position, (a, b) in enumerate(itertools.pairwise(start)):
        flipped = (*start[:position], b, a, *start[position + 2 :])
        holding = [[pair for pair in left if item in pair] for item in (a, b)]
        free = position > positions[-1] + 1 and is_ordering(comparisons, flipped)
        if free and all(holding):
            used = [choices[chance.pick(len(choices))] for choices in holding]
            left = [pair for pair in left if pair not in used]
            positions.append(position)
    return positions[1:]


@claim("Theorem 5", "search")
def theorem_5(trial: Trial) -> Found:
    """Algorithm 1 beats every ordinal method for 0-1 loss, given a uniform prior.

    Given a uniform true ranking, Algorithm 1 finds it more often than every ordinal
    method can, by E[1/T], on all scales tried that know the true ranking, for (items,
    reviewers) = {cases}.
    """
    cases = {(3, 2): trial.pick(150, 3000), (4, 2): trial.pick(40, 800)}
    cases |= {(4, 3): trial.pick(40, 800)}
    cases |= {} if trial.quick else {(4, 4): 300, (4, 5): 150}
    found = [
        trial.averaged(contest(flips, uniform, worlds.World(*size)), budget)
        for size, budget in cases.items()
    ]
    return least(found, cases=", ".join(map(str, cases)))


@claim(
    "Theorem 6, noise by reviewer", "search", laws="2", who="for each reviewer from a"
)
@claim("Theorem 6", "search", laws="1", who="for every score from one")
def theorem_6(trial: Trial, laws: str, who: str) -> Found:
    """The canonical estimator survives noise that does not look at the item.

    The canonical estimator is right more than half of the time under independent noise
    with three values, drawn {who} law, on all scales and noise values tried.
    """
    del who
    chances = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    draws = list(itertools.product(range(3), repeat=2))
    weights = [chances[a] * chances[b] / 2 for a, b in draws for _ in range(2)]

    def margin(_: Order, table: Table) -> Fraction:
        (low1, _1, high1), (low2, _2, high2) = table[:2]
        noise1, noise2 = table[2], table[-1]
        scores = [
            pair
            for a, b in draws
            for pair in (
                (high1 + noise1[a], low2 + noise2[b]),
                (high2 + noise2[b], low1 + noise1[a]),
            )
        ]
        right = first_probability(np.array(scores, object), weight=rational())
        return sum(map(Fraction.__mul__, weights, right.tolist()), -HALF)

    tried = Contest(margin, TRUTHS[:1], (2 + int(laws), 3))
    found = min(tried.searched(trial.pick(150, 3000), trial.seed))
    scales, noise = found.scales[:2], found.scales[2:]
    text = f"scales {scales_text(scales)}; noise {scales_text(noise)}"
    return least([(found.margin, text)])


@claim("Theorem 6, what it needs", "counterexample")
def theorem_6_needs(_: Trial) -> Found:
    """Noise that looks at the item breaks it.

    With noise of mean zero on the better item only, -100 mostly and 9900 once in a
    hundred, the canonical estimator is right less than 2 times in a hundred.
    """
    scores = np.array([[Fraction(-99), Fraction(0)], [Fraction(9901), Fraction(0)]])
    often, rarely = first_probability(scores, weight=rational()).tolist()
    right = (99 * often + rarely) / 100
    text = f"right with probability {float(right):.4f}"
    return Found(right - HALF, right < Fraction(1, 50), text)


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
    for items, edges, _ in _every_joint():
        known = graph(items, edges)
        reach, orderings = closure(known), tuple(all_orderings(known))
        for members in twin_classes(known, by="closure"):
            for pair in itertools.combinations(members, 2):
                above = tuple(np.flatnonzero(reach[:, pair[0]]).tolist())
                below = tuple(np.flatnonzero(reach[pair[0]]).tolist())
                found.append(_Twins(items, edges, above, pair, below, orderings))
    return tuple(found)


def _rearranged() -> Iterator[tuple[_Twins, Order, Order]]:
    """Go through all twins and starts, and re-arrange each start around the twins."""
    for case in _with_twins():
        for start in itertools.permutations(range(case.n)):
            after = rearrange(start, case.above, case.pair, case.below)
            yield case, start, tuple(after.tolist())


@claim("Lemma 2", "enumeration")
def lemma_2(_: Trial) -> Found:
    """Re-arranging around twins never hurts, whatever the start and the truth.

    Re-arranging any start around any twins among 3 or 4 items never increases Kendall
    tau or footrule, in {checked} cases; the margin is the smallest gain.
    """
    gains: dict[str, list[tuple[Fraction, str]]] = {name: [] for name in LOSSES}
    for (case, start, after), name in itertools.product(_rearranged(), LOSSES):
        loss, text = loss_named(name), f"given {case.edges}, {start} becomes {after}"
        for truth in case.orderings:
            gain = Fraction(loss(start, truth) - loss(after, truth))
            gains[name].append((gain, f"{text}, truth {truth}"))
    checked = sum(map(len, gains.values()))
    smallest = least(itertools.chain(*gains.values()), strict=False, checked=checked)
    strict = all(max(found)[0] > 0 for found in gains.values())
    return dataclasses.replace(smallest, holds=smallest.holds and strict)


@claim("Lemma 2, swaps", "enumeration")
def lemma_2_swaps(_: Trial) -> Found:
    """Re-arranging equals a sequence of swaps.

    Re-arranging gives what swaps of neighbouring items in the wrong groups give, for
    {checked} starts and twins among 3 or 4 items; the margin is the share that differs.
    """
    cases = list(_rearranged())
    differing = [
        f"{start} given {case.edges}, {case.pair}"
        for case, start, after in cases
        if after != _by_swaps(case, start)
    ]
    share = Fraction(len(differing), len(cases))
    return Found(share, not share, "".join(differing[:1]), {"checked": len(cases)})


def _by_swaps(case: _Twins, start: Order) -> Order:
    """Swap the first two items in the wrong groups with none of a group between."""
    groups = (case.above, case.pair, case.below)
    group = {item: g for g, members in enumerate(groups) for item in members}
    order = list(start)
    while True:
        places = [place for place, item in enumerate(order) if item in group]
        for i, j in itertools.pairwise(places):
            if group[order[i]] > group[order[j]]:
                order[i], order[j] = order[j], order[i]
                break
        else:
            return tuple(order)


def _reversed_order(comparisons: Comparisons) -> Order:
    return tuple(reversed(range(comparisons.n_items)))


def _hashed_order(comparisons: Comparisons) -> Order:
    """Rank in an order that changes wildly with the comparisons."""
    text = repr(sorted(zip(*map(list, edges_of(comparisons)), strict=True)))
    digest = hashlib.sha256(text.encode()).digest()
    return tuple(sorted(range(comparisons.n_items), key=lambda item: digest[item]))


def _mixed_order(comparisons: Comparisons) -> dict[Order, Fraction]:
    orders = (index_order(comparisons), _reversed_order(comparisons))
    return {order: Fraction(orders.count(order), 2) for order in orders}


ORDINALS: dict[str, Ordinal] = {
    "the index order": index_order,
    "the reversed indices": _reversed_order,
    "a pseudo-random order": _hashed_order,
    "the uniform ordering": uniform,
    "a coin between index and reversed order": _mixed_order,
}


@claim("Theorem 7, footrule", "search", loss="footrule")
@claim("Theorem 7, kendall", "search", loss="kendall")
def theorem_7(trial: Trial, loss: str) -> Found:
    """Algorithm 3 improves any ordinal method, for Kendall tau and footrule.

    Given a uniform true ranking, Algorithm 3 has a smaller expected {loss} distance
    than the ordinal method it starts from, for {starts} of them, topological or not,
    fixed or random, on all scales tried, with one pair of twins as printed or all, for
    (items, reviewers) = {cases}.
    """
    cases = {(3, 2): trial.pick(30, 800), (4, 2): trial.pick(6, 60)}
    cases |= {(4, 3): trial.pick(4, 60)}
    cases |= {} if trial.quick else {(4, 4): 20, (4, 5): 20}
    found = []
    for (size, budget), (name, start), printed in itertools.product(
        cases.items(), ORDINALS.items(), (True, False)
    ):
        method = twins_from(start, printed=printed)
        tried = contest(method, start, worlds.World(*size), loss)
        margin, text = trial.averaged(tried, budget)
        found.append((margin, f"on {name}, {text}"))
    return least(found, cases=", ".join(map(str, cases)), starts=len(ORDINALS))


@claim("Theorem 7, footrule unchanged", "counterexample")
def theorem_7_unchanged(_: Trial) -> Found:
    """Ordering twins rightly may leave the footrule as it is.

    Given 0 > 2 and 1 > 2, the true ranking 0, 1, 2, 3 and the start 3, 2, 0, 1, which
    re-arranging turns into 3, 0, 1, 2, the right order of the twins 0 and 1 gains
    nothing in footrule, so a strict gain needs other true rankings.
    """
    loss = loss_named("footrule")
    right = tuple(rearrange((3, 2, 0, 1), (), (0, 1), (2,)).tolist())
    wrong = _swapped(right, (0, 1))
    gain = loss(wrong, IDENTITY) - loss(right, IDENTITY)
    text = f"footrule of {right} and of {wrong}: {loss(right, IDENTITY)}"
    return Found(Fraction(gain), gain == 0 and right == (3, 0, 1, 2), text)


@claim("Theorem 7, strict witness", "enumeration")
def theorem_7_witness(_: Trial) -> Found:
    """For every start some true ranking makes the footrule gain strict.

    With the true ranking that the paper builds, one twin right below what is above both
    and the other right above what is below both, the right order of the twins has a
    smaller footrule, for {checked} starts and twins among 3 or 4 items; the margin is
    the smallest gain.
    """
    loss = loss_named("footrule")
    gains, holds = [], True
    for case, _start, after in _rearranged():
        order = index_order(graph(case.n, case.edges))
        rest = set(order) - {*case.above, *case.pair, *case.below}
        # The twins as far apart as the comparisons allow.
        groups = (case.above, case.pair[:1], rest, case.pair[1:], case.below)
        truth = tuple(item for group in groups for item in order if item in group)
        holds = holds and truth in case.orderings
        turned = _swapped(after, case.pair)
        first = after.index(case.pair[0]) < after.index(case.pair[1])
        right, wrong = (after, turned) if first else (turned, after)
        gains.append(loss(wrong, truth) - loss(right, truth))
    told = {"checked": len(gains)}
    return Found(Fraction(min(gains)), holds and min(gains) > 0, told=told)


def _swapped(order: Order, pair: tuple[int, int]) -> Order:
    other = {pair[0]: pair[1], pair[1]: pair[0]}
    return tuple(other.get(item, item) for item in order)


@claim("Theorem 8", "search")
def theorem_8(trial: Trial) -> Found:
    """Appendix C beats the uniform ordinal method at every true ranking.

    Whatever the true ranking, flips from a uniform topological ordering find it more
    often than that ordering does, over distinct random pairs, on all scales tried, with
    the printed scan and with parity, for (items, reviewers) = {cases}.
    """
    cases = {(3, 2): trial.pick(100, 3000), (4, 2): trial.pick(100, 3000)}
    cases |= {(4, 3): trial.pick(100, 3000), (4, 4): trial.pick(50, 1000)}
    cases |= {(4, 5): trial.pick(30, 500)}
    found = []
    for (size, budget), scan in itertools.product(cases.items(), ("paper", "parity")):
        tried = contest(flips_from_uniform(scan), uniform, worlds.World(*size))
        # Neither side knows names, so one true ranking stands for all.
        alone = dataclasses.replace(tried, truths=tried.truths[:1])
        margin, text = trial.averaged(alone, budget)
        found.append((margin, f"{scan} scan, {text}"))
    return least(found, cases=", ".join(map(str, cases)))


@claim("Theorem 8, given the comparisons", "search")
def theorem_8_given(trial: Trial) -> Found:
    """With the parity scan it holds given any comparisons.

    With the parity scan, given every set of 2 to {most} comparisons of 4 items, flips
    from a uniform ordering find the true ranking more often than it does if the true
    ranking has free neighbours with scores, and as often otherwise; the margin is the
    smallest of the former.
    """
    found, holds = [], True
    most, budget = trial.pick(3, 5), trial.pick(25, 200)
    every = list(itertools.combinations(range(4), 2))
    subsets = [itertools.combinations(every, m) for m in range(2, most + 1)]
    for pairs in itertools.chain(*subsets):
        margin, text = trial.averaged(given("parity", pairs), budget)
        touched = {item for pair in pairs for item in pair}
        if any(
            {a, b} <= touched and (a, b) not in pairs
            for a, b in itertools.pairwise(IDENTITY)
        ):
            found.append((margin, f"given {pairs}: {text}"))
        else:
            holds = holds and margin == 0
    strict = least(found, most=most)
    return dataclasses.replace(strict, holds=holds and strict.holds)


def given(scan: str, pairs: Edges) -> Contest:
    """Set flips from a uniform ordering against it, given a truth and comparisons."""
    method = flips_from_uniform(scan)
    tried = contest(method, uniform, worlds.World(4, pairs))
    return dataclasses.replace(tried, truths=(IDENTITY,))

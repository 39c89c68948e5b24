"""The paper's claims, checked: Theorems 1 to 8, Lemmas 1 and 2, Algorithm 2."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.ab.rules import first_probability, votes
from evenhand.ab.weights import GapWeight, offset, rational
from evenhand.lab import dominance, worlds
from evenhand.lab.dominance import Contest, against_coin, contest
from evenhand.lab.theorems import Evidence, Trial, claim, least, none_off
from evenhand.lab.worlds import flips, flips_from_uniform, index_order, twins_from
from evenhand.posets.graph import Comparisons, is_ordering
from evenhand.posets.orderings import all_orderings, closure
from evenhand.posets.orderings import twins as twin_classes
from evenhand.posets.sampling import count_orderings
from evenhand.randomness import HALF, Chance, Stream, below
from evenhand.ranking.flips import rearrange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evenhand.lab.dominance import FixedRule
    from evenhand.lab.worlds import Drawn, Edges, First, Order, Ordinal, Scores, Table

WEIGHTS = (rational(), rational(Fraction(1, 10)), offset(Fraction(1, 2)))
FIXED = ("sign", "mean", "median(upper)", "median(lower)", "median(middle)")
# Reviewers of a design, and tables of scales for each true ranking, quick and full.
VOTERS = {
    "halves": ((2, 100, 2000), (3, 60, 1000), (4, 80, 2000), (6, 8, 150)),
    "coins": ((2, 60, 1000), (3, 40, 1000), (4, 20, 500)),
    "matched": ((2, 60, 1000), (4, 60, 1000), (6, 10, 300)),
}
LOSSES = ("kendall", "footrule")
# Items and reviewers of worlds that are searched.
SMALL = ((3, 2), (4, 2), (4, 3), (4, 4), (4, 5))
SIZES = tuple((n, m) for n in (3, 4) for m in range(1, math.comb(n, 2) + 1))


@claim("Theorem 1", "counterexample")
def theorem_1(trial: Trial) -> Evidence:
    """No fixed rule on two scores beats a coin on all scales.

    Each of {rules} fixed rules, most of them random tables, is right at most half of
    the time on scales found by the paper's two constructions; the margin is the best
    rule's.
    """
    zoo: list[FixedRule] = [
        lambda _z, y1, y2: 1 if y1 > y2 else 2,
        lambda _z, y1, y2: 1 if y1 - y2 > 1 else 2,
        lambda z, _y1, _y2: z[0],
    ]
    source = trial.source("theorem 1")
    zoo += [_table_rule(source) for _ in range(trial.pick(200, 4000))]
    best = max(
        map(dominance.refute, zoo), key=lambda refutation: refutation.probability
    )
    margin = best.probability - HALF
    return Evidence(margin, margin <= 0, repr(best), {"rules": len(zoo)})


def _table_rule(source: Stream) -> FixedRule:
    scores = itertools.product(dominance.SCORES, repeat=2)
    questions = itertools.product(dominance.ASSIGNMENTS, scores)
    answers = {(assigned, *pair): 1 + below(source, 2) for assigned, pair in questions}
    return lambda assignment, y1, y2: answers[assignment, int(y1), int(y2)]


@claim("Theorem 2", "search")
def theorem_2(trial: Trial) -> Evidence:
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
    return lambda first, second: first_probability(
        np.concatenate([first, second], axis=-1), weight=weight
    )


@claim("Theorem 3", "counterexample")
def theorem_3(trial: Trial) -> Evidence:
    """Sign, mean and medians get exactly half on the paper's families.

    Sign, mean and the three medians are right exactly half of the time on the paper's
    counterexamples, for every even number of reviewers up to {most}; the margin is the
    largest deviation.
    """
    margins: list[tuple[Fraction, str]] = []
    most = trial.pick(6, 8)
    for m, name in itertools.product(range(2, most + 1, 2), FIXED):
        powers, steps = [2**j for j in range(m)], [*range(m - 1), m * (m - 1) // 2]
        biases = powers if name == "median(middle)" else steps
        table = tuple((bias + HALF / 2, bias + 3 * HALF / 2) for bias in biases)
        margins += over_half([name], "halves", m, [table])
    return none_off(margins, most=most)


def over_half(
    names: Iterable[str], design: str, m: int, tables: Iterable[Table]
) -> Iterator[tuple[Fraction, str]]:
    """Go through rules, true rankings and scales: how far above a half, and where."""
    every: Any = np.array(listed := list(tables), dtype=object)
    for name, truth in itertools.product(names, worlds.TRUTHS):
        margins: Any = against_coin(name, design, m).margin(truth, every)
        for witness in map(dominance.Witness, margins, itertools.repeat(truth), listed):
            yield witness.margin, f"{name}, {design}: {witness}"


@claim("Theorem 4 (b)", "search", design="matched")
@claim("Theorem 4 (a)", "search", design="coins")
@claim("Theorem 4", "search", design="halves")
def theorem_4(trial: Trial, design: str) -> Evidence:
    """The vote strictly beats a coin, under three designs.

    The majority of canonical votes is right more than half of the time on all scales
    tried, with {counts} reviewers, assigned by the design {design}.
    """
    margins = []
    for m, *budget in VOTERS[design]:
        tried = against_coin(votes, design, m, "only")
        margins.append(trial.lowest(f"{m} reviewers", tried, trial.pick(*budget)))
    return least(margins, counts=", ".join(str(m) for m, *_ in VOTERS[design]))


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
def lemma_1a(_: Trial) -> Evidence:
    """Given the comparisons, the true ranking is uniform over their orderings.

    Given a uniform true ranking and distinct random pairs of 3 or 4 items, each of
    {checked} sets of comparisons leaves its T topological orderings equally likely; the
    margin is the largest deviation from 1/T.
    """
    deviations = []
    for n, edges, joint in _every_joint():
        orderings = set(all_orderings(worlds.graph(n, edges)))
        even = sum(joint.values(), Fraction(0)) / len(orderings)
        off = max(
            abs(joint.get(truth, Fraction(0)) - even * (truth in orderings))
            for truth in itertools.permutations(range(n))
        )
        deviations.append((off / even / len(orderings), f"given {list(edges)}"))
    return none_off(deviations, checked=len(deviations))


@claim("Lemma 1 (b)", "enumeration")
def lemma_1b(_: Trial) -> Evidence:
    """Exactly the topological methods find the true ranking with E[1/T].

    Among all answers of an ordinal method to all comparisons of 3 or 4 items, exactly
    the topological orderings attain E[1/T], as the index order and the uniform ordering
    do; the margin is the least that any other answer loses.
    """
    holds, smallest = True, Fraction(1)
    optimum: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for n, edges, joint in _every_joint():
        orderings = set(all_orderings(worlds.graph(n, edges)))
        holds = holds and len(orderings) == count_orderings(worlds.graph(n, edges))
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
        for success in (_success(index_order, n, m), _success(worlds.uniform, n, m)):
            holds = holds and statistics.mean(success.values()) == optimum[n, m]
    return Evidence(smallest, holds and smallest > 0)


@claim("Lemma 1, minimax", "enumeration")
def minimax(_: Trial) -> Evidence:
    """The uniform ordering is minimax, and the index order is not.

    The uniform topological ordering is right equally often at every true ranking of 3
    or 4 items, and so minimax by Lemma 1; the margin is what the index order loses at
    its worst true ranking.
    """
    holds, smallest = True, Fraction(1)
    for n, m in SIZES:
        if 1 < m < math.comb(n, 2):
            even, by_index = _success(worlds.uniform, n, m), _success(index_order, n, m)
            average = statistics.mean(by_index.values())
            # No ordinal method has a higher average (Lemma 1), so none a higher
            # minimum.
            holds = holds and set(even.values()) == {average}
            smallest = min(smallest, average - min(by_index.values()))
    return Evidence(smallest, holds and smallest > 0)


def _success(method: Ordinal, n: int, m: int) -> dict[Order, Fraction]:
    """Return how often an ordinal method is right, by true ranking."""
    success = dict.fromkeys(itertools.permutations(range(n)), Fraction(0))
    for edges, joint in _joint(n, m).items():
        for order, mass in worlds.as_law(method(worlds.graph(n, edges))).items():
            success[order] += mass * joint.get(order, 0) * math.factorial(n)
    return success


@claim("Algorithm 2", "enumeration")
def algorithm_2(trial: Trial) -> Evidence:
    """Algorithm 2 has the law of Algorithm 1, for all scales at once.

    Given each of {checked} sets of comparisons of 4 items, Algorithms 1 and 2 give the
    same rankings by the same coins with the same probabilities, so whatever the scales;
    the margin is 1 if one differs.
    """
    sizes, deviations = range(2, trial.pick(3, 5) + 1), []
    for edges in itertools.chain(*(sorted(_joint(4, size)) for size in sizes)):
        m, comparisons = len(edges), worlds.graph(4, edges)
        ours = over_reviewers(worlds.coin_law(flips, comparisons, edges), m)
        theirs = worlds.coin_law(
            printed_algorithm_2(edges, m), comparisons, [range(4)] * m
        )
        deviations.append((Fraction(ours != theirs), f"differ given {edges}"))
    return none_off(deviations, checked=len(deviations))


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
        >>> outcomes(method(worlds.graph(3, pairs), scores, lambda gap: (3 + gap) / 6))
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
                first_reviewer, second_reviewer = (
                    crew if chance.coin(HALF) else crew[::-1]
                )
                if not chance.coin(
                    first(scores[first_reviewer, a] - scores[second_reviewer, b])
                ):
                    after[position : position + 2] = [b, a]
            return tuple(after)

        return procedure

    return estimator


def _flips(
    comparisons: Comparisons, start: Order, pairs: Edges, chance: Chance
) -> list[int]:
    """Choose positions to flip and use up a pair of items for each of the two."""
    remaining, positions = list(pairs), [-2]
    for position, (a, b) in enumerate(itertools.pairwise(start)):
        flipped = (*start[:position], b, a, *start[position + 2 :])
        holding = [[pair for pair in remaining if item in pair] for item in (a, b)]
        free = position > positions[-1] + 1 and is_ordering(comparisons, flipped)
        if free and all(holding):
            used = [choices[chance.pick(len(choices))] for choices in holding]
            remaining = [pair for pair in remaining if pair not in used]
            positions.append(position)
    return positions[1:]


@claim("Theorem 5", "search")
def theorem_5(trial: Trial) -> Evidence:
    """Algorithm 1 beats every ordinal method for 0-1 loss, given a uniform prior.

    Given a uniform true ranking, Algorithm 1 finds it more often than every ordinal
    method can, by E[1/T], on all scales tried that know the true ranking, for (items,
    reviewers) = {cases}.
    """
    budgets = (150, 40, 40, 0, 0), (3000, 800, 800, 300, 150)
    tried = functools.partial(contest, flips, worlds.uniform)
    return _in_worlds(trial, budgets, {"": tried})


def _in_worlds(
    trial: Trial,
    budgets: tuple[tuple[int, ...], tuple[int, ...]],
    tried: Mapping[str, Callable[[worlds.World], Contest]],
) -> Evidence:
    """Search contests in small worlds, given a uniform true ranking.

    Args:
        trial: The run.
        budgets: Evaluations at each true ranking by world, of a quick run and a full.
        tried: From what is tried, for people, to what sets it up in a world.
    """
    margins, cases = [], []
    for size, budget in zip(SMALL, budgets[not trial.quick], strict=True):
        for label, set_up in tried.items() if budget else ():
            margin, text = trial.average_margin(set_up(worlds.World(*size)), budget)
            margins.append((margin, f"{label}{text}"))
        cases += [str(size)] * bool(budget)
    return least(margins, cases=", ".join(cases))


@claim("Theorem 6, noise by reviewer", "search", laws="a law of each reviewer's own")
@claim("Theorem 6", "search", laws="one law")
def theorem_6(trial: Trial, laws: str) -> Evidence:
    """The canonical estimator survives noise that does not look at the item.

    The canonical estimator is right more than half of the time under independent noise
    with three values, drawn from {laws}, on all scales and noise values tried.
    """
    chances = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    draws = list(itertools.product(range(3), repeat=2))
    weights = [chances[a] * chances[b] / 2 for a, b in draws] * 2

    def margin(_: Order, table: Table) -> Fraction:
        (low1, _1, high1), (low2, _2, high2) = table[:2]
        noise1, noise2 = table[2], table[-1]
        scores = [(high1 + noise1[a], low2 + noise2[b]) for a, b in draws]
        scores += [(high2 + noise2[b], low1 + noise1[a]) for a, b in draws]
        right = first_probability(np.array(scores, object), weight=rational())
        return sum(map(Fraction.__mul__, weights, right.tolist()), -HALF)

    rows = 3 if laws == "one law" else 4
    tried = Contest(margin, worlds.TRUTHS[:1], (rows, 3))
    return least([trial.lowest("noise last", tried, trial.pick(150, 3000))])


class _Rearrangement(NamedTuple):
    """A start, re-arranged around two twins among comparisons."""

    known: Comparisons
    orderings: tuple[Order, ...]
    above: tuple[int, ...]
    pair: tuple[int, int]
    below: tuple[int, ...]
    start: Order
    after: Order


def _rearrangements() -> Iterator[_Rearrangement]:
    """Go through all comparisons of 3 or 4 items, all twins in them and all starts."""
    for n, edges, _ in _every_joint():
        comparisons = worlds.graph(n, edges)
        reach, orderings = closure(comparisons), tuple(all_orderings(comparisons))
        for members in twin_classes(comparisons, by="closure"):
            for pair in itertools.combinations(members, 2):
                above = tuple(np.flatnonzero(reach[:, pair[0]]).tolist())
                below = tuple(np.flatnonzero(reach[pair[0]]).tolist())
                for start in itertools.permutations(range(n)):
                    after = tuple(rearrange(start, above, pair, below).tolist())
                    around = above, pair, below, start, after
                    yield _Rearrangement(comparisons, orderings, *around)


@claim("Lemma 2", "enumeration")
def lemma_2(_: Trial) -> Evidence:
    """Re-arranging around twins never hurts, whatever the start and the truth.

    Re-arranging any start around any twins among 3 or 4 items never increases Kendall
    tau or footrule, in {checked} cases; the margin is the smallest gain.
    """
    gains = []
    for case, name in itertools.product(_rearrangements(), LOSSES):
        loss, text = worlds.loss_by_name(name), f"{case.start} becomes {case.after}"
        for truth in case.orderings:
            gain = Fraction(loss(case.start, truth) - loss(case.after, truth))
            gains.append((gain, f"{text}, truth {truth}"))
    smallest = least(gains, strict=False, checked=len(gains))
    return smallest._replace(holds=smallest.holds and max(gains)[0] > 0)


ORDINALS: dict[str, Ordinal] = {
    "the index order": index_order,
    "the reversed indices": lambda known: tuple(range(known.n_items))[::-1],
    "the uniform ordering": worlds.uniform,
}


@claim("Theorem 7, footrule", "search", loss="footrule")
@claim("Theorem 7, kendall", "search", loss="kendall")
def theorem_7(trial: Trial, loss: str) -> Evidence:
    """Algorithm 3 improves any ordinal method, for Kendall tau and footrule.

    Given a uniform true ranking, Algorithm 3 has a smaller expected {loss} distance
    than the ordinal method it starts from, for three of them, topological or not,
    fixed or random, on all scales tried, with one pair of twins as printed or all, for
    (items, reviewers) = {cases}.
    """
    tried = {}
    for (name, start), printed in itertools.product(ORDINALS.items(), (True, False)):
        method = twins_from(start, printed=printed)
        label = f"{'one pair' if printed else 'all pairs'} on {name}, "
        tried[label] = functools.partial(contest, method, start, loss=loss)
    budgets = (30, 6, 4, 0, 0), (800, 60, 60, 20, 20)
    return _in_worlds(trial, budgets, tried)


@claim("Theorem 7, strict witness", "enumeration")
def theorem_7_witness(_: Trial) -> Evidence:
    """For every start some true ranking makes the footrule gain strict.

    With the true ranking that the paper builds, one twin right below what is above both
    and the other right above what is below both, the right order of the twins has a
    smaller footrule, for {checked} starts and twins among 3 or 4 items; the margin is
    the smallest gain.
    """
    loss = worlds.loss_by_name("footrule")
    gains, holds = [], True
    for case in _rearrangements():
        order = index_order(case.known)
        others = set(order) - {*case.above, *case.pair, *case.below}
        # The twins as far apart as the comparisons allow.
        groups = (case.above, case.pair[:1], others, case.pair[1:], case.below)
        truth = tuple(item for group in groups for item in order if item in group)
        holds = holds and truth in case.orderings
        places = sorted(case.after.index(item) for item in case.pair)
        right, wrong = list(case.after), list(case.after)
        for place, item, twin in zip(places, case.pair, case.pair[::-1], strict=True):
            right[place], wrong[place] = item, twin
        gains.append(loss(tuple(wrong), truth) - loss(tuple(right), truth))
    facts = {"checked": len(gains)}
    return Evidence(Fraction(min(gains)), holds and min(gains) > 0, facts=facts)


@claim("Theorem 8", "search")
def theorem_8(trial: Trial) -> Evidence:
    """Appendix C beats the uniform ordinal method at every true ranking.

    Whatever the true ranking, flips from a uniform topological ordering find it more
    often than that ordering does, over distinct random pairs, on all scales tried, with
    the printed scan and with parity, for (items, reviewers) = {cases}.
    """
    # Neither side knows names, so one true ranking stands for all.
    tried = {f"{scan} scan, ": _scan_contest(scan) for scan in ("paper", "parity")}
    budgets = (100, 100, 100, 50, 30), (3000, 3000, 3000, 1000, 500)
    return _in_worlds(trial, budgets, tried)


def _scan_contest(scan: str) -> Callable[[worlds.World], Contest]:
    """Set flips from a uniform ordering against it, at the true ranking 0, 1, ..."""
    method = flips_from_uniform(scan)
    return lambda where: contest(
        method, worlds.uniform, where, truths=(tuple(range(where.n_items)),)
    )


@claim("Theorem 8, given the comparisons", "search")
def theorem_8_given(trial: Trial) -> Evidence:
    """With the parity scan it holds given any comparisons.

    With the parity scan, given every set of 2 to {most} comparisons of 4 items, flips
    from a uniform ordering find the true ranking more often than it does if the true
    ranking has free neighbours with scores, and as often otherwise; the margin is the
    smallest of the former.
    """
    margins, holds = [], True
    most, budget = trial.pick(3, 5), trial.pick(25, 200)
    every = list(itertools.combinations(range(4), 2))
    subsets = [itertools.combinations(every, m) for m in range(2, most + 1)]
    for pairs in itertools.chain(*subsets):
        margin, text = trial.average_margin(scan_with_pairs("parity", pairs), budget)
        touched = {item for pair in pairs for item in pair}
        if any(
            {a, b} <= touched and (a, b) not in pairs
            for a, b in itertools.pairwise(range(4))
        ):
            margins.append((margin, f"given {pairs}: {text}"))
        else:
            holds = holds and margin == 0
    strict = least(margins, most=most)
    return strict._replace(holds=holds and strict.holds)


def scan_with_pairs(scan: str, pairs: Edges) -> Contest:
    """Set flips from a uniform ordering against it, given a truth and comparisons."""
    return _scan_contest(scan)(worlds.World(4, pairs))

"""The paper's claims on many items, checked: Theorems 5, 7 and 8."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand._outcomes import HALF, Chance
from evenhand.ab.weights import rational
from evenhand.lab.adversary import worst
from evenhand.lab.algorithm_2 import over_reviewers, printed_algorithm_2
from evenhand.lab.claims import ENUMERATION, SEARCH, OnTrial, Row, Trial
from evenhand.lab.dominance import Contest, Witness, decided
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
from evenhand.lab.worlds import (
    World,
    evaluated,
    exact_first,
    loss_named,
    margin_polynomials,
    world,
)
from evenhand.posets.comparisons import Comparisons, compared
from evenhand.posets.comparisons import edges as edges_of
from evenhand.ranking.flips import reviewers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

REUSED: Edges = ((0, 2), (1, 3))
TWO_CHAINS: Edges = ((0, 1), (2, 3))
IDENTITY: Order = (0, 1, 2, 3)


def algorithm_2(trial: Trial) -> Row:
    """Algorithm 2 has the law of Algorithm 1, for all scales at once."""
    differing = []
    checked = 0
    for m in range(2, trial.pick(3, 5) + 1):
        for edges in _graphs(4, m):
            checked += 1
            known = graph(4, edges)
            ours = over_reviewers(coin_law(trial.on_trial.flips, known, edges), m)
            everyone = [range(4)] * m
            theirs = coin_law(printed_algorithm_2(edges, m), known, everyone)
            if ours != dict(theirs):
                differing.append(edges)
    return Row(
        "Algorithm 2",
        f"Given each of {checked} sets of comparisons of 4 items, Algorithms 1 and 2 "
        "give the same rankings by the same coins with the same probabilities, so "
        "whatever the scales; the margin is the share that differs.",
        ENUMERATION,
        Fraction(len(differing), checked),
        not differing,
        f"differ given {differing[0]}" if differing else "",
    )


def _graphs(n: int, m: int) -> list[Edges]:
    """List all comparisons that m distinct pairs of n items can give."""
    where = World(n, m)
    truths = where.truths()
    return sorted({edges for truth in truths for edges in where.comparisons(truth)})


def theorem_5(trial: Trial) -> Row:
    """Algorithm 1 beats every ordinal method for 0-1 loss, given a uniform prior."""
    cases = [(3, 2, trial.pick(150, 3000)), (4, 2, trial.pick(40, 800))]
    cases += [(4, 3, trial.pick(40, 800))]
    cases += [] if trial.quick else [(4, 4, 300), (4, 5, 150)]
    found = []
    for n, m, budget in cases:
        contest = _contest(trial.on_trial.flips, uniform, "zero-one", world(n, m))
        witnesses = contest.searched(budget, trial.seed)
        found.append((decided(witnesses, "uniform")[0], _told(n, m, witnesses)))
    margin, text = min(found)
    return Row(
        "Theorem 5",
        "Given a uniform true ranking, Algorithm 1 finds it more often than every "
        "ordinal method can, by E[1/T], on all scales tried that know the true "
        f"ranking, for (items, reviewers) = "
        f"{_sizes(cases)}.",
        SEARCH,
        margin,
        margin > 0,
        text,
    )


def _contest(
    method: Estimator,
    baseline: Ordinal,
    loss: str,
    where: World,
    laws: dict[Edges, CoinLaw] | None = None,
) -> Contest:
    polynomials = margin_polynomials(
        where, method, baseline, loss_named(loss), laws=laws
    )
    return Contest(
        evaluated(polynomials, exact_first(rational())),
        where.truths(),
        (where.n_reviewers, where.n_items),
        "pairs" if where.given is None else "given",
    )


def _told(n: int, m: int, witnesses: Sequence[Witness]) -> str:
    lowest = min(witnesses, key=lambda witness: witness.margin)
    return f"{n} items, {m} reviewers: {lowest}"


def _sizes(cases: Sequence[tuple[int, int, int]]) -> str:
    return ", ".join(f"({n}, {m})" for n, m, _ in cases)


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


def theorem_7(trial: Trial, loss: str) -> Row:
    """Algorithm 3 improves any ordinal method, for Kendall tau and footrule."""
    cases = [(3, 2, trial.pick(30, 800)), (4, 2, trial.pick(6, 60))]
    cases += [(4, 3, trial.pick(4, 60))]
    cases += [] if trial.quick else [(4, 4, 20), (4, 5, 20)]
    found = []
    for n, m, budget in cases:
        for name, start in ORDINALS.items():
            for printed in (True, False):
                method, laws = _twins(trial.on_trial, start, printed, n)
                contest = _contest(method, start, loss, world(n, m), laws)
                witnesses = contest.searched(budget, trial.seed)
                margin = decided(witnesses, "uniform")[0]
                found.append((margin, f"on {name}, {_told(n, m, witnesses)}"))
    margin, text = min(found)
    return Row(
        f"Theorem 7, {loss}",
        f"Given a uniform true ranking, Algorithm 3 has a smaller expected {loss} "
        f"distance than the ordinal method it starts from, for {len(ORDINALS)} of "
        "them, topological or not, fixed or random, on all scales tried, with one pair "
        f"of twins as printed or all, for (items, reviewers) = "
        f"{_sizes(cases)}.",
        SEARCH,
        margin,
        margin > 0,
        text,
    )


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


def theorem_8(trial: Trial) -> Row:
    """Appendix C beats the uniform ordinal method at every true ranking."""
    cases = [(3, 2, trial.pick(100, 3000)), (4, 2, trial.pick(100, 3000))]
    cases += [(4, 3, trial.pick(100, 3000)), (4, 4, trial.pick(50, 1000))]
    cases += [(4, 5, trial.pick(30, 500))]
    found = []
    for (n, m, budget), scan in itertools.product(cases, ("paper", "parity")):
        method = trial.on_trial.flips_from_uniform(scan)
        contest = _contest(method, uniform, "zero-one", world(n, m))
        # Neither side knows names, so one true ranking stands for all.
        alone = dataclasses.replace(contest, truths=contest.truths[:1])
        witnesses = alone.searched(budget, trial.seed)
        margin, _ = decided(witnesses, "arbitrary")
        found.append((margin, f"{scan} scan, {_told(n, m, witnesses)}"))
    margin, text = min(found)
    return Row(
        "Theorem 8",
        "Whatever the true ranking, flips from a uniform topological ordering find it "
        "more often than that ordering does, over distinct random pairs, on all scales "
        f"tried, with the printed scan and with parity, for (items, reviewers) = "
        f"{_sizes(cases)}.",
        SEARCH,
        margin,
        margin > 0,
        text,
    )


def theorem_8_given(trial: Trial) -> Row:
    """With the parity scan it holds given any comparisons."""
    found = []
    holds = True
    method = trial.on_trial.flips_from_uniform("parity")
    most = trial.pick(3, 5)
    for m in range(2, most + 1):
        for pairs in itertools.combinations(itertools.combinations(range(4), 2), m):
            contest = _contest(method, uniform, "zero-one", world(4, None, pairs))
            margin, table = worst(
                functools.partial(contest.margin, IDENTITY),
                contest.shape,
                trial.source(f"parity {pairs}"),
                budget=trial.pick(25, 200),
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
    return Row(
        "Theorem 8, given the comparisons",
        f"With the parity scan, given every set of 2 to {most} comparisons of 4 items, "
        "flips from a uniform ordering find the true ranking more often than it does "
        "if the true ranking has free neighbours with scores, and as often otherwise; "
        "the margin is the smallest of the former.",
        SEARCH,
        margin,
        holds,
        text,
    )


def fails_printed_scan(trial: Trial) -> Row:
    """The search finds that the printed scan fails given comparisons."""
    method = trial.on_trial.flips_from_uniform("paper")
    contest = _contest(method, uniform, "zero-one", world(4, None, TWO_CHAINS))
    margin, table = worst(
        functools.partial(contest.margin, IDENTITY),
        contest.shape,
        trial.source("printed scan"),
        budget=trial.pick(100, 2000),
        families=False,
    )
    share = 6 * margin + 1
    return Row(
        "Can fail: Appendix C scan",
        "Given 0 > 1 and 2 > 3 and the true ranking 0, 1, 2, 3, the search finds "
        "scales on which the printed scan finds it less often than the uniform "
        "ordering, which does so in one case of six.",
        SEARCH,
        margin,
        margin < 0,
        f"{float(share):.4f} times as often: {Witness(IDENTITY, table, margin)}",
    )


def fails_without_retiring(trial: Trial) -> Row:
    """The search finds that re-using reviewers breaks Theorem 5."""
    contest = _contest(reusing_flips, uniform, "zero-one", world(4, None, REUSED))
    witnesses = contest.searched(trial.pick(80, 1000), trial.seed, families=False)
    margin, _ = decided(witnesses, "uniform")
    share = 6 * margin + 1
    return Row(
        "Can fail: re-used reviewers",
        "Given 0 > 2 and 1 > 3, the search finds scales on which Algorithm 1 without "
        "retiring reviewers finds the true ranking less often than every topological "
        "ordering does, which is in one case of six.",
        SEARCH,
        margin,
        margin < 0,
        f"{float(share):.4f} times as often: {_told(4, 2, witnesses)}",
    )


def reusing_flips(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
    """Algorithm 1 without retiring reviewers.

    Examples:
        >>> from evenhand._outcomes import outcomes
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(reusing_flips(graph(2, ()), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    reviewers = reviewers_of(scores, comparisons.n_items)
    start = index_order(comparisons)

    def procedure(chance: Chance) -> Order:
        after = list(start)
        position = 0
        while position + 1 < len(start):
            a, b = start[position : position + 2]
            crews = list(itertools.product(reviewers[a], reviewers[b]))
            if compared(comparisons, a, b) or not crews:
                position += 1
                continue
            one, other = crews[chance.pick(len(crews))]
            if not chance.coin(first(scores[one, a] - scores[other, b])):
                after[position : position + 2] = [b, a]
            position += 2
        return tuple(after)

    return procedure

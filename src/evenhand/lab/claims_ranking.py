"""Claims on many items beyond the paper: Theorems K, T and A, eta, equal groups."""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._outcomes import HALF, Chance
from evenhand._randomness import below
from evenhand.ab.weights import rational
from evenhand.lab.claims import ENUMERATION, SEARCH, Found, Trial, claim
from evenhand.lab.claims_many import averaged
from evenhand.lab.dominance import contest, scales_text
from evenhand.lab.estimators import Edges, graph, mean_rank_buckets, uniform
from evenhand.lab.worlds import World, enumerated, exact_first, loss_named, world
from evenhand.posets.orderings import all_orderings
from evenhand.ranking.anchors import Layer, Sheets, mean_values
from evenhand.ranking.eta import near_ties
from evenhand.ranking.flips import reviewers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand._randomness import Stream
    from evenhand.lab.polynomial import Order, Scores, Table
    from evenhand.lab.worlds import Margin
    from evenhand.posets.comparisons import Comparisons

    Buckets = list[tuple[int, ...]]
    WeakOrder = Callable[[Comparisons], Buckets]

ETA = 0.25
GROUPS = 3


@claim("Theorem K", SEARCH)
def theorem_k(trial: Trial) -> Found:
    """The sorter beats every ordinal method, given any comparisons.

    Given each of the {cases} shapes of 2 to {most} comparisons of 4 items and a uniform
    true ranking, the sorter finds it more often than every ordinal method can if it
    asks at all, on all scales tried that know the true ranking; the margin is T
    P(right) - 1.
    """
    found = []
    strict = True
    most = trial.pick(3, 5)
    cases = [edges for m in range(2, most + 1) for edges in shapes(4, m)]
    for edges in cases:
        duel = contest(trial.on_trial.sorter, uniform, world(4, None, edges))
        margin = averaged(trial, duel, trial.pick(6, 120))[0] * len(duel.truths)
        strict = strict and (margin > 0 if duel.asks else margin == 0)
        if duel.asks:
            text = f"given {edges}: T P(right) = {float(1 + margin):.6f}"
            found.append((margin, text))
    margin, text = min(found, default=(Fraction(0), "it never asks"))
    told = {"cases": len(cases), "most": most}
    return Found(margin, strict and margin > 0, text, told)


def shapes(n: int, m: int) -> list[Edges]:
    """List the comparisons that m distinct pairs of n items can give, up to names.

    Examples:
        >>> shapes(3, 2)
        [((0, 1), (0, 2)), ((0, 1), (1, 2)), ((0, 1), (2, 1))]
    """
    pairs = itertools.combinations(range(n), 2)
    found = set()
    for edges in itertools.combinations(pairs, m):
        renamed = (
            tuple(sorted((names[a], names[b]) for a, b in edges))
            for names in itertools.permutations(range(n))
        )
        found.add(min(renamed))
    return sorted(found)


@claim("Theorem T", ENUMERATION)
def theorem_t(trial: Trial) -> Found:
    """Ties broken by scores beat ties broken by lot, at every true ranking.

    Given each of {shapes} shapes of comparisons of 3 and 4 items, at every true
    ranking, items of equal mean rank sorted by mean scores and noise have a smaller
    expected Kendall tau than by lot, if a bucket has two items, all with scores, and an
    equal one otherwise, on random scales.
    """
    found = []
    strict = True
    sizes = [(3, 2), (4, 2), (4, 3), (4, 4)][: trial.pick(3, 4)]
    shaped = [(n, edges) for n, m in sizes for edges in shapes(n, m)]
    source = trial.source("theorem t")
    for n, edges in shaped:
        gain = against_lots(n, edges, trial.on_trial.layers)
        seen = {item for pair in edges for item in pair}
        buckets = mean_rank_buckets(graph(n, edges))
        some = any(len(bucket) > 1 and seen.issuperset(bucket) for bucket in buckets)
        for truth in World(n, len(edges), edges).truths():
            for _ in range(trial.pick(1, 6)):
                table = _integers(len(edges), n, source)
                gained = gain(truth, table)
                strict = strict and (gained > 0 if some else gained == 0)
                if some:
                    found.append((gained, f"given {edges}: {scales_text(table)}"))
    margin, text = min(found)
    return Found(margin, strict, text, {"shapes": len(shaped)})


def against_lots(
    n: int,
    edges: Edges,
    layers: Callable[..., tuple[Layer, ...]],
    weak: WeakOrder = mean_rank_buckets,
) -> Margin:
    """Return how much Kendall tau is gained over equal mean ranks in order by lot.

    Args:
        n: Number of items.
        edges: The comparisons.
        layers: What chooses the reviewers.
        weak: From comparisons to the buckets that are sorted by scores.

    Examples:
        >>> from evenhand.ranking.anchors import choose_layers
        >>> gained = against_lots(3, ((0, 1), (0, 2)), choose_layers)
        >>> gained((0, 1, 2), ((Fraction(0), Fraction(1), Fraction(2)),) * 2)
        Fraction(63, 130)
    """
    method = functools.partial(settled, weak, layers)
    where = World(n, len(edges), edges)
    return enumerated(where, method, _by_lot, loss_named("kendall"))


def _by_lot(comparisons: Comparisons) -> dict[Order, Fraction]:
    ways = [itertools.permutations(b) for b in mean_rank_buckets(comparisons)]
    orders = [tuple(itertools.chain(*parts)) for parts in itertools.product(*ways)]
    return dict.fromkeys(orders, Fraction(1, len(orders)))


def settled(
    weak: WeakOrder,
    layers: Callable[..., tuple[Layer, ...]],
    comparisons: Comparisons,
    scores: Scores,
    chance: Chance,
) -> Order:
    """Sort each bucket by mean scores plus noise, exactly.

    The noise is the Gumbel law to base 64: an item comes first with a probability in
    proportion to 64 to the power of its mean, a fraction for means of whole numbers of
    up to three scores. A bucket with an item without score is put in order by lot.

    Args:
        weak: From comparisons to the buckets, best first.
        layers: What chooses the reviewers.
        comparisons: Who was put above whom.
        scores: From (reviewer, item) to the score.
        chance: What makes the random choices.

    Returns:
        The ranking.

    Examples:
        >>> from evenhand._outcomes import outcomes
        >>> from evenhand.ranking.anchors import choose_layers
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(2)}
        >>> program = functools.partial(settled, lambda c: [(0, 1)], choose_layers)
        >>> outcomes(functools.partial(program, graph(2, ()), scores))
        {(0, 1): Fraction(1, 65), (1, 0): Fraction(64, 65)}
    """
    marks: dict[int, dict[int, Fraction]] = defaultdict(dict)
    for (reviewer, item), score in scores.items():
        marks[reviewer][item] = score
    people = dict(enumerate(reviewers_of(scores, comparisons.n_items)))
    sheets = Sheets(people, marks)
    order: list[int] = []
    for bucket in weak(comparisons):
        values = [Fraction(0)] * len(bucket)
        if len(bucket) > 1 and all(people[item] for item in bucket):
            chosen = layers(sheets, bucket, chance.pick, anchored=False)
            values = mean_values(sheets, bucket, chosen)
        order += _with_noise(bucket, values, chance)
    return tuple(order)


def _with_noise(
    bucket: Sequence[int], values: Sequence[Fraction], chance: Chance
) -> list[int]:
    left = {
        item: Fraction(2) ** int(6 * value)
        for item, value in zip(bucket, values, strict=True)
    }
    order = []
    while left:
        rest = sum(left.values())
        for item in list(left):
            if chance.coin(left[item] / rest):
                break
            rest -= left[item]
        order.append(item)
        del left[item]
    return order


def _integers(m: int, n: int, source: Stream) -> Table:
    """Draw scales of small whole numbers, some of which are far apart."""
    rows = []
    for _ in range(m):
        score = (1, 2, 5)[below(source, 3)] * below(source, 4)
        row = []
        for _ in range(n):
            score += 1 + below(source, 2) * below(source, 3)
            row.append(Fraction(score))
        rows.append(tuple(row))
    return tuple(rows)


@claim("Theorem A", SEARCH)
def theorem_a(trial: Trial) -> Found:
    """Scores set against items that both reviewers scored keep the guarantee.

    Two reviewers who also scored the same one or two other items, wherever these are in
    the true ranking: the canonical coin on scores relative to those is right more than
    half of the time on all scales tried.
    """
    found = []
    for n in (3, 4):
        for places in itertools.permutations(range(n)):
            if places[0] > places[1] or list(places[2:]) != sorted(places[2:]):
                continue
            margin, table = trial.worst(
                f"theorem a {places}",
                functools.partial(_anchored_margin, trial.on_trial.relative, places),
                (2, n),
                trial.pick(40, 1500),
            )
            found.append((margin, f"places {places}: {scales_text(table)}"))
    margin, text = min(found)
    return Found(margin, margin > 0, text)


def _anchored_margin(
    relative: Callable[[Sheets, Sequence[int], Layer], list[Fraction]],
    places: Sequence[int],
    table: Table,
) -> Fraction:
    """Return P(better first) - 1/2; items 0 and 1 are in question, 0 the better."""
    first = exact_first(rational())
    anchors = tuple(range(2, len(places)))
    right = Fraction(0)
    for crew in ((0, 1), (1, 0)):
        # Tables go from the worst place to the best.
        marks = {
            reviewer: {
                thing: table[reviewer][-1 - places[thing]] for thing in (item, *anchors)
            }
            for item, reviewer in enumerate(crew)
        }
        sheets = Sheets({item: [crew[item]] for item in (0, 1)}, marks)
        one, two = relative(sheets, (0, 1), Layer(crew, anchors))
        right += first(one - two) / 2
    return right - HALF


@claim("Eta, price", ENUMERATION)
def eta_price(trial: Trial) -> Found:
    """Settling near ties by scores costs no more than its price.

    Given {shapes} shapes of comparisons of 4 items and a uniform true ranking,
    neighbours of probability at most 1/2 + 0.25 that are settled by scores lose less
    Kendall tau than the price said, on random scales for each true ranking; the margin
    is what is left of the price.
    """
    found = []
    source = trial.source("eta")
    for edges in [edges for m in (3, 4) for edges in shapes(4, m)]:
        buckets, price = _merged(graph(4, edges), edges)
        if not price:
            continue
        gain = against_lots(4, edges, trial.on_trial.layers, _always(buckets))
        truths = World(4, len(edges), edges).truths()
        lost = [
            max(
                -gain(truth, _integers(len(edges), 4, source))
                for _ in range(trial.pick(1, 8))
            )
            for truth in truths
        ]
        left = price - sum(lost, Fraction(0)) / len(truths)
        found.append((left, f"given {edges}: price {price}"))
    margin, text = min(found, default=(Fraction(0), "it never merges"))
    return Found(margin, margin > 0, text, {"shapes": len(found)})


def _always(buckets: Buckets) -> WeakOrder:
    return lambda _: buckets


def _merged(known: Comparisons, edges: Edges) -> tuple[Buckets, Fraction]:
    """Return the buckets after near ties are merged, and the exact price."""
    orders = list(all_orderings(known))
    n = known.n_items
    above = np.zeros((n, n))
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for order in orders:
        for a, b in itertools.combinations(order, 2):
            counts[a, b] += 1
            above[a, b] += 1 / len(orders)
    runs = mean_rank_buckets(known)
    seen = {item for pair in edges for item in pair}
    near = near_ties(
        [item for run in runs for item in run],
        [run for run in runs if len(run) > 1],
        above,
        ETA,
        scored=[item in seen for item in range(n)],
    )
    price = sum(
        (Fraction(counts[pair], len(orders)) - HALF for pair in near.merged),
        Fraction(0),
    )
    whole = {item: bucket for bucket in near.buckets for item in bucket}
    every = [whole.get(item, (item,)) for run in runs for item in run]
    return list(dict.fromkeys(every)), price


@claim("Equal groups", ENUMERATION)
def equal_groups(trial: Trial) -> Found:
    """Equal groups, sorted by their means, are right at least once in k! times.

    3 items, 3 groups that change places at random, sorted by their means: right with
    probability 1/6 at least, on all increasing group means from 0 to {top}, each raised
    by 0, {once} or {twice}.
    """
    top = trial.pick(3, 4)
    kinds = [
        tuple(Fraction(score + (top + 1) * shift) for score in scores)
        for shift in range(GROUPS)
        for scores in itertools.combinations(range(top + 1), GROUPS)
    ]
    ways = list(itertools.permutations(range(GROUPS)))
    found = []
    for table in itertools.combinations_with_replacement(kinds, GROUPS):
        right = sum((_sorted_right(table, way) for way in ways), Fraction(0))
        found.append(((right - 1) / len(ways), scales_text(table)))
    margin, text = min(found)
    told = {"top": top, "once": top + 1, "twice": 2 * top + 2}
    return Found(margin, margin >= 0, text, told)


def _sorted_right(table: Table, groups: Sequence[int]) -> Fraction:
    """Return the chance that items 0 < 1 < 2 come out in order, ties by lot."""
    means = [table[group][item] for item, group in enumerate(groups)]
    if any(one > two for one, two in itertools.pairwise(means)):
        return Fraction(0)
    ties = math.prod(math.factorial(means.count(mean)) for mean in set(means))
    return Fraction(1, ties)

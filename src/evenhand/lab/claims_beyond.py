"""Claims beyond the paper, checked.

Two items: Theorems G and D, bounds and p-values. Many: Theorems K, T and A, equal
groups.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab import rules
from evenhand.ab.pvalues import exact_p_values
from evenhand.ab.weights import GapWeight, linear, odd, offset, rational
from evenhand.designs import AB_DESIGNS
from evenhand.lab import claims_paper
from evenhand.lab.claims_paper import over_half
from evenhand.lab.dominance import Contest, against_coin, contest, scales_text
from evenhand.lab.theorems import Found, Trial, claim, least
from evenhand.lab.worlds import (
    TRUTHS,
    World,
    assignments,
    exact_first,
    graph,
    mean_rank_buckets,
    uniform,
)
from evenhand.randomness import HALF, Stream, below, outcomes
from evenhand.ranking import ties
from evenhand.ranking.sorter import sorter_program
from evenhand.ranking.ties import Layer, Sheets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evenhand.lab.worlds import Chances, Edges, Margin, Order, Table

FIXED = (*claims_paper.FIXED, "trimmed", "midrank")
GUARDED = ("trimmed", "mean", "median", "midrank", "sign")
P_STATISTICS = ("mean", "median", "trimmed", "midrank")
RANGE = 6
TERMS = 40
# Who scores is worth so many times more than what is scored.
FARTHEST = 10**8
GROUPS = 3
guarded = functools.partial(rules.guarded, eps=Fraction(1, 10))
sorter = functools.partial(sorter_program, anchors=False)


@claim("Theorem G", "enumeration")
def theorem_g(trial: Trial) -> Found:
    """No monotone and antisymmetric rule is ever below a half.

    Sign, mean, medians, trimmed mean and rank sum are right at least half of the time
    under each of the four designs, with 2 and 4 reviewers, on all scales with scores 0,
    1 and 3, ties included ({count} cases).
    """
    found = [
        one
        for design, m in itertools.product(AB_DESIGNS, (2, 4))
        for one in over_half(
            FIXED, design, m, _tables(m, design), TRUTHS[: trial.pick(1, 2)]
        )
    ]
    return least(found, strict=False, count=len(found))


@claim("Theorem G, strict", "search")
def theorem_g_strict(trial: Trial) -> Found:
    """A mixture with the votes is strictly above a half.

    A mixture of nine parts trimmed, mean, median, midrank or sign and one part votes is
    right more than half of the time on all scales tried, under each of the four
    designs, with 2 and 4 reviewers (4 in two panels).
    """
    return least(
        trial.lowest(
            f"{statistic}, {design}",
            against_coin(_guarded(statistic), design, m, "only", TRUTHS[:1]),
            trial.pick(12, 300) // (m // 2),
        )
        for design, m, statistic in itertools.product(AB_DESIGNS, (2, 4), GUARDED)
        if (design, m) != ("panels", 2)
    )


def _guarded(statistic: str) -> Chances:
    return functools.partial(guarded, statistic=statistic)


def _tables(m: int, design: str) -> Iterator[Table]:
    """List all scales with the scores 0, 1 and 3, equal ones included."""
    scores = [Fraction(score) for score in (0, 1, 3)]
    kinds = itertools.combinations_with_replacement(scores, 2)
    # Who is who does not matter, nor which pair or panel is which.
    if design in ("halves", "coins"):
        return itertools.combinations_with_replacement(kinds, m)
    couples = itertools.combinations_with_replacement(kinds, 2)
    chosen = itertools.combinations_with_replacement(couples, m // 2)
    return (tuple(itertools.chain(*some)) for some in chosen)


@claim("Theorem D", "counterexample")
def theorem_d(trial: Trial) -> Found:
    """Every rule without coins has scales on which it is no better than a coin.

    On scales on which each reviewer is four times as high as the one before, every
    built-in rule without coins is right at most half of the time, under each of the
    four designs, for every even number of reviewers up to {most}; the margin is the
    largest.
    """
    most = trial.pick(4, 6)
    found = [
        one
        for design, m in itertools.product(AB_DESIGNS, range(2, most + 1, 2))
        for one in over_half(FIXED, design, m, [_apart(m, 4)])
    ]
    margin, text = max(found)
    return Found(margin, margin <= 0, text, {"most": most})


@claim("Theorem D, infimum", "counterexample")
def theorem_d_infimum(_: Trial) -> Found:
    """With coins, too, the margin can be as small as one likes.

    The farther reviewers are apart, the smaller is the margin of a mixture with the
    votes, and it stays above 0; the margin is the largest at a factor of 10**8, for 4
    reviewers and each of the four designs.
    """
    before = Fraction(1)
    falls = True
    for far in (4, 10**4, FARTHEST):
        tried = (
            against_coin(_guarded(statistic), design, 4, "only")
            for design, statistic in itertools.product(AB_DESIGNS, GUARDED)
        )
        margins = [one.margin(TRUTHS[0], _apart(4, far)) for one in tried]
        falls = falls and min(margins) > 0 and max(margins) < before
        before = max(margins)
    return Found(before, falls and before < Fraction(1, 10**6))


def _apart(m: int, far: int) -> Table:
    """Return scales on which scores say who scored, not what was scored."""
    return tuple((Fraction(far**j), Fraction(far**j) + HALF) for j in range(1, m + 1))


@claim("Linear weight", "enumeration")
def linear_weight(trial: Trial) -> Found:
    """The linear weight has the best guaranteed margin per unit of effect.

    On all scales with scores 0 to 6 the linear weight's margin over a coin is exactly
    1/24 of the two reviewers' effects together, and each of {others} other weights has
    less at worst; the margin is by how much.
    """
    optimum = Fraction(1, 4 * RANGE)
    found = []
    for weight in _others(trial):
        ratio = min(_ratios(weight))
        found.append((optimum - ratio, f"{weight}: {float(ratio):.4g}"))
    margin, text = min(found)
    holds = set(_ratios(linear(RANGE))) == {optimum} and margin > 0
    return Found(margin, holds, text, {"others": len(found)})


def _others(trial: Trial) -> list[GapWeight]:
    powers = range(-trial.pick(4, 10), trial.pick(4, 10) + 1)
    slopes = [rational(Fraction(2) ** power) for power in powers]
    flatter = [linear(RANGE + 1), linear(2 * RANGE)]
    raised = [
        offset(Fraction(c, 10), base)
        for c in (1, 5, 9)
        for base in (linear(RANGE), rational(Fraction(1, 4)))
    ]
    return [*slopes, *flatter, *raised]


def _ratios(weight: GapWeight) -> list[Fraction]:
    """Return margins over a coin per unit of both effects, on all scales."""
    kinds = list(itertools.combinations(map(Fraction, range(RANGE + 1)), 2))
    pairs = np.array(list(itertools.product(kinds, repeat=2)), dtype=object)
    (low1, high1), (low2, high2) = pairs.transpose(1, 2, 0)
    right = odd(weight, high1 - low2) + odd(weight, high2 - low1)
    ratios: list[Fraction] = (
        (right - 1) / (2 * (high1 - low1 + high2 - low2))
    ).tolist()
    return ratios


@claim("Mean, bound", "enumeration")
def mean_bound(trial: Trial) -> Found:
    """The mean errs with a probability below an exponential in the effect.

    On all scales with scores 0 to 4 and halves of up to {most} reviewers the mean errs,
    ties counted, at most with probability exp(-k**2 / (k + 1) (t / R)**2).
    """
    top, most = 4, trial.pick(2, 3)
    kinds = list(itertools.combinations([Fraction(s) for s in range(top + 1)], 2))
    found = []
    for k in range(1, most + 1):
        halves = np.array(list(assignments("halves", 2 * k)), dtype=bool)
        for table in itertools.combinations_with_replacement(kinds, 2 * k):
            low, high = np.array(table).T
            gaps = np.where(halves, -low, high).sum(axis=1)
            errors = Fraction(int((gaps <= 0).sum()), len(halves))
            size = Fraction(k * k, k + 1) * ((high - low).sum() / (2 * k * top)) ** 2
            text = f"{2 * k} reviewers: {scales_text(table)}"
            found.append((exp_below(size) - errors, text))
    return least(found, strict=False, most=most)


def exp_below(size: Fraction) -> Fraction:
    """Return a fraction just below exp(-size), for a size from 0 to 8.

    Examples:
        >>> round(float(exp_below(Fraction(2))), 12)
        0.135335283237
    """
    term, total = Fraction(1), Fraction(1)
    # Ends on a negative term, and from the size on they fall: it is below.
    for number in range(1, TERMS):
        term *= -size / number
        total += term
    return total


@claim("P-values", "enumeration")
def p_values(trial: Trial) -> Found:
    """A p-value of at most alpha comes up with probability at most alpha.

    If the first item is no better, the p-value against that is at most alpha with
    probability at most alpha, for every alpha, on {scales} random scales, four designs
    and five statistics.
    """
    source = trial.source("p-values")
    found = []
    tried = (("halves", 4), ("coins", 3), ("matched", 4), ("panels", 4))
    for number, (design, m) in itertools.product(range(trial.pick(6, 60)), tried):
        table = _wild(m, source)
        name = P_STATISTICS[number % len(P_STATISTICS)]
        if design == "matched" and number % 2:
            name = "pairs"
        margin = type_one(table, design, name)
        found.append((margin, f"{name}, {design}: {scales_text(table)}"))
    return least(found, strict=False, scales=len(found))


def type_one(table: Table, design: str, statistic: str) -> Fraction:
    """Return the least of alpha minus P(p <= alpha), over all p-values there are.

    Examples:
        >>> type_one(((Fraction(0), Fraction(1)),) * 2, "halves", "mean")
        Fraction(0, 1)
    """
    law: dict[Fraction, Fraction] = defaultdict(Fraction)
    for sides, chance in assignments(design, len(table)).items():
        people = [[r for r, s in enumerate(sides) if s == side] for side in (0, 1)]
        # The first item is the worse one.
        scores = [[table[r][item] for r in people[item]] for item in (0, 1)]
        groups = None
        if design in ("matched", "panels"):
            groups = ([r // 2 for r in people[0]], [r // 2 for r in people[1]])
        p, _ = exact_p_values(
            *scores, statistic=statistic, design=design, groups=groups
        )
        law[p] += chance
    reached = itertools.accumulate(law[alpha] for alpha in sorted(law))
    return min(alpha - share for alpha, share in zip(sorted(law), reached, strict=True))


def _wild(m: int, source: Stream) -> Table:
    """Draw scales with ties, small effects and large offsets."""
    rows = []
    for _ in range(m):
        low = Fraction((1, 3, 10, 1000)[below(source, 4)] * below(source, 4))
        rows.append((low, low + (0, 0, 1, 2, 500)[below(source, 5)]))
    return tuple(rows)


@claim("Theorem K", "search")
def theorem_k(trial: Trial) -> Found:
    """The sorter beats every ordinal method, given any comparisons.

    Given each of the {cases} shapes of 2 to {most} comparisons of 4 items and a uniform
    true ranking, the sorter finds it more often than every ordinal method can if it
    asks at all, on all scales tried that know the true ranking; the margin is T
    P(right) - 1.
    """
    found, even = [], True
    most = trial.pick(3, 5)
    cases = [edges for m in range(2, most + 1) for edges in shapes(4, m)]
    for edges in cases:
        tried = contest(sorter, uniform, World(4, edges))
        margin = trial.averaged(tried, trial.pick(6, 120))[0] * len(tried.truths)
        if tried.asks:
            text = f"given {edges}: T P(right) = {float(1 + margin):.6f}"
            found.append((margin, text))
        else:
            even = even and margin == 0
    strict = least(found, cases=len(cases), most=most)
    return dataclasses.replace(strict, holds=even and strict.holds)


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


@claim("Theorem T", "enumeration")
def theorem_t(trial: Trial) -> Found:
    """Ties broken by scores beat ties broken by lot, at every true ranking.

    Given each of {shapes} shapes of comparisons of 3 and 4 items, at every true
    ranking, items of equal mean rank sorted by mean scores and noise have a smaller
    expected Kendall tau than by lot, if a bucket has two items, all with scores, and an
    equal one otherwise, on random scales.
    """
    found, strict = [], True
    sizes = [(3, 2), (4, 2), (4, 3), (4, 4)][: trial.pick(3, 4)]
    shaped = [(n, edges) for n, m in sizes for edges in shapes(n, m)]
    source = trial.source("theorem t")
    for n, edges in shaped:
        gain, some = against_lots(n, edges), bool(scored_ties(n, edges))
        truths = World(n, edges).truths()
        for truth, _ in itertools.product(truths, range(trial.pick(1, 6))):
            table = _integers(len(edges), n, source)
            gained = gain(truth, table)
            strict = strict and (gained > 0 if some else gained == 0)
            if some:
                found.append((gained, f"given {edges}: {scales_text(table)}"))
    margin, text = min(found)
    return Found(margin, strict, text, {"shapes": len(shaped)})


def scored_ties(n: int, edges: Edges) -> list[tuple[int, ...]]:
    """Return the items of equal mean rank of which each has a score.

    Examples:
        >>> scored_ties(3, ((0, 1), (0, 2)))
        [(1, 2)]
    """
    seen = {item for pair in edges for item in pair}
    buckets = mean_rank_buckets(graph(n, edges))
    return [one for one in buckets if len(one) > 1 and seen.issuperset(one)]


def against_lots(
    n: int,
    edges: Edges,
    layers: Callable[..., tuple[Layer, ...]] = ties.choose_layers,
) -> Margin:
    """Return how much Kendall tau is gained over equal mean ranks in order by lot.

    Items are sorted by mean scores plus noise. The noise is the Gumbel law to base 64,
    by which one of two items comes first with a probability in proportion to 64 to the
    power of its mean, a fraction for means of whole numbers of up to three scores; by
    lot it is one half.

    Args:
        n: Number of items.
        edges: The comparisons.
        layers: What chooses the reviewers.

    Examples:
        >>> gained = against_lots(3, ((0, 1), (0, 2)))
        >>> gained((0, 1, 2), ((Fraction(0), Fraction(1), Fraction(2)),) * 2)
        Fraction(63, 130)
    """
    ties, ways = scored_ties(n, edges), list(itertools.permutations(edges))

    def gain(truth: Order, table: Table) -> Fraction:
        gained = Fraction(0)
        for way, tied in itertools.product(ways, ties):
            marks = {
                r: {item: table[r][-1 - truth.index(item)] for item in pair}
                for r, pair in enumerate(way)
            }
            people = {item: [r for r in marks if item in marks[r]] for item in tied}
            best_first = sorted(tied, key=truth.index)
            gained += _tie_gain(Sheets(people, marks), best_first, layers)
        return gained / len(ways)

    return gain


def _tie_gain(
    sheets: Sheets, best_first: Sequence[int], layers: Callable[..., tuple[Layer, ...]]
) -> Fraction:
    chosen = outcomes(
        lambda chance: layers(sheets, best_first, chance.pick, anchored=False)
    )
    gained = Fraction(0)
    for some, mass in chosen.items():
        values = ties.mean_values(sheets, best_first, some)
        for better, worse in itertools.combinations(values, 2):
            odds = Fraction(2) ** int(6 * (better - worse))
            gained += mass * (odds / (1 + odds) - HALF)
    return gained


def _integers(m: int, n: int, source: Stream) -> Table:
    """Draw scales of small whole numbers, some of which are far apart."""
    rows = []
    for _ in range(m):
        row = [Fraction((1, 2, 5)[below(source, 3)] * below(source, 4))]
        for _ in range(n - 1):
            row.append(row[-1] + 1 + below(source, 2) * below(source, 3))
        rows.append(tuple(row))
    return tuple(rows)


@claim("Theorem A", "search")
def theorem_a(trial: Trial) -> Found:
    """Scores set against items that both reviewers scored keep the guarantee.

    Two reviewers who also scored the same one or two other items, wherever these are in
    the true ranking: the canonical coin on scores relative to those is right more than
    half of the time on all scales tried.
    """
    found = []
    for n in (3, 4):
        for pair in itertools.combinations(range(n), 2):
            places = (*pair, *(place for place in range(n) if place not in pair))
            tried = Contest(_anchored_margin, (places,), (2, n))
            worst = min(tried.searched(trial.pick(40, 1500), trial.seed))
            text = f"places {places}: {scales_text(worst.scales)}"
            found.append((worst.margin, text))
    return least(found)


def _anchored_margin(places: Sequence[int], table: Table) -> Fraction:
    """Return P(better first) - 1/2; items 0 and 1 are in question, 0 the better."""
    first = exact_first(rational())
    shared = tuple(range(2, len(places)))
    right = Fraction(0)
    for crew in ((0, 1), (1, 0)):
        # Tables go from the worst place to the best.
        marks = {
            reviewer: {
                thing: table[reviewer][-1 - places[thing]] for thing in (item, *shared)
            }
            for item, reviewer in enumerate(crew)
        }
        sheets = Sheets({item: [crew[item]] for item in (0, 1)}, marks)
        one, two = ties.layer_values(sheets, (0, 1), Layer(crew, shared))
        right += first(one - two) / 2
    return right - HALF


@claim("Equal groups", "enumeration")
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
    return least(found, strict=False, top=top, once=top + 1, twice=2 * top + 2)


def _sorted_right(table: Table, groups: Sequence[int]) -> Fraction:
    """Return the chance that items 0 < 1 < 2 come out in order, ties by lot."""
    means = [table[group][item] for item, group in enumerate(groups)]
    if any(one > two for one, two in itertools.pairwise(means)):
        return Fraction(0)
    ties = math.prod(math.factorial(means.count(mean)) for mean in set(means))
    return Fraction(1, ties)

"""Claims beyond the paper, and known failures that the search must find again.

Two items: Theorems G and D. Many: Theorems K, T, A and M. Rows that begin with "Can
fail" are of what looks reasonable and breaks a guarantee.
"""

from __future__ import annotations

import functools
import itertools
import statistics
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab.comparison import compare
from evenhand.ab.methods import Guarded, Votes
from evenhand.ab.pvalues import p_values
from evenhand.ab.weights import rational
from evenhand.designs.design import Balanced, Pairs, TwoItemDesign, as_design, names_of
from evenhand.lab import claims_paper, dominance, draws
from evenhand.lab.claims_paper import over_half
from evenhand.lab.dominance import Contest, against_coin, contest, scales_text
from evenhand.lab.theorems import Evidence, Trial, claim, least
from evenhand.lab.worlds import (
    TRUTHS,
    Estimator,
    World,
    assignments,
    exact_first,
    flips,
    graph,
    uniform,
)
from evenhand.posets.averaging import mean_rank_order
from evenhand.randomness import HALF, outcomes
from evenhand.ranking import ties
from evenhand.ranking.sorter import sorter_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.ab.methods import Rule
    from evenhand.lab.worlds import Chances, Drawn, Edges, First, Order, Scores, Table
    from evenhand.posets.graph import Comparisons
    from evenhand.randomness import Chance

FIXED = (*claims_paper.FIXED, "trimmed", "midrank")
GUARDED = ("trimmed", "mean", "median", "midrank", "sign")
FAR = 10**8
FAR_SCORES = (10**6, 10**17)
sorter = functools.partial(sorter_program, anchors=False)


@claim("Theorem G", "enumeration")
def theorem_g(_: Trial) -> Evidence:
    """No monotone and antisymmetric rule is ever below a half.

    Sign, mean, medians, trimmed mean and rank sum are right at least half of the time
    under each of the four designs, with 2 and 4 reviewers, on all scales with scores 0,
    1 and 3, ties included ({count} cases).
    """
    margins: list[tuple[Fraction, str]] = []
    for design, m in itertools.product(names_of("compare"), (2, 4)):
        margins += over_half(FIXED, design, m, _tables(m, design))
    return least(margins, strict=False, count=len(margins))


@claim("Theorem G, strict", "search")
def theorem_g_strict(trial: Trial) -> Evidence:
    """A mixture with the votes is strictly above a half.

    A mixture of nine parts trimmed, mean, median, midrank or sign and one part votes is
    right more than half of the time on all scales tried, under each of the four
    designs, with 2 and 4 reviewers (4 in two panels).
    """
    return least(
        trial.lowest(
            f"{statistic}, {design}",
            against_coin(_guarded_chance(statistic), design, m, "only", TRUTHS[:1]),
            trial.pick(12, 300) // (m // 2),
        )
        for design, m, statistic in itertools.product(
            names_of("compare"), (2, 4), GUARDED
        )
        # Two reviewers of one panel never score both items.
        if any(0 < sum(sides) < m for sides in assignments(design, m))
    )


@claim("Theorem G, any gaps", "enumeration")
def theorem_g_any_gaps(_: Trial) -> Evidence:
    """The claim is the same under every assignment, however large the gaps are.

    Two reviewers give 1 and 0, and 1e18 and 1e6 (or 1e17). Votes and guarded claim the
    same, strictly, under both assignments of halves; by one of them alone they are
    right with a probability of no more than {one}, and by the exact law of their coins
    above a half on average over the two.
    """
    margins, alike, alone = list[tuple[Fraction, str]](), True, list[Fraction]()
    for method, low in itertools.product((Votes(), Guarded()), FAR_SCORES):
        worlds = [(1, low), (10**18, 0)]
        comparisons = [
            compare(
                [float(first)], [float(second)], method=method, design="halves", rng=1
            )
            for first, second in worlds
        ]
        alike &= {
            case.certificate and case.certificate.strict for case in comparisons
        } == {True}
        chances = [_exact_chance(method, first, second) for first, second in worlds]
        alone.append(min(chances))
        margins.append((statistics.mean(chances) - HALF, f"{method.name}, {low:.0e}"))
    lowest = least(margins, one=f"{float(max(alone)):.0e}")
    return lowest._replace(holds=lowest.holds and alike)


def _exact_chance(method: Rule, first: int, second: int) -> Fraction:
    """Return the probability of the first of two items with one score each."""
    chance = method.chance([Fraction(first)], [Fraction(second)])
    return Fraction(np.asarray(chance).item())


def _guarded_chance(statistic: str) -> Chances:
    return Guarded(eps=Fraction(1, 10), statistic=statistic).chance


def _tables(m: int, design: str) -> Iterator[Table]:
    """List all scales with the scores 0, 1 and 3, equal ones included."""
    scores = [Fraction(score) for score in (0, 1, 3)]
    kinds = itertools.combinations_with_replacement(scores, 2)
    # Who is who does not matter, nor which pair or panel is which.
    if not as_design(design, TwoItemDesign).group:
        return itertools.combinations_with_replacement(kinds, m)
    couples = itertools.combinations_with_replacement(kinds, 2)
    chosen = itertools.combinations_with_replacement(couples, m // 2)
    return (tuple(itertools.chain(*group)) for group in chosen)


@claim("Theorem D", "counterexample")
def theorem_d(trial: Trial) -> Evidence:
    """Every rule without coins has scales on which it is no better than a coin.

    On scales on which each reviewer is four times as high as the one before, every
    built-in rule without coins is right at most half of the time, under each of the
    four designs, for every even number of reviewers up to {most}; the margin is the
    largest. At a factor of 10**8 a mixture with the votes is above that by less than a
    millionth.
    """
    most = trial.pick(4, 6)
    margin, text = max(
        witness
        for design, m in itertools.product(names_of("compare"), range(2, most + 1, 2))
        for witness in over_half(FIXED, design, m, [_apart(m, 4)])
    )
    with_coins = [
        against_coin(_guarded_chance(statistic), design, 4, "only").margin(
            TRUTHS[0], _apart(4, FAR)
        )
        for design, statistic in itertools.product(names_of("compare"), GUARDED)
    ]
    holds = margin <= 0 < min(with_coins) <= max(with_coins) < Fraction(1, 10**6)
    return Evidence(margin, holds, text, {"most": most})


def _apart(m: int, far: int) -> Table:
    """Return scales on which scores say who scored, not what was scored."""
    return tuple((Fraction(far**j), Fraction(far**j) + HALF) for j in range(1, m + 1))


@claim("Theorem K", "search")
def theorem_k(trial: Trial) -> Evidence:
    """The sorter beats every ordinal method, given any comparisons.

    Given each of the {cases} shapes of 2 to {most} comparisons of 4 items and a uniform
    true ranking, the sorter finds it more often than every ordinal method can if it
    asks at all, on all scales tried that know the true ranking; the margin is T
    P(right) - 1.
    """
    margins, even = [], True
    most = trial.pick(3, 5)
    cases = [edges for m in range(2, most + 1) for edges in shapes(4, m)]
    for edges in cases:
        tried = contest(sorter, uniform, World(4, edges))
        margin = trial.average_margin(tried, trial.pick(6, 120))[0] * len(tried.truths)
        if tried.asks:
            text = f"given {edges}: T P(right) = {float(1 + margin):.6f}"
            margins.append((margin, text))
        else:
            even = even and margin == 0
    strict = least(margins, cases=len(cases), most=most)
    return strict._replace(holds=even and strict.holds)


def shapes(n: int, m: int) -> list[Edges]:
    """List the comparisons that m distinct pairs of n items can give, up to names.

    Examples:
        >>> shapes(3, 2)
        [((0, 1), (0, 2)), ((0, 1), (1, 2)), ((0, 1), (2, 1))]
    """
    pairs = itertools.combinations(range(n), 2)
    representatives = set()
    for edges in itertools.combinations(pairs, m):
        renamed = (
            tuple(sorted((names[a], names[b]) for a, b in edges))
            for names in itertools.permutations(range(n))
        )
        representatives.add(min(renamed))
    return sorted(representatives)


@claim("Theorem T", "enumeration")
def theorem_t(trial: Trial) -> Evidence:
    """Ties broken by scores beat ties broken by lot, at every true ranking.

    Given each of {shapes} shapes of comparisons of 3 and 4 items, at every true
    ranking, items of equal mean rank, all with scores, sorted by mean scores and noise
    have a smaller expected Kendall tau than by lot, on random scales.
    """
    sizes = [(3, 2), (4, 2), (4, 3), (4, 4)][: trial.pick(3, 4)]
    shaped = [(n, edges) for n, m in sizes for edges in shapes(n, m)]
    source, gains = trial.source("theorem t"), []
    for n, edges in shaped:
        tied, truths = scored_ties(n, edges), World(n, edges).truths()
        for truth, _ in itertools.product(truths, range(trial.pick(1, 6))):
            table = dominance.as_table(dominance.random_rows((len(edges), n), source))
            text = f"given {edges}: {scales_text(table)}"
            gains += [(tie_gain(edges, bucket, truth, table), text) for bucket in tied]
    return least(gains, shapes=len(shaped))


def scored_ties(n: int, edges: Edges) -> list[tuple[int, ...]]:
    """Return the items of equal mean rank of which each has a score.

    Examples:
        >>> scored_ties(3, ((0, 1), (0, 2)))
        [(1, 2)]
    """
    seen, comparisons = {item for pair in edges for item in pair}, graph(n, edges)
    buckets = ties.equal_mean_ranks(mean_rank_order(comparisons, 0), comparisons)
    return [tuple(sorted(bucket)) for bucket in buckets if seen.issuperset(bucket)]


def tie_gain(edges: Edges, tied: Sequence[int], truth: Order, table: Table) -> Fraction:
    """Return how much Kendall tau is gained over tied items in order by lot.

    Items are sorted by mean scores plus noise, which enters through W: the probability
    that one of two comes first, given the gap of their means. By lot it is one half.

    Examples:
        >>> alike = ((Fraction(0), Fraction(1), Fraction(2)),) * 2
        >>> tie_gain(((0, 1), (0, 2)), (1, 2), (0, 1, 2), alike)
        Fraction(1, 4)
    """
    first, best_first = exact_first(rational()), sorted(tied, key=truth.index)

    def values(chance: Chance) -> tuple[Fraction, ...]:
        layers = ties.choose_layers(sheets, best_first, chance.pick, anchored=False)
        return tuple(ties.mean_values(sheets, best_first, layers))

    gained, ways = Fraction(0), list(itertools.permutations(edges))
    for way in ways:
        sheets = _sheets(way, truth, table)
        for means, mass in outcomes(values).items():
            for better, worse in itertools.combinations(means, 2):
                gained += mass * (first(better - worse) - HALF)
    return gained / len(ways)


def _sheets(
    bundles: Sequence[tuple[int, ...]], truth: Order, table: Table
) -> ties.Sheets:
    """Let each reviewer score a bundle of items on a scale of a table."""
    marks = {
        reviewer: {item: table[reviewer][-1 - truth.index(item)] for item in bundle}
        for reviewer, bundle in enumerate(bundles)
    }
    reviewers = {
        item: [reviewer for reviewer in marks if item in marks[reviewer]]
        for item in truth
    }
    return ties.Sheets(reviewers, marks)


@claim("Theorem A", "search")
def theorem_a(trial: Trial) -> Evidence:
    """Scores set against items that both reviewers scored keep the guarantee.

    Two reviewers who also scored the same one or two other items, wherever these are in
    the true ranking: the canonical coin on scores relative to those is right more than
    half of the time on all scales tried.
    """
    margins = []
    for n in (3, 4):
        truths = [
            truth for truth in World(n, 0).truths() if truth.index(0) < truth.index(1)
        ]
        tried = Contest(_anchored_margin, tuple(truths), (2, n))
        margins.append(trial.lowest(f"{n} items", tried, trial.pick(40, 1500)))
    return least(margins)


def _anchored_margin(truth: Order, table: Table) -> Fraction:
    """Return P(better first) - 1/2; items 0 and 1 are in question, 0 the better."""
    right, shared = Fraction(0), tuple(range(2, len(truth)))
    for crew in TRUTHS:
        sheets = _sheets([(item, *shared) for item in crew], truth, table)
        first, second = ties.layer_values(sheets, (0, 1), ties.Layer(crew, shared))
        right += exact_first(rational())(first - second) / 2
    return right - HALF


def _draws() -> Iterator[tuple[str, draws.Law, draws.Exact]]:
    """Yield laws of draws of 3 and 4 items, whole and with silence, and scales."""
    few, many = (0, 1), (0, 1, 3)
    pairs = [(3, 2, many), (3, 3, few), (4, 3, few)]
    worlds = [(f"pairs, {n} items", Pairs().law(n, m), n, m, s) for n, m, s in pairs]
    for n, m, each in ((3, 3, 1), (3, 2, 2), (4, 2, 2), (4, 2, 3)):
        worlds += [(f"balanced, {n} items", Balanced().law(n, m, each), n, m, many)]
    for text, law, n, m, scores in worlds:
        tables = draws.increasing(m, n, scores)
        yield text, law, tables
        if max(map(len, next(iter(law)))) > 1:
            yield f"{text}, one silent", draws.silent(law), tables


@claim("Theorem M", "enumeration")
def theorem_m(_: Trial) -> Evidence:
    """Monotone rankings never favour the worse of two items over the draw.

    By {rules}, the better of any two of 3 or 4 items stands first at least half of the
    time, averaged over all draws of pairs and of balanced sets, on all scales with
    scores 0, 1 (and 3), equal ones included; also with a reviewer who is silent about
    one item, with noise of 0 or 2 on every score, and, for items of the same conflicts,
    with conflicts ({count} cases).
    """
    margins, count = list[tuple[Fraction, str]](), 0
    conflicts = [(0, 0), (1, 1)]
    law = Balanced().law(4, 4, 1, None, conflicts)
    for name, rule in draws.MONOTONE.items():
        for text, drawn, tables in _draws():
            chances = draws.before(drawn, tables, rule)
            margins.append((_least_ahead(chances), f"{name}, {text}"))
            count += len(tables)
        tables = draws.increasing(2, 3, (0, 1, 3))
        noise = np.array([*itertools.product((0, 2), repeat=6)]).reshape(-1, 1, 2, 3)
        noisy = (tables + noise).reshape(-1, 2, 3)
        chances = draws.before(Pairs().law(3, 2), noisy, rule)
        averages = chances.reshape(len(noise), *tables.shape[:1], 3, 3).mean(axis=0)
        margins.append((_least_ahead(averages), f"{name}, noise"))
        alike = draws.before(law, draws.increasing(4, 4, (0, 1)), rule)[:, 2:, 2:]
        margins.append((_least_ahead(alike), f"{name}, conflicts"))
        count += len(tables) + len(alike)
    rules = ", ".join(draws.MONOTONE)
    return least(margins, strict=False, rules=rules, count=f"{count:,}")


def _least_ahead(chances: draws.Exact) -> Fraction:
    """Return the least probability that the better item is ahead, less a half."""
    rows, columns = np.tril_indices(chances.shape[-1], -1)
    return Fraction(chances[:, rows, columns].min()) - HALF


@claim("Can fail: median", "search", statistic="median")
@claim("Can fail: mean", "search", statistic="mean")
@claim("Can fail: sign", "search", statistic="sign")
def fails(trial: Trial, statistic: str) -> Evidence:
    """The search finds that sign, mean and median do not strictly beat a coin.

    From random scales, without being told the paper's, the search finds scales on which
    none of these beats a coin, with 2 and with 4 reviewers: {names}.
    """
    names = [name for name in FIXED if name.partition("(")[0] == statistic]
    budget = trial.pick(60, 400)
    margin, text = max(
        trial.lowest(name, against_coin(name, "halves", m), budget, families=False)
        for name, m in itertools.product(names, (2, 4))
    )
    return Evidence(margin, margin <= 0, text, {"names": ", ".join(names)})


def _less_often(trial: Trial, tried: Contest, quick: int, full: int) -> Evidence:
    margin, text = trial.average_margin(tried, trial.pick(quick, full), families=False)
    often = f"{float(6 * margin + 1):.4f} times as often"
    return Evidence(margin, margin < 0, f"{often}: {text}")


@claim("Can fail: re-used reviewers", "search")
def fails_without_retiring(trial: Trial) -> Evidence:
    """The search finds that re-using reviewers breaks Theorem 5.

    Given 0 > 2 and 1 > 3, the search finds scales on which Algorithm 1 without retiring
    reviewers finds the true ranking less often than every topological ordering does,
    which is in one case of six.
    """
    tried = contest(reusing_flips, uniform, World(4, ((0, 2), (1, 3))))
    return _less_often(trial, tried, 80, 1000)


def reusing_flips(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
    """Algorithm 1 without retiring reviewers.

    Examples:
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(reusing_flips(graph(2, ()), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    # Every score has a reviewer of its own, who can be retired without a loss.
    apart = {
        (reviewer, item): y for reviewer, ((_, item), y) in enumerate(scores.items())
    }
    return flips(comparisons, apart, first)


@claim("Can fail: Appendix C scan", "search")
def fails_printed_scan(trial: Trial) -> Evidence:
    """The search finds that the printed scan fails given comparisons.

    Given 0 > 1 and 2 > 3 and the true ranking 0, 1, 2, 3, the search finds scales on
    which the printed scan finds it less often than the uniform ordering, which does so
    in one case of six.
    """
    tried = claims_paper.scan_with_pairs("paper", ((0, 1), (2, 3)))
    return _less_often(trial, tried, 100, 2000)


@claim("Can fail: silence", "counterexample")
def fails_if_silent(_: Trial) -> Evidence:
    """Whoever is silent about one item only breaks every claim on two items.

    One reviewer gives 1 to the better of two items and nothing to the other, and one
    gives 101 and 100. Whenever both items have a score nothing is missing, and votes
    are right with probability {votes}, guarded with {guarded}.
    """
    right = {
        method.name: _exact_chance(method, 1, 100) for method in (Votes(), Guarded())
    }
    margin = max(right.values()) - HALF
    facts = {name: f"{float(chance):.4g}" for name, chance in right.items()}
    return Evidence(margin, margin < 0, "halves, given a score of each item", facts)


@claim("Can fail: silence, ranking", "counterexample")
def fails_if_silent_ranking(_: Trial) -> Evidence:
    """Whoever is silent about one set of items only breaks the ranking theorems.

    Two reviewers get 0 and 2, or 1 and 2, at random, and 0 and 1 are better than 2. One
    of them scores 2, 1.5 and 1, and is silent if given the worse of 0 and 1; the other
    scores 60, 50 and 1. Whenever both answer, Algorithm 1 and the sorter find the true
    ranking with probability {right}, where a fair coin does so half of the time.
    """
    margins, tried = [], list[Estimator]([flips, sorter])
    for better, program in itertools.product((0, 1), tried):
        worse = 1 - better
        scores = {(0, better): 2, (0, 2): 1, (1, worse): 50, (1, 2): 1}
        exact = {pair: Fraction(score) for pair, score in scores.items()}
        comparisons = graph(3, ((0, 2), (1, 2)))
        law = outcomes(program(comparisons, exact, exact_first(rational())))
        margins.append(law.get((better, worse, 2), Fraction(0)) - HALF)
    margin = max(margins)
    facts = {"right": f"{float(margin + HALF):.4f}"}
    return Evidence(margin, margin < 0, "given that both answered", facts)


@claim("Can fail: silence, p-values", "enumeration")
def fails_if_silent_p_values(_: Trial) -> Evidence:
    """Silence about one item only makes small p-values too frequent.

    Of 8 reviewers of two equal items, each assigned by a fair coin, the four who score
    high are silent if they get the second. Given a score of each item, a p-value of at
    most {alpha} for the first comes up with probability {size}.
    """
    alpha, size, seen = Fraction(1, 20), 8, list[bool]()

    @functools.cache
    def is_small(*sides: tuple[int, ...]) -> bool:
        values = p_values(*sides, statistic="midrank", design="coins")
        return values.p_value_first <= alpha

    for drawn in itertools.product((0, 1), repeat=size):
        first = tuple(
            size - reviewer for reviewer in range(size) if drawn[reviewer] == 0
        )
        # The second half of them score low, and answer.
        second = tuple(
            size - reviewer
            for reviewer in range(size // 2, size)
            if drawn[reviewer] == 1
        )
        seen += [is_small(first, second)] if first and second else []
    share = Fraction(sum(seen), len(seen))
    facts = {"alpha": float(alpha), "size": f"{float(share):.3f}"}
    return Evidence(alpha - share, share > alpha, "coins, 8 reviewers", facts)


@claim("Can fail: standardised mixture", "counterexample")
def fails_with_standardising(_: Trial) -> Evidence:
    """Values standardised on the same scores break Theorem M.

    Half the standardised mean and half the standardised centred mean put the third of
    four items above the second with probability {chance}; two reviewers of two random
    items each, with scales 523, 524, 525, 526 and 1, 2, 2, 3.
    """
    law = Balanced().law(4, 2, 2)
    return _unlucky(
        law, [[523, 524, 525, 526], [1, 2, 2, 3]], draws.standardised_mixture, 2, 1
    )


@claim("Can fail: reference item", "counterexample")
def fails_reference(_: Trial) -> Evidence:
    """Least squares with a reference item in each group break Theorem M.

    Of four items worth 1, 3, 4 and 2, of which two reviewers get two each, the last is
    put above the first with probability {chance} if the first item of each group that
    reviewers link counts as 0.
    """
    law = Balanced().law(4, 2, 2)
    return _unlucky(law, [[1, 3, 4, 2]] * 2, draws.least_squares, 3, 0)


FAR_OFF = [[0, 1], [100, 101], [100, 101]]


@claim("Can fail: given the counts", "counterexample")
def fails_given_counts(_: Trial) -> Evidence:
    """Theorem M holds over the draw, not given how many scored each item.

    Three reviewers of one item each, with scales 0, 1 and twice 100, 101: given that
    two scored the better item, its mean is the higher one with probability {chance}.
    """
    law = Balanced().law(2, 3, 1)
    two_each = {
        rows: 2 * chance for rows, chance in law.items() if rows.count((1,)) == 2
    }
    return _unlucky(two_each, FAR_OFF, draws.mean, 1, 0)


@claim("Can fail: constants from the same draw", "counterexample")
def fails_set_by_some(_: Trial) -> Evidence:
    """Some reviewers may not set constants for the others of the same draw.

    Of four reviewers of one item each, two an item, the first one's score chooses
    between the mean of the others and a coin. The better item stands first with
    probability {chance}, though that score counts for nothing else: it tells who of the
    others has which item.
    """

    def rule(sheet: draws.Sheet, scores: draws.Exact) -> draws.Exact:
        others = draws.Sheet([0, 1, 2], sheet.items[1:], sheet.n_items)
        used: draws.Exact = scores[:, :1] == 0
        return np.asarray(draws.mean(others, scores[:, 1:]) * used)

    law = Balanced().law(2, 4, 1)
    return _unlucky(law, [[0, 1], *FAR_OFF], rule, 1, 0)


def _unlucky(
    law: draws.Law, scales: list[list[int]], rule: draws.Rule, better: int, worse: int
) -> Evidence:
    """Return how often a rule is right about two items, which is less than half."""
    chance = Fraction(draws.before(law, np.array([scales]), rule)[0, better, worse])
    return Evidence(chance - HALF, chance < HALF, "", {"chance": chance})

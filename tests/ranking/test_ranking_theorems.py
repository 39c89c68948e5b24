"""The paper's ranking theorems on small worlds, exactly.

A world is a true ranking, a set of compared pairs and a scale for each reviewer. Every
probability is a Fraction, summed over all assignments of reviewers to pairs, all
choices of the estimator and all its coins.
"""

import functools
import hashlib
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._outcomes import Chance, outcomes
from evenhand.ab.weights import odd, rational
from evenhand.posets.comparisons import Comparisons, from_edges
from evenhand.posets.orderings import topological_order
from evenhand.ranking.flips import flips_program
from evenhand.ranking.twins import By, rearrange, twins_program

Order = tuple[int, ...]
Pair = tuple[int, int]
Edges = frozenset[Pair]
Scales = Sequence[Sequence[Fraction]]
Law = dict[Order, Fraction]
HALF = Fraction(1, 2)


@functools.cache
def canonical(gap: Fraction) -> Fraction:
    """W for the paper's weight x / (1 + x), written out once more."""
    size = Fraction(abs(gap))
    share = size / (1 + size)
    return (1 + (share if gap > 0 else -share)) / 2


def fair(_: Fraction) -> Fraction:
    return HALF


def pair_sets(n: int, m: int) -> Iterator[tuple[Pair, ...]]:
    return itertools.combinations(itertools.combinations(range(n), 2), m)


def directed(pairs: Sequence[Pair], truth: Order) -> Edges:
    return frozenset(
        (a, b) if truth.index(a) < truth.index(b) else (b, a) for a, b in pairs
    )


@functools.cache
def orderings(n: int, edges: Edges) -> tuple[Order, ...]:
    return tuple(
        order
        for order in itertools.permutations(range(n))
        if all(order.index(a) < order.index(b) for a, b in edges)
    )


@functools.cache
def graph(n: int, edges: Edges) -> Comparisons:
    return from_edges(n, *zip(*sorted(edges), strict=True))


@functools.cache
def index_order(n: int, edges: Edges) -> Order:
    return tuple(topological_order(graph(n, edges)).tolist())


def scores_of(
    bundles: Sequence[Pair], truth: Order, scales: Scales
) -> dict[Pair, Fraction]:
    value = {item: len(truth) - 1 - rank for rank, item in enumerate(truth)}
    return {
        (reviewer, item): scales[reviewer][value[item]]
        for reviewer, bundle in enumerate(bundles)
        for item in bundle
    }


def average(laws: Sequence[Law]) -> Law:
    total: Law = defaultdict(Fraction)
    for law in laws:
        for order, mass in law.items():
            total[order] += mass / len(laws)
    return dict(total)


Program = Callable[
    [Comparisons, dict[Pair, Fraction], Order], Callable[[Chance], Order]
]


def law_over_assignments(
    pairs: Sequence[Pair], truth: Order, scales: Scales, program: Program
) -> Law:
    """Average an estimator's law over all assignments of reviewers to the pairs."""
    n = len(truth)
    edges = directed(pairs, truth)
    comparisons, start = graph(n, edges), index_order(n, edges)
    return average(
        [
            outcomes(program(comparisons, scores_of(bundles, truth, scales), start))
            for bundles in itertools.permutations(pairs)
        ]
    )


def algorithm_1(
    comparisons: Comparisons, scores: dict[Pair, Fraction], start: Order
) -> Callable[[Chance], Order]:
    return flips_program(comparisons, scores, start, canonical)


# Adversaries: increasing scales that may look at the truth.


def offsets(_: Order, n: int, m: int) -> Scales:
    return [
        [Fraction(1000 * reviewer + value) for value in range(n)]
        for reviewer in range(m)
    ]


def stretched(truth: Order, n: int, m: int) -> Scales:
    wide = sum(a * b for a, b in enumerate(truth)) % m
    return [
        [
            Fraction(2 * value + 1 - n) * (100 if reviewer == wide else Fraction(1, 9))
            for value in range(n)
        ]
        for reviewer in range(m)
    ]


def tailored(truth: Order, n: int, m: int) -> Scales:
    digest = hashlib.sha256(repr((truth, n, m)).encode()).digest()
    scales = []
    for reviewer in range(m):
        steps = digest[reviewer * n : (reviewer + 1) * n]
        jumps = [1 + 10 ** (step % 4) for step in steps]
        base = (-1) ** (steps[0] % 2) * 10 ** (steps[1] % 5)
        scales.append([Fraction(base + jump) for jump in itertools.accumulate(jumps)])
    return scales


ADVERSARIES = [offsets, stretched, tailored]
Adversary = Callable[[Order, int, int], Scales]


def test_the_library_weight_is_the_one_used_here() -> None:
    for gap in (Fraction(-7, 3), Fraction(0), Fraction(1, 9), Fraction(1000)):
        assert odd(rational(), gap) == canonical(gap)


# Algorithm 2, as printed: draw the pairs, fix the flips, and only then the reviewers.


def algorithm_2(
    pairs: Sequence[Pair], truth: Order, scales: Scales
) -> Callable[[Chance], Order]:
    n = len(truth)
    edges = directed(pairs, truth)
    start = min(orderings(n, edges))

    def flippable(position: int, left: Sequence[Pair]) -> bool:
        flipped = list(start)
        flipped[position : position + 2] = flipped[position : position + 2][::-1]
        reviewed = {item for pair in left for item in pair}
        return (
            tuple(flipped) in orderings(n, edges)
            and {start[position], start[position + 1]} <= reviewed
        )

    def program(chance: Chance) -> Order:
        left = list(pairs)
        flips = []
        position = 0
        while position < n - 1:
            if not flippable(position, left):
                position += 1
                continue
            chosen = []
            for item in start[position : position + 2]:
                holding = [pair for pair in left if item in pair]
                chosen.append(holding[chance.pick(len(holding))])
            left = [pair for pair in left if pair not in chosen]
            flips.append((position, chosen))
            position += 2
        people = set(range(len(pairs)))
        crews = []
        for _ in flips:
            choices = list(itertools.combinations(sorted(people), 2))
            crews.append(choices[chance.pick(len(choices))])
            people -= set(crews[-1])
        after = list(start)
        for (position, chosen), crew in zip(flips, crews, strict=True):
            one, other = crew if chance.coin(HALF) else crew[::-1]
            a, b = start[position], start[position + 1]
            first = scores_of([chosen[0]], truth, [scales[one]])[0, a]
            second = scores_of([chosen[1]], truth, [scales[other]])[0, b]
            if not chance.coin(canonical(first - second)):
                after[position : position + 2] = [b, a]
        return tuple(after)

    return program


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_flips_have_exactly_the_law_of_algorithm_2(m: int) -> None:
    # Enumerated: every set of m of the 6 pairs, every acyclic direction of it (by one
    # true ranking, the last that gives it), all m! assignments of reviewers to pairs,
    # all choices and coins. Given the pairs the laws agree, so they do over the design.
    for pairs in pair_sets(4, m):
        truths = {
            directed(pairs, truth): truth for truth in itertools.permutations(range(4))
        }
        for truth in truths.values():
            scales = tailored(truth, 4, m)
            ours = law_over_assignments(pairs, truth, scales, algorithm_1)
            assert ours == outcomes(algorithm_2(pairs, truth, scales))


# Theorem 5, and more: it holds given the comparisons too.


def some_pair_is_free(n: int, edges: Edges) -> bool:
    touched = {item for edge in edges for item in edge}
    start = index_order(n, edges)
    return any(
        {a, b} <= touched and (a, b) not in edges for a, b in itertools.pairwise(start)
    )


def successes(
    n: int, m: int, adversary: Adversary, program: Program
) -> dict[Edges, Fraction]:
    """Return T(B) times the probability of success given B, for every B."""
    totals: dict[Edges, Fraction] = defaultdict(Fraction)
    for pairs in pair_sets(n, m):
        for truth in itertools.permutations(range(n)):
            law = law_over_assignments(pairs, truth, adversary(truth, n, m), program)
            totals[directed(pairs, truth)] += law.get(truth, Fraction(0))
    return totals


@pytest.mark.parametrize(
    ("n", "m", "adversary"),
    [
        *((*sizes, a) for sizes in [(3, 2), (4, 2), (4, 3)] for a in ADVERSARIES),
        (4, 4, tailored),
    ],
)
def test_flips_beat_the_best_ordinal_estimator_whatever_the_scales(
    n: int, m: int, adversary: Adversary
) -> None:
    totals = successes(n, m, adversary, algorithm_1)
    for edges, total in totals.items():
        assert total > 1 if some_pair_is_free(n, edges) else total == 1
    # Each true ranking and set of pairs is as likely; every optimal ordinal estimator
    # succeeds with probability E[1 / T].
    worlds = math.factorial(n) * math.comb(math.comb(n, 2), m)
    best_ordinal = Fraction(len(totals), worlds)
    assert sum(totals.values()) / worlds > best_ordinal


scale = st.lists(
    st.integers(-1000, 1000).map(lambda k: Fraction(k, 7)),
    min_size=3,
    max_size=3,
    unique=True,
).map(sorted)


@settings(max_examples=60)
@given(st.lists(st.tuples(scale, scale), min_size=6, max_size=6))
def test_theorem_5_for_three_items_on_any_scales_tailored_to_the_truth(
    tables: list[tuple[list[Fraction], list[Fraction]]],
) -> None:
    table = dict(zip(itertools.permutations(range(3)), tables, strict=True))
    totals = successes(3, 2, lambda truth, _n, _m: table[truth], algorithm_1)
    assert min(totals.values()) >= 1
    assert sum(totals.values()) > len(totals)


# Why reviewers are retired: B = {1 > 3, 2 > 4} with scales tailored to the truth.


def careless(
    comparisons: Comparisons, scores: dict[Pair, Fraction], start: Order
) -> Callable[[Chance], Order]:
    """Algorithm 1 without retiring, for this one graph: both coins use both people."""
    del comparisons
    people = {item: reviewer for reviewer, item in scores}

    def program(chance: Chance) -> Order:
        after: list[int] = []
        for a, b in (start[:2], start[2:]):
            gap = scores[people[a], a] - scores[people[b], b]
            after += [a, b] if chance.coin(canonical(gap)) else [b, a]
        return tuple(after)

    return program


def poisoned(truth: Order, bias: int) -> Scales:
    """Make both coins wrong together, or right together, whichever is worse."""
    same = (truth.index(0) < truth.index(1)) == (truth.index(2) < truth.index(3))
    value = [Fraction(rank, 2) for rank in range(4)]
    if same:
        return [[x - bias for x in value[:2]] + [x + bias for x in value[2:]], value]
    return [[x + bias for x in value], value]


@pytest.mark.parametrize(
    ("bias", "bound"), [(10, "0.183"), (100, "0.0199"), (10**4, "0.0002")]
)
def test_without_retiring_reviewers_the_theorem_fails(bias: int, bound: str) -> None:
    edges = frozenset({(0, 2), (1, 3)})
    totals = {"careless": Fraction(0), "retiring": Fraction(0)}
    for truth in orderings(4, edges):
        scales = poisoned(truth, bias)
        for name, program in (("careless", careless), ("retiring", algorithm_1)):
            law = law_over_assignments([(0, 2), (1, 3)], truth, scales, program)
            totals[name] += law.get(truth, Fraction(0))
    assert totals["careless"] < Fraction(bound)
    assert totals["retiring"] > 1


# Appendix C: the true ranking is arbitrary and the start is uniform.


def from_uniform(
    first: Callable[[Fraction], Fraction], scan: str, edges: Edges, n: int
) -> Program:
    starts = orderings(n, edges)

    def uniform_start(
        comparisons: Comparisons, scores: dict[Pair, Fraction], _: Order
    ) -> Callable[[Chance], Order]:
        def program(chance: Chance) -> Order:
            start = starts[chance.pick(len(starts))]
            return flips_program(comparisons, scores, start, first, scan=scan)(chance)

        return program

    return uniform_start


@pytest.mark.parametrize(("scan", "ratio"), [("paper", HALF), ("parity", Fraction(1))])
def test_the_papers_scan_halves_the_chance_of_success_and_parity_keeps_it(
    scan: str, ratio: Fraction
) -> None:
    pairs, truth = [(0, 1), (2, 3)], (0, 1, 2, 3)
    edges = directed(pairs, truth)
    law = law_over_assignments(
        pairs, truth, offsets(truth, 4, 2), from_uniform(fair, scan, edges, 4)
    )
    assert law[truth] == ratio / len(orderings(4, edges))


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("m", [2, 3])
def test_parity_scan_beats_the_uniform_ordering_given_any_comparisons(
    m: int, adversary: Adversary
) -> None:
    # A uniform start knows no names, so one true ranking stands for all.
    truth = (0, 1, 2, 3)
    for pairs in pair_sets(4, m):
        edges = directed(pairs, truth)
        law = law_over_assignments(
            pairs,
            truth,
            adversary(truth, 4, m),
            from_uniform(canonical, "parity", edges, 4),
        )
        touched = {item for pair in pairs for item in pair}
        free = any(
            {a, b} <= touched and (a, b) not in edges
            for a, b in itertools.pairwise(truth)
        )
        share = law[truth] * len(orderings(4, edges))
        assert share > 1 if free else share == 1


# Appendix B: Kendall tau and footrule.


def kendall(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(
        (one.index(a) < one.index(b)) != (other.index(a) < other.index(b))
        for a, b in itertools.combinations(range(len(one)), 2)
    )


def footrule(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(abs(one.index(item) - other.index(item)) for item in range(len(one)))


def reach(edges: Edges, item: int) -> set[int]:
    found = {b for a, b in edges if a == item}
    return found.union(*(reach(edges, b) for b in found))


@st.composite
def worlds_with_twins(draw: st.DrawFn) -> tuple[int, Edges, Pair]:
    """Draw comparisons among a few items, then give one of them a twin."""
    n = draw(st.integers(1, 4))
    names = draw(st.permutations(range(n + 1)))
    possible = list(itertools.combinations(names[:n], 2))
    edges = (
        set(draw(st.lists(st.sampled_from(possible), unique=True)))
        if possible
        else set()
    )
    old, new = names[draw(st.integers(0, n - 1))], names[n]
    copied = {
        (new if a == old else a, new if b == old else b)
        for a, b in edges
        if old in (a, b)
    }
    return n + 1, frozenset(edges | copied), (old, new)


@given(worlds_with_twins(), st.data())
def test_lemma_2_rearranging_never_hurts_for_any_start_and_any_truth(
    world: tuple[int, Edges, Pair], data: st.DataObject
) -> None:
    n, edges, pair = world
    start = data.draw(st.permutations(range(n)))
    above = [item for item in range(n) if pair[0] in reach(edges, item)]
    below = sorted(reach(edges, pair[0]))
    after = rearrange(start, above, pair, below).tolist()
    places = {item: place for place, item in enumerate(after)}
    assert all(places[item] < min(places[twin] for twin in pair) for item in above)
    assert all(places[item] > max(places[twin] for twin in pair) for item in below)
    assert (start.index(pair[0]) < start.index(pair[1])) == (
        places[pair[0]] < places[pair[1]]
    )
    for item in set(range(n)) - {*above, *below, *pair}:
        assert places[item] == start.index(item)
    for truth in orderings(n, edges):
        assert kendall(after, truth) <= kendall(start, truth)
        assert footrule(after, truth) <= footrule(start, truth)


def reversed_indices(n: int, edges: Edges) -> Order:
    del edges
    return tuple(range(n))[::-1]


def shuffled_by_name(n: int, edges: Edges) -> Order:
    key = hashlib.sha256(repr(sorted(edges)).encode()).digest()
    return tuple(sorted(range(n), key=lambda item: key[item]))


def from_start(start: Order, pairs: str, by: By) -> Program:
    def algorithm_3(
        comparisons: Comparisons, scores: dict[Pair, Fraction], _: Order
    ) -> Callable[[Chance], Order]:
        return twins_program(comparisons, scores, start, canonical, pairs=pairs, by=by)

    return algorithm_3


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("ordinal", [index_order, reversed_indices, shuffled_by_name])
@pytest.mark.parametrize(
    ("n", "m", "pairs", "by"),
    [
        (3, 2, "one", "direct"),
        (3, 2, "all", "closure"),
        (4, 2, "all", "closure"),
    ],
)
def test_twins_beat_the_ordinal_ranking_they_start_from(
    n: int,
    m: int,
    pairs: str,
    by: By,
    ordinal: Callable[[int, Edges], Order],
    adversary: Adversary,
) -> None:
    gains = {"kendall": Fraction(0), "footrule": Fraction(0)}
    for compared in pair_sets(n, m):
        for truth in itertools.permutations(range(n)):
            edges = directed(compared, truth)
            start = ordinal(n, edges)
            law = law_over_assignments(
                compared, truth, adversary(truth, n, m), from_start(start, pairs, by)
            )
            for name, loss in (("kendall", kendall), ("footrule", footrule)):
                gains[name] += loss(start, truth)
                gains[name] -= sum(
                    mass * loss(order, truth) for order, mass in law.items()
                )
    assert gains["kendall"] > 0
    assert gains["footrule"] > 0


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("start", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_twins_that_share_reviewers_with_other_twins_gain_without_retiring(
    start: Order, adversary: Adversary
) -> None:
    # Both of 0, 1 stand above both of 2, 3; every reviewer scored one of each.
    compared = [(0, 2), (0, 3), (1, 2), (1, 3)]
    edges = frozenset(compared)
    arranged = tuple(sorted(start, key=lambda item: item > 1))
    gain = Fraction(0)
    for truth in orderings(4, edges):
        law = law_over_assignments(
            compared, truth, adversary(truth, 4, 4), from_start(start, "all", "direct")
        )
        gain += kendall(arranged, truth)
        gain -= sum(mass * kendall(order, truth) for order, mass in law.items())
    assert gain > 0

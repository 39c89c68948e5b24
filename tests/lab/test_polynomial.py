import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import OptionError
from evenhand.lab.worlds import (
    Drawn,
    Estimator,
    First,
    Order,
    Polynomial,
    Scores,
    Table,
    brief,
    coin_law,
    combined,
    evaluate,
    flips,
    flips_from_uniform,
    graph,
    index_order,
    nameless,
    risk,
    twins_from,
    uniform,
    weighed,
)
from evenhand.posets.graph import Comparisons
from evenhand.randomness import Chance, outcomes

Edges = tuple[tuple[int, int], ...]


def canonical(gap: Fraction) -> Fraction:
    share = abs(gap) / (1 + abs(gap))
    return (1 + (share if gap > 0 else -share)) / 2


def kendall(order: Order, truth: Order) -> int:
    return sum(
        order.index(a) > order.index(b) for a, b in itertools.combinations(truth, 2)
    )


def miss(order: Order, truth: Order) -> int:
    return int(order != truth)


METHODS: dict[str, Estimator] = {
    "flips": flips,
    "paper": flips_from_uniform("paper"),
    "parity": flips_from_uniform("parity"),
    "twins": twins_from(index_order),
    "twins, printed, from a random start": twins_from(uniform, printed=True),
}


def plain_risk(
    method: Estimator,
    edges: Edges,
    truth: Order,
    table: Table,
    loss: Callable[[Order, Order], int],
) -> Fraction:
    """The twin: real scores, every assignment of reviewers, every coin."""
    n = len(truth)
    ways = list(itertools.permutations(range(len(table))))
    total = Fraction(0)
    for way in ways:
        scores = {
            (reviewer, item): table[way[reviewer]][n - 1 - truth.index(item)]
            for reviewer, pair in enumerate(edges)
            for item in pair
        }
        law = outcomes(method(graph(n, edges), scores, canonical))
        for order, mass in law.items():
            total += mass * loss(order, truth) / len(ways)
    return total


row = st.lists(
    st.integers(-2000, 2000).map(lambda k: Fraction(k, 16)),
    min_size=4,
    max_size=4,
    unique=True,
).map(lambda scores: tuple(sorted(scores)))
ALL_PAIRS = list(itertools.combinations(range(4), 2))


@settings(max_examples=25)
@given(
    st.sampled_from(sorted(METHODS)),
    st.lists(st.sampled_from(ALL_PAIRS), min_size=2, max_size=4, unique=True),
    st.permutations(range(4)),
    st.lists(row, min_size=4, max_size=4),
    st.sampled_from([miss, kendall]),
)
def test_a_polynomial_is_the_risk_by_plain_enumeration(
    name: str,
    pairs: list[tuple[int, int]],
    ranking: list[int],
    rows: list[tuple[Fraction, ...]],
    loss: Callable[[Order, Order], int],
) -> None:
    truth = tuple(ranking)
    edges = tuple(
        (a, b) if truth.index(a) < truth.index(b) else (b, a) for a, b in pairs
    )
    table = tuple(rows[: len(edges)])
    law = coin_law(METHODS[name], graph(4, edges), edges)
    value = evaluate(risk(law, truth, loss), table, canonical)
    assert value == plain_risk(METHODS[name], edges, truth, table, loss)


def test_two_coins_by_the_same_reviewers_are_not_two_coins_by_four() -> None:
    assert nameless([(4, 0, 7, 1), (4, 2, 7, 3)]) == nameless(
        [(1, 0, 0, 1), (1, 2, 0, 3)]
    )
    assert nameless([(4, 0, 7, 1), (4, 2, 7, 3)]) != nameless(
        [(4, 0, 7, 1), (5, 2, 6, 3)]
    )


def test_a_shared_reviewer_is_filled_in_once() -> None:
    # Two people; person 0 scores place 0 above place 1 by 3, person 1 by 1.
    table = ((Fraction(0), Fraction(3)), (Fraction(1), Fraction(2)))
    certain: First = lambda gap: Fraction(gap > 0)  # noqa: E731 - a step
    once: Polynomial = {((0, 0, 1, 1),): Fraction(1)}
    twice: Polynomial = {((0, 0, 1, 1), (0, 1, 1, 0)): Fraction(1)}
    # 3 > 1 and 2 > 0: always. Then 0 > 2 never.
    assert evaluate(once, table, certain) == 1
    assert evaluate(twice, table, certain) == 0


def test_a_sum_of_polynomials_leaves_out_what_cancels() -> None:
    one: Polynomial = {((0, 0, 1, 1),): Fraction(1, 2)}
    two: Polynomial = {(): Fraction(3)}
    half = Fraction(1, 2)
    assert combined([(half, one), (-half, one), (half, two)]) == {(): Fraction(3, 2)}


def test_an_estimator_that_uses_scores_in_another_way_is_refused() -> None:
    def doubling(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
        del comparisons

        def draw(chance: Chance) -> Order:
            gap = scores[0, 0] - scores[1, 1]
            return (0, 1) if chance.coin(first(2 * gap)) else (1, 0)

        return draw

    with pytest.raises(OptionError, match="p must be a Fraction between 0 and 1"):
        coin_law(doubling, graph(2, ()), [[0], [1]])


@settings(max_examples=30)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_a_ranking_is_drawn_with_its_probability(parts: Sequence[int]) -> None:
    orders = list(itertools.permutations(range(3)))
    law = {
        order: Fraction(part, sum(parts))
        for order, part in zip(orders, parts, strict=False)
    }
    assert outcomes(lambda chance: weighed(law, chance)) == law


@settings(max_examples=40)
@given(st.fractions(), st.integers(0, 400))
def test_a_long_fraction_is_cut_towards_zero(value: Fraction, power: int) -> None:
    long = value / 3**power
    cut = brief(long)
    assert abs(cut) <= abs(long)
    assert (cut > 0) == (long > 0)
    assert (cut < 0) == (long < 0)
    assert abs(long - cut) * 1000 <= abs(long)
    if power == 0:
        assert cut == value or len(str(value)) > 60
    assert len(str(cut)) < 450

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import designs
from evenhand.ab.weights import odd, offset, rational
from evenhand.lab.dominance import contest
from evenhand.lab.worlds import (
    Estimator,
    Order,
    Ordinal,
    Table,
    World,
    as_law,
    exact_first,
    flips,
    flips_from_uniform,
    graph,
    index_order,
    loss_by_name,
    start_from,
    twins_from,
    uniform,
)
from evenhand.randomness import outcomes

W = exact_first(rational())
Row = tuple[Fraction, ...]


def rows(items: int) -> st.SearchStrategy[Row]:
    score = st.integers(-3000, 3000).map(lambda k: Fraction(k, 8))
    return st.lists(score, min_size=items, max_size=items, unique=True).map(
        lambda scores: tuple(sorted(scores))
    )


def enumerated(
    where: World, method: Estimator, baseline: Ordinal, loss: str
) -> Callable[[Order, Table], Fraction]:
    """Return the margin by plain enumeration: real scores, every assignment."""
    if isinstance(where.pairs, int):
        assigned = designs.law("pairs", where.n_items, where.pairs)
    else:
        ways = list(itertools.permutations(where.pairs))
        assigned = dict.fromkeys(ways, Fraction(1, len(ways)))

    def expected(law: Mapping[Order, Fraction], truth: Order) -> Fraction:
        losses = [
            mass * loss_by_name(loss)(order, truth) for order, mass in law.items()
        ]
        return sum(losses, Fraction(0))

    def margin(truth: Order, table: Table) -> Fraction:
        total = Fraction(0)
        for bundles, probability in assigned.items():
            put = [tuple(sorted(pair, key=truth.index)) for pair in bundles]
            known = graph(where.n_items, tuple((a, b) for a, b in put))
            scores = {
                (reviewer, item): table[reviewer][-1 - truth.index(item)]
                for reviewer, pair in enumerate(bundles)
                for item in pair
            }
            lost = expected(as_law(baseline(known)), truth)
            law = outcomes(method(known, scores, W))
            total += probability * (lost - expected(law, truth))
        return total

    return margin


def alone(start: Ordinal) -> Estimator:
    return start_from(start, lambda *given: lambda _: given[2])


@settings(max_examples=12)
@given(
    st.lists(rows(3), min_size=2, max_size=2),
    st.sampled_from(["zero-one", "kendall", "footrule"]),
    st.sampled_from([flips, twins_from(uniform), alone(uniform)]),
)
def test_margins_agree_with_plain_enumeration(
    scales: list[Row], loss: str, method: Estimator
) -> None:
    where, table = World(3, 2), tuple(scales)
    quick = contest(method, index_order, where, loss).margin
    slow = enumerated(where, method, index_order, loss)
    for truth in where.truths():
        assert quick(truth, table) == slow(truth, table)


METHODS: dict[str, Estimator] = {
    "flips": flips,
    "paper": flips_from_uniform("paper"),
    "parity": flips_from_uniform("parity"),
    "twins": twins_from(index_order),
    "twins, printed, from a random start": twins_from(uniform, printed=True),
}


@settings(max_examples=25)
@given(
    st.sampled_from(sorted(METHODS)),
    st.lists(
        st.sampled_from(list(itertools.combinations(range(4), 2))),
        min_size=2,
        max_size=4,
        unique=True,
    ),
    st.permutations(range(4)),
    st.lists(rows(4), min_size=4, max_size=4),
    st.sampled_from(["zero-one", "kendall"]),
)
def test_margins_agree_given_comparisons_of_four_items(
    name: str,
    pairs: list[tuple[int, int]],
    ranking: list[int],
    scales: list[Row],
    loss: str,
) -> None:
    truth = tuple(ranking)
    put = (tuple(sorted(pair, key=truth.index)) for pair in pairs)
    where = World(4, tuple((a, b) for a, b in put))
    table = tuple(scales[: len(pairs)])
    quick = contest(METHODS[name], uniform, where, loss).margin
    slow = enumerated(where, METHODS[name], uniform, loss)
    assert quick(truth, table) == slow(truth, table)


def test_a_method_is_worth_nothing_against_itself() -> None:
    for same in (index_order, uniform):
        duel = contest(alone(same), same, World(4, 3), "kendall")
        assert not duel.asks
        assert {duel.margin(truth, ((), (), ())) for truth in duel.truths} == {0}


def test_a_world_has_all_truths_and_all_pairs() -> None:
    where = World(4, 3)
    assert len(where.truths()) == 24
    assert len(where.comparisons((3, 1, 0, 2))) == 20
    assert all(
        (3, 2) in edges or (2, 3) not in edges
        for edges in where.comparisons((3, 1, 0, 2))
    )
    given = World(4, ((3, 1), (0, 2)))
    assert given.n_reviewers == 2
    assert given.comparisons((3, 1, 0, 2)) == [((3, 1), (0, 2))]
    assert len(given.truths()) == 6


def test_losses_are_counted_by_hand() -> None:
    order, truth = (2, 0, 1, 3), (0, 1, 2, 3)
    found = [loss_by_name(name)(order, truth) for name in ("zero-one", "kendall")]
    assert found == [1, 2]
    assert loss_by_name("footrule")(order, truth) == 4


@settings(max_examples=40)
@given(st.fractions(max_denominator=500))
def test_the_quick_probability_is_the_one_of_the_library(gap: Fraction) -> None:
    for weight in (rational(), rational(Fraction(1, 7)), offset(Fraction(1, 3))):
        assert exact_first(weight)(gap) == odd(weight, gap)


def test_every_method_is_never_worse_given_a_chain() -> None:
    # Nothing is free: all but a backwards start find the one ordering there is.
    chain = World(4, ((0, 1), (1, 2), (2, 3)))
    table = ((Fraction(0), Fraction(1), Fraction(2), Fraction(3)),) * 3
    tried = [flips, flips_from_uniform("parity"), twins_from(index_order)]
    baselines: list[Ordinal] = [index_order, uniform]
    for method, baseline in itertools.product(tried, baselines):
        margin = enumerated(chain, method, baseline, "zero-one")
        assert margin((0, 1, 2, 3), table) == 0
    assert as_law([2, 0, 1]) == {(2, 0, 1): 1}

import itertools
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.ab.weights import odd, offset, rational
from evenhand.lab.dominance import contest
from evenhand.lab.worlds import (
    Estimator,
    Order,
    Ordinal,
    Procedure,
    Scores,
    Table,
    World,
    as_law,
    enumerated,
    exact_first,
    flips,
    flips_from_uniform,
    index_order,
    loss_named,
    ordinal_risk,
    started,
    twins_from,
    uniform,
)
from evenhand.posets.graph import Comparisons
from evenhand.randomness import Chance

W = exact_first(rational())
Row = tuple[Fraction, ...]


def rows(items: int) -> st.SearchStrategy[Row]:
    score = st.integers(-3000, 3000).map(lambda k: Fraction(k, 8))
    return st.lists(score, min_size=items, max_size=items, unique=True).map(
        lambda scores: tuple(sorted(scores))
    )


def drawn(method: Estimator) -> Procedure:
    def procedure(comparisons: Comparisons, scores: Scores, chance: Chance) -> Order:
        return method(comparisons, scores, W)(chance)

    return procedure


def alone(start: Ordinal) -> Estimator:
    return started(start, lambda *given: lambda _: given[2])


@settings(max_examples=12)
@given(
    st.lists(rows(3), min_size=2, max_size=2),
    st.sampled_from(["zero-one", "kendall", "footrule"]),
    st.sampled_from([flips, twins_from(uniform), alone(uniform)]),
)
def test_margins_agree_with_plain_enumeration(
    scales: list[Row], loss: str, method: Estimator
) -> None:
    where, penalty, table = World(3, 2), loss_named(loss), tuple(scales)
    quick = contest(method, index_order, where, loss).margin
    slow = enumerated(where, drawn(method), index_order, penalty)
    for truth in where.truths():
        assert quick(truth, table) == slow(truth, table)


@settings(max_examples=5)
@given(st.lists(rows(4), min_size=3, max_size=3))
def test_margins_agree_given_comparisons_of_four_items(scales: list[Row]) -> None:
    where = World(4, ((0, 1), (2, 3), (0, 3)))
    table: Table = tuple(scales)
    quick = contest(flips, uniform, where, "kendall").margin
    slow = enumerated(where, drawn(flips), uniform, loss_named("kendall"))
    assert len(where.truths()) == 5
    for truth in where.truths():
        assert quick(truth, table) == slow(truth, table)


def test_a_method_is_worth_nothing_against_itself() -> None:
    for same in (index_order, uniform):
        duel = contest(alone(same), same, World(4, 3), "kendall")
        assert not duel.asks
        assert {duel.margin(truth, ((), (), ())) for truth in duel.truths} == {0}


def test_the_best_ordinal_method_succeeds_with_one_in_t() -> None:
    where = World(4, ((0, 1), (2, 3)))
    loss = loss_named("zero-one")
    risk = ordinal_risk(uniform, where, loss, (0, 1, 2, 3))
    assert risk == Fraction(5, 6)


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
    assert len(given.assignments()) == 2


def test_losses_are_counted_by_hand() -> None:
    order, truth = (2, 0, 1, 3), (0, 1, 2, 3)
    found = [loss_named(name)(order, truth) for name in ("zero-one", "kendall")]
    assert found == [1, 2]
    assert loss_named("footrule")(order, truth) == 4


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
        margin = enumerated(chain, drawn(method), baseline, loss_named("zero-one"))
        assert margin((0, 1, 2, 3), table) == 0
    assert as_law([2, 0, 1]) == {(2, 0, 1): 1}

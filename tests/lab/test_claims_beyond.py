"""The rows beyond the paper can fail: each is handed something that is broken."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.ab import rules
from evenhand.ab.pvalues import exact_p_values
from evenhand.ab.weights import linear, offset, rational
from evenhand.lab import claims_beyond
from evenhand.lab.claims_beyond import (
    against_lots,
    exp_below,
    scored_ties,
    shapes,
    type_one,
)
from evenhand.lab.theorems import Row, check_theorems
from evenhand.lab.worlds import Drawn, First, Order, Scores, graph, mean_rank_buckets
from evenhand.posets.graph import Comparisons
from evenhand.randomness import Chance
from evenhand.ranking import ties
from evenhand.ranking.sorter import sorter_program
from evenhand.ranking.ties import Layer, Sheets, choose_layers

Floats = NDArray[np.float64]


def checked(name: str, broken: tuple[str, object] | None = None, seed: int = 7) -> Row:
    with pytest.MonkeyPatch.context() as patch:
        if broken is not None:
            patch.setattr(claims_beyond, *broken)
        (row,) = check_theorems(only=(name,), rng=seed).rows
    return row


# What is broken is found out.


def only_the_statistic(one: Floats, two: Floats, statistic: str) -> Floats:
    return rules.followed(statistic, one, two)


def against_the_statistic(one: Floats, two: Floats, statistic: str) -> Floats:
    return rules.guarded(two, one, statistic=statistic, eps=Fraction(1, 10))


def leaning_away(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
    return sorter_program(comparisons, scores, lambda gap: first(-gap), anchors=False)


def never_asking(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
    del scores, first

    def draw(chance: Chance) -> Order:
        del chance
        return tuple(range(comparisons.n_items))

    return draw


def centred(sheets: Sheets, items: Sequence[int], layer: Layer) -> list[Fraction]:
    """Set a score against the reviewer's own mean, the item itself included."""
    values = []
    for item, reviewer in zip(items, layer.reviewers, strict=True):
        marks = [Fraction(mark) for mark in sheets.marks[reviewer].values()]
        mean = sum(marks, Fraction(0)) / len(marks)
        values.append(mean - Fraction(sheets.marks[reviewer][item]))
    return values


def highest_first(
    sheets: Sheets, items: Sequence[int], pick: Callable[[int], int], *, anchored: bool
) -> tuple[Layer, ...]:
    """Look at the scores: the first item gets its worst one, the others their best."""
    del pick, anchored
    people = []
    for number, item in enumerate(items):
        marks = {one: sheets.marks[one][item] for one in sheets.people[item]}
        choose = min if number == 0 else max
        people.append(choose(marks, key=marks.__getitem__))
    return (Layer(tuple(people), ()),)


@pytest.mark.parametrize(
    ("claim", "broken"),
    [
        ("Theorem G, strict", ("guarded", only_the_statistic)),
        ("Theorem G, strict", ("guarded", against_the_statistic)),
        ("Theorem D, infimum", ("guarded", only_the_statistic)),
        ("Theorem K", ("sorter", leaning_away)),
        ("Theorem K", ("sorter", never_asking)),
    ],
)
def test_a_broken_estimator_is_found_out(
    claim: str, broken: tuple[str, object]
) -> None:
    # That they hold otherwise is shown in tests/lab/test_theorems.py.
    assert not checked(claim, broken).holds


def test_scores_set_against_the_wrong_items_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ties, "layer_values", centred)
    assert not checked("Theorem A").holds


def test_ties_broken_against_the_scores_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = ties.mean_values

    def negated(
        sheets: Sheets, items: Sequence[int], layers: Sequence[Layer]
    ) -> list[Fraction]:
        return [-value for value in honest(sheets, items, layers)]

    monkeypatch.setattr(ties, "mean_values", negated)
    assert not checked("Theorem T").holds


def test_looking_at_scores_to_choose_reviewers_loses_to_the_lot() -> None:
    # Items 0 and 1 are above 2 and 3, and each has two reviewers.
    edges = ((0, 2), (0, 3), (1, 2), (1, 3))
    table = tuple(
        tuple(Fraction(9 * reviewer + score) for score in range(4))
        for reviewer in range(4)
    )
    margins = [
        against_lots(4, edges, layers)((0, 1, 2, 3), table)
        for layers in (choose_layers, highest_first)
    ]
    assert margins[0] > 0 > margins[1]


def test_a_rule_below_a_half_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def lower(one: Floats, two: Floats) -> Floats:
        return midrank(two, one)

    midrank = rules.midrank
    monkeypatch.setattr(claims_beyond, "FIXED", ("midrank",))
    assert checked("Theorem G").holds
    monkeypatch.setattr("evenhand.ab.rules.midrank", lower)
    assert not checked("Theorem G").holds


def test_a_rule_with_a_margin_everywhere_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def vote(one: Floats, two: Floats) -> Floats:
        return rules.votes(one, two)

    monkeypatch.setattr("evenhand.ab.rules.sign", vote)
    assert not checked("Theorem D").holds


def test_a_weight_as_good_as_the_linear_one_would_be_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    same = linear(claims_beyond.RANGE)
    monkeypatch.setattr(claims_beyond, "_others", lambda _: [rational(), same])
    assert not checked("Linear weight").holds
    steeper = offset(0, linear(claims_beyond.RANGE))
    monkeypatch.setattr(claims_beyond, "_others", lambda _: [steeper])
    assert checked("Linear weight").margin == 0


def test_a_stronger_bound_on_the_mean_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claims_beyond, "exp_below", lambda size: exp_below(size) / 2)
    assert not checked("Mean, bound").holds


def test_a_p_value_that_is_too_small_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = exact_p_values

    def halved(*sides: object, **options: object) -> tuple[Fraction, Fraction]:
        one, two = honest(*sides, **options)  # type: ignore[arg-type]  # passed on
        return one * Fraction(99, 100), two

    monkeypatch.setattr(claims_beyond, "exact_p_values", halved)
    assert not checked("P-values").holds


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "claim",
    [
        "Theorem G, strict",
        "P-values",
        "Theorem K",
        "Theorem T",
        "Theorem A",
    ],
)
def test_the_claims_hold_from_other_seeds(claim: str, seed: int) -> None:
    assert checked(claim, seed=seed).holds


# The parts.


@pytest.mark.parametrize(
    "size", [Fraction(0), Fraction(1, 3), Fraction(9, 4), Fraction(8)]
)
def test_the_exponential_is_bounded_from_below(size: Fraction) -> None:
    # exp(-x) times the longer series of exp(x), all of whose terms are positive.
    terms = itertools.accumulate(
        range(1, 80), lambda t, n: t * size / n, initial=Fraction(1)
    )
    larger = sum(terms, Fraction(0))
    assert exp_below(size) * larger <= 1
    assert float(exp_below(size)) == pytest.approx(math.exp(-size), abs=1e-11)


def test_type_one_error_is_counted_by_hand() -> None:
    # Two reviewers, two assignments: p is 1/2 or 1, each half of the time.
    apart = ((Fraction(0), Fraction(0)), (Fraction(5), Fraction(5)))
    assert type_one(apart, "halves", "mean") == 0
    # Here the worse item never has the higher score, and p is 1.
    worse = ((Fraction(0), Fraction(9)), (Fraction(1), Fraction(9)))
    assert type_one(worse, "halves", "mean") == 0
    assert type_one((*apart, *worse), "coins", "midrank") >= 0


def test_shapes_are_counted_up_to_names() -> None:
    # Two edges among four items: a path, two ways to meet, and two apart.
    assert len(shapes(4, 2)) == 4
    assert shapes(3, 1) == [((0, 1),)]


def test_buckets_are_of_equal_mean_rank() -> None:
    assert mean_rank_buckets(graph(3, ((2, 0),))) == [(2,), (1,), (0,)]
    assert mean_rank_buckets(graph(3, ())) == [(0, 1, 2)]


def test_three_tied_items_are_sorted_by_their_noisy_means() -> None:
    # Each reviewer has one of three items at the top, and another at the bottom.
    edges = ((0, 3), (1, 3), (2, 3))
    table = tuple((Fraction(0), Fraction(1), Fraction(2), Fraction(3)) for _ in edges)
    # By scores alike for all, an item a place above another is first 64 times of 65.
    known = 2 * (Fraction(64, 65) - Fraction(1, 2)) + Fraction(4096, 4097)
    assert scored_ties(4, edges) == [(0, 1, 2)]
    assert against_lots(4, edges)((0, 1, 2, 3), table) == known - Fraction(1, 2)


def test_ties_with_an_item_without_score_are_left_to_the_lot() -> None:
    assert scored_ties(4, ((0, 1),)) == []
    table = ((Fraction(0), Fraction(1), Fraction(2), Fraction(3)),)
    assert against_lots(4, ((0, 1),))((0, 1, 2, 3), table) == 0

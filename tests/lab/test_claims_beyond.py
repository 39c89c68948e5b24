"""The rows beyond the paper can fail: each is handed something that is broken."""

import functools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.ab import rules
from evenhand.ab.methods import Guarded
from evenhand.lab import claims_beyond
from evenhand.lab.claims_beyond import scored_ties, shapes, tie_gain
from evenhand.lab.theorems import ClaimRow, check_theorems
from evenhand.lab.worlds import Chances, Drawn, First, Order, Scores
from evenhand.posets.graph import Comparisons
from evenhand.randomness import Chance
from evenhand.ranking import ties
from evenhand.ranking.sorter import sorter_program
from evenhand.ranking.ties import Layer, Sheets

Floats = NDArray[np.float64]


def checked(
    name: str, broken: tuple[str, object] | None = None, seed: int = 7
) -> ClaimRow:
    with pytest.MonkeyPatch.context() as patch:
        if broken is not None:
            patch.setattr(claims_beyond, *broken)
        (row,) = check_theorems(only=(name,), rng=seed).rows
    return row


# What is broken is found out.


def only_the_statistic(statistic: str) -> Chances:
    return functools.partial(rules.follow_statistic, statistic)


def against_the_statistic(statistic: str) -> Chances:
    chance = Guarded(statistic=statistic, eps=Fraction(1, 10)).chance
    return lambda one, two: chance(two, one)


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


@pytest.mark.parametrize(
    ("claim", "broken"),
    [
        ("Theorem G, strict", ("_guarded_chance", only_the_statistic)),
        ("Theorem G, strict", ("_guarded_chance", against_the_statistic)),
        ("Theorem D", ("_guarded_chance", only_the_statistic)),
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


def test_a_rule_below_a_half_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def lower(statistic: str, one: Floats, two: Floats) -> Floats:
        return followed(statistic, two, one)

    followed = rules.follow_statistic
    monkeypatch.setattr(claims_beyond, "FIXED", ("midrank",))
    assert checked("Theorem G").holds
    monkeypatch.setattr(rules, "follow_statistic", lower)
    assert not checked("Theorem G").holds


def test_a_rule_with_a_margin_everywhere_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def vote(statistic: str, one: Floats, two: Floats, trim: float = 0.2) -> Floats:
        if statistic == "sign":
            return rules.votes(one, two)
        return followed(statistic, one, two, trim=trim)

    followed = rules.follow_statistic
    monkeypatch.setattr(rules, "follow_statistic", vote)
    assert not checked("Theorem D").holds


@pytest.mark.parametrize(
    "claim", ["Theorem G, strict", "Theorem K", "Theorem T", "Theorem A"]
)
def test_the_claims_hold_from_another_seed(claim: str) -> None:
    assert checked(claim, seed=1).holds


# The parts.


def test_shapes_are_counted_up_to_names() -> None:
    # Two edges among four items: a path, two ways to meet, and two apart.
    assert len(shapes(4, 2)) == 4
    assert shapes(3, 1) == [((0, 1),)]


def test_three_tied_items_are_sorted_by_their_noisy_means() -> None:
    # Each reviewer has one of three items at the top, and another at the bottom.
    edges = ((0, 3), (1, 3), (2, 3))
    table = tuple((Fraction(0), Fraction(1), Fraction(2), Fraction(3)) for _ in edges)
    # On one scale for all, an item k places above another is first by (1 + w(k)) / 2.
    known = 2 * Fraction(1, 4) + Fraction(1, 3)
    assert scored_ties(4, edges) == [(0, 1, 2)]
    assert tie_gain(edges, (0, 1, 2), (0, 1, 2, 3), table) == known


def test_ties_with_an_item_without_score_are_left_to_the_lot() -> None:
    assert scored_ties(4, ((0, 1),)) == []

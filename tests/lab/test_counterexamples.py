"""What looks reasonable and breaks a guarantee, worked out exactly."""

import itertools
import statistics
from collections.abc import Sequence
from fractions import Fraction

import pytest

from evenhand import designs
from evenhand.ab.law import votes_over_pairings
from evenhand.ab.rules import first_probability, votes
from evenhand.ab.weights import rational
from evenhand.lab.dominance import against_coin
from evenhand.lab.worlds import (
    TRUTHS,
    OwnRule,
    exact_first,
    flips,
    graph,
    index_order,
    own_rule,
)
from evenhand.randomness import outcomes

HALF = Fraction(1, 2)
FIRST = exact_first(rational())
STEEP = 200


def by_item(
    sides: Sequence[int], scores: Sequence[Fraction]
) -> tuple[list[Fraction], ...]:
    return tuple(
        [score for score, side in zip(scores, sides, strict=True) if side == item]
        for item in (0, 1)
    )


def higher(one: Fraction, two: Fraction) -> Fraction:
    return Fraction(1 + (one > two) - (one < two), 2)


def without_outliers(*scores: Sequence[Fraction]) -> Fraction:
    middle = statistics.median([*scores[0], *scores[1]])
    reach = 3 * statistics.median([abs(y - middle) for side in scores for y in side])
    kept = [[y for y in side if abs(y - middle) <= reach] for side in scores]
    return higher(*map(statistics.mean, kept)) if all(kept) else HALF


def over_pooled_spread(*scores: Sequence[Fraction]) -> Fraction:
    if not all(map(len, scores)):
        return HALF
    one, two = map(statistics.mean, scores)
    spread = sum(abs(y - statistics.mean(side)) for side in scores for y in side)
    return FIRST((one - two) / spread) if spread else higher(one, two)


def over_mad(ours: Sequence[Fraction], theirs: Sequence[Fraction]) -> Fraction:
    middle = statistics.median([*ours, *theirs])
    spread = statistics.median([abs(y - middle) for y in (*ours, *theirs)])
    # With two pairs a majority, ties by a coin, is right as often as one vote.
    pairs = list(itertools.product(ours, theirs))
    votes = (FIRST((x - y) / spread) if spread else higher(x, y) for x, y in pairs)
    return sum(votes, Fraction(0)) / len(pairs)


@pytest.mark.parametrize(
    ("rule", "design", "right"),
    [
        (without_outliers, "halves", Fraction(1, 6)),
        (over_pooled_spread, "panels", Fraction("0.474")),
        (over_mad, "halves", Fraction("0.4948")),
    ],
)
def test_cleaning_and_scaling_by_the_data_are_found_out_by_the_search(
    rule: OwnRule, design: str, right: Fraction
) -> None:
    tried = against_coin(own_rule(rule), design, 4, truths=TRUTHS[:1])
    (found,) = tried.search(600, 2019, families=False)
    assert HALF + found.margin <= right


def test_noise_that_looks_at_the_item_breaks_theorem_6() -> None:
    # Of mean zero on the better item only: -100 mostly and 9900 once in a hundred.
    scores = [[Fraction(-99), Fraction(0)], [Fraction(9901), Fraction(0)]]
    often, rarely = first_probability(scores, weight=rational()).tolist()
    assert round(float((99 * often + rarely) / 100), 4) == 0.0149


def test_centring_on_items_that_only_one_reviewer_scored_breaks_the_coin() -> None:
    # One reviewer has the best item and the second, the other the third and the last,
    # on one scale, so that it does not matter who is who.
    best, second, third, last = (Fraction(STEEP * place) for place in (3, 2, 1, 0))
    gap = second - (second + best) / 2 - (third - (third + last) / 2)
    assert round(float(FIRST(gap)), 4) == 0.0025


def test_a_silent_partner_leaves_matched_votes_the_average_over_both_counts() -> None:
    # Scales x, x + 3 and x - 1000; the partner of the third reviewer is silent.
    offsets = [Fraction(at) for at in (0, 3, -1000)]
    given: dict[int, list[Fraction]] = {1: [], 2: []}
    for sides in designs.law("matched", (0, 0, 1, 1)):
        one, two = by_item(sides[:3], offsets)
        right = votes_over_pairings([score + 1 for score in one], two).probability
        given[len(one)].append(Fraction(right))
    few, many = (float(statistics.mean(found)) for found in given.values())
    assert (round(few, 3), round(many, 3)) == (0.766, 0.267)
    assert few + many > 1


def test_pairs_made_with_a_look_at_the_scores_break_the_votes() -> None:
    better = [Fraction(score) for score in ("1.25", "0.05", "53", "10.6")]
    worse = [Fraction(score) for score in ("1.2", "0", "50", "10.1")]
    right = Fraction(0)
    for sides, chance in designs.law("halves", 4).items():
        one, two = by_item(sides, better)[0], by_item(sides, worse)[1]
        right += chance * min(votes([one, one], [two, two[::-1]]).tolist())
    assert round(float(right), 3) == 0.426


# Scores of the worst item to the best, of two reviewers, by the true ranking.
TAILORED = {
    (0, 1, 2): ((1, 1, 2), (5, 5, 5)),
    (0, 2, 1): ((1, 1, 1), (4, 5, 5)),
    (1, 0, 2): ((1, 1, 2), (4, 4, 5)),
    (1, 2, 0): ((1, 1, 1), (4, 5, 5)),
    (2, 0, 1): ((1, 1, 1), (1, 1, 1)),
    (2, 1, 0): ((1, 1, 1), (1, 1, 1)),
}


def test_ties_within_a_reviewer_break_theorem_5() -> None:
    flipped = index = Fraction(0)
    for (truth, marks), (bundles, chance) in itertools.product(
        TAILORED.items(), designs.law("pairs", 3, 2).items()
    ):
        scores = {
            (who, item): Fraction(marks[who][-1 - truth.index(item)])
            for who, pair in enumerate(bundles)
            for item in pair
        }
        one_by_one = itertools.permutations(scores.items(), 2)
        edges = [(a, b) for ((r, a), y), ((s, b), z) in one_by_one if r == s and y > z]
        known = graph(3, tuple(edges))
        law = outcomes(flips(known, scores, FIRST))
        flipped += chance * law.get(truth, Fraction(0)) / len(TAILORED)
        index += chance * (index_order(known) == truth) / len(TAILORED)
    assert (flipped, index) == (Fraction(373, 2160), Fraction(7, 18))

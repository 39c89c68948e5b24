import itertools
from collections.abc import Sequence
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.ab.law import sign_over_pairings, votes_over_pairings
from evenhand.lab.worlds import TRUTHS, assignments, duel, own_rule, pairings
from evenhand.method import methods
from tests import plain_rules

HALF = Fraction(1, 2)
Table = tuple[tuple[Fraction, Fraction], ...]


def canonical(gap: Fraction) -> Fraction:
    share = abs(gap) / (1 + abs(gap))
    return (1 + (share if gap > 0 else -share)) / 2


def tables(reviewers: int) -> st.SearchStrategy[Table]:
    score = st.integers(-60, 60).map(lambda k: Fraction(k, 4))
    row = st.lists(score, min_size=2, max_size=2, unique=True).map(
        lambda pair: (min(pair), max(pair))
    )
    return st.lists(row, min_size=reviewers, max_size=reviewers).map(tuple)


@settings(max_examples=50)
@given(tables(2))
def test_two_reviewers_and_two_assignments_are_the_canonical_formula(
    table: Table,
) -> None:
    (low1, high1), (low2, high2) = table
    expected = (canonical(high1 - low2) + canonical(high2 - low1)) / 2
    for truth in TRUTHS:
        assert duel("votes", "halves", 2)(truth, table) == expected


@settings(max_examples=15)
@given(tables(4), st.sampled_from(["halves", "coins", "panels"]))
def test_named_rules_are_averaged_over_assignments_and_pairings(
    table: Table, design: str
) -> None:
    def chances(one: list[Fraction], two: list[Fraction]) -> list[Fraction]:
        voted = votes_over_pairings(one, two).probability
        signed = sign_over_pairings(one, two).probability
        fixed = (
            plain_rules.mean(one, two),
            plain_rules.median(one, two),
            plain_rules.trimmed(one, two),
        )
        guarded = (9 * fixed[-1] + voted) / 10
        return [Fraction(str(p)) for p in (HALF, signed, voted, *fixed, guarded)]

    expected = [Fraction(0)] * 7
    for sides, share in assignments(design, 4).items():
        one = [high for (_, high), side in zip(table, sides, strict=True) if not side]
        two = [low for (low, _), side in zip(table, sides, strict=True) if side]
        expected = [
            total + share * chance
            for total, chance in zip(expected, chances(one, two), strict=True)
        ]
    names = ("coin", "sign", "votes", "mean", "median", "trimmed", "guarded")
    for name, known in zip(names, expected, strict=True):
        right = duel(name, design, 4)
        assert right((0, 1), table) == right((1, 0), table) == known


@settings(max_examples=25)
@given(tables(4))
def test_a_function_of_the_scores_is_asked_for_every_assignment(table: Table) -> None:
    def mean(one: Sequence[Fraction], two: Sequence[Fraction]) -> Fraction:
        total = sum(one) - sum(two)
        return Fraction(1 + (total > 0) - (total < 0), 2)

    for truth in TRUTHS:
        by_name = duel("mean", "halves", 4)(truth, table)
        assert duel(own_rule(mean), "halves", 4)(truth, table) == by_name


@settings(max_examples=25)
@given(tables(4))
def test_a_matched_design_pairs_within_its_pairs(table: Table) -> None:
    # Two votes with ties by a coin are right as often as one of them.
    expected = Fraction(0)
    for (low1, high1), (low2, high2) in (table[:2], table[2:]):
        expected += (canonical(high1 - low2) + canonical(high2 - low1)) / 4
    assert duel("votes", "matched", 4)((1, 0), table) == expected


def test_unequal_counts_pair_every_choice_of_the_larger_side() -> None:
    assert pairings((1, 0, 1), "only") == [((1,), (0,)), ((1,), (2,))]
    assert pairings((1, 0, 0), "only") == [((1,), (0,)), ((2,), (0,))]
    assert pairings((0, 0, 0), "only") == [((), ())]
    assert pairings((1, 0, 1), "none") == [((1,), (0, 2))]
    ways = pairings((0, 0, 1, 1), "only")
    assert ways == [((0, 1), (2, 3)), ((0, 1), (3, 2))]


def test_scores_that_are_left_over_follow_the_pairs() -> None:
    ways = pairings((1, 0, 1), "some")
    assert ways == [((1,), (0, 2)), ((1,), (2, 0))]
    ways = pairings((1, 0, 0), "some")
    assert ways == [((1, 2), (0,)), ((2, 1), (0,))]
    assert pairings((0, 0), "some") == [((0, 1), ())]


@settings(max_examples=15)
@given(tables(3), st.sampled_from(["0.3", "0.25", "1"]))
def test_guarded_follows_all_scores_and_votes_by_pairs(table: Table, eps: str) -> None:
    share = Fraction(eps)
    for truth in TRUTHS:
        found = duel(f"guarded(eps={eps})", "coins", 3)(truth, table)
        followed = duel("trimmed", "coins", 3)(truth, table)
        voted = duel("votes", "coins", 3)(truth, table)
        assert found == (1 - share) * followed + share * voted
        assert found > HALF


@settings(max_examples=15)
@given(tables(4))
def test_midranks_count_the_wins_of_all_pairs(table: Table) -> None:
    def wins(ours: Sequence[Fraction], theirs: Sequence[Fraction]) -> Fraction:
        gain = sum((a > b) - (a < b) for a in ours for b in theirs)
        return Fraction(1 + (gain > 0) - (gain < 0), 2)

    for design in ("halves", "coins"):
        found = duel("midrank", design, 4)((0, 1), table)
        assert found == duel(own_rule(wins), design, 4)((0, 1), table)


def test_an_empty_side_is_decided_by_a_coin() -> None:
    # One reviewer: the other item never has a score.
    table = ((Fraction(1), Fraction(2)),)
    for name in [*(method.name for method in methods("compare")), "midrank"]:
        assert duel(name, "coins", 1)((0, 1), table) == HALF


def test_medians_are_told_apart() -> None:
    # In halves, (0, 4, 5, 9) against itself one higher: by hand.
    table = tuple((Fraction(x), Fraction(x) + 1) for x in (0, 4, 5, 9))
    found = {
        kind: duel(f"median({kind})", "halves", 4)((0, 1), table)
        for kind in ("upper", "lower", "middle")
    }
    by_hand = {}
    for kind, pick in {"upper": 1, "lower": 0, "middle": None}.items():
        right = Fraction(0)
        for ours in itertools.combinations(range(4), 2):
            one = sorted(table[j][1] for j in ours)
            two = sorted(table[j][0] for j in range(4) if j not in ours)
            left, other = (
                (sum(one), sum(two)) if pick is None else (one[pick], two[pick])
            )
            right += Fraction(1 + (left > other) - (left < other), 2) / 6
        by_hand[kind] = right
    assert found == by_hand
    assert duel("median", "halves", 4)((0, 1), table) == (by_hand["upper"])

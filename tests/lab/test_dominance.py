"""The search for the worst scales finds what formulas say, and known failures."""

from collections.abc import Sequence
from fractions import Fraction

from evenhand.lab.dominance import Witness, against_coin, contest
from evenhand.lab.worlds import Chances, World, flips, index_order, own_rule, uniform

HALF = Fraction(1, 2)


def canonical(gap: Fraction) -> Fraction:
    share = abs(gap) / (1 + abs(gap))
    return (1 + (share if gap > 0 else -share)) / 2


def search(
    rule: str | Chances, m: int, budget: int, seed: int, design: str = "halves"
) -> tuple[Witness, ...]:
    return against_coin(rule, design, m).search(budget, seed)


def test_the_vote_of_two_has_the_margin_of_the_formula_at_its_witness() -> None:
    for witness in search("votes", 2, 200, 3):
        (low1, high1), (low2, high2) = witness.scales
        right = (canonical(high1 - low2) + canonical(high2 - low1)) / 2
        assert witness.margin == right - HALF > 0


def test_a_biased_coin_that_leans_the_wrong_way_is_caught() -> None:
    def leaning(one: Sequence[Fraction], two: Sequence[Fraction]) -> Fraction:
        return 1 - canonical(one[0] - two[0])

    found = search(own_rule(leaning), 2, 60, 6)
    assert [witness.truth for witness in found] == [(0, 1), (1, 0)]
    assert sum(witness.margin for witness in found) < 0


def test_flips_do_not_dominate_the_index_order_at_every_true_ranking() -> None:
    # At the true ranking 0, 1, 2 the index order is always right.
    found = contest(flips, index_order, World(3, 2)).search(200, 1)
    worst = min(found)
    assert worst.margin < 0
    assert worst.truth == (0, 1, 2)
    # On average over true rankings they do.
    assert sum(witness.margin for witness in found) > 0


def test_the_margin_of_three_items_is_the_formula_at_its_witness() -> None:
    # The true ranking a > b > c with two pairs: the chain a > b > c is always found;
    # a > b, a > c leaves b, c free and a > c, b > c leaves a, b free, and the coin is
    # right with the canonical probability, averaged over the two assignments. The
    # uniform ordering is right half of the time in these two cases.
    for witness in contest(flips, uniform, World(3, 2)).search(40, 2):
        one, other = witness.scales
        gain = Fraction(0)
        for worse, better in ((0, 1), (1, 2)):
            coins = [
                canonical(one[better] - other[worse]),
                canonical(other[better] - one[worse]),
            ]
            gain += (coins[0] + coins[1] - 1) / 6
        assert witness.margin == gain

import itertools
import json
from collections.abc import Sequence
from fractions import Fraction

import pytest

from evenhand.ab.methods import Guarded, Votes
from evenhand.ab.weights import rational, sigmoid
from evenhand.errors import DesignError, OptionError
from evenhand.lab.dominance import Dominance, dominates
from evenhand.lab.worlds import Order, Scores, exact_first, flips
from evenhand.posets.graph import Comparisons
from evenhand.randomness import Chance
from evenhand.ranking.methods import Flips

HALF = Fraction(1, 2)


def canonical(gap: Fraction) -> Fraction:
    share = abs(gap) / (1 + abs(gap))
    return (1 + (share if gap > 0 else -share)) / 2


@pytest.mark.parametrize("n_reviewers", [2, 4])
@pytest.mark.parametrize(
    "rule", ["sign", "mean", "median", "median(lower)", "median(middle)", "trimmed"]
)
def test_fixed_rules_do_not_dominate_a_coin(rule: str, n_reviewers: int) -> None:
    found = dominates(rule, "coin", n_reviewers=n_reviewers, budget=60, rng=1)
    assert found.margin == 0
    assert not found.strict


def test_a_fixed_rule_of_ones_own_does_worse_than_a_coin_somewhere() -> None:
    def first_reviewer(sides: Sequence[int], scores: Sequence[Fraction]) -> Fraction:
        return Fraction((sides[0] == 0) == (scores[0] > 7))

    found = dominates(first_reviewer, "coin", truth="arbitrary", budget=60, rng=1)
    assert found.margin <= 0
    assert found.method == "first_reviewer"


@pytest.mark.parametrize("truth", ["uniform", "arbitrary"])
def test_the_vote_of_two_has_the_margin_of_the_formula_at_its_witness(
    truth: str,
) -> None:
    found = dominates("votes", "coin", truth=truth, rng=3)
    (witness,) = found.witness
    (low1, high1), (low2, high2) = witness.scales
    right = (canonical(high1 - low2) + canonical(high2 - low1)) / 2
    assert found.margin == witness.margin == right - HALF
    assert found.strict


@pytest.mark.parametrize(
    ("design", "n_reviewers"),
    [("halves", 3), ("halves", 4), ("coins", 3), ("matched", 4), ("panels", 4)],
)
def test_the_vote_dominates_a_coin_under_every_design(
    design: str, n_reviewers: int
) -> None:
    found = dominates(
        "votes",
        "coin",
        "zero-one",
        "arbitrary",
        n_reviewers=n_reviewers,
        design=design,
        budget=40,
        rng=4,
    )
    assert found.margin > 0
    assert found.design == design


def test_a_biased_coin_that_leans_the_wrong_way_is_caught() -> None:
    def leaning(sides: Sequence[int], scores: Sequence[Fraction]) -> Fraction:
        gap = scores[sides.index(0)] - scores[sides.index(1)]
        return 1 - canonical(gap)

    found = dominates(leaning, "coin", budget=60, rng=6)
    assert found.margin < 0
    assert [witness.truth for witness in found.witness] == [(0, 1), (1, 0)]
    average = sum(witness.margin for witness in found.witness) / 2
    assert found.margin == average


def test_loss_counts_for_two_items() -> None:
    one, two = (
        dominates("votes", "coin", loss, rng=7) for loss in ("kendall", "footrule")
    )
    assert two.margin == 2 * one.margin


def test_flips_dominate_the_best_ordinal_method_given_a_uniform_truth() -> None:
    found = dominates("flips", "uniform", n_items=3, n_reviewers=2, budget=60, rng=1)
    assert found.strict
    assert len(found.witness) == 6
    again = dominates(
        "flips", "topological", n_items=3, n_reviewers=2, budget=60, rng=1
    )
    # Every topological method has the same risk on average (Lemma 1).
    assert sum(w.margin for w in again.witness) / 6 == again.margin
    assert again.strict


def test_flips_do_not_dominate_the_index_order_at_every_true_ranking() -> None:
    # At the true ranking 0, 1, 2 the index order is always right.
    found = dominates("flips", "topological", truth="arbitrary", n_items=3, rng=1)
    assert found.margin < 0
    assert found.witness[0].truth == (0, 1, 2)


def test_the_margin_of_three_items_is_the_formula_at_its_witness() -> None:
    # The true ranking a > b > c with two pairs: the chain a > b > c is always found;
    # a > b, a > c leaves b, c free and a > c, b > c leaves a, b free, and the coin is
    # right with the canonical probability, averaged over the two assignments. The
    # uniform ordering is right half of the time in these two cases.
    found = dominates("flips", "uniform", n_items=3, n_reviewers=2, budget=40, rng=2)
    for witness in found.witness:
        one, other = witness.scales
        gain = Fraction(0)
        for worse, better in ((0, 1), (1, 2)):
            coins = [
                canonical(one[better] - other[worse]),
                canonical(other[better] - one[worse]),
            ]
            gain += (coins[0] + coins[1] - 1) / 6
        assert witness.margin == gain


def test_flips_from_a_uniform_start_dominate_it_at_every_true_ranking() -> None:
    for name in ("flips-uniform", "flips-uniform(scan=paper)"):
        found = dominates(
            name, "uniform", truth="arbitrary", n_items=4, budget=60, rng=1
        )
        assert found.strict
        assert len(found.witness) == 1


def test_twins_improve_any_ordinal_method_they_start_from() -> None:
    def backwards(comparisons: Comparisons) -> Order:
        return tuple(reversed(range(comparisons.n_items)))

    def either(comparisons: Comparisons) -> dict[Order, Fraction]:
        order = backwards(comparisons)
        return {order: Fraction(1, 3), order[::-1]: Fraction(2, 3)}

    methods, losses = ("twins", "twins(twins=one, by=direct)"), ("kendall", "footrule")
    for method, loss in itertools.product(methods, losses):
        found = dominates(method, backwards, loss, n_items=3, budget=20, rng=1)
        assert found.strict
        assert found.baseline == "backwards"
        assert dominates(method, either, loss, n_items=3, budget=20, rng=1).strict


def test_a_procedure_of_ones_own_is_enumerated() -> None:
    first = exact_first(rational())

    def mine(comparisons: Comparisons, scores: Scores, chance: Chance) -> Order:
        return flips(comparisons, scores, first)(chance)

    own, named = (
        dominates(method, "uniform", n_items=3, budget=20, rng=1)
        for method in (mine, "flips")
    )
    assert own.witness == named.witness
    assert own.method == "mine"


def test_a_text_and_a_value_are_the_same_method() -> None:
    rules = ("guarded(eps=0.5)", Guarded(eps=HALF))
    one, two = (dominates(rule, "coin", budget=20, rng=1) for rule in rules)
    assert one.witness == two.witness
    assert one.strict
    tried = ("flips(weight=rational(3))", Flips(weight=rational(3)))
    three, four, lighter = (
        dominates(method, "uniform", n_items=3, budget=20, rng=1)
        for method in (*tried, "flips")
    )
    assert three.witness == four.witness
    assert three.margin < lighter.margin


def test_the_same_seed_gives_the_same_witness() -> None:
    one, two, other = (
        dominates("votes", "coin", n_reviewers=4, budget=30, rng=seed)
        for seed in (8, 8, 9)
    )
    assert one == two
    assert one.witness != other.witness
    assert one.seed == 8


def test_a_result_prints_and_goes_into_json() -> None:
    found = dominates("flips", "topological", n_items=3, budget=15, rng=1)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["schema"] == "evenhand.dominance/1"
    assert Fraction(document["margin"]) <= found.margin
    assert document["strict"] is True
    assert len(document["witness"]) == 6
    assert document["witness"][0]["truth"] == [0, 1, 2]
    lines = repr(found).splitlines()
    assert lines[0].startswith("flips against topological: better on all scales tried")
    assert lines[-1] == "  and 3 more true rankings"
    assert isinstance(found, Dominance)
    failing = dominates("sign", "coin", rng=1)
    assert "does not dominate; smallest margin 0" in repr(failing)


def test_bad_input_is_refused_in_words() -> None:
    with pytest.raises(OptionError, match="did you mean 'arbitrary'"):
        dominates("votes", "coin", truth="arbitary")
    with pytest.raises(OptionError, match="budget must be an integer of at least 1"):
        dominates("votes", "coin", budget=0)
    with pytest.raises(OptionError, match="unknown rule 'flips'"):
        dominates("flips", "coin")
    with pytest.raises(OptionError, match="unknown method 'votes'"):
        dominates("votes", "uniform", n_items=3)
    with pytest.raises(OptionError, match="unknown baseline 'coin'"):
        dominates("flips", "coin", n_items=3)
    with pytest.raises(OptionError, match="design must be left out"):
        dominates("flips", "uniform", n_items=3, design="halves")
    with pytest.raises(OptionError, match="weight must be exact"):
        dominates(Votes(weight=sigmoid()), "coin")
    with pytest.raises(OptionError, match="weight must be exact"):
        dominates("flips(weight=sigmoid(1))", "uniform", n_items=3)
    with pytest.raises(OptionError, match="brackets, got 'median:lower', not after"):
        dominates("median:lower", "coin")
    with pytest.raises(OptionError, match="unknown loss 'top-k'"):
        dominates("votes", "coin", "top-k")
    with pytest.raises(DesignError, match="below 6"):
        dominates("flips", "uniform", n_items=4, n_reviewers=6)
    with pytest.raises(DesignError, match="got 1 for"):
        dominates("votes", "coin", n_reviewers=3, design="matched")

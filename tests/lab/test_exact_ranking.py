"""Exact risks of rankings: golden fractions and full enumeration."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest

from evenhand import designs
from evenhand._outcomes import outcomes
from evenhand.errors import DesignError, OptionError
from evenhand.lab.exact_ranking import ranking_risk
from evenhand.posets.comparisons import Comparisons, from_edges
from evenhand.posets.orderings import topological_order
from evenhand.ranking.flips import flips_program

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_figures.json").read_text()
)
Order = tuple[int, ...]


@pytest.mark.parametrize(("items", "reviewers"), [(3, 1), (4, 3), (5, 5)])
def test_expected_kendall_tau_of_the_index_order(items: int, reviewers: int) -> None:
    known = Fraction(GOLDEN["fig2_kendall_of_start"][str(items)])
    assert ranking_risk(items, reviewers) == known


def test_mean_rank_gains_a_quarter_at_five_items() -> None:
    found = ranking_risk(5, 5, method="mean-rank")
    assert found == Fraction(GOLDEN["mean_rank"]["5"])


def first(gap: Fraction) -> Fraction:
    """W for the paper's weight x / (1 + x), written out once more."""
    share = gap / (1 + abs(gap))
    return (1 + share) / 2


def plain_risk(scales: list[list[Fraction]], n_items: int, *, exact: bool) -> Fraction:
    """Run Algorithm 1 on every truth, assignment, choice and coin."""
    total = Fraction(0)
    truths = list(itertools.permutations(range(n_items)))
    assigned = designs.enumerate_pairs(n_items, len(scales))
    for truth in truths:
        place = {item: rank for rank, item in enumerate(truth)}
        for bundles, share in assigned.items():
            put = [tuple(sorted(pair, key=place.__getitem__)) for pair in bundles]
            known = from_edges(n_items, *zip(*put, strict=True))
            scores = {
                (reviewer, item): scales[reviewer][-1 - place[item]]
                for reviewer, pair in enumerate(bundles)
                for item in pair
            }
            start = topological_order(known).tolist()
            law = outcomes(flips_program(known, scores, start, first))
            for order, mass in law.items():
                wrong = (
                    int(order != truth)
                    if exact
                    else sum(
                        order.index(a) > order.index(b)
                        for a, b in itertools.combinations(truth, 2)
                    )
                )
                total += share * mass * wrong / len(truths)
    return total


@pytest.mark.parametrize("loss", ["zero-one", "kendall"])
def test_flips_agree_with_full_enumeration(loss: str) -> None:
    scales = [[Fraction(value + 7 * j) for value in (0, 1, 3)] for j in (1, 2)]
    found = ranking_risk(
        3,
        2,
        method="flips",
        loss=loss,
        values=[3, 0, 1],
        spec=lambda reviewer, value: value + 7 * (reviewer + 1),
    )
    assert found == plain_risk(scales, 3, exact=loss == "zero-one")


def test_flips_agree_with_full_enumeration_for_four_items() -> None:
    scales = [[Fraction(value) for value in range(4)]] * 2
    found = ranking_risk(4, 2, method="flips", loss="zero-one")
    assert found == plain_risk(scales, 4, exact=True)


@pytest.mark.parametrize(("items", "reviewers"), [(3, 2), (4, 2), (4, 3), (4, 5)])
@pytest.mark.parametrize("spec", ["identity", "disjoint", "adversary"])
def test_flips_are_exactly_right_more_often_than_any_ordinal_method(
    items: int, reviewers: int, spec: str
) -> None:
    ours = ranking_risk(items, reviewers, method="flips", loss="zero-one", spec=spec)
    best = ranking_risk(items, reviewers, method="topological", loss="zero-one")
    assert ours < best
    # Every ordinal method that respects the comparisons is as good.
    for other in ("uniform", "mean-rank", "fair-coins"):
        assert ranking_risk(items, reviewers, method=other, loss="zero-one") == best


def test_with_one_reviewer_nothing_is_flipped() -> None:
    assert ranking_risk(3, 1, method="flips") == ranking_risk(3, 1)


def test_fair_coins_already_gain_in_kendall_tau() -> None:
    gain = 1 - ranking_risk(4, 3, method="fair-coins") / ranking_risk(4, 3)
    assert Fraction(6, 100) < gain < Fraction(7, 100)


def test_a_function_of_the_comparisons_is_a_method() -> None:
    def backwards(comparisons: Comparisons) -> Order:
        return tuple(topological_order(comparisons).tolist())[::-1]

    pairs = 6
    both = ranking_risk(4, 3, method=backwards) + ranking_risk(4, 3)
    assert both == pairs


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_items": 6, "n_reviewers": 3}, OptionError, "from 2 to 5"),
        ({"n_items": 3, "n_reviewers": 4}, DesignError, "from 1 to 3"),
        ({"method": "flip"}, OptionError, "did you mean 'flips'"),
        ({"loss": "kendal"}, OptionError, "did you mean 'kendall'"),
        ({"method": "flips", "values": [1, 1, 2]}, OptionError, "3 different numbers"),
        ({"method": "flips", "spec": "affine"}, OptionError, "nothing at random"),
        (
            {"method": "flips", "spec": lambda _, value: -value},
            OptionError,
            "increasing",
        ),
    ],
)
def test_bad_options_are_refused_in_words(
    options: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ranking_risk(**{"n_items": 3, "n_reviewers": 2, **options})  # type: ignore[arg-type]  # bad on purpose

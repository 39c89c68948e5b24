import itertools
import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.arrays import Codes
from evenhand.diagnosis.warp import STRENGTHS, warp, warp_scores
from evenhand.errors import OptionError, RatingsError
from evenhand.models.adaptive import adaptive
from evenhand.models.means import item_means
from evenhand.randomness import permutation, stream
from evenhand.ranking.methods import Borda, Safe, Twins, by_estimates
from evenhand.ratings import Ratings

Floats = NDArray[np.float64]
SCORES = np.array([1.0, 2.0, 2.0, 5.0, 3.0, 4.0, 1.0, 5.0])
PEOPLE = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def panel(
    seed: int = 1, n: int = 12, m: int = 15, load: int = 5, noise: float = 0.4
) -> Ratings:
    """Draw noisy five-point ratings by reviewers who share one scale."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    items = np.concatenate([rng.permutation(n)[:load] for _ in range(m)])
    scores = values[items] + noise * rng.normal(size=m * load)
    marks = np.clip(np.round(2 * scores + 5), 1, 9)
    return Ratings(np.repeat(np.arange(m), load), items, marks, all_items=range(n))


def consistent() -> Ratings:
    """Reviewers agree on every order."""
    items = [3, 0, 5, 1, 4, 2, 0, 4, 1, 5, 6, 7, 8, 2, 7]
    reviewers = [who for who in range(5) for _ in range(3)]
    scores = [10.0 - item + who for who, item in zip(reviewers, items, strict=True)]
    return Ratings(reviewers, [f"item {item}" for item in items], scores)


finite = st.floats(-1.7e308, 1.7e308, allow_subnormal=False)


@pytest.mark.parametrize("strength", STRENGTHS)
@given(
    st.lists(st.tuples(st.integers(0, 3), finite), min_size=1, max_size=12),
    st.integers(0, 50),
)
@example([(0, 1.0), (0, 2.0), (0, 3.0), (0, 1e300)], 7)
@example([(0, 3.0), (0, 3.0), (1, 3.0), (1, 3.0)], 7)
def test_order_and_ties_within_a_reviewer_stay(
    strength: str, rows: list[tuple[int, float]], seed: int
) -> None:
    people = np.array([who for who, _ in rows])
    scores = np.array([score for _, score in rows])
    found = warp_scores(scores, people, stream(seed, "warp"), strength)
    assert np.isfinite(found).all()
    for one, other in itertools.permutations(range(len(rows)), 2):
        if people[one] == people[other]:
            assert (found[one] < found[other]) == (scores[one] < scores[other])


@pytest.mark.parametrize("strength", STRENGTHS)
def test_one_outlier_does_not_set_the_unit_of_a_warp(strength: str) -> None:
    people = np.repeat(np.arange(20), 5)
    scores = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 20)
    typed_wrong = scores.copy()
    typed_wrong[-1] = 1e6
    wanted = warp_scores(scores, people, stream(7, "warp"), strength)
    found = warp_scores(typed_wrong, people, stream(7, "warp"), strength)
    assert found[:-1] == pytest.approx(wanted[:-1])
    assert found[-1] > found[-2]


@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_warp_keeps_scores_beyond_its_span_in_proportion(strength: str) -> None:
    # The 5% and 95% quantiles are 0 and 1.
    scores = np.array([-3.0, *[0.0] * 10, *[1.0] * 10, 7.0])
    found = warp_scores(scores, np.zeros(22, np.int64), stream(7, "warp"), strength)
    slope = found[11] - found[1]
    assert found - found[1] == pytest.approx(slope * scores)


def test_a_mild_warp_is_near_the_identity_and_an_extreme_one_is_not() -> None:
    people = np.repeat(np.arange(400), 2)
    scores = np.tile([2.0, 8.0], 400)
    mild = warp_scores(scores, people, stream(7, "warp"), "mild")
    wild = warp_scores(scores, people, stream(7, "warp"), "extreme")
    # Medians over 400 reviewers have standard errors of about 0.2 score points.
    assert np.median(mild[::2]) == pytest.approx(2.0, abs=1.2)
    assert np.median(mild[1::2]) == pytest.approx(8.0, abs=1.2)
    assert 1 < np.std(mild[1::2]) < 6
    assert np.std(wild[1::2]) > 500
    slopes = np.log10(wild[1::2] - wild[::2])
    assert slopes.max() - slopes.min() > 2


def test_the_warps_are_as_defined() -> None:
    # Quantiles of 1, 1, 2, 2, 3, 4, 5, 5: the tails are as far out as the others.
    units = (SCORES - 1) / 4
    uniform = np.array([0.25, 0.5, 0.75])
    normal = np.array([-0.6744897501960817, 0.0, 0.6744897501960817])

    class Fixed:
        def random_raw(self, size: int) -> NDArray[np.uint64]:
            words = np.repeat((uniform * 2**64).astype(np.uint64), size // 3)
            return np.asarray(words)

    mild = warp_scores(SCORES, PEOPLE, Fixed(), "mild")  # type: ignore[arg-type] # bits as given
    bend = np.exp(0.5 * normal[2])
    assert mild == pytest.approx(1 + 4 * (0.2 * normal[0] + units**bend))
    wild = warp_scores(SCORES, PEOPLE, Fixed(), "extreme")  # type: ignore[arg-type] # bits as given
    bend = np.exp(normal[2])
    assert wild == pytest.approx(1 + 4 * (100 * normal[0] + units**bend))


@pytest.mark.parametrize(
    "method", ["bradley-terry", "borda", "mean-rank", "topological", "uniform"]
)
def test_ordinal_methods_do_not_move_at_all(method: str) -> None:
    found = warp(consistent(), method=method, draws=5, top=3, rng=7)
    for row in found.survivals:
        if row.method == method:
            assert (row.agreement, row.top_kept, row.unchanged) == (1.0, 1.0, 1.0)
            assert all(item.rank_low == item.rank_high for item in row.items)
            assert {item.kept for item in row.items} == {1.0}


def test_the_mean_moves_and_extreme_warps_leave_nothing_of_it() -> None:
    found = warp(panel(), method="adaptive", draws=40, top=4, rng=7)
    by = {(row.method, row.strength): row for row in found.survivals}
    assert [*by] == [
        ("adaptive", "mild"),
        ("mean", "mild"),
        ("adaptive", "extreme"),
        ("mean", "extreme"),
    ]
    assert by["mean", "mild"].unchanged < 1
    assert by["mean", "extreme"].agreement < by["mean", "mild"].agreement < 0.95
    # 40 draws of an agreement with SD 0.2 or so: 0.03 of standard error.
    assert abs(by["mean", "extreme"].agreement) < 0.2
    for strength in STRENGTHS:
        ours, plain = by["adaptive", strength], by["mean", strength]
        assert ours.agreement > plain.agreement
        assert ours.top_kept >= plain.top_kept


def test_a_function_of_ones_own_is_a_method_too() -> None:
    def by_code(ratings: Ratings, _: np.random.Generator) -> list[int]:
        return list(range(ratings.n_items))

    found = warp(panel(), method=by_code, draws=3, strength="mild", rng=7)
    assert found.method == "by_code"
    assert [row.item for row in found.survivals[0].items] == list(range(12))
    assert found.survivals[0].unchanged == 1.0

    def own_mean(ratings: Ratings, _: np.random.Generator) -> Codes:
        return by_estimates(item_means(ratings), 7, "mean")

    again = warp(panel(), method=own_mean, draws=9, rng=7)
    ours, plain = again.survivals[:2]
    assert ours.items == plain.items
    assert ours.agreement == plain.agreement < 1


def test_a_function_of_ones_own_gets_the_same_generator_for_each_draw() -> None:
    def by_lot(ratings: Ratings, generator: np.random.Generator) -> NDArray[np.int64]:
        return generator.permutation(ratings.n_items)

    one, two = (warp(panel(), method=by_lot, draws=3, rng=seed) for seed in (7, 8))
    # What is lost is lost to the scales, not to the lot.
    assert [row.unchanged for row in one.survivals[::2]] == [1.0, 1.0]
    assert one.survivals[0].items != two.survivals[0].items


def test_a_value_is_a_method_with_its_options() -> None:
    value, text = (
        warp(panel(), method=method, draws=6, strength="extreme", rng=7)
        for method in (Safe(noise=5), "safe(noise=5)")
    )
    assert value.to_dict() == text.to_dict()
    assert value.method == str(Safe(noise=5))
    assert value.survivals[0].method == value.method
    ordered = warp(consistent(), method=Twins(start=Borda()), draws=2, rng=7)
    assert ordered.method == "twins(start=borda)"


@pytest.mark.parametrize("table", [3, 400])
def test_what_draws_share_changes_no_draw(
    monkeypatch: pytest.MonkeyPatch, table: int
) -> None:
    monkeypatch.setattr("evenhand.models.solver.TABLE", table)
    monkeypatch.setattr("evenhand.models.additive.TRACE_SIGNS", 100)

    def alone(ratings: Ratings, _: np.random.Generator) -> NDArray[np.int64]:
        lots = permutation(stream(7, "estimates"), ratings.n_items)
        return np.lexsort((lots, -adaptive(ratings).estimates))

    found = warp(panel(), draws=4, rng=7)
    wanted = warp(panel(), method=alone, draws=4, rng=7)
    for ours, theirs in zip(found.survivals, wanted.survivals, strict=True):
        assert ours.items == theirs.items
        assert ours.agreement == theirs.agreement


def test_shares_and_ranges_count_the_draws() -> None:
    orders = iter([[0, 1, 2], [0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 1, 2]])

    def next_order(_: Ratings, __: np.random.Generator) -> list[int]:
        return next(orders)

    ratings = Ratings([0, 0, 0], ["x", "y", "z"], [3, 2, 1])
    found = warp(
        ratings, method=next_order, draws=4, strength=["mild"], top=1, rng=7
    ).survivals[0]
    assert found.agreement == pytest.approx((1 + 1 / 3 - 1 + 1) / 4)
    assert (found.lowest, found.top_kept, found.unchanged) == (-1.0, 0.5, 0.5)
    first, second, third = found.items
    assert (first.item, first.rank, first.p_top, first.kept) == ("x", 1, 0.5, 0.5)
    assert (second.item, second.p_top, second.kept) == ("y", 0.25, 0.75)
    assert (third.rank_low, third.rank_high, third.kept) == (1, 3, 0.75)


def test_the_same_seed_gives_the_same_answer_whatever_the_row_order() -> None:
    ratings = panel()
    shuffle = np.random.default_rng(1).permutation(ratings.n_ratings)
    again = Ratings(
        ratings.reviewer_codes[shuffle],
        ratings.item_codes[shuffle],
        ratings.scores[shuffle],
    )
    one = warp(ratings, draws=3, rng=7).to_dict()
    assert one == warp(again, draws=3, rng=7).to_dict()
    assert one != warp(ratings, draws=3, rng=8).to_dict()


def test_the_first_draws_do_not_depend_on_how_many_follow() -> None:
    ratings = panel()
    few = warp(ratings, draws=2, strength="mild", rng=7).survivals[1]
    many = warp(ratings, draws=6, strength="mild", rng=7).survivals[1]
    for one, other in zip(few.items, many.items, strict=True):
        assert other.rank_low <= one.rank_low <= one.rank_high <= other.rank_high


def test_people_get_sentences() -> None:
    found = warp(panel(), draws=4, top=1, rng=7)
    text = repr(found)
    assert text.startswith("Warp test of adaptive, best 1, 4 draws, seed 7\nUnder mild")
    assert "the best one by mean stays in" in text
    assert len(text.splitlines()) == 1 + 4
    mean_only = warp(panel(), method="mean", draws=2, rng=7)
    assert [row.method for row in mean_only.survivals] == ["mean", "mean"]


def test_a_quarter_is_chosen_unless_told_otherwise() -> None:
    assert warp(panel(), draws=1, rng=7).top == 3
    assert warp(panel(n=13), draws=1, rng=7).top == 4


@pytest.mark.parametrize(
    ("reviewers", "items", "scores"),
    [
        ([0], [0], [1.0]),
        ([0, 0, 0], [0, 1, 2], [1.0, 3.0, 2.0]),
        ([0, 1, 2, 3], [0, 1, 2, 0], [5.0] * 4),
        ([0, 0, 1, 1], [0, 1, 1, 0], [1e300, -1e300, 1e300, 0.0]),
        ([0, 0, 1, 1], [0, 1, 2, 3], [1, 2, 3, 4]),
    ],
)
def test_odd_data_get_an_answer_without_nan(
    reviewers: list[int], items: list[int], scores: list[float]
) -> None:
    found = warp(Ratings(reviewers, items, scores), draws=2, rng=7)
    assert "NaN" not in json.dumps(found.to_dict())
    assert all(0 <= row.top_kept <= 1 for row in found.survivals)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "adaptve"}, "unknown method 'adaptve', did you mean 'adaptive'"),
        ({"strength": "wild"}, "unknown strength 'wild'"),
        ({"draws": 0}, "draws must be a whole number from 1 to 1,000,000, got 0"),
        ({"top": 13}, "top must be a whole number from 1 to 12, the number of items"),
        ({"top": True}, "top must be a whole number"),
        ({"method": lambda *_: [0, 1]}, "code of each of the 12 items once"),
        ({"method": lambda _: [0]}, "a function of 2 arguments, the ratings and a Gen"),
        ({"method": "safe:0.1"}, "in brackets, got 'safe:0.1'"),
    ],
)
def test_options_out_of_range_are_refused(
    options: dict[str, object], words: str
) -> None:
    with pytest.raises(OptionError, match=words):
        warp(panel(), rng=7, **options)  # type: ignore[arg-type] # wrong on purpose


def test_refusals_name_items_as_the_user_does() -> None:
    ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 2, 1])
    with pytest.raises(RatingsError, match=r"'x' above 'y' \(reviewer 'b'\)"):
        warp(ratings, method="mean-rank", draws=2, rng=7)
    bare = Ratings(["a"], ["x"], [1], all_items=["x", "lost"])
    with pytest.raises(RatingsError, match="got none for 'lost'"):
        warp(bare, draws=2, rng=7)


def test_what_is_not_scores_is_refused() -> None:
    with pytest.raises(RatingsError, match="needs scores"):
        warp(Ratings.from_comparisons(["x"], ["y"]))
    with pytest.raises(RatingsError, match="Ratings or a dataframe, got list"):
        warp([1, 2])  # type: ignore[arg-type] # wrong on purpose

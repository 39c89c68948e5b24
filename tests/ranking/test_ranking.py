import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand import designs
from evenhand.ab.weights import rational
from evenhand.claims import DataWarning, Label
from evenhand.errors import ContradictionError, OptionError, RatingsError
from evenhand.method import as_method, methods
from evenhand.models.means import item_means
from evenhand.posets.graph import Comparisons, comparisons, is_ordering
from evenhand.randomness import stream
from evenhand.ranking.flips import settle_twins
from evenhand.ranking.methods import (
    Borda,
    BradleyTerry,
    Flips,
    MeanRank,
    OwnRanking,
    RankMethod,
    Twins,
    by_estimates,
)
from evenhand.ranking.ranking import Draw, rank
from evenhand.ratings import Ratings

METHODS = tuple(method.name for method in methods("rank"))
PAIRWISE = ("topological", "uniform", "flips", "flips-uniform", "twins")
COINS = ("flips", "flips-uniform", "twins")


def conference(seed: int, n_items: int = 8, n_reviewers: int = 9) -> Ratings:
    """Make strict, consistent scores of two to three items by each reviewer."""
    generator = np.random.default_rng(seed)
    values = generator.permutation(n_items)
    reviewers, items, scores = [], [], []
    for reviewer, bundle in enumerate(
        designs.balanced(n_items, n_reviewers, 2 + seed % 2, rng=seed).tolist()
    ):
        offset, slope = generator.integers(-5, 6), generator.integers(1, 4)
        for item in bundle:
            reviewers.append(f"r{reviewer}")
            items.append(f"item {item}")
            scores.append(float(offset + slope * values[item]))
    return Ratings(reviewers, items, scores)


def rows_of(ratings: Ratings) -> list[tuple[str, str, float]]:
    return [
        (
            str(ratings.reviewer_labels[reviewer]),
            str(ratings.item_labels[item]),
            float(score),
        )
        for reviewer, item, score in zip(
            ratings.reviewer_codes, ratings.item_codes, ratings.scores, strict=True
        )
    ]


def from_rows(rows: list[tuple[str, str, float]]) -> Ratings:
    reviewers, items, scores = zip(*rows, strict=True)
    return Ratings(reviewers, items, scores)


def codes(notices: tuple[DataWarning, ...]) -> list[str]:
    return [notice.code for notice in notices]


def test_methods_are_these() -> None:
    assert METHODS == (
        "topological",
        "uniform",
        "mean-rank",
        "flips",
        "flips-uniform",
        "twins",
        "sorter",
        "ties",
        "safe",
        "mean",
        "adaptive",
        "centred",
        "z",
        "additive",
        "affine",
        "isotonic",
        "bradley-terry",
        "borda",
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(2))
def test_every_method_ranks_every_item_once_and_tells_all(
    method: str, seed: int
) -> None:
    ratings = conference(seed)
    result = rank(ratings, method=method, rng=seed)
    assert sorted(map(str, result.order)) == sorted(map(str, ratings.item_labels))
    assert tuple(row.item for row in result.items) == result.order
    assert [row.rank for row in result.items] == list(range(1, len(result.order) + 1))
    assert result.method == method
    assert result.seed == seed
    assert result.data == ratings.summary()
    given: dict[tuple[Label, Label], float] = {
        (reviewer, item): score for reviewer, item, score in rows_of(ratings)
    }
    for row in result.items:
        scores = [score for (_, item), score in given.items() if item == row.item]
        assert row.reviews == len(scores)
        assert row.mean_score == pytest.approx(np.mean(scores), abs=1e-12)
        assert row.spread == pytest.approx(np.std(scores, ddof=1), abs=1e-12)
    for draw in result.draws:
        assert draw.p_first == pytest.approx(told_again(draw, given, method), abs=1e-12)
        places = [result.order.index(item) for item in draw.items]
        assert draw.first == draw.items[int(np.argmin(places))]
        assert draw.reviewers[0] != draw.reviewers[1]


def told_again(
    draw: Draw, given: dict[tuple[Label, Label], float], method: str
) -> float:
    """Work out a draw's probability from what the result says of it."""
    a, b = draw.items
    ones, others = draw.reviewers[::2], draw.reviewers[1::2]
    gaps = []
    for number, (one, other) in enumerate(zip(ones, others, strict=True)):
        shared = draw.anchors[number] if draw.anchors else ()
        sheets = [[given[who, item] for item in shared] for who in (one, other)]
        spreads = [float(np.std(sheet)) if len(sheet) > 1 else 0.0 for sheet in sheets]
        scores = []
        for who, item, sheet, spread in zip(
            (one, other), (a, b), sheets, spreads, strict=True
        ):
            score = given[who, item] - (float(np.mean(sheet)) if sheet else 0.0)
            scores.append(score / spread if min(spreads) > 0 else score)
        gaps.append(scores[0] - scores[1])
    gap = float(np.mean(gaps))
    if method in ("ties", "safe"):
        return math.erfc(-gap / (2 * 0.3)) / 2
    return (1 + gap / (1 + abs(gap))) / 2


@pytest.mark.parametrize("method", PAIRWISE)
def test_every_comparison_is_respected(method: str) -> None:
    for seed in range(6):
        ratings = conference(seed)
        order = [
            ratings.item_code(item)
            for item in rank(ratings, method=method, rng=seed).order
        ]
        assert is_ordering(comparisons(ratings), order)


@pytest.mark.parametrize("method", ["flips", "flips-uniform"])
def test_no_reviewer_is_used_for_two_coins(method: str) -> None:
    coins = 0
    for seed in range(20):
        draws = rank(conference(seed), method=method, rng=seed).draws
        people = [reviewer for draw in draws for reviewer in draw.reviewers]
        assert len(people) == len(set(people))
        coins += len(draws)
    assert coins > 20


@settings(max_examples=25)
@given(
    st.sampled_from(METHODS),
    st.integers(0, 50),
    st.permutations(range(18)),
    st.integers(0, 2**53),
)
def test_shuffled_rows_give_the_same_bytes(
    method: str, world: int, shuffle: list[int], seed: int
) -> None:
    ratings = conference(2 * world)
    rows = rows_of(ratings)
    shuffled = from_rows([rows[index] for index in shuffle])
    texts = [
        json.dumps(rank(data, method=method, rng=seed).to_dict())
        for data in (ratings, shuffled)
    ]
    assert texts[0].encode() == texts[1].encode()


@pytest.mark.parametrize("method", METHODS)
def test_renaming_items_and_reviewers_renames_the_result(method: str) -> None:
    ratings = conference(1)
    renamed = from_rows(
        [(f"new {who}", f"new {item}", score) for who, item, score in rows_of(ratings)]
    )
    before = rank(ratings, method=method, rng=1)
    after = rank(renamed, method=method, rng=1)
    assert after.order == tuple(f"new {item}" for item in before.order)
    for old, new in zip(before.draws, after.draws, strict=True):
        assert new.items == tuple(f"new {item}" for item in old.items)
        assert new.reviewers == tuple(f"new {who}" for who in old.reviewers)
        assert (new.p_first, new.first) == (old.p_first, f"new {old.first}")


@pytest.mark.parametrize("method", ["flips", "flips-uniform", "twins"])
def test_shifting_every_score_changes_no_coin(method: str) -> None:
    ratings = conference(4)
    shifted = from_rows([(who, item, x + 64) for who, item, x in rows_of(ratings)])
    results = [rank(data, method=method, rng=7) for data in (ratings, shifted)]
    assert results[0].order == results[1].order
    assert results[0].draws == results[1].draws


def test_flips_uniform_starts_from_what_uniform_returns() -> None:
    for seed in range(20):
        ratings = conference(seed)
        start = rank(ratings, method="uniform", rng=seed).order
        result = rank(ratings, method="flips-uniform(scan=paper)", rng=seed)
        order = list(start)
        for draw in result.draws:
            place = order.index(draw.items[0])
            assert tuple(order[place : place + 2]) == draw.items
            if draw.first != draw.items[0]:
                order[place : place + 2] = draw.items[::-1]
        assert tuple(order) == result.order


def test_the_parity_scan_is_the_default_and_keeps_to_one_parity() -> None:
    parities: Counter[int] = Counter()
    for seed in range(12):
        ratings = conference(seed)
        start = rank(ratings, method="uniform", rng=seed).order
        result = rank(ratings, method="flips-uniform", rng=seed)
        assert result.parameters["scan"] == "parity"
        assert result == rank(ratings, method="flips-uniform(scan=parity)", rng=seed)
        found = {start.index(draw.items[0]) % 2 for draw in result.draws}
        assert len(found) <= 1
        parities.update(found)
    assert set(parities) == {0, 1}


def backwards(graph: Comparisons, _: np.random.Generator) -> NDArray[np.int64]:
    return np.arange(graph.n_items)[::-1]


def test_twins_take_any_start_and_flips_only_an_ordering() -> None:
    ratings = Ratings(["a", "a"], ["x", "y"], [9, 1])
    result = rank(ratings, method=Twins(start=backwards), rng=7)  # type: ignore[arg-type]  # read as one
    assert result.order == ("y", "x")
    assert result.parameters["start"] == "backwards()"
    assert result.parameters["own_function"] is True
    with pytest.raises(OptionError, match="start must respect every comparison"):
        rank(ratings, method=Flips(start=backwards), rng=7)  # type: ignore[arg-type]  # read as one
    forwards = Ratings(["a", "a"], ["x", "y"], [1, 9])
    flips = Flips(start=backwards)  # type: ignore[arg-type]  # read as one
    assert rank(forwards, method=flips, rng=7).order == ("y", "x")


def test_a_start_is_given_comparisons_and_a_generator_of_its_own() -> None:
    seen = []

    def shuffled(graph: Comparisons, generator: np.random.Generator) -> list[int]:
        assert isinstance(graph, Comparisons)
        order: list[int] = generator.permutation(graph.n_items).tolist()
        seen.append(order)
        return order

    ratings = Ratings(["a", "b", "c"], ["x", "y", "z"], [1, 2, 3])
    twins = Twins(start=shuffled)  # type: ignore[arg-type]  # read as one
    assert rank(ratings, method=twins, rng=7) == rank(ratings, method=twins, rng=7)
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "answer",
    [[0, 0], [0], [0.0, 1.0], ["x", "y"], [[0, 1]], [[0], [1, 2]], None, [1, 2]],
)
def test_a_start_must_return_each_item_once(answer: object) -> None:
    ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
    with pytest.raises(OptionError, match="each of the 2 items once, best first, got"):
        rank(ratings, method=Twins(start=lambda *_: answer))  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("start", ["borda", "bradley-terry", "mean-rank", "uniform"])
def test_twins_start_from_any_ordinal_method(start: str) -> None:
    # x and y are twins, and so are v and w.
    reviewers, items = list("aabbccdd"), list("xvyvxwyw")
    ratings = Ratings(reviewers, items, [3.1, 3, 3.2, 3, 2.2, 2, 2.1, 2])
    method = f"twins(start={start})"
    for seed in range(10):
        result = rank(
            ratings, method=method, design="balanced", distinct=True, rng=seed
        )
        assert result.parameters["start"] == start
        begun = rank(ratings, method=start, rng=seed).order
        order, drawn = settle_twins(
            ratings,
            comparisons(ratings),
            np.array([ratings.item_code(item) for item in begun]),
            rational(),
            stream(seed, "twins"),
        )
        assert result.order == tuple(ratings.item_labels[item] for item in order)
        assert len(result.draws) == len(drawn) == 2
        assert result.certificate is not None
        assert result.certificate.theorem == "paper 7"
        assert result.certificate.strict
        # Scores have settled what the start left open, so its estimates are gone.
        assert all(row.estimate is None for row in result.items)
        assert not {"tied_estimates", "tied_mean_ranks"} & {*codes(result.notices)}


@pytest.mark.parametrize("start", [Borda(), BradleyTerry()])
def test_flips_refuse_a_start_that_breaks_a_comparison(start: RankMethod) -> None:
    # x is above y, which is above three items; three items are above x.
    above, below = ["x", *"abc", *"yyy"], ["y", *"xxx", *"def"]
    pairs = list(zip(above, below, strict=True))
    reviewers = [who for who, _ in enumerate(pairs) for _ in "12"]
    items = [item for pair in pairs for item in pair]
    ratings = Ratings(reviewers, items, [2, 1] * len(pairs))
    begun = rank(ratings, method=start, rng=7).order
    assert begun.index("y") < begun.index("x")
    with pytest.raises(OptionError, match="for method 'flips', got a ranking that doe"):
        rank(ratings, method=Flips(start=start), rng=7)
    assert rank(ratings, method=Twins(start=start), rng=7).draws


def by_lot(ratings: Ratings, generator: np.random.Generator) -> NDArray[np.int64]:
    return generator.permutation(ratings.n_items)


def test_a_function_of_ones_own_is_a_method_without_a_guarantee() -> None:
    # Contradictory ratings are its own to make sense of.
    ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 2, 5, 3])
    results = [rank(ratings, method=by_lot, top=1, rng=seed) for seed in range(20)]
    assert {result.order for result in results} == {("x", "y"), ("y", "x")}
    assert results[7] == rank(ratings, method=by_lot, top=1, rng=7)
    assert results[7] == rank(ratings, method=OwnRanking(function=by_lot), top=1, rng=7)
    told = results[7].to_dict()
    assert told["method"] == "by_lot"
    declared = {"design": None, "distinct": False}
    assert told["parameters"] == {"own_function": True, **declared, "top": 1}
    found = rank(ratings, method=by_lot, design="balanced", distinct=True).certificate
    assert found is not None
    assert (found.theorem, found.strict) == ("none", False)
    assert found.sentence.startswith(
        "No guarantee: evenhand knows nothing about your own"
    )


def test_a_function_of_ones_own_takes_ranks_and_comparisons() -> None:
    for ratings in (
        Ratings.from_ranks(["a", "a"], ["x", "y"], [1, 2]),
        Ratings.from_comparisons(["x"], ["y"]),
    ):
        result = rank(ratings, method=lambda ratings, _: range(ratings.n_items)[::-1])
        assert result.order == ("y", "x")
        assert result.method == "<lambda>"


def test_a_function_of_ones_own_must_return_each_item_once() -> None:
    ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
    for wrong in ([0, 0], [0], [0.0, 1.0], ["x", "y"], None):
        words = "method <lambda> must return the code of each of the 2 items once, best"
        with pytest.raises(OptionError, match=words):
            rank(ratings, method=lambda *_, wrong=wrong: wrong)


def test_a_text_a_value_and_a_class_are_the_same_method() -> None:
    ratings = conference(3)
    given: list[str | RankMethod] = [
        "flips(start=mean-rank(mean_ranks=proxy), weight=rational(3))",
        Flips(start=MeanRank(mean_ranks="proxy"), weight=rational(3)),
        "flips( weight = 'rational(3)', start=mean-rank(mean_ranks='proxy') )",
    ]
    first, *others = (rank(ratings, method=method, rng=7) for method in given)
    assert others == [first, first]
    assert as_method(str(given[1]), RankMethod) == given[1]
    assert rank(ratings, method=Flips, rng=7) == rank(ratings, method="flips", rng=7)  # type: ignore[arg-type]  # a class will do


def test_a_uniform_start_is_used_when_asked_for() -> None:
    ratings = Ratings.from_comparisons(["x"], ["y"], all_items=["x", "y", "z"])
    scored = Ratings(["a", "a"], ["x", "y"], [2, 1], all_items=["x", "y", "z"])
    starts = {rank(ratings, method="uniform", rng=seed).order for seed in range(40)}
    assert len(starts) == 3
    orders = {
        rank(scored, method="flips(start=uniform)", rng=seed).order
        for seed in range(40)
    }
    assert orders == starts


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "mean(scan=paper)"}, "unknown option 'scan' of mean"),
        ({"method": "flips(scan=paper)"}, "unknown option 'scan' of flips"),
        ({"method": "flips(wait=3)"}, "did you mean 'weight'"),
        ({"method": "uniform(twins=all)"}, "unknown option 'twins' of uniform"),
        ({"method": "flip"}, "unknown method 'flip', did you mean 'flips'"),
        ({"method": "flips:3"}, "options in brackets, got 'flips:3'"),
        ({"method": "flips(3)"}, "options of flips must be named, got 'flips\\(3"),
        ({"method": "flips-uniform(scan=odd)"}, "scan must be one of 'paper'"),
        ({"method": "twins(twins=two)"}, "twins must be one of 'one', 'all', got"),
        ({"method": "twins(by=eye)"}, "by must be one of 'direct', 'closure'"),
        ({"method": "flips(start=mean)"}, "unknown start 'mean', did you mean 'mean-r"),
        ({"method": "flips(start=3)"}, "start must be a name or a function, got 3"),
        ({"method": "flips(weight=cubic)"}, "unknown weight 'cubic'"),
        ({"method": 3}, "method must be a name or a function, got 3"),
        ({"method": lambda _: [0]}, "a function of 2 arguments, the ratings and a Gen"),
        ({"design": "halves"}, "unknown design 'halves'"),
        ({"rng": -1}, "rng must be"),
    ],
)
def test_bad_options_are_refused_in_words(
    options: dict[str, object], words: str
) -> None:
    with pytest.raises(OptionError, match=words):
        rank(conference(1), **options)  # type: ignore[arg-type]  # on purpose


def test_something_else_than_ratings_is_refused() -> None:
    with pytest.raises(
        RatingsError, match="ratings must be a path, a Ratings or a dataframe, got list"
    ):
        rank([("a", "x", 1)])  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("method", [*COINS, "sorter", "ties", "safe", "mean"])
def test_cardinal_methods_refuse_ranks_and_comparisons(method: str) -> None:
    ranked = Ratings.from_ranks(["a", "a"], ["x", "y"], [1, 2])
    compared = Ratings.from_comparisons(["x"], ["y"])
    for ratings in (ranked, compared):
        with pytest.raises(RatingsError, match="a rank is never used as a score"):
            rank(ratings, method=method)


@pytest.mark.parametrize("method", ["topological", "uniform", "mean-rank"])
def test_ordinal_methods_take_ranks_and_show_no_score(method: str) -> None:
    ratings = Ratings.from_ranks(["a", "a", "b"], ["x", "y", "y"], [2, 1, 1])
    result = rank(ratings, method=method, rng=7)
    assert result.order == ("y", "x")
    assert [row.reviews for row in result.items] == [2, 1]
    assert {row.mean_score for row in result.items} == {None}
    assert {row.spread for row in result.items} == {None}


@pytest.mark.parametrize("method", [*PAIRWISE, "mean-rank", "sorter", "ties"])
def test_contradictions_are_refused_by_all_but_the_mean(method: str) -> None:
    ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 2, 5, 3])
    with pytest.raises(ContradictionError):
        rank(ratings, method=method)
    assert rank(ratings, method="mean", rng=7).order == ("x", "y")


def test_ties_within_a_reviewer_are_noticed_where_they_matter() -> None:
    ratings = Ratings(
        ["a", "a", "b", "b", "c", "c"], list("xyyzxy"), [3, 3, 5, 4, 7, 7]
    )
    for method in COINS:
        notices = rank(ratings, method=method, rng=7).notices
        (notice,) = [n for n in notices if n.code == "ties_within_reviewers"]
        assert "2 reviewers gave equal scores" in notice.message
        assert "void every ranking guarantee" in notice.message
    for method in ("topological", "uniform", "mean"):
        found = codes(rank(ratings, method=method, rng=7).notices)
        assert "ties_within_reviewers" not in found
    strict = rank(conference(1), method="flips", rng=7)
    assert "ties_within_reviewers" not in codes(strict.notices)


def test_equal_scores_by_different_reviewers_are_no_tie() -> None:
    ratings = Ratings(["a", "b"], ["x", "y"], [3, 3])
    assert "ties_within_reviewers" not in codes(
        rank(ratings, method="flips", rng=7).notices
    )


def test_separate_groups_are_counted() -> None:
    ratings = Ratings(list("aabbc"), list("vwxyz"), [1, 2, 3, 4, 5])
    for method in METHODS:
        notices = rank(ratings, method=method, rng=7).notices
        (notice,) = [
            n for n in notices if n.code in ("separate_groups", "unlinked_groups")
        ]
        assert "3 " in notice.message
        assert "groups" in notice.message
    joined = Ratings(list("aabb"), list("xyyz"), [4, 3, 2, 1])
    assert "separate_groups" not in codes(rank(joined, method="flips", rng=7).notices)


def test_without_a_free_pair_the_start_is_returned_with_a_notice() -> None:
    chain = Ratings(list("aabb"), list("xyyz"), [4, 3, 2, 1])
    for method in COINS:
        result = rank(chain, method=method, rng=7)
        assert result.order == ("x", "y", "z")
        assert result.draws == ()
        assert "no_free_pairs" in codes(result.notices)
    free = Ratings(["a", "b"], ["x", "y"], [1, 2])
    assert "no_free_pairs" not in codes(rank(free, method="flips", rng=7).notices)
    assert "no_free_pairs" not in codes(rank(chain, method="uniform", rng=7).notices)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_item_is_ranked_first(method: str) -> None:
    result = rank(Ratings(["a"], ["x"], [1]), method=method, rng=7)
    assert result.order == ("x",)
    assert result.items[0].spread is None


def test_tied_means_are_told_and_ordered_by_lot() -> None:
    ratings = Ratings(list("aabbcccc"), list("uvwxstyz"), [1, 1, 2, 2, 9, 9, 8, 7])
    result = rank(ratings, method="mean", rng=7)
    (notice,) = [n for n in result.notices if n.code == "tied_means"]
    assert notice.message.count(";") == 2
    orders = {
        tuple(by_estimates(item_means(ratings), seed, "mean").tolist())
        for seed in range(60)
    }
    assert len(orders) == 8
    distinct = rank(Ratings(["a", "a"], ["x", "y"], [1, 2]), method="mean", rng=7)
    assert "tied_means" not in codes(distinct.notices)


def test_many_groups_of_tied_means_are_cut_short() -> None:
    items = [f"{k}{side}" for k in range(5) for side in "ab"]
    scores = [k for k in range(5) for _ in "ab"]
    ratings = Ratings(["r"] * 10, items, scores)
    notice = rank(ratings, method="mean", rng=7).notices[-1]
    assert "and 2 groups more" in notice.message


def test_notices_of_the_ratings_come_along() -> None:
    import polars as pl  # noqa: PLC0415 - for one frame

    frame = pl.DataFrame(
        {"reviewer": ["a", "b"], "item": ["x", "y"], "score": [1, None]}
    )
    result = rank(Ratings.from_frame(frame), method="mean", rng=7)
    assert codes(result.notices)[:2] == ["missing_scores", "unrated_items"]


def test_parameters_are_the_options_that_were_used() -> None:
    ratings = conference(1)
    weight = {
        "name": "rational",
        "parameters": {"gamma": 2},
        "checked_on_grid": False,
    }
    cases: list[tuple[str, dict[str, object]]] = [
        ("mean", {}),
        ("uniform", {}),
        (
            "flips",
            {"start": "topological", "weight": weight},
        ),
        (
            "flips-uniform",
            {"scan": "parity", "weight": weight},
        ),
        (
            "sorter",
            {"weight": weight, "anchored": True},
        ),
        (
            "ties",
            {
                "start": "mean-rank",
                "mean_ranks": "exact",
                "samples": 0,
                "noise": 0.3,
                "anchored": True,
            },
        ),
        (
            "safe",
            {
                "mean_ranks": "exact",
                "samples": 0,
                "noise": 0.3,
                "anchored": True,
            },
        ),
        (
            "twins",
            {
                "start": "topological",
                "twins": "all",
                "by": "closure",
                "weight": weight,
            },
        ),
    ]
    for name, expected in cases:
        given = "(weight=rational(2))" if "weight" in expected else ""
        result = rank(ratings, method=f"{name}{given}", design="pairs", rng=7)
        declared = {"design": "pairs", "distinct": False}
        assert result.parameters == {**expected, **declared}


def test_a_heavier_weight_moves_the_coins() -> None:
    ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
    steep = Flips(weight=lambda gap: gap / (0.01 + gap))  # type: ignore[arg-type]  # read as one
    light, heavy = (
        rank(ratings, method=method, rng=7).draws[0].p_first
        for method in ("flips", steep)
    )
    assert light == 0.25
    assert heavy < 0.01


def test_closure_and_all_are_the_defaults_and_the_printed_ones_options() -> None:
    found = set()
    for seed in range(10):
        ratings = conference(seed)
        default = rank(ratings, method="twins", rng=seed)
        every = rank(ratings, method="twins(twins=all, by=closure)", rng=seed)
        assert default == every
        printed = rank(ratings, method="twins(twins=one, by=direct)", rng=seed)
        assert len(printed.draws) <= 1
        found.add((len(printed.draws), len(default.draws)))
    assert any(few < many for few, many in found)


def test_no_seed_draws_one_that_repeats_the_run() -> None:
    ratings = conference(2)
    first = rank(ratings)
    assert rank(ratings, rng=first.seed) == first
    assert rank(ratings).seed != first.seed


def test_all_orders_of_free_items_can_come_out() -> None:
    ratings = Ratings(list("abc"), list("xyz"), [1, 1, 1])
    orders = {
        rank(ratings, method="flips-uniform", rng=seed).order for seed in range(100)
    }
    assert orders == set(itertools.permutations("xyz"))

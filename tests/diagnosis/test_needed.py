import math

import numpy as np
import pytest

from evenhand.diagnosis import ladder, reviewers
from evenhand.diagnosis.check import check
from evenhand.diagnosis.reviewers import (
    DRAWS,
    GRID,
    Needed,
    Target,
    _Trial,
    fit_model,
    information,
)
from evenhand.errors import OptionError
from evenhand.randomness import standard_normal, stream, uniforms
from evenhand.ranking.ranking import rank
from evenhand.ratings import Ratings


@pytest.fixture(autouse=True)
def no_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes most of the time of a check: the ladder and redraws."""
    monkeypatch.setattr(ladder, "why_no_ladder", lambda _: "too_many")
    monkeypatch.setattr(reviewers, "REPLICATES", 5)


def scored(seed: int, noise: float, *, load: int = 6, n_items: int = 12) -> Ratings:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n_items)
    items = np.concatenate(
        [rng.choice(n_items, load, replace=False) for _ in range(14)]
    )
    who = np.repeat(np.arange(14), load)
    scores = values[items] + rng.normal(size=14)[who]
    noisy = scores + noise * rng.normal(size=len(who))
    return Ratings(who, items, noisy, all_items=range(n_items))


def needed(ratings: Ratings, top: int = 4) -> Needed:
    found = check(ratings, top=top, rng=7).needed
    assert found is not None
    return found


def two(
    means: tuple[float, float], errors: tuple[float, float], worth: float
) -> _Trial:
    normal = standard_normal(uniforms(stream(7, "two"), (2, DRAWS, 2)))
    return _Trial(np.array(means), np.array(errors), worth, 1, normal)


def test_two_equal_items_are_ordered_as_often_as_theory_says() -> None:
    """With correlation r of truth and estimate both have one sign in 1/2 + asin(r)/pi.

    Each item has the prior variance 4; m reviews worth 0.5 each explain the share
    r^2 = 2m / (1 + 2m) of it.
    """
    trial = two((0.0, 0.0), (2.0, 2.0), 0.5)
    for more in (1, 3, 20):
        chance, error, side, _ = trial.chances(more)
        expected = 0.5 + math.asin(math.sqrt(2 * more / (1 + 2 * more))) / math.pi
        # Five standard errors: a correct build fails for one seed in 1.7 million.
        assert abs(chance - expected) < 5 * error
        assert side == chance


# It is the printed order that is right or not, even if the model has the second first.
@pytest.mark.parametrize("gap", [1.0, -1.0])
def test_without_further_reviews_the_order_is_as_sure_as_the_model_says(
    gap: float,
) -> None:
    chance, error, side, _ = two((gap, 0.0), (0.6, 0.8), 1.0).chances(0)
    expected = 0.5 * (1 + math.erf(gap / math.sqrt(2)))
    assert abs(chance - expected) < 5 * error
    assert side == chance


def test_a_target_is_the_fewest_reviews_that_reach_it() -> None:
    trial = two((0.0, 0.0), (2.0, 2.0), 0.5)
    found = trial.target(0.8, 0)
    assert found.reviews is not None
    assert trial.chances(found.reviews)[0] >= 0.8 > trial.chances(found.reviews - 1)[0]
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.reviews <= found.high
    # 1/2 + asin(r)/pi = 0.8 at r^2 = sin(0.3 pi)^2 = 2m / (1 + 2m): m = 0.947.
    assert found.low <= 1 <= found.high


def test_what_a_hundred_reviews_do_not_reach_is_said() -> None:
    found = two((0.0, 0.0), (0.01, 0.01), 0.5).target(0.95, 0)
    assert found == Target(0.95, None, None, None)


def test_noisier_ratings_need_more_reviews() -> None:
    quiet, noisy = (needed(scored(1, noise)) for noise in (0.3, 1.5))
    first, second = quiet.side[0].reviews, noisy.side[0].reviews
    assert first is not None
    assert second is None or second > first


def test_more_reviews_never_do_harm() -> None:
    curve = needed(scored(2, 1.0)).curve
    assert [row["reviews"] for row in curve] == list(GRID)
    for which in ("pair", "side"):
        chances = np.array([row[which] for row in curve])
        errors = np.array([row[f"{which}_se"] for row in curve])
        assert (np.diff(chances) > -5 * errors[1:] - 1e-12).all()
        assert chances[-1] > chances[0]


def test_the_items_at_the_cut_are_those_of_the_order_that_rank_prints() -> None:
    for seed in range(2):
        ratings = scored(seed, 1.0)
        order = rank(ratings, rng=7).order
        for top in (1, 5, ratings.n_items - 1):
            found = check(ratings, top=top, rng=7).needed
            assert found is not None
            assert (found.above, found.below) == order[top - 1 : top + 1]
            assert 2 <= found.near <= ratings.n_items


def test_the_order_of_another_method_says_who_is_at_the_cut() -> None:
    ratings = scored(1, 1.0)
    order = rank(ratings, method="mean", rng=7).order[::-1]
    found = check(ratings, top=5, order=order, rng=7).needed
    assert found is not None
    assert (found.above, found.below) == order[4:6]
    with pytest.raises(OptionError, match="order must hold every item once"):
        check(ratings, top=5, order=order[1:], rng=7)


def test_a_review_is_worth_less_where_its_reviewer_rates_little() -> None:
    model = fit_model(scored(4, 0.5, load=2))
    parts = model.mixed.variances
    # Of 12 items 2: E = (1 - 1/2) / (1 - 1/12) = 6/11.
    expected = (6 / 11) / parts.rest + (5 / 11) / (parts.rest + 2 * parts.reviewer)
    assert information(model) == pytest.approx(expected)
    everything = fit_model(scored(4, 0.5, load=12))
    assert information(everything) == pytest.approx(1 / everything.mixed.variances.rest)


def test_items_that_do_not_differ_have_no_answer() -> None:
    ratings = Ratings(list("aaabbb"), list("xyz") * 2, [1, 2, 3, 3, 2, 1])
    assert check(ratings, top=1, rng=7).needed is None


def test_many_items_are_looked_at_around_the_cut_only() -> None:
    found = needed(scored(5, 0.5, load=60, n_items=250), top=125)
    assert found.top == 125
    assert found.near <= 200

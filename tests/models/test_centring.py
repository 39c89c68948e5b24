"""Scores relative to their reviewer's own."""

import numpy as np
import pytest
from hypothesis import given, settings

from evenhand.errors import RatingsError
from evenhand.models.means import centred_means, z
from evenhand.ratings import Ratings
from tests.strategies import any_ratings


@settings(max_examples=50)
@given(any_ratings())
def test_centred_and_z_are_plain_averages_of_deviations(ratings: Ratings) -> None:
    if len(set(ratings.item_codes.tolist())) < ratings.n_items:
        with pytest.raises(RatingsError, match="at least one rating each"):
            centred_means(ratings)
        with pytest.raises(RatingsError, match="for method 'z'"):
            z(ratings)
        return
    own: dict[int, list[float]] = {}
    pairs = zip(ratings.reviewer_codes.tolist(), ratings.scores.tolist(), strict=True)
    for reviewer, score in pairs:
        own.setdefault(reviewer, []).append(score)
    plain: list[list[float]] = [[] for _ in range(ratings.n_items)]
    standard: list[list[float]] = [[] for _ in range(ratings.n_items)]
    rows = zip(ratings.reviewer_codes, ratings.item_codes, ratings.scores, strict=True)
    for reviewer, item, score in rows:
        scores = own[int(reviewer)]
        if len(scores) > 1:
            away = float(score) - np.mean(scores)
            spread = np.std(scores, ddof=1)
            plain[item].append(float(away))
            standard[item].append(float(away / spread) if spread > 0 else 0.0)
    for fit, wanted in ((centred_means(ratings), plain), (z(ratings), standard)):
        means = [float(np.mean(values)) if values else 0.0 for values in wanted]
        assert fit.estimates == pytest.approx(means, abs=1e-12)


def test_reviewers_of_one_item_say_nothing_and_are_named() -> None:
    ratings = Ratings(["a", "a", "b"], ["x", "y", "y"], [1, 3, 900])
    for fit in (centred_means(ratings), z(ratings)):
        assert fit.estimates[0] == -fit.estimates[1]
        assert "one_rating_reviewers" in [notice.code for notice in fit.notices]


def test_reviewers_without_spread_count_as_zero_and_are_named() -> None:
    ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [0.1, 0.1, 1, 3])
    fit = z(ratings)
    assert fit.estimates == pytest.approx([-(0.5**0.5) / 2, 0.5**0.5 / 2])
    assert "1 reviewer gave all their items the same score" in fit.notices[-1].message
    assert fit.slopes is not None
    assert fit.slopes[0] == 0


def test_a_reviewer_who_gave_only_zeros_counts_as_zero() -> None:
    # What rounding leaves of zeros beside other scores is no spread.
    reviewers = [who for who in "abcde" for _ in range(3)]
    scores = [0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0]
    fit = z(Ratings(reviewers, ["x", "y", "z"] * 5, scores))
    assert fit.slopes is not None
    assert fit.slopes[0] == 0
    others = z(Ratings(reviewers[3:], ["x", "y", "z"] * 4, scores[3:]))
    assert fit.estimates == pytest.approx(others.estimates * 4 / 5)

"""What every model does on data at the edge, and what must not matter to any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from evenhand.models.adaptive import adaptive
from evenhand.models.additive import additive
from evenhand.models.affine import affine
from evenhand.models.bradley_terry import borda, bradley_terry
from evenhand.models.design import Fit
from evenhand.models.isotonic import isotonic
from evenhand.models.means import centred_means, z
from evenhand.ratings import Ratings
from tests.models.test_additive import noisy
from tests.strategies import any_ratings

Model = Callable[[Ratings], Fit]

MODELS: dict[str, Model] = {
    "adaptive": adaptive,
    "additive": additive,
    "affine": affine,
    "isotonic": isotonic,
    "bradley-terry": bradley_terry,
    "borda": borda,
    "centred": centred_means,
    "z": z,
}
# Values change with the scores' unit in these; in the others they do not.
IN_UNITS = ("additive", "affine", "centred")
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
many = 10_000

ODD = {
    "one rating": Ratings(["a"], ["x"], [3]),
    "one reviewer": Ratings(["a"] * 4, [1, 2, 3, 4], [1, 2, 2, 9]),
    "one item": Ratings(["a", "b", "c"], ["x"] * 3, [1, 2, 9]),
    "equal scores": Ratings([1, 1, 2, 2], ["x", "y", "y", "z"], [5, 5, 5, 5]),
    "flat reviewer": Ratings([1, 1, 2, 2], ["x", "y", "x", "y"], [0.1, 0.1, 1, 2]),
    "two groups": Ratings(
        [1, 1, 2, 2, 3, 3], ["x", "y", "x", "y", "u", "v"], [1, 2, 2, 3, 9, 8]
    ),
    "outlier": Ratings([1, 1, 2, 2, 3, 3], list("xyyzzx"), [1, 2, 2, 1e300, 3, 1]),
    "largest floats": Ratings(
        [1, 1, 2, 2, 3, 3], list("xyyzzx"), [1.7e308, -1.7e308, 0, 1e308, -1e308, 1]
    ),
    "tiny scores": Ratings([1, 1, 2, 2], list("xyyz"), [5e-324, 0, 1e-320, 0]),
    "one rating each": Ratings(
        range(many),
        [code % 7 for code in range(many)],
        [code % 5 for code in range(many)],
    ),
    "nobody meets": Ratings([1, 2, 3], ["x", "y", "z"], [1, 5, 3]),
}


@every_model
@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_odd_data_give_finite_values(model: Model, data: Ratings) -> None:
    fit = model(data)
    assert len(fit.estimates) == len(fit.groups) == data.n_items
    for values in (fit.estimates, fit.errors, fit.offsets, fit.slopes):
        assert values is None or np.isfinite(values).all()
    if fit.errors is not None:
        assert (fit.errors >= 0).all()
    if fit.variances is not None:
        parts = (fit.variances.reviewer, fit.variances.item, fit.variances.rest)
        assert np.isfinite(parts).all()
        assert 0 <= fit.variances.shares[0] <= 1
    assert not fit.estimates.flags.writeable


@every_model
def test_equal_scores_leave_all_items_equal(model: Model) -> None:
    fit = model(ODD["equal scores"])
    assert len(set(fit.estimates.tolist())) == 1
    assert "equal_scores" in [notice.code for notice in fit.notices]


@pytest.mark.parametrize(
    "model",
    [adaptive, affine, additive, isotonic],
    ids=["adaptive", "affine", "additive", "isotonic"],
)
def test_one_reviewer_orders_items_by_score(model: Model) -> None:
    fit = model(ODD["one reviewer"])
    assert fit.estimates[0] < fit.estimates[1] == fit.estimates[2] < fit.estimates[3]


@pytest.mark.parametrize("name", ["adaptive", "additive", "affine", "isotonic"])
def test_single_ratings_are_compared_as_they_are(name: str) -> None:
    data = ODD["one rating each"]
    means = np.bincount(data.item_codes, data.scores) / np.bincount(data.item_codes)
    fit = MODELS[name](data)
    assert "one_rating_reviewers" in [notice.code for notice in fit.notices]
    gaps = np.diff(fit.estimates[np.argsort(means, kind="stable")])
    assert (gaps >= 0).all()


@every_model
def test_two_groups_are_named(model: Model) -> None:
    fit = model(ODD["two groups"])
    assert fit.groups.tolist() == [0, 0, 1, 1] or fit.groups.tolist() == [1, 1, 0, 0]
    (notice,) = (one for one in fit.notices if one.code == "unlinked_groups")
    assert "2 groups" in notice.message


@pytest.mark.parametrize("name", [*IN_UNITS, "z"])
def test_an_outlier_is_named(name: str) -> None:
    fit = MODELS[name](ODD["outlier"])
    assert "extreme_score" in [notice.code for notice in fit.notices]


@every_model
@settings(max_examples=15)
@given(ratings=any_ratings(max_items=5, max_reviewers=5))
def test_names_and_row_order_do_not_matter(model: Model, ratings: Ratings) -> None:
    if len(set(ratings.item_codes.tolist())) < ratings.n_items:
        return
    renamed = Ratings(
        [f"r{9 - code}" for code in ratings.reviewer_codes[::-1].tolist()],
        [f"i{9 - code}" for code in ratings.item_codes[::-1].tolist()],
        ratings.scores[::-1],
    )
    first, second = model(ratings), model(renamed)
    back = second.estimates[::-1]
    scale = max(1.0, float(np.abs(first.estimates).max()))
    # On a handful of ratings the likelihood may be flat near its top.
    loose = 1e-3 if first.method in ("affine", "isotonic") else 1e-6
    assert np.allclose(first.estimates, back, rtol=0, atol=loose * scale)
    # Ties are ties under any names.
    one, other = (
        np.sign(values[:, None] - values) for values in (first.estimates, back)
    )
    assert np.array_equal(one, other)


@every_model
def test_shift_and_scale_of_all_scores_do_not_matter(model: Model) -> None:
    ratings = noisy(9, 14, 3, seed=2)
    moved = Ratings(
        ratings.reviewer_codes, ratings.item_codes, 1000 + 3 * ratings.scores
    )
    first, second = model(ratings), model(moved)
    factor = 3 if first.method in IN_UNITS else 1
    assert np.allclose(factor * first.estimates, second.estimates, atol=1e-5)


@pytest.mark.parametrize("name", ["centred", "borda", "bradley-terry", "z"])
def test_offsets_of_reviewers_do_not_matter(name: str) -> None:
    ratings = noisy(9, 14, 3, seed=2)
    offsets = np.arange(14.0)[ratings.reviewer_codes] ** 2
    moved = Ratings(
        ratings.reviewer_codes, ratings.item_codes, ratings.scores + offsets
    )
    first, second = MODELS[name](ratings), MODELS[name](moved)
    assert np.allclose(first.estimates, second.estimates, atol=1e-9)

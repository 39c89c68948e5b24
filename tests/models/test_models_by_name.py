"""Models by the names that `rank` knows them by."""

import pytest

from evenhand.errors import RatingsError
from evenhand.method import methods
from evenhand.ranking.methods import Model
from evenhand.ratings import Ratings

MODELS = [method for method in methods("rank") if issubclass(method, Model)]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


@every_model
def test_a_fit_carries_its_models_name(model: type[Model]) -> None:
    fit = model().fit(Ratings([1, 1], ["x", "y"], [1, 2]))
    assert fit.method == model.name


@every_model
def test_ranks_are_taken_or_refused_in_words(model: type[Model]) -> None:
    ranked = Ratings.from_ranks([1, 1], ["x", "y"], [1, 2])
    if not model.needs_scores:
        better, worse = model().fit(ranked).estimates
        assert better > worse
    else:
        with pytest.raises(RatingsError, match="needs scores"):
            model().fit(ranked)

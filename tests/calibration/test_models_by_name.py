"""Models by the names that `rank` knows them by."""

import pytest

from evenhand.calibration.models import MODELS, ORDINAL, model
from evenhand.errors import OptionError, RatingsError
from evenhand.ratings import Ratings


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_carries_its_models_name(name: str) -> None:
    assert model(name)(Ratings([1, 1], ["x", "y"], [1, 2])).method == name


@pytest.mark.parametrize("name", MODELS)
def test_ranks_are_taken_or_refused_in_words(name: str) -> None:
    ranked = Ratings.from_ranks([1, 1], ["x", "y"], [1, 2])
    if name in ORDINAL:
        better, worse = model(name)(ranked).estimates
        assert better > worse
    else:
        with pytest.raises(RatingsError, match="needs scores"):
            model(name)(ranked)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(OptionError, match="did you mean 'isotonic'"):
        model("isotonik")

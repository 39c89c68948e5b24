"""Models on simulated noisy ratings, against figures that were worked out elsewhere."""

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import simulate
from evenhand.models.bradley_terry import maximise, pairs_of, wins
from evenhand.ratings import Ratings

PAIRS = 66


def least_squares(ratings: Ratings, _: np.random.Generator) -> NDArray[np.intp]:
    people = np.eye(ratings.n_reviewers)[ratings.reviewer_codes]
    items = np.eye(ratings.n_items)[ratings.item_codes]
    found = np.linalg.lstsq(np.hstack([people, items]), ratings.scores)[0]
    values = found[ratings.n_reviewers :].round(9)
    return np.argsort(-values, kind="stable")


def weak_prior(ratings: Ratings, _: np.random.Generator) -> NDArray[np.intp]:
    once = np.ones(ratings.n_reviewers)
    values = maximise(pairs_of(ratings, once), wins(ratings, once), 0.01)[0]
    return np.argsort(-values.round(9), kind="stable")


# Share of pairs in the wrong order: 12 items, 4 items a reviewer, 4 reviews an item,
# values normal with SD 1. Of scales, those that are defined there: as they are, and
# with a normal offset (SD 2 here).
EXPECTED = {
    ("identity", "none"): {
        "mean": 0.0,
        "centred": 0.068,
        "z": 0.077,
        "least_squares": 0.0,
        "weak_prior": 0.028,
        "mean-rank": 0.025,
    },
    ("bias:2", "normal:0.5"): {
        "mean": 0.227,
        "centred": 0.106,
        "z": 0.116,
        "least_squares": 0.089,
        "weak_prior": 0.114,
    },
}


@pytest.mark.parametrize(("scales", "noise"), list(EXPECTED))
def test_the_table_of_models_is_met_within_error(scales: str, noise: str) -> None:
    expected = EXPECTED[scales, noise]
    scenario = Scenario(
        job="rank",
        items=12,
        reviewers=12,
        design="balanced",
        per_reviewer=4,
        scales=scales,
        noise=noise,
        values="normal:0:1",
    )
    own = {"least_squares": least_squares, "weak_prior": weak_prior}
    methods = [own.get(name, name) for name in expected]
    found = simulate(scenario, methods, losses="kendall", trials=128, rng=2019)
    for row in found.rows:
        # Six standard errors, and half a unit of the printed figure: one in a hundred
        # million for each.
        slack = 6 * row.se / PAIRS + 0.0005
        assert abs(row.risk / PAIRS - expected[row.method]) <= slack, row

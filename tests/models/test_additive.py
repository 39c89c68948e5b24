"""Offsets of reviewers and values of items."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from evenhand.models import additive as room
from evenhand.models import solver
from evenhand.models.additive import additive
from evenhand.models.design import Fit, build_matrix
from evenhand.ratings import Ratings

Table = NDArray[np.float64]


def noisy(
    n_items: int,
    n_reviewers: int,
    load: int,
    seed: int,
    *,
    offset: float = 0.7,
    weighted: bool = False,
) -> Ratings:
    source = np.random.default_rng(seed)
    reviewers = np.repeat(np.arange(n_reviewers), load)
    items = np.concatenate(
        [source.permutation(n_items)[:load] for _ in range(n_reviewers)]
    )
    scores = (
        3
        + source.normal(size=n_items)[items]
        + offset * source.normal(size=n_reviewers)[reviewers]
        + 0.8 * source.normal(size=len(items))
    )
    weights = source.integers(1, 4, len(items)) if weighted else None
    return Ratings(reviewers, items, scores, all_items=range(n_items), weights=weights)


class Dense:
    """The restricted likelihood as a textbook writes it, with an N x N covariance."""

    def __init__(self, ratings: Ratings) -> None:
        self.y = ratings.scores
        self.reviewers = np.eye(ratings.n_reviewers)[ratings.reviewer_codes]
        self.items = np.eye(ratings.n_items)[ratings.item_codes]
        weights = np.ones(len(self.y)) if ratings.weights is None else ratings.weights
        self.noise = np.diag(weights.mean() / weights)

    def parts(self, variances: Table) -> tuple[Table, Table, float]:
        reviewer, item, rest = variances
        covariance = (
            reviewer * self.reviewers @ self.reviewers.T
            + item * self.items @ self.items.T
            + rest * self.noise
        )
        inverse = np.linalg.inv(covariance)
        ones = np.ones(len(self.y))
        total = float(ones @ inverse @ ones)
        projection = inverse - np.outer(inverse @ ones, ones @ inverse) / total
        determinant = float(np.linalg.slogdet(covariance)[1]) + float(np.log(total))
        return projection, covariance, determinant

    def minus_twice(self, variances: Table) -> float:
        projection, _, determinant = self.parts(variances)
        return float(self.y @ projection @ self.y) + determinant

    def best(self) -> Table:
        found = minimize(
            lambda logs: self.minus_twice(np.exp(logs)),
            np.log([0.3, 1.0, 0.6]),
            method="Nelder-Mead",
            options={"xatol": 1e-7, "fatol": 1e-11, "maxiter": 4000},
        )
        return np.asarray(np.exp(found.x))


def test_reml_equals_analysis_of_variance_on_balanced_data() -> None:
    # Searle, Casella and McCulloch (1992), section 4.4: with every cell filled once and
    # positive estimates, REML is (MS reviewer - MS rest) / items and so on.
    source = np.random.default_rng(5)
    p, q = 12, 9
    scores = (
        source.normal(size=(p, 1))
        + 2 * source.normal(size=q)
        + source.normal(size=(p, q))
    )
    reviewers, items = np.divmod(np.arange(p * q), q)
    fit = additive(Ratings(reviewers, items, scores.ravel()))
    centre, rows, columns = scores.mean(), scores.mean(axis=1), scores.mean(axis=0)
    by_rows = q * ((rows - centre) ** 2).sum() / (p - 1)
    by_columns = p * ((columns - centre) ** 2).sum() / (q - 1)
    left = scores - rows[:, None] - columns + centre
    rest = (left**2).sum() / ((p - 1) * (q - 1))
    wanted = ((by_rows - rest) / q, (by_columns - rest) / p, rest)
    assert min(wanted) > 0
    assert three(fit) == pytest.approx(wanted, rel=1e-9)


def three(fit: Fit) -> Table:
    parts = fit.variances
    assert parts is not None
    return np.array([parts.reviewer, parts.item, parts.rest])


# With fewer reviewers than items the reviewers are kept, otherwise the items.
SIZES = [(8, 14, 3, 1), (12, 5, 6, 5), (5, 12, 3, 3)]
DATA = [noisy(*sizes) for sizes in SIZES] + [noisy(10, 12, 5, 11, weighted=True)]


@pytest.mark.parametrize("ratings", [*(noisy(8, 14, 3, i) for i in (0, 2, 3)), *DATA])
def test_reml_maximises_the_dense_likelihood(ratings: Ratings) -> None:
    fit = additive(ratings)
    found = three(fit)
    dense = Dense(ratings)
    best = dense.best()
    assert fit.converged
    # Where a variance is 0 the search in logarithms only comes near it.
    assert dense.minus_twice(found) <= dense.minus_twice(best) + 1e-7
    assert np.allclose(found, best, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("ratings", DATA)
def test_predictions_and_their_errors_are_the_textbook_ones(ratings: Ratings) -> None:
    fit, size = additive(ratings), ratings.n_items
    assert fit.errors is not None
    assert fit.offsets is not None
    parts = three(fit)
    dense = Dense(ratings)
    projection, _, _ = dense.parts(parts)
    weighted = projection @ ratings.scores
    items = parts[1] * dense.items.T @ weighted
    reviewers = parts[0] * dense.reviewers.T @ weighted
    inner = dense.items.T @ projection @ dense.items
    covariance = parts[1] * np.eye(size) - parts[1] ** 2 * inner
    away = np.eye(size) - 1 / size
    errors = np.sqrt(np.diag(away @ covariance @ away))
    assert np.allclose(fit.estimates, items, rtol=1e-8)
    assert np.allclose(fit.offsets, reviewers, rtol=1e-8)
    assert np.allclose(fit.errors, errors, rtol=1e-8)


def test_reml_by_passes_agrees_with_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = noisy(150, 300, 4, seed=4)
    by_table = additive(ratings)
    monkeypatch.setattr(solver, "TABLE", 1)
    by_passes = additive(ratings)
    assert by_passes.variances is not None
    assert by_table.variances is not None
    # Traces come from fixed probes, so this is what they reach, not a chance bound.
    assert by_passes.variances.item == pytest.approx(by_table.variances.item, rel=0.01)
    share = by_table.variances.shares[0]
    assert by_passes.variances.shares[0] == pytest.approx(share, abs=0.005)
    spread = float(by_table.estimates.std())
    assert np.abs(by_passes.estimates - by_table.estimates).max() < 0.02 * spread
    assert by_passes.errors is not None
    assert by_table.errors is not None
    assert np.abs(by_passes.errors / by_table.errors - 1).max() < 0.1


def equations(ratings: Ratings) -> tuple[room.Equations, room.Sums]:
    system = room.Equations(build_matrix(ratings))
    return system, system.links.add_up(ratings.scores)


def test_passes_solve_the_same_equations_as_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ratings, ratios = noisy(30, 40, 3, seed=6), np.array([0.4, 1.7])
    table, sums = equations(ratings)
    monkeypatch.setattr(solver, "TABLE", 1)
    passes, _ = equations(ratings)
    assert passes.kept_items == table.kept_items
    for system in (passes, table):
        system.at(ratios)
    found, squared = passes.predict(sums, 1e-12)
    assert np.allclose(found, table.predict(sums)[0], rtol=1e-9)
    assert squared == pytest.approx(table.predict(sums)[1], rel=1e-9)
    right = table.links.pull(sums, 0.4)[:, None]
    assert np.allclose(passes.product(found[:, None]), right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ratios", [[0.3, 1.0], [2.0, 0.1], [0.02, 5.0]])
def test_derivatives_are_those_of_differences(ratios: list[float]) -> None:
    (system, sums), at = equations(noisy(8, 14, 3, seed=2)), np.array(ratios)
    steps = np.diag(1e-4 * at)
    here = system.likelihood(sums, at)
    ends = [
        (system.likelihood(sums, at + step), system.likelihood(sums, at - step))
        for step in steps
    ]
    widths = 2 * steps.sum(axis=1)
    plain = [float((one.value - two.value)[0]) for one, two in ends] / widths
    assert here.slope[:, 0] == pytest.approx(plain, rel=1e-6, abs=1e-6)
    rows = np.array([(one.slope - two.slope)[:, 0] for one, two in ends])
    plain = rows / widths[:, None]
    assert here.curvature[..., 0] == pytest.approx(plain, rel=1e-6, abs=1e-6)
    assert np.allclose(here.otherwise[0, 1], here.otherwise[1, 0])


@pytest.mark.parametrize("seed", range(5))
def test_the_search_ends_where_the_slope_is_nothing(seed: int) -> None:
    ratings = noisy(9, 14, 4, seed)
    system, sums = equations(ratings)
    mixed = system.fit(ratings.scores)
    ratios, converged = mixed.ratios, mixed.converged
    assert ratios is not None
    here = system.likelihood(sums, ratios)
    inside = (ratios > room.LEAST) & (ratios < room.MOST)
    assert converged
    assert inside.any()
    errors = here.slope[:, 0] / np.diag(here.curvature[..., 0]) / ratios
    assert np.abs(errors[inside]).max() < 1e-8


def test_no_offsets_are_found_where_there_are_none() -> None:
    reviewers, items = np.divmod(np.arange(40), 8)
    # Each reviewer's scores have the same mean, so the offsets' estimate is 0.
    scores = np.array([[(i + 3 * j) % 8 for i in range(8)] for j in range(5)]).ravel()
    fit = additive(Ratings(reviewers, items, scores))
    assert fit.variances is not None
    assert fit.offsets is not None
    assert fit.variances.reviewer == 0.0
    assert np.abs(fit.offsets).max() < 1e-4


def test_scores_without_noise_are_recovered() -> None:
    ratings = noisy(8, 14, 3, seed=1)
    values, offsets = np.arange(8.0), np.linspace(-3, 3, 14)
    scores = values[ratings.item_codes] + offsets[ratings.reviewer_codes]
    clean = Ratings(ratings.reviewer_codes, ratings.item_codes, scores)
    fit = additive(clean)
    # The rest is held at a thousandth of the larger variance, and that is said.
    assert np.allclose(fit.estimates, values - 3.5, atol=5e-3)
    assert [notice.code for notice in fit.notices] == ["no_noise"]
    assert fit.variances is not None
    assert fit.variances.shares[0] == pytest.approx(0.4, abs=0.1)

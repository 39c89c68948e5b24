"""Jobs that fit a model to ratings: Bradley-Terry and additive offsets."""

from __future__ import annotations

import contextlib
import io
from importlib import import_module
from types import SimpleNamespace as Data
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

import evenhand as eh
from bench.measure import Job, Side, agreed
from bench.orders import ARGSORT, distinct
from evenhand.calibration.additive import additive
from evenhand.calibration.bradley_terry import PRIOR_PRECISION, bradley_terry

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.calibration.results import Fit

Floats = NDArray[np.float64]
LOAD = 10
RATINGS = (10_000, 100_000, 1_000_000, 10_000_000)
FEW = (500, 1_000, 2_000, 4_000)
# Ratings up to which peers with a table of all pairs of items are asked.
TABLES = 10_000
SHOWN_ITEMS = 100_000
GIBIBYTES = 8 * SHOWN_ITEMS**2 / 2**30


def _ratings(size: int) -> Data:
    """Ten ratings by each reviewer and about ten of each item; no ties.

    Noise is large enough for every item to win and to lose, without which there is no
    Bradley-Terry fit without a prior.
    """
    rng = np.random.default_rng(1)
    items = size // LOAD
    rows = distinct(rng, size // LOAD, LOAD, items)
    noise = 3 * rng.normal(size=rows.shape)
    scores = rng.normal(size=items)[rows] + rng.normal(size=(len(rows), 1)) + noise
    people = np.repeat(np.arange(len(rows)), LOAD)
    ratings = eh.Ratings(people, rows.ravel(), scores.ravel())
    data = Data(ratings=ratings, rows=rows, scores=scores, doubles=rng.random(size))
    data.items = ratings.n_items
    data.seen = np.array(ratings.item_labels)
    if size <= TABLES:
        one, two = np.triu_indices(LOAD, 1)
        won = scores[:, one] > scores[:, two]
        data.winners = np.where(won, rows[:, one], rows[:, two]).ravel()
        data.losers = np.where(won, rows[:, two], rows[:, one]).ravel()
    return data


def _choix(data: Data) -> Floats:
    choix = import_module("choix")
    games = list(zip(data.winners.tolist(), data.losers.tolist(), strict=True))
    # Its penalty is alpha times the sum of squares, half a precision.
    alpha = PRIOR_PRECISION / 2
    values: Floats = choix.opt_pairwise(data.seen.max() + 1, games, alpha=alpha)
    return np.asarray(values[data.seen])


def _evalica(data: Data) -> Floats:
    evalica = import_module("evalica")
    names = data.winners.tolist(), data.losers.tolist()
    found = evalica.bradley_terry(*names, [evalica.Winner.X] * len(data.winners))
    return np.asarray(found.scores.reindex(data.seen))


def _crowdkit(data: Data) -> Floats:
    model = import_module("crowdkit.aggregation").BradleyTerry(n_iter=100)
    columns = {"left": data.winners, "right": data.losers, "label": data.winners}
    columns["worker"] = np.repeat(np.arange(len(data.rows)), LOAD * (LOAD - 1) // 2)
    found = model.fit_predict(import_module("pandas").DataFrame(columns))
    return np.asarray(found.reindex(data.seen))


def _openskill(data: Data) -> Floats:
    model = import_module("openskill.models").PlackettLuce()
    ratings = {item: model.rating() for item in data.seen.tolist()}
    for row, scores in zip(data.rows.tolist(), data.scores.tolist(), strict=True):
        rated = model.rate([[ratings[item]] for item in row], scores=scores)
        ratings.update((item, team[0]) for item, team in zip(row, rated, strict=True))
    return np.array([rating.mu for rating in ratings.values()])


def _lsqr(data: Data) -> Floats:
    sparse, linalg = import_module("scipy.sparse"), import_module("scipy.sparse.linalg")
    ratings = data.ratings
    size, people = ratings.n_ratings, ratings.n_reviewers
    at = np.concatenate([ratings.reviewer_codes, people + ratings.item_codes])
    rows = np.tile(np.arange(size), 2)
    table = sparse.csr_array((np.ones(2 * size), (rows, at)))
    # At this tolerance its gradient is as small as ours.
    found = linalg.lsqr(table, ratings.scores, atol=1e-12, btol=1e-12)[0][people:]
    return np.asarray(found - found.mean())


def _sureal(data: Data) -> Floats:
    reader = import_module("sureal.dataset_reader").RawDatasetReader
    models = import_module("sureal.subjective_model")
    votes: dict[int, dict[str, float]] = {item: {} for item in data.seen.tolist()}
    for person, row in enumerate(data.rows.tolist()):
        for item, score in zip(row, data.scores[person].tolist(), strict=True):
            votes[item][str(person)] = score
    clips = [
        {"content_id": 0, "asset_id": item, "path": "", "os": scores}
        for item, scores in votes.items()
    ]
    shared = {"dataset_name": "bench", "yuv_fmt": "", "width": 1, "height": 1}
    source = Data(
        ref_videos=[{"content_id": 0, "path": ""}], dis_videos=clips, **shared
    )
    with contextlib.redirect_stdout(io.StringIO()):
        model = models.BiasremvMosModel(reader(source))
        return np.array(model.run_modeling()["quality_scores"])


def _within(most: float) -> Callable[[Data, Fit, Floats], str]:
    def compare(_: Data, ours: Fit, theirs: Floats) -> str:
        apart = float(np.abs(ours.estimates - theirs).max())
        text = f"values differ by {apart:.0e}, at most {most:.0e}"
        return agreed(text, right=apart <= most)

    return compare


def _alike(least: float, why: str) -> Callable[[Data, Fit, Floats], str]:
    """Ask of a peer with another model for the same order of most pairs of items."""

    def compare(_: Data, ours: Fit, theirs: Floats) -> str:
        tau = float(kendalltau(ours.estimates, theirs).statistic)
        text = f"{why}: Kendall correlation {tau:.3f}, at least {least}"
        return agreed(text, right=tau >= least)

    return compare


def _settled(data: Data, fit: Fit) -> str:
    right = fit.converged and len(fit.estimates) == data.items
    return agreed("the fit has settled", right=right)


def _job(
    name: str, title: str, fit: Callable[[Data], Fit], peers: list[Side], note: str
) -> Job:
    return Job(
        name,
        title,
        "ratings",
        RATINGS,
        (TABLES, 1_000_000),
        FEW,
        _ratings,
        fit,
        _settled,
        ARGSORT,
        peers,
        note=note,
    )


JOBS = [
    _job(
        "bradley-terry",
        "Bradley-Terry values and their errors",
        lambda data: bradley_terry(data.ratings, pair_weight="1"),
        [
            Side("choix", _choix, _within(1e-4), "choix", TABLES),
            Side("evalica", _evalica, _alike(0.9, "no prior"), "evalica", TABLES),
            Side("crowd-kit", _crowdkit, _alike(0.9, "no prior"), "crowdkit", TABLES),
            Side(
                "openskill",
                _openskill,
                _alike(0.8, "one pass of another model"),
                "openskill",
                TABLES,
            ),
        ],
        "A tenth as many items as ratings. Peers give no errors. choix, evalica and "
        f"crowd-kit hold a table of all pairs of items: {GIBIBYTES:.1f} GiB at "
        f"{SHOWN_ITEMS:,} items (computed, not run).",
    ),
    _job(
        "additive",
        "additive offsets by least squares, and their errors",
        lambda data: additive(data.ratings),
        [
            Side("scipy lsqr", _lsqr, _within(1e-6), "scipy", 1_000_000),
            Side("sureal", _sureal, _alike(0.9, "one step"), "sureal", TABLES),
        ],
        "Peers give no errors. sureal takes the first step of the fit, and has a table "
        "of items by reviewers, "
        f"{GIBIBYTES:.1f} GiB at {SHOWN_ITEMS:,} of each (computed, not run).",
    ),
    _job(
        "additive-reml",
        "additive offsets by restricted maximum likelihood, and their errors",
        lambda data: additive(data.ratings, shrink=True),
        [],
        "What `rank` calls `additive`.",
    ),
]

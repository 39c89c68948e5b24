"""How much ratings count by confidence: estimated, monotone, drawn to equal."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli import cli
from evenhand.columns import Source, level_series
from evenhand.models.adaptive import adaptive
from evenhand.models.additive import Equations, leverages
from evenhand.models.confidence import level_weights
from evenhand.models.design import build_matrix

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def simulated(
    noise: tuple[float, ...], seed: int = 7, items: int = 80, load: int = 5
) -> tuple[eh.Ratings, NDArray[np.int64]]:
    """Draw ratings whose noise goes by level; levels are in the order of ratings."""
    rng = np.random.default_rng(seed)
    number = items * 4 // load
    reviewers = np.repeat(np.arange(number), load)
    chosen = np.concatenate([rng.permutation(items)[:load] for _ in range(number)])
    levels = rng.integers(len(noise), size=len(chosen))
    scores = rng.normal(size=items)[chosen] + 0.5 * rng.normal(size=number)[reviewers]
    scores += np.array(noise)[levels] * rng.normal(size=len(chosen))
    _, chosen = np.unique(chosen, return_inverse=True)
    ratings = eh.Ratings(reviewers, chosen, scores, confidence=levels)
    return ratings, np.asarray(ratings.level_codes)


def weights(ratings: eh.Ratings) -> Any:  # noqa: ANN401 - numbers
    """Return how much each level counts."""
    return [row["weight"] for row in ratings.confidence]


def test_leverages_are_those_of_the_whole_table() -> None:
    """1 - h is the diagonal of R P, by the definition of P."""
    ratings, levels = simulated((1.0, 0.5), items=10, load=4)
    matrix = build_matrix(ratings.with_weights(np.where(levels == 0, 1.0, 4.0)))
    equations = Equations(matrix)
    mixed = equations.fit(matrix.scores)
    offsets, values = equations.in_order(*np.asarray(mixed.ratios).tolist())
    same = [codes[:, None] == codes for codes in (matrix.reviewers, matrix.items)]
    noise = np.diag(1 / np.asarray(matrix.weights))
    inverse = np.linalg.inv(offsets * same[0] + values * same[1] + noise)
    level = inverse.sum(axis=1)
    rest = noise @ (inverse - np.outer(level, level) / level.sum())
    found = leverages(equations, matrix, mixed)
    assert np.abs(1 - found - np.diag(rest)).max() < 1e-10


def deviance(
    ratings: eh.Ratings, levels: NDArray[np.int64], logs: list[float]
) -> float:
    """Minus twice the log likelihood with these logarithms of variances."""
    weights = np.exp(-np.array(logs))[levels]
    matrix = build_matrix(ratings.with_weights(weights))
    equations = Equations(matrix)
    ratios = np.asarray(equations.fit(matrix.scores).ratios)
    sums = equations.links.add_up(matrix.scores)
    value = float(equations.likelihood(sums, ratios).value[0])
    return value - float(np.log(np.asarray(matrix.weights)).sum())


def test_variances_are_the_most_likely_ones() -> None:
    """With many ratings what is drawn together, and each level's own one, is little."""
    ratings, levels = simulated((1.5, 0.5), items=200)
    best = -np.log(level_weights(ratings.with_weights(None), levels)[1])
    grid = best + np.linspace(-0.3, 0.3, 13)
    plain = ratings.with_weights(None)
    values = [deviance(plain, levels, [0.0, step]) for step in grid.tolist()]
    assert abs(int(np.argmin(values)) - 6) <= 1


def test_levels_are_found_where_noise_falls() -> None:
    """Five standard errors of a log variance of 260 ratings are 0.45."""
    ratings, _ = simulated((1.4, 1.0, 0.7), items=200)
    assert np.abs(np.log(weights(ratings)) - np.log([1, 1.96, 4])).max() < 0.45


def test_more_confidence_never_counts_less() -> None:
    ratings, _ = simulated((0.5, 1.0, 1.5))
    assert weights(ratings) == [1, 1, 1]
    plain = adaptive(ratings.with_weights(None)).estimates
    assert adaptive(ratings).estimates.tolist() == plain.tolist()


def test_levels_that_mean_nothing_are_mostly_equal() -> None:
    """Of equal levels more than one in 20 weights beyond 2 would be a fault."""
    highest = [weights(simulated((1.0, 1.0), seed)[0])[1] for seed in range(20)]
    assert highest.count(1) >= 10
    assert max(highest) < 2


@pytest.mark.parametrize(
    "scores", [[3] * 6, [1, 2, 2, 3, 3, 4], [1e300, 3e300, 2e300, 1e300, 2e300, 9e299]]
)
def test_flat_and_perfect_scores_have_weights(scores: list[float]) -> None:
    ratings = eh.Ratings(list("aabbcc"), list("xyxyxy"), scores, confidence=[1, 2] * 3)
    lowest, highest = weights(ratings)
    assert lowest == 1
    assert 1 <= highest < 100


def test_weights_do_not_depend_on_row_order_unit_or_shift() -> None:
    ratings, levels = simulated((1.5, 0.5))
    order = np.random.default_rng(3).permutation(ratings.n_ratings)
    again = eh.Ratings(
        ratings.reviewer_codes[order],
        ratings.item_codes[order],
        7 - 1000 * ratings.scores[order] * -1,
        confidence=levels[order] * 10 + 3,
    )
    assert weights(again) == weights(ratings)


def test_many_items_are_sampled() -> None:
    ratings, _ = simulated((1.5, 0.5), items=700, load=4)
    assert 4 < weights(ratings)[1] < 18  # 9 in truth


def test_weights_are_those_of_the_whole_when_ratings_are_left_out() -> None:
    ratings, _ = simulated((1.5, 0.5))
    fewer = ratings.without(np.arange(0, 100))
    assert {*np.asarray(fewer.weights).tolist()} == {
        *np.asarray(ratings.weights).tolist()
    }


def test_the_hash_knows_confidence_and_no_estimate() -> None:
    ratings, levels = simulated((1.5, 0.5))
    columns = ratings.reviewer_codes, ratings.item_codes, ratings.scores
    changed = eh.Ratings(*columns, confidence=1 - levels)
    assert len({changed.sha256, ratings.sha256, eh.Ratings(*columns).sha256}) == 3
    untouched = eh.Ratings(*columns, confidence=levels)
    assert untouched.sha256 == ratings.sha256
    assert "weights" not in untouched.__dict__


def test_given_weights_and_estimated_ones_give_one_ranking() -> None:
    ratings, _ = simulated((1.5, 0.5))
    columns = ratings.reviewer_codes, ratings.item_codes, ratings.scores
    given = eh.Ratings(*columns, weights=ratings.weights)
    found, expected = (eh.rank(each, rng=7) for each in (ratings, given))
    assert found.items == expected.items
    assert found.data["confidence"] == ratings.confidence


FORM = "judge,paper,mark,Sure\n" + "".join(
    f"{judge},{paper},{mark},{sure}\n"
    for judge, paper, mark, sure in zip(
        "aaabbbccc", "xyzxyzxyz", "731852631", ("3. high", "1. low") * 5, strict=False
    )
)


@pytest.mark.parametrize(
    ("words", "given", "levels"),
    [
        (("3. high", "1. low"), "Sure", ("1. low", "3. high")),
        (("High", "low"), "Sure", ("low", "High")),
        (("ja", "nein"), "Sure=nein<ja", ("nein", "ja")),
        (("1", "4"), "Sure=4<1", ("4", "1")),
        (("", "4"), "Sure", ("4",)),
    ],
)
def test_levels_are_read_in_their_order(
    words: tuple[str, str], given: str, levels: tuple[str, ...]
) -> None:
    text = FORM.replace("3. high", words[0]).replace("1. low", words[1])
    ratings = eh.read_ratings(io.StringIO(text), confidence=given)
    assert ratings.level_labels == levels
    codes = [notice.code for notice in ratings.notices]
    assert ("missing_confidence" in codes) == (words[0] == "")


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (FORM.replace("1. low", "meh"), {"confidence": "Sure"}, "--confidence 'Sure="),
        (FORM, {"confidence": "sorry"}, "Unknown column 'sorry'"),
        (FORM, {"confidence": "Sure", "weight": "Sure"}, "not both"),
        (FORM, {"confidence": "Sure", "rank": "mark"}, "rank and for confidence"),
        (
            FORM.replace("3. high", "").replace("1. low", ""),
            {"confidence": "Sure"},
            "no conf",
        ),
    ],
)
def test_bad_confidence_is_refused(text: str, options: Any, words: str) -> None:  # noqa: ANN401 - options
    with pytest.raises(eh.RatingsError, match=words):
        eh.read_ratings(io.StringIO(text), **options)


def test_many_levels_are_grouped() -> None:
    assert level_series(range(100), "sure", Source()).n_unique() == 5
    assert (
        level_series([0] * 90 + [*range(10)] * 2 + [10], "x", Source()).n_unique() <= 5
    )


def test_a_decision_by_confidence_is_explained_and_replayed(tmp_path: Path) -> None:
    ratings, _ = simulated((1.5, 0.5))
    file, record = tmp_path / "reviews.csv", tmp_path / "record.json"
    ratings.to_frame().drop("weight").write_csv(file)
    option = ["--confidence", "confidence"]
    arguments = ["rank", str(file), *option, "--seed", "7", "--record", str(record)]
    found = CliRunner().invoke(cli, [*arguments, "--explain"])
    assert "each counts" in found.stdout
    assert "Note (confidence)" in found.stderr
    as_json = CliRunner().invoke(cli, ["rank", str(file), *option, "--json"])
    assert len(json.loads(as_json.stdout)["data"]["confidence"]) == 2
    audit = CliRunner().invoke(cli, ["audit", str(record), str(file), *option])
    assert audit.exit_code == 0
    assert CliRunner().invoke(cli, ["audit", str(record), str(file)]).exit_code == 1
    checked = CliRunner().invoke(cli, ["check", str(file), *option])
    assert "WHAT IS CONFIDENCE WORTH?" in checked.stdout


def test_a_method_without_weights_says_that_confidence_is_not_used() -> None:
    ratings, _ = simulated((1.5, 0.5))
    codes = [notice.code for notice in eh.rank(ratings, method="borda", rng=7).notices]
    assert "weights_unused" in codes
    assert "confidence" not in codes

"""Krippendorff's alpha and intraclass correlations."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.diagnosis.agreement import ReviewerAgreement, agreement

NONE = np.nan
# Shrout and Fleiss (1979), table 2: six targets, four judges.
SHROUT = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9]]
SHROUT += [[6, 2, 4, 7]]
# Krippendorff (2011), Computing Krippendorff's alpha-reliability, example C: four
# observers, twelve units.
FOUR: list[list[float]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]


def ratings_of(table: Any) -> eh.Ratings:  # noqa: ANN401 - a row a reviewer
    scores = np.array(table, dtype=float)
    people, items = np.nonzero(~np.isnan(scores))
    return eh.Ratings(people, items, scores[people, items])


def measure(table: Any) -> ReviewerAgreement:  # noqa: ANN401 - a row a reviewer
    result = agreement(ratings_of(table))
    assert result is not None
    return result


def values(table: Any) -> dict[str, float]:  # noqa: ANN401 - a row a reviewer
    return {row.name: row.value for row in measure(table).coefficients}


def test_alpha_is_that_of_krippendorffs_example() -> None:
    named = values(FOUR)
    assert named["alpha, ordinal"] == pytest.approx(0.815, abs=5e-4)
    assert named["alpha, interval"] == pytest.approx(0.849, abs=5e-4)


def test_intraclass_correlations_are_those_of_shrout_and_fleiss() -> None:
    named = values(np.transpose(SHROUT))
    published = {"ICC(1)": 0.17, "ICC(1, k)": 0.44, "ICC(A, 1)": 0.29}
    published["ICC(C, 1)"] = 0.71
    for name, value in published.items():
        assert named[name] == pytest.approx(value, abs=5e-3)


@pytest.mark.parametrize("seed", range(6))
def test_alpha_is_that_of_the_package_krippendorff(seed: int) -> None:
    package = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 6, size=(5, 30)) + (seed % 2) * rng.normal(size=30)
    table[rng.random(table.shape) < 0.1 * seed] = NONE
    named = values(table)
    for level in ("ordinal", "interval"):
        expected = package.alpha(table, level_of_measurement=level)
        assert named[f"alpha, {level}"] == pytest.approx(expected, abs=1e-9)


def test_ordinal_alpha_depends_on_order_only_and_interval_alpha_on_no_unit() -> None:
    table = np.array(FOUR)
    assert values(np.exp(table))["alpha, ordinal"] == pytest.approx(
        values(table)["alpha, ordinal"]
    )
    assert values(7 - 3 * table) == pytest.approx(values(table))


def test_intervals_hold_what_there_is_to_know() -> None:
    # 200 sets: 95% intervals of 190; below 170 has a false-alarm rate of 1e-6 if they
    # cover 93.5%, as they did in 1,000 other sets.
    truth = {"alpha, interval": 0.5, "ICC(1)": 0.5, "ICC(1, k)": 0.8}
    inside = dict.fromkeys(truth, 0)
    for child in np.random.default_rng(7).spawn(200):
        table = child.normal(size=40) + child.normal(size=(4, 40))
        for row in measure(table).coefficients:
            if row.name in truth:
                assert row.low is not None
                assert row.high is not None
                inside[row.name] += row.low <= truth[row.name] <= row.high
    assert min(inside.values()) >= 170


def test_answers_of_one_prompt_are_left_out_together() -> None:
    rng = np.random.default_rng(3)
    shape = (30, 4, 3)
    prompt, model, judge = (part.ravel() for part in np.indices(shape))
    shared = rng.normal(size=(30, 1, 1)) + 0.5 * rng.normal(size=(30, 4, 1))
    scores = (shared + rng.normal(size=shape)).ravel()
    columns = {"prompt": prompt, "model": model, "judge": judge, "score": scores}
    frame = pl.DataFrame(columns)
    named: Any = {"reviewer": ["judge", "prompt"], "item": "model"}
    clustered = eh.read_ratings(frame, cluster="prompt", **named)
    by_prompt = agreement(clustered)
    answers: Any = {"reviewer": "judge", "item": ["model", "prompt"]}
    by_answer = agreement(eh.read_ratings(frame, **answers))
    assert by_prompt is not None
    assert by_answer is not None
    assert (by_prompt.items, by_prompt.left_out) == (120, "clusters")
    first, second = by_prompt.coefficients[1], by_answer.coefficients[1]
    assert first.value == pytest.approx(second.value)
    # What a prompt shares makes the interval by prompts the wider one.
    assert first.low is not None
    assert second.low is not None
    assert first.low < second.low


def test_pairs_show_a_judge_who_does_not_go_with_people() -> None:
    rng = np.random.default_rng(5)
    merit = rng.normal(size=40)
    frame = pl.DataFrame(
        {
            who: merit * follows + 0.3 * rng.normal(size=40)
            for who, follows in (("ann", 1), ("ben", 1), ("judge", 0))
        }
    ).with_columns(pl.int_range(40).alias("item"))
    long = frame.unpivot(index="item", variable_name="reviewer", value_name="score")
    found = eh.check(long, rng=7)
    assert found.agreement is not None
    pairs = {(row.first, row.second): row for row in found.agreement.pairs}
    assert pairs["ann", "ben"].value > 0.8
    high = pairs["ann", "judge"].high
    assert high is not None
    assert high < 0.5
    sentence = next(one.message for one in found.findings if one.code == "agreement")
    assert "Krippendorff's alpha" in sentence
    assert "lowest first: 'ben' and 'judge'" in sentence or "'ann' and 'jud" in sentence


def test_each_criterion_has_its_own() -> None:
    rows = [(who, item) for who in "abc" for item in range(8)]
    frame = pl.DataFrame(rows, schema=["reviewer", "item"], orient="row").with_columns(
        taste=pl.col("item") % 5, looks=pl.int_range(24) * 7 % 5
    )
    result = agreement(eh.read_ratings(frame, score=["taste", "looks"]))
    assert result is not None
    assert result.criteria["taste"][0].value == 1
    assert result.criteria["looks"][0].value < 0.5


def test_nothing_shared_or_nothing_that_varies_has_no_agreement() -> None:
    assert agreement(eh.Ratings(["a", "b"], ["x", "y"], [1, 2])) is None
    assert agreement(eh.Ratings(list("aabb"), list("xyxy"), [1, 1, 1, 1])) is None
    few = agreement(eh.Ratings(list("aabb"), list("xyxy"), [1, 2, 1, 3]))
    assert few is not None
    assert few.coefficients[0].low is None


def test_many_items_are_left_out_in_groups() -> None:
    rng = np.random.default_rng(9)
    merit = rng.normal(size=3000)
    result = measure(merit + rng.normal(size=(2, 3000)))
    row = result.coefficients[1]
    assert row.low is not None
    assert row.high is not None
    assert row.low < 0.5 < row.high
    # The large-sample error of the correlation is (1 - .5^2) / sqrt(3000) = .0137.
    assert row.high - row.low == pytest.approx(2 * 1.96 * 0.0137, rel=0.2)

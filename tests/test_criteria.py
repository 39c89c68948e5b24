"""Several criteria: what the total is, what is refused, and what ratings keep."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.columns import Source
from evenhand.criteria import totals, weigh
from evenhand.errors import OptionError, RatingsError

LABELS = {"judge": list("aabbcc"), "item": list("xyxyxy")}
TASTE, LOOKS = [1, 2, 3, 4, 5, 3], [3, 5, 1, 2, 4, 4]


def read(score: object, **columns: object) -> eh.Ratings:
    more = {
        name: columns.pop(name) for name in ("missing_criteria",) if name in columns
    }
    frame = pl.DataFrame({**LABELS, **columns})
    return eh.read_ratings(frame, score=score, **more)  # type: ignore[arg-type]  # any


def refusal(score: object, **columns: object) -> str:
    with pytest.raises((RatingsError, OptionError)) as caught:
        read(score, **columns)
    return str(caught.value)


weights = st.lists(st.integers(0, 40), min_size=2, max_size=4).filter(any)


@given(weights, st.data())
def test_the_total_is_the_weighted_mean(tenths: list[int], data: st.DataObject) -> None:
    row = st.lists(st.integers(1, 5), min_size=len(tenths), max_size=len(tenths))
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    none = np.zeros(len(rows), dtype=bool)
    columns = {
        str(place): (np.array(column, dtype=float), none)
        for place, column in enumerate(zip(*rows, strict=True))
    }
    said = {str(place): tenth / 10 for place, tenth in enumerate(tenths)}
    # The scales of drawn scores may look different: the mean is asked for itself.
    try:
        criteria, total, _ = weigh(columns, said, Source())
    except RatingsError:
        return
    mean = [
        sum(tenth * score for tenth, score in zip(tenths, row, strict=True))
        / Fraction(1 if criteria.summed else sum(tenths))
        / (10 if criteria.summed else 1)
        for row in rows
    ]
    assert total.to_list() == pytest.approx([float(each) for each in mean], abs=1e-11)
    # Totals that are equal as fractions are equal as floats: no tie is lost.
    ties = dict(zip(mean, total.to_list(), strict=True))
    assert len({*total.to_list()}) == len(ties) == len({*mean})
    assert totals(criteria).tolist() == total.to_list()


def test_totals_of_tiny_scores_keep_their_digits() -> None:
    tiny = [[1e-14 * score for score in scores] for scores in (TASTE, LOOKS)]
    ratings = read(["taste", "looks"], taste=tiny[0], looks=tiny[1])
    means = [1e-14 * (a + b) / 2 for a, b in zip(TASTE, LOOKS, strict=True)]
    assert ratings.scores.tolist() == pytest.approx(means, rel=1e-11)


def test_criteria_are_kept_beside_the_total() -> None:
    ratings = read({"taste": 2, "looks": 1}, taste=TASTE, looks=LOOKS)
    assert ratings.criteria is not None
    assert (ratings.criteria.names, ratings.criteria.weights) == (
        ("taste", "looks"),
        (2.0, 1.0),
    )
    assert ratings.criteria.scores[:, 0].tolist() == TASTE
    assert ratings.criteria.scores.flags.writeable is False
    expected = [(2 * a + b) / 3 for a, b in zip(TASTE, LOOKS, strict=True)]
    assert ratings.scores.tolist() == pytest.approx(expected)
    assert ratings.to_frame()["looks"].to_list() == LOOKS


def test_a_forms_own_overall_is_the_total() -> None:
    overall = [2, 2, 5, 5, 1, 3]
    ratings = read(["taste", "Overall"], taste=TASTE, Overall=overall)
    assert ratings.scores.tolist() == overall
    assert ratings.criteria is not None
    assert (ratings.criteria.names, ratings.criteria.overall) == (("taste",), "Overall")
    # With weights it is one criterion among others.
    weighed = read({"taste": 1, "Overall": 1}, taste=TASTE, Overall=overall)
    assert weighed.scores.tolist() == [
        (a + b) / 2 for a, b in zip(TASTE, overall, strict=True)
    ]


def test_the_hash_covers_scores_and_weights_of_criteria() -> None:
    one = read(["taste", "looks"], taste=TASTE, looks=LOOKS)
    turned = read(["looks", "taste"], taste=LOOKS, looks=TASTE)
    heavy = read({"taste": 2, "looks": 2}, taste=TASTE, looks=LOOKS)
    alone = read("total", total=one.scores)
    assert one.scores.tolist() == turned.scores.tolist() == heavy.scores.tolist()
    hashes = {each.sha256 for each in (one, turned, heavy, alone)}
    assert len(hashes) == 4
    rows = pl.DataFrame({**LABELS, "taste": TASTE, "looks": LOOKS}).reverse()
    again = eh.Ratings.from_frame(rows, score=["taste", "looks"])
    assert again.sha256 == one.sha256


def test_weights_of_ratings_can_be_changed() -> None:
    ratings = read(["taste", "looks"], taste=TASTE, looks=LOOKS)
    assert ratings.with_criteria("looks").scores.tolist() == LOOKS
    one = eh.rank(ratings, score={"taste": 3, "looks": 1}, method="mean", rng=1)
    two = read({"taste": 3, "looks": 1}, taste=TASTE, looks=LOOKS)
    assert one.data == eh.rank(two, method="mean", rng=1).data
    with pytest.raises(OptionError, match="unknown criterion 'looks!'"):
        ratings.with_criteria("looks!")
    with pytest.raises(OptionError, match="the Ratings has no criteria"):
        ratings.with_criteria("looks").with_criteria("looks")


def test_a_missing_criterion_leaves_no_total_or_the_mean_of_the_others() -> None:
    lacking = [None, *LOOKS[1:]]
    ratings = read(["taste", "looks"], taste=TASTE, looks=lacking)
    assert ratings.n_ratings == 5
    warning = ratings.notices[1]
    assert warning.code == "missing_criteria"
    assert warning.facts["criteria"] == [["looks", 1]]
    by = {"missing_criteria": "rescale"}
    whole = read(["taste", "looks"], taste=TASTE, looks=lacking, **by)
    assert whole.scores[0] == TASTE[0]
    assert np.isnan(whole.criteria.scores[0, 1])  # type: ignore[union-attr]  # there are
    assert whole.with_criteria("looks").n_ratings == 5


def test_what_must_not_be_added_up_in_silence_is_refused() -> None:
    total = [a + b for a, b in zip(TASTE, LOOKS, strict=True)]
    assert refusal(["taste", "looks", "sum"], taste=TASTE, looks=LOOKS, sum=total) == (
        "'sum' is the sum of 'taste', 'looks' in every rating, so these would count "
        "twice. Leave it out."
    )
    percent = [0, 20, 50, 80, 90, 100]
    assert refusal(["taste", "percent"], taste=TASTE, percent=percent) == (
        "Criteria have different scales: 'percent' goes from 0 to 100, 'taste' goes "
        "from 1 to 5. Say how much a point of each counts, such as --score percent=1 "
        "--score taste=25."
    )
    by_weight = read({"taste": 25, "percent": 1}, taste=TASTE, percent=percent)
    assert by_weight.scores[0] == 25 * 1 + 0
    assert refusal(
        ["taste", "looks"], taste=TASTE, looks=[1, 2, 3, None, None, None]
    ) == (
        "'looks' is missing in 50% of the ratings, which would have no total. Leave "
        "this criterion out, or say what to do: missing_criteria= or "
        "--missing-criteria rescale or leave-out."
    )
    constant = read(["taste", "looks"], taste=TASTE, looks=[3] * 6)
    assert constant.notices[1].message == (
        "'looks' is 3 in every rating, so it changes nothing: leave it out."
    )


def test_a_comparison_has_a_row_for_each_criterion_adjusted_by_holm() -> None:
    draw = np.random.default_rng(1)
    size = 60
    columns = {
        "taste": draw.integers(1, 5, size) + np.array([1, 0] * (size // 2)),
        "looks": draw.integers(1, 6, size),
    }
    frame = pl.DataFrame({"judge": range(size), "item": ["A", "B"] * 30, **columns})
    by: dict[str, object] = {"design": "halves", "rng": 7}
    found = eh.compare(frame, score=["taste", "looks"], **by)  # type: ignore[arg-type]  # any
    for row in found.criteria:
        alone = eh.compare(frame, score=row.name, **by)  # type: ignore[arg-type]  # any
        assert row.p_value == alone.p_value
        assert alone.difference is not None
        assert (row.difference, row.low) == (
            alone.difference.estimate,
            alone.difference.low,
        )
    small, large = sorted(found.criteria, key=lambda row: row.p_value or 0.0)
    assert small.p_adjusted == min(2 * (small.p_value or 0.0), 1)
    assert large.p_adjusted == max(large.p_value or 0.0, small.p_adjusted)
    assert "better by at least one criterion" in repr(found).replace("\n", " ")
    assert "at least as good on every criterion" in str(found.certificate.to_dict())  # type: ignore[union-attr]  # there is
    alone = eh.compare(frame, score="taste", **by)  # type: ignore[arg-type]  # any
    assert (alone.criteria, "criteria" in alone.to_dict()) == ((), False)


def test_marks_by_criterion_are_those_of_the_criterion_alone() -> None:
    lacking = {"Taste": [*TASTE[:4], 5, 5], "Looks": LOOKS}
    by: dict[str, object] = {"onto": (0, 100), "form": (1, 6), "passing": 50, "rng": 7}
    frame = pl.DataFrame({**LABELS, **lacking})
    found = eh.grade(frame, score=["Taste", "Looks"], **by)  # type: ignore[arg-type]  # any
    alone = eh.grade(frame, score="Looks", **by)  # type: ignore[arg-type]  # any
    assert found.criteria["Looks"].items == alone.items
    marks = {row.item: row.mark for row in alone.items}
    table = found.to_frame()
    assert table["Looks mark"].to_list() == [marks[item] for item in table["item"]]
    strict = eh.grade(frame, score=["Taste", "Looks"], pass_each=True, **by)  # type: ignore[arg-type]  # any
    every = [found, *found.criteria.values()]
    for row in strict.items:
        standings = {
            each.standing
            for part in every
            for each in part.items
            if each.item == row.item
        }
        worst = next(word for word in ("below", "open", "above") if word in standings)
        assert row.standing == worst
    with pytest.raises(OptionError, match="pass_each must be left out without"):
        eh.grade(frame, score="Looks", pass_each=True, **by)  # type: ignore[arg-type]  # any


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (["taste", "taste"], "of different criteria"),
        (
            {"taste": -1, "looks": 1},
            "'taste' must be 0, or from 1e-09 to 1e+09, got -1",
        ),
        ({"taste": 1e308, "looks": 1}, "from 1e-09 to 1e+09, got 1e+308"),
        ({"taste": 1, "looks": 1e-20}, "from 1e-09 to 1e+09, got 1e-20"),
        ({"taste": 0, "looks": 0}, "above 0 for one criterion"),
        (["taste", 3], "a list of names"),
        (["taste", "smell"], "Unknown column 'smell'. Known columns: 'judge'"),
    ],
)
def test_bad_criteria_are_refused(score: object, words: str) -> None:
    assert words in refusal(score, taste=TASTE, looks=LOOKS)


def test_a_check_says_how_far_criteria_say_the_same() -> None:
    # Values of items by two criteria are equal, or do not depend on each other; noise
    # is shared by all criteria (halo) or by none. Seed 5; bounds of .25 are five
    # standard errors of a correlation of 240 scores, and four of 40 items' means.
    draw = np.random.default_rng(5)
    items, people = 40, 12
    value, own, halo, noise = (
        draw.normal(size=size)
        for size in (items, items, (people, items), (2, people, items))
    )
    pairs = [(p, i) for p in range(people) for i in range(items) if (p + i) % 2]
    rows = {
        "judge": [f"R{p}" for p, _ in pairs],
        "item": [f"P{i}" for _, i in pairs],
        "a": [value[i] + halo[p, i] for p, i in pairs],
        "same": [value[i] + 0.3 * noise[0, p, i] for p, i in pairs],
        "halo": [own[i] + halo[p, i] + 0.3 * noise[1, p, i] for p, i in pairs],
    }
    frame = pl.DataFrame(rows)
    use = eh.check(frame, score=["a", "same", "halo"], rng=7).criteria
    assert use is not None
    by = {(pair.first, pair.second): pair for pair in use.pairs}
    assert by["a", "same"].items > 0.75  # type: ignore[operator]  # a number
    assert abs(by["a", "same"].halo) < 0.25  # type: ignore[arg-type]  # a number
    assert by["a", "halo"].halo > 0.75  # type: ignore[operator]  # a number
    assert use.alike is False
    near = frame.with_columns(b=pl.col("same") + 0.1 * pl.col("halo"))
    found = eh.check(near, score=["same", "b"], rng=7)
    assert found.criteria is not None
    assert found.criteria.alike
    alone = eh.check(frame, score="same", rng=7)
    assert (alone.criteria, "criteria" in alone.to_dict()) == (None, False)
    assert use.criteria[1].variance == alone.variance

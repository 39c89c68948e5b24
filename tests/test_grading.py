"""Marks: the model behind them, the scale, anchors, the pass mark, and coverage."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import evenhand as eh
from evenhand.diagnosis import ladder
from evenhand.grading import RATIOS, adjusted_means
from evenhand.models import solver
from evenhand.models.people import group_means
from evenhand.words.lines import model_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def world(
    seed: int, items: int = 30, reviews: int = 3, load: int = 3, offset: float = 0.6
) -> tuple[Floats, eh.Ratings]:
    """Draw what reviewers would give on average, and ratings by some of them."""
    rng = np.random.default_rng([5, seed])
    values = rng.normal(size=items)
    what = np.concatenate([rng.permutation(items) for _ in range(reviews)])
    who = np.arange(len(what)) // load
    # A reviewer who would meet an item twice meets it once.
    once = np.unique(who * items + what, return_index=True)[1]
    who, what = who[once], what[once]
    offsets = offset * rng.normal(size=who.max() + 1)
    scores = offsets[who] + values[what] + 0.7 * rng.normal(size=len(who))
    return values + offsets.mean(), eh.Ratings(who, what, scores)


@pytest.fixture
def no_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the verdict "cannot tell" for granted, as the ladder takes its time."""
    found = SimpleNamespace(verdict=ladder.CANNOT_TELL)
    monkeypatch.setattr(ladder, "climb", lambda *_, **__: found)


def dense(ratings: eh.Ratings, ratio: float) -> tuple[Floats, Floats]:
    """Values, and their covariance but for a shift of all, by the definition."""
    people = np.eye(ratings.n_reviewers)[ratings.reviewer_codes]
    items = np.eye(ratings.n_items)[ratings.item_codes]
    known = np.linalg.inv(np.eye(len(people)) + ratio * people @ people.T)
    inverse = np.linalg.inv(items.T @ known @ items)
    values = inverse @ items.T @ known @ ratings.scores
    left = ratings.scores - items @ values
    rest = left @ known @ left / (len(people) - ratings.n_items)
    return values, rest * (inverse - ratio / ratings.n_reviewers)


def test_values_at_one_ratio_are_generalised_least_squares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, ratings = world(1)
    monkeypatch.setattr("evenhand.grading.RATIOS", np.log([0.8]))
    found = adjusted_means(ratings, np.array([3, 7]))
    values, covariance = dense(ratings, 0.8)
    assert found.values == pytest.approx(values, abs=1e-9)
    assert found.squares == pytest.approx(np.diag(covariance), abs=1e-9)
    assert found.shared == pytest.approx(covariance[:, [3, 7]], abs=1e-9)


def test_ratios_are_averaged_by_their_likelihood() -> None:
    """The restricted likelihood of each ratio, by its definition."""
    _, ratings = world(2, items=10)
    items = np.eye(ratings.n_items)[ratings.item_codes]
    people = np.eye(ratings.n_reviewers)[ratings.reviewer_codes]
    fits, every = [], []
    for ratio in np.exp(RATIOS):
        whole = np.eye(len(people)) + ratio * people @ people.T
        known = np.linalg.inv(whole)
        inside = items.T @ known @ items
        values = np.linalg.solve(inside, items.T @ known @ ratings.scores)
        left = ratings.scores - items @ values
        size = np.linalg.slogdet(whole)[1] + np.linalg.slogdet(inside)[1]
        fit = -((len(people) - len(values)) * np.log(left @ known @ left) + size) / 2
        # Every share ratio / (1 + ratio) is equally likely beforehand.
        fits.append(fit + np.log(ratio) - 2 * np.log1p(ratio))
        every.append(values)
    share = np.exp(np.array(fits) - max(fits))
    expected = share @ np.array(every) / share.sum()
    assert adjusted_means(ratings).values == pytest.approx(expected, abs=1e-9)


def test_many_items_are_solved_by_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    _, ratings = world(3, items=120)
    table = adjusted_means(ratings, np.array([0]))
    monkeypatch.setattr(solver, "TABLE", 10)
    passes = adjusted_means(ratings, np.array([0]))
    # The fitted ratio comes from probes there, and so do the errors.
    assert passes.values == pytest.approx(table.values, abs=0.02)
    assert passes.shared == pytest.approx(table.shared, abs=0.02)
    assert passes.squares == pytest.approx(table.squares, rel=0.3)


def test_marks_are_means_where_reviewers_do_not_differ() -> None:
    scores = [1, 2, 3, 4, 2, 1, 4, 3, 3, 4, 1, 2, 4, 3, 2, 1]
    ratings = eh.Ratings(np.repeat(range(4), 4), [1, 2, 3, 4] * 4, scores)
    found = eh.grade(ratings, rng=7)
    # Everyone scored every item, so every offset moves all marks alike.
    assert [row.mark for row in found.items] == pytest.approx([2.5] * 4)


@pytest.mark.usefixtures("no_ladder")
def test_intervals_hold_nine_of_ten() -> None:
    """40 worlds of 30 items; seeds 0 to 39 are fixed."""
    inside = []
    for seed in range(40):
        truth, ratings = world(seed)
        rows = eh.grade(ratings, rng=seed).items
        inside += [row.low <= truth[int(row.item)] <= row.high for row in rows]
    # 1,200 intervals; those of a world go together, so five standard errors of 90% are
    # taken as if they were 300: a correct build fails for one seed in a million.
    assert abs(np.mean(inside) - 0.9) < 5 * np.sqrt(0.09 / 300)


def two_reviews(seed: int, offset: float) -> tuple[Floats, eh.Ratings]:
    """30 items with two reviews each by 8 reviewers; values, and ratings."""
    rng = np.random.default_rng([6, seed, int(10 * offset)])
    values, offsets = rng.normal(size=30), offset * rng.normal(size=8)
    who = np.array([rng.permutation(8)[:2] for _ in range(30)]).ravel()
    what = np.repeat(np.arange(30), 2)
    scores = values[what] + offsets[who] + rng.normal(size=60)
    return values, eh.Ratings(who, what, scores)


@pytest.mark.usefixtures("no_ladder")
@pytest.mark.parametrize(
    ("sizes", "worlds", "least"), [([0.0, 0.3, 0.6, 1.0], 30, 0.87), ([2.0], 80, 0.82)]
)
def test_with_two_reviews_nine_of_ten_hold_what_reviewers_of_the_kind_would_give(
    sizes: list[float], worlds: int, least: float
) -> None:
    """Seeds are fixed. Coverage of a world varies by .08, with large offsets by .15.

    So the mean of 120 worlds has a standard error of .007, that of 80 one of .017, and
    a build that covers 90.5% and 90% fails for one choice of seeds in a million.
    """
    inside = []
    for offset in sizes:
        for seed in range(worlds):
            truth, ratings = two_reviews(seed, offset)
            rows = eh.grade(ratings, rng=seed).items
            inside += [row.low <= truth[int(row.item)] <= row.high for row in rows]
    assert np.mean(inside) > least


@pytest.mark.usefixtures("no_ladder")
@pytest.mark.parametrize("anchors", [None, {0: 9.0}])
def test_what_intervals_assume_is_said_wherever_they_are(
    anchors: dict[int, float] | None,
) -> None:
    found = eh.grade(world(3)[1], anchors=anchors, link="line", rng=7)
    assert "which items they got" in found.assumes
    assert found.to_dict()["assumes"] == found.assumes
    assert found.assumes in repr(found)
    assert found.assumes in model_lines(found)


@pytest.mark.usefixtures("no_ladder")
def test_marks_are_closer_than_means() -> None:
    """Strict and lenient reviewers: means are a fifth farther off on average."""
    errors = []
    for seed in range(20):
        truth, ratings = world(seed, offset=1.0)
        rows = eh.grade(ratings, rng=seed).items
        places = [int(row.item) for row in rows]
        errors.append(
            [
                np.mean((np.array(column) - truth[places]) ** 2)
                for column in (
                    [row.mark for row in rows],
                    [row.mean_score or 0.0 for row in rows],
                )
            ]
        )
    ours, means = np.sqrt(np.mean(errors, axis=0))
    assert ours < 0.85 * means


@pytest.mark.usefixtures("no_ladder")
def test_the_form_is_mapped_onto_marks() -> None:
    _, ratings = world(4)
    plain = eh.grade(ratings, rng=7)
    mapped = eh.grade(ratings, onto=(0, 100), form=(-5, 5), rng=7)
    for one, other in zip(plain.items, mapped.items, strict=True):
        assert other.mark == pytest.approx(50 + 10 * one.mark)
        assert other.error == pytest.approx(10 * one.error)
        assert other.low == pytest.approx(50 + 10 * one.low)
    assert mapped.form == (-5, 5)


@pytest.mark.usefixtures("no_ladder")
def test_a_form_that_nobody_declared_is_said() -> None:
    ratings = eh.Ratings(list("aabb"), list("xyxy"), [2, 4, 3, 4])
    found = eh.grade(ratings, onto=(0, 10), rng=7)
    assert found.form == (2, 4)
    assert "form_assumed" in [notice.code for notice in found.notices]
    assert "the lowest and highest that were given" in repr(found)
    # Scores that fill more than half of the marks' range are marks already.
    marks = eh.grade(ratings, onto=(1, 4), rng=7)
    assert marks.form == (1, 4)
    assert "scores already use the 1-4 scale" in marks.notices[-1].message


@pytest.mark.usefixtures("no_ladder")
def test_one_anchor_moves_all_marks() -> None:
    _, ratings = world(5)
    plain = {row.item: row for row in eh.grade(ratings, rng=7).items}
    found = {
        row.item: row
        for row in eh.grade(ratings, anchors={0: 9.0}, link="line", rng=7).items
    }
    moved = 9.0 - plain[0].mark
    assert found[0].mark == 9.0
    assert (found[0].low, found[0].error, found[0].anchor) == (9.0, 0.0, True)
    for item in range(1, 30):
        assert found[item].mark == pytest.approx(plain[item].mark + moved, abs=1e-6)
        # What is not known of the anchor is not known of any mark now.
        assert found[item].error > plain[item].error


@pytest.mark.usefixtures("no_ladder")
def test_anchors_fix_level_and_spread() -> None:
    """Anchors on a line through the values are met, and errors grow with the line's."""
    _, ratings = world(6, reviews=12)
    plain = {row.item: row for row in eh.grade(ratings, rng=7).items}
    anchors = {item: 50 + 10 * plain[item].mark for item in range(8)}
    rows = eh.grade(ratings, anchors=anchors, link="line", rng=7).items
    for row in rows:
        old = plain[row.item]
        assert row.mark == pytest.approx(50 + 10 * old.mark, abs=1e-5)
        if not row.anchor:
            assert row.low < row.mark - 1.3 * row.error
            assert row.high > row.mark + 1.3 * row.error


@pytest.mark.usefixtures("no_ladder")
def test_intervals_with_anchors_hold_nine_of_ten() -> None:
    """60 worlds with 6 anchors each, marks 50 + 10 v; refusals do not count."""
    inside = []
    for seed in range(60):
        truth, ratings = world(seed, reviews=6)
        marks = 50 + 10 * truth
        anchors = {item: float(marks[item]) for item in range(6)}
        try:
            rows = eh.grade(ratings, anchors=anchors, link="line", rng=seed).items
        except eh.OptionError:
            continue
        inside += [
            row.low <= marks[int(row.item)] <= row.high
            for row in rows
            if not row.anchor
        ]
    assert len(inside) > 1000
    # Items of a world share the line, so the 60 worlds count as 120 intervals: five
    # standard errors, a false alarm in a million. Too wide is no error here.
    assert np.mean(inside) > 0.9 - 5 * np.sqrt(0.09 / 120)


@pytest.mark.usefixtures("no_ladder")
def test_anchors_against_the_scores_are_refused() -> None:
    _, ratings = world(7, reviews=12)
    rows = eh.grade(ratings, rng=7).items
    upside_down = {rows[0].item: 10.0, rows[-1].item: 90.0}
    with pytest.raises(eh.OptionError, match="do not fix the spread of marks"):
        eh.grade(ratings, anchors=upside_down, link="line", rng=7)


@pytest.mark.usefixtures("no_ladder")
def test_anchors_that_fit_badly_widen_errors() -> None:
    truth, ratings = world(8, reviews=12)
    marks = 50 + 10 * truth
    wrong = {item: float(marks[item] + 8 * (-1) ** item) for item in range(12)}
    found = eh.grade(ratings, anchors=wrong, link="line", rng=7)
    assert "anchors_differ" in [notice.code for notice in found.notices]


def test_orders_need_two_anchors_and_do_with_them() -> None:
    truth, ratings = world(9, items=12, reviews=12, load=6)
    ranks = eh.Ratings.from_ranks(
        ratings.reviewer_codes.tolist(),
        ratings.item_codes.tolist(),
        (-ratings.scores).tolist(),
    )
    with pytest.raises(eh.RatingsError, match="at least two items with different"):
        eh.grade(ranks, rng=7)
    marks = 50 + 10 * truth
    anchors = {item: float(marks[item]) for item in range(5)}
    found = eh.grade(ranks, anchors=anchors, link="line", rng=7)
    assert found.method == "bradley-terry"
    places = [int(row.item) for row in found.items]
    assert np.corrcoef([row.mark for row in found.items], marks[places])[0, 1] > 0.8
    assert (
        eh.grade(ranks, anchors=anchors, link="line", rng=7).to_dict()
        == found.to_dict()
    )


@pytest.mark.parametrize(
    ("verdict", "method"),
    [
        ("none", "mean"),
        ("offset", "additive"),
        ("offset and slope", "additive"),
        ("order only", "additive"),
        ("cannot tell", "additive"),
    ],
)
def test_the_ladder_chooses_the_model(
    verdict: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = SimpleNamespace(verdict=verdict)
    monkeypatch.setattr(ladder, "climb", lambda *_, **__: found)
    _, ratings = world(10, reviews=6, load=6)
    result = eh.grade(ratings, rng=7)
    assert (result.method, result.verdict) == (method, verdict)
    misled = "scores_mislead" in [notice.code for notice in result.notices]
    assert misled == (verdict == "order only")
    because = result.because[:1].upper() + result.because[1:]
    assert f"Model: {method}. {because}." in repr(result)


def test_the_verdict_is_that_of_check() -> None:
    _, ratings = world(11, items=8, reviews=6, load=4, offset=3.0)
    found = eh.check(ratings, rng=3).ladder
    assert found is not None
    assert eh.grade(ratings, rng=7).verdict == found.verdict


@pytest.mark.usefixtures("no_ladder")
def test_the_pass_mark_goes_by_intervals() -> None:
    _, ratings = world(12)
    found = eh.grade(ratings, passing=0.2, rng=7)
    for row in found.items:
        expected = "above" if row.low >= 0.2 else "below" if row.high < 0.2 else "open"
        assert row.standing == expected
    counts = [len(found.at(word)) for word in ("above", "below", "open")]
    assert sum(counts) == 30
    head = (
        "Pass mark 0.2: {} safely above, {} safely below, {} too close to call.".format(
            *counts
        )
    )
    assert repr(found).startswith(head)


@pytest.mark.usefixtures("no_ladder")
@pytest.mark.parametrize(
    ("mean", "step", "mark"), [(2.25, 0.5, 2.5), (2.24, 0.5, 2.0), (2.15, 0.1, 2.2)]
)
def test_halves_are_rounded_up(mean: float, step: float, mark: float) -> None:
    ratings = eh.Ratings(["a", "b"], ["x", "x"], [mean - 1, mean + 1])
    assert eh.grade(ratings, rounding=step, rng=7).items[0].mark == mark


@pytest.mark.usefixtures("no_ladder")
def test_marks_stay_within_the_range_and_estimates_need_not() -> None:
    ratings = eh.Ratings(list("aabb"), list("xyyz"), [9.9, 5, 10, 9.5])
    found = eh.grade(ratings, form=(0, 10), rng=7)
    assert max(row.estimate for row in found.items) > 10
    assert max(max(row.mark, row.high) for row in found.items) == 10


def test_labels_rows_and_units_do_not_matter() -> None:
    _, ratings = world(13, items=12)
    turned = np.random.default_rng(3).permutation(ratings.n_ratings)
    again = eh.Ratings(
        [f"r{code:03}" for code in ratings.reviewer_codes[turned]],
        [f"i{code:03}" for code in ratings.item_codes[turned]],
        1e6 * ratings.scores[turned] + 3e6,
    )
    one, two = (eh.grade(given, rng=7) for given in (ratings, again))
    assert [f"i{row.item:03}" for row in one.items] == [row.item for row in two.items]
    marks = [1e6 * row.mark + 3e6 for row in one.items]
    assert [row.mark for row in two.items] == pytest.approx(marks)


@pytest.mark.usefixtures("no_ladder")
def test_json_and_frame_hold_every_field() -> None:
    _, ratings = world(14)
    found = eh.grade(ratings, passing=0, rng=7)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["schema"] == "evenhand.grade/1"
    assert set(plain["grades"][0]) == set(found.items[0]._fields)
    assert found.to_frame().columns == list(found.items[0]._fields)
    assert plain["certificate"]["theorem"] == "none"
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"onto": (100, 0)}, r"onto must be two numbers, the lower one first"),
        ({"onto": 7}, r"onto must be two numbers"),
        ({"form": (0, 1)}, r"form must be a range that holds every score, from 2"),
        ({"rounding": 0}, r"rounding must be"),
        ({"passing": "five"}, r"passing must be"),
        ({"anchors": {"zz": 3}}, r"unknown item 'zz'"),
        ({"anchors": [3]}, r"anchors must be marks by item"),
        ({"anchors": {"x": 9}}, r"anchors must be at least 5 to predict other marks"),
        ({"anchors": {"x": 9}, "link": "curve"}, r"link must be one of 'regression'"),
        ({"link": "line(error=3)"}, r"link must be line, regression or regression"),
        ({"anchors": {"x": []}}, r"anchor of 'x' must be"),
        ({"means": {"x": 1, "y": 1}}, r"means must come with anchors"),
        (
            {"means": {"x": 1}},
            r"means must hold a group for each item, got none for 'y'",
        ),
        ({"means": "model"}, r"means must be a column that names items together"),
        (
            {"anchors": {"x": 9}, "shrink": True},
            r"shrink must be left out with anchors",
        ),
        (
            {"anchors": {"x": 9, "y": 7}},
            "anchors must leave an item to grade, got marks of all 2. Give only marks",
        ),
        ({"anchors": {"x": 30}, "onto": (0, 10)}, r"must be from 0 to 10, as marks"),
    ],
)
def test_bad_options_get_a_sentence(options: dict[str, object], words: str) -> None:
    ratings = eh.Ratings(list("aabb"), list("xyxy"), [2, 4, 3, 4])
    with pytest.raises((eh.OptionError, eh.RatingsError), match=words):
        eh.grade(ratings, **options, rng=7)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("items", "scores", "words"),
    [
        ("wxyz", [2, 4, 3, 1], "must have two scores or more"),
        # Few reviewers who agree make no mark certain.
        ("xyxy", [5, 5, 5, 5], "nothing shows how large errors are"),
        ("xyxy", [5, 1, 5, 1], "nothing shows how large errors are"),
    ],
)
def test_scores_without_errors_are_refused(
    items: str, scores: list[float], words: str
) -> None:
    with pytest.raises(eh.RatingsError, match=words):
        eh.grade(eh.Ratings(list("aabb"), list(items), scores), form=(1, 5), rng=7)


def answers(
    kind: str, seed: int, models: int = 3, prompts: int = 120
) -> tuple[Floats, Floats, eh.Ratings]:
    """Marks that people would give, what judges say, and scores of three judges."""
    rng = np.random.default_rng([11, seed])
    values = rng.normal(size=(models, prompts)) + np.arange(models)[:, None] / 3
    marks = np.clip(np.round(5 + 2 * values + rng.normal(size=values.shape)), 0, 10)
    sign = -1 if kind == "upside down" else 1
    bias = np.array([0, 2, -1])[:models, None] * (kind == "biased")
    noise = 6.0 if kind == "noisy" else 1.0
    scores = [
        width * (sign * values + bias + noise * rng.normal(size=values.shape)) + level
        for level, width in ((5, 1), (6, 2), (4, 1))
    ]
    labels = [f"m{m} / p{p}" for m in range(models) for p in range(prompts)]
    people = np.repeat(["j1", "j2", "j3"], models * prompts)
    ratings = eh.Ratings(people, labels * 3, np.concatenate([*map(np.ravel, scores)]))
    return values, marks, ratings


def labelled(marks: Floats, seed: int, number: int) -> dict[str, float]:
    rng = np.random.default_rng([12, seed])
    chosen = rng.permutation(marks.size)[:number]
    places = [divmod(place, marks.shape[1]) for place in chosen.tolist()]
    return {f"m{m} / p{p}": float(marks[m, p]) for m, p in places}


def group_of(ratings: eh.Ratings) -> dict[str, str]:
    return {str(label): str(label).split(" / ")[0] for label in ratings.item_labels}


@pytest.mark.usefixtures("no_ladder")
def test_people_s_marks_are_predicted_with_intervals_that_hold() -> None:
    inside, errors, plain = [], [], []
    for seed in range(12):
        _, marks, ratings = answers("good", seed)
        anchors = labelled(marks, seed, 25)
        rows = eh.grade(ratings, anchors=anchors, rng=7).items
        for row in rows:
            model, prompt = (int(part[1:]) for part in str(row.item).split(" / "))
            truth = marks[model, prompt]
            if row.anchor:
                assert (row.mark, row.error) == (truth, 0.0)
                continue
            inside.append(row.low <= truth <= row.high)
            errors.append((row.estimate - truth) ** 2)
            plain.append((np.mean(list(anchors.values())) - truth) ** 2)
    # 4,000 intervals of 12 lines count as 150: five standard errors of 90%.
    assert abs(np.mean(inside) - 0.9) < 5 * np.sqrt(0.09 / 150)
    assert np.mean(errors) < 0.5 * np.mean(plain)


@pytest.mark.usefixtures("no_ladder")
def test_marks_of_several_people_show_their_error() -> None:
    _, marks, ratings = answers("good", 1)
    exact = labelled(marks, 1, 60)
    twice = {label: [mark - 1.5, mark + 1.5] for label, mark in exact.items()}
    once = eh.grade(ratings, anchors=exact, rng=7)
    found = eh.grade(ratings, anchors=twice, rng=7)
    sure, unsure = ({row.item: row for row in g.items} for g in (once, found))
    given, other = next(iter(exact)), next(r.item for r in once.items if not r.anchor)
    # The pooled variance of one mark is 4.5, of a mean of two 2.25: its error is taken
    # out of what is left open about the others, and a marked item is not exact.
    assert unsure[other].error < sure[other].error
    assert unsure[given].error > 0 == sure[given].error
    stated = eh.grade(ratings, anchors=exact, link="regression(error=1.5)", rng=7)
    assert {row.item: row for row in stated.items}[given].error > 0


@pytest.mark.usefixtures("no_ladder")
def test_a_judge_without_relation_to_people_is_refused_but_for_means() -> None:
    _, marks, ratings = answers("upside down", 1)
    anchors = labelled(marks, 1, 60)
    with pytest.raises(eh.OptionError, match=r"no clear relation .*correlation -0\."):
        eh.grade(ratings, anchors=anchors, rng=7)
    groups = group_of(ratings)
    found = eh.grade(ratings, anchors=anchors, means=groups, sample="declared", rng=7)
    assert "judges_unrelated" in [notice.code for notice in found.notices]
    assert found.means is not None
    assert found.means.slope < 0
    with pytest.raises(eh.OptionError, match="sample must be what evenhand assign"):
        eh.grade(ratings, anchors=anchors, means=groups, rng=7)


@pytest.mark.parametrize("kind", ["good", "biased", "noisy", "upside down"])
def test_means_of_groups_hold_whatever_judges_do(kind: str) -> None:
    """400 draws of 60 labels of 3 models; by the scores of the judges themselves."""
    inside = np.zeros(3)
    for seed in range(400):
        values, marks, _ = answers(kind, seed % 20)
        rng = np.random.default_rng([13, seed])
        judged = np.random.default_rng([14, seed % 20]).normal(size=values.shape)
        judged += -values if kind == "upside down" else values
        judged += np.array([[0], [3], [0]]) * (kind == "biased")
        judged *= 0.1 if kind == "noisy" else 1.0
        codes = np.concatenate([120 * m + rng.permutation(120)[:20] for m in range(3)])
        rows = group_means(
            judged.ravel(),
            codes,
            marks.ravel()[codes],
            np.arange(360) // 120,
            [0, 1, 2],
        ).rows
        for row in rows:
            truth = marks[int(row.group)].mean()
            inside += [
                span.low <= truth <= span.high
                for span in (row.difference, row.people, row.judges)
            ]
    # 1,200 intervals of 95%: five standard errors.
    assert abs(inside[0] / 1200 - 0.95) < 5 * np.sqrt(0.0475 / 1200)
    assert abs(inside[1] / 1200 - 0.95) < 5 * np.sqrt(0.0475 / 1200)
    if kind == "biased":
        assert inside[2] / 1200 < 0.6


def test_the_difference_estimator_is_its_formula() -> None:
    values, codes = np.array([1.0, 2, 3, 4, 5, 6, 7, 9]), np.array([0, 2, 5, 7])
    marks = np.array([2.0, 2.0, 5.0, 8.0])
    (row,) = group_means(values, codes, marks, np.zeros(8, int), ["m"]).rows
    slope = np.polyfit(values[codes], marks, 1)[0]
    assert row.difference.mean == pytest.approx(
        slope * values.mean() + (marks - slope * values[codes]).mean()
    )
    # Half of the items are marked; one degree of freedom goes to the slope.
    errors = marks - slope * values[codes]
    square = errors.var(ddof=2) / 4 * (1 - 4 / 8)
    reach = 3.182446 * np.sqrt(square)
    assert row.difference.high - row.difference.mean == pytest.approx(reach, rel=1e-6)


@pytest.mark.usefixtures("no_ladder")
def test_scales_that_differ_twentyfold_are_said_and_evened() -> None:
    _, marks, ratings = answers("good", 2)
    codes = ratings.reviewer_codes
    wide = ratings.with_scores(np.where(codes == 0, 1000.0, 1.0) * ratings.scores)
    wide.item_labels, wide.reviewer_labels = (
        ratings.item_labels,
        ratings.reviewer_labels,
    )
    found = eh.grade(wide, anchors=labelled(marks, 2, 40), rng=7)
    (notice,) = (n for n in found.notices if n.code == "scales_differ")
    assert notice.facts["wide"] == "j1"
    even = eh.grade(ratings, anchors=labelled(marks, 2, 40), rng=7)
    size = {row.item: row.estimate for row in even.items}
    gaps = [row.estimate - size[row.item] for row in found.items]
    assert np.std(gaps) < 0.6


@pytest.mark.usefixtures("no_ladder")
def test_shrunk_marks_err_less_and_their_intervals_hold() -> None:
    inside, errors = [], []
    for seed in range(30):
        truth, ratings = world(seed, reviews=2)
        pair = [eh.grade(ratings, shrink=on, rng=7).items for on in (False, True)]
        errors.append(
            [
                np.mean([(r.mark - truth[int(r.item)]) ** 2 for r in rows])
                for rows in pair
            ]
        )
        inside += [row.low <= truth[int(row.item)] <= row.high for row in pair[1]]
    plain, shrunk = np.mean(errors, axis=0)
    assert shrunk < 0.95 * plain
    assert abs(np.mean(inside) - 0.9) < 5 * np.sqrt(0.09 / 200)


def test_means_and_a_drawn_sample_come_from_columns() -> None:
    _, marks, ratings = answers("good", 3, models=2, prompts=40)
    drawn = eh.assign(
        ratings.item_labels, ["people"], design="balanced", per_reviewer=30, rng=4
    )
    places = [str(item) for _, item in drawn.rows]
    anchors = {
        label: float(marks[int(label[1]), int(label.split("p")[1])]) for label in places
    }
    groups = group_of(ratings)
    found = eh.grade(ratings, anchors=anchors, means=groups, sample=drawn, rng=7)
    assert found.means is not None
    assert found.means.sample == "drawn"
    assert found.means.to_dict()["sample"] == "drawn"
    assert "because the marked items were drawn at random (as the record" in repr(found)
    del anchors[places[0]]
    with pytest.raises(eh.OptionError, match="must mark every item that was drawn"):
        eh.grade(ratings, anchors=anchors, means=groups, sample=drawn, rng=7)

"""Marks: what each item is worth on the form's scale, and how sure that is.

A mark is the item's mean score, less what is known of its reviewers' strictness. The
model is score = value + offset + rest. Values are taken as they come, so nobody's is
drawn to the middle; offsets are normal with a times the variance of the rest, so they
are taken out only as far as the ratings show that reviewers differ. At a = 0 values are
plain means, at a = infinity those of least squares with offsets. Up to 100 items a is
drawn from all that the ratings allow: every share a / (1 + a) is equally likely
beforehand. Beyond, the fitted one is taken.

With offsets eliminated (see `models.additive`) values have the covariance A^-1, in
units of the rest's variance. It has a part that ratings cannot show: a shift of all
offsets against all values, a / R for R reviewers and the same for each two items, as
other reviewers of this kind may be stricter on the whole. Anchors fix it, so beside
them A^-1 - a / R counts. Without them an interval holds 90% of what all a together,
each with Student's t, leave to the value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import polars as pl
from scipy.special import stdtr, stdtrit

from evenhand.claims import LEVEL, Claim, DataWarning, Json, Reportable, certify, tail
from evenhand.columns import place_of
from evenhand.diagnosis import ladder
from evenhand.errors import OptionError, RatingsError, as_finite, as_positive, must_be
from evenhand.lazy import lazy
from evenhand.method import choice, parse
from evenhand.models import people, solver
from evenhand.models.additive import MOST, Equations, Links
from evenhand.models.design import (
    build_matrix,
    data_notices,
    fit_notices,
    linked_groups,
    require_ratings,
)
from evenhand.models.posterior import draw_from_orders
from evenhand.models.reliability import reliable_scores
from evenhand.models.solver import Definite, one_thread
from evenhand.progress import say, working
from evenhand.randomness import RNGLike, seed_as_rng, seed_from
from evenhand.ratings import BETWEEN, Ratings, as_ratings

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores, Table
    from evenhand.claims import Certificate, Label
    from evenhand.designs.assignment import Assignment
    from evenhand.models.additive import Sums
    from evenhand.models.people import GroupMeans
    from evenhand.ratings import Data, ReadingOptions
    from evenhand.words import cards, lines

    Marks = float | Sequence[float]
    Anchors = Mapping[str, Marks] | Mapping[int, Marks] | Mapping[Label, Marks]
    Groups = Mapping[str, Label] | Mapping[int, Label] | Mapping[Label, Label]
    Range = tuple[float, float]
else:
    cards, lines = lazy("evenhand.words.cards"), lazy("evenhand.words.lines")

# Share of truths above each interval, and below.
TAIL = round((1 - LEVEL) / 2, 12)
# Items up to which a is looked at on a grid, and the grid, as logarithms.
INTEGRATED, RATIOS = 100, np.linspace(-7.0, 7.0, 29)
# Draws of values by orders alone, whose errors have no degrees of freedom to speak of.
DRAWS, MANY = 2000, 10**6
BY_CRITERION = ("item", "mark", "error", "low", "high", "standing")
"""What is said of an item by each criterion."""
# Halvings of where an interval ends.
HALVINGS = 60
# Squared errors are said to be larger from this on; by chance they often are a little.
POOR = 1.5
# What counts as rounding, and the largest scores whose errors can be squared.
ROUNDING, LARGEST, TINY = 1e-6, 1e150, 1e-300
ORDERS = ("monotone", "order only")
LINKS = ("regression", "line")
# Scores of reviewers, of so many items or more, that are on other scales altogether.
MANY_SCORES, TWENTYFOLD = 10, 20.0
REASONS = {
    "none": "scores as they are predict what held-out reviewers put higher best",
    "offset": "it pays to allow for how strict each reviewer is",
    "offset and slope": "it pays to allow for how strict each reviewer is; how widely "
    "they spread their scores is not known well enough to correct marks for it",
    ladder.CANNOT_TELL: "the data favour no model; this one equals the mean unless "
    "reviewers clearly differ in strictness",
    "": "there are no comparisons to try other assumptions about scales on",
}
SHRUNK = (
    "marks are drawn to the middle, which makes them best guesses for comparing and "
    "choosing; do not use them as exam marks, as equal work with fewer ratings would "
    "get another mark"
)
ONLY_ORDERS = "only orders can be used; the anchors give level and spread"
NO_ANCHORS = "there are no anchors that orders could be held to"
NO_ERRORS = (
    "or nothing shows how large errors are. Take the scores as marks, or collect more."
)
HOLDS = f"About {100 * LEVEL:g}% of intervals contain the true average mark if {{}}."
ASSUMED = {
    "mean": "no reviewer is stricter than another, and nobody's errors have to do with "
    "those of others",
    "additive": "each reviewer is equally strict with all items, and strictness is "
    "unrelated to which items they got and to how strict others are. "
    "Fewer do if a school, team or language has its own level, or if better items went "
    "to more lenient reviewers",
    "bradley-terry": "reviewers' orders come about as the model has it, each without "
    "regard to the others'",
}
PREDICTED = (
    f"About {100 * LEVEL:g}% of intervals contain the mark that people would give if "
    "the items that they marked are like the others, as in a random sample, and marks "
    "lie about one line with errors of one size."
)


class Grade(NamedTuple):
    """The mark of one item.

    Attributes:
        item: Which.
        mark: Its mark, within the range of marks and rounded if that was asked for; of
            an anchor, the mark that it was given, unless such marks have errors.
        estimate: The mark before it was kept within the range and rounded.
        error: Standard error of the estimate; 0 for an anchor whose mark is exact.
        low: Lower end of the 90% interval of the mark.
        high: Upper end.
        standing: "above", "below" or "open" at the pass mark; None without one.
        anchor: Whether people marked it.
        reviews: Number of scores.
        mean_score: Their plain mean; None without scores.
    """

    item: Label
    mark: float
    estimate: float
    error: float
    low: float
    high: float
    standing: str | None
    anchor: bool
    reviews: int
    mean_score: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Grades(Reportable):
    """Marks of all items.

    Attributes:
        items: Marks, highest first.
        method: The model that they come from: "mean", "additive" or "bradley-terry".
        verdict: What `check` says about the reviewers' scales; empty if it cannot.
        because: Why this model was taken; a clause.
        form: Lowest and highest score of the form; None if marks need no such range.
        parameters: What was asked for.
        seed: The seed that repeats it.
        certificate: What the marks may claim.
        data: Sizes and hash of the ratings.
        notices: What the reader must know.
        titles: What people call an item.
        means: Mean marks of groups of items, such as models; None if not asked for.
        ratings: What was marked, for `report`.
        criteria: Marks by each of several criteria alone, by the same rules.
    """

    items: tuple[Grade, ...]
    method: str
    verdict: str
    because: str
    form: Range | None
    parameters: Mapping[str, Json]
    seed: int
    certificate: Certificate
    data: Mapping[str, Json]
    notices: tuple[DataWarning, ...]
    titles: Mapping[Label, str]
    means: GroupMeans | None = None
    ratings: Ratings | None = field(default=None, compare=False)
    criteria: Mapping[str, Grades] = field(default_factory=dict, compare=False)

    @property
    def assumes(self) -> str:
        """What the intervals hold, and under which assumptions; a sentence."""
        if self.parameters["link"] == "regression":
            return PREDICTED
        return HOLDS.format(ASSUMED[self.method])

    def at(self, standing: str) -> tuple[Label, ...]:
        """Name the items that are "above", "open" or "below" at the pass mark."""
        return tuple(row.item for row in self.items if row.standing == standing)

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> ratings = Ratings(["a", "b"], ["x", "x"], [1, 2])
            >>> grade(ratings, rng=7).to_dict()["grades"][0]["mark"]
            1.5
        """
        passing: dict[str, Json] | None = None
        if self.parameters["passing"] is not None:
            passing = {"mark": self.parameters["passing"]}
            passing |= {name: self.at(name) for name in ("above", "open", "below")}
        return {
            "schema": "evenhand.grade/1",
            "grades": [row._asdict() for row in self.items],
            "passing": passing,
            "verdict": self.verdict or None,
            "because": self.because,
            "form": self.form,
            "assumes": self.assumes,
            **(
                {
                    "criteria": [
                        {
                            "name": name,
                            "grades": [
                                {field: getattr(row, field) for field in BY_CRITERION}
                                for row in grades.items
                            ],
                        }
                        for name, grades in self.criteria.items()
                    ]
                }
                if self.criteria
                else {}
            ),
            "means": None if self.means is None else self.means.to_dict(),
            **tail(self),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return the marks as a polars dataframe.

        Examples:
            >>> ratings = Ratings(["a", "b"], ["x", "x"], [1, 2])
            >>> grade(ratings, rng=7).to_frame()["mark"].to_list()
            [1.5]
        """
        rows: list[dict[str, object]] = [row._asdict() for row in self.items]
        for name, grades in self.criteria.items():
            marks = {row.item: row for row in grades.items}
            for row, mark in zip(rows, self.items, strict=True):
                by = marks.get(mark.item)
                row |= {
                    f"{name} mark": by and by.mark,
                    f"{name} error": by and by.error,
                }
        return pl.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        return lines.grades_text(self)

    def _repr_html_(self) -> str:
        """Return the marks and what they may claim, for notebooks."""
        return cards.grades_card(self).html()


class Means(NamedTuple):
    """Values of items on the scale of the scores.

    Attributes:
        values: What reviewers of this kind would give each item on average.
        squares: Squared standard errors but for a shift of all, which anchors fix.
        shared: Covariances of each item's error with those of chosen items, likewise.
        freedom: Degrees of freedom of the errors, for Student's t.
        whole: Squared standard errors with the shift, so that t gives the interval.
    """

    values: Scores
    squares: Scores
    shared: Table
    freedom: float
    whole: Scores


class _Line(NamedTuple):
    """How values become marks: value = level + slope * mark.

    `pull` takes the anchors' values to level and, if they fix it, slope; None without
    anchors. `widen` is what anchors multiply squared errors by.
    """

    level: float
    slope: float
    pull: Table | None = None
    widen: float = 1.0


@seed_as_rng
@working("Finding marks")
def grade(
    ratings: Data,
    *,
    onto: Range | None = None,
    form: Range | None = None,
    anchors: Anchors | None = None,
    link: str = "regression",
    means: Groups | str | None = None,
    sample: Assignment | str | None = None,
    shrink: bool = False,
    passing: float | None = None,
    pass_each: bool = False,
    rounding: float | None = None,
    rng: RNGLike = None,
    **reading: Unpack[ReadingOptions],
) -> Grades:
    """Give each item a mark, with its error.

    A mark is what reviewers of this kind would give on average, by the model that
    `check` finds best. Marks are not shrunk toward the average, but with `shrink`.

    Args:
        ratings: Scores; or ranks or comparisons, with at least two anchors; in a
            Ratings or a dataframe.
        onto: Lowest and highest mark. Marks are on the scale of the scores without it.
        form: Lowest and highest score of the form, which `onto` stands for. By default
            `onto` itself if scores fill more than half of it, otherwise the lowest and
            highest that were given; a notice says so.
        anchors: Marks that people gave, by item; several of an item in a list.
        link: How they count. "regression" predicts what people would give the other
            items from what judges say; "line" takes them as exact: one fixes the
            level, several that differ fix level and spread. "regression(error=5)"
            states the standard error of one person's mark, which by default comes from
            items with several marks, and is 0 without these.
        means: Group of each item, or the column of the item that is its group: asks for
            the mean mark of each by the difference estimator.
        sample: How marked items were chosen: what `assign` drew, or "declared" if they
            are a random sample that you drew yourself. `means` needs it.
        shrink: Draw marks to the middle as far as ratings are few or noisy (REML): the
            best guess of each value, for comparing and choosing; not for exam marks, as
            equal work with fewer ratings would get another mark.
        passing: Pass mark: says who is above, below, or open by the 90% interval.
        pass_each: Whether the pass mark is to be reached by each criterion as well.
        rounding: Round marks to a multiple of this, halves up.
        rng: Seed, generator or None; only marks by orders alone are drawn.
        reading: How to read a file or a dataframe, with the names that `read_ratings`
            has: `reviewer`, `item`, `score`, `rows`, `scale`, ...

    Returns:
        The marks, highest first.

    Raises:
        OptionError: If an option is out of range, anchors do not fix the spread, or
            every item is one.
        RatingsError: If an item has no score, all have one only, or there are no scores
            and fewer than two different anchors.

    Examples:
        >>> ratings = Ratings(list("aaabbbccc"), list("xyz") * 3,
        ...                   [5, 4, 2, 4, 3, 1, 5, 3, 2])
        >>> found = grade(ratings, onto=(0, 100), form=(1, 5), passing=50, rng=7)
        >>> [(row.item, round(row.mark), row.standing) for row in found.items]
        [('x', 92, 'above'), ('y', 58, 'open'), ('z', 17, 'below')]
    """
    ratings = as_ratings(ratings, grade, **reading)
    seed = seed_from(rng)
    onto = None if onto is None else _range("onto", onto)
    form = None if form is None else _form(ratings, form)
    groups = _groups(ratings, means, reading.get("item"))
    link, mark_error = _link(link)
    codes, marks, blur = _anchors(ratings, anchors or {}, onto, mark_error)
    labels = [str(ratings.item_labels[code]) for code in codes.tolist()]
    predicts = link == "regression" and len(codes) > 0
    mark = None if passing is None else _mark("passing", passing, onto)
    step = None if rounding is None else float(as_positive("rounding", rounding))
    spread = len(np.unique(marks)) > 1
    if shrink and len(codes):
        raise OptionError("shrink must be left out with anchors, which say where to.")
    method, verdict, because, notices = _model(ratings, orders=spread)
    if shrink:
        method, because = "additive", SHRUNK
    say("Finding marks")
    spanned, group_rows = form, None
    if predicts:
        values = _judges(ratings, method, seed, notices)
        group_rows = _group_means(ratings, values, codes, marks, groups, sample)
        needed = group_rows is None
        table = _predictions(values, codes, marks, blur, notices, needed=needed)
    else:
        if groups is not None:
            raise OptionError("means must come with anchors: marks that people gave.")
        adjusted = (
            shrunk_means(ratings) if shrink else _means(ratings, method, codes, seed)
        )
        if math.sqrt(adjusted.squares.max()) <= ROUNDING * np.ptp(adjusted.values):
            raise RatingsError(f"reviewers must differ somewhere, {NO_ERRORS}")
        spanned, line = _scale(ratings, onto, form, notices, needed=not spread)
        if len(codes):
            line = _fit_anchors(
                adjusted, codes, marks, line.slope, notices, spread=spread
            )
        table = _marks(adjusted, line, codes)
        table[:, codes] = marks
        table[1, codes] = 0.0
    weighing = ratings.weighing(method, used=True)
    limits = onto if onto is not None or len(codes) else form
    by: Any = {"onto": onto, "form": form, "passing": mark, "rounding": step}
    by["shrink"] = shrink
    criteria = _grade_criteria(ratings, seed, by)
    items = _rows(ratings, table, codes, limits, mark, step)
    if not isinstance(pass_each, bool) or (
        pass_each and not (criteria and by["passing"])
    ):
        rule = "left out without a pass mark and criteria on one scale"
        raise must_be("pass_each", rule, pass_each)
    if pass_each:
        items = tuple(_pass_each(row, criteria) for row in items)
    return Grades(
        items=items,
        method=method,
        verdict=verdict,
        because=because,
        form=spanned,
        parameters={
            "onto": onto,
            "form": form,
            "anchors": dict(zip(labels, marks.tolist(), strict=True)),
            "link": link if len(codes) else None,
            "shrink": shrink,
            "passing": mark,
            "rounding": step,
            **({"pass_each": True} if pass_each else {}),
        },
        criteria=criteria,
        seed=seed,
        certificate=certify(Claim("grades", method=method)),
        data=ratings.summary(),
        notices=(*ratings.notices, *weighing, *notices),
        titles=ratings.titles,
        means=group_rows,
        ratings=ratings,
    )


def _grade_criteria(
    ratings: Ratings, seed: int, options: dict[str, Any]
) -> dict[str, Grades]:
    """Mark items by each criterion alone; of different scales, on its own."""
    if ratings.criteria is None:
        return {}
    if ratings.criteria.summed:
        options = {"rounding": options["rounding"]}
    return {
        name: grade(ratings.with_criteria(name), **options, rng=seed)
        for name in ratings.criteria.names
    }


def _pass_each(row: Grade, criteria: Mapping[str, Grades]) -> Grade:
    """Say that an item is above only if it is by the total and by each criterion."""
    standings = [row.standing]
    for grades in criteria.values():
        standings += [by.standing for by in grades.items if by.item == row.item]
    if "below" in standings:
        return row._replace(standing="below")
    return row._replace(standing="above" if {*standings} == {"above"} else "open")


def _range(name: str, value: object) -> Range:
    try:
        low, high = (float(as_finite(name, bound)) for bound in value)  # type: ignore[attr-defined]  # that is the question
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:
        raise must_be(name, "two numbers, the lower one first", value)
    return low, high


def _form(ratings: Ratings, form: Range) -> Range:
    low, high = _range("form", form)
    least, most = float(ratings.scores.min()), float(ratings.scores.max())
    if not low <= least <= most <= high:
        rule = f"a range that holds every score, from {least:g} to {most:g}"
        raise must_be("form", rule, (low, high))
    return low, high


def _mark(name: str, value: object, onto: Range | None) -> float:
    """Return a mark, which must be within the range of marks if there is one."""
    mark = float(as_finite(name, value))
    if onto is not None and not onto[0] <= mark <= onto[1]:
        raise must_be(name, f"from {onto[0]:g} to {onto[1]:g}, as marks are", mark)
    return mark


def _link(text: str) -> tuple[str, float | None]:
    """Return how anchors count, and the error of a mark if it is stated."""
    call = parse(text, "link", "regression(error=5)")
    name, error = choice("link", *LINKS)(call.name), call.named.get("error")
    if call.given or set(call.named) - {"error"} or (call.named and name == "line"):
        raise must_be("link", "line, regression or regression(error=NUMBER)", text)
    return name, None if error is None else float(as_positive("error", error))


def _anchors(
    ratings: Ratings, anchors: Anchors, onto: Range | None, mark_error: float | None
) -> tuple[Codes, Scores, Scores]:
    """Return the items that people marked, mean marks, and their squared errors."""
    if not isinstance(anchors, Mapping):
        raise must_be("anchors", "marks by item", anchors)
    every: dict[int, list[float]] = {}
    for label, marks in anchors.items():
        listed = marks if isinstance(marks, Sequence | np.ndarray) else [marks]
        named = [_mark(f"anchor of {label!r}", mark, onto) for mark in listed]
        every[ratings.item_code(label)] = named or [
            _mark(f"anchor of {label!r}", None, onto)
        ]
    codes = sorted(every)
    if len(codes) == ratings.n_items:
        raise OptionError(
            f"anchors must leave an item to grade, got marks of all {len(codes)}. Give "
            "only marks that do not depend on these ratings, and leave out those of "
            "the items to be graded."
        )
    counts = np.array([len(every[code]) for code in codes])
    freedom = int((counts - 1).sum())
    square = sum(len(every[code]) * float(np.var(every[code])) for code in codes)
    square /= max(freedom, 1)
    if mark_error is not None:
        square = mark_error**2
    means = [float(np.mean(every[code])) for code in codes]
    return np.array(codes, dtype=np.int64), np.array(means), square / counts


def item_groups(ratings: Ratings, column: str, item: object) -> dict[Label, str]:
    """Return for each item its label in one of the columns that name it.

    Args:
        ratings: The ratings.
        column: The column.
        item: All columns that name an item, in a list or with + between them.

    Raises:
        OptionError: If the column is none of several.

    Examples:
        >>> ratings = Ratings(["a"], ["m1 / p7"], [3])
        >>> item_groups(ratings, "model", ["model", "prompt"])
        {'m1 / p7': 'm1'}
    """
    columns = item.split("+") if isinstance(item, str) else item
    parts = list(columns) if isinstance(columns, Sequence) else []
    if column not in parts or len(parts) == 1:
        rule = "a column that names items together with others, as --means model with"
        raise must_be("means", f"{rule} --item model+prompt", column)
    place = parts.index(column)
    labels = ratings.item_labels
    return {label: str(label).split(BETWEEN)[place] for label in labels}


def _groups(
    ratings: Ratings, means: Groups | str | None, item: object
) -> tuple[list[Label], Codes] | None:
    """Return names of groups, and the group of each item."""
    if means is None:
        return None
    if isinstance(means, str):
        means = item_groups(ratings, means, item)
    if lacking := [label for label in ratings.item_labels if label not in means]:
        text = f"means must hold a group for each item, got none for {lacking[0]!r}."
        raise OptionError(text)
    groups = [means[label] for label in ratings.item_labels]  # type: ignore[index]  # keys are labels
    names = sorted(set(groups), key=place_of)
    return names, np.array([names.index(group) for group in groups])


def _judges(
    ratings: Ratings, method: str, seed: int, notices: list[DataWarning]
) -> Scores:
    """Return what judges say of each item, drawn to the middle as far as it is unsure.

    Scores are weighed by how reliable each reviewer is; where scales differ twentyfold,
    each reviewer's are in units of their own spread.
    """
    if method == "bradley-terry":
        return _means(ratings, method, np.empty(0, dtype=np.int64), seed).values
    people, scores = ratings.reviewer_codes, ratings.scores
    loads = np.bincount(people)
    away = scores - (np.bincount(people, scores) / loads)[people]
    spread = np.sqrt(np.bincount(people, away**2) / loads)
    many = np.flatnonzero((loads >= MANY_SCORES) & (spread > 0))
    if len(many) > 1 and spread[many].max() >= TWENTYFOLD * spread[many].min():
        wide, narrow = many[spread[many].argmax()], many[spread[many].argmin()]
        facts: dict[str, Json] = {"factor": float(spread[wide] / spread[narrow])}
        facts["wide"] = ratings.reviewer_labels[int(wide)]
        facts["narrow"] = ratings.reviewer_labels[int(narrow)]
        notices.append(DataWarning("scales_differ", facts))
        scores = away / np.where(spread > 0, spread, 1.0)[people]
    matrix, slopes = reliable_scores(build_matrix(ratings, scores))
    return Equations(matrix).fit(matrix.scores / slopes).items


def _group_means(
    ratings: Ratings,
    values: Scores,
    codes: Codes,
    marks: Scores,
    groups: tuple[list[Label], Codes] | None,
    sample: Assignment | str | None,
) -> GroupMeans | None:
    """Estimate means of groups from the marks of the sample."""
    if groups is None:
        return None
    if sample is None or (isinstance(sample, str) and sample != "declared"):
        rule = "what evenhand assign --sample drew, or 'declared' for a random sample"
        raise must_be("sample", f"{rule} that you drew yourself", sample)
    if isinstance(sample, str):
        return people.group_means(values, codes, marks, groups[1], groups[0])
    drawn = {ratings.item_code(str(item)) for _, item in sample.rows}
    lacking = sorted(drawn - set(codes.tolist()))
    if lacking:
        first = ratings.item_labels[lacking[0]]
        raise OptionError(
            f"anchors must mark every item that was drawn, got none of {len(lacking)}, "
            f"{first!r} first. Who is left out would choose the sample."
        )
    inside = np.isin(codes, list(drawn))
    rows = people.group_means(
        values, codes[inside], marks[inside], groups[1], groups[0]
    )
    return rows._replace(sample="drawn")


def _predictions(
    values: Scores,
    codes: Codes,
    marks: Scores,
    blur: Scores,
    notices: list[DataWarning],
    *,
    needed: bool,
) -> Table:
    """Return rows of marks that people would give, errors, and ends of intervals.

    Marks with a known error are those of many people, as far as can be seen: that error
    is taken out of the intervals, and a marked item has its own mark and the line's.
    """
    line = people.fit_line(values[codes], marks, needed=needed)
    if line.slope == 0:
        notices.append(
            DataWarning("judges_unrelated", {"correlation": line.correlation})
        )
    estimates, squares = line.predict(values)
    # Of marks on the line nothing could be learnt.
    about = max(line.square - float(blur.mean()), ROUNDING * line.square)
    squares = squares + about
    share = squares[codes] / (squares[codes] + blur)
    estimates[codes] += share * (marks - estimates[codes])
    squares[codes] *= 1 - share
    errors = np.sqrt(squares)
    reach = float(t_far(line.freedom)) * errors
    return np.stack([estimates, errors, estimates - reach, estimates + reach])


def _model(
    ratings: Ratings, *, orders: bool
) -> tuple[str, str, str, list[DataWarning]]:
    """Return the model, what the ladder says, why the model, and notices."""
    groups = linked_groups(ratings)
    warnings = data_notices(ratings, prior=False)
    notices = list(fit_notices(warnings, groups, across="levels"))
    verdict = ""
    if not ladder.why_no_ladder(ratings):
        verdict = ladder.climb(ratings).verdict
    if ratings.kind != "scores" or verdict in ORDERS:
        if orders:
            return "bradley-terry", verdict, ONLY_ORDERS, notices
        if ratings.kind != "scores":
            raise RatingsError(
                f"grade needs scores, but the data holds only {ratings.kind}. Give "
                "anchors: at least two items with different marks, which fix level and "
                "spread."
            )
        notices.append(DataWarning("scores_mislead"))
        return "additive", verdict, NO_ANCHORS, notices
    method = "mean" if verdict == "none" else "additive"
    return method, verdict, REASONS[verdict], notices


def _means(ratings: Ratings, method: str, codes: Codes, seed: int) -> Means:
    """Return values and their errors by the model, on the scale that it has."""
    if method == "bradley-terry":
        drawn = draw_from_orders(ratings, DRAWS, seed)
        away = drawn - drawn.mean(axis=0)
        shared = away.T @ away[:, codes] / DRAWS
        squares = drawn.var(axis=0)
        return Means(drawn.mean(axis=0), squares, shared, MANY, squares)
    return adjusted_means(ratings, codes, offsets=method != "mean")


def adjusted_means(
    ratings: Ratings, chosen: Codes | Sequence[int] = (), *, offsets: bool = True
) -> Means:
    """Return each item's mean score, less what is known of its reviewers' strictness.

    Args:
        ratings: Scores.
        chosen: Items with which covariances are wanted.
        offsets: Whether reviewers differ at all; if not, these are plain means.

    Raises:
        RatingsError: If there are no scores, an item has none, none has two, or they
            are too large to be squared.

    References:
        Henderson (1975), Best linear unbiased estimation and prediction.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aabbcc"), list("xyyzzx"), [9, 7, 3, 2, 6, 9])
        >>> adjusted_means(ratings, offsets=False).values.tolist()
        [9.0, 5.0, 4.0]
        >>> adjusted_means(ratings).values.round(1).tolist()
        [8.0, 5.5, 4.5]
    """
    matrix = build_matrix(ratings)
    require_ratings(ratings, "grade")
    if matrix.unit > LARGEST:
        raise RatingsError(
            f"scores must be below {LARGEST:g} to be graded, or squares of errors are "
            "no numbers. Divide all scores by the same number."
        )
    freedom = len(matrix.scores) - matrix.n_items
    if freedom == 0:
        raise RatingsError(f"items must have two scores or more, {NO_ERRORS}")
    links = Links(matrix)
    sums, columns = links.add_up(matrix.scores), np.asarray(chosen, dtype=np.int64)
    ratios = np.exp(RATIOS) if offsets else np.zeros(1)
    if offsets and matrix.n_items > INTEGRATED:
        parts = Equations(matrix).fit(matrix.scores).variances
        ratios = np.array([min(parts.reviewer / max(parts.rest, TINY), MOST)])
    with one_thread(matrix.n_items):
        answers = [
            _at(links, sums, ratio, columns, freedom) for ratio in ratios.tolist()
        ]
    fits, values, squares, shared, shifts = (
        np.array(part) for part in zip(*answers, strict=True)
    )
    if len(fits) > 1:
        fits += np.log(ratios) - 2 * np.log1p(ratios)
    share = np.exp(fits - fits.max())
    share /= share.sum()
    middle, unit = share @ values, matrix.unit
    away = values - middle
    shared = np.tensordot(share, shared, 1) + (share * away.T) @ away[:, columns]
    whole = squares + shifts[:, None]
    # Of one fitted ratio the shift is as uncertain as a mean of so many offsets.
    law = freedom if len(fits) > 1 else _freedom(whole, shifts, freedom, links)
    halves = _halves(share, away, np.sqrt(whole), law) / t_far(freedom)
    squares = share @ (squares + away**2)
    return Means(
        (middle + matrix.centre) * unit,
        squares * unit**2,
        shared * unit**2,
        freedom,
        (halves * unit) ** 2,
    )


def shrunk_means(ratings: Ratings) -> Means:
    """Return the best guess of each item's value: drawn to the middle, by REML.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aabbcc"), list("xyyzzx"), [9, 7, 3, 2, 6, 9])
        >>> shrunk_means(ratings).values.round(1).tolist()
        [7.7, 5.7, 4.7]
    """
    matrix = build_matrix(ratings)
    equations = Equations(matrix)
    mixed = equations.fit(matrix.scores)
    parts, number = mixed.variances, len(matrix.scores)
    # Values are known about the mean of the items, which is unsure itself.
    shift = parts.reviewer / matrix.n_reviewers + parts.rest / number
    squares = (equations.errors(parts)[1] ** 2 + shift) * matrix.unit**2
    values = (mixed.items + mixed.mean + matrix.centre) * matrix.unit
    freedom = max(number - matrix.n_items, 1)
    return Means(values, squares, np.zeros((len(values), 0)), freedom, squares)


def _freedom(whole: Table, shifts: Table, freedom: int, links: Links) -> Table:
    """Return the degrees of freedom of a sum of two variances, by Satterthwaite."""
    share = shifts[:, None] / np.maximum(whole, TINY)
    others = max(len(links.loads) - 1, 1)
    return np.asarray(1 / ((1 - share) ** 2 / freedom + share**2 / others))


def _halves(share: Table, away: Table, spread: Table, freedom: Table | int) -> Scores:
    """Return how far about the middle 90% of a mixture of Student's t reach.

    Args:
        share: Of each part, which are rows of the others.
        away: Where parts are, from the middle.
        spread: How wide they are.
        freedom: Their degrees of freedom.
    """
    spread = np.maximum(spread, TINY)
    low, high = np.zeros(away.shape[1]), (spread + np.abs(away)).max(axis=0)
    high *= 2 * np.max(t_far(freedom))
    for _ in range(HALVINGS):
        reach = (low + high) / 2
        ends = stdtr(freedom, (np.array([[[-1]], [[1]]]) * reach - away) / spread)
        inside = share @ (ends[1] - ends[0]) < 1 - 2 * TAIL
        low, high = np.where(inside, reach, low), np.where(inside, high, reach)
    return np.asarray(high)


def t_far(freedom: Table | float) -> Table:
    """Return how many standard errors an interval reaches by Student's t.

    Examples:
        >>> round(float(t_far(10)), 3)
        1.812
    """
    return np.asarray(stdtrit(freedom, 1 - TAIL))


def _at(
    links: Links, sums: Sums, ratio: float, columns: Codes, freedom: int
) -> tuple[float, Scores, Scores, Table, float]:
    """Return the log likelihood at one a, values and errors there, and the shift's."""
    weights, n_items = ratio / (1 + ratio * links.loads), len(links.counts)
    matrix, back = links.matrix[:, 1:], links.back[1:]

    def product(columns: Table) -> Table:
        moved = back @ (weights[:, None] * (matrix @ columns))
        return np.asarray(links.counts[:, None] * columns - moved)

    table = links.table(ratio)[1:, 1:] if n_items <= solver.TABLE else None
    inside = Definite(product, links.diagonal(ratio)[1:], table)
    right = np.zeros((n_items, 1 + len(columns)))
    right[:, 0] = links.pull(sums, ratio)[1:]
    right[columns, np.arange(len(columns)) + 1] = 1.0
    solution = inside.solve(right)
    remaining = sums.squares - weights @ sums.dropped**2 - right[:, 0] @ solution[:, 0]
    # Rounding leaves about this much of the squares however well the model fits.
    residual = float(np.maximum(remaining, 1e-15 * sums.squares)) / freedom
    # Beyond a table there is one ratio alone, so its likelihood does not matter.
    size = np.nan_to_num(inside.determinant) + np.log1p(ratio * links.loads).sum()
    fit = -(freedom * np.log(residual or 1.0) + size) / 2
    level = ratio / len(links.loads)
    squares = residual * np.maximum(inside.inverse_diagonal() - level, 0)
    return (
        fit,
        solution[:, 0],
        squares,
        residual * (solution[:, 1:] - level),
        residual * level,
    )


def _scale(
    ratings: Ratings,
    onto: Range | None,
    form: Range | None,
    notices: list[DataWarning],
    *,
    needed: bool,
) -> tuple[Range | None, _Line]:
    """Return the range of scores that marks stand for, and how they do."""
    if onto is None or not needed:
        return form, _Line(0.0, 1.0)
    low, high = form or (float(ratings.scores.min()), float(ratings.scores.max()))
    if form is None:
        case, inside = "ends", onto[0] <= low and high <= onto[1]
        if inside and 2 * (high - low) > onto[1] - onto[0]:
            case, (low, high) = "marks", onto
        facts: dict[str, Json] = {"case": case, "low": low, "high": high}
        notices.append(DataWarning("form_assumed", facts))
    slope = (high - low) / (onto[1] - onto[0])
    return (low, high), _Line(low - slope * onto[0], slope)


def _fit_anchors(
    means: Means,
    codes: Codes,
    marks: Scores,
    slope: float,
    notices: list[DataWarning],
    *,
    spread: bool,
) -> _Line:
    """Fit value = level + slope * mark to the anchors, by generalised least squares.

    Marks of anchors are known and values are not, so values are fitted to marks: the
    other way round would draw marks to the middle.
    """
    error = means.shared[codes]
    error = error + 1e-9 * (np.trace(error) or 1.0) * np.eye(len(codes))
    precision = np.linalg.inv(error)
    inputs = np.ones((len(codes), 1))
    wanted = means.values[codes] - slope * marks
    if spread:
        inputs, wanted = np.column_stack([inputs, marks]), means.values[codes]
    covariance = np.linalg.inv(inputs.T @ precision @ inputs)
    pull = covariance @ inputs.T @ precision
    coefficients = pull @ wanted
    residuals = wanted - inputs @ coefficients
    freedom = len(codes) - inputs.shape[1]
    widen = (
        max(1.0, float(residuals @ precision @ residuals) / freedom) if freedom else 1.0
    )
    if widen > POOR:
        notices.append(DataWarning("anchors_differ", {"factor": math.sqrt(widen)}))
    if spread:
        slope = max(float(coefficients[1]), 0.0)
    return _Line(float(coefficients[0]), slope, pull, widen)


def _marks(means: Means, line: _Line, codes: Codes) -> Table:
    """Return rows of marks, their errors, and the ends of their intervals.

    An interval holds each mark m for which value - level - slope * m is within its own
    error of 0 (Fieller's), as the slope may be uncertain. Its square is a + 2 b m + c m
    squared.
    """
    values = means.values - line.level
    a, b, c = means.whole, np.zeros_like(values), 0.0
    if line.pull is not None:
        moved = line.pull @ means.shared[codes] @ line.pull.T
        tied = means.shared @ line.pull.T
        a = means.squares - 2 * tied[:, 0] + moved[0, 0]
        if len(line.pull) > 1:
            b, c = moved[0, 1] - tied[:, 1], float(moved[1, 1])
    far = line.widen * float(t_far(means.freedom)) ** 2
    square = line.slope**2 - far * c
    if square <= 0:
        raise OptionError(
            "anchors must have clearly higher marks where reviewers gave higher "
            "scores, or they do not fix the spread of marks. Give anchors that differ "
            "more, or one alone, which fixes the level."
        )
    marks = values / line.slope
    errors = np.sqrt(line.widen * np.maximum(a + 2 * b * marks + c * marks**2, 0))
    middle = line.slope * values + far * b
    root = np.sqrt(np.maximum(middle**2 - square * (values**2 - far * a), 0))
    ends = (middle - root) / square, (middle + root) / square
    return np.stack([marks, errors / line.slope, *ends])


def _rows(
    ratings: Ratings,
    table: Table,
    codes: Codes,
    limits: Range | None,
    passing: float | None,
    step: float | None,
) -> tuple[Grade, ...]:
    """List marks from estimates, errors, and the ends of intervals."""
    estimates, errors, *ends = table
    marks = estimates
    if step is not None:
        # A half that floats miss by their last digit is still a half.
        marks = np.round(np.floor(estimates / step + 0.5 + 1e-9) * step, 10)
    marks, *ends = np.clip([marks, *ends], *(limits or (-math.inf, math.inf)))
    standing, plain = (np.full(len(marks), None) for _ in range(2))
    if passing is not None:
        sides = [ends[0] >= passing, ends[1] < passing]
        standing = np.select(sides, ["above", "below"], "open")
    counts = np.bincount(ratings.item_codes)
    if ratings.kind == "scores":
        plain = np.bincount(ratings.item_codes, ratings.scores) / counts
    is_anchor = np.isin(np.arange(len(marks)), codes)
    order = np.argsort(-estimates, kind="stable")
    columns = (marks, estimates, errors, *ends, standing, is_anchor, counts, plain)
    labels = [ratings.item_labels[code] for code in order.tolist()]
    return tuple(map(Grade, labels, *(column[order].tolist() for column in columns)))

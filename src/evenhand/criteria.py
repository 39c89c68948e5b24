"""Several criteria: the scores of one form, and the total that decisions use.

The total is the weighted mean of the criteria, so that it stays on the form's scale; of
criteria on different scales, whose weights must be said, it is the weighted sum. A
form's own overall, named among them without a weight, is the total itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor, lcm, log10
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from evenhand.arrays import frozen
from evenhand.claims import TOTAL_OF_CRITERIA, DataWarning
from evenhand.columns import name_words, number_series
from evenhand.errors import OptionError, listing, must_be, quote, unknown

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Flags, Scores, Table
    from evenhand.claims import Json
    from evenhand.columns import Source

Scored: TypeAlias = "str | Sequence[str] | Mapping[str, float]"
"""A column of scores; or several criteria, maybe with weights."""
Weights: TypeAlias = "Mapping[str, float | None]"
TOTAL = "total"
RESCALE, LEAVE_OUT = "rescale", "leave-out"
OVERALL = re.compile(
    r"(?:overall |final )?(?:merit|rating|score|evaluation|recommendation|assessment|"
    r"grade|mark)|overall|ove mer|ove rat|ove sco|ove eva"
)
"""What the score of a form is called where other fields stand beside it."""
# Criteria may be of other scales if both their widths and their largest differ so much.
OTHER_SCALE = 2.0
MOST_MISSING = 0.5
# A column that says a sum or a mean may be rounded to two decimals.
ROUNDED = 0.0051
FEWEST_ROWS = 4
CODES = (TOTAL_OF_CRITERIA, "missing_criteria", "constant_criterion")
"""Warnings about criteria."""
# Weights that floats can add up.
SMALLEST = 1e-9
# Totals that are equal must not differ by the rounding of a product.
DECIMALS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Criteria:
    """The criteria of some ratings, and how they make up the total.

    Attributes:
        names: What they are called, in the order in which they were named.
        weights: How much a point of each counts; 0 for one that is only shown.
        scores: The scores of each rating, in the order of the ratings, with a column
            for each criterion; nan where one is missing.
        overall: The form's own overall, if that is the total; empty otherwise.
        summed: Whether the total is the weighted sum, not the weighted mean.
        rescaled: Whether the total of a rating is the mean of the criteria it has.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]
    scores: Table = field(repr=False)
    overall: str = ""
    summed: bool = False
    rescaled: bool = False

    def take(self, rows: Codes) -> Criteria:
        """Return the criteria of some ratings."""
        return replace(self, scores=frozen(self.scores[rows]))

    @property
    def shares(self) -> Scores:
        """Share of each criterion in the weights; zeros under the form's own overall.

        Examples:
            >>> Criteria(("a", "b"), (3, 1), np.zeros((1, 2))).shares.tolist()
            [0.75, 0.25]
        """
        weights = np.array(self.weights, dtype=float)
        return weights / (weights.sum() or 1.0)

    @property
    def counting(self) -> list[tuple[str, float]]:
        """The criteria that count, with their weights.

        Examples:
            >>> Criteria(("a", "b"), (3, 0), np.zeros((1, 2))).counting
            [('a', 3)]
        """
        pairs = zip(self.names, self.weights, strict=True)
        return [(name, weight) for name, weight in pairs if weight]

    def column(self, name: str) -> int:
        """Return the place of a criterion.

        Raises:
            OptionError: If there is no such criterion.
        """
        if name not in self.names:
            raise OptionError(unknown("criterion", name, self.names))
        return self.names.index(name)

    def to_dict(self) -> dict[str, Json]:
        """Return names and weights, and what the total is.

        Examples:
            >>> Criteria(("a", "b"), (3, 1), np.zeros((1, 2))).to_dict()["total"]
            'weighted mean'
        """
        kind = "weighted sum" if self.summed else "weighted mean"
        return {
            "names": list(self.names),
            "weights": list(self.weights),
            "total": self.overall or kind,
            "missing": RESCALE if self.rescaled else LEAVE_OUT,
        }


def read_weights(scored: object) -> tuple[str, dict[str, float | None]]:
    """Return the column of the score, or else criteria with weights, None if not said.

    Raises:
        OptionError: If it is neither, a name stands twice, or a weight is bad.

    Examples:
        >>> read_weights("merit"), read_weights(["a", "b"]), read_weights({"a": 2.0})
        (('merit', {}), ('', {'a': None, 'b': None}), ('a', {}))
    """
    if scored is None or isinstance(scored, str):
        return scored or "", {}
    listed = [*scored] if isinstance(scored, Mapping | Sequence) else []
    if not listed or not all(isinstance(name, str) and name for name in listed):
        rule = "the name of a column, a list of names, or weights by their names"
        raise must_be("score", rule, scored)
    weights = dict(scored) if isinstance(scored, Mapping) else dict.fromkeys(listed)
    if len(weights) < len(listed):
        raise must_be("score", "of different criteria", listed)
    return _check_weights(weights, unsaid=not isinstance(scored, Mapping))


def parse_scores(texts: Sequence[str]) -> tuple[str, dict[str, float | None]]:
    """Read criteria as the command line has them: NAME or NAME=WEIGHT.

    Examples:
        >>> parse_scores(["novelty", "soundness=2"])
        ('', {'novelty': None, 'soundness': 2.0})
        >>> parse_scores(["merit"])
        ('merit', {})
    """
    weights: dict[str, Any] = {}
    for text in texts:
        if not text.strip():
            raise OptionError("score must be given a name, got ''.")
        name, _, number = text.rpartition("=")
        weight = None
        if name:
            try:
                weight = float(number)
            except ValueError:
                name = ""
        if (name or text) in weights:
            raise OptionError(f"--score {name or text} must be given once.")
        weights[name or text] = weight
    return _check_weights(weights, unsaid=True)


def _check_weights(
    weights: dict[str, Any], *, unsaid: bool
) -> tuple[str, dict[str, float | None]]:
    """Refuse bad weights; one criterion alone is the score."""
    for name, weight in weights.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        good = number and (weight == 0 or SMALLEST <= weight <= 1 / SMALLEST)
        if not good and not (unsaid and weight is None):
            rule = f"0, or from {SMALLEST:g} to {1 / SMALLEST:g}"
            raise must_be(f"the weight of {quote(name)}", rule, weight)
    if len(weights) < 2:
        return next(iter(weights), ""), {}
    if all(weight == 0 for weight in weights.values()):
        raise must_be("a weight", "above 0 for one criterion at least", 0)
    return "", weights


def weigh(
    columns: Mapping[str, tuple[Scores, Flags]],
    weights: Weights,
    source: Source,
    missing: str = "",
) -> tuple[Criteria, pl.Series, tuple[DataWarning, ...]]:
    """Add up criteria.

    Args:
        columns: Numbers of each criterion, and where there are none.
        weights: How much each counts, None where that was not said.
        source: Where they came from, for messages.
        missing: What becomes of a rating that lacks a criterion: it has no total,
            "leave-out" or empty, or the mean of those that it has, "rescale".

    Returns:
        The criteria, the total of each rating, null if there is none, and warnings.

    Raises:
        RatingsError: If criteria cannot be added up without a word of the user's.
        OptionError: If `missing` is unknown, or "rescale" of different scales.

    Examples:
        >>> from evenhand.columns import Source
        >>> none = np.zeros(2, dtype=bool)
        >>> columns = {"a": (np.array([1.0, 4]), none), "b": (np.array([4.0, 2]), none)}
        >>> weigh(columns, {"a": None, "b": 2.0}, Source())[1].to_list()
        [3.0, 2.666666666667]
    """
    if missing not in ("", RESCALE, LEAVE_OUT):
        raise must_be("missing_criteria", f"{RESCALE!r} or {LEAVE_OUT!r}", missing)
    scores = np.column_stack(
        [np.where(lacks, np.nan, numbers) for numbers, lacks in columns.values()]
    )
    names = tuple(columns)
    declared = [weights[name] for name in names]
    overall = _own_overall(names, declared)
    if overall:
        place = names.index(overall)
        kept = [column for column in range(len(names)) if column != place]
        beside = tuple(names[column] for column in kept)
        shown = Criteria(beside, (0.0,) * len(kept), scores[:, kept], overall)
        return shown, _null_nan(scores[:, place]), ()
    counted = np.array([weight != 0 for weight in declared])
    used = [name for name, counts in zip(names, counted, strict=True) if counts]
    warnings = _check_columns(scores[:, counted], used, source, missing)
    summed = _of_other_scales(scores[:, counted])
    if summed and None in declared:
        raise source.whole(_scales_differ(scores[:, counted], used))
    if summed and missing == RESCALE:
        rule = "left out where criteria have different scales"
        raise must_be("missing_criteria", rule, missing)
    numbers = tuple(1.0 if weight is None else float(weight) for weight in declared)
    criteria = Criteria(names, numbers, scores, "", summed, missing == RESCALE)
    facts: dict[str, Json] = {"criteria": used, "total": total_text(criteria)}
    total = DataWarning(TOTAL_OF_CRITERIA, facts)
    return criteria, _null_nan(totals(criteria)), (total, *warnings)


def totals(criteria: Criteria) -> Scores:
    """Return the total of each rating, nan where it has none."""
    exact = [Fraction(str(weight)) for weight in criteria.weights]
    scale = lcm(*(weight.denominator for weight in exact))
    weights = np.array([float(weight * scale) for weight in exact])
    scores = criteria.scores[:, weights > 0]
    weights = weights[weights > 0]
    if criteria.rescaled:
        there = np.isfinite(scores)
        size = there @ weights
        sums = np.where(there, scores, 0.0) @ weights
    else:
        size, sums = weights.sum() + np.zeros(len(scores)), scores @ weights
    size = np.where(size > 0, scale if criteria.summed else size, np.nan)
    exact_totals = sums / size
    largest = float(np.nanmax(np.abs(exact_totals), initial=0.0))
    decimals = DECIMALS - min(floor(log10(largest)) + 1, 0) if largest else DECIMALS
    rounded: Scores = np.round(exact_totals, decimals) + 0.0
    return rounded


def _null_nan(numbers: Scores) -> pl.Series:
    return pl.Series(numbers).fill_nan(None)


def _own_overall(names: Sequence[str], declared: Sequence[float | None]) -> str:
    """Return the form's own overall, if one of the names without a weight is that."""
    called = [
        name
        for name, weight in zip(names, declared, strict=True)
        if weight is None and OVERALL.fullmatch(" ".join(name_words(name)))
    ]
    return called[0] if len(called) == 1 else ""


def _widths(scores: Table) -> tuple[Scores, Scores]:
    """Return the least and the largest score of each criterion."""
    return np.nanmin(scores, axis=0), np.nanmax(scores, axis=0)


def _of_other_scales(scores: Table) -> bool:
    low, high = _widths(scores)
    widths, tops = high - low, np.maximum(np.abs(low), np.abs(high))
    widths, tops = widths[high > low], tops[high > low]
    if len(widths) < 2:
        return False
    wide, narrow = np.argmax(widths), np.argmin(widths)
    return bool(
        widths[wide] >= OTHER_SCALE * widths[narrow]
        and max(tops[wide], tops[narrow]) >= OTHER_SCALE * min(tops[wide], tops[narrow])
    )


def _scales_differ(scores: Table, names: Sequence[str]) -> str:
    low, high = _widths(scores)
    wide, narrow = int(np.argmax(high - low)), int(np.argmin(high - low))
    shown = [
        f"{quote(names[place])} goes from {low[place]:g} to {high[place]:g}"
        for place in (wide, narrow)
    ]
    weight = max(round(float((high - low)[wide] / max((high - low)[narrow], 1e-9))), 1)
    return (
        f"Criteria have different scales: {shown[0]}, {shown[1]}. Say how much a point "
        f"of each counts, such as --score {names[wide]}=1 --score "
        f"{names[narrow]}={weight}."
    )


def _check_columns(
    scores: Table, names: Sequence[str], source: Source, missing: str
) -> tuple[DataWarning, ...]:
    """Refuse criteria that must not be added up in silence, and say what is missing."""
    there = np.isfinite(scores)
    rated = there.any(axis=1)
    scores, there = scores[rated], there[rated]
    for name, share in zip(names, (~there).mean(axis=0).tolist(), strict=True):
        if len(there) and share == 1:
            raise source.whole(f"No rating has a score for {quote(name)}. Leave it out")
        if share >= MOST_MISSING and missing == "":
            raise source.whole(
                f"{quote(name)} is missing in {share:.0%} of the ratings, which would "
                "have no total. Leave this criterion out, or say what to do: "
                f"missing_criteria= or --missing-criteria {RESCALE} or {LEAVE_OUT}."
            )
    warnings = []
    whole = scores[there.all(axis=1)]
    if len(whole) >= FEWEST_ROWS:
        for place, name in enumerate(names) if len(names) > 2 else ():
            others = np.delete(whole, place, axis=1)
            for word, added in (("sum", others.sum(1)), ("mean", others.mean(1))):
                varies = np.ptp(whole[:, place]) > 0
                if varies and (np.abs(added - whole[:, place]) < ROUNDED).all():
                    parts = listing(_without(names, name))
                    raise source.whole(
                        f"{quote(name)} is the {word} of {parts} in every rating, so "
                        "these would count twice. Leave it out."
                    )
        for place in np.flatnonzero(np.ptp(whole, axis=0) == 0).tolist():
            facts: dict[str, Json] = {"criterion": names[place]}
            score = float(whole[0, place])
            warnings.append(DataWarning("constant_criterion", facts | {"score": score}))
    partly = ~there.all(axis=1)
    if partly.any():
        counts = zip(names, (~there).sum(axis=0).tolist(), strict=True)
        lacking: list[Json] = [[name, count] for name, count in counts if count]
        case = RESCALE if missing == RESCALE else LEAVE_OUT
        warnings.append(
            DataWarning(
                "missing_criteria",
                {"case": case, "rows": int(partly.sum()), "criteria": lacking},
            )
        )
    return tuple(warnings)


def _without(names: Sequence[str], name: str) -> list[str]:
    return [each for each in names if each != name]


def number_columns(
    columns: Mapping[str, object], names: Sequence[str], source: Source
) -> dict[str, tuple[Scores, Flags]]:
    """Read the columns of some criteria as numbers.

    Raises:
        RatingsError: If there is no such column, or a score is no number.
    """
    for name in names:
        if name not in columns:
            raise source.unknown("column", name, columns)
    return {name: number_series(columns[name], name, source) for name in names}


def total_text(criteria: Criteria) -> str:
    """Say what the total is.

    Examples:
        >>> total_text(Criteria(("a", "b"), (2, 1), np.zeros((1, 2))))
        '(2 a + b) / 3'
    """
    if criteria.overall:
        return criteria.overall
    used = zip(criteria.names, criteria.weights, strict=True)
    terms = [
        f"{weight:g} {name}" if weight != 1 else name for name, weight in used if weight
    ]
    text = " + ".join(terms)
    if criteria.summed or len(terms) == 1:
        return text
    return f"({text}) / {sum(criteria.weights):g}"

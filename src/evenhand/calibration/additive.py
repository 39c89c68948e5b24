"""Each reviewer adds an offset: score = mean + reviewer + item + rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand._results import Notice
from evenhand.calibration._design import (
    Design,
    data_notices,
    design,
    group_notices,
    linked_groups,
    require_rated,
    totals,
)
from evenhand.calibration._least_squares import two_way
from evenhand.calibration._reml import LEAST, Components, Sums, dot, maximise
from evenhand.calibration._tables import TABLE, Links, PassSystem, TableSystem
from evenhand.calibration.results import Fit, Variances, frozen, settled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ratings import Ratings

    Scores = NDArray[np.float64]

START = (0.3, 1.0)


def additive(ratings: Ratings, *, shrink: bool = False) -> Fit:
    """Fit an offset for each reviewer and a value for each item.

    Args:
        ratings: Scores.
        shrink: False for least squares, which takes offsets and values as they come:
            items are compared within linked groups only, and values of each group have
            mean 0. True for normal offsets and values, whose variances are estimated by
            restricted maximum likelihood (REML): predictions are drawn to the middle
            as far as the ratings are few or noisy.

    Returns:
        The fit. Standard errors are exact up to 1,000 items or reviewers, whichever are
        fewer (least squares: items), and estimated by probes beyond.

    Raises:
        RatingsError: If there are no scores; for least squares, if an item has none.

    References:
        Patterson and Thompson (1971), Recovery of inter-block information.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> additive(ratings).estimates.round(6).tolist()
        [1.666667, -0.333333, -1.333333]
        >>> additive(ratings).offsets.round(6).tolist()
        [2.0, -2.0]
    """
    return _shrunk(ratings) if shrink else _plain(ratings)


def _plain(ratings: Ratings) -> Fit:
    made = design(ratings)
    require_rated(ratings, "additive")
    groups = linked_groups(ratings)
    found = two_way(made, groups)
    notices = data_notices(ratings, prior=False) + group_notices(
        groups, "each group's values have mean 0, and groups are not compared"
    )
    notices += _unfinished(converged=found.converged)
    errors = None if found.errors is None else frozen(made.in_units(found.errors))
    return Fit(
        method="additive",
        estimates=settled(made.in_units(found.items)),
        groups=groups,
        errors=errors,
        error_method=found.error_method,
        offsets=frozen(made.in_units(found.reviewers)),
        converged=found.converged,
        notices=tuple(notices),
    )


def _unfinished(*, converged: bool) -> list[Notice]:
    if converged:
        return []
    text = "The fit stopped before it had settled; estimates are approximate."
    return [Notice("not_converged", text)]


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Random offsets and values, in the design's unit.

    Attributes:
        items: Predicted values.
        reviewers: Predicted offsets.
        variances: Of reviewers, items and the rest.
        mean: Overall mean, from the design's centre.
        found: How they were found; None if nothing varies.
        system: The equations at the final ratios.
        kept_items: Whether items are the kept effect.
    """

    items: Scores
    reviewers: Scores
    variances: Variances
    mean: float = 0.0
    found: Components | None = None
    system: TableSystem | PassSystem | None = None
    kept_items: bool = True


class Equations:
    """Equations of one set of ratings, for any scores on them.

    Attributes:
        kept_items: Whether items are the kept effect.
        free: Whether the variances of reviewers and of items can be told from the rest.
    """

    __slots__ = ("_codes", "_sizes", "free", "kept_items", "system")

    def __init__(self, made: Design) -> None:
        """Choose the smaller effect to keep, and a table if it fits."""
        least = min(made.n_items, made.n_reviewers)
        self.kept_items = least > TABLE or made.n_items == least
        codes = (made.reviewers, made.items)
        sizes = (made.n_reviewers, made.n_items)
        if not self.kept_items:
            codes, sizes = codes[::-1], sizes[::-1]
        self._codes, self._sizes = codes, sizes
        links = Links(*codes, sizes)
        self.system: TableSystem | PassSystem
        self.system = PassSystem(links) if least > TABLE else TableSystem(links)
        # An effect with one rating a level is the rest by another name, and one with
        # one level is the mean.
        loads = (made.loads, made.counts)
        self.free = np.array(
            [int(load.max()) > 1 and int((load > 0).sum()) > 1 for load in loads]
        )

    def forget(self) -> None:
        """Make the next fit the same as the first one would be."""
        if isinstance(self.system, PassSystem):
            self.system.forget()

    def fit(
        self, scores: Scores, start: tuple[float, float] = START, *, last: bool = True
    ) -> Mixed:
        """Fit random effects to scores with mean 0.

        Args:
            scores: One for each rating.
            start: Variances of reviewers and items over that of the rest.
            last: Whether no other scores follow for which this fit prepares.
        """
        squares = dot(scores, scores)
        if squares == 0.0:
            return self._nothing()
        codes, sizes = self._codes, self._sizes
        sums = Sums(
            float(scores.sum()),
            totals(codes[0], scores, sizes[0]),
            totals(codes[1], scores, sizes[1]),
        )
        # What cannot be told from the rest counts as rest for reviewers, and half for
        # items, whose order is what is asked for.
        first, second = (float(one) for one in start)
        ratios = np.array([first, second])
        ratios[~self.free] = np.array([0.0, 1.0])[~self.free]
        free = self.free
        if not self.kept_items:
            ratios, free = ratios[::-1].copy(), free[::-1]
        begin = np.maximum(ratios, LEAST)
        found = maximise(self.system, sums, squares, begin, free, last=last)
        if isinstance(self.system, PassSystem):
            refined = self.system.refined(sums, found.ratios)
            found = replace(found, effects=refined)
        return self._mixed(found)

    def _nothing(self) -> Mixed:
        sizes = self._sizes if self.kept_items else self._sizes[::-1]
        return Mixed(np.zeros(sizes[1]), np.zeros(sizes[0]), Variances(0.0, 0.0, 0.0))

    def _mixed(self, found: Components) -> Mixed:
        effects = [found.effects.dropped, found.effects.kept]
        parts = [
            0.0 if ratio <= LEAST else float(ratio) * found.rest
            for ratio in found.ratios
        ]
        if not self.kept_items:
            effects, parts = effects[::-1], parts[::-1]
        return Mixed(
            items=effects[1],
            reviewers=effects[0],
            variances=Variances(parts[0], parts[1], found.rest),
            mean=found.effects.mean,
            found=found,
            system=self.system,
            kept_items=self.kept_items,
        )


def prediction_errors(mixed: Mixed) -> tuple[Scores, str]:
    """Return the errors of predictions against their mean, and how they were found."""
    if mixed.system is None or mixed.found is None:
        return np.zeros_like(mixed.items), "exact"
    mixed.system.at(mixed.found.ratios)
    if isinstance(mixed.system, PassSystem):
        squared, how = mixed.system.errors(), "probes"
    else:
        squared, how = mixed.system.errors()[1 if mixed.kept_items else 0], "exact"
    # Ratings say nothing about the common level, which keeps the prior's variance.
    level = mixed.variances.item / len(squared)
    return np.sqrt(np.maximum(mixed.found.rest * squared - level, 0)), how


def _shrunk(ratings: Ratings) -> Fit:
    made = design(ratings)
    equations = Equations(made)
    mixed = equations.fit(made.scores)
    errors, how = prediction_errors(mixed)
    groups = linked_groups(ratings)
    converged = mixed.found is None or mixed.found.converged
    notices = data_notices(ratings, prior=True) + group_notices(
        groups, "across groups only the prior compares their values"
    )
    notices += _confounded(equations) + _unfinished(converged=converged)
    parts = mixed.variances
    return Fit(
        method="additive",
        estimates=settled(made.in_units(mixed.items)),
        groups=groups,
        errors=frozen(made.in_units(errors)),
        error_method=how,
        offsets=frozen(made.in_units(mixed.reviewers)),
        variances=Variances(
            made.squared(parts.reviewer),
            made.squared(parts.item),
            made.squared(parts.rest),
        ),
        iterations=0 if mixed.found is None else mixed.found.steps,
        converged=converged,
        notices=tuple(notices),
    )


def _confounded(equations: Equations) -> list[Notice]:
    texts = (
        "Reviewers' offsets cannot be told from the rest here; they count as rest.",
        "Items' values cannot be told from the rest here; half of it counts as value.",
    )
    return [
        Notice("confounded", text)
        for text, free in zip(texts, equations.free.tolist(), strict=True)
        if not free
    ]

"""How many more reviews it would take to separate the items at a cut.

The fitted random-effects model draws true values of the items as it sees them now, then
what further reviews would add. A further review of every item, by reviewers who rate as
many items as those so far, adds what Patterson and Thompson (1971) call the information
within and between blocks: with E = (1 - 1/k) / (1 - 1/n) for k of n items, E over the
variance of the rest, and 1 - E over that plus k times the variance of offsets.
"""

from __future__ import annotations

import bisect
import functools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.diagnosis.reviewers import effect_errors
from evenhand.randomness import Stream, standard_normal, uniforms

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Flags, Table
    from evenhand.claims import Json, Label
    from evenhand.diagnosis.reviewers import Model
    from evenhand.ratings import Ratings


TARGETS = (0.8, 0.95)
MOST_REVIEWS = 100
DRAWS = 4000
# Only so many items on each side of the cut can change sides.
NEAR = 100
# Items whose chance to belong to the top lies between this and its complement.
DOUBT = 0.05
GRID = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)


@dataclass(frozen=True, slots=True)
class Target:
    """How many more reviews reach a probability.

    Attributes:
        probability: What is to be reached.
        reviews: Fewest further reviews of each item that reach it, by simulation; None
            if 100 do not.
        low: Fewest that reach it if the simulation erred by two standard errors for it.
        high: The same against it; None if 100 do not.
    """

    probability: float
    reviews: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Needed:
    """What further reviews would do at a cut.

    Attributes:
        top: How many items are above the cut.
        above: The last item above it, by the order of `rank`.
        below: The first item below it.
        near: How many items may be on either side (5 to 95 %).
        pair: For the two items at the cut to be put in their true order.
        side: For the share of items near the cut that are on their true side, averaged
            over draws; that all of them are is less likely.
        curve: (further reviews, probability for the two items, its standard error,
            average share of items near the cut, its standard error). Without further
            reviews it is the order of `rank` that is right or wrong.
        reviews_now: Median number of reviews of an item so far.
    """

    top: int
    above: Label
    below: Label
    near: int
    pair: tuple[Target, ...]
    side: tuple[Target, ...]
    curve: tuple[tuple[int, float, float, float, float], ...]
    reviews_now: float

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        names = ("reviews", "pair", "pair_se", "side", "side_se")
        curve = [dict(zip(names, row, strict=True)) for row in self.curve]
        return {**asdict(self), "curve": curve}


def information(model: Model) -> float:
    """Return what one further review of an item is worth: one over its variance.

    Examples:
        >>> from evenhand.diagnosis.reviewers import fit_model
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a"] * 3 + ["b"] * 3, [1, 2, 3] * 2, [1, 2, 4, 3, 3, 6])
        >>> model = fit_model(ratings)
        >>> round(information(model) * model.mixed.variances.rest, 6)
        1.0
    """
    made, parts = model.made, model.mixed.variances
    load, items = float(np.median(made.loads)), made.n_items
    within = min(1.0, (1 - 1 / load) / (1 - 1 / items)) if items > 1 else 0.0
    return within / parts.rest + (1 - within) / (parts.rest + load * parts.reviewer)


def reviews_needed(
    ratings: Ratings, model: Model, order: Codes, top: int, source: Stream
) -> Needed | None:
    """Simulate further reviews.

    Args:
        ratings: Scores.
        model: Their random-effects model.
        order: Items from best to worst, as `rank` has them.
        top: How many items are above the cut.
        source: Where the draws come from.

    Returns:
        What they would do, or None if the model sees no difference between items.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.diagnosis.reviewers import fit_model
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aaabbb"), list("xyz") * 2, [1, 2, 4, 3, 3, 6])
        >>> model, order = fit_model(ratings), np.array([2, 0, 1])
        >>> found = reviews_needed(ratings, model, order, 1, stream(7, "needed"))
        >>> found.above, found.below
        ('z', 'x')
    """
    parts = model.mixed.variances
    if parts.item == 0 or parts.rest == 0:
        return None
    first = max(0, top - NEAR)
    window = order[first : top + NEAR]
    errors = effect_errors(model)[1][window]
    unit = float(np.sqrt(parts.item))
    trial = _Trial(
        means=model.mixed.items[window] / unit,
        errors=np.maximum(errors / unit, 1e-9),
        worth=information(model) * unit**2,
        cut=top - first,
        normal=standard_normal(uniforms(source, (2, DRAWS, len(window)))),
    )
    pair, side = (tuple(trial.target(one, by) for one in TARGETS) for by in (0, 1))
    return Needed(
        top=int(top),
        above=ratings.item_labels[int(order[top - 1])],
        below=ratings.item_labels[int(order[top])],
        near=int(trial.near.sum()),
        pair=pair,
        side=side,
        curve=tuple((more, *trial.chances(more)) for more in GRID),
        reviews_now=float(np.median(model.made.counts)),
    )


class _Trial:
    """True values and further reviews of the items around a cut, best first."""

    def __init__(
        self, means: Table, errors: Table, worth: float, cut: int, normal: Table
    ) -> None:
        self.means, self.errors, self.worth, self.cut = means, errors, worth, cut
        self.truth, self.noise = means + errors * normal[0], normal[1]
        self.true_top = self._top(self.truth)
        chance = self.true_top.mean(axis=0)
        self.near = (chance > DOUBT) & (chance < 1 - DOUBT)
        # The two items at the cut are near it however sure the model is.
        self.near[[cut - 1, cut]] = True
        self.chances = functools.cache(self._chances)

    def _top(self, values: Table) -> Flags:
        """Say which items of each draw are among the first `cut`."""
        places = np.argpartition(-values, self.cut - 1, axis=1)[:, : self.cut]
        found = np.zeros(values.shape, dtype=np.bool_)
        np.put_along_axis(found, places, values=True, axis=1)
        return found

    def _chances(self, more: int) -> tuple[float, float, float, float]:
        """Return both probabilities after so many more reviews, with their errors."""
        after = np.broadcast_to(-np.arange(float(len(self.means))), self.truth.shape)
        if more:
            now, added = self.errors**-2, self.worth * more
            seen = self.truth + self.noise / np.sqrt(added)
            after = (now * self.means + added * seen) / (now + added)
        above = (
            one[:, self.cut - 1] >= one[:, self.cut] for one in (after, self.truth)
        )
        right = np.equal(*above)
        side = (self._top(after) == self.true_top)[:, self.near].mean(axis=1)
        root = np.sqrt(len(right))
        return (
            float(right.mean()),
            float(right.std() / root),
            float(side.mean()),
            float(side.std() / root),
        )

    def target(self, probability: float, which: int) -> Target:
        """Find the fewest reviews that reach a probability, and their error."""

        def fewest(shift: float) -> int | None:
            def reached(more: int) -> bool:
                chance, error = self.chances(more)[2 * which : 2 * which + 2]
                return chance + shift * error >= probability

            # The same draws serve all numbers, so the chance hardly ever falls.
            found = bisect.bisect_left(range(MOST_REVIEWS), x=True, key=reached)
            return found if reached(found) else None

        return Target(probability, fewest(0.0), fewest(2.0), fewest(-2.0))

"""How several criteria are used: what each tells of items, and how far they are alike.

Two criteria may say the same because items that are good by one are good by the other,
or because a reviewer who likes an item scores it high by all (halo). The correlation of
item means shows both; that of what is left of single scores, after items and reviewers,
shows halo alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.diagnosis import reviewers
from evenhand.models.adaptive import adaptive
from evenhand.randomness import stream

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores
    from evenhand.claims import Label
    from evenhand.ratings import Ratings

# Correlation of item means from which one number would do, and of ratings with both.
ALIKE, FEWEST = 0.9, 10
# Rounds of taking means off; two are exact where every reviewer saw every item.
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class CriterionCheck:
    """How one criterion is used.

    Attributes:
        name: The criterion.
        variance: What items, reviewers and the rest take of its variance; None if it
            has none.
        strictness: How many points above others each reviewer scores by it; None where
            that is not known.
    """

    name: str
    variance: reviewers.Shares | None
    strictness: dict[Label, float | None]


@dataclass(frozen=True, slots=True)
class CriteriaPair:
    """How far two criteria say the same.

    Attributes:
        first: A criterion.
        second: Another.
        items: Correlation of the means of items, without the reviewers' levels; None
            if one of them does not vary.
        halo: Correlation of what is left of single scores after items and reviewers.
    """

    first: str
    second: str
    items: float | None
    halo: float | None


@dataclass(frozen=True, slots=True)
class CriteriaUse:
    """How several criteria are used.

    Attributes:
        criteria: Each by itself.
        pairs: How far every two say the same.
        alike: Whether all of them order items so much alike that one number would do.
    """

    criteria: tuple[CriterionCheck, ...]
    pairs: tuple[CriteriaPair, ...]
    alike: bool


def criteria_use(ratings: Ratings, seed: int) -> CriteriaUse | None:
    """Describe how criteria are used; None for one score.

    Args:
        ratings: The ratings.
        seed: What repeats the intervals of shares.
    """
    if ratings.criteria is None:
        return None
    checks, names = [], ratings.criteria.names
    for name in names:
        part = ratings.with_criteria(name)
        model = reviewers.fit_model(part)
        variances = adaptive(part).variances
        source = stream(seed, "check: bootstrap")
        shares = reviewers.variance_shares(model, variances, source)
        people = reviewers.describe(part, model)
        offsets = {person.reviewer: person.offset for person in people}
        checks.append(CriterionCheck(name, shares, offsets))
    pairs = []
    for first, second in itertools.combinations(range(len(names)), 2):
        scores = ratings.criteria.scores[:, [first, second]]
        rated = np.isfinite(scores).all(axis=1)
        codes = ratings.item_codes[rated], ratings.reviewer_codes[rated]
        parts = [_parts(column, *codes) for column in scores[rated].T]
        alike = [
            _correlation(parts[0][place], parts[1][place])
            if rated.sum() >= FEWEST
            else None
            for place in (0, 1)
        ]
        pairs.append(CriteriaPair(names[first], names[second], alike[0], alike[1]))
    same = all(pair.items is not None and pair.items >= ALIKE for pair in pairs)
    return CriteriaUse(tuple(checks), tuple(pairs), bool(pairs) and same)


def _parts(scores: Scores, items: Codes, people: Codes) -> tuple[Scores, Scores]:
    """Return the means of items without reviewers' levels, and what remains."""
    sizes = [np.maximum(np.bincount(codes), 1) for codes in (items, people)]
    of_item, of_person = np.zeros(len(sizes[0])), np.zeros(len(sizes[1]))
    for _ in range(ROUNDS):
        of_person = np.bincount(people, scores - of_item[items]) / sizes[1]
        of_item = np.bincount(items, scores - of_person[people]) / sizes[0]
    residuals = scores - of_item[items] - of_person[people]
    return of_item[np.bincount(items) > 0], residuals


def _correlation(first: Scores, second: Scores) -> float | None:
    away = [values - values.mean() for values in (first, second)]
    size = float(np.sqrt((away[0] ** 2).sum() * (away[1] ** 2).sum()))
    return float((away[0] * away[1]).sum()) / size if size > 1e-9 else None

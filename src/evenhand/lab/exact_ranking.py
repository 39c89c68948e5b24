"""Many items without simulation: the exact risk of a ranking method.

The true ranking is uniform, each reviewer has one of the distinct random pairs, and
everything is enumerated on Fractions: rankings, pairs, who gets which, the method's
choices and its coins. That is feasible for up to five items.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._outcomes import HALF, outcomes
from evenhand.ab.weights import as_weight
from evenhand.errors import DesignError, OptionError, unknown
from evenhand.lab import estimators, polynomial, worlds
from evenhand.lab.scales import OwnScale, Scales, check_increasing, scales
from evenhand.posets.comparisons import edges
from evenhand.ranking.flips import flips_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.lab.estimators import Ordinal
    from evenhand.lab.exact import Weight
    from evenhand.posets.comparisons import Comparisons

Order = tuple[int, ...]

FEWEST_ITEMS = 2
MOST_ITEMS = 5
CARDINALS = ("flips", "flips-uniform", "flips-uniform:paper", "twins")


def ranking_risk(
    n_items: int,
    n_reviewers: int,
    *,
    method: str | Ordinal = "topological",
    loss: str = "kendall",
    values: Sequence[Fraction | int] | None = None,
    spec: str | Scales | OwnScale = "identity",
    weight: Weight = None,
) -> Fraction:
    """Exact expected loss of a ranking method under the paper's design.

    Args:
        n_items: Number of items, at most 5.
        n_reviewers: Number of reviewers, each with a pair of items, no pair twice.
        method: "topological", "uniform" or "mean-rank", which see comparisons only;
            "flips", "flips-uniform" or "twins"; "fair-coins", which is "flips" without
            a look at the scores; or a function from comparisons to a ranking.
        loss: "kendall", "footrule" or "zero-one".
        values: Values of the items, all different; 0, 1, 2, ... if None.
        spec: Scales that draw nothing at random, by name or as a function of the
            reviewer and the value; see `evenhand.lab.scales`.
        weight: How a gap in scores weighs, with an exact form.

    Returns:
        The risk, averaged over a uniformly random true ranking.

    Raises:
        OptionError: If there are too many items, or an option is bad.
        DesignError: If there are more reviewers than pairs.

    References:
        Wang and Shah (2019), Theorem 5 and Section 4.2.

    Examples:
        >>> ranking_risk(3, 1)
        Fraction(17, 18)
        >>> 1 - ranking_risk(3, 2, method="flips", loss="zero-one")
        Fraction(5, 6)
    """
    where = _world(n_items, n_reviewers)
    if isinstance(method, str) and method not in METHODS:
        raise OptionError(unknown("method", method, METHODS))
    ordinal = method if callable(method) else ORDINALS.get(method)
    if ordinal is None:
        estimator = estimators.named(str(method), estimators.index_order)
    else:
        estimator = estimators.without_scores(ordinal)
    first = worlds.exact_first(as_weight(weight))
    table = _table(where, values, spec)
    risks = worlds.risk_polynomials(where, estimator, worlds.loss_named(loss))
    shares = [(Fraction(1, len(risks)), risk) for risk in risks.values()]
    return polynomial.evaluate(polynomial.combined(shares), table, first)


def mean_rank(comparisons: Comparisons) -> Order:
    """Order items by their mean rank over all orderings, ties by index.

    Examples:
        >>> from evenhand.posets.comparisons import from_edges
        >>> mean_rank(from_edges(3, [0], [1]))
        (0, 2, 1)
    """
    return tuple(itertools.chain(*estimators.mean_rank_buckets(comparisons)))


def fair_coins(comparisons: Comparisons) -> dict[Order, Fraction]:
    """Return the law of Algorithm 1 if all its coins are fair.

    Examples:
        >>> from evenhand.posets.comparisons import from_edges
        >>> fair_coins(from_edges(3, [0, 0], [1, 2]))
        {(0, 1, 2): Fraction(1, 2), (0, 2, 1): Fraction(1, 2)}
    """
    pairs = zip(*(side.tolist() for side in edges(comparisons)), strict=True)
    scores = {
        (reviewer, item): Fraction(0)
        for reviewer, pair in enumerate(pairs)
        for item in pair
    }
    start = estimators.index_order(comparisons)
    return outcomes(flips_program(comparisons, scores, start, lambda _: HALF))


ORDINALS: dict[str, Ordinal] = {
    "topological": estimators.index_order,
    "uniform": estimators.uniform,
    "mean-rank": mean_rank,
    "fair-coins": fair_coins,
}
METHODS = (*ORDINALS, *CARDINALS)


def _world(n_items: int, n_reviewers: int) -> worlds.World:
    if not FEWEST_ITEMS <= n_items <= MOST_ITEMS:
        raise OptionError(
            f"n_items must be from {FEWEST_ITEMS} to {MOST_ITEMS} for an exact answer, "
            f"got {n_items!r}. Use simulate."
        )
    most = math.comb(n_items, 2)
    if not 1 <= n_reviewers <= most:
        raise DesignError(
            f"n_reviewers must be from 1 to {most}, the number of pairs of {n_items} "
            f"items, got {n_reviewers!r}."
        )
    return worlds.World(n_items, n_reviewers)


def _table(
    where: worlds.World,
    values: Sequence[Fraction | int] | None,
    spec: str | Scales | OwnScale,
) -> polynomial.Table:
    given = range(where.n_items) if values is None else values
    ordered = sorted({Fraction(value) for value in given})
    if len(ordered) != where.n_items:
        raise OptionError(
            f"values must be {where.n_items} different numbers, got {list(given)!r}."
        )
    chosen = scales(spec)
    if chosen.draws:
        raise OptionError(
            f"scales must draw nothing at random for an exact answer, got {spec!r}."
        )
    rows = np.array([ordered] * where.n_reviewers, dtype=object)
    scored = chosen.apply(rows, np.empty((where.n_reviewers, 0)))
    check_increasing(rows, scored)
    return tuple(tuple(row) for row in scored.tolist())

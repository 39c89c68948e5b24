"""Ranking methods by name, in the form that the lab can work with exactly.

An ordinal method sees comparisons only and gives a ranking, or several with their
probabilities. A cardinal one is a procedure that asks for its random choices; all are
the library's own algorithms.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from evenhand.errors import OptionError, unknown
from evenhand.lab.polynomial import (
    Drawn,
    Estimator,
    First,
    Order,
    Pair,
    Scores,
    weighed,
)
from evenhand.posets.graph import Comparisons, from_edges
from evenhand.posets.orderings import all_orderings, topological_order
from evenhand.ranking.flips import flips_program
from evenhand.ranking.methods import (
    Flips,
    FlipsUniform,
    RankMethod,
    Topological,
    Twins,
    Uniform,
)
from evenhand.ranking.twins import By, twins_program

Edges = tuple[Pair, ...]
Ranked = Sequence[int] | Mapping[Order, Fraction]
Ordinal = Callable[[Comparisons], Ranked]
"""From comparisons to a ranking, or to rankings with their probabilities."""
Program = Callable[[Comparisons, Scores, Order, First], Drawn]

EXACT = (Topological, Uniform, Flips, FlipsUniform, Twins)
"""Methods whose law can be worked out exactly."""
ORDINALS = ("topological", "uniform", "best-ordinal")


@functools.lru_cache(maxsize=10_000)
def graph(n_items: int, edges: Edges) -> Comparisons:
    """Return comparisons as a graph.

    Examples:
        >>> graph(3, ((0, 1),)).n_items
        3
    """
    above, below = zip(*edges, strict=True) if edges else ((), ())
    return from_edges(n_items, above, below)


def index_order(comparisons: Comparisons) -> Order:
    """Return the topological ordering with ties broken by index.

    Examples:
        >>> index_order(graph(3, ((2, 0),)))
        (1, 2, 0)
    """
    return tuple(topological_order(comparisons).tolist())


def uniform(comparisons: Comparisons) -> dict[Order, Fraction]:
    """Return the uniform law over all topological orderings.

    Examples:
        >>> len(uniform(graph(4, ((0, 1), (2, 3)))))
        6
    """
    orderings = list(all_orderings(comparisons))
    return dict.fromkeys(orderings, Fraction(1, len(orderings)))


def mean_rank_buckets(comparisons: Comparisons) -> list[tuple[int, ...]]:
    """Return the items by exact mean rank, those of equal mean rank together.

    Examples:
        >>> mean_rank_buckets(graph(4, ((0, 1), (2, 3))))
        [(0, 2), (1, 3)]
    """
    places = np.argsort(list(all_orderings(comparisons)), axis=1).sum(axis=0).tolist()
    order = sorted(range(len(places)), key=places.__getitem__)
    groups = itertools.groupby(order, places.__getitem__)
    return [tuple(bucket) for _, bucket in groups]


def as_law(ranked: Ranked) -> dict[Order, Fraction]:
    """Turn one ranking, or several with probabilities, into a law.

    Examples:
        >>> as_law([1, 0])
        {(1, 0): Fraction(1, 1)}
    """
    if isinstance(ranked, Mapping):
        return dict(ranked)
    return {tuple(int(item) for item in ranked): Fraction(1)}


def ordinal(name: str | Ordinal, what: str = "baseline") -> Ordinal:
    """Return an ordinal method by name.

    Raises:
        OptionError: If the name is unknown.

    Examples:
        >>> ordinal("topological")(graph(3, ((2, 0),)))
        (1, 2, 0)
    """
    if not isinstance(name, str):
        return name
    if name not in ORDINALS:
        raise OptionError(unknown(what, name, ORDINALS))
    # Every optimal ordinal method succeeds with probability 1/T, as this one does.
    return index_order if name == "topological" else uniform


def started(start: Ordinal, program: Program) -> Estimator:
    """Return a method that goes on from the ranking of an ordinal one.

    Args:
        start: The ordinal method.
        program: From comparisons, scores, a ranking and W to a procedure.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> method = started(index_order, flips_program)
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(method(graph(2, ()), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """

    def estimator(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
        law = as_law(start(comparisons))
        programs = {order: program(comparisons, scores, order, first) for order in law}
        return lambda chance: programs[weighed(law, chance)](chance)

    return estimator


flips: Estimator = started(index_order, flips_program)
"""Algorithm 1, from the index order."""


def flips_from_uniform(scan: str) -> Estimator:
    """Return Appendix C's method: flips from a uniform topological ordering.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> method = flips_from_uniform("parity")
        >>> outcomes(method(graph(2, ((0, 1),)), {}, lambda gap: gap))
        {(0, 1): Fraction(1, 1)}
    """
    return started(uniform, functools.partial(flips_program, scan=scan))


def twins_from(start: Ordinal, *, printed: bool = False) -> Estimator:
    """Return Algorithm 3 on top of an ordinal method.

    Args:
        start: The ordinal method.
        printed: As the paper prints it: one pair of twins, by direct comparisons.
            Otherwise all disjoint pairs, by their closure.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> method = twins_from(index_order)
        >>> outcomes(method(graph(2, ()), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    program = twins_program
    if printed:
        program = functools.partial(twins_program, pairs="one", by="direct")
    return started(start, program)


def exact_estimator(method: RankMethod, baseline: Ordinal) -> Estimator:
    """Return a ranking method as a procedure whose exact law can be worked out.

    Args:
        method: One of EXACT.
        baseline: What twins start from.

    Raises:
        OptionError: If flips starts from another method than these can.

    Examples:
        >>> method = exact_estimator(Flips(), index_order)
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> from evenhand.randomness import outcomes
        >>> outcomes(method(graph(2, ()), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    if isinstance(method, Twins):
        if method.start != Topological():
            raise OptionError(
                f"start must be left out, got {method}. Here twins start from the "
                "baseline."
            )
        by: By = "direct" if method.by == "direct" else "closure"
        program = functools.partial(twins_program, pairs=method.twins, by=by)
        return started(baseline, program)
    if not isinstance(method, Flips | FlipsUniform):
        return without_scores(ordinal(method.name))
    scan = method.scan if isinstance(method, FlipsUniform) else "paper"
    start = (
        uniform
        if isinstance(method, FlipsUniform)
        else ordinal(str(method.start), "start")
    )
    pairs = method.score_pairs
    return started(
        start, functools.partial(flips_program, scan=scan, score_pairs=pairs)
    )


def without_scores(method: Ordinal) -> Estimator:
    """Return an ordinal method as a procedure that looks at no score.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> outcomes(without_scores(index_order)(graph(2, ((1, 0),)), {}, abs))
        {(1, 0): Fraction(1, 1)}
    """
    return started(method, lambda _known, _scores, order, _first: lambda _: order)

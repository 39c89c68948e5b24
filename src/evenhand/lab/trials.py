"""Trials of a scenario, drawn many at a time: true values, who scores what, scores."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand import designs
from evenhand._randomness import stream
from evenhand.errors import OptionError
from evenhand.lab.scales import check_increasing, scales
from evenhand.lab.scenario import noise_law, value_law

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from evenhand.lab.scenario import Scenario

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

PILOT_TRIALS = 256
PILOT_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class Trials:
    """Some trials of a scenario.

    Attributes:
        values: Value of each item, shape (trials, items).
        assigned: Item codes of each reviewer, increasing, shape (trials, reviewers,
            per reviewer).
        scores: The scores they gave, of the same shape.
        tied: Trials in which a reviewer gives equal scores to items of unequal value,
            among those that the reviewer sees, or to both of two items.
        pairing: Numbers in [0, 1) in the order of which the scores of two items are
            paired, shape (trials, reviewers).
    """

    values: Floats
    assigned: Codes
    scores: Floats
    tied: NDArray[np.bool_]
    pairing: Floats

    def places(self) -> Codes:
        """Return the place of each item in the true ranking, 0 for the best."""
        order = np.argsort(-self.values, axis=-1, kind="stable")
        return np.argsort(order, axis=-1)


@np.errstate(over="ignore", invalid="ignore")
def draw_trials(scenario: Scenario, trials: int, rng: Generator) -> Trials:
    """Draw some trials.

    Raises:
        OptionError: If a score is beyond floats, or a user's scale does not increase.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> draw_trials(Scenario(reviewers=4), 3, np.random.default_rng(7)).scores.shape
        (3, 4, 1)
    """
    m, compares = scenario.reviewers, scenario.job == "compare"
    values = _values(scenario, trials, rng)
    draw = _sides if compares else _bundles
    assigned = draw(scenario, trials, rng)
    potential = _potential(scenario, values, rng)
    noise = _noise(scenario, (trials, m, assigned.shape[-1]), rng)
    scores = _finite(np.take_along_axis(potential, assigned, axis=-1) + noise)
    # A reviewer of one of two items has one noise, whichever item it is.
    seen = potential + noise if compares else scores
    if scenario.levels:
        low, high = score_range(scenario)
        form = scales(f"levels:{scenario.levels}:{low!r}:{high!r}").apply
        scores, seen = form(scores, scores), form(seen, seen)
    ordered = np.sort(seen, axis=-1)
    tied = (ordered[..., 1:] == ordered[..., :-1]).any(axis=(-1, -2))
    pairing = rng.random((trials, m))
    if scenario.design == "matched":
        # One of each pair has each item, so pairs are found in the order they are in.
        pairing = np.broadcast_to(np.arange(m) / m, (trials, m))
    return Trials(values, assigned, scores, tied, pairing)


@functools.lru_cache(maxsize=32)
@np.errstate(over="ignore", invalid="ignore")
def score_range(scenario: Scenario) -> tuple[float, float]:
    """Return the ends of the form that scores are rounded to: those of a trial run.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> low, high = score_range(Scenario(scales="identity", levels=5))
        >>> 0 < low < 0.01, 0.99 < high < 1
        (True, True)
    """
    cells = scenario.reviewers * scenario.items
    trials = max(1, min(PILOT_TRIALS, PILOT_CELLS // cells))
    rng = np.random.Generator(stream(0, "pilot"))
    potential = _potential(scenario, _values(scenario, trials, rng), rng)
    scores = _finite(potential + _noise(scenario, potential.shape, rng))
    return float(scores.min()), float(scores.max())


def _finite(scores: Floats) -> Floats:
    """Refuse in words what left the floats."""
    if not np.isfinite(scores).all():
        raise OptionError(
            "scores must be finite, got one beyond floats. Choose smaller values or "
            "tamer scales."
        )
    return scores


def _values(scenario: Scenario, trials: int, rng: Generator) -> Floats:
    law = value_law(scenario.values, scenario.items)
    values = law.quantile(rng.random((trials, scenario.items)))
    if scenario.truth == "arbitrary":
        placed = np.empty_like(values)
        placed[:, np.array(scenario.order) - 1] = -np.sort(-values, axis=-1)
        return placed
    return rng.permuted(values, axis=-1) if law.given else values


def _potential(scenario: Scenario, values: Floats, rng: Generator) -> Floats:
    """Score every item on the scale of every reviewer."""
    family = scenario.family()
    trials, m = len(values), scenario.reviewers
    wide = np.broadcast_to(values[:, None, :], (trials, m, scenario.items))
    scores = family.apply(wide, rng.random((trials, m, family.draws)))
    if not isinstance(scenario.scales, str):
        # Named families increase by construction; a user's must be looked at.
        check_increasing(wide, scores, strict=family.strict)
    return scores


def _noise(
    scenario: Scenario, shape: tuple[int, ...], rng: Generator
) -> Floats | float:
    law = noise_law(scenario.noise)
    if law is None:
        return 0.0
    return law(rng.random(shape), rng.random((*shape[:-1], 1)))


def _sides(scenario: Scenario, trials: int, rng: Generator) -> Codes:
    """Draw one of two items for each reviewer, as the designs do."""
    m = scenario.reviewers
    if scenario.design == "coins":
        sides = rng.integers(2, size=(trials, m))
    elif scenario.design == "matched":
        firsts = rng.integers(2, size=(trials, m // 2))
        sides = np.stack([firsts, 1 - firsts], axis=-1).reshape(trials, m)
    else:
        # Panels of reviewers in index order, as equal in size as can be.
        count = scenario.panels if scenario.design == "panels" else m
        places = rng.permuted(np.tile(np.arange(count), (trials, 1)), axis=1)
        fewer = count // 2 + rng.integers(1 + count % 2, size=(trials, 1))
        sides = (places >= fewer)[:, np.arange(m) * count // m].astype(np.int64)
    return sides[..., None]


def _bundles(scenario: Scenario, trials: int, rng: Generator) -> Codes:
    """Draw the items of each reviewer, as the designs do."""
    n, m = scenario.items, scenario.reviewers
    if scenario.design == "everything":
        return np.broadcast_to(np.arange(n), (trials, m, n))
    if scenario.design == "balanced":
        each = scenario.per_reviewer
        drawn = [designs.balanced(n, m, each, rng=rng) for _ in range(trials)]
        return np.stack(drawn)
    pairs = np.stack(np.triu_indices(n, 1), axis=-1)
    chosen = [rng.choice(len(pairs), m, replace=False) for _ in range(trials)]
    return pairs[np.stack(chosen)]

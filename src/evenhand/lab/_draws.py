"""Draw many trials of a scenario at once.

Trials come in blocks. A block has a stream of its own for each purpose, so what is
drawn in it depends on the seed and on its number alone, and its first trials do not
depend on how many follow.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evenhand import designs
from evenhand._randomness import Stream, stream, uniforms
from evenhand.errors import OptionError
from evenhand.lab._laws import noise_law, value_law
from evenhand.lab.scales import check_increasing, scales

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.lab.scenario import Scenario

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

# Up to so many pairs of items, all of them are shuffled at once for a block.
SHUFFLED_PAIRS = 20_000
PILOT_TRIALS = 256
PILOT_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class Block:
    """Some trials of a scenario.

    Attributes:
        values: Value of each item, shape (trials, items).
        assigned: Item codes of each reviewer, increasing, shape (trials, reviewers,
            per reviewer).
        scores: The scores they gave, of the same shape.
        tied: Trials in which a reviewer gives equal scores to items of unequal value,
            among those that the reviewer sees, or to both of two items.
        pairing: Random numbers by which scores of two items are paired, shape (trials,
            reviewers).
    """

    values: Floats
    assigned: Codes
    scores: Floats
    tied: NDArray[np.bool_]
    pairing: Words = field(repr=False)

    def places(self) -> Codes:
        """Return the place of each item in the true ranking, 0 for the best."""
        order = np.argsort(-self.values, axis=-1, kind="stable")
        return np.argsort(order, axis=-1, kind="stable").astype(np.int64)


def draw_block(scenario: Scenario, seed: int, number: int, trials: int) -> Block:
    """Draw the trials of one block.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> draw_block(Scenario(reviewers=4), 7, 0, 3).scores.shape
        (3, 4, 1)
    """

    def source(purpose: str) -> Stream:
        return stream(seed, f"simulate block {number} {purpose}")

    # Infinite scores are refused in words below.
    with np.errstate(over="ignore", invalid="ignore"):
        values = _values(scenario, trials, source("values"))
        potential = _potential(scenario, values, source("scales"))
        assigned = _assigned(scenario, trials, source("design"))
        noise = _noise(scenario, assigned.shape, source("noise"), source("spread"))
        scores = _finite(np.take_along_axis(potential, assigned, axis=-1) + noise)
    # A reviewer of one item has one noise, whichever of the two it is.
    seen = potential + noise if scenario.job == "compare" else scores
    if scenario.levels:
        low, high = score_range(scenario)
        form = scales(f"levels:{scenario.levels}:{low!r}:{high!r}").apply
        scores, seen = (form(part, part) for part in (scores, seen))
    ordered = np.sort(seen, axis=-1)
    tied = (ordered[..., 1:] == ordered[..., :-1]).any(axis=(-1, -2))
    pairing = _words(source("pairing"), (trials, scenario.reviewers))
    return Block(values, assigned, scores, np.asarray(tied), pairing)


@functools.lru_cache(maxsize=32)
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
    values = _values(scenario, trials, stream(0, "pilot values"))
    scores = _potential(scenario, values, stream(0, "pilot scales"))
    noise = _noise(
        scenario, scores.shape, stream(0, "pilot noise"), stream(0, "pilot spread")
    )
    scores = _finite(scores + noise)
    return float(scores.min()), float(scores.max())


def _finite(scores: Floats) -> Floats:
    if not np.isfinite(scores).all():
        raise OptionError(
            "scores must be finite, got one beyond floats. Choose smaller values or "
            "tamer scales."
        )
    return scores


def _values(scenario: Scenario, trials: int, source: Stream) -> Floats:
    law = value_law(scenario.values, scenario.items)
    units = uniforms(source, (trials, scenario.items))
    values = law.quantile(units)
    if scenario.truth == "arbitrary":
        best_first = -np.sort(-values, axis=-1)
        codes = np.array(scenario.order) - 1
        placed = np.empty_like(best_first)
        placed[:, codes] = best_first
        return placed
    if law.given:
        # The order of independent uniforms is a uniformly random one.
        return np.take_along_axis(values, np.argsort(units, axis=-1), axis=-1)
    return values


def _potential(scenario: Scenario, values: Floats, source: Stream) -> Floats:
    """Score every item on the scale of every reviewer."""
    family = scenario.family()
    shape = (len(values), scenario.reviewers, scenario.items)
    wide = np.broadcast_to(values[:, None, :], shape)
    # What leaves the floats is refused in words, once noise has been added.
    with np.errstate(over="ignore", invalid="ignore"):
        scores = family.apply(wide, uniforms(source, (*shape[:2], family.draws)))
    if not isinstance(scenario.scales, str):
        # Named families increase by construction; a user's must be looked at.
        check_increasing(wide, scores, strict=family.strict)
    return scores


def _noise(
    scenario: Scenario, shape: tuple[int, ...], source: Stream, own: Stream
) -> Floats:
    law = noise_law(scenario.noise)
    if law is None:
        return np.zeros(1)
    return law(uniforms(source, shape), uniforms(own, (*shape[:2], 1)))


def _words(source: Stream, shape: tuple[int, ...]) -> Words:
    return np.asarray(source.random_raw(math.prod(shape)), np.uint64).reshape(shape)


def _assigned(scenario: Scenario, trials: int, source: Stream) -> Codes:
    if scenario.job == "compare":
        return _sides(scenario, trials, source)[..., None]
    return _bundles(scenario, trials, source)


def _sides(scenario: Scenario, trials: int, source: Stream) -> Codes:
    """Draw one of two items for each reviewer, as the designs do."""
    m = scenario.reviewers
    if scenario.design == "coins":
        return (_words(source, (trials, m)) >> np.uint64(63)).astype(np.int64)
    if scenario.design == "matched":
        firsts = (_words(source, (trials, m // 2)) >> np.uint64(63)).astype(np.int64)
        return np.stack([firsts, 1 - firsts], axis=-1).reshape(trials, m)
    if scenario.design == "panels":
        # Panels of reviewers in index order, as equal in size as can be.
        panel = np.arange(m) * scenario.panels // m
        return _halved(trials, scenario.panels, source)[:, panel]
    return _halved(trials, m, source)


def _halved(trials: int, count: int, source: Stream) -> Codes:
    words = _words(source, (trials, count + 1))
    extra = (words[:, -1:] >> np.uint64(63)).astype(np.int64) * (count % 2)
    place = np.argsort(np.argsort(words[:, :-1], axis=-1), axis=-1)
    return (place >= count // 2 + extra).astype(np.int64)


def _bundles(scenario: Scenario, trials: int, source: Stream) -> Codes:
    n, m = scenario.items, scenario.reviewers
    if scenario.design == "everything":
        return np.broadcast_to(np.arange(n), (trials, m, n))
    if scenario.design == "pairs" and math.comb(n, 2) <= SHUFFLED_PAIRS:
        pairs = np.stack(np.triu_indices(n, 1), axis=-1)
        order = np.argsort(_words(source, (trials, len(pairs))), axis=-1)
        return pairs[order[:, :m]].astype(np.int64)
    seeds = _words(source, (trials,)).tolist()
    if scenario.design == "pairs":
        return np.stack([designs.pairs(n, m, rng=seed) for seed in seeds])
    each = scenario.per_reviewer
    return np.stack([designs.balanced(n, m, each, rng=seed) for seed in seeds])

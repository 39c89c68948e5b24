"""Draw many trials of a scenario at once.

Trials come in blocks. A block has a stream of its own for each purpose, so what is
drawn in it depends on the seed and on its number alone, and its first trials do not
depend on how many follow. Several blocks may be drawn into one table: each reads its
own streams, and everything after that is done on all of them together.
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from evenhand import designs
from evenhand._kernels.chances import scores_of_sides
from evenhand._kernels.seeding import (
    HALF,
    INIT_A,
    MASK,
    MULT_A,
    POOL,
    spawned_states,
)
from evenhand._randomness import SEED_BITS, WORD_BITS, Stream
from evenhand.errors import OptionError
from evenhand.lab._laws import noise_law, value_law
from evenhand.lab.scales import check_increasing, scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    from evenhand.lab.scenario import Scenario

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

# Up to so many pairs of items, all of them are shuffled at once for a block.
SHUFFLED_PAIRS = 20_000
PAIR = 2
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


@dataclass(frozen=True, slots=True)
class Source:
    """Random numbers of some trials, in parts with streams of their own.

    Attributes:
        seed: The seed.
        parts: Name and number of trials of each part.
    """

    seed: int
    parts: tuple[tuple[str, int], ...]

    @property
    def trials(self) -> int:
        """Number of all trials."""
        return sum(trials for _, trials in self.parts)

    def words(self, purpose: str, *each: int) -> Words:
        """Draw words for a purpose, the parts one below the other.

        Args:
            purpose: What for.
            each: Shape of what one trial needs.

        Returns:
            The words, shape (trials, *each).

        Examples:
            >>> both = Source(7, (("one", 2), ("two", 1))).words("coins", 3)
            >>> (both[2:] == Source(7, (("two", 1),)).words("coins", 3)).all()
            np.True_
        """
        width, start = math.prod(each), 0
        words = np.empty(self.trials * width, dtype=np.uint64)
        # Where nothing is wanted no stream need be opened, nor is it missed.
        parts = self.parts if width else ()
        opened = streams(self.seed, [f"{name} {purpose}" for name, _ in parts])
        for source, (_, trials) in zip(opened, parts, strict=True):
            stop = start + trials * width
            words[start:stop] = source.random_raw(stop - start)
            start = stop
        return words.reshape(self.trials, *each)

    def uniforms(self, purpose: str, *each: int) -> Floats:
        """Draw uniforms on the grid of 2**-53 in [0, 1), as `words` does.

        Examples:
            >>> Source(7, (("one", 2),)).uniforms("coins", 3).shape
            (2, 3)
        """
        words = self.words(purpose, *each)
        words >>= np.uint64(WORD_BITS - SEED_BITS)
        return np.asarray(words * 2.0**-SEED_BITS)


class _Seeded(ISeedSequence):
    """A seed sequence whose words are known."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def generate_state(
        self, n_words: int, dtype: DTypeLike = np.uint32
    ) -> NDArray[np.uint32 | np.uint64]:
        """Return the words that PCG64 asks for."""
        return self.words[:n_words].astype(dtype, copy=False)


def streams(seed: int, purposes: Sequence[str]) -> list[Stream]:
    """Open the streams of `stream` for many purposes, in a fraction of the time.

    Examples:
        >>> from evenhand._randomness import stream
        >>> streams(7, ["pairing"])[0].random_raw() == stream(7, "pairing").random_raw()
        True
    """
    digests = [hashlib.sha256(purpose.encode()).digest() for purpose in purposes]
    # The first 16 bytes of each are its key.
    keys = np.frombuffer(b"".join(digests), dtype="<u4").reshape(-1, 8)[:, :POOL]
    # A seed is padded to a full pool before the key follows, and each word after the
    # first four turns the constant four times.
    words = max(POOL, -(-seed.bit_length() // HALF))
    constant = INIT_A * pow(MULT_A, POOL * words, 1 << HALF) & MASK
    pool = np.random.SeedSequence(seed).pool
    states = spawned_states(pool, constant, keys.astype(np.uint32))
    return [Stream(_Seeded(state)) for state in states]  # type: ignore[arg-type]  # NumPy takes any ISeedSequence


def draw_block(scenario: Scenario, seed: int, number: int, trials: int) -> Block:
    """Draw the trials of one block.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> draw_block(Scenario(reviewers=4), 7, 0, 3).scores.shape
        (3, 4, 1)
    """
    return draw_table(scenario, seed, [(number, trials)])


def draw_table(
    scenario: Scenario, seed: int, blocks: Sequence[tuple[int, int]]
) -> Block:
    """Draw the trials of some blocks, one below the other.

    Args:
        scenario: The scenario.
        seed: The seed.
        blocks: Number of each block, and how many of its trials.

    Returns:
        All trials, the same as if each block had been drawn alone.

    Raises:
        OptionError: If a score is beyond floats, or a user's scale does not increase.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> both = draw_table(Scenario(reviewers=4), 7, [(0, 3), (5, 2)]).scores
        >>> (both[3:] == draw_block(Scenario(reviewers=4), 7, 5, 2).scores).all()
        np.True_
    """
    parts = ((f"simulate block {number}", trials) for number, trials in blocks)
    source = Source(seed, tuple(parts))
    # Infinite scores are refused in words below.
    with np.errstate(over="ignore", invalid="ignore"):
        values = _values(scenario, source)
        assigned = _assigned(scenario, source)
        noise = _noise(scenario, source, assigned.shape[-1])
        if scenario.job == "compare":
            potential = _potential(scenario, values, source)
            scores = _of_sides(assigned, potential) + noise
            # A reviewer of one item has one noise, whichever of the two it is.
            seen = potential if scenario.noise == "none" else potential + noise
        else:
            scores = _of_assigned(scenario, values, assigned, source) + noise
            seen = scores
    scores = _finite(scores)
    if scenario.levels:
        low, high = score_range(scenario)
        form = scales(f"levels:{scenario.levels}:{low!r}:{high!r}").apply
        scores, seen = (form(part, part) for part in (scores, seen))
    pairing = source.words("pairing", scenario.reviewers)
    return Block(values, assigned, scores, _tied(seen), pairing)


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
    source = Source(0, (("pilot", trials),))
    values = _values(scenario, source)
    scores = _potential(scenario, values, source)
    noise = _noise(scenario, source, scenario.items)
    scores = _finite(scores + noise)
    return float(scores.min()), float(scores.max())


def _finite(scores: Floats) -> Floats:
    if not np.isfinite(scores).all():
        raise OptionError(
            "scores must be finite, got one beyond floats. Choose smaller values or "
            "tamer scales."
        )
    return scores


def _of_sides(assigned: Codes, potential: Floats) -> Floats:
    """Take the score of the item that each reviewer has of two."""
    sides = np.ascontiguousarray(assigned[..., 0])
    items = np.moveaxis(np.asarray(potential, dtype=np.float64), -1, 0)
    return scores_of_sides(sides, *map(np.ascontiguousarray, items))[..., None]


def _tied(seen: Floats) -> NDArray[np.bool_]:
    if seen.shape[-1] == PAIR:
        return np.asarray((seen[..., 0] == seen[..., 1]).any(axis=-1))
    ordered = np.sort(seen, axis=-1)
    return np.asarray((ordered[..., 1:] == ordered[..., :-1]).any(axis=(-1, -2)))


def _values(scenario: Scenario, source: Source) -> Floats:
    law = value_law(scenario.values, scenario.items)
    units = source.uniforms("values", scenario.items)
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


def _potential(scenario: Scenario, values: Floats, source: Source) -> Floats:
    """Score every item on the scale of every reviewer."""
    family = scenario.family()
    shape = (len(values), scenario.reviewers, scenario.items)
    if scenario.job == "compare":
        # One item after the other in memory, since loops over two numbers are slow.
        values = np.asfortranarray(values)
    wide = np.broadcast_to(values[:, None, :], shape)
    units = source.uniforms("scales", scenario.reviewers, family.draws)
    # What leaves the floats is refused in words, once noise has been added.
    with np.errstate(over="ignore", invalid="ignore"):
        scores = family.apply(wide, units)
    if not isinstance(scenario.scales, str):
        # Named families increase by construction; a user's must be looked at.
        check_increasing(wide, scores, strict=family.strict)
    return scores


def _of_assigned(
    scenario: Scenario, values: Floats, assigned: Codes, source: Source
) -> Floats:
    """Score the items that each reviewer has, and no others if that can be."""
    family = scenario.family()
    if not family.one_by_one:
        potential = _potential(scenario, values, source)
        return np.take_along_axis(potential, assigned, axis=-1)
    own = values[np.arange(len(values))[:, None, None], assigned]
    return family.apply(
        own, source.uniforms("scales", scenario.reviewers, family.draws)
    )


def _noise(scenario: Scenario, source: Source, ratings: int) -> Floats:
    """Draw noise for so many ratings of each reviewer."""
    law = noise_law(scenario.noise)
    if law is None:
        return np.zeros(1)
    m = scenario.reviewers
    return law(source.uniforms("noise", m, ratings), source.uniforms("spread", m, 1))


def _assigned(scenario: Scenario, source: Source) -> Codes:
    if scenario.job == "compare":
        return _sides(scenario, source)[..., None]
    return _bundles(scenario, source)


def _sides(scenario: Scenario, source: Source) -> Codes:
    """Draw one of two items for each reviewer, as the designs do."""
    m = scenario.reviewers
    if scenario.design == "coins":
        return _coins(source.words("design", m))
    if scenario.design == "matched":
        firsts = _coins(source.words("design", m // 2))
        return np.stack([firsts, 1 - firsts], axis=-1).reshape(source.trials, m)
    if scenario.design == "panels":
        # Panels of reviewers in index order, as equal in size as can be.
        panel = np.arange(m) * scenario.panels // m
        return _halved(source, scenario.panels)[:, panel]
    return _halved(source, m)


def _coins(words: Words) -> Codes:
    return (words >> np.uint64(WORD_BITS - 1)).view(np.int64)


def _halved(source: Source, count: int) -> Codes:
    """Give the first item to those half with the smaller words."""
    words = source.words("design", count + 1)
    own = words[:, :-1]
    fewer = count // 2 + _coins(words[:, -1:]) * (count % 2)
    ordered = np.sort(own, axis=-1)
    # All or none of one; beyond the last there is nothing to be smaller than.
    bound = np.take_along_axis(ordered, np.minimum(fewer, count - 1), axis=-1)
    sides = ((own >= bound) & (fewer < count)).astype(np.int64)
    # Equal words at the bound, once in some million million runs.
    (doubtful,) = np.nonzero(sides.sum(axis=-1) != count - fewer[:, 0])
    for row in doubtful:
        place = np.argsort(np.argsort(own[row]))
        sides[row] = place >= fewer[row]
    return sides


def _bundles(scenario: Scenario, source: Source) -> Codes:
    n, m = scenario.items, scenario.reviewers
    if scenario.design == "everything":
        return np.broadcast_to(np.arange(n), (source.trials, m, n))
    if scenario.design == "pairs" and math.comb(n, 2) <= SHUFFLED_PAIRS:
        pairs = np.stack(np.triu_indices(n, 1), axis=-1)
        order = np.argsort(source.words("design", len(pairs)), axis=-1)
        return pairs[order[:, :m]].astype(np.int64)
    seeds = source.words("design").tolist()
    if scenario.design == "pairs":
        return np.stack([designs.pairs(n, m, rng=seed) for seed in seeds])
    each = scenario.per_reviewer
    return np.stack([designs.balanced(n, m, each, rng=seed) for seed in seeds])

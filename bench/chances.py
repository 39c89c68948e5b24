"""Jobs on chance: simulations and the law of a majority."""

from __future__ import annotations

import functools
import math
import os
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace as Data
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench.measure import Job, Side, agreed
from bench.orders import ARGSORT, DECADES, SMALL
from evenhand._kernels.kendall import crossings
from evenhand._kernels.simulation import coin_losses
from evenhand._randomness import SEED_BITS, stream, uniforms
from evenhand.ab.law import majority_probability
from evenhand.ab.weights import rational
from evenhand.lab import Scenario, Simulation, simulate
from evenhand.lab._coin_samples import kendall_samples
from evenhand.lab._draws import streams
from evenhand.lab._uniform import Success, as_rule, sampled_together
from evenhand.lab.exact import biases
from evenhand.posets import comparisons, topological_order
from evenhand.ranking.flips import by_item, neighbour_odds
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
REVIEWERS, CHUNK = 100, 10_000
RULES = ("votes", "sign", "mean", "median")
RULE_ERROR = 1e-12
HALF = Fraction(1, 2)
STANDARD_ERRORS, EXACT_ERROR = 6, 1e-12
# The ranking simulation: data sets, items, and how many data sets the peer gets.
SETS, ITEMS, TRIED = 100, 100, 2
VOTE_ERROR, PEER_ERROR = 1e-14, 1e-8
# The long-double law takes a quarter of a minute at a million votes.
REFERENCE_VOTES = 1_000_000


def _trials(size: int) -> Data:
    return Data(trials=size, added=biases("incremental", REVIEWERS))


def _simulated(data: Data) -> list[Success]:
    rules = [as_rule(name) for name in RULES]
    added = [Fraction(number) for number in data.added]
    return sampled_together(rules, added, data.trials, 7)


def _on_one_core(run: Callable[[Data], Any]) -> Callable[[Data], Any]:
    """Run on one core, where the system lets a process choose."""

    def alone(data: Data) -> Any:  # noqa: ANN401 - whatever it returns
        if not hasattr(os, "sched_setaffinity"):
            return run(data)
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        try:
            return run(data)
        finally:
            os.sched_setaffinity(0, allowed)

    return alone


def _words(data: Data) -> Floats:
    return uniforms(stream(7, "trials"), (data.trials, REVIEWERS + 2))


def _in_numpy(
    chances: Callable[[Floats, Floats], Floats],
) -> Callable[[Data], list[tuple[float, float]]]:
    """Do the trials on whole tables, ten thousand rows at a time, on the same draws."""
    return functools.partial(_on_tables, chances)


def _on_tables(
    chances: Callable[[Floats, Floats], Floats], data: Data
) -> list[tuple[float, float]]:
    source = stream(7, "trials")
    added = np.array([float(number) for number in data.added])
    chunks = []
    for start in range(0, data.trials, CHUNK):
        rows = min(CHUNK, data.trials - start)
        values = np.sort(uniforms(source, (rows, 2)), axis=1)
        orders = np.argsort(uniforms(source, (rows, len(added))), axis=1)
        half = len(added) // 2
        better = added[orders[:, :half]] + values[:, 1:]
        worse = added[orders[:, half:]] + values[:, :1]
        chunks.append(chances(better, worse))
    found = np.hstack(chunks)
    errors = found.std(axis=1, ddof=1) / math.sqrt(data.trials)
    return list(zip(found.mean(axis=1).tolist(), errors.tolist(), strict=True))


def _by_trial(better: Floats, worse: Floats) -> Floats:
    """Return by rule and trial the chance that the better item is named.

    A trial is a row throughout, which is how tables of trials come.
    """
    half = better.shape[1]
    gaps = better - worse
    chance = (1 + gaps / (1 + np.abs(gaps))) / 2
    law = np.zeros((len(better), half + 1))
    law[:, 0] = 1
    for vote in chance.T:
        moved = law * vote[:, None]
        law -= moved
        law[:, 1:] += moved[:, :-1]
    middles = [np.sort(side, axis=1)[:, half // 2] for side in (better, worse)]
    return _margins(better, worse, law.T, middles)


def _by_vote(better: Floats, worse: Floats) -> Floats:
    """Return the same, with the law of the votes turned so that its steps are rows."""
    half = better.shape[1]
    gaps = better - worse
    chance = ((1 + gaps / (1 + np.abs(gaps))) / 2).T.copy()
    law = np.zeros((half + 1, len(better)))
    law[0] = 1
    for vote in range(half):
        moved = law[: vote + 1] * chance[vote]
        law[: vote + 1] -= moved
        law[1 : vote + 2] += moved
    middles = [np.partition(side, half // 2)[:, half // 2] for side in (better, worse)]
    return _margins(better, worse, law, middles)


def _margins(
    better: Floats, worse: Floats, law: Floats, middles: list[Floats]
) -> Floats:
    half = better.shape[1]
    above, below = law[half // 2 + 1 :].sum(axis=0), law[: (half + 1) // 2].sum(axis=0)
    margins = [
        above - below,
        np.sign(np.sign(better - worse).sum(axis=1)),
        np.sign(better.mean(axis=1) - worse.mean(axis=1)),
        np.sign(middles[0] - middles[1]),
    ]
    return (1 + np.array(margins)) / 2


def _same_chances(_: Data, ours: list[Success], theirs: list[Any]) -> str:
    mine = [(float(rule.probability), rule.se) for rule in ours]
    apart = float(np.abs(np.array(mine) - np.array(theirs)).max())
    text = f"the same draws; chances differ by {apart:.0e}, at most {RULE_ERROR:.0e}"
    return agreed(text, right=apart < RULE_ERROR)


def _public(data: Data) -> Simulation:
    scenario = Scenario(reviewers=REVIEWERS, scales="incremental")
    return simulate(scenario, RULES, trials=data.trials, rng=7)


def _near_chances(_: Data, ours: Simulation, theirs: list[Any]) -> str:
    rows = zip(ours.rows, theirs, strict=True)
    apart = max(
        abs(1 - row.risk - chance) / max(math.hypot(row.se, error), EXACT_ERROR)
        for row, (chance, error) in rows
    )
    text = f"other draws; chances differ by {apart:.1f} standard errors, at most 6"
    return agreed(text, right=apart < STANDARD_ERRORS)


def _better_than_coin(_: Data, found: Simulation) -> str:
    right = all(row.risk <= HALF + 5 * row.se for row in found.rows)
    return agreed("no rule is worse than a coin by 5 standard errors", right=right)


def _in_range(_: Data, found: list[Success]) -> str:
    right = all(HALF - 5 * rule.se <= rule.probability <= 1 for rule in found)
    return agreed("no rule is worse than a coin by 5 standard errors", right=right)


def _set(seed: int) -> Data:
    """Draw a data set: half of all pairs, each compared on a scale of its own."""
    rng = np.random.default_rng(seed)
    number = math.comb(ITEMS, 2) // 2
    every = np.stack(np.triu_indices(ITEMS, 1), axis=1)
    chosen = every[rng.choice(len(every), number, replace=False)]
    value = ITEMS * rng.random(ITEMS)
    slope, shift = 1 - rng.random((number, 1)), rng.random((number, 1))
    scores = slope * value[chosen] + shift
    people = np.repeat(np.arange(number), 2)
    ratings = Ratings(people, chosen.ravel(), scores.ravel(), all_items=range(ITEMS))
    return Data(ratings=ratings, pairs=chosen, scores=scores, truth=_ranks(-value))


def _ranks(keys: Floats) -> NDArray[np.int64]:
    return np.argsort(np.argsort(keys))


def _sources() -> list[tuple[Any, Any]]:
    """Open for each data set a stream that chooses coins and one that flips them."""
    numbers = range(SETS)
    chosen = streams(1, [f"flips {number}" for number in numbers])
    return list(
        zip(chosen, streams(1, [f"coins {number}" for number in numbers]), strict=True)
    )


def _sets(size: int) -> Data:
    sets = [_set(seed) for seed in range(SETS)]
    for one, (chosen, flipping) in zip(sets, _sources(), strict=True):
        one.order = topological_order(comparisons(one.ratings))
        reviews = by_item(one.ratings)
        one.at, one.odds, _ = neighbour_odds(reviews, one.order, rational(), chosen)
        one.words = 0
        one.flips = _flips(one, size // SETS, flipping)
    return Data(sets=sets, samples=size // SETS)


def _whole(data: Data) -> list[NDArray[np.int64]]:
    weight = rational()
    return [
        kendall_samples(one.ratings, one.truth, weight, data.samples, both)
        for one, both in zip(data.sets, _sources(), strict=True)
    ]


def _flips(one: Data, samples: int, source: Any) -> NDArray[np.bool_]:  # noqa: ANN401 - a stream
    """Flip the coins of some samples, 64 at a time, bit by bit; and count the words.

    The same words say the same as in ours.
    """
    kept = [int(number) for number in _kept(one)]
    table = np.empty((-(-samples // 64), len(kept)), dtype=np.uint64)
    # No more words can be needed.
    words = iter(source.random_raw(table.size * SEED_BITS).tolist())
    for row, column in np.ndindex(table.shape):
        flips, equal, place = 0, 2**64 - 1, SEED_BITS
        if kept[column] == 2**SEED_BITS:
            equal = 0
        while equal and kept[column] % 2**place:
            place -= 1
            word = next(words)
            one.words += 1
            if kept[column] >> place & 1:
                equal &= word
            else:
                flips, equal = flips | equal & word, equal & ~word
        table[row, column] = flips | equal
    bits = table[:, None, :] >> np.arange(64, dtype=np.uint64)[:, None] & np.uint64(1)
    return bits.reshape(-1, len(kept))[:samples].astype(np.bool_)


def _kept(one: Data) -> NDArray[np.int64]:
    return np.asarray(np.ceil(one.odds.p_first * 2.0**SEED_BITS), dtype=np.int64)


def _words_of_coins(data: Data) -> list[NDArray[np.uint64]]:
    return [
        source.random_raw(one.words)
        for one, (_, source) in zip(data.sets, _sources(), strict=True)
    ]


def _peer_sets(data: Data) -> list[NDArray[np.int64]]:
    """Rank and sample some of the data sets; flips are given, so it has less to do."""
    nx = import_module("networkx")
    found = []
    for one in data.sets[:TRIED]:
        graph = nx.DiGraph()
        graph.add_nodes_from(range(ITEMS))
        rows = zip(one.pairs.tolist(), one.scores.tolist(), strict=True)
        graph.add_edges_from((i, j) if s > t else (j, i) for (i, j), (s, t) in rows)
        order = np.array(list(nx.lexicographical_topological_sort(graph)))
        found.append(_recounted(one, order))
    return found


def _recounted(one: Data, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Let scipy count all pairs of each sample."""
    stats = import_module("scipy.stats")
    losses = []
    for flips in one.flips:
        at = one.at[flips]
        drawn = order.copy()
        drawn[at], drawn[at + 1] = order[at + 1], order[at]
        tau = stats.kendalltau(np.arange(ITEMS), one.truth[drawn]).statistic
        losses.append(round((1 - tau) / 2 * math.comb(ITEMS, 2)))
    return np.array(losses)


def _possible(data: Data, found: list[Any]) -> str:
    right = len(found) == len(data.sets)
    right &= all(0 <= x.min() <= x.max() <= math.comb(ITEMS, 2) for x in found)
    return agreed("losses are possible ones", right=right)


def _same_losses(_: Data, ours: list[Any], theirs: list[Any]) -> str:
    same = [np.array_equal(one, two) for one, two in zip(ours, theirs, strict=False)]
    text = f"the same losses in {len(theirs)} of {SETS} data sets, exactly"
    return agreed(text, right=all(same))


def _kernel_sets(size: int) -> Data:
    data = _sets(size)
    calls = []
    for one, (_, source) in zip(data.sets, _sources(), strict=True):
        places = one.truth[one.odds.items]
        harms = np.where(places[:, 0] < places[:, 1], 1, -1)
        base = crossings(one.truth[one.order].astype(np.int32))
        # And as many as one more time might be needed at most.
        words = source.random_raw(one.words + SEED_BITS * len(harms))
        calls.append((base, harms, _kept(one), words))
    return Data(calls=calls, sets=data.sets, samples=data.samples)


def _scipy_sets(data: Data) -> list[NDArray[np.int64]]:
    return [_recounted(one, one.order) for one in data.sets[:TRIED]]


def _kernel(data: Data) -> list[NDArray[np.int64]]:
    losses = [np.empty(data.samples, dtype=np.int64) for _ in data.calls]
    for (base, harms, kept, words), found in zip(data.calls, losses, strict=True):
        coin_losses(base, harms, kept, words, found)
    return losses


def _kernel_in_numpy(data: Data) -> list[NDArray[np.int64]]:
    sets = zip(data.calls, data.sets, strict=True)
    return [base + one.flips @ harms for (base, harms, *_), one in sets]


def _votes(size: int) -> Data:
    rng = np.random.default_rng(1)
    return Data(chances=rng.random(size), doubles=rng.random(size))


def _reference(chances: Floats) -> np.longdouble:
    """Work out the majority in long doubles, dropping only what is below 1e-26."""
    rows = np.zeros((-(-len(chances) // 64), 64), dtype=np.longdouble)
    rows.flat[: len(chances)] = chances
    laws = np.zeros((len(rows), 65), dtype=np.longdouble)
    laws[:, 0] = 1
    for vote in range(64):
        moved = laws[:, : vote + 1] * rows[:, vote : vote + 1]
        laws[:, : vote + 1] -= moved
        laws[:, 1 : vote + 2] += moved
    parts = [_trimmed(0, law) for law in laws]
    while len(parts) > 1:
        rest = parts[len(parts) // 2 * 2 :]
        both = zip(parts[::2], parts[1::2], strict=False)
        parts = [_trimmed(a[0] + b[0], np.convolve(a[1], b[1])) for a, b in both] + rest
    start, law = parts[0]
    doubled = 2 * (start + np.arange(len(law)))
    above, tied = doubled > len(chances), doubled == len(chances)
    chance: np.longdouble = (law[above].sum() + law[tied].sum() / 2) / law.sum()
    return chance


def _trimmed(start: int, law: NDArray[np.longdouble]) -> tuple[int, Any]:
    kept = np.flatnonzero(law > np.longdouble(1e-26))
    return start + int(kept[0]), law[kept[0] : kept[-1] + 1]


def _close(data: Data, found: Floats) -> str:
    if len(data.chances) > REFERENCE_VOTES:
        return agreed("between 0 and 1", right=bool(0 <= found <= 1))
    error = abs(float(_reference(data.chances) - np.longdouble(found)))
    text = f"error {error:.0e} against long doubles, at most {VOTE_ERROR:.0e}"
    return agreed(text, right=error <= VOTE_ERROR)


def _poibin(data: Data) -> float:
    law = import_module("fast_poibin").PoiBin(data.chances)
    votes = len(data.chances)
    above = float(np.sum(law.pmf[votes // 2 + 1 :]))
    return above + (0.0 if votes % 2 else float(law.pmf[votes // 2]) / 2)


def _same_chance(_: Data, ours: Floats, theirs: float) -> str:
    apart = abs(float(ours) - theirs)
    text = f"differs by {apart:.0e}, at most {PEER_ERROR:.0e}"
    return agreed(text, right=apart < PEER_ERROR)


JOBS = [
    Job(
        "ab",
        "A/B simulation, 100 reviewers, four rules",
        "trials",
        (1_000, 10_000, 100_000, 1_000_000),
        (10_000,),
        SMALL,
        _trials,
        _simulated,
        _in_range,
        Side("drawing the same random bits", _words),
        (
            Side("vectorised NumPy", _in_numpy(_by_trial), _same_chances),
            Side(
                "vectorised NumPy, tables turned by hand",
                _in_numpy(_by_vote),
                _same_chances,
            ),
        ),
        note="Ours runs on every core, NumPy on one. Turned by hand: the law of the "
        "votes is held vote by vote instead of trial by trial.",
    ),
    Job(
        "ab-one",
        "A/B simulation, 100 reviewers, four rules, on one core",
        "trials",
        (1_000, 10_000, 100_000, 1_000_000),
        (10_000,),
        SMALL,
        _trials,
        _on_one_core(_simulated),
        _in_range,
        Side("drawing the same random bits", _on_one_core(_words)),
        (
            Side(
                "vectorised NumPy",
                _on_one_core(_in_numpy(_by_trial)),
                _same_chances,
            ),
            Side(
                "vectorised NumPy, tables turned by hand",
                _on_one_core(_in_numpy(_by_vote)),
                _same_chances,
            ),
        ),
    ),
    Job(
        "simulate",
        "A/B simulation by the public `simulate`, 100 reviewers, four rules",
        "trials",
        (1_000, 10_000, 100_000, 1_000_000),
        (10_000,),
        SMALL,
        _trials,
        _public,
        _better_than_coin,
        Side("drawing as many random bits", _words),
        (Side("vectorised NumPy", _in_numpy(_by_trial), _near_chances),),
        note="It takes any scales, designs, noise and rules, looks for ties, and gives "
        "the same result for any number of processes.",
    ),
    Job(
        "ranking",
        "ranking simulation, 100 data sets of 100 items, whole",
        "samples",
        (1_000, 10_000, 100_000, 1_000_000),
        (100_000,),
        (200, 400, 800, 1_600),
        _sets,
        _whole,
        _possible,
        Side("drawing the same words", _words_of_coins),
        (
            Side(
                "networkx and scipy",
                _peer_sets,
                _same_losses,
                "networkx",
                most=100_000,
                share=TRIED / SETS,
            ),
        ),
        note="The peer gets the flips and 2 data sets; its time is multiplied by 50.",
    ),
    Job(
        "ranking-kernel",
        "ranking simulation, the loop over samples alone",
        "samples",
        (1_000, 10_000, 100_000, 1_000_000),
        (100_000,),
        (200, 400, 800, 1_600),
        _kernel_sets,
        _kernel,
        _possible,
        Side("reading the same words", lambda data: [x[-1].sum() for x in data.calls]),
        (
            Side("NumPy", _kernel_in_numpy, _same_losses),
            Side(
                "scipy counts every sample",
                _scipy_sets,
                _same_losses,
                "scipy",
                most=100_000,
                share=TRIED / SETS,
            ),
        ),
        note="Orders, coins and words are given, to the others the flips. scipy gets 2 "
        "data sets; its time is multiplied by 50.",
    ),
    Job(
        "majority",
        "Poisson-binomial majority",
        "votes",
        DECADES,
        (1_000_000,),
        SMALL,
        _votes,
        lambda data: majority_probability(data.chances),
        _close,
        ARGSORT,
        (Side("fast-poibin", _poibin, _same_chance, "fast_poibin", most=1_000_000),),
        note="Half of a tie is added to the peer's chance.",
    ),
]

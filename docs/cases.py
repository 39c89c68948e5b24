"""Made-up ratings of everyday sizes, for the pictures of the report and its tests.

Each case draws values, strictness and noise from a seed, so that it is the same on
every machine. Names and titles are made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand import Ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

WHAT = (
    "Sparse attention",
    "Causal discovery",
    "Federated learning",
    "Graph sampling",
    "Offline reinforcement learning",
    "Kernel regression",
    "Program synthesis",
    "Speech separation",
    "Online matching",
    "Robust estimation",
    "Image retrieval",
    "Protein design",
)
HOW = (
    "without labels",
    "under distribution shift",
    "with few examples",
    "from noisy feedback",
    "at scale",
    "for low-resource languages",
    "in linear time",
    "with formal guarantees",
    "by contrastive pretraining",
    "on small devices",
)
FIRST = ("Ada", "Ben", "Chen", "Dina", "Emil", "Fay", "Gus", "Hana", "Ivo", "June")
LAST = ("Abel", "Brandt", "Costa", "Diaz", "Evans", "Fischer", "Gupta", "Haas")
PEOPLE = tuple(f"{first} {last}" for last in LAST for first in FIRST)
MODELS = ("aster", "birch", "cedar", "dahlia", "elder", "fern", "ginkgo", "hazel")
APPS = (
    "Bus Buddy",
    "Leftover Chef",
    "Quiet Map",
    "Sign Tutor",
    "Plant Nurse",
    "Queue Cutter",
    "Fair Split",
    "Night Walk",
    "Repair Café",
    "Word Garden",
    "Air Diary",
    "Class Swap",
)


class Spread(NamedTuple):
    """How scores are spread: lowest and highest, the middle, and by how much."""

    low: int
    high: int
    middle: float
    values: float
    strictness: float
    noise: float


def conference() -> Ratings:
    """120 papers with titles, 40 reviewers, about 3.5 reviews each, scores 1 to 10."""
    source = np.random.default_rng(2026)
    items = [f"#{place}" for place in range(101, 221)]
    titles = [f"{what} {how}" for what in WHAT for how in HOW]
    source.shuffle(titles)
    spread = Spread(1, 10, 5.5, 1.4, 0.8, 1.0)
    ratings = _drawn(source, items, PEOPLE[::2], 3.5, spread)
    ratings.titles = dict(zip(items, titles, strict=True))
    return ratings


def course() -> Ratings:
    """A class of 60 whose members mark four others each, 0 to 20."""
    source, people = np.random.default_rng(60), PEOPLE[:60]
    return _drawn(source, people, people, 4, Spread(0, 20, 13, 2.5, 1.5, 1.6))


def duel() -> Ratings:
    """Two designs, each scored 1 to 5 by half of 60 people."""
    source = np.random.default_rng(2)
    items = ["new checkout", "old checkout"] * 30
    better = np.tile([0.8, 0.0], 30)
    scores = np.clip(np.rint(3.0 + better + source.normal(0, 0.9, 60)), 1, 5)
    return Ratings([f"visitor {place:02d}" for place in range(60)], items, scores)


def many_items() -> Ratings:
    """A thousand items, five reviews each."""
    people = [f"reviewer {place}" for place in range(500)]
    source = np.random.default_rng(1000)
    items = [f"P{place:04d}" for place in range(1000)]
    return _drawn(source, items, people, 5, Spread(1, 10, 5.5, 1.5, 0.8, 1.0))


def hard_names() -> Ratings:
    """Titles of 300 characters, from right to left, in one word, and none."""
    items = [f"P{place}" for place in range(1, 9)]
    people = [f"{'Reviewer with a rather long name ' * 3}{place}" for place in range(5)]
    source, spread = np.random.default_rng(8), Spread(1, 10, 5.5, 1.5, 0.8, 1.0)
    ratings = _drawn(source, items, people, 3, spread)
    ratings.titles = {
        "P1": "On the long titles that people give to papers " * 7,
        "P2": "שיפוט הוגן של מאמרים בסולמות שונים " * 9,
        "P3": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamten"
        * 4,
        "P4": "تقييم عادل",
        "P5": "公平评审" * 80,
    }
    return ratings


def _drawn(
    source: np.random.Generator,
    items: Sequence[str],
    people: Sequence[str],
    each: float,
    spread: Spread,
) -> Ratings:
    """Draw scores: a value for each item, an offset for each reviewer, and noise."""
    values = source.normal(spread.middle, spread.values, len(items))
    offsets = source.normal(0, spread.strictness, len(people))
    counts = np.floor(np.full(len(items), each) + source.random(len(items))).astype(int)
    who: list[str] = []
    what: list[str] = []
    scores: list[float] = []
    load = np.zeros(len(people))
    for item in range(len(items)):
        # Those with little to do come first; nobody marks their own work.
        order = np.argsort(load + source.random(len(people)))
        taken = [one for one in order if people[one] != items[item]][: counts[item]]
        load[taken] += 1
        drawn = (
            values[item] + offsets[taken] + source.normal(0, spread.noise, len(taken))
        )
        who += [people[one] for one in taken]
        what += [items[item]] * len(taken)
        scores += np.clip(np.rint(drawn), spread.low, spread.high).tolist()
    return Ratings(who, what, scores)

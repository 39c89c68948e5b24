"""Scenarios: how many items and reviewers, what values, scales, noise and design.

Trials of a scenario are drawn many at a time: true values, who scores what, scores.

"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.designs.design import (
    ManyItemDesign,
    RandomDesign,
    TwoItemDesign,
    names_of,
)
from evenhand.errors import DesignError, OptionError, must_be, require_whole, unknown
from evenhand.lab.scales import Known, Scales, read, require, scales

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from evenhand.arrays import Floats
    from evenhand.claims import Json

    Codes = NDArray[np.int64]

# A block of 64 trials takes a gigabyte then.
MOST_SCORES = 2_000_000
JOBS = ("compare", "rank")
# How many SDs of normal values are taken for their range.
FAR = 4
USUAL_ITEMS = 10


class Everything(ManyItemDesign):
    """Give every item to every reviewer, which nothing random is needed for."""

    name = "everything"
    job = "simulate"

    def usual_sizes(self, n_items: int) -> tuple[int, int]:
        """Return as many reviewers as items, and all items for each."""
        return n_items, n_items

    def items_each(self, n_items: int, _: int) -> int:
        """Return all items."""
        return n_items

    def draw_bundles(
        self, trials: int, n_items: int, n_reviewers: int, _each: int, _rng: Generator
    ) -> Codes:
        """Return all items for each reviewer."""
        return np.broadcast_to(np.arange(n_items), (trials, n_reviewers, n_items))


@dataclass(frozen=True, slots=True)
class Scenario:
    """A situation to try methods on.

    What is left out is filled in: by default `compare` has ten reviewers and values in
    [0, 1], and `rank` is the paper's ranking simulation for ten items.

    Attributes:
        job: "compare" for two items, "rank" for many.
        items: Number of items; two for `compare`.
        reviewers: Number of reviewers; for the design "pairs" by default half the
            number of pairs of items, as in the paper.
        values: "uniform:LOW:HIGH" or "normal:MEAN:SD". `rank` takes uniform:0:ITEMS by
            default.
        scales: What `evenhand.lab.scales` takes, "affine" by default.
        noise: "none"; "normal:SD"; or "per-reviewer:LOW:HIGH", normal with an SD that
            is drawn for each reviewer. It is added to the score, independently for each
            rating.
        design: For `compare` "halves", "coins", "matched" (reviewers 1 and 2, 3 and 4,
            ...) or "panels"; for `rank` "pairs" (distinct and random), "balanced"
            (per_reviewer items for each) or "everything".
        per_reviewer: Items for each reviewer in the design "balanced".
        panels: Number of panels in the design "panels"; a panel sees one item.

    Raises:
        OptionError: If a name is unknown or a number is out of range.
        DesignError: If the design does not fit the numbers.

    Examples:
        >>> Scenario(reviewers=4, scales="one-biased").values
        'uniform:0:1'
        >>> Scenario(job="rank", items=5).reviewers
        5
    """

    job: str = "compare"
    items: int = 0
    reviewers: int = 0
    values: str = ""
    scales: str = "affine"
    noise: str = "none"
    design: str = ""
    per_reviewer: int = 0
    panels: int = 0

    def __post_init__(self) -> None:
        """Fill in what was left out, and check that all fits together."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, int):
                require_whole(field.name, value, 0)
            elif not isinstance(value, str):
                raise must_be(field.name, "text", value)
        if self.job not in JOBS:
            raise OptionError(unknown("job", self.job, JOBS))
        names = names_of(
            *(("rank", "simulate") if self.job == "rank" else ("compare",))
        )
        # Frozen from here on.
        object.__setattr__(self, "design", self.design or names[0])
        if self.design not in names:
            raise OptionError(unknown("design", self.design, names))
        for name, value in _defaults(self).items():
            object.__setattr__(self, name, value)
        _check(self)
        read("noise", self.noise, NOISES)
        self.family()

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values.

        Examples:
            >>> Scenario().to_dict()["design"]
            'halves'
        """
        return {**dataclasses.asdict(self), "scales": self.family().name}

    def family(self) -> Scales:
        """Return the scales, laid out over the range of the values.

        Examples:
            >>> Scenario(scales="affine>levels: 5").family().name
            'affine > levels:5'
        """
        law: ValueLaw = read("values", self.values, VALUES)
        return scales(self.scales, span=law.span)

    @property
    def random_design(self) -> RandomDesign:
        """The design itself."""
        return RandomDesign.registry[self.design]

    def partners(self, reviewers: Codes) -> Codes | None:
        """Return the pair of each of some reviewers, from 1; None without pairs."""
        law = self.random_design
        if not isinstance(law, TwoItemDesign) or law.symmetry != "partners":
            return None
        return np.array(law.usual_people(self.reviewers))[reviewers - 1] + 1


FIELDS = tuple(field.name for field in dataclasses.fields(Scenario))


def _defaults(scenario: Scenario) -> dict[str, object]:
    """Return what was left out."""
    rank = scenario.job == "rank"
    items = scenario.items or (USUAL_ITEMS if rank else 2)
    reviewers, per_reviewer = scenario.random_design.usual_sizes(items)
    usual = {
        "items": items,
        "reviewers": reviewers,
        "values": f"uniform:0:{items if rank else 1}",
        "per_reviewer": per_reviewer,
        "panels": 2 * _has_panels(scenario),
    }
    return {name: getattr(scenario, name) or value for name, value in usual.items()}


def _has_panels(scenario: Scenario) -> bool:
    """Say whether its design has groups whose number is free."""
    law = scenario.random_design
    return not law.bars and bool(law.group) and scenario.partners(np.arange(1)) is None


def _check(scenario: Scenario) -> None:
    n, m, design = scenario.items, scenario.reviewers, scenario.design
    per, panels = scenario.per_reviewer, scenario.panels
    law, paneled = scenario.random_design, panels and _has_panels(scenario)
    fewest, wanted, exact, most = 2, 0, "exactly", 2
    if isinstance(law, ManyItemDesign):
        fewest, exact, most = law.fewest_items, "at least", n
        wanted = law.items_each(n, per)
    misfit = not fewest <= n <= most
    broken = {
        f"items must be {exact} {fewest} for job {scenario.job!r}, got {n}.": misfit,
        f"items times reviewers must be at most {MOST_SCORES:,} to fit in memory, got "
        f"{n} times {m}.": n * m > MOST_SCORES,
        f"panels must be left out for design {design!r}.": panels and not paneled,
        f"panels must be from 2 to the {m} reviewers, got {panels}.": paneled
        and panels not in range(2, m + 1),
        f"per_reviewer must be {wanted} for design {design!r}, got {per}. Use "
        "'balanced' for other numbers.": per != wanted,
        f"per_reviewer must be at most items = {n}, got {per}.": per > n,
        law.misfit(n, m): law.misfit(n, m),
    }
    for sentence in (sentence for sentence, holds in broken.items() if holds):
        raise DesignError(sentence)


class ValueLaw(NamedTuple):
    """How values are drawn.

    Attributes:
        span: Between which numbers they lie, or most of them.
        draw: From where chance comes from and a shape to values.
    """

    span: tuple[float, float]
    draw: Callable[[Generator, tuple[int, ...]], Floats]


def _uniform(low: float, high: float) -> ValueLaw:
    require("a lower end before the higher one", holds=low < high)
    return ValueLaw((low, high), lambda rng, n: low + (high - low) * rng.random(n))


def _normal(mean: float, sd: float) -> ValueLaw:
    require("an SD above 0", holds=sd > 0)
    span = (mean - FAR * sd, mean + FAR * sd)
    return ValueLaw(span, lambda rng, n: mean + sd * rng.standard_normal(n))


def _spread(low: float, high: float | None = None) -> tuple[float, float]:
    """Return between which numbers the SDs of the reviewers' noise lie."""
    most = low if high is None else high
    require("SDs of at least 0, the lower first", holds=0 <= low <= most)
    return low, most


VALUES: Known = {"uniform": ((0, 1), _uniform), "normal": ((0, 1), _normal)}
NOISES: Known = {
    "none": ((), lambda: (0.0, 0.0)),
    "normal": ((None,), _spread),
    "per-reviewer": ((None, None), _spread),
}


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
        potential: Of two items, the scores that each reviewer would give to both,
            shape (trials, reviewers, 2); None to rank.
    """

    values: Floats
    assigned: Codes
    scores: Floats
    tied: NDArray[np.bool_]
    pairing: Floats
    potential: Floats | None = None


@np.errstate(over="ignore", invalid="ignore")
def draw_trials(scenario: Scenario, trials: int, rng: Generator) -> Trials:
    """Draw some trials.

    Raises:
        OptionError: If a score is beyond floats.

    Examples:
        >>> draw_trials(Scenario(reviewers=4), 3, np.random.default_rng(7)).scores.shape
        (3, 4, 1)
    """
    n, m, law = scenario.items, scenario.reviewers, scenario.random_design
    values = read("values", scenario.values, VALUES).draw(rng, (trials, n))
    if isinstance(law, TwoItemDesign):
        people = law.usual_people(m, scenario.panels)
        assigned = law.draw_sides(trials, people, rng)[..., None]
    elif isinstance(law, ManyItemDesign):
        assigned = law.draw_bundles(trials, n, m, scenario.per_reviewer, rng)
    # Every item on the scale of every reviewer.
    wide = np.broadcast_to(values[:, None, :], (trials, m, n))
    potential = scenario.family().apply(wide, rng)
    low, high = read("noise", scenario.noise, NOISES)
    noise = np.zeros(assigned.shape)
    if high > 0:
        sds = low + (high - low) * rng.random((trials, m, 1))
        noise = sds * rng.standard_normal(assigned.shape)
    scores = np.take_along_axis(potential, assigned, axis=-1) + noise
    if not np.isfinite(scores).all():
        text = "scores must be finite, got one beyond floats. Choose tamer scales."
        raise OptionError(text)
    # A reviewer of one of two items has one noise, whichever item it is.
    table = potential + noise if scenario.job == "compare" else None
    ordered = np.sort(scores if table is None else table, axis=-1)
    tied = (ordered[..., 1:] == ordered[..., :-1]).any(axis=(-1, -2))
    pairing = rng.random((trials, m))
    if scenario.partners(np.arange(m)) is not None:
        # One of each pair has each item, so pairs are found in the order they are in.
        pairing = np.broadcast_to(np.arange(m) / m, (trials, m))
    return Trials(values, assigned, scores, tied, pairing, table)

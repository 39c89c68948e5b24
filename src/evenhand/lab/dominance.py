"""Definition 1 as software: does a method beat a baseline whatever the scales?

The adversary names increasing scales for every true ranking. The answer is the smallest
exact margin that a search found, and the scales that give it. A margin of zero or below
is a proof that the method does not dominate; a positive one is not a proof that it
does.

The search climbs hills from random starts, over tables of whole numbers, a thousandth
each, so that gaps from tiny to huge are in reach. The margin is evaluated exactly at
every step; only which step is tried next is random.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from evenhand.ab.methods import Rule
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.errors import DesignError, OptionError, name_of, shown, unknown
from evenhand.lab import duels, worlds
from evenhand.lab.scales import scales
from evenhand.lab.worlds import Table, brief, evaluate
from evenhand.method import Method, as_method
from evenhand.randomness import RNGLike, Stream, below, seed_from, stream
from evenhand.ranking.methods import FlipsUniform, RankMethod, Uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.claims import Json
    from evenhand.lab.duels import OwnRule
    from evenhand.lab.worlds import Estimator, Loss, Margin, Order, Ordinal, Procedure

TRUTHS = ("uniform", "arbitrary")
TWO = 2
MANY = (3, 4)
BUDGET = 200
SHOWN = 3
Rows = tuple[tuple[int, ...], ...]

UNIT = 1000
DIGITS = 9
LARGEST_POWER = 7
FARTHEST = 10**9
PATIENCE = 40
CLIMBS = 5
# Small budgets see the first of them only.
FAMILIES = (
    "incremental-one-biased",
    "adversary:spread",
    "disjoint",
    "one-biased",
    "identity",
    "incremental",
    "adversary",
)


@dataclass(frozen=True, slots=True)
class Witness:
    """Scales that the adversary names for one true ranking.

    Attributes:
        truth: The true ranking, best item first.
        scales: Scores of each reviewer, from the worst item to the best.
        margin: Risk of the baseline minus risk of the method.
    """

    truth: Order
    scales: Table
    margin: Fraction

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values, numbers as text."""
        return {
            "truth": list(self.truth),
            "scales": [[str(score) for score in row] for row in self.scales],
            "margin": str(brief(self.margin)),
        }

    def __str__(self) -> str:
        ranking = " > ".join(map(str, self.truth))
        return f"true ranking {ranking}, scales {scales_text(self.scales)}"


def scales_text(scales: Table) -> str:
    """Write scales for people, a reviewer after the other, worst item first.

    Examples:
        >>> scales_text(((Fraction(1, 4), Fraction(3)), (Fraction(0), Fraction(9000))))
        '0.25, 3; 0, 9000'
    """
    return "; ".join(
        ", ".join(f"{float(score):.10g}" for score in row) for row in scales
    )


@dataclass(frozen=True, slots=True, repr=False)
class Dominance:
    """The smallest margin that an adversary found.

    Attributes:
        method: Name of the method.
        baseline: Name of what it is compared with.
        loss: Name of the loss.
        truth: "uniform" or "arbitrary".
        n_items: Number of items.
        n_reviewers: Number of reviewers.
        design: Name of the design; "pairs" for more than two items.
        margin: Risk of the baseline minus risk of the method: averaged over true
            rankings if uniform, the smallest if arbitrary.
        witness: The scales that give it, for each true ranking that counts.
        budget: Tables of scales tried for each true ranking.
        seed: Seed of the search.
    """

    method: str
    baseline: str
    loss: str
    truth: str
    n_items: int
    n_reviewers: int
    design: str
    margin: Fraction
    witness: tuple[Witness, ...]
    budget: int
    seed: int

    @property
    def strict(self) -> bool:
        """Whether the method was better on all scales that were tried."""
        return self.margin > 0

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values, margins as text."""
        return {
            "schema": "evenhand.dominance/1",
            **dataclasses.asdict(self),
            "margin": str(brief(self.margin)),
            "margin_exact": brief(self.margin) == self.margin,
            "margin_decimal": float(self.margin),
            "strict": self.strict,
            "witness": [witness.to_dict() for witness in self.witness],
        }

    def __repr__(self) -> str:
        verdict = "better on all scales tried" if self.strict else "does not dominate"
        head = (
            f"{self.method} against {self.baseline}: {verdict}; smallest margin "
            f"{float(self.margin):.3g} ({self.loss}, {self.truth} true ranking, "
            f"{self.n_items} items, {self.n_reviewers} reviewers, {self.design})"
        )
        lines = [f"  {witness}" for witness in self.witness[:SHOWN]]
        more = len(self.witness) - SHOWN
        if more > 0:
            lines.append(f"  and {more} more true rankings")
        return "\n".join([head, *lines])


def dominates(
    method: str | Rule | RankMethod | OwnRule | Procedure,
    baseline: str | Rule | OwnRule | Ordinal,
    loss: str = "zero-one",
    truth: str = "uniform",
    *,
    n_items: int = TWO,
    n_reviewers: int | None = None,
    design: str | None = None,
    budget: int = BUDGET,
    rng: RNGLike = None,
) -> Dominance:
    """Search for scales on which a method is not better than a baseline.

    Args:
        method: For two items a rule of `compare`, by name, text form or value, or a
            function of the assignment (the item, 0 or 1, of each reviewer) and the
            reviewers' scores that returns the probability that item 0 is output. For
            more items "topological", "uniform", "flips", "flips-uniform", "twins"
            (which starts from the baseline), with options or as values, or a function
            of the comparisons, the scores by (reviewer, item) and a Chance that returns
            a ranking. Weights must be exact.
        baseline: For two items a rule too, "coin" for instance. For more items
            "topological", "uniform", which no ordinal method beats for zero-one loss
            and a uniform true ranking, or a function of the comparisons that returns a
            ranking, or rankings with their probabilities.
        loss: "zero-one", "kendall" or "footrule".
        truth: "uniform" averages over true rankings, "arbitrary" takes the worst. The
            scales may depend on the true ranking in both cases.
        n_items: 2, 3 or 4.
        n_reviewers: Number of reviewers; 2 for two items, half of the pairs for more.
        design: For two items "halves" (default), "coins", "matched" or "panels"; more
            items have distinct random pairs.
        budget: Tables of scales tried for each true ranking.
        rng: Seed of the search.

    Returns:
        The smallest margin found, exact, and its witness.

    Raises:
        OptionError: If a name is unknown, an option does not fit, or there is too much
            to enumerate.
        DesignError: If the design does not fit the number of reviewers.

    References:
        Wang and Shah (2019), Definition 1.

    Examples:
        >>> dominates("sign", "coin", rng=7).margin
        Fraction(0, 1)
        >>> dominates("votes", "coin", truth="arbitrary", rng=7).strict
        True
        >>> dominates("flips", "uniform", n_items=3, budget=20, rng=7).strict
        True
    """
    if truth not in TRUTHS:
        raise OptionError(unknown("truth", truth, TRUTHS))
    if not isinstance(budget, int) or budget < 1:
        raise OptionError(f"budget must be an integer of at least 1, got {budget!r}.")
    seed = seed_from(rng)
    penalty = worlds.loss_named(loss)
    if n_items == TWO:
        count = TWO if n_reviewers is None else n_reviewers
        tried = _two(method, baseline, penalty, count, design or "halves")
    elif design in (None, "pairs"):
        tried = _many(method, baseline, loss, _world(n_items, n_reviewers))
    else:
        raise OptionError(
            f"design must be left out for more than two items, got {shown(design)}. "
            "Pairs are distinct and random."
        )
    witnesses = tried.searched(budget, seed)
    return Dominance(
        _name(method),
        _name(baseline),
        loss,
        truth,
        n_items,
        tried.shape[0],
        tried.design,
        *decided(witnesses, truth),
        budget,
        seed,
    )


def _name(method: object) -> str:
    return str(method) if isinstance(method, Method) else name_of(method)


@dataclass(frozen=True, slots=True)
class Contest:
    """A method against a baseline, ready for the adversary.

    Attributes:
        margin: Exact margin, of a true ranking and scales.
        truths: True rankings that count; one if no names are known to either side.
        shape: Number of reviewers and of items.
        design: Name of the design.
        asks: Whether the method is known to look at scores somewhere.
    """

    margin: Margin
    truths: tuple[Order, ...]
    shape: tuple[int, int]
    design: str
    asks: bool = True

    def searched(
        self, budget: int, seed: int, *, families: bool = True
    ) -> tuple[Witness, ...]:
        """Search for the worst scales at each true ranking.

        Margins at different true rankings have nothing in common, since the scales may
        depend on the true ranking, so each is searched by itself.
        """
        found = []
        for truth in self.truths:
            margin, table = worst(
                functools.partial(self.margin, truth),
                self.shape,
                stream(seed, f"adversary {truth}"),
                budget=budget,
                families=families,
            )
            found.append(Witness(truth, table, margin))
        return tuple(found)


def decided(
    witnesses: Sequence[Witness], truth: str
) -> tuple[Fraction, tuple[Witness, ...]]:
    """Return the margin and its witness: the average, or the smallest.

    Examples:
        >>> one = Witness((0, 1), (), Fraction(1))
        >>> decided([one, Witness((1, 0), (), Fraction(0))], "uniform")[0]
        Fraction(1, 2)
    """
    if truth == "arbitrary":
        worst_one = min(witnesses, key=lambda witness: witness.margin)
        return worst_one.margin, (worst_one,)
    total = sum((witness.margin for witness in witnesses), Fraction(0))
    return total / len(witnesses), tuple(witnesses)


def _two(
    method: object, baseline: object, loss: Loss, count: int, design: str
) -> Contest:
    rules = cast("tuple[OwnRule, OwnRule]", (method, baseline))
    ours, theirs = (duels.duel(rule, design, count) for rule in rules)
    price = loss(*duels.TRUTHS)

    def margin(truth: Order, table: Table) -> Fraction:
        return price * (ours(truth, table) - theirs(truth, table))

    # Where neither side knows names, one true ranking stands for all.
    nameless = all(isinstance(rule, str | Rule) for rule in (method, baseline))
    truths = duels.TRUTHS[: 1 if nameless else None]
    return Contest(margin, truths, (count, TWO), design)


def _world(n_items: int, n_reviewers: int | None) -> worlds.World:
    if n_items not in MANY:
        raise OptionError(
            f"n_items must be 2, 3 or 4 for an exact answer, got {shown(n_items)}. Use "
            "simulate for more."
        )
    most = math.comb(n_items, 2)
    count = max(2, most // 2) if n_reviewers is None else n_reviewers
    if not isinstance(count, int) or not 1 < count < most:
        raise DesignError(
            f"n_reviewers must be above 1 and below {most}, the number of pairs of "
            f"{n_items} items, got {count!r}."
        )
    return worlds.World(n_items, count)


def contest(
    method: Estimator,
    baseline: Ordinal,
    where: worlds.World,
    loss: str = "zero-one",
    *,
    weight: GapWeight | None = None,
) -> Contest:
    """Set a ranking method against an ordinal one.

    Args:
        method: What is to be better.
        baseline: The ordinal method that it is compared with.
        where: The world.
        loss: Name of the loss.
        weight: How a gap in scores weighs, rational(1) if None.

    Examples:
        >>> contest(worlds.flips, worlds.uniform, worlds.World(3, 2)).shape
        (2, 3)
    """
    lost = worlds.loss_named(loss)
    risks = worlds.risk_polynomials(where, method, lost)
    first = worlds.exact_first(as_weight(weight))

    risk_of = functools.partial(worlds.ordinal_risk, baseline, where, lost)
    baseline_risk = functools.cache(risk_of)

    def margin(truth: Order, table: Table) -> Fraction:
        return baseline_risk(truth) - evaluate(risks[truth], table, first)

    # Where a question is asked the risk is not the same for all scales.
    asks = any(set(polynomial) - {()} for polynomial in risks.values())
    return _contest(margin, where, asks=asks)


def _contest(margin: Margin, where: worlds.World, *, asks: bool = True) -> Contest:
    shape = (where.n_reviewers, where.n_items)
    return Contest(margin, where.truths(), shape, "pairs", asks)


def _many(method: object, baseline: object, loss: str, where: worlds.World) -> Contest:
    ordinal = worlds.ordinal(cast("str | Ordinal", baseline))
    if not isinstance(method, str | RankMethod):
        own, lost = cast("Procedure", method), worlds.loss_named(loss)
        return _contest(worlds.enumerated(where, own, ordinal, lost), where)
    exact = worlds.EXACT
    chosen = as_method(method, RankMethod, keep=lambda kind: kind in exact)
    estimator = worlds.exact_estimator(chosen, ordinal)
    weight = getattr(chosen, "weight", None)
    found = contest(estimator, ordinal, where, loss, weight=weight)
    if isinstance(chosen, Uniform | FlipsUniform) and baseline == "uniform":
        return dataclasses.replace(found, truths=found.truths[:1])
    return found


def worst(
    margin: Callable[[Table], Fraction],
    shape: tuple[int, int],
    source: Stream,
    *,
    budget: int,
    families: bool = True,
) -> tuple[Fraction, Table]:
    """Search for the scales with the smallest margin.

    Args:
        margin: From scales to an exact margin.
        shape: Number of reviewers and of items.
        source: Where chance comes from.
        budget: How often the margin may be evaluated; it is evaluated once at least.
        families: Whether the paper's families are among the starting points.

    Returns:
        The smallest margin found, and its scales.

    Examples:
        >>> from evenhand.randomness import stream
        >>> found, table = worst(lambda table: abs(table[0][0] - 5), (1, 2),
        ...                      stream(7, "search"), budget=400)
        >>> found < Fraction(1, 10), table[0][0] < table[0][1]
        (True, True)
    """
    starts = family_rows(shape) if families else (random_rows(shape, source),)
    looked = [(margin(as_table(rows)), rows) for rows in starts[: max(1, budget)]]
    spent = len(looked)
    here, rows = best = min(looked, key=lambda one: one[0])
    while spent < budget:
        # Margins can shrink towards nothing for ever, so no climb gets more than its
        # share.
        last = min(budget, spent + max(PATIENCE, budget // CLIMBS))
        idle = 0
        while idle < PATIENCE and spent < last:
            changed = _moved(rows, source)
            there, spent = margin(as_table(changed)), spent + 1
            idle = 0 if there < here else idle + 1
            # Steps on level ground lead out of the plateaus that fixed rules have.
            if there <= here:
                rows, here = changed, there
        best = min(best, (here, rows), key=lambda one: one[0])
        if spent < budget:
            rows = random_rows(shape, source)
            here, spent = margin(as_table(rows)), spent + 1
            best = min(best, (here, rows), key=lambda one: one[0])
    return best[0], as_table(best[1])


@functools.cache
def family_rows(shape: tuple[int, int]) -> tuple[Rows, ...]:
    """Return the paper's families, with values one apart and very close together.

    Examples:
        >>> family_rows((2, 2))[:2]
        (((333, 666), (1333, 1666)), ((500, 501), (1500, 1501)))
    """
    n_reviewers, n_items = shape
    spread = [(place + 1) * UNIT // (n_items + 1) for place in range(n_items)]
    close = [UNIT // 2 + place for place in range(n_items)]
    nothing = np.empty((n_reviewers, 0))
    found = []
    for name in FAMILIES:
        for thousandths in (spread, close):
            row = [Fraction(value, UNIT) for value in thousandths]
            values = np.array([row] * n_reviewers, dtype=object)
            table = scales(name).apply(values, nothing) * UNIT
            found.append(tuple(tuple(map(int, row)) for row in table.tolist()))
    return tuple(found)


def random_rows(shape: tuple[int, int], source: Stream) -> Rows:
    """Draw a table: any base and any gaps for each reviewer, of any magnitude.

    Examples:
        >>> from evenhand.randomness import stream
        >>> [len(row) for row in random_rows((3, 2), stream(7, "tables"))]
        [2, 2, 2]
    """
    n_reviewers, n_items = shape
    rows = []
    for _ in range(n_reviewers):
        row = [_size(source) * (1 - 2 * below(source, 2))]
        for _ in range(n_items - 1):
            row.append(row[-1] + _size(source))
        rows.append(tuple(row))
    return tuple(rows)


def as_table(rows: Rows) -> Table:
    """Turn thousandths into scores.

    Examples:
        >>> as_table(((500, 2000),))
        ((Fraction(1, 2), Fraction(2, 1)),)
    """
    return tuple(tuple(Fraction(value, UNIT) for value in row) for row in rows)


def _moved(rows: Rows, source: Stream) -> Rows:
    """Change the scale of one reviewer."""
    while True:
        chosen = below(source, len(rows))
        move = MOVES[below(source, len(MOVES))]
        row = move(rows, chosen, source)
        kept = all(one < other for one, other in itertools.pairwise(row))
        if kept and row != rows[chosen] and max(map(abs, row)) <= FARTHEST:
            return (*rows[:chosen], row, *rows[chosen + 1 :])


Row = tuple[int, ...]


def _shift(rows: Rows, chosen: int, source: Stream) -> Row:
    step = _size(source) * (1 - 2 * below(source, 2))
    return tuple(value + step for value in rows[chosen])


def _widen(rows: Rows, chosen: int, source: Stream) -> Row:
    """Give one gap a new size; all that is above moves along."""
    row = rows[chosen]
    place = below(source, len(row) - 1) + 1 if len(row) > 1 else 0
    change = row[place - 1] + _size(source) - row[place] if place else 0
    return row[:place] + tuple(value + change for value in row[place:])


def _stretch(rows: Rows, chosen: int, source: Stream) -> Row:
    row = rows[chosen]
    top, bottom = ((2, 1), (1, 2), (10, 1), (1, 10))[below(source, 4)]
    fixed = row[below(source, len(row))]
    return tuple(fixed + (value - fixed) * top // bottom for value in row)


def _copy(rows: Rows, chosen: int, source: Stream) -> Row:
    return rows[below(source, len(rows))] if len(rows) > 1 else rows[chosen]


def _meet(rows: Rows, chosen: int, source: Stream) -> Row:
    """Shift until one score nearly meets, or just passes, a score of another."""
    row, other = rows[chosen], rows[below(source, len(rows))]
    target = other[below(source, len(other))] + below(source, 3) - 1
    step = target - row[below(source, len(row))]
    return tuple(value + step for value in row)


MOVES = (_shift, _shift, _widen, _widen, _stretch, _copy, _meet)


def _size(source: Stream) -> int:
    digit = 1 + below(source, DIGITS)
    return int(digit * 10 ** below(source, LARGEST_POWER + 1))

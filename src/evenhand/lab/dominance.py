"""Definition 1 as software: does a method beat a baseline whatever the scales?

The adversary names increasing scales for every true ranking. The answer is the smallest
exact margin that a search found, and the scales that give it. A margin of zero or below
is a proof that the method does not dominate; a positive one is not a proof that it
does.

The search climbs hills from random starts, over tables of whole numbers, a thousandth
each, so that gaps from tiny to huge are in reach. The margin is evaluated exactly at
every step; only which step is tried next is random. Against a fixed rule on two scores
no search is needed: `refute` constructs the scales of Theorem 1.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from evenhand.ab.weights import rational
from evenhand.errors import OptionError, quote, require_function
from evenhand.lab import worlds
from evenhand.lab.scales import scales
from evenhand.lab.worlds import Order, Table, evaluate
from evenhand.randomness import HALF, Stream, below, stream

if TYPE_CHECKING:
    from evenhand.lab.worlds import Chances, Estimator, Margin, Ordinal

Row = tuple[int, ...]
Rows = tuple[Row, ...]
Assignment = tuple[int, int]
Score: TypeAlias = int | float | Fraction
FixedRule = Callable[[Assignment, Score, Score], int]
Scale = tuple[Score, Score]

UNIT = 1000
DIGITS = 9
LARGEST_POWER = 7
FARTHEST = 10**9
PATIENCE = 40
CLIMBS = 5
# Small budgets see the first of them only.
FAMILIES = ("incremental-one-biased", "adversary:spread", "disjoint", "adversary")
ASSIGNMENTS: tuple[Assignment, Assignment] = ((1, 2), (2, 1))
SCORES: tuple[int, int, int, int] = (0, 1, 2, 3)


class Witness(NamedTuple):
    """Scales that the adversary names for one true ranking.

    Attributes:
        margin: Risk of the baseline minus risk of the method.
        truth: The true ranking, best item first.
        scales: Scores of each reviewer, from the worst item to the best.
    """

    margin: Fraction
    truth: Order
    scales: Table

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


@dataclass(frozen=True, slots=True)
class Contest:
    """A method against a baseline, ready for the adversary.

    Attributes:
        margin: Exact margin, of a true ranking and scales.
        truths: True rankings that count; one if no names are known to either side.
        shape: Number of reviewers and of items.
        asks: Whether the method is known to look at scores somewhere.
    """

    margin: Margin
    truths: tuple[Order, ...]
    shape: tuple[int, int]
    asks: bool = True

    def search(
        self, budget: int, seed: int, *, families: bool = True
    ) -> tuple[Witness, ...]:
        """Search for the worst scales at each true ranking.

        Margins at different true rankings have nothing in common, since the scales may
        depend on the true ranking, so each is searched by itself.
        """
        search = functools.partial(worst, budget=budget, families=families)
        witnesses = []
        for truth in self.truths:
            at, source = functools.partial(self.margin, truth), f"adversary {truth}"
            margin, table = search(at, self.shape, stream(seed, source))
            witnesses.append(Witness(margin, truth, table))
        return tuple(witnesses)


def against_coin(
    rule: str | Chances,
    design: str,
    m: int,
    pairs: str = "none",
    truths: tuple[Order, ...] = worlds.TRUTHS,
) -> Contest:
    """Set a rule for two items, as in `duel`, against a fair coin.

    Examples:
        >>> apart = ((Fraction(0), Fraction(1)), (Fraction(5), Fraction(6)))
        >>> against_coin("sign", "halves", 2).margin((0, 1), apart)
        Fraction(0, 1)
    """
    right = worlds.duel(rule, design, m, pairs)
    return Contest(lambda *at: right(*at) - HALF, truths, (m, 2))


def contest(
    method: Estimator,
    baseline: Ordinal,
    where: worlds.World,
    loss: str = "zero-one",
    truths: tuple[Order, ...] = (),
) -> Contest:
    """Set a ranking method against an ordinal one.

    Args:
        method: What is to be better.
        baseline: The ordinal method that it is compared with.
        where: The world.
        loss: Name of the loss.
        truths: True rankings that count, all if none is given.

    Examples:
        >>> contest(worlds.flips, worlds.uniform, worlds.World(3, 2)).shape
        (2, 3)
    """
    setting = where, method, baseline, worlds.loss_by_name(loss)
    margins = {
        truth: worlds.margin_polynomial(*setting, truth)
        for truth in truths or where.truths()
    }
    first = worlds.exact_first(rational())
    return Contest(
        lambda truth, table: evaluate(margins[truth], table, first),
        tuple(margins),
        (where.n_reviewers, where.n_items),
        # Where a question is asked the margin is not the same for all scales.
        asks=any(set(polynomial) - {()} for polynomial in margins.values()),
    )


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
    here, rows = best = min(looked, key=lambda candidate: candidate[0])
    # Margins can shrink towards nothing for ever, so no climb gets more than its share.
    longest, climbed, idle = max(PATIENCE, budget // CLIMBS), 0, 0
    for _ in range(budget - len(looked)):
        anew = idle == PATIENCE or climbed == longest
        changed = random_rows(shape, source) if anew else _neighbour(rows, source)
        there = margin(as_table(changed))
        climbed = 0 if anew else climbed + 1
        idle = 0 if anew or there < here else idle + 1
        # Steps on level ground lead out of the plateaus that fixed rules have.
        if anew or there <= here:
            rows, here = changed, there
        best = min(best, (there, changed), key=lambda candidate: candidate[0])
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
    unused = np.random.default_rng(0)
    tables = []
    for name in FAMILIES:
        for thousandths in (spread, close):
            row = [Fraction(value, UNIT) for value in thousandths]
            values = np.array([row] * n_reviewers, dtype=object)
            table = scales(name).apply(values, unused) * UNIT
            tables.append(tuple(tuple(map(int, row)) for row in table.tolist()))
    return tuple(tables)


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
        base = _size(source) * (1 - 2 * below(source, 2))
        gaps = [_size(source) for _ in range(n_items - 1)]
        rows.append(tuple(itertools.accumulate(gaps, initial=base)))
    return tuple(rows)


def as_table(rows: Rows) -> Table:
    """Turn thousandths into scores.

    Examples:
        >>> as_table(((500, 2000),))
        ((Fraction(1, 2), Fraction(2, 1)),)
    """
    return tuple(tuple(Fraction(value, UNIT) for value in row) for row in rows)


def _neighbour(rows: Rows, source: Stream) -> Rows:
    """Change the scale of one reviewer."""
    while True:
        chosen = below(source, len(rows))
        move = MOVES[below(source, len(MOVES))]
        row = move(rows[chosen], rows[below(source, len(rows))], source)
        kept = all(lower < upper for lower, upper in itertools.pairwise(row))
        if kept and row != rows[chosen] and max(map(abs, row)) <= FARTHEST:
            return (*rows[:chosen], row, *rows[chosen + 1 :])


def _shift(row: Row, _: Row, source: Stream) -> Row:
    step = _size(source) * (1 - 2 * below(source, 2))
    return tuple(value + step for value in row)


def _widen(row: Row, _: Row, source: Stream) -> Row:
    """Give one gap a new size; all that is above moves along."""
    place = 1 + below(source, len(row) - 1)
    change = row[place - 1] + _size(source) - row[place]
    return row[:place] + tuple(value + change for value in row[place:])


def _stretch(row: Row, _: Row, source: Stream) -> Row:
    top, bottom = ((2, 1), (1, 2), (10, 1), (1, 10))[below(source, 4)]
    fixed = row[below(source, len(row))]
    return tuple(fixed + (value - fixed) * top // bottom for value in row)


def _meet(row: Row, target_row: Row, source: Stream) -> Row:
    """Shift until one score nearly meets, or just passes, a score of another."""
    target = target_row[below(source, len(target_row))] + below(source, 3) - 1
    step = target - row[below(source, len(row))]
    return tuple(value + step for value in row)


MOVES = (_shift, _shift, _widen, _widen, _stretch, lambda _, other, __: other, _meet)


def _size(source: Stream) -> int:
    digit = 1 + below(source, DIGITS)
    return int(digit * 10 ** below(source, LARGEST_POWER + 1))


@dataclass(frozen=True, slots=True, repr=False)
class Refutation:
    """Scales on which a fixed rule is right at most half of the time.

    Attributes:
        construction: "disjoint ranges" or "equal scales".
        better: The better item, 1 or 2.
        scales: For each reviewer, the score of the worse item and of the better one.
        answers: What the rule said under the assignments (1, 2) and (2, 1).
        probability: That the rule is right, over the random assignment.
    """

    construction: str
    better: int
    scales: tuple[Scale, Scale]
    answers: tuple[int, ...]
    probability: Fraction

    def __repr__(self) -> str:
        template = "f1(0) = {}, f1(1) = {}; f2(0) = {}, f2(1) = {}"
        tables = template.format(*itertools.chain(*self.scales))
        right = f"right with probability {self.probability} ({self.construction})"
        return f"{right}: item {self.better} is better, {tables}"


def refute(rule: FixedRule) -> Refutation:
    """Find scales on which a fixed rule is right at most half of the time.

    The rule is a black box. Let a < b < c < d be four of the scores, and let item 1 be
    better. Disjoint ranges: reviewer 1 gives a or b, reviewer 2 gives c or d. Under the
    assignment (1, 2) the rule is shown y1 = b and y2 = c, under (2, 1) it is shown
    y1 = d and y2 = a. If one of its two answers is wrong, these scales do. If both are
    right, it says 1 on (1, 2), b, c although b < c: it differs from the higher score
    there. Then let item 2 be better, and let both reviewers give b to item 1 and c to
    item 2. Under (1, 2) the rule is shown y1 = b and y2 = c again, and is wrong. So
    three questions always suffice. All such scales from the given scores are tried, and
    the ones on which the rule does worst are returned.

    Args:
        rule: From the assignment, which is (1, 2) if reviewer 1 has item 1 and (2, 1)
            if reviewer 1 has item 2, and the scores y1 of item 1 and y2 of item 2, to
            the item that it says is better, 1 or 2. The same input must always get the
            same answer.

    Returns:
        The scales, and how often the rule is right on them.

    Raises:
        OptionError: If the rule does not answer 1 or 2, or answers differently when
            asked again.

    References:
        Wang and Shah (2019), Theorem 1.

    Examples:
        >>> refute(lambda assignment, y1, y2: 1 if y1 > y2 else 2)
        right with probability 1/2 (disjoint ranges): item 1 is better, f1(0) = 0,
        f1(1) = 1; f2(0) = 2, f2(1) = 3
        >>> refute(lambda assignment, y1, y2: 1 if y1 < y2 else 2).probability
        Fraction(0, 1)
    """
    require_function("rule", rule, "the assignment", "y1", "y2")
    ends = (SCORES[:2], SCORES[2:])
    constructions: list[tuple[str, tuple[Scale, Scale]]] = [
        ("disjoint ranges", ends),
        ("disjoint ranges", ends[::-1]),
        *(
            ("equal scales", (shared, shared))
            for shared in itertools.combinations(SCORES, 2)
        ),
    ]
    tried = []
    for (construction, used), better in itertools.product(constructions, (1, 2)):
        answers = []
        for assignment in ASSIGNMENTS:
            pairs = zip(assignment, used, strict=True)
            scores = {item: scale[item == better] for item, scale in pairs}
            answers.append(_answer(rule, assignment, scores[1], scores[2]))
        right = Fraction(answers.count(better), len(ASSIGNMENTS))
        tried.append(Refutation(construction, better, used, tuple(answers), right))
    return min(tried, key=lambda refutation: refutation.probability)


def _answer(rule: FixedRule, *question: Any) -> int:  # noqa: ANN401 - assignment, scores
    answer, again = (rule(*question) for _ in range(2))
    if isinstance(answer, bool) or answer not in (1, 2) or answer != again:
        raise OptionError(
            f"rule must answer 1 or 2, and always the same, got {quote(answer)} and "
            f"then {quote(again)} for {question}."
        )
    return answer

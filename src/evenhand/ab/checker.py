"""A look for a failure of what Theorem G asks of a rule, around the data at hand.

Theorem G holds for any rule that never turns against an item whose score rises, and
that turns round when the two items swap names. A user's function is asked at the data,
at the data with single scores moved, near a tie, and at random neighbours. A failure is
shown; that none is found is no proof.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evenhand.ab.numbers import Floats, Numbers, as_lists
from evenhand.errors import (
    OptionError,
    RatingsError,
    as_whole,
    listing,
    name_of,
    shown,
    unknown,
)
from evenhand.randomness import (
    RNGLike,
    Stream,
    below,
    permutation,
    seed_from,
    stream,
)

if TYPE_CHECKING:
    from evenhand.claims import Json

OwnRule = Callable[[Floats, Floats], float | Fraction]
Kind = Literal["probability", "statistic"]
KINDS = ("probability", "statistic")
LIMIT = 3000
# A fall or a lopsidedness up to this is rounding.
ROUNDING = 1e-9
# How far beyond the ends scores are moved, in ranges of the data.
BEYOND = (0.01, 1.0, 10.0, 1000.0)
MOST_TARGETS = 40
FEW_TARGETS = 12
HALVINGS = 16
HALF = 0.5
# A move beyond the floats would not be a score.
LARGEST = float(np.finfo(np.float64).max)
WIDEST = LARGEST / 1e6


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Scores at which a rule fails, and what it says there.

    Attributes:
        broken: "monotone" if a score moved, "swap" if the items swapped names.
        before: Scores of the first item and of the second.
        after: The same after the move.
        values: What the rule says before and after.
    """

    broken: Literal["monotone", "swap"]
    before: tuple[tuple[float, ...], tuple[float, ...]]
    after: tuple[tuple[float, ...], tuple[float, ...]]
    values: tuple[float, float]


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """What a search for a failure of a user's rule or statistic found.

    Attributes:
        name: Name of the function.
        kind: "probability" or "statistic".
        passed: Whether no failure was found.
        evaluations: How often the function was asked.
        undefined: How often it refused a neighbour of the data with a ValueError or an
            ArithmeticError; nothing was learnt there.
        counterexample: The failure, if there is one.
        sentence: The same for people.
    """

    name: str
    kind: Kind
    passed: bool
    evaluations: int
    undefined: int
    counterexample: Counterexample | None
    sentence: str

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values."""
        fields: dict[str, Json] = json.loads(json.dumps(asdict(self)))
        return fields


def check_rule(
    rule: OwnRule,
    first: Numbers,
    second: Numbers,
    *,
    kind: Kind = "probability",
    rng: RNGLike = None,
    limit: int = LIMIT,
) -> RuleCheck:
    """Look for scores near the data at which a rule breaks the terms of Theorem G.

    The rule must not fall when a score of the first item rises or one of the second
    falls, and must turn round when the items swap names: p becomes 1 - p, or a
    statistic changes its sign. Of a statistic only the sign is looked at, since only
    that is used. Falls of up to a thousand-millionth are taken for rounding.

    Scores are moved one at a time to every other score, half-way between, a little
    beyond the ends and 10 and 1000 times the range away, from the data, from the data
    shifted to just before and after a tie, and from random neighbours of both.

    Args:
        rule: Function of the scores of the first item and of the second, two arrays of
            floats in pairing order, that returns the probability that the first is
            output, or a statistic.
        first: Scores of the first item.
        second: Scores of the second item.
        kind: "probability", or "statistic" if the sign of the answer decides.
        rng: Seed for the random neighbours.
        limit: How often the rule may be asked.

    Returns:
        What was found.

    Raises:
        RatingsError: If a score is not finite, or an item has none.
        OptionError: If an option is bad, or the rule does not return a probability
            (or a number).

    Examples:
        >>> from evenhand.ab import rules
        >>> check_rule(rules.mean, [7, 9, 4], [6, 3, 5], rng=1).passed
        True
        >>> def lazy(one, two):
        ...     return float(one.mean() > two.mean())
        >>> check = check_rule(lazy, [7, 9], [6, 10], rng=1)
        >>> print(check.sentence)  # doctest: +ELLIPSIS
        lazy must turn p into 1 - p when the items swap, got 0 for first 7.0, 9.0 ...
    """
    if kind not in KINDS:
        raise OptionError(unknown("kind", kind, KINDS))
    one, two = (side.astype(np.float64) for side in as_lists(first, second))
    if not len(one) or not len(two):
        raise RatingsError(
            "first and second must be two lists with a score each, got "
            f"{len(one)} and {len(two)} scores."
        )
    source = stream(seed_from(rng), "check")
    search = _Search(rule, kind, as_whole("limit", limit, 1), source)
    found, name = search.run(one, two), name_of(rule)
    sentence = (
        f"{name} was asked {search.asked} times around the data, and no score was "
        "found at which it falls when it should rise, or does not turn round when the "
        "items swap."
    )
    if search.undefined:
        sentence += f" {search.undefined} times it had no answer."
    if found is not None:
        sentence = _failure(name, kind, found)
    return RuleCheck(
        name, kind, found is None, search.asked, search.undefined, found, sentence
    )


def answer(
    rule: OwnRule, first: Floats, second: Floats, kind: Kind
) -> float | Fraction:
    """Ask a user's function once, and check that it answers with what it should.

    Args:
        rule: The function; it gets copies of the scores.
        first: Scores of the first item.
        second: Scores of the second item.
        kind: "probability", or "statistic" for any number.

    Returns:
        Its answer, as a number of Python.

    Raises:
        OptionError: If it is not a probability, or not a number.

    Examples:
        >>> answer(np.dot, np.array([1.0, 2.0]), np.array([3.0, 4.0]), "statistic")
        11.0
    """
    return _valid(rule, rule(first.copy(), second.copy()), (first, second), kind)


def _valid(
    rule: OwnRule, value: object, sides: tuple[Floats, Floats], kind: Kind
) -> float | Fraction:
    if isinstance(value, np.ndarray | np.generic) and value.size == 1:
        value = value.item()
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        probable = kind == "statistic" or 0 <= value <= 1
        if probable and not (isinstance(value, float) and math.isnan(value)):
            return value
    wanted = "a probability in [0, 1]" if kind == "probability" else "a number"
    raise OptionError(
        f"{name_of(rule)} must return {wanted}, got {shown(value)} for {_text(sides)}."
    )


class _Place(NamedTuple):
    """Scores of the first item, then of the second, and what the rule says there."""

    scores: Floats
    firsts: int
    value: float

    @property
    def sides(self) -> tuple[Floats, Floats]:
        return self.scores[: self.firsts], self.scores[self.firsts :]


_Step = tuple[_Place, _Place, Literal["monotone", "swap"]]


@dataclass(slots=True)
class _Search:
    """One search: a stream of steps, each judged by its two values."""

    rule: OwnRule
    kind: Kind
    limit: int
    source: Stream
    undefined: int = 0
    sizes: list[float] = field(default_factory=list)

    @property
    def asked(self) -> int:
        return self.undefined + len(self.sizes)

    @property
    def centre(self) -> float:
        return HALF if self.kind == "probability" else 0.0

    def run(self, one: Floats, two: Floats) -> Counterexample | None:
        # Not within a try: what the rule raises at the data is the user's to see.
        value = float(answer(self.rule, one, two, self.kind))
        self.sizes.append(abs(value))
        data = _Place(np.concatenate([one, two]), len(one), value)
        for before, after, broken in self._steps(data):
            if self._fails(before.value, after.value, broken):
                (a, b), (c, d) = before.sides, after.sides
                lists = [tuple(side.tolist()) for side in (a, b, c, d)]
                values = before.value, after.value
                return Counterexample(
                    broken, (lists[0], lists[1]), (lists[2], lists[3]), values
                )
        return None

    def _steps(self, data: _Place) -> Iterator[_Step]:
        bases = [data, *self._near_tie(data)]
        one, two = data.sides
        # With the same scores of both items only 1/2 can be turned round.
        tied = [np.full(len(data.scores), side[0]) for side in (one, two)]
        if len(one) == len(two):
            tied += [np.tile(side, 2) for side in (one, two)]
        yield from self._swaps([*bases, *self._ask(tied, len(one))])
        for place in permutation(self.source, len(data.scores)).tolist():
            for base in bases:
                # The other half is for random neighbours.
                if self.asked < self.limit // 2:
                    yield from self._path(base, place, MOST_TARGETS)
        while self.asked < self.limit:
            start = bases[below(self.source, len(bases))]
            for near in self._ask([self._neighbour(start.scores)], len(one)):
                yield from self._swaps([near])
                for base in (near, *self._near_tie(near)):
                    place = below(self.source, len(near.scores))
                    yield from self._path(base, place, FEW_TARGETS)

    def _ask(self, rows: Iterable[Floats], firsts: int) -> list[_Place]:
        """Ask the rule near the data; leave out where it has nothing to say."""
        found = []
        for scores in rows:
            if self.asked >= self.limit:
                break
            sides = scores[:firsts], scores[firsts:]
            try:
                with np.errstate(all="ignore"):
                    told: object = self.rule(sides[0].copy(), sides[1].copy())
            except (ValueError, ArithmeticError):
                self.undefined += 1
                continue
            value = float(_valid(self.rule, told, sides, self.kind))
            self.sizes.append(abs(value))
            found.append(_Place(scores, firsts, value))
        return found

    def _swaps(self, places: Iterable[_Place]) -> Iterator[_Step]:
        for place in places:
            one, two = place.sides
            for turned in self._ask([np.concatenate([two, one])], len(two)):
                yield place, turned, "swap"

    def _path(self, base: _Place, place: int, most: int) -> Iterator[_Step]:
        """Move one score from far below to far above; the rule must follow it."""
        targets = np.union1d(self._targets(base.scores, most), base.scores[place])
        rows = np.tile(base.scores, (len(targets), 1))
        rows[:, place] = targets
        for low, high in itertools.pairwise(self._ask(rows, base.firsts)):
            up = (low, high) if place < base.firsts else (high, low)
            yield *up, "monotone"

    def _near_tie(self, base: _Place) -> list[_Place]:
        """Shift the second item's scores to just before and just after a tie."""
        one, two = base.sides

        def shifted(*shifts: float) -> list[_Place]:
            moved = (np.clip(two + shift, -LARGEST, LARGEST) for shift in shifts)
            rows = (np.concatenate([one, side]) for side in moved)
            return self._ask(rows, base.firsts)

        reach = 2 * _range(base.scores)
        bounds = [-reach, reach]
        ends = shifted(*bounds)
        if len(ends) < len(bounds) or not (ends[0].value > self.centre > ends[1].value):
            return []
        for _ in range(HALVINGS):
            middle = sum(bounds) / 2
            for here in shifted(middle):
                side = int(here.value <= self.centre)
                ends[side], bounds[side] = here, middle
        return ends

    def _targets(self, scores: Floats, most: int) -> Floats:
        """Return where a score is moved to, in increasing order."""
        levels = np.unique(scores)
        inner = np.concatenate([levels, levels[1:] / 2 + levels[:-1] / 2])
        if len(inner) > most:
            inner = inner[permutation(self.source, len(inner))[:most]]
        steps = _range(scores) * np.array(BEYOND)
        found = np.concatenate([levels[0] - steps, inner, levels[-1] + steps])
        return np.unique(np.clip(found, -LARGEST, LARGEST))

    def _neighbour(self, scores: Floats) -> Floats:
        """Move a few scores, or up to all of them, anywhere."""
        size, neighbour = len(scores), scores.copy()
        targets = self._targets(scores, MOST_TARGETS)
        for place in permutation(self.source, size)[: 1 + below(self.source, size)]:
            neighbour[place] = targets[below(self.source, len(targets))]
        return neighbour

    def _fails(self, before: float, after: float, broken: str) -> bool:
        turned = broken == "swap"
        gap = abs(before + after - 2 * self.centre) if turned else before - after
        if self.kind == "probability":
            return gap > ROUNDING
        signs = np.sign(before), np.sign(after)
        wrong = signs[0] != -signs[1] if turned else signs[1] < signs[0]
        # The sign of a difference that is all rounding says nothing.
        return bool(wrong) and gap > ROUNDING * float(np.median(self.sizes))


def _range(scores: Floats) -> float:
    width = float(scores.max() / 4 - scores.min() / 4) * 4
    return min(width or max(1.0, float(np.abs(scores).max())), WIDEST)


def _text(sides: Sequence[Sequence[float] | Floats]) -> str:
    one, two = (listing([_short(score) for score in side]) for side in sides)
    return f"first {one} and second {two}"


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _failure(name: str, kind: Kind, found: Counterexample) -> str:
    was, now = (f"{value:.4g}" for value in found.values)
    if found.broken == "swap":
        turn = "p into 1 - p" if kind == "probability" else "its sign round"
        return (
            f"{name} must turn {turn} when the items swap, got {was} for "
            f"{_text(found.before)}, and {now} with the items swapped."
        )
    side = 0 if found.before[0] != found.after[0] else 1
    moved = zip(found.before[side], found.after[side], strict=True)
    old, new = next(pair for pair in moved if pair[0] != pair[1])
    what = "a second score falls" if side else "a first score rises"
    return (
        f"{name} must not fall when {what}, got {was} for {_text(found.before)}, and "
        f"{now} when the score {_short(old)} there becomes {_short(new)}."
    )

"""A look for a failure of what Theorem G asks of a rule, around the data at hand.

Theorem G holds for any rule that never turns against an item whose score rises, and
that turns round when the two items swap names. A user's function is asked at the data,
at the data with single scores moved, near a tie, and at random neighbours. A failure is
shown; that none is found is no proof.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.ab.numbers import Floats, Numbers, as_numbers, as_whole
from evenhand.errors import OptionError, RatingsError, listing, name_of, shown, unknown
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

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values."""
        return _plain(self)


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
        return _plain(self)


def _plain(found: Counterexample | RuleCheck) -> dict[str, Json]:
    fields: dict[str, Json] = json.loads(json.dumps(asdict(found)))
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
    one, two = (
        np.atleast_1d(as_numbers(side, f"{name} score")).astype(np.float64)
        for side, name in ((first, "first"), (second, "second"))
    )
    if one.ndim != 1 or two.ndim != 1 or not len(one) or not len(two):
        raise RatingsError(
            f"first and second must be two lists with a score each, got shapes "
            f"{one.shape} and {two.shape}."
        )
    search = _Search(rule, kind, as_whole("limit", limit, 1))
    found = search.run(one, two, stream(seed_from(rng), "check"))
    return _report(search, found)


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
        Its answer, a Fraction if it is one.

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
        if probable and not math.isnan(value):
            return value if isinstance(value, Fraction) else float(value)
    wanted = "a probability in [0, 1]" if kind == "probability" else "a number"
    raise OptionError(
        f"{name_of(rule)} must return {wanted}, got {shown(value)} for {_text(sides)}."
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
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
    asked: int = 0
    undefined: int = 0
    sizes: list[float] = field(default_factory=list)

    @property
    def centre(self) -> float:
        return HALF if self.kind == "probability" else 0.0

    def run(self, one: Floats, two: Floats, source: Stream) -> Counterexample | None:
        scores = np.concatenate([one, two])
        # Not within a try: what the rule raises at the data is the user's to see.
        value = float(answer(self.rule, one, two, self.kind))
        self.asked += 1
        self.sizes.append(abs(value))
        for before, after, broken in self._steps(
            _Place(scores, len(one), value), source
        ):
            if self._fails(before.value, after.value, broken):
                lists = [
                    (tuple(a.tolist()), tuple(b.tolist()))
                    for a, b in (before.sides, after.sides)
                ]
                values = before.value, after.value
                return Counterexample(broken, lists[0], lists[1], values)
        return None

    def _steps(self, data: _Place, source: Stream) -> Iterator[_Step]:
        bases = [data, *self._near_tie(data)]
        for base in [*bases, *self._tied(data)]:
            yield from self._turned(base)
        moved = permutation(source, len(data.scores)).tolist()
        for place, base in [(place, base) for place in moved for base in bases]:
            # The other half is for random neighbours.
            if self.asked >= self.limit // 2:
                break
            yield from self._path(base, place, MOST_TARGETS, source)
        while self.asked < self.limit:
            start = bases[below(source, len(bases))]
            near = self._ask(_neighbour(start.scores, source), start.firsts)
            if near is None:
                continue
            yield from self._turned(near)
            for base in (near, *self._near_tie(near)):
                place = below(source, len(near.scores))
                yield from self._path(base, place, FEW_TARGETS, source)

    def _ask(self, scores: Floats, firsts: int) -> _Place | None:
        """Ask the rule at a neighbour of the data, where it may have nothing to say."""
        if self.asked >= self.limit:
            return None
        self.asked += 1
        sides = scores[:firsts], scores[firsts:]
        try:
            with np.errstate(all="ignore"):
                found: object = self.rule(sides[0].copy(), sides[1].copy())
        except (ValueError, ArithmeticError):
            self.undefined += 1
            return None
        value = float(_valid(self.rule, found, sides, self.kind))
        self.sizes.append(abs(value))
        return _Place(scores, firsts, value)

    def _turned(self, place: _Place) -> Iterator[_Step]:
        one, two = place.sides
        turned = self._ask(np.concatenate([two, one]), len(two))
        if turned is not None:
            yield place, turned, "swap"

    def _path(
        self, base: _Place, place: int, most: int, source: Stream
    ) -> Iterator[_Step]:
        """Move one score from far below to far above; the rule must follow it."""
        last: _Place | None = None
        own = base.scores[place]
        targets = np.union1d(_targets(base.scores, most, source), own)
        for target in targets.tolist():
            if target == own:
                here: _Place | None = base
            else:
                scores = base.scores.copy()
                scores[place] = target
                here = self._ask(scores, base.firsts)
            if here is None:
                continue
            if last is not None:
                up = (last, here) if place < base.firsts else (here, last)
                yield *up, "monotone"
            last = here

    def _tied(self, data: _Place) -> list[_Place]:
        """Give both items the same scores, where only 1/2 can be turned round."""
        one, two = data.sides
        same = [np.full(len(data.scores), score) for score in (one[0], two[0])]
        if len(one) == len(two):
            same += [np.concatenate([side, side]) for side in (one, two)]
        found = [self._ask(scores, data.firsts) for scores in same]
        return [place for place in found if place is not None]

    def _near_tie(self, base: _Place) -> list[_Place]:
        """Shift the second item's scores to just before and just after a tie."""
        reach = 2 * _range(base.scores)
        low, high = (self._shifted(base, shift) for shift in (-reach, reach))
        if low is None or high is None or not low.value > self.centre > high.value:
            return []
        bounds = [-reach, reach]
        for _ in range(HALVINGS):
            middle = sum(bounds) / 2
            here = self._shifted(base, middle)
            if here is None:
                break
            if here.value > self.centre:
                low, bounds[0] = here, middle
            else:
                high, bounds[1] = here, middle
        return [low, high]

    def _shifted(self, base: _Place, shift: float) -> _Place | None:
        one, two = base.sides
        moved = np.clip(two + shift, -LARGEST, LARGEST)
        return self._ask(np.concatenate([one, moved]), base.firsts)

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


def _targets(scores: Floats, most: int, source: Stream) -> Floats:
    """Return where a score is moved to, in increasing order."""
    levels = np.unique(scores)
    inner = np.concatenate([levels, levels[1:] / 2 + levels[:-1] / 2])
    if len(inner) > most:
        inner = inner[permutation(source, len(inner))[:most]]
    steps = _range(scores) * np.array(BEYOND)
    found = np.concatenate([levels[0] - steps, inner, levels[-1] + steps])
    return np.unique(np.clip(found, -LARGEST, LARGEST))


def _neighbour(scores: Floats, source: Stream) -> Floats:
    """Move a few scores, or up to all of them, anywhere."""
    moved = permutation(source, len(scores))[: 1 + below(source, len(scores))]
    targets = _targets(scores, MOST_TARGETS, source)
    neighbour = scores.copy()
    for place in moved.tolist():
        neighbour[place] = targets[below(source, len(targets))]
    return neighbour


def _text(sides: tuple[Floats, Floats]) -> str:
    one, two = (listing([_short(x) for x in side.tolist()]) for side in sides)
    return f"first {one} and second {two}"


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _report(search: _Search, found: Counterexample | None) -> RuleCheck:
    name, kind = name_of(search.rule), search.kind
    if found is None:
        sentence = (
            f"{name} was asked {search.asked} times around the data, and no score was "
            "found at which it falls when it should rise, or does not turn round when "
            "the items swap."
        )
        if search.undefined:
            sentence += f" {search.undefined} times it had no answer."
    else:
        sentence = _failure(name, kind, found)
    return RuleCheck(
        name, kind, found is None, search.asked, search.undefined, found, sentence
    )


def _failure(name: str, kind: Kind, found: Counterexample) -> str:
    values = [f"{value:.4g}" for value in found.values]
    before, after = (
        [np.array(side) for side in s] for s in (found.before, found.after)
    )
    if found.broken == "swap":
        turn = "p into 1 - p" if kind == "probability" else "its sign round"
        return (
            f"{name} must turn {turn} when the items swap, got {values[0]} for "
            f"{_text((before[0], before[1]))}, and {values[1]} with the items swapped."
        )
    side = 0 if found.before[0] != found.after[0] else 1
    place = int(np.argmax(before[side] != after[side]))
    what = "a first score rises" if side == 0 else "a second score falls"
    moved = [_short(scores[side][place]) for scores in (before, after)]
    return (
        f"{name} must not fall when {what}, got {values[0]} for "
        f"{_text((before[0], before[1]))}, and {values[1]} when the score {moved[0]} "
        f"there becomes {moved[1]}."
    )

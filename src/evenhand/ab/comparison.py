"""Compare: which of two items is better, from reviewers who each scored one of them."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from evenhand._randomness import RNGLike, permutation, seed_from, stream, uniforms
from evenhand._results import Json, Label, Notice, tail
from evenhand.ab import law, rules
from evenhand.ab._numbers import difference
from evenhand.ab._sides import (
    PAIRED,
    Both,
    Sides,
    sides_from_lists,
    sides_from_ratings,
)
from evenhand.ab.weights import GapWeight, as_weight, odd, resolved
from evenhand.errors import OptionError, RatingsError, counted, unknown
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evenhand.ab._numbers import Floats

    Scores = Sequence[float] | NDArray[np.generic] | pl.Series

METHODS: tuple[str, ...] = ("coin", "sign", "mean", "median", "trimmed", "votes")
DESIGNS = ("halves", "coins", "matched", "panels")
BOTH = ("drop", "decide")
_FOR = {"weight": "votes", "median": "median", "trim": "trimmed"}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Which of two items was output as better, and with what probability.

    Attributes:
        items: Labels of the two items.
        winner: Label of the item that was output.
        p_first: Probability, given the data, that items[0] is output.
        p_first_se: Standard error of p_first, 0 if it is exact.
        votes: Votes (or pairwise wins) for each item in the pairing that was drawn, or
            None where nothing was voted on.
        method: Name of the rule.
        parameters: What the rule was run with, as in the JSON.
        seed: The seed that repeats the result.
        data: Sizes and hash of the data.
        notices: What the reader must know.
        p_value: None until p-values are computed.
        p_value_first: The same.
        p_value_second: The same.
        certificate: None until certificates are worked out.

    Examples:
        >>> compare([7, 9, 4], [6, 3, 5], rng=1)
        'A' is output as better than 'B' (votes 2 to 1)
        output probability 0.768 for 'A', 0.232 for 'B'
        method votes, seed 1
    """

    items: tuple[Label, Label]
    winner: Label
    p_first: float
    p_first_se: float
    votes: tuple[int, int] | None
    method: str
    parameters: Mapping[str, Json]
    seed: int
    data: Mapping[str, Json]
    notices: tuple[Notice, ...] = ()
    p_value: None = None
    p_value_first: None = None
    p_value_second: None = None
    certificate: None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> compare([7], [6], method="mean", rng=7).to_dict()["winner"]
            'A'
        """
        return {
            "schema": "evenhand.compare/1",
            "items": list(self.items),
            "winner": self.winner,
            "p_first": self.p_first,
            "p_first_se": self.p_first_se,
            "votes": None if self.votes is None else list(self.votes),
            "p_value": self.p_value,
            "p_value_first": self.p_value_first,
            "p_value_second": self.p_value_second,
            **tail(
                method=self.method,
                parameters=self.parameters,
                seed=self.seed,
                data=self.data,
                notices=self.notices,
            ),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a polars dataframe of one row; the seed is text.

        Examples:
            >>> compare([7], [6], method="mean", rng=7).to_frame()["winner"][0]
            'A'
        """
        first, second = (None, None) if self.votes is None else self.votes
        row = {
            "first": self.items[0],
            "second": self.items[1],
            "winner": self.winner,
            "p_first": self.p_first,
            "p_first_se": self.p_first_se,
            "votes_first": first,
            "votes_second": second,
            "method": self.method,
            "seed": str(self.seed),
        }
        counts = {"votes_first": pl.Int64, "votes_second": pl.Int64}
        return pl.DataFrame([row], schema_overrides=counts)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        head, *rest = (html.escape(line) for line in self._lines())
        return f"<p><strong>{head}</strong><br>{'<br>'.join(rest)}</p>"

    def _lines(self) -> list[str]:
        ours = self.items.index(self.winner)
        head = f"{self.winner!r} is output as better than {self.items[1 - ours]!r}"
        if self.votes is not None:
            for_it, against = self.votes[ours], self.votes[1 - ours]
            coin = ", by a coin" if for_it == against else ""
            head += f" (votes {for_it} to {against}{coin})"
        about = f" (se {self.p_first_se:.1g})" if self.p_first_se else ""
        chances = (
            f"output probability {self.p_first:.3g}{about} for {self.items[0]!r}, "
            f"{1 - self.p_first:.3g} for {self.items[1]!r}"
        )
        codes = ", ".join(notice.code for notice in self.notices)
        seen = f"; notices: {codes}" if codes else ""
        return [head, chances, f"method {self.method}, seed {self.seed}{seen}"]


def compare(
    first: Ratings | Scores,
    second: Scores | None = None,
    *,
    method: str = "votes",
    items: Sequence[Label] | None = None,
    weight: GapWeight | Callable[[float], float] | str | None = None,
    median: str | None = None,
    trim: float | None = None,
    both: Both | None = None,
    design: str | None = None,
    rng: RNGLike = None,
) -> Comparison:
    """Compare two items that different reviewers scored.

    Args:
        first: Scores of the first item; or a Ratings, with second left out.
        second: Scores of the second item, paired with those of the first in the order
            given, or at random if there are more of one than of the other.
        method: One of METHODS. "votes" is the paper's rule: the majority of one coin
            per pair, biased by the gap of its two scores.
        items: Labels of the two items; in a Ratings, which two.
        weight: For "votes": increasing map from a gap to [0, 1), rational(1) if None.
        median: For "median": "upper" (if None), "lower" or "middle".
        trim: For "trimmed": share cut at each end, 0.2 if None.
        both: For a Ratings in which reviewers scored both items: "drop" leaves them
            out, "decide" follows them if they all agree.
        design: How the items were assigned: "halves", "coins", "matched" or "panels";
            recorded as declared.
        rng: Seed, Generator or SeedSequence.

    Returns:
        The comparison. For a Ratings, and for lists of unequal length, scores are
        paired at random (or within the pairs that the Ratings names) and p_first is
        the average over all pairings.

    Raises:
        RatingsError: If the scores cannot be used as they are.
        OptionError: If an option is unknown, out of range, or not for this method.

    References:
        Wang and Shah (2019), Section 3.2.

    Examples:
        >>> comparison = compare([7, 9, 4], [6, 3, 5], rng=1)
        >>> comparison.winner, comparison.votes, round(comparison.p_first, 4)
        ('A', (2, 1), 0.7679)
        >>> ratings = Ratings(["a", "b", "c", "d"], ["x", "y", "x", "y"], [3, 8, 4, 5])
        >>> compare(ratings, method="sign", rng=7).p_first
        0.0
    """
    rule = _as_rule(method, weight, median, trim)
    if design is not None and design not in DESIGNS:
        raise OptionError(unknown("design", design, DESIGNS))
    if both is not None and both not in BOTH:
        raise OptionError(f"both must be 'drop' or 'decide', got {both!r}.")
    seed = seed_from(rng)
    if isinstance(first, Ratings):
        if second is not None:
            raise RatingsError("second must be left out when first is a Ratings.")
        sides = sides_from_ratings(first, items, method, both)
    elif both is not None:
        raise OptionError(
            f"both={both!r} must come with a Ratings. Two lists of scores do not say "
            "who scored what; leave it out."
        )
    else:
        sides = sides_from_lists(first, second, items)
    outcome = rule.run(sides, seed)
    declared: dict[str, Json] = {} if both is None else {"both": both}
    return Comparison(
        items=sides.items,
        winner=sides.items[0 if outcome.first_wins else 1],
        p_first=outcome.p_first,
        p_first_se=outcome.p_first_se,
        votes=outcome.votes,
        method=method,
        parameters={**rule.parameters(outcome.pairing), **declared, "design": design},
        seed=seed,
        data=sides.data,
        notices=(*sides.notices, *outcome.notices),
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    first_wins: bool
    p_first: float
    p_first_se: float = 0.0
    votes: tuple[int, int] | None = None
    pairing: Literal["given", "random", "pairs"] | None = None
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rule:
    """A method with its options, checked."""

    method: str
    weight: GapWeight
    median: str
    trim: float

    def parameters(self, pairing: str | None) -> dict[str, Json]:
        used: dict[str, Json] = {}
        if self.method == "votes":
            used["weight"] = self.weight.to_dict()
        if self.method == "median":
            used["median"] = self.median
        if self.method == "trimmed":
            used["trim"] = self.trim
        if pairing is not None:
            used["pairing"] = pairing
        return used

    def run(self, sides: Sides, seed: int) -> _Outcome:
        if sides.verdict is not None:
            return _Outcome(sides.verdict == 0, 1.0 - sides.verdict)
        notices = self._notices(sides)
        if self.method in PAIRED and len(sides.first) and len(sides.second):
            return self._vote(sides, seed, notices)
        p_first = self._alone(sides.first, sides.second)
        return _Outcome(_coin(seed) < p_first, p_first, notices=notices)

    def _alone(self, first: Floats, second: Floats) -> float:
        """Probability for a rule without pairs, or for a side without scores."""
        if self.method == "mean":
            return float(rules.mean(first, second))
        if self.method == "median":
            return float(rules.median(first, second, median=self.median))
        if self.method == "trimmed":
            return float(rules.trimmed(first, second, trim=self.trim))
        return 0.5

    def _vote(self, sides: Sides, seed: int, notices: tuple[Notice, ...]) -> _Outcome:
        one, two = _drawn(sides, seed)
        if self.method == "votes":
            chances = odd(self.weight, difference(one, two))
            won = int((uniforms(stream(seed, "votes"), len(one)) < chances).sum())
            votes = won, len(one) - won
        else:
            votes = int((one > two).sum()), int((one < two).sum())
        ahead = votes[0] > votes[1]
        first_wins = ahead or (votes[0] == votes[1] and _coin(seed) < 0.5)  # noqa: PLR2004 - fair
        p_first, se, pairings = self._law(sides, seed)
        if self.method == "votes" and not self._told_apart(sides):
            beyond = Notice(
                "gap_beyond_floats",
                "Some gaps in scores are too large for floating point to tell from "
                "larger ones under this weight; there a vote is never worse than a "
                "coin, but no longer strictly better.",
            )
            notices = (*notices, beyond)
        if pairings:
            sampled = Notice(
                "sampled_pairings",
                f"p_first is an average over {pairings} sampled pairings, standard "
                f"error {se:.2g}; there are too many pairings for the exact average.",
            )
            notices = (*notices, sampled)
        return _Outcome(first_wins, p_first, se, votes, sides.pairing, notices)

    def _told_apart(self, sides: Sides) -> bool:
        ends = [(sides.first.max(), sides.second.min())]
        ends.append((sides.second.max(), sides.first.min()))
        gaps = [difference(high, low) for high, low in ends]
        return bool(resolved(self.weight, gaps).all())

    def _law(self, sides: Sides, seed: int) -> law.Averaged:
        first, second = sides.first, sides.second
        if sides.pairing == "random":
            if self.method == "votes":
                return law.votes_over_pairings(
                    first, second, weight=self.weight, rng=seed
                )
            return law.sign_over_pairings(first, second, rng=seed)
        if self.method == "votes":
            p_first = rules.votes(first, second, weight=self.weight)
        else:
            p_first = rules.sign(first, second)
        return law.Averaged(float(p_first), 0.0, 0)

    def _notices(self, sides: Sides) -> tuple[Notice, ...]:
        counts = len(sides.first), len(sides.second)
        if self.method == "coin" or counts[0] == counts[1]:
            return ()
        if 0 in counts:
            empty = sides.items[counts.index(0)]
            text = f"{empty!r} has no score, so a fair coin decides."
            return (Notice("one_side_empty", text),)
        head = (
            f"{sides.items[0]!r} has {counted(counts[0], 'score')} and "
            f"{sides.items[1]!r} has {counts[1]}"
        )
        if self.method in PAIRED:
            text = (
                f"{head}: a random pairing uses {min(counts)} of each. Given unequal "
                "counts the mean and the median can be worse than a coin."
            )
        else:
            text = (
                f"{head}: given unequal counts the mean and the median can be worse "
                "than a coin. The method 'votes' pairs equal numbers."
            )
        return (Notice("unequal_counts", text),)


def _as_rule(
    method: str,
    weight: GapWeight | Callable[[float], float] | str | None,
    median: str | None,
    trim: float | None,
) -> _Rule:
    if method not in METHODS:
        raise OptionError(unknown("method", method, METHODS))
    given = {"weight": weight, "median": median, "trim": trim}
    for name, value in given.items():
        if value is not None and method != _FOR[name]:
            raise OptionError(
                f"{name} must be left out for method {method!r}, got {value!r}. It "
                f"belongs to method {_FOR[name]!r}."
            )
    chosen = "upper" if median is None else median
    if chosen not in rules.MEDIANS:
        raise OptionError(unknown("median", chosen, rules.MEDIANS))
    share = rules.TRIM if trim is None else rules.as_share(trim)
    return _Rule(method, as_weight(weight), chosen, share)


def _drawn(sides: Sides, seed: int) -> tuple[Floats, Floats]:
    """Return the scores in pairs; random ones are the paper's random permutation."""
    one, two = sides.first, sides.second
    if sides.pairing != "random":
        return one, two
    order = permutation(stream(seed, "pairing"), max(len(one), len(two)))
    if len(one) > len(two):
        return one[order[: len(two)]], two
    return one, two[order[: len(one)]]


def _coin(seed: int) -> float:
    return float(uniforms(stream(seed, "tie"), 1)[0])

"""Compare: which of two items is better, from reviewers who each scored one of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import polars as pl

from evenhand.ab._sides import (
    Both,
    Sides,
    sides_from_counts,
    sides_from_lists,
    sides_from_ratings,
)
from evenhand.ab.claims import (
    comparison_certificate,
    p_value_assumptions,
    uneven_turnout,
)
from evenhand.ab.methods import Rule
from evenhand.ab.pvalues import (
    STATISTICS,
    Difference,
    PValues,
    mean_difference,
    mean_interval,
    mean_of,
    p_values,
)
from evenhand.claims import DataWarning, Json, Label, Reportable, tail
from evenhand.designs.design import Matched, TwoItemDesign, declare
from evenhand.engines.counts import Counts, counts_or_ratings
from evenhand.errors import OptionError, RatingsError, must_be, refuse_option, unknown
from evenhand.lazy import lazy
from evenhand.method import as_json, as_method, choice
from evenhand.progress import working
from evenhand.randomness import RNGLike, seed_as_rng, seed_from
from evenhand.ratings import Ratings, is_frame, is_readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.ab import evidence
    from evenhand.ab.checker import OwnRule
    from evenhand.ab.evidence import Sequential
    from evenhand.arrays import Floats
    from evenhand.claims import Certificate
    from evenhand.designs.assignment import Assignment
    from evenhand.designs.design import Declared
    from evenhand.ratings import Data, WatchOptions
    from evenhand.words import cards, lines

    Scores = Sequence[float] | NDArray[np.generic] | pl.Series
else:
    cards, lines = lazy("evenhand.words.cards"), lazy("evenhand.words.lines")
    evidence = lazy("evenhand.ab.evidence")

__all__ = ["BOTH", "Comparison", "compare"]

BOTH = ("drop", "decide")
SIDES = ("first", "second")
OUTCOME = ("winner", "p_first", "p_first_se", "decided_by")
P_VALUES = ("p_value", *(f"p_value_{side}" for side in SIDES))
DIFFERENCE = ("difference", "difference_low", "difference_high")
# Shares are given of each score where there are so many different ones at most.
FEW_LEVELS = 10
KINDS: dict[str, Any] = {
    **{f"{name}_{side}": pl.Int64 for name in ("votes", "n") for side in SIDES},
    **{f"shares_{side}": pl.List(pl.Float64) for side in SIDES},
    **{f"mean_{side}": pl.Float64 for side in SIDES},
    **dict.fromkeys((*P_VALUES, *DIFFERENCE), pl.Float64),
    "levels": pl.List(pl.Float64),
}


class Summary(NamedTuple):
    """The scores of the two items that were compared, the first item first.

    Attributes:
        n: Numbers of scores.
        means: Mean scores, None of an item without a score.
        levels: The different scores, increasing; None if there are more than ten.
        shares: Share of each level in an item's scores; None without levels.
    """

    n: tuple[int, int]
    means: tuple[float | None, float | None]
    levels: tuple[float, ...] | None
    shares: tuple[tuple[float, ...], tuple[float, ...]] | None


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Reportable):
    """Which of two items was output as better, and with what probability.

    Attributes:
        items: Labels of the two items.
        winner: Label of the item that was output.
        p_first: Probability, given the data, that items[0] is output.
        p_first_se: Standard error of p_first, or how far off the normal curve for many
            votes may be; 0 if it is exact.
        decided_by: What the output followed: "votes", "trimmed means", "means",
            "medians", "midranks", "pairwise wins", a user's function by its name,
            "reviewers of both", "tie coin" where that was tied, or "coin".
        votes: Votes (or pairwise wins) for each item in the pairing that was drawn;
            None if no votes were cast, as in "guarded" whenever its statistic decided.
        method: Name of the rule, or of the user's function.
        parameters: What the rule was run with, as in the JSON.
        seed: The seed that repeats the result.
        data: Sizes and hash of the data.
        notices: What the reader must know.
        scores: How many scores each item has, their means and shares; None if the data
            hold an order only.
        difference: The first item's mean less the second's, with its interval, or None.
        test: The randomisation test behind the p-values, None if there is none.
        sequential: Evidence that may be looked at after every score, if it was asked
            for.
        certificate: What the result may claim.
        ratings: What was compared, a Ratings, Counts or two lists, for `report` and
            `plot`.

    Examples:
        >>> compare([7, 9, 4], [6, 3, 5], design="halves", rng=1)
        A comes out ahead of B, by trimmed means; mean 6.67 (n 3) against 4.67 (n 3).
        Difference 2.00, p = 0.4 (midrank test).
        It assumes that nobody's decision to answer depended on the item they got.
        score    3    4    5    6    7    9
        A       0%  33%   0%   0%  33%  33%
        B      33%   0%  33%  33%   0%   0%
        This rule is randomized: it picks A with probability 0.977.
        That is not the probability that it is better.
        method guarded, seed 1
    """

    items: tuple[Label, Label]
    winner: Label
    p_first: float
    p_first_se: float
    decided_by: str
    votes: tuple[int, int] | None
    method: str
    parameters: Mapping[str, Json]
    seed: int
    data: Mapping[str, Json]
    notices: tuple[DataWarning, ...] = ()
    scores: Summary | None = None
    difference: Difference | None = None
    test: PValues | None = None
    sequential: Sequential | None = None
    certificate: Certificate | None = None
    ratings: Ratings | Counts | tuple[Floats, Floats] | None = field(
        default=None, compare=False
    )

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value under any increasing scales, None without a test."""
        return None if self.test is None else self.test.p_value

    @property
    def p_value_first(self) -> float | None:
        """One-sided p-value against "the first item is no better"."""
        return None if self.test is None else self.test.p_value_first

    @property
    def p_value_second(self) -> float | None:
        """One-sided p-value against "the second item is no better"."""
        return None if self.test is None else self.test.p_value_second

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> compare([7], [6], method="mean", rng=7).to_dict()["winner"]
            'A'
        """
        test_fields: dict[str, Any] = {} if self.test is None else asdict(self.test)
        if self.test is not None:
            test_fields["assumes"] = [finding.text for finding in self.test.assumes]
        facts = asdict(self.sequential).items() if self.sequential else ()
        watch: Json = {name: as_json(part) for name, part in facts}
        return {
            "schema": "evenhand.compare/1",
            "items": list(self.items),
            **{name: getattr(self, name) for name in OUTCOME},
            "votes": None if self.votes is None else list(self.votes),
            "scores": self.scores
            and {name: as_json(part) for name, part in self.scores._asdict().items()},
            "difference": self.difference and self.difference._asdict(),
            **{name: getattr(self, name) for name in P_VALUES},
            "test": self.test
            and {
                name: as_json(part)
                for name, part in test_fields.items()
                if name not in P_VALUES
            },
            **({"sequential": watch} if watch else {}),
            **tail(self),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a polars dataframe of one row; the seed is text.

        Examples:
            >>> frame = compare([7, 9, 4], [6, 3, 5], rng=7).to_frame()
            >>> frame["n_first", "mean_first", "mean_second", "p_value"].row(0)
            (3, 6.666666666666667, 4.666666666666667, 0.4)
        """
        scores, difference = self.scores, self.difference
        pairs: dict[str, Sequence[Any] | None] = {
            "votes": self.votes,
            "n": scores and scores.n,
            "mean": scores and scores.means,
            "shares": scores and scores.shares,
        }
        row = {
            "first": self.items[0],
            "second": self.items[1],
            **{name: getattr(self, name) for name in OUTCOME},
            **{
                f"{name}_{side}": None if pair is None else pair[end]
                for name, pair in pairs.items()
                for end, side in enumerate(SIDES)
            },
            "levels": scores and scores.levels,
            **dict(zip(DIFFERENCE, difference or [None] * 3, strict=False)),
            **{name: getattr(self, name) for name in P_VALUES},
            "method": self.method,
            "seed": str(self.seed),
        }
        return pl.DataFrame([row], schema_overrides=KINDS)

    def __repr__(self) -> str:
        codes = ", ".join(notice.code for notice in self.notices)
        seen = f"; notices: {codes}" if codes else ""
        last = f"method {self.method}, seed {self.seed}{seen}"
        return "\n".join([*lines.comparison_lines(self)[:-1], last])

    def _repr_html_(self) -> str:
        """Return the decision and its claim, for notebooks."""
        return cards.comparison_card(self).html()


@seed_as_rng
@working("Comparing")
def compare(
    first: Data | Counts | Scores,
    second: Scores | None = None,
    *,
    method: str | Rule | OwnRule = "guarded",
    items: Sequence[Label] | None = None,
    test: str | None = None,
    both: Both | None = None,
    design: str | TwoItemDesign | None = None,
    assignment: Assignment | None = None,
    sequential: bool = False,
    alpha: float = 0.05,
    rng: RNGLike = None,
    **reading: Unpack[WatchOptions],
) -> Comparison:
    """Compare two items that different reviewers scored.

    Args:
        first: Scores of the first item; or, with second left out, a Ratings, a
            dataframe, or Counts, which a dataframe with a column `count` and none for
            the reviewer becomes.
        second: Scores of the second item, paired with those of the first in the order
            given, or at random if there are more of one than of the other.
        method: A rule by its name, "guarded"; by its text form with options,
            "guarded(eps=0.05, statistic=mean)"; a value of `evenhand.ab.methods`; or a
            function of both items' scores, two arrays of floats with the pairs first,
            in order, that returns the probability of the first. `evenhand methods`
            lists the rules with their options. "votes" is the paper's rule; "guarded"
            follows the trimmed means, and now and then the votes: nearly the accuracy
            of the one, and the guarantee of the other (Theorem G).
        items: Labels of the two items; in a Ratings, which two.
        test: Statistic of the p-values: "mean", "median", "trimmed", "midrank" or
            "pairs"; by default what the method follows if that is means or medians,
            "pairs" for "votes" and "sign" with matched pairs, and "midrank" otherwise.
        both: For a Ratings in which reviewers scored both items: "drop" leaves them
            out, "decide" follows them if they all agree.
        design: How the items were assigned: "halves", "coins", "matched" or "panels".
            The certificate and the p-values rest on it. For "panels" the pairs of a
            Ratings name the panels.
        assignment: The assignment that a Ratings came through, which says it better.
        sequential: Whether to weigh the evidence after every score (Theorem S): look as
            often as you like, stop when it is settled. `order` names the column of when
            items were assigned (of equal times no one counts as earlier), `probability`
            that of the probability of items[0], if it was not a fair coin's.
        alpha: Chance that a sequential comparison ever names an item that is no better.
        rng: Seed, Generator or SeedSequence.
        reading: How to read a file or a dataframe, with the names that `read_ratings`
            has: `reviewer`, `item`, `score`, `rows`, `scale`, ...

    Returns:
        The comparison. For a Ratings, and for lists of unequal length, scores are
        paired at random (or within the pairs that the Ratings names) and p_first is
        the average over all pairings.

    Raises:
        RatingsError: If the scores cannot be used as they are.
        OptionError: If an option is unknown, out of range, or not for this method; or
            if a function of the user's is seen to fall where it must not, or not to
            turn round when the items swap (see `check_rule`).

    References:
        Wang and Shah (2019), Section 3.2.

    Examples:
        >>> comparison = compare([7, 9, 4], [6, 3, 5], method="votes", rng=1)
        >>> comparison.winner, comparison.votes, round(comparison.p_first, 4)
        ('A', (2, 1), 0.7679)
        >>> ratings = Ratings(["a", "b", "c", "d"], ["x", "y", "x", "y"], [3, 8, 4, 5])
        >>> compare(ratings, method="sign", rng=7).p_first
        0.0
        >>> def best(one, two):
        ...     return (1 + float(max(one) > max(two)) - float(max(one) < max(two))) / 2
        >>> compare([7, 9, 4], [6, 3, 5], method=best, rng=1).winner
        'A'
    """
    if reading or is_frame(first) or is_readable(first):
        first = counts_or_ratings(first, compare, **reading)
    if not isinstance(sequential, bool):
        raise must_be("sequential", "True or False", sequential)
    chosen = as_method(method, Rule)
    if both is not None:
        choice("both", *BOTH)(both)
    seed = seed_from(rng)
    ratings = first if isinstance(first, Ratings) else None
    why = "without a Ratings: counts and lists of scores do not say who scored what"
    refuse_option("both", both and ratings is None, why)
    declared = declare(design, assignment, TwoItemDesign, ratings, items)
    if isinstance(first, Ratings | Counts) and second is not None:
        raise RatingsError("second must be left out unless first is a list of scores.")
    if isinstance(first, Ratings):
        sides = sides_from_ratings(first, items, chosen, both, declared)
    elif isinstance(first, Counts):
        if declared.design is not None and declared.design.group:
            raise OptionError(
                f"design {declared.design_name!r} must come with the ratings: counts "
                f"do not say who is in which {declared.design.group}."
            )
        sides = sides_from_counts(first, items)
    else:
        matched = declared.design is not None and declared.design.group == "pair"
        sides = sides_from_lists(first, second, items, matched=matched)
    outcome = chosen.run(sides, seed)
    test_result, shift, warnings = _test(sides, chosen, test, declared.design, seed)
    if test_result is not None:
        assumed = p_value_assumptions(sides, declared)
        test_result = replace(test_result, assumes=assumed)
    ordinal = sides.verdict is not None or (ratings and ratings.kind != "scores")
    watch = None
    if sequential:
        watch = evidence.watch_ratings(first, sides.items, declared, alpha)
    used: dict[str, Json] = {"pairing": outcome.pairing, "test": test, "both": both}
    used |= {"sequential": True, "alpha": alpha} if sequential else {}
    return Comparison(
        items=sides.items,
        winner=sides.items[0 if outcome.first_wins else 1],
        p_first=outcome.law.probability,
        p_first_se=outcome.law.se,
        decided_by=outcome.decided_by,
        votes=outcome.votes,
        method=chosen.display_name,
        parameters={
            **chosen.parameters(),
            **{name: to for name, to in used.items() if to is not None},
            "design": declared.design_name,
        },
        seed=seed,
        data=sides.data,
        notices=(
            *_turnout_notices(sides, declared),
            *sides.notices,
            *outcome.notices,
            *warnings,
        ),
        scores=None if ordinal else _summary(sides),
        difference=None if ordinal else shift,
        test=test_result,
        sequential=watch,
        certificate=comparison_certificate(sides, chosen, declared, outcome),
        ratings=first if isinstance(first, Ratings | Counts) else sides.lists,
    )


def _turnout_notices(
    sides: Sides, declared: Declared[TwoItemDesign]
) -> Iterator[DataWarning]:
    """Say that the numbers of scores do not fit the design, if they do not."""
    uneven = uneven_turnout(sides, declared)
    if uneven is not None and sides.verdict is None:
        yield DataWarning("counts_contradict_design", uneven)


def _summary(sides: Sides) -> Summary:
    first_table, second_table = sides.first, sides.second
    n, means = (
        (first_table.size, second_table.size),
        (mean_of(first_table), mean_of(second_table)),
    )
    levels = np.union1d(first_table.levels, second_table.levels)
    # A form has few scores, and short ones.
    short = all(float(f"{level:.3g}") == level for level in levels[:FEW_LEVELS])
    if len(levels) > FEW_LEVELS or not short:
        return Summary(n, means, None, None)
    shares = np.zeros((2, len(levels)))
    for row, side in zip(shares, (first_table, second_table), strict=True):
        row[np.searchsorted(levels, side.levels)] = side.counts / max(side.size, 1)
    first, second = shares.tolist()
    return Summary(n, means, tuple(levels.tolist()), (tuple(first), tuple(second)))


def _test(
    sides: Sides,
    chosen: Rule,
    test: str | None,
    design: TwoItemDesign | None,
    seed: int,
) -> tuple[PValues | None, Difference | None, tuple[DataWarning, ...]]:
    """Test that neither item is better, by drawing the assignment again.

    If no test is asked for, means and medians are tested themselves; the others by
    midranks.
    """
    if test is not None and str(test) not in STATISTICS:
        raise OptionError(unknown("test", test, STATISTICS))
    tables = sides.first, sides.second
    if sides.verdict is not None or (test is None and chosen.blind):
        return None, mean_difference(*tables), ()
    group = "" if design is None else design.group
    partners = design is not None and design.symmetry == "partners"
    in_order = partners and sides.pairing == "given"
    if group and sides.groups is None and not in_order:
        lacking = DataWarning("groups_unknown", {"group": group})
        return None, mean_difference(*tables), (lacking,)
    statistic = chosen.test_statistic(paired=partners)
    if test is not None and not statistic.startswith(test):
        statistic = test
    one_by_one = group or statistic == "pairs"
    what = f"test {test or chosen.display_name!r}"
    scores: tuple[Any, Any] = sides.one_by_one(what) if one_by_one else tables
    by: dict[str, Any] = {
        "design": design or (Matched() if statistic == "pairs" else None),
        "groups": sides.groups if group else None,
    }
    test_result = p_values(
        *scores, statistic=statistic, trim=chosen.trim, rng=seed, **by
    )
    return test_result, mean_interval(*scores, seed=seed, **by), ()

"""Compare: which of two items is better, from reviewers who each scored one of them."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

import numpy as np
import polars as pl

from evenhand.ab._sides import (
    Both,
    Sides,
    sides_from_counts,
    sides_from_lists,
    sides_from_ratings,
)
from evenhand.ab.arms import (
    ALPHA,
    ArmPair,
    Arms,
    ArmsTest,
    adjust,
    any_difference,
    arms_from,
    choose,
    has_arms,
    pairs_of,
)
from evenhand.ab.claims import (
    arms_certificate,
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
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.ab import evidence
    from evenhand.ab.checker import OwnRule
    from evenhand.ab.evidence import Sequential
    from evenhand.ab.law import ScoreCounts
    from evenhand.arrays import Floats
    from evenhand.claims import Certificate
    from evenhand.designs.assignment import Assignment
    from evenhand.designs.design import Declared
    from evenhand.ratings import Data, WatchOptions
    from evenhand.words import cards, lines

    PairTest = tuple[tuple[Label, Label], PValues, Difference | None]
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
    """The scores of the items that were compared, in their order.

    Attributes:
        n: Numbers of scores.
        means: Mean scores, None of an item without a score.
        levels: The different scores, increasing; None if there are more than ten.
        shares: Share of each level in an item's scores; None without levels.
    """

    n: tuple[int, ...]
    means: tuple[float | None, ...]
    levels: tuple[float, ...] | None
    shares: tuple[tuple[float, ...], ...] | None


class CriterionTest(NamedTuple):
    """What was found of two items by one criterion.

    Attributes:
        name: The criterion.
        weight: How much it counts in the total.
        difference: The first item's mean less the second's.
        low: Lower end of its 95% interval.
        high: Upper end.
        p_value: Two-sided, for this criterion alone.
        p_adjusted: Adjusted for the number of criteria (Holm).
    """

    name: str
    weight: float
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Reportable):
    """Which of two items was output as better, and with what probability.

    Attributes:
        items: Labels of the items.
        winner: Label of the item that was output, of several the best.
        p_first: Probability, given the data, that items[0] is output.
        p_first_se: Standard error of p_first, or how far off the normal curve for many
            votes may be; 0 if it is exact.
        decided_by: What the output followed: "votes", "trimmed means", "means",
            "medians", "midranks", "pairwise wins", a user's function by its name,
            "reviewers of both", "tie coin" where that was tied, "votes in a random
            pair" of several items, or "coin".
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
        test: The randomisation test behind the p-values, None if there is none; of
            several items the test that none differs.
        sequential: Evidence that may be looked at after every score, if it was asked
            for; of several items the pairs have it.
        chances: Probability, given the data, of each of several items.
        pairs: Of several items, every pair, or each item with the control.
        certificate: What the result may claim.
        ratings: What was compared, a Ratings, Counts or two lists, for `report` and
            `plot`.
        criteria: The difference by each of several criteria, for two items.

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

    items: tuple[Label, ...]
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
    test: PValues | ArmsTest | None = None
    sequential: Sequential | None = None
    chances: tuple[float, ...] = ()
    pairs: tuple[ArmPair, ...] = ()
    certificate: Certificate | None = None
    ratings: Ratings | Counts | tuple[Floats, Floats] | None = field(
        default=None, compare=False
    )
    criteria: tuple[CriterionTest, ...] = ()

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value under any increasing scales, None without a test."""
        return None if self.test is None else self.test.p_value

    @property
    def p_value_first(self) -> float | None:
        """One-sided p-value against "the first item is no better"."""
        return self.test.p_value_first if isinstance(self.test, PValues) else None

    @property
    def p_value_second(self) -> float | None:
        """One-sided p-value against "the second item is no better"."""
        return self.test.p_value_second if isinstance(self.test, PValues) else None

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
            **(
                {"criteria": [row._asdict() for row in self.criteria]}
                if self.criteria
                else {}
            ),
            **({"chances": [*self.chances]} if self.pairs else {}),
            **({"pairs": [asdict(pair) for pair in self.pairs]} if self.pairs else {}),
            **tail(self),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a polars dataframe of one row; the seed is text.

        Of several items it has a row for each pair.

        Examples:
            >>> frame = compare([7, 9, 4], [6, 3, 5], rng=7).to_frame()
            >>> frame["n_first", "mean_first", "mean_second", "p_value"].row(0)
            (3, 6.666666666666667, 4.666666666666667, 0.4)
        """
        if self.pairs:
            return pl.DataFrame(
                [asdict(pair) for pair in self.pairs], infer_schema_length=None
            ).with_columns(
                winner=pl.lit(self.winner),
                method=pl.lit(self.method),
                seed=pl.lit(str(self.seed)),
            )
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
def compare(  # noqa: PLR0913 - a keyword for each option of the command line
    first: Data | Counts | Scores,
    second: Scores | None = None,
    *,
    method: str | Rule | OwnRule = "guarded",
    items: Sequence[Label] | None = None,
    test: str | None = None,
    both: Both | None = None,
    control: Label | None = None,
    design: str | TwoItemDesign | None = None,
    assignment: Assignment | None = None,
    sequential: bool = False,
    alpha: float = 0.05,
    planned: Sequence[int] | None = None,
    window: float | str | None = None,
    rng: RNGLike = None,
    **reading: Unpack[WatchOptions],
) -> Comparison:
    """Compare items that different reviewers scored: two, or several.

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
        items: Labels of the two items; in a Ratings, which ones. Of more than two the
            best is chosen, and all pairs are tested.
        test: Statistic of the p-values: "mean", "median", "trimmed", "midrank" or
            "pairs"; by default what the method follows if that is means or medians,
            "pairs" for "votes" and "sign" with matched pairs, and "midrank" otherwise.
        both: For a Ratings in which reviewers scored both items: "drop" leaves them
            out, "decide" follows them if they all agree.
        control: Of several items, the one that all others are tested against.
        design: How the items were assigned: "halves", "coins", "matched" or "panels".
            The certificate and the p-values rest on it. For "panels" the pairs of a
            Ratings name the panels.
        assignment: The assignment that a Ratings came through, which says it better.
        sequential: Whether to weigh the evidence after every score (Theorem S): look as
            often as you like, stop when it is settled. `order` names the column of when
            items were assigned (of equal times no one counts as earlier), `probability`
            that of the probability of items[0], if it was not a fair coin's.
        alpha: Chance that a sequential comparison ever names an item that is no better.
        planned: For a sequential one of halves, how many reviewers each item was
            planned to have; never the counts at hand.
        window: For a sequential one, how long an answer may take, such as "3d", "12h"
            or "30min"; `answered` names the column of when it came.
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
    unused = not (sequential or (planned is None and window is None))
    refuse_option("planned and window", unused, "unless sequential")
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
    if isinstance(first, Ratings | Counts) and has_arms(first, items):
        options: dict[str, Any] = {"test": test, "both": both, "control": control}
        options |= {"sequential": sequential, "alpha": alpha}
        options |= {"planned": planned, "window": window}
        return _compare_arms(first, items, chosen, declared, seed, **options)
    refuse_option("control", control is not None, "for two items")
    sides = _sides(first, second, items, chosen, both, declared)
    outcome = chosen.run(sides, seed)
    test_result, shift, warnings = _test(sides, chosen, test, declared.design, seed)
    if test_result is not None:
        assumed = p_value_assumptions(sides, declared)
        test_result = replace(test_result, assumes=assumed)
    ordinal = sides.verdict is not None or (ratings and ratings.kind != "scores")
    watch = None
    if sequential:
        more: Any = {"planned": planned, "window": window}
        watch = evidence.watch_ratings(first, sides.items, declared, alpha, **more)
    used: dict[str, Json] = {"pairing": outcome.pairing, "test": test, "both": both}
    if sequential:
        used |= {"sequential": True, "alpha": alpha, "window": window}
        used |= {"planned": planned and [*planned]}
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
            *(evidence.watch_notices(first, sides.items, window) if sequential else ()),
        ),
        scores=None if ordinal else _summary(sides.first, sides.second),
        difference=None if ordinal else shift,
        test=test_result,
        sequential=watch,
        certificate=comparison_certificate(sides, chosen, declared, outcome),
        ratings=first if isinstance(first, Ratings | Counts) else sides.lists,
        criteria=_by_criterion(
            first,
            functools.partial(
                compare,
                method=chosen,
                items=sides.items,
                test=test,
                both=both,
                design=design,
                assignment=assignment,
                rng=seed,
            ),
        ),
    )


def _by_criterion(
    data: object, again: Callable[[Ratings], Comparison]
) -> tuple[CriterionTest, ...]:
    """Compare by each criterion alone, with p-values adjusted for their number."""
    if not isinstance(data, Ratings) or data.criteria is None:
        return ()
    names, weights = data.criteria.names, data.criteria.weights
    compared = [again(data.with_criteria(name)) for name in names]
    p_values = [each.p_value for each in compared]
    tested = np.array([each for each in p_values if each is not None])
    # Holm: the k-th smallest times how many are not smaller, never falling.
    order = np.argsort(tested, kind="stable")
    steps = np.maximum.accumulate(tested[order] * np.arange(len(tested), 0, -1))
    adjusted = np.empty(len(tested))
    adjusted[order] = np.minimum(steps, 1.0)
    each_adjusted = iter(adjusted.tolist())
    return tuple(
        CriterionTest(
            name,
            weight,
            shift and shift.estimate,
            shift and shift.low,
            shift and shift.high,
            p_value,
            None if p_value is None else next(each_adjusted),
        )
        for name, weight, p_value, shift in zip(
            names,
            weights,
            p_values,
            [each.difference for each in compared],
            strict=True,
        )
    )


def _sides(
    first: object,
    second: object,
    items: Sequence[Label] | None,
    chosen: Rule,
    scored_both: Both | None,
    declared: Declared[TwoItemDesign],
) -> Sides:
    """Take the scores of two items from whatever holds them."""
    if isinstance(first, Ratings):
        return sides_from_ratings(first, items, chosen, scored_both, declared)
    if isinstance(first, Counts):
        if declared.design is not None and declared.design.group:
            raise OptionError(
                f"design {declared.design_name!r} must come with the ratings: counts "
                f"do not say who is in which {declared.design.group}."
            )
        return sides_from_counts(first, items)
    matched = declared.design is not None and declared.design.group == "pair"
    return sides_from_lists(first, second, items, matched=matched)


def _compare_arms(
    data: Ratings | Counts,
    items: Sequence[Label] | None,
    chosen: Rule,
    declared: Declared[TwoItemDesign],
    seed: int,
    **options: Any,  # noqa: ANN401 - options of compare
) -> Comparison:
    """Choose the best of several items, and test their pairs."""
    arms = arms_from(data, items, options["both"])
    if declared.assignment or (declared.design and declared.design.group):
        rule = "halves or coins for several items"
        raise must_be("design", rule, declared.design_name)
    if options["test"] == "pairs":
        raise OptionError("test 'pairs' is for two items that reviewers in pairs got.")
    picked = choose(chosen, arms, seed)
    places, tables = pairs_of(arms.items, options["control"]), arms.tables
    rows: list[PairTest] = []
    watches: list[Sequential] = []
    for at, against in places:
        labels = arms.items[at], arms.items[against]
        sides = Sides(labels, tables[at], tables[against], "random", arms.data)
        # A coin has no test of its own: it is that of midranks.
        asks = options["test"] or ("midrank" if chosen.blind else None)
        test, shift, _ = _test(sides, chosen, asks, declared.design, seed)
        rows.append((labels, cast("PValues", test), shift))
        if options["sequential"]:
            among = options["alpha"], arms.items
            more = {name: options[name] for name in ("planned", "window")}
            watches.append(
                evidence.watch_ratings(data, labels, declared, *among, **more)
            )
    used = {
        name: value
        for name, value in options.items()
        if value is not None and value is not False
    }
    if not options["sequential"]:
        del used["alpha"]
    by_design = declared.design_name
    late = evidence.watch_notices(data, arms.items[:2], options["window"])
    uneven = tuple(_turnout_notices(arms, declared))
    pairs = tuple(_arm_pairs(rows, watches, options["alpha"]))
    if uneven:
        # No p-value holds, so no item may be called better.
        pairs = tuple(replace(pair, better=None, settled=None) for pair in pairs)
    return Comparison(
        items=arms.items,
        winner=arms.items[picked.place],
        p_first=picked.chances[0],
        p_first_se=picked.se,
        decided_by=picked.decided_by,
        votes=None,
        method=chosen.display_name,
        parameters={**chosen.parameters(), **used, "design": by_design},
        seed=seed,
        data=arms.data,
        notices=(*uneven, *arms.notices, *late),
        scores=_summary(*tables),
        test=replace(
            any_difference(arms, by_design, seed),
            assumes=p_value_assumptions(arms, declared),
        ),
        chances=picked.chances,
        pairs=pairs,
        certificate=arms_certificate(arms, chosen, declared),
        ratings=data,
    )


def _arm_pairs(
    rows: Sequence[PairTest], watches: Sequence[Sequential], alpha: float
) -> Iterator[ArmPair]:
    """Put together what was found of each pair, adjusted for all of them."""
    tests = [(test.p_value_first, test.p_value_second) for _, test, _ in rows]
    watched = [(watch.p_first, watch.p_second) for watch in watches]
    adjusted, settled = [*adjust(tests, ALPHA)], [*adjust(watched, alpha)]
    for place, (labels, test, shift) in enumerate(rows):
        p_adjusted, ahead = adjusted[place]
        p_watched, side = settled[place] if watches else (None, None)
        yield ArmPair(
            *labels,
            difference=shift and shift.estimate,
            low=shift and shift.low,
            high=shift and shift.high,
            p_value=test.p_value,
            p_adjusted=p_adjusted,
            better=None if ahead is None else labels[ahead],
            e_value=watches[place].e_value if watches else None,
            p_watched=p_watched,
            settled=None if side is None else labels[side],
        )


def _turnout_notices(
    sides: Sides | Arms, declared: Declared[TwoItemDesign]
) -> Iterator[DataWarning]:
    """Say that the numbers of scores do not fit the design, if they do not."""
    uneven = uneven_turnout(sides, declared)
    if uneven is not None and getattr(sides, "verdict", None) is None:
        yield DataWarning("counts_contradict_design", uneven)


def _summary(*tables: ScoreCounts) -> Summary:
    n = tuple(table.size for table in tables)
    means = tuple(map(mean_of, tables))
    levels = np.unique(np.concatenate([table.levels for table in tables]))
    # A form has few scores, and short ones.
    short = all(float(f"{level:.3g}") == level for level in levels[:FEW_LEVELS])
    if len(levels) > FEW_LEVELS or not short:
        return Summary(n, means, None, None)
    shares = np.zeros((len(tables), len(levels)))
    for row, side in zip(shares, tables, strict=True):
        row[np.searchsorted(levels, side.levels)] = side.counts / max(side.size, 1)
    return Summary(n, means, tuple(levels.tolist()), (*map(tuple, shares.tolist()),))


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

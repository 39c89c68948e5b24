"""The methods of `compare`: one class for each, from scores to one drawn outcome."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Self

import numpy as np

import evenhand.ab.rules as rules  # noqa: PLR0402 - not through the room's __getattr__
from evenhand.ab import bounds, claims, law
from evenhand.ab.pvalues import leading_item
from evenhand.ab.weights import WEIGHT, GapWeight, finest, odd, resolves, toss
from evenhand.arrays import Floats, Numbers, difference
from evenhand.claims import DataWarning, Json
from evenhand.errors import OptionError, name_of, require_function
from evenhand.lazy import lazy
from evenhand.method import Method, choice, option
from evenhand.randomness import permutation, stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.ab import checker
    from evenhand.ab._sides import Pairing, Sides
    from evenhand.ab.checker import OwnRule, RuleCheck
    from evenhand.ab.law import Counts
else:
    checker = lazy("evenhand.ab.checker")

PAPER = "Wang and Shah (2019)"
TIE = "tie coin"
FAIR = 0.5
# A user's function is asked in so many sampled pairings.
OWN_PAIRINGS = 200
# A function that says the same in all pairings, up to rounding, does not look at them.
ROUNDING = 1e-12


class Outcome(NamedTuple):
    """What a method drew, and with what probability.

    Attributes:
        here: Probability of the first item in the pairing drawn.
        law: The same over all pairings.
        decided_by: What the output followed.
        votes: Votes for each item, if they were what decided.
        check: What was found about a user's rule, if there is one.
        gaps_shown: Whether p_first shows that larger gaps weigh more in its votes.
        first_wins: Whether the first item is output.
        pairing: How scores were paired, or None if they were not.
        notices: What the reader must know.
    """

    here: float
    law: law.Averaged
    decided_by: str
    votes: tuple[int, int] | None = None
    check: RuleCheck | None = None
    gaps_shown: bool = True
    first_wins: bool = False
    pairing: Pairing | None = None
    notices: tuple[DataWarning, ...] = ()


def _certain(here: float, decided_by: str) -> Outcome:
    """Return an outcome that no other pairing would change."""
    return Outcome(here, law.Averaged(here, 0.0, 0), decided_by)


class ArmPart(NamedTuple):
    """What decides among several items in a share of the draws.

    Attributes:
        share: In which share of the draws.
        chances: Probability of each item then.
        se: Standard error of these.
        decided_by: What was followed.
    """

    share: float
    chances: Floats
    se: float
    decided_by: str


class Rule(Method):
    """A way to decide between two items, from scores of the one and of the other.

    Attributes:
        pairs: Whether it looks at scores in pairs: "none"; "some", so that it may, and
            at those that are left over as well; or "only".
        blind: Whether it looks at no score at all.
        trim: Share of the scores that its trimmed means cut at each end.
        weight: The weight of its votes, if it has any.
    """

    job = "compare"
    assumes = claims.AB_DESIGN
    best = claims.AGAINST_A_COIN
    pairs: ClassVar[Literal["none", "some", "only"]] = "some"
    blind: ClassVar[bool] = False
    # Without annotations, or options of this name would come before all others.
    trim = rules.TRIM
    weight = None

    @property
    def display_name(self) -> str:
        """Its name in results."""
        return self.name

    def chance(self, first: Numbers, second: Numbers) -> Floats:
        """Return the probability that the first item is output.

        Args:
            first: Scores of the first item, shape (..., k1).
            second: Scores of the second, shape (..., k2), the pairs first.

        Returns:
            Probabilities, shape (...); exact for Fractions where it can be.
        """
        return rules.follow_statistic(self.follows, first, second, trim=self.trim)

    def decide(self, sides: Sides, seed: int) -> Outcome:
        """Draw an outcome from scores of both items."""

        def rule(first: Floats, second: Floats) -> float:
            return float(self.chance(first, second))

        rule.__name__ = self.name
        return _ask(rule, sides, seed)

    @property
    def follows(self) -> str:
        """The statistic that it follows."""
        return self.name

    def test_statistic(self, *, paired: bool) -> str:
        """Return what the p-values test if nothing else is asked for.

        Pairs where they are the design's own, and means and medians as they are;
        otherwise midranks: on few levels cutting ends costs power.
        """
        if self.follows.startswith(("mean", "median")):
            return self.follows
        return "pairs" if paired and self.follows in ("sign", "votes") else "midrank"

    def right_at_least(self, scope: bounds.Scope) -> Floats:
        """Return how often it is right at least; a half by Theorem G."""
        return np.full_like(np.asarray(scope.least_effect, dtype=np.float64), FAIR)

    def run(self, sides: Sides, seed: int) -> Outcome:
        """Draw an outcome.

        Raises:
            OptionError: If a user's function fails its check, or a gap is beyond the
                range of the weight.
        """
        if sides.verdict is not None:
            part = _certain(float(sides.verdict == 0), "reviewers of both")
            return part._replace(first_wins=sides.verdict == 0)
        part = _certain(FAIR, "coin") if self.blind else self.decide(sides, seed)
        tied = part.here == FAIR and not (self.own or self.blind)
        return part._replace(
            decided_by=TIE if tied else part.decided_by,
            first_wins=_uniform(seed, "tie") < part.here,
            pairing=None if self.pairs == "none" or self.blind else sides.pairing,
            notices=tuple(self._notices(sides, part)),
        )

    def _notices(self, sides: Sides, part: Outcome) -> Iterator[DataWarning]:
        counts = sides.sizes
        if counts[0] != counts[1] and not self.blind:
            facts: dict[str, Json] = {"items": list(sides.items)}
            facts |= {"scores": list(counts), "pairs": min(counts)}
            yield DataWarning("unequal_counts", facts)
        if not part.gaps_shown:
            yield DataWarning("gap_beyond_floats", {"case": "votes"})
        if part.law.pairings:
            facts = {"pairings": part.law.pairings, "error": part.law.se}
            yield DataWarning("sampled_pairings", facts)

    def arm_parts(self, arms: Sequence[law.ScoreCounts], seed: int) -> list[ArmPart]:
        """Say how it chooses the best of several items.

        Raises:
            OptionError: If it is for two items only.
        """
        del arms, seed
        raise OptionError(
            f"method {str(self)!r} compares two items. For several use guarded, mean, "
            "median, trimmed or coin, or choose two with items=(a, b) or --items A B."
        )

    @classmethod
    def of_function(cls, function: Callable[..., object]) -> Self:
        """Make one of a user's function of both items' scores."""
        require_function("method", function, "the first scores", "the second scores")
        return OwnComparison(function=function)  # type: ignore[return-value,arg-type]  # of Rule only


class OwnComparison(Rule):
    """A user's function, from both items' scores to the probability of the first."""

    own = True
    function: OwnRule

    @property
    def display_name(self) -> str:
        """Its name in results."""
        return name_of(self.function)

    def parameters(self) -> dict[str, Json]:
        """Say that the function was checked on these data only."""
        return {"checked_on_data": True}

    def __str__(self) -> str:
        return f"{self.display_name}()"

    def decide(self, sides: Sides, seed: int) -> Outcome:
        """Ask the function itself."""
        return _ask(self.function, sides, seed)

    def chance(self, first: Numbers, second: Numbers) -> Floats:
        """Ask the function about each row."""
        first_rows, second_rows = (
            np.atleast_2d(np.asarray(first)),
            np.atleast_2d(np.asarray(second)),
        )
        chances = [
            checker.answer(self.function, a, b)
            for a, b in zip(first_rows, second_rows, strict=True)
        ]
        return np.array(chances, dtype=np.float64)


class Coin(Rule):
    """A fair coin that looks at no score: the baseline."""

    name = "coin"
    assumes = "nothing"
    best = claims.BASELINE
    pairs = "none"
    blind = True

    def chance(self, first: Numbers, second: Numbers) -> Floats:
        """Return one half."""
        return rules.coin(first, second)

    def arm_parts(self, arms: Sequence[law.ScoreCounts], seed: int) -> list[ArmPart]:
        """Choose each item as often as any other."""
        del seed
        return [ArmPart(1.0, np.full(len(arms), 1 / len(arms)), 0.0, "coin")]


class Sign(Rule):
    """The item with more wins over pairs of scores."""

    name = "sign"
    reference = f"{PAPER}, Section 3.2"
    pairs = "only"

    def decide(self, sides: Sides, seed: int) -> Outcome:
        """Draw an outcome from scores of both items."""
        first_scores, second_scores, counts = _pairs(sides, seed)
        votes = (
            int(counts[first_scores > second_scores].sum()),
            int(counts[first_scores < second_scores].sum()),
        )
        part = _certain(_majority(votes), "pairwise wins")._replace(votes=votes)
        if sides.pairing != "random":
            return part
        over = law.sign_over_pairings(sides.first, sides.second, rng=seed)
        return part._replace(law=over)


def _follow_statistic(sides: Sides, statistic: str, trim: float) -> Outcome:
    ahead = leading_item(sides.first, sides.second, statistic, trim)
    return _certain((1 + ahead) / 2, _plural_name(statistic))


def _plural_name(statistic: str) -> str:
    what = "trimmed mean" if statistic == "trimmed" else statistic.partition(":")[0]
    return f"{what}s"


def _follow_leader(
    arms: Sequence[law.ScoreCounts], statistic: str, trim: float
) -> ArmPart:
    """Choose the item that leads all others; of several such, each as often."""
    best = [
        all(leading_item(arm, against, statistic, trim) >= 0 for against in arms)
        for arm in arms
    ]
    chances = np.array(best) / sum(best)
    return ArmPart(
        1.0, chances, 0.0, _plural_name(statistic) if sum(best) == 1 else TIE
    )


class Unpaired(Rule):
    """A rule that compares one number of each item."""

    pairs = "none"

    def decide(self, sides: Sides, seed: int) -> Outcome:
        """Draw an outcome from scores of both items."""
        del seed
        return _follow_statistic(sides, self.follows, self.trim)

    def arm_parts(self, arms: Sequence[law.ScoreCounts], seed: int) -> list[ArmPart]:
        """Choose the item that leads."""
        del seed
        return [_follow_leader(arms, self.follows, self.trim)]


class HigherMean(Unpaired):
    """The item with the higher mean score."""

    name = "mean"
    reference = f"{PAPER}, Section 3.2"

    def right_at_least(self, scope: bounds.Scope) -> Floats:
        """Return how often it is right at least."""
        return bounds.of_means(scope)


class HigherMedian(Unpaired):
    """The item with the higher median score."""

    name = "median"
    reference = f"{PAPER}, Section 3.2"
    median: str = option(
        "upper",
        "Which median of an even number of scores: upper, lower or middle.",
        choice("median", *rules.MEDIANS),
    )

    @property
    def follows(self) -> str:
        """The median that was chosen."""
        return f"median:{self.median}"


TRIM = option(
    rules.TRIM, "Share of the scores cut at each end, below 0.5.", rules.as_share
)


class HigherTrimmedMean(Unpaired):
    """The item with the higher trimmed mean."""

    name = "trimmed"
    trim: float = TRIM

    def right_at_least(self, scope: bounds.Scope) -> Floats:
        """Return how often it is right at least."""
        cut, _ = rules.central_places(self.name, self.trim)(scope.per_item)
        return bounds.of_trimmed_means(scope, cut)


class Votes(Rule):
    """A majority of biased coins, one for each pair of scores: the paper's rule."""

    name = "votes"
    best = claims.PAPER_BEATS_A_COIN
    reference = f"{PAPER}, Theorem 4"
    pairs = "only"
    weight: GapWeight = WEIGHT  # type: ignore[assignment]  # none elsewhere

    def chance(self, first: Numbers, second: Numbers) -> Floats:
        """Return the probability that the first item is output."""
        return rules.votes(first, second, weight=self.weight)

    def decide(self, sides: Sides, seed: int) -> Outcome:
        """Draw an outcome from scores of both items."""
        first_scores, second_scores, counts = _pairs(sides, seed)
        chances = np.asarray(odd(self.weight, difference(first_scores, second_scores)))
        source = stream(seed, "votes")

        def toss_pair(pair: int, unit: float) -> bool:
            scores = float(first_scores[pair]), float(second_scores[pair])
            return toss(self.weight, unit, float(chances[pair]), scores, source)

        won = law.draw_coins(counts, chances, source, toss_pair)
        votes = won, int(counts.sum()) - won
        average, shown = self.average(sides, seed), self.shows_every_gap(sides)
        return Outcome(_majority(votes), average, "votes", votes, gaps_shown=shown)

    def right_at_least(self, scope: bounds.Scope) -> Floats:
        """Return how often it is right at least."""
        return bounds.of_votes(scope, self.weight)

    def average(self, sides: Sides, seed: int) -> law.Averaged:
        """Return the probability of the first item over all pairings."""
        if sides.pairing == "random":
            tables = sides.first, sides.second
            return law.votes_over_pairings(*tables, weight=self.weight, rng=seed)
        gaps = difference(*sides.one_by_one("a given pairing"))
        # In increasing order, so that the order of the pairs does not matter.
        chances = np.sort(np.asarray(odd(self.weight, gaps)))
        return law.Averaged(float(law.majority_probability(chances)), 0.0, 0)

    def shows_every_gap(self, sides: Sides) -> bool:
        """Return whether floats show that a vote weighs gaps at hand differently."""
        first_levels, second_levels = sides.first.levels, sides.second.levels
        ends = (
            (first_levels[-1], second_levels[0]),
            (second_levels[-1], first_levels[0]),
        )
        gap = max(abs(difference(high, low)) for high, low in ends)
        step = finest(np.concatenate([first_levels, second_levels]))
        return bool(resolves(self.weight, gap, step=step))


class Guarded(Rule):
    """Mostly the higher trimmed mean, now and then the paper's votes.

    Nearly the accuracy of the mean, with a guarantee.
    """

    name = "guarded"
    best = claims.BEATS_A_COIN
    reference = "docs/theory.md, Theorem G"
    default = True
    eps: float | Fraction = option(
        Fraction(1, 10),
        "How often the votes decide: a probability from 1e-6 to 1.",
        rules.as_eps,
    )
    statistic: str = option(
        "trimmed",
        "What is followed otherwise: trimmed, mean, median, median(lower), "
        "median(middle), midrank or sign.",
        rules.as_statistic,
    )
    trim: float = TRIM
    weight: GapWeight = WEIGHT  # type: ignore[assignment]  # none elsewhere

    def __post_init__(self) -> None:
        """Refuse a trim that nothing would be cut by."""
        super().__post_init__()
        if self.statistic != "trimmed" and self.trim != rules.TRIM:
            raise OptionError(f"trim must be left out for {self.statistic!r}.")

    def parameters(self) -> dict[str, Json]:
        """Return its options by name; trim only where something is cut."""
        options = super().parameters()
        if self.statistic != "trimmed":
            del options["trim"]
        return options

    def chance(self, first: Numbers, second: Numbers) -> Floats:
        """Return the probability that the first item is output.

        By Theorem G the mixture is right more than half of the time on all increasing
        scales. The first scores of each item, as many as both have, are the pairs that
        vote.

        Examples:
            >>> Guarded().chance([7, 9, 4], [6, 3, 5]).round(4)
            np.float64(0.9768)
        """
        leaning = super().chance(first, second)
        voted = rules.votes(first, second, weight=self.weight)
        return rules.mix(leaning, voted, rules.as_eps(self.eps))

    def right_at_least(self, scope: bounds.Scope) -> Floats:
        """Return how often it is right at least: the two bounds, mixed."""
        followed: Rule = HigherMean()
        if self.statistic == "trimmed":
            followed = HigherTrimmedMean(trim=self.trim)
        elif self.statistic != "mean":
            followed = Sign()
        parts = followed, Votes(weight=self.weight)
        leaning, voted = (part.right_at_least(scope) for part in parts)
        return rules.mix(leaning, voted, rules.as_eps(self.eps))

    def decide(self, sides: Sides, seed: int) -> Outcome:
        """Draw an outcome from scores of both items."""
        if self.statistic == "sign":
            part = Sign().decide(sides, seed)._replace(votes=None)
        else:
            part = _follow_statistic(sides, self.statistic, self.trim)
        eps, voters = float(self.eps), Votes(weight=self.weight)
        vote = voters.decide(sides, seed)
        drawn, voted = vote if _uniform(seed, "guard") < eps else part, vote.law
        chances = part.law.probability, voted.probability
        p_first = rules.mix(*chances, rules.as_eps(self.eps))
        # The two may rest on the same sampled pairings, so their errors add up.
        se = (1 - eps) * part.law.se + eps * voted.se
        mixture = law.Averaged(
            float(p_first), se, max(part.law.pairings, voted.pairings)
        )
        return drawn._replace(law=mixture, gaps_shown=vote.gaps_shown)

    def arm_parts(self, arms: Sequence[law.ScoreCounts], seed: int) -> list[ArmPart]:
        """Choose the item that leads, and now and then by votes in a random pair."""
        if self.statistic in ("sign", "midrank"):
            return super().arm_parts(arms, seed)
        eps, chances = float(rules.as_eps(self.eps)), np.zeros(len(arms))
        leader = _follow_leader(arms, self.statistic, self.trim)
        pairs = [*itertools.combinations(range(len(arms)), 2)]
        error = 0.0
        for at, against in pairs:
            tables = arms[at], arms[against]
            part = law.votes_over_pairings(*tables, weight=self.weight, rng=seed)
            chances[[at, against]] += part.probability, 1 - part.probability
            error = max(error, part.se)
        votes = ArmPart(eps, chances / len(pairs), error, "votes in a random pair")
        return [leader._replace(share=1 - eps), votes]

    @property
    def follows(self) -> str:
        """Its statistic, the votes apart."""
        return self.statistic


def _ask(own: OwnRule, sides: Sides, seed: int) -> Outcome:
    """Ask a user's function in the pairing drawn, and in many others."""
    first_scores, second_scores = sides.one_by_one("a function of your own")
    size = max(len(first_scores), len(second_scores))

    def pair_up(order: NDArray[np.integer]) -> tuple[Floats, Floats]:
        return (
            (first_scores[order], second_scores)
            if len(first_scores) > len(second_scores)
            else (first_scores, second_scores[order])
        )

    drawn = first_scores, second_scores
    if sides.pairing == "random":
        drawn = pair_up(permutation(stream(seed, "pairing"), size))
    check = checker.check_rule(own, *drawn, rng=seed)
    if check.failure is not None:
        raise OptionError(
            f"{check.sentence} Without that no guarantee holds (Theorem G). Scale by "
            "a declared range, and cut a fixed share of the scores, instead of what "
            "the data suggest."
        )
    here = _certain(float(checker.answer(own, *drawn)), name_of(own))._replace(
        check=check
    )
    if sides.pairing != "random":
        return here
    source = stream(seed, "pairings")
    orders = (permutation(source, size) for _ in range(OWN_PAIRINGS))
    answers = [float(checker.answer(own, *pair_up(order))) for order in orders]
    if max(answers) - min(answers) <= ROUNDING:
        return here
    se = float(np.std(answers, ddof=1)) / math.sqrt(len(answers))
    return here._replace(law=law.Averaged(float(np.mean(answers)), se, len(answers)))


def _pairs(sides: Sides, seed: int) -> tuple[Floats, Floats, Counts]:
    """Return the scores of pairs, and how many pairs there are of each."""
    if sides.pairing != "random":
        lists = sides.one_by_one("a given pairing")
        return *lists, np.ones(len(lists[0]), np.int64)
    source = stream(seed, "pairing")
    first, second = sides.first, sides.second
    first_codes, second_codes, counts = law.draw_pairing(
        first.counts, second.counts, source
    )
    return first.levels[first_codes], second.levels[second_codes], counts


def _uniform(seed: int, purpose: str) -> float:
    return float(uniforms(stream(seed, purpose), 1)[0])


def _majority(votes: tuple[int, int]) -> float:
    return (1 + (votes[0] > votes[1]) - (votes[0] < votes[1])) / 2

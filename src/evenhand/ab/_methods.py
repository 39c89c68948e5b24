"""The methods of compare: checked options in, one drawn outcome and its law out."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand._labels import require_function, shown
from evenhand._randomness import permutation, stream, uniforms
from evenhand._results import Json, Notice
from evenhand.ab import law, rules
from evenhand.ab._sides import PAIRED
from evenhand.ab.checker import Kind, OwnRule, RuleCheck, answer, check_rule, own_name
from evenhand.ab.numbers import Floats, difference
from evenhand.ab.pairings import draw_coins, draw_pairing
from evenhand.ab.pvalues import leading_item
from evenhand.ab.weights import GapWeight, as_weight, finest, odd, resolved
from evenhand.errors import OptionError, counted, listing, unknown

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from evenhand.ab._sides import Pairing, Sides
    from evenhand.ab.pairings import Counts

METHODS: tuple[str, ...] = (
    "coin",
    "sign",
    "mean",
    "median",
    "trimmed",
    "votes",
    "guarded",
)
_FOR = {
    "weight": ("votes", "guarded"),
    "median": ("median",),
    "trim": ("trimmed", "guarded"),
    "eps": ("guarded",),
    "statistic": ("guarded",),
}
_DECIDERS = {
    "coin": "coin",
    "sign": "pairwise wins",
    "mean": "means",
    "median": "medians",
    "trimmed": "trimmed means",
    "midrank": "midranks",
}
TIE = "tie coin"
FAIR = 0.5
# Up to so many scores of one item, a user's function is asked in every pairing; with
# more, in so many sampled ones.
FEW_SCORES = 5
OWN_PAIRINGS = 200
# A function that says the same in all pairings, up to rounding, does not look at them.
ROUNDING = 1e-12
# Differences of scores that are tried for whether a vote still counts them.
POWERS = np.array([10.0**power for power in range(-15, 1)])


class Outcome(NamedTuple):
    """What a method drew, and with what probability.

    Attributes:
        here: Probability of the first item in the pairing drawn.
        law: The same over all pairings.
        decided_by: What the output followed.
        votes: Votes for each item, if they were what decided.
        check: What was found about a user's rule or statistic, if there is one.
        apart: How far apart a reviewer's two scores must be to be worth a vote.
        first_wins: Whether the first item is output.
        pairing: How scores were paired, or None if they were not.
        notices: What the reader must know.
    """

    here: float
    law: law.Averaged
    decided_by: str
    votes: tuple[int, int] | None = None
    check: RuleCheck | None = None
    apart: float = 0.0
    first_wins: bool = False
    pairing: Pairing | None = None
    notices: tuple[Notice, ...] = ()


def _certain(here: float, decided_by: str) -> Outcome:
    """Return an outcome that no other pairing would change."""
    return Outcome(here, law.Averaged(here, 0.0, 0), decided_by)


@dataclass(frozen=True, slots=True)
class Method:
    """A method with its options, checked.

    Attributes:
        name: Its name, or that of the user's function.
        own: The user's function, or None.
        weight: For votes.
        median: For the median.
        trim: For trimmed means.
        eps: For guarded, the probability of the votes.
        statistic: For guarded, what is followed otherwise.
    """

    name: str
    own: OwnRule | None
    weight: GapWeight
    median: str
    trim: float
    eps: Fraction
    statistic: str | OwnRule

    @property
    def label(self) -> str:
        """Name in messages; no user's function is taken for a method of ours."""
        return self.name if self.own is None else f"{self.name}()"

    @property
    def paired(self) -> bool:
        """Whether it looks at pairs of scores, or may do so."""
        return self.own is not None or self.name in (*PAIRED, "guarded")

    def parameters(self, pairing: str | None) -> dict[str, Json]:
        """Return what was used, as in the JSON."""
        used: dict[str, Json] = {}
        follows: str | OwnRule = self.name if self.own is None else self.own
        guarded = follows == "guarded"
        if guarded:
            follows = self.statistic
            name = follows if isinstance(follows, str) else own_name(follows)
            used = {"eps": float(self.eps), "statistic": name}
        options: dict[str, tuple[bool, Json]] = {
            "checked_on_data": (not isinstance(follows, str), True),
            "weight": (guarded or follows == "votes", self.weight.to_dict()),
            "median": (follows == "median" and not guarded, self.median),
            "trim": (follows == "trimmed", self.trim),
            "pairing": (pairing is not None, pairing),
        }
        return used | {key: to for key, (given, to) in options.items() if given}

    def run(self, sides: Sides, seed: int) -> Outcome:
        """Draw an outcome.

        Raises:
            OptionError: If a user's function fails its check, or a gap is beyond the
                range of the weight.
        """
        if sides.verdict is not None:
            first = sides.verdict == 0
            return _certain(float(first), "reviewers of both")._replace(
                first_wins=first
            )
        notices, coin = self._notices(sides), _uniform(seed, "tie")
        if 0 in sides.sizes or self.label == "coin":
            tossed = _certain(FAIR, "coin")
            return tossed._replace(first_wins=coin < FAIR, notices=notices)
        if self.own is not None:
            part = _ask(self.own, "probability", sides, seed)
        elif self.name == "guarded":
            part = self._guard(sides, seed)
        elif self.name == "votes":
            part = self._vote(sides, seed)
        else:
            part = self._follow(self.name, sides, seed)
        tied = part.here == FAIR and self.own is None
        return part._replace(
            decided_by=TIE if tied else part.decided_by,
            first_wins=coin < part.here,
            pairing=sides.pairing if self.paired else None,
            notices=(*notices, *_beyond(part.apart), *_sampled(part.law)),
        )

    def _follow(self, statistic: str, sides: Sides, seed: int) -> Outcome:
        name, _, which = statistic.partition(":")
        if name == "sign":
            one, two, counts = _pairs(sides, seed)
            votes = int(counts[one > two].sum()), int(counts[one < two].sum())
            part = _certain(_majority(votes), _DECIDERS[name])._replace(votes=votes)
            if sides.pairing != "random":
                return part
            return part._replace(law=law.average_sign(sides.first, sides.second, seed))
        ahead = leading_item(
            sides.first,
            sides.second,
            statistic=name,
            trim=self.trim,
            median=which or self.median,
        )
        return _certain((1 + ahead) / 2, _DECIDERS[name])

    def _vote(self, sides: Sides, seed: int) -> Outcome:
        one, two, counts = _pairs(sides, seed)
        chances = np.asarray(odd(self.weight, difference(one, two)))
        won = draw_coins(counts, chances, stream(seed, "votes"))
        votes = won, int(counts.sum()) - won
        average, apart = self._votes_law(sides, seed), self._least_apart(sides)
        return Outcome(_majority(votes), average, "votes", votes, apart=apart)

    def _guard(self, sides: Sides, seed: int) -> Outcome:
        statistic = self.statistic
        if isinstance(statistic, str):
            part = self._follow(statistic, sides, seed)._replace(votes=None)
        else:
            part = _ask(statistic, "statistic", sides, seed)
        eps = float(self.eps)
        if _uniform(seed, "guard") < eps:
            vote = self._vote(sides, seed)
            voted = vote.law
            drawn = part._replace(
                here=vote.here, decided_by=vote.decided_by, votes=vote.votes
            )
        else:
            voted, drawn = self._votes_law(sides, seed), part
        p_first = rules.mixed(part.law.probability, voted.probability, self.eps)
        # The two may rest on the same sampled pairings, so their errors add up.
        se = (1 - eps) * part.law.se + eps * voted.se
        both = law.Averaged(float(p_first), se, max(part.law.pairings, voted.pairings))
        return drawn._replace(law=both, apart=self._least_apart(sides))

    def _coins(self, one: Floats, two: Floats, counts: Counts) -> tuple[Floats, Counts]:
        """Return the chances of votes, increasing, and how many there are of each."""
        chances = np.asarray(odd(self.weight, difference(one, two)))
        kinds, places = np.unique(chances, return_inverse=True)
        return kinds, np.bincount(places, counts).astype(np.int64)

    def _votes_law(self, sides: Sides, seed: int) -> law.Averaged:
        if sides.pairing == "random":
            return law.average_votes(sides.first, sides.second, self.weight, seed)
        p_first = law.majority_of_counts(*self._coins(*_pairs(sides, seed)))
        return law.Averaged(p_first, 0.0, 0)

    def _least_apart(self, sides: Sides) -> float:
        """Return how far apart a reviewer's two scores must be to be worth a vote.

        Returns:
            A power of ten, infinity if it is more than the scores at hand differ by.
        """
        one, two = sides.first.levels, sides.second.levels
        ends = (one[-1], two[0]), (two[-1], one[0])
        gap = max(abs(difference(high, low)) for high, low in ends)
        steps = POWERS[finest(np.concatenate([one, two])) >= POWERS]
        enough = steps[resolved(self.weight, gap, step=steps)]
        return float(enough.min(initial=math.inf))

    def _notices(self, sides: Sides) -> tuple[Notice, ...]:
        counts = sides.sizes
        if self.label == "coin" or counts[0] == counts[1]:
            return ()
        if 0 in counts:
            empty = sides.items[counts.index(0)]
            text = f"{empty!r} has no score, so a fair coin decides."
            return (Notice("one_side_empty", text),)
        head = (
            f"{sides.items[0]!r} has {counted(counts[0], 'score')} and "
            f"{sides.items[1]!r} has {counts[1]}: "
        )
        uses = f"a random pairing uses {min(counts)} of each. "
        worse = "given unequal counts the mean and the median can be worse than a coin."
        instead = " The method 'votes' pairs equal numbers."
        theorem = (
            "Over all counts that the assignment could have given, the method is no "
            "worse than a coin (Theorem G); given these counts the {} can be worse."
        )
        if self.own is not None:
            text = theorem.format("rule") + instead
        elif self.name == "guarded":
            text = uses + theorem.format("statistic") + instead
        else:
            paired = self.name in PAIRED
            text = uses + worse.capitalize() if paired else worse + instead
        return (Notice("unequal_counts", head + text),)


def as_method(
    method: str | OwnRule,
    *,
    weight: GapWeight | Callable[[float], float] | str | None,
    median: str | None,
    trim: float | None,
    eps: float | Fraction | None,
    statistic: str | OwnRule | None,
) -> Method:
    """Return a method with its options, all checked.

    Raises:
        OptionError: If a name is unknown, or an option out of range or not for this
            method.
    """
    own = None
    if isinstance(method, str):
        if method not in METHODS:
            raise OptionError(unknown("method", method, METHODS))
        name = method
    elif callable(method):
        require_function("method", method, "the first scores", "the second scores")
        own, name = method, own_name(method)
    else:
        raise OptionError(f"method must be a name or a function, got {shown(method)}.")
    given = (weight, median, trim, eps, statistic)
    for value, (option, homes) in zip(given, _FOR.items(), strict=True):
        if value is not None and (own is not None or name not in homes):
            kind = "method" if len(homes) == 1 else "methods"
            raise OptionError(
                f"{option} must be left out for method {name!r}, got {value!r}. It "
                f"belongs to {kind} {listing(homes)}."
            )
    followed = rules.as_statistic(statistic)
    if trim is not None and name == "guarded" and followed != "trimmed":
        label = followed if isinstance(followed, str) else own_name(followed)
        raise OptionError(
            f"trim must be left out for statistic {label!r}, got {trim!r}. It belongs "
            "to statistic 'trimmed'."
        )
    chosen = "upper" if median is None else median
    if chosen not in rules.MEDIANS:
        raise OptionError(unknown("median", chosen, rules.MEDIANS))
    return Method(
        name,
        own,
        as_weight(weight),
        chosen,
        rules.TRIM if trim is None else rules.as_share(trim),
        rules.as_eps(rules.EPS if eps is None else eps),
        followed,
    )


def _ask(own: OwnRule, kind: Kind, sides: Sides, seed: int) -> Outcome:
    """Ask a user's function in the pairing drawn, and in all or many of them."""
    drawn = _in_order(sides, seed)
    check = check_rule(own, *drawn, kind=kind, rng=seed)
    if not check.passed:
        raise OptionError(
            f"{check.sentence} Without that no guarantee holds (Theorem G). Scale by "
            "a declared range, and cut a fixed share of the scores, instead of what "
            "the data suggest."
        )

    def chance(one: Floats, two: Floats) -> float:
        found = float(answer(own, one, two, kind))
        return found if kind == "probability" else float(1 + np.sign(found)) / 2

    here = _certain(chance(*drawn), own_name(own))._replace(check=check)
    if sides.pairing != "random":
        return here
    one, two = sides.one_by_one(own_name(own))
    size = max(len(one), len(two))
    exact, source = size <= FEW_SCORES, stream(seed, "pairings")
    some = (permutation(source, size) for _ in range(OWN_PAIRINGS))
    orders = map(np.array, itertools.permutations(range(size))) if exact else some
    found = [
        chance(one[order], two) if len(one) == size else chance(one, two[order])
        for order in orders
    ]
    if max(found) - min(found) <= ROUNDING:
        return here
    se = 0.0 if exact else float(np.std(found, ddof=1)) / math.sqrt(len(found))
    number = 0 if exact else len(found)
    return here._replace(law=law.Averaged(float(np.mean(found)), se, number))


def _in_order(sides: Sides, seed: int) -> tuple[Floats, Floats]:
    """Return all scores, the pairs first; random ones are a random permutation."""
    one, two = sides.one_by_one("a function of your own")
    if sides.pairing != "random":
        return one, two
    order = permutation(stream(seed, "pairing"), max(len(one), len(two)))
    if len(one) > len(two):
        return one[order], two
    return one, two[order]


def _pairs(sides: Sides, seed: int) -> tuple[Floats, Floats, Counts]:
    """Return the scores of pairs, and how many pairs there are of each."""
    if sides.pairing != "random":
        one, two = sides.one_by_one("a given pairing")
        return one, two, np.ones(len(one), np.int64)
    source = stream(seed, "pairing")
    first, second = sides.first, sides.second
    drawn = draw_pairing(first.counts, second.counts, source)
    return first.levels[drawn.first], second.levels[drawn.second], drawn.counts


def _beyond(apart: float) -> tuple[Notice, ...]:
    if apart < math.inf:
        return ()
    text = (
        "Some gaps in scores are too large for floating point to distinguish from "
        "slightly larger ones under this weight; there a vote is never worse than a "
        "coin, but no longer strictly better."
    )
    return (Notice("gap_beyond_floats", text),)


def _sampled(average: law.Averaged) -> tuple[Notice, ...]:
    if not average.pairings:
        return ()
    text = (
        f"p_first is an average over {average.pairings} sampled pairings, standard "
        f"error {average.se:.2g}; there are too many pairings for the exact average."
    )
    return (Notice("sampled_pairings", text),)


def _uniform(seed: int, purpose: str) -> float:
    return float(uniforms(stream(seed, purpose), 1)[0])


def _majority(votes: tuple[int, int]) -> float:
    return (1 + (votes[0] > votes[1]) - (votes[0] < votes[1])) / 2

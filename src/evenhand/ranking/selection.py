"""`select`: choose so many of the items, with a lottery where ratings cannot decide.

What is known of the items' values, from a model, from intervals in a file or from
comparisons that are free of noise, gives each item a chance; a rule says how. Chances
come from the data alone: another seed draws other items, with the same chances. They
are exact fractions that add up to the number of places, so that anybody can draw again.

An item that was drawn was lucky. It is not better than one that was not.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import itertools
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Unpack

import numpy as np
from scipy import optimize
from scipy.special import ndtri

from evenhand import randomness
from evenhand.claims import (
    CONFIDENCE,
    Claim,
    DataWarning,
    Finding,
    Reportable,
    certify,
    few,
    tail,
)
from evenhand.designs.drawing import seal_of
from evenhand.errors import (
    OptionError,
    as_positive,
    must_be,
    refuse_option,
    require_text,
    require_whole,
    unknown,
)
from evenhand.lazy import lazy
from evenhand.method import Method, as_method
from evenhand.models.design import Fit
from evenhand.posets import orderings
from evenhand.posets.averaging import averages
from evenhand.posets.contradictions import consistent
from evenhand.progress import working
from evenhand.ranking.lineup import STREAMS, cost_range, draw_items
from evenhand.ranking.lotteries import (
    Field,
    Quota,
    SelectionRule,
    SharesRule,
    group_means,
    worst_case,
)
from evenhand.ranking.ranking import DEFAULT, rank
from evenhand.ranking.uncertainty import MODEL, from_fit, from_places
from evenhand.ratings import Ratings, as_ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import polars as pl

    from evenhand.arrays import Codes, Flags, Table
    from evenhand.claims import Certificate, Json, Label
    from evenhand.designs import design as designs
    from evenhand.designs.assignment import Assignment
    from evenhand.formats import lists
    from evenhand.ranking.methods import RankMethod
    from evenhand.ranking.results import Ranking
    from evenhand.ranking.uncertainty import RankUncertainty
    from evenhand.ratings import Data, ReadingOptions
    from evenhand.words import selections

    Chances = tuple[Fraction, ...]
    # A type checker knows no subtypes of a mapping's keys, which are labels.
    Fixed = Mapping[Any, tuple[str, str]]
    Quotas = Mapping[str, tuple[Sequence[Label], int, int | None]]
else:
    pl, lists = lazy("polars"), lazy("evenhand.formats.lists")
    designs = lazy("evenhand.designs.design")
    selections = lazy("evenhand.words.selections")

SCHEMA = "evenhand.select/1"
FILE, COMPARISONS = "file", "comparisons"
SIDES, BEFORE = {"in": 1, "out": -1}, ("scores", "intervals")
# Items up to which all rules are compared; order ideals, and sets of items, to list.
COMPARED, IDEALS, SETS = 2000, 20_000, 500
ASSUMED = {MODEL: "joint_intervals", FILE: "intervals_hold"}
ASSUMED[COMPARISONS] = "free_of_noise"
# Nothing is ordered at random here.
BY_LOT = ("tied_estimates", "tied_means")
WORST_CASE = Claim("worst_case", "MERIT", "top")


class SelectedItem(NamedTuple):
    """One item of a selection.

    Attributes:
        item: Label.
        rank: Place by estimate, 1 is best.
        low: Lower end of its interval.
        high: Upper end of its interval.
        chance: Chance to be chosen.
        group: "in" if the chance is 1, "out" if it is 0, else "lottery".
        drawn: Whether it was chosen; None if nothing was drawn.
        estimate: Its value; with comparisons, to how many items it is at least equal,
            on average.
        share: Probability to be truly among the best.
        reason: Why it was fixed, if it was.
    """

    item: Label
    rank: int
    low: float
    high: float
    chance: Fraction
    group: str
    drawn: bool | None
    estimate: float
    share: float
    reason: str | None


class RuleCost(NamedTuple):
    """What a rule costs.

    Attributes:
        rule: The rule.
        worst_case: Least expected number of truly best items among the chosen, whatever
            values the intervals allow; None if it is not known.
        expected: Expected number of them by the model.
    """

    rule: str
    worst_case: float | None
    expected: float


class LotteryDraw(NamedTuple):
    """Where the draw came from.

    Attributes:
        seed: The seed; None if it was a secret.
        seal: The seal of the secret, or None.
        sealed_before: What the seal was published before, "scores" or "intervals", as
            declared; None if nobody said.
        streams: Names of the streams that the seed has for the draw.
    """

    seed: int | None
    seal: str | None
    sealed_before: str | None
    streams: tuple[str, str]


class LotteryCost(NamedTuple):
    """What a draw costs, which is never more than the budget.

    Attributes:
        budget: What it may cost.
        least: The least that a draw can cost.
        most: The most that a draw can cost.
        expected: What draws cost on average.
        spent: What the chosen items cost; None if nothing was drawn.
        unspent: What is left of the budget; None if nothing was drawn.
    """

    budget: float
    least: float
    most: float
    expected: float
    spent: float | None
    unspent: float | None


class Sensitivity(NamedTuple):
    """How much one score moved one chance, of the scores that were tried.

    Attributes:
        scores: How many scores were moved, up and down by one step of the scale.
        step: The step.
        largest: Largest change of a chance.
    """

    scores: int
    step: float
    largest: float


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Intervals of values that were worked out elsewhere.

    Attributes:
        item_labels: The items.
        values: Rows of estimates and of the lower and upper ends, a column an item.
    """

    item_labels: tuple[Label, ...]
    values: Table
    notices: ClassVar[tuple[DataWarning, ...]] = ()
    titles: ClassVar[Mapping[Label, str]] = {}
    read_as: ClassVar[str] = ""

    @property
    def public(self) -> Intervals:
        """The same, as outputs list them."""
        return self

    def summary(self) -> dict[str, Json]:
        """Return the number of items and the hash, the `data` field of a selection."""
        text = repr([self.item_labels, self.values.tolist()])
        digest = hashlib.sha256(text.encode()).hexdigest()
        return {"items": len(self.item_labels), "sha256": digest}


@dataclass(frozen=True, slots=True, repr=False)
class Selection(Reportable):
    """Which items are in, which are out, and the chances of those between.

    Attributes:
        rows: A row for each item, by estimate, best first.
        places: How many are chosen.
        rule: The rule that gave the chances, as text.
        worst_case: Least expected number of truly best items chosen, if all intervals
            hold; None if it is not known.
        expected: Expected number of them by the model.
        rules: The same for the rule, then for all others.
        intervals: Where they come from: "model", "file" or "comparisons".
        level: Probability with which all hold at once by the model, or None.
        method: Name of the model, or None.
        parameters: The options that were used.
        draw: Where the draw comes from; None without a seed or a secret.
        costs: What a draw costs; None without a budget.
        sensitivity: How much one score can move one chance; None if not asked for.
        data: Sizes and hash of what it was decided from.
        notices: What the reader must know.
        certificate: What the result may claim.
        titles: What people call an item, for those that have more than a label.
        ratings: What it was decided from, for `report` and `plot`.
    """

    rows: tuple[SelectedItem, ...]
    places: int
    rule: str
    worst_case: float | None
    expected: float
    rules: tuple[RuleCost, ...]
    intervals: str
    level: float | None
    method: str | None
    parameters: Mapping[str, Json]
    draw: LotteryDraw | None
    costs: LotteryCost | None
    sensitivity: Sensitivity | None
    data: Mapping[str, Json]
    notices: tuple[DataWarning, ...]
    certificate: Certificate
    titles: Mapping[Label, str] = field(default_factory=dict, compare=False)
    ratings: Ratings | Intervals | None = field(default=None, compare=False)

    @property
    def seed(self) -> int | None:
        """What repeats the draw; None if nothing was drawn or the seed is a secret."""
        return None if self.draw is None else self.draw.seed

    def to_dict(self) -> dict[str, Json]:
        """Return the result's JSON as plain values."""
        return {
            "schema": SCHEMA,
            "places": self.places,
            "rule": self.rule,
            "worst_case": self.worst_case,
            "expected": self.expected,
            "rows": self._plain_rows(),
            "rules": [cost._asdict() for cost in self.rules],
            "sensitivity": self.sensitivity and self.sensitivity._asdict(),
            "intervals": {"source": self.intervals, "level": self.level},
            "draw": self.draw and self.draw._asdict(),
            "costs": self.costs and self.costs._asdict(),
            **tail(self),
        }

    def _plain_rows(self) -> list[dict[str, Json]]:
        return [
            row._asdict()
            | {"chance": float(row.chance), "chance_exact": str(row.chance)}
            for row in self.rows
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars dataframe."""
        return pl.DataFrame(self._plain_rows(), infer_schema_length=None)

    def __repr__(self) -> str:
        return selections.text(self)

    def _repr_html_(self) -> str:
        """Return the decision, its claim and the first rows, for notebooks."""
        return selections.card(self).html()


class ItemValues(NamedTuple):
    """What is known of the values of items.

    Attributes:
        source: "model", "file" or "comparisons".
        sure: How sure their places are.
        values: Rows of estimates and of the ends of intervals.
        ranking: The ranking by the model, if there is one.
        beats: Who certainly beats whom by comparisons; None with intervals.
        codes: Items to choose from, of all whose places are known.
    """

    source: str
    sure: RankUncertainty
    values: Table
    ranking: Ranking | None = None
    beats: Flags | None = None
    codes: Codes | slice = slice(None)


@randomness.seed_as_rng
@working("Selecting")
def select(  # noqa: PLR0913 - a keyword for each option of the command line
    ratings: Data | Intervals | None = None,
    *,
    places: int | None = None,
    rule: str | SelectionRule = "maximin",
    method: str | RankMethod | None = None,
    intervals: Any = None,  # noqa: ANN401 - a path or any dataframe
    noise_free: bool = False,
    quotas: Quotas | None = None,
    fixed: Fixed | None = None,
    budget: float | None = None,
    costs: Mapping[Any, float] | None = None,
    sensitivity: int = 0,
    assignment: Assignment | None = None,
    pool: int | None = None,
    draw: bool | None = None,
    secret: str | None = None,
    sealed_before: str | None = None,
    rng: randomness.RNGLike = None,
    **reading: Unpack[ReadingOptions],
) -> Selection:
    """Choose items, with a lottery among those that the ratings cannot tell apart.

    Args:
        ratings: Who gave what to which item, as for `rank`; left out with intervals.
        places: How many items to choose; left out with a budget.
        rule: How chances follow from intervals: "maximin", "cut", "smooth", "shares" or
            "top", with options in brackets as "smooth(slope=0.2)"; or a value of
            `evenhand.ranking.lotteries`.
        method: Model of `rank` that intervals come from, all of which hold at once with
            a probability of 95% if it is right; "adaptive" by default.
        intervals: Path or dataframe with columns item, low, high and maybe estimate, of
            intervals that were worked out elsewhere; instead of ratings.
        noise_free: Declare that no comparison of two items by a reviewer is wrong; then
            nothing else is used, whatever the scales.
        quotas: From a name to items, least and most (or None) of them to be chosen.
        fixed: From an item to "in" or "out" and the reason.
        budget: What the chosen items may cost, whatever is drawn: there are as many
            places as that allows, and one more could cost more. No chance depends on
            what the item itself costs, but for how many places there are.
        costs: What each item costs, with a budget.
        sensitivity: How many scores to move by one step, to see how chances change.
        assignment: The assignment that the ratings came through. Its common items help
            to compare reviewers, and cannot be chosen.
        pool: With an assignment of two pools, the one whose items to choose from, 1 or
            2. Only the other pool's scores count, so that nobody's scores move the
            chance of their own item.
        draw: Whether to draw; by default if there is a seed or a secret. With a secret
            and False the result names its seal, to be published before the draw.
        secret: Secret that draws, see `evenhand assign --seal`.
        sealed_before: What its seal was published before: "scores" or "intervals".
        rng: Seed, generator or None.
        reading: How to read a file or a dataframe, as for `rank`.

    Returns:
        The selection. Chances do not depend on the seed.

    Raises:
        OptionError: If an option is unknown or cannot be met.
        RatingsError: If the ratings or the intervals cannot be used.
        ContradictionError: If comparisons that are free of noise contradict each other.

    References:
        Goldberg, Fanti and Shah (2025), arXiv 2506.19083, for "maximin".

    Examples:
        >>> scores = [9, 8, 1, 8, 9, 2, 9, 9, 1]
        >>> ratings = Ratings(list("aaabbbccc"), list("xyz") * 3, scores)
        >>> chosen = select(ratings, places=1, method="mean", rng=7)
        >>> [(row.item, row.group) for row in chosen.rows]
        [('x', 'lottery'), ('y', 'lottery'), ('z', 'out')]
    """
    flags, mappings = (noise_free, draw), (quotas, fixed, costs)
    _require_kinds(rule, sealed_before, flags, mappings)
    chosen = as_method(rule, SelectionRule, "rule")
    seed = _seed(secret, sealed_before, rng, draw=draw)
    if (ratings is None) == (intervals is None):
        raise OptionError("select takes either ratings or intervals: give one of them.")
    data: Any = ratings if intervals is None else intervals
    if intervals is not None and not isinstance(data, Intervals):
        data = lists.read_intervals(data)
    elif not isinstance(data, Intervals):
        data = as_ratings(data, select, **reading)

    weighed, codes = _of_pool(data, assignment, pool, noise_free=noise_free)
    evidence = _weigh(weighed, method, codes, noise_free=noise_free)
    labels = [weighed.item_labels[code] for code in codes.tolist()]
    exact = _read_costs(labels, places, budget, costs)
    paid = places if budget is None else 1
    terms = _terms(labels, evidence.values[0], paid, quotas, fixed)
    terms = replace(terms, costs=exact[1:], budget=exact[0] if exact else None)
    field, chances, cost = _lottery(chosen, evidence, terms)
    drawn = None if seed is None else draw_items(chances, field, seed)
    ranking = evidence.ranking

    def chances_of(moved: Ratings) -> Chances:
        again = _weigh(moved, method, codes, noise_free=noise_free)
        return _lottery(chosen, again, terms)[1]

    seal = None if secret is None else seal_of(secret)
    origin = LotteryDraw(None if seal else seed, seal, sealed_before, STREAMS)
    facts: dict[str, Json] = {"level": CONFIDENCE, "method": str(method or DEFAULT)}
    findings = [Finding(ASSUMED[evidence.source], "declared", facts)]
    if assignment is not None:
        facts = {"items": len(assignment.common)}
        findings += (
            [Finding("common_items", "checked", facts)] if facts["items"] else []
        )
        findings += [Finding("own_pool", "checked")] if pool else []
    findings += [Finding("sets_not_listed", "void")] if cost.worst_case is None else []
    return Selection(
        rows=tuple(_rows(labels, evidence, field, chances, drawn, fixed)),
        places=field.places,
        rule=str(chosen),
        worst_case=cost.worst_case,
        expected=cost.expected,
        rules=(cost, *_compare_rules(chosen, field, evidence.beats)),
        intervals=evidence.source,
        level=CONFIDENCE if ranking else None,
        method=ranking.method if ranking else None,
        parameters={
            **(ranking.parameters if ranking else {}),
            "places": places,
            "rule": str(chosen),
            "noise_free": noise_free,
            "quotas": quotas,
            "fixed": fixed,
            "budget": budget,
            "costs": costs,
            "pool": pool,
            "sensitivity": sensitivity,
            "sealed_before": sealed_before,
        },
        draw=None if drawn is None and seal is None else origin,
        costs=_lottery_cost(field, chances, drawn),
        sensitivity=_sensitivity(weighed, chances, codes, sensitivity, chances_of),
        data=data.summary(),
        notices=tuple(
            warning
            for warning in (ranking or weighed).notices
            if warning.code not in BY_LOT
        ),
        certificate=certify(WORST_CASE, findings),
        titles=data.titles,
        ratings=data,
    )


def _require_kinds(
    rule: object,
    before: str | None,
    flags: Iterable[object],
    mappings: Iterable[object],
) -> None:
    require_text(sealed_before=before)
    if callable(rule) and not isinstance(rule, type):
        raise must_be("rule", "the name of a rule", rule)
    for flag in flags:
        if not isinstance(flag, bool | None):
            raise must_be("noise_free or draw", "True or False", flag)
    for mapping in mappings:
        if not isinstance(mapping, Mapping | None):
            raise must_be("quotas, fixed and costs", "mappings", mapping)


def _seed(
    secret: str | None,
    before: str | None,
    rng: randomness.RNGLike,
    *,
    draw: bool | None,
) -> int | None:
    """Return what draws, None if nothing is to be drawn."""
    if rng is not None and secret is not None:
        raise OptionError("seed and secret are two ways to draw: give one of them.")
    if before is not None and (before not in BEFORE or secret is None):
        rule = f"one of {' and '.join(BEFORE)}, with a secret"
        raise must_be("sealed_before", rule, before)
    if draw and rng is None and secret is None:
        raise OptionError("draw must come with a seed or a secret, which repeats it.")
    if draw is False or (rng is None and secret is None):
        return None
    if secret is None:
        return randomness.seed_from(rng)
    seal_of(secret)  # refuses what is no secret
    return int(secret, 16)


def _of_pool(
    data: Ratings | Intervals,
    assignment: Assignment | None,
    pool: int | None,
    *,
    noise_free: bool,
) -> tuple[Ratings | Intervals, Codes]:
    """Return the ratings that count, and the codes of the items to choose from."""
    if assignment is None:
        refuse_option("pool", pool is not None, "without the assignment that drew it")
        return data, np.arange(len(data.item_labels))
    if isinstance(data, Intervals):
        raise OptionError("assignment must be left out with intervals.")
    designs.declare(None, assignment, designs.ManyItemDesign, data)
    pools = assignment.item_pools
    if pool not in (pools.values() or [None]):
        rule = "1 or 2, as pools are selected each for itself" if pools else "left out"
        raise must_be("pool", f"{rule} with this assignment", pool)
    items = [item for item in assignment.items if pools.get(item, pool) == pool]
    lost = [item for item in assignment.items_without_rating(data) if item in items]
    groups = (*(assignment.chain[0].groups or ()), *(assignment.groups or ()))
    own = {str(name) for name, number in groups if pools and number == pool}
    counts = np.array([str(label) not in own for label in data.reviewer_labels])
    common = {*map(str, assignment.common)}
    chosen = np.array([str(label) not in common for label in data.item_labels])
    rows = counts[data.reviewer_codes] & (chosen | (not noise_free))[data.item_codes]
    data = data.only(rows).with_unrated_items(lost, len(items))
    if common:
        facts: dict[str, Json] = {"items": few(assignment.common), "case": "apart"}
        data.notices = (*data.notices, DataWarning("common_items", facts))
    labels = data.item_labels
    return data, np.array([n for n, x in enumerate(labels) if str(x) not in common])


def _weigh(
    data: Ratings | Intervals,
    method: Any,  # noqa: ANN401 - as `rank` takes it
    codes: Codes,
    *,
    noise_free: bool,
) -> ItemValues:
    """Return what is known of the items; the seed of a draw has no part in it."""
    if isinstance(data, Intervals) + bool(noise_free) + (method is not None) > 1:
        raise OptionError("Give one of method, intervals and noise_free.")
    if isinstance(data, Intervals):
        estimate, low, high = data.values
        fit = Fit(FILE, estimate, np.zeros(len(low), dtype=np.int64))
        reach = 2 * ndtri((1 + CONFIDENCE ** (1 / len(low))) / 2)
        order = np.argsort(-estimate, kind="stable")
        sure = from_fit(fit, 0, order=order, errors=(high - low) / reach)
        return ItemValues(FILE, sure, data.values)
    if not noise_free:
        # Chances come from joint intervals, which clusters that were read have none of.
        data = copy.copy(data)
        data.cluster_codes = None
        ranking = rank(data, method=DEFAULT if method is None else method, rng=0)
        if ranking.uncertainty is None or ranking.uncertainty.values is None:
            rule = "a model with standard errors, such as adaptive, additive or mean"
            raise must_be("method", rule, ranking.method)
        sure, values = ranking.uncertainty, ranking.uncertainty.values[:, codes]
        if len(codes) < data.n_items:
            sure = sure.among(codes[np.argsort(-values[0], kind="stable")])
        return ItemValues(MODEL, sure, values, ranking, codes=codes)
    graph = consistent(data, method="select(noise_free=True)")
    beats, means = orderings.closure(graph), averages(graph, pairs=False, rng=0)
    if means.places is None:
        raise OptionError("noise_free must be left out for more than 3,000 items.")
    total, (lower, upper) = len(beats), (beats.sum(axis=side) for side in (1, 0))
    values = np.stack([total + 1 - means.mean_rank, 1 + lower, total - upper])
    sure = from_places(np.argsort(means.mean_rank, kind="stable"), means.places)
    return ItemValues(COMPARISONS, sure, values, beats=beats)


def _terms(
    labels: Sequence[Label],
    estimate: Table,
    places: int | None,
    quotas: Quotas | None,
    fixed: Fixed | None,
) -> Field:
    """Check what a selection must keep to, by item codes."""
    codes, total = {str(label): code for code, label in enumerate(labels)}, len(labels)

    def members_of(group: Iterable[Label]) -> Flags:
        for label in group:
            if str(label) not in codes:
                raise OptionError(unknown("item", label, labels))
        return np.isin(np.arange(total), [codes[str(label)] for label in group])

    sides = np.zeros(total, dtype=np.int64)
    for label, why in (fixed or {}).items():
        side, reason = why if isinstance(why, tuple | list) and len(why) == 2 else "  "
        if str(side) not in SIDES or not str(reason).strip():
            raise must_be(f"fixed item {label!r}", "'in' or 'out' with a reason", why)
        sides[members_of([label])] = SIDES[side]
    groups = tuple(
        Quota(name, members_of(group), least, total if most is None else most)
        for name, (group, least, most) in _whole_quotas(quotas or {})
    )
    if np.sum([group.members for group in groups], axis=0).max(initial=0) > 1:
        raise OptionError("quotas must not share items: the draw keeps one of each.")
    require_whole("places", places, 1, total - 1, "fewer than there are items")
    ends = estimate, estimate, estimate, estimate
    return Field(*ends, int(places or 0), groups, sides)


def _read_costs(
    labels: Sequence[Label],
    places: int | None,
    budget: float | None,
    costs: Mapping[Any, float] | None,
) -> tuple[Fraction, ...]:
    """Return the budget, then costs, as they are written, so that sums are exact."""
    if budget is None or costs is None:
        if (budget is None) != (costs is None):
            raise OptionError("budget must come with costs, and costs with a budget.")
        return ()
    if places is not None:
        raise OptionError("places must be left out with a budget, which says how many.")
    amounts = {str(label): cost for label, cost in costs.items()}
    named = {f"cost of {label!r}": amounts.get(str(label)) for label in labels}
    exact = tuple(
        Fraction(str(float(as_positive(name, amount))))
        for name, amount in {"budget": budget, **named}.items()
    )
    if sum(exact[1:]) <= exact[0]:
        raise must_be("budget", "less than all items cost together", budget)
    return exact


def _whole_quotas(quotas: Quotas) -> Iterator[tuple[str, Any]]:
    for name, quota in quotas.items():
        if not isinstance(quota, tuple | list) or len(quota) != 3:
            raise must_be(f"quota {name!r}", "items, least and most", quota)
        for number in quota[1 : 3 if quota[2] is not None else 2]:
            require_whole(f"quota {name!r}", number, 0)
        yield name, quota


def _lottery(
    rule: SelectionRule, evidence: ItemValues, terms: Field
) -> tuple[Field, Chances, RuleCost]:
    """Return chances by a rule, with as many places as the budget pays for, if any."""
    if terms.budget is None:
        field = _field(evidence, terms)
        return field, *_cost(rule, field, evidence.beats)
    order = np.argsort(-evidence.values[0], kind="stable").tolist()
    sums = itertools.accumulate(terms.costs[code] for code in order)
    places = max(1, sum(total <= terms.budget for total in sums))
    reason = must_be(
        "budget", "enough for a place whatever is drawn", float(terms.budget)
    )
    # More places while a draw is sure to keep the budget, or fewer until one is.
    lotteries: dict[int, tuple[Field, Chances, RuleCost] | None] = {}
    while 0 < places < len(order) and places not in lotteries:
        lotteries[places] = None
        field = _field(evidence, replace(terms, places=places))
        try:
            chances, cost = _cost(rule, field, evidence.beats)
        except OptionError as error:
            reason = error
        else:
            if cost_range(chances, field)[1] <= terms.budget:
                lotteries[places] = field, chances, cost
        places += 1 if lotteries[places] else -1
    affordable = [lottery for _, lottery in sorted(lotteries.items()) if lottery]
    if not affordable:
        raise reason
    return affordable[-1]


def _lottery_cost(
    field: Field, chances: Chances, drawn: Sequence[bool] | None
) -> LotteryCost | None:
    """Return what a draw can cost, and what this one does."""
    if field.budget is None:
        return None
    least, most = cost_range(chances, field)
    spent = sum(itertools.compress(field.costs, drawn or ()))
    return LotteryCost(
        budget=float(field.budget),
        least=float(least),
        most=float(most),
        expected=float(sum(map(operator.mul, chances, field.costs))),
        spent=None if drawn is None else float(spent),
        unspent=None if drawn is None else float(field.budget - spent),
    )


def _field(evidence: ItemValues, terms: Field) -> Field:
    """Return what a rule sees; of comparisons, who is surely in, open or surely out."""
    (estimate, low, high), places = evidence.values, terms.places
    if evidence.beats is not None:
        outside, width = len(low) - places, max(float(np.median(high - low)), 1.0)
        low = 2 * width * (1.0 * (low > outside) - (high <= outside))
        high = low + width
    # Shares are counted in draws, in which equal items differ by chance.
    shares = evidence.sure.p_top(places)[evidence.codes]
    shares = group_means(shares, low, high, estimate)
    return replace(terms, low=low, high=high, estimate=estimate, shares=shares)


def possible_sets(beats: Flags, places: int) -> Flags | None:
    """List the sets of so many items that hold with each item all that beat it.

    Returns:
        A row for each set; None if there are too many to list.

    Examples:
        >>> possible_sets(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]) > 0, 1).tolist()
        [[True, False, False], [False, False, True]]
    """
    above, inside = beats.sum(axis=0), len(beats) - beats.sum(axis=1) <= places
    free = np.flatnonzero(~inside & (above < places))
    free, size = free[np.argsort(above[free], kind="stable")], places - inside.sum()
    lower = [np.flatnonzero(row).tolist() for row in beats[np.ix_(free, free)]]
    ideals = orderings.order_ideals(orderings.Piece(free, lower), limit=IDEALS)
    chosen = [row for row in ideals.held if row.bit_count() == size] if ideals else []
    if not 0 < len(chosen) <= SETS:
        return None
    sets = np.tile(inside, (len(chosen), 1))
    sets[:, free] = [orderings.bits(row, len(free)) for row in chosen]
    return sets


def _chances(
    rule: SelectionRule, field: Field, beats: Flags | None
) -> tuple[Chances, float | None]:
    """Return chances by a rule, and their worst case."""
    if beats is None:
        chances = rule.chances(field)
        return chances, float(worst_case(chances, field.low, field.high, field.places))
    sets = possible_sets(beats, field.places)
    if rule.worst_first:
        if sets is None:
            raise OptionError(
                f"rule must be another than {rule} here, such as cut: too many sets of "
                f"{field.places} items agree with the comparisons to look at each."
            )
        # The target is as of intervals: who beats another is at least 1 higher.
        least: Any = _best_least(field, sets)
        limits = (Quota("set", row, least, field.places) for row in sets)
        shares = field.shares + beats.sum(axis=1)
        field = replace(field, shares=shares, quotas=(*field.quotas, *limits))
        rule = SharesRule()
    chances = rule.chances(field)
    sums = None if sets is None else sets @ np.array([*map(float, chances)])
    return chances, None if sums is None else float(sums.min())


def _best_least(field: Field, sets: Flags) -> float:
    """Return the best that the least sum of chances over one of the sets can be."""
    total, limit = len(field.low), optimize.LinearConstraint
    limits = [
        limit(np.column_stack([sets, -np.ones(len(sets))]), 0, np.inf),
        limit([[*np.ones(total), 0]], field.places, field.places),
        *(limit([[*group.members, 0]], *group[2:]) for group in field.quotas),
    ]
    fixed = np.zeros(total) if field.fixed is None else field.fixed
    bounds = optimize.Bounds([*(fixed > 0), 0], [*(fixed >= 0), field.places])
    aim = np.append(np.zeros(total), -1.0)
    best = optimize.milp(aim, constraints=limits, bounds=bounds).x
    # What cannot be met is refused by the rule, in words.
    return 0.0 if best is None else float(best[-1])


def _cost(
    rule: SelectionRule, field: Field, beats: Flags | None
) -> tuple[Chances, RuleCost]:
    """Return chances by a rule, and what it costs."""
    chances, worst = _chances(rule, field, beats)
    expected = np.array([*map(float, chances)]) @ field.shares
    return chances, RuleCost(str(rule), worst, float(expected))


def _compare_rules(
    chosen: SelectionRule, field: Field, beats: Flags | None
) -> Iterator[RuleCost]:
    """Say what other rules would cost, if there are not so many items that it lasts."""
    for kind in Method.registry.values() if len(field.low) <= COMPARED else ():
        if issubclass(kind, SelectionRule) and kind.name != chosen.name:
            # Too many sets for one rule are no reason to refuse another.
            with contextlib.suppress(OptionError):
                yield _cost(kind(), field, beats)[1]


def _sensitivity(
    data: Ratings | Intervals,
    chances: Chances,
    codes: Codes,
    number: int,
    chances_of: Callable[[Ratings], Chances],
) -> Sensitivity | None:
    """Move scores by a step, one at a time, those of the least certain items first."""
    require_whole("sensitivity", number, 0)
    if number == 0:
        return None
    if isinstance(data, Intervals):
        raise OptionError("sensitivity must be left out with intervals.")
    scores, before = data.scores, np.array([*map(float, chances)])
    levels = np.unique(scores)
    step = float(np.diff(levels).min()) if len(levels) > 1 else 0.0
    doubt = np.full(data.n_items, 0.5)
    doubt[codes] = np.abs(before - 0.5)
    unsure = np.argsort(doubt[data.item_codes], kind="stable")
    largest, rows = 0.0, unsure[:number].tolist()
    for row, move in itertools.product(rows, (-step, step)):
        moved = scores + move * (np.arange(len(scores)) == row)
        if levels[0] <= moved[row] <= levels[-1]:
            after = np.array([*map(float, chances_of(data.with_scores(moved)))])
            largest = max(largest, float(np.abs(after - before).max()))
    return Sensitivity(len(rows), step, largest)


def _rows(
    labels: Sequence[Label],
    evidence: ItemValues,
    field: Field,
    chances: Chances,
    drawn: Sequence[bool] | None,
    fixed: Fixed | None,
) -> Iterator[SelectedItem]:
    reasons = {str(label): reason for label, (_, reason) in (fixed or {}).items()}
    order = np.argsort(-field.estimate, kind="stable").tolist()
    columns = np.vstack([evidence.values, field.shares])[:, order].T.tolist()
    for place, (code, (estimate, low, high, share)) in enumerate(
        zip(order, columns, strict=True), start=1
    ):
        chance, label = chances[code], labels[code]
        group = "in" if chance == 1 else "lottery" if chance else "out"
        chosen = None if drawn is None else drawn[code]
        more = (chosen, estimate, share, reasons.get(str(label)))
        yield SelectedItem(label, place, low, high, chance, group, *more)

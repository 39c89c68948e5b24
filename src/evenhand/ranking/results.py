"""What a ranking says: the order, a row for each item, and every coin."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from evenhand.claims import DataWarning, Json, Label, Reportable, tail
from evenhand.errors import OptionError, must_be, require_whole
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evenhand.claims import Certificate
    from evenhand.ranking.uncertainty import RankUncertainty
    from evenhand.ranking.weightings import Weightings
    from evenhand.ratings import Ratings
    from evenhand.words import cards, lines
else:
    pl = lazy("polars")
    cards = lazy("evenhand.words.cards")
    lines = lazy("evenhand.words.lines")

SCHEMA = "evenhand.rank/1"
IN, OPEN, OUT = "in", "open", "out"
SHARE = "share="
BY_CRITERION = ("item", "rank", "rank_low", "rank_high", "estimate", "error")
"""What is known of an item by each criterion."""


class Draw(NamedTuple):
    """One coin that settled the order of two items.

    Attributes:
        items: The two items, in the order that the start gave them.
        p_first: Probability with which the coin puts items[0] first.
        first: The item that it put first.
        reviewers: The reviewers whose scores of items[0] and of items[1] it used, in
            turns if it used several of each.
        anchors: For each of these pairs of reviewers the items that both scored and
            that their scores were set against; empty if scores were used as they are.
    """

    items: tuple[Label, Label]
    p_first: float
    first: Label
    reviewers: tuple[Label, ...]
    anchors: tuple[tuple[Label, ...], ...] = ()


class RankedItem(NamedTuple):
    """One item of a ranking; fields that the method does not give are None.

    Attributes:
        item: Label.
        rank: Place in the order, 1 is best.
        bucket: Number of the group of items that the data cannot tell apart.
        mean_rank: Rank averaged over all orders that respect the comparisons.
        reviews: Number of ratings that the item got.
        rank_low: Best rank of its interval; see Ranking.uncertainty.
        rank_high: Worst rank of its interval.
        p_top: Probability to be among the best `top`, if a number was asked for.
        mean_score: Plain mean of its scores.
        spread: Sample standard deviation of its scores.
        estimate: Its value on the model's scale.
        error: Standard error of the estimate.
        criteria: Its estimate by each criterion, if there are several.
        side: With `top`, "in" if its rank and its interval of ranks are wholly within
            the best k, "out" if they are wholly below, else "open".
        rank_low_all: With `simultaneous`, its best rank in statements that hold for all
            items at once (95%).
        rank_high_all: Its worst rank in them.
    """

    item: Label
    rank: int
    bucket: int | None = None
    mean_rank: float | None = None
    reviews: int = 0
    rank_low: int | None = None
    rank_high: int | None = None
    p_top: float | None = None
    mean_score: float | None = None
    spread: float | None = None
    estimate: float | None = None
    error: float | None = None
    side: str | None = None
    rank_low_all: int | None = None
    rank_high_all: int | None = None
    criteria: Mapping[str, float | None] | None = None


@dataclass(frozen=True, slots=True)
class Top:
    """The best k items, and how clear that is.

    Attributes:
        k: How many.
        items: The best k, best first.
        inside: Items whose rank and interval of ranks are wholly within the best k,
            best first.
        open: Items whose interval goes across the cut, or leaves out their rank on the
            other side of it.
        out: Items whose rank and interval are wholly below it. All three are empty if
            the method gives no intervals.
    """

    k: int
    items: tuple[Label, ...]
    inside: tuple[Label, ...] = ()
    open: tuple[Label, ...] = ()
    out: tuple[Label, ...] = ()


def read_top(top: object, n_items: int) -> tuple[int | None, bool]:
    """Read how many items are to be chosen, and whether by share.

    Raises:
        OptionError: If it is neither a number from 1 to the number of items nor
            "share=" and one.

    Examples:
        >>> read_top(20, 99), read_top("share=20", 99), read_top(None, 99)
        ((20, False), (20, True), (None, False))
    """
    by_share = isinstance(top, str) and top.startswith(SHARE)
    if by_share:
        digits = str(top).removeprefix(SHARE)
        if not (digits.isascii() and digits.isdigit()):
            raise must_be("top", "a whole number, or share= and one", top)
        top = int(digits)
    if top is not None:
        require_whole("top", top, 1, n_items, "the number of items")
    return top, by_share  # type: ignore[return-value]  # None or an integer


def add_top(ranking: Ranking, k: int | None, *, by_share: bool = False) -> Ranking:
    """Add what is known of the best k items, if a number was asked for.

    Args:
        ranking: The ranking.
        k: A number from 1 to that of the items, or None.
        by_share: Whether the first k are those with the largest shares.

    Examples:
        >>> row = RankedItem("x", 1, None, None, 2, None, None, None, 7.5, 0.5)
        >>> alone = Ranking(("x",), (row,), (), "mean", {}, 7, {}, ())
        >>> add_top(alone, 1).top.items
        ('x',)
    """
    if k is None:
        return ranking
    chances = {} if ranking.uncertainty is None else ranking.p_top(k)
    rows = tuple(
        row._replace(p_top=chances.get(row.item), side=_side(row, k))
        for row in ranking.items
    )
    inside, crossing, out = (
        tuple(row.item for row in rows if row.side == side) for side in (IN, OPEN, OUT)
    )
    return replace(
        ranking,
        items=rows,
        parameters={**ranking.parameters, "top": f"{SHARE}{k}" if by_share else k},
        top=Top(k, ranking.order[:k], inside, crossing, out),
    )


def _side(row: RankedItem, k: int) -> str | None:
    if row.rank_low is None or row.rank_high is None:
        return None
    ends = min(row.rank, row.rank_low), max(row.rank, row.rank_high)
    return IN if ends[1] <= k else OUT if ends[0] > k else OPEN


def _intervals(sure: RankUncertainty | None) -> dict[str, Json] | None:
    if sure is None:
        return None
    names = ("source", "level", "draws", *(["clusters"] if sure.clusters else []))
    return {name: getattr(sure, name) for name in names}


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Reportable):
    """Items from best to worst, and how that came about.

    Attributes:
        order: Item labels, best first.
        items: A row for each item, in that order.
        draws: Every coin that was flipped.
        method: Name of the method.
        parameters: The options that it used.
        seed: What repeats the run.
        data: Sizes and hash of the ratings.
        notices: What the reader must know.
        certificate: What the result may claim.
        rho: For adaptive, the share of reviewers' offsets in the variance.
        uncertainty: How sure the places are, and where that comes from; None if it is
            not known.
        top: The best `k` items, how clear that is and, where there is another default
            for them, what that has instead; None if no number was asked for.
        titles: What people call an item, for those that have more than a label.
        ratings: What was ranked, for `report` and `plot`.
        criteria: The ranking by each criterion alone, by the same method.
        weightings: Which items are among the best k for which weights of the criteria;
            None if no number was asked for, or the method gives no estimates.
    """

    order: tuple[Label, ...]
    items: tuple[RankedItem, ...]
    draws: tuple[Draw, ...]
    method: str
    parameters: Mapping[str, Json]
    seed: int
    data: Mapping[str, Json]
    notices: tuple[DataWarning, ...]
    certificate: Certificate | None = None
    rho: float | None = None
    uncertainty: RankUncertainty | None = field(default=None, compare=False)
    top: Top | None = None
    titles: Mapping[Label, str] = field(default_factory=dict, compare=False)
    ratings: Ratings | None = field(default=None, compare=False)
    criteria: Mapping[str, Ranking] = field(default_factory=dict, compare=False)
    weightings: Weightings | None = field(default=None, compare=False)

    @property
    def buckets(self) -> tuple[tuple[Label, ...], ...]:
        """Groups of items that the data cannot tell apart, best first."""
        groups: dict[int | None, list[Label]] = {}
        for row in self.items:
            groups.setdefault(row.bucket, []).append(row.item)
        return tuple(map(tuple, groups.values()))

    @property
    def at_once(self) -> bool:
        """Whether it has ranks that hold for all items at once."""
        return "simultaneous" in self.parameters

    @property
    def by_share(self) -> bool:
        """Whether the first items are those with the largest shares in the top."""
        return isinstance(self.parameters.get("top"), str)

    def p_top(self, k: int) -> dict[Label, float]:
        """Return the probability of each item to be among the best k, best first.

        The probability is of the source that `uncertainty` names; it is no guarantee.

        Raises:
            OptionError: If k is not from 1 to the number of items, or nothing is known
                about that for so many items.

        Examples:
            >>> from evenhand import Ratings, rank
            >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
            >>> rank(ratings, method="mean-rank", rng=7).p_top(1)
            {'y': 1.0, 'x': 0.0}
        """
        if self.uncertainty is None:
            raise OptionError(
                f"p_top is not known by method {self.method!r} here. Use method "
                "'adaptive'."
            )
        shares = self.uncertainty.p_top(k)[self.uncertainty.order].tolist()
        return dict(zip(self.order, shares, strict=True))

    def to_dict(self) -> dict[str, Json]:
        """Return the result's JSON as plain values.

        Examples:
            >>> Ranking(("x",), (), (), "mean", {}, 7, {}, ()).to_dict()["schema"]
            'evenhand.rank/1'
        """
        return {
            "schema": SCHEMA,
            "order": list(self.order),
            "items": self.rows(),
            "rho": self.rho,
            "intervals": _intervals(self.uncertainty),
            "top": None if self.top is None else asdict(self.top),
            "draws": [draw._asdict() for draw in self.draws],
            **self._criteria_fields(),
            **tail(self),
        }

    def _criteria_fields(self) -> dict[str, Json]:
        """Return what is known by criterion; nothing for one score."""
        criteria = None if self.ratings is None else self.ratings.criteria
        if criteria is None:
            return {}
        fields: dict[str, Json] = {
            "criteria": [
                {
                    "name": name,
                    "weight": weight,
                    "items": [
                        {column: getattr(row, column) for column in BY_CRITERION}
                        for row in (self.criteria[name].items if is_ranked else ())
                    ],
                }
                for name, weight in zip(criteria.names, criteria.weights, strict=True)
                for is_ranked in [name in self.criteria]
            ],
            "overall": criteria.overall or None,
        }
        if self.top is not None:
            decided = self.weightings
            fields["weightings"] = None if decided is None else decided.to_dict()
        return fields

    def rows(self) -> list[dict[str, Json]]:
        """Return one plain row for each item, best first.

        Examples:
            >>> row = RankedItem("x", 1, None, None, 2, None, None, None, 7.5, 0.5)
            >>> Ranking(("x",), (row,), (), "mean", {}, 7, {}, ()).rows()[0]["reviews"]
            2
        """
        hidden = () if self.at_once else ("rank_low_all", "rank_high_all")
        hidden = hidden if self.criteria else (*hidden, "criteria")
        rows: list[dict[str, Json]] = [row._asdict() for row in self.items]
        return [
            {name: value for name, value in row.items() if name not in hidden}
            for row in rows
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars dataframe, with titles if there are any.

        Examples:
            >>> row = RankedItem("x", 1, None, None, 2, None, None, None, 7.5, 0.5)
            >>> Ranking(("x",), (row,), (), "mean", {}, 7, {}, ()).to_frame().shape
            (1, 13)
        """
        whole = ["rank", "bucket", "reviews", "rank_low", "rank_high"]
        whole += ["rank_low_all", "rank_high_all"] if self.at_once else []
        types = {**dict.fromkeys(whole, pl.Int64), "side": pl.String}
        integers = all(isinstance(item, int) for item in self.order)
        types["item"] = pl.Int64 if integers else pl.String
        shown = (row.keys() for row in self.rows()[:1])
        names = [name for name in next(shown, RankedItem._fields) if name != "criteria"]
        frame = pl.DataFrame(
            self.rows(), schema={name: types.get(name, pl.Float64) for name in names}
        ).rename({"bucket": "group"})
        for name, ranked in self.criteria.items():
            rows = {row.item: row for row in ranked.items}
            estimates = [(row.criteria or {}).get(name) for row in self.items]
            places = [rows[item].rank if item in rows else None for item in self.order]
            frame = frame.with_columns(
                pl.Series(f"{name} estimate", estimates, pl.Float64),
                pl.Series(f"{name} rank", places, pl.Int64),
            )
        if not self.titles:
            return frame
        titles = [self.titles.get(item, "") for item in self.order]
        return frame.select("item", pl.Series("title", titles), pl.exclude("item"))

    def __repr__(self) -> str:
        return lines.ranking_text(self)

    def _repr_html_(self) -> str:
        """Return the decision, its claim and the first rows, for notebooks.

        Examples:
            >>> row = RankedItem("<b>", 1, None, None, 2, None, None, None, 7.5, 0.5)
            >>> shown = Ranking(("<b>",), (row,), (), "mean", {}, 7, {}, ())
            >>> "<b>" in shown._repr_html_()
            False
        """
        return cards.ranking_card(self).html()

"""Who was given what to review, and whether ratings came from it."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.columns import FORMULA_START
from evenhand.designs.design import ManyItemDesign, RandomDesign, as_design
from evenhand.errors import (
    DesignError,
    OptionError,
    listing,
    plural,
    require_sequence,
)
from evenhand.lazy import lazy
from evenhand.method import flag
from evenhand.ratings import as_ratings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.claims import Backing, Json, Label
    from evenhand.designs import drawing
    from evenhand.ratings import Ratings

    Rows = tuple[tuple[Label, Label], ...]
else:
    drawing = lazy("evenhand.designs.drawing")

SCHEMA = "evenhand.assignment/1"
ESCAPED = re.compile(f"'+{FORMULA_START}")
SHOWN = 20
KEPT = "The guarantee stays if nobody left{} because of an item."
UNEQUAL = "With unequal numbers of scores it holds on average over the assignment only."
TOO_MANY_ITEMS = (
    "No guarantee is left: the design {!r} gives each reviewer two items, and some "
    "have more now. It stays if somebody steps in (add= or --add), or the reviews stay "
    "open (leave_open=True or --leave-open)."
)
STOPPED = (
    "What scores settle keeps it only if the ratings of those who stopped halfway are "
    "left out (--exclude): {}."
)


@dataclass(frozen=True, slots=True)
class Amendment:
    """What changed after a draw, when somebody left.

    Attributes:
        before: The assignment before that.
        drop: Reviewers who left, sorted.
        add: Reviewers who stepped in, sorted.
        done: Reviews that those who left had done, sorted. They stay.
        leave_open: Whether reviews that nobody stepped in for are left open.
        unseen: Whether the organiser declares that those who left never saw their
            items. A log that shows nothing from them does not show why.
        in_turn: Whether those who stepped in were next in a sealed order of reserves.
    """

    before: Assignment
    drop: tuple[Label, ...]
    add: tuple[Label, ...] = ()
    done: Rows = ()
    leave_open: bool = False
    unseen: bool = False
    in_turn: bool = False

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as in the record, without what was amended."""
        plain = {
            field.name: _plain(getattr(self, field.name)) for field in fields(self)[1:]
        }
        always = ("drop", "add", "done", "leave_open")
        return {name: value for name, value in plain.items() if value or name in always}


@dataclass(frozen=True, slots=True, repr=False)
class Assignment:
    """Who was given what to review, and how that was drawn.

    Attributes:
        items: Labels of all items, sorted.
        reviewers: Labels of all reviewers, sorted.
        design: Name of the design.
        parameters: "per_reviewer" and "per_item", None where not given; "own_items" and
            "groups" of applicants, and "common", where they were.
        rows: Reviewer and item of each assigned review, sorted.
        groups: Reviewer and pair or panel, for "matched" and "panels", or the pool that
            was drawn, for "two-pools"; or None.
        conflicts: Reviewer and item of each conflict of interest, sorted.
        seed: What repeats the draw: an integer, or the secret text if it was sealed;
            None while it is still sealed.
        seal: SHA-256 that the secret was sealed with, or None.
        uniform: Whether every feasible assignment was exactly as likely.
        law: How it was drawn, in one sentence.
        version: Version of evenhand that drew it.
        amends: What changed since the assignment before, None for a first draw.
        conflicts_hidden: Whether it was drawn with conflicts that its record keeps to
            itself; `conflicts` has them only for who knows them.
        backing: Either "declared", "revealed" (its secret draws it) or "verified".

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> assign(["x", "y"], ["a", "b", "c", "d"], design="halves", rng=7)
        4 reviews of 2 items by 4 reviewers, design halves, seed 7
        Every split of the reviewers into halves was equally likely.
        'a': 'y'
        'b': 'x'
        'c': 'x'
        'd': 'y'
    """

    items: tuple[Label, ...]
    reviewers: tuple[Label, ...]
    design: str
    parameters: Mapping[str, Json]
    rows: Rows
    groups: Rows | None
    conflicts: Rows
    seed: int | str | None
    seal: str | None
    uniform: bool
    law: str
    version: str
    amends: Amendment | None = None
    conflicts_hidden: bool = False
    backing: Backing = field(default="declared", compare=False)

    @property
    def fits_seal(self) -> bool:
        """Whether it was drawn again from a secret that fits the published seal."""
        return self.backing == "verified"

    @property
    def has_conflicts(self) -> bool:
        """Whether conflicts of interest kept reviewers from items."""
        return self.conflicts_hidden or bool(self.conflicts or self.own_items)

    def alike_items(self) -> tuple[int, int]:
        """Return how many pairs of items have the same conflicts, and how many pairs.

        Common items, which everybody has, are in none; nor is any whose conflicts are
        not on record.

        Examples:
            >>> from evenhand.designs.drawing import assign
            >>> assign([1, 2, 3], ["a", "b", "c"], design="balanced", per_reviewer=1,
            ...        conflicts=[("a", 1)], rng=7).alike_items()
            (1, 3)
        """
        items = [item for item in self.items if item not in self.common]
        barred = {item: frozenset[str]() for item in map(str, items)}
        for reviewer, item in self.chain[0].conflicts:
            barred[str(item)] |= {str(reviewer)}
        kinds = Counter(barred.values()) if self.chain[0].conflicts else Counter()
        alike = sum(math.comb(number, 2) for number in kinds.values())
        return alike, math.comb(len(items), 2)

    @property
    def own_items(self) -> Rows:
        """Applicant and own item, for those who review each other."""
        return self.parameters.get("own_items", ())  # type: ignore[return-value]  # rows

    @property
    def item_pools(self) -> dict[Label, Label]:
        """Pool of each applicant's item; the other pool reviews it."""
        pools = dict(self.chain[0].groups or ())
        return {item: pools[applicant] for applicant, item in self.own_items}

    @property
    def common(self) -> tuple[Label, ...]:
        """Items that every reviewer was given, besides those that were drawn."""
        return tuple(self.parameters.get("common", ()))  # type: ignore[arg-type]  # labels

    @property
    def chain(self) -> tuple[Assignment, ...]:
        """The first draw and every amendment, this one last."""
        return (*(self.amends.before.chain if self.amends else ()), self)

    @property
    def leavers(self) -> tuple[Label, ...]:
        """Reviewers who left, in all amendments."""
        return tuple(
            reviewer for amendment in self.amendments() for reviewer in amendment.drop
        )

    @property
    def halfway_leavers(self) -> tuple[Label, ...]:
        """Reviewers who left after some of their items."""
        rows = [row for amendment in self.amendments() for row in amendment.done]
        return tuple(dict.fromkeys(reviewer for reviewer, _ in rows))

    @property
    def present(self) -> tuple[Label, ...]:
        """Reviewers who did not leave."""
        gone = {*map(str, self.leavers)}
        return tuple(
            reviewer for reviewer in self.reviewers if str(reviewer) not in gone
        )

    def effect(self, ratings: Ratings | None = None) -> str:
        """Say what it does to the guarantee that people left, or gave no rating.

        Args:
            ratings: The ratings, if there are any.

        Returns:
            Sentences; none if nobody left and nothing is missing.

        Examples:
            >>> from evenhand import Ratings
            >>> from evenhand.designs.drawing import assign
            >>> given = assign([1, 2, 3], ["a", "b"], design="pairs", rng=7)
            >>> own = [item for who, item in given.rows if who == "a"]
            >>> given.effect(Ratings(["a", "a"], own, [5, 3]))
            'The guarantee stays if nobody left because of an item.'
        """
        missing = () if ratings is None else self.missing(ratings)
        if not missing and self.amends is None:
            return ""
        sentences = [self._condition()]
        design = as_design(self.design, RandomDesign)
        if not isinstance(design, ManyItemDesign):
            return f"{sentences[0]} {UNEQUAL}"
        largest = max(map(len, self.bundles().values()))
        if design.most_items is not None and largest > design.most_items:
            return TOO_MANY_ITEMS.format(self.design)
        halfway = {*map(str, self.halfway_leavers)}
        if ratings is not None:
            gave = {*map(str, ratings.reviewer_labels)}
            halfway = (halfway | {str(reviewer) for reviewer, _ in missing}) & gave
        if halfway:
            sentences.append(STOPPED.format(listing(sorted(halfway))))
        return " ".join(sentences)

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as in the record.

        Examples:
            >>> from evenhand.designs.drawing import assign
            >>> found = assign(["x", "y"], ["a"], design="coins", rng=7).to_dict()
            >>> found["rows"]
            [['a', 'x']]
        """
        names = [field.name for field in fields(self)][:-3]
        plain = {name: _plain(getattr(self, name)) for name in names}
        if self.conflicts_hidden:
            plain |= {"conflicts": [], "conflicts_hidden": True}
        past = {} if self.amends is None else {"amends": self.amends.to_dict()}
        return {"schema": SCHEMA, **plain, **past}

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars dataframe; labels are text.

        Examples:
            >>> from evenhand.designs.drawing import assign
            >>> assign(["x", "y"], ["a"], design="coins", rng=7).to_frame().columns
            ['reviewer', 'item']
        """
        rows = [(str(reviewer), str(item)) for reviewer, item in self.rows]
        schema = {"reviewer": pl.String, "item": pl.String}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def without_secret(self) -> Assignment:
        """Return the assignment without its secret.

        Raises:
            OptionError: If it was not drawn with a secret.

        Examples:
            >>> from evenhand.designs.drawing import assign
            >>> drawn = assign([1, 2], ["a"], design="coins", secret="0" * 64)
            >>> drawn.without_secret().seed is None
            True
        """
        if self.seal is None:
            raise OptionError("Only an assignment drawn with a secret has one.")
        past = self.amends
        past = past and replace(past, before=past.before.without_secret())
        return replace(self, seed=None, amends=past)

    def amend(
        self,
        drop: Sequence[Label],
        *,
        add: Sequence[Label] = (),
        done: Ratings | None = None,
        leave_open: bool = False,
        unseen: bool = False,
        in_turn: bool = False,
        secret: str | None = None,
    ) -> Assignment:
        """Repair it after somebody left.

        What others were given stays as it is. Those who step in take all items of
        somebody who left before the first rating; who takes whose is drawn at random.
        What is still open goes to those who stay, at random and evenly, or is left
        open; with two items it is left open. `effect` says what this does to the
        guarantee.

        Args:
            drop: Reviewers who left.
            add: Reviewers who step in, at most one for each who left without a rating.
            done: The ratings so far; None if those who left gave none.
            leave_open: Whether nobody gets what those who step in do not take.
            unseen: Whether you declare that those who left never saw their items. The
                certificate says so among what is declared.
            in_turn: Whether those who step in are next in a sealed order of reserves.
            secret: The secret, if it is sealed.

        Returns:
            The new assignment, which remembers this one.

        Raises:
            OptionError: If a name is not right, or the secret is not given.
            DesignError: If nobody can take a review.

        Examples:
            >>> from evenhand.designs.drawing import assign
            >>> drawn = assign([1, 2, 3], ["a", "b", "c"], design="balanced",
            ...                per_reviewer=1, rng=7)
            >>> drawn.rows, drawn.amend(["b"], add=["z"]).rows
            ((('a', 1), ('b', 3), ('c', 2)), (('a', 1), ('c', 2), ('z', 3)))
            >>> drawn.amend(["b"]).rows
            (('a', 1), ('a', 3), ('c', 2))
        """
        names = [
            [labels] if isinstance(labels, str) else labels for labels in (drop, add)
        ]
        require_sequence("names of reviewers", drop=names[0], add=names[1])
        gone, new = map(tuple, names)
        flags = {"leave_open": leave_open, "unseen": unseen, "in_turn": in_turn}
        for name, value in flags.items():
            flag(name)(value)
        open_rows = self.rows if done is None else self.missing(as_ratings(done))
        kept = tuple(row for row in self.rows if row not in set(open_rows))
        return drawing.amend(Amendment(self, gone, new, kept, **flags), secret)

    def strays(self, ratings: Ratings, items: Sequence[Label] | None = None) -> Rows:
        """Return reviewer and item of each rating that was not assigned.

        Args:
            ratings: The ratings.
            items: Look at these items only; all if None.

        Raises:
            DesignError: If there are only comparisons, which keep no reviewer.

        Examples:
            >>> from evenhand import Ratings
            >>> from evenhand.designs.drawing import assign
            >>> given = assign(["x", "y"], ["a", "b"], design="halves", rng=7)
            >>> given.strays(Ratings(["a", "b"], ["x", "x"], [1, 2]))
            (('a', 'x'),)
        """
        assigned = {_key(row) for row in self.rows}
        rated = _among(_rating_rows(ratings), items)
        return tuple(row for row in rated if _key(row) not in assigned)

    def items_without_rating(self, ratings: Ratings) -> tuple[Label, ...]:
        """Return the items that nobody rated, in the order of the assignment.

        Examples:
            >>> from evenhand.designs.drawing import assign
            >>> from evenhand.ratings import Ratings
            >>> drawn = assign(["x", "y", "z"], ["a", "b"], design="pairs", rng=7)
            >>> drawn.items_without_rating(Ratings(["a"], ["y"], [1]))
            ('x', 'z')
        """
        rated = {_key(("", item)) for item in ratings.item_labels}
        return tuple(item for item in self.items if _key(("", item)) not in rated)

    def missing(self, ratings: Ratings, items: Sequence[Label] | None = None) -> Rows:
        """Return reviewer and item of each review that has no rating.

        Args:
            ratings: The ratings.
            items: Look at these items only; all if None.

        Examples:
            >>> from evenhand import Ratings
            >>> from evenhand.designs.drawing import assign
            >>> given = assign(["x", "y"], ["a", "b"], design="halves", rng=7)
            >>> given.missing(Ratings(["a"], ["y"], [1]))
            (('b', 'x'),)
        """
        rated = {_key(row) for row in _rating_rows(ratings)}
        return tuple(row for row in _among(self.rows, items) if _key(row) not in rated)

    def require(self, ratings: Ratings, items: Sequence[Label] | None = None) -> None:
        """Refuse ratings that were not assigned.

        Raises:
            DesignError: If a rating was not assigned; it names the first.
        """
        strays = self.strays(ratings, items)
        if strays:
            reviewer, item = strays[0]
            more = f" {len(strays) - 1} more are like it." if len(strays) > 1 else ""
            raise DesignError(
                f"ratings must come from the assignment, got one of item {item!r} by "
                f"reviewer {reviewer!r}, who was not given it.{more}"
            )

    def __repr__(self) -> str:
        seed = f"seed {self.seed}" if isinstance(self.seed, int) else "sealed seed"
        seed = seed if self.backing == "declared" else f"{self.backing} seed"
        sizes = f"{len(self.rows)} reviews of {len(self.items)} items by "
        title = f"{sizes}{len(self.reviewers)} reviewers, design {self.design}, {seed}"
        if times := len(self.amendments()):
            title += f", amended {plural(times, 'time')}"
        lines = [title, self.law]
        for reviewer, items in list(self.bundles().items())[:SHOWN]:
            lines.append(f"{reviewer!r}: {listing(items)}")
        if len(self.reviewers) > SHOWN:
            lines.append(f"and {len(self.reviewers) - SHOWN} more")
        return "\n".join(lines)

    def bundles(self) -> dict[Label, list[Label]]:
        """Return the items of each reviewer.

        Examples:
            >>> from evenhand.designs.drawing import assign
            >>> assign(["x", "y"], ["a"], design="coins", rng=7).bundles()
            {'a': ['x']}
        """
        bundles: dict[Label, list[Label]] = {label: [] for label in self.reviewers}
        for reviewer, item in self.rows:
            bundles[reviewer].append(item)
        return bundles

    def _condition(self) -> str:
        """Say what the guarantee rests on now that somebody left."""
        added = any(amendment.add for amendment in self.amendments())
        return KEPT.format(" or stepped in" if added else "")

    def amendments(self) -> list[Amendment]:
        """Return what changed since the first draw, in order."""
        return [
            assignment.amends
            for assignment in self.chain
            if assignment.amends is not None
        ]


def _rating_rows(ratings: Ratings) -> Rows:
    if ratings.kind == "comparisons":
        raise DesignError(
            "ratings must name the reviewer of each score or rank, got comparisons. "
            "They cannot be held against an assignment."
        )
    reviewers, items = ratings.reviewer_labels, ratings.item_labels
    codes = ratings.reviewer_codes.tolist(), ratings.item_codes.tolist()
    return tuple(
        (reviewers[reviewer], items[item])
        for reviewer, item in zip(*codes, strict=True)
    )


def _among(rows: Rows, items: Sequence[Label] | None) -> Rows:
    chosen = set(map(str, items or ()))
    return tuple(row for row in rows if items is None or str(row[1]) in chosen)


def _plain(value: Json | Rows | tuple[Label, ...]) -> Json:
    return list(map(_plain, value)) if isinstance(value, tuple) else value


def _key(row: tuple[Label, Label]) -> tuple[str, str]:
    """Compare labels as text, without the quote that keeps a formula from running."""
    reviewer, item = (
        text[1:] if ESCAPED.match(text) else text for text in map(str, row)
    )
    return reviewer, item

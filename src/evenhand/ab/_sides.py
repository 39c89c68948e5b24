"""The two sides of a comparison: tables of scores, from lists, Ratings or counts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.ab.law import ScoreCounts, count_sides
from evenhand.claims import DataWarning, Json, Label, few
from evenhand.columns import Source, code_labels, label_series, number_series, place_of
from evenhand.engines.counts import MOST_LEVELS, Counts, Once, missing_notices
from evenhand.errors import OptionError, RatingsError, listing, plural, quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.ab.methods import Rule
    from evenhand.arrays import Flags, Floats
    from evenhand.designs.design import Declared, TwoItemDesign
    from evenhand.ratings import Ratings

    Codes = NDArray[np.integer]

Pairing = Literal["given", "random", "pairs"]
Both = Literal["drop", "decide"]
UNRATED = -1


@dataclass(frozen=True, slots=True)
class Sides:
    """The scores of two items.

    Attributes:
        items: Labels of the two items.
        first: Scores of the first item, as a table.
        second: Scores of the second item.
        pairing: "given" or "pairs" if the lists are in pairs, "random" if pairs are to
            be drawn.
        data: Sizes and hash of the data.
        lists: Scores of both items one by one, None if only counts are known. Pairs
            that are given and users' functions need them; nothing else looks at them.
        notices: What the reader of a result must know.
        verdict: Index of the item that all reviewers of both put first, or None.
        groups: Pair or panel of the reviewer of each score, for the two items, if it is
            known.
        once: Of counts, how it is known that nobody gave two of the scores.
        out_of: How many items the data have, of which these two were compared.
    """

    items: tuple[Label, Label]
    first: ScoreCounts
    second: ScoreCounts
    pairing: Pairing
    data: Mapping[str, Json]
    lists: tuple[Floats, Floats] | None = None
    notices: tuple[DataWarning, ...] = ()
    verdict: int | None = None
    groups: tuple[tuple[Label, ...], tuple[Label, ...]] | None = None
    once: Once | None = None
    out_of: int = 2

    def __post_init__(self) -> None:
        """Refuse an item without a score: nothing can be compared with it."""
        pairs = zip(self.items, self.sizes, strict=True)
        empty = " or ".join(repr(item) for item, size in pairs if not size)
        if empty:
            messages = [notice.message for notice in self.notices]
            none = f"There is no score of {empty} to compare. Both items need one."
            raise RatingsError(" ".join([none, *messages]))

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of scores."""
        return self.first.size, self.second.size

    def one_by_one(self, what: str) -> tuple[Floats, Floats]:
        """Return the scores of both items, the pairs first where they are given.

        Raises:
            RatingsError: If only counts are known.
        """
        if self.lists is None:
            raise RatingsError(f"{what} needs every score, not counts of scores.")
        return self.lists


def sides_from_counts(counts: Counts, items: Sequence[Label] | None = None) -> Sides:
    """Take two items from counts of scores.

    Args:
        counts: How many scores of each value each item has.
        items: Labels of the two items, None if there are only two.

    Raises:
        RatingsError: If there are not two items to compare, reviewers scored several,
            or there are too many different scores.
        OptionError: If items are not two different labels.

    Examples:
        >>> from evenhand.engines.counts import Counts
        >>> sides = sides_from_counts(Counts(["x", "x", "y"], [5, 4, 4], [9, 3, 7]))
        >>> sides.sizes, sides.first.levels.tolist()
        ((12, 7), [4.0, 5.0])
    """
    labels, codes = _choose_items(counts, items)
    if counts.once == "per item":
        raise RatingsError(
            "counts must be of two items to compare them, as nothing says who scored "
            f"both {labels[0]!r} and {labels[1]!r}. Count these two alone: "
            "count_ratings(..., items=(a, b)) or --items A B."
        )
    first, second = (ScoreCounts(*counts.scores_of(code)) for code in codes)
    levels = len(np.union1d(first.levels, second.levels))
    if levels > MOST_LEVELS:
        raise RatingsError(
            f"scores must have at most {MOST_LEVELS:,} different values to be compared "
            f"from counts, got {levels:,}. Give the ratings themselves, or round the "
            "scores before you count them."
        )
    warnings, once = other_notices(counts, labels), counts.once
    return Sides(
        labels, first, second, "random", counts.summary(), notices=warnings, once=once
    )


def other_notices(
    data: Ratings | Counts, labels: Sequence[Label]
) -> tuple[DataWarning, ...]:
    """Leave out the notice of an item without a score: it is said in the refusal."""
    hidden = "unrated_items" if set(data.unrated_labels) <= set(labels) else ""
    return tuple(notice for notice in data.notices if notice.code != hidden)


def scored_alone(ratings: Ratings, codes: Sequence[int]) -> tuple[Flags, list[Label]]:
    """Return the ratings by reviewers who scored one of the items, and who did not.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "x"], [3, 8, 4])
        >>> scored_alone(ratings, [0, 1])
        (array([False, False,  True]), ['a'])
    """
    rated = np.isin(ratings.item_codes, codes)
    loads = np.bincount(ratings.reviewer_codes[rated], minlength=ratings.n_reviewers)
    several = [ratings.reviewer_labels[code] for code in np.flatnonzero(loads > 1)]
    several.sort(key=place_of)
    return rated & (loads[ratings.reviewer_codes] == 1), several


def sides_from_lists(
    first: object,
    second: object,
    items: Sequence[Label] | None,
    *,
    matched: bool = False,
) -> Sides:
    """Take two lists of scores, paired in the order given if equally long and whole.

    Args:
        first: Scores of the first item; those that are missing are left out.
        second: Scores of the second item.
        items: Labels of the two.
        matched: Whether a score is left out with its partner, so that the other pairs
            stay as they are.

    Raises:
        RatingsError: If a score is not a finite number, or a list has none.
        OptionError: If items are not two different labels.

    Examples:
        >>> sides_from_lists([7, 9], [6, 3], None).items
        ('A', 'B')
    """
    if second is None:
        raise RatingsError("second must be given when first is a list of scores.")
    labels = ("A", "B") if items is None else _as_labels(items)
    first_scores, first_missing = number_series(first, "first score", Source())
    second_scores, second_missing = number_series(second, "second score", Source())
    n_missing = int(first_missing.sum() + second_missing.sum())
    in_order = len(first_scores) == len(second_scores)
    if matched and in_order:
        first_missing = second_missing = first_missing | second_missing
    lists = first_scores[~first_missing], second_scores[~second_missing]
    pairing: Pairing = "random"
    if in_order and (matched or not n_missing):
        pairing = "given"
    notices = tuple(missing_notices(n_missing, ()))
    data = _summary(labels, *lists)
    return Sides(labels, *count_sides(*lists), pairing, data, lists, notices=notices)


def sides_from_ratings(
    ratings: Ratings,
    items: Sequence[Label] | None,
    rule: Rule,
    scored_both: Both | None,
    declared: Declared[TwoItemDesign],
) -> Sides:
    """Take the scores of two items from Ratings.

    Args:
        ratings: The ratings.
        items: Labels of the two items, None if there are only two.
        rule: The rule.
        scored_both: What to do with reviewers who scored both items.
        declared: How the items were assigned. The pairs or panels of the assignment go
            before those of the ratings.

    Raises:
        RatingsError: If there are not two items to compare, reviewers scored both, a
            pair is not complete, or there are no scores and the method needs them.
        OptionError: If items are not two different labels.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> from evenhand.ab.methods import Votes
        >>> from evenhand.designs.design import Declared
        >>> ratings = Ratings(["a", "b", "c"], ["x", "y", "x"], [3, 8, 4])
        >>> sides = sides_from_ratings(ratings, None, Votes(), None, Declared(None))
        >>> sides.first.levels.tolist()
        [3.0, 4.0]
    """
    labels, codes = _choose_items(ratings, items)
    rows: list[Codes] = [np.flatnonzero(ratings.item_codes == code) for code in codes]
    notices = [*other_notices(ratings, labels)]
    notices += ratings.weighing(rule.name, used=False)
    verdict: int | None = None
    seen = [ratings.reviewer_codes[side] for side in rows]
    twice = np.intersect1d(seen[0], seen[1])
    deciding = len(twice) > 0 and scored_both == "decide"
    if not rule.blind and not deciding and ratings.kind == "comparisons":
        wins, losses = _count_both(ratings, rows, twice)
        ties = plural(len(twice) - wins - losses, "tie")
        raise RatingsError(
            f"method {str(rule)!r} needs scores, but the data holds only comparisons: "
            f"{wins:,} for {labels[0]!r}, {losses:,} for {labels[1]!r} and {ties}. Use "
            "rank; or both='decide' if all agree, or method 'coin'."
        )
    if not rule.blind and not deciding and ratings.kind != "scores":
        raise RatingsError(
            f"method {str(rule)!r} needs scores, but the data holds only "
            f"{ratings.kind}, and a rank is never used as a score. Use both='decide' "
            "if the reviewers agree, or method 'coin'."
        )
    if not rule.blind and len(twice):
        rows, verdict, notice = _settle_both(ratings, rows, twice, labels, scored_both)
        notices.append(notice)
    pairing: Pairing = "random"
    design = declared.design
    # Of other groups than pairs the column names those.
    in_pairs = design is None or not design.group or design.symmetry == "partners"
    if (
        ratings.pair_codes is not None
        and in_pairs
        and verdict is None
        and rule.pairs != "none"
    ):
        pairing, rows = "pairs", _order_by_pair(ratings, rows, labels)
    first_scores, second_scores = (ratings.preference[side] for side in rows)
    return Sides(
        labels,
        *count_sides(first_scores, second_scores),
        pairing,
        ratings.summary(),
        lists=(first_scores, second_scores),
        notices=tuple(notices),
        verdict=verdict,
        groups=_groups(ratings, rows, declared),
        out_of=len({*ratings.item_labels, *ratings.unrated_labels}),
    )


def _groups(
    ratings: Ratings, rows: list[Codes], declared: Declared[TwoItemDesign]
) -> tuple[tuple[Label, ...], tuple[Label, ...]] | None:
    """Return the pair or panel of the reviewer of each score, if it is known."""
    drawn = declared.assignment
    if drawn is not None and drawn.groups is not None:
        group_of = {str(reviewer): group for reviewer, group in drawn.groups}
        names = [group_of.get(str(label), "") for label in ratings.reviewer_labels]
        codes = ratings.reviewer_codes
    elif ratings.pair_codes is not None:
        names, codes = list(ratings.pair_labels), ratings.pair_codes
    else:
        return None
    first_groups, second_groups = (
        tuple(names[code] for code in codes[side]) for side in rows
    )
    return first_groups, second_groups


def _choose_items(
    ratings: Ratings | Counts, items: Sequence[Label] | None
) -> tuple[tuple[Label, Label], tuple[int, int]]:
    """Return the two items and their codes; an item without a score has code -1."""
    codes = {label: code for code, label in enumerate(ratings.item_labels)}
    codes |= dict.fromkeys(ratings.unrated_labels, UNRATED)
    if items is not None:
        unrated = {str(label): label for label in ratings.unrated_labels}
        first, second = (
            unrated[str(label)]
            if str(label) in unrated
            else ratings.item_labels[ratings.item_code(label)]
            for label in _two(items)
        )
        if first == second:
            raise OptionError(f"items must be two different items, got {items!r}.")
    elif len(codes) == 2:
        # Labels sort as in Ratings: integers by size, all else as text.
        whole = all(isinstance(label, int) for label in codes)
        first, second = sorted(codes, key=lambda label: label if whole else str(label))
    else:
        advice = "There is nothing to compare it with."
        if len(codes) > 1:
            advice = "Choose two with items=(a, b) or --items A B, or use rank."
        raise RatingsError(
            f"compare takes ratings of two items, got {len(codes)}: "
            f"{listing(codes)}. {advice}"
        )
    return (first, second), (codes[first], codes[second])


def _settle_both(
    ratings: Ratings,
    rows: list[Codes],
    twice: Codes,
    labels: tuple[Label, Label],
    scored_both: Both | None,
) -> tuple[list[Codes], int | None, DataWarning]:
    """Follow the reviewers of both items if they agree, or leave them out, as asked."""
    reviewers = [ratings.reviewer_labels[code] for code in twice.tolist()]
    reviewers.sort(key=place_of)
    names = listing(reviewers)
    if scored_both is None:
        raise RatingsError(
            f"reviewers must score one of {labels[0]!r} and {labels[1]!r}, got "
            f"{len(twice)} who scored both: {names}. Use both='drop' (--both drop) to "
            "leave them out or both='decide' to let them decide."
        )
    theirs = [np.isin(ratings.reviewer_codes[side], twice) for side in rows]
    if scored_both == "drop":
        kept = [side[~own] for side, own in zip(rows, theirs, strict=True)]
        return kept, None, DataWarning("both_dropped", {"reviewers": few(reviewers)})
    wins, losses = _count_both(ratings, rows, twice)
    if max(wins, losses) < len(twice):
        raise RatingsError(
            f"both='decide' needs reviewers of both items to agree, got {wins} for "
            f"{labels[0]!r}, {losses} for {labels[1]!r} and "
            f"{len(twice) - wins - losses} ties. Use both='drop' to leave them out."
        )
    verdict = 0 if wins else 1
    facts: dict[str, Json] = {"reviewers": len(twice), "winner": labels[verdict]}
    facts["loser"] = labels[1 - verdict]
    return rows, verdict, DataWarning("both_decided", facts)


def _count_both(ratings: Ratings, rows: list[Codes], twice: Codes) -> tuple[int, int]:
    """Return how many reviewers of both items put the first above, and below."""
    first_scores, second_scores = (
        ratings.preference[side[np.isin(ratings.reviewer_codes[side], twice)]]
        for side in rows
    )
    above = first_scores > second_scores
    return int(above.sum()), int((first_scores < second_scores).sum())


def _order_by_pair(
    ratings: Ratings, rows: list[Codes], labels: tuple[Label, Label]
) -> list[Codes]:
    """Order both sides by pair, each of which must hold one rating of each item."""
    codes, n_pairs = np.asarray(ratings.pair_codes), len(ratings.pair_labels)
    counts = [np.bincount(codes[side], minlength=n_pairs) for side in rows]
    wrong = np.flatnonzero((counts[0] != counts[1]) | (counts[0] > 1))
    if len(wrong):
        pair = int(wrong[0])
        raise RatingsError(
            f"pair {quote(ratings.pair_labels[pair])} must hold one rating of "
            f"{labels[0]!r} and one of {labels[1]!r}, got {counts[0][pair]} and "
            f"{counts[1][pair]}. Correct the pair column, or leave it out to pair at "
            "random."
        )
    return [side[np.argsort(codes[side], kind="stable")] for side in rows]


def _two(items: Sequence[Label]) -> tuple[Label, Label]:
    try:
        first, second = [] if isinstance(items, str) else items
    except (TypeError, ValueError):
        raise OptionError(f"items must be two labels, got {quote(items)}.") from None
    return first, second


def _as_labels(items: Sequence[Label]) -> tuple[Label, Label]:
    distinct, codes = code_labels(label_series(list(_two(items)), "item", Source()))
    if len(distinct) == 1:
        raise OptionError(f"items must be two different labels, got {items!r}.")
    return distinct[codes[0]], distinct[codes[1]]


def _summary(
    labels: tuple[Label, Label], first: Floats, second: Floats
) -> dict[str, Json]:
    """Return the sizes of two lists and their hash."""
    counts, total = (len(first), len(second)), len(first) + len(second)
    head = {"schema": "evenhand.scores/1", "items": labels, "counts": counts}
    hashed = hashlib.sha256(json.dumps(head, ensure_ascii=True).encode())
    for part in (first, second):
        hashed.update(part.astype("<f8").tobytes())
    sizes = {"reviewers": total, "items": 2, "ratings": total}
    return {**sizes, "sha256": hashed.hexdigest()}

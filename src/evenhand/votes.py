"""Votes whose winner is a side, 'left' or 'model_a', instead of an item.

A file of votes often has the two items in two columns and, in a third, which side won.
Taken for an item, a side would be ranked; ignored, the same side would win each time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.columns import ALIASES, Columns, column_texts, is_alias
from evenhand.errors import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from evenhand.columns import Source

SIDE = re.compile(
    r"(?:(?:model|system|item|option|answer|response|side|text|candidate|choice) ?)?"
    r"(?:left|right|first|second|[ablr12]|x|y)|chosen|rejected"
)
TIE = re.compile(
    r"tied?|ties|draw|drawn|equal|same|both|neither|none|no preference|skip(?:ped)?|"
    r"undecided|unsure|nul|remis|both ?(?:good|bad)|(?:tie|equal|both|neither)\b.*|"
)
VERDICTS = ALIASES["winner"] | {
    *("winners", "won", "win", "choice", "vote", "voted", "outcome", "result"),
    *("verdict", "preference", "label"),
}
"""What the column is called that says which side won."""
MOST_SIDES = 8
FORM = (
    "Without winner= and loser= read_ratings reads such votes, with ties, and so do "
    "the commands without --column."
)


def require_items(
    columns: Mapping[str, object], names: Columns, source: Source
) -> None:
    """Refuse comparisons whose winner is a side, or that ignore which side won.

    Args:
        columns: Every column of the table.
        names: Those of the winner and of the loser.
        source: Where the table came from, for messages.

    Raises:
        RatingsError: If the column of the winner names sides; or if another does, so
            that the same side would win each time.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"left": ["tea"], "right": ["milk"], "winner": ["right"]}
        >>> require_items(columns, Columns(winner="left", loser="right"), Source())
        Traceback (most recent call last):
        ...
        evenhand.errors.RatingsError: Column 'winner' says who won ('right'), so 'left'
        cannot be the winner of each vote. Without winner= and loser= read_ratings reads
        such votes, with ties, and so do the commands without --column.
    """
    texts = {name: _texts(values) for name, values in columns.items()}
    distinct = {name: {*cells.unique()} for name, cells in texts.items()}
    used = (names.winner, names.loser, names.reviewer, names.pair)
    others = [name for name in columns if name not in used]
    winners, losers = distinct[names.winner], distinct[names.loser]
    if _are_sides(winners, losers, {name: distinct[name] for name in others}):
        raise source.whole(
            f"Column {names.winner!r} holds {listing(sorted(winners))}: sides, not "
            f"items. {FORM}"
        )
    for name in others:
        verdicts = distinct[name]
        called = "winner" in word(name).split() and len(verdicts) <= MOST_SIDES
        called |= is_alias(name, ALIASES["winner"])
        differs = called and bool((texts[name] != texts[names.winner]).any())
        if differs or _names_sides_of(name, verdicts, [names.winner, names.loser]):
            raise source.whole(
                f"Column {name!r} says who won ({listing(sorted(verdicts))}), so "
                f"{names.winner!r} cannot be the winner of each vote. {FORM}"
            )


def name_sides(values: Iterable[str], names: Iterable[str]) -> bool:
    """Return whether values are sides, ties or names of columns, and not ties alone.

    Examples:
        >>> name_sides({"model_a", "tie"}, []), name_sides({"tea", "tie"}, [])
        (True, False)
    """
    words = _words(values)
    named = _words(names)
    sides = {text for text in words if SIDE.fullmatch(text) or text in named}
    return bool(sides) and all(TIE.fullmatch(text) for text in words - sides)


def _are_sides(
    winners: set[str], losers: set[str], others: Mapping[str, set[str]]
) -> bool:
    """Return whether a column of winners holds sides, beside losers that are items."""
    few = len(winners) <= MOST_SIDES and winners.isdisjoint(losers)
    if not few or name_sides(losers, list(others)):
        return False
    sides = name_sides(winners, list(others))
    if sides and _words(winners) & _words(others):
        return True
    # If two columns share labels, these are the items, and the winner is none of them.
    named = sides or not all(
        label.lstrip("-").isdecimal() for label in winners | losers
    )
    items = (
        labels
        for labels in others.values()
        if labels & losers and labels.isdisjoint(winners)
    )
    return named and any(items)


def _names_sides_of(name: str, verdicts: set[str], sides: list[str]) -> bool:
    """Return whether a column says which of two other columns holds the winner."""
    if word(name) in {f"winner {word(side)}" for side in sides}:
        return True
    is_verdict = is_alias(name, VERDICTS) or _words(sides) <= _words(verdicts)
    return is_verdict and name_sides(verdicts, sides)


def _texts(values: object) -> pl.Series:
    return column_texts(values).str.strip_chars().fill_null("")


def _words(texts: Iterable[str]) -> set[str]:
    return {word(text) for text in texts}


def word(text: str) -> str:
    """Reduce a name to its words.

    Examples:
        >>> word("Model_A")
        'model a'
    """
    return " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())

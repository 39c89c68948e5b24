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

    from evenhand.columns import Source

SIDE = re.compile(
    r"(?:(?:model|system|item|option|answer|response|side|text|candidate|choice) ?)?"
    r"(?:left|right|first|second|[ablr12]|x|y)|chosen|rejected"
)
TIE = re.compile(
    r"tied?|ties|draw|drawn|equal|equivalent|s|similar|both|neither|none|"
    r"no (?:preference|difference)|skip(?:ped)?|undecided|unsure|nul|remis|"
    r"both ?(?:good|bad)|(?:tie|equal|same|both|neither)\b.*|"
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
    ends = [names.winner, names.loser]
    texts = {name: column_texts(columns[name]).str.strip_chars() for name in columns}
    labels = {name: {*cells.fill_null("").unique()} for name, cells in texts.items()}
    winners, losers = (labels[name] for name in ends)
    used = (*ends, names.reviewer, names.pair)
    others = {name: values for name, values in labels.items() if name not in used}
    if _are_sides(winners, losers, others):
        raise source.whole(
            f"Column {names.winner!r} holds {listing(sorted(winners))}: sides, not "
            f"items. {FORM}"
        )
    for name, verdicts in others.items():
        few = "winner" in word(name).split() and len(verdicts) <= MOST_SIDES
        named = few or is_alias(name, ALIASES["winner"])
        says = is_alias(name, VERDICTS) or _words(ends) <= _words(verdicts)
        differs = named and not texts[name].equals(texts[names.winner])
        if differs or (says and _name_sides(verdicts, ends)):
            raise source.whole(
                f"Column {name!r} says who won ({listing(sorted(verdicts))}), so "
                f"{names.winner!r} cannot be the winner of each vote. {FORM}"
            )


def _are_sides(
    winners: set[str], losers: set[str], others: Mapping[str, set[str]]
) -> bool:
    """Return whether a column of winners holds sides, beside losers that are items."""
    few = len(winners) <= MOST_SIDES and winners.isdisjoint(losers)
    if not few or _name_sides(losers, others):
        return False
    sides = _name_sides(winners, others)
    numbers = all(label.lstrip("-").isdecimal() for label in winners | losers)
    # If two columns share labels, these are the items, and the winner is none of them.
    items = any(
        values & losers and values.isdisjoint(winners) for values in others.values()
    )
    named = sides and bool(_words(winners) & _words(others))
    return named or (items and (sides or not numbers))


def _name_sides(values: Iterable[str], names: Iterable[str]) -> bool:
    """Return whether values are sides, ties or names of columns, and not ties alone."""
    words, named = _words(values), _words(names)
    sides = {text for text in words if SIDE.fullmatch(text) or text in named}
    return bool(sides) and all(TIE.fullmatch(text) for text in words - sides)


def _words(texts: Iterable[str]) -> set[str]:
    return {word(text) for text in texts}


def word(text: str) -> str:
    """Reduce a name to its words.

    Examples:
        >>> word("Model_A")
        'model a'
    """
    return " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())

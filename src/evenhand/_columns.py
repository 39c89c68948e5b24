"""Which column holds what: by option, by name, or by a well-known other name."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Literal

from evenhand._labels import NUMBER, require_text, shown
from evenhand.errors import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._labels import Source

Kind = Literal["scores", "ranks", "comparisons"]

NAME_SHOWN = 40

ALIASES: dict[str, frozenset[str]] = {
    part: frozenset([part, *names.split()])
    for part, names in {
        "reviewer": "judge rater user worker annotator assessor grader evaluator "
        "referee participant reviewername",
        "item": "paper submission entry project task candidate product proposal "
        "application variant assessee",
        "score": "rating grade mark label points",
        "rank": "ranking position place",
        "winner": "preferred better",
        "loser": "rejected worse",
        "pair": "",
    }.items()
}
"""Names under which each column is found, in lower case without blanks and id."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Column names as found or given; empty where there is no such column."""

    reviewer: str = ""
    item: str = ""
    score: str = ""
    rank: str = ""
    winner: str = ""
    loser: str = ""
    pair: str = ""

    @property
    def kind(self) -> Kind:
        """What the table holds: "scores", "ranks" or "comparisons"."""
        if self.winner:
            return "comparisons"
        return "scores" if self.score else "ranks"


def given_columns(**names: str | None) -> Columns:
    """Take columns that a user named, None or empty where none was.

    Raises:
        OptionError: If a name is not text.

    Examples:
        >>> given_columns(reviewer="judge", item=None).reviewer
        'judge'
    """
    require_text("the name of a column", **names)
    return Columns(**{part: name or "" for part, name in names.items()})


def find_columns(names: Sequence[str], given: Columns, source: Source) -> Columns:
    """Choose the columns of a table.

    Args:
        names: The table's column names.
        given: Columns that the user named; these must exist.
        source: Where the table came from, for messages.

    Returns:
        The columns to read, complete for one kind of data.

    Raises:
        RatingsError: If a column is missing, unknown or ambiguous.

    Examples:
        >>> from evenhand._labels import Source
        >>> find_columns(["Judge", "paper_id", "mark"], Columns(), Source()).score
        'mark'
    """
    given = Columns(*(_named(name, names, source) for name in astuple(given)))
    _check_given(given, source)
    wanted = _wanted(names, given)
    found = {part: _choose(part, names, given, source) for part in wanted}
    optional = "reviewer" if "winner" in wanted else "pair"
    if _candidates(optional, names, given):
        found[optional] = _choose(optional, names, given, source)
    used = list(found.values())
    if len(set(used)) < len(used):
        twice = next(name for name in used if used.count(name) > 1)
        raise source.whole(
            f"Column {shown(twice)} is named for two things. Name two columns."
        )
    return Columns(**found)


def _named(name: str, names: Sequence[str], source: Source) -> str:
    """Return a column that the user named, which must exist."""
    if not name or name in names:
        return name
    near = [known for known in names if known.strip() == name.strip()]
    if len(near) == 1:
        return near[0]
    raise source.unknown("column", name, map(_short, names))


def _check_given(given: Columns, source: Source) -> None:
    """Refuse two options of which one would be left unused."""
    first, others = "score", ["rank"] if given.score else []
    if given.winner or given.loser:
        first, others = "winner and loser", ["item", "score", "rank", "pair"]
    for second in others:
        if getattr(given, second):
            raise source.whole(
                f"Columns for {first} and for {second} were both named. "
                "Name those of one kind of data."
            )


def _wanted(names: Sequence[str], given: Columns) -> tuple[str, ...]:
    def there(part: str) -> bool:
        return bool(_candidates(part, names, given))

    rated = there("item") and (there("score") or there("rank"))
    named = given.score or given.rank
    paired = there("winner") and there("loser")
    if given.winner or given.loser or (paired and not rated and not named):
        return "winner", "loser"
    ranked = given.rank or (there("item") and there("rank") and not there("score"))
    return "reviewer", "item", "rank" if ranked and not given.score else "score"


def _candidates(part: str, names: Sequence[str], given: Columns) -> list[str]:
    chosen = getattr(given, part)
    if chosen:
        return [chosen]
    taken = astuple(given)
    free = [name for name in names if name not in taken]
    exact = [name for name in free if name.strip().casefold() == part]
    return exact or [name for name in free if is_alias(name, ALIASES[part])]


def _choose(part: str, names: Sequence[str], given: Columns, source: Source) -> str:
    candidates = _candidates(part, names, given)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise source.whole(
            f"Several columns may be the {part}: {_listed(candidates)}. "
            f"Say which with {part}= or --{part}."
        )
    if source.name is not None and any(re.fullmatch(NUMBER, name) for name in names):
        raise source.whole(
            f"The first line must hold the column names, got {_listed(names)}."
        )
    raise source.whole(
        f"No column for the {part} among {_listed(names) or 'none at all'}. "
        f"Say which it is with {part}= or --{part}."
    )


def is_alias(name: str, aliases: frozenset[str]) -> bool:
    """Return whether a column's name is one of these, but for case, blanks and id.

    Examples:
        >>> is_alias("Paper_ID", ALIASES["item"]), is_alias("mark", ALIASES["item"])
        (True, False)
    """
    words = re.sub(r"[_-]", " ", name.casefold()).split()
    plain = "".join(word for word in words if word not in ("id", "name", "number", "#"))
    return plain in aliases or plain.removesuffix("id") in aliases


def _listed(names: Sequence[str]) -> str:
    return listing(_short(name) for name in names)


def _short(name: str) -> str:
    return name if len(name) <= NAME_SHOWN else name[: NAME_SHOWN - 3] + "..."

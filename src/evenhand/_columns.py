"""Which column holds what: by option, by name, or by a well-known other name."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

from evenhand._labels import NUMBER, shown
from evenhand.errors import listing, unknown

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
    given = Columns(
        **{
            field.name: _named(getattr(given, field.name), names, source)
            for field in fields(Columns)
        }
    )
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
    text = unknown("column", name, [_short(known) for known in names])
    raise source.whole(text[:1].upper() + text[1:])


def _check_given(given: Columns, source: Source) -> None:
    """Refuse two options of which one would be left unused."""
    pairwise = given.winner or given.loser
    clashes = [
        ("score", "rank", given.score and given.rank),
        *(
            ("winner and loser", part, pairwise and getattr(given, part))
            for part in ("item", "score", "rank", "pair")
        ),
    ]
    for first, second, clash in clashes:
        if clash:
            raise source.whole(
                f"Columns for {first} and for {second} were both named. "
                "Name those of one kind of data."
            )


def _wanted(names: Sequence[str], given: Columns) -> tuple[str, ...]:
    def there(*parts: str) -> bool:
        return all(_candidates(part, names, given) for part in parts)

    scores = ("reviewer", "item", "score")
    ranks = ("reviewer", "item", "rank")
    comparisons = ("winner", "loser")
    if given.winner or given.loser:
        return comparisons
    if given.score or given.rank:
        return scores if given.score else ranks
    if there("item", "score"):
        return scores
    if there("item", "rank"):
        return ranks
    return comparisons if there(*comparisons) else scores


def _candidates(part: str, names: Sequence[str], given: Columns) -> list[str]:
    chosen = getattr(given, part)
    if chosen:
        return [chosen]
    taken = {getattr(given, field.name) for field in fields(Columns)}
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

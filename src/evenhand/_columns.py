"""Which column holds what: by option, by name, or by a well-known other name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

from evenhand.errors import listing, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._labels import Source

Kind = Literal["scores", "ranks", "comparisons"]

ALIASES: dict[str, frozenset[str]] = {
    "reviewer": frozenset(
        [
            "reviewer",
            "judge",
            "rater",
            "user",
            "worker",
            "annotator",
            "assessor",
            "grader",
            "evaluator",
            "referee",
            "participant",
            "reviewername",
        ]
    ),
    "item": frozenset(
        [
            "item",
            "paper",
            "submission",
            "entry",
            "project",
            "task",
            "candidate",
            "product",
            "proposal",
            "application",
            "variant",
            "assessee",
        ]
    ),
    "score": frozenset(["score", "rating", "grade", "mark", "label", "points"]),
    "rank": frozenset(["rank", "ranking", "position", "place"]),
    "winner": frozenset(["winner", "preferred", "better"]),
    "loser": frozenset(["loser", "rejected", "worse"]),
    "pair": frozenset(["pair"]),
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
        >>> find_columns(["Judge", "paper_id", "mark"], Columns(), Source()).score
        'mark'
    """
    for field in fields(Columns):
        name = getattr(given, field.name)
        if name and name not in names:
            raise source.whole(_sentence(unknown("column", name, names)))
    pairwise = bool(given.winner or given.loser)
    ranked = bool(given.rank) and not given.score
    if not pairwise and not ranked and _candidates("score", names, given):
        wanted = ["reviewer", "item", "score"]
    elif not pairwise and (ranked or _candidates("rank", names, given)):
        wanted = ["reviewer", "item", "rank"]
    elif pairwise or (
        _candidates("winner", names, given) and _candidates("loser", names, given)
    ):
        wanted = ["winner", "loser"]
    else:
        wanted = ["reviewer", "item", "score"]
    found = {part: _choose(part, names, given, source) for part in wanted}
    optional = "reviewer" if "winner" in wanted else "pair"
    found[optional] = _optional(optional, names, given)
    used = [name for name in found.values() if name]
    if len(set(used)) < len(used):
        twice = next(name for name in used if used.count(name) > 1)
        raise source.whole(
            f"Column {twice!r} is named for two things; name two columns."
        )
    return Columns(**found)


def _candidates(part: str, names: Sequence[str], given: Columns) -> list[str]:
    chosen = getattr(given, part)
    if chosen:
        return [chosen]
    exact = [name for name in names if name.strip().casefold() == part]
    return exact or [name for name in names if _plain(name) in ALIASES[part]]


def _choose(part: str, names: Sequence[str], given: Columns, source: Source) -> str:
    candidates = _candidates(part, names, given)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise source.whole(
            f"Several columns may be the {part}: {listing(candidates)}. "
            f"Say which with {part}= or --{part}."
        )
    raise source.whole(
        f"No column for the {part} among {listing(names) or 'none at all'}. "
        f"Say which it is with {part}= or --{part}."
    )


def _optional(part: str, names: Sequence[str], given: Columns) -> str:
    candidates = _candidates(part, names, given)
    return candidates[0] if len(candidates) == 1 else ""


def _plain(name: str) -> str:
    text = name.strip().casefold().replace("_", " ").replace("-", " ")
    words = [word for word in text.split() if word not in ("id", "name", "number", "#")]
    return "".join(words)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]

"""Exports: what a result holds, as tables for a spreadsheet or another program.

Each command names its tables. A table is a dataframe; `exported` turns one, or several
for a workbook, into a file that is safe to open whatever names the data brings.

The table "ratings" is what was read, in the long form and with codes instead of names
if those were asked for. Read again, it has the same hash; without codes, whoever gets
it can repeat the result.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand._outputs import Output
from evenhand._results import version
from evenhand.desk._export_files import SEVERAL, SUFFIXES, exported, suffix_of
from evenhand.desk._export_tables import Result, makers
from evenhand.errors import OptionError, unknown
from evenhand.lab.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from evenhand.ratings import Ratings

__all__ = [
    "SUFFIXES",
    "TABLES",
    "about",
    "export_outputs",
    "exported",
    "parse_export",
    "table_of",
]

TABLES = {
    "rank": ("ranking", "reviewers", "draws", "ratings"),
    "compare": ("comparison", "ratings"),
    "check": ("reviewers", "contradictions", "findings", "ladder", "ratings"),
}
"""Tables of each command; the first is the default."""
ALL = "all"
"""Every table of a command, for a format that holds several."""
WORD = re.compile(r"[A-Za-z]*")


def parse_export(text: str, command: str) -> tuple[str, str]:
    """Take apart what was given to --export: [TABLE=]PATH.

    What stands before the first "=" is a table if it is a plain word; anything else, as
    in "./a=b.csv", is part of the path. "ranking=a=b.csv" writes to "a=b.csv".

    Args:
        text: What was given.
        command: "rank", "compare" or "check".

    Returns:
        The table, or "all", and the path.

    Raises:
        OptionError: If there is no such table, no path, or the suffix is unknown.

    Examples:
        >>> parse_export("out.xlsx", "rank"), parse_export("draws=coins.csv", "rank")
        (('ranking', 'out.xlsx'), ('draws', 'coins.csv'))
        >>> parse_export("draws=coins.csv", "compare")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: unknown table 'draws'. Known tables: 'comparison',
        'ratings', 'all'. A file name with '=' goes after a table: comparison=NAME.
    """
    known = TABLES[command]
    head, sign, rest = text.partition("=")
    table, path = known[0], text
    if sign and WORD.fullmatch(head):
        table, path = head.casefold(), rest
    if table not in (*known, ALL):
        raise OptionError(
            f"{unknown('table', head, (*known, ALL))} A file name with '=' goes after "
            f"a table: {known[0]}=NAME."
        )
    if not path.strip():
        raise OptionError(f"export must be [TABLE=]PATH, got {text!r}.")
    suffix = suffix_of(path)
    if table == ALL and suffix not in SEVERAL:
        raise OptionError(
            f"export of 'all' must be a file that holds several tables, got {path!r}. "
            f"Known suffixes: {', '.join(map(repr, SEVERAL))}."
        )
    return table, path


def table_of(
    what: str, ratings: Ratings, result: Result, check: Check | None = None
) -> pl.DataFrame:
    """Return one table of a result.

    Args:
        what: Name of the table.
        ratings: What was rated.
        result: The ranking, comparison or check.
        check: The check of the same ratings, for the reviewers of a ranking.

    Returns:
        The table. A number that is not known is null. Integer labels that no column of
        64 bits holds are text.

    Raises:
        OptionError: If the result has no such table, or it needs a check.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> table_of("ranking", ratings, rank(ratings, rng=7))["item"].to_list()
        ['y', 'x']
    """
    known = makers(ratings, result, check)
    if what not in known:
        raise OptionError(unknown("table", what, known))
    return known[what]()


def about(ratings: Ratings, result: Result) -> dict[str, str | int]:
    """Say where tables came from, and what they may claim.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> about(ratings, rank(ratings, method="mean", rng=7))["seed"]
        '7'
    """
    given = {name: it for name, it in result.parameters.items() if it is not None}
    facts: dict[str, str | int | None] = {
        "made by": f"evenhand {version()}",
        "method": "check" if isinstance(result, Check) else result.method,
        "options": json.dumps(given, ensure_ascii=False, default=str)
        if given
        else None,
        "seed": str(result.seed),
        "read as": ratings.read_as or None,
        "reviewers": ratings.n_reviewers,
        "items": ratings.n_items,
        "kind of ratings": ratings.kind,
        "ratings": ratings.n_ratings,
        "hash of the ratings": ratings.sha256,
    }
    if not isinstance(result, Check) and result.certificate is not None:
        facts["what this may claim"] = result.certificate.sentence
    for number, notice in enumerate(result.notices, start=1):
        facts[f"note {number}"] = notice.message
    return {name: fact for name, fact in facts.items() if fact is not None}


def export_outputs(
    exports: Iterable[tuple[str, str]],
    ratings: Ratings,
    result: Result,
    check: Check | None = None,
) -> list[Output]:
    """Return the files to write; tables for one path go into one file.

    Args:
        exports: Table and path of each, as `parse_export` gives them.
        ratings: What was rated.
        result: The ranking, comparison or check.
        check: The check of the same ratings, for the reviewers of a ranking.

    Returns:
        A file for each path.

    Raises:
        OptionError: If a format cannot hold what it is asked to.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> found = rank(ratings, method="mean", rng=7)
        >>> wanted = [("ranking", "a.xlsx"), ("draws", "a.xlsx"), ("ratings", "b.csv")]
        >>> [output.path for output in export_outputs(wanted, ratings, found)]
        ['a.xlsx', 'b.csv']
    """
    paths: dict[Path, str] = {}
    wanted: dict[Path, dict[str, pl.DataFrame]] = {}
    for what, path in exports:
        place = Path(path).resolve()
        paths.setdefault(place, path)
        tables = wanted.setdefault(place, {})
        for name in makers(ratings, result, check) if what == ALL else (what,):
            tables[name] = table_of(name, ratings, result, check)
    facts = about(ratings, result)
    return [
        Output(path, exported(wanted[place], path, facts))
        for place, path in paths.items()
    ]

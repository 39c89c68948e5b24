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
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from evenhand._outputs import Output
from evenhand.ab.comparison import Comparison
from evenhand.claims import version
from evenhand.diagnosis.check import Check
from evenhand.errors import OptionError, unknown
from evenhand.grading import Grades
from evenhand.ranking.results import Ranking
from evenhand.words.export_files import SEVERAL, exported, suffix_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from evenhand.claims import Label
    from evenhand.ratings import Ratings

    Maker = Callable[..., pl.DataFrame]

Result = Ranking | Comparison | Check | Grades
Kinds: TypeAlias = dict[str, type[pl.DataType]]

ALL = "all"
"""Every table of a command, for a format that holds several."""
WORD = re.compile(r"[A-Za-z]*")
EXACT_WHOLE = 2.0**53
INT64 = 2**63
# Fields of what a table is made of, and their types.
RANKED = (
    *("rank", "item", "rank_low", "rank_high", "group", "mean_rank", "reviews"),
    *("mean_score", "spread", "estimate", "error", "p_top", "side"),
    "settled_by_chance",
)
REVIEWER: Kinds = {
    "strictness": pl.String,
    "offset": pl.Float64,
    "offset_se": pl.Float64,
    "spread": pl.String,
    "slope": pl.Float64,
    "slope_se": pl.Float64,
    "agreement": pl.String,
    "correlation": pl.Float64,
}
RUNG: Kinds = {
    **dict.fromkeys(("assumption", "method"), pl.String),
    **dict.fromkeys(("accuracy", "se", "behind", "behind_se"), pl.Float64),
}
FINDING: Kinds = {"code": pl.String, "message": pl.String}


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
    known = MAKERS[command_of(result)]
    if what not in known:
        raise OptionError(unknown("table", what, known))
    asked = isinstance(result, Ranking) and what == "reviewers"
    return known[what](ratings.public, check if asked else result)


def command_of(result: Result) -> str:
    """Name the command that gives such a result.

    Examples:
        >>> from evenhand import compare
        >>> command_of(compare([3], [2], rng=7))
        'compare'
    """
    if isinstance(result, Ranking):
        return "rank"
    if isinstance(result, Grades):
        return "grade"
    return "compare" if isinstance(result, Comparison) else "check"


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
        for name in TABLES[command_of(result)] if what == ALL else (what,):
            tables[name] = table_of(name, ratings, result, check)
    facts = about(ratings, result)
    return [
        Output(path, exported(wanted[place], path, facts))
        for place, path in paths.items()
    ]


def _labels(labels: Sequence[Label]) -> pl.Series:
    small = all(isinstance(label, int) and -INT64 <= label < INT64 for label in labels)
    if small and labels:
        return pl.Series(labels, dtype=pl.Int64)
    return pl.Series([str(label) for label in labels], dtype=pl.String)


def _fields(rows: Sequence[object], kinds: Kinds, **names: str) -> pl.DataFrame:
    """Return fields of all rows, some under other names; a row of None has none."""
    columns = {kind: [getattr(row, kind, None) for row in rows] for kind in kinds}
    return pl.DataFrame(columns, schema=kinds).rename(names)


def _titled(
    frame: pl.DataFrame, items: Sequence[str], ratings: Ratings
) -> pl.DataFrame:
    """Put items' titles, if any item has one, beside their labels."""
    titles = {str(item): title for item, title in ratings.titles.items()}
    for name in items if titles else ():
        called = [titles.get(str(item), "") for item in frame[name]]
        title = "title" if name == "item" else f"{name}_title"
        column = pl.Series(title, called, dtype=pl.String)
        frame = frame.insert_column(frame.get_column_index(name) + 1, column)
    return frame


def _ranking(ratings: Ratings, result: Ranking) -> pl.DataFrame:
    drawn = {item for draw in result.draws for item in draw.items}
    settled = pl.Series("settled_by_chance", [item in drawn for item in result.order])
    frame = result.to_frame().rename({"bucket": "group"}).with_columns(settled)
    absent = {"p_top", "side"} if result.top is None else set()
    shown = [name for name in RANKED if name not in absent]
    return _titled(frame.select(shown), ["item"], ratings)


def _reviewers(ratings: Ratings, check: Check | None) -> pl.DataFrame:
    if check is None:
        raise OptionError("The table 'reviewers' of a ranking needs a check.")
    loads = np.bincount(ratings.reviewer_codes, minlength=ratings.n_reviewers)
    means: list[float | None] = [None] * ratings.n_reviewers
    if ratings.kind == "scores":
        # A weighted sum could overflow where each score over its count does not.
        shares = ratings.preference / loads[ratings.reviewer_codes]
        means = np.bincount(ratings.reviewer_codes, weights=shares).tolist()
    counts = {
        "reviewer": _labels(ratings.reviewer_labels),
        "ratings": pl.Series(loads, dtype=pl.Int64),
        "mean_score": pl.Series(means, dtype=pl.Float64),
    }
    people = check.reviewers or [None] * ratings.n_reviewers
    told = _fields(people, REVIEWER, offset_se="offset_error", slope_se="slope_error")
    return pl.concat([pl.DataFrame(counts), told], how="horizontal")


def _draws(_: Ratings, result: Ranking) -> pl.DataFrame:
    draws = result.draws
    label = _labels([it for draw in draws for it in draw.items]).dtype
    people = _labels([it for draw in draws for it in draw.reviewers]).dtype

    def as_kind(labels: Iterable[Label], kind: pl.DataType) -> list[Label]:
        return [it if kind == pl.Int64 else str(it) for it in labels]

    who = [as_kind(draw.reviewers, people) for draw in draws]
    anchors = [[as_kind(it, label) for it in draw.anchors] for draw in draws]
    return pl.DataFrame(
        {
            "first_item": _labels([draw.items[0] for draw in draws]),
            "second_item": _labels([draw.items[1] for draw in draws]),
            "p_first": pl.Series([draw.p_first for draw in draws], dtype=pl.Float64),
            "put_first": _labels([draw.first for draw in draws]),
            "reviewers": pl.Series(who, dtype=pl.List(people)),
            "anchors": pl.Series(anchors, dtype=pl.List(pl.List(label))),
        }
    )


def _comparison(ratings: Ratings, result: Comparison) -> pl.DataFrame:
    claim = None if result.certificate is None else result.certificate.sentence
    sides = {"first": result.items[0], "second": result.items[1]}
    labels = {**sides, "winner": result.winner}
    frame = result.to_frame().with_columns(
        *(_labels([label]).alias(name) for name, label in labels.items()),
        pl.Series("may_claim", [claim], dtype=pl.String),
    )
    last = ("method", "seed", "may_claim")
    frame = frame.select(pl.exclude(last), *last).rename(
        {"p_first_se": "p_first_error"}
    )
    return _titled(frame, [*sides], ratings)


def _grades(ratings: Ratings, result: Grades) -> pl.DataFrame:
    return _titled(result.to_frame(), ["item"], ratings)


def _contradictions(ratings: Ratings, found: Check) -> pl.DataFrame:
    worst, sides = found.contradictions.worst, ("first", "second")
    labels = {
        side: _labels([pair.items[end] for pair in worst])
        for end, side in enumerate(sides)
    }
    votes = {
        f"{side}_above": pl.Series([pair.votes[end] for pair in worst], dtype=pl.Int64)
        for end, side in enumerate(sides)
    }
    return _titled(pl.DataFrame(labels | votes), sides, ratings)


def _findings(_: Ratings, found: Check) -> pl.DataFrame:
    return _fields(found.findings, FINDING, message="finding")


def _ladder(_: Ratings, found: Check) -> pl.DataFrame:
    rungs = () if found.ladder is None else found.ladder.rungs
    verdict = "" if found.ladder is None else found.ladder.verdict
    table = _fields(rungs, RUNG, se="accuracy_error", behind_se="behind_error")
    return table.with_columns(verdict=pl.col("assumption") == verdict)


def _ratings(ratings: Ratings, _: object) -> pl.DataFrame:
    """Return what was read, so that reading it again gives the same ratings."""
    if ratings.kind == "comparisons":
        return _pairs(ratings)
    columns = {
        "reviewer": _labels(ratings.reviewer_labels).gather(ratings.reviewer_codes),
        "item": _labels(ratings.item_labels).gather(ratings.item_codes),
        "score" if ratings.kind == "scores" else "rank": _shortest(
            ratings.preference if ratings.kind == "scores" else 0.0 - ratings.preference
        ),
    }
    if ratings.pair_codes is not None:
        columns["pair"] = _labels(ratings.pair_labels).gather(ratings.pair_codes)
    if ratings.weights is not None:
        columns["weight"] = _shortest(ratings.weights)
    return pl.DataFrame(columns)


def _pairs(ratings: Ratings) -> pl.DataFrame:
    # Each comparison is a reviewer with two rows, and rows go by reviewer.
    items = ratings.item_codes.reshape(-1, 2)
    above = ratings.preference.reshape(-1, 2).argmax(axis=1)
    labels = _labels(ratings.item_labels)
    row = np.arange(len(items))
    columns = {
        "winner": labels.gather(items[row, above]),
        "loser": labels.gather(items[row, 1 - above]),
    }
    people = ratings.reviewer_labels
    if isinstance(people[0], str):
        names = [str(label).rpartition("#")[0] for label in people]
        columns = {"reviewer": _labels(names), **columns}
    return pl.DataFrame(columns)


def _shortest(numbers: NDArray[np.float64]) -> pl.Series:
    whole = (np.round(numbers) == numbers) & (np.abs(numbers) < EXACT_WHOLE)
    return pl.Series(numbers, dtype=pl.Int64 if whole.all() else pl.Float64)


# What makes each table of a command; the first is the default.
MAKERS: dict[str, dict[str, Maker]] = {
    "rank": {
        "ranking": _ranking,
        "reviewers": _reviewers,
        "draws": _draws,
        "ratings": _ratings,
    },
    "grade": {"grades": _grades, "ratings": _ratings},
    "compare": {"comparison": _comparison, "ratings": _ratings},
    "check": {
        "reviewers": _reviewers,
        "contradictions": _contradictions,
        "findings": _findings,
        "ladder": _ladder,
        "ratings": _ratings,
    },
}
TABLES = {command: tuple(makers) for command, makers in MAKERS.items()}
"""Tables of each command; the first is the default."""

"""Wide tables: items by reviewers, or the other way round, as the user says.

Nothing in a wide table tells which way round it is, so it is never guessed. Nothing
tells a reviewer's column from another column of numbers either; a column that is named
like a summary, a number or a remark is refused.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.claims import Notice
from evenhand.columns import ALIASES, Columns, Source
from evenhand.errors import OptionError, RatingsError, counted, listing, shown
from evenhand.formats import layouts
from evenhand.formats.scale import given, is_number, may_be_scores, scored
from evenhand.formats.tables import Table, plain, strings

Floats = NDArray[np.float64]

OTHER_WAY = {"item": "reviewer", "reviewer": "item"}
TITLES = frozenset({"title", "item title", "paper title", "submission title"})
OF_SCORES = r"(?:scores?|ratings?|grades?|marks?|points|reviews?|reviewers?|evaluation)"
SUMMARY = re.compile(
    r"(?:(?:weighted|overall|grand|final|sub|adjusted|normali[sz]ed) ?)?"
    r"(?:mean|average|avg|total|sum|median|rank|ranking|stdev|stddev|std|sd|std dev|"
    r"standard deviation|variance|var|minimum|maximum|count|n|result|overall|"
    r"(?:min|max)(?= )|mittel|mittelwert|durchschnitt|schnitt|summe|gesamt|rang|"
    r"standardabweichung|moyenne|somme|ecart type|mediane?|mediana|promedio|suma|"
    r"gemiddelde)"
    rf"(?: (?:of )?{OF_SCORES})?|"
    rf"(?:weighted|overall|final|combined|adjusted|aggregate|total) {OF_SCORES}|"
    rf"{OF_SCORES} (?:mean|average|avg|total|sum|median|rank|sd|std|stdev|count)|"
    r"[\u03bc\u03c3\u00f8\u2205\u2211]"
)
"""Names of summaries, some of them in other languages; numbers tell the rest."""
WEIGHTS = re.compile(r"weights?|weighting|gewicht|max points|points possible|out of")
OTHER = re.compile(
    r"#|no\.?|nr\.?|number|index|row|line|id|key|code|"
    r"(?:item|paper|submission|project|entry|student|user|reviewer|judge|team) "
    r"?(?:#|no\.?|nr\.?|number|id|name|email|count)|"
    r"year|date|time|timestamp|month|day|deadline|age|"
    r"track|area|topics?|keywords?|category|session|type|kind|format|language|group|"
    r"section|department|school|course|class|country|institution|affiliation|"
    r"title|name|first name|last name|surname|e ?mail|url|link|doi|phone|"
    r"authors?|supervisor|abstract|description|summary|"
    r"comments?|remarks?|notes?|feedback|text|"
    r"decision|status|state|accept|accepted|reject|rejected|outcome|"
    r"(?:.* )?(?:confidence|expertise|familiarity)|weight|"
    r"pages|words|length|size|version|budget|cost|price|amount|votes"
)
EXTREMES = {"max": np.fmax, "min": np.fmin}
"""Summaries that are first names too; the numbers tell which."""
ROLES = frozenset().union(*ALIASES.values()) - {"mark"}
"""Names of the columns of a long table; Mark is a first name too."""
LEAST = 2
A = {"item": "an item", "reviewer": "a reviewer"}
EDGE = 6
LEAST_MATCHES = 3
MOST_CELLS = 200
SLACK = 1e-9


def tell(table: Table) -> str:
    """Say why a table looks wide: labels first, then columns of numbers only."""
    names = [name for name in table.columns if plain(name) not in TITLES]
    cells = [table.cells(name) for name in names]
    numeric = [_is_numeric(values) for values in cells]
    if table.corner is not None:
        return "an empty corner and columns of numbers" if any(numeric) else ""
    if len(names) <= LEAST or not all(numeric[1:]) or is_number(names[0]):
        return ""
    if any(plain(name) in ROLES for name in names[1:]):
        return ""
    if not numeric[0]:
        return "one column of labels and columns of numbers"
    scores = [_numbers_of(values) for values in cells[1:]]
    # Numbers on one scale share a range.
    shared = max(map(np.nanmin, scores)) <= min(map(np.nanmax, scores))
    alike = shared and cells[0].n_unique() == len(cells[0])
    return "columns of numbers only" if alike else ""


def take(table: Table, asked: layouts.Asked) -> layouts.Long:
    """Take one rating from each filled cell.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> table = Table.of({"talk": ["x", "y"], "Anna": [3, None]}, Source())
        >>> take(table, Asked(rows="items")).notices
        [Notice(code='unrated_items', message="Items without any score are not in the
        result: 'y'.")]
    """
    _check_asked(table, asked)
    parts = _parts(table, asked)
    filled = np.column_stack([(cell != "").to_numpy() for cell in parts.cells])
    if not filled.any():
        raise table.source.whole("There is no rating: every cell is empty.")
    _check_labels(table.source, parts, filled)
    _check_summaries(table.source, parts)
    rows, columns = np.nonzero(filled)
    across = layouts.cut(parts.across)
    cells = pl.concat([cell.alias("score") for cell in parts.cells])
    found = {
        parts.down: parts.labels.gather(rows),
        parts.other: pl.Series(across).gather(columns),
        "score": cells.gather(columns * len(parts.labels) + rows),
    }
    # Reviewers are counted, not named: this stands in anonymised results too.
    listed = f": {listing(across)}" if parts.other == "item" else ""
    anew = layouts.numbered_anew("reviewer", found["reviewer"], found["item"])
    return layouts.Long(
        Table(found, table.source.keep(rows.tolist())),
        Columns("reviewer", "item", "score"),
        f"{parts.down}s in the rows ({parts.name}), {parts.other}s in "
        f"{counted(len(across), 'column')}{listed}",
        parts.titles,
        [*_unused(parts, filled), *anew],
    )


class _Parts(NamedTuple):
    """A wide table taken apart.

    Attributes:
        down: What the rows are, "item" or "reviewer".
        other: What the columns are.
        name: Where the labels of the rows stand.
        labels: The label of each row, empty where there is none.
        across: Names of the columns of scores.
        cells: Their cells as text, empty where there is no score.
        titles: What people call an item.
    """

    down: str
    other: str
    name: str
    labels: pl.Series
    across: list[str]
    cells: list[pl.Series]
    titles: dict[str, str]


def _check_asked(table: Table, asked: layouts.Asked) -> None:
    if not asked.rows:
        raise table.source.whole(
            "This looks like a wide table. Say what its rows are with rows= or --rows: "
            "'items' (a column for each reviewer) or 'reviewers' (a column for each "
            "item). If each row is one rating instead, name its columns with "
            "--reviewer, --item and --score."
        )
    labels = asked.rows.removesuffix("s")
    if asked.rows != f"{labels}s" or labels not in OTHER_WAY:
        raise OptionError(
            f"rows must be 'items' or 'reviewers', got {shown(asked.rows)}."
        )
    for part in asked.columns.__slots__:
        if part != labels and getattr(asked.columns, part):
            raise OptionError(
                f"{part} must be left out for a wide table with rows={asked.rows!r}: "
                f"only {labels}= or --{labels} can name a column, that of the labels."
            )
    if table.nameless:
        raise table.source.whole(
            f"{counted(table.nameless, 'column')} without a name but with values. Name "
            "it or empty it."
        )


def _parts(table: Table, asked: layouts.Asked) -> _Parts:
    down = asked.rows.removesuffix("s")
    other = OTHER_WAY[down]
    names = list(table.columns)
    first = getattr(asked.columns, down)
    if first and first not in names:
        raise table.source.unknown("column", first, names)
    labels = table.corner
    if first or labels is None:
        first = first or names[0]
        labels = table.columns[first]
    if is_number(first):
        raise table.source.whole(
            f"The first line must hold the column names, got {listing(names)}."
        )
    labels = strings(labels)
    name = f"column {first!r}" if first else "first column"
    title = next((one for one in names if plain(one) in TITLES and one != first), "")
    titles = {}
    if title and down == "item":
        titles = layouts.titled(labels, table.texts(title))
        names.remove(title)
    across = [one for one in names if one != first]
    if not across:
        raise table.source.whole(f"There is no column of {A[other]}.")
    cells = [*map(table.cells, across)]
    parts = _Parts(down, other, name, labels, across, cells, titles)
    for column, values in zip(across, cells, strict=True):
        _check_column(table.source, column, given(values), parts)
    return parts


def _check_column(source: Source, column: str, cells: pl.Series, parts: _Parts) -> None:
    """Refuse a column that does not hold the scores of one reviewer or item."""
    name = plain(column)
    mostly_words = 2 * int(scored(cells).sum()) < len(cells)
    if SUMMARY.fullmatch(_bare(column)):
        raise _summary(source, f"Column {shown(column)}", parts.other)
    if OTHER.fullmatch(name) or OTHER.fullmatch(_bare(name)) or name in ROLES:
        what = f"does not look like {A[parts.other]}"
    elif mostly_words and not may_be_scores(cells.unique()):
        what = "holds text, not scores"
    else:
        return
    raise source.whole(
        f"Column {shown(column)} {what}. Remove or rename it; if it holds the labels "
        f"of the {parts.down}s, name it with {parts.down}= or --{parts.down}."
    )


def _check_labels(source: Source, parts: _Parts, filled: NDArray[np.bool_]) -> None:
    rated = filled.any(axis=1)
    nameless = np.flatnonzero(rated & (parts.labels == "").to_numpy())
    if len(nameless):
        raise source.at(int(nameless[0]), f"{parts.down} must be given, got nothing")
    # No name of a summary has a digit, and most labels of large tables have one.
    names = parts.labels.filter(~parts.labels.str.contains(r"\d"))
    for label in names.unique(maintain_order=True):
        if SUMMARY.fullmatch(_bare(label)) or WEIGHTS.fullmatch(_bare(label)):
            raise _summary(source, f"Row {shown(label)}", parts.down)


def _bare(name: str) -> str:
    """Reduce a name to its words: "Score (avg.)" is "score avg"."""
    text = unicodedata.normalize("NFKD", plain(name))
    kept = "".join(one for one in text if not unicodedata.combining(one))
    return " ".join(re.sub(r"[^\w#\u2211\u2205]+", " ", kept).split())


def _check_summaries(source: Source, parts: _Parts) -> None:
    """Refuse rows and columns whose numbers are a summary of the others."""
    numbers = np.column_stack([_numbers_of(cell) for cell in parts.cells])
    for table, labels, kind, what in (
        (numbers.T, parts.across, "Column", parts.other),
        (numbers, parts.labels, "Row", parts.down),
    ):
        for place, label in enumerate(labels):
            # Summaries do not stand in the middle.
            if EDGE <= place < len(labels) - EDGE and label.casefold() not in EXTREMES:
                continue
            cells = table[:, :MOST_CELLS]
            cells = cells[:, np.isfinite(cells[place])]
            statistic = _statistic(
                cells[place], np.delete(cells, place, axis=0), label
            ) or _statistic(cells[place], cells[:place], label)
            if statistic:
                raise source.whole(
                    f"{kind} {shown(label)} is the {statistic} of others wherever it "
                    f"is given: it looks like a summary, not like {A[what]}. Remove "
                    f"it; if it is {A[what]}, give the ratings in the long form."
                )


def _statistic(values: Floats, others: Floats, label: str) -> str:
    """Say which summary of the other lines a line is, if of any.

    Args:
        values: Its cells.
        others: The same cells of other lines, NaN where there is none.
        label: The name of the line; an extreme must be called so.

    Examples:
        >>> _statistic(np.array([2, 3, 3.5]), np.array([[1, 4, 2], [3, 2, 5]]), "all")
        'mean'
    """
    if len(others) < LEAST or len(values) == 0:
        return ""
    extreme = EXTREMES.get(label.casefold())
    if extreme and (extreme.reduce(others, axis=0) == values).all():
        return label
    decimals = next((it for it in range(9) if (values.round(it) == values).all()), 9)
    # How far rounding may have moved the numbers; whole ones are exact.
    slack = (0.5 * 10.0**-decimals if decimals else 0.0) + SLACK * (1 + np.abs(values))
    sums, counts = np.nansum(others, axis=0), np.isfinite(others).sum(axis=0)
    # Where reviewers agree, cells say nothing, and one says what its like say again.
    new = (others != values).all(axis=0)
    telling = np.unique(np.vstack([values, others])[:, new], axis=1).shape[1]
    for name, divisor in (("mean", np.maximum(counts, 1)), ("sum", 1)):
        near = (np.abs(sums / divisor - values) <= slack).all()
        if near and telling >= LEAST_MATCHES:
            return name
    return ""


def _summary(source: Source, place: str, what: str) -> RatingsError:
    return source.whole(
        f"{place} looks like a summary, not like {A[what]}. Remove or rename it."
    )


def _unused(parts: _Parts, filled: NDArray[np.bool_]) -> list[Notice]:
    """Say which items have no score, and how many reviewers."""
    rated = parts.labels.filter(pl.Series(filled.any(axis=1)))
    idle = parts.labels.filter(~parts.labels.is_in(["", *rated]))
    unused = {
        parts.down: idle.unique(maintain_order=True).to_list(),
        parts.other: [parts.across[it] for it in np.flatnonzero(~filled.any(axis=0))],
    }
    notices = []
    if items := unused["item"]:
        text = f"Items without any score are not in the result: {listing(items)}."
        notices.append(Notice("unrated_items", text))
    if reviewers := unused["reviewer"]:
        text = f"{counted(len(reviewers), 'reviewer')} without any score left out."
        notices.append(Notice("idle_reviewers", text))
    return notices


def _is_numeric(values: pl.Series) -> bool:
    cells = given(values)
    return len(cells) > 0 and bool(scored(cells).all())


def _numbers_of(cells: pl.Series) -> Floats:
    """Return texts as numbers, NaN where there is none.

    Examples:
        >>> _numbers_of(pl.Series(["1.5", "", "B"])).tolist()
        [1.5, nan, nan]
    """
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


WIDE = layouts.Layout("wide", "a wide table", take, tell=tell, only_scores=False)

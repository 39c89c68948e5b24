"""Wide tables: items by reviewers, or the other way round, as the user says.

Nothing in a wide table tells which way round it is, so it is never guessed. Nothing
tells a reviewer's column from another column of numbers either; a column that is named
like a summary, a number or a remark is refused.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.claims import few
from evenhand.columns import ALIASES, Columns, Source, is_alias
from evenhand.errors import (
    RatingsError,
    listing,
    must_be,
    plural,
    quote,
    refuse_option,
    shell_word,
)
from evenhand.formats import layouts, roles
from evenhand.formats.scale import are_scores, filled_cells, is_number, may_be_scores
from evenhand.formats.tables import Table, plain, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]

OTHER_WAY = {"item": "reviewer", "reviewer": "item"}
SUMMARY = re.compile(
    r"(?:weighted |overall |grand |final |sub ?|adjusted |normali[sz]ed |scores? )*"
    r"(?:mean|average|avg|total|sum|median|rank|ranking|stdev|stddev|std|sd|std dev|"
    r"standard deviation|variance|var|min|max|minimum|maximum|count|n|result|overall|"
    r"(?:final|combined|aggregate|weighted|adjusted) score|mittel|mittelwert|schnitt|"
    r"durchschnitt|summe|gesamt|rang|standardabweichung|moyenne|somme|ecart type|"
    r"mediane?|mediana|promedio|suma|gemiddelde|weights?|max points|out of|"
    r"[\u03bc\u03c3\u00f8\u2205\u2211])"
    r"(?: (?:of )?(?:scores?|ratings?|grades?|marks?|points|reviews?|reviewers?))?"
)
"""Names of summaries, some of them in other languages; numbers tell the rest."""
OTHER = re.compile(
    r"#|no|nr|number|index|row|line|id|key|code|phone|"
    r"(?:item|paper|submission|project|entry|student|user|reviewer|judge|team) "
    r"?(?:#|no|nr|number|id|count)|year|date|time|timestamp|month|day|deadline|age|"
    r"track|session|group|section|class|accept|accepted|reject|rejected|decision|"
    r"(?:.* )?(?:confidence|expertise|familiarity) ?[0-9]*|"
    r"pages|words|length|size|version|budget|cost|price|amount|votes"
)
"""Names of other columns of numbers; those of words are refused for their words."""
COUNT = re.compile(
    r".* (?:numbers?|counts?|ids?|index)|(?:num|number of|count of|n of|# of) .*"
)
"""Names of counts and ids, if their numbers are none that others hold."""
ROLES = frozenset().union(*ALIASES.values()) - {"mark"}
"""Names of the columns of a long table; Mark is a first name too."""
REVIEW_NUMBER = re.compile(r"(?:(?:review(?:er)?|rating|score|r) ?)?[0-9]{1,2}")
LEAST = 2
LONG_FORM = "If it is one, give the ratings in the long form"
A = {"item": "an item", "reviewer": "a reviewer"}
EDGE = 6
"""Summaries do not stand further inside a table."""
LEAST_MATCHES = 3
FAR, LEAST_SPREAD = 5, 20
"""A count is spread so many times as widely as all items, and at least so widely."""
MOST_CELLS = 200
SLACK = 1e-9


def recognise(table: Table, _: layouts.ReadOptions) -> str:
    """Say why a table looks wide: labels first, then columns of numbers only."""
    if reviews := _review_columns(table):
        return f"column {next(iter(table.columns))!r} and columns {listing(reviews)}"
    names = [name for name in table.columns if not roles.TITLE.fullmatch(plain(name))]
    cells = [filled_cells(table.columns[name]) for name in names]
    numeric = [len(values) > 0 and are_scores(values).all() for values in cells]
    if table.corner is not None:
        return "an empty corner and columns of numbers" if any(numeric) else ""
    numbers = is_number(names[0]) and table.named is None
    if len(names) <= LEAST or not all(numeric[1:]) or numbers:
        return ""
    long = any(plain(name) in ROLES for name in names[1:])
    return "" if long else "columns of numbers"


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take one rating from each filled cell.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> table = Table.of({"talk": ["x", "y"], "Anna": [3, None]}, Source())
        >>> read(table, ReadOptions(rows="items")).table.notices
        (DataWarning(code='unrated_items', facts={'noun': 'score', 'items': {'first':
        ['y'], 'number': 1}}),)
    """
    reviews = [] if options.rows else _review_columns(table)
    if reviews:
        options, table = replace(options, rows="items"), _keep_reviews(table, reviews)
    _check_options(table, options)
    parts = _parts(table, options)
    filled = np.column_stack([(cell != "").to_numpy() for cell in parts.cells])
    if not filled.any():
        raise table.source.whole("There is no rating: every cell is empty.")
    _check_lines(table.source, _without(parts, options.exclude))
    rows, columns = np.nonzero(filled)
    across = roles.drop_prefix(parts.across)
    cells = pl.concat([cell.alias("score") for cell in parts.cells])
    ratings = {
        parts.down: parts.labels.gather(rows),
        parts.other: pl.Series(across).gather(columns),
        "score": cells.gather(columns * len(parts.labels) + rows),
    }
    left_out = _excluded_labels(options.exclude)
    kept = [label for label in across if label not in left_out]
    # Reviewers are counted, not named: this stands in anonymised results too.
    listed = f": {listing(kept)}" if parts.other == "item" else ""
    description = f"{parts.down}s in the rows ({parts.name}), {parts.other}s in "
    description += f"{plural(len(kept), 'column')}{listed}"
    source = table.source.keep(rows.tolist())
    table = _say_unused_labels(
        replace(table, columns=ratings, source=source), parts, filled
    )
    seats = False
    if parts.other == "reviewer" and options.people is None:
        rated = ~ratings["reviewer"].is_in([*left_out])
        scores = {name: values.filter(rated) for name, values in ratings.items()}
        judged = replace(table, columns=scores)
        judged, seats = roles.find_seats(judged, "reviewer", "item", bare=True)
        table = replace(table, notices=judged.notices)
    names = Columns("reviewer", "item", "score")
    return layouts.LongForm(table, names, description, parts.titles, seats=seats)


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


def _check_options(table: Table, options: layouts.ReadOptions) -> None:
    if not options.rows:
        raise _ask_rows(table, options)
    labels = options.rows.removesuffix("s")
    if options.rows != f"{labels}s" or labels not in OTHER_WAY:
        raise must_be("rows", "'items' or 'reviewers'", options.rows)
    why = f"for a wide table: only {labels}= or --{labels} can name a column"
    for part in options.columns.__slots__:
        if part != labels:
            refuse_option(part, getattr(options.columns, part), why)
    if table.nameless:
        text = "A column without a name holds values. Name it or empty it."
        raise table.source.whole(text)


def _ask_rows(table: Table, options: layouts.ReadOptions) -> RatingsError:
    """Ask what the rows are, and say at once which columns do not belong."""
    question = table.source.whole(
        "This looks like a wide table. Say what its rows are with rows= or --rows: "
        "'items' (a column for each reviewer) or 'reviewers' (a column for each "
        "item). If each row is one rating instead, name its columns with "
        "--reviewer, --item and --score."
    )
    try:
        parts = _parts(table, replace(options, rows="reviewers"))
        _check_lines(table.source, _without(parts, options.exclude))
    except RatingsError as error:
        sentence = str(error).removeprefix(str(table.source.whole("")))
        return RatingsError(f"{question} {sentence}")
    return question


def _review_columns(table: Table) -> list[str]:
    """Return columns that hold the reviews of the item that the first column names.

    They are numbered, and items fill them from the first on, some more and some fewer:
    so rows are items, and a column is nobody's.
    """
    first, *others = [*table.columns, ""]
    reviews = [name for name in others if REVIEW_NUMBER.fullmatch(plain(name))]
    if len(reviews) < LEAST or not is_alias(first, ALIASES["item"]):
        return []
    cells = [table.cells(name) for name in reviews]
    filled = pl.concat([filled_cells(cell) for cell in cells])
    if table.corner is not None or not are_scores(filled).all():
        return []
    rows, columns = np.nonzero(np.column_stack([(cell != "") for cell in cells]))
    ratings = {
        "reviewer": pl.Series(reviews).gather(columns),
        "item": table.cells(first).gather(rows),
    }
    return reviews if roles.find_seats(Table(ratings, Source()), *ratings)[1] else []


def _keep_reviews(table: Table, reviews: Sequence[str]) -> Table:
    """Leave out the columns that are no reviews, and say which."""
    first, *others = table.columns
    kept = [first, *(name for name in others if roles.TITLE.fullmatch(plain(name)))]
    columns = {name: table.columns[name] for name in (*kept, *reviews)}
    left_out = [name for name in others if name not in columns]
    table = replace(table, columns=columns)
    if not left_out:
        return table
    return table.warn("other_columns", columns=len(left_out), names=few(left_out))


def _parts(table: Table, options: layouts.ReadOptions) -> _Parts:
    down = options.rows.removesuffix("s")
    opposite = OTHER_WAY[down]
    names = list(table.columns)
    first = getattr(options.columns, down)
    if first and first not in names:
        raise table.source.unknown("column", first, names)
    labels, name = table.corner, "first column"
    if not first and labels is None and _lacks_labels(table, down):
        labels, name = pl.Series(map(str, range(1, table.height + 1))), "numbered"
    elif first or labels is None:
        first = first or names[0]
        labels, name = table.columns[first], f"column {first!r}"
    labels = strings(labels)
    across = [column for column in names if column != first]
    titled = [column for column in across if roles.TITLE.fullmatch(plain(column))][:1]
    titles = {}
    if titled and down == "item":
        titles = roles.titles_by_item(labels, table.texts(*titled))
        across.remove(*titled)
    if not across:
        raise table.source.whole(f"There is no column of {A[opposite]}.")
    return _Parts(
        down, opposite, name, labels, across, [*map(table.cells, across)], titles
    )


def _lacks_labels(table: Table, down: str) -> bool:
    """Return whether the first column of a table holds scores, and not labels.

    Raises:
        RatingsError: If nothing says so.
    """
    first, *others = table.columns
    if not is_number(first):
        return False
    if table.named is None:
        raise table.source.whole(
            f"The first line holds numbers: {listing(table.columns)}. If they are "
            "scores, say header=False or --no-header; if they are names of columns, "
            f"say header=True or --header, or name the column of the {down}s with "
            f"{down}= or --{down}."
        )
    cells = filled_cells(table.columns[first])
    # One bad score must not make labels of all.
    if 2 * int(are_scores(cells).sum()) < len(cells):
        return False
    elsewhere = {cell for name in others for cell in table.cells(name).unique()}
    if len(cells) > LEAST and cells.is_unique().all() and elsewhere.isdisjoint(cells):
        raise table.source.whole(
            f"Column {first} holds {len(cells)} different numbers that no other column "
            f"holds. If they are labels of the {down}s, name it with {down}= or "
            f"--{down} {first}; else leave it out with exclude= or --exclude {first}."
        )
    return True


def _bare(name: str) -> str:
    """Reduce a name to its words: "Score (avg.)" is "score avg"."""
    text = unicodedata.normalize("NFKD", plain(name))
    kept = "".join(letter for letter in text if not unicodedata.combining(letter))
    return " ".join(re.sub(r"[^\w#\u2211\u2205]+", " ", kept).split())


def _excluded_labels(exclude: Sequence[str]) -> set[str]:
    """Return the labels that are to be left out, with and without their kind."""
    return {*exclude, *(text.partition("=")[2].strip() for text in exclude)}


def _without(parts: _Parts, exclude: Sequence[str]) -> _Parts:
    """Return what is left once the user's exclusions are left out."""
    labels = _excluded_labels(exclude)
    names = zip(parts.across, roles.drop_prefix(parts.across), strict=True)
    kept = [
        place for place, spellings in enumerate(names) if labels.isdisjoint(spellings)
    ]
    rows = ~parts.labels.is_in([*labels])
    return parts._replace(
        labels=parts.labels.filter(rows),
        across=[parts.across[place] for place in kept],
        cells=[parts.cells[place].filter(rows) for place in kept],
    )


def _check_lines(source: Source, parts: _Parts) -> None:
    """Refuse columns and rows that are not those of one reviewer or item."""
    if not parts.cells:
        return
    numbers = np.column_stack(
        [
            cell.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
            for cell in parts.cells
        ]
    )
    counts = _counts(parts, numbers.T)
    for table, labels, kind, what in (
        (numbers.T, parts.across, "Column", parts.other),
        (numbers, parts.labels, "Row", parts.down),
    ):
        for place, label in enumerate(labels):
            why = ""
            if kind == "Column":
                why = _why_no_scores(parts, place) or counts.get(place, "")
            why = why or _why_summary(table, place, label, A[what])
            if why:
                raise source.whole(
                    f"{kind} {quote(label)} {why}. Leave it out with exclude= or "
                    f"--exclude {shell_word(label)}, or rename it; if it holds the "
                    f"labels of the {parts.down}s, name it with {parts.down}= or "
                    f"--{parts.down}."
                )


def _why_summary(table: Floats, place: int, label: str, what: str) -> str:
    """Say why a column or row is a summary of others, if it is one."""
    summary = f"looks like a summary, not like {what}"
    if SUMMARY.fullmatch(_bare(label)):
        return summary
    inner = EDGE <= place < len(table) - EDGE
    if not inner and (statistic := _summary_name(table, place)):
        reason = f"is the {statistic} of others wherever it is given: it {summary}"
        return f"{reason}. {LONG_FORM}"
    return ""


def _why_no_scores(parts: _Parts, place: int) -> str:
    """Say why a column holds something else than scores, if name or words say so."""
    name = _bare(parts.across[place])
    if not SUMMARY.fullmatch(name) and (OTHER.fullmatch(name) or name in ROLES):
        return f"does not look like {A[parts.other]}"
    cells = parts.cells[place]
    is_text = len(filled_cells(cells)) > 0 and not may_be_scores(cells)
    return "holds text, not scores" if is_text else ""


def _counts(parts: _Parts, columns: Floats) -> dict[int, str]:
    """Say which columns hold counts, ids or numbers of rows, and why."""
    reasons = {}
    ends = np.fmax.reduce(columns, axis=1), np.fmin.reduce(columns, axis=1)
    widest = np.nan_to_num(ends[0] - ends[1]).argmax()
    for place, values in enumerate(columns):
        whole = values[np.isfinite(values)]
        named = COUNT.fullmatch(_bare(parts.across[place])) is not None
        in_order = bool(values[0] in (0, 1) and (np.diff(values) == 1).all())
        suspect = named or in_order or place == widest
        if not suspect or not len(whole) or (whole != np.floor(whole)).any():
            continue
        others = np.delete(columns, place, axis=0)
        most = np.fmax.reduce(others, axis=None, initial=-np.inf)
        if named and not np.isin(whole, others).all():
            reasons[place] = f"looks like a count or an id, not like {A[parts.other]}"
        elif in_order and len(values) > EDGE and whole.max() > most:
            reasons[place] = f"numbers the rows. {LONG_FORM}"
        # A reviewer may have a scale like nobody else's, but all items are on one.
        elif parts.other == "item" and _is_far(values, others):
            reasons[place] = (
                f"goes from {whole.min():g} to {whole.max():g}, all others from "
                f"{np.nanmin(others):g} to {most:g}: it looks like a count, not like "
                f"an item. {LONG_FORM}"
            )
    return reasons


def _is_far(values: Floats, others: Floats) -> bool:
    """Return whether a column lies far outside the scale that all others share.

    It is spread five times as widely as all others together, of which at least half end
    where all do, and over 20 at least; and in a quarter of the rows it lies above the
    row's others, by their whole spread.
    """
    others = others[np.isfinite(others).any(axis=1)]
    seen = np.isfinite(values) & np.isfinite(others).any(axis=0)
    if len(others) < LEAST or seen.sum() < LEAST_MATCHES:
        return False
    values, beside = values[seen], others[:, seen]
    highest = np.nanmax(others, axis=1)
    span = highest.max() - np.nanmin(others)
    shared = 2 * (highest == highest.max()).sum() >= len(others)
    if span == 0 or not shared or np.ptp(values) < max(FAR * span, LEAST_SPREAD):
        return False
    above = values - np.nanmax(beside, axis=0) > span
    return bool(above.sum() >= max(LEAST_MATCHES, len(values) / 4))


def _summary_name(table: Floats, place: int) -> str:
    """Say which summary of all others, or of those before it, a line is, if of any."""
    cells = table[:, np.isfinite(table[place])][:, :MOST_CELLS]
    values, others = cells[place], np.delete(cells, place, axis=0)
    return _statistic(values, others) or _statistic(values, cells[:place])


@np.errstate(over="ignore", invalid="ignore")
def _statistic(values: Floats, others: Floats) -> str:
    """Say which summary of the other lines a line is, if of any.

    Args:
        values: Its cells.
        others: The same cells of other lines, NaN where there is none.

    Examples:
        >>> _statistic(np.array([2, 3, 3.5]), np.array([[1, 4, 2], [3, 2, 5]]))
        'mean'
    """
    if len(others) < LEAST or len(values) == 0:
        return ""
    decimals = next(
        (digits for digits in range(9) if (values.round(digits) == values).all()), 9
    )
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
    counting = (counts == values).all() and len({*values.tolist()}) > 1
    return "count" if counting and telling >= LEAST_MATCHES else ""


def _say_unused_labels(table: Table, parts: _Parts, filled: NDArray[np.bool_]) -> Table:
    """Say which items have no score, and how many reviewers."""
    rated = parts.labels.filter(pl.Series(filled.any(axis=1)))
    idle = parts.labels.filter(~parts.labels.is_in(["", *rated]))
    unused = {
        parts.down: idle.unique(maintain_order=True).to_list(),
        parts.other: [
            parts.across[place] for place in np.flatnonzero(~filled.any(axis=0))
        ],
    }
    if unused["item"]:
        table = table.warn("unrated_items", noun="score", items=few(unused["item"]))
    if unused["reviewer"]:
        table = table.warn("idle_reviewers", reviewers=len(unused["reviewer"]))
    return table


WIDE = layouts.Layout("wide", "a wide table", recognise, read, only_scores=False)

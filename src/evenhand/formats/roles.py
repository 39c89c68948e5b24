"""Who is the reviewer, what the item and what the score: shared by the layouts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.columns import Columns, cut_alike, matching_names
from evenhand.errors import listing
from evenhand.formats.layouts import LongForm
from evenhand.formats.tables import Table, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from evenhand.columns import Source
    from evenhand.formats.layouts import ReadOptions

ABOUT_REVIEWERS = re.compile(
    r"confiden|expert|certain|familiar|knowledge|\bknow\b|qualif|\b(?:exp|con|kno|fam)\b"
)
MERIT = re.compile(
    r"\b(?:overall|merits?|ratings?|scores?|recommendations?|evaluations?|grades?|marks?|"
    r"ove|mer|rat|sco|rec|eva|gra)\b"
)
"""What a score is called; the short ones are HotCRP's, as in OveMer."""
SCORE = re.compile(
    r"(?:overall |final )?(?:merit|rating|score|evaluation|recommendation|assessment|"
    r"grade|mark)|overall|ove mer|ove rat|ove sco|ove eva"
)
"""What the score is called where other fields stand beside it."""

TITLE = re.compile(r"(?:(?:item|paper|submission|project) )?title")
NUMBERED = r"^(.*?)[ _#-]*(0|[1-9][0-9]{0,5})$"
COUNTED = re.compile(
    "r|j|rev|reviewer|review|anonreviewer|judge|juror|rater|rating|score|referee|"
    "grader|assessor|seat"
)
"""What numbered reviewers are called."""
NUMBER_COLUMN = re.compile(r".*(?:\bnumber|\bno\.?|\bnr\.?|#)")
# Share of items that fill seats from the first on; a withdrawn review leaves a gap.
PACKED = 0.99
# Chance at which people would look like seats.
BY_CHANCE = 1e-6

Values = pl.Series | Sequence[object]
Place = tuple[str, Values]
"""Where something was found, in words, and its values."""
Writers = tuple[Place, Table]
"""Where writers were found and who wrote each review, and the reviews, with notices."""


def long_form(
    table: Table,
    options: ReadOptions,
    choose: Callable[[str], Place],
    item: str | Place,
    reviewer: str | Callable[[Table], Writers],
    titles: Mapping[str, str] | None = None,
) -> LongForm:
    """Return the long form of a platform's reviews.

    Args:
        table: The reviews.
        options: What the user said.
        choose: From the name of a field, or an empty text for the score, to what it is
            called and its values.
        item: Column of the item, or where it was found.
        reviewer: Column of the reviewer, or what finds out who wrote each review if the
            user named no column, and what to say of it.
        titles: What people call an item.
    """
    declared = options.columns
    score, scores = choose(declared.score)
    score = (
        "score" if score in ("reviewer", "item", "weight") else cut_alike([score])[0]
    )
    if isinstance(item, str):
        item = repr(item), table.columns[item]
    if declared.reviewer or isinstance(reviewer, str):
        name = table.column_for("reviewer", declared.reviewer, str(reviewer))
        writers: Place = repr(name), table.columns[name]
    else:
        writers, table = reviewer(table)
    columns = {"reviewer": writers[1], "item": item[1], score: scores}
    names = Columns(
        "reviewer", "item", score, weight="weight" if declared.weight else ""
    )
    if declared.weight:
        columns["weight"] = choose(declared.weight)[1]
    origin = f"item from {item[0]}, reviewer from {writers[0]}, score from {score!r}"
    long = Table.of(columns, table.source)
    return LongForm(replace(long, notices=table.notices), names, origin, titles or {})


def choose_score(wanted: str, fields: Sequence[str], source: Source) -> str:
    """Choose the field that holds the score.

    Args:
        wanted: What the user named, or empty.
        fields: Those that may be meant.
        source: The file, for messages.

    Returns:
        The named field, or the only one that is called what scores are called, beside
        which a confidence or an expertise is none.

    Raises:
        RatingsError: If it is unknown, or there is no such field; the fields are
            listed.

    Examples:
        >>> from evenhand.columns import Source
        >>> choose_score("overall merit", ["Overall merit", "Expertise"], Source())
        'Overall merit'
        >>> choose_score("", ["Overall merit", "Expertise"], Source())
        'Overall merit'
        >>> choose_score("", ["Novelty", "Clarity"], Source("r.csv"))
        Traceback (most recent call last):
        ...
        evenhand.errors.RatingsError: r.csv: Several fields may be the score: 'Novelty',
        'Clarity'. Say which with score= or --score.
    """
    if wanted:
        near = [name for name in fields if plain(name) == plain(wanted)]
        near = near or matching_names(wanted, fields)
        if wanted in fields or len(near) == 1:
            return wanted if wanted in fields else near[0]
        raise source.unknown("score field", wanted, cut_alike(fields))
    words = {
        field: plain(re.sub("(?<=[a-z])(?=[A-Z])", " ", field)) for field in fields
    }
    own = [field for field in fields if not ABOUT_REVIEWERS.search(words[field])]
    sure = [field for field in own if SCORE.fullmatch(words[field])]
    if len(sure) == 1:
        return sure[0]
    if len(own) == 1 and MERIT.search(words[own[0]]):
        return own[0]
    if not fields:
        raise source.whole("No field holds scores.")
    number = "One field" if len(fields) == 1 else "Several fields"
    raise source.whole(
        f"{number} may be the score: {listing(cut_alike(fields))}. Say which with "
        "score= or --score."
    )


def among(fields: Mapping[str, Values], source: Source) -> Callable[[str], Place]:
    """Return the choice among some fields, for `long_form`."""

    def choose(wanted: str) -> Place:
        name = choose_score(wanted, list(fields), source)
        return name, fields[name]

    return choose


def titles_by_item(items: Iterable[str], titles: Iterable[str]) -> dict[str, str]:
    """Return the title of each item: the first that is given.

    Examples:
        >>> titles_by_item(["1", "1", "2"], ["", "On tea", ""])
        {'1': 'On tea'}
    """
    by_item: dict[str, str] = {}
    for item, title in zip(items, titles, strict=True):
        if item and title:
            by_item.setdefault(item, title)
    return by_item


def drop_prefix(names: Sequence[str]) -> list[str]:
    """Cut off what all names begin with, if it is long: a form repeats its question.

    Examples:
        >>> drop_prefix(["Please rate the talk of Bo", "Please rate the talk of Cy"])
        ['Bo', 'Cy']
    """
    cuts = cut_alike(names)
    shown = [text.removeprefix("...").rstrip(" ?:") for text in cuts]
    whole = all(text.startswith("...") and not text.endswith("...") for text in cuts)
    return shown if whole and len({*shown}) == len(shown) else list(names)


def identify(emails: Sequence[str], names: Sequence[str], source: Source) -> list[str]:
    """Return who each row is: the e-mail, or that of the same name in other rows.

    Raises:
        RatingsError: If a name without e-mail has several e-mails elsewhere.

    Examples:
        >>> from evenhand.columns import Source
        >>> identify(["d@x.org", "", ""], ["Dee", "Dee", "Bo"], Source())
        ['d@x.org', 'd@x.org', 'Bo']
    """
    emails_by_name: dict[str, set[str]] = {}
    for email, name in zip(emails, names, strict=True):
        if email and name:
            emails_by_name.setdefault(name.casefold(), set()).add(email)
    people = []
    for row, (email, name) in enumerate(zip(emails, names, strict=True)):
        same = emails_by_name.get(name.casefold(), set())
        if not email and len(same) > 1:
            raise source.at(
                row, f"email must be given where several are called {name!r}"
            )
        people.append(email or next(iter(same), name))
    return people


def who_wrote(
    table: Table,
    places: tuple[Sequence[str], Sequence[str]],
    own: tuple[str, Sequence[str]],
    unsaid: str,
    nobody: re.Pattern[str] = re.compile("(?!)"),
) -> Writers:
    """Return where writers were found and who wrote each review, and a notice.

    Args:
        table: The reviews.
        places: Names of columns of e-mails, and of people.
        own: A column and, for reviews that do not say, a label of each one's own.
        unsaid: What hides them, a case of the warning.
        nobody: Accounts that several people share.

    Examples:
        >>> from evenhand.columns import Source
        >>> table = Table.of({"name": ["Bo", ""]}, Source())
        >>> own = ("review", ["1A", "1B"])
        >>> people, table = who_wrote(table, ([], ["name"]), own, "hotcrp")
        >>> people, table.notices[0].facts["share"]
        (("'name' or 'review'", ['Bo', '1B']), [1, 2])
    """
    emails, names = (table.texts(*columns) for columns in places)
    for row, (email, name) in enumerate(zip(emails, names, strict=True)):
        if nobody.fullmatch(email or name):
            emails[row] = names[row] = ""
    people = list(zip(identify(emails, names, table.source), own[1], strict=True))
    hidden = sum(not person and bool(pseudonym) for person, pseudonym in people)
    place = table.find(*places[0], *places[1])
    sources = [place if hidden < len(people) else "", own[0] if hidden else ""]
    where = " or ".join(repr(source) for source in sources if source)
    wrote = where, [person or pseudonym for person, pseudonym in people]
    return wrote, pseudonyms(table, hidden, unsaid)


def pseudonyms(table: Table, hidden: int, unsaid: str) -> Table:
    """Say that reviews do not say who wrote them, all or some of them.

    Examples:
        >>> from evenhand.columns import Source
        >>> table = Table.of({"item": ["x", "y", "z"]}, Source())
        >>> pseudonyms(table, 2, "hotcrp").notices[0].message[:40]
        '2 of 3 reviews do not say who wrote them'
    """
    if not hidden:
        return table
    return table.warn("pseudonyms", case=unsaid, share=[hidden, table.height])


def find_seats(
    table: Table, reviewer: str, item: str, *, bare: bool = False
) -> tuple[Table, bool]:
    """Tell whether reviewers are seats: numbers that other people have at each item.

    Items that take the numbers from the first on, some more of them and some fewer,
    show seats where people who rate independently would hardly ever do so. Where all
    items have the same numbers nobody can tell, and the reader is told how to say it.

    Args:
        table: The ratings.
        reviewer: Column of reviewers.
        item: Column of items.
        bare: Whether numbers without a word may be seats if all items have them; else
            the column's name must say so.

    Returns:
        The table, with a notice, and whether reviewers are surely seats.

    Examples:
        >>> from evenhand.columns import Source
        >>> names, items = ["R1", "R2", "R1", "R2"], ["x", "x", "y", "y"]
        >>> table = Table.of({"judge": names, "item": items}, Source())
        >>> found, seats = find_seats(table, "judge", "item")
        >>> found.notices[0].code, seats
        ('pseudonyms', False)
    """
    parts = table.cells(reviewer).str.to_lowercase().str.extract_groups(NUMBERED)
    numbers = parts.struct[1].cast(pl.Int64)
    words = parts.struct[0].unique()
    first, last = numbers.min(), numbers.max()
    consecutive = first in (0, 1) and numbers.n_unique() == last - first + 1 > 1  # type: ignore[operator]  # numbers
    if numbers.null_count() or len(words) > 1 or not consecutive:
        return table, False
    rows = pl.DataFrame({"item": table.cells(item), "seat": numbers - first})
    within = rows.group_by("item", maintain_order=True).agg(
        taken=pl.n_unique("seat"), most=pl.max("seat") + 1
    )
    packed = (within["taken"] == within["most"]).mean()
    if packed >= PACKED and _are_seats(within["most"].to_numpy()):  # type: ignore[operator]  # a share
        least, most = within["taken"].min(), within["taken"].max()
        seats: Any = {"least": least, "most": most, "seats": rows["seat"].n_unique()}
        return table.warn("seats", **seats), True
    bare = bare or NUMBER_COLUMN.fullmatch(plain(reviewer)) is not None
    counted = COUNTED.fullmatch(words[0]) or (bare and words[0] == "")
    if counted and within.height > 1 and packed == 1:
        return table.warn("pseudonyms", case="numbered", first=str(first)), False
    return table, False


def _are_seats(taken: NDArray[np.int64]) -> bool:
    """Tell seats from people by how many numbers each item takes, from the first on.

    Of people who rate independently, one with a higher number would rate only what all
    with lower numbers rated with the chance that the lower ones' shares give. Numbers
    that only fall or rise through the file may be people who came later or left.
    """
    reached = (taken[:, None] > np.arange(taken.max())).sum(axis=0)
    chance = reached[1:] @ np.log(reached[:-1] / len(taken))
    steps = np.diff(taken)
    return bool(chance < np.log(BY_CHANCE) and steps.min() < 0 < steps.max())


def companion(table: Table, *names: str) -> Table | None:
    """Return the second file of an export, if there is one.

    Raises:
        RatingsError: If it has not all these columns.
    """
    second = table.companion
    if second is not None and not second.why(*names):
        raise second.source.whole(
            f"The second file must have the columns {listing(names)}, got "
            f"{listing(second.columns)}."
        )
    return second

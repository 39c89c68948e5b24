"""What a platform's module offers, and the words and look-ups that they share.

A layout describes one platform's export: the columns that mark it, what it has no use
for, and how reviewer, item and score are taken from it. Everything after that (score
words, missing scores, labels) is the same for all.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.claims import Notice
from evenhand.columns import NUMBER, Columns, find_columns
from evenhand.errors import OptionError, counted, listing
from evenhand.formats.tables import as_text, plain, strings, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evenhand.columns import Source
    from evenhand.formats.tables import Table, Values

MOST_WORDS = 12
LONGEST_WORD = 40
ABOUT_REVIEWERS = re.compile(
    r"confiden|expert|certain|familiar|knowledge|\bknow\b|qualif|\b(?:exp|con|kno|fam)\b"
)
MERIT = re.compile(
    r"\b(?:overall|merits?|ratings?|scores?|recommendations?|evaluations?|grades?|marks?|"
    r"ove|mer|rat|sco|rec|eva|gra)\b"
)
"""What a score is called; the short ones are HotCRP's, as in OveMer."""
COUNTED = r"^(?i:(?:r|rev|reviewer|review|judge|rater|referee|grader|assessor)[ _#-]*)"
NUMBER_COLUMN = re.compile(r".*(?:\bnumber|\bno\.?|\bnr\.?|#)")
ANEW = (
    "Reviewers are numbered from 1 within every item. If the numbers start again for "
    "each item, one number stands for several people, and nobody's scores of several "
    "items may be compared: then give reviewers labels of their own."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said beyond the file.

    Attributes:
        columns: Columns that were named by option; empty where none was.
        format: What the file is, or how it is stored.
        scale: Score words from worst to best.
        best: The best letter.
        rows: What the rows of a wide table are: "items", "reviewers" or "".
        sheet: Sheet of a workbook.
        anonymise: Path of a key.
    """

    columns: Columns = field(default_factory=Columns)
    format: str = ""
    scale: str = ""
    best: str = ""
    rows: str = ""
    sheet: str = ""
    anonymise: str = ""


@dataclass(frozen=True, slots=True)
class Long:
    """Ratings in long form, not yet checked.

    Attributes:
        columns: Values by name, all of one length.
        names: Which of them is the reviewer, the item, the score and so on.
        source: The file and the line of each row, for messages.
        said: Where each part was taken from, to follow "Read as ...".
        titles: What people call an item, by its label as text.
        notices: What was left out, and what the reader must know.
    """

    columns: Mapping[str, Values]
    names: Columns
    source: Source
    said: str
    titles: Mapping[str, str] = field(default_factory=dict)
    notices: Sequence[Notice] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """One platform's export.

    Attributes:
        name: What --format calls it.
        title: What people call it.
        take: From a table and the user's wishes to the long form.
        exports: Each of its files, and the columns that mark it.
        tell: From a table to the reason why it is this layout, or an empty text; only
            where columns alone do not tell.
        only_scores: Whether ranks, comparisons and pairs are refused.
        one_file: Whether a second file is refused.
    """

    name: str
    title: str
    take: Callable[[Table, Asked], Long]
    exports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tell: Callable[[Table], str] | None = None
    only_scores: bool = False
    one_file: bool = True

    def recognise(self, table: Table) -> str:
        """Say why a table is of this layout, such as "columns 'id' and 'grade'"."""
        if self.tell is not None:
            return self.tell(table)
        return next(filter(None, (table.why(*it) for it in self.exports.values())), "")

    def check_options(self, table: Table, asked: Asked) -> None:
        """Refuse options that the export has no use for.

        Raises:
            OptionError: If one was given.
        """
        title = self.title.rpartition(" of ")[2]
        for part in ("rank", "winner", "loser", "pair") if self.only_scores else ():
            if getattr(asked.columns, part):
                raise OptionError(
                    f"{part} must be left out for {title}: it has scores."
                )
        if self.one_file and table.companion is not None:
            advice = (
                " If this is a platform's export, say which with format= or --format."
            )
            raise OptionError(
                f"companion must be left out for {title}: one file is all there is."
                f"{advice if self.name == 'long' else ''}"
            )


def rated(
    source: Source,
    *,
    item: tuple[str, Values],
    reviewer: tuple[str, Values],
    score: tuple[str, Values],
    weight: Values | None,
    titles: Mapping[str, str],
    notices: Sequence[Notice],
) -> Long:
    """Return the long form of a platform's reviews.

    Args:
        source: The export.
        item: Where items were found, and the item of each review.
        reviewer: Where reviewers were found, and who wrote each review.
        score: What the score is called, and the score of each review.
        weight: How much each review counts, if the user named a field that says so.
        titles: What people call an item.
        notices: What the reader must know.
    """
    name = score[0] if score[0] not in ("reviewer", "item", "weight") else "score"
    columns = {"reviewer": reviewer[1], "item": item[1], name: score[1]}
    if weight is not None:
        columns["weight"] = weight
    return Long(
        columns,
        Columns("reviewer", "item", name, weight="" if weight is None else "weight"),
        source,
        f"item from {item[0]}, reviewer from {reviewer[0]}, score from {name!r}",
        titles,
        notices,
    )


def say_columns(names: Columns, **words: str) -> str:
    """Say which column each of these parts is from, in other words where given.

    Examples:
        >>> say_columns(Columns(item="id", score="grade"), item="item", score="score")
        "item from 'id', score from 'grade'"
    """
    found = {word: getattr(names, part) for part, word in words.items()}
    return ", ".join(f"{word} from {name!r}" for word, name in found.items() if name)


def choose_columns(table: Table, given: Columns, **own: str) -> Columns:
    """Choose the columns that the user named, or else a platform's own.

    Raises:
        RatingsError: If one of these parts has no column.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> choose_columns(Table({"a": [1]}, Source("r.csv")), Columns(), item="id")
        Traceback (most recent call last):
        ...
        evenhand.errors.RatingsError: r.csv: No column for the item among 'a'. Say which
        it is with item= or --item.
    """
    found = {part: getattr(given, part) or table.find(own[part]) for part in own}
    for part, name in found.items():
        if not name:
            raise table.no_column(part)
    return find_columns(list(table.columns), replace(given, **found), table.source)


def choose_score(given: str, fields: Sequence[str], source: Source) -> str:
    """Choose the field that holds the score.

    Args:
        given: What the user named, or empty.
        fields: Those that may be meant.
        source: The file, for messages.

    Returns:
        The named field, or the only one if it is called what scores are called.

    Raises:
        RatingsError: If it is unknown, or there is no such field; the fields are
            listed.

    Examples:
        >>> from evenhand.columns import Source
        >>> choose_score("overall merit", ["Overall merit", "Expertise"], Source())
        'Overall merit'
        >>> choose_score("", ["Overall merit", "Expertise"], Source("r.csv"))
        Traceback (most recent call last):
        ...
        evenhand.errors.RatingsError: r.csv: Several fields may be the score: 'Overall
        merit', 'Expertise'. Say which with score= or --score.
    """
    if given:
        near = [name for name in fields if plain(name) == plain(given)]
        if given in fields or len(near) == 1:
            return given if given in fields else near[0]
        raise source.unknown("score field", given, fields)
    if len(fields) == 1:
        words = plain(re.sub("(?<=[a-z])(?=[A-Z])", " ", fields[0]))
        if ABOUT_REVIEWERS.search(words):
            raise source.whole(
                f"The only field is {fields[0]!r}, which seems to be about the "
                "reviewer. If it is the score, say so with score= or --score."
            )
        if MERIT.search(words):
            return fields[0]
        raise source.whole(
            f"The only field that may be the score is {fields[0]!r}. If it is, say "
            "so with score= or --score."
        )
    raise source.whole(
        f"Several fields may be the score: {listing(fields)}. Say which with score= or "
        "--score."
        if fields
        else "No field holds scores."
    )


def is_number(text: str) -> bool:
    """Return whether a text is a number.

    Examples:
        >>> is_number("2.5"), is_number("B")
        (True, False)
    """
    return re.fullmatch(NUMBER, text) is not None


def may_be_scores(values: Values, least: int = 1) -> bool:
    """Return whether most of a column are numbers or few short words, at least so many.

    One bad cell must not hide the field: another would then be taken for the score.

    Examples:
        >>> may_be_scores(["3", "B", "4", "5"]), may_be_scores(["A long remark."])
        (True, False)
    """
    if isinstance(values, list) and any(isinstance(it, list | dict) for it in values):
        return False
    counts = Counter(texts(values))
    del counts[""]
    few = {
        text: n
        for text, n in counts.items()
        if len(text) <= LONGEST_WORD and not text.endswith(".")
    }
    numbers = sum(n for text, n in few.items() if is_number(text))
    words = sum(few.values()) if len(few) <= MOST_WORDS else 0
    return len(counts) >= least and 2 * max(numbers, words) >= counts.total()


def titled(items: Iterable[str], titles: Iterable[str]) -> dict[str, str]:
    """Return the title of each item: the first that is given.

    Examples:
        >>> titled(["1", "1", "2"], ["", "On tea", ""])
        {'1': 'On tea'}
    """
    found: dict[str, str] = {}
    for item, title in zip(items, titles, strict=True):
        if item and title:
            found.setdefault(item, title)
    return found


def leave_out(
    table: Table, reasons: Sequence[str], noun: str, words: Mapping[str, str]
) -> tuple[Table, list[Notice]]:
    """Return the rows that nothing is said against, and a notice for each reason.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> table = Table({"id": ["x", "y"]}, Source())
        >>> leave_out(table, ["", "own"], "review", {"own": "of oneself left out"})[1]
        [Notice(code='own', message='1 review of oneself left out.')]
    """
    counts = Counter(reasons)
    rows = [row for row, reason in enumerate(reasons) if not reason]
    return table.keep(rows), [
        Notice(code, f"{counted(counts[code], noun)} {text}.")
        for code, text in words.items()
        if counts[code]
    ]


def identify(emails: Sequence[str], names: Sequence[str], source: Source) -> list[str]:
    """Return who each row is: the e-mail, or that of the same name in other rows.

    Raises:
        RatingsError: If a name without e-mail has several e-mails elsewhere.

    Examples:
        >>> from evenhand.columns import Source
        >>> identify(["d@x.org", "", ""], ["Dee", "Dee", "Bo"], Source())
        ['d@x.org', 'd@x.org', 'Bo']
    """
    known: dict[str, set[str]] = {}
    for email, name in zip(emails, names, strict=True):
        if email and name:
            known.setdefault(name.casefold(), set()).add(email)
    found = []
    for row, (email, name) in enumerate(zip(emails, names, strict=True)):
        same = known.get(name.casefold(), set())
        if not email and len(same) > 1:
            raise source.at(
                row, f"email must be given where several are called {name!r}"
            )
        found.append(email or next(iter(same), name))
    return found


def who_wrote(
    table: Table,
    given: str,
    places: tuple[Sequence[str], Sequence[str]],
    own: tuple[str, Sequence[str]],
    unsaid: str,
    nobody: re.Pattern[str] = re.compile("(?!)"),
) -> tuple[tuple[str, Values], list[Notice]]:
    """Return where writers were found and who wrote each review, and a notice.

    Args:
        table: The reviews.
        given: Column that the user named, or empty.
        places: Names of columns of e-mails, and of people.
        own: A column and, for reviews that do not say, a label of each one's own.
        unsaid: What to say of these.
        nobody: Accounts that several people share.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> table = Table({"name": ["Bo", ""]}, Source())
        >>> own = ("review", ["1A", "1B"])
        >>> found, notices = who_wrote(table, "", ([], ["name"]), own, "Are odd.")
        >>> found, notices[0].message
        (("'name' or 'review'", ['Bo', '1B']), '1 of 2 are odd.')
    """
    if given:
        name = table.named("reviewer", given)
        return (repr(name), [*texts(table.columns[name])]), []
    emails, names = (table.texts(*columns) for columns in places)
    for row, (email, name) in enumerate(zip(emails, names, strict=True)):
        if nobody.fullmatch(email or name):
            emails[row] = names[row] = ""
    people = list(zip(identify(emails, names, table.source), own[1], strict=True))
    hidden = sum(not one and bool(two) for one, two in people)
    place = table.find(*places[0], *places[1])
    found = [place if hidden < len(people) else "", own[0] if hidden else ""]
    where = " or ".join(repr(it) for it in found if it)
    notices = pseudonyms(hidden, len(people), unsaid)
    return (where, [one or two for one, two in people]), notices


def pseudonyms(hidden: int, total: int, unsaid: str) -> list[Notice]:
    """Say that reviews do not say who wrote them, all or some of them.

    Examples:
        >>> pseudonyms(2, 3, "Reviews do not say who wrote them.")[0].message
        '2 of 3 reviews do not say who wrote them.'
    """
    some = f"{hidden} of {total} {unsaid[:1].lower()}{unsaid[1:]}"
    text = unsaid if hidden == total else some
    return [Notice("pseudonyms", text)] if hidden else []


def numbered_anew(column: str, reviewers: Values, items: Values) -> tuple[Notice, ...]:
    """Warn where reviewers seem to be numbered within each item.

    Args:
        column: Name of the column of reviewers; bare numbers need one that says so.
        reviewers: Reviewer of each rating.
        items: Item of each rating.

    Returns:
        One notice, or none.

    Examples:
        >>> items = ["x", "x", "y", "y"]
        >>> numbered_anew("judge", ["R1", "R2", "R1", "R2"], items)[0].code
        'pseudonyms'
        >>> numbered_anew("judge", ["R1", "R2", "R2", "R3"], items)
        ()
    """
    optional = "?" if NUMBER_COLUMN.fullmatch(plain(column)) else ""
    pattern = f"{COUNTED}{optional}([1-9][0-9]{{0,5}})$"
    # Most files are told by their first row.
    if len(reviewers) == 0 or not re.match(pattern, as_text(reviewers[0])):
        return ()
    rows = pl.DataFrame({"name": strings(reviewers), "item": strings(items)})
    numbers = rows["name"].str.extract(pattern).cast(pl.Int64)
    within = rows.with_columns(number=numbers).group_by("item")
    counts = within.agg(pl.col("number").n_unique(), most=pl.col("number").max())
    if numbers.null_count() or (counts["number"] != counts["most"]).any():
        return ()
    distinct = numbers.n_unique()
    several = counts.height > 1 and distinct > 1
    same = distinct == rows["name"].n_unique()
    return (Notice("pseudonyms", ANEW),) if several and same else ()

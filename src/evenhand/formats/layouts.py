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
from evenhand.columns import (
    MISSING_WORDS,
    NUMBER,
    Columns,
    called,
    cut_alike,
    find_columns,
)
from evenhand.errors import OptionError, RatingsError, counted, listing
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
SCORE = re.compile(
    r"(?:overall |final )?(?:merit|rating|score|evaluation|recommendation|assessment|"
    r"grade|mark)|overall|ove mer|ove rat|ove sco|ove eva"
)
"""What the score is called where other fields stand beside it."""
LED = (
    r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:\s*(?:/|out of)\s*[0-9]+(?:\.[0-9]+)?|"
    r"\s*[:.)(=\x{2013}\x{2014}-]\s*[^\W\d].*|\s+[^\W\d][^\d\n]*)$"
)
"""A number with its base or its words: 8/10, "5. Strong accept", "5 (accept)"."""
NAME = re.compile(r"[^\W\d_].*[^\W\d_]", re.DOTALL)
AUTHORS_END = re.compile(r"[;,|\n]|\band\b")
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
        scale: Score words from worst to best, "best=" and a letter, or "/" and a base.
        decimal: The decimal sign, "." or ","; empty if the file tells.
        exclude: Items and reviewers to leave out.
        only: Items and reviewers to keep.
        rows: What the rows of a wide table are: "items", "reviewers" or "".
        sheet: Sheet of a workbook.
        anonymise: Path of a key.
    """

    columns: Columns = field(default_factory=Columns)
    format: str = ""
    scale: str = ""
    decimal: str = ""
    exclude: Sequence[str] = ()
    only: Sequence[str] = ()
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
        authors: Whose an item is, by its label as text.
        people: What a reviewer is called beside the label, such as an e-mail.
    """

    columns: Mapping[str, Values]
    names: Columns
    source: Source
    said: str
    titles: Mapping[str, str] = field(default_factory=dict)
    notices: Sequence[Notice] = ()
    authors: Mapping[str, str] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)


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
            raise OptionError(
                f"companion must be left out for {title}: one file is all there is."
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
    if given:
        near = [name for name in fields if plain(name) == plain(given)]
        near = near or called(given, fields)
        if given in fields or len(near) == 1:
            return given if given in fields else near[0]
        raise source.unknown("score field", given, cut_alike(fields))
    words = {one: plain(re.sub("(?<=[a-z])(?=[A-Z])", " ", one)) for one in fields}
    own = [one for one in fields if not ABOUT_REVIEWERS.search(words[one])]
    sure = [one for one in own if SCORE.fullmatch(words[one])]
    if len(sure) == 1:
        return sure[0]
    if len(own) == 1 and MERIT.search(words[own[0]]):
        return own[0]
    if not fields:
        raise source.whole("No field holds scores.")
    some = "One field" if len(fields) == 1 else "Several fields"
    raise source.whole(
        f"{some} may be the score: {listing(cut_alike(fields))}. Say which with score= "
        "or --score."
    )


def is_number(text: str) -> bool:
    """Return whether a text is a number.

    Examples:
        >>> is_number("2.5"), is_number("B")
        (True, False)
    """
    return re.fullmatch(NUMBER, text) is not None


def given(values: Values) -> pl.Series:
    """Return the cells of a column that hold something, as text.

    Examples:
        >>> given(["3", "n/a", None, "x", "4"]).to_list()
        ['3', '4']
    """
    cells = strings(values)
    return cells.filter(~cells.str.to_lowercase().is_in(["", *MISSING_WORDS]))


def scored(cells: pl.Series) -> pl.Series:
    """Return which cells are numbers, or begin with one that a base or words follow.

    Examples:
        >>> cells = pl.Series(["2.5", "8/10", "5. Strong accept", "B", "7 to 8"])
        >>> scored(cells).to_list()
        [True, True, True, False, False]
    """
    return cells.str.contains(NUMBER) | cells.str.contains(LED)


def may_be_scores(values: Values, least: int = 1) -> bool:
    """Return whether most of a column are numbers or few short words, at least so many.

    One bad cell must not hide the field: another would then be taken for the score.

    Examples:
        >>> may_be_scores(["3", "B", "4", "5"]), may_be_scores(["A long remark."])
        (True, False)
    """
    if isinstance(values, list) and any(isinstance(it, list | dict) for it in values):
        return False
    cells = given(values)
    distinct = cells.n_unique()
    short = (cells.str.len_chars() <= LONGEST_WORD) & ~cells.str.ends_with(".")
    words = cells.filter(short)
    numbers = scored(cells) & (short | (distinct <= MOST_WORDS))
    if numbers.any() and 2 * int(numbers.sum()) >= len(cells):
        return True
    few = distinct >= least and words.n_unique() <= MOST_WORDS
    return few and 2 * len(words) >= len(cells) > 0


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


def cut(names: Sequence[str]) -> list[str]:
    """Cut off what all names begin with, if it is long: a form repeats its question.

    Examples:
        >>> cut(["How do you like the talk of Bo?", "How do you like the talk of Cy?"])
        ['Bo', 'Cy']
    """
    cuts = cut_alike(names)
    shown = [text.removeprefix("...").rstrip(" ?:") for text in cuts]
    whole = all(text.startswith("...") and not text.endswith("...") for text in cuts)
    return shown if whole and len({*shown}) == len(shown) else list(names)


def own_rows(found: Long) -> list[int]:
    """Return the rows in which somebody rates what seems to be their own.

    The reviewer is called like the item, or is one of its authors, but for case and
    blanks; the part of an e-mail before the @ counts as a name.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"who": ["ann.lee@x.org", "Bo"], "what": ["Ann Lee", "Ann Lee"]}
        >>> own_rows(Long({**columns}, Columns("who", "what"), Source(), ""))
        [0]
    """
    names = found.names
    if not names.reviewer or not names.item:
        return []
    try:
        people = strings(found.columns[names.reviewer])
        items = strings(found.columns[names.item])
    except RatingsError:  # of half a character, which is refused with its place later
        return []
    who = {it: _names(it, found.people.get(it, "")) for it in people.unique()}
    whose = {
        it: _names(it, found.titles.get(it, ""), found.authors.get(it, ""))
        for it in items.unique()
    }
    # Most files are told by their distinct labels.
    if set().union(*who.values()).isdisjoint(set().union(*whose.values())):
        return []
    rows = enumerate(zip(people, items, strict=True))
    return [row for row, (person, item) in rows if who[person] & whose[item]]


def _names(*texts: str) -> set[str]:
    """Return the names in some texts; numbers and single letters are nobody's."""
    named = [text.casefold() for text in texts if NAME.search(text)]
    parts = [part for text in named for part in (text, *AUTHORS_END.split(text))]
    parts += [re.sub("[._-]+", " ", it.partition("@")[0]) for it in parts if "@" in it]
    return {" ".join(part.split()) for part in parts if NAME.search(part)}


def own_notices(found: Long, rows: Sequence[int], *, named: bool) -> list[Notice]:
    """Say how many, and who, seem to have rated their own item."""
    people = found.columns[found.names.reviewer] if rows else []
    who = listing(sorted({as_text(people[row]) for row in rows}))
    text = (
        f"{counted(len(rows), 'rating')} of the reviewer's own item kept"
        f"{f': {who}' if named else ''}. Leave such ratings out with exclude= or "
        "--exclude self."
    )
    return [Notice("self_ratings", text)] if rows else []


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

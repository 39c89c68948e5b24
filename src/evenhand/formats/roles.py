"""Who is the reviewer, what the item and what the score: shared by the layouts."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.claims import few
from evenhand.columns import (
    ID,
    Columns,
    candidates,
    cut_alike,
    likely_columns,
    matching_names,
    name_words,
    number_series,
)
from evenhand.criteria import OVERALL
from evenhand.errors import RatingsError, listing, refuse_option, shell_word
from evenhand.formats.layouts import LongForm
from evenhand.formats.tables import NOTHING, Table, plain, strings
from evenhand.ratings import FEWEST_CLUSTERS, join_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from evenhand.columns import Source
    from evenhand.formats.layouts import ReadOptions

ABOUT_REVIEWERS = re.compile(
    r"confiden|expert|certain|familiar|knowledge|\bknow\b|qualif|\b(?:exp|con|kno|fam)\b"
)
SURE = (
    *("confidence", "reviewer confidence", "reviewer's confidence", "revcon"),
    *("your confidence", "reviewer expertise", "revexp", "expertise", "con"),
)
"""What reviewers' confidence is called; the short ones are HotCRP's."""
MERIT = re.compile(
    r"\b(?:overall|merits?|ratings?|scores?|recommendations?|evaluations?|grades?|marks?|"
    r"ove|mer|rat|sco|rec|eva|gra)\b"
)
"""What a score is called; the short ones are HotCRP's, as in OveMer."""
TITLE = re.compile(r"(?:(?:item|paper|submission|project) )?title")
NUMBERED = r"^(.*?)[ _#-]*(0|[1-9][0-9]{0,5})$"
COUNTED = re.compile(
    "r|j|rev|reviewer|review|anonreviewer|judge|juror|rater|rating|score|referee|"
    "grader|assessor|seat"
)
"""What numbered reviewers are called."""
NUMBER_COLUMN = re.compile(r".*(?:\bnumber|\bno\.?|\bnr\.?|#)")
SECTIONS = re.compile(
    r"\b(?:section|panel|group|session|committee|division|room|heat|batch|site|school|"
    r"department|jury|pool|table|stream|cohort|board|track|venue)s?\b"
)
"""What parts of an evaluation are called, in which numbers may start again."""
LOWER = re.compile(
    r"\b(?:rank|ranking|errors?|penalty|penalties|mqm|severity|distance|wer|cer|ter|"
    r"demerits?|mistakes?|defects?|faults?)\b"
)
"""Words in the names of scores of which the lowest may be the best."""
NO_SCORE = re.compile(
    rf"{SECTIONS.pattern}|{ABOUT_REVIEWERS.pattern}|\b(?:time|timestamp|date|year|month|"
    r"week|day|hour|minutes?|seconds?|ms|duration|vintage|age|income|salary|gender|sex|"
    r"zip|postcode|postal|phone|lat|latitude|lon|lng|longitude|price|cost|budget|amount|"
    r"quantity|qty|counts?|clicks?|views?|visits?|plays?|sales|votes?|upvotes|"
    r"downvotes|likes?|comments?|helpful|pages?|words?|tokens?|chars|length|size|height|"
    r"width|version|index|row|line|order|trial|step|round|turn|class|type|category|code|"
    r"fold|split|seed|level|difficulty|decision|accepted|bought|purchased|seen)\b"
)
"""Words in the names of columns whose numbers are no scores."""
QUESTIONS = re.compile(r"\b(?:criteri(?:on|a)|metric|dimension|question|prompt)s?\b")
"""What is asked of an item, which is neither an item nor a reviewer."""
PERSON_AND_ITEM = ("reviewer", "item")
RESERVED = ("reviewer", "item", "weight", "confidence")
A = {"reviewer": "a reviewer", "item": "an item"}
GRADE_LETTERS = r"^[A-F]{1,2}[+-]?$"
# A score has at most so many values, from 0 to 100; the first cells of a column tell.
SHORT_SCALE, FIRST = 101, 1000
# Of more pairs of columns none is proposed: the table is of another kind.
MOST_PAIRS = 30
# No panel has more members.
LARGEST_PANEL = 50
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
    score = "score" if score in RESERVED else cut_alike([score])[0]
    if isinstance(item, str):
        item = repr(item), table.columns[item]
    if declared.reviewer or isinstance(reviewer, str):
        name = table.column_for("reviewer", declared.reviewer, str(reviewer))
        writers: Place = repr(name), table.columns[name]
    else:
        writers, table = reviewer(table)
    columns = {"reviewer": writers[1], "item": item[1], score: scores}
    kind, more = "rank" if declared.rank else "score", {}
    for part in ("weight", "confidence"):
        if name := getattr(declared, part):
            columns[part], more[part] = choose(name)[1], part
    names = Columns("reviewer", "item", **{kind: score}, **more)
    origin = f"item from {item[0]}, reviewer from {writers[0]}, {kind} from {score!r}"
    if not more and kind == "score":
        origin += offer_confidence(choose)
    long = Table.of(columns, table.source)
    return LongForm(replace(long, notices=table.notices), names, origin, titles or {})


def offer_confidence(choose: Callable[[str], Place]) -> str:
    """Say how a field of confidence would count, if there is one.

    Examples:
        >>> from evenhand.columns import Source
        >>> offer_confidence(among({"Confidence": ["2"]}, Source()))
        "; to weigh scores by 'Confidence', say --confidence Confidence"
        >>> offer_confidence(among({"Novelty": ["2"]}, Source()))
        ''
    """
    for wanted in SURE:
        with contextlib.suppress(RatingsError):
            name = choose(wanted)[0]
            return f"; to weigh scores by {name!r}, say --confidence {shell_word(name)}"
    return ""


def with_clusters(
    long: LongForm, table: Table, declared: Columns, prompts: Sequence[str]
) -> LongForm:
    """Add the clusters that the user named, or else the prompts of judges.

    Args:
        long: The ratings.
        table: The table that they come from, a row for each.
        declared: Columns that the user named.
        prompts: Columns that name the prompt together.
    """
    if declared.cluster:
        prompts = [table.column_for("cluster", declared.cluster)]
    elif declared.reviewer:
        prompts = []
    if not prompts:
        return long
    cells = map(table.cells, prompts)
    if not declared.cluster and any((cell == "").any() for cell in cells):
        return long
    clusters, rows = join_labels(prompts, table.columns, table.source), long.table
    if not declared.cluster:
        reviewer, number = long.names.reviewer, clusters.n_unique()
        most = rows.columns[reviewer].n_unique() if reviewer else rows.height
        if not FEWEST_CLUSTERS <= number < most:
            return long
        rows = rows.warn("prompts", column="+".join(prompts), prompts=number)
    rows = replace(rows, columns={**rows.columns, "cluster": clusters})
    return replace(long, table=rows, names=replace(long.names, cluster="cluster"))


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
        'Clarity'. Say which with score= or --score, once for each of several criteria.
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
    sure = [field for field in own if OVERALL.fullmatch(words[field])]
    if len(sure) == 1:
        return sure[0]
    if len(own) == 1 and MERIT.search(words[own[0]]):
        return own[0]
    if not fields:
        raise source.whole("No field holds scores.")
    number = "One field" if len(fields) == 1 else "Several fields"
    raise source.whole(
        f"{number} may be the score: {listing(cut_alike(fields))}. Say which with "
        "score= or --score, once for each of several criteria."
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
    numbers, word = _label_numbers(table, reviewer)
    if numbers is None:
        return table, False
    first: Any = numbers.min()
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
    counted = COUNTED.fullmatch(word) or (bare and word == "")
    if counted and within.height > 1 and packed == 1:
        return table.warn("pseudonyms", case="numbered", first=str(first)), False
    return table, False


def _label_numbers(table: Table, reviewer: str) -> tuple[pl.Series | None, str]:
    """Return the numbers of labels, from 0 or 1 on, and the word before them, if any.

    None if labels are not all numbered after one word without a gap.
    """
    labels = table.labels(reviewer)
    if len(labels) > LARGEST_PANEL:
        return None, ""
    parts = labels.str.to_lowercase().str.extract_groups(NUMBERED)
    numbers = parts.struct[1].cast(pl.Int64)
    words = parts.struct[0].unique()
    first, last = numbers.min(), numbers.max()
    consecutive = first in (0, 1) and numbers.n_unique() == last - first + 1 > 1  # type: ignore[operator]  # numbers
    if numbers.null_count() or len(words) > 1 or not consecutive:
        return None, ""
    return table.cells(reviewer).replace_strict(labels, numbers), words[0]


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


def _says(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.search(" ".join(name_words(name))) is not None


def find_sections(table: Table, names: Columns) -> list[str]:
    """Return the columns in each of whose values reviewers' numbers start again.

    Every item stands in one section, and the numbers of each begin with the first:
    they may be other people in each, or the same who rate in all.

    Examples:
        >>> from evenhand.columns import Source
        >>> rows = [("a", 1), ("a", 2), ("b", 3), ("b", 4)]
        >>> columns = {"panel": [], "item": [], "judge": []}
        >>> for seat in ("J1", "J2"):
        ...     columns["panel"] += [panel for panel, _ in rows]
        ...     columns["item"] += [item for _, item in rows]
        ...     columns["judge"] += [seat] * 4
        >>> table = Table.of(columns, Source())
        >>> find_sections(table, Columns("judge", "item"))
        ['panel']
    """
    called = [
        name
        for name in table.columns
        if _says(SECTIONS, name) and name not in astuple(names)
    ]
    numbers, word = _label_numbers(table, names.reviewer) if called else (None, "")
    # A number that is called an id is one person's wherever it stands.
    if numbers is None or (not word and ID.search(names.reviewer)):
        return []
    items = table.cells(names.item)
    sections = []
    for name in called:
        rows = pl.DataFrame(
            {"section": table.cells(name), "item": items, "number": numbers}
        )
        within = rows.group_by("section").agg(
            pl.n_unique("number"), first=pl.min("number"), last=pl.max("number")
        )
        nested = rows.n_unique(["section", "item"]) == items.n_unique()
        restarts = (within["first"] == numbers.min()).all() and (
            within["number"] == within["last"] - within["first"] + 1
        ).all()
        small = 1 < within.height <= items.n_unique() / 2
        if small and nested and restarts and within["number"].min() > 1:  # type: ignore[operator]  # a number
            sections.append(name)
    return sections


def check_sections(table: Table, names: Columns, *, named: bool) -> Table:
    """Ask who is who where reviewers' numbers may start again in every section.

    Args:
        table: The ratings.
        names: Its columns.
        named: Whether the user named the column of reviewers, so that its labels are
            taken as they are, and a notice says so.

    Raises:
        RatingsError: If nobody said it.
    """
    for name in find_sections(table, names)[:1]:
        parts = table.cells(name), table.cells(names.reviewer)
        sections, labels = (cells.n_unique() for cells in parts)
        people = pl.DataFrame(parts).n_unique()
        joined = f"{name}+{names.reviewer}"
        if named:
            facts: Any = {"sections": sections, "people": people, "labels": labels}
            return table.warn("pseudonyms", case="sections", joined=joined, **facts)
        option = f"reviewer= or --reviewer {shell_word(joined)}"
        same = shell_word(f"{names.reviewer}+people")
        raise table.source.whole(
            f"The {labels} labels of {names.reviewer!r} start again in each of the "
            f"{sections} values of {name!r}: they are {people} people if each has its "
            f"own, or {labels} who rate in all. Say {option} for {people}, or "
            f"--reviewer {same} for {labels}."
        )
    return table


def guess_columns(table: Table, declared: Columns) -> Columns:
    """Add the score to the columns that the user named, by what columns hold.

    Names come first. Where none is called a score, the only column of numbers on a
    short scale is it. Who rates and what is rated is never guessed: whichever columns
    make rows unique together are named in the refusal.

    Raises:
        RatingsError: If no column is called a reviewer or an item, but the cells tell
            which may be.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"user": ["a", "a", "b"], "movie": ["x", "y", "x"]}
        >>> table = Table.of({**columns, "enjoyment": [3, 1, 3]}, Source())
        >>> guess_columns(table, Columns()).score
        'enjoyment'
    """
    names = list(table.columns)
    votes = all(candidates(part, names, declared) for part in ("winner", "loser"))
    if (
        votes
        or declared.rank
        or (not declared.score and candidates("rank", names, declared))
    ):
        return declared
    score = likely_columns("score", names, declared)
    columns = {part: likely_columns(part, names, declared) for part in PERSON_AND_ITEM}
    missing = [part for part, matches in columns.items() if not matches]
    if not score:
        score = _score_columns(table, declared)
        if not missing:
            return replace(declared, score=score[0]) if len(score) == 1 else declared
    used = {name for matches in columns.values() for name in matches} | {*score}
    if missing and len(used) + len(missing) == 3:
        _propose_labels(table, missing, used - {*score})
    return declared


def _score_columns(table: Table, declared: Columns) -> list[str]:
    """Return the columns of numbers on a short scale that nothing else is said of."""
    names = list(table.columns)
    labels = {
        name
        for part in PERSON_AND_ITEM
        for name in likely_columns(part, names, declared)
    }
    free = [name for name in names if name not in (*labels, *astuple(declared))]
    lower = [name for name in free if _says(LOWER, name)]
    numeric = [name for name in free if _is_short_scale(table, name, repeats=False)]
    numeric = [name for name in lower if name in numeric] or numeric
    # In a small table scores may all differ, as numbers that are no scores do.
    if not any(_is_short_scale(table, name) for name in numeric):
        return []
    return [] if any(_is_property(table, name, labels) for name in numeric) else numeric


def _is_property(table: Table, name: str, labels: set[str]) -> bool:
    """Return whether a column may be no score: 0 and 1, or one value of each label."""
    cells = table.cells(name)
    of_label = (
        pl.DataFrame([table.cells(label), cells]).n_unique() == len(distinct)
        for label in labels
        if 2 * len(distinct := table.labels(label)) <= table.height
    )
    return {*cells.unique()} <= {"0", "1", ""} or any(of_label)


def _is_short_scale(table: Table, name: str, *, repeats: bool = True) -> bool:
    if ID.search(name) or _says(NO_SCORE, name):
        return False
    if strings(table.columns[name].head(FIRST)).n_unique() > SHORT_SCALE + len(NOTHING):
        return False
    cells = table.cells(name)
    filled = cells.filter(~cells.str.to_lowercase().is_in(NOTHING))
    values = filled.unique()
    numbers = values.cast(pl.Float64, strict=False)
    short = 1 < len(values) <= min(SHORT_SCALE, len(filled) - repeats)
    return short and numbers.null_count() == 0 and bool(numbers.is_finite().all())


def _propose_labels(table: Table, missing: list[str], used: set[str]) -> None:
    """Refuse with the columns that make rows unique, if the cells show which do.

    Args:
        table: The ratings.
        missing: Reviewer, item or both: what no column is called.
        used: The column of the other of the two.
    """
    cells = {name: table.cells(name) for name in table.columns}
    labels = [
        name
        for name, column in cells.items()
        if name not in used
        and (ID.search(name) or not _says(NO_SCORE, name))
        and not _says(QUESTIONS, name)
        and (column != "").all()
        and 1 < column.n_unique() <= table.height / 2
        and (ID.search(name) or not _is_short_scale(table, name))
    ]
    pairs = (
        itertools.product(used, labels) if used else itertools.combinations(labels, 2)
    )
    unique = [
        pair
        for pair in itertools.islice(pairs, MOST_PAIRS)
        if pl.DataFrame([cells[name] for name in pair]).n_unique() == table.height
    ]
    if not unique or (len(missing) == 2 and len(unique) > 1):
        return
    if len(missing) == 1:
        possible, (part,) = [pair[1] for pair in unique], missing
        ways = " or ".join(f"--{part} {shell_word(name)}" for name in possible)
        text = f"No column is called {A[part]}; by what they hold"
        (role,), (name,) = {*A} - {part}, used
        if not candidates(role, [name], Columns()):
            # A teacher may be rated, or rate.
            first, second = map(shell_word, (name, possible[0]))
            ways += f" or --{part} {first} --{role} {second}"
        verb = "it may be" if len(possible) == 1 else "it may be one of"
        raise table.source.whole(f"{text} {verb} {listing(possible)}. Say {ways}.")
    first, second = map(shell_word, unique[0])
    raise table.source.whole(
        f"No column is called a reviewer or an item; {listing(unique[0])} make rows "
        f"unique together. Say --reviewer {first} --item {second}, or --reviewer "
        f"{second} --item {first}."
    )


def prefer_numbers(
    table: Table, names: Columns, options: ReadOptions
) -> tuple[Table, Columns]:
    """Take a column of numbers that says the same as the words of the score.

    Raises:
        RatingsError: If A has the lowest number, and nobody said what is better.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> columns = {"grade": ["A", "B", "A"], "points": [2, 1, 2]}
        >>> table, grade = Table.of(columns, Source()), Columns(score="grade")
        >>> prefer_numbers(table, grade, ReadOptions())[1].score
        'points'
    """
    first = strings(table.columns[names.score].head(FIRST))
    if first.cast(pl.Float64, strict=False).is_not_null().any():
        return table, names
    words = table.cells(names.score)
    free = [name for name in table.columns if name not in astuple(names)]
    for name in (name for name in free if _is_short_scale(table, name)):
        numbers = table.cells(name)
        steps = pl.DataFrame({"word": words, "number": numbers}).unique()
        if not steps.height == words.n_unique() == numbers.n_unique():
            continue
        steps = steps.with_columns(pl.col("number").cast(pl.Float64, strict=False))
        steps = steps.drop_nulls().sort("number")
        letters = steps["word"].str.contains(GRADE_LETTERS).all()
        if letters and steps["word"][0] < steps["word"][-1]:
            require_direction(table.source, name, options)
        facts: Any = {"column": name, "words": names.score}
        facts["steps"] = [*map(list, steps.rows())]
        return table.warn("numbers_for_words", **facts), replace(names, score=name)
    return table, names


def name_other_scores(table: Table, names: Columns) -> Table:
    """Name the columns of scores that are left out beside one of a less usual name."""
    columns = list(table.columns)
    if names.score in candidates("score", columns, Columns()):
        return table
    others = [
        name
        for name in columns
        if name not in astuple(names) and _is_short_scale(table, name)
    ]
    if not others:
        return table
    return table.warn("other_columns", columns=len(others), names=few(others))


def require_direction(source: Source, column: str, options: ReadOptions) -> None:
    """Ask whether the lowest score is the best, unless the user said it.

    Raises:
        RatingsError: If nobody said it.
    """
    if options.lower_is_better is None:
        raise source.whole(
            f"Column {column!r} may be lower-is-better. Say lower_is_better=True or "
            "--lower-is-better if it is, lower_is_better=False or --higher-is-better "
            "if not."
        )


def turn_scores(long: LongForm, options: ReadOptions) -> LongForm:
    """Give scores of which the lowest is the best a minus sign, if the user says so.

    Raises:
        RatingsError: If the name of a score that the user did not name suggests it, and
            nobody said it.
        OptionError: If there are no scores.
    """
    column, table = long.names.score, long.table
    if not column:
        is_set = options.lower_is_better is not None
        refuse_option(
            "lower_is_better", is_set, f"for {long.names.kind}: it is of scores"
        )
        return long
    if options.lower_is_better:
        numbers, missing = number_series(table.columns[column], column, table.source)
        scores = pl.Series(0.0 - numbers).set(pl.Series(missing), None)
        table = replace(table, columns={**table.columns, column: scores})
        table = table.warn("lower_is_better", column=column)
    elif options.lower_is_better is None and _says(LOWER, column):
        if not options.columns.score:
            require_direction(table.source, column, options)
        table = table.warn("higher_is_better", column=column)
    return replace(long, table=table)


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

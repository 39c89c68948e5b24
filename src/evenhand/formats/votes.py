"""Votes: two items in two columns, and in another which of them won, or a tie.

The winner is named by side ("left", "model_a", "b", "2"), by the item itself, or it is
a word for a tie. Where two columns hold the votes on one pair shown both ways round,
votes that differ are a tie.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evenhand.columns import (
    NUMBER,
    Columns,
    candidates,
    find_columns,
    is_alias,
    likely_columns,
)
from evenhand.errors import listing, plural, quote
from evenhand.formats import layouts, roles
from evenhand.votes import TIE, VERDICTS, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.errors import RatingsError
    from evenhand.formats.tables import Table

Ends = tuple[str, str]
"""The columns of the first and of the second item."""
SIDES = ("left right", "a b", "1 2", "x y", "first second", "l r", "home away")
"""Words for the first and for the second item."""
PLACES = {side: place for pair in SIDES for place, side in enumerate(pair.split())}
NOUN = re.compile(
    r"(?:model|system|item|option|answer|response|side|text|candidate|choice|player|"
    r"team|assistant|output|summary|translation) ?(?=\w)"
)
NEUTRAL = {
    "empty": re.compile(""),
    "failed": re.compile(r"error|failed|invalid|skip(?:ped)?"),
    "bad": re.compile(r".*\bboth ?bad\b.*|neither|none"),
    "tie": TIE,
}
"""What a vote says that names no winner."""
REMARKS = {
    "bad": "both bad",
    "empty": "without a winner",
    "differ": "with votes that differ",
}
PROMPTS = ("prompt", "prompt id", "question id", "question", "instruction")
ALPACA = ("generator_1", "generator_2", "preference")
FLAGS = ["1", "true", "0", "false"]
NUMBERED = re.compile(r"winner [0-9]+")
GAME = re.compile(r"(?:g|game|round) ?[12] winner")
CELLS, FEW_WORDS = 1000, 8
"""How many cells tell whether a column holds only so many words."""
FIRST, SECOND = ENDS = ("first", "second")
OWN_NAMES, OWN_WORDS, ANY_WORDS = 3, 2, 1
"""How closely words for sides fit two columns: they name them, end so, or do not."""


class Reading(NamedTuple):
    """One way to read a table as votes.

    Attributes:
        ends: The columns of the items.
        verdict: The column that says which won.
        fit: How closely the words for the winner fit the columns.
        outcomes: "first" or "second" if one won; "tie", "bad", "empty" or "differ" for
            ties; "failed"; null if unknown.
    """

    ends: Ends
    verdict: str
    fit: int
    outcomes: pl.Series

    @property
    def n_decisions(self) -> int:
        """Number of votes that have a winner."""
        return int(self.outcomes.is_in(ENDS).sum())

    @property
    def complete(self) -> bool:
        """Whether the outcome of each vote is known."""
        return self.outcomes.null_count() == 0


def recognise(table: Table, options: layouts.ReadOptions) -> str:
    """Say why a table holds votes: two items, and which of them won.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> columns = {"left": ["tea"], "right": ["milk"], "winner": ["right"]}
        >>> recognise(Table.of(columns, Source()), layouts.ReadOptions())
        "columns 'left', 'right' and 'winner'"
    """
    declared, names = options.columns, list(table.columns)
    other_kind = declared.loser or declared.score or declared.rank or declared.pair
    one_item = declared.item and "+" not in declared.item
    if other_kind or one_item or candidates("loser", names, Columns()):
        return ""
    table = _join_columns(table, declared)
    reading = find_votes(table, declared)
    return table.why(*reading.ends, reading.verdict) if reading else ""


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take one comparison from each vote.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> columns = {"left": ["tea", "tea"], "right": ["milk", "soup"],
        ...            "winner": ["right", "tie"]}
        >>> long = read(Table.of(columns, Source()), layouts.ReadOptions())
        >>> long.origin, long.table.texts("winner")
        ('1 decided and 1 tie; each vote its own reviewer', ['milk', 'tea'])
    """
    table = _join_columns(table, options.columns)
    reading = find_votes(table, options.columns)
    if reading is None:
        raise table.source.whole(
            f"No column says which of two items won, among {listing(table.columns)}. "
            "Name it with --column winner=COLUMN, and the items with --item A+B."
        )
    first, second = (table.cells(name) for name in reading.ends)
    upright, tied = (
        reading.outcomes != SECOND,
        ~reading.outcomes.is_in([*ENDS, "failed"]),
    )
    columns = {"winner": first.zip_with(upright, second)}
    columns |= {"loser": second.zip_with(upright, first)}
    columns |= {"tie": tied} if tied.any() else {}
    used = (*reading.ends, reading.verdict, *columns, options.columns.item)
    free = [name for name in table.columns if name not in used]
    voters = likely_columns("reviewer", free, options.columns)
    voter = voters[0] if len(voters) == 1 else ""
    declared = Columns(winner="winner", loser="loser", reviewer=voter)
    names = find_columns([*columns, *free], declared, table.source)
    if names.reviewer:
        columns[names.reviewer] = table.columns[names.reviewer]
    # Voters differ from vote to vote here, whoever they are.
    declared = replace(options.columns, reviewer="")
    failed = {"failed_votes": reading.outcomes == "failed"}
    table = replace(table, columns={**table.columns, **columns})
    table = table.leave_out("vote", failed)
    votes = replace(table, columns={name: table.columns[name] for name in columns})
    origin = _origin(reading, names.reviewer, free)
    long = layouts.LongForm(votes, replace(names, reviewer=""), origin)
    prompts = [*filter(None, [table.find(*PROMPTS)])]
    long = roles.with_clusters(long, table, declared, prompts)
    return replace(long, names=replace(long.names, reviewer=names.reviewer))


def _join_columns(table: Table, declared: Columns) -> Table:
    """Put into one column what winner1, winner2, ... or flags of 0 and 1 say.

    Each of winner1, winner2, ... is the vote of somebody else; an empty one is none.
    """
    called = [name for name in table.columns if NUMBERED.fullmatch(_words(name))]
    if len(called) < 2 or declared.winner:
        return _join_flags(table)
    cells = pl.concat([table.cells(name) for name in called])
    voted = (cells != "").arg_true()
    rows = table.keep((voted % table.height).to_list())
    kept = {name: part for name, part in rows.columns.items() if name not in called}
    votes = {f"{called[0]} to {called[-1]}": cells.gather(voted)}
    return replace(rows, columns={**kept, **votes})


def _join_flags(table: Table) -> Table:
    """Join columns of 0 and 1, winner_model_a, winner_model_b, winner_tie, to words."""
    if table.why(*ALPACA):
        table = _join_preferences(table)
    called = [name for name in table.columns if _words(name).startswith("winner ")]
    flags = {name: table.cells(name).str.to_lowercase() for name in called}
    if len(flags) < 2 or not all(cells.is_in(FLAGS).all() for cells in flags.values()):
        return table
    words = pl.Series([""]).new_from_index(0, table.height)
    for name, cells in flags.items():
        won = cells.is_in(FLAGS[:2])
        for row in (won & (words != "")).arg_true():
            raise table.source.at(
                row, f"one winner must be 1, got {words[row]} and {name}"
            )
        words = words.set(won, _words(name).removeprefix("winner "))
    kept = {name: cells for name, cells in table.columns.items() if name not in flags}
    return replace(table, columns={**kept, called[0]: words})


def _join_preferences(table: Table) -> Table:
    """Turn AlpacaEval's preferences, from 1 for the first to 2, to words."""
    cells = table.cells("preference")
    numbers = cells.cast(pl.Float64, strict=False)
    valid = numbers.is_between(1, 2) | (numbers == 0)
    for row in (~valid & (cells != "") | (valid.is_null() & (cells != ""))).arg_true():
        rule = "preference must be from 1 to 2, or 0 for a tie"
        raise table.source.at(row, f"{rule}, got {quote(cells[row])}")
    words = pl.select(
        pl.when(numbers.is_null() | numbers.is_nan())
        .then(pl.lit("failed"))
        .when(numbers.is_in([0.0, 1.5]))
        .then(pl.lit("tie"))
        .when(numbers < 1.5)
        .then(pl.lit("1"))
        .otherwise(pl.lit("2"))
    ).to_series()
    texts = ("preference", *map(table.find, ("output_1", "output_2")))
    kept = {name: table.columns[name] for name in table.columns if name not in texts}
    return replace(table, columns={**kept, "winner": words})


def find_votes(table: Table, declared: Columns) -> Reading | None:
    """Return how a table is read as votes, or None if it holds none.

    Raises:
        RatingsError: If two readings are possible, or a vote names neither item.
    """
    names = [name for name in table.columns if name != declared.item]
    called = [name for name in names if "winner" in _words(name).split()]
    games = [name for name in called if GAME.fullmatch(_words(name))]
    if len(games) > 1 and not declared.winner:
        parts = (
            find_votes(table, replace(declared, winner=name)) for name in games[:2]
        )
        first, again = parts
        return first and again and _join_games(first, again)
    won = [table.column_for("winner", declared.winner)] if declared.winner else called
    free = [name for name in names if name not in won]
    pairs = _side_pairs(free)
    if declared.item:
        ends = [table.column_for("item", name) for name in declared.item.split("+")]
        pairs = [(ends[0], ends[-1])]
    for name in won:
        readings = [*_readings(table, pairs, name)]
        if not any(reading.complete for reading in readings) and not declared.item:
            readings += _readings(table, _item_pairs(table, free, name), name)
        if readings:
            return _choose(table, readings)
    doubtful = free if pairs and not won else []
    return next(
        filter(None, (_by_words(table, pairs, name) for name in doubtful)), None
    )


def _by_words(table: Table, pairs: Sequence[Ends], name: str) -> Reading | None:
    """Read votes by a column that may say who won, by its words more than its name."""
    cells, named = table.columns[name].head(CELLS), is_alias(name, VERDICTS)
    if cells.dtype != pl.String or cells.n_unique() > FEW_WORDS:
        return None
    pairs = [ends for ends in pairs if name not in ends and _has_names(table, ends)]
    least = OWN_WORDS if named else OWN_NAMES
    readings = [
        reading
        for reading in _readings(table, pairs, name)
        if reading.complete and reading.n_decisions and (named or reading.fit >= least)
    ]
    if readings and not (named and max(reading.fit for reading in readings) >= least):
        raise table.source.whole(
            f"Column {name!r} may say which of {listing(readings[0].ends)} won. If it "
            f"does, say --column winner={name}."
        )
    return _choose(table, readings) if readings else None


def _side_pairs(names: Sequence[str]) -> list[Ends]:
    """Return the columns that are called alike but for the side.

    Examples:
        >>> _side_pairs(["id", "model_b", "model_a", "player1", "player2"])
        [('model_a', 'model_b'), ('player1', 'player2')]
    """
    pairs: dict[tuple[str, ...], dict[int, str]] = {}
    for name in names:
        words = _words(name).split()
        for place, side in enumerate(words):
            if side in PLACES and place in (0, len(words) - 1):
                sides = next(pair for pair in SIDES if side in pair.split())
                stem = (*words[:place], sides, *words[place + 1 :])
                pairs.setdefault(stem, {})[PLACES[side]] = name
    return [(ends[0], ends[1]) for ends in pairs.values() if len(ends) > 1]


def _item_pairs(table: Table, names: Sequence[str], verdict: str) -> list[Ends]:
    """Return the columns of which one or the other names the winner."""
    won = table.cells(verdict).head(CELLS)
    labels, neutral = won.unique().implode(), _neutral_words(won)
    columns = {name: table.cells(name).head(CELLS) for name in names}
    similar = [name for name in names if columns[name].is_in(labels).any()]
    return [
        (first, second)
        for first, second in combinations(similar, 2)
        if _by_item(won, columns[first], columns[second], neutral).null_count() == 0
    ]


def _readings(table: Table, pairs: Sequence[Ends], verdict: str) -> Iterator[Reading]:
    """Yield the ways to read the votes on columns of items: by side and by item."""
    cells = table.cells(verdict)
    words = {cell: word(cell) for cell in cells.unique()}
    neutral = _neutral_words(cells)
    for ends in pairs:
        sides, fit = _sides(ends, words)
        items = _by_item(cells, table.cells(ends[0]), table.cells(ends[1]), neutral)
        by_item = Reading(ends, verdict, OWN_WORDS, items)
        kinds = cells.replace_strict(
            neutral | sides, default=None, return_dtype=pl.String
        )
        by_side = Reading(ends, verdict, fit, kinds)
        if by_side.n_decisions or len(neutral) == len(words):
            yield by_side
        if by_item.n_decisions and not items.equals(kinds):
            yield by_item


def _sides(ends: Ends, words: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """Return which side each cell names, and how closely its words fit the columns."""
    own = dict(zip(map(word, ends), ENDS, strict=True))
    sides = {cell: own[text] for cell, text in words.items() if text in own}
    if sides:
        return sides, OWN_NAMES
    tokens = {cell: NOUN.sub("", text) for cell, text in words.items()}
    tokens = {cell: text for cell, text in tokens.items() if text in PLACES}
    parts = {part for name in ends for part in _words(name).split()}
    sides = {cell: ENDS[PLACES[text]] for cell, text in tokens.items()}
    return sides, OWN_WORDS if {*tokens.values()} <= parts else ANY_WORDS


def _by_item(
    won: pl.Series, first: pl.Series, second: pl.Series, neutral: Mapping[str, str]
) -> pl.Series:
    """Return the outcome of each vote whose winner is an item."""
    words = won.replace_strict(neutral, default=None, return_dtype=pl.String)
    outcomes = words.set((won == second) & (won != ""), SECOND)
    return outcomes.set((won == first) & (won != ""), FIRST)


def _neutral_words(cells: pl.Series) -> dict[str, str]:
    """Return the cells that name no winner, and what they say instead."""
    words = {cell: word(cell) for cell in cells.unique()}
    return {
        cell: next(kind for kind, form in NEUTRAL.items() if form.fullmatch(text))
        for cell, text in words.items()
        if any(form.fullmatch(text) for form in NEUTRAL.values())
    }


def _join_games(first: Reading, again: Reading) -> Reading:
    """Join the votes on a pair shown both ways round; those that differ are ties."""
    votes, votes_again = first.outcomes, again.outcomes
    differ = votes.is_in(ENDS) & votes_again.is_in(ENDS) & (votes != votes_again)
    joined = votes.zip_with(~votes.is_in(ENDS), votes_again).set(differ, "differ")
    return first._replace(outcomes=joined.set(votes_again == "failed", "failed"))


def _choose(table: Table, readings: list[Reading]) -> Reading:
    """Choose the columns that the words for the winner fit best.

    Raises:
        RatingsError: If several fit, or a vote names neither item.
    """
    complete = [reading for reading in readings if reading.complete]
    if not complete:
        raise _unknown_winner(
            table, max(readings, key=lambda way: (way.n_decisions, way.fit))
        )
    best = max(reading.fit for reading in complete)
    fitting = [reading for reading in complete if reading.fit == best]
    for is_likely in (_has_names, _shares_items):
        fitting = [way for way in fitting if is_likely(table, way.ends)] or fitting
    if len(fitting) == 1:
        return fitting[0]
    ends, others = fitting[0].ends, fitting[1].ends
    text = f"Column {fitting[0].verdict!r} may say which of {listing(ends)} won"
    if ends == others:
        advice = f", or name an item. Name the column, {ends[0]!r}, where it won."
    else:
        options = " or ".join(f"--item {'+'.join(pair)}" for pair in (ends, others))
        advice = f", or of {listing(others)}. Say which with {options}."
    raise table.source.whole(text + advice)


def _has_names(table: Table, ends: Ends) -> bool:
    return not any(table.cells(name).str.contains(NUMBER).all() for name in ends)


def _shares_items(table: Table, ends: Ends) -> bool:
    first, second = (table.cells(name).unique() for name in ends)
    return bool(first.is_in(second.implode()).any())


def _unknown_winner(table: Table, reading: Reading) -> RatingsError:
    """Return the error for votes whose winner is neither side, nor a tie."""
    cells, rows = table.cells(reading.verdict), reading.outcomes.is_null().arg_true()
    rule = f"{reading.verdict} must name {listing(reading.ends)}, their item or a tie"
    return table.source.each(
        (row, f"{rule}, got {quote(cells[row])}", "Write tie where neither won.")
        for row in rows
    )


def _origin(reading: Reading, voter: str, free: Sequence[str]) -> str:
    """Count the votes, and say who voted and what was not used."""
    counts = Counter(reading.outcomes.to_list())
    remarks = [
        f"{counts[kind]:,} {text}" for kind, text in REMARKS.items() if counts[kind]
    ]
    of_these = f" ({', '.join(remarks)})" if remarks else ""
    ties = plural(counts["tie"] + sum(counts[kind] for kind in REMARKS), "tie")
    text = f"{reading.n_decisions:,} decided and {ties}{of_these}; "
    text += f"reviewer from {voter!r}" if voter else "each vote its own reviewer"
    unused = "".join(f", not {listing(ends)}" for ends in _side_pairs(free)[:1])
    return f"{text}; items from {listing(reading.ends)}{unused}" if unused else text


def _words(name: str) -> str:
    """Reduce a column's name to its words: "modelA" is "model a"."""
    return word(re.sub(r"(?<=[a-z])(?=[A-Z]\b|[0-9])", " ", name))


VOTES = layouts.Layout("votes", "votes", recognise, read, only_scores=False)

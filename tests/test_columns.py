"""Which columns hold what: found by name, named by the user, or refused."""

from __future__ import annotations

import pytest

from evenhand.columns import ALIASES, Columns, Source, find_columns
from evenhand.errors import RatingsError

LONG = ["reviewer", "item", "score"]
TWO_KINDS = "Columns for {} were both named. Name those of one kind of data."


@pytest.mark.parametrize(
    ("part", "alias"),
    [
        (part, alias)
        for part in ("reviewer", "item", "score")
        for alias in sorted(ALIASES[part])
    ],
)
def test_columns_are_found_by_every_alias(part: str, alias: str) -> None:
    names = {"reviewer": "reviewer", "item": "item", "score": "score", part: alias}
    columns = find_columns([*names.values()], Columns(), Source())
    assert getattr(columns, part) == alias


@pytest.mark.parametrize(
    "name", ["paper_id", "Paper ID", "paper-name", "paperId", "PAPER #", "paper number"]
)
def test_words_for_an_identifier_do_not_hide_an_alias(name: str) -> None:
    assert find_columns(["judge", name, "mark"], Columns(), Source()).item == name


@pytest.mark.parametrize(
    ("names", "given", "expected"),
    [
        # In any order and case; the plain name before an alias; an index is no matter.
        (["SCORE", "x", "Item", " reviewer "], {}, (" reviewer ", "Item", "SCORE")),
        ([*LONG, "user", "rating"], {}, tuple(LONG)),
        (["", "Unnamed: 0", *LONG], {}, tuple(LONG)),
        # An option settles what is ambiguous, and takes its column from other parts.
        (["user", "worker", *LONG[1:]], {"reviewer": "worker"}, ("worker", *LONG[1:])),
        (["a", "b ", "c"], dict(zip(LONG, "abc", strict=True)), ("a", "b ", "c")),
        (["judge", "label", "mark"], {"item": "label"}, ("judge", "label", "mark")),
        ([*LONG[:2], "rank"], {}, (*LONG[:2], "", "rank")),
        ([*LONG, "rank"], {}, tuple(LONG)),
        ([*LONG, "rank"], {"rank": "rank"}, (*LONG[:2], "", "rank")),
        (["winner", "loser", "score"], {}, ("", "", "", "", "winner", "loser")),
        (["judge", "Winner ID", "Loser ID"], {},
         ("judge", "", "", "", "Winner ID", "Loser ID")),
        # To name one side is to ask for comparisons.
        ([*LONG, "won", "loser"], {"winner": "won"},
         ("reviewer", "", "", "", "won", "loser")),
        ([*LONG, "winner", "lost"], {"loser": "lost"},
         ("reviewer", "", "", "", "winner", "lost")),
        ([*LONG, "pair id"], {}, (*LONG, "", "", "", "pair id")),
    ],
)  # fmt: skip
def test_columns_are_found(
    names: list[str], given: dict[str, str], expected: tuple[str, ...]
) -> None:
    columns = find_columns(names, Columns(**given), Source())
    assert columns == Columns(*expected)
    kinds = {columns.score: "scores", columns.rank: "ranks"}
    assert columns.kind == ("comparisons" if columns.winner else kinds[max(kinds)])


@pytest.mark.parametrize(
    ("names", "given", "message"),
    [
        (["user", "worker", *LONG[1:]], {},
         "f.csv: Several columns may be the reviewer: 'user', 'worker'. Say which with "
         "reviewer= or --reviewer."),
        (["reviewer", "item", "Score", "score "], {},
         "f.csv: Several columns may be the score: 'Score', 'score '."),
        (["winner", "loser", "user", "worker"], {},
         "f.csv: Several columns may be the reviewer: 'user', 'worker'."),
        ([*LONG, "pair id", "pair #"], {},
         "f.csv: Several columns may be the pair: 'pair id', 'pair #'."),
        (["who", "what", "mark"], {"item": "wat"},
         "f.csv: Unknown column 'wat', did you mean 'what'? Known columns: 'who', "
         "'what', 'mark'."),
        (["who", "item", "score"], {},
         "f.csv: No column for the reviewer among 'who', 'item', 'score'. Say which it "
         "is with reviewer= or --reviewer."),
        ([], {}, "f.csv: No column for the reviewer among none at all."),
        (["reviewer", "winner"], {"winner": "winner"},
         "f.csv: No column for the loser among 'reviewer', 'winner'."),
        (["anna", "x", "7.5"], {},
         "f.csv: The first line must hold the column names, got 'anna', 'x', '7.5'."),
        (["a", "b", "score"], {"reviewer": "a", "item": "a"},
         "f.csv: Column 'a' is named for two things. Name two columns."),
        *(
            (["a", "b", "c"], dict(zip(parts, "ab", strict=True)),
             f"f.csv: {TWO_KINDS.format(words)}")
            for parts, words in (
                (("score", "rank"), "score and for rank"),
                (("winner", "score"), "loser and for score"),
                (("loser", "item"), "loser and for item"),
                (("winner", "rank"), "loser and for rank"),
                (("winner", "pair"), "loser and for pair"),
            )
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_refused(
    names: list[str], given: dict[str, str], message: str
) -> None:
    with pytest.raises(RatingsError) as caught:
        find_columns(names, Columns(**given), Source("f.csv"))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("item", ["", "y"])
def test_a_very_long_name_is_cut_in_the_message(item: str) -> None:
    with pytest.raises(RatingsError) as caught:
        find_columns(["x" * 10_000], Columns(item=item), Source())
    assert len(str(caught.value)) < 200


def test_a_line_that_holds_several_ratings_has_each_problem_once() -> None:
    problem = "reviewer must be given, got nothing"
    source = Source("f.csv", lambda row: 2 + row // 3)
    error = source.each([(row, problem, "") for row in range(3)])
    assert str(error) == f"f.csv:2: {problem}."

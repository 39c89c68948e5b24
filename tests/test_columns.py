from __future__ import annotations

import pytest

from evenhand.columns import ALIASES, Columns, Source, find_columns
from evenhand.errors import RatingsError


def found(*names: str, given: Columns | None = None) -> Columns:
    return find_columns(names, given or Columns(), Source())


def refused(*names: str, given: Columns | None = None, file: str | None = None) -> str:
    with pytest.raises(RatingsError) as caught:
        find_columns(names, given or Columns(), Source(file))
    return str(caught.value)


def test_columns_are_found_by_their_own_names_in_any_order_and_case() -> None:
    columns = found("SCORE", "comment", "Item", " reviewer ")
    assert columns == Columns(reviewer=" reviewer ", item="Item", score="SCORE")
    assert columns.kind == "scores"


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
    assert getattr(found(*names.values()), part) == alias


@pytest.mark.parametrize(
    "name", ["paper_id", "Paper ID", "paper-name", "paperId", "PAPER #", "paper number"]
)
def test_words_for_an_identifier_do_not_hide_an_alias(name: str) -> None:
    assert found("judge", name, "mark").item == name


def test_the_plain_name_wins_over_an_alias() -> None:
    assert found("reviewer", "user", "item", "score", "rating").score == "score"


def test_an_index_column_or_one_without_a_name_is_not_in_the_way() -> None:
    names = ("", "Unnamed: 0", "reviewer", "item", "score")
    assert found(*names) == Columns(reviewer="reviewer", item="item", score="score")


def test_two_aliases_are_ambiguous() -> None:
    assert refused("user", "worker", "item", "score") == (
        "Several columns may be the reviewer: 'user', 'worker'. "
        "Say which with reviewer= or --reviewer."
    )


def test_two_spellings_of_the_plain_name_are_ambiguous() -> None:
    text = refused("reviewer", "item", "Score", "score ")
    assert "Several columns may be the score: 'Score', 'score '." in text


def test_an_option_settles_what_is_ambiguous() -> None:
    columns = found("user", "worker", "item", "score", given=Columns(reviewer="worker"))
    assert columns.reviewer == "worker"


def test_an_option_is_found_without_its_surrounding_blanks() -> None:
    columns = found("a", "b ", "c", given=Columns("a", "b", "c"))
    assert columns.item == "b "


def test_an_option_that_names_no_column_is_answered_with_the_nearest() -> None:
    text = refused("who", "what", "mark", given=Columns(item="wat"))
    assert text == (
        "Unknown column 'wat', did you mean 'what'? "
        "Known columns: 'who', 'what', 'mark'."
    )


def test_a_column_taken_by_an_option_is_no_candidate_for_another_part() -> None:
    columns = found("judge", "label", "mark", given=Columns(item="label"))
    assert columns == Columns(reviewer="judge", item="label", score="mark")


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    assert refused("who", "item", "score", file="a.csv") == (
        "a.csv: No column for the reviewer among 'who', 'item', 'score'. "
        "Say which it is with reviewer= or --reviewer."
    )
    assert "among none at all" in refused()


def test_a_file_without_a_header_is_recognised_by_its_numbers() -> None:
    assert refused("anna", "x", "7.5", file="a.csv") == (
        "a.csv: The first line must hold the column names, got 'anna', 'x', '7.5'."
    )


def test_a_very_long_name_is_cut_in_the_message() -> None:
    assert len(refused("x" * 10_000)) < 200
    assert len(refused("x" * 10_000, given=Columns(item="y"))) < 200


def test_ranks_are_found_when_there_is_no_score() -> None:
    columns = found("reviewer", "item", "rank")
    assert columns == Columns(reviewer="reviewer", item="item", rank="rank")
    assert columns.kind == "ranks"


def test_a_score_is_preferred_to_a_rank_unless_the_rank_is_named() -> None:
    names = ("reviewer", "item", "rank", "score")
    assert found(*names).kind == "scores"
    assert found(*names, given=Columns(rank="rank")).kind == "ranks"


def test_comparisons_are_found_with_their_reviewer_if_there_is_one() -> None:
    assert found("winner", "loser") == Columns(winner="winner", loser="loser")
    columns = found("Annotator ID", "Winner ID", "Loser ID", "Time")
    assert columns.reviewer == "Annotator ID"
    assert columns.kind == "comparisons"


def test_a_score_without_an_item_does_not_hide_comparisons() -> None:
    assert found("winner", "loser", "score").kind == "comparisons"


@pytest.mark.parametrize("given", [Columns(winner="won"), Columns(loser="lost")])
def test_naming_one_side_asks_for_comparisons(given: Columns) -> None:
    names = ("reviewer", "item", "score", *(("won", "loser") if given.winner else ()))
    columns = found(*names, *(("winner", "lost") if given.loser else ()), given=given)
    assert columns.kind == "comparisons"


def test_an_ambiguous_reviewer_of_comparisons_is_not_dropped_in_silence() -> None:
    assert "may be the reviewer" in refused("winner", "loser", "user", "worker")


def test_a_pair_column_is_taken_along() -> None:
    assert found("reviewer", "item", "score", "pair id").pair == "pair id"
    text = refused("reviewer", "item", "score", "pair id", "pair #")
    assert "Several columns may be the pair: 'pair id', 'pair #'." in text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Columns(score="a", rank="b"), "score and for rank"),
        (Columns(winner="a", score="b"), "loser and for score"),
        (Columns(loser="a", item="b"), "loser and for item"),
        (Columns(winner="a", rank="b"), "loser and for rank"),
        (Columns(winner="a", pair="b"), "loser and for pair"),
    ],
)
def test_options_of_two_kinds_of_data_are_refused(given: Columns, words: str) -> None:
    assert refused("a", "b", "c", given=given) == (
        f"Columns for {words} were both named. Name those of one kind of data."
    )


def test_one_column_is_not_used_twice() -> None:
    given = Columns(reviewer="a", item="a")
    assert refused("a", "b", "score", given=given) == (
        "Column 'a' is named for two things. Name two columns."
    )


def test_half_a_comparison_is_refused() -> None:
    text = refused("reviewer", "winner", given=Columns(winner="winner"))
    assert text.startswith("No column for the loser among 'reviewer', 'winner'.")


def test_a_line_that_holds_several_ratings_has_each_problem_once() -> None:
    problem = "reviewer must be given, got nothing"
    source = Source("f.csv", lambda row: 2 + row // 3)
    error = source.each([(row, problem, "") for row in range(3)])
    assert str(error) == f"f.csv:2: {problem}."

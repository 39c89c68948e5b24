"""What the report may not hide: who was left out, what is not declared or is tied."""

from evenhand import Ratings, compare, rank
from evenhand.words.cards import ranking_card
from evenhand.words.page import Replay, report
from evenhand.words.tables import scores


def test_scores_of_reviewers_who_were_dropped_are_not_in_the_table() -> None:
    reviewers = ["a", "b", "c", "d", "e", "e"]
    ratings = Ratings(reviewers, ["x", "x", "y", "y", "x", "y"], [1, 3, 5, 7, 90, 95])
    table = scores(compare(ratings, both="drop", rng=1), {})
    assert [row.cells[1:3] for row in table.rows] == [("2", "2"), ("2", "6")]


def test_p_values_say_first_that_nobody_declared_a_lot() -> None:
    ratings = Ratings(["a", "b", "c", "d"], ["x", "x", "y", "y"], [1, 2, 3, 4])
    replay = Replay("evenhand compare r.csv")
    result = compare(ratings, rng=1)
    undeclared = report(ratings, result, replay=replay)
    said = undeclared.index("Nobody declared how reviewers were assigned.</strong>")
    assert said < undeclared.index("A p-value says how often")
    result = compare(ratings, design="halves", rng=1)
    assert "Nobody declared" not in report(ratings, result, replay=replay)


def test_equal_scores_are_ordered_by_lot_and_said_to_be() -> None:
    reviewers, items = ["a", "a", "b", "b", "c", "c"], ["x", "y", "y", "z", "z", "x"]
    found = rank(Ratings(reviewers, items, [3.1] * 6), rng=8)
    told = {notice.code: notice.message for notice in found.notices}
    assert "'x', 'y', 'z'" in told["tied_estimates"]


def test_orders_without_scores_are_not_said_to_depend_on_scales() -> None:
    found = rank(Ratings.from_comparisons(["x", "y"], ["y", "z"]), rng=1)
    card = ranking_card(found)
    assert "From 2 comparisons of 3 items" in card.decision[0]
    assert any("No scale can change it" in text for text in card.may)
    assert not any("whatever scales" in text for text in card.may_not)

"""What the report may not hide: who was left out, what is not declared or is tied."""

import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from evenhand import Ratings, check, compare, rank
from evenhand.claims import Claim, Finding, certify
from evenhand.cli import cli
from evenhand.cli.rank import explain
from evenhand.words.cards import ranking_card
from evenhand.words.findings import by_gravity
from evenhand.words.lines import claim_line
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


@pytest.mark.parametrize("seed", [1, 2])
def test_the_coin_of_a_report_is_that_of_the_item_that_came_out(seed: int) -> None:
    ratings = Ratings(["a", "b", "c", "d"], ["A", "A", "B", "B"], [1, 2, 5, 6])
    result = compare(ratings, design="halves", rng=seed)
    page = report(ratings, result, replay=Replay("evenhand compare r.csv"))
    said = re.search(r"The rule picks <bdi>(\w)</bdi> with probability ([\d.]+)%", page)
    assert said is not None
    assert said[1] == result.winner == "B"
    assert float(said[2]) == pytest.approx(100 * (1 - result.p_first), rel=0.01)


def test_a_headline_does_not_end_in_a_label() -> None:
    void = Finding("other_design", "void", {"known": ["halves"], "design": "Dr. A. B"})
    line = "No guarantee: the claim is proved for the designs 'halves', not for "
    assert claim_line(certify(Claim("coin", "G"), [void])) == f"{line}'Dr. A. B'."


def test_a_finding_does_not_end_in_a_label() -> None:
    people = [f"Dr. {who}; PhD, so" for who in "ABCDEF"]
    scores = [*[1, 2, 3, 4, 5, 6, 7, 8] * 5, 8, 7, 6, 5, 4, 3, 2, 1]
    items = [*"stuvwxyz"] * 6
    found = check(Ratings([who for who in people for _ in "stuvwxyz"], items, scores))
    told = {one.code: str(one.brief) for one in by_gravity(found)}
    assert told["disagreeing"].endswith("PhD, so&#39;) goes against the others.")


def test_explaining_names_the_level_that_was_used() -> None:
    ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 5.5])
    result = rank(ratings, rng=7)
    assert result.uncertainty is not None
    sure = replace(result.uncertainty, level=0.95)
    said = explain(replace(result, uncertainty=sure), more=True)
    assert "with probability 95%" in " ".join(said.split())
    assert "90%" not in said


def test_the_help_of_top_says_what_it_does() -> None:
    text = CliRunner().invoke(cli, ["rank", "--help"]).output
    assert "adaptive and safe disagree" not in " ".join(text.split())

"""Findings of a check by how grave they are."""

from __future__ import annotations

import pytest

import evenhand as eh
from evenhand.words.findings import (
    by_gravity,
    group_shares,
    people_dots,
    verdict,
)
from evenhand.words.page import Replay, report


def page(ratings: eh.Ratings, found: eh.Check) -> str:
    return report(ratings, found, replay=Replay("evenhand check r.csv"))


def apart() -> eh.Ratings:
    return eh.Ratings(["a", "a", "b", "b", "b"], [*"xyzwv"], [1, 2, 1, 2, 3])


def test_what_blocks_an_order_comes_first() -> None:
    found = by_gravity(eh.check(apart(), rng=7))
    assert (found[0].code, found[0].gravity) == ("groups", 0)
    assert [one.gravity for one in found] == sorted(one.gravity for one in found)
    assert {one.code for one in found} == {
        one.code for one in eh.check(apart(), rng=7).findings
    }
    assert found[-1].code == "sizes"


def test_equal_scores_say_nothing_about_an_order() -> None:
    level = eh.Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 1, 1, 1])
    assert verdict(eh.check(level, rng=7)).startswith("These ratings cannot order")


def test_clear_ratings_support_an_order() -> None:
    people = [who for who in "abcdef" for _ in range(6)]
    clear = eh.Ratings(people, [1, 2, 3, 4, 5, 6] * 6, [1, 2, 3, 4, 5, 6.5] * 6)
    found = eh.check(clear, top=3, rng=7)
    gravities = {one.code: one.gravity for one in by_gravity(found)}
    assert gravities["contradictions"] == 3
    assert gravities["strictness"] == 3


def test_ties_that_leave_items_apart_only_weaken_an_order() -> None:
    tied = eh.Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [1, 1, 2, 1])
    found = {one.code: one for one in by_gravity(eh.check(tied, rng=7))}
    assert found["groups"].gravity == 2


def test_contradictions_weaken_an_order() -> None:
    ratings = eh.read_ratings("examples/contradiction.csv")
    found = {one.code: one for one in by_gravity(eh.check(ratings, rng=7))}
    assert found["contradictions"].title == "Reviewers contradict each other"
    assert found["contradictions"].gravity == 2


def test_reviewers_who_disagree_can_mislead_and_are_drawn() -> None:
    people = [who for who in "abcdefg" for _ in range(8)]
    scores = [1, 2, 3, 4, 5, 6, 7, 8] * 6 + [8, 7, 6, 5, 4, 3, 2, 1]
    ratings = eh.Ratings(people, [1, 2, 3, 4, 5, 6, 7, 8] * 7, scores)
    found = eh.check(ratings, rng=7)
    assert by_gravity(found)[0].code == "disagreeing"
    assert verdict(found).startswith("An order by these ratings can go wrong: some")
    drawn = people_dots(found, "disagreeing")
    assert drawn is not None
    dots, ticks, _ = drawn
    assert [kind for _, kind in dots].count("open") == 1
    assert min(dots) == (ticks[0][0], "open")
    assert ticks[0][1] == "-1"


def test_groups_are_drawn_by_size_and_the_rest_together() -> None:
    assert [size for size, _, _ in group_shares(eh.check(apart(), rng=7))] == [3, 2]
    many = eh.Ratings(range(20), range(20), range(20))
    *_, last = group_shares(eh.check(many, rng=7))
    assert last[:2] == (14, "14 more groups")


@pytest.mark.parametrize("name", ["designs", "duels", "contradiction", "conference"])
def test_every_check_opens_with_three_findings_at_most(name: str) -> None:
    ratings = eh.read_ratings(f"examples/{name}.csv")
    found = eh.check(ratings, rng=7)
    made = page(ratings, found)
    assert 1 <= made.count("<article") <= 3
    assert f">{verdict(found)}</h1>" in made.replace("&#39;", "'")
    assert made.count("<dt>") >= len(found.findings)


def test_the_cut_shows_how_many_reviews_it_needs() -> None:
    ratings = eh.read_ratings("examples/panel.csv")
    made = page(ratings, eh.check(ratings, top=4, rng=7))
    assert 1 <= made.count("<article") <= 3
    assert "The cut needs more reviews" in made
    assert "to be 80% sure" in made

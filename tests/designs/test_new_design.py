"""A design of one's own is one class: all that asks for designs takes it."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand import (
    DesignError,
    OptionError,
    Ratings,
    Scenario,
    assign,
    designs,
    rank,
    simulate,
)
from evenhand import compare as run_compare
from evenhand.ab.pvalues import p_values
from evenhand.designs.assignment import Assignment
from evenhand.designs.design import RandomDesign, TwoItemDesign, members_of
from evenhand.designs.drawing import seal_of, verify
from evenhand.records.record import assignment_record, text_of, write_decision
from evenhand.records.replay import audit

SECRET = "7" * 64
PEOPLE = [f"r{n}" for n in range(16)]
GROUPS = {reviewer: place // 4 for place, reviewer in enumerate(PEOPLE)}


@pytest.fixture(scope="module", autouse=True)
def blocks() -> Iterator[None]:
    class Blocks(TwoItemDesign):
        """Give each of two items to half of the reviewers of each block."""

        name = "blocks"
        sentence = "In each block every split into halves was equally likely."
        options = ("groups",)
        group = "block"
        redrawn = "half of each block to each item"

        def strata(self, people: Sequence[Any]) -> list[list[list[int]]]:
            blocks = members_of("blocks", people)
            return [[[reviewer] for reviewer in block] for block in blocks]

        def follow(self, firsts: int, seconds: int) -> str:
            return "" if abs(firsts - seconds) <= 1 else "blocks in halves"

    yield
    del RandomDesign.registry["blocks"]


def drawn() -> Assignment:
    people = {"reviewers": PEOPLE, "groups": GROUPS}
    return assign(["x", "y"], **people, design="blocks", secret=SECRET)  # type: ignore[arg-type]  # both


def scored(assignment: Assignment) -> Ratings:
    reviewers, items = zip(*assignment.rows, strict=True)
    scores = [
        5 + (item == "x") + int(str(name)[1:]) % 3 for name, item in assignment.rows
    ]
    return Ratings(reviewers, items, scores)


def test_it_is_drawn_by_its_law() -> None:
    law = designs.law("blocks", "aabb")
    assert law == dict.fromkeys(designs.law("matched", "aabb"), Fraction(1, 4))
    for block in range(4):
        rows = [item for name, item in drawn().rows if GROUPS[str(name)] == block]
        assert sorted(rows) == ["x", "x", "y", "y"]
    assert drawn().law == "In each block every split into halves was equally likely."


def test_p_values_draw_it_again() -> None:
    """Both blocks are clear cut, so one of 6 * 6 assignments is as clear."""
    sides, groups = ([5, 6, 7, 8], [1, 2, 3, 4]), ["aabb", "aabb"]
    test = p_values(*sides, design="blocks", groups=groups, rng=7)
    assert (test.design, test.how, test.samples) == ("blocks", "sampling", 2000)
    assert test.p_value_first == pytest.approx(1 / 36, abs=5 * test.se)
    assert test == p_values(
        *(side[::-1] for side in sides), design="blocks", groups=["bbaa"] * 2, rng=7
    )
    with pytest.raises(DesignError, match="groups must name blocks in halves"):
        p_values([1, 2], [3, 4], design="blocks", groups=["aa", "bb"])


def test_it_is_certified_recorded_and_audited(tmp_path: Path) -> None:
    verified = verify(drawn().without_secret(), SECRET, seal_of(SECRET))
    ratings = scored(verified)
    result = run_compare(ratings, assignment=verified, rng=7)
    assert result.certificate is not None
    assert result.certificate.theorem == "G"
    assert "random assignment (blocks): verified" in result.certificate.texts("checked")
    assert result.p_value is not None
    assert result.p_value < 0.05
    decision, record = tmp_path / "decision.json", tmp_path / "assignment.json"
    write_decision(result, decision, verified)
    record.write_text(text_of(assignment_record(verified)))
    sealed = {"seal": seal_of(SECRET), "secret": SECRET}
    checks = audit(decision, ratings, assignment=record, **sealed).checks
    assert {check.status for check in checks} == {"same"}


def test_it_is_simulated() -> None:
    scenario = Scenario(reviewers=8, design="blocks", scales="identity")
    row, *_ = simulate(scenario, ["mean"], trials=64, rng=7).rows
    assert (row.method, row.risk) == ("mean", 0)


def test_it_is_not_for_many_items() -> None:
    with pytest.raises(OptionError, match="Known designs: 'pairs', 'balanced'"):
        rank(scored(drawn()), design="blocks")

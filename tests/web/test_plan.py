from datetime import UTC, datetime

import pytest

from evenhand.errors import OptionError
from evenhand.web.clock import read_deadline, zones
from evenhand.web.plan import EvaluationPlan, draw_codes, lists_record, read_plan
from evenhand.web.preview import preview
from evenhand.web.scale import RatingScale
from tests.web.world import FORM


def plan(**more: str) -> EvaluationPlan:
    return read_plan({**FORM, **more}, None)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"title": " "}, "must have a title"),
        ({"title": "x" * 201}, "must have a title"),
        ({"method": "mean"}, "The method to rank must be one of"),
        ({"items": "a\na"}, "Items must be different, got 'a' twice"),
        ({"reviewers": "Bo\nBo"}, "Reviewers must be different, got 'Bo' twice"),
        ({"reserves": "Person 1"}, "A reserve must not be a reviewer too"),
        ({"reviewers": "Bo\nBO"}, "must be different, got 'Bo' and 'BO'"),
        ({"conflicts": "Nobody, t1"}, "unknown reviewer 'Nobody'"),
        ({"conflicts": "Person 1, t99"}, "unknown item 't99'"),
        ({"job": "guess"}, "job must be one of: compare, rank"),
        ({"per_reviewer": "many"}, "must be a whole number from 1 to 1000"),
        ({"per_reviewer": "²"}, "must be a whole number from 1 to 1000"),
        ({"scale": "stars"}, "scale must be one of: number"),
        ({"low": "x"}, "low of the scale must be a number"),
        ({"low": "5", "high": "5"}, "must go up by a step above 0"),
        ({"step": "0"}, "must go up by a step above 0"),
        ({"step": "0.00001"}, "step is too small"),
        ({"high": "inf"}, "must have numbers as its ends"),
        ({"scale": "letters", "levels": "A"}, "from 2 to 26 levels, got 1"),
        ({"scale": "letters", "levels": "A\nA"}, "must have its own name"),
        ({"job": "compare", "scale": "order"}, "there is no order"),
        ({"grace": "-1"}, "Minutes of grace must be a whole number"),
    ],
)
def test_a_wrong_field_is_named(more: dict[str, str], says: str) -> None:
    with pytest.raises(OptionError, match=says):
        plan(**more)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"top": "8"}, "must be less than the 8 items"),
        ({"items": "a\nb"}, "at least 3 items, got 2"),
        ({"job": "compare"}, "there must be two items, got 8"),
        ({"reviewers": "Bo"}, "at least two reviewers, got 1"),
        ({"per_reviewer": "9"}, "Nobody can rate 9 of 8 items"),
        ({"conflicts": "\n".join(f"Person 1, t{n}" for n in range(1, 8))}, "Person 1"),
        ({"conflicts": "Rae, t1"}, "A reserve must not have a conflict"),
    ],
)
def test_the_preview_says_why_a_plan_does_not_work(
    more: dict[str, str], says: str
) -> None:
    assert says in preview(plan(**more)).problem


def test_the_preview_says_what_may_be_claimed_and_what_costs_something() -> None:
    found = preview(plan())
    claims = dict(found.claims)
    assert found.problem == ""
    assert found.works.startswith("24 ratings, 3 for each item.")
    assert "no guarantee" in claims["adaptive"]
    assert claims["safe"].startswith("Closer to the true ranking")
    assert [label for label, _ in found.accuracy] == [
        "3 items each",
        "4 items each",
        "6 items each",
    ]
    letters = preview(plan(scale="letters", reserves=""))
    assert "No guarantee" in dict(letters.claims)["safe"]
    assert any("4 levels" in cost for cost in letters.costs)
    assert any("no reserves" in cost for cost in letters.costs)
    conflicts = preview(plan(conflicts="Person 1, t1"))
    assert "conflicts of interest" in dict(conflicts.claims)["safe"]
    assert not any("who the code is" in cost for cost in conflicts.costs)
    few = preview(plan(conflicts="Person 1, t1", per_reviewer="7"))
    assert any("exactly that one" in cost for cost in few.costs)
    two = preview(plan(job="compare", items="a\nb", reviewers="A\nB\nC"))
    assert "more often than a fair coin" in dict(two.claims)["guarded"]
    assert any("one more rating" in cost for cost in two.costs)


def test_what_is_fixed_holds_codes_and_no_names() -> None:
    made = plan()
    key = "0" * 64
    codes = draw_codes(made, key)
    text = str(lists_record(made, key))
    assert "Person" not in text
    assert "example.org" not in text
    assert "Rae" not in text
    assert sorted(codes.values()) == [f"R{n:02}" for n in range(1, 11)]
    # Another key gives other codes; the order of the list gives the same.
    assert any(draw_codes(made, str(n) * 64) != codes for n in range(1, 10))
    again = plan(reviewers="\n".join(reversed(FORM["reviewers"].splitlines())))
    assert draw_codes(again, key) == codes


def test_deadlines_have_zones() -> None:
    assert read_deadline("", "UTC") is None
    found = read_deadline("2026-11-20T23:59", "Anywhere on Earth")
    assert found == datetime(2026, 11, 21, 11, 59, tzinfo=UTC)
    twice = read_deadline("2026-10-25T02:30", "Europe/Berlin")
    assert twice == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert {"UTC", "Europe/Berlin", "America/New_York"} <= set(zones())
    for text, zone in (
        ("soon", "UTC"),
        ("9999-99-99T99:99", "UTC"),
        ("x" * 999, "UTC"),
    ):
        with pytest.raises(OptionError, match="must be a date and a time"):
            read_deadline(text, zone)
    for zone in ("Mars/Base", "", "../../etc/passwd", "\0"):
        with pytest.raises(OptionError, match="must be a name such as"):
            read_deadline("2026-11-20T23:59", zone)


def test_scores_are_on_the_scale_or_named() -> None:
    scale = RatingScale("number", 1, 5, 0.5)
    assert scale.problem(3.5, 3) is None
    assert scale.problem(5, 3) is None
    assert scale.problem(3.25, 3) == "Score must be in steps of 0.5 from 1, got 3.25."
    assert RatingScale("order").problem(4, 3) == "Score must be from 1 to 3, got 4."
    assert RatingScale().problem(float("nan"), 3) is not None

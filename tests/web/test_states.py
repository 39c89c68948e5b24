from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from evenhand.web.states import (
    ACTIONS,
    STATES,
    Stage,
    is_due,
    rating_refusal,
    refusal,
    state_at,
)

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("grace", "late", "taken"),
    [
        (0, -SECOND, True),
        (0, 0 * SECOND, False),
        (0, SECOND, False),
        (2, 0 * SECOND, True),
        (2, 119 * SECOND, True),
        (2, 120 * SECOND, False),
    ],
)
def test_ratings_count_until_the_deadline_and_its_grace(
    grace: int,
    late: timedelta,
    taken: bool,  # noqa: FBT001 - a row of a table
) -> None:
    stage = Stage("open", closes_at=NOON, grace=grace)
    assert (rating_refusal(stage, NOON + late) is None) == taken
    assert is_due(stage, NOON + late) == (not taken)
    assert state_at(stage, NOON + late) == ("open" if taken else "closed")


def test_a_deadline_in_the_hour_that_comes_twice_is_one_moment() -> None:
    zone = ZoneInfo("Europe/Berlin")
    first, second = (
        datetime(2026, 10, 25, 2, 30, tzinfo=zone, fold=fold).astimezone(UTC)
        for fold in (0, 1)
    )
    assert second - first == timedelta(hours=1)
    stage = Stage("open", closes_at=second)
    assert rating_refusal(stage, first) is None


def test_every_action_has_states_that_allow_it_and_others_that_refuse_it() -> None:
    for action, (allowed, after) in ACTIONS.items():
        assert set(allowed) <= set(STATES)
        assert after is None or after in STATES
        for state in STATES:
            stage = Stage(state, paused=action == "resume", closed_at=NOON)
            found = refusal(action, stage, NOON)
            assert (found is None) == (state in allowed), (action, state)
            assert found is None or found.endswith(".")


def test_guards() -> None:
    assert "has begun" in str(refusal("unseal", Stage("open", begun=1), NOON))
    assert "so you cannot look at ratings." in str(refusal("look", Stage("open"), NOON))
    late = Stage("sealed", closes_at=NOON)
    assert "deadline has passed" in str(refusal("open", late, NOON))
    assert refusal("open", late, NOON - SECOND) is None
    assert refusal("pause", Stage("open", paused=True), NOON) == "It is paused already."
    assert refusal("resume", Stage("open"), NOON) == "It is not paused."
    # A deadline that nobody has written down yet counts.
    due = Stage("open", closes_at=NOON)
    assert "is closed" in str(refusal("pause", due, NOON))
    assert refusal("decide", due, NOON) is None


@pytest.mark.parametrize("state", ["draft", "sealed", "closed", "published", "purged"])
def test_no_rating_is_taken_in_other_states(state: str) -> None:
    found = rating_refusal(Stage(state), NOON)
    assert found is not None
    assert found[0] == ("not_open" if state in ("draft", "sealed") else "closed")

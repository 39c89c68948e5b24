"""A seeded share of `python -m tests.web.hostile_requests`, in the suite."""

import pytest

from evenhand.web.app import ROUTES

pytest.importorskip(
    "schemathesis",
    reason="The app is not fuzzed, because schemathesis is missing: pip install "
    "'evenhand[test]'.",
)
from tests.web.hostile_requests import fuzz


def test_no_request_makes_an_error_of_ours() -> None:
    tally = fuzz(1200, 7)
    assert tally.faults == []
    assert sum(tally.statuses.values()) >= 1200
    assert max(tally.statuses) < 500
    # What must be reached: pages, changes, and every way to refuse.
    assert {200, 303, 400, 401, 403, 404, 409, 415, 422, 423} <= set(tally.statuses)
    assert set(tally.routes) >= {it.path for it in ROUTES} - {"/out"}

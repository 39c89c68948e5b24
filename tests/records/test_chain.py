from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import RecordError
from evenhand.records.log import (
    Head,
    append,
    decision_seed,
    follow,
    payload_hash,
)

SEAL = "5e" * 32
AT = datetime(2026, 11, 16, 12, 4, 31, tzinfo=UTC)


def log(*kinds: str) -> list[str]:
    head, lines = Head(0, SEAL), []
    for number, kind in enumerate(kinds):
        event = append(
            head, kind, AT, says={"n": number}, payload=payload_hash("0", number)
        )
        head = event
        lines.append(event.line)
    return lines


@given(st.lists(st.text(max_size=5), min_size=1, max_size=6), st.data())
def test_every_change_of_a_line_breaks_the_chain(
    kinds: list[str], data: st.DataObject
) -> None:
    lines = log(*kinds)
    events, head = follow(lines, SEAL)
    assert [event["kind"] for event in events] == kinds
    place = data.draw(st.integers(0, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[place]) - 1))
    char = data.draw(st.characters(min_codepoint=32, max_codepoint=126))
    changed = lines[place][:at] + char + lines[place][at + 1 :]
    damaged = [*lines[:place], changed, *lines[place + 1 :]]
    try:
        _, found = follow(damaged, SEAL)
    except RecordError:
        return
    # Only the last line can be changed so that it still follows; its hash is the head.
    assert (found == head) == (damaged == lines)


def test_lines_cannot_be_dropped_swapped_or_put_after_another_seal() -> None:
    lines = log("created", "sealed", "opened")
    for damaged in ([lines[1], lines[2]], [lines[0], lines[2]], lines[::-1]):
        with pytest.raises(RecordError, match="does not follow"):
            follow(damaged, SEAL)
    with pytest.raises(RecordError, match="line 1 does not follow the seal"):
        follow(lines, "00" * 32)
    with pytest.raises(RecordError, match="line 1: This is not an event"):
        follow(["{}"], SEAL)


def test_public_lines_have_minutes_and_no_seconds() -> None:
    assert '"at":"2026-11-16T12:04Z"' in log("rated")[0]


def test_a_payload_cannot_be_guessed_without_its_salt() -> None:
    assert payload_hash("a", {"score": 5}) != payload_hash("b", {"score": 5})


@given(st.text("0123456789abcdef", min_size=64, max_size=64))
def test_the_seed_has_53_bits_and_follows_secret_and_head(head: str) -> None:
    seed = decision_seed("0" * 64, head)
    assert 0 <= seed < 2**53
    assert seed != decision_seed("1" + "0" * 63, head)

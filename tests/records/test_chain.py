import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import RecordError
from evenhand.records.events import SAYS
from evenhand.records.log import (
    MOVES,
    Head,
    append,
    follow,
    payload_hash,
    seed_from,
    seed_of_decision,
)

SEAL = "5e" * 32
AT = datetime(2026, 11, 16, 12, 4, 31, tzinfo=UTC)
CLOSED = {"ratings": 3, "begun": 1, "never_began": 0}


KINDS = ("opened", "paused", "resumed", "new link", "looked", "rated")


def log(*kinds: str) -> list[str]:
    head, lines = Head(0, SEAL), []
    for number, kind in enumerate(kinds):
        private: dict[str, Any] = {
            "says": {"nonce": f"{number:032x}"},
            "payload": payload_hash("0", number),
        }
        event = append(head, kind, AT, **private if kind == "rated" else {})
        head = event
        lines.append(event.line)
    return lines


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6), st.data())
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
    lines = log("opened", "paused", "resumed")
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
def test_the_seed_has_53_bits_and_follows_all_that_enters_it(nonces: str) -> None:
    seed = seed_of_decision("0" * 64, nonces)
    assert 0 <= seed < 2**53
    assert seed != seed_of_decision("1" + "0" * 63, nonces)
    assert seed != seed_of_decision("0" * 64, nonces, "1")


RATED = {"kind": "rated", "says": {"nonce": "a" * 32}}


@given(st.permutations([RATED, {"kind": "recused", "says": {"nonce": "b" * 32}}]))
def test_only_nonces_and_the_public_value_move_the_seed(
    rated: list[dict[str, Any]],
) -> None:
    """Times, order, other events and ratings without a nonce are nobody's levers."""
    secret = "0" * 64
    seed = seed_from(secret, rated)
    plain = [{**it, "at": "2036-01-01T00:00Z", "payload": "1" * 64} for it in rated]
    others: list[dict[str, Any]] = [
        {"kind": "extended", "says": {"closes_at": None}},
        {"kind": "paused"},
        {"kind": "rated", "says": {"nonce": None}},
        {"kind": "closed", "says": {"ratings": 3, "begun": 1, "never_began": 0}},
    ]
    assert seed_from(secret, [*others, *plain, *others]) == seed
    assert seed_from(secret, rated[:1]) != seed
    assert seed_from(secret, [*rated, RATED]) != seed
    value = {"kind": "valued", "says": {"value": "12.5"}}
    assert seed_from(secret, [*rated, value]) != seed


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "more": ("opened", {"says": {"nonce": 1}}, 'It must not have "says".'),
    "more said": ("closed", {"says": {**CLOSED, "x": 1}}, 'not have "says.x"'),
    "less": ("closed", {"says": {"ratings": 1}}, 'It lacks "says.begun".'),
    "nothing": ("closed", {}, 'It lacks "says".'),
    "a truth": ("closed", {"says": {**CLOSED, "begun": True}}, "cannot be true"),
    "below 0": ("closed", {"says": {**CLOSED, "begun": -1}}, "cannot be -1"),
    "any text": ("extended", {"says": {"closes_at": "soon"}}, 'cannot be "soon"'),
    "no UTC": ("extended", {"says": {"closes_at": "2026-11-16T12:04Z"}}, "cannot be"),
    "a short nonce": ("rated", {"says": {"nonce": "ab"}, "payload": SEAL}, "nonce"),
    "no payload": ("rated", {"says": {"nonce": None}}, 'It lacks "payload".'),
    "a value of words": ("valued", {"says": {"value": "1 2"}}, "cannot be"),
    "unknown": ("won", {"says": {"winner": "t1"}}, "no such kind of event"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_event_with_other_fields_is_not_written(name: str) -> None:
    kind, more, words = WRONG[name]
    with pytest.raises(RecordError, match=re.escape(words)):
        append(Head(0, SEAL), kind, AT, **more)


def test_what_an_event_may_hold_has_a_move() -> None:
    """Each kind in the rules has its fields; only a purge comes after all of them."""
    assert set(SAYS) - set(MOVES) == {"purged"}
    assert set(MOVES) <= set(SAYS)

"""Any interleaving of ratings: nothing is lost, doubled, or taken when it must not."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evenhand.records.log import Head, follow, parse_event, payload_hash
from evenhand.web.accept import (
    Done,
    Entry,
    Open,
    Rater,
    ReviewAnswer,
    ReviewTask,
    Sending,
    Snapshot,
    Writes,
    accept,
)
from evenhand.web.scale import RatingScale
from evenhand.web.states import Stage

SEAL = "5e" * 32
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
TOKENS = ("a" * 64, "b" * 64)
PLACES = (1, 2, 3)


class World:
    """Two reviewers of one evaluation, as a database would keep them."""

    def __init__(self) -> None:
        self.stage = Stage("open", closes_at=NOON + timedelta(hours=1))
        self.now = NOON
        self.raters = {
            token: Rater(1, number, f"R0{number}", "begun")
            for number, token in enumerate(TOKENS, start=1)
        }
        self.tasks = {
            (1, who, place): ReviewTask(10 * who + place, f"item {place}")
            for who in (1, 2)
            for place in PLACES
        }
        self.done: list[Done] = []
        self.lines: list[str] = []
        self.payloads: dict[int, tuple[str, object]] = {}
        self.head = Head(0, SEAL)
        self.salts = itertools.count()

    def send(self, *batch: Sending) -> list[ReviewAnswer]:
        keys: dict[tuple[int, str], tuple[Done, ...]] = {}
        for one in self.done:
            keys[1, one.key] = (*keys.get((1, one.key), ()), one)
        known = Snapshot(
            self.raters,
            {1: Open(self.stage, RatingScale(), self.head)},
            self.tasks,
            keys,
        )
        answers, writes = accept(
            batch, known, self.now, lambda: f"{next(self.salts):064}"
        )
        self.write(writes)
        return answers

    def write(self, writes: Writes) -> None:
        self.lines += [event.line for _, event in writes.events]
        self.payloads |= {n: (salt, body) for _, n, salt, body in writes.payloads}
        self.done += writes.done
        self.tasks |= writes.tasks
        self.head = writes.heads.get(1, self.head)

    def replayed(self) -> dict[tuple[str, str], object]:
        """Return the scores that the log alone says, checked against its hashes."""
        events, head = follow(self.lines, SEAL)
        assert head == self.head
        found: dict[tuple[str, str], object] = {}
        for event in events:
            salt, body = self.payloads[event["n"]]
            assert event["payload"] == payload_hash(salt, body)  # type: ignore[arg-type]  # plain
            assert isinstance(body, dict)
            found[body["reviewer"], body["item"]] = body["score"]
        return found


def rate(
    place: int = 1, base: int = 0, score: float = 50, key: str = "0" * 32
) -> Sending:
    return Sending(TOKENS[0], key, (Entry(place, base, "score", score),))


class Interleavings(RuleBasedStateMachine):
    """Reviewers, tabs, retries, deadlines and pauses in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.sent: list[tuple[Sending, ReviewAnswer]] = []
        self.keys = itertools.count()

    def _send(self, *batch: Sending) -> list[ReviewAnswer]:
        before = {place: task.version for place, task in self.world.tasks.items()}
        answers = self.world.send(*batch)
        taken = sum(
            len(one.entries)
            for one, answer in zip(batch, answers, strict=True)
            if answer.status == 201
        )
        grown = sum(
            task.version - before[place] for place, task in self.world.tasks.items()
        )
        assert grown == taken
        self.sent += zip(batch, answers, strict=True)
        return answers

    @rule(
        who=st.sampled_from(TOKENS),
        place=st.integers(0, 4),
        stale=st.integers(0, 2),
        score=st.floats(-10, 110).map(lambda x: round(x, 1)),
        kind=st.sampled_from(["score", "recuse", "clear", "note"]),
        note=st.sampled_from([None, "", "Why?"]),
    )
    def submit(
        self,
        who: str,
        place: int,
        stale: int,
        score: float,
        kind: str,
        note: str | None,
    ) -> None:
        rater = self.world.raters[who]
        task = self.world.tasks.get((1, rater.reviewer, place))
        base = 0 if task is None else max(0, task.version - stale)
        given = score if kind == "score" else None
        sending = Sending(
            who, f"{next(self.keys):032}", (Entry(place, base, kind, given, note),)
        )
        (answer,) = self._send(sending)
        is_open = self.world.stage.state == "open" and not self.world.stage.paused
        in_time = self.world.now < NOON + timedelta(hours=1)
        fits = task is not None and base == task.version
        on_scale = kind != "score" or 0 <= score <= 100
        begun = rater.state in ("begun", "done") and not rater.revoked
        says = kind != "note" or note is not None
        assert (answer.status == 201) == (
            is_open and in_time and fits and on_scale and begun and says
        )
        if task is not None and answer.status == 201:
            after = self.world.tasks[1, rater.reviewer, place]
            assert after.note == (task.note if note is None else note)
            if kind == "note":
                assert (after.state, after.score) == (task.state, task.score)

    @rule(number=st.integers(0, 10**6))
    def retry(self, number: int) -> None:
        """An answer was lost; the same is sent again, maybe long after the close."""
        if not self.sent:
            return
        sending, first = self.sent[number % len(self.sent)]
        (again,) = self._send(sending)
        if first.status in (200, 201) and not self.world.raters[sending.token].revoked:
            assert again == ReviewAnswer(200, first.body)

    @rule(place=st.sampled_from(PLACES), scores=st.permutations([1, 2, 3]))
    def double(self, place: int, scores: list[int]) -> None:
        """A double click, and another tab, in one batch."""
        base = self.world.tasks[1, 1, place].version
        key = f"{next(self.keys):032}"
        one = rate(place, base, scores[0], key)
        tab = rate(place, base, scores[1], f"{next(self.keys):032}")
        first, same, other = self._send(one, one, tab)
        if first.status == 201:
            assert (same.status, same.body) == (200, first.body)
            assert (other.status, other.body["code"]) == (409, "changed")
            assert other.body["score"] == scores[0]

    @rule(score=st.integers(0, 100))
    def reuse(self, score: int) -> None:
        """A key is used for something else."""
        taken = [one for one, answer in self.sent if answer.status == 201]
        if taken and not self.world.raters[taken[0].token].revoked:
            entry = Entry(1, 999, "score", score)
            (answer,) = self._send(Sending(taken[0].token, taken[0].key, (entry,)))
            assert (answer.status, answer.body["code"]) == (409, "key_reused")

    @rule(minutes=st.integers(1, 10))
    def later(self, minutes: int) -> None:
        self.world.now += timedelta(minutes=minutes)

    @rule(
        state=st.sampled_from(["sealed", "open", "open", "open", "closed", "decided"]),
        paused=st.booleans(),
    )
    def move(self, state: str, paused: bool) -> None:  # noqa: FBT001 - hypothesis names it
        self.world.stage = Stage(state, paused, NOON + timedelta(hours=1))

    @rule(
        who=st.sampled_from(TOKENS),
        state=st.sampled_from(["invited", "begun", "done", "absent", "begun"]),
        revoked=st.booleans(),
    )
    def person(self, who: str, state: str, revoked: bool) -> None:  # noqa: FBT001 - hypothesis names it
        old = self.world.raters[who]
        self.world.raters[who] = Rater(1, old.reviewer, old.label, state, revoked)

    @invariant()
    def history_is_whole(self) -> None:
        history = self.world.done
        for place, task in self.world.tasks.items():
            own = [one for one in history if (1, one.reviewer_id, one.place) == place]
            assert [one.version for one in own] == list(range(1, task.version + 1))
            assert (own[-1].score if own else None) == task.score
        assert len({(one.key, one.task_id) for one in history}) == len(history)
        assert [one.n for one in history] == list(range(1, len(history) + 1))

    @invariant()
    def replay_of_the_log_gives_the_tables(self) -> None:
        told = self.world.replayed()
        rated = {
            (f"R0{who}", task.item): task.score
            for (_, who, _), task in self.world.tasks.items()
            if task.version
        }
        assert told == rated


TestInterleavings = Interleavings.TestCase
# 5,000 steps: any interleaving of a few is tried.
TestInterleavings.settings = settings(max_examples=60, stateful_step_count=50)


def test_a_receipt_names_an_event_of_the_log() -> None:
    world = World()
    (answer,) = world.send(rate())
    entry = answer.body["entries"][0]  # type: ignore[index]  # a list
    assert answer.status == 201
    assert entry["receipt"] == world.head.hash  # type: ignore[index,call-overload]  # an object
    line = parse_event(world.lines[0], 1)
    assert line["kind"] == "rated"
    # The receipt does not show what was rated: neither score nor salt is in the line.
    assert set(line) == {"schema", "n", "at", "kind", "prev", "says", "payload"}
    assert line["says"] == {"nonce": None}


def test_the_nonce_of_a_device_is_logged_and_kept_by_a_repeat() -> None:
    world = World()
    sending = replace(rate(), nonce="7e" * 16)
    (first,), (again,) = world.send(sending), world.send(sending)
    assert (first.status, again.status) == (201, 200)
    assert first.body == again.body
    assert first.body["entries"][0]["nonce"] == "7e" * 16  # type: ignore[index,call-overload]  # an object
    assert len(world.lines) == 1
    assert parse_event(world.lines[0], 1)["says"] == {"nonce": "7e" * 16}
    (other,) = world.send(replace(sending, nonce="00" * 16))
    assert (other.status, other.body["code"]) == (409, "key_reused")


def test_an_order_is_taken_whole_or_not_at_all() -> None:
    world = World()
    world.send(rate(2, 0, 10, "1" * 32))
    entries = tuple(Entry(place, 0, "score", place) for place in PLACES)
    (answer,) = world.send(Sending(TOKENS[0], "2" * 32, entries))
    assert answer.body["code"] == "changed"
    assert [task.version for task in world.tasks.values()] == [0, 1, 0, 0, 0, 0]
    entries = tuple(Entry(p, int(p == 2), "score", p) for p in PLACES)
    (answer,) = world.send(Sending(TOKENS[0], "3" * 32, entries))
    assert answer.status == 201
    assert [t.score for t in world.tasks.values()] == [1, 2, 3, None, None, None]


@pytest.mark.parametrize(
    ("sending", "code"),
    [
        (Sending("c" * 64, "0" * 32, (Entry(1, 0, "score", 5),)), "no_link"),
        (Sending("", "0" * 32, (Entry(1, 0, "score", 5),)), "no_link"),
        (rate(score=710), "not_on_scale"),
        (rate(score=50.05), "not_on_scale"),
        (rate(score=float("nan")), "not_on_scale"),
        (rate(place=4), "no_task"),
        (Sending(TOKENS[0], "0" * 32, (Entry(1, 0, "steal"),)), "not_known"),
        (Sending(TOKENS[0], "0" * 32, (Entry(1, 0, "score", None),)), "no_score"),
        (Sending(TOKENS[0], "0" * 32, (Entry(1, 0, "clear", 5),)), "no_score"),
    ],
)
def test_what_is_wrong_is_said(sending: Sending, code: str) -> None:
    world = World()
    (answer,) = world.send(sending)
    assert answer.body["code"] == code
    assert str(answer.body["message"]).endswith(".")
    assert world.done == []

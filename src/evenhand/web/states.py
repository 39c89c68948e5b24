"""The states of an evaluation, and what may be done in which; time is an argument.

The auditor has its own table (`records.log.Rules`), on purpose: it must not trust the
code that wrote the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from evenhand.records.log import UNDO

STATES = ("draft", "sealed", "open", "closed", "decided", "published", "purged")
COLLECTED = ("closed", "decided", "published")
REVIEWER_STATES = ("invited", "begun", "done", "absent", "replaced")
ACTIONS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "edit": (("draft",), None),
    "seal": (("draft",), "sealed"),
    "unseal": (("sealed", "open"), "draft"),
    "open": (("sealed",), "open"),
    "pause": (("open",), None),
    "resume": (("open",), None),
    "extend": (("sealed", "open"), None),
    "repair": (("sealed", "open"), None),
    "link": (("sealed", "open"), None),
    "close": (("open",), "closed"),
    "reopen": (("closed",), "open"),
    "value": (("closed",), None),
    "look": (COLLECTED, None),
    "check": (COLLECTED, None),
    "decide": (COLLECTED, None),
    "publish": (("decided", "published"), "published"),
    "withdraw": (("published",), "decided"),
    "invite": (STATES[:-1], None),
    "purge": (STATES[:-1], "purged"),
}
"""For each action, the states that allow it, and the state after it if it changes."""
SAID = {
    "reopen": "undo the close",
    "value": "put in the public value",
    "look": "look at ratings",
    "check": "check its ratings",
    "decide": "decide",
    "unseal": "go back to the draft",
    "extend": "move its deadline",
    "repair": "change who takes part",
    "link": "make links",
    "invite": "invite organisers",
    "withdraw": "take back what is published",
}
"""What cannot be done, where the action and "it" would not say so."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What the rules need to know about an evaluation.

    Attributes:
        state: One of STATES, as it was last written down.
        paused: Whether the organiser paused it.
        closes_at: When it closes, None if only by hand.
        grace: Minutes after that in which late ratings still count.
        begun: How many reviewers have begun.
        closed_at: When it was closed, None if that is not written down.
        looked: Whether somebody has seen a score.
    """

    state: str
    paused: bool = False
    closes_at: datetime | None = None
    grace: int = 0
    begun: int = 0
    closed_at: datetime | None = None
    looked: bool = False

    @property
    def ends_at(self) -> datetime | None:
        """The last moment at which a rating counts."""
        if self.closes_at is None:
            return None
        grace = timedelta(minutes=self.grace)
        last = datetime.max.replace(tzinfo=self.closes_at.tzinfo)
        return self.closes_at + min(grace, last - self.closes_at)


def is_due(stage: Stage, now: datetime) -> bool:
    """Say whether the deadline has passed and the evaluation must be closed.

    Examples:
        >>> from datetime import UTC
        >>> noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
        >>> is_due(Stage("open", closes_at=noon), noon)
        True
        >>> is_due(Stage("open", closes_at=noon, grace=1), noon)
        False
    """
    ends = stage.ends_at
    return stage.state == "open" and ends is not None and now >= ends


def state_at(stage: Stage, now: datetime) -> str:
    """Return the state at a time, whether or not anybody has written it down yet."""
    return "closed" if is_due(stage, now) else stage.state


def undo_until(stage: Stage, now: datetime) -> datetime | None:
    """Return until when a close can be undone, None if it cannot be any more.

    Examples:
        >>> noon = datetime(2026, 11, 16, 12)
        >>> undo_until(Stage("closed", closed_at=noon), noon).minute
        10
    """
    if stage.state != "closed" or stage.looked or stage.closed_at is None:
        return None
    until = stage.closed_at + timedelta(minutes=UNDO)
    return until if now < until else None


def refusal(action: str, stage: Stage, now: datetime) -> str | None:
    """Say why an action is not allowed now, None if it is.

    Examples:
        >>> refusal("seal", Stage("open"), datetime.max)
        'This evaluation is open, so you cannot seal it.'
    """
    # A deadline that has passed can still be moved, until the close is written down.
    written = action in ("extend", "reopen")
    state = stage.state if written else state_at(stage, now)
    allowed, _ = ACTIONS[action]
    if state not in allowed:
        does = SAID.get(action, f"{action} it")
        is_now = "a draft" if state == "draft" else state
        return f"This evaluation is {is_now}, so you cannot {does}."
    if action == "unseal" and stage.begun:
        return (
            "Somebody has begun and seen their items, so the draw stands. Make a new "
            "evaluation instead."
        )
    if action == "reopen" and undo_until(stage, now) is None:
        return (
            f"A close can be undone for {UNDO} minutes, and only until somebody looks "
            "at ratings or decides. Make a new evaluation instead."
        )
    if action == "open" and stage.closes_at is not None and now >= stage.closes_at:
        return "The deadline has passed. Set a later one first."
    if action in ("pause", "resume") and stage.paused == (action == "pause"):
        return "It is paused already." if stage.paused else "It is not paused."
    return None


def rating_refusal(stage: Stage, now: datetime) -> tuple[str, str] | None:
    """Say why no rating is taken now, as a code and a sentence; None if one is.

    Examples:
        >>> rating_refusal(Stage("open", paused=True), datetime.max)[0]
        'paused'
    """
    state = state_at(stage, now)
    if state in ("draft", "sealed"):
        return "not_open", "This evaluation is not open yet."
    if undo_until(stage, now) is not None:
        return "paused", "The organiser closed this evaluation and may reopen it."
    if state != "open":
        return "closed", "This evaluation is closed. This rating was not counted."
    if stage.paused:
        return "paused", "The organiser paused this evaluation. Try again later."
    return None

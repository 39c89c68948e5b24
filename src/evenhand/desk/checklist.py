"""What an audit found: a checklist in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evenhand._results import Json, version
from evenhand.certificate import NOT_SEALED, REVEALED
from evenhand.desk.canonical import ABSENT, Difference
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

Status = Literal["same", "differs", "unchecked"]

SCHEMA = "evenhand.audit/1"
MARKS: Mapping[Status, str] = {"same": "ok", "differs": "DIFFERS", "unchecked": "--"}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked, or could not be.

    Attributes:
        name: "record", "assignment record", "seal", "seed", "assignment", "ratings",
            "data" or "decision".
        status: "same", "differs" or "unchecked".
        says: One sentence: what was found, or why it could not be checked.
        difference: The first place that differs, or None.
    """

    name: str
    status: Status
    says: str
    difference: Difference | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values."""
        where = self.difference
        return {
            "name": self.name,
            "status": self.status,
            "message": self.says,
            "field": None if where is None else where.field,
            "expected": None if where is None else _shown(where.expected),
            "found": None if where is None else _shown(where.found),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """What an audit found.

    Attributes:
        checks: Each check, in the order in which they were made.
    """

    checks: tuple[Check, ...]

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return self.first is None

    @property
    def first(self) -> Check | None:
        """The first check that found a difference, or None."""
        return next((check for check in self.checks if check.status == "differs"), None)

    @property
    def verdict(self) -> str:
        """What was found, in a line.

        Examples:
            >>> Audit((Check("data", "unchecked", "No ratings were given."),)).verdict
            'Nothing differs; 1 thing could not be checked.'
        """
        if self.first is not None:
            where = self.first.difference
            return f"First difference, in the {self.first.name}: {where}."
        found = {check.name: check.status for check in self.checks}
        unchecked = sum(check.status == "unchecked" for check in self.checks)
        text = "Nothing differs"
        if unchecked:
            text += f"; {counted(unchecked, 'thing')} could not be checked"
        if found.get("seal") == "unchecked":
            how = f"{REVEALED}; " if found["seed"] == "same" else ""
            text += f". The assignment: {how}{NOT_SEALED}"
        return f"{text}."

    def to_dict(self) -> dict[str, Json]:
        """Return the audit as in the JSON.

        Examples:
            >>> Audit((Check("record", "same", "It fits."),)).to_dict()["identical"]
            True
        """
        return {
            "schema": SCHEMA,
            "identical": self.identical,
            "verdict": self.verdict,
            "checks": [check.to_dict() for check in self.checks],
            "version": version(),
        }

    def __repr__(self) -> str:
        lines = [f"{MARKS[one.status]:<8}{one.name}: {one.says}" for one in self.checks]
        return "\n".join([*lines, self.verdict])


def _shown(value: Json) -> Json:
    return None if value is ABSENT else value

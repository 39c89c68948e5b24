"""Audit: draw and decide again from a record, and name the first thing that differs."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evenhand.ab.comparison import compare
from evenhand.ab.methods import Rule
from evenhand.claims import NOT_SEALED, REVEALED, Json, version
from evenhand.designs.drawing import redraw, seal_of
from evenhand.engines.counts import Counts
from evenhand.errors import EvenhandError, RecordError, counted, listing
from evenhand.formats.anonymise import CODED
from evenhand.method import Method, as_method
from evenhand.ranking.methods import RankMethod
from evenhand.ranking.ranking import rank
from evenhand.records.canonical import (
    ABSENT,
    Difference,
    canonical,
    contents,
    difference,
    fault,
    is_dict,
    is_list,
)
from evenhand.records.record import (
    as_dict,
    assignment_from,
    assignment_record,
    chain_of,
    kind_of,
    read_record,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Backing
    from evenhand.designs.assignment import Assignment
    from evenhand.ranking.results import Ranking
    from evenhand.ratings import Ratings
    from evenhand.records.canonical import Record

FIELDS = ("schema", "result", "assignment", "version", "hashes", "sha256")
RESULTS: dict[str, tuple[type[Method], Callable[..., Comparison | Ranking]]] = {
    "evenhand.compare/1": (Rule, compare),
    "evenhand.rank/1": (RankMethod, rank),
}
OWN = ("checked_on_data", "own_function")
Status = Literal["same", "differs", "unchecked"]
SCHEMA = "evenhand.audit/1"
MARKS: dict[Status, str] = {"same": "ok", "differs": "DIFFERS", "unchecked": "--"}
FOLLOWS = "It amends the record before it."
KEYLESS = (
    "The decision shows reviewers by codes, and its draws follow the order of their "
    "names. Give their key with --anonymise, and the file that was read."
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked, or could not be.

    Attributes:
        name: "record", "assignment record", "seal", "seed", "assignment", "assignment
            2" and so on with "assignment 2 record", "ratings", "data" or "decision".
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
        where = self.difference or Difference("", None, None)
        expected, found = (
            None if value is ABSENT else value
            for value in (where.expected, where.found)
        )
        field = where.field if self.difference else None
        told = {"name": self.name, "status": self.status, "message": self.says}
        return {**told, "field": field, "expected": expected, "found": found}


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


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an audit may hold a record against.

    Attributes:
        ratings: The ratings, or None.
        assignment: Path of the record of the assignment, or None.
        seal: The published seal, or None.
        secret: The revealed secret, or None.
    """

    ratings: Ratings | Counts | None = None
    assignment: str | None = None
    seal: str | None = None
    secret: str | None = None


def audit(
    record: str | os.PathLike[str],
    ratings: Ratings | Counts | None = None,
    *,
    assignment: str | os.PathLike[str] | None = None,
    seal: str | None = None,
    secret: str | None = None,
) -> Audit:
    """Check a record of an assignment or a decision against all that there is.

    Args:
        record: Path of the record.
        ratings: The ratings.
        assignment: For a decision, path of the record of the assignment.
        seal: The seal that was published, 64 hexadecimal digits.
        secret: The secret that was revealed, 64 hexadecimal digits.

    Returns:
        Every check that was made, and those that could not be.

    Raises:
        RecordError: If a record is not ours, or cannot be replayed.

    Examples:
        >>> audit("none.json")
        Traceback (most recent call last):
        ...
        evenhand.errors.RecordError: none.json: The file cannot be read: No such file or
        directory.
    """
    name = os.fspath(record)
    name = chain_of(name)[0] if Path(name).is_dir() else name
    found = read_record(name)
    path = None if assignment is None else os.fspath(assignment)
    given = Evidence(ratings, path, seal, secret)
    kind = kind_of(found)
    if kind not in ("assignment", "record"):
        raise RecordError(
            f"{name}: An audit begins with an assignment or a decision, got a {kind}. "
            f"Give the {kind} with --{kind}."
        )
    if kind == "assignment" and path is not None:
        raise RecordError(
            f"{name}: This is an assignment itself. Leave out --assignment."
        )
    if kind == "assignment":
        return Audit(tuple(_chain(chain_of(name), given, "record")[0]))
    checks = [_whole(found, "record")]
    if checks[0].status == "differs":
        return Audit((*checks, _stopped()))
    return Audit((*checks, *_decision(found, name, given)))


def _told(name: str, where: Difference | None, same: str, differs: str) -> Check:
    if where is None:
        return Check(name, "same", same)
    return Check(name, "differs", differs, where)


def _open(name: str, why: str) -> Check:
    return Check(name, "unchecked", why)


def _whole(record: Record, name: str) -> Check:
    where = fault(record)
    field = "" if where is None else where.field
    edited = f"It was edited or damaged in field {field!r}."
    return _told(name, where, "The record matches its hash.", edited)


def _stopped() -> Check:
    return _open("rest", "An edited record says nothing about the rest.")


def _chain(
    names: list[str], given: Evidence, called: str, named: Check | None = None
) -> tuple[list[Check], Assignment | None]:
    """Check a first draw and its amendments, and the ratings against what holds now.

    Returns:
        The checks, and the assignment that holds if none of them had to stop.
    """
    checks: list[Check] = []
    drawn: Assignment | None = None
    before: Json = None
    for number, name in enumerate(names, start=1):
        record = read_record(name)
        what = "assignment" if drawn is None else f"assignment {number}"
        checks.append(_whole(record, called if drawn is None else f"{what} record"))
        checks += [named] if named and drawn is None else []
        if any(check.status == "differs" for check in checks[-2:]):
            return [*checks, _stopped()], None
        drawn = assignment_from(record, name, drawn)
        if drawn.amends is None:
            checks += [_seal(drawn, given), _seed(drawn, given)]
        else:
            stated = as_dict(record["amends"])["sha256"]
            where = difference(before, stated, "amends.sha256")
            checks.append(_told(what, where, FOLLOWS, "It amends another record."))
        checks.append(_draw(record, drawn, given, what))
        before = record["sha256"]
    return [*checks, _rated(drawn, given)], drawn


def _seal(drawn: Assignment, given: Evidence) -> Check:
    if given.seal is None:
        more = "" if drawn.seal else ", and the assignment was not sealed"
        return _open("seal", f"No published seal was given{more}.")
    same = "The assignment has the seal that was published."
    where = difference(given.seal, drawn.seal, "seal")
    return _told("seal", where, same, "The assignment has another seal.")


def _seed(drawn: Assignment, given: Evidence) -> Check:
    if given.secret is None:
        why = "The secret was not given." if drawn.seal else "The seed is an open one."
        return _open("seed", why)
    where = difference(seal_of(given.secret), drawn.seal, "seal")
    same = "The secret matches the seal."
    return _told("seed", where, same, "The secret does not match the seal.")


def _draw(record: Record, drawn: Assignment, given: Evidence, what: str) -> Check:
    seed = drawn.seed if given.secret is None else given.secret
    if seed is None:
        return _open(what, "The seed is still sealed.")
    try:
        again = redraw(drawn, seed)
    except EvenhandError as error:
        raise RecordError(f"The assignment cannot be drawn again: {error}") from error
    expected = contents(assignment_record(again))
    words = f"The seed draws this {what.split(maxsplit=1)[0]} again"
    return _replayed(what, expected, contents(record), words)


def _rated(drawn: Assignment | None, given: Evidence) -> Check:
    if drawn is None or given.ratings is None:
        return _open("ratings", "No ratings were given.")
    if isinstance(given.ratings, Counts):
        return _open("ratings", "Counts of scores do not say who scored what.")
    strays = drawn.strays(given.ratings)
    if strays:
        reviewer, item = strays[0]
        where = Difference(
            f"rating of item {item!r} by reviewer {reviewer!r}",
            "an assigned review",
            "a review that was not assigned",
        )
        says = f"{counted(len(strays), 'rating')} came from outside the assignment."
        return Check("ratings", "differs", says, where)
    missing = drawn.missing(given.ratings)
    says = "Every rating was assigned."
    if missing:
        who = listing(dict.fromkeys(who for who, _ in missing))
        says += f" {counted(len(missing), 'assigned review')} without a rating: {who}."
    if effect := drawn.effect(given.ratings):
        says += f" {effect}"
    return Check("ratings", "same", says)


def _decision(record: Record, name: str, given: Evidence) -> list[Check]:
    result, came = record.get("result"), record.get("assignment")
    if not is_dict(result) or result.get("schema") not in RESULTS:
        raise RecordError(f"{name}: result must be a comparison or a ranking.")
    # A decision has these fields only, and the version of its result.
    usual = {**dict.fromkeys(FIELDS), **record, "version": result.get("version")}
    if came is not None and not (is_dict(came) and set(came) == {"sha256"}):
        usual["assignment"] = "the sha256 of an assignment, or null"
    where = difference({key: usual[key] for key in FIELDS}, record)
    if where is not None:
        says = "A decision has no such field, or not with this value."
        return [Check("record", "differs", says, where), _stopped()]
    drawn: Assignment | None = None
    if given.assignment is None:
        why = "No assignment was given"
        why += "." if came is None else ", though the decision was made with one."
        checks = [_open("assignment", why)]
    else:
        names = chain_of(given.assignment)
        named = None
        if came is not None:
            last = read_record(names[-1]).get("sha256", ABSENT)
            where = difference({"sha256": last}, came, "assignment")
            same = "The decision names this assignment."
            named = _told("assignment", where, same, "The decision names another one.")
        checks, drawn = _chain(names, given, "assignment record", named)
        if drawn is None:
            return checks
    if given.ratings is None:
        return [*checks, _open("data", "No ratings were given.")]
    sound = all(check.status != "differs" for check in checks)
    made = _Decision(result, name, is_dict(came), drawn if is_dict(came) else None)
    return [*checks, *_replay(made, given.ratings, given, sound=sound)]


def _data(result: Mapping[str, Json], ratings: Ratings | Counts) -> Check:
    where = difference(ratings.summary(), result.get("data", ABSENT), "result.data")
    says = "The decision was not made from these ratings, or one was changed"
    says += ", or this is not its key." if _is_coded(result.get("warnings")) else "."
    return _told("data", where, "The decision was made from these ratings.", says)


def _is_coded(notes: Json) -> bool:
    listed = notes if is_list(notes) else []
    return any(is_dict(note) and note.get("code") == CODED.code for note in listed)


class _Decision(NamedTuple):
    """A decision to be made again.

    Attributes:
        result: Its fields.
        name: What messages call its record.
        came: Whether it was made with an assignment.
        drawn: That assignment, None if it was not given.
    """

    result: Mapping[str, Json]
    name: str
    came: bool
    drawn: Assignment | None


def _replay(
    made: _Decision, ratings: Ratings | Counts, given: Evidence, *, sound: bool
) -> list[Check]:
    """Hold ratings against a decision, and make it again."""
    result, drawn = made.result, made.drawn
    parameters = result.get("parameters")
    if is_dict(parameters) and parameters.get("pairing") == "given":
        raise RecordError(
            f"{made.name}: The decision was made from two lists of scores in the "
            "order of their pairs, which ratings do not hold. Give no ratings."
        )
    data = _data(result, ratings)
    notes = [notice.to_dict() for notice in ratings.notices]
    if _is_coded(result.get("warnings")) and not _is_coded(notes):
        same = data if data.status == "same" else _open("data", KEYLESS)
        return [same, _open("decision", KEYLESS)]
    if data.status == "differs" or not sound:
        return [data, _open("decision", "It cannot follow from what differs already.")]
    if made.came and drawn is None:
        says = "It was made with an assignment, which was not given."
        return [data, _open("decision", says)]
    backing = _backing(result)
    if drawn is not None and drawn.seal is None and backing != "declared":
        where = Difference("result.certificate", "declared", backing)
        says = f"An assignment that was not sealed cannot have been {backing}."
        return [data, Check("decision", "differs", says, where)]
    # Secret and seal have checks of their own; what was not given is taken on trust
    # here, so that all else of the certificate is checked.
    again = _decide(made, ratings, drawn and replace(drawn, _backing=backing))
    words = "The ratings, method, parameters and seed give this result again"
    if backing != "declared" and given.secret is None:
        words += f" (that its assignment was {backing} needs the secret)"
    elif backing == "verified" and given.seal is None:
        words += " (that its assignment was verified needs the published seal)"
    return [data, _replayed("decision", again, result, words, "result")]


def _backing(result: Mapping[str, Json]) -> Backing:
    """Read off the certificate how the assignment was established."""
    text = canonical(result.get("certificate"))
    if NOT_SEALED in text:
        return "revealed"
    return "verified" if '): verified"' in text else "declared"


def _decide(
    made: _Decision, ratings: Ratings | Counts, drawn: Assignment | None
) -> dict[str, Json]:
    """Make a decision again from its parameters and its seed."""
    result, name = made.result, made.name
    parameters, seed = result.get("parameters"), result.get("seed")
    if not is_dict(parameters) or not isinstance(seed, int):
        raise RecordError(f"{name}: parameters and seed must be there.")
    weight = parameters.get("weight")
    grid = is_dict(weight) and weight.get("checked_on_grid") is True
    if any(parameters.get(own) is True for own in OWN) or grid:
        raise RecordError(
            f"{name}: The decision was made with a function of the user's own and "
            "cannot be replayed from the record alone."
        )
    job, call = RESULTS[str(result["schema"])]
    split = parameters.get("split")
    options: dict[str, Any] = {
        **parameters,
        "items": result.get("items"),
        "split": split.get("when") if is_dict(split) else None,
        "assignment": drawn,
    }
    known = inspect.signature(call).parameters
    shared = {option: options[option] for option in options if option in known}
    try:
        kind = type(as_method(str(result.get("method")), job))
        own = [it for it in kind.options() if options.get(it) is not None]
        method = kind.made({it: options[it] for it in own})
        again = call(ratings, method=method, rng=seed, **shared)
    except EvenhandError as error:
        raise RecordError(
            f"{name}: The decision cannot be replayed: {error}"
        ) from error
    return dict(again.to_dict())


def _replayed(
    name: str,
    expected: Mapping[str, Json],
    found: Mapping[str, Json],
    words: str,
    path: str = "",
) -> Check:
    """Compare all fields but the version, which decides what a difference means."""
    stated = found.get("version", ABSENT)
    where = difference({**expected, "version": stated}, dict(found), path)
    other = stated != version()
    if where is None:
        note = f"; version {stated} made it, this is {version()}" if other else ""
        return Check(name, "same", f"{words}{note}.")
    says = f"A replay gives another value of {where.field!r}."
    if other:
        says += (
            f" Version {stated} made it and this is {version()}; the same result is "
            "promised by the same version only."
        )
    return Check(name, "differs", says, where)

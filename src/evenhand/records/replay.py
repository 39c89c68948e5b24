"""Audit: draw and decide again from a record, and name the first thing that differs."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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
    as_dict,
    canonical,
    contents,
    difference,
    fault,
    is_dict,
    is_list,
)
from evenhand.records.record import (
    assignment_from,
    assignment_record,
    chain_of,
    kind_of,
    read_record,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
FOLLOWS = ("It amends the record before it.", "It amends another record.")
NAMES = ("The decision names this assignment.", "The decision names another one.")
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
        pair = {"expected": where.expected, "found": where.found}
        told = {"name": self.name, "status": self.status, "message": self.says}
        values = {key: None if it is ABSENT else it for key, it in pair.items()}
        return {**told, "field": where.field or None, **values}


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
        chain: Name and record of the first draw and of each amendment, or None.
        seal: The published seal, or None.
        secret: The revealed secret, or None.
    """

    ratings: Ratings | Counts | None = None
    chain: Sequence[tuple[str, Record]] | None = None
    seal: str | None = None
    secret: str | None = None


def compared(
    name: str, expected: Json, found: Json, says: tuple[str, str], field: str = ""
) -> Check:
    """Return a check of two values, which says the one thing or the other.

    Examples:
        >>> compared("seed", 7, 8, ("It was used.", "Another was.")).difference
        Difference(field='seed', expected=7, found=8)
    """
    where = difference(expected, found, field or name)
    if where is None:
        return Check(name, "same", says[0])
    return Check(name, "differs", says[1], where)


def unchecked(name: str, why: str) -> Check:
    """Return a check that could not be made."""
    return Check(name, "unchecked", why)


STOPPED = unchecked("rest", "An edited record says nothing about the rest.")


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
    kind = kind_of(found)
    if kind not in ("assignment", "record"):
        raise RecordError(
            f"{name}: An audit begins with an assignment or a decision, got a {kind}. "
            f"Give the {kind} with --{kind}."
        )
    if kind == "assignment" and assignment is not None:
        raise RecordError(
            f"{name}: This is an assignment itself. Leave out --assignment."
        )
    path = name if kind == "assignment" else assignment
    chain = None if path is None else [(it, read_record(it)) for it in chain_of(path)]
    given = Evidence(ratings, chain, seal, secret)
    if kind == "assignment":
        return Audit(tuple(_chain(given, "record")[0]))
    return audit_decision(found, name, given)


def audit_decision(record: Record, name: str, given: Evidence) -> Audit:
    """Check the record of a decision against all that there is."""
    whole = _whole(record, "record")
    rest = [STOPPED] if whole.status == "differs" else _decision(record, name, given)
    return Audit((whole, *rest))


def _whole(record: Record, name: str) -> Check:
    where = fault(record)
    if where is None:
        return Check(name, "same", "The record matches its hash.")
    says = f"It was edited or damaged in field {where.field!r}."
    return Check(name, "differs", says, where)


def _chain(
    given: Evidence, called: str, named: Check | None = None
) -> tuple[list[Check], Assignment | None]:
    """Check a first draw and its amendments, and the ratings against what holds now.

    Returns:
        The checks, and the assignment that holds if none of them had to stop.
    """
    checks: list[Check] = []
    drawn: Assignment | None = None
    before: Json = None
    for number, (name, record) in enumerate(given.chain or (), start=1):
        what = "assignment" if drawn is None else f"assignment {number}"
        checks.append(_whole(record, called if drawn is None else f"{what} record"))
        checks += [named] if named and drawn is None else []
        if any(check.status == "differs" for check in checks[-2:]):
            return [*checks, STOPPED], None
        drawn = assignment_from(record, name, drawn)
        if drawn.amends is None:
            checks += [_seal(drawn, given), _seed(drawn, given)]
        else:
            stated = as_dict(record["amends"])["sha256"]
            checks.append(compared(what, before, stated, FOLLOWS, "amends.sha256"))
        checks.append(_draw(record, drawn, given, what))
        before = record["sha256"]
    return [*checks, _rated(drawn, given)], drawn


def _seal(drawn: Assignment, given: Evidence) -> Check:
    if given.seal is None:
        more = "" if drawn.seal else ", and the assignment was not sealed"
        return unchecked("seal", f"No published seal was given{more}.")
    says = (
        "The assignment has the seal that was published.",
        "The assignment has another seal.",
    )
    return compared("seal", given.seal, drawn.seal, says)


def _seed(drawn: Assignment, given: Evidence) -> Check:
    if given.secret is None:
        why = "The secret was not given." if drawn.seal else "The seed is an open one."
        return unchecked("seed", why)
    says = ("The secret matches the seal.", "The secret does not match the seal.")
    return compared("seed", seal_of(given.secret), drawn.seal, says, "seal")


def _draw(record: Record, drawn: Assignment, given: Evidence, what: str) -> Check:
    seed = drawn.seed if given.secret is None else given.secret
    if seed is None:
        return unchecked(what, "The seed is still sealed.")
    try:
        again = redraw(drawn, seed)
    except EvenhandError as error:
        raise RecordError(f"The assignment cannot be drawn again: {error}") from error
    expected = contents(assignment_record(again))
    words = "The seed draws this assignment again"
    return _replayed(what, expected, contents(record), words)


def _rated(drawn: Assignment | None, given: Evidence) -> Check:
    if drawn is None or given.ratings is None:
        return unchecked("ratings", "No ratings were given.")
    if isinstance(given.ratings, Counts):
        return unchecked("ratings", "Counts of scores do not say who scored what.")
    if strays := drawn.strays(given.ratings):
        reviewer, item = strays[0]
        where = Difference(
            f"rating of item {item!r} by reviewer {reviewer!r}",
            "an assigned review",
            "a review that was not assigned",
        )
        says = f"{counted(len(strays), 'rating')} came from outside the assignment."
        return Check("ratings", "differs", says, where)
    says = "Every rating was assigned."
    if missing := drawn.missing(given.ratings):
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
        return [Check("record", "differs", says, where), STOPPED]
    drawn: Assignment | None = None
    if given.chain is None:
        why = "No assignment was given"
        why += "." if came is None else ", though the decision was made with one."
        checks = [unchecked("assignment", why)]
    else:
        last = {"sha256": given.chain[-1][1].get("sha256", ABSENT)}
        named = None if came is None else compared("assignment", last, came, NAMES)
        checks, drawn = _chain(given, "assignment record", named)
        if drawn is None:
            return checks
    sound = all(check.status != "differs" for check in checks)
    return [*checks, *_again(record, name, drawn, given, sound=sound)]


def _again(
    record: Record, name: str, drawn: Assignment | None, given: Evidence, *, sound: bool
) -> list[Check]:
    """Hold ratings against a decision, and make it again if nothing differs so far."""
    result, came = as_dict(record["result"]), record["assignment"]
    ratings = given.ratings
    if ratings is None:
        return [unchecked("data", "No ratings were given.")]
    if as_dict(result.get("parameters")).get("pairing") == "given":
        raise RecordError(
            f"{name}: The decision was made from two lists of scores in the order of "
            "their pairs, which ratings do not hold. Give no ratings."
        )
    data, keyless = _data(result, ratings)
    reasons = {
        KEYLESS: keyless,
        "It cannot follow from what differs already.": data.status == "differs"
        or not sound,
        "It was made with an assignment, which was not given.": came and not drawn,
    }
    for why, holds in reasons.items():
        if holds:
            return [data, unchecked("decision", why)]
    drawn = drawn if came else None
    backing = _backing(result)
    if drawn is not None and drawn.seal is None and backing != "declared":
        where = Difference("result.certificate", "declared", backing)
        why = f"An assignment that was not sealed cannot have been {backing}."
        return [data, Check("decision", "differs", why, where)]
    # Secret and seal have checks of their own; what was not given is taken on trust
    # here, so that all else of the certificate is checked.
    made = _decide(result, name, ratings, drawn and replace(drawn, backing=backing))
    words = "The ratings, method, parameters and seed give this result again"
    if backing != "declared" and given.secret is None:
        words += f" (that its assignment was {backing} needs the secret)"
    elif backing == "verified" and given.seal is None:
        words += " (that its assignment was verified needs the published seal)"
    return [data, _replayed("decision", made, result, words, "result")]


def _data(result: Record, ratings: Ratings | Counts) -> tuple[Check, bool]:
    """Check whether a decision was made from ratings, and whether their key lacks."""
    notes = result.get("warnings")
    codes = [as_dict(note).get("code") for note in notes] if is_list(notes) else []
    coded = CODED.code in codes
    keyless = coded and CODED.code not in [note.code for note in ratings.notices]
    other = "The decision was not made from these ratings, or one was changed"
    other += ", or this is not its key." if coded else "."
    says = ("The decision was made from these ratings.", other)
    stated = result.get("data", ABSENT)
    data = compared("data", ratings.summary(), stated, says, "result.data")
    if keyless and data.status == "differs":
        data = unchecked("data", KEYLESS)
    return data, keyless


def _backing(result: Mapping[str, Json]) -> Backing:
    """Read off the certificate how the assignment was established."""
    text = canonical(result.get("certificate"))
    if NOT_SEALED in text:
        return "revealed"
    return "verified" if '): verified"' in text else "declared"


def _decide(
    result: Mapping[str, Json],
    name: str,
    ratings: Ratings | Counts,
    drawn: Assignment | None,
) -> dict[str, Json]:
    """Make a decision again from its parameters and its seed."""
    parameters, seed = result.get("parameters"), result.get("seed")
    if not is_dict(parameters) or not isinstance(seed, int):
        raise RecordError(f"{name}: parameters and seed must be there.")
    grid = as_dict(parameters.get("weight")).get("checked_on_grid")
    if True in (grid, *(parameters.get(own) for own in OWN)):
        raise RecordError(
            f"{name}: The decision was made with a function of the user's own and "
            "cannot be replayed from the record alone."
        )
    job, call = RESULTS[str(result["schema"])]
    options: dict[str, Any] = {
        **parameters,
        "items": result.get("items"),
        "split": as_dict(parameters.get("split")).get("when"),
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

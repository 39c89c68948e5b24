"""Audit: draw and decide again from a record, and name the first thing that differs."""

from __future__ import annotations

import inspect
import itertools
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.ab.comparison import compare
from evenhand.ab.methods import Rule
from evenhand.claims import NOT_SEALED, REVEALED, Json, assignment_finding, version
from evenhand.designs.drawing import redraw, seal_of
from evenhand.engines.counts import Counts
from evenhand.errors import EvenhandError, RecordError, listing, plural
from evenhand.formats.anonymise import CODED
from evenhand.method import Method, as_method
from evenhand.ranking.methods import RankMethod
from evenhand.ranking.ranking import rank
from evenhand.ranking.selection import SCHEMA as SELECTION
from evenhand.ranking.selection import select
from evenhand.records.canonical import (
    ABSENT,
    Mismatch,
    contents,
    difference,
    fault,
    is_dict,
    require_form,
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
    from evenhand.ranking.selection import Selection
    from evenhand.ratings import Ratings
    from evenhand.records.canonical import Record

FIELDS = ("schema", "result", "assignment", "version", "hashes", "sha256")
RESULTS: dict[str, tuple[type[Method], Callable[..., Comparison | Ranking | Selection]]]
RESULTS = {
    "evenhand.compare/1": (Rule, compare),
    "evenhand.rank/1": (RankMethod, rank),
    SELECTION: (RankMethod, select),
}
OWN = ("checked_on_data", "own_function")
Status = Literal["same", "differs", "unchecked"]
SCHEMA = "evenhand.audit/1"
MARKS: dict[Status, str] = {"same": "ok", "differs": "DIFFERS", "unchecked": "--"}
FOLLOWS = ("It amends the record before it.", "It amends another record.")
NAMES = ("The decision names this assignment.", "The decision names another one.")
COMMON = ("Every reviewer has the common items.", "Not every reviewer has them.")
POOLS = ("Each reviews the other, no two people do.", "Not of the other pool only.")
HIDDEN = (
    "It was drawn with conflicts, which are not published, nor is the secret of this "
    "draw: by it they could be guessed. Who has the names checks it with --names."
)
CLUSTERED = (
    "Its intervals come from clusters, and the ratings were read without them. Name "
    "their column with --column cluster=COLUMN, or cluster= of read_ratings."
)
WATCHED = (
    "It was watched in the order of assignment, and the ratings were read without it. "
    "Name its column with --order COLUMN, or order= of read_ratings."
)
KEYLESS = (
    "The decision shows reviewers by codes, and its draws follow the order of their "
    "names. Give their key with --anonymise, and the file that was read."
)


@dataclass(frozen=True, slots=True)
class AuditStep:
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
    difference: Mismatch | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values."""
        where = self.difference or Mismatch("", None, None)
        pair = {"expected": where.expected, "found": where.found}
        fields = {"name": self.name, "status": self.status, "message": self.says}
        values = {
            key: None if value is ABSENT else value for key, value in pair.items()
        }
        return {**fields, "field": where.field or None, **values}


@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """What an audit found.

    Attributes:
        checks: Each check, in the order in which they were made.
    """

    checks: tuple[AuditStep, ...]

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return self.first is None

    @property
    def first(self) -> AuditStep | None:
        """The first check that found a difference, or None."""
        return next((check for check in self.checks if check.status == "differs"), None)

    @property
    def verdict(self) -> str:
        """What was found, in a line.

        Examples:
            >>> Audit((AuditStep("data", "unchecked", "No ratings."),)).verdict
            'Nothing differs; 1 thing could not be checked.'
        """
        if self.first is not None:
            where = self.first.difference
            return f"First difference, in the {self.first.name}: {where}."
        statuses = {check.name: check.status for check in self.checks}
        unchecked = sum(check.status == "unchecked" for check in self.checks)
        text = "Nothing differs"
        if unchecked:
            text += f"; {plural(unchecked, 'thing')} could not be checked"
        if statuses.get("seal") == "unchecked":
            how = f"{REVEALED}; " if statuses["seed"] == "same" else ""
            text += f". The assignment: {how}{NOT_SEALED}"
        return f"{text}."

    def to_dict(self) -> dict[str, Json]:
        """Return the audit as in the JSON.

        Examples:
            >>> Audit((AuditStep("record", "same", "It fits."),)).to_dict()["identical"]
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
        lines = [
            f"{MARKS[check.status]:<8}{check.name}: {check.says}"
            for check in self.checks
        ]
        return "\n".join([*lines, self.verdict])


class DiffersError(Exception):
    """A check found a difference, so that those after it have no meaning."""


@dataclass(slots=True)
class Trail:
    """Checks in the order in which they are made, up to the first that differs.

    Attributes:
        ratings: The ratings that a record is held against, or None.
        chain: Name and record of the first draw and of each amendment, or None.
        seal: The published seal, or None.
        secret: The revealed secret, or None.
        conflicts: Those that the record of the first draw hides, if they are known.
        sealed: The options that were sealed, if the record's own are not to be trusted.
        checks: What was checked so far.
    """

    ratings: Ratings | Counts | None = None
    chain: Sequence[tuple[str, Record]] | None = None
    seal: str | None = None
    secret: str | None = None
    conflicts: Sequence[tuple[str, str]] = ()
    sealed: Mapping[str, Any] | None = None
    checks: list[AuditStep] = field(default_factory=list)

    def add(
        self, name: str, status: Status, says: str, where: Mismatch | None = None
    ) -> None:
        """Add a check, and stop at a difference."""
        self.checks.append(AuditStep(name, status, says, where))
        if status == "differs":
            raise DiffersError

    def skip(self, name: str, why: str) -> None:
        """Add a check that could not be made."""
        self.add(name, "unchecked", why)

    def hold(
        self, name: str, expected: Json, actual: Json, *says: str, field: str = ""
    ) -> None:
        """Compare two values; `says` is what to say if they are the same, and if not.

        Only a difference is told if there is but one sentence.
        """
        where = difference(expected, actual, field or name)
        if where is not None:
            self.add(name, "differs", says[-1], where)
        elif len(says) > 1:
            self.add(name, "same", says[0])


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
    content = read_record(name)
    kind = kind_of(content)
    if kind not in ("assignment", "record"):
        raise RecordError(
            f"{name}: An audit begins with an assignment or a decision, got a {kind}. "
            f"Give the {kind} with --{kind}."
        )
    if kind == "assignment" and assignment is not None:
        text = f"{name}: This is an assignment itself. Leave out --assignment."
        raise RecordError(text)
    path = name if kind == "assignment" else assignment
    chain = (
        None if path is None else [(part, read_record(part)) for part in chain_of(path)]
    )
    trail = Trail(ratings, chain, seal, secret)
    with require_form(name), suppress(DiffersError):
        if kind == "assignment":
            _check_ratings(trail, audit_chain(trail, "record"))
        else:
            audit_decision(trail, content, name)
    return Audit(tuple(trail.checks))


def audit_decision(trail: Trail, record: Record, name: str) -> None:
    """Check the record of a decision against all that there is."""
    _whole(trail, record, "record")
    result, came = record.get("result"), record.get("assignment")
    if not is_dict(result) or result.get("schema") not in RESULTS:
        kinds = "a comparison, a ranking or a selection"
        raise RecordError(f"{name}: result must be {kinds}.")
    # A decision has these fields only, and the version of its result.
    usual = {**dict.fromkeys(FIELDS), **record, "version": result.get("version")}
    if came is not None and not (is_dict(came) and set(came) == {"sha256"}):
        usual["assignment"] = "the sha256 of an assignment, or null"
    where = difference({key: usual[key] for key in FIELDS}, record)
    if where is not None:
        says = "A decision has no such field, or not with this value."
        trail.add("record", "differs", says, where)
    if trail.chain is not None:
        drawn = audit_chain(trail, "assignment record", came)
        _check_ratings(trail, drawn)
        _again(trail, record, name, drawn)
        return
    why = "No assignment was given"
    why += "." if came is None else ", though the decision was made with one."
    trail.skip("assignment", why)
    _again(trail, record, name, None)


def _whole(trail: Trail, record: Record, name: str) -> None:
    where = fault(record)
    if where is not None:
        says = f"It was edited or damaged in field {where.field!r}."
        trail.add(name, "differs", says, where)
    trail.add(name, "same", "The record matches its hash.")


def audit_chain(trail: Trail, called: str, came: Json = None) -> Assignment | None:
    """Check a first draw and its amendments, and return what holds now."""
    drawn: Assignment | None = None
    chain, before = trail.chain or (), None
    for number, (name, record) in enumerate(chain, start=1):
        what = "assignment" if drawn is None else f"assignment {number}"
        _whole(trail, record, called if drawn is None else f"{what} record")
        if drawn is None and came is not None:
            last = {"sha256": chain[-1][1].get("sha256", ABSENT)}
            trail.hold("assignment", last, came, *NAMES)
        drawn = assignment_from(record, name, drawn, trail.conflicts)
        if drawn.amends is None:
            _check_seal(trail, drawn)
        else:
            stated = record["amends"]["sha256"]
            trail.hold(what, before, stated, *FOLLOWS, field="amends.sha256")
        _draw(trail, record, drawn, what)
        _check_design(trail, drawn)
        before = record["sha256"]
    return drawn


def _check_seal(trail: Trail, drawn: Assignment) -> None:
    """Check the published seal and the revealed secret, if they were given."""
    if trail.seal is None:
        more = "" if drawn.seal else ", and the assignment was not sealed"
        trail.skip("seal", f"No published seal was given{more}.")
    else:
        says = "The assignment has the seal that was published."
        trail.hold("seal", trail.seal, drawn.seal, says, "It has another seal.")
    if trail.secret is None:
        why = "The secret was not given." if drawn.seal else "The seed is an open one."
        trail.skip("seed", why)
    else:
        says, mismatch = "The secret matches the seal.", "It does not match the seal."
        stated = seal_of(trail.secret)
        trail.hold("seed", stated, drawn.seal, says, mismatch, field="seal")


def _draw(trail: Trail, record: Record, drawn: Assignment, what: str) -> None:
    seed = drawn.seed if trail.secret is None else trail.secret
    if drawn.amends is None and drawn.conflicts_hidden and not drawn.conflicts:
        trail.skip(what, HIDDEN)
        return
    if seed is None:
        trail.skip(what, "The seed is still sealed.")
        return
    try:
        again = redraw(drawn, seed)
    except EvenhandError as error:
        raise RecordError(f"The assignment cannot be drawn again: {error}") from error
    expected = contents(assignment_record(again))
    words = "The seed draws this assignment again"
    _compare_replay(trail, what, expected, contents(record), words)


def _check_design(trail: Trail, drawn: Assignment) -> None:
    """Check what shows without the secret: pools, and items that everybody has."""
    author = {item: applicant for applicant, item in drawn.own_items}
    pools = dict((*(drawn.chain[0].groups or ()), *(drawn.groups or ())))
    pairs = {(name, author[item]) for name, item in drawn.rows if item in author}
    lacking = {*itertools.product(drawn.present, drawn.common)}.difference(drawn.rows)
    faults = {pair for pair in pairs if pair[::-1] in pairs}
    faults |= {pair for pair in pairs if pools[pair[0]] == pools[pair[1]]}
    if drawn.common:
        trail.hold("common items", [], sorted(map(list, lacking), key=str), *COMMON)
    if drawn.own_items:
        trail.hold("pools", [], sorted(map(list, faults), key=str), *POOLS)


def _check_ratings(trail: Trail, drawn: Assignment | None) -> None:
    if drawn is None or trail.ratings is None:
        trail.skip("ratings", "No ratings were given.")
        return
    if isinstance(trail.ratings, Counts):
        trail.skip("ratings", "Counts of scores do not say who scored what.")
        return
    if strays := drawn.strays(trail.ratings):
        reviewer, item = strays[0]
        field = f"rating of item {item!r} by reviewer {reviewer!r}"
        says = f"{plural(len(strays), 'rating')} came from outside the assignment."
        expected, actual = "an assigned review", "a review that was not assigned"
        trail.hold("ratings", expected, actual, says, field=field)
    says = "Every rating was assigned."
    if missing := drawn.missing(trail.ratings):
        names = listing(dict.fromkeys(reviewer for reviewer, _ in missing))
        says += f" {plural(len(missing), 'assigned review')} without a rating: {names}."
    if effect := drawn.effect(trail.ratings):
        says += f" {effect}"
    trail.add("ratings", "same", says)


def _again(trail: Trail, record: Record, name: str, drawn: Assignment | None) -> None:
    """Hold ratings against a decision, and make it again."""
    result, came, ratings = record["result"], record["assignment"], trail.ratings
    if ratings is None:
        trail.skip("data", "No ratings were given.")
        return
    if result["parameters"].get("pairing") == "given":
        raise RecordError(
            f"{name}: The decision was made from two lists of scores in the order of "
            "their pairs, which ratings do not hold. Give no ratings."
        )
    lacks_key = _data(trail, result, ratings)
    if lacks_key or (came and not drawn):
        why = "It was made with an assignment, which was not given."
        trail.skip("decision", KEYLESS if lacks_key else why)
        return
    in_clusters = "clusters" in (result.get("intervals") or {})
    if in_clusters and getattr(ratings, "cluster_codes", None) is None:
        trail.skip("decision", CLUSTERED)
        return
    times = getattr(ratings, "order", getattr(ratings, "by_time", None))
    if "sequential" in result and times is None:
        trail.skip("decision", WATCHED)
        return
    drawn = drawn if came else None
    backing = _backing(result, drawn) if drawn else "declared"
    if drawn is not None and drawn.seal is None:
        says = f"An assignment that was not sealed cannot have been {backing}."
        field = "result.certificate"
        trail.hold("decision", "declared", backing, says, field=field)
    # Secret and seal have checks of their own; what was not given is taken on trust
    # here, so that all else of the certificate is checked.
    trusted = drawn and replace(drawn, backing=backing)
    secret = _check_draw(trail, result)
    replay = _decide(trail, result, name, trusted, secret)
    words = "The ratings, method, parameters and seed give this result again"
    if secret == "":
        words += " (what was drawn needs the secret)"
    elif backing != "declared" and trail.secret is None:
        words += f" (that its assignment was {backing} needs the secret)"
    elif backing == "verified" and trail.seal is None:
        words += " (that its assignment was verified needs the published seal)"
    _compare_replay(trail, "decision", replay, result, words, "result")


def _check_draw(trail: Trail, result: Record) -> str | None:
    """Hold a sealed draw against its seal; return its secret, "" if not revealed."""
    seal = (result.get("draw") or {}).get("seal")
    by_log = trail.sealed is not None and seal is None
    if result["schema"] != SELECTION or by_log or {seal, trail.seal} == {None}:
        return None
    revealed = trail.secret and seal_of(trail.secret)
    for step, stated in (("draw seal", trail.seal), ("draw secret", revealed)):
        if stated is None:
            trail.skip(step, "It was not given.")
        else:
            says = "It matches the record.", "The record has another seal."
            trail.hold(step, stated, seal, *says, field="result.draw.seal")
    return trail.secret or ""


def _data(trail: Trail, result: Record, ratings: Ratings | Counts) -> bool:
    """Check whether a decision was made from ratings; say whether their key lacks."""
    coded = CODED.code in [note["code"] for note in result["warnings"]]
    keyless = coded and CODED.code not in [note.code for note in ratings.notices]
    mismatch = "The decision was not made from these ratings, or one was changed"
    mismatch += ", or this is not its key." if coded else "."
    summary, stated = ratings.summary(), result.get("data", ABSENT)
    if keyless and difference(summary, stated) is not None:
        trail.skip("data", KEYLESS)
    else:
        says = "The decision was made from these ratings."
        trail.hold("data", summary, stated, says, mismatch, field="result.data")
    return keyless


def _backing(result: Record, drawn: Assignment) -> Backing:
    """Return how the assignment was established, by which finding the record states."""
    certificate = result.get("certificate") or {"checked": [], "declared": []}
    design, stated = drawn.design, [*certificate["checked"], *certificate["declared"]]
    backings: tuple[Backing, ...] = ("revealed", "verified")
    for backing in backings:
        if assignment_finding(design, (design,), backing=backing).text in stated:
            return backing
    return "declared"


def _decide(
    trail: Trail,
    result: Record,
    name: str,
    drawn: Assignment | None,
    secret: str | None,
) -> dict[str, Any]:
    """Make a decision again from its seed and its parameters, or what was sealed."""
    parameters, sealed = result["parameters"], trail.sealed
    grid = parameters.get("weight", {}).get("checked_on_grid")
    if True in (grid, *(parameters.get(own) for own in OWN)):
        raise RecordError(
            f"{name}: The decision was made with a function of the user's own and "
            "cannot be replayed from the record alone."
        )
    job, call = RESULTS[result["schema"]]
    options: dict[str, Any] = {
        **parameters,
        "items": result.get("items"),
        "split": (parameters.get("split") or {}).get("when"),
        "assignment": drawn,
    }
    accepted = inspect.signature(call).parameters
    shared = {option: options[option] for option in options if option in accepted}
    if sealed is not None:
        shared = {**sealed, "assignment": drawn}
    if secret:
        shared["secret"] = secret
    elif secret == "":
        shared["sealed_before"] = None
    try:
        method: Any = shared.pop("method", result["method"])
        method = method and as_method(method, job)
        if method and sealed is None:
            own = [key for key in method.options() if options.get(key) is not None]
            method = method.from_options({key: options[key] for key in own})
        again = call(trail.ratings, method=method, rng=result["seed"], **shared)
    except EvenhandError as error:
        if result["schema"] == SELECTION:
            where = Mismatch("result.parameters", "what select takes", str(error))
            trail.add("decision", "differs", "It cannot be made again.", where)
        raise RecordError(
            f"{name}: The decision cannot be replayed: {error}"
        ) from error
    replay: dict[str, Any] = {**again.to_dict()}
    if secret == "":
        taken = sum(bool(row["drawn"]) for row in result["rows"])
        says = "So many are drawn.", "So many are not drawn."
        trail.hold("places", replay["places"], taken, *says, field="result.rows")
        replay |= {"draw": result["draw"], "parameters": parameters}
        for row, stated in zip(replay["rows"], result["rows"], strict=False):
            row["drawn"] = stated["drawn"]
    return replay


def _compare_replay(
    trail: Trail,
    name: str,
    expected: Record,
    actual: Record,
    words: str,
    path: str = "",
) -> None:
    """Compare all fields but the version, which decides what a difference means."""
    stated = actual.get("version", ABSENT)
    where = difference({**expected, "version": stated}, dict(actual), path)
    other_version = stated != version()
    if where is None:
        note = (
            f"; version {stated} made it, this is {version()}" if other_version else ""
        )
        trail.add(name, "same", f"{words}{note}.")
        return
    says = f"A replay gives another value of {where.field!r}."
    if other_version:
        says += (
            f" Version {stated} made it and this is {version()}; the same result is "
            "promised by the same version only."
        )
    trail.add(name, "differs", says, where)

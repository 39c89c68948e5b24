"""Records: what was drawn and decided, in one canonical form that shows every edit.

A record is JSON with sorted keys and no spaces. Beside its content it holds `hashes`, a
short hash of each single value, and `sha256`, the hash of everything else. So a record
that was edited shows it, and shows where. Whoever makes all hashes fit again is found
out by a replay.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._outputs import Output, write_all
from evenhand.claims import Json, version
from evenhand.designs.assignment import Amendment, Assignment
from evenhand.designs.drawing import SECRET, seal_of, verify
from evenhand.errors import RecordError, unknown
from evenhand.records.canonical import (
    ABSENT,
    brief,
    canonical,
    decode,
    fault,
    finish,
    is_dict,
    is_list,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.ranking.results import Ranking
    from evenhand.ranking.selection import Selection
    from evenhand.records.canonical import Record

KINDS = {
    f"evenhand.{kind}/1": kind for kind in ("assignment", "record", "seal", "secret")
}
NUMBERED = re.compile(r"-[0-9]+$")
LARGEST = 2**28
LABEL = str | int
# What the fields of an assignment's record hold: a type, a list of something, a tuple
# of so many, or a dict with these keys.
SHAPES: Mapping[str, Any] = {
    **{name: [LABEL] for name in ("items", "reviewers", "drop", "add")},
    **{name: [(LABEL, LABEL)] for name in ("rows", "groups", "conflicts", "done")},
    **dict.fromkeys(("design", "seal", "law", "version", "sha256"), str),
    "parameters": {
        **dict.fromkeys(("per_reviewer", "per_item"), object),
        **{name: [(LABEL, LABEL)] for name in ("own_items", "groups")},
        "common": [LABEL],
    },
    "seed": int,
    "leave_open": bool,
}
AMENDS = ("drop", "add", "done", "leave_open", "sha256")
ASSIGNMENT = tuple(name for name in SHAPES if name not in AMENDS)
# Parameters that only some designs have.
LATER = ("own_items", "groups", "common")
OR_NULL = ("groups", "seed", "seal")


def parse(data: bytes, name: str) -> Record:
    """Read a record of ours from bytes.

    Raises:
        RecordError: If it is not JSON, cut off, not ours, or of a form that this
            version does not know.

    Examples:
        >>> parse(b'{"schema":"evenhand.seal/2"}', "seal.json")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        evenhand.errors.RecordError: seal.json: unknown schema 'evenhand.seal/2', did
        you mean 'evenhand.seal/1'? ... If a later version of evenhand wrote it, use
        that one.
    """
    value = decode(data, name)
    schema = value.get("schema") if is_dict(value) else None
    if not isinstance(schema, str) or not schema.startswith("evenhand."):
        raise RecordError(
            f"{name}: This is not a record of evenhand: it has no field 'schema' that "
            "begins with 'evenhand.'."
        )
    if schema not in KINDS:
        raise RecordError(
            f"{name}: {unknown('schema', schema, KINDS)} If a later version of "
            "evenhand wrote it, use that one."
        )
    return dict(value)


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a record from a file; whether it fits its hashes is for `fault` to say.

    Raises:
        RecordError: If it cannot be read or is not ours.

    Examples:
        >>> read_record("none.json")
        Traceback (most recent call last):
        ...
        evenhand.errors.RecordError: none.json: The file cannot be read: No such file or
        directory.
    """
    name = os.fspath(path)
    return parse(read_bytes(name), name)


def read_hex(path: str | os.PathLike[str], kind: str) -> str:
    """Read a seal or a secret, from its record or from a file with nothing else.

    Args:
        path: The file.
        kind: "seal" or "secret".

    Returns:
        The 64 hexadecimal digits.

    Raises:
        RecordError: If it holds neither.
    """
    name = os.fspath(path)
    data = read_bytes(name)
    plain = data.strip().decode("ascii", "replace")
    if SECRET.fullmatch(plain):
        return plain
    record = parse(data, name)
    if kind_of(record) != kind:
        raise RecordError(
            f"{name}: This must be a {kind}, got a record of kind {kind_of(record)!r}."
        )
    return str(require_intact(record, name).get(kind))


def from_intervals(path: str | os.PathLike[str]) -> bool:
    """Say whether a record is of a selection by intervals that ratings do not give."""
    result = read_record(path).get("result")
    source = result.get("intervals") if is_dict(result) else None
    return is_dict(source) and source.get("source") == "file"


def text_of(record: Record) -> str:
    """Return a record as the text of its file, in its canonical form."""
    return f"{canonical(record)}\n"


def kind_of(record: Record) -> str:
    """Return the kind of a record that was parsed: "assignment", "record", ..."""
    return KINDS[record["schema"]]


def assignment_record(assignment: Assignment) -> Record:
    """Return the record of an assignment; a secret seed is left out of it.

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> drawn = assign(["x", "y"], ["a"], design="coins", secret="0" * 64)
        >>> assignment_record(drawn)["seed"] is None
        True
    """
    public = assignment if assignment.seal is None else assignment.without_secret()
    content: Record = {**public.to_dict()}
    if public.amends is not None:
        before = assignment_record(public.amends.before)["sha256"]
        content["amends"] = {**content["amends"], "sha256": before}
    return finish(content)


def decision_record(
    result: Comparison | Ranking | Selection, assignment: Assignment | None = None
) -> Record:
    """Return the record of a comparison, a ranking or a selection.

    Args:
        result: What `compare`, `rank` or `select` returned.
        assignment: The assignment that the ratings came from, if it was given to them.

    Raises:
        RecordError: If a number in it is not finite.

    Examples:
        >>> from evenhand.ab.comparison import compare
        >>> record = decision_record(compare([7], [6], method="mean", rng=7))
        >>> record["result"]["winner"]
        'A'
    """
    try:
        plain = json.loads(canonical(result.to_dict()))
    except ValueError:
        text = "The result holds a number that is not finite and cannot be recorded."
        raise RecordError(text) from None
    came = None
    if assignment is not None:
        came = {"sha256": assignment_record(assignment)["sha256"]}
    return _versioned_record("record", result=plain, assignment=came)


def seal_record(secret: str) -> Record:
    """Return what may be published of a secret: its seal."""
    return _versioned_record("seal", seal=seal_of(secret))


def secret_record(secret: str) -> Record:
    """Return what must be kept of a secret until all ratings are in."""
    return _versioned_record("secret", secret=secret, seal=seal_of(secret))


def _versioned_record(kind: str, **content: Json) -> Record:
    return finish({"schema": f"evenhand.{kind}/1", **content, "version": version()})


def assignment_from(
    record: Record,
    name: str,
    before: Assignment | None = None,
    conflicts: Sequence[tuple[str, str]] = (),
) -> Assignment:
    """Return the assignment of a record that fits its hashes.

    Args:
        record: The record.
        name: What to call it in messages.
        before: The assignment that it amends, if it amends one.
        conflicts: Those that the record of a first draw hides, for who knows them.

    Raises:
        RecordError: If a field is missing or of the wrong kind.
    """
    if kind_of(record) != "assignment":
        text = f"{name}: This must be an assignment, got a {kind_of(record)!r}."
        raise RecordError(text)
    values = _fields(record, ASSIGNMENT, f"{name}: ")
    values |= {
        flag: record.get(flag) is True for flag in ("uniform", "conflicts_hidden")
    }
    assignment = Assignment(**values)
    past = record.get("amends")
    if past is None:
        hidden = assignment.conflicts_hidden
        return replace(assignment, conflicts=tuple(conflicts)) if hidden else assignment
    if before is None:
        raise RecordError(
            f"{name}: The record amends another one. Put both into one folder, as "
            "assignment.json and assignment-2.json."
        )
    change = _fields(past, AMENDS, f"{name}: amends.")
    change.pop("sha256")
    change |= {key: past.get(key) is True for key in ("unseen", "in_turn")}
    return replace(assignment, amends=Amendment(before, **change))


def _fields(record: Json, names: Sequence[str], place: str) -> dict[str, Any]:
    """Return fields that hold what they must, with tuples for lists."""
    fields: Record = {**record} if is_dict(record) else {}
    for key in names:
        value = fields.get(key, ABSENT)
        null = value is None and key in OR_NULL
        if value is ABSENT or not (null or _fits(value, SHAPES[key])):
            raise RecordError(f"{place}{key} cannot be {brief(value)}.")
    return {key: _frozen(fields[key]) for key in names}


def _fits(value: object, shape: Any) -> bool:  # noqa: ANN401 - a shape as above
    if isinstance(shape, list):
        return is_list(value) and all(_fits(entry, shape[0]) for entry in value)
    if isinstance(shape, tuple):
        same_length = is_list(value) and len(value) == len(shape)
        return same_length and all(map(_fits, value, shape))  # type: ignore[call-overload]  # a list
    if isinstance(shape, dict):
        if not is_dict(value) or {*value, *LATER} != set(shape):
            return False
        return all(_fits(value[key], shape[key]) for key in value)
    return isinstance(value, shape) and isinstance(value, bool) <= (shape is bool)


def chain_of(path: str | os.PathLike[str]) -> list[str]:
    """Return the paths of a first draw and its amendments.

    Args:
        path: A folder with assignment.json, assignment-2.json and so on, or any record
            of such a chain under another name.

    Returns:
        The paths, the first draw first; the path itself if nothing is amended.

    Raises:
        RecordError: If the folder has no assignment.json.

    Examples:
        >>> chain_of("none.json")
        ['none.json']
    """
    here = Path(path)
    if here.is_dir():
        here /= "assignment.json"
        if not here.is_file():
            rule = "assignment must be a folder with assignment.json in it"
            raise RecordError(f"{rule}, got {os.fspath(path)!r}.")
    number = NUMBERED.search(here.stem)
    first = here.with_name(here.stem[: number and number.start()] + here.suffix)
    chain = [first]
    while (later := next_record(chain)).is_file() and "amends" in read_record(later):
        chain.append(later)
    for sibling in sorted(first.parent.glob(f"*{first.suffix}")):
        ours = NUMBERED.sub("", sibling.stem) == first.stem
        if (
            ours
            and sibling not in (*chain, later)
            and b'"amends"' in sibling.read_bytes()
        ):
            raise RecordError(
                f"{later}: The record is missing, though {sibling.name} comes after "
                "it. Put it back."
            )
    return list(map(str, chain if here in chain else [here]))


def next_record(chain: Sequence[str | os.PathLike[str]]) -> Path:
    """Return the path of the next amendment.

    Examples:
        >>> next_record(["draw/assignment.json"]).name
        'assignment-2.json'
    """
    first = Path(chain[0])
    return first.with_name(f"{first.stem}-{len(chain) + 1}{first.suffix}")


def load_assignment(
    path: str | os.PathLike[str], *, secret: str | None = None, seal: str | None = None
) -> Assignment:
    """Read an assignment from its record, and draw it again if its secret is revealed.

    Args:
        path: The record, or the folder of a chain of records.
        secret: The revealed secret, 64 hexadecimal digits; None to take the record as
            it is.
        seal: The seal as it was published, or None.

    Returns:
        The assignment; `verified` only if both were given.

    Raises:
        RecordError: If the record is not ours or was edited, the secret does not fit
            the seal, or draws another assignment.
    """
    before: Json = None
    drawn: list[Assignment] = []
    for name in chain_of(path):
        record = read_record(name)
        drawn.append(assignment_from(record, name, drawn[-1] if drawn else None))
        require_intact(record, name)
        if before not in (None, (record.get("amends") or {}).get("sha256")):
            raise RecordError(f"{name}: The record amends another than that before it.")
        before = record["sha256"]
    assignment = drawn[-1]
    if seal is not None and seal != assignment.seal:
        text = f"{name}: seal must be the published one, {seal}, got {assignment.seal}."
        raise RecordError(text)
    if secret is None:
        return assignment
    if assignment.seal is None:
        text = f"{name}: The assignment was not sealed, so it has no secret."
        raise RecordError(text)
    return verify(assignment, secret, seal)


def require_intact(record: Record, name: str) -> Record:
    """Return a record that fits its hashes, and refuse any other."""
    where = fault(record)
    if where is not None:
        text = f"{name}: The record was edited or damaged in field {where.field!r}."
        raise RecordError(text)
    return record


def write_decision(
    result: Comparison | Ranking,
    path: str | os.PathLike[str],
    assignment: Assignment | None = None,
) -> Record:
    """Write the record of a comparison or a ranking, whole or not at all.

    Args:
        result: What `compare` or `rank` returned.
        path: Where to.
        assignment: The assignment that the ratings came from, if it was given to them.

    Returns:
        The record.

    Raises:
        OptionError: If the file cannot be written.
    """
    record = decision_record(result, assignment)
    write_all([Output(os.fspath(path), text_of(record))])
    return record


def read_bytes(name: str) -> bytes:
    """Read a file of ours, none that is too large."""
    try:
        with Path(name).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        reason = error.strerror or error
        raise RecordError(f"{name}: The file cannot be read: {reason}.") from None
    if len(data) > LARGEST:
        raise RecordError(f"{name}: The file is too large for a record.")
    return data


def _frozen(value: Json) -> object:
    return tuple(map(_frozen, value)) if is_list(value) else value

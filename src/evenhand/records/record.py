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
from evenhand.designs.drawing import seal_of, verify
from evenhand.errors import RecordError, unknown
from evenhand.records.canonical import (
    ABSENT,
    as_dict,
    brief,
    canonical,
    decoded,
    fault,
    finish,
    is_dict,
    is_list,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.ranking.results import Ranking
    from evenhand.records.canonical import Record

    Rules = dict[str, tuple[Callable[[object], bool], str]]

KINDS = ("assignment", "record", "seal", "secret")
FORMAT = 1
SCHEMA_FORM = re.compile(r"evenhand\.([a-z-]+)/([0-9]+)")
HEX = re.compile(r"[0-9a-f]{64}")
NUMBERED = re.compile(r"-[0-9]+$")
LARGEST, PAIR = 2**28, 2


def parse(data: bytes, name: str) -> Record:
    """Read a record of ours from bytes.

    Raises:
        RecordError: If it is not JSON, cut off, not ours, or of a form that this
            version does not know.

    Examples:
        >>> parse(b'{"schema":"evenhand.seal/2"}', "seal.json")
        Traceback (most recent call last):
        ...
        evenhand.errors.RecordError: seal.json: schema must be 'evenhand.seal/1', got
        'evenhand.seal/2'. A later version of evenhand wrote it; use that one.
    """
    value = decoded(data, name)
    schema = value.get("schema") if is_dict(value) else None
    form = SCHEMA_FORM.fullmatch(schema) if isinstance(schema, str) else None
    if not is_dict(value) or form is None:
        raise RecordError(
            f"{name}: This is not a record of evenhand: it has no field 'schema' that "
            "begins with 'evenhand.'."
        )
    if form[1] not in KINDS:
        text = unknown("kind of record", form[1], KINDS)
        raise RecordError(f"{name}: {text[:1].upper()}{text[1:]}")
    if form[2] != str(FORMAT):
        raise RecordError(
            f"{name}: schema must be 'evenhand.{form[1]}/{FORMAT}', got {schema!r}. A "
            "later version of evenhand wrote it; use that one."
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
    if HEX.fullmatch(plain):
        return plain
    record = parse(data, name)
    if kind_of(record) != kind:
        raise RecordError(
            f"{name}: This must be a {kind}, got a record of kind {kind_of(record)!r}."
        )
    value = unedited(record, name).get(kind)
    if not _is_hash(value):  # a secret is not shown, not even a damaged one
        raise RecordError(f"{name}: The file was edited or damaged in field {kind!r}.")
    return str(value)


def text_of(record: Record) -> str:
    """Return a record as the text of its file, in its canonical form."""
    return f"{canonical(record)}\n"


def kind_of(record: Record) -> str:
    """Return the kind of a record that was parsed: "assignment", "record", ..."""
    return str(record["schema"]).removeprefix("evenhand.").partition("/")[0]


def assignment_record(assignment: Assignment) -> Record:
    """Return the record of an assignment; a secret seed is left out of it.

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> drawn = assign(["x", "y"], ["a"], design="coins", secret="0" * 64)
        >>> assignment_record(drawn)["seed"] is None
        True
    """
    public = assignment if assignment.seal is None else assignment.sealed()
    content = public.to_dict()
    if public.amends is not None:
        before = assignment_record(public.amends.before)["sha256"]
        content["amends"] = {**as_dict(content["amends"]), "sha256": before}
    return finish(content)


def decision_record(
    result: Comparison | Ranking, assignment: Assignment | None = None
) -> Record:
    """Return the record of a comparison or a ranking.

    Args:
        result: What `compare` or `rank` returned.
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
        raise RecordError(
            "The result holds a number that is not finite and cannot be recorded."
        ) from None
    came = None
    if assignment is not None:
        came = {"sha256": assignment_record(assignment)["sha256"]}
    return _made("record", result=plain, assignment=came)


def seal_record(secret: str) -> Record:
    """Return what may be published of a secret: its seal."""
    return _made("seal", seal=seal_of(secret))


def secret_record(secret: str) -> Record:
    """Return what must be kept of a secret until all ratings are in."""
    return _made("secret", secret=secret, seal=seal_of(secret))


def _made(kind: str, **content: Json) -> Record:
    schema = f"evenhand.{kind}/{FORMAT}"
    return finish({"schema": schema, **content, "version": version()})


def assignment_from(
    record: Record, name: str, before: Assignment | None = None
) -> Assignment:
    """Return the assignment of a record that fits its hashes.

    Args:
        record: The record.
        name: What to call it in messages.
        before: The assignment that it amends, if it amends one.

    Raises:
        RecordError: If a field is missing or of the wrong kind.
    """
    if kind_of(record) != "assignment":
        raise RecordError(
            f"{name}: This must be an assignment, got a record of kind "
            f"{kind_of(record)!r}."
        )
    values = _fields(record, RULES, f"{name}: ")
    found = Assignment(**values, uniform=record.get("uniform") is True)
    past = record.get("amends")
    if past is None:
        return found
    if before is None:
        raise RecordError(
            f"{name}: The record amends another one. Put both into one folder, as "
            "assignment.json and assignment-2.json."
        )
    change = _fields(past, AMENDS, f"{name}: amends.")
    change.pop("sha256")
    change |= {key: as_dict(past).get(key) is True for key in ("unseen", "in_turn")}
    return replace(found, amends=Amendment(before, **change))


def _fields(record: Json, rules: Rules, place: str) -> dict[str, Any]:
    """Return fields that are what they must be, with tuples for lists."""
    for key, (fits, rule) in rules.items():
        value = record.get(key, ABSENT) if is_dict(record) else record
        if not fits(value):
            raise RecordError(f"{place}{key} must be {rule}, got {brief(value)}.")
    return {key: _frozen(as_dict(record)[key]) for key in rules}


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
            raise RecordError(
                f"assignment must be a folder with assignment.json in it, got "
                f"{os.fspath(path)!r}."
            )
    number = NUMBERED.search(here.stem)
    first = here.with_name(here.stem[: number and number.start()] + here.suffix)
    found = [first]
    while (later := next_record(found)).is_file() and "amends" in read_record(later):
        found.append(later)
    for other in sorted(first.parent.glob(f"*{first.suffix}")):
        ours = NUMBERED.search(other.stem) and NUMBERED.sub("", other.stem)
        if ours == first.stem and other not in (*found, later) and _amends(other):
            raise RecordError(
                f"{later}: The record is missing, though {other.name} comes after it. "
                "Put it back."
            )
    return list(map(str, found if here in found else [here]))


def _amends(path: Path) -> bool:
    try:
        return "amends" in read_record(path)
    except RecordError:
        return False


def next_record(chain: Sequence[str | os.PathLike[str]]) -> Path:
    """Return the path of the next amendment.

    Examples:
        >>> next_record(["draw/assignment.json"]).name
        'assignment-2.json'
    """
    first = Path(chain[0])
    return first.with_name(f"{first.stem}-{len(chain) + 1}{first.suffix}")


def load_assignment(
    path: str | os.PathLike[str],
    *,
    secret: str | None = None,
    seal: str | None = None,
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
        unedited(record, name)
        if before not in (None, as_dict(record.get("amends")).get("sha256")):
            raise RecordError(f"{name}: The record amends another than that before it.")
        before = record["sha256"]
    assignment = drawn[-1]
    if seal is not None and seal != assignment.seal:
        raise RecordError(
            f"{name}: seal must be the published one, {seal}, got {assignment.seal}."
        )
    if secret is None:
        return assignment
    if assignment.seal is None:
        raise RecordError(
            f"{name}: The assignment was not sealed, so it has no secret."
        )
    return verify(assignment, secret, seal)


def unedited(record: Record, name: str) -> Record:
    """Return a record that fits its hashes, and refuse any other."""
    where = fault(record)
    if where is not None:
        raise RecordError(
            f"{name}: The record was edited or damaged in field {where.field!r}."
        )
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
    except ValueError:
        raise RecordError(f"{name!r} is not the name of a file.") from None
    if len(data) > LARGEST:
        raise RecordError(f"{name}: The file is too large for a record.")
    return data


def _frozen(value: Json) -> object:
    return tuple(map(_frozen, value)) if is_list(value) else value


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value is not ABSENT


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and HEX.fullmatch(value) is not None


def _is_seed(value: object) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _is_labels(value: object) -> bool:
    return is_list(value) and all(_is_text(it) or type(it) is int for it in value)


def _is_pairs(value: object) -> bool:
    return is_list(value) and all(
        is_list(it) and _is_labels(it) and len(it) == PAIR for it in value
    )


def _is_sizes(value: object) -> bool:
    return is_dict(value) and set(value) == {"per_reviewer", "per_item"}


def _or_null(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or fits(value)


TEXT, LABELS = (_is_text, "text"), (_is_labels, "a list of labels")
PAIRS = "a list of pairs of labels"
# What the fields of an assignment's record must be.
RULES: Rules = {
    "items": LABELS,
    "reviewers": LABELS,
    "design": TEXT,
    "parameters": (_is_sizes, "per_reviewer and per_item"),
    "rows": (_is_pairs, PAIRS),
    "groups": (_or_null(_is_pairs), PAIRS),
    "conflicts": (_is_pairs, PAIRS),
    "seed": (_is_seed, "an integer of at least 0 or null"),
    "seal": (_or_null(_is_text), "text"),
    "law": TEXT,
    "version": TEXT,
}
AMENDS: Rules = {
    "drop": LABELS,
    "add": LABELS,
    "done": (_is_pairs, PAIRS),
    "leave_open": (lambda value: isinstance(value, bool), "true or false"),
    "sha256": (_is_hash, "the sha256 of a record"),
}

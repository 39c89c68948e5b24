"""A bundle: all that an evaluation published, in one file that can be checked offline.

It is a plain archive that is written in one way only, so a changed byte anywhere shows.
An audit follows the log from the seal, draws again, replays every rating from its
payload, works out the seed of the decision and decides again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.claims import Json, version
from evenhand.designs.drawing import reserve_order, seal_of
from evenhand.errors import EvenhandError, RecordError, counted
from evenhand.formats.lists import csv_line, safe_cell
from evenhand.formats.reading import read_ratings
from evenhand.records.canonical import (
    ABSENT,
    Difference,
    canonical,
    decoded,
    difference,
    fault,
    finish,
    is_dict,
    is_list,
)
from evenhand.records.chain import decision_seed, follow, payload_hash, text_hash
from evenhand.records.record import assignment_from, parse, read_hex
from evenhand.records.replay import Audit, Check, audit
from evenhand.records.rules import (
    RATED,
    REPAIRS,
    BrokenRuleError,
    Rules,
    decision_options,
    labels,
    since_sealed,
)
from evenhand.records.rules import says as _says

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.designs.assignment import Assignment

    Events = Sequence[Mapping[str, Json]]
    Bodies = Mapping[int, Mapping[str, Any]]

SCHEMA = "evenhand.bundle/1"
MANIFEST, LOG, PAYLOADS = "manifest.json", "log.jsonl", "payloads.jsonl"
RATINGS, LISTS, SEAL, SECRET = "ratings.csv", "lists.json", "seal.json", "secret.json"
MADE_LAST = (LOG, MANIFEST)
MOST_FILES, MOST_BYTES = 10_000, 2**28
README = "README.txt"
DAMAGED = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
    EOFError,
    KeyError,
    OverflowError,
    MemoryError,
)
WHEN = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Collected:
    """The ratings of an evaluation, by codes.

    Attributes:
        rows: Reviewer, item and score of each rating that counts.
        left_out: For each reviewer who did not finish, how many were rated and given;
            they are not in the rows if the rule says so.
        rated: How many ratings there are in all.
    """

    rows: tuple[tuple[str, str, float], ...]
    left_out: Mapping[str, tuple[int, int]]
    rated: int


def collect(
    events: Events, bodies: Bodies, drawn: Assignment, *, keep_unfinished: bool
) -> Collected:
    """Replay the ratings of a log, and keep to the rule for what is unfinished.

    Args:
        events: The events of the log.
        bodies: What is private about them, by number.
        drawn: The assignment that holds.
        keep_unfinished: Whether ratings of those who did not finish count.
    """
    scores: dict[tuple[str, str], float | None] = {}
    for n, event in enumerate(events, start=1):
        if event["kind"] in RATED:
            body = bodies[n]
            scores[body["reviewer"], body["item"]] = body["score"]
    rows, left_out, rated = [], {}, 0
    for who, own in drawn.bundles().items():
        given = [(str(who), str(item)) for item in own]
        found = [
            (*pair, score) for pair in given if (score := scores.get(pair)) is not None
        ]
        rated += len(found)
        if found and len(found) < len(given):
            left_out[str(who)] = (len(found), len(given))
        if len(found) == len(given) or keep_unfinished:
            rows += found
    return Collected(tuple(rows), left_out, rated)


def ratings_csv(
    rows: Sequence[tuple[str, str, float]],
    titles: Mapping[str, str],
    *,
    is_order: bool = False,
) -> str:
    r"""Write ratings as CSV that is safe to open; an order as ranks, 1 the best.

    Examples:
        >>> ratings_csv([("R1", "x", 2.0), ("R1", "y", 1.0)], {}, is_order=True)
        'reviewer,item,rank\nR1,x,1\nR1,y,2\n'
    """
    sizes: dict[str, int] = {}
    for who, _, _ in rows:
        sizes[who] = sizes.get(who, 0) + 1
    titled = any(titles.get(item) for _, item, _ in rows)
    head = ["reviewer", "item", *(["title"] if titled else [])]
    lines = [csv_line([*head, "rank" if is_order else "score"])]
    for who, item, score in rows:
        value = sizes[who] + 1 - score if is_order else score
        number = str(int(value)) if value == int(value) else repr(value)
        title = [safe_cell(titles.get(item, ""))] if titled else []
        lines.append(csv_line([safe_cell(who), safe_cell(item), *title, number]))
    return "".join(lines)


def write_bundle(files: Mapping[str, bytes], head: str) -> bytes:
    """Write the files of an evaluation as one archive.

    Args:
        files: Content by name, with the log.
        head: Hash of the last event of the log.

    Returns:
        The archive; the same files always give the same bytes.
    """
    hashes: dict[str, Json] = {
        name: hashlib.sha256(body).hexdigest() for name, body in files.items()
    }
    stated = finish(
        {"schema": SCHEMA, "files": hashes, "head": head, "version": version()}
    )
    return _zipped({**files, MANIFEST: f"{canonical(stated)}\n".encode()})


def _zipped(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, WHEN)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return made.getvalue()


def read_bundle(data: bytes, name: str) -> dict[str, bytes]:
    """Read a bundle, and refuse one that is not as evenhand writes it.

    Raises:
        RecordError: If a byte of the archive was changed, or it is none.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            large = sum(entry.file_size for entry in entries) > MOST_BYTES
            if len(entries) > MOST_FILES or large:
                raise RecordError(f"{name}: The bundle is too large.")
            files = {entry.filename: archive.read(entry) for entry in entries}
    except DAMAGED:
        raise RecordError(
            f"{name}: The bundle is damaged, cut off or none. Download it again."
        ) from None
    if _zipped(files) != data:
        raise RecordError(
            f"{name}: The bundle is damaged: it is not an archive as evenhand writes "
            "it. Download it again."
        )
    return files


def audit_bundle(path: str | os.PathLike[str], seal: str | None = None) -> Audit:
    """Check a bundle against its seal, its log and itself.

    Args:
        path: The file.
        seal: A seal that was noted before ratings came in, or None.

    Returns:
        Every check that was made, and those that could not be.

    Raises:
        RecordError: If it cannot be read, or is damaged.
    """
    name = os.fspath(path)
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise RecordError(f"{name}: The file cannot be read: {reason}.") from None
    files = read_bundle(data, name)
    checks: list[Check] = []
    try:
        for check in _Bundle(files, name, seal).checks():
            checks.append(check)
            if check.status == "differs":
                break
    except RecordError as error:
        text = str(error)
        text = text if text.startswith(name) else f"{name}: {text}"
        raise RecordError(text) from None
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        after = f"what follows the {checks[-1].name}" if checks else "its manifest"
        raise RecordError(
            f"{name}: The bundle cannot be checked: in {after}, something is missing "
            "or is not of its kind."
        ) from None
    return Audit(tuple(checks))


def _same(name: str, says: str) -> Check:
    return Check(name, "same", says)


def _held(
    name: str, expected: Json, found: Json, says: tuple[str, str], field: str = ""
) -> Check:
    where = difference(expected, found, field or name)
    if where is None:
        return _same(name, says[0])
    return Check(name, "differs", says[1], where)


class _Bundle:
    """The files of a bundle, and what was found out about them so far."""

    def __init__(self, files: Mapping[str, bytes], name: str, seal: str | None) -> None:
        self.files, self.name, self.noted = files, name, seal
        self.events: list[dict[str, Json]] = []
        self.bodies: dict[int, Mapping[str, Any]] = {}

    def checks(self) -> Iterator[Check]:
        yield self._manifest()
        yield self._log()
        yield self._names()
        yield self._published()
        self.lists = self._record(LISTS)
        self.secret = str(self._record(SECRET)["secret"])
        self.seal = str(self._record(SEAL)["seal"])
        yield self._seal()
        yield from self._lists()
        self.drawn = self._assignment()
        yield self._draw()
        if PAYLOADS in self.files:
            yield self._payloads()
        yield self._rules()
        if PAYLOADS in self.files:
            yield self._repairs()
            yield self._ratings()
        else:
            why = "The ratings were not published."
            yield Check("ratings", "unchecked", why)
        yield from self._seeds()
        yield from self._options()
        if PAYLOADS in self.files:
            yield from self._decisions()
        else:
            why = "No decision was replayed, for want of the ratings."
            yield Check("decisions", "unchecked", why)
        reports = [name for name in self.files if name.startswith("report-")]
        why = f"The log has the hash of {', '.join(sorted(reports))}. Whether "
        why += "the page shows the decision was not checked."
        yield Check("report", "unchecked", why)

    def _json(self, name: str) -> dict[str, Json]:
        if name not in self.files:
            raise RecordError(f"{self.name}: {name} is missing.")
        value = decoded(self.files[name], name)
        if not is_dict(value):
            raise RecordError(f"{self.name}: {name} is not a record.")
        return dict(value)

    def _record(self, name: str) -> dict[str, Json]:
        record = self._json(name)
        where = fault(record)
        if where is not None:
            raise RecordError(f"{self.name}: {name} was edited in {where.field!r}.")
        return record

    def _manifest(self) -> Check:
        stated = self._record(MANIFEST)
        self.head = stated["head"]
        found: dict[str, Json] = {
            name: hashlib.sha256(body).hexdigest()
            for name, body in self.files.items()
            if name != MANIFEST
        }
        says = "Every file is as the bundle states."
        return _held("bundle", stated["files"], found, (says, "A file was changed."))

    def _log(self) -> Check:
        lines = self.files.get(LOG, b"").decode("utf-8", "replace").splitlines()
        if not lines:
            raise RecordError(f"{self.name}: {LOG} is missing or empty.")
        first = decoded(lines[0].encode(), LOG)
        start = str(first.get("prev")) if is_dict(first) else ""
        try:
            self.events, head = follow(lines, start)
        except RecordError as error:
            where = Difference("log", "a line that follows the one before", str(error))
            return Check("log", "differs", "The chain is broken.", where)
        says = f"{counted(head.n, 'event')}, each with the hash of the one before."
        return _held("log", self.head, head.hash, (says, "The log ends elsewhere."))

    def _names(self) -> Check:
        """Check that every file is there that the log tells of, and no other."""
        many = len(self._said("decided"))
        later = self.events[since_sealed(self.events) :]
        parts = 1 + sum(event.get("kind") in REPAIRS for event in later)
        needed = {LOG, MANIFEST, LISTS, SEAL, SECRET, README}
        needed |= {_part(n) for n in range(1, parts + 1)}
        needed |= {_decision(n) for n in range(1, many + 1)}
        needed |= {f"report-{n}.html" for n in range(1, many + 1)}
        if {PAYLOADS, RATINGS} & set(self.files):
            needed |= {PAYLOADS, RATINGS}
        says = (
            "Those that the log tells of, and no others.",
            "The log tells of other files.",
        )
        names: dict[str, Json] = dict.fromkeys(sorted(needed), "a file")
        found: dict[str, Json] = dict.fromkeys(sorted(self.files), "a file")
        return _held("names", names, found, says)

    def _rules(self) -> Check:
        """Check that nothing happened that the app does not allow."""
        scale = self.lists["scale"]
        if not is_dict(scale):
            raise RecordError(f"{self.name}: {LISTS} has no scale.")
        bodies = self.bodies if PAYLOADS in self.files else None
        try:
            Rules(self.events, bodies, self.drawn, scale).follow()
        except BrokenRuleError as error:
            where = Difference("log", "an event that the rules allow", str(error))
            return Check("rules", "differs", str(error), where)
        return _same("rules", "Every event was allowed when it happened.")

    def _said(self, *kinds: str) -> list[dict[str, Json]]:
        return [event for event in self.events if event.get("kind") in kinds]

    def _published(self) -> Check:
        said = self._said("published")
        stated = _says(said[-1]).get("files") if said else None
        found: dict[str, Json] = {
            name: hashlib.sha256(body).hexdigest()
            for name, body in self.files.items()
            if name not in MADE_LAST
        }
        says = "The log names every file with its hash."
        return _held("files", stated, found, (says, "The log names other files."))

    def _seal(self) -> Check:
        seals = [_says(event)["seal"] for event in self._said("created", "unsealed")]
        first = self.events[0]["prev"]
        if self.events[0].get("kind") != "created" or seals[0] != first:
            where = Difference("log[0]", "the seal", first)
            return Check("seal", "differs", "The log does not begin at a seal.", where)
        same = "The secret matches the seal that the log begins with."
        if len(seals) > 1:
            same = f"The secret matches the seal of draw {len(seals)}."
        if self.noted is not None:
            same = f"{same[:-1]}, and it is the one that you noted."
            noted = _held("seal", self.noted, seals[-1], ("", "You noted another one."))
            if noted.status == "differs":
                return noted
        three: list[Json] = [seals[-1], self.seal, seal_of(self.secret)]
        expected: list[Json] = [seals[-1]] * 3
        return _held("seal", expected, three, (same, "The secret is another one."))

    def _lists(self) -> Iterator[Check]:
        sealed = _says(self._said("sealed")[-1])
        says = ("What was fixed at sealing was not changed.", "Something was changed.")
        stated = sealed["lists_sha256"]
        yield _held("lists", stated, self.lists["sha256"], says, "lists.sha256")

    def _assignment(self) -> list[Assignment]:
        """Read the first draw and every amendment."""
        found: list[Assignment] = []
        while (name := _part(len(found) + 1)) in self.files:
            record = parse(self.files[name], name)
            where = fault(record)
            if where is not None:
                raise RecordError(f"{self.name}: {name} was edited in {where.field!r}.")
            found.append(assignment_from(record, name, found[-1] if found else None))
        if not found:
            raise RecordError(f"{self.name}: {_part(1)} is missing.")
        return found

    def _draw(self) -> Check:
        sealed, *later = self.events[since_sealed(self.events) :]
        stated = [sealed, *(it for it in later if it.get("kind") in REPAIRS)]
        hashes: list[Json] = [_says(event)["record_sha256"] for event in stated]
        names = [_part(n) for n in range(1, len(self.drawn) + 1)]
        found: list[Json] = [self._json(name)["sha256"] for name in names]
        held = _held("draw", hashes, found, ("", "The log names another draw."))
        if held.status == "differs":
            return held
        first = self.drawn[0]
        items = self.lists["items"]
        labels = (
            [str(row[0]) for row in items if is_list(row)] if is_list(items) else []
        )
        expected: dict[str, Json] = {
            "design": self.lists["design"],
            "per_reviewer": self.lists["per_reviewer"],
            "items": sorted(labels),
            "reviewers": self.lists["reviewers"],
            "conflicts": self.lists["conflicts"],
        }
        told: dict[str, Json] = {
            "design": first.design,
            "per_reviewer": first.parameters["per_reviewer"],
            "items": sorted(map(str, first.items)),
            "reviewers": sorted(map(str, first.reviewers)),
            "conflicts": [[str(who), str(what)] for who, what in first.conflicts],
        }
        number = _says(sealed)["draw"]
        says = f"Draw {number}, made from the lists that were fixed."
        return _held("draw", expected, told, (says, "It was drawn from other lists."))

    def _payloads(self) -> Check:
        salts: dict[int, str] = {}
        for line in self.files[PAYLOADS].decode("utf-8", "replace").splitlines():
            row = decoded(line.encode(), PAYLOADS)
            if not is_dict(row) or not is_dict(row["body"]):
                raise RecordError(f"{self.name}: {PAYLOADS} is damaged.")
            n = int(str(row["n"]))
            self.bodies[n], salts[n] = row["body"], str(row["salt"])
        for n, event in enumerate(self.events, start=1):
            stated = event.get("payload")
            if (stated is None) != (n not in self.bodies):
                where = Difference(f"payload {n}", stated, ABSENT)
                says = "The log and the payloads do not go together."
                return Check("payloads", "differs", says, where)
            found = None if stated is None else payload_hash(salts[n], self.bodies[n])
            if stated != found:
                where = Difference(f"payload {n}", stated, found)
                says = f"Event {n} was something else."
                return Check("payloads", "differs", says, where)
        says = f"{counted(len(self.bodies), 'event')} with private content, as logged."
        return _same("payloads", says)

    def _repairs(self) -> Check:
        """Check that nobody had begun who was replaced, and reserves came in turn."""
        begun: set[str] = set()
        codes = labels(self.lists["reserves"])
        order = [str(it) for it in reserve_order(codes, self.secret)]
        parts = iter(self.drawn[1:])
        # A draw that was dropped took its repairs with it.
        start = since_sealed(self.events)
        for n, event in enumerate(self.events[start:], start=start + 1):
            if event["kind"] == "begun":
                begun.add(str(self.bodies[n]["reviewer"]))
            if event["kind"] not in REPAIRS:
                continue
            change = next(parts).amends
            if change is None:
                raise RecordError(f"{self.name}: An amendment amends nothing.")
            left = {str(who) for who in change.drop}
            seen = begun & left or left != set(labels(self.bodies[n]["reviewers"]))
            in_turn = event["kind"] == "reserve"
            right = [str(who) for who in change.add] == order[:1] if in_turn else True
            if seen or not right or change.in_turn != in_turn or not change.unseen:
                where = Difference(f"event {n}", "who never began, in turn", "another")
                says = "A repair was not as the rules say."
                return Check("repairs", "differs", says, where)
            order = order[1:] if in_turn else order
        many = counted(len(self.drawn) - 1, "repair")
        says = f"{many}; nobody who was replaced had seen their items."
        return _same("repairs", says if len(self.drawn) > 1 else "There were none.")

    def _ratings(self) -> Check:
        self.collected = collect(
            self.events,
            self.bodies,
            self.drawn[-1],
            keep_unfinished=self.lists["keep_unfinished"] is True,
        )
        items = self.lists["items"]
        rows = [row for row in items if is_list(row)] if is_list(items) else []
        titles = {str(row[0]): str(row[1]) for row in rows}
        scale = self.lists["scale"]
        is_order = is_dict(scale) and scale["kind"] == "order"
        text = ratings_csv(self.collected.rows, titles, is_order=is_order)
        found = self.files[RATINGS].decode("utf-8", "replace")
        if text != found:
            pairs = zip(text.splitlines(), found.splitlines(), strict=False)
            line = next((n for n, (a, b) in enumerate(pairs, 1) if a != b), 0)
            where = Difference(f"{RATINGS} line {line}", "as the log says", "another")
            says = "The ratings are not those of the log."
            return Check("ratings", "differs", says, where)
        receipts = counted(len(self._said(*RATED)), "receipt")
        says = f"{counted(len(self.collected.rows), 'rating')}, {receipts} in the log."
        if self.collected.left_out:
            who = counted(len(self.collected.left_out), "reviewer")
            says += f" {who} did not finish."
        return _same("ratings", says)

    def _seeds(self) -> Iterator[Check]:
        decided = self._said("decided")
        closed = ""
        expected: list[Json] = []
        for event in self.events:
            if event["kind"] == "closed":
                closed = text_hash(canonical(event))
            if event["kind"] == "decided":
                expected.append(decision_seed(self.secret, closed))
        found: list[Json] = [_says(event)["seed"] for event in decided]
        says = "It follows from the sealed secret and the log at the close."
        yield _held("seed", expected, found, (says, "Another seed was used."))
        records = [_decision(n) for n in range(1, len(decided) + 1)]
        there: list[Json] = [self._record(name)["sha256"] for name in records]
        stated: list[Json] = [_says(event)["record_sha256"] for event in decided]
        same = f"{counted(len(decided), 'decision')} in the log; all of them are here."
        yield _held("decisions", stated, there, (same, "One is missing or another."))

    def _options(self) -> Iterator[Check]:
        """Check that decisions were made as it was fixed at sealing."""
        for n, event in enumerate(self._said("decided"), start=1):
            result = self._json(_decision(n))["result"]
            if not is_dict(result):
                raise RecordError(f"{self.name}: {_decision(n)} has no result.")
            expected, found = decision_options(self.lists, result)
            expected["logged"], found["logged"] = (
                result["method"],
                _says(event)["method"],
            )
            says = (
                "Method, top and design are those that were fixed at sealing.",
                "It was made with other options than were sealed.",
            )
            held = _held("options", expected, found, says, f"decision {n}")
            yield replace(held, name=f"options {n}")

    def _decisions(self) -> Iterator[Check]:
        with tempfile.TemporaryDirectory() as folder:
            for name, body in self.files.items():
                if Path(name).name == name:
                    (Path(folder) / name).write_bytes(body)
            for n in range(1, len(self._said("decided")) + 1):
                yield from self._replayed(Path(folder), n)

    def _replayed(self, folder: Path, n: int) -> Iterator[Check]:
        record = folder / _decision(n)
        result = json.loads(record.read_bytes())["result"]
        seed = _says(self._said("decided")[n - 1])["seed"]
        says = ("It was used.", "The decision has another seed than the log.")
        yield replace(_held("seed", seed, result["seed"], says), name=f"seed {n}")
        try:
            ratings = read_ratings(folder / RATINGS)
            found = audit(
                record,
                ratings,
                assignment=folder,
                seal=read_hex(folder / SEAL, "seal"),
                secret=read_hex(folder / SECRET, "secret"),
            )
        except RecordError:
            raise
        except EvenhandError as error:
            raise RecordError(f"{self.name}: {error}") from None
        for check in found.checks:
            yield replace(check, name=f"decision {n}: {check.name}")


def _part(number: int) -> str:
    return "assignment.json" if number == 1 else f"assignment-{number}.json"


def _decision(number: int) -> str:
    return f"decision-{number}.json"

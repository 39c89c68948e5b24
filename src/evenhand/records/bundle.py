"""A bundle: all that an evaluation published, in one file that can be checked offline.

It is a plain archive that is written in one way only, so a changed byte anywhere shows.
An audit follows the log from the seal, draws again, replays every rating from its
payload, works out the seed of the decision and decides again.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from evenhand.claims import version
from evenhand.designs.drawing import reserve_order, seal_of
from evenhand.errors import EvenhandError, RecordError, counted
from evenhand.formats.lists import csv_line, safe_cell
from evenhand.formats.reading import read_ratings
from evenhand.records import log
from evenhand.records.canonical import (
    MALFORMED,
    canonical,
    decoded,
    finish,
    text_hash,
    well_formed,
)
from evenhand.records.record import assignment_from, parse, read_bytes, unedited
from evenhand.records.replay import Audit, DiffersError, Trail, audit_decision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.designs.assignment import Assignment
    from evenhand.records.canonical import Record

    Events = Sequence[Mapping[str, Any]]
    Bodies = Mapping[int, Mapping[str, Any]]

SCHEMA = "evenhand.bundle/1"
MANIFEST, LOG, PAYLOADS = "manifest.json", "log.jsonl", "payloads.jsonl"
RATINGS, LISTS, SEAL, SECRET = "ratings.csv", "lists.json", "seal.json", "secret.json"
MADE_LAST = (LOG, MANIFEST)
README = "README.txt"
DAMAGED = (*MALFORMED, zipfile.BadZipFile, RuntimeError, OSError, EOFError)
WHEN = (1980, 1, 1, 0, 0, 0)


def collect(
    events: Events, bodies: Bodies, drawn: Assignment, *, keep_unfinished: bool
) -> tuple[list[tuple[str, str, float]], int]:
    """Replay the ratings of a log, and keep to the rule for what is unfinished.

    Args:
        events: The events of the log.
        bodies: What is private about them, by number.
        drawn: The assignment that holds.
        keep_unfinished: Whether ratings of those who did not finish count.

    Returns:
        Reviewer, item and score of each rating that counts; and how many reviewers
        began but did not finish.
    """
    scores: dict[tuple[str, str], float | None] = {}
    for n, event in enumerate(events, start=1):
        if event["kind"] in log.RATED:
            body = bodies[n]
            scores[body["reviewer"], body["item"]] = body["score"]
    rows, unfinished = [], 0
    for who, own in drawn.bundles().items():
        given = [(str(who), str(item)) for item in own]
        found = [
            (*pair, score) for pair in given if (score := scores.get(pair)) is not None
        ]
        unfinished += 0 < len(found) < len(given)
        if len(found) == len(given) or keep_unfinished:
            rows += found
    return rows, unfinished


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
    sizes = Counter(who for who, _, _ in rows)
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
    stated: Record = {"schema": SCHEMA, "files": _hashed(files), "head": head}
    manifest = canonical(finish({**stated, "version": version()}))
    return _zipped({**files, MANIFEST: f"{manifest}\n".encode()})


def _hashed(files: Mapping[str, bytes], *but: str) -> dict[str, str]:
    return {name: text_hash(files[name]) for name in files if name not in but}


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
    files: dict[str, bytes] = {}
    with suppress(*DAMAGED), zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        # Files are stored as they are, so that together they are never larger.
        if sum(entry.file_size for entry in entries) <= len(data):
            files = {entry.filename: archive.read(entry) for entry in entries}
    if _zipped(files) != data:
        raise RecordError(
            f"{name}: The bundle is damaged, cut off, too large or none. Download it "
            "again."
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
    bundle = _Bundle(read_bundle(read_bytes(name), name), seal)
    try:
        with well_formed(name), suppress(DiffersError):
            bundle.check()
    except EvenhandError as error:
        text = str(error).removeprefix(f"{name}: ")
        raise RecordError(f"{name}: {text}") from None
    return Audit(tuple(bundle.checks))


class _Bundle(Trail):
    """The files of a bundle, and what was found out about them so far."""

    def __init__(self, files: Mapping[str, bytes], noted: str | None) -> None:
        super().__init__()
        self.files, self.noted = files, noted
        self.bodies: dict[int, dict[str, Any]] = {}
        self.rated = PAYLOADS in files

    def check(self) -> None:
        """Check all that can be; stop at what differs."""
        self._manifest()
        self._log()
        self._names()
        self.lists = self._record(LISTS)
        self.revealed = str(self._record(SECRET)["secret"])
        self._seal()
        self._draw()
        if self.rated:
            self._payloads()
        self._rules()
        if self.rated:
            self._repairs()
            self._ratings()
        else:
            self.skip("ratings", "The ratings were not published.")
        self._seeds()
        self._options()
        if self.rated:
            self._decisions()
        else:
            why = "No decision was replayed, for want of the ratings."
            self.skip("decisions", why)
        reports = ", ".join(sorted(it for it in self.files if it.startswith("report-")))
        why = f"The log has the hash of {reports}. Whether the page shows the decision "
        self.skip("report", f"{why}was not checked.")

    def _record(self, name: str) -> Record:
        if name not in self.files:
            raise RecordError(f"{name} is missing.")
        return unedited(decoded(self.files[name], name), name)

    def _said(self, *kinds: str) -> list[Mapping[str, Any]]:
        """Return what the log says of each event of some kinds."""
        return [log.says(event) for event in self.events if event.get("kind") in kinds]

    def _manifest(self) -> None:
        stated = self._record(MANIFEST)
        self.head = stated["head"]
        found = _hashed(self.files, MANIFEST)
        says = ("Every file is as the bundle states.", "A file was changed.")
        self.hold("bundle", stated["files"], found, *says)

    def _log(self) -> None:
        lines = self.files.get(LOG, b"").decode("utf-8", "replace").splitlines()
        if not lines:
            raise RecordError(f"{LOG} is missing or empty.")
        start = decoded(lines[0].encode(), LOG)["prev"]
        try:
            self.events, head = log.follow(lines, start)
        except RecordError as error:
            expected = "a line that follows the one before"
            self.hold("log", expected, str(error), "The chain is broken.")
        says = f"{counted(head.n, 'event')}, each with the hash of the one before."
        self.hold("log", self.head, head.hash, says, "The log ends elsewhere.")

    def _names(self) -> None:
        """Check that every file is there that the log tells of, and no other."""
        decisions = range(1, len(self._said("decided")) + 1)
        self.later = self.events[log.since_sealed(self.events) :]
        repairs = sum(event.get("kind") in log.REPAIRS for event in self.later)
        needed = {LOG, MANIFEST, LISTS, SEAL, SECRET, README}
        later = (f"assignment-{n}.json" for n in range(2, repairs + 2))
        self.parts = ["assignment.json", *later]
        self.decisions = [f"decision-{n}.json" for n in decisions]
        needed |= {*self.parts, *self.decisions}
        needed |= {f"report-{n}.html" for n in decisions}
        if {PAYLOADS, RATINGS} & set(self.files):
            needed |= {PAYLOADS, RATINGS}
        names, there = (
            dict.fromkeys(sorted(it), "a file") for it in (needed, self.files)
        )
        same = "Those that the log tells of, and no others."
        self.hold("names", names, there, same, "The log tells of other files.")
        stated = [it.get("files") for it in self._said("published")] or [None]
        same = "The log names every file with its hash."
        found = _hashed(self.files, *MADE_LAST)
        self.hold("files", stated[-1], found, same, "The log names other files.")

    def _seal(self) -> None:
        seals = [it["seal"] for it in self._said("created", "unsealed")]
        first = self.events[0]["prev"]
        if self.events[0].get("kind") != "created" or seals[0] != first:
            says = "The log does not begin at a seal."
            self.hold("seal", "the seal", first, says, field="log[0]")
        same = "The secret matches the seal that the log begins with"
        if len(seals) > 1:
            same = f"The secret matches the seal of draw {len(seals)}"
        if self.noted is not None:
            same += ", and it is the one that you noted"
            self.hold("seal", self.noted, seals[-1], "You noted another one.")
        found = [self._record(SEAL)["seal"], seal_of(self.revealed)]
        says = "The secret is another one."
        self.hold("seal", [seals[-1]] * 2, found, f"{same}.", says)

    def _draw(self) -> None:
        """Hold the lists, the first draw and every amendment against the log."""
        fixed, found = self._said("sealed")[-1]["lists_sha256"], self.lists["sha256"]
        says = ("What was fixed at sealing was not changed.", "Something was changed.")
        self.hold("lists", fixed, found, *says, field="lists.sha256")
        self.titles = {str(row[0]): str(row[1]) for row in self.lists["items"]}
        stated = [it for it in self.later if it.get("kind") in ("sealed", *log.REPAIRS)]
        hashes = [log.says(event)["record_sha256"] for event in stated]
        records = [unedited(parse(self.files[it], it), it) for it in self.parts]
        there = [record["sha256"] for record in records]
        self.hold("draw", hashes, there, "The log names another draw.")
        self.chain = list(zip(self.parts, records, strict=True))
        self.drawn: list[Assignment] = []
        for name, record in self.chain:
            before = self.drawn[-1] if self.drawn else None
            self.drawn.append(assignment_from(record, name, before))
        first = self.drawn[0]
        told = {
            "design": first.design,
            "reviewers": sorted(map(str, first.reviewers)),
            "conflicts": [[str(who), str(what)] for who, what in first.conflicts],
            "per_reviewer": first.parameters["per_reviewer"],
            "items": sorted(map(str, first.items)),
        }
        lists = {**self.lists, "items": sorted(self.titles)}
        expected = {name: lists[name] for name in told}
        same = (
            f"Draw {log.says(stated[0])['draw']}, made from the lists that were fixed."
        )
        self.hold("draw", expected, told, same, "It was drawn from other lists.")

    def _payloads(self) -> None:
        found = {}
        for line in self.files[PAYLOADS].decode("utf-8", "replace").splitlines():
            row = decoded(line.encode(), PAYLOADS)
            n, body = int(row["n"]), row["body"]  # "7" and 7 are one event
            self.bodies[n] = dict(body)
            found[str(n)] = log.payload_hash(row["salt"], body)
        numbered = enumerate(self.events, start=1)
        stated = {str(n): it["payload"] for n, it in numbered if "payload" in it}
        same = f"{counted(len(found), 'event')} with private content, as logged."
        other = "The log and the payloads do not go together."
        self.hold("payloads", stated, found, same, other)

    def _rules(self) -> None:
        """Check that nothing happened that the app does not allow."""
        bodies = self.bodies if self.rated else None
        rules = log.Rules(self.events, bodies, self.drawn, self.lists["scale"])
        same = "Every event was allowed when it happened."
        found = rules.broken() or same
        self.hold("rules", same, found, same, found, field="log")

    def _repairs(self) -> None:
        """Check that nobody had begun who was replaced, and reserves came in turn."""
        begun: set[str] = set()
        codes = [str(code) for code in self.lists["reserves"]]
        order = [str(it) for it in reserve_order(codes, self.revealed)]
        parts = iter(self.drawn[1:])
        # A draw that was dropped took its repairs with it.
        start = log.since_sealed(self.events)
        for n, event in enumerate(self.later, start=start + 1):
            if event["kind"] == "begun":
                begun.add(str(self.bodies[n]["reviewer"]))
            if event["kind"] not in log.REPAIRS:
                continue
            change = next(parts).amends
            if change is None:
                raise RecordError("An amendment amends nothing.")
            left, named = set(map(str, change.drop)), self.bodies[n]["reviewers"]
            in_turn, added = event["kind"] == "reserve", list(map(str, change.add))
            turn = order[:1] if in_turn else added
            expected = [sorted(map(str, named)), [], turn, in_turn, True]
            people = sorted(left), sorted(begun & left), added
            found: list[Any] = [*people, change.in_turn, change.unseen]
            says = "A repair was not as the rules say."
            self.hold("repairs", expected, found, says, field=f"event {n}")
            order = order[1:] if in_turn else order
        many = counted(len(self.drawn) - 1, "repair")
        says = f"{many}; nobody who was replaced had seen their items."
        says = says if len(self.drawn) > 1 else "There were none."
        self.put("repairs", "same", says)

    def _ratings(self) -> None:
        keep = self.lists["keep_unfinished"] is True
        drawn = self.drawn[-1]
        rows, many = collect(self.events, self.bodies, drawn, keep_unfinished=keep)
        is_order = self.lists["scale"]["kind"] == "order"
        text = ratings_csv(rows, self.titles, is_order=is_order)
        there = self.files[RATINGS].decode("utf-8", "replace")
        other = "The ratings are not those of the log."
        self.hold("ratings", text.split("\n"), there.split("\n"), other, field=RATINGS)
        receipts = counted(len(self._said(*log.RATED)), "receipt")
        says = f"{counted(len(rows), 'rating')}, {receipts} in the log."
        if many:
            says += f" {counted(many, 'reviewer')} did not finish."
        self.put("ratings", "same", says)

    def _seeds(self) -> None:
        closed, expected = "", []
        for event in self.events:
            if event["kind"] == "closed":
                closed = text_hash(canonical(event))
            if event["kind"] == "decided":
                expected.append(log.decision_seed(self.revealed, closed))
        decided = self._said("decided")
        found = [it["seed"] for it in decided]
        same = "It follows from the sealed secret and the log at the close."
        self.hold("seed", expected, found, same, "Another seed was used.")
        made = [self._record(name) for name in self.decisions]
        there = [record["sha256"] for record in made]
        stated = [it["record_sha256"] for it in decided]
        same = f"{counted(len(decided), 'decision')} in the log; all of them are here."
        self.hold("decisions", stated, there, same, "One is missing or another.")
        self.decided = list(enumerate(zip(decided, made, strict=True), start=1))

    def _options(self) -> None:
        """Check that decisions were made as it was fixed at sealing."""
        says = (
            "Method, top and design are those that were fixed at sealing.",
            "It was made with other options than were sealed.",
        )
        for n, (said, record) in self.decided:
            result = record["result"]
            used, method, lists = result["parameters"], result["method"], self.lists
            job = result["schema"].removeprefix("evenhand.").removesuffix("/1")
            found = {"job": job, "design": used.get("design"), "method": method}
            expected = {name: lists[name] for name in found}
            if job == "rank":
                found |= {name: used.get(name) for name in ("top", "distinct")}
                top = lists["top"] and min(lists["top"], result["data"]["items"])
                expected |= {"top": top, "distinct": lists["distinct"]}
            expected["logged"], found["logged"] = method, said["method"]
            self.hold(f"options {n}", expected, found, *says, field=f"decision {n}")

    def _decisions(self) -> None:
        ratings = read_ratings(io.StringIO(self.files[RATINGS].decode()))
        seal = self._record(SEAL)["seal"]
        says = ("It was used.", "The decision has another seed than the log.")
        for n, (said, record) in self.decided:
            used = record["result"]["seed"]
            self.hold(f"seed {n}", said["seed"], used, *says, field="seed")
            found = Trail(ratings, self.chain, seal, self.revealed)
            with suppress(DiffersError):
                audit_decision(found, record, self.decisions[n - 1])
            for check in found.checks:
                name = f"decision {n}: {check.name}"
                self.put(name, check.status, check.says, check.difference)

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
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.claims import version
from evenhand.designs.drawing import reserve_order, seal_of
from evenhand.errors import EvenhandError, RecordError, plural
from evenhand.formats.lists import csv_line, safe_cell
from evenhand.formats.reading import read_ratings
from evenhand.method import as_method
from evenhand.records import log
from evenhand.records.canonical import (
    MALFORMED,
    brief,
    canonical,
    contents,
    decode,
    finish,
    is_dict,
    require_form,
    text_hash,
)
from evenhand.records.events import BODIES, payload_fault
from evenhand.records.people import (
    NAMES,
    RECEIPT,
    codes_of,
    conflicts_of,
    draw_secret,
    people_hashes,
    person_hash,
    secret_of,
)
from evenhand.records.record import (
    assignment_from,
    parse,
    read_bytes,
    require_intact,
    seal_record,
    secret_record,
)
from evenhand.records.replay import (
    RESULTS,
    Audit,
    DiffersError,
    Trail,
    audit_chain,
    audit_decision,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.claims import Json
    from evenhand.designs.assignment import Assignment
    from evenhand.ratings import Ratings
    from evenhand.records.canonical import Record

    Events = Sequence[Mapping[str, Any]]
    Bodies = Mapping[int, Mapping[str, Any]]

SCHEMA, LISTS_SCHEMA = "evenhand.bundle/1", "evenhand.lists/2"
MANIFEST, LOG, PAYLOADS = "manifest.json", "log.jsonl", "payloads.jsonl"
RATINGS, LISTS, SEAL, SECRET = "ratings.csv", "lists.json", "seal.json", "secret.json"
MADE_LAST = (LOG, MANIFEST)
README = "README.txt"
DAMAGED = (*MALFORMED, zipfile.BadZipFile, RuntimeError, OSError, EOFError)
WHEN = (1980, 1, 1, 0, 0, 0)
READ_ME = """{title}

This is all that was published of this evaluation. Check it offline with

    evenhand audit FILE.zip

which follows the log from the seal, draws again from the secret, replays every rating,
works out the seed and decides again.

seal.json       the seal, which was public before the first rating
secret.json     the secret behind it
lists.json      what was fixed at sealing; reviewers stand in it by codes
assignment.json who was given what; assignment-2.json and so on are repairs
ratings.csv     the ratings that count, if they were published
payloads.jsonl  what the log holds of each of them, if they were published
decision-1.json the decision, and report-1.html the report of it
log.jsonl       the log; the hash of a line is the receipt of its rating
manifest.json   the hash of every file

The decision stands in decision-1.json. The audit does not check that a report's page
shows it; this file it compares with what evenhand writes, byte for byte.
"""
SELECTING = {
    **dict.fromkeys(("budget", "costs", "design", "fixed", "pool", "quotas")),
    **dict.fromkeys(("distinct", "noise_free"), False),
    "rule": "maximin",
    "sealed_before": None,
    "sensitivity": 0,
}
"""The parameters of a selection in the app, which only seals places and method."""
FROM_RATINGS = ("pairing", "mean_ranks", "samples")
"""What the parameters of a decision note of the ratings; nobody chooses it."""


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
    for reviewer, own in drawn.bundles().items():
        assigned = [(str(reviewer), str(item)) for item in own]
        scored = [
            (*pair, score)
            for pair in assigned
            if (score := scores.get(pair)) is not None
        ]
        unfinished += 0 < len(scored) < len(assigned)
        if len(scored) == len(assigned) or keep_unfinished:
            rows += scored
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
    sizes = Counter(reviewer for reviewer, _, _ in rows)
    titled = any(titles.get(item) for _, item, _ in rows)
    head = ["reviewer", "item", *(["title"] if titled else [])]
    lines = [csv_line([*head, "rank" if is_order else "score"])]
    for reviewer, item, score in rows:
        value = sizes[reviewer] + 1 - score if is_order else score
        number = str(int(value)) if value == int(value) else repr(value)
        title = [safe_cell(titles.get(item, ""))] if titled else []
        lines.append(csv_line([safe_cell(reviewer), safe_cell(item), *title, number]))
    return "".join(lines)


def read_me(title: str) -> str:
    """Return what tells a stranger about a bundle; it follows from the title alone."""
    return READ_ME.format(title=title)


def write_bundle(files: Mapping[str, bytes], head: str) -> bytes:
    """Write the files of an evaluation as one archive.

    Args:
        files: Content by name, with the log.
        head: Hash of the last event of the log.

    Returns:
        The archive; the same files always give the same bytes.
    """
    stated: Record = {"schema": SCHEMA, "files": _file_hashes(files), "head": head}
    manifest = canonical(finish({**stated, "version": version()}))
    return _archive({**files, MANIFEST: f"{manifest}\n".encode()})


def without_ratings(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that hold no single rating; a report lists them all.

    Examples:
        >>> [*without_ratings({"log.jsonl": b"", "report-1.html": b""})]
        ['log.jsonl']
    """
    private = (RATINGS, PAYLOADS)
    kept = (
        file for file in files if file not in private and not file.startswith("report-")
    )
    return {name: files[name] for name in kept}


def _file_hashes(files: Mapping[str, bytes], *but: str) -> dict[str, str]:
    return {name: text_hash(files[name]) for name in files if name not in but}


def _archive(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, WHEN)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


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
    if _archive(files) != data:
        raise RecordError(
            f"{name}: The bundle is damaged, cut off, too large or none. Download it "
            "again."
        )
    return files


def audit_bundle(
    path: str | os.PathLike[str],
    seal: str | None = None,
    receipts: str | os.PathLike[str] | None = None,
    names: str | os.PathLike[str] | None = None,
) -> Audit:
    """Check a bundle against its seal, its log and itself.

    Args:
        path: The file.
        seal: A seal that was noted before ratings came in, or None.
        receipts: What a reviewer kept, the file my-ratings.json of their page, or None.
        names: The organiser's file with the key and the names, or None.

    Returns:
        Every check that was made, and those that could not be.

    Raises:
        RecordError: If it cannot be read, or is damaged.
    """
    name = os.fspath(path)
    bundle = _Bundle(read_bundle(read_bytes(name), name), seal)
    bundle.names, bundle.own = _read(names, NAMES), _read(receipts, RECEIPT)
    try:
        with require_form(name), suppress(DiffersError):
            bundle.check()
    except EvenhandError as error:
        text = str(error).removeprefix(f"{name}: ")
        raise RecordError(f"{name}: {text}") from None
    return Audit(tuple(bundle.checks))


def _read(path: str | os.PathLike[str] | None, schema: str) -> Record | None:
    """Read a file of an organiser or a reviewer.

    Raises:
        RecordError: If it is another file.
    """
    if path is None:
        return None
    name = os.fspath(path)
    value = decode(read_bytes(name), name)
    if not is_dict(value) or value.get("schema") != schema:
        raise RecordError(f"{name}: This must be a file of kind {schema}.")
    return dict(value)


def _places(result: Mapping[str, Any], lists: Record) -> int:
    """Return how many places there are: those of the lists, if items suffice."""
    return int(min(int(str(lists["top"])), result["data"]["items"]))


class _Bundle(Trail):
    """The files of a bundle, and what was found out about them so far."""

    def __init__(self, files: Mapping[str, bytes], noted: str | None) -> None:
        super().__init__()
        self.files, self.noted = files, noted
        self.names: Record | None = None
        self.own: Record | None = None
        self.bodies: dict[int, dict[str, Any]] = {}
        self.rated = PAYLOADS in files

    def check(self) -> None:
        """Check all that can be; stop at what differs."""
        self._manifest()
        self._log()
        self._names()
        self.lists = self._record(LISTS)
        if self.lists.get("schema") != LISTS_SCHEMA:
            text = "Another version of evenhand wrote it. Audit it with that one."
            raise RecordError(f"{LISTS}: {text}")
        self.revealed = str(self._record(SECRET)["secret"])
        self._seal()
        self._draw()
        self._people()
        self._read_me()
        if self.rated:
            self._payloads()
        self._rules()
        if self.own is None:
            why = "That each nonce is its reviewer's own only receipts show: give yours"
            self.skip("receipts", f"{why} with --receipts.")
        else:
            with require_form("The file of --receipts"):
                self._receipts(self.own["sent"])
                self._own_events(self.own)
        if self.rated:
            self._repairs()
            self._ratings()
        else:
            self.skip("ratings", "The ratings were not published.")
            self._copy("draw", self._trail(None), audit_chain, "record")
        self._seeds()
        self._options()
        if self.rated:
            self._decisions()
        else:
            why = "No decision was replayed, for want of the ratings."
            self.skip("decisions", why)
            return
        reports = ", ".join(
            sorted(name for name in self.files if name.startswith("report-"))
        )
        why = f"The log has the hash of {reports}. Whether the page shows the decision "
        self.skip("report", f"{why}was not checked.")

    def _record(self, name: str) -> Record:
        if name not in self.files:
            raise RecordError(f"{name} is missing.")
        return require_intact(decode(self.files[name], name), name)

    def _public_facts(self, *kinds: str) -> list[Mapping[str, Any]]:
        """Return what the log says of each event of some kinds."""
        return [log.says(event) for event in self.events if event.get("kind") in kinds]

    def _event(self, n: Json) -> Mapping[str, Any]:
        """Return the event of a number, one without fields if there is none."""
        if not isinstance(n, int) or isinstance(n, bool):
            return {}
        return self.events[n - 1] if 0 < n <= len(self.events) else {}

    def _manifest(self) -> None:
        stated = self._record(MANIFEST)
        self.head = stated["head"]
        hashes = _file_hashes(self.files, MANIFEST)
        says = ("Every file is as the bundle states.", "A file was changed.")
        self.hold("bundle", stated["files"], hashes, *says)

    def _log(self) -> None:
        lines = self.files.get(LOG, b"").decode("utf-8", "replace").splitlines()
        if not lines:
            raise RecordError(f"{LOG} is missing or empty.")
        start = decode(lines[0].encode(), LOG)["prev"]
        try:
            self.events, head = log.follow(lines, start)
        except RecordError as error:
            expected = "a line that follows the one before"
            self.hold("log", expected, str(error), "The chain is broken.")
        says = f"{plural(head.n, 'event')}, each with the hash of the one before."
        self.hold("log", self.head, head.hash, says, "The log ends elsewhere.")

    def _names(self) -> None:
        """Check that every file is there that the log tells of, and no other."""
        decisions = range(1, len(self._public_facts("decided")) + 1)
        self.later = self.events[log.last_sealing(self.events) :]
        repairs = sum(event.get("kind") in log.REPAIRS for event in self.later)
        needed = {LOG, MANIFEST, LISTS, SEAL, SECRET, README}
        later = (f"assignment-{n}.json" for n in range(2, repairs + 2))
        self.parts = ["assignment.json", *later]
        self.decisions = [f"decision-{n}.json" for n in decisions]
        needed |= {*self.parts, *self.decisions}
        if {PAYLOADS, RATINGS} & set(self.files):
            needed |= {PAYLOADS, RATINGS, *(f"report-{n}.html" for n in decisions)}
        names, there = (
            dict.fromkeys(sorted(files), "a file") for files in (needed, self.files)
        )
        same = "Those that the log tells of, and no others."
        self.hold("names", names, there, same, "The log tells of other files.")
        stated = [entry.get("files") for entry in self._public_facts("published")] or [
            None
        ]
        same = "The log names every file with its hash."
        hashes = _file_hashes(self.files, *MADE_LAST)
        self.hold("files", stated[-1], hashes, same, "The log names other files.")

    def _seal(self) -> None:
        seals = [entry["seal"] for entry in self._public_facts("created", "unsealed")]
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
        actual = [seals[-1], seal_of(self.revealed)]
        says = "The secret is another one."
        self.hold("seal", [seals[-1]] * 2, actual, f"{same}.", says)
        for name, make_record in ((SEAL, seal_record), (SECRET, secret_record)):
            stated, expected = self._record(name), contents(make_record(self.revealed))
            expected["version"] = str(stated.get("version"))
            mismatch = "It holds something else."
            self.hold("seal", expected, contents(stated), mismatch, field=name)

    def _draw(self) -> None:
        """Hold the lists, the first draw and every amendment against the log."""
        fixed, lists_hash = (
            self._public_facts("sealed")[-1]["lists_sha256"],
            self.lists["sha256"],
        )
        says = ("What was fixed at sealing was not changed.", "Something was changed.")
        self.hold("lists", fixed, lists_hash, *says, field="lists.sha256")
        self.titles = {str(row[0]): str(row[1]) for row in self.lists["items"]}
        kinds = ("sealed", *log.REPAIRS)
        stated = [event for event in self.later if event.get("kind") in kinds]
        hashes = [log.says(event)["record_sha256"] for event in stated]
        records = [
            require_intact(parse(self.files[part], part), part) for part in self.parts
        ]
        there = [record["sha256"] for record in records]
        self.hold("draw", hashes, there, "The log names another draw.")
        self.chain = list(zip(self.parts, records, strict=True))
        self.drawn: list[Assignment] = []
        for name, record in self.chain:
            before = self.drawn[-1] if self.drawn else None
            self.drawn.append(assignment_from(record, name, before))
        first = self.drawn[0]
        facts = {
            "design": first.design,
            "reviewers": sorted(map(str, first.reviewers)),
            "n_conflicts": self.lists["n_conflicts"] if first.has_conflicts else 0,
            "per_reviewer": first.parameters["per_reviewer"],
            "items": sorted(map(str, first.items)),
        }
        lists = {**self.lists, "items": sorted(self.titles)}
        expected = {name: lists[name] for name in facts}
        same = (
            f"Draw {log.says(stated[0])['draw']}, made from the lists that were fixed."
        )
        self.hold("draw", expected, facts, same, "It was drawn from other lists.")

    def _people(self) -> None:
        """Check who is which code, as far as whoever asks may know it."""
        self.people = dict(self.lists["people"])
        codes = {*map(str, (*self.lists["reviewers"], *self.lists["reserves"]))}
        for event in self.later:
            if event.get("kind") == "substitute":
                # Who was named at sealing cannot be named again.
                self.people = {**log.says(event)["people"], **self.people}
        named = {
            str(reviewer) for drawn in self.drawn for reviewer in drawn.reviewers
        } | codes
        mismatch = "Somebody has a code and was not named."
        self.hold("people", sorted(named), sorted(self.people), mismatch)
        if self.names is None and self.own is None:
            why = "Who is which code was not checked. Reviewers can with --receipts, "
            self.skip("people", f"{why}who has the names with --names.")
        if self.names is not None:
            with require_form("The file of --names"):
                self._check_names(self.names)
        if self.own is not None:
            with require_form("The file of --receipts"):
                self._own_code(self.own)

    def _check_names(self, names: Record) -> None:
        """Check that key, names and conflicts are those that were sealed."""
        key, rows = str(names["key"]), [tuple(row) for row in names["people"]]
        mismatch = "The key is not the one that was sealed."
        self.hold("key", self.revealed, secret_of(key), mismatch)
        listed = [row for row in rows if row[0] in self.lists["people"]]
        stated = {name: code for code, name, _ in listed}
        mismatch = "The key gives these names other codes."
        self.hold("codes", codes_of(key, stated), stated, mismatch)
        same = f"{plural(len(rows), 'person')}: names, codes and conflicts as sealed."
        mismatch = "A name, a code or a conflict is not the one that was sealed."
        self.hold("people", self.people, people_hashes(key, rows), same, mismatch)
        self.conflicts = conflicts_of(rows)
        many, n_conflicts = self.lists["n_conflicts"], len(self.conflicts)
        self.hold("conflicts", many, n_conflicts, "There are others than were sealed.")

    def _own_code(self, own: Record) -> None:
        """Check that a reviewer is the code that was sealed for them."""
        code, name = str(own["code"]), str(own["name"])
        own_hash = person_hash(str(own["salt"]), code, name, own["conflicts"])
        kept = plural(len(own["conflicts"]), "conflict")
        same = f"{name} is {code}, with {kept}, as it was sealed."
        mismatch = f"{name} is not whom {code} was sealed for, or has other conflicts."
        self.hold("your code", self.people.get(code), own_hash, same, mismatch)

    def _own_events(self, own: Record) -> None:
        """Check that what a reviewer sent stands under their code."""
        for sent in own["sent"] if self.rated else ():
            reviewer = self.bodies.get(int(sent["n"]), {}).get("reviewer")
            mismatch = "What you sent stands under another code."
            where = f"event {sent['n']}"
            self.hold("your code", own["code"], reviewer, mismatch, field=where)

    def _read_me(self) -> None:
        """Check that the text beside the records is ours, and so names no winner."""
        there = self.files[README].decode("utf-8", "backslashreplace")
        expected = read_me(self.lists["title"]).split("\n")
        says = ("It is as evenhand writes it.", "It is not as evenhand writes it.")
        self.hold("readme", expected, there.split("\n"), *says, field=README)

    def _payloads(self) -> None:
        numbered = enumerate(self.events, start=1)
        stated = {n: event["payload"] for n, event in numbered if "payload" in event}
        hashes = {}
        for line in self.files[PAYLOADS].decode("utf-8", "replace").splitlines():
            row = decode(line.encode(), PAYLOADS)
            fault = self._payload_fault(row)
            if fault is not None:
                text = "a row for each event, as it was logged"
                self.hold("payloads", text, fault, fault, field=PAYLOADS)
            n, body = row["n"], row["body"]
            self.bodies[n] = dict(body)
            hashes[str(n)] = log.payload_hash(row["salt"], body)
        same = f"{plural(len(hashes), 'event')} with private content, as logged."
        mismatch = "The log and the payloads do not go together."
        named = {str(n): digest for n, digest in stated.items()}
        self.hold("payloads", named, hashes, same, mismatch)

    def _payload_fault(self, row: Record) -> str | None:
        """Say why a row of payloads is none."""
        n = row.get("n")
        kind = self._event(n).get("kind")
        if kind not in BODIES or n in self.bodies:
            return f"A row belongs to no event, or to one that has another: {brief(n)}."
        fault = payload_fault(row, str(kind))
        return fault and f"Event {n}: {fault}"

    def _rules(self) -> None:
        """Check that nothing happened that the app does not allow."""
        bodies = self.bodies if self.rated else None
        sealed = self.lists["scale"], self.lists["public_value"]
        rules = log.Rules(self.events, bodies, self.drawn, *sealed)
        same = "Every event was allowed when it happened."
        verdict = rules.broken() or same
        self.hold("rules", same, verdict, same, verdict, field="log")

    def _receipts(self, kept: Sequence[Record]) -> None:
        """Hold what a reviewer kept against the log: no event of theirs was changed."""
        names = ("receipt", "nonce", *(("item", "version", "score") * self.rated))
        for receipt in kept:
            n, event = receipt["n"], self._event(receipt["n"])
            there = {"receipt": text_hash(canonical(event)), **log.says(event)}
            there |= self.bodies.get(n, {})
            expected = {key: receipt[key] for key in names}
            actual = {key: there.get(key) for key in names}
            says = "The log has something else than this receipt."
            self.hold("receipts", expected, actual, says, field=f"event {n}")
        says = (
            f"{plural(len(kept), 'receipt')} that you kept, each in the log as it was"
        )
        self.add("receipts", "same", f"{says} given.")

    def _repairs(self) -> None:
        """Check that nobody had begun who was replaced, and reserves came in turn."""
        reviewers_begun: set[str] = set()
        codes = [str(code) for code in self.lists["reserves"]]
        order = [str(reserve) for reserve in reserve_order(codes, self.revealed)]
        parts = iter(self.drawn[1:])
        # A draw that was dropped took its repairs with it.
        start = log.last_sealing(self.events)
        for n, event in enumerate(self.later, start=start + 1):
            if event["kind"] == "begun":
                reviewers_begun.add(str(self.bodies[n]["reviewer"]))
            if event["kind"] not in log.REPAIRS:
                continue
            change = next(parts).amends
            if change is None:
                raise RecordError("An amendment amends nothing.")
            dropped, named = set(map(str, change.drop)), self.bodies[n]["reviewers"]
            in_turn, added = event["kind"] == "reserve", list(map(str, change.add))
            turn = order[:1] if in_turn else added
            expected = [sorted(map(str, named)), [], turn, in_turn, True]
            people = sorted(dropped), sorted(reviewers_begun & dropped), added
            actual: list[Any] = [*people, change.in_turn, change.unseen]
            says = "A repair was not as the rules say."
            self.hold("repairs", expected, actual, says, field=f"event {n}")
            order = order[1:] if in_turn else order
        many = plural(len(self.drawn) - 1, "repair")
        says = f"{many}; nobody who was replaced had seen their items."
        says = says if len(self.drawn) > 1 else "There were none."
        self.add("repairs", "same", says)

    def _ratings(self) -> None:
        keep = self.lists["keep_unfinished"] is True
        drawn = self.drawn[-1]
        rows, many = collect(self.events, self.bodies, drawn, keep_unfinished=keep)
        is_order = self.lists["scale"]["kind"] == "order"
        text = ratings_csv(rows, self.titles, is_order=is_order)
        there = self.files[RATINGS].decode("utf-8", "replace")
        mismatch = "The ratings are not those of the log."
        self.hold(
            "ratings", text.split("\n"), there.split("\n"), mismatch, field=RATINGS
        )
        receipts = plural(len(self._public_facts(*log.RATED)), "receipt")
        says = f"{plural(len(rows), 'rating')}, {receipts} in the log."
        if many:
            says += f" {plural(many, 'reviewer')} did not finish."
        self.add("ratings", "same", says)

    def _seeds(self) -> None:
        decided = self._public_facts("decided")
        expected = [log.seed_from(self.revealed, self.later)] * len(decided)
        seeds = [entry["seed"] for entry in decided]
        nonces = plural(len(log.nonces_in(self.later)), "nonce")
        same = f"It follows from the sealed secret and {nonces} of reviewers' devices"
        if name := self.lists["public_value"]:
            value = log.public_value_in(self.later)
            same += ", and from the public value"
            why = f"{value} was put in for {brief(name)}. It is not checked here: "
            self.skip("public value", f"{why}compare it with the source.")
        self.hold("seed", expected, seeds, f"{same}.", "Another seed was used.")
        records = [self._record(name) for name in self.decisions]
        there = [record["sha256"] for record in records]
        stated = [entry["record_sha256"] for entry in decided]
        same = f"{plural(len(decided), 'decision')} in the log; all of them are here."
        self.hold("decisions", stated, there, same, "One is missing or another.")
        self.decided = list(enumerate(zip(decided, records, strict=True), start=1))

    def _options(self) -> None:
        """Check that decisions were made as it was fixed at sealing."""
        says = (
            "Method, with every option, top and design are those that were sealed.",
            "It was made with other options than were sealed.",
        )
        for n, (entry, record) in self.decided:
            result, lists = record["result"], self.lists
            used, job = result["parameters"], f"evenhand.{lists['job']}/1"
            self.hold(f"options {n}", job, result["schema"], says[1], field="job")
            sealed = as_method(lists["method"], RESULTS[job][0])
            noted = {name: used[name] for name in FROM_RATINGS if name in used}
            options = {**noted, **sealed.parameters(), "design": lists["design"]}
            if lists["job"] == "select":
                options = {**SELECTING, **noted, "places": _places(result, lists)}
            if lists["job"] == "rank":
                top = min(lists["top"], result["data"]["items"])
                options |= {"top": top, "distinct": lists["distinct"]}
            expected: Record = {"method": sealed.name, "parameters": options}
            actual: Record = {"method": result["method"], "parameters": used}
            expected["logged"] = [lists["method"], result["data"]["sha256"]]
            actual["logged"] = [entry["method"], entry["ratings_sha256"]]
            self.hold(f"options {n}", expected, actual, *says, field=f"decision {n}")

    def _sealed_options(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a decision is to be made with again."""
        sealed = {"method": self.lists["method"]}
        if self.lists["job"] == "select":
            return sealed | {"places": _places(result, self.lists)}
        names = ("top", "distinct") if self.lists["job"] == "rank" else ()
        return sealed | {name: result["parameters"][name] for name in names}

    def _decisions(self) -> None:
        ratings = read_ratings(io.StringIO(self.files[RATINGS].decode()))
        says = ("It was used.", "The decision has another seed than the log.")
        for n, (entry, record) in self.decided:
            used = record["result"]["seed"]
            self.hold(f"seed {n}", entry["seed"], used, *says, field="seed")
            file = self.decisions[n - 1]
            trail = replace(
                self._trail(ratings), sealed=self._sealed_options(record["result"])
            )
            self._copy(f"decision {n}", trail, audit_decision, record, file)

    def _trail(self, ratings: Ratings | None) -> Trail:
        """Return what the draw and what follows from it are held against."""
        secret: str | None = self.revealed
        if self.drawn[0].conflicts_hidden:
            key = None if self.names is None else str(self.names["key"])
            secret = None if key is None else draw_secret(key, has_conflicts=True)
        seal = None if secret is None else seal_of(secret)
        return Trail(ratings, self.chain, seal, secret, conflicts=self.conflicts)

    def _copy(
        self, name: str, trail: Trail, audit: Callable[..., object], *arguments: object
    ) -> None:
        """Audit something with a trail of its own, and take over what it found."""
        with suppress(DiffersError):
            audit(trail, *arguments)
        for check in trail.checks:
            says = f"{name}: {check.name}"
            self.add(says, check.status, check.says, check.difference)

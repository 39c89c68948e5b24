"""`evenhand audit`: replay a record, and name the first thing that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import option
from evenhand.errors import OptionError, must_be, printable
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.formats import lists
    from evenhand.records import bundle as bundles
    from evenhand.records import record as records
    from evenhand.records import replay
    from evenhand.records.replay import Audit
else:
    lists = lazy("evenhand.formats.lists")
    records = lazy("evenhand.records.record")
    bundles = lazy("evenhand.records.bundle")
    replay = lazy("evenhand.records.replay")

DIFFERS = 1


@click.command("audit", cls=_options.Grouped)
@click.argument("record", metavar="RECORD")
@_options.file_argument("ratings", "[RATINGS]", required=False)
@option(
    "--assignment FOLDER", "For a decision, the folder or the record of its assignment."
)
@option("--seal FILE", "The seal that was published.")
@option("--secret FILE", "The secret that was revealed.")
@option("--names FILE", "For a bundle, the organiser's key of the codes.")
@option("--receipts FILE", "For a bundle, the receipt you saved as a reviewer.")
@_options.watch_options
@_options.reading_options(file=False)
@_options.output_options
@click.pass_context
def command(
    context: click.Context,
    /,
    record: str,
    ratings: str | Sequence[str] | None,
    **options: Any,  # noqa: ANN401 - click's values
) -> None:
    """Verify a record by replaying every step.

    RECORD is a decision of compare, rank or select --record, or an assignment: the
    folder of evenhand assign, or its record; or the bundle (.zip) that an evaluation of
    evenhand serve published, which holds all that it needs. Checked in turn: the record
    against its hashes, the assignment's seal against the published one, the secret
    against the seal, the assignment and its amendments against the seed, the ratings
    against the assignment, and the decision against the ratings; of a bundle also its
    log, its payloads and the decision's seed, and who is which code, for those who may
    know it. Steps without input are reported as not checked.

    Exit code 0: nothing differs; 1: something does, and the first is named; 2: a file
    cannot be read, or is not an evenhand record.

    \b
    Example:
      evenhand audit decision.json ratings.csv --assignment draw
    """
    with _shared.working("Replaying"):
        is_bundle = record.casefold().endswith(".zip")
        result = (_bundle if is_bundle else _replay)(record, ratings, options)
    lines = repr(result).splitlines()
    _shared.show(result.to_dict(), lambda: "\n".join(map(printable, lines)), options)
    if not result.identical:
        context.exit(DIFFERS)


def _replay(
    record: str, ratings: str | Sequence[str] | None, options: dict[str, Any]
) -> Audit:
    """Check a decision or an assignment."""
    folder = options["assignment"]
    for name in ("names", "receipts"):
        if options[name]:
            raise OptionError(
                f"--{name} must come with a bundle, a file that ends in .zip."
            )
    assignment, seal, secret = _shared.evidence_in(record if folder is None else folder)
    if folder is None:
        record, assignment = str(assignment), None
    seal, secret = options["seal"] or seal, options["secret"] or secret
    reading, companion = _shared.take_reading(options)
    files = {"RECORD": record, "--assignment": assignment}
    files |= _shared.file_inputs(ratings or ())
    files |= {"--seal": seal, "--secret": secret, "--companion": companion}
    files["--anonymise"] = reading.anonymise
    _shared.check_paths({"--output": options["output"]}, files)
    read: Any = None
    if ratings is not None and records.from_intervals(record):
        read = lists.read_intervals(ratings)
    elif ratings is not None:
        read, new = _shared.read(ratings, reading, companion, counts=True)
        if new:
            raise must_be("--anonymise", "the key of the decision", new[0].path)
    published = _shared.read_hex(seal, "seal")
    revealed = _shared.read_hex(secret, "secret")
    return replay.audit(
        record, read, assignment=assignment, seal=published, secret=revealed
    )


def _bundle(path: str, ratings: object, options: dict[str, Any]) -> Audit:
    """Check a bundle, which needs nothing but a seal that somebody noted."""
    if ratings is not None or options["assignment"] or options["secret"]:
        raise OptionError("A bundle holds its ratings, assignment and secret itself.")
    own = {name: options[name] for name in ("names", "receipts")}
    return bundles.audit_bundle(path, _shared.read_hex(options["seal"], "seal"), **own)

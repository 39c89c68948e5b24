"""`evenhand audit`: replay a record, and name the first thing that differs."""

from __future__ import annotations

import json

import click

from evenhand.cli import _shared
from evenhand.errors import OptionError, printable

DIFFERS = 1


@click.command("audit")
@click.argument("record", metavar="RECORD")
@click.argument("ratings", metavar="[RATINGS]", required=False)
@click.option(
    "--assignment", metavar="FILE", help="For a decision, the assignment's record."
)
@click.option("--seal", metavar="FILE", help="The seal that was published.")
@click.option("--secret", metavar="FILE", help="The secret that was revealed.")
@_shared.reading_options(pairs=True, file=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-o", "--output", metavar="PATH", help="Write there instead of printing.")
@click.pass_context
def command(
    context: click.Context,
    /,
    record: str,
    ratings: str | None,
    *,
    assignment: str | None,
    seal: str | None,
    secret: str | None,
    file_format: str | None,
    as_json: bool,
    output: str | None,
    **reading: str | None,
) -> None:
    """Check a record against everything that it should follow from.

    RECORD is an assignment of evenhand assign --record or a decision of compare or rank
    --record. Checked in turn: the record against its hashes, the assignment's seal
    against the published one, the secret against the seal, the assignment against the
    seed, the ratings against the assignment, and the decision against the ratings. What
    was not given is named as not checked.

    Exit code 0: nothing differs; 1: something does, and the first is named; 2: a file
    cannot be read, or is not ours.

    \b
    Example:
      evenhand audit decision.json ratings.csv --assignment assignment.json \\
        --seal seal.json --secret secret.json
    """
    from evenhand.desk.records import read_hex
    from evenhand.desk.replay import audit

    _shared.keep_inputs(
        {"--output": output},
        {
            "RECORD": record,
            "RATINGS": ratings,
            "--assignment": assignment,
            "--seal": seal,
            "--secret": secret,
            **_shared.read_too(reading),
        },
    )
    found, new = (
        (None, []) if ratings is None else _shared.read(ratings, file_format, reading)
    )
    if new:
        raise OptionError(
            f"--anonymise must be the key of the decision, got {new[0].path!r}: there "
            "is no such file."
        )
    with _shared.working("Replaying"):
        result = audit(
            record,
            found,
            assignment=assignment,
            seal=None if seal is None else read_hex(seal, "seal"),
            secret=None if secret is None else read_hex(secret, "secret"),
        )
    lines = repr(result).splitlines()
    text = "\n".join(printable(line) for line in lines)
    _shared.deliver(json.dumps(result.to_dict(), indent=2) if as_json else text, output)
    if not result.identical:
        context.exit(DIFFERS)

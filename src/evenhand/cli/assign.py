"""`evenhand assign`: a random assignment to a file, with a sealed record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _shared
from evenhand.cli._shared import COUNT, option
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from evenhand._outputs import Output
    from evenhand.designs.assignment import Assignment

    Options = dict[str, Any]

DESIGNS = ["halves", "coins", "matched", "panels", "pairs", "balanced"]
STDIN = "-"


@click.command("assign")
@option("--items", "Items: one on each line, or a table with a column.", "FILE")
@option("--reviewers", "Reviewers, in the same form.", "FILE")
@option(
    "--design",
    "For two items: halves, coins, matched or panels; for many: pairs (each reviewer "
    "another pair) or balanced.",
    DESIGNS,
)
@option("--per-reviewer", "Items for each reviewer (balanced).", COUNT)
@option("--per-item", "Reviewers for each item (balanced).", COUNT)
@option(
    "--conflicts",
    "Table of reviewers and items that must not meet (balanced).",
    "FILE",
)
@option(
    "--group",
    "Column of the reviewers' pair (matched) or panel (panels).",
    "COLUMN",
)
@option("--item-column", "Column of the item.", "COLUMN")
@option("--reviewer-column", "Column of the reviewer.", "COLUMN")
@_shared.seed_option
@option("--seal", "Draw a secret, and write its seal there to publish.", "PATH")
@option(
    "--secret",
    "With --seal, keep the new secret there; alone, draw with the one in there.",
    "PATH",
)
@option("--record", "Write the record there.", "PATH")
@option("--json as_json", "Print the record as JSON.", bool)
@option("-o --output", "Write the CSV there instead of printing it.", "PATH")
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Draw at random who reviews what.

    The assignment is CSV with a row for each review. It depends on the sets of items
    and reviewers, the design and the seed, not on the order of lines.

    So that nobody need take your word for the draw, seal it. First, --seal with
    --secret draws a secret and writes its seal; publish the seal, at the latest before
    any rating exists. Then --secret draws with it. Both steps can be one command, but
    then you might have tried secrets until one pleased: a seal that is public before
    somebody else fixes the lists rules that out. Publish the record with the
    assignment; it holds the seal but not the secret. When all ratings are in, publish
    the secret too: then anyone can check every step with evenhand audit.

    A label that a spreadsheet would run as a formula gets an apostrophe before it.

    \b
    Example:
      evenhand assign --seal seal.json --secret secret.json
      evenhand assign --items papers.csv --reviewers people.csv --design balanced \\
        --per-reviewer 3 --secret secret.json --record assignment.json -o out.csv
    """
    from evenhand._outputs import Output, write_all
    from evenhand.designs.drawing import fresh_secret
    from evenhand.formats.lists import to_csv
    from evenhand.records.record import (
        assignment_record,
        seal_record,
        secret_record,
        text_of,
    )

    _check(options)
    seal, kept, output = options["seal"], options["secret"], options["output"]
    printed = output in (None, STDIN)
    files: list[Output] = []
    if seal is None:
        secret = _shared.read_hex(kept, "secret")
    else:
        secret = fresh_secret()
        files.append(Output(kept, text_of(secret_record(secret)), private=True))
        files.append(Output(seal, text_of(seal_record(secret))))
    drawn = None if options["items"] is None else _drawn(options, secret)
    if drawn is not None:
        record = assignment_record(drawn)
        if not printed:
            files.append(Output(output, to_csv(drawn)))
        if options["record"] is not None:
            files.append(Output(options["record"], text_of(record)))
    write_all(files)
    if drawn is not None:
        if options["as_json"]:
            click.echo(json.dumps(record, indent=2))
        elif printed:
            click.echo(to_csv(drawn), nl=False)
        click.echo(drawn.law, err=True)
        if isinstance(drawn.seed, int):
            click.echo(f"seed {drawn.seed}", err=True)
    if seal is not None:
        click.echo(
            f"The seal is in {seal}: publish it before any rating exists. "
            f"The secret is in {kept}: keep it until all ratings are in.",
            err=True,
        )


def _check(options: Options) -> None:
    lists = {f"--{name}": options[name] for name in ("items", "reviewers", "conflicts")}
    wanted = ("items", "reviewers", "design")
    lacking = [name for name in wanted if options[name] is None]
    sealing = options["seal"] is not None
    if len(lacking) == len(wanted) and sealing:
        rest = {**options, "seal": None, "secret": None}
        for name, value in rest.items():
            if value not in (None, False):
                raise OptionError(
                    f"--{name.replace('_', '-')} must come with --items, --reviewers "
                    "and --design."
                )
    elif lacking:
        raise OptionError(
            f"--items, --reviewers and --design must be given, got no --{lacking[0]}."
        )
    if sealing and options["secret"] is None:
        raise OptionError("--seal must come with --secret, a file to keep the secret.")
    if options["secret"] is not None and options["seed"] is not None:
        raise OptionError("--seed must be left out when a secret is used.")
    if list(lists.values()).count(STDIN) > 1:
        raise OptionError("Only one file can be read from standard input.")
    written = {f"--{name}": options[name] for name in ("output", "record", "seal")}
    (written if sealing else lists)["--secret"] = options["secret"]
    _shared.keep_inputs(written, lists)


def _drawn(options: Options, secret: str | None) -> Assignment:
    from evenhand.designs.drawing import GROUPED, assign
    from evenhand.formats.lists import read_labels, read_pairs

    design, people = str(options["design"]), str(options["reviewers"])
    reviewer = ("reviewer", options["reviewer_column"])
    item = ("item", options["item_column"])
    groups: dict[str | int, str | int] | None = None
    if design in GROUPED:
        pairs = read_pairs(people, reviewer, (GROUPED[design], options["group"]))
        groups = dict(pairs)
        reviewers = [reviewer for reviewer, _ in pairs]
    elif options["group"] is not None:
        raise OptionError(
            f"--group must be left out for design {design!r}. It belongs to 'matched' "
            "and 'panels'."
        )
    else:
        reviewers = read_labels(people, *reviewer)
    met = options["conflicts"]
    return assign(
        read_labels(str(options["items"]), *item),
        reviewers,
        design=design,
        per_reviewer=options["per_reviewer"],
        per_item=options["per_item"],
        conflicts=[] if met is None else read_pairs(met, reviewer, item),
        groups=groups,
        rng=options["seed"],
        secret=secret,
    )

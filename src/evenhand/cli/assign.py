"""`evenhand assign`: a random assignment to a file, with a sealed record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _shared
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from evenhand._outputs import Output
    from evenhand.assignments import Assignment

    Options = dict[str, Any]

DESIGNS = ["halves", "coins", "matched", "panels", "pairs", "balanced"]
COUNT = click.IntRange(min=1)
STDIN = "-"


@click.command("assign")
@click.option(
    "--items", metavar="FILE", help="Items: one on each line, or a table with a column."
)
@click.option("--reviewers", metavar="FILE", help="Reviewers, in the same form.")
@click.option(
    "--design",
    type=_shared.Known(DESIGNS),
    help="For two items: halves, coins, matched or panels; for many: pairs (each "
    "reviewer another pair) or balanced.",
)
@click.option("--per-reviewer", type=COUNT, help="Items for each reviewer (balanced).")
@click.option("--per-item", type=COUNT, help="Reviewers for each item (balanced).")
@click.option(
    "--conflicts",
    metavar="FILE",
    help="Table of reviewers and items that must not meet (balanced).",
)
@click.option(
    "--group",
    metavar="COLUMN",
    help="Column of the reviewers' pair (matched) or panel (panels).",
)
@click.option("--item-column", metavar="COLUMN", help="Column of the item.")
@click.option("--reviewer-column", metavar="COLUMN", help="Column of the reviewer.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Repeat an earlier draw. Without it a seed is drawn and printed.",
)
@click.option(
    "--seal", metavar="PATH", help="Draw a secret, and write its seal there to publish."
)
@click.option(
    "--secret",
    metavar="PATH",
    help="With --seal, keep the new secret there; alone, draw with the one in there.",
)
@click.option("--record", metavar="PATH", help="Write the record there.")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
@click.option(
    "-o", "--output", metavar="PATH", help="Write the CSV there instead of printing it."
)
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
    from evenhand.desk.records import seal_record, secret_record, text_of

    _check(options)
    secret = _secret(options)
    files: list[Output] = []
    if options["seal"] is not None and options["secret"] is not None and secret:
        kept = text_of(secret_record(secret))
        files.append(Output(options["secret"], kept, private=True))
        files.append(Output(options["seal"], text_of(seal_record(secret))))
    drawn = None if options["items"] is None else _drawn(options, secret)
    if drawn is not None:
        files += _files(drawn, options)
    write_all(files)
    if drawn is not None:
        _tell(drawn, options)
    if options["seal"] is not None:
        click.echo(
            f"The seal is in {options['seal']}: publish it before any rating exists. "
            f"The secret is in {options['secret']}: keep it until all ratings are in.",
            err=True,
        )


def _check(options: Options) -> None:
    lists = [options["items"], options["reviewers"], options["conflicts"]]
    wanted = {
        "items": options["items"],
        "reviewers": options["reviewers"],
        "design": options["design"],
    }
    given = [name for name, value in wanted.items() if value is not None]
    sealing = options["seal"] is not None
    if not given and sealing:
        rest = {**options, "seal": None, "secret": None}
        more = [name for name, value in rest.items() if value not in (None, False)]
        if more:
            raise OptionError(
                f"--{more[0].replace('_', '-')} must come with --items, --reviewers "
                "and --design."
            )
    elif len(given) < len(wanted):
        lacking = next(name for name in wanted if name not in given)
        raise OptionError(
            f"--items, --reviewers and --design must be given, got no --{lacking}."
        )
    if sealing and options["secret"] is None:
        raise OptionError("--seal must come with --secret, a file to keep the secret.")
    if options["secret"] is not None and options["seed"] is not None:
        raise OptionError("--seed must be left out when a secret is used.")
    if lists.count(STDIN) > 1:
        raise OptionError("Only one file can be read from standard input.")
    _shared.check_record(options["record"])
    written = {"--output": options["output"], "--record": options["record"]}
    written["--seal"] = options["seal"]
    read = {f"--{name}": options[name] for name in ("items", "reviewers", "conflicts")}
    (written if sealing else read)["--secret"] = options["secret"]
    _shared.keep_inputs(written, read)


def _secret(options: Options) -> str | None:
    from evenhand.assignments import fresh_secret
    from evenhand.desk.records import read_hex

    if options["seal"] is not None:
        return fresh_secret()
    return None if options["secret"] is None else read_hex(options["secret"], "secret")


def _drawn(options: Options, secret: str | None) -> Assignment:
    from evenhand.assignments.drawing import GROUPED, assign
    from evenhand.desk.lists import read_labels, read_pairs

    design = str(options["design"])
    columns = options["reviewer_column"], options["item_column"]
    groups: dict[str | int, str | int] | None = None
    people = str(options["reviewers"])
    if design in GROUPED:
        group = (GROUPED[design], options["group"])
        pairs = read_pairs(people, ("reviewer", columns[0]), group)
        groups = dict(pairs)
        reviewers = [reviewer for reviewer, _ in pairs]
    elif options["group"] is not None:
        raise OptionError(
            f"--group must be left out for design {design!r}. It belongs to 'matched' "
            "and 'panels'."
        )
    else:
        reviewers = read_labels(people, "reviewer", columns[0])
    conflicts: list[tuple[str, str]] = []
    if options["conflicts"] is not None:
        conflicts = read_pairs(
            options["conflicts"], ("reviewer", columns[0]), ("item", columns[1])
        )
    return assign(
        read_labels(str(options["items"]), "item", columns[1]),
        reviewers,
        design=design,
        per_reviewer=options["per_reviewer"],
        per_item=options["per_item"],
        conflicts=conflicts,
        groups=groups,
        rng=options["seed"],
        secret=secret,
    )


def _files(drawn: Assignment, options: Options) -> list[Output]:
    from evenhand._outputs import Output
    from evenhand.desk.lists import to_csv
    from evenhand.desk.records import assignment_record, text_of

    files = []
    if options["output"] not in (None, STDIN):
        files.append(Output(str(options["output"]), to_csv(drawn)))
    if options["record"] is not None:
        record = text_of(assignment_record(drawn))
        files.append(Output(options["record"], record))
    return files


def _tell(drawn: Assignment, options: Options) -> None:
    from evenhand.desk.lists import to_csv
    from evenhand.desk.records import assignment_record

    if options["as_json"]:
        click.echo(json.dumps(assignment_record(drawn), indent=2))
    elif options["output"] in (None, STDIN):
        click.echo(to_csv(drawn), nl=False)
    click.echo(drawn.law, err=True)
    if isinstance(drawn.seed, int):
        click.echo(f"seed {drawn.seed}", err=True)

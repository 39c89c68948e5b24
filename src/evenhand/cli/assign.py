"""`evenhand assign`: a random assignment to a file, with a sealed record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import COUNT, option
from evenhand.errors import EvenhandError, OptionError, must_be, printable
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evenhand import _outputs as outputs
    from evenhand._outputs import Output
    from evenhand.designs import design as designs
    from evenhand.designs import drawing
    from evenhand.designs.assignment import Assignment
    from evenhand.formats import lists
    from evenhand.formats import reading as rating_files
    from evenhand.ratings import Ratings
    from evenhand.records import record as records
    from evenhand.words import ballots

    Options = dict[str, Any]
else:
    outputs = lazy("evenhand._outputs")
    designs = lazy("evenhand.designs.design")
    drawing = lazy("evenhand.designs.drawing")
    lists = lazy("evenhand.formats.lists")
    rating_files = lazy("evenhand.formats.reading")
    records = lazy("evenhand.records.record")
    ballots = lazy("evenhand.words.ballots")

AMENDING = ("drop", "add", "done", "leave_open")
ROWS = [{"rows": "items"}, {"rows": "reviewers"}]
WAYS: list[dict[str, Any]] = [{}, *ROWS, {"sheet": "all", "rows": "items"}]
"""How ratings so far may be read; the last is for the workbook of --sheets."""
PEOPLE = ["people"]
"""Who marks a sample: one of them, whoever that is."""
WRITTEN = ("output", "sheets", "ballots")


@click.command("assign", cls=_options.OnceEach)
@option("--items FILE", "Items: one on each line, or a table with a column.")
@option("--reviewers FILE", "Reviewers, in the same form.")
@option(
    "--design NAME",
    "For two items: halves, coins, matched or panels; for many: pairs (each reviewer "
    "another pair), balanced or two-pools (applicants who review each other).",
)
@option(
    "--sample",
    "Draw so many of the items, each as likely, for people to mark: the random sample "
    "that `grade --means` needs. Without --reviewers and --design.",
    COUNT,
)
@option("--per-reviewer", "Items for each reviewer (balanced).", COUNT)
@option("--per-item", "Reviewers for each item (balanced).", COUNT)
@option(
    "--conflicts FILE", "Table of reviewers and items that must not meet (balanced)."
)
@option("--group COLUMN", "Column of reviewers' pairs, panels or (two-pools) groups.")
@option("--common ITEM...", "Item that every reviewer gets besides (not with pairs).")
@option("--item-column COLUMN", "Column of the item.")
@option("--reviewer-column COLUMN", "Column of the reviewer.")
@option(
    "--amend FOLDER",
    "Somebody left: amend this draw (a folder with assignment.json, or a record), and "
    "write the next record beside it.",
)
@option("--drop NAME...", "Reviewer who left.")
@option(
    "--add NAME...",
    "Reviewer who steps in and takes all items of one who left without a rating.",
)
@option("--done FILE", "Ratings so far; what those who left have rated stays.")
@option("--leave-open", "Give nobody what is still open, instead of those who stay.")
@_options.seed_option
@option("--seal PATH", "Draw a secret, and write its seal there to publish.")
@option(
    "--secret PATH",
    "With --seal, keep the new secret there; alone, draw with the one in there.",
)
@option("--record PATH", "Write the record there.")
@option(
    "--sheets OUT.xlsx",
    "Write a workbook to fill in: a tab for each reviewer, and one for all.",
)
@option("--ballots OUT.html", "Write ballots to print, a page each.")
@option("--json as_json", "Print the record as JSON.")
@option("-o --output PATH", "Write the CSV there instead of printing it.")
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Draw at random who reviews what.

    The assignment is CSV with a row for each review. It depends on the sets of items
    and reviewers, the design and the seed, not on the order of lines.

    Seal the draw so that others can verify it. First, --seal with
    --secret draws a secret and writes its seal; publish the seal, at the latest before
    any rating exists. Then --secret draws with it. Both steps can be one command, but
    then you could have tried several secrets: a seal that is public before
    somebody else fixes the lists rules that out. Publish the record with the
    assignment; it holds the seal but not the secret. When all ratings are in, publish
    the secret too: then anyone can check every step with evenhand audit.

    When somebody leaves, --amend with --drop draws who takes over, from the same
    secret, and says what that does to the guarantee.

    A label that a spreadsheet would run as a formula gets an apostrophe before it.

    \b
    Example:
      evenhand assign --seal seal.json --secret secret.json
      evenhand assign --items papers.csv --reviewers people.csv --design balanced \\
        --per-reviewer 3 --secret secret.json --record assignment.json -o out.csv
      evenhand assign --amend draw --drop Kim --add Lee -o out.csv
    """
    sample = options.pop("sample")
    if sample is not None:
        own = ("items", "item_column", "seed", "seal", "secret", "record", *WRITTEN)
        others = sorted(set(options) - {*own, "as_json"})
        _refuse(options, others, "be left out with --sample")
        options |= {"reviewers": PEOPLE, "design": "balanced", "per_reviewer": sample}
    _check(options)
    seal, kept = options["seal"], options["secret"]
    files: list[Output] = []
    secret = drawing.fresh_secret() if seal else _shared.read_hex(kept, "secret")
    if seal and secret:
        files.append(
            outputs.Output(
                kept, records.text_of(records.secret_record(secret)), private=True
            )
        )
        files.append(outputs.Output(seal, records.text_of(records.seal_record(secret))))
    if options["amend"] is not None:
        drawn, options["record"] = _amend(options, secret)
        _deliver(drawn, options, files)
    elif options["items"] is not None:
        _deliver(_draw(options, secret), options, files)
    else:
        outputs.write_all(files)
    if seal is not None:
        click.echo(
            f"The seal is in {printable(seal)}: publish it before any rating exists. "
            f"The secret is in {printable(kept)}: keep it until all ratings are in.",
            err=True,
        )


def _deliver(drawn: Assignment, options: Options, files: list[Output]) -> None:
    """Write an assignment with other files, and print it."""
    record, table = records.assignment_record(drawn), lists.to_csv(drawn)
    makers: dict[str, Callable[[Assignment], str | bytes]]
    makers = {
        "output": lists.to_csv,
        "sheets": ballots.sheets,
        "ballots": ballots.ballots,
    }
    makers["record"] = lambda _: records.text_of(record)
    for name, make in makers.items():
        if options[name] not in (None, _shared.STDIN):
            files.append(outputs.Output(options[name], make(drawn)))
    outputs.write_all(files)
    if options["as_json"]:
        click.echo(json.dumps(record, indent=2))
    elif options["output"] in (None, _shared.STDIN):
        _shared.deliver_table(table, None)
    click.echo(printable(drawn.law), err=True)
    if drawn.amends is not None:
        click.echo(printable(drawn.effect()), err=True)
        click.echo(f"Wrote {printable(options['record'])}", err=True)
    elif isinstance(drawn.seed, int):
        _shared.note((), drawn.seed)


def _refuse(options: Options, names: Iterable[str], rule: str) -> None:
    for name in names:
        if options[name] not in (None, False, ()):
            option = name.removeprefix("as_").replace("_", "-")
            raise OptionError(f"--{option} must {rule}.")


def _check(options: Options) -> None:
    for name, suffix in (("sheets", ".xlsx"), ("ballots", ".html")):
        if not (options[name] or suffix).casefold().endswith(suffix):
            raise must_be(f"--{name}", f"a file that ends in {suffix}", options[name])
    if options["amend"] is not None:
        others = set(options) - {*AMENDING, *WRITTEN, "amend", "secret", "as_json"}
        _refuse(options, sorted(others), "be left out with --amend")
        return
    _refuse(options, AMENDING, "come with --amend")
    wanted = ("items", "reviewers", "design")
    lacking = [name for name in wanted if options[name] is None]
    sealing, secret = options["seal"] is not None, options["secret"]
    if len(lacking) == len(wanted) and sealing:
        unneeded = [name for name in options if name not in ("seal", "secret")]
        _refuse(options, unneeded, "come with --items, --reviewers and --design")
    elif lacking:
        raise OptionError(f"--{lacking[0]} must be given, or only --seal and --secret.")
    if sealing and secret is None:
        raise OptionError("--seal must come with --secret, a file to keep the secret.")
    if secret is not None:
        _refuse(options, ["seed"], "be left out when a secret is used")
    lists = {f"--{name}": options[name] for name in (*wanted[:2], "conflicts")}
    lists = {name: path for name, path in lists.items() if path is not PEOPLE}
    written = {f"--{name}": options[name] for name in (*WRITTEN, "record", "seal")}
    (written if sealing else lists)["--secret"] = secret
    _shared.check_paths(written, lists)


def _amend(options: Options, secret: str | None) -> tuple[Assignment, str]:
    """Return the amended assignment, and where its record goes."""
    record, _, kept = _shared.evidence_in(options["amend"])
    chain = records.chain_of(str(record))
    target = records.next_record(chain)
    written = {f"--{name}": options[name] for name in WRITTEN}
    inputs = {"--amend": chain[-1], "the new record": str(target)}
    _shared.check_paths(written, {**inputs, "--done": options["done"]})
    if target.exists():
        raise OptionError(f"{target} must not be there: it would be replaced.")
    secret = secret or _shared.read_hex(kept, "secret")
    drawn = records.load_assignment(chain[0], secret=secret)
    amended = drawn.amend(
        options["drop"],
        add=options["add"],
        done=None if options["done"] is None else _done(options["done"], drawn),
        leave_open=options["leave_open"],
    )
    return amended, str(target)


def _done(path: str, drawn: Assignment) -> Ratings:
    """Read ratings of an assignment, which tells the rows of a table from its columns.

    Raises:
        EvenhandError: If they cannot be read, or one was not assigned.
    """
    failed: EvenhandError | None = None
    for way in WAYS:
        try:
            ratings = rating_files.read_ratings(path, **way)
            drawn.require(ratings)
        except EvenhandError as error:
            failed = failed or error
        else:
            return ratings
    raise failed or OptionError(f"{path}: The ratings cannot be read.")


def _draw(options: Options, secret: str | None) -> Assignment:

    design = designs.as_design(options["design"], designs.RandomDesign)
    people = options["reviewers"]
    reviewer = ("reviewer", options["reviewer_column"])
    item = ("item", options["item_column"])
    groups, own, met = None, None, options["conflicts"]
    if "own_items" in design.options:
        pairs = lists.read_pairs(people, reviewer, item)
        own, reviewers = dict(pairs), [name for name, _ in pairs]
        column = ("group", options["group"])
        groups = options["group"] and dict(lists.read_pairs(people, reviewer, column))
    elif design.group:
        column = (design.group, options["group"])
        pairs = lists.read_pairs(people, reviewer, column)
        groups, reviewers = dict(pairs), [name for name, _ in pairs]
    else:
        _refuse(options, ["group"], f"be left out for design {design.name!r}")
        reviewers = PEOPLE if people is PEOPLE else lists.read_labels(people, *reviewer)
    items = lists.read_labels(str(options["items"]), *item)
    if people is PEOPLE:
        # A table of ratings names its items again and again.
        items = list(dict.fromkeys(items))
    return drawing.assign(
        items,
        reviewers,
        design=design,
        per_reviewer=options["per_reviewer"],
        per_item=options["per_item"],
        conflicts=[] if met is None else lists.read_pairs(met, reviewer, item),
        groups=groups,
        own_items=own,
        common=options["common"],
        rng=options["seed"],
        secret=secret,
    )

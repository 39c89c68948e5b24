"""What the commands share: options, input, output and words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.errors import OptionError, printable, unknown
from evenhand.formats import PLATFORMS
from evenhand.progress import working as working  # noqa: PLC0414 - for every command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType
    from rich.table import Table

    from evenhand._outputs import Output
    from evenhand.claims import Notice
    from evenhand.cli._extras import Extras, Result
    from evenhand.designs.assignment import Assignment
    from evenhand.words import tables as words

Command = TypeVar("Command", bound=Callable[..., None])
Decorator = Callable[[Any], Any]
WIDTH = 100
# Characters of a name with its title that are shown however narrow the screen is.
LEAST = 20
CUT = "\ue000"
"""Marks the row that becomes the line of the cut; a label has no such character."""

READING = (
    *("scale", "decimal", "exclude", "only", "rows", "companion", "sheet"),
    "anonymise",
)
"""Parameters that say how to read, beside columns and the format."""


class Known(click.Choice[str]):
    """A choice that suggests the nearest known name."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Take a known name as it is."""
        if value not in self.choices:
            name = "value" if param is None or param.name is None else param.name
            if name == "once":
                raise OptionError(unknown("value", value, self.choices, of="--once"))
            raise OptionError(unknown(name.replace("_", " "), value, self.choices))
        return super().convert(value, param, ctx)


class Option(click.Option):
    """An option that stands under a heading of the help."""

    def __init__(self, *names: Any, group: str, **more: Any) -> None:  # noqa: ANN401 - click's
        """Keep the heading."""
        super().__init__(*names, **more)
        self.group = group


class Grouped(click.Command):
    """A command whose help lists options under headings."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, heading by heading."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            told = one.get_help_record(ctx)
            if told is not None and isinstance(one, click.Option):
                groups.setdefault(getattr(one, "group", OUTPUT), []).append(told)
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def option(
    names: str,
    text: str,
    kind: object = None,
    *,
    group: str = "Options",
    **more: Any,  # noqa: ANN401 - click's
) -> Decorator:
    """Declare an option of a command.

    Args:
        names: Its flags, and its parameter if that is called otherwise.
        text: What it does.
        kind: Known names, a type of click, a word for its value, or bool for none.
        group: Heading that it stands under.
        more: What else click takes.
    """
    if isinstance(kind, list | tuple):
        more["type"] = Known(kind)
    elif kind is bool:
        more["is_flag"] = True
    elif kind is not None:
        more["metavar" if isinstance(kind, str) else "type"] = kind
    return click.option(*names.split(), cls=Option, group=group, help=text, **more)


def options(*added: Decorator) -> Callable[[Command], Command]:
    """Add some options to a command, in this order."""

    def add(command: Command) -> Command:
        for one in reversed(added):
            command = one(command)
        return command

    return add


DECISION, OUTPUT = "Decision", "Output"
reading = partial(option, group="Reading FILE")
deciding = partial(option, group=DECISION)
writing = partial(option, group=OUTPUT)
ROLES = ("rank", "winner", "loser", "pair", "weight")
"""Columns that few files have."""
FILE_OPTIONS = (
    reading(
        "--format file_format",
        f"What FILE is, if it is not recognised: {', '.join(PLATFORMS)}.",
        [*PLATFORMS],
        metavar="NAME",
    ),
    reading(
        "--reviewer reviewer_column",
        "Column of the reviewer; judge+prompt if several name one together.",
        "COLUMN",
    ),
    reading("--item item_column", "Column of the item.", "COLUMN"),
    reading("--score score_column", "Column of the score; higher is better.", "COLUMN"),
    reading(
        "--column columns",
        "Another column: rank=COLUMN (1 is best), winner=COLUMN and loser=COLUMN, "
        "pair=COLUMN (pairs or panels of reviewers), or weight=COLUMN (how much a "
        "score counts in models, such as a confidence).  [repeatable]",
        "ROLE=COLUMN",
        multiple=True,
    ),
    reading(
        "--scale",
        "Score words from worst to best, such as 'reject<accept'; or best=A, the best "
        "letter; or /10, to put scores such as 4/5 onto 0 to 10.",
        "ORDER",
    ),
    reading("--rows", "What the rows of a wide table are.", ["items", "reviewers"]),
    reading("--sheet", "Sheet of a workbook.", "NAME"),
    reading("--decimal", "Decimal sign of the numbers: . or ,", "SIGN"),
    reading(
        "--exclude",
        "Leave out an item or a reviewer: NAME, item=NAME or reviewer=NAME; or self, "
        "ratings of the reviewer's own item.  [repeatable]",
        "NAME",
        multiple=True,
    ),
    reading(
        "--anonymise",
        "Replace reviewers by codes in every output; the mapping is saved in KEY and "
        "reused if KEY exists.",
        "KEY",
    ),
)
MANY_OPTIONS = (
    reading(
        "--with companion",
        "Second file of the same export, where a platform splits it.",
        "FILE",
    ),
    reading(
        "--only",
        "Keep only these items or reviewers.  [repeatable]",
        "NAME",
        multiple=True,
    ),
)
"""What reading two items does not need: --items names these."""
COUNT = click.IntRange(min=1)
seed_option = writing(
    "--seed",
    "Repeat an earlier run. Without it a seed is drawn and printed.",
    click.IntRange(min=0),
)
output_options = options(
    writing("--json as_json", "Print JSON.", bool),
    writing("-o --output", "Write there instead of printing.", "PATH"),
)
result_options = options(seed_option, output_options)
explain_option = writing(
    "--explain", "Say what it means and what it may not claim.", bool
)
all_option = writing(
    "--explain --all explain",
    "Show every row, and say what it means and what it may not claim.",
    bool,
)
evidence_option = deciding(
    "--assignment",
    "What evenhand assign wrote: a folder with assignment.json and, once they are "
    "published, seal.json and secret.json; or the record alone.",
    "FOLDER",
)
workers_option = option(
    "--workers", "Processes on this machine.  [default: one for each core]", COUNT
)
dask_option = option(
    "--dask",
    "Run on the Dask cluster whose scheduler has this address, such as "
    "tcp://10.0.0.7:8786; needs evenhand[dask]. The result is the same.",
    "ADDRESS",
)
record_option = writing("--record", "Write a record there, for evenhand audit.", "PATH")


ARGUMENTS = "evenhand.arguments"
"""Where the words of the command line are kept, for the report to show them."""

export_option = writing(
    "--export exports",
    "Write a table to a .csv, .tsv, .xlsx, .parquet, .json, .jsonl or .md; an unknown "
    "TABLE lists the available ones.  [repeatable]",
    "[TABLE=]PATH",
    multiple=True,
)
report_option = writing("--report", "Write a self-contained HTML report.", "OUT.html")
extra_options = options(
    report_option,
    writing(
        "--export exports",
        "Write a table to a .csv, .tsv, .xlsx, .parquet, .json, .jsonl or .md, or with "
        "charts=FOLDER the report's charts; an unknown TABLE lists the available ones. "
        " [repeatable]",
        "[TABLE=]PATH",
        multiple=True,
    ),
)


def method_option(default: str, example: str) -> Decorator:
    """Add --method, which takes a text form."""
    return option(
        "--method",
        f"How to decide, with its own options in brackets, such as '{example}'; "
        "`evenhand methods` lists them.",
        "TEXT",
        group="Method",
        default=default,
        show_default=True,
    )


def reading_options(
    *, file: bool = True, many: bool = True
) -> Callable[[Command], Command]:
    """Add FILE and the options that say how to read it, all or those for two items."""
    named = (click.argument("file", metavar="FILE"),) if file else ()
    return options(*named, *FILE_OPTIONS, *(MANY_OPTIONS if many else ()))


def take_reading(options: dict[str, Any]) -> dict[str, str | None]:
    """Take out the options that say how to read.

    Raises:
        OptionError: If --column does not name a role and a column.
    """
    found = {
        name: options.pop(name)
        for name in list(options)
        if name in READING or name.endswith("_column")
    }
    for text in options.pop("columns"):
        role, _, column = text.partition("=")
        if role not in ROLES or not column:
            raise OptionError(
                f"--column must be one of {', '.join(ROLES)}, = and the name of a "
                f"column, got {text!r}. Write for instance --column rank=Place."
            )
        found[f"{role}_column"] = column
    return found


def read_hex(path: str | None, kind: str) -> str | None:
    """Read a seal or a secret, if there is one."""
    from evenhand.records import record

    return None if path is None else record.read_hex(path, kind)


def evidence_in(path: str | None) -> tuple[str | None, str | None, str | None]:
    """Return the paths of an assignment's record, seal and secret.

    Args:
        path: The record, or a folder with assignment.json and maybe the others.

    Raises:
        OptionError: If the folder has no assignment.json.
    """
    if path is None or not Path(path).is_dir():
        return path, None, None
    files = [Path(path) / f"{name}.json" for name in ("assignment", "seal", "secret")]
    record, seal, secret = (str(file) if file.is_file() else None for file in files)
    if record is None:
        raise OptionError(
            f"assignment must be a folder with assignment.json in it, got {path!r}."
        )
    return record, seal, secret


def read_assignment(
    record: str | None, seal: str | None, secret: str | None
) -> Assignment | None:
    """Read the assignment of a command, verified if it has seal and secret."""
    if record is None:
        return None
    from evenhand.records.record import load_assignment

    revealed, published = read_hex(secret, "secret"), read_hex(seal, "seal")
    return load_assignment(record, secret=revealed, seal=published)


def read(
    file: str,
    file_format: str | None,
    options: Mapping[str, str | None],
    *,
    counts: bool = False,
) -> tuple[Any, list[Output]]:
    """Read the ratings of a command.

    Args:
        file: Path, or "-" for standard input.
        file_format: What --format says.
        options: The other options of `how_to_read`, by their parameter.
        counts: Whether counts of scores will do.

    Returns:
        The ratings or counts, and a new key, to be written with the other files.
    """
    from evenhand.columns import Columns
    from evenhand.formats import reading
    from evenhand.formats.layouts import Asked

    for name, value in options.items():
        if value == "":
            rule = "the name of a column" if name.endswith("_column") else "given"
            raise OptionError(f"{name.removesuffix('_column')} must be {rule}, got ''.")
    given = {name.removesuffix("_column"): text or "" for name, text in options.items()}
    wishes: dict[str, Any] = {name: given.pop(name, "") for name in READING}
    companion = wishes.pop("companion") or None
    asked = Asked(Columns(**given), file_format or "", **wishes)
    with working(f"Reading {file}"):
        ratings, key = reading.read(
            file, asked, companion=companion, counts=counts and companion is None
        )
    return ratings, [key.output()] if key is not None and key.is_new else []


def read_too(options: Mapping[str, str | None]) -> dict[str, str | None]:
    """Name the further files that reading needs, which no output may replace."""
    return {"--with": options.get("companion"), "--anonymise": options["anonymise"]}


def console() -> Console:
    """Open a console that takes every character as it is."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDTH
    return Console(width=width, markup=False, emoji=False, highlight=False)


def table(
    columns: Mapping[str, Sequence[str]],
    *,
    left: Sequence[str],
    lines: Collection[int] = (),
) -> Table:
    """Lay out columns of text, those named at the left and numbers at the right.

    Args:
        columns: Cells by the heading of their column.
        left: Headings of columns of words.
        lines: Rows before which there is a line.
    """
    from rich.table import Table

    found = Table()
    for name in columns:
        words = name in left
        found.add_column(
            name,
            justify="left" if words else "right",
            overflow="fold" if words else "ellipsis",
        )
    for place, cells in enumerate(zip(*columns.values(), strict=True)):
        if place in lines:
            found.add_section()
        found.add_row(*cells)
    return found


def table_of(made: words.Table) -> Table:
    """Lay out a table of `words` for a terminal."""
    from evenhand.words.text import shortened

    titles, cells = made.plain()
    rows: list[list[str]] = []
    lines = set()
    for row, texts in zip(made.rows, cells, strict=True):
        if row.line == "cut":
            rows.append([CUT, *[""] * (len(titles) - 1)])
        elif row.line == "edge":
            lines.add(len(rows))
        rows.append(texts)
    columns = zip(*rows, strict=True) if rows else ([] for _ in titles)
    left = [one.title for one in made.columns if not one.number]
    named = dict(zip(titles, map(list, columns), strict=True))
    for title in [one.title for one in made.columns if one.one_line]:
        widths = {
            name: max(map(len, [name, *column])) for name, column in named.items()
        }
        rest = sum(3 + width for name, width in widths.items() if name != title)
        room = max(console().width - rest - 4, LEAST)
        named[title] = [shortened(text, room) for text in named[title]]
    return table(named, left=left, lines=lines)


def rendered(*parts: RenderableType | words.Table) -> str:
    """Render tables and text as plain text, for standard output or a file."""
    screen = console()
    texts = []
    for part in parts:
        with screen.capture() as capture:
            screen.print(table_of(part) if isinstance(part, tuple) else part)
        text = capture.get()
        if isinstance(part, tuple) and CUT in text:  # no row of rich spans all columns
            row = next(line for line in text.splitlines() if CUT in line)
            drawn = f" {part.cut} ".center(len(row) - 2, "═")
            text = text.replace(row, f"╞{drawn}╡")
        texts.append(text)
    return "".join(texts)


def keep_inputs(
    outputs: Mapping[str, str | None], inputs: Mapping[str, str | None]
) -> None:
    """Refuse to write over what a command reads, or twice to one place.

    Args:
        outputs: Paths to be written, by the option that names them.
        inputs: Paths to be read.

    Raises:
        OptionError: If a path is both, and it says which; or a record would go nowhere.

    Examples:
        >>> keep_inputs({"--record": "a.csv"}, {"FILE": "./a.csv"})
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: --record must not replace FILE, got 'a.csv'. Write
        to another file.
    """
    taken: dict[Path, str] = {}
    for name, path in [*inputs.items(), *outputs.items()]:
        if (name, path) == ("--record", "-"):
            raise OptionError("--record must be the path of a file, got '-'.")
        if path is None or path == "-":
            continue
        place = Path(path).resolve()
        if place in taken and name in outputs:
            raise OptionError(
                f"{name} must not replace {taken[place]}, got {path!r}. Write to "
                "another file."
            )
        taken[place] = name


def check_output(output: str | None) -> None:
    """Refuse a path that cannot be written before a long run, not after it."""
    if output is not None and output != "-":
        check_file("output", output)


def check_file(name: str, path: str) -> None:
    """Refuse a folder, or a file in a folder that is not there."""
    if not Path(path).name or Path(path).is_dir():
        raise OptionError(f"{name} must be the path of a file, got {path!r}.")
    if not Path(path).parent.is_dir():
        raise OptionError(
            f"{name} must be a path that can be written, got {path!r}: there is no "
            "such folder."
        )


def deliver(text: str, output: str | None, files: Sequence[Output] = ()) -> None:
    """Print a result, or write it to a file; files that go with it come first."""
    text = f"{text.removesuffix(chr(10))}\n"
    printed = output is None or output == "-"
    if files or not printed:
        from evenhand._outputs import Output, write_all

        write_all([*([] if printed else [Output(str(output), text)]), *files])
    if printed:
        click.echo(text, nl=False)


def note(notices: tuple[Notice, ...], seed: int) -> None:
    """Print notices and the seed to standard error."""
    for notice in notices:
        click.echo(f"Note ({notice.code}): {printable(notice.message)}", err=True)
    click.echo(f"seed {seed}", err=True)


class Job:
    """One run of a command that decides; its paths are checked before it starts.

    Attributes:
        ratings: What was read.
        assignment: The assignment that they came through, if it was given.
        options: What is left of the options: those of the method.
        seed: What --seed says.
        as_json: Whether JSON is asked for.
        explain: Whether explanations are.
    """

    def __init__(
        self,
        command: str,
        options: dict[str, Any],
        more: Mapping[str, str | None] | None = None,
    ) -> None:
        """Check the paths, then read; `more` are further files that are read."""
        self.options = options
        file, file_format = options.pop("file"), options.pop("file_format")
        self.seed, self.as_json = options.pop("seed"), options.pop("as_json")
        self._output, self._record = options.pop("output"), options.pop("record", None)
        evidence = options.pop("assignment", None)
        self.explain = options.pop("explain", False)
        reading = take_reading(options)
        self._key = reading["anonymise"]
        report, exports = options.pop("report", None), options.pop("exports")
        self._extras: Extras | None = None
        if report is not None or exports:
            from evenhand.cli._extras import Extras

            self._extras = Extras(command, report, exports)
        files = evidence_in(evidence)
        given = zip(("--assignment", "its seal", "its secret"), files, strict=True)
        written = {"--output": self._output, "--record": self._record}
        keep_inputs(
            {**written, **(self._extras.paths() if self._extras else {})},
            {"FILE": file, **dict(given), **read_too(reading), **(more or {})},
        )
        if self._key is not None and evidence is not None:
            raise OptionError(
                "--anonymise must be left out with --assignment, whose record holds "
                "the reviewers' names."
            )
        self.ratings, self._files = read(
            file, file_format, reading, counts=command == "compare"
        )
        # A report lists scores one by one, so that one of too many is refused now.
        self._listed = self.ratings
        if self._extras:
            from evenhand.engines.counts import one_by_one

            self._listed = one_by_one(self.ratings)
        self.assignment = read_assignment(*files)

    def deliver(
        self,
        result: Result,
        text: str,
        notices: Iterable[Notice],
    ) -> None:
        """Print or write the answer and the files that go with it; notes to stderr."""
        files = list(self._files)
        if self._record is not None:
            from evenhand._outputs import Output
            from evenhand.records.record import decision_record, text_of

            record = decision_record(result, self.assignment)  # type: ignore[arg-type]  # a check has no option for it
            files.append(Output(self._record, text_of(record)))
        if self._extras:
            files += self._extras.outputs(self._listed, result, record=self._record)
        deliver(text, self._output, files)
        if self.ratings.read_as:
            click.echo(f"Read as {printable(self.ratings.read_as)}", err=True)
        if self._key is not None:
            from evenhand.formats.anonymise import NOT_HIDDEN

            click.echo(f"Who is who: {printable(self._key)}. {NOT_HIDDEN}", err=True)
        for file in files:
            click.echo(f"Wrote {printable(file.path)}", err=True)
        if self._record is not None:
            from evenhand.cli._extras import audit_words

            context = click.get_current_context()
            audit = audit_words(context, self._record, context.params["file"])
            click.echo(f"Check it with: {printable(audit)}", err=True)
        note(tuple(notices), result.seed)

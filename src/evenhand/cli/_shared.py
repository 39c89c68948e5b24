"""What the commands share: options, input, output and words."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.errors import OptionError, printable, unknown

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress, ProgressColumn
    from rich.table import Table

    from evenhand._outputs import Output
    from evenhand._results import Notice
    from evenhand.certificate import Certificate
    from evenhand.designs.assignment import Assignment
    from evenhand.ratings import Ratings

Command = TypeVar("Command", bound=Callable[..., None])
Decorator = Callable[[Any], Any]
WIDTH = 100

PLATFORMS = (
    *("hotcrp", "openreview", "cmt", "easychair", "moodle", "canvas", "gavel"),
    *("wide", "long"),
)
STORED = ("csv", "tsv", "json", "jsonl", "parquet", "excel")
READING = ("scale", "best", "rows", "companion", "sheet", "anonymise")
"""Parameters that say how to read, beside columns and the format."""


class Known(click.Choice[str]):
    """A choice that suggests the nearest known name."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Take a known name as it is."""
        if value not in self.choices:
            name = "value" if param is None or param.name is None else param.name
            raise OptionError(unknown(name.replace("_", " "), value, self.choices))
        return super().convert(value, param, ctx)


def option(names: str, text: str, kind: object = None, **more: Any) -> Decorator:  # noqa: ANN401 - click's
    """Declare an option of a command.

    Args:
        names: Its flags, and its parameter if that is called otherwise.
        text: What it does.
        kind: Known names, a type of click, or a word for its value.
        more: What else click takes.
    """
    if isinstance(kind, list | tuple):
        more["type"] = Known(kind)
    elif kind is not None:
        more["metavar" if isinstance(kind, str) else "type"] = kind
    return click.option(*names.split(), help=text, **more)


def options(*added: Decorator) -> Callable[[Command], Command]:
    """Add some options to a command, in this order."""

    def add(command: Command) -> Command:
        for one in reversed(added):
            command = one(command)
        return command

    return add


FILE_OPTIONS = (
    option(
        "--format file_format",
        f"What FILE is, if it is not recognised: {', '.join(PLATFORMS)}; or how it is "
        f"stored, if its name does not tell: {', '.join(STORED)}.",
        [*PLATFORMS, *STORED],
        metavar="NAME",
    ),
    option(
        "--scale", "Score words from worst to best, such as 'reject<accept'.", "ORDER"
    ),
    option("--best", "The best letter, where scores are letters.", "LETTER"),
    option("--rows", "What the rows of a wide table are.", ["items", "reviewers"]),
    option(
        "--with companion",
        "Second file of the same export, where a platform splits it.",
        "FILE",
    ),
    option("--sheet", "Sheet of a workbook.", "NAME"),
    option(
        "--anonymise",
        "Replace reviewers by codes, in every output; who is who goes to the file KEY, "
        "which is used again if it is there.",
        "KEY",
    ),
)
COLUMN_OPTIONS = tuple(
    option(f"--{name} {name}_column", text, "COLUMN")
    for name, text in (
        ("reviewer", "Column of the reviewer."),
        ("item", "Column of the item."),
        ("score", "Column or field of the score; higher is better."),
        ("rank", "Column of the rank, 1 is best, for files without scores."),
        ("winner", "Column of the better item, for plain comparisons."),
        ("loser", "Column of the worse item."),
        ("pair", "Column that names pairs of reviewers."),
    )
)
weight_option = option(
    "--weight",
    "How a gap in scores weighs: rational:GAMMA (default rational:1), sigmoid:SCALE, "
    "linear:RANGE, exponential:SCALE, offset:C:SPEC.",
    "SPEC",
)
seed_option = option(
    "--seed",
    "Repeat an earlier run. Without it a seed is drawn and printed.",
    click.IntRange(min=0),
)
output_options = options(
    option("--json as_json", "Print JSON.", is_flag=True),
    option("-o --output", "Write there instead of printing.", "PATH"),
)
result_options = options(seed_option, output_options)
evidence_options = options(
    option(
        "--assignment assignment_path",
        "Record of evenhand assign that FILE came through.",
        "RECORD",
    ),
    option(
        "--secret",
        "The assignment's secret, now revealed; with --seal it is verified.",
        "PATH",
    ),
    option(
        "--seal",
        "The seal as it was published, which the assignment must have.",
        "PATH",
    ),
    option("--record", "Write a record there, for evenhand audit.", "PATH"),
)


def reading_options(
    *, pairs: bool = False, file: bool = True
) -> Callable[[Command], Command]:
    """Add FILE and the options that say how to read it."""
    named = (click.argument("file", metavar="FILE"),) if file else ()
    return options(*named, *FILE_OPTIONS, *COLUMN_OPTIONS[: None if pairs else -1])


def read_hex(path: str | None, kind: str) -> str | None:
    """Read a seal or a secret, if there is one."""
    from evenhand.records import record

    return None if path is None else record.read_hex(path, kind)


def read_assignment(
    path: str | None, secret: str | None, seal: str | None
) -> Assignment | None:
    """Read the assignment of a command, verified if secret and seal are given."""
    if path is None:
        if secret is not None or seal is not None:
            raise OptionError("--secret and --seal must come with --assignment.")
        return None
    from evenhand.records.record import load_assignment

    revealed, published = read_hex(secret, "secret"), read_hex(seal, "seal")
    return load_assignment(path, secret=revealed, seal=published)


def read(
    file: str, file_format: str | None, options: Mapping[str, str | None]
) -> tuple[Ratings, list[Output]]:
    """Read the ratings of a command.

    Args:
        file: Path, or "-" for standard input.
        file_format: What --format says.
        options: The other options of `how_to_read`, by their parameter.

    Returns:
        The ratings, and a new key, to be written with the other files.
    """
    from evenhand._columns import Columns
    from evenhand.formats import Wishes, read_with_key

    for name, value in options.items():
        if value == "":
            rule = "the name of a column" if name.endswith("_column") else "given"
            raise OptionError(f"{name.removesuffix('_column')} must be {rule}, got ''.")
    given = {name.removesuffix("_column"): text or "" for name, text in options.items()}
    wishes = {name: given.pop(name) for name in READING}
    companion = wishes.pop("companion") or None
    how = Wishes(format=file_format or "", **wishes)
    with working(f"Reading {file}"):
        ratings, key = read_with_key(file, Columns(**given), how, companion=companion)
    return ratings, [key.output()] if key is not None and key.is_new else []


def read_too(options: Mapping[str, str | None]) -> dict[str, str | None]:
    """Name the further files that reading needs, which no output may replace."""
    return {"--with": options["companion"], "--anonymise": options["anonymise"]}


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Open a console that takes every character as it is."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    if width is None and not stream.isatty():
        width = WIDTH
    return Console(
        stderr=stderr, width=width, markup=False, emoji=False, highlight=False
    )


@contextlib.contextmanager
def progress_on(*columns: ProgressColumn) -> Iterator[Progress]:
    """Open a progress display on standard error; it shows on a terminal only."""
    from rich.progress import Progress

    screen = console(stderr=True)
    quiet = not screen.is_terminal
    display = Progress(*columns, console=screen, transient=True, disable=quiet)
    # Some versions of rich print a blank line for a display that is switched off.
    with contextlib.nullcontext() if quiet else display:
        yield display


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[..., None]]:
    """Show on a terminal what is being done, and for how long.

    Yields:
        What says more: a text and, if they are known, the steps done and all steps.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with progress_on(*columns) as display:
        task = display.add_task(printable(what), total=None)

        def say(said: str, done: int | None = None, total: int | None = None) -> None:
            display.update(
                task, description=printable(said), completed=done, total=total
            )

        yield say


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


def rendered(*parts: RenderableType) -> str:
    """Render tables and text as plain text, for standard output or a file."""
    screen = console(width=None)
    with screen.capture() as capture:
        for part in parts:
            screen.print(part)
    return capture.get()


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
    from evenhand._outputs import Output, write_all

    if not text.endswith("\n"):
        text += "\n"
    printed = output is None or output == "-"
    write_all([*([] if printed else [Output(str(output), text)]), *files])
    if printed:
        click.echo(text, nl=False)


def claim(certificate: Certificate | None) -> str:
    """Say what an answer may claim.

    Examples:
        >>> from evenhand.certificate import Claim, certify
        >>> claim(certify(Claim("G", "never worse than a coin")))
        'What this may claim: Never worse than a coin (Theorem G).'
    """
    checked = () if certificate is None else certificate.checked
    verified = "; ".join(text for text in checked if text.endswith("verified"))
    more = f" Checked: {verified}." if verified else ""
    return f"What this may claim: {certificate}{more}"


def note(notices: tuple[Notice, ...], seed: int) -> None:
    """Print notices and the seed to standard error."""
    for notice in notices:
        click.echo(f"Note ({notice.code}): {printable(notice.message)}", err=True)
    click.echo(f"seed {seed}", err=True)

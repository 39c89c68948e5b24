"""What the commands share: options, input, output and words."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.errors import OptionError, printable, unknown

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress, ProgressColumn

    from evenhand._outputs import Output
    from evenhand._results import Notice
    from evenhand.assignments import Assignment
    from evenhand.certificate import Certificate
    from evenhand.ratings import Ratings

Command = TypeVar("Command", bound=Callable[..., None])
Decorator = Callable[[Any], Any]
WIDTH = 100

COLUMN_HELP = {
    "reviewer": "Column of the reviewer.",
    "item": "Column of the item.",
    "score": "Column or field of the score; higher is better.",
    "rank": "Column of the rank, 1 is best, for files without scores.",
    "winner": "Column of the better item, for plain comparisons.",
    "loser": "Column of the worse item.",
    "pair": "Column that names pairs of reviewers.",
}


PLATFORMS = (
    *("hotcrp", "openreview", "cmt", "easychair", "moodle", "canvas", "gavel"),
    *("wide", "long"),
)
STORED = ("csv", "tsv", "json", "jsonl", "parquet", "excel")


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


def options(*added: Decorator) -> Callable[[Command], Command]:
    """Add some options to a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(added):
            command = option(command)
        return command

    return add


FILE_OPTIONS = (
    click.option(
        "--format",
        "file_format",
        metavar="NAME",
        type=Known([*PLATFORMS, *STORED]),
        help=f"What FILE is, if it is not recognised: {', '.join(PLATFORMS)}; or how "
        f"it is stored, if its name does not tell: {', '.join(STORED)}.",
    ),
    click.option(
        "--scale",
        metavar="ORDER",
        help="Score words from worst to best, such as 'reject<accept'.",
    ),
    click.option(
        "--best", metavar="LETTER", help="The best letter, where scores are letters."
    ),
    click.option(
        "--rows",
        type=Known(["items", "reviewers"]),
        help="What the rows of a wide table are.",
    ),
    click.option(
        "--with",
        "companion",
        metavar="FILE",
        help="Second file of the same export, where a platform splits it.",
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of a workbook."),
    click.option(
        "--anonymise",
        metavar="KEY",
        help="Replace reviewers by codes, in every output; who is who goes to the file "
        "KEY, which is used again if it is there.",
    ),
)
weight_option = click.option(
    "--weight",
    metavar="SPEC",
    help="How a gap in scores weighs: rational:GAMMA (default rational:1), "
    "sigmoid:SCALE, linear:RANGE, exponential:SCALE, offset:C:SPEC.",
)
result_options = options(
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        help="Repeat an earlier run. Without it a seed is drawn and printed.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option(
        "-o", "--output", metavar="PATH", help="Write there instead of printing."
    ),
)
evidence_options = options(
    click.option(
        "--assignment",
        "assignment_path",
        metavar="RECORD",
        help="Record of evenhand assign that FILE came through.",
    ),
    click.option(
        "--secret",
        metavar="PATH",
        help="The assignment's secret, now revealed; with --seal it is verified.",
    ),
    click.option(
        "--seal",
        metavar="PATH",
        help="The seal as it was published, which the assignment must have.",
    ),
    click.option(
        "--record", metavar="PATH", help="Write a record there, for evenhand audit."
    ),
)
READING = ("scale", "best", "rows", "companion", "sheet", "anonymise")
"""Parameters that say how to read, beside columns and the format."""


def reading_options(
    *, pairs: bool = False, file: bool = True
) -> Callable[[Command], Command]:
    """Add FILE and the options that say how to read it."""
    columns = (
        click.option(f"--{name}", f"{name}_column", metavar="COLUMN", help=text)
        for name, text in COLUMN_HELP.items()
        if name != "pair" or pairs
    )
    named = (click.argument("file", metavar="FILE"),) if file else ()
    return options(*named, *FILE_OPTIONS, *columns)


def read_assignment(
    path: str | None, secret: str | None, seal: str | None
) -> Assignment | None:
    """Read the assignment of a command, verified if secret and seal are given."""
    if path is None:
        if secret is not None or seal is not None:
            raise OptionError("--secret and --seal must come with --assignment.")
        return None
    from evenhand.desk.records import load_assignment, read_hex

    revealed = None if secret is None else read_hex(secret, "secret")
    published = None if seal is None else read_hex(seal, "seal")
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
    for name, value in options.items():
        if value == "":
            option, is_column = name.removesuffix("_column"), name.endswith("_column")
            rule = "the name of a column" if is_column else "given"
            raise OptionError(f"{option} must be {rule}, got ''.")
    from evenhand._columns import Columns
    from evenhand.desk.formats import Wishes, read_with_key

    given = {name.removesuffix("_column"): text or "" for name, text in options.items()}
    wishes = {name: given.pop(name) for name in READING}
    companion = wishes.pop("companion") or None
    with working(f"Reading {file}"):
        ratings, key = read_with_key(
            file,
            Columns(**given),
            Wishes(format=file_format or "", **wishes),
            companion=companion,
        )
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
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done, and for how long; yield what says more."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with progress_on(*columns) as display:
        task = display.add_task(printable(what), total=None)
        yield lambda said: display.update(task, description=printable(said))


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
        OptionError: If a path is both; it says which.

    Examples:
        >>> keep_inputs({"--record": "a.csv"}, {"FILE": "./a.csv"})
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: --record must not replace FILE, got 'a.csv'. Write
        to another file.
    """
    taken = {
        Path(path).resolve(): name
        for name, path in inputs.items()
        if path not in (None, "-")
    }
    for name, path in outputs.items():
        if path in (None, "-"):
            continue
        place = Path(path).resolve()
        if place in taken:
            raise OptionError(
                f"{name} must not replace {taken[place]}, got {path!r}. Write to "
                "another file."
            )
        taken[place] = name


def check_record(record: str | None) -> None:
    """Refuse a record that would go nowhere."""
    if record == "-":
        raise OptionError("--record must be the path of a file, got '-'.")


def check_output(output: str | None) -> None:
    """Refuse a path that cannot be written before a long run, not after it."""
    if output is not None and output != "-":
        check_file("output", output)


def check_file(option: str, path: str) -> None:
    """Refuse a folder, or a file in a folder that is not there."""
    if not Path(path).name or Path(path).is_dir():
        raise OptionError(f"{option} must be the path of a file, got {path!r}.")
    if not Path(path).parent.is_dir():
        raise OptionError(
            f"{option} must be a path that can be written, got {path!r}: there is no "
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

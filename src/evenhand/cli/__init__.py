"""The command line: each command is loaded when it is called."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import platform
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli._shared import ARGUMENTS
from evenhand.errors import EvenhandError, printable, unknown
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib import metadata
else:
    metadata = lazy("importlib.metadata")

OWN = (
    "demo",
    "read",
    "compare",
    "rank",
    "grade",
    "select",
    "check",
    "count",
    "query",
    "assign",
    "audit",
)
STUDY = dict.fromkeys(("simulate", "reproduce", "theorems", "methods"), "study")
COMMANDS = {name: name for name in (*OWN, "serve")} | STUDY | {"query": "count"}
"""The module of each command, in the order in which people meet them."""
LIBRARIES = ("numpy", "scipy", "polars", "narwhals", "click")
"""Whose versions a bug report needs."""


class Refusal(click.ClickException):
    """Bad input: one sentence on standard error, exit code 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:  # noqa: ARG002 - click's signature
        """Print the sentence on one line, or each problem of a file on its own."""
        lines = map(printable, self.message.split("\n  "))
        click.echo("evenhand: " + "\n  ".join(lines), err=True)


class Interrupted(Refusal):
    """The exit code of a program that an interrupt ended."""

    exit_code = 128 + signal.SIGINT


@contextlib.contextmanager
def one_sentence() -> Iterator[None]:
    """Turn whatever is refused into one sentence."""
    try:
        yield
    except EvenhandError as error:
        raise Refusal(str(error)) from error
    except MemoryError as error:
        text = "Out of memory. Try a subset of the ratings."
        raise Refusal(text) from error
    except KeyboardInterrupt as error:
        raise Interrupted("Interrupted.") from error
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        # click lists choices on lines of their own.
        raise Refusal(" ".join(error.format_message().split())) from error


class Commands(click.Group):
    """Commands that are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """List the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import one command."""
        if cmd_name not in COMMANDS:
            raise Refusal(unknown("command", cmd_name, COMMANDS))
        module = importlib.import_module(f"{__name__}.{COMMANDS[cmd_name]}")
        commands = [
            command
            for command in vars(module).values()
            if isinstance(command, click.Command)
        ]
        return next(command for command in commands if command.name == cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options before the command."""
        ctx.meta[ARGUMENTS] = tuple(args)
        with one_sentence():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        with one_sentence():
            return super().invoke(ctx)


def print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    """Print the versions that a bug report needs, and end."""
    if wanted and not context.resilient_parsing:
        libraries = (f"{name} {metadata.version(name)}" for name in LIBRARIES)
        python = f"Python {platform.python_version()} on {platform.platform()}"
        lines = f"evenhand {metadata.version('evenhand')}", python, ", ".join(libraries)
        click.echo("\n".join(lines))
        context.exit()


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Print the versions for a bug report.",
)
def cli() -> None:
    """Even-handed decisions from ratings by differently calibrated people.

    Your 2 may be my 9. evenhand decides from scores without assuming that people share
    a scale, and says what each answer may claim.

    \b
    Start here:
      evenhand demo                      a small conference, start to end
      evenhand read ratings.csv          what your file is read as
      evenhand compare ratings.csv       which of two items is better
      evenhand rank ratings.csv          order many items
      evenhand grade ratings.csv         give marks, with their errors
      evenhand select ratings.csv        choose some, with a fair lottery
      evenhand check ratings.csv         what the ratings can support
      evenhand assign --help             draw who reviews what, for all to check
      evenhand serve                     collect ratings in the browser
    """


def _show(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"Note: {printable(str(message))}", err=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    # Before NumPy is loaded: threads of BLAS wait for each other busily, which takes a
    # quarter of a second even for a dozen items.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for screen in (sys.stdout, sys.stderr):
        if isinstance(screen, io.TextIOWrapper):
            screen.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show
    try:
        cli.main(
            args=None if arguments is None else list(arguments), prog_name="evenhand"
        )
    except OSError as error:
        # Nothing more can be written there, not even at exit.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until exit
        with contextlib.suppress(OSError):
            click.echo(f"evenhand: The output fails: {error.strerror}.", err=True)
        sys.exit(Refusal.exit_code)

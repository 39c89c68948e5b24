"""Write the manual page from the help: `python -m docs.make_man FILE`."""

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import click

from evenhand.cli import cli


def sections(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Yield each command's name and help, the program first."""
    context = click.Context(command, info_name=name, terminal_width=78)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for own in command.list_commands(context):
            under = command.get_command(context, own)
            assert under is not None  # noqa: S101 - it is in the list
            yield from sections(under, f"{name} {own}")


def page() -> str:
    """Return the manual page, its help as it is printed."""
    title = f'.TH EVENHAND 1 "" "evenhand {metadata.version("evenhand")}"'
    name = ".SH NAME\nevenhand \\- even-handed decisions from ratings"
    texts = [title, name]
    for heading, text in sections(cli, "evenhand"):
        escaped = text.replace("\\", r"\e").replace("-", r"\-")
        # A dot or a quote at the start of a line would be a request.
        shown = re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)
        texts.append(f'.SH "{heading.upper()}"\n.nf\n{shown}\n.fi')
    return "\n".join(texts) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")

"""What tests of the command line share: a command that is run or refused."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from evenhand.cli import cli

FIELDS: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("schema.json").read_text(encoding="utf-8")
)
"""The fields of each JSON document, in their order."""


def run(*words: str, given: str | None = None) -> Result:
    """Run a command, with a text as its standard input."""
    return CliRunner().invoke(cli, list(words), input=given)


def refused(*words: str, given: str | None = None) -> str:
    """Return the one sentence that a command is refused with."""
    result = run(*words, given=given)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("evenhand: ")
    assert result.stderr.count("\n") == 1
    return result.stderr

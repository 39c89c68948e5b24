"""The docs cannot drift: what they show is run, what exists is in them."""

import importlib
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import evenhand
from evenhand import errors
from evenhand.cli import COMMANDS, cli

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
THEORY = (ROOT / "docs" / "theory.md").read_text()
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def sessions() -> list[tuple[str, str, str]]:
    found = []
    for page in PAGES:
        for block in BLOCK.findall(page.read_text()):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append((page.name, command, output))
    return found


@pytest.mark.parametrize(("page", "command", "output"), sessions())
def test_console_examples_print_what_the_page_shows(
    page: str, command: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(command)
    assert words[0] == "evenhand", page
    result = CliRunner().invoke(cli, words[1:])
    shown = result.stdout if result.exit_code == 0 else result.stderr
    assert [line.rstrip() for line in shown.rstrip().splitlines()] == [
        line.rstrip() for line in output.rstrip().splitlines()
    ]


def test_the_pages_have_console_examples() -> None:
    assert {page for page, _, _ in sessions()} >= {"guide.md"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_in_the_reference(name: str) -> None:
    section = re.search(
        rf"^### `evenhand {name}\b.*?(?=^##|\Z)", REFERENCE, re.MULTILINE | re.DOTALL
    )
    assert section is not None, name
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    for parameter in command.params:
        for option in parameter.opts:
            if option.startswith("--"):
                assert f"`{option}" in section.group(), (name, option)


def test_every_public_name_and_error_is_in_the_reference() -> None:
    kinds = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.EvenhandError)
    ]
    missing = [
        name for name in [*evenhand.__all__, *kinds] if f"`{name}" not in REFERENCE
    ]
    assert missing == []


def test_every_function_and_test_in_the_theory_page_exists() -> None:
    functions = set(re.findall(r"`(evenhand(?:\.\w+)+)`", THEORY))
    tests = set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", THEORY))
    assert THEORY.count("`tests/") == len(
        re.findall(r"`tests/[\w/]+\.py::\w+`", THEORY)
    )
    assert len(functions) > 10
    assert len(tests) > 10
    for function in functions:
        module, _, name = function.rpartition(".")
        assert hasattr(importlib.import_module(module), name), function
    for path, name in tests:
        assert f"def {name}(" in (ROOT / path).read_text(), (path, name)


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), (page.name, link)


def test_every_notice_is_in_the_reference() -> None:
    code = re.compile(r"Notice\(\s*f?\"(\w+)\"")
    found = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in code.findall(path.read_text())
    }
    assert len(found) > 8
    assert {name for name in found if f"| `{name}` |" not in REFERENCE} == set()

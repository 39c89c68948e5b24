"""The docs cannot drift: what they show is run, what exists is in them."""

import importlib
import inspect
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import evenhand
from docs import make_json
from evenhand import (
    Scenario,
    assign,
    check,
    compare,
    errors,
    grade,
    lab,
    methods,
    rank,
    read_ratings,
    warp,
    weights,
)
from evenhand.cli import COMMANDS, cli
from evenhand.cli._options import SHORT_FLAGS, SHORT_OPTIONS
from evenhand.method import Job
from evenhand.records.record import (
    assignment_record,
    decision_record,
    seal_record,
    secret_record,
)
from evenhand.records.replay import Audit, AuditStep
from evenhand.words import warnings
from examples.generate import FOLDERS, HERE, PEOPLE, SECRET, TALKS
from tests.commands import run

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
THEORY = (ROOT / "docs" / "theory.md").read_text()
JSON = (ROOT / "docs" / "json.md").read_text()
BENCH = "\n".join(path.read_text() for path in (ROOT / "bench").glob("*.py"))
OTHER_PROGRAMS: set[str] = set()
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
WRONG = 2


def sessions(page: Path) -> list[tuple[str, str]]:
    found = []
    for block in BLOCK.findall(page.read_text()):
        joined = block.replace("\\\n", "")
        for part in re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


# One page after the other, since a step of a walk-through reads what another wrote.
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_examples_print_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for command, output in sessions(page):
        words = shlex.split(command)
        assert words[0] == "evenhand", command
        result = run(*words[1:])
        shown = result.stderr if result.exit_code == WRONG else result.stdout
        assert lines(shown) == lines(output), command


def test_the_pages_have_console_examples() -> None:
    assert sum(len(sessions(page)) for page in PAGES) > 20


def test_the_guide_is_short() -> None:
    assert len((ROOT / "docs" / "guide.md").read_text().splitlines()) <= 350


def test_the_site_has_every_page_without_a_broken_link(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    built = subprocess.run(  # noqa: S603 - our own program
        [Path(sys.executable).with_name("zensical"), "build", "--strict"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    listed = (ROOT / "mkdocs.yml").read_text()
    found = (tmp_path / "site" / "search.json").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert f": {page.name}" in listed
        assert (tmp_path / "site" / f"{page.stem}.html").exists()
        assert page.stem in found


def section(title: str, page: str = REFERENCE) -> str:
    """Return a section of a page."""
    found = re.search(
        rf"^(##+) {re.escape(title)}(?!\w).*?(?=^##|\Z)", page, re.MULTILINE | re.DOTALL
    )
    assert found is not None, title
    return found[0]


def options_of(name: str) -> dict[str, str | None]:
    """Return the long options of a command, each with its line of help."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    subcommands = getattr(command, "commands", {}).values()
    return {
        option: getattr(parameter, "help", None)
        for part in (command, *subcommands)
        for parameter in part.params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_reference_and_every_option_has_help(
    name: str,
) -> None:
    assert f"| `evenhand {name}" in REFERENCE
    assert [option for option, line in options_of(name).items() if not line] == []


def test_every_option_that_a_page_names_exists() -> None:
    known = {option for name in COMMANDS for option in options_of(name)}
    known |= {"--help", "--version", *SHORT_OPTIONS, *SHORT_FLAGS}
    known |= set(re.findall(r"\"(--[a-z-]+)\"", BENCH))
    for page in PAGES:
        text = re.sub(r"^(pip|zensical|dask|export|docker) .*$", "", page.read_text())
        named = set(re.findall(r"(?:`|evenhand [^`\n]*?)(--[a-z][a-z-]+)", text))
        assert named - known <= OTHER_PROGRAMS, page.name


@pytest.mark.parametrize("job", ["compare", "rank"])
def test_every_method_and_its_options_are_in_the_reference(job: Job) -> None:
    text = section(f"Methods of {job}")
    cells = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    listed = {row[0].split("`")[1]: row for row in cells}
    assert set(listed) == {method.name for method in methods(job)}
    for method in methods(job):
        name, _, options = listed[method.name]
        assert ("(default)" in name) == method.default
        assert re.findall(r"`(\w+)`", options) == list(method.options())
        described: Any = method.describe()["options"]
        assert all(option["says"] for option in described)


def test_every_word_of_the_glossary_is_in_help_json_or_pages_of_the_app() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text()
    words = re.findall(r"\*\*([\w ]+)\*\*", page)
    help_texts = [
        command.get_help(click.Context(command))
        for name in COMMANDS
        if (command := cli.get_command(click.Context(cli), name)) is not None
    ]
    templates = (ROOT / "src" / "evenhand" / "web" / "templates").rglob("*.j2")
    text = "\n".join([*help_texts, JSON, *(path.read_text() for path in templates)])
    assert len(words) > 35
    assert {word for word in words if not re.search(rf"(?i)\b{word}", text)} == set()


def test_every_weight_is_in_the_pages() -> None:
    study = (ROOT / "docs" / "study.md").read_text()
    for name in weights.NAMES:
        assert f"`{name}(" in REFERENCE
        assert f"`{name}(" in study


def test_the_rooms_of_the_architecture_page_are_those_of_the_source() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    tree = re.search(
        r"^```text\nsrc/evenhand/\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    )
    assert tree is not None
    rooms = re.findall(r"^  (\w+)/ +\S", tree[1], re.MULTILINE)
    source = ROOT / "src" / "evenhand"
    assert {*rooms} == {path.parent.name for path in source.glob("*/__init__.py")}


def test_every_file_that_the_architecture_page_names_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    source = ROOT / "src" / "evenhand"
    named = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|txt\.j2|html\.j2|yml))`", page))
    assert len(named) > 15
    homes = (source, ROOT, source / "words" / "templates")
    missing = {name for name in named if not any((it / name).exists() for it in homes)}
    assert missing == set()
    for test in re.findall(r"`(test_\w+)`", page):
        files = (ROOT / "tests").rglob("test_*.py")
        assert any(f"def {test}(" in path.read_text() for path in files), test


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
        # A row names what computes it: a function that anybody may import.
        assert inspect.isfunction(getattr(importlib.import_module(module), name))
        assert not any(part.startswith("_") for part in function.split("."))
    rows = re.findall(r"^\| .+ \| `?(.*?)`? \| `tests/.+$", THEORY, re.MULTILINE)
    results = [cell for cell in rows if "evenhand." in cell]
    assert sorted({*results}) == sorted(functions)
    for path, name in tests:
        assert f"def {name}(" in (ROOT / path).read_text(), (path, name)


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in plain}


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^):]+)\)", page.read_text()):
            path, _, anchor = link.partition("#")
            there = page.parent / path if path else page
            assert there.exists(), (page.name, link)
            assert not anchor or anchor in anchors(there), (page.name, link)


def test_the_fields_of_the_json_page_are_those_of_the_classes() -> None:
    assert make_json.page() == JSON, "python -m docs.make_json"


def test_every_warning_is_in_the_json_page() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", JSON.partition("## Warnings")[2], re.MULTILINE)
    listed = [code for row in rows for code in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted(warnings.codes())


def documents() -> Iterator[object]:
    two = read_ratings(HERE / "designs.csv")
    many = read_ratings(HERE / "conference.csv")
    for method in methods("compare"):
        yield compare(two, method=method.name, design="halves", rng=7).to_dict()
    yield compare(two, method=lambda _first, _second: 0.5).to_dict()
    for method in methods("rank"):
        yield rank(many, method=method.name, rng=7).to_dict()
    yield rank(many, method=lambda ratings, _: range(ratings.n_items)).to_dict()
    panel = read_ratings(HERE / "panel.csv")
    yield rank(panel, method="safe(noise=5)", top=4, rng=7).to_dict()
    yield check(panel, top=4, rng=7).to_dict()
    yield grade(panel, passing=60, rng=7).to_dict()
    yield warp(panel, draws=2, rng=7).to_dict()
    drawn = assign(TALKS, PEOPLE, design="balanced", per_reviewer=3, secret=SECRET)
    yield from (assignment_record(drawn), seal_record(SECRET), secret_record(SECRET))
    yield decision_record(compare([7], [6], rng=7))
    yield Audit((AuditStep("record", "same", "It fits."),)).to_dict()
    yield [method.describe() for method in methods()]
    yield lab.check_theorems(only=("Theorem 1",), rng=7).to_dict()
    yield lab.simulate(Scenario(reviewers=2), ["votes"], trials=2, rng=7).to_dict()


def fields(document: object) -> Iterator[str]:
    if isinstance(document, dict):
        yield from document
        # Facts are named after the templates of their code.
        document = [part for name, part in document.items() if name != "facts"]
    if isinstance(document, list | tuple):
        for value in document:
            yield from fields(value)


def test_every_field_of_the_json_is_in_its_page() -> None:
    found = {name for document in documents() for name in fields(document)}
    assert found >= {"decided_by", "anchors", "sentence", "hashes", "witness"}
    assert found >= {"inside", "breakers", "rungs", "votes", "curve", "kept"}
    assert found >= {"own_function", "checked_on_data", "options", "reference"}
    assert {name for name in found if f"`{name}`" not in JSON} == set()


def test_every_option_of_the_benchmark_is_in_its_page() -> None:
    source = (ROOT / "bench" / "real.py").read_text()
    page = (ROOT / "docs" / "benchmark.md").read_text()
    found = set(re.findall(r"\"(--[a-z]+)\"", source))
    assert len(found) > 3
    assert {name for name in found if f"| `{name} " not in page} == set()


def test_every_schema_is_in_the_json_page() -> None:
    found = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"\"(evenhand\.[a-z]+/1)\"", path.read_text())
    }
    assert len(found) > 5
    assert {name for name in found if f"`{name}`" not in JSON} == set()


@pytest.mark.parametrize(("folder", "files"), FOLDERS.items())
def test_the_folders_of_the_pages_are_generated(
    folder: str, files: dict[str, Callable[[], str]]
) -> None:
    for name, made in files.items():
        assert (HERE / folder / name).read_text(encoding="utf-8") == made(), name

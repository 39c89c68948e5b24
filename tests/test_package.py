"""What comes with an installation: versions, extras, files, promises."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from docs import make_man, make_stability
from evenhand.cli import COMMANDS
from tests import commands

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {"serve", "charts", "dask", "postgres", "query", "spark"}
# What each extra is for, and a module without which it is not there. Each is refused in
# one sentence with the line to type.
MISSING = {
    "serve": ("segno", "from evenhand.cli import main; main(['serve', '--lan'])"),
    "postgres": (
        "psycopg",
        "from evenhand.cli import main;"
        "main(['serve', '--get', '/', '--db', 'postgresql://127.0.0.1:1/none'])",
    ),
    "charts": (
        "altair",
        "import evenhand; evenhand.rank('examples/panel.csv', rng=7).plot()",
    ),
}


def launch(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own words
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return launch(sys.executable, *words, **environment)


def test_the_module_is_the_command_and_its_version_serves_a_bug_report() -> None:
    lines = run("-m", "evenhand", "--version").stdout.splitlines()
    assert lines[0] == f"evenhand {metadata.version('evenhand')}"
    assert lines[1].startswith(f"Python {sys.version.split()[0]} on ")
    for name in ("numpy", "scipy", "polars"):
        assert f"{name} {metadata.version(name)}" in lines[2]
    assert commands.run("--version").output.splitlines() == lines


def test_a_shell_completes_commands_and_options() -> None:
    for words, end in (("evenhand ra", "rank"), ("evenhand rank --re", "--report")):
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        answer = run(
            "-m", "evenhand", _EVENHAND_COMPLETE="bash_complete", **asked
        ).stdout
        assert f"plain,{end}" in answer.splitlines()


def test_the_manual_page_has_every_command_and_no_accidental_request() -> None:
    lines = make_man.page().splitlines()
    for name in COMMANDS:
        assert f'.SH "EVENHAND {name.upper()}"' in lines
    requests = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".nf", ".fi"}


@pytest.mark.parametrize("extra", MISSING)
def test_without_an_extra_one_sentence_says_what_to_type(extra: str) -> None:
    module, code = MISSING[extra]
    refused = run("-c", f"import sys; sys.modules[{module!r}] = None; {code}")
    assert refused.returncode != 0
    sentence = refused.stderr.splitlines()[-1]
    assert sentence.endswith(f"pip install 'evenhand[{extra}]'."), refused.stderr
    # From Python the error is one of evenhand's, on the command line nothing else.
    assert sentence.startswith(("evenhand: ", "evenhand.errors.OptionError: "))


def test_the_base_is_small_and_each_extra_is_declared() -> None:
    assert len({re.split("[<>;]", one)[0] for one in PROJECT["dependencies"]}) <= 12
    assert {*PROJECT["optional-dependencies"]} >= EXTRAS
    extras = PROJECT["optional-dependencies"].values()
    every = [*PROJECT["dependencies"], *(one for extra in extras for one in extra)]
    unbounded = [
        one for one in every if "evenhand" not in one and not {"<", ";"} & {*one}
    ]
    assert unbounded == []


def test_the_citation_is_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation


def test_no_file_names_a_package_index_or_a_path_of_a_machine() -> None:
    names = launch("git", "ls-files").stdout.split()
    wrong = re.compile(r"pypi\.org|pythonhosted|(?<![\w.])/(?:home|Users|work|root)/\w")
    texts = (ROOT / name for name in names if not name.endswith((".png", ".xlsx")))
    own = Path(__file__)
    found = {
        path.name: match[0]
        for path in texts
        if path != own
        and path.is_file()
        and (match := wrong.search(path.read_text("utf-8", errors="replace")))
    }
    assert found == {}


def test_nothing_that_is_promised_is_gone() -> None:
    promised = json.loads(make_stability.LIST.read_text("utf-8"))
    now = make_stability.stable()
    gone = {what: {*names} - {*now[what]} for what, names in promised.items()}
    assert not any(gone.values()), f"{gone}; see docs/stability.md"
    assert sum(map(len, promised.values())) > 1000


def test_public_tests_run_the_command_of_the_readme_on_every_version() -> None:
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    classifiers = " ".join(PROJECT["classifiers"])
    versions = re.findall(r"Python :: (3\.\d+)", classifiers)
    assert f"python: {json.dumps(versions)}" in workflow
    assert "- run: make test\n" in workflow
    assert "`make test` runs all checks" in (ROOT / "README.md").read_text("utf-8")
    for name in ("Dockerfile", "compose.yaml"):
        text = (ROOT / "container" / name).read_text("utf-8")
        # What a container is started with, the command takes.
        for option in re.findall(
            r"(?<=[\"\s])--(?:db|host|port|proxy|public-url)\b", text
        ):
            assert f"serve {option}" in now_options()
    assert "USER 1000" in (ROOT / "container" / "Dockerfile").read_text("utf-8")


def now_options() -> set[str]:
    return {*make_stability.options()}

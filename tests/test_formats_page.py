"""Every sample is read, ranked, checked and reported as docs/formats.md says."""

import html
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand.cli import cli

ROOT = Path(__file__).parent.parent
EXPORTS = ROOT / "examples" / "exports"
PAGE = (ROOT / "docs" / "formats.md").read_text()
ROW = re.compile(r"^\| `([\w.-]+)` \| (.+) \| (.+) \|$", re.MULTILINE)
SAMPLES = {name: options.strip("`") for name, _, options in ROW.findall(PAGE)}
READ = [name for name, options in SAMPLES.items() if not options.startswith("refused")]
REFUSED = [name for name in SAMPLES if name not in READ]


def words(name: str) -> list[str]:
    options = SAMPLES[name]
    return [
        f"examples/exports/{name}",
        *([] if options == "none" else shlex.split(options)),
    ]


def printed_audit(page: str) -> list[str]:
    """Return the words after "evenhand" of the audit that a report prints."""
    found = re.search(r"<code>evenhand (audit [^<]*)</code>", page)
    assert found is not None
    return shlex.split(html.unescape(found[1]))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_names_every_sample() -> None:
    assert set(SAMPLES) == {path.name for path in EXPORTS.iterdir()}
    assert len(READ) > 20


@pytest.mark.parametrize("name", READ)
def test_a_sample_is_read_ranked_checked_reported_and_audited(
    name: str, desk: Path
) -> None:
    outputs = ("--report", "r.html", "--record", "d.json")
    ranked = CliRunner().invoke(
        cli, ["rank", *words(name), "--seed", "1", "--top", "3", *outputs]
    )
    assert ranked.exit_code == 0, ranked.stderr
    assert "Wrote r.html" in ranked.stderr
    assert "cut after 3" in ranked.stdout
    page = (desk / "r.html").read_text()
    assert '<section id="decision"' in page
    audited = CliRunner().invoke(cli, printed_audit(page))
    assert audited.exit_code == 0, audited.output
    assert "ok      decision" in audited.stdout
    checked = CliRunner().invoke(cli, ["check", *words(name), "--seed", "1"])
    assert checked.exit_code == 0, checked.stderr
    assert "WHAT CAN BE ORDERED?" in checked.stdout


PLAIN = sorted(set(re.findall(r"`examples/([\w/-]+\.csv)`", PAGE)) - {"judges.csv"})


def test_the_page_names_the_other_samples_too() -> None:
    files = {path.name for path in (ROOT / "examples").glob("*.csv")}
    assert {*PLAIN, "judges.csv"} == {*files, "workshop/ratings.csv"}


@pytest.mark.parametrize("name", PLAIN)
def test_other_samples_need_no_option(name: str, desk: Path) -> None:
    options = ("--seed", "1", "--report", "r.html")
    for command in ("rank", "check"):
        result = CliRunner().invoke(cli, [command, f"examples/{name}", *options])
        assert result.exit_code == 0, result.stderr
        assert "What this may" in (desk / "r.html").read_text()


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("desk")
def test_what_cannot_be_ranked_is_refused_in_a_sentence(name: str) -> None:
    result = CliRunner().invoke(cli, ["rank", f"examples/exports/{name}"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert f"examples/exports/{name}: " in result.stderr

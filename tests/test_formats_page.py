"""Every sample is read and ranked as docs/formats.md says, and some are reported."""

import html
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.commands import refused, run

ROOT = Path(__file__).parent.parent
EXPORTS = ROOT / "examples" / "exports"
PAGE = (ROOT / "docs" / "formats.md").read_text()
ROW = re.compile(r"^\| `([\w.-]+)` \| (.+) \| (.+) \|$", re.MULTILINE)
SAMPLES = {name: options.strip("`") for name, _, options in ROW.findall(PAGE)}
READ = [name for name, options in SAMPLES.items() if not options.startswith("refused")]
# Comparisons and a workbook: reports see no more of a platform, and pages show others.
WHOLE = ("gavel-decisions.csv", "wide-reviewers.xlsx")
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
@pytest.mark.usefixtures("desk")
def test_a_sample_is_read_and_ranked(name: str) -> None:
    ranked = run("rank", *words(name), "--seed", "1", "--top", "3", "--method", "borda")
    assert ranked.exit_code == 0, ranked.stderr
    assert "cut after 3" in ranked.stdout


@pytest.mark.parametrize("name", WHOLE)
def test_a_sample_is_reported_audited_and_checked(name: str, desk: Path) -> None:
    outputs = ("--report", "r.html", "--record", "d.json")
    ranked = run("rank", *words(name), "--seed", "1", "--top", "3", *outputs)
    assert ranked.exit_code == 0, ranked.stderr
    assert "Wrote r.html" in ranked.stderr
    page = (desk / "r.html").read_text()
    assert '<section id="decision"' in page
    audited = run(*printed_audit(page))
    assert audited.exit_code == 0, audited.output
    assert "ok      decision" in audited.stdout
    checked = run("check", *words(name), "--seed", "1")
    assert checked.exit_code == 0, checked.stderr
    assert "WHAT CAN BE ORDERED?" in checked.stdout


OTHER = {"judges.csv", "counts.csv", "applications.csv", "people.csv"}
"""What rank does not read: see docs/judges.md, docs/compare.md and docs/assign.md."""
PLAIN = sorted(set(re.findall(r"`examples/([\w/-]+\.csv)`", PAGE)) - OTHER)


def test_the_page_names_the_other_samples_too() -> None:
    files = {path.name for path in (ROOT / "examples").glob("*.csv")}
    assert {*PLAIN, *OTHER} == {*files, "workshop/ratings.csv"}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.usefixtures("desk")
def test_other_samples_need_no_option(name: str) -> None:
    result = run("rank", f"examples/{name}", "--seed", "1")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("desk")
def test_what_cannot_be_ranked_is_refused_in_a_sentence(name: str) -> None:
    path = f"examples/exports/{name}"
    assert f"{path}: " in refused("rank", path)

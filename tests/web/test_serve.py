"""`evenhand serve` from outside: what it prints, serves, refuses and keeps quiet."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx2 as httpx
import pytest
import segno
from click.testing import CliRunner, Result

from evenhand.cli import cli
from evenhand.errors import OptionError
from evenhand.web import actions, reads
from evenhand.web.running import lan_address, listen
from tests.web.world import NOON, Site

HEAVY = ("starlette", "uvicorn", "sqlalchemy", "segno", "python_multipart")


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["serve", *words])


@contextmanager
def serving(
    *words: str, files: int | None = None, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Run the command; gives the process, its address and the sign-in link.

    Args:
        words: Options of the command.
        files: How many files it may open.
        environment: More variables.
    """
    program = "from evenhand.cli import main; main()"
    command = [sys.executable, "-c", program, "serve", "--no-open"]
    command += [] if "--port" in words else ["--port", "0"]
    if files is not None:
        command = ["sh", "-c", 'ulimit -n "$0" && exec "$@"', str(files), *command]
    process = subprocess.Popen(
        [*command, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
    )
    assert process.stdout is not None
    told = ""
    for line in process.stdout:
        told += line
        if "Ctrl-C" in line:
            break
    link = re.search(r"https?://[\w.:]+/in/\w+", told)
    at = re.search(r"evenhand is at (https?://[\w.:]+),", told)
    assert at is not None, told
    base = at[1]
    process.told = told  # type: ignore[attr-defined]  # for who wants to read it
    try:
        yield process, base, link[0] if link else ""
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        process.stdout.close()


def test_nothing_of_it_is_imported_by_others() -> None:
    program = (
        "import sys, evenhand\n"
        "from click.testing import CliRunner\n"
        "from evenhand.cli import cli\n"
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0\n"
        "assert CliRunner().invoke(cli, ['rank', '--help']).exit_code == 0\n"
        f"print([it for it in {HEAVY!r} if it in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_without_its_extra_it_says_what_to_install() -> None:
    program = (
        "import sys\nsys.modules['sqlalchemy'] = None\n"
        "from evenhand.cli import main\n"
        "main(sys.argv[1:])"
    )

    def without(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    refused = without("serve", "--get", "/", "--demo")
    text = "evenhand serve needs more packages: pip install 'evenhand[serve]'."
    assert (refused.returncode, refused.stderr) == (2, f"evenhand: {text}\n")
    assert without("serve", "verify", "--help").returncode == 0
    verify = without("serve", "verify")
    assert (verify.returncode, verify.stderr) == (2, f"evenhand: {text}\n")


def test_the_demonstration_and_the_server_around_it(tmp_path: Path) -> None:
    db, began = str(tmp_path / "demo.db"), time.monotonic()
    with serving("--db", db, "--demo") as (process, base, link):
        client = httpx.Client(base_url=base, follow_redirects=True)
        assert client.get("/healthz").text.startswith("ok ")
        assert run("--db", db, "--get", "/").exit_code == 2
        page = client.post(link.removeprefix(base))
        assert "Demonstration: eight talks" in page.text
        found = re.search(r'href="(/e/\w+)"><bdi>Demo', page.text)
        assert found is not None
        for _ in range(300):
            told = client.get(f"{found[1]}/progress.json").json()
            if told["rated"] == 24:
                break
            time.sleep(0.1)
        assert told == {"rated": 24, "given": 24, "state": "open"}
        form = {"csrf": page.text.partition('name="csrf" value="')[2][:64]}
        form["title"] = "Demonstration: eight talks"
        for action in ("close", "jobs/decision"):
            text = client.post(f"{found[1]}/{action}", data=form).text
        while "is being worked out" in text:
            time.sleep(0.1)
            text = client.get(found[1]).text
        assert 'class="lead"' in text
        # From the start of the process; a machine with other work may take longer.
        assert time.monotonic() - began < 60 or os.getloadavg()[0] > 2
        assert run("--db", db, "verify").exit_code == 0
        copied = run("--db", db, "backup", str(tmp_path / "copy.db"))
        assert copied.exit_code == 0, copied.output
        # A bad request must not put a link into the log.
        client.get("/r/" + "s3cret" * 5)
        client.get(link.removeprefix(base))
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        assert process.stdout is not None
        assert process.stdout.read() == ""
        client.close()
    assert run("--db", str(tmp_path / "copy.db"), "verify").exit_code == 0
    assert (tmp_path / "demo.db.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "demo.db").stat().st_mode & 0o777 == 0o600


def free_port() -> str:
    with listen("127.0.0.1", 0) as free:
        return str(free.getsockname()[1])


def cookie(answer: httpx.Response) -> str:
    return answer.headers["set-cookie"]


@pytest.mark.skipif(
    shutil.which("openssl") is None,
    reason="No certificate is made, because openssl is missing. On Debian: apt-get "
    "install openssl.",
)
def test_https(tmp_path: Path) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-keyout", "key.pem", "-out"]
    command += ["cert.pem", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)
    files = ["--certfile", str(tmp_path / "cert.pem")]
    files += ["--keyfile", str(tmp_path / "key.pem")]
    trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with serving("--db", str(tmp_path / "e.db"), *files) as (_, base, link):
        assert base.startswith("https://")
        with httpx.Client(verify=trusted) as client:
            assert client.get(f"{base}/healthz").text.startswith("ok ")
            assert "Secure" in cookie(client.post(link))


def test_behind_a_proxy(tmp_path: Path) -> None:
    words = ["--db", str(tmp_path / "e.db"), "--proxy", "--port", free_port()]
    words += ["--public-url", "https://rate.example.org/"]
    with serving(*words) as (_, base, link):
        assert base == "https://rate.example.org"
        here = f"http://127.0.0.1:{words[4]}"
        headers = {"host": "rate.example.org", "x-forwarded-proto": "https"}
        headers["origin"] = base
        with httpx.Client(headers=headers) as client:
            answer = client.post(link.replace(base, here))
            assert answer.status_code == 303
            assert "Secure" in cookie(answer)
            other = client.get(f"{here}/healthz", headers={"host": "example.org"})
            assert other.status_code == 400


def signin_link(db: str, *words: str) -> str:
    """Return the link that the command makes while the server runs."""
    result = run("--db", db, "organiser", *words)
    assert result.exit_code == 0, result.output
    return result.output.strip().rpartition(" ")[2]


def picture(address: str) -> str:
    drawn = io.StringIO()
    segno.make(address).terminal(drawn, compact=True)
    return drawn.getvalue()


def test_in_a_room(tmp_path: Path) -> None:
    try:
        address = lan_address()
    except OptionError:
        pytest.skip("This machine is in no network, so there is no room to serve.")
    words = ["--db", str(tmp_path / "e.db"), "--lan", "--port", free_port()]
    with serving(*words) as (process, base, printed):
        assert base == f"http://{address}:{words[4]}"
        assert printed == ""
        link = signin_link(words[1])
        told = process.told  # type: ignore[attr-defined]  # see above
        assert "Links travel unencrypted on this network" in told
        # What the room may photograph signs nobody in.
        assert picture(base) in told
        assert picture(link) not in told
        here = f"http://127.0.0.1:{words[4]}"
        with httpx.Client(headers={"host": f"{address}:{words[4]}"}) as client:
            assert client.post(link.replace(base, here)).status_code == 303
            assert client.get(here, headers={"host": "x.example"}).status_code == 400


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--certfile", "x"], "--certfile and --keyfile must be given together"),
        (["--public-url", "example.org"], "must begin with http:// or https://"),
        (["--public-url", "https://a.org/b"], "--public-url must have no path"),
        (["--db", "none.db", "organiser"], "There is no such file"),
        (["organiser", "--remove"], "--remove must come with the name"),
        (["--db", "x.db", "--key", "no/x.key"], "The key cannot be kept"),
        (["--db", "nowhere/x.db"], "must be a file in a folder that exists"),
        (["--db", "mysql://x"], "or postgresql://"),
        (["--db", "x.db", "--get", "/nowhere"], "answered with status 404"),
        (["purge"], "purge must come with --due"),
        (["--db", "none.db", "verify"], "There is no such file"),
        (["--db", "none.db", "backup", "y.db"], "There is no such file"),
        (["--db", "postgresql://x", "backup", "y.db"], "pg_dump"),
        (["--db", "postgresql://127.0.0.1:1/x"], "The database fails"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(*words)
    assert found.exit_code == 2
    assert says in found.stderr
    assert "Traceback" not in found.output


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"this is not a database, but text" * 100)
    found = run("--db", str(tmp_path / "x.db"), "--get", "/")
    assert found.exit_code == 2
    assert "not a database" in found.stderr


def published(site: Site) -> int:
    """Make an evaluation with ratings and notes, and publish a file of it."""
    which, slug = site.opened()
    for token in site.tokens(which, slug).values():
        site.rate_all(token, lambda label: float(label[1:]))
    site.do(actions.close, which)
    number = site.do(actions.ask_job, which, "decision", {"method": "adaptive"})
    hashes = dict.fromkeys(("record_sha256", "ratings_sha256"), "0" * 64)
    says = json.dumps({"method": "adaptive", "seed": 1, **hashes})
    result = {"record": "{}", "report": "", "says": says}
    site.do(actions.end_job, which, "decision", number, result)
    head = site.read(reads.by_id, which).head_hash
    site.do(actions.publish, which, {"README.txt": b"x"}, head)
    return int(which)


def test_names_are_deleted_when_they_are_due_and_cannot_be_read_back(
    tmp_path: Path,
) -> None:
    path = tmp_path / "e.db"
    site = Site(str(path))
    which = published(site)
    lines = site.read(reads.log_lines, which)
    assert b"p3@example.org" in path.read_bytes() + Path(f"{path}-wal").read_bytes()
    site.now = NOON + timedelta(days=181)
    assert site.do(actions.purge_due) == ["Autumn talks"]
    site.store.tidy()
    assert site.read(reads.log_lines, which)[:-1] == lines
    assert site.read(reads.published_files, which) == {"README.txt": b"x"}
    site.store.close()
    left = b"".join(
        it.read_bytes() for it in tmp_path.iterdir() if it.name.startswith("e.db")
    )
    for name in (b"p3@example.org", b"Person 3"):
        assert name not in left
    found = run("--db", str(path), "purge", "--due")
    assert found.exit_code == 0
    assert "0 purged" in found.stdout
    assert run("--db", str(path), "verify").exit_code == 0

"""No acknowledgement leaves the server before the data are on the disk, traced."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.load import drive, make_evaluation
from evenhand.web.running import listen

STRACE = shutil.which("strace")
SYNCED = re.compile(r"f(data)?sync(\(\d+<[^>]*e.db-wal>\)| resumed>\)) += 0$")
CALLS = "pwrite64,write,fdatasync,fsync,sendto,sendmsg"


@pytest.mark.skipif(
    STRACE is None,
    reason="System calls are not traced, because strace is missing. On Debian: apt-get "
    "install strace.",
)
def test_data_are_synced_before_a_rating_is_acknowledged(tmp_path: Path) -> None:
    db, trace = str(tmp_path / "e.db"), tmp_path / "trace"
    links = make_evaluation(db, 3)
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    # Other calls do not stop the server, which then starts in a third of the time.
    command = [str(STRACE), "-f", "--seccomp-bpf", "-y", "-s", "30", "-o", str(trace)]
    command += ["-e"]
    command += [f"trace={CALLS}", sys.executable, "-m", "bench.load"]
    server = subprocess.Popen([*command, "--serve", db, str(port)])
    people = []
    for _ in range(300):
        people = asyncio.run(drive(port, links, 1, 0.02, 1.0, pages=False))
        if people[0].acknowledged:
            break
        time.sleep(0.2)
    # strace itself passes no signal on.
    below = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    for child in below.read_text().split():
        os.kill(int(child), signal.SIGTERM)
    server.wait(60)
    acknowledged, synced = 0, False
    for line in trace.read_text(errors="replace").splitlines():
        if "e.db-wal" in line and re.search(r"(pwrite64|write)\(", line):
            synced = False
        elif SYNCED.search(line):
            synced = True
        elif "HTTP/1.1 201" in line:
            acknowledged += 1
            assert synced, line
            synced = False
    assert acknowledged >= len(people[0].acknowledged) >= 3

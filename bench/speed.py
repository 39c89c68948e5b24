"""What users wait for, in CPU seconds, beside what they would use instead.

    python -m bench.speed [--only NAME] [--out FOLDER]

Every side runs in a process of its own. "whole" is all of it, with imports and data;
"call" is the second call of the function in that process. With --out the page
performance.md and performance.json are written there.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from bench.jobs import JOBS, ROOT, Job, ratings_file

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
PACKAGES = (
    *("evenhand", "numpy", "scipy", "polars", "choix", "evalica", "crowd-kit"),
    *("rustworkx", "statsmodels", "tea-tasting"),
)
HEAD = """# Performance

What users wait for, in CPU seconds (user and system, all threads), beside what they
would use instead. This page is written by `make bench`; no figure is typed by hand.

- Every side runs in a process of its own. **whole**: the process, with imports and the
  making of its data. **call**: the second call in that process.
- A peer whose answer disagrees with ours gets no row. What peers do is not always the
  same: most give no intervals, and none says what it may claim.
- **first** is a command's first run after installing, before Python has kept bytecode.
"""


def run(command: list[str], folder: Path) -> tuple[float, float, str]:
    """Run a process; return its CPU seconds, its peak in megabytes and its output."""
    out = folder / "stdout"
    with out.open("w") as file:
        # Bytecode is kept, as in a normal installation.
        kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
        child = subprocess.Popen(command, stdout=file, stderr=file, cwd=ROOT, env=kept)  # noqa: S603 - our own commands
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    text = out.read_text()
    if child.returncode:
        raise click.ClickException(f"{' '.join(command)} failed: {text[-500:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text


def ours_by_command(job: Job, folder: Path) -> Json:
    """Measure a command: the first run from sources without bytecode, and another."""
    words = [word.replace("OUT", str(folder / "out")) for word in command_words(job)]
    place = find_spec("evenhand")
    found: Json = {"side": "evenhand"}
    start = "from evenhand.cli import main; main()"
    if job.fresh is not None and place is not None and place.origin is not None:
        copy = folder / "first"
        kept = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(place.origin).parent, copy / "evenhand", ignore=kept)
        start = f"import sys; sys.path.insert(0, {str(copy)!r}); {start}"
        found["first"], _, _ = run([sys.executable, "-c", start, *words], folder)
    command = [sys.executable, "-c", start, *words]
    found["whole"], found["megabytes"], _ = run(command, folder)
    return found


def command_words(job: Job) -> list[str]:
    """Put files in the place of their sizes."""
    if not isinstance(job.ours, list):
        return []
    # In a process of its own: the system counts the peak of the one that starts a
    # command as the command's.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return [
            str(pool.submit(ratings_file, int(word[5:])).result())
            if word.startswith("FILE:")
            else word
            for word in job.ours
        ]


def by_call(job: Job, side: str, folder: Path) -> tuple[Json, Any]:
    """Measure a call in a process of its own."""
    command = [sys.executable, "-m", "bench.speed", "--one", job.name, side]
    whole, megabytes, text = run(command, folder)
    told = json.loads(text.strip().splitlines()[-1])
    found = {"side": side, "whole": whole, "megabytes": megabytes, "call": told["call"]}
    return found, np.array(told["answer"])


def one(name: str, side: str) -> None:
    """Make data, call twice, and print the second call's CPU seconds and answer."""
    job = next(job for job in JOBS if job.name == name)
    make = job.ours if side == "evenhand" else job.peers[side]
    if isinstance(make, list):
        raise click.UsageError(f"{name} is a command.")
    call = make()
    call()
    start = time.process_time()
    answer = call()
    used = time.process_time() - start
    click.echo(json.dumps({"call": used, "answer": np.asarray(answer).tolist()}))


def measure(job: Job) -> Json:
    """Measure all sides of a job."""
    with tempfile.TemporaryDirectory() as place:
        folder, answer = Path(place), None
        if isinstance(job.ours, list):
            sides = [ours_by_command(job, folder)]
        else:
            ours, answer = by_call(job, "evenhand", folder)
            sides = [ours]
        for peer in job.peers:
            try:
                theirs, other = by_call(job, peer, folder)
            except click.ClickException as error:
                sides.append({"side": peer, "missing": error.message[-200:]})
                continue
            if job.agree is not None:
                theirs["agreement"] = job.agree(answer, other)
                if not theirs["agreement"] >= job.least:
                    theirs = {"side": peer, "missing": "its answer is another"}
            sides.append(theirs)
    limits = {"most": job.most, "megabytes": job.megabytes, "fresh": job.fresh}
    return {"job": job.name, "title": job.title, "limits": limits, "sides": sides}


def seconds(value: float | None) -> str:
    """Write CPU seconds with three digits."""
    return "" if value is None else f"{value:.3g}"


def megabytes(side: Json) -> str:
    """Write the peak of a process, if it is known."""
    return f"{side['megabytes']:.0f}" if side.get("megabytes") else ""


def rows(found: Json) -> Iterator[str]:
    """Lay a job out as rows of a table, ours first."""
    for side in found["sides"]:
        ours = side["side"] == "evenhand"
        what = found["title"] if ours else ""
        if "missing" in side:
            why = "another answer" if "another" in side["missing"] else "failed"
            yield f"| {what} | {side['side']} | not measured: {why} | | | | |"
            continue
        limits = found["limits"]
        first = seconds(side.get("first"))
        most = seconds(limits["most"]) if ours else ""
        if ours and limits["fresh"] is not None:
            most = f"{seconds(limits['fresh'])} first, {most}"
        yield (
            f"| {what} | {side['side']} | {first} | {seconds(side['whole'])} "
            f"| {seconds(side.get('call'))} | {megabytes(side)} | {most} |"
        )


def page(document: Json) -> str:
    """Write the page."""
    head = "| job | side | first | whole | call | MB at most | limit |"
    lines = [HEAD, head, "|---|---|---|---|---|---|---|"]
    lines += [row for found in document["jobs"] for row in rows(found)]
    about = ", ".join(f"{name} {text}" for name, text in document["about"].items())
    return "\n".join([*lines, "", f"Measured with {about}.", ""])


def about() -> dict[str, str]:
    """Name the machine and the versions."""
    named = {"Python": platform.python_version(), "cores": str(os.cpu_count())}
    for package in PACKAGES:
        try:
            named[package] = version(package)
        except PackageNotFoundError:
            named[package] = "absent"
    return named


@click.command()
@click.option("--only", multiple=True, metavar="NAME", help="Only this job.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the page there.")
@click.option("--one", "single", nargs=2, hidden=True)
def main(
    only: tuple[str, ...], out: Path | None, single: tuple[str, str] | None
) -> None:
    """Measure, print the table, and write the page."""
    if single:
        one(*single)
        return
    chosen = [job for job in JOBS if not only or job.name in only]
    document: Json = {"about": about(), "jobs": []}
    for job in chosen:
        found = measure(job)
        document["jobs"].append(found)
        for row in rows(found):
            click.echo(row)
    if out is not None:
        (out / "performance.json").write_text(json.dumps(document, indent=1) + "\n")
        (out / "performance.md").write_text(page(document))


if __name__ == "__main__":
    main()

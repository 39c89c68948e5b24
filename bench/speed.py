"""How fast the jobs are, beside peers and beside the machine's limits.

    python -m bench.speed [--quick] [--only NAME] [--rounds 7] [--out FOLDER] [--force]

Prints one table. With --out it writes performance.json and the page performance.md
there, which is refused while the machine has other work. With --only as well, these
jobs take the place of what the files there say of them, and all others stay.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from bench.jobs import JOBS
from bench.measure import (
    MOST_CALLS,
    PATIENCE,
    TURN,
    Job,
    Result,
    exponent,
    measure,
    peak_memory,
    warm_up,
)

Json = dict[str, Any]
Results = Mapping[int, Result]
BUSY = 1.5
LOAD = "load average at the start"
KILO = 999.5
PACKAGES = (
    *("evenhand", "numpy", "numba", "scipy", "polars", "rustworkx", "networkx"),
    *("igraph", "choix", "evalica", "crowd-kit", "openskill", "fast-poibin", "sureal"),
)
HEAD = """# Performance

How fast evenhand is, beside other libraries and beside what the machine takes in any
case. This page is written by `make bench`; no figure on it is typed by hand.

How it was measured:

- **Agreement first.** Every side runs once and its answer is compared with ours,
  exactly or within the tolerance that is named [below](#agreement). A side that
  disagrees gets no row.
- **By turns.** Ours, the peers and the limit run one after the other, again and again,
  and the best time of each counts: {rounds} rounds, fewer for a side that has had
  {patience:.0f} s. A call of less than {turn:.0f} ms may be repeated in its turn,
  up to {calls} times. Data are made beforehand; code is compiled and loaded. Nothing is
  compared across jobs, and one may have been measured again by itself.
- **Limit.** Something that no program for the job could do without, or whose speed
  everybody knows.
- **Memory** is what a call takes at its peak on top of data and code, run once in a
  process of its own; of whole processes, all that they take. Both are resident memory
  as the operating system counts it.
- **Growth.** Each job has up to four sizes. The exponent e of time = constant x size^e
  is fitted to the logarithms by least squares. Fixed costs pull it down: where the
  smallest size takes less than a millisecond, or a process has to start, it says
  little.
"""


def document(
    found: Mapping[str, Results], *, rounds: int, quick: bool, machine: Json
) -> Json:
    """Put together all that was measured."""
    jobs = [job for job in JOBS if job.name in found]
    return {
        "schema": "evenhand.performance/1",
        "quick": quick,
        "rounds": rounds,
        "machine": machine,
        "rows": [
            row for job in jobs for row in rows(job, found[job.name], quick=quick)
        ],
        "growth": [growth(job, found[job.name]) for job in jobs if len(job.sizes) > 1],
        "agreement": [agreement(job, found[job.name]) for job in jobs],
        "left_out": [line for job in jobs for line in left_out(job, found[job.name])],
    }


def merged(old: Json, new: Json) -> Json:
    """Put jobs that were measured again in the place of what was known of them.

    Nothing is compared across jobs, so each may have been measured on another day, but
    only on the same kind of machine and with the same versions.

    Raises:
        click.ClickException: If anything else differs.
    """
    if _kind(old) != _kind(new):
        raise click.ClickException(
            "The files there are of another machine, of other versions or of other "
            "sizes. Leave out --only to measure everything."
        )
    names = [job.title for job in JOBS]
    measured = {entry["job"] for entry in new["agreement"]}
    both = {**new, "machine": {**old["machine"], **new["machine"]}}
    for part in ("rows", "growth", "agreement", "left_out"):
        kept = [entry for entry in old[part] if entry["job"] not in measured]
        both[part] = sorted(
            (entry for entry in (*kept, *new[part]) if entry["job"] in names),
            key=lambda entry: names.index(entry["job"]),
        )
    return both


def _kind(found: Json) -> list[object]:
    machine = {k: v for k, v in found["machine"].items() if k not in ("busy", LOAD)}
    return [found[name] for name in ("schema", "quick", "rounds")] + [machine]


def shown(job: Job, *, quick: bool) -> Sequence[int]:
    """Return the sizes that have a row."""
    return job.quick[-1:] if quick else job.shown


def rows(job: Job, results: Results, *, quick: bool = False) -> Iterator[Json]:
    """Yield a row for each size and peer that agrees, or for none; and for missing."""
    for size in shown(job, quick=quick):
        result = results[size]
        if "ours" not in result.seconds:
            continue
        wanted = [side for side in job.peers if size <= side.most]
        peers = [side.name for side in wanted if side.name not in result.wrong]
        for peer in peers or ["none"]:
            yield {
                "job": job.title,
                "size": f"{size:,} {job.unit}",
                "ours": result.seconds["ours"],
                "peer": f"{peer} (missing)" if peer in result.missing else peer,
                "theirs": result.seconds.get(peer),
                "limit": job.limit.name,
                "least": result.seconds.get(job.limit.name),
                "memory": result.memory.get("ours"),
                "their_memory": result.memory.get(peer),
            }


def growth(job: Job, results: Results) -> Json:
    """Return times by size and fitted exponents, of ours and of who has several."""
    found: dict[str, dict[int, float]] = {}
    for size, result in results.items():
        for name, seconds in result.seconds.items():
            found.setdefault(name, {})[size] = seconds
    fitted = {name: exponent(seconds) for name, seconds in found.items()}
    ours = found.pop("ours", {})
    return {
        "job": job.title,
        "unit": job.unit,
        "seconds": {f"{size:,}": seconds for size, seconds in ours.items()},
        "exponent": fitted.pop("ours", None),
        "others": {name: e for name, e in fitted.items() if e is not None},
    }


def agreement(job: Job, results: Results) -> Json:
    """Return how the answers were compared, at the largest size of each side."""
    notes: dict[str, str] = {}
    for result in results.values():
        notes.update({side: note for side, note in result.notes.items() if note})
    return {"job": job.title, "note": job.note, "sides": notes}


def left_out(job: Job, results: Results) -> Iterator[Json]:
    """Yield what is to be said of each answer that was wrong."""
    for size, result in results.items():
        for side, why in result.wrong.items():
            text = f"{size:,} {job.unit}, {side}: {why}: not so"
            yield {"job": job.title, "text": text}


def page(found: Json) -> str:
    """Write the page."""
    facts = [f"- {name}: {fact}" for name, fact in found["machine"].items()]
    if found["quick"]:
        facts.append("- **small sizes, for a first look; these are no results**")
    parts = [
        HEAD.format(
            rounds=found["rounds"],
            patience=PATIENCE,
            turn=1000 * TURN,
            calls=MOST_CALLS,
        ),
        *("## Machine\n", *facts, "\n## Results\n"),
        *_markdown(TITLES, [cells(row) for row in found["rows"]]),
        "\nRatio: the peer's time over ours, more than 1 where we are faster. To "
        "limit: our time over the limit's. Memory: ours, then the peer's.",
        *("\n## Growth\n", *_growth(found["growth"])),
        *("\n## Agreement\n", *_agreement(found["agreement"])),
        "\n## Left out\n",
        *(
            [f"- {line['job']}, {line['text']}" for line in found["left_out"]]
            or ["Nothing disagreed."]
        ),
    ]
    return "\n".join(parts) + "\n"


TITLES = (
    *("job", "size", "ours", "peer", "time", "ratio"),
    *("limit", "time", "to limit", "memory"),
)


def cells(row: Json) -> list[str]:
    """Write the cells of a row."""
    ours, theirs, least = row["ours"], row["theirs"], row["least"]
    memory = [row["memory"], row["their_memory"]]
    sizes = [f"{megabytes:,.0f} MB" for megabytes in memory if megabytes is not None]
    return [
        row["job"],
        row["size"],
        duration(ours),
        row["peer"],
        duration(theirs),
        times(theirs, ours),
        row["limit"],
        duration(least),
        times(ours, least),
        ", ".join(sizes),
    ]


def times(one: float | None, other: float | None) -> str:
    """Write how many times one is the other, with three digits."""
    if one is None or other is None:
        return ""
    ratio = one / other
    return f"{ratio:.3g}x" if ratio < KILO else f"{ratio:,.0f}x"


def duration(seconds: float | None) -> str:
    """Write a time with three digits."""
    if seconds is None:
        return ""
    for unit, scale in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < KILO * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds < KILO else f"{seconds:,.0f} s"


def _markdown(titles: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    table = [titles, ["---"] * len(titles), *lines]
    return [f"| {' | '.join(line)} |" for line in table]


def _growth(found: Sequence[Json]) -> list[str]:
    lines = []
    for job in found:
        steps = [f"{size}: {duration(s)}" for size, s in job["seconds"].items()]
        others = [f"{name} {e:.2f}" for name, e in job["others"].items()]
        fitted = "" if job["exponent"] is None else f"{job['exponent']:.2f}"
        lines.append(
            [job["job"], job["unit"], ", ".join(steps), fitted, ", ".join(others)]
        )
    titles = ("job", "sizes are", "our times", "exponent", "exponents of others")
    return _markdown(titles, lines)


def _agreement(found: Sequence[Json]) -> list[str]:
    lines = []
    for job in found:
        sides = [f"{side}: {note}" for side, note in job["sides"].items()]
        lines.append(f"- **{job['job']}**. {'; '.join(sides)}. {job['note']}".rstrip())
    return lines


def machine() -> Json:
    """Return what the machine is and how busy it is."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":")[1].strip() for line in lines if "model name" in line]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{memory:.0f} GiB",
        "system": platform.platform(terse=True),
        "Python": platform.python_version(),
        "versions": ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        LOAD: f"{os.getloadavg()[0]:.2f}",
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def run(job: Job, rounds: int, *, quick: bool) -> dict[int, Result]:
    """Measure a job at all its sizes, and memory at those that have a row."""
    warm_up(job)
    results = {}
    for size in job.quick if quick else job.sizes:
        click.echo(f"{job.name} {size:,}", err=True)
        results[size] = measure(job, size, rounds)
    for size in shown(job, quick=quick):
        whole = [side.name for side in job.peers if side.share == 1]
        for side in results[size].seconds:
            if side == "ours" or side in whole:
                results[size].memory[side] = peak_memory(job, size, side)
    return results


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes, for a first look.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([job.name for job in JOBS]),
    help="Repeat for more.",
)
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(1))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for page and JSON."
)
@click.option("--force", is_flag=True, help="Write even if the machine is busy.")
def main(
    *, quick: bool, only: tuple[str, ...], rounds: int, out: Path | None, force: bool
) -> None:
    """Measure the jobs, print the table and write the page."""
    facts, load = machine(), os.getloadavg()[0]
    if out is not None and load > BUSY and not force:
        raise click.ClickException(
            f"The load average is {load:.2f}, more than {BUSY}: times would be wrong. "
            "Wait until the machine is quiet, or say --force, which the page will tell."
        )
    if load > BUSY:
        facts["busy"] = "**measured although the machine had other work**"
    figures = None if out is None else out / "performance.json"
    old = None
    if only and figures is not None and figures.exists():
        old = json.loads(figures.read_text())
        # Refused before the work, not after it.
        merged(old, document({}, rounds=rounds, quick=quick, machine=facts))
    chosen = [job for job in JOBS if not only or job.name in only]
    found = {job.name: run(job, rounds, quick=quick) for job in chosen}
    made = document(found, rounds=rounds, quick=quick, machine=facts)
    click.echo(page(made).partition("## Machine")[2])
    if out is not None and figures is not None:
        made = made if old is None else merged(old, made)
        out.mkdir(parents=True, exist_ok=True)
        figures.write_text(json.dumps(made, indent=1) + "\n")
        (out / "performance.md").write_text(page(made))


if __name__ == "__main__":
    main()

"""Run one side of a job once and print what memory it took: the child of `measure`.

python -m bench.memory JOB SIZE SIDE
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from bench import processes
from bench.jobs import JOBS

STATUS, PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# What the kernel takes as: let the peak start again from here.
RESET = "5"


def main(name: str, size: int, side: str) -> None:
    """Print megabytes: of child processes, their peak; else the peak less the start."""
    job = next(job for job in JOBS if job.name == name)
    run = job.side(side)
    if not job.process:
        run(job.prepare(job.quick[0]))
    data = job.prepare(size)
    gc.collect()
    PEAK.write_text(RESET)
    start = _kilobytes("VmRSS")
    if job.process:
        processes.THROUGH[:] = [sys.executable, "-S", "-c", processes.BETWEEN]
    run(data)
    used = max(processes.peaks) if job.process else _kilobytes("VmHWM") - start
    sys.stdout.write(f"{used / 1024:.1f}\n")


def _kilobytes(field: str) -> int:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])

"""Run tests on another processor's linear algebra: `python -m tests.kernels ARGUMENTS`.

OpenBLAS has a kernel for each kind of processor, and kernels round differently. What
must not depend on the processor passes with each of them.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np  # noqa: F401 - it loads a library, as the next one
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info

# The environment names a kernel to OpenBLAS, and to tests the ones they must not have.
WANTED, NOT = "OPENBLAS_CORETYPE", "EVENHAND_NOT_KERNELS"
# Kernels that every processor of a kind can run; OpenBLAS calls the first one by both.
OLD = {"Prescott", "Katmai"}
OTHERS = {"x86_64": ("Prescott", "Nehalem"), "AMD64": ("Prescott", "Nehalem")}
OTHERS |= {"aarch64": ("ARMV8", "CORTEXA57"), "arm64": ("ARMV8", "CORTEXA57")}


def kernels() -> set[str]:
    """Name the kernels of this process; none without OpenBLAS."""
    return {
        str(one["architecture"]) for one in threadpool_info() if "architecture" in one
    }


def another() -> str | None:
    """Name a kernel that this process does not have; None if there is none."""
    here, choice = kernels(), OTHERS.get(platform.machine())
    if not here or choice is None:
        return None
    return choice[1] if here & (OLD | {choice[0]}) else choice[0]


def require_other_kernel() -> str | None:
    """Say what is wrong if tests must not have the kernels that they have."""
    not_these = set(os.environ.get(NOT, "").split())
    same = not_these & kernels() if not_these else set()
    return (
        f"Tests run with kernel {same} again, not with another one." if same else None
    )


def main() -> int:
    """Run pytest with another kernel."""
    other = another()
    if other is None:
        print("No second kernel: this linear algebra library has one only.")  # noqa: T201 - for make
        return 0
    print(f"Again with kernel {other} in place of {', '.join(kernels())}:", flush=True)  # noqa: T201
    extra = {WANTED: other, NOT: " ".join(kernels())}
    command = [sys.executable, "-m", "pytest", *sys.argv[1:]]
    run = subprocess.run(command, env={**os.environ, **extra}, check=False)  # noqa: S603 - pytest
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())

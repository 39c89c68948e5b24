"""Fits of many ratings are the same to the last bit on any number of threads."""

import os
import subprocess
import sys

FIT = """
import hashlib
import numpy as np
import evenhand as eh

rng = np.random.default_rng(7)
people, items = np.repeat(np.arange(15000), 8), rng.integers(0, 700, (15000, 8))
items = np.sort(items, axis=1) * 8 + np.arange(8)
scores = rng.normal(size=items.size) + rng.normal(size=15000)[people]
ratings = eh.Ratings(people, items.ravel(), scores)
for method in ("adaptive", "additive", "bradley-terry"):
    found = eh.rank(ratings, method=method, rng=7)
    values = np.array([(row.estimate, row.error) for row in found.items], dtype=float)
    print(hashlib.sha256(values.tobytes()).hexdigest())
"""


def hashes(threads: int) -> list[str]:
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", FIT],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.stdout.split()


def test_estimates_have_the_same_bytes_on_one_thread_and_on_two() -> None:
    alone = hashes(1)
    assert len(alone) == 3
    assert hashes(2) == alone

"""Fits agree, whatever number of threads the linear algebra library uses."""

import json
import os
import subprocess
import sys

import pytest

CODE = """
import json, numpy as np
from evenhand.calibration.adaptive import adaptive
from evenhand.ratings import Ratings
rng = np.random.default_rng(5)
items = np.concatenate([rng.permutation(300)[:6] for _ in range(500)])
scores = rng.normal(size=300)[items] + rng.normal(size=3000)
ratings = Ratings(np.repeat(np.arange(500), 6), items, scores)
found = adaptive(ratings).estimates
print(json.dumps([np.argsort(-found).tolist(), found.tolist()]))
"""


def ranked(threads: str) -> tuple[list[int], list[float]]:
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", CODE],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
    )
    order, estimates = json.loads(done.stdout)
    return order, estimates


def test_orders_are_the_same_and_estimates_agree_on_one_thread_and_two() -> None:
    (order, estimates), (again, others) = ranked("1"), ranked("2")
    assert order == again
    assert estimates == pytest.approx(others, rel=1e-9, abs=1e-9)

"""Fits do not depend on the processor: kernels that round differently agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from evenhand.models.additive import MOST, Equations, additive
from evenhand.models.design import build_matrix
from evenhand.ratings import Ratings
from tests import kernels

# Four ratings whose likelihood runs to an edge, and eight that differ by 1e18.
FOUR = (list("aabb"), list("xyyz"), [9, 7, 3, 2])
FAR = (list("aabbccdd"), list("xyyzxzzy"), [1e9, 1, 5, 4, 1e-9, -1e9, 2, 2.5])
# Scores that offsets and values explain without error.
CLEAN = (list("aabbcc"), list("xyyzzx"), [9, 7, 3, 2, 6, 9])

SCRIPT = """
import json, sys
from evenhand.models import additive, adaptive, affine, isotonic
from evenhand.ratings import Ratings
from tests.kernels import kernels
found = []
for rows in json.loads(sys.argv[1]):
    ratings = Ratings(*rows)
    for fit in (additive.additive, affine.affine, adaptive.adaptive, isotonic.isotonic):
        one = fit(ratings)
        assert one.converged
        found.append([one.estimates.tolist(), [] if one.errors is None
                      else one.errors.tolist()])
print(json.dumps([sorted(kernels()), found]))
"""


def answers(kernel: str | None) -> tuple[list[str], list[list[list[float]]]]:
    env = dict(os.environ) | ({kernels.WANTED: kernel} if kernel else {})
    command = [sys.executable, "-c", SCRIPT, json.dumps([FOUR, FAR, CLEAN])]
    run = subprocess.run(command, env=env, check=True, capture_output=True, text=True)  # noqa: S603 - this Python
    names, found = json.loads(run.stdout)
    return names, found


def test_estimates_do_not_depend_on_the_kernel() -> None:
    other = kernels.another()
    if other is None:
        pytest.skip("this linear algebra library has one kernel only")
    (here, found), (there, again) = answers(None), answers(other)
    assert set(here).isdisjoint(there)
    for one, two in zip(found, again, strict=True):
        for values, others in zip(one, two, strict=True):
            assert values == pytest.approx(others, rel=1e-9, abs=1e-9)


def test_a_second_run_with_the_same_kernel_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not kernels.kernels():
        pytest.skip("this linear algebra library has no named kernels")
    monkeypatch.setenv(kernels.NOT, " ".join(kernels.kernels()))
    assert kernels.require_other_kernel() is not None
    monkeypatch.setenv(kernels.NOT, "another")
    assert kernels.require_other_kernel() is None


def test_the_highest_of_several_peaks_is_taken() -> None:
    # By hand: offsets alone explain these better than offsets and values without error.
    fit = additive(Ratings(*FOUR))
    assert fit.variances is not None
    assert fit.variances.item == 0.0
    assert fit.converged
    made = build_matrix(Ratings(*FOUR))
    equations = Equations(made)
    sums = equations.links.add_up(made.scores)
    ratios = equations.fit(made.scores).ratios
    assert ratios is not None
    highest = equations.likelihood(sums, ratios).value[0]
    grid = np.exp(np.linspace(np.log(1e-6), np.log(MOST), 40))
    values = [
        equations.likelihood(sums, np.array([a, b])).value[0]
        for a in grid
        for b in grid
    ]
    assert highest <= min(values) + 1e-9


@pytest.mark.parametrize("last", [[1, 8, 1, 0], [1, 9, 1, 0]])
def test_of_peaks_equally_high_that_with_the_least_reviewers_variance_is_taken(
    last: list[int],
) -> None:
    # Reviewers and items may be exchanged, so each peak has an equal one.
    found = additive(Ratings([0, 1, 2, 2], [2, 1, 0, 2], last)).variances
    assert found is not None
    assert found.reviewer < found.item / 2

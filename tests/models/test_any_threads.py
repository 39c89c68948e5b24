"""Fits agree, whatever number of threads the linear algebra library uses."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from evenhand.models.adaptive import adaptive
from evenhand.ratings import Ratings


def test_orders_are_the_same_and_estimates_agree_on_one_thread_and_two() -> None:
    rng = np.random.default_rng(5)
    items = np.concatenate([rng.permutation(300)[:6] for _ in range(500)])
    scores = rng.normal(size=300)[items] + rng.normal(size=3000)
    ratings = Ratings(np.repeat(np.arange(500), 6), items, scores)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            pools = [one for one in threadpool_info() if one["user_api"] == "blas"]
            assert {one["num_threads"] for one in pools} == {threads}
            found.append(adaptive(ratings).estimates)
    one, two = found
    assert np.argsort(-one).tolist() == np.argsort(-two).tolist()
    assert one == pytest.approx(two, rel=1e-9, abs=1e-9)

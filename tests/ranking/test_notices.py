"""What the reader of a ranking must know about its data."""

import numpy as np
import pytest

from evenhand.diagnosis.check import check
from evenhand.ranking.notices import information_notices
from evenhand.ranking.ranking import rank
from evenhand.ratings import Ratings


def drawn(seed: int, signal: float, *, kind: str = "scores") -> Ratings:
    """Forty items with five or so ratings each, offsets as large as the noise."""
    rng = np.random.default_rng(seed)
    items = np.concatenate([rng.choice(40, 4, replace=False) for _ in range(50)])
    who = np.repeat(np.arange(50), 4)
    values = signal * rng.normal(size=40)
    scores = values[items] + rng.normal(size=50)[who] + rng.normal(size=200)
    if kind == "ranks":
        places = np.concatenate(
            [(-part).argsort().argsort() for part in scores.reshape(50, 4)]
        )
        return Ratings.from_ranks(who.tolist(), items.tolist(), (places + 1).tolist())
    return Ratings(who, items, scores)


@pytest.mark.parametrize("kind", ["scores", "ranks"])
def test_random_ratings_are_said_to_carry_no_information(kind: str) -> None:
    # Said with probability .95 each: fewer than 28 of 40 for one seed in 24 million.
    said = sum(
        any(
            one.code == "no_information"
            for one in information_notices(drawn(seed, 0, kind=kind))
        )
        for seed in range(40)
    )
    assert said >= 28


def test_ratings_with_a_signal_are_not_said_to_carry_none() -> None:
    # Values as large as the noise: the p-value is below 1e-4 for nearly all of these.
    for seed in range(40):
        notices = information_notices(drawn(seed, 1))
        assert all(one.code != "no_information" for one in notices)


def test_check_and_rank_say_it_in_the_same_words() -> None:
    ratings = drawn(1, 0)
    (told,) = [
        one for one in rank(ratings, rng=7).notices if one.code == "no_information"
    ]
    found = check(ratings, rng=7)
    assert found.findings[1] == told
    assert told in found.notices
    assert "carry no detectable information about the items" in told.message


def test_few_ratings_are_not_called_random() -> None:
    ratings = Ratings(list("aabbcc"), list("xyxyxy"), [1, 2, 2, 1, 1, 2])
    assert all(one.code != "no_information" for one in rank(ratings, rng=7).notices)

"""Ties broken by reviewers who had no part in making them.

The exact tests follow every assignment of reviewers to bundles, every noise and every
choice of the tie-break, on Fractions. Reviewer j scores value x with noise e as
scale_j(x + e): nondecreasing in x, and noise that knows nothing of the item.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.claims import Certificate
from evenhand.designs import Balanced
from evenhand.designs.design import Declared
from evenhand.randomness import Chance, outcomes
from evenhand.ranking.claims import ranking_certificate
from evenhand.ranking.methods import Safe, Task
from evenhand.ranking.ranking import rank
from evenhand.ranking.ties import (
    Sheets,
    SplitOrder,
    choose_layers,
    contradictory,
    mean_values,
    split_order,
    split_reviewers,
    weak_order,
)
from evenhand.ratings import Ratings

Bundle = tuple[int, ...]
Scale = Callable[[int], Fraction]
Buckets = tuple[tuple[int, ...], ...]
Law = dict[Buckets, Fraction]
HALF = Fraction(1, 2)
# Values 0, 3, 6 and noise of -2 or 2: neighbours are put the wrong way round at times.
VALUES = (0, 3, 6)
NOISE = (-2, 2)


def smooth(gap: Fraction) -> Fraction:
    share = abs(gap) / (1 + abs(gap))
    return (1 + (share if gap > 0 else -share)) / 2


def step(gap: Fraction) -> Fraction:
    return HALF * (1 + (gap > 0) - (gap < 0))


def noisy(
    bundles: Sequence[Bundle], truth: Sequence[int], scales: Sequence[Scale]
) -> Iterator[dict[int, dict[int, Fraction]]]:
    """Yield the scores of each reviewer under every noise, all equally likely."""
    value = {item: VALUES[len(truth) - 1 - rank] for rank, item in enumerate(truth)}
    slots = sum(map(len, bundles))
    for errors in itertools.product(NOISE, repeat=slots):
        left = iter(errors)
        yield {
            who: {item: scales[who](value[item] + next(left)) for item in bundle}
            for who, bundle in enumerate(bundles)
        }


@functools.cache
def weak_of(marks: tuple[tuple[int, int, int], ...]) -> Buckets:
    reviewers, items, places = zip(*marks, strict=True)
    return weak_order(Ratings(reviewers, items, places, all_items=range(3)))


def weak_law(
    bundles: Sequence[Bundle], truth: Sequence[int], scales: Sequence[Scale]
) -> Law:
    """Return the law of the weak order over the noise of those who make it."""
    law: Law = {}
    worlds = list(noisy(bundles, truth, scales))
    for marks in worlds:
        # Only each reviewer's order counts.
        flat = tuple(
            (who, item, sorted(set(given.values())).index(score))
            for who, given in marks.items()
            for item, score in given.items()
        )
        weak = weak_of(flat)
        law[weak] = law.get(weak, Fraction(0)) + Fraction(1, len(worlds))
    return law


def right(
    bundles: Sequence[Bundle],
    truth: Sequence[int],
    scales: Sequence[Scale],
    tied: Sequence[int],
    firsts: Sequence[Callable[[Fraction], Fraction]],
) -> dict[tuple[int, int], list[Fraction]]:
    """Return the probability that the better of two tied items comes out first.

    The breakers are assigned to their bundles at random, with noise.
    """
    better = sorted(tied, key=truth.index)
    found = {
        pair: [Fraction(0)] * len(firsts) for pair in itertools.combinations(better, 2)
    }
    assigned = list(itertools.permutations(bundles))
    for given_bundles in assigned:
        worlds = list(noisy(given_bundles, truth, scales))
        people = {
            item: [who for who, own in enumerate(given_bundles) if item in own]
            for item in tied
        }
        for marks in worlds:
            sheets = Sheets(people, marks)

            def program(
                chance: Chance, sheets: Sheets = sheets
            ) -> tuple[Fraction, ...]:
                layers = choose_layers(sheets, tied, chance.pick)
                return tuple(mean_values(sheets, tied, layers))

            for values, mass in outcomes(program).items():
                value = dict(zip(tied, values, strict=True))
                weight = mass / len(worlds) / len(assigned)
                for (a, b), sums in found.items():
                    for number, first in enumerate(firsts):
                        sums[number] += weight * first(value[a] - value[b])
    return found


def shifted(offset: int, slope: int, power: int) -> Scale:
    return lambda x: offset + slope * Fraction(x + 3) ** power


def looked_up(table: Sequence[Fraction], x: int) -> Fraction:
    return table[x + 2]


# Reviewers 0 and 1 make the weak order; 2 and 3 break ties, one far above the other.
ADVERSARIES: dict[str, Sequence[Scale]] = {
    "offsets": [shifted(1000 * who, 1, 1) for who in range(4)],
    "slopes": [shifted(-5 * 10**who, 10**who, 1) for who in range(4)],
    "powers": [shifted(50 - 100 * (who % 2), 1, 1 + 2 * who) for who in range(4)],
}
# Every design of four reviewers of two items each, two of them to break ties.
PAIRS = list(itertools.combinations(range(3), 2))
TWO = list(itertools.combinations_with_replacement(PAIRS, 2))
DESIGNS: list[Sequence[Bundle]] = [[*made, *left] for made in TWO for left in TWO]


@functools.cache
def settled(
    adversary: str, number: int, truth: Bundle, tied: Bundle
) -> list[list[Fraction]]:
    """Return the chances of two breakers' bundles, under noise and without."""
    scales = ADVERSARIES[adversary][2:]
    return list(right(TWO[number], truth, scales, tied, (smooth, step)).values())


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_ties_broken_by_the_others_beat_a_lot_exactly_under_noise(
    adversary: str,
) -> None:
    scales = ADVERSARIES[adversary]
    met = 0
    for number, bundles in enumerate(DESIGNS):
        # Other true rankings are these with other names, and so are their designs.
        for truth in ((0, 1, 2), (2, 0, 1)):
            # Given who made the weak order, with which bundles and which noise.
            for weak, mass in weak_law(bundles[:2], truth, scales[:2]).items():
                gain = Fraction(0)
                for bucket in weak:
                    seen = set(itertools.chain(*bundles[2:]))
                    tied = tuple(item for item in bucket if item in seen)
                    if len(tied) < 2:
                        continue
                    for strict, bare in settled(
                        adversary, number % len(TWO), truth, tied
                    ):
                        assert strict > HALF
                        assert bare >= HALF
                        gain += mass * (strict - HALF)
                    met += 1
                assert gain >= 0
    assert met > 10


def test_the_weak_orders_of_these_worlds_do_have_ties_and_contradictions() -> None:
    scales = ADVERSARIES["offsets"]
    law = weak_law([(0, 1), (0, 1)], (0, 1, 2), scales[:2])
    # One reviewer in four puts the worse of two neighbours first: opposite orders with
    # probability 6/16 leave all three items in the middle, none above another.
    assert law == {
        ((0,), (2,), (1,)): Fraction(9, 16),
        ((1,), (2,), (0,)): Fraction(1, 16),
        ((0, 1, 2),): Fraction(6, 16),
    }


def test_scores_that_made_the_tie_may_be_worse_than_a_lot() -> None:
    # Two reviewers contradict each other on items of values 6 and 3; their scale jumps
    # between 4 and 5, which is where noise puts the worse item first. Of the three ways
    # to be right, one outweighs the error of the other reviewer.
    def jump(x: int) -> Fraction:
        return Fraction(x + 100 * (x >= 5))

    first: list[Fraction] = []
    for marks in noisy([(0, 1), (0, 1)], (0, 1, 2), [jump, jump]):
        gaps = [marks[who][0] - marks[who][1] for who in (0, 1)]
        if gaps[0] * gaps[1] < 0:
            first.append(step(sum(gaps, Fraction(0))))
    assert sum(first) / len(first) == Fraction(1, 3)
    # The same two items, tied by others, are safe with reviewers of the same scale.
    ((strict, bare),) = right(
        [(0, 2), (1, 2)], (0, 1, 2), [jump, jump], [0, 1], (smooth, step)
    ).values()
    assert strict > HALF
    assert bare >= HALF


scale = st.lists(
    st.integers(0, 60).map(lambda k: Fraction(k, 7)), min_size=11, max_size=11
).map(sorted)


@settings(max_examples=40)
@given(
    st.permutations(range(3)),
    st.lists(scale, min_size=2, max_size=2),
    st.lists(
        st.lists(st.integers(0, 2), min_size=1, max_size=2, unique=True).map(tuple),
        min_size=2,
        max_size=2,
    ),
)
def test_scales_with_ties_are_never_worse_than_a_lot_either(
    truth: list[int], tables: list[list[Fraction]], bundles: list[Bundle]
) -> None:
    scales = [functools.partial(looked_up, table) for table in tables]
    tied = [item for item in range(3) if any(item in own for own in bundles)]
    if len(tied) < 2:
        return
    for chances in right(bundles, truth, scales, tied, (smooth, step)).values():
        assert min(chances) >= HALF


# The function itself.


def world(
    seed: int,
    n: int = 12,
    m: int = 24,
    load: int = 4,
    kind: str = "same",
    noise: float = 0.6,
) -> tuple[np.ndarray, Ratings]:
    """Draw noisy ratings: bundles in random order to reviewers with scales."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    bundles = [rng.permutation(n)[:load] for _ in range(m)]
    rows: list[tuple[int, int, float]] = []
    for who, bundle in enumerate(bundles):
        plain = values[bundle] + noise * rng.normal(size=load)
        given_scores = {
            "same": plain,
            "disjoint": plain + 100 * who,
            "exponential": np.exp((1 + who % 5) * plain),
            "five": np.clip(np.round(plain + 3), 1, 5),
        }[kind]
        rows += zip([who] * load, bundle.tolist(), given_scores.tolist(), strict=True)
    reviewers, items, scores = zip(*rows, strict=True)
    return values, Ratings(reviewers, items, scores, all_items=range(n))


def gain(values: np.ndarray, found: SplitOrder) -> float:
    """Return the Kendall tau of random tie-breaking less that of the scores."""
    place = np.argsort(found.ties.order)
    total = 0.0
    for bucket in found.weak:
        for a, b in itertools.combinations(bucket, 2):
            wrong = (values[a] > values[b]) != (place[a] < place[b])
            total += 0.5 - wrong
    return total


@pytest.mark.parametrize("kind", ["same", "disjoint", "exponential", "five"])
def test_gains_on_larger_noisy_data_are_never_negative(kind: str) -> None:
    gains = []
    for seed in range(60):
        values, ratings = world(seed, kind=kind, m=12, noise=0.8)
        found = split_order(ratings, seed, near=1.0)
        gains.append(gain(values, found))
    error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains))
    # Five standard errors: a true gain of 0 fails for one seed in 3.5 million.
    assert np.mean(gains) > -5 * error
    if kind == "same":
        assert np.mean(gains) > 3 * error


def test_the_split_looks_at_no_score() -> None:
    _, one = world(1)
    _, other = world(2, kind="exponential")
    first, second = split_order(one, 7), split_order(other, 7)
    assert first.ordered == second.ordered == split_reviewers(24, 7)[0]
    assert first.breakers == second.breakers == split_reviewers(24, 7)[1]
    assert split_order(one, 8).ordered != first.ordered


def test_scores_of_the_breakers_never_move_a_bucket() -> None:
    _, ratings = world(3)
    found = split_order(ratings, 7)
    breaker = np.isin(ratings.reviewer_codes, found.breakers)
    scores = np.where(breaker, -3 * ratings.scores + 5, ratings.scores)
    turned = Ratings(ratings.reviewer_codes, ratings.item_codes, scores)
    assert split_order(turned, 7).weak == found.weak


def test_draws_name_breakers_by_their_own_codes() -> None:
    _, ratings = world(4)
    found = split_order(ratings, 7, near=1.0)
    assert found.ties.draws
    given_scores = {
        (who, item): score
        for who, item, score in zip(
            ratings.reviewer_codes.tolist(),
            ratings.item_codes.tolist(),
            ratings.scores.tolist(),
            strict=True,
        )
    }
    for draw in found.ties.draws:
        crews = draw.reviewers[::2], draw.reviewers[1::2]
        for item, people in zip(draw.items, crews, strict=True):
            assert set(people) <= set(found.breakers)
            assert all((who, item) in given_scores for who in people)


def test_every_item_stays_within_its_bucket() -> None:
    _, ratings = world(5)
    found = split_order(ratings, 7, near=1.0)
    order = found.ties.order.tolist()
    assert sorted(itertools.chain(*found.weak)) == list(range(12))
    start = 0
    for bucket in found.weak:
        assert sorted(order[start : start + len(bucket)]) == list(bucket)
        start += len(bucket)


def test_row_order_does_not_matter() -> None:
    _, ratings = world(6)
    shuffle = np.random.default_rng(1).permutation(ratings.n_ratings)
    again = Ratings(
        ratings.reviewer_codes[shuffle],
        ratings.item_codes[shuffle],
        ratings.scores[shuffle],
    )
    one, other = split_order(ratings, 7), split_order(again, 7)
    assert one.ties.order.tolist() == other.ties.order.tolist()
    assert one.weak == other.weak


def test_items_that_no_breaker_scored_go_to_either_end_of_their_bucket() -> None:
    # Reviewer 0 alone scored item 2; whoever orders, all are one bucket at a wide near.
    ratings = Ratings([0, 0, 1, 1, 2, 2], [0, 2, 0, 1, 0, 1], [1, 2, 3, 1, 4, 2])
    ends = []
    for seed in range(120):
        found = split_order(ratings, seed, share=0.5, near=50.0)
        if 0 in found.breakers:
            continue
        ends.append(found.ties.order.tolist().index(2))
    assert set(ends) == {0, 2}
    # Five standard errors: a fair coin fails for one set of seeds in 1.7 million.
    share = ends.count(0) / len(ends)
    assert abs(share - 0.5) < 5 * math.sqrt(0.25 / len(ends))


@pytest.mark.parametrize(
    ("reviewers", "items", "scores"),
    [
        ([0], [0], [1.0]),
        ([0, 0, 0], [0, 1, 2], [1.0, 3.0, 2.0]),
        ([0, 1, 2, 3], [0, 1, 2, 0], [5.0] * 4),
        ([0, 0, 1, 1], [0, 1, 1, 0], [1e300, -1e300, 1e300, 0.0]),
        (range(50), [*range(5)] * 10, range(50)),
    ],
)
def test_odd_data_are_ordered_all_the_same(
    reviewers: list[int], items: list[int], scores: list[float]
) -> None:
    ratings = Ratings(list(reviewers), items, list(scores))
    found = split_order(ratings, 7)
    assert sorted(found.ties.order.tolist()) == list(range(ratings.n_items))
    assert len(found.breakers) >= 1


def test_a_single_reviewer_breaks_the_ties_of_nobody() -> None:
    ratings = Ratings([0, 0, 0], [0, 1, 2], [1.0, 30.0, 20.0])
    found = split_order(ratings, 7, noise=0)
    assert (found.ordered, found.breakers) == ((), (0,))
    assert found.weak == ((0, 1, 2),)
    assert found.ties.order.tolist() == [1, 2, 0]


def test_shares_are_rounded_and_leave_a_breaker() -> None:
    for n in range(1, 30):
        for share in (0.0, 0.5, 0.8, 0.999):
            first, second = split_reviewers(n, 7, share=share)
            assert len(first) == min(math.floor(share * n + 0.5), n - 1)
            assert sorted(first + second) == list(range(n))


def test_near_values_share_a_bucket_and_far_ones_do_not() -> None:
    part = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [3, 1, 3, 1])
    assert weak_order(part, near=0.0) == ((0,), (1,), (2,))
    assert weak_order(part, near=100.0) == ((0, 1, 2),)


# Whether to split. Two reviewers of eight break ties, with noise of -1, 0 or 1; all
# have one and the same scale. The groups always hold 'a' and 'b' for equal.

WORTH = {"a": 1.1, "b": 1.05, "c": 1.0, "d": -10.0}
MADE = ("ac", "ac", "bc", "bc", "cd", "cd")
OTHERS = ("ac", "bd")


def enumerated(
    method: Safe, *, torn: bool = False, noise: Sequence[int] = (-1, 0, 1)
) -> list[tuple[bool, Certificate, float]]:
    """Rank all data sets that this noise gives, as `rank` does but without intervals.

    The rows say whether reviewers were split, the claim, and the chance that 'a' comes
    out before 'b'. If torn, two more reviewers of the first part put 'c' above both.
    """
    wrong = ("ac", "bc") if torn else ()
    n = len(MADE) + len(wrong) + 2
    people = range(n - 2)
    seed = next(s for s in range(10**4) if split_reviewers(n, s)[0] == tuple(people))
    rows = [(who, item, WORTH[item]) for who, own in enumerate(MADE) for item in own]
    for who, own in enumerate(wrong, len(MADE)):
        rows += [(who, item, WORTH[item] + 2 * (item == "c")) for item in own]
    found = []
    for bundles in itertools.permutations(OTHERS):
        for errors in itertools.product(noise, repeat=4):
            slots = [(n - 2 + k, item) for k, own in enumerate(bundles) for item in own]
            more = [
                (who, item, WORTH[item] + error)
                for (who, item), error in zip(slots, errors, strict=True)
            ]
            ratings = Ratings(*map(list, zip(*rows, *more, strict=True)))
            answer = method.answer(Task(ratings, seed))
            assert answer.ties is not None
            assert answer.parameters is not None
            pairs = {draw.items: draw.p_first for draw in answer.ties.draws}
            chance = pairs.get((0, 1), 1 - pairs.get((1, 0), 0.0))
            claim = ranking_certificate(
                ratings, method, answer, Declared(Balanced()), distinct=True
            )
            found.append(("split" in answer.parameters, claim, chance))
    return found


def certified(found: Sequence[tuple[bool, Certificate, float]]) -> list[float]:
    """Return the probabilities where the result claims anything, given the groups."""
    return [
        chance
        for _, claim, chance in found
        if claim.theorem != "none"
        and claim.conditional == "given the reviewers who made the groups"
    ]


@pytest.mark.parametrize(("noise", "right"), [(5.0, 0.4655), (0.3, 0.2969)])
def test_a_split_after_a_look_at_the_breakers_favours_the_worse_item_and_claims_nothing(
    noise: float, right: float
) -> None:
    found = enumerated(Safe(noise=noise))
    done = [case for case in found if case[0]]
    assert (len(done), len(found)) == (54, 162)
    assert sum(chance for _, _, chance in done) / 54 == pytest.approx(right, abs=5e-5)
    assert certified(found) == []
    assert all(
        "choose safe(split=always) before" in claim.sentence for _, claim, _ in done
    )


@pytest.mark.parametrize(
    ("split", "torn", "noise"), [("always", False, 0.3), ("auto", True, 5.0)]
)
def test_a_split_decided_without_the_breakers_is_right_more_often_than_not(
    split: str, noise: float, *, torn: bool
) -> None:
    found = enumerated(Safe(split=split, noise=noise), torn=torn, noise=(-1, 1))
    assert all(done for done, _, _ in found)
    chances = certified(found)
    assert len(chances) == 32
    assert sum(map(Fraction, chances)) > 16


def test_whether_a_split_is_certified_hangs_on_the_first_part_alone() -> None:
    seen = set()
    for seed in range(15):
        _, ratings = world(seed, n=8, m=10, load=2, noise=0.3)
        ordered, breakers = split_reviewers(10, seed)
        torn = contradictory(ratings, ordered)
        for turn in (1, -1):
            breaking = np.isin(ratings.reviewer_codes, breakers)
            scores = np.where(breaking, turn * ratings.scores, ratings.scores)
            turned = Ratings(ratings.reviewer_codes, ratings.item_codes, scores)
            found = rank(turned, method="safe", design="balanced", rng=seed)
            assert found.certificate is not None
            claims = "safe(split=always)" not in found.certificate.sentence
            assert claims if torn else claims == ("split" not in found.parameters)
            assert not torn or "split" in found.parameters
            seen.add((torn, "split" in found.parameters))
    assert seen == {(True, True), (False, True), (False, False)}

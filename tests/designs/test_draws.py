import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from evenhand import designs
from evenhand.designs import balancing
from evenhand.errors import DesignError, OptionError

Bundles = tuple[tuple[int, ...], ...]
FALSE_ALARM = 1e-6
DEALT = [[2, 3, 4], [0, 1, 2], [0, 1, 4], [0, 2, 3]]


def as_key(assignment: NDArray[np.int64]) -> tuple[object, ...]:
    rows = assignment.tolist()
    return tuple(tuple(row) if isinstance(row, list) else row for row in rows)


def splits(count: int, *firsts: int) -> list[tuple[int, ...]]:
    """All sides of so many units with one of these numbers of second items."""
    every = itertools.product((0, 1), repeat=count)
    return [sides for sides in every if sum(sides) in firsts]


@pytest.mark.parametrize(
    ("design", "people", "expected"),
    [
        ("halves", 6, splits(6, 3)),
        ("halves", 5, splits(5, 2, 3)),
        ("coins", 4, splits(4, *range(5))),
        ("matched", "xyyx", [(a, b, 1 - b, 1 - a) for a in (0, 1) for b in (0, 1)]),
        (
            "panels",
            [7, 7, 8, 9, 7, 4],
            [(a, a, b, c, a, d) for a, b, c, d in splits(4, 2)],
        ),
        ("panels", "abc", splits(3, 1, 2)),
    ],
)
def test_designs_for_two_items_are_uniform_over_their_splits(
    design: str, people: object, expected: list[tuple[int, ...]]
) -> None:
    law = dict.fromkeys(expected, Fraction(1, len(expected)))
    assert designs.law(design, people) == law


@pytest.mark.parametrize(("n_items", "n_reviewers"), [(2, 1), (3, 2), (4, 3), (4, 4)])
def test_pairs_are_uniform_over_ordered_choices_of_distinct_pairs(
    n_items: int, n_reviewers: int
) -> None:
    all_pairs = list(itertools.combinations(range(n_items), 2))
    expected = list(itertools.permutations(all_pairs, n_reviewers))
    law = designs.law("pairs", n_items, n_reviewers)
    assert law == dict.fromkeys(expected, Fraction(1, len(expected)))


def loads(bundles: Bundles, n_items: int) -> list[int]:
    counts = Counter(itertools.chain.from_iterable(bundles))
    return [counts[item] for item in range(n_items)]


@functools.cache
def dealt_law(*sizes: int) -> dict[Bundles, Fraction]:
    return designs.law("balanced", *sizes)


@pytest.mark.parametrize("sizes", [(3, 2, 2), (4, 3, 2), (4, 4, 2), (4, 2, 3)])
def test_balanced_law_is_unchanged_when_items_or_reviewers_change_names(
    sizes: tuple[int, int, int],
) -> None:
    n_items, n_reviewers, _ = sizes
    law = dealt_law(*sizes)
    assert sum(law.values()) == 1
    for names in itertools.permutations(range(n_items)):
        for bundles, mass in law.items():
            renamed = tuple(tuple(sorted(names[i] for i in row)) for row in bundles)
            assert law[renamed] == mass
    for order in itertools.permutations(range(n_reviewers)):
        for bundles, mass in law.items():
            assert law[tuple(bundles[reviewer] for reviewer in order)] == mass


def test_balanced_reaches_every_balanced_assignment() -> None:
    rows = list(itertools.combinations(range(4), 2))
    for n_reviewers in (3, 4):
        feasible = {
            bundles
            for bundles in itertools.product(rows, repeat=n_reviewers)
            if max(loads(bundles, 4)) - min(loads(bundles, 4)) <= 1
        }
        assert set(dealt_law(4, n_reviewers, 2)) == feasible


def test_balanced_is_not_uniform_when_it_says_so() -> None:
    # Two decks of four cards are the same perfect matching one time in three; a uniform
    # choice among the 90 balanced assignments would make it 18 / 90.
    law = dealt_law(4, 4, 2)
    twice = sum(mass for bundles, mass in law.items() if len(set(bundles)) == 2)
    assert twice == Fraction(1, 3)


def fillings(
    sizes: tuple[int, int, int | None, int | None], conflicts: list[tuple[int, int]]
) -> set[Bundles]:
    """List all assignments that keep to loads and conflicts, one by one."""
    n_items, n_reviewers, per_reviewer, per_item = sizes
    rows = [
        row
        for size in range(n_items + 1)
        for row in itertools.combinations(range(n_items), size)
    ]
    found = set()
    for bundles in itertools.product(rows, repeat=n_reviewers):
        taken = [len(row) for row in bundles]
        given_to = loads(bundles, n_items)
        met = {(who, item) for who, row in enumerate(bundles) for item in row}
        if (
            not met & set(conflicts)
            and (per_reviewer is None or set(taken) == {per_reviewer})
            and (per_item is None or set(given_to) == {per_item})
            and max(taken) - min(taken) <= 1
            and max(given_to) - min(given_to) <= 1
        ):
            found.add(bundles)
    return found


@pytest.mark.parametrize(
    ("sizes", "conflicts"),
    [
        ((3, 3, 2, 2), [(0, 0)]),
        ((4, 3, 2, None), [(0, 0), (1, 2)]),
        ((3, 4, None, 2), [(0, 0), (3, 2)]),
        ((4, 4, 1, 1), [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ((4, 4, 2, 2), []),
        ((4, 3, None, 1), [(2, 1)]),
        ((2, 4, None, 3), []),
        ((1, 1, 1, 1), []),
    ],
)
def test_balanced_is_uniform_over_all_that_keeps_to_loads_and_conflicts(
    sizes: tuple[int, int, int | None, int | None], conflicts: list[tuple[int, int]]
) -> None:
    n_items, n_reviewers, per_reviewer, per_item = sizes
    law = designs.law(
        "balanced",
        n_items,
        n_reviewers,
        per_reviewer,
        per_item=per_item,
        conflicts=conflicts,
    )
    feasible = fillings(sizes, conflicts)
    assert law == dict.fromkeys(feasible, Fraction(1, len(feasible)))


def test_per_item_alone_pads_the_shorter_rows() -> None:
    drawn = designs.balanced(4, 3, per_item=1, rng=7)
    assert drawn.shape == (3, 2)
    assert sorted(drawn.ravel().tolist()) == [-1, -1, 0, 1, 2, 3]
    assert drawn[:, 0].min() >= 0


def test_options_leave_the_dealt_assignments_as_they_were() -> None:
    # Drawn before balanced knew of conflicts.
    assert designs.balanced(5, 4, 3, rng=7).tolist() == DEALT


@given(st.data())
def test_balanced_loads_differ_by_at_most_one_and_no_item_repeats(
    data: st.DataObject,
) -> None:
    n_items = data.draw(st.integers(1, 12))
    n_reviewers = data.draw(st.integers(1, 20))
    per_reviewer = data.draw(st.integers(1, n_items))
    seed = data.draw(st.integers(0, 2**32))
    dealt = designs.balanced(n_items, n_reviewers, per_reviewer, rng=seed)
    assert dealt.shape == (n_reviewers, per_reviewer)
    assert bool((np.diff(dealt, axis=1) > 0).all())
    counts = np.bincount(dealt.ravel(), minlength=n_items)
    assert counts.max() - counts.min() <= 1
    assert len(counts) == n_items


DRAWN = [
    (lambda seed: designs.halves(4, rng=seed), designs.law("halves", 4)),
    (lambda seed: designs.halves(3, rng=seed), designs.law("halves", 3)),
    (lambda seed: designs.coins(3, rng=seed), designs.law("coins", 3)),
    (
        lambda seed: designs.matched(list("xyxy"), rng=seed),
        designs.law("matched", list("xyxy")),
    ),
    (
        lambda seed: designs.panels(list("xxyz"), rng=seed),
        designs.law("panels", list("xxyz")),
    ),
    (lambda seed: designs.pairs(3, 2, rng=seed), designs.law("pairs", 3, 2)),
    (
        lambda seed: designs.balanced(3, 2, 2, rng=seed),
        designs.law("balanced", 3, 2, 2),
    ),
    (
        lambda seed: designs.balanced(4, 3, 2, conflicts=[(0, 0), (1, 2)], rng=seed),
        designs.law("balanced", 4, 3, 2, conflicts=[(0, 0), (1, 2)]),
    ),
]


@pytest.mark.parametrize(("draw", "law"), DRAWN)
def test_draws_follow_the_enumerated_law(
    draw: Callable[[int], NDArray[np.int64]],
    law: dict[tuple[object, ...], Fraction],
) -> None:
    draws = math.ceil(100 / min(law.values()))
    counts = Counter(as_key(draw(seed)) for seed in range(draws))
    assert set(counts) <= set(law)
    # Chi-square at its upper 1e-6 quantile; every expected count is at least 100.
    statistic = sum(
        (counts[key] - draws * float(mass)) ** 2 / (draws * float(mass))
        for key, mass in law.items()
    )
    assert statistic < chi2.isf(FALSE_ALARM, len(law) - 1)


@pytest.mark.parametrize(
    "draw",
    [
        lambda seed: designs.halves(50, rng=seed),
        lambda seed: designs.pairs(50, 40, rng=seed),
        lambda seed: designs.balanced(50, 40, 3, rng=seed),
    ],
)
def test_a_seed_repeats_the_draw_and_another_does_not(
    draw: Callable[[int], NDArray[np.int64]],
) -> None:
    assert np.array_equal(draw(7), draw(7))
    assert not np.array_equal(draw(7), draw(8))
    assert not draw(7).flags.writeable


def test_pairs_of_very_many_items_are_drawn_without_listing_them() -> None:
    drawn = designs.pairs(10**9, 1000, rng=7)
    assert len({tuple(row) for row in drawn.tolist()}) == 1000
    assert drawn.min() >= 0
    assert drawn.max() < 10**9
    # A mean of 2,000 codes; off by six standard errors once in five hundred million.
    spread = 10**9 / math.sqrt(12 * 2000)
    assert abs(drawn.mean() - 0.5e9) < 6 * spread


def test_as_many_reviewers_as_pairs_see_every_pair() -> None:
    drawn = {tuple(row) for row in designs.pairs(9, 36, rng=7).tolist()}
    assert drawn == set(itertools.combinations(range(9), 2))


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: designs.pairs(4, 7), r"at most 6, the number of pairs of 4 items"),
        (lambda: designs.pairs(1, 1), r"n_items must be a whole number of at least 2"),
        (
            lambda: designs.balanced(3, 5, 4),
            r"per_reviewer must be a whole number from 1 to 3",
        ),
        (lambda: designs.balanced(3, 5, 0), r"per_reviewer .* from 1 to 3, .*, got 0"),
        (lambda: designs.halves(0), r"n_reviewers must be .* at least 1, got 0"),
        (
            lambda: designs.halves(2.5),  # type: ignore[arg-type]  # on purpose
            r"n_reviewers must be a whole number .* got 2\.5",
        ),
        (lambda: designs.coins(True), r"got True"),  # noqa: FBT003 - on purpose
        (lambda: designs.matched(["x", "x", "y"]), r"two reviewers, got 1 for 'y'"),
        (lambda: designs.matched([1, 1, 1]), r"two reviewers, got 3 for 1"),
        (lambda: designs.matched([]), r"pairs must be a sequence with a label"),
        (lambda: designs.panels([]), r"panel must be a sequence with a label"),
        (lambda: designs.law("pairs", 3, 4), r"at most 3"),
        (lambda: designs.balanced(3, 3), r"per_reviewer or per_item must be given"),
        (
            lambda: designs.balanced(2, 2, 1, conflicts=[(0, 0), (0, 1)]),
            r"reviewer 0 must get 1 item, got only 0 without a conflict",
        ),
        (
            lambda: designs.balanced(2, 2, 1, conflicts=[(0, 2)]),
            r"conflicts must be of .* got \(0, 2\)",
        ),
    ],
)
def test_refuses_a_design_that_cannot_be_drawn(
    draw: Callable[[], object], words: str
) -> None:
    with pytest.raises((DesignError, OptionError), match=words):
        draw()


def test_too_many_assignments_to_count_are_walked_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(balancing, "BUDGET", 0)
    drawn = [designs.balanced(5, 4, 2, conflicts=[], rng=seed) for seed in (1, 1, 2)]
    assert np.array_equal(drawn[0], drawn[1])
    assert sorted(np.bincount(drawn[2].ravel()).tolist()) == [1, 1, 2, 2, 2]
    with pytest.raises(DesignError, match="small enough to count all assignments"):
        designs.law("balanced", 5, 4, 2, conflicts=[])


@pytest.mark.parametrize("labels", [5, [["a"], ["a"]]])
def test_labels_that_are_none_are_refused_in_words(labels: object) -> None:
    with pytest.raises(DesignError, match="pairs must be a sequence with a label"):
        designs.matched(labels)  # type: ignore[arg-type]  # that is the point

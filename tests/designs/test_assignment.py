"""Assignments: drawn again by anyone, the same whatever the order of the lists."""

import itertools
import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from evenhand import Ratings
from evenhand.designs import balancing
from evenhand.designs.assignment import Assignment
from evenhand.designs.balancing import FillingCounts, Grid, fill
from evenhand.designs.drawing import assign, fresh_secret, redraw, seal_of, verify
from evenhand.errors import DesignError, EvenhandError, OptionError, RecordError
from evenhand.randomness import stream

ITEMS = ["p1", "p2", "p3", "p4"]
PEOPLE = ["Anna", "Bo", "Cy", "Di"]
PAIRS = {"Anna": "x", "Bo": "y", "Cy": "x", "Di": "y"}
FALSE_ALARM = 1e-6
SECRET = "5" * 64

DRAWS = [
    lambda **more: assign(ITEMS[:2], PEOPLE, design="halves", **more),
    lambda **more: assign(ITEMS[:2], PEOPLE, design="coins", **more),
    lambda **more: assign(ITEMS[:2], PEOPLE, design="matched", groups=PAIRS, **more),
    lambda **more: assign(ITEMS[:2], PEOPLE, design="panels", groups=PAIRS, **more),
    lambda **more: assign(ITEMS, PEOPLE, design="pairs", **more),
    lambda **more: assign(ITEMS, PEOPLE, design="balanced", per_reviewer=3, **more),
    lambda **more: assign(ITEMS, PEOPLE, design="balanced", per_item=1, **more),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_a_seed_or_a_secret_repeats_the_draw(draw: Callable[..., Assignment]) -> None:
    one = draw(rng=7)
    assert redraw(one, 7) == one
    assert any(draw(rng=seed).rows != one.rows for seed in range(8, 40))
    sealed = draw(secret=SECRET)
    assert redraw(sealed.without_secret(), SECRET) == sealed
    assert sealed.rows == draw(rng=int(SECRET, 16)).rows


@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_the_order_of_items_reviewers_and_conflicts_does_not_matter(
    chance: random.Random,
) -> None:
    conflicts = [("Anna", "p1"), ("Bo", "p1"), ("Di", "p4")]
    drawn = assign(
        ITEMS, PEOPLE, design="balanced", per_reviewer=2, conflicts=conflicts, rng=3
    )
    items, people = ITEMS[:], PEOPLE[:]
    for values in (items, people, conflicts):
        chance.shuffle(values)
    again = assign(
        items, people, design="balanced", per_reviewer=2, conflicts=conflicts, rng=3
    )
    assert again == drawn


def test_labels_of_digits_are_integers_in_numeric_order() -> None:
    drawn = assign(["10", "9"], ["b", "a"], design="halves", rng=1)
    assert drawn.items == (9, 10)
    assert drawn == assign([9, 10], ["a", "b"], design="halves", rng=1)


def test_matched_reviewers_get_different_items_and_panels_the_same() -> None:
    for seed in range(20):
        matched = dict(
            assign(["x", "y"], PEOPLE, design="matched", groups=PAIRS, rng=seed).rows
        )
        assert matched["Anna"] != matched["Cy"]
        assert matched["Bo"] != matched["Di"]
        panels = dict(
            assign(["x", "y"], PEOPLE, design="panels", groups=PAIRS, rng=seed).rows
        )
        assert panels["Anna"] == panels["Cy"] != panels["Bo"] == panels["Di"]


@settings(max_examples=60)
@given(st.data())
def test_loads_and_conflicts_are_kept_to_or_refused(data: st.DataObject) -> None:
    n_items = data.draw(st.integers(1, 6))
    n_reviewers = data.draw(st.integers(1, 6))
    cells = list(itertools.product(range(n_reviewers), range(n_items)))
    conflicts = data.draw(st.lists(st.sampled_from(cells), unique=True, max_size=8))
    side = data.draw(st.sampled_from(["per_reviewer", "per_item"]))
    most = n_items if side == "per_reviewer" else n_reviewers
    number = data.draw(st.integers(1, most))
    try:
        drawn = assign(
            range(n_items),
            range(n_reviewers),
            design="balanced",
            per_reviewer=number if side == "per_reviewer" else None,
            per_item=number if side == "per_item" else None,
            conflicts=conflicts,
            rng=data.draw(st.integers(0, 2**20)),
        )
    except DesignError:
        total = number * (n_reviewers if side == "per_reviewer" else n_items)
        assert not feasible(n_items, n_reviewers, conflicts, total, side)
        return
    assert len(set(drawn.rows)) == len(drawn.rows)
    assert not set(conflicts) & set(drawn.rows)
    of_reviewers = Counter(reviewer for reviewer, _ in drawn.rows)
    of_items = Counter(item for _, item in drawn.rows)
    even = [of_reviewers[who] for who in range(n_reviewers)]
    near = [of_items[what] for what in range(n_items)]
    if side == "per_item":
        even, near = near, even
    assert set(even) == {number}
    assert max(near) - min(near) <= 1


def feasible(
    n_items: int, n_reviewers: int, conflicts: list[tuple[int, int]], n: int, side: str
) -> bool:
    """By Hall's condition for flows with bounds, over every set of either side."""
    barred = set(conflicts)
    rows, columns = n_reviewers, n_items
    if side == "per_item":
        rows, columns = columns, rows
        barred = {(item, reviewer) for reviewer, item in barred}
    each = n // rows
    low, high = n // columns, -(-n // columns)
    for size in range(rows + 1):
        for some in itertools.combinations(range(rows), size):
            free = [sum((r, c) not in barred for r in some) for c in range(columns)]
            rest = [
                sum((r, c) not in barred for r in range(rows) if r not in some)
                for c in range(columns)
            ]
            # Demand of some rows within the columns' room; demand of the columns
            # within what all rows can give.
            if each * size > sum(min(high, number) for number in free):
                return False
            lack = sum(max(0, low - number) for number in rest)
            if lack > each * size:
                return False
    return True


def test_every_feasible_assignment_with_conflicts_is_equally_likely() -> None:
    conflicts = [("Anna", "p1"), ("Bo", "p2")]
    drawn = Counter(
        assign(
            ITEMS[:3],
            PEOPLE[:3],
            design="balanced",
            per_reviewer=1,
            conflicts=conflicts,
            rng=seed,
        ).rows
        for seed in range(300)
    )
    # Of the six ways, three keep to both conflicts.
    assert len(drawn) == 3
    # Chi-square at its upper 1e-6 quantile; each is expected 100 times.
    statistic = sum((count - 100) ** 2 / 100 for count in drawn.values())
    assert statistic < chi2.isf(FALSE_ALARM, 2)


WALKS = [
    (3, 3, 1, None, [(0, 0), (1, 1), (2, 2)]),
    (4, 4, 1, None, [(i, i) for i in range(4)]),
    (4, 3, 2, None, [(0, 0), (1, 2)]),
    (3, 4, None, 2, [(0, 0), (3, 2)]),
    (4, 4, 2, 2, []),
]


@pytest.mark.parametrize("case", WALKS)
def test_the_walk_reaches_every_assignment_about_equally_often(
    case: tuple[int, int, int | None, int | None, list[tuple[int, int]]],
) -> None:
    grid = Grid.of(*case)
    start, counts = fill(grid), FillingCounts(grid)
    assert counts.count()
    number = sum(counts.ways[0].values())
    draws = 20 * number
    seen = Counter(
        balancing.walk(grid, start, stream(seed, "walk")) for seed in range(draws)
    )
    assert len(seen) == number
    # Chi-square at its upper 1e-6 quantile; each is expected 20 times.
    statistic = sum((count - 20) ** 2 / 20 for count in seen.values())
    assert statistic < chi2.isf(FALSE_ALARM, number - 1)


def test_a_lap_that_gets_too_long_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balancing, "BLOCK", 1 - 64 * 5)
    grid = Grid.of(5, 5, 2, None, ())
    start = fill(grid)
    held = [set(row) for row in start]
    holders = [[r for r, row in enumerate(start) if c in row] for c in range(5)]
    before = [sorted(column) for column in holders]
    # Opens column 0 at its first reviewer, then takes column 4, and that is all.
    first = holders[0][0]
    taken = next(c for c in range(1, 5) if c not in held[first])
    chances = iter([0.0, 0.0, (taken + 0.5) / 5, 0.0])
    balancing._lap(grid, held, holders, chances)  # noqa: SLF001 - the one step
    assert tuple(tuple(sorted(row)) for row in held) == start
    assert [sorted(column) for column in holders] == before


def test_too_many_assignments_to_count_are_said_not_to_be_exactly_uniform(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(balancing, "BUDGET", 0)
    drawn = assign(range(9), range(6), design="balanced", per_reviewer=3, rng=1)
    assert not drawn.uniform
    assert "nearly, but not exactly" in drawn.law
    assert "favoured by its name" in drawn.law
    assert set(Counter(item for _, item in drawn.rows).values()) == {2}
    bound = assign(
        range(9), range(6), design="balanced", per_item=3, conflicts=[(0, 0)], rng=1
    )
    assert "nearly" in bound.law
    assert "favoured" not in bound.law
    assert (0, 0) not in bound.rows
    assert set(Counter(item for _, item in bound.rows).values()) == {3}


def test_a_small_assignment_is_exactly_uniform_and_says_so() -> None:
    drawn = assign(ITEMS, PEOPLE, design="balanced", per_reviewer=2, rng=1)
    assert drawn.uniform
    assert drawn.law == "Every feasible assignment was equally likely."


INFEASIBLE = [
    (
        {"per_reviewer": 2, "conflicts": [("Bo", p) for p in ITEMS[:3]]},
        "reviewer 'Bo' must get 2 items, got only 1 without a conflict",
    ),
    (
        {"per_item": 2, "conflicts": [(who, "p3") for who in PEOPLE[:3]]},
        "item 'p3' must get 2 reviewers, got only 1 without a conflict",
    ),
    (
        {
            "per_reviewer": 1,
            "conflicts": [(w, p) for w in ("Anna", "Bo", "Cy") for p in ("p1", "p2")],
        },
        "Conflicts leave too few items for the reviewers 'Anna', 'Bo', 'Cy' together.",
    ),
    (
        {
            "per_item": 1,
            "conflicts": [(w, p) for w in ("Anna", "Bo") for p in ("p1", "p2", "p3")],
        },
        "Conflicts leave too few reviewers for the items 'p1', 'p2', 'p3' together.",
    ),
    (
        {"per_reviewer": 2, "per_item": 3},
        "4 reviewers x 2 = 8 places for 4 items x 3 = 12 reviews",
    ),
    (
        {"per_reviewer": 5},
        "per_reviewer must be a whole number from 1 to 4, the number of items, got 5",
    ),
    (
        {"per_item": 5},
        "per_item must be a whole number from 1 to 4, that of reviewers, got 5",
    ),
    ({}, "per_reviewer or per_item must be given, got neither"),
    (
        {"per_reviewer": 0},
        "per_reviewer must be a whole number from 1 to 4, the number",
    ),
    (
        {"per_reviewer": 2, "conflicts": [("anna", "p1")]},
        "unknown reviewer 'anna', did you mean 'Anna'?",
    ),
    ({"per_reviewer": 2, "conflicts": [("Bo", "p9")]}, "unknown item 'p9'"),
    ({"per_reviewer": 2, "conflicts": ["Bo"]}, "pairs of a reviewer and an item"),
]


@pytest.mark.parametrize(("options", "words"), INFEASIBLE)
def test_what_cannot_be_met_is_named(options: dict[str, object], words: str) -> None:
    with pytest.raises((DesignError, OptionError)) as error:
        assign(ITEMS, PEOPLE, design="balanced", **options)  # type: ignore[arg-type]  # any
    assert words in str(error.value)


def test_too_few_reviewers_for_the_least_load_of_some_items_are_named() -> None:
    # Six reviewers take one of five items each: every item gets one review or two.
    conflicts = [(who, what) for who in "abef" for what in ("p1", "p2", "p3")]
    with pytest.raises(DesignError) as error:
        assign(
            ["p1", "p2", "p3", "p4", "p5"],
            list("abcdef"),
            design="balanced",
            per_reviewer=1,
            conflicts=conflicts,
        )
    assert str(error.value).startswith(
        "Conflicts leave too few reviewers for the items 'p1', 'p2', 'p3' together."
    )


REFUSED = [
    (lambda: assign(ITEMS, PEOPLE, design="halfs"), "did you mean 'halves'?"),
    (lambda: assign(ITEMS, PEOPLE, design="halves"), "items must be two .* got 4"),
    (
        lambda: assign(ITEMS, PEOPLE, design="pairs", per_item=2),
        "per_item must be left out for design 'pairs', got 2",
    ),
    (
        lambda: assign(ITEMS, PEOPLE, design="pairs", groups=PAIRS),
        "groups must be left out for design 'pairs'",
    ),
    (
        lambda: assign(ITEMS, PEOPLE, design="pairs", conflicts=[("Bo", "p1")]),
        "It belongs to 'balanced'",
    ),
    (
        lambda: assign(ITEMS[:2], PEOPLE, design="matched"),
        "groups must name the pair of each reviewer, got none for 'Anna'",
    ),
    (
        lambda: assign(ITEMS[:2], PEOPLE, design="panels", groups={"Bo": 1}),
        "groups must name the panel of each reviewer, got none for 'Anna'",
    ),
    (
        lambda: assign(
            ITEMS[:2], PEOPLE, design="panels", groups={"Eve": "x", **PAIRS}
        ),
        "unknown reviewer 'Eve'",
    ),
    (
        lambda: assign(
            ITEMS[:2], PEOPLE, design="matched", groups={**PAIRS, "Di": "z"}
        ),
        "two reviewers, got 1 for",
    ),
    (lambda: assign(["x", "x"], PEOPLE, design="pairs"), "different, got 'x' twice"),
    (lambda: assign([], PEOPLE, design="pairs"), "items must hold at least one label"),
    (lambda: assign(["x", ""], PEOPLE, design="pairs"), "item must be given"),
    (lambda: assign(ITEMS[:3], PEOPLE, design="pairs"), "at most 3"),
    (
        lambda: assign(ITEMS, PEOPLE, design="pairs", rng=1, secret=SECRET),
        "rng must be left out when a secret is given",
    ),
    (
        lambda: assign(ITEMS, PEOPLE, design="pairs", secret=SECRET[1:]),
        "secret must be 64 hexadecimal digits",
    ),
    (
        lambda: assign(ITEMS, PEOPLE, design="pairs").without_secret(),
        "drawn with a secret",
    ),
]


@pytest.mark.parametrize(("draw", "words"), REFUSED)
def test_refuses_in_words(draw: Callable[[], object], words: str) -> None:
    with pytest.raises(EvenhandError, match=words):
        draw()


def test_a_secret_is_never_shown_in_an_error() -> None:
    almost = "a" * 63
    with pytest.raises(OptionError) as error:
        seal_of(almost)
    assert almost not in str(error.value)


def test_the_seal_is_the_hash_that_the_design_states() -> None:
    # printf 'evenhand.seal/1:000...0' | sha256sum
    digest = "45bc2e65"
    assert seal_of("0" * 64).startswith(digest)
    assert len({fresh_secret() for _ in range(100)}) == 100


def test_only_the_sealed_secret_verifies() -> None:
    drawn = assign(ITEMS, PEOPLE, design="pairs", secret=SECRET)
    sealed = drawn.without_secret()
    assert not drawn.fits_seal
    assert sealed.seed is None
    assert SECRET not in str(sealed.to_dict())
    assert verify(sealed, SECRET, seal_of(SECRET)).fits_seal
    with pytest.raises(RecordError, match="must fit the seal"):
        verify(sealed, "6" * 64, seal_of(SECRET))
    with pytest.raises(RecordError, match="must fit the seal"):
        verify(sealed, "6" * 64, seal_of("6" * 64))


def test_an_assignment_that_the_secret_does_not_draw_is_not_verified() -> None:
    open_one = assign(ITEMS, PEOPLE, design="pairs", rng=1)
    with pytest.raises(RecordError, match="must be what its seed draws"):
        verify(open_one, SECRET, seal_of(SECRET))


def rated(drawn: Assignment, keep: int) -> Ratings:
    rows = drawn.rows[:keep]
    return Ratings([r for r, _ in rows], [i for _, i in rows], range(len(rows)))


def test_ratings_hold_to_the_assignment_or_are_named() -> None:
    drawn = assign(ITEMS, PEOPLE, design="balanced", per_reviewer=2, rng=5)
    assert not drawn.strays(rated(drawn, 8))
    assert drawn.missing(rated(drawn, 6)) == drawn.rows[6:]
    free = next(
        cell for cell in itertools.product(PEOPLE, ITEMS) if cell not in set(drawn.rows)
    )
    stray = Ratings([free[0]], [free[1]], [1])
    assert drawn.strays(stray) == (free,)
    assert drawn.strays(stray, items=["other"]) == ()
    with pytest.raises(DesignError, match=f"item '{free[1]}' by reviewer '{free[0]}'"):
        drawn.require(stray)
    drawn.require(rated(drawn, 8))


def test_plain_comparisons_cannot_be_held_against_an_assignment() -> None:
    drawn = assign(ITEMS, PEOPLE, design="pairs", rng=5)
    with pytest.raises(DesignError, match="got comparisons"):
        drawn.strays(Ratings.from_comparisons(["p1"], ["p2"]))


def test_a_label_kept_from_running_as_a_formula_is_still_the_same_label() -> None:
    drawn = assign(["=x", "y"], ["@anna"], design="coins", rng=1)
    label = str(drawn.rows[0][1])
    written = f"'{label}" if label == "=x" else label
    assert not drawn.strays(Ratings(["'@anna"], [written], [1]))
    assert drawn.strays(Ratings(["''@anna"], [written], [1]))


def test_an_assignment_prints_its_first_reviewers() -> None:
    people = [f"<b>{number}" for number in range(25)]
    drawn = assign(["x", "y"], people, design="halves", rng=1)
    assert "and 5 more" in repr(drawn)
    assert "25 reviews of 2 items by 25 reviewers, design halves, seed 1" in repr(drawn)
    assert "sealed seed" in repr(
        assign(["x", "y"], ["a"], design="coins", secret=SECRET)
    )


def test_the_enumerated_law_counts_fillings_exactly() -> None:
    # Derangements of five: 44; with each row taking two of four columns, 90.
    found = FillingCounts(Grid.of(5, 5, 1, None, [(row, row) for row in range(5)]))
    plain = FillingCounts(Grid.of(4, 4, 2, None, ()))
    assert found.count()
    assert plain.count()
    assert list(found.ways[0].values()) == [44]
    assert list(plain.ways[0].values()) == [90]

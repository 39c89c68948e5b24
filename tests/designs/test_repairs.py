"""Which repairs keep the law that the guarantees need: by exact enumeration.

The ranking theorems need that, given the sets of items that are reviewed, swapping two
reviewers leaves the law of the assignment as it is. Every choice of the draw and of the
amendment is followed, on the code that draws, with probabilities as fractions.
"""

import functools
import itertools
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import DesignError, OptionError, Ratings, assign, designs
from evenhand.claims import Label
from evenhand.designs.assignment import Amendment, Assignment
from evenhand.designs.drawing import apply_amendment, hand_out, redraw, seal_of, verify
from evenhand.randomness import Chance, outcomes, stream
from evenhand.randomness import Drawn as FromStream

Bundles = dict[Label, frozenset[Label]]
Law = dict[frozenset[tuple[Label, frozenset[Label]]], Fraction]
SECRET = "3c" * 32
ITEMS = [0, 1, 2, 3]
PEOPLE = ["a", "b", "c"]
Leaves = Callable[[Bundles], tuple[tuple[Label, ...], dict[str, object]]]


def drawn(bundles: tuple[tuple[int, ...], ...]) -> Assignment:
    base = assign(ITEMS, PEOPLE, design="balanced", per_reviewer=2, rng=1)
    rows = [(who, i) for who, own in zip(PEOPLE, bundles, strict=True) for i in own]
    return Assignment(
        **{
            **{name: getattr(base, name) for name in base.__slots__},
            "rows": tuple(rows),
        }
    )


def bundles_of(assignment: Assignment) -> Bundles:
    found: dict[Label, set[Label]] = defaultdict(set)
    for who, item in assignment.rows:
        found[who].add(item)
    return {who: frozenset(own) for who, own in found.items()}


def law_after(leaves: Leaves) -> Law:
    """Enumerate draw and amendment; who leaves is a function of who got what."""
    law: Law = defaultdict(Fraction)
    for bundles, p in designs.law(
        "balanced", 4, 3, 2, per_item=None, conflicts=()
    ).items():
        first = drawn(bundles)
        drop, more = leaves(bundles_of(first))

        def program(
            chance: Chance,
            first: Assignment = first,
            drop: tuple[Label, ...] = drop,
            more: dict[str, object] = more,
        ) -> frozenset[tuple[Label, frozenset[Label]]]:
            after = first
            if drop:
                after = apply_amendment(Amendment(first, drop, **more), chance)  # type: ignore[arg-type]  # its options
            return frozenset(bundles_of(after).items())

        for result, share in outcomes(program).items():
            law[result] += p * share
    assert sum(law.values()) == 1
    return law


def broken_swaps(law: Law, among: str) -> int:
    """Count assignments and pairs of reviewers whose swap changes the probability."""
    broken = 0
    for result, p in law.items():
        bundles = dict(result)
        for one, other in itertools.combinations(sorted(among), 2):
            if one in bundles and other in bundles:
                swap = {**bundles, one: bundles[other], other: bundles[one]}
                broken += law.get(frozenset(swap.items()), 0) != p
    return broken


def always(*drop: Label, **more: object) -> Leaves:
    return lambda _: (drop, more)


def over_an_item(who: Label, item: Label, **more: object) -> Leaves:
    return lambda bundles: ((who,) if item in bundles[who] else (), more)


KEEPING = {
    "nobody takes over": (always("a", leave_open=True), "bc"),
    "one steps in": (always("a", add=("s",)), "bcs"),
    "two step in for two": (always("a", "b", add=("s", "t")), "cst"),
    "one steps in for one of two": (
        always("a", "b", add=("s",), leave_open=True),
        "cs",
    ),
    "those who stay take over": (always("a"), "bc"),
    "two who stay and one who steps in take over": (always("a", "b", add=("s",)), "cs"),
}
BREAKING = {
    "nobody takes over from one who left over an item": (
        over_an_item("a", 0, leave_open=True),
        "abc",
    ),
    "one steps in for one who left over an item": (
        over_an_item("a", 0, add=("s",)),
        "bcs",
    ),
    "those who stay take over from one who left over an item": (
        over_an_item("a", 0),
        "abc",
    ),
}


@functools.cache
def law_of(repair: str) -> Law:
    return law_after({**KEEPING, **BREAKING}[repair][0])


@pytest.mark.parametrize("repair", KEEPING)
def test_a_repair_that_is_said_to_keep_the_guarantee_leaves_the_law(
    repair: str,
) -> None:
    assert broken_swaps(law_of(repair), KEEPING[repair][1]) == 0


@pytest.mark.parametrize("repair", BREAKING)
def test_who_leaves_over_an_item_breaks_the_law(repair: str) -> None:
    assert broken_swaps(law_of(repair), BREAKING[repair][1]) > 0


def chances_to_be_right(law: Law, bias: dict[Label, int]) -> list[Fraction]:
    """Return how often a biased coin puts the better item 0 above item 1.

    Given the sets of items that were reviewed, one set with item 0 and another with
    item 1 are taken, whoever reviewed them. Reviewers add their bias to the value, 1 or
    0, and the coin is the paper's: (1 + gap / (1 + gap)) / 2 for the higher score.
    """
    right: dict[tuple[frozenset[Label], ...], Fraction] = defaultdict(Fraction)
    total: dict[tuple[frozenset[Label], ...], Fraction] = defaultdict(Fraction)
    for result, p in law.items():
        held = sorted(result, key=lambda pair: sorted(pair[1]))
        family = tuple(own for _, own in held)
        whose = [
            (x, y)
            for x, y in itertools.permutations(held, 2)
            if 0 in x[1] and 1 in y[1]
        ]
        # The choice looks at sets, not at names, so equal sets are all taken.
        wanted = [
            (x, y) for x, y in whose if (x[1], y[1]) == (whose[0][0][1], whose[0][1][1])
        ]
        for (one, _), (other, _) in wanted:
            gap = 1 + bias[one] - bias[other]
            share = Fraction(abs(gap), 1 + abs(gap)) * (1 if gap > 0 else -1)
            right[family] += p * (1 + share) / 2 / len(wanted)
            total[family] += p / len(wanted)
    return [right[family] / total[family] for family in right]


BIASES: list[dict[Label, int]] = [
    dict(zip("abcst", biases, strict=True))
    for biases in [
        (0, 0, 0, 0, 0),
        (-9, 9, 0, 3, -7),
        (9, -9, 50, 0, 4),
        (5, -100, 7, 7, 0),
    ]
]


@pytest.mark.parametrize("repair", KEEPING)
def test_the_coin_stays_above_one_half_after_a_repair_whatever_the_biases(
    repair: str,
) -> None:
    law = law_of(repair)
    for bias in BIASES:
        chances = chances_to_be_right(law, bias)
        assert chances
        assert min(chances) > Fraction(1, 2)


def test_the_coin_is_worse_than_fair_where_one_left_over_an_item() -> None:
    for law in map(law_of, BREAKING):
        lowest = min(min(chances_to_be_right(law, bias)) for bias in BIASES)
        assert lowest < Fraction(1, 2)


def test_an_open_review_goes_to_one_who_has_not_the_item() -> None:
    held: dict[Label, set[Label]] = {"a": {1, 2}, "b": {2, 3}, "c": {1, 3}}
    law = outcomes(lambda chance: tuple(sorted(hand_out([1, 2, 3], held, chance))))
    assert set(law) == {(("a", 3), ("b", 1), ("c", 2))}
    with pytest.raises(DesignError, match=r"Nobody who stays can take 1: all have it"):
        hand_out([1], {"a": {1}}, FromStream(stream(7, "x")))


@given(st.data())
def test_open_reviews_are_spread_evenly_and_never_twice(data: st.DataObject) -> None:
    people = data.draw(st.integers(4, 9))
    load = data.draw(st.integers(1, 3))
    first = assign(
        range(6),
        range(people),
        design="balanced",
        per_reviewer=load,
        rng=data.draw(st.integers(0, 99)),
    )
    drop = data.draw(st.lists(st.integers(0, people - 1), min_size=1, max_size=2))
    after = first.amend(drop)
    assert len(set(after.rows)) == len(after.rows) == len(first.rows)
    stay = {row for row in first.rows if row[0] not in drop}
    assert stay <= set(after.rows)
    assert {who for who, _ in after.rows}.isdisjoint(drop)
    assert sorted(item for _, item in after.rows) == sorted(i for _, i in first.rows)


def test_an_amendment_follows_from_the_secret_and_the_seal_covers_it() -> None:
    first = assign(ITEMS, PEOPLE, design="balanced", per_reviewer=2, secret=SECRET)
    once = first.without_secret().amend(["b"], secret=SECRET)
    twice = once.amend(["a"], add=["z"], leave_open=True)
    assert once == first.amend(["b"])
    assert once.rows != first.rows
    assert twice.leavers == ("b", "a")
    assert len(twice.chain) == 3
    for one in (once, twice):
        assert redraw(one, SECRET) == one
        assert verify(one.without_secret(), SECRET, seal_of(SECRET)).fits_seal
        assert one.without_secret().amends.before.seed is None  # type: ignore[union-attr]  # amended
    with pytest.raises(OptionError, match=r"secret must be given: the assignment is s"):
        first.without_secret().amend(["b"])


def test_what_was_done_stays_and_nobody_steps_in_for_the_rest() -> None:
    first = assign(range(6), list("abcd"), design="balanced", per_reviewer=3, rng=3)
    own = [item for who, item in first.rows if who == "b"]
    done = Ratings(["b"], [own[0]], [5])
    after = first.amend(["b"], done=done)
    assert [item for who, item in after.rows if who == "b"] == own[:1]
    assert after.halfway_leavers == ("b",)
    assert after.reviewers == ("a", "b", "c", "d")
    assert "left out (--exclude): 'b'." in after.effect()
    with pytest.raises(OptionError, match=r"add must name at most 0, one for each who"):
        first.amend(["b"], done=done, add=["z"])


def test_nobody_who_left_halfway_gets_more_to_do_later() -> None:
    first = assign(range(6), list("abcd"), design="balanced", per_reviewer=3, rng=3)
    own = [item for who, item in first.rows if who == "b"]
    once = first.amend(["b"], done=Ratings(["b"], [own[0]], [5]), leave_open=True)
    twice = once.amend(["c"])
    assert [row for row in twice.rows if row[0] == "b"] == [("b", own[0])]
    assert twice.present == ("a", "d")
    with pytest.raises(OptionError, match=r"unknown reviewer 'b'"):
        once.amend(["b"])


def test_one_who_steps_in_takes_the_place_in_a_pair() -> None:
    pairs = {"a": "x", "b": "x", "c": "y", "d": "y"}
    first = assign([1, 2], list("abcd"), design="matched", groups=pairs, rng=5)
    after = first.amend(["b"], add=["z"])
    assert dict(after.groups or ()) == {"a": "x", "c": "y", "d": "y", "z": "x"}
    assert dict(after.rows)["z"] == dict(first.rows)["b"]
    gone = first.amend(["b"])
    assert set(gone.rows) == {row for row in first.rows if row[0] != "b"}
    assert "on average over the assignment" in gone.effect()


def test_names_of_an_amendment_are_checked() -> None:
    first = assign(ITEMS, ["1", "2", "3"], design="balanced", per_reviewer=2, rng=1)
    assert first.amend(["2"]).leavers == (2,)
    assert first.amend([2], add=["Lee"]).reviewers == ("1", "3", "Lee")
    for names, words in (
        (["4"], r"unknown reviewer '4'"),
        ([], r"drop must name at least one reviewer and leave at least one"),
        ([1, 2, 3], r"drop must name at least one reviewer and leave at least one"),
    ):
        with pytest.raises(OptionError, match=words):
            first.amend(names)
    with pytest.raises(OptionError, match=r"add must name new reviewers, got 3"):
        first.amend([2], add=["3"])
    with pytest.raises(
        OptionError, match=r"drop must be a sequence of names of reviewers, got 2"
    ):
        first.amend(2)  # type: ignore[arg-type]  # wrong
    assert first.amend("2").leavers == (2,)


def test_pairs_keep_their_guarantee_only_whole() -> None:
    assert len(designs.law("pairs", 4, 3)) == 120
    first = assign(ITEMS, PEOPLE, design="pairs", rng=3)
    assert first.amend(["a"]).effect().startswith("No guarantee is left")
    assert (
        first.amend(["a"], leave_open=True).effect().startswith("The guarantee stays")
    )

"""Exact enumeration: which repairs leave the law of the assignment unchanged.

Every draw of 4 items to 3 reviewers, every order of 2 reserves; who leaves is a
function of who got what. The ranking theorems need that swapping two people leaves the
probability of each assignment as it is, so the swaps that change it are counted.
"""

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

import pytest

from evenhand import Ratings, designs, rank
from evenhand.designs.assignment import Assignment
from evenhand.designs.drawing import assign, reserve_order, shuffle, verify
from evenhand.errors import OptionError
from evenhand.randomness import outcomes
from evenhand.web.absence import REPAIRS, price, repair, unfinished_price
from tests.designs.test_repairs import Law, broken_swaps, bundles_of, drawn

PEOPLE, RESERVES = "abc", "rs"
Leaves = Callable[[Assignment], tuple[str, ...]]


def nobody(_: Assignment) -> tuple[str, ...]:
    return ()


def always(*who: str) -> Leaves:
    return lambda _: who


def over_an_item(who: str, item: int) -> Leaves:
    return lambda one: (who,) if (who, item) in one.rows else ()


def whoever_saw(bundle: frozenset[int]) -> Leaves:
    return lambda one: tuple(
        str(who) for who, own in bundles_of(one).items() if own == bundle
    )


def law_of(leaves: Leaves, kind: str) -> Law:
    law: Law = defaultdict(Fraction)
    orders = outcomes(lambda chance: tuple(shuffle(RESERVES, chance)))
    # Where nobody steps in, the order of reserves does not matter.
    orders = orders if kind == "reserve" else {tuple(RESERVES): Fraction(1)}
    for bundles, p in designs.law("balanced", 4, 3, 2, None, ()).items():
        first = drawn(bundles)
        for order, share in orders.items():
            now = first
            for who, reserve in zip(leaves(first), order, strict=False):
                now = repair(now, kind, [who], reserve if kind == "reserve" else None)
            law[frozenset(bundles_of(now).items())] += p * share
    assert sum(law.values()) == 1
    return law


KEEPING: dict[str, tuple[Leaves, str]] = {
    "one never began, left out": (always("a"), "absent"),
    "two never began, left out": (always("a", "b"), "absent"),
    "one never began, next reserve": (always("a"), "reserve"),
    "two never began, next reserves": (always("a", "b"), "reserve"),
}
BREAKING: dict[str, tuple[Leaves, str]] = {
    "one leaves over an item, left out": (over_an_item("a", 0), "absent"),
    "one leaves over an item, next reserve": (over_an_item("a", 0), "reserve"),
    "whoever saw a bundle leaves, next reserve": (
        whoever_saw(frozenset({0, 1})),
        "reserve",
    ),
}


@pytest.mark.parametrize("case", KEEPING)
def test_repairs_of_who_never_began_change_no_law(case: str) -> None:
    law = law_of(*KEEPING[case])
    assert broken_swaps(law, PEOPLE + RESERVES) == 0


@pytest.mark.parametrize("case", BREAKING)
def test_a_planted_fault_is_found_leaving_after_begin(case: str) -> None:
    law = law_of(*BREAKING[case])
    assert broken_swaps(law, PEOPLE + RESERVES) > 0


def test_a_reserve_that_somebody_chooses_is_not_in_turn() -> None:
    """Had the organiser picked the reserve by the bundle, the law would change."""
    law: Law = defaultdict(Fraction)
    for bundles, p in designs.law(
        "balanced", 4, 3, 2, per_item=None, conflicts=()
    ).items():
        first = drawn(bundles)
        chosen = "r" if ("a", 0) in first.rows else "s"
        after = repair(first, "substitute", ["a"], chosen)
        law[frozenset(bundles_of(after).items())] += p
    assert broken_swaps(law, PEOPLE + RESERVES) > 0


SECRET = "3c" * 32


def certificate(kind: str, stands_in: str | None) -> tuple[str, str]:
    first = assign(
        range(6), list("abcd"), design="balanced", per_reviewer=3, secret=SECRET
    )
    after = repair(first.without_secret(), kind, ["b"], stands_in, secret=SECRET)
    known = verify(after.without_secret(), SECRET, first.seal)
    people = [str(who) for who, _ in known.rows]
    items = [item for _, item in known.rows]
    ratings = Ratings(people, items, [float(item) for item in items])
    found = rank(ratings, method="topological", assignment=known, distinct=True, rng=1)
    assert found.certificate is not None
    return " ".join(found.certificate.texts("checked")), " ".join(
        found.certificate.texts("declared")
    )


@pytest.mark.parametrize(
    ("kind", "stands_in"), [("absent", None), ("reserve", "z"), ("substitute", "z")]
)
def test_that_nobody_was_kept_away_is_declared_not_checked(
    kind: str, stands_in: str | None
) -> None:
    """Links may be withheld from those whose items do not suit: no log shows that."""
    checked, declared = certificate(kind, stands_in)
    assert "random assignment (balanced): verified" in checked
    assert "left" not in checked
    assert "1 reviewer left for reasons that have nothing to do with items" in declared
    assert "before seeing theirs, as the organiser declares" in declared
    called = "1 substitute called in without regard to items"
    assert (called in declared) is (stands_in is not None)


def test_a_record_keeps_that_they_had_not_seen_their_items() -> None:
    first = assign(range(6), list("abcd"), design="balanced", per_reviewer=3, rng=3)
    plain = first.amend(["b"], leave_open=True).to_dict()["amends"]
    assert isinstance(plain, dict)
    assert "unseen" not in plain
    told = repair(first, "reserve", ["b"], "z").to_dict()["amends"]
    assert isinstance(told, dict)
    assert told["unseen"] is told["in_turn"] is True


def test_reserves_step_in_by_an_order_that_the_secret_draws() -> None:
    orders = {reserve_order(list("abc"), f"{n:064x}") for n in range(200)}
    assert len(orders) == 6
    assert reserve_order(list("cba"), SECRET) == reserve_order(list("abc"), SECRET)
    assert reserve_order([], SECRET) == ()


def test_a_price_is_said_in_words() -> None:
    for kind in REPAIRS:
        told = price(kind, "Cy", "reserve 1")
        assert "Cy" in told.does
        assert "relies on your word" in told.claim
        assert told.claim.endswith(".")
    assert "left out" in unfinished_price(["Dee"], keep=False)
    assert "count" in unfinished_price(["Dee"], keep=True)
    with pytest.raises(OptionError, match="must be absent, reserve or substitute"):
        repair(assign([1, 2], ["a", "b"], design="coins", rng=1), "steal", ["a"])

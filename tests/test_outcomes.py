from fractions import Fraction
from math import comb, factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import OptionError
from evenhand.randomness import Chance, outcomes


def test_a_procedure_without_chance_has_one_outcome() -> None:
    assert outcomes(lambda _: "always") == {"always": Fraction(1)}


@given(st.fractions(min_value=0, max_value=1, max_denominator=50), st.integers(0, 6))
def test_heads_of_a_biased_coin_are_binomial(p: Fraction, flips: int) -> None:
    law = outcomes(lambda chance: sum(chance.coin(p) for _ in range(flips)))
    expected = {
        heads: comb(flips, heads) * p**heads * (1 - p) ** (flips - heads)
        for heads in range(flips + 1)
    }
    assert law == {heads: mass for heads, mass in expected.items() if mass > 0}


def test_a_shuffle_by_picks_makes_every_order_equally_likely() -> None:
    def shuffle(chance: Chance) -> tuple[int, ...]:
        cards = [0, 1, 2, 3]
        return tuple(cards.pop(chance.pick(len(cards))) for _ in range(4))

    law = outcomes(shuffle)
    assert len(law) == factorial(4)
    assert set(law.values()) == {Fraction(1, factorial(4))}


def test_later_choices_may_depend_on_earlier_ones() -> None:
    def uneven(chance: Chance) -> str:
        if chance.coin(Fraction(1, 3)):
            return "abc"[chance.pick(3)]
        return "a" if chance.coin(Fraction(1, 4)) else "d"

    assert outcomes(uneven) == {
        "a": Fraction(1, 9) + Fraction(1, 6),
        "b": Fraction(1, 9),
        "c": Fraction(1, 9),
        "d": Fraction(1, 2),
    }


def test_impossible_branches_are_never_followed() -> None:
    def careful(chance: Chance) -> int:
        if chance.coin(Fraction(0)) or not chance.coin(Fraction(1)):
            pytest.fail("an impossible branch was taken")
        return chance.pick(1)

    assert outcomes(careful) == {0: Fraction(1)}


@pytest.mark.parametrize("later", [0, 3])
def test_refuses_a_program_that_keeps_state(later: int) -> None:
    runs = []

    def forgetful(chance: Chance) -> int:
        runs.append(1)
        if len(runs) == 1:
            return chance.pick(2)
        return chance.pick(later) if later else 0

    with pytest.raises(OptionError, match="Keep no state between runs"):
        outcomes(forgetful)

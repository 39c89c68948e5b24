"""Score words: declared orders, letters, and what is refused in which words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.columns import Source, number_series
from evenhand.errors import OptionError, RatingsError
from evenhand.formats.scale import number_column, parse_scale
from evenhand.formats.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE = Source("r.csv", lambda row: row + 2, orders=True)
ORDER = "give their order with scale= or --scale 'worst<...<best'"
HINT = (
    " If these scores are words, give their order with scale= or --scale "
    "'worst<...<best', or the best letter with --scale best=A."
)


def scale(order: str = "", best: str = "") -> str:
    return order or f"best={best}"


def column(values: pl.Series | Sequence[object], name: str = "m") -> Table:
    return Table.of({name: values}, FILE)


def turned(values: pl.Series | Sequence[object], text: str = "") -> list[object]:
    cells = number_column(column(values), "m", text).columns["m"]
    numbers = cells.cast(pl.Float64, strict=False)
    pairs = zip(cells, numbers, strict=True)
    return [cell if number is None else number for cell, number in pairs]


def refused(values: list[object], order: str = "", best: str = "") -> str:
    with pytest.raises(RatingsError) as caught:
        number_column(column(values, "merit"), "merit", scale(order, best))
    return str(caught.value)


def wrong(order: str = "", best: str = "") -> str:
    with pytest.raises(OptionError) as caught:
        number_column(column(["A"], "merit"), "merit", scale(order, best))
    return str(caught.value)


def test_words_count_from_worst_to_best() -> None:
    order = " strong reject<reject <accept< Strong  Accept "
    assert parse_scale(order) == {
        "strong reject": 1.0,
        "reject": 2.0,
        "accept": 3.0,
        "strong accept": 4.0,
    }


def test_case_and_blanks_of_words_do_not_matter() -> None:
    values: list[object] = ["Strong   REJECT", " accept", None, "", "Accept"]
    order = scale("strong reject<accept")
    assert turned(values, order) == [1.0, 2.0, None, None, 2.0]
    (notice,) = number_column(column(values, "merit"), "merit", order).notices
    assert notice.code == "words_as_steps"
    assert notice.message == (
        "Words of 'merit' stand for numbers: strong reject = 1, accept = 2. Methods "
        "that use the sizes of scores take these steps as equal."
    )


@pytest.mark.parametrize("order", ["reject", "reject<", "<accept", "a<<b", "a,b", " "])
def test_an_order_needs_words_between_its_signs(order: str) -> None:
    assert wrong(order) == (
        "scale must be words from worst to best with < between them, such as "
        "'reject<accept', or best= and a letter, or / and a base, such as /10, got "
        f"{order!r}."
    )


def test_a_word_stands_once() -> None:
    assert wrong("fair<good<FAIR") == (
        "scale must name each word once, got 'fair' twice."
    )


@pytest.mark.parametrize("order", ["a<=b", "a>b", "a<b>c", "a \u2264 b"])
def test_other_signs_are_refused(order: str) -> None:
    assert wrong(order).startswith("scale must be words from worst to best with <")


@pytest.mark.parametrize("best", ["A+", "AB", "1", "é"])
def test_the_best_is_one_letter(best: str) -> None:
    said = wrong(best=best)
    assert said.endswith(f"or / and a base, such as /10, got 'best={best}'.")


def test_letters_count_from_the_best_one() -> None:
    letters = ["B", "d", "", "A"]
    assert turned(letters, scale(best="a")) == [3.0, 1.0, None, 4.0]
    (notice,) = number_column(column(letters), "m", scale(best="a")).notices
    assert "D = 1, B = 3, A = 4" in notice.message
    assert turned(["W", "X", "Z"], scale(best="Z")) == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("letters", "best"), [("ABC", "B"), ("ACZB", "A"), ("XZa", "Z")]
)
def test_letters_are_one_scale_that_ends_in_the_best(letters: str, best: str) -> None:
    listed = ", ".join(map(repr, sorted(letters.upper())))
    assert refused([*letters], best=best) == (
        f"r.csv: merit must have letters of one scale that ends in {best!r}, got "
        f"{listed}. Give the order with scale= or --scale."
    )


def test_grades_with_signs_need_an_order() -> None:
    assert refused(["A", "A+", "3"], best="A") == (
        "r.csv: 2 problems:\n  line 3: merit must be on the scale A, got 'A+'.\n"
        "  line 4: merit must be on the scale A, got '3'.\n  Add it to --scale or mend "
        "the file."
    )
    assert turned(["A", "B-", "A+"], scale("B-<B<A<A+")) == [3.0, 1.0, 4.0]


def test_an_unknown_word_is_refused_with_its_line_and_the_scale() -> None:
    assert refused(["good", "fine", "fine"], order="poor<good") == (
        "r.csv:3: merit must be on the scale poor<good, got 'fine'. Add it to --scale "
        "or mend the file."
    )
    assert refused(["A", "F"], order="C<B<A") == (
        "r.csv:3: merit must be on the scale C<B<A, got 'F'. Add it to --scale or mend "
        "the file."
    )


@pytest.mark.parametrize("order", ["b<a", "best=A"])
def test_a_word_for_nothing_is_no_score(order: str) -> None:
    words: list[object] = ["a", "N/A", "-", "b", "?"]
    assert turned(words, order) == [2.0, None, None, 1.0, None]


def test_an_x_is_a_letter_where_letters_are_scores_and_else_nothing() -> None:
    letters: list[object] = ["X", "Y", "Z"]
    assert turned(letters, scale(best="X")) == [3.0, 2.0, 1.0]
    crossed: list[object] = ["good", "x"]
    assert turned(crossed, scale("bad<good")) == [2.0, None]
    assert turned(["4", "X"]) == [4.0, None]


def test_numbers_may_have_words_or_a_base_beside_them() -> None:
    cells: list[object] = [
        "5. Strong accept",
        "-1: weak reject",
        "4 (good)",
        "3 - fair",
    ]
    assert turned(cells) == [5.0, -1.0, 4.0, 3.0]
    cells = ["8/10", "7.5 / 10", "6 out of 10", "9", "", "n/a"]
    assert turned(cells) == [8.0, 7.5, 6.0, 9.0, None, None]
    notices = number_column(column(cells), "m").notices
    assert notices[0].message == "Scores of 'm' are out of 10: 8/10 counts as 8."


def test_several_bases_need_one_to_be_put_onto() -> None:
    cells: list[object] = ["8/10", "4/5", "7", "9/10"]
    with pytest.raises(RatingsError) as caught:
        turned(cells)
    assert str(caught.value) == (
        "r.csv: m has scores out of several numbers: '8/10', '4/5'. Put all onto one "
        "scale, for instance with scale= or --scale /10."
    )
    assert turned(cells, "/10") == [8.0, 8.0, 7.0, 9.0]
    with pytest.raises(RatingsError, match=r"r\.csv:4: m must be at most 5, got '7'"):
        turned(cells, "/5")


@pytest.mark.parametrize("cell", ["7 to 8", "seven", "2024-05-01", "5a", "8/10/2024"])
def test_other_cells_stay_for_the_error_that_names_them(cell: str) -> None:
    assert turned([cell, "3"]) == [cell, 3.0]


def test_numbers_may_be_words_of_a_scale() -> None:
    values = pl.Series(["1.0", "5", "2", None])
    assert turned(values, scale("5<4<3<2<1")) == [5.0, 1.0, 4.0, None]
    assert turned(pl.Series([1.0, 2.5]), scale("2.50<1")) == [2.0, 1.0]


@pytest.mark.parametrize("value", ["inf", "-inf", "7,5"])
def test_what_is_no_word_is_not_called_one(value: str) -> None:
    with pytest.raises(RatingsError) as caught:
        number_series(["3", value], "merit", FILE)
    assert "words" not in str(caught.value)


def test_data_in_memory_get_no_advice_on_scales() -> None:
    with pytest.raises(RatingsError, match=r"must be a number, got 'B' at index 1\.$"):
        number_series(["3", "B"], "merit", Source())


@pytest.mark.parametrize(
    "value",
    ["3 - Good", "3. Weak accept", "5*", "50%", "4/10", "(3)", "#N/A", "\u22123"],
)
def test_what_is_nearly_a_number_gets_advice(value: str) -> None:
    advice = f"Write a plain number; or, if these scores are words, {ORDER}."
    listed: list[object] = [value]
    for values in (listed, pl.Series([value])):
        with pytest.raises(RatingsError) as caught:
            number_series(values, "merit", FILE)
        said = str(caught.value)
        assert said == f"r.csv:2: merit must be a number, got {value!r}. {advice}"


def test_words_that_begin_with_a_number_can_be_a_scale() -> None:
    words = ["3 - Good", "1 - Bad"]
    assert turned(words, scale("1 - Bad<3 - Good")) == [2.0, 1.0]


@given(st.permutations(["poor", "fair", "good", "superb"]), st.lists(st.integers(0, 3)))
def test_numbers_keep_the_declared_order(order: list[str], places: list[int]) -> None:
    values: list[object] = [order[place].upper() for place in places]
    assert turned(values, scale("<".join(order))) == [place + 1.0 for place in places]


@pytest.mark.parametrize(
    ("cells", "scale", "words"),
    [
        (["12/10", "8/10"], "", "r.csv:0: m must be at most 10, got '12/10'."),
        (["6/5", "8/10"], "/10", "r.csv:0: m must be at most 5, got '6/5'."),
        (["8/0", "7/0", "3"], "", "m must be out of more than 0, got '7/0'."),
        (["0/0", "4/5"], "/10", "m must be out of more than 0, got '0/0'."),
    ],
)
def test_no_score_is_above_its_base(
    cells: list[object], scale: str, words: str
) -> None:
    with pytest.raises(RatingsError) as caught:
        number_column(Table.of({"m": cells}, Source("r.csv")), "m", scale)
    assert words in str(caught.value)


def test_a_base_is_above_zero_and_the_note_shows_what_changed() -> None:
    with pytest.raises(OptionError, match="or / and a base, such as /10, got '/0'"):
        turned(["8/10"], "/0")
    notices = number_column(column(["9/10", "4/5"]), "m", "/10").notices
    assert notices[0].message == "Scores of 'm' are out of 10: 4/5 counts as 8."

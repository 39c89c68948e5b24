"""Numbers in any notation, beside cells that are none: read exactly, or refused."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.ab.comparison import compare
from evenhand.errors import RatingsError
from tests.formats.reader import Reader, scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.ratings import Ratings

FILE = Reader("t.csv")
read, refused = FILE.read, FILE.refused
HEADER = "reviewer,item,score\n"
ODD = ["n/a", "NA", "-", "None", "", " 5", "5 ", "\u00a05", "5 (good)", "8/10", "x"]


def written(number: float, form: str) -> str:
    """Write a number as a program may."""
    forms: dict[str, Callable[[float], str]] = {
        "python": repr,
        "pandas": lambda it: pd.DataFrame({"s": [it]}).to_csv(index=False).split()[1],
        "polars": lambda it: pl.DataFrame({"s": [it]}).write_csv().split()[1],
        "polars E": lambda it: pl.Series([it]).cast(pl.String)[0],
    }
    return forms[form](number) if form in forms else form % number


FORMS = ["python", "pandas", "polars", "polars E", "%.17e", "%.16E", "%.17g", "%+.3e"]


def long(cells: list[str]) -> str:
    return HEADER + "".join(f"r{n},i{n % 2},{it}\n" for n, it in enumerate(cells))


def tabs(cells: list[str]) -> str:
    return long(cells).replace(",", "\t")


def entries(cells: list[str]) -> str:
    rows = enumerate(cells)
    return json.dumps(
        [{"reviewer": f"r{n}", "item": f"i{n % 2}", "score": it} for n, it in rows]
    )


def wide(cells: list[str]) -> str:
    lines = (f"i{n},{it},{len(cells) - n}\n" for n, it in enumerate(cells))
    return "".join(["item,Anna,Bo\n", *lines])


def taken(text: str, cells: int) -> dict[tuple[str, str], float]:
    """Read a file; of the wide one Anna's column, of others the first rows."""
    ratings = read(text, rows="items" if text.startswith("item,Anna") else None)
    places = {f"r{n}" for n in range(cells)} | {"Anna"}
    items = {f"i{n}" for n in range(cells)}
    found = scores(ratings).items()
    return {key: it for key, it in found if key[0] in places and key[1] in items}


@pytest.mark.parametrize("layout", [long, tabs, entries, wide])
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4),
    st.sampled_from(FORMS),
    st.sampled_from(ODD),
)
@settings(max_examples=40)
def test_a_number_is_the_same_beside_any_cell(
    layout: Callable[[list[str]], str], numbers: list[float], form: str, odd: str
) -> None:
    cells = [written(it, form) for it in numbers]
    assume(all(math.isfinite(float(cell)) for cell in cells))
    try:
        alone = taken(layout(cells), len(cells))
        beside = taken(layout([*cells, odd]), len(cells))
    except RatingsError as error:
        # Out of 10, other numbers may be too large.
        assert odd == "8/10" and "at most 10" in str(error)  # noqa: PT017, PT018 - or it is exact
        return
    assert alone == beside
    assert sorted(alone.values()) == sorted(float(it) for it in cells)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("layout", [long, tabs, entries, wide])
def test_exponents_are_read_beside_any_cell(
    layout: Callable[[list[str]], str], odd: str
) -> None:
    cells = ["2e-05", "0.001", "3E-05", "1e+0"]
    expected = sorted([2e-5, 0.001, 3e-5, 1.0])
    assert sorted(taken(layout([*cells, odd]), 4).values()) == expected


@pytest.mark.parametrize("layout", [long, tabs, entries, wide])
def test_a_number_beyond_all_floats_is_refused(
    layout: Callable[[list[str]], str],
) -> None:
    text = layout(["1", "2", "1e309", "n/a"])
    rows = "items" if text.startswith("item,Anna") else None
    said = refused(text, rows=rows)
    place = " entry 3" if text.startswith("[") else "4"
    assert said == f"t.csv:{place}: score must be finite, got '1e309'."
    if place == " entry 3":
        assert refused(text.replace('"1e309"', "1e309")) == said


def test_a_missing_score_does_not_turn_a_comparison_round() -> None:
    # Twelve reviewers; y has scores near .5, x of a few hundred-thousandths.
    rows = [
        f"r{n},x,{(2 + n) * 1e-5:.1e}" if n % 2 else f"r{n},y,{0.5 + n / 100}"
        for n in range(12)
    ]

    def decided(*more: str) -> Ratings:
        return read(HEADER + "\n".join([*rows, *more]))

    plain, beside = (
        compare(it, design="halves", rng=1) for it in (decided(), decided("z,x,n/a"))
    )
    assert plain.winner == beside.winner == "y"
    assert plain.p_value == beside.p_value


@pytest.mark.parametrize(
    "cell",
    [
        *("1_000", "\u22125", "\uff15", "1 000", "2 k", "1.5 million", "3 (or 4)"),
        *("99 - no answer", "-9 missing", "0 (not rated)", "4 and a half", "3 lakh"),
        *("3 to 4", "5-e3", "2.E-05x", "8-Oct", "10-Aug-24", "5-", "+ 5", "0x10"),
        *("1e", "1e5.5"),
    ],
)
def test_a_cell_that_only_begins_like_a_number_is_refused(cell: str) -> None:
    said = refused(long(["1", "2", "n/a", "3", cell]))
    assert said.startswith(f"t.csv:6: score must be a number, got {cell!r}.")


def test_words_after_an_exponent_are_words() -> None:
    ratings = read(long(["1e3 (good)", "8: Top 50% of papers", "1e0/10", "n/a"][:2]))
    assert sorted(scores(ratings).values()) == [8.0, 1000.0]


def test_decimal_commas_may_have_exponents() -> None:
    text = "reviewer;item;score\na;x;2,5e-05\nb;x;1,5\nc;x;n/a\n"
    assert sorted(scores(read(text)).values()) == [2.5e-5, 1.5]


@pytest.mark.parametrize("decimal", [None, ","])
def test_a_point_among_decimal_commas_may_be_a_thousand(decimal: str | None) -> None:
    text = "reviewer;item;score\na;x;900,5\nb;x;1.250\n"
    assert refused(text, decimal=decimal) == (
        "t.csv:3: score has decimal commas, so '1.250' may be a thousand. Write "
        "thousands without a point, and decimals with one sign."
    )

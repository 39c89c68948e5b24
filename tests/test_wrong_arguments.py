"""Whatever is given to a public function, it answers or refuses in a sentence."""

from __future__ import annotations

import inspect
import io
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.ab.methods import Rule
from evenhand.ranking.methods import Flips, RankMethod

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRONG: tuple[object, ...] = (
    None,
    3,
    -1,
    2.5,
    float("nan"),
    10**400,
    "nonsense",
    "",
    b"x",
    [],
    [3],
    ["judge", "prompt"],
    [None],
    [[1, 2], [3]],
    {},
    {"a": 1},
    {1, 2},
    object(),
    True,
    ...,
    1j,
    np.array([1.0, 2.0]),
    np.zeros((2, 2)),
    pl.DataFrame({"a": [1]}),
    lambda: 1,
    lambda _: None,
    lambda _, __: "x",
)
MANY = eh.Ratings(["a", "a", "b", "b"], ["x", "y", "z", "y"], [1, 2, 4, 3])
DUELS = eh.Ratings.from_comparisons(["x", "y"], ["y", "z"])
TWO = eh.Ratings(["a", "b", "c", "d"], ["x", "x", "y", "y"], [1, 2, 4, 3])


def read(**given: object) -> eh.Ratings:
    source = io.StringIO("judge,paper,mark\nanna,1,7\n")
    return eh.read_ratings(**{"source": source, **given})  # type: ignore[arg-type]  # wrong


def uniform_order(source: object) -> object:
    return eh.posets.uniform_order(eh.posets.comparisons(MANY), source)  # type: ignore[arg-type]  # wrong


CALLS: dict[str, tuple[Callable[..., object], dict[str, object]]] = {
    # By means, which take least time; the rest of these arguments is for any method.
    "rank": (eh.rank, {"ratings": MANY, "method": "mean"}),
    "rank by safe": (eh.rank, {"ratings": MANY, "method": "safe"}),
    "select": (eh.select, {"ratings": MANY, "places": 1, "rule": "cut"}),
    "compare": (eh.compare, {"first": TWO}),
    "compare lists": (eh.compare, {"first": [1, 2, 3], "second": [2, 3]}),
    "warp": (eh.warp, {"ratings": MANY, "method": "mean", "draws": 2}),
    "assign": (
        eh.assign,
        {"items": ["x", "y"], "reviewers": ["a", "b"], "design": "halves"},
    ),
    "assign balanced": (
        eh.assign,
        {
            "items": ["x", "y", "z"],
            "reviewers": ["a", "b"],
            "design": "balanced",
            "per_reviewer": 2,
        },
    ),
    "amend": (
        eh.assign([1, 2, 3], ["a", "b", "c"], design="pairs", rng=1).amend,
        {"drop": ["a"], "leave_open": True},
    ),
    "simulate": (
        eh.simulate,
        {"scenario": eh.Scenario(), "methods": "mean", "trials": 64},
    ),
    "Scenario": (eh.Scenario, {}),
    "Ratings": (eh.Ratings, {"reviewers": ["a"], "items": ["x"], "scores": [1]}),
    "from_frame": (eh.Ratings.from_frame, {"frame": MANY.to_frame()}),
    "from_ranks": (
        eh.Ratings.from_ranks,
        {"reviewers": ["a"], "items": ["x"], "ranks": [1]},
    ),
    "from_comparisons": (
        eh.Ratings.from_comparisons,
        {"winners": ["a"], "losers": ["x"]},
    ),
    "read_ratings": (read, {}),
    "uniform_order": (uniform_order, {"source": 7}),
    "sample": (eh.posets.sample, {"data": MANY, "n": 2}),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_in_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a wrong path may be written to
    function, given = CALLS[name]
    named = eh.read_ratings if function is read else function
    for option in inspect.signature(named).parameters:
        for value in WRONG:
            try:
                function(**{**given, option: value})
            except eh.EvenhandError:
                continue
            except Exception as error:  # noqa: BLE001 - any other is a fault
                pytest.fail(f"{name}, {option}={value!r}: {error!r}")


@pytest.mark.parametrize("method", eh.methods(), ids=lambda method: method.name)
def test_a_wrong_option_of_a_method_is_refused_in_a_sentence(
    method: type[eh.Method],
) -> None:
    for option in method.options():
        for value in WRONG:
            try:
                made = method(**{option: value})
                if isinstance(made, Rule):
                    eh.compare(TWO, method=made)
                elif isinstance(made, RankMethod):
                    eh.rank(MANY, method=made)
                assert made == method(**{option: getattr(made, option)})
            except eh.EvenhandError:
                continue
            except Exception as error:  # noqa: BLE001 - any other is a fault
                pytest.fail(f"{method.name}, {option}={value!r}: {error!r}")


@pytest.mark.parametrize("job", ["compare", "rank"])
@pytest.mark.parametrize(
    "text", ["(", "x(", "x)", "x()()", "x[0]", "x.y", "1", "x(1 + y)", "é"]
)
def test_what_is_no_text_of_a_method_is_refused_with_its_place(
    text: str, job: str
) -> None:
    with pytest.raises(eh.OptionError, match=r"must be a name, with options in brac"):
        eh.compare(TWO, method=text) if job == "compare" else eh.rank(MANY, method=text)


@pytest.mark.parametrize(
    "wrong", [value for value in WRONG if not isinstance(value, eh.Ratings)]
)
def test_check_takes_ratings_only(wrong: object) -> None:
    words = r"must be a path, a Ratings or a dataf|No col|nonsense|the name of a file"
    with pytest.raises(eh.EvenhandError, match=words):
        eh.check(wrong)  # type: ignore[arg-type]  # that it is wrong is the point


def test_columns_are_for_frames_only() -> None:
    with pytest.raises(eh.OptionError, match=r"item must be left out for a Ratings"):
        eh.check(MANY, item="item")
    with pytest.raises(eh.RatingsError, match=r"or a dataframe, got list"):
        eh.compare([1], [2], score="score")


def test_a_start_of_one_argument_is_told_the_two_that_it_gets() -> None:
    with pytest.raises(
        eh.OptionError,
        match=r"start must be a function of 2 arguments, the comparisons and a Gen",
    ):
        eh.rank(MANY, method=Flips(start=lambda c: c))  # type: ignore[arg-type]  # wrong


@pytest.mark.parametrize("columns", [[], ["reviewer", 7], 7, ["reviewer", "nobody"]])
def test_a_list_of_columns_must_hold_names_that_are_there(columns: object) -> None:
    with pytest.raises(eh.EvenhandError, match=r"must|Unknown column 'nobody'"):
        eh.Ratings.from_frame(MANY.to_frame(), reviewer=columns)  # type: ignore[arg-type]  # wrong


def test_labels_that_would_be_one_when_joined_are_refused() -> None:
    frame = pl.DataFrame({"a": ["x / y", "x"], "b": ["z", "y / z"], "score": [1, 2]})
    with pytest.raises(eh.RatingsError, match=r"'a', 'b' cannot be joined.*' / '"):
        eh.Ratings.from_frame(frame.with_columns(item=1), reviewer=["a", "b"])


def test_a_uniform_order_is_drawn_from_a_plain_seed() -> None:
    c = eh.posets.comparisons(MANY)
    assert (eh.posets.uniform_order(c, 1) == eh.posets.uniform_order(c, 1)).all()


# Every public function that takes rng, with what it needs besides.
DRAWING: dict[str, tuple[Callable[..., object], dict[str, object]]] = {
    "select": CALLS["select"],
    **{name: CALLS[name] for name in ("rank", "compare", "warp", "assign", "simulate")},
    "check": (eh.check, {"ratings": DUELS}),
    "grade": (eh.grade, {"ratings": TWO}),
    "sample": CALLS["sample"],
    "averages": (eh.posets.averages, {"data": MANY}),
    "halves": (eh.designs.halves, {"n_reviewers": 4}),
    "coins": (eh.designs.coins, {"n_reviewers": 4}),
    "matched": (eh.designs.matched, {"pairs": [1, 1, 2, 2]}),
    "panels": (eh.designs.panels, {"panel": [1, 1, 2]}),
    "pairs": (eh.designs.pairs, {"n_items": 4, "n_reviewers": 3}),
    "balanced": (
        eh.designs.balanced,
        {"n_items": 4, "n_reviewers": 3, "per_reviewer": 2},
    ),
    "draw_ratings": (eh.lab.draw_ratings, {"scenario": eh.Scenario()}),
    "check_theorems": (eh.lab.check_theorems, {"only": ("Theorem 1",)}),
}


def test_every_public_function_that_takes_rng_is_tried() -> None:
    rooms = (eh, eh.designs, eh.posets, eh.lab, eh.ab, eh.ranking)
    found = set()
    for room in rooms:
        names = getattr(
            room, "__all__", [name for name in vars(room) if name[0] != "_"]
        )
        for name in names:
            value = getattr(room, name)
            if inspect.isfunction(value) and value.__module__.startswith(room.__name__):
                found |= {name} & set(names) if takes_rng(value) else set()
    assert found - {"seed_from"} <= set(DRAWING)


def takes_rng(value: Callable[..., object]) -> bool:
    return "rng" in inspect.signature(value).parameters


@pytest.mark.parametrize("name", DRAWING)
def test_rng_is_an_integer_a_generator_a_seed_sequence_or_none(name: str) -> None:
    function, given = DRAWING[name]
    for make in (
        lambda: 7,
        lambda: np.int64(7),
        lambda: np.random.default_rng(7),
        lambda: np.random.SeedSequence(7),
    ):
        one, two = (function(**given, rng=make()) for _ in range(2))
        assert repr(one) == repr(two)
    function(**given, rng=None)
    for wrong in ("7", -1, 2.5, True, [7], np.random.RandomState(7)):
        with pytest.raises(eh.OptionError, match=r"rng must be a Generator, a SeedSeq"):
            function(**given, rng=wrong)

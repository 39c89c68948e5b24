import itertools
from collections.abc import Callable
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from evenhand.randomness import Chance, below, outcomes, stream
from evenhand.ranking.ties import (
    Layer,
    Sheets,
    choose_layers,
    equal_loads,
    layer_values,
    mean_values,
    read_sheets,
)
from evenhand.ratings import Ratings

Marks = dict[int, dict[int, float | Fraction]]


def sheets_of(marks: Marks, items: list[int]) -> Sheets:
    people = {
        item: [one for one, given in marks.items() if item in given] for item in items
    }
    return Sheets(people, marks)


def picker(seed: int) -> Callable[[int], int]:
    source = stream(seed, "layers")
    return lambda count: below(source, count)


def test_sheets_hold_the_reviewers_of_items_and_all_their_scores() -> None:
    ratings = Ratings(
        ["a", "a", "b", "b", "c"], [0, 1, 1, 2, 2], [5, 4, 3, 2, 1], all_items=range(4)
    )
    found = read_sheets(ratings)
    assert found.people == [[0], [0, 1], [1, 2], []]
    assert found.marks == {0: {0: 5.0, 1: 4.0}, 1: {1: 3.0, 2: 2.0}, 2: {2: 1.0}}


def test_two_anchors_go_before_more_layers_with_one() -> None:
    # Reviewers 0 and 3 share two items; 1 and 4, and 2 and 5, share one each.
    marks: Marks = {
        0: {0: 1.0, 5: 1.0, 6: 2.0},
        1: {0: 1.0, 7: 1.0},
        2: {0: 1.0, 8: 1.0},
        3: {1: 1.0, 5: 1.0, 6: 2.0},
        4: {1: 1.0, 7: 1.0},
        5: {1: 1.0, 8: 1.0},
    }
    for seed in range(10):
        sheets = sheets_of(marks, [0, 1])
        assert choose_layers(sheets, [0, 1], picker(seed)) == (Layer((0, 3), (5, 6)),)
    del marks[0], marks[3]
    sheets = sheets_of(marks, [0, 1])
    layers = choose_layers(sheets, [0, 1], picker(7))
    assert set(layers) == {Layer((1, 4), (7,)), Layer((2, 5), (8,))}


def test_without_anchors_each_item_has_as_many_reviewers_as_the_least_reviewed() -> (
    None
):
    marks: Marks = {one: {one % 3: 1.0} for one in range(8)}
    layers = choose_layers(sheets_of(marks, [0, 1, 2]), [0, 1, 2], picker(7))
    assert len(layers) == 2
    for item in range(3):
        used = [layer.reviewers[item] for layer in layers]
        assert len(set(used)) == 2
        assert all(one % 3 == item for one in used)


def test_items_of_the_tie_are_never_anchors() -> None:
    marks: Marks = {0: {0: 1.0, 2: 1.0}, 1: {1: 1.0, 2: 1.0}, 2: {2: 1.0}}
    sheets = sheets_of(marks, [0, 1, 2])
    assert choose_layers(sheets, [0, 1], picker(7))[0].anchors == (2,)
    assert choose_layers(sheets, [0, 1, 2], picker(7))[0].anchors == ()


def test_three_items_need_anchors_that_all_three_reviewers_scored() -> None:
    marks: Marks = {0: {0: 1.0, 5: 1.0}, 1: {1: 1.0, 5: 1.0}, 2: {2: 1.0, 6: 1.0}}
    assert choose_layers(sheets_of(marks, [0, 1, 2]), [0, 1, 2], picker(7)) == (
        Layer((0, 1, 2), ()),
    )
    marks[3] = {2: 1.0, 5: 1.0}
    assert choose_layers(sheets_of(marks, [0, 1, 2]), [0, 1, 2], picker(7)) == (
        Layer((0, 1, 3), (5,)),
    )


def test_reviewers_with_equal_claims_are_equally_likely() -> None:
    marks: Marks = {one: {int(one > 0): 1.0, 9: 1.0} for one in range(4)}
    for anchored in (True, False):

        def program(chance: Chance, *, anchored: bool = anchored) -> int:
            layers = choose_layers(
                sheets_of(marks, [0, 1]), [0, 1], chance.pick, anchored=anchored
            )
            assert len(layers) == 1
            return layers[0].reviewers[1]

        assert outcomes(program) == dict.fromkeys(range(1, 4), Fraction(1, 3))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Sheets, list[int]]:
    bundles = draw(
        st.lists(
            st.sets(st.integers(0, 6), min_size=1, max_size=4), min_size=2, max_size=8
        )
    )
    marks: Marks = {
        one: {item: float(draw(st.integers(-5, 5))) for item in bundle}
        for one, bundle in enumerate(bundles)
    }
    wanted = draw(st.integers(2, 3))
    items = [item for item in range(7) if any(item in one for one in bundles)][:wanted]
    return sheets_of(marks, items), items


@given(worlds(), st.integers(0, 2**32), st.booleans())
def test_layers_are_fit_for_theorem_a_and_never_look_at_a_score(
    world: tuple[Sheets, list[int]],
    seed: int,
    anchored: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    sheets, items = world
    layers = choose_layers(sheets, items, picker(seed), anchored=anchored)
    assert layers
    for layer in layers:
        for item, one in zip(items, layer.reviewers, strict=True):
            assert item in sheets.marks[one]
        for anchor in layer.anchors:
            assert anchor not in items
            assert all(anchor in sheets.marks[one] for one in layer.reviewers)
    for place in range(len(items)):
        assert len({layer.reviewers[place] for layer in layers}) == len(layers)
    if layers[0].anchors:
        assert anchored
        everyone = [one for layer in layers for one in layer.reviewers]
        assert len(set(everyone)) == len(everyone)
        assert all(layer.anchors for layer in layers)
    blind: Marks = {one: dict.fromkeys(row, 0.0) for one, row in sheets.marks.items()}
    again = choose_layers(
        Sheets(sheets.people, blind), items, picker(seed), anchored=anchored
    )
    assert again == layers


@given(worlds(), st.integers(0, 2**32))
def test_a_higher_score_of_an_item_raises_its_value_and_no_other(
    world: tuple[Sheets, list[int]], seed: int
) -> None:
    sheets, items = world
    layer = choose_layers(sheets, items, picker(seed))[0]
    before = layer_values(sheets, items, layer)
    for place, (item, one) in enumerate(zip(items, layer.reviewers, strict=True)):
        raised: Marks = {who: dict(row) for who, row in sheets.marks.items()}
        raised[one][item] = sheets.marks[one][item] + 1
        after = layer_values(Sheets(sheets.people, raised), items, layer)
        assert after[place] > before[place]
        if len(set(layer.reviewers)) == len(layer.reviewers):
            del after[place]
            assert after == [x for i, x in enumerate(before) if i != place]


def test_scores_are_only_centred_if_one_reviewer_tied_the_anchors() -> None:
    marks: Marks = {0: {0: 5.0, 2: 4.0, 3: 4.0}, 1: {1: 9.0, 2: 7.0, 3: -1.0}}
    layer = Layer((0, 1), (2, 3))
    assert layer_values(sheets_of(marks, [0, 1]), [0, 1], layer) == [1, 6]
    marks[0][3] = 2.0
    assert layer_values(sheets_of(marks, [0, 1]), [0, 1], layer) == [2, Fraction(3, 2)]


def test_values_are_means_over_layers_without_rounding() -> None:
    marks: Marks = {0: {0: 1e300}, 1: {0: 1.0}, 2: {1: 0.1}, 3: {1: 0.2}}
    layers = (Layer((0, 2), ()), Layer((1, 3), ()))
    assert mean_values(sheets_of(marks, [0, 1]), [0, 1], layers) == [
        (Fraction(1e300) + 1) / 2,
        (Fraction(0.1) + Fraction(0.2)) / 2,
    ]


def test_loads_are_compared_within_layers_only() -> None:
    marks: Marks = {0: {0: 1.0}, 1: {1: 1.0}, 2: {0: 1.0, 3: 1.0}, 3: {1: 1.0, 3: 1.0}}
    sheets = sheets_of(marks, [0, 1])
    for one, other in itertools.product((0, 2), (1, 3)):
        alike = len(marks[one]) == len(marks[other])
        assert equal_loads(sheets, [Layer((one, other), ())]) == alike
    assert equal_loads(sheets, [Layer((0, 1), ()), Layer((2, 3), ())])

"""Randomisation p-values: valid on every scale, and exact however they are counted."""

import functools
import itertools
import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from evenhand import DesignError, OptionError, RatingsError, designs
from evenhand.ab import law, pvalues, rules
from evenhand.ab.comparison import compare
from evenhand.ab.law import count_scores
from evenhand.ab.pvalues import (
    Problem,
    PValues,
    leading_item,
    p_values,
    problem,
)
from evenhand.designs.design import names_of
from evenhand.randomness import Stream, below, stream
from evenhand.words.lines import p_value_paragraph

AB_DESIGNS = names_of("compare")

Side = list[Fraction]
Sides = tuple[int, ...]
Law = dict[Sides, Fraction]


def plain_mean(side: Side) -> Fraction:
    return sum(side, Fraction(0)) / len(side)


def plain_median(which: str) -> Callable[[Side], Fraction]:
    def of(side: Side) -> Fraction:
        ordered = sorted(side)
        low, high = ordered[(len(side) - 1) // 2], ordered[len(side) // 2]
        return {"lower": low, "upper": high, "middle": (low + high) / 2}[which]

    return of


def plain_trimmed(side: Side) -> Fraction:
    cut = len(side) // 5
    return plain_mean(sorted(side)[cut : len(side) - cut])


def wins(one: Side, two: Side) -> Fraction:
    won = sum(Fraction((a > b) - (a < b)) for a in one for b in two)
    return Fraction(won) / (len(one) * len(two))


def difference(of: Callable[[Side], Fraction]) -> Callable[[Side, Side], Fraction]:
    return lambda one, two: of(one) - of(two)


STATISTICS: dict[str, Callable[[Side, Side], Fraction]] = {
    "mean": difference(plain_mean),
    "upper": difference(plain_median("upper")),
    "lower": difference(plain_median("lower")),
    "middle": difference(plain_median("middle")),
    "trimmed": difference(plain_trimmed),
    "midrank": wins,
}


def options(name: str) -> dict[str, object]:
    if name in ("upper", "lower", "middle"):
        return {"statistic": f"median:{name}"}
    return {"statistic": name}


def given_counts(sides: Sides) -> Law:
    ahead = sides.count(0)
    places = list(itertools.combinations(range(len(sides)), ahead))
    return {
        tuple(0 if i in chosen else 1 for i in range(len(sides))): Fraction(
            1, len(places)
        )
        for chosen in places
    }


def ready(
    one: Sequence[float] | Side,
    two: Sequence[float] | Side,
    design: str | None = None,
    groups: object = None,
    *,
    statistic: str = "mean",
) -> Problem:
    return problem(one, two, statistic, 0.2, design, groups)


def exact_p_values(
    first: object,
    second: object,
    *,
    statistic: str = "mean",
    design: str | None = None,
    groups: object = None,
    trim: float = 0.2,
) -> tuple[Fraction, Fraction]:
    """The p-values of both items, by going through all assignments."""
    test = problem(first, second, statistic, trim, design, groups)  # type: ignore[arg-type]  # scores
    if int(test.redraws.first.sum()) in (0, test.redraws.size):
        return Fraction(1), Fraction(1)
    above, below = test.tally(test.redraws.enumerate_blocks())
    return Fraction(above, test.redraws.total), Fraction(below, test.redraws.total)


def law_of(design: str | None, labels: list[int], sides: Sides) -> Law:
    """The library's own enumeration of the designs, and ours given the counts."""
    if design is None:
        return given_counts(sides)
    alone = design in ("halves", "coins")
    return enumerate_blocks(design, len(sides) if alone else tuple(labels))


@functools.cache
def enumerate_blocks(design: str, people: int | tuple[int, ...]) -> Law:
    return designs.law(design, people)


def split(scores: Sequence[Fraction], sides: Sides) -> tuple[Side, Side]:
    pairs = list(zip(scores, sides, strict=True))
    return [y for y, side in pairs if side == 0], [y for y, side in pairs if side == 1]


def plain(
    scores: Side, sides: Sides, law: Law, statistic: Callable[[Side, Side], Fraction]
) -> tuple[Fraction, Fraction]:
    """The definition, word for word; 0 for an assignment with an empty side."""

    def value(drawn: Sides) -> Fraction:
        one, two = split(scores, drawn)
        return statistic(one, two) if one and two else Fraction(0)

    observed = value(sides)
    redrawn = [(value(drawn), chance) for drawn, chance in law.items()]
    above = sum((p for t, p in redrawn if t >= observed), Fraction(0))
    return above, sum((p for t, p in redrawn if t <= observed), Fraction(0))


def grouped(
    design: str | None, labels: list[int], sides: Sides
) -> list[list[int]] | None:
    if design not in ("matched", "panels"):
        return None
    return [
        [label for label, side in zip(labels, sides, strict=True) if side == item]
        for item in (0, 1)
    ]


def counted(
    scores: Side, sides: Sides, design: str | None, labels: list[int], name: str
) -> tuple[Fraction, Fraction]:
    one, two = split(scores, sides)
    groups = grouped(design, labels, sides)
    return exact_p_values(one, two, design=design, groups=groups, **options(name))  # type: ignore[arg-type]  # by name


@st.composite
def experiments(
    draw: DrawFn, max_reviewers: int = 7, *, long: bool = False
) -> tuple[Side, Sides, str | None, list[int]]:
    design = draw(st.sampled_from([None, *AB_DESIGNS]))
    size = draw(st.integers(2, max_reviewers))
    if design == "matched":
        size += size % 2
    score = st.one_of(
        st.integers(0, 4).map(Fraction), st.fractions(-9, 9, max_denominator=9)
    )
    if long:
        score |= st.integers(0, 10**40).map(Fraction)
    scores = draw(st.lists(score, min_size=size, max_size=size))
    labels = draw(st.permutations([i // 2 for i in range(size)]))
    if design == "panels":
        labels = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    if design is None:
        sides = tuple(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    else:
        sides = draw(st.sampled_from(sorted(law_of(design, labels, (0,) * size))))
    return scores, sides, design, labels


@settings(max_examples=120)
@given(experiments(long=True), st.sampled_from(sorted(STATISTICS)))
def test_p_values_are_the_definition_word_for_word(
    experiment: tuple[Side, Sides, str | None, list[int]], name: str
) -> None:
    scores, sides, design, labels = experiment
    found = counted(scores, sides, design, labels, name)
    if 0 < sum(sides) < len(sides):
        law = law_of(design, labels, sides)
        assert found == plain(scores, sides, law, STATISTICS[name])
    else:
        assert found == (Fraction(1), Fraction(1))


@settings(max_examples=100)
@given(experiments(), st.sampled_from(sorted(STATISTICS)))
def test_every_way_of_counting_gives_the_same(
    experiment: tuple[Side, Sides, str | None, list[int]], name: str
) -> None:
    scores, sides, design, labels = experiment
    one, two = split(scores, sides)
    assume(one and two)
    test = ready(one, two, design, grouped(design, labels, sides), **options(name))  # type: ignore[arg-type]  # by name
    through = test.tally(test.redraws.enumerate_blocks())
    shares = [Fraction(count, test.redraws.total) for count in through]
    tails, how = test.shares()
    assert tails is not None
    assert test.whole or how == "enumeration"
    assert list(map(float, tails)) == pytest.approx(shares, rel=1e-11)


def random_scales(
    source: Stream, size: int, *, equal: bool
) -> tuple[list[Fraction], list[Fraction]]:
    """Scores of both items by each reviewer, the first never above the second.

    Offsets from none to huge: the scales that fool a test most are far apart.
    """
    low, high = [], []
    spread = 10 ** below(source, 4)
    for _ in range(size):
        offset = Fraction(below(source, 5) * spread, 1 + below(source, 3))
        low.append(offset)
        high.append(offset if equal else offset + below(source, 4))
    return low, high


def test_type_one_error_never_exceeds_alpha_on_any_scales() -> None:
    """100 experiments, the error exact over the whole design, at every alpha."""
    source = stream(2019, "adversarial scales")
    touched = 0
    for case in range(100):
        design = [None, *AB_DESIGNS][case % 5]
        name = sorted(STATISTICS)[below(source, len(STATISTICS))]
        size = 2 + below(source, 7 if case % 9 == 0 else 4)
        size += size % 2 if design == "matched" else 0
        equal = case % 3 == 0
        low, high = random_scales(source, size, equal=equal)
        labels = [i // 2 for i in range(size)]
        if design == "panels":
            labels = [below(source, 4) for _ in range(size)]
        start = tuple(0 if i <= below(source, size) else 1 for i in range(size))
        found: dict[tuple[Fraction, Fraction], Fraction] = {}
        for sides, chance in law_of(design, labels, start).items():
            scores = [(low, high)[side][i] for i, side in enumerate(sides)]
            pair = counted(scores, sides, design, labels, name)
            found[pair] = found.get(pair, Fraction(0)) + chance
        for alpha in {first for first, _ in found}:
            error = sum(p for (first, _), p in found.items() if first <= alpha)
            assert error <= alpha, (design, name, low, high)
            touched += error == alpha < 1
        if equal:
            two_sided = {2 * min(pair): Fraction(0) for pair in found}
            for pair, chance in found.items():
                two_sided[2 * min(pair)] += chance
            for alpha in two_sided:
                assert sum(p for t, p in two_sided.items() if t <= alpha) <= alpha
    # Were the p-values any smaller, the test would have failed many times.
    assert touched > 100


def test_power_is_at_most_alpha_on_scales_far_apart() -> None:
    """What the explanation says: under these scales a better item does not show."""
    law = designs.law("halves", 6)
    found: list[tuple[Fraction, Fraction]] = []
    for sides, chance in law.items():
        scores = [Fraction(1000**i + 1 - side) for i, side in enumerate(sides)]
        found.append((counted(scores, sides, "halves", [], "mean")[0], chance))
    for alpha, _ in found:
        assert sum(chance for p, chance in found if p <= alpha) <= alpha
    assert min(found)[0] == Fraction(1, 20)


@settings(max_examples=60)
@given(experiments(6), st.sampled_from(sorted(STATISTICS)))
def test_swapping_the_items_swaps_the_one_sided_values(
    experiment: tuple[Side, Sides, str | None, list[int]], name: str
) -> None:
    scores, sides, design, labels = experiment
    turned = tuple(1 - side for side in sides)
    found = counted(scores, sides, design, labels, name)
    assert counted(scores, turned, design, labels, name) == found[::-1]


def test_the_classic_cup_of_tea() -> None:
    """Fisher (1935): eight cups, four right, one way in 70."""
    tested = p_values([1, 1, 1, 1], [0, 0, 0, 0], design="halves")
    assert tested.p_value_first == 1 / 70
    assert tested.p_value == 2 / 70
    assert tested.p_value_second == 1
    assert (tested.exact, tested.samples, tested.se) == (True, 0, 0)


def test_pairs_flip_within_pairs() -> None:
    """By hand: differences 1, 2, 3; of eight sign patterns one reaches 6."""
    assert exact_p_values([2, 4, 6], [1, 2, 3], statistic="pairs") == (
        Fraction(1, 8),
        Fraction(1),
    )
    lone = exact_p_values(
        [2, 4, 6, 99],
        [1, 2, 3],
        statistic="pairs",
        groups=(["a", "b", "c", "d"], ["a", "b", "c"]),
    )
    assert lone == (Fraction(1, 8), Fraction(1))


def test_whoever_is_left_of_a_pair_was_sent_by_a_coin() -> None:
    """By hand: 5 against 1 in a pair, and 9 alone: four assignments."""
    groups = (["a", "b"], ["a"])
    found = exact_p_values([5, 9], [1], design="matched", groups=groups)
    # Means: 7 - 1, 5 - 5, 5 - 5 and 1 - 7, of which the first was observed.
    assert found == (Fraction(1, 4), Fraction(1))


def test_ties_do_not_depend_on_floats() -> None:
    assert 0.1 + 0.2 != 0.3
    for first, second in ([[0.1, 0.2], [0.3, 0.0]], [[1e16, 1.0], [1e16 - 2, 3.0]]):
        exact = [[Fraction(repr(x)) for x in side] for side in (first, second)]
        for statistic in ("mean", "trimmed", "pairs"):
            floats = exact_p_values(first, second, statistic=statistic)
            assert floats == exact_p_values(*exact, statistic=statistic)
            assert floats[0] + floats[1] > 1


def test_an_item_without_scores_has_p_values_of_one() -> None:
    for design in (None, "halves", "coins"):
        tested = p_values([], [3, 4], design=design)
        assert (tested.p_value, tested.p_value_first, tested.p_value_second) == (
            1,
            1,
            1,
        )


def test_halves_that_cannot_have_been_drawn_become_given_counts() -> None:
    first, second = [5, 7, 9, 8], [1, 2]
    dropped = p_values(first, second, design="halves")
    assert dropped.design == "given counts"
    assert dropped.p_value_first == p_values(first, second).p_value_first
    assert p_values([5, 7, 8], [1, 2], design="halves").design == "halves"
    groups = (["a", "b", "c"], ["d"])
    panels = p_values([5, 7, 8], [1], design="panels", groups=groups)
    assert panels.design == "given panel counts"
    assert panels.p_value_first == 1 / 4


# Hoeffding: 5,000 draws are farther than this from their probability, for one of 64
# values, once in a million times.
FAR = math.sqrt(math.log(2 * 64 * 1e6) / (2 * 5000))


@pytest.mark.parametrize("design", [None, *AB_DESIGNS])
@pytest.mark.parametrize("statistic", ["mean", "midrank", "median", "trimmed"])
def test_sampling_agrees_with_counting(design: str | None, statistic: str) -> None:
    first, second = [5, 3, 4, 4, 5, 2, 5, 4], [3, 3, 4, 2, 1, 4, 3]
    groups: object = None
    if design == "matched":
        groups = range(8), range(7)
    elif design == "panels":
        groups = [0, 0, 0, 1, 1, 1, 2, 3], [4, 5, 5, 5, 6, 6, 6]
    test = ready(first, second, design, groups, statistic=statistic)
    exact, _ = test.shares()
    assert exact is not None
    rng = np.random.default_rng(2019)
    sampled = test.tally(test.redraws.sample_blocks(5000, rng))
    for found, true in zip(sampled, exact, strict=True):
        assert abs(found / 5000 - true) < FAR


def test_trimming_leaves_something() -> None:
    almost_half = math.nextafter(0.5, 0)
    first, second = [1, 5, 9, 9], [0, 2, 2, 3]
    found = exact_p_values(first, second, statistic="trimmed", trim=almost_half)
    assert found == exact_p_values(first, second, statistic="median:middle")


def many_digits(seed: int, size: int) -> list[float]:
    source = stream(seed, "digits")
    return [below(source, 10**15) / 10**15 for _ in range(size)]


def test_sampled_values_count_the_observed_assignment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pvalues, "MOST_SAMPLES", 99)
    first = [score + 10 for score in many_digits(1, 30)]
    tested = p_values(first, many_digits(2, 30), rng=5)
    assert tested.how == "sampling"
    assert tested.p_value_first == 1 / 100
    assert tested.p_value_second == 1
    assert tested.p_value == 2 / 100
    assert tested.se == pytest.approx(math.sqrt(0.01 * 0.99 / 99))
    assert (tested.exact, tested.samples, tested.seed) == (False, 99, 5)


def test_sampled_values_are_valid() -> None:
    """Exactly, for two samples of a design with two assignments.

    All (observed, redrawn, redrawn) are equally likely; the code's own tails are used.
    """
    found = []
    for observed, *drawn in itertools.product([True, False], repeat=3):
        one, two = ([2], [1]) if observed else ([1], [2])
        test = ready(one, two)
        # Columns are the score observed of the first item, and the other.
        rows = np.array([[same, not same] for same in (it == observed for it in drawn)])
        hits = test.tally([rows.astype(np.int64)])[0]
        found.append(Fraction(1 + hits, 3))
    for alpha in found:
        assert sum(p <= alpha for p in found) <= alpha * len(found)


def test_results_forget_the_order_of_the_rows() -> None:
    first, second = many_digits(3, 25), many_digits(4, 24)
    labels = [i % 7 for i in range(25)], [7 + i % 6 for i in range(24)]
    turned = labels[0][::-1], labels[1][::-1]
    for design, groups, other in [(None, None, None), ("panels", labels, turned)]:
        tested = p_values(first, second, design=design, groups=groups, rng=1)
        again = p_values(first[::-1], second[::-1], design=design, groups=other, rng=1)
        assert again == tested


def test_exact_values_do_not_use_the_seed() -> None:
    scores = [3, 4, 5, 5], [1, 2, 4, 5]
    assert p_values(*scores, rng=1) == p_values(*scores, rng=2)
    assert p_values(*scores).seed is None


def test_midranks_of_all_scores_only_rise_with_the_first_items_scores() -> None:
    """All scores of five reviewers on three levels, re-ranked, in every split."""

    def midranks(scores: Sequence[int], sides: Sides) -> Fraction:
        ranks = [
            sum((b < a) * 2 + (b == a) for b in scores) for a in scores
        ]  # doubled, less a constant
        one, two = split(list(map(Fraction, ranks)), sides)
        return plain_mean(one) - plain_mean(two)

    every = {
        (scores, sides): midranks(scores, sides)
        for scores in itertools.product(range(3), repeat=5)
        for sides in itertools.product((0, 1), repeat=5)
        if 0 < sum(sides) < 5
    }
    for (scores, sides), value in every.items():
        for place, side in enumerate(sides):
            higher = (*scores[:place], scores[place] + 1, *scores[place + 1 :])
            raised = every.get((higher, sides), value)
            assert raised <= value if side else raised >= value


@pytest.mark.parametrize("decimals", [1, 15])
def test_sixty_against_sixty_is_exact_by_midranks_whatever_the_scores(
    decimals: int,
) -> None:
    first, second = many_digits(1, 60), many_digits(2, 60)
    rounded = [[round(100 * x, decimals) for x in side] for side in (first, second)]
    found = compare(*rounded, rng=1).test
    assert found is not None
    assert (found.statistic, found.exact) == ("midrank", True)


def test_many_scores_are_counted_to_the_last_digits() -> None:
    """One way in C(200, 100): far below what a sample could show."""
    tested = p_values([1] * 100, [0] * 100)
    assert (tested.exact, tested.how) == (True, "counting")
    assert tested.p_value_first == pytest.approx(1 / math.comb(200, 100), rel=1e-12)


FIVE_STARS = (
    np.repeat([1, 2, 3, 4, 5], [196, 280, 604, 1028, 892]),
    np.repeat([1, 2, 3, 4, 5], [215, 330, 640, 1040, 875]),
)


def test_five_star_ratings_of_thousands_are_redrawn_from_counts() -> None:
    assert tuple(map(len, FIVE_STARS)) == (3000, 3100)
    found = p_values(*FIVE_STARS, statistic="midrank", rng=1)
    assert (found.how, found.samples) == ("sampling", 100_000)
    # From an inversion by frequencies, good to ten digits. False alarms: one seed in
    # 1.7 million.
    assert abs(found.p_value_first - 0.0269429144) < 5 * found.se
    assert abs(found.p_value_second - 0.9730576436) < 5 * found.se


def test_tables_of_counts_have_the_p_values_of_their_lists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pvalues, "MOST_SAMPLES", 1000)
    source = stream(5, "levels")
    for case in range(12):
        sizes = 1 + below(source, 30), 1 + below(source, 30)
        one, two = (
            np.array([below(source, 4) / 10 for _ in range(size)]) for size in sizes
        )
        tables = count_scores(one), count_scores(two)
        for statistic in ("mean", "median", "trimmed", "midrank"):
            design = [None, "halves", "coins"][case % 3]
            listed = p_values(one, two, statistic=statistic, design=design, rng=3)
            counted_ = p_values(*tables, statistic=statistic, design=design, rng=3)
            assert listed == counted_
            ahead = leading_item(*tables, statistic, 0.2)
            assert (1 + ahead) / 2 == rules.follow_statistic(statistic, one, two)


@pytest.mark.parametrize(
    ("statistic", "design"),
    [("mean", None), ("midrank", "coins"), ("median", "halves"), ("trimmed", "coins")],
)
def test_thousands_of_millions_of_scores_have_p_values(
    statistic: str, design: str | None
) -> None:
    """Beyond the populations that NumPy's hypergeometric takes."""
    levels, size = np.array([1.0, 2, 3, 4, 5]), 10**9
    shares = np.array([50, 100, 200, 350, 300]) * 10**6
    moved = shares + np.array([4, -4, 0, 10, -10]) * 1000
    tables = law.ScoreCounts(levels, shares), law.ScoreCounts(levels, moved)
    found = p_values(*tables, statistic=statistic, design=design, rng=1)
    assert shares.sum() == moved.sum() == size
    if statistic in ("mean", "midrank"):
        # The normal limit is within 1e-4, by Berry and Esseen. Five standard errors.
        ranks = np.cumsum(shares + moved) - (shares + moved) / 2
        scores = levels if statistic == "mean" else ranks
        mean = (shares + moved) @ scores / (2 * size)
        spread = math.sqrt((shares + moved) @ (scores - mean) ** 2 / 4)
        z = (shares @ scores - size * mean) / spread
        wanted = 0.5 * math.erfc(z / math.sqrt(2))
        assert found.p_value_first == pytest.approx(wanted, abs=1e-4 + 5 * found.se)
    else:
        assert 0 < found.p_value <= 1


def test_no_p_value_is_rounded_to_zero() -> None:
    assert 0.5**1100 == 0
    assert p_values([1] * 1100, [0] * 1100, statistic="pairs").p_value_first > 0
    assert p_values([1] * 550, [0] * 550).p_value_first > 0


def test_a_paragraph_says_what_was_drawn_again_and_how_often() -> None:
    text = p_value_paragraph(p_values([3, 5], [1, 2], design="coins"))
    assert "each reviewer to an item by a fair coin" in text
    sampled = PValues(0.1, 0.05, 0.95, False, 99, 0.02, "sampling", "mean", "coins", 1)  # noqa: FBT003 - a field
    told = p_value_paragraph(sampled)
    assert "estimated from 99 redraws (standard error at most 0.02)" in told


@pytest.mark.parametrize("statistic", ["mean", "trimmed", "median"])
def test_few_assignments_of_unlike_scores_are_gone_through(statistic: str) -> None:
    # Sums of decimals of many digits are all different: no recursion is quicker.
    rng = np.random.default_rng(3)
    one, two = rng.normal(size=4), rng.normal(size=22)
    found = p_values(one, two, statistic=statistic)
    exact = exact_p_values(one, two, statistic=statistic)
    assert found.exact
    assert (found.p_value_first, found.p_value_second) == tuple(map(float, exact))
    assert {math.comb(26, 4) % share.denominator for share in exact} == {0}
    if statistic == "mean":
        pooled = np.concatenate([one, two])
        ways = np.array(list(itertools.combinations(range(26), 4)))
        sums = pooled[ways].sum(axis=1)
        assert found.p_value_first == (sums > one.sum() - 1e-9).mean()
        assert found.p_value_second == (sums < one.sum() + 1e-9).mean()


def test_few_scores_are_redrawn_within_moments() -> None:
    rng = np.random.default_rng(3)
    one, two = rng.normal(size=12), rng.normal(size=14)
    start = time.process_time()
    found = p_values(one, two, rng=1)
    assert (found.how, found.samples > 30_000) == ("sampling", True)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"statistic": "means"}, OptionError, "unknown statistic 'means', did you"),
        ({"statistic": "median:mid"}, OptionError, "unknown median 'mid'"),
        ({"trim": 0.5}, OptionError, "trim must be at least 0 and below 0.5"),
        ({"design": "half"}, OptionError, "unknown design 'half', did you"),
        ({"groups": [1, 2, 3]}, OptionError, "groups must be left out for design None"),
        ({"design": "panels"}, DesignError, "groups must name the panel of each"),
        ({"design": "matched"}, DesignError, "groups must name the pair of each"),
        (
            {"design": "panels", "groups": ([1], [2])},
            DesignError,
            "groups must name the panel of each reviewer for design 'panels', got",
        ),
        (
            {"design": "panels", "groups": {1, 2, 3}},
            DesignError,
            "design 'panels', got {1, 2, 3}",
        ),
        (
            {"design": "panels", "groups": ([1, 2], [1])},
            DesignError,
            "got 1 of the first item and 1 of the second for 1",
        ),
        (
            {"design": "matched", "groups": ([1, 1], [2])},
            DesignError,
            "got 2 of the first item and 0 of the second for 1",
        ),
        (
            {"design": "panels", "groups": ([[1], [2]], [3])},
            DesignError,
            "groups must name the panel of each reviewer",
        ),
        (
            {"statistic": "pairs", "design": "halves"},
            OptionError,
            "statistic 'pairs' must come with design 'matched', got 'halves'",
        ),
    ],
)
def test_names_a_wrong_option(
    wrong: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        p_values([1, 2], [3], **wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_names_wrong_scores() -> None:
    with pytest.raises(RatingsError, match=r"first score must be finite, got nan at"):
        p_values([1, math.nan], [2])
    with pytest.raises(RatingsError, match="second scores must be one list"):
        p_values([1], [[2]])
    assert p_values([], []).p_value == 1


def test_labels_may_be_arrays_and_text() -> None:
    by_two = exact_p_values(
        [1, 5], [2], design="panels", groups=(np.array(["x", "y"]), pl.Series(["z"]))
    )
    assert by_two == exact_p_values([1, 5], [2], design="panels", groups=([0, 1], [2]))
    assert exact_p_values([2], [1], design="matched", groups=("a", "a"))[0] == 1 / 2


@settings(max_examples=100)
@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False)
        | st.sampled_from([1e160, 1e-160, 1.7e308, -1.7e308, 5e-324, 0.0, 1.0]),
        min_size=2,
        max_size=8,
    ),
    experiments(8),
    st.sampled_from(sorted(STATISTICS)),
)
def test_scores_of_any_size_have_the_p_values_of_their_decimals(
    floats: list[float],
    experiment: tuple[Side, Sides, str | None, list[int]],
    name: str,
) -> None:
    _, sides, design, labels = experiment
    scores = [floats[i % len(floats)] for i in range(len(sides))]
    exact = [Fraction(repr(score)) for score in scores]
    one, two = split(scores, sides)  # type: ignore[arg-type]  # floats
    groups = grouped(design, labels, sides)
    found = p_values(one, two, design=design, groups=groups, **options(name))  # type: ignore[arg-type]  # by name
    assert found.exact
    if one and two:
        law = law_of(design, labels, sides)
        true = plain(exact, sides, law, STATISTICS[name])
        assert (found.p_value_first, found.p_value_second) == pytest.approx(true)


@pytest.mark.parametrize("statistic", ["mean", "trimmed", "median", "midrank", "pairs"])
@pytest.mark.parametrize("design", [None, "halves", "coins", "matched"])
def test_many_scores_of_any_size_are_sampled_without_overflow(
    statistic: str, design: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pvalues, "MOST_SAMPLES", 1000)
    if statistic == "pairs" and design in ("halves", "coins"):
        return
    first = [
        score * 10.0 ** (300 - 20 * i) for i, score in enumerate(many_digits(1, 30))
    ]
    second = [
        score * 10.0 ** (20 * i - 300) for i, score in enumerate(many_digits(2, 30))
    ]
    found = p_values(first, second, statistic=statistic, design=design)
    assert 0 < found.p_value <= 1


def test_pairs_of_which_none_is_complete_show_nothing() -> None:
    found = p_values([1], [2], statistic="pairs", groups=(["a"], ["b"]))
    assert (found.p_value, found.exact) == (1, True)

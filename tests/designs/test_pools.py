"""Two pools that review each other, and items that everybody gets."""

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from evenhand import DesignError, EvenhandError, Ratings, assign, rank, select
from evenhand.designs import TwoPools
from evenhand.designs.assignment import Assignment
from evenhand.designs.drawing import redraw, seal_of, verify
from evenhand.randomness import outcomes, stream
from evenhand.records.canonical import finish
from evenhand.records.record import assignment_record, load_assignment, text_of
from evenhand.records.replay import audit

FALSE_ALARM = 1e-6
SECRET = "7" * 64


def draw(n: int, **options: Any) -> Assignment:  # noqa: ANN401 - of `assign`
    own = {f"a{code:02}": f"p{code:02}" for code in range(n)}
    extra = list(options.get("common", ()))
    options = {"own_items": own, "rng": 7, **options}
    if "secret" in options:
        del options["rng"]
    return assign([*own.values(), *extra], [*own], design="two-pools", **options)


def matchings(n: int) -> Iterator[tuple[int, ...]]:
    """All ways in which each of 2n reviews one of the other pool, none in turn."""
    people = range(2 * n)
    for first in itertools.combinations(people, n):
        second = [person for person in people if person not in first]
        for there in itertools.permutations(second):
            for back in itertools.permutations(first):
                rows = dict(zip(first, there, strict=True))
                rows |= zip(second, back, strict=True)
                if all(rows[rows[person]] != person for person in people):
                    yield tuple(rows[person] for person in people)


def test_with_one_review_each_every_outcome_is_equally_likely() -> None:
    """Pools and reviews, that is: reviews in two cycles may come from several pools."""
    procedure, _ = TwoPools().plan(4, 4, 1)
    law = outcomes(lambda chance: procedure(chance, stream(0, "unused")))
    ways = Counter(matchings(2))
    assert ways.total() == 6 * 2 * 1  # Pools, reviews by one, and what these leave.
    assert law == {
        tuple((item,) for item in rows): Fraction(count, ways.total())
        for rows, count in ways.items()
    }


def test_the_law_does_not_change_when_applicants_change_names() -> None:
    procedure, uniform = TwoPools().plan(5, 5, 1)
    law = outcomes(lambda chance: procedure(chance, stream(0, "unused")))
    assert not uniform
    assert sum(law.values()) == 1
    for swap in range(4):
        names = [*range(swap), swap + 1, swap, *range(swap + 2, 5)]
        for drawn, mass in law.items():
            bundles: Any = drawn
            renamed: list[tuple[int, ...]] = [()] * 5
            for person, items in enumerate(bundles):
                renamed[names[person]] = tuple(sorted(names[item] for item in items))
            assert law[tuple(renamed)] == mass


def test_seeds_draw_pools_by_this_law() -> None:
    draws = 600
    counts = Counter(draw(4, per_reviewer=1, rng=seed).groups for seed in range(draws))
    assert len(counts) == 6
    statistic = sum((n - draws / 6) ** 2 / (draws / 6) for n in counts.values())
    assert chi2.sf(statistic, 5) > FALSE_ALARM


@settings(max_examples=60)
@given(st.data())
def test_pools_groups_conflicts_and_loads_are_kept_or_refused(
    data: st.DataObject,
) -> None:
    n, load = data.draw(st.integers(4, 13)), data.draw(st.integers(1, 3))
    side = data.draw(st.sampled_from(["per_reviewer", "per_item"]))
    labels = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    groups = {f"a{code:02}": label for code, label in enumerate(labels)}
    cells = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    met = [(f"a{r:02}", f"p{i:02}") for r, i in data.draw(st.sets(cells, max_size=4))]
    options = {side: load, "groups": groups, "conflicts": met, "common": ["c"]}
    most = max(Counter(labels).values())
    try:
        drawn = draw(n, **options, rng=data.draw(st.integers(0, 2**20)))
    except DesignError:
        assert n * load > (n // 2) * (n - n // 2) or most > 1 or met
        return
    pools, author = dict(drawn.groups or ()), {i: r for r, i in drawn.own_items}
    sizes = Counter(pools.values())
    assert sizes[1] == n // 2
    assert most <= n - n // 2
    reviews = {(r, author[i]) for r, i in drawn.rows if i != "c"}
    assert len(drawn.rows) == len(reviews) + n
    for reviewer, other in reviews:
        assert pools[reviewer] != pools[other]
        assert groups[str(reviewer)] != groups[str(other)]
        assert (other, reviewer) not in reviews
    assert not set(met) & set(drawn.rows)
    for pool in (1, 2):
        for place in (0, 1):
            loads = Counter(pair[place] for pair in reviews)
            own = [loads[person] for person in pools if pools[person] == pool]
            assert max(own) - min(own) <= 1
            if (place == 0) == (side == "per_reviewer"):
                assert set(own) == {load}
    assert redraw(drawn, int(drawn.seed or 0)) == drawn


def test_groups_stay_whole_where_the_sizes_allow_it() -> None:
    groups = {f"a{code:02}": "uvwxyz"[code % 6] for code in range(12)}
    for seed in range(30):
        pools = dict(draw(12, per_reviewer=2, groups=groups, rng=seed).groups or ())
        assert len({(groups[str(name)], pool) for name, pool in pools.items()}) == 6


def test_it_is_sealed_recorded_audited_and_amended(tmp_path: Path) -> None:
    groups = {f"a{code:02}": code % 5 for code in range(10)}
    drawn = draw(10, per_reviewer=2, groups=groups, common=["c"], secret=SECRET)
    path = tmp_path / "assignment.json"
    path.write_text(text_of(assignment_record(drawn)))
    assert load_assignment(path, secret=SECRET, seal=seal_of(SECRET)).fits_seal
    assert verify(drawn.without_secret(), SECRET, None).rows == drawn.rows
    sealed: Any = {"seal": seal_of(SECRET), "secret": SECRET}
    checks = {check.name: check.status for check in audit(path, **sealed).checks}
    assert checks["pools"] == checks["common items"] == "same"
    assert audit(path, **sealed).identical
    amended = drawn.amend(["a03"], add=["z"], secret=SECRET)
    assert dict(amended.groups or ())["z"] == dict(drawn.groups or ())["a03"]
    assert amended.item_pools == drawn.item_pools
    left = drawn.amend(["a03"], secret=SECRET)
    assert left.rows == tuple(row for row in drawn.rows if row[0] != "a03")
    assert "stay open" in left.law
    (tmp_path / "assignment-2.json").write_text(text_of(assignment_record(left)))
    assert audit(tmp_path, **sealed).identical


@pytest.mark.parametrize("fault", ["own pool", "each other", "common items"])
def test_an_audit_finds_what_breaks_pools_even_before_the_secret(
    fault: str, tmp_path: Path
) -> None:
    drawn = draw(8, per_reviewer=1, common=["c"], secret=SECRET)
    rows, pools = [*drawn.rows], dict(drawn.groups or ())
    author = {item: name for name, item in drawn.own_items}
    own = dict(drawn.own_items)
    name, item = next(row for row in rows if row[1] != "c")
    at = rows.index((name, item))
    match fault:
        case "own pool":
            near = (n for n in own if pools[n] == pools[name] and n != name)
            rows[at] = (name, own[next(near)])
        case "each other":
            theirs = next(
                row for row in rows if row[0] == author[item] != row[1] != "c"
            )
            rows[rows.index(theirs)] = (author[item], own[name])
        case _:
            rows.remove((name, "c"))
    record = assignment_record(drawn)
    record["rows"] = [list(row) for row in rows]
    forged = finish({k: v for k, v in record.items() if k not in ("hashes", "sha256")})
    path = tmp_path / "assignment.json"
    path.write_text(text_of(forged))
    first = audit(path).first
    assert first is not None
    assert first.name == ("common items" if fault == "common items" else "pools")


@pytest.mark.parametrize(
    ("n", "options", "words"),
    [
        (1, {"per_reviewer": 1}, "needs 4 or more reviewers"),
        (3, {"per_reviewer": 1}, "needs 4 or more reviewers"),
        (8, {}, "per_reviewer or per_item must be given"),
        (8, {"per_reviewer": 3}, "leave too few reviews. Ask for fewer"),
        (9, {"per_reviewer": 1, "per_item": 1}, "per_reviewer and per_item must fit"),
        (8, {"per_reviewer": 1, "own_items": {"a00": "p00"}}, "got none for 'a01'"),
        (
            8,
            {"per_reviewer": 1, "own_items": {f"a{r:02}": "p00" for r in range(8)}},
            "got 8 and 1; only common ones",
        ),
        (
            8,
            {"per_reviewer": 1, "groups": {f"a{r:02}": r < 5 for r in range(8)}},
            "group must be text or an integer, got True",
        ),
        (
            8,
            {"per_reviewer": 1, "groups": {f"a{r:02}": r // 5 for r in range(8)}},
            "split a group of more than half",
        ),
        (8, {"per_reviewer": 1, "conflicts": [("a00", "none")]}, "unknown item 'none'"),
        (8, {"per_reviewer": 1, "own_items": None}, "must name the item of each"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    n: int, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(EvenhandError, match=words):
        draw(n, **options)


def shared_ratings() -> tuple[Assignment, Ratings]:
    """Twelve items with two common ones, by reviewers who differ in their level."""
    items, people = [f"p{n:02}" for n in range(12)], [f"r{n:02}" for n in range(12)]
    drawn = assign(
        [*items, "c1", "c2"],
        people,
        design="balanced",
        per_reviewer=3,
        common=["c1", "c2"],
        rng=7,
    )
    rng = np.random.default_rng(7)
    levels = dict(zip(people, 3 * rng.standard_normal(12), strict=True))
    scores = [
        levels[str(name)]
        + (99 if item == "c1" else 5 if item == "c2" else int(str(item)[1:]))
        + rng.standard_normal() / 5
        for name, item in drawn.rows
    ]
    names, reviewed = zip(*drawn.rows, strict=True)
    return drawn, Ratings(names, reviewed, scores)


@pytest.mark.parametrize("method", ["adaptive", "additive", "mean", "bradley-terry"])
def test_common_items_compare_reviewers_and_are_not_ranked(method: str) -> None:
    drawn, ratings = shared_ratings()
    ranking = rank(ratings, method=method, assignment=drawn, top=4, rng=7)
    alone = rank(ratings, method=method, rng=7)
    assert ranking.order == tuple(i for i in alone.order if i not in ("c1", "c2"))
    assert [row.rank for row in ranking.items] == [*range(1, 13)]
    assert all(
        1 <= (row.rank_low or 1) <= (row.rank_high or 1) <= 12 for row in ranking.items
    )
    assert sum(ranking.p_top(4).values()) == pytest.approx(4)
    assert "common_items" in {notice.code for notice in ranking.notices}
    if method == "additive":
        assert ranking.order == tuple(f"p{n:02}" for n in range(11, -1, -1))


def test_methods_with_a_guarantee_rank_common_items_and_the_certificate_says_so() -> (
    None
):
    drawn, ratings = shared_ratings()
    ranking = rank(ratings, method="safe", assignment=drawn, distinct=True, rng=7)
    assert {"c1", "c2"} < set(ranking.order)
    assert ranking.certificate is not None
    assert "2 items given to everybody" in ranking.certificate.texts("checked")


def pool_scores(drawn: Assignment, seed: int, own: int = 0) -> Ratings:
    """Score by item numbers; `own` moves what applicants of pool 1 give."""
    rng, pools = np.random.default_rng(seed), dict(drawn.groups or ())
    scores = [
        len(str(item)) * int(str(item)[1:] or 5)
        + rng.normal()
        + own * rng.normal() * (pools[name] == 1)
        for name, item in drawn.rows
    ]
    names, items = zip(*drawn.rows, strict=True)
    return Ratings(names, items, scores)


@pytest.mark.parametrize("options", [{}, {"rule": "shares"}, {"noise_free": True}])
def test_no_score_moves_the_chance_of_its_givers_own_item(
    options: dict[str, Any],
) -> None:
    drawn = draw(12, per_reviewer=3, common=["c"])
    options = {**options, "assignment": drawn, "pool": 1, "places": 2}
    if "noise_free" in options:
        flat = Ratings(*zip(*((r, i, -int(str(i)[1:] or 5)) for r, i in drawn.rows)))  # noqa: B905
        chosen = select(flat, **options)
    else:
        chosen = select(pool_scores(drawn, 7), **options)
        moved = select(pool_scores(drawn, 7, own=9), **options)
        assert moved.rows == chosen.rows
        assert moved.worst_case == chosen.worst_case
    own = {item for item, pool in drawn.item_pools.items() if pool == 1}
    assert {row.item for row in chosen.rows} == own
    assert sum(row.chance for row in chosen.rows) == 2
    assert "common_items" in {notice.code for notice in chosen.notices}
    checked = chosen.certificate.texts("checked")
    assert "1 item given to everybody" in checked
    assert any("own item" in text for text in checked)


def test_common_items_compare_reviewers_and_cannot_be_chosen() -> None:
    drawn, ratings = shared_ratings()
    given: Any = {"places": 4, "method": "additive", "assignment": drawn}
    chosen = select(ratings, **given, rule="top")
    assert [row.item for row in chosen.rows] == [f"p{n:02}" for n in range(11, -1, -1)]
    assert [row.chance for row in chosen.rows] == [1] * 4 + [0] * 8
    assert sum(row.share for row in chosen.rows) == pytest.approx(4)
    step = select(ratings, **given, rule="shares", sensitivity=6).sensitivity
    assert step is not None
    assert 0 <= step.largest < 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "pool must be 1 or 2, as pools are selected each for itself"),
        ({"pool": 3}, "pool must be 1 or 2"),
        ({"assignment": None, "pool": 1}, "pool must be left out without the assign"),
        (
            {"pool": 1, "ratings": Ratings(["a00"], ["p00"], [1])},
            "who was not given it",
        ),
        (
            {"ratings": None, "intervals": "examples/panel.csv", "pool": 1},
            "left out with intervals|column",
        ),
    ],
)
def test_pools_that_cannot_be_selected_are_refused(
    options: dict[str, Any], words: str
) -> None:
    drawn = draw(8, per_reviewer=2)
    usual = {"ratings": pool_scores(drawn, 1), "places": 1, "assignment": drawn}
    with pytest.raises(EvenhandError, match=words):
        select(**{**usual, **options})


def test_common_items_stay_when_somebody_leaves() -> None:
    drawn, _ = shared_ratings()
    amended = drawn.amend(["r03"])
    for items in amended.bundles().values():
        assert {"c1", "c2"} < set(items)
    with pytest.raises(EvenhandError, match="unknown item 'c3'"):
        assign(drawn.items, drawn.reviewers, design="balanced", common=["c3"])
    with pytest.raises(EvenhandError, match="It belongs to 'balanced', 'two-pools'"):
        assign(drawn.items, drawn.reviewers, design="pairs", common=["c1"])

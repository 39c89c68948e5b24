"""Each thing in the data or the design that matters changes the certificate."""

import io
from collections.abc import Callable

import pytest

from evenhand.claims import Certificate, Label
from evenhand.designs.drawing import assign, fresh_secret, seal_of, verify
from evenhand.formats.reading import read_ratings
from evenhand.method import methods
from evenhand.posets.graph import comparisons, edges
from evenhand.ranking.methods import Flips, Twins
from evenhand.ranking.ranking import rank
from evenhand.ratings import Ratings
from evenhand.words.claims import ANY_SET_SCORED as ANSWERED
from evenhand.words.claims import LEFT_OUT

BEST = {method.name: method.best for method in methods("rank")}
METHODS = tuple(BEST)

# Two pairs that nobody compared with each other: x > y, z > w.
REVIEWERS = ["a", "a", "b", "b"]
ITEMS = ["x", "y", "z", "w"]
FREE = Ratings(REVIEWERS, ITEMS, [9, 7, 4, 3])
# Four items, each above the two bottom ones: 'x', 'y' are twins, and so are 'v', 'w'.
TWINS = Ratings(
    ["a", "a", "b", "b", "c", "c", "d", "d"],
    ["x", "v", "y", "v", "x", "w", "y", "w"],
    [3.1, 3, 3.2, 3, 2.2, 2, 2.1, 2],
)


# Theorem M holds with ties, and has tests of its own.
PROVED = [name for name in METHODS if BEST[name].theorem not in ("none", "M")]


def certificate(ratings: Ratings = FREE, **options: object) -> Certificate:
    chosen = {
        "method": "flips",
        "design": "pairs",
        "distinct": True,
        "rng": 7,
        **options,
    }
    found = rank(ratings, **chosen).certificate  # type: ignore[arg-type]  # as given
    assert found is not None
    return found


def test_flips_on_clean_data_may_claim_the_papers_theorem_5() -> None:
    found = certificate()
    assert (found.theorem, found.loss) == ("paper 5", "zero-one")
    assert found.baseline == "every ordinal method"
    assert found.prior == "every true ranking equally likely"
    assert found.conditional == "given the comparisons"
    assert found.strict
    assert found.retired == 2
    assert "no ties within a reviewer" in found.texts("checked")
    assert "equal loads: 2 items each" in found.texts("checked")
    assert "random assignment (pairs): declared" in found.texts("declared")


@pytest.mark.parametrize("name", PROVED)
def test_a_tie_within_a_reviewer_voids_every_ranking_guarantee(name: str) -> None:
    tied = Ratings(REVIEWERS, ITEMS, [9, 9, 4, 3])
    assert certificate(method=name).theorem != "none"
    found = certificate(tied, method=name)
    assert found.theorem == "none"
    assert not found.strict
    assert "1 reviewer gave equal scores to several items" in found.sentence


@pytest.mark.parametrize("name", PROVED)
def test_no_ranking_guarantee_stands_on_scores_unless_ties_are_ruled_out(
    name: str,
) -> None:
    found = certificate(method=name)
    assert "no reviewer would give two items the same score" in found.texts("declared")
    silent = certificate(method=name, distinct=False)
    assert (silent.theorem, silent.strict) == ("none", False)
    assert "declare it (distinct=True or --design 'NAME(distinct)')" in silent.sentence
    tied = certificate(Ratings(REVIEWERS, ITEMS, [9, 9, 4, 3]), method=name)
    assert "although distinct says that nobody would" in tied.sentence


@pytest.mark.parametrize("name", ["topological", "uniform", "mean-rank"])
def test_orders_leave_no_room_for_ties_and_say_so(name: str) -> None:
    for ratings in (
        Ratings.from_ranks(REVIEWERS, ITEMS, [1, 2, 1, 2]),
        Ratings.from_comparisons(["x", "z"], ["y", "w"]),
    ):
        found = certificate(ratings, method=name, distinct=False)
        assert found.theorem != "none"
        assert "no reviewer would give two items the same score" in found.texts(
            "declared"
        )


# Items a, b, c; {a, c} and {b, c} in random order to two reviewers with marks 1 to 5
# who know the truth. Given that a and b are above c and no tie shows.

Marks = tuple[dict[str, int], dict[str, int]]


def untied(tailored: Callable[[str, str], Marks]) -> list[tuple[Ratings, str]]:
    """Return the data in which no tie shows, and the better of a and b."""
    found = []
    for better, worse in (("a", "b"), ("b", "a")):
        marks = tailored(better, worse)
        for bundles in (("ac", "bc"), ("bc", "ac")):
            rows = [
                (who, item, marks[who][item])
                for who, own in enumerate(bundles)
                for item in own
            ]
            ratings = Ratings(*map(list, zip(*rows, strict=True)))
            if not ratings.tied_reviewers:
                found.append((ratings, better))
    return found


def one_stingy(better: str, worse: str) -> Marks:
    """One gives 2 to the best alone; the other gives both upper items 5."""
    return ({better: 2, worse: 1, "c": 1}, {better: 5, worse: 5, "c": 1})


def careful_only_with_b(better: str, worse: str) -> Marks:
    """Nobody tells items apart if a is the best."""
    top = 5 if better == "b" else 1
    marks = {better: top, worse: (top + 1) // 2, "c": 1}
    return (marks, marks)


@pytest.mark.parametrize(
    ("method", "right"),
    [
        ("flips", 0.125),
        ("sorter", 0.125),
        ("twins", 0.125),
        ("ties(noise=1)", 0.0169),
        ("safe(noise=1)", 0.0169),
        ("safe", 0.0),
    ],
)
def test_ties_that_do_not_show_leave_scores_wrong_and_claim_nothing(
    method: str, right: float
) -> None:
    cases = untied(one_stingy)
    # One assignment of the two for each truth, with the same comparisons, so by these
    # alone any method is right half of the time.
    assert [better for _, better in cases] == ["a", "b"]
    for ratings, _ in cases:
        above, below = edges(comparisons(ratings))
        assert (sorted(above.tolist()), below.tolist()) == ([0, 1], [2, 2])
    chances = []
    for ratings, better in cases:
        result = rank(ratings, method=method, design="pairs", rng=7)
        assert result.certificate is not None
        assert result.certificate.theorem == "none"
        (draw,) = result.draws
        assert set(draw.items) == {"a", "b"}
        first = draw.items[0] == better
        chances.append(draw.p_first if first else 1 - draw.p_first)
    assert sum(chances) / 2 == pytest.approx(right, abs=5e-5)


def test_ties_that_do_not_show_can_leave_the_ordinal_answer_always_wrong() -> None:
    cases = untied(careful_only_with_b)
    # So b is the best wherever a and b are above c; Lemma 1 says 1/2.
    assert [better for _, better in cases] == ["b", "b"]
    for ratings, _ in cases:
        result = rank(ratings, method="topological", design="pairs", rng=7)
        assert result.order == ("a", "b", "c")
        assert result.certificate is not None
        assert result.certificate.theorem == "none"


def test_a_claim_made_only_where_no_value_repeats_would_be_false_there() -> None:
    # Strictly increasing scales, c above a above b. The assignment in which a coin on
    # the scores of a and b goes right has 8 twice; the other has four different values.
    scales = ({"c": 8, "a": 2, "b": 1}, {"c": 9, "a": 8, "b": 7})
    chances = {}
    for bundles in (("ac", "bc"), ("bc", "ac")):
        rows = [
            (who, item, scales[who][item])
            for who, own in enumerate(bundles)
            for item in own
        ]
        ratings = Ratings(*map(list, zip(*rows, strict=True)))
        result = rank(ratings, method="flips", design="pairs", distinct=True, rng=7)
        assert result.certificate is not None
        assert result.certificate.strict
        (draw,) = result.draws
        p = draw.p_first if draw.items[0] == "a" else 1 - draw.p_first
        chances[len(set(ratings.scores.tolist()))] = p
    # Right with probability 1/12 where nothing repeats; on average more than 1/2.
    assert chances[4] == pytest.approx(1 / 12)
    assert (chances[3] + chances[4]) / 2 > 0.5


@pytest.mark.parametrize("name", PROVED)
def test_an_undeclared_design_voids_and_says_what_a_declared_one_would_give(
    name: str,
) -> None:
    found = certificate(method=name, design=None)
    assert found.theorem == "none"
    assert "nobody declared how reviewers were assigned" in found.sentence
    assert certificate(method=name).theorem != "none"


@pytest.mark.parametrize("name", ["flips", "flips-uniform", "twins", "sorter"])
def test_unequal_loads_void_what_scores_settle_but_not_the_ordinal_part(
    name: str,
) -> None:
    uneven = Ratings(
        ["a", "a", "a", "b", "b"], ["x", "y", "u", "z", "w"], [9, 7, 6, 4, 3]
    )
    found = certificate(uneven, method=name, design="balanced")
    assert found.theorem == "none"
    assert "reviewers scored from 2 to 3 items each" in found.sentence
    ordinal = certificate(uneven, method="mean-rank", design="balanced")
    assert ordinal.theorem == "paper Lemma 1"


def test_a_pair_given_twice_contradicts_the_declared_design() -> None:
    twice = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [9, 7, 4, 3])
    found = certificate(twice, method="topological")
    assert found.theorem == "none"
    assert "which is not so here" in found.sentence
    assert certificate(twice, method="topological", design="balanced").theorem != "none"


@pytest.mark.parametrize("method", ["flips", "sorter", "twins", "ties", "safe"])
@pytest.mark.parametrize(
    "scores", [[9, 7, 4, 3], [9e16, 7e16, 4, 3], [9e5, 7e5, 2e-6, 1e-6]]
)
def test_strictness_does_not_depend_on_the_gaps_at_hand(
    method: str, scores: list[float]
) -> None:
    people, items = ["a", "a", "b", "b"], ["x", "z", "y", "z"]
    assert certificate(Ratings(people, items, scores), method=method).strict


def test_a_weight_that_is_rounded_is_never_strict() -> None:
    for scores in ([9, 7, 4, 3], [9e16, 7e16, 4, 3]):
        ratings = Ratings(REVIEWERS, ITEMS, scores)
        found = certificate(ratings, method="flips(weight=sigmoid)")
        assert found.theorem == "paper 5"
        assert not found.strict
        assert "weight sigmoid is rounded" in found.sentence


def test_a_callable_weight_is_only_checked_on_a_grid() -> None:
    assert any("by its form" in text for text in certificate().texts("checked"))
    found = certificate(method=Flips(weight=lambda gap: gap / (2 + gap)))  # type: ignore[arg-type]  # read as one
    assert any("checked on a grid" in text for text in found.texts("declared"))
    assert not any("by its form" in text for text in found.texts("checked"))


def test_a_start_of_ones_own_is_taken_at_its_word() -> None:
    found = certificate(method=Twins(start=lambda *_: [0, 1, 2, 3]))  # type: ignore[arg-type]  # read as one
    assert "a start that does not look at scores" in found.texts("declared")


def test_the_papers_scan_holds_on_average_only() -> None:
    ours = certificate(method="flips-uniform")
    papers = certificate(method="flips-uniform(scan=paper)")
    assert ours.conditional == "given the comparisons"
    assert papers.conditional == "on average over random comparisons"


def test_a_ranking_that_nothing_was_free_in_is_just_as_good_as_ordinal_ones() -> None:
    chain = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 4, 3])
    for name in ("flips", "sorter", "ties", "safe"):
        found = certificate(chain, method=name)
        assert found.theorem != "none"
        assert not found.strict, name
        assert "it is its ordinal start" in found.sentence


@pytest.mark.parametrize("name", ["ties", "safe"])
def test_ties_may_claim_theorem_t_or_a(name: str) -> None:
    raw = certificate(TWINS, method=f"{name}(anchored=false)")
    assert (raw.theorem, raw.baseline, raw.prior) == (
        "T",
        "random tie-breaking",
        "any true ranking",
    )
    assert raw.strict
    assert certificate(TWINS, method=name).theorem == "A"


def test_a_reviewer_who_serves_twice_leaves_kendall_only() -> None:
    found = certificate(TWINS, method="ties(anchored=false)")
    assert found.loss == "kendall"
    assert "used twice" in found.sentence
    once = Ratings(
        ["a", "a", "b", "b", "c", "c", "d", "d"],
        ["x", "v", "y", "v", "p", "q", "r", "s"],
        [3.1, 3, 3.2, 3, 2.2, 2, 2.1, 2],
    )
    alone = certificate(once, method="ties(anchored=false)")
    assert alone.loss == "kendall, zero-one"


def test_without_noise_ties_are_never_worse_but_not_strictly_better() -> None:
    assert certificate(TWINS, method="ties").strict
    assert not certificate(TWINS, method="ties(noise=0)").strict


def test_a_claim_that_is_not_strict_is_never_worded_as_if_it_were() -> None:
    ratings = Ratings(
        ["r1", "r1", "r2", "r2", "r3", "r3", "r4", "r4"],
        ["a1", "b1", "a2", "b2", "a1", "b2", "a2", "b1"],
        [5, 1, 1e200, 2, 9, 1, 7, 3],
    )
    method = "ties(noise=0)"
    found = certificate(ratings, method=method, design="balanced", rng=1)
    assert found.theorem != "none"
    assert not found.strict
    assert found.loss == "kendall"
    assert found.sentence.startswith("No farther")


def test_z_may_claim_nothing_on_any_data() -> None:
    found = certificate(method="z")
    assert found.theorem == "none"
    assert found.sentence.startswith("No guarantee")


def sealed_ratings(
    conflicts: list[tuple[Label, Label]],
) -> tuple[Ratings, object, object]:
    people = [f"r{number}" for number in range(4)]
    papers = ["p1", "p2", "p3", "p4"]
    secret = fresh_secret()
    drawn = assign(
        papers,
        people,
        design="balanced",
        per_reviewer=2,
        conflicts=conflicts,
        secret=secret,
    )
    value = {paper: 10.0 - number for number, paper in enumerate(papers)}
    rows = [(who, what, value[str(what)]) for who, what in drawn.rows]
    ratings = Ratings(*map(list, zip(*rows, strict=True)))
    return (
        ratings,
        drawn.without_secret(),
        verify(drawn.without_secret(), secret, seal_of(secret)),
    )


def test_a_sealed_assignment_is_verified_instead_of_declared() -> None:
    ratings, sealed, verified = sealed_ratings([])
    options = {"method": "topological", "design": None}
    before = certificate(ratings, assignment=sealed, **options)
    after = certificate(ratings, assignment=verified, **options)
    assert "random assignment (balanced): declared" in before.texts("declared")
    assert "random assignment (balanced): verified" in after.texts("checked")
    assert not any("random assignment" in text for text in after.texts("declared"))


def test_conflicts_of_interest_void_what_scores_settle() -> None:
    ratings, _, verified = sealed_ratings([("r0", "p1")])
    options = {"design": None, "assignment": verified}
    found = certificate(ratings, method="flips", **options)
    assert found.theorem == "none"
    assert "conflicts of interest" in found.sentence
    assert certificate(ratings, method="topological", **options).theorem != "none"


def test_a_missing_rating_is_declared_to_mean_nothing() -> None:
    ratings, _, verified = sealed_ratings([])
    rows = ratings.rows()[1:]
    fewer = Ratings(
        [row["reviewer"] for row in rows],  # type: ignore[misc]  # labels
        [row["item"] for row in rows],  # type: ignore[misc]  # labels
        [row["score"] for row in rows],  # type: ignore[misc]  # numbers
        all_items=["p1", "p2", "p3", "p4"],
    )
    found = certificate(fewer, method="mean-rank", design=None, assignment=verified)
    assert f"{ANSWERED} (1 assigned rating missing)" in found.texts("declared")


@pytest.mark.parametrize("name", METHODS)
def test_no_certificate_claims_more_than_the_catalogue_does_at_best(name: str) -> None:
    best = BEST[name]
    for ratings in (FREE, TWINS):
        found = certificate(ratings, method=name)
        assert found.theorem in (best.theorem, "none", "A")
        assert not (found.strict and not best.strict)


def rated(rows: list[tuple[Label, Label]]) -> Ratings:
    """Rate without noise: value of the item on the reviewer's own scale."""
    scores = [(int(str(item)[1:]) + 1) * (1 + len(str(who))) for who, item in rows]
    return Ratings([who for who, _ in rows], [item for _, item in rows], scores)


@pytest.mark.parametrize("name", ["flips", "ties", "sorter", "safe"])
def test_unequal_loads_that_were_drawn_keep_the_claim(name: str) -> None:
    items, people = [f"p{n}" for n in range(8)], ["A", "Bo", "Cyd", "Dora", "Emile"]
    first = assign(items, people, design="balanced", per_reviewer=2, rng=3)
    drawn = first.amend(["Bo"])
    ratings = rated(list(drawn.rows))
    with_record = rank(ratings, method=name, assignment=drawn, distinct=True, rng=7)
    told = with_record.certificate
    assert told is not None
    assert told.theorem != "none", told.sentence
    assert "1 reviewer left for reasons that have nothing to do with items" in (
        told.texts("declared")
    )
    assert "unequal_loads" not in {notice.code for notice in with_record.notices}
    # The same ratings without the record: who had more items may be anybody's choice.
    bare = rank(ratings, method=name, design="balanced", distinct=True, rng=7)
    assert "unequal_loads" in {notice.code for notice in bare.notices}


def test_one_who_stopped_halfway_voids_what_unequal_loads_settle() -> None:
    items, people = [f"p{n}" for n in range(8)], ["A", "Bo", "Cyd", "Dora", "Emile"]
    first = assign(items, people, design="balanced", per_reviewer=2, rng=3)
    own = next(row for row in first.rows if row[0] == "Bo")
    drawn = first.amend(["Bo"], done=rated([own]))
    told = rank(
        rated(list(drawn.rows)), method="flips", assignment=drawn, distinct=True, rng=7
    ).certificate
    assert told is not None
    assert "need equal loads" in told.sentence or "needs equal loads" in told.sentence
    without = [row for row in drawn.rows if row[0] != "Bo"]
    kept = rank(
        rated(without), method="flips", assignment=drawn, distinct=True, rng=7
    ).certificate
    assert kept is not None
    assert kept.theorem == "paper 5"


@pytest.mark.parametrize(
    "name", [method.name for method in methods("rank") if method.best.theorem != "none"]
)
def test_every_claim_declares_that_whoever_scored_would_have_scored_other_items(
    name: str,
) -> None:
    # r1 silent if given the worse of two: right with probability .0102 (flips).
    each = "whether a rating is missing has nothing to do with which item it is of"
    answered = each if BEST[name].theorem == "M" else ANSWERED
    assert answered in certificate(method=name).texts("declared")


def test_what_was_left_out_is_declared_to_be_left_out_blindly() -> None:
    text = "reviewer,item,score\na,x,3\na,y,2\nb,z,5\nb,w,4\nc,x,1\nc,w,2\n"
    whole = read_ratings(io.StringIO(text))
    part = read_ratings(io.StringIO(text), exclude=["reviewer=c"])
    only = read_ratings(io.StringIO(text), only=["a", "b"])
    assert LEFT_OUT not in certificate(whole, method="safe").texts("declared")
    assert LEFT_OUT in certificate(part, method="safe").texts("declared")
    assert LEFT_OUT in certificate(only, method="safe").texts("declared")

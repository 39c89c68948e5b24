"""A few lines say no more than the certificate does."""

import evenhand as eh
from evenhand.words.cards import comparison_card
from evenhand.words.lines import claim, comparison_lines


def test_a_fault_of_the_data_is_not_hidden_behind_a_missing_declaration() -> None:
    tied = eh.Ratings(list("aabbcc"), list("xyzwxw"), [9, 9, 3, 2, 5, 1])
    certificate = eh.rank(tied, method="safe", rng=1).certificate
    assert certificate is not None
    said = claim(certificate)
    assert "ties within a reviewer void every ranking guarantee" in said
    assert "nobody declared how reviewers were assigned" in said
    assert said.index("ties within") < said.index("nobody declared")
    # Declaring a design would not help, so nobody is told that it would.
    assert "With that" not in certificate.sentence


def test_what_may_still_be_declared_says_what_that_would_give() -> None:
    free = eh.Ratings(list("aabbcc"), list("xyzwxw"), [9, 8, 3, 2, 5, 1])
    certificate = eh.rank(free, method="safe", rng=1).certificate
    assert certificate is not None
    assert "--design: pairs, balanced" in certificate.sentence
    assert "--design 'NAME(distinct)'" in certificate.sentence
    assert "With that it is, at best, closer to the true" in certificate.sentence


def test_explaining_says_what_weakens_a_claim() -> None:
    found = eh.compare([3, 4, 5], [1, 2], design="coins", rng=1)
    said = comparison_card(found, html=False).lines()
    weaker = [line for line in said if "It claims no more, because" in line]
    assert len(weaker) == 1
    assert "the counts are unequal (3 and 2)" in weaker[0]


def test_a_label_with_full_stops_does_not_cut_the_claim() -> None:
    title = "Dr. A. Smith: a long title. Of a paper. " * 4
    found = eh.compare([1, 2], [], items=["x", title], design="halves", rng=1)
    said = claim(found.certificate)
    assert "has no score, so a fair coin decided." in said


def test_a_p_value_without_a_design_says_what_it_rests_on() -> None:
    bare, declared = (
        comparison_lines(eh.compare([3, 4, 5], [1, 2, 2], design=design, rng=1))[1]
        for design in (None, "halves")
    )
    assert "if reviewers were assigned at random, which nobody declared" in bare
    assert "on any increasing scales" in declared


def test_a_test_that_is_asked_for_has_the_methods_own_median() -> None:
    sides, words = ([7, 9, 4, 1], [6, 3, 5]), {"test": "median", "design": "halves"}
    lower = eh.compare(*sides, method="median(lower)", rng=7, **words)  # type: ignore[arg-type]  # by name
    upper = eh.compare(*sides, method="guarded", rng=7, **words)  # type: ignore[arg-type]  # by name
    followed = "guarded(statistic=median(lower))"
    guarded = eh.compare(*sides, method=followed, rng=7, **words)  # type: ignore[arg-type]  # by name
    assert guarded.p_value == upper.p_value != lower.p_value

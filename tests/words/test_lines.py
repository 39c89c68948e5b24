"""A few lines say no more than the certificate does."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest

import evenhand as eh
from evenhand.claims import Claim, Finding, certify
from evenhand.cli._shared import render
from evenhand.cli.compare import explain
from evenhand.ranking.results import add_top
from evenhand.words import tables
from evenhand.words.cards import comparison_card
from evenhand.words.exports import table_of
from evenhand.words.lines import (
    claim,
    comparison_lines,
    cut_lines,
    difference_sentence,
    interval_sentences,
    p_value_text,
)


def test_a_fault_of_the_data_is_not_hidden_behind_a_missing_declaration() -> None:
    tied = eh.Ratings(list("aabbcc"), list("xyzwxw"), [9, 9, 3, 2, 5, 1])
    certificate = eh.rank(tied, method="safe", rng=1).certificate
    assert certificate is not None
    said = claim(certificate)
    assert "ties within a reviewer void every ranking guarantee" in said
    assert said.index("ties within") < said.index("no --design was given")
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
    weaker = [line for line in said if "A stronger claim fails because" in line]
    assert len(weaker) == 1
    assert "the counts are unequal (3 and 2)" in weaker[0]


def test_a_label_with_full_stops_does_not_cut_the_claim() -> None:
    title = "Dr. A. Smith: a long title. Of a paper. " * 4
    void = Finding("other_design", "void", {"known": ["halves"], "design": title})
    said = claim(certify(Claim("coin", "G"), [void]))
    assert said.endswith(f"not for {title!r}.")


def test_a_p_value_without_a_design_says_what_it_rests_on() -> None:
    bare, declared = (
        comparison_lines(eh.compare([3, 4, 5], [1, 2, 2], design=design, rng=1))[1]
        for design in (None, "halves")
    )
    assert "assumes random assignment (declare it with --design) and that" in bare
    assert declared == (
        "Difference 2.33, p = 0.1 (midrank test). It assumes that nobody's decision to "
        "answer depended on the item they got."
    )


STARS = (
    np.repeat([1, 2, 3, 4, 5], [6, 6, 21, 51, 36]),
    np.repeat([1, 2, 3, 4, 5], [3, 18, 32, 44, 21]),
)


def test_ten_lines_say_it_whatever_the_method_and_the_design() -> None:
    methods = [method.name for method in eh.methods("compare")]
    names = ("new design", "old design")
    designs = [None, "coins", "halves"]
    tried = [("guarded", design) for design in designs]
    tried += [(name, designs[place % 3]) for place, name in enumerate(methods)]
    for method, design in tried:
        found = eh.compare(*STARS, items=names, method=method, design=design, rng=1)
        assert len(explain(found).splitlines()) <= 10, method
        assert found.difference is not None
        assert found.difference.estimate == pytest.approx(3.875 - 416 / 118)


def test_the_first_lines_are_what_people_came_for() -> None:
    found = eh.compare(*STARS, items=("new", "old"), design="halves", rng=1)
    assert comparison_lines(found)[:5] == [
        "new comes out ahead of old, by trimmed means; mean 3.88 (n 120) against 3.53 "
        "(n 118).",
        "Difference 0.350 (95% interval 0.085 to 0.621, assuming a constant shift), "
        f"p = {p_value_text(found.p_value)} (midrank test, sampled). It assumes "
        "that nobody's decision to answer depended on the item they got.",
        "score   1    2    3    4    5",
        "new    5%   5%  18%  42%  30%",
        "old    3%  15%  27%  37%  18%",
    ]
    assert interval_sentences(found).count("It supposes one common scale") == 1


def test_the_item_that_came_out_may_have_the_lower_mean() -> None:
    turned = eh.compare([3, 4, 5, 6], [1, 2, 2, 3], method="coin", rng=1)
    assert turned.winner == "B"
    lines = comparison_lines(turned)
    assert lines[0].endswith("by a fair coin; mean 2 (n 4) against 4.5 (n 4).")
    assert lines[1] == "Difference -2.50."


def test_a_p_value_that_the_interval_does_not_follow_is_not_alone() -> None:
    """By midranks 0.027; one outlier hides it from the means."""
    first, second = [5, 6, 7, 8, 9, 10, 11, -40], [1, 2, 3, 4, 1, 2, 3, 4]
    found = eh.compare(first, second, design="halves", rng=1)
    assert found.p_value is not None
    assert found.difference is not None
    assert found.difference.p_value is not None
    assert found.p_value <= 0.05 < found.difference.p_value
    by_means = f"(midrank test, by means {found.difference.p_value:.3g}). It assumes"
    assert f"p = {p_value_text(found.p_value)} {by_means}" in difference_sentence(found)


def test_orders_have_no_means() -> None:
    ratings = eh.Ratings.from_comparisons(["x", "x"], ["y", "y"], reviewers=["a", "b"])
    found = eh.compare(ratings, both="decide", rng=1)
    assert found.scores is None
    assert found.difference is None
    lines = comparison_lines(found)
    assert lines[0] == "x comes out ahead of y, by reviewers of both."
    assert found.to_frame()["n_first", "difference"].row(0) == (None, None)
    coin = eh.compare(ratings, method="coin", rng=1)
    assert (coin.scores, coin.difference) == (None, None)


def test_a_test_that_is_asked_for_has_the_methods_own_median() -> None:
    sides, words = ([7, 9, 4, 1], [6, 3, 5]), {"test": "median", "design": "halves"}
    lower = eh.compare(*sides, method="median(lower)", rng=7, **words)  # type: ignore[arg-type]  # by name
    upper = eh.compare(*sides, method="guarded", rng=7, **words)  # type: ignore[arg-type]  # by name
    followed = "guarded(statistic=median(lower))"
    guarded = eh.compare(*sides, method=followed, rng=7, **words)  # type: ignore[arg-type]  # by name
    assert guarded.p_value == lower.p_value != upper.p_value


def papers(items: int = 5, title: str = "On trees; part") -> eh.Ratings:
    """Three reviewers who agree on all papers, with titles."""
    rows = [
        f"{who},{item},{title} {item},{-item}" for who in "abc" for item in range(items)
    ]
    text = "\n".join(["reviewer,item,title,score", *rows])
    return eh.read_ratings(io.StringIO(text))


def test_titles_are_everywhere_that_items_are() -> None:
    ratings = papers()
    result = eh.rank(ratings, method="mean-rank", top=2, rng=7)
    assert result.titles == ratings.titles
    assert (
        cut_lines(result)[0] == "In (2): 0 (On trees; part 0) and 1 (On trees; part 1)."
    )
    assert "1 On trees; part 1" in repr(result)
    assert '<bdi class="title">On trees; part 1</bdi>' in result._repr_html_()
    assert result.to_frame()["title"].to_list() == [*ratings.titles.values()]
    exported = table_of("ranking", ratings, result)
    assert exported["title"].to_list() == [*ratings.titles.values()]
    assert exported["side"].to_list() == ["in", "in", "out", "out", "out"]
    assert (
        "title" not in eh.rank(ratings.__class__(["a"], ["x"], [1])).to_frame().columns
    )


def test_a_notebook_has_the_columns_and_the_cut_of_the_terminal() -> None:
    result = eh.rank(papers(), method="mean-rank", top=2, rng=7)
    page, text = result._repr_html_(), repr(result).splitlines()
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page)
    assert "  ".join(heads).split() == text[3].split()
    assert ">cut after 2</td>" in page
    assert " cut after 2 " in text[6]


def test_names_of_a_group_are_markup_only_where_they_may_be() -> None:
    result = eh.rank(papers(title="<b>"), method="mean-rank", top=1, rng=7)
    assert cut_lines(result)[0] == "In (1): 0 (<b> 0)."
    assert "&lt;b&gt; 0" in cut_lines(result, html=True)[0]


def test_open_items_without_a_place_left_are_said_so() -> None:
    # Both may be second, but the first two have no rank below.
    ranks = eh.rank(papers(4), method="mean-rank", top=2, rng=7)
    rows = [row._replace(rank_low=2) if row.rank == 3 else row for row in ranks.items]
    again = add_top(replace(ranks, items=tuple(rows)), 2)
    said = cut_lines(again)
    assert said[1] == "Too close to call (1 item, no place left): 2 (On trees; part 2)."
    assert not any(line.startswith("By rank") for line in said)


def test_a_title_takes_one_line_of_the_table() -> None:
    result = eh.rank(papers(title="Trees and their many leaves " * 6), top=2, rng=7)
    shown = render(tables.ranking(result)).splitlines()
    rows = [line for line in shown if line.startswith("│")]
    assert len(rows) == 5
    assert all("Trees and" in row and "…" in row for row in rows)
    assert {len(row) for row in rows} == {100}

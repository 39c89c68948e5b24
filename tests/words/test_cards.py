from html.parser import HTMLParser

import pytest
from markupsafe import escape

from evenhand import Ratings, compare, rank
from evenhand.diagnosis.check import check
from evenhand.words.cards import Card
from evenhand.words.text import name, notice, share

NASTY = (
    "<script>alert(1)</script>",
    '=HYPERLINK("x")',
    "../../etc/passwd",
    "</script>",
    "{{7*7}}",
    "'\"",
    "a\u202eb",
    "two\nlines\x1b[2J",
    "x" * 10_000,
)
CHAIN = Ratings(["a"] * 3 + ["b"] * 3, ["x", "y", "z"] * 2, [3, 2, 1, 9, 8, 4])


class Seen(HTMLParser):
    """Every tag of a page, and whether they close in order."""

    VOID = ("br", "meta", "input", "link")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("label", NASTY)
def test_names_cannot_break_a_notebook(label: str) -> None:
    ratings = Ratings(["a", "a", "b"], [label, "y", "y"], [2, 1, 3])
    results = (
        rank(ratings, top=1, rng=7),
        rank(ratings, method="safe", rng=7),
        compare([3], [2], items=(label, "y"), rng=7),
        check(Ratings([label, label], ["x", "y"], [1, 1]), rng=7),
    )
    for result in results:
        page = result._repr_html_()
        seen = Seen(page)
        assert seen.open == []
        assert "script" not in seen.tags
        assert not any(key.startswith("on") for key, _ in seen.attributes)
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert len(page) < 20_000


def test_a_ranking_shows_the_decision_the_claim_and_the_notices() -> None:
    result = rank(CHAIN, method="safe", top=1, design="balanced", rng=7)
    page = result._repr_html_()
    assert "1 of 3 is in, and none is too close to call." in page
    assert "In (1): <bdi>x</bdi>." in page
    assert "What this may claim" in page
    assert "What this may not claim" in page
    assert result.certificate is not None
    assert escape(result.certificate.sentence) in page
    for one in result.notices:
        assert escape(one.message) in page


def test_an_undeclared_design_is_said_to_leave_no_guarantee() -> None:
    page = rank(CHAIN, method="safe", rng=7)._repr_html_()
    assert "it comes with no guarantee" in page
    assert "Reason: nobody declared how reviewers were assigned." in page
    assert "declare it (distinct=True or --design &#39;NAME(distinct)&#39;)." in page


def test_a_declared_design_is_said_to_be_only_declared() -> None:
    options = {"design": "balanced", "distinct": True, "rng": 7}
    page = rank(CHAIN, method="safe", **options)._repr_html_()  # type: ignore[arg-type]  # as given
    assert "This assumes, and the ratings cannot show: random assignment" in page
    assert "comes with no guarantee" not in page


def test_every_method_of_ranking_has_words_for_what_it_may_claim() -> None:
    ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
    options = {"design": "pairs", "distinct": True, "rng": 7}
    told = {
        method: rank(ratings, method=method, **options)._repr_html_()  # type: ignore[arg-type]  # as given
        for method in (
            "topological",
            "uniform",
            "mean-rank",
            "flips",
            "flips-uniform",
            "twins",
            "sorter",
            "ties",
            "safe",
            "adaptive",
            "mean",
            "borda",
        )
    }
    assert all(
        "What this may claim</strong></p><ul><li>" in one for one in told.values()
    )
    assert "no method is exactly right more often" in told["topological"]
    assert "in the worst case" in told["uniform"]
    assert "squared differences of ranks" in told["mean-rank"]
    assert "reviewer's own order only" in told["flips"]
    assert "reviewer's own order only" in told["sorter"]
    assert "one drawn at random among all" in told["flips-uniform"]
    assert "than the order that the method started from" in told["twins"]
    assert "sorted at random" in told["safe"]
    assert "whatever scale each reviewer has in mind" in told["mean"]


def test_long_rankings_are_cut_in_a_notebook() -> None:
    page = rank(Ratings(["a"] * 55, range(55), range(55)), rng=7)._repr_html_()
    assert page.count("<tr") == 41
    assert "55 items; 15 below not shown" in page


def test_a_comparison_calls_its_probability_the_coins() -> None:
    page = compare([7, 9, 4], [6, 3, 5], design="halves", rng=1)._repr_html_()
    assert "<bdi>A</bdi> comes out ahead of <bdi>B</bdi>" in page
    assert "This is randomisation, not the probability that it is better" in page
    assert "right more often than a fair coin" in page
    assert "is the probability of an error" in page
    assert "confiden" not in page


def test_a_check_shows_its_findings() -> None:
    found = check(CHAIN, rng=7)
    page = found._repr_html_()
    for one in found.findings:
        assert escape(one.message) in page
    assert "it ranks nothing." in page


def test_a_card_has_no_script_and_sets_no_colour_of_text() -> None:
    page = rank(CHAIN, top=1, rng=7)._repr_html_()
    assert "<script" not in page
    assert "background" not in page
    assert ";color:" not in page


def test_labels_are_kept_apart_from_the_text_around_them() -> None:
    assert name("שלום") == "<bdi>שלום</bdi>"
    assert name("x" * 81).startswith('<bdi title="xxx')
    assert name("x" * 81).endswith("x…</bdi>")


def test_a_notice_with_an_endless_label_is_cut() -> None:
    card = Card("t", (), (), (), (notice("x" * 5000),))
    assert 900 < len(card.html()) < 1400


@pytest.mark.parametrize(
    ("value", "certain", "text"),
    [
        (0.0, True, "0%"),
        (0.0, False, "under 0.1%"),
        (1.0, False, "over 99.9%"),
        (0.99999, True, "over 99.9%"),
        (0.5, True, "50%"),
        (None, True, ""),
    ],
)
def test_a_rounded_share_is_not_called_certain(
    *, value: float | None, certain: bool, text: str
) -> None:
    assert share(value, certain=certain) == text

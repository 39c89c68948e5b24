"""The report as text: what it says, what it may not, and that no name breaks it."""

import functools
import re
from collections.abc import Callable
from html.parser import HTMLParser

import numpy as np
import pytest
from markupsafe import escape

from evenhand import Check, Ratings, compare, rank, read_ratings
from evenhand.diagnosis.check import check
from evenhand.diagnosis.warp import warp
from evenhand.words.page import Replay, report

NASTY = [
    "<script>alert(1)</script>",
    '=HYPERLINK("x")',
    "../../etc/passwd",
    "</script>",
    "{{7*7}}",
    "{% raise %}",
    'it\'s "quoted" & <b>bold</b>',
    "a\u202eb\u2028c",
    "two\nlines\x1b[2J",
    "x" * 10_000,
    "שלום",
    "http://example.invalid/x.png",
]
VOID = ("meta", "input", "br", "link", "img")
REPLAY = Replay("evenhand rank ratings.csv --seed 7", None, "r.csv")


class Page(HTMLParser):
    """A page taken apart: tags that must close, ids, text outside of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.text))


@functools.cache
def workshop() -> Ratings:
    return read_ratings("examples/workshop/ratings.csv")


@functools.cache
def workshop_page() -> str:
    ratings = workshop()
    return report(
        ratings,
        rank(ratings, top=3, rng=7),
        check=check(ratings, top=3, rng=7),
        warp=warp(ratings, method="adaptive", top=3, draws=20, rng=7),
        replay=REPLAY,
    )


@functools.cache
def safe_page() -> str:
    ratings = workshop()
    result = rank(ratings, method="safe", top=3, design="balanced", rng=7)
    replay = Replay("evenhand rank r.csv", "evenhand audit record.json r.csv")
    found = check(ratings, top=3, rng=7)
    return report(ratings, result, check=found, replay=replay)


@functools.cache
def designs_page() -> str:
    ratings = read_ratings("examples/designs.csv")
    result = compare(ratings, design="halves", rng=1)
    return report(ratings, result, replay=REPLAY)


@functools.cache
def check_page() -> str:
    ratings = read_ratings("examples/contradiction.csv")
    return report(ratings, check(ratings, rng=7), replay=REPLAY)


PAGES = [workshop_page, safe_page, designs_page, check_page]


@pytest.mark.parametrize("make", PAGES, ids=lambda make: make.__name__)
class TestEveryPage:
    def test_is_well_formed_with_one_title_and_landmarks(
        self, make: Callable[[], str]
    ) -> None:
        page = Page(make())
        assert len(page.all("h1")) == 1
        for landmark in ("header", "main", "footer"):
            assert len(page.all(landmark)) == 1
        assert page.all("html")[0]["lang"] == "en"
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert len(ids) == len(set(ids))

    def test_every_link_stays_within_the_page(self, make: Callable[[], str]) -> None:
        page = Page(make())
        ids = {attributes.get("id") for _, attributes in page.tags}
        targets = [str(attributes["href"]) for attributes in page.all("a")]
        assert targets
        assert all(target[0] == "#" and target[1:] in ids for target in targets)

    def test_asks_for_nothing(self, make: Callable[[], str]) -> None:
        page = Page(make())
        for _, attributes in page.tags:
            assert "src" not in attributes
            assert not any(key.startswith("on") for key in attributes)
        for tag in ("link", "img", "iframe", "object", "form", "base"):
            assert page.all(tag) == []
        policy = page.all("meta")[1]["content"]
        assert policy is not None
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe-eval" not in policy
        assert "http" not in make().replace("http-equiv", "")
        assert len(page.all("script")) == 1

    def test_never_speaks_of_confidence_but_to_deny_it(
        self, make: Callable[[], str]
    ) -> None:
        words = Page(make()).words
        denied = words.replace("It is no confidence in the outcome.", "")
        assert "confiden" not in denied.lower()

    def test_says_what_it_may_claim_before_anything_else(
        self, make: Callable[[], str]
    ) -> None:
        page = make()
        places = [
            page.index(text)
            for text in (
                "<h1",
                "What this may claim",
                "What this may not claim",
                'class="part"',
            )
        ]
        assert places == sorted(places)

    def test_every_table_has_a_caption_and_scopes(
        self, make: Callable[[], str]
    ) -> None:
        page = Page(make())
        assert len(page.all("caption")) == len(page.all("table"))
        assert all("scope" in head for head in page.all("th"))

    def test_every_part_is_closed_and_says_its_answer_in_a_line(
        self, make: Callable[[], str]
    ) -> None:
        page = Page(make())
        assert not any("open" in one for one in page.all("details"))
        answers = re.findall(r'<span class="answer">(.*?)</span>', make())
        parts = [one for one in page.all("details") if one.get("class") == "part"]
        assert len(answers) == len(parts) > 2
        assert all(5 < len(answer) < 120 for answer in answers)

    def test_is_small(self, make: Callable[[], str]) -> None:
        assert len(make().encode()) < 150_000


def test_parts_of_a_ranking_come_in_order() -> None:
    parts = [one.get("data-part") for one in Page(workshop_page()).all("details")]
    assert [one for one in parts if one] == [
        "agenda",
        "people",
        "assumptions",
        "chance",
        "repeat",
        "glossary",
    ]


def rows_of(page: str, kind: str = "item") -> list[tuple[str, str]]:
    """Return class and content of the rows of a list."""
    head = rf'<li class="row ([^"]*)" data-{kind}="[^"]*"><details>'
    found = re.findall(rf"{head}<summary>(.*?)</summary>", page, flags=re.DOTALL)
    assert found
    return found


def test_the_rows_show_the_order_the_groups_and_the_cut() -> None:
    page = workshop_page()
    rows = rows_of(page)
    assert [re.findall(r"<bdi>(.*?)</bdi>", row)[0] for _, row in rows] == [
        f"talk {number}" for number in (5, 6, 1, 8, 2, 3, 4, 7)
    ]
    items = rank(workshop(), top=3, rng=7).items
    assert [kind for kind, _ in rows] == [
        f"{item.side}{' edge' if number == 4 else ''}"
        for number, item in enumerate(items)
    ]
    before, after = page.split('<li class="cut" id="cut"><span>cut after 3</span></li>')
    assert before.count('<li class="row') == 3
    first = Page(f"<p>{rows[0][1]}</p>").words
    assert f"ranks {items[0].rank_low}\u2013{items[0].rank_high}" in first
    assert f"top 3, % {100 * (items[0].p_top or 0):.0f}" in first
    assert f"reviews {items[0].reviews}" in first
    assert after.count('<li class="row') >= 5


def test_bars_are_intervals_of_ranks_in_per_cent_of_the_items() -> None:
    items = rank(workshop(), top=3, rng=7).items
    for item, (_, row) in zip(items, rows_of(workshop_page()), strict=True):
        low, width = re.findall(r'<i style="left:([\d.]+)%;width:([\d.]+)%"', row)[0]
        dot = re.findall(r'<b style="left:([\d.]+)%"', row)[0]
        assert item.rank_low is not None
        assert item.rank_high is not None
        assert float(low) == 100 * (item.rank_low - 1) / 8
        assert float(width) == 100 * (item.rank_high - item.rank_low + 1) / 8
        assert float(dot) == 100 * (item.rank - 0.5) / 8


def test_draws_are_shown_with_the_probability_of_the_draw() -> None:
    words = Page(safe_page()).words
    assert "2 pairs of items settled by a coin" in words
    assert "2 pairs of items were settled by chance and scores." in words
    assert "probabilities of the draw, not chances of being right" in words
    assert "82.7%" in words


def test_what_was_not_run_is_said_in_one_sentence() -> None:
    words = Page(safe_page()).words
    assert "evenhand check --warp redraws" in words


def test_it_says_how_to_repeat_it() -> None:
    words = Page(safe_page()).words
    assert "evenhand rank r.csv --seed 7" in words
    assert "evenhand audit record.json r.csv" in words
    assert workshop().sha256 in words
    assert '"design": "balanced"' in words
    assert "ratings.csv --seed 7 --seed" not in workshop_page()


def test_certificates_are_shown_word_by_word() -> None:
    result = rank(workshop(), method="safe", top=3, design="balanced", rng=7)
    assert result.certificate is not None
    assert escape(result.certificate.sentence) in safe_page()


def test_p_values_say_what_they_are_not() -> None:
    words = Page(designs_page()).words
    assert "p = 0.006 " in words
    assert "A p-value is not the probability that an item is better" in words
    assert "That is not the probability that it is better" in words


@functools.cache
def nasty() -> tuple[Ratings, Check]:
    reviewers = [label for label in NASTY for _ in NASTY]
    items = NASTY * len(NASTY)
    scores = np.arange(len(items)) % 7 + np.arange(len(items)) % len(NASTY)
    ratings = Ratings(reviewers, items, scores)
    ratings.titles = dict(zip(NASTY, NASTY[::-1], strict=True))
    return ratings, check(ratings, top=3, rng=7)


@pytest.mark.parametrize("method", ["adaptive", "safe", "mean"])
def test_no_name_can_break_the_page(method: str) -> None:
    ratings, found = nasty()
    result = rank(ratings, method=method, top=3, rng=7)
    replay = Replay(f"evenhand rank '{NASTY[0]}'", NASTY[3], NASTY[7])
    page = report(ratings, result, check=found, warp=None, replay=replay)
    parts = Page(page)
    assert parts.all("script") == [{}]
    assert not any(key.startswith("on") for _, known in parts.tags for key in known)
    assert "alert(1)" in parts.words
    assert "{{7*7}}" in parts.words
    assert "\u202e" not in page
    assert "\x1b" not in page
    longest = max(map(len, re.findall(r"x{50,}", page)))
    assert longest < 1_000
    assert len(page.encode()) < 300_000


def test_titles_stand_beside_labels() -> None:
    ratings = Ratings(["a", "a"], ["P1", "P2"], [1, 2])
    ratings.titles = {"P2": "On <trees>"}
    result = rank(ratings, rng=7)
    found = check(ratings, rng=7)
    page = report(ratings, result, check=found, replay=REPLAY)
    assert '<bdi>P2</bdi> <bdi class="title">On &lt;trees&gt;</bdi>' in page


@pytest.mark.parametrize(
    "ratings",
    [
        Ratings.from_comparisons(["x", "x", "y"], ["y", "z", "z"]),
        Ratings.from_ranks(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 2, 2, 1]),
        Ratings(["a"], ["x"], [1]),
        Ratings(["a", "b"], ["x", "y"], [3, 3]),
    ],
    ids=["comparisons", "ranks", "one rating", "nothing shared"],
)
def test_ratings_of_every_kind_have_a_report(ratings: Ratings) -> None:
    found = check(ratings, rng=7)
    result = rank(ratings, rng=7)
    for page in (
        report(ratings, result, check=found, warp=None, replay=REPLAY),
        report(ratings, found, replay=REPLAY),
    ):
        words = Page(page).words
        assert "None" not in words
        assert "nan" not in words.split()

"""Counts: the answer that the ratings themselves would give."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.claims import Json
from evenhand.engines.counts import Once
from evenhand.words.claims import COUNTED_BLINDLY
from tests.commands import run

REVIEWERS = "from counts: reviewers were not seen"
# What differs in words, as counts do not show it.
NOT_SEEN = (REVIEWERS, COUNTED_BLINDLY, "the two items, out of")
# A few scores; too many pairings to sum; too many for the normal path of pairs.
SIZES = ((4, 3), (40, 40), (150, 140))
DESIGNS = ["halves", "coins", None]
METHODS = (
    *("guarded", "votes", "sign", "mean", "median(lower)", "trimmed(trim=0.1)"),
    *("guarded(statistic=mean, eps=0.5)", "guarded(statistic=midrank)", "coin"),
)


def ratings_and_counts(
    first: list[float], second: list[float]
) -> tuple[eh.Ratings, eh.Counts]:
    items = ["x"] * len(first) + ["y"] * len(second)
    scores = [*first, *second]
    ratings = eh.Ratings(range(len(items)), items, scores)
    table = pl.DataFrame({"item": items, "score": scores})
    rows = table.group_by("item", "score").len("count")
    return ratings, eh.Counts.from_frame(rows)


def drawn(sizes: tuple[int, int], levels: int, seed: int) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [(rng.integers(0, levels, size) / 4).tolist() for size in sizes]


def comparable(result: eh.Comparison) -> dict[str, Json]:
    """Leave out the data, and words about reviewers."""
    told = result.to_dict()
    told.pop("data")
    told["warnings"] = [
        it.to_dict() for it in result.notices if it.code != "from_counts"
    ]
    assert result.certificate is not None
    certificate = result.certificate.to_dict()
    certificate.pop("sentence")
    certificate.pop("facts")
    for part in ("checked", "declared"):
        listed = certificate[part]
        assert isinstance(listed, list)
        certificate[part] = [it for it in listed if not it.startswith(NOT_SEEN)]
    told["certificate"] = certificate
    test = told["test"]
    if isinstance(test, dict):
        texts = [it for it in test["assumes"] if not it.startswith(NOT_SEEN)]
        told["test"] = {**test, "assumes": texts}
    return told


class TestSameAnswer:
    @pytest.mark.parametrize(
        ("method", "sizes", "levels", "designs"),
        [
            *((method, SIZES[0], 5, DESIGNS) for method in METHODS),
            *(
                (method, SIZES[1], 90, [DESIGNS[place % 3]])
                for place, method in enumerate(METHODS)
            ),
            *((method, SIZES[2], 5, DESIGNS[:1]) for method in METHODS[:2]),
        ],
    )
    def test_for_every_method_and_size(
        self,
        method: str,
        sizes: tuple[int, int],
        levels: int,
        designs: list[str | None],
    ) -> None:
        ratings, counts = ratings_and_counts(*drawn(sizes, levels, 3))
        for seed, design in enumerate(designs):
            one, two = (
                eh.compare(data, method=method, design=design, rng=seed)
                for data in (ratings, counts)
            )
            assert comparable(one) == comparable(two)
            assert one.certificate != two.certificate or method == "coin"

    @pytest.mark.parametrize(
        ("test", "large"),
        [("mean", None), ("median", "halves"), ("trimmed", "coins"), ("midrank", None)],
    )
    def test_for_every_statistic(self, test: str, large: str | None) -> None:
        for sizes, design in [*((SIZES[0], it) for it in DESIGNS), (SIZES[1], large)]:
            ratings, counts = ratings_and_counts(*drawn(sizes, 7, 4))
            one, two = (
                eh.compare(data, method="mean", test=test, design=design, rng=11)
                for data in (ratings, counts)
            )
            assert comparable(one) == comparable(two)

    @settings(max_examples=25)
    @given(
        st.lists(st.sampled_from([-0.5, 0.1, 0.3, 2.0]), min_size=1, max_size=9),
        st.lists(st.sampled_from([-0.5, 0.1, 0.2, 2.0]), min_size=1, max_size=9),
        st.integers(0, 2**53),
    )
    def test_for_any_scores_and_seed(
        self, first: list[float], second: list[float], seed: int
    ) -> None:
        ratings, counts = ratings_and_counts(first, second)
        one, two = (
            eh.compare(it, design="coins", rng=seed) for it in (ratings, counts)
        )
        assert comparable(one) == comparable(two)

    def test_of_two_among_many_items(self) -> None:
        items, scores = list("xyz") * 5, [*range(15)]
        ratings = eh.Ratings(range(15), items, scores)
        counts = eh.Counts(items, scores, [1] * 15)
        one, two = (
            eh.compare(data, items=("z", "x"), rng=5) for data in (ratings, counts)
        )
        assert comparable(one) == comparable(two)
        assert one.items == ("z", "x")

    def test_unequal_lists_take_the_same_way(self) -> None:
        first, second = drawn((40, 33), 5, 6)
        _, counts = ratings_and_counts(first, second)
        one = eh.compare(first, second, items=("x", "y"), rng=8)
        assert comparable(one) == comparable(eh.compare(counts, rng=8))

    def test_a_thousand_million_scores_of_each(self) -> None:
        items, scores = ["x"] * 5 + ["y"] * 5, [1, 2, 3, 4, 5] * 2
        sizes = [199_900_000, 200_000_000, 200_000_000, 200_000_000, 200_100_000]
        found = eh.compare(
            eh.Counts(items, scores, sizes + [200_000_000] * 5), design="halves", rng=1
        )
        assert found.winner == "x"
        assert found.scores is not None
        assert found.scores.n == (10**9, 10**9)
        assert found.p_value is not None
        assert found.p_value < 1e-4


class TestTable:
    def test_rows_of_one_score_are_added_up_and_sorted(self) -> None:
        counts = eh.Counts(["b", "a", "b", "b"], [2, 7, 2, 1], [3, 1, 4, 5])
        assert counts.to_frame().rows() == [("a", 7, 1), ("b", 1, 5), ("b", 2, 7)]

    def test_the_hash_does_not_depend_on_order_kind_of_numbers_or_zeros(self) -> None:
        one = eh.Counts([1, 2, 2], [0.0, 1, 2], [5, 6, 0])
        two = eh.Counts(["2", " 1"], [Decimal(1), -0.0], [Decimal("6.0"), "5"])
        assert one.sha256 == two.sha256
        assert one.item_labels == two.item_labels == (1, 2)

    def test_missing_scores_are_counted_and_said(self) -> None:
        counts = eh.Counts(["a", "a", "b"], [None, 3, 4], [7, 8, 9])
        assert counts.notices[0].code == "missing_scores"
        assert counts.notices[0].message.startswith("7 rows without a score")
        certificate = eh.compare(counts, design="halves", rng=1).certificate
        assert "had they got it (some scores are missing)" in str(certificate)

    @pytest.mark.parametrize("once", ["checked", "declared"])
    def test_the_result_says_that_reviewers_were_not_seen(self, once: Once) -> None:
        counts = eh.Counts(["a", "b"], [3, 4], [7, 8], once=once)
        found = eh.compare(counts, design="halves", rng=1)
        assert found.notices[0].message.startswith("From counts: reviewers were not se")
        assert found.certificate is not None
        listed = found.certificate.to_dict()[once]
        assert isinstance(listed, list)
        assert any(text.startswith(REVIEWERS) for text in listed)

    def test_a_dataframe_with_a_count_is_recognised(self) -> None:
        frame = pl.DataFrame({"item": ["a", "b"], "score": [3, 4], "count": [7, 8]})
        found = eh.compare(frame, rng=1)
        assert found.scores is not None
        assert found.scores.n == (7, 8)
        counts = eh.Counts.from_frame(frame)
        assert found.to_dict() == eh.compare(counts, rng=1).to_dict()

    def test_a_count_beside_reviewers_is_something_else(self) -> None:
        frame = pl.DataFrame(
            {"reviewer": [1, 2], "item": ["a", "b"], "score": [3, 4], "count": [7, 8]}
        )
        assert eh.compare(frame, rng=1).data["ratings"] == 2

    def test_other_names_of_columns_are_found_or_given(self) -> None:
        frame = pl.DataFrame({"variant": ["a", "b"], "stars": [3, 4], "n": [7, 8]})
        found = eh.Counts.from_frame(frame, score="stars", count="n")
        assert found.n_ratings == 15


class TestCommand:
    def written(self, folder: Path, more: str = "") -> tuple[str, str]:
        """Write the same scores as ratings and as counts."""
        first, second = drawn((30, 31), 5, 7)
        ratings, counts = ratings_and_counts(first, second)
        ratings.to_frame().write_csv(folder / "ratings.csv")
        frame = counts.to_frame()
        if more:
            frame = frame.with_columns(once=pl.lit(more))
        frame.write_csv(folder / "counts.csv")
        return str(folder / "ratings.csv"), str(folder / "counts.csv")

    def test_compare_takes_counts_by_their_column(self, tmp_path: Path) -> None:
        options = ("--design", "halves", "--seed", "5", "--json")
        one, two = (run("compare", path, *options) for path in self.written(tmp_path))
        told = [json.loads(it.stdout) for it in (one, two)]
        for part in ("data", "certificate", "warnings", "test"):
            assert told[0].pop(part) != told[1].pop(part)
        assert told[0] == told[1]
        assert "Read as counts of scores, by column 'count'." in two.stderr
        assert "From counts: reviewers were not seen." in two.stderr

    def test_a_column_once_says_what_was_checked(self, tmp_path: Path) -> None:
        _, path = self.written(tmp_path, "checked")
        assert eh.read_counts(path).once == "checked"
        assert eh.read_counts(path, once="declared").once == "declared"
        assert "was checked when" in run("compare", path, "--seed", "1").stderr

    def test_a_record_of_counts_can_be_audited(self, tmp_path: Path) -> None:
        ratings, counts = self.written(tmp_path)
        record = str(tmp_path / "record.json")
        run("compare", counts, "--seed", "5", "--record", record)
        assert run("audit", record, counts).exit_code == 0
        other = run("audit", record, ratings)
        assert other.exit_code == 1
        assert "not made from these ratings" in other.stdout

    def test_a_report_lists_few_scores_and_refuses_many(self, tmp_path: Path) -> None:
        _, counts = self.written(tmp_path)
        page = tmp_path / "page.html"
        assert run("compare", counts, "--report", str(page)).exit_code == 0
        assert "From counts: reviewers were not seen." in page.read_text()
        many = tmp_path / "many.csv"
        many.write_text("item,score,count\nx,1,100000\ny,2,1\n")
        refused = run("compare", str(many), "--report", str(page))
        assert refused.exit_code == 2
        assert "at most 100,000 scores from counts, got 100,001" in refused.stderr

    def test_other_commands_and_options_refuse_counts(self, tmp_path: Path) -> None:
        _, counts = self.written(tmp_path)
        ranked = run("rank", counts)
        assert ranked.exit_code == 2
        assert "These are counts of scores" in ranked.stderr
        refused = run("compare", counts, "--scale", "/10")
        assert "scale must be left out for counts" in refused.stderr

    def test_a_bad_count_is_named_by_its_line(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.csv"
        path.write_text("item,score,count\nx,1,7\ny,2,many\n")
        found = run("compare", str(path))
        assert found.exit_code == 2
        assert "bad.csv:3: count must be a number, got 'many'" in found.stderr


class TestFiles:
    def counted(self, folder: Path, text: str, *more: str) -> Result:
        path = folder / "ratings.csv"
        path.write_text(text)
        return run("count", str(path), *more)

    @pytest.mark.parametrize(
        ("rows", "got"),
        [("a,x,1\nb,y\n", 2), ("a,x,1\nb,y,1,2\n", 4), ('a,"x\n,",1\nb,y\n', 2)],
    )
    def test_rows_of_another_width_are_refused(
        self, tmp_path: Path, rows: str, got: int
    ) -> None:
        found = self.counted(tmp_path, f"reviewer,item,score\n{rows}")
        assert found.exit_code == 2
        line = 4 if '"' in rows else 3
        fields = "1 field" if got == 1 else f"{got} fields"
        words = f"ratings.csv:{line}: the line has {fields}, the header 3."
        assert words in found.stderr

    def test_decimal_commas_are_read_where_commas_do_not_separate(
        self, tmp_path: Path
    ) -> None:
        text = "reviewer;item;score\na;x;7,5\nb;y;8\n"
        found = self.counted(tmp_path, text)
        assert found.stdout.splitlines()[1:] == ["x,7.5,1,checked", "y,8.0,1,checked"]

    def test_what_is_wrong_is_told_in_good_words(self, tmp_path: Path) -> None:
        text = "reviewer,item,score\na,x,1\n"
        found = self.counted(tmp_path, text, "--once", "maybe")
        assert "'maybe' is not one of 'checked', 'declared'" in found.stderr
        found = self.counted(tmp_path, f"{text},y,2\n")
        assert "got 1 row without one. Leave them out, or" in found.stderr
        assert "\\" not in run("query").stderr
        assert "compare, pairs, check" in run("query").stderr

    def test_options_that_do_nothing_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "counts.csv"
        path.write_text("item,score,count,w\nx,1,7,1\ny,2,8,1\n")
        found = run("compare", str(path), "--column", "weight=w")
        assert "weight must be left out for counts" in found.stderr
        path.write_text("item,score,count,once\nx,1,7,checked\ny,2,8,declared\n")
        assert "Column 'once' must say one of" in run("compare", str(path)).stderr


class TestRefused:
    @pytest.mark.parametrize(
        ("scores", "counts", "words"),
        [
            ([1, 2], [1, -2], "a whole number of at least 0 .*, got -2 at index 1"),
            ([1, 2], [1, 1.5], "got 1.5 at index 1"),
            ([1, 2], [1, None], "got nothing at index 1"),
            ([1, 2], [1, 2**53], "got 9007199254740992"),
            ([1, 2], [2**52, 2**52], "add up to less than 2\\*\\*53"),
            ([1, 2], [1], "one length, got 2 of item, 2 of score, 1 of count"),
            ([1, float("inf")], [1, 2], "finite"),
            ([1, "good"], [1, 2], "score must be a number, got 'good'"),
        ],
    )
    def test_columns_that_are_no_counts(
        self, scores: list[Any], counts: list[Any], words: str
    ) -> None:
        with pytest.raises(eh.RatingsError, match=words):
            eh.Counts(["a", "b"], scores, counts)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"design": "matched"}, "design 'matched' must come with the"),
            ({"design": "panels"}, "design 'panels' must come with the"),
            ({"test": "pairs"}, "test 'pairs' needs every score"),
            ({"method": lambda *_: 1.0}, "needs every score, not counts"),
            ({"both": "drop"}, "both must be left out without a Ratings"),
            ({"second": [1.0]}, "second must be left out unless"),
        ],
    )
    def test_options_that_need_scores(
        self, options: dict[str, Any], words: str
    ) -> None:
        counts = eh.Counts(["a", "b"], [3, 4], [7, 7])
        with pytest.raises(eh.EvenhandError, match=words):
            eh.compare(counts, rng=1, **options)

    def test_reviewers_of_several_items(self) -> None:
        counts = eh.Counts(["a", "b"], [3, 4], [7, 7], once="per item")
        with pytest.raises(eh.RatingsError, match="nothing says who scored both"):
            eh.compare(counts, rng=1)

    def test_more_than_a_thousand_levels(self) -> None:
        counts = eh.Counts(["a"] * 1001 + ["b"], [*range(1002)], [1] * 1002)
        with pytest.raises(eh.RatingsError, match=r"at most 1,000 .* got 1,002"):
            eh.compare(counts, rng=1)

    def test_columns_that_are_not_there(self) -> None:
        frame = pl.DataFrame({"paper": ["a"], "stars": [3], "count": [7]})
        with pytest.raises(eh.RatingsError, match="No column for the score among"):
            eh.Counts.from_frame(frame)
        with pytest.raises(eh.RatingsError, match="Unknown column 'star'"):
            eh.Counts.from_frame(frame, score="star")
        with pytest.raises(eh.OptionError, match="once must be"):
            eh.Counts(["a"], [1], [1], once="sworn")  # type: ignore[arg-type]  # bad on purpose

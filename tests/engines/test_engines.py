"""The same ratings on every engine give the same counts and answers.

All engines are real and started here; which of them are not installed is said where
their tests are skipped. One file, so that Spark starts once.
"""

import functools
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.engines import queries
from evenhand.engines.pairs import PairCounts, pair_counts
from evenhand.engines.sql import QUERIES, sql_of
from tests.engines import servers

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")
ibis = pytest.importorskip("ibis", reason="Ibis is not installed")

# Sorted otherwise by PostgreSQL here than by code points: "a" before "B" before "é".
ITEMS = ("B", "a", "b", "é", "_c", "A 2", "A 10", "z")
Make = Callable[[pl.DataFrame], Any]


def table(size: int = 4_000) -> pl.DataFrame:
    """Return ratings of up to five items each, a few of them without a score."""
    rng = np.random.default_rng(19)
    loads = rng.integers(1, 6, size)
    items = np.argsort(rng.random((size, len(ITEMS))), axis=1)
    kept = np.arange(len(ITEMS)) < loads[:, None]
    people, code = np.nonzero(kept)[0], items[kept]
    value = np.linspace(-1, 1, len(ITEMS))[code] + rng.normal(size=size)[people]
    score = np.clip(np.round(3 + value + rng.normal(size=len(code))), 1, 5)
    frame = pl.DataFrame(
        {
            "reviewer": people,
            "item": [ITEMS[it] for it in code.tolist()],
            "score": score,
            "note": "not used",
        }
    )
    lost = pl.col("reviewer") % 500 == 7
    return frame.with_columns(score=pl.when(~lost).then("score"))


@functools.cache
def ranked(method: str) -> eh.Ranking:
    """Rank the ratings themselves, once for all engines."""
    return eh.rank(table(), method=method, rng=3)


@functools.cache
def linked() -> tuple[pl.DataFrame, eh.Check]:
    """Return ratings in three groups, and what `check` says of them."""
    frame = table(300).filter(pl.col("item") != "z")
    apart = {"reviewer": [-1, -2], "item": ["z", "y"], "score": [2.0, 2.0]}
    frame = pl.concat([frame, pl.DataFrame(apart)], how="diagonal_relaxed")
    return frame, eh.check(frame, rng=1)


@functools.cache
def compared() -> tuple[pl.DataFrame, eh.Comparison]:
    """Return ratings of two items, and how they compare."""
    frame = two_items(table(1_000))
    return frame, eh.compare(frame, design="coins", rng=3)


def two_items(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one rating of "B" or "é" of each reviewer, so that any can be compared."""
    return frame.filter(pl.col("item").is_in(["B", "é"])).unique("reviewer", keep="any")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed, which Spark needs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with servers.spark(tmp_path_factory.mktemp("spark")) as session:
            yield session


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if servers.postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with servers.postgres() as there:
        yield there


def by_duckdb(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - a relation
    return duckdb.connect().from_arrow(frame.to_arrow())


QUICK = ("frame", "polars", "duckdb", "ibis", "postgres")


@pytest.fixture(params=QUICK)
def quick(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Return `make` for engines that answer at once."""
    return handed_over(request, tmp_path)


@pytest.fixture(params=[*QUICK, "spark"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Return a function that hands a table over to an engine."""
    return handed_over(request, tmp_path)


def handed_over(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "spark":
        session = request.getfixturevalue("spark")

        def by_spark(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - Spark's
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
            frame.write_parquet(path)
            return session.read.parquet(str(path))

        return by_spark
    if request.param == "postgres":
        there = request.getfixturevalue("postgres")

        def by_postgres(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - Ibis's
            name = f"t{len(there.list_tables())}"
            there.create_table(name, frame.to_arrow())
            return there.table(name)

        return by_postgres
    made: dict[str, Make] = {
        "frame": lambda frame: frame,
        "polars": lambda frame: frame.lazy(),
        "duckdb": by_duckdb,
        "ibis": lambda frame: ibis.memtable(frame.to_arrow()),
    }
    return made[request.param]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Engines warn of their own affairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def close(one: PairCounts, two: PairCounts) -> bool:
    whole = ("reviews", "loads", "reviewers", "first", "second", "load", "count")
    sums = ("totals", "squares", "load_squares", "first_total", "second_total")
    return (
        one.item_labels == two.item_labels
        and one.centre == two.centre
        and all(
            np.array_equal(getattr(one, name), getattr(two, name))
            for name in (*whole, "above", "below")
        )
        and all(
            np.allclose(getattr(one, name), getattr(two, name), rtol=1e-12, atol=1e-9)
            for name in sums
        )
    )


class TestEveryEngine:
    def test_counts_and_comparisons_are_those_of_the_ratings(self, make: Make) -> None:
        frame, known = compared()
        ratings = eh.Ratings.from_frame(frame)
        counts = eh.count_ratings(make(frame))
        assert counts.once == "checked"
        assert sum(counts.missing.values()) == frame["score"].null_count()
        one = eh.Counts.from_frame(
            ratings.to_frame().group_by("item", "score").len("count")
        )
        assert one.sha256 == counts.sha256
        found = eh.compare(counts, design="coins", rng=3)
        for name in ("winner", "p_first", "p_value", "difference", "scores"):
            assert getattr(found, name) == getattr(known, name)
        assert found.test is not None
        assert known.test is not None
        # Counts do not show what was counted, so they assume more.
        assert len(known.test.assumes) < len(found.test.assumes)
        assert replace(found.test, assumes=known.test.assumes) == known.test

    def test_pairs_rank_as_the_ratings_do(self, make: Make) -> None:
        frame = table()
        pairs = eh.count_pairs(make(frame))
        assert pairs.item_labels == tuple(sorted(ITEMS))
        assert close(pairs, eh.count_pairs(frame.lazy()))
        for method in ("bradley-terry", "additive", "mean"):
            found, known = eh.rank(pairs, method=method, rng=3), ranked(method)
            assert found.order == known.order
            for one, two in zip(found.items, known.items, strict=True):
                assert one.reviews == two.reviews
                assert (one.estimate is None) == (two.estimate is None)
                named = ("estimate", "error") if one.estimate is not None else ()
                for name in (*named, "mean_score", "spread"):
                    assert getattr(one, name) == pytest.approx(
                        getattr(two, name), rel=1e-9, abs=1e-9
                    )

    def test_checks_say_what_check_says(self, make: Make) -> None:
        frame, known = linked()
        found = eh.count_check(make(frame))
        for one, two in ((found.load, known.load), (found.reviews, known.reviews)):
            assert one == (two.min, two.median, two.max)
        assert (found.pairs, found.tied) == (known.ties.pairs, known.ties.tied)
        assert found.single == known.single.count
        assert found.groups == known.groups.linked == 3
        assert found.listed == (7, 1, 1)
        assert found.missing == frame["score"].null_count()
        assert "Left out from counts: contradictions, flat" in repr(found)

    def test_two_of_many_items(self, quick: Make) -> None:
        frame = table(300).filter(pl.col("reviewer") % 2 == 0)
        frame = frame.unique("reviewer", keep="first", maintain_order=True)
        counts = eh.count_ratings(quick(frame), items=("é", "B"))
        assert counts.item_labels == ("B", "é")
        known = frame.filter(pl.col("item").is_in(["B", "é"]))
        assert counts.n_ratings == known["score"].count()

    def test_nothing_is_dropped_silently(self, make: Make) -> None:
        rows: dict[str, list[Any]] = {
            "reviewer": [1, 2, 3, 4, 5],
            "item": ["x", "x", "y", "y", "w"],
            "score": [0.0, -0.0, None, 4.5, None],
        }
        counts = eh.count_ratings(make(pl.DataFrame(rows)))
        assert counts.to_frame().rows() == [
            ("x", 0.0, 2),
            ("y", 4.5, 1),
            ("w", None, 1),
            ("y", None, 1),
        ]
        assert counts.unrated_labels == ("w",)
        codes = [notice.code for notice in counts.notices]
        assert codes == ["missing_scores", "unrated_items", "from_counts"]

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (pl.lit(float("nan")).alias("score"), "must be finite, got"),
            (pl.lit("good").alias("score"), "score must be a column of numbers, got"),
            (pl.lit(None, pl.String).alias("item"), "item must be given in every row"),
            (
                pl.when(pl.col("reviewer") > 1).then("reviewer"),
                "reviewer must be given in every row, got 1 row without",
            ),
            (pl.col("score").alias("mark"), "Several columns may be the score"),
            (pl.lit(2).alias("reviewer"), "reviewers must score"),
        ],
    )
    def test_what_cannot_be_counted_is_said_in_a_sentence(
        self, quick: Make, change: pl.Expr, words: str
    ) -> None:
        rows = {"reviewer": [1, 2, 3], "item": ["x", "x", "y"], "score": [5.0, 4, 4]}
        frame = pl.DataFrame(rows).with_columns(change)
        if "mark" in frame.columns:
            frame = frame.rename({"score": "grade"})
        there = quick(frame)
        for count in (eh.count_ratings, eh.count_pairs, eh.count_check):
            with pytest.raises(eh.RatingsError, match=words):
                count(there)

    def test_decimals_count_by_their_digits(self, quick: Make) -> None:
        rows = {"reviewer": [1, 2], "item": ["x", "y"], "score": [Decimal("4.1")] * 2}
        frame = pl.DataFrame(rows, schema_overrides={"score": pl.Decimal(10, 2)})
        counts = eh.count_ratings(quick(frame))
        assert counts.scores.tolist() == [4.1, 4.1]
        assert eh.count_pairs(quick(frame)).n_ratings == 2

    def test_a_download_is_announced(
        self, quick: Make, capsys: pytest.CaptureFixture[str]
    ) -> None:
        frame = two_items(table(100))
        there = quick(frame)
        ratings = eh.Ratings.from_frame(there)
        assert ratings.n_ratings == frame["score"].count()
        said = capsys.readouterr().err
        if isinstance(there, pl.DataFrame | pl.LazyFrame):
            assert said == ""
        else:
            assert f"Downloading {frame.height} rows from" in said


class TestPairs:
    def test_the_work_is_worked_out_shown_and_limited(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = {"reviewer": [1, 1, 1, 2], "item": list("xyzx"), "score": [1, 2, 3, 4]}
        frame = pl.LazyFrame(rows)
        eh.count_pairs(frame)
        assert "Pairs of scores to go through: 10 " in capsys.readouterr().err
        with pytest.raises(eh.RatingsError, match=r"10 .* more than most=9"):
            eh.count_pairs(frame, most=9)
        with pytest.raises(eh.OptionError, match="most must be a whole number"):
            eh.count_pairs(frame, most=0)

    def test_scores_of_one_item_by_one_reviewer_are_counted(self) -> None:
        rows = {"reviewer": [1] * 4, "item": list("xxxy"), "score": [1, 2, 3, 4]}
        with pytest.raises(eh.RatingsError, match="got 3 pairs of scores of one item"):
            eh.count_pairs(pl.LazyFrame(rows))

    def test_large_scores_lose_nothing(self) -> None:
        frame = table(200).with_columns(pl.col("score") + 1e9)
        pairs, ratings = eh.count_pairs(frame.lazy()), eh.Ratings.from_frame(frame)
        found, known = (
            eh.rank(data, method="additive", rng=1) for data in (pairs, ratings)
        )
        for one, two in zip(found.items, known.items, strict=True):
            assert one.estimate == pytest.approx(two.estimate, rel=1e-9)
            assert one.error == pytest.approx(two.error, rel=1e-9)

    def test_contradictions_are_counted(self) -> None:
        rows = {"reviewer": [1, 1, 2, 2], "item": list("xyyx"), "score": [1, 2, 1, 2]}
        assert eh.count_pairs(pl.LazyFrame(rows)).contradictions == 1

    def test_top_and_refused_methods(self) -> None:
        pairs = eh.count_pairs(table(300).lazy())
        found = eh.rank(pairs, method="bradley-terry", top=3, rng=1)
        assert found.top is not None
        assert len(found.top.items) == 3
        assert found.p_top(8) == dict.fromkeys(found.order, 1.0)
        with pytest.raises(eh.OptionError, match="others need ratings, got 'adaptive'"):
            eh.rank(pairs)
        with pytest.raises(eh.OptionError, match="design must be left out"):
            eh.rank(pairs, method="mean", design="pairs")

    def test_groups_without_a_link_and_equal_scores(self) -> None:
        rows = {"reviewer": [1, 1, 2, 2, 3], "item": list("xyzwv"), "score": [3] * 5}
        frame = pl.DataFrame(rows)
        pairs, ratings = eh.count_pairs(frame.lazy()), eh.Ratings.from_frame(frame)
        for method in ("bradley-terry", "additive", "mean"):
            found, known = (
                eh.rank(data, method=method, rng=4) for data in (pairs, ratings)
            )
            assert found.order == known.order
            codes = [{it.code for it in one.notices} for one in (found, known)]
            assert codes[1] <= codes[0] | {"separate_groups"}


def plain(rows: list[Any]) -> list[tuple[Any, ...]]:
    """Return rows of any engine with plain numbers, sorted."""
    numbers = (Decimal, int)
    return sorted(
        (
            tuple(float(it) if isinstance(it, numbers) else it for it in row)
            for row in rows
        ),
        key=str,
    )


class TestSql:
    @pytest.mark.parametrize("job", QUERIES)
    def test_printed_sql_gives_the_engine_s_own_answer(self, job: str) -> None:
        frame = table(300)
        connection = duckdb.connect()
        connection.register("ratings", frame.to_arrow())
        rows = queries.take_rows(frame.lazy())
        written = sql_of(job)
        for (text, sql), query in zip(
            written.items(), QUERIES[job].values(), strict=True
        ):
            found = connection.sql(sql).pl()
            known = queries.fetch(query(rows))
            assert found.columns == known.columns, text
            floats = pl.selectors.numeric() | pl.selectors.boolean()
            one, two = (
                it.with_columns(floats.cast(pl.Float64)).sort(it.columns)
                for it in (found, known)
            )
            assert one.equals(two), text

    @pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "postgres"])
    def test_every_dialect_is_parsed_by_its_own_grammar(self, dialect: str) -> None:
        names = {"table": "app.stars", "score": "Stars Given", "reviewer": "user"}
        for job in QUERIES:
            for sql in sql_of(job, dialect, **names).values():
                assert sqlglot.parse_one(sql, read=dialect).sql(dialect=dialect)
                assert "app.stars" in sql
                quote = "`" if dialect in ("bigquery", "spark") else '"'
                assert f"{quote}Stars Given{quote}" in sql or "score" not in sql

    def test_spark_and_postgres_run_it(self, spark: Any, postgres: Any) -> None:  # noqa: ANN401 - engines
        frame = table(100)
        postgres.create_table("stars", frame.to_arrow())
        spark.createDataFrame(frame.to_arrow()).createOrReplaceTempView("stars")
        for job in QUERIES:
            known = sql_of(job, "postgres", table="stars").values()
            for one, two in zip(
                sql_of(job, "spark", table="stars").values(), known, strict=True
            ):
                with postgres.con.cursor() as cursor:
                    there = cursor.execute(two).fetchall()
                here = [tuple(row) for row in spark.sql(one).collect()]
                # The two sort labels differently, which turns pairs round.
                if " other" not in two:
                    assert plain(here) == plain(there)
                assert len(here) > 0

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"job": "compare", "dialect": "oracle"}, "unknown dialect 'oracle'"),
            ({"job": "rank"}, "unknown job 'rank'"),
            ({"job": "compare", "table": ""}, "table must be the name of a table"),
            ({"job": "compare", "table": " "}, "table must be the name of a table"),
        ],
    )
    def test_unknown_names_are_refused(
        self, options: dict[str, Any], words: str
    ) -> None:
        with pytest.raises(eh.OptionError, match=words):
            sql_of(**options)

    def test_a_missing_library_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "ibis", None)
        with pytest.raises(eh.OptionError, match=r"pip install 'evenhand\[query\]'"):
            sql_of("compare")


PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def blocks(word: str) -> list[str]:
    """Return the page's blocks of Python that are no dialogue and hold a word."""
    found = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    return [text for text in found if word in text and ">>>" not in text]


def test_the_page_runs_on_spark(spark: Any, tmp_path: Path) -> None:  # noqa: ANN401 - Spark's
    path = tmp_path / "ratings.parquet"
    compared()[0].write_parquet(path)
    names: dict[str, Any] = {"spark": spark, "path": str(path)}
    (text,) = blocks("spark.read")
    exec(text, names)  # noqa: S102 - our own page
    assert names["result"].winner in ("B", "é")
    assert len(names["ranking"].order) == 2


def test_the_page_runs_on_dask() -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    (text,) = blocks("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        names: dict[str, Any] = {"address": cluster.scheduler_address}
        exec(text, names)  # noqa: S102 - our own page
    alone = eh.simulate(names["scenario"], ["sign", "mean"], trials=400, rng=7)
    assert names["result"].to_dict() == alone.to_dict()


def test_columns_that_name_one_reviewer_together() -> None:
    rows = {
        "judge": ["a", "a", "b"],
        "prompt": [1, 2, 1],
        "item": ["x", "y", "x"],
        "score": [1, 2, 3],
    }
    frame = pl.DataFrame(rows)
    for there in (frame.lazy(), by_duckdb(frame)):
        assert eh.count_ratings(there, reviewer=["judge", "prompt"]).once == "checked"
        with pytest.raises(eh.RatingsError, match="got 1 reviewer with more than one"):
            eh.count_ratings(there, reviewer="judge")
        with pytest.raises(eh.RatingsError, match="Unknown column 'jury'"):
            eh.count_ratings(there, reviewer=["jury", "prompt"])


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(eh.RatingsError, match="frame must be a dataframe or a table"):
        eh.count_ratings([1, 2])  # type: ignore[arg-type]  # bad on purpose
    with pytest.raises(eh.OptionError, match="once must be 'checked' or 'declared'"):
        eh.count_ratings(table(9), once="maybe")  # type: ignore[arg-type]  # likewise


def test_declared_needs_no_reviewers() -> None:
    frame = pl.LazyFrame({"item": ["x", "y"], "score": [1, 2]})
    assert eh.count_ratings(frame, once="declared").once == "declared"


def test_reviewers_of_many_items_are_no_error_but_not_compared() -> None:
    counts = eh.count_ratings(table(50).lazy())
    assert counts.once == "per item"
    with pytest.raises(eh.RatingsError, match="Count these two alone"):
        eh.compare(counts, items=("B", "a"))
    again = pl.concat([table(50), table(50)])
    with pytest.raises(eh.RatingsError, match=r"an item once, got .* pairs of"):
        eh.count_ratings(again.lazy())


def test_too_many_different_scores_are_refused_before_they_travel() -> None:
    frame = pl.DataFrame({"reviewer": range(1500), "item": "x", "score": range(1500)})
    with pytest.raises(eh.RatingsError, match=r"at most 1,000 .* got 1,500"):
        eh.count_ratings(frame.lazy())
    rows = queries.take_rows(by_duckdb(frame))
    with pytest.raises(eh.RatingsError, match="small, got more than 1,000 rows"):
        queries.fetch(queries.histogram(rows), most=1000)


def apart() -> pl.DataFrame:
    """Return two groups of two items, whose reviewers differ much in strictness."""
    rng = np.random.default_rng(2)
    people = np.repeat(np.arange(40), 2)
    item = np.tile([0, 1], 40) + 2 * (people >= 20)
    level = np.repeat(rng.normal(size=40) * 2, 2)
    score = level + item / 2 + rng.normal(size=80) * 0.3
    return pl.DataFrame({"reviewer": people, "item": item, "score": score})


@pytest.mark.parametrize(
    ("frame", "method", "codes", "others"),
    [
        # Orders do not link all items, nor do means.
        (apart(), "bradley-terry", {"no_intervals"}, set[str]()),
        (apart(), "mean", {"no_intervals", "separate_groups"}, set[str]()),
        (table(300), "bradley-terry", {"independent_errors"}, {"no_intervals"}),
    ],
)
def test_intervals_of_pairs_are_left_out_where_nothing_links_items(
    frame: pl.DataFrame, method: str, codes: set[str], others: set[str]
) -> None:
    found = eh.rank(eh.count_pairs(frame.lazy()), method=method, rng=1)
    warnings = {warning.code for warning in found.notices}
    assert codes <= warnings
    assert others.isdisjoint(warnings)
    ends = {(row.rank_low, row.rank_high) for row in found.items}
    assert (ends == {(None, None)}) == ("no_intervals" in codes)


def printed(frame: pl.DataFrame) -> PairCounts:
    """Put together what the printed queries answer."""
    connection = duckdb.connect()
    connection.register("ratings", frame.to_arrow())
    return pair_counts(*[connection.sql(sql).pl() for sql in sql_of("pairs").values()])


class TestSumsOfPairs:
    def test_the_hash_covers_scores(self) -> None:
        hashes = set()
        for score in (2, 200, 2):
            rows = {"reviewer": [1, 1], "item": [1, 2], "score": [1, score]}
            hashes.add(eh.count_pairs(pl.LazyFrame(rows)).summary()["sha256"])
        assert len(hashes) == 2

    def test_scores_far_from_0_are_centred_or_refused(self) -> None:
        frame = table(200)
        for off in (100.0, 1000.0):
            moved = frame.with_columns(pl.col("score") + off)
            found = eh.rank(printed(moved), method="additive", rng=1)
            known = eh.rank(moved, method="additive", rng=1)
            for one, two in zip(found.items, known.items, strict=True):
                assert one.estimate == pytest.approx(two.estimate, rel=1e-8)
                assert one.mean_score == pytest.approx(two.mean_score, rel=1e-12)
        with pytest.raises(eh.RatingsError, match=r"near 0 .* and give centre=1e\+06"):
            printed(frame.with_columns(pl.col("score") + 1e6))

    def test_equal_scores_are_said(self) -> None:
        frame = table(50).with_columns(score=pl.lit(4.1))
        found, known = (
            eh.rank(pairs, method="additive", rng=1)
            for pairs in (printed(frame), eh.count_pairs(frame.lazy()))
        )
        assert "equal_scores" in {it.code for it in found.notices}
        assert {it.code for it in found.notices} == {it.code for it in known.notices}
        assert found.order == known.order

    def test_sums_that_are_no_numbers_are_refused(self) -> None:
        frame = table(50).with_columns(score=pl.lit(float("nan")))
        with pytest.raises(eh.RatingsError, match="total must be finite"):
            printed(frame)

    def test_huge_scores_are_refused(self) -> None:
        rows = {"reviewer": [1, 1], "item": [1, 2], "score": [-1e308, 1e308]}
        with pytest.raises(eh.RatingsError, match=r"between -1e\+140 and 1e\+140"):
            eh.count_pairs(pl.LazyFrame(rows))

    def test_items_without_a_score_are_named(self) -> None:
        rows = {"reviewer": [1, 1, 2], "item": list("xyz"), "score": [1, 2, None]}
        told = [it.message for it in eh.count_pairs(pl.LazyFrame(rows)).notices]
        assert told[1] == "Items without any score are not in the result: 'z'."


class TestChosenItems:
    @pytest.mark.parametrize(
        "kind", [pl.String, pl.Categorical, pl.Enum(["y", "x", " x", "z"])]
    )
    def test_labels_are_compared_without_blanks(self, kind: Any) -> None:  # noqa: ANN401 - of polars
        rows = {"reviewer": range(4), "item": ["x", " x", "y", "z"], "score": [1] * 4}
        frame = pl.LazyFrame(rows, schema_overrides={"item": kind})
        counts = eh.count_ratings(frame, items=["x ", "y"])
        assert counts.to_frame().rows() == [("x", 1, 2), ("y", 1, 1)]

    def test_numbers_may_be_text(self) -> None:
        rows = {"reviewer": range(3), "item": [7, 8, 9], "score": [1, 2, 3]}
        for kind in (pl.Int64, pl.String, pl.Float64):
            frame = pl.DataFrame(rows).with_columns(pl.col("item").cast(pl.Int64))
            frame = frame.with_columns(pl.col("item").cast(kind))
            assert eh.count_ratings(frame, items=[" 7", 8]).item_labels == (7, 8)

    @pytest.mark.parametrize(
        ("items", "words"),
        [
            (["x", "q"], "There is no rating of the item 'q'"),
            (["x", "x "], "items must be different, got 'x' twice"),
            ([], "items must name at least one item"),
            ([1.9, "x"], "got 1.9"),
            ("xy", "items must be a sequence of labels"),
        ],
    )
    def test_others_are_refused(self, items: Any, words: str) -> None:  # noqa: ANN401 - bad on purpose
        rows = {"reviewer": range(3), "item": ["x", "y", "z"], "score": [1, 2, 3]}
        with pytest.raises(eh.EvenhandError, match=words):
            eh.count_ratings(pl.LazyFrame(rows), items=items)


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_reviewer_is_none(name: str) -> None:
    rows = {"reviewer": [name, "b"], "item": ["x", "y"], "score": [1, 2]}
    for count in (eh.count_ratings, eh.count_pairs, eh.count_check):
        with pytest.raises(eh.RatingsError, match="got 1 row without one"):
            count(pl.LazyFrame(rows))


def test_items_differ_by_more_than_white_space() -> None:
    rows = {"reviewer": ["a", "a"], "item": ["x", "x "], "score": [1, 2]}
    for count in (eh.count_check, eh.count_pairs):
        with pytest.raises(eh.RatingsError, match="differ by more than white space"):
            count(pl.LazyFrame(rows))


def test_a_check_of_few_is_told_in_good_words() -> None:
    rows = {"reviewer": ["a"], "item": ["x"], "score": [1]}
    text = repr(eh.count_check(pl.LazyFrame(rows)))
    assert "1 reviewer scored one item only." in text
    assert "No reviewer scored two items." in text

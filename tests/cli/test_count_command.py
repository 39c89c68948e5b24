"""`evenhand count` and `evenhand query`: from files and warehouses to compare."""

import json
from pathlib import Path

import polars as pl
import pytest

import evenhand as eh
from tests.commands import refused, run

ROWS = {
    "user": [str(number) for number in range(8)],
    "variant": ["old", "new"] * 4,
    "rating": ["5", "4", "n/a", "4", "3", "", "2", "4.0"],
}


def written(folder: Path) -> pl.DataFrame:
    """Write the ratings as two files of Parquet and as one of CSV."""
    text = pl.DataFrame(ROWS)
    text.write_csv(folder / "all.csv")
    text.write_csv(folder / "all.tsv", separator="\t")
    score = pl.col("rating").cast(pl.Float64, strict=False)
    frame = text.with_columns(score, pl.col("user").cast(pl.Int64))
    for part, rows in enumerate((frame[:3], frame[3:])):
        rows.write_parquet(folder / f"part {part}.parquet")
    return frame


class TestCount:
    @pytest.mark.parametrize("name", ["part *.parquet", "all.csv", "all.tsv"])
    def test_files_of_any_kind_give_the_counts(self, tmp_path: Path, name: str) -> None:
        frame = written(tmp_path)
        out = tmp_path / "counts.csv"
        found = run("count", str(tmp_path / name), "-o", str(out))
        assert found.exit_code == 0, found.stderr
        assert "Counts(6 scores of 2 items)" in found.stderr
        assert "Note (missing_scores): 2 rows without a score" in found.stderr
        counts = eh.read_counts(str(out))
        assert counts.once == "checked"
        assert counts.missing == {"new": 1, "old": 1}
        known = eh.count_ratings(frame, score="rating")
        assert counts.sha256 == known.sha256
        result = json.loads(run("compare", str(out), "--seed", "3", "--json").stdout)
        alone = eh.compare(frame, score="rating", rng=3).to_dict()
        assert result["p_first"] == alone["p_first"]

    def test_several_files_may_be_named(self, tmp_path: Path) -> None:
        written(tmp_path)
        names = [str(tmp_path / f"part {part}.parquet") for part in range(2)]
        assert len(run("count", *names).stdout.splitlines()) == 7
        again = refused("count", names[0], names[0])
        assert "got 2 reviewers with more than one score" in again
        declared = run("count", names[0], names[0], "--once", "declared")
        assert declared.stdout.splitlines()[1].endswith("declared")

    def test_columns_and_items_are_chosen(self, tmp_path: Path) -> None:
        written(tmp_path)
        names = ("--reviewer", "user+variant", "--item", "variant", "--score", "rating")
        more = ("--items", "old", "new")
        found = run("count", str(tmp_path / "all.csv"), *names, *more)
        assert found.exit_code == 0, found.stderr
        wrong = refused("count", str(tmp_path / "all.csv"), "--score", "stars")
        assert "Unknown column 'stars'" in wrong

    def test_what_cannot_be_read_is_said_in_a_sentence(self, tmp_path: Path) -> None:
        written(tmp_path)
        (tmp_path / "bad.parquet").write_bytes(b"no parquet")
        (tmp_path / "bad.csv").write_text("user,variant,rating\n1,old,good\n")
        (tmp_path / "empty.csv").write_text("user,variant,rating\n")
        for name, words in {
            "none.parquet": "There is no file",
            "bad.parquet": "cannot be read",
            "bad.csv": "rating must be a number, got 'good'",
            "empty.csv": "There is no rating",
            "*.[cp]*": "all Parquet or all CSV",
        }.items():
            message = refused("count", str(tmp_path / name))
            assert words in message.replace("score must be", "rating must be")

    def test_an_input_is_not_written_over(self, tmp_path: Path) -> None:
        written(tmp_path)
        path = str(tmp_path / "all.csv")
        assert "must not replace FILE" in refused("count", path, "-o", path)


class TestQuery:
    def test_sql_is_printed_with_the_user_s_names(self) -> None:
        pytest.importorskip("ibis", reason="Ibis is not installed")
        words = ("--dialect", "snowflake", "--table", "app.stars", "--score", "Stars")
        found = run("query", "compare", *words, "--items", "a", "b")
        assert found.exit_code == 0, found.stderr
        assert found.stdout.count("FROM app.stars") == 2
        assert '"Stars" AS score' in found.stdout
        assert "item = 'a'" in found.stdout

    def test_unknown_jobs_and_dialects_are_refused(self) -> None:
        assert "'rank' is not one of 'compare'" in refused("query", "rank")
        message = refused("query", "pairs", "--dialect", "oracle")
        assert "'oracle' is not one of 'duckdb'" in message


TITLE = "\x1b]0;owned\x07x"
"""A label that would rename the window of a terminal."""


class TestHostileNames:
    def test_counts_run_neither_in_a_spreadsheet_nor_on_a_terminal(
        self, tmp_path: Path
    ) -> None:
        labels = {"user": list("abcd"), "item": [TITLE, TITLE, "=1+1", "=1+1"]}
        frame = pl.DataFrame({**labels, "score": [1, 2, 3, 4]})
        frame.write_csv(tmp_path / "d.csv")
        out = tmp_path / "counts.csv"
        shown = run("count", str(tmp_path / "d.csv"))
        assert shown.exit_code == 0, shown.stderr
        assert "\x1b" not in shown.stdout
        assert "\\x1b]0;owned\\x07x,1.0,1,checked" in shown.stdout
        assert "Control characters in names are shown as \\x1b" in shown.stderr
        assert "\n'=1+1,3.0,1,checked\n" in shown.stdout
        assert run("count", str(tmp_path / "d.csv"), "-o", str(out)).exit_code == 0
        assert "'=1+1,3.0" in out.read_text()
        # Read again, the labels are as they were.
        read = eh.read_counts(str(out))
        assert set(read.item_labels) == {TITLE, "=1+1"}
        assert read.sha256 == eh.count_ratings(frame).sha256

    @pytest.mark.parametrize("words", [("--table", TITLE), ("--items", TITLE, "y")])
    def test_a_query_does_nothing_to_a_terminal(self, words: tuple[str, ...]) -> None:
        shown = run("query", "compare", *words)
        assert shown.exit_code == 0, shown.stderr
        assert "\x1b" not in shown.stdout
        assert "owned" in shown.stdout

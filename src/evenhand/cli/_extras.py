"""What a command writes beside its answer: a report, charts, tables."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import _shared
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from evenhand._outputs import Output
    from evenhand.ab.comparison import Comparison
    from evenhand.desk.report.figures import Figure
    from evenhand.desk.report.page import Replay
    from evenhand.lab.check import Check
    from evenhand.lab.warp import Warp
    from evenhand.ranking.ranking import Ranking
    from evenhand.ratings import Ratings

    Result = Ranking | Comparison | Check

ARGUMENTS = "evenhand.arguments"
"""Where the words of the command line are kept, for the report to show them."""
# A warp test of a report draws scales so often that it takes a few seconds at most.
DRAWN_RATINGS, FEWEST, MOST = 50_000, 10, 100


def extra_options(command: _shared.Command) -> _shared.Command:
    """Add the options for a report, charts and tables."""
    report = click.option(
        "--report",
        metavar="PATH",
        help="Write a page to look at together: one HTML file that works offline.",
    )
    charts = click.option(
        "--charts",
        metavar="FOLDER",
        help="Write the report's charts there, as PNG and SVG.",
    )
    export = click.option(
        "--export",
        "exports",
        metavar="[TABLE=]PATH",
        multiple=True,
        help="Write a table to a .csv, .tsv, .xlsx, .parquet, .json, .jsonl or .md; "
        "an unknown TABLE is answered with those that there are.  [repeatable]",
    )
    return report(charts(export(command)))


@dataclass(frozen=True, slots=True)
class Extras:
    """What to write beside the answer of a command.

    Attributes:
        command: Name of the command.
        report: Path of the report.
        charts: Folder of the charts.
        exports: Table and path of each export.
    """

    command: str
    report: str | None
    charts: str | None
    exports: tuple[tuple[str, str], ...]

    @classmethod
    def asked(
        cls,
        command: str,
        report: str | None,
        charts: str | None,
        exports: tuple[str, ...],
    ) -> Extras:
        """Check what was asked for before a long run, not after it."""
        if report is not None:
            _check_report(report)
        if charts is not None and (not charts or Path(charts).is_file()):
            raise OptionError(f"charts must be a folder, got {charts!r}.")
        found: tuple[tuple[str, str], ...] = ()
        if exports:
            from evenhand.desk.exports import parse_export

            found = tuple(parse_export(text, command) for text in exports)
        for _, path in found:
            _check_folder("export", path)
        return cls(command, report, charts, found)

    @property
    def draws(self) -> bool:
        """Whether anything with charts was asked for."""
        return self.report is not None or self.charts is not None

    @property
    def needs_check(self) -> bool:
        """Whether a ranking needs a check beside it."""
        if self.draws:
            return True
        if not self.exports:
            return False
        from evenhand.desk.exports import needs_check

        return needs_check(self.exports, self.command)

    def paths(self) -> dict[str, str | None]:
        """Name what is written, for `keep_inputs`."""
        exports = {f"--export {Path(path).resolve()}": path for _, path in self.exports}
        return {"--report": self.report, "--charts": self.charts, **exports}

    def outputs(
        self,
        ratings: Ratings,
        result: Result,
        *,
        record: str | None = None,
        check: Check | None = None,
        warp: Warp | None = None,
    ) -> list[Output]:
        """Return the files to write."""
        from evenhand._outputs import Output

        files: list[Output] = []
        if self.exports:
            from evenhand.desk.exports import export_outputs

            files += export_outputs(self.exports, ratings, result, check)
        if self.draws:
            with _shared.working("Drawing"):
                if self.charts is not None:
                    from evenhand.desk.report.figures import pictures

                    drawn = _figures(ratings, result, check, warp)
                    files += pictures(drawn, self.charts)
                if self.report is not None:
                    replay = _replay(ratings, result, record)
                    page = _page(ratings, result, check, warp, replay)
                    files.append(Output(self.report, page))
        return files


def report_draws(n_ratings: int) -> int:
    """Return how often a report's warp test redraws scales, 0 for too many ratings.

    Examples:
        >>> report_draws(100), report_draws(5_000), report_draws(1_000_000)
        (100, 10, 0)
    """
    draws = min(DRAWN_RATINGS // n_ratings, MOST)
    return draws if draws >= FEWEST else 0


def _figures(
    ratings: Ratings, result: Result, check: Check | None, warp: Warp | None
) -> list[Figure]:
    from evenhand.ab.comparison import Comparison
    from evenhand.desk.report.check_figures import check_figures
    from evenhand.desk.report.comparison_figures import comparison_figures
    from evenhand.desk.report.ranking_figures import ranking_figures
    from evenhand.ranking.results import Ranking

    if isinstance(result, Ranking):
        return ranking_figures(ratings, result, check, warp)
    if isinstance(result, Comparison):
        return comparison_figures(ratings, result)
    return check_figures(ratings, result)


def _page(
    ratings: Ratings,
    result: Result,
    check: Check | None,
    warp: Warp | None,
    replay: Replay,
) -> str:
    from evenhand.ab.comparison import Comparison
    from evenhand.desk.report import page
    from evenhand.ranking.results import Ranking

    if isinstance(result, Ranking):
        return page.ranking_report(
            ratings, result, check=check, warp=warp, replay=replay
        )
    if isinstance(result, Comparison):
        return page.comparison_report(ratings, result, replay=replay)
    return page.check_report(ratings, result, replay=replay)


def _replay(ratings: Ratings, result: Result, record: str | None) -> Replay:
    from evenhand.desk.report.page import Replay

    context = click.get_current_context()
    words = list(context.meta.get(ARGUMENTS, ()))
    if "--seed" not in words and not any(word.startswith("--seed=") for word in words):
        words += ["--seed", str(result.seed)]
    file = context.params.get("file") or ""
    name = "" if file == "-" else Path(file).name
    audit = None if record is None else _audit(context, record, file)
    return Replay(shlex.join(["evenhand", *words]), audit, ratings.read_as, name)


def _audit(context: click.Context, record: str, file: str) -> str:
    """Return the audit of a record, with the options that its command read with."""
    from evenhand.cli.audit import command

    known = {option.opts[0] for option in command.params} - {"--json", "-o"}
    words = ["evenhand", "audit", record, file]
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.opts[0] in known and value is not None:
            words += [option.opts[0], str(value)]
    return shlex.join(words)


def _check_report(path: str) -> None:
    if not path.casefold().endswith((".html", ".htm")):
        raise OptionError(
            f"report must be a file that ends in .html, got {path!r}. To get a PDF, "
            "open it in a browser and print it."
        )
    _check_folder("report", path)


def _check_folder(option: str, path: str) -> None:
    if Path(path).is_dir():
        raise OptionError(f"{option} must be the path of a file, got {path!r}.")
    if not Path(path).parent.is_dir():
        raise OptionError(
            f"{option} must be a path that can be written, got {path!r}: there is no "
            "such folder."
        )

"""What a deciding command writes beside its answer: report, charts, tables."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _shared
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand._outputs import Output
    from evenhand.ab.comparison import Comparison
    from evenhand.diagnosis.check import Check
    from evenhand.grading import Grades
    from evenhand.ranking.ranking import Ranking
    from evenhand.ratings import Ratings
    from evenhand.words.page import Replay

    Result = Ranking | Comparison | Check | Grades

CHARTS = "charts="


class Extras:
    """What to write beside the answer of a command.

    Attributes:
        command: Name of the command.
        report: Path of the report.
        charts: Folder of the charts.
        exports: Table and path of each export.
    """

    def __init__(
        self,
        command: str,
        report: str | None = None,
        exports: Iterable[str] = (),
    ) -> None:
        """Check what was asked for before a long run, not after it."""
        self.command, self.report = command, report
        self.charts: str | None = None
        if report is not None:
            from evenhand.words.page import require_html

            require_html(report)
            _shared.check_file("report", report)
        tables = [text for text in exports if not text.startswith(CHARTS)]
        for folder in (text.removeprefix(CHARTS) for text in {*exports} - {*tables}):
            if not folder or Path(folder).is_file():
                raise OptionError(f"charts must be a folder, got {folder!r}.")
            self.charts = folder
        if self.charts is not None and command == "grade":
            raise OptionError(
                "charts must be left out with grade; --report draws the marks."
            )
        self.exports: list[tuple[str, str]] = []
        if tables:
            from evenhand.words.exports import parse_export

            self.exports = [parse_export(text, command) for text in tables]
        for _, path in self.exports:
            _shared.check_file("export", path)

    @property
    def draws(self) -> bool:
        """Whether anything with charts was asked for."""
        return self.report is not None or self.charts is not None

    @property
    def needs_check(self) -> bool:
        """Whether a ranking needs a check beside it."""
        return self.draws or any(
            what in ("reviewers", "all") for what, _ in self.exports
        )

    def paths(self) -> dict[str, str | None]:
        """Name what is written, for `keep_inputs`."""
        exports = {f"--export {Path(path).resolve()}": path for _, path in self.exports}
        return {"--report": self.report, "--export charts": self.charts, **exports}

    def outputs(
        self,
        ratings: Ratings,
        result: Result,
        *,
        record: str | None = None,
    ) -> list[Output]:
        """Return the files to write."""
        files: list[Output] = []
        ranked, found = None, None
        if self.needs_check:
            from evenhand.grading import Grades
            from evenhand.ranking.results import Ranking
            from evenhand.words.page import check_beside

            ranked = result if isinstance(result, Ranking) else None
            marked = isinstance(result, Grades) and self.report is not None
            beside: Any = result if marked else ranked
            found = None if beside is None else check_beside(beside)
        if self.exports:
            from evenhand.words.exports import export_outputs

            files += export_outputs(self.exports, ratings, result, found)
        if self.draws:
            from evenhand._outputs import Output
            from evenhand.words import figures, page

            warp = None if ranked is None else page.warp_beside(ranked)
            more: dict[str, Any] = {"check": found, "warp": warp}
            with _shared.working("Drawing"):
                if self.charts is not None:
                    drawn = page.figures_of(ratings, result, **more)
                    files += figures.pictures(drawn, self.charts)
                if self.report is not None:
                    replay = _replay(ratings, record)
                    html = page.report(ratings, result, replay=replay, **more)
                    files.append(Output(self.report, html))
        return files


def _replay(ratings: Ratings, record: str | None) -> Replay:
    from evenhand.words.page import Replay

    context = click.get_current_context()
    words = context.meta.get(_shared.ARGUMENTS, ())
    file = context.params.get("file") or ""
    name = "" if file == "-" else Path(file).name
    audit = None if record is None else audit_words(context, record, file)
    return Replay(shlex.join(["evenhand", *words]), audit, ratings.read_as, name)


def audit_words(context: click.Context, record: str, file: str) -> str:
    """Return the audit of a record, with the options that its command read with."""
    from evenhand.cli.audit import command

    known = {one.opts[0] for one in command.params} - {"--json", "-o"}
    words = ["evenhand", "audit", record, file]
    for one in context.command.params:
        value = context.params.get(str(one.name))
        for given in value if isinstance(value, tuple) else [value]:
            if one.opts[0] in known and given is not None:
                words += [one.opts[0], str(given)]
    return shlex.join(words)

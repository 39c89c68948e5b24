"""What a deciding command reads, and writes: answer, record, report, tables."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _shared
from evenhand.cli._shared import writing
from evenhand.errors import OptionError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evenhand._outputs import Output
    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Notice
    from evenhand.diagnosis.check import Check
    from evenhand.grading import Grades
    from evenhand.ranking.ranking import Ranking
    from evenhand.ratings import Ratings
    from evenhand.words.page import Replay

    Result = Ranking | Comparison | Check | Grades

CHARTS = "charts="
ARGUMENTS = "evenhand.arguments"
"""Where the words of the command line are kept, for the report to show them."""

export_option = writing(
    "--export exports",
    "Write a table to a .csv, .tsv, .xlsx, .parquet, .json, .jsonl or .md; an unknown "
    "TABLE lists the available ones.  [repeatable]",
    "[TABLE=]PATH",
    multiple=True,
)
extra_options = _shared.options(
    writing(
        "--report",
        "Write a self-contained HTML report.",
        "OUT.html",
    ),
    writing(
        "--export exports",
        "Write a table to a .csv, .tsv, .xlsx, .parquet, .json, .jsonl or .md, or with "
        "charts=FOLDER the report's charts; an unknown TABLE lists the available ones. "
        " [repeatable]",
        "[TABLE=]PATH",
        multiple=True,
    ),
)


class Job:
    """One run of a command that decides; its paths are checked before it starts.

    Attributes:
        ratings: What was read.
        assignment: The assignment that they came through, if it was given.
        extras: What to write beside the answer.
        options: What is left of the options: those of the method.
        seed: What --seed says.
        as_json: Whether JSON is asked for.
        explain: Whether explanations are.
    """

    def __init__(
        self,
        command: str,
        options: dict[str, Any],
        more: Mapping[str, str | None] | None = None,
    ) -> None:
        """Check the paths, then read; `more` are further files that are read."""
        self.options = options
        file, file_format = options.pop("file"), options.pop("file_format")
        self.seed, self.as_json = options.pop("seed"), options.pop("as_json")
        self._output, self._record = options.pop("output"), options.pop("record", None)
        evidence = options.pop("assignment", None)
        self.explain = options.pop("explain", False)
        reading = _shared.take_reading(options)
        self._key = reading["anonymise"]
        self.extras = Extras(
            command, options.pop("report", None), options.pop("exports")
        )
        files = _shared.evidence_in(evidence)
        read = zip(("--assignment", "its seal", "its secret"), files, strict=True)
        written = {"--output": self._output, "--record": self._record}
        _shared.keep_inputs(
            {**written, **self.extras.paths()},
            {"FILE": file, **dict(read), **_shared.read_too(reading), **(more or {})},
        )
        if self._key is not None and evidence is not None:
            raise OptionError(
                "--anonymise must be left out with --assignment, whose record holds "
                "the reviewers' names."
            )
        self.ratings, self._files = _shared.read(
            file, file_format, reading, counts=command == "compare"
        )
        # A report lists scores one by one, so that one of too many is refused now.
        self._listed = self.ratings
        if self.extras.draws or self.extras.exports:
            from evenhand.engines.counts import one_by_one

            self._listed = one_by_one(self.ratings)
        self.assignment = _shared.read_assignment(*files)

    def deliver(
        self,
        result: Result,
        text: str,
        notices: Iterable[Notice],
    ) -> None:
        """Print or write the answer and the files that go with it; notes to stderr."""
        files = list(self._files)
        if self._record is not None:
            from evenhand._outputs import Output
            from evenhand.records.record import decision_record, text_of

            record = decision_record(result, self.assignment)  # type: ignore[arg-type]  # a check has no option for it
            files.append(Output(self._record, text_of(record)))
        files += self.extras.outputs(self._listed, result, record=self._record)
        _shared.deliver(text, self._output, files)
        if self.ratings.read_as:
            click.echo(f"Read as {printable(self.ratings.read_as)}", err=True)
        if self._key is not None:
            from evenhand.formats.anonymise import NOT_HIDDEN

            click.echo(f"Who is who: {printable(self._key)}. {NOT_HIDDEN}", err=True)
        for file in files:
            click.echo(f"Wrote {printable(file.path)}", err=True)
        if self._record is not None:
            context = click.get_current_context()
            audit = _audit(context, self._record, context.params["file"])
            click.echo(f"Check it with: {printable(audit)}", err=True)
        _shared.note(tuple(notices), result.seed)


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
            from evenhand.ranking.results import Ranking
            from evenhand.words.page import check_beside

            ranked = result if isinstance(result, Ranking) else None
            found = None if ranked is None else check_beside(ranked)
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
                    drawn = page.figures_of(ratings, result, **more)  # type: ignore[arg-type]  # grades have no option for it
                    files += figures.pictures(drawn, self.charts)
                if self.report is not None:
                    replay = _replay(ratings, record)
                    html = page.report(ratings, result, replay=replay, **more)  # type: ignore[arg-type]  # likewise
                    files.append(Output(self.report, html))
        return files


def _replay(ratings: Ratings, record: str | None) -> Replay:
    from evenhand.words.page import Replay

    context = click.get_current_context()
    words = context.meta.get(ARGUMENTS, ())
    file = context.params.get("file") or ""
    name = "" if file == "-" else Path(file).name
    audit = None if record is None else _audit(context, record, file)
    return Replay(shlex.join(["evenhand", *words]), audit, ratings.read_as, name)


def _audit(context: click.Context, record: str, file: str) -> str:
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

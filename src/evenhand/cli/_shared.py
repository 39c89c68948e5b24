"""What the commands share: input, output, tables on a terminal, and one run."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli._options import COLUMNS, ROLES
from evenhand.errors import OptionError, must_be, printable, visible
from evenhand.lazy import lazy
from evenhand.progress import working as working  # noqa: PLC0414 - for every command

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from rich import console as consoles
    from rich import table as rich_tables
    from rich import text as rich_text
    from rich.console import Console, RenderableType
    from rich.table import Table

    from evenhand import _charts as charts
    from evenhand import _outputs as outputs
    from evenhand import columns as table_columns
    from evenhand import criteria
    from evenhand._outputs import Output
    from evenhand.claims import DataWarning
    from evenhand.cli import audit as audit_command
    from evenhand.designs.assignment import Assignment
    from evenhand.engines import counts as score_counts
    from evenhand.formats import anonymise, layouts, lists
    from evenhand.formats import reading as rating_files
    from evenhand.formats.layouts import ReadOptions
    from evenhand.ranking import results
    from evenhand.records import record as records
    from evenhand.words import exports, figures, tables
    from evenhand.words import page as pages
    from evenhand.words import tables as words
    from evenhand.words import warnings as warning_words
    from evenhand.words.page import Result

    Paths = Mapping[str, str | None]
else:
    charts = lazy("evenhand._charts")
    outputs = lazy("evenhand._outputs")
    audit_command = lazy("evenhand.cli.audit")
    table_columns = lazy("evenhand.columns")
    criteria = lazy("evenhand.criteria")
    score_counts = lazy("evenhand.engines.counts")
    anonymise = lazy("evenhand.formats.anonymise")
    layouts = lazy("evenhand.formats.layouts")
    lists = lazy("evenhand.formats.lists")
    rating_files = lazy("evenhand.formats.reading")
    results = lazy("evenhand.ranking.results")
    records = lazy("evenhand.records.record")
    exports = lazy("evenhand.words.exports")
    figures = lazy("evenhand.words.figures")
    pages = lazy("evenhand.words.page")
    tables = lazy("evenhand.words.tables")
    warning_words = lazy("evenhand.words.warnings")
    consoles = lazy("rich.console")
    rich_tables = lazy("rich.table")
    rich_text = lazy("rich.text")

WIDTH = 100
ABOUT_LABELS = ("similar_items", "similar_reviewers")
"""Notices that come before the table."""
CUT = "\ue000"
"""Marks the row that becomes the line of the cut; a label has no such character."""
ARGUMENTS = "evenhand.arguments"
"""Where the words of the command line are kept, for the report to show them."""
STDIN, CHARTS = "-", "charts="
NO_CLUSTER = {
    "compare": "p-values draw the item of each reviewer again, which holds whatever "
    "reviewers share. If all of a cluster got one item, say --design panels --column "
    "pair=COLUMN; of models that answered the same prompts rank --simultaneous says "
    "which are apart",
    "grade": "its errors take reviewers as independent; rank --cluster says how sure "
    "an order is",
}
WISHES = ["format", "scale", "exclude", "only", "rows", "sheet", "anonymise"]
WISHES += ["repeats", "lower_is_better", "missing_criteria"]
"""Parameters that say how to read, beside columns and the companion."""


TABLE = ("encoding", "delimiter", "decimal", "header")
"""What --table says."""


def table_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Take apart what --table says of how a file is written.

    Raises:
        OptionError: If it says nothing that is known, or something twice.

    Examples:
        >>> table_settings(["decimal=,", "header=no"])
        {'decimal': ',', 'header': False}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        answers = name != "header" or value in ("yes", "no")
        if name not in TABLE or not equals or not answers:
            rule = f"one of {', '.join(TABLE)}, = and a value, as in encoding=mac"
            raise must_be("--table", rule, text)
        if not value:
            raise must_be(name, "given", value)
        if name in settings:
            raise OptionError(f"--{name} must be given once, got it twice.")
        settings[name] = value == "yes" if name == "header" else value
    return settings


def take_reading(options: dict[str, Any]) -> tuple[ReadOptions, str | None]:
    """Take out the options that say how to read, and the companion of the file.

    Raises:
        OptionError: If --column does not name a role and a column, or one is empty.
    """
    columns = {name: options.pop(name) for name in COLUMNS}
    scored = columns["score"]
    weights: dict[str, float | None] = {}
    if isinstance(scored, tuple):
        columns["score"], weights = criteria.parse_scores(scored)
        columns["score"] = columns["score"] or None
    parts = (*table_columns.WATCHED, "confidence", "cluster")
    watched = {name: options.pop(name, None) for name in parts}
    columns |= {name: column for name, column in watched.items() if column is not None}
    merge = [*options.pop("merge")]
    for text in options.pop("columns"):
        role, _, column = text.partition("=")
        if role == "merge" and column:
            merge.append(column)
            continue
        if role not in ROLES or not column:
            rule = f"one of {', '.join(ROLES)}, = and a column, as in rank=Place"
            raise must_be("--column", rule, text)
        if role in columns:
            raise OptionError(f"--column {role} must be given once, got it twice.")
        columns[role] = column
    wishes = {name: options.pop(name, None) for name in WISHES}
    companion = options.pop("companion", None)
    for name, value in {**columns, **wishes, "companion": companion}.items():
        if value == "":
            raise must_be(name, "given", value)
    named = table_columns.Columns(
        **{name: value for name, value in columns.items() if value}
    )
    wished = {name: value for name, value in wishes.items() if value not in (None, ())}
    settings = table_settings(options.pop("table"))
    wished["criteria"] = weights
    return layouts.ReadOptions(named, **wished, **settings, merge=merge), companion


def check_cluster(command: str, cluster: str) -> None:
    """Refuse a cluster that a command does not use, and say why."""
    if cluster in ("", "none") or command in ("rank", "check"):
        return
    why = NO_CLUSTER.get(command, "rank and check use it")
    raise OptionError(f"--cluster must be left out for {command}: {why}.")


def file_inputs(file: str | Sequence[str]) -> dict[str, str]:
    """Return the files that are read, by what messages call them."""
    if isinstance(file, str):
        return {"FILE": file}
    return {f"FILE {name}": name for name in file}


def read(
    file: str | Sequence[str],
    options: ReadOptions,
    companion: str | None,
    *,
    counts: bool = False,
) -> tuple[Any, list[Output]]:
    """Read the ratings of a command.

    Args:
        file: Path, or "-" for standard input; or several paths.
        options: How to read it.
        companion: Second file of the same export.
        counts: Whether counts of scores will do.

    Returns:
        The ratings or counts, and a new key, to be written with the other files.
    """
    with working(f"Reading {' '.join(file_inputs(file).values())}"):
        counts = counts and companion is None
        ratings, key = rating_files.read(
            file, options, companion=companion, counts=counts
        )
    return ratings, [key.output()] if key is not None and key.is_new else []


def read_hex(path: str | None, kind: str) -> str | None:
    """Read a seal or a secret, if there is one."""
    return None if path is None else records.read_hex(path, kind)


def evidence_in(path: str | None) -> tuple[str | None, str | None, str | None]:
    """Return the paths of an assignment's record, seal and secret.

    Args:
        path: The record, or a folder with assignment.json and maybe the others.

    Raises:
        RecordError: If the folder has no assignment.json.
    """
    if path is None or not Path(path).is_dir():
        return path, None, None

    files = [Path(path) / f"{name}.json" for name in ("seal", "secret")]
    seal, secret = (str(file) if file.is_file() else None for file in files)
    return records.chain_of(path)[0], seal, secret


def console() -> Console:
    """Open a console that takes every character as it is."""
    width = None if sys.stdout.isatty() else WIDTH
    return consoles.Console(width=width, markup=False, emoji=False, highlight=False)


def columns(
    cells: Mapping[str, Sequence[str]], text_columns: Collection[str]
) -> words.TextTable:
    """Make a table of columns by their headings; those named at the left are words."""
    heads = tuple(
        tables.Column(name, number=name not in text_columns) for name in cells
    )
    return tables.TextTable(
        "", heads, tuple(map(tables.TextRow, zip(*cells.values(), strict=True)))
    )


def _laid_out(content: words.TextTable) -> Table:
    """Lay out a table of `words` for a terminal."""
    grid = rich_tables.Table()
    for column in content.columns:
        grid.add_column(
            column.title,
            justify="right" if column.number else "left",
            overflow="ellipsis" if column.number or column.one_line else "fold",
        )
    for row, texts in zip(content.rows, content.plain()[1], strict=True):
        if row.line == "cut":
            grid.add_row(CUT)
        elif row.line == "edge":
            grid.add_section()
        cells = zip(content.columns, texts, strict=True)
        # Of a column that wraps, this text alone does not, so that it is cut first.
        grid.add_row(
            *(rich_text.Text(text, no_wrap=column.one_line) for column, text in cells)
        )
    return grid


def render(*parts: RenderableType | words.TextTable) -> str:
    """Render tables and text as plain text, for standard output or a file."""
    screen = console()
    texts = []
    for part in parts:
        with screen.capture() as capture:
            screen.print(_laid_out(part) if isinstance(part, tuple) else part)
        text = capture.get()
        if isinstance(part, tuple) and CUT in text:  # no row of rich spans all columns
            row = next(line for line in text.splitlines() if CUT in line)
            drawn = f" {part.cut} ".center(len(row) - 2, "═")
            text = text.replace(row, f"╞{drawn}╡")
        texts.append(text)
    return "".join(texts)


def check_paths(outputs: Paths, inputs: Paths) -> None:
    """Refuse outputs that cannot be written, or would replace what a command reads.

    Args:
        outputs: Paths to be written, by the option that names them.
        inputs: Paths to be read.

    Raises:
        OptionError: If a path is both, or two options name it; if it is a folder, or in
            one that is not there.

    Examples:
        >>> check_paths({"--record": "a.csv"}, {"FILE": "./a.csv"})
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: --record must not replace FILE, got 'a.csv'. Write
        to another file.
    """
    taken = {Path(path).resolve(): name for name, path in inputs.items() if path}
    for name, path in outputs.items():
        if path is None or (name, path) == ("--output", STDIN):
            continue
        option, place = name.partition(" ")[0].removeprefix("--"), Path(path)
        if place.resolve() in taken:
            raise OptionError(
                f"{name} must not replace {taken[place.resolve()]}, got {path!r}. "
                "Write to another file."
            )
        if path == STDIN or not place.name or place.is_dir():
            raise must_be(option, "the path of a file", path)
        if not place.parent.is_dir():
            raise must_be(option, "in a folder that is there", path)
        taken[place.resolve()] = name


def deliver(text: str, output: str | None, files: Sequence[Output] = ()) -> None:
    """Print a result, or write it to a file; files that go with it come first."""
    text = f"{text.removesuffix(chr(10))}\n"
    printed = output is None or output == STDIN
    if not printed:
        files = [outputs.Output(str(output), text), *files]
    if files:
        outputs.write_all(files)
    if printed:
        click.echo(text, nl=False)


def deliver_table(text: str, output: str | None) -> None:
    """Print a table or a query, in which no label acts on a terminal; or write it."""
    printed = visible(text) if output is None or output == STDIN else text
    deliver(printed, output)
    if printed != text:
        words = "Control characters in names are shown as \\x1b and the like. With -o"
        click.echo(f"{words} FILE they are written as they are.", err=True)


def show(
    document: Mapping[str, Any],
    explain: Callable[[], str],
    options: Mapping[str, Any],
    files: Sequence[Output] = (),
) -> None:
    """Print or write a result as JSON or in words, as --json and --output say."""
    text = json.dumps(document, indent=2) if options["as_json"] else explain()
    deliver(text, options["output"], files)


def note(notices: Iterable[DataWarning], seed: int | None = None) -> None:
    """Print notices and the seed to standard error."""
    for notice in notices:
        text = warning_words.warning_text(notice, "line")
        click.echo(f"Note ({notice.code}): {printable(text)}", err=True)
    if seed is not None:
        click.echo(f"seed {seed}", err=True)


class Job:
    """One run of a command that decides; its paths are checked before it starts.

    Attributes:
        ratings: What was read.
        assignment: The assignment that they came through, if it was given.
        seed: What --seed says.
        explain: Whether explanations are asked for.
    """

    def __init__(
        self, command: str, options: dict[str, Any], more: Paths | None = None
    ) -> None:
        """Check the paths, then read; `more` are further files that are read."""
        take = options.pop
        self._shown = {name: take(name) for name in ("as_json", "output")}
        self.seed, self.explain = take("seed"), take("explain", None)
        self._file, self._record = take("file"), take("record", None)
        intervals = take("intervals", None)
        if (self._file is None) == (intervals is None):
            raise OptionError("select takes FILE or --intervals FILE: give one.")
        self._file = self._file or intervals
        evidence = take("assignment", None)
        reading, companion = take_reading(options)
        check_cluster(command, reading.columns.cluster)
        self._key, self._report = reading.anonymise or None, take("report")
        self._charts, self._exports = _exports(command, take("exports"))
        if self._report is not None:
            pages.require_html(self._report)
        record, *hidden = evidence_in(evidence)
        inputs = {"--companion": companion, "--anonymise": self._key, **(more or {})}
        inputs |= dict(zip(("its seal", "its secret"), hidden, strict=True))
        inputs |= {"--assignment": record, **file_inputs(self._file)}
        written = {"--output": self._shown["output"], "--record": self._record}
        written["--report"] = self._report
        tables = {f"--export {Path(path).resolve()}": path for _, path in self._exports}
        check_paths({**written, **tables}, inputs)
        if self._key is not None and evidence is not None:
            raise OptionError("--anonymise must be left out with --assignment.")
        counts = command == "compare"
        if intervals is None:
            self.ratings, self._files = read(
                self._file, reading, companion, counts=counts
            )
        else:
            self.ratings, self._files = lists.read_intervals(intervals), []
        # A report lists scores one by one, so that one of too many is refused now.
        self._listed = self.ratings
        wants_list = self._report is not None or self._charts is not None
        if intervals is None and (wants_list or self._exports):
            self._listed = score_counts.one_by_one(self.ratings)
        self.assignment = None if record is None else read_assignment(record, *hidden)

    def deliver(
        self,
        result: Result,
        explain: Callable[[], str],
        hidden: Collection[str] = (),
        **more: Any,  # noqa: ANN401 - anything that JSON takes
    ) -> None:
        """Print or write the answer and the files that go with it; notes to stderr.

        Args:
            result: The answer.
            explain: What tells it to people.
            hidden: Codes of notices that its words tell already.
            more: Further fields of the JSON.
        """
        audit, files = None, list(self._files)
        if self._record is not None:
            record = records.decision_record(result, self.assignment)  # type: ignore[arg-type]  # a check has no option for it
            files.append(outputs.Output(self._record, records.text_of(record)))
            audit = audit_words(click.get_current_context(), self._record, self._file)
        files += self._extras(result, audit)
        silent = () if self._shown["as_json"] else hidden
        warnings = [warning for warning in result.notices if warning.code not in silent]
        # Whoever reads the table must know that two of its rows may be one item.
        note(warning for warning in warnings if warning.code in ABOUT_LABELS)
        show({**result.to_dict(), **more}, explain, self._shown, files)
        lines = [f"Wrote {file.path}" for file in files]
        if self._key is not None:
            lines.insert(0, f"Who is who: {self._key}. {anonymise.NOT_HIDDEN}")
        if self.ratings.read_as:
            lines.insert(0, f"Read as {self.ratings.read_as}")
        for line in [*lines, *([f"Check it with: {audit}"] if audit else [])]:
            click.echo(printable(line), err=True)
        note(
            (warning for warning in warnings if warning.code not in ABOUT_LABELS),
            result.seed,
        )

    def _extras(self, result: Result, audit: str | None) -> list[Output]:
        """Return tables, charts and the report, as far as they are asked for."""
        draws = self._report is not None or self._charts is not None
        if not draws and not self._exports:
            return []

        check = warp = None
        people = any(what in ("reviewers", "all") for what, _ in self._exports)
        if isinstance(result, results.Ranking) and (draws or people):
            check = pages.check_beside(result)
        files = exports.export_outputs(self._exports, self._listed, result, check)
        with working("Drawing"):
            if self._charts is not None:
                drawn = figures.figures_of(self._listed, result, check)
                files += figures.pictures(drawn, self._charts)
            if self._report is not None:
                if isinstance(result, results.Ranking):
                    warp = pages.warp_beside(result)
                typed = click.get_current_context().meta.get(ARGUMENTS, ())
                files_read = [*file_inputs(self._file).values()]
                name = "" if self._file == STDIN else Path(files_read[0]).name
                line = shlex.join(["evenhand", *typed])
                replay = pages.Replay(line, audit, name)
                html = pages.report(
                    self._listed, result, replay=replay, check=check, warp=warp
                )
                files.append(outputs.Output(self._report, html))
        return files


def read_assignment(record: str, seal: str | None, secret: str | None) -> Assignment:
    """Read the assignment of a command, verified if it has seal and secret."""
    revealed, published = read_hex(secret, "secret"), read_hex(seal, "seal")
    return records.load_assignment(record, secret=revealed, seal=published)


def _exports(
    command: str, texts: Sequence[str]
) -> tuple[str | None, list[tuple[str, str]]]:
    """Return the folder of the charts, and table and path of each other export."""
    folder, tables = None, []
    for text in texts:
        if not text.startswith(CHARTS):
            tables.append(exports.parse_export(text, command))
            continue
        folder = text.removeprefix(CHARTS)
        if not folder or Path(folder).is_file():
            raise must_be("charts", "a folder", folder)
        if command == "grade":
            raise OptionError("charts must be left out with grade: use --report.")

        charts.renderer()
    return folder, tables


def audit_words(context: click.Context, record: str, file: str | Sequence[str]) -> str:
    """Return the audit of a record, with the options that its command read with."""
    words = ["evenhand", "audit", record, *file_inputs(file).values()]
    return command_words(context, audit_command.command, words)


def command_words(
    context: click.Context, command: click.Command, words: list[str]
) -> str:
    """Return the words of a command, with the options of this run that it has, too."""
    own = {param.opts[0] for param in command.params} - {"--json", "-o"}
    for param in context.command.params:
        value = context.params.get(str(param.name))
        for argument in value if isinstance(value, tuple) else [value]:
            is_option = isinstance(param, click.Option) and param.opts[0] in own
            if not is_option or argument is None:
                continue
            if isinstance(argument, bool):
                words += param.opts if argument else param.secondary_opts
            else:
                words += [param.opts[0], str(argument)]
    return shlex.join(words)

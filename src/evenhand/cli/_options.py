"""The options that commands share, and the help that lists them by headings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from evenhand.formats import PLATFORMS

Command = TypeVar("Command", bound=Callable[..., None])
Decorator = Callable[[Any], Any]
OUTPUT, READING = "Output", "Reading FILE"
COLUMNS = ("reviewer", "item", "score")
ROLES = (
    "rank",
    "winner",
    "loser",
    "pair",
    "weight",
    "cluster",
    "order",
    "answered",
    "probability",
)
"""Columns that few files have."""
SHORT_OPTIONS = ("--encoding", "--delimiter", "--decimal")
SHORT_FLAGS = ("--header", "--no-header")
"""What stands for --table KEY=VALUE."""


class Option(click.Option):
    """An option that stands under a heading of the help."""

    def __init__(self, *names: Any, group: str, **more: Any) -> None:  # noqa: ANN401 - click's
        """Keep the heading."""
        super().__init__(*names, **more)
        self.group = group


def spell_out(args: list[str]) -> list[str]:
    """Write options that are short for --table in full.

    Examples:
        >>> spell_out(["r.csv", "--encoding", "mac", "--no-header"])
        ['r.csv', '--table', 'encoding=mac', '--table', 'header=no']
    """
    words, spelled = iter(args), list[str]()
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            return [*spelled, word, *words]
        if word in SHORT_FLAGS:
            spelled += ["--table", "header=" + ("no" if "no" in word else "yes")]
        elif name in SHORT_OPTIONS:
            value = value if equals else next(words, "")
            spelled += ["--table", f"{name[2:]}={value}"]
        else:
            spelled.append(word)
    return spelled


class OnceEach(click.Command):
    """A command that takes each option once, unless it can be repeated."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice: click would use the last in silence."""
        if any(param.name == "table" for param in self.params):
            args = spell_out(args)
        order = self.make_parser(ctx).parse_args(list(args))[2]
        for param in order if not ctx.resilient_parsing else ():
            several = isinstance(param, click.Option) and (
                param.multiple or param.is_flag
            )
            times = order.count(param)
            if times > 1 and not several:
                text = f"{param.opts[0]} must be given once, got it {times} times."
                raise click.UsageError(f"{text} Keep one of them.", ctx)
        return super().parse_args(ctx, args)


class OnceEachGroup(OnceEach, click.Group):
    """A command with commands of its own, which all take each option once."""

    command_class = OnceEach


class Grouped(OnceEach):
    """A command whose help lists options under headings."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, heading by heading."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            help_row = param.get_help_record(ctx)
            if help_row is not None and isinstance(param, click.Option):
                groups.setdefault(getattr(param, "group", OUTPUT), []).append(help_row)
        rarely = [
            "/".join(param.opts + param.secondary_opts)
            for param in self.get_params(ctx)
            if isinstance(param, Option) and param.hidden and param.group == READING
        ]
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)
                if title == READING and rarely:
                    text = f"Rarely needed, see docs/formats.md: {', '.join(rarely)}"
                    formatter.write_text(text)


def option(
    form: str,
    text: str,
    kind: object = None,
    *,
    group: str = "Options",
    **more: Any,  # noqa: ANN401 - click's
) -> Decorator:
    """Declare an option of a command.

    Args:
        form: Its flags, its parameter if that is called otherwise, and words in
            capitals for its values, with dots if it can be repeated: "--only NAME...".
        text: What it does.
        kind: Known names, or a type of click. Without any it takes text, or is a flag
            if there is no word for a value.
        group: Heading that it stands under.
        more: What else click takes.
    """
    words = form.removesuffix("...").split()
    values = [word for word in words if word != word.lower()]
    if values:
        more |= {"metavar": " ".join(values), "nargs": len(values)}
    elif kind is None and not more:
        more["is_flag"] = True
    if form.endswith("..."):
        more["multiple"] = True
        text += "  [repeatable]"
    if kind is not None:
        more["type"] = click.Choice(kind) if isinstance(kind, list | tuple) else kind
    names = [word for word in words if word not in values]
    return click.option(*names, cls=Option, group=group, help=text, **more)


def options(*added: Decorator) -> Callable[[Command], Command]:
    """Add some options to a command, in this order."""

    def add(command: Command) -> Command:
        for decorate in reversed(added):
            command = decorate(command)
        return command

    return add


reading = partial(option, group=READING)
# Few files need these: the help names them in one line.
rare = partial(reading, hidden=True)
deciding = partial(option, group="Decision")
writing = partial(option, group=OUTPUT)
COUNT = click.IntRange(min=1)
REVIEWER = "Column of the reviewer; judge+prompt if several name one together"
COLUMN_OPTIONS = (
    reading("--reviewer COLUMN", f"{REVIEWER}."),
    reading("--item COLUMN", "Column of the item."),
    reading("--score COLUMN", "Column of the score; higher is better."),
)
SCORES = reading(
    "--score COLUMN[=WEIGHT]...",
    "Column of the score; higher is better. Several are criteria: columns, sheets, or "
    "values of a column 'criterion'; they count by their weights, 1 if not said.",
)
FILE_OPTIONS = (
    reading(
        "--format NAME",
        f"What FILE is, if it is not recognised: {', '.join(PLATFORMS)}.",
        [*PLATFORMS],
    ),
    reading(
        "--reviewer COLUMN",
        f"{REVIEWER}; people, seats or judge+seats say whether a label is one person "
        "or somebody else at each item.",
    ),
    COLUMN_OPTIONS[1],
    SCORES,
    reading(
        "--column columns ROLE=COLUMN...",
        "Another column: rank=COLUMN (1 is best), winner=COLUMN and loser=COLUMN, "
        "pair=COLUMN (pairs or panels of reviewers), weight=COLUMN (how much a score "
        "counts in models), or cluster=COLUMN (what reviewers "
        "share, such as a prompt; for intervals of rank); or merge=item, "
        "merge=reviewer: labels that look alike, such as Tea and tea, are one.",
    ),
    reading(
        "--scale ORDER",
        "Score words from worst to best, such as 'reject<accept'; or best=A, the best "
        "letter; or /10, to put scores such as 4/5 onto 0 to 10.",
    ),
    reading("--rows", "What the rows of a wide table are.", ["items", "reviewers"]),
    reading("--sheet NAME", "Sheet of a workbook, or list of records within JSON."),
    reading(
        "--table KEY=VALUE...",
        "How FILE is written, if it is not recognised: --encoding NAME (utf-16, "
        "windows-1252, mac), --delimiter SIGN, --decimal SIGN (. or ,), --no-header or "
        "--header; each is short for --table encoding=NAME and so on.",
    ),
    reading(
        "--exclude NAME...",
        "Leave out an item or a reviewer: NAME, item=NAME or reviewer=NAME; or a "
        "column; or self, ratings of the reviewer's own item.",
    ),
    reading(
        "--anonymise KEY",
        "Replace reviewers by codes in every output; the mapping is saved in KEY and "
        "reused if KEY exists.",
    ),
)
RARE_OPTIONS = (
    rare(
        "--confidence COLUMN",
        "Column of the reviewer's confidence: how much its levels count is estimated. "
        "'COLUMN=low<medium<high' if the order of its words is not known.",
    ),
    rare(
        "--merge NAME...",
        "Labels that look alike are one: of items, of reviewers, or of both if only "
        "their case differs.",
        ["item", "reviewer", "case"],
    ),
    rare(
        "--repeats",
        "What counts of several ratings of one item by one reviewer.",
        ["last", "mean", "all"],
    ),
    rare(
        "--missing-criteria",
        "What becomes of a rating that lacks a criterion: no total, or the mean of "
        "those that it has.",
        ["leave-out", "rescale"],
    ),
    rare(
        "--lower-is-better/--higher-is-better",
        "Whether the lowest score is the best.",
        default=None,
    ),
)
cluster_option = rare(
    "--cluster COLUMN",
    "What reviewers share that may move their scores together, such as a prompt: they "
    "are no independent evidence. none: nothing.",
)
watch_options = options(
    cluster_option,
    rare("--order COLUMN", "When an item was assigned: a number or a time."),
    rare("--answered COLUMN", "When a score came in, for --window."),
    rare(
        "--probability COLUMN",
        "Probability with which the first item was to be assigned, as in a ramp-up.",
    ),
)
watch_terms = options(
    deciding(
        "--window TIME",
        "How long an answer may take: 3d, 12h, 30min, or a number in the unit of "
        "--order. Later answers do not count.",
        hidden=True,
    ),
    deciding(
        "--planned A B",
        "For halves, how many reviewers each item was planned to have.",
        click.INT,
        hidden=True,
    ),
)
MANY_OPTIONS = (
    rare(
        "--companion --with companion FILE",
        "Second file of the same export, where a platform splits it.",
    ),
    reading("--only NAME...", "Keep only these items or reviewers."),
)
"""What reading two items does not need: --items names these."""
seed_option = writing(
    "--seed",
    "Repeat an earlier run. Without it a seed is drawn and printed.",
    click.IntRange(min=0),
)
output_option = writing("-o --output PATH", "Write there instead of printing.")
output_options = options(writing("--json as_json", "Print JSON."), output_option)
result_options = options(seed_option, output_options)
WITH_CHARTS = ", or with charts=FOLDER the report's charts"
MEANS = "say what it means and what it may not claim."
explain_option = writing("--explain", MEANS.capitalize())
all_option = writing("--explain --all explain", f"Show every row, and {MEANS}")
evidence_option = deciding(
    "--assignment FOLDER",
    "What evenhand assign wrote: a folder with assignment.json and, once they are "
    "published, seal.json and secret.json; or the record alone.",
)
cluster_options = options(
    option(
        "--workers", "Processes on this machine.  [default: one for each core]", COUNT
    ),
    option(
        "--dask ADDRESS",
        "Run on the Dask cluster whose scheduler has this address, such as "
        "tcp://10.0.0.7:8786; needs evenhand[dask]. The result is the same.",
    ),
)
record_option = writing("--record PATH", "Write a record there, for evenhand audit.")


def extra_options(charts: str = WITH_CHARTS) -> Decorator:
    """Add --report and --export."""
    return options(
        writing("--report OUT.html", "Write a self-contained HTML report."),
        writing(
            "--export exports [TABLE=]PATH...",
            "Write a table to a .csv, .tsv, .xlsx, .parquet, .json or .jsonl"
            f"{charts}; an unknown TABLE lists the available ones.",
        ),
    )


def method_option(default: str, example: str) -> Decorator:
    """Add --method, which takes a text form."""
    return option(
        "--method TEXT",
        f"How to decide, with its own options in brackets, such as '{example}'; "
        "`evenhand methods` lists them.",
        group="Method",
        default=default,
        show_default=True,
    )


def file_argument(name: str, metavar: str, *, required: bool = True) -> Decorator:
    """Add an argument for one file, or several of one kind; None if there is none."""

    def one_or_several(*given: Any) -> str | tuple[str, ...] | None:  # noqa: ANN401 - click's
        files: tuple[str, ...] = given[-1]
        return files[0] if len(files) == 1 else files or None

    more: Any = {"callback": one_or_several, "required": required}
    return click.argument(name, metavar=metavar, nargs=-1, **more)


def reading_options(
    *, file: bool = True, many: bool = True
) -> Callable[[Command], Command]:
    """Add FILE and the options that say how to read it, all or those for two items."""
    named = (file_argument("file", "FILE"),) if file else ()
    more = MANY_OPTIONS if many else ()
    return options(*named, *FILE_OPTIONS, *more, *RARE_OPTIONS)

"""`evenhand select`: choose items, with a sealed lottery where it is too close."""

from __future__ import annotations

import re
import shlex
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import deciding
from evenhand.errors import OptionError, must_be
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from evenhand.designs import drawing as seals
    from evenhand.formats import lists
    from evenhand.ranking import selection
    from evenhand.words import selections
else:
    seals = lazy("evenhand.designs.drawing")
    lists = lazy("evenhand.formats.lists")
    selection = lazy("evenhand.ranking.selection")
    selections = lazy("evenhand.words.selections")

QUOTA = re.compile(r"(?P<column>[^=]+)=(?P<value>.+):(?P<least>\d*)-(?P<most>\d*)")
SHOWN = ("reviewer", "item")
drawing = partial(_options.option, group="Draw")


@click.command("select", cls=_options.Grouped)
@_options.file_argument("file", "[FILE]", required=False)
@_options.method_option("adaptive", "additive")
@deciding("--places K", "How many items are chosen.", click.IntRange(min=1))
@deciding(
    "--rule TEXT",
    "How chances follow from intervals: maximin (most of the true top K in the worst "
    "case), cut (sure ones in, equal chances for the close ones), smooth(slope=0.2), "
    "shares or top (no lottery).",
    default="maximin",
    show_default=True,
)
@deciding(
    "--intervals FILE",
    "Instead of FILE: a table with item, low, high and maybe estimate.",
)
@deciding("--noise-free", "Declare that no reviewer orders two items wrongly.")
@deciding(
    "--quota quotas COLUMN=VALUE:LEAST-MOST...",
    "Places for a group of items, such as field=law:2-5, field=law:2- or field=law:-5.",
)
@deciding(
    "--budget AMOUNT COLUMN",
    "As many places as the money pays for, whatever is drawn; COLUMN has each item's "
    "cost. Instead of --places.",
    click.Tuple([float, str]),
)
@deciding("--fix-in ITEM=REASON...", "Choose this item, whatever its scores.")
@deciding("--fix-out ITEM=REASON...", "Leave this item out, whatever its scores.")
@deciding(
    "--sensitivity N",
    "Move N scores by one step each, and say how much a chance moves.",
    click.IntRange(min=0),
    default=0,
)
@_options.evidence_option
@deciding(
    "--pool N",
    "With --assignment of design two-pools: the pool to choose from, 1 or 2. Only the "
    "other pool's scores count.",
    click.IntRange(1, 2),
    hidden=True,
)
@drawing("--draw", "Draw, with --seed or --secret. Without it chances are shown.")
@drawing(
    "--secret FILE",
    "Draw with this secret, or without --draw publish its seal with the chances; "
    "evenhand assign --seal makes one.",
)
@drawing("--seal FILE", "The seal as it was published; the secret must match it.")
@drawing(
    "--sealed-before WHAT",
    "What the seal was published before: scores (that anybody saw them) or intervals "
    "(that they were fixed). The record keeps it.",
)
@_options.all_option
@_options.extra_options()
@_options.record_option
@_options.result_options
@_options.reading_options(file=False)
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Choose K items, with a lottery among those that the ratings cannot tell apart.

    FILE is read as by rank. Items that are surely among the best K are in, those that
    surely are not are out, and the others get a chance each. Chances come from the
    ratings alone: no seed changes them. With --draw exactly K items are drawn. An item
    that was drawn was lucky; it is not better than another.

    \b
    Example:
      evenhand select examples/conference.csv --places 4
      evenhand assign --seal seal.json --secret secret.json
      evenhand select examples/conference.csv --places 4 --draw --secret secret.json \\
        --sealed-before scores --record selection.json
    """
    path, item = options["intervals"] or options["file"], options["item"]
    sources = {f"--{name}": options[name] for name in ("intervals", "secret", "seal")}
    secret = _secret(options)
    quotas = options.pop("quotas")
    fixed = dict(_fixed_items(options))
    if budget := options["budget"]:
        costs = lists.read_marks(path, what="cost", columns=(item, budget[1]))
        options |= {"budget": budget[0], "costs": costs}
    instead = options["intervals"] or options["noise_free"]
    if instead and options["method"] == "adaptive":
        options["method"] = None
    job = _shared.Job("select", options, sources)
    result = selection.select(
        job.ratings,
        **options,
        quotas={text: _quota(text, path, item) for text in quotas},
        fixed=fixed,
        assignment=job.assignment,
        secret=secret,
        rng=job.seed,
    )
    typed = click.get_current_context().meta.get(_shared.ARGUMENTS, ())
    source = [] if secret else ["--secret", "secret.json"]
    line = shlex.join(["evenhand", *typed, "--draw", *source])
    if not secret:
        line = f"evenhand assign --seal seal.json --secret secret.json && {line}"
    parts = partial(selections.parts, result, line, explained=bool(job.explain))
    job.deliver(result, lambda: _shared.render(*parts()))


for _param in command.params:
    # The others are named in one line of the help.
    if getattr(_param, "group", "") == _options.READING and _param.name not in SHOWN:
        _param.hidden = True  # type: ignore[attr-defined]  # of options


def _secret(options: dict[str, Any]) -> str | None:
    """Return the secret that draws, which must match the published seal."""
    secret = _shared.read_hex(options.pop("secret"), "secret")
    seal = _shared.read_hex(options.pop("seal"), "seal")
    if not options["draw"] and options["seed"] is not None:
        raise OptionError("--seed must come with --draw.")
    if not options["draw"] and secret is not None and options["record"] is not None:
        raise OptionError("--record must come with --draw if there is a secret.")
    if seal is not None and (secret is None or seals.seal_of(secret) != seal):
        raise OptionError("--seal must be the seal of the secret in --secret.")
    return secret


def _fixed_items(options: dict[str, Any]) -> Any:  # noqa: ANN401 - pairs for a dict
    for side in ("in", "out"):
        for text in options.pop(f"fix_{side}"):
            item, equals, reason = text.partition("=")
            if not equals or not reason.strip():
                raise must_be(f"--fix-{side}", "ITEM=REASON, with a reason", text)
            yield item, (side, reason)


def _quota(text: str, path: str, item: str | None) -> tuple[list[str], int, int | None]:
    """Return the items of a quota, and its least and most number of places."""
    match = QUOTA.fullmatch(text)
    if match is None:
        raise must_be("--quota", "as field=law:2-5, with a column of FILE", text)
    column, value, least, most = match.groups()
    pairs = lists.read_pairs(path, ("item", item), (column, column))
    members = sorted({label for label, group in pairs if group == value})
    if not members:
        raise must_be(f"--quota {column}", "a value of that column", value)
    return members, int(least or 0), int(most) if most else None

"""`evenhand methods`: what there is to choose from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from evenhand.cli import _shared
from evenhand.errors import OptionError, unknown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from evenhand.method import Method

TITLES = {"compare": "Two items", "rank": "Many items"}


@click.command("methods")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, *, as_json: bool) -> None:
    """List the methods, or show one with its options, assumptions and best claim.

    \b
    Example:
      evenhand methods
      evenhand methods flips
    """
    from evenhand.method import methods

    known = methods()
    chosen = [one for one in known if name in (None, one.name)]
    if not chosen:
        raise OptionError(unknown("method", name, {one.name: 1 for one in known}))
    if as_json:
        rows = [method.describe() for method in chosen]
        document = {"schema": "evenhand.methods/1", "methods": rows}
        _shared.deliver(json.dumps(document, indent=2), None)
    elif name is not None:
        _shared.deliver("\n".join(map(_page, chosen)), None)
    else:
        for job, title in TITLES.items():
            ours = [one for one in chosen if one.job == job]
            columns = {
                "method": [
                    f"{one.name} (default)" if one.default else one.name for one in ours
                ],
                "what it does": [one.summary() for one in ours],
                "best claim": [one.best.sentence() for one in ours],
            }
            parts = _shared.table(columns, left=tuple(columns))
            _shared.deliver(_shared.rendered(title, parts), None)


def _page(method: type[Method]) -> str:
    """Show one method."""
    from rich.padding import Padding

    from evenhand.method import as_json

    default = ", the default" if method.default else ""
    lines: list[RenderableType] = [
        f"{method.name} ({TITLES[method.job].lower()}{default})",
        *(" ".join(part.split()) for part in (method.__doc__ or "").split("\n\n")),
        f"Assumes: {method.assumes}.",
        f"Best claim: {method.best.sentence()}",
    ]
    if method.reference:
        lines.append(f"Reference: {method.reference}.")
    lines += ["Options:"] if method.options() else ["It has no options."]
    for name, field in method.options().items():
        usual = field.default if not callable(field.default) else str(field.default)
        shown = usual if isinstance(usual, str) else as_json(usual)
        lines.append(Padding(f"{name}={shown}: {field.metadata['says']}", (0, 0, 0, 2)))
    return _shared.rendered(*lines)

"""`evenhand methods`: what there is to choose from."""

from __future__ import annotations

import json

import click

from evenhand.catalogue import methods
from evenhand.cli import _shared


@click.command("methods")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> None:
    """List the methods, what they assume and what they can certify at best.

    \b
    Example:
      evenhand methods
    """
    if as_json:
        rows = [method.to_dict() for method in methods()]
        document = {"schema": "evenhand.methods/1", "methods": rows}
        _shared.deliver(json.dumps(document, indent=2), None)
        return
    from rich.table import Table

    for job, title in (("compare", "Two items"), ("rank", "Many items")):
        table = Table(title=title, title_justify="left", show_lines=True)
        for column in ("method", "what it does", "assumes", "can certify at best"):
            table.add_column(column, overflow="fold")
        for method in methods():
            if method.job == job:
                name = f"{method.name} (default)" if method.default else method.name
                table.add_row(name, method.summary, method.assumes, method.claims)
        _shared.deliver(_shared.rendered(table), None)

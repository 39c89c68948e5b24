"""Write the list of what stays: `python -m docs.make_stability`.

docs/stability.json is what users may rely on. A test fails if anything in it is gone.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import evenhand
from docs import make_json
from evenhand import weights
from evenhand.cli import COMMANDS, cli
from evenhand.designs.design import names_of
from evenhand.words import warnings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LIST = Path(__file__).parent / "stability.json"
SOURCE = Path(evenhand.__file__).parent


def parameters() -> Iterator[str]:
    """Yield the parameters of every public function, and what results have."""
    for name in evenhand.__all__:
        public = getattr(evenhand, name)
        if inspect.isfunction(public):
            for parameter in inspect.signature(public).parameters:
                yield f"{name}({parameter})"
        elif inspect.isclass(public):
            attributes = {*dir(public), *getattr(public, "__annotations__", {})}
            yield from (f"{name}.{own}" for own in attributes if own[0] != "_")


def options() -> Iterator[str]:
    """Yield the options of every command."""
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        for parameter in command.params if command else ():
            yield from (f"{name} {option}" for option in parameter.opts)


def text_forms() -> Iterator[str]:
    """Yield what may be written as a method, an option of it, a design or a weight."""
    for job in ("compare", "rank"):
        for method in evenhand.methods(job):
            yield f"{job} {method.name}"
            yield from (f"{job} {method.name}({own}=)" for own in method.options())
        yield from (f"{job} design {name}" for name in names_of(job))
    yield from (f"weight {name}" for name in weights.NAMES)


def fields(content: Any, place: str) -> Iterator[str]:  # noqa: ANN401 - JSON
    """Yield the fields of a document, each with its place."""
    for name, value in make_json.first(content).items():
        yield f"{place}.{name}"
        if name not in ("facts", "parameters"):
            yield from fields(value, f"{place}.{name}")


def documents() -> Iterator[str]:
    """Yield the schema of each document, and the fields of each result and record."""
    for path in SOURCE.rglob("*.py"):
        yield from re.findall(r"\bevenhand\.[a-z]+/\d", path.read_text("utf-8"))
    for kind in make_json.CLASSES:
        if "." not in kind:
            yield from fields(make_json.example(kind), kind)
    drawn = evenhand.assign(["a", "b"], ["r", "s"], design="halves", rng=7)
    yield from fields(drawn.to_dict(), "assignment")


def stable() -> Mapping[str, list[str]]:
    """Return what there is now."""
    return {
        "Python names": sorted(evenhand.__all__),
        "parameters and attributes": sorted(parameters()),
        "commands and options": sorted({*COMMANDS, *options()}),
        "text forms": sorted(text_forms()),
        "JSON": sorted({*documents()}),
        "warnings": sorted({code.partition("/")[0] for code in warnings.TEMPLATES}),
    }


if __name__ == "__main__":
    LIST.write_text(json.dumps(stable(), indent=1) + "\n", encoding="utf-8")

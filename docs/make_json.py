"""Write the fields of docs/json.md: `python -m docs.make_json`.

The fields are those of small results, the words those of the dataclasses' docstrings.
A test says if the page is stale.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from evenhand import Scenario, check, compare, grade, lab, rank, read_ratings, warp
from evenhand.ab import arms, comparison, evidence, pvalues
from evenhand.diagnosis import check as checks
from evenhand.diagnosis import warp as warps
from evenhand.grading import Grade, Grades
from evenhand.lab.simulation import Simulation
from evenhand.lab.theorems import Theorems
from evenhand.models import people as people_models
from evenhand.ranking import results, selection

PAGE = Path(__file__).parent / "json.md"
PANEL = Path(__file__).parent.parent / "examples" / "panel.csv"
BLOCK = re.compile(r"(<!-- fields of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
FIELD = re.compile(r"^ {4}(\w+): ((?:.*\n?)(?: {8}.*\n?)*)", re.MULTILINE)
# Explained once, at the top of the page.
COMMON = {
    *("schema", "method", "parameters", "seed"),
    *("certificate", "data", "warnings", "version"),
}
KEYED = ("facts", "strictness")
OTHER_NAMES = {"grades": "items", "intervals": "uncertainty"}
OWN_WORDS = {
    "chance_exact": "The same as an exact fraction, for the draw.",
    "holds": "Whether every claim held.",
    "overall": "The form's own overall, if that is the total.",
    "passing": "The pass mark, and items by standing.",
    "assumes": "What it rests on and the scores cannot show.",
}
CLASSES: dict[str, tuple[type, ...]] = {
    "compare": (comparison.Comparison, pvalues.PValues, evidence.Sequential),
    "compare.pairs": (arms.ArmPair,),
    "rank": (results.Ranking,),
    "rank.items": (results.RankedItem,),
    "grade": (Grades,),
    "grade.grades": (Grade,),
    "grade.means": (people_models.GroupMeans,),
    "grade.means.rows": (people_models.GroupMean,),
    "select": (selection.Selection,),
    "select.rows": (selection.SelectedItem,),
    "check": (checks.Check,),
    "warp": (warps.Warp,),
    "simulate": (Simulation,),
    "theorems": (Theorems,),
}


class _Both:
    """A ranking with coins, with what is known by criterion from another."""

    def __init__(self, coins: results.Ranking, criteria: results.Ranking) -> None:
        self.coins, self.criteria = coins.to_dict(), criteria.to_dict()

    def to_dict(self) -> dict[str, Any]:
        return {**self.criteria, "draws": self.coins["draws"]}


@functools.cache
def example(kind: str) -> Mapping[str, Any]:
    """Return a small document that has every field."""
    panel = read_ratings(PANEL)
    two = panel.to_frame().with_columns(novelty=pl.col("score").reverse())
    weighed: Any = {"score": {"score": 1, "novelty": 1}}
    scores = [("AB"[turn % 2], [7, 6, 9, 3, 4, 5][turn], turn) for turn in range(6)]
    watched = pl.DataFrame(scores, schema=["item", "score", "time"], orient="row")
    judged = watched.with_columns(novelty=pl.col("score").reverse())
    coins: Any = {"design": "coins", "rng": 1}
    scenario = Scenario(reviewers=2)
    # Two groups of items, some of which people marked.
    marks = {f"P{place:02d}": 40.0 + 4 * place % 17 for place in range(1, 9)}
    groups = {label: int(str(label)[1:]) % 2 for label in panel.item_labels}
    people: Any = {"anchors": marks, "means": groups, "sample": "declared"}
    documents: dict[str, Callable[[], Any]] = {
        "compare": lambda: compare(watched, order="time", sequential=True, **coins),
        "rank": lambda: _Both(
            rank(panel, method="safe(noise=5)", top=4, rng=7),
            rank(two, method="mean", top=4, simultaneous=True, rng=7, **weighed),
        ),
        "grade": lambda: grade(panel, passing=60, **people, rng=7),
        "select": lambda: selection.select(
            panel,
            budget=4,
            costs=dict.fromkeys(panel.item_labels, 1),
            sensitivity=1,
            rng=7,
        ),
        "check": lambda: check(panel, top=4, rng=7),
        "warp": lambda: warp(panel, draws=2, rng=7),
        "simulate": lambda: lab.simulate(scenario, ["votes"], trials=2, rng=7),
        "theorems": lambda: lab.check_theorems(only=("Theorem 1",), rng=7),
    }
    fields = dict(documents[kind]().to_dict())
    if kind == "compare":
        several = watched.with_columns(item=pl.Series([*"ABCABC"]))
        of_several = compare(several, order="time", sequential=True, **coins).to_dict()
        fields |= {name: of_several[name] for name in ("chances", "pairs")}
    by_criterion: dict[str, Callable[[], Any]] = {
        "compare": lambda: compare(judged, rng=1, **weighed),
        "grade": lambda: grade(two, rng=1, **weighed),
        "check": lambda: check(two, rng=1, **weighed),
    }
    if kind in by_criterion:
        fields["criteria"] = by_criterion[kind]().to_dict()["criteria"]
    return fields


def meanings(classes: tuple[type, ...]) -> dict[str, str]:
    """Return the first clause about each attribute of some classes."""
    texts: dict[str, str] = {}
    for described in reversed(classes):
        _, _, block = inspect.cleandoc(described.__doc__ or "").partition("Attributes:")
        for name, text in FIELD.findall(block):
            clause = re.split(r'; |(?<=[\w)"])\. |\.$', " ".join(text.split()))[0]
            texts[name] = clause.replace("None", "null")
    return texts


def rows(kind: str, content: object, depth: str = "") -> Iterator[str]:
    """List the fields of a document, and those inside of them one step further in."""
    texts = meanings(CLASSES[kind])
    for name, value in first(content).items():
        if not depth and name in COMMON:
            continue
        text = texts.get(OTHER_NAMES.get(name, name), texts.get(name))
        text = text or OWN_WORDS[name]
        is_described = f"{kind}.{name}" in CLASSES
        inside = "" if is_described else names(value)
        yield f"{depth}- `{name}`: {text[0].upper()}{text[1:].rstrip('.')}{inside}."
        if is_described:
            yield from rows(f"{kind}.{name}", value, f"{depth}    ")


def first(content: object) -> Mapping[str, object]:
    """Return an object, or the first one of a list."""
    inside = content[0] if isinstance(content, list | tuple) and content else content
    return inside if isinstance(inside, Mapping) else {}


def names(content: object) -> str:
    """List the fields of what speaks for itself; facts go by their code."""
    listed = (
        f"`{name}`{'' if name in KEYED else names(value)}"
        for name, value in first(content).items()
    )
    text = ", ".join(listed)
    return f" ({text})" if text else ""


def page() -> str:
    """Return the page as it should be."""

    def fill(match: re.Match[str]) -> str:
        lines = "\n".join(rows(match[2], example(match[2])))
        return f"{match[1]}\n{lines}\n\n{match[3]}"

    return BLOCK.sub(fill, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

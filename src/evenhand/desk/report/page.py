"""The report: one HTML file that works offline, prints well and asks for nothing.

The words stand in the templates, the numbers come from `tables` and the figures.
Everything that comes from data is escaped on its way into a template, and the page's
own policy lets no script run but the two that are in it, by their hashes.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

import jinja2

from evenhand._cards import (
    Html,
    counts,
    figure,
    name,
    share,
    shortened,
    shown_notices,
)
from evenhand._results import version
from evenhand.ab._card import comparison_card
from evenhand.desk.report import tables
from evenhand.desk.report.check_figures import check_figures
from evenhand.desk.report.comparison_figures import comparison_figures
from evenhand.desk.report.figures import spec
from evenhand.desk.report.ranking_figures import ranking_figures
from evenhand.errors import printable
from evenhand.lab import ladder
from evenhand.lab.check import check_card
from evenhand.ranking._card import ranking_card

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand._cards import Card
    from evenhand.ab.comparison import Comparison
    from evenhand.desk.report.figures import Figure
    from evenhand.lab.check import Check
    from evenhand.lab.warp import Warp
    from evenhand.ranking.results import Ranking
    from evenhand.ratings import Ratings

TEMPLATES = resources.files("evenhand.desk.report") / "templates"
LONG_TITLE, LONG_FINDING = 120, 900
# What could end a script element early, or a line of JavaScript.
UNSAFE = {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"}
UNSAFE |= {"\u2028": r"\u2028", "\u2029": r"\u2029"}
# A page would take these for the end of the script, or for a comment.
TAGS = re.compile(r"<(?=/script|script|!--)", re.IGNORECASE)
GLOSSARY = {
    "Item": "What is judged: a paper, a talk, a design, an answer.",
    "Reviewer": "Who judges. Nobody has to see everything.",
    "Scale": "How a reviewer turns quality into scores. Two people may use the same "
    "form in different ways: one is strict, one gives high scores to all.",
    "Strict, lenient": "Gives lower, or higher, scores than others to the same items. "
    "It is said of nobody whose ratings are too few.",
    "Ranks from and to": "The places that an item could have, given how few or how "
    "different its ratings are. A wide range means that the place is open.",
    "Group": "Neighbours in the order that the ratings do not tell apart. Thin lines "
    "in the table separate groups.",
    "Cut": "The line between what is chosen and what is not.",
    "Contradiction": "One reviewer puts x above y, another y above x; or a circle of "
    "orders, such as x above y, y above z and z above x.",
    "Ladder": "A test of which assumption about scales predicts the reviewers' own "
    "choices best.",
    "Warp": "To replace every reviewer's scale by another that keeps their order, and "
    "look whether the decision stays.",
    "Coin, draw": "A chance event of the method, repeatable from the seed. Its "
    "probability belongs to the draw. It is no confidence in the outcome.",
    "p-value": "How often an outcome at least so clear would come up by the luck of "
    "the assignment alone. It is not the probability that anyone is right.",
    "Seed": "A number from which every draw follows. The same ratings, method and seed "
    "give the same result on any machine.",
    "Certificate": "The exact statement of what is proved about the answer, and under "
    "which conditions.",
}
COMMON = {"Item", "Reviewer", "Scale", "Seed", "Certificate"}


@dataclass(frozen=True, slots=True)
class Replay:
    """How to repeat a result.

    Attributes:
        command: The command line as a shell line, as the user typed it.
        audit: The command that audits the record, if one was written.
        read_as: What the file was taken for.
        file: Name of the data file, if it has one.
    """

    command: str
    audit: str | None = None
    read_as: str = ""
    file: str = ""


def ranking_report(
    ratings: Ratings,
    result: Ranking,
    *,
    check: Check | None,
    warp: Warp | None,
    replay: Replay,
) -> str:
    """Write the report of a ranking.

    Args:
        ratings: The ratings.
        result: Their ranking.
        check: What they can support, if that was found out.
        warp: What survives other scales, if that was tested.
        replay: How to repeat it.

    Returns:
        One HTML page that needs nothing else.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> page = ranking_report(ratings, rank(ratings, rng=7), check=None, warp=None,
        ...                       replay=Replay("evenhand rank ratings.csv"))
        >>> page[:15], "Ranking of 2 items" in page
        ('<!DOCTYPE html>', True)
    """
    terms = {"Strict, lenient", "Ranks from and to", "Group", "Coin, draw"}
    terms |= {"Cut"} if result.top is not None else set()
    terms |= {"Contradiction", "Ladder"} if check is not None else set()
    terms |= {"Warp"} if warp is not None else set()
    return _page(
        "Ranking",
        ranking_card(result, ratings.titles, ratings.kind),
        ranking_figures(ratings, result, check, warp),
        terms,
        replay,
        ratings=ratings,
        result=result,
        check=check,
        warp=warp,
    )


def comparison_report(ratings: Ratings, result: Comparison, *, replay: Replay) -> str:
    """Write the report of a comparison.

    Args:
        ratings: The ratings.
        result: Their comparison.
        replay: How to repeat it.

    Returns:
        One HTML page that needs nothing else.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> page = comparison_report(ratings, compare(ratings, rng=7),
        ...                          replay=Replay("evenhand compare ratings.csv"))
        >>> "is put above" in page
        True
    """
    return _page(
        "Comparison",
        comparison_card(result, ratings.titles),
        comparison_figures(ratings, result),
        {"Coin, draw", "p-value"},
        replay,
        ratings=ratings,
        result=result,
    )


def check_report(ratings: Ratings, check: Check, *, replay: Replay) -> str:
    """Write the report of a check.

    Args:
        ratings: The ratings.
        check: What they can support.
        replay: How to repeat it.

    Returns:
        One HTML page that needs nothing else.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> page = check_report(ratings, check(ratings, rng=7),
        ...                     replay=Replay("evenhand check ratings.csv"))
        >>> "What these ratings can support" in page
        True
    """
    return _page(
        "Check",
        check_card(check),
        check_figures(ratings, check),
        {"Strict, lenient", "Contradiction", "Ladder"},
        replay,
        ratings=ratings,
        result=check,
        check=check,
    )


def script_json(value: object) -> Html:
    r"""Write JSON that no name in it can break out of.

    Examples:
        >>> print(script_json({"name": "</script>"}))
        {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, written in UNSAFE.items():
        text = text.replace(character, written)
    return Html(text)


@functools.cache
def bundle() -> str:
    """Return the script that draws charts, safe to put between script tags.

    It holds Vega, Vega-Lite and Vega-Embed and makes no request. After it has run,
    `window.vegaEmbed(element, spec, options)` draws a chart.

    Examples:
        >>> "window.vegaEmbed=" in bundle()
        True
    """
    import vl_convert  # noqa: PLC0415 - pages without charts need none of it

    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # Its one-letter names would otherwise be those of every script of the page.
    return f"(function () {{{inline_safe(script)}}})();"


def inline_safe(script: str) -> str:
    r"""Write what would end or upset a script element in another way.

    In strings, regular expressions and templates of JavaScript "\x3C" is "<".

    Examples:
        >>> print(inline_safe("x = '</script>'"))
        x = '\x3C/script>'
    """
    return TAGS.sub(r"\\x3C", script)


def _page(
    kind: str,
    card: Card,
    figures: Sequence[Figure],
    terms: set[str],
    replay: Replay,
    *,
    ratings: Ratings,
    result: Ranking | Comparison | Check,
    check: Check | None = None,
    warp: Warp | None = None,
) -> str:
    seeded = any(part.startswith("--seed") for part in replay.command.split())
    command = replay.command + ("" if seeded else f" --seed {result.seed}")
    scripts = [bundle()] if figures else []
    scripts.append(_asset("report.js"))
    method = getattr(result, "method", "check")
    facts = (method, result.parameters, result.seed, result.data, replay.read_as)
    page = _environment().get_template("page.html.j2")
    return page.render(
        kind=kind,
        card=card,
        notices=shown_notices(card.notices),
        contents=[],
        figures={one.name: one for one in figures},
        specs={one.name: script_json(spec(one)) for one in figures},
        ratings=ratings,
        titles=ratings.titles,
        result=result,
        check=check,
        warp=warp,
        replay=replace(replay, command=command),
        repeated=tables.repeated(*facts),
        glossary=[one for one in GLOSSARY.items() if one[0] in terms | COMMON],
        file=shortened(printable(replay.file), LONG_TITLE),
        style=Html(_asset("style.css")),
        scripts=[Html(one) for one in scripts],
        policy=_policy(scripts),
        version=version(),
    )


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        # Whatever is not ours to mark up may hold control characters.
        finalize=lambda value: (
            value if hasattr(value, "__html__") else printable(value)
        ),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "cut": lambda text, most: shortened(printable(text), most),
        "digits": figure,
        "number": "{:,}".format,
    }
    made.globals |= {"counts": counts, "name": name, "share": share}
    made.globals |= {"found": _found, "ladder": ladder, "tables": tables}
    return made


def _found(check: Check, *codes: str) -> list[str]:
    """Return the findings with these codes, cut if endless labels made them so."""
    return [
        shortened(printable(one.message), LONG_FINDING)
        for one in check.findings
        if one.code in codes
    ]


def _policy(scripts: Iterable[str]) -> str:
    """Let nothing load, and no script run but these."""
    digests = (hashlib.sha256(one.encode()).digest() for one in scripts)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")

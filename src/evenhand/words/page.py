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
from typing import TYPE_CHECKING

from markupsafe import Markup

from evenhand.ab.comparison import Comparison
from evenhand.claims import version
from evenhand.diagnosis import ladder
from evenhand.diagnosis.check import Check, share_text
from evenhand.ranking.results import Ranking
from evenhand.words import tables
from evenhand.words.cards import check_card, comparison_card, ranking_card
from evenhand.words.check_figures import check_figures
from evenhand.words.decision_figures import comparison_figures, ranking_figures
from evenhand.words.lines import interval_sentences
from evenhand.words.text import asset, notice, shortened, templates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.diagnosis.warp import Warp
    from evenhand.ratings import Ratings
    from evenhand.words.figures import Figure

Result = Ranking | Comparison | Check
LONG_TITLE = 120
# What could end a script element early, or a line of JavaScript.
UNSAFE = {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"}
UNSAFE |= {"\u2028": r"\u2028", "\u2029": r"\u2029"}
# A page would take these for the end of the script, or for a comment.
TAGS = re.compile(r"<(?=/script|script|!--)", re.IGNORECASE)


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


def figures_of(
    ratings: Ratings,
    result: Result,
    *,
    check: Check | None = None,
    warp: Warp | None = None,
) -> list[Figure]:
    """Draw a ranking, a comparison or a check.

    Args:
        ratings: The ratings.
        result: What was found from them.
        check: Of a ranking, what the ratings can support, if that was found out.
        warp: Of a ranking, what survives other scales, if that was tested.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> [one.name for one in figures_of(ratings, compare(ratings, rng=7))]
        ['scores', 'coin']
    """
    if isinstance(result, Ranking):
        return ranking_figures(ratings, result, check, warp)
    if isinstance(result, Comparison):
        return comparison_figures(ratings, result)
    return check_figures(ratings, result)


def report(
    ratings: Ratings,
    result: Result,
    *,
    replay: Replay,
    check: Check | None = None,
    warp: Warp | None = None,
) -> str:
    """Write the report of a ranking, a comparison or a check.

    Args:
        ratings: The ratings.
        result: What was found from them.
        replay: How to repeat it.
        check: Of a ranking, what the ratings can support, if that was found out.
        warp: Of a ranking, what survives other scales, if that was tested.

    Returns:
        One HTML page that needs nothing else.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> replay = Replay("evenhand rank ratings.csv")
        >>> page = report(ratings, rank(ratings, rng=7), replay=replay)
        >>> page[:15], "Ranking of 2 items" in page
        ('<!DOCTYPE html>', True)
    """
    if isinstance(result, Check):
        card, check = check_card(result), result
    elif isinstance(result, Comparison):
        card = comparison_card(result, ratings.titles)
    else:
        card = ranking_card(result, ratings.kind)
    figures = figures_of(ratings, result, check=check, warp=warp)
    seeded = any(part.startswith("--seed") for part in replay.command.split())
    command = replay.command + ("" if seeded else f" --seed {result.seed}")
    scripts = [*([bundle()] if figures else []), asset("report.js")]
    page = templates().get_template("page.html.j2")
    return page.render(
        kind=type(result).__name__,
        card=card,
        contents=[],
        figures={one.name: one for one in figures},
        specs={one.name: script_json(one.spec()) for one in figures},
        ratings=ratings,
        titles=ratings.titles,
        result=result,
        check=check,
        warp=warp,
        replay=replace(replay, command=command),
        options="; ".join(
            f"{option} = {json.dumps(value, ensure_ascii=False)}"
            for option, value in result.parameters.items()
            if value is not None
        ),
        file=shortened(replay.file, LONG_TITLE),
        style=asset("style.css"),
        scripts=scripts,
        policy=_policy(scripts),
        version=version(),
        found=_found,
        share_text=share_text,
        interval_sentences=interval_sentences,
        ladder=ladder,
        tables=tables,
    )


def script_json(value: object) -> Markup:
    r"""Write JSON that no name in it can break out of.

    Examples:
        >>> print(script_json({"name": "</script>"}))
        {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, written in UNSAFE.items():
        text = text.replace(character, written)
    return Markup(text)  # noqa: S704 - what could end the script is escaped


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


def _found(check: Check, *codes: str) -> list[Markup]:
    """Return the findings with these codes, cut if endless labels made them so."""
    return [notice(one.message) for one in check.findings if one.code in codes]


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

"""The report: one HTML file that works offline, prints well and asks for nothing.

The words stand in the templates, the numbers come from `pictures` and `tables`. They
are elements placed in per cent, so the page needs no script to draw them. Everything
that comes from data is escaped on its way into a template, and the page's own policy
lets no script run but the one that is in it, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._outputs import Output, write_all
from evenhand.ab.comparison import Comparison
from evenhand.ab.methods import Rule
from evenhand.claims import version
from evenhand.diagnosis import ladder
from evenhand.diagnosis.check import Check, check
from evenhand.diagnosis.warp import warp
from evenhand.engines.counts import Counts, one_by_one
from evenhand.errors import OptionError, quote
from evenhand.grading import Grades
from evenhand.lazy import lazy
from evenhand.progress import working
from evenhand.ranking.methods import RankMethod
from evenhand.ranking.results import Ranking
from evenhand.ranking.selection import Selection
from evenhand.ratings import Ratings
from evenhand.words import (
    arms,
    cards,
    details,
    findings,
    lines,
    pictures,
    selections,
    tables,
)
from evenhand.words.check_sentences import ladder_meaning
from evenhand.words.exports import COMMANDS, about
from evenhand.words.text import asset, notice, templates

if TYPE_CHECKING:
    from os import PathLike

    import altair as alt
    from markupsafe import Markup

    from evenhand.diagnosis.warp import Warp
    from evenhand.words import figures
else:
    figures = lazy("evenhand.words.figures")

Result = Ranking | Comparison | Check | Grades | Selection
# Options that a call must repeat, beside the method.
ASKED = ["top", "places", "rule", "design", "distinct", "test", "both", "control"]
ASKED += ["onto", "form", "anchors", "passing", "rounding"]
# Methods of which a warp test is quick enough to be part of every report, which draws
# scales so often that it takes a few seconds at most.
DRAWN_RATINGS, MOST_LEVELS, FEWEST, MOST = 50_000, 200, 10, 30


@dataclass(frozen=True, slots=True)
class Replay:
    """How to repeat a result.

    Attributes:
        command: The command line as a shell line, as the user typed it.
        audit: The command that audits the record, if one was written.
        file: Name of the data file, if it has one.
    """

    command: str
    audit: str | None = None
    file: str = ""


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
        check: What the ratings can support, if that was found out already.
        warp: Of a ranking, what survives other scales, if that was tested.

    Returns:
        One HTML page that needs nothing else.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> replay = Replay("evenhand rank ratings.csv")
        >>> page = report(ratings, rank(ratings, rng=7), replay=replay)
        >>> page[:15], "2 items ranked" in page
        ('<!DOCTYPE html>', True)
    """
    if isinstance(result, Selection):
        return _selection_page(result, replay)
    decided = result if isinstance(result, Ranking | Grades) else None
    if isinstance(result, Check):
        check = result
    elif decided is not None:
        check = check or check_beside(decided)
    listed = [] if check is None else details.reviews_behind(ratings, check, decided)
    best_first = sorted(listed, key=lambda review: review.place)
    labels = ratings.public.reviewer_labels if listed else ()
    people = details.group_reviews(best_first, "reviewer", labels)
    shell = not replay.command.startswith("evenhand.")
    seeded = any(part.startswith("--seed") for part in replay.command.split())
    seed = f" --seed {result.seed}" if shell and not seeded else ""
    script = asset("report.js")
    kind = type(result).__name__
    several = isinstance(result, Comparison) and result.pairs
    page = templates().get_template(
        "arms.html.j2" if several else f"{kind.lower()}.html.j2"
    )
    return page.render(
        kind=kind,
        card=getattr(cards, f"{kind.lower()}_card")(result),
        ratings=ratings,
        titles=ratings.titles,
        item_ids=pictures.anchors(ratings.item_labels),
        reviewer_ids=pictures.anchors(ratings.reviewer_labels),
        reviews=details.group_reviews(listed, "item", ratings.item_labels),
        people=people,
        scales={} if check is None else details.scales(people, check),
        axis=details.score_axis(listed),
        places=details.decimals(ratings),
        ranks_without=any(review.without is not None for review in listed),
        without_sentence=details.without_sentence,
        result=result,
        check=check,
        warp=warp,
        replay=replace(replay, command=replay.command + seed),
        shell=shell,
        options=about(ratings, result).get("options", ""),
        style=asset("style.css"),
        script=script,
        policy=_policy(script),
        version=version(),
        found=_texts_of,
        lines=lines,
        arms=arms,
        ladder=ladder,
        ladder_meaning=ladder_meaning,
        pictures=pictures,
        p_value_paragraph=lines.p_value_paragraph,
        tables=tables,
        weighed=findings,
    )


def _selection_page(result: Selection, replay: Replay) -> str:
    """Write a page for everybody, without ratings or reviewers, that draws again."""
    script = asset("report.js") + asset("lottery.js")
    shell = {"script": script, "policy": _policy(script), "style": asset("style.css")}
    shell |= {"kind": "Selection", "version": version()}
    template = templates().get_template("selection.html.j2")
    shown = replace(
        replay,
        command=_without_folders(replay.command),
        audit=replay.audit and _without_folders(replay.audit),
    )
    return template.render(shell, replay=shown, **selections.page_facts(result))


def _without_folders(command: str) -> str:
    """Cut absolute paths to their names: a public page must not say who ran it."""
    if command.startswith("evenhand."):
        return command
    words = shlex.split(command)
    return shlex.join(w.rpartition("/")[2] if w[:1] == "/" else w for w in words)


@working("Drawing")
def write_report(result: Any, path: str | PathLike[str]) -> None:  # noqa: ANN401 - of several rooms
    """Write the report of a result that keeps its ratings.

    Raises:
        OptionError: If the path does not end in .html, or cannot be written.
    """
    file = require_html(path)
    ratings = _ratings(result)
    warp = warp_beside(result) if isinstance(result, Ranking) else None
    replay = Replay(_call(result))
    write_all([Output(file, report(ratings, result, replay=replay, warp=warp))])


def plot(result: Any) -> alt.TopLevelMixin:  # noqa: ANN401 - of several rooms
    """Draw the first chart of a result with Altair.

    Raises:
        OptionError: If there is nothing to draw.
    """
    for chart in figures.figures_of(_ratings(result), result).values():
        return chart
    kind = type(result).__name__
    raise OptionError(f"{kind} has no plot; report() draws it.")


def require_html(path: str | PathLike[str]) -> str:
    """Return the path of a report.

    Raises:
        OptionError: If it does not end in .html.

    Examples:
        >>> require_html("page.html")
        'page.html'
    """
    file = os.fspath(path) if isinstance(path, os.PathLike) else str(path)
    if not file.casefold().endswith((".html", ".htm")):
        rule = f"report must be a file that ends in .html, got {quote(path)}."
        raise OptionError(f"{rule} To get a PDF, open it in a browser and print it.")
    return file


def check_beside(result: Ranking | Grades) -> Check:
    """Check the ratings of a ranking, at its cut, or of marks."""
    ratings = _ratings(result)
    if isinstance(result, Grades):
        return check(ratings, rng=result.seed)
    k = ratings.n_items if result.top is None else result.top.k
    cut = k if k < ratings.n_items else None
    # Without common items the order is no longer of all that was rated.
    order = result.order if len(result.order) == ratings.n_items else None
    return check(ratings, top=cut, order=order, rng=result.seed)


def warp_beside(result: Ranking) -> Warp | None:
    """Run the warp test of a ranking, None where it would take long."""
    ratings = _ratings(result)
    # The test is about the order of the method.
    method = details.method_of(result, RankMethod)
    quick = method is not None and method.quick and not result.by_share
    draws = report_draws(ratings) if quick else 0
    rated = ratings.kind == "scores" and len({*ratings.item_codes.tolist()})
    if not (draws and rated == ratings.n_items > 1):
        return None
    top = None if result.top is None else result.top.k
    return warp(ratings, method=str(method), draws=draws, top=top, rng=result.seed)


def report_draws(ratings: Ratings) -> int:
    """Return how often a report's warp test redraws scales, 0 where it takes long.

    Examples:
        >>> report_draws(Ratings(["a", "a"], ["x", "y"], [1, 2]))
        30
    """
    draws = min(DRAWN_RATINGS // ratings.n_ratings, MOST)
    few = min(ratings.n_reviewers, ratings.n_items) <= MOST_LEVELS
    return draws if few and draws >= FEWEST else 0


def _ratings(result: Any) -> Ratings:  # noqa: ANN401 - of several rooms
    """Return the ratings that a result keeps; of two lists, each score by another."""
    kept = result.ratings
    if isinstance(kept, Ratings | Counts):
        return one_by_one(kept)
    if isinstance(result, Selection):
        return kept  # type: ignore[no-any-return]  # intervals: none are listed
    if kept is None:
        raise OptionError(
            "report and plot must have the ratings, which this result does not keep. "
            "Make it again from them."
        )
    counts = [*map(len, kept)]
    items = np.repeat(result.items, counts)
    return Ratings(range(1, sum(counts) + 1), items.tolist(), np.concatenate(kept))


def _call(result: Result) -> str:
    """Write the call that repeats a result in Python."""
    parameters = {
        name: value for name in ASKED if (value := result.parameters.get(name))
    }
    if isinstance(result, Ranking | Comparison):
        kind = RankMethod if isinstance(result, Ranking) else Rule
        parameters["method"] = str(details.method_of(result, kind) or result.method)
    options = [f"{name}={value!r}" for name, value in parameters.items()]
    source = "secret=..." if result.seed is None else f"rng={result.seed}"
    inside = ", ".join(["...", *options, source])
    return f"evenhand.{COMMANDS[type(result)]}({inside})"


def _texts_of(check: Check, *codes: str) -> list[Markup]:
    """Return the findings with these codes, cut if endless labels made them so."""
    return [
        notice(finding.message) for finding in check.findings if finding.code in codes
    ]


def _policy(script: str) -> str:
    """Let nothing load, and no script run but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; "
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )

"""The report: one HTML file that works offline, prints well and asks for nothing.

The words stand in the templates, the numbers come from `rows` and `tables`. Pictures
are elements placed in per cent, so the page needs no script to draw them. Everything
that comes from data is escaped on its way into a template, and the page's own policy
lets no script run but the one that is in it, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
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
from evenhand.errors import OptionError, shown
from evenhand.grading import Grades
from evenhand.method import as_method
from evenhand.progress import working
from evenhand.ranking.results import Ranking
from evenhand.ratings import Ratings
from evenhand.words import findings, grades, lines, rows, sides, tables
from evenhand.words.cards import check_card, comparison_card, ranking_card
from evenhand.words.check_figures import check_figures
from evenhand.words.decision_figures import comparison_figures, ranking_figures
from evenhand.words.details import (
    item_details,
    mark_details,
    method_of,
    reviewer_details,
    without_sentence,
)
from evenhand.words.text import asset, notice, shortened, templates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import altair as alt
    from markupsafe import Markup

    from evenhand.claims import Label
    from evenhand.diagnosis.warp import Warp
    from evenhand.words.details import ReviewRow
    from evenhand.words.figures import Figure

Result = Ranking | Comparison | Check | Grades
LONG_TITLE = 120
# Options that a call must repeat, beside the method.
ASKED = ["top", "design", "distinct", "test", "both"]
ASKED += ["onto", "form", "anchors", "passing", "rounding"]
# Methods of which a warp test is quick enough to be part of every report, which draws
# scales so often that it takes a few seconds at most.
QUICK = ("adaptive", "additive", "affine", "bradley-terry", "centred", "mean", "z")
DRAWN_RATINGS, MOST_LEVELS, FEWEST, MOST = 50_000, 200, 10, 30


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
        ['scores']
    """
    if isinstance(result, Ranking):
        return ranking_figures(ratings, result, check, warp)
    if isinstance(result, Comparison):
        return comparison_figures(ratings, result)
    return check_figures(ratings, result) if isinstance(result, Check) else []


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
        >>> page[:15], "2 items ranked" in page
        ('<!DOCTYPE html>', True)
    """
    if isinstance(result, Check):
        card, check = check_card(result), result
    elif isinstance(result, Comparison):
        card = comparison_card(result, ratings.titles)
    elif isinstance(result, Grades):
        card = grades.grades_card(result)
    else:
        card = ranking_card(result, ratings.kind)
    reviews: Mapping[Label, Sequence[ReviewRow]] = {}
    if isinstance(result, Ranking):
        reviews = item_details(ratings, result, check)
    elif isinstance(result, Grades):
        reviews = mark_details(ratings, result, check)
    people = reviewer_details(ratings, check) if check else {}
    shell = not replay.command.startswith("evenhand.")
    seeded = any(part.startswith("--seed") for part in replay.command.split())
    seed = f" --seed {result.seed}" if shell and not seeded else ""
    script = asset("report.js")
    page = templates().get_template(f"{type(result).__name__.lower()}.html.j2")
    return page.render(
        kind=type(result).__name__,
        card=card,
        ratings=ratings,
        titles=ratings.titles,
        item_ids=rows.anchors(ratings.item_labels),
        reviewer_ids=rows.anchors(ratings.reviewer_labels),
        reviews=reviews,
        people=people,
        scales=rows.scales(people),
        axis=rows.score_axis(reviews),
        places=rows.decimals(ratings),
        ranks_without=any(
            one.without is not None for own in reviews.values() for one in own
        ),
        without_sentence=without_sentence,
        linked={
            "item": isinstance(result, Ranking | Grades),
            "reviewer": check is not None and bool(check.reviewers),
        },
        result=result,
        check=check,
        warp=warp,
        replay=replace(replay, command=replay.command + seed),
        shell=shell,
        options="; ".join(
            f"{option} = {json.dumps(value, ensure_ascii=False)}"
            for option, value in result.parameters.items()
            if value is not None
        ),
        file=shortened(replay.file, LONG_TITLE),
        style=asset("style.css"),
        script=script,
        policy=_policy(script),
        version=version(),
        found=_found,
        lines=lines,
        ladder=ladder,
        rows=rows,
        sides=sides,
        tables=tables,
        grades=grades,
        weighed=findings,
    )


@working("Drawing")
def write_report(result: Any, path: str | PathLike[str]) -> None:  # noqa: ANN401 - of several rooms
    """Write the report of a result that keeps its ratings.

    Raises:
        OptionError: If the path does not end in .html, or cannot be written.
    """
    file = require_html(path)
    ratings = _ratings(result)
    more: dict[str, Any] = {}
    if isinstance(result, Ranking):
        more = {"check": check_beside(result), "warp": warp_beside(result)}
    elif isinstance(result, Grades):
        more = {"check": check_beside(result)}
    replay = Replay(_call(result), None, ratings.read_as)
    write_all([Output(file, report(ratings, result, replay=replay, **more))])


def plot(result: Any) -> alt.TopLevelMixin:  # noqa: ANN401 - of several rooms
    """Draw the first figure of a result's report as an Altair chart.

    Raises:
        OptionError: If there is nothing to draw.
    """
    import altair as alt  # noqa: PLC0415 - only for those who plot

    figures = figures_of(_ratings(result), result)
    if not figures:
        raise OptionError("There is nothing to draw. Print the result, or to_frame().")
    return alt.Chart.from_dict(figures[0].titled())


def require_html(path: str | PathLike[str]) -> str:
    """Return the path of a report.

    Raises:
        OptionError: If it does not end in .html.

    Examples:
        >>> require_html("page.html")
        'page.html'
    """
    file = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(file, str) or not file.casefold().endswith((".html", ".htm")):
        raise OptionError(
            f"report must be a file that ends in .html, got {shown(path)}. To get a "
            "PDF, open it in a browser and print it."
        )
    return file


def check_beside(result: Ranking | Grades) -> Check:
    """Check the ratings of a ranking, at its cut, or of marks."""
    ratings = _ratings(result)
    if isinstance(result, Grades):
        return check(ratings, rng=result.seed)
    k = ratings.n_items if result.top is None else result.top.k
    cut = k if k < ratings.n_items else None
    return check(ratings, top=cut, order=result.order, rng=result.seed)


def warp_beside(result: Ranking) -> Warp | None:
    """Run the warp test of a ranking, None where it would take long."""
    ratings = _ratings(result)
    draws = report_draws(ratings) if result.method in QUICK else 0
    rated = ratings.kind == "scores" and len({*ratings.item_codes.tolist()})
    if not (draws and rated == ratings.n_items > 1):
        return None
    top = None if result.top is None else result.top.k
    method = method_of(result) or result.method
    return warp(ratings, method=method, draws=draws, top=top, rng=result.seed)


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
    if kept is None:
        raise OptionError(
            "report and plot must have the ratings, which this result does not keep. "
            "Make it again from them."
        )
    counts = [*map(len, kept)]
    items = np.repeat(result.items, counts)
    return Ratings(range(1, sum(counts) + 1), items.tolist(), np.concatenate(kept))


def _rule(result: Comparison) -> str:
    """Write the rule of a comparison with its options."""
    if result.parameters.get("own_function"):
        return result.method
    kind = type(as_method(result.method, Rule))
    own = [name for name in kind.options() if name in result.parameters]
    return str(kind.made({name: result.parameters[name] for name in own}))


def _call(result: Result) -> str:
    """Write the call that repeats a result in Python."""
    asked = {name: value for name in ASKED if (value := result.parameters.get(name))}
    if isinstance(result, Ranking):
        asked["method"] = str(method_of(result) or result.method)
    elif isinstance(result, Comparison):
        asked["method"] = _rule(result)
    verbs = {Ranking: "rank", Comparison: "compare", Check: "check", Grades: "grade"}
    verb = verbs[type(result)]
    options = [f"{name}={value!r}" for name, value in asked.items()]
    return f"evenhand.{verb}({', '.join(['...', *options, f'rng={result.seed}'])})"


def _found(check: Check, *codes: str) -> list[Markup]:
    """Return the findings with these codes, cut if endless labels made them so."""
    return [notice(one.message) for one in check.findings if one.code in codes]


def _policy(script: str) -> str:
    """Let nothing load, and no script run but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; "
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )

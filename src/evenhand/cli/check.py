"""`evenhand check`: what ratings can support."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _extras, _shared
from evenhand.cli._shared import option
from evenhand.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from evenhand.diagnosis.check import Check, Distribution

# Reviewers shown of each kind, and width of a bar.
SHOWN, BAR = 5, 30


@click.command("check", cls=_shared.Grouped)
@option(
    "--top",
    "Ask how many more reviews would separate the best K items from the others.",
    int,
    group=_shared.DECISION,
    metavar="K",
)
@_extras.extra_options
@_shared.result_options
@_shared.reading_options()
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Find out what ratings can support, before deciding on them.

    FILE has a row for each score with a reviewer, an item and the score, or a rank, or
    a winner and a loser (CSV, TSV, JSON, Parquet, Excel), or is an export of HotCRP,
    OpenReview, CMT, EasyChair, Moodle, Canvas or Gavel; - is standard input.
    The answer says which assumption about reviewers' scales the ratings bear out,
    which items can be ordered at all, where reviewers contradict each other and how
    strict each of them is. It refuses nothing that can be read.

    \b
    Example:
      evenhand check examples/conference.csv --top 5
    """
    _shared.check_output(options["output"])
    job = _extras.Job("check", options)
    from evenhand.diagnosis.check import TOLD, check

    with _shared.working("Checking") as say:
        found = check(job.ratings, **options, rng=job.seed, progress=say)
    text = json.dumps(found.to_dict(), indent=2) if job.as_json else explain(found)
    told = () if job.as_json else TOLD
    job.deliver(found, text, [one for one in found.notices if one.code not in told])


def explain(found: Check) -> str:
    """Tell a check to people.

    Examples:
        >>> from evenhand.diagnosis.check import check
        >>> from evenhand.ratings import Ratings
        >>> found = check(Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7)
        >>> print(explain(found).splitlines()[0])
        2 scores of 2 items by 1 reviewer: a reviewer rated 2, an item has 1.
    """
    parts: list[RenderableType] = [_said(found, "sizes", "no_information")]
    parts += _ladder(found)
    if found.needed is not None or _said(found, "no_needed"):
        parts += _section("How many more reviews?", *_needed(found))
    parts += _section(
        "What can be ordered?",
        *_groups(found),
        _said(found, "few_reviews", "ties", "single", "flat"),
    )
    parts += _section("Do reviewers contradict each other?", *_contradictions(found))
    if found.kind == "scores":
        parts += _section("Where do scores differ?", *_variance(found))
        parts += _section("How strict is each reviewer?", *_reviewers(found))
    parts += _section("How are the ratings spread?", *_spread(found))
    return _shared.rendered(*parts)


def _section(title: str, *parts: RenderableType) -> list[RenderableType]:
    return ["", f"{title.upper()}", *(part for part in parts if part != "")]


def _said(found: Check, *codes: str) -> str:
    """Return the findings with these codes, one to a line."""
    return "\n".join(
        printable(one.message) for one in found.findings if one.code in codes
    )


def _ladder(found: Check) -> list[RenderableType]:
    title = "Can scores be compared across reviewers?"
    if found.ladder is None:
        return _section(title, _said(found, "no_ladder"))
    from evenhand.diagnosis.ladder import RULE, ladder_basis
    from evenhand.words import tables

    return _section(
        title,
        _said(found, "ladder"),
        _shared.table_of(tables.rungs(found.ladder)),
        f"{ladder_basis(found.ladder)} {RULE} It says what these ratings look like; "
        "`rank` weighs scores and orders by itself unless you name a method.",
    )


def _needed(found: Check) -> list[RenderableType]:
    needed = found.needed
    if needed is None:
        return [_said(found, "no_needed")]
    from evenhand.words import tables

    above, below = printable(needed.above), printable(needed.below)
    return [
        f"The cut after {needed.top} lies between {above} and {below} in the order of "
        "`rank`. Additional reviews needed per item (median so far: "
        f"{needed.reviews_now:g}):",
        _shared.table_of(tables.targets(needed)),
        "By simulation from the fitted model of offsets and values, taken as true; the "
        "range is two standard errors of the simulation.",
    ]


def _groups(found: Check) -> list[RenderableType]:
    if found.groups.count == 1:
        items = "The item stands alone." if found.data["items"] == 1 else ""
        return [items or "Reviewers' orders connect all items."]
    return [_said(found, "groups")]


def _contradictions(found: Check) -> list[RenderableType]:
    told = found.contradictions
    if told.compared == 0:
        return ["No two items were ordered by one reviewer."]
    from evenhand.words import tables

    lines: list[RenderableType] = [_said(found, "contradictions")]
    if told.worst:
        lines.append(_shared.table_of(tables.contested(told)))
    if told.dissenters:
        often = f"{100 * told.minority_share:.0f} %"
        lines.append(f"Unusually often against most others (over all {often}):")
        lines.append(_shared.table_of(tables.dissenters(told)))
    return lines


def _variance(found: Check) -> list[RenderableType]:
    from evenhand.diagnosis.check import share_text

    shares = found.variance
    if shares is None:
        if any(one.code == "equal_scores" for one in found.notices):
            return ["Every score is the same."]
        return ["These ratings cannot distinguish items, reviewers and chance."]
    lines = [
        "Shares of the variance of scores, as ranks among all, with 95 % intervals "
        f"({shares.method}):"
    ]
    for name, share in (
        ("items' values", shares.item),
        ("reviewers' offsets (strictness)", shares.reviewer),
        ("the rest", shares.rest),
    ):
        text = "cannot be told from the rest" if share is None else share_text(share)
        lines.append(f"  {name:<32} {text}")
    return ["\n".join(lines)]


def _reviewers(found: Check) -> list[RenderableType]:
    lines = [_said(found, "strictness", "disagreeing")]
    for word, most in (("strict", "strictest"), ("lenient", "most lenient")):
        known = [one for one in found.reviewers if one.strictness == word]
        known.sort(key=lambda one: -abs(one.offset or 0.0))
        lines += [
            f"  {most}: {printable(one.reviewer)} {one.offset:+.3g} ± "
            f"{one.offset_se:.2g} ({one.ratings} ratings)"
            for one in known[:SHOWN]
        ]
    for word in ("wide", "narrow"):
        known = [one for one in found.reviewers if one.spread == word]
        known.sort(key=lambda one: -abs((one.slope or 1.0) - 1.0))
        who = ", ".join(
            f"{printable(one.reviewer)} ({one.slope:.2g} times)"
            for one in known[:SHOWN]
        )
        more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
        if known:
            lines.append(f"Clearly {word} in their scores: {who}{more}.")
    lines.append("All reviewers are in the JSON (--json).")
    return ["\n".join(lines)]


def _spread(found: Check) -> list[RenderableType]:
    lines: list[str] = []
    if found.kind != "comparisons":
        lines += _bars("ratings by a reviewer", found.load)
    lines += _bars("ratings of an item", found.reviews)
    return ["\n".join(lines)]


def _bars(title: str, spread: Distribution) -> Iterable[str]:
    most = max(count for _, _, count in spread.histogram)
    yield title
    for low, high, count in spread.histogram:
        name = str(low) if low == high else f"{low}-{high}"
        bar = "█" * max(1, round(BAR * count / most))
        yield f"  {name:>11} {bar} {count:,}"

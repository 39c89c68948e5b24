"""Sections on the reviewers and on what their ratings support, from a check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand._cards import Html, counts, escaped, figure, name, said, shortened
from evenhand.desk.report.parts import (
    Bullets,
    Cell,
    Column,
    Facts,
    Row,
    Section,
    Table,
    Text,
    cell,
    picture,
    plain_table,
)
from evenhand.errors import printable
from evenhand.lab._check_findings import PAIR, SIDE, more_reviews, share_text
from evenhand.lab.ladder import CANNOT_TELL, MEANINGS, RULE, ladder_basis

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand._results import Label
    from evenhand.desk.report.figures import Figure
    from evenhand.desk.report.parts import Block
    from evenhand.lab._check_reviewers import Reviewer
    from evenhand.lab.check import Check
    from evenhand.lab.ladder import Ladder
    from evenhand.lab.needed import Needed

    Figures = Mapping[str, Figure]

LONG = 900
ASSUMED = {
    "none": "All reviewers use one scale",
    "offset": "Some reviewers are stricter than others",
    "offset and slope": "Some are stricter, and some spread their scores more widely",
    "monotone": "Each reviewer has an increasing scale of their own",
    "order only": "Only each reviewer's own order counts",
}
NO_CHECK = Html(
    "The ratings were not checked for this report; evenhand check says how strict each "
    "reviewer is and what the ratings support."
)


def check_sections(
    check: Check, figures: Figures, titles: Mapping[Label, str] | None = None
) -> Iterator[Section]:
    """Tell a check, section by section.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> found = check(Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7)
        >>> [section.name for section in check_sections(found, {})]
        ['reviewers', 'contradictions', 'ladder']
    """
    yield reviewers_section(check, figures)
    yield contradictions_section(check, figures)
    yield ladder_section(check, figures)
    yield from needed_sections(check, figures, titles or {})


def drawn(figures: Figures, *names: str) -> tuple[Block, ...]:
    """Return the charts of these names that there are.

    Examples:
        >>> drawn({}, "ranks")
        ()
    """
    return tuple(picture(figures[one]) for one in names if one in figures)


def reviewers_section(check: Check, figures: Figures) -> Section:
    """Say how each reviewer uses the scale."""
    title = "How each reviewer scores"
    pictures = drawn(figures, "strictness", "scales", "spread")
    if not check.reviewers:
        return Section(
            "reviewers",
            title,
            (
                said(
                    "There are only {}, no scores, so there are no scales.", check.kind
                ),
            ),
            pictures,
        )
    lead = (
        Html(
            "People use the same form in different ways. Strict reviewers give lower "
            "scores than others to the same items; that makes nobody wrong."
        ),
        *_said(check, "strictness", "disagreeing"),
    )
    return Section(
        "reviewers",
        title,
        lead,
        (_reviewer_table(check.reviewers), *pictures),
        tuple(_reviewer_more(check)),
    )


def contradictions_section(check: Check, figures: Figures) -> Section:
    """Say where reviewers disagree."""
    title = "Contradictions between reviewers"
    if check.contradictions.compared == 0:
        alone = Html("No reviewer ordered two items, so nothing can be contradicted.")
        return Section("contradictions", title, (alone,))
    return Section(
        "contradictions",
        title,
        tuple(_said(check, "contradictions")),
        (*_contested(check), *drawn(figures, "contradictions")),
        tuple(_contradictions_more(check)),
    )


def _contested(check: Check) -> Iterator[Block]:
    told = check.contradictions
    if told.worst:
        columns = [
            Column("one item"),
            Column("the other item"),
            Column("put the one above", number=True),
            Column("put the other above", number=True),
        ]
        rows = [[*map(name, pair.items), *pair.votes] for pair in told.worst]
        caption = "Pairs of items with the most votes each way"
        yield plain_table("contested", caption, columns, rows)
    if told.dissenters:
        columns = [
            Column("reviewer"),
            Column("against most others", number=True),
            Column("of comparisons", number=True),
        ]
        who = [
            [name(one.reviewer), one.minority, one.shared] for one in told.dissenters
        ]
        caption = "Reviewers who are unusually often against most others"
        yield plain_table("dissenters", caption, columns, who)


def ladder_section(check: Check, figures: Figures) -> Section:
    """Say which assumption about scales the ratings bear out."""
    title = "Can scores be compared across reviewers?"
    ladder = check.ladder
    if ladder is None:
        return Section("ladder", title, tuple(_said(check, "no_ladder")))
    plain = Html(
        "Each assumption about scales was used to predict which of two items a "
        "reviewer put higher, from other reviewers' ratings only."
    )
    verdict = (
        "The assumptions differ by less than matters or than chance explains, so these "
        "ratings do not tell."
        if ladder.verdict == CANNOT_TELL
        else MEANINGS[ladder.verdict]
    )
    basis = said(
        "{} {} It says what these ratings look like; the default method of a ranking "
        "weighs scores and orders by itself.",
        ladder_basis(ladder),
        RULE,
    )
    more = (Text(basis), *(Text(line) for line in _said(check, "ladder")))
    blocks = (_rungs(ladder), *drawn(figures, "ladder"))
    return Section("ladder", title, (plain, escaped(verdict)), blocks, more)


def _rungs(ladder: Ladder) -> Table:
    columns = [
        Column("what is assumed"),
        Column("method that assumes it"),
        Column("predicts rightly", number=True),
        Column("behind the best (points ± standard error)", number=True),
    ]
    rows = []
    for rung in ladder.rungs:
        chosen = rung.assumption == ladder.verdict
        behind = f"{100 * rung.behind:.1f} ± {100 * rung.behind_se:.1f}"
        rows.append(
            [
                ASSUMED[rung.assumption],
                f"{rung.method} (the verdict)" if chosen else rung.method,
                Cell(Html(f"{100 * rung.accuracy:.1f} %"), rung.accuracy),
                Cell(Html(behind), rung.behind),
            ]
        )
    caption = "How often each assumption predicts rightly"
    return plain_table("rungs", caption, columns, rows)


def needed_sections(
    check: Check, figures: Figures, titles: Mapping[Label, str]
) -> Iterator[Section]:
    """Say how many more reviews would settle the cut, if that was asked."""
    title = "How many more reviews would settle the cut?"
    needed = check.needed
    if needed is None:
        told = tuple(_said(check, "no_needed"))
        if told:
            yield Section("needed", title, told)
        return
    lead = said(
        "The cut after {} lies between the items {} and {} in the order of the "
        "ranking. An item has {} reviews so far (median).",
        needed.top,
        name(needed.above, titles.get(needed.above)),
        name(needed.below, titles.get(needed.below)),
        f"{needed.reviews_now:g}",
    )
    plan = Html(
        "The numbers take the fitted model of strictness and quality for true: a guide "
        "for planning, not a guarantee."
    )
    how = Html(
        "By simulation from the fitted model of offsets and values; ranges are two "
        "standard errors of the simulation."
    )
    blocks = (_targets(needed), *drawn(figures, "needed"))
    yield Section("needed", title, (lead, plan), blocks, (Text(how),))


def _targets(needed: Needed) -> Table:
    columns = [
        Column("to reach", number=True),
        Column(PAIR, number=True),
        Column(SIDE.format(needed.near), number=True),
    ]
    rows = [
        [
            Cell(Html(f"{100 * pair.probability:g} %"), pair.probability),
            more_reviews(pair),
            more_reviews(side),
        ]
        for pair, side in zip(needed.pair, needed.side, strict=True)
    ]
    caption = "Additional reviews needed per item"
    return plain_table("targets", caption, columns, rows)


def load_section(check: Check | None, figures: Figures) -> Iterator[Section]:
    """Say how the ratings are spread over reviewers and items."""
    pictures = drawn(figures, "load", "reviews")
    if check is None and not pictures:
        return
    lead: list[Html] = []
    blocks: tuple[Block, ...] = ()
    if check is not None:
        lead = list(_said(check, "sizes"))
        found = tuple(_said(check, "groups", "few_reviews", "ties", "single", "flat"))
        blocks = (Bullets(found),) if found else ()
    yield Section("load", "How the ratings are spread", tuple(lead), blocks + pictures)


def _said(check: Check, *codes: str) -> Iterator[Html]:
    for one in check.findings:
        if one.code in codes:
            yield escaped(shortened(printable(one.message), LONG))


def _reviewer_table(reviewers: tuple[Reviewer, ...]) -> Table:
    columns = (
        Column("reviewer"),
        Column("ratings", number=True, largest_first=True),
        Column("strictness"),
        Column(
            "above or below others",
            number=True,
            hint="Points above (+) or below (-) what others give to the same items, "
            "with its standard error.",
        ),
        Column("spread"),
        Column(
            "times as wide",
            number=True,
            hint="How much wider than others they spread their scores.",
            largest_first=True,
        ),
    )
    rows = tuple(
        Row(
            (
                cell(name(one.reviewer)),
                cell(one.ratings),
                cell(one.strictness),
                cell(_with_error(one.offset, one.offset_se, "+"), one.offset),
                cell(one.spread),
                cell(_with_error(one.slope, one.slope_se, ""), one.slope),
            )
        )
        for one in reviewers
    )
    return Table(
        "reviewer-table",
        "Reviewers, how strict they are and how widely they score",
        columns,
        rows,
        sortable=True,
        noun="reviewer",
    )


def _with_error(value: float | None, error: float | None, sign: str) -> str:
    if value is None or error is None:
        return ""
    # Two digits of the error, and as many decimals of the value.
    places = 2 if error <= 0 else min(6, max(0, 1 - math.floor(math.log10(error))))
    return f"{value:{sign}.{places}f} ± {error:.{places}f}"


def _reviewer_more(check: Check) -> Iterator[Block]:
    yield Text(
        Html(
            "Offsets and values are fitted together by restricted maximum likelihood "
            "and drawn to the middle as far as ratings are few or noisy. A reviewer is "
            "called strict or lenient only beyond two standard errors, and not if "
            "their order of four or more items agrees with the others' no better than "
            "chance and clearly less than usual."
        )
    )
    shares = check.variance
    if shares is None:
        return
    parts = (
        ("Items' values", shares.item),
        ("Reviewers' strictness", shares.reviewer),
        ("The rest", shares.rest),
    )
    yield Text(
        said(
            "Where scores differ, in shares of the variance of ranks among all scores, "
            "with 95 % intervals ({}):",
            shares.method,
        )
    )
    yield Facts(
        tuple(
            (
                title,
                Html("cannot be told from the rest")
                if share is None
                else escaped(share_text(share)),
            )
            for title, share in parts
        )
    )


def _contradictions_more(check: Check) -> Iterator[Block]:
    told = check.contradictions
    yield Facts(
        (
            ("Pairs of items that somebody ordered", Html(f"{told.compared:,}")),
            ("Ordered by several reviewers", Html(f"{told.repeated:,}")),
            ("Put in both orders", Html(f"{told.both_orders:,}")),
            ("Items on a circle of orders", Html(f"{told.in_cycles:,}")),
            (
                "How often a reviewer is against most others",
                Html(f"{figure(100 * told.minority_share)} %"),
            ),
        )
    )
    if told.sampled:
        yield Text(Html("Of busy reviewers, only some pairs were counted."))
    yield Text(
        said(
            "Reviewers are named who are against most others clearly more often than "
            "chance would have it among {}.",
            counts(check.data["reviewers"], "reviewer"),
        )
    )

"""Sections on two items: their scores, the coin and the p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._cards import Html, escaped, figure, name, said, share
from evenhand.desk.report.check_sections import drawn
from evenhand.desk.report.comparison_figures import used
from evenhand.desk.report.parts import (
    Bullets,
    Column,
    Section,
    Text,
    cell,
    plain_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.ab.comparison import Comparison
    from evenhand.desk.report.check_sections import Figures
    from evenhand.ratings import Ratings


UNDECLARED = Html(
    "<strong>Nobody declared how reviewers were assigned.</strong> These p-values hold "
    "only if it was done by lot, each reviewer as likely to get one item as the other; "
    "if it was not, leave them aside."
)


def scores_section(ratings: Ratings, result: Comparison, figures: Figures) -> Section:
    """Show the scores of the two items.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> scores_section(ratings, compare(ratings, rng=7), {}).name
        'scores'
    """
    rows = []
    for item, used_rows in zip(result.items, used(ratings, result), strict=True):
        scores = ratings.preference[used_rows]
        row: list[object] = [name(item, ratings.titles.get(item)), len(scores)]
        if len(scores):
            row += [
                float(np.mean(scores)),
                float(np.median(scores)),
                float(scores.min()),
                float(scores.max()),
            ]
        else:
            row += [None] * 4
        rows.append(row)
    table = plain_table(
        "score-table",
        "Scores of the two items",
        [
            Column("item"),
            *(
                Column(title, number=True)
                for title in ("scores", "mean", "median", "lowest", "highest")
            ),
        ],
        rows,
    )
    lead = (
        Html(
            "Each reviewer has a scale of their own, so a higher mean alone does not "
            "say which item is better."
        ),
    )
    return Section("scores", "The scores", lead, (table, *drawn(figures, "scores")))


def coin_section(result: Comparison, figures: Figures) -> Section:
    """Say with what probability the rule gives which answer."""
    first, second = map(name, result.items)
    about = "about " if result.p_first_se else ""
    lead = (
        said(
            "On these scores the rule puts {} first with probability {}{}, and {} with "
            "probability {}{}.",
            first,
            about,
            share(result.p_first, certain=not about),
            second,
            about,
            share(1 - result.p_first, certain=not about),
        ),
        Html(
            "That is how the rule's coin leans. It is not a chance of being right, and "
            "another seed may give the other answer."
            if 0 < result.p_first < 1
            else "The rule flips no coin here. That is not a chance of being right: a "
            "rule without chance can be wrong every time."
        ),
    )
    more = []
    if result.p_first_se:
        more.append(Text(said("The standard error is {}.", figure(result.p_first_se))))
    more.append(
        Text(
            Html(
                "A fair coin looks at no score; it is what the other rules are held "
                "against."
                if result.method == "coin"
                else "A coin that leans by the gap in scores is what makes a guarantee "
                "possible: no rule without chance can beat a fair coin under all "
                "increasing scales."
                if 0 < result.p_first < 1
                else "On these scores the rule's answer is the same for every seed."
            )
        )
    )
    return Section("coin", "The coin", lead, drawn(figures, "coin"), tuple(more))


def p_value_section(result: Comparison) -> Section:
    """Show the p-values with what they mean."""
    title = "Could it be the luck of the assignment?"
    test = result.test
    if test is None:
        why = "There is no p-value for this comparison."
        return Section("p-values", title, (Html(why),))
    declared = result.parameters.get("design") is not None
    first, second = map(name, result.items)
    rows = [
        [said("{} is no better", first), cell(test.p_value_first)],
        [said("{} is no better", second), cell(test.p_value_second)],
        [Html("neither is better (two-sided)"), cell(test.p_value)],
    ]
    table = plain_table(
        "p-table",
        "p-values, whatever increasing scales the reviewers use"
        + ("" if declared else ", if the assignment was by lot"),
        [Column("held against the claim that"), Column("p-value", number=True)],
        rows,
    )
    unless = () if declared else (UNDECLARED,)
    lead = (
        *unless,
        Html(
            "A p-value says how often scores at least so clear would come up by the "
            "luck of who was assigned to which item. Small values speak against the "
            "claim beside them."
        ),
        Html(
            "A p-value is not the probability that an item is better, and a large one "
            "does not show that the items are equal."
        ),
    )
    more = (Text(escaped(test.explanation())),)
    return Section("p-values", title, lead, (table,), more)


def error_sections(result: Comparison) -> Iterator[Section]:
    """Say how large a difference must be for errors of the mean to be rare."""
    bound = result.error_bound
    if bound is None:
        return
    effect = bound["effect"]
    text = (
        said(
            "The mean is wrong with probability at most 5 % if reviewers' scores of "
            "the two items differ by {} or more on average.",
            figure(effect),
        )
        if isinstance(effect, int | float)
        else Html(
            "With so few scores and this range no difference is large enough for the "
            "mean's error to be bounded by 5 %."
        )
    )
    yield Section(
        "error-bound",
        "How large must a difference be?",
        (text,),
        (),
        (
            Bullets(
                (
                    said(
                        "Range of scores that was declared: {}.", bound["score_range"]
                    ),
                    said("Scores of each item: {}.", bound["per_item"]),
                )
            ),
        ),
    )

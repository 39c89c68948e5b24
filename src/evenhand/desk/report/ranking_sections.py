"""Sections on an order: the table, places, the warp test and the draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._cards import (
    SOURCES,
    Html,
    counts,
    escaped,
    joined,
    name,
    said,
    share,
)
from evenhand.desk.report.check_sections import drawn
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
)
from evenhand.ranking._card import is_drawn, settled_by_chance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand._results import Label
    from evenhand.desk.report.check_sections import Figures
    from evenhand.desk.report.parts import Block
    from evenhand.lab.warp import Warp
    from evenhand.ranking.results import Draw, RankedItem, Ranking
    from evenhand.ratings import Ratings

# Draws in a table, coins in a cell, and reviewers of a draw.
MOST_DRAWS, COINS, WHO = 2000, 3, 8
ALWAYS = ("rank", "item", "reviews")
SHARES = {
    "posterior over orderings": "in all orders that agree with the comparisons",
    "model": "if the model that was fitted for it is right",
    "bootstrap over reviewers": "in repeats with reviewers drawn again",
}


def table_section(ratings: Ratings, result: Ranking) -> Section:
    """Show the order.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> table_section(ratings, rank(ratings, rng=7)).blocks[0].header
        1
    """
    lead = [
        Html(
            "Items between two thin lines form a group: the ratings do not settle "
            "their order."
            if result.items[0].bucket is not None
            else "Best first."
        )
    ]
    if result.top is not None and result.top.k < len(result.order):
        lead.append(said("The thick line is the cut after {}.", result.top.k))
    if result.uncertainty is not None and result.items[0].p_top is not None:
        source = result.uncertainty.source
        lead.append(
            said(
                "The {} is how often an item is among them {}. It is not a chance of "
                "being right.",
                _share_title(result),
                SHARES.get(source, f"({source})"),
            )
        )
    return Section(
        "ranking",
        "The ranking",
        tuple(lead),
        (ranking_table(ratings, result),),
        tuple(_table_more(result)),
    )


def ranking_table(ratings: Ratings, result: Ranking) -> Table:
    """Lay out the order as a table that can be sorted and searched."""
    coins = settled_by_chance(result)
    columns = _columns(result)
    made = [_cells(ratings, result, row, coins) for row in result.items]
    kept = [
        place
        for place, column in enumerate(columns)
        if column.title in ALWAYS or any(cells[place].text for cells in made)
    ]
    rows = []
    before: RankedItem | None = None
    for row, cells in zip(result.items, made, strict=True):
        inside = None if result.top is None else row.rank <= result.top.k
        cut = result.top is not None and row.rank == result.top.k + 1
        first = before is not None and before.bucket != row.bucket
        kept_cells = tuple(cells[place] for place in kept)
        rows.append(Row(kept_cells, row.bucket, inside, first=first, cut=cut))
        before = row
    return Table(
        "ranking-table",
        f"Items, best first ({counts(len(rows), 'item')})",
        tuple(columns[place] for place in kept),
        tuple(rows),
        header=1,
        sortable=True,
        noun="item",
    )


def _columns(result: Ranking) -> tuple[Column, ...]:
    share_hint = "A share under the method's assumption, not a chance of being right."
    spread_hint = "Standard deviation of its scores."
    return (
        Column("rank", number=True),
        Column("item"),
        Column("ranks from and to", number=True, hint="Places that it could have."),
        Column("group", number=True, hint="Items of a group are not told apart."),
        Column("mean rank", number=True),
        Column("reviews", number=True, largest_first=True),
        Column("mean score", number=True, largest_first=True),
        Column("spread", number=True, hint=spread_hint, largest_first=True),
        Column(_share_title(result), number=True, hint=share_hint, largest_first=True),
        Column("settled by chance"),
    )


def _cells(
    ratings: Ratings, result: Ranking, row: RankedItem, coins: dict[Label, list[Html]]
) -> tuple[Cell, ...]:
    places = "" if row.rank_low is None else f"{row.rank_low} to {row.rank_high}"
    told = coins.get(row.item, [])
    shown = told[:COINS]
    if len(told) > COINS:
        shown = [*shown, Html(f"and {len(told) - COINS} more")]
    return (
        cell(row.rank),
        cell(_item(ratings, result, row)),
        cell(places, row.rank_low),
        cell(row.bucket),
        cell(row.mean_rank),
        cell(row.reviews),
        cell(row.mean_score),
        cell(row.spread),
        cell(share(row.p_top, certain=not is_drawn(result)), row.p_top),
        cell(Html("; ".join(shown))),
    )


def _share_title(result: Ranking) -> str:
    return f"share in top {0 if result.top is None else result.top.k:,}"


def _item(ratings: Ratings, result: Ranking, row: RankedItem) -> Html:
    found = name(row.item, ratings.titles.get(row.item))
    top = result.top
    if top is None or top.other is None:
        return found
    mark = ""
    if row.item in top.only_here:
        mark = f"{top.other} leaves it out"
    elif row.item in top.only_there:
        mark = f"{top.other} has it in"
    return Html(f'{found} <span class="mark">{escaped(mark)}</span>') if mark else found


def _table_more(result: Ranking) -> Iterator[Block]:
    if result.uncertainty is not None:
        sure = result.uncertainty
        where = SOURCES.get(sure.source, sure.source)
        text = said("Ranks from and to: {}.", where)
        if sure.draws:
            text = said("{} From {}.", text, counts(sure.draws, "draw"))
        yield Text(text)
        yield Text(
            Html(
                "A group is a run of the order in which no item is told apart from a "
                "later one. Items of different groups need not be told apart either. "
                "These ranges rest on the assumption named; no guarantee under "
                "arbitrary scales comes with them."
            )
        )
    pairs = []
    unknown = any(
        one.code in ("confounded", "one_rating_reviewers") for one in result.notices
    )
    if result.rho is not None and not unknown:
        pairs.append(
            (
                "Share of reviewers' offsets in the variance",
                Html(f"{100 * result.rho:.0f} %"),
            )
        )
    if result.eta_price is not None:
        pairs.append(
            (
                "Price of neighbours put at risk (Kendall tau)",
                cell(result.eta_price).text,
            )
        )
    if pairs:
        yield Facts(tuple(pairs))


def places_section(result: Ranking, figures: Figures) -> Iterator[Section]:
    """Show how open the places are."""
    pictures = drawn(figures, "ranks", "top")
    if not pictures:
        return
    lead = [
        Html(
            "Long bars are open places: more ratings, or clearer ones, could move the "
            "item anywhere along the bar."
        )
    ]
    if result.top is not None:
        lead.append(
            Html(
                "None of these numbers is a chance that the decision is right. They "
                "hold under the assumption that is named with them."
            )
        )
    yield Section("places", "How open is each place?", tuple(lead), pictures)


def warp_section(
    result: Ranking, warp: Warp | None, figures: Figures, kind: str = "scores"
) -> Section:
    """Say what of the decision survives other scales."""
    title = "Would other scales change the decision?"
    if kind != "scores":
        text = "There are no scores, only orders: no scale could change them."
        return Section("warp", title, (Html(text),))
    if warp is None:
        text = "This was not tested. Run with {} to redraw every reviewer's scale."
        lead: tuple[Html, ...] = (said(text, Html("<code>--warp</code>")),)
        return Section("warp", title, lead, drawn(figures, "warp"))
    best = (
        "The best one stayed"
        if warp.top == 1
        else f"Exactly the same {warp.top} were the best, with none exchanged,"
    )
    same = "the same under" if warp.top == 1 else "under"
    ours = [found for found in warp.survivals if found.method == result.method]
    shown = " and ".join(
        f"{100 * found.top_kept:.0f} % of the {found.strength} ones" for found in ours
    )
    lead = (
        said(
            "{} times every reviewer's scale was replaced by another that keeps their "
            "own order. {} {} {}.",
            f"{warp.draws:,}",
            best,
            same,
            shown,
        ),
        Html(
            "This shows how much the decision owes to scales. It is not a chance of "
            "being right: a wrong order can survive as well."
        ),
    )
    more = (
        Bullets(tuple(map(escaped, warp.sentences()))),
        Text(
            Html(
                "Agreement is Kendall's, from -1 (reversed) over 0 (unrelated) to 1 "
                "(the same order). The plain mean is shown beside the method."
            )
        ),
    )
    return Section("warp", title, lead, drawn(figures, "warp"), more)


def draws_section(result: Ranking, figures: Figures) -> Section:
    """Show every coin with its probability."""
    title = "What was settled by chance"
    number = len(result.draws)
    if not number:
        text = "Nothing: this method settled no pair of items by a coin."
        return Section("draws", title, (Html(text),))
    pairs = "pair of items was" if number == 1 else "pairs of items were"
    lead = (
        said("{} {} settled by chance and scores.", f"{number:,}", pairs),
        Html("These are probabilities of the draw, not chances of being right."),
    )
    columns = (
        Column("put first"),
        Column("put second"),
        Column(
            "probability of that draw",
            number=True,
            hint="Of the coin, not of being right.",
            largest_first=True,
        ),
        Column("scores of"),
    )
    table = Table(
        "draw-table",
        "Pairs that a coin settled",
        columns,
        tuple(Row(_draw_cells(draw)) for draw in result.draws[:MOST_DRAWS]),
        sortable=True,
        left=max(0, number - MOST_DRAWS),
    )
    more = (
        Text(
            Html(
                "Each coin follows from the seed. It leans to the item with the higher "
                "scores; how far it leans depends on the gap and on the method's "
                "weight or noise."
            )
        ),
    )
    return Section("draws", title, lead, (*drawn(figures, "draws"), table), more)


def _draw_cells(draw: Draw) -> tuple[Cell, ...]:
    one, two = draw.items
    second = two if draw.first == one else one
    chance = draw.p_first if draw.first == one else 1 - draw.p_first
    who = [name(reviewer) for reviewer in dict.fromkeys(draw.reviewers)]
    return (
        cell(name(draw.first)),
        cell(name(second)),
        cell(share(chance, certain=False), chance),
        cell(joined(who, WHO) if who else Html("")),
    )

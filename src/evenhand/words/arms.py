"""A comparison of several items in words: which is ahead of which, and every pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.claims import CONFIDENCE
from evenhand.errors import align_columns, plural, printable
from evenhand.words.lines import (
    TIE,
    UNEVEN,
    claim,
    p_value_sentence,
    p_value_text,
    randomized_sentence,
    share_lines,
    watch_assumptions,
)
from evenhand.words.tables import Column, Number, TextTable, table
from evenhand.words.text import figure, join_plain, name, one_precision, plain_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Label

# Pairs on a terminal.
SHOWN = 28
LEVEL = f"{100 * CONFIDENCE:g}%"


def arm_lines(result: Comparison, *, explained: bool = False) -> list[str]:
    r"""Say which of several items is ahead of which, and how sure every pair is.

    Args:
        result: The comparison.
        explained: Whether --explain already shows the rest of the claim.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings([*"abcdef"], [*"xxyyzz"], [1, 2, 3, 4, 8, 9])
        >>> print(*arm_lines(compare(ratings, rng=1))[:2], sep="\n")
        z comes out ahead of y and x, by trimmed means; means 8.5, 3.5 and 1.5.
        No pair differs at 5% once 3 pairs are allowed for (p that all are alike:
        0.0667).
    """
    winner, *others = order_of(result)
    ahead = join_plain([printable(item) for item in others])
    by_coin = result.decided_by == TIE
    why = "a coin after a tie" if by_coin else result.decided_by
    lines = [f"{printable(winner)} comes out ahead of {ahead}, by {why}."]
    if result.scores is not None:
        means = dict(zip(result.items, result.scores.means, strict=True))
        texts = [figure(means[item]) for item in (winner, *others)]
        lines[0] = f"{lines[0][:-1]}; means {join_plain(texts)}."
    lines += [shown_sentence(result), *watched_sentences(result)]
    heads, rows = pair_table(result).plain()
    cells = align_columns([("", *row) for row in (heads, *rows[:SHOWN])])
    lines += [line[2:] for line in cells]
    if len(rows) > SHOWN:
        lines.append(f"and {len(rows) - SHOWN} more pairs: --json has all.")
    if result.test is not None:
        lines.append(p_value_sentence(result, result.test))
    lines += [*share_lines(result), randomized_sentence(result)]
    return [*filter(None, lines), claim(result.certificate, explained=explained)]


def order_of(result: Comparison) -> list[Label]:
    """Return the item that came out, and the others by their means.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings([*"abc"], [*"xyz"], [1, 7, 3])
        >>> order_of(compare(ratings, method="mean", rng=1))
        ['y', 'z', 'x']
    """
    means = result.scores.means if result.scores else [0.0] * len(result.items)
    by_mean = dict(zip(result.items, means, strict=True))
    others = [item for item in result.items if item != result.winner]
    return [result.winner, *sorted(others, key=lambda item: -(by_mean[item] or 0.0))]


def shown_sentence(result: Comparison) -> str:
    """Say which differences are shown at 5%, all pairs allowed for."""
    if UNEVEN in {notice.code for notice in result.notices}:
        return "The counts contradict the design, so no item is called better."
    number = plural(len(result.pairs), "pair")
    p_all = "" if result.test is None else p_value_text(result.test.p_value)
    alike = f" (p that all are alike: {p_all})" if p_all else ""
    better = {(pair.first, pair.second): pair.better for pair in result.pairs}
    text = _better_than(better, order_of(result))
    if not text:
        return f"No pair differs at 5% once {number} are allowed for{alike}."
    return f"At 5%, with {number} allowed for, {text}{alike}."


def watched_sentences(result: Comparison) -> list[str]:
    """Say which pairs of a watched comparison are settled; or nothing.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings([*"abc"], [*"xyz"], [1, 7, 3])
        >>> watched_sentences(compare(ratings, method="mean", rng=1))
        []
    """
    if result.pairs[0].e_value is None:
        return []
    settled = {(pair.first, pair.second): pair.settled for pair in result.pairs}
    text = _better_than(settled, order_of(result))
    level = f"{100 * float(str(result.parameters['alpha'])):g}%"
    if not text:
        verdict = f"Not settled at {level} at all looks together. You may look again as"
        return [f"{verdict} often as you like.", watch_assumptions(result)]
    verdict = f"Settled at {level}, however often you looked: {text}. For these pairs"
    return [f"{verdict} you may stop.", watch_assumptions(result)]


def _better_than(
    better: Mapping[tuple[Label, Label], Label | None], order: Sequence[Label]
) -> str:
    """Say which items are better than which others, the best first."""
    clauses = []
    for item in order:
        worse = [
            behind
            for behind in order
            for pair in ((item, behind), (behind, item))
            if better.get(pair) == item
        ]
        if worse:
            names = join_plain([printable(behind) for behind in worse])
            clauses.append(f"{printable(item)} is better than {names}")
    return "; ".join(clauses)


def pair_table(
    result: Comparison, titles: Mapping[Label, str] | None = None
) -> TextTable:
    """Lay out every pair, with its difference and p-values.

    Args:
        result: The comparison of several items.
        titles: What people call items; for a page.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings([*"abc"], [*"xyz"], [1, 7, 3])
        >>> pair_table(compare(ratings, method="mean", rng=1)).rows[0].cells[:2]
        ('x', 'y')
    """
    pairs = result.pairs
    ends = [(pair.difference, pair.low, pair.high) for pair in pairs]
    differences = one_precision([end for row in ends for end in row], "+")
    spans = [*zip(differences[1::3], differences[2::3], strict=True)]

    def names(items: Sequence[Label]) -> list[object]:
        if titles is None:
            return [plain_name(item) for item in items]
        return [name(item, titles.get(item)) for item in items]

    columns: dict[Column, Iterable[object]] = {
        Column("item"): names([pair.first for pair in pairs]),
        Column("against"): names([pair.second for pair in pairs]),
        Number("difference"): differences[::3],
        Number(f"{LEVEL} interval"): [
            f"{low} to {high}" if low else "" for low, high in spans
        ],
        Number("p"): [p_value_text(pair.p_value) for pair in pairs],
        Number("p adjusted"): [p_value_text(pair.p_adjusted) for pair in pairs],
    }
    if pairs[0].e_value is not None:
        watched = [
            p_value_text(pair.p_watched) for pair in pairs if pair.p_watched is not None
        ]
        columns |= {
            Number("e-value"): [pair.e_value for pair in pairs],
            Number("p at every look"): watched,
        }
    return table(f"Pairs; each {LEVEL} interval is for its pair alone", columns)

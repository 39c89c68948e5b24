"""The top part of every result for people: the decision and what it may claim.

Notebooks show a card as it is; a report's page begins with the same words. Everything
that comes from data is escaped here, once: text that may go into a page as it stands
has the type `Html`, and everything else is taken for plain text.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evenhand._results import Label, Notice

# Rows that a notebook shows, characters of a name, and characters of a notice.
SHOWN, LONG_NAME, LONG_NOTICE = 20, 80, 900
SMALL = 0.001
CELL = "text-align:left;padding:.2em .8em .2em 0"
LINE = "1px solid rgba(128,128,128,.45)"
# Where intervals of ranks come from, for the end of a sentence.
SOURCES = {
    "posterior over orderings": "in 90 % of all orders that agree with the comparisons",
    "model": "with probability 90 % or more if the model fitted for them is right",
    "bootstrap over reviewers": "in 90 % of repeats with reviewers drawn again",
    "ranks that the comparisons allow": "every rank that the comparisons allow",
}


class Html(str):
    """Text that may go into a page as it stands, because whatever needs it is escaped.

    Examples:
        >>> said("{} & more", "<b>")
        Html('&lt;b&gt; &amp; more')
    """

    __slots__ = ()

    def __html__(self) -> str:
        """Tell templates that nothing is left to escape."""
        return str(self)

    def __repr__(self) -> str:
        return f"Html({str(self)!r})"


@dataclass(frozen=True, slots=True)
class Card:
    """What a reader must see first.

    Attributes:
        title: The decision in a line.
        chosen: Names of the items that it is about, best first.
        others: How many there are beyond these.
        decision: Sentences that say what was decided, from what.
        may: What may be claimed, in plain words.
        may_not: What may not.
        rests: What is only declared, not checked.
        checked: What was found to hold in the data.
        certificate: The certificate's own sentence; empty if there is none.
        notices: What the reader must know.
        caption: Title of the table.
        head: Names of its columns.
        rows: Its first rows.
        left: How many rows there are beyond these.
    """

    title: Html
    decision: tuple[Html, ...]
    may: tuple[Html, ...]
    may_not: tuple[Html, ...]
    notices: tuple[Notice, ...]
    chosen: tuple[Html, ...] = ()
    others: int = 0
    rests: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    certificate: str = ""
    caption: str = ""
    head: tuple[str, ...] = ()
    rows: tuple[tuple[Html, ...], ...] = ()
    left: int = 0


def escaped(value: object) -> Html:
    """Make anything safe for a page; `Html` stays as it is.

    Examples:
        >>> escaped("<b>"), escaped(Html("<b>"))
        (Html('&lt;b&gt;'), Html('<b>'))
    """
    return value if isinstance(value, Html) else Html(html.escape(printable(value)))


def said(template: str, *parts: object) -> Html:
    """Fill a sentence of ours with escaped parts.

    Examples:
        >>> said("{} of {}", name("<x>"), 3)
        Html('<bdi>&lt;x&gt;</bdi> of 3')
    """
    return Html(html.escape(template, quote=False).format(*map(escaped, parts)))


def shortened(text: str, most: int) -> str:
    """Cut a text that is too long for its place.

    Examples:
        >>> shortened("abcdef", 4), shortened("abcd", 4)
        ('abc…', 'abcd')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def name(label: Label, title: str | None = None) -> Html:
    """Show a label apart from the text around it, whatever its script; cut if long.

    Args:
        label: The label.
        title: What people call it, shown behind the label.

    Examples:
        >>> name("P1", "On trees")
        Html('<bdi>P1</bdi> <bdi class="title">On trees</bdi>')
    """
    text = printable(label)
    shown = shortened(text, LONG_NAME)
    hint = "" if shown == text else f' title="{html.escape(shortened(text, 400))}"'
    found = f"<bdi{hint}>{html.escape(shown)}</bdi>"
    if title is not None:
        called = html.escape(shortened(printable(title), 2 * LONG_NAME))
        found += f' <bdi class="title">{called}</bdi>'
    return Html(found)


def joined(names: Sequence[Html], most: int = 12) -> Html:
    """List names for a sentence.

    Examples:
        >>> joined([Html("a"), Html("b"), Html("c")])
        Html('a, b and c')
        >>> joined([Html("a"), Html("b"), Html("c")], 1)
        Html('a and 2 more')
    """
    shown, more = list(names[:most]), len(names) - most
    shown += [Html(f"{more:,} more")] if more > 0 else []
    if len(shown) == 1:
        return shown[0]
    return Html(f"{', '.join(shown[:-1])} and {shown[-1]}")


def counts(number: object, noun: str) -> str:
    """Count things, with commas in large numbers.

    Examples:
        >>> counts(1, "item"), counts(1200, "item")
        ('1 item', '1,200 items')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def figure(value: float | None) -> str:
    """Show a number with three digits; nothing if there is none.

    Examples:
        >>> figure(4.7333), figure(None), figure(-1234.5), figure(0.00001)
        ('4.73', '', '-1234', '1e-05')
    """
    if value is None:
        return ""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"  # noqa: PLR2004 - no exponents for ordinary scores


def share(value: float | None, *, certain: bool = True) -> str:
    """Show a probability without calling it certain because it is rounded, or drawn.

    Examples:
        >>> share(0.9999), share(1.0), share(1.0, certain=False), share(0.25)
        ('over 99.9 %', '100 %', 'over 99.9 %', '25 %')
    """
    if value is None:
        return ""
    if certain and value in (0, 1):
        return f"{100 * value:g} %"
    if value < SMALL:
        return f"under {100 * SMALL:g} %"
    if value > 1 - SMALL:
        return f"over {100 - 100 * SMALL:g} %"
    return f"{100 * value:.3g} %"


def reasons(sentence: str) -> Iterator[Html]:
    """Say in plain words what stands against a guarantee, from a certificate's words.

    Examples:
        >>> list(reasons("No guarantee: 'x' has no score."))
        [Html('Reason: &#x27;x&#x27; has no score.')]
    """
    for reason in sentence.removeprefix("No guarantee: ").removesuffix(".").split("; "):
        if reason.startswith("nobody declared"):
            yield Html(
                "Reason: nobody declared how reviewers were assigned. If that was at "
                "random, say how with the option design."
            )
        elif reason:
            yield said("Reason: {}.", reason)


def shown_notices(notices: Iterable[Notice]) -> tuple[Html, ...]:
    """Make the notices' messages safe, and cut what endless labels made endless."""
    return tuple(
        escaped(shortened(printable(notice.message), LONG_NOTICE)) for notice in notices
    )


def to_html(card: Card) -> str:
    """Lay out a card for a notebook: no script, and no colour that a theme may fight.

    Examples:
        >>> card = Card(Html("A is put above B"), (), (Html("little"),), (), ())
        >>> page = to_html(card)
        >>> "<li>little</li>" in page, "<script" in page, "color:" in page
        (True, False, False)
    """
    parts = [f'<p style="font-size:1.25em;font-weight:600">{card.title}</p>']
    parts += [_bullets(card.chosen, "ol")] if card.chosen else []
    parts += [f"<p>and {card.others:,} more</p>"] if card.others else []
    parts += [f"<p>{line}</p>" for line in card.decision]
    parts += [
        '<p style="border-left:4px solid #d08700;padding-left:.7em">'
        f"<strong>Note.</strong> {line}</p>"
        for line in shown_notices(card.notices)
    ]
    parts += _heading("What this may claim", card.may)
    parts += _heading("What this may not claim", card.may_not)
    if card.certificate:
        parts.append(
            "<details><summary>More: the certificate, word by word</summary>"
            f"<p>{escaped(card.certificate)}</p></details>"
        )
    parts += [_table(card)] if card.head else []
    return (
        '<div style="max-width:60em;line-height:1.45;overflow-wrap:anywhere">'
        f"{''.join(parts)}</div>"
    )


def _heading(title: str, lines: tuple[Html, ...]) -> list[str]:
    if not lines:
        return []
    return [f"<p><strong>{title}</strong></p>{_bullets(lines)}"]


def _bullets(lines: Iterable[Html], kind: str = "ul") -> str:
    return f"<{kind}>{''.join(f'<li>{line}</li>' for line in lines)}</{kind}>"


def _table(card: Card) -> str:
    cell: Callable[[Html], str] = lambda text: (  # noqa: E731 - one place, one use
        f'<td style="{CELL};border-bottom:{LINE}">{text}</td>'
    )
    head = "".join(
        f'<th scope="col" style="{CELL}">{html.escape(title)}</th>'
        for title in card.head
    )
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in card.rows)
    more = f"<p>and {card.left:,} more</p>" if card.left else ""
    return (
        f'<table style="border-collapse:collapse"><caption style="text-align:left">'
        f"{escaped(card.caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{more}"
    )

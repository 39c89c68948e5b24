"""Names, numbers and sentences for people, escaped once.

The sentences stand in templates, one to a line, and each is filled in here. What may go
into a page as it stands is `Markup`; everything else is taken for plain text and is
escaped on its way into a template.
"""

from __future__ import annotations

import functools
import math
from importlib import resources
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from evenhand.claims import CONFIDENCE, LEVEL
from evenhand.errors import plural, printable
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import jinja2

    from evenhand.claims import Label
else:
    jinja2 = lazy("jinja2")

TEMPLATES = resources.files("evenhand.words") / "templates"
# Characters of a name, of a label on an axis, and of a notice.
LONG_NAME, SHORT, LONG_NOTICE = 80, 28, 900
SMALL = 0.001
# Digits of the largest number of a column, decimals at most, and numbers that are
# written with an exponent.
DIGITS, DECIMALS, HUGE = 3, 4, 1e6
# What intervals of ranks are said to be of.
SOURCES = {
    "posterior over orderings": "in {level} of all orders that agree with the "
    "comparisons",
    "model": "with probability {level} or more if the model fitted for them is right",
}


def shorten(text: object, most: int = SHORT) -> str:
    """Cut a text that is too long for its place; control characters become visible.

    Examples:
        >>> shorten("abcdef", 4), shorten("abcd", 4), shorten(7)
        ('abc…', 'abcd', '7')
    """
    shown = printable(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def distinct(
    names: Iterable[str], form: str = "{} ({})", taken: Iterable[str] = ()
) -> list[str]:
    """Number names that are the same but for capitals, so that each is there once.

    Examples:
        >>> distinct(["a", "b", "A", "a"]), distinct(["a"], "{}-{}", taken=["a"])
        (['a', 'b', 'A (2)', 'a (3)'], ['a-2'])
    """
    used, numbered = set(taken), []
    for stem in names:
        name, number = stem, 1
        while name.casefold() in used:
            number += 1
            name = form.format(stem, number)
        used.add(name.casefold())
        numbered.append(name)
    return numbered


def name(label: Label, title: str | None = None) -> Markup:
    """Show a label apart from the text around it, whatever its script; cut if long.

    Args:
        label: The label.
        title: What people call it, shown behind the label.

    Examples:
        >>> name("P1", "On trees")
        Markup('<bdi>P1</bdi> <bdi class="title">On trees</bdi>')
    """
    shown = shorten(label, LONG_NAME)
    whole = shown == printable(label)
    hint = "" if whole else Markup(' title="{}"').format(shorten(label, 400))
    markup = Markup("<bdi{}>{}</bdi>").format(hint, shown)
    if title is None:
        return markup
    called = shorten(title, 2 * LONG_NAME)
    return markup + Markup(' <bdi class="title">{}</bdi>').format(called)


def plain_name(label: Label, title: str | None = None) -> str:
    """Show a label in plain text, with its title, cut if long.

    Examples:
        >>> plain_name("P1", "On trees")
        'P1 (On trees)'
    """
    called = f" ({shorten(title, LONG_NAME)})" if title else ""
    return f"{printable(label)}{called}"


def join_names(names: Sequence[str], most: int = 12) -> Markup:
    """List names for a sentence.

    Examples:
        >>> join_names(["a", "b", "c"]), join_names(["a", "b", "c"], 1)
        (Markup('a, b and c'), Markup('a and 2 more'))
    """
    more = len(names) - most
    shown = [*names[:most], *([f"{more:,} more"] if more > 0 else [])]
    head = [Markup(", ").join(shown[:-1])] if shown[1:] else []
    return Markup(" and ").join([*head, shown[-1]])


def join_plain(names: Sequence[str], most: int = 12) -> str:
    """List names for a sentence in plain text.

    Examples:
        >>> join_plain(["<a>", "b"])
        '<a> and b'
    """
    return str(join_names([*map(Markup, names)], most))


def figure(value: float | None) -> str:
    """Show a number with three digits; nothing if there is none.

    Examples:
        >>> figure(4.7333), figure(None), figure(-1234.5), figure(0.00001)
        ('4.73', '', '-1234', '1e-05')
    """
    if value is None:
        return ""
    value += 0.0  # no sign of a zero
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def one_precision(values: Sequence[float | None], sign: str = "") -> list[str]:
    """Show a column of numbers with as many decimals each, so that points align.

    Examples:
        >>> one_precision([8.0, 6.333, None]), one_precision([71, 8.5], "+")
        (['8.00', '6.33', ''], ['+71.0', '+8.5'])
    """
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if not 1 / HUGE < largest < HUGE:
        return [figure(value) for value in values]
    places = min(max(DIGITS - 1 - math.floor(math.log10(largest)), 0), DECIMALS)
    # No sign of a zero.
    return [
        "" if value is None else f"{round(value, places) + 0.0:{sign}.{places}f}"
        for value in values
    ]


def share(value: float | None, *, certain: bool = True) -> str:
    """Show a probability without calling it certain because it is rounded, or drawn.

    Examples:
        >>> share(0.9999), share(1.0), share(1.0, certain=False), share(0.25)
        ('over 99.9%', '100%', 'over 99.9%', '25%')
    """
    if value is None:
        return ""
    if certain and value in (0, 1):
        return f"{100 * value:g}%"
    if value < SMALL:
        return f"under {100 * SMALL:g}%"
    if value > 1 - SMALL:
        return f"over {100 - 100 * SMALL:g}%"
    return f"{100 * value:.3g}%"


def span(low: int, high: int) -> str:
    """Show a whole number, or a range of them.

    Examples:
        >>> span(3, 3), len(span(4, 7))
        ('3', 3)
    """
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"


def notice(message: object) -> Markup:
    """Make a message safe, and cut what endless labels made endless."""
    return escape(shorten(message, LONG_NOTICE))


def asset(path: str) -> str:
    """Return one of the files that pages are made of."""
    return (TEMPLATES / path).read_text(encoding="utf-8")


@functools.cache
def templates(*, html: bool = True) -> jinja2.Environment:
    """Return the templates, which escape what they are given unless for plain text."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=html,
        # Whatever is not ours to mark up may hold control characters.
        finalize=lambda value: (
            value if hasattr(value, "__html__") else printable(value)
        ),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cut": shorten, "digits": figure, "number": "{:,}".format}
    environment.globals |= {"counted": plural, "name": name, "share": share}
    environment.globals |= {
        "join_names": join_names,
        "SOURCES": SOURCES,
        "LEVEL": LEVEL,
    }
    environment.globals["CONFIDENCE"] = CONFIDENCE
    if not html:
        environment.globals |= {"name": plain_name, "join_names": join_plain}
    return environment


def sentences(
    template: str, block: str, facts: Mapping[str, object], *, html: bool = True
) -> tuple[str, ...]:
    """Fill in a block of a template of sentences, one to a line.

    Args:
        template: Name of the template, without its suffix.
        block: Name of the block.
        facts: What is filled in.
        html: Whether the sentences are for a page; if not, nothing is escaped.

    Examples:
        >>> sentences("check", "may_not", {})[0]
        Markup('Which item is best. A check describes the ratings; it ranks nothing.')
    """
    source = templates(html=html).get_template(f"{template}.txt.j2")
    text = "".join(source.blocks[block](source.new_context(dict(facts))))
    kind = Markup if html else str  # escaped by the template, or not to be
    return tuple(kind(line.strip()) for line in text.split("\n") if line.strip())

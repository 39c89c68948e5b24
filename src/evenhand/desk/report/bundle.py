"""The script that draws charts in a page: Vega, Vega-Lite and Vega-Embed in one."""

from __future__ import annotations

import functools
import re

import vl_convert

# A page would take these for the end of the script, or for a comment.
UNSAFE = re.compile(r"<(?=/script|script|!--)", re.IGNORECASE)


@functools.cache
def bundle() -> str:
    """Return the script, safe to put between script tags.

    It makes no request. After it has run, `window.vegaEmbed(element, spec, options)`
    draws a chart.

    Examples:
        >>> "window.vegaEmbed=" in bundle()
        True
    """
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
    return UNSAFE.sub(r"\\x3C", script)

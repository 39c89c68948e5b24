"""The report: one HTML file that works offline, prints well and asks for nothing.

Everything that comes from data is escaped on its way into the template, and the page's
own policy lets no script run but the two that are in it, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import jinja2

from evenhand._cards import Card, Html, said, shortened, shown_notices
from evenhand._results import version
from evenhand.ab._card import comparison_card
from evenhand.desk.report.bundle import bundle
from evenhand.desk.report.check_sections import (
    NO_CHECK,
    check_sections,
    load_section,
)
from evenhand.desk.report.comparison_figures import comparison_figures
from evenhand.desk.report.comparison_sections import (
    coin_section,
    error_sections,
    p_value_section,
    scores_section,
)
from evenhand.desk.report.figures import spec
from evenhand.desk.report.parts import Picture, Section, Text, picture
from evenhand.desk.report.ranking_figures import ranking_figures
from evenhand.desk.report.ranking_sections import (
    draws_section,
    places_section,
    table_section,
    warp_section,
)
from evenhand.desk.report.reviewer_figures import check_figures
from evenhand.desk.report.words import code, glossary, record_text, replay_facts
from evenhand.errors import printable
from evenhand.lab._check_card import check_card
from evenhand.ranking._card import ranking_card

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand._results import Json
    from evenhand.ab.comparison import Comparison
    from evenhand.desk.report.figures import Figure
    from evenhand.lab.check import Check
    from evenhand.lab.warp import Warp
    from evenhand.ranking.results import Ranking
    from evenhand.ratings import Ratings

TEMPLATES = resources.files("evenhand.desk.report") / "templates"
LONG_TITLE = 120
# What could end a script element early, or a line of JavaScript.
UNSAFE = {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"}
UNSAFE |= {"\u2028": r"\u2028", "\u2029": r"\u2029"}


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


def ranking_report(
    ratings: Ratings,
    result: Ranking,
    *,
    check: Check | None,
    warp: Warp | None,
    replay: Replay,
) -> str:
    """Write the report of a ranking.

    Args:
        ratings: The ratings.
        result: Their ranking.
        check: What they can support, if that was found out.
        warp: What survives other scales, if that was tested.
        replay: How to repeat it.

    Returns:
        One HTML page that needs nothing else.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> page = ranking_report(ratings, rank(ratings, rng=7), check=None, warp=None,
        ...                       replay=Replay("evenhand rank ratings.csv"))
        >>> page[:15], "Ranking of 2 items" in page
        ('<!DOCTYPE html>', True)
    """
    figures = _by_name(ranking_figures(ratings, result, check, warp))
    sections = [table_section(ratings, result), *places_section(result, figures)]
    if check is None:
        sections.append(Section("reviewers", "How each reviewer scores", (NO_CHECK,)))
    else:
        sections += check_sections(check, figures, ratings.titles)
    sections += [
        warp_section(result, warp, figures, ratings.kind),
        draws_section(result, figures),
    ]
    sections += load_section(check, figures)
    sections.append(
        _replay(
            replay,
            method=result.method,
            parameters=result.parameters,
            seed=result.seed,
            data=result.data,
        )
    )
    terms = ["Strict, lenient", "Ranks from and to", "Group"]
    terms += ["Cut"] if result.top is not None else []
    terms += ["Contradiction", "Ladder"] if check is not None else []
    terms += ["Warp"] if warp is not None else []
    sections.append(glossary(*terms, "Coin, draw"))
    card = ranking_card(result, ratings.titles, ratings.kind)
    return _page(card, sections, figures, replay, "Ranking")


def comparison_report(ratings: Ratings, result: Comparison, *, replay: Replay) -> str:
    """Write the report of a comparison.

    Args:
        ratings: The ratings.
        result: Their comparison.
        replay: How to repeat it.

    Returns:
        One HTML page that needs nothing else.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> page = comparison_report(ratings, compare(ratings, rng=7),
        ...                          replay=Replay("evenhand compare ratings.csv"))
        >>> "is put above" in page
        True
    """
    figures = _by_name(comparison_figures(ratings, result))
    sections = [
        scores_section(ratings, result, figures),
        coin_section(result, figures),
        p_value_section(result),
        *error_sections(result),
        _replay(
            replay,
            method=result.method,
            parameters=result.parameters,
            seed=result.seed,
            data=result.data,
        ),
        glossary("Coin, draw", "p-value"),
    ]
    card = comparison_card(result, ratings.titles)
    return _page(card, sections, figures, replay, "Comparison")


def check_report(ratings: Ratings, check: Check, *, replay: Replay) -> str:
    """Write the report of a check.

    Args:
        ratings: The ratings.
        check: What they can support.
        replay: How to repeat it.

    Returns:
        One HTML page that needs nothing else.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> page = check_report(ratings, check(ratings, rng=7),
        ...                     replay=Replay("evenhand check ratings.csv"))
        >>> "What these ratings can support" in page
        True
    """
    figures = _by_name(check_figures(ratings, check))
    sections = [
        *check_sections(check, figures, ratings.titles),
        *load_section(check, figures),
    ]
    sections.append(
        _replay(
            replay,
            method="check",
            parameters=check.parameters,
            seed=check.seed,
            data=check.data,
            records=False,
        )
    )
    sections.append(glossary("Strict, lenient", "Contradiction", "Ladder"))
    return _page(check_card(check), sections, figures, replay, "Check")


def script_json(value: object) -> Html:
    r"""Write JSON that no name in it can break out of.

    Examples:
        >>> print(script_json({"name": "</script>"}))
        {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, written in UNSAFE.items():
        text = text.replace(character, written)
    return Html(text)


def _by_name(figures: Iterable[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures}


def _replay(
    replay: Replay,
    *,
    method: str,
    parameters: Mapping[str, Json],
    seed: int,
    data: Mapping[str, Json],
    records: bool = True,
) -> Section:
    facts = replay_facts(
        method=method,
        parameters=parameters,
        seed=seed,
        data=data,
        read_as=replay.read_as,
    )
    given = any(part.startswith("--seed") for part in replay.command.split())
    seeded = "" if given else f" --seed {seed}"
    command = Text(code(f"{replay.command}{seeded}"))
    record = (record_text(replay.audit),) if records else ()
    lead = Html("The same ratings, options, seed and version give the same result.")
    return Section("replay", "How to repeat it", (lead,), (command, *record, facts))


def _page(
    card: Card,
    sections: Sequence[Section],
    figures: Mapping[str, Figure],
    replay: Replay,
    kind: str,
) -> str:
    placed = {
        block.figure.name
        for section in sections
        for block in section.blocks
        if isinstance(block, Picture)
    }
    rest = [picture(figure) for name, figure in figures.items() if name not in placed]
    if rest:
        lead = (Html("What else the ratings show."),)
        extra = Section("charts", "Further charts", lead, tuple(rest))
        sections = [*sections[:-2], extra, *sections[-2:]]
    script, style = _asset("report.js"), _asset("style.css")
    scripts = [bundle(), script] if figures else [script]
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.from_string(_asset("page.html.j2"))
    file = shortened(printable(replay.file), LONG_TITLE)
    return template.render(
        card=card,
        notices=shown_notices(card.notices),
        sections=sections,
        kind=kind,
        file=file,
        title=said("{}{}", f"{file}: " if file else "", f"{kind.lower()} by evenhand"),
        specs={name: script_json(spec(figure)) for name, figure in figures.items()},
        style=Html(style),
        scripts=[Html(one) for one in scripts],
        policy=_policy(scripts),
        version=version(),
    )


def _policy(scripts: Iterable[str]) -> str:
    """Let nothing load, and no script run but these."""
    digests = (hashlib.sha256(one.encode()).digest() for one in scripts)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")

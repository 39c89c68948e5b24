"""The findings of a check, gravest first.

What makes an answer impossible comes before what can make it wrong, that before what
makes it weak, and that before what is good.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from evenhand.diagnosis.ladder import CANNOT_TELL
from evenhand.diagnosis.reviewers import AGAINST, DISAGREEING, LITTLE, UNRELATED
from evenhand.errors import plural
from evenhand.words.check_sentences import share_text
from evenhand.words.pictures import KINDS, NARROW, axis
from evenhand.words.text import notice
from evenhand.words.warnings import warning_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Shares
    from evenhand.diagnosis.warp import Warp, WarpedItem

    Places = list[tuple[float, str]]
    Ticks = tuple[tuple[float, str], ...]

IMPOSSIBLE, WRONG, WEAK, GOOD = range(4)
WORDS = (
    "rules out a ranking",
    "can make it wrong",
    "makes it less certain",
    "good to know",
)
# Findings by what they are, where they are always equally grave.
ALWAYS = {
    "confidence": (GOOD, "Scores count by confidence"),
    "no_information": (IMPOSSIBLE, "The ratings say nothing about the order"),
    "confounded": (WRONG, "Strictness cannot be told from chance"),
    "disagreeing": (WRONG, "Some reviewers do not agree with the others"),
    "unreliable": (WRONG, "Some reviewers are unreliable"),
    "correlations": (GOOD, "How far each reviewer agrees with the others"),
    "agreement": (GOOD, "How far reviewers agree on the same item"),
    "few_reviews": (WEAK, "Many items have one or two reviews"),
    "ties": (WEAK, "Ties order nothing"),
    "single": (WEAK, "Some reviewers compare nothing"),
    "flat": (WEAK, "Some reviewers give all items one score"),
    "no_ladder": (WEAK, "Scales could not be tested"),
    "no_needed": (WEAK, "How many more reviews are needed is not known"),
    "fixed_sums": (GOOD, "Only each reviewer's own order counts"),
    "variance": (GOOD, "Where scores differ"),
    "sizes": (GOOD, "How many ratings there are"),
}
LADDER = {
    "none": (GOOD, "Scores can be compared as they are"),
    "offset": (WRONG, "Reviewers differ in how strict they are"),
    "offset and slope": (WRONG, "Reviewers differ in strictness and spread"),
    "monotone": (WRONG, "Each reviewer has a scale of their own"),
    "order only": (WRONG, "Scores mislead; only reviewers' own orders count"),
    CANNOT_TELL: (WEAK, "Whether scores can be compared is not clear"),
}
VERDICTS = (
    "These ratings cannot order all items",
    "An order by these ratings can go wrong",
    "These ratings support an order, but a weak one",
    "These ratings support an order",
)
# Findings whose picture says it all.
DRAWN = ("contradictions", "flat", "ladder", "needed", "strictness", "ties", "variance")
LISTED = 6
LEAVING = 8


class Shown(NamedTuple):
    """A finding as a page shows it.

    Attributes:
        code: What it is about.
        gravity: 0 if it makes an answer impossible, 1 if it can make it wrong, 2 if it
            makes it weak, 3 if it is good.
        title: What it says in a few words.
        text: What it says in a sentence or two.
        brief: What its first sentence finds, without what follows from it.
    """

    code: str
    gravity: int
    title: str
    text: Markup
    brief: Markup


def by_gravity(check: Check) -> list[Shown]:
    """Sort findings by how grave they are, else as the check has them.

    Examples:
        >>> from evenhand import Ratings, check
        >>> found = check(Ratings(["a", "b"], ["x", "y"], [1, 2]), rng=7)
        >>> [(one.code, one.gravity) for one in by_gravity(found)][:2]
        [('groups', 0), ('no_ladder', 2)]
    """
    shown = [
        Shown(
            finding.code,
            *_gravity(check, finding.code),
            notice(finding.message),
            notice(warning_text(finding, "plain")),
        )
        for finding in check.findings
    ]
    return sorted(shown, key=lambda finding: (finding.gravity, finding.code == "sizes"))


def count_sentence(shown: Sequence[Shown]) -> str:
    """Say how many findings stand in the way of a ranking.

    Examples:
        >>> weak = Shown("ties", WEAK, "", "", "")
        >>> count_sentence([weak, weak])
        'Nothing rules out a ranking. 2 things make it less certain.'
    """
    numbers = Counter(finding.gravity for finding in shown)
    verbs = (
        ("rules out a ranking", "rule out a ranking"),
        ("can make it wrong", "can make it wrong"),
        ("makes it less certain", "make it less certain"),
    )
    sentences = [
        f"{plural(numbers[gravity], 'thing')} {verbs[gravity][numbers[gravity] > 1]}."
        for gravity in (IMPOSSIBLE, WRONG, WEAK)
        if numbers[gravity]
    ]
    if not numbers[IMPOSSIBLE]:
        sentences.insert(0, "Nothing rules out a ranking.")
    return " ".join(sentences)


def verdict(check: Check) -> str:
    """Say in a sentence what ratings can support, and what is gravest about them.

    Examples:
        >>> from evenhand import Ratings, check
        >>> verdict(check(Ratings(["a", "b"], ["x", "y"], [1, 2]), rng=7))
        'Only scores compared across reviewers can order all items: no reviewer links
        all of them.'
    """
    gravest = by_gravity(check)[0]
    if gravest.gravity == GOOD:
        return f"{VERDICTS[GOOD]}: nothing stands in the way."
    opening, title = VERDICTS[gravest.gravity], gravest.title
    codes = {warning.code for warning in check.notices}
    level = check.kind != "scores" or "equal_scores" in codes
    if gravest.code == "groups" and gravest.gravity == IMPOSSIBLE and not level:
        opening = "Only scores compared across reviewers can order all items"
    return f"{opening}: {title[0].lower()}{title[1:]}."


def _apart(check: Check) -> tuple[int, str]:
    """Say what keeps items apart: reviewers who share none, or ties."""
    if check.groups.linked > 1:
        return IMPOSSIBLE, "No reviewer links all of them"
    if check.groups.listed[0].size == 1:
        return IMPOSSIBLE, "No reviewer gave two items different scores"
    return WEAK, "Ties leave items apart"


def _gravity(check: Check, code: str) -> tuple[int, str]:
    gravity = ALWAYS.get(code, (GOOD, ""))
    if code == "ladder" and check.ladder is not None:
        gravity = LADDER[check.ladder.verdict]
    elif code == "groups":
        gravity = _apart(check)
    elif code == "contradictions":
        gravity = GOOD, "Reviewers do not contradict each other"
        if check.contradictions.in_cycles:
            gravity = WEAK, "Reviewers contradict each other"
    elif code == "needed" and check.needed is not None:
        gravity = WEAK, "The cut needs more reviews"
        if all(target.reviews == 0 for target in check.needed.pair):
            gravity = GOOD, "The cut is settled"
    elif code == "strictness":
        clear = sum(person.strictness in KINDS for person in check.reviewers)
        verb = "is" if clear == 1 else "are"
        subject = f"{plural(clear, 'reviewer')} {verb}" if clear else "Nobody is"
        gravity = GOOD, f"{subject} clearly strict or lenient"
    return gravity


def group_shares(check: Check) -> list[tuple[int, str, str]]:
    """Return how many items each of the largest groups has, and the rest together."""
    sizes = [group.size for group in check.groups.listed[:LISTED]]
    kinds = itertools.cycle(("in", "open", "out"))
    shares = [(size, plural(size, "item"), next(kinds)) for size in sizes]
    if groups_left := check.groups.count - len(sizes):
        items_left = int(str(check.data["items"])) - sum(sizes)
        shares.append((items_left, plural(groups_left, "more group"), "out"))
    return shares


def people_dots(check: Check, code: str) -> tuple[Places, Ticks, str] | None:
    """Place reviewers by how strict they are, or by how they agree; None without.

    Returns:
        Where each stands in per cent and its colour, ticks, and what the line is.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 5.5])
        >>> people_dots(check(ratings, rng=7), "strictness")[2]
        'Points above or below the others.'
    """
    people = check.reviewers
    caption = "Points above or below the others."
    pairs = [(person.offset, KINDS.get(person.strictness, "out")) for person in people]
    if code == "disagreeing":
        caption = "Correlation with the others' scores."
        kinds = dict.fromkeys(DISAGREEING, "open")
        pairs = [
            (person.correlation, kinds.get(person.agreement, "out"))
            for person in people
        ]
    dots = [(value, kind) for value, kind in pairs if value is not None]
    most = max((abs(value) for value, _ in dots), default=0.0)
    if most == 0:
        return None
    most = 1.0 if code == "disagreeing" else most
    line = axis([-most, most], NARROW)
    return [(line.place(value), kind) for value, kind in dots], line.ticks, caption


def leaving(warp: Warp) -> list[WarpedItem]:
    """Return chosen items that leave when scales change, most often first.

    Examples:
        >>> from evenhand import Ratings, warp
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> leaving(warp(ratings, top=1, draws=5, rng=7))
        []
    """
    mild = next(
        survival for survival in warp.survivals if survival.method == warp.method
    )
    gone = [row for row in mild.items[: warp.top] if row.p_top < 1]
    return sorted(gone, key=lambda row: row.p_top)[:LEAVING]


def variance_parts(shares: Shares) -> list[tuple[float, str, str]]:
    """Return what is known of where scores differ: share, words and colour.

    Examples:
        >>> from evenhand.diagnosis.reviewers import Share, Shares
        >>> rest = Share(0.64, 0.553, 0.71)
        >>> variance_parts(Shares(None, None, rest, "parametric bootstrap"))
        [(0.64, 'the rest 64% (55 to 71)', 'out')]
    """
    parts = (
        (shares.item, "items", "in"),
        (shares.reviewer, "reviewers' strictness", "open"),
        (shares.rest, "the rest", "out"),
    )
    return [
        (part.share, f"{words} {share_text(asdict(part))}", kind)
        for part, words, kind in parts
        if part is not None
    ]


def people_answer(check: Check) -> str:
    """Say in a line what stands out about the reviewers.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> people_answer(check(ratings, rng=7))
        '2 reviewers, 1 clearly strict, 1 clearly lenient'
    """
    words = Counter(person.strictness for person in check.reviewers)
    agreeing = Counter(person.agreement for person in check.reviewers)
    parts = [f"{words[kind]:,} clearly {kind}" for kind in KINDS if words[kind]]
    parts = parts or ["none clearly strict or lenient"]
    phrases = {AGAINST: "against the others", UNRELATED: "unrelated to the others"}
    phrases |= {LITTLE: "hardly related to the others"}
    parts += [
        f"{agreeing[agreement]:,} {text}"
        for agreement, text in phrases.items()
        if agreeing[agreement]
    ]
    return ", ".join([plural(len(check.reviewers), "reviewer"), *parts])


def assumption_answer(check: Check, warp: Warp | None) -> str:
    """Say in a line what a decision owes to scales, or what was found of them.

    Examples:
        >>> from evenhand import Ratings, check
        >>> assumption_answer(check(Ratings(["a"], ["x"], [1]), rng=7), None)
        'not tested for this report'
    """
    if warp is not None:
        survival = next(row for row in warp.survivals if row.method == warp.method)
        stay = f"{survival.stay:.1f} of the {warp.top:,} would stay on average"
        if warp.top == 1:
            stay = f"the best one would stay in {100 * survival.stay:.0f}% of draws"
        return f"{stay} if every reviewer had used another scale ({survival.strength})"
    if check.ladder is None:
        return "not tested for this report"
    title = LADDER[check.ladder.verdict][1]
    return f"{title[0].lower()}{title[1:]}"

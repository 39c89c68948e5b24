"""Words that every report shares: a glossary, and how to repeat a result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evenhand._cards import Html, escaped, said, shortened
from evenhand._results import version
from evenhand.desk.report.parts import Facts, Section, Text
from evenhand.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand._results import Json

LONG_COMMAND = 2000
GLOSSARY = {
    "Item": "What is judged: a paper, a talk, a design, an answer.",
    "Reviewer": "Who judges. Nobody has to see everything.",
    "Scale": "How a reviewer turns quality into scores. Two people may use the same "
    "form in different ways: one is strict, one gives high scores to all.",
    "Strict, lenient": "Gives lower, or higher, scores than others to the same items. "
    "It is said of nobody whose ratings are too few.",
    "Ranks from and to": "The places that an item could have, given how few or how "
    "different its ratings are. A wide range means that the place is open.",
    "Group": "Neighbours in the order that the ratings do not tell apart. Thin lines "
    "in the table separate groups.",
    "Cut": "The line between what is chosen and what is not.",
    "Contradiction": "One reviewer puts x above y, another y above x; or a circle of "
    "orders, such as x above y, y above z and z above x.",
    "Coin, draw": "A chance event of the method, repeatable from the seed. Its "
    "probability belongs to the draw. It is no confidence in the outcome.",
    "Seed": "A number from which every draw follows. The same ratings, method and seed "
    "give the same result on any machine.",
    "Certificate": "The exact statement of what is proved about the answer, and under "
    "which conditions.",
    "Ladder": "A test of which assumption about scales predicts the reviewers' own "
    "choices best.",
    "Warp": "To replace every reviewer's scale by another that keeps their order, and "
    "look whether the decision stays.",
    "p-value": "How often an outcome at least so clear would come up by the luck of "
    "the assignment alone. It is not the probability that anyone is right.",
}
COMMON = ("Item", "Reviewer", "Scale")
CLOSING = ("Seed", "Certificate")


def glossary(*terms: str) -> Section:
    """Explain some words, between those that every report needs.

    Examples:
        >>> glossary("Cut").blocks[0].pairs[3][0]
        'Cut'
    """
    chosen = (*COMMON, *terms, *CLOSING)
    pairs = tuple((term, escaped(GLOSSARY[term])) for term in chosen)
    lead = (Html("What the words in this report mean."),)
    return Section("glossary", "Glossary", lead, (Facts(pairs),))


def code(text: str) -> Html:
    """Show a command.

    Examples:
        >>> code("a <b>")
        Html('<code>a &lt;b&gt;</code>')
    """
    return Html(f"<code>{escaped(shortened(printable(text), LONG_COMMAND))}</code>")


def replay_facts(
    *,
    method: str,
    parameters: Mapping[str, Json],
    seed: int,
    data: Mapping[str, Json],
    read_as: str,
) -> Facts:
    """List what repeats a result.

    Examples:
        >>> facts = replay_facts(
        ...     method="mean", parameters={"top": 3}, seed=7, data={}, read_as=""
        ... )
        >>> [term for term, _ in facts.pairs]
        ['Method', 'Parameters', 'Seed', 'Version']
    """
    options = "; ".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in parameters.items()
        if value is not None
    )
    pairs: list[tuple[str, Html]] = [
        ("Method", escaped(method)),
        ("Parameters", escaped(shortened(options, LONG_COMMAND) or "none")),
        ("Seed", escaped(seed)),
        ("Version", said("evenhand {}", version())),
    ]
    if "sha256" in data:
        pairs.append(("Hash of the ratings", code(f"sha256 {data['sha256']}")))
    if read_as:
        pairs.append(("File read as", escaped(shortened(read_as, LONG_COMMAND))))
    return Facts(tuple(pairs))


def record_text(audit: str | None) -> Text:
    """Say how the record is audited, or how to get one.

    Examples:
        >>> record_text(None).text[:22]
        'No record was written.'
    """
    if audit is None:
        return Text(
            said(
                "No record was written. With {} a file is kept from which {} repeats "
                "the decision and compares every draw.",
                code("--record record.json"),
                code("evenhand audit"),
            )
        )
    return Text(
        said(
            "Anyone who has the record and the ratings can check it: {}",
            code(audit),
        )
    )

"""The plan of an evaluation: lists, scale, design and rules, as the form holds them.

What is fixed at sealing is one plain value, hashed into the log. Reviewers stand in it
by codes that follow from a key that was drawn before, never by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evenhand.errors import OptionError, quote
from evenhand.records.bundle import LISTS_SCHEMA
from evenhand.records.canonical import finish
from evenhand.records.people import codes_of, people_hashes, plain_name
from evenhand.web.lists import (
    MOST_ROWS,
    Item,
    Person,
    read_conflicts,
    read_items,
    read_levels,
    read_people,
)
from evenhand.web.scale import RatingScale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evenhand.claims import Json

JOBS = ("compare", "rank", "select")
METHODS = {
    "compare": ("guarded", "votes", "mean"),
    "rank": ("adaptive", "safe"),
    "select": ("adaptive",),
}
FEWEST = 3
FEW_LEFT = 5
MOST_PLACES = 2000
LONGEST_TITLE, LONGEST_TEXT, LONGEST_GRACE = 200, 5000, 60 * 24 * 7
DEFAULTS: dict[str, str] = {
    "title": "",
    "instructions": "",
    "items": "",
    "reviewers": "",
    "reserves": "",
    "conflicts": "",
    "job": "rank",
    "per_reviewer": "3",
    "top": "3",
    "scale": "number",
    "low": "0",
    "high": "100",
    "step": "0.1",
    "levels": "A: excellent\nB: good\nC: fair\nD: poor",
    "method": "",
    "unfinished": "keep",
    "grace": "0",
    "closes": "",
    "zone": "UTC",
    "begin": "at-once",
    "public_value": "",
    "places": "0",
    "own": "",
}


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What an organiser wants, read from the form.

    Attributes:
        title: What it is called.
        instructions: What reviewers are told.
        items: What is rated.
        people: Who rates.
        reserves: Who may step in, in any order.
        conflicts: Name and label of each conflict of interest.
        job: "compare", "rank" or "select".
        per_reviewer: Items for each reviewer.
        top: How many are to be chosen, unless two are compared.
        scale: What reviewers rate on.
        method: How it is decided.
        keep_unfinished: Whether ratings of those who did not finish count.
        grace: Minutes after the deadline in which ratings still count.
        closes_at: The deadline in UTC, or None.
        zone: Time zone of the evaluation.
        at_once: Whether reviewers may begin as soon as it is sealed.
        public_value: Name of a public value that nobody knows yet; "" without one.
        places: How many of the people, the last, are places for whoever comes.
    """

    title: str
    items: tuple[Item, ...]
    people: tuple[Person, ...]
    instructions: str = ""
    reserves: tuple[Person, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    job: str = "rank"
    per_reviewer: int = 3
    top: int = 1
    scale: RatingScale = field(default_factory=RatingScale)
    method: str = ""
    keep_unfinished: bool = True
    grace: int = 0
    closes_at: datetime | None = None
    zone: str = "UTC"
    at_once: bool = True
    public_value: str = ""
    places: int = 0

    @property
    def design(self) -> str:
        """The design of the draw."""
        return "halves" if self.job == "compare" else "balanced"

    @property
    def distinct(self) -> bool:
        """Whether equal scores are asked about, so that nobody gives two of them."""
        return self.job == "rank" and self.scale.kind != "letters"

    @property
    def decided_by(self) -> str:
        """The method, or the usual one."""
        return self.method or METHODS[self.job][0]

    def options(self) -> dict[str, Any]:
        """Return what the draw is made with, beside items and reviewers."""
        size = None if self.job == "compare" else self.per_reviewer
        return {"design": self.design, "per_reviewer": size}


def read_plan(form: Mapping[str, str], closes_at: datetime | None) -> EvaluationPlan:
    r"""Read a plan from the fields of the form.

    Args:
        form: The fields; what is left out has its default.
        closes_at: The deadline in UTC.

    Returns:
        The plan, which need not be feasible yet.

    Raises:
        OptionError: If a field cannot be read.

    Examples:
        >>> plan = read_plan({"title": "Talks", "items": "a\nb\nc",
        ...                   "reviewers": "Anna\nBo", "per_reviewer": "2"}, None)
        >>> plan.design, len(plan.items), plan.scale.high
        ('balanced', 3, 100.0)
    """
    fields = {**DEFAULTS, **form}
    title = " ".join(fields["title"].split())
    if not 1 <= len(title) <= LONGEST_TITLE:
        raise OptionError("The evaluation must have a title of at most 200 characters.")
    if len(fields["instructions"]) > LONGEST_TEXT:
        raise OptionError(f"Instructions may have at most {LONGEST_TEXT} characters.")
    job = _one_of("job", fields["job"], JOBS)
    items, people = read_items(fields["items"]), read_people(fields["reviewers"])
    places = _whole("Places at the door", fields["places"], 0, MOST_PLACES)
    width = len(str(places))
    people += [Person(f"Place {n:0{width}}") for n in range(1, places + 1)]
    reserves = read_people(fields["reserves"])
    names = [person.name for person in (*people, *reserves)]
    if len(set(names)) < len(names):
        raise OptionError("A reserve must not be a reviewer too.")
    _require_apart(names)
    conflicts = read_conflicts(
        fields["conflicts"], names, [item.label for item in items]
    )
    if fields["own"]:
        items, own = take_out_own(items, [*people, *reserves])
        conflicts += own
    method = fields["method"] and _one_of(
        f"The method to {job}", fields["method"], METHODS[job]
    )
    top = _whole("How many are chosen", fields["top"], 1, MOST_ROWS)
    return EvaluationPlan(
        title=title,
        instructions=fields["instructions"].strip(),
        items=tuple(items),
        people=tuple(people),
        reserves=tuple(reserves),
        conflicts=tuple(sorted(set(conflicts))),
        job=job,
        per_reviewer=_whole("Items for each reviewer", fields["per_reviewer"], 1, 1000),
        top=min(top, max(1, len(items))),
        scale=_scale(fields, job),
        method=method,
        keep_unfinished=fields["unfinished"] != "leave-out",
        grace=_whole("Minutes of grace", fields["grace"], 0, LONGEST_GRACE),
        closes_at=closes_at,
        zone=fields["zone"],
        at_once=fields["begin"] != "later",
        public_value=_line("The name of the public value", fields["public_value"]),
        places=places,
    )


def take_out_own(
    items: Sequence[Item], people: Sequence[Person]
) -> tuple[list[Item], list[tuple[str, str]]]:
    """Find whose work each item is, and take the names out of what others see.

    Args:
        items: The items; the title of each names who made it, apart by a comma, a
            semicolon or a tab, by name or e-mail address.
        people: Who rates.

    Returns:
        The items without these names; and reviewer and item of each conflict.

    Raises:
        OptionError: If no item names anybody.

    Examples:
        >>> take_out_own([Item("t1", "On trees, Anna")], [Person("Anna")])
        ([Item(label='t1', title='On trees', url='')], [('Anna', 't1')])
    """
    names = {plain_name(person.name): person.name for person in people}
    names |= {
        plain_name(person.email): person.name for person in people if person.email
    }
    kept, conflicts = [], []
    for item in items:
        cells = [cell.strip() for cell in re.split(r"[\t;,]", item.title)]
        authors = [
            names[plain_name(cell)] for cell in cells if plain_name(cell) in names
        ]
        conflicts += [(name, item.label) for name in authors]
        others = [cell for cell in cells if plain_name(cell) not in names]
        kept.append(replace(item, title=", ".join(others)) if authors else item)
    if not conflicts:
        raise OptionError(
            "No item names a reviewer, so nobody's own work is known. Write behind "
            "each title a comma and the name of who made it."
        )
    return kept, conflicts


def require_complete(plan: EvaluationPlan) -> None:
    """Refuse a plan that cannot be sealed.

    Raises:
        OptionError: If something is missing; it says what.
    """
    if plan.job == "compare" and len(plan.items) != 2:
        raise OptionError(
            f"To compare there must be two items, got {len(plan.items)}. Choose rank "
            "for more."
        )
    many = plan.job != "compare"
    if many and len(plan.items) < FEWEST:
        raise OptionError(
            f"To {plan.job} there must be at least {FEWEST} items, got "
            f"{len(plan.items)}. Choose compare for two."
        )
    if len(plan.people) <= 1:
        raise OptionError(
            f"There must be at least two reviewers, got {len(plan.people)}."
        )
    if many and plan.per_reviewer > len(plan.items):
        raise OptionError(
            f"Nobody can rate {plan.per_reviewer} of {len(plan.items)} items."
        )
    if many and plan.top >= len(plan.items):
        raise OptionError(
            f"How many are chosen must be less than the {len(plan.items)} items."
        )
    if not many and plan.conflicts:
        raise OptionError("Conflicts can be kept to only where many items are ranked.")
    reserve_names = {person.name for person in plan.reserves}
    if any(name in reserve_names for name, _ in plan.conflicts):
        raise OptionError("A reserve must not have a conflict.")


def narrow_choice(n_items: int, per_reviewer: int | None) -> str:
    """Warn if a code's list shows nearly which item its reviewer was kept from.

    Examples:
        >>> narrow_choice(40, 3)
        ''
        >>> narrow_choice(4, 3)[:32]
        'Everybody gets all items but 1, '
    """
    n_left = n_items - (per_reviewer or 0)
    if n_left >= FEW_LEFT:
        return ""
    where = "exactly that one" if n_left == 1 else f"one of those {n_left}"
    return (
        f"Everybody gets all items but {n_left}, and a conflict is {where}: if it is "
        "the reviewer's own work, the published draw reveals who the code is. Give "
        "each reviewer fewer items, or do not publish."
    )


def draw_codes(plan: EvaluationPlan, key: str) -> dict[str, str]:
    """Return the code of each person, which does not tell who it is.

    Examples:
        >>> people = (Person("Anna"), Person("Bo"))
        >>> sorted(draw_codes(EvaluationPlan("x", (), people), "0" * 64).values())
        ['R01', 'R02']
    """
    return codes_of(key, [person.name for person in (*plan.people, *plan.reserves)])


def lists_record(plan: EvaluationPlan, key: str) -> dict[str, Json]:
    """Return what is fixed at sealing, by codes, with its hashes.

    Args:
        plan: The plan.
        key: The key of the draw.
    """
    codes = draw_codes(plan, key)
    reserves = sorted(codes[person.name] for person in plan.reserves)
    reviewers = sorted(codes[person.name] for person in plan.people)
    people = [
        (code, name, [what for reviewer, what in plan.conflicts if reviewer == name])
        for name, code in codes.items()
    ]
    return finish(
        {
            "schema": LISTS_SCHEMA,
            "title": plan.title,
            "instructions": plan.instructions,
            "items": [[item.label, item.title, item.url] for item in plan.items],
            "reviewers": reviewers,
            "reserves": reserves,
            "people": dict(people_hashes(key, people)),
            "n_conflicts": len(plan.conflicts),
            "job": plan.job,
            "design": plan.design,
            "per_reviewer": plan.options()["per_reviewer"],
            "top": None if plan.job == "compare" else plan.top,
            "scale": plan.scale.to_dict(),
            "method": plan.decided_by,
            "distinct": plan.distinct,
            "keep_unfinished": plan.keep_unfinished,
            "grace": plan.grace,
            "public_value": plan.public_value or None,
        }
    )


def _require_apart(names: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        earlier = seen.setdefault(plain_name(name), name)
        if earlier != name:
            raise OptionError(
                f"Reviewers must be different, got {quote(earlier)} and {quote(name)}. "
                "Add something that tells them apart."
            )


def _scale(fields: Mapping[str, str], job: str) -> RatingScale:
    kind = fields["scale"]
    if kind == "order" and job == "compare":
        raise OptionError("To compare, everybody rates one item: there is no order.")
    if kind == "letters":
        return RatingScale("letters", levels=read_levels(fields["levels"]))
    if kind == "order":
        return RatingScale("order")
    low, high, step = (_number(name, fields[name]) for name in ("low", "high", "step"))
    return RatingScale(_one_of("scale", kind, ("number",)), low, high, step)


def _line(what: str, text: str) -> str:
    line = " ".join(text.split())
    if len(line) > LONGEST_TITLE or not line.isprintable():
        raise OptionError(f"{what} must be a line of at most 200 characters.")
    return line


def _one_of(what: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise OptionError(f"{what} must be one of: {', '.join(choices)}.")
    return value


def _whole(what: str, text: str, low: int, high: int) -> int:
    if not text.isascii() or not text.isdigit() or not low <= int(text[:9]) <= high:
        raise OptionError(f"{what} must be a whole number from {low} to {high}.")
    return int(text[:9])


def _number(what: str, text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise OptionError(f"{what} of the scale must be a number.") from None

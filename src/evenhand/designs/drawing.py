"""Draw which reviewer gets which items, and seal it before ratings exist.

An assignment is a function of the sets of items and reviewers, the design, its options
and the seed. A sealed seed is a secret text of 64 hexadecimal digits; its SHA-256, the
seal, can be published before any rating exists, and the secret afterwards. When
somebody leaves, an amendment is drawn from the same seed, so the seal covers it too.

The ranking guarantees need that, given which sets of items are reviewed, any two
reviewers might as well have changed places. What an amendment draws looks at nobody's
name, so it keeps that if it depends on the person alone who left. A test follows every
choice and counts the swaps that change the law.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from evenhand.claims import Label, version
from evenhand.columns import Source, code_labels, label_series
from evenhand.designs.assignment import Amendment, Assignment
from evenhand.designs.balancing import InfeasibleError
from evenhand.designs.design import RandomDesign, TwoItemDesign, as_design, names_of
from evenhand.errors import (
    DesignError,
    OptionError,
    RecordError,
    listing,
    must_be,
    quote,
    require_sequence,
    unknown,
)
from evenhand.randomness import Drawn, RNGLike, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.claims import Backing, Json
    from evenhand.designs.assignment import Rows
    from evenhand.randomness import Chance

    Labels = tuple[Label, ...]
    Held = dict[Label, set[Label]]
    # A mapping's keys are of one type to a type checker, which knows no subtypes there.
    Groups = Mapping[str, Label] | Mapping[int, Label] | Mapping[Label, Label]

Thing = TypeVar("Thing")

SEAL_PREFIX = "evenhand.seal/1:"
AMEND_PREFIX = "evenhand.amend/1:"
RESERVES_PREFIX = "evenhand.reserves/1:"
SECRET = re.compile(r"[0-9a-f]{64}")
STEPPED_IN = "Who stepped in for whom was drawn at random."
HANDED_OUT = "Who took over reviews that were open was drawn at random."
LEFT_OPEN = "Reviews of those who left stay open."
WALKED = (
    "Drawn by a long random walk over all feasible assignments, so that they were "
    "nearly, but not exactly, equally likely"
)
UNFAVOURED = "; no reviewer or item was favoured by its name."


def assign(
    items: Sequence[Label],
    reviewers: Sequence[Label],
    *,
    design: str | RandomDesign,
    per_reviewer: int | None = None,
    per_item: int | None = None,
    conflicts: Iterable[tuple[Label, Label]] = (),
    groups: Groups | None = None,
    own_items: Groups | None = None,
    common: Sequence[Label] = (),
    rng: RNGLike = None,
    secret: str | None = None,
) -> Assignment:
    """Draw which reviewer gets which items.

    The order in which items, reviewers and conflicts are given does not matter.

    Args:
        items: Labels of the items, all different; two for "halves", "coins", "matched"
            and "panels".
        reviewers: Labels of the reviewers, all different.
        design: "halves", "coins", "matched" or "panels" for two items; "pairs" (each
            reviewer another random pair), "balanced" or "two-pools" (applicants who
            review each other) for many. See `evenhand.designs`.
        per_reviewer: For "balanced", how many items each reviewer gets; given alone,
            loads of two items differ by at most one.
        per_item: For "balanced", how many reviewers each item gets; given alone, loads
            of two reviewers differ by at most one. Both together must fit exactly.
        conflicts: For "balanced", reviewer and item of each conflict of interest.
        groups: For "matched" and "panels", from each reviewer to its pair or panel; for
            "two-pools", to an institution, say: nobody reviews their own.
        own_items: For "two-pools", from each reviewer to the item that is theirs.
        common: Items that every reviewer gets besides, to calibrate; each is one of the
            items. For "balanced" and "two-pools".
        rng: Seed, generator or None.
        secret: Draw with this secret of `fresh_secret` instead, to be sealed.

    Returns:
        The assignment.

    Raises:
        DesignError: If there is no such assignment; it says which constraint cannot be
            met.
        OptionError: If a name is unknown or an option is not for this design.
        RatingsError: If a label is missing or not text or an integer.

    Examples:
        >>> drawn = assign("p1 p2 p3".split(), ["Anna", "Bo", "Cy"], design="balanced",
        ...                per_reviewer=2, conflicts=[("Anna", "p1")], rng=7)
        >>> drawn.rows[:2], drawn.uniform
        ((('Anna', 'p2'), ('Anna', 'p3')), True)
    """
    require_sequence("pairs of a reviewer and an item", conflicts=conflicts)
    require_sequence("names of items", common=common)
    clashes, chosen = tuple(conflicts), as_design(design, RandomDesign)
    loads = {"per_reviewer": per_reviewer, "per_item": per_item}
    more = {"groups": groups, "own_items": own_items, "common": tuple(common) or None}
    _refuse_options(chosen, **loads, conflicts=clashes or None, **more)
    all_items = _distinct_labels(items, "item")
    reviewer_labels = _distinct_labels(reviewers, "reviewer")
    shared = sorted(set(_codes("item", common, all_items)))
    drawn = [code for code in range(len(all_items)) if code not in shared]
    item_labels = tuple(all_items[code] for code in drawn)
    pairs = _conflicts(clashes, reviewer_labels, item_labels)
    applied, group_rows = "own_items" in chosen.options, None
    if groups or (chosen.group and not applied):
        what = "group" if applied else chosen.group
        group_rows = _group_rows("groups", groups or {}, reviewer_labels, what)
    if secret is not None and rng is not None:
        raise OptionError("rng must be left out when a secret is given.")
    seal = None if secret is None else seal_of(secret)
    seed = seed_from(rng) if secret is None else int(secret, 16)
    sizes: list[object] = [len(item_labels), len(reviewer_labels)]
    if isinstance(chosen, TwoItemDesign):
        _require_two(item_labels, chosen)
        sizes = [[group for _, group in group_rows] if group_rows else sizes[1]]
    elif chosen.options:
        sizes += [*loads.values(), pairs]
    parameters: dict[str, Json] = {**loads}
    if shared:
        parameters["common"] = [all_items[code] for code in shared]
    if applied:
        own = _group_rows("own_items", own_items or {}, reviewer_labels, "item")
        parameters["own_items"] = [*map(list, own)]
        parameters["groups"] = [*map(list, group_rows or ())]
        own_codes = _codes("item", (item for _, item in own), item_labels)
        names = [name for _, name in group_rows or own]
        sizes.append([*zip(own_codes, names, strict=True)])
        pools = chosen.draw_groups(seed, names)
        group_rows = tuple(zip(reviewer_labels, pools, strict=True))
    walked = WALKED + ("." if pairs else UNFAVOURED)
    try:
        bundles, uniform = chosen.draw(seed, *sizes)
    except InfeasibleError as error:
        raise DesignError(error.reason(reviewer_labels, item_labels)) from None
    rows = tuple(
        (reviewer, all_items[code])
        for reviewer, bundle in zip(
            reviewer_labels, bundles.reshape(len(reviewer_labels), -1), strict=True
        )
        for code in sorted([*shared, *(drawn[item] for item in bundle if item >= 0)])
    )
    return Assignment(
        items=all_items,
        reviewers=reviewer_labels,
        design=chosen.name,
        parameters=parameters,
        rows=rows,
        groups=group_rows,
        conflicts=tuple((reviewer_labels[r], item_labels[i]) for r, i in pairs),
        seed=seed if secret is None else secret,
        seal=seal,
        uniform=uniform,
        law=chosen.sentence if uniform or chosen.bars else walked,
        version=version(),
    )


def amend(change: Amendment, secret: str | None = None) -> Assignment:
    """Check the names of an amendment, and draw it as `Assignment.amend` says."""
    before = change.before if secret is None else verify(change.before, secret, None)
    if before.seed is None:
        raise OptionError(
            "secret must be given: the assignment is sealed, and its amendments are "
            "drawn from the same secret."
        )
    present = before.present
    codes = sorted(set(_codes("reviewer", change.drop, present)))
    gone = tuple(present[code] for code in codes)
    if len(gone) in (0, len(present)):
        raise OptionError(
            "drop must name at least one reviewer and leave at least one, got "
            f"{listing(change.drop) or 'nobody'}."
        )
    new = _distinct_labels(change.add, "reviewer") if change.add else ()
    earlier = {
        str(reviewer)
        for assignment in before.chain
        for reviewer in assignment.reviewers
    }
    if twice := [reviewer for reviewer in new if str(reviewer) in earlier]:
        raise OptionError(f"add must name new reviewers, got {quote(twice[0])}.")
    done = tuple(row for row in change.done if row[0] in gone)
    free = len(gone) - len({reviewer for reviewer, _ in done})
    if len(new) > free:
        raise OptionError(
            f"add must name at most {free}, one for each who left without a rating, "
            f"got {len(new)}."
        )
    design = as_design(before.design, RandomDesign)
    leave_open = change.leave_open or design.bars or isinstance(design, TwoItemDesign)
    return _amend(
        replace(
            change, before=before, drop=gone, add=new, done=done, leave_open=leave_open
        )
    )


def apply_amendment(change: Amendment, chance: Chance) -> Assignment:
    """Return an amended assignment, with choices from `chance`.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> old = assign([1, 2], ["a", "b"], design="halves", rng=7)
        >>> change = Amendment(old, ("a", "b"), ("y", "z"))
        >>> set(outcomes(lambda chance: apply_amendment(change, chance).rows).values())
        {Fraction(1, 2)}
    """
    before, done = change.before, set(change.done)
    began = {reviewer for reviewer, _ in done}
    leavers = [reviewer for reviewer in change.drop if reviewer not in began]
    leaving, stepping_in = shuffle(leavers, chance), shuffle(change.add, chance)
    takers = dict(zip(leaving, stepping_in, strict=False))
    rows = [(takers.get(reviewer, reviewer), item) for reviewer, item in before.rows]
    gone = set(change.drop) - set(takers)
    stay = [reviewer for reviewer in before.present if reviewer not in change.drop]
    excluded: dict[Label, set[Label]] = {
        reviewer: set() for reviewer in (*stay, *takers.values())
    }
    for reviewer, item in (*rows, *before.conflicts):
        excluded.get(reviewer, set()).add(item)
    left_over = [row for row in rows if row[0] in gone and row not in done]
    rows = [row for row in rows if row[0] not in gone or row in done]
    if not change.leave_open:
        # Everybody who stays has the common items already.
        items = [item for _, item in left_over if item not in before.common]
        rows += hand_out(items, excluded, chance)
    named = {
        str(reviewer): reviewer
        for reviewer in (*excluded, *(reviewer for reviewer, _ in rows))
    }
    reviewers = {
        str(reviewer): reviewer
        for reviewer in _distinct_labels([*named.values()], "reviewer")
    }
    groups = {str(reviewer): group for reviewer, group in before.groups or ()}
    groups |= {str(new): groups.get(str(old), "") for old, new in takers.items()}
    place = {item: number for number, item in enumerate(before.items)}
    new_rows = [(reviewers[str(reviewer)], item) for reviewer, item in rows]
    order = {reviewer: number for number, reviewer in enumerate(reviewers.values())}
    sentences = [STEPPED_IN] if change.add else []
    sentences += [LEFT_OPEN if change.leave_open else HANDED_OUT] if left_over else []
    return replace(
        before,
        reviewers=tuple(reviewers.values()),
        rows=tuple(sorted(new_rows, key=lambda row: (order[row[0]], place[row[1]]))),
        groups=before.groups
        and tuple((label, groups.get(text, "")) for text, label in reviewers.items()),
        conflicts=tuple(row for row in before.conflicts if str(row[0]) in reviewers),
        uniform=before.uniform and (change.leave_open or not left_over),
        law=" ".join(
            [
                before.law,
                *(sentence for sentence in sentences if sentence not in before.law),
            ]
        ),
        version=version(),
        amends=change,
        backing="declared",
    )


def shuffle(things: Iterable[Thing], chance: Chance) -> list[Thing]:
    """Return things in an order that is uniformly random.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> set(outcomes(lambda chance: tuple(shuffle("abc", chance))).values())
        {Fraction(1, 6)}
    """
    remaining = list(things)
    return [remaining.pop(chance.pick(len(remaining))) for _ in range(len(remaining))]


def hand_out(items: Sequence[Label], excluded: Held, chance: Chance) -> Rows:
    """Give items to those who stay, evenly, and nobody what they have already.

    Round after round, with people and items in a random order, as many items as
    possible find somebody, and nobody gets two.

    Args:
        items: The items, one for each review that is open.
        excluded: For those who stay, what they have or must not get.
        chance: Where choices come from.

    Returns:
        Reviewer and item of each review.

    Raises:
        DesignError: If all who stay have an item already.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> excluded = {"a": {1}, "b": {2}, "c": {3}}
        >>> law = outcomes(lambda chance: hand_out([1], excluded, chance))
        >>> sorted(law.items())
        [((('b', 1),), Fraction(1, 2)), ((('c', 1),), Fraction(1, 2))]
    """
    has = {reviewer: set(own) for reviewer, own in excluded.items()}
    rows: list[tuple[Label, Label]] = []
    remaining = list(items)
    while remaining:
        remaining = shuffle(remaining, chance)
        taken = _match_items(remaining, shuffle(has, chance), has)
        if not taken:
            names = listing(sorted(set(remaining), key=str))
            raise DesignError(
                f"Nobody who stays can take {names}: all "
                "have it already, or a conflict. Let somebody step in (add= or --add), "
                "or leave it open (leave_open=True or --leave-open)."
            )
        for reviewer, number in taken.items():
            rows.append((reviewer, remaining[number]))
            has[reviewer].add(remaining[number])
        remaining = [
            item
            for number, item in enumerate(remaining)
            if number not in taken.values()
        ]
    return tuple(rows)


def _match_items(
    items: list[Label], people: list[Label], has: Held
) -> dict[Label, int]:
    """Find somebody for as many items as possible, one item each at most."""
    taken: dict[Label, int] = {}

    def place(number: int, visited: set[Label]) -> bool:
        for reviewer in people:
            if reviewer in visited or items[number] in has[reviewer]:
                continue
            visited.add(reviewer)
            if reviewer not in taken or place(taken[reviewer], visited):
                taken[reviewer] = number
                return True
        return False

    for number in range(len(items)):
        place(number, set())
    return taken


def redraw(assignment: Assignment, seed: int | str) -> Assignment:
    """Draw again with the same items, reviewers, design and options.

    Of an amended assignment the last amendment is drawn again.

    Args:
        assignment: What was drawn.
        seed: An integer, or the secret text of a sealed seed.

    Returns:
        What that seed designs.

    Raises:
        EvenhandError: If there is no such assignment.

    Examples:
        >>> drawn = assign(["x", "y"], ["a", "b"], design="halves", rng=7)
        >>> redraw(drawn, 7) == drawn
        True
    """
    if assignment.amends is not None:
        before = replace(assignment.amends.before, seed=seed)
        return _amend(replace(assignment.amends, before=before))
    if assignment.conflicts_hidden and not assignment.conflicts:
        raise OptionError(
            "conflicts must be known to draw it again: its record does not show them."
        )
    source = {"secret" if isinstance(seed, str) else "rng": seed}
    groups = None if assignment.groups is None else dict(assignment.groups)
    drawn = assign(
        assignment.items,
        assignment.reviewers,
        design=assignment.design,
        conflicts=assignment.conflicts,
        **{"groups": groups, **assignment.parameters, **source},  # type: ignore[arg-type]  # what `assign` wrote
    )
    return replace(drawn, conflicts_hidden=assignment.conflicts_hidden)


def verify(assignment: Assignment, secret: str, seal: str | None) -> Assignment:
    """Draw again from a revealed secret, and hold the secret against its seal.

    Args:
        assignment: What was drawn.
        secret: The secret that was kept.
        seal: The seal that was published before any rating. None if nobody knows of
            one; the secret might then have been chosen after many tries.

    Returns:
        The same assignment, `verified` if the seal was given.

    Raises:
        RecordError: If the secret does not fit the seal, or draws another assignment.

    Examples:
        >>> secret = "0" * 64
        >>> drawn = assign([1, 2, 3], ["a", "b"], design="pairs", secret=secret)
        >>> verify(drawn.without_secret(), secret, seal_of(secret)).fits_seal
        True
    """
    fits = seal_of(secret)
    for stated in (seal, assignment.seal):
        if stated not in (None, fits):
            raise RecordError(
                f"secret must fit the seal {stated}, got one whose seal is {fits}. It "
                "is not the secret that was sealed."
            )
    past = assignment.amends
    past = past and replace(past, before=verify(past.before, secret, seal))
    again = redraw(assignment, secret)
    if again.rows != assignment.rows:
        row = min(set(assignment.rows) ^ set(again.rows), key=str)
        raise RecordError(
            f"assignment must be what its seed draws, got another: reviewer "
            f"{row[0]!r} and item {row[1]!r} are only in one of them."
        )
    backing: Backing = "revealed" if seal is None else "verified"
    return replace(assignment, seed=secret, seal=fits, amends=past, backing=backing)


def reserve_order(reserves: Sequence[Label], secret: str) -> tuple[Label, ...]:
    """Draw in which order reserves step in; the seal of the secret covers it.

    Args:
        reserves: Labels of the reserves, all different, in any order.
        secret: The secret that the assignment was drawn with.

    Returns:
        The reserves, the first to step in first.

    Examples:
        >>> reserve_order(["c", "a", "b"], "0" * 64)
        ('a', 'c', 'b')
    """
    seal_of(secret)
    text = f"{RESERVES_PREFIX}{secret}"
    seed = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    chance = Drawn(stream(seed, "design reserves"))
    return (
        tuple(shuffle(_distinct_labels(reserves, "reserve"), chance))
        if reserves
        else ()
    )


def fresh_secret() -> str:
    """Draw a secret of 256 bits, as 64 hexadecimal digits.

    Examples:
        >>> len(fresh_secret())
        64
    """
    return secrets.token_hex(32)


def seal_of(secret: str) -> str:
    """Return the seal of a secret, which tells nothing about it.

    Raises:
        OptionError: If it is not a text of 64 hexadecimal digits.

    Examples:
        >>> seal_of("0" * 64)[:8]
        '45bc2e65'
    """
    if not isinstance(secret, str) or not SECRET.fullmatch(secret):
        # The value itself is never shown: it may be a secret with a slip in it.
        raise OptionError("secret must be 64 hexadecimal digits in lower case.")
    return hashlib.sha256(f"{SEAL_PREFIX}{secret}".encode()).hexdigest()


def _amend(change: Amendment) -> Assignment:
    """Draw an amendment with the seed that follows from the first one."""
    text = f"{AMEND_PREFIX}{change.before.seed}:{len(change.before.chain) + 1}"
    seed = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    return apply_amendment(change, Drawn(stream(seed, "design amend")))


def _require_two(items: Labels, design: RandomDesign) -> None:
    if len(items) != 2:
        many = " or ".join(map(repr, names_of("rank")))
        raise DesignError(
            f"items must be two for design {design.name!r}, got {len(items)}. Use "
            f"{many} for more."
        )


def _refuse_options(design: RandomDesign, **options: object) -> None:
    """Refuse options that a design has no use for."""
    for name, value in options.items():
        if value is not None and name not in design.options:
            owners = [
                owner.name
                for owner in RandomDesign.registry.values()
                if name in owner.options
            ]
            raise OptionError(
                f"{name} must be left out for design {design.name!r}, got "
                f"{quote(value)}. It belongs to {listing(owners)}."
            )


def _distinct_labels(values: Sequence[Label], what: str) -> tuple[Label, ...]:
    series = label_series(values, what, Source())
    if len(series) == 0:
        raise DesignError(f"{what}s must hold at least one label, got none.")
    labels, _ = code_labels(series)
    if len(labels) < len(series):
        twice = series.filter(series.is_duplicated())[0]
        raise DesignError(f"{what}s must be different, got {quote(twice)} twice.")
    return labels


def _codes(what: str, names: Iterable[object], labels: Sequence[Label]) -> list[int]:
    """Return the places of labels by their text, and refuse an unknown one."""
    places = {str(label): place for place, label in enumerate(labels)}
    codes = []
    for name in names:
        if str(name).strip() not in places:
            raise OptionError(unknown(what, name, labels))
        codes.append(places[str(name).strip()])
    return codes


def _conflicts(
    conflicts: Rows, reviewers: Labels, items: Labels
) -> list[tuple[int, int]]:
    """Return the codes of reviewer and item of each conflict."""
    for conflict in conflicts:
        apart = isinstance(conflict, Iterable) and not isinstance(conflict, str)
        if not apart or len([*conflict]) != 2:
            raise must_be("conflicts", "pairs of a reviewer and an item", conflict)
    reviewer_codes = _codes("reviewer", (person for person, _ in conflicts), reviewers)
    item_codes = _codes("item", (item for _, item in conflicts), items)
    return sorted(set(zip(reviewer_codes, item_codes, strict=True)))


def _group_rows(name: str, groups: Groups, reviewers: Labels, what: str) -> Rows:
    """Return each reviewer with what an option names for them."""
    try:
        by_reviewer = dict(groups)
    except (TypeError, ValueError):
        rule = f"a mapping from each reviewer to its {what}"
        raise must_be(name, rule, groups) from None
    codes = _codes("reviewer", by_reviewer, reviewers)
    named = dict(zip(codes, by_reviewer.values(), strict=True))
    for code, reviewer in enumerate(reviewers):
        if code not in named:
            raise DesignError(
                f"{name} must name the {what} of each reviewer, got none for "
                f"{reviewer!r}."
            )
    values = [named[code] for code in range(len(reviewers))]
    labels = label_series(values, what, Source()).to_list()
    return tuple(zip(reviewers, labels, strict=True))

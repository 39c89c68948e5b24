from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
from scipy.stats import chisquare

from evenhand.designs.drawing import assign, redraw, verify
from evenhand.errors import OptionError
from evenhand.records.people import (
    codes_of,
    draw_secret,
    people_hashes,
    plain_name,
    salt_of,
    secret_of,
)
from evenhand.records.record import assignment_from, assignment_record
from evenhand.records.replay import HIDDEN, Trail, audit_chain

KEY = "7" * 64
NAMES = [f"Person {n}" for n in range(12)]


def test_codes_follow_from_key_and_names_and_nothing_else() -> None:
    codes = codes_of(KEY, NAMES)
    assert sorted(codes.values()) == [f"R{n:02}" for n in range(1, 13)]
    assert codes_of(KEY, reversed(NAMES)) == codes
    shouted = codes_of(KEY, [f" {name.upper()}" for name in NAMES])
    assert list(shouted.values()) == list(codes.values())
    assert list(map(plain_name, shouted)) == list(map(plain_name, codes))
    more = codes_of(KEY, [*NAMES, "Dummy 1", "Dummy 2"])
    assert [name for name in more if name in codes] == list(codes)


def test_every_order_of_people_is_equally_likely() -> None:
    """6,000 fixed keys; the p-value is below 1e-6 for one set of keys in 10**6."""
    keys = [secret_of(f"{n:064x}") for n in range(6000)]
    seen = Counter(tuple(codes_of(key, ["Anna", "Bo", "Cy"])) for key in keys)
    assert set(seen) == set(permutations(["Anna", "Bo", "Cy"]))
    assert chisquare(list(seen.values())).pvalue > 1e-6


def test_no_hash_follows_from_what_is_published() -> None:
    people = [("R01", "Anna", ["t1"])]
    kept = people_hashes(KEY, people)
    public = (secret_of(KEY), draw_secret(KEY, has_conflicts=True))
    assert KEY not in public
    assert all(people_hashes(it, people) != kept for it in public)
    assert salt_of(KEY, "Anna") not in str(kept)
    for other in (("R02", "Anna", ["t1"]), ("R01", "Bo", ["t1"]), ("R01", "Anna", [])):
        assert set(people_hashes(KEY, [other]).values()) != set(kept.values())


def test_a_record_that_hides_conflicts_is_replayed_by_who_knows_them() -> None:
    conflicts = [("R1", "a"), ("R2", "b")]
    items, people = ["a", "b", "c", "d"], ["R1", "R2", "R3", "R4"]
    drawn = assign(
        items,
        people,
        design="balanced",
        per_reviewer=2,
        conflicts=conflicts,
        secret=KEY,
    )
    drawn = replace(drawn, conflicts_hidden=True)
    after = drawn.amend(["R1"], add=["R9"], leave_open=True, secret=KEY)
    records = [assignment_record(drawn), assignment_record(after)]
    assert [record["conflicts"] for record in records] == [[], []]
    chain = list(zip(("first", "second"), records, strict=True))
    blind, knowing = Trail(chain=chain), Trail(chain=chain, secret=KEY)
    knowing.conflicts = conflicts
    audit_chain(blind, "record")
    audit_chain(knowing, "record")
    assert HIDDEN in [check.says for check in blind.checks]
    assert "The seed draws this assignment again." in [it.says for it in knowing.checks]
    assert {check.status for check in knowing.checks} <= {"same", "unchecked"}
    public = assignment_from(records[0], "first")
    assert public.has_conflicts
    with pytest.raises(OptionError, match="conflicts must be known to draw it again"):
        redraw(public, KEY)
    known = assignment_from(records[0], "first", None, conflicts)
    assert verify(known, KEY, drawn.seal).fits_seal

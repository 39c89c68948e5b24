"""Who is which code: bound before anybody rates, and told to nobody but the person.

With each draft a key is drawn. The sealed secret is a hash of the key, so the seal
covers both, and the secret can be published without it. From the key follow the code of
each person and a salt for each. The lists hold, for each code, the hash of the salt,
the name and the items that the person must not get: nobody can guess it without the
salt, and whoever has the salt sees whether it is theirs.
"""

from __future__ import annotations

import hmac
import unicodedata
from typing import TYPE_CHECKING

from evenhand.records.canonical import canonical, text_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.records.canonical import Record

    Person = tuple[str, str, Sequence[str]]

NAMES = "evenhand.names/1"
RECEIPT = "evenhand.receipts/1"
SECRET_PREFIX, DRAW_PREFIX = "evenhand.secret/1:", "evenhand.draw/1:"
CODE_PREFIX, SALT_PREFIX = "evenhand.code/1:", "evenhand.salt/1:"
PERSON_PREFIX = "evenhand.person/1:"


def secret_of(key: str) -> str:
    """Return the secret that is sealed for a key; it does not tell the key.

    Examples:
        >>> secret_of("0" * 64)[:8]
        '7b01c8c1'
    """
    return text_hash(f"{SECRET_PREFIX}{key}")


def draw_secret(key: str, *, has_conflicts: bool) -> str:
    """Return what the draw is made with.

    Who knows the secret of a draw can try out which conflicts lead to it. So a draw
    with conflicts has a secret of its own, which is not published.

    Examples:
        >>> draw_secret("0" * 64, has_conflicts=False) == secret_of("0" * 64)
        True
    """
    return text_hash(f"{DRAW_PREFIX}{key}") if has_conflicts else secret_of(key)


def plain_name(name: str) -> str:
    """Return a name without what nobody notices: capitals, spaces, ways to encode.

    Examples:
        >>> plain_name(" Lena  Ångström") == plain_name("lena A\u030angstro\u0308m")
        True
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def _keyed_hash(key: str, prefix: str, name: str) -> str:
    text = f"{prefix}{plain_name(name)}"
    return hmac.digest(bytes.fromhex(key), text.encode(), "sha256").hex()


def codes_of(key: str, names: Iterable[str]) -> dict[str, str]:
    """Return the code of each person: who comes first, follows from key and name alone.

    So to add or to leave out others does not change who is before whom.

    Args:
        key: The key, 64 hexadecimal digits.
        names: The names, no two with the same `plain_name`.

    Examples:
        >>> codes_of("0" * 64, ["Anna", "Bo", "Cy"])
        {'Cy': 'R01', 'Bo': 'R02', 'Anna': 'R03'}
    """
    order = sorted(names, key=lambda name: _keyed_hash(key, CODE_PREFIX, name))
    width = max(2, len(str(len(order))))
    return {name: f"R{place:0{width}}" for place, name in enumerate(order, start=1)}


def salt_of(key: str, name: str) -> str:
    """Return the salt of a person, which they alone are given.

    Examples:
        >>> salt_of("0" * 64, "Anna") == salt_of("0" * 64, "anna ")
        True
    """
    return _keyed_hash(key, SALT_PREFIX, name)


def person_hash(salt: str, code: str, name: str, conflicts: Iterable[str]) -> str:
    """Return what the lists hold of a person.

    Examples:
        >>> person_hash("00", "R01", "Anna", ["t1"])[:8]
        'ef98602e'
    """
    body = canonical([code, plain_name(name), sorted(conflicts)])
    return text_hash(f"{PERSON_PREFIX}{salt}:{body}")


def people_hashes(key: str, people: Iterable[Person]) -> dict[str, str]:
    """Return what the lists hold of everybody, by code.

    Args:
        key: The key.
        people: Code, name and conflicts of each.
    """
    return {
        code: person_hash(salt_of(key, name), code, name, conflicts)
        for code, name, conflicts in people
    }


def conflicts_of(people: Iterable[Person]) -> tuple[tuple[str, str], ...]:
    """Return code and item of each conflict, sorted.

    Examples:
        >>> conflicts_of([("R01", "Anna", ["t2", "t1"])])
        (('R01', 't1'), ('R01', 't2'))
    """
    return tuple(sorted((code, item) for code, _, own in people for item in own))


def names_record(key: str, people: Sequence[Person]) -> Record:
    """Return all that shows who is which code; it is for those who may know it."""
    rows = [[code, name, sorted(own)] for code, name, own in people]
    return {"schema": NAMES, "key": key, "people": rows}


def by_code(pairs: Iterable[Sequence[str]]) -> Mapping[str, list[str]]:
    """Return the items of each code.

    Examples:
        >>> by_code([("R01", "t1"), ("R01", "t2")])
        {'R01': ['t1', 't2']}
    """
    items: dict[str, list[str]] = {}
    for code, item in pairs:
        items.setdefault(code, []).append(item)
    return items

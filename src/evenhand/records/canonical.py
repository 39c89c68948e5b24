"""One canonical form of plain values, hashes of each, and where two of them differ."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeGuard

from evenhand.errors import EvenhandError, RatingsError, RecordError
from evenhand.formats.documents import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.claims import Json

    Record = dict[str, Any]

SHORT = 8
TOLERANCE = 1e-9
MALFORMED = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One place where two things that should be the same are not.

    Attributes:
        field: Path of the value, such as "result.votes[0]".
        expected: What should be there.
        actual: What is there.
    """

    field: str
    expected: Json
    found: Json

    def __str__(self) -> str:
        pair = f"expected {brief(self.expected)}, found {brief(self.found)}"
        return f"{self.field}: {pair}"


class Absent(str):
    """Stands for a value that is not there."""

    __slots__ = ()


ABSENT = Absent("nothing")


def canonical(value: Json) -> str:
    """Return the one canonical text of plain values.

    Examples:
        >>> canonical({"b": [1, 0.1], "a": None})
        '{"a":null,"b":[1,0.1]}'
    """
    form: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}
    return json.dumps(value, sort_keys=True, allow_nan=False, **form)


def finish(content: Mapping[str, Json]) -> Record:
    """Add the hashes to the content of a record.

    Examples:
        >>> record = finish({"schema": "evenhand.seal/1", "seal": "0" * 64})
        >>> record["hashes"]["seal"]
        '1aa8e844'
    """
    record: Record = {**content, "hashes": _hashes(dict(content))}
    return {**record, "sha256": text_hash(canonical(record))}


def fault(record: Record) -> Mismatch | None:
    """Return where a record does not fit its own hashes, or None.

    Examples:
        >>> record = finish({"schema": "evenhand.seal/1", "seal": "0" * 64})
        >>> print(fault({**record, "seal": "1" * 64}).field)
        seal
    """
    content = contents(record)
    right, stated = finish(content), record.get("hashes", ABSENT)
    where = difference(stated, content, same=_fits)
    if where is None:
        return difference(right["sha256"], record.get("sha256", ABSENT), "sha256")
    if not where.field or record.get("sha256") == right["sha256"]:
        # The content fits the hash of the whole, so it is the short hash that does not.
        return difference(right["hashes"], stated, "hashes")
    if where.expected is ABSENT:
        return where
    return replace(where, expected=f"a value with hash {where.expected}")


def contents(record: Record) -> Record:
    """Return a record without its hashes."""
    return {key: record[key] for key in record if key not in ("hashes", "sha256")}


def difference(
    expected: Json,
    actual: Json,
    path: str = "",
    *,
    same: Callable[[Json, Json], bool] | None = None,
) -> Mismatch | None:
    """Return the first place where two plain values differ, or None.

    Floats may differ by 1e-9, relative or absolute; all else is compared exactly.

    Args:
        expected: What should be there.
        actual: What is there.
        path: Where that is.
        same: What compares single values, if not that.

    Examples:
        >>> print(difference({"votes": [2, 1]}, {"votes": [2, 2]}))
        votes[1]: expected 1, found 2
        >>> difference(0.1 + 0.2, 0.3)
    """
    if is_dict(expected) and is_dict(actual):
        steps = [
            (expected.get(key, ABSENT), actual.get(key, ABSENT), f"{path}.{key}")
            for key in {**expected, **actual}
        ]
    elif is_list(expected) and is_list(actual):
        pairs = zip_longest(expected, actual, fillvalue=ABSENT)
        steps = [(*pair, f"{path}[{place}]") for place, pair in enumerate(pairs)]
    else:
        fits = (same or _same)(expected, actual)
        return None if fits else Mismatch(path.removeprefix("."), expected, actual)
    return next(filter(None, (difference(*step, same=same) for step in steps)), None)


@contextmanager
def require_form(name: str) -> Iterator[None]:
    """Refuse a record that fits its hashes, but lacks what ours have."""
    try:
        yield
    except EvenhandError:
        raise
    except MALFORMED:
        raise RecordError(
            f"{name}: The record cannot be checked: something in it is missing or is "
            "not of its kind."
        ) from None


def decode(data: bytes, name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Decode JSON, and refuse what has no canonical form."""
    try:
        value = parse_json(name, data.decode("utf-8"))
        canonical(value).encode()
    except RatingsError as error:
        raise RecordError(f"{error} It was cut off, or is not a record.") from None
    except ValueError:
        raise RecordError(
            f"{name}: This is not a record: it is not UTF-8, holds half a character, "
            "or a number that is too large."
        ) from None
    return value


def text_hash(text: str | bytes) -> str:
    """Return the SHA-256 of a text or of bytes, in hexadecimal digits."""
    data = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()


def _hashes(value: Json) -> Json:
    if is_dict(value):
        return {key: _hashes(child) for key, child in value.items()}
    if is_list(value):
        return [_hashes(child) for child in value]
    return text_hash(canonical(value))[:SHORT]


def _fits(short: Json, value: Json) -> bool:
    return value is not ABSENT and short == _hashes(value)


def _same(expected: Json, actual: Json) -> bool:
    if {type(expected), type(actual)} in ({float}, {int, float}):
        first, second = float(str(expected)), float(str(actual))
        return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(expected) is type(actual) and expected == actual


def brief(value: Json) -> str:
    """Show a value in a message."""
    if isinstance(value, Absent):
        return value
    text = canonical(value)
    return text if len(text) <= 80 else text[:77] + "..."


def is_dict(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Say whether a value is a JSON object."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Say whether a value is a JSON array."""
    return isinstance(value, Sequence) and not isinstance(value, str)

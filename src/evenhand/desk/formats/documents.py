"""JSON documents: parsed with care, and laid out as columns."""

from __future__ import annotations

import json
from typing import NoReturn

from evenhand._labels import Source, shown
from evenhand.errors import RatingsError

SCALARS = (str, int, float, bool)
EXAMPLE = 'Write a list such as [{"reviewer": "Anna", "item": "x", "score": 3}, ...].'


def parsed(name: str, data: bytes) -> object:
    """Parse a JSON document.

    Raises:
        RatingsError: If it is not one, or says a key twice; the line is named.

    Examples:
        >>> parsed("r.json", b'{"a": [1]}')
        {'a': [1]}
    """
    try:
        return json.loads(
            data.decode(), object_pairs_hook=one_object, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise RatingsError(
            f"{name}:{error.lineno}: The file must be JSON, but here it is not: "
            f"{error.msg}."
        ) from None
    except RecursionError:
        raise RatingsError(f"{name}: The file is nested too deeply.") from None
    except ValueError as error:
        # Python's own words for this advise its programmer.
        long = "set_int_max_str_digits" in str(error)
        reason = "a number has too many digits" if long else error
        raise RatingsError(
            f"{name}: The file cannot be read as JSON: {reason}."
        ) from None


def holds_objects(value: object) -> bool:
    """Return whether a value is a list of objects, by its first entry.

    Examples:
        >>> holds_objects([{}]), holds_objects(["x"]), holds_objects([])
        (True, False, False)
    """
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def entries(document: object, source: Source) -> list[dict[str, object]]:
    """Return the objects of a document's list.

    The list may be the document itself, or the only list of objects in it, as under
    "notes" or "reviews".

    Raises:
        RatingsError: If an entry of the list is not an object.

    Examples:
        >>> entries({"count": 1, "notes": [{"id": "x"}]}, Source())
        [{'id': 'x'}]
    """
    if isinstance(document, dict):
        lists = [value for value in document.values() if holds_objects(value)]
        document = lists[0] if len(lists) == 1 else [document]
    if not isinstance(document, list):
        return []
    for place, entry in enumerate(document):
        if not isinstance(entry, dict):
            error = source.at(
                place,
                f"entry must be a JSON object with named values, got {shown(entry)}",
            )
            raise RatingsError(f"{error} {EXAMPLE}")
    return document


def flattened(document: object, source: Source) -> dict[str, list[object]]:
    """Lay out a document as columns, a row for each entry.

    A key inside an object is named with a dot, such as "content.rating"; a list of one
    plain value is that value. Longer lists and lists of objects are left out.

    Examples:
        >>> flattened([{"a": 1, "b": {"c": ["x"]}}, {"a": 2}], Source())
        {'a': [1, 2], 'b.c': ['x', None]}
    """
    rows = [_flat(entry) for entry in entries(document, source)]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names if name}


def _flat(entry: dict[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    waiting = [("", entry)]
    while waiting:
        prefix, inner = waiting.pop(0)
        for key, value in inner.items():
            name = f"{prefix}{key.strip()}"
            if isinstance(value, dict):
                waiting.append((f"{name}.", value))
            elif value is None or isinstance(value, SCALARS):
                found.setdefault(name, value)
            elif (
                isinstance(value, list)
                and len(value) == 1
                and isinstance(value[0], SCALARS)
            ):
                found.setdefault(name, value[0])
    return found


def one_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON.

    Raises:
        ValueError: If a key stands twice.

    Examples:
        >>> one_object([("a", 1), ("b", 2)])
        {'a': 1, 'b': 2}
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(twice)} stands twice in one object")
    return found


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number that JSON has")

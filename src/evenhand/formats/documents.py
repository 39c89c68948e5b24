"""From JSON to the rows of a table."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, NoReturn

from evenhand.columns import first_repeat
from evenhand.errors import RatingsError, quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.claims import Json
    from evenhand.columns import Source

MOST_KEYS = 1000
LISTS = ("notes", "reviews")
PAGES = ("notes", "results")
"""What an answer of an API calls its records."""
SCALARS = (str, int, float, bool)
EXAMPLE = 'Write a list such as [{"reviewer": "Anna", "item": "x", "score": 3}, ...].'


def parse_json(
    name: str, text: str, line: int = 0, number: Callable[[str], Json] = float
) -> Json:
    """Parse a JSON document, or one line of a file.

    Args:
        name: What messages call the file.
        text: The document.
        line: Number of the line, 0 for a whole document.
        number: What turns the digits of a number into a value.

    Raises:
        RatingsError: If it is not one, or says a key twice; the line is named.

    Examples:
        >>> parse_json("r.json", '{"a": [1]}')
        {'a': [1]}
    """
    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=_one_object,
            parse_constant=_constant,
            parse_float=number,
        )
    except (RecursionError, ValueError) as error:
        line = line or getattr(error, "lineno", 0)
        place = f"{name}:{line}" if line else name
        # Python ends some of its sentences with an advice to programmers.
        reason = getattr(error, "msg", str(error)).partition(";")[0]
        text = f"{place}: The file cannot be read as JSON: {reason}."
        raise RatingsError(text) from None
    return value


def _one_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    twice = first_repeat(key.strip() for key, _ in pairs)
    if twice:
        raise ValueError(f"the key {quote(twice)} stands twice in one object")
    for key, _ in pairs:
        if key.encode("utf-8", "replace") != key.encode("utf-8", "surrogatepass"):
            raise ValueError(f"the key {key!a} holds half of a surrogate pair")
    return dict(pairs)


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number that JSON has")


def finite_or_text(text: str) -> float | str:
    """Return a number; one beyond all floats as text, which is refused as it stands."""
    number = float(text)
    return number if math.isfinite(number) else text


def entries(document: object, source: Source) -> list[dict[str, object]]:
    """Return the objects of a document's list.

    The list may be the document itself, or that under "notes" or "reviews", or the only
    list of objects in it.

    Raises:
        RatingsError: If an entry of the list is not an object.

    Examples:
        >>> from evenhand.columns import Source
        >>> entries({"count": 1, "notes": [{"id": "x"}]}, Source())
        [{'id': 'x'}]
    """
    if isinstance(document, dict):
        lists = {
            key: value
            for key, value in document.items()
            if isinstance(value, list) and value and isinstance(value[0], dict)
        }
        usual = [lists[key] for key in LISTS if key in lists][:1]
        candidates = usual or [*lists.values()]
        document = candidates[0] if len(candidates) == 1 else [document]
    if not isinstance(document, list):
        return []
    for place, entry in enumerate(document):
        if not isinstance(entry, dict):
            rule = "entry must be a JSON object with named values"
            raise source.at(place, f"{rule}, got {quote(entry)}", EXAMPLE)
    return document


def top_records(document: object) -> list[dict[str, object]]:
    """Return the records of a document: those of its list, of a page of an API, or it.

    Examples:
        >>> top_records({"count": 1, "results": [{"id": "x"}]})
        [{'id': 'x'}]
    """
    if isinstance(document, dict):
        pages = (document.get(key) for key in PAGES)
        document = next((page for page in pages if isinstance(page, list)), [document])
    several = document if isinstance(document, list) else []
    return [record for record in several if isinstance(record, dict)]


def flatten(document: object, source: Source) -> dict[str, list[object]]:
    """Lay out a document as columns, a row for each entry.

    A key inside an object is named with a dot, such as "content.rating"; a list of one
    plain value is that value. Longer lists and lists of objects are left out.

    Examples:
        >>> from evenhand.columns import Source
        >>> flatten([{"a": 1, "b": {"c": ["x"]}}, {"a": 2}], Source())
        {'a': [1, 2], 'b.c': ['x', None]}
    """
    rows = [flat_fields(entry) for entry in entries(document, source)]
    names: dict[str, None] = {}
    for row, entry in enumerate(rows):
        names.update(dict.fromkeys(filter(None, entry)))
        if len(names) > MOST_KEYS:
            text = f"rows must share their keys, got more than {MOST_KEYS} different"
            raise source.at(row, f"{text} ones")
    return {name: [row.get(name) for row in rows] for name in names}


def flat_fields(entry: dict[str, object]) -> dict[str, object]:
    """Return the plain values of a record, those in objects inside it by dotted names.

    Examples:
        >>> flat_fields({"a": 1, "b": {"c": ["x"]}, "d": [1, 2]})
        {'a': 1, 'b.c': 'x'}
    """
    fields: dict[str, object] = {}
    waiting = [("", entry)]
    while waiting:
        prefix, inner = waiting.pop(0)
        for key, value in inner.items():
            name = f"{prefix}{key.strip()}"
            single = value[0] if isinstance(value, list) and len(value) == 1 else value
            if isinstance(value, dict):
                waiting.append((f"{name}.", value))
            elif value is None or isinstance(single, SCALARS):
                fields.setdefault(name, single)
    return fields

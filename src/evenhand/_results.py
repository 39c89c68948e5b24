"""What all results share: notices and the closing fields of their JSON."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Label = str | int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the reader of a result must know.

    Attributes:
        code: A stable word for programs, such as "missing_scores".
        message: One sentence for people.
    """

    code: str
    message: str

    def to_dict(self) -> dict[str, str]:
        """Return the two fields."""
        return {"code": self.code, "message": self.message}


@functools.cache
def version() -> str:
    """Return the installed version, as pyproject.toml states it."""
    return metadata.version("evenhand")


def tail(
    *,
    method: str,
    parameters: Mapping[str, Json],
    seed: int,
    data: Mapping[str, Json],
    notices: Sequence[Notice],
    certificate: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """Return the fields that close every result's JSON, in their order."""
    return {
        "method": method,
        "parameters": dict(parameters),
        "seed": seed,
        "certificate": certificate,
        "data": dict(data),
        "warnings": [notice.to_dict() for notice in notices],
        "version": version(),
    }

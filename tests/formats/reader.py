"""What tests of formats share: a text as a file, which is read or refused."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from evenhand.errors import EvenhandError, RatingsError
from evenhand.formats.decoder import decode
from evenhand.formats.reading import read_ratings

if TYPE_CHECKING:
    from evenhand.formats.files import File
    from evenhand.ratings import Ratings


def stream(content: str | bytes, name: str = "second.csv") -> io.BytesIO:
    """Open a text as a file of this name."""
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    file.name = name
    return file


def decoded_here(file: File, sheet: str, fault: str) -> tuple[Any, Any]:
    """Decode a whole file in this process, which is quicker: for tables._decode."""
    del fault
    answer, frame = decode(file.format, sheet, file.data)
    return answer, pl.DataFrame() if frame is None else frame


class Reader:
    """Reads texts as files of one name, unless another is given."""

    def __init__(
        self, name: str, error: type[EvenhandError] = RatingsError, second: str = ""
    ) -> None:
        self.name, self.error, self.second = name, error, second

    def read(self, content: str | bytes, name: str = "", **options: Any) -> Ratings:  # noqa: ANN401 - options
        """Read a text; `second` is that of its companion."""
        if (text := options.pop("second", None)) is not None:
            options["companion"] = stream(text, self.second)
        return read_ratings(stream(content, name or self.name), **options)

    def refused(self, content: str | bytes, name: str = "", **options: Any) -> str:  # noqa: ANN401 - options
        """Return the sentence that a text is refused with."""
        with pytest.raises(self.error) as caught:
            self.read(content, name, **options)
        return str(caught.value)


def notices(ratings: Ratings) -> dict[str, str]:
    """Return what is told beside ratings, by its code."""
    return {notice.code: notice.message for notice in ratings.notices}


def scores(ratings: Ratings) -> dict[tuple[Any, Any], float]:
    """Return the score of each reviewer for each item."""
    names = ("reviewer", "item", ratings.to_frame().columns[2])
    rows = ratings.to_frame().select(names).rows()
    return {(who, what): score for who, what, score in rows}

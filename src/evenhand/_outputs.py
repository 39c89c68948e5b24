"""Several files at once: each is old or new at every moment, never half or missing.

All are first written beside their places, then each takes its place in one step. An
error or an interrupt leaves nothing beside.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import OptionError, must_be

if TYPE_CHECKING:
    from collections.abc import Sequence

PRIVATE, READABLE = 0o600, 0o644


@dataclass(frozen=True, slots=True)
class Output:
    r"""A file to be written.

    Attributes:
        path: Where to.
        content: What; text is written as UTF-8.
        private: For its owner's eyes only, and never over a file that is there.
        makes_folder: Whether its folder is made if it is missing.

    Examples:
        >>> Output("names.csv", "Zoë").data
        b'Zo\xc3\xab'
    """

    path: str
    content: str | bytes
    private: bool = False
    makes_folder: bool = False

    @property
    def data(self) -> bytes:
        """Return the bytes to write."""
        return self.content.encode() if isinstance(self.content, str) else self.content


def write_all(outputs: Sequence[Output]) -> None:
    """Write all files, or none if one of them cannot be written.

    Raises:
        OptionError: If one cannot be written, or a private one is there already.

    Examples:
        >>> write_all([Output("a.csv", "x"), Output("./a.csv", b"y")])
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: Outputs must go to different files, got 'a.csv' and
        './a.csv'.
    """
    places = _places(outputs).items()
    output = None
    try:
        for path, output in places:
            if _is_device(path):  # cannot be replaced, and may wait for its reader
                path.write_bytes(output.data)
        files = [place for place in places if not _is_device(place[0])]
        with contextlib.ExitStack() as beside:
            written = []
            for path, output in files:
                new = path.with_name(f".evenhand-{secrets.token_hex(8)}")
                beside.callback(new.unlink, missing_ok=True)
                _write_beside(new, path, output)
                written.append(new)
            for new, (path, output) in zip(written, files, strict=True):  # noqa: B007 - named if it fails
                new.replace(path)
    except OSError as error:
        raise OptionError(
            "output must be a path that can be written, got "
            f"{output.path if output else ''!r}: {error.strerror}."
        ) from None


def _places(outputs: Sequence[Output]) -> dict[Path, Output]:
    """Return where each is written; a link stays one, and what it leads to is written.

    Raises:
        OptionError: If two go to one place, or a path is none.
    """
    places: dict[Path, Output] = {}
    for output in outputs:
        if "\0" in output.path:
            raise must_be("output", "the path of a file", output.path)
        earlier = places.setdefault(Path(output.path).resolve(), output)
        if earlier is not output:
            paths = f"{earlier.path!r} and {output.path!r}"
            raise OptionError(f"Outputs must go to different files, got {paths}.")
    return places


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _write_beside(new: Path, path: Path, output: Output) -> None:
    if output.makes_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(0, "this is a folder")
    if output.private and path.exists():
        raise FileExistsError(0, "it is there already")
    mode = path.stat().st_mode & 0o777 if path.exists() else READABLE
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with os.fdopen(handle, "wb") as file:
        file.write(output.data)
        file.flush()
        os.fsync(file.fileno())
    new.chmod(PRIVATE if output.private else mode)

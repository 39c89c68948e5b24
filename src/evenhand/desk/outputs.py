"""Several files at once: all are written, or none is."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    """Write all files or none.

    Raises:
        OptionError: If one cannot be written, or a private one is there already.

    Examples:
        >>> write_all([Output("a.csv", "x"), Output("./a.csv", b"y")])
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: Outputs must go to different files, got 'a.csv' and
        './a.csv'.
    """
    _check_different(outputs)
    # A link stays one, and what it leads to is written.
    paths = [Path(output.path).resolve() for output in outputs]
    done: list[tuple[Path, Path | None]] = []
    try:
        for path, output in zip(paths, outputs, strict=True):
            _write(path, output, done)
    except OSError as error:
        for path, before in reversed(done):
            path.unlink() if before is None else before.replace(path)
        there = isinstance(error, FileExistsError)
        reason = "it is there already" if there else error.strerror
        raise OptionError(
            f"output must be a path that can be written, got {output.path!r}: {reason}."
        ) from None
    for _, before in done:
        if before is not None:
            before.unlink()


def _check_different(outputs: Sequence[Output]) -> None:
    seen: dict[Path, str] = {}
    for output in outputs:
        if "\0" in output.path:
            raise OptionError(
                f"output must be the path of a file, got {output.path!r}."
            )
        place = Path(output.path).resolve()
        if place in seen:
            raise OptionError(
                f"Outputs must go to different files, got {seen[place]!r} and "
                f"{output.path!r}."
            )
        seen[place] = output.path


def _write(path: Path, output: Output, done: list[tuple[Path, Path | None]]) -> None:
    data = output.data
    if output.makes_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    if output.private:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        done.append((path, None))
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        return
    if path.is_dir():
        raise IsADirectoryError(0, "this is a folder")
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a device or a named pipe cannot be replaced
        return
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".evenhand-")
    before = None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(mode)
        if path.exists():
            before = Path(f"{name}.before")
            path.replace(before)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        if before is not None and before.exists():
            before.replace(path)
        raise
    done.append((path, before))

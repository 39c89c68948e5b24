"""Files are written all or none, whatever they hold."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from evenhand.desk.outputs import Output, write_all
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from pathlib import Path


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    text, binary = tmp_path / "a.csv", tmp_path / "b.bin"
    write_all([Output(str(text), "Zoë\r\n"), Output(str(binary), b"\x00\xff\n")])
    assert text.read_bytes() == "Zoë\r\n".encode()
    assert binary.read_bytes() == b"\x00\xff\n"


def test_a_failure_at_the_last_file_leaves_everything_as_it_was(tmp_path: Path) -> None:
    before, new = tmp_path / "before.csv", tmp_path / "new.csv"
    before.write_text("old")
    outputs = [
        Output(str(before), b"changed"),
        Output(str(new), "new"),
        Output(str(tmp_path / "no-such-folder" / "x.csv"), b"x"),
    ]
    with pytest.raises(OptionError, match=r"can be written, got .*x\.csv"):
        write_all(outputs)
    assert [path.name for path in tmp_path.iterdir()] == ["before.csv"]
    assert before.read_text() == "old"


def test_a_private_file_is_its_owners_alone_and_never_replaces(tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    write_all([Output(str(key), b"first", private=True)])
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    other = tmp_path / "other.csv"
    with pytest.raises(OptionError, match="it is there already"):
        write_all([Output(str(other), "x"), Output(str(key), "y", private=True)])
    assert key.read_bytes() == b"first"
    assert not other.exists()


def test_one_file_under_two_names_is_refused(tmp_path: Path) -> None:
    first = tmp_path / "a.csv"
    second = tmp_path / "sub" / ".." / "a.csv"
    (tmp_path / "sub").mkdir()
    with pytest.raises(OptionError, match="different files"):
        write_all([Output(str(first), "x"), Output(str(second), "y")])
    assert not first.exists()


def test_a_path_with_a_nul_is_a_sentence() -> None:
    with pytest.raises(OptionError, match=r"path of a file, got 'a\\x00b'"):
        write_all([Output("a\0b", "x")])

"""Files are old or new at every moment, and written all or none."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from evenhand._outputs import Output, write_all
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from pathlib import Path

SET = ("record.json", "result.txt", "export.csv", "key.csv")
# Says "ready" at the n-th step of writing, and then waits to be killed.
KILLED = """
import os, sys, time
from evenhand._outputs import Output, write_all
step, folder = int(sys.argv[1]), sys.argv[2]
def slowly(function):
    def call(*given, **options):
        global step
        step -= 1
        if step == 0:
            print("ready", flush=True)
            time.sleep(60)
        return function(*given, **options)
    return call
os.open, os.fsync = slowly(os.open), slowly(os.fsync)
os.replace = os.rename = slowly(os.replace)
names = ("record.json", "result.txt", "export.csv")
files = [Output(f"{folder}/{name}", "new" * 1000) for name in names]
files.append(Output(f"{folder}/key.csv", "new" * 1000, private=True))
write_all(files)
"""


class Stop(BaseException):
    """What nobody catches, as an interrupt."""


def there_before(folder: Path) -> dict[str, str]:
    for name in SET[:3]:
        (folder / name).write_text("old")
    return dict.fromkeys(SET[:3], "old")


def found_in(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def wanted(folder: Path) -> list[Output]:
    files = [Output(str(folder / name), "new") for name in SET[:3]]
    return [*files, Output(str(folder / SET[3]), "new", private=True)]


def check_old_or_new(found: dict[str, str], new: str = "new") -> None:
    """No file is missing or half, and a key is there whole or not at all."""
    assert set(SET[:3]) <= set(found)
    assert all(found[name] in ("old", new) for name in SET[:3])
    assert found.get(SET[3], new) == new


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


@pytest.mark.parametrize("failure", [Stop, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("function", ["open", "fsync", "replace", "chmod"])
def test_every_file_is_old_or_new_wherever_writing_stops(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    failure: type[BaseException],
) -> None:
    calls, stops = 0, 0
    real = getattr(os, function)

    def fails(*given: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == stops:
            raise failure(5, "Input/output error")
        return real(*given, **options)

    monkeypatch.setattr(os, function, fails)
    for stops in range(1, 6):
        folder = tmp_path / f"{stops}"
        folder.mkdir()
        before = there_before(folder)
        calls = 0
        try:
            write_all(wanted(folder))
        except (Stop, KeyboardInterrupt, OptionError) as error:
            stopped: BaseException | None = error
        else:
            stopped = None
        found = found_in(folder)
        check_old_or_new(found)
        assert set(found) <= set(SET)
        whole = found == dict.fromkeys(SET, "new")
        assert whole or stopped is not None
        if stopped is not None and function in ("open", "fsync", "chmod"):
            assert found == before
    assert calls


@pytest.mark.parametrize("step", [4, 9, 11])
def test_a_killed_run_leaves_files_old_or_new(tmp_path: Path, step: int) -> None:
    there_before(tmp_path)
    program = [sys.executable, "-c", KILLED, str(step), str(tmp_path)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own program
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.kill()
    found = found_in(tmp_path)
    check_old_or_new(found, "new" * 1000)
    left = {name for name in found if name.startswith(".evenhand-")}
    assert set(found) - left <= set(SET)


def test_a_folder_is_refused_and_a_device_stays_one(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="folder"):
        write_all([Output(str(tmp_path), "1")])
    write_all([Output("/dev/null", "gone")])
    assert stat.S_ISCHR((tmp_path / os.devnull).stat().st_mode)

"""`evenhand read`: what was recognised, and what to type next."""

import json
from pathlib import Path

import pytest

import evenhand as eh
from tests.commands import refused, run

EXPORTS = Path(__file__).parents[2] / "examples" / "exports"


def test_a_file_is_shown_with_the_command_to_type_next() -> None:
    words = str(EXPORTS / "hotcrp-reviews.csv"), "--scale", "best=A", "--exclude", "1"
    result = run("read", *words)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Read as HotCRP, by columns 'paper', 'title', 'review")
    assert any(line.startswith("The first 5 of ") for line in lines)
    assert any(line.startswith("Note (excluded): ") for line in lines)
    assert lines[-1] == f"Next: evenhand rank {words[0]} --scale best=A --exclude 1"
    assert run(*lines[-1].split()[2:], "--seed", "1").exit_code == 0


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("judge,entry,mark\nbo,x,1\nbo,y,2\n", "compare"),
        ("judge,entry,mark\nbo,x,1\ncy,x,2\n", "check"),
        (
            "judge,entry,mark\n" + "".join(f"{n},{n % 3},1\n" for n in range(30)),
            "compare",
        ),
        ("judge,entry,mark\n" + "".join(f"{n},{n % 3},1\n" for n in range(29)), "rank"),
        ("winner,loser\nx,y\n", "rank"),
        ("judge,entry,mark\nbo,x,1\nbo,=1+1,2\nbo,z,1\n", "rank"),
        ("judge,entry,place\nbo,x,1\nbo,y,2\nbo,z,3\n", "rank"),
    ],
)
def test_what_is_saved_is_read_again(tmp_path: Path, text: str, command: str) -> None:
    file, clean = tmp_path / "r.csv", tmp_path / "clean.csv"
    file.write_text(text)
    result = run("read", str(file), "--save", str(clean), "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["schema"] == "evenhand.read/1"
    assert found["next"] == f"evenhand {command} {file}"
    assert eh.read_ratings(clean).sha256 == found["data"]["sha256"]
    assert b',"=' not in clean.read_bytes()


def test_several_files_are_read_as_one(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"judge,entry,mark\nbo,{name},1\n")
    names = [str(tmp_path / f"{name}.csv") for name in "ab"]
    result = run("read", *names)
    assert result.stdout.splitlines()[-1] == f"Next: evenhand compare {' '.join(names)}"
    record = str(tmp_path / "record")
    ranked = run("rank", *names, "--record", record, "--seed", "1")
    assert f"Check it with: evenhand audit {record} {' '.join(names)}" in ranked.stderr
    assert run("audit", record, *names).exit_code == 0
    assert "must not replace FILE" in refused("read", *names, "--save", names[1])
    assert "There is no such file" in refused("read", str(tmp_path / "*.tsv"))

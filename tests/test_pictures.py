"""The pictures of the pages: each is there, is shown, and has words for it."""

import re
import shlex
from pathlib import Path

import pytest

from docs.make_pictures import COMMANDS, HERE, SCREENS, SHOTS, case_shots, seed_of
from tests.test_docs import PAGES, sessions

IMAGE = re.compile(r"!\[([^]]*)\]\((pictures/[^)]+)\)")
MOST, HEAVIEST = 27, 200_000
SHOWN = [
    (page, words, path)
    for page in PAGES
    for words, path in IMAGE.findall(page.read_text(encoding="utf-8"))
]


def test_every_picture_is_shown_once_and_every_one_shown_is_there() -> None:
    there = {f"pictures/{path.name}" for path in HERE.iterdir()}
    shown = [path for _, _, path in SHOWN]
    assert sorted(shown) == sorted(there)
    assert len(there) <= MOST


def test_every_picture_is_made_by_the_script() -> None:
    made = {*case_shots(), *(f"{page}-report.png" for page in SHOTS)} | {
        f"{page}-{chart}.svg"
        for page, (_, charts) in COMMANDS.items()
        for chart in charts
    }
    made |= {f"web-{screen}.png" for screen in SCREENS}
    assert made == {path.name for path in HERE.iterdir()}


@pytest.mark.parametrize(
    ("page", "words", "path"), SHOWN, ids=[path for _, _, path in SHOWN]
)
def test_a_picture_says_in_words_what_is_to_be_seen(
    page: Path, words: str, path: str
) -> None:
    assert path.startswith(f"pictures/{page.stem}-")
    assert 25 < len(words) < 250
    assert words.endswith(".")


@pytest.mark.parametrize("path", sorted(HERE.iterdir()), ids=lambda path: path.name)
def test_a_picture_is_small_and_asks_for_nothing(path: Path) -> None:
    data = path.read_bytes()
    assert len(data) < HEAVIEST
    if path.suffix == ".png":
        assert data.startswith(b"\x89PNG")
        return
    text = data.decode()
    assert text.startswith("<svg")
    assert not re.search(r"<script|<image|href=", text)


@pytest.mark.parametrize("page", COMMANDS)
def test_a_picture_comes_from_a_command_that_its_page_shows(page: str) -> None:
    command, _ = COMMANDS[page]
    wanted = {*shlex.split(command), *seed_of(command), "--report"}
    path = HERE.parent / f"{page}.md"
    assert any(wanted <= set(shlex.split(shown)) for shown, _ in sessions(path))

"""The example files are what their generator writes."""

import pytest

from examples.generate import FILES, HERE


@pytest.mark.parametrize("name", FILES)
def test_example_files_are_generated(name: str) -> None:
    assert (HERE / name).read_text(encoding="utf-8") == FILES[name]()


def test_every_example_file_has_a_generator() -> None:
    files = {path.name for path in HERE.iterdir() if path.suffix == ".csv"}
    assert files == set(FILES)

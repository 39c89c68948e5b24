"""The example files are what their generators write."""

import pytest

from examples import exports_conference, exports_teaching
from examples.generate import FILES, HERE, SCRIPTS


@pytest.mark.parametrize("name", FILES)
def test_example_files_are_generated(name: str) -> None:
    assert (HERE / name).read_text(encoding="utf-8") == FILES[name]()


def test_every_example_file_has_a_generator() -> None:
    files = {path.name for path in HERE.iterdir() if path.suffix == ".csv"}
    assert files == set(FILES)


# What is in them is compared where the platforms' readers are tested.
def test_every_sample_of_an_export_has_one_generator() -> None:
    made = [*exports_conference.FILES, *exports_teaching.FILES]
    assert sorted(path.name for path in (HERE / "exports").iterdir()) == sorted(made)


def test_one_script_runs_all_others() -> None:
    assert {path.name for path in HERE.glob("*.py")} == {"generate.py", *SCRIPTS}


def test_both_files_of_judges_hold_the_same_scores() -> None:
    rows = [line.split(",") for line in FILES["judges.csv"]().splitlines()[1:]]
    long = FILES["judges-long.csv"]().splitlines()[1:]
    assert long == [
        f"{judge} on {prompt},{rest}"
        for judge, prompt, *end in rows
        for rest in [",".join(end)]
    ]

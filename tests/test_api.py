"""The public names are a contract."""

import inspect
import subprocess
import sys

import pytest

import evenhand

PUBLIC = {
    "Assignment",
    "Certificate",
    "Check",
    "Comparison",
    "ContradictionError",
    "ConvergenceError",
    "Counts",
    "DesignError",
    "EvenhandError",
    "Grades",
    "Method",
    "Monitor",
    "OptionError",
    "Ranking",
    "Ratings",
    "RatingsError",
    "RecordError",
    "Scenario",
    "Selection",
    "Simulation",
    "Warp",
    "assign",
    "check",
    "compare",
    "count_check",
    "count_pairs",
    "count_ratings",
    "designs",
    "grade",
    "lab",
    "losses",
    "methods",
    "posets",
    "rank",
    "read_counts",
    "read_ratings",
    "select",
    "simulate",
    "warp",
    "weights",
    "ab",
    "ranking",
}
DEVELOPMENT = ("pytest", "hypothesis", "pandas", "pyarrow", "mypy", "ruff")


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )


def test_public_names_are_these() -> None:
    assert set(evenhand.__all__) == PUBLIC
    assert len(PUBLIC) <= 42


def test_every_public_name_can_be_reached_and_no_other() -> None:
    for name in evenhand.__all__:
        assert getattr(evenhand, name) is not None
    assert not hasattr(evenhand, "no_such_name")
    assert dir(evenhand) == sorted(PUBLIC)


def test_importing_evenhand_loads_nothing_heavy() -> None:
    heavy = ["numpy", "scipy", "polars", "click", "rich"]
    code = f"import sys, evenhand; print([m for m in {heavy} if m in sys.modules])"
    assert run(code).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "loaded"),
    [((["--help"], ["rank", "--help"]), []), ((["methods"],), ["numpy"])],
    ids=["help", "methods"],
)
def test_help_and_methods_load_little(
    words: tuple[list[str], ...], loaded: list[str]
) -> None:
    heavy = ["numpy", "scipy", "polars"]
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from evenhand.cli import cli\n"
        f"for words in {words}:\n"
        "    assert CliRunner().invoke(cli, words).exit_code == 0\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    assert run(code).stdout.strip() == str(loaded)


def test_nothing_needs_the_development_packages() -> None:
    code = (
        "import sys, pkgutil, importlib\n"
        f"for name in {DEVELOPMENT!r}: sys.modules[name] = None\n"
        "import evenhand\n"
        "for module in pkgutil.walk_packages(evenhand.__path__, 'evenhand.'):\n"
        "    importlib.import_module(module.name)\n"
        "print('clean')"
    )
    result = run(code)
    assert result.stdout.strip() == "clean", result.stderr


def test_every_public_function_has_an_example() -> None:
    modules = [evenhand.weights, evenhand.losses, evenhand.designs]
    rooms = [evenhand, evenhand.posets, evenhand.lab]
    functions = [
        value
        for room in (*modules, *rooms)
        for name, value in (
            [(name, getattr(room, name)) for name in room.__all__]
            if room in rooms
            else vars(room).items()
        )
        if inspect.isfunction(value) and not name.startswith("_")
    ]
    own = [value for value in functions if value.__module__.startswith("evenhand")]
    public = [value for value in own if "._" not in value.__module__]
    assert len(public) > 40
    lacking = [
        value.__qualname__ for value in public if ">>>" not in (value.__doc__ or "")
    ]
    assert lacking == []

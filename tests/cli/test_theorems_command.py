import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from evenhand.ab.weights import GapWeight
from evenhand.arrays import Floats
from evenhand.lab import claims_paper, theorems
from evenhand.lab.theorems import ClaimRow, Trial, all_claims
from tests import commands
from tests.commands import FIELDS

Check = Callable[[Trial], ClaimRow]
LONG = Fraction(1, 3) ** 400
CLAIMS = all_claims()


def claim(name: str, margin: Fraction, *, holds: bool) -> ClaimRow:
    return ClaimRow(
        name, f"Checked {name} [on] scales.", "by hand", margin, holds=holds
    )


def broken(_: Trial) -> ClaimRow:
    return claim("Theorem 9", Fraction(-1, 7), holds=False)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> dict[str, Check]:
    """Keep the claims that take no time, and one with a very long margin."""
    kept: dict[str, Check] = {
        "Theorem 1": CLAIMS["Theorem 1"],
        "Can fail: sign": CLAIMS["Can fail: sign"],
        "Theorem 0": lambda _: claim("Theorem 0", LONG, holds=True),
    }
    monkeypatch.setattr(theorems, "all_claims", lambda: kept)
    return kept


def run(*words: str) -> Result:
    # Other processes do not see the claims that tests put in place.
    return commands.run("theorems", *words, "--workers", "1")


@pytest.mark.usefixtures("few")
def test_a_table_shows_every_claim_with_a_tick_and_its_margin() -> None:
    result = run("--quick", "--seed", "7")
    assert result.exit_code == 0
    assert result.stdout.count("✓") == 3
    assert "✗" not in result.stdout
    assert "Checked Theorem 0 [on] scales." in " ".join(result.stdout.split())
    assert f"{float(LONG):.3g}" in result.stdout
    assert "All 3 claims hold." in result.stdout
    assert result.stderr == "seed 7\n"


@pytest.mark.usefixtures("few")
def test_json_has_the_documented_fields() -> None:
    result = run("--quick", "--json", "--seed", "7")
    document = json.loads(result.stdout)
    assert list(document) == FIELDS["theorems"]
    assert document["schema"] == "evenhand.theorems/1"
    assert document["quick"] is True
    assert [row["name"] for row in document["rows"]] == [
        "Theorem 1",
        "Can fail: sign",
        "Theorem 0",
    ]
    assert list(document["rows"][0]) == FIELDS["theorems.rows"]
    assert document["rows"][2]["margin_exact"] is False


def test_a_violated_claim_ends_in_exit_code_1_and_a_cross(
    few: dict[str, Check],
) -> None:
    few["Theorem 9"] = broken
    result = run("--quick", "--seed", "7")
    assert result.exit_code == 1
    assert result.stdout.count("✗") == 1
    assert "-0.143" in result.stdout
    assert "1 of 4 claims fail: Theorem 9." in result.stdout
    as_json = run("--quick", "--seed", "7", "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["holds"] is False


def test_a_broken_estimator_ends_in_exit_code_1(
    few: dict[str, Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    del few["Theorem 0"]
    few["Theorem 2"] = CLAIMS["Theorem 2"]
    assert run("--quick", "--seed", "7").exit_code == 0

    def without_a_coin(scores: Floats, *, weight: GapWeight) -> Floats:
        del weight
        ahead = (scores[..., 0] > scores[..., 1]).tolist()
        return np.array([Fraction(won) for won in ahead], dtype=object)

    monkeypatch.setattr(claims_paper, "first_probability", without_a_coin)
    result = run("--quick", "--seed", "7")
    assert result.exit_code == 1
    assert "1 of 3 claims fail: Theorem 2." in result.stdout


@pytest.mark.usefixtures("few")
def test_the_result_can_be_written_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "theorems.json"
    result = run("--quick", "--json", "--seed", "7", "-o", str(path))
    assert result.stdout == ""
    assert json.loads(path.read_text())["seed"] == 7


def test_the_full_search_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def claimed(trial: Trial) -> ClaimRow:
        seen.append(trial.quick)
        return claim("Theorem 0", Fraction(1), holds=True)

    monkeypatch.setattr(theorems, "all_claims", lambda: {"Theorem 0": claimed})
    run()
    run("--full")
    run("--quick")
    assert seen == [False, False, True]


def test_a_path_that_cannot_be_written_is_refused_before_the_work() -> None:
    message = commands.refused("theorems", "-o", "no such folder/x.json")
    assert "must be in a folder that is there" in message

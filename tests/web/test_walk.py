"""From two lists to an audited decision, in process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand.cli import cli
from tests.web.desk import Desk, bundle_of, decided


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(str(tmp_path_factory.mktemp("db") / "e.db"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def published(desk: Desk) -> str:
    return decided(desk)


def test_the_bundle_passes_the_audit(
    desk: Desk, published: str, tmp_path: Path
) -> None:
    path = bundle_of(desk, published, tmp_path)
    found = CliRunner().invoke(cli, ["audit", str(path)])
    assert found.exit_code == 0, found.output
    assert "Nothing differs." in found.output

"""What tests of the app share: a desk for a file of tests, a database for each."""

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from evenhand.web import jobs
from tests.web.desk import Desk
from tests.web.world import Site


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(str(tmp_path_factory.mktemp("db") / "e.db"))
    yield made
    made.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(str(tmp_path / "e.db"))
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def no_reports() -> Iterator[None]:
    """An audit does not look at the report, which takes longest to make."""
    with mock.patch.object(jobs, "_report", return_value="A report."):
        yield

import pytest
from hypothesis import HealthCheck, settings

from tests import kernels

# Machines may be busy, so no single example is timed.
settings.register_profile(
    "evenhand",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("evenhand")

# Rooms whose files take longest come first and what is short comes last, so that two
# processes end together. Each takes whole files.
LONGEST = ("tests/web/", "tests/words/", "tests/engines/", "tests/lab/", "tests/")


def pytest_sessionstart() -> None:
    if wrong := kernels.require_other_kernel():
        pytest.exit(wrong, returncode=1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not_before(item.nodeid))


def not_before(nodeid: str) -> int:
    """Return the place of a test's room, the last for what is not in tests/."""
    found = [place for place, room in enumerate(LONGEST) if nodeid.startswith(room)]
    return found[0] if found else len(LONGEST)

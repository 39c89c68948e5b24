"""How many cores there are."""

from evenhand._cores import cores


def test_there_is_a_core() -> None:
    assert cores() >= 1

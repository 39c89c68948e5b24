"""Modules that are imported when they are first used.

Start-up stays short, and a result can show itself in words that come after it. A user
of a lazy module keeps its types by importing it under TYPE_CHECKING:

    if TYPE_CHECKING:
        from evenhand.words import lines
    else:
        lines = lazy("evenhand.words.lines")
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class _LazyModule(ModuleType):
    def __getattr__(self, name: str) -> object:
        # Whoever inspects modules asks for such names, and needs no module for it.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


def lazy(name: str) -> ModuleType:
    """Return a stand-in for a module, which is imported at its first use.

    Examples:
        >>> lazy("fractions").Fraction(1, 2)
        Fraction(1, 2)
    """
    return _LazyModule(name)

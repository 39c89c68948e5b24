"""Every theorem and lemma of the paper and beyond it, checked on this machine.

One row for each claim: what was checked, how, the smallest margin found as a fraction,
and whether the claim held. Rows that begin with "Can fail" show that the adversary can
fail an estimator: they hold if a known failure was found.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.claims import version
from evenhand.engines.executors import require_executor, run_parts
from evenhand.errors import OptionError, unknown
from evenhand.lab import claims_beyond, claims_failures, claims_paper
from evenhand.lab.claims import LISTED, Row, Trial
from evenhand.lab.worlds import brief
from evenhand.progress import say
from evenhand.randomness import RNGLike, seed_from

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from evenhand.claims import Json

CLAIMS: dict[str, Callable[[Trial], Row]] = {
    name: one
    for part in (claims_paper, claims_beyond, claims_failures)
    for name, one in LISTED.items()
    if one.check.__module__ == part.__name__
}
"""The paper's claims in its order, then what goes beyond it, known failures last."""


@dataclass(frozen=True, slots=True, repr=False)
class Theorems:
    """All claims, checked.

    Attributes:
        rows: One for each claim, in the order of the paper, then what goes beyond it,
            known failures last.
        quick: Whether the small budget was used.
        seed: Seed of the searches.
    """

    rows: tuple[Row, ...]
    quick: bool
    seed: int

    @property
    def holds(self) -> bool:
        """Whether every claim held."""
        return all(row.holds for row in self.rows)

    def to_dict(self) -> dict[str, Json]:
        """Return the document that `evenhand theorems --json` prints."""
        return {
            "schema": "evenhand.theorems/1",
            "rows": [row.to_dict() for row in self.rows],
            "holds": self.holds,
            "quick": self.quick,
            "seed": self.seed,
            "warnings": [],
            "version": version(),
        }

    def __repr__(self) -> str:
        return "\n".join(
            f"{'holds' if row.holds else 'FAILS'}  {row.name}: margin "
            f"{brief(row.margin)}"
            for row in self.rows
        )


def check_theorems(
    *,
    quick: bool = True,
    only: tuple[str, ...] | None = None,
    executor: Executor | None = None,
    rng: RNGLike = None,
) -> Theorems:
    """Check every theorem and lemma of the paper, and those that go further.

    Args:
        quick: Search with a small budget, some ten seconds in all; otherwise some
            minutes.
        only: Names of the rows that are wanted, all if None.
        executor: What checks claims, each as one part, such as a ProcessPoolExecutor.
        rng: Seed of the searches.

    Returns:
        The rows.

    Raises:
        OptionError: If a name in only is unknown.

    References:
        Wang and Shah (2019), all theorems and lemmas.

    Examples:
        >>> check_theorems(only=("Theorem 1", "Can fail: sign"), rng=7)
        holds  Theorem 1: margin 0
        holds  Can fail: sign: margin 0
    """
    wanted = tuple(CLAIMS) if only is None else only
    for name in wanted:
        if name not in CLAIMS:
            raise OptionError(unknown("claim", name, CLAIMS))
    trial = Trial(seed_from(rng), quick)
    require_executor(executor)
    say(wanted[0] if wanted else "", 0, len(wanted))
    rows = []
    with contextlib.closing(
        run_parts(functools.partial(check_claim, trial), wanted, executor)
    ) as found:
        for name, row in zip((*wanted[1:], ""), found, strict=True):
            rows.append(row)
            say(name, len(rows), len(wanted))
    return Theorems(tuple(rows), quick, trial.seed)


def check_claim(trial: Trial, name: str) -> Row:
    """Check one claim, and say how long it took.

    Examples:
        >>> check_claim(Trial(7, quick=True), "Theorem 1").holds
        True
    """
    began = time.perf_counter()
    row = CLAIMS[name](trial)
    return dataclasses.replace(row, seconds=time.perf_counter() - began)

"""Every theorem and lemma of the paper and beyond it, checked on this machine.

One row for each claim: what was checked, how, the smallest margin found as a fraction,
and whether the claim held. Rows that begin with "Can fail" show that the adversary can
fail an estimator: they hold if a known failure was found.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand._randomness import RNGLike, seed_from
from evenhand._results import version
from evenhand.errors import OptionError, unknown
from evenhand.lab import (
    claims_beyond,
    claims_failures,
    claims_many,
    claims_orders,
    claims_ranking,
    claims_two,
)
from evenhand.lab.claims import Claim, OnTrial, Row, Trial
from evenhand.lab.polynomial import brief

if TYPE_CHECKING:
    from evenhand._results import Json

Progress = Callable[[int, int, str], None]

CLAIMS: dict[str, Claim] = {
    "Theorem 1": claims_two.theorem_1,
    "Theorem 2": claims_two.theorem_2,
    "Theorem 3": claims_two.theorem_3,
    "Theorem 4": claims_two.theorem_4,
    "Theorem 4 (a)": functools.partial(claims_two.theorem_4, design="coins"),
    "Theorem 4 (b)": functools.partial(claims_two.theorem_4, design="matched"),
    "Theorem 4, bound": claims_two.theorem_4_bound,
    "Lemma 1 (a)": claims_orders.lemma_1a,
    "Lemma 1 (b)": claims_orders.lemma_1b,
    "Lemma 1, minimax": claims_orders.minimax,
    "Algorithm 2": claims_many.algorithm_2,
    "Theorem 5": claims_many.theorem_5,
    "Theorem 6": claims_two.theorem_6,
    "Theorem 6, noise by reviewer": claims_two.theorem_6_by_reviewer,
    "Theorem 6, what it needs": claims_two.theorem_6_needs,
    "Lemma 2": claims_orders.lemma_2,
    "Lemma 2, swaps": claims_orders.lemma_2_swaps,
    "Theorem 7, kendall": functools.partial(claims_many.theorem_7, loss="kendall"),
    "Theorem 7, footrule": functools.partial(claims_many.theorem_7, loss="footrule"),
    "Theorem 7, footrule unchanged": claims_orders.theorem_7_unchanged,
    "Theorem 7, strict witness": claims_orders.theorem_7_witness,
    "Theorem 8": claims_many.theorem_8,
    "Theorem 8, given the comparisons": claims_many.theorem_8_given,
    "Theorem G": claims_beyond.theorem_g,
    "Theorem G, strict": claims_beyond.theorem_g_strict,
    "Theorem D": claims_beyond.theorem_d,
    "Theorem D, infimum": claims_beyond.theorem_d_infimum,
    "Linear weight": claims_beyond.linear_weight,
    "Mean, bound": claims_beyond.mean_bound,
    "P-values": claims_beyond.p_values,
    "Theorem K": claims_ranking.theorem_k,
    "Theorem T": claims_ranking.theorem_t,
    "Theorem A": claims_ranking.theorem_a,
    "Eta, price": claims_ranking.eta_price,
    "Equal groups": claims_ranking.equal_groups,
    "Can fail: sign": functools.partial(claims_two.fails, name="sign"),
    "Can fail: mean": functools.partial(claims_two.fails, name="mean"),
    "Can fail: median": functools.partial(claims_two.fails, name="median"),
    "Can fail: MAD scaling": claims_two.fails_mad,
    "Can fail: re-used reviewers": claims_many.fails_without_retiring,
    "Can fail: Appendix C scan": claims_many.fails_printed_scan,
    "Can fail: outlier deletion": claims_failures.fails_outliers,
    "Can fail: pooled spread": claims_failures.fails_pooled,
    "Can fail: centring": claims_failures.fails_centring,
    "Can fail: a missing partner": claims_failures.fails_missing_partner,
    "Can fail: pairs made by scores": claims_failures.fails_seen_pairs,
    "Can fail: ties within a reviewer": claims_failures.fails_ties,
    "Can fail: ties that do not show": claims_failures.fails_unseen_ties,
    "Can fail: a split by all scores": claims_failures.fails_split,
}


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
    on_trial: OnTrial | None = None,
    progress: Progress | None = None,
    rng: RNGLike = None,
) -> Theorems:
    """Check every theorem and lemma of the paper, and those that go further.

    Args:
        quick: Search with a small budget, some ten seconds in all; otherwise some
            minutes.
        only: Names of the rows that are wanted, all if None.
        on_trial: Estimators to check instead of the library's own.
        progress: Called before each claim with the number of claims done, the number
            of all and the name of the next, and at the end.
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
    trial = Trial(seed_from(rng), quick, on_trial or OnTrial())
    rows = []
    for done, name in enumerate(wanted):
        if progress is not None:
            progress(done, len(wanted), name)
        began = time.perf_counter()
        row = CLAIMS[name](trial)
        spent = time.perf_counter() - began
        rows.append(dataclasses.replace(row, seconds=spent))
    if progress is not None:
        progress(len(wanted), len(wanted), "")
    return Theorems(tuple(rows), quick, trial.seed)

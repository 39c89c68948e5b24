"""Every theorem and lemma of the paper and beyond it, checked on this machine.

One row for each claim: what was checked, how, the smallest margin found as a fraction,
and whether the claim held. Rows that begin with "Can fail" show that the adversary can
fail an estimator: they hold if a known failure was found. The claims themselves are in
`claims_paper` and `claims_beyond`.
"""

from __future__ import annotations

import contextlib
import functools
import statistics
import time
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from evenhand.claims import version
from evenhand.engines.executors import require_executor, run_parts
from evenhand.errors import OptionError, unknown
from evenhand.progress import say
from evenhand.randomness import RNGLike, Stream, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from concurrent.futures import Executor

    from evenhand.claims import Json
    from evenhand.lab.dominance import Contest

    Where = tuple[Fraction, str]

# Bits of a fraction that is written out in full, some sixty digits.
LONGEST = 200
SHORTEST = 1000


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim, checked.

    Attributes:
        name: Theorem, lemma or known failure.
        check: What was checked, in one sentence.
        how: "exact enumeration", "exact counterexample" or "adversarial search".
        margin: The smallest margin found, exact.
        holds: Whether the claim held; a known failure holds if it was found.
        witness: Where the margin was found, for people.
        seconds: How long it took.
    """

    name: str
    check: str
    how: str
    margin: Fraction
    holds: bool
    witness: str = ""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values, the margin as text and as a number.

        A margin with more than some sixty digits is cut to four, towards zero, and
        said not to be exact.

        Examples:
            >>> from fractions import Fraction
            >>> ClaimRow("T", "P > 1/2.", "by hand", Fraction(1, 4), True).to_dict()
            {'name': 'T', 'check': 'P > 1/2.', 'how': 'by hand',
             'margin': '1/4', 'holds': True, 'witness': '', 'seconds': 0.0,
             'margin_exact': True, 'margin_decimal': 0.25}
        """
        margin = brief(self.margin)
        return {
            **asdict(self),
            "margin": str(margin),
            "seconds": round(self.seconds, 3),
            "margin_exact": margin == self.margin,
            "margin_decimal": float(self.margin),
        }


def brief(value: Fraction) -> Fraction:
    """Return a fraction that can be written out: itself, or cut to four digits.

    Exact averages over many scales can have thousands of digits. What is cut is cut
    towards zero, so the sign stays and the true value is at least as far from zero.

    Examples:
        >>> brief(Fraction(-1, 3)), brief(Fraction(-1, 3) + Fraction(1, 10**99))
        (Fraction(-1, 3), Fraction(-3333, 10000))
    """
    if value.numerator.bit_length() + value.denominator.bit_length() <= LONGEST:
        return value
    scale = 1
    while abs(value) * scale < SHORTEST:
        scale *= 10
    return Fraction(int(value * scale), scale)


@dataclass(frozen=True, slots=True)
class Trial:
    """One run over all claims.

    Attributes:
        seed: Seed of the searches.
        quick: Whether to keep to a small budget.
    """

    seed: int
    quick: bool

    def pick(self, quick: int, full: int) -> int:
        """Return a number by budget."""
        return quick if self.quick else full

    def source(self, purpose: str) -> Stream:
        """Open the stream of one search."""
        return stream(self.seed, f"theorems {purpose}")

    def lowest(
        self, label: str, tried: Contest, budget: int, *, families: bool = True
    ) -> Where:
        """Search for the smallest margin at any true ranking, and say where it is.

        Args:
            label: What is tried, for people.
            tried: The same, for the search.
            budget: How often the margin may be evaluated at each true ranking.
            families: Whether the search starts from the paper's families.
        """
        witness = min(tried.search(budget, self.seed, families=families))
        return witness.margin, f"{label}: {witness}"

    def average_margin(
        self, tried: Contest, budget: int, *, families: bool = True
    ) -> Where:
        """Return the smallest margin at a uniform true ranking, and its worst part."""
        witnesses = tried.search(budget, self.seed, families=families)
        m, n = tried.shape
        average = statistics.mean(witness.margin for witness in witnesses)
        return average, f"{n} items, {m} reviewers: {min(witnesses)}"


class Evidence(NamedTuple):
    """What a check found.

    Attributes:
        margin: The smallest margin found, exact.
        holds: Whether the claim held.
        witness: Where the margin was found, for people.
        facts: Numbers that the sentence about the check mentions.
    """

    margin: Fraction
    holds: bool
    witness: str = ""
    facts: Mapping[str, object] = {}


def least(
    margins: Iterable[Where], *, strict: bool = True, **facts: object
) -> Evidence:
    """Return the smallest of the margins, which must be above 0, or not below it."""
    margin, text = min(margins, default=(Fraction(-1), "nothing was checked"))
    return Evidence(margin, margin > 0 or (margin == 0 and not strict), text, facts)


def none_off(deviations: Iterable[Where], **facts: object) -> Evidence:
    """Return the largest of the deviations, which must all be 0."""
    off, text = max(deviations, key=lambda deviation: (abs(deviation[0]), deviation[1]))
    return Evidence(off, off == 0, text if off else "", facts)


LISTED: dict[str, Callable[[Trial], ClaimRow]] = {}
"""All claims by name, once `all_claims` has been called."""


def claim(
    name: str,
    how: Literal["enumeration", "counterexample", "search"],
    **parameters: str,
) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
    """Put a check on the list of claims; the lowest of several on one check is first.

    The second paragraph of its docstring is the sentence that the row shows, with
    {names} of what the check is given besides the trial and of what it tells.

    Examples:
        >>> @claim("Theorem 0", "search")
        ... def theorem_0(trial):
        ...     '''Nothing is below zero.
        ...
        ...     {count} cases of nothing were looked at.
        ...     '''
        ...     return Evidence(Fraction(0), holds=True, facts={"count": 3})
        >>> LISTED.pop("Theorem 0")(Trial(7, quick=True)).check
        '3 cases of nothing were looked at.'
    """

    def register(check: Callable[..., Evidence]) -> Callable[..., Evidence]:
        def run_check(trial: Trial) -> ClaimRow:
            began = time.perf_counter()
            margin, holds, witness, facts = check(trial, **parameters)
            sentence = " ".join((check.__doc__ or "").split("\n\n")[1].split())
            statement = sentence.format(**parameters, **facts)
            words = "adversarial search" if how == "search" else f"exact {how}"
            seconds = time.perf_counter() - began
            return ClaimRow(name, statement, words, margin, holds, witness, seconds)

        LISTED[name] = run_check
        return check

    return register


def all_claims() -> dict[str, Callable[[Trial], ClaimRow]]:
    """Return the paper's claims, then what goes beyond it, known failures last.

    Examples:
        >>> len(all_claims())
        39
    """
    # It imports the paper's before, and each puts itself on the list.
    import_module("evenhand.lab.claims_beyond")
    return LISTED


@dataclass(frozen=True, slots=True, repr=False)
class Theorems:
    """All claims, checked.

    Attributes:
        rows: One for each claim, in the order of the paper, then what goes beyond it,
            known failures last.
        quick: Whether the small budget was used.
        seed: Seed of the searches.
    """

    rows: tuple[ClaimRow, ...]
    quick: bool
    seed: int

    @property
    def holds(self) -> bool:
        """Whether every claim held."""
        return all(row.holds for row in self.rows)

    def to_dict(self) -> dict[str, Json]:
        """Return the document that `evenhand theorems --json` prints."""
        rows = [row.to_dict() for row in self.rows]
        document: dict[str, Json] = {"schema": "evenhand.theorems/1", "rows": rows}
        document |= {"holds": self.holds, "quick": self.quick, "seed": self.seed}
        return {**document, "warnings": [], "version": version()}

    def __repr__(self) -> str:
        format_line = "{}  {}: margin {}".format
        words = {True: "holds", False: "FAILS"}
        lines = (
            format_line(words[row.holds], row.name, brief(row.margin))
            for row in self.rows
        )
        return "\n".join(lines)


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
    claims = all_claims()
    wanted = tuple(claims) if only is None else only
    for name in wanted:
        if name not in claims:
            raise OptionError(unknown("claim", name, claims))
    trial = Trial(seed_from(rng), quick)
    require_executor(executor)
    say(wanted[0] if wanted else "", 0, len(wanted))
    rows, work = [], functools.partial(check_claim, trial)
    with contextlib.closing(run_parts(work, wanted, executor)) as results:
        for name, row in zip((*wanted[1:], ""), results, strict=True):
            rows.append(row)
            say(name, len(rows), len(wanted))
    return Theorems(tuple(rows), quick, trial.seed)


def check_claim(trial: Trial, name: str) -> ClaimRow:
    """Check one claim, in this process or another.

    Examples:
        >>> check_claim(Trial(7, quick=True), "Theorem 1").holds
        True
    """
    return all_claims()[name](trial)

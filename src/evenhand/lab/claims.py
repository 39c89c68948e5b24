"""What a checked claim looks like, and the list of all claims."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from evenhand.lab.dominance import Contest, Witness, average
from evenhand.lab.duels import TRUTHS, ItemRule, duel
from evenhand.lab.worlds import brief
from evenhand.randomness import HALF, Stream, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from evenhand.claims import Json
    from evenhand.lab.worlds import Order

    Where = tuple[Fraction, str]

How = Literal["enumeration", "counterexample", "search"]
HOW = {
    "enumeration": "exact enumeration",
    "counterexample": "exact counterexample",
    "search": "adversarial search",
}


@dataclass(frozen=True, slots=True)
class Row:
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
            >>> Row("Theorem 2", "P > 1/2.", "by hand", Fraction(1, 4), True).to_dict()
            {'name': 'Theorem 2', 'check': 'P > 1/2.', 'how': 'by hand',
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

    def lowest(self, tried: Contest, budget: int, *, told: bool = True) -> Witness:
        """Search for the scales with the smallest margin, at any true ranking.

        Args:
            tried: What is tried.
            budget: How often the margin may be evaluated at each true ranking.
            told: Whether the search starts from the paper's families.
        """
        found = tried.searched(budget, self.seed, families=told)
        return min(found, key=lambda witness: witness.margin)

    def over_coin(
        self,
        label: str,
        rule: str | ItemRule,
        design: str,
        m: int,
        budget: int,
        *,
        truths: tuple[Order, ...] = TRUTHS,
        told: bool = True,
    ) -> Where:
        """Search for a rule's smallest margin over a coin, and say where it is."""
        success = duel(rule, design, m)
        tried = Contest(lambda *at: success(*at) - HALF, truths, (m, 2))
        found = self.lowest(tried, budget, told=told)
        return found.margin, f"{label}: {found}"

    def averaged(self, tried: Contest, budget: int, *, told: bool = True) -> Where:
        """Return the smallest margin at a uniform true ranking, and its worst part."""
        witnesses = tried.searched(budget, self.seed, families=told)
        lowest = min(witnesses, key=lambda witness: witness.margin)
        m, n = tried.shape
        text = f"{n} items, {m} reviewers: {lowest}"
        return average(witnesses), text


@dataclass(frozen=True, slots=True)
class Found:
    """What a check found.

    Attributes:
        margin: The smallest margin found, exact.
        holds: Whether the claim held.
        witness: Where the margin was found, for people.
        told: Numbers that the sentence about the check mentions.
    """

    margin: Fraction
    holds: bool
    witness: str = ""
    told: Mapping[str, object] = field(default_factory=dict)


def least(found: Iterable[Where], *, strict: bool = True, **told: object) -> Found:
    """Return the smallest of the margins, which must be above 0, or not below it."""
    margin, text = min(found, default=(Fraction(-1), "nothing was checked"))
    return Found(margin, margin > 0 or (margin == 0 and not strict), text, told)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its check; called with a Trial it gives its row.

    Attributes:
        name: Theorem, lemma or known failure.
        how: How it is checked.
        check: The check. The second paragraph of its docstring is the sentence that
            the row shows, with {names} of what it was given and told.
        given: What the check is called with besides the trial.
    """

    name: str
    how: How
    check: Callable[..., Found]
    given: Mapping[str, str]

    def __call__(self, trial: Trial) -> Row:
        """Check the claim."""
        found = self.check(trial, **self.given)
        sentence = " ".join((self.check.__doc__ or "").split("\n\n")[1].split())
        said = sentence.format(**self.given, **found.told)
        how = HOW[self.how]
        return Row(self.name, said, how, found.margin, found.holds, found.witness)


LISTED: dict[str, Claim] = {}
"""All claims by name."""


def claim(
    name: str, how: How, **given: str
) -> Callable[[Callable[..., Found]], Callable[..., Found]]:
    """Put a check on the list of claims; the lowest of several on one check is first.

    Examples:
        >>> @claim("Theorem 0", "search")
        ... def theorem_0(trial):
        ...     '''Nothing is below zero.
        ...
        ...     {count} cases of nothing were looked at.
        ...     '''
        ...     return Found(Fraction(0), holds=True, told={"count": 3})
        >>> LISTED.pop("Theorem 0")(Trial(7, quick=True)).check
        '3 cases of nothing were looked at.'
    """

    def listed(check: Callable[..., Found]) -> Callable[..., Found]:
        LISTED[name] = Claim(name, how, check, given)
        return check

    return listed

"""What a result may claim, worked out from the data and the declared design.

A method brings a claim: what is proved of it at best. What was found in the data and
said about the assignment is held against it: a finding is an assumption that was
checked, one that is only declared, one that leaves a weaker claim, or one that leaves
nothing. The certificate is what remains.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib import metadata
    from os import PathLike

    import altair as alt

    from evenhand.words import claims as words
    from evenhand.words import page, warnings
else:
    metadata = lazy("importlib.metadata")
    page, warnings, words = (
        lazy(f"evenhand.words.{name}") for name in ("page", "warnings", "claims")
    )


Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Label = str | int


@dataclass(frozen=True, slots=True)
class DataWarning:
    """Something that the reader of a result must know, a code with facts.

    Attributes:
        code: A stable word for programs, such as "missing_scores"; it names the
            sentences in `evenhand.words.warnings`.
        facts: What these are filled in with.
    """

    code: str
    facts: Mapping[str, Json] = field(default_factory=dict, hash=False)

    @property
    def message(self) -> str:
        """All of it for people.

        Examples:
            >>> DataWarning("excluded", {"ratings": 3}).message
            '3 ratings left out as you asked.'
        """
        return warnings.warning_text(self)

    def to_dict(self) -> dict[str, Json]:
        """Return the code, the sentence and the facts.

        Examples:
            >>> DataWarning("decimal_commas").to_dict()["facts"]
            {}
        """
        return {"code": self.code, "message": self.message, "facts": dict(self.facts)}


def few(labels: Iterable[Json], most: int = 8) -> dict[str, Json]:
    """Return the first labels, and how many there are, as a fact of a warning.

    Examples:
        >>> few(["x", "y", "z"], 2)
        {'first': ['x', 'y'], 'number': 3}
    """
    listed = list(labels)
    return {"first": listed[:most], "number": len(listed)}


@functools.cache
def version() -> str:
    """Return the installed version, as pyproject.toml states it."""
    return metadata.version("evenhand")


def tail(result: Any, **instead: Json) -> dict[str, Json]:  # noqa: ANN401 - results of several rooms
    """Return the fields that close every result's JSON, in their order.

    Args:
        result: Anything with a seed, data and notices.
        instead: Fields that the result has not, or not in this form.
    """
    certificate = getattr(result, "certificate", None)
    return {
        "method": getattr(result, "method", None),
        "parameters": dict(getattr(result, "parameters", {})),
        "seed": result.seed,
        "certificate": None if certificate is None else certificate.to_dict(),
        "data": dict(result.data),
        "warnings": [warning.to_dict() for warning in result.notices],
        "version": version(),
        **instead,
    }


class Reportable:
    """A result that keeps its ratings, so that it can be drawn and reported."""

    __slots__ = ()

    def report(self, path: str | PathLike[str]) -> None:
        """Write a self-contained HTML report, as the command line does.

        Raises:
            OptionError: If the path does not end in .html, or cannot be written.
        """
        page.write_report(self, path)

    def plot(self) -> alt.TopLevelMixin:
        """Draw the first figure of the report, as an Altair chart for notebooks.

        Raises:
            OptionError: If there is nothing to draw.
        """
        return page.plot(self)


Standing: TypeAlias = Literal["checked", "declared", "weaker", "void"]
Backing: TypeAlias = Literal["declared", "revealed", "verified"]
"""What shows that an assignment was drawn at random; see `assignment_finding`."""
NONE = "none"
# Probability of the intervals of ranks and marks, for every number and sentence.
LEVEL = 0.9
# The same for the difference of two items, and for what a check estimates.
CONFIDENCE = 0.95
ANY_SCALES = "any increasing scales"
REVEALED = "drawn from the revealed secret"
NOT_SEALED = "not known to have been sealed before the ratings"
EXCLUDED = "excluded"
"""Code of the notice that ratings were left out by their labels."""
TOTAL_OF_CRITERIA = "total_of_criteria"
"""Code of the notice that scores are totals of several criteria."""
NOT_STRICT: Mapping[str, Json] = MappingProxyType({"strict": False})
"""What a finding changes that leaves "never worse" of a claim."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is proved of a method if everything that it asks for holds.

    Attributes:
        code: Names its sentences in `evenhand.words.claims`.
        theorem: "G", "K", "T" or "A" for ours, "paper 4" and so on for the paper's, and
            "none".
        loss: What is counted: "zero-one", "kendall", ...
        baseline: What the method is held against.
        prior: What is assumed of the true ranking before any score is seen.
        given: Code of what the claim is given, or averaged over; "conditional" in JSON.
        strict: Whether it is better, not just as good.
        sampled: Whether it holds up to sampling error only.
        method: Name of the model, where the sentence names it.
    """

    code: str
    theorem: str = NONE
    loss: str | None = None
    baseline: str | None = None
    prior: str | None = None
    given: str | None = None
    strict: bool = False
    sampled: bool = False
    method: str | None = None

    def sentence(self) -> str:
        """Return the claim as a sentence.

        Examples:
            >>> Claim("fair_coin").sentence()
            'Right half of the time, whatever the scores: the baseline itself.'
        """
        return words.claim_sentence(self)

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as in the JSON, with all that it says in one.

        Examples:
            >>> Claim("orders_only").to_dict()["says"]
            'no guarantee. It uses only orders, so no scale can change it; it is as \
good as its model'
        """
        return words.claim_json(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found out, or only said, about the data and the design.

    Attributes:
        code: Names its words in `evenhand.words.claims`.
        standing: "checked": it holds in the data. "declared": it is only said.
            "weaker": it leaves a weaker claim. "void": it leaves nothing.
        facts: What the words are filled in with.
        leaves: For a weaker claim, the fields of a claim that it changes.
        mends: Whether a declaration would mend a void one.
    """

    code: str
    standing: Standing
    facts: Mapping[str, Json] = field(default_factory=dict)
    leaves: Mapping[str, Json] = field(default_factory=dict)
    mends: bool = False

    @property
    def text(self) -> str:
        """What it is; a clause for a list or a sentence."""
        return words.finding_text(self)

    def to_dict(self) -> dict[str, Json]:
        """Return the code, the standing and the facts."""
        facts = dict(self.facts)
        return {"code": self.code, "standing": self.standing, "facts": facts}


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a result may claim.

    Attributes:
        claim: What remains of what is proved of the method at best.
        best: What is proved of it at best.
        findings: What was found in the data and said of the design.
        retired: Number of reviewers whose scores were used up by coins, or None.
    """

    claim: Claim
    best: Claim
    findings: tuple[Finding, ...] = ()
    retired: int | None = None

    @property
    def theorem(self) -> str:
        """The theorem: "G", "K", "T", "A", "paper 4" and so on, or "none"."""
        return self.claim.theorem

    @property
    def loss(self) -> str | None:
        """What is counted, None without a theorem; so are the next three."""
        return self.claim.loss

    @property
    def baseline(self) -> str | None:
        """What the result is held against."""
        return self.claim.baseline

    @property
    def prior(self) -> str | None:
        """What is assumed of the true ranking."""
        return self.claim.prior

    @property
    def conditional(self) -> str | None:
        """What the claim is given, or averaged over."""
        return words.GIVEN[self.claim.given] if self.claim.given else None

    @property
    def strict(self) -> bool:
        """Whether it is better, not just as good."""
        return self.claim.strict

    @property
    def voids(self) -> list[Finding]:
        """What leaves nothing: what the data show, then what could be declared."""
        voids = (finding for finding in self.findings if finding.standing == "void")
        return sorted(voids, key=lambda finding: finding.mends)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why there is no guarantee, what the data show first."""
        return tuple(finding.text for finding in self.voids)

    @property
    def sentence(self) -> str:
        """All of it for people."""
        return words.full(self)

    @property
    def brief(self) -> str:
        """The claim alone, without what it assumes."""
        return words.brief(self)

    def texts(self, standing: Standing) -> tuple[str, ...]:
        """List the assumptions of one standing in words, as those only declared."""
        return tuple(
            finding.text for finding in self.findings if finding.standing == standing
        )

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as in the JSON.

        Examples:
            >>> certify(Claim("means")).to_dict()["theorem"]
            'none'
        """
        return {
            "theorem": self.theorem,
            "loss": self.loss,
            "baseline": self.baseline,
            "prior": self.prior,
            "conditional": self.conditional,
            "strict": self.strict,
            "checked": list(self.texts("checked")),
            "declared": list(self.texts("declared")),
            "retired": self.retired,
            "sentence": self.sentence,
            "facts": {
                "claim": self.claim.code,
                "best": self.best.code,
                "findings": [finding.to_dict() for finding in self.findings],
            },
        }

    def __str__(self) -> str:
        return self.sentence


def certify(
    claim: Claim, findings: Iterable[Finding] = (), *, retired: int | None = None
) -> Certificate:
    """Hold what was found against what is claimed.

    Args:
        claim: What is proved of the method at best.
        findings: What was found in the data and said of the design.
        retired: Number of reviewers that coins used up.

    Returns:
        What remains.

    Examples:
        >>> best = Claim("coin", "G", strict=True)
        >>> certify(best, [Finding("rounded", "weaker", leaves=NOT_STRICT)]).strict
        False
        >>> certify(best, [Finding("by_proxy", "void")]).sentence
        'No guarantee: the order is by a proxy, not by mean ranks.'
    """
    findings, remaining = tuple(findings), claim
    if any(finding.standing == "void" for finding in findings):
        remaining = Claim("void")
    elif claim.theorem != NONE:
        for finding in findings:
            remaining = replace(remaining, **finding.leaves)  # type: ignore[arg-type]  # fields of a claim
    return Certificate(remaining, claim, findings, retired)


def assignment_finding(
    design: str | None, designs: tuple[str, ...], *, backing: Backing = "declared"
) -> Finding:
    """Say how far the random assignment is established.

    Args:
        design: What was declared, None if nothing was.
        designs: The designs that the claim holds for.
        backing: "declared": somebody says so. "revealed": a secret that is known now
            draws it, but might have been chosen after many tries. "verified": that
            secret fits a seal that was published beforehand.

    Examples:
        >>> assignment_finding("halves", ("halves",), backing="verified").text
        'random assignment (halves): verified'
        >>> assignment_finding("pairs", ("halves",)).standing
        'void'
    """
    facts: dict[str, Json] = {"design": design, "known": list(designs)}
    if design is None:
        return Finding("undeclared", "void", facts, mends=True)
    if design not in designs:
        return Finding("other_design", "void", facts)
    standing: Standing = "checked" if backing == "verified" else "declared"
    return Finding("assignment", standing, {"design": design, "backing": backing})


def selection_findings(notices: Iterable[DataWarning]) -> Iterator[Finding]:
    """Say that ratings were left out, which is harmless only if done blindly.

    Examples:
        >>> next(selection_findings([DataWarning("excluded")])).text
        'ratings were left out (--exclude, --only) without a look at the scores'
    """
    facts = {warning.code: warning.facts for warning in notices}
    if EXCLUDED in facts:
        yield Finding("excluded", "declared")
    if TOTAL_OF_CRITERIA in facts:
        yield Finding("criteria_fixed", "declared")
        if facts.get("missing_criteria", {}).get("case") == "rescale":
            yield Finding("means_over_filled", "void")


def dominance_findings(notices: Iterable[DataWarning]) -> Iterator[Finding]:
    """Say for which items a claim about a total of criteria holds.

    Examples:
        >>> next(dominance_findings([DataWarning(TOTAL_OF_CRITERIA)])).standing
        'declared'
    """
    if any(notice.code == TOTAL_OF_CRITERIA for notice in notices):
        yield Finding("dominance", "declared")

"""What a result may claim, worked out from the data and the declared design.

A method brings a claim: what is proved of it at best. What was found in the data and
said about the assignment is held against it: a finding is an assumption that was
checked, one that is only declared, one that leaves a weaker claim, or one that leaves
nothing. The certificate is what remains.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from evenhand.errors import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

    import altair as alt


Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Label = str | int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the reader of a result must know.

    Attributes:
        code: A stable word for programs, such as "missing_scores".
        message: One sentence for people.
    """

    code: str
    message: str

    def to_dict(self) -> dict[str, str]:
        """Return the two fields."""
        return asdict(self)


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
        "warnings": [notice.to_dict() for notice in result.notices],
        "version": version(),
        **instead,
    }


class Drawn:
    """A result that keeps its ratings, so that it can be drawn and reported."""

    __slots__ = ()

    def report(self, path: str | PathLike[str]) -> None:
        """Write a self-contained HTML report, as the command line does.

        Raises:
            OptionError: If the path does not end in .html, or cannot be written.
        """
        from evenhand.words.page import write_report  # noqa: PLC0415 - words come last

        write_report(self, path)

    def plot(self) -> alt.TopLevelMixin:
        """Draw the first figure of the report, as an Altair chart for notebooks.

        Raises:
            OptionError: If there is nothing to draw.
        """
        from evenhand.words.page import plot  # noqa: PLC0415 - words come last

        return plot(self)


Standing: TypeAlias = Literal["checked", "declared", "weaker", "void"]
Backing: TypeAlias = Literal["declared", "revealed", "verified"]
"""What shows that an assignment was drawn at random; see `assignment_finding`."""
NONE = "none"
# Probability of the intervals of ranks and marks, for every number and sentence.
LEVEL = 0.9
ANY_SCALES = "any increasing scales"
REVEALED = "drawn from the revealed secret"
WORDED = ("says", "weakly", "more")
NOT_IN_JSON = ("brief", "headline", "reasons")
NOT_SEALED = "not known to have been sealed before the ratings"
EXCLUDED = "excluded"
"""Code of the notice that ratings were left out by their labels."""
LEFT_OUT = "ratings were left out (--exclude, --only) without a look at the scores"


@dataclass(frozen=True, slots=True)
class Claim:
    """What is proved of a method if everything that it asks for holds.

    Attributes:
        theorem: "G", "K", "T" or "A" for ours, "paper 4" and so on for the paper's, and
            "none".
        loss: What is counted: "zero-one", "kendall", ...
        baseline: What the method is held against.
        prior: What is assumed of the true ranking before any score is seen.
        conditional: What the claim is given, or averaged over.
        strict: Whether it is better, not just as good.
        says: The claim in words, for a sentence.
        weakly: The same if it is not strict.
        more: A further sentence, which a headline leaves out.
    """

    theorem: str
    says: str
    weakly: str = ""
    more: str = ""
    loss: str | None = None
    baseline: str | None = None
    prior: str | None = None
    conditional: str | None = None
    strict: bool = False

    def sentence(self) -> str:
        """Return the claim as a sentence.

        Examples:
            >>> Claim("G", "never worse than a coin").sentence()
            'Never worse than a coin (Theorem G).'
        """
        head = self.says[:1].upper() + self.says[1:]
        return f"{head}{_cited(self.theorem)}. {self.more}".strip()

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as in the JSON, with all that it says in one.

        Examples:
            >>> Claim("none", "nothing", more="Really.").to_dict()["says"]
            'nothing. Really'
        """
        says = f"{self.says}. {self.more}" if self.more else self.says
        told = {**asdict(self), "says": says.removesuffix(".")}
        return {name: told[name] for name in told if name != "more"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found out, or only said, about the data and the design.

    Attributes:
        standing: "checked": it holds in the data. "declared": it is only said.
            "weaker": it leaves a weaker claim. "void": it leaves nothing.
        text: What it is; a clause for a list or a sentence.
        leaves: For a weaker claim, what is left of a claim.
        advice: For a void one that a declaration would mend, how to declare it.
    """

    standing: Standing
    text: str
    leaves: Callable[[Claim], Claim] | None = None
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a result may claim.

    Attributes:
        theorem: "G", "K", "T", "A", "paper 4" and so on, or "none".
        loss: What is counted, None without a theorem; so are the next three.
        baseline: What the result is held against.
        prior: What is assumed of the true ranking.
        conditional: What the claim is given, or averaged over.
        strict: Whether it is better, not just as good.
        checked: Assumptions that hold in the data.
        declared: Assumptions that are only said to hold.
        retired: Number of reviewers whose scores were used up by coins, or None.
        sentence: All of it for people.
        brief: The claim alone, without what it assumes.
        headline: The first sentence of that.
        reasons: Why there is no guarantee, what the data show first.
    """

    theorem: str
    loss: str | None
    baseline: str | None
    prior: str | None
    conditional: str | None
    strict: bool
    checked: tuple[str, ...]
    declared: tuple[str, ...]
    retired: int | None
    sentence: str
    brief: str = ""
    headline: str = ""
    reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as in the JSON, which has the sentence only once.

        Examples:
            >>> certify(Claim("none", "nothing")).to_dict()["theorem"]
            'none'
        """
        lists = {"checked": list(self.checked), "declared": list(self.declared)}
        found = {**asdict(self), **lists}
        return {key: found[key] for key in found if key not in NOT_IN_JSON}

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
        >>> best = Claim("G", "right more often than a coin", strict=True)
        >>> certify(best, [Finding("declared", "a random assignment")]).sentence
        'Right more often than a coin (Theorem G). It assumes: a random assignment.'
        >>> certify(best, [Finding("void", "one item has no score")]).sentence
        'No guarantee: one item has no score.'
    """
    found = list(findings)
    voids = [one for one in found if one.standing == "void"]
    # What the data show comes before what somebody may still declare.
    voids.sort(key=lambda finding: finding.advice != "")
    reasons = tuple(finding.text for finding in voids)
    if voids or claim.theorem == NONE:
        head = f"No guarantee: {'; '.join(reasons)}" if voids else claim.says
        headline = f"{head[:1].upper()}{head[1:]}."
        brief = sentence = headline if voids else claim.sentence()
        if voids and all(finding.advice for finding in voids):
            advice = " ".join(finding.advice for finding in voids)
            best = f"{claim.says}{_cited(claim.theorem)}"
            sentence += f" {advice} With that it is, at best, {best}."
        claim = Claim(NONE, head)
    else:
        for finding in found:
            claim = claim if finding.leaves is None else finding.leaves(claim)
        brief, sentence = _sentences(claim, found)
        headline = brief
    proved = {name: to for name, to in asdict(claim).items() if name not in WORDED}
    return Certificate(
        **proved,
        checked=_texts(found, "checked"),
        declared=_texts(found, "declared"),
        retired=retired,
        sentence=sentence,
        brief=brief,
        headline=headline,
        reasons=reasons,
    )


# What is proved strictly, and what is left where that is all.
WEAKER = {
    "closer to": "no farther from",
    "closer on": "no farther on",
    "exactly right more often": "exactly right no less often",
    "right more often": "no less often right",
}


def strictly(claim: Claim, says: str, **changes: str) -> Claim:
    """Make a claim strict, with what is left of it where it is not.

    Examples:
        >>> strictly(Claim("G", ""), "right more often than a coin").weakly
        'no less often right than a coin'
    """
    weakly = says
    for strong, weak in WEAKER.items():
        weakly = weakly.replace(strong, weak)
    return replace(claim, says=says, weakly=weakly, strict=True, **changes)


def not_strict(claim: Claim) -> Claim:
    """Leave "never worse" of a claim.

    Examples:
        >>> not_strict(Claim("G", "better", "never worse", strict=True)).sentence()
        'Never worse (Theorem G).'
    """
    return replace(claim, strict=False, says=claim.weakly or claim.says)


def assignment_finding(
    design: str | None, known: tuple[str, ...], *, backing: Backing = "declared"
) -> Finding:
    """Say how far the random assignment is established.

    Args:
        design: What was declared, None if nothing was.
        known: The designs that the claim holds for.
        backing: "declared": somebody says so. "revealed": a secret that is known now
            draws it, but might have been chosen after many tries. "verified": that
            secret fits a seal that was published beforehand.

    Examples:
        >>> assignment_finding("halves", ("halves",), backing="verified").text
        'random assignment (halves): verified'
        >>> assignment_finding("pairs", ("halves",)).standing
        'void'
    """
    if design is None:
        advice = "If they were assigned at random, declare it (design= or --design: "
        advice += f"{', '.join(known)})."
        text = "nobody declared how reviewers were assigned"
        return Finding("void", text, advice=advice)
    if design not in known:
        text = f"the claim is proved for the designs {listing(known)}, not for"
        return Finding("void", f"{text} {design!r}")
    shown = f"{REVEALED}; {NOT_SEALED}" if backing == "revealed" else backing
    standing: Standing = "checked" if backing == "verified" else "declared"
    return Finding(standing, f"random assignment ({design}): {shown}")


def selection_findings(notices: Iterable[Notice]) -> Iterator[Finding]:
    """Say that ratings were left out, which is harmless only if done blindly.

    Examples:
        >>> [one.text for one in selection_findings([Notice("excluded", "...")])]
        ['ratings were left out (--exclude, --only) without a look at the scores']
    """
    if any(notice.code == EXCLUDED for notice in notices):
        yield Finding("declared", LEFT_OUT)


def _texts(findings: Iterable[Finding], standing: Standing) -> tuple[str, ...]:
    return tuple(found.text for found in findings if found.standing == standing)


def _sentences(claim: Claim, findings: list[Finding]) -> tuple[str, str]:
    """Return the claim by itself, and with all that it rests on."""
    parts = [claim.sentence().removesuffix(".")]
    if claim.conditional is not None:
        parts.append(claim.conditional)
    text = brief = ", ".join(parts)
    declared = _texts(findings, "declared")
    if declared:
        text += f". It assumes: {'; '.join(declared)}"
    weaker = _texts(findings, "weaker")
    if weaker:
        text += f". It claims no more, because {'; '.join(weaker)}"
    return f"{brief}.", f"{text}."


def _cited(theorem: str) -> str:
    if theorem == NONE:
        return ""
    if theorem.startswith("paper "):
        rest = theorem.removeprefix("paper ")
        return f" (the paper's {'Theorem ' if rest[0].isdigit() else ''}{rest})"
    return f" (Theorem {theorem})"

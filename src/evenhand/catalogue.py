"""The methods, with what each assumes and what it may claim."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

Job = Literal["compare", "rank"]

ANY_SCALES = "any increasing scales"
AB_DESIGN = f"{ANY_SCALES}; reviewers assigned to the two items at random"
RANKING_DESIGN = (
    f"{ANY_SCALES}, strictly (no ties within a reviewer); consistent comparisons; sets "
    "of items of one size, assigned to reviewers at random"
)
AB_VOID = ("one_side_empty", "both_decided")
UNEQUAL_VOID = (*AB_VOID, "unequal_counts")
RANKING_VOID = ("ties_within_reviewers", "unequal_loads", "no_free_pairs")
CONSISTENT = f"{ANY_SCALES}; consistent comparisons"


@dataclass(frozen=True, slots=True)
class Method:
    """One way to decide.

    Attributes:
        job: "compare" for two items, "rank" for many.
        name: What `method=` and `--method` take.
        summary: What it does.
        assumes: What must hold of the reviewers and of the assignment.
        claims: What may be said of its answer if that holds.
        default: Whether it is used when no method is named.
        void_by: Codes of the notices that leave nothing of the claim.
    """

    job: Job
    name: str
    summary: str
    assumes: str
    claims: str
    default: bool = False
    void_by: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, str | bool | tuple[str, ...]]:
        """Return the fields as plain values."""
        return asdict(self)


CATALOGUE = (
    Method(
        "compare",
        "coin",
        "A fair coin that looks at no score: the baseline.",
        "nothing",
        "Right half of the time.",
    ),
    Method(
        "compare",
        "sign",
        "The item with more wins over pairs of scores.",
        AB_DESIGN,
        "Never worse than a coin, but on some scales no better (Theorem 3).",
        void_by=AB_VOID,
    ),
    Method(
        "compare",
        "mean",
        "The item with the higher mean score.",
        AB_DESIGN,
        "Never worse than a coin, but on some scales no better (Theorem 3).",
        void_by=UNEQUAL_VOID,
    ),
    Method(
        "compare",
        "median",
        "The item with the higher median score (upper, lower or middle).",
        AB_DESIGN,
        "Never worse than a coin, but on some scales no better (Theorem 3).",
        void_by=UNEQUAL_VOID,
    ),
    Method(
        "compare",
        "trimmed",
        "The item with the higher trimmed mean.",
        AB_DESIGN,
        "Never worse than a coin, but on some scales no better.",
        void_by=UNEQUAL_VOID,
    ),
    Method(
        "compare",
        "votes",
        "A majority of biased coins, one for each pair of scores.",
        AB_DESIGN,
        "Right more often than a coin, whatever the scales and values (Theorem 4).",
        default=True,
        void_by=AB_VOID,
    ),
    Method(
        "rank",
        "topological",
        "The ordering that respects every comparison, smallest labels first.",
        CONSISTENT,
        "No ordinal method is exactly right more often, if every true ranking is "
        "equally likely (Lemma 1).",
    ),
    Method(
        "rank",
        "uniform",
        "One of the orderings that respect every comparison, all equally likely.",
        CONSISTENT,
        "The minimax ordinal method for being exactly right (Appendix C).",
    ),
    Method(
        "rank",
        "mean-rank",
        "By rank averaged over all orderings that respect every comparison; in our "
        "experiments within 0.5 % of the least expected Kendall tau distance.",
        f"{CONSISTENT}; every true ranking equally likely",
        "The least expected squared distance of ranks that comparisons alone allow, if "
        "every true ranking is equally likely; no guarantee against methods that use "
        "scores.",
    ),
    Method(
        "rank",
        "flips",
        "An ordering, with free neighbours settled by biased coins on their scores.",
        RANKING_DESIGN,
        "Exactly right more often than every ordinal method, if every true ranking is "
        "equally likely (Theorem 5).",
        default=True,
        void_by=RANKING_VOID,
    ),
    Method(
        "rank",
        "flips-uniform",
        "The same from a uniformly random ordering.",
        RANKING_DESIGN,
        "Exactly right more often than `uniform`, whatever the true ranking "
        "(Theorem 8); with the paper's scan on average over random comparisons only.",
        void_by=RANKING_VOID,
    ),
    Method(
        "rank",
        "twins",
        "Any ordinal ranking, with items that the comparisons cannot tell apart "
        "settled by biased coins on their scores.",
        RANKING_DESIGN,
        "Closer on average in Kendall tau and footrule than the ordinal ranking it "
        "starts from, if every true ranking is equally likely (Theorem 7).",
        void_by=RANKING_VOID,
    ),
    Method(
        "rank",
        "mean",
        "By mean score, as most people do.",
        "one scale shared by all reviewers",
        "Nothing when scales differ; shown for comparison.",
    ),
)


def methods(job: Job | None = None) -> tuple[Method, ...]:
    """List the methods.

    Args:
        job: "compare" or "rank" for the methods of one job only.

    Returns:
        The methods, in the order in which the paper builds them up.

    Examples:
        >>> [method.name for method in methods("compare")]
        ['coin', 'sign', 'mean', 'median', 'trimmed', 'votes']
    """
    return tuple(method for method in CATALOGUE if job in (None, method.job))


def method(job: Job, name: str) -> Method:
    """Return one method of the catalogue.

    Examples:
        >>> method("rank", "flips").default
        True
    """
    return next(entry for entry in methods(job) if entry.name == name)

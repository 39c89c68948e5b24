"""The methods, with what each assumes and what it can certify at best.

The claim of a method is what is proved of it if all that it assumes holds; the
certificate of a result is what its data and its design leave of that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from evenhand.certificate import NONE, Claim, not_strict

if TYPE_CHECKING:
    from evenhand._results import Json

Job = Literal["compare", "rank"]

ANY_SCALES = "any increasing scales"
AB_DESIGN = (
    f"{ANY_SCALES}; reviewers assigned to the two items at random; noise that does not "
    "depend on the item"
)
CONSISTENT = (
    f"{ANY_SCALES}, strictly (no reviewer would give two items the same score); "
    "consistent comparisons"
)
RANKING_DESIGN = (
    f"{CONSISTENT}; sets of items of one size, assigned to reviewers at random"
)

COMPARISONS = "given the comparisons"
ANY_RANKING = "any true ranking"
UNIFORM = "every true ranking equally likely"
# What is proved strictly, and what is left where that is all.
WEAKER = {
    "closer to": "no farther from",
    "closer on": "no farther on",
    "exactly right more often": "exactly right no less often",
    "right more often": "no less often right",
}


def _strict(claim: Claim, says: str, **changes: str) -> Claim:
    """Make a claim strict, with what is left of it where it is not."""
    weakly = says
    for strong, weak in WEAKER.items():
        weakly = weakly.replace(strong, weak)
    return replace(claim, says=says, weakly=weakly, strict=True, **changes)


BEATS_A_COIN = _strict(
    Claim("G", "", loss="zero-one", baseline="fair coin", prior="any values"),
    "right more often than a fair coin, whatever increasing scales the reviewers use "
    "and whatever the values",
    conditional="given how many scored each item",
)
AGAINST_A_COIN = not_strict(BEATS_A_COIN)
AS_ANY_ORDINAL = Claim(
    "paper Lemma 1",
    "exactly right as often as any ordinal method can be if every true ranking is "
    "equally likely",
    loss="zero-one",
    baseline="every ordinal method",
    prior=UNIFORM,
    conditional=COMPARISONS,
)
BEATS_ORDINAL = replace(
    AS_ANY_ORDINAL,
    says="exactly right more often than every ordinal method if every true ranking is "
    "equally likely",
    weakly=AS_ANY_ORDINAL.says,
    strict=True,
)
TIES = _strict(
    Claim("T", "", loss="kendall", prior=ANY_RANKING, conditional=COMPARISONS),
    "closer to the true ranking in expected Kendall tau than with its ties broken at "
    "random, whatever the scales and the true ranking",
    baseline="random tie-breaking",
)
TIES_TWICE = _strict(
    TIES,
    f"{TIES.says}, and exactly right more often where its groups are in the right "
    "order",
    loss="kendall, zero-one",
)
_MODEL = Claim(
    NONE, "no guarantee: right only as far as reviewers' scales are what it assumes"
)
_ORDERS = Claim(
    NONE,
    "no guarantee, but no scale can change its answer: it looks at each reviewer's "
    "order only",
)


@dataclass(frozen=True, slots=True)
class Method:
    """One way to decide.

    Attributes:
        job: "compare" for two items, "rank" for many.
        name: What `method=` and `--method` take.
        summary: What it does.
        assumes: What must hold of the reviewers and of the assignment.
        best: What is proved of its answer if that holds.
        default: Whether it is used when no method is named.
    """

    job: Job
    name: str
    summary: str
    assumes: str
    best: Claim
    default: bool = False

    @property
    def claims(self) -> str:
        """What it can certify at best, as a sentence."""
        return self.best.sentence()

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values."""
        return {**asdict(self), "claims": self.claims}


_COMPARE: dict[str, tuple[str, str, Claim]] = {
    "coin": (
        "A fair coin that looks at no score: the baseline.",
        "nothing",
        Claim(NONE, "right half of the time, whatever the scores: the baseline itself"),
    ),
    "sign": (
        "The item with more wins over pairs of scores.",
        AB_DESIGN,
        AGAINST_A_COIN,
    ),
    "mean": ("The item with the higher mean score.", AB_DESIGN, AGAINST_A_COIN),
    "median": (
        "The item with the higher median score (upper, lower or middle).",
        AB_DESIGN,
        AGAINST_A_COIN,
    ),
    "trimmed": ("The item with the higher trimmed mean.", AB_DESIGN, AGAINST_A_COIN),
    "votes": (
        "A majority of biased coins, one for each pair of scores: the paper's rule.",
        AB_DESIGN,
        replace(BEATS_A_COIN, theorem="paper 4"),
    ),
    "guarded": (
        "Mostly the higher trimmed mean, now and then the paper's votes: nearly the "
        "accuracy of the mean, with a guarantee.",
        AB_DESIGN,
        BEATS_A_COIN,
    ),
}
_RANK: dict[str, tuple[str, str, Claim]] = {
    "topological": (
        "The ordering that respects every comparison, smallest labels first.",
        CONSISTENT,
        AS_ANY_ORDINAL,
    ),
    "uniform": (
        "One of the orderings that respect every comparison, all equally likely.",
        CONSISTENT,
        replace(
            AS_ANY_ORDINAL,
            theorem="paper Appendix C",
            says="exactly right as often as any ordinal method can be in the worst "
            "case over true rankings",
            prior=ANY_RANKING,
        ),
    ),
    "mean-rank": (
        "By rank averaged over all orderings that respect every comparison; in our "
        "experiments within 0.5 % of the least expected Kendall tau distance.",
        f"{CONSISTENT}; every true ranking equally likely",
        replace(
            AS_ANY_ORDINAL,
            says="the least expected squared distance of ranks that comparisons alone "
            "allow if every true ranking is equally likely",
            loss="squared ranks",
        ),
    ),
    "flips": (
        "An ordering, with free neighbours settled by biased coins on their scores.",
        RANKING_DESIGN,
        replace(BEATS_ORDINAL, theorem="paper 5"),
    ),
    "flips-uniform": (
        "The same from a uniformly random ordering.",
        RANKING_DESIGN,
        _strict(
            BEATS_ORDINAL,
            "exactly right more often than a uniformly random ordering that respects "
            "the comparisons, whatever the true ranking",
            theorem="paper 8",
            baseline="uniform",
            prior=ANY_RANKING,
        ),
    ),
    "twins": (
        "Any ordinal ranking, with items that the comparisons cannot tell apart "
        "settled by biased coins on their scores.",
        RANKING_DESIGN,
        _strict(
            TIES,
            "closer on average in Kendall tau and footrule than the ordinal ranking it "
            "starts from if every true ranking is equally likely",
            theorem="paper 7",
            loss="kendall, footrule",
            baseline="the ordinal ranking it starts from",
            prior=UNIFORM,
        ),
    ),
    "sorter": (
        "Free pairs sorted one after the other, the most open one first, each by "
        "biased coins on the scores of reviewers not used before.",
        RANKING_DESIGN,
        replace(BEATS_ORDINAL, theorem="K"),
    ),
    "ties": (
        "Any ordinal ranking, with groups that the comparisons cannot tell apart "
        "sorted by mean scores and a little noise.",
        RANKING_DESIGN,
        TIES_TWICE,
    ),
    "safe": (
        "By mean rank, with items of equal mean rank sorted by mean scores and a "
        "little noise; where reviewers contradict each other, some of them make groups "
        "and the others sort them.",
        f"{RANKING_DESIGN}; where reviewers are split, noise that has nothing to do "
        "with items, and a split that was chosen beforehand or that the group makers' "
        "own contradictions call for",
        TIES_TWICE,
    ),
    "mean": (
        "By mean score, as most people do.",
        "one scale shared by all reviewers",
        Claim(
            NONE, "no guarantee: means compare scales with each other, which may differ"
        ),
    ),
    "adaptive": (
        "By scores as far as reviewers' offsets are small, by orders as far as they "
        "are not; how far is read off the data.",
        "reviewers' offsets, as estimated, tell how far scores can be compared",
        Claim(
            NONE,
            "no guarantee under arbitrary scales; it is for the best answer on "
            "ordinary ratings, and method safe for a guarantee",
        ),
    ),
    "centred": (
        "By mean score after each reviewer's mean is taken off.",
        "scales that differ by an offset; reviewers who see equally good items",
        _MODEL,
    ),
    "z": (
        "The same, divided by each reviewer's standard deviation.",
        "scales that differ by offset and slope; reviewers who see equally good and "
        "equally varied items",
        _MODEL,
    ),
    "additive": (
        "By item values of a model with an offset for each reviewer.",
        "scales that differ by an offset",
        _MODEL,
    ),
    "affine": (
        "By item values of a model with an offset and a slope for each reviewer.",
        "scales that differ by offset and slope",
        _MODEL,
    ),
    "isotonic": (
        "By item values that an increasing scale of each reviewer fits best.",
        "any increasing scales, and enough ratings to learn them",
        _MODEL,
    ),
    "bradley-terry": (
        "By item values that explain who was put above whom.",
        f"{ANY_SCALES}; errors of reviewers alike for all items",
        _ORDERS,
    ),
    "borda": (
        "By the share of comparisons that an item won.",
        f"{ANY_SCALES}; reviewers who see equally good items",
        _ORDERS,
    ),
}
_JOBS: dict[Job, dict[str, tuple[str, str, Claim]]]
_JOBS = {"compare": _COMPARE, "rank": _RANK}
CATALOGUE = tuple(
    Method(job, name, *entry, default=name in ("guarded", "adaptive"))
    for job, table in _JOBS.items()
    for name, entry in table.items()
)


def methods(job: Job | None = None) -> tuple[Method, ...]:
    """List the methods.

    Args:
        job: "compare" or "rank" for the methods of one job only.

    Returns:
        The methods, in the order in which the paper builds them up.

    Examples:
        >>> [method.name for method in methods("compare")]
        ['coin', 'sign', 'mean', 'median', 'trimmed', 'votes', 'guarded']
    """
    return tuple(method for method in CATALOGUE if job in (None, method.job))

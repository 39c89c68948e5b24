"""Claims, findings and certificates in words: one template for each code.

A claim has a full sentence, a short line for a terminal where that differs, and a plain
sentence for the first screen of a page; so has a finding where it needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.claims import NONE, NOT_SEALED, REVEALED, Certificate, Claim, Finding
from evenhand.errors import listing, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.claims import Json

    Facts = Mapping[str, Any]

WHATEVER = "whatever increasing scales the reviewers use and whatever the values"
DISTINCT = "no reviewer would give two items the same score"
HOW_DISTINCT = "(distinct=True or --design 'NAME(distinct)')"
EQUALLY_LIKELY = "if every true ranking is equally likely"
AS_ANY = "exactly right as often as any ordinal method can be"
LEFT_OUT = "ratings were left out (--exclude, --only) without a look at the scores"
EITHER_SCORED = "whoever scored an item would have scored the other had they got it"
ANY_SET_SCORED = (
    "whoever scored their items would have scored any other set that they might have "
    "been given"
)
DRAW = (
    "the better of {} stands first {} often than in a random order, {}whatever "
    "increasing scales the reviewers use and whatever the values"
)
TWO_ALIKE = "two items with the same conflicts of interest"
SO_KENDALL = "and the order is {} a random one in expected Kendall tau, "
PLAIN_DRAW = (
    "On average over the draw the better of {} stands first {} often than if the order "
    "were drawn at random, whatever scale each reviewer has in mind, as long as a "
    "better item gets no lower score."
)
COUNTED_BLINDLY = (
    "the items and scores counted were chosen without a look at the scores"
)
UNRELATED = "left for reasons that have nothing to do with items"

TIES_VOID = "ties within a reviewer void every ranking guarantee"

GIVEN = {
    "counts": "given how many scored each item",
    "assignment": "on average over the assignment, not given how many scored each item",
    "comparisons": "given the comparisons",
    "random_comparisons": "on average over random comparisons",
    "groups": "given the reviewers who made the groups",
}
# What a claim is averaged over, not given.
AVERAGED = ("assignment", "random_comparisons")


class Wording(NamedTuple):
    """Sentences in three lengths.

    Attributes:
        full: All of them.
        line: For the terminal; the full ones if empty.
        plain: For a page's first screen; the line if empty.
    """

    full: str
    line: str = ""
    plain: str = ""


class ClaimWords(NamedTuple):
    """A claim in words: strict, and what is left of it where it is not.

    Attributes:
        strict: The claim.
        weak: The same if it is not strict; empty if it never is.
        more: A further sentence, which a page's first line leaves out.
        short: For a terminal, strict and weak, if shorter than in full.
        plain: For the first screen of a page, strict and weak.
    """

    strict: str
    weak: str = ""
    more: str = ""
    short: tuple[str, str] | None = None
    plain: tuple[str, str] | None = None


def _pair(text: str, strict: str, weak: str) -> tuple[str, str]:
    return text.format(strict), text.format(weak)


_TIES = (
    "{} the true ranking in expected Kendall tau than with its ties broken at random, "
    "whatever the scales and the true ranking"
)
_TWICE = ", and exactly right {} often where its groups are in the right order"
_CLOSER, _MORE = ("closer to", "no farther from"), ("more", "no less")
_NEARER = ("closer to the true one", "no farther from the true one")
_PLAIN_TIES = (
    "On average the order is {} than if items that the reviewers' orders leave tied "
    "were sorted at random."
)
DECLARE_SHARES = (
    "adaptive(shares=...), which is told what it need not estimate, has one under this "
    "design. It agreed as well with the truth on real ratings (Kendall .721, adaptive "
    ".722), less after mild warps of scales (.628, .673) and hardly after extreme ones "
    "(.044, .642)."
)
_BEST = (
    "of any two items the better is chosen {} often than the other, so the best at "
    f"least as often as by a random choice{{}}, {WHATEVER}"
)
_ORDER = "; with equal counts the order by means is right as often as a random order's"
CLAIMS = {
    "coin": ClaimWords(
        f"right more often than a fair coin, {WHATEVER}",
        f"no less often right than a fair coin, {WHATEVER}",
        short=(
            "right more often than a coin on any increasing scales",
            "never worse than a coin on any increasing scales",
        ),
        plain=_pair(
            "A rule that decides in this way is right {} often than a fair coin, "
            "whatever scale each reviewer has in mind, as long as a better item gets "
            "a higher score.",
            *_MORE,
        ),
    ),
    "fair_coin": ClaimWords(
        "right half of the time, whatever the scores: the baseline itself"
    ),
    **{
        code: ClaimWords(
            *_pair(_BEST.format("{}", more), "more", "no less"),
            short=_pair(
                "the better of any two is chosen {} often than the other, on any "
                "increasing scales",
                *_MORE,
            ),
            plain=_pair(
                "A rule that decides in this way chooses the better of any two items "
                "{} often than the other, whatever scale each reviewer has in mind, as "
                "long as a better item gets a higher score.",
                *_MORE,
            ),
        )
        for code, more in (("best_arm", ""), ("best_arm_means", _ORDER))
    },
    "fair_arm": ClaimWords("each item is chosen as often, whatever the scores"),
    "agreed": ClaimWords(
        "no theorem is needed: reviewers who scored both items all agree, so the order "
        "is right if their scales are increasing and their scores free of noise"
    ),
    "as_any_ordinal": ClaimWords(
        f"{AS_ANY} {EQUALLY_LIKELY}",
        plain=(
            "From the reviewers' own orders alone, no method is exactly right more "
            f"often, {EQUALLY_LIKELY}.",
        )
        * 2,
    ),
    "as_any_ordinal_at_worst": ClaimWords(
        f"{AS_ANY} in the worst case over true rankings",
        plain=(
            "From the reviewers' own orders alone, no method is exactly right more "
            "often in the worst case.",
        )
        * 2,
    ),
    "squared_ranks": ClaimWords(
        "the least expected squared distance of ranks that comparisons alone allow "
        f"{EQUALLY_LIKELY}",
        plain=(
            "From the reviewers' own orders alone, no method comes closer on average "
            f"(in squared differences of ranks), {EQUALLY_LIKELY}.",
        )
        * 2,
    ),
    "beats_ordinal": ClaimWords(
        f"exactly right more often than every ordinal method {EQUALLY_LIKELY}",
        f"{AS_ANY} {EQUALLY_LIKELY}",
        plain=_pair(
            "The order is exactly right {} method that looks at each reviewer's own "
            f"order only, {EQUALLY_LIKELY}.",
            "more often than any",
            "as often as the best",
        ),
    ),
    "beats_uniform": ClaimWords(
        *_pair(
            "exactly right {} often than a uniformly random ordering that respects the "
            "comparisons, whatever the true ranking",
            *_MORE,
        ),
        plain=_pair(
            "The order is exactly right {} often than one drawn at random among all "
            "that agree with every reviewer.",
            *_MORE,
        ),
    ),
    "ties": ClaimWords(*_pair(_TIES, *_CLOSER), plain=_pair(_PLAIN_TIES, *_NEARER)),
    "ties_twice": ClaimWords(
        _TIES.format("closer to") + _TWICE.format("more"),
        _TIES.format("no farther from") + _TWICE.format("no less"),
        short=_pair(
            "on average {} the true ranking than breaking its ties at random, on any "
            "scales",
            *_CLOSER,
        ),
        plain=_pair(_PLAIN_TIES, *_NEARER),
    ),
    "any_two": ClaimWords(
        DRAW.format("any two items", "more", SO_KENDALL.format("better than")),
        DRAW.format("any two items", "no less", SO_KENDALL.format("no worse than")),
        short=_pair(
            "the better of any two items stands first {} often than in a random order, "
            "on any increasing scales",
            *_MORE,
        ),
        plain=_pair(PLAIN_DRAW.format("any two items", "{}"), *_MORE),
    ),
    "two_alike": ClaimWords(
        DRAW.format(TWO_ALIKE, "more", ""),
        DRAW.format(TWO_ALIKE, "no less", ""),
        plain=_pair(PLAIN_DRAW.format(TWO_ALIKE, "{}"), *_MORE),
    ),
    "beats_its_start": ClaimWords(
        *_pair(
            "{} on average in Kendall tau and footrule than the ordinal ranking it "
            f"starts from {EQUALLY_LIKELY}",
            "closer",
            "no farther",
        ),
        plain=_pair(
            "On average the order is {} than the order that the method started from, "
            f"{EQUALLY_LIKELY}.",
            *_NEARER,
        ),
    ),
    "means": ClaimWords(
        "no guarantee: means compare scales with each other, which may differ"
    ),
    "model": ClaimWords(
        "no guarantee: right only to the extent that reviewers' scales are as it "
        "assumes"
    ),
    "orders": ClaimWords(
        "no guarantee, but no scale can change its answer: it looks at each reviewer's "
        "order only"
    ),
    "own": ClaimWords("no guarantee: evenhand knows nothing about your own function"),
    "grades": ClaimWords(
        "no guarantee: marks are right to the extent that reviewers' scales are as the "
        "{method} model assumes"
    ),
    "adaptive": ClaimWords(
        "adaptive has no guarantee if scales are arbitrary",
        more="Method safe has one if items were assigned at random and nobody ties two "
        "items.",
    ),
    "adaptive_drawn": ClaimWords(
        "adaptive has no guarantee if scales are arbitrary",
        more=f"But {DECLARE_SHARES}",
    ),
    "worst_case": ClaimWords(
        "on average over the draw the chosen hold at least the stated worst-case "
        "number of the truly best",
        plain=_pair(
            "On average over the draw the chosen hold at least as many of the truly "
            "best as the report states, if all its intervals hold.",
            "",
            "",
        ),
    ),
    "orders_only": ClaimWords(
        "no guarantee",
        more="It uses only orders, so no scale can change it; it is as good as its "
        "model.",
    ),
}


def _contradicted_counts(facts: Facts) -> str:
    return f"the counts contradict the design: {uneven_counts(facts)}"


def uneven_counts(facts: Facts) -> str:
    """Say which counts a design makes nearly impossible.

    Examples:
        >>> uneven_counts({"items": ["A", "B"], "answered": [40, 4], "given": None,
        ...     "without_partner": False, "probability": 1.7e-8, "design": "coins"})
        "40 scores of 'A' and 4 of 'B' have probability 1.7e-08 under coins"
    """
    shares = [f"{number:,}" for number in facts["answered"]]
    if facts["given"] is not None:
        shares = [f"{n} of {k:,}" for n, k in zip(shares, facts["given"], strict=True)]
    lone = " without their partner's" if facts["without_partner"] else ""
    first, second = facts["items"]
    counts = f"{shares[0]} scores{lone} of {first!r} and {shares[1]} of {second!r}"
    chance = f"{facts['probability']:.2g} under {facts['design']}"
    return f"{counts} have probability {chance}"


def _assignment(facts: Facts) -> str:
    backing = facts["backing"]
    shown = f"{REVEALED}; {NOT_SEALED}" if backing == "revealed" else backing
    return f"random assignment ({facts['design']}): {shown}"


def _either_clause(facts: Facts) -> str:
    if facts["missing"]:
        number = plural(facts["missing"], "assigned score")
        return f"{EITHER_SCORED} ({number} missing)"
    more = " (some scores are missing)" if facts["some_missing"] else ""
    return f"{EITHER_SCORED}{more}"


def _any_set_clause(facts: Facts) -> str:
    missing = plural(facts["missing"], "assigned rating")
    return ANY_SET_SCORED + (f" ({missing} missing)" if facts["missing"] else "")


def ties_clause(facts: Facts) -> str:
    """Say what ties within reviewers leave of a ranking guarantee.

    Examples:
        >>> ties_clause({"reviewers": 1, "split": False})
        '1 reviewer gave equal scores to several items, and ties within a reviewer \
void every ranking guarantee'
    """
    text = f"{plural(facts['reviewers'], 'reviewer')} gave equal scores to several "
    text += "items"
    if facts.get("distinct"):
        text += ", although distinct says that nobody would"
    if facts["split"]:
        return text
    return f"{text}, and {TIES_VOID}"


def _ties_possible(facts: Facts) -> str:
    more = f" {HOW_DISTINCT}" if facts["split"] else ", under any assignment"
    return f"nobody declared that {DISTINCT}{more}"


def _unequal_loads(facts: Facts) -> str:
    most = plural(facts["most"], "item")
    text = f"reviewers scored from {facts['least']} to {most} each"
    return f"{text}, and the guarantee needs equal loads"


def _unequal_counts(facts: Facts) -> str:
    rules = "votes and means" if facts["grouped"] else "means and medians"
    counts = f"the counts are unequal ({facts['first']} and {facts['second']})"
    return f"{counts}, and given such counts {rules} can be worse than a coin"


FINDINGS: Mapping[str, str | Callable[[Facts], str]] = {
    "joint_intervals": "all intervals hold at once, which has a probability of "
    "{level:.0%} if the {method} model is right",
    "intervals_hold": "all intervals of the file hold at once",
    "free_of_noise": "no reviewer orders two items wrongly; scales may be arbitrary",
    "sets_not_listed": "the possible best sets are too many to list",
    "undeclared": "nobody declared how reviewers were assigned",
    "other_design": lambda facts: (
        f"the claim is proved for the designs {listing(facts['known'])}, not for "
        f"{facts['design']!r}"
    ),
    "assignment": _assignment,
    "excluded": LEFT_OUT,
    "contradicted_counts": _contradicted_counts,
    "either_scored": _either_clause,
    "counted_blindly": COUNTED_BLINDLY,
    "reviewers_not_seen": "from counts: reviewers were not seen, none of whom gave two "
    "of the scores",
    "chosen_blindly": "the two items, out of {items:,}, were chosen without a look at "
    "the scores",
    "both_dropped": "reviewers who scored both items, and are left out, did so by no "
    "choice that has to do with the items",
    "item_free_noise": "score noise is independent of the item",
    "paired_blindly": "scores were paired without looking at them",
    "drawn_in_floats": "pairs and votes of so many scores, which are drawn in floating "
    "point, follow their laws exactly",
    "rule_checked": "{rule} was asked {asked} times around the data, and no score was "
    "found at which it falls when it should rise, or does not turn round when the "
    "items swap",
    "everyone": "no reviewer would give both items the same score",
    "someone": "at least one reviewer would score the better item higher (if none "
    "would, it is exactly a fair coin)",
    "someone_of_two": "of two items, at least one reviewer would score the better one "
    "higher (if none would, both are chosen as often)",
    "weight_on_grid": "weight {weight}: checked on a grid",
    "weight_rounded": "weight {weight} is rounded, and cannot tell large gaps apart",
    "weight_increasing": "weight {weight}: strictly increasing by its form",
    "equal_counts": "equal counts: {scores} scores of each item",
    "equal_votes": "equal counts in the votes: {scores} scores of each item",
    "unequal_counts": _unequal_counts,
    "split_always": "split=always was chosen before scores were seen",
    "split_by_first": "reviewers who made the groups contradict each other themselves",
    "split_by_all": "whether to split the reviewers was decided with a look at the "
    "scores that sort the groups. For a guarantee choose safe(split=always) before "
    "scores are seen",
    "own_start": "a start that does not look at scores",
    "by_proxy": "the order is by a proxy, not by mean ranks",
    "by_sample": "mean ranks are from sampled orderings",
    "on_average": "with the paper's scan it is proved over random comparisons only",
    "no_noise": "without noise nothing distinguishes equal means",
    "nothing_settled": "no scores were free to settle anything, so it is its ordinal "
    "start",
    "split_at_random": "reviewers split at random, without a look at scores",
    "unrelated_noise": "noise in scores that has nothing to do with items",
    "split_groups": "the groups and the order within them come from different "
    "reviewers",
    "consistent": "no contradiction among the comparisons",
    "ordered_rightly": "reviewers order what they see without error",
    "conflicts": "conflicts of interest keep some reviewers from changing places, "
    "which the guarantee needs",
    "alike_items": "{alike:,} of {pairs:,} pairs of items have the same conflicts of "
    "interest, and only their order is claimed",
    "conflicts_favour": lambda facts: (
        "conflicts of interest favour some items, and "
        + (
            "no two items are known to have the same ones"
            if facts["uniform"]
            else "not every feasible assignment was exactly as likely"
        )
    ),
    "by_share": "items were put first by their probability of being among the best, "
    "which is estimated from all scores",
    "free_draw": "no conflict, bid or expertise decided who might get which item",
    "scales_fixed": "each reviewer's scale was fixed before the draw and does not "
    "depend on their other items",
    "silent_blindly": lambda facts: (
        "whether a rating is missing has nothing to do with which item it is of"
        + f" ({plural(facts['missing'], 'assigned rating')} missing)"
        * bool(facts["missing"])
    ),
    "constants_declared": "shares, sd and noise were declared without a look at these "
    "scores, or come from a draw of their own",
    "weights_fixed": "weights of ratings have nothing to do with the items",
    "weights_estimated": "how much each level of confidence counts is estimated from "
    "the scores, so that a better score may lower what an item has",
    "no_reference": "no item is a reference, and equal ones are ordered at random",
    "values_in_floats": "values within a billionth of their spread, which count as "
    "equal, differ by rounding only",
    "served_again": lambda facts: (
        f"scores of {plural(facts['reviewers'], 'reviewer')} were used twice"
    ),
    "any_set_scored": _any_set_clause,
    "criteria_fixed": "weights of the criteria fixed before the scores were seen, and "
    "no criterion missing because of the item",
    "dominance": "of two items one is at least as good on every criterion",
    "means_over_filled": "the total is a mean over the criteria that were filled in, "
    "which can be right with probability 0 if what is missing depends on the item",
    "no_ties": "no ties within a reviewer",
    "common_items": lambda facts: (
        f"{plural(facts['items'], 'item')} given to everybody"
    ),
    "own_pool": "nobody's scores move the chance of their own item: only the other "
    "pool's scores count",
    "distinct": lambda facts: DISTINCT + ", whatever the noise" * facts["split"],
    "ties": ties_clause,
    "ties_possible": _ties_possible,
    "not_pairs": "the design 'pairs' gives each reviewer two items and no two the same "
    "two, which is not so here",
    "unequal_loads": _unequal_loads,
    "equal_loads": lambda facts: f"equal loads: {plural(facts['most'], 'item')} each",
    "equal_tied_loads": "equal loads of reviewers used for tied items",
    "drawn_loads": "loads as they were drawn",
    "left_unseen": lambda facts: (
        f"{plural(facts['reviewers'], 'reviewer')} {UNRELATED}, and before seeing "
        "theirs, as the organiser declares"
    ),
    "left": lambda facts: f"{plural(facts['reviewers'], 'reviewer')} {UNRELATED}",
    "substitutes": lambda facts: (
        f"{plural(facts['reviewers'], 'substitute')} called in without regard to items"
    ),
}


def finding_text(finding: Finding) -> str:
    """Return a finding as a clause for a list or a sentence.

    Examples:
        >>> finding_text(Finding("equal_counts", "checked", {"scores": 3}))
        'equal counts: 3 scores of each item'
    """
    template = FINDINGS[finding.code]
    if callable(template):
        return template(finding.facts)
    return template.format(**finding.facts)


def plain_finding(finding: Finding) -> str:
    """Return a finding for the first screen of a page, where its standing is clear."""
    if finding.code == "assignment" and finding.facts["backing"] == "declared":
        return f"random assignment ({finding.facts['design']})"
    return finding_text(finding)


def reason_sentence(finding: Finding) -> str:
    """Say why there is no guarantee, and what could be done about it."""
    if finding.code == "undeclared":
        return (
            "Reason: nobody declared how reviewers were assigned. If that was at "
            "random, say how with the option design."
        )
    return f"Reason: {finding_text(finding)}."


def _advice(finding: Finding) -> str:
    if finding.code == "undeclared":
        designs = ", ".join(finding.facts["known"])  # type: ignore[arg-type]  # names
        return (
            "If they were assigned at random, declare it (design= or --design: "
            f"{designs})."
        )
    return f"If that is so, declare it {HOW_DISTINCT}."


def _clause(claim: Claim, *, short: bool = False) -> str:
    words = CLAIMS[claim.code]
    strict, weak = (words.short if short else None) or (words.strict, words.weak)
    text = strict if claim.strict or not weak else weak
    text = text.format(method=claim.method)
    return f"up to sampling error {text}" if claim.sampled else text


def _cite(theorem: str) -> str:
    if theorem == NONE:
        return ""
    if theorem.startswith("paper "):
        number = theorem.removeprefix("paper ")
        kind = "Theorem " if number[0].isdigit() else ""
        return f" (the paper's {kind}{number})"
    return f" (Theorem {theorem})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def claim_sentence(claim: Claim) -> str:
    """Return a claim as a sentence, without what it is given."""
    text = f"{_capital(_clause(claim))}{_cite(claim.theorem)}. "
    return f"{text}{CLAIMS[claim.code].more}".strip()


def claim_json(claim: Claim) -> dict[str, Json]:
    """Return the fields of a claim as in the JSON, its words among them."""
    words = CLAIMS[claim.code]
    says = f"{_clause(claim)}. {words.more}" if words.more else _clause(claim)
    return {
        "theorem": claim.theorem,
        "says": says.removesuffix("."),
        "weakly": words.weak,
        "loss": claim.loss,
        "baseline": claim.baseline,
        "prior": claim.prior,
        "conditional": GIVEN[claim.given] if claim.given else None,
        "strict": claim.strict,
    }


def plain_claim(certificate: Certificate) -> str:
    """Return a claim for the first screen of a page; empty if nothing is proved."""
    claim = certificate.claim
    if claim.theorem == NONE:
        return ""
    strict, weak = CLAIMS[claim.code].plain or ("", "")
    text = strict if claim.strict else weak
    return f"Up to sampling error: {text}" if claim.sampled else text


NO_CLAIM = "It is an estimate, without a guarantee."


def plain_claim_of(certificate: Mapping[str, Any]) -> str:
    """Return in one plain sentence what a certificate of the JSON claims.

    Examples:
        >>> plain_claim_of({"facts": {"claim": "adaptive"}, "theorem": "none"})
        'It is an estimate, without a guarantee.'
    """
    words = CLAIMS.get(certificate["facts"]["claim"])
    if certificate["theorem"] == NONE or words is None:
        return NO_CLAIM
    clause = f"{_capital(words.strict)}."
    strict, weak = words.plain or (clause, clause)
    return strict if certificate["strict"] else weak


def brief(certificate: Certificate) -> str:
    """Return what a certificate claims, without what that assumes.

    Examples:
        >>> from evenhand.claims import certify
        >>> brief(certify(Claim("coin", "G", given="counts", strict=True)))[:33]
        'Right more often than a fair coin'
    """
    claim = certificate.claim
    if certificate.voids:
        return headline(certificate)
    if claim.given is None:
        return claim_sentence(claim)
    return f"{_capital(_clause(claim))}{_cite(claim.theorem)}, {GIVEN[claim.given]}."


def headline(certificate: Certificate) -> str:
    """Return the first sentence of that."""
    if certificate.voids:
        return f"No guarantee: {'; '.join(certificate.reasons)}."
    if certificate.theorem == NONE:
        return f"{_capital(_clause(certificate.claim))}."
    return brief(certificate)


# Why there is no guarantee, for a terminal, where it differs from the full reason.
SHORT_REASONS = {"undeclared": "no --design was given"}
NO_GUARANTEE = {
    "means": "none. Means compare scales with each other, which may differ.",
    "model": "none. It is right to the extent that scales are as the model assumes.",
    "orders": "none, but no scale can change the answer, since only orders are used.",
    "own": "none. evenhand knows nothing about your own function.",
    "grades": "none. Marks are right to the extent that the {method} model is.",
    "adaptive": "none with adaptive. --method safe has one if the assignment was "
    "random and no reviewer ties items.",
    "adaptive_drawn": f"none with adaptive, but {DECLARE_SHARES}",
    "orders_only": "none, but no scale can change the answer, since only orders "
    "are used. It is as good as its model.",
}


def guarantee(certificate: Certificate) -> str:
    """Return what follows "Guarantee:" on a terminal.

    Examples:
        >>> from evenhand.claims import certify
        >>> guarantee(certify(Claim("adaptive")))[:19]
        'none with adaptive.'
    """
    if certificate.voids:
        reasons = (
            SHORT_REASONS.get(finding.code, text)
            for finding, text in zip(
                certificate.voids, certificate.reasons, strict=True
            )
        )
        return f"none, because {'; '.join(reasons)}."
    claim = certificate.claim
    if claim.code in NO_GUARANTEE:
        return NO_GUARANTEE[claim.code].format(method=claim.method)
    sentence = brief(certificate)
    return f"{sentence[:1].lower()}{sentence[1:]}"


def short(certificate: Certificate) -> str:
    """Return what a certificate claims in a line for a terminal."""
    claim = certificate.claim
    if claim.theorem == NONE:
        return brief(certificate)
    return f"{_clause(claim, short=True)}{_cite(claim.theorem)}."


def full(certificate: Certificate) -> str:
    """Return what a certificate claims and all that this rests on."""
    sentence, best = brief(certificate), certificate.best
    voids = certificate.voids
    if voids and all(finding.mends for finding in voids):
        advice = " ".join(map(_advice, voids))
        claim = f"{_clause(best)}{_cite(best.theorem)}"
        return f"{sentence} {advice} With that it is, at best, {claim}."
    if voids or certificate.theorem == NONE:
        return sentence
    if certificate.texts("declared"):
        sentence += f" It assumes: {'; '.join(certificate.texts('declared'))}."
    if weaker := certificate.texts("weaker"):
        sentence += f" A stronger claim fails because: {'; '.join(weaker)}."
    return sentence

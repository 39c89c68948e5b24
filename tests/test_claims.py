"""A certificate is what the findings leave of a claim."""

import json

import pytest

from evenhand.claims import (
    Backing,
    Claim,
    Finding,
    assignment_finding,
    certify,
    not_strict,
)
from evenhand.method import Job, methods

BEST = Claim(
    "G",
    "right more often than a coin",
    "no less often right than a coin",
    loss="zero-one",
    baseline="fair coin",
    prior="any values",
    conditional="given the counts",
    strict=True,
)


def test_nothing_found_leaves_the_claim_as_it_is() -> None:
    found = certify(BEST)
    assert (found.theorem, found.loss, found.baseline) == ("G", "zero-one", "fair coin")
    assert (found.prior, found.conditional) == ("any values", "given the counts")
    assert found.strict
    assert found.sentence == (
        "Right more often than a coin (Theorem G), given the counts."
    )


def test_checked_and_declared_assumptions_are_kept_apart() -> None:
    findings = [Finding("checked", "equal counts"), Finding("declared", "no collusion")]
    found = certify(BEST, findings)
    assert found.checked == ("equal counts",)
    assert found.declared == ("no collusion",)
    assert found.sentence.endswith("given the counts. It assumes: no collusion.")


def test_a_weaker_claim_says_why_it_is_weaker() -> None:
    found = certify(BEST, [Finding("weaker", "a gap is too large", not_strict)])
    assert found.theorem == "G"
    assert not found.strict
    assert found.sentence == (
        "No less often right than a coin (Theorem G), given the counts. It claims "
        "no more, because a gap is too large."
    )


def test_one_void_leaves_nothing_whatever_else_holds() -> None:
    findings = [
        Finding("checked", "equal counts"),
        Finding("void", "one item has no score"),
        Finding("weaker", "a gap is too large", not_strict),
        Finding("void", "nobody knows who scored"),
    ]
    found = certify(BEST, findings, retired=2)
    assert found.theorem == "none"
    assert (found.loss, found.baseline, found.prior) == (None, None, None)
    assert found.conditional is None
    assert not found.strict
    assert found.retired == 2
    assert found.sentence == (
        "No guarantee: one item has no score; nobody knows who scored."
    )


def test_a_method_without_a_theorem_keeps_its_own_words() -> None:
    found = certify(Claim("none", "no guarantee: means compare scales"))
    assert found.theorem == "none"
    assert found.sentence == "No guarantee: means compare scales."


@pytest.mark.parametrize(
    ("design", "backing", "standing", "words"),
    [
        ("halves", "declared", "declared", "random assignment (halves): declared"),
        ("halves", "verified", "checked", "random assignment (halves): verified"),
        ("halves", "revealed", "declared", "not known to have been sealed before"),
        ("pairs", "declared", "void", "not for 'pairs'"),
        (None, "declared", "void", "nobody declared how reviewers were assigned"),
    ],
)
def test_the_assignment_is_verified_declared_wrong_or_unknown(
    design: str | None, backing: Backing, standing: str, words: str
) -> None:
    finding = assignment_finding(design, ("halves", "coins"), backing=backing)
    assert finding.standing == standing
    assert words in finding.text


def test_json_has_exactly_the_fields_of_the_contract() -> None:
    fields = json.loads(json.dumps(certify(BEST).to_dict()))
    assert list(fields) == [
        "theorem",
        "loss",
        "baseline",
        "prior",
        "conditional",
        "strict",
        "checked",
        "declared",
        "retired",
        "sentence",
    ]


def test_every_strict_claim_of_a_method_has_words_for_a_weaker_one() -> None:
    strict = [method.best for method in methods() if method.best.strict]
    assert len(strict) >= 7
    for claim in strict:
        assert claim.weakly
        assert claim.weakly != claim.says
        assert not certify(claim, [Finding("weaker", "x", not_strict)]).strict


def test_each_job_has_one_default_method() -> None:
    jobs: tuple[Job, ...] = "compare", "rank"
    for job in jobs:
        assert sum(method.default for method in methods(job)) == 1

"""A certificate is what the findings leave of a claim."""

import json

import pytest

from evenhand.claims import (
    NOT_STRICT,
    Backing,
    Claim,
    Finding,
    assignment_finding,
    certify,
)
from evenhand.method import Job, methods
from evenhand.words.claims import CLAIMS, WHATEVER

GIVEN = "given how many scored each item"
BEST = Claim(
    "coin",
    "G",
    loss="zero-one",
    baseline="fair coin",
    prior="any values",
    given="counts",
    strict=True,
)


def test_nothing_found_leaves_the_claim_as_it_is() -> None:
    found = certify(BEST)
    assert (found.theorem, found.loss, found.baseline) == ("G", "zero-one", "fair coin")
    assert (found.prior, found.conditional) == ("any values", GIVEN)
    assert found.strict
    assert found.sentence == (
        f"Right more often than a fair coin, {WHATEVER} (Theorem G), {GIVEN}."
    )


def test_checked_and_declared_assumptions_are_kept_apart() -> None:
    findings = [Finding("no_ties", "checked"), Finding("own_start", "declared")]
    found = certify(BEST, findings)
    assert found.texts("checked") == ("no ties within a reviewer",)
    start = "a start that does not look at scores"
    assert found.texts("declared") == (start,)
    assert found.sentence.endswith(f"{GIVEN}. It assumes: {start}.")


def test_a_weaker_claim_says_why_it_is_weaker() -> None:
    found = certify(BEST, [Finding("no_noise", "weaker", leaves=NOT_STRICT)])
    assert found.theorem == "G"
    assert not found.strict
    assert found.sentence == (
        f"No less often right than a fair coin, {WHATEVER} (Theorem G), {GIVEN}. A "
        "stronger claim fails because: without noise nothing distinguishes equal means."
    )


def test_one_void_leaves_nothing_whatever_else_holds() -> None:
    findings = [
        Finding("no_ties", "checked"),
        Finding("by_proxy", "void"),
        Finding("no_noise", "weaker", leaves=NOT_STRICT),
        Finding("split_by_first", "void"),
    ]
    found = certify(BEST, findings, retired=2)
    assert found.theorem == "none"
    assert (found.loss, found.baseline, found.prior) == (None, None, None)
    assert found.conditional is None
    assert not found.strict
    assert found.retired == 2
    assert found.sentence == (
        "No guarantee: the order is by a proxy, not by mean ranks; reviewers who made "
        "the groups contradict each other themselves."
    )


def test_a_method_without_a_theorem_keeps_its_own_words() -> None:
    found = certify(Claim("own"))
    assert found.theorem == "none"
    assert found.sentence == (
        "No guarantee: evenhand knows nothing about your own function."
    )


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
        "facts",
    ]


def test_every_strict_claim_of_a_method_has_words_for_a_weaker_one() -> None:
    strict = [method.best for method in methods() if method.best.strict]
    assert len(strict) >= 7
    for claim in strict:
        words = CLAIMS[claim.code]
        assert words.weak
        assert words.weak != words.strict
        finding = Finding("no_noise", "weaker", leaves=NOT_STRICT)
        assert not certify(claim, [finding]).strict


def test_each_job_has_one_default_method() -> None:
    jobs: tuple[Job, ...] = "compare", "rank"
    for job in jobs:
        assert sum(method.default for method in methods(job)) == 1

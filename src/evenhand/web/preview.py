"""What a plan will allow to claim, and how accurate it will be, before it starts.

The claim is the certificate of a made-up run of this very plan: the same draw, ratings
without a tie, the same method. Accuracy is simulated.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.ab.comparison import compare
from evenhand.claims import NONE
from evenhand.designs.design import ManyItemDesign, declare
from evenhand.designs.drawing import assign, fresh_secret, seal_of, verify
from evenhand.errors import EvenhandError, plural
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import simulate
from evenhand.method import as_method
from evenhand.ranking.claims import ranking_certificate
from evenhand.ranking.methods import Answer, RankMethod
from evenhand.ranking.selection import select
from evenhand.ratings import Ratings
from evenhand.web.plan import METHODS, narrow_choice, require_complete
from evenhand.words.claims import NO_CLAIM, plain_claim_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.claims import Certificate
    from evenhand.designs.assignment import Assignment
    from evenhand.web.plan import EvaluationPlan

TRIALS, MOST_SCORES = 40, 400


@dataclass(frozen=True, slots=True)
class Preview:
    """What there is to say about a plan.

    Attributes:
        problem: Why it cannot be sealed yet, or nothing.
        works: What is drawn, in a sentence.
        claims: For each method, what it may claim.
        plainly: For each method, the same in a plain sentence.
        costs: What takes something away, a sentence each.
        accuracy: For each method and load, how good it will be.
    """

    problem: str = ""
    works: str = ""
    claims: tuple[tuple[str, str], ...] = ()
    plainly: Mapping[str, str] = field(default_factory=dict)
    costs: tuple[str, ...] = ()
    accuracy: tuple[tuple[str, str], ...] = field(default=())


def preview(plan: EvaluationPlan) -> Preview:
    """Say what a plan will allow; runs in another process."""
    try:
        require_complete(plan)
        secret = fresh_secret()
        drawn = assign(
            [item.label for item in plan.items],
            [person.name for person in plan.people],
            conflicts=plan.conflicts,
            secret=secret,
            **plan.options(),
        )
        drawn = verify(drawn.without_secret(), secret, seal_of(secret))
        certificates = {
            method: _certificate(plan, drawn, method) for method in _methods(plan)
        }
        return Preview(
            works=_works(drawn),
            claims=tuple(
                (method, _claim(certificate))
                for method, certificate in certificates.items()
            ),
            plainly={
                method: _plain(certificate)
                for method, certificate in certificates.items()
            },
            costs=tuple(_costs(plan, drawn)),
            accuracy=tuple(_accuracy(plan)),
        )
    except EvenhandError as error:
        return Preview(problem=str(error))


def _methods(plan: EvaluationPlan) -> tuple[str, ...]:
    return METHODS["rank"][:1] if plan.scale.kind == "order" else METHODS[plan.job]


def _works(drawn: Assignment) -> str:
    items = [item for _, item in drawn.rows]
    counts = [items.count(item) for item in drawn.items]
    low, high = min(counts), max(counts)
    each = f"{low}" if low == high else f"{low} or {high}"
    law = f" {drawn.law}" if drawn.uniform else ""
    return f"{plural(len(drawn.rows), 'rating')}, {each} for each item.{law}"


def _claim(certificate: Certificate | None) -> str:
    """Return all that a certificate says, or why it claims nothing."""
    if certificate is None or certificate.theorem == NONE:
        return certificate.brief if certificate else ""
    return certificate.sentence


def _plain(certificate: Certificate | None) -> str:
    """Return what may be claimed, in words that everybody knows."""
    return plain_claim_of(certificate.to_dict()) if certificate else NO_CLAIM


def _certificate(
    plan: EvaluationPlan, drawn: Assignment, method: str
) -> Certificate | None:
    """Return the certificate of a run in which everything goes well."""
    place = {item: at for at, item in enumerate(drawn.items, start=1)}
    people = [reviewer for reviewer, _ in drawn.rows]
    items = [item for _, item in drawn.rows]
    ratings = Ratings(people, items, [float(place[item]) for item in items])
    if plan.job == "select":
        top = min(plan.top, ratings.n_items)
        options: dict[str, Any] = {"method": method, "assignment": drawn, "rng": 1}
        return select(ratings, places=top, **options).certificate
    if plan.job == "compare":
        return compare(ratings, method=method, assignment=drawn, rng=1).certificate
    return _best(plan, drawn, method, ratings)


def _best(
    plan: EvaluationPlan, drawn: Assignment, method: str, ratings: Ratings
) -> Certificate:
    """Return what a ranking may claim if nothing in the data forbids it."""
    if plan.scale.kind == "order":
        frame = ratings.to_frame().rename({"score": "rank"})
        frame = frame.with_columns(pl.col("rank").rank().over("reviewer"))
        ratings = Ratings.from_frame(frame)
    return ranking_certificate(
        ratings,
        as_method(method, RankMethod),
        Answer(np.arange(ratings.n_items)),
        declare(None, drawn, ManyItemDesign, ratings),
        distinct=plan.distinct,
    )


def _costs(plan: EvaluationPlan, drawn: Assignment) -> list[str]:
    costs = []
    n_unrated = len(drawn.items) - len({item for _, item in drawn.rows})
    if n_unrated:
        costs.append(
            f"{n_unrated} of {plural(len(drawn.items), 'item')} will have no reviewer "
            "and get no rating. Give reviewers more items each, or add reviewers."
        )
    if plan.job == "rank" and plan.scale.kind == "letters":
        costs.append(
            f"With {len(plan.scale.levels)} levels items often tie, and ties void the "
            "ranking guarantees. A scale of numbers has few ties."
        )
    if plan.scale.kind == "order":
        costs.append("Orders have no scores, so method safe cannot be used.")
    if plan.conflicts:
        costs.append(
            "With conflicts, only methods that use orders alone keep their guarantee."
        )
        costs += filter(None, [narrow_choice(len(plan.items), plan.per_reviewer)])
    if plan.job == "compare" and len(plan.people) % 2:
        costs.append("One item gets one more rating than the other.")
    if not drawn.uniform:
        costs.append(drawn.law)
    if not plan.keep_unfinished:
        costs.append(
            "Whoever does not finish loses all their ratings, and the guarantee "
            "assumes that they stopped for reasons unrelated to the items."
        )
    if not plan.reserves:
        costs.append(
            "There are no reserves: an absence costs ratings, not the guarantee."
        )
    return costs


def _accuracy(plan: EvaluationPlan) -> list[tuple[str, str]]:
    """Simulate the plan with its load and more, with scales that differ."""
    rows: list[tuple[str, str]] = []
    n, people = len(plan.items), len(plan.people)
    if plan.job == "compare":
        scenario = Scenario(job="compare", reviewers=people, noise="normal:0.2")
        simulation = simulate(scenario, "guarded", trials=2000, rng=1)
        return [("The better item wins", f"{1 - simulation.rows[0].risk:.0%}")]
    top = min(plan.top, n - 1)
    for load in (plan.per_reviewer, plan.per_reviewer + 1, 2 * plan.per_reviewer):
        if load < n and load * people <= MOST_SCORES:
            with contextlib.suppress(EvenhandError):
                share = _share(n, people, load, top)
                rows.append((f"{load} items each", f"{share:.0%} of the best {top}"))
    return rows


@functools.lru_cache(maxsize=100)
def _share(n: int, people: int, load: int, top: int) -> float:
    """Return the share of the best that is found.

    It is kept, since it is the same for every plan of these sizes, and a preview is
    asked for whenever somebody stops typing.
    """
    scenario = Scenario(
        job="rank",
        items=n,
        reviewers=people,
        design="balanced",
        per_reviewer=load,
        noise=f"normal:{n / 10}",
    )
    simulation = simulate(
        scenario, "adaptive", losses=f"top-{top}", trials=TRIALS, rng=1
    )
    return 1 - simulation.rows[0].risk / top

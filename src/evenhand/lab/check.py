"""Check: what these ratings can support.

It refuses nothing that can be read, and explains what it finds: how the ratings are
spread, what can be ordered with what, where reviewers contradict each other, how strict
each of them is, and which assumption about their scales the ratings bear out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import require_function, shown
from evenhand._randomness import RNGLike, seed_from, stream
from evenhand._results import Json, Notice, tail
from evenhand.calibration._design import data_notices
from evenhand.calibration.adaptive import adaptive
from evenhand.errors import OptionError
from evenhand.lab._check_contradictions import Contradictions, find_contradictions
from evenhand.lab._check_counts import (
    Distribution,
    Groups,
    Named,
    Ties,
    distribution,
    find_groups,
    find_ties,
    named,
)
from evenhand.lab._check_findings import findings
from evenhand.lab._check_pairs import pairs_within
from evenhand.lab._check_reviewers import (
    Model,
    Reviewer,
    Shares,
    describe_reviewers,
    fit_model,
    variance_shares,
)
from evenhand.lab.ladder import Ladder, climb, why_no_ladder
from evenhand.lab.needed import Needed, require_top, reviews_needed
from evenhand.posets.comparisons import comparisons
from evenhand.ranking.models import by_estimates
from evenhand.ranking.notices import information_notices
from evenhand.ratings import Ratings, require_ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand._randomness import Stream
    from evenhand._results import Label
    from evenhand.calibration.results import Fit

    Codes = NDArray[np.int64]
    Progress = Callable[[str], None]

# The parts of reviewers are always the same, so that the verdict depends on nothing but
# the ratings; every other draw comes from the seed.
LADDER_SEED = 0


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """What ratings can support.

    Attributes:
        kind: "scores", "ranks" or "comparisons".
        load: Items of a reviewer.
        reviews: Reviews of an item.
        single: Reviewers of one item, who compare nothing.
        flat: Reviewers of several items who gave all of them the same score.
        ties: Items that a reviewer rated equal.
        groups: What can be ordered with what.
        contradictions: How reviewers' orders disagree.
        variance: Shares of items, reviewers and the rest in ranks among all scores;
            None without scores, or if all are the same.
        reviewers: Strictness and spread of each reviewer; empty without scores.
        ladder: Which assumption about scales holds; None if there is nothing to tell
            it from.
        needed: What further reviews would do at the cut; None if no cut was asked for
            or the model has no answer.
        findings: What matters most, in sentences, most important first.
        parameters: What was asked for.
        seed: The seed that repeats it.
        data: Sizes and hash of the ratings.
        notices: What the reader must know.
    """

    kind: str
    load: Distribution
    reviews: Distribution
    single: Named
    flat: Named
    ties: Ties
    groups: Groups
    contradictions: Contradictions
    variance: Shares | None
    reviewers: tuple[Reviewer, ...]
    ladder: Ladder | None
    needed: Needed | None
    findings: tuple[Notice, ...]
    parameters: Mapping[str, Json]
    seed: int
    data: Mapping[str, Json]
    notices: tuple[Notice, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> from evenhand.ratings import Ratings
            >>> check(Ratings(["a"], ["x"], [1]), rng=7).to_dict()["schema"]
            'evenhand.check/1'
        """
        return {
            "schema": "evenhand.check/1",
            "kind": self.kind,
            "findings": [one.to_dict() for one in self.findings],
            "load": self.load.to_dict(),
            "reviews": self.reviews.to_dict(),
            "single": self.single.to_dict("reviewers"),
            "flat": self.flat.to_dict("reviewers"),
            "ties": self.ties.to_dict(),
            "groups": self.groups.to_dict(),
            "contradictions": self.contradictions.to_dict(),
            "variance": None if self.variance is None else self.variance.to_dict(),
            "ladder": None if self.ladder is None else self.ladder.to_dict(),
            "needed": None if self.needed is None else self.needed.to_dict(),
            "reviewers": [one.to_dict() for one in self.reviewers],
            **tail(
                method="check",
                parameters=self.parameters,
                seed=self.seed,
                data=self.data,
                notices=self.notices,
            ),
        }

    def __repr__(self) -> str:
        return "\n".join(f"- {one.message}" for one in self.findings)

    def _repr_html_(self) -> str:
        """Return the findings and what they may claim, for notebooks."""
        # Only notebooks need the card.
        from evenhand._cards import to_html  # noqa: PLC0415 - notebooks only
        from evenhand.lab._check_card import check_card  # noqa: PLC0415 - notebooks only

        return to_html(check_card(self))


def check(
    ratings: Ratings,
    *,
    top: int | None = None,
    order: Sequence[Label] | None = None,
    rng: RNGLike = None,
    progress: Progress | None = None,
) -> Check:
    """Find out what ratings can support.

    Args:
        ratings: Scores, ranks or comparisons.
        top: Ask how many more reviews would separate the first so many items from the
            others.
        order: All items from best to worst, for which that is asked; by default the
            order that `rank` gives with this seed.
        rng: Seed, generator or None.
        progress: Called with what is being done.

    Returns:
        What was found.

    Raises:
        OptionError: If top leaves no item on one side, or order does not hold every
            item once.

    References:
        Wang and Shah (2019), for what can be done without any assumption on scales.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 2, 5, 4])
        >>> found = check(ratings, rng=7)
        >>> found.contradictions.both_orders, found.ladder.verdict
        (1, 'cannot tell')
    """
    require_ratings(ratings)
    if progress is not None:
        require_function("progress", progress, "what is being done")
    seed = seed_from(rng)
    require_top(ratings, top)
    say = progress or (lambda _: None)
    say("Counting")
    graph = comparisons(ratings)
    loads = np.bincount(ratings.reviewer_codes, minlength=ratings.n_reviewers)
    counts = np.bincount(ratings.item_codes, minlength=ratings.n_items)
    ties, flat = find_ties(ratings, graph)
    pairs = pairs_within(ratings, stream(seed, "check: pairs"))
    contradictions = find_contradictions(ratings, graph, pairs)
    notices = [*ratings.notices, *information_notices(ratings)]
    notices += data_notices(ratings, prior=True)
    model = fit = None
    if ratings.kind == "scores":
        say("Fitting offsets and values")
        model, fit = fit_model(ratings), adaptive(ratings)
    ladder = _ladder(ratings, notices, say)
    say("Simulating")
    needed = None
    if top is not None:
        codes = _codes(ratings, order, fit, seed)
        needed = _needed(ratings, model, codes, top, seed, notices)
    bootstrap = stream(seed, "check: bootstrap")
    found = Check(
        kind=ratings.kind,
        load=distribution(loads),
        reviews=distribution(counts),
        single=named(ratings.reviewer_labels, np.flatnonzero(loads == 1)),
        flat=named(ratings.reviewer_labels, flat),
        ties=ties,
        groups=find_groups(ratings, graph),
        contradictions=contradictions,
        variance=_variance(model, fit, bootstrap),
        reviewers=() if model is None else describe_reviewers(ratings, model),
        ladder=ladder,
        needed=needed,
        findings=(),
        parameters={"top": top},
        seed=seed,
        data=ratings.summary(),
        notices=_merged(notices, contradictions),
    )
    return _with_findings(found)


def _ladder(ratings: Ratings, notices: list[Notice], say: Progress) -> Ladder | None:
    why = why_no_ladder(ratings)
    if why:
        notices.append(Notice("no_ladder", f"The ladder is left out. {why}"))
        return None
    return climb(ratings, stream(LADDER_SEED, "check: ladder"), progress=say)


def _variance(model: Model | None, fit: Fit | None, source: Stream) -> Shares | None:
    """Find the shares in ranks among all scores, which are those that rank uses."""
    if model is None or fit is None or fit.variances is None:
        return None
    return variance_shares(model, fit.variances, source)


def _codes(
    ratings: Ratings, order: Sequence[Label] | None, fit: Fit | None, seed: int
) -> Codes:
    if order is None:
        values = np.zeros(ratings.n_items) if fit is None else fit.estimates
        return by_estimates(values, seed)
    places = {label: code for code, label in enumerate(ratings.item_labels)}
    codes = np.array([places.get(item, -1) for item in order], dtype=np.int64)
    if sorted(codes.tolist()) != list(range(ratings.n_items)):
        raise OptionError(f"order must hold every item once, got {shown(order)}.")
    return codes


def _needed(
    ratings: Ratings,
    model: Model | None,
    order: Codes,
    top: int,
    seed: int,
    notices: list[Notice],
) -> Needed | None:
    found = None
    why = "there are no scores to fit it to"
    if model is not None and not model.free[1]:
        why = "items' values cannot be told from the rest, as no item was rated twice"
    elif model is not None:
        source = stream(seed, "check: needed")
        found = reviews_needed(ratings, model, order, top, source)
        why = "it sees no difference between the items, or no noise"
    if found is None:
        text = f"How many more reviews are needed takes a fitted model, and {why}."
        notices.append(Notice("no_needed", text))
    return found


def _merged(notices: list[Notice], found: Contradictions) -> tuple[Notice, ...]:
    if found.sampled:
        text = (
            "There are too many pairs of items to count them all; some items of each "
            "busy reviewer were chosen by lot."
        )
        notices = [*notices, Notice("pairs_sampled", text)]
    return tuple(notices)


def _with_findings(found: Check) -> Check:
    return replace(found, findings=findings(found))

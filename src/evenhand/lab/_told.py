"""What the text that names a ranking method tells it.

A text names a method, with its options after a colon, in any order but for a weight,
which comes last:

- "flips:3:linear:10", "flips-uniform:paper", "sorter:3": so many score pairs for each
  coin, the scan, and the weight.
- "twins:one:direct": which twins, and by which comparisons.
- "mean-rank:proxy": how mean ranks are worked out.
- "ties:0.5", "safe:0.1:0.5": standard deviation of the noise; for safe eta comes first.
- "raw", for sorter, ties and safe: scores as they are, not relative to shared items.
- "always", for safe: reviewers are split whether they contradict each other or not.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.ab.weights import GapWeight, as_weight
from evenhand.errors import OptionError, unknown
from evenhand.ranking.eta import check_eta
from evenhand.ranking.flips import SCANS, check_score_pairs
from evenhand.ranking.mean_rank import HOWS
from evenhand.ranking.ranking import METHODS
from evenhand.ranking.split import WHEN
from evenhand.ranking.ties import NOISE
from evenhand.ranking.twins import BYS, PAIRS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ANCHORS = ("raw", "anchored")
AUTO = "auto"
# The last of each is what a method without the option does.
CHOICES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "flips-uniform": (SCANS,),
    "twins": (PAIRS, BYS),
    "mean-rank": ((*(how for how in HOWS if how != AUTO), AUTO),),
    "sorter": (ANCHORS,),
    "ties": (ANCHORS,),
    "safe": (ANCHORS, WHEN[::-1]),
}
NUMBERS: Mapping[str, Mapping[str, float]] = {
    "flips": {"score_pairs": 1},
    "flips-uniform": {"score_pairs": 1},
    "sorter": {"score_pairs": 1},
    "ties": {"noise": NOISE},
    "safe": {"eta": 0.0, "noise": NOISE},
}
WEIGHED = ("flips", "flips-uniform", "twins", "sorter")


@dataclass(frozen=True, slots=True)
class Told:
    """What a method was told.

    Attributes:
        name: Its name.
        words: Its choices, in the order of CHOICES.
        numbers: Its numbers by name.
        weight: How a gap in scores weighs.
    """

    name: str
    words: Sequence[str]
    numbers: Mapping[str, float]
    weight: GapWeight

    @property
    def score_pairs(self) -> int:
        """How many score pairs have a majority over a coin."""
        return int(self.numbers["score_pairs"])

    @property
    def anchored(self) -> bool:
        """Whether scores are taken relative to shared items."""
        return self.words[0] != ANCHORS[0]


def options_of(method: str, weight: GapWeight | None = None) -> Told:
    """Read what a text tells a method.

    Args:
        method: A name, with options after a colon.
        weight: The weight if the text has none.

    Raises:
        OptionError: If there is no such method or option, or a number is out of range.

    Examples:
        >>> told = options_of("safe:raw:0.1")
        >>> told.words, told.numbers
        (['raw', 'auto'], {'eta': 0.1, 'noise': 0.3})
    """
    name, *options = method.split(":")
    if name not in METHODS:
        raise OptionError(unknown("method", name, METHODS))
    known = CHOICES.get(name, ())
    words = [choices[-1] for choices in known]
    numbers = dict(NUMBERS.get(name, {}))
    open_words, open_numbers = list(range(len(known))), list(numbers)
    while options:
        fits = [place for place in open_words if options[0] in known[place]]
        number = _number(options[0])
        if fits:
            open_words.remove(fits[0])
            words[fits[0]] = options.pop(0)
        elif open_numbers and number is not None:
            numbers[open_numbers.pop(0)] = number
            del options[0]
        else:
            break
    if options and name not in WEIGHED:
        allowed = _allowed(name)
        raise OptionError(f"method {name!r} must have {allowed}, got {method!r}.")
    _check(numbers)
    chosen = as_weight(":".join(options)) if options else as_weight(weight)
    return Told(name, words, numbers, chosen)


def _number(text: str) -> float | None:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return None


def _allowed(name: str) -> str:
    numbers = " and then ".join(NUMBERS.get(name, ()))
    words = [repr(word) for known in CHOICES.get(name, ()) for word in known]
    told = " and ".join(filter(None, [numbers, f"one of {', '.join(words)}"]))
    return f"options {told}" if words else "no option"


def _check(numbers: Mapping[str, float]) -> None:
    if "score_pairs" in numbers:
        check_score_pairs(numbers["score_pairs"])  # type: ignore[arg-type]  # refuses 1.5
    check_eta(numbers.get("eta", 0.0))
    noise = numbers.get("noise", NOISE)
    if not (math.isfinite(noise) and noise >= 0):
        raise OptionError(f"noise must be a finite number of at least 0, got {noise}.")

"""The models by the names that `rank` knows them by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.calibration.adaptive import adaptive
from evenhand.calibration.additive import additive
from evenhand.calibration.affine import affine
from evenhand.calibration.borda import borda
from evenhand.calibration.bradley_terry import bradley_terry
from evenhand.calibration.centring import centred, z
from evenhand.calibration.isotonic import isotonic
from evenhand.errors import OptionError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.calibration.results import Fit
    from evenhand.ratings import Ratings

    Model = Callable[[Ratings], Fit]

MODELS: Mapping[str, Model] = {
    "adaptive": adaptive,
    "centred": centred,
    "z": z,
    "additive": additive,
    "affine": affine,
    "isotonic": isotonic,
    "bradley-terry": bradley_terry,
    "borda": borda,
}
"""Models by name, with their usual options."""

ORDINAL = ("adaptive", "bradley-terry", "borda")
"""Models that take ranks and comparisons as well as scores."""


def model(name: str) -> Model:
    """Return a model by its name.

    Raises:
        OptionError: If there is no such model.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> model("borda")(Ratings(["a", "a"], ["x", "y"], [1, 2])).estimates.tolist()
        [0.0, 1.0]
    """
    if name not in MODELS:
        raise OptionError(unknown("model", name, MODELS))
    return MODELS[name]

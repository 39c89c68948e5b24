"""The few charts that figures and reports share.

Colours are Okabe and Ito's, which people tell apart whatever their colour vision; each
method has one colour and one marker everywhere. Lines carry their names at their ends,
so that no legend has to be matched. Rendering works offline.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import altair as alt

from evenhand.errors import OptionError

if TYPE_CHECKING:
    from evenhand._results import Json

Chart = alt.LayerChart | alt.HConcatChart
Rows = Sequence[Mapping[str, "Json"]]

BLACK = "#000000"
GREY = "#6b6b6b"
PALE = "#d9d9d9"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
RED = "#D55E00"
PURPLE = "#CC79A7"

FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"
WIDTH, HEIGHT = 300, 240
PIXELS_PER_UNIT = 2
# Names at the ends of lines keep this share of the height apart.
APART = 0.065


@dataclass(frozen=True, slots=True)
class Style:
    """How one line looks.

    Attributes:
        label: Its name in the chart.
        colour: Of line, markers and name.
        marker: Shape of the markers.
        dash: Lengths of strokes and gaps; none for a solid line.
    """

    label: str
    colour: str
    marker: str = "circle"
    dash: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    Attributes:
        field: Field of the rows that it shows.
        title: What it is, with its unit.
        domain: First and last value.
        ticks: Where to put marks; where it seems best if none.
        kind: "linear" or "log".
    """

    field: str
    title: str
    domain: tuple[float, float]
    ticks: tuple[float, ...] = ()
    kind: Literal["linear", "log"] = "linear"

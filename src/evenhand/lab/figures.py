"""Reproduce the paper's figures: numbers, tables and charts, each written whole."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand import _charts as charts
from evenhand._outputs import Output, write_all
from evenhand.errors import OptionError, unknown
from evenhand.lab import curves, drawings
from evenhand.lab.curves import FULL, QUICK, Figure, Progress, Size
from evenhand.randomness import RNGLike, seed_from

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand._charts import Chart

__all__ = ["FIGURES", "FULL", "QUICK", "Figure", "Progress", "Size", "reproduce"]

ALL = "all"
FIGURES = {
    "fig1": (tuple(curves.PANELS), curves.two_items, drawings.two_items_chart),
    "fig2": (("fig2",), curves.many_items, drawings.many_items_chart),
    "fig3": (("fig3",), curves.trade, drawings.trade_chart),
}
"""Each figure's panels, what works one out and what draws it."""


def reproduce(
    names: Iterable[str] = (ALL,),
    out_dir: str | Path | None = None,
    *,
    size: Size = FULL,
    progress: Progress | None = None,
    rng: RNGLike = None,
) -> tuple[Figure, ...]:
    """Work out the paper's figures, and write them if there is somewhere to write to.

    Figure 1 has three panels, which are written one by one and together. Each figure
    gives a JSON and a CSV file with the numbers and a PNG and an SVG file with the
    chart, as fig1a.json and so on.

    Args:
        names: "fig1", "fig2", "fig3" or "all".
        out_dir: Directory for the files, made if it is not there; None writes nothing.
        size: How large the run is; as large as the paper's by default.
        progress: Told the name of a figure, the steps done and all steps.
        rng: Seed, generator or None. A figure does not depend on which others are made.

    Returns:
        The figures, panel by panel.

    Raises:
        OptionError: If a name is unknown or the directory cannot be written to.

    References:
        Wang and Shah (2019), Section 4.

    Examples:
        >>> figure, = reproduce(["fig3"], size=Size(coins=100), rng=7)
        >>> len(figure.rows), figure.extra["maximum_on_grid"]["gamma"]
        (21, 1.0)
    """
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in (*FIGURES, ALL):
            raise OptionError(unknown("figure", name, (*FIGURES, ALL)))
    folder = None if out_dir is None else _made(Path(out_dir))
    seed = seed_from(rng)
    figures: list[Figure] = []
    for name, (panels, work_out, draw) in FIGURES.items():
        if name not in wanted and ALL not in wanted:
            continue
        found = [
            work_out(panel, seed, size=size, progress=progress) for panel in panels
        ]
        figures += found
        if folder is not None:
            drawn = [(figure, draw(figure)) for figure in found]
            if len(found) > 1:
                joined = charts.beside([chart for _, chart in drawn])
                drawn.append((_joined(found), joined))
            write_all([file for pair in drawn for file in _files(*pair, folder)])
    return tuple(figures)


def as_csv(figure: Figure) -> str:
    """Return the rows of a figure as the text of a CSV file.

    Examples:
        >>> as_csv(Figure("fig", "A title", ({"m": 2, "se": 0.5},), 7, {})).split()
        ['m,se', '2,0.5']
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(figure.rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(figure.rows)
    return text.getvalue()


def _joined(panels: list[Figure]) -> Figure:
    """Join the panels of Figure 1; each row says which one it is from."""
    rows = [{"figure": panel.name, **row} for panel in panels for row in panel.rows]
    scales = {panel.name: panel.parameters["scales"] for panel in panels}
    parameters = {**panels[0].parameters, "scales": scales}
    return Figure("fig1", "Two items", tuple(rows), panels[0].seed, parameters)


def _files(figure: Figure, chart: Chart, folder: Path) -> list[Output]:
    picture = charts.svg(chart)
    contents: dict[str, str | bytes] = {
        "json": json.dumps(figure.to_dict(), indent=2) + "\n",
        "csv": as_csv(figure),
        "png": charts.png_from(picture),
        "svg": picture,
    }
    return [
        Output(str(folder / f"{figure.name}.{ending}"), content)
        for ending, content in contents.items()
    ]


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(
            f"output must be a directory that can be written to, got {str(folder)!r}: "
            f"{error.strerror}."
        ) from error
    return folder

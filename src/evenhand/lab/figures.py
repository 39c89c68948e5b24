"""Reproduce the paper's figures: numbers, tables and charts, each written whole."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand import _charts as charts
from evenhand._outputs import Output, write_all
from evenhand._randomness import RNGLike, seed_from
from evenhand.errors import OptionError, unknown
from evenhand.lab import curves, drawings
from evenhand.lab.curves import FULL, QUICK, Figure, Progress, Size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand._charts import Chart

__all__ = ["FIGURES", "FULL", "QUICK", "Figure", "Progress", "Size", "reproduce"]

FIGURES = ("fig1", "fig2", "fig3")
ALL = "all"


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
    chosen = _chosen(names)
    folder = None if out_dir is None else _made(Path(out_dir))
    seed = seed_from(rng)
    figures: list[Figure] = []
    for name in chosen:
        if name == "fig1":
            found = [
                curves.two_items(panel, seed, size=size, progress=progress)
                for panel in curves.PANELS
            ]
        elif name == "fig2":
            found = [curves.many_items(seed, size=size, progress=progress)]
        else:
            found = [curves.trade(seed, size=size, progress=progress)]
        figures += found
        if folder is not None:
            _write(found, folder)
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


def _chosen(names: Iterable[str]) -> list[str]:
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in (*FIGURES, ALL):
            raise OptionError(unknown("figure", name, (*FIGURES, ALL)))
    return [name for name in FIGURES if name in wanted or ALL in wanted]


def _write(figures: list[Figure], folder: Path) -> None:
    drawn: list[Chart] = []
    files: list[Output] = []
    for figure in figures:
        if figure.name in curves.PANELS:
            drawn.append(drawings.two_items_chart(figure))
            files += _files(figure, drawn[-1], folder)
        elif figure.name == "fig2":
            files += _files(figure, drawings.many_items_chart(figure), folder)
        else:
            files += _files(figure, drawings.trade_chart(figure), folder)
    if drawn:
        files += _files(_joined(figures), charts.beside(drawn), folder)
    write_all(files)


def _joined(panels: list[Figure]) -> Figure:
    """Join the panels of Figure 1; each row says which one it is from."""
    rows = [{"figure": panel.name, **row} for panel in panels for row in panel.rows]
    first = panels[0]
    scales = {panel.name: panel.parameters["scales"] for panel in panels}
    parameters = {**first.parameters, "scales": scales}
    return Figure("fig1", "Two items", tuple(rows), first.seed, parameters)


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

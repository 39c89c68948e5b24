"""The paper's figures: numbers with coins averaged out, tables and charts.

Beside the paper's curve of Figure 2 stand fair coins on the same pairs. Every figure is
written whole or not at all.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from evenhand import _charts as charts
from evenhand._charts import ChartAxis, Style
from evenhand._outputs import Output, write_all
from evenhand.ab.weights import odd, rational
from evenhand.claims import DataWarning, Json, version
from evenhand.errors import OptionError, unknown
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import improvement, simulate, standard_error
from evenhand.progress import say
from evenhand.randomness import RNGLike, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from numpy.random import Generator
    from numpy.typing import NDArray

    from evenhand._charts import Chart
    from evenhand.arrays import Floats
    from evenhand.lab.simulation import Tried

    Codes = NDArray[np.int64]

FigureRow: TypeAlias = dict[str, int | float | str]

REVIEWERS = (2, 4, 6, 8, 10, 20, 30, 40, 50, 100)
ITEMS = (3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 40, 50)
# Gaps at the points of Gauss and Legendre, closer together at both ends, where weights
# of a large gamma are steep; and how much each counts.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(300)
GAPS = (1 + _NODES) ** 2 * (2 - _NODES) / 4
SHARES = _WEIGHTS * 3 * (1 - _NODES**2) / 4
EXPONENTS = range(-10, 11)
TABLE = ("votes", "sign", "mean", "median")
PANELS = {
    "fig1a": ("one-biased", "one biased reviewer"),
    "fig1b": ("incremental", "incremental biases"),
    "fig1c": ("incremental-one-biased", "incremental biases, one biased reviewer"),
}
NO_THEOREM = "m = 1 is outside 1 < m < n(n-1)/2; no theorem applies"
WEIGHT: dict[str, Json] = {"weight": rational().to_dict()}
ALL = "all"
LEVELS = "levels", "lost"
LOST = "guarantee lost to ties"
BAR = 2
ROOM = 0.08
STEPS = 8
GAMMAS = dict(
    enumerate(("\u00bc", "\u00bd", "\u03b3 = 1", "2", "4", "8", "16"), start=-2)
)

RULES = {
    "sign": Style("sign", charts.ORANGE, "square", filled=False, size=80),
    "mean": Style("mean", charts.RED, "triangle-up", size=60),
    "median": Style("median", charts.GREEN, "diamond", size=34),
    "votes": Style("votes (paper)", charts.BLUE, "circle", size=44),
}
RANKINGS = {
    "fair-coin": Style(
        "fair coins (no scores)", charts.GREY, "square", dash=(4, 3), filled=False
    ),
    "flips": Style("flips (paper)", charts.BLUE, "circle"),
}
CURVE = {"curve": Style("", charts.BLUE, "")}
POINTS = {"curve": Style("", charts.BLUE, "circle", (0, 1), size=34)}


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is.

    Attributes:
        rounds: Figure 1: simulated trials.
        trials: Figure 2: draws of values and scales.
        samples: Figure 2: comparisons for each of them.
        reviewers: Figure 1: numbers of reviewers.
        items: Figure 2: numbers of items.
    """

    rounds: int = 100_000
    trials: int = 100
    samples: int = 1000
    reviewers: tuple[int, ...] = REVIEWERS
    items: tuple[int, ...] = ITEMS


FULL = Size()
QUICK = Size(1000, 20, 100, (2, 4, 6, 8, 10, 50, 100), (3, 4, 8, 10, 20, 50))


@dataclass(frozen=True, slots=True)
class Figure:
    """The numbers of one figure.

    Attributes:
        name: "fig1a", ...
        title: What it shows.
        rows: The numbers; improvements in per cent.
        parameters: What it was run with.
        seed: The seed that repeats it.
        notices: What the reader must know.
    """

    name: str
    title: str
    rows: tuple[FigureRow, ...]
    parameters: Mapping[str, Json]
    seed: int
    notices: tuple[DataWarning, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the figure as in the JSON.

        Examples:
            >>> Figure("fig3", "A title", (), {}, 7).to_dict()["schema"]
            'evenhand.figure/1'
        """
        fields = {**asdict(self), "rows": [*map(dict, self.rows)]}
        head = {"schema": "evenhand.figure/1", "figure": fields.pop("name")}
        del fields["notices"]
        warnings = [warning.to_dict() for warning in self.notices]
        return {**head, **fields, "warnings": warnings, "version": version()}


def two_items(name: str, seed: int, *, size: Size = FULL) -> Figure:
    """Work out one panel of Figure 1: the rules for two items against a fair coin.

    Args:
        name: "fig1a", "fig1b" or "fig1c".
        seed: Where chance comes from.
        size: How large the run is.

    Returns:
        A row for each number of reviewers and rule.

    References:
        Wang and Shah (2019), Figure 1.

    Examples:
        >>> size = Size(rounds=10, reviewers=(2, 4))
        >>> two_items("fig1a", 7, size=size).rows[2]["improvement"]
        0.0
    """
    family, title = PANELS[name]
    rows: list[FigureRow] = []
    for done, m in enumerate(size.reviewers):
        say(name, done, len(size.reviewers))
        scenario = Scenario(reviewers=m, scales=family)
        trials = np.random.Generator(stream(seed, f"{name} {m} trials"))
        for row in simulate(scenario, TABLE, trials=size.rounds, rng=trials).rows:
            gain = {"improvement": 100 * (1 - 2 * row.risk), "se": 200 * row.se}
            rows.append({"m": m, "method": row.method, **gain})
    parameters = {**WEIGHT, "scales": family, "trials": size.rounds}
    return Figure(name, f"Two items: {title}", tuple(rows), parameters, seed)


def many_items(name: str, seed: int, *, size: Size = FULL) -> Figure:
    """Work out Figure 2: Algorithm 1 in Kendall tau against its start.

    Beside it "fair-coin" flips fair coins on the pairs that Algorithm 1 flips, on the
    same samples.

    Args:
        name: "fig2".
        seed: Where chance comes from.
        size: How large the run is.

    Returns:
        A row for each number of items and method, with both readings of the paper's
        average: of pooled losses, and of the improvements of the trials.

    References:
        Wang and Shah (2019), Figure 2.

    Examples:
        >>> size = Size(trials=2, samples=10, items=(3,))
        >>> many_items("fig2", 7, size=size).rows[0]["improvement"]
        0.0
    """
    steps = list(itertools.product(size.items, range(size.trials)))
    means: dict[int, list[Floats]] = {n: [] for n in size.items}
    for done, (n, trial) in enumerate(steps):
        say(name, done, len(steps))
        rng = np.random.Generator(stream(seed, f"fig2 {n} {trial}"))
        m = math.comb(n, 2) // 2
        # Counted from 1, a slope is never 0.
        scales = np.stack([1 - rng.random(m), rng.random(m)])
        samples = kendall_samples(n * rng.random(n), scales, size.samples, rng)
        means[n].append(samples.mean(axis=0))
    parameters = {
        **WEIGHT,
        "values": "uniform from 0 to n",
        "scales": "affine:0:1:0:1",
        "reviewers": "m = floor(n(n-1)/4)",
        "trials": size.trials,
        "samples": size.samples,
    }
    notices = (
        DataWarning("fair_coin"),
        DataWarning("no_theorem", {"case": "figure"}),
    )
    title = "Many items: Kendall tau against the index order"
    rows = [
        row for n, trials in means.items() for row in _gain_rows(n, np.array(trials))
    ]
    return Figure(name, title, tuple(rows), parameters, seed, notices)


def draw_samples(
    values: Floats, n_reviewers: int, count: int, rng: Generator
) -> tuple[Floats, Codes]:
    """Name items at random and draw distinct pairs of them.

    Returns:
        Value of each item by its name, shape (samples, items), and who has a pair of
        items, -1 for nobody, shape (samples, items, items).

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> _, reviewers = draw_samples(np.array([1.0, 2.0, 4.0]), 2, 5, rng)
        >>> (reviewers >= 0).sum(axis=(1, 2))
        array([4, 4, 4, 4, 4])
    """
    n = len(values)
    named = rng.permuted(np.tile(values, (count, 1)), axis=1)
    first, second = np.triu_indices(n, 1)
    everybody = np.full(len(first), -1)
    everybody[:n_reviewers] = np.arange(n_reviewers)
    codes = rng.permuted(np.tile(everybody, (count, 1)), axis=1)
    reviewers = np.full((count, n, n), -1)
    reviewers[:, first, second] = reviewers[:, second, first] = codes
    return named, reviewers


def first_orderings(above: NDArray[np.bool_]) -> Codes:
    """Return the topological ordering with the smallest items first of each sample.

    Examples:
        >>> first_orderings(np.array([[[0, 0, 0], [0, 0, 0], [1, 0, 0]]], dtype=bool))
        array([[1, 2, 0]])
    """
    count, n, _ = above.shape
    rows, order = np.arange(count), np.empty((count, n), dtype=np.int64)
    waiting = above.sum(axis=1)
    for place in range(n):
        item = (waiting == 0).argmax(axis=1)
        order[:, place] = item
        waiting -= above[rows, item]
        waiting[rows, item] = -1
    return order


def wrong_pairs(order: Codes, values: Floats) -> Codes:
    """Count in each sample the pairs of an order that the values put the other way.

    Examples:
        >>> wrong_pairs(np.array([[0, 1, 2]]), np.array([[1.0, 3.0, 2.0]]))
        array([2])
    """
    placed = np.take_along_axis(values, order, axis=1)
    wrong = np.triu(placed[:, :, None] < placed[:, None, :])
    return np.asarray(wrong.sum(axis=(1, 2)))


def flip_gains(
    values: Floats, reviewers: Codes, order: Codes, scales: Floats, rng: Generator
) -> tuple[Floats, Floats]:
    """Settle the free neighbours of orders by Algorithm 1, its coins averaged out.

    A coin on neighbours changes Kendall tau by one and no other pair.

    Args:
        values: Value of each item in each sample, shape (samples, items).
        reviewers: Who has a pair of items, shape (samples, items, items).
        order: The ordering to begin with in each, shape (samples, items).
        scales: Slope and shift of each reviewer's scale, shape (2, reviewers).
        rng: Where chance comes from that chooses reviewers.

    Returns:
        By how much Kendall tau grows on average in each sample, by coins on scores and
        by fair coins on the same neighbours.

    References:
        Wang and Shah (2019), Algorithm 1.

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> samples = draw_samples(np.array([1.0, 2.0, 4.0]), 1, 5, rng)
        >>> order = np.tile(np.arange(3), (5, 1))
        >>> flip_gains(*samples, order, np.ones((2, 1)), rng)[1].tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    count, n = order.shape
    by_scores, by_lot = np.zeros(count), np.zeros(count)
    compared = reviewers >= 0
    # Pairs whose reviewer has not been used yet.
    fresh = compared.copy()
    free = np.ones(count, dtype=np.bool_)
    for place in range(n - 1):
        here, first, second = np.arange(count), order[:, place], order[:, place + 1]
        scored = fresh[here, first].any(axis=1) & fresh[here, second].any(axis=1)
        free &= scored & ~compared[here, first, second]
        here, first, second = here[free], first[free], second[free]
        scores = []
        for item in (first, second):
            rows = fresh[here, item]
            partner = (rows * rng.random(rows.shape)).argmax(axis=1)
            fresh[here, item, partner] = fresh[here, partner, item] = False
            slope, shift = scales[:, reviewers[here, item, partner]]
            scores.append(slope * values[here, item] + shift)
        gap = scores[0] - scores[1]
        worse = np.sign(values[here, first] - values[here, second]) / 2
        by_scores[here] += worse * (1 - gap / (1 + np.abs(gap)))
        by_lot[here] += worse
        # Who was settled is not looked at again.
        free = ~free
    return by_scores, by_lot


def kendall_samples(
    values: Floats, scales: Floats, count: int, rng: Generator
) -> Floats:
    """Return Kendall tau of three ways to rank in each sample, coins averaged out.

    Args:
        values: Values of the items.
        scales: Slope and shift of each reviewer's scale, shape (2, reviewers).
        count: Number of samples.
        rng: Where chance comes from.

    Returns:
        Of the start, of Algorithm 1 and of fair coins on the same neighbours; shape
        (samples, 3).

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> kendall_samples(np.arange(3.0), np.ones((2, 1)), 5, rng).shape
        (5, 3)
    """
    named, reviewers = draw_samples(values, scales.shape[1], count, rng)
    above = (reviewers >= 0) & (named[:, :, None] > named[:, None, :])
    order = first_orderings(above)
    start = wrong_pairs(order, named)
    gains = flip_gains(named, reviewers, order, scales, rng)
    return np.stack([start, *(start + gain for gain in gains)], axis=1)


def _gain_rows(n: int, means: Floats) -> Iterator[FigureRow]:
    """Compare methods with the start, given their mean distances in each trial."""
    m = math.comb(n, 2) // 2
    base = means[:, 0]
    for ours, method in zip(means.T[1:], ("flips", "fair-coin"), strict=True):
        gain, gain_se = improvement(base, ours)
        each = 100 * (1 - ours / base)
        yield {
            "n": n,
            "m": m,
            "method": method,
            "improvement": gain,
            "se": gain_se,
            "improvement_mean_of_trials": float(each.mean()),
            "improvement_mean_of_trials_se": standard_error(each),
            "kendall": float(ours.mean()),
            "kendall_of_start": float(base.mean()),
            "note": NO_THEOREM if m == 1 and method == "flips" else "",
        }


def trade(name: str, seed: int, **_: object) -> Figure:
    """Work out Figure 3: perfect calibration against one biased reviewer.

    Args:
        name: "fig3".
        seed: Nothing is left to chance.

    Returns:
        A row for each gamma = 2**k, with the exact point.

    References:
        Wang and Shah (2019), Figure 3.

    Examples:
        >>> figure = trade("fig3", 7)
        >>> max(figure.rows, key=lambda row: row["biased"])["gamma"]
        1.0
    """
    rows = [{**tradeoff(2.0**exponent), "k": exponent} for exponent in EXPONENTS]
    point = rows[-EXPONENTS[0]]
    maximum = {name: float(point[name]) for name in ("perfect", "biased")}
    notice = DataWarning("read_off_plot", maximum)
    title = "Perfect calibration against one biased reviewer"
    parameters: dict[str, Json] = {"weight": "gamma gap / (1 + gamma gap)"}
    return Figure(name, title, tuple(rows), parameters, seed, (notice,))


def try_levels(
    scenario: Scenario,
    methods: Sequence[Tried],
    levels: Sequence[int],
    *,
    losses: Sequence[str] | None = None,
    baseline: Tried = "coin",
    trials: int = 10_000,
    executor: Executor | None = None,
    rng: RNGLike = None,
) -> Figure:
    """Simulate scores with few and with many levels: which scale to ask for.

    Args:
        scenario: The situation; its scores are rounded to levels evenly spaced between
            the ends of the values.
        methods: The methods.
        levels: Numbers of levels, at least 2 each.
        losses: The loss, as in `simulate`; of several the first.
        baseline: The method that improvements are against.
        trials: How many trials each.
        executor: What runs them, as in `simulate`.
        rng: Seed, generator or None.

    Returns:
        For each number of levels and method the improvement in per cent, and `lost`,
        the per cent of trials in which ties take the guarantee away: to rank, if a
        reviewer ties two items; of two items, if everybody does.

    Raises:
        OptionError: If a number of levels is out of range.

    Examples:
        >>> more = {"baseline": "coin", "trials": 100, "rng": 7}
        >>> figure = try_levels(Scenario(scales="power"), ["mean"], [2, 5], **more)
        >>> [round(row["lost"]) for row in figure.rows]
        [14, 5]
    """
    rows, seed = list[FigureRow](), seed_from(rng)
    for count in levels:
        rounded = replace(scenario, scales=f"{scenario.scales} > levels:{count}")
        more: Any = {"losses": losses, "trials": trials, "executor": executor}
        result = simulate(rounded, methods, baseline=baseline, rng=seed, **more)
        for row in result.rows:
            if row.loss == result.rows[0].loss and row.method != str(baseline):
                size = {"levels": count, "lost": 100 * result.lost}
                gain = {"improvement": row.improvement, "se": row.improvement_se}
                rows.append({"method": row.method, **size, **gain})  # type: ignore[dict-item]  # a baseline
    title = f"Errors of {baseline} saved, by levels of the score, and guarantees lost"
    parameters: dict[str, Json] = {"scenario": scenario.to_dict(), "trials": trials}
    return Figure("levels", title, tuple(rows), parameters, seed)


def levels_chart(figure: Figure) -> Chart:
    """Draw what `try_levels` found.

    Examples:
        >>> more = {"trials": 100, "rng": 7}
        >>> figure = try_levels(Scenario(scales="power"), ["mean"], [2, 5], **more)
        >>> "layer" in levels_chart(figure)
        True
    """
    names = [*dict.fromkeys(str(row["method"]) for row in figure.rows)]
    colours = itertools.cycle((charts.BLUE, charts.ORANGE, charts.GREEN, charts.GREY))
    styles = dict(zip(names, map(Style, names, colours), strict=False))
    lost = [
        {**row, "method": LOST, "improvement": row["lost"]}
        for row in figure.rows
        if row["method"] == names[0]
    ]
    styles[LOST] = Style(LOST, charts.BLACK, dash=(4, 4))
    gains = [float(row["improvement"]) for row in figure.rows]
    ends = [int(row["levels"]) for row in figure.rows]
    x = ChartAxis(
        "levels", "levels of the score", (min(ends), max(ends)), (*ends,), "log"
    )
    y = ChartAxis("improvement", "per cent", (min(0, *gains), 100))
    return charts.lines([*figure.rows, *lost], styles, x=x, y=y, title=figure.title)


def tradeoff(gamma: float) -> FigureRow:
    """Return the point of the paper's Figure 3 for the weight rational(gamma).

    Two items of values uniform on [0, 1], two reviewers, one coin.

    Args:
        gamma: Above 0.

    Returns:
        Improvements over a fair coin in per cent, to 1e-9 up to a gamma of a
        million: "perfect" if both reviewers report values as they are, "biased" if one
        of them adds 1.

    References:
        Wang and Shah (2019), Section 4.3. Its "(25%, 9%)" at gamma = 1 was read off
        the plot; the point is this one.

    Examples:
        >>> point = tradeoff(1)
        >>> round(point["perfect"], 2), round(point["biased"], 2)
        (22.74, 9.05)
    """
    # The larger of two uniform values minus the smaller has this density.
    weight, density = rational(gamma), 2 * (1 - GAPS) * SHARES
    right = [odd(weight, GAPS + bias) + odd(weight, GAPS - bias) for bias in (0, 1)]
    perfect, biased = (100 * float((chances - 1) @ density) for chances in right)
    return {"gamma": float(gamma), "perfect": perfect, "biased": biased}


def reproduce(
    names: Iterable[str] = (ALL,),
    out_dir: str | Path | None = None,
    *,
    size: Size = FULL,
    rng: RNGLike = None,
) -> tuple[Figure, ...]:
    """Work out the paper's figures, and write them if there is somewhere to write to.

    Figure 1 has three panels, which are written one by one and together. Each figure
    gives a JSON and a CSV file with the numbers, as fig1a.json and so on, and with the
    extra "charts" a PNG and an SVG file with the chart.

    Args:
        names: "fig1", "fig2", "fig3" or "all".
        out_dir: Directory for the files, made if it is not there; None writes nothing.
        size: How large the run is; as large as the paper's by default.
        rng: Seed, generator or None. A figure does not depend on which others are made.

    Returns:
        The figures, panel by panel.

    Raises:
        OptionError: If a name is unknown or the directory cannot be written to.

    References:
        Wang and Shah (2019), Section 4.

    Examples:
        >>> figure, = reproduce(["fig3"], rng=7)
        >>> len(figure.rows)
        21
    """
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in (*FIGURES, ALL):
            raise OptionError(unknown("figure", name, (*FIGURES, ALL)))
    folder = None if out_dir is None else _make_folder(Path(out_dir))
    seed = seed_from(rng)
    figures: list[Figure] = []
    for name, (panels, work_out, draw) in FIGURES.items():
        if name not in wanted and ALL not in wanted:
            continue
        panel_figures = [work_out(panel, seed, size=size) for panel in panels]
        figures += panel_figures
        if folder is not None:
            drawn = [(figure, draw(figure)) for figure in panel_figures]
            if len(panel_figures) > 1:
                joined = charts.beside([chart for _, chart in drawn])
                drawn.append((_join_panels(panel_figures), joined))
            write_all([file for pair in drawn for file in _files(*pair, folder)])
    return tuple(figures)


def _join_panels(panels: list[Figure]) -> Figure:
    """Join the panels of Figure 1; each row says which one it is from."""
    rows = [{"figure": panel.name, **row} for panel in panels for row in panel.rows]
    scales = {panel.name: panel.parameters["scales"] for panel in panels}
    parameters = {**panels[0].parameters, "scales": scales}
    return Figure("fig1", "Two items", tuple(rows), parameters, panels[0].seed)


def _files(figure: Figure, chart: Chart, folder: Path) -> list[Output]:
    numbers, place = json.dumps(figure.to_dict(), indent=2), folder / figure.name
    files = [
        Output(f"{place}.json", f"{numbers}\n"),
        Output(f"{place}.csv", pl.DataFrame(figure.rows).write_csv()),
    ]
    if charts.can_render():
        picture = charts.svg(chart)
        files.append(Output(f"{place}.png", charts.png_from(picture)))
        files.append(Output(f"{place}.svg", picture))
    return files


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(
            f"output must be a directory that can be written to, got {str(folder)!r}: "
            f"{error.strerror}."
        ) from error
    return folder


def two_items_chart(figure: Figure) -> Chart:
    """Draw one panel of Figure 1.

    Examples:
        >>> figure = two_items("fig1a", 7, size=Size(rounds=10, reviewers=(2, 4)))
        >>> two_items_chart(figure)["title"]["text"]
        '(a) one biased reviewer'
    """
    rows = [_with_bar(row) for row in figure.rows]
    ticks = (2, 4, 6, 10, 20, 40, 100)
    title, trials = "improvement over a fair coin (%)", figure.parameters["trials"]
    return charts.lines(
        rows,
        RULES,
        x=ChartAxis("m", "number of reviewers", (1.8, 110), ticks, "log"),
        y=ChartAxis("improvement", title, _domain(rows)),
        title=f"({figure.name[-1]}) {figure.title.partition(': ')[2]}",
        subtitle=[f"bars: {trials:,} simulated trials, \u00b1 {BAR} s.e."],
    )


def many_items_chart(figure: Figure) -> Chart:
    """Draw Figure 2.

    Examples:
        >>> size = Size(trials=2, samples=10, items=(3, 4))
        >>> many_items_chart(many_items("fig2", 7, size=size))["title"]["subtitle"]
        ['2 trials of 10 samples; bars: \u00b1 2 s.e.']
    """
    trials, samples = figure.parameters["trials"], figure.parameters["samples"]
    x = ChartAxis(
        "n", "number of items", (2.8, 55), (3, 4, 5, 7, 10, 15, 20, 30, 50), "log"
    )
    y = ChartAxis("improvement", "improvement in Kendall tau (%)", (-4, 38))
    subtitle = [f"{trials} trials of {samples} samples; bars: \u00b1 {BAR} s.e."]
    title, rows = "Ranking, against the index order", map(_with_bar, figure.rows)
    chart = charts.lines([*rows], RANKINGS, x=x, y=y, title=title, subtitle=subtitle)
    note: FigureRow = {"n": 3, "improvement": 0.0, "label": "n = 3: no theorem applies"}
    label_layer = charts.labelled_points(
        [note], x=x, y=y, colour=charts.GREY, offset=(-2, 13)
    )
    return charts.over(chart, label_layer)


def trade_chart(figure: Figure) -> Chart:
    """Draw Figure 3.

    Examples:
        >>> len(trade_chart(trade("fig3", 7))["layer"])
        4
    """
    x = ChartAxis("perfect", "improvement under perfect calibration (%)", (0, 100))
    y = ChartAxis(
        "biased", "improvement under bias (%)", (0, 10.5), (0, 2, 4, 6, 8, 10)
    )
    dense = range(STEPS * EXPONENTS[0], STEPS * EXPONENTS[-1] + 1)
    curve: list[FigureRow] = [
        {**tradeoff(2 ** (step / STEPS)), "method": "curve"} for step in dense
    ]
    title = "The paper's weights, \u03b3 gap / (1 + \u03b3 gap)"
    points: list[FigureRow] = [
        {**row, "method": "curve", "label": GAMMAS.get(int(row["k"]), "")}
        for row in figure.rows
    ]
    left_points, right_points = points[: 1 - EXPONENTS[0]], points[1 - EXPONENTS[0] :]
    labelled = functools.partial(charts.labelled_points, x=x, y=y, colour=charts.BLUE)
    return charts.over(
        charts.lines(curve, CURVE, x=x, y=y, title=title),
        charts.lines(points, POINTS, x=x, y=y),
        labelled(left_points, offset=(-8, 0), align="right"),
        labelled(right_points, offset=(8, -4)),
    )


def _with_bar(row: FigureRow) -> FigureRow:
    middle, reach = float(row["improvement"]), BAR * float(row["se"])
    return {**row, "low": middle - reach, "high": middle + reach}


def _domain(rows: Sequence[FigureRow]) -> tuple[float, float]:
    """Return the range of the bars, with room above and below."""
    ends = [float(row[end]) for row in rows for end in ("low", "high")]
    room = ROOM * (max(ends) - min(ends))
    return min(ends) - room, max(ends) + room


FIGURES = {
    "fig1": (tuple(PANELS), two_items, two_items_chart),
    "fig2": (("fig2",), many_items, many_items_chart),
    "fig3": (("fig3",), trade, trade_chart),
}
"""Each figure's panels, what works one out and what draws it."""

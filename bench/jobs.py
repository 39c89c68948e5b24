"""What users wait for: public calls, and what people would use instead.

A side is a function that makes its data and returns the call to be timed; the call
returns numbers that show whether sides agree. Commands are lists of words instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Call = Callable[[], Any]
ROOT = Path(__file__).parent.parent
SEED = 7


@dataclass(frozen=True)
class Job:
    """Something that a user waits for.

    Attributes:
        name: What it is called with `--only`.
        title: What it is.
        ours: Our side: a maker of a call, or the words of a command.
        most: CPU seconds that it may take, and megabytes if they are limited.
        peers: Other libraries by name, and what they were asked for.
        agree: How close the answers of peers are to ours; a number that `least` bounds.
        least: The least agreement with which a peer gets a row.
        fresh: Whether the first run after installing is measured as well.
    """

    name: str
    title: str
    ours: Callable[[], Call] | list[str]
    most: float
    megabytes: float | None = None
    peers: dict[str, Callable[[], Call]] = field(default_factory=dict)
    agree: Callable[[Any, Any], float] | None = None
    least: float = 0.0
    fresh: float | None = None


def correlation(ours: Floats, theirs: Floats) -> float:
    """Kendall's correlation of two lists of values."""
    kendalltau = import_module("scipy.stats").kendalltau
    return float(kendalltau(ours, theirs).statistic)


def nearness(ours: float, theirs: float) -> float:
    """One less the distance of two chances."""
    return 1 - abs(ours - theirs)


def ratings(size: int, items: int, load: int) -> tuple[Any, Any, Floats]:
    """Draw reviewers, items and scores; each reviewer rates `load` different items."""
    rng = np.random.default_rng(1)
    people = size // load
    stretch = max((items - 1) // max(load - 1, 1), 1)
    steps = stretch * np.arange(load - 1) + 1
    steps = steps + rng.integers(stretch, size=(people, load - 1))
    start = rng.integers(items, size=(people, 1))
    rows = np.hstack([start, (start + steps) % items])
    scores = rng.normal(size=items)[rows] + 0.5 * rng.normal(size=(people, 1))
    scores = scores + rng.normal(size=rows.shape)
    return np.repeat(np.arange(people), load), rows.ravel(), scores.ravel()


def stars(first: int, second: int) -> tuple[Floats, Floats]:
    """Draw two lists of five-star ratings."""
    rng = np.random.default_rng(1)
    shares = [0.05, 0.1, 0.2, 0.35, 0.3]
    one = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], first, p=shares)
    others = [0.06, 0.11, 0.2, 0.35, 0.28]
    two = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], second, p=others)
    return np.asarray(one, dtype=np.float64), np.asarray(two, dtype=np.float64)


def continuous(size: int) -> tuple[Floats, Floats]:
    """Draw two lists of scores without ties."""
    rng = np.random.default_rng(2)
    return rng.normal(0.01, 1, size), rng.normal(0, 1, size)


def levels(number: int) -> list[NDArray[np.int64]]:
    """Draw counts of a thousand million scores on some levels, for either of two."""
    rng, tilt = np.random.default_rng(4), 1e-5 * np.linspace(-1, 1, number)
    shares = (np.full(number, 1 / number), (1 + tilt) / number)
    return [rng.multinomial(10**9, one / one.sum()) for one in shares]


def compare_counts(number: int) -> Call:
    """Compare counts of scores, as a warehouse gives them."""
    eh = import_module("evenhand")
    items, scores = ["A"] * number + ["B"] * number, [*range(number)] * 2
    counts = eh.Counts(items, scores, np.concatenate(levels(number)))
    return lambda: eh.compare(counts, rng=SEED).p_value


def welch_of_counts(number: int) -> Call:
    """Welch's test from means and spreads, which supposes a common scale."""
    test = import_module("scipy.stats").ttest_ind_from_stats
    scores, (one, two) = np.arange(number), levels(number)

    def call() -> float:
        known: list[float] = []
        for counts in (one, two):
            mean = np.average(scores, weights=counts)
            variance = np.average((scores - mean) ** 2, weights=counts)
            known += [mean, np.sqrt(variance), counts.sum()]
        return float(test(*known, equal_var=False).pvalue)

    return call


def compare(make: Callable[[], tuple[Floats, Floats]]) -> Call:
    """Compare two lists."""
    eh = import_module("evenhand")
    one, two = make()
    return lambda: eh.compare(one, two, rng=SEED).p_value


def mann_whitney(make: Callable[[], tuple[Floats, Floats]]) -> Call:
    """Mann and Whitney's test, which supposes a common scale."""
    test = import_module("scipy.stats").mannwhitneyu
    one, two = make()
    return lambda: test(one, two).pvalue


def tea_tasting(make: Callable[[], tuple[Floats, Floats]]) -> Call:
    """Welch's test by tea-tasting."""
    tt, pd = import_module("tea_tasting"), import_module("pandas")
    one, two = make()
    scores = np.concatenate([one, two])
    variant = np.repeat([1, 0], [len(one), len(two)])
    table = pd.DataFrame({"variant": variant, "score": scores})
    experiment = tt.Experiment(score=tt.Mean("score"))
    return lambda: experiment.analyze(table)["score"].pvalue


def rank(size: int, items: int, load: int, method: str = "adaptive") -> Call:
    """Rank ratings, with intervals."""
    eh = import_module("evenhand")
    made = eh.Ratings(*ratings(size, items, load))

    def call() -> Floats:
        found = eh.rank(made, method=method, rng=SEED)
        values = {row.item: row.estimate for row in found.items}
        return np.array([values[item] for item in sorted(values)])

    return call


def mixed_model(size: int, items: int, load: int) -> Call:
    """REML for crossed effects by statsmodels, which holds a dense matrix."""
    statsmodels, pd = import_module("statsmodels.api"), import_module("pandas")
    people, codes, scores = ratings(size, items, load)
    table = pd.DataFrame({"p": people, "i": codes, "y": scores, "all": 1})
    parts = {"p": "0 + C(p)", "i": "0 + C(i)"}

    def call() -> Floats:
        model = statsmodels.MixedLM.from_formula(
            "y ~ 1", groups="all", vc_formula=parts, re_formula="0", data=table
        )
        effects = model.fit(reml=True).random_effects[1]
        found = {name: value for name, value in effects.items() if name[:2] == "i["}
        named = {int(name[name.rindex("[") + 1 : -2]): v for name, v in found.items()}
        return np.array([named[code] for code in sorted(named)])

    return call


def pairs_won(size: int, items: int, load: int) -> tuple[Any, Any, Any]:
    """List every pair that a reviewer put in order."""
    _, codes, scores = ratings(size, items, load)
    rows, given = codes.reshape(-1, load), scores.reshape(-1, load)
    one, two = np.triu_indices(load, 1)
    won = given[:, one] > given[:, two]
    winners = np.where(won, rows[:, one], rows[:, two]).ravel()
    losers = np.where(won, rows[:, two], rows[:, one]).ravel()
    return winners, losers, np.unique(codes)


def choix_values(size: int, items: int, load: int) -> Call:
    """Bradley-Terry values by choix."""
    choix = import_module("choix")
    winners, losers, seen = pairs_won(size, items, load)
    games = list(zip(winners.tolist(), losers.tolist(), strict=True))
    return lambda: choix.opt_pairwise(items, games, alpha=0.2)[seen]


def evalica_values(size: int, items: int, load: int) -> Call:
    """Bradley-Terry values by evalica."""
    evalica = import_module("evalica")
    winners, losers, seen = pairs_won(size, items, load)
    sides = winners.tolist(), losers.tolist(), [evalica.Winner.X] * len(winners)
    return lambda: evalica.bradley_terry(*sides).scores.reindex(seen).to_numpy()


def crowdkit_values(size: int, items: int, load: int) -> Call:
    """Bradley-Terry values by crowd-kit."""
    model = import_module("crowdkit.aggregation").BradleyTerry(n_iter=100)
    winners, losers, seen = pairs_won(size, items, load)
    columns = {"left": winners, "right": losers, "label": winners, "worker": winners}
    table = import_module("pandas").DataFrame(columns)
    return lambda: model.fit_predict(table).reindex(seen).to_numpy()


def least_squares(size: int, items: int, load: int) -> Call:
    """Additive offsets by SciPy's lsqr, without errors or shrinkage."""
    sparse, linalg = import_module("scipy.sparse"), import_module("scipy.sparse.linalg")
    people, codes, scores = ratings(size, items, load)
    count = people[-1] + 1
    places = np.concatenate([people, count + codes])
    rows = np.tile(np.arange(len(scores)), 2)
    table = sparse.csr_array((np.ones(2 * len(scores)), (rows, places)))
    seen = np.unique(codes)
    return lambda: linalg.lsqr(table, scores, atol=1e-12, btol=1e-12)[0][count:][seen]


def check(size: int, items: int, load: int) -> Call:
    """Check ratings."""
    eh = import_module("evenhand")
    made = eh.Ratings(*ratings(size, items, load))
    return lambda: len(eh.check(made, rng=SEED).findings)


def warp(size: int, items: int, load: int) -> Call:
    """Redraw every reviewer's scale 200 times."""
    eh = import_module("evenhand")
    made = eh.Ratings(*ratings(size, items, load))
    return lambda: len(eh.warp(made, draws=200, rng=SEED).to_dict())


def orders(items: int, number: int) -> tuple[Any, Any]:
    """Draw pairs, upper and lower item, that all agree with one hidden ranking."""
    rng = np.random.default_rng(1)
    truth = rng.permutation(items)
    if number > items * items // 8:
        first, second = np.triu_indices(items, 1)
        chosen = rng.choice(len(first), number, replace=False)
        first, second = first[chosen], second[chosen]
    else:
        first = rng.integers(items, size=number)
        second = (first + rng.integers(1, items, size=number)) % items
    return truth[np.minimum(first, second)], truth[np.maximum(first, second)]


def rank_orders(items: int, number: int, method: str) -> Call:
    """Rank items from pairs, one reviewer each."""
    eh = import_module("evenhand")
    above, below = orders(items, number)
    people = np.repeat(np.arange(number), 2)
    pairs = np.column_stack([above, below]).ravel()
    made = eh.Ratings(people, pairs, np.tile([2.0, 1.0], number))
    return lambda: len(eh.rank(made, method=method, rng=SEED).order)


def rustworkx_order(items: int, number: int) -> Call:
    """Find one order, not a random one, by rustworkx."""
    rx = import_module("rustworkx")
    above, below = orders(items, number)
    listed = list(zip(above.tolist(), below.tolist(), strict=True))
    used = len(np.unique([above, below]))

    def call() -> int:
        graph = rx.PyDiGraph()
        graph.add_nodes_from(range(items))
        graph.add_edges_from_no_data(listed)
        found = rx.lexicographical_topological_sort(graph, key=lambda i: f"{i:09d}")
        return used if len(found) == items else 0

    return call


def ratings_file(size: int) -> Path:
    """Write ratings that agree with one hidden ranking, in random order; kept."""
    path = ROOT / "out" / "bench" / f"ratings-{size}.csv"
    if path.exists():
        return path
    pl = import_module("polars")
    people, items, _ = ratings(size, max(size // 100, 10), 10)
    value = np.random.default_rng(3).permutation(items.max() + 1)
    places = np.argsort(np.argsort(value[items].reshape(-1, 10), axis=1), axis=1)
    table = pl.DataFrame({"r": people, "i": items, "score": places.ravel() + 1.0})
    names = [("reviewer", "r"), ("item", "i")]
    texts = [
        pl.format(f"{name} {{}}", pl.col(code).cast(pl.String).str.zfill(7)).alias(name)
        for name, code in names
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    table = table.sample(fraction=1.0, shuffle=True, seed=1)
    table.select(*texts, "score").write_csv(path)
    return path


def polars_codes(size: int) -> Call:
    """Read the file and code its labels with polars, and decide nothing."""
    pl = import_module("polars")
    path = ratings_file(size)

    def call() -> int:
        table = pl.read_csv(path)
        for name in ("reviewer", "item"):
            table[name].cast(pl.Categorical).to_physical()
        return len(table)

    return call


def _sizes(size: int, items: int, load: int) -> dict[str, Any]:
    return {"size": size, "items": items, "load": load}


def _adaptive(name: str, sizes: dict[str, Any], most: float, **more: Any) -> Job:  # noqa: ANN401 - fields of a job
    title = f"`eh.rank`, {sizes['size']:,} ratings of {sizes['items']:,} items"
    return Job(name, title, functools.partial(rank, **sizes), most, **more)


def _counted(number: int, title: str) -> Job:
    return Job(
        f"counts-{number}",
        title,
        functools.partial(compare_counts, number),
        2.0,
        megabytes=300,
        peers={"scipy Welch": functools.partial(welch_of_counts, number)},
        agree=nearness,
        least=0.8,
    )


_SMALL, _PAPERS = _sizes(120, 12, 4), _sizes(10_000, 1_000, 10)
_BOARD, _LARGE = _sizes(50_000, 20, 5), _sizes(100_000, 10_000, 10)
_HUGE, _REVIEWS = _sizes(1_000_000, 100_000, 10), _sizes(5_000, 1_000, 5)
_STARS = functools.partial(stars, 3_000, 3_100)
_SCORES = functools.partial(continuous, 100_000)

JOBS = [
    Job(
        "first-rank",
        "`evenhand rank examples/panel.csv`",
        ["rank", "examples/panel.csv", "--seed", "7"],
        1.0,
        fresh=2.5,
    ),
    Job(
        "first-compare",
        "`evenhand compare examples/designs.csv`",
        ["compare", "examples/designs.csv", "--seed", "7"],
        0.9,
        fresh=2.0,
    ),
    Job(
        "first-report",
        "`evenhand rank examples/panel.csv --top 4 --report`",
        [
            "rank",
            "examples/panel.csv",
            "--top",
            "4",
            "--seed",
            "7",
            "--report",
            "OUT.html",
        ],
        5.0,
        fresh=5.0,
    ),
    Job(
        "stars",
        "`eh.compare`, 3,000 against 3,100 five-star ratings",
        functools.partial(compare, _STARS),
        0.3,
        peers={
            "scipy mannwhitneyu": functools.partial(mann_whitney, _STARS),
            "tea-tasting Welch": functools.partial(tea_tasting, _STARS),
        },
        agree=nearness,
        # Welch's test is one of means.
        least=0.8,
    ),
    _counted(5, "`eh.compare`, counts of 1e9 against 1e9 scores on 5 levels"),
    _counted(1_000, "the same, 1,000 levels"),
    Job(
        "scores",
        "`eh.compare`, 100,000 against 100,000 scores without ties",
        functools.partial(compare, _SCORES),
        10.0,
        peers={"scipy mannwhitneyu": functools.partial(mann_whitney, _SCORES)},
        agree=nearness,
        least=0.98,
    ),
    _adaptive("panel", _SMALL, 0.1),
    _adaptive(
        "papers",
        _PAPERS,
        1.5,
        peers={
            "choix": functools.partial(choix_values, **_PAPERS),
            "crowd-kit": functools.partial(crowdkit_values, **_PAPERS),
            "scipy lsqr": functools.partial(least_squares, **_PAPERS),
        },
        agree=correlation,
        least=0.6,
    ),
    Job(
        "reml",
        "`eh.rank(method='additive')`, 400 ratings of 40 items",
        functools.partial(rank, 400, 40, 4, method="additive"),
        0.5,
        peers={"statsmodels MixedLM": functools.partial(mixed_model, 400, 40, 4)},
        agree=correlation,
        least=0.99,
    ),
    _adaptive(
        "board",
        _BOARD,
        2.0,
        # On the papers it gives all items one value: it draws none to the mean.
        peers={"evalica": functools.partial(evalica_values, **_BOARD)},
        agree=correlation,
        least=0.6,
    ),
    _adaptive("large", _LARGE, 8.0),
    _adaptive("huge", _HUGE, 60.0, megabytes=3000),
    Job(
        "check",
        "`eh.check`, 5,000 reviews of 1,000 items",
        functools.partial(check, **_REVIEWS),
        5.0,
    ),
    Job(
        "warp",
        "`eh.warp`, 200 redraws of it",
        functools.partial(warp, **_REVIEWS),
        20.0,
    ),
    Job(
        "million",
        "`evenhand rank --method flips`, 1,000,000 rows of CSV",
        ["rank", "FILE:1000000", "--method", "flips", "--seed", "7", "-o", "OUT"],
        5.0,
        peers={"polars reads and codes it": functools.partial(polars_codes, 1_000_000)},
    ),
    Job(
        "ten-million",
        "the same, 10,000,000 rows",
        ["rank", "FILE:10000000", "--method", "flips", "--seed", "7", "-o", "OUT"],
        45.0,
        megabytes=4000,
        peers={
            "polars reads and codes it": functools.partial(polars_codes, 10_000_000)
        },
    ),
    Job(
        "uniform-dense",
        "`uniform`, 2,000 items, half of all pairs",
        functools.partial(rank_orders, 2_000, 999_500, "uniform"),
        2.0,
        peers={
            "rustworkx, one order": functools.partial(rustworkx_order, 2_000, 999_500)
        },
        agree=lambda ours, theirs: float(ours == theirs),
        least=1.0,
    ),
    Job(
        "uniform-sparse",
        "`uniform`, 10,000 items, 20,000 pairs",
        functools.partial(rank_orders, 10_000, 20_000, "uniform"),
        5.0,
        peers={
            "rustworkx, one order": functools.partial(rustworkx_order, 10_000, 20_000)
        },
        agree=lambda ours, theirs: float(ours == theirs),
        least=1.0,
    ),
    Job(
        "mean-rank-dense",
        "`mean-rank`, 2,000 items, half of all pairs",
        functools.partial(rank_orders, 2_000, 999_500, "mean-rank"),
        5.0,
    ),
    Job(
        "mean-rank-sparse",
        "`mean-rank`, 1,000 items, 1,500 pairs",
        functools.partial(rank_orders, 1_000, 1_500, "mean-rank"),
        5.0,
    ),
    Job(
        "theorems-quick",
        "`evenhand theorems --quick`",
        ["theorems", "--quick", "--seed", "7"],
        30.0,
    ),
    Job("theorems", "`evenhand theorems`", ["theorems", "--seed", "7"], 300.0),
    Job(
        "figures",
        "`evenhand reproduce all`",
        ["reproduce", "all", "--seed", "7", "-o", "OUT"],
        300.0,
    ),
]

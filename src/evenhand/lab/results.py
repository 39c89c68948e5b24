"""What a simulation found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evenhand._outputs import Output, write_all
from evenhand._results import Json, Notice, version
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt

PICTURES = (".png", ".svg")


@dataclass(frozen=True, slots=True)
class Row:
    """How one method did by one loss.

    Attributes:
        method: The method.
        loss: The loss.
        risk: Its mean over all trials.
        se: Standard error of the risk.
        improvement: How much lower the risk is than the baseline's, in per cent of it;
            None without a baseline, or if the baseline never errs.
        improvement_se: Standard error of the improvement, by the delta method.
        trials: How many trials there were.
        levels: Number of marks on the form; None for scores as they are.
        ties: Share of trials in which a reviewer gave equal scores to unequal items.
        certificate: What such ties leave of the method's guarantee. For two items
            "strictly better than a coin", "never worse than a coin" or "none"; for
            many "kept", "void" or "none".
    """

    method: str
    loss: str
    risk: float
    se: float
    improvement: float | None
    improvement_se: float | None
    trials: int
    levels: int | None
    ties: float
    certificate: str

    def to_dict(self) -> dict[str, Json]:
        """Return the row as in the JSON; levels only where they were asked for."""
        row: dict[str, Json] = {
            "method": self.method,
            "loss": self.loss,
            "risk": self.risk,
            "se": self.se,
            "improvement": self.improvement,
            "improvement_se": self.improvement_se,
        }
        if self.levels is not None:
            row["levels"] = self.levels
            row["trials"] = self.trials
            row["ties"] = self.ties
            row["certificate"] = self.certificate
        return row


@dataclass(frozen=True, slots=True, repr=False)
class Simulation:
    """How methods did on a scenario.

    Attributes:
        rows: One row for each method and loss (and number of levels).
        trials: How many trials there were, at most 2**53.
        parameters: What was simulated.
        seed: The seed that repeats it.
        notices: What the reader must know.
    """

    rows: tuple[Row, ...]
    trials: int
    parameters: Mapping[str, Json]
    seed: int
    notices: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> from evenhand.lab.scenario import Scenario
            >>> from evenhand.lab.simulation import simulate
            >>> simulate(Scenario(), "mean", trials=100, rng=7).to_dict()["schema"]
            'evenhand.simulate/1'
        """
        return {
            "schema": "evenhand.simulate/1",
            "rows": [row.to_dict() for row in self.rows],
            "trials": self.trials,
            "parameters": dict(self.parameters),
            "seed": self.seed,
            "warnings": [notice.to_dict() for notice in self.notices],
            "version": version(),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars dataframe.

        Examples:
            >>> from evenhand.lab.scenario import Scenario
            >>> from evenhand.lab.simulation import simulate
            >>> simulate(Scenario(), "mean", trials=100, rng=7).to_frame().columns[:3]
            ['method', 'loss', 'risk']
        """
        kinds = {"improvement": pl.Float64, "improvement_se": pl.Float64}
        return pl.DataFrame(
            [row.to_dict() for row in self.rows], schema_overrides=kinds
        )

    def chart(self) -> alt.HConcatChart:
        """Draw the rows with error bars of two standard errors.

        Examples:
            >>> from evenhand.lab.scenario import Scenario
            >>> from evenhand.lab.simulation import simulate
            >>> result = simulate(Scenario(), "mean", trials=100, rng=7)
            >>> result.chart().to_dict()["hconcat"][0]["height"]
            30
        """
        # Imported here because few simulations are drawn.
        import altair as alt  # noqa: PLC0415 - slow to load

        from evenhand.lab.drawings import simulation_chart  # noqa: PLC0415

        return alt.HConcatChart.from_dict(simulation_chart(self))

    def save_chart(self, path: str | Path) -> None:
        """Draw the rows into a file, .png or .svg.

        Raises:
            OptionError: If the file is neither, or cannot be written.
        """
        write_all([self.chart_output(path)])

    def chart_output(self, path: str | Path) -> Output:
        """Draw the rows as a file that is yet to be written, with others.

        Examples:
            >>> from evenhand.lab.scenario import Scenario
            >>> from evenhand.lab.simulation import simulate
            >>> result = simulate(Scenario(), "mean", trials=100, rng=7)
            >>> result.chart_output("chart.svg").data[:4]
            b'<svg'
        """
        file = Path(path)
        require_picture(file)
        from evenhand import _charts  # noqa: PLC0415 - few simulations are drawn
        from evenhand.lab.drawings import simulation_chart  # noqa: PLC0415

        chart = simulation_chart(self)
        is_png = file.suffix.lower() == ".png"
        return Output(str(path), (_charts.png if is_png else _charts.svg)(chart))

    def __repr__(self) -> str:
        lines = [f"{self.trials} trials, seed {self.seed}"]
        for row in self.rows:
            gain = ""
            if row.improvement is not None:
                gain = f", improvement {row.improvement:.3g} %"
                gain += f" (se {row.improvement_se:.2g})"
            marks = "" if row.levels is None else f" with {row.levels} levels"
            risk = f"{row.loss} {row.risk:.4g} (se {row.se:.2g})"
            lines.append(f"{row.method}{marks}: {risk}{gain}")
        return "\n".join(lines)


def require_picture(path: Path) -> None:
    """Refuse a path that does not end as a picture does.

    Raises:
        OptionError: If it is neither .png nor .svg.

    Examples:
        >>> require_picture(Path("gains.svg"))
    """
    if path.suffix.lower() not in PICTURES:
        raise OptionError(f"chart must be a .png or .svg file, got {str(path)!r}.")

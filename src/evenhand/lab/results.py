"""What a simulation found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evenhand._results import Json, Notice, version

if TYPE_CHECKING:
    from collections.abc import Mapping


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
        certificate: What such ties leave of the guarantees.
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
            >>> from evenhand.lab.simulate import simulate
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
            >>> from evenhand.lab.simulate import simulate
            >>> simulate(Scenario(), "mean", trials=100, rng=7).to_frame().columns[:3]
            ['method', 'loss', 'risk']
        """
        kinds = {"improvement": pl.Float64, "improvement_se": pl.Float64}
        return pl.DataFrame(
            [row.to_dict() for row in self.rows], schema_overrides=kinds
        )

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

"""What the warp test found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from evenhand._results import Json, Label, Notice, tail
from evenhand.errors import counted, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = "evenhand.warp/1"
SHOWN = 20


@dataclass(frozen=True, slots=True)
class WarpedItem:
    """What became of one item.

    Attributes:
        item: Label.
        rank: Its rank by the real scores.
        p_top: Share of draws in which it is among the best k.
        kept: Share of draws in which it is chosen if it was, and not if it was not.
        rank_low: Best rank that it got.
        rank_high: Worst rank that it got.
    """

    item: Label
    rank: int
    p_top: float
    kept: float
    rank_low: int
    rank_high: int


@dataclass(frozen=True, slots=True)
class Survival:
    """What became of one method's ranking under one strength of warps.

    Attributes:
        method: The method.
        strength: "mild" or "extreme".
        agreement: Kendall's agreement with the ranking of the real scores, from -1 to
            1, averaged over draws.
        lowest: Its lowest value.
        top_kept: Share of draws in which the same k items are chosen.
        unchanged: Share of draws in which no item moved.
        items: A row for each item, by its rank on the real scores.
    """

    method: str
    strength: str
    agreement: float
    lowest: float
    top_kept: float
    unchanged: float
    items: tuple[WarpedItem, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values."""
        return {**asdict(self), "items": [asdict(row) for row in self.items]}


@dataclass(frozen=True, slots=True, repr=False)
class Warp:
    """What of a ranking survives other scales.

    Attributes:
        survivals: For each strength the method, and the plain mean beside it.
        top: How many of the best are chosen.
        draws: How many times the scales were drawn.
        method: The method.
        seed: What repeats the test.
        data: Sizes and hash of the ratings.
        notices: What the reader must know.
    """

    survivals: tuple[Survival, ...]
    top: int
    draws: int
    method: str
    seed: int
    data: Mapping[str, Json]
    notices: tuple[Notice, ...] = ()

    def rows(self) -> list[dict[str, Json]]:
        """Return one plain row for each strength, method and item.

        Examples:
            >>> item = WarpedItem("x", 1, 1.0, 1.0, 1, 1)
            >>> kept = Survival("mean", "mild", 1.0, 1.0, 1.0, 1.0, (item,))
            >>> Warp((kept,), 1, 9, "mean", 7, {}).rows()[0]["strength"]
            'mild'
        """
        return [
            {"strength": found.strength, "method": found.method, **asdict(row)}
            for found in self.survivals
            for row in found.items
        ]

    def to_dict(self) -> dict[str, Json]:
        """Return the result's JSON as plain values.

        Examples:
            >>> Warp((), 1, 9, "mean", 7, {}).to_dict()["schema"]
            'evenhand.warp/1'
        """
        closing = tail(
            method=self.method,
            parameters={"draws": self.draws, "top": self.top},
            seed=self.seed,
            data=self.data,
            notices=self.notices,
        )
        return {
            "schema": SCHEMA,
            "top": self.top,
            "draws": self.draws,
            "survivals": [found.to_dict() for found in self.survivals],
            **closing,
        }

    def sentences(self) -> tuple[str, ...]:
        """Say for each strength and method what survived.

        Examples:
            >>> kept = Survival("mean", "mild", 0.512, 0.1, 0.25, 0.0, ())
            >>> Warp((kept,), 3, 9, "mean", 7, {}).sentences()
            ('Under mild warps the best 3 by mean stay the same in 25 % of draws;
            agreement is 0.51 on average.',)
        """
        best = "best one" if self.top == 1 else f"best {self.top}"
        stay = "stays" if self.top == 1 else "stay"
        return tuple(
            f"Under {found.strength} warps the {best} by {found.method} {stay} the "
            f"same in {100 * found.top_kept:.0f} % of draws; agreement is "
            f"{found.agreement:.2f} on average."
            for found in self.survivals
        )

    def __repr__(self) -> str:
        title = (
            f"Warp test of {self.method}, best {self.top}, "
            f"{counted(self.draws, 'draw')}, seed {self.seed}"
        )
        lines = [title, *self.sentences()]
        ours = [found for found in self.survivals if found.method == self.method]
        if ours:
            lines += _table(ours, self.survivals)
        return "\n".join(lines)


def _table(ours: list[Survival], every: tuple[Survival, ...]) -> list[str]:
    """Show for the best items how often the decision on them is kept."""
    shown = ours[0].items[:SHOWN]
    kept = [{row.item: row.kept for row in found.items} for found in every]
    ranges = {
        row.item: (row.rank_low, row.rank_high)
        for found in reversed(ours)
        for row in found.items
    }
    head = ("rank", "item", f"ranks, {ours[0].strength}")
    names = [f"{found.method}, {found.strength}" for found in every]
    table = [(*head, *names)]
    for row in shown:
        low, high = ranges[row.item]
        cells = [f"{100 * shares[row.item]:.0f} %" for shares in kept]
        table.append((str(row.rank), printable(row.item), f"{low}-{high}", *cells))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["Share of draws in which an item is chosen, or not, as by real scores:"]
    for cells_of_row in table:
        padded = [
            cell.ljust(width) if place == 1 else cell.rjust(width)
            for place, (cell, width) in enumerate(
                zip(cells_of_row, widths, strict=True)
            )
        ]
        lines.append("  ".join(padded))
    left = len(ours[0].items) - len(shown)
    return [*lines, f"and {left} more"] if left else lines

"""Random assignments: which reviewer gets which items.

The guarantees rest on a random assignment. A design is a value that draws one: call it,
`halves(6, rng=7)`. Each is one procedure that asks for its random choices; a seed makes
it draw one assignment, and `law` follows every choice and gives the exact law of the
very same code.

For two items an assignment is a read-only array with the item, 0 or 1, of each
reviewer; for many items, with a row of increasing item codes for each reviewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.designs.design import Balanced as Balanced
from evenhand.designs.design import Coins as Coins
from evenhand.designs.design import Halves as Halves
from evenhand.designs.design import Matched as Matched
from evenhand.designs.design import Pairs as Pairs
from evenhand.designs.design import Panels as Panels
from evenhand.designs.design import RandomDesign as RandomDesign
from evenhand.designs.design import TwoPools as TwoPools
from evenhand.designs.design import as_design

if TYPE_CHECKING:
    from fractions import Fraction

halves, coins, matched, panels = Halves(), Coins(), Matched(), Panels()
pairs, balanced = Pairs(), Balanced()


def law(
    design: str | RandomDesign, *sizes: object, **options: object
) -> dict[tuple[Any, ...], Fraction]:
    """Return every assignment of a design with its exact probability.

    Args:
        design: The design, or its name.
        sizes: What the design takes when it is called, in its order.
        options: The same, by name.

    Raises:
        DesignError: If there is none, or too many to count.

    Examples:
        >>> law("halves", 2)
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
        >>> law("balanced", 2, 2, 1, None, [(0, 0)])
        {((1,), (0,)): Fraction(1, 1)}
    """
    return as_design(design, RandomDesign).law(*sizes, **options)

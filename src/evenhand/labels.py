"""Labels that people take for one another: look-alikes, and blanks around them.

Two spellings are two labels, and a notice names them; the user may merge them. Blanks
around a label are not part of it, and a notice says where that made two labels one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evenhand.claims import DataWarning, Json, Label, few
from evenhand.columns import FORMULA_START, NAMED, column_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HIDDEN = r"[\p{Cf}\x{34f}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{3164}\x{fe00}-\x{fe0f}]"
"""Characters that nobody sees: Unicode's marks of format, and a few letters."""


def alike(labels: Iterable[Label]) -> list[tuple[str, str]]:
    r"""Return pairs of labels that differ in ways that people overlook.

    These are case, coding, full-width letters, white space, characters that nobody
    sees, zeros around a whole number, and apostrophes before a formula.

    Examples:
        >>> alike(["Anna", "Bo", "anna", "1", "01"])
        [('Anna', 'anna'), ('1', '01')]
    """
    texts = [label for label in labels if isinstance(label, str)]
    if not texts:
        return []
    frame = pl.DataFrame({"label": texts})
    visible = pl.col("label").str.normalize("NFKC").str.replace_all(HIDDEN, "")
    first = pl.col("label").first()
    firsts = frame.select("label", first=first.over(_key(visible)))
    pairs = firsts.filter(pl.col("first") != pl.col("label"))
    return pairs.select("first", "label").rows()


def _key(letters: pl.Expr) -> pl.Expr:
    """Reduce labels to what people see of them, whatever their case."""
    # What case hides, upper case shows in full: "\u00df" is "SS" there.
    return (
        letters.str.to_uppercase()
        .str.replace_all(r"\s+", " ")
        .str.strip_chars()
        .str.replace(f"^'+({FORMULA_START})", "$1")
        .str.replace(r"^\+?0*([0-9]+)(?:\.0*)?$", "$1")
    )


def alike_notices(
    what: str, pairs: Sequence[tuple[str, str]]
) -> tuple[DataWarning, ...]:
    """Say which labels differ only in ways that people overlook.

    Examples:
        >>> alike_notices("item", [("Tea", "tea")])[0].message
        "Labels that look alike are taken for different items: 'Tea' and 'tea'. If they
        are the same, merge them with merge= or --column merge=item."
    """
    if not pairs:
        return ()
    return (DataWarning(f"similar_{what}s", {"pairs": few(map(list, pairs), NAMED)}),)


def merged_spellings(labels: pl.Series, *, case: bool = False) -> dict[str, str]:
    """Return the spelling to use instead of each that looks like a more frequent one.

    Args:
        labels: The labels.
        case: Whether spellings may differ in their case alone.

    Examples:
        >>> merged_spellings(pl.Series(["tea", "Tea", "Tea", "milk"]))
        {'tea': 'Tea'}
    """
    counts = labels.value_counts(name="count")
    often = dict(counts.rows())
    # Of spellings that are equally frequent the first by code point stays.
    order = sorted(often, key=lambda spelling: (-often[spelling], spelling))
    spellings: dict[str, str] = {}
    firsts = {spelling.casefold(): spelling for spelling in reversed(order)}
    pairs = [(firsts[text.casefold()], text) for text in order if case]
    for label, similar in pairs or alike(order):
        if label != similar:
            spellings[similar] = spellings.get(label, label)
    return spellings


def merge_notice(what: str, merged: Mapping[str, str], *, named: bool) -> DataWarning:
    """Say which labels were merged as the user asked, with names unless these are kept.

    Examples:
        >>> merge_notice("item", {"tea": "Tea"}, named=True).message
        "1 label of items merged with others that look alike: 'tea' into 'Tea'."
    """
    pairs = few(map(list, merged.items() if named else ()), NAMED)
    return DataWarning(f"merged_{what}s", {"labels": len(merged), "pairs": pairs})


def blank_notices(
    what: str, columns: Iterable[object], *, named: bool = True
) -> tuple[DataWarning, ...]:
    """Say which labels stand with and without blanks around them, and are one.

    Examples:
        >>> blank_notices("item", [pl.Series(["a", "a ", "b "])])[0].message
        "Blanks around labels do not count, so spellings of 1 item were merged: 'a ' is
        'a'."
    """
    texts = [column_texts(values) for values in columns]
    if not any((column != column.str.strip_chars()).any() for column in texts):
        return ()
    labels = pl.concat(texts).drop_nulls().unique()
    spelt = pl.DataFrame({"label": labels, "bare": labels.str.strip_chars()})
    several = (pl.len().over("bare") > 1) & (pl.col("bare") != "")
    padded = spelt.filter(several & (pl.col("bare") != pl.col("label")))
    if padded.height == 0:
        return ()
    pairs = few(map(list, padded.sort("label").rows() if named else ()), NAMED)
    facts: dict[str, Json] = {"labels": padded["bare"].n_unique(), "pairs": pairs}
    return (DataWarning(f"blanks_{what}s", facts),)

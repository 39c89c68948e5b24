"""Decode Parquet and Excel in a process of its own.

Decoders of binary formats trust lengths that the file states, and Rust aborts the whole
process when memory cannot be had. With polars 2.1 a damaged Parquet page may ask for
2**61 bytes; with fastexcel 0.21 a sheet with one stray cell in XFD1048576 asks for
seventeen thousand million cells. So this file is run as a program; when it dies, the
reader still lives to say so.

It reads a line of JSON (format, sheet, how many bytes a table may have, how many the
program may take) and the file from standard input. It writes a line of JSON (the sheets
of a workbook) and, if one table was chosen, that table in Arrow's format.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evenhand.lazy import lazy

if TYPE_CHECKING:
    import resource

    import fastexcel
else:
    # One is slow to load, the other is not on every system.
    fastexcel, resource = lazy("fastexcel"), lazy("resource")

LEAST_MEMORY = 8 * 2**30

Answer = tuple[dict[str, list[str]], pl.DataFrame | None]
CELL = 8
"""Bytes of a number."""


def decode(
    format_name: str, sheet: str, data: bytes, most: int = sys.maxsize
) -> Answer:
    """Decode one file.

    Args:
        format_name: "parquet" or "excel".
        sheet: Name of a sheet, or empty for the only one that holds anything.
        data: The file.
        most: How many bytes the numbers of a Parquet file may have.

    Returns:
        Names of all sheets and of those that may be meant, and the table if exactly
        one is meant; or that a Parquet file holds too much, and how much.

    Examples:
        >>> file = io.BytesIO()
        >>> pl.DataFrame({"score": [1, 2]}).write_parquet(file)
        >>> decode("parquet", "", file.getvalue())[1].columns
        ['score']
    """
    if format_name == "parquet":
        scan = pl.scan_parquet(io.BytesIO(data))
        rows = int(scan.select(pl.len()).collect().item())
        size = CELL * rows * len(scan.collect_schema())
        return ({"held": [str(size)]}, None) if size > most else ({}, scan.collect())
    return _excel(sheet, data)


def _excel(sheet: str, data: bytes) -> Answer:
    workbook = fastexcel.read_excel(data)
    names = list(workbook.sheet_names)
    load = partial(workbook.load_sheet, header_row=None, skip_rows=0)
    meant = [sheet] if sheet in names else []
    if not sheet:
        sheets = [load(name, dtypes="string") for name in names]
        meant = [
            cells.name
            for cells in sheets
            if cells.visible == "visible" and cells.height
        ]
    table = None
    if len(meant) == 1:
        readings = [
            load(meant[0], dtypes=kind).to_polars() for kind in ("string", "float")
        ]
        table = _exact(*readings)
    return {"sheets": names, "meant": meant}, table


def _exact(cells: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    # As text a number has nine decimals; where that is not all of it, write it out.
    columns = []
    for text, number in zip(cells, numbers, strict=True):
        rounded = text.cast(pl.Float64, strict=False) != number
        full = number.cast(pl.String)
        columns.append(full.zip_with(rounded.fill_null(value=False), text))
    return pl.DataFrame(columns)


def limit_memory(most: int) -> None:
    """Let a huge allocation fail at once instead of filling the machine.

    Args:
        most: How many bytes the program may take.
    """
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        now, most = resource.getrlimit(resource.RLIMIT_AS)
        if now == resource.RLIM_INFINITY:
            # Threads reserve address space that they never use, so not too little.
            limit = max(memory, LEAST_MEMORY)
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def main() -> None:
    """Answer one question on standard input."""
    format_name, sheet, most, memory = json.loads(sys.stdin.buffer.readline())
    limit_memory(memory)
    answer, table = decode(format_name, sheet, sys.stdin.buffer.read(), most)
    file = io.BytesIO()
    if table is not None:
        table.write_ipc(file)
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + file.getvalue())


if __name__ == "__main__":
    main()

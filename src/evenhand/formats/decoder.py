"""Decode Parquet and Excel in a process of its own.

Decoders of binary formats trust lengths that the file states, and Rust aborts the whole
process when memory cannot be had. With polars 2.1 a damaged Parquet page may ask for
2**61 bytes; with fastexcel 0.21 a sheet with one stray cell in XFD1048576 asks for
seventeen thousand million cells. So this file is run as a program; when it dies, the
reader still lives to say so.

It reads a line of JSON (format and sheet) and the file from standard input. It writes
a line of JSON (the sheets of a workbook) and, if one table was chosen, that table in
Arrow's format.
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

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

LEAST_MEMORY = 8 * 2**30
SHEET_XML = "{urn:schemas-microsoft-com:office:spreadsheet}"
XML = (b"<?xml", b"\xef\xbb\xbf<?xml")
MOST_ROWS, MOST_COLUMNS = 2**20, 2**14

Answer = tuple[dict[str, list[str]], pl.DataFrame | None]


def decode(format_name: str, sheet: str, data: bytes) -> Answer:
    """Decode one file.

    Args:
        format_name: "parquet" or "excel".
        sheet: Name of a sheet, or empty for the only one that holds anything.
        data: The file.

    Returns:
        Names of all sheets and of those that may be meant, and the table if exactly
        one is meant.

    Examples:
        >>> file = io.BytesIO()
        >>> pl.DataFrame({"score": [1, 2]}).write_parquet(file)
        >>> decode("parquet", "", file.getvalue())[1].columns
        ['score']
    """
    if format_name == "parquet":
        return {}, pl.read_parquet(io.BytesIO(data))
    return _excel(sheet, data)


def _excel(sheet: str, data: bytes) -> Answer:
    if data.startswith(XML):
        return _xml(sheet, data)
    import fastexcel  # noqa: PLC0415 - Parquet does not wait for it

    workbook = fastexcel.read_excel(data)
    names = list(workbook.sheet_names)
    load = partial(workbook.load_sheet, header_row=None, skip_rows=0)
    meant = [sheet] if sheet in names else []
    if not sheet:
        cells = [load(name, dtypes="string") for name in names]
        meant = [it.name for it in cells if it.visible == "visible" and it.height]
    table = None
    if len(meant) == 1:
        both = [load(meant[0], dtypes=kind).to_polars() for kind in ("string", "float")]
        table = _exact(*both)
    return {"sheets": names, "meant": meant}, table


def _xml(sheet: str, data: bytes) -> Answer:
    """Decode a workbook of 2003 in XML, which CMT still writes as .xls."""
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - see below

    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ValueError("a workbook declares no entities")
    root = ET.fromstring(data)  # noqa: S314 - no entities, own process
    tables = {
        page.get(f"{SHEET_XML}Name", ""): _grid(page)
        for page in root.iter(f"{SHEET_XML}Worksheet")
    }
    if not tables:
        raise ValueError("a workbook has a sheet")
    filled = [name for name, table in tables.items() if table.height]
    meant = [sheet] if sheet in tables else [] if sheet else filled
    table = tables[meant[0]] if len(meant) == 1 else None
    return {"sheets": list(tables), "meant": meant}, table


def _grid(page: ET.Element) -> pl.DataFrame:
    rows: list[dict[int, str]] = []
    for row in page.iter(f"{SHEET_XML}Row"):
        # Rows and cells that are empty are left out, and the next one says its place.
        rows.extend({} for _ in range(_place(row, len(rows)) - len(rows)))
        cells: dict[int, str] = {}
        place = 0
        for cell in row.iter(f"{SHEET_XML}Cell"):
            place = _place(cell, place)
            found = cell.find(f"{SHEET_XML}Data")
            cells[place] = "" if found is None else "".join(found.itertext())
            place += 1 + int(cell.get(f"{SHEET_XML}MergeAcross", "0"))
        rows.append(cells)
    width = 1 + max((place for row in rows for place in row), default=-1)
    if width > MOST_COLUMNS:
        raise ValueError("a cell lies outside the sheet")
    columns = {
        str(place): pl.Series([row.get(place, "") for row in rows], dtype=pl.String)
        for place in range(width)
    }
    return pl.DataFrame(columns)


def _place(node: ET.Element, place: int) -> int:
    found = int(node.get(f"{SHEET_XML}Index", place + 1)) - 1
    if not 0 <= found < MOST_ROWS:
        raise ValueError("a cell lies outside the sheet")
    return found


def _exact(cells: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    # As text a number has nine decimals; where that is not all of it, write it out.
    columns = []
    for text, number in zip(cells, numbers, strict=True):
        rounded = text.cast(pl.Float64, strict=False) != number
        full = number.cast(pl.String)
        columns.append(full.zip_with(rounded.fill_null(value=False), text))
    return pl.DataFrame(columns)


def limit_memory() -> None:
    """Let a huge allocation fail at once instead of filling the machine."""
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        now, most = resource.getrlimit(resource.RLIMIT_AS)
        if now == resource.RLIM_INFINITY:
            # Threads reserve address space that they never use, so not too little.
            limit = max(memory, LEAST_MEMORY)
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def main() -> None:
    """Answer one question on standard input."""
    limit_memory()
    format_name, sheet = json.loads(sys.stdin.buffer.readline())
    answer, table = decode(format_name, sheet, sys.stdin.buffer.read())
    file = io.BytesIO()
    if table is not None:
        table.write_ipc(file)
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + file.getvalue())


if __name__ == "__main__":
    main()

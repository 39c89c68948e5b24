"""What everybody may see: the seal from the start, and what was published."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.responses import Response as PlainResponse

from evenhand.records.log import says
from evenhand.web import reads
from evenhand.web import tables as t
from evenhand.web.organiser import bundle_file, headline_of, report_page
from evenhand.web.publishing import with_log
from evenhand.web.site import page, site_of, state_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from evenhand.web.reads import Evaluation

TYPES = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}


def _sealed_evaluation(request: Request) -> tuple[Evaluation, dict[str, bytes]]:
    """Return the evaluation and what was published of it.

    Raises:
        HTTPException: If there is none that was sealed.
    """
    with site_of(request).store.read() as connection:
        row = reads.evaluation(connection, request.path_params["slug"])
        drawn = row is not None and bool(reads.draws(connection, row.id))
        if row is None or not drawn or row.state == "draft":
            raise HTTPException(404, "There is no such page.")
        return row, reads.published_files(connection, row.id)


async def show(request: Request) -> Response:
    """Show the public page, and find a receipt if one is asked for."""
    row, files = _sealed_evaluation(request)
    receipt = request.query_params.get("receipt", "").strip().lower()
    digest, _, nonce = receipt.partition(" ")
    lookup: dict[str, Any] = {"receipt": receipt, "event": None, "asked": bool(nonce)}
    with site_of(request).store.read() as connection:
        draws = reads.draws(connection, row.id)
        lists = reads.lists(connection, row.id)
        taken_back = not files and reads.was_withdrawn(connection, row.id)
        event = reads.with_receipt(connection, row.id, digest) if files else None
    if event is not None:
        number, line = event
        drawn = says(json.loads(line)).get("nonce")
        lookup |= {"event": number, "same": nonce in ("", drawn)}
    decisions = [
        json.loads(files[name])["result"]
        for name in sorted(files, key=lambda name: (len(name), name))
        if name.startswith("decision-")
    ]
    return page(
        request,
        "public",
        row=row,
        state=state_of(request, row),
        lists=lists,
        draws=[draw for draw in draws if draw.part == 1],
        repairs=sum(
            draw.part > 1 and draw.number == draws[-1].number for draw in draws
        ),
        files=sorted(files),
        decisions=decisions,
        taken_back=taken_back,
        headline=headline_of(decisions[-1], lists) if decisions else None,
        **lookup,
    )


async def file(request: Request) -> Response:
    """Hand out one published file, or all in a bundle."""
    row, files = _sealed_evaluation(request)
    name = request.path_params["name"]
    if not files:
        raise HTTPException(404, "Nothing was published yet.")
    with site_of(request).store.read() as connection:
        if name == "bundle.zip":
            return bundle_file(with_log(connection, row.id, files), row.slug)
        if name == "log.jsonl":
            lines = reads.log_lines(connection, row.id)
            return PlainTextResponse("".join(f"{line}\n" for line in lines))
    if name not in files:
        raise HTTPException(404, "There is no such file.")
    if name.endswith(".html"):
        return report_page(files[name])
    kind = TYPES[f".{name.rpartition('.')[2]}"]
    return PlainResponse(files[name], media_type=kind)


async def health(request: Request) -> Response:
    """Say whether the database answers."""
    with site_of(request).store.read() as connection:
        connection.exec_driver_sql("SELECT 1")
    return PlainTextResponse(f"ok {t.stamp(site_of(request).now())}\n")

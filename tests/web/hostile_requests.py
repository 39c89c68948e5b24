"""Requests of every kind against every route, state and role: none may answer 500.

    python -m tests.web.hostile_requests 100000 --seed 1

sends that many requests to the app, in process: a tenth are made by schemathesis from
an OpenAPI description of the route table, the others by a generator that knows the
forms. It prints how many answers of each status there were. The suite sends a few.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import io
import json
import logging
import random
import re
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import hypothesis
import requests
import schemathesis
from hypothesis import strategies as st

from evenhand.errors import EvenhandError
from evenhand.web import actions, guard
from evenhand.web.app import ROUTES
from evenhand.web.preview import Preview, preview
from evenhand.web.running import Address, Served
from tests.web.desk import exchange, scope_of
from tests.web.scene import make_scene
from tests.web.world import FORM, Site

BLOCK = 500
HOST = "127.0.0.1"
HOSTILE = [
    *("", " ", "0", "-1", "1e400", "nan", "1,5", "٣", "²", "9" * 30, "0x10", "true"),
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}"),
    *("' or 1=1 --", "Robert'); DROP TABLE event;--", "../../etc/passwd", "%00", "%s"),
    *("\0", "a\nb", "a\r\nset-cookie: x=1", "\u202eabc", "é" * 26, "\U0001f600", "//"),
    *("=cmd|' /C calc'!A0", "x" * 300, "y" * 70_000, "null", "[]", "1:up", "3,2,1"),
    *("9999-12-31T23:59", "2026-03-29T02:30", "2026-13-01T00:00", "Mars/Olympus"),
]
VALID: dict[str, list[str]] = {
    **{name: [value] for name, value in FORM.items()},
    "does": ["save", "seal"],
    "job": ["rank", "compare"],
    "scale": ["number", "letters", "order"],
    "low": ["0", "-5"],
    "high": ["100", "10"],
    "step": ["0.1", "1"],
    "levels": ["A: good\nB: bad", "A"],
    "method": ["", "adaptive", "safe", "mean"],
    "unfinished": ["leave-out", "keep"],
    "grace": ["0", "5"],
    "closes": ["", "2027-01-01T12:00", "2020-01-01T12:00"],
    "zone": ["UTC", "Europe/Berlin", "Anywhere on Earth"],
    "begin": ["at-once", "later"],
    "conflicts": ["", "Person 1, t1", "Nobody, t1"],
    "instructions": ["", "Read them all."],
    "name": ["Zoe", "Person 1"],
    "email": ["zoe@example.org"],
    "ratings": ["yes"],
    "kind": ["score", "recuse", "clear"],
    "score": ["50", "1", "2", "3", "33.3"],
    "base": ["0", "1", "2"],
    "note": ["", "a note"],
    "order": ["1,2,3", "3,1,2"],
    "move": ["1:up", "2:down", ""],
    "base_1": ["0", "1"],
    "base_2": ["0", "1"],
    "base_3": ["0", "1"],
    "better": ["1", "2"],
    "nonce": ["", "0" * 32],
    "public_value": ["", "drand round 7"],
    "value": ["12.5"],
    "places": ["0", "3"],
    "contact": ["", "a@b.org"],
    "code": ["", "0" * 16],
}
RATING = ("kind", "score", "base", "note", "nonce")
ORDER = ("order", "move", "base_1", "base_2", "base_3", "nonce")
PLAN = (
    *FORM,
    *("does", "job", "scale", "low", "high", "step", "levels", "method", "zone"),
    *("unfinished", "grace", "closes", "begin", "conflicts", "instructions"),
    *("public_value", "places"),
)
FIELDS = {"/e": PLAN, "/e/preview": PLAN, "/r/{token}/items/{place:int}": RATING}
FIELDS |= {"/r/{token}/order": ORDER, "/r/{token}/tie": ("better", "nonce")}
FIELDS |= {"/e/{slug}/reviewers/{reviewer:int}/{repair}": ("name", "email")}
FIELDS |= {"/e/{slug}/{action}": ("closes", "value"), "/e/{slug}/purge": ("title",)}
FIELDS |= {"/e/{slug}/publish": ("ratings",), "/e/{slug}/invite": ("name",)}
FIELDS |= {"/d/{token}": ("name", "contact"), "/r": ("code",)}
FIELDS |= {"/e/{slug}/jobs/{kind}": ("method",)}
PARTS = {
    "{repair}": ["absent", "reserve", "substitute", "link"],
    "{action}": [
        *("open", "unseal", "close", "reopen", "look", "extend", "pause", "resume"),
    ],
    "{kind}": ["check", "decision"],
    "{number:int}": ["1", "2", "99"],
    "{door}": ["open", "close"],
    "{organiser:int}": ["1", "2", "0", str(10**20)],
    "{place:int}": ["1", "2", "3", "0", "99", str(10**20)],
    "{reviewer:int}": ["1", "3", "5", "9", "0", str(10**20)],
    "{name}": ["bundle.zip", "log.jsonl", "report-1.html", "seal.json", "app.css"],
}
ENDING = ("/out", "/e/{slug}/purge", "/in/{token}")
"""What leaves less to ask about is asked less often."""


@dataclass(slots=True)
class Values:
    """What requests are filled with: evaluations, links, and who is signed in."""

    db: Path
    slugs: list[str]
    links: list[str]
    sessions: list[str]
    signins: list[str]


def make_values(folder: Path) -> Values:
    """Make a database with an evaluation in every state."""
    scene = make_scene(folder, scales=True)
    site = Site(str(scene.db))
    site.now = datetime.now(UTC)
    sessions = []
    for which in (None, None, 1):
        organiser = 1 if which is None else None
        token = site.do(actions.make_signin, organiser, evaluation_id=which)
        sessions.append(site.do(actions.sign_in, token))
    signins = [site.do(actions.make_signin, 1) for _ in range(20)]
    site.store.close()
    links = [
        link.removeprefix("/r/")
        for own in scene.links.values()
        for link in own.values()
    ]
    return Values(scene.db, list(scene.slugs.values()), links, sessions, signins)


class FewWorkers:
    """Works out one job in forty here, and none of the others."""

    def __init__(self) -> None:
        self.asked = 0

    async def run(self, work: Callable[..., Any], *given: object) -> Any:
        self.asked += 1
        if self.asked % 40 == 0:
            return work(*given)
        if work is preview:
            return Preview(problem="not worked out")
        raise EvenhandError("It was not worked out.")

    def stop(self) -> None:
        """Nothing runs."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as a server hands it over."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def scope(self) -> dict[str, Any]:
        headers = [
            (name.lower().encode("latin-1", "replace"), value.encode(errors="replace"))
            for name, value in self.headers.items()
        ]
        query = self.query.encode("ascii", "replace")
        return scope_of(self.method, self.path, query, headers)


@dataclass(slots=True)
class Tally:
    """How requests were answered, and which ones made an error of ours."""

    statuses: Counter[int] = field(default_factory=Counter)
    routes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Fuzzed:
    """A copy of a scene that is served, and what was asked of it."""

    def __init__(self, scene: Values, folder: Path, tally: Tally) -> None:
        self.scene, self.tally = scene, tally
        db = folder / "fuzz.db"
        for end in ("", ".key"):
            shutil.copyfile(f"{scene.db}{end}", f"{db}{end}")
        self.served = Served(str(db), Address(), limited=False)
        self.served.site.workers = FewWorkers()  # type: ignore[assignment]  # does less

    async def ask(self, request: Request) -> int:
        """Send a request, note its answer."""
        told, fault = await exchange(self.served.app, request.scope, request.body)
        status = told[0]["status"] if told else 599
        self.tally.statuses[status] += 1
        if status >= 500 or fault:
            self.tally.faults.append(f"{request!r:.2000}\n{fault}")
        return int(status)

    def close(self) -> None:
        self.served.close()


class Maker:
    """Makes requests that are mostly right, with something hostile in them."""

    def __init__(self, scene: Values, seed: str) -> None:
        self.scene, self.chance = scene, random.Random(seed)

    def one(self, values: Any) -> Any:
        return self.chance.choice(values)

    def is_rare(self, share: float = 0.1) -> bool:
        return self.chance.random() < share

    def request(self) -> tuple[str, Request]:
        route = self.one(ROUTES)
        while route.path in ENDING and not self.is_rare(0.15):
            route = self.one(ROUTES)
        method = self.one(sorted(route.methods - {"HEAD"}))
        if self.is_rare(0.02):
            method = self.one(["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "X"])
        sessions = self.scene.sessions
        session = self.one([*sessions, *sessions[:2], "", "x" * 26])
        headers = self._headers(session)
        body = b"" if method == "GET" else self._body(route.path, session, headers)
        query = ""
        if self.is_rare():
            query = urlencode({self.one(["receipt", "state", "x"]): self.one(HOSTILE)})
        request = Request(method, self._path(route.path), query[:5000], headers, body)
        return route.path, request

    def _path(self, path: str) -> str:
        known = {
            **PARTS,
            "{slug}": self.scene.slugs,
            "/in/{token}": [f"/in/{it}" for it in self.scene.signins],
            "{token}": self.scene.links,
        }
        for name, values in known.items():
            if name in path:
                value = self.one(HOSTILE) if self.is_rare(0.07) else self.one(values)
                path = path.replace(name, value[:5000])
        return path if path.startswith("/") else f"/{path}"

    def _headers(self, session: str) -> dict[str, str]:
        found = {"host": HOST, "accept": self.one(["text/html", "application/json"])}
        if session:
            found["cookie"] = f"{guard.COOKIE}={session}"
        if self.is_rare(0.03):
            found["host"] = self.one(["", "evil.example", "[::1", "localhost:x", "é"])
        if self.is_rare():
            found["origin"] = self.one(["null", "http://[", f"http://{HOST}", "//x"])
        if self.is_rare():
            found["if-none-match"] = self.one(HOSTILE)[:500]
        if self.is_rare():
            found["x-part"] = "preview"
        if self.is_rare(0.03):
            found["cookie"] = self.one(HOSTILE)[:500]
        key = f"{self.chance.getrandbits(128):032x}"
        found["idempotency-key"] = self.one([key, key, key, "0" * 32, "x", "é" * 32])
        return found

    def _fields(self, path: str, session: str) -> dict[str, str]:
        names = list(FIELDS.get(path, ("name",)))
        found = {
            name: self.one(HOSTILE) if self.is_rare(0.08) else self.one(VALID[name])
            for name in names
            if not self.is_rare(0.15)
        }
        if self.is_rare():
            found[self.one(list(VALID))] = self.one(HOSTILE)
        if not self.is_rare(0.08):
            found["csrf"] = guard.csrf(session)
        if self.is_rare(0.3):
            found["slug"] = self.one([*self.scene.slugs, "x", "0123456789ab"])
        found["key"] = f"{self.chance.getrandbits(128):032x}"
        return found

    def _body(self, path: str, session: str, headers: dict[str, str]) -> bytes:
        fields = self._fields(path, session)
        kind = self.one([*["form"] * 4, "json", "files", "raw", "none"])
        if path.startswith("/r/") and self.is_rare(0.4):
            kind = "json"
        make = {"json": self._json, "files": self._files, "raw": self._raw}.get(kind)
        if kind == "none":
            return b""
        if make is not None:
            kind, body = make(fields)
        else:
            kind = "application/x-www-form-urlencoded"
            body = urlencode(fields).encode()
            if self.is_rare(0.03):
                body = body[: len(body) // 2] + b"%ff%fe%" + body[len(body) // 2 :]
        if self.is_rare(0.03):
            kinds = ["text/plain", "application/json", "multipart/form-data", "é"]
            kind = self.one(kinds)
        headers["content-type"] = kind
        return body

    def _json(self, fields: dict[str, str]) -> tuple[str, bytes]:
        odd: list[Any] = [None, True, 0, -1, 1.5, 1e308, 10**400, [], [1, 2, 3], {}]
        odd += ["\ud800", "1"]
        told: dict[str, Any] = {
            name: self.one(odd) if self.is_rare() else value
            for name, value in fields.items()
        }
        for name in ("base", "base_1", "base_2", "base_3"):
            if str(told.get(name, "")).isascii() and str(told.get(name, "")).isdigit():
                told[name] = int(told[name])
        if self.is_rare(0.5):
            told["order"] = self.one([[1, 2, 3], [3, 2, 1], [1, 1, 1], [True, 2, 3]])
        text = json.dumps(told)
        if self.is_rare(0.05):
            text = self.one(["[" * 9000, "NaN", '{"score": NaN}', "{", "\ud800", '"x"'])
        return "application/json", text.encode("utf-8", "surrogatepass")

    def _files(self, fields: dict[str, str]) -> tuple[str, bytes]:
        workbook = io.BytesIO()
        with zipfile.ZipFile(workbook, "w") as archive:
            archive.writestr("xl/worksheets/sheet1.xml", b"<x>")
        datas = [b"a,b\nc,d\n", b"item;title\nt1;Talk\n", b"\xff\xfe\xfa", b"PAR1", b""]
        book = workbook.getvalue()
        datas += [
            gzip.compress(b"a\nb\n"),
            gzip.compress(b"a")[:9],
            b"[[[[",
            b"\0" * 99,
        ]
        datas += [book, book[:40], b'[{"a": 1}]', b"a\n" * 99]
        names = ["x.csv", "x.xlsx", "x.json", "x.csv.gz", "", "é.tsv", "../x"]
        names += ['a"b.csv']
        line = "b0undary"
        parts = [
            f'--{line}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}'
            for name, value in fields.items()
        ]
        body = "\r\n".join(parts).encode("utf-8", "replace")
        for name in ("items_file", "reviewers_file", "conflicts_file"):
            if self.is_rare(0.4):
                head = f'form-data; name="{name}"; filename="{self.one(names)}"'
                body += f"\r\n--{line}\r\ncontent-disposition: {head}\r\n\r\n".encode()
                body += self.one(datas)
        end = f"\r\n--{line}--\r\n".encode()
        kind = f"multipart/form-data; boundary={line}"
        return kind, body + (b"" if self.is_rare(0.05) else end)

    def _raw(self, _: dict[str, str]) -> tuple[str, bytes]:
        kinds = ["application/x-www-form-urlencoded", "application/json", "", "x"]
        return self.one(kinds), self.chance.randbytes(self.chance.randrange(200))


def description(scene: Values) -> dict[str, Any]:
    """Describe the route table in OpenAPI, as schemathesis reads it."""
    csrf = [guard.csrf(session) for session in scene.sessions]
    paths: dict[str, Any] = {}
    for route in ROUTES:
        names = re.findall(r"\{(\w+)(:int)?\}", route.path)
        known = {
            "slug": scene.slugs,
            "token": scene.signins if route.path.startswith("/in/") else scene.links,
        }
        told = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "integer", "minimum": 0}
                if is_number
                else {"enum": [*known.get(name, PARTS.get(f"{{{name}}}", [])), "x y"]},
            }
            for name, is_number in names
        ]
        fields = {
            name: {"anyOf": [{"enum": VALID[name]}, {"type": "string"}]}
            for name in FIELDS.get(route.path, ())
        }
        body = {
            "type": "object",
            "properties": {**fields, "csrf": {"enum": csrf}},
            "required": ["csrf"],
        }
        kinds = ["application/x-www-form-urlencoded"]
        kinds += ["application/json"] if route.path.startswith("/r/") else []
        content = {kind: {"schema": body} for kind in kinds}
        for method in sorted((route.methods or set()) - {"HEAD"}):
            responses = {"200": {"description": "It is done."}}
            does: dict[str, Any] = {"responses": responses, "parameters": told}
            if method == "POST":
                does["requestBody"] = {"content": content}
            path = re.sub(r":int\}", "}", route.path)
            paths.setdefault(path, {})[method.lower()] = does
    info = {"title": "evenhand serve", "version": "1"}
    return {"openapi": "3.0.0", "info": info, "paths": paths}


def by_schemathesis(scene: Values, count: int, seed: int) -> list[Request]:
    """Make requests from the description of the routes, right and wrong ones."""
    schema = schemathesis.openapi.from_dict(description(scene))
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    strategy = st.one_of(*(schema.as_strategy(generation_mode=it) for it in modes))
    made: list[Request] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategy, st.sampled_from([*scene.sessions, ""]))
    def make(case: Any, session: str) -> None:
        told = case.as_transport_kwargs(base_url=f"http://{HOST}")
        prepared = requests.Request(**told).prepare()
        headers = {str(k).lower(): str(v) for k, v in prepared.headers.items()}
        headers |= {"host": HOST, "cookie": f"{guard.COOKIE}={session}"}
        headers["idempotency-key"] = f"{len(made):032x}"
        address = urlsplit(prepared.url)
        body = prepared.body or b""
        body = body.encode("utf-8", "replace") if isinstance(body, str) else body
        path = unquote(address.path)
        made.append(Request(prepared.method, path, address.query, headers, body))

    make()
    return made


def fuzz(count: int, seed: int, say: Callable[[str], None] = lambda _: None) -> Tally:
    """Send many requests, and return how they were answered."""
    logging.disable(logging.CRITICAL)
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        scene = make_values(Path(folder))
        made = by_schemathesis(scene, count // 10, seed)
        blocks = -(-count // BLOCK)
        for number in range(blocks):
            ours = [made[at] for at in range(number, len(made), blocks)]
            many = min(BLOCK, count - number * BLOCK) - len(ours)
            with tempfile.TemporaryDirectory() as inner:
                fuzzed = Fuzzed(scene, Path(inner), tally)
                with contextlib.closing(fuzzed):
                    asyncio.run(_block(fuzzed, many, f"{seed}-{number}", ours))
            say(f"{sum(tally.statuses.values())} sent, {len(tally.faults)} errors")
    logging.disable(logging.NOTSET)
    return tally


async def _block(fuzzed: Fuzzed, many: int, seed: str, more: Sequence[Request]) -> None:
    maker = Maker(fuzzed.scene, seed)
    for _ in range(many):
        route, request = maker.request()
        fuzzed.tally.routes[route] += 1
        await fuzzed.ask(request)
    for request in more:
        await fuzzed.ask(request)
    while fuzzed.served.site.running:  # so that no job is left behind
        await asyncio.sleep(0)


def main() -> None:
    """Send as many requests as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    tally = fuzz(given.count, given.seed, lambda text: print(text, flush=True))  # noqa: T201 - its progress
    for fault in tally.faults[:20]:
        print(fault)  # noqa: T201 - its result
    for status, many in sorted(tally.statuses.items()):
        print(f"{status}: {many:,}")  # noqa: T201 - its result
    total = sum(tally.statuses.values())
    print(f"{total:,} requests, {len(tally.faults)} errors of ours")  # noqa: T201 - its result
    sys.exit(bool(tally.faults))


if __name__ == "__main__":
    main()

"""Who may do what in which state: one table; a route that is not in it fails."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from evenhand.web import actions, guard
from evenhand.web import tables as t
from evenhand.web.app import ROUTES
from tests.web.desk import Desk, rate, words
from tests.web.scene import STATES, Scene, make_scene
from tests.web.world import FORM

if TYPE_CHECKING:
    import httpx2 as httpx

LATER = ("closed", "decided", "published")
ALL = ("sealed", "open", *LATER)
ANY = STATES
# Method and address; who may; in which states; what it answers then. Others get 401,
# 403 or 404, and the same people in other states a sentence with a status of 4xx.
# "member" organises this evaluation, "own" holds a reviewer's link of it.
TABLE: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    "GET /": ("everybody", ANY, (200,)),
    "GET /healthz": ("everybody", ANY, (200,)),
    "GET /static/{name}": ("everybody", ANY, (200,)),
    "GET /in/{token}": ("nobody", (), ()),
    "POST /in/{token}": ("nobody", (), ()),
    "POST /out": ("organiser", ANY, (303,)),
    "GET /e/new": ("organiser", ANY, (200,)),
    "POST /e/preview": ("organiser", ANY, (200,)),
    "POST /e": ("organiser", ANY, (303,)),
    "GET /e/{slug}": ("member", ANY, (200, 303)),
    "GET /e/{slug}/edit": ("member", ANY, (200, 303)),
    "GET /e/{slug}/progress.json": ("member", ANY, (200,)),
    "GET /e/{slug}/close": ("member", ("open",), (200,)),
    "GET /e/{slug}/links": ("member", ALL[:2], (200,)),
    "GET /e/{slug}/links.csv": ("member", ALL[:2], (200,)),
    "GET /e/{slug}/people.csv": ("member", ALL[:2], (200,)),
    "GET /e/{slug}/links/print": ("member", ALL[:2], (200,)),
    "GET /e/{slug}/ratings.csv": ("member", LATER[1:], (200,)),
    "GET /e/{slug}/notes.csv": ("member", LATER[1:], (200,)),
    "GET /e/{slug}/who-is-who.csv": ("member", LATER[1:], (200,)),
    "GET /e/{slug}/names.json": ("member", LATER[1:], (200,)),
    "GET /e/{slug}/bundle.zip": ("member", ("published",), (200,)),
    "GET /e/{slug}/reviewers/{reviewer:int}": ("member", (*ALL, "purged"), (200,)),
    "GET /e/{slug}/{kind}/{number:int}/report": ("member", LATER[1:], (200,)),
    "POST /e/{slug}/publish": ("member", LATER[1:], (303,)),
    "POST /e/{slug}/purge": ("member", STATES[:-1], (303,)),
    "POST /e/{slug}/invite": ("member", STATES[:-1], (200,)),
    "POST /e/{slug}/organisers/{organiser:int}/remove": ("member", (), ()),
    "POST /e/{slug}/jobs/{kind}": ("member", LATER, (303,)),
    "POST /e/{slug}/reviewers/{reviewer:int}/{repair}": ("member", ALL[:2], (303,)),
    "POST /e/{slug}/{action}": ("member", ("open",), (303,)),
    "GET /r/{token}": ("own", ALL, (200,)),
    "GET /r/{token}/mine.json": ("own", ("open", *LATER), (200,)),
    "POST /r/{token}/begin": ("own", ("open",), (303,)),
    "POST /r/{token}/decline": ("own", (), ()),
    "GET /e/{slug}/door": ("member", ALL[:2], (200,)),
    "POST /e/{slug}/door/{door}": ("member", (), ()),
    "GET /d/{token}": ("nobody", (), ()),
    "POST /d/{token}": ("nobody", (), ()),
    "POST /r": ("nobody", (), ()),
    "POST /r/{token}/return": ("own", (), ()),
    "POST /r/{token}/done": ("own", ("open",), (303,)),
    "POST /r/{token}/order": ("own", (), ()),
    "POST /r/{token}/tie": ("own", ALL, (303,)),
    "POST /r/{token}/equal": ("own", ("open",), (303,)),
    "POST /r/{token}/items/{place:int}": ("own", ("open",), (201,)),
    "GET /p/{slug}": ("everybody", (*ALL, "purged"), (200,)),
    "GET /p/{slug}/{name}": ("everybody", ("published",), (200,)),
}
PEOPLE = (
    *("nobody", "stranger", "member", "own", "foreign", "revoked", "waiting", "left"),
)
"""A stranger organises something else; who waits has not begun, who left declined."""
HIDDEN = (401, 403, 404)
UNSAFE = ("POST /e", "POST /out")


def routes() -> list[str]:
    return [
        f"{method} {route.path}"
        for route in ROUTES
        for method in sorted((route.methods or set()) - {"HEAD"})
    ]


def test_every_route_is_in_the_table() -> None:
    assert sorted(routes()) == sorted(TABLE)


def fill(path: str, **more: str) -> str:
    """Put values in the places of an address."""
    values = {"token": "0" * 26, "reviewer": "5", "kind": "decision"}
    values |= {"number": "1", "place": "1", "organiser": "99", "door": "open", **more}
    return re.sub(r"\{(\w+)(:int)?\}", lambda it: values[it[1]], path)


class People:
    """All kinds of people, who ask about the evaluations of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.slugs = scene, scene.slugs
        self.desk = desk = Desk(str(scene.db))
        self.stranger, self.guest = desk.guest(), desk.guest()
        desk.sign_in(self.stranger, self._other())
        page = self.stranger.get("/e/new").text
        self.csrf = page.partition('name="csrf" value="')[2][:64]
        self.foreign = next(iter(desk.links(desk.sealed(title="Another")).values()))

    def _other(self) -> str:
        """Return the sign-in link of an organiser of something else."""
        with self.desk.served.store.writing.begin() as connection:
            now = self.desk.served.site.now()
            which, _ = actions.create(connection, now, 1, FORM)
            token = actions.make_signin(
                connection, now, None, evaluation_id=which, name="Eve"
            )
        return f"/in/{token}"

    def ask(self, who: str, route: str, state: str) -> Any:
        method, _, path = route.partition(" ")
        slug = self.slugs[state]
        token = self.scene.link(state, who)
        token = self.foreign if who == "foreign" else token
        name = "bundle.zip" if path.startswith("/p/") else "app.css"
        more = {"slug": slug, "name": name, "repair": "link", "action": "extend"}
        path = fill(path.replace("/r/{token}", token), **more)
        client, csrf = self._client(who)
        if method == "GET":
            return client.get(path)
        if path.endswith("/items/1"):
            page = client.get(path.removesuffix("/items/1"))
            base = page.text.partition('name="base" value="')[2].partition('"')[0]
            return rate(client, path.removesuffix("/items/1"), 1, 5, int(base or 0))
        data = {"csrf": csrf, "title": FORM["title"], "ratings": "yes"}
        # A preview of a plan without items is an answer, and nothing is simulated.
        data |= {**FORM, "does": "save"} if path == "/e" else {}
        return client.post(path, data=data)

    def _client(self, who: str) -> tuple[httpx.Client, str]:
        if who in ("member", "organiser"):
            return self.desk.client, self.desk.csrf()
        if who == "stranger":
            return self.stranger, self.csrf
        return self.guest, ""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    made = People(make_scene(tmp_path_factory.mktemp("db")))
    yield made
    made.desk.close()


def groups(who: str) -> set[str]:
    """Return the names in the table that a person answers to."""
    more = {"member": {"organiser", "member"}, "stranger": {"organiser"}}
    return {"everybody", who, *more.get(who, set())}


# What changes the state of the scene comes last, each in its own test below.
MOVING = (
    "POST /out",
    "POST /e/{slug}/publish",
    "POST /e/{slug}/purge",
    "POST /e/{slug}/jobs/{kind}",
    "POST /r/{token}/begin",
    "POST /r/{token}/decline",
    "POST /r/{token}/return",
)
HARMLESS = ("GET /r/{token}", "POST /r/{token}/tie")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("route", MOVING[:4])
def test_others_cannot_move_it(scene: People, route: str, state: str) -> None:
    for who in PEOPLE:
        if who not in ("member", "stranger"):
            answer = scene.ask(who, route, state)
            assert answer.status_code in HIDDEN, (who, words(answer))
        elif route != "POST /out" and (who, state) not in may(route):
            answer = scene.ask(who, route, state)
            assert 400 <= answer.status_code < 500, words(answer)


def may(route: str) -> set[tuple[str, str]]:
    return {("member", state) for state in TABLE[route][1]}


@pytest.mark.parametrize("state", STATES)
def test_everybody_in_every_state(scene: People, state: str) -> None:
    asked, wrong = 0, []
    for route, (group, states, statuses) in TABLE.items():
        for who in PEOPLE:
            if route in MOVING:
                continue
            answer = scene.ask(who, route, state)
            asked += 1
            status = answer.status_code
            if group in groups(who):
                there = group != "own" or state in scene.scene.links
                allowed = statuses if state in states and there else range(303, 500)
                right = status in allowed
            elif group == "own" and who in ("waiting", "left"):
                # They see a page of theirs; that nothing changes is tested below.
                right = status in (200, 303) if route in HARMLESS else status >= 400
                right = right or status in HIDDEN
            else:
                # A link of another evaluation does what it does there, never here.
                right = status in HIDDEN or (who == "foreign" and group == "own")
            if not right or status >= 500 or "Traceback" in answer.text:
                wrong.append((route, who, status, words(answer)[:150]))
    assert wrong == []
    assert asked == (len(TABLE) - len(MOVING)) * len(PEOPLE)
    assert len(TABLE) * len(PEOPLE) * len(STATES) > 2000


def test_who_has_not_begun_or_left_changes_nothing(scene: People) -> None:
    before = tables_hash(scene.desk)
    for route in TABLE:
        if " /r/" in route and route not in MOVING:
            for who in ("waiting", "left", "revoked"):
                for state in STATES:
                    scene.ask(who, route, state)
    assert tables_hash(scene.desk) == before


def tables_hash(desk: Desk) -> str:
    digest = hashlib.sha256()
    with desk.served.store.read() as connection:
        for table in t.metadata.sorted_tables:
            rows = connection.execute(sa.select(table)).all()
            digest.update(repr(sorted(map(repr, rows))).encode())
    return digest.hexdigest()


def test_get_changes_nothing(scene: People) -> None:
    before = tables_hash(scene.desk)
    asked = 0
    for route in TABLE:
        if route.startswith("GET "):
            for state in STATES:
                for who in ("member", "own", "nobody"):
                    scene.ask(who, route, state)
                    asked += 1
    assert asked > 300
    assert tables_hash(scene.desk) == before


@pytest.mark.parametrize("route", [it for it in TABLE if it.startswith(UNSAFE)])
def test_forms_of_other_sites_are_refused(scene: People, route: str) -> None:
    before = tables_hash(scene.desk)
    _, _, path = route.partition(" ")
    path = fill(path, slug=scene.slugs["open"], repair="absent", action="close")
    client, right = scene.desk.client, {**FORM, "csrf": scene.desk.csrf()}
    for data, headers in (
        (FORM, {}),
        ({**FORM, "csrf": "0" * 64}, {}),
        (right, {"origin": "https://evil.example"}),
        (right, {"origin": "null"}),
    ):
        assert client.post(path, data=data, headers=headers).status_code == 403
    assert tables_hash(scene.desk) == before


def test_reviewers_forms_of_other_sites_are_refused(scene: People) -> None:
    link = scene.scene.link("open", "own")
    for path in (
        "begin",
        "decline",
        "return",
        "done",
        "equal",
        "tie",
        "order",
        "items/1",
    ):
        answer = scene.guest.post(
            f"{link}/{path}", data={}, headers={"origin": "https://evil.example"}
        )
        assert answer.status_code == 403, path


def test_answers_have_the_headers_that_keep_others_out(scene: People) -> None:
    own = scene.scene.link("open", "own")
    for path in ("/", "/healthz", "/nowhere", own, "/static/x"):
        headers = scene.guest.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    report = scene.desk.client.get(f"/e/{scene.slugs['decided']}/decision/1/report")
    assert "sandbox" in report.headers["content-security-policy"]
    assert "allow-same-origin" not in report.headers["content-security-policy"]


def test_a_desk_cannot_peek(scene: People) -> None:
    """Before the close no page of the organiser holds a score or who has what."""
    slug = scene.slugs["open"]
    client = scene.desk.client
    texts = [
        client.get(f"/e/{slug}{path}").text
        for path in (
            "",
            "/progress.json",
            "/links",
            "/links.csv",
            "/people.csv",
            "/reviewers/1",
        )
    ]
    for text in texts:
        for label in ("t1", "t2", "t3", "Talk"):
            assert f">{label}" not in text
        for score in ("11", "21", "31", "41", "51", "61", "71", "81"):
            assert f">{score}<" not in text
    files = ("ratings.csv", "notes.csv", "who-is-who.csv", "names.json")
    for path in (*files, "check/1/report"):
        assert client.get(f"/e/{slug}/{path}").status_code == 409


def test_a_sign_in_link_works_once_and_opening_it_uses_nothing(scene: People) -> None:
    link = scene.desk.served.signin()
    guest = scene.desk.guest()
    for _ in range(3):
        assert "works once" in guest.get(link).text
    assert guest.post(link).status_code == 303
    assert guest.get("/e/new").status_code == 200
    again = scene.desk.guest()
    assert again.post(link).status_code == 403
    assert again.get(link).status_code == 403


def test_signing_out_ends_the_session(scene: People) -> None:
    guest = scene.desk.guest()
    scene.desk.sign_in(guest)
    cookie = guest.cookies[guard.COOKIE]
    csrf = guest.get("/e/new").text.partition('name="csrf" value="')[2][:64]
    assert guest.post("/out", data={"csrf": csrf}).status_code == 303
    guest.cookies.set(guard.COOKIE, cookie)
    assert guest.get("/e/new").status_code == 401


def test_limits_are_for_each_link(tmp_path_factory: pytest.TempPathFactory) -> None:
    desk = Desk(str(tmp_path_factory.mktemp("db") / "e.db"), limited=True)
    one, two = list(desk.links(desk.sealed()).values())[:2]
    guest = desk.guest()
    guest.post(f"{one}/begin")
    guest.post(f"{two}/begin")
    statuses = [rate(guest, one, 1, 5, 99).status_code for _ in range(40)]
    assert statuses[0] == 409
    assert statuses[-1] == 429
    assert rate(guest, two, 1, 5, 0).status_code == 201
    desk.close()

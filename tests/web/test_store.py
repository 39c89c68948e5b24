"""The database: what it refuses, and what it does not lose."""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from evenhand.cli.serve import about_key
from evenhand.errors import OptionError
from evenhand.records.canonical import text_hash
from evenhand.records.log import follow
from evenhand.web import actions, guard, reads
from evenhand.web import tables as t
from evenhand.web.accept import Entry, Sending
from evenhand.web.store import SCHEMA, backup, open_store
from evenhand.web.verify import verify_all
from evenhand.web.writer import RefusedError
from tests.web.desk import Desk, rate
from tests.web.world import (
    Site,
    has_postgres,
    postgres,
    start_postgres,
    stop_postgres,
)

needs_postgres = pytest.mark.skipif(
    not has_postgres(),
    reason="PostgreSQL is not tried, because it is missing. On Debian: apt-get install "
    "postgresql.",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with postgres(tmp_path_factory.mktemp("pg")) as address:
        yield address


def walk(site: Site) -> int:
    """Rate, close and look; return the evaluation."""
    which, slug = site.opened()
    tokens = site.tokens(which, slug)
    assert len(tokens) == 8
    for name, token in list(tokens.items())[:7]:
        answers = site.rate_all(token, lambda label: float(label[1:]) * 10)
        assert [it.status for it in answers] == [201] * 3, name
    site.do(actions.close, which)
    site.do(actions.look, which)
    return which


def test_a_walk_leaves_tables_history_and_log_the_same(site: Site) -> None:
    which = walk(site)
    assert site.read(verify_all) == []
    lines = site.read(reads.log_lines, which)
    seal = site.read(reads.draws, which)[0].seal
    events, _ = follow(lines, seal)
    kinds = [event["kind"] for event in events]
    assert kinds[:3] == ["created", "sealed", "opened"]
    assert kinds[-3:] == ["closed", "absent", "looked"]
    assert (kinds.count("begun"), kinds.count("rated")) == (7, 21)
    drawn = site.read(reads.assignment, which)
    assert len(drawn.chain) == 2


@needs_postgres
def test_a_walk_on_postgresql(server: str) -> None:
    site = Site(server)
    which = walk(site)
    assert site.read(verify_all) == []
    with pytest.raises(sa.exc.DatabaseError, match="only grows"):
        site.do(lambda c, _: c.execute(t.event.delete()))
    assert len(site.read(reads.log_lines, which)) == 3 + 7 + 21 + 3
    site.store.close()


@needs_postgres
def test_the_key_of_links_does_not_lie_in_the_current_folder(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        store = open_store(server)
        keys.append(store.key)
        store.close()
        assert not list(Path().iterdir())
        assert store.key_file == Path(
            os.environ["XDG_STATE_HOME"], "evenhand/links.key"
        )
        assert store.key_file.stat().st_mode & 0o777 == 0o600
    assert keys[0] == keys[1]
    store = open_store(server)
    [line] = about_key(store)
    assert f"The key of links is {store.key_file}. Keep it" in line
    store.close()
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/none")
    monkeypatch.chdir(tmp_path / "one")
    with pytest.raises(OptionError, match=r"cannot be kept: .* XDG_STATE_HOME"):
        open_store(server)


# SQLAlchemy lets go of connections that broke, without closing them.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@needs_postgres
def test_a_database_that_restarts_is_said_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path_factory.mktemp("restarts")
    with postgres(folder) as address, caplog.at_level(logging.WARNING):
        desk = Desk(address)
        link = next(iter(desk.links(desk.sealed()).values()))
        guest = desk.guest()
        assert guest.post(f"{link}/begin").status_code == 303
        stop_postgres(folder)
        for _ in range(20):
            asked = [guest.get(link), guest.get("/healthz"), desk.client.get("/")]
            asked += [rate(guest, link, 1, 5, key="5e" * 16)]
            assert {it.status_code for it in asked} == {503}
        assert "The database does not answer" in asked[0].text
        start_postgres(folder)
        until = time.monotonic() + 60
        while "answers again" not in caplog.text and time.monotonic() < until:
            time.sleep(0.1)
        assert rate(guest, link, 1, 5, key="5e" * 16).status_code == 201
        assert desk.client.get("/").status_code == 200
        with desk.served.store.read() as connection:
            assert verify_all(connection) == []
        desk.close()
    ours = [it for it in caplog.records if it.name.startswith("evenhand")]
    assert [it.getMessage()[:19] for it in ours] == [
        "The database fails:",
        "The database answer",
    ]
    assert not any(it.exc_info for it in ours)


def test_what_is_committed_is_on_the_disk(site: Site) -> None:
    with site.store.writing.connect() as connection:
        told = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        }
        connection.rollback()
    assert told == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
    }


def test_a_second_server_is_refused(site: Site) -> None:
    with pytest.raises(OptionError, match="Another evenhand serve is using this file"):
        open_store(site.store.name)


def test_readers_cannot_write(site: Site) -> None:
    with (
        site.store.read() as connection,
        pytest.raises(sa.exc.OperationalError, match="readonly"),
    ):
        connection.execute(t.organiser.delete())


@pytest.mark.parametrize("what", ["delete", "update"])
def test_the_log_only_grows(site: Site, what: str) -> None:
    site.draft()
    change = t.event.delete() if what == "delete" else t.event.update().values(n=9)
    with pytest.raises(sa.exc.DatabaseError, match="only grows"):
        site.do(lambda c, _: c.execute(change))


def test_no_row_points_into_another_evaluation(site: Site) -> None:
    one, slug = site.opened()
    few = {"items": "a\nb\nc", "reviewers": "X\nY\nZ", "reserves": ""}
    two, _ = site.opened(top="1", **few)
    token = guard.digest(site.tokens(one, slug)["Person 8"])
    last = site.read(reads.people, one)[7].id
    assert last > len(site.read(reads.people, two))
    crossed = [
        t.link.update().where(t.link.c.token_sha256 == token).values(evaluation_id=two),
        t.task.insert().values(
            evaluation_id=two, id=99, reviewer_id=last, item_id=1, place=9
        ),
        t.task.insert().values(
            evaluation_id=two, id=99, reviewer_id=1, item_id=8, place=9
        ),
        t.reviewer.update()
        .where(t.reviewer.c.evaluation_id == two, t.reviewer.c.id == 1)
        .values(stands_in_for=last),
    ]
    for change in crossed:
        with pytest.raises(sa.exc.IntegrityError):
            site.do(lambda c, _, change=change: c.execute(change))


def test_the_tables_refuse_what_must_not_be(site: Site) -> None:
    which, slug = site.opened()
    token = site.tokens(which, slug)["Person 1"]
    site.do(actions.begin, guard.digest(token))
    wrong = [
        t.reviewer.update().where(t.reviewer.c.id == 1).values(state="absent"),
        t.task.update().values(state="rated"),
        t.task.update().values(score=5),
        t.evaluation.update().values(state="lost"),
        t.item.update().values(url="javascript:alert(1)"),
        t.link.update().values(token_sha256=""),
    ]
    for change in wrong:
        with pytest.raises(sa.exc.IntegrityError):
            site.do(lambda c, _, change=change: c.execute(change))


def test_a_batch_takes_the_same_statements_whatever_its_size(site: Site) -> None:
    which, slug = site.opened()
    tokens = [guard.digest(one) for one in site.tokens(which, slug).values()]
    for token in tokens:
        site.do(actions.begin, token)
    seen: list[str] = []
    sa.event.listen(
        site.store.writing,
        "before_cursor_execute",
        lambda *given: seen.append(given[2]),
    )
    counts = []
    for batch in (tokens[:1], tokens[1:]):
        seen.clear()
        entries = (Entry(1, 0, "score", 5.0),)
        answers = site.rate(*(Sending(token, token[:32], entries) for token in batch))
        assert {answer.status for answer in answers} == {201}
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 12


def test_a_token_that_is_none_finds_nobody(site: Site) -> None:
    which, slug = site.opened()
    for text in ("", "0", "0" * 26, "' or 1=1 --", "x" * 10_000, "é" * 26):
        assert site.read(reads.rater, guard.digest(text)) is None
    with pytest.raises(RefusedError, match="There is no such link"):
        site.do(actions.begin, guard.digest(""))
    assert len(site.tokens(which, slug)) == 8


def test_a_database_of_another_version_is_refused(site: Site) -> None:
    site.do(lambda c, _: c.exec_driver_sql("UPDATE schema SET number = 99"))
    site.store.close()
    with pytest.raises(OptionError, match="another version of evenhand"):
        open_store(site.store.name)
    # The refusal lets go of the lock.
    with pytest.raises(OptionError, match="another version"):
        open_store(site.store.name)


def test_who_changes_a_table_gives_the_tables_another_number() -> None:
    """Databases that exist are upgraded or refused: raise SCHEMA, then this hash."""
    tables = [str(CreateTable(table)) for table in t.metadata.sorted_tables]
    assert (SCHEMA, text_hash("".join(tables))[:16]) == (4, "af1448abfb796dea")


def test_a_backup_while_the_server_runs_has_all_that_was_acknowledged(
    site: Site, tmp_path: Path
) -> None:
    which = walk(site)
    assert site.store.path is not None
    backup(site.store.path, tmp_path / "copy.db")
    with pytest.raises(OptionError, match="must not be there"):
        backup(site.store.path, tmp_path / "copy.db")
    lines = site.read(reads.log_lines, which)
    copy = Site(str(tmp_path / "copy.db"))
    assert copy.read(reads.log_lines, which) == lines
    assert copy.read(verify_all) == []
    assert copy.store.key != site.store.key
    copy.store.close()

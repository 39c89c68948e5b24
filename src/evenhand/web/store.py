"""The database: one writer for each SQLite file, many readers, a number for its schema.

SQLite runs in WAL mode with full synchronisation: what is committed is on the disk. A
lock file keeps a second server from the same file. PostgreSQL may have several servers.
"""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import os
import secrets
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from evenhand.errors import OptionError
from evenhand.web import guard
from evenhand.web.tables import metadata, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

POSTGRES = "postgresql"
BUSY = 10_000
WRITING = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON")
KEY_BYTES = 32
APART = timedelta(minutes=5)
SCHEMA = 4
"""The number of the tables as tables.py has them. A later one that upgrades databases
of an earlier one must copy them before, by `backup`."""


@dataclass(frozen=True, slots=True)
class Store:
    """An open database.

    Attributes:
        name: What messages call it, without a password.
        writing: The only engine that writes; of SQLite, one connection.
        reading: What pages are read with.
        key: Key of reviewers' links, from a file of its own.
        key_file: That file.
        path: The file of a SQLite database.
    """

    name: str
    writing: sa.Engine
    reading: sa.Engine
    key: bytes
    key_file: Path
    path: Path | None
    lock: IO[str] | None

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Read what is committed."""
        with self.reading.connect() as connection:
            yield connection

    def tidy(self) -> None:
        """Give up the space of what was deleted, so that it cannot be read back."""
        if self.path is None:
            return
        raw = self.writing.raw_connection()
        driver: Any = raw.driver_connection
        # No transaction may be around these, so SQLAlchemy is not asked.
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        driver.execute("VACUUM")
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        raw.close()

    def note_address(self, address: str) -> None:
        """Let commands beside the server know where it is."""
        if self.lock is not None:
            self.lock.truncate(0)
            self.lock.write(address)
            self.lock.flush()

    def close(self) -> None:
        """Let others have the database."""
        self.reading.dispose()
        self.writing.dispose()
        if self.lock is not None:
            self.lock.close()


def open_store(where: str, key: str = "") -> Store:
    """Open a database, make its tables, and keep others from writing.

    Args:
        where: Path of a SQLite file, or an address that begins with postgresql://.
        key: File of the key of links; beside a SQLite file, or in the folder of this
            user for PostgreSQL, if it is empty.

    Returns:
        The database.

    Raises:
        OptionError: If it is in use, cannot be opened, or another version made it.
    """
    if where.startswith((f"{POSTGRES}://", f"{POSTGRES}+", "postgres://")):
        return _postgres(where, key)
    path = Path(where)
    if "://" in where or not path.parent.is_dir():
        raise OptionError(
            f"--db must be a file in a folder that exists, or postgresql://..., got "
            f"{where!r}."
        )
    lock = _lock(path)
    try:
        writing = _sqlite(path)
        _make_tables(writing)
        address = f"sqlite:///file:{_quote_path(path)}?mode=ro&uri=true"
        reading = sa.create_engine(
            address,
            poolclass=StaticPool,
            isolation_level="AUTOCOMMIT",
            connect_args={"check_same_thread": False, "timeout": BUSY / 1000},
        )
        key_file = Path(key) if key else path.with_name(f"{path.name}.key")
        token_key = _key(key_file)
    except BaseException as error:
        lock.close()
        if isinstance(error, sa.exc.DatabaseError | OSError):
            reason = getattr(error, "orig", None) or error
            raise OptionError(f"{where}: The database fails: {reason}.") from None
        raise
    return Store(where, writing, reading, token_key, key_file, path, lock)


@contextlib.contextmanager
def beside(where: str) -> Iterator[sa.Connection]:
    """Write to a database that exists, beside the server that runs on it.

    Each of the two waits for the other's transaction.

    Raises:
        OptionError: If there is no such database.
    """
    if where.startswith((f"{POSTGRES}://", f"{POSTGRES}+", "postgres://")):
        engine = sa.create_engine(_postgres_address(where))
    else:
        read_only(Path(where)).close()
        engine = _sqlite(Path(where))
    try:
        _make_tables(engine)
        with engine.begin() as connection:
            yield connection
    except sa.exc.DatabaseError as error:
        reason = " ".join(str(error.orig).split())
        raise OptionError(f"The database fails: {reason}.") from None
    finally:
        engine.dispose()


def address_of_server(where: str) -> str:
    """Return the address of the server that runs on a SQLite file, "" if none does."""
    path = Path(f"{where}.lock")
    if "://" in where or not path.is_file():
        return ""
    with path.open(encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return lock.read()
    return ""


def read_only(path: Path) -> sqlite3.Connection:
    """Open a SQLite file to be read while a server runs.

    Raises:
        OptionError: If there is no such file.
    """
    if not path.is_file():
        raise OptionError(f"{path}: There is no such file.")
    return sqlite3.connect(f"file:{_quote_path(path)}?mode=ro", uri=True)


def backup(path: Path, target: Path) -> None:
    """Copy a SQLite database while a server runs; the copy is whole or not there.

    Raises:
        OptionError: If the copy exists already, or cannot be written.
    """
    if target.exists():
        raise OptionError(f"{target} must not be there: the backup would replace it.")
    half = target.with_name(f"{target.name}.part")
    try:
        half.unlink(missing_ok=True)
        half.touch(mode=0o600)
        with (
            contextlib.closing(read_only(path)) as source,
            contextlib.closing(sqlite3.connect(half)) as copy,
        ):
            source.backup(copy, pages=256)
        half.rename(target)
    except (OSError, sqlite3.Error) as error:
        half.unlink(missing_ok=True)
        raise OptionError(f"{target}: The backup cannot be written: {error}.") from None


def _lock(path: Path) -> IO[str]:
    try:
        lock = path.with_name(f"{path.name}.lock").open("a", encoding="utf-8")
    except OSError as error:
        raise OptionError(
            f"{path}: The database cannot be written: {error.strerror}."
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise OptionError(
            f"{path}: Another evenhand serve is using this file. Stop it first, or use "
            "another file with --db."
        ) from None
    return lock


def _quote_path(path: Path) -> str:
    text = str(path.resolve())
    return text.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _sqlite(path: Path) -> sa.Engine:
    if not path.exists():
        path.touch(mode=0o600)
    engine = sa.create_engine(
        f"sqlite:///{path}",
        poolclass=StaticPool,
        connect_args={"check_same_thread": False, "timeout": BUSY / 1000},
    )

    def prepare(raw: sqlite3.Connection, _: object) -> None:
        raw.isolation_level = None
        for pragma in (*WRITING, "foreign_keys=ON", f"busy_timeout={BUSY}"):
            raw.execute(f"PRAGMA {pragma}")

    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    sa.event.listen(engine, "connect", prepare)
    sa.event.listen(engine, "begin", begin)
    return engine


def _postgres_address(where: str) -> sa.URL:
    _, _, location = where.partition("://")
    return sa.make_url(f"{POSTGRES}+psycopg://{location}")


def _postgres(where: str, key: str) -> Store:
    address = _postgres_address(where)
    name = address.render_as_string(hide_password=True)
    try:
        writing = sa.create_engine(address, pool_pre_ping=True, pool_size=2)
    except ModuleNotFoundError:
        raise OptionError(
            "PostgreSQL needs another package: pip install 'evenhand[postgres]'."
        ) from None
    # A refusal leaves no connection behind.
    undo = contextlib.ExitStack()
    undo.callback(writing.dispose)
    with undo:
        _check_postgres(writing, name)
        undo.pop_all()
    reading = writing.execution_options(isolation_level="AUTOCOMMIT")
    key_file = Path(key) if key else _key_file()
    return Store(name, writing, reading, _key(key_file), key_file, None, None)


def _check_postgres(writing: sa.Engine, name: str) -> None:
    try:
        with writing.connect() as connection:
            sync = connection.exec_driver_sql("SHOW synchronous_commit").scalar()
            there = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        check_clock(datetime.now(UTC), there, name)
        if sync == "off":
            raise OptionError(
                f"{name}: synchronous_commit must not be off: ratings that were "
                "acknowledged could be lost."
            )
        _make_tables(writing)
    except sa.exc.DatabaseError as error:
        reason = " ".join(str(error.orig).split())
        raise OptionError(f"{name}: The database fails: {reason}.") from None


def _key_file() -> Path:
    """Return where the key of links of PostgreSQL is; it must not be lost by a cd."""
    try:
        folder = state_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        raise OptionError(
            f"The key of links cannot be kept: {error}. Say in which folder with the "
            "variable XDG_STATE_HOME."
        ) from None
    return folder / "links.key"


def state_folder() -> Path:
    """Return the folder of what programs keep for this user."""
    folder = Path(os.environ.get("XDG_STATE_HOME", ""))
    home = folder if folder.is_absolute() else Path.home() / ".local" / "state"
    return home / "evenhand"


def check_clock(here: datetime, there: datetime, name: str) -> None:
    """Refuse to serve by a clock that is far from the database's.

    Raises:
        OptionError: If one of them must be wrong: deadlines go by it.

    Examples:
        >>> noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
        >>> check_clock(noon, noon + timedelta(days=3), "postgresql://x")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: postgresql://x: The clock here says 2026-11-16
        12:00 UTC, the database's 2026-11-19 12:00. Set the wrong one right: deadlines
        go by them.
    """
    if abs(here - there) > APART:
        raise OptionError(
            f"{name}: The clock here says {here.astimezone(UTC):%Y-%m-%d %H:%M} UTC, "
            f"the database's {there.astimezone(UTC):%Y-%m-%d %H:%M}. Set the wrong one "
            "right: deadlines go by them."
        )


def _key(path: Path) -> bytes:
    """Read the key of links, or draw one; it is not in the database."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="ascii") as file:
            file.write(secrets.token_hex(KEY_BYTES))
    except FileExistsError:
        pass  # it was drawn before
    except OSError as error:
        raise OptionError(
            f"{path}: The key cannot be kept: {error.strerror}."
        ) from None
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise OptionError(f"{path}: This is not a key of evenhand serve. Remove it.")
    return key


def link_token(
    key: bytes, evaluation: str, reviewer: int, serial: int, draw: int = 1
) -> bytes:
    """Return the 16 random-looking bytes of a reviewer's link.

    They follow from the key file, so the database alone gives nobody a link. Another
    draw has other links: those of a draw that was dropped never work again.
    """
    text = f"evenhand.link/2:{evaluation}:{draw}:{reviewer}:{serial}"
    return hmac.digest(key, text.encode(), "sha256")[:16]


def recovery_code(
    key: bytes, evaluation: str, reviewer: int, serial: int, draw: int = 1
) -> str:
    """Return the short code that finds a reviewer's link again."""
    return guard.base32(link_token(key, evaluation, reviewer, -serial, draw)[:10])


def _make_tables(engine: sa.Engine) -> None:
    """Make the tables of a new database.

    Raises:
        OptionError: If another version of evenhand made the database.
    """
    with engine.begin() as connection:
        tables = sa.inspect(connection).get_table_names()
        if not tables:
            metadata.create_all(connection, checkfirst=False)
            connection.execute(schema.insert(), {"number": SCHEMA})
        statement = sa.select(schema.c.number)
        is_ours = not tables or schema.name in tables
        if not is_ours or connection.execute(statement).scalar_one() != SCHEMA:
            raise OptionError(
                "The database was made by another version of evenhand. Use that one, "
                "or another database with --db."
            )

"""Engines that the tests start themselves, and stop again."""

import contextlib
import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OWNER = "postgres"


def postgres_programs() -> Path | None:
    """Return the folder of Debian's newest PostgreSQL, None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return found[-1].parent if found else None


@contextlib.contextmanager
def postgres(locale: str = "en-US") -> Iterator[Any]:
    """Start a PostgreSQL of our own, that no network reaches, and connect Ibis to it.

    Its data and its socket are in a new folder, which is asked for before anything is
    written: a server that answers by chance is somebody else's.
    """
    import ibis  # noqa: PLC0415 - the tests say if it is not there

    programs = postgres_programs()
    assert programs is not None
    # A socket's path must be short, and another user must reach it.
    folder = Path(tempfile.mkdtemp(prefix="evenhand-pg-", dir="/tmp"))
    data = folder / "data"
    user = OWNER if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user, user)

    def run(program: str, *words: str) -> None:
        command = [str(programs / program), "-D", str(data), *words]
        # The server must not hold our output open.
        subprocess.run(  # noqa: S603 - Debian's own
            command,
            check=True,
            user=user,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    owner = user or getpass.getuser()
    icu = ("--encoding=UTF8", "--locale-provider=icu", f"--icu-locale={locale}")
    try:
        run("initdb", "--auth=trust", "--no-sync", f"--username={owner}", *icu)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            there = ibis.postgres.connect(
                host=str(folder), user=owner, database="postgres"
            )
            with there.con.cursor() as cursor:
                found = cursor.execute("SHOW data_directory").fetchone()
            assert found == (str(data),)
            yield there
            there.disconnect()
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def spark(folder: Path) -> Iterator[Any]:
    """Start Spark with one thread, without its web page."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - likewise

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        # Small queries take less time to run than to compile well.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    builder = SparkSession.builder.master("local[1]").appName("evenhand")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()

"""`evenhand serve`: run evaluations in the browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from evenhand.errors import OptionError, printable

if TYPE_CHECKING:
    from evenhand.web.running import Address, Served

DATABASE = "evenhand.db"
FOUND, WRONG = 200, 400
UNENCRYPTED = (
    "Links travel unencrypted on this network: whoever listens can use them. Use "
    "--certfile or a proxy if that matters."
)


@click.group("serve", invoke_without_command=True)
@click.option(
    "--db",
    default=DATABASE,
    metavar="PATH",
    help="SQLite file, or postgresql://... (needs evenhand[postgres]).  [default: "
    f"{DATABASE}]",
)
@click.option("--host", default="127.0.0.1", metavar="NAME", help="What to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    help="Port; 0 for any free one.",
)
@click.option(
    "--public-url", default="", metavar="URL", help="The address that others use."
)
@click.option("--proxy", is_flag=True, help="Trust X-Forwarded headers of a proxy.")
@click.option("--certfile", metavar="FILE", help="Certificate, for https.")
@click.option("--keyfile", metavar="FILE", help="Key of the certificate.")
@click.option(
    "--lan", is_flag=True, help="Serve to this network; print the address and a QR."
)
@click.option(
    "--demo", is_flag=True, help="Eight simulated reviewers rate in front of you."
)
@click.option(
    "--open/--no-open",
    "opens",
    default=None,
    help="Open the browser.  [default: if this is a terminal]",
)
@click.option("--get", "path", metavar="PATH", help="Print one page and end.")
@click.pass_context
def command(context: click.Context, /, **options: object) -> None:
    """Run evaluations in the browser.

    Paste two lists, seal the draw, hand out private links, close, decide and publish.
    Ratings are stored in one SQLite file, and are on the disk before they are
    acknowledged. No accounts, no mail, nothing is sent anywhere else.

    The link that is printed signs you in as the organiser, once; start again for
    another.

    \b
    Example:
      evenhand serve
      evenhand serve --demo
      evenhand serve --lan --db talks.db
      evenhand serve --db talks.db backup copy.db
    """
    context.obj = options["db"]
    if context.invoked_subcommand is not None:
        return
    import tempfile
    from pathlib import Path

    from evenhand.web.running import Served

    with tempfile.TemporaryDirectory() as folder:
        fresh = options["demo"] and options["db"] == DATABASE
        db = str(Path(folder) / "demo.db") if fresh else str(options["db"])
        served = Served(db, _address(options), demo=bool(options["demo"]))
        try:
            if options["path"]:
                _print(served, str(options["path"]))
                return
            _run(served, options)
        finally:
            served.close()


def _address(options: dict[str, object]) -> Address:
    from evenhand.web.running import Address, lan_address

    host, url = str(options["host"]), str(options["public_url"])
    if url and not url.startswith(("http://", "https://")):
        raise OptionError("--public-url must begin with http:// or https://.")
    if (options["certfile"] is None) != (options["keyfile"] is None):
        raise OptionError("--certfile and --keyfile must be given together.")
    if options["lan"] and options["port"] == 0:
        raise OptionError("--lan must have a --port, which links can name.")
    if options["lan"] and not url:
        scheme = "https" if options["certfile"] else "http"
        url = f"{scheme}://{lan_address()}:{options['port']}"
    return Address(
        host="0.0.0.0" if options["lan"] else host,  # noqa: S104 - as asked
        port=int(str(options["port"])),
        public_url=url,
        proxy=bool(options["proxy"]),
        certfile=_text(options["certfile"]),
        keyfile=_text(options["keyfile"]),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _print(served: Served, path: str) -> None:
    status, text = served.get(path)
    click.echo(text, nl=False)
    if status >= WRONG:
        raise OptionError(f"{path} was answered with status {status}.")


def _run(served: Served, options: dict[str, object]) -> None:
    from evenhand.web.running import listen, open_browser

    address = served.address
    taken = listen(address.host, address.port)
    port = taken.getsockname()[1]
    scheme = "https" if address.certfile else "http"
    name = "127.0.0.1" if address.host == "0.0.0.0" else address.host  # noqa: S104 - compared
    base = address.public_url.rstrip("/") or f"{scheme}://{name}:{port}"
    link = f"{base}{served.signin()}"

    def started() -> None:
        click.echo(f"evenhand is at {base}, with {printable(served.store.name)}")
        click.echo(f"Sign in as the organiser (once, within 15 minutes): {link}")
        if options["lan"]:
            import segno

            segno.make(link).terminal(compact=True)
            click.echo(UNENCRYPTED)
        if options["demo"]:
            click.echo("Eight simulated reviewers begin now: sign in and watch.")
        click.echo("Stop it with Ctrl-C.")
        sys.stdout.flush()
        opens = options["opens"]
        if opens or (opens is None and sys.stdout.isatty()):
            open_browser(link)

    served.run(taken, started)


@command.command("backup")
@click.argument("file", metavar="FILE")
@click.pass_obj
def backup(db: str, file: str) -> None:
    """Copy the SQLite database to FILE while a server runs."""
    from pathlib import Path

    from evenhand.web.store import backup as copy

    if "://" in db:
        raise OptionError("Back up PostgreSQL with pg_dump.")
    copy(Path(db), Path(file))
    click.echo(f"Wrote {printable(file)}", err=True)


@command.command("verify")
@click.pass_obj
@click.pass_context
def verify(context: click.Context, db: str) -> None:
    """Hold tables, history and log against each other."""
    from evenhand.web.running import reading_engine
    from evenhand.web.verify import verify_all

    engine = reading_engine(db)
    with engine.connect() as connection:
        found = verify_all(connection)
    engine.dispose()
    for line in found:
        click.echo(printable(line))
    click.echo("Something differs." if found else "Tables, history and log agree.")
    if found:
        context.exit(1)


@command.command("purge")
@click.option("--due", is_flag=True, help="Delete what was kept as long as was said.")
@click.pass_obj
def purge(db: str, *, due: bool) -> None:
    """Delete names, notes and links of old evaluations."""
    from datetime import UTC, datetime

    from evenhand.web.actions import purge_due
    from evenhand.web.store import open_store

    if not due:
        raise OptionError(
            "purge must come with --due. One evaluation is purged on its page."
        )
    store = open_store(db)
    try:
        with store.writing.begin() as connection:
            titles = purge_due(connection, datetime.now(UTC))
        if titles:
            store.tidy()
    finally:
        store.close()
    for title in titles:
        click.echo(f"Deleted the names of {printable(title)}")
    click.echo(f"{len(titles)} purged.")

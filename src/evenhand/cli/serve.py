"""`evenhand serve`: run evaluations in the browser."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from evenhand.cli._options import OnceEachGroup, option
from evenhand.errors import OptionError, plural, printable, quote
from evenhand.lazy import lazy

if TYPE_CHECKING:
    import segno

    from evenhand.web import actions, reads, running
    from evenhand.web import store as stores
    from evenhand.web import verify as verification
    from evenhand.web.running import Address, Served
    from evenhand.web.store import Store
else:
    actions = lazy("evenhand.web.actions")
    reads = lazy("evenhand.web.reads")
    running = lazy("evenhand.web.running")
    stores = lazy("evenhand.web.store")
    verification = lazy("evenhand.web.verify")
    segno = lazy("segno")

DATABASE = "evenhand.db"
WRONG = 400
UNENCRYPTED = (
    "Links travel unencrypted on this network: whoever listens can use them. Use "
    "--certfile or a proxy if that matters."
)


class ServeGroup(OnceEachGroup):
    """Commands that need the packages of the extra `evenhand[serve]`."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, or say what to install for it."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("evenhand"):
                raise
            raise OptionError(
                "evenhand serve needs more packages: pip install 'evenhand[serve]'."
            ) from error


@click.group("serve", cls=ServeGroup, invoke_without_command=True)
@option(
    "--db PATH",
    "SQLite file, or postgresql://... (needs evenhand[postgres]).",
    default=DATABASE,
    show_default=True,
)
@option("--host NAME", "What to listen on.", default="127.0.0.1")
@option("--port", "Port; 0 for any free one.", click.IntRange(0, 65535), default=8000)
@option("--public-url URL", "The address that others use.", default="")
@option("--proxy", "Trust X-Forwarded headers of a proxy.")
@option("--key FILE", "Key of the links.  [default: beside the database]", default="")
@option("--access-log", "Note each request on standard error, without links.")
@option("--certfile FILE", "Certificate, for https.")
@option("--keyfile FILE", "Key of the certificate.")
@option("--lan", "Serve to this network; print the address and a QR.")
@option("--demo", "Eight simulated reviewers rate in front of you.")
@option(
    "--open/--no-open opens",
    "Open the browser.  [default: if this is a terminal]",
    default=None,
)
@option("--get path PATH", "Print one page and end.")
@click.pass_context
def command(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - click's values
    """Run evaluations in the browser.

    Paste two lists, seal the draw, hand out private links, close, decide and publish.
    Ratings are stored in one SQLite file, and are on the disk before they are
    acknowledged. No accounts, no mail, nothing is sent anywhere else.

    The link that is printed signs you in as the organiser, once; evenhand serve
    organiser makes another, also while the server runs.

    \b
    Example:
      evenhand serve
      evenhand serve --demo
      evenhand serve --lan --db talks.db
      evenhand serve --db talks.db organiser
      evenhand serve --db talks.db backup copy.db
    """
    context.obj = options["db"]
    if context.invoked_subcommand is not None:
        return

    with tempfile.TemporaryDirectory() as folder:
        fresh = options["demo"] and options["db"] == DATABASE
        db = str(Path(folder) / "demo.db") if fresh else options["db"]
        served = running.Served(
            db, _address(options), demo=options["demo"], key=options["key"]
        )
        with contextlib.closing(served):
            if not (path := options["path"]):
                _run(served, options)
                return
            status, text = served.get(path)
            click.echo(text, nl=False)
    if status >= WRONG:
        raise OptionError(f"{path} was answered with status {status}.")


def _address(options: dict[str, Any]) -> Address:

    url, lan, certfile = options["public_url"], options["lan"], options["certfile"]
    if url and not url.startswith(("http://", "https://")):
        raise OptionError("--public-url must begin with http:// or https://.")
    if urlsplit(url).path.strip("/"):
        raise OptionError(
            "--public-url must have no path: give evenhand a host name of its own, "
            "such as https://rate.example.org."
        )
    if (certfile is None) != (options["keyfile"] is None):
        raise OptionError("--certfile and --keyfile must be given together.")
    if lan and options["port"] == 0:
        raise OptionError("--lan must have a --port, which links can name.")
    if lan and not url:
        scheme = "https" if certfile else "http"
        url = f"{scheme}://{running.lan_address()}:{options['port']}"
    host = running.EVERYWHERE if lan else options["host"]
    names = ("port", "proxy", "certfile", "keyfile", "access_log")
    same = {name: options[name] for name in names}
    return running.Address(host=host, public_url=url, **same)


def _run(served: Served, options: dict[str, Any]) -> None:

    address = served.address
    taken = running.listen(address.host, address.port)
    port = taken.getsockname()[1]
    scheme = "https" if address.certfile else "http"
    name = "127.0.0.1" if address.host == running.EVERYWHERE else address.host
    base = address.public_url.rstrip("/") or f"{scheme}://{name}:{port}"
    served.store.note_address(base)
    opens = options["opens"]
    opens = sys.stdout.isatty() if opens is None else opens
    # Others may see the screen of a room, and the journal of a service.
    is_public = options["lan"] or bool(os.environ.get("JOURNAL_STREAM"))
    link = "" if is_public and not opens else f"{base}{served.signin()}"

    def report_start() -> None:
        click.echo(f"evenhand is at {base}, with {printable(served.store.name)}")
        for line in about_key(served.store):
            click.echo(line)
        if options["lan"]:
            click.echo(f"For the room, {base}:")
            segno.make(base).terminal(compact=True)
            click.echo(UNENCRYPTED)
        if is_public:
            how = "Sign in as the organiser by the link of this command: evenhand serve"
            click.echo(f"{how} --db {printable(served.store.name)} organiser")
        else:
            click.echo(f"Sign in as the organiser (once, within 15 minutes): {link}")
        if options["demo"]:
            click.echo("Eight simulated reviewers begin now: sign in and watch.")
        click.echo("Stop it with Ctrl-C.")
        sys.stdout.flush()
        if opens:
            running.open_browser(f"{link}#enter")

    served.run(taken, report_start)


def about_key(store: Store) -> list[str]:
    """Say where the key of links is, unless it is beside its database."""
    if store.path is not None:
        return []
    where = printable(str(store.key_file.absolute()))
    return [
        f"The key of links is {where}. Keep it private, and the same on servers that "
        "share a database."
    ]


@command.command("organiser")
@click.argument("name", metavar="[NAME]", default="")
@option("--list lists", "List the organisers.")
@option("--remove", "End all that NAME may do.")
@click.pass_context
def organiser(context: click.Context, name: str, *, lists: bool, remove: bool) -> None:
    """Make a link that signs an organiser in, while a server runs.

    Without NAME it is for the first organiser. NAME, or a number of --list, is an
    organiser, made if there is none of that name.
    """
    db, now = context.obj, datetime.now(UTC)
    if remove and not name:
        raise OptionError("--remove must come with the name of an organiser.")
    address = context.parent.params["public_url"] if context.parent else ""
    base = address or stores.address_of_server(db)
    with stores.beside(db) as connection:
        people = reads.organisers(connection)
        if lists:
            for person in people:
                many = plural(person.evaluations, "evaluation")
                click.echo(f"{person.id} {printable(person.name)}: {many}")
            return
        if remove:
            if not any(name in (person.name, str(person.id)) for person in people):
                raise OptionError(f"There is no organiser {quote(name)}. See --list.")
            number = actions.organiser_by_name(connection, now, name)
            actions.remove_organiser(connection, now, number)
            click.echo(f"Removed {printable(name)}")
            return
        if not base:
            raise OptionError(
                "No server seems to run on this database. Start it, or give the "
                "address of one elsewhere: evenhand serve --public-url URL organiser."
            )
        first = actions.first_organiser(connection, now, running.NAME)
        number = actions.organiser_by_name(connection, now, name) if name else first
        token = actions.make_signin(connection, now, number)
    click.echo(f"Sign in once, within 15 minutes: {base.rstrip('/')}/in/{token}")


@command.command("backup")
@click.argument("file", metavar="FILE")
@click.pass_obj
def backup(db: str, file: str) -> None:
    """Copy the SQLite database to FILE while a server runs."""
    if "://" in db:
        raise OptionError("Back up PostgreSQL with pg_dump.")
    stores.backup(Path(db), Path(file))
    click.echo(f"Wrote {printable(file)}", err=True)


@command.command("verify")
@click.pass_obj
@click.pass_context
def verify(context: click.Context, db: str) -> None:
    """Check that tables, history and log agree."""
    engine = running.reading_engine(db)
    with engine.connect() as connection:
        differences = verification.verify_all(connection)
    engine.dispose()
    for line in differences:
        click.echo(printable(line))
    click.echo(
        "Something differs." if differences else "Tables, history and log agree."
    )
    if differences:
        context.exit(1)


@command.command("purge")
@option("--due", "Delete what was kept as long as was said.")
@click.pass_obj
def purge(db: str, *, due: bool) -> None:
    """Delete names, notes and links of old evaluations."""
    if not due:
        raise OptionError("purge must come with --due; one is purged on its page.")
    with contextlib.closing(stores.open_store(db)) as store:
        with store.writing.begin() as connection:
            titles = actions.purge_due(connection, datetime.now(UTC))
        if titles:
            store.tidy()
    for title in titles:
        click.echo(f"Deleted the names of {printable(title)}")
    click.echo(f"{len(titles)} purged.")

"""The web child's entry: reads its arguments, puts link, journal and server together, serves until told to stop.

``python -m gateway.children.webchild --socket PATH --journal PATH --listen HOST:PORT --language L [--host NAME]
[--announce]``

It ends with SIGTERM, and with its parent when standard input is a pipe or a socket from it: a page without a watch
behind it must not keep the port.
"""

import argparse
import asyncio
import dataclasses
import ipaddress
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from alerts.messages.place import Place
from alerts.messages.words import words
from dashboards.past import EventView, LedgerView, Trend
from dashboards.web.api import HistoryError
from dashboards.web.app import WebScreens, application
from dashboards.web.office_line import OfficeLine
from dashboards.web.server import WebServer, listening
from dashboards.web.trends import TooLongError, TrendsError
from dashboards.web.watched import LedgerError
from gateway.children.tie import EXIT_NO_ADDRESS, Tie
from gateway.engine.records import event_from
from gateway.journal.errors import StoreError
from gateway.journal.reader import JournalReader
from gateway.ledger import watchbook
from gateway.machine import limits, logs
from gateway.office import attachments
from gateway.store import history, layout
from sensors.stamps import Instant, Stamp, UtcNanos

EXIT_CONFIG = 78


class JournalHistory:
    """The journal for the screens. Opened for each question: it may not be there yet, or be replaced."""

    def __init__(self, path: Path, sentence: Callable[[Mapping[str, Any]], str]) -> None:
        self._path = path
        self._sentence = sentence

    def events(self, after: int, limit: int) -> Sequence[EventView]:
        """Return alarm events with seq > `after`, oldest first.

        Raises:
            HistoryError: the journal cannot be read.
        """
        return self._asked(lambda reader: reader.events(after, limit))

    def latest(self, limit: int) -> Sequence[EventView]:
        """Return the last alarm events, oldest first.

        Raises:
            HistoryError: the journal cannot be read.
        """
        return self._asked(lambda reader: reader.latest(limit))

    def _asked(self, question: Callable[[JournalReader], Sequence[EventView]]) -> Sequence[EventView]:
        try:
            with JournalReader(self._path, self._sentence) as reader:
                return question(reader)
        except StoreError as error:
            raise HistoryError(f"{error.what}; {error.right}") from error


class JournalLedger:
    """The ledger of watched time for the screens, folded anew for each question."""

    def __init__(self, path: Path, timezone: str) -> None:
        self._path = path
        self._timezone = timezone

    def ledger(self, start_ms: int | None, end_ms: int, now_ms: int) -> LedgerView:
        """Return what touches a time.

        Raises:
            LedgerError: the journal cannot be read.
        """
        try:
            return watchbook.ledger(self._path, self._timezone, start_ms, end_ms, now_ms)
        except StoreError as error:
            raise LedgerError(f"{error.what}; {error.right}") from error


class KeptFiles:
    """The files that entries name, for the screens."""

    def __init__(self, journal: Path) -> None:
        self._folder = attachments.folder_of(journal)

    def load(self, name: str) -> tuple[bytes, str] | None:
        """Return a file and its media type; None where there is none, or it is not what it was.

        Raises:
            OSError: it cannot be read.
        """
        return attachments.load(self._folder, name)


class StoredTrends:
    """The readings for the screens. Opened for each question, like the journal."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def trend(self, detector: str, start_s: int, end_s: int, step_s: int | None) -> Trend | None:
        """Return the buckets of a stretch; None: no such detector.

        Raises:
            TrendsError: the readings cannot be read.
            TooLongError: too many buckets.
        """
        try:
            with history.ReadingsHistory(self._path) as readings:
                return readings.trend(detector, start_s, end_s, step_s)
        except StoreError as error:
            raise TrendsError(f"{error.what}; {error.right}") from error
        except history.TooLongError as error:
            raise TooLongError(str(error)) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped; return the exit code: 0 stopped, 75 the address cannot be had now, 78 it is not loopback.

    Of an address that cannot be had `vigia run` tells the person, once; this is tried again and again.
    """
    given = _arguments(arguments)
    host, port = given.listen
    if not ipaddress.ip_address(host).is_loopback:
        sys.stderr.write(f"--listen {host}: only loopback addresses until there is sign-in; use 127.0.0.1\n")
        return EXIT_CONFIG
    try:
        listener = listening(host, port)
    except OSError:
        return EXIT_NO_ADDRESS

    screens = WebScreens(
        given.socket,
        JournalHistory(given.journal, lambda body: _sentence(screens, given.language, body)),
        trends=StoredTrends(given.journal.with_name(layout.NAME)),
        watched=JournalLedger(given.journal, given.timezone),
        office=None if given.office is None else OfficeLine(given.office),
        attachments=KeptFiles(given.journal),
        language=given.language,
    )
    app = application(screens, language=given.language, version=version("vigia-glp"), hosts=frozenset(given.host))
    if given.announce:
        shown = f"[{host}]" if ":" in host else host
        line = msgspec.json.encode({"listening": f"http://{shown}:{listener.getsockname()[1]}/"}).decode()
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    server = WebServer(app, closing=screens.close)
    asyncio.run(_serve(server, listener))
    return 0


async def _serve(server: WebServer, listener: socket.socket) -> None:
    Tie(server.end).hold()
    await server.serve(sockets=[listener])


def _sentence(screens: WebScreens, language: str, body: Mapping[str, Any]) -> str:
    """Say an event of the journal in words, at the place the present picture knows it by."""
    now = Stamp(Instant(time.monotonic_ns()), UtcNanos(time.time_ns()))
    snapshot = screens.link.snapshot()
    subject = str(body.get("subject", ""))
    place = Place(depot="")
    if snapshot is not None:
        place = Place(snapshot.depot.name)
        head = next((view for view in snapshot.detectors if view.id == subject), None)
        if head is not None:
            name = head.name if head.name != head.id else ""
            place = Place(snapshot.depot.name, area=head.area_name or head.area, detector=subject, detector_name=name)
    try:
        event = dataclasses.replace(event_from(body, now), by=body.get("by"))
    except (KeyError, ValueError):
        return ""  # written by another version: its fields are shown all the same
    return words(event, place, language)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("gateway.children.webchild", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--socket", type=Path, required=True, help="the gateway's control socket")
    parser.add_argument("--office", type=Path, help="the office's socket")
    parser.add_argument("--journal", type=Path, required=True, help="the journal, read only")
    parser.add_argument("--listen", type=_address, required=True, metavar="HOST:PORT", help="a loopback address")
    parser.add_argument("--language", default="pt-BR", help="for browsers that ask for none of ours")
    parser.add_argument("--timezone", default="America/Sao_Paulo", help="whose months the ledger sums")
    parser.add_argument("--host", action="append", default=[], help="a name besides loopback's it may be called by")
    parser.add_argument("--announce", action="store_true", help="print the address once it is had (for port 0)")
    return parser.parse_args(arguments)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        ipaddress.ip_address(host)
        number = int(port)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, as in 127.0.0.1:8080") from None
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"port {number} is not within 0 and 65535")
    return host, number


if __name__ == "__main__":
    logs.install()
    limits.raise_descriptors()
    sys.exit(main())

"""What of a depot is recorded and where: joins recorder, spool and sender for one configuration. Decides nothing."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from gateway.depot import Depot
from gateway.events import Record
from gateway.journal.errors import StoreError
from gateway.runtime import Part
from gateway.store import layout, spool
from gateway.store.feed import Feed
from gateway.store.recorder import Recorder
from gateway.store.reporting import Reporting
from gateway.store.sender import Sender
from gateway.store.spool import Bounds, Spool
from sensors.readings import Scan
from sensors.stamps import Clock

CLOSE_WITHIN_S = 1.0


class Condition(Protocol):
    """Called on the loop: a SYSTEM condition came or went."""

    def __call__(self, subject: str, *, present: bool, reason: str, detail: str) -> None:
        """`subject` is ``store`` or ``influx``."""
        ...


class Recording:
    """The readings of a depot on their way to its own file and, where there is one, to its database."""

    def __init__(self, depot: Depot, clock: Clock, condition: Condition) -> None:
        self._clock = clock
        self._condition = condition
        self._loop = asyncio.get_running_loop()
        self._recorder = Recorder(readings_path(depot), depot.keeping, clock, self._store_trouble)
        self._spool: Spool | None = None
        self._sender: Sender | None = None
        self.take: Callable[[Scan], None] = self._recorder.take
        self.note: Callable[[Record], None] = self._recorder.note
        self._connect(depot)

    def start(self) -> None:
        """Begin to record."""
        self._recorder.start()

    def parts(self) -> Sequence[tuple[str, Part]]:
        """What is to be run and supervised with the lines and channels."""
        return () if self._sender is None else (("influx", self._sender.run),)

    def follow(self, depot: Depot) -> None:
        """Go on by a new configuration. The parts of the old one have ended."""
        self._recorder.keeping = depot.keeping
        self._connect(depot)

    def beat(self, utc: int, figures: Callable[[], Mapping[str, float]]) -> None:
        """Once a second: the watch's own figures, which now and then go to the database."""
        if self._sender is not None:
            self._recorder.beat(utc, figures)

    def figures(self) -> dict[str, float]:
        """Figures for ``/metrics``."""
        counts = self._recorder.counts
        return {
            "store_seconds_total": float(counts.seconds),
            "store_dropped_seconds_total": float(counts.dropped_seconds),
            "store_dropped_readings_total": float(counts.dropped_readings),
        } | ({} if self._sender is None else self._sender.counts())

    def close(self) -> bool:
        """Record what is there. On a thread: it waits for the disk. False when something was left."""
        whole = self._recorder.close(CLOSE_WITHIN_S)
        if self._spool is not None:
            self._spool.close()
        return whole

    def _connect(self, depot: Depot) -> None:
        """Aim at the configuration's database, or at none."""
        influx, self._sender, self._recorder.feed = depot.influx, None, None
        if influx is None:
            return
        bounds = Bounds(influx.spool_bytes, influx.spool_age_ms)
        try:
            if self._spool is None:
                depot.data.mkdir(parents=True, exist_ok=True)
                self._spool = Spool(depot.data / spool.NAME, bounds)
        except (StoreError, OSError) as error:
            self._condition("influx", present=True, reason="spool", detail=str(error)[:200])
            return
        self._spool.bounds = bounds
        sender = Sender(
            self._spool, influx.target, influx.pace, depot=depot.id, clock=self._clock, trouble=self._influx_trouble
        )
        self._recorder.feed = Feed(
            self._spool,
            Reporting(influx.changes, depot.levels.a1),
            depot=depot.id,
            areas={detector.id: detector.area for detector in depot.detectors},
            most_points=influx.pace.most_points,
            put=lambda: self._wake(sender),
        )
        self._sender = sender
        self._condition("influx", present=False, reason="", detail="")

    def _wake(self, sender: Sender) -> None:
        self._loop.call_soon_threadsafe(sender.wake)

    def _store_trouble(self, unwell: bool, reason: str) -> None:
        """The recorder's thread tells; the engine hears it on its own loop."""

        def hear() -> None:
            self._condition("store", present=unwell, reason=reason, detail="")

        self._loop.call_soon_threadsafe(hear)

    def _influx_trouble(self, unwell: bool, reason: str, detail: str) -> None:
        self._condition("influx", present=unwell, reason=reason, detail=detail)


def readings_path(depot: Depot) -> Path:
    """Where a depot's readings stand."""
    return depot.data / layout.NAME


def spool_path(depot: Depot) -> Path:
    """Where a depot's spool stands."""
    return depot.data / spool.NAME

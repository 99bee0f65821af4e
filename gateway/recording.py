"""What of a depot is recorded and where: joins recorder, spool and sender for one configuration. Decides nothing."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gateway.depot import Depot
from gateway.engine.events import Record
from gateway.engine.losses import Losses
from gateway.journal.errors import StoreError
from gateway.runtime import Part
from gateway.store import layout, spool
from gateway.store.feed import Feed
from gateway.store.recorder import Counts, Recorder
from gateway.store.reporting import Reporting
from gateway.store.spool import Bounds, Spool
from sensors.readings import Scan
from sensors.stamps import Clock

if TYPE_CHECKING:
    from gateway.store.sender import Sender

CLOSE_WITHIN_S = 1.0


class Condition(Protocol):
    """Called on the loop: a SYSTEM condition came or went."""

    def __call__(self, subject: str, *, present: bool, reason: str, detail: str) -> None:
        """`subject` is ``store`` or ``influx``."""
        ...


@dataclass(frozen=True, slots=True)
class Aim:
    """A configuration's database, ready to be sent to. `fault`: why it cannot be; without all three there is none."""

    sender: "Sender | None" = None
    feed: Feed | None = None
    bounds: Bounds | None = None
    fault: str = ""


class Recording:
    """The readings of a depot on their way to its own file and, where there is one, to its database."""

    def __init__(self, depot: Depot, clock: Clock, condition: Condition) -> None:
        self._clock = clock
        self._condition = condition
        self._loop = asyncio.get_running_loop()
        self._recorder = Recorder(readings_path(depot), depot.keeping, clock, self._store_trouble)
        self._losses, self._told = Losses(), ""
        self._spool: Spool | None = None
        self._sender: Sender | None = None
        self.take: Callable[[Scan], None] = self._recorder.take
        self.note: Callable[[Record], None] = self._recorder.note
        self._take(self.aim(depot))

    def start(self) -> None:
        """Begin to record."""
        self._recorder.start()

    def parts(self) -> Sequence[tuple[str, Part]]:
        """What is to be run and supervised with the lines and channels."""
        return () if self._sender is None else (("influx", self._sender.run),)

    def aim(self, depot: Depot) -> Aim:
        """Make ready to send to a configuration's database. Reads the disk: call it off the alarm loop."""
        influx = depot.influx
        if influx is None:
            return Aim()
        from gateway.store.sender import Sender  # and with it an HTTP client of 11 MiB

        bounds = Bounds(influx.spool_bytes, influx.spool_age_ms)
        try:
            if self._spool is None:
                depot.data.mkdir(parents=True, exist_ok=True)
                self._spool = Spool(depot.data / spool.NAME, bounds)
        except (StoreError, OSError) as error:
            return Aim(fault=str(error)[:200])
        sender = Sender(
            self._spool, influx.target, influx.pace, depot=depot.id, clock=self._clock, trouble=self._influx_trouble
        )
        feed = Feed(
            self._spool,
            Reporting(influx.changes, depot.levels.a1),
            depot=depot.id,
            areas={detector.id: detector.area for detector in depot.detectors},
            most_points=influx.pace.most_points,
            put=lambda: self._wake(sender),
        )
        return Aim(sender, feed, bounds)

    def follow(self, depot: Depot, aim: Aim) -> None:
        """Go on by a new configuration, with what `aim` made ready for it. The parts of the old one have ended."""
        self._recorder.keeping = depot.keeping
        self._take(aim)

    def beat(self, utc: int, figures: Callable[[], Mapping[str, float]]) -> None:
        """Once a second: whether the disk hangs, and the watch's own figures, which now and then go to the database."""
        self._losses.look(self._clock.now().mono, self._recorder.stands_s())
        self._say_store()
        self._recorder.revive()
        if self._sender is not None:
            self._recorder.beat(utc, figures)

    @property
    def counts(self) -> Counts:
        """What was recorded in the depot's own file, and what was not."""
        return self._recorder.counts

    def sent(self) -> Mapping[str, float]:
        """What went to the database and what waits for it (`Sender.counts`); nothing where there is none."""
        return {} if self._sender is None else self._sender.counts()

    def close(self) -> bool:
        """Record what is there. On a thread: it waits for the disk. False when something was left."""
        whole = self._recorder.close(CLOSE_WITHIN_S)
        if self._spool is not None:
            self._spool.close()
        return whole

    def _take(self, aim: Aim) -> None:
        self._sender, self._recorder.feed = aim.sender, aim.feed
        if self._spool is not None and aim.bounds is not None:
            self._spool.bounds = aim.bounds
        self._condition("influx", present=bool(aim.fault), reason="spool" if aim.fault else "", detail=aim.fault)

    def _wake(self, sender: "Sender") -> None:
        self._loop.call_soon_threadsafe(sender.wake)

    def _store_trouble(self, unwell: bool, reason: str) -> None:
        """The recorder's thread tells; the engine hears it on its own loop."""

        def hear() -> None:
            self._losses.writer(reason if unwell else "", self._clock.now().mono)
            self._say_store()

        self._loop.call_soon_threadsafe(hear)

    def _say_store(self) -> None:
        reason = self._losses.reason
        if reason != self._told:
            self._told = reason
            self._condition("store", present=bool(reason), reason=reason, detail="")

    def _influx_trouble(self, unwell: bool, reason: str, detail: str) -> None:
        self._condition("influx", present=unwell, reason=reason, detail=detail)


def readings_path(depot: Depot) -> Path:
    """Where a depot's readings stand."""
    return depot.data / layout.NAME


def spool_path(depot: Depot) -> Path:
    """Where a depot's spool stands."""
    return depot.data / spool.NAME

"""One life of the gateway in virtual time: its real parts opened on a disk that can fail, run, stopped or killed.

It is `gateway.app` without what the machine has its hand in (see `simulator.virtual`): no control socket, no web child,
no store of readings, no key.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from alerts.channels.mqtt import MqttChannel as MqttOut
from alerts.dispatcher import Channel
from dashboards.office import Enter, Reply
from gateway.depot import Channel as DescribedChannel
from gateway.depot import Depot, MqttChannel
from gateway.engine.engine import Engine
from gateway.engine.events import Committed, Effect, Event, Record
from gateway.field.leaving import let_go
from gateway.field.links import Links
from gateway.field.wiring import Ears, Outside, Wiring, build, orders
from gateway.filing import Filing
from gateway.hands import Hands
from gateway.journal import Journal, open_anyhow
from gateway.runtime import Runtime
from sensors.drivers.pacer import Pacer
from sensors.readings import Scan
from simulator.disks import LossyDisk
from simulator.field import Field
from simulator.gatehouse import Gatehouse
from simulator.virtual import VirtualClock, VirtualLoop
from simulator.virtual_threads import VirtualThreads

BEAT_S: Final = 1.0
CLOSES_WITHIN_S: Final = 1.0


class Onlooker:
    """Sees what the engine asks for and what the journal answers, before it is carried out."""

    def performs(self, effects: list[Effect]) -> None:
        """The engine's effects are about to be carried out."""

    def committed(self, ticket: int) -> None:
        """The journal holds this, and the engine is about to hear of it."""


class NoHistory:
    """Keeps no readings."""

    def take(self, scan: Scan) -> None:
        """Forget it."""

    def note(self, record: Record) -> None:
        """Forget it."""


class WatchedHands(Hands):
    """The gateway's hands, with somebody looking on. Those of a killed process do nothing."""

    onlooker: Onlooker = Onlooker()
    dead = False

    def hear(self, event: Event) -> list[Effect]:
        """Bring the engine one event."""
        if self.dead:
            return []
        if isinstance(event, Committed):
            for ticket in event.tickets:
                self.onlooker.committed(ticket)
        return super().hear(event)

    def perform(self, effects: list[Effect]) -> None:
        """Carry effects out."""
        if self.dead:
            return
        if effects:
            self.onlooker.performs(effects)
        super().perform(effects)


class Life:
    """From one start to one end.

    Attributes:
        reason: why its journal is not the one that should be; empty when all is well.
    """

    def __init__(
        self, loop: VirtualLoop, clock: VirtualClock, depot: Depot, disk: LossyDisk, field: Field, boot: str
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._depot = depot
        self._disk = disk
        self._threads = VirtualThreads(loop)
        opened = open_anyhow(depot.journal, depot=depot.id, now=clock.now(), vfs=disk.name, threads=self._threads)
        self.journal: Journal = opened.journal
        self.reason = opened.reason
        history = NoHistory()
        self._pacer = Pacer()
        self._field = field
        self.hands = WatchedHands(clock, self.journal, keeper=lambda: history, show=lambda: None)
        self._filing = Filing(clock, self.hands.hear, loop.call_soon)
        self.hands.written = self._filing.committed
        self.runtime = Runtime(self.hands.part_trouble)
        self._staff = Runtime(lambda *_: None)  # of the office, which is a process of its own
        self.wiring = self._build(depot)
        self.engine = Engine(orders(depot, self.wiring), boot, self.journal.restored, clock.now())
        self.hands.take(self.engine, self.wiring)
        self._beating: asyncio.TimerHandle | None = None
        self.office = self._open_office(depot)

    def begin(self, onlooker: Onlooker) -> None:
        """Watch."""
        self.hands.onlooker = onlooker
        self.journal.start(committed=self.hands.committed, trouble=self.hands.journal_trouble)
        self.hands.perform(self.engine.start(self._clock.now()))
        self._start_wiring()
        self._beating = self._loop.call_later(BEAT_S, self._beat)

    async def follow(self, depot: Depot) -> None:
        """Follow new orders, as the gateway does after a SIGHUP."""
        wiring = self._build(depot)
        asked = self.engine.outputs.asked
        left = await let_go(self._depot, depot, self.wiring.outputs, lambda name: asked(name, self._clock.now().mono))
        await self.runtime.end("wiring")
        await self._staff.end("wiring")
        self.wiring.give_up()
        self._depot, self.wiring, self.hands.links = depot, wiring, Links()
        effects = self.engine.reorder(orders(depot, wiring), self._clock.now(), left)
        self.hands.take(self.engine, wiring)
        self.hands.perform(effects)
        self.office = self._open_office(depot)
        self._start_wiring()

    def _build(self, depot: Depot) -> Wiring:
        def phone(channel: DescribedChannel, to: Depot, ears: Ears) -> Channel:
            if isinstance(channel, MqttChannel) and to.mqtt is not None:
                return MqttOut(channel.id, to.mqtt, to.id, ears.alarm, self._field.broker.connect)
            return self._field.phones[channel.id]

        outside = Outside(self._field.broker.connect, phone)
        return build(depot, self._clock, self._pacer, self.hands.ears(), outside)

    def _open_office(self, depot: Depot) -> Gatehouse | None:
        law = self._field.law
        return None if law is None else Gatehouse(depot, law, self._clock, self._filing, self._field.broker.connect)

    @property
    def depot(self) -> Depot:
        """The orders that it follows."""
        return self._depot

    def enter(self, asks: Sequence[Enter], heard: Callable[[Enter, Reply], None]) -> None:
        """People ask the office at once, each on their own."""
        office = self.office
        if office is None:
            return

        async def call(ask: Enter) -> None:
            heard(ask, await office.clerk.answer(ask))

        for ask in asks:
            self._staff.once("entry", partial(call, ask))

    def _start_wiring(self) -> None:
        for name, part in self.wiring.parts:
            self.runtime.start(name, part, "wiring")
        for name, part in () if self.office is None else self.office.parts:
            self._staff.start(name, part, "wiring")

    def _beat(self) -> None:
        self.hands.beat(clock_is_set=lambda: True)
        self._beating = self._loop.call_later(BEAT_S, self._beat)

    async def stop(self) -> None:
        """End in order."""
        await self.runtime.end("wiring")
        await self._staff.end("wiring")
        self.hands.perform(self.engine.stop(self._clock.now(), "signal"))
        self.hands.end()
        self._end()
        closed = self._loop.create_future()
        closing = self._threads.start(lambda: _close(self.journal), "closing")
        closing.when_ended(lambda: closed.set_result(None))
        await closed
        self.hands.dead = True
        self._process_gone(None)

    async def kill(self, survives: Callable[[], float] | None) -> None:
        """End as kill -9 does (`survives` None) or as a power cut (see `LossyDisk.back`)."""
        self.hands.dead = True
        self._end()
        self._process_gone(survives)
        await self.runtime.end("wiring")
        await self._staff.end("wiring")
        self.hands.end()

    def _process_gone(self, survives: Callable[[], float] | None) -> None:
        self._disk.cut()
        self._threads.kill()
        self.journal.close(0)
        self._disk.back(survives)

    def _end(self) -> None:
        if self._beating is not None:
            self._beating.cancel()


def _close(journal: Journal) -> None:
    journal.close(CLOSES_WITHIN_S)

"""The composition root: joins engine, hands, journal, lines, channels and screens on this machine."""

import asyncio
import contextlib
import gc
import secrets
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

import structlog

from dashboards.ports import Act, Answer, Drill, Figure, Window
from gateway.children.children import LONGEST_PAUSE_S, office_child, web_child
from gateway.configuration.loaded import Loaded
from gateway.control import ControlServer
from gateway.deeds import understood
from gateway.depot import Depot
from gateway.engine.engine import Engine
from gateway.engine.events import Record
from gateway.engine.pulse import BEAT
from gateway.field.leaving import let_go
from gateway.field.links import Links
from gateway.field.switching import bring_to_rest
from gateway.field.wiring import Wiring, build, orders, places, worst_cases
from gateway.filing import Filing
from gateway.hands import Hands
from gateway.journal import Journal, NotOursError, open_anyhow
from gateway.machine import limits
from gateway.machine.clock import SystemClock, is_set
from gateway.machine.notify import ServiceManager
from gateway.machine.sockets import ControlError
from gateway.metrics import kept_figures, watch_figures
from gateway.picture import Picture, depot_view
from gateway.recording import Recording
from gateway.reloading import NewOrders, NotFollowed, Reloads, read_anew
from gateway.runtime import Runtime
from gateway.sealing.sealing import Sealing
from gateway.showing import Showing
from sensors.drivers.pacer import Pacer
from sensors.readings import DetectorId
from sensors.stamps import SECOND, rfc3339

HEARTBEAT_S = BEAT / SECOND
JOURNAL_WITHIN_S = 1.0
"""How long the journal may take at the end to write what it still holds."""

EXIT_OK, EXIT_FAILED, EXIT_CONFIG = 0, 1, 78


class App:
    """One running gateway."""

    def __init__(self, depot: Depot, journal: Journal, sealing: Sealing, environ: dict[str, str]) -> None:
        self.clock = SystemClock()
        self._environ = environ
        self._depot = depot
        self._journal = journal
        self._sealing = sealing
        self._log = structlog.get_logger("watch")
        self._loop = asyncio.get_running_loop()
        self._manager = ServiceManager.from_environment()
        self._showing = Showing(self._show)
        self._hands = Hands(self.clock, journal, keeper=lambda: self._recording, show=self._showing.soon)
        self._runtime = Runtime(self._hands.part_trouble)
        self._pacer = Pacer()
        self._stopping = asyncio.Event()
        self._reloads = Reloads()
        self._started = self.clock.now()
        self._recording = Recording(depot, self.clock, self._hands.system)
        self._wiring = self._build(depot)
        boot = secrets.token_hex(4)
        self._engine = Engine(orders(depot, self._wiring), boot, journal.restored, self._started)
        self._hands.take(self._engine, self._wiring)
        self._picture = self._paint(depot, worst_cases(depot))
        self._filing = Filing(self.clock, self._hands.hear, self._loop.call_soon)
        self._hands.written = self._filing.committed
        self.control = ControlServer(
            depot.socket,
            picture=lambda: self._picture.snapshot(self.clock.now()),
            act=self._act,
            office=self._filing.take,
            metrics=self._metrics,
        )
        self._web = web_child(depot)

    # --- life ------------------------------------------------------------------------------------

    async def run(self, ready: Callable[[], None] | None = None) -> int:
        """Watch until told to stop. Returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._stopping.set)
        self._loop.add_signal_handler(signal.SIGHUP, self._ask_reload)
        self._journal.start(
            committed=self._hands.committed, trouble=self._hands.journal_trouble, sealed=self._sealing.take
        )
        self._sealing.start(self._loop, self._hands.system, lambda: self._wiring.mqtt_out)
        self._sealing.follow(self._depot)
        self._recording.start()
        self._runtime.start("control", self.control.run, "screens")
        self._hands.perform(self._engine.start(self.clock.now(), self._sealing.vkey))
        self._start_wiring()
        if self._web is not None:
            self._runtime.start("web", self._web.run, "web", longest_pause_s=LONGEST_PAUSE_S)
        self._open_office()
        self._pacer.beat(HEARTBEAT_S, self._beat)
        gc.collect()
        gc.freeze()  # what stands now stays for good: the collector need not walk it again while we watch
        limits.give_memory_back()
        self._manager.ready()
        self._log.info("watching", detectors=len(self._depot.detectors), page=self._page())
        if ready is not None:
            ready()
        while not self._stopping.is_set():
            await self._stopping.wait()
        return await self._end()

    async def _end(self) -> int:
        """Ordered end: ears first, then mouth, then screens; the journal last, so that it can hold everything."""
        self._manager.stopping()
        self._log.info("stopping")
        await self._runtime.end("once")  # new orders that are being taken build nothing up again
        await bring_to_rest(self._depot, self._wiring.outputs)
        await self._runtime.end("wiring")
        self._hands.perform(self._engine.stop(self.clock.now(), "signal"))
        await self._runtime.end("office")
        await self._runtime.end("web")
        await self._runtime.end("screens")
        self._hands.end()
        written = await asyncio.to_thread(self._journal.close, JOURNAL_WITHIN_S)
        await asyncio.to_thread(self._recording.close)
        await asyncio.to_thread(self._sealing.close)
        if not written:
            self._log.error("journal did not take everything", **asdict(self._journal.health()))
        return EXIT_OK if written else EXIT_FAILED

    def _build(self, depot: Depot) -> Wiring:
        return build(depot, self.clock, self._pacer, self._hands.ears())

    def _start_wiring(self) -> None:
        for name, part in (*self._wiring.parts, *self._recording.parts()):
            self._runtime.start(name, part, "wiring")
        self._sealing.hang_out()

    def _open_office(self) -> None:
        office = office_child(self._depot)
        self._runtime.start(
            "office", partial(office.run, self._hands.office_unwell), "office", longest_pause_s=LONGEST_PAUSE_S
        )

    def _paint(self, depot: Depot, worst: dict[DetectorId, tuple[float, bool]]) -> Picture:
        return Picture(
            self._engine,
            depot=depot_view(depot, self._started, self._sealing.vkey),
            worst_case_s=worst,
            places=places(depot),
            silence_s=depot.timing.silence / SECOND,
            links=self._hands.links,
        )

    # --- screens ---------------------------------------------------------------------------------

    def _beat(self, _now: float) -> None:
        """Once a second: the heartbeat of screens, watchdog and broker, from the loop that watches."""
        self._hands.beat(clock_is_set=is_set)
        self._sealing.beat()
        now = self.clock.now()
        if self.control.watched:
            self.control.push(self._picture.heartbeat(now))
        self.control.push_resting(lambda: self._picture.brief(now))
        self._showing.shown()
        self._recording.beat(now.utc, lambda: kept_figures(self._engine, self._metrics()))
        watching = self._engine.sight.count()
        alarms = len(self._engine.book)
        self._manager.alive(f"{watching}/{len(self._engine.sight.heads)} watching, {alarms} alarms")
        if self._wiring.mqtt_out is not None:
            self._wiring.mqtt_out.health(
                {"alive": True, "watching": watching, "alarms": alarms, "at": rfc3339(now.utc)}
                | self._sealing.figures()
            )
        self._pacer.beat(HEARTBEAT_S, self._beat)

    def _show(self) -> None:
        if self.control.watched:
            self.control.push(self._picture.alarm_change(self.clock.now()))

    def _act(self, ask: Act | Window | Drill) -> Answer:
        event = understood(ask, self._engine, self._picture, self.clock.now())
        if isinstance(event, str):
            return Answer(ref=ask.ref, ok=False, error=event)
        if not any(isinstance(effect, Record) for effect in self._hands.hear(event)):
            return Answer(ref=ask.ref, ok=False, error="not-possible")
        return Answer(ref=ask.ref, ok=True)

    def _metrics(self) -> tuple[Figure, ...]:
        health, restarts = self._journal.health(), self._runtime.restarts
        return watch_figures(
            self._engine, health, self._wiring, self._recording, restarts=restarts, lag_ns=self._hands.pulse.lag_ns
        )

    def _page(self) -> str:
        return "" if self._depot.web is None else f"http://{self._depot.web.host}:{self._depot.web.port}/"

    # --- new orders ------------------------------------------------------------------------------

    def _ask_reload(self) -> None:
        if not self._stopping.is_set() and self._reloads.ask():
            self._runtime.once("reload", partial(self._reloads.work, self._reload))

    async def _reload(self) -> None:
        """Read the whole file anew, and only then follow it; a file that is refused changes nothing."""
        if self._stopping.is_set():
            return
        new = await asyncio.to_thread(read_anew, self._depot, self._environ)
        if isinstance(new, NotFollowed):
            self._log.error("the old configuration stays", why=new.reason, problems=new.detail)
            self._hands.system("configuration", present=True, reason=new.reason, detail=new.detail[:200])
            return
        self._hands.system("configuration", present=False, reason="", detail="")
        self._manager.reloading()
        await self._follow(new)
        self._manager.ready()

    async def _follow(self, new: NewOrders) -> None:
        """Change over. What takes long was done before, so little lies between the old lines' end and the new start."""
        depot, wiring = new.depot, self._build(new.depot)
        aim = await asyncio.to_thread(self._recording.aim, depot)
        left = await let_go(self._depot, depot, self._wiring.outputs, self._is_asked)
        await self._runtime.end("wiring")
        self._wiring.give_up()
        self._depot, self._wiring, self._hands.links = depot, wiring, Links()
        self._sealing.follow(depot)
        self._recording.follow(depot, aim)
        effects = self._engine.reorder(orders(depot, wiring), self.clock.now(), left)
        self._hands.take(self._engine, wiring)
        self._picture = self._paint(depot, new.worst_cases)
        self.control.renew()
        self._hands.perform(effects)
        self._start_wiring()
        await self._runtime.end("office")
        self._open_office()
        web = web_child(depot)
        if web != self._web:
            await self._runtime.end("web")
            self._web = web
            if web is not None:
                self._runtime.start("web", web.run, "web", longest_pause_s=LONGEST_PAUSE_S)
        self._showing.soon()
        self._log.info("following the new configuration", detectors=len(depot.detectors), page=self._page())

    def _is_asked(self, output: str) -> bool:
        return self._engine.outputs.asked(output, self.clock.now().mono)


def run(
    loaded: Loaded, environ: dict[str, str], ready: Callable[[], None] | None = None, *, vfs: str | None = None
) -> int:
    """Open the journal and watch until SIGTERM or SIGINT. Returns the process's exit code.

    `vfs` names a registered SQLite file system, for trials of disks that are slow, full or broken.
    """
    depot = loaded.depot
    try:
        with contextlib.suppress(OSError):  # whoever needs the folder says so
            depot.data.mkdir(parents=True, exist_ok=True)
        sealing = Sealing(depot)
        opened = open_anyhow(depot.journal, depot=depot.id, now=SystemClock().now(), vfs=vfs, seal=sealing.seal)
    except NotOursError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_FAILED
    if opened.reason:
        structlog.get_logger("watch").error(
            "the journal is not what it was", reason=opened.reason, detail=opened.detail
        )

    async def watch() -> int:
        return await App(depot, opened.journal, sealing, environ).run(ready)

    try:
        return asyncio.run(watch())
    except ControlError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_FAILED

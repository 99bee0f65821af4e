"""The composition root: joins engine, journal, lines, channels and screens, and carries the engine's effects out."""

import asyncio
import contextlib
import gc
import secrets
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import assert_never

import structlog

from alerts.alarms import AlarmKey, Delivery, Outcome
from dashboards.ports import Act, Answer, Figure, Window
from gateway.clock import SystemClock, is_set
from gateway.configuration.loading import Loaded
from gateway.control import ControlError, ControlServer
from gateway.deeds import understood
from gateway.depot import Depot
from gateway.engine import Engine
from gateway.events import (
    ClockSet,
    Committed,
    Deliver,
    Delivered,
    Effect,
    Event,
    OutputReported,
    Record,
    SetOutput,
    Show,
    SystemCondition,
)
from gateway.journal import Journal, NotOursError, open_anyhow
from gateway.links import Links
from gateway.metrics import kept_figures, watch_figures
from gateway.notify import ServiceManager
from gateway.picture import Picture, depot_view
from gateway.pulse import BEAT, Pulse
from gateway.recording import Recording
from gateway.reloading import NewOrders, NotFollowed, read_anew
from gateway.runtime import Runtime
from gateway.sealing import Sealing
from gateway.webprocess import LONGEST_PAUSE_S, web_process
from gateway.wiring import Ears, Wiring, build, orders, places, speaker, worst_cases
from sensors.drivers.pacer import Pacer
from sensors.readings import DetectorId, LinkChange, Scan
from sensors.stamps import MILLISECOND, SECOND, Instant, Stamp, rfc3339

HEARTBEAT_S = BEAT / SECOND
DEADLINES_SHARE_NS = 10 * MILLISECOND
"""Deadlines of the engine wait for the next multiple of it, which is when the lines wake the process too."""
SHOW_AFTER_S = 0.05
"""Screens are told of an alarm so much later: the notices go first, and one picture shows a whole burst."""
OUTCOMES_WAITING = 100
"""Records of mere outcomes that wait for the next alarm's record or heartbeat, to share its sync of the disk."""

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
        self._runtime = Runtime(self._part_trouble)
        self._pacer = Pacer()
        self._links = Links()
        self._timer: asyncio.TimerHandle | None = None
        self._armed: Instant | None = None
        self._showing = False
        self._outcomes: list[Record] = []
        self._stopping = asyncio.Event()
        self._reloading = False
        self._started = self.clock.now()
        self._pulse = Pulse(self._started)
        self._recording = Recording(depot, self.clock, self._system)
        self._wiring = self._build(depot)
        boot = secrets.token_hex(4)
        self._engine = Engine(orders(depot, self._wiring), boot, journal.restored, self._started)
        self._picture = self._paint(depot, worst_cases(depot))
        self.control = ControlServer(
            depot.socket,
            picture=lambda: self._picture.snapshot(self.clock.now()),
            act=self._act,
            metrics=self._metrics,
        )
        self._web = web_process(depot)

    # --- life ------------------------------------------------------------------------------------

    async def run(self, ready: Callable[[], None] | None = None) -> int:
        """Watch until told to stop. Returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._stopping.set)
        self._loop.add_signal_handler(signal.SIGHUP, self._ask_reload)
        self._journal.start(committed=self._committed, trouble=self._journal_trouble, sealed=self._sealing.take)
        self._sealing.start(self._loop, self._system, lambda: self._wiring.mqtt_out)
        self._sealing.follow(self._depot)
        self._recording.start()
        self._runtime.start("control", self.control.run, "screens")
        self._perform(self._engine.start(self.clock.now(), self._sealing.vkey))
        self._start_wiring()
        if self._web is not None:
            self._runtime.start("web", self._web.run, "web", longest_pause_s=LONGEST_PAUSE_S)
        self._loop.call_later(HEARTBEAT_S, self._beat)
        gc.collect()
        gc.freeze()  # what stands now stays for good: the collector need not walk it again while we watch
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
        await self._runtime.end("wiring")
        self._perform(self._engine.stop(self.clock.now(), "signal"))
        await self._runtime.end("web")
        await self._runtime.end("screens")
        if self._timer is not None:
            self._timer.cancel()
        self._record_outcomes()
        written = await asyncio.to_thread(self._journal.close, JOURNAL_WITHIN_S)
        await asyncio.to_thread(self._recording.close)
        await asyncio.to_thread(self._sealing.close)
        if not written:
            self._log.error("journal did not take everything", **asdict(self._journal.health()))
        return EXIT_OK if written else EXIT_FAILED

    def _build(self, depot: Depot) -> Wiring:
        ears = Ears(self._scan, self._link, self._output, self._outcome, self._first_output)
        return build(depot, self.clock, self._pacer, ears)

    def _start_wiring(self) -> None:
        for name, part in (*self._wiring.parts, *self._recording.parts()):
            self._runtime.start(name, part, "wiring")
        self._sealing.hang_out()

    def _paint(self, depot: Depot, worst: dict[DetectorId, tuple[float, bool]]) -> Picture:
        return Picture(
            self._engine,
            depot=depot_view(depot, self._started, self._sealing.vkey),
            worst_case_s=worst,
            places=places(depot),
            words=speaker(depot),
            silence_s=depot.timing.silence / SECOND,
            links=self._links.views,
        )

    # --- the engine's hands ----------------------------------------------------------------------

    def _hear(self, event: Event) -> list[Effect]:
        effects = self._engine.receive(event, self.clock.now())
        self._perform(effects)
        return effects

    def _scan(self, scan: Scan) -> None:
        effects = self._engine.receive(scan, self.clock.now())
        if effects:
            self._perform(effects)
        self._recording.take(scan)

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case SetOutput():
                    self._wiring.outputs[effect.output].set(effect.on)
                case Record():
                    self._record(effect)
                case Deliver():
                    self._wiring.dispatcher.submit(effect.delivery, effect.event, effect.recorded)
                case Show():
                    self._show_soon()
                case _:
                    assert_never(effect)
        self._arm()

    def _record(self, record: Record) -> None:
        """Have it written. What channels answered may wait a second: a crash repeats a notice, it never loses one."""
        self._recording.note(record)
        self._outcomes.append(record)
        if len(self._outcomes) > OUTCOMES_WAITING or any(entry.kind != "delivery" for entry in record.entries):
            self._record_outcomes()

    def _record_outcomes(self) -> None:
        waiting, self._outcomes = self._outcomes, []
        for record in waiting:
            if not self._journal.submit(record):
                self._system("journal", present=True, reason="dropped", detail="")

    def _arm(self) -> None:
        """Keep one timer, set to the engine's next deadline; one that fires early costs nothing but a look."""
        due = self._engine.next_deadline()
        if due is None:
            return
        due = Instant(-(-due // DEADLINES_SHARE_NS) * DEADLINES_SHARE_NS)
        if self._armed is not None and self._armed <= due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._armed = due
        self._timer = self._loop.call_later(max(0, due - self.clock.now().mono) / SECOND, self._advance)

    def _advance(self) -> None:
        self._timer = self._armed = None
        self._notice_sleep()
        self._perform(self._engine.advance(self.clock.now()))
        self._arm()

    # --- ears ------------------------------------------------------------------------------------

    def _link(self, change: LinkChange) -> None:
        self._links.hear(change)
        self._hear(change)

    def _output(self, output: str, on: bool | None, reason: str) -> None:
        self._hear(OutputReported(output, on, reason, self.clock.now()))

    def _outcome(self, delivery: Delivery, outcome: Outcome) -> None:
        self._hear(Delivered(delivery, outcome, self.clock.now()))

    def _first_output(self, key: AlarmKey) -> Stamp | None:
        alarm = self._engine.book.get(key)
        return None if alarm is None else alarm.first_output

    def _system(self, subject: str, *, present: bool, reason: str, detail: str) -> None:
        self._loop.call_soon(self._hear, SystemCondition(subject, present, reason, detail, self.clock.now()))

    def _part_trouble(self, part: str, unwell: bool, reason: str) -> None:
        self._system(f"task:{part}", present=unwell, reason="ended", detail=reason)

    def _committed(self, ticket: int) -> None:
        """The journal's thread tells of a commit; the engine hears it on its own loop."""
        self._loop.call_soon_threadsafe(lambda: self._hear(Committed(ticket, self.clock.now())))

    def _journal_trouble(self, unwell: bool, reason: str) -> None:
        def hear() -> None:
            self._system("journal", present=unwell, reason=reason, detail="")

        self._loop.call_soon_threadsafe(hear)

    # --- screens ---------------------------------------------------------------------------------

    def _beat(self) -> None:
        """Once a second: the heartbeat of screens, watchdog and broker, from the loop that watches."""
        self._record_outcomes()
        self._notice_sleep()
        now = self.clock.now()
        self._pulse.beat(now)
        self.control.push(self._picture.heartbeat(now))
        self._recording.beat(now.utc, lambda: kept_figures(self._engine, self._metrics()))
        if self._engine.time.trusted:
            self._journal.alive(now.utc // MILLISECOND)
        elif is_set():
            self._hear(ClockSet(now))
        watching = sum(self._engine.sight.watching(head) for head in self._engine.sight.heads.values())
        alarms = len(self._engine.book)
        self._manager.alive(f"{watching}/{len(self._engine.sight.heads)} watching, {alarms} alarms")
        if self._wiring.mqtt_out is not None:
            self._wiring.mqtt_out.health(
                {"alive": True, "watching": watching, "alarms": alarms, "at": rfc3339(now.utc)}
                | self._sealing.figures()
            )
        self._loop.call_later(max(0.0, HEARTBEAT_S - self._pulse.lag_ns / SECOND), self._beat)

    def _notice_sleep(self) -> None:
        """Tell when this loop itself stood still: nobody watched meanwhile, and no head is to blame for its age."""
        now = self.clock.now()
        if length := self._pulse.stood_still(now):
            self._perform(self._engine.slept(length, now))
        elif self._pulse.well_again(now):
            self._system("watch", present=False, reason="", detail="")

    def _show_soon(self) -> None:
        if not self._showing:
            self._showing = True
            self._loop.call_later(SHOW_AFTER_S, self._show)

    def _show(self) -> None:
        self._showing = False
        self.control.push(self._picture.alarm_change(self.clock.now()))

    def _act(self, ask: Act | Window) -> Answer:
        event = understood(ask, self._engine, self._picture, self.clock.now())
        if isinstance(event, str):
            return Answer(ref=ask.ref, ok=False, error=event)
        if not any(isinstance(effect, Record) for effect in self._hear(event)):
            return Answer(ref=ask.ref, ok=False, error="not-possible")
        return Answer(ref=ask.ref, ok=True)

    def _metrics(self) -> tuple[Figure, ...]:
        health, restarts = self._journal.health(), self._runtime.restarts
        return watch_figures(
            self._engine, health, self._wiring, self._recording, restarts=restarts, lag_ns=self._pulse.lag_ns
        )

    def _page(self) -> str:
        return "" if self._depot.web is None else f"http://{self._depot.web.host}:{self._depot.web.port}/"

    # --- new orders ------------------------------------------------------------------------------

    def _ask_reload(self) -> None:
        if not self._reloading and not self._stopping.is_set():
            self._reloading = True
            self._runtime.once("reload", self._reload)

    async def _reload(self) -> None:
        """Read the whole file anew, and only then follow it; a file that is refused changes nothing."""
        try:
            new = await asyncio.to_thread(read_anew, self._depot, self._environ)
            if isinstance(new, NotFollowed):
                self._log.error("the old configuration stays", why=new.reason, problems=new.detail)
                self._system("configuration", present=True, reason=new.reason, detail=new.detail[:200])
                return
            self._system("configuration", present=False, reason="", detail="")
            self._manager.reloading()
            await self._follow(new)
            self._manager.ready()
        finally:
            self._reloading = False

    async def _follow(self, new: NewOrders) -> None:
        """Change over. What takes long was done before, so little lies between the old lines' end and the new start."""
        depot, wiring = new.depot, self._build(new.depot)
        aim = await asyncio.to_thread(self._recording.aim, depot)
        await self._runtime.end("wiring")
        self._depot, self._wiring, self._links = depot, wiring, Links()
        self._sealing.follow(depot)
        self._recording.follow(depot, aim)
        effects = self._engine.reorder(orders(depot, wiring), self.clock.now())
        self._picture = self._paint(depot, new.worst_cases)
        self.control.renew()
        self._perform(effects)
        self._start_wiring()
        web = web_process(depot)
        if web != self._web:
            await self._runtime.end("web")
            self._web = web
            if web is not None:
                self._runtime.start("web", web.run, "web", longest_pause_s=LONGEST_PAUSE_S)
        self._show_soon()
        self._log.info("following the new configuration", detectors=len(depot.detectors), page=self._page())


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

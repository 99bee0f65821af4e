"""The field of a drawn depot in virtual time: heads on lines and brokers, coils and phones, well or ill.

It is the truth that the checker goes by: every change of what a head shows, or of how it can be read, is told to it in
the moment it happens.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from alerts.alarms import AlarmEvent, Notice, Outcome, Verdict
from gateway.depot import Depot
from sensors.profiles import Profile
from sensors.wire.image import Image
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.points import Basis, Function, ModbusPoints
from simulator.answers import CountFault, IdFault
from simulator.checker import Checker, Shown, Sight
from simulator.disks import LossyDisk
from simulator.draws import DrawnDepot, DrawnHead, DrawnSiren
from simulator.encode import Wanted, payloads, registers, sayable
from simulator.instrument import Instrument, follow, indicate
from simulator.memory_broker import MemoryBroker
from simulator.mishaps import MISHAPS, Mishap, Place
from simulator.pipes import NetLoop
from simulator.scripted import ScriptedServer, ScriptedUnit

STEP_S: Final = 1.0
"""How often a head in changing gas shows another number."""

PUBLISHES_S: Final = 1.0
RISES_S: Final = 4.0
STILL_LEL: Final = 0.05
"""%LEL below which a head that no gas reaches shows nothing."""

NONSENSE_LEL: Final = -60.0
NOT_A_NUMBER: Final = {0: 0x7FC0, 1: 0}
SERIES: Final = Instrument(t90_s=6.0, warm_up_s=0.0)
WORST_FIRST: Final = (Sight.SILENT, Sight.BAD, Sight.DOUBTFUL)


@dataclass(slots=True)
class FieldHead:
    """One head: what reaches it, what it senses, what is wrong on the way to it.

    Attributes:
        sequence: number of its last message.
        held: a message that waits to be overtaken.
        said: a number with the topic and payload that say it, but for the sequence.
    """

    drawn: DrawnHead
    profile: Profile
    basis: Basis
    lel: float = 0.0
    sensed: float = 0.0
    leaks: list[tuple[float, float, float]] = field(default_factory=list)
    stepping: bool = False
    mishaps: list[str] = field(default_factory=list)
    sequence: int = 0
    held: bytes | None = None
    said: tuple[float, str, bytes] | None = None


class Coils(dict[int, bool]):
    """The coils of a unit; every change is told."""

    def __init__(self, told: Callable[[int, bool], None]) -> None:
        super().__init__()
        self._told = told

    def __setitem__(self, coil: int, on: bool) -> None:
        if self.get(coil) is not on:
            super().__setitem__(coil, on)
            self._told(coil, on)


class Phone:
    """One way of telling people, whichever gateway uses it. What it took is told to the checker."""

    counts = True
    parallel = 4
    attempt_timeout_s = 3.0

    def __init__(self, id: str, took: Callable[["Phone", Notice], None]) -> None:  # noqa: A002 - the noun
        self.id = id
        self.mood = "well"
        self.attempts = 0
        self._took = took

    async def run(self) -> None:
        """Nothing to keep."""
        await asyncio.Event().wait()

    async def deliver(self, notice: Notice) -> Outcome:
        """Take a notice, or do with it what its mood is."""
        self.attempts += 1
        match self.mood:
            case "hung":
                await asyncio.sleep(60.0)
            case "failing":
                await asyncio.sleep(0.02)
                return Outcome(Verdict.RETRY, "HTTP 503")
            case "refusing":
                await asyncio.sleep(0.02)
                return Outcome(Verdict.REFUSED, "HTTP 400")
        await asyncio.sleep(0.05)
        self._took(self, notice)
        if self.mood == "takes-and-hangs":
            await asyncio.sleep(60.0)
        return Outcome(Verdict.ACCEPTED)


class Field:
    """Everything outside the gateway's process, but for its disk, which has troubles of its own."""

    def __init__(self, loop: NetLoop, drawn: DrawnDepot, depot: Depot, disk: LossyDisk, checker: Checker) -> None:
        self.broker = MemoryBroker()
        self.phones = {channel.id: Phone(channel.id, self._phone_took) for channel in depot.channels}
        self.last_taken: Callable[[str, AlarmEvent], None] = lambda _phone, _event: None
        self._loop = loop
        self._disk = disk
        self._checker = checker
        self._began = loop.time()
        self._lines = {
            bus.id: ScriptedServer(serial=bus.serial, rtu=bus.rtu, mute_wait_s=1.0, service_s=0.01)
            for bus in drawn.buses
        }
        self._ignores_ids = {bus.id for bus in drawn.buses if bus.ignores_ids}
        self._rtu = {bus.id for bus in drawn.buses if bus.rtu}
        self._sirens = {siren.id: siren for siren in drawn.sirens}
        self._ill_lines: dict[str, list[str]] = {bus.id: [] for bus in drawn.buses}
        self._ill_coils: dict[str, list[str]] = {siren.id: [] for siren in drawn.sirens}
        self._ill_phones: dict[str, list[str]] = {name: [] for name in self.phones}
        self._ill_broker: list[str] = []
        self._ill_disk: list[str] = []
        installed: dict[str, tuple[Profile, Basis]] = {}
        for wired in depot.buses:
            installed |= {str(head.detector): (head.profile, head.basis) for head in wired.heads}
        installed |= {str(head.detector): (head.profile, head.basis) for head in depot.mqtt_heads}
        self.heads = {head.id: FieldHead(head, *installed[head.id]) for head in drawn.heads}
        for bus in drawn.buses:
            line = self._lines[bus.id]
            line.port = bus.port
            line.log = deque(maxlen=0)
            line.units = {head.unit: ScriptedUnit() for head in drawn.heads if head.bus == bus.id}
        for siren in drawn.sirens:
            unit = self._lines[siren.bus].units.setdefault(siren.unit, ScriptedUnit())
            if not isinstance(unit.coils, Coils):
                unit.coils = Coils(self._switched)
            unit.coils[siren.coil] = False

    async def begin(self) -> None:
        """Everything is switched on."""
        for line in self._lines.values():
            await line.start()
        for head in self.heads.values():
            self._show(head)
            if not head.drawn.bus:
                self._publish_on(head)

    # --- gas -------------------------------------------------------------------------------------

    def leak(self, name: str, lasts: float, size: float) -> None:
        """Gas comes to a head, stays, and goes."""
        head, now = self.heads[name], self._loop.time()
        head.leaks.append((now, now + lasts, size))
        if not head.stepping:
            head.stepping = True
            self._step(head)

    def _step(self, head: FieldHead) -> None:
        now = self._loop.time()
        gas = max((_reaching(leak, now) for leak in head.leaks), default=0.0)
        head.leaks = [leak for leak in head.leaks if leak[1] > now]
        head.sensed = follow(head.sensed, gas, STEP_S, SERIES.t90_s)
        if not head.leaks and head.sensed < STILL_LEL:
            head.sensed = 0.0
        lel = round(indicate(SERIES, head.sensed, 0.0).lel_pct, 1)
        if lel != head.lel:
            head.lel = lel
            self._show(head)
        if head.leaks or head.sensed:
            self._loop.call_later(STEP_S, self._step, head)
        else:
            head.stepping = False

    # --- faults ----------------------------------------------------------------------------------

    async def strike(self, what: str, target: str) -> None:
        """A fault begins."""
        mishap = MISHAPS[what]
        self._afflicted(mishap, target).append(what)
        await self._apply(mishap, target, on=True)

    async def heal(self, what: str, target: str) -> None:
        """A fault is over."""
        mishap = MISHAPS[what]
        self._afflicted(mishap, target).remove(what)
        await self._apply(mishap, target, on=False)

    def _afflicted(self, mishap: Mishap, target: str) -> list[str]:
        match mishap.place:
            case Place.UNIT | Place.TOPIC:
                return self.heads[target].mishaps
            case Place.LINE:
                return self._ill_lines[target]
            case Place.BROKER:
                return self._ill_broker
            case Place.COIL:
                return self._ill_coils[target]
            case Place.PHONE:
                return self._ill_phones[target]
            case Place.DISK:
                return self._ill_disk

    async def _apply(self, mishap: Mishap, target: str, *, on: bool) -> None:
        match mishap.place:
            case Place.UNIT | Place.TOPIC:
                self._fit_head(self.heads[target], mishap, on=on)
            case Place.LINE:
                await self._fit_line(target, mishap, on=on)
                self._way_changed(target)
            case Place.BROKER:
                self._fit_broker()
                self._way_changed("")
            case Place.COIL:
                self._fit_coil(self._sirens[target], mishap, on=on)
            case Place.PHONE:
                phone, ill = self.phones[target], self._ill_phones[target]
                phone.mood = str(MISHAPS[ill[-1]].changes["mood"]) if ill else "well"
                self._checker.way_out(self._loop.time(), target, well=not ill)
            case Place.DISK:
                self._fit_disk()

    def _way_changed(self, line: str) -> None:
        """Whoever is reached over this line, or (empty) over the broker, is reached otherwise from now on."""
        for head in self.heads.values():
            if head.drawn.bus == line:
                self._show(head)
        for siren in self._sirens.values():
            if siren.bus == line:
                self._look_at_siren(siren)

    def _fit_head(self, head: FieldHead, mishap: Mishap, *, on: bool) -> None:
        self._fit_unit(head)
        self._show(head)
        if mishap.changes.get("kept") and on:
            self._keep(head)

    def _fit_unit(self, head: FieldHead) -> None:
        if not head.drawn.bus:
            return
        unit = self._lines[head.drawn.bus].units[head.drawn.unit]
        unit.silent, unit.delay_s, unit.exception, unit.garbage = False, 0.0, None, None
        unit.wrong_unit, unit.id_fault, unit.count_fault, unit.length_error = None, None, None, 0
        unit.repeat, unit.cut_s = 1, 0.0
        for what in head.mishaps:
            for name, value in MISHAPS[what].changes.items():
                if name == "id_fault":
                    unit.id_fault = IdFault(value)
                elif name == "count_fault":
                    unit.count_fault = CountFault(value)
                elif name != "word":
                    setattr(unit, name, value)
        line = self._lines[head.drawn.bus]
        if (line.serial or line.rtu) and unit.delay_s > line.mute_wait_s:
            unit.silent = True  # its gateway has given up by then; on RTU `late_ms` says that nobody is so slow

    async def _fit_line(self, name: str, mishap: Mishap, *, on: bool) -> None:
        line, ill = self._lines[name], self._ill_lines[name]
        changes = {key for what in ill for key in MISHAPS[what].changes}
        line.mute = bool(changes & {"mute", "unplugged"})
        line.frozen = "frozen" in changes
        if "unplugged" in changes:
            self._loop.dead_ports.add(line.port)
        else:
            self._loop.dead_ports.discard(line.port)
        if "refuses" in mishap.changes:
            if on:
                await line.stop()
            elif "refuses" not in changes:
                await line.start()
        if "resets" in mishap.changes and on:
            line.reset()

    def _fit_broker(self) -> None:
        changes = {key for what in self._ill_broker for key in MISHAPS[what].changes}
        if "gone" in changes and not self.broker.gone:
            self.broker.drop()
        self.broker.gone = "gone" in changes
        if "mute" in changes and not self.broker.mute:
            self.broker.fall_mute()
        self.broker.mute = "mute" in changes

    def _fit_coil(self, siren: DrawnSiren, mishap: Mishap, *, on: bool) -> None:
        unit = self._lines[siren.bus].units[siren.unit]
        if "stuck" in mishap.changes:
            if any("stuck" in MISHAPS[what].changes for what in self._ill_coils[siren.id]):
                unit.stuck_coils.add(siren.coil)
            else:
                unit.stuck_coils.discard(siren.coil)
        if "switched_off" in mishap.changes and on:
            unit.coils[siren.coil] = False
        self._look_at_siren(siren)

    def _fit_disk(self) -> None:
        disk = self._disk
        changes: dict[str, Any] = {}
        for what in self._ill_disk:
            changes |= MISHAPS[what].changes
        disk.sync_s = changes.get("sync_s", 0.0)
        disk.failing = changes.get("failing", False)
        disk.free_bytes = changes.get("free_bytes")

    def _look_at_siren(self, siren: DrawnSiren) -> None:
        if siren.kind != "siren":
            return
        ill = [*self._ill_lines[siren.bus], *self._ill_coils[siren.id]]
        self._checker.way_out(self._loop.time(), siren.id, well=not ill)

    # --- what a head shows -----------------------------------------------------------------------

    def _show(self, head: FieldHead) -> None:
        """Put what it shows where it is read, and tell the checker how it can be read."""
        if head.drawn.bus:
            unit = self._lines[head.drawn.bus].units[head.drawn.unit]
            image = self._image(head)
            unit.holding = dict(image.cells.get(Function.HOLDING, {}))
            unit.inputs = dict(image.cells.get(Function.INPUT, {}))
            if head.drawn.kind == "float" and self._word(head):
                unit.inputs.update({head.drawn.register + at: word for at, word in NOT_A_NUMBER.items()})
        self._checker.shown(self._loop.time(), head.drawn.id, Shown(self._sight(head), head.lel))

    def _image(self, head: FieldHead) -> Image:
        points = head.profile.points
        assert isinstance(points, ModbusPoints)
        word = self._word(head)
        if word and word not in sayable(points):
            word = "fault" if "fault" in sayable(points) else "nonsense"
        if word == "nonsense":
            return registers(points, head.basis, Wanted(NONSENSE_LEL), head.drawn.unit)
        if not word and head.lel >= SERIES.full_scale:
            word = "over_range"
        return registers(points, head.basis, Wanted(head.lel, word or "measuring"), head.drawn.unit)

    @staticmethod
    def _word(head: FieldHead) -> str:
        return next(
            (str(MISHAPS[what].changes["word"]) for what in head.mishaps if "word" in MISHAPS[what].changes), ""
        )

    def _sight(self, head: FieldHead) -> Sight:
        way = self._ill_lines[head.drawn.bus] if head.drawn.bus else self._ill_broker
        found = [self._severity(what, head) for what in (*head.mishaps, *way)]
        worst = next((sight for sight in WORST_FIRST if sight in found), Sight.PLAIN)
        # two harmless faults at once may well cost a poll and its retry
        return Sight.DOUBTFUL if worst is Sight.PLAIN and len(found) > 1 else worst

    def _severity(self, what: str, head: FieldHead) -> Sight:
        bus, mishap = head.drawn.bus, MISHAPS[what]
        if "id_fault" in mishap.changes and (bus in self._ignores_ids or bus in self._rtu):
            return Sight.PLAIN
        if "length_error" in mishap.changes and bus in self._rtu:
            return Sight.DOUBTFUL  # noise behind a whole frame
        return mishap.sight

    # --- MQTT ------------------------------------------------------------------------------------

    def _publish_on(self, head: FieldHead) -> None:
        self._loop.call_later(PUBLISHES_S, self._publish_on, head)
        changes: dict[str, Any] = {}
        for what in head.mishaps:
            changes |= MISHAPS[what].changes
        if changes.get("quiet"):
            return
        head.sequence += 1
        topic, payload = self._payload(head)
        if changes.get("garbled"):
            payload = b'{"lel": ' + payload[:5]
        if not changes.get("swapped"):
            head.held = None
        else:
            held, head.held = head.held, None if head.held is not None else payload
            if held is None:
                return
            self.broker.publish(topic, payload)
            payload = held
        if changes.get("late_s"):
            self._loop.call_later(changes["late_s"], self.broker.publish, topic, payload)
            return
        self.broker.publish(topic, payload)
        if changes.get("twice"):
            self.broker.publish(topic, payload)

    def _keep(self, head: FieldHead) -> None:
        topic, payload = self._payload(head)
        self.broker.keep(topic, payload)

    @staticmethod
    def _payload(head: FieldHead) -> tuple[str, bytes]:
        if head.said is None or head.said[0] != head.lel:
            points = head.profile.points
            assert isinstance(points, PayloadPoints)
            word = "over_range" if head.lel >= SERIES.full_scale else "measuring"
            ((topic, payload),) = payloads(points, f"depot/{head.drawn.id}", head.basis, Wanted(head.lel, word))
            head.said = head.lel, topic, payload
        _, topic, payload = head.said
        return topic, payload.replace(b'"seq": 0', b'"seq": %d' % head.sequence)

    # --- the ways out ----------------------------------------------------------------------------

    def _switched(self, coil: int, on: bool) -> None:
        for siren in self._sirens.values():
            if siren.coil == coil:
                self._checker.coil(self._loop.time(), siren.id, on=on)

    def _phone_took(self, phone: Phone, notice: Notice) -> None:
        self._checker.told(self._loop.time(), notice.event)
        self.last_taken(phone.id, notice.event)


def _reaching(leak: tuple[float, float, float], now: float) -> float:
    began, ends, size = leak
    if now >= ends:
        return 0.0
    return size * min(1.0, (now - began + STEP_S) / RISES_S)

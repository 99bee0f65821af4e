"""The field of a drawn depot in virtual time: heads on lines and brokers, coils and phones, well or ill.

It is the truth that the checker goes by: every change of what a head shows, or of how it can be read, is told to it in
the moment it happens.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Final, assert_never

from alerts.alarms import Cause, Level, Notice
from gateway.depot import Depot, WebhookChannel
from gateway.office.law import law_of
from sensors.profiles import Profile
from sensors.wire.units import Basis
from simulator.answers import CountFault, IdFault, ScriptedUnit
from simulator.boards import Boards
from simulator.checker import Checker
from simulator.disks import LossyDisk
from simulator.drawn_file import AREA
from simulator.drawn_heads import STEP_S, FieldHead
from simulator.drawn_yards import Spills
from simulator.draws import DrawnDepot
from simulator.feeds import Feeds
from simulator.memory_broker import MemoryBroker
from simulator.mishaps import MISHAPS, Mishap, Place
from simulator.noticeboard import Noticeboard
from simulator.papers import Papers
from simulator.phones import Phone
from simulator.pipes import NetLoop
from simulator.promises import Shown, Sight
from simulator.rounds import Rounds
from simulator.scripted import ScriptedServer
from simulator.stock import Stock
from simulator.turnstiles import Turnstiles

PUBLISHES_S: Final = 1.0
KEEPS_THE_STREAM: Final = frozenset({"silent", "exception", "word"})
"""Faults of a head that leave its line as it was for all others."""

WORST_FIRST: Final = (Sight.SILENT, Sight.BAD, Sight.DOUBTFUL)


class Field:
    """Everything outside the gateway's process, but for its disk, which has troubles of its own."""

    def __init__(
        self, loop: NetLoop, drawn: DrawnDepot, depot: Depot, disk: LossyDisk, checker: Checker, rounds: Rounds
    ) -> None:
        self.broker = MemoryBroker()
        telephones = (channel.id for channel in depot.channels if isinstance(channel, WebhookChannel))
        self.phones = {name: Phone(name, self._phone_took) for name in telephones}
        self.last_taken: Callable[[str, str], None] = lambda _phone, _event: None
        self._loop = loop
        self._disk = disk
        self._checker = checker
        self._rounds = rounds
        self._spills = Spills(drawn.yard) if drawn.yard is not None else None
        self._lines = {
            bus.id: ScriptedServer(serial=bus.serial, rtu=bus.rtu, mute_wait_s=1.0, service_s=0.01)
            for bus in drawn.buses
        }
        self._ignores_ids = {bus.id for bus in drawn.buses if bus.ignores_ids}
        self._rtu = {bus.id for bus in drawn.buses if bus.rtu}
        self._ill_ways: dict[str, list[str]] = {name: [] for name in ("", *(bus.id for bus in drawn.buses))}
        self._ill_phones: dict[str, list[str]] = {name: [] for name in self.phones}
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
        self._boards = Boards(drawn.sirens, self._lines, self.broker, self._ill_ways, checker, rounds, loop.time)
        self._feeds = Feeds(
            drawn.supplies, self._lines, self.broker, self._ill_ways, rounds.mains, loop, self._never_rests
        )
        self.stock = Stock({gate.id: gate.act for gate in drawn.gates}, AREA, rounds.expect)
        self.papers = Papers(rounds.expect)
        self.law = law_of(depot) if drawn.gates or drawn.registers else None
        self.turnstiles = Turnstiles(drawn.gates, self.broker, self.stock, loop)
        self._noticeboard = drawn.noticeboard
        if drawn.noticeboard:
            rounds.board = Noticeboard(depot.id, drawn.noticeboard, self.broker, self._board_took)

    async def begin(self) -> None:
        """Everything is switched on."""
        for line in self._lines.values():
            await line.start()
        self._feeds.begin()
        self.turnstiles.begin()
        for head in self.heads.values():
            self._show(head)
            if not head.drawn.bus:
                self._publish_on(head)

    # --- gas -------------------------------------------------------------------------------------

    def leak(self, name: str, lasts: float, size: float) -> None:
        """Gas comes to a head, stays, and goes; in a yard it comes out of the ground there, and spreads."""
        head, now = self.heads[name], self._loop.time()
        if self._spills is not None:
            begins = self._spills.dry and not any(each.in_gas for each in self.heads.values())
            self._spills.leak(now, head.drawn, lasts, size)
            if begins:
                self._step_yard(self._spills)
            return
        head.leaks.append((now, now + lasts, size))
        if not head.stepping:
            head.stepping = True
            self._step(head)

    def clear_air(self) -> None:
        """What lies in a yard is blown away."""
        if self._spills is not None:
            self._spills.clear()

    def _step(self, head: FieldHead) -> None:
        if head.step(self._loop.time()):
            self._show(head)
        if head.in_gas:
            self._loop.call_later(STEP_S, self._step, head)
        else:
            head.stepping = False

    def _step_yard(self, spills: Spills) -> None:
        now = self._loop.time()
        spills.advance(now)
        for head in self.heads.values():
            if head.step(now, spills.at(head.drawn)):
                self._show(head)
        spills.forget(now, [head.drawn for head in self.heads.values()])
        if not spills.dry or any(head.in_gas for head in self.heads.values()):
            self._loop.call_later(STEP_S, self._step_yard, spills)

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
                ill = self.heads[target].mishaps
            case Place.LINE:
                ill = self._ill_ways[target]
            case Place.BROKER:
                ill = self._ill_ways[""]
            case Place.COIL:
                ill = self._boards.ill[target]
            case Place.PHONE:
                ill = self._ill_phones[target]
            case Place.SUPPLY:
                ill = self._feeds.ill[target]
            case Place.DISK:
                ill = self._ill_disk
            case _:
                assert_never(mishap.place)
        return ill

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
                self._boards.fit(target, mishap, on=on)
                if "hinders" in mishap.changes:
                    self._way_changed(self._boards.line_of(target))
            case Place.PHONE:
                phone, ill = self.phones[target], self._ill_phones[target]
                phone.mood = str(MISHAPS[ill[-1]].changes["mood"]) if ill else "well"
                self._checker.way_out(self._loop.time(), target, well=not ill)
                self._rounds.phone(self._loop.time(), target, well=not ill)
            case Place.SUPPLY:
                self._feeds.fit(target, mishap, on=on)
            case Place.DISK:
                self._fit_disk()
                self.stock.way(self._loop.time(), "disk", well=not self._ill_disk)
                self.papers.way(self._loop.time(), well=not self._ill_disk)

    def _way_changed(self, line: str) -> None:
        """Whoever is reached over this line, or (empty) over the broker, is reached otherwise from now on."""
        for head in self.heads.values():
            if head.drawn.bus == line:
                self._show(head)
        self._boards.line_changed(line)
        self._feeds.line_changed(line)
        if not line:
            self.stock.way(self._loop.time(), "broker", well=not self._ill_ways[""])
        if not line and self._rounds.board is not None:
            now = self._loop.time()
            self._checker.way_out(now, self._noticeboard, well=not self._ill_ways[""])
            self._rounds.board.restless(now)

    def _never_rests(self, line: str) -> bool:
        """Whether those on this line answer so slowly or so badly that whoever is not urgent may not be asked.

        Where the only heads are mute, a gateway to a serial line is held by the looks for them.
        """
        heads = [head for head in self.heads.values() if head.drawn.bus == line]
        ill = [[MISHAPS[what] for what in head.mishaps if MISHAPS[what].sight is not Sight.PLAIN] for head in heads]
        bad = any(not each.changes.keys() & KEEPS_THE_STREAM for some in ill for each in some)
        alone = bool(heads) and all(ill) and line not in self._rtu
        return bad or alone or self._boards.hinders(line)

    def _fit_head(self, head: FieldHead, mishap: Mishap, *, on: bool) -> None:
        self._fit_unit(head)
        self._show(head)
        self._feeds.line_changed(head.drawn.bus)
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
        line, ill = self._lines[name], self._ill_ways[name]
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
        changes = {key for what in self._ill_ways[""] for key in MISHAPS[what].changes}
        if "gone" in changes and not self.broker.gone:
            self.broker.drop()
        self.broker.gone = "gone" in changes
        if "mute" in changes and not self.broker.mute:
            self.broker.fall_mute()
        self.broker.mute = "mute" in changes

    def _fit_disk(self) -> None:
        disk = self._disk
        changes: dict[str, Any] = {}
        for what in self._ill_disk:
            changes |= MISHAPS[what].changes
        disk.sync_s = changes.get("sync_s", 0.0)
        disk.failing = changes.get("failing", False)
        disk.free_bytes = changes.get("free_bytes")

    # --- what a head shows -----------------------------------------------------------------------

    def _show(self, head: FieldHead) -> None:
        """Put what it shows where it is read, and tell the checker how it can be read."""
        if head.drawn.bus:
            unit = self._lines[head.drawn.bus].units[head.drawn.unit]
            head.show(unit)
        self._checker.shown(self._loop.time(), head.drawn.id, Shown(self._sight(head), head.lel))

    def _sight(self, head: FieldHead) -> Sight:
        way = self._ill_ways[head.drawn.bus]
        found = [self._severity(what, head) for what in (*head.mishaps, *way)]
        if self._boards.hinders(head.drawn.bus):
            found.append(Sight.DOUBTFUL)
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
        topic, payload = head.payload()
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
        topic, payload = head.payload()
        self.broker.keep(topic, payload)

    # --- the ways out ----------------------------------------------------------------------------

    def _phone_took(self, phone: Phone, notice: Notice) -> None:
        self._checker.told(self._loop.time(), notice.event)
        self._rounds.told(self._loop.time(), phone.id, notice.event)
        self.last_taken(phone.id, notice.event.id)

    def _board_took(self, cause: str, subject: str, level: str, event: str) -> None:
        self._checker.told_of(self._loop.time(), Cause(cause), subject, Level[level] if level else None)
        self.last_taken(self._noticeboard, event)

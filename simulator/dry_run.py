"""Plays a scenario in virtual time: its world, its heads, the real decoders and the real engine; no wire between.

What befalls a wire is put in its outcome: an answer that no driver would believe is a silence, an exception code a
fault. Which frames lead to that outcome, only `simulator.plant` and its tests on real sockets show.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from alerts.alarms import Kind
from gateway.configuration.loading import load as load_depot
from gateway.depot import Depot
from gateway.engine.events import Action, Deliver, Effect, OpenWindow, Record, SystemCondition, WindowKind
from gateway.engine.orders import Orders
from gateway.field.wiring import Ears, build, orders
from gateway.machine.clock import SystemClock
from sensors.drivers.modbus import ModbusHead, installed_head
from sensors.drivers.mqtt import MqttHead
from sensors.drivers.pacer import Pacer
from sensors.quality import Movement, silence, unusable
from sensors.readings import DetectorId, Reading, Scan, Status
from sensors.stamps import SECOND, Stamp
from sensors.wire.documents import GarbledPayloadError
from sensors.wire.image import Image
from sensors.wire.listener import Listener, MqttPoints
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.places import Function
from sensors.wire.registers import Block, InstalledHead, plan
from sensors.wire.words import Stretch
from simulator.depot_file import Ports, render
from simulator.expectations import Told
from simulator.happenings import Happening, On, What
from simulator.room import Room
from simulator.speech import Speech, swap_words
from simulator.yard import TICK_S, Course, Scenario, Yard
from simulator.yard_file import PUBLISH_S

UNBELIEVED: Final = frozenset({What.SILENT, What.GARBAGE, What.WRONG_ID, What.WRONG_UNIT, What.OUT_OF_ORDER})
"""What a driver of Modbus makes a silence of."""
BEGIN_S: Final = 100.0
"""Where the virtual clock stands at second 0."""
PORT: Final = 5020
TESTER: Final = "Técnico"
"""Who opens test windows."""


@dataclass
class _WatchRoom(Room):
    """A room that keeps what its watch told, by seconds of the scenario."""

    news: list[Told] = field(default_factory=list)

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            t_s = round(self.at - BEGIN_S, 3)
            match effect:
                case Record():
                    for entry in effect.entries:
                        if entry.kind == "alarm":
                            body = entry.body
                            level = body.get("level")
                            self.news.append(
                                Told(t_s, str(body["subject"]), str(body["kind"]), str(body["event"]), str(level or ""))
                            )
                case Deliver(delivery, event, _):
                    level = event.level.name if event.level is not None else ""
                    self.news.append(
                        Told(t_s, event.key.subject, event.key.kind.value, event.cause.value, level, delivery.recipient)
                    )
                case _:
                    pass
        super()._do(effects)


def outcome(scenario: Scenario) -> list[Told]:
    """Return what a watch over this yard tells, from second 0 to the scenario's end."""
    return DryRun(scenario, depot_of(scenario.yard)).run()


def depot_of(yard: Yard) -> Depot:
    """Return the depot as the demo's file for this yard describes it."""
    ports = Ports({line.id: PORT + number for number, line in enumerate(yard.tcp_lines())}, 1883, 8080)
    with tempfile.TemporaryDirectory(prefix="vigia-dry-run-") as folder:
        file = Path(folder) / "depot.toml"
        file.write_text(render(yard, ports, datetime.now(UTC).date(), "pt-BR", folder), encoding="utf-8")
        return load_depot(file, {}).depot


class DryRun:
    """One scenario, one engine, one virtual clock."""

    def __init__(self, scenario: Scenario, depot: Depot) -> None:
        self._scenario = scenario
        self._course = Course(scenario)
        self._speeches = {head.id: Speech(head) for head in scenario.yard.heads}
        self._beats = dict.fromkeys(self._speeches, 0)
        self._blocks = {bus.settings.id: _blocks(bus.heads) for bus in depot.buses}
        self._listeners = {head.detector: _listener(head) for head in depot.mqtt_heads}
        self._errands: list[tuple[float, Action, str, str]] = []
        self._heard = 0
        self._room = _WatchRoom(_orders(depot), at=BEGIN_S)

    def run(self) -> list[Told]:
        """Play it to its end."""
        while self._course.t_s < self._scenario.lasts_s:
            self._course.step()
            if self._host():
                self._lines()
                self._heads_on_mqtt()
                self._people()
                self._room.wait(TICK_S)
        return self._room.news

    # --- what befalls the machine of the watch

    def _host(self) -> bool:
        """Let happenings of the host begin and end; tell whether the watch runs."""
        running = True
        for each in self._scenario.on(On.HOST):
            begins, ends = self._is_now(each.at_s), self._is_now(each.until_s)
            match each.what:
                case What.POWER_CUT if ends:
                    news = self._room.news
                    self._room = self._room.crash(down_s=each.until_s - each.at_s, news=news)  # type: ignore[assignment]
                case What.POWER_CUT:
                    running = running and not each.holds(self._course.t_s)
                case What.CLOCK_STEP if begins:
                    self._room.skew_s += each.amount
                case What.DISK_FULL if begins or ends:
                    self._room.commit_s = None if begins else 0.001
                    self._room.give(SystemCondition("journal", begins, "disk-full", "", self._room.now()))
                case _:
                    pass
        return running

    def _is_now(self, t_s: float) -> bool:
        return t_s <= self._course.t_s < t_s + TICK_S

    # --- the wires

    def _lines(self) -> None:
        for line in self._scenario.yard.lines:
            befalls = [each for each in self._scenario.of(line.id) if each.holds(self._course.t_s)]
            cut = any(each.what is What.CUT for each in befalls)
            for each in self._scenario.of(line.id):
                if each.what is What.CUT and (self._is_now(each.at_s) or self._is_now(each.until_s)):
                    self._room.link(up=not cut, source=line.id)
            if self._course.tick % max(1, round(line.period_ms / 1000 / TICK_S)):
                continue
            for block in self._blocks[line.id]:
                self._poll(line.id, block, dead=cut or any(each.what is What.MUTE for each in befalls))

    def _poll(self, line: str, block: Block, *, dead: bool) -> None:
        now = self._room.now()
        heads = [str(head.detector) for head in block.heads]
        befalls = [each for head in heads for each in self._scenario.of(head) if each.holds(self._course.t_s)]
        late_s = self._scenario.yard.line(line).timeout_ms / 1000
        code = next((each.amount for each in befalls if each.what is What.EXCEPTION), None)
        late = any(each.what is What.SLOW and each.amount >= late_s for each in befalls)
        readings: tuple[Reading, ...]
        if dead or late or any(each.what in UNBELIEVED for each in befalls):
            readings = tuple(silence(DetectorId(head), "timeout", now) for head in heads)
        elif code is not None:
            reason = f"exception-{code:g}"
            readings = tuple(unusable(DetectorId(head), Status.FAULT, reason, None, now) for head in heads)
        else:
            readings = self._answered(block, heads, befalls, now)
        self._room.give(Scan(line, readings, now))

    def _answered(self, block: Block, heads: list[str], befalls: list[Happening], now: Stamp) -> tuple[Reading, ...]:
        image = Image()
        for head in heads:
            shown = self._course.shown[head]
            speech = self._speeches[head]
            speech.image(speech.wanted(shown, self._beat(head)), image)
        if any(each.what is What.SWAPPED for each in befalls):
            swap_words(image, self._speeches[heads[0]])
        reads = [
            Stretch(Function(ask.function), int.from_bytes(ask.tail[6:8], "big"), int.from_bytes(ask.tail[8:10], "big"))
            for ask in block.asks
        ]
        return block.readings(image.words(reads), 0, now)

    def _heads_on_mqtt(self) -> None:
        gone = any(each.holds(self._course.t_s) for each in self._scenario.on(On.BROKER))
        for each in self._scenario.on(On.BROKER):
            if self._is_now(each.at_s) or self._is_now(each.until_s):
                self._room.link(up=not gone, source="mqtt")
        if gone or self._course.tick % round(PUBLISH_S / TICK_S):
            return
        for head, wire in self._scenario.yard.mqtt_heads():
            befalls = {each.what for each in self._scenario.of(head.id) if each.holds(self._course.t_s)}
            if What.SILENT in befalls:
                continue
            speech = self._speeches[head.id]
            messages = speech.messages(wire.topic, speech.wanted(self._course.shown[head.id], self._beat(head.id)))
            for topic, payload in messages:
                for _ in range(2 if What.DUPLICATE in befalls else 1):
                    self._hear(head.id, topic, b"\xff{" if What.GARBAGE in befalls else payload)

    def _hear(self, head: str, topic: str, payload: bytes) -> None:
        now, listener = self._room.now(), self._listeners[DetectorId(head)]
        try:
            heard = listener.hear(topic, payload, now)
        except GarbledPayloadError:
            heard = (listener.garbled(now),)
        for reading in heard:
            if isinstance(reading, Reading):
                self._room.give(Scan("mqtt", (reading,), now))

    def _beat(self, head: str) -> int:
        self._beats[head] += 1
        return self._beats[head]

    # --- people

    def _people(self) -> None:
        """Send people on their errands for what was told since, and let those act whose time has come."""
        t_s = self._course.t_s
        for deed in self._scenario.happenings:
            if deed.what is What.TEST_WINDOW and self._is_now(deed.at_s):
                length = round(deed.amount * 60 * SECOND)
                window = OpenWindow(WindowKind.TEST, deed.target, length, TESTER, "simulado", self._room.now())
                self._room.give(window)
        for each in self._room.news[self._heard :]:
            if each.kind != Kind.GAS.value or each.recipient:
                continue
            for person in self._scenario.people:
                if each.event in ("raised", "risen") and person.acknowledges_after_s is not None:
                    self._errands.append(
                        (each.t_s + person.acknowledges_after_s, Action.ACKNOWLEDGE, each.subject, person.name)
                    )
                if each.event == "cleared" and person.resets_after_s is not None:
                    self._errands.append((each.t_s + person.resets_after_s, Action.RESET, each.subject, person.name))
        self._heard = len(self._room.news)
        due = [errand for errand in self._errands if errand[0] <= t_s]
        self._errands = [errand for errand in self._errands if errand[0] > t_s]
        for _, action, subject, name in due:
            self._room.act(action, subject, by=name)


def _listener(head: MqttHead) -> Listener:
    assert isinstance(head.profile.points, PayloadPoints)
    return Listener(MqttPoints(head.detector, head.topic, head.profile.points, head.basis))


def _blocks(heads: Sequence[ModbusHead]) -> list[Block]:
    units: dict[int, list[InstalledHead]] = {}
    movement = Movement()
    for head in heads:
        units.setdefault(head.unit, []).append(installed_head(head))
    return [block for unit, members in units.items() for block in plan(unit, members, movement)]


def _orders(depot: Depot) -> Orders:
    """The engine's standing orders, from parts that are built and never run."""

    def nothing(*_: object) -> None:
        return None

    ears = Ears(nothing, nothing, nothing, nothing, nothing, nothing, nothing)
    return orders(depot, build(depot, SystemClock(), Pacer(), ears))

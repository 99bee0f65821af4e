"""Plays a scenario on real wires: Modbus TCP, RTU on pseudo-terminals, MQTT. ``python -m simulator.plant SCENARIO ...``

Prints one line of JSON once its lines listen, ``{"ready": {line: port, ...}}``. The air stands still until a line
``start`` comes on its standard input (or at once with ``--now``, or with the first request with ``--on-contact``).
What first showed a set-point, what befell whom, and what the siren's coil was told goes to the ``--record`` file as
lines of JSON with the time: the truth that a gateway's alarms are held against. Stops at SIGTERM or SIGINT.
"""

import argparse
import asyncio
import json
import logging
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from sensors.stamps import UtcNanos, rfc3339
from simulator.devices import Device, line_server, open_line
from simulator.faults import befall
from simulator.happenings import KINDS, Happening, What
from simulator.lines import HOST
from simulator.publisher import Messages, Mouth, publish
from simulator.sayings import Wanted
from simulator.scenario import load
from simulator.scripted import ScriptedServer
from simulator.speech import Speech
from simulator.yard import TICK_S, Course, Head, ModbusWire, MqttWire, Scenario, Watcher

SET_POINTS: Final = (10.0, 20.0, 40.0)
"""%LEL whose first showing is recorded: the levels of the demo's depot.toml."""
MAX_CATCH_UP: Final = 6000
"""Ticks run in one go after a stall (10 minutes); more are skipped, so that a laptop just opened is not kept busy."""


class Record:
    """The truth as lines of JSON; without a file it is only kept in `lines`."""

    def __init__(self, path: Path | None) -> None:
        self.lines: list[Mapping[str, object]] = []
        self._file: IO[str] | None = path.open("a", encoding="utf-8") if path else None

    def write(self, what: str, **facts: object) -> None:
        """Write one line, with the present time."""
        line = {"what": what, "utc": rfc3339(UtcNanos(time.time_ns())), **facts}
        self.lines.append(line)
        if self._file:
            print(json.dumps(line), file=self._file, flush=True)

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()


@dataclass(slots=True)
class Plant:
    """A scenario on the wires.

    Attributes:
        ports: the TCP port of each TCP line, once `open` is done.
        speed: seconds of the scenario that pass in one of ours.
        links: folder for the devices of serial lines.
    """

    scenario: Scenario
    record: Record
    speed: float = 1.0
    links: Path | None = None
    ports: dict[str, int] = field(default_factory=dict)
    siren_on: bool = False
    _course: Course = field(init=False)
    _watcher: Watcher = field(default_factory=lambda: Watcher(SET_POINTS))
    _started: float | None = None
    _speeches: dict[str, Speech] = field(default_factory=dict)
    _devices: list[Device] = field(default_factory=list)
    _servers: dict[str, ScriptedServer] = field(default_factory=dict)
    _said: dict[str, int] = field(default_factory=dict)
    _going_on: set[Happening] = field(default_factory=set)
    _past: set[Happening] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._course = Course(self.scenario)
        self._course.step()  # tick 0: what is shown before the start
        self._speeches = {head.id: Speech(head) for head in self.scenario.yard.heads}

    async def open(self, wanted: Mapping[str, int] | None = None) -> None:
        """Serve every line: on the wanted port if it is free, else on any; a serial one under its link."""
        yard = self.scenario.yard
        for line in yard.lines:
            units: dict[int, list[Speech]] = {}
            for head, wire in yard.modbus_heads(line.id):
                units.setdefault(wire.unit, []).append(self._speeches[head.id])
            devices = [Device(number, speeches, self._says) for number, speeches in units.items()]
            siren = yard.siren if yard.siren.line == line.id else None
            server = line_server(line, devices, siren, self._siren_told)
            port = await open_line(server, line, (wanted or {}).get(line.id, 0), self.links)
            self._servers[line.id] = server
            self._devices += devices
            if port is not None:
                self.ports[line.id] = port

    def start(self) -> None:
        """Let the scenario begin: its second 0 is now."""
        if self._started is None:
            self._started = asyncio.get_running_loop().time()
            self.record.write("start", scenario=self.scenario.name)
            self._befall()
            self._tick()

    def start_on_contact(self) -> None:
        """Let it begin when somebody first asks on any line."""
        if any(server.log for server in self._servers.values()):
            self.start()
        elif self._servers:
            asyncio.get_running_loop().call_later(TICK_S, self.start_on_contact)

    async def close(self) -> None:
        """Close every line."""
        for server in self._servers.values():
            await server.stop()
        self._servers.clear()

    def advance(self) -> None:
        """Bring the heads to the present. Called by the timer and before every answer, so nothing old is ever shown."""
        if self._started is None:
            return
        due = int((asyncio.get_running_loop().time() - self._started) * self.speed / TICK_S)
        if due - self._course.tick > MAX_CATCH_UP:
            self.record.write("skipped", ticks=due - self._course.tick)
            self._course.tick = due - 1
        if self._course.tick >= due:
            return
        while self._course.tick < due:
            self._course.step()
            for head in self.scenario.yard.heads:
                if isinstance(head.wire, ModbusWire):  # an MQTT head shows nothing until it speaks
                    self._note(head)
        self._befall()

    def mouths(self) -> list[Mouth]:
        """Return the heads that speak MQTT."""
        return [self._mouth(head, wire) for head, wire in self.scenario.yard.mqtt_heads()]

    async def publish(self, host: str, port: int, stop: asyncio.Event) -> None:
        """Speak for the MQTT heads until `stop`."""
        await publish(self.mouths(), host, port, stop)

    # --- what heads say

    def _says(self, head: str) -> tuple[Wanted, bool]:
        self.advance()
        swapped = any(each.what is What.SWAPPED and each.target == head for each in self._going_on)
        return self._speeches[head].wanted(self._course.shown[head], self._course.tick), swapped

    def _mouth(self, head: Head, wire: MqttWire) -> Mouth:
        def say() -> Messages:
            self.advance()
            self._said[head.id] = self._said.get(head.id, 0) + 1
            self._note(head)
            speech = self._speeches[head.id]
            return tuple(speech.messages(wire.topic, speech.wanted(self._course.shown[head.id], self._said[head.id])))

        return Mouth(say, lambda: {each.what: each.amount for each in self._going_on if each.target == head.id})

    def _siren_told(self, on: bool) -> None:
        if on is not self.siren_on:
            self.siren_on = on
            self.record.write("siren", on=on)

    def _note(self, head: Head) -> None:
        value = self._speeches[head.id].in_steps(self._course.shown[head.id].lel_pct)
        for crossing in self._watcher.crossed(head.id, self._course.tick, round(value, 6)):
            self.record.write(
                "shows",
                detector=head.id,
                set_point=crossing.set_point,
                lel_pct=round(value, 1),
                t_s=round(crossing.t_s, 1),
            )

    # --- what befalls them

    def _befall(self) -> None:
        """Let happenings begin and end on the wires."""
        t_s = self._course.t_s
        now = {each for each in self.scenario.happenings if KINDS[each.what].lasting and each.holds(t_s)}
        sudden = {each for each in self.scenario.happenings if not KINDS[each.what].lasting and each.at_s <= t_s}
        begun, ended = (now - self._going_on) | (sudden - self._past), self._going_on - now
        if not begun and not ended:
            return
        self._going_on, self._past = now, sudden
        for each in sorted(begun, key=lambda each: each.at_s):
            self.record.write("befalls", event=each.what.value, target=each.target, t_s=round(t_s, 1))
        for each in sorted(ended, key=lambda each: each.until_s):
            self.record.write("is over", event=each.what.value, target=each.target, t_s=round(t_s, 1))
        for device in self._devices:
            ids = {speech.head.id for speech in device.speeches}
            befall(device.unit, device.number, [each for each in now if each.target in ids])
        for line, server in self._servers.items():
            mine = {each.what for each in now if each.target == line}
            server.mute = What.MUTE in mine
            server.sever(severed=What.CUT in mine)
            if any(each.what is What.RESET and each.target == line for each in begun):
                server.reset()

    def _tick(self) -> None:
        self.advance()
        if self._servers:
            asyncio.get_running_loop().call_later(TICK_S, self._tick)


async def play(options: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        ScenarioError: if the scenario cannot be used.
        OSError: if nothing can be listened on.
    """
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    plant = Plant(load(options.scenario), Record(options.record), options.speed, options.links)
    try:
        await plant.open(dict(options.port))
        print(json.dumps({"ready": plant.ports}), flush=True)  # noqa: T201 - the contract with the one who started us
        if options.now:
            plant.start()
        elif options.on_contact:
            plant.start_on_contact()
        else:
            loop.add_reader(0, _ordered, plant)
        if options.broker:
            await plant.publish(HOST, options.broker, stop)
        else:
            await stop.wait()
    finally:
        await plant.close()
        plant.record.close()


def _ordered(plant: Plant) -> None:
    """Hear what came on standard input: the order to start, or its end."""
    order = os.read(0, 64)
    if order.startswith(b"start"):
        plant.start()
    asyncio.get_running_loop().remove_reader(0)


def _port(text: str) -> tuple[str, int]:
    line, _, number = text.partition("=")
    return line, int(number)


def main() -> None:
    """Read the command line and play."""
    parser = argparse.ArgumentParser(prog="python -m simulator.plant")
    parser.add_argument("scenario", help="a scenario's name, or a path ending in .toml")
    parser.add_argument("--broker", type=int, metavar="PORT", help="the MQTT broker's port on the loopback interface")
    parser.add_argument("--port", type=_port, action="append", default=[], metavar="LINE=PORT", help="wanted, if free")
    parser.add_argument("--links", type=Path, metavar="FOLDER", help="where the devices of serial lines appear")
    parser.add_argument("--record", type=Path, metavar="FILE", help="append the truth to this file")
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="so many seconds in one")
    parser.add_argument("--now", action="store_true", help="start at once")
    parser.add_argument("--on-contact", action="store_true", help="start when somebody first asks on a line")
    logging.basicConfig(level=logging.WARNING, format="plant: %(message)s")
    asyncio.run(play(parser.parse_args()))


if __name__ == "__main__":
    main()

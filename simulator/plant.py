"""Plays a scenario on real wires: Modbus TCP servers and MQTT publishers. ``python -m simulator.plant SCENARIO ...``

Prints one line of JSON once its servers listen, ``{"ready": {line: port, ...}}``. The air stands still until a line
``start`` comes on its standard input (or at once with ``--now``). What first showed a set-point, and what the siren's
coil was told, goes to the ``--record`` file as lines of JSON with the time: the truth that a gateway's alarms are held
against. Stops at SIGTERM or SIGINT.
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
from itertools import cycle
from pathlib import Path
from typing import IO

import aiomqtt

from sensors.stamps import UtcNanos, rfc3339
from simulator.lines import HOST, OVER_RANGE_BIT, WARM_UP_BIT, LineServer, ReadHead, coil_unit, head_unit, listen
from simulator.scenario import load
from simulator.yard import TICK_S, Course, Head, ModbusWire, Scenario, Watcher, registered

SET_POINTS = (10.0, 20.0, 40.0)
"""%LEL whose first showing is recorded: the levels of the demo's depot.toml."""
PUBLISH_S = 0.5
"""An MQTT head speaks this often."""
RECONNECT_S = 0.5
ANSWER_S = 1.5
"""The broker must answer within this."""
MAX_CATCH_UP = 6000
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
    """A scenario on the wires. `ports` holds the TCP port of each line once `open` is done."""

    scenario: Scenario
    record: Record
    ports: dict[str, int] = field(default_factory=dict)
    siren_on: bool = False
    _course: Course = field(init=False)
    _watcher: Watcher = field(default_factory=lambda: Watcher(SET_POINTS))
    _started: float | None = None
    _servers: list[LineServer] = field(default_factory=list)
    _said: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._course = Course(self.scenario)
        self._course.step()  # tick 0: what is shown before the start

    async def open(self, wanted: Mapping[str, int] | None = None) -> None:
        """Listen on one port per line: the wanted one if it is free, else any free one."""
        for line in self.scenario.yard.lines:
            units = [head_unit(wire.unit, self._reader(head)) for head, wire in self.scenario.yard.modbus_heads(line)]
            siren = self.scenario.yard.siren
            if siren.line == line:
                units.append(coil_unit(siren.unit, siren.coil, self._siren_told))
            server = await listen(units, (wanted or {}).get(line, 0))
            self._servers.append(server)
            self.ports[line] = server.port

    def start(self) -> None:
        """Let the scenario begin: its second 0 is now."""
        if self._started is None:
            self._started = asyncio.get_running_loop().time()
            self.record.write("start", scenario=self.scenario.name)
            self._tick()

    async def close(self) -> None:
        """Close every line."""
        for server in self._servers:
            await server.stop()
        self._servers.clear()

    def advance(self) -> None:
        """Bring the heads to the present. Called by the timer and before every answer, so nothing old is ever shown."""
        if self._started is None:
            return
        due = int((asyncio.get_running_loop().time() - self._started) / TICK_S)
        if due - self._course.tick > MAX_CATCH_UP:
            self.record.write("skipped", ticks=due - self._course.tick)
            self._course.tick = due - 1
        while self._course.tick < due:
            self._course.step()
            for head in self.scenario.yard.heads:
                if isinstance(head.wire, ModbusWire):  # an MQTT head shows nothing until it speaks
                    self._note(head)

    async def publish(self, host: str, port: int, stop: asyncio.Event) -> None:
        """Speak for the MQTT heads, one after the other, until `stop`; come back whenever the broker does."""
        while not stop.is_set():
            try:
                async with aiomqtt.Client(
                    host, port, identifier="plant", protocol=aiomqtt.ProtocolVersion.V311, timeout=ANSWER_S
                ) as client:
                    await self._speak(client, stop)
            except aiomqtt.MqttError as error:
                logging.getLogger(__name__).warning("broker: %s", error)
                await _until(stop, RECONNECT_S)

    async def _speak(self, client: aiomqtt.Client, stop: asyncio.Event) -> None:
        clock = asyncio.get_running_loop().time
        due = clock()
        for head, wire in cycle(self.scenario.yard.mqtt_heads()):
            if await _until(stop, due - clock()):
                return
            due = max(due + PUBLISH_S / len(self.scenario.yard.mqtt_heads()), clock())
            self.advance()
            self._said[head.id] = self._said.get(head.id, 0) + 1
            shown = self._course.shown[head.id]
            payload = {"lel": registered(shown) / 10.0, "seq": self._said[head.id], "warm_up": shown.warm_up}
            self._note(head)
            await client.publish(wire.topic, json.dumps(payload).encode())
        await stop.wait()  # a yard without MQTT heads

    def _reader(self, head: Head) -> ReadHead:
        def read() -> tuple[int, int]:
            self.advance()
            shown = self._course.shown[head.id]
            status = (shown.warm_up << WARM_UP_BIT) | (shown.over_range << OVER_RANGE_BIT)
            return registered(shown), status

        return read

    def _siren_told(self, on: bool) -> None:
        if on is not self.siren_on:
            self.siren_on = on
            self.record.write("siren", on=on)

    def _note(self, head: Head) -> None:
        value = registered(self._course.shown[head.id]) / 10.0
        for crossing in self._watcher.crossed(head.id, self._course.tick, value):
            self.record.write(
                "shows", detector=head.id, set_point=crossing.set_point, lel_pct=value, t_s=round(crossing.t_s, 1)
            )

    def _tick(self) -> None:
        self.advance()
        if self._servers:
            asyncio.get_running_loop().call_later(TICK_S, self._tick)


async def _until(stop: asyncio.Event, seconds: float) -> bool:
    """Wait so long, or until `stop`; tell whether it is set."""
    try:
        async with asyncio.timeout(max(seconds, 0.0)):
            await stop.wait()
    except TimeoutError:
        return False
    return True


async def play(options: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        ScenarioError: if the scenario cannot be used.
        OSError: if nothing can be listened on.
    """
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    plant = Plant(load(options.scenario), Record(options.record))
    try:
        await plant.open(dict(options.port))
        print(json.dumps({"ready": plant.ports}), flush=True)  # noqa: T201 - the contract with the one who started us
        if options.now:
            plant.start()
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
    parser.add_argument("--record", type=Path, metavar="FILE", help="append the truth to this file")
    parser.add_argument("--now", action="store_true", help="start at once")
    logging.basicConfig(level=logging.WARNING, format="plant: %(message)s")
    logging.getLogger("pymodbus").setLevel(logging.CRITICAL)  # it logs each refused request; the client says it better
    asyncio.run(play(parser.parse_args()))


if __name__ == "__main__":
    main()

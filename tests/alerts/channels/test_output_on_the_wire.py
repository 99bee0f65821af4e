"""The siren through a real Modbus TCP bus to a relay board on loopback that speaks plain bytes."""

import asyncio
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from alerts.channels.output import LocalOutput
from sensors.drivers.modbus import ModbusBus
from sensors.drivers.outputs import LineOutput
from sensors.drivers.pacer import Pacer
from sensors.drivers.settings import BusSettings
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.outputs import coil

pytestmark = pytest.mark.measured

READ_COILS, WRITE_COIL = 1, 5
UNIT, COIL = 1, 3


class RelayBoard:
    """A board with eight relays. It can stick, lose its power, or fall silent."""

    def __init__(self) -> None:
        self.coils = [False] * 8
        self.stuck = False
        self.mute = False
        self.port = 0
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.StreamWriter] = set()

    async def power_on(self) -> None:
        self.coils = [False] * 8
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def power_off(self) -> None:
        assert self._server is not None
        self._server.close()
        for client in list(self._clients):
            client.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.add(writer)
        try:
            while True:
                transaction, _, length, unit = struct.unpack(">HHHB", await reader.readexactly(7))
                function, coil, value = struct.unpack(">BHH", await reader.readexactly(length - 1))
                if self.mute:
                    continue
                writer.write(struct.pack(">HHHB", transaction, 0, 6 if function == WRITE_COIL else 4, unit))
                if function == WRITE_COIL:
                    if not self.stuck:
                        self.coils[coil] = value == 0xFF00
                    writer.write(struct.pack(">BHH", WRITE_COIL, coil, value))
                else:
                    assert function == READ_COILS
                    writer.write(struct.pack(">BBB", READ_COILS, 1, self.coils[coil]))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._clients.discard(writer)
            writer.close()


class Watch:
    """The reports of one output, and a wait for one that fits."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, bool | None, str]] = []
        self._came = asyncio.Event()

    def __call__(self, _output: str, on: bool | None, reason: str) -> None:
        self.reports.append((time.monotonic(), on, reason))
        self._came.set()

    async def hears(self, on: bool | None, reason: str | None, within_s: float) -> float:
        """Wait for a report from now on, None as reason for any; return when it came."""
        seen = len(self.reports)
        async with asyncio.timeout(within_s):
            while True:
                for when, state, why in self.reports[seen:]:
                    if state is on and reason in (None, why):
                        return when
                self._came.clear()
                await self._came.wait()


class WallClock:
    def now(self) -> Stamp:
        return Stamp(Instant(time.monotonic_ns()), UtcNanos(time.time_ns()))


@asynccontextmanager
async def installed(board: RelayBoard) -> AsyncIterator[tuple[LocalOutput, Watch]]:
    clock, watch = WallClock(), Watch()
    ignore: Callable[[Any], None] = lambda _: None  # noqa: E731 - nobody listens to scans here
    settings = BusSettings("saidas", "127.0.0.1", board.port)
    bus = ModbusBus(settings, (), clock=clock, pacer=Pacer(), on_scan=ignore, on_link=ignore)
    output = LocalOutput("sirene", LineOutput(bus, UNIT, coil(COIL)), watch, clock)
    tasks = [asyncio.create_task(part()) for part in (bus.run, output.run)]
    try:
        yield output, watch
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@pytest.fixture
async def board() -> AsyncIterator[RelayBoard]:
    it = RelayBoard()
    await it.power_on()
    yield it
    await it.power_off()


async def test_the_relay_closes_and_the_read_back_confirms_it_within_its_share_of_the_budget(board: RelayBoard) -> None:
    async with installed(board) as (output, watch):
        await watch.hears(False, "", within_s=4)  # the first regular read-back
        began = time.monotonic()
        output.set(True)
        assert await watch.hears(True, "", within_s=2) - began < 0.5
        assert board.coils[COIL]
        assert sum(board.coils) == 1


async def test_a_stuck_relay_is_found_out_by_the_read_back(board: RelayBoard) -> None:
    async with installed(board) as (output, watch):
        await watch.hears(False, "", within_s=4)
        board.stuck = True
        output.set(True)
        await watch.hears(False, "wrong-state", within_s=1)
        assert output.on is False
        board.stuck = False
        await watch.hears(True, "", within_s=2)


async def test_a_siren_sounds_again_after_its_board_lost_power(board: RelayBoard) -> None:
    async with installed(board) as (output, watch):
        await watch.hears(False, "", within_s=4)
        output.set(True)
        await watch.hears(True, "", within_s=2)
        await board.power_off()
        await watch.hears(None, None, within_s=4)
        assert output.on is None
        await board.power_on()
        assert not board.coils[COIL]
        await watch.hears(True, "", within_s=5)
        assert board.coils[COIL]


async def test_a_mute_board_is_reported_as_unknown_and_obeys_when_it_speaks_again(board: RelayBoard) -> None:
    async with installed(board) as (output, watch):
        await watch.hears(False, "", within_s=4)
        board.mute = True
        output.set(True)
        await watch.hears(None, None, within_s=3)
        assert output.on is None
        assert watch.reports[-1][2]
        board.mute = False
        await watch.hears(True, "", within_s=5)
        assert board.coils[COIL]


async def test_a_gateway_that_restarts_leaves_a_sounding_siren_sounding(board: RelayBoard) -> None:
    async with installed(board) as (output, watch):
        await watch.hears(False, "", within_s=4)
        output.set(True)
        await watch.hears(True, "", within_s=2)
    async with installed(board) as (output, watch):
        await watch.hears(True, "", within_s=4)
        assert board.coils[COIL]
        output.set(True)
        await watch.hears(True, "", within_s=4)
        output.set(False)
        await watch.hears(False, "", within_s=2)
        assert not board.coils[COIL]

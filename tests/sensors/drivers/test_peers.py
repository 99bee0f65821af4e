"""The bus against servers that are not ours: libmodbus and pymodbus."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from pymodbus import FramerType
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from sensors.drivers.modbus import ModbusBus, ModbusHead
from sensors.drivers.settings import BusSettings, Transport
from sensors.readings import Quality
from sensors.stamps import MILLISECOND
from sensors.wire.outputs import coil
from simulator.serial import Cable

SOURCE = Path(__file__).with_name("peer_libmodbus.c")


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server of libmodbus, compiled here and now."""
    binary = tmp_path_factory.mktemp("peer") / "peer"
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "this test needs a C compiler and libmodbus-dev"
    include = next(
        (path for path in (Path("/usr/include/modbus"), Path("/usr/local/include/modbus")) if path.exists()), None
    )
    flags = [] if include is None else [f"-I{include}"]
    subprocess.run([compiler, "-Wall", "-o", str(binary), *flags, str(SOURCE), "-lmodbus"], check=True, timeout=60)
    return binary


@contextmanager
def running(*command: str) -> Iterator[str]:
    """Run it; yields its first line."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().decode().strip()
        process.stdin.close()
        process.wait(5)


@pytest.fixture(scope="module")
def libmodbus(peer: Path) -> Iterator[int]:
    """A server of libmodbus; yields its port."""
    with running(str(peer)) as port:
        yield int(port)


@pytest.fixture(scope="module")
def libmodbus_tty(peer: Path) -> Iterator[Path]:
    """Unit 1 of a serial line, of libmodbus; yields the name of the serial port."""
    with running(str(peer), "rtu") as name:
        yield Path(name)


@pytest_asyncio.fixture(params=[FramerType.SOCKET])
async def pymodbus_port(request: pytest.FixtureRequest) -> AsyncIterator[int]:
    """A server of pymodbus; its registers hold 100 + n, its coils are off."""
    coils = [SimData(0, values=[False] * 16, datatype=DataType.BITS)]
    words = [SimData(0, values=list(range(100, 164)), datatype=DataType.REGISTERS)]
    inputs = [SimData(0, values=list(range(200, 264)), datatype=DataType.REGISTERS)]
    device = SimDevice(1, (coils, coils, words, inputs))
    server = ModbusTcpServer(context=device, framer=request.param, address=("127.0.0.1", 0))
    await server.serve_forever(background=True)
    yield server.transport.sockets[0].getsockname()[1]
    await server.shutdown()


def heads(rig) -> list[ModbusHead]:
    return [rig.head("D1", 1, 3), rig.head("D2", 1, 7), rig.head("D3", 1, 5, function="input")]


async def _is_read_and_switched(rig, bus: ModbusBus) -> None:
    await rig.until(lambda: all(len(rig.good(name)) >= 5 for name in ("D1", "D2", "D3")))
    assert [rig.of(name)[-1].lel_pct for name in ("D1", "D2", "D3")] == [10.3, 10.7, 20.5]
    told: list[tuple[bool | None, str]] = []
    for wanted in (True, False):
        told.clear()
        bus.write(1, coil(4), wanted, lambda state, reason: (told.append((state, reason)), rig.told()))
        await rig.until(lambda: told)
        assert told == [(wanted, "")]
    assert bus.counters.timeouts == bus.counters.garbled == bus.counters.foreign == 0
    assert {reading.quality for _, reading in rig.readings} == {Quality.GOOD}


@pytest.mark.servers
async def test_a_server_of_libmodbus_is_read_and_switched(rig, libmodbus):
    await _is_read_and_switched(rig, rig.bus(libmodbus, heads(rig)))


@pytest.mark.servers
async def test_libmodbus_refuses_a_register_it_has_not_and_is_read_on(rig, libmodbus):
    rig.bus(libmodbus, [rig.head("D1", 1, 3), rig.head("D9", 1, 500)])
    await rig.until(lambda: len(rig.good("D1")) >= 3 and len(rig.of("D9")) >= 3)
    assert {reading.reason for reading in rig.of("D9")} == {"exception-2"}


async def test_a_server_of_pymodbus_is_read_and_switched(rig, pymodbus_port):
    await _is_read_and_switched(rig, rig.bus(pymodbus_port, heads(rig)))


@pytest.mark.servers
async def test_a_serial_port_with_libmodbus_at_its_end_is_read_and_switched(rig, libmodbus_tty):
    await _is_read_and_switched(rig, rig.serial(libmodbus_tty, heads(rig)))


@pytest.mark.servers
async def test_libmodbus_refuses_a_register_on_a_serial_port_too(rig, libmodbus_tty):
    rig.serial(libmodbus_tty, [rig.head("D1", 1, 3), rig.head("D9", 1, 500)])
    await rig.until(lambda: len(rig.good("D1")) >= 3 and len(rig.of("D9")) >= 3)
    assert {reading.reason for reading in rig.of("D9")} == {"exception-2"}


@pytest.mark.parametrize("pymodbus_port", [FramerType.RTU], indirect=True)
async def test_a_serial_server_of_pymodbus_is_read_and_switched(rig, pymodbus_port):
    settings = BusSettings(
        "linha",
        "127.0.0.1",
        pymodbus_port,
        period_ns=100 * MILLISECOND,
        timeout_ns=50 * MILLISECOND,
        transport=Transport.RTU_OVER_TCP,
        line_baud=115200,
    )
    await _is_read_and_switched(rig, rig.run(settings, heads(rig)))


class Relay(asyncio.Protocol):
    """Carries the bytes of a pseudo-terminal to a serial server and back."""

    def __init__(self, link: Path) -> None:
        self.cable = Cable(link, self.forward)
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.cable.write(data)

    def forward(self, data: bytes) -> None:
        assert self.transport is not None
        self.transport.write(data)


@pytest.mark.parametrize("pymodbus_port", [FramerType.RTU], indirect=True)
async def test_a_serial_port_with_pymodbus_at_its_end_is_read_and_switched(rig, pymodbus_port, tmp_path):
    relay = Relay(tmp_path / "adapter")
    await asyncio.get_running_loop().create_connection(lambda: relay, "127.0.0.1", pymodbus_port)
    relay.cable.plug()
    try:
        await _is_read_and_switched(rig, rig.serial(tmp_path / "adapter", heads(rig)))
    finally:
        relay.cable.unplug()
        assert relay.transport is not None
        relay.transport.abort()

"""The bus against servers that are not ours: libmodbus and pymodbus."""

import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from sensors.readings import Quality

SOURCE = Path(__file__).with_name("peer_libmodbus.c")


@pytest.fixture(scope="module")
def libmodbus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server of libmodbus, compiled here and now; yields its port."""
    binary = tmp_path_factory.mktemp("peer") / "peer"
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "this test needs a C compiler and libmodbus-dev"
    include = next(
        (path for path in (Path("/usr/include/modbus"), Path("/usr/local/include/modbus")) if path.exists()), None
    )
    flags = [] if include is None else [f"-I{include}"]
    subprocess.run([compiler, "-Wall", "-o", str(binary), *flags, str(SOURCE), "-lmodbus"], check=True, timeout=60)
    with subprocess.Popen([str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield int(process.stdout.readline())
        process.stdin.close()
        process.wait(5)


@pytest_asyncio.fixture
async def pymodbus_port() -> AsyncIterator[int]:
    """A server of pymodbus; its registers hold 100 + n, its coils are off."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    coils = [SimData(0, values=[False] * 16, datatype=DataType.BITS)]
    words = [SimData(0, values=list(range(100, 164)), datatype=DataType.REGISTERS)]
    inputs = [SimData(0, values=list(range(200, 264)), datatype=DataType.REGISTERS)]
    device = SimDevice(1, (coils, coils, words, inputs))
    server = ModbusTcpServer(context=device, address=("127.0.0.1", port))
    await server.serve_forever(background=True)
    yield port
    await server.shutdown()


async def _is_read_and_switched(rig, port: int) -> None:
    heads = [rig.head("D1", 1, 3), rig.head("D2", 1, 7), rig.head("D3", 1, 5, function="input")]
    bus = rig.bus(port, heads)
    await rig.until(lambda: all(len(rig.good(name)) >= 5 for name in ("D1", "D2", "D3")))
    assert [rig.of(name)[-1].lel_pct for name in ("D1", "D2", "D3")] == [10.3, 10.7, 20.5]
    told: list[tuple[bool | None, str]] = []
    for wanted in (True, False):
        told.clear()
        bus.write_coil(1, 4, wanted, lambda state, reason: (told.append((state, reason)), rig.told()))
        await rig.until(lambda: told)
        assert told == [(wanted, "")]
    assert bus.counters.timeouts == bus.counters.garbled == bus.counters.foreign == 0
    assert {reading.quality for _, reading in rig.readings} == {Quality.GOOD}


@pytest.mark.servers
async def test_a_server_of_libmodbus_is_read_and_switched(rig, libmodbus):
    await _is_read_and_switched(rig, libmodbus)


@pytest.mark.servers
async def test_libmodbus_refuses_a_register_it_has_not_and_is_read_on(rig, libmodbus):
    rig.bus(libmodbus, [rig.head("D1", 1, 3), rig.head("D9", 1, 500)])
    await rig.until(lambda: len(rig.good("D1")) >= 3 and len(rig.of("D9")) >= 3)
    assert {reading.reason for reading in rig.of("D9")} == {"exception-2"}


async def test_a_server_of_pymodbus_is_read_and_switched(rig, pymodbus_port):
    await _is_read_and_switched(rig, pymodbus_port)

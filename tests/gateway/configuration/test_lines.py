"""Lines of every transport, from the file to what the drivers are given."""

from pathlib import Path

import pytest

from gateway.configuration.loading import load
from gateway.depot import Depot
from gateway.field.reach import endpoints, reach
from sensors.drivers.settings import Parity, SerialSettings, Transport
from sensors.stamps import MILLISECOND

BASE = '[depot]\nid = "x"\n[levels]\nA1 = 10\nA2 = 20\nA3 = 40\n[[area]]\nid = "patio"\nlicensed_kg = 100\n'
HEAD = '[[detector]]\nid = "D1"\narea = "patio"\nbus = "b"\nunit = 3\nprofile = "generic-modbus"\nregister = 0\n'


def loaded(folder: Path, bus: str, *, head: str = HEAD) -> tuple[Depot, list[str]]:
    file = folder / "depot.toml"
    file.write_text(f'{BASE}[[bus]]\nid = "b"\n{bus}\n{head}', "utf-8")
    found = load(file, {"VIGIA_LANG": "en"})
    return found.depot, [str(warning) for warning in found.warnings]


def test_a_serial_port_is_described_whole(tmp_path: Path) -> None:
    depot, _ = loaded(
        tmp_path,
        'transport = "rtu"\ndevice = "/dev/serial/by-id/a"\nbaud = 19200\nparity = "even"\nstop_bits = 2\n'
        "gap_ms = 4.5\nturnaround_ms = 10\nlate_ms = 700\necho = true",
    )
    bus = depot.buses[0].settings
    assert bus.transport is Transport.RTU
    assert bus.serial == SerialSettings("/dev/serial/by-id/a", 19200, Parity.EVEN, 2)
    assert bus.serial.character_bits == 12
    assert (bus.gap_ns, bus.turnaround_ns, bus.late_ns) == (4_500_000, 10_000_000, 700_000_000)
    assert bus.echo
    assert bus.place == "/dev/serial/by-id/a"


def test_a_serial_port_has_defaults_for_all_but_its_name_and_speed(tmp_path: Path) -> None:
    depot, warnings = loaded(tmp_path, 'transport = "rtu"\ndevice = "/dev/serial/by-id/a"\nbaud = 9600')
    bus = depot.buses[0].settings
    assert bus.serial == SerialSettings("/dev/serial/by-id/a", 9600, Parity.NONE, 1)
    assert bus.gap_s == pytest.approx(3.5 * 11 / 9600)
    assert bus.late_ns == 1000 * MILLISECOND
    assert not bus.echo
    assert not [warning for warning in warnings if "device" in warning]


def test_a_name_that_depends_on_the_order_of_plugging_in_is_warned_of(tmp_path: Path) -> None:
    _, warnings = loaded(tmp_path, 'transport = "rtu"\ndevice = "/dev/ttyUSB0"\nbaud = 9600')
    assert [warning for warning in warnings if "/dev/serial/by-id" in warning]


def test_a_serial_server_is_described_whole(tmp_path: Path) -> None:
    times = "timeout_ms = 1500\nperiod_ms = 2000"
    text = f'transport = "rtu-over-tcp"\nhost = "127.0.0.1"\nport = 4001\nline_baud = 38400\n{times}'
    depot, _ = loaded(tmp_path, text)
    bus = depot.buses[0].settings
    assert (bus.transport, bus.serial, bus.place) == (Transport.RTU_OVER_TCP, None, "127.0.0.1:4001")
    assert bus.gap_s == 0.00175
    assert bus.late_ns == bus.timeout_ns == 1500 * MILLISECOND


def test_the_rest_of_one_head_is_its_own(tmp_path: Path) -> None:
    depot, _ = loaded(tmp_path, 'host = "127.0.0.1"', head=HEAD + "turnaround_ms = 12.5\n")
    assert depot.buses[0].heads[0].turnaround_ns == 12_500_000


def test_a_link_and_its_device_are_one_port(tmp_path: Path) -> None:
    from gateway.configuration.problems import ConfigError

    (tmp_path / "ttyX").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "ttyX")
    with pytest.raises(ConfigError, match="one port is one line"):
        loaded(
            tmp_path,
            f'transport = "rtu"\ndevice = "{tmp_path}/ttyX"\nbaud = 9600\n'
            f'[[bus]]\nid = "c"\ntransport = "rtu"\ndevice = "{tmp_path}/link"\nbaud = 9600',
        )


def test_a_serial_port_is_looked_at_without_being_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for device, reason in (("/dev/null", ""), (f"{tmp_path}/file", "ioctl"), (f"{tmp_path}/none", "No such file")):
        depot, _ = loaded(tmp_path, f'transport = "rtu"\ndevice = "{device}"\nbaud = 9600')
        (reached,) = reach(endpoints(depot))
        assert reached.endpoint.place == device
        assert reason in reached.reason and bool(reason) == bool(reached.reason)

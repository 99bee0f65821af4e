"""What must agree in and between the Modbus lines of a depot: keys, ports, speeds, times. Builds nothing."""

import os
from typing import Final

from gateway.configuration.problems import Sheet, shown
from gateway.configuration.schema import BusTable, OutputTable
from gateway.configuration.tables import Entry, Tables
from sensors.drivers.settings import BAUDS
from sensors.toml_lines import Path

NEEDED: Final = {"tcp": ("host",), "rtu": ("device", "baud"), "rtu-over-tcp": ("host", "port", "line_baud")}
"""Keys that a line of each transport must have."""

EXAMPLES: Final = {
    "host": 'host = "192.168.0.20"',
    "port": "port = 4001",
    "line_baud": "line_baud = 9600",
    "device": 'device = "/dev/serial/by-id/usb-FTDI_USB-RS485-if00-port0"',
    "baud": "baud = 9600",
}

_PORT: Final = ("device", "baud", "parity", "stop_bits")
_RTU: Final = ("gap_ms", "late_ms", "echo")
_IDS: Final = ("transaction_id", "in_flight")

STRANGE: Final = {
    "tcp": (*_PORT, *_RTU),
    "rtu": ("host", "port", "line_baud", *_IDS),
    "rtu-over-tcp": (*_PORT, *_IDS),
}
"""Keys that mean nothing there."""

COUNTED: Final = ("/dev/ttyUSB", "/dev/ttyACM")
"""Names that are given in the order of plugging in."""

LATE_MS: Final = 1000
"""`late_ms` where the file does not say."""


def crosscheck(sheet: Sheet, tables: Tables) -> None:
    """Note everything about the lines that does not agree."""
    for entry in tables.buses:
        _keys(sheet, entry)
        _times(sheet, entry)
        if entry.table.transport == "rtu":
            _port(sheet, entry)
    _shared_places(sheet, tables)
    _broadcast_units(sheet, tables)


def late_ms(bus: BusTable) -> int:
    """Return how long after a request its answer may still come (ms)."""
    return max(LATE_MS, bus.timeout_ms) if bus.late_ms is None else bus.late_ms


def _keys(sheet: Sheet, entry: Entry[BusTable]) -> None:
    bus = entry.table
    for key in NEEDED[bus.transport]:
        if key not in bus.model_fields_set:
            sheet.refuse((*entry.path, key), "missing", word=key, example=EXAMPLES[key])
    for key in STRANGE[bus.transport]:
        if key in bus.model_fields_set:
            reason = "serial_key" if bus.transport == "tcp" else "network_key"
            sheet.refuse((*entry.path, key), reason, word=key, transport=bus.transport)


def _times(sheet: Sheet, entry: Entry[BusTable]) -> None:
    bus = entry.table
    if bus.transport == "tcp" and bus.in_flight > 1 and bus.transaction_id == "ignore":
        sheet.refuse((*entry.path, "in_flight"), "in_flight", got=bus.in_flight)
    if bus.timeout_ms > bus.period_ms:
        values = {"timeout": bus.timeout_ms, "period": bus.period_ms}
        sheet.refuse((*entry.path, "timeout_ms"), "timeout_over_period", **values)
    if bus.late_ms is not None and bus.late_ms < bus.timeout_ms:
        sheet.refuse((*entry.path, "late_ms"), "late_under_timeout", late=bus.late_ms, timeout=bus.timeout_ms)


def _port(sheet: Sheet, entry: Entry[BusTable]) -> None:
    bus = entry.table
    if bus.baud is not None and bus.baud not in BAUDS:
        near = min(BAUDS, key=lambda speed: abs(speed - (bus.baud or 0)))
        sheet.refuse((*entry.path, "baud"), "baud", got=bus.baud, near=near)
    if bus.device is None:
        return
    if not bus.device.startswith("/"):
        sheet.refuse((*entry.path, "device"), "device_path", got=shown(bus.device))
    elif bus.device.startswith(COUNTED):
        sheet.warn((*entry.path, "device"), "counted_device", got=shown(bus.device))


def _shared_places(sheet: Sheet, tables: Tables) -> None:
    """One port has one bus. A network address may have two, where the answers say to which question they belong."""
    addresses: dict[tuple[str, int], Entry[BusTable]] = {}
    devices: dict[str, Path] = {}
    for entry in tables.buses:
        bus = entry.table
        if bus.transport == "rtu" and bus.device is not None:
            path: Path = (*entry.path, "device")
            device = os.path.realpath(bus.device)
            if device in devices:
                sheet.refuse(path, "same_device", first=sheet.at(devices[device]), device=shown(bus.device))
            devices.setdefault(device, path)
        elif bus.transport != "rtu" and bus.host is not None:
            first = addresses.setdefault((bus.host, bus.port), entry)
            if first is entry:
                continue
            values = {"first": sheet.at((*first.path, "host")), "at": f"{bus.host}:{bus.port}"}
            if "rtu-over-tcp" in (bus.transport, first.table.transport):
                sheet.refuse((*entry.path, "host"), "same_serial_server", **values)
            else:
                sheet.warn((*entry.path, "host"), "same_address", **values)


def _broadcast_units(sheet: Sheet, tables: Tables) -> None:
    serial = {entry.table.id for entry in tables.buses if entry.table.transport != "tcp"}
    for entry in (*tables.detectors, *tables.channels, *tables.supplies, *tables.stock_sources):
        table = entry.table
        if (not isinstance(table, OutputTable) and entry.path[0] == "channel") or table.bus not in serial:
            continue
        if table.unit == 0:
            sheet.refuse((*entry.path, "unit"), "broadcast")

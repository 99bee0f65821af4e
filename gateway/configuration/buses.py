"""The lines of a depot, each with the heads that hang on it: the ``[[bus]]`` blocks, built."""

from collections.abc import Iterator

from gateway.configuration.heads import Head
from gateway.configuration.lines import late_ms
from gateway.configuration.schema import BusTable
from gateway.configuration.tables import Tables
from gateway.depot import Bus
from sensors.drivers.modbus import ModbusHead
from sensors.drivers.settings import BusSettings, Parity, SerialSettings, Transport
from sensors.readings import DetectorId
from sensors.stamps import MILLISECOND


def buses_of(tables: Tables, heads: tuple[Head, ...]) -> Iterator[Bus]:
    """Every line, in the order of the file."""
    for bus in (entry.table for entry in tables.buses):
        settings = _bus_settings(bus)
        mine = tuple(
            ModbusHead(DetectorId(head.table.id), head.table.unit, head.profile, head.basis, _turnaround_ns(head))
            for head in heads
            if head.table.bus == bus.id and head.table.unit is not None
        )
        yield Bus(settings, mine)


def _bus_settings(bus: BusTable) -> BusSettings:
    transport = Transport(bus.transport)
    serial = None
    if transport is Transport.RTU:
        if bus.device is None or bus.baud is None:
            raise AssertionError("a serial bus without its port was not refused")
        serial = SerialSettings(bus.device, bus.baud, Parity(bus.parity or "none"), bus.stop_bits or 1)
    elif bus.host is None:
        raise AssertionError("a bus without a host was not refused")
    return BusSettings(
        id=bus.id,
        host=bus.host or "",
        port=0 if serial else bus.port,
        period_ns=bus.period_ms * MILLISECOND,
        timeout_ns=bus.timeout_ms * MILLISECOND,
        strict_ids=bus.transaction_id == "strict",
        in_flight=bus.in_flight,
        transport=transport,
        serial=serial,
        line_baud=bus.line_baud,
        gap_ns=None if bus.gap_ms is None else round(bus.gap_ms * MILLISECOND),
        turnaround_ns=round(bus.turnaround_ms * MILLISECOND),
        late_ns=late_ms(bus) * MILLISECOND,
        echo=bus.echo or False,
    )


def _turnaround_ns(head: Head) -> int:
    """Return the rest that a head needs on its line: as the file says, else as its profile does."""
    rest_ms = head.table.turnaround_ms
    if rest_ms is None:
        rest_ms = max(float(head.profile.line.get(key, 0)) for key in ("gap_ms", "turnaround_ms"))
    return round(rest_ms * MILLISECOND)

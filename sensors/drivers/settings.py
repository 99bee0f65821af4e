"""How a Modbus bus is reached and spoken on, as its configuration says. Mere values."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from sensors.stamps import MILLISECOND, SECOND
from sensors.wire.rtu import FAST_GAP_S, frame_gap_s

BAUDS: Final = (
    *(300, 600, 1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200),
    *(230400, 460800, 500000, 576000, 921600, 1000000),
)
"""Speeds a serial port can be set to (termios), bit/s."""


class Transport(Enum):
    """What carries the frames."""

    TCP = "tcp"
    RTU = "rtu"
    RTU_OVER_TCP = "rtu-over-tcp"


class Parity(Enum):
    """The parity bit of a serial line."""

    NONE = "none"
    EVEN = "even"
    ODD = "odd"


@dataclass(frozen=True, slots=True)
class SerialSettings:
    """A serial port by its stable name. `baud` is one of `BAUDS`; eight data bits always, as RTU has them."""

    device: str
    baud: int = 9600
    parity: Parity = Parity.NONE
    stop_bits: int = 1

    @property
    def character_bits(self) -> int:
        """Bits that one byte takes on the line."""
        return 9 + (self.parity is not Parity.NONE) + self.stop_bits


@dataclass(frozen=True, slots=True)
class BusSettings:
    """One Modbus line; times in nanoseconds.

    Attributes:
        host, port: of a network line; empty and 0 on a serial port.
        period_ns: every block is read once in each slot of this length.
        timeout_ns: how long an answer may take.
        strict_ids: False for gateways that invent transaction ids; then one request is in flight and ids mean nothing.
        in_flight: requests on the line at the same time, 1 to 16; 1 on RTU.
        serial: the port of an RTU line; None on a network.
        line_baud: speed of the serial line behind a network address, bit/s; None where there is none or nobody knows.
        gap_ns: silence before each RTU request; None for that of the standard.
        turnaround_ns: rest of the line after each exchange, on whatever transport, where its devices need one.
        late_ns: on RTU, how long after a request its answer may still come: a unit that let one pass is not asked
            again before, since nothing would tell the late answer from the next.
        echo: the RTU adapter hears its own requests.
    """

    id: str
    host: str = ""
    port: int = 0
    period_ns: int = 500 * MILLISECOND
    timeout_ns: int = 200 * MILLISECOND
    strict_ids: bool = True
    in_flight: int = 1
    transport: Transport = Transport.TCP
    serial: SerialSettings | None = None
    line_baud: int | None = None
    gap_ns: int | None = None
    turnaround_ns: int = 0
    late_ns: int = SECOND
    echo: bool = False

    @property
    def rtu(self) -> bool:
        """Whether its frames are those of RTU, which carry no transaction id."""
        return self.transport is not Transport.TCP

    @property
    def baud(self) -> int | None:
        """Speed of the serial line, wherever it is; None without one."""
        return self.line_baud if self.serial is None else self.serial.baud

    @property
    def character_bits(self) -> int:
        """Bits that one byte takes on the serial line; as many as there may be where nobody knows."""
        return 11 if self.serial is None else self.serial.character_bits

    @property
    def gap_s(self) -> float:
        """Silence before each request, in seconds."""
        if self.gap_ns is not None:
            return self.gap_ns / SECOND
        if not self.rtu:
            return 0.0
        return FAST_GAP_S if self.baud is None else frame_gap_s(self.baud)

    @property
    def place(self) -> str:
        """Where it is, for people: the device, or host and port."""
        return f"{self.host}:{self.port}" if self.serial is None else self.serial.device

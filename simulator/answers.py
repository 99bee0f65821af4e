"""What a scripted Modbus unit answers: honestly from its registers and coils, or forged as it is told."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from sensors.wire.rtu import rtu_frame

READS: Final = {3: "holding", 4: "inputs"}
BITS: Final = (1, 2)
WRITE_ONE: Final = 5
WRITES: Final = (WRITE_ONE, 15)
ON: Final = 0xFF00


class IdFault(Enum):
    """How the transaction id of an answer is forged."""

    WRONG = "wrong"  # one more than asked
    PREVIOUS = "previous"  # that of the request before
    SWAPPED = "swapped"  # its two bytes exchanged
    ZERO = "zero"


class CountFault(Enum):
    """How the byte count of an answer is forged; the MBAP length agrees with the forgery."""

    MORE = "more"  # one register too many
    FEWER = "fewer"  # one register too few
    ODD = "odd"  # one byte too few
    ZERO = "zero"


@dataclass(slots=True)
class ScriptedUnit:
    """One unit and its faults, all of which may be changed at any time.

    Attributes:
        holding, inputs: registers by wire address; an address not there is answered with exception 2.
        discrete: discrete inputs by wire address. One named in `contacts` shows the coil that it hangs on.
        let_go_s: it supervises its master: a coil not written for so long is released; None never.
        refresh: called before each answer, to bring everything to the present.
        on_write: hears each coil that takes a write, and what it was set to.
        silent: takes requests and says nothing.
        delay_s: answers so much later; on a serial line this is on top of the service time.
        exception: answers everything with this exception code.
        bad_registers: reads that touch one of these are answered with its exception code.
        wrong_unit: answers in the name of this unit.
        length_error: added to the MBAP length, which then lies; on RTU so many bytes are added or cut at the end.
        crc_error: on RTU, its check sum is false.
        noise_before, noise_after: on RTU, bytes around its answer that belong to no frame.
        cut_s: sends its answer byte by byte, so far apart.
        garbage: sent instead of an answer.
        repeat: sends its answer so often.
        stuck_coils: coils that take a write, echo it, and stay as they are.
        refuses_writes: answers every write of coils with this exception code.
        crossed: coils that are wired wrongly: a write moves another one.
        answers_left: goes silent after so many answers; None never.
    """

    holding: dict[int, int] = field(default_factory=dict)
    inputs: dict[int, int] = field(default_factory=dict)
    coils: dict[int, bool] = field(default_factory=dict)
    discrete: dict[int, bool] = field(default_factory=dict)
    contacts: dict[int, int] = field(default_factory=dict)
    let_go_s: float | None = None
    written: dict[int, float] = field(default_factory=dict)
    refresh: Callable[[], None] | None = None
    on_write: Callable[[int, bool], None] | None = None
    silent: bool = False
    delay_s: float = 0.0
    exception: int | None = None
    bad_registers: dict[int, int] = field(default_factory=dict)
    id_fault: IdFault | None = None
    wrong_unit: int | None = None
    count_fault: CountFault | None = None
    length_error: int = 0
    crc_error: bool = False
    noise_before: bytes = b""
    noise_after: bytes = b""
    cut_s: float = 0.0
    garbage: bytes | None = None
    repeat: int = 1
    stuck_coils: set[int] = field(default_factory=set)
    refuses_writes: int | None = None
    crossed: dict[int, int] = field(default_factory=dict)
    answers_left: int | None = None

    def set_float(self, register: int, value: float) -> None:
        """Put a float32 into two holding registers, high word first."""
        self.holding[register], self.holding[register + 1] = struct.unpack(">HH", struct.pack(">f", value))


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived. `at` is in seconds of the loop's clock; `count` is the value for a coil write.

    Attributes:
        data: what a write of several coils carries: its byte count and its bits.
    """

    at: float
    connection: int
    transaction: int
    unit: int
    function: int
    address: int
    count: int
    data: bytes = b""


def frame_of(transaction: int, unit: int, pdu: bytes, length_error: int = 0) -> bytes:
    """Return the whole frame; `length_error` is added to the MBAP length, which then lies."""
    length = max(0, len(pdu) + 1 + length_error)
    return struct.pack(">HHHB", transaction, 0, length, unit) + pdu


def rtu_frame_of(number: int, pdu: bytes, unit: ScriptedUnit | None = None) -> bytes:
    """Return the whole RTU frame in the name of unit `number`, with the faults of RTU that `unit` is to show."""
    frame = rtu_frame(bytes((number,)) + pdu)
    if unit is None:
        return frame
    if unit.crc_error:
        frame = frame[:-1] + bytes((frame[-1] ^ 0x55,))
    frame = frame[: unit.length_error] if unit.length_error < 0 else frame + b"\0" * unit.length_error
    return unit.noise_before + frame + unit.noise_after


def exception_to(request: Request, code: int) -> bytes:
    """Return the PDU that refuses."""
    return bytes((request.function | 0x80, code))


def answer_to(request: Request, unit: ScriptedUnit) -> bytes:
    """Return the PDU of an honest answer."""
    if unit.refresh is not None:
        unit.refresh()
    if unit.exception is not None:
        return exception_to(request, unit.exception)
    if request.function in READS:
        return _registers(request, unit)
    _let_go(unit, request.at)
    if request.function in BITS:
        return _bits(request, unit)
    if request.function in WRITES:
        return _write(request, unit)
    return _write_register(request, unit) if request.function == 6 else exception_to(request, 1)


def _write_register(request: Request, unit: ScriptedUnit) -> bytes:
    """What is written shows in the same register, as with most devices; a test may have it mean something else."""
    if request.address not in unit.holding:
        return exception_to(request, 2)
    unit.holding[request.address] = request.count
    return struct.pack(">BHH", 6, request.address, request.count)


def _inputs(unit: ScriptedUnit) -> dict[int, bool]:
    return unit.discrete | {at: unit.coils.get(coil, False) for at, coil in unit.contacts.items()}


def _let_go(unit: ScriptedUnit, now: float) -> None:
    """Release the coils that nobody has written to in time."""
    for coil, at in unit.written.items():
        if unit.let_go_s is not None and now - at > unit.let_go_s:
            unit.coils[coil] = False


def _registers(request: Request, unit: ScriptedUnit) -> bytes:
    table: dict[int, int] = getattr(unit, READS[request.function])
    if not 1 <= request.count <= 125:
        return exception_to(request, 3)
    wanted = range(request.address, request.address + request.count)
    for register in wanted:
        code = unit.bad_registers.get(register, 0 if register in table else 2)
        if code:
            return exception_to(request, code)
    words = [table[register] for register in wanted]
    return struct.pack(f">BB{len(words)}H", request.function, len(words) * 2, *words)


def _bits(request: Request, unit: ScriptedUnit) -> bytes:
    address, count = request.address, request.count
    table = _inputs(unit) if request.function == 2 else unit.coils
    if address not in table:
        return exception_to(request, 2)
    packed = 0
    for index in range(count):
        packed |= table.get(address + index, False) << index
    size = (count + 7) // 8
    return bytes((request.function, size)) + packed.to_bytes(size, "little")


def _write(request: Request, unit: ScriptedUnit) -> bytes:
    if request.function == WRITE_ONE:
        wanted = {request.address: request.count == ON}
    else:
        bits = int.from_bytes(request.data[1:], "little")
        wanted = {request.address + index: bool(bits >> index & 1) for index in range(request.count)}
    if not wanted or any(coil not in unit.coils for coil in wanted):
        return exception_to(request, 2)
    if unit.refuses_writes is not None:
        return exception_to(request, unit.refuses_writes)
    for coil, on in ((unit.crossed.get(coil, coil), on) for coil, on in wanted.items()):
        if coil not in unit.stuck_coils:
            unit.coils[coil] = on
            unit.written[coil] = request.at
            if unit.on_write is not None:
                unit.on_write(coil, on)
    return struct.pack(">BHH", request.function, request.address, request.count)


def forged_count(pdu: bytes, fault: CountFault | None) -> bytes:
    """Make a register answer too long, too short, odd or empty."""
    if pdu[0] not in READS:
        return pdu
    match fault:
        case None:
            return pdu
        case CountFault.MORE:
            return bytes((pdu[0], pdu[1] + 2)) + pdu[2:] + b"\xbe\xef"
        case CountFault.FEWER:
            return bytes((pdu[0], pdu[1] - 2)) + pdu[2:-2]
        case CountFault.ODD:
            return bytes((pdu[0], pdu[1] - 1)) + pdu[2:-1]
        case CountFault.ZERO:
            return bytes((pdu[0], 0))

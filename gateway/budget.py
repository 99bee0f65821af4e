"""The three seconds as named parts, computed from the configuration alone. Knows no clock and no measurement.

A budget is the worst time between a value at the register and the first output that takes its alarm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alerts.alarms import Level
from gateway.depot import Bus, Depot, Detector, MqttChannel, OnBroker, Output, WebhookChannel
from sensors.drivers.modbus import ModbusHead
from sensors.readings import DetectorId
from sensors.stamps import SECOND
from sensors.wire.points import ModbusPoints

DECIDE_S = 0.01
FIRST_OUTPUT_S = 0.5
"""Allowed for the first output, its own read-back or answer included."""

BROKER_S = 0.05
"""From a head's broker to us and decoded, on the depot's own network."""

ETHERNET_S = 0.005
"""One request and its answer on a local network, the device's own time included."""

SERIAL_TURNAROUND_S = 0.02
"""What a serial device takes before it answers; behind a converter, with the silent times around both frames."""

ADAPTER_S = 0.016
"""A USB adapter hands on what it received at such intervals."""

FRAME_BYTES = 8 + 5
"""A register request and the frame around its answer, on a serial line."""

MAX_WORDS = 125
"""Registers one request can read (Modbus application protocol, function 3)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The worst case of one detector.

    Attributes:
        parts: what it consists of, in order: ``poll``, ``line``, ``lost-poll``, ``broker``, ``decide``,
            ``output-line``, ``output``; only those that occur. Seconds.
        total_s: their sum, to the fastest counting output.
        audible_s: the same to the fastest siren; None without one.
        certified: the promise holds and nothing that a law asks here is missing.
        slowest: the name of the longest part.
        objections: why it is not certified: ``too-slow``, ``no-output``, ``audible-too-slow``, ``no-siren``,
            ``slow-head`` (it renews its value too seldom), ``slow-silence`` (its death shows too late),
            ``slow-age`` (its readings may grow too old).
        refresh_s: how often the head renews its value, None where nobody knows; not in the sum, since the promise
            starts where a value can be read.
    """

    detector: DetectorId
    parts: tuple[tuple[str, float], ...]
    total_s: float
    audible_s: float | None
    certified: bool
    slowest: str
    objections: tuple[str, ...]
    refresh_s: float | None


@dataclass(frozen=True, slots=True)
class _Round:
    """What one bus takes for all of its heads, worked out once.

    Attributes:
        line_s: the requests of one round, one after another.
        own_s: the longest request of each head's unit.
    """

    bus: Bus
    line_s: float
    own_s: Mapping[DetectorId, float]


def budget(depot: Depot, detector: Detector) -> Budget:
    """Return the worst case of one detector of this depot."""
    return _budget(depot, detector, _rounds(depot))


def budgets(depot: Depot) -> tuple[Budget, ...]:
    """Return every detector's budget, in the depot's order."""
    rounds = _rounds(depot)
    return tuple(_budget(depot, detector, rounds) for detector in depot.detectors)


def _budget(depot: Depot, detector: Detector, rounds: Mapping[str, _Round]) -> Budget:
    arriving = _arriving(detector, rounds)
    mine = [output for output in depot.outputs if output.row.counts and output.row.concerns(detector.area)]
    mine = [output for output in mine if output.row.level is Level.A1]
    ways = [_to_output(depot, output) for output in mine]
    sirens = [_to_output(depot, output) for output in mine if output.row.audible]
    if any(isinstance(channel, MqttChannel | WebhookChannel) for channel in depot.channels):
        ways.append((("output", FIRST_OUTPUT_S),))
    parts = (*arriving, ("decide", DECIDE_S), *min(ways, key=_sum, default=()))
    audible = min((_sum((*arriving, ("decide", DECIDE_S), *way)) for way in sirens), default=None)
    objections = _objections(depot, detector, _sum(parts), audible, heard=bool(ways))
    return Budget(
        detector=detector.id,
        parts=parts,
        total_s=_sum(parts),
        audible_s=audible,
        certified=not objections,
        slowest=max(parts, key=lambda part: part[1])[0],
        objections=objections,
        refresh_s=detector.refresh_s,
    )


def _objections(
    depot: Depot, detector: Detector, total: float, audible: float | None, *, heard: bool
) -> tuple[str, ...]:
    limit = depot.within_s
    law = next((area.audible_within_s for area in depot.areas if area.id == detector.area), None)
    found = {
        "no-output": not heard,
        "too-slow": total > limit,
        "no-siren": law is not None and audible is None,
        "audible-too-slow": law is not None and audible is not None and audible > law,
        "slow-head": (detector.refresh_s or 0.0) > limit,
        "slow-silence": (detector.detects_silence_s or 0.0) > limit,
        "slow-age": detector.blind_after_s > limit,
    }
    return tuple(name for name, holds in found.items() if holds)


# --- the way in ----------------------------------------------------------------------------------


def _rounds(depot: Depot) -> dict[str, _Round]:
    return {bus.settings.id: _round(bus) for bus in depot.buses}


def _round(bus: Bus) -> _Round:
    units: dict[int, list[ModbusHead]] = {}
    for head in bus.heads:
        units.setdefault(head.unit, []).append(head)
    requests = {unit: _requests(bus, heads) for unit, heads in units.items()}
    own = {head.detector: max(requests[head.unit], default=0.0) for head in bus.heads}
    return _Round(bus, sum(seconds for of_unit in requests.values() for seconds in of_unit), own)


def _arriving(detector: Detector, rounds: Mapping[str, _Round]) -> tuple[tuple[str, float], ...]:
    found = rounds.get(detector.source)
    if found is None:
        return (("broker", BROKER_S),)
    bus, line, own = found.bus, found.line_s, found.own_s[detector.id]
    if bus.settings.in_flight > 1 and bus.settings.baud is None:
        line = max(line / bus.settings.in_flight, own)
    return (
        ("poll", max(bus.settings.period_ns / SECOND, line)),  # a line too slow for its period goes as fast as it can
        ("line", line),
        ("lost-poll", _again_s(bus) + own),
    )


def _again_s(bus: Bus) -> float:
    """Seconds after a lost poll until its unit is asked again.

    On RTU only when no late answer can come; where ids are ignored in the next slot: there is no retry without them.
    """
    settings = bus.settings
    if settings.rtu:
        return max(settings.timeout_ns, settings.late_ns) / SECOND
    return (settings.timeout_ns if settings.strict_ids else max(settings.timeout_ns, settings.period_ns)) / SECOND


def _requests(bus: Bus, heads: Sequence[ModbusHead]) -> tuple[float, ...]:
    """Seconds that each block read of one unit takes: neighbours are read together, at most `MAX_WORDS` at a time."""
    ends: dict[object, list[int]] = {}
    blocks: list[int] = []
    for function, register, words in sorted(_spans(heads), key=lambda span: (span[0], span[1])):
        first, past = ends.get(function, (0, -MAX_WORDS))
        if register + words - first > MAX_WORDS or past < 0:
            ends[function] = [register, register + words]
            blocks.append(words)
        else:
            ends[function] = [first, max(past, register + words)]
            blocks[-1] = max(past, register + words) - first
    rest = max((head.turnaround_ns for head in heads), default=0) / SECOND
    return tuple(_transaction(bus, words, rest) for words in blocks)


def _spans(heads: Sequence[ModbusHead]) -> list[tuple[int, int, int]]:
    return [
        (function.value, register, words)
        for head in heads
        if isinstance(head.profile.points, ModbusPoints)
        for function, register, words in head.profile.points.spans()
    ]


def _transaction(bus: Bus, words: int, own: float) -> float:
    """Seconds of one request, its answer, and the silence they need around them; `own` is the rest its unit needs."""
    line = bus.settings
    common = line.turnaround_ns / SECOND
    # A unit that needs more rest than the others needs it twice: before its request and after its answer.
    rest = max(line.gap_s, common) if own <= max(line.gap_s, common) else 2 * own
    if line.baud is None:
        return ETHERNET_S + rest
    wire = (FRAME_BYTES + 2 * words) * line.character_bits / line.baud
    return (ADAPTER_S if line.serial else ETHERNET_S) + SERIAL_TURNAROUND_S + rest + wire


# --- the way out ---------------------------------------------------------------------------------


def _to_output(depot: Depot, output: Output) -> tuple[tuple[str, float], ...]:
    """A write and its read-back, behind whatever poll is in flight on the same line, one of them lost."""
    wire = output.wire
    if isinstance(wire, OnBroker):
        return (("output", FIRST_OUTPUT_S + 2 * BROKER_S),)
    bus = next(bus for bus in depot.buses if bus.settings.id == wire.bus)
    timeout = bus.settings.timeout_ns / SECOND
    rest = max((head.turnaround_ns for head in bus.heads if head.unit == wire.unit), default=0) / SECOND
    switching = ("output", max(FIRST_OUTPUT_S, timeout + 3 * _transaction(bus, 1, rest)))
    asked = bus.heads or any(scale.bus == wire.bus for scale in depot.scales)
    return (("output-line", timeout), switching) if asked else (switching,)


def _sum(parts: tuple[tuple[str, float], ...]) -> float:
    return sum(seconds for _, seconds in parts)

"""Every key of a profile file and what it may hold. The pages, the editor's schema and the checks all come from here.

What the keys mean together is made into points by `sensors.profiles.points`.
"""

from collections.abc import Mapping
from typing import Final

from sensors.profiles.shapes import (
    Choice,
    Either,
    Flag,
    KeyFault,
    ListOf,
    MapOf,
    Number,
    Raw,
    Scalar,
    Shape,
    TableOf,
    Text,
    Whole,
    words,
)
from sensors.wire.meanings import SAYINGS
from sensors.wire.places import Function, Type, WordOrder
from sensors.wire.units import UnitOfValue

STATUSES: Final = SAYINGS
"""The words by which a profile says what a device is doing; also the alarm words."""

FUNCTIONS: Final = {
    "holding": Function.HOLDING,
    "input": Function.INPUT,
    "coil": Function.COIL,
    "discrete": Function.DISCRETE,
    3: Function.HOLDING,
    4: Function.INPUT,
    1: Function.COIL,
    2: Function.DISCRETE,
}
UNITS: Final = {each.value: each for each in UnitOfValue}

_word = Whole(0, 0xFFFF, "a register value")
_whole = Whole(0, 0xFFFF_FFFF, "a whole number")
_bit = Whole(0, 31, "a bit number")
_register = Whole(0, 0xFFFF, "a wire address")
_function = Choice(FUNCTIONS)
_meaning = Choice({name: name for name in SAYINGS})
_unit = Choice(UNITS)
_positive, _from_zero = Number(above=0), Number(least=0)
_pointer = Text(empty=True, what="a JSON pointer")

PROVENANCE: Final[dict[str, Shape]] = {
    "source": Text(),
    "assumed": ListOf(Text()),
    "note": Text(),
}
"""Keys that any point may have: where its numbers were read, which of its keys are assumed, and words."""

PLACE: Final[dict[str, Shape]] = {
    "function": _function,
    "register": _register,
    "address": Whole(0, 999_999, "an address as printed"),
    "base": Whole(0, 400_001, "what stands for wire address 0"),
    "type": Choice({each.value: each for each in Type}),
    "word_order": Choice({each.value: each for each in WordOrder}),
    "field": ListOf(_bit, size=2),
    "byte": words("high", "low"),
    "at_byte": Whole(0, 249, "a count of bytes"),
    "length": Whole(1, 60, "a count of registers"),
    "stride": Whole(0, 10_000, "registers from one channel to the next"),
    "bit_stride": Whole(0, 31, "bits from one channel to the next"),
    **PROVENANCE,
}
"""Where one raw value sits in a device's registers or bits."""

_code = TableOf({"at": _whole, "from": _whole, "to": _whole, "means": _meaning}, required=("means",))
_bits = MapOf(ListOf(_bit, alone=True), {name: name for name in SAYINGS if name != "measuring"})

MEANING: Final[dict[str, Shape]] = {
    "bits": _bits,
    "clear_bits": _bits,
    "codes": ListOf(_code),
    "words": MapOf(_meaning),
    "otherwise": _meaning,
    "gate": Flag(),
}
"""What the raw value of a state means."""

_sentinel = ListOf(Either(Raw(), TableOf({"from": Raw(), "to": Raw()}, required=("from", "to"))), alone=True)
_sentinels = MapOf(_sentinel, {name: name for name in SAYINGS if name != "measuring" and not name.startswith("alarm")})
_trips = MapOf(_positive, {name: name for name in ("alarm", "alarm1", "alarm2", "alarm3")})


def _coded(item: Shape) -> ListOf:
    return ListOf(TableOf({"at": _whole, "from": _whole, "to": _whole, "means": item}, required=("means",)))


CHANNELS: Final = TableOf(
    {
        "first": Whole(0, 10_000, "a channel number"),
        "count": Whole(1, 10_000, "a count of channels"),
        "stride": Whole(0, 10_000, "registers from one channel to the next"),
        "axes": MapOf(Whole(1, 10_000, "channels from one to the next")),
    },
    required=("count",),
)
CHANNEL: Final = Either(Whole(0, 10_000, "a channel number"), MapOf(Whole(1, 10_000, "a number along one axis")))

_band = TableOf({"from": Number(), "to": Number(), "means": _meaning}, required=("from", "to", "means"))
HEAD: Final = TableOf(
    {
        "milliamp": ListOf(Number(least=0), size=2),
        "range_lel_pct": ListOf(Number(), size=2),
        "range_ppm": ListOf(Number(), size=2),
        "range_vol_pct": ListOf(Number(), size=2),
        "fault_below_ma": _from_zero,
        "fault_above_ma": _from_zero,
        "over_range_above_ma": _from_zero,
        "bands": ListOf(_band),
    }
)
"""The analogue head behind an input: what its current stands for, and which currents are no measurement."""

SHARED: Final[dict[str, Shape]] = {
    "scale": Number(not_zero=True),
    "offset": Number(),
    "two_point": ListOf(ListOf(Number(), size=2), size=2),
    "full_scale": _positive,
    "zero_drift": _from_zero,
    "trip": _positive,
    "trips": _trips,
    "sentinels": _sentinels,
    "precedence": ListOf(_meaning),
    "head": HEAD,
    "channels": CHANNELS,
    "channel": CHANNEL,
    "frozen_after_s": _positive,
    "drift_warning": _positive,
}
"""Keys of a value that are the same on both wires."""

_place = TableOf(PLACE)
STATE: Final = TableOf({**PLACE, **MEANING})
_scale_register = TableOf({**PLACE, "codes": _coded(Number(not_zero=True))}, required=("codes",))
_unit_register = TableOf({**PLACE, "codes": _coded(_unit), "words": MapOf(_unit)})
_full_scale_register = TableOf({**PLACE, "scale": Number(above=0)})
_sign_register = TableOf({**PLACE, "negative": ListOf(_whole, alone=True)})
_identity = TableOf({**PLACE, "mask": _whole, "equals": ListOf(_whole, alone=True), "text": ListOf(Text(), alone=True)})
_heartbeat = TableOf(
    {**PLACE, "period_s": _positive, "missed": Whole(1, 100, "a count of periods")}, required=("period_s",)
)

MODBUS_KEYS: Final[dict[str, Shape]] = {
    **PLACE,
    **SHARED,
    "scale": Either(Number(not_zero=True), _scale_register),
    "full_scale": Either(_positive, _full_scale_register),
    "unit_of_value": Either(_unit, _unit_register),
    "decimals": Either(Whole(0, 9, "a count of decimals"), _place),
    "divisor": _place,
    "sign": _sign_register,
    "states": ListOf(STATE),
    "identity": _identity,
    "echoes_unit": _place,
    "heartbeat": _heartbeat,
    "address_offset": Whole(-0xFFFF, 0xFFFF, "what the site adds to every address"),
    "status_register": _register,
    "status_function": _function,
    "bits": _bits,
}
"""Keys of ``[points]`` of a Modbus device."""

_payload = words("json", "text", "list", "lines", "sparkplug")
_metric = Text(what="the name of a metric")
FIELD: Final[dict[str, Shape]] = {"topic": Text(), "pointer": _pointer, "payload": _payload, **PROVENANCE}
"""Where one fact sits in what a device publishes."""

_scalars = ListOf(Scalar(), alone=True)
MISSING_STATE: Final = words("uncertain", "unchanged", "last", "normal", "fault")
PAYLOAD_STATE: Final = TableOf({**FIELD, "metric": _metric, **MEANING, "missing": MISSING_STATE, "retained": Flag()})
AVAILABILITY: Final = TableOf({**FIELD, "online": _scalars, "offline": _scalars})
WHEN: Final = TableOf({"pointer": _pointer, "equals": _scalars, "absent": Flag()}, required=("pointer",))
SAMPLE_TIME: Final = TableOf(
    {"pointer": _pointer, "form": words("rfc3339", "unix_s", "unix_ms")}, required=("pointer",)
)

REGISTERS_KEYS: Final[dict[str, Shape]] = {
    "pointer": _pointer,
    "form": words("list", "base64", "hex"),
    "first": _register,
    "function": _function,
}

PAYLOAD_KEYS: Final[dict[str, Shape]] = {
    "value": Either(_pointer, TableOf(FIELD)),
    "metric": _metric,
    **SHARED,
    "unit_of_value": Either(_unit, TableOf({**FIELD, "words": MapOf(_unit)}, required=("words",))),
    "states": ListOf(PAYLOAD_STATE),
    "sequence": _pointer,
    "sample_time": SAMPLE_TIME,
    "topic": Text(),
    "payload": _payload,
    "text_numbers": Flag(),
    "missing": words("ignore", "zero", "fault"),
    "when": ListOf(WHEN),
    "availability": AVAILABILITY,
    "carrier": TableOf(REGISTERS_KEYS, required=("form",)),
    "registers": TableOf(MODBUS_KEYS),
    **PROVENANCE,
}
"""Keys of ``[points]`` of a device that speaks MQTT."""

OUTPUT: Final[dict[str, Shape]] = {
    **PLACE,
    "on": Raw(),
    "off": Raw(),
    "forbidden": ListOf(_word),
    "only": words("on", "off"),
    "safe": words("on", "off"),
    "pulse_s": _positive,
    "stops_after_s": _positive,
    "read_back": TableOf({**PLACE, "on": ListOf(_word, alone=True), "off": ListOf(_word, alone=True)}),
    "channels": CHANNELS,
}
MQTT_OUTPUT: Final[dict[str, Shape]] = {
    "command": TableOf({"topic": Text(), "on": Text(empty=True), "off": Text(empty=True)}, required=("topic",)),
    "confirm": TableOf({**FIELD, "on": _scalars, "off": _scalars}, required=("topic",)),
    "ask": TableOf({"topic": Text(), "payload": Text(empty=True)}, required=("topic",)),
    "only": words("on", "off"),
    "safe": words("on", "off"),
    "pulse_s": _positive,
    "stops_after_s": _positive,
    "channels": CHANNELS,
    **PROVENANCE,
}
_measure_parts: Final[dict[str, Shape]] = {"unit": Text(), "role": Text()}
MEASURE: Final[dict[str, Shape]] = {
    **{name: shape for name, shape in MODBUS_KEYS.items() if name not in ("unit_of_value", "head", "trip", "trips")},
    **_measure_parts,
}
MQTT_MEASURE: Final[dict[str, Shape]] = {
    **{name: shape for name, shape in PAYLOAD_KEYS.items() if name not in ("unit_of_value", "head", "trip", "trips")},
    **_measure_parts,
}
COUNTER: Final[dict[str, Shape]] = {
    **PLACE,
    "wrap": Whole(2, 2**64, "the count after which it starts at 0 again"),
    "resets": words("zero", "never"),
    "per_count": Number(above=0),
    "unit": Text(),
    "channels": CHANNELS,
}
TAGS: Final[dict[str, Shape]] = {
    **FIELD,
    "each": _pointer,
    "id": _pointer,
    "encoding": words("hex", "base64", "text"),
    "when": ListOf(WHEN),
    "same_within_s": _positive,
    "antenna": _pointer,
    "time": _pointer,
}

LINE: Final = TableOf(
    {
        "transports": ListOf(words("tcp", "rtu", "rtu-over-tcp")),
        "baud": Whole(300, 921_600, "a line speed"),
        "parity": words("none", "even", "odd"),
        "stop_bits": Whole(1, 2, "a count of stop bits"),
        "units": ListOf(Whole(0, 255, "a unit"), size=2),
        "gap_ms": _from_zero,
        "turnaround_ms": _from_zero,
        "timeout_ms": _positive,
        "retries": Whole(0, 10, "a count of retries"),
        "transaction_id": words("strict", "ignore"),
        "max_registers": Whole(1, 125, "registers in one read"),
        "max_bits": Whole(1, 2000, "bits in one read"),
        "max_gap": Whole(0, 124, "unasked registers in one read"),
        "holes": ListOf(ListOf(_register, size=2)),
        "exact_reads": ListOf(ListOf(_register, size=2)),
    }
)
TIMING: Final = TableOf(
    {
        "refresh_s": _from_zero,
        "detects_silence_s": _from_zero,
        "warm_up_s": _from_zero,
        "t90_s": _from_zero,
        "event_driven": Flag(),
    }
)
SERVICE: Final = TableOf(
    {
        "calibration_days": Whole(1, 3650, "days"),
        "bump_days": Whole(1, 3650, "days"),
        "function_test_days": Whole(1, 3650, "days"),
    }
)
VERIFICATIONS: Final = ("verified", "partly", "assumed", "site")
PROVENANCE_SECTION: Final = TableOf({"verification": words(*VERIFICATIONS), "sources": ListOf(Text()), "note": Text()})
KINDS: Final = ("detector", "controller", "input", "bridge", "output", "scale", "counter", "tags", "supply")

TOP: Final[Mapping[str, Shape]] = {
    "format": Choice({1: 1}),
    "id": Text(what="a name"),
    "like": Text(),
    "title": Text(),
    "maker": Text(),
    "kind": words(*KINDS),
    "wire": words("modbus", "mqtt"),
    "requires": ListOf(Text()),
    "accepts": ListOf(Text()),
    "timing": TIMING,
    "line": LINE,
    "service": SERVICE,
    "provenance": PROVENANCE_SECTION,
}
"""Keys of the file itself; ``points``, ``measures``, ``outputs``, ``counters`` and ``tags`` depend on the wire."""

SECTIONS: Final[Mapping[str, Mapping[str, Shape]]] = {
    "modbus": {
        "points": TableOf(MODBUS_KEYS),
        "measures": MapOf(TableOf(MEASURE)),
        "outputs": MapOf(TableOf(OUTPUT)),
        "counters": MapOf(TableOf(COUNTER)),
    },
    "mqtt": {
        "points": TableOf(PAYLOAD_KEYS),
        "measures": MapOf(TableOf(MQTT_MEASURE)),
        "outputs": MapOf(TableOf(MQTT_OUTPUT)),
        "tags": TableOf(TAGS),
    },
}

ALWAYS_ACCEPTED: Final = ("refresh_s", "frozen_after_s")
"""Settings that every profile takes."""

__all__ = ["ALWAYS_ACCEPTED", "MODBUS_KEYS", "PAYLOAD_KEYS", "STATUSES", "KeyFault"]

"""From the keys of ``[points]`` to the points of a device that speaks MQTT, every key checked."""

from collections.abc import Mapping
from typing import Any

from sensors.profiles.keys import PAYLOAD_KEYS
from sensors.profiles.points import modbus_points
from sensors.profiles.shapes import NOTHING, KeyFault, Table, shown
from sensors.profiles.shared import channel_index, head_of, meaning_of, scale_and_offset, sentinels_of
from sensors.sentences import Sentence
from sensors.wire.payload_points import (
    Availability,
    Carrier,
    FieldPoint,
    PayloadPoints,
    PayloadState,
    SampleTime,
    When,
    pointer_to,
)
from sensors.wire.places import Function
from sensors.wire.topics import DEFAULT, UnknownNameError
from sensors.wire.units import UnitOfValue


def payload_points(table: Mapping[str, object]) -> PayloadPoints:
    """Make the points of a head that speaks MQTT from its keys, all of which are known by name.

    Raises:
        KeyFault: for the first key that is wrong or missing.
    """
    found: dict[str, Any] = {name: PAYLOAD_KEYS[name].check(name, value) for name, value in table.items()}
    channel = _channel(found)
    states = tuple(_state(f"states.{at}", state) for at, state in enumerate(found.get("states", ())))
    value, carrier = _value(found), _carrier(found, table)
    if value is None and carrier is None and not any("alarm" in "".join(state.meaning.says()) for state in states):
        raise KeyFault("value", "the JSON pointer of the value, such as '/lel'", NOTHING)
    unit = found.get("unit_of_value", UnitOfValue.LEL_PCT)
    fixed = unit if isinstance(unit, UnitOfValue) else None
    scale, offset = scale_and_offset(found)
    try:
        points = PayloadPoints(
            value=None if value is None else value.pointer,
            value_topic="" if value is None else value.topic,
            value_payload="" if value is None else value.payload,
            unit_of_value=fixed or UnitOfValue.LEL_PCT,
            unit_field=None if fixed else _field(unit),
            unit_words=() if fixed else tuple(unit["words"].items()),
            scale=scale,
            offset=offset,
            full_scale=found.get("full_scale"),
            zero_drift=found.get("zero_drift"),
            trip=found.get("trip"),
            trips=tuple(found.get("trips", {}).items()),
            sentinels=sentinels_of(found),
            states=states,
            precedence=found.get("precedence", ()),
            head=None if carrier else head_of(found, unit),
            sequence=found.get("sequence"),
            sample_time=_sample_time(found.get("sample_time")),
            topic=found.get("topic", DEFAULT),
            payload=found.get("payload", "json"),
            text_numbers=found.get("text_numbers", False),
            missing=found.get("missing", "ignore"),
            when=tuple(when_of(f"when.{at}", when) for at, when in enumerate(found.get("when", ()))),
            availability=_availability(found.get("availability")),
            carrier=carrier,
            frozen_after_s=found.get("frozen_after_s"),
            drift_warning=found.get("drift_warning"),
        )
        return points.on_channel(channel)
    except ValueError as error:
        key = _blamed(found, error)
        fitting = Sentence("pointers, topics and numbers that fit ({reason})", reason=error)
        raise KeyFault(key, fitting, table.get(key, NOTHING)) from None


def _blamed(found: Mapping[str, Any], error: ValueError) -> str:
    """Return the key that a mistake in the points as a whole is most likely in."""
    if "topic" in found and isinstance(error, UnknownNameError):
        return "topic"
    return "states" if _value(found) is None else "value"


def _channel(found: Mapping[str, Any]) -> dict[str, str]:
    """Return what ``{channel}`` and ``{index}`` stand for; nothing where the device has no channels."""
    index = channel_index(found)
    if "channels" not in found:
        return {}
    return {"channel": str(found["channels"].get("first", 1) + index), "index": str(index)}


def _field(table: Table) -> FieldPoint:
    return FieldPoint(table.get("pointer", ""), table.get("topic", ""), table.get("payload", ""))


def _value(found: Table) -> FieldPoint | None:
    value = found.get("value")
    if "metric" in found:
        if value is not None:
            raise KeyFault("metric", "either `metric` or `value`", shown(found["metric"]))
        return FieldPoint(pointer_to(found["metric"]))
    if value is None:
        return None
    return FieldPoint(value) if isinstance(value, str) else _field(value)


def _state(key: str, table: Table) -> PayloadState:
    if not {"pointer", "topic", "metric"} & set(table):
        raise KeyFault(f"{key}.pointer", "a value", NOTHING)
    missing = table.get("missing", "unchanged" if {"topic", "metric"} & set(table) else "uncertain")
    field = FieldPoint(pointer_to(table["metric"])) if "metric" in table else _field(table)
    return PayloadState(field, meaning_of(key, table), missing, table.get("retained", False), table.get("gate", False))


def when_of(key: str, table: Table) -> When:
    """Return one condition for a message to be this head's.

    Raises:
        KeyFault: if it says nothing, or two things.
    """
    absent, equals = table.get("absent", False), table.get("equals", ())
    if absent == bool(equals):
        raise KeyFault(f"{key}.equals", "what the field must be (or `absent = true`)", NOTHING)
    return When(table["pointer"], equals, absent)


def _availability(table: Table | None) -> Availability | None:
    if table is None:
        return None
    return Availability(_field(table), table.get("online", ("online",)), table.get("offline", ("offline",)))


def _sample_time(table: Table | None) -> SampleTime | None:
    return None if table is None else SampleTime(table["pointer"], table.get("form", "rfc3339"))


def _carrier(found: Table, table: Mapping[str, object]) -> Carrier | None:
    carrier, registers = found.get("carrier"), table.get("registers")
    if (carrier is None) != (registers is None):
        name = "carrier" if carrier is None else "registers"
        raise KeyFault(name, "both: where the registers are (`carrier`) and what they hold (`registers`)", NOTHING)
    if carrier is None or not isinstance(registers, Mapping):
        return None
    function = carrier.get("function", Function.HOLDING)
    inner = {name: found[name] for name in ("channels", "channel", "head") if name in found}
    try:
        points = modbus_points({"function": function.value, **inner, **registers})
    except KeyFault as fault:
        raise fault.under("registers") from None
    return Carrier(carrier.get("pointer", ""), carrier["form"], carrier.get("first", 0), function, points)

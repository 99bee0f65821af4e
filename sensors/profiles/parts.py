"""Outputs, counters, measures and tags of a profile: from its keys to what the wires use, every key checked."""

from collections.abc import Mapping
from typing import Any, Final

from sensors.profiles.keys import COUNTER, MEASURE, MQTT_MEASURE, MQTT_OUTPUT, OUTPUT, TAGS
from sensors.profiles.payloads import payload_points, when_of
from sensors.profiles.points import modbus_points, place_of, site_of
from sensors.profiles.shapes import NOTHING, KeyFault, Table, TableOf
from sensors.profiles.shared import channel_index
from sensors.sentences import Sentence
from sensors.wire.counts import CounterPoint, TagPoints
from sensors.wire.outputs import WRITES, Habits, MqttOutput, OutputPoint
from sensors.wire.payload_points import FieldPoint, PayloadPoints, pointer_tokens
from sensors.wire.places import Function, Type
from sensors.wire.points import ModbusPoints, ReadLimits
from sensors.wire.topics import names

ENDLESS: Final = 1e12
"""Full scale and zero drift of a measure that tells none: it is no gas, so nothing is over range or below zero."""

ONE_READ_S: Final = 2.0


def output_point(table: Table, channel: object = None) -> OutputPoint:
    """Make an output of a Modbus device.

    Raises:
        KeyFault: for the first key that is wrong or missing.
    """
    found = TableOf(OUTPUT).check("", _channelled(table, channel, OUTPUT))
    site = site_of({**found, "channel": channel} if "channels" in found else found)
    kind = Type.BOOL if site.function.of_bits else Type.UINT16
    place = place_of("", found, site, kind)
    if place.function not in WRITES:
        raise KeyFault("function", "a table that can be written: coil or holding", place.function.name.lower())
    if place.function is Function.HOLDING and ("on" not in found or "off" not in found):
        raise KeyFault("on", "what is written to switch it on, and `off` for off", NOTHING)
    on, off = int(found.get("on", 1)), int(found.get("off", 0))
    for name, value in (("on", on), ("off", off)):
        if value in found.get("forbidden", ()):
            raise KeyFault(name, "a value that is not forbidden", value)
    back = found.get("read_back")
    return OutputPoint(
        place=place,
        on=on,
        off=off,
        read_back=None if back is None else place_of("read_back", back, site, kind, place),
        reads_on=(back or {}).get("on", (on,)),
        reads_off=(back or {}).get("off", (off,)),
        habits=_habits(found),
    )


def mqtt_output(table: Table, channel: object = None) -> MqttOutput:
    """Make an output of a device that speaks MQTT; ``{channel}`` in what is said and where stands for its channel.

    Raises:
        KeyFault: for the first key that is wrong or missing.
    """
    found = TableOf(MQTT_OUTPUT, required=("command",)).check("", _channelled(table, channel, MQTT_OUTPUT))
    if "channels" in found:
        number = str(found["channels"].get("first", 1) + channel_index({**found, "channel": channel}))
        for part in ("command", "confirm", "ask"):
            if part in found:
                found[part] = _numbered(found[part], number)
    command, confirm, ask, habits = found["command"], found.get("confirm"), found.get("ask"), _habits(found)
    for name, needed in (("on", habits.only is not False), ("off", habits.only is not True)):
        if needed and name not in command:
            raise KeyFault(f"command.{name}", Sentence("what is said to switch it {name}", name=name), NOTHING)
    for key, topic in (
        ("command.topic", command["topic"]),
        ("confirm.topic", (confirm or command)["topic"]),
        ("ask.topic", (ask or command)["topic"]),
    ):
        _topic(key, topic)
    field = None
    if confirm is not None:
        field = FieldPoint(confirm.get("pointer", ""), confirm["topic"], confirm.get("payload", "json"))
        _pointer("confirm.pointer", field.pointer)
    return MqttOutput(
        topic=command["topic"],
        on=command.get("on", ""),
        off=command.get("off", ""),
        confirm=field,
        says_on=(confirm or {}).get("on", (command.get("on", ""),)),
        says_off=(confirm or {}).get("off", (command.get("off", ""),)),
        habits=habits,
        ask=None if ask is None else (ask["topic"], ask.get("payload", "")),
    )


def counter_point(table: Table, channel: object = None) -> CounterPoint:
    """Make a counter of a Modbus device.

    Raises:
        KeyFault: for the first key that is wrong or missing.
    """
    found = TableOf(COUNTER).check("", _channelled(table, channel, COUNTER))
    site = site_of({**found, "channel": channel} if "channels" in found else found)
    place = place_of("", found, site, Type.UINT32)
    width = place.part.width if place.part else place.type.bits
    wrap = found.get("wrap", 1 << width)
    if wrap > 1 << width:
        raise KeyFault("wrap", Sentence("at most {most}, which is all its type can hold", most=1 << width), wrap)
    per, unit = found.get("per_count", 1.0), found.get("unit", "")
    return CounterPoint(place, wrap, found.get("resets", "zero") == "zero", per, unit)


def measure_points(table: Table, channel: object = None, limits: ReadLimits | None = None) -> ModbusPoints:
    """Make a measure of a Modbus device: points whose number is in the measure's own unit.

    Raises:
        KeyFault: for the first key that is wrong or missing.
    """
    TableOf(MEASURE).check("", table)
    return modbus_points(_as_points(table, channel), limits)


def payload_measure(table: Table, channel: object = None) -> PayloadPoints:
    """Make a measure of a device that speaks MQTT.

    Raises:
        KeyFault: for the first key that is wrong or missing.
    """
    TableOf(MQTT_MEASURE).check("", table)
    return payload_points(_as_points(table, channel))


def tag_points(table: Table) -> TagPoints:
    """Make the points of a reader of tags.

    Raises:
        KeyFault: for the first key that is wrong or missing.
    """
    found = TableOf(TAGS, required=("id",)).check("", table)
    for name in ("each", "id", "antenna"):
        _pointer(name, found.get(name, ""))
    return TagPoints(
        field=FieldPoint("", found.get("topic", ""), found.get("payload", "json")),
        each=found.get("each", ""),
        identity=found["id"],
        encoding=found.get("encoding", "hex"),
        when=tuple(when_of(f"when.{at}", when) for at, when in enumerate(found.get("when", ()))),
        same_within_s=found.get("same_within_s", ONE_READ_S),
    )


def _as_points(table: Table, channel: object) -> dict[str, Any]:
    found = {name: value for name, value in table.items() if name not in ("unit", "role")}
    usual = {"full_scale": ENDLESS, "zero_drift": ENDLESS}
    return {**usual, **found, **({} if channel is None or "channels" not in found else {"channel": channel})}


def _channelled(table: Table, channel: object, keys: Mapping[str, object]) -> Table:
    if channel is not None and "channels" in keys and "channels" not in table:
        raise KeyFault("channel", "no channel: there is one of these", "one")
    return table


def _habits(found: Table) -> Habits:
    states = {"on": True, "off": False}
    return Habits(
        only=states.get(found.get("only", "")),
        safe=states.get(found.get("safe", "")),
        pulse_s=found.get("pulse_s"),
        stops_after_s=found.get("stops_after_s"),
    )


def _numbered(part: Table, number: str) -> dict[str, Any]:
    """Return a table with ``{channel}`` filled in wherever a text has it."""
    return {
        name: value.replace("{channel}", number) if isinstance(value, str) else value for name, value in part.items()
    }


def _topic(key: str, topic: str) -> None:
    try:
        names(topic)
    except ValueError as error:
        raise KeyFault(key, Sentence("a topic ({reason})", reason=error), topic) from None


def _pointer(key: str, pointer: str) -> None:
    try:
        pointer_tokens(pointer)
    except ValueError as error:
        raise KeyFault(key, Sentence("a JSON pointer ({reason})", reason=error), pointer) from None

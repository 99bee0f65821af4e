"""Switched channels: from ``[[channel]]`` and the profile of its device to an output, each mistake put in its place."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, time, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from alerts.alarms import Level
from alerts.effects import Does, Occasion, OutputKind, Row, usual
from alerts.voting import Gate
from gateway.configuration.problems import Sheet, near, shown
from gateway.configuration.schema import OutputTable
from gateway.configuration.tables import Entry, Tables
from gateway.depot import OnBroker, OnLine, Output
from gateway.engine.plans import Plan
from sensors import profiles
from sensors.profiles import ProfileError
from sensors.profiles.parts import mqtt_output, output_point
from sensors.profiles.shapes import KeyFault
from sensors.stamps import SECOND
from sensors.toml_lines import Path as TomlPath
from sensors.wire.outputs import MqttOutput, OutputPoint, coil
from sensors.wire.topics import TopicError

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

HOWS = ("coil", "modbus", "mqtt", "profile")
"""Keys of which exactly one says how an output is switched."""

LINE_CHECK_S, BROKER_CHECK_S = 2.0, 30.0
"""How often an output is read back at rest, unless the file says otherwise: a broker's devices may run on batteries."""


def outputs_of(sheet: Sheet, tables: Tables, folder: Path) -> tuple[Output, ...]:
    """Return every output that can be switched, noting what is wrong with the others."""
    found: list[Output] = []
    first: dict[object, tuple[TomlPath, str]] = {}
    for entry in tables.channels:
        if isinstance(entry.table, OutputTable):
            output = _output(sheet, entry, folder)
            if output is not None:
                found.append(output)
                _alone(sheet, entry, output, first)
    return tuple(found)


def plan_of(sheet: Sheet, tables: Tables, outputs: Sequence[Output]) -> Plan | None:
    """Return when outputs are tested by themselves; None where the file does not say."""
    entry = tables.output_test
    if entry is None:
        return None
    table = entry.table
    usual_ones = tuple(output.id for output in outputs if output.row.counts)
    known = [output.id for output in outputs if not output.row.held]
    for index, name in enumerate(table.outputs):
        if name not in known:
            listed = near(name, known) if known else "-"
            sheet.refuse((*entry.path, "outputs", index), "output_test", id=shown(name), near=listed)
    if not usual_ones:
        sheet.refuse(entry.path, "nothing_to_test")
    depot = tables.depot.table if tables.depot else None
    return Plan(
        weekday=DAYS.index(table.day) if table.day in DAYS else None,
        at=time.fromisoformat(table.at),
        zone=_zone(depot.timezone if depot else "UTC"),
        outputs=tuple(table.outputs) or usual_ones,
        pulse=round(table.pulse_s * SECOND),
    )


def _output(sheet: Sheet, entry: Entry[OutputTable], folder: Path) -> Output | None:
    table, path = entry.table, entry.path
    hows = [name for name in HOWS if getattr(table, name) is not None]
    if len(hows) != 1:
        sheet.refuse(path, "output_how" if not hows else "output_twice", found=", ".join(hows))
        return None
    point = _point(sheet, entry, hows[0], folder)
    if point is None or not _belongs(sheet, entry, point):
        return None
    kind = OutputKind(table.kind)
    if kind is OutputKind.HEARTBEAT and table.energised == "normal":
        sheet.refuse((*path, "energised"), "heartbeat_energised")
    if table.energised == "normal" and kind is not OutputKind.HEARTBEAT:
        point = point.inverted()
    wire = _wire(sheet, entry, point)
    if wire is None:
        return None
    _direction(sheet, entry, kind, wire)
    return Output(
        id=table.id,
        row=_row(sheet, entry, kind),
        wire=wire,
        name=table.name or table.id,
        energised=table.energised,
        at_stop=table.at_stop or ("normal" if kind is OutputKind.HEARTBEAT else "keep"),
        check_s=table.check_s or (LINE_CHECK_S if isinstance(wire, OnLine) else BROKER_CHECK_S),
    )


# --- how it is switched ---------------------------------------------------------------------------


def _point(sheet: Sheet, entry: Entry[OutputTable], how: str, folder: Path) -> OutputPoint | MqttOutput | None:
    table = entry.table
    if table.profile is not None:
        return _of_profile(sheet, entry, table.profile, folder)
    if table.coil is not None:
        return coil(table.coil)
    try:
        return output_point(table.modbus) if table.modbus is not None else mqtt_output(table.mqtt or {})
    except KeyFault as fault:
        at: TomlPath = (*entry.path, how, *fault.key.split("."))
        sheet.refuse(at, "output_key", word=fault.key, got=fault.got, expected=fault.expected)
        return None


def _of_profile(sheet: Sheet, entry: Entry[OutputTable], name: str, folder: Path) -> OutputPoint | MqttOutput | None:
    at = (*entry.path, "profile")
    try:
        profile = profiles.load(name, folder)
    except (ProfileError, ValueError):  # ValueError: a name that no file can have
        sheet.refuse(at, "unknown_profile", profile=shown(name), near=near(name, [*profiles.names()]))
        return None
    parts = profile.parts("outputs")
    chosen = entry.table.output or (parts[0] if len(parts) == 1 else "")
    if chosen not in parts:
        listed = ", ".join(parts) or "-"
        sheet.refuse((*entry.path, "output"), "output_part", got=shown(chosen), profile=shown(name), listed=listed)
        return None
    try:
        return profile.output(chosen, entry.table.channel)
    except ProfileError as error:
        values = {"profile": shown(name), "got": error.got, "expected": error.expected}
        sheet.refuse((*entry.path, "channel"), "profile_setting", **values)
        return None


def _belongs(sheet: Sheet, entry: Entry[OutputTable], point: OutputPoint | MqttOutput) -> bool:
    """Refuse an output on the wrong kind of wire, and one that could never prove what it does."""
    table, path = entry.table, entry.path
    if isinstance(point, OutputPoint):
        for key, example in (("bus", 'bus = "saidas"'), ("unit", "unit = 1")):
            if getattr(table, key) is None:
                sheet.refuse((*path, key), "missing", word=key, example=example)
                return False
        proves = point.read_back is not None
    else:
        for key in ("bus", "unit"):
            if getattr(table, key) is not None:
                sheet.refuse((*path, key), "unit_on_mqtt", word=key)
                return False
        if "mqtt" not in sheet.tables:
            sheet.refuse(path, "no_broker")
            return False
        proves = point.confirm is not None
    if not proves:
        sheet.refuse(path, "output_unproved")
    return proves


def _wire(sheet: Sheet, entry: Entry[OutputTable], point: OutputPoint | MqttOutput) -> OnLine | OnBroker | None:
    table = entry.table
    if isinstance(point, OutputPoint):
        return OnLine(table.bus or "", table.unit or 0, point)
    names: Mapping[str, str] = table.names or {}
    try:
        point.message(names, on=point.habits.only is not False)
        point.confirmed_on(names)
        point.question(names)
    except TopicError as error:
        sheet.refuse((*entry.path, "names"), "output_names", reason=error)
        return None
    return OnBroker(point, names)


def _alone(sheet: Sheet, entry: Entry[OutputTable], output: Output, first: dict[object, tuple[TomlPath, str]]) -> None:
    wire = output.wire
    place: object
    if isinstance(wire, OnLine):
        place = (wire.bus, wire.unit, wire.point.place.function, wire.point.place.register)
    else:
        place = wire.point.message(wire.names, on=wire.point.habits.only is not False)
    key = next(name for name in HOWS if getattr(entry.table, name) is not None)
    at: TomlPath = (*entry.path, key)
    if place in first:
        there, other = first[place]
        sheet.refuse(at, "same_coil", first=sheet.at(there), coil=other)
    first.setdefault(place, (at, output.id))


# --- what it does -----------------------------------------------------------------------------------


def _row(sheet: Sheet, entry: Entry[OutputTable], kind: OutputKind) -> Row:
    table = entry.table
    row = usual(kind.value, {Occasion(cause): Does(does) for cause, does in table.effects.items()})
    if kind is OutputKind.HEARTBEAT:
        for key in ("effects", "level", "areas", "votes"):
            if getattr(table, key):
                sheet.refuse((*entry.path, key), "heartbeat_key", word=key)
    level = row.level if table.level is None else Level[table.level]
    gate = row.gate if table.votes is None else Gate(level, table.votes.heads, table.votes.samples)
    if row.audible and level is not Level.A1:
        sheet.warn((*entry.path, "level"), "siren_above_a1", level=level.name)
    if row.audible and gate is not None:
        sheet.warn((*entry.path, "votes"), "siren_votes")
    return replace(row, level=level, areas=frozenset(table.areas), gate=gate)


def _direction(sheet: Sheet, entry: Entry[OutputTable], kind: OutputKind, wire: OnLine | OnBroker) -> None:
    """Warn of an output that cannot fail towards safety the way it is installed."""
    at = (*entry.path, "energised")
    if kind is OutputKind.HEARTBEAT:
        sheet.warn((*entry.path, "kind"), "heartbeat_holder")
    elif kind is OutputKind.VALVE and entry.table.energised == "alarm":
        sheet.warn(at, "valve_direction")
    elif isinstance(wire, OnBroker) and entry.table.energised == "normal":
        sheet.warn(at, "broker_direction")


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # said of `timezone` already
        return UTC

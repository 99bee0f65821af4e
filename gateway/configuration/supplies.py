"""What feeds the depot: from ``[[supply]]`` and the profile of its device to gauges, each mistake put in its place."""

from collections.abc import Mapping
from pathlib import Path

from gateway.configuration.problems import Sheet, near, shown
from gateway.configuration.schema import GaugeTable, SupplyTable
from gateway.configuration.tables import Entry, Tables
from gateway.engine.supplies import REASONS, Supply
from sensors import profiles
from sensors.profiles import Profile, ProfileError
from sensors.toml_lines import Path as TomlPath
from sensors.wire.gauges import PayloadGauge, RegisterGauge, Sign
from sensors.wire.meanings import as_text
from sensors.wire.payload_points import PayloadPoints, pointer_tokens
from sensors.wire.places import Function, Place, Type
from sensors.wire.points import ModbusPoints

PLACES: Mapping[str, Function] = {
    "coil": Function.COIL,
    "discrete": Function.DISCRETE,
    "holding": Function.HOLDING,
    "input": Function.INPUT,
}
LINE_AGE_S, BROKER_AGE_S = 20.0, 120.0
"""How long a supply may be unheard, unless the file says otherwise."""


def supplies_of(sheet: Sheet, tables: Tables, folder: Path) -> tuple[Supply, ...]:
    """Return every supply that can be watched, noting what is wrong with the others."""
    found = (_supply(sheet, tables, entry, folder) for entry in tables.supplies)
    return tuple(supply for supply in found if supply is not None)


def _supply(sheet: Sheet, tables: Tables, entry: Entry[SupplyTable], folder: Path) -> Supply | None:
    table, path = entry.table, entry.path
    if not _wired(sheet, tables, entry):
        return None
    profile = _profile(sheet, entry, folder)
    if profile is None and table.profile is not None:
        return None
    gauges: dict[str, RegisterGauge | PayloadGauge] = {}
    for name in REASONS:
        told: GaugeTable | None = getattr(table, name)
        gauge = None if told is None else _gauge(sheet, entry, name, told, profile)
        if gauge is not None:
            gauges[name] = gauge
    if table.mains is None and table.battery is None:
        sheet.refuse(path, "supply_without_gauge")
    if not gauges:
        return None
    usual = LINE_AGE_S if table.bus is not None else BROKER_AGE_S
    return Supply(
        id=table.id,
        gauges=gauges,
        name=table.name or table.id,
        bus=table.bus or "",
        unit=table.unit or 0,
        check_s=table.check_s,
        after_s=table.after_s,
        max_age_s=table.max_age_s or max(usual, 4 * table.check_s),
    )


def _wired(sheet: Sheet, tables: Tables, entry: Entry[SupplyTable]) -> bool:
    table, path = entry.table, entry.path
    if (table.bus is None) == (table.mqtt is None):
        sheet.refuse(path, "no_wire" if table.bus is None else "two_wires")
        return False
    if table.mqtt is not None:
        if "+" in table.mqtt or "#" in table.mqtt:
            sheet.refuse((*path, "mqtt"), "wildcard", got=shown(table.mqtt))
        elif "mqtt" not in sheet.tables:
            sheet.refuse((*path, "mqtt"), "no_broker")
        else:
            return True
        return False
    lines = [bus.table.id for bus in tables.buses]
    if table.bus not in lines:
        if lines:
            values = {"table": "bus", "id": shown(table.bus), "near": near(table.bus or "", lines)}
            sheet.refuse((*path, "bus"), "unknown_reference", **values)
        else:
            sheet.refuse((*path, "bus"), "no_such_table", table="bus", id=shown(table.bus))
        return False
    if table.unit is None:
        sheet.refuse((*path, "unit"), "missing", word="unit", example="unit = 1")
    return table.unit is not None


def _profile(sheet: Sheet, entry: Entry[SupplyTable], folder: Path) -> Profile | None:
    name, at = entry.table.profile, (*entry.path, "profile")
    if name is None:
        return None
    try:
        profile = profiles.load(name, folder)
    except (ProfileError, ValueError):  # ValueError: a name that no file can have
        sheet.refuse(at, "unknown_profile", profile=shown(name), near=near(name, [*profiles.names()]))
        return None
    wire, word = ("modbus", "bus") if entry.table.bus is not None else ("mqtt", "mqtt")
    if profile.wire != wire:
        sheet.refuse(at, "profile_wire", profile=shown(name), wire=profile.wire, word=word)
        return None
    return profile


# --- one gauge --------------------------------------------------------------------------------------


def _gauge(
    sheet: Sheet, entry: Entry[SupplyTable], name: str, told: GaugeTable, profile: Profile | None
) -> RegisterGauge | PayloadGauge | None:
    at: TomlPath = (*entry.path, name)
    places = [key for key in ("measure", *PLACES, "value") if getattr(told, key) is not None]
    rules = [key for key in ("below", "above", "when") if getattr(told, key) not in (None, [])]
    if len(places) != 1 or len(rules) != 1:
        listed = "measure, coil, discrete, holding, input, value" if len(places) != 1 else "below, above, when"
        found = ", ".join(places if len(places) != 1 else rules) or "-"
        sheet.refuse(at, "gauge_choice", found=found, listed=listed)
        return None
    sign = Sign(told.below, told.above, tuple(as_text(value) for value in told.when))
    if told.measure is not None:
        return _of_measure(sheet, entry, at, told, profile, sign)
    if told.value is not None:
        return _of_topic(sheet, entry, at, told, sign)
    if entry.table.bus is None:
        sheet.refuse((*at, places[0]), "gauge_wire", word=places[0], wire="Modbus")
        return None
    function = PLACES[places[0]]
    place = Place(function, getattr(told, places[0]), Type.BOOL if function.of_bits else Type.UINT16)
    return RegisterGauge(place, sign, told.scale)


def _of_topic(
    sheet: Sheet, entry: Entry[SupplyTable], at: TomlPath, told: GaugeTable, sign: Sign
) -> PayloadGauge | None:
    if entry.table.mqtt is None:
        sheet.refuse((*at, "value"), "gauge_wire", word="value", wire="MQTT")
        return None
    try:
        pointer_tokens(told.value or "")
    except ValueError:
        sheet.refuse((*at, "value"), "gauge_pointer", got=shown(told.value))
        return None
    return PayloadGauge(entry.table.mqtt, told.value or "", told.payload, sign, told.scale)


def _of_measure(
    sheet: Sheet, entry: Entry[SupplyTable], at: TomlPath, told: GaugeTable, profile: Profile | None, sign: Sign
) -> RegisterGauge | PayloadGauge | None:
    measure = told.measure or ""
    if profile is None:
        sheet.refuse((*at, "measure"), "gauge_profile")
        return None
    known = profile.parts("measures")
    if measure not in known:
        values = {"got": shown(measure), "profile": shown(profile.id), "listed": ", ".join(known) or "-"}
        sheet.refuse((*at, "measure"), "gauge_measure", **values)
        return None
    try:
        points = profile.measure(measure, told.channel)
    except ProfileError as error:
        values = {"profile": shown(profile.id), "got": error.got, "expected": error.expected}
        sheet.refuse((*at, "channel"), "profile_setting", **values)
        return None
    if isinstance(points, ModbusPoints) and isinstance(points.scale, float | int):
        return RegisterGauge(points.place, sign, points.scale * told.scale, points.offset * told.scale)
    if isinstance(points, PayloadPoints) and entry.table.mqtt is not None and isinstance(points.value, str):
        payload = points.payload if points.payload in ("json", "text") else "json"
        return PayloadGauge(entry.table.mqtt, points.value, payload, sign, points.scale * told.scale, points.offset)
    sheet.refuse((*at, "measure"), "gauge_simple", got=shown(measure))
    return None

"""Counters, tag readers and scales: from ``[[stock_source]]`` to sources, each mistake put in its place."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from compliance.registers.counters import Counter
from gateway.configuration.problems import Sheet, near, shown
from gateway.configuration.schema import StockSourceTable
from gateway.configuration.tables import Entry, Tables
from gateway.engine.weighing import Scale
from gateway.office.counting import StockSource
from sensors import profiles
from sensors.profiles import Profile, ProfileError
from sensors.wire.counts import TagPoints
from sensors.wire.payload_points import pointer_tokens
from sensors.wire.points import ModbusPoints
from sensors.wire.scales import reads_of

KG: Mapping[str, float] = {"kg": 1.0, "g": 0.001, "t": 1000.0, "lb": 0.45359237}
"""Kilograms in one of what a profile's measure counts."""

LEAST_PART, MOST_PART = 0.5, 3.0
"""What one container of a size can weigh, empty or full, in its nominal kg, unless the file says otherwise."""

ONE_TAG_S = 10.0

OF_BROKER = ("value", "number", "wraps_at", "again_s")
OF_LINE = ("unit", "channel", "kg_per_unit", "least_kg", "most_kg", "tags")


def stock_sources_of(sheet: Sheet, tables: Tables, folder: Path) -> tuple[StockSource, ...]:
    """Return every counter and tag reader, noting what is wrong with them."""
    found = (_source(sheet, tables, entry, folder) for entry in tables.stock_sources if entry.table.kind != "scale")
    return tuple(source for source in found if source is not None)


def scales_of(sheet: Sheet, tables: Tables, folder: Path) -> tuple[Scale, ...]:
    """Return every scale, noting what is wrong with them."""
    found = (_scale(sheet, tables, entry, folder) for entry in tables.stock_sources if entry.table.kind == "scale")
    return tuple(scale for scale in found if scale is not None)


# --- counters and tags --------------------------------------------------------------------------------


def _source(sheet: Sheet, tables: Tables, entry: Entry[StockSourceTable], folder: Path) -> StockSource | None:
    table, path = entry.table, entry.path
    _placed(sheet, tables, entry)
    if table.mqtt is None:
        sheet.refuse((*path, "mqtt"), "missing", word="mqtt", example='mqtt = "portao/saida"')
    elif "mqtt" not in sheet.tables:
        sheet.refuse((*path, "mqtt"), "no_broker")
    elif "+" in table.mqtt or "#" in table.mqtt:
        sheet.refuse((*path, "mqtt"), "wildcard", got=shown(table.mqtt))
    if table.act is None:
        sheet.refuse((*path, "act"), "missing", word="act", example='act = "out"')
    if table.bus is not None:
        sheet.refuse((*path, "bus"), "source_key", word="bus", kind=shown(table.kind))
    for key in OF_LINE:
        if getattr(table, key) is not None:
            sheet.refuse((*path, key), "source_key", word=key, kind=shown(table.kind))
    for key in ("value", "number"):
        try:
            pointer_tokens(getattr(table, key))
        except ValueError:
            sheet.refuse((*path, key), "gauge_pointer", got=shown(getattr(table, key)))
    tags = _tags(sheet, entry, folder)
    if table.mqtt is None or table.act is None:
        return None
    usual = ONE_TAG_S if tags is None else tags.same_within_s
    return StockSource(
        id=table.id,
        kind=table.kind,
        topic=table.mqtt,
        area=table.area,
        size_kg=_size(table),
        act=table.act,
        value=table.value,
        number=table.number,
        brand=table.brand,
        counter=Counter(table.wraps_at, table.most),
        again_s=usual if table.again_s is None else table.again_s,
        tags=tags,
    )


def _tags(sheet: Sheet, entry: Entry[StockSourceTable], folder: Path) -> TagPoints | None:
    """Where a reader whose profile is named has its tags in its messages."""
    table, at = entry.table, (*entry.path, "profile")
    if table.profile is None:
        return None
    if table.kind != "tags":
        sheet.refuse(at, "source_key", word="profile", kind=shown(table.kind))
        return None
    if table.value:
        sheet.refuse((*entry.path, "value"), "source_key", word="value", kind="profile")
    profile = _profile(sheet, entry, folder)
    try:
        return None if profile is None else profile.tags()
    except ProfileError as error:
        sheet.refuse(at, "profile_setting", profile=shown(table.profile), got=error.got, expected=error.expected)
        return None


# --- scales -------------------------------------------------------------------------------------------


def _scale(sheet: Sheet, tables: Tables, entry: Entry[StockSourceTable], folder: Path) -> Scale | None:
    table, path = entry.table, entry.path
    _placed(sheet, tables, entry)
    _on_a_line(sheet, tables, entry)
    profile = _profile(sheet, entry, folder)
    weight = None if profile is None else _weight(sheet, entry, profile)
    size = _size(table)
    least = float(size) * LEAST_PART if table.least_kg is None else table.least_kg
    most = float(size) * MOST_PART if table.most_kg is None else table.most_kg
    if least >= most:
        at = "least_kg" if table.least_kg is not None else "most_kg"
        sheet.refuse((*path, at), "scale_bounds", least=f"{least:g}", most=f"{most:g}")
    if weight is None or table.bus is None or table.unit is None:
        return None
    return Scale(
        id=table.id,
        bus=table.bus,
        unit=table.unit,
        points=weight[0],
        kg_per_unit=weight[1],
        area=table.area,
        size_kg=size,
        full=table.weighs == "full",
        act=table.act or "",
        brand=table.brand,
        name=table.name or table.id,
        tags=table.tags or "",
        check_s=table.check_s,
        readings=table.readings,
        within_kg=table.within_kg,
        least_kg=least,
        most_kg=most,
    )


def _on_a_line(sheet: Sheet, tables: Tables, entry: Entry[StockSourceTable]) -> None:
    """A scale hangs on a line as a unit of a known model, and knows nothing of a broker but its reader of tags."""
    table, path = entry.table, entry.path
    if table.mqtt is not None:
        sheet.refuse((*path, "mqtt"), "source_key", word="mqtt", kind=shown(table.kind))
    for key in OF_BROKER:
        if getattr(table, key) not in (None, ""):
            sheet.refuse((*path, key), "source_key", word=key, kind=shown(table.kind))
    lines = [bus.table.id for bus in tables.buses]
    if table.bus is None:
        sheet.refuse((*path, "bus"), "missing", word="bus", example='bus = "detectores"')
    elif table.bus not in lines:
        values = {"table": "bus", "id": shown(table.bus), "near": near(table.bus, lines)}
        sheet.refuse((*path, "bus"), "unknown_reference", **values)
    if table.unit is None:
        sheet.refuse((*path, "unit"), "missing", word="unit", example="unit = 9")
    if table.profile is None:
        sheet.refuse((*path, "profile"), "missing", word="profile", example='profile = "tuna-id551pn"')
    readers = [each.table.id for each in tables.stock_sources if each.table.kind == "tags"]
    if table.tags is not None and table.tags not in readers:
        values = {"table": "stock_source", "id": shown(table.tags), "near": near(table.tags, readers)}
        sheet.refuse((*path, "tags"), "unknown_reference", **values)


def _weight(sheet: Sheet, entry: Entry[StockSourceTable], profile: Profile) -> tuple[ModbusPoints, float] | None:
    """Where the weight is, and what its number is in kg."""
    table, path = entry.table, entry.path
    known = profile.parts("measures")
    if table.measure not in known:
        values = {"got": shown(table.measure), "profile": shown(profile.id), "listed": ", ".join(known) or "-"}
        sheet.refuse((*path, "measure"), "gauge_measure", **values)
        return None
    try:
        points = profile.measure(table.measure, table.channel)
    except ProfileError as error:
        values = {"profile": shown(profile.id), "got": error.got, "expected": error.expected}
        sheet.refuse((*path, "channel"), "profile_setting", **values)
        return None
    unit = str(profile.document["measures"][table.measure].get("unit", ""))
    kg = KG.get(unit) if table.kg_per_unit is None else table.kg_per_unit
    if kg is None:
        sheet.refuse((*path, "kg_per_unit"), "scale_unit", unit=unit or "-", listed=", ".join(KG))
        return None
    if not isinstance(points, ModbusPoints):
        return None
    if len(reads_of(points)) != 1:
        sheet.refuse((*path, "measure"), "scale_reads", got=shown(table.measure))
        return None
    return points, kg


# --- both ---------------------------------------------------------------------------------------------


def _placed(sheet: Sheet, tables: Tables, entry: Entry[StockSourceTable]) -> None:
    areas = [area.table.id for area in tables.areas]
    if entry.table.area not in areas:
        values = {"table": "area", "id": shown(entry.table.area), "near": near(entry.table.area, areas)}
        sheet.refuse((*entry.path, "area"), "unknown_reference", **values)


def _size(table: StockSourceTable) -> Decimal:
    return Decimal(table.size.removeprefix("P-"))


def _profile(sheet: Sheet, entry: Entry[StockSourceTable], folder: Path) -> Profile | None:
    name, at = entry.table.profile, (*entry.path, "profile")
    if name is None:
        return None
    wire, word = ("modbus", "bus") if entry.table.kind == "scale" else ("mqtt", "mqtt")
    try:
        profile = profiles.load(name, folder)
    except (ProfileError, ValueError):  # ValueError: a name that no file can have
        sheet.refuse(at, "unknown_profile", profile=shown(name), near=near(name, [*profiles.names()]))
        return None
    if profile.wire != wire:
        sheet.refuse(at, "profile_wire", profile=shown(name), wire=profile.wire, word=word)
        return None
    return profile

"""Raw TOML tables -> typed tables, each mistake put in words and in its place. Knows nothing across tables."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from gateway.configuration.mistakes import homes, note
from gateway.configuration.problems import Sheet, near, shown
from gateway.configuration.schema import (
    CHANNELS,
    LATER_CHANNELS,
    LISTED,
    SINGLE,
    AreaTable,
    BusTable,
    DepotTable,
    DetectorTable,
    EscalationTable,
    InfluxTable,
    JournalTable,
    LevelsTable,
    MqttTable,
    OutputTestTable,
    RecipientTable,
    StockSourceTable,
    StoreTable,
    SupplyTable,
    SuppressionTable,
    Table,
    TimingTable,
    WebTable,
)
from sensors.toml_lines import Path

T = TypeVar("T", bound=Table)


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A typed table and where it stands; `rest` holds a detector's keys that belong to its profile."""

    path: Path
    table: T
    rest: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything that could be typed; what could not is noted on the sheet and missing here."""

    depot: Entry[DepotTable] | None
    areas: tuple[Entry[AreaTable], ...]
    buses: tuple[Entry[BusTable], ...]
    detectors: tuple[Entry[DetectorTable], ...]
    mqtt: Entry[MqttTable] | None
    levels: Entry[LevelsTable] | None
    timing: Entry[TimingTable] | None
    web: Entry[WebTable] | None
    store: Entry[StoreTable] | None
    influx: Entry[InfluxTable] | None
    journal: Entry[JournalTable] | None
    output_test: Entry[OutputTestTable] | None
    channels: tuple[Entry[Any], ...]  # Any: one of ChannelTable; a TypeVar cannot be bound to their union per entry
    supplies: tuple[Entry[SupplyTable], ...]
    stock_sources: tuple[Entry[StockSourceTable], ...]
    recipients: tuple[Entry[RecipientTable], ...]
    escalation: tuple[Entry[EscalationTable], ...]
    suppressions: tuple[Entry[SuppressionTable], ...]


def typed(sheet: Sheet) -> Tables:
    """Type every table of the sheet, noting what is wrong."""
    _check_names(sheet)
    _check_placeholders(sheet, (), sheet.tables)
    for required in ("depot", "levels"):
        if required not in sheet.tables:
            sheet.refuse((), f"no_{required}")
    return Tables(
        depot=_single(sheet, "depot", DepotTable),
        areas=tuple(_listed(sheet, "area", AreaTable)),
        buses=tuple(_listed(sheet, "bus", BusTable)),
        detectors=tuple(_listed(sheet, "detector", DetectorTable)),
        mqtt=_single(sheet, "mqtt", MqttTable),
        levels=_single(sheet, "levels", LevelsTable),
        timing=_single(sheet, "timing", TimingTable),
        web=_single(sheet, "web", WebTable),
        store=_single(sheet, "store", StoreTable),
        influx=_single(sheet, "influx", InfluxTable),
        journal=_single(sheet, "journal", JournalTable),
        output_test=_single(sheet, "output_test", OutputTestTable),
        channels=tuple(_channels(sheet)),
        supplies=tuple(_listed(sheet, "supply", SupplyTable)),
        stock_sources=tuple(_listed(sheet, "stock_source", StockSourceTable)),
        recipients=tuple(_listed(sheet, "recipient", RecipientTable)),
        escalation=tuple(_listed(sheet, "escalation", EscalationTable)),
        suppressions=tuple(_listed(sheet, "suppression", SuppressionTable)),
    )


def _check_names(sheet: Sheet) -> None:
    for name, value in sheet.tables.items():
        if name in SINGLE:
            if not isinstance(value, dict):
                sheet.refuse((name,), "single_table", name=name)
        elif name in LISTED:
            if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
                sheet.refuse((name,), "listed_table", name=name)
        elif isinstance(value, dict | list):
            sheet.refuse((name,), "unknown_table", name=shown(name, quoted=False), near=near(name, [*SINGLE, *LISTED]))
        else:
            sheet.refuse((name,), "unknown_key", **homes(name, []))


def _check_placeholders(sheet: Sheet, path: Path, value: object) -> None:
    match value:
        case dict():
            for key, inner in value.items():
                _check_placeholders(sheet, (*path, str(key)), inner)
        case list():
            for index, inner in enumerate(value):
                _check_placeholders(sheet, (*path, index), inner)
        case str() if "${" in value:
            sheet.refuse(path, "placeholder", value=shown(value), word=path[-1])
        case _:
            pass


def _single(sheet: Sheet, name: str, model: type[T]) -> Entry[T] | None:
    raw = sheet.tables.get(name)
    return _entry(sheet, (name,), raw, model) if isinstance(raw, dict) else None


def _listed(sheet: Sheet, name: str, model: type[T]) -> Iterator[Entry[T]]:
    for path, raw in _raw(sheet, name):
        entry = _entry(sheet, path, raw, model)
        if entry is not None:
            yield entry


def _raw(sheet: Sheet, name: str) -> Iterator[tuple[Path, dict[str, object]]]:
    entries = sheet.tables.get(name)
    for index, raw in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(raw, dict):
            yield (name, index), raw


def _channels(sheet: Sheet) -> Iterator[Entry[Any]]:
    works = ", ".join(CHANNELS)
    for path, raw in _raw(sheet, "channel"):
        kind = raw.get("kind")
        if not isinstance(kind, str):
            sheet.refuse((*path, "kind"), "missing", word="kind", example='"siren"')
        elif kind in LATER_CHANNELS:
            sheet.refuse((*path, "kind"), "later_channel", kind=kind, known=works)
        elif kind not in CHANNELS:
            sheet.refuse((*path, "kind"), "one_of", got=shown(kind), near=near(kind, [*CHANNELS]))
        else:
            entry = _entry(sheet, path, raw, CHANNELS[kind])
            if entry is not None:
                yield entry


def _entry(sheet: Sheet, path: Path, raw: Mapping[str, object], model: type[T]) -> Entry[T] | None:
    rest: dict[str, object] = {}
    if model is DetectorTable:  # its other keys are the profile's, which judges them later
        rest = {key: value for key, value in raw.items() if key not in model.model_fields}
        raw = {key: value for key, value in raw.items() if key in model.model_fields}
    try:
        return Entry(path, model.model_validate(raw), rest)
    except ValidationError as error:
        details = error.errors(include_url=False)
        for detail in details:
            note(sheet, path, detail, model)
        return _in_part(sheet, path, raw, {str(detail["loc"][0]) for detail in details if detail["loc"]}, model, rest)


def _in_part(
    sheet: Sheet, path: Path, raw: Mapping[str, object], wrong: set[str], model: type[T], rest: Mapping[str, object]
) -> Entry[T] | None:
    """Read a table without the keys that could not be read, so that what the others mean is judged all the same.

    Such a key has its default, or an example's value where it must be given; nothing is said of that value.
    """
    if model is LevelsTable or not wrong or wrong & DECISIVE:
        return None  # its values are compared with one another, or others are judged by the key
    given = {key: value for key, value in raw.items() if key not in wrong}
    for name, field in model.model_fields.items():
        key = field.alias or name
        if field.is_required() and key in wrong:
            given[key] = tomllib.loads(f"value = {(field.examples or ['0'])[0]}")["value"]
    try:
        table = model.model_validate(given)
    except ValidationError:
        return None
    sheet.unread[path] = {(*path, key) for key in wrong}
    return Entry(path, table, rest)


DECISIVE = frozenset({"id", "kind", "transport", "profile", "licensed_kg"})
"""Keys that say what a table is, or which rule its other keys or other tables are held to."""

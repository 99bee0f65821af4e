"""Raw TOML tables -> typed tables, each mistake put in words and in its place. Knows nothing across tables."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Generic, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateway.configuration.problems import Sheet, shown
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


def near(word: str, known: list[str]) -> str:
    """Return the known word that was probably meant; all of them where none is close."""
    folded = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else ", ".join(known)


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
            sheet.refuse((name,), "unknown_key", **_homes(name, []))


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
            _note(sheet, path, detail, model)
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


# --- one mistake, in words ---------------------------------------------------------------------


def _note(sheet: Sheet, path: Path, detail: ErrorDetails, model: type[Table]) -> None:
    at = (*path, *detail["loc"])
    kind, got = detail["type"], detail["input"]
    key = str(next((step for step in reversed(detail["loc"]) if isinstance(step, str)), ""))
    context = detail.get("ctx", {})
    example = _example(model, str(detail["loc"][0]) if detail["loc"] else "")
    if kind == "extra_forbidden":
        _note_unknown(sheet, at, key, model)
    elif kind == "missing":
        sheet.refuse(at, "missing", word=key, example=example)
    elif kind == "literal_error":
        known = re.findall(r"'([^']*)'|(\d+)", str(context.get("expected", "")))
        sheet.refuse(at, "one_of", got=shown(got), near=near(str(got), [text or number for text, number in known]))
    elif kind in _BOUNDS and key in _OWN_BOUNDS:
        sheet.refuse(at, _OWN_BOUNDS[key], word=key, got=shown(got), example=example)
    elif kind in _BOUNDS:
        reason, limit = _BOUNDS[kind]
        sheet.refuse(at, reason, word=key, got=shown(got), limit=context.get(limit, ""), example=example)
    elif kind == "string_pattern_mismatch":
        sheet.refuse(at, "bad_phone" if key == "phone" else "bad_id", got=shown(got), example=example)
    elif isinstance(got, str) and kind in _NUMBERS:
        _note_quoted_number(sheet, at, key, got, example)
    else:
        wanted = sheet.words.text(f"type.{_TYPES.get(kind, 'other')}")
        sheet.refuse(at, "wrong_type", word=key, wanted=wanted, got=shown(got), example=example)


_NUMBERS = frozenset({"int_type", "float_type", "int_from_float", "finite_number"})

_TYPES = {
    "string_type": "text",
    "int_type": "whole",
    "int_from_float": "whole",
    "float_type": "number",
    "finite_number": "number",
    "list_type": "list",
    "date_type": "date",
    "bool_type": "boolean",
}

_BOUNDS = {
    "greater_than": ("too_small_exclusive", "gt"),
    "greater_than_equal": ("too_small", "ge"),
    "less_than_equal": ("too_large_value", "le"),
    "string_too_short": ("empty", "min_length"),
    "string_too_long": ("too_long", "max_length"),
    "too_short": ("empty", "min_length"),
}

_OWN_BOUNDS = {
    "calibrated_on": "no_such_day",
    "tested_on": "no_such_day",
    "until": "no_such_day",
    "A1": "level_range",
    "A2": "level_range",
    "A3": "level_range",
    "lel_vol_pct": "lel_basis",
    "lel_reference_vol_pct": "lel_reference",
}
"""Keys whose bounds have a lesson of their own, mostly about units."""


def _note_quoted_number(sheet: Sheet, at: Path, key: str, got: str, example: str) -> None:
    for reason, pattern in _QUOTED:
        found = pattern.fullmatch(got)
        if found:
            sheet.refuse(at, reason, value=shown(got), point=found[1].replace(",", "."), word=key)
            return
    wanted = sheet.words.text("type.number")
    sheet.refuse(at, "wrong_type", word=key, wanted=wanted, got=shown(got), example=example)


_QUOTED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("percent_sign", re.compile(r"\s*([+-]?\d+(?:[.,]\d+)?)\s*%.*")),
    ("decimal_comma", re.compile(r"\s*([+-]?\d+,\d+)\s*")),
    ("quoted_number", re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*")),
    ("number_with_unit", re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*[A-Za-z].*")),
)


def _note_unknown(sheet: Sheet, at: Path, key: str, model: type[Table]) -> None:
    own = _keys(model)
    if f"{key}_env" in own:
        sheet.refuse(at, "secret_in_file", word=key)
    else:
        sheet.refuse(at, "unknown_key", **_homes(key, own))


def _homes(key: str, own: list[str]) -> dict[str, object]:
    """What an unknown key was probably meant to be: a near key here, else a table that has it, else what there is."""
    named = {"word": shown(key, quoted=False)}
    close = get_close_matches(key.lower(), [name.lower() for name in own], n=1, cutoff=0.6)
    if close:
        return {**named, "near": near(key, own)}
    everywhere = {**SINGLE, **LISTED, **{f"channel ({kind})": model for kind, model in CHANNELS.items()}}
    homes = [
        f"[{name}]" if name in SINGLE else f"[[{name}]]" for name, model in everywhere.items() if key in _keys(model)
    ]
    if homes:
        return {**named, "near": f"{key} → {', '.join(homes)}"}
    elsewhere = [name for model in everywhere.values() for name in _keys(model)]
    return {**named, "near": ", ".join(own) if own else near(key, list(dict.fromkeys(elsewhere)))}


def _keys(model: type[Table]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _example(model: type[Table], key: str) -> str:
    for name, field in model.model_fields.items():
        if key == (field.alias or name):
            return f"{key} = {cast('list[str]', field.examples or [''])[0]}"
    return ""

"""Environment variables laid over depot.toml: ``VIGIA_WEB__LISTEN`` is ``web.listen``. Reads no environment itself.

Two underscores part the steps. An entry of an array of tables is named by its id, dots and dashes written as one
underscore: ``VIGIA_BUS__DETECTORES__HOST``. Upper and lower case are one. Text is taken as it stands; numbers, dates
and lists are written as in TOML. A variable with two underscores that fits nothing is refused: a misspelt setting must
not pass in silence. Variables without them (``VIGIA_LANG``, secrets) are none of this module's business, unless they
begin with the name of a table, or in small letters: what looks like a setting and is none is warned of.
"""

import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Literal, Union, cast, get_args, get_origin

from gateway.configuration.problems import Sheet, shown
from gateway.configuration.schema import CHANNELS, LISTED, SINGLE, Table
from sensors.toml_lines import Path

PREFIX = "VIGIA_"


def overlay(sheet: Sheet, environ: Mapping[str, str]) -> Sheet:
    """Return the sheet with the variables' values in its tables; what fits nowhere is noted on it."""
    tables = deepcopy(dict(sheet.tables))
    named = _secrets_named(tables)
    overlaid: dict[Path, str] = {}
    for variable, value in sorted(environ.items()):
        if variable in named or not variable.upper().startswith(PREFIX):
            continue
        if not variable.startswith(PREFIX) or "__" not in variable:
            _warn_of(sheet, variable)
            continue
        path = _place(sheet, tables, variable)
        if path:
            overlaid[path] = variable
            _set(tables, path, _value(path, tables, value))
    return replace(sheet, tables=tables, overlaid=overlaid)


def _warn_of(sheet: Sheet, variable: str) -> None:
    """Warn of a variable that sets nothing, where it looks as if it was meant to."""
    steps = [step for step in variable.upper().removeprefix(PREFIX).split("_") if step]
    table = steps[0].lower() if steps else ""
    if table not in SINGLE and table not in LISTED and "__" not in variable:
        return
    key = "_".join(steps[1:]) or "<KEY>"
    meant = f"{PREFIX}{table.upper()}__{key}" if table in SINGLE else f"{PREFIX}{table.upper()}__<ID>__<KEY>"
    if not variable.startswith(PREFIX) and "__" in variable:
        meant = variable.upper()
    named = replace(sheet, overlaid={("environment",): variable})
    named.warn(("environment",), "overlay_unused", name=shown(variable, quoted=False), meant=meant)


def _secrets_named(tables: Mapping[str, object]) -> frozenset[str]:
    """Names of variables that the file itself asks for, wherever a key ends in ``_env``."""
    found: set[str] = set()
    for value in tables.values():
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict):
                found.update(name for key, name in entry.items() if key.endswith("_env") and isinstance(name, str))
    return frozenset(found)


def _place(sheet: Sheet, tables: dict[str, object], variable: str) -> Path:
    """Return the path a variable means; an empty one if it means none, which is noted."""
    steps = variable.removeprefix(PREFIX).split("__")
    table = steps[0].lower()
    whole = {**sheet.overlaid, ("environment",): variable}
    lost = replace(sheet, overlaid=whole)
    if table in SINGLE and len(steps) == 2:
        key = _same(steps[1], _keys(SINGLE[table]))
        if key:
            return (table, key)
        lost.refuse(
            ("environment",), "overlay_key", word=steps[1].lower(), known=_listed(_keys(SINGLE[table]), steps[1])
        )
    elif table in LISTED and len(steps) == 3:
        entries = tables.get(table)
        ids = (
            [str(entry.get("id", "")) for entry in entries if isinstance(entry, dict)]
            if isinstance(entries, list)
            else []
        )
        entry_id = _same(steps[1], ids)
        if entry_id is None:
            lost.refuse(
                ("environment",), "overlay_entry", table=table, entry=steps[1].lower(), known=_listed(ids, steps[1])
            )
            return ()
        index = ids.index(entry_id)
        key = _same(steps[2], _keys(_model(table, tables, index)))
        if key or table == "detector":  # a detector's other keys are its profile's
            return (table, index, key or steps[2].lower())
        known = _listed(_keys(_model(table, tables, index)), steps[2])
        lost.refuse(("environment",), "overlay_key", word=steps[2].lower(), known=known)
    else:
        lost.refuse(("environment",), "overlay_table", table=table, known=_listed([*SINGLE, *LISTED], table))
    return ()


def _model(table: str, tables: Mapping[str, object], index: int) -> type[Table]:
    if table != "channel":
        return LISTED[table]
    entry = cast("list[dict[str, object]]", tables[table])[index]
    return CHANNELS.get(str(entry.get("kind")), Table)


def _keys(model: type[Table]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _same(step: str, names: list[str]) -> str | None:
    plain = re.sub(r"[^a-z0-9]", "_", step.lower())
    return next((name for name in names if re.sub(r"[^a-z0-9]", "_", name.lower()) == plain), None)


def _listed(names: list[str], near: str) -> str:
    close = get_close_matches(near.lower(), [name.lower() for name in names], n=1)
    return ", ".join(close or names)


def _set(tables: dict[str, object], path: Path, value: object) -> None:
    if isinstance(path[1], int):
        cast("list[dict[str, object]]", tables[str(path[0])])[path[1]][str(path[2])] = value
        return
    table = tables.setdefault(str(path[0]), {})
    if isinstance(table, dict):
        table[path[1]] = value


def _value(path: Path, tables: Mapping[str, object], text: str) -> object:
    """Text where the key holds text; else what the text means in TOML, and the text itself if it means nothing."""
    table, key = str(path[0]), str(path[-1])
    model = _model(table, tables, path[1]) if isinstance(path[1], int) else SINGLE[table]
    for name, field in model.model_fields.items():
        if key == (field.alias or name) and _holds_text(field.annotation):
            return text
    try:
        return tomllib.loads(f"value = {text}\n")["value"]
    except (ValueError, RecursionError, KeyError):
        return text


def _holds_text(annotation: object) -> bool:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _holds_text(get_args(annotation)[0])
    if origin is Literal:
        return all(isinstance(choice, str) for choice in get_args(annotation))
    if origin in (Union, UnionType):
        return any(_holds_text(choice) for choice in get_args(annotation))
    return annotation is str

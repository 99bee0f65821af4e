"""One mistake in a table, as the schema finds it, in the installer's words: what is wrong and what would be right."""

import re
from difflib import get_close_matches
from typing import cast

from pydantic_core import ErrorDetails

from gateway.configuration.problems import Sheet, near, shown
from gateway.configuration.schema import CHANNELS, LISTED, SINGLE, Table
from sensors.toml_lines import Path


def note(sheet: Sheet, path: Path, detail: ErrorDetails, model: type[Table]) -> None:
    """Put one mistake that the schema found into words, at its place."""
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
        sheet.refuse(at, "unknown_key", **homes(key, own))


def homes(key: str, own: list[str]) -> dict[str, object]:
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

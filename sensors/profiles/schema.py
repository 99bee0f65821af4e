"""The profile format as JSON Schema, for editors; ``python -m sensors.profiles.schema`` writes it into the folder."""

import json
from collections.abc import Mapping
from typing import Any, Final

from sensors.profiles.files import SHIPPED
from sensors.profiles.keys import SECTIONS, TOP
from sensors.profiles.shapes import TableOf

FILE: Final = SHIPPED / "schema.json"
SHARED_FROM: Final = 200
"""A piece of so many characters that stands more than once is written once and referred to."""


def schema() -> dict[str, Any]:
    """Return the whole schema."""
    found: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Vigia profile, format 1",
        "type": "object",
        "required": ["format", "id"],
        "properties": {"wire": TOP["wire"].schema(), "like": TOP["like"].schema()},
        "if": {"properties": {"wire": {"const": "mqtt"}}, "required": ["wire"]},
        "then": _file("mqtt"),
        "else": _file("modbus"),
    }
    pieces: dict[str, int] = {}
    _count(found, pieces)
    names = {text: f"part{number}" for number, text in enumerate(_often(pieces), start=1)}
    shared = {names[text]: _with_references(json.loads(text), names, whole=True) for text in names}
    found = _with_references(found, names, whole=True)
    return {**found, "$defs": shared}


def written() -> str:
    """Return the schema as the file holds it."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _file(wire: str) -> dict[str, Any]:
    return TableOf({**TOP, **SECTIONS[wire]}).schema()


def _count(value: object, pieces: dict[str, int]) -> None:
    if isinstance(value, Mapping):
        if value.get("type") == "object" or "anyOf" in value or "items" in value:
            text = json.dumps(value)
            if len(text) >= SHARED_FROM:
                pieces[text] = pieces.get(text, 0) + 1
        for inner in value.values():
            _count(inner, pieces)
    elif isinstance(value, list):
        for inner in value:
            _count(inner, pieces)


def _often(pieces: Mapping[str, int]) -> list[str]:
    return [text for text, count in pieces.items() if count > 1]


def _with_references(value: Any, names: Mapping[str, str], *, whole: bool = False) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        if not whole and (name := names.get(json.dumps(value))) is not None:
            return {"$ref": f"#/$defs/{name}"}
        return {key: _with_references(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_references(inner, names) for inner in value]
    return value


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")

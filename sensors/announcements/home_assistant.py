"""Home Assistant's discovery messages -> heads: binary sensors of class gas, and sensors whose unit is one of gas."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sensors.announcements.found import GENERIC, UNKNOWN_TRIP, WORDS, Announced, speaks_of_gas, unit_of
from sensors.announcements.zigbee import pointer
from sensors.wire.units import UnitOfValue

SHORT: Final[Mapping[str, str]] = {
    "avty_t": "availability_topic",
    "cmps": "components",
    "dev": "device",
    "dev_cla": "device_class",
    "mdl": "model",
    "mf": "manufacturer",
    "p": "platform",
    "pl_avail": "payload_available",
    "pl_not_avail": "payload_not_available",
    "pl_off": "payload_off",
    "pl_on": "payload_on",
    "stat_t": "state_topic",
    "unit_of_meas": "unit_of_measurement",
    "val_tpl": "value_template",
}
"""Short names of keys that matter here, and their long ones."""

_TEMPLATE: Final = re.compile(r"\{\{\s*value_json((?:\.\w+|\[\s*(?:'[^']*'|\"[^\"]*\"|\d+)\s*\])+)\s*(\|[^}]*)?\}\}")
_STEP: Final = re.compile(r"\.(\w+)|\[\s*(?:'([^']*)'|\"([^\"]*)\"|(\d+))\s*\]")
_PLAIN: Final = re.compile(r"\{\{\s*value\s*(\|[^}]*)?\}\}")
_HARMLESS: Final = re.compile(r"(?:\|\s*(?:float|int|round|is_defined|string)(?:\([^)]*\))?\s*)*")
"""Filters that change the number's form only."""


def heads(component: str, config: object) -> Iterator[Announced]:
    """Yield the heads of one discovery message: of one entity, or of a whole device (component ``device``)."""
    config = _long(config)
    if component == "device":
        shared = {key: value for key, value in config.items() if key != "components"}
        parts = config.get("components")
        for part in parts.values() if isinstance(parts, Mapping) else ():
            entity = {**shared, **_long(part)}
            yield from _entity(str(entity.get("platform", "")), entity)
    else:
        yield from _entity(component, config)


def _entity(component: str, config: Mapping[str, Any]) -> Iterator[Announced]:
    topic = config.get("state_topic")
    if not isinstance(topic, str) or not topic or "+" in topic or "#" in topic:
        return
    topic = _whole(topic, config)
    device = _long(config.get("device"))
    model = f"{device.get('manufacturer', '')} {device.get('model', '')}".strip()
    name = " ".join(str(part) for part in (device.get("name"), config.get("name")) if part) or topic
    steps = _steps(config.get("value_template"))
    if component == "binary_sensor" and config.get("device_class") == "gas":
        profile, keys = ("", {}) if steps is None else _binary(config, steps)
        notes: tuple[str, ...] = ("trip-assumed", "silent-death")
    elif component == "sensor" and (unit := _unit(config, name)) is not None:
        profile = "" if steps is None else GENERIC
        keys = {"value": pointer(*(steps or ())), "unit_of_value": unit.value}
        notes = ("silent-death",)
    else:
        return
    if not profile:
        keys, notes = {}, ("value-template",)
    yield Announced("home-assistant", name, model, topic, profile, keys, notes)


def _unit(config: Mapping[str, Any], name: str) -> UnitOfValue | None:
    unit = unit_of(config.get("unit_of_measurement"))
    if unit is UnitOfValue.LEL_PCT or (unit is not None and speaks_of_gas(name, config.get("state_topic"))):
        return unit
    return None


def _binary(config: Mapping[str, Any], steps: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    on, off = _word(config.get("payload_on", "ON")), _word(config.get("payload_off", "OFF"))
    state: dict[str, Any] = {"pointer": pointer(*steps), "words": {on: "alarm1", off: "measuring"}}
    if not steps:
        state["payload"] = "text"
    return WORDS, {"states": [state], "trip": UNKNOWN_TRIP}


def _word(value: object) -> str:
    """Write a payload as the head's own message has it: templates write JSON's true as True."""
    text = str(value)
    return text.lower() if text in ("True", "False") else text


def _steps(template: object) -> tuple[str, ...] | None:
    """Return where in the payload the template looks: () for the whole of it; None for one that computes."""
    if template is None:
        return ()
    text = str(template).strip()
    plain = _PLAIN.fullmatch(text)
    found = _TEMPLATE.fullmatch(text)
    filters = (plain[1] if plain else found[2] if found else None) or ""
    if not _HARMLESS.fullmatch(filters.strip()):
        return None
    if plain:
        return ()
    if not found:
        return None
    return tuple(next(part for part in step if part) for step in _STEP.findall(found[1]) if any(step))


def _long(config: object) -> dict[str, Any]:
    return {SHORT.get(key, key): value for key, value in config.items()} if isinstance(config, Mapping) else {}


def _whole(topic: str, config: Mapping[str, Any]) -> str:
    """Put the base in for ``~`` at either end of a topic."""
    base = config.get("~")
    if not isinstance(base, str):
        return topic
    if topic.startswith("~"):
        return base + topic[1:]
    return topic[:-1] + base if topic.endswith("~") else topic

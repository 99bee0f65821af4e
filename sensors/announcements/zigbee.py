"""Zigbee2MQTT's list of devices (``<base>/bridge/devices``) -> heads, by what each one exposes and in which unit."""

from collections.abc import Iterator, Mapping
from typing import Any

from sensors.announcements.found import GENERIC, UNKNOWN_TRIP, Announced, Models, speaks_of_gas, unit_of
from sensors.wire.units import UnitOfValue


def heads(base: str, devices: object, models: Models) -> Iterator[Announced]:
    """Yield the gas heads of one bridge. `devices`: the decoded payload; whatever is no device in it is passed over."""
    for device in devices if isinstance(devices, list) else ():
        if isinstance(device, Mapping) and not device.get("disabled"):
            found = _head(base, device, models)
            if found is not None:
                yield found


def _head(base: str, device: Mapping[str, Any], models: Models) -> Announced | None:
    name, definition = device.get("friendly_name"), device.get("definition")
    if not isinstance(name, str) or not name or not isinstance(definition, Mapping):
        return None
    exposed = list(_flat(definition.get("exposes")))
    number = next((one for one in exposed if _is_value(one)), None)
    alarm = next((one for one in exposed if one.get("type") == "binary" and one.get("property") == "gas"), None)
    if number is None and alarm is None:
        return None
    model = str(definition.get("model", ""))
    notes = ["battery"] if "battery" in str(device.get("power_source", "")).lower() else []
    notes.append("silent-death")
    profile, keys = models.of(model), {}
    if not profile:
        profile, keys = GENERIC, _keys(number, alarm)
    if number is None:
        notes.append("trip-assumed")
    titled = f"{definition.get('vendor', '')} {model}".strip()
    return Announced("zigbee2mqtt", name, titled, f"{base}/{name}", profile, keys, tuple(notes))


def _flat(exposes: object) -> Iterator[Mapping[str, Any]]:
    """Every single thing exposed, those inside groups included."""
    for one in exposes if isinstance(exposes, list) else ():
        if isinstance(one, Mapping):
            yield one
            yield from _flat(one.get("features"))


def _is_value(one: Mapping[str, Any]) -> bool:
    if one.get("type") != "numeric" or not isinstance(one.get("property"), str):
        return False
    unit = unit_of(one.get("unit"))
    return unit is UnitOfValue.LEL_PCT or (unit is not None and speaks_of_gas(one["property"], one.get("name")))


def _keys(number: Mapping[str, Any] | None, alarm: Mapping[str, Any] | None) -> dict[str, Any]:
    if number is None:
        return {"value": "/gas", "trip": UNKNOWN_TRIP}
    unit = unit_of(number.get("unit"))
    keys: dict[str, Any] = {"value": pointer(number["property"]), "unit_of_value": unit.value if unit else "lel_pct"}
    if alarm is not None:
        words = {_text(alarm.get("value_on", True)): "alarm1", _text(alarm.get("value_off", False)): "measuring"}
        keys["states"] = [{"pointer": "/gas", "words": words, "missing": "unchanged"}]
    return keys


def pointer(*steps: str) -> str:
    """Return the JSON pointer of these steps (RFC 6901)."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

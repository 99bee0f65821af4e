"""Tasmota's discovery (``tasmota/discovery/<mac>/config`` and ``.../sensors``) -> what of its sensors speaks of gas."""

from collections.abc import Iterator, Mapping
from typing import Any

from sensors.announcements.found import GENERIC, Announced, speaks_of_gas
from sensors.announcements.zigbee import pointer

MQX = ("ANALOG", "MQX")
"""Where an analogue input in MQ-X mode shows its ppm."""

MODEL_PROFILE = "tasmota-mqx"


def heads(config: object, sensors: object, shipped: frozenset[str]) -> Iterator[Announced]:
    """Yield the heads of one device, of which both messages were heard."""
    if not isinstance(config, Mapping) or not isinstance(sensors, Mapping):
        return
    topic = _topic(config)
    shown = sensors.get("sn")
    if topic is None or not isinstance(shown, Mapping):
        return
    name = str(config.get("dn") or config.get("t"))
    for steps in _numbers(shown):
        if steps[:2] == MQX and MODEL_PROFILE in shipped:
            profile, keys = MODEL_PROFILE, {}
        elif steps[:2] == MQX or speaks_of_gas(steps[-1]):
            profile, keys = GENERIC, {"value": pointer(*steps), "unit_of_value": "ppm"}
        else:
            continue
        yield Announced("tasmota", name, str(config.get("md", "")), topic, profile, keys, ("slow",))


def _topic(config: Mapping[str, Any]) -> str | None:
    """Return the topic of its telemetry, from its template of topics."""
    template, own, prefixes = config.get("ft"), config.get("t"), config.get("tp")
    if not isinstance(template, str) or not isinstance(own, str) or not isinstance(prefixes, list) or len(prefixes) < 3:
        return None
    filled = template.replace("%prefix%", str(prefixes[2])).replace("%topic%", own)
    filled = filled.replace("%hostname%", str(config.get("hn", ""))).replace("%id%", str(config.get("mac", "")))
    return None if "%" in filled else filled.rstrip("/") + "/SENSOR"


def _numbers(shown: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in shown.items():
        if isinstance(value, Mapping) and len(above) < 4:
            yield from _numbers(value, (*above, str(key)))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield (*above, str(key))

"""The depot.toml files of the bench. Knows no process."""

from collections.abc import Iterable
from dataclasses import dataclass

DEPOT = "bancada"


@dataclass(frozen=True, slots=True)
class Bus:
    """One Modbus TCP line and the units that hang on it."""

    id: str
    port: int
    units: tuple[int, ...]
    period_ms: int
    timeout_ms: int


def detector_on(bus: Bus, unit: int) -> str:
    """The id of a Modbus head."""
    return f"{bus.id}-u{unit}"


def topic_of(head: str) -> str:
    """Where an MQTT head speaks."""
    return f"bench/{head}"


def depot_file(
    *,
    web: int,
    mqtt: int,
    buses: Iterable[Bus],
    mqtt_heads: Iterable[str] = (),
    webhook: int | None = None,
    siren: int | None = None,
    profile: str | None = None,
) -> str:
    """A whole depot.toml: ten registers from each unit, alarms out by MQTT and, given their ports, otherwise too.

    With `profile`, a file of `PROFILE`, a head takes few enough bytes for thousands of them.
    """
    head = _MODBUS_HEAD if profile is None else _SHORT_HEAD
    parts = [_HEADER.format(depot=DEPOT, web=web, mqtt=mqtt)]
    for bus in buses:
        parts.append(_BUS.format(bus=bus))
        parts.extend(
            head.format(id=detector_on(bus, unit), bus=bus.id, unit=unit, profile=profile) for unit in bus.units
        )
    parts.extend(_MQTT_HEAD.format(id=head, topic=topic_of(head)) for head in mqtt_heads)
    if webhook is not None:
        parts.append(_WEBHOOK.format(port=webhook))
    if siren is not None:
        parts.append(_SIREN.format(port=siren))
    channels = '["painel"]' if webhook is None else '["painel", "gancho"]'
    parts.append(_RECIPIENT.format(channels=channels))
    return "".join(parts)


_HEADER = """\
[depot]
id = "{depot}"
name = "Bancada"
address = "Rua 1"
language = "pt-BR"
data = "var"

[[area]]
id = "patio"
licensed_kg = 6240

[levels]
A1 = 10
A2 = 20
A3 = 40

[web]
listen = "127.0.0.1:{web}"

[mqtt]
host = "127.0.0.1"
port = {mqtt}

[[channel]]
id = "painel"
kind = "mqtt"
"""

_BUS = """
[[bus]]
id = "{bus.id}"
transport = "tcp"
host = "127.0.0.1"
port = {bus.port}
period_ms = {bus.period_ms}
timeout_ms = {bus.timeout_ms}
"""

_MODBUS_HEAD = """
[[detector]]
id = "{id}"
area = "patio"
bus = "{bus}"
unit = {unit}
lel_vol_pct = 1.4
profile = "generic-modbus"
register = 0
type = "uint16"
scale = 0.1
unit_of_value = "lel_pct"
status_register = 9
bits = {{ fault = [0], warm_up = [1] }}
"""

_SHORT_HEAD = """
[[detector]]
id = "{id}"
area = "patio"
bus = "{bus}"
unit = {unit}
profile = "{profile}"
"""

PROFILE = """\
format = 1
id = "bancada"
wire = "modbus"

[timing]
detects_silence_s = 0.0

[points]
register = 0
type = "uint16"
scale = 0.1
unit_of_value = "lel_pct"

[[points.states]]
register = 9
bits = { fault = 0, warm_up = 1 }
"""
"""A site profile for heads like those of the bench."""

_MQTT_HEAD = """
[[detector]]
id = "{id}"
area = "patio"
mqtt = "{topic}"
lel_vol_pct = 1.4
profile = "mqtt-json"
value = "/lel"
sequence = "/seq"
unit_of_value = "lel_pct"
full_scale = 100
max_age_ms = 2500
"""

_WEBHOOK = """
[[channel]]
id = "gancho"
kind = "webhook"
url = "http://127.0.0.1:{port}/vigia"
"""

_SIREN = """
[[bus]]
id = "saidas"
transport = "tcp"
host = "127.0.0.1"
port = {port}

[[channel]]
id = "sirene"
kind = "siren"
bus = "saidas"
unit = 1
coil = 0
"""

_RECIPIENT = """
[[recipient]]
id = "dona"
role = "owner"
channels = {channels}
alarms = ["A1", "A2", "A3", "BLIND", "SYSTEM"]
"""

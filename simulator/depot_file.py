"""The demo's depot.toml: written from a yard, and kept afterwards except for its ports. Knows no process."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sensors.sentences import Sentence
from simulator.devices import COILS
from simulator.lines import HOST
from simulator.yard import Head, Line, ModbusWire, Yard

HEADER = re.compile(r"^\s*\[")
PORT = re.compile(r"^(\s*port\s*=\s*)\d+", re.MULTILINE)
LISTEN = re.compile(r"^(\s*listen\s*=\s*)\"[^\"]*\"", re.MULTILINE)


class ForeignDepotError(Exception):
    """A depot.toml that the demo cannot fit its ports into: not its own, or changed beyond that."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Every port the file names. `lines` are those of the TCP lines."""

    lines: Mapping[str, int]
    mqtt: int
    web: int


def render(yard: Yard, ports: Ports, calibrated_on: date, language: str, links: str = "") -> str:
    """Return a whole depot.toml for the yard, whose messages are in `language`; `links` holds its serial devices."""
    blocks = [
        _HEAD.format(
            yard=yard,
            web=ports.web,
            host=HOST,
            mqtt=ports.mqtt,
            area=_quoted(yard.area),
            called=_quoted(yard.area_name),
            language=language,
        ),
        *(_line(line, ports, links) for line in yard.lines),
        *(_detector(head, yard.area, calibrated_on) for head in yard.heads),
        _TAIL.format(siren=yard.siren, bus=_quoted(yard.siren.line), beacon=(yard.siren.coil + 1) % COILS),
    ]
    return "\n".join(blocks)


def read_ports(text: str, yard: Yard) -> Ports:
    """Read the ports out of a file that `render` wrote.

    Raises:
        ForeignDepotError: if one is not there.
    """
    try:
        document = tomllib.loads(text)
        buses = {bus["id"]: bus["port"] for bus in document["bus"] if "port" in bus}
        web = int(document["web"]["listen"].rpartition(":")[2])
        return Ports({line.id: int(buses[line.id]) for line in yard.tcp_lines()}, int(document["mqtt"]["port"]), web)
    except tomllib.TOMLDecodeError as error:
        raise ForeignDepotError(Sentence("it is no TOML: {reason}", reason=error)) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ForeignDepotError(Sentence("it lacks a port of a line, of MQTT or of the page")) from error


def with_ports(text: str, ports: Ports) -> str:
    """Return the text with other ports, all else left as it is, comments included."""
    return "".join(_renewed(block, ports) for block in _blocks(text))


def _blocks(text: str) -> Iterable[str]:
    """Cut the text before every table header."""
    block: list[str] = []
    for line in text.splitlines(keepends=True):
        if HEADER.match(line) and block:
            yield "".join(block)
            block = []
        block.append(line)
    yield "".join(block)


def _renewed(block: str, ports: Ports) -> str:
    try:
        table: dict[str, Any] = tomllib.loads(block)
    except tomllib.TOMLDecodeError:  # the inside of a value that spans lines, cut at its "["
        return block
    if "web" in table:
        return LISTEN.sub(rf'\g<1>"{HOST}:{ports.web}"', block)
    if "mqtt" in table:
        return PORT.sub(rf"\g<1>{ports.mqtt}", block)
    if "bus" in table and table["bus"][0].get("id") in ports.lines:
        return PORT.sub(rf"\g<1>{ports.lines[table['bus'][0]['id']]}", block)
    return block


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _line(line: Line, ports: Ports, links: str) -> str:
    if line.transport == "tcp":
        own = _TCP.format(host=HOST, port=ports.lines[line.id])
    else:
        own = _RTU.format(device=_quoted(f"{links}/{line.id}"))
    return _LINE.format(id=_quoted(line.id), own=own, line=line)


def _detector(head: Head, area: str, calibrated_on: date) -> str:
    wire = head.wire
    own = (
        f"bus = {_quoted(wire.line)}\nunit = {wire.unit}"
        if isinstance(wire, ModbusWire)
        else f"mqtt = {_quoted(wire.topic)}\nmax_age_ms = 2500"
    )
    keys = "".join(f"{key} = {_valued(value)}\n" for key, value in head.settings.items())
    return _DETECTOR.format(
        id=_quoted(head.id),
        area=_quoted(area),
        on=calibrated_on.isoformat(),
        profile=_quoted(head.profile.id),
        own=own,
        keys=keys,
    )


def _valued(value: object) -> str:
    """A value as TOML writes it on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case Mapping():
            return "{ " + ", ".join(f"{key} = {_valued(inner)}" for key, inner in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(_valued, value)) + "]"
        case str():
            return _quoted(value)
        case _:
            return str(value)


_HEAD = """\
# Written by `vigia demo`: a depot that is not there, on real wires. Change what you like; only ports are renewed.

[depot]
id = "deposito-demo"
name = "Depósito de demonstração"
address = "Rua das Acácias 120, portão 2"
access = "Portão 2, à esquerda do galpão; hidrante na esquina com a Rua dos Ipês"
timezone = "America/Sao_Paulo"
language = "{language}"
data = "var"
lel_reference_vol_pct = 1.4

[[area]]
id = {area}
name = {called}
licensed_kg = {yard.licensed_kg:g}
use = "resale"

[levels]
A1 = 10
A2 = 20
A3 = 40

[web]
listen = "{host}:{web}"

[mqtt]
host = "{host}"
port = {mqtt}
"""

_LINE = """\
[[bus]]
id = {id}
{own}
period_ms = {line.period_ms}
timeout_ms = {line.timeout_ms}
"""

_TCP = """\
transport = "tcp"
host = "{host}"
port = {port}"""

_RTU = """\
transport = "rtu"
device = {device}
baud = 19200"""

_DETECTOR = """\
[[detector]]
id = {id}
area = {area}
lel_vol_pct = 1.4
calibrated_on = {on}
profile = {profile}
{own}
{keys}"""

_TAIL = """\
[[channel]]
id = "sirene"
kind = "siren"
bus = {bus}
unit = {siren.unit}
coil = {siren.coil}

[[channel]]
id = "sinalizador"
kind = "beacon"
bus = {bus}
unit = {siren.unit}
coil = {beacon}

[[channel]]
id = "painel"
kind = "mqtt"

[[channel]]
id = "console"
kind = "console"

[[recipient]]
id = "dona"
name = "Dona do depósito"
role = "owner"
phone = "(11) 98888-7777"
channels = ["painel", "console"]
alarms = ["A1", "A2", "A3", "BLIND", "SYSTEM"]

[[recipient]]
id = "central"
name = "Central de monitoramento"
role = "centre"
channels = ["painel"]
alarms = []

[[escalation]]
after_s = 60
recipients = ["central"]
"""

"""The depot.toml of a drawn depot, as an installer would write it. Pure text."""

from typing import Final

from simulator.draws import BOARD, DrawnBus, DrawnDepot, DrawnGate, DrawnHead, DrawnRule, DrawnSupply

AREA: Final = "patio"


def toml(drawn: DrawnDepot, *, broker: bool) -> str:
    """Return its configuration. `broker`: the depot has one, whether anything hangs on it now or not."""
    blocks = [_HEAD.format(id=drawn.id, area=AREA, zone=drawn.zone)]
    blocks += [_bus(bus) for bus in drawn.buses]
    blocks += [_detector(head) for head in drawn.heads]
    blocks += [(_RELAY if siren.topic else _SIREN).format(siren=siren) for siren in drawn.sirens]
    blocks += [_PHONE.format(phone=phone) for phone in drawn.phones]
    told = (drawn.phones[:1] or ("console",)) + ((BOARD,) if drawn.board else ())
    blocks.append(_OWNER.format(channels=", ".join(f'"{channel}"' for channel in told)))
    if len(drawn.phones) > 1:
        blocks.append(_CENTRE.format(channel=drawn.phones[-1]))
        if drawn.escalates_s:
            blocks.append(_ESCALATION.format(after=drawn.escalates_s))
    if drawn.board:
        blocks.append(f'[[channel]]\nid = "{BOARD}"\nkind = "mqtt"\n')
    blocks += [_supply(supply) for supply in drawn.supplies]
    blocks += [_rule(rule) for rule in drawn.rules]
    blocks += [_gate(gate) for gate in drawn.gates]
    if broker:
        blocks.append('[mqtt]\nhost = "127.0.0.1"\nport = 1883\n')
    return "\n".join(blocks)


KINDS: Final = {
    "bits": """\
profile = "generic-modbus"
register = {head.register}
function = "holding"
type = "uint16"
scale = 0.1
unit_of_value = "lel_pct"
full_scale = 100
lel_vol_pct = 1.4
status_register = {past}
bits = {{ fault = [0], warm_up = [1], over_range = [2], inhibited = [3] }}
refresh_s = 0.5
""",
    "float": """\
profile = "generic-modbus"
register = {head.register}
function = "input"
type = "float32"
unit_of_value = "lel_pct"
full_scale = 100
lel_vol_pct = 1.4
refresh_s = 0.5
""",
    "signed": """\
profile = "generic-modbus"
register = {head.register}
function = "holding"
type = "int16"
scale = 0.1
unit_of_value = "lel_pct"
full_scale = 100
lel_vol_pct = 2.1
refresh_s = 0.5
""",
    "json": """\
profile = "mqtt-json"
value = "/lel"
sequence = "/seq"
unit_of_value = "lel_pct"
full_scale = 100
lel_vol_pct = 1.4
refresh_s = 1.0
max_age_ms = 2500
""",
    "xcd": """\
profile = "honeywell-sensepoint-xcd"
lel_vol_pct = 1.4
refresh_s = 0.5
""",
    "ultima": """\
profile = "msa-ultima-x"
channel = 1
lel_vol_pct = 1.4
refresh_s = 0.5
""",
    "polytron": """\
profile = "draeger-polytron-8000"
lel_vol_pct = 1.7
""",
    "beacon": """\
profile = "rki-beacon-410"
channel = 1
lel_vol_pct = 1.4
refresh_s = 0.5
""",
    "analogue": """\
profile = "waveshare-8ai"
channel = 1
head = {{ milliamp = [4, 20], range_lel_pct = [0, 100], fault_below_ma = 3.0, over_range_above_ma = 20.5 }}
lel_vol_pct = 1.4
refresh_s = 0.5
""",
}
"""Heads, as the installer writes them."""


def _bus(bus: DrawnBus) -> str:
    lines = [
        "[[bus]]",
        f'id = "{bus.id}"',
        f'transport = "{"rtu-over-tcp" if bus.rtu else "tcp"}"',
        'host = "127.0.0.1"',
        f"port = {bus.port}",
        f"period_ms = {bus.period_ms}",
        "timeout_ms = 200",
    ]
    if bus.in_flight > 1 and not bus.ignores_ids:
        lines.append(f"in_flight = {bus.in_flight}")
    if bus.rtu:
        lines.append("line_baud = 19200")
    if bus.ignores_ids:
        lines.append('transaction_id = "ignore"')
    return "\n".join(lines) + "\n"


def _detector(head: DrawnHead) -> str:
    way = f'bus = "{head.bus}"\nunit = {head.unit}\n' if head.bus else f'mqtt = "depot/{head.id}"\n'
    own = KINDS[head.kind].format(head=head, past=head.register + 1)
    return f'[[detector]]\nid = "{head.id}"\narea = "{AREA}"\ncalibrated_on = 2026-03-01\n{way}{own}'


def _supply(supply: DrawnSupply) -> str:
    wired = _SUPPLY_BEHIND if supply.topic else _SUPPLY
    return wired.format(supply=supply)


def _rule(rule: DrawnRule) -> str:
    alarms = ", ".join(f'"{alarm}"' for alarm in rule.alarms)
    during = f'during = "{rule.during}"\n' if rule.during else ""
    return f'[[suppression]]\nalarms = [{alarms}]\n{during}by = "Rui"\nreason = "em obras"\nuntil = {rule.until}\n'


def _gate(gate: DrawnGate) -> str:
    return _GATE.format(gate=gate, area=AREA)


_GATE = """\
[[stock_source]]
id = "{gate.id}"
mqtt = "{gate.topic}"
value = "/count"
number = "/seq"
area = "{area}"
size = "P-13"
act = "{gate.act}"
"""

_SUPPLY = """\
[[supply]]
id = "{supply.id}"
bus = "{supply.bus}"
unit = {supply.unit}
mains = {{ discrete = 3, when = [0] }}
battery = {{ input = 5, below = 30 }}
"""

_SUPPLY_BEHIND = """\
[[supply]]
id = "{supply.id}"
mqtt = "{supply.topic}"
mains = {{ value = "/power", when = [0] }}
battery = {{ value = "/charge", below = 30 }}
max_age_s = 20
"""

_HEAD = """\
[depot]
id = "{id}"
name = "Depósito sorteado"
address = "Rua das Acácias 120"
timezone = "{zone}"
laws = []
data = "var"
lel_reference_vol_pct = 1.4

[[area]]
id = "{area}"
licensed_kg = 6240
use = "resale"

[levels]
A1 = 10
A2 = 20
A3 = 40
"""

_SIREN = """\
[[channel]]
id = "{siren.id}"
kind = "{siren.kind}"
bus = "{siren.bus}"
unit = {siren.unit}
coil = {siren.coil}
"""

_RELAY = """\
[[channel]]
id = "{siren.id}"
kind = "{siren.kind}"
mqtt = {{ command = {{ topic = "{siren.topic}/set", on = "1", off = "0" }}, confirm = {{ topic = "{siren.topic}" }} }}
"""

_PHONE = """\
[[channel]]
id = "{phone}"
kind = "webhook"
url = "http://127.0.0.1:9000/{phone}"
"""

_OWNER = """\
[[recipient]]
id = "dona"
name = "Dona do depósito"
role = "owner"
channels = [{channels}]
alarms = ["A1", "A2", "A3", "BLIND", "SYSTEM", "COMPLIANCE"]
"""

_CENTRE = """\
[[recipient]]
id = "central-de-monitoramento"
role = "centre"
channels = ["{channel}"]
alarms = ["A1", "A2", "A3"]
"""

_ESCALATION = """\
[[escalation]]
after_s = {after}
recipients = ["central-de-monitoramento"]
"""

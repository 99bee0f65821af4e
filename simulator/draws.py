"""A depot and what befalls it, drawn from a seed: the same on every machine and every Python. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from simulator.mishaps import MISHAPS, Place

T = TypeVar("T")

EVENTS_PER_HOUR: Final = 12
"""Leaks and faults; what people do comes on top."""

SETTLING_S: Final = 60.0
"""Nothing befalls a depot while it comes up, nor in the last minute."""

AREA: Final = "patio"


@dataclass(frozen=True, slots=True)
class DrawnBus:
    """One line. `serial`: behind a gateway that serves one request at a time."""

    id: str
    port: int
    period_ms: int
    in_flight: int = 1
    serial: bool = False
    rtu: bool = False
    ignores_ids: bool = False


@dataclass(frozen=True, slots=True)
class DrawnHead:
    """One head; `bus` empty for one that speaks MQTT. `kind` is a key of `KINDS`."""

    id: str
    kind: str
    bus: str = ""
    unit: int = 0
    register: int = 0


@dataclass(frozen=True, slots=True)
class DrawnSiren:
    """One coil."""

    id: str
    kind: str
    bus: str
    unit: int
    coil: int


@dataclass(frozen=True, slots=True)
class DrawnDepot:
    """A depot. `escalates_s` 0: nobody is called in later."""

    id: str
    buses: tuple[DrawnBus, ...]
    heads: tuple[DrawnHead, ...]
    sirens: tuple[DrawnSiren, ...]
    phones: tuple[str, ...]
    escalates_s: int = 0

    def toml(self) -> str:
        """Return its configuration."""
        blocks = [_HEAD.format(id=self.id, area=AREA)]
        blocks += [_bus(bus) for bus in self.buses]
        blocks += [_detector(head) for head in self.heads]
        blocks += [_SIREN.format(siren=siren) for siren in self.sirens]
        blocks += [_PHONE.format(phone=phone) for phone in self.phones]
        blocks.append(_OWNER.format(channels=", ".join(f'"{phone}"' for phone in self.phones[:1] or ("console",))))
        if len(self.phones) > 1:
            blocks.append(_CENTRE.format(channel=self.phones[-1]))
            if self.escalates_s:
                blocks.append(_ESCALATION.format(after=self.escalates_s))
        if any(not head.bus for head in self.heads):
            blocks.append('[mqtt]\nhost = "127.0.0.1"\nport = 1883\n')
        return "\n".join(blocks)


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that befalls a depot.

    Attributes:
        at, lasts: seconds after the gateway's first start.
        what: ``leak``, a name of `MISHAPS`, or something that people or the machine do: see `PEOPLE` and `MACHINE`.
        target: a head, a line, a siren or a phone; empty where there is only one thing that it can befall.
        size: %LEL of a leak, seconds of a clock's step, minutes of a window.
    """

    at: float
    what: str
    target: str = ""
    lasts: float = 0.0
    size: float = 0.0


PEOPLE: Final = ("acknowledge", "silence", "reset", "test", "inhibit", "close")
MACHINE: Final = ("kill", "power-cut", "restart", "clock-step")


class Dice:
    """Chance from a seed, by nothing but `random()`, whose sequence every Python keeps."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def roll(self) -> float:
        """From 0 to 1."""
        return self._chance.random()

    def between(self, low: float, high: float) -> float:
        """A number between two, in thousandths."""
        return round(low + (high - low) * self.roll(), 3)

    def one_of(self, things: Sequence[T]) -> T:
        """One of them."""
        return things[int(self.roll() * len(things))]

    def whether(self, share: float) -> bool:
        """Yes, in so many of all cases."""
        return self.roll() < share


def depot(seed: int) -> DrawnDepot:
    """Return the depot of a seed."""
    dice = Dice(seed * 2 + 1)
    buses = [_drawn_bus(dice, number) for number in range(1, 3 if dice.whether(0.25) else 2)]
    heads = [
        DrawnHead(f"GD-{bus.id[-1]}0{number}", dice.one_of(MODBUS_KINDS), bus.id, number, 10 * number)
        for bus in buses
        for number in range(1, 2 + int(dice.roll() * 3))
    ]
    if dice.whether(0.25):
        heads.append(DrawnHead("GD-901", "json"))
    sirens: list[DrawnSiren] = []
    if dice.whether(0.8):
        own = dice.whether(0.5)
        line = DrawnBus("saidas", 20_999, 1000) if own else dice.one_of(buses)
        if own:
            buses.append(line)
        sirens.append(DrawnSiren("sirene", "siren", line.id, 99, 0))
        if dice.whether(0.3):
            sirens.append(DrawnSiren("farol", "relay", line.id, 99, 1))
    phones = ("telefone", "central") if dice.whether(0.4) else ("telefone",)
    return DrawnDepot(
        f"deposito-{seed}", tuple(buses), tuple(heads), tuple(sirens), phones, 60 if dice.whether(0.5) else 0
    )


def timeline(seed: int, drawn: DrawnDepot, hours: float) -> tuple[Happening, ...]:
    """Return what befalls this depot within so many hours, in order."""
    dice = Dice(seed * 2 + 2)
    span = hours * 3600.0
    found: list[Happening] = []
    for _ in range(max(1, round(hours * EVENTS_PER_HOUR))):
        at = dice.between(SETTLING_S, max(span - SETTLING_S, SETTLING_S + 1))
        if dice.whether(0.4):
            found += _leak(dice, drawn, at)
        else:
            found += _mishap(dice, drawn, at)
    for _ in range(max(1, round(hours * 2))):
        found.append(_of_machine(dice, dice.between(SETTLING_S, max(span - SETTLING_S, SETTLING_S + 1))))
    for _ in range(max(1, round(hours * 2))):
        head = dice.one_of(drawn.heads).id
        at = dice.between(SETTLING_S, max(span - SETTLING_S, SETTLING_S + 1))
        found.append(Happening(at, dice.one_of(PEOPLE), head, size=dice.between(1.0, 10.0)))
    return tuple(sorted(found, key=lambda each: (each.at, each.what, each.target)))


# --- details -------------------------------------------------------------------------------------


def _drawn_bus(dice: Dice, number: int) -> DrawnBus:
    rtu = dice.whether(0.2)  # a converter that passes frames on as they are keeps nobody waiting
    serial = not rtu and dice.whether(0.5)
    return DrawnBus(
        f"linha-{number}",
        21_000 + number,
        dice.one_of((500, 1000, 1000, 1500, 2000, 2000, 2000)),
        in_flight=1 if serial or rtu or dice.whether(0.5) else 4,
        serial=serial,
        rtu=rtu,
        ignores_ids=not rtu and dice.whether(0.15),
    )


def _leak(dice: Dice, drawn: DrawnDepot, at: float) -> list[Happening]:
    """A leak at one head, often at its neighbour too; and mostly somebody who takes it and resets."""
    head = dice.one_of(drawn.heads).id
    lasts = dice.between(8.0, 150.0)
    found = [Happening(at, "leak", head, lasts, dice.between(6.0, 130.0))]
    if dice.whether(0.3):
        found.append(Happening(at + 2.0, "leak", dice.one_of(drawn.heads).id, lasts, dice.between(6.0, 60.0)))
    if dice.whether(0.3):
        found.append(Happening(at + dice.between(1.0, 30.0), "silence", head))
    for happening in tuple(found):
        if happening.what == "leak" and dice.whether(0.85):
            taken = happening.at + dice.between(5.0, lasts + 60.0)
            found.append(Happening(taken, "acknowledge", happening.target))
            found.append(Happening(taken + dice.between(30.0, 200.0), "reset", happening.target))
    return found


def _mishap(dice: Dice, drawn: DrawnDepot, at: float) -> list[Happening]:
    """A fault of something that this depot has; of a head sometimes just before or in the midst of gas."""
    targets = {
        Place.UNIT: [head.id for head in drawn.heads if head.bus],
        Place.TOPIC: [head.id for head in drawn.heads if not head.bus],
        Place.LINE: [bus.id for bus in drawn.buses],
        Place.BROKER: [""] if any(not head.bus for head in drawn.heads) else [],
        Place.COIL: [siren.id for siren in drawn.sirens],
        Place.PHONE: list(drawn.phones),
        Place.DISK: [""],
    }
    names = [name for name, mishap in MISHAPS.items() if targets[mishap.place]]
    name = dice.one_of(names)
    mishap = MISHAPS[name]
    target = dice.one_of(targets[mishap.place])
    lasts = mishap.lasts or dice.between(2.0, 90.0)
    found = [Happening(at, name, target, lasts)]
    if dice.whether(0.4):
        head = target if mishap.place in (Place.UNIT, Place.TOPIC) else dice.one_of(drawn.heads).id
        begins = max(SETTLING_S, at + dice.between(-20.0, lasts))
        found.append(Happening(begins, "leak", head, dice.between(8.0, 90.0), dice.between(12.0, 130.0)))
    return found


def _of_machine(dice: Dice, at: float) -> Happening:
    what = dice.one_of(MACHINE)
    if what == "clock-step":
        return Happening(at, what, size=dice.one_of((-86_400.0, -3600.0, -30.0, 30.0, 3600.0, 86_400.0)))
    return Happening(at, what, lasts=dice.between(0.5, 20.0))


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
}
"""Heads, as the installer writes them."""

MODBUS_KINDS: Final = ("bits", "bits", "float", "signed")


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


_HEAD = """\
[depot]
id = "{id}"
name = "Depósito sorteado"
address = "Rua das Acácias 120"
timezone = "America/Sao_Paulo"
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
alarms = ["A1", "A2", "A3", "BLIND", "SYSTEM"]
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

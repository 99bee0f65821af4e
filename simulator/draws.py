"""A depot drawn from a seed: the same on every machine and every Python. Pure; knows no file and no fault."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from simulator.dice import Dice

MODBUS_KINDS: Final = ("bits", "bits", "float", "signed")
MAKES: Final = ("xcd", "ultima", "polytron", "beacon", "analogue")
ZONE: Final = "America/Sao_Paulo"
ZONE_OF_LAPSES: Final = "Africa/Nairobi"
"""Where it is midnight a quarter of an hour after the beginning (`simulator.virtual.EPOCH_NS`), without summer time."""

BOARD: Final = "avisos"
"""The channel that tells over the broker."""
BROUGHT: Final = "mqtt"
"""The one that a gateway with a broker brings itself where its file has none."""

LAST_DAY: Final = "2026-05-28"
"""The day of the beginning: a rule that holds until then lapses at that midnight."""

FAR_DAY: Final = "2027-03-31"


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
    """One head; `bus` empty for one that speaks MQTT. `kind` is a key of `simulator.drawn_file.KINDS`, and tells of
    its nature too. In a yard it hangs at `x_m`, `y_m`.
    """

    id: str
    kind: str
    bus: str = ""
    unit: int = 0
    register: int = 0
    x_m: float = 0.0
    y_m: float = 0.0


@dataclass(frozen=True, slots=True)
class DrawnSiren:
    """One coil, or (`topic`) a device behind the broker."""

    id: str
    kind: str
    bus: str = ""
    unit: int = 0
    coil: int = 0
    topic: str = ""


@dataclass(frozen=True, slots=True)
class DrawnSupply:
    """A UPS that tells of mains and battery: a unit of a line, or (`topic`) behind the broker."""

    id: str
    bus: str = ""
    unit: int = 0
    topic: str = ""


@dataclass(frozen=True, slots=True)
class DrawnRule:
    """Alarms that are kept quiet by design, as ``KIND subject``; `during` one of the same kind, or empty: always."""

    alarms: tuple[str, ...]
    during: str = ""
    until: str = FAR_DAY


@dataclass(frozen=True, slots=True)
class DrawnGate:
    """A counter at a gate, behind the broker; `act`: containers come ``in`` or go ``out``."""

    id: str
    topic: str
    act: str


@dataclass(frozen=True, slots=True)
class DrawnYard:
    """The weather, and from which size on a leak is right under its head, where gas is too rich for some."""

    wind_m_s: float
    towards_deg: float
    under_from: float


@dataclass(frozen=True, slots=True)
class DrawnDepot:
    """A depot. `escalates_s` 0: nobody is called in later. Without a `yard` gas comes to each head as it is drawn.

    `board`: its owner is told over the broker too. Where each alarm stands is shown at a broker in any case.
    `registers`: people keep them.
    """

    id: str
    buses: tuple[DrawnBus, ...]
    heads: tuple[DrawnHead, ...]
    sirens: tuple[DrawnSiren, ...]
    phones: tuple[str, ...]
    escalates_s: int = 0
    yard: DrawnYard | None = None
    board: bool = False
    supplies: tuple[DrawnSupply, ...] = ()
    rules: tuple[DrawnRule, ...] = ()
    zone: str = ZONE
    gates: tuple[DrawnGate, ...] = ()
    registers: bool = False

    @property
    def has_broker(self) -> bool:
        """Whether anything hangs on a broker."""
        behind = any(not head.bus for head in self.heads) or any(siren.topic for siren in self.sirens)
        return behind or self.board or bool(self.gates) or any(supply.topic for supply in self.supplies)

    @property
    def noticeboard(self) -> str:
        """The channel that shows alarms at the broker: its own, or else the gateway's; empty without a broker."""
        if self.board:
            return BOARD
        return BROUGHT if self.has_broker else ""


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
    if dice.whether(0.2):
        sirens.append(DrawnSiren("portaria", "siren", topic="portaria"))
    phones = ("telefone", "central") if dice.whether(0.4) else ("telefone",)
    found = DrawnDepot(
        f"deposito-{seed}", tuple(buses), tuple(heads), tuple(sirens), phones, 60 if dice.whether(0.5) else 0
    )
    found = _in_a_yard(dice, found) if dice.whether(0.2) else found
    found = _with_house(dice, found)
    if dice.whether(0.25):
        gate = DrawnGate("portao", "portao/contagem", "in" if dice.whether(0.7) else "out")
        found = replace(found, gates=(gate,))
    return replace(found, registers=True, zone=ZONE_OF_LAPSES) if dice.whether(0.25) else found


def changed(drawn: DrawnDepot, changes: Iterable[str]) -> DrawnDepot:
    """Return the depot as new orders name it: each change is what is changed and, after a colon, of what."""
    for change in changes:
        what, _, name = change.partition(":")
        drawn = _CHANGES[what](drawn, name)
    return drawn


def changes_of(drawn: DrawnDepot) -> tuple[str, ...]:
    """Return every change that this depot allows."""
    found = ["as-it-was"]
    found += [f"line-renamed:{bus.id}" for bus in drawn.buses]
    found += [f"siren-renamed:{siren.id}" for siren in drawn.sirens]
    if len(drawn.heads) > 1:
        found += [f"{what}:{head.id}" for head in drawn.heads for what in ("head-gone", "head-renamed")]
    found += [f"supply-gone:{supply.id}" for supply in drawn.supplies]
    found += ["rules-gone"] if drawn.rules else []
    return tuple(found)


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


def _in_a_yard(dice: Dice, drawn: DrawnDepot) -> DrawnDepot:
    """Hang its heads in a yard with weather; some are of makes that have a profile of their own."""
    heads = tuple(
        replace(
            head,
            kind=dice.one_of(MAKES) if head.bus and dice.whether(0.6) else head.kind,
            x_m=0.5 + 2.0 * int(dice.roll() * 3),
            y_m=0.5 + 2.0 * int(dice.roll() * 2),
        )
        for head in drawn.heads
    )
    yard = DrawnYard(dice.between(0.0, 1.5), dice.between(0.0, 360.0), dice.between(60.0, 130.0))
    return replace(drawn, heads=heads, yard=yard)


def _with_house(dice: Dice, drawn: DrawnDepot) -> DrawnDepot:
    """Give it what feeds it, what tells of it over the broker, and rules that keep some of its alarms quiet."""
    supplies: tuple[DrawnSupply, ...] = ()
    if dice.whether(0.35):
        topic = dice.whether(0.3)
        supplies = (
            DrawnSupply("nobreak", topic="nobreak/estado")
            if topic
            else DrawnSupply("nobreak", dice.one_of(drawn.buses).id, 90),
        )
    found = replace(drawn, board=dice.whether(0.3), supplies=supplies)
    if not dice.whether(0.3):
        return found
    lapses = dice.whether(0.5)
    rule = DrawnRule(*_quiet(dice, found), LAST_DAY if lapses else FAR_DAY)
    return replace(found, rules=(rule,), zone=ZONE_OF_LAPSES if lapses else ZONE)


def _quiet(dice: Dice, drawn: DrawnDepot) -> tuple[tuple[str, ...], str]:
    """Return what is kept quiet, and during what."""
    head = dice.one_of(drawn.heads)
    line = head.bus or "mqtt"
    of_line = tuple(f"BLIND {each.id}" for each in drawn.heads if each.bus == head.bus)
    during = ["", ""]
    during += [f"SYSTEM mains:{supply.id}" for supply in drawn.supplies]
    during += [f"BLIND {each.id}" for each in drawn.heads if each.id != head.id][:1]
    choices: list[tuple[str, ...]] = [(f"BLIND {head.id}",), (f"BLIND {line}", *of_line), (f"BLIND {line}",)]
    choices += [(f"SYSTEM mains:{supply.id}", f"SYSTEM supply:{supply.id}") for supply in drawn.supplies]
    alarms = dice.one_of(choices)
    explained = dice.one_of(during)
    return alarms, "" if explained in alarms else explained


def _renamed(name: str, of: str) -> str:
    return f"{name}-novo" if name == of else name


def _line_renamed(drawn: DrawnDepot, line: str) -> DrawnDepot:
    return replace(
        drawn,
        buses=tuple(replace(bus, id=_renamed(bus.id, line)) for bus in drawn.buses),
        heads=tuple(replace(head, bus=_renamed(head.bus, line)) for head in drawn.heads),
        sirens=tuple(replace(siren, bus=_renamed(siren.bus, line)) for siren in drawn.sirens),
        supplies=tuple(replace(supply, bus=_renamed(supply.bus, line)) for supply in drawn.supplies),
        rules=_rules_renamed(drawn.rules, line),
    )


def _siren_renamed(drawn: DrawnDepot, name: str) -> DrawnDepot:
    return replace(drawn, sirens=tuple(replace(siren, id=_renamed(siren.id, name)) for siren in drawn.sirens))


def _head_gone(drawn: DrawnDepot, name: str) -> DrawnDepot:
    left = tuple(head for head in drawn.heads if head.id != name)
    if not left:
        return drawn
    found = replace(drawn, heads=left, rules=_rules_without(drawn.rules, f"BLIND {name}"))
    return found if found.has_broker else replace(found, rules=_rules_without(found.rules, "BLIND mqtt"))


def _head_renamed(drawn: DrawnDepot, name: str) -> DrawnDepot:
    heads = tuple(replace(head, id=_renamed(head.id, name)) for head in drawn.heads)
    return replace(drawn, heads=heads, rules=_rules_renamed(drawn.rules, name))


def _supply_gone(drawn: DrawnDepot, name: str) -> DrawnDepot:
    found = replace(drawn, supplies=tuple(supply for supply in drawn.supplies if supply.id != name))
    return found if found.has_broker else replace(found, rules=_rules_without(found.rules, "BLIND mqtt"))


def _rules_gone(drawn: DrawnDepot, _: str) -> DrawnDepot:
    return replace(drawn, rules=())


def _rules_renamed(rules: tuple[DrawnRule, ...], name: str) -> tuple[DrawnRule, ...]:
    def said(alarm: str) -> str:
        return f"{alarm}-novo" if alarm == f"BLIND {name}" else alarm

    return tuple(replace(rule, alarms=tuple(map(said, rule.alarms)), during=said(rule.during)) for rule in rules)


def _rules_without(rules: tuple[DrawnRule, ...], alarm: str) -> tuple[DrawnRule, ...]:
    left = (replace(rule, alarms=tuple(each for each in rule.alarms if each != alarm)) for rule in rules)
    return tuple(rule for rule in left if rule.alarms and rule.during != alarm)


_CHANGES: Final[Mapping[str, Callable[[DrawnDepot, str], DrawnDepot]]] = {
    "as-it-was": lambda drawn, _: drawn,
    "line-renamed": _line_renamed,
    "siren-renamed": _siren_renamed,
    "siren-gone": lambda drawn, name: replace(drawn, sirens=tuple(each for each in drawn.sirens if each.id != name)),
    "head-gone": _head_gone,
    "head-renamed": _head_renamed,
    "supply-gone": _supply_gone,
    "rules-gone": _rules_gone,
}

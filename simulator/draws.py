"""A depot drawn from a seed: the same on every machine and every Python. Pure; knows no file and no fault."""

from dataclasses import dataclass
from typing import Final

from simulator.dice import Dice

MODBUS_KINDS: Final = ("bits", "bits", "float", "signed")


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
    """One head; `bus` empty for one that speaks MQTT. `kind` is a key of `simulator.drawn_file.KINDS`."""

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

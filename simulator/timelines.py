"""What befalls a drawn depot, from its seed: leaks, faults, people, the machine. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from simulator.dice import Dice
from simulator.draws import DrawnDepot, changes_of
from simulator.mishaps import MISHAPS, Place
from simulator.registrars import KINDS

EVENTS_PER_HOUR: Final = 12
"""Leaks and faults; what people do comes on top."""

MOST_CHANGES: Final = 2
"""So many changes of its file come and go in a depot; to read a file takes long."""

ENTRIES_PER_HOUR: Final = 10
"""Where people keep registers."""

SETTLING_S: Final = 60.0
"""Nothing befalls a depot while it comes up, nor in the last minute."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that befalls a depot.

    Attributes:
        at, lasts: seconds after the gateway's first start.
        what: ``leak``, ``passage`` of containers, ``entry`` in a register, a name of `MISHAPS`, or something that
            people or the machine do: see `PEOPLE` and `MACHINE`.
        target: a head, line, siren, phone or supply; of an ``entry`` its kind (`simulator.registrars.KINDS`); of a
            ``reload`` what has changed (`simulator.draws.changed`); empty where only one thing can be meant.
        size: %LEL of a leak, containers, the number of an entry, seconds of a clock's step, minutes of a window.
    """

    at: float
    what: str
    target: str = ""
    lasts: float = 0.0
    size: float = 0.0


PEOPLE: Final = (
    "acknowledge", "silence", "reset", "test", "inhibit", "out-of-service", "close", "shelve", "unshelve", "drill"
)  # fmt: skip
MACHINE: Final = ("kill", "power-cut", "restart", "clock-step", "reload")


def timeline(seed: int, drawn: DrawnDepot, hours: float) -> tuple[Happening, ...]:
    """Return what befalls this depot within so many hours, in order."""
    dice = Dice(seed * 2 + 2)
    changes = tuple(dice.one_of(changes_of(drawn)) for _ in range(MOST_CHANGES))
    span = hours * 3600.0
    found: list[Happening] = []
    for _ in range(max(1, round(hours * EVENTS_PER_HOUR))):
        at = dice.between(SETTLING_S, max(span - SETTLING_S, SETTLING_S + 1))
        if dice.whether(0.4):
            found += _leak(dice, drawn, at)
        else:
            found += _mishap(dice, drawn, at, changes)
    for _ in range(max(1, round(hours * 3))):
        found.append(_of_machine(dice, changes, dice.between(SETTLING_S, max(span - SETTLING_S, SETTLING_S + 1))))
    for _ in range(max(1, round(hours * 3))):
        head = dice.one_of(drawn.heads).id
        at = dice.between(SETTLING_S, max(span - SETTLING_S, SETTLING_S + 1))
        found.append(Happening(at, dice.one_of(PEOPLE), head, size=dice.between(1.0, 10.0)))
    for gate in drawn.gates:
        for _ in range(max(1, round(hours * 6))):
            at = dice.between(SETTLING_S, max(span - SETTLING_S, SETTLING_S + 1))
            found.append(Happening(at, "passage", gate.id, size=float(1 + int(dice.roll() * 40))))
    for number in range(max(1, round(hours * ENTRIES_PER_HOUR)) if drawn.registers else 0):
        at = dice.between(SETTLING_S, max(span - SETTLING_S, SETTLING_S + 1))
        found.append(Happening(at, "entry", dice.one_of(KINDS), size=float(1000 * int(dice.roll() * 1000) + number)))
    return tuple(sorted(found, key=lambda each: (each.at, each.what, each.target)))


# --- details -------------------------------------------------------------------------------------


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


def _mishap(dice: Dice, drawn: DrawnDepot, at: float, changes: Sequence[str]) -> list[Happening]:
    """A fault of something that this depot has; of a head sometimes just before or in the midst of gas."""
    targets = {
        Place.UNIT: [head.id for head in drawn.heads if head.bus],
        Place.TOPIC: [head.id for head in drawn.heads if not head.bus],
        Place.LINE: [bus.id for bus in drawn.buses],
        Place.BROKER: [""] if drawn.has_broker else [],
        Place.COIL: [siren.id for siren in drawn.sirens],
        Place.PHONE: list(drawn.phones),
        Place.SUPPLY: [supply.id for supply in drawn.supplies],
        Place.DISK: [""],
    }
    names = [name for name, mishap in MISHAPS.items() if targets[mishap.place]]
    name = dice.one_of(names)
    mishap = MISHAPS[name]
    target = dice.one_of(targets[mishap.place])
    lasts = mishap.lasts or dice.between(2.0, 90.0)
    found = [Happening(at, name, target, lasts)]
    if mishap.place in (Place.UNIT, Place.TOPIC, Place.LINE) and dice.whether(0.2):
        found.append(Happening(at + dice.between(3.0, 30.0), "shelve", target, size=dice.between(0.5, 10.0)))
    if dice.whether(0.15):
        found.append(_reload(dice, changes, at + dice.between(0.0, lasts + 10.0)))
    if dice.whether(0.4):
        head = target if mishap.place in (Place.UNIT, Place.TOPIC) else dice.one_of(drawn.heads).id
        begins = max(SETTLING_S, at + dice.between(-20.0, lasts))
        found.append(Happening(begins, "leak", head, dice.between(8.0, 90.0), dice.between(12.0, 130.0)))
    return found


def _reload(dice: Dice, changes: Sequence[str], at: float) -> Happening:
    return Happening(max(SETTLING_S, at), "reload", dice.one_of(changes), dice.between(1.0, 200.0))


def _of_machine(dice: Dice, changes: Sequence[str], at: float) -> Happening:
    what = dice.one_of(MACHINE)
    if what == "reload":
        return _reload(dice, changes, at)
    if what == "clock-step":
        return Happening(at, what, size=dice.one_of((-86_400.0, -3600.0, -30.0, 30.0, 3600.0, 86_400.0)))
    return Happening(at, what, lasts=dice.between(0.5, 20.0))

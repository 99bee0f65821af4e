"""What can befall a depot, as data: to heads, lines, the broker, the watch's own machine, and by people. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Final

from simulator.instrument import Instrument, Plight


class On(Enum):
    """What a happening befalls; the value is the key that names it in a scenario file, none for the last two."""

    HEAD = "head"
    LINE = "line"
    BROKER = "broker"
    HOST = "host"


class What(Enum):
    """Everything that can happen; the value is its name in scenario files."""

    RESTART = "restart"  # it loses power for a moment and warms up
    INHIBIT = "inhibit"  # a person inhibits it at the head
    FAULT = "fault"  # it reports a fault of its own
    SAYS = "says"  # it says any other word that its profile has
    MENU = "menu"  # a panel in a menu: it answers, but nothing it shows moves
    POISON = "poison"  # silicone: its sensitivity halves again and again
    SHIFT = "shift"  # its zero jumps
    TEST_GAS = "test-gas"  # a cup with gas of known strength
    TEST_WINDOW = "test-window"  # a person opens a test window over it for so many minutes
    SILENT = "silent"  # it takes requests and answers none; on MQTT it publishes nothing
    SLOW = "slow"  # its answers come so much later
    GARBAGE = "garbage"  # bytes that are no frame; on MQTT no document
    WRONG_ID = "wrong-id"  # the transaction id of another request
    WRONG_UNIT = "wrong-unit"  # in the name of another unit
    EXCEPTION = "exception"  # an exception code instead of values
    DUPLICATE = "duplicate"  # everything twice
    OUT_OF_ORDER = "out-of-order"  # answers that belong to the request before; on MQTT the older sample after the newer
    SWAPPED = "swapped-words"  # a new head with another order of words in its numbers
    CUT = "cut"  # the line refuses connections; on RTU its adapter is pulled out
    RESET = "reset"  # every connection of the line is reset, once
    MUTE = "mute"  # the line takes connections and says nothing
    BROKER_GONE = "broker-gone"
    POWER_CUT = "power-cut"  # the machine of the watch is off
    CLOCK_STEP = "clock-step"  # its civil clock jumps by so many seconds
    DISK_FULL = "disk-full"  # its journal cannot be written


@dataclass(frozen=True, slots=True)
class Kind:
    """What a happening needs to be told.

    Attributes:
        amount: the key of its figure in scenario files and the bounds of that; None for none.
        lasting: whether it has an end; otherwise it is over at once.
        wires: the wires it can befall.
    """

    on: On
    amount: tuple[str, float, float] | None = None
    lasting: bool = True
    wires: frozenset[str] = frozenset({"tcp", "rtu", "mqtt"})


TCP: Final = frozenset({"tcp"})
MODBUS: Final = frozenset({"tcp", "rtu"})
KINDS: Final[Mapping[What, Kind]] = {
    What.RESTART: Kind(On.HEAD, lasting=False),
    What.INHIBIT: Kind(On.HEAD),
    What.FAULT: Kind(On.HEAD),
    What.SAYS: Kind(On.HEAD),
    What.MENU: Kind(On.HEAD),
    What.POISON: Kind(On.HEAD, ("half_life_s", 1, 1e6)),
    What.SHIFT: Kind(On.HEAD, ("lel_pct", -50, 50)),
    What.TEST_GAS: Kind(On.HEAD, ("lel_pct", 0, 1000)),
    What.TEST_WINDOW: Kind(On.HEAD, ("minutes", 1, 30), lasting=False),
    What.SILENT: Kind(On.HEAD),
    What.SLOW: Kind(On.HEAD, ("by_s", 0.01, 60)),
    What.GARBAGE: Kind(On.HEAD),
    What.WRONG_ID: Kind(On.HEAD, wires=TCP),
    What.WRONG_UNIT: Kind(On.HEAD, wires=MODBUS),
    What.EXCEPTION: Kind(On.HEAD, ("code", 1, 11), wires=MODBUS),
    What.DUPLICATE: Kind(On.HEAD),
    What.OUT_OF_ORDER: Kind(On.HEAD, wires=frozenset({"tcp", "mqtt"})),
    What.SWAPPED: Kind(On.HEAD, wires=MODBUS),
    What.CUT: Kind(On.LINE),
    What.RESET: Kind(On.LINE, lasting=False, wires=TCP),
    What.MUTE: Kind(On.LINE),
    What.BROKER_GONE: Kind(On.BROKER),
    What.POWER_CUT: Kind(On.HOST),
    What.CLOCK_STEP: Kind(On.HOST, ("by_s", -1e8, 1e8), lasting=False),
    What.DISK_FULL: Kind(On.HOST),
}

SAID: Final = {What.INHIBIT: "inhibited", What.FAULT: "fault"}
"""The word by which a head tells of it."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that befalls `target` (a head or a line; empty for the broker and the host).

    Attributes:
        until_s: its end, not included; infinite for one that lasts.
        amount: the figure that its kind asks for.
        word: what the head says, for `What.SAYS`.
    """

    what: What
    target: str
    at_s: float
    until_s: float = inf
    amount: float = 0.0
    word: str = ""

    def holds(self, t_s: float) -> bool:
        """Tell whether it is going on."""
        return self.at_s <= t_s < self.until_s


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who answers alarms. One without `acknowledges_after_s` never comes.

    Attributes:
        acknowledges_after_s: this long after a gas alarm was raised or rose.
        resets_after_s: this long after its gas has gone, if it was acknowledged.
    """

    name: str
    acknowledges_after_s: float | None = None
    resets_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class StockMove:
    """Cylinders brought or taken: nominal kg of a piece, and how many (negative: taken away)."""

    at_s: float
    area: str
    container: str
    pieces: int


def plight(instrument: Instrument, happenings: Iterable[Happening], t_s: float) -> Plight:
    """Return what these happenings of one head make of it at `t_s`."""
    powered_s = half_life_s = inf
    word, held, poisoned_s = "", False, 0.0
    wandered = instrument.drift_lel_pct_h * t_s / 3600.0
    given: float | None = None
    for each in happenings:
        if each.what is What.RESTART and each.at_s <= t_s:
            powered_s = min(powered_s, t_s - each.at_s)
        if not each.holds(t_s):
            continue
        match each.what:
            case What.INHIBIT | What.FAULT:
                word = SAID[each.what]
            case What.SAYS:
                word = each.word
            case What.MENU:
                held = True
            case What.POISON:
                poisoned_s, half_life_s = t_s - each.at_s, each.amount
            case What.SHIFT:
                wandered += each.amount
            case What.TEST_GAS:
                given = each.amount
            case _:
                pass
    return Plight(powered_s, word, held, poisoned_s, half_life_s, wandered, given)

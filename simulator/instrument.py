"""What a head makes of the gas around it: lag, warm-up, drift, noise, poison, the end of its scale. Knows no wire."""

from dataclasses import dataclass
from hashlib import blake2b
from math import exp, inf, log
from typing import Final

T90_LIFETIMES: Final = log(10.0)
"""A first-order lag has shown 90 % of a step after this many of its time constants."""
NOISE_LEL_PCT: Final = 0.3
"""A good head in still air wanders by no more than this."""
RICHEST_LEL_PCT: Final = 220.0
"""Up to here a catalytic bead has oxygen enough: the stoichiometric mixture of n-butane, 3.1 %vol, in %LEL."""
RICH_LEL_PCT: Final = 660.0
"""Too rich to burn on a catalytic bead: the upper limit of n-butane, 9.3 %vol, in %LEL of its 1.4 %vol."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """A head's nature.

    Attributes:
        t90_s: time to show 90 % of a step; 0 follows at once.
        warm_up_s: after power-on it shows zero and says so for this long.
        full_scale: %LEL at which its number stops rising.
        refresh_s: how often it renews what it shows; 0 all the time.
        drift_lel_pct_h: how fast its zero wanders off, %LEL an hour, from the start of the scenario.
        catalytic: above `RICHEST_LEL_PCT` the oxygen runs short and its output falls, to nothing at `RICH_LEL_PCT`.
    """

    t90_s: float
    warm_up_s: float = 60.0
    full_scale: float = 100.0
    refresh_s: float = 0.0
    drift_lel_pct_h: float = 0.0
    catalytic: bool = False


@dataclass(frozen=True, slots=True)
class Indication:
    """What a head shows: %LEL, and what it says of itself (a word of `sensors.wire.meanings.SAYINGS`)."""

    lel_pct: float
    word: str = "measuring"

    @property
    def warm_up(self) -> bool:
        """Whether it says that it warms up."""
        return self.word == "warm_up"

    @property
    def over_range(self) -> bool:
        """Whether it says that the gas is past the end of its scale."""
        return self.word == "over_range"


@dataclass(frozen=True, slots=True)
class Plight:
    """What is being done to a head at the moment.

    Attributes:
        powered_s: since power-on.
        word: what it says of itself whatever it senses; empty for the truth.
        held: its number stands still, whatever it says of itself.
        poisoned_s, half_life_s: since poison reached it, and the time in which it halves the sensitivity.
        wandered_lel_pct: how far its zero has been moved.
        given_lel_pct: the gas held to it, instead of that around it; None for none.
    """

    powered_s: float = inf
    word: str = ""
    held: bool = False
    poisoned_s: float = 0.0
    half_life_s: float = inf
    wandered_lel_pct: float = 0.0
    given_lel_pct: float | None = None

    @property
    def sensitivity(self) -> float:
        """Share of the gas that it still sees."""
        return exp(-log(2.0) * self.poisoned_s / self.half_life_s)


WELL: Final = Plight()


def follow(sensed: float, gas: float, elapsed_s: float, t90_s: float) -> float:
    """Return the sensed %LEL after `elapsed_s` in `gas` (%LEL), exactly: it nears the gas, never passes it."""
    if t90_s <= 0.0:
        return gas
    return gas + (sensed - gas) * exp(-elapsed_s * T90_LIFETIMES / t90_s)


def response(instrument: Instrument, gas: float) -> float:
    """Return the %LEL that its element tells of `gas` (%LEL) at its surface."""
    if not instrument.catalytic or gas <= RICHEST_LEL_PCT:
        return gas
    return max(0.0, RICHEST_LEL_PCT * (RICH_LEL_PCT - gas) / (RICH_LEL_PCT - RICHEST_LEL_PCT))


def noise(seed: int, head: str, tick: int) -> float:
    """Return this tick's wander in %LEL, within ± `NOISE_LEL_PCT`: the same for the same three arguments, anywhere."""
    digest = blake2b(f"{seed}/{head}/{tick}".encode(), digest_size=8).digest()
    return NOISE_LEL_PCT * (int.from_bytes(digest, "big") / 2**63 - 1.0)


def indicate(instrument: Instrument, sensed: float, wander: float, plight: Plight = WELL) -> Indication:
    """Return what the head shows with `sensed` (%LEL) at its element. Noise alone never takes it below zero."""
    if plight.powered_s < instrument.warm_up_s:
        return Indication(0.0, "warm_up")
    off = plight.wandered_lel_pct
    value = max(response(instrument, sensed) * plight.sensitivity + off + wander, min(off, 0.0))
    if plight.word:
        return Indication(min(value, instrument.full_scale), plight.word)
    if value >= instrument.full_scale:
        return Indication(instrument.full_scale, "over_range")
    return Indication(value)


@dataclass(slots=True)
class Sensor:
    """One head at work: the gas that has come to its element (the lag is the way in), and what it shows since it last
    renewed that.
    """

    instrument: Instrument
    shown: Indication = Indication(0.0)
    sensed: float = 0.0
    _renewed_s: float = -inf

    def step(self, t_s: float, elapsed_s: float, gas: float, wander: float, plight: Plight = WELL) -> Indication:
        """Spend `elapsed_s` in `gas` up to `t_s`; return what it shows then."""
        around = gas if plight.given_lel_pct is None else plight.given_lel_pct
        self.sensed = follow(self.sensed, around, elapsed_s, self.instrument.t90_s)
        if plight.held:
            return Indication(self.shown.lel_pct, plight.word or self.shown.word)
        if t_s - self._renewed_s >= self.instrument.refresh_s - 1e-9:
            self._renewed_s = t_s
            self.shown = indicate(self.instrument, self.sensed, wander, plight)
        return self.shown

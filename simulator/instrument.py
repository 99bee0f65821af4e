"""What a head makes of the gas around it: lag, warm-up, noise, the end of its scale. Pure; knows no wire."""

from dataclasses import dataclass
from hashlib import blake2b
from math import exp, log

T90_LIFETIMES = log(10.0)
"""A first-order lag has shown 90 % of a step after this many of its time constants."""
NOISE_LEL_PCT = 0.3
"""A good head in still air wanders by no more than this."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """A head's nature.

    Attributes:
        t90_s: time to show 90 % of a step; 0 follows at once.
        warm_up_s: after power-on it shows zero and says so for this long.
        full_scale: %LEL at which its number stops rising.
    """

    t90_s: float
    warm_up_s: float = 60.0
    full_scale: float = 100.0


@dataclass(frozen=True, slots=True)
class Indication:
    """What a head shows: %LEL from 0 to full scale, and what it says of itself."""

    lel_pct: float
    warm_up: bool = False
    over_range: bool = False


def follow(sensed: float, gas: float, elapsed_s: float, t90_s: float) -> float:
    """Return the sensed %LEL after `elapsed_s` in `gas` (%LEL): it nears the gas, never passes it."""
    if t90_s <= 0.0:
        return gas
    return gas + (sensed - gas) * exp(-elapsed_s * T90_LIFETIMES / t90_s)


def noise(seed: int, head: str, tick: int) -> float:
    """Return this tick's wander in %LEL, within ± `NOISE_LEL_PCT`: the same for the same three arguments, anywhere."""
    digest = blake2b(f"{seed}/{head}/{tick}".encode(), digest_size=8).digest()
    return NOISE_LEL_PCT * (int.from_bytes(digest, "big") / 2**63 - 1.0)


def indicate(instrument: Instrument, sensed: float, wander: float, powered_s: float) -> Indication:
    """Return what the head shows `powered_s` after power-on when it senses `sensed` (%LEL)."""
    if powered_s < instrument.warm_up_s:
        return Indication(0.0, warm_up=True)
    value = max(sensed + wander, 0.0)
    if value >= instrument.full_scale:
        return Indication(instrument.full_scale, over_range=True)
    return Indication(value)

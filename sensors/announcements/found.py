"""What an announcement says of a head: the keys that read it, or why nobody can tell them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sensors.profiles import Profile
from sensors.wire.units import UnitOfValue

UNKNOWN_TRIP: Final = 25
"""%LEL that a yes-or-no head's "gas" stands for where nobody says: the highest usual first set-point."""

GENERIC: Final = "mqtt-json"
WORDS: Final = "mqtt-words"
"""Profiles of no model: a value in JSON; only words."""

UNITS: Final[Mapping[str, UnitOfValue]] = {
    "%lel": UnitOfValue.LEL_PCT,
    "lel": UnitOfValue.LEL_PCT,
    "lel%": UnitOfValue.LEL_PCT,
    "%lie": UnitOfValue.LEL_PCT,
    "%lfl": UnitOfValue.LEL_PCT,
    "ppm": UnitOfValue.PPM,
    "%vol": UnitOfValue.VOL_PCT,
    "vol%": UnitOfValue.VOL_PCT,
}
"""Units as devices write them, without spaces and in lower case."""

GAS_WORDS: Final = ("gas", "lpg", "glp", "lel", "propan", "butan", "methan", "metano", "combustible", "combust")
"""Parts of a name that speak of burnable gas. Only %LEL says so by itself: ppm is written of smoke and solvents too."""


@dataclass(frozen=True, slots=True)
class Announced:
    """A head that announces itself.

    Attributes:
        by: what announced it: ``zigbee2mqtt``, ``home-assistant``, ``shelly``, ``tasmota``, ``sparkplug``.
        name: as its owner calls it.
        model: maker and model, as announced.
        topic: the topic that a ``[[detector]]`` names.
        profile: the profile that reads it; empty where none does.
        keys: further keys of its ``[[detector]]``.
        notes: codes of what to know: ``trip-assumed``, ``battery``, ``silent-death``, ``slow``, ``value-template``,
            ``no-profile``.
    """

    by: str
    name: str
    model: str
    topic: str
    profile: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def unit_of(text: object) -> UnitOfValue | None:
    """Return the unit that a device writes so; None for one that is no gas."""
    return UNITS.get("".join(text.lower().split())) if isinstance(text, str) else None


def speaks_of_gas(*texts: object) -> bool:
    """Tell whether one of these names speaks of burnable gas."""
    return any(word in text.lower() for text in texts if isinstance(text, str) for word in GAS_WORDS)


class Models:
    """Shipped profiles of heads on MQTT, found by the model that an announcement names."""

    def __init__(self, profiles: Iterable[Profile]) -> None:
        ready = [one for one in profiles if one.wire == "mqtt" and one.is_detector and not one.requires]
        tokens = [(token, profile.id) for profile in ready for token in _tokens(profile.title)]
        self._tokens = sorted(tokens, key=lambda pair: -len(pair[0]))
        self.ids = frozenset(profile.id for profile in ready)

    def of(self, model: str) -> str:
        """Return the profile whose title names this model, or the model it is a variant of (``X1`` of ``X1-E``)."""
        wanted = model.casefold()
        for token, profile in self._tokens:
            rest = wanted.removeprefix(token)
            if rest != wanted and (not rest or not rest[0].isalnum()):
                return profile
        return ""


def _tokens(title: str) -> list[str]:
    """Words of a title that can be a model's: long enough, and with a digit in it."""
    words = "".join(sign if sign.isalnum() or sign in "-_." else " " for sign in title).split()
    return [word.casefold() for word in words if len(word) >= 4 and any(sign.isdigit() for sign in word)]

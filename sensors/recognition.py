"""Which known device a unit is: the identity registers of profiles as questions. Knows no socket and no clock."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sensors.profiles import Profile, ProfileError
from sensors.readings import DetectorId
from sensors.wire.modbus import Ask
from sensors.wire.places import Place, Type
from sensors.wire.points import IdentityPoint, ModbusPoints
from sensors.wire.registers import Block, InstalledHead, Stretch, ask_for, plan
from sensors.wire.units import Basis
from sensors.wire.words import raw_reader, text_reader

EXAMPLES: Mapping[str, object] = {"register": 0, "head": {"range_lel_pct": [0, 100]}}
"""What is put for keys that only the site knows; an identity does not depend on them."""


@dataclass(frozen=True, slots=True)
class Portrait:
    """A profile by which a device can be told from others.

    Attributes:
        profile: installed with examples for what only the site knows.
        identity: the place that shows the model.
    """

    profile: Profile
    points: ModbusPoints
    identity: IdentityPoint

    @property
    def span(self) -> Stretch:
        """What must be read to see the identity."""
        return Stretch(*self.identity.place.span)

    def ask(self, unit: int) -> Ask:
        """Return the question that shows it."""
        return ask_for(unit, self.span)

    def fits(self, data: bytes) -> bool:
        """Tell whether the answer to that question shows this model."""
        place, reads = self.identity.place, (self.span,)
        if self.identity.texts:
            return text_reader(place, reads)(data, 0) in self.identity.texts
        return int(raw_reader(place, reads)(data, 0)) & self.identity.mask in self.identity.equals

    @property
    def bits(self) -> int:
        """How many bits the identity fixes: of two that fit, the one with more says more."""
        if self.identity.texts:
            return 8 * min(len(text) for text in self.identity.texts)
        return (self.identity.mask & ((1 << _width(self.identity.place)) - 1)).bit_count()

    def block(self, unit: int) -> Block:
        """Return the reads of its whole first head: a device that refuses them is another, whatever its identity."""
        head = InstalledHead(DetectorId(f"unit {unit}"), self.points, Basis(None, 1.4))
        return plan(unit, (head,))[0]

    def lives_at(self, unit: int) -> bool:
        """Tell whether such a device can have this number."""
        low, high = self.profile.line.get("units", (0, 255))
        return bool(low <= unit <= high)


def portraits(profiles: Iterable[Profile]) -> tuple[Portrait, ...]:
    """Return the profiles that can be recognised, those that say most first."""
    found = [portrait for profile in profiles if (portrait := _portrait(profile)) is not None]
    return tuple(sorted(found, key=lambda portrait: (-portrait.bits, portrait.profile.id)))


def _portrait(profile: Profile) -> Portrait | None:
    if profile.wire != "modbus" or "identity" not in profile.table:
        return None
    channels = profile.table.get("channels")
    first = channels.get("first", 1) if isinstance(channels, Mapping) else 1
    examples = {**EXAMPLES, "channel": first}
    try:
        installed = profile.installed({name: examples[name] for name in profile.requires if name in examples})
    except ProfileError:  # it wants more than we can make up
        return None
    points = installed.points
    if not isinstance(points, ModbusPoints) or points.identity is None:
        return None
    return Portrait(installed, points, points.identity)


def _width(place: Place) -> int:
    if place.part is not None:
        return place.part.width
    return 1 if place.type is Type.BOOL else place.type.bits

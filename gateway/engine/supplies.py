"""Mains and battery: whether what feeds the depot shows a trouble, and whether it is seen at all. Pure.

A trouble counts once it was shown for a while without a gap, so that a flicker is no notice; one that comes and goes
without end is a trouble too. A supply that is not heard for too long is told as such, since nobody knows then whether
there is power.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.engine.events import SystemCondition
from sensors.stamps import SECOND, Instant, Stamp
from sensors.wire.gauges import PayloadGauge, RegisterGauge

REASONS = {"mains": "lost", "battery": "low"}
"""What the trouble of each gauge is called; the gauge's name is the subject's first part."""

UNSTEADY = "unsteady"
UNSTEADY_S = 120.0
"""What showed now this, now that for so long, and nothing for long enough to count, is unsteady."""


@dataclass(frozen=True, slots=True)
class Supply:
    """One supply: mains, a UPS, a charger.

    Attributes:
        unit, bus: of one on Modbus; bus empty for one behind the broker.
        gauges: by name, ``mains`` or ``battery``.
        after_s: a trouble counts once it was shown for so long.
        max_age_s: not heard for so long, it is not seen.
    """

    id: str
    gauges: Mapping[str, RegisterGauge | PayloadGauge]
    name: str = ""
    bus: str = ""
    unit: int = 0
    check_s: float = 5.0
    after_s: float = 5.0
    max_age_s: float = 20.0


class SupplySight:
    """What is known of one supply; time is an argument."""

    def __init__(self, supply: Supply, now: Instant) -> None:
        self._supply = supply
        self._heard = dict.fromkeys(supply.gauges, now)
        self._since: dict[str, tuple[bool, Instant]] = {}
        self._steady: dict[str, Instant] = dict.fromkeys(supply.gauges, now)
        self._unheard = set(supply.gauges)
        self._reason = "never-heard"
        self._told: dict[str, bool] = {}
        self._unsteady_ns = max(UNSTEADY_S, 4 * supply.after_s) * SECOND

    def heard(self, gauge: str, trouble: bool | None, reason: str, now: Instant) -> None:
        """One gauge was read, or (None) could not be."""
        if trouble is None:
            self._reason = reason
            return
        self._heard[gauge] = now
        self._unheard.discard(gauge)
        before = self._since.get(gauge)
        if before is None or before[0] is not trouble:
            self._since[gauge] = (trouble, now)

    def look(self, now: Stamp) -> Iterator[SystemCondition]:
        """Yield what has changed, and what is first known: the trouble of an earlier life may stand.

        What is not seen says nothing new of its trouble: that stands on.
        """
        blind = any(now.mono - heard > self._supply.max_age_s * SECOND for heard in self._heard.values())
        if blind or not self._unheard:
            yield from self._tell("supply", blind, self._reason, now)
        for gauge, (trouble, since) in self._since.items():
            if now.mono - since >= self._supply.after_s * SECOND:
                self._steady[gauge] = now.mono
                yield from self._tell(gauge, trouble, REASONS[gauge], now)
            elif now.mono - self._steady[gauge] >= self._unsteady_ns:
                yield from self._tell(gauge, True, UNSTEADY, now)

    def _tell(self, part: str, present: bool, reason: str, now: Stamp) -> Iterator[SystemCondition]:
        if self._told.get(part) is not present:
            self._told[part] = present
            yield SystemCondition(f"{part}:{self._supply.id}", present, reason, "", now)

"""The detectors as the engine keeps them, and the cables and brokers they are heard over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from alerts.alarms import AlarmKey, Kind
from alerts.voting import Run
from gateway.engine.orders import Watch
from sensors.readings import Reading
from sensors.stamps import Instant

NO_RUN = Run()
LONG_AGO = Instant(0)


class Heard(Enum):
    """Whether a head has given a reading that counts as watching."""

    NEVER = "never"
    """Not since the watch began with it: `watched_at` is a grace."""
    BEFORE = "before"
    """Not since it last got a grace."""
    NOW = "now"


@dataclass(slots=True, eq=False)
class Head:
    """One watched detector.

    Attributes:
        watched_at: when its last reading that counts as watching was taken (monotonic ns), or a grace that it got.
        heard: whether there was such a reading. The first one after a grace takes the long way.
        well_since: since when it has watched without a gap, while its BLIND alarm still stands; None otherwise.
        last: its last reading of any quality.
        troubled: it has a standing alarm or a grace, so every reading takes the long way.
        grouped: it is blind because its cable is down, and the cable's notice speaks for it.
        look_again: once it was found too old, when its age is looked at again (monotonic ns).
        alone: since when it was found so though that notice had gone; None while it stands.
        run: its samples at or past each level that confirm each other, for votes on costly actions.
    """

    watch: Watch
    watched_at: Instant
    heard: Heard = Heard.NEVER
    last: Reading | None = None
    well_since: Instant | None = None
    troubled: bool = True
    grouped: bool = False
    alone: Instant | None = None
    look_again: Instant = LONG_AGO
    run: Run = NO_RUN
    gas: AlarmKey = field(init=False)
    blind: AlarmKey = field(init=False)

    def __post_init__(self) -> None:
        self.gas = AlarmKey(self.watch.detector, Kind.GAS)
        self.blind = AlarmKey(self.watch.detector, Kind.BLIND)

    @property
    def ever_watched(self) -> bool:
        """Whether it has given a reading that counts as watching since the watch began with it."""
        return self.heard is not Heard.NEVER

    def why_silent(self) -> str:
        """Return the reason code for a head whose last good reading has grown too old."""
        if self.last is None:
            return "never-heard"
        return self.last.reason or "stale"


class Sources:
    """Which heads share a cable or broker, and which of those are down, with the reason."""

    def __init__(self, heads: Iterable[Head], down: Mapping[str, str] | None = None) -> None:
        self._heads: dict[str, list[Head]] = {}
        for head in heads:
            self._heads.setdefault(head.watch.source, []).append(head)
        self._down: dict[str, str] = dict(down or {})

    def names(self) -> set[str]:
        """Every source that has heads."""
        return set(self._heads)

    def heads(self, source: str) -> list[Head]:
        """The heads heard over this source; empty for one that only carries outputs."""
        return self._heads.get(source, [])

    def all_down(self) -> Mapping[str, str]:
        """Every source that is down, with the reason."""
        return self._down

    def down(self, source: str) -> str | None:
        """Why the source is down; None while it is up."""
        return self._down.get(source)

    def set_down(self, source: str, reason: str) -> None:
        """The source went down."""
        self._down[source] = reason

    def set_up(self, source: str) -> None:
        """The source came up."""
        self._down.pop(source, None)

"""The promises of what feeds a depot: a loss is told once, ends when it is over, and never while all is well. Pure.

It knows what each supply truly shows and whether it can be asked; where that is in doubt nothing is asked.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from alerts.alarms import AlarmEvent, AlarmKey, Cause, Kind
from gateway.engine.supplies import UNSTEADY, UNSTEADY_S
from simulator.promises import NEVER, RECOVERS_S, Book

GAUGES: Final = ("mains", "battery")
COUNTS_S: Final = 25.0
"""A trouble that was shown for so long without a gap is told, and so is its end: 5 s, two questions, and some."""

UNSEEN_S: Final = 45.0
"""A supply that nobody can ask for so long is told as not seen: 20 s, and as above."""

LATELY_S: Final = 20.0
"""What is told was shown within such a time."""

Expect = Callable[[float, str, str, bool], None]


@dataclass(slots=True)
class _Gauge:
    """What one gauge shows. `changed`: when it last showed something else; `told`: when its trouble was last raised."""

    trouble: bool = False
    changed: float = NEVER
    before: float = NEVER
    told: float = NEVER


@dataclass(slots=True)
class _Supply:
    gauges: dict[str, _Gauge] = field(default_factory=lambda: {name: _Gauge() for name in GAUGES})
    well: bool = True
    dead: bool = False
    since: float = NEVER


class Mains:
    """All supplies of a depot."""

    def __init__(self, expect: Expect) -> None:
        self._expect = expect
        self._supplies: dict[str, _Supply] = {}
        self._known: frozenset[str] = frozenset()
        self._calm_since = NEVER

    # --- the world and the gateway --------------------------------------------------------------

    def shows(self, now: float, supply: str, gauge: str, *, trouble: bool) -> None:
        """A gauge shows its trouble, or that there is none."""
        found = self._supplies.setdefault(supply, _Supply()).gauges[gauge]
        if found.trouble is not trouble:
            found.trouble, found.before, found.changed = trouble, found.changed, now

    def reached(self, now: float, supply: str, *, well: bool, dead: bool) -> None:
        """It can be asked (`well`), nobody can (`dead`), or neither is sure."""
        found = self._supplies.setdefault(supply, _Supply())
        if (found.well, found.dead) != (well, dead):
            found.well, found.dead, found.since = well, dead, now

    def follows(self, now: float, supplies: Iterable[str]) -> None:
        """The gateway asks these from now on."""
        known = frozenset(supplies)
        for name in known - self._known:
            for gauge in self._supplies.get(name, _Supply()).gauges.values():
                gauge.told = NEVER
        self._known = known
        self.stirred(now)

    def stirred(self, now: float) -> None:
        """It began, or follows new orders."""
        self._calm_since = now

    def heard(self, now: float, events: Iterable[AlarmEvent]) -> None:
        """Alarm events have just happened."""
        for event in events:
            part, _, name = event.key.subject.partition(":")
            if event.key.kind is Kind.SYSTEM and part in GAUGES and name in self._supplies:
                self._judge(now, event, self._supplies[name].gauges[part])

    def _judge(self, now: float, event: AlarmEvent, gauge: _Gauge) -> None:
        subject = event.key.subject
        if event.cause is Cause.RAISED:
            shown = gauge.trouble or now - gauge.changed <= LATELY_S
            if event.reason == UNSTEADY:
                shown = now - gauge.changed <= UNSTEADY_S
            self._expect(now, "no-false-loss", f"{subject}: told as {event.reason}, and all is well", shown)
            again = gauge.trouble and gauge.told >= gauge.changed
            self._expect(now, "loss-told-once", f"{subject}: told again since {gauge.changed:.3f}", not again)
            gauge.told = now
        elif event.cause is Cause.CLEARED and event.reason not in ("removed", "restart"):
            well = not gauge.trouble or now - gauge.changed <= LATELY_S
            self._expect(now, "no-false-end", f"{subject}: told as over, and it is not", well)

    # --- looking --------------------------------------------------------------------------------

    def look(self, now: float, book: Book) -> None:
        """What has lasted long enough stands, and what is over for as long does not."""
        for name in self._known & self._supplies.keys():
            supply = self._supplies[name]
            if supply.dead:
                unseen = self._stands(book, "supply", name)
                if now - max(supply.since, self._calm_since) >= UNSEEN_S:
                    self._expect(now, "supply-unseen", f"{name}: not reached since {supply.since:.3f}", unseen)
            if not supply.well or now - max(supply.since + RECOVERS_S, self._calm_since) < COUNTS_S:
                continue
            self._expect(now, "supply-seen", f"{name}: told as not seen", not self._stands(book, "supply", name))
            for part, gauge in supply.gauges.items():
                if now - gauge.changed >= COUNTS_S:
                    stands = self._stands(book, part, name)
                    said = f"{part}:{name}: {gauge.trouble} since {gauge.changed:.3f}, told {stands}"
                    self._expect(now, "loss-in-time" if gauge.trouble else "end-in-time", said, stands is gauge.trouble)

    @staticmethod
    def _stands(book: Book, part: str, name: str) -> bool:
        alarm = book.get(AlarmKey(f"{part}:{name}", Kind.SYSTEM))
        return alarm is not None and alarm.present

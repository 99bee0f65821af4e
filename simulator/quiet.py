"""The promises of rules that keep alarms quiet: only what they name, while they hold, never gas. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Cause, Kind, Suppression
from gateway.engine.orders import ByDesign
from simulator.promises import NEVER, Book

SETTLED_S: Final = 5.0
"""After a start, new orders or a step of the clock: by then rules have been laid and lifted."""

TELLS: Final = frozenset({Cause.RAISED, Cause.STILL, Cause.CLEARED})

Expect = Callable[[float, str, str, bool], None]


@dataclass(slots=True)
class Quiet:
    """The rules of one depot, as its orders have them now."""

    expect: Expect
    rules: Sequence[ByDesign] = ()
    calm_since: float = NEVER
    _lapsed_at: float = NEVER
    _lapsed: int = 0

    def follows(self, now: float, rules: Sequence[ByDesign]) -> None:
        """These hold from now on."""
        self.rules = rules
        self.stirred(now)

    def stirred(self, now: float) -> None:
        """The gateway began, follows new orders, or sees another time."""
        self.calm_since = now

    def told(self, now: float, event: AlarmEvent) -> None:
        """A phone has taken a notice."""
        over = event.suppressed
        if event.cause in TELLS and over is not None:
            hushed = over.what is Suppression.BY_DESIGN
            self.expect(now, "rule-is-kept", f"{event.key.subject}: told though kept quiet", not hushed)

    def look(self, now: float, utc_ns: int, book: Book) -> None:
        """What is quiet is so by a rule that holds, and what no rule holds is not."""
        lapsed = sum(utc_ns >= rule.until for rule in self.rules)
        if lapsed != self._lapsed:
            self._lapsed, self._lapsed_at = lapsed, now
        if now - max(self.calm_since, self._lapsed_at) < SETTLED_S:
            return
        for alarm in book:
            if alarm.suppression is not None and alarm.key.kind is Kind.GAS:
                self.expect(now, "gas-never-quiet", f"{alarm.key.subject}: gas is {alarm.suppression}", False)
            holds = any(self._holds(rule, alarm, utc_ns, book) for rule in self.rules)
            if alarm.suppression is Suppression.BY_DESIGN:
                self.expect(now, "rule-lapses", f"{_name(alarm)} is quiet, and no rule holds it", holds)
            elif holds:
                quiet = alarm.suppression is not None
                self.expect(now, "rule-holds", f"{_name(alarm)} is not quiet, and a rule holds it", quiet)

    @staticmethod
    def _holds(rule: ByDesign, alarm: AlarmState, utc_ns: int, book: Book) -> bool:
        if alarm.key not in rule.alarms or utc_ns >= rule.until or not alarm.present or alarm.until is not None:
            return False
        if book.get(AlarmKey(alarm.key.subject, Kind.GAS)) is not None:
            return False
        explained = None if rule.during is None else book.get(rule.during)
        return rule.during is None or (explained is not None and explained.present)


def _name(alarm: AlarmState) -> str:
    return f"{alarm.key.subject} {alarm.key.kind.value}"

"""Windows that people open over single heads: which may open, what a test shows meanwhile, and how they end. Pure."""

from typing import assert_never

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, AlarmKey
from alerts.policy import Timing
from gateway.engine.bumps import Bump
from gateway.engine.deadlines import WindowEnds
from gateway.engine.events import Delivered, OpenWindow, WindowKind
from gateway.engine.sight import Sight
from gateway.engine.turn import Turn
from gateway.engine.watched import Head
from sensors.readings import DetectorId, Reading
from sensors.stamps import Stamp


def longest(kind: WindowKind, timing: Timing) -> int:
    """Return the longest that a window of this kind may stand (ns)."""
    match kind:
        case WindowKind.TEST:
            return timing.longest_test
        case WindowKind.INHIBIT:
            return timing.longest_inhibit
        case WindowKind.OUT_OF_SERVICE:
            return timing.longest_out_of_service
        case _:
            assert_never(kind)


class Windows:
    """Tests, inhibits and heads out of service.

    The BLIND alarm of its head holds a window; a test has its bump beside it.
    """

    def __init__(self, sight: Sight, book: AlarmBook) -> None:
        self._sight = sight
        self._book = book
        self._bumps: dict[DetectorId, Bump] = {}

    def open(self, order: OpenWindow, turn: Turn) -> None:
        """A window over one head. Refused (nothing happens) where a gas alarm stands: that is no drill."""
        head = self._sight.heads.get(DetectorId(order.detector))
        if head is None or self._book.get(head.gas) is not None or self._sight.window(head) is not None:
            return
        if not 0 < order.length <= longest(order.kind, self._sight.timing):
            return
        if order.kind is WindowKind.OUT_OF_SERVICE and not order.note.strip():
            return
        self._sight.open_window(head, order, order.length, turn)
        if order.kind is WindowKind.TEST:
            self._bumps[head.watch.detector] = Bump(order.by, order.note, turn.now)

    def close(self, head: Head, turn: Turn, by: str | None = None) -> Reading | None:
        """The window ends, and what was played with it. Returns the reading that a drill stood on: judge it anew."""
        bump = self._bumps.pop(head.watch.detector, None)
        if bump is not None:
            turn.entry("bump", bump.body(head.watch.detector, turn.now), bump.by)
        alarm = self._book.get(head.gas)
        drill = alarm is not None and alarm.drill
        if drill:
            turn.note(self._book.end_drill(head.gas, turn.now))
        self._sight.end_window(head, turn, by)
        return head.last if drill and alarm is not None and alarm.present else None

    def drop_strangers(self, turn: Turn) -> None:
        """Record the tests of heads that the orders no longer name: nothing more comes of them."""
        for name in [name for name in self._bumps if name not in self._sight.heads]:
            bump = self._bumps.pop(name)
            turn.entry("bump", bump.body(name, turn.now), bump.by)

    def ended(self, task: WindowEnds) -> Head | None:
        """Return the head whose window is over now; None when that window was closed, or another opened, since."""
        head = self._sight.heads.get(task.detector)
        alarm = None if head is None else self._book.get(head.blind)
        if head is None or alarm is None or alarm.annunciated.mono != task.opened:
            return None
        return None if self._sight.window(head) is None else head

    # --- what a test shows -------------------------------------------------------------------------

    def saw(self, head: Head, reading: Reading) -> None:
        """A head was read."""
        bump = self._bumps.get(head.watch.detector)
        if bump is not None:
            bump.saw(reading.gas())

    def raised(self, head: Head, reading: Reading, at: Stamp) -> None:
        """A head's gas became an alarm."""
        bump = self._bumps.get(head.watch.detector)
        if bump is not None and bump.sampled is None:
            bump.sampled, bump.decided = reading.taken, at

    def told(self, event: AlarmEvent, answer: Delivered) -> None:
        """A channel has taken a notice."""
        bump = self._bumps.get(DetectorId(event.key.subject))
        if bump is not None and event.drill:
            bump.told.setdefault(answer.delivery.recipient, answer.at)

    def took(self, key: AlarmKey, at: Stamp) -> None:
        """A counting output has taken an alarm."""
        bump = self._bumps.get(DetectorId(key.subject))
        if bump is not None and bump.first_output is None:
            bump.first_output = at

    def sounded(self, at: Stamp) -> None:
        """A siren was read to sound."""
        for bump in self._bumps.values():
            if bump.sampled is not None and bump.siren is None:
                bump.siren = at

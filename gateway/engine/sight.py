"""Which detectors are watching: silence, faults, cut cables, and the notices that say so. Never quietly blind."""

from collections.abc import Mapping
from dataclasses import replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, Cause, Kind, Suppressed, Suppression
from alerts.policy import Timing, blind_at_once, watches
from alerts.states import Trigger
from gateway.engine.deadlines import CableBack, Deadlines, Stale, WindowEnds
from gateway.engine.events import OpenWindow, WindowKind
from gateway.engine.orders import Orders
from gateway.engine.records import utc_ms
from gateway.engine.turn import Turn
from gateway.engine.watched import Head, Heard, Sources
from sensors.readings import DetectorId, LinkChange, Reading, Status
from sensors.stamps import SECOND, Instant, Stamp, UtcNanos

RELOAD_GRACE = SECOND
"""How long a known head may stay unheard after new orders, or after we slept, whatever its age was (ns)."""

LOOKED_AT_TOGETHER = 64
"""Heads whose ages are looked at in one go."""

OF_WIRING = ("output:", "supply:", "scale:", "mains:", "battery:", "channel:", "detector:", "bus:", "task:")
"""SYSTEM subjects that belong to lines, outputs and channels."""

WINDOWS = {kind.value: kind for kind in WindowKind}
"""Reasons of a BLIND alarm that a person declared."""


class Sight:
    """Every head with the age of its sight, and its BLIND alarm.

    Attributes:
        lasting: SYSTEM subjects that neither new orders nor a new start end; `Orders.lasting`.
    """

    def __init__(self, book: AlarmBook, deadlines: Deadlines, timing: Timing) -> None:
        self.timing = timing
        self._book = book
        self._deadlines = deadlines
        self.heads: dict[DetectorId, Head] = {}
        self.sources = Sources(())
        self.lasting: frozenset[str] = frozenset()

    def take_orders(self, orders: Orders, now: Instant) -> None:
        """Watch these heads: ones already known keep what is known of them, new ones get their first grace."""
        self.lasting = orders.lasting
        old: Mapping[DetectorId, Head] = self.heads
        self.heads = {}
        for watch in orders.watches:
            before = old.get(watch.detector)
            grace = orders.timing.start_grace if before is None else RELOAD_GRACE
            first = Instant(now + grace - watch.blind_after)
            head = Head(watch, watched_at=first)
            if before is not None:
                # Its age goes on. One that was not heard since it last got a grace gets no further one, so that
                # reloading again and again hides no dead head.
                if before.heard is Heard.NOW:
                    head.watched_at, head.heard = max(before.watched_at, first), Heard.BEFORE
                else:
                    head.watched_at, head.heard = before.watched_at, before.heard
                head.last, head.grouped = before.last, before.grouped
                head.well_since, head.run, head.alone = before.well_since, before.run, before.alone
                self.refresh(head)
            self.heads[watch.detector] = head
        self._look_at_ages()
        self.sources = Sources(self.heads.values(), self.sources.all_down())

    def _look_at_ages(self) -> None:
        """Arm the looks at the heads' ages: of those together who grow old alike, but not of too many at once."""
        alike: dict[int, list[Head]] = {}
        for head in self.heads.values():
            alike.setdefault(head.watch.blind_after, []).append(head)
        for blind_after, heads in alike.items():
            for first in range(0, len(heads), LOOKED_AT_TOGETHER):
                some = tuple(heads[first : first + LOOKED_AT_TOGETHER])
                oldest = min(head.watched_at for head in some)
                self._deadlines.at(Instant(oldest + blind_after), Stale(some))

    def refresh(self, head: Head) -> None:
        """Note whether the head has a standing alarm or a grace, which sends every reading of it the long way."""
        head.troubled = (
            head.heard is not Heard.NOW
            or self._book.get(head.gas) is not None
            or self._book.get(head.blind) is not None
        )

    def put_back(self) -> None:
        """After a restart, bring the heads in line with the alarms that were put back."""
        for head in self.heads.values():
            self.refresh(head)
            blind = self._book.get(head.blind)
            behind = blind is not None and blind.present and blind.reason == "link"
            head.grouped = behind and not self._muffled(head.watch.source)

    def judge(self, head: Head, reading: Reading, turn: Turn) -> None:
        """Tell what a reading says of the head's sight. Under a window a person has the word, not the reading."""
        if not watches(reading):
            head.well_since = None
            if blind_at_once(reading) and not self._book.present(head.blind):
                self.go_blind(head, reading.reason or reading.status.value, turn)
            elif head.grouped:
                self._speak_up(head, turn)
            return
        head.watched_at, head.heard = reading.taken.mono, Heard.NOW
        if self._book.present(head.blind) and self.window(head) is None and not self.may_be_flooded(head):
            if head.well_since is None:
                head.well_since = reading.taken.mono
            if reading.taken.mono - head.well_since >= self.timing.back_after:
                head.well_since = None
                if head.grouped:
                    turn.note(self._book.follow_cable(head.blind, turn.now, reading), send=False)
                else:
                    turn.note(self._book.clear(head.blind, turn.now, reading))
                head.grouped, head.alone = False, None
                self._cable_may_be_whole(head.watch.source, turn)

    def may_be_flooded(self, head: Head) -> bool:
        """A head that passed its range counts as not watching until its gas alarm is reset, whatever it reads."""
        gas, blind = self._book.get(head.gas), self._book.get(head.blind)
        return gas is not None and gas.over_range and blind is not None and blind.reason == Status.OVER_RANGE.value

    def go_blind(self, head: Head, reason: str, turn: Turn, detail: str = "") -> None:
        """Raise the head's BLIND alarm; where its cable is down, the cable's notice speaks for it."""
        down = self._cut(head.watch.source, turn.now.mono)
        head.troubled = True
        head.grouped = down is not None and not self._muffled(head.watch.source)
        if down is not None:
            reason, detail = "link", down
        if not head.ever_watched:  # it did not watch before either, for the ledger
            turn.entry("never-watched", {"at_ms": utc_ms(turn.now), "detector": str(head.watch.detector)})
        event = self._book.raise_(head.blind, turn.now, reading=head.last, reason=reason, detail=detail)
        turn.note(event, send=not head.grouped)
        if down is not None:
            self._cable_cut(head.watch.source, down, turn)

    def window(self, head: Head) -> WindowKind | None:
        """Return the window that stands over this head, if any."""
        alarm = self._book.get(head.blind)
        return WINDOWS.get(alarm.reason) if alarm is not None and alarm.present else None

    def open_window(self, head: Head, order: OpenWindow, length: int, turn: Turn) -> None:
        """Declare the head not watching until the window ends. A cause of its own that stood so far gives way."""
        if self._book.present(head.blind):
            turn.note(self._book.clear(head.blind, turn.now, reason="window-opened"), send=False)
        old = self._book.get(head.blind)
        if old is not None and old.suppressed is not None:
            self._book.amend(replace(old, suppressed=None))  # a shelf over what the head had gives way as well
        head.grouped, head.troubled = False, True
        until = Stamp(Instant(turn.now.mono + length), UtcNanos(turn.now.utc + length))
        event = self._book.raise_(
            head.blind,
            turn.now,
            reason=order.kind.value,
            detail=order.note,
            by=order.by,
            until=until,
            suppressed=Suppressed(Suppression.OUT_OF_SERVICE, order.by, order.note, turn.now, until)
            if order.kind is WindowKind.OUT_OF_SERVICE
            else None,
        )
        turn.note(event)
        self.arm_window(head, turn.now.mono, until.mono)

    def arm_window(self, head: Head, opened: Instant, until: Instant) -> None:
        """End the window of this head then."""
        self._deadlines.at(until, WindowEnds(head.watch.detector, opened))

    def end_window(self, head: Head, turn: Turn, by: str | None = None) -> None:
        """The head watches again, or says by its age and last reading why it does not."""
        turn.note(self._book.clear(head.blind, turn.now, reason="window-closed", by=by))
        last = head.last
        if head.watched_at + head.watch.blind_after <= turn.now.mono:
            self.go_blind(head, head.why_silent(), turn)
        elif last is not None and blind_at_once(last):
            self.go_blind(head, last.reason or last.status.value, turn)

    def link(self, change: LinkChange, turn: Turn) -> None:
        """A cable or broker went down or came up. Its heads' own ages decide when that is worth an alarm."""
        if not change.up:
            self.sources.set_down(change.source, change.reason)
            return
        self.sources.set_up(change.source)
        heads = self.sources.heads(change.source)
        if heads and self._book.present(AlarmKey(change.source, Kind.BLIND)):
            grace = max(head.watch.blind_after for head in heads) + self.timing.back_after
            self._deadlines.at(Instant(turn.now.mono + grace), CableBack(change.source))

    def cable_back(self, source: str, turn: Turn) -> None:
        """The cable has been back for long enough: end its notice, and name the heads that stayed silent."""
        self._cable_may_be_whole(source, turn, force=True)

    def due(self, task: Stale | CableBack, turn: Turn) -> None:
        """The time has come to look at a head's age, or at a cable that came back."""
        if isinstance(task, Stale):
            self.stale(task.heads, turn)
        else:
            self.cable_back(task.source, turn)

    def stale(self, heads: tuple[Head, ...], turn: Turn) -> None:
        """Look at the age of heads, and again when the next of them may have grown too old.

        So a reading costs no deadline of its own, and whoever is read in time hardly a share of one.
        """
        if self.heads.get(heads[0].watch.detector) is not heads[0]:
            return  # new orders have replaced them
        now, blind_after = turn.now.mono, heads[0].watch.blind_after
        again = min([head.watched_at for head in heads]) + blind_after
        if again <= now:
            again = now + blind_after
            for head in heads:
                limit = head.watched_at + blind_after
                if limit <= now:
                    if head.look_again <= now:
                        head.look_again = Instant(now + blind_after)
                        self._too_old(head, turn)
                    limit = head.look_again
                again = min(again, limit)
        self._deadlines.at(Instant(again), Stale(heads))

    def _too_old(self, head: Head, turn: Turn) -> None:
        if not self._book.present(head.blind):
            self.go_blind(head, head.why_silent(), turn)
        elif head.grouped:
            self._speak_up(head, turn)

    def drop_strangers(self, turn: Turn) -> None:
        """End the alarms of what the orders no longer name: nobody can know its condition.

        Parts of the gateway start anew with new orders; whoever is unwell says so again.
        """
        known = {str(name) for name in self.heads} | self.sources.names()
        known |= {f"area:{head.watch.area}" for head in self.heads.values()}
        for alarm in list(self._book):
            gone = alarm.key.subject.startswith(OF_WIRING) and alarm.key.subject not in self.lasting
            if alarm.key.kind is Kind.SYSTEM and alarm.present and gone:
                turn.note(self._book.clear(alarm.key, turn.now, reason="removed"))
        for alarm in list(self._book):
            if alarm.key.kind not in (Kind.GAS, Kind.BLIND) or alarm.key.subject in known:
                continue
            if alarm.drill:
                turn.note(self._book.end_drill(alarm.key, turn.now))  # no window is left that would end it
            elif alarm.present:
                turn.note(self._book.clear(alarm.key, turn.now, reason="removed"))

    def excuse(self, now: Instant) -> None:
        """We slept, not they: every head that was watching gets a moment to be heard before it counts as silent."""
        for head in self.heads.values():
            head.watched_at = max(head.watched_at, Instant(now + RELOAD_GRACE - head.watch.blind_after))

    def watching(self, head: Head) -> bool:
        """Tell whether this head counts as watching now."""
        return head.ever_watched and not self._book.present(head.blind)

    def count(self) -> int:
        """How many heads count as watching now."""
        return sum(head.ever_watched and (not head.troubled or self.watching(head)) for head in self.heads.values())

    def _cut(self, source: str, now: Instant) -> str | None:
        """Why the source is down; None where it is not, or merely blinks: some head of it was read just now."""
        down, heads = self.sources.down(source), self.sources.heads(source)
        if down is None or not heads:
            return down
        lately = min(head.watch.blind_after for head in heads) // 2
        return None if any(now - head.watched_at < lately for head in heads) else down

    def _cable_cut(self, source: str, reason: str, turn: Turn) -> None:
        """One cut cable is one notice: it lists its detectors, each of which keeps its own state."""
        key = AlarmKey(source, Kind.BLIND)
        if self._book.present(key):
            return
        heads = self.sources.heads(source)
        names = tuple(head.watch.detector for head in heads)
        shelf = self._book.lift(key, Trigger.WORSEN, turn.now)  # it was laid over a cut that has ended
        if shelf is not None:
            turn.note(shelf)
        turn.note(self._book.raise_(key, turn.now, reason="link", detail=reason, subjects=names))
        for head in heads:
            if not self._book.present(head.blind):
                self.go_blind(head, "link", turn)

    def _speak_up(self, head: Head, turn: Turn) -> None:
        """A silent head whose cable's notice has gone, named anew or whole again, is told: by a new one, or alone.

        Not at once: the line may be about to say that it is cut, and the head be on its way back.
        """
        source, now = head.watch.source, turn.now.mono
        stands, muffled = self._book.present(AlarmKey(source, Kind.BLIND)), self._muffled(source)
        if stands and not muffled:
            head.alone = None
            return
        if head.alone is None:
            head.alone = now
        if now - head.alone < head.watch.blind_after:
            return
        down = self._cut(source, turn.now.mono)
        if down is not None and not stands:
            self._cable_cut(source, down, turn)
        else:
            self._told_alone(head, turn)

    def speak_for_the_muffled(self, turn: Turn) -> None:
        """A rule has just made a cable's notice quiet: heads behind it that no rule makes quiet are told alone."""
        for event, _ in tuple(turn.events):
            if event.cause is not Cause.SUPPRESSED or event.key.kind is not Kind.BLIND:
                continue
            for head in self.sources.heads(event.key.subject):
                alarm = self._book.get(head.blind)
                if head.grouped and alarm is not None and alarm.present and alarm.suppressed is None:
                    self._told_alone(head, turn)

    def _muffled(self, source: str) -> bool:
        """Tell whether a rule keeps the notice of this cable quiet, so that it speaks for nobody."""
        cable = self._book.get(AlarmKey(source, Kind.BLIND))
        return cable is not None and cable.suppression is Suppression.BY_DESIGN

    def _told_alone(self, head: Head, turn: Turn) -> None:
        """No cable's notice speaks for this head any more: it has one of its own."""
        head.grouped, head.alone = False, None
        turn.note(self._book.still(head.blind, turn.now, reason="not-back"))

    def _cable_may_be_whole(self, source: str, turn: Turn, *, force: bool = False) -> None:
        key = AlarmKey(source, Kind.BLIND)
        if self.sources.down(source) is not None or not self._book.present(key):
            return
        heads = self.sources.heads(source)
        left = [head for head in heads if head.grouped and self._book.present(head.blind)]
        if left and not force:
            return
        turn.note(self._book.clear(key, turn.now))
        for head in left:
            if head.well_since is None:  # the cable is back and this head is not
                self._told_alone(head, turn)

"""What must be so while nothing changes, looked at every ten seconds: everything that is amiss has been told. Pure.

`simulator.checker` asks whether things happen in time; this asks whether they were left undone. It knows the coils as
they really are, what the owner's phone took, and the gateway's standing alarms.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final

from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Cause, Kind, Phase, Suppression
from alerts.states import HORN
from gateway.engine.events import WindowKind
from gateway.engine.orders import ByDesign
from simulator.mains import Mains
from simulator.noticeboard import Noticeboard
from simulator.promises import NEVER, PHONE_RECOVERS_S, RECOVERS_S, Book, Broken
from simulator.quiet import Quiet

SETTLED_S: Final = 15.0
"""What began so long ago has been told, and obeyed by whatever is well."""

DRILL_S: Final = 45.0
"""A test of all outputs is over by then."""

BEGINS: Final = frozenset({Cause.RAISED, Cause.STILL, Cause.UNSHELVED, Cause.UNSUPPRESSED})
QUIETENED: Final = frozenset({Cause.UNSHELVED, Cause.UNSUPPRESSED})


@dataclass(frozen=True, slots=True)
class Posted:
    """What the gateway's present orders call things.

    Attributes:
        sources: each watched head, and the line or broker that it is heard over.
        outputs: each siren, and its name in the orders.
        supplies: what is asked for mains and battery.
        rules: what is kept quiet by design.
    """

    sources: Mapping[str, str]
    outputs: Mapping[str, str]
    supplies: Sequence[str] = ()
    rules: Sequence[ByDesign] = ()


@dataclass(slots=True)
class _Siren:
    """One siren: its coil, since when it is well or ill, and since when it is not as the alarms want it."""

    on: bool = False
    mute: bool = False
    changed: float = NEVER
    well: bool = True
    amiss: float = inf


@dataclass(slots=True)
class Rounds:
    """Somebody who goes round. `owner` is the phone of whoever is to hear of everything.

    Attributes:
        mains, quiet: who looks after the supplies and the rules.
        board: who reads along at the broker, where it is told of alarms.
    """

    owner: str
    posted: Posted
    mains: Mains = field(init=False)
    quiet: Quiet = field(init=False)
    board: Noticeboard | None = None
    broken: list[Broken] = field(default_factory=list)
    kept: dict[str, int] = field(default_factory=dict)
    _sirens: dict[str, _Siren] = field(default_factory=dict)
    _raised: dict[str, float] = field(default_factory=dict)
    _whole: dict[str, float] = field(default_factory=dict)
    _told: dict[str, float] = field(default_factory=dict)
    _owner_well: bool = True
    _owner_since: float = NEVER
    _calm_since: float = NEVER
    _gas_at: float = NEVER
    _ever: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.mains, self.quiet = Mains(self.expect), Quiet(self.expect)
        self.follows(NEVER, self.posted)

    # --- told of the world and of the gateway ---------------------------------------------------------

    def stirred(self, now: float, *, for_s: float = 0.0) -> None:
        """The gateway began, follows new orders, or tests its outputs: give it time."""
        self._calm_since = max(self._calm_since, now + for_s)
        self.mains.stirred(now)
        self.quiet.stirred(now)
        if self.board is not None:
            self.board.restless(now)

    def follows(self, now: float, posted: Posted) -> None:
        """It follows other orders from now on."""
        self.posted = posted
        self._ever |= set(posted.outputs)
        self.mains.follows(now, posted.supplies)
        self.quiet.follows(now, posted.rules)
        self.stirred(now)

    def coil(self, siren: str, *, on: bool) -> None:
        """A siren's coil was switched."""
        self._sirens.setdefault(siren, _Siren()).on = on

    def siren(self, now: float, siren: str, *, well: bool, mute: bool) -> None:
        """A siren falls ill or is well again; `mute`: whoever asks for its state learns nothing."""
        found = self._sirens.setdefault(siren, _Siren())
        if (found.well, found.mute) != (well, mute):
            found.well, found.mute, found.changed = well, mute, now

    def phone(self, now: float, phone: str, *, well: bool) -> None:
        """A phone falls ill or is well again."""
        if phone == self.owner:
            self._owner_well, self._owner_since = well, now

    def told(self, now: float, phone: str, event: AlarmEvent) -> None:
        """A phone has taken a notice."""
        self.quiet.told(now, event)
        if phone == self.owner and event.cause in BEGINS:
            # what a cable's notice says of its heads holds while it stands; a flood's is the only one that they get
            many = event.subjects if event.key.kind is Kind.SYSTEM else ()
            self._told |= dict.fromkeys((event.key.subject, *many), now)

    def heard(self, now: float, events: Sequence[AlarmEvent]) -> None:
        """Alarm events have just happened."""
        self.mains.heard(now, events)
        if self.board is not None:
            self.board.changed([event.key for event in events])
        for event in events:
            if event.key.kind is Kind.GAS:
                self._gas_at = now
            elif event.key.kind is Kind.BLIND:
                anew = event.cause in QUIETENED and event.after is Phase.UNACKNOWLEDGED
                if event.cause is Cause.RAISED or anew:
                    self._raised[event.key.subject] = now
                elif event.cause is Cause.CLEARED:
                    self._whole[event.key.subject] = now

    # --- the round ------------------------------------------------------------------------------------

    def look(self, now: float, utc_ns: int, book: Book, owed: Collection[str] = ()) -> None:
        """Go round once. `owed`: the channels that still have something to carry."""
        self.mains.look(now, book)
        self.quiet.look(now, utc_ns, book)
        if self.board is not None:
            self.board.look(now, book, owed, self.expect)
        for alarm in book:
            if alarm.key.kind is Kind.GAS:
                self._look_at_gas(now, alarm, book)
        settled = now - self._calm_since >= SETTLED_S
        if settled:
            for head, source in self.posted.sources.items():
                self._look_at_blind(now, head, source, book)
        for name, siren in self._sirens.items():
            if name in self.posted.outputs:
                self._look_at_siren(now, name, siren, book, settled=settled)
            elif name in self._ever and settled and siren.well and now - siren.changed >= SETTLED_S:
                self.expect(now, "siren-let-go", f"{name}: on, and no orders name it", not siren.on)

    def _look_at_gas(self, now: float, alarm: AlarmState, book: Book) -> None:
        name = alarm.key.subject
        self.expect(now, "gas-never-quiet", f"{name}: gas is {alarm.suppression}", alarm.suppressed is None)
        if alarm.drill:
            window = book.get(AlarmKey(name, Kind.BLIND))
            tested = window is not None and window.present and window.reason == WindowKind.TEST.value
            self.expect(now, "windows", f"{name}: gas stands as a drill, and nobody tests it", tested)

    def _look_at_blind(self, now: float, head: str, source: str, book: Book) -> None:
        """The owner has heard of every blind head, from itself or from its cable."""
        alarm = book.get(AlarmKey(head, Kind.BLIND))
        if alarm is None or not alarm.present or alarm.suppressed is not None or alarm.until is not None:
            return
        raised = self._raised.get(head, now)
        if now - max(raised, self._whole.get(source, NEVER)) < SETTLED_S or not self._owner_heard_all_since(raised):
            return
        cable = book.get(AlarmKey(source, Kind.BLIND))
        heard = cable is not None and cable.present and cable.suppression is not Suppression.BY_DESIGN
        by_cable = heard and self._was_told(source)
        often = (AlarmKey(f"chatter:{head}", Kind.SYSTEM), AlarmKey(f"chatter:{source}", Kind.SYSTEM))
        together = any(book.get(key) is not None for key in (*often, AlarmKey("flood", Kind.SYSTEM)))
        said = f"{head}: blind since {raised:.3f} ({alarm.reason}), and the owner does not know"
        self.expect(now, "blind-is-told", said, self._was_told(head) or by_cable or together)

    def _look_at_siren(self, now: float, name: str, siren: _Siren, book: Book, *, settled: bool) -> None:
        """A coil that is well does as the alarms want; of one that does not, or cannot be asked, somebody is told."""
        gas = [alarm for alarm in book if alarm.key.kind is Kind.GAS]
        if any(alarm.muted_until is not None for alarm in gas):
            siren.amiss = inf
            return
        wanted = any(alarm.phase in HORN for alarm in gas)
        fault = book.get(AlarmKey(f"output:{self.posted.outputs[name]}", Kind.SYSTEM))
        told = fault is not None and fault.present
        siren.amiss = inf if siren.on is wanted else min(siren.amiss, now)
        since = max(self._gas_at, self._calm_since, siren.changed + RECOVERS_S)
        if not settled or now - since < SETTLED_S:
            return
        state = f"{name}: {'on' if siren.on else 'off'}, wanted {'on' if wanted else 'off'}"
        if siren.well:
            self.expect(now, "siren-follows", state, siren.on is wanted)
        elif siren.mute or now - siren.amiss >= SETTLED_S:
            self.expect(now, "siren-is-told", f"{state}, and nobody is told", told)

    # --- details --------------------------------------------------------------------------------------

    def _was_told(self, subject: str) -> bool:
        raised = self._raised.get(subject)
        return raised is not None and self._told.get(subject, NEVER) >= raised

    def _owner_heard_all_since(self, since: float) -> bool:
        return self._owner_well and self._owner_since <= since - PHONE_RECOVERS_S

    def expect(self, now: float, promise: str, detail: str, holds: bool) -> None:
        """Note whether a promise is kept."""
        if holds:
            self.kept[promise] = self.kept.get(promise, 0) + 1
        else:
            self.broken.append(Broken(now, promise, detail))

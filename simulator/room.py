"""A watch room in virtual time: the engine with a journal, channels and outputs that answer as each test says."""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, Delivery, Kind, Outcome, Verdict
from alerts.effects import usual
from alerts.policy import Levels, Timing
from alerts.routing import EscalationStep, Recipient
from gateway.engine.engine import Engine
from gateway.engine.events import (
    Action,
    Command,
    Committed,
    Deliver,
    Delivered,
    Due,
    Effect,
    Entry,
    Event,
    Json,
    OutboxRow,
    OutputReported,
    Record,
    Restored,
    SetOutput,
    StateRow,
)
from gateway.engine.orders import Orders, Watch
from sensors.readings import DetectorId, LinkChange, Quality, Reading, Scan, Status
from sensors.stamps import MILLISECOND, SECOND, Instant, Stamp, UtcNanos

EPOCH = 1_780_000_000 * SECOND
LEVELS = Levels(10.0, 20.0, 40.0, dead_band=2.0)
OWNER = Recipient("dona", "Dona", "owner", ("hook",), frozenset({"A1", "A2", "A3", "BLIND", "SYSTEM"}))
CENTRE = Recipient("central", "Central", "centre", ("phone",), frozenset())


def stamp(at_s: float, skew_s: float = 0.0) -> Stamp:
    """Both clocks at so many seconds of the virtual clock; `skew_s` sets the civil one ahead."""
    ns = round(at_s * SECOND)
    return Stamp(Instant(ns), UtcNanos(EPOCH + ns + round(skew_s * SECOND)))


def orders(*detectors: str, source: str = "bus", **changes: object) -> Orders:
    """Orders for these detectors on one source, with anything else changed by keyword."""
    given: dict[str, object] = {
        "depot": "depot",
        "levels": LEVELS,
        "timing": Timing(),
        "watches": tuple(Watch(DetectorId(d), "patio", source, round(2.5 * SECOND)) for d in detectors),
        "outputs": {"siren": usual("siren"), "beacon": usual("relay")},
        "recipients": (OWNER, CENTRE),
        "escalation": (EscalationStep(60.0, ("central",)),),
        "counting": frozenset({"hook", "phone"}),
    }
    return Orders(**(given | changes))  # type: ignore[arg-type]


@dataclass
class Room:
    """Drives one engine. Times are seconds of the virtual clock; every effect is kept."""

    orders: Orders
    boot: str = "b00t"
    commit_s: float | None = 0.001
    answer_s: float = 0.01
    answers: Callable[[Delivery], Outcome] = lambda _: Outcome(Verdict.ACCEPTED)
    read_back: Callable[[str, bool], bool | None] = lambda _, on: on
    at: float = 100.0
    skew_s: float = 0.0
    sent: list[tuple[float, Delivery, AlarmEvent, bool]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    outputs: dict[str, bool] = field(default_factory=dict)
    order: list[Effect] = field(default_factory=list)
    states: dict[AlarmKey, StateRow] = field(default_factory=dict)
    rows: dict[str, OutboxRow] = field(default_factory=dict)
    bodies: dict[str, Mapping[str, Json]] = field(default_factory=dict)
    restored: Restored | None = None
    last_alive_ms: int | None = None

    def __post_init__(self) -> None:
        self._todo: list[tuple[float, int, Event]] = []
        self._count = 0
        self.engine = Engine(self.orders, self.boot, self.restored, self.now())
        self._do(self.engine.start(self.now()))

    def now(self, later_s: float = 0.0) -> Stamp:
        """The present on both clocks; the civil one is `skew_s` ahead of the truth."""
        return stamp(self.at + later_s, self.skew_s)

    # --- driving ---------------------------------------------------------------------------------

    def give(self, event: Event) -> list[Effect]:
        """Let the engine hear one event and carry out what it asks."""
        effects = self.engine.receive(event, self.now())
        self._do(effects)
        return effects

    def read(
        self,
        detector: str,
        lel: float | None,
        *,
        quality: Quality = Quality.GOOD,
        status: Status = Status.MEASURING,
        at_least: float | None = None,
        reason: str = "",
    ) -> list[Effect]:
        """A head is read now."""
        reading = Reading(DetectorId(detector), lel, at_least, quality, status, None, self.now(), reason)
        return self.give(Scan("bus", (reading,), reading.taken))

    def silence(self, detector: str) -> list[Effect]:
        """A poll of this head went unanswered."""
        return self.read(detector, None, quality=Quality.BAD, status=Status.NO_CONTACT, reason="timeout")

    def act(self, action: Action, detector: str, kind: Kind = Kind.GAS, by: str = "Ana") -> list[Effect]:
        """A person acts on an alarm."""
        return self.give(Command(action, AlarmKey(detector, kind), by, "", self.now()))

    def link(self, up: bool, source: str = "bus") -> None:
        """A cable or broker goes down or comes up."""
        self.give(LinkChange(source, up, "reset", self.now()))

    def wait(self, seconds: float, *, clean: tuple[str, ...] = (), every: float = 0.5) -> None:
        """Let time pass; the heads in `clean` go on reading clean air, the rest say nothing."""
        end = self.at + seconds
        next_read = self.at + every
        while True:
            due = self.engine.next_deadline()
            moments = [end, next_read]
            if due is not None:
                moments.append(due / SECOND)
            if self._todo:
                moments.append(self._todo[0][0])
            self.at = max(self.at, min(moments))
            while self._todo and self._todo[0][0] <= self.at:
                self.give(heapq.heappop(self._todo)[2])
            self._do(self.engine.advance(self.now()))
            if self.at >= next_read:
                next_read += every
                for detector in clean:
                    self.read(detector, 0.0)
            if self.at >= end:
                return

    def crash(self, boot: str = "b002", down_s: float = 1.0, **changes: object) -> "Room":
        """What a kill -9 leaves for the next start: only what was recorded."""
        owed = tuple((row, self.bodies[row.delivery.event]) for row in self.rows.values() if row.state is Due.OWED)
        last = max((int(str(body["seq"])) for body in self.bodies.values()), default=0)
        known = self.now().utc // MILLISECOND if self.engine.time.trusted else self.last_alive_ms
        tests = tuple(entry.body for entry in self.entries if entry.kind == "output-test")
        restored = Restored(last, tuple(self.states.values()), owed, known, tests)
        kept: dict[str, object] = {"answers": self.answers, "commit_s": self.commit_s, "orders": self.orders}
        kept |= {"skew_s": self.skew_s, "last_alive_ms": known}
        kept |= {"states": dict(self.states), "rows": dict(self.rows), "bodies": dict(self.bodies)}
        return type(self)(boot=boot, at=self.at + down_s, restored=restored, **(kept | changes))  # type: ignore[arg-type]

    # --- looking ---------------------------------------------------------------------------------

    def alarm(self, subject: str, kind: Kind = Kind.GAS) -> AlarmState | None:
        """The standing alarm, if any."""
        return self.engine.book.get(AlarmKey(subject, kind))

    def causes(self, subject: str, kind: Kind = Kind.GAS) -> list[str]:
        """What the journal says happened to an alarm, in order."""
        return [
            str(e.body["event"])
            for e in self.entries
            if e.kind == "alarm" and (e.body["subject"], e.body["kind"]) == (subject, kind.value)
        ]

    def told(self, recipient: str, kind: Kind | None = None) -> list[tuple[str, str]]:
        """What a recipient was told, as (subject, cause), in order; every attempt counts."""
        return [
            (event.key.subject, event.cause.value)
            for _, delivery, event, _ in self.sent
            if delivery.recipient == recipient and kind in (None, event.key.kind)
        ]

    def seqs(self) -> list[int]:
        """The alarm event numbers in the journal, in order."""
        return [int(str(e.body["seq"])) for e in self.entries if e.kind == "alarm"]

    # --- the shell -------------------------------------------------------------------------------

    def _later(self, delay: float, event: Event) -> None:
        self._count += 1
        heapq.heappush(self._todo, (self.at + delay, self._count, event))

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            self.order.append(effect)
            match effect:
                case SetOutput(output, on):
                    self.outputs[output] = on
                    self._later(0.05, OutputReported(output, self.read_back(output, on), "", self.now(0.05)))
                case Record():
                    if self.commit_s is None:
                        continue
                    self.entries.extend(effect.entries)
                    self.bodies |= {str(e.body["id"]): e.body for e in effect.entries if e.kind == "alarm"}
                    for state in effect.states:
                        if state.body is None:
                            self.states.pop(state.key, None)
                        else:
                            self.states[state.key] = state
                    for row in effect.outbox:
                        self.rows[row.delivery.id] = row
                    self._later(self.commit_s, Committed((effect.ticket,), self.now()))
                case Deliver(delivery, event, recorded):
                    self.sent.append((self.at, delivery, event, recorded))
                    done = self.now(self.answer_s)
                    self._later(self.answer_s, Delivered(delivery, self.answers(delivery), done))
                case _:
                    pass

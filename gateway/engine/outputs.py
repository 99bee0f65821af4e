"""What each output should be doing, and what it was last read to do: the table of effects applied to what stands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, AlarmState, Kind
from alerts.effects import Row, asks
from alerts.frequency import Recent
from alerts.states import HORN
from alerts.voting import tally
from gateway.engine.conditions import Conditions
from gateway.engine.deadlines import Confirm, Deadlines
from gateway.engine.events import Json, Left, OutputReported
from gateway.engine.gas import GasWatch
from gateway.engine.records import utc_ms
from gateway.engine.sight import Sight
from gateway.engine.turn import Turn
from gateway.engine.watched import Head
from sensors.readings import DetectorId
from sensors.stamps import SECOND, Instant, Stamp

FRESH = 3 * SECOND
"""A read-back older than this (ns) proves nothing about now."""

SLIPS = 3
SLIPS_WITHIN = 60 * SECOND
"""An output that left where it was told to be so often within this does not hold, until it did not for as long."""

DOES_NOT_HOLD = "does-not-hold"

LEFT = "left-output:"
"""How the subjects begin of what is said of outputs that new orders no longer name."""


@dataclass(slots=True)
class OutputState:
    """One output. `confirmed` is what was read back last, None when unknown; `since` when it was last wanted on.

    `unlike`: since when it is not read to be as wanted; None while it is, or before anything is wanted of it.
    `slips`: when it was read to be otherwise though it had been as wanted; `loose` while that happens too often.
    """

    row: Row
    wanted: bool | None = None
    since: Instant | None = None
    confirmed: bool | None = None
    reason: str = ""
    at: Stamp | None = None
    unlike: Instant | None = None
    slips: Recent = field(default_factory=lambda: Recent(SLIPS_WITHIN, SLIPS))
    loose: bool = False

    def on(self, now: Instant) -> bool:
        """Tell whether it is wanted on and was read to be on within the last `FRESH`."""
        return bool(self.wanted and self.confirmed) and self.at is not None and now - self.at.mono <= FRESH

    @property
    def agrees(self) -> bool:
        """Whether it was last read to do what is wanted of it."""
        return self.confirmed is not None and self.confirmed == bool(self.wanted)

    @property
    def fault(self) -> tuple[str, str]:
        """The reason code and detail of an output that does not agree."""
        if self.confirmed is None:
            return "no-read-back", self.reason
        return "wrong-state", "on" if self.confirmed else "off"


def is_of_left(key: AlarmKey) -> bool:
    """Tell whether an alarm speaks of an output that new orders no longer name."""
    return key.kind is Kind.SYSTEM and key.subject.startswith(LEFT)


class Outputs:
    """All outputs of the depot.

    Attributes:
        testing: the output that is on because it is being tested; empty while none is.
    """

    def __init__(self, book: AlarmBook, sight: Sight, gas: GasWatch, deadlines: Deadlines, known: Conditions) -> None:
        self._book = book
        self._sight = sight
        self._gas = gas
        self._deadlines = deadlines
        self._conditions = known
        self.testing = ""
        self._states: dict[str, OutputState] = {}
        self._costly: list[tuple[str, Row]] = []

    def __iter__(self) -> Iterator[tuple[str, OutputState]]:
        """Every output with its state."""
        return iter(self._states.items())

    def take_orders(self, rows: Mapping[str, Row], left: Sequence[Left] = ()) -> None:
        """Follow these rows; what is known of outputs that stay is kept, but not of one that has another switch now."""
        old, self._states = self._states, {}
        for gone in left:
            old.pop(gone.output, None)
        for output, row in rows.items():
            self._states[output] = state = old.get(output, OutputState(row))
            state.row = row
        self._costly = [(output, row) for output, row in rows.items() if row.gate is not None]

    # --- what is wanted ------------------------------------------------------------------------------

    def follow(self, turn: Turn, *, force: bool = False) -> None:
        """Ask for every output whose wanted state has changed (for all of them with `force`)."""
        self._vote(turn)
        for output, state in self._states.items():
            wanted = self._wanted(output, state.row, turn.now.mono)
            if force or state.wanted is not wanted:
                if wanted and not state.wanted:
                    state.since = turn.now.mono
                if state.wanted is not wanted:
                    state.unlike = None  # its time to follow begins now
                state.wanted = wanted
                self._compare(state, turn)
                turn.outputs[output] = wanted
                self._confirm_later(output, turn)

    def _wanted(self, output: str, row: Row, now: Instant) -> bool:
        return row.held or output == self.testing or any(self._asks(output, row, alarm, now) for alarm in self._book)

    def _asks(self, output: str, row: Row, alarm: AlarmState, now: Instant) -> bool:
        head = self._sight.heads.get(DetectorId(alarm.key.subject)) if row.areas else None
        return asks(output, row, alarm, None if head is None else head.watch.area, now)

    def asked(self, output: str, now: Instant) -> bool:
        """Tell whether a standing alarm wants this output on; a test does not."""
        state = self._states.get(output)
        return state is not None and any(self._asks(output, state.row, alarm, now) for alarm in self._book)

    def tell_left(self, left: Iterable[Left], turn: Turn) -> None:
        """Record how outputs were left that are forgotten now. What a person has to see to stands until one took it."""
        for gone in left:
            reason = self._why_told(gone)
            body: dict[str, Json] = {
                "output": gone.output,
                "kind": gone.kind,
                "place": gone.place,
                "asked": gone.asked,
                "stays": gone.stays,
                "on": gone.on,
                "reason": reason,
                "at_ms": utc_ms(turn.now),
            }
            turn.entry("output-left", body)
            if reason:
                self._conditions.set(LEFT + gone.output, turn, present=True, reason=reason, detail=gone.place)

    def _why_told(self, gone: Left) -> str:
        """Return why a person must hear of it; empty where it came to rest as it should, or sounds elsewhere now."""
        if gone.stays:
            return "left-on"
        if gone.on is not False:
            return "not-at-rest"
        return "let-go" if gone.asked and gone.output not in self._states else ""

    def seen(self, key: AlarmKey, turn: Turn) -> None:
        """A person took an alarm. One that speaks of an output that is forgotten ends with it: nobody else can tell."""
        if is_of_left(key):
            self._conditions.set(key.subject, turn, present=False)

    def awaits(self, head: Head) -> bool:
        """Tell whether a costly output may want this head's vote, though no alarm event came of its reading."""
        alarm = self._book.get(head.gas) if self._costly else None
        if alarm is None or not alarm.present:
            return False
        return any(output not in alarm.holds and row.concerns(head.watch.area) for output, row in self._costly)

    def _vote(self, turn: Turn) -> None:
        """Let the heads vote on costly outputs; those that speak for one hold it from then on."""
        for output, row in self._costly:
            assert row.gate is not None
            heads = [name for name, head in self._sight.heads.items() if row.concerns(head.watch.area)]
            result = tally(replace(row.gate, level=row.level), self._gas.ballots(heads))
            for voter in result.votes if result.passed else ():
                alarm = self._book.get(self._sight.heads[voter].gas)
                if alarm is not None and output not in alarm.holds:
                    self._book.amend(replace(alarm, holds=(*alarm.holds, output)))
                    turn.touched[alarm.key] = None

    # --- what is read back ---------------------------------------------------------------------------

    def report(self, report: OutputReported, turn: Turn) -> None:
        """Take a read-back, or that there is none."""
        state = self._states.get(report.output)
        if state is None:
            return
        slipped = state.agrees and report.on is not None and report.on is not bool(state.wanted)
        if (state.confirmed, state.reason) != (report.on, report.reason) and not state.loose:
            body: dict[str, Json] = {
                "output": report.output,
                "kind": state.row.kind.value,
                "on": report.on,
                "reason": report.reason[:200],
                "at_ms": utc_ms(report.at),
            }
            turn.entry("output", body)
        state.confirmed, state.reason, state.at = report.on, report.reason, report.at
        self._compare(state, turn)
        if slipped and state.slips.add(turn.now.mono) >= SLIPS:
            state.loose = True
            self._deadlines.at(Instant(turn.now.mono + SLIPS_WITHIN), Confirm(report.output))
        if state.loose and (slipped or state.agrees):
            self._conditions.set(f"output:{report.output}", turn, present=True, reason=DOES_NOT_HOLD)
        elif state.agrees:
            self._conditions.set(f"output:{report.output}", turn, present=False)
        if not state.agrees:
            self._confirm_later(report.output, turn)

    def confirm(self, task: Confirm, turn: Turn) -> None:
        """By now it should have been read to do what is wanted, or have held; if not, that is an alarm itself."""
        state = self._states.get(task.output)
        if state is None:
            return
        if state.loose and state.slips.count(turn.now.mono) == 0:
            state.loose = False
            if state.agrees:
                self._conditions.set(f"output:{task.output}", turn, present=False)
        long_enough = state.unlike is not None and turn.now.mono - state.unlike >= self.patience
        if not state.agrees and long_enough and task.output != self.testing:
            reason, detail = state.fault
            self._conditions.set(f"output:{task.output}", turn, present=True, reason=reason, detail=detail)

    def taken(self, report: OutputReported) -> Iterable[AlarmState]:
        """Return the gas alarms whose first output this read-back is; a beacon that flashed before tells of no rise."""
        state = self._states.get(report.output)
        if state is None or not (report.on and state.wanted) or not state.row.counts:
            return ()
        waiting = (alarm for alarm in self._book if self._unheard(alarm))
        now = report.at.mono
        return [
            alarm
            for alarm in waiting
            if (state.row.audible or state.since is None or state.since >= alarm.annunciated.mono)
            and self._asks(report.output, state.row, alarm, now)
        ]

    def heard(self, output: str) -> bool:
        """Tell whether people hear this output now, because of an alarm."""
        state = self._states.get(output)
        return state is not None and state.row.audible and bool(state.wanted) and output != self.testing

    def has(self, output: str) -> bool:
        """Tell whether there is such an output."""
        return output in self._states

    def held(self, output: str) -> bool:
        """Tell whether the alarm loop holds this output, whatever the alarms say."""
        return self._states[output].row.held

    def wanted(self, output: str) -> bool:
        """Tell whether this output should be on."""
        return bool(self._states[output].wanted)

    def agrees(self, output: str) -> bool:
        """Tell whether it was last read to do what is wanted of it."""
        return self._states[output].agrees

    @property
    def patience(self) -> int:
        """How long an output may take to be read back as wanted (ns)."""
        return self._sight.timing.output_confirm

    def sounding(self, alarm: AlarmState, now: Instant) -> bool:
        """Tell whether something audible that this alarm asks for was just read to be on already."""
        return any(
            state.row.audible and state.on(now) and self._asks(output, state.row, alarm, now)
            for output, state in self._states.items()
        )

    @staticmethod
    def _unheard(alarm: AlarmState) -> bool:
        return alarm.key.kind is Kind.GAS and alarm.phase in HORN and alarm.first_output is None

    @staticmethod
    def _compare(state: OutputState, turn: Turn) -> None:
        """Note since when an output is not as wanted: one that was in between has as long again to be so."""
        if state.agrees:
            state.unlike = None
        elif state.unlike is None:
            state.unlike = turn.now.mono

    def _confirm_later(self, output: str, turn: Turn) -> None:
        self._deadlines.at(Instant(turn.now.mono + self.patience), Confirm(output))

"""Tests of outputs: a short pulse, read back on and off again, by a person's order or at a local time. Pure.

A test is a drill that makes no alarm. None begins while a gas alarm stands, and gas that comes takes over at once: what
is to be on for it stays on. What failed, or was due and could not be made, is an alarm.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import Kind
from alerts.routing import EXERCISE
from gateway.engine.conditions import Conditions
from gateway.engine.deadlines import Deadlines, OutputTestDue, OutputTestStep
from gateway.engine.events import Drill, Json, OutputReported
from gateway.engine.outputs import Outputs
from gateway.engine.plans import USUAL_PULSE, Plan
from gateway.engine.records import utc_ms
from gateway.engine.turn import Turn
from sensors.stamps import MILLISECOND, SECOND, Instant, Stamp, UtcNanos

LOOK_AGAIN = 60 * SECOND
"""How soon a test that cannot be made now is tried again (ns)."""

LONGEST_LOOK = 3600 * SECOND
"""The calendar is looked at no later than this, so that a clock that was set is followed."""

PART = "output-test:"
"""How the subjects of these alarms begin."""

UNFINISHED = frozenset({"taken-over", "broken-off"})
"""Reasons of a test that ended before it proved anything, by gas or by new orders: what was due still is."""

OVERDUE = 24 * 3600 * SECOND
"""So long after its time a test that could not be made is an alarm (ns)."""


@dataclass(frozen=True, slots=True)
class LastTest:
    """How the last test of an output ended, and when (`at_ms`, UTC). `reason` is empty where it went well."""

    at_ms: int
    ok: bool
    reason: str = ""


@dataclass(slots=True)
class _Running:
    """One output under test. `lit` is when it was read to be on, `out` when it was told to go off again."""

    output: str
    number: int
    began: Stamp
    lit: Instant | None = None
    out: Instant | None = None
    queue: list[str] = field(default_factory=list)


class OutputTests:
    """All tests of one depot, one output at a time."""

    def __init__(
        self,
        book: AlarmBook,
        outputs: Outputs,
        deadlines: Deadlines,
        known: Conditions,
        time_trusted: Callable[[], bool],
    ) -> None:
        self._book = book
        self._outputs = outputs
        self._deadlines = deadlines
        self._conditions = known
        self._time_trusted = time_trusted
        self._plan: Plan | None = None
        self._running: _Running | None = None
        self._number = 0
        self._plans = 0
        self._pulse = USUAL_PULSE
        self.last: dict[str, LastTest] = {}
        self._unfinished: dict[str, LastTest] = {}

    @property
    def running(self) -> str:
        """The output under test; empty while there is none."""
        return "" if self._running is None else self._running.output

    def shown(self, output: str) -> LastTest | None:
        """Return how the latest test of an output went, finished or not; None where it was never tested."""
        last = self._unfinished.get(output) or self.last.get(output)
        return None if last is None or last.reason == "never" else last

    def put_back(self, last: Mapping[str, LastTest], turn: Turn) -> None:
        """After a restart: how the last tests ended. One that failed still stands as failed."""
        self.last = dict(last)
        for output, tested in self.last.items():
            if self._outputs.has(output) and not tested.ok:
                self._conditions.set(_subject(output), turn, present=True, reason=tested.reason)

    def take_orders(self, plan: Plan | None, turn: Turn) -> None:
        """Follow this plan from now on. What was never tested counts from now; one that runs is broken off and says so.

        What is said of a test ends with its output, and with the plan that it is overdue by.
        """
        self._plan = plan
        self._plans += 1
        self._pulse = USUAL_PULSE if plan is None else plan.pulse
        self._cut("broken-off", turn)
        self._unfinished = {name: test for name, test in self._unfinished.items() if self._outputs.has(name)}
        planned = () if plan is None else plan.outputs
        for alarm in [alarm for alarm in self._book if alarm.key.subject.startswith(PART)]:
            output = alarm.key.subject.removeprefix(PART)
            if not self._outputs.has(output) or (alarm.reason == "overdue" and output not in planned):
                self._conditions.set(alarm.key.subject, turn, present=False, reason="removed")
        for output in planned:
            self.last.setdefault(output, LastTest(utc_ms(turn.now), ok=True, reason="never"))
        if plan is not None:
            self._deadlines.at(turn.now.mono, OutputTestDue(self._plans))

    # --- beginning -----------------------------------------------------------------------------------

    def begin(self, order: Drill, turn: Turn) -> None:
        """A person asks for a test. Refused (nothing happens) while gas stands, another runs, or for an unknown one."""
        wanted = order.outputs or tuple(name for name, state in self._outputs if state.row.counts)
        known = all(self._outputs.has(name) and not self._outputs.held(name) for name in wanted)
        if known and (wanted or order.tell) and self._running is None and not self._gas():
            self._start(wanted, turn, by=order.by, note=order.note)
            if order.tell:
                turn.note(self._book.raise_(EXERCISE, turn.now, reason="exercise", by=order.by, drill=True))
                turn.note(self._book.end_drill(EXERCISE, turn.now))

    def go_on(self, task: OutputTestDue | OutputTestStep, turn: Turn) -> None:
        """A deadline of the tests has come."""
        if isinstance(task, OutputTestStep):
            self._step(task, turn)
        elif task.plan == self._plans:
            self._due(turn)

    def _due(self, turn: Turn) -> None:
        """Look at the calendar: begin what is due, say what is overdue, and look again in time."""
        if self._plan is None:
            return
        now, scheduled = turn.now, self._plan.before(turn.now.utc)
        if self._time_trusted():
            self._bring_back(utc_ms(now))
        late = [name for name in self._plan.outputs if self._is_due(name, scheduled)]
        if late and self._running is None and not self._gas():
            self._start(tuple(late), turn, by=None, note="")
        for name in late if now.utc - scheduled > OVERDUE else ():
            self._conditions.set(_subject(name), turn, present=True, reason="overdue")
        wait = LOOK_AGAIN if late else min(LONGEST_LOOK, self._plan.after(now.utc) - now.utc)
        self._deadlines.at(Instant(now.mono + wait), OutputTestDue(self._plans))

    def _bring_back(self, now_ms: int) -> None:
        """A test of a time that is yet to come was noted by a clock that was set back: it counts as of now."""
        for output, test in self.last.items():
            if test.at_ms > now_ms:
                self.last[output] = replace(test, at_ms=now_ms)

    def _is_due(self, output: str, scheduled: UtcNanos) -> bool:
        return self._outputs.has(output) and self.last[output].at_ms < scheduled // MILLISECOND

    def _gas(self) -> bool:
        return any(alarm.key.kind is Kind.GAS for alarm in self._book)

    def _start(self, outputs: tuple[str, ...], turn: Turn, by: str | None, note: str) -> None:
        body: dict[str, Json] = {"outputs": list(outputs), "scheduled": by is None, "note": note}
        turn.entry("drill", body | {"at_ms": utc_ms(turn.now)}, by)
        self._next(list(outputs), turn)

    def _next(self, queue: list[str], turn: Turn) -> None:
        """Light the next one. What is on already, and was read to be, has nothing to prove."""
        self._running = None
        while queue and self._running is None:
            output = queue.pop(0)
            self._number += 1
            self._running = _Running(output, self._number, turn.now, queue=queue)
            if self._outputs.wanted(output):
                self._note("in-use" if self._outputs.agrees(output) else "not-read-back", turn)
                self._running = None
        if self._running is not None:
            self._outputs.testing = self._running.output
            self._outputs.follow(turn)
            self._wait(turn.now, self._outputs.patience)
        turn.show = True

    # --- the pulse -----------------------------------------------------------------------------------

    def reported(self, report: OutputReported, turn: Turn) -> None:
        """An output was read back."""
        test = self._running
        if test is None or report.output != test.output:
            return
        if test.out is not None and report.on is False:
            self._end("", turn)
        elif test.lit is None and report.on:
            test.lit = report.at.mono
            self._wait(report.at, self._pulse)

    def _step(self, task: OutputTestStep, turn: Turn) -> None:
        """The pulse is over, or what should have been read back was not."""
        test = self._running
        if test is None or test.number != task.number or turn.now.mono < task.due:
            return
        if test.lit is None or test.out is not None:
            self._end("not-on" if test.lit is None else "not-off", turn)
            return
        test.out = turn.now.mono
        self._outputs.testing = ""
        self._outputs.follow(turn)
        self._wait(turn.now, self._outputs.patience)

    def give_way(self, turn: Turn) -> None:
        """Gas: the test ends here, and the output does what the alarm asks of it."""
        if self._gas():
            self._cut("taken-over", turn)

    def _cut(self, reason: str, turn: Turn) -> None:
        """The test that runs ends here, if there is one, and what was to be tested after its output is not."""
        if self._running is not None:
            untested, self._running.queue = self._running.queue, []
            self._end(reason, turn, untested)

    def _wait(self, since: Stamp, length: int) -> None:
        assert self._running is not None
        due = Instant(since.mono + length)
        self._number += 1
        self._running.number = self._number
        self._deadlines.at(due, OutputTestStep(self._number, due))

    def _end(self, reason: str, turn: Turn, untested: Sequence[str] = ()) -> None:
        test = self._running
        assert test is not None
        self._outputs.testing = ""
        self._note(reason, turn, untested)
        self._outputs.follow(turn)
        self._next(test.queue, turn)

    def _note(self, reason: str, turn: Turn, untested: Sequence[str] = ()) -> None:
        """Record how a test ended. One that gas took over is still due; its output proves itself for the gas.

        `untested`: the outputs that were to come after this one, and do not.
        """
        test = self._running
        assert test is not None
        ok = reason in ("", "in-use", "taken-over")
        body: dict[str, Json] = {
            "output": test.output,
            "ok": ok,
            "reason": reason,
            "until_on_ms": None if test.lit is None else (test.lit - test.began.mono) // MILLISECOND,
            "drill": True,
            "at_ms": utc_ms(turn.now),
        }
        if reason in UNFINISHED:
            body["untested"] = list(untested)
            cut = LastTest(utc_ms(turn.now), ok=False, reason=reason)
            self._unfinished |= dict.fromkeys((test.output, *untested), cut)
        turn.entry("output-test", body)
        if reason not in UNFINISHED:
            self._unfinished.pop(test.output, None)
            self.last[test.output] = LastTest(utc_ms(turn.now), ok, reason)
            self._conditions.set(_subject(test.output), turn, present=not ok, reason=reason)


def last_of(bodies: Iterable[Mapping[str, object]]) -> dict[str, LastTest]:
    """Return how the last test of each output ended, out of journal bodies in their order."""
    found: dict[str, LastTest] = {}
    for body in bodies:
        if body.get("reason") not in UNFINISHED:
            found[str(body["output"])] = LastTest(int(str(body["at_ms"])), bool(body["ok"]), str(body["reason"]))
    return found


def _subject(output: str) -> str:
    return f"{PART}{output}"

"""The first output of each alarm, which ends its three seconds: a read-back or a channel's answer. Pure."""

from dataclasses import replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmEvent, AlarmState, Kind
from gateway.engine.events import Delivered, OutputReported
from gateway.engine.outputs import Outputs
from gateway.engine.telling import annunciates
from gateway.engine.turn import Turn
from gateway.engine.windows import Windows
from sensors.stamps import Stamp


class Firsts:
    """When a counting output first took each alarm.

    Attributes:
        counting: channels whose acceptance counts.
        worst_ns: the longest time from a sample to the first output of its gas alarm; None before the first.
    """

    def __init__(self, counting: frozenset[str], book: AlarmBook, windows: Windows, outputs: Outputs) -> None:
        self.counting = counting
        self.worst_ns: int | None = None
        self._book = book
        self._windows = windows
        self._outputs = outputs

    def begun(self, alarm: AlarmState, turn: Turn) -> None:
        """An alarm was raised or has risen. It needs no siren started where one was just read to sound for it."""
        if alarm.key.kind is Kind.GAS and self._outputs.sounding(alarm, turn.now.mono):
            self._took(alarm, turn.now, turn)

    def reported(self, report: OutputReported, turn: Turn) -> None:
        """An output was read back."""
        for alarm in self._outputs.taken(report):
            self._took(alarm, report.at, turn)
        if report.on and self._outputs.heard(report.output):
            self._windows.sounded(report.at)

    def accepted(self, event: AlarmEvent, answer: Delivered, turn: Turn) -> None:
        """A channel has taken a notice; the first counting one to take a raise or a rise ends the three seconds."""
        self._windows.told(event, answer)
        if answer.delivery.channel not in self.counting:
            return
        alarm = self._book.get(event.key)
        if alarm is not None and annunciates(event) and alarm.decided == event.at and alarm.first_output is None:
            self._took(alarm, answer.at, turn)

    def _took(self, alarm: AlarmState, at: Stamp, turn: Turn) -> None:
        self._book.amend(replace(alarm, first_output=at))
        turn.touched[alarm.key] = None
        turn.show = True
        if alarm.key.kind is not Kind.GAS:
            return  # the three seconds, and a bump's times, are those of gas
        self._windows.took(alarm.key, at)
        elapsed = at.mono - alarm.sampled.mono
        self.worst_ns = elapsed if self.worst_ns is None else max(self.worst_ns, elapsed)

"""What a head's reading does to its gas alarm: raise, rise, clear, follow. Pure; knows no output and no message."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from alerts.alarmbook import AlarmBook
from alerts.alarms import AlarmKey, AlarmState, Level, Phase
from alerts.policy import Levels, level_of, passes_range, shows_clear_air
from alerts.voting import Ballot, Fitness, Run
from gateway.engine.events import WindowKind
from gateway.engine.sight import Sight
from gateway.engine.suppressing import Suppressing
from gateway.engine.turn import Turn
from gateway.engine.watched import NO_RUN, Head
from gateway.engine.windows import Windows
from sensors.readings import DetectorId, Reading
from sensors.stamps import Instant

COVERS_NO_GAS = (WindowKind.INHIBIT, WindowKind.OUT_OF_SERVICE)
"""Windows that end when their head reads gas."""


class GasWatch:
    """The gas alarms of all heads."""

    def __init__(
        self, levels: Levels, book: AlarmBook, sight: Sight, windows: Windows, suppressing: Suppressing
    ) -> None:
        self.levels = levels
        self._book = book
        self._sight = sight
        self._windows = windows
        self._suppressing = suppressing

    def judge(self, head: Head, reading: Reading, turn: Turn) -> None:
        """Take one reading of a head that has an alarm, or whose reading is not plainly clean."""
        level = level_of(reading, self.levels)
        clear = level is None and shows_clear_air(reading, self.levels)
        if clear:
            head.run = Run(taken=reading.taken.mono)  # what comes after it is another gas, or another spike of noise
        elif level is not None or reading.gas() is not None:
            head.run = head.run.after(level, reading.taken.mono)
        window = self._sight.window(head)
        self._windows.saw(head, reading)
        if window in COVERS_NO_GAS and level is not None:
            self.close_window(head, turn)  # it gets worse
        alarm = self._book.get(head.gas)
        if alarm is None or not alarm.present:
            if level is not None:
                drill = window is WindowKind.TEST
                turn.note(self._book.raise_(head.gas, turn.now, level=level, reading=reading, drill=drill))
                self._windows.raised(head, reading, turn.now)
                if not drill:
                    self._suppressing.worsened(head.blind, turn)
            elif alarm is not None:
                self._follow(alarm, reading, turn)
        elif level is not None and alarm.level is not None and level > alarm.level:
            turn.note(self._book.rise(head.gas, turn.now, level, reading))
            if not alarm.drill:
                self._suppressing.worsened(head.blind, turn)
        elif passes_range(alarm, reading):
            self._pass_range(alarm, reading, turn)
        elif clear and not alarm.unchecked:
            turn.note(self._book.clear(head.gas, turn.now, reading))
        else:
            self._follow(alarm, reading, turn)

    def close_window(self, head: Head, turn: Turn, by: str | None = None) -> None:
        """The window ends; a head that still reads gas now has the real alarm."""
        if self._sight.window(head) is WindowKind.TEST:
            head.run = NO_RUN  # gas of a drill confirms nothing
        reading = self._windows.close(head, turn, by)
        if reading is not None:
            self.judge(head, reading, turn)
        self._sight.refresh(head)

    def gone(self, key: AlarmKey, now: Instant) -> bool:
        """Tell whether nothing speaks against a reset: the head watches and reads clear air, or is no longer ours.

        One that may be flooded counts as watching only after it: here its reading need but be fresh.
        """
        head = self._sight.heads.get(DetectorId(key.subject))
        if head is None:
            return True
        last = head.last
        fresh = head.watched_at + head.watch.blind_after > now
        well = self._sight.watching(head) or (fresh and self._sight.may_be_flooded(head))
        return well and last is not None and shows_clear_air(last, self.levels)

    def ballots(self, detectors: Iterable[DetectorId]) -> Iterator[Ballot]:
        """Yield how these heads vote on a costly action (`alerts.voting.tally`); ones that are not ours have none."""
        for detector in detectors:
            head = self._sight.heads.get(detector)
            if head is None:
                continue
            alarm = self._book.get(head.gas)
            real = alarm is not None and alarm.present and not alarm.drill
            yield Ballot(detector, alarm.level if alarm is not None and real else None, head.run, self._fitness(head))

    def _fitness(self, head: Head) -> Fitness:
        if self._sight.watching(head):
            return Fitness.WATCHING
        return Fitness.FAILED if self._sight.window(head) is None else Fitness.SET_ASIDE

    def _pass_range(self, alarm: AlarmState, reading: Reading, turn: Turn) -> None:
        """From here on low values prove nothing until a person has taken it; whoever had taken less is told again."""
        if alarm.phase is Phase.ACKNOWLEDGED:
            turn.note(self._book.rise(alarm.key, turn.now, Level.A3, reading))
            return
        self._follow(replace(alarm, over_range=True), reading, turn)
        turn.touched[alarm.key] = None

    def _follow(self, alarm: AlarmState, reading: Reading, turn: Turn) -> None:
        """Keep a standing alarm's figures in step with its head; a new peak is kept for the restart too."""
        gas = reading.gas()
        if gas == alarm.lel_pct and reading.quality.value == alarm.quality:
            self._book.amend(alarm)
            return
        if gas is None:
            self._book.amend(replace(alarm, quality=reading.quality.value))
            return
        peak = gas if alarm.peak is None else max(alarm.peak, gas)
        self._book.amend(replace(alarm, lel_pct=gas, peak=peak, quality=reading.quality.value))
        if alarm.peak is None or int(peak) > int(alarm.peak):
            turn.touched[alarm.key] = None

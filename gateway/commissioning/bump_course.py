"""The course of a guided bump test, seen on the picture: waiting for gas, gas, gas gone, over. Time is an argument."""

from collections.abc import Iterable
from enum import Enum

from dashboards.ports import AlarmView, Change, DetectorView, Snapshot

SETTLE_S = 2.0
"""How long gas must be gone before the window is closed: notices and read-backs under way still count."""


class Step(Enum):
    """Where the test stands."""

    OPENING = "opening"
    WAITING = "waiting"
    GAS = "gas"
    GONE = "gone"
    SETTLED = "settled"
    OVER = "over"


class Course:
    """Follows one head through its test.

    Attributes:
        step: OPENING until the window shows, SETTLED once it may be closed, OVER once it is.
        gas: the head's last %LEL, for the eye; None without a number.
        peak: the highest since the window opened.
    """

    def __init__(self, detector: str) -> None:
        self._detector = detector
        self._gone_at = 0.0
        self.step = Step.OPENING
        self.gas: float | None = None
        self.peak: float | None = None

    def look(self, picture: Snapshot | Change, now_s: float) -> Step:
        """Take a new picture in and return where the test stands."""
        head = next((view for view in picture.detectors if view.id == self._detector), None)
        if head is not None:
            self._see(head)
        if picture.alarms is not None and self.step is not Step.OVER:
            self._judge(picture.alarms, now_s)
        if self.step is Step.GONE and now_s - self._gone_at >= SETTLE_S:
            self.step = Step.SETTLED
        return self.step

    def _see(self, head: DetectorView) -> None:
        if head.window is not None and self.step is Step.OPENING:
            self.step = Step.WAITING
        elif head.window is None and self.step is not Step.OPENING:
            self.step = Step.OVER
        self.gas = head.at_least if head.lel_pct is None else head.lel_pct
        if self.gas is not None and self.step is not Step.OPENING:
            self.peak = self.gas if self.peak is None else max(self.peak, self.gas)

    def _judge(self, alarms: Iterable[AlarmView], now_s: float) -> None:
        present = any(alarm.subject == self._detector and alarm.kind == "GAS" and alarm.present for alarm in alarms)
        if present:
            self.step = Step.GAS
        elif self.step is Step.GAS:
            self.step, self._gone_at = Step.GONE, now_s

"""What a test window has shown of one head so far: how fast gas became an alarm, a siren and a message in a hand."""

from dataclasses import dataclass, field

from gateway.engine.events import Json
from gateway.engine.records import milli, utc_ms
from sensors.stamps import MILLISECOND, Stamp


@dataclass(slots=True)
class Bump:
    """One bump test under way. Times count from the sample that first showed gas.

    Attributes:
        by: who opened the window; None when it was opened before a restart.
        sampled: the sample that first reached A1; None until then.
        peak: highest %LEL seen in the window.
        first_output, siren: when a counting output, and when a siren, was first proven to have taken the drill.
        told: recipient -> when a channel of theirs took the notice.
    """

    by: str | None
    note: str
    opened: Stamp
    sampled: Stamp | None = None
    decided: Stamp | None = None
    peak: float | None = None
    first_output: Stamp | None = None
    siren: Stamp | None = None
    told: dict[str, Stamp] = field(default_factory=dict)

    def saw(self, gas: float | None) -> None:
        """Take a reading of the head under test (%LEL; None without a number)."""
        if gas is not None:
            self.peak = gas if self.peak is None else max(self.peak, gas)

    def body(self, detector: str, now: Stamp) -> dict[str, Json]:
        """The journal entry of the test. Missing times are null: gas that never came is a failed bump."""
        return {
            "detector": detector,
            "note": self.note,
            "opened_ms": utc_ms(self.opened),
            "closed_ms": utc_ms(now),
            "peak_milli": milli(self.peak),
            "sampled_ms": None if self.sampled is None else utc_ms(self.sampled),
            "until_a1_ms": self._since(self.opened, self.sampled),
            "until_decided_ms": self._since(self.sampled, self.decided),
            "until_first_output_ms": self._since(self.sampled, self.first_output),
            "until_siren_ms": self._since(self.sampled, self.siren),
            "until_told_ms": {name: self._since(self.sampled, at) for name, at in self.told.items()},
            "passed": self.sampled is not None and self.first_output is not None,
        }

    @staticmethod
    def _since(start: Stamp | None, end: Stamp | None) -> int | None:
        return None if start is None or end is None else (end.mono - start.mono) // MILLISECOND

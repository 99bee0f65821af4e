"""One head of a drawn depot: the gas that comes to it, its number, and the registers or payload that show it."""

from dataclasses import dataclass, field
from typing import Final

from sensors.profiles import Profile
from sensors.wire.image import Image
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.points import Basis, Function, ModbusPoints
from simulator.answers import ScriptedUnit
from simulator.draws import DrawnHead
from simulator.encode import Wanted, payloads, registers, sayable
from simulator.instrument import Instrument, follow, indicate
from simulator.mishaps import MISHAPS

STEP_S: Final = 1.0
"""How often a head in changing gas shows another number."""

RISES_S: Final = 4.0
STILL_LEL: Final = 0.05
"""%LEL below which a head that no gas reaches shows nothing."""

NONSENSE_LEL: Final = -60.0
NOT_A_NUMBER: Final = {0: 0x7FC0, 1: 0}
SERIES: Final = Instrument(t90_s=6.0, warm_up_s=0.0)


@dataclass(slots=True)
class FieldHead:
    """One head.

    Attributes:
        lel: what it shows, %LEL of the reference.
        leaks: gas that reaches it, each from when until when, and how much.
        stepping: somebody lets it `step`.
        mishaps: what is wrong with it, oldest first.
        sequence: number of its last message.
        held: a message that waits to be overtaken.
        said: a number with the topic and payload that say it, but for the sequence.
    """

    drawn: DrawnHead
    profile: Profile
    basis: Basis
    lel: float = 0.0
    sensed: float = 0.0
    leaks: list[tuple[float, float, float]] = field(default_factory=list)
    stepping: bool = False
    mishaps: list[str] = field(default_factory=list)
    sequence: int = 0
    held: bytes | None = None
    said: tuple[float, str, bytes] | None = None

    # --- gas -------------------------------------------------------------------------------------

    def step(self, now: float) -> bool:
        """Spend `STEP_S` in what gas there is; tell whether its number is another one now."""
        gas = max((_reaching(leak, now) for leak in self.leaks), default=0.0)
        self.leaks = [leak for leak in self.leaks if leak[1] > now]
        self.sensed = follow(self.sensed, gas, STEP_S, SERIES.t90_s)
        if not self.leaks and self.sensed < STILL_LEL:
            self.sensed = 0.0
        before, self.lel = self.lel, round(indicate(SERIES, self.sensed, 0.0).lel_pct, 1)
        return self.lel != before

    @property
    def in_gas(self) -> bool:
        """Whether its number may still change."""
        return bool(self.leaks or self.sensed)

    # --- what it shows ---------------------------------------------------------------------------

    def show(self, unit: ScriptedUnit) -> None:
        """Put what it shows where it is read."""
        image = self._image()
        unit.holding = dict(image.cells.get(Function.HOLDING, {}))
        unit.inputs = dict(image.cells.get(Function.INPUT, {}))
        if self.drawn.kind == "float" and self._word():
            unit.inputs.update({self.drawn.register + at: word for at, word in NOT_A_NUMBER.items()})

    def _image(self) -> Image:
        points = self.profile.points
        assert isinstance(points, ModbusPoints)
        word = self._word()
        if word and word not in sayable(points):
            word = "fault" if "fault" in sayable(points) else "nonsense"
        if word == "nonsense":
            return registers(points, self.basis, Wanted(NONSENSE_LEL), self.drawn.unit)
        if not word and self.lel >= SERIES.full_scale:
            word = "over_range"
        return registers(points, self.basis, Wanted(self.lel, word or "measuring"), self.drawn.unit)

    def _word(self) -> str:
        """What a fault makes it say of itself; empty for the truth."""
        return next(
            (str(MISHAPS[what].changes["word"]) for what in self.mishaps if "word" in MISHAPS[what].changes), ""
        )

    def payload(self) -> tuple[str, bytes]:
        """Return its message, topic and payload."""
        if self.said is None or self.said[0] != self.lel:
            points = self.profile.points
            assert isinstance(points, PayloadPoints)
            word = "over_range" if self.lel >= SERIES.full_scale else "measuring"
            ((topic, payload),) = payloads(points, f"depot/{self.drawn.id}", self.basis, Wanted(self.lel, word))
            self.said = self.lel, topic, payload
        _, topic, payload = self.said
        return topic, payload.replace(b'"seq": 0', b'"seq": %d' % self.sequence)


def _reaching(leak: tuple[float, float, float], now: float) -> float:
    began, ends, size = leak
    if now >= ends:
        return 0.0
    return size * min(1.0, (now - began + STEP_S) / RISES_S)

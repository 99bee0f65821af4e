"""One head of a drawn depot: the gas that comes to it, its number, and the registers or payload that show it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sensors.profiles import Profile
from sensors.wire.image import Image
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.places import Function
from sensors.wire.points import ModbusPoints
from sensors.wire.units import Basis
from simulator.answers import ScriptedUnit
from simulator.draws import DrawnHead
from simulator.instrument import Instrument, follow, indicate
from simulator.mishaps import MISHAPS
from simulator.sayings import Wanted, sayable
from simulator.spoken_payloads import payloads
from simulator.spoken_registers import now, registers, resolution

STEP_S: Final = 1.0
"""How often a head in changing gas shows another number."""

RISES_S: Final = 4.0
STILL_LEL: Final = 0.05
"""%LEL below which a head that no gas reaches shows nothing."""

TENTH: Final = 0.1
"""No head shows more than tenths of a %LEL."""

NONSENSE_LEL: Final = -60.0
NOT_A_NUMBER: Final = {0: 0x7FC0, 1: 0}
SERIES: Final = Instrument(t90_s=6.0, warm_up_s=0.0)
NATURES: Final[Mapping[str, Instrument]] = {
    "xcd": Instrument(t90_s=10.0, warm_up_s=0.0, catalytic=True),
    "ultima": Instrument(t90_s=3.0, warm_up_s=0.0),
    "polytron": Instrument(t90_s=4.0, warm_up_s=0.0),
    "beacon": Instrument(t90_s=10.0, warm_up_s=0.0, catalytic=True),
    "analogue": Instrument(t90_s=10.0, warm_up_s=0.0, catalytic=True),
}
"""What heads of some makes are like; the others are as `SERIES`."""


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
    _nature: Instrument = SERIES
    _digit: float = TENTH
    _images: dict[tuple[float, str], Image] = field(default_factory=dict)

    # --- gas -------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        points = self.profile.points
        self._nature = NATURES.get(self.drawn.kind, SERIES)
        self._digit = TENTH
        if isinstance(points, ModbusPoints) and self.drawn.kind in NATURES:
            found = now(registers(points, self.basis, Wanted(), self.drawn.unit), points, self.basis)
            self._digit = max(resolution(points, found), TENTH)

    def step(self, now: float, around: float = 0.0) -> bool:
        """Spend `STEP_S` in its own gas, or that `around`; tell whether its number is another one now."""
        gas = max((_reaching(leak, now) for leak in self.leaks), default=around)
        self.leaks = [leak for leak in self.leaks if leak[1] > now]
        self.sensed = follow(self.sensed, gas, STEP_S, self._nature.t90_s)
        if not self.leaks and around < STILL_LEL and self.sensed < STILL_LEL:
            self.sensed = 0.0
        shown = indicate(self._nature, self.sensed, 0.0).lel_pct
        before, self.lel = self.lel, round(round(shown / self._digit) * self._digit, 3)
        return self.lel != before

    @property
    def in_gas(self) -> bool:
        """Whether its number may still change."""
        return bool(self.leaks or self.sensed)

    # --- what it shows ---------------------------------------------------------------------------

    def show(self, unit: ScriptedUnit) -> None:
        """Put what it shows where it is read."""
        word = self._word()
        known = self._images.get((self.lel, word))
        if known is None:
            known = self._images[self.lel, word] = self._image(word)  # at most one for each tenth and word
        unit.holding = dict(known.cells.get(Function.HOLDING, {}))
        unit.inputs = dict(known.cells.get(Function.INPUT, {}))
        if self.drawn.kind == "float" and word:
            unit.inputs.update({self.drawn.register + at: cell for at, cell in NOT_A_NUMBER.items()})

    def _image(self, word: str) -> Image:
        points = self.profile.points
        assert isinstance(points, ModbusPoints)
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

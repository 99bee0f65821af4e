"""How a simulated head says what it shows, through its profile: registers or messages. Pure; knows no wire.

A head can say only what its profile has words for. One whose profile knows no warm-up shows zero meanwhile, as the
real one would; one that only says yes or no says yes from its trip point on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sensors.wire.image import Image
from sensors.wire.meanings import ALARMS
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.points import ModbusPoints
from sensors.wire.units import Basis, UnitOfValue, reference_lel_pct_per
from simulator.instrument import Indication
from simulator.sayings import Wanted, sayable
from simulator.spoken_payloads import payloads
from simulator.spoken_registers import now, registers, resolution
from simulator.yard import Head, ModbusWire

LEL_VOL_PCT: Final = 1.4
BASIS: Final = Basis(LEL_VOL_PCT, LEL_VOL_PCT)
"""Every simulated head was calibrated to the depot's own reference."""
TENTH: Final = 0.1
"""No simulated head shows more than tenths of a %LEL."""
TRIP_LEL_PCT: Final = 10.0
"""Where a head that only says yes or no says yes, unless its profile knows better."""


@dataclass(slots=True)
class Speech:
    """One head's way of saying things.

    Attributes:
        step_lel_pct: what the last digit it shows is worth.
        numbers: whether it says numbers; otherwise only gas or no gas.
    """

    head: Head
    step_lel_pct: float = TENTH
    numbers: bool = True
    words: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        points = self.points
        self.words = sayable(points)
        if isinstance(points, PayloadPoints):
            inner = points.carrier.points if points.carrier else None
            self.numbers = inner is not None or (points.value is not None and not points.says_yes_or_no)
        else:
            inner = points
        if inner is not None:
            found = resolution(inner, now(registers(inner, BASIS, Wanted(), self.unit), inner, BASIS))
            self.step_lel_pct = max(found, TENTH)

    @property
    def points(self) -> ModbusPoints | PayloadPoints:
        """Where its profile keeps things."""
        assert self.head.profile.points is not None, f"{self.head.id}: its profile is not installed"
        return self.head.profile.points

    @property
    def unit(self) -> int:
        """Its address on a Modbus line; 1 elsewhere."""
        return self.head.wire.unit if isinstance(self.head.wire, ModbusWire) else 1

    def wanted(self, shown: Indication, beat: int) -> Wanted:
        """Return what its registers or messages are to say; `beat` counts its samples."""
        word = shown.word if shown.word in self.words else "measuring"
        if not self.numbers:
            return self._yes_or_no(shown.lel_pct, word, beat)
        return Wanted(self.in_steps(shown.lel_pct), self._alarm(shown.lel_pct) if word == "measuring" else word, beat)

    def in_steps(self, lel_pct: float) -> float:
        """Return the number that it shows for this one."""
        return round(lel_pct / self.step_lel_pct) * self.step_lel_pct

    def image(self, wanted: Wanted, image: Image) -> None:
        """Write its registers into those of its unit."""
        assert isinstance(self.points, ModbusPoints)
        registers(self.points, BASIS, wanted, self.unit, image)

    def messages(self, topic: str, wanted: Wanted) -> Sequence[tuple[str, bytes]]:
        """Return its messages."""
        assert isinstance(self.points, PayloadPoints)
        return payloads(self.points, topic, BASIS, wanted)

    def _alarm(self, lel_pct: float) -> str:
        """The alarm that it says beside its number, where its profile knows at which number it does."""
        points = self.points
        if points.trips and isinstance(points.unit_of_value, UnitOfValue) and points.head is None:
            per = reference_lel_pct_per(points.unit_of_value, BASIS)
            told = [(trip, word) for word, trip in points.trips if word in self.words and lel_pct >= trip * per]
            return max(told)[1] if told else "measuring"
        return "measuring"

    def _yes_or_no(self, lel_pct: float, word: str, beat: int) -> Wanted:
        points = self.points
        assert isinstance(points, PayloadPoints)
        trip = TRIP_LEL_PCT
        if points.trip is not None and points.unit_of_value in (
            UnitOfValue.LEL_PCT,
            UnitOfValue.PPM,
            UnitOfValue.VOL_PCT,
        ):
            trip = points.trip * reference_lel_pct_per(points.unit_of_value, BASIS)
        if lel_pct < trip or word != "measuring":
            return Wanted(0.0, word, beat)
        if points.says_yes_or_no:
            return Wanted(lel_pct, word, beat)
        return Wanted(lel_pct, next(each for each in ("alarm1", *ALARMS) if each in self.words), beat)


def swap_words(image: Image, speech: Speech) -> None:
    """Put the words of a head's number the other way round (the bytes, of a number of one word)."""
    assert isinstance(speech.points, ModbusPoints)
    function, start, size = speech.points.place.span
    table = image.cells[function]
    words = [table[start + at] for at in range(size)][::-1]
    if size == 1:
        words = [(words[0] & 0xFF) << 8 | words[0] >> 8]
    table.update(zip(range(start, start + size), words, strict=True))

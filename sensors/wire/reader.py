"""One head's registers -> its reading, everything that can be prepared being prepared. Knows no socket and no clock.

A reader remembers four things: whether its head was ever plausible, when its heartbeat and its number last changed,
how its zero drifts, and what the same words meant the last time: a head in clean air mostly repeats itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Final, TypeVar

from msgspec.structs import replace

from sensors.quality import Movement, Watch, judge, unusable
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import Stamp
from sensors.wire.conversion import DECIMALS, MAX_PLACES, Conversion, Measure, Sentinels, band, conversion
from sensors.wire.meanings import NOTHING_TOLD, Precedence, Told, both, precedence, told
from sensors.wire.places import Place, Raw, Type
from sensors.wire.points import FullScalePoint, ModbusPoints, ScalePoint, StatePoint, UnitPoint
from sensors.wire.units import Basis, UnitOfValue, reference_lel_pct_per
from sensors.wire.words import RawReader, Stretch, extent, raw_reader, text_reader

Known = TypeVar("Known")

TINY: Final = 1e-6
"""A float other than 0 and smaller than this is no gas in any unit, and no head resolves it: it is a float read in the
wrong order or half beside itself, which would otherwise pass for clean air (trial B14)."""

MAX_REMEMBERED: Final = 512
"""Answers to "what does this raw value mean" kept by one source; beyond it the memory starts anew."""


@dataclass(frozen=True, slots=True)
class InstalledHead:
    """What a reader needs of a head: whose it is, where its registers are, and its basis."""

    detector: DetectorId
    points: ModbusPoints
    basis: Basis


class HeadReader:
    """Turns one head's words into its reading."""

    __slots__ = (
        "_checks",
        "_conversion",
        "_converter",
        "_detector",
        "_end",
        "_extract",
        "_first",
        "_head",
        "_heartbeat",
        "_last",
        "_movement",
        "_order",
        "_plain",
        "_sentinels",
        "_sign",
        "_states",
        "_steady",
        "_watch",
        "_words",
        "seen",
    )

    def __init__(
        self, head: InstalledHead, reads: Sequence[Stretch], unit: int | None = None, movement: Movement | None = None
    ) -> None:
        points = head.points
        self.seen = False
        self._first, self._end = extent(points.places(), reads)
        self._words: bytes | bytearray = b""
        self._last: Reading | None = None
        self._detector = head.detector
        self._extract = _number(points.place, reads)
        self._sentinels = Sentinels(points.sentinels) if points.sentinels else None
        self._order = precedence(points.precedence)
        # Gates stand first, so that nothing behind a closed one is asked.
        ordered = sorted(points.states, key=lambda state: not state.gate)
        self._states = tuple(_Source(state, reads, self._order) for state in ordered)
        self._checks = _checks(points, reads, unit)
        self._sign = None if points.sign is None else (raw_reader(points.sign.place, reads), points.sign.negative)
        self._head = points.head
        converter = Converter(points, reads, head.basis)
        self._converter = converter if converter.asks else None
        self._conversion = converter.fixed
        beat = points.heartbeat
        self._heartbeat = None if beat is None else raw_reader(beat.place, reads)
        self._movement = movement or Movement()
        self._watch = Watch(
            self._movement,
            beat_s=None if beat is None else beat.period_s * beat.missed,
            frozen_after_s=points.frozen_after_s,
            drift=converter.drift,
        )
        self._steady = self._watch.idle_itself
        self._plain = not (
            self._sentinels or self._states or self._checks or self._sign or self._head or converter.asks or beat
        )

    def reading(self, words: bytes | bytearray, base: int, taken: Stamp) -> Reading:
        """Judge the head from the joined words of its block, which start at byte `base`.

        Raises:
            struct.error, IndexError: if the words end before the head's do; a block's own answer never does.
        """
        own, last = words[base + self._first : base + self._end], self._last
        if last is not None and own == self._words:
            reading = Reading(
                last.detector, last.lel_pct, last.at_least, last.quality, last.status, last.raw, taken, last.reason
            )
        else:
            reading = self._judged_anew(words, base, taken)
            if self.seen:
                self._words, self._last = own, reading
        if self._steady and not self._movement.watchers:
            return reading
        beat = None if self._heartbeat is None else self._heartbeat(words, base)
        return self._watch.watched(reading, self._extract(words, base), beat)

    def _judged_anew(self, words: bytes | bytearray, base: int, taken: Stamp) -> Reading:
        raw = self._extract(words, base)
        if self._plain:
            conversion = self._conversion
            number = nan if -TINY < raw < TINY and raw else raw
            value = round(number * conversion.scale + conversion.offset, DECIMALS)
            reading = judge(self._detector, value, raw, taken, conversion.span, seen=self.seen)
        else:
            reading = self._with_states(raw, words, base, taken)
        self.seen = self.seen or reading.quality is Quality.GOOD
        return reading

    def _with_states(self, raw: Raw, words: bytes | bytearray, base: int, taken: Stamp) -> Reading:
        """Judge a head that says more than its number."""
        for check in self._checks:
            if not check(words, base):
                return unusable(self._detector, Status.FAULT, "other-device", raw, taken)
        said = self._said(words, base)
        conversion = self._conversion
        if self._converter is not None:
            found = self._converter.now(words, base)
            if isinstance(found, str):
                return self._without_unit(found, said, raw, taken)
            conversion = found
        number: float = nan if -TINY < raw < TINY and raw else raw
        if self._sign is not None and self._sign[0](words, base) in self._sign[1]:
            number = -number
        word = None if self._sentinels is None else self._sentinels.word(raw)
        if self._head is not None and word is None:
            number = round(number * conversion.inner_scale + conversion.inner_offset, DECIMALS)
            word = band(self._head, number)
        return self._judged(number, raw, word, said, conversion, taken)

    def _judged(
        self, number: float, raw: Raw, word: str | None, said: Told, conversion: Conversion, taken: Stamp
    ) -> Reading:
        value: float | None = round(number * conversion.scale + conversion.offset, DECIMALS)
        reason = said.reason
        if word is not None:
            said, value = both(told((word,), self._order), said), None
            reason = (
                "sentinel" if said.status is Status.FAULT and word == "fault" and self._head is None else said.reason
            )
        trip = conversion.bound(said.alarms)
        if value is None and said.status is Status.MEASURING:
            # The head says that it is well and gives no number at this moment (a pulsed warning current).
            return Reading(self._detector, None, trip, Quality.UNCERTAIN, Status.MEASURING, raw, taken, reason)
        reading = judge(
            self._detector, value, raw, taken, conversion.span, said.status,
            alarm=trip is not None, seen=self.seen, trip=trip, reason=reason,
        )  # fmt: skip
        if said.doubtful and reading.quality is Quality.GOOD:
            return replace(reading, quality=Quality.UNCERTAIN)
        return reading

    def _without_unit(self, reason: str, said: Told, raw: Raw, taken: Stamp) -> Reading:
        """A number that nobody can read: only the device's own alarm counts, at what such alarms usually stand for."""
        reading = unusable(self._detector, Status.FAULT, reason, raw, taken)
        trip = self._conversion.bound(said.alarms)
        return reading if trip is None else replace(reading, at_least=trip)

    def _said(self, words: bytes | bytearray, base: int) -> Told:
        """Return what all state sources say together."""
        said = NOTHING_TOLD
        for source in self._states:
            now = source.told(words, base)
            if source.gate and now.status is not Status.MEASURING:
                return Told(now.rank, now.status, now.reason, 0, now.doubtful)
            if now is not NOTHING_TOLD:
                said = now if said is NOTHING_TOLD else both(said, now)
        return said


class _Source:
    """One state source, with a memory of what its raw values mean."""

    __slots__ = ("_known", "_order", "_point", "_read", "gate")

    def __init__(self, point: StatePoint, reads: Sequence[Stretch], order: Precedence) -> None:
        self.gate = point.gate
        self._point = point
        self._order = order
        place = point.place
        self._read: Callable[[bytes | bytearray, int], Raw | str] = (
            text_reader(place, reads) if place.type is Type.ASCII else raw_reader(place, reads)
        )
        self._known: dict[Raw | str, Told] = {}

    def told(self, words: bytes | bytearray, base: int) -> Told:
        """Return what it says in these words."""
        raw = self._read(words, base)
        known = self._known.get(raw)
        if known is None:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            known = self._known[raw] = told(self._point.meaning.of(raw), self._order)
        return known


class Converter:
    """The conversion of one head; where registers tell of unit, scale, decimals or range, the one that they tell.

    Attributes:
        asks: whether any register tells of it.
        fixed: the conversion without them.
        drift: the zero's drift that is worth a warning, %LEL; None never.
    """

    def __init__(self, points: ModbusPoints, reads: Sequence[Stretch], basis: Basis) -> None:
        full = points.full_scale
        self._points = points
        self._basis = basis
        self._measure = Measure(
            points.offset,
            None if isinstance(full, FullScalePoint) else full,
            points.zero_drift,
            points.trip,
            dict(points.trips),
            points.head,
        )
        self._asks: tuple[Callable[[bytes | bytearray, int], Raw | str], ...] = tuple(
            text_reader(place, reads) if place.type is Type.ASCII else raw_reader(place, reads)
            for place in self._places()
        )
        self._known: dict[tuple[Raw | str, ...], Conversion | str] = {}
        self.asks = bool(self._asks)
        unit, scale = points.unit_of_value, points.scale
        own = points.head.unit if points.head else UnitOfValue.LEL_PCT if isinstance(unit, UnitPoint) else unit
        per = reference_lel_pct_per(own, basis)
        self.drift = None if points.drift_warning is None else points.drift_warning * per
        places = points.decimals if isinstance(points.decimals, int) else 0
        self.fixed = conversion(
            self._measure,
            UnitOfValue.LEL_PCT if isinstance(unit, UnitPoint) else unit,
            (1.0 if isinstance(scale, ScalePoint) else scale) / 10**places,
            basis,
            None,
        )

    def now(self, words: bytes | bytearray, base: int) -> Conversion | str:
        """Return the conversion that the registers tell; a short code where they tell nonsense."""
        key = tuple([ask(words, base) for ask in self._asks])
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            known = self._known[key] = self._told(key)
        return known

    def _places(self) -> list[Place]:
        points = self._points
        found = [
            point.place
            for point in (points.unit_of_value, points.scale, points.full_scale)
            if isinstance(point, UnitPoint | ScalePoint | FullScalePoint)
        ]
        return found + [place for place in (points.decimals, points.divisor) if isinstance(place, Place)]

    def _told(self, key: tuple[Raw | str, ...]) -> Conversion | str:
        points, told_now = self._points, iter(key)
        unit, scale = points.unit_of_value, points.scale
        if isinstance(unit, UnitPoint):
            raw = next(told_now)
            known = _by_text(unit, raw) if isinstance(raw, str) else _by_code(unit.codes, raw)
            if known is None:
                return "unknown-unit"
            unit = known
        if isinstance(scale, ScalePoint):
            factor = _by_code(scale.codes, next(told_now))
            if factor is None:
                return "unknown-scale"
            scale = factor
        full = None
        if isinstance(points.full_scale, FullScalePoint):
            full = float(next(told_now)) * points.full_scale.scale or None
            if full is not None and not 0 < full < inf:
                return "bad-full-scale"
        places: Raw | str = points.decimals if isinstance(points.decimals, int) else next(told_now)
        divisor: Raw | str = 1 if points.divisor is None else next(told_now)
        if not isinstance(places, int) or not 0 <= places <= MAX_PLACES or isinstance(divisor, str) or not divisor:
            return "bad-scale"
        return conversion(self._measure, unit, scale / 10**places / divisor, self._basis, full)


def _by_code(codes: Sequence[tuple[int, int, Known]], raw: Raw | str) -> Known | None:
    if isinstance(raw, str):
        return None
    return next((known for low, high, known in codes if low <= raw <= high), None)


def _by_text(unit: UnitPoint, text: str) -> UnitOfValue | None:
    plain = text.replace(" ", "").upper()
    return next((known for word, known in unit.words if word.replace(" ", "").upper() == plain), None)


def _number(place: Place, reads: Sequence[Stretch]) -> RawReader:
    if place.type is not Type.ASCII:
        return raw_reader(place, reads)
    text = text_reader(place, reads)

    def read(buffer: bytes | bytearray, base: int) -> Raw:
        try:
            return float(text(buffer, base).replace(",", "."))
        except ValueError:
            return nan

    return read


def _checks(
    points: ModbusPoints, reads: Sequence[Stretch], unit: int | None
) -> tuple[Callable[[bytes | bytearray, int], bool], ...]:
    """Return what must hold for the answer to be this device's."""
    found: list[Callable[[bytes | bytearray, int], bool]] = []
    identity = points.identity
    if identity is not None and identity.texts:
        said, texts = text_reader(identity.place, reads), frozenset(identity.texts)
        found.append(lambda words, base: said(words, base) in texts)
    elif identity is not None:
        number, mask, equals = raw_reader(identity.place, reads), identity.mask, frozenset(identity.equals)
        found.append(lambda words, base: int(number(words, base)) & mask in equals)
    if points.echoes_unit is not None and unit is not None:
        echo = raw_reader(points.echoes_unit, reads)
        found.append(lambda words, base: echo(words, base) == unit)
    return tuple(found)

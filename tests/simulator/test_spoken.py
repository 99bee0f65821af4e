"""Every shipped profile, backwards and forwards: what the simulator writes is what the decoder reads."""

import math
from dataclasses import dataclass, replace

import pytest

from sensors import profiles
from sensors.profiles import Profile
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.rehearsal import own_topic
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.listener import Listener, MqttPoints
from sensors.wire.meanings import SAYINGS
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.places import Function
from sensors.wire.points import ModbusPoints
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.units import Basis, UnitOfValue, reference_lel_pct_per
from sensors.wire.words import Stretch
from simulator.sayings import Wanted, sayable
from simulator.spoken_payloads import payloads
from simulator.spoken_registers import now, registers, resolution

BASES = (Basis(1.4, 1.4), Basis(1.7, 1.4), Basis(2.1, 1.7, 1.03))
NOW = Stamp(Instant(1_000_000_000), UtcNanos(0))
UNIT = 9


@dataclass(frozen=True)
class Played:
    """A shipped profile, installed as far as it needs to be."""

    profile: Profile
    settings: dict[str, object]

    @property
    def points(self) -> ModbusPoints | PayloadPoints:
        points = self.profile.installed(self.settings).points
        assert points is not None
        return points


def installations() -> list[Played]:
    """Each shipped detector once; one with channels on its first and its last."""
    found = []
    for name in profiles.names():
        profile = profiles.load(name)
        if not profile.is_detector:
            continue
        settings = profiles.example_settings(profile)
        if "channel" not in profile.requires:
            found.append(Played(profile, settings))
            continue
        channels = profile.table["channels"]
        assert isinstance(channels, dict)
        first = channels.get("first", 1)
        ends = (first, first + channels["count"] - 1)
        found += [Played(profile, {**settings, "channel": channel}) for channel in ends]
    return found


def shown(points: ModbusPoints | PayloadPoints, basis: Basis, *wanted: Wanted) -> Reading:
    """What the decoder makes of a head that shows these things one after the other."""
    last: Reading | None = None
    if isinstance(points, ModbusPoints):
        (block,) = plan(UNIT, [InstalledHead(DetectorId("D"), points, basis)])
        for each in wanted:
            image = registers(points, basis, each, UNIT)
            (last,) = block.readings(image.words(stretches_of(block.asks)), 0, NOW)
    else:
        topic = own_topic(points)
        listener = Listener(MqttPoints(DetectorId("D"), topic, points, basis))
        for sample, each in enumerate(wanted):
            for at, payload in payloads(points, topic, basis, replace(each, beat=sample)):
                for outcome in listener.hear(at, payload, NOW):
                    last = outcome if isinstance(outcome, Reading) else last
    assert last is not None
    return last


def stretches_of(asks):
    """What a block's requests read."""
    return [
        Stretch(Function(ask.function), int.from_bytes(ask.tail[6:8], "big"), int.from_bytes(ask.tail[8:10], "big"))
        for ask in asks
    ]


played = pytest.mark.parametrize(
    "played", installations(), ids=lambda each: f"{each.profile.id}-{each.settings.get('channel', '')}"
)


def step_of(points: ModbusPoints | PayloadPoints, basis: Basis) -> float:
    if isinstance(points, ModbusPoints):
        return resolution(points, now(registers(points, basis, Wanted(), UNIT), points, basis))
    if points.carrier is not None:
        inner = points.carrier.points
        return resolution(inner, now(registers(inner, basis, Wanted()), inner, basis))
    return 1e-3


def top_of(points: ModbusPoints | PayloadPoints, basis: Basis) -> float:
    """Full scale in %LEL of the reference, of a head that tells %LEL by messages; else more than is played."""
    if isinstance(points, PayloadPoints) and points.full_scale and points.unit_of_value is UnitOfValue.LEL_PCT:
        return points.full_scale * reference_lel_pct_per(UnitOfValue.LEL_PCT, basis)
    return math.inf


@played
@pytest.mark.parametrize("basis", BASES, ids=str)
def test_every_shipped_profile_reads_the_gas_that_was_written_through_it(played, basis):
    points = played.points
    numbers = not isinstance(points, PayloadPoints) or points.value is not None or points.carrier is not None
    if isinstance(points, PayloadPoints) and points.says_yes_or_no:
        numbers = False
    for gas in (0.0, 3.5, 9.96, 10.0, 23.4):
        if gas >= top_of(points, basis):
            continue
        reading = shown(points, basis, Wanted(), Wanted(gas))
        assert reading.status is Status.MEASURING
        assert reading.quality is (Quality.GOOD if "measuring" in sayable(points) else Quality.UNCERTAIN)
        if numbers:
            assert reading.lel_pct is not None
            assert reading.lel_pct == pytest.approx(gas, abs=step_of(points, basis) / 2 + 1e-5)
        else:
            assert reading.lel_pct is None


@played
def test_every_shipped_profile_says_every_word_it_knows(played):
    points, basis = played.points, BASES[0]
    for word in sorted(sayable(points)):
        saying = SAYINGS[word]
        reading = shown(points, basis, Wanted(1.0), Wanted(1.0, word))
        assert reading.status is saying.status, word
        if saying.alarm:
            assert reading.gas() is not None and reading.gas() >= 10.0, word
            assert shown(points, basis, Wanted(1.0, word), Wanted(1.0)).gas() in (0.0, pytest.approx(1.0, abs=0.5))
        if saying.status not in (Status.MEASURING, Status.OVER_RANGE):
            assert reading.lel_pct is None, word
            assert reading.quality is Quality.BAD, word

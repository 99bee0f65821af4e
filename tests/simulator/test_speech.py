"""Every shipped profile as a simulated head: gas in the world, what the head shows, its frames, the decoder."""

import math

import pytest

from sensors import profiles
from sensors.profiles import Profile
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.rehearsal import own_topic
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.image import Image
from sensors.wire.listener import Listener, MqttPoints
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.places import Function
from sensors.wire.points import ModbusPoints
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.units import UnitOfValue, reference_lel_pct_per
from sensors.wire.words import Stretch
from simulator.instrument import Indication, Instrument, Plight, Sensor
from simulator.sources import Rates
from simulator.speech import BASIS, TRIP_LEL_PCT, Speech
from simulator.world import Air, Floor, Leak, Place, World
from simulator.yard import Head, ModbusWire, MqttWire

NOW = Stamp(Instant(1), UtcNanos(0))
HERE = Place(6.5, 5.5, 0.3)


def shipped() -> list[Profile]:
    found = [profiles.load(name) for name in profiles.names()]
    return [profile for profile in found if profile.is_detector]


def head_of(profile: Profile) -> Head:
    settings = profiles.example_settings(profile)
    installed = profile.installed(settings)
    if isinstance(installed.points, PayloadPoints):
        wire: ModbusWire | MqttWire = MqttWire(own_topic(installed.points))
    else:
        wire = ModbusWire("linha", 3)
    return Head("D", HERE, Instrument(t90_s=2.0), wire, installed, settings)


def read(speech: Speech, *shown: Indication) -> Reading:
    """What the decoder makes of a head that shows these things one after the other."""
    last: Reading | None = None
    points, wire = speech.points, speech.head.wire
    if isinstance(points, ModbusPoints):
        (block,) = plan(speech.unit, [InstalledHead(DetectorId("D"), points, BASIS)])
        reads = [
            Stretch(Function(ask.function), int.from_bytes(ask.tail[6:8], "big"), int.from_bytes(ask.tail[8:10], "big"))
            for ask in block.asks
        ]
        for beat, each in enumerate(shown):
            image = Image()
            speech.image(speech.wanted(each, beat), image)
            (last,) = block.readings(image.words(reads), 0, NOW)
    else:
        assert isinstance(wire, MqttWire)
        listener = Listener(MqttPoints(DetectorId("D"), wire.topic, points, BASIS))
        for beat, each in enumerate(shown):
            for topic, payload in speech.messages(wire.topic, speech.wanted(each, beat)):
                for outcome in listener.hear(topic, payload, NOW):
                    last = outcome if isinstance(outcome, Reading) else last
    assert last is not None
    return last


def full_scale(points: ModbusPoints | PayloadPoints) -> float:
    """Full scale in %LEL, of a head that tells %LEL by messages; else more than is played."""
    if isinstance(points, PayloadPoints) and points.full_scale and points.unit_of_value is UnitOfValue.LEL_PCT:
        return points.full_scale * reference_lel_pct_per(UnitOfValue.LEL_PCT, BASIS)
    return math.inf


def course() -> list[tuple[float, Indication]]:
    """A leak as a head sees it that shows it at once, and gas too thin and too thick among it."""
    floor = Floor(World(Air(), (Leak(6.5, 5.5, Rates(((0.0, 0.0), (30.0, 60.0)))),)))
    sensor, found = Sensor(Instrument(t90_s=1.0)), []
    for second in range(1, 45):
        floor.advance(second)
        gas = floor.lel_pct(HERE)
        found.append((gas, sensor.step(second, 1.0, gas, 0.0)))
    return found


COURSE = course()


def test_the_course_that_is_played_passes_every_level_and_the_end_of_the_scale():
    shown = [each.lel_pct for _, each in COURSE]
    assert shown[0] < 5.0
    assert any(10.0 <= lel < 20.0 for lel in shown)
    assert COURSE[-1][1].over_range


@pytest.mark.parametrize("profile", shipped(), ids=lambda profile: profile.id)
def test_every_shipped_profile_is_a_head_whose_gas_comes_through(profile):
    speech = Speech(head_of(profile))
    last = Indication(0.0)
    for _, shown in COURSE:
        if speech.in_steps(shown.lel_pct) >= min(100.0, full_scale(speech.points)):
            continue
        reading = read(speech, last, shown)
        assert reading.status is Status.MEASURING, shown
        if speech.numbers:
            assert reading.lel_pct == pytest.approx(shown.lel_pct, abs=speech.step_lel_pct)
        elif shown.lel_pct >= TRIP_LEL_PCT * 3:
            assert reading.gas() is not None and reading.gas() >= 10.0
        elif shown.lel_pct < 1.0:
            assert reading.gas() == 0.0
        last = shown


@pytest.mark.parametrize("profile", shipped(), ids=lambda profile: profile.id)
def test_gas_past_the_end_of_the_scale_is_gas_by_every_profile(profile):
    speech = Speech(head_of(profile))
    gas = read(speech, Indication(0.0), Indication(100.0, "over_range")).gas()
    assert gas is not None
    assert gas >= 10.0


@pytest.mark.parametrize("profile", shipped(), ids=lambda profile: profile.id)
def test_a_fault_a_warm_up_and_an_inhibit_are_never_clean_air_where_the_profile_has_a_word_for_them(profile):
    speech = Speech(head_of(profile))
    for word in ("fault", "warm_up", "inhibited"):
        reading = read(speech, Indication(0.0), Indication(0.0, word))
        if word in speech.words:
            assert reading.quality is Quality.BAD, word
        else:
            assert reading.status is Status.MEASURING, f"{word}: it can only show zero, as the real one would"


def test_a_poisoned_head_says_nothing_of_its_poison():
    sensor = Sensor(Instrument(t90_s=0.0))
    shown = sensor.step(0.0, 0.1, 40.0, 0.0, Plight(poisoned_s=900.0, half_life_s=100.0))
    reading = read(Speech(head_of(profiles.load("generic-modbus"))), shown)
    assert reading.quality is Quality.GOOD
    assert reading.lel_pct is not None
    assert reading.lel_pct < 1.0
